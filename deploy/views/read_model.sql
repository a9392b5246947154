-- Deploy pymem:views/read_model to pg

begin;

set local role memory_owner;

do $$
begin
  perform memory.refresh_memory_overview();
end;
$$;

comment on view memory.memory_overview is
'Every memory of the tenant in any state, without vectors, for dashboards. effective_confidence '
'and the expiry of episodes are as of now.';

create or replace view memory.event_feed
with (security_invoker = true)
as
select
  e.seq,
  e.created_at,
  e.event_type,
  e.memory_type,
  e.memory_id,
  e.actor,
  e.login,
  e.request_id,
  e.reason,
  e.payload,
  e.payload ->> 'from' as from_state,
  e.payload ->> 'to' as to_state
from memory.memory_events as e;

comment on view memory.event_feed is
'The audit stream of the tenant, for dashboards. Order by created_at desc, seq desc.';

create or replace view memory.provenance
with (security_invoker = true)
as
select
  l.source_type,
  l.source_id,
  l.relation,
  l.target_type,
  l.target_id,
  t.deleted_at as target_deleted_at,
  l.created_at
from memory.memory_links as l
-- Row security restricts both sides to one tenant. Joining on tenant_id would require granting it.
left join memory.tombstones as t
  on l.target_type = t.memory_type and l.target_id = t.memory_id;

comment on view memory.provenance is
'Which memory is derived from, supports, contradicts, supersedes or is related to which, for '
'dashboards. target_deleted_at: when the target was deleted.';

create or replace view memory.rule_outcomes
with (security_invoker = true)
as
select
  a.rule_id,
  a.outcome,
  a.reason,
  a.context,
  a.created_at
from memory.rule_applications as a;

comment on view memory.rule_outcomes is
'The outcome of each application of a rule, for dashboards.';

-- Grants for the columns that the views read: neither vectors nor tenant_id. Planner estimates come
-- from statistics over all rows, so a reader who may compare a column could probe the values that
-- other tenants have in it.

grant select on
memory.memory_overview, memory.event_feed, memory.provenance, memory.rule_outcomes
to memory_reader;

grant select (
  id, butler, session_id, content, importance, reference_count, lifecycle_state,
  consolidation_status, created_at, updated_at, last_referenced_at, expires_at, metadata
) on memory.episodes to memory_reader;

grant select (
  id, subject, predicate, content, importance, confidence, decay_rate, permanence,
  source_butler, source_episode_id, supersedes_id, entity_id, lifecycle_state, scope,
  reference_count, created_at, updated_at, last_referenced_at, last_confirmed_at, valid_from,
  valid_to, tags, metadata
) on memory.facts to memory_reader;

grant select (
  id, content, scope, maturity, importance, confidence, decay_rate, permanence,
  effectiveness_score, source_episode_id, source_butler, lifecycle_state, reference_count,
  created_at, updated_at, last_referenced_at, last_confirmed_at, tags, metadata
) on memory.rules to memory_reader;

grant select (
  id, content, scope, importance, confidence, decay_rate, lifecycle_state, reference_count,
  created_at, updated_at, last_referenced_at, last_confirmed_at, expires_at, tags, metadata
) on memory.entries to memory_reader;

grant select (
  seq, event_type, memory_type, memory_id, actor, login, request_id, reason, payload,
  created_at
) on memory.memory_events to memory_reader;

grant select (
  source_type, source_id, target_type, target_id, relation, created_at
) on memory.memory_links to memory_reader;

grant select (memory_type, memory_id, deleted_at) on memory.tombstones to memory_reader;

grant select (rule_id, outcome, reason, context, created_at)
on memory.rule_applications to memory_reader;

commit;
