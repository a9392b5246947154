-- Revert pymem:triggers/chain_verifications from pg

begin;

drop trigger refuse_truncate on memory.chain_verifications;
drop trigger refuse_change on memory.chain_verifications;
drop trigger audit_created on memory.chain_verifications;

commit;
