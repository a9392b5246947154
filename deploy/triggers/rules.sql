-- Deploy pymem:triggers/rules to pg

begin;

set local role memory_owner;

do $$
begin
  perform memory.attach_triggers('rule');
end;
$$;

create or replace trigger prepare
before insert or update of
tenant_id, id, content, created_at, text_search_config, search_vector
on memory.rules
for each row execute function memory.prepare_rule();

create or replace trigger audit_maturity
after update of maturity on memory.rules
for each row when (old.maturity is distinct from new.maturity)
execute function memory.audit_maturity();

create or replace trigger audit_confirmed
after update of last_confirmed_at on memory.rules
for each row when (
  new.last_confirmed_at > coalesce(old.last_confirmed_at, timestamptz '-infinity')
)
execute function memory.audit_event('rule', 'rule_confirmed');

-- Metadata that an application writes (from within its trigger) is covered by its own event, and a
-- confirmation by its own, unless it is taken back.
create or replace trigger audit_updated
after update of
content, scope, importance, confidence, decay_rate, permanence, source_episode_id, source_butler,
trust, last_confirmed_at, observed_at, tags, metadata, idempotency_key
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
    case
      when new.last_confirmed_at is not distinct from old.last_confirmed_at then new.observed_at
    end,
    new.idempotency_key
  ) is distinct from (
    old.content, old.scope, old.importance, old.confidence, old.decay_rate, old.permanence,
    old.source_butler, old.trust, old.tags,
    old.metadata - case
      when new.lifecycle_state <> old.lifecycle_state then '{status,forgotten}'::text []
      else '{}'
    end - case
      when pg_trigger_depth() > 0 then '{harmful_reasons,needs_inversion}'::text [] else '{}'
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
)
execute function memory.audit_update('rule');

-- An application changes counters and evaluation times (from within its trigger) and has its own
-- event. This event records any other change of them.
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
for each row when (not memory.is_erasing(old.tenant_id))
execute function memory.refuse_delete();

create or replace trigger audit_created
after insert on memory.rule_applications
for each row execute function memory.audit_rule_application();

create or replace trigger refuse_change
before update on memory.rule_applications
for each row execute function memory.refuse_change();

-- Applications are deleted by memory.erase_subject, with their rule or without it, and by
-- memory.undo_event.
create or replace trigger refuse_loss
before delete on memory.rule_applications
for each row when (
  not (memory.is_erasing(old.tenant_id) or memory.is_unmarking(old.tenant_id, old.id))
)
execute function memory.refuse_change();

create or replace trigger refuse_truncate
before truncate on memory.rule_applications
for each statement execute function memory.refuse_truncate();

create or replace trigger requeue_embedding
after update of content on memory.rules
for each row when (old.content is distinct from new.content)
execute function memory.requeue_embedding('rule');

create or replace trigger check_application
before insert on memory.rule_applications
for each row execute function memory.check_application();

-- Fires after audit_created (triggers fire in name order), so the event of the application precedes
-- those of its consequences.
create or replace trigger count_application
after insert on memory.rule_applications
for each row execute function memory.count_application();

commit;
