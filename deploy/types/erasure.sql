-- Deploy pymem:types/erasure to pg

begin;

set local role memory_owner;

create type memory.subject_traces as (
  names text[],
  entities uuid[],
  facts uuid[],
  episodes uuid[],
  rules uuid[],
  entries uuid[],
  items uuid[],
  applications uuid[],
  next_turns uuid[],
  runs uuid[],
  answers uuid[]
);

comment on type memory.subject_traces is
'What erase_subject finds of a person or thing: its names, the entities that have one, and the ids '
'of what is about it; next_turns: the turns after these episodes, whose vectors cover their ends; '
'answers: the consolidation runs whose answer is about it.';

commit;
