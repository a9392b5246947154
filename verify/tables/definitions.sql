-- Verify pymem:tables/definitions on pg

begin;
select kind, identity, digest, is_portable, release, server_version
from memory.definitions
where false;
rollback;
