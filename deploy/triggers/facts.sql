-- Deploy pymem:triggers/facts to pg

begin;

set local role memory_owner;

do $$
begin
  perform memory.attach_triggers('fact');
end;
$$;

create or replace trigger prepare
before insert or update of
tenant_id, id, subject, predicate, content, created_at, validity, text_search_config, search_vector
on memory.facts
for each row execute function memory.prepare_fact();

create or replace trigger audit_confirmed
after update of last_confirmed_at on memory.facts
for each row when (
  new.last_confirmed_at > coalesce(old.last_confirmed_at, timestamptz '-infinity')
)
execute function memory.audit_event('fact', 'fact_confirmed');

-- A change of state has its own event, so its metadata key and valid_to are ignored here in that
-- case. So has a confirmation, unless it is taken back. Foreign keys that set source_episode_id and
-- supersedes_id to NULL (from within a trigger) follow from a deletion, which has its own event.
create or replace trigger audit_updated
after update of
importance, confidence, decay_rate, permanence, source_butler, trust, source_episode_id,
supersedes_id, entity_id, object_entity_id, scope, last_confirmed_at, observed_at, valid_from,
valid_to, planned_for, tags, metadata, idempotency_key
on memory.facts
for each row when (
  (
    new.importance, new.confidence, new.decay_rate, new.permanence, new.source_butler, new.trust,
    new.entity_id, new.object_entity_id, new.scope, new.valid_from, new.planned_for,
    case when new.lifecycle_state = old.lifecycle_state then new.valid_to end, new.tags,
    case
      when new.lifecycle_state = old.lifecycle_state then new.metadata else new.metadata - 'status'
    end,
    case
      when new.last_confirmed_at is not distinct from old.last_confirmed_at then new.observed_at
    end,
    new.idempotency_key
  ) is distinct from (
    old.importance, old.confidence, old.decay_rate, old.permanence, old.source_butler, old.trust,
    old.entity_id, old.object_entity_id, old.scope, old.valid_from, old.planned_for,
    case when new.lifecycle_state = old.lifecycle_state then old.valid_to end, old.tags,
    case
      when new.lifecycle_state = old.lifecycle_state then old.metadata else old.metadata - 'status'
    end,
    case
      when new.last_confirmed_at is not distinct from old.last_confirmed_at then old.observed_at
    end,
    old.idempotency_key
  )
  or new.lifecycle_state = old.lifecycle_state
  and coalesce(
    new.last_confirmed_at < old.last_confirmed_at,
    old.last_confirmed_at is not null and new.last_confirmed_at is null
  )
  or new.source_episode_id is distinct from old.source_episode_id
  and (new.source_episode_id is not null or pg_trigger_depth() = 0)
  or new.supersedes_id is distinct from old.supersedes_id
  and (new.supersedes_id is not null or pg_trigger_depth() = 0)
)
execute function memory.audit_update('fact');

-- A new fact has an id that no other one can name yet.
create or replace trigger refuse_cycle
after update of supersedes_id on memory.facts
for each row when (
  new.supersedes_id is not null and new.supersedes_id is distinct from old.supersedes_id
)
execute function memory.refuse_cycle();

create or replace trigger refuse_delete
before delete on memory.facts
for each row when (not memory.is_erasing(old.tenant_id))
execute function memory.refuse_delete();

commit;
