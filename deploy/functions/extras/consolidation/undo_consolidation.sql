-- Deploy pymem:functions/extras/consolidation/undo_consolidation to pg

begin;

set local role memory_owner;

create or replace function memory.is_fact_key_taken(
  fact memory.facts,
  except_ids uuid[] default '{}'
)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select case
    when (fact).entity_id is null then exists (
      select from memory.facts as f
      where f.tenant_id = (fact).tenant_id and f.scope = (fact).scope
        and f.subject_key = (fact).subject_key and f.predicate_key = (fact).predicate_key
        and f.planned_for is not distinct from (fact).planned_for
        and f.entity_id is null and f.validity = 'active' and f.id <> (fact).id
        and f.id <> all (except_ids)
    )
    else exists (
      select from memory.facts as f
      where f.tenant_id = (fact).tenant_id and f.entity_id = (fact).entity_id
        and f.scope = (fact).scope and f.predicate_key = (fact).predicate_key
        and f.planned_for is not distinct from (fact).planned_for
        and f.validity = 'active' and f.id <> (fact).id and f.id <> all (except_ids)
    )
  end;
$$;

comment on function memory.is_fact_key_taken(memory.facts, uuid[]) is
'Whether another fact, apart from some, is active under the key of a fact.';

create or replace function memory.is_used_since(
  lifecycle_state text,
  last_confirmed_at timestamptz,
  created_at timestamptz,
  applied_count integer
)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when lifecycle_state not in ('active', 'fading') then lifecycle_state || ' since'
    when applied_count > 0 then 'applied since'
    when last_confirmed_at > created_at then 'confirmed since'
  end;

comment on function memory.is_used_since(text, timestamptz, timestamptz, integer) is
'What has happened to a fact or rule since it was stored, so that undoing its run keeps it; NULL: '
'nothing. Of a fact, last_confirmed_at is NULL if that is when it began: nobody confirmed it.';

create or replace function memory.end_of_fact_since(
  fact memory.facts,
  except_ids uuid[] default '{}'
)
  returns text
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select case
    when (fact).validity = 'retracted' then 'retracted since'
    when (fact).validity = 'active' and (fact).valid_to is null then 'restored since'
    when (fact).validity <> 'active' and memory.is_fact_key_taken(fact, except_ids)
    then 'stored anew since'
  end;
$$;

comment on function memory.end_of_fact_since(memory.facts, uuid[]) is
'What has happened to a fact since a run ended it, so that undoing the run does not let it hold '
'again; NULL: nothing.';

create or replace function memory.undo_end_of_fact(
  tenant_id text,
  fact_id uuid,
  as_of timestamptz
)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_fact memory.facts;
  v_outcome text;
begin
  select f.* into v_fact
  from memory.facts as f
  where f.tenant_id = undo_end_of_fact.tenant_id and f.id = fact_id;
  v_outcome := coalesce(memory.end_of_fact_since(v_fact), 'restored');
  if v_outcome = 'restored' and v_fact.validity <> 'active' then
    perform memory.restore_memory('fact', fact_id, as_of);
  end if;
  update memory.facts as f
  set
    valid_to = case
      when v_outcome = 'restored' then (f.metadata ->> 'ended_before')::timestamptz else f.valid_to
    end,
    metadata = f.metadata - '{ended_by_run,ended_before}'::text [],
    updated_at = memory.next_state_at(f.updated_at, as_of)
  where f.tenant_id = undo_end_of_fact.tenant_id and f.id = fact_id;
  return v_outcome;
end;
$$;

comment on function memory.undo_end_of_fact(text, uuid, timestamptz) is
'Lets a fact that a run has ended hold again, unless it was retracted, restored or stored anew '
'since. Returns which.';

create or replace function memory.lock_changes_of_run(run memory.consolidation_runs)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_made jsonb := jsonb_build_object('consolidation_run', run.id);
  v_ended jsonb := jsonb_build_object('ended_by_run', run.id);
  v_fact_ids uuid[] := array(
    select f.id
    from memory.facts as f
    where f.tenant_id = run.tenant_id and (f.metadata @> v_made or f.metadata @> v_ended)
  );
begin
  v_fact_ids := v_fact_ids || array(
    select l.target_id
    from memory.memory_links as l
    where l.tenant_id = run.tenant_id and l.source_type = 'fact' and l.source_id = any (v_fact_ids)
      and l.target_type = 'fact' and l.relation = 'supersedes'
  );
  perform memory.lock_keys_of_facts(run.tenant_id, v_fact_ids);
  perform
  from memory.facts as f
  where f.tenant_id = run.tenant_id and f.id = any (v_fact_ids)
  order by f.id
  for no key update;
  perform
  from memory.rules as r
  where r.tenant_id = run.tenant_id and (r.metadata @> v_made or r.metadata @> v_ended)
  order by r.id
  for no key update;
end;
$$;

comment on function memory.lock_changes_of_run(memory.consolidation_runs) is
'Locks the facts and rules that a run has stored or ended, and what they superseded, each kind of '
'row in the order of locks.';

create or replace function memory.undo_consolidation(
  run_id uuid,
  as_of timestamptz default now()
)
  returns table (
    memory_type text,
    memory_id uuid,
    content text,
    outcome text
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_run memory.consolidation_runs := memory.lock_run(v_tenant_id, undo_consolidation.run_id);
  v_fact record;
  v_predecessor record;
  v_ended record;
  v_rule record;
begin
  perform memory.check_write_time('as_of', as_of);
  if v_run.status not in ('done', 'undone') then
    raise exception 'consolidation run % is % and changed nothing', v_run.id, v_run.status
      using errcode = 'PM003', hint = 'Only a run that is done can be undone.';
  end if;
  perform memory.lock_changes_of_run(v_run);

  memory_type := 'fact';
  for v_fact in
    select
      f.id, f.content, f.lifecycle_state, f.supersedes_id, f.created_at,
      nullif(f.last_confirmed_at, f.valid_from) as last_confirmed_at
    from memory.facts as f
    where f.tenant_id = v_tenant_id
      and f.metadata @> jsonb_build_object('consolidation_run', v_run.id)
    order by f.created_at, f.id
  loop
    memory_id := v_fact.id;
    content := v_fact.content;
    outcome := memory.is_used_since(
      v_fact.lifecycle_state, v_fact.last_confirmed_at, v_fact.created_at, 0
    );
    if outcome is null then
      perform memory.forget_memory('fact', v_fact.id, as_of);
      outcome := 'retracted';
      -- A fact under a name and one under the entity may both be its predecessors.
      for v_predecessor in
        select l.target_id
        from memory.memory_links as l
        join memory.facts as f on f.tenant_id = v_tenant_id and f.id = l.target_id
        where l.tenant_id = v_tenant_id and l.source_type = 'fact' and l.source_id = v_fact.id
          and l.target_type = 'fact' and l.relation = 'supersedes'
          and f.validity = 'superseded'
          and not memory.is_fact_key_taken(f)
        order by l.target_id
      loop
        perform memory.restore_memory('fact', v_predecessor.target_id, as_of);
        outcome := 'retracted, its predecessor restored';
      end loop;
    end if;
    return next;
  end loop;

  for v_ended in
    select f.id, f.content
    from memory.facts as f
    where f.tenant_id = v_tenant_id
      and f.metadata @> jsonb_build_object('ended_by_run', v_run.id)
    order by f.created_at, f.id
  loop
    memory_id := v_ended.id;
    content := v_ended.content;
    outcome := memory.undo_end_of_fact(v_tenant_id, v_ended.id, as_of);
    return next;
  end loop;

  memory_type := 'rule';
  for v_rule in
    select r.id, r.content, r.lifecycle_state, r.applied_count, r.last_confirmed_at, r.created_at
    from memory.rules as r
    where r.tenant_id = v_tenant_id
      and r.metadata @> jsonb_build_object('consolidation_run', v_run.id)
    order by r.created_at, r.id
  loop
    memory_id := v_rule.id;
    content := v_rule.content;
    outcome := memory.is_used_since(
      v_rule.lifecycle_state, v_rule.last_confirmed_at, v_rule.created_at, v_rule.applied_count
    );
    if outcome is null then
      perform memory.forget_memory('rule', v_rule.id, as_of);
      outcome := 'retracted';
    end if;
    return next;
  end loop;
  -- Unless the rule that replaced it stays.
  for v_rule in
    select r.id, r.content, r.lifecycle_state
    from memory.rules as r
    where r.tenant_id = v_tenant_id
      and r.metadata @> jsonb_build_object('ended_by_run', v_run.id)
    order by r.created_at, r.id
  loop
    memory_id := v_rule.id;
    content := v_rule.content;
    if v_rule.lifecycle_state <> 'retracted' then
      outcome := 'restored since';
    elsif exists (
      select
      from memory.memory_links as l
      join memory.rules as s on s.tenant_id = v_tenant_id and s.id = l.source_id
      where l.tenant_id = v_tenant_id and l.source_type = 'rule' and l.target_type = 'rule'
        and l.target_id = v_rule.id and l.relation = 'supersedes'
        and s.lifecycle_state <> 'retracted'
    ) then
      outcome := 'its successor stays';
    else
      perform memory.restore_memory('rule', v_rule.id, as_of);
      outcome := 'restored';
    end if;
    update memory.rules as r
    set
      metadata = r.metadata - 'ended_by_run',
      updated_at = memory.next_state_at(r.updated_at, as_of)
    where r.tenant_id = v_tenant_id and r.id = v_rule.id and outcome <> 'its successor stays';
    return next;
  end loop;

  -- What it proposed is as void as what it stored, unless other runs proposed the same.
  update memory.consolidation_proposals as p
  set status = 'rejected', outcome = 'its run was undone', decided_at = as_of
  where p.tenant_id = v_tenant_id and p.run_id = v_run.id and p.status = 'proposed'
    and p.evidence <@ v_run.episode_ids;
  update memory.consolidation_proposals as p
  set evidence = array(
    select v.id
    from unnest(p.evidence) with ordinality as v (id, place)
    where v.id <> all (v_run.episode_ids)
    order by v.place
  )
  where p.tenant_id = v_tenant_id and p.run_id = v_run.id and p.status = 'proposed';
  update memory.consolidation_runs as r
  set status = 'undone'
  where r.tenant_id = v_tenant_id and r.id = v_run.id;
end;
$$;

comment on function memory.undo_consolidation(uuid, timestamptz) is
'Reverts what a run stored, unless something newer depends on it: facts and rules that have since '
'been superseded, confirmed, applied or forgotten stay as they are. Restores the facts that its '
'facts superseded or that it ended, and the rules that it changed or withdrew. Its proposals that '
'wait are rejected, unless other runs proposed the same. Confirmations stay, and its episodes stay '
'consolidated. Returns the outcome for each memory. A second call has nothing left to do. Errors: '
'PM001 unknown run, PM002, PM003 the run is not done.';
grant execute on function memory.undo_consolidation to memory_worker, memory_admin;

create or replace function memory.undo_preview(run_id uuid)
  returns table (
    memory_type text,
    memory_id uuid,
    content text,
    outcome text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_status text;
  v_retracted uuid[]; -- facts and rules that the run stored and that would go
begin
  select r.status into v_status
  from memory.consolidation_runs as r
  where r.tenant_id = v_tenant_id and r.id = undo_preview.run_id;
  if not found then
    raise exception 'no consolidation run has id %', coalesce(undo_preview.run_id::text, 'NULL')
      using errcode = 'PM001', hint = 'List runs with memory.list_consolidation_runs.';
  end if;
  if v_status not in ('done', 'undone') then
    raise exception 'consolidation run % is % and changed nothing', undo_preview.run_id, v_status
      using errcode = 'PM003', hint = 'Only a run that is done can be undone.';
  end if;
  v_retracted := array(
    select f.id
    from memory.facts as f
    where f.tenant_id = v_tenant_id
      and f.metadata @> jsonb_build_object('consolidation_run', undo_preview.run_id)
      and memory.is_used_since(
        f.lifecycle_state, nullif(f.last_confirmed_at, f.valid_from), f.created_at, 0
      ) is null
    union all
    select r.id
    from memory.rules as r
    where r.tenant_id = v_tenant_id
      and r.metadata @> jsonb_build_object('consolidation_run', undo_preview.run_id)
      and memory.is_used_since(
        r.lifecycle_state, r.last_confirmed_at, r.created_at, r.applied_count
      ) is null
  );

  return query
  with undone as (
    select
      1 as place, 'fact' as memory_type, f.id, f.content, f.created_at,
      coalesce(
        memory.is_used_since(
          f.lifecycle_state, nullif(f.last_confirmed_at, f.valid_from), f.created_at, 0
        ),
        case
          when exists (
            select
            from memory.memory_links as l
            join memory.facts as p on p.tenant_id = v_tenant_id and p.id = l.target_id
            where l.tenant_id = v_tenant_id and l.source_type = 'fact' and l.source_id = f.id
              and l.target_type = 'fact' and l.relation = 'supersedes'
              and p.validity = 'superseded'
              and not memory.is_fact_key_taken(p, v_retracted)
          )
          then 'retracted, its predecessor restored'
          else 'retracted'
        end
      ) as outcome
    from memory.facts as f
    where f.tenant_id = v_tenant_id
      and f.metadata @> jsonb_build_object('consolidation_run', undo_preview.run_id)
    union all
    select
      2, 'fact', f.id, f.content, f.created_at,
      coalesce(memory.end_of_fact_since(f, v_retracted), 'restored')
    from memory.facts as f
    where f.tenant_id = v_tenant_id
      and f.metadata @> jsonb_build_object('ended_by_run', undo_preview.run_id)
    union all
    select
      3, 'rule', r.id, r.content, r.created_at,
      coalesce(
        memory.is_used_since(
          r.lifecycle_state, r.last_confirmed_at, r.created_at, r.applied_count
        ),
        'retracted'
      )
    from memory.rules as r
    where r.tenant_id = v_tenant_id
      and r.metadata @> jsonb_build_object('consolidation_run', undo_preview.run_id)
    union all
    select
      4, 'rule', r.id, r.content, r.created_at,
      case
        when r.lifecycle_state <> 'retracted' then 'restored since'
        when exists (
          select
          from memory.memory_links as l
          join memory.rules as s on s.tenant_id = v_tenant_id and s.id = l.source_id
          where l.tenant_id = v_tenant_id and l.source_type = 'rule' and l.target_type = 'rule'
            and l.target_id = r.id and l.relation = 'supersedes'
            and s.lifecycle_state <> 'retracted' and s.id <> all (v_retracted)
        )
        then 'its successor stays'
        else 'restored'
      end
    from memory.rules as r
    where r.tenant_id = v_tenant_id
      and r.metadata @> jsonb_build_object('ended_by_run', undo_preview.run_id)
  )
  select u.memory_type, u.id, u.content, u.outcome
  from undone as u
  order by u.place, u.created_at, u.id;
end;
$$;

comment on function memory.undo_preview(uuid) is
'What memory.undo_consolidation of a run would do, changing nothing: the rows that it would '
'return. Errors: PM001 unknown run, PM003 the run is not done.';
grant execute on function memory.undo_preview to memory_worker, memory_reader, memory_admin;

commit;
