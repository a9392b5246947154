-- Deploy pymem:functions/core/base/version to pg

begin;

set local role memory_owner;

create or replace function memory.version()
  returns text
  language sql
  immutable
  parallel safe
  return '0.1.0';

comment on function memory.version() is
'The pymem release of this schema.';
grant execute on function memory.version
to memory_writer, memory_worker, memory_reader, memory_admin;

commit;
