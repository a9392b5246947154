-- Deploy pymem:triggers/consolidation to pg

begin;

set local role memory_owner;

create or replace trigger audit
after insert or update or delete on memory.consolidation_proposals
for each row execute function memory.audit_proposal();

create or replace trigger refuse_truncate
before truncate on memory.consolidation_proposals
for each statement execute function memory.refuse_truncate();

create or replace trigger refuse_truncate
before truncate on memory.consolidation_runs
for each statement execute function memory.refuse_truncate();

commit;
