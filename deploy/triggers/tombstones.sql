-- Deploy pymem:triggers/tombstones to pg

begin;

set local role memory_owner;

create or replace trigger refuse_change
before update or delete on memory.tombstones
for each row execute function memory.refuse_change();

create or replace trigger refuse_truncate
before truncate on memory.tombstones
for each statement execute function memory.refuse_truncate();

commit;
