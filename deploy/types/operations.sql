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

comment on type memory.chain_problem is 'A problem that memory.verify_chain found.';
comment on column memory.chain_problem.problem is
'guard removed, event changed, event missing, event unsealed, seal changed, seal missing, chain '
'cut off, memory without event, memory missing, state without event, row without event, row '
'missing, row changed, definition changed, definition missing, definition added or definition '
'unknown.';
comment on column memory.chain_problem.position is
'Position in the chain; NULL if the problem is not in the chain.';

-- Findings do not depend on the tenant; memory.diagnose calls one function per check. None of these
-- is granted; they read the catalog and only those table statistics that any login may read.

create type memory.finding as (
  severity text,
  check_name text,
  subject text,
  message text,
  hint text
);

comment on type memory.finding is 'A finding of memory.diagnose.';
comment on column memory.finding.severity is
'error (something is unsafe or broken), warning (work is overdue or something will break), info '
'(worth knowing) or ok (a check that passed).';
comment on column memory.finding.check_name is 'The check that found it.';
comment on column memory.finding.subject is
'What the finding is about: a login, table, index, job, setting, butler and so on; NULL for a '
'check that passed.';
comment on column memory.finding.message is
'What is wrong, in plain language. Does not depend on the time zone.';
comment on column memory.finding.hint is 'What to do next; NULL for a check that passed.';

create type memory.planned_undo as (
  event_id uuid,
  event_type text,
  memory_type text,
  memory_id uuid,
  inverse text,
  says text,
  roles text[],
  memory_ids uuid[],
  details jsonb,
  code text,
  obstacle text,
  hint text,
  undone_at timestamptz,
  undo_event_id uuid
);

comment on type memory.planned_undo is
'How memory.undo_event would undo a write, of which event_id is the event that stands for it.';
comment on column memory.planned_undo.inverse is
'What memory.carry_out_undo does; NULL: the write has no inverse.';
comment on column memory.planned_undo.says is 'The same in words, such as "forget the fact".';
comment on column memory.planned_undo.roles is 'The roles of which one may do it.';
comment on column memory.planned_undo.memory_ids is
'The memories and entities that it would change, to be locked.';
comment on column memory.planned_undo.details is 'What the inverse needs beside the memory.';
comment on column memory.planned_undo.code is
'The code of the error why it cannot be undone, whose message and hint follow; NULL: it can.';
comment on column memory.planned_undo.undone_at is 'When it was undone; NULL: not yet.';

commit;
