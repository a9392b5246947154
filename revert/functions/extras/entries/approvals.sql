-- Revert pymem:functions/extras/entries/approvals from pg

begin;

drop function memory.use_approval(text,uuid,uuid,timestamp with time zone);
drop function memory.lock_approval(text,uuid,text,timestamp with time zone);
drop function memory.list_approvals(boolean,integer,timestamp with time zone);
drop function memory.revoke_approval(uuid,timestamp with time zone);
drop function memory.grant_approval(text,text,text,text,text,text,interval,timestamp with time zone);
drop function memory.audit_approval();

commit;
