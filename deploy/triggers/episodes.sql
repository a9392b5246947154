-- Deploy pymem:triggers/episodes to pg

begin;

set local role memory_owner;

do $$
begin
  perform memory.attach_triggers('episode');
end;
$$;

create or replace trigger prepare
before insert or update of
tenant_id, id, butler, session_id, content, source_class, created_at, consolidated,
consolidation_status, text_search_config, index_rendering, search_vector
on memory.episodes
for each row execute function memory.prepare_episode();

create or replace trigger audit_expired
after update of expires_at on memory.episodes
for each row when (
  new.expires_at < old.expires_at or old.expires_at is null and new.expires_at is not null
)
execute function memory.audit_event('episode', 'episode_expired');

create or replace trigger audit_updated
after update of
importance, consolidation_attempts, last_consolidation_error, next_consolidation_retry_at,
consolidation_batch_limit, expires_at, metadata, idempotency_key
on memory.episodes
for each row when (
  (
    new.importance, new.consolidation_attempts, new.last_consolidation_error,
    new.next_consolidation_retry_at, new.consolidation_batch_limit, new.metadata,
    new.idempotency_key
  ) is distinct from (
    old.importance, old.consolidation_attempts, old.last_consolidation_error,
    old.next_consolidation_retry_at, old.consolidation_batch_limit, old.metadata,
    old.idempotency_key
  )
  or new.expires_at > old.expires_at or new.expires_at is null and old.expires_at is not null
)
execute function memory.audit_update('episode');

commit;
