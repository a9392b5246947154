-- Deploy pymem:triggers/facts to pg

begin;

set local role memory_owner;

create or replace trigger prepare
before insert or update of
tenant_id, id, subject, predicate, content, created_at, validity, text_search_config, search_vector
on memory.facts
for each row execute function memory.prepare_fact();

create or replace trigger check_vector
before insert or update of embedding on memory.facts
for each row when (new.embedding is not null)
execute function memory.check_vector();

create or replace trigger audit_created
after insert on memory.facts
referencing new table as new_rows
for each statement execute function memory.audit_created('fact');

create or replace trigger audit_confirmed
after update of last_confirmed_at on memory.facts
for each row when (old.last_confirmed_at is distinct from new.last_confirmed_at)
execute function memory.audit_event('fact', 'fact_confirmed');

-- A change of state has its own event, so the key that holds it and the end of its validity are
-- left out here then. The foreign keys that empty source_episode_id and supersedes_id (from within
-- a trigger) follow from a deletion that has an event of its own.
create or replace trigger audit_updated
after update of
importance, confidence, decay_rate, permanence, source_butler, trust, source_episode_id,
supersedes_id, entity_id, object_entity_id, scope, valid_from, valid_to, tags, metadata,
idempotency_key, text_search_config
on memory.facts
for each row when (
  (
    new.importance, new.confidence, new.decay_rate, new.permanence, new.source_butler, new.trust,
    new.entity_id, new.object_entity_id, new.scope, new.valid_from,
    case when new.lifecycle_state = old.lifecycle_state then new.valid_to end, new.tags,
    case
      when new.lifecycle_state = old.lifecycle_state then new.metadata else new.metadata - 'status'
    end,
    new.idempotency_key, new.text_search_config
  ) is distinct from (
    old.importance, old.confidence, old.decay_rate, old.permanence, old.source_butler, old.trust,
    old.entity_id, old.object_entity_id, old.scope, old.valid_from,
    case when new.lifecycle_state = old.lifecycle_state then old.valid_to end, old.tags,
    case
      when new.lifecycle_state = old.lifecycle_state then old.metadata else old.metadata - 'status'
    end,
    old.idempotency_key, old.text_search_config
  )
  or new.source_episode_id is distinct from old.source_episode_id
  and (new.source_episode_id is not null or pg_trigger_depth() = 0)
  or new.supersedes_id is distinct from old.supersedes_id
  and (new.supersedes_id is not null or pg_trigger_depth() = 0)
)
execute function memory.audit_update('fact');

create or replace trigger refuse_delete
before delete on memory.facts
for each row when (current_setting('memory.erasing', true) is distinct from 'on')
execute function memory.refuse_delete();

create or replace trigger audit_deleted
after delete on memory.facts
for each row execute function memory.audit_transition('fact');

create or replace trigger refuse_truncate
before truncate on memory.facts
for each statement execute function memory.refuse_truncate();

create or replace trigger enqueue_embedding
after insert on memory.facts
referencing new table as new_rows
for each statement execute function memory.enqueue_embedding('fact');

create or replace trigger forget_embedding
after delete on memory.facts
for each row execute function memory.forget_embedding('fact');

create or replace trigger count_stored_texts
after insert on memory.facts referencing new table as texts
for each statement execute function memory.count_texts('fact');

create or replace trigger count_deleted_texts
after delete on memory.facts referencing old table as texts
for each statement execute function memory.count_texts('fact');

create or replace trigger count_changed_text
after update of validity, text_search_config, search_vector on memory.facts
for each row execute function memory.count_changed_text('fact');

create or replace trigger start_state
before update of
importance, confidence, decay_rate, permanence, source_butler, trust, entity_id, object_entity_id,
validity, scope, last_confirmed_at, valid_from, valid_to, tags, metadata, updated_at
on memory.facts
for each row when (
  (
    new.importance, new.confidence, new.decay_rate, new.permanence, new.source_butler,
    new.trust, new.entity_id, new.object_entity_id, new.validity, new.scope,
    new.last_confirmed_at, new.valid_from, new.valid_to, new.tags, new.metadata, new.updated_at
  ) is distinct from (
    old.importance, old.confidence, old.decay_rate, old.permanence, old.source_butler,
    old.trust, old.entity_id, old.object_entity_id, old.validity, old.scope,
    old.last_confirmed_at, old.valid_from, old.valid_to, old.tags, old.metadata, old.updated_at
  )
)
execute function memory.start_state();

create or replace trigger record_changes
after update on memory.facts
referencing old table as old_rows new table as new_rows
for each statement execute function memory.record_fact_changes();

create or replace trigger delete_history
after delete on memory.facts referencing old table as old_rows
for each statement execute function memory.delete_history('fact');

-- Facts and rules are deleted only to erase what they say; links to them resolve as expired then.

create or replace trigger bury
after delete on memory.facts referencing old table as old_rows
for each statement execute function memory.bury_memories('fact');

commit;
