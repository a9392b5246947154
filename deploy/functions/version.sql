-- Deploy pymem:functions/version to pg
-- requires: schema

begin;

set local role memory_owner;

create function memory.version()
  returns text
  language sql
  immutable
  parallel safe
  return '0.1.0';

comment on function memory.version() is
'The pymem release this schema is of.';

commit;
