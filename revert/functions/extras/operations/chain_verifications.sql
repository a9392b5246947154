-- Revert pymem:functions/extras/operations/chain_verifications from pg

begin;

drop function memory.chain_status();
drop function memory.list_verifications(integer);
drop function memory.record_verification(bigint,bytea,timestamp with time zone);
drop function memory.audit_verification();

commit;
