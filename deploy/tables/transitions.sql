-- Deploy pymem:tables/transitions to pg

begin;

set local role memory_owner;

-- Reference data, the same for every tenant, so there is no tenant_id.
create table memory.transitions (
  memory_type text not null check (memory_type = any(memory.recorded_type_names())),
  aspect text not null check (aspect in ('lifecycle_state', 'maturity')),
  from_state text not null check (from_state <> ''),
  to_state text not null check (to_state <> ''),
  event_type text not null check (event_type <> ''),
  primary key (memory_type, aspect, from_state, to_state),
  check (from_state <> to_state)
);

comment on table memory.transitions is
'Every allowed lifecycle transition. A trigger rejects a state change that has no row here, and '
'writes the event that the row names.';
comment on column memory.transitions.aspect is 'The column that holds the state.';
comment on column memory.transitions.from_state is 'State before; [*] for a new row.';
comment on column memory.transitions.to_state is 'State after; [*] for a deleted row.';
comment on column memory.transitions.event_type is 'Type of the event in memory_events.';

insert into memory.transitions (memory_type, aspect, from_state, to_state, event_type)
values
('episode', 'lifecycle_state', '[*]', 'pending', 'episode_created'),
('episode', 'lifecycle_state', 'pending', 'consolidated', 'episode_consolidated'),
('episode', 'lifecycle_state', 'pending', 'failed', 'episode_failed'),
('episode', 'lifecycle_state', 'pending', 'dead_letter', 'episode_dead_lettered'),
('episode', 'lifecycle_state', 'failed', 'consolidated', 'episode_consolidated'),
('episode', 'lifecycle_state', 'failed', 'dead_letter', 'episode_dead_lettered'),
('episode', 'lifecycle_state', 'failed', 'pending', 'episode_requeued'),
('episode', 'lifecycle_state', 'dead_letter', 'pending', 'episode_requeued'),
('episode', 'lifecycle_state', 'consolidated', 'pending', 'episode_requeued'),
('episode', 'lifecycle_state', 'pending', '[*]', 'episode_deleted'),
('episode', 'lifecycle_state', 'consolidated', '[*]', 'episode_deleted'),
('episode', 'lifecycle_state', 'failed', '[*]', 'episode_deleted'),
('episode', 'lifecycle_state', 'dead_letter', '[*]', 'episode_deleted'),

('fact', 'lifecycle_state', '[*]', 'active', 'fact_created'),
('fact', 'lifecycle_state', '[*]', 'fading', 'fact_created'),
('fact', 'lifecycle_state', '[*]', 'superseded', 'fact_created'),
('fact', 'lifecycle_state', '[*]', 'expired', 'fact_created'),
('fact', 'lifecycle_state', '[*]', 'retracted', 'fact_created'),
('fact', 'lifecycle_state', 'active', 'fading', 'fact_fading'),
('fact', 'lifecycle_state', 'fading', 'active', 'fact_recovered'),
('fact', 'lifecycle_state', 'active', 'superseded', 'fact_superseded'),
('fact', 'lifecycle_state', 'fading', 'superseded', 'fact_superseded'),
('fact', 'lifecycle_state', 'active', 'expired', 'fact_expired'),
('fact', 'lifecycle_state', 'fading', 'expired', 'fact_expired'),
('fact', 'lifecycle_state', 'active', 'retracted', 'fact_retracted'),
('fact', 'lifecycle_state', 'fading', 'retracted', 'fact_retracted'),
('fact', 'lifecycle_state', 'superseded', 'retracted', 'fact_retracted'),
('fact', 'lifecycle_state', 'expired', 'retracted', 'fact_retracted'),
('fact', 'lifecycle_state', 'superseded', 'active', 'fact_restored'),
('fact', 'lifecycle_state', 'expired', 'active', 'fact_restored'),
('fact', 'lifecycle_state', 'retracted', 'active', 'fact_restored'),
('fact', 'lifecycle_state', 'active', '[*]', 'fact_deleted'),
('fact', 'lifecycle_state', 'fading', '[*]', 'fact_deleted'),
('fact', 'lifecycle_state', 'superseded', '[*]', 'fact_deleted'),
('fact', 'lifecycle_state', 'expired', '[*]', 'fact_deleted'),
('fact', 'lifecycle_state', 'retracted', '[*]', 'fact_deleted'),

('rule', 'lifecycle_state', '[*]', 'active', 'rule_created'),
('rule', 'lifecycle_state', '[*]', 'fading', 'rule_created'),
('rule', 'lifecycle_state', '[*]', 'retracted', 'rule_created'),
('rule', 'lifecycle_state', 'active', 'fading', 'rule_fading'),
('rule', 'lifecycle_state', 'fading', 'active', 'rule_recovered'),
('rule', 'lifecycle_state', 'active', 'retracted', 'rule_retracted'),
('rule', 'lifecycle_state', 'fading', 'retracted', 'rule_retracted'),
('rule', 'lifecycle_state', 'retracted', 'active', 'rule_restored'),
('rule', 'lifecycle_state', 'active', '[*]', 'rule_deleted'),
('rule', 'lifecycle_state', 'fading', '[*]', 'rule_deleted'),
('rule', 'lifecycle_state', 'retracted', '[*]', 'rule_deleted'),

('rule', 'maturity', 'candidate', 'established', 'rule_promoted'),
('rule', 'maturity', 'established', 'proven', 'rule_promoted'),
('rule', 'maturity', 'established', 'candidate', 'rule_demoted'),
('rule', 'maturity', 'proven', 'established', 'rule_demoted'),
('rule', 'maturity', 'candidate', 'anti_pattern', 'rule_inverted'),
('rule', 'maturity', 'established', 'anti_pattern', 'rule_inverted'),
('rule', 'maturity', 'proven', 'anti_pattern', 'rule_inverted'),
('rule', 'maturity', 'anti_pattern', 'candidate', 'rule_restored'),
('rule', 'maturity', 'anti_pattern', 'established', 'rule_restored'),
('rule', 'maturity', 'anti_pattern', 'proven', 'rule_restored'),

('entry', 'lifecycle_state', '[*]', 'active', 'entry_created'),
('entry', 'lifecycle_state', '[*]', 'guarded', 'entry_created'),
('entry', 'lifecycle_state', '[*]', 'aged', 'entry_created'),
('entry', 'lifecycle_state', '[*]', 'archived', 'entry_created'),
('entry', 'lifecycle_state', '[*]', 'expired', 'entry_created'),
('entry', 'lifecycle_state', 'active', 'aged', 'entry_aged'),
('entry', 'lifecycle_state', 'active', 'archived', 'entry_archived'),
('entry', 'lifecycle_state', 'aged', 'archived', 'entry_archived'),
('entry', 'lifecycle_state', 'aged', 'active', 'entry_revived'),
('entry', 'lifecycle_state', 'archived', 'active', 'entry_revived'),
('entry', 'lifecycle_state', 'archived', 'aged', 'entry_revived'),
('entry', 'lifecycle_state', 'active', 'expired', 'entry_expired'),
('entry', 'lifecycle_state', 'aged', 'expired', 'entry_expired'),
('entry', 'lifecycle_state', 'archived', 'expired', 'entry_expired'),
('entry', 'lifecycle_state', 'guarded', 'expired', 'memory_expired'),
('entry', 'lifecycle_state', 'active', 'retracted', 'entry_deleted'),
('entry', 'lifecycle_state', 'aged', 'retracted', 'entry_deleted'),
('entry', 'lifecycle_state', 'archived', 'retracted', 'entry_deleted'),
('entry', 'lifecycle_state', 'guarded', 'retracted', 'entry_deleted'),
('entry', 'lifecycle_state', 'expired', 'retracted', 'entry_deleted'),
('entry', 'lifecycle_state', 'retracted', 'active', 'entry_restored'),
('entry', 'lifecycle_state', 'retracted', 'aged', 'entry_restored'),
('entry', 'lifecycle_state', 'retracted', 'archived', 'entry_restored'),
('entry', 'lifecycle_state', 'retracted', 'guarded', 'entry_restored'),
('entry', 'lifecycle_state', 'retracted', 'expired', 'entry_restored'),
('entry', 'lifecycle_state', 'expired', 'active', 'entry_restored'),
('entry', 'lifecycle_state', 'expired', 'aged', 'entry_restored'),
('entry', 'lifecycle_state', 'expired', 'archived', 'entry_restored'),
('entry', 'lifecycle_state', 'active', '[*]', 'entry_purged'),
('entry', 'lifecycle_state', 'aged', '[*]', 'entry_purged'),
('entry', 'lifecycle_state', 'archived', '[*]', 'entry_purged'),
('entry', 'lifecycle_state', 'guarded', '[*]', 'entry_purged'),
('entry', 'lifecycle_state', 'expired', '[*]', 'entry_purged'),
('entry', 'lifecycle_state', 'retracted', '[*]', 'entry_purged'),

('entity', 'lifecycle_state', '[*]', 'active', 'entity_created'),
('entity', 'lifecycle_state', '[*]', 'merged', 'entity_created'),
('entity', 'lifecycle_state', 'active', 'merged', 'entity_merge'),
('entity', 'lifecycle_state', 'merged', 'active', 'entity_unmerge'),
('entity', 'lifecycle_state', 'active', '[*]', 'entity_deleted'),
('entity', 'lifecycle_state', 'merged', '[*]', 'entity_deleted'),

('item', 'lifecycle_state', '[*]', 'active', 'item_stored'),
('item', 'lifecycle_state', 'active', '[*]', 'item_deleted');

commit;
