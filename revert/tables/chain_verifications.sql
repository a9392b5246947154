-- Revert pymem:tables/chain_verifications from pg

begin;

drop table memory.chain_verifications;

commit;
