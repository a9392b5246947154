-- Deploy pymem:manifest to pg

begin;

set local role memory_owner;

-- The last change of each release, because it records what the others have made.
-- Definitions of release 0.1.0.
do $$
begin
  perform memory.record_definitions();
end;
$$;

commit;
