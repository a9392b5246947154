-- Deploy pymem:triggers/events to pg

begin;

set local role memory_owner;

create or replace trigger assign_xid
before insert on memory.memory_events
for each statement execute function memory.assign_xid();

-- ENABLE ALWAYS: the audit stream stays append-only even in sessions that replay replication.

create or replace trigger refuse_change
before update or delete on memory.memory_events
for each row execute function memory.refuse_change();

alter table memory.memory_events enable always trigger refuse_change;

create or replace trigger refuse_truncate
before truncate on memory.memory_events
for each statement execute function memory.refuse_change();

alter table memory.memory_events enable always trigger refuse_truncate;

commit;
