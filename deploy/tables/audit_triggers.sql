-- Deploy pymem:tables/audit_triggers to pg
-- requires: functions/audit
-- requires: tables/settings

begin;

set local role memory_owner;

-- What updates do to the states of episodes, facts and rules is recorded together with their
-- history (tables/history).

-- Episodes

create trigger audit_created
after insert on memory.episodes
referencing new table as new_rows
for each statement execute function memory.audit_created('episode');

create trigger audit_expired
after update of expires_at on memory.episodes
for each row when (
  new.expires_at < old.expires_at or old.expires_at is null and new.expires_at is not null
)
execute function memory.audit_event('episode', 'episode_expired');

create trigger audit_updated
after update of
importance, consolidation_attempts, last_consolidation_error, next_consolidation_retry_at,
expires_at, metadata, idempotency_key, text_search_config, index_rendering
on memory.episodes
for each row when (
  (
    new.importance, new.consolidation_attempts, new.last_consolidation_error,
    new.next_consolidation_retry_at, new.metadata, new.idempotency_key, new.text_search_config,
    new.index_rendering
  ) is distinct from (
    old.importance, old.consolidation_attempts, old.last_consolidation_error,
    old.next_consolidation_retry_at, old.metadata, old.idempotency_key, old.text_search_config,
    old.index_rendering
  )
  or new.expires_at > old.expires_at or new.expires_at is null and old.expires_at is not null
)
execute function memory.audit_update('episode');

create trigger audit_deleted
after delete on memory.episodes
for each row execute function memory.audit_transition('episode');

create trigger refuse_truncate
before truncate on memory.episodes
for each statement execute function memory.refuse_truncate();

-- Facts

create trigger audit_created
after insert on memory.facts
referencing new table as new_rows
for each statement execute function memory.audit_created('fact');

create trigger audit_confirmed
after update of last_confirmed_at on memory.facts
for each row when (old.last_confirmed_at is distinct from new.last_confirmed_at)
execute function memory.audit_event('fact', 'fact_confirmed');

-- A change of state has its own event, so the key that holds it and the end of its validity are
-- left out here then. The foreign keys that empty source_episode_id and supersedes_id (from within
-- a trigger) follow from a deletion that has an event of its own.
create trigger audit_updated
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

create trigger refuse_delete
before delete on memory.facts
for each row when (current_setting('memory.erasing', true) is distinct from 'on')
execute function memory.refuse_delete();

create trigger audit_deleted
after delete on memory.facts
for each row execute function memory.audit_transition('fact');

create trigger refuse_truncate
before truncate on memory.facts
for each statement execute function memory.refuse_truncate();

-- Rules

create trigger audit_created
after insert on memory.rules
referencing new table as new_rows
for each statement execute function memory.audit_created('rule');

create trigger audit_maturity
after update of maturity on memory.rules
for each row when (old.maturity is distinct from new.maturity)
execute function memory.audit_maturity();

create trigger audit_confirmed
after update of last_confirmed_at on memory.rules
for each row when (old.last_confirmed_at is distinct from new.last_confirmed_at)
execute function memory.audit_event('rule', 'rule_confirmed');

-- What an application keeps in the metadata (from within its trigger) has its own event too.
create trigger audit_updated
after update of
content, scope, importance, confidence, decay_rate, permanence, source_episode_id, source_butler,
trust, tags, metadata, idempotency_key, text_search_config
on memory.rules
for each row when (
  (
    new.content, new.scope, new.importance, new.confidence, new.decay_rate, new.permanence,
    new.source_butler, new.trust, new.tags,
    new.metadata - case
      when new.lifecycle_state <> old.lifecycle_state then '{status,forgotten}'::text []
      else '{}'
    end - case
      when pg_trigger_depth() > 0 then '{harmful_reasons,needs_inversion}'::text [] else '{}'
    end,
    new.idempotency_key, new.text_search_config
  ) is distinct from (
    old.content, old.scope, old.importance, old.confidence, old.decay_rate, old.permanence,
    old.source_butler, old.trust, old.tags,
    old.metadata - case
      when new.lifecycle_state <> old.lifecycle_state then '{status,forgotten}'::text []
      else '{}'
    end - case
      when pg_trigger_depth() > 0 then '{harmful_reasons,needs_inversion}'::text [] else '{}'
    end,
    old.idempotency_key, old.text_search_config
  )
  or new.source_episode_id is distinct from old.source_episode_id
  and (new.source_episode_id is not null or pg_trigger_depth() = 0)
)
execute function memory.audit_update('rule');

-- Counters and evaluation times change with an application (from within its trigger), whose own
-- event says so. Whoever changes them without one leaves this event.
create trigger audit_counted
after update of
effectiveness_score, applied_count, success_count, harmful_count, last_applied_at, last_evaluated_at
on memory.rules
for each row when (
  pg_trigger_depth() = 0
  and (
    new.effectiveness_score, new.applied_count, new.success_count, new.harmful_count,
    new.last_applied_at, new.last_evaluated_at
  ) is distinct from (
    old.effectiveness_score, old.applied_count, old.success_count, old.harmful_count,
    old.last_applied_at, old.last_evaluated_at
  )
)
execute function memory.audit_update('rule');

create trigger refuse_delete
before delete on memory.rules
for each row when (current_setting('memory.erasing', true) is distinct from 'on')
execute function memory.refuse_delete();

create trigger audit_deleted
after delete on memory.rules
for each row execute function memory.audit_transition('rule');

create trigger refuse_truncate
before truncate on memory.rules
for each statement execute function memory.refuse_truncate();

create trigger audit_created
after insert on memory.rule_applications
for each row execute function memory.audit_rule_application();

create trigger refuse_change
before update or delete on memory.rule_applications
for each row
-- Deleted with its rule, or by memory.erase_subject.
when (pg_trigger_depth() = 0 and current_setting('memory.erasing', true) is distinct from 'on')
execute function memory.refuse_change();

create trigger refuse_truncate
before truncate on memory.rule_applications
for each statement execute function memory.refuse_truncate();

-- Entities

create trigger audit_created
after insert on memory.entities
referencing new table as new_rows
for each statement execute function memory.audit_created('entity');

create trigger audit_transition
after update of metadata on memory.entities
for each row when (old.lifecycle_state is distinct from new.lifecycle_state)
execute function memory.audit_merge();

create trigger audit_updated
after update on memory.entities
for each row when (
  (
    new.canonical_name, new.entity_type, new.aliases,
    case
      when new.lifecycle_state = old.lifecycle_state then new.metadata
      else new.metadata - 'merged_into'
    end
  ) is distinct from (
    old.canonical_name, old.entity_type, old.aliases,
    case
      when new.lifecycle_state = old.lifecycle_state then old.metadata
      else old.metadata - 'merged_into'
    end
  )
)
execute function memory.audit_update('entity');

create trigger refuse_delete
before delete on memory.entities
for each row when (current_setting('memory.erasing', true) is distinct from 'on')
execute function memory.refuse_delete();

create trigger audit_deleted
after delete on memory.entities
for each row execute function memory.audit_transition('entity');

create trigger refuse_truncate
before truncate on memory.entities
for each statement execute function memory.refuse_truncate();

-- Links

create trigger audit_created
after insert on memory.memory_links
referencing new table as new_rows
for each statement execute function memory.audit_created_links();

create trigger audit
after update or delete on memory.memory_links
for each row execute function memory.audit_link();

create trigger refuse_truncate
before truncate on memory.memory_links
for each statement execute function memory.refuse_truncate();

-- Configuration

create trigger audit
after insert or update or delete on memory.settings
for each row execute function memory.audit_settings('settings');

create trigger refuse_truncate
before truncate on memory.settings
for each statement execute function memory.refuse_truncate();

create trigger audit
after insert or update or delete on memory.tenant_logins
for each row execute function memory.audit_settings('tenant_login');

create trigger refuse_truncate
before truncate on memory.tenant_logins
for each statement execute function memory.refuse_truncate();

create trigger audit
after insert or update or delete on memory.embedding_versions
for each row execute function memory.audit_settings('embedding_version');

create trigger refuse_truncate
before truncate on memory.embedding_versions
for each statement execute function memory.refuse_truncate();

-- The audit stream itself. ALWAYS: also for a session that replays replicated changes.

create trigger refuse_change
before update or delete on memory.memory_events
for each row execute function memory.refuse_change();

alter table memory.memory_events enable always trigger refuse_change;

create trigger refuse_truncate
before truncate on memory.memory_events
for each statement execute function memory.refuse_change();

alter table memory.memory_events enable always trigger refuse_truncate;

commit;
