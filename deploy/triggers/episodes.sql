-- Deploy pymem:triggers/episodes to pg

begin;

set local role memory_owner;

create or replace trigger prepare
before insert or update of
tenant_id, id, butler, session_id, content, source_class, created_at, consolidated,
consolidation_status, text_search_config, index_rendering, search_vector
on memory.episodes
for each row execute function memory.prepare_episode();

create or replace trigger check_vector
before insert or update of embedding on memory.episodes
for each row when (new.embedding is not null)
execute function memory.check_vector();

-- What updates do to the states of episodes, facts and rules is recorded together with their
-- history (functions/core/audit/record_history).

create or replace trigger audit_created
after insert on memory.episodes
referencing new table as new_rows
for each statement execute function memory.audit_created('episode');

create or replace trigger audit_expired
after update of expires_at on memory.episodes
for each row when (
  new.expires_at < old.expires_at or old.expires_at is null and new.expires_at is not null
)
execute function memory.audit_event('episode', 'episode_expired');

create or replace trigger audit_updated
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

create or replace trigger audit_deleted
after delete on memory.episodes
for each row execute function memory.audit_transition('episode');

create or replace trigger refuse_truncate
before truncate on memory.episodes
for each statement execute function memory.refuse_truncate();

create or replace trigger enqueue_embedding
after insert on memory.episodes
referencing new table as new_rows
for each statement execute function memory.enqueue_embedding('episode');

create or replace trigger forget_embedding
after delete on memory.episodes
for each row execute function memory.forget_embedding('episode');

create or replace trigger count_stored_texts
after insert on memory.episodes referencing new table as texts
for each statement execute function memory.count_texts('episode');

create or replace trigger count_deleted_texts
after delete on memory.episodes referencing old table as texts
for each statement execute function memory.count_texts('episode');

create or replace trigger count_changed_text
after update of text_search_config, index_rendering, search_vector on memory.episodes
for each row execute function memory.count_changed_text('episode');

create or replace trigger bury
after delete on memory.episodes referencing old table as old_rows
for each statement execute function memory.bury_memories('episode');

-- Named so that it fires after the trigger "prepare", which may change these columns.

create or replace trigger start_state
before update of
importance, consolidated, consolidation_status, consolidation_attempts, last_consolidation_error,
next_consolidation_retry_at, expires_at, metadata, updated_at
on memory.episodes
for each row when (
  (
    new.importance, new.consolidated, new.consolidation_status, new.consolidation_attempts,
    new.last_consolidation_error, new.next_consolidation_retry_at, new.expires_at, new.metadata,
    new.updated_at
  ) is distinct from (
    old.importance, old.consolidated, old.consolidation_status, old.consolidation_attempts,
    old.last_consolidation_error, old.next_consolidation_retry_at, old.expires_at, old.metadata,
    old.updated_at
  )
)
execute function memory.start_state();

create or replace trigger record_changes
after update on memory.episodes
referencing old table as old_rows new table as new_rows
for each statement execute function memory.record_episode_changes();

create or replace trigger delete_history
after delete on memory.episodes referencing old table as old_rows
for each statement execute function memory.delete_history('episode');

commit;
