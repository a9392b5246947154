-- Revert pymem:types/erasure from pg

begin;

drop type memory.subject_traces;

commit;
