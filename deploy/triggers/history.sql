-- Deploy pymem:triggers/history to pg

begin;

set local role memory_owner;

create or replace trigger refuse_change
before update on memory.memory_history
for each row when (not memory.is_erasing(old.tenant_id))
execute function memory.refuse_change();

-- Of all rows at once: a cleanup deletes thousands of episodes.
create or replace trigger refuse_loss
after delete on memory.memory_history
referencing old table as old_rows
for each statement execute function memory.refuse_loss_of_history();

create or replace trigger refuse_truncate
before truncate on memory.memory_history
for each statement execute function memory.refuse_truncate();

commit;
