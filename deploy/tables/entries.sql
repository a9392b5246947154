-- Deploy pymem:tables/entries to pg

begin;

set local role memory_owner;

create table memory.entries (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  entry_id text not null
  constraint entries_entry_id_check check (entry_id ~ '^mem-\d{4}-\d\d-\d\d-\d{3,9}$'),
  title text not null check (octet_length(title) <@ int4range '[1,1024]'),
  content text not null check (octet_length(content) <@ int4range '[1,1048576]'),
  entry_type text not null default 'note'
  constraint entries_entry_type_check
  check (entry_type in ('fact', 'preference', 'pattern', 'note')),
  category text check (octet_length(category) <@ int4range '[1,128]'),
  tags jsonb not null default '[]'
  check (
    jsonb_typeof(tags) = 'array'
    and not tags @? 'strict $[*] ? (@.type() != "string")'
    and octet_length(tags::text) <= 16384
  ),
  keywords jsonb not null default '[]'
  check (
    jsonb_typeof(keywords) = 'array'
    and not keywords @? 'strict $[*] ? (@.type() != "string")'
    and octet_length(keywords::text) <= 16384
  ),
  importance float8 not null default 5.0 check (importance between 0 and 10),
  confidence float8 not null default 0.7 check (confidence between 0 and 1),
  decay_rate float8 not null default 0 check (decay_rate between 0 and 100),
  source text not null default 'interaction'
  constraint entries_source_check
  check (source in ('user', 'system', 'tool', 'interaction', 'import', 'derived')),
  trust text not null default 'user'
  constraint entries_trust_check check (trust in ('user', 'agent', 'tool', 'external')),
  policy text not null default 'meridian'
  constraint entries_policy_check check (policy in ('meridian', 'billy')),
  scope text not null default 'global'
  check (octet_length(scope) <@ int4range '[1,128]' and scope <> '*'),
  user_id text check (octet_length(user_id) <@ int4range '[1,128]'),
  persona_id text check (octet_length(persona_id) <@ int4range '[1,128]'),
  session_id text check (octet_length(session_id) <@ int4range '[1,128]'),
  retention text not null default 'active'
  constraint entries_retention_check
  check (retention in ('active', 'aging', 'aged', 'archived')),
  version integer not null default 1 check (version > 0),
  created_at timestamptz not null default now(),
  edited_at timestamptz not null default now(),
  last_confirmed_at timestamptz,
  decayed_at timestamptz,
  reference_count integer not null default 0 check (reference_count >= 0),
  last_referenced_at timestamptz,
  expires_at timestamptz,
  flagged_at timestamptz,
  expired_at timestamptz,
  deleted_at timestamptz,
  updated_at timestamptz not null default now(),
  lifecycle_state text generated always as (
    case
      when deleted_at is not null then 'retracted'
      when expired_at is not null then 'expired'
      when policy = 'billy' then 'guarded'
      when retention in ('aged', 'archived') then retention
      else 'active'
    end
  ) stored,
  metadata jsonb not null default '{}'
  check (jsonb_typeof(metadata) = 'object' and octet_length(metadata::text) <= 65536),
  embedding public.vector(384),
  embedding_version_id uuid,
  text_search_config text not null default 'english',
  search_vector tsvector not null,
  idempotency_key text check (octet_length(idempotency_key) <@ int4range '[1,200]'),
  primary key (tenant_id, id),
  constraint entries_entry_id_key unique (tenant_id, entry_id),
  foreign key (tenant_id, embedding_version_id)
  references memory.embedding_versions (tenant_id, id),
  constraint entries_embedding_has_version_check
  check ((embedding is null) = (embedding_version_id is null)),
  constraint entries_guarded_has_scope_check
  check (policy <> 'billy' or coalesce(user_id, persona_id, session_id) is not null),
  -- The clock of a client may be up to a day ahead.
  constraint entries_times_check check (
    least(
      created_at, edited_at, last_confirmed_at, decayed_at, last_referenced_at, expires_at,
      flagged_at, expired_at, deleted_at, updated_at
    ) > '-infinity'
    and greatest(updated_at, expires_at) < 'infinity'
    and greatest(
      created_at, edited_at, last_confirmed_at, decayed_at, last_referenced_at, flagged_at,
      expired_at, deleted_at
    ) <= now() + interval '1 day'
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
alter table memory.entries alter column embedding set storage external;

-- No statistics; see memory.episodes.
alter table memory.entries
alter column title set statistics 0,
alter column content set statistics 0;

create unique index entries_idempotency_key
on memory.entries (tenant_id, idempotency_key) where idempotency_key is not null;

create index entries_search_idx
on memory.entries using gin (memory.search_terms(tenant_id, search_vector)) with (fastupdate = off)
where lifecycle_state = 'active';

-- Words of the entries that a search leaves out unless it asks for them.
create index entries_archive_search_idx
on memory.entries using gin (memory.search_terms(tenant_id, search_vector)) with (fastupdate = off)
where lifecycle_state in ('aged', 'archived');

-- By tenant and without regard to case.
create index entries_tags_idx
on memory.entries using gin (memory.tag_terms(tenant_id, tags)) with (fastupdate = off);

-- Type and confidence, by which queries filter.
create index entries_type_idx on memory.entries (tenant_id, entry_type, confidence, id);

-- Finds a text that is stated again.
create index entries_content_idx
on memory.entries (tenant_id, md5(content)) where lifecycle_state = 'active';

create index entries_created_idx on memory.entries (tenant_id, created_at, id);

-- What upkeep looks for: entries by the age of their last edit.
create index entries_edited_idx
on memory.entries (tenant_id, edited_at, id)
where lifecycle_state in ('active', 'aged');

create index entries_ending_idx
on memory.entries (tenant_id, expires_at, id)
where expires_at is not null and expired_at is null and deleted_at is null;

create index entries_purge_idx
on memory.entries (tenant_id, id)
where expired_at is not null or deleted_at is not null;

-- The entries of a user, a persona or a session, which are few.
create index entries_guarded_idx
on memory.entries (tenant_id, user_id, persona_id, session_id, id)
where lifecycle_state = 'guarded';

-- Exact semantic search reads only this index, in which the vectors of a tenant are adjacent. It
-- compares the tenant in collation "C", so that the planner can use no other index
-- (memory.exact_neighbors).
create index entries_vectors_idx
on memory.entries (tenant_id collate "C", created_at, id)
include (scope, confidence, decay_rate, last_confirmed_at, expires_at, embedding)
where lifecycle_state = 'active' and embedding is not null;

-- The same for entries that are only compared where the others do not suffice.
create index entries_archive_vectors_idx
on memory.entries (tenant_id collate "C", created_at, id)
include (lifecycle_state, scope, expires_at, embedding)
where lifecycle_state in ('aged', 'archived') and embedding is not null;

create index entries_embedding_version_idx
on memory.entries (tenant_id, embedding_version_id) where embedding_version_id is not null;

comment on table memory.entries is
'Free-form memories in Markdown: facts, preferences, patterns and notes. They are edited in place, '
'with a version; earlier versions are in memory.memory_history.';
comment on column memory.entries.entry_id is
'mem-YYYY-MM-DD-NNN: the day it was created, in UTC, and its number on that day '
'(memory.next_entry_id).';
comment on column memory.entries.title is
'First heading of the content, else its first line (memory.entry_title); maintained by trigger.';
comment on column memory.entries.content is 'Markdown, at most 1 MiB, stored byte for byte.';
comment on column memory.entries.entry_type is 'fact, preference, pattern or note.';
comment on column memory.entries.category is 'A free word of the caller.';
comment on column memory.entries.tags is 'JSON array of labels, each once.';
comment on column memory.entries.keywords is
'JSON array of words by which it is also found.';
comment on column memory.entries.importance is
'How much it matters, 0..10, for the composite score; memory.importance_word says it as low, '
'medium or high.';
comment on column memory.entries.confidence is
'How reliable it is, 0..1. Changes in steps (memory.rate_entry, memory.run_entry_upkeep).';
comment on column memory.entries.decay_rate is
'Decay per day of an entry of policy billy, whose stored confidence never changes; otherwise 0.';
comment on column memory.entries.source is
'How it came about: user, system, tool, interaction, import or derived.';
comment on column memory.entries.trust is
'Whose statement it is, by its source, lowered to that of the least trusted memory it was derived '
'from.';
comment on column memory.entries.policy is
'meridian, or billy: written by memory.write_memory only, never changed, found only in its own '
'scope.';
comment on column memory.entries.scope is
'global, or the role it is for, such as a butler; never "*", which means all scopes.';
comment on column memory.entries.user_id is 'Whom it concerns; NULL: not bound to a user.';
comment on column memory.entries.persona_id is 'The persona it is for; NULL: any.';
comment on column memory.entries.session_id is 'The session it is for; NULL: any.';
comment on column memory.entries.retention is
'The band of its age since it was last edited or confirmed, when upkeep last ran: active, aging '
'(from 90 days), aged (180) or archived (365, or archived by hand).';
comment on column memory.entries.version is 'Counts the edits, from 1.';
comment on column memory.entries.edited_at is
'When a caller last changed it; confidence, state and counters aside.';
comment on column memory.entries.last_confirmed_at is
'When it was last confirmed, or stored.';
comment on column memory.entries.decayed_at is
'Until when its confidence has been lowered for not being used.';
comment on column memory.entries.flagged_at is
'Since when it waits for review because of its low confidence.';
comment on column memory.entries.expires_at is
'From when searches no longer find it; NULL: never.';
comment on column memory.entries.expired_at is 'When its expiry took effect.';
comment on column memory.entries.deleted_at is
'When it was deleted; it can be restored for 30 days.';
comment on column memory.entries.updated_at is
'When its current state began, counters aside, by the clock of the caller (as_of). Earlier states '
'are in memory.memory_history.';
comment on column memory.entries.lifecycle_state is
'active, aged, archived, guarded (policy billy), expired or retracted (deleted); see '
'memory.transitions.';
comment on column memory.entries.metadata is
'Any data of the caller, at most 64 KiB.';
comment on column memory.entries.embedding is
'Vector of memory.embedding_text by the active embedding version; NULL until embedded.';
comment on column memory.entries.search_vector is
'Lexemes of memory.render_memory over content, tags and keywords, maintained by trigger.';
comment on column memory.entries.text_search_config is
'Text search configuration of search_vector.';
comment on column memory.entries.idempotency_key is
'Creating again with the same key returns the first row.';

create table memory.entry_numbers (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  day date not null,
  last_number integer not null check (last_number > 0),
  primary key (tenant_id, day)
);

comment on table memory.entry_numbers is
'The last number that memory.next_entry_id gave on a day, in UTC.';

create table memory.entry_policies (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  scope text not null check (octet_length(scope) <@ int4range '[1,128]'),
  policy text not null
  constraint entry_policies_policy_check check (policy in ('meridian', 'billy')),
  primary key (tenant_id, scope)
);

comment on table memory.entry_policies is
'How the entries of a scope may be written and read; "*": of all scopes without a row of their '
'own. Without any row: meridian.';
comment on column memory.entry_policies.policy is
'meridian: entries are created, edited, consolidated, and lose confidence when unused. billy: they '
'are only written on explicit request (memory.write_memory), never changed, and traced.';

create table memory.entry_consolidations (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  cause text not null
  constraint entry_consolidations_cause_check check (cause in ('manual', 'count', 'age')),
  finished_at timestamptz not null
  check (isfinite(finished_at) and finished_at <= now() + interval '1 day'),
  examined integer not null check (examined >= 0),
  merged integer not null check (merged >= 0),
  created integer not null check (created >= 0),
  flagged integer not null check (flagged >= 0),
  archived integer not null check (archived >= 0),
  primary key (tenant_id, id)
);

create index entry_consolidations_finished_idx
on memory.entry_consolidations (tenant_id, finished_at desc, id);

comment on table memory.entry_consolidations is 'Runs of memory.consolidate_entries.';
comment on column memory.entry_consolidations.cause is
'manual, count (100 new entries) or age (24 hours since the run before).';
comment on column memory.entry_consolidations.examined is 'Entries that were compared.';
comment on column memory.entry_consolidations.merged is 'Entries that were merged and archived.';
comment on column memory.entry_consolidations.created is 'Entries that the merged ones became.';
comment on column memory.entry_consolidations.flagged is
'Entries flagged for review because of their low confidence.';
comment on column memory.entry_consolidations.archived is
'Entries archived because of their age.';

commit;
