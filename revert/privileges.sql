-- Revert pymem:privileges from pg

begin;

revoke all on all tables in schema memory from memory_search;
revoke all on schema memory
from memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway;

commit;
