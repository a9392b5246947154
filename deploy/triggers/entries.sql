-- Deploy pymem:triggers/entries to pg

begin;

set local role memory_owner;

do $$
begin
  perform memory.attach_triggers('entry');
end;
$$;

create or replace trigger guard
before update of
content, entry_type, category, tags, keywords, importance, confidence, decay_rate, source, trust,
scope, user_id, persona_id, session_id, retention, version, edited_at, last_confirmed_at,
decayed_at, expires_at, flagged_at, expired_at, metadata, idempotency_key
on memory.entries
for each row when (old.policy = 'billy')
execute function memory.guard_entry();

create or replace trigger keep_counters
before update of reference_count, last_referenced_at on memory.entries
for each row when (old.policy = 'billy')
execute function memory.keep_counters();

create or replace trigger prepare
before insert or update of
tenant_id, id, entry_id, content, created_at, entry_type, category, tags, keywords, importance,
confidence, decay_rate, source, policy, user_id, persona_id, session_id, text_search_config,
search_vector
on memory.entries
for each row execute function memory.prepare_entry();

create or replace trigger audit_confirmed
after update of last_confirmed_at on memory.entries
for each row when (
  new.last_confirmed_at > coalesce(old.last_confirmed_at, timestamptz '-infinity')
)
execute function memory.audit_event('entry', 'entry_confirmed');

create or replace trigger audit_updated
after update of
content, version, entry_type, category, tags, keywords, importance, confidence, source, trust,
scope, last_confirmed_at, expires_at, flagged_at, metadata, idempotency_key
on memory.entries
for each row when (
  (
    new.content, new.version, new.entry_type, new.category, new.tags, new.keywords, new.importance,
    new.confidence, new.source, new.trust, new.scope, new.expires_at, new.flagged_at, new.metadata,
    new.idempotency_key
  ) is distinct from (
    old.content, old.version, old.entry_type, old.category, old.tags, old.keywords, old.importance,
    old.confidence, old.source, old.trust, old.scope, old.expires_at, old.flagged_at, old.metadata,
    old.idempotency_key
  )
  or new.lifecycle_state = old.lifecycle_state
  and coalesce(
    new.last_confirmed_at < old.last_confirmed_at,
    old.last_confirmed_at is not null and new.last_confirmed_at is null
  )
)
execute function memory.audit_update('entry');

create or replace trigger requeue_embedding
after update of content on memory.entries
for each row when (old.content is distinct from new.content)
execute function memory.requeue_embedding('entry');

create or replace trigger audit
after insert or update or delete on memory.entry_policies
for each row execute function memory.audit_settings('entry_policy');

create or replace trigger refuse_truncate
before truncate on memory.entry_policies
for each statement execute function memory.refuse_truncate();

create or replace trigger refuse_truncate
before truncate on memory.entry_consolidations
for each statement execute function memory.refuse_truncate();

commit;
