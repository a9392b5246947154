-- Verify pymem:functions/extras/operations/tenant_moves on pg

begin;
select
  'memory.list_tables()'::regprocedure,
  'memory.begin_move(text,uuid,text,text)'::regprocedure,
  'memory.find_rows(text)'::regprocedure,
  'memory.set_move_step(text,uuid,text,timestamp with time zone)'::regprocedure,
  'memory.get_move(text)'::regprocedure,
  'memory.end_move(text,uuid)'::regprocedure,
  'memory.begin_deletion(text,uuid)'::regprocedure,
  'memory.list_writers()'::regprocedure,
  'memory.mark_freeze(text)'::regprocedure,
  'memory.has_event(text,uuid)'::regprocedure,
  'memory.last_numbers(text)'::regprocedure,
  'memory.advance_sequences(jsonb)'::regprocedure,
  'memory.arrive(text,uuid,name[])'::regprocedure,
  'memory.copy_bindings(text,name[])'::regprocedure,
  'memory.list_bindings(text)'::regprocedure,
  'memory.digest_expression(text,text[])'::regprocedure,
  'memory.remember_digests(text,jsonb)'::regprocedure,
  'memory.digest_tables(text,jsonb)'::regprocedure,
  'memory.digest_remembered(text)'::regprocedure,
  'memory.delete_rows(text,text,integer)'::regprocedure,
  'memory.list_tenant_sizes()'::regprocedure;
rollback;
