-- Deploy pymem:functions/extras/consolidation/review_consolidation to pg

begin;

set local role memory_owner;

create or replace function memory.preview_proposals(run_id uuid)
  returns table (
    "position" bigint, -- noqa: RF06
    action text,
    status text,
    memory_type text,
    memory_id uuid,
    key text,
    before text,
    after text,
    remark text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  return query
  select
    p.position, p.action, p.status,
    case when p.action = 'new_rule' or r.id is not null then 'rule' else 'fact' end,
    coalesce(f.id, r.id),
    case
      when p.action = 'new_fact'
      then format('[%s] [%s]', p.item ->> 'subject', p.item ->> 'predicate')
      when f.id is not null then format('[%s] [%s]', f.subject, f.predicate)
    end,
    coalesce(f.content, r.content),
    case when p.action <> 'confirmation' then p.item ->> 'content' end,
    coalesce(
      p.outcome,
      case
        when p.action in ('updated_fact', 'confirmation') and f.id is null and r.id is null
        then 'no memory has this id'
        when p.action = 'confirmation' then 'would be confirmed'
        when f.validity <> 'active' then 'is ' || f.validity
        when lower(memory.collapse_whitespace(coalesce(f.content, r.content)))
          = lower(memory.collapse_whitespace(p.item ->> 'content'))
        then 'known: would be confirmed'
        when f.id is not null and not memory.is_inferred(f.metadata)
        then 'was stated: would be marked as contradicted'
        when f.id is not null then 'would be superseded'
        else 'new'
      end
    )
  from memory.consolidation_proposals as p
  join memory.consolidation_runs as c on c.tenant_id = p.tenant_id and c.id = p.run_id
  left join memory.facts as f
    on f.tenant_id = p.tenant_id
      and case p.action
        when 'new_fact' then
          f.validity = 'active' and f.entity_id is null
          and f.scope = coalesce(p.item ->> 'scope', c.butler)
          and f.subject = memory.collapse_whitespace(p.item ->> 'subject')
          and f.predicate = memory.collapse_whitespace(p.item ->> 'predicate')
        when 'updated_fact' then f.id::text = lower(p.item ->> 'target_id')
        when 'confirmation' then f.id::text = lower(p.item #>> '{}')
        else false
      end
  left join memory.rules as r
    on r.tenant_id = p.tenant_id
      and case p.action
        when 'confirmation' then r.id::text = lower(p.item #>> '{}')
        when 'new_rule' then
          r.lifecycle_state <> 'retracted' and r.scope in ('global', c.butler)
          and lower(memory.collapse_whitespace(r.content))
            = lower(memory.collapse_whitespace(p.item ->> 'content'))
        else false
      end
  where p.tenant_id = v_tenant_id and p.run_id = preview_proposals.run_id
  order by p.position;
end;
$$;

comment on function memory.preview_proposals(uuid) is
'What the proposals of a run would change: the fact or rule, its text before and after, and what '
'would happen to it, or has happened. No rows for an unknown run or one without proposals.';
grant execute on function memory.preview_proposals to memory_worker, memory_reader, memory_admin;

create or replace function memory.accept_proposals(
  run_id uuid,
  positions bigint[] default null,
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
  v_run memory.consolidation_runs := memory.lock_run(v_tenant_id, accept_proposals.run_id);
  v_proposal record;
  v_outcome text;
  v_error jsonb;
begin
  perform memory.check_write_time('as_of', as_of);
  for v_proposal in
    select p.position, p.action, p.item
    from memory.consolidation_proposals as p
    where p.tenant_id = v_tenant_id and p.run_id = v_run.id and p.status = 'proposed'
      and (accept_proposals.positions is null or p.position = any (accept_proposals.positions))
    order by p.position
  loop
    select t.outcome, t.error into v_outcome, v_error
    from memory.try_action(
      v_run, v_settings, v_proposal.action, v_proposal.position, v_proposal.item, as_of
    ) as t;
    update memory.consolidation_proposals as p
    set
      status = case when v_error is null then 'accepted' else 'rejected' end,
      outcome = coalesce(v_error ->> 'message', v_outcome)
    where p.tenant_id = v_tenant_id and p.run_id = v_run.id and p.position = v_proposal.position;
    perform memory.count_outcomes(
      v_tenant_id, v_run.id, array[v_outcome],
      case when v_error is null then '[]'::jsonb else jsonb_build_array(v_error) end
    );
  end loop;
  return query select r.* from memory.close_review(v_tenant_id, v_run.id) as r;
end;
$$;

comment on function memory.accept_proposals(uuid, bigint[], timestamptz) is
'Applies proposals of a run, those at the given positions or all remaining ones, as '
'apply_consolidation would have. Returns the run, which is done once no proposals remain. Errors: '
'PM001 unknown run, PM002.';
grant execute on function memory.accept_proposals to memory_admin;

create or replace function memory.reject_proposals(
  run_id uuid,
  positions bigint[] default null
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
  v_tenant_id text := memory.current_tenant();
  v_run memory.consolidation_runs := memory.lock_run(v_tenant_id, reject_proposals.run_id);
  v_rejected bigint;
begin
  update memory.consolidation_proposals as p
  set status = 'rejected', outcome = 'rejected in review'
  where p.tenant_id = v_tenant_id and p.run_id = v_run.id and p.status = 'proposed'
    and (reject_proposals.positions is null or p.position = any (reject_proposals.positions));
  get diagnostics v_rejected = row_count;
  perform memory.count_outcomes(
    v_tenant_id, v_run.id, array_fill('rejected'::text, array[v_rejected::integer]), '[]'
  );
  return query select r.* from memory.close_review(v_tenant_id, v_run.id) as r;
end;
$$;

comment on function memory.reject_proposals(uuid, bigint[]) is
'Rejects proposals of a run, those at the given positions or all remaining ones. Returns the run, '
'which is done once no proposals remain. Errors: PM001 unknown run.';
grant execute on function memory.reject_proposals to memory_admin;

create or replace function memory.close_review(
  tenant_id text,
  run_id uuid
)
  returns setof memory.consolidation_runs
  language plpgsql
  volatile
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  update memory.consolidation_runs as r
  set status = 'done'
  where r.tenant_id = close_review.tenant_id and r.id = close_review.run_id
    and r.status = 'proposed'
    and not exists (
      select from memory.consolidation_proposals as p
      where p.tenant_id = r.tenant_id and p.run_id = r.id and p.status = 'proposed'
    );
  return query
  select r.* from memory.consolidation_runs as r
  where r.tenant_id = close_review.tenant_id and r.id = close_review.run_id;
end;
$$;

comment on function memory.close_review(text, uuid) is
'Sets a proposed run to done if no proposals remain, and returns the run.';

commit;
