-- Revert pymem:functions/core/base/request from pg

begin;

drop function memory.require_tenant(text);
drop function memory.acting_role();
drop function memory.set_request(text,text,text,text,text);
drop function memory.visible_scope(text);
drop function memory.current_butler();
drop function memory.current_reason();
drop function memory.current_request_id();
drop function memory.current_actor();
drop function memory.is_scope(text);
drop function memory.is_reason_code(text);
drop function memory.is_request_id(text);
drop function memory.is_actor(text);
drop function memory.can_write();
drop function memory.refuse_frozen(text);
drop function memory.refuse_absent(text);
drop function memory.current_tenant();

commit;
