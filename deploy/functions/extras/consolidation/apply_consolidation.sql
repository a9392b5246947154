-- Deploy pymem:functions/extras/consolidation/apply_consolidation to pg

begin;

set local role memory_owner;

create or replace function memory.consolidation_key(
  run memory.consolidation_runs,
  action text,
  fields text[]
)
  returns text
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select 'consolidation:' || encode(
    sha256(convert_to(
      jsonb_build_array(
        action,
        (run).id,
        (
          select array_agg(lower(memory.collapse_whitespace(f.field)) order by f.place)
          from unnest(fields) with ordinality as f (field, place)
        )
      )::text,
      'UTF8'
    )),
    'hex'
  );
$$;

comment on function memory.consolidation_key(memory.consolidation_runs, text, text[]) is
'The idempotency key of an action: the same action of the same run has the same key. Another run '
'may store the same again, for example after this one was undone.';

create or replace function memory.link_evidence(
  tenant_id text,
  memory_type text,
  memory_id uuid,
  evidence uuid[],
  relation text
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  insert into memory.memory_links
    (tenant_id, source_type, source_id, target_type, target_id, relation)
  select
    link_evidence.tenant_id,
    case relation when 'derived_from' then memory_type else 'episode' end,
    case relation when 'derived_from' then memory_id else e.id end,
    case relation when 'derived_from' then 'episode' else memory_type end,
    case relation when 'derived_from' then e.id else memory_id end,
    relation
  from unnest(evidence) as e (id)
  order by e.id
  on conflict (tenant_id, source_type, source_id, target_type, target_id) do nothing;
$$;

comment on function memory.link_evidence(text, text, uuid, uuid[], text) is
'Links a memory to the episodes it was derived from, or episodes to the memory that they support, '
'contradict or are related to.';

create or replace function memory.store_planned_fact(
  run memory.consolidation_runs,
  plan memory.planned_action,
  as_of timestamptz
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_known uuid[] := array_remove(plan.memory_id || plan.other_ids, null);
  v_id uuid;
begin
  -- What was known under a name of the entity comes under its key.
  update memory.facts as f
  set entity_id = plan.entity_id, updated_at = memory.next_state_at(f.updated_at, as_of)
  where f.tenant_id = run.tenant_id and f.id = plan.memory_id and f.entity_id is null
    and plan.entity_id is not null
    and not exists (
      select from memory.facts as a
      where a.tenant_id = run.tenant_id and a.entity_id = plan.entity_id and a.scope = plan.scope
        and a.predicate_key = memory.predicate_key(plan.predicate)
        and a.planned_for is not distinct from f.planned_for and a.validity = 'active'
    );

  -- They are over, whenever what follows has begun: storing alone would compare the times from which
  -- facts are valid.
  update memory.facts as f
  set
    validity = 'superseded',
    metadata = f.metadata - 'status',
    valid_to = least(f.valid_to, greatest(f.valid_from, coalesce(plan.valid_from, as_of))),
    updated_at = memory.next_state_at(f.updated_at, as_of)
  where f.tenant_id = run.tenant_id and f.id = any (v_known) and f.validity = 'active';
  v_id := memory.store_fact(
    plan.subject, plan.predicate, plan.content,
    importance => plan.importance,
    permanence => plan.permanence,
    scope => plan.scope,
    tags => plan.tags,
    entity_id => plan.entity_id,
    confidence => plan.confidence,
    source_butler => run.butler,
    source_episode_id => plan.evidence[1],
    metadata => jsonb_build_object('consolidation_run', run.id) || case
      when plan.category <> '' then jsonb_build_object('category', plan.category) else '{}'
    end,
    idempotency_key => memory.consolidation_key(
      run, 'fact', array[plan.subject, plan.predicate, plan.scope, plan.content]
    ),
    valid_from => plan.valid_from,
    valid_to => plan.valid_to,
    object_entity_id => plan.object_entity_id,
    as_of => as_of
  );

  update memory.facts as f
  set supersedes_id = plan.memory_id
  where f.tenant_id = run.tenant_id and f.id = v_id and f.supersedes_id is null
    and plan.memory_id <> v_id;
  insert into memory.memory_links
    (tenant_id, source_type, source_id, target_type, target_id, relation)
  select run.tenant_id, 'fact', v_id, 'fact', k.id, 'supersedes'
  from unnest(v_known) as k (id)
  where k.id <> v_id
  order by k.id
  on conflict (tenant_id, source_type, source_id, target_type, target_id) do nothing;

  perform memory.link_evidence(run.tenant_id, 'fact', v_id, plan.evidence, 'derived_from');
  -- Episodes that are gone count too.
  update memory.facts as f
  set
    trust = memory.least_trust(f.trust, plan.trust),
    observed_at = plan.observed_at,
    updated_at = memory.next_state_at(f.updated_at, as_of)
  where f.tenant_id = run.tenant_id and f.id = v_id
    and (
      memory.least_trust(f.trust, plan.trust) <> f.trust or f.observed_at <> plan.observed_at
    );
end;
$$;

comment on function memory.store_planned_fact(
  memory.consolidation_runs, memory.planned_action, timestamptz
) is
'Stores an inferred fact, which supersedes what the plan says, and links it to its evidence. '
'Errors: as store_fact.';

create or replace function memory.store_planned_rule(
  run memory.consolidation_runs,
  plan memory.planned_action,
  as_of timestamptz
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_id uuid := memory.store_rule(
    plan.content,
    scope => plan.scope,
    tags => plan.tags,
    importance => plan.importance,
    source_butler => run.butler,
    source_episode_id => plan.evidence[1],
    metadata => jsonb_build_object('consolidation_run', run.id),
    idempotency_key => memory.consolidation_key(run, 'rule', array[plan.scope, plan.content]),
    as_of => as_of
  );
begin
  if plan.memory_id is not null then
    perform memory.withdraw_rule(run, plan.memory_id, as_of);
    insert into memory.memory_links
      (tenant_id, source_type, source_id, target_type, target_id, relation)
    values (run.tenant_id, 'rule', v_id, 'rule', plan.memory_id, 'supersedes');
  end if;
  perform memory.link_evidence(run.tenant_id, 'rule', v_id, plan.evidence, 'derived_from');
  update memory.rules as r
  set
    trust = memory.least_trust(r.trust, plan.trust),
    observed_at = plan.observed_at,
    updated_at = memory.next_state_at(r.updated_at, as_of)
  where r.tenant_id = run.tenant_id and r.id = v_id
    and (
      memory.least_trust(r.trust, plan.trust) <> r.trust or r.observed_at <> plan.observed_at
    );
end;
$$;

comment on function memory.store_planned_rule(
  memory.consolidation_runs, memory.planned_action, timestamptz
) is
'Stores an inferred rule, instead of the one that the plan says, and links it to its evidence. '
'Errors: as store_rule.';

create or replace function memory.withdraw_rule(
  run memory.consolidation_runs,
  rule_id uuid,
  as_of timestamptz
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  update memory.rules as r
  set
    metadata = (r.metadata - 'status')
      || jsonb_build_object('forgotten', true, 'ended_by_run', (run).id),
    updated_at = memory.next_state_at(r.updated_at, as_of)
  where r.tenant_id = (run).tenant_id and r.id = rule_id and r.lifecycle_state <> 'retracted';
$$;

comment on function memory.withdraw_rule(memory.consolidation_runs, uuid, timestamptz) is
'Retracts a rule; metadata.ended_by_run says which run did.';

create or replace function memory.end_fact(
  run memory.consolidation_runs,
  fact_id uuid,
  valid_to timestamptz,
  as_of timestamptz
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  update memory.facts as f
  set
    -- A plan that ends before it begins is given up.
    validity = case
      when end_fact.valid_to <= greatest(as_of, f.planned_for) then 'superseded' else f.validity
    end,
    metadata = case
      when end_fact.valid_to <= greatest(as_of, f.planned_for) then f.metadata - 'status'
      else f.metadata
    end
      || jsonb_build_object('ended_by_run', (run).id, 'ended_before', f.valid_to),
    valid_to = end_fact.valid_to,
    updated_at = memory.next_state_at(f.updated_at, as_of)
  where f.tenant_id = (run).tenant_id and f.id = fact_id and f.validity = 'active';
$$;

comment on function memory.end_fact(
  memory.consolidation_runs, uuid, timestamptz, timestamptz
) is
'Ends the validity of a fact: it is superseded without a successor, or, if it still holds at '
'as_of, expires by the decay sweep after valid_to. metadata.ended_by_run says which run did, and '
'ended_before what valid_to was.';

create or replace function memory.carry_out(
  run memory.consolidation_runs,
  settings memory.settings,
  plan memory.planned_action,
  as_of timestamptz
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  case plan.outcome
    when 'fact created', 'fact superseded' then
      perform memory.store_planned_fact(run, plan, as_of);
    when 'rule created', 'rule changed' then
      perform memory.store_planned_rule(run, plan, as_of);
    when 'fact ended' then
      perform memory.check_after_creation(run.tenant_id, 'fact', plan.memory_id, as_of);
      perform memory.end_fact(run, plan.memory_id, plan.valid_to, as_of);
      perform memory.link_evidence(
        run.tenant_id, 'fact', plan.memory_id, plan.evidence, 'related_to'
      );
    when 'rule withdrawn' then
      perform memory.check_after_creation(run.tenant_id, 'rule', plan.memory_id, as_of);
      perform memory.withdraw_rule(run, plan.memory_id, as_of);
      perform memory.link_evidence(
        run.tenant_id, 'rule', plan.memory_id, plan.evidence, 'related_to'
      );
    else
      -- What is less trusted supports a memory, but is not what it is derived from: that would
      -- lower its trust. Nor does it count as newer knowledge, which would keep corrections out.
      perform
        memory.confirm_observation(
          settings, plan.memory_type, plan.memory_id,
          case when plan.is_trusted then plan.observed_at end, as_of
        ),
        memory.link_evidence(
          run.tenant_id, plan.memory_type, plan.memory_id, plan.evidence,
          case when plan.is_trusted then 'derived_from' else 'supports' end
        );
  end case;
end;
$$;

comment on function memory.carry_out(
  memory.consolidation_runs, memory.settings, memory.planned_action, timestamptz
) is
'Does what a plan says, whatever its reason for a review. Errors: those of storing and confirming.';

create or replace function memory.proposal_content(plan memory.planned_action)
  returns text
  language sql
  immutable
  parallel safe
  return case (plan).memory_type
    when 'fact' then memory.render_fact((plan).subject, (plan).predicate, (plan).content)
    else (plan).content
  end;

comment on function memory.proposal_content(memory.planned_action) is
'What a proposal says, for people.';

create or replace function memory.proposal_key(plan memory.planned_action)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select encode(
    sha256(convert_to(
      jsonb_build_array(
        (plan).memory_type, (plan).outcome,
        coalesce(
          (plan).memory_id::text,
          jsonb_build_array(
            (plan).scope, coalesce((plan).entity_id::text, memory.spelling_key((plan).subject)),
            memory.normalize_key((plan).predicate)
          )::text
        ),
        lower(memory.collapse_whitespace((plan).content))
      )::text,
      'UTF8'
    )),
    'hex'
  );
$$;

comment on function memory.proposal_key(memory.planned_action) is
'What a proposal would change and how: equal for what is proposed again.';

create or replace function memory.keep_proposal(
  run memory.consolidation_runs,
  plan memory.planned_action,
  "position" bigint, -- noqa: RF06
  item jsonb,
  as_of timestamptz
)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_content text := memory.proposal_content(plan);
  v_key text := memory.proposal_key(plan);
begin
  -- What a person has rejected is not asked again because of the same evidence.
  if exists (
    select from memory.consolidation_proposals as p
    where p.tenant_id = run.tenant_id and p.key = v_key and p.status = 'rejected'
      and p.outcome = 'rejected in review' and p.evidence @> plan.evidence
  ) then
    return false;
  end if;
  insert into memory.consolidation_proposals as p (
    tenant_id, run_id, position, action, item, key, memory_type, memory_id, content, reason,
    evidence, quotes, trust, observed_at, created_at
  )
  values (
    run.tenant_id, run.id, keep_proposal.position, plan.action, item, v_key, plan.memory_type,
    plan.memory_id, v_content, coalesce(plan.reason, 'consolidation_review is on'),
    plan.evidence,
    array(
      select memory.truncate_utf8(e.content, 500)
      from unnest(plan.evidence) with ordinality as v (id, place)
      join memory.episodes as e on e.tenant_id = run.tenant_id and e.id = v.id
      order by v.place
      limit 10
    ),
    plan.trust, plan.observed_at, as_of
  )
  -- What is less trusted neither lowers the trust of what waits nor dates it.
  on conflict (tenant_id, key) where status = 'proposed' do update set
    action = case
      when p.trust is distinct from excluded.trust then excluded.action else p.action
    end,
    item = case when p.trust is distinct from excluded.trust then excluded.item else p.item end,
    content = case
      when p.trust is distinct from excluded.trust then excluded.content else p.content
    end,
    evidence = (excluded.evidence || array(
      select v.id
      from unnest(p.evidence) with ordinality as v (id, place)
      where v.id <> all (excluded.evidence) and p.trust is not distinct from excluded.trust
      order by v.place
    ))[:1000],
    quotes = (excluded.quotes || array(
      select v.quote
      from unnest(p.quotes) with ordinality as v (quote, place)
      where v.quote <> all (excluded.quotes)
      order by v.place
    ))[:10],
    trust = excluded.trust,
    observed_at = case
      when p.trust is distinct from excluded.trust then excluded.observed_at
      else greatest(p.observed_at, excluded.observed_at)
    end,
    reason = excluded.reason
  where p.trust is null
    or (excluded.trust is not null and memory.least_trust(p.trust, excluded.trust) = p.trust);
  return found;
end;
$$;

comment on function memory.keep_proposal(
  memory.consolidation_runs, memory.planned_action, bigint, jsonb, timestamptz
) is
'Keeps an element that is not applied, until somebody decides. One that waits already gets its '
'evidence, or, if that is more trusted, has it instead of its own; less trusted evidence changes '
'nothing. One that was rejected is not kept again for the same evidence. Returns whether anything '
'was kept.';

create or replace function memory.plan_action(
  run memory.consolidation_runs,
  settings memory.settings,
  action text,
  item jsonb,
  proposal memory.consolidation_proposals,
  as_of timestamptz
)
  returns memory.planned_action
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  return memory.classify_action(run, settings, action, item, proposal, as_of);
exception
  when others then
    if sqlstate !~ '^(22|23|PM)' then
      raise;
    end if;
    return null;
end;
$$;

comment on function memory.plan_action(
  memory.consolidation_runs, memory.settings, text, jsonb, memory.consolidation_proposals,
  timestamptz
) is
'memory.classify_action, with NULL instead of an error of the action itself.';

create or replace function memory.facts_of_plans(
  run memory.consolidation_runs,
  plans memory.planned_action[]
)
  returns uuid[]
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  -- A generic plan takes the tenant for one of average size, all of whose facts are soon read.
  set plan_cache_mode = force_custom_plan
as $$
declare
  v_tenant_id text := run.tenant_id;
begin
  return array(
    select f.id
    from (
      select
        p.scope, memory.spelling_key(p.subject) as subject_key, p.entity_id,
        memory.predicate_key(p.predicate) as predicate_key, p.valid_from
      from unnest(plans) as p
      where p.memory_type = 'fact'
      offset 0 -- computes the keys first
    ) as p
    cross join lateral memory.facts_of_key(
      v_tenant_id, p.scope, p.subject_key, p.entity_id, p.predicate_key, p.valid_from
    ) as f (id)
    order by f.id
  );
end;
$$;

comment on function memory.facts_of_plans(
  memory.consolidation_runs, memory.planned_action[]
) is
'The facts under the keys of some plans that storing may change (memory.facts_of_key).';

-- One lock after the other as the actions come would not be in the order of locks.
create or replace function memory.lock_plans(
  run memory.consolidation_runs,
  plans memory.planned_action[]
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  -- Ids in arrays: joined with the plans, the planner would read all rows of a tenant.
  v_entity_ids uuid[] := array(
    select i.id
    from unnest(plans) as p
    cross join lateral (values (p.entity_id), (p.object_entity_id)) as i (id)
    where i.id is not null
  );
  v_fact_ids uuid[] := array(
    select unnest(p.memory_id || p.other_ids) from unnest(plans) as p where p.memory_type = 'fact'
  );
  v_rule_ids uuid[] := array(
    select p.memory_id from unnest(plans) as p where p.memory_type = 'rule'
  );
  v_episode_ids uuid[];
begin
  perform memory.lock_entities_of_facts(
    run.tenant_id, v_fact_ids || memory.facts_of_plans(run, plans), v_entity_ids
  );
  perform memory.lock_fact_key(run.tenant_id, k.scope, k.subject, k.entity_id, k.predicate)
  from (
    select distinct on (p.scope, k.anchor, k.predicate_key)
      p.scope, p.subject, p.entity_id, p.predicate
    from unnest(plans) as p
    cross join lateral (
      values (
        memory.fact_anchor(p.entity_id, memory.spelling_key(p.subject)),
        memory.predicate_key(p.predicate)
      )
    ) as k (anchor, predicate_key)
    where p.memory_type = 'fact'
    order by p.scope, k.anchor, k.predicate_key, p.subject, p.predicate
  ) as k;
  -- Others may have stored under the keys since the plans were made; now nobody does.
  v_fact_ids := v_fact_ids || memory.facts_of_plans(run, plans);
  -- A second update of a fact or rule looks at its episode again.
  v_episode_ids := run.episode_ids
    || array(select unnest(p.evidence) from unnest(plans) as p)
    || array(
      select f.source_episode_id
      from memory.facts as f
      where f.tenant_id = run.tenant_id and f.id = any (v_fact_ids)
    )
    || array(
      select r.source_episode_id
      from memory.rules as r
      where r.tenant_id = run.tenant_id and r.id = any (v_rule_ids)
    );
  perform
  from memory.episodes as e
  where e.tenant_id = run.tenant_id and e.id = any (v_episode_ids)
  order by e.id
  for no key update;
  perform
  from memory.facts as f
  where f.tenant_id = run.tenant_id and f.id = any (v_fact_ids)
  order by f.id
  for no key update;
  perform
  from memory.rules as r
  where r.tenant_id = run.tenant_id and r.id = any (v_rule_ids)
  order by r.id
  for no key update;
end;
$$;

comment on function memory.lock_plans(memory.consolidation_runs, memory.planned_action[]) is
'Locks what several actions change, each kind of row in the order of locks.';

create or replace function memory.apply_action(
  run memory.consolidation_runs,
  settings memory.settings,
  action text,
  "position" bigint, -- noqa: RF06
  item jsonb,
  proposal memory.consolidation_proposals,
  as_of timestamptz
)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_plan memory.planned_action := memory.classify_action(
    run, settings, action, item, proposal, as_of
  );
begin
  if proposal.run_id is null then
    if settings.consolidation_review then
      perform memory.keep_proposal(run, v_plan, "position", item, as_of);
      return 'proposed';
    elsif v_plan.reason is not null then
      if memory.keep_proposal(run, v_plan, "position", item, as_of) then
        perform memory.link_evidence(
          run.tenant_id, v_plan.memory_type, v_plan.memory_id, v_plan.evidence, 'contradicts'
        );
      end if;
      return 'contradicted';
    end if;
  end if;

  -- Locks it, and judges again: while it waited, somebody else may have changed it.
  if v_plan.memory_type = 'fact' then
    perform memory.lock_entities(
      run.tenant_id, array[v_plan.entity_id, v_plan.object_entity_id]
    );
    perform memory.lock_fact_key(
      run.tenant_id, v_plan.scope, v_plan.subject, v_plan.entity_id, v_plan.predicate
    );
    perform from memory.facts as f
    where f.tenant_id = run.tenant_id and f.id = any (v_plan.memory_id || v_plan.other_ids)
    order by f.id
    for no key update;
  elsif v_plan.memory_id is not null then
    perform memory.lock_memory(run.tenant_id, 'rule', v_plan.memory_id);
  end if;
  v_plan := memory.classify_action(run, settings, action, item, proposal, as_of);
  if v_plan.reason is not null and proposal.run_id is null then
    perform memory.keep_proposal(run, v_plan, "position", item, as_of);
    return 'contradicted';
  end if;
  perform memory.carry_out(run, settings, v_plan, as_of);
  return v_plan.outcome;
end;
$$;

comment on function memory.apply_action(
  memory.consolidation_runs, memory.settings, text, bigint, jsonb, memory.consolidation_proposals,
  timestamptz
) is
'Applies an element of an answer as memory.classify_action judges it, or keeps it as a proposal: '
'where that has a reason for a review, and with consolidation_review always. With the proposal, '
'which somebody accepts, it is applied whatever the reason. Returns what happened: fact created, '
'fact superseded, fact ended, rule created, rule changed, rule withdrawn, confirmed; contradicted '
'(kept because of what is known) or proposed (kept because of the setting). Errors: those of '
'memory.classify_action, of storing and of confirming.';

create or replace function memory.try_action(
  run memory.consolidation_runs,
  settings memory.settings,
  action text,
  place bigint,
  "position" bigint, -- noqa: RF06
  item jsonb,
  proposal memory.consolidation_proposals,
  as_of timestamptz,
  out outcome text,
  out error jsonb
)
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  outcome := memory.apply_action(run, settings, action, "position", item, proposal, as_of);
exception
  -- Errors of the action itself. Others, such as a lost connection, a lock or a full disk, roll
  -- back the whole call.
  when others then
    if sqlstate !~ '^(22|23|PM)' then
      raise;
    end if;
    outcome := 'rejected';
    error := jsonb_build_object(
      'action', action, 'position', place, 'code', sqlstate, 'message', left(sqlerrm, 500)
    );
end;
$$;

comment on function memory.try_action(
  memory.consolidation_runs, memory.settings, text, bigint, bigint, jsonb,
  memory.consolidation_proposals, timestamptz
) is
'memory.apply_action in a subtransaction: returns what happened, or "rejected" and why. Errors: '
'those that the action did not cause.';

create or replace function memory.read_actions(output jsonb)
  returns table (
    action text,
    place bigint,
    item jsonb
  )
  language sql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select k.action, e.place, e.item
  from (values
    (1, 'new_fact', 'new_facts'), (2, 'updated_fact', 'updated_facts'),
    (3, 'ended_fact', 'ended_facts'), (4, 'new_rule', 'new_rules'),
    (5, 'changed_rule', 'changed_rules'), (6, 'withdrawn_rule', 'withdrawn_rules'),
    (7, 'confirmation', 'confirmations')
  ) as k (turn, action, list)
  cross join lateral jsonb_array_elements(
    case jsonb_typeof(output -> k.list) when 'array' then output -> k.list else '[]' end
  ) with ordinality as e (item, place)
  order by k.turn, e.place;
$$;

comment on function memory.read_actions(jsonb) is
'The elements of the lists of an answer, in the order in which they are applied; place is the '
'position in each list, from 1.';

create or replace function memory.count_outcomes(
  tenant_id text,
  run_id uuid,
  outcomes text[],
  errors jsonb,
  step integer default 1
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  update memory.consolidation_runs as r
  set
    facts_created = r.facts_created
      + step * cardinality(array_positions(outcomes, 'fact created'))
      + step * cardinality(array_positions(outcomes, 'fact superseded')),
    facts_superseded = r.facts_superseded
      + step * cardinality(array_positions(outcomes, 'fact superseded')),
    facts_ended = r.facts_ended + step * cardinality(array_positions(outcomes, 'fact ended')),
    rules_created = r.rules_created
      + step * cardinality(array_positions(outcomes, 'rule created'))
      + step * cardinality(array_positions(outcomes, 'rule changed')),
    rules_changed = r.rules_changed + step * cardinality(array_positions(outcomes, 'rule changed')),
    rules_withdrawn = r.rules_withdrawn
      + step * cardinality(array_positions(outcomes, 'rule withdrawn')),
    confirmed = r.confirmed + step * cardinality(array_positions(outcomes, 'confirmed')),
    contradicted = r.contradicted + step * cardinality(array_positions(outcomes, 'contradicted')),
    rejected = r.rejected + step * cardinality(array_positions(outcomes, 'rejected')),
    errors = r.errors || count_outcomes.errors
  where r.tenant_id = count_outcomes.tenant_id and r.id = run_id;
$$;

comment on function memory.count_outcomes(text, uuid, text[], jsonb, integer) is
'Adds the outcomes of actions to the counts of their run; step -1: takes them out again.';

create or replace function memory.exceeded_bound(
  action text,
  item jsonb,
  made bigint,
  sources text[]
)
  returns text
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select case
    when action not in ('new_fact', 'updated_fact', 'new_rule', 'changed_rule') then null
    when made >= 100 then 'the batch gave 100 facts and rules already'
    when action in ('new_fact', 'updated_fact') then (
      select format('episode %s gave 20 facts already', e.id)
      from jsonb_array_elements_text(
        case jsonb_typeof(item -> 'evidence') when 'array' then item -> 'evidence' else '[]' end
      ) with ordinality as e (id, place)
      where cardinality(array_positions(sources, lower(e.id))) >= 20
      order by e.place
      limit 1
    )
  end;
$$;

comment on function memory.exceeded_bound(text, jsonb, bigint, text[]) is
'Why an element is one too many, NULL if it is not: a batch gives at most 100 facts and rules, of '
'which made have been made, and an episode at most 20 facts; sources has each as often as it gave '
'one.';

create or replace function memory.apply_consolidation(
  run_id uuid,
  output jsonb,
  prompt_version text default null,
  model text default null,
  answer text default null,
  prompt_tokens integer default null,
  answer_tokens integer default null,
  llm_seconds float8 default null,
  as_of timestamptz default now()
)
  returns setof memory.consolidation_runs
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_run memory.consolidation_runs := memory.lock_run(v_tenant_id, apply_consolidation.run_id);
  v_action record;
  v_outcome text;
  v_error jsonb;
  v_is_proposed boolean;
  v_bound text;
  v_made bigint := 0::bigint;
  v_sources text[] := array[]::text[];
  v_outcomes text[] := array[]::text[];
  v_errors jsonb := '[]'::jsonb;
begin
  perform
    case
      when jsonb_typeof(output) is distinct from 'object'
      then memory.refuse_object('output', output)
    end,
    memory.check_write_time('as_of', as_of);
  if v_run.status in ('proposed', 'done', 'undone') then
    -- A repeated call: the first one applied everything.
    return next v_run;
    return;
  elsif v_run.status <> 'running' then
    perform memory.refuse_lost_lease(v_run);
  end if;

  -- What the parser could not read was an element too; what it noted about others was none.
  select
    coalesce(
      jsonb_agg(jsonb_build_object('message', left(p.problem, 500)) order by l.place, p.place), '[]'
    ),
    coalesce(array_agg('rejected'::text) filter (where l.is_lost), '{}')
  into v_errors, v_outcomes
  from (
    values (1, output -> 'parse_errors', true), (2, output -> 'parse_notes', false)
  ) as l (place, problems, is_lost)
  cross join lateral jsonb_array_elements_text(
    case jsonb_typeof(l.problems) when 'array' then l.problems else '[]' end
  ) with ordinality as p (problem, place);

  perform memory.lock_plans(
    v_run,
    array(
      select p
      from memory.read_actions(output) with ordinality as a
      cross join lateral memory.plan_action(
        v_run, v_settings, a.action, a.item, null, as_of
      ) as p
      where not v_settings.consolidation_review and p.reason is null
      order by a.ordinality
    )
  );
  for v_action in
    select a.*, a.ordinality as number from memory.read_actions(output) with ordinality as a
  loop
    v_bound := memory.exceeded_bound(v_action.action, v_action.item, v_made, v_sources);
    if v_bound is not null then
      v_outcome := 'rejected';
      v_error := jsonb_build_object(
        'action', v_action.action, 'position', v_action.place, 'code', 'PM002', 'message', v_bound
      );
    else
      select t.outcome, t.error into v_outcome, v_error
      from memory.try_action(
        v_run, v_settings, v_action.action, v_action.place, v_action.number, v_action.item, null,
        as_of
      ) as t;
    end if;
    v_outcomes := v_outcomes || v_outcome;
    if v_error is not null then
      v_errors := v_errors || v_error;
    end if;
    if v_outcome not in ('rejected', 'confirmed') then
      if v_action.action in ('new_fact', 'updated_fact') then
        v_made := v_made + 1;
        v_sources := v_sources || array(
          select distinct lower(e.id)
          from jsonb_array_elements_text(v_action.item -> 'evidence') as e (id)
          order by 1
        );
      elsif v_action.action in ('new_rule', 'changed_rule') then
        v_made := v_made + 1;
      end if;
    end if;
  end loop;
  v_is_proposed := v_settings.consolidation_review and exists (
    select from memory.consolidation_proposals as p
    where p.tenant_id = v_tenant_id and p.run_id = v_run.id and p.status = 'proposed'
  );
  perform memory.count_outcomes(v_tenant_id, v_run.id, v_outcomes, v_errors);

  if v_outcomes <> '{}' and v_outcomes <@ '{rejected}' then
    perform memory.fail_consolidation(
      v_run.id, 'every action was rejected', prompt_version, model, true, answer, prompt_tokens,
      answer_tokens, llm_seconds, as_of
    );
  else
    perform memory.close_episodes(v_tenant_id, v_run.episode_ids, as_of);
    perform memory.end_run(
      v_run, v_settings, case when v_is_proposed then 'proposed' else 'done' end, prompt_version,
      model, true, answer, prompt_tokens, answer_tokens, llm_seconds, as_of
    );
  end if;
  return query
  select r.* from memory.consolidation_runs as r
  where r.tenant_id = v_tenant_id and r.id = v_run.id;
end;
$$;

comment on function memory.apply_consolidation(
  uuid, jsonb, text, text, text, integer, integer, float8, timestamptz
) is
'Applies the result of a batch, an object with the arrays new_facts, updated_facts, ended_facts, '
'new_rules, changed_rules, withdrawn_rules, confirmations, parse_errors (elements that could not '
'be read) and parse_notes (what was left out of others), each element in its own subtransaction, '
'and ends the run: its episodes are consolidated, unless every element was rejected (then as '
'fail_consolidation). Returns the run, with counts and the reasons for rejections. What may not '
'change what is known (setting consolidation_supersedes) is kept for memory.accept_proposals; '
'with the setting consolidation_review, all is. A batch gives at most 100 facts and rules, an '
'episode 20 facts. Keeps the beginning of the answer (memory.get_consolidation_answer), tokens '
'and seconds. Calling it again changes nothing. Errors: PM001 unknown run, PM002 not an object, '
'PM003 the lease was lost; errors such as lock timeouts roll back everything.';
grant execute on function memory.apply_consolidation to memory_worker;

create or replace function memory.list_consolidation_runs(
  butler text default null,
  max_results integer default 20,
  run_id uuid default null,
  before_at timestamptz default null,
  before_id uuid default null
)
  returns setof memory.consolidation_runs
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_run memory.consolidation_runs;
begin
  perform memory.check_number('max_results', max_results, 1, 10000);
  if (before_at is null) <> (before_id is null) then
    raise exception 'the next page begins before a run'
      using errcode = 'PM002', hint = 'Pass started_at and id of the last run seen.';
  end if;
  for v_run in
    select r.*
    from memory.consolidation_runs as r
    where r.tenant_id = v_tenant_id
      and (list_consolidation_runs.butler is null or r.butler = list_consolidation_runs.butler)
      and (list_consolidation_runs.run_id is null or r.id = list_consolidation_runs.run_id)
      and (
        before_at is null
        or r.started_at <= before_at and (r.started_at < before_at or r.id > before_id)
      )
    order by r.started_at desc, r.id
    limit max_results
  loop
    v_run.answer := null;
    return next v_run;
  end loop;
end;
$$;

comment on function memory.list_consolidation_runs(
  text, integer, uuid, timestamptz, uuid
) is
'The consolidation runs, newest first: of one butler or all, or a single run; without their '
'answers, which memory.get_consolidation_answer returns. To read the next page, pass started_at '
'and id of the last run as before_at and before_id. Errors: PM002.';
grant execute on function memory.list_consolidation_runs
to memory_worker, memory_reader, memory_admin;

commit;
