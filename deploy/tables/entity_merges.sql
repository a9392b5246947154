-- Deploy pymem:tables/entity_merges to pg

begin;

set local role memory_owner;

-- Ids only: the earlier states of entities and facts are in their history and are deleted with it.

create table memory.entity_merges (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  source_entity_id uuid not null,
  target_entity_id uuid not null,
  facts_repointed bigint not null check (facts_repointed >= 0),
  facts_superseded bigint not null check (facts_superseded >= 0),
  historical_facts_moved bigint not null check (historical_facts_moved >= 0),
  mentions_repointed bigint not null check (mentions_repointed >= 0),
  aliases_added bigint not null check (aliases_added >= 0),
  target_state_at timestamptz not null check (isfinite(target_state_at)),
  merged_at timestamptz not null check (isfinite(merged_at)),
  unmerged_at timestamptz check (isfinite(unmerged_at)),
  primary key (tenant_id, id),
  foreign key (tenant_id, source_entity_id)
  references memory.entities (tenant_id, id) on delete cascade,
  foreign key (tenant_id, target_entity_id)
  references memory.entities (tenant_id, id) on delete cascade,
  constraint entity_merges_two_entities_check check (source_entity_id <> target_entity_id)
);

create unique index entity_merges_source_key
on memory.entity_merges (tenant_id, source_entity_id) where unmerged_at is null;

create index entity_merges_source_idx on memory.entity_merges (tenant_id, source_entity_id);

create index entity_merges_target_idx on memory.entity_merges (tenant_id, target_entity_id);

comment on table memory.entity_merges is
'Each merge of one entity into another, with counts of what it changed.';
comment on column memory.entity_merges.facts_repointed is
'Active facts that moved to the target without a conflict.';
comment on column memory.entity_merges.facts_superseded is
'Active facts, of either entity, superseded by one of the other.';
comment on column memory.entity_merges.historical_facts_moved is
'Facts of the source that were no longer active.';
comment on column memory.entity_merges.mentions_repointed is 'Facts whose object was the source.';
comment on column memory.entity_merges.aliases_added is
'Aliases of the source that the target did not have; its canonical name is not counted.';
comment on column memory.entity_merges.target_state_at is
'When the state in which the merge left the target began (its updated_at then).';
comment on column memory.entity_merges.unmerged_at is 'When it was undone; NULL while it stands.';

create table memory.entity_merge_facts (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  merge_id uuid not null,
  fact_id uuid not null,
  change text not null
  constraint entity_merge_facts_change_check check (change in ('moved', 'superseded', 'object')),
  state_at timestamptz not null check (isfinite(state_at)),
  winner_id uuid,
  is_linked boolean,
  is_chained boolean,
  primary key (tenant_id, merge_id, fact_id, change),
  foreign key (tenant_id, merge_id)
  references memory.entity_merges (tenant_id, id) on delete cascade,
  foreign key (tenant_id, fact_id)
  references memory.facts (tenant_id, id) on delete cascade,
  foreign key (tenant_id, winner_id)
  references memory.facts (tenant_id, id) on delete set null (winner_id),
  constraint entity_merge_facts_superseded_check check (
    (change = 'superseded') = (is_linked is not null)
    and (is_linked is null) = (is_chained is null)
    and (winner_id is null or change = 'superseded')
  )
);

create index entity_merge_facts_fact_idx on memory.entity_merge_facts (tenant_id, fact_id);

create index entity_merge_facts_winner_idx
on memory.entity_merge_facts (tenant_id, winner_id) where winner_id is not null;

comment on table memory.entity_merge_facts is
'What a merge did to each fact, so that it can be undone.';
comment on column memory.entity_merge_facts.change is
'moved from the source to the target, superseded by a fact of the other entity, or object: its '
'object was the source. A superseded fact of the source is also moved.';
comment on column memory.entity_merge_facts.state_at is
'When the state in which the merge left the fact began (its updated_at then).';
comment on column memory.entity_merge_facts.winner_id is 'The fact that superseded it.';
comment on column memory.entity_merge_facts.is_linked is
'Whether the merge created the supersedes link; false if a link existed before.';
comment on column memory.entity_merge_facts.is_chained is
'Whether the merge set supersedes_id of the winner; false if the winner had superseded another '
'fact before.';

commit;
