-- Deploy pymem:functions/extras/consolidation/undo_consolidation to pg

begin;

set local role memory_owner;

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
      if v_fact.supersedes_id is not null then
        perform memory.restore_memory('fact', v_fact.supersedes_id, as_of);
        outcome := 'retracted, its predecessor restored';
      end if;
    end if;
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

  update memory.consolidation_runs as r
  set status = 'undone'
  where r.tenant_id = v_tenant_id and r.id = v_run.id;
end;
$$;

comment on function memory.undo_consolidation(uuid, timestamptz) is
'Reverts what a run stored, unless something newer depends on it: facts and rules that have since '
'been superseded, confirmed, applied or forgotten stay as they are. Restores the facts that its '
'facts superseded. Confirmations stay, and its episodes stay consolidated. Returns the outcome for '
'each memory. A second call has nothing left to do. Errors: PM001 unknown run, PM002, PM003 the '
'run is not done.';
grant execute on function memory.undo_consolidation to memory_worker, memory_admin;

commit;
