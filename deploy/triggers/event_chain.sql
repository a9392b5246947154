-- Deploy pymem:triggers/event_chain to pg

begin;

set local role memory_owner;

create or replace trigger refuse_change
before update or delete on memory.event_chain
for each row execute function memory.refuse_change();

alter table memory.event_chain enable always trigger refuse_change;

create or replace trigger refuse_truncate
before truncate on memory.event_chain
for each statement execute function memory.refuse_change();

alter table memory.event_chain enable always trigger refuse_truncate;

create or replace trigger refuse_change
before delete on memory.event_chain_heads
for each row execute function memory.refuse_change();

alter table memory.event_chain_heads enable always trigger refuse_change;

create or replace trigger refuse_truncate
before truncate on memory.event_chain_heads
for each statement execute function memory.refuse_change();

alter table memory.event_chain_heads enable always trigger refuse_truncate;

commit;
