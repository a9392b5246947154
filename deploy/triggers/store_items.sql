-- Deploy pymem:triggers/store_items to pg

begin;

set local role memory_owner;

do $$
begin
  perform memory.attach_triggers('item');
end;
$$;

create or replace trigger audit_updated
after update on memory.store_items
for each row when ((new.value, new.ttl) is distinct from (old.value, old.ttl))
execute function memory.audit_update('item');

create or replace trigger check_vector
before insert or update of embedding on memory.store_vectors
for each row execute function memory.check_vector();

commit;
