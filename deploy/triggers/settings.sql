-- Deploy pymem:triggers/settings to pg

begin;

set local role memory_owner;

create or replace trigger audit
after insert or update or delete on memory.settings
for each row execute function memory.audit_settings(
  'settings', 'consolidation_instructions', 'consolidation_language', 'consolidation_categories',
  'consolidation_predicates'
);

create or replace trigger forget_due_times
after insert or update or delete on memory.settings
for each row execute function memory.forget_due_times();

create or replace trigger refuse_truncate
before truncate on memory.settings
for each statement execute function memory.refuse_truncate();

commit;
