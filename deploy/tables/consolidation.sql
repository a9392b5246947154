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
  model text check (octet_length(model) <@ int4range '[1,512]'),
  started_at timestamptz not null check (isfinite(started_at)),
  leased_until timestamptz not null check (isfinite(leased_until)),
  finished_at timestamptz check (isfinite(finished_at)),
  facts_created integer not null default 0 check (facts_created >= 0),
  facts_superseded integer not null default 0 check (facts_superseded >= 0),
  rules_created integer not null default 0 check (rules_created >= 0),
  confirmed integer not null default 0 check (confirmed >= 0),
  contradicted integer not null default 0 check (contradicted >= 0),
  rejected integer not null default 0 check (rejected >= 0),
  errors jsonb not null default '[]' check (jsonb_typeof(errors) = 'array'),
  primary key (tenant_id, id),
  constraint consolidation_runs_finished_check
  check ((status = 'running') = (finished_at is null))
);

-- One worker at a time consolidates the episodes of a butler.
create unique index consolidation_runs_lease_key
on memory.consolidation_runs (tenant_id, butler) where status = 'running';

create index consolidation_runs_started_idx
on memory.consolidation_runs (tenant_id, butler, started_at desc, id);

comment on table memory.consolidation_runs is
'Which worker consolidated which episodes of a butler, and the result. A running row is the lease '
'of its worker; its id is the token with which the worker ends it.';
comment on column memory.consolidation_runs.status is
'running, proposed (its actions wait for a review), done (its episodes are consolidated), undone '
'(reverted), failed (its episodes wait for a retry or are dead letters) or abandoned (the lease '
'ran out and its episodes were released).';
comment on column memory.consolidation_runs.episode_ids is 'The batch, oldest first.';
comment on column memory.consolidation_runs.prompt_version is 'Version of the prompt template.';
comment on column memory.consolidation_runs.model is
'What produced the answer: a command line or a model.';
comment on column memory.consolidation_runs.leased_until is
'When other workers may take over, unless the worker ends the run or extends the lease first.';
comment on column memory.consolidation_runs.facts_created is
'New facts, superseding ones included.';
comment on column memory.consolidation_runs.facts_superseded is
'Facts that the new ones superseded.';
comment on column memory.consolidation_runs.confirmed is 'Facts and rules confirmed.';
comment on column memory.consolidation_runs.contradicted is
'Stated facts that an episode contradicts: they stay, and are linked.';
comment on column memory.consolidation_runs.rejected is 'Actions that were not applied.';
comment on column memory.consolidation_runs.errors is
'Why actions were rejected: an array of objects with action, position, code and message.';

create table memory.consolidation_proposals (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  run_id uuid not null,
  position bigint not null check (position > 0),
  action text not null
  constraint consolidation_proposals_action_check
  check (action in ('new_fact', 'updated_fact', 'new_rule', 'confirmation')),
  item jsonb not null,
  status text not null default 'proposed'
  constraint consolidation_proposals_status_check
  check (status in ('proposed', 'accepted', 'rejected')),
  outcome text,
  primary key (tenant_id, run_id, position),
  foreign key (tenant_id, run_id)
  references memory.consolidation_runs (tenant_id, id) on delete cascade
);

comment on table memory.consolidation_proposals is
'Actions that a run proposed while the setting consolidation_review was on: each waits to be '
'accepted or rejected.';
comment on column memory.consolidation_proposals.item is 'The element of the answer.';
comment on column memory.consolidation_proposals.outcome is
'The result: as returned by memory.apply_action, or why it was rejected.';

commit;
