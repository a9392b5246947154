-- Deploy pymem:tables/rules to pg

begin;

set local role memory_owner;

create table memory.rules (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  content text not null check (octet_length(content) <@ int4range '[1,1048576]'),
  embedding public.vector(384),
  embedding_version_id uuid,
  text_search_config text not null default 'english',
  search_vector tsvector not null,
  scope text not null default 'global'
  check (octet_length(scope) <@ int4range '[1,128]' and scope <> '*'),
  maturity text not null default 'candidate'
  constraint rules_maturity_check
  check (maturity in ('candidate', 'established', 'proven', 'anti_pattern')),
  importance float8 not null default 5.0 check (importance between 0 and 10),
  confidence float8 not null default 0.5 check (confidence between 0 and 1),
  decay_rate float8 not null default 0.008 check (decay_rate between 0 and 100),
  permanence text not null default 'standard'
  constraint rules_permanence_check
  check (permanence in ('permanent', 'stable', 'standard', 'volatile', 'ephemeral')),
  effectiveness_score float8 not null default 0.0 check (effectiveness_score between 0 and 1),
  applied_count integer not null default 0 check (applied_count >= 0),
  success_count integer not null default 0 check (success_count >= 0),
  harmful_count integer not null default 0 check (harmful_count >= 0),
  asymmetric_score float8 generated always as (
    success_count / (success_count + 4.0::float8 * harmful_count + 0.01)
  ) stored,
  source_episode_id uuid,
  trust text not null default 'user'
  constraint rules_trust_check check (trust in ('user', 'agent', 'tool', 'external')),
  source_butler text
  check (octet_length(source_butler) <@ int4range '[1,128]' and source_butler <> '*'),
  lifecycle_state text generated always as (
    case
      when metadata @> '{"forgotten": true}' then 'retracted'
      when metadata ->> 'status' = 'fading' then 'fading'
      else 'active'
    end
  ) stored,
  reference_count integer not null default 0 check (reference_count >= 0),
  created_at timestamptz not null default now(),
  last_applied_at timestamptz,
  last_evaluated_at timestamptz,
  last_confirmed_at timestamptz,
  observed_at timestamptz not null default now(),
  last_referenced_at timestamptz,
  updated_at timestamptz not null default now(),
  tags jsonb not null default '[]'
  check (
    jsonb_typeof(tags) = 'array'
    and not tags @? 'strict $[*] ? (@.type() != "string")'
    and octet_length(tags::text) <= 16384
  ),
  metadata jsonb not null default '{}'
  check (
    jsonb_typeof(metadata) = 'object'
    -- The functions limit these two keys themselves, and the others that the lifecycle notes fit
    -- into 1 KiB beside 64 KiB of the caller: marking or fading never fails because of size.
    and octet_length((metadata - '{harmful_reasons,original_content}'::text [])::text) <= 66560
  ),
  idempotency_key text check (octet_length(idempotency_key) <@ int4range '[1,200]'),
  primary key (tenant_id, id),
  foreign key (tenant_id, embedding_version_id)
  references memory.embedding_versions (tenant_id, id),
  foreign key (tenant_id, source_episode_id)
  references memory.episodes (tenant_id, id) on delete set null (source_episode_id),
  constraint rules_outcomes_within_applications_check
  check (success_count + harmful_count <= applied_count),
  constraint rules_embedding_has_version_check
  check ((embedding is null) = (embedding_version_id is null)),
  -- The clock of a client may be up to a day ahead.
  constraint rules_times_check check (
    least(
      created_at, last_applied_at, last_evaluated_at, last_confirmed_at, observed_at,
      last_referenced_at, updated_at
    ) > '-infinity'
    and updated_at < 'infinity'
    and greatest(
      created_at, last_applied_at, last_evaluated_at, last_confirmed_at, observed_at,
      last_referenced_at
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
alter table memory.rules alter column embedding set storage external;

-- No statistics; see memory.episodes.
alter table memory.rules alter column content set statistics 0;

create unique index rules_idempotency_key
on memory.rules (tenant_id, idempotency_key) where idempotency_key is not null;

create index rules_scope_idx on memory.rules (tenant_id, scope, maturity);

create index rules_search_idx
on memory.rules using gin (memory.search_terms(tenant_id, search_vector)) with (fastupdate = off)
where lifecycle_state <> 'retracted';

create index rules_tags_idx on memory.rules using gin (tags) with (fastupdate = off);

create index rules_created_idx on memory.rules (tenant_id, created_at, id);

-- Exact semantic search reads only this index, in which the vectors of a tenant are adjacent. It
-- compares the tenant in collation "C", so that the planner can use no other index
-- (memory.exact_neighbors).
create index rules_vectors_idx
on memory.rules (tenant_id collate "C", created_at, id)
include (scope, confidence, decay_rate, last_confirmed_at, embedding)
where lifecycle_state <> 'retracted' and embedding is not null;

create index rules_embedding_version_idx
on memory.rules (tenant_id, embedding_version_id) where embedding_version_id is not null;

create index rules_source_episode_idx
on memory.rules (tenant_id, source_episode_id) where source_episode_id is not null;

comment on table memory.rules is
'What to do: guidance that earns trust by outcomes, from candidate to established to proven, or '
'becomes a warning (anti_pattern).';
comment on column memory.rules.content is 'The guidance, at most 1 MiB.';
comment on column memory.rules.embedding is
'Vector of memory.embedding_text by the active embedding version; NULL until embedded.';
comment on column memory.rules.embedding_version_id is
'The embedding version of its vector; NULL until embedded.';
comment on column memory.rules.search_vector is
'Lexemes of memory.render_memory, maintained by trigger.';
comment on column memory.rules.text_search_config is 'Text search configuration of search_vector.';
comment on column memory.rules.scope is
'global, or the role it is for, such as a butler; never "*", which means all scopes.';
comment on column memory.rules.maturity is 'candidate, established, proven or anti_pattern.';
comment on column memory.rules.importance is 'How much it matters, 0..10, for the composite score.';
comment on column memory.rules.confidence is
'Confidence when last confirmed, 0..1; decays from there.';
comment on column memory.rules.decay_rate is 'Decay per day.';
comment on column memory.rules.permanence is
'How slowly it decays: permanent, stable, standard, volatile or ephemeral.';
comment on column memory.rules.effectiveness_score is
'How well it has worked, 0..1, as of the last mark. Depending on the setting rule_effectiveness: '
'success / applied after a helpful mark and the asymmetric score after a harmful one, or always '
'the asymmetric score.';
comment on column memory.rules.asymmetric_score is
'success / (success + 4 harmful + 0.01), 0..1: one harm outweighs four successes. Same as '
'memory.asymmetric_score.';
comment on column memory.rules.applied_count is
'Outcomes reported, including neutral ones. A trigger maintains the counts from '
'memory.rule_applications.';
comment on column memory.rules.success_count is 'Helpful outcomes reported.';
comment on column memory.rules.harmful_count is 'Harmful outcomes reported.';
comment on column memory.rules.last_applied_at is 'When an outcome was last reported.';
comment on column memory.rules.last_evaluated_at is
'When its maturity was last decided on, which each reported outcome does.';
comment on column memory.rules.reference_count is 'How often recall or get has returned it.';
comment on column memory.rules.last_referenced_at is 'When recall or get last returned it.';
comment on column memory.rules.source_butler is 'The agent that stored it.';
comment on column memory.rules.trust is
'The least trusted source class of what it was derived from; user if it was stated.';
comment on column memory.rules.source_episode_id is
'The episode it was derived from; NULL after that is deleted (the derived_from link remains).';
comment on column memory.rules.lifecycle_state is
'active, fading or retracted (forgotten); see memory.transitions.';
comment on column memory.rules.last_confirmed_at is
'When its decay starts; storing counts as the first confirmation.';
comment on column memory.rules.observed_at is
'When what it says was last observed; as in memory.facts.';
comment on column memory.rules.updated_at is
'When its current state began, counters aside, by the clock of the caller (as_of). Earlier states '
'are in memory.memory_history.';
comment on column memory.rules.tags is 'JSON array of labels.';
comment on column memory.rules.metadata is
'Any data of the caller, at most 64 KiB; the keys status, forgotten, needs_inversion, '
'harmful_reasons (the newest 20), original_content, inverted_from and ended_by_run are reserved '
'for the lifecycle.';
comment on column memory.rules.idempotency_key is
'Storing again with the same key returns the first row.';

create table memory.rule_applications (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  rule_id uuid not null,
  outcome text not null
  constraint rule_applications_outcome_check
  check (outcome in ('helpful', 'harmful', 'neutral', 'skipped')),
  reason text check (octet_length(reason) <@ int4range '[1,1024]'),
  context jsonb not null default '{}'
  check (jsonb_typeof(context) = 'object' and octet_length(context::text) <= 65536),
  created_at timestamptz not null default now()
  check (isfinite(created_at) and created_at <= now() + interval '1 day'),
  primary key (tenant_id, id),
  foreign key (tenant_id, rule_id) references memory.rules (tenant_id, id) on delete cascade
);

-- No statistics; see memory.episodes.
alter table memory.rule_applications alter column reason set statistics 0;

create index rule_applications_rule_idx
on memory.rule_applications (tenant_id, rule_id, created_at desc, id);

comment on table memory.rule_applications is
'The outcome of each application of a rule. Append-only, deleted with its rule. Triggers reject '
'outcomes for a rule that is forgotten or an anti-pattern, and maintain the counts, the '
'effectiveness and the maturity of the rule.';
comment on column memory.rule_applications.outcome is
'helpful, harmful, neutral (counts as applied) or skipped (does not count).';
comment on column memory.rule_applications.reason is 'Why, at most 1 KiB.';
comment on column memory.rule_applications.context is
'Any data of the caller about the application.';
comment on column memory.rule_applications.created_at is 'When it happened.';

commit;
