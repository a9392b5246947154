-- Deploy pymem:functions/extras/consolidation/undo_consolidation to pg

begin;

set local role memory_owner;

create or replace function memory.is_fact_key_taken(fact memory.facts)
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
        and f.entity_id is null and f.validity = 'active' and f.id <> (fact).id
    )
    else exists (
      select from memory.facts as f
      where f.tenant_id = (fact).tenant_id and f.entity_id = (fact).entity_id
        and f.scope = (fact).scope and f.predicate_key = (fact).predicate_key
        and f.validity = 'active' and f.id <> (fact).id
    )
  end;
$$;

comment on function memory.is_fact_key_taken(memory.facts) is
'Whether another fact is active under the key of a fact.';

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
  v_outcome text := 'restored';
begin
  select f.* into v_fact
  from memory.facts as f
  where f.tenant_id = undo_end_of_fact.tenant_id and f.id = fact_id;
  if v_fact.validity = 'retracted' then
    v_outcome := 'retracted since';
  elsif v_fact.validity = 'active' and v_fact.valid_to is null then
    v_outcome := 'restored since';
  elsif v_fact.validity <> 'active' and memory.is_fact_key_taken(v_fact) then
    v_outcome := 'stored anew since';
  elsif v_fact.validity <> 'active' then
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

  memory_type := 'fact';
  for v_fact in
    select f.id, f.content, f.lifecycle_state, f.supersedes_id, f.last_confirmed_at, f.created_at
    from memory.facts as f
    where f.tenant_id = v_tenant_id
      and f.metadata @> jsonb_build_object('consolidation_run', v_run.id)
    order by f.created_at, f.id
  loop
    memory_id := v_fact.id;
    content := v_fact.content;
    if v_fact.lifecycle_state not in ('active', 'fading') then
      outcome := v_fact.lifecycle_state || ' since';
    elsif v_fact.last_confirmed_at > v_fact.created_at then
      outcome := 'confirmed since';
    else
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
    if v_rule.lifecycle_state = 'retracted' then
      outcome := 'retracted since';
    elsif v_rule.applied_count > 0 then
      outcome := 'applied since';
    elsif v_rule.last_confirmed_at > v_rule.created_at then
      outcome := 'confirmed since';
    else
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

commit;
