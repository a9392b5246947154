-- Deploy pymem:triggers/history to pg

begin;

set local role memory_owner;

create or replace trigger refuse_change
before update or delete on memory.memory_history
for each row
-- History is deleted only with its memory or by memory.erase_subject.
when (pg_trigger_depth() = 0 and current_setting('memory.erasing', true) is distinct from 'on')
execute function memory.refuse_change();

create or replace trigger refuse_truncate
before truncate on memory.memory_history
for each statement execute function memory.refuse_truncate();

commit;
