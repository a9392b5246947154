-- Deploy pymem:types/operations to pg

begin;

set local role memory_owner;

create type memory.chain_problem as (
  problem text,
  "position" bigint, -- noqa: RF06
  event_id uuid,
  memory_type text,
  memory_id uuid,
  detail text
);

comment on type memory.chain_problem is 'What memory.verify_chain has found.';
comment on column memory.chain_problem.problem is
'guard removed, event changed, event missing, seal changed, seal missing, chain cut off, memory '
'without event, memory missing or state without event.';
comment on column memory.chain_problem.position is 'Place in the chain; NULL if it is none of it.';

-- What memory.doctor looks at in a database, whoever the tenant is: one function a check. None is
-- granted; they read the catalogue, and numbers of tables only as any login may.

create type memory.finding as (
  severity text,
  check_name text,
  subject text,
  message text,
  hint text
);

comment on type memory.finding is 'What memory.doctor has found.';
comment on column memory.finding.severity is
'error (something is not safe or does not work), warning (work is left undone, or will go wrong), '
'info (worth knowing) or ok (a check that passed).';
comment on column memory.finding.check_name is 'The check that found it.';
comment on column memory.finding.subject is
'What it is about: a login, table, index, job, setting, butler …; NULL for a check that passed.';
comment on column memory.finding.message is
'What is the matter, in words for a person. The same whatever the time zone.';
comment on column memory.finding.hint is 'What to do next; NULL for a check that passed.';

commit;
