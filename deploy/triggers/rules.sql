-- Deploy pymem:triggers/rules to pg

begin;

set local role memory_owner;

create or replace trigger prepare
before insert or update of
tenant_id, id, content, created_at, text_search_config, search_vector
on memory.rules
for each row execute function memory.prepare_rule();

create or replace trigger check_vector
before insert or update of embedding on memory.rules
for each row when (new.embedding is not null)
execute function memory.check_vector();

create or replace trigger audit_created
after insert on memory.rules
referencing new table as new_rows
for each statement execute function memory.audit_created('rule');

create or replace trigger audit_maturity
after update of maturity on memory.rules
for each row when (old.maturity is distinct from new.maturity)
execute function memory.audit_maturity();

create or replace trigger audit_confirmed
after update of last_confirmed_at on memory.rules
for each row when (old.last_confirmed_at is distinct from new.last_confirmed_at)
execute function memory.audit_event('rule', 'rule_confirmed');

-- What an application keeps in the metadata (from within its trigger) has its own event too.
create or replace trigger audit_updated
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
create or replace trigger audit_counted
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

create or replace trigger refuse_delete
before delete on memory.rules
for each row when (current_setting('memory.erasing', true) is distinct from 'on')
execute function memory.refuse_delete();

create or replace trigger audit_deleted
after delete on memory.rules
for each row execute function memory.audit_transition('rule');

create or replace trigger refuse_truncate
before truncate on memory.rules
for each statement execute function memory.refuse_truncate();

create or replace trigger audit_created
after insert on memory.rule_applications
for each row execute function memory.audit_rule_application();

create or replace trigger refuse_change
before update or delete on memory.rule_applications
for each row
-- Deleted with its rule, or by memory.erase_subject.
when (pg_trigger_depth() = 0 and current_setting('memory.erasing', true) is distinct from 'on')
execute function memory.refuse_change();

create or replace trigger refuse_truncate
before truncate on memory.rule_applications
for each statement execute function memory.refuse_truncate();

create or replace trigger enqueue_embedding
after insert on memory.rules
referencing new table as new_rows
for each statement execute function memory.enqueue_embedding('rule');

create or replace trigger forget_embedding
after delete on memory.rules
for each row execute function memory.forget_embedding('rule');

create or replace trigger requeue_embedding
after update of content on memory.rules
for each row when (old.content is distinct from new.content)
execute function memory.requeue_embedding('rule');

create or replace trigger count_stored_texts
after insert on memory.rules referencing new table as texts
for each statement execute function memory.count_texts('rule');

create or replace trigger count_deleted_texts
after delete on memory.rules referencing old table as texts
for each statement execute function memory.count_texts('rule');

create or replace trigger count_changed_text
after update of content, metadata, text_search_config, search_vector on memory.rules
for each row execute function memory.count_changed_text('rule');

create or replace trigger start_state
before update of
content, scope, maturity, importance, confidence, decay_rate, permanence, effectiveness_score,
applied_count, success_count, harmful_count, source_butler, trust, last_applied_at,
last_evaluated_at, last_confirmed_at, tags, metadata, updated_at
on memory.rules
for each row when (
  (
    new.content, new.scope, new.maturity, new.importance, new.confidence, new.decay_rate,
    new.permanence, new.effectiveness_score, new.applied_count, new.success_count,
    new.harmful_count, new.source_butler, new.trust, new.last_applied_at,
    new.last_evaluated_at, new.last_confirmed_at, new.tags, new.metadata, new.updated_at
  ) is distinct from (
    old.content, old.scope, old.maturity, old.importance, old.confidence, old.decay_rate,
    old.permanence, old.effectiveness_score, old.applied_count, old.success_count,
    old.harmful_count, old.source_butler, old.trust, old.last_applied_at, old.last_evaluated_at,
    old.last_confirmed_at, old.tags, old.metadata, old.updated_at
  )
)
execute function memory.start_state();

create or replace trigger record_changes
after update on memory.rules
referencing old table as old_rows new table as new_rows
for each statement execute function memory.record_rule_changes();

create or replace trigger delete_history
after delete on memory.rules referencing old table as old_rows
for each statement execute function memory.delete_history('rule');

create or replace trigger bury
after delete on memory.rules referencing old table as old_rows
for each statement execute function memory.bury_memories('rule');

create or replace trigger check_application
before insert on memory.rule_applications
for each row execute function memory.check_application();

-- Fires after audit_created, so that the event of the application comes before those of its
-- consequences.
create or replace trigger count_application
after insert on memory.rule_applications
for each row execute function memory.count_application();

commit;
