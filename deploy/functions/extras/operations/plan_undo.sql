-- Deploy pymem:functions/extras/operations/plan_undo to pg

begin;

set local role memory_owner;

create or replace function memory.reversed_image(
  memory_type text,
  before jsonb,
  today jsonb
)
  returns jsonb
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select case
    -- Only what is active begins to fade.
    when before ->> 'lifecycle_state' = 'fading'
      and today ->> 'lifecycle_state' not in ('active', 'fading')
    then jsonb_set(before #- '{metadata,status}', '{lifecycle_state}', '"active"')
    -- Whoever read the version that is undone must notice.
    when memory_type = 'entry' and before -> 'version' <> today -> 'version'
    then jsonb_set(before, '{version}', to_jsonb((today ->> 'version')::integer + 1))
    else before
  end;
$$;

comment on function memory.reversed_image(text, jsonb, jsonb) is
'What a memory becomes if a change is undone: its image before the change. What was fading '
'becomes active, to fade again by the next decay sweep, and an entry gets a new version.';

create or replace function memory.block_undo(
  plan memory.planned_undo,
  code text,
  obstacle text,
  hint text
)
  returns memory.planned_undo
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if plan.code is null then
    plan.code := code;
    plan.obstacle := obstacle;
    plan.hint := hint;
  end if;
  return plan;
end;
$$;

comment on function memory.block_undo(memory.planned_undo, text, text, text) is
'A plan with an obstacle, if it has none yet.';

create or replace function memory.plan_reversal(
  plan memory.planned_undo,
  event memory.memory_events,
  memory_type text,
  memory_id uuid,
  going uuid[]
)
  returns memory.planned_undo
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_images record := memory.images_around(
    event.tenant_id, memory_type, memory_id, event.created_at
  );
  v_target jsonb;
  v_later record;
  v_fact memory.facts;
  v_other uuid;
begin
  plan.memory_ids := plan.memory_ids || memory_id;
  if v_images.today is null then
    return memory.block_undo(
      plan, 'PM003', format('%s %s is gone', memory_type, memory_id),
      'What was deleted does not come back.'
    );
  elsif v_images.today - 'version' <> v_images.after - 'version' then
    select p.id, p.event_type into v_later
    from (
      select e
      from memory.memory_events as e
      where e.tenant_id = event.tenant_id and e.memory_id = plan_reversal.memory_id
        and e.event_type ~ ('^' || plan_reversal.memory_type || '_')
        and e.seq > event.seq
        and (e.created_at, e.request_id) is distinct from (event.created_at, event.request_id)
      order by e.created_at desc, e.seq desc
      limit 1
    ) as n
    cross join lateral memory.principal_event(n.e) as p;
    return memory.block_undo(
      plan, 'PM004',
      format('%s %s has changed since', memory_type, memory_id)
      || coalesce(format(': %s, event %s', v_later.event_type, v_later.id), ''),
      'Undo what came later first.'
    );
  elsif v_images.before is null then
    return plan;
  end if;

  v_target := memory.reversed_image(memory_type, v_images.before, v_images.today);
  if exists (
    select
    from (values ('lifecycle_state'), ('maturity')) as a (aspect)
    where v_target ->> a.aspect <> v_images.today ->> a.aspect
      and not exists (
        select from memory.transitions as t
        where t.memory_type = plan_reversal.memory_type and t.aspect = a.aspect
          and t.from_state = v_images.today ->> a.aspect and t.to_state = v_target ->> a.aspect
      )
  ) then
    return memory.block_undo(
      plan, 'PM003',
      format(
        '%s %s cannot go from %s back to %s', memory_type, memory_id,
        v_images.today ->> 'lifecycle_state', v_target ->> 'lifecycle_state'
      ),
      'Store it again if it is right after all.'
    );
  end if;

  if memory_type = 'fact' and v_target ->> 'validity' = 'active' then
    select f.* into v_fact
    from memory.facts as f
    where f.tenant_id = event.tenant_id and f.id = plan_reversal.memory_id;
    v_fact := jsonb_populate_record(v_fact, v_target);
    if memory.is_fact_key_taken(v_fact, going) then
      select f.id into v_other
      from memory.facts as f
      where f.tenant_id = event.tenant_id and f.scope = v_fact.scope
        and f.predicate_key = v_fact.predicate_key
        and f.planned_for is not distinct from v_fact.planned_for and f.validity = 'active'
        and f.id <> v_fact.id and f.id <> all (going)
        and case
          when v_fact.entity_id is null
          then f.entity_id is null and f.subject_key = v_fact.subject_key
          else f.entity_id = v_fact.entity_id
        end
      limit 1;
      return memory.block_undo(
        plan, 'PM004', format('fact %s is active under the key of fact %s', v_other, memory_id),
        'Undo or forget that one first.'
      );
    end if;
  elsif memory_type = 'entity' then
    select e.id into v_other
    from memory.entities as e
    where e.tenant_id = event.tenant_id and e.id <> plan_reversal.memory_id
      and e.canonical_name = v_target ->> 'canonical_name'
      and e.entity_type = v_target ->> 'entity_type';
    if found then
      return memory.block_undo(
        plan, 'PM004',
        format('entity %s has the name that entity %s had', v_other, memory_id),
        'Merge the two, or give the other one another name first.'
      );
    end if;
  elsif memory_type = 'entry' and v_target - 'deleted_at' - 'lifecycle_state'
    <> v_images.today - 'deleted_at' - 'lifecycle_state'
    and exists (
      select from memory.entries as e
      where e.tenant_id = event.tenant_id and e.id = plan_reversal.memory_id
        and e.policy = 'billy'
    )
  then
    return memory.block_undo(
      plan, 'PM008', format('entry %s is guarded', memory_id),
      'Write it again with memory.write_memory.'
    );
  end if;
  return plan;
end;
$$;

comment on function memory.plan_reversal(
  memory.planned_undo, memory.memory_events, text, uuid, uuid[]
) is
'Adds to a plan that a memory or entity becomes what it was before a write, and what stands in the '
'way: a later change, or what is active under its key, apart from facts that are going to be '
'forgotten.';

create or replace function memory.plan_creation_undo(
  plan memory.planned_undo,
  event memory.memory_events,
  going uuid[],
  as_of timestamptz
)
  returns memory.planned_undo
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_dependent record;
  v_predecessors uuid[] := array(
    select (w.payload ->> 'target_id')::uuid
    from memory.events_of_write(event) as w
    where w.event_type = 'link_created'
      and w.memory_type = event.memory_type and w.memory_id = event.memory_id
      and w.payload ->> 'relation' = 'supersedes'
    order by 1
  );
  v_ended uuid[] := array(
    select l.ended_id
    from memory.endings_by_late_facts(event) as l
    where l.late_id = event.memory_id
    order by 1
  );
  v_predecessor uuid;
  v_merge record;
begin
  plan.inverse := 'forget';
  plan.says := 'forget the ' || event.memory_type;
  select m.undone_at into v_merge
  from memory.entry_merges as m
  where m.tenant_id = event.tenant_id and m.merged_id = event.memory_id;
  if found then
    plan.inverse := 'split';
    plan.says := 'split the entry into those that it was made of';
    plan.roles := '{memory_writer,memory_worker}';
    if v_merge.undone_at is not null then
      plan := memory.block_undo(
        plan, 'PM003', 'the merge was undone already', 'There is nothing left to undo.'
      );
    end if;
    return plan;
  end if;

  plan := memory.plan_reversal(plan, event, event.memory_type, event.memory_id, going);
  select d.memory_type, d.memory_id into v_dependent
  from (
    select l.source_type as memory_type, l.source_id as memory_id, l.created_at
    from memory.memory_links as l
    where l.tenant_id = event.tenant_id
      and l.target_type = event.memory_type and l.target_id = event.memory_id
      and l.relation = 'derived_from'
  ) as d
  cross join lateral memory.live_memory(
    event.tenant_id, d.memory_type, d.memory_id, null, as_of
  )
  where d.memory_id <> all (going)
  order by d.created_at, d.memory_type, d.memory_id
  limit 1;
  if found then
    plan := memory.block_undo(
      plan, 'PM004',
      format(
        '%s %s was derived from %s %s', v_dependent.memory_type, v_dependent.memory_id,
        event.memory_type, event.memory_id
      ),
      'Undo or forget that first.'
    );
  end if;
  if event.memory_type = 'episode' and exists (
    select from memory.consolidation_runs as r
    where r.tenant_id = event.tenant_id and r.status = 'running'
      and event.memory_id = any (r.episode_ids)
  ) then
    plan := memory.block_undo(
      plan, 'PM004', format('episode %s is being consolidated', event.memory_id),
      'Wait until the run has ended.'
    );
  end if;

  if v_predecessors <> '{}' then
    plan.says := plan.says || ' and restore what it superseded';
  end if;
  if v_ended <> '{}' then
    plan.says := plan.says || ' and let what it ended last as long as before';
  end if;
  if v_predecessors || v_ended <> '{}' then
    plan.details := jsonb_build_object(
      'predecessors', v_predecessors || v_ended, 'ended', v_ended
    );
    foreach v_predecessor in array v_predecessors || v_ended loop
      plan := memory.plan_reversal(
        plan, event, event.memory_type, v_predecessor, going || event.memory_id
      );
    end loop;
  end if;
  return plan;
end;
$$;

comment on function memory.plan_creation_undo(
  memory.planned_undo, memory.memory_events, uuid[], timestamptz
) is
'How the creation of a memory is undone: it is forgotten, and what it superseded is restored, or '
'lasts as long as before it came late, unless something newer was derived from it. An entry that '
'was made of others is split.';

create or replace function memory.plan_change_undo(
  plan memory.planned_undo,
  event memory.memory_events,
  going uuid[]
)
  returns memory.planned_undo
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_memory record := memory.changed_memory(event);
  v_types text[];
  v_links jsonb;
  v_applications jsonb;
  v_before jsonb;
  v_after jsonb;
begin
  select
    coalesce(
      array_agg(distinct w.event_type) filter (
        where w.memory_id = v_memory.memory_id and w.event_type ~ ('^' || w.memory_type || '_')
      ),
      '{}'
    ),
    coalesce(
      jsonb_agg(w.payload order by w.seq) filter (
        where w.event_type = 'link_created'
          and (
            w.id = event.id
            or v_memory.memory_id::text in (w.payload ->> 'source_id', w.payload ->> 'target_id')
          )
      ),
      '[]'
    ),
    coalesce(
      jsonb_agg(w.payload -> 'rule_application_id' order by w.seq) filter (
        where w.memory_id = v_memory.memory_id and w.payload ? 'rule_application_id'
      ),
      '[]'
    )
  into v_types, v_links, v_applications
  from memory.events_of_write(event) as w;

  plan.inverse := 'reverse';
  plan.says := case
    when v_applications <> '[]' then 'take the mark of the rule back'
    when v_links <> '[]' then 'remove the link'
    when v_types && array['fact_retracted', 'rule_retracted', 'entry_deleted', 'episode_expired']
      then format('restore the %s', v_memory.memory_type)
    when v_types && array['fact_restored', 'rule_restored', 'entry_restored']
      then format('take the restoration of the %s back', v_memory.memory_type)
    when v_types && array['fact_confirmed', 'rule_confirmed', 'entry_confirmed']
      then format('take the confirmation of the %s back', v_memory.memory_type)
    else format('let the %s be as it was before', v_memory.memory_type)
  end;
  plan.memory_type := v_memory.memory_type;
  plan.memory_id := v_memory.memory_id;
  plan.details := jsonb_build_object('links', v_links, 'rule_application_ids', v_applications);

  if v_types && array['rule_inverted'] then
    plan.roles := '{memory_admin}';
  end if;
  if v_types && array['episode_consolidated', 'episode_failed', 'episode_dead_lettered',
    'episode_requeued']
  then
    return memory.block_undo(
      plan, 'PM003', 'consolidation decides on the state of an episode',
      'Undo its run, or have it consolidated again with memory.requeue_episodes.'
    );
  elsif v_types <> '{}' and v_types <@ array['fact_fading', 'fact_recovered', 'fact_expired',
    'rule_fading', 'rule_recovered', 'entry_aged', 'entry_expired']
  then
    return memory.block_undo(
      plan, 'PM003', format('time did that to the %s', v_memory.memory_type),
      'Confirm it, or restore it with memory.restore_memory.'
    );
  elsif not v_types && array['fact_restored'] and exists (
    select
    from (
      select v_memory.memory_id as id
      union all
      select (n.link ->> 'source_id')::uuid
      from jsonb_array_elements(v_links) as n (link)
      where n.link ->> 'relation' = 'supersedes'
    ) as b
    cross join lateral memory.images_around(event.tenant_id, 'fact', b.id, event.created_at) as i
    where i.before ->> 'planned_for' is not null and i.after ->> 'planned_for' is null
  ) then
    return memory.block_undo(
      plan, 'PM003', 'time did that: what was planned has begun',
      'Forget what was planned, and restore what held with memory.restore_memory.'
    );
  end if;
  if exists (
    select
    from jsonb_to_recordset(v_links) as n (
      source_type text, source_id uuid, target_type text, target_id uuid, relation text
    )
    where not exists (
      select from memory.memory_links as l
      where l.tenant_id = event.tenant_id
        and l.source_type = n.source_type and l.source_id = n.source_id
        and l.target_type = n.target_type and l.target_id = n.target_id
        and l.relation = n.relation
    )
  ) then
    return memory.block_undo(
      plan, 'PM004', 'the link was removed or changed since', 'There is nothing left to undo.'
    );
  end if;
  if v_memory.memory_id is not null then
    select i.before, i.after into v_before, v_after
    from memory.images_around(
      event.tenant_id, v_memory.memory_type, v_memory.memory_id, event.created_at
    ) as i;
  end if;
  if v_before is null and v_links = '[]' then
    return memory.block_undo(
      plan, 'PM003', format('event %s changed nothing', event.id), 'There is nothing to undo.'
    );
  elsif 'anti_pattern' in (v_before ->> 'maturity', v_after ->> 'maturity') then
    plan.roles := '{memory_admin}';
  end if;
  return case
    when v_before is null then plan
    else memory.plan_reversal(plan, event, v_memory.memory_type, v_memory.memory_id, going)
  end;
end;
$$;

comment on function memory.plan_change_undo(memory.planned_undo, memory.memory_events, uuid[]) is
'How a change of a memory or entity is undone: it becomes what it was before, and links and marks '
'of a rule that came with the change go.';

create or replace function memory.plan_merge_undo(
  plan memory.planned_undo,
  event memory.memory_events
)
  returns memory.planned_undo
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_source memory.entities;
  v_target memory.entities;
  v_is_merge boolean := event.event_type = 'entity_merge';
begin
  plan.inverse := case when v_is_merge then 'unmerge' else 'merge' end;
  plan.says := case when v_is_merge then 'separate the entities' else 'merge the entities again' end;
  plan.details := jsonb_build_object('target_entity_id', event.payload -> 'target_entity_id');
  select e.* into v_source
  from memory.entities as e
  where e.tenant_id = event.tenant_id and e.id = event.memory_id;
  select e.* into v_target
  from memory.entities as e
  where e.tenant_id = event.tenant_id and e.id = (event.payload ->> 'target_entity_id')::uuid;
  if v_source.id is null or v_target.id is null then
    return memory.block_undo(
      plan, 'PM003', 'one of the entities is gone', 'What was deleted does not come back.'
    );
  elsif v_target.lifecycle_state = 'merged' then
    return memory.block_undo(
      plan, 'PM004',
      format('entity %s was merged into %s in turn', v_target.id, v_target.metadata ->> 'merged_into'),
      'Undo that first.'
    );
  elsif (v_source.lifecycle_state = 'merged') <> v_is_merge
    or v_is_merge and v_source.metadata ->> 'merged_into' <> v_target.id::text
  then
    return memory.block_undo(
      plan, 'PM004',
      format(
        'entity %s was %s since', v_source.id, case when v_is_merge then 'unmerged' else 'merged' end
      ),
      'There is nothing left to undo.'
    );
  end if;
  return plan;
end;
$$;

comment on function memory.plan_merge_undo(memory.planned_undo, memory.memory_events) is
'How a merge of entities is undone, or the undoing of one.';

create or replace function memory.plan_amendment_undo(
  plan memory.planned_undo,
  event memory.memory_events
)
  returns memory.planned_undo
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_proposal memory.consolidation_proposals;
  v_later uuid;
begin
  plan.inverse := 'unamend';
  plan.says := 'let the proposal say what the LLM wrote';
  plan.details := jsonb_build_object(
    'run_id', event.payload -> 'run_id', 'position', event.payload -> 'position'
  );
  select p.* into v_proposal
  from memory.consolidation_proposals as p
  where p.tenant_id = event.tenant_id and p.run_id = (event.payload ->> 'run_id')::uuid
    and p.position = (event.payload ->> 'position')::bigint;
  if not found then
    return memory.block_undo(
      plan, 'PM003', 'the proposal is gone', 'What was deleted does not come back.'
    );
  elsif v_proposal.status <> 'proposed' then
    return memory.block_undo(
      plan, 'PM004', format('the proposal was %s since', v_proposal.status), 'Undo that first.'
    );
  end if;
  select e.id into v_later
  from memory.memory_events as e
  where e.tenant_id = event.tenant_id and e.event_type = 'proposal_updated'
    and e.created_at >= event.created_at and e.seq > event.seq
    and e.payload @> plan.details
  order by e.created_at desc, e.seq desc
  limit 1;
  if found then
    return memory.block_undo(
      plan, 'PM004', format('the proposal has changed since: event %s', v_later),
      'Undo that first.'
    );
  elsif v_proposal.original_item is null then
    return memory.block_undo(
      plan, 'PM003', 'nobody amended the proposal: it only got more evidence', 'Decide on it.'
    );
  end if;
  return plan;
end;
$$;

comment on function memory.plan_amendment_undo(memory.planned_undo, memory.memory_events) is
'How an amendment of a proposal is undone.';

create or replace function memory.plan_settings_undo(
  plan memory.planned_undo,
  event memory.memory_events
)
  returns memory.planned_undo
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_defaults jsonb := to_jsonb(memory.default_settings(event.tenant_id)) - 'tenant_id';
  v_today jsonb := to_jsonb(memory.current_settings());
  v_old jsonb;
  v_names text;
begin
  plan.inverse := 'configure';
  plan.roles := '{memory_admin}';
  -- The event of the first change has all values.
  select jsonb_object_agg(n.key, coalesce(event.payload -> 'old' -> n.key, 'null')) into v_old
  from jsonb_each(event.payload -> 'new') as n
  where v_defaults ? n.key
    and n.value <> coalesce(event.payload -> 'old' -> n.key, v_defaults -> n.key);
  if v_old is null then
    return memory.block_undo(
      plan, 'PM003', 'that changed no setting', 'There is nothing to undo.'
    );
  end if;
  select string_agg(o.key, ', ' order by o.key) into v_names from jsonb_object_keys(v_old) as o (key);
  plan.says := format('set %s back', v_names);
  plan.details := jsonb_build_object('settings', v_old);

  select string_agg(o.key, ', ' order by o.key) into v_names
  from jsonb_each(v_old) as o
  where o.value #>> '{}' ~ '^[0-9]+ octets$'
    or event.payload #>> array['new', o.key] ~ '^[0-9]+ octets$';
  if v_names is not null then
    return memory.block_undo(
      plan, 'PM003', format('the audit does not have the text of %s', v_names),
      'Set it with memory.configure.'
    );
  end if;
  select string_agg(o.key, ', ' order by o.key) into v_names
  from jsonb_object_keys(v_old) as o (key)
  where v_today -> o.key <> event.payload -> 'new' -> o.key;
  if v_names is not null then
    return memory.block_undo(
      plan, 'PM004', format('%s was set anew since', v_names), 'Undo that first.'
    );
  end if;
  return plan;
end;
$$;

comment on function memory.plan_settings_undo(memory.planned_undo, memory.memory_events) is
'How a change of settings is undone, unless one of them was changed again, or its text is not in '
'the audit.';

create or replace function memory.plan_pattern_undo(
  plan memory.planned_undo,
  event memory.memory_events
)
  returns memory.planned_undo
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_is_added boolean := event.event_type = 'sensitive_pattern_created';
  v_pattern jsonb := event.payload -> case when v_is_added then 'new' else 'old' end;
  v_today jsonb;
begin
  plan.inverse := case when v_is_added then 'remove pattern' else 'add pattern' end;
  plan.says := format(
    '%s the pattern %s', case when v_is_added then 'remove' else 'add' end, v_pattern ->> 'name'
  );
  plan.roles := '{memory_admin}';
  plan.details := jsonb_build_object('pattern', v_pattern);
  select to_jsonb(t) into v_today
  from memory.tenant_patterns as t
  where t.tenant_id = event.tenant_id
    and t.data_class = v_pattern ->> 'data_class' and t.name = v_pattern ->> 'name';
  if v_is_added and v_today is null then
    return memory.block_undo(
      plan, 'PM004', 'the pattern was removed since', 'There is nothing left to undo.'
    );
  elsif v_today is not null and (not v_is_added or not v_today @> v_pattern) then
    return memory.block_undo(
      plan, 'PM004', 'the pattern was set anew since', 'Remove or change it yourself.'
    );
  end if;
  return plan;
end;
$$;

comment on function memory.plan_pattern_undo(memory.planned_undo, memory.memory_events) is
'How it is undone that a pattern of sensitive data was added or removed.';

create or replace function memory.plan_simple_undo(
  plan memory.planned_undo,
  event memory.memory_events
)
  returns memory.planned_undo
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_pair record;
  v_run record;
  v_state record;
begin
  case
    when event.event_type in ('contradiction_dismissed', 'contradiction_reopened') then
      plan.inverse := case event.event_type
        when 'contradiction_dismissed' then 'reopen' else 'dismiss'
      end;
      plan.says := plan.inverse || ' the contradiction';
      plan.details := event.payload;
      select
        p.*,
        memory.is_dismissed(
          event.tenant_id, p.first_type, p.first_id, p.second_type, p.second_id
        ) as is_dismissed,
        memory.created_at_of(event.tenant_id, p.first_type, p.first_id) is null
        or memory.created_at_of(event.tenant_id, p.second_type, p.second_id) is null as is_gone
      into v_pair
      from jsonb_to_record(event.payload)
        as p (first_type text, first_id uuid, second_type text, second_id uuid);
      if v_pair.is_gone then
        return memory.block_undo(
          plan, 'PM003', 'one of the memories is gone', 'What was deleted does not come back.'
        );
      elsif v_pair.is_dismissed <> (event.event_type = 'contradiction_dismissed') then
        return memory.block_undo(
          plan, 'PM004', 'that was taken back since', 'There is nothing left to undo.'
        );
      end if;

    when event.event_type = 'item_stored' then
      plan.inverse := 'delete item';
      plan.says := 'delete the item';
      plan.memory_ids := array[event.memory_id];
      select i.created_at, i.updated_at into v_state
      from memory.store_items as i
      where i.tenant_id = event.tenant_id and i.id = event.memory_id;
      if not found then
        return memory.block_undo(
          plan, 'PM003', format('item %s is gone', event.memory_id),
          'What was deleted does not come back.'
        );
      elsif v_state.updated_at > v_state.created_at then
        return memory.block_undo(
          plan, 'PM004', format('item %s has changed since', event.memory_id), 'Delete it yourself.'
        );
      end if;

    when event.event_type = 'episode_consolidated' then
      plan.inverse := 'undo run';
      plan.says := 'undo the run of consolidation';
      plan.roles := '{memory_worker,memory_admin}';
      -- An episode may have been consolidated several times.
      select r.id, r.status into v_run
      from memory.consolidation_runs as r
      where r.tenant_id = event.tenant_id and event.memory_id = any (r.episode_ids)
        and r.status in ('proposed', 'done', 'undone')
      order by r.started_at, r.id
      offset (
        select count(*)
        from memory.memory_events as e
        where e.tenant_id = event.tenant_id and e.memory_id = event.memory_id
          and e.event_type = 'episode_consolidated' and e.seq < event.seq
      )
      limit 1;
      if not found then
        return memory.block_undo(
          plan, 'PM003', format('no run consolidated episode %s', event.memory_id),
          'Look for its run with memory.list_consolidation_runs.'
        );
      end if;
      plan.details := jsonb_build_object('run_id', v_run.id);
      plan.says := format('undo run %s of consolidation', v_run.id);
      if v_run.status <> 'done' then
        return memory.block_undo(
          plan, 'PM003', format('run %s is %s', v_run.id, v_run.status),
          case v_run.status
            when 'undone' then 'There is nothing left to undo.' else 'Reject what it proposed.'
          end
        );
      end if;

    when event.event_type in ('import_started', 'import_finished', 'import_repeated') then
      plan.inverse := 'undo import';
      plan.roles := '{memory_writer,memory_admin}';
      select b.id, b.name, b.status into v_state
      from memory.import_batches as b
      where b.tenant_id = event.tenant_id and b.id = (event.payload ->> 'batch_id')::uuid;
      plan.details := jsonb_build_object('batch_id', event.payload -> 'batch_id');
      plan.says := format('undo the import %s', v_state.name);
      if v_state.status is distinct from 'done' then
        return memory.block_undo(
          plan, 'PM003', format('the import is %s', coalesce(v_state.status, 'gone')),
          'There is nothing left to undo.'
        );
      end if;

    when event.event_type = 'access_token_created' then
      plan.inverse := 'revoke token';
      plan.says := 'revoke the access token';
      plan.roles := '{memory_admin}';
      if not exists (
        select from memory.access_tokens as t
        where t.tenant_id = event.tenant_id and t.id = event.memory_id and t.revoked_at is null
      ) then
        return memory.block_undo(
          plan, 'PM004', 'the token was revoked since', 'There is nothing left to undo.'
        );
      end if;

    when event.event_type = 'approval_granted' then
      plan.inverse := 'revoke approval';
      plan.says := 'revoke the approval';
      plan.roles := '{memory_admin}';
      select a.used_at, a.revoked_at into v_state
      from memory.approvals as a
      where a.tenant_id = event.tenant_id and a.id = event.memory_id;
      if v_state.used_at is not null or v_state.revoked_at is not null then
        return memory.block_undo(
          plan, 'PM004',
          format(
            'the approval was %s since', case when v_state.used_at is null then 'revoked' else 'used' end
          ),
          'There is nothing left to undo.'
        );
      end if;

    when event.event_type = 'embedding_version_created'
      and event.payload -> 'new' ->> 'status' = 'building'
    then
      plan.inverse := 'cancel reembedding';
      plan.says := 'stop the change of the embedding model';
      plan.roles := '{memory_admin}';
      if not exists (
        select from memory.embedding_versions as v
        where v.tenant_id = event.tenant_id and v.status = 'building'
          and v.id::text = event.payload -> 'new' ->> 'id'
      ) then
        return memory.block_undo(
          plan, 'PM004', 'the change of the model has ended', 'Change to the old model again.'
        );
      end if;

    else
      return memory.block_undo(
        plan, 'PM003', format('%s has no inverse', event.event_type),
        case
          when event.event_type = 'entity_created' then 'Merge the entity into the right one.'
          when event.event_type = 'entries_consolidated'
            then 'Undo the creation of each entry that was made of others.'
          when event.event_type ~ '_(deleted|purged)$' or event.event_type = 'erased'
            then 'What was deleted does not come back.'
          else 'Do the opposite yourself, if there is one.'
        end
      );
  end case;
  return plan;
end;
$$;

comment on function memory.plan_simple_undo(memory.planned_undo, memory.memory_events) is
'How a write is undone that another function takes back: dismissals, items, runs of consolidation, '
'imports, access tokens, approvals and changes of the embedding model.';

create or replace function memory.plan_undo(
  event memory.memory_events,
  in_review boolean default true,
  going uuid[] default '{}',
  as_of timestamptz default now()
)
  returns memory.planned_undo
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_event memory.memory_events := memory.principal_event(event, in_review);
  v_plan memory.planned_undo;
begin
  v_plan.event_id := v_event.id;
  v_plan.event_type := v_event.event_type;
  v_plan.memory_type := v_event.memory_type;
  v_plan.memory_id := v_event.memory_id;
  v_plan.roles := '{memory_writer}';
  v_plan.memory_ids := '{}';
  v_plan.details := '{}';
  select u.id, u.created_at into v_plan.undo_event_id, v_plan.undone_at
  from memory.memory_events as u
  where u.tenant_id = v_event.tenant_id and u.event_type = 'event_undone'
    and u.created_at >= v_event.created_at
    and u.memory_id is not distinct from v_event.memory_id
    and u.payload ->> 'event_id' = v_event.id::text
  order by u.created_at, u.seq
  limit 1;
  if exists (
    select from memory.events_of_write(event) as w
    where w.event_type = 'event_undone' and w.seq <= event.seq
      or w.event_type in ('import_undone', 'entry_merge_undone')
  ) then
    return memory.block_undo(
      v_plan, 'PM003', format('event %s is part of an undo', event.id),
      'Do again what was undone.'
    );
  end if;

  if v_event.event_type in ('proposal_accepted', 'proposal_rejected') then
    return memory.plan_review_undo(v_plan, v_event, as_of);
  elsif v_event.event_type = 'proposal_updated' then
    return memory.plan_amendment_undo(v_plan, v_event);
  elsif v_event.event_type in ('entity_merge', 'entity_unmerge') then
    return memory.plan_merge_undo(v_plan, v_event);
  elsif v_event.event_type in ('settings_created', 'settings_updated') then
    return memory.plan_settings_undo(v_plan, v_event);
  elsif v_event.event_type in ('sensitive_pattern_created', 'sensitive_pattern_deleted') then
    return memory.plan_pattern_undo(v_plan, v_event);
  elsif v_event.memory_type = any (memory.memory_type_names())
    and v_event.event_type = v_event.memory_type || '_created'
  then
    return memory.plan_creation_undo(v_plan, v_event, going, as_of);
  elsif v_event.event_type = 'link_created'
    or v_event.event_type <> 'episode_consolidated'
    and v_event.event_type !~ '_(created|purged)$'
    and v_event.memory_type = any (memory.memory_type_names() || 'entity'::text)
    and v_event.event_type !~ '^(contradiction|proposal|link)_'
  then
    return memory.plan_change_undo(v_plan, v_event, going);
  end if;
  return memory.plan_simple_undo(v_plan, v_event);
end;
$$;

comment on function memory.plan_undo(memory.memory_events, boolean, uuid[], timestamptz) is
'How the write that an event comes from would be undone, and what stands in the way. going: facts '
'that are forgotten as well.';

create or replace function memory.plan_review_undo(
  plan memory.planned_undo,
  event memory.memory_events,
  as_of timestamptz
)
  returns memory.planned_undo
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_settings memory.settings := memory.current_settings();
  v_run_id uuid := (event.payload ->> 'run_id')::uuid;
  v_status text;
  v_positions bigint[];
  v_is_gone boolean;
  v_other record;
  v_going uuid[];
  v_effects memory.memory_events[];
  v_event memory.memory_events;
  v_effect memory.planned_undo;
begin
  plan.inverse := 'reopen proposals';
  plan.roles := case v_settings.consolidation_reviewers
    when 'writers' then '{memory_writer,memory_admin}'::text[] else '{memory_admin}'
  end;
  select
    array_agg((w.payload ->> 'position')::bigint order by w.seq),
    bool_or('proposal_' || p.status is distinct from w.event_type)
  into v_positions, v_is_gone
  from memory.events_of_write(event) as w
  left join memory.consolidation_proposals as p
    on p.tenant_id = w.tenant_id and p.run_id = v_run_id
      and p.position = (w.payload ->> 'position')::bigint
  where w.event_type in ('proposal_accepted', 'proposal_rejected')
    and w.payload ->> 'run_id' = v_run_id::text;
  plan.says := case
    when cardinality(v_positions) = 1 then 'let the proposal wait again'
    else format('let %s proposals wait again', cardinality(v_positions))
  end;
  select r.status into v_status
  from memory.consolidation_runs as r
  where r.tenant_id = event.tenant_id and r.id = v_run_id;
  if v_is_gone then
    return memory.block_undo(
      plan, 'PM004', 'a proposal was deleted or decided anew since',
      'Look at them with memory.preview_proposals.'
    );
  elsif v_status is distinct from 'done' and v_status is distinct from 'proposed' then
    return memory.block_undo(
      plan, 'PM004', format('run %s is %s', v_run_id, coalesce(v_status, 'gone')),
      'There is nothing left to undo.'
    );
  end if;
  select o.run_id, o.position into v_other
  from memory.consolidation_proposals as p
  join memory.consolidation_proposals as o
    on o.tenant_id = p.tenant_id and o.key = p.key and o.status = 'proposed'
  where p.tenant_id = event.tenant_id and p.run_id = v_run_id and p.position = any (v_positions)
  order by o.run_id, o.position
  limit 1;
  if found then
    return memory.block_undo(
      plan, 'PM004',
      format('proposal %s of run %s says the same', v_other.position, v_other.run_id),
      'Decide on that one.'
    );
  end if;

  v_going := array(
    select w.memory_id from memory.events_of_write(event) as w
    where w.event_type = 'fact_created'
    order by w.seq
  );
  v_effects := array(
    select e.effect
    from (
      select distinct on ((f.effect).seq) f.effect
      from memory.events_of_write(event) as w
      cross join lateral (select memory.principal_event(w, false) as effect) as f
      where w.event_type !~ '^proposal_' and w.memory_id is not null
      order by (f.effect).seq desc
    ) as e
    order by (e.effect).seq desc
  );
  foreach v_event in array v_effects loop
    v_effect := memory.plan_undo(v_event, false, v_going, as_of);
    plan.memory_ids := plan.memory_ids || v_effect.memory_ids;
    if v_effect.code is not null then
      plan := memory.block_undo(plan, v_effect.code, v_effect.obstacle, v_effect.hint);
    end if;
  end loop;
  plan.details := jsonb_build_object(
    'run_id', v_run_id, 'positions', v_positions,
    'effects', array(
      select e.id from unnest(v_effects) with ordinality as e order by e.ordinality
    )
  );
  return plan;
end;
$$;

comment on function memory.plan_review_undo(
  memory.planned_undo, memory.memory_events, timestamptz
) is
'How the review of proposals is undone: what accepting them did is undone, the last first, and '
'they wait again.';

create or replace function memory.undo_preview_event(
  event_id uuid,
  as_of timestamptz default now()
)
  returns table (
    undone_event_id uuid,
    is_undoable boolean,
    inverse text,
    role text,
    obstacle text,
    hint text,
    undone_at timestamptz
  )
  language plpgsql
  stable
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_plan memory.planned_undo := memory.plan_undo(
    memory.find_event(memory.current_tenant(), undo_preview_event.event_id),
    as_of => undo_preview_event.as_of
  );
begin
  perform memory.check_time('as_of', as_of);
  return query
  select
    v_plan.event_id, v_plan.code is null and v_plan.undone_at is null, v_plan.says,
    (
      select regexp_replace(r.role, '^.*memory_', '')
      from unnest(v_plan.roles) with ordinality as r (role, place)
      order by not pg_has_role(memory.acting_role(), r.role, 'usage'), r.place
      limit 1
    ),
    case when v_plan.undone_at is null then v_plan.obstacle end,
    case when v_plan.undone_at is null then v_plan.hint end,
    v_plan.undone_at;
end;
$$;

comment on function memory.undo_preview_event(uuid, timestamptz) is
'What memory.undo_event of an event would do, changing nothing: the event that stands for the '
'write (undone_event_id), whether it can be undone, how (inverse, in words; NULL: it has no '
'inverse), the role that it takes (writer, worker or admin; the one that the caller has, if it may '
'be one of several), what stands in the way (obstacle) and what to do about it (hint), both NULL '
'if nothing does, and when it was undone (undone_at; NULL: not yet). Errors: PM001 no such event, '
'PM002.';
grant execute on function memory.undo_preview_event
to memory_writer, memory_reader, memory_worker, memory_admin;

commit;
