-- Deploy pymem:triggers/consolidation to pg

begin;

set local role memory_owner;

create or replace trigger refuse_truncate
before truncate on memory.consolidation_proposals
for each statement execute function memory.refuse_truncate();

create or replace trigger refuse_truncate
before truncate on memory.consolidation_runs
for each statement execute function memory.refuse_truncate();

commit;
