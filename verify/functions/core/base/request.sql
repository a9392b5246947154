-- Verify pymem:functions/core/base/request on pg

begin;
select
  'memory.current_tenant()'::regprocedure,
  'memory.refuse_absent(text)'::regprocedure,
  'memory.refuse_frozen(text)'::regprocedure,
  'memory.can_write()'::regprocedure,
  'memory.is_actor(text)'::regprocedure,
  'memory.is_request_id(text)'::regprocedure,
  'memory.is_reason_code(text)'::regprocedure,
  'memory.is_scope(text)'::regprocedure,
  'memory.current_actor()'::regprocedure,
  'memory.current_request_id()'::regprocedure,
  'memory.current_reason()'::regprocedure,
  'memory.current_butler()'::regprocedure,
  'memory.visible_scope(text)'::regprocedure,
  'memory.set_request(text,text,text,text,text)'::regprocedure,
  'memory.acting_role()'::regprocedure,
  'memory.require_tenant(text)'::regprocedure;
rollback;
