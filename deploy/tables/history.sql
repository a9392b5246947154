-- Deploy pymem:tables/history to pg
-- requires: functions/audit
-- requires: tables/tombstones

begin;

set local role memory_owner;

create table memory.memory_history (
  tenant_id text not null check (tenant_id <> '' and octet_length(tenant_id) <= 128),
  memory_type text not null check (memory_type in ('episode', 'fact', 'rule')),
  memory_id uuid not null,
  known_from timestamptz not null check (isfinite(known_from)),
  known_to timestamptz not null check (isfinite(known_to)),
  recorded_at timestamptz not null default now() check (isfinite(recorded_at)),
  image jsonb not null check (jsonb_typeof(image) = 'object'),
  successor_digest bytea not null check (octet_length(successor_digest) = 32),
  primary key (tenant_id, memory_type, memory_id, known_from),
  constraint memory_history_interval_check check (known_from < known_to)
);

create index memory_history_period_idx
on memory.memory_history (tenant_id, memory_type, known_to);

comment on table memory.memory_history is
'What memories said before they were changed: an image of each state that ended, from the moment '
'it began to the moment it ended, half-open. What never changes (content of episodes and facts) '
'and mere counters are not repeated. Deleted with its memory.';
comment on column memory.memory_history.known_from is
'Since when the memory said so, on the clock of whoever changed it (its updated_at then).';
comment on column memory.memory_history.known_to is 'When it began to say something else.';
comment on column memory.memory_history.recorded_at is
'Time of the transaction that changed it, from the server''s clock only.';
comment on column memory.memory_history.image is
'Columns of the state and their values (memory.image_of); times in UTC.';
comment on column memory.memory_history.successor_digest is
'SHA-256 of the image of the state that followed, to tell whether it is still the same.';

create function memory.image_of(
  memory_type text,
  columns jsonb
)
  returns jsonb
  language sql
  immutable
  parallel safe
  return columns
    - '{
      tenant_id,id,created_at,updated_at,butler,session_id,subject,predicate,idempotency_key,
      source_episode_id,supersedes_id,embedding,embedding_version_id,search_vector,
      text_search_config,index_rendering,reference_count,last_referenced_at,retry_count,last_error,
      asymmetric_score
    }'::text []
    - case memory_type when 'rule' then '{}' else '{content}'::text [] end;

comment on function memory.image_of(text, jsonb) is
'Of the columns of a memory, a JSON object, those that its history keeps: what may change and is '
'no counter of references, nor follows from others or from deletions elsewhere.';

create function memory.image_digest(image jsonb)
  returns bytea
  language sql
  immutable
  parallel safe
  return sha256(convert_to(image::text, 'UTF8'));

comment on function memory.image_digest(jsonb) is 'SHA-256 of an image, 32 octets.';

create function memory.next_state_at(
  updated_at timestamptz,
  as_of timestamptz
)
  returns timestamptz
  language sql
  stable
  parallel safe
  return greatest(as_of, updated_at + interval '1 microsecond');

comment on function memory.next_state_at(timestamptz, timestamptz) is
'When the state of a memory begins that follows the one of updated_at, at as_of: later in any '
'case.';

-- Whoever changes a memory may say when, by updated_at; otherwise it is now. Either way the states
-- of a memory follow each other without gap or overlap.
create function memory.start_state()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if new.updated_at is not distinct from old.updated_at then
    new.updated_at := now();
  end if;
  new.updated_at := memory.next_state_at(old.updated_at, new.updated_at);
  return new;
end;
$$;

comment on function memory.start_state() is
'Trigger: dates a changed memory (updated_at), later than it was dated before.';

create function memory.keep_history()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- so that the same state has the same image in every session
as $$
begin
  -- No part of the image: so they need not be read from where they are stored.
  old.embedding := null;
  old.search_vector := null;
  new.embedding := null;
  new.search_vector := null;
  insert into memory.memory_history
    (tenant_id, memory_type, memory_id, known_from, known_to, image, successor_digest)
  values (
    old.tenant_id, tg_argv[0], old.id, old.updated_at, new.updated_at,
    memory.image_of(tg_argv[0], to_jsonb(old)),
    memory.image_digest(memory.image_of(tg_argv[0], to_jsonb(new)))
  );
  return null;
end;
$$;

comment on function memory.keep_history() is
'Trigger: keeps what a memory said until now. Argument: its type.';

create function memory.delete_history()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  delete from memory.memory_history as h
  using old_rows as o
  where h.tenant_id = o.tenant_id and h.memory_type = tg_argv[0] and h.memory_id = o.id;
  return null;
end;
$$;

comment on function memory.delete_history() is
'Trigger: what is deleted leaves nothing of what it said. Argument: its type.';

-- Named so that it fires after the trigger "prepare", which may change these columns.

create trigger start_state
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

create trigger keep_history
after update on memory.episodes
for each row when (new.updated_at <> old.updated_at)
execute function memory.keep_history('episode');

create trigger delete_history
after delete on memory.episodes referencing old table as old_rows
for each statement execute function memory.delete_history('episode');

create trigger start_state
before update of
importance, confidence, decay_rate, permanence, source_butler, entity_id, validity, scope,
last_confirmed_at, valid_from, valid_to, tags, metadata, updated_at
on memory.facts
for each row when (
  (
    new.importance, new.confidence, new.decay_rate, new.permanence, new.source_butler,
    new.entity_id, new.validity, new.scope, new.last_confirmed_at, new.valid_from, new.valid_to,
    new.tags, new.metadata, new.updated_at
  ) is distinct from (
    old.importance, old.confidence, old.decay_rate, old.permanence, old.source_butler,
    old.entity_id, old.validity, old.scope, old.last_confirmed_at, old.valid_from, old.valid_to,
    old.tags, old.metadata, old.updated_at
  )
)
execute function memory.start_state();

create trigger keep_history
after update on memory.facts
for each row when (new.updated_at <> old.updated_at)
execute function memory.keep_history('fact');

create trigger delete_history
after delete on memory.facts referencing old table as old_rows
for each statement execute function memory.delete_history('fact');

create trigger start_state
before update of
content, scope, maturity, importance, confidence, decay_rate, permanence, effectiveness_score,
applied_count, success_count, harmful_count, source_butler, last_applied_at, last_evaluated_at,
last_confirmed_at, tags, metadata, updated_at
on memory.rules
for each row when (
  (
    new.content, new.scope, new.maturity, new.importance, new.confidence, new.decay_rate,
    new.permanence, new.effectiveness_score, new.applied_count, new.success_count,
    new.harmful_count, new.source_butler, new.last_applied_at, new.last_evaluated_at,
    new.last_confirmed_at, new.tags, new.metadata, new.updated_at
  ) is distinct from (
    old.content, old.scope, old.maturity, old.importance, old.confidence, old.decay_rate,
    old.permanence, old.effectiveness_score, old.applied_count, old.success_count,
    old.harmful_count, old.source_butler, old.last_applied_at, old.last_evaluated_at,
    old.last_confirmed_at, old.tags, old.metadata, old.updated_at
  )
)
execute function memory.start_state();

create trigger keep_history
after update on memory.rules
for each row when (new.updated_at <> old.updated_at)
execute function memory.keep_history('rule');

create trigger delete_history
after delete on memory.rules referencing old table as old_rows
for each statement execute function memory.delete_history('rule');

-- Facts and rules are deleted only to erase what they say; links to them resolve as expired then.

create trigger bury
after delete on memory.facts referencing old table as old_rows
for each statement execute function memory.bury_memories('fact');

create trigger bury
after delete on memory.rules referencing old table as old_rows
for each statement execute function memory.bury_memories('rule');

create trigger refuse_change
before update or delete on memory.memory_history
for each row
-- Deleted with its memory, or by memory.erase_subject.
when (pg_trigger_depth() = 0 and current_setting('memory.erasing', true) is distinct from 'on')
execute function memory.refuse_change();

create trigger refuse_truncate
before truncate on memory.memory_history
for each statement execute function memory.refuse_truncate();

commit;
