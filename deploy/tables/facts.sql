-- Deploy pymem:tables/facts to pg

begin;

set local role memory_owner;

create table memory.facts (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  subject text not null check (octet_length(subject) <@ int4range '[1,512]'),
  predicate text not null check (octet_length(predicate) <@ int4range '[1,512]'),
  content text not null check (octet_length(content) <@ int4range '[1,1048576]'),
  subject_key text collate "C" generated always as (memory.spelling_key(subject)) stored,
  predicate_key text collate "C" generated always as (memory.predicate_key(predicate)) stored,
  embedding public.vector(384),
  embedding_version_id uuid,
  text_search_config text not null default 'english',
  search_vector tsvector not null,
  importance float8 not null default 5.0 check (importance between 0 and 10),
  confidence float8 not null default 1.0 check (confidence between 0 and 1),
  decay_rate float8 not null default 0.008,
  permanence text not null default 'standard',
  source_butler text
  check (octet_length(source_butler) <@ int4range '[1,128]' and source_butler <> '*'),
  source_episode_id uuid,
  trust text not null default 'user'
  constraint facts_trust_check check (trust in ('user', 'agent', 'tool', 'external')),
  supersedes_id uuid,
  entity_id uuid,
  object_entity_id uuid,
  validity text not null default 'active'
  constraint facts_validity_check
  check (validity in ('active', 'superseded', 'expired', 'retracted')),
  lifecycle_state text generated always as (
    case
      when validity = 'active' and metadata ->> 'status' = 'fading' then 'fading'
      else validity
    end
  ) stored,
  scope text not null default 'global'
  check (octet_length(scope) <@ int4range '[1,128]' and scope <> '*'),
  reference_count integer not null default 0 check (reference_count >= 0),
  created_at timestamptz not null default now(),
  last_referenced_at timestamptz,
  last_confirmed_at timestamptz,
  observed_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  valid_from timestamptz not null default now(),
  valid_to timestamptz,
  planned_for timestamptz,
  tags jsonb not null default '[]'
  check (
    jsonb_typeof(tags) = 'array'
    and not tags @? 'strict $[*] ? (@.type() != "string")'
    and octet_length(tags::text) <= 16384
  ),
  -- 64 KiB of the caller, and 1 KiB for what its lifecycle notes: no sweep fails because of size.
  metadata jsonb not null default '{}'
  check (jsonb_typeof(metadata) = 'object' and octet_length(metadata::text) <= 66560),
  idempotency_key text check (octet_length(idempotency_key) <@ int4range '[1,200]'),
  primary key (tenant_id, id),
  foreign key (tenant_id, embedding_version_id)
  references memory.embedding_versions (tenant_id, id),
  foreign key (tenant_id, source_episode_id)
  references memory.episodes (tenant_id, id) on delete set null (source_episode_id),
  foreign key (tenant_id, supersedes_id)
  references memory.facts (tenant_id, id) on delete set null (supersedes_id)
  -- A memory is restored in batches by id, in which a fact may come before its predecessor.
  deferrable,
  foreign key (tenant_id, entity_id)
  references memory.entities (tenant_id, id) on delete restrict,
  foreign key (tenant_id, object_entity_id)
  references memory.entities (tenant_id, id) on delete restrict,
  -- Fails for any other permanence, which has no rate. These are the rates of memory.decay_rate_of,
  -- spelled out briefly: every statement that writes parses the text of all checks again.
  constraint facts_permanence_check check (
    (
      decay_rate = (
        '{"permanent": 0, "stable": 0.002, "standard": 0.008, "volatile": 0.03, "ephemeral": 0.1}'
        ::jsonb ->> permanence
      )::float8 * (planned_for is null)::integer
    ) is true
  ),
  constraint facts_embedding_has_version_check
  check ((embedding is null) = (embedding_version_id is null)),
  constraint facts_validity_interval_check check (valid_from <= valid_to),
  constraint facts_planned_for_check check (planned_for = valid_from),
  -- The clock of a client may be up to a day ahead.
  constraint facts_times_check check (
    least(
      created_at, last_referenced_at, last_confirmed_at, observed_at, updated_at, valid_from,
      valid_to
    ) > '-infinity'
    and greatest(updated_at, valid_from, valid_to) < 'infinity'
    and greatest(
      created_at, last_referenced_at, last_confirmed_at, observed_at
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
alter table memory.facts alter column embedding set storage external;

-- No statistics; see memory.episodes.
alter table memory.facts
alter column subject set statistics 0,
alter column predicate set statistics 0,
alter column subject_key set statistics 0,
alter column predicate_key set statistics 0,
alter column content set statistics 0;

create unique index facts_active_subject_key
on memory.facts (tenant_id, scope, subject_key, predicate_key, planned_for) nulls not distinct
where entity_id is null and validity = 'active';

create unique index facts_active_entity_key
on memory.facts (tenant_id, entity_id, scope, predicate_key, planned_for) nulls not distinct
where entity_id is not null and validity = 'active';

create index facts_planned_idx
on memory.facts (tenant_id, planned_for, id) where planned_for is not null and validity = 'active';

create unique index facts_idempotency_key
on memory.facts (tenant_id, idempotency_key) where idempotency_key is not null;

-- No function searches this index. Without statistics, the planner would prefer a B-tree here for
-- the fact of a key, and then scan all active facts.
create index facts_scope_active_idx
on memory.facts using brin (tenant_id, scope, validity) where validity = 'active';

create index facts_subject_predicate_idx
on memory.facts (tenant_id, subject_key, predicate_key);

-- Without fastupdate, as those of memory.episodes.
create index facts_search_idx
on memory.facts using gin (memory.search_terms(tenant_id, search_vector)) with (fastupdate = off)
where validity = 'active';

create index facts_tags_idx on memory.facts using gin (tags) with (fastupdate = off);

-- By tenant and without regard to case.
create index facts_tag_terms_idx
on memory.facts using gin (memory.tag_terms(tenant_id, tags))
with (fastupdate = off)
where tags <> '[]';

-- The orders of lists (memory.list_memories).
create index facts_created_idx on memory.facts (tenant_id, created_at, id);

create index facts_updated_idx on memory.facts (tenant_id, updated_at, id);

create index facts_importance_idx on memory.facts (tenant_id, importance, created_at, id);

create index facts_decay_idx
on memory.facts (
  tenant_id, decay_rate, memory.decay_key(confidence, decay_rate, last_confirmed_at), id
);

-- Exact semantic search reads only this index, in which the vectors of a tenant are adjacent. It
-- compares the tenant in collation "C", so that the planner can use no other index
-- (memory.exact_neighbors).
create index facts_vectors_idx
on memory.facts (tenant_id collate "C", created_at, id)
include (scope, confidence, decay_rate, last_confirmed_at, embedding)
where validity = 'active' and embedding is not null;

create index facts_embedding_version_idx
on memory.facts (tenant_id, embedding_version_id) where embedding_version_id is not null;

create index facts_source_episode_idx
on memory.facts (tenant_id, source_episode_id) where source_episode_id is not null;

create index facts_supersedes_idx
on memory.facts (tenant_id, supersedes_id) where supersedes_id is not null;

create index facts_entity_idx
on memory.facts (tenant_id, entity_id, created_at, id) where entity_id is not null;

create index facts_object_entity_idx
on memory.facts (tenant_id, object_entity_id, created_at, id) where object_entity_id is not null;

comment on table memory.facts is
'What is known: subject, predicate, content. One fact per key is active; a newer one supersedes '
'it. Beside it, there is one for each time for which something else is planned.';
comment on column memory.facts.subject is 'Who or what it is about.';
comment on column memory.facts.predicate is 'Which property or relation.';
comment on column memory.facts.subject_key is
'subject in the form in which it is part of the key (memory.spelling_key).';
comment on column memory.facts.predicate_key is
'predicate in the form in which it is part of the key (memory.predicate_key).';
comment on column memory.facts.content is
'What is known, at most 1 MiB. Never changes: a correction is a new fact that supersedes it.';
comment on column memory.facts.embedding is
'Vector of memory.embedding_text by the active embedding version; NULL until embedded.';
comment on column memory.facts.embedding_version_id is
'The embedding version of its vector; NULL until embedded.';
comment on column memory.facts.search_vector is
'Lexemes of memory.render_memory, maintained by trigger.';
comment on column memory.facts.text_search_config is 'Text search configuration of search_vector.';
comment on column memory.facts.importance is 'How much it matters, 0..10.';
comment on column memory.facts.confidence is
'Confidence when last confirmed, 0..1; decays from there.';
comment on column memory.facts.decay_rate is
'Decay per day; follows from permanence. A planned fact does not fade.';
comment on column memory.facts.permanence is
'How slowly it decays: permanent, stable, standard, volatile or ephemeral.';
comment on column memory.facts.source_butler is 'The agent that stored it.';
comment on column memory.facts.trust is
'The least trusted source class of what it was derived from; user if it was stated.';
comment on column memory.facts.source_episode_id is
'The episode it was derived from; NULL after that is deleted (the derived_from link remains).';
comment on column memory.facts.supersedes_id is 'The fact it replaced.';
comment on column memory.facts.entity_id is
'The entity it is about; if set, the key is (entity_id, scope, predicate_key).';
comment on column memory.facts.object_entity_id is
'The entity that its content names, if it relates two: Ada, works at, Analytical Engines.';
comment on column memory.facts.validity is
'active, superseded, expired or retracted. An incoming "forgotten" is stored as retracted, '
'"fading" as active with metadata.status = fading.';
comment on column memory.facts.lifecycle_state is
'active, fading, superseded, expired or retracted; see memory.transitions.';
comment on column memory.facts.scope is
'global, or the role it is for, such as a butler; never "*", which means all scopes.';
comment on column memory.facts.reference_count is 'How often recall or get has returned it.';
comment on column memory.facts.last_referenced_at is 'When recall or get last returned it.';
comment on column memory.facts.last_confirmed_at is
'When its decay starts; storing counts as the first confirmation.';
comment on column memory.facts.observed_at is
'When what it says was last observed: the time of the episode it was derived from, otherwise when '
'it was stored; a confirmation raises it. Consolidation supersedes it by newer evidence only.';
comment on column memory.facts.updated_at is
'When its current state began, counters aside, by the clock of the caller (as_of). Earlier states '
'are in memory.memory_history.';
comment on column memory.facts.valid_from is
'When it became true in the world; by default when it was stored.';
comment on column memory.facts.valid_to is
'When it stopped being true; NULL while it holds. A successor ends it at its own valid_from.';
comment on column memory.facts.planned_for is
'When a fact that has not begun will: its valid_from; NULL for others. The sweep that finds it '
'begun lets it supersede what held until then (memory.begin_planned_facts).';
comment on column memory.facts.tags is 'JSON array of labels.';
comment on column memory.facts.metadata is
'Any data of the caller, at most 64 KiB; the keys status, ended_by_run and ended_before are '
'reserved for the lifecycle.';
comment on column memory.facts.idempotency_key is
'Storing again with the same key returns the first row.';

create table memory.fact_keys (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  scope text not null,
  anchor text not null check (anchor ~ '^(entity|subject):'),
  predicate text not null,
  primary key (tenant_id, scope, anchor, predicate)
)
-- Each store under a known key leaves a dead row.
with (
  fillfactor = 75,
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_threshold = 500
);

comment on table memory.fact_keys is
'One row per key that a fact was ever stored under. Locking it serializes concurrent stores of the '
'same key; locking the old fact would not, because the winner''s new fact is another row.';
comment on column memory.fact_keys.anchor is
'What its facts are about (memory.fact_anchor).';
comment on column memory.fact_keys.predicate is 'The predicate_key of its facts.';

commit;
