-- Revert pymem:tables/sessions from pg

begin;

drop table memory.login_codes;
drop table memory.sessions;

commit;
