-- Deploy pymem:tables/consolidation to pg

begin;

set local role memory_owner;

create table memory.consolidation_runs (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  butler text not null check (octet_length(butler) <@ int4range '[1,128]'),
  status text not null default 'running'
  constraint consolidation_runs_status_check
  check (status in ('running', 'proposed', 'done', 'failed', 'abandoned', 'undone')),
  episode_ids uuid[] not null default '{}',
  prompt_version text check (octet_length(prompt_version) <@ int4range '[1,128]'),
  model text
  check (octet_length(model) <@ int4range '[1,512]' and not memory.has_invisible(model)),
  started_at timestamptz not null check (isfinite(started_at)),
  leased_until timestamptz not null check (isfinite(leased_until)),
  finished_at timestamptz check (isfinite(finished_at)),
  facts_created integer not null default 0 check (facts_created >= 0),
  facts_superseded integer not null default 0 check (facts_superseded >= 0),
  rules_created integer not null default 0 check (rules_created >= 0),
  facts_ended integer not null default 0 check (facts_ended >= 0),
  rules_changed integer not null default 0 check (rules_changed >= 0),
  rules_withdrawn integer not null default 0 check (rules_withdrawn >= 0),
  confirmed integer not null default 0 check (confirmed >= 0),
  contradicted integer not null default 0 check (contradicted >= 0),
  rejected integer not null default 0 check (rejected >= 0),
  errors jsonb not null default '[]' check (jsonb_typeof(errors) = 'array'),
  was_answered boolean,
  answer text check (octet_length(answer) <= 1048576),
  prompt_tokens integer check (prompt_tokens >= 0),
  answer_tokens integer check (answer_tokens >= 0),
  llm_seconds float8 check (llm_seconds >= 0),
  primary key (tenant_id, id),
  constraint consolidation_runs_finished_check
  check ((status = 'running') = (finished_at is null))
);

-- One worker at a time consolidates the episodes of a butler.
create unique index consolidation_runs_lease_key
on memory.consolidation_runs (tenant_id, butler) where status = 'running';

create index consolidation_runs_started_idx
on memory.consolidation_runs (tenant_id, butler, started_at desc, id);

create index consolidation_runs_answer_idx
on memory.consolidation_runs (tenant_id, finished_at) where answer is not null;

comment on table memory.consolidation_runs is
'Which worker consolidated which episodes of a butler, and the result. A running row is the lease '
'of its worker; its id is the token with which the worker ends it.';
comment on column memory.consolidation_runs.status is
'running, proposed (consolidation_review: all its actions wait), done (its episodes are '
'consolidated; what may not change what is known may still wait as proposals), undone (reverted), '
'failed (its episodes wait for a retry or are dead letters) or abandoned (the lease ran out and '
'its episodes were released).';
comment on column memory.consolidation_runs.episode_ids is 'The batch, oldest first.';
comment on column memory.consolidation_runs.prompt_version is 'Version of the prompt template.';
comment on column memory.consolidation_runs.model is
'What produced the answer: the name of a model or program.';
comment on column memory.consolidation_runs.leased_until is
'When other workers may take over, unless the worker ends the run or extends the lease first.';
comment on column memory.consolidation_runs.facts_created is
'New facts, superseding ones included.';
comment on column memory.consolidation_runs.facts_superseded is
'Facts that the new ones superseded.';
comment on column memory.consolidation_runs.facts_ended is
'Facts that no longer hold and have no successor.';
comment on column memory.consolidation_runs.rules_changed is
'Rules that a new one replaced; it counts as created too.';
comment on column memory.consolidation_runs.rules_withdrawn is 'Rules retracted.';
comment on column memory.consolidation_runs.confirmed is 'Facts and rules confirmed.';
comment on column memory.consolidation_runs.contradicted is
'Facts and rules that the evidence contradicts but may not change: they stay, and what would '
'change them waits as a proposal.';
comment on column memory.consolidation_runs.rejected is 'Actions that were not applied.';
comment on column memory.consolidation_runs.errors is
'Why actions were rejected: an array of objects with action, position, code and message; of what '
'could not be read, and of what was left out of actions that were applied, only a message.';
comment on column memory.consolidation_runs.was_answered is
'Whether the LLM answered; false if it could not be reached, which costs its episodes no attempt. '
'NULL while the run is in progress, and if it was abandoned.';
comment on column memory.consolidation_runs.answer is
'The beginning of the answer of the LLM, for some days: settings consolidation_answer_octets and '
'consolidation_answer_days.';
comment on column memory.consolidation_runs.prompt_tokens is 'Tokens of the prompt, if known.';
comment on column memory.consolidation_runs.answer_tokens is 'Tokens of the answer, if known.';
comment on column memory.consolidation_runs.llm_seconds is 'How long the LLM took, if known.';

create table memory.consolidation_proposals (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  run_id uuid not null,
  position bigint not null check (position > 0),
  action text not null
  constraint consolidation_proposals_action_check
  check (
    action in (
      'new_fact', 'updated_fact', 'ended_fact', 'new_rule', 'changed_rule', 'withdrawn_rule',
      'confirmation'
    )
  ),
  item jsonb not null,
  original_item jsonb,
  key text not null check (octet_length(key) <@ int4range '[1,128]'),
  memory_type text not null
  constraint consolidation_proposals_memory_type_check check (memory_type in ('fact', 'rule')),
  memory_id uuid,
  content text not null check (octet_length(content) <@ int4range '[1,1100000]'),
  reason text not null check (octet_length(reason) <@ int4range '[1,1024]'),
  evidence uuid[] not null default '{}',
  quotes text[] not null default '{}' check (cardinality(quotes) <= 10),
  trust text
  constraint consolidation_proposals_trust_check
  check (trust in ('user', 'agent', 'tool', 'external')),
  observed_at timestamptz check (isfinite(observed_at)),
  status text not null default 'proposed'
  constraint consolidation_proposals_status_check
  check (status in ('proposed', 'accepted', 'rejected')),
  outcome text,
  created_at timestamptz not null check (isfinite(created_at)),
  decided_at timestamptz check (isfinite(decided_at)),
  primary key (tenant_id, run_id, position),
  foreign key (tenant_id, run_id)
  references memory.consolidation_runs (tenant_id, id) on delete cascade,
  constraint consolidation_proposals_decided_check
  check ((status = 'proposed') = (decided_at is null))
);

-- What is proposed again waits once.
create unique index consolidation_proposals_pending_key
on memory.consolidation_proposals (tenant_id, key) where status = 'proposed';

create index consolidation_proposals_memory_idx
on memory.consolidation_proposals (tenant_id, memory_id) where memory_id is not null;

comment on table memory.consolidation_proposals is
'Actions that a run proposed instead of applying them, because the setting consolidation_review '
'was on or because of what is known: each waits to be accepted or rejected.';
comment on column memory.consolidation_proposals.item is
'The element of the answer, as amended (memory.amend_proposal).';
comment on column memory.consolidation_proposals.original_item is
'The element as the LLM wrote it, if it was amended; otherwise NULL.';
comment on column memory.consolidation_proposals.key is
'What would be changed and how: pending proposals with the same key are one.';
comment on column memory.consolidation_proposals.memory_id is
'The fact or rule that it would change or confirm; NULL for a new one.';
comment on column memory.consolidation_proposals.content is
'What it says, for people: "[subject] [predicate]: content" of a fact, the text of a rule.';
comment on column memory.consolidation_proposals.reason is 'Why it was not applied.';
comment on column memory.consolidation_proposals.evidence is
'The episodes that it was drawn from, the newest first; some may have been deleted since.';
comment on column memory.consolidation_proposals.quotes is
'The beginnings of the newest ten of these episodes, up to 500 octets each: what remains to judge '
'by when the episodes are gone.';
comment on column memory.consolidation_proposals.trust is
'The least trusted source class of the evidence; NULL without evidence.';
comment on column memory.consolidation_proposals.observed_at is
'The time of the newest evidence; NULL without evidence.';
comment on column memory.consolidation_proposals.outcome is
'The result: as returned by memory.apply_action, or why it was rejected.';
comment on column memory.consolidation_proposals.decided_at is
'When it was accepted or rejected; NULL while it waits.';

commit;
