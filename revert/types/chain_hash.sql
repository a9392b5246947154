-- Revert pymem:types/chain_hash from pg

begin;

drop aggregate memory.chain_hash(bytea,bytea);

commit;
