-- Revert pymem:functions/extras/operations/logins from pg

begin;

drop function memory.current_login();
drop function memory.unbind_login(name);
drop function memory.grant_roles(name,text[]);
drop function memory.bind_login(name,text);

commit;
