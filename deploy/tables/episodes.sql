-- Deploy pymem:tables/episodes to pg

begin;

set local role memory_owner;

create table memory.episodes (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  butler text not null check (octet_length(butler) <@ int4range '[1,128]' and butler <> '*'),
  session_id uuid,
  content text not null check (octet_length(content) <@ int4range '[1,1048576]'),
  embedding public.vector(384),
  embedding_version_id uuid,
  text_search_config text not null default 'english',
  index_rendering text not null default 'dated' check (index_rendering in ('content', 'dated')),
  search_vector tsvector not null,
  source_class text not null default 'agent'
  constraint episodes_source_class_check
  check (source_class in ('user', 'agent', 'tool', 'external')),
  importance float8 not null default 5.0 check (importance between 0 and 10),
  reference_count integer not null default 0 check (reference_count >= 0),
  consolidated boolean not null default false,
  consolidation_status varchar(20) not null default 'pending'
  check (consolidation_status::text in ('pending', 'consolidated', 'failed', 'dead_letter')),
  consolidation_attempts integer not null default 0 check (consolidation_attempts >= 0),
  retry_count integer generated always as (consolidation_attempts) stored,
  last_consolidation_error text check (octet_length(last_consolidation_error) <= 8192),
  last_error text generated always as (last_consolidation_error) stored,
  next_consolidation_retry_at timestamptz,
  consolidation_batch_limit integer check (consolidation_batch_limit >= 1),
  lifecycle_state text generated always as (consolidation_status) stored,
  created_at timestamptz not null default now(),
  last_referenced_at timestamptz,
  updated_at timestamptz not null default now(),
  expires_at timestamptz default now() + interval '7 days',
  metadata jsonb not null default '{}'
  check (jsonb_typeof(metadata) = 'object' and octet_length(metadata::text) <= 65536),
  idempotency_key text check (octet_length(idempotency_key) <@ int4range '[1,200]'),
  primary key (tenant_id, id),
  foreign key (tenant_id, embedding_version_id)
  references memory.embedding_versions (tenant_id, id),
  constraint episodes_consolidated_agrees_check
  check (consolidated = (consolidation_status = 'consolidated')),
  constraint episodes_embedding_has_version_check
  check ((embedding is null) = (embedding_version_id is null)),
  -- The clock of a client may be up to a day ahead.
  constraint episodes_times_check check (
    least(
      created_at, last_referenced_at, next_consolidation_retry_at, updated_at, expires_at
    ) > '-infinity'
    and greatest(next_consolidation_retry_at, updated_at, expires_at) < 'infinity'
    and greatest(created_at, last_referenced_at) <= now() + interval '1 day'
  )
)
-- Counting references leaves a dead row each time: vacuum at 5 % of them, not at the 20 % of the
-- server's default.
with (
  fillfactor = 75,
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_threshold = 500
);

-- Out of line and uncompressed: searches read the index below instead, and a narrow row leaves room
-- for HOT updates of its counters.
alter table memory.episodes alter column embedding set storage external;

-- No statistics on text columns, here and in other tables. The planner's statistics cover all
-- tenants, and text comparisons are leakproof: with EXPLAIN, a login that may read the column of
-- its own rows could find out letter by letter what others have stored. No function needs them.
alter table memory.episodes alter column content set statistics 0;

create unique index episodes_idempotency_key
on memory.episodes (tenant_id, idempotency_key) where idempotency_key is not null;

create index episodes_butler_created_idx
on memory.episodes (tenant_id, butler, created_at desc, id);

-- The orders of lists (memory.list_memories).
create index episodes_created_idx on memory.episodes (tenant_id, created_at, id);

create index episodes_updated_idx on memory.episodes (tenant_id, updated_at, id);

create index episodes_session_idx
on memory.episodes (tenant_id, session_id, created_at, id) where session_id is not null;

create index episodes_expires_idx
on memory.episodes (tenant_id, expires_at) where expires_at is not null;

create index episodes_pending_idx
on memory.episodes (tenant_id, butler, created_at, id)
where consolidation_status = 'pending' or consolidation_status = 'failed';

-- Cleanup reads only the oldest of these.
create index episodes_consolidated_idx
on memory.episodes (tenant_id, created_at, id) where consolidation_status = 'consolidated';

-- Without fastupdate: every search, of whichever tenant, would read the list of what is new.
create index episodes_search_idx
on memory.episodes using gin (memory.search_terms(tenant_id, search_vector))
with (fastupdate = off);

-- Exact semantic search reads only this index, in which the vectors of a tenant are adjacent. It
-- compares the tenant in collation "C", so that the planner can use no other index
-- (memory.exact_neighbors).
create index episodes_vectors_idx
on memory.episodes (tenant_id collate "C", created_at, id)
include (butler, expires_at, embedding) where embedding is not null;

create index episodes_embedding_version_idx
on memory.episodes (tenant_id, embedding_version_id) where embedding_version_id is not null;

comment on table memory.episodes is
'What happened: observations from agent sessions, append-only and short-lived. Consolidation turns '
'them into facts and rules.';
comment on column memory.episodes.butler is
'The agent that observed it; episodes are filtered by it as by a scope. Never "*".';
comment on column memory.episodes.session_id is 'The agent session it comes from.';
comment on column memory.episodes.content is 'The observation, at most 1 MiB. Never changes.';
comment on column memory.episodes.embedding is
'Vector of memory.embedding_text by the active embedding version; NULL until embedded.';
comment on column memory.episodes.embedding_version_id is
'The embedding version of its vector; NULL until embedded.';
comment on column memory.episodes.search_vector is
'Lexemes of memory.render_memory, maintained by trigger rather than as a generated column: a table '
'with a BEFORE UPDATE trigger recomputes its generated columns on every update, even if only '
'reference_count changes.';
comment on column memory.episodes.text_search_config is
'Text search configuration of search_vector.';
comment on column memory.episodes.index_rendering is
'What search_vector covers: only the content ("content"), or also the day in words ("dated").';
comment on column memory.episodes.source_class is
'Whose statement it is: the user''s, the agent''s own, a tool''s answer or external content such '
'as a web page. Memories derived from it are trusted no more than it.';
comment on column memory.episodes.importance is 'How much it matters, 0..10.';
comment on column memory.episodes.reference_count is 'How often recall or get has returned it.';
comment on column memory.episodes.last_referenced_at is 'When recall or get last returned it.';
comment on column memory.episodes.consolidated is
'Whether consolidation is done; follows consolidation_status.';
comment on column memory.episodes.consolidation_status is
'pending, consolidated, failed (due for a retry) or dead_letter.';
comment on column memory.episodes.consolidation_attempts is 'Failed attempts to consolidate it.';
comment on column memory.episodes.consolidation_batch_limit is
'Largest batch that it may be part of, since a batch with it has failed; NULL: no limit.';
comment on column memory.episodes.last_consolidation_error is 'Why the last attempt failed.';
comment on column memory.episodes.next_consolidation_retry_at is
'When a failed one may be tried again.';
comment on column memory.episodes.retry_count is 'Same as consolidation_attempts.';
comment on column memory.episodes.last_error is 'Same as last_consolidation_error.';
comment on column memory.episodes.lifecycle_state is
'Same as consolidation_status; see memory.transitions.';
comment on column memory.episodes.created_at is 'When it happened.';
comment on column memory.episodes.updated_at is
'When its current state began, counters aside, by the clock of the caller (as_of). Earlier states '
'are in memory.memory_history.';
comment on column memory.episodes.expires_at is
'When it stops being searchable and cleanup may delete it.';
comment on column memory.episodes.metadata is 'Any data of the caller, at most 64 KiB.';
comment on column memory.episodes.idempotency_key is
'Storing again with the same key returns the first row.';

commit;
