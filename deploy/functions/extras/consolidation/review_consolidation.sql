-- Deploy pymem:functions/extras/consolidation/review_consolidation to pg

begin;

set local role memory_owner;

create or replace function memory.preview_action(
  run memory.consolidation_runs,
  settings memory.settings,
  proposal memory.consolidation_proposals,
  as_of timestamptz,
  out memory_id uuid,
  out before text,
  out remark text
)
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_plan memory.planned_action;
begin
  v_plan := memory.classify_action(
    run, settings, proposal.action, proposal.item, proposal, as_of
  );
  memory_id := v_plan.memory_id;
  before := v_plan.before;
  remark := case v_plan.outcome
    when 'fact superseded' then 'would be superseded'
    when 'fact ended' then 'would end'
    when 'rule changed' then 'would be replaced'
    when 'rule withdrawn' then 'would be withdrawn'
    when 'confirmed' then
      case v_plan.action when 'confirmation' then '' else 'known: ' end || 'would be confirmed'
    else 'new'
  end || coalesce('; ' || v_plan.reason, '');
exception
  when others then
    if sqlstate !~ '^(22|23|PM)' then
      raise;
    end if;
    memory_id := proposal.memory_id;
    remark := 'cannot be accepted: ' || left(sqlerrm, 500);
end;
$$;

comment on function memory.preview_action(
  memory.consolidation_runs, memory.settings, memory.consolidation_proposals, timestamptz
) is
'What accepting a proposal would do, by memory.classify_action: the fact or rule concerned, its '
'present text, and the outcome with the reason why it waits, or why it cannot be accepted.';

create or replace function memory.preview_proposals(
  run_id uuid default null,
  max_results integer default 1000,
  as_of timestamptz default now()
)
  returns table (
    "position" bigint, -- noqa: RF06
    action text,
    status text,
    memory_type text,
    memory_id uuid,
    key text,
    before text,
    after text,
    remark text,
    source_run_id uuid,
    butler text,
    reason text,
    evidence uuid[],
    quotes text[],
    created_at timestamptz,
    decided_at timestamptz,
    is_amended boolean
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
begin
  perform memory.check_time('as_of', as_of);
  return query
  select
    p.position, p.action, p.status, p.memory_type, coalesce(d.memory_id, p.memory_id),
    case p.memory_type when 'fact' then substring(p.content from '^(\[.*?\] \[.*?\]): ') end,
    case when p.status = 'proposed' then d.before else coalesce(f.content, r.content) end,
    case
      when p.action not in ('ended_fact', 'withdrawn_rule', 'confirmation')
      then p.item ->> 'content'
    end,
    coalesce(p.outcome, d.remark),
    p.run_id, c.butler, p.reason, p.evidence, p.quotes, p.created_at, p.decided_at,
    p.original_item is not null
  from (
    -- A preview takes milliseconds.
    select w.*
    from memory.consolidation_proposals as w
    where w.tenant_id = v_tenant_id
      and case
        when preview_proposals.run_id is null then w.status = 'proposed'
        else w.run_id = preview_proposals.run_id
      end
    order by w.created_at, w.run_id, w.position
    limit memory.check_limit(max_results)
  ) as p
  join memory.consolidation_runs as c on c.tenant_id = p.tenant_id and c.id = p.run_id
  left join lateral memory.preview_action(c, v_settings, p, as_of) as d on p.status = 'proposed'
  left join memory.facts as f
    on p.memory_type = 'fact' and f.tenant_id = p.tenant_id and f.id = p.memory_id
  left join memory.rules as r
    on p.memory_type = 'rule' and r.tenant_id = p.tenant_id and r.id = p.memory_id
  order by p.created_at, p.run_id, p.position;
end;
$$;

comment on function memory.preview_proposals(uuid, integer, timestamptz) is
'The proposals of a run, or those that wait (NULL), oldest first, at most max_results (capped at '
'1000), and what accepting each would do or has done: the fact or rule concerned, its text before '
'and after, the outcome (remark), why it waits (reason), its evidence: the episodes, and quotes '
'of them in case they are gone, and whether somebody has amended it. No rows for an unknown run '
'or one without proposals. Errors: PM002.';
grant execute on function memory.preview_proposals to memory_worker, memory_reader, memory_admin;

create or replace function memory.check_reviewer(settings memory.settings)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if (settings).consolidation_reviewers <> 'writers'
    and not pg_has_role(memory.acting_role(), 'memory_admin', 'usage')
  then
    raise exception 'only admins review what consolidation proposes'
      using errcode = 'PM008',
        hint = 'Have an admin decide, or set consolidation_reviewers to "writers".';
  end if;
end;
$$;

comment on function memory.check_reviewer(memory.settings) is
'Refuses a writer, unless the setting consolidation_reviewers lets writers review. Errors: PM008.';

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
  v_proposal memory.consolidation_proposals;
  v_outcome text;
  v_error jsonb;
begin
  perform memory.check_reviewer(v_settings), memory.check_write_time('as_of', as_of);
  perform memory.lock_plans(
    v_run,
    array(
      select memory.plan_action(v_run, v_settings, p.action, p.item, p, as_of)
      from memory.consolidation_proposals as p
      where p.tenant_id = v_tenant_id and p.run_id = v_run.id and p.status = 'proposed'
        and (accept_proposals.positions is null or p.position = any (accept_proposals.positions))
      order by p.position
    )
  );
  for v_proposal in
    select p.*
    from memory.consolidation_proposals as p
    where p.tenant_id = v_tenant_id and p.run_id = v_run.id and p.status = 'proposed'
      and (accept_proposals.positions is null or p.position = any (accept_proposals.positions))
    order by p.position
  loop
    select t.outcome, t.error into v_outcome, v_error
    from memory.try_action(
      v_run, v_settings, v_proposal.action, v_proposal.position, v_proposal.position,
      v_proposal.item, v_proposal, as_of
    ) as t;
    update memory.consolidation_proposals as p
    set
      status = case when v_error is null then 'accepted' else 'rejected' end,
      outcome = coalesce(v_error ->> 'message', v_outcome),
      decided_at = as_of
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
'Applies proposals of a run, those at the given positions or all remaining ones, whatever the '
'reason for which they waited. What is invalid by now is rejected, with the reason as its outcome. '
'Returns the run, which is done once no proposals remain. Errors: PM001 unknown run, PM002, PM008 '
'a writer, where the setting consolidation_reviewers is admins.';
grant execute on function memory.accept_proposals to memory_writer, memory_admin;

create or replace function memory.reject_proposals(
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
  v_tenant_id text := memory.current_tenant();
  v_run memory.consolidation_runs := memory.lock_run(v_tenant_id, reject_proposals.run_id);
  v_rejected bigint;
begin
  perform
    memory.check_reviewer(memory.current_settings()),
    memory.check_write_time('as_of', as_of);
  update memory.consolidation_proposals as p
  set status = 'rejected', outcome = 'rejected in review', decided_at = as_of
  where p.tenant_id = v_tenant_id and p.run_id = v_run.id and p.status = 'proposed'
    and (reject_proposals.positions is null or p.position = any (reject_proposals.positions));
  get diagnostics v_rejected = row_count;
  perform memory.count_outcomes(
    v_tenant_id, v_run.id, array_fill('rejected'::text, array[v_rejected::integer]), '[]'
  );
  return query select r.* from memory.close_review(v_tenant_id, v_run.id) as r;
end;
$$;

comment on function memory.reject_proposals(uuid, bigint[], timestamptz) is
'Rejects proposals of a run, those at the given positions or all remaining ones: they are not '
'proposed again for the same evidence. Returns the run, which is done once no proposals remain. '
'Errors: PM001 unknown run, PM002, PM008 a writer, where the setting consolidation_reviewers is '
'admins.';
grant execute on function memory.reject_proposals to memory_writer, memory_admin;

create or replace function memory.change_proposal(
  run memory.consolidation_runs,
  place bigint,
  changes jsonb,
  as_of timestamptz
)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_proposal memory.consolidation_proposals;
  v_plan memory.planned_action;
  v_item jsonb;
  v_other record;
begin
  select p.* into v_proposal
  from memory.consolidation_proposals as p
  where p.tenant_id = run.tenant_id and p.run_id = run.id and p.position = change_proposal.place
  for no key update;
  if not found then
    raise exception 'run % has no proposal at position %', run.id, change_proposal.place
      using errcode = 'PM001', hint = 'List them with memory.preview_proposals.';
  end if;
  if v_proposal.status <> 'proposed' then
    raise exception 'proposal % of run % was %', v_proposal.position, run.id, v_proposal.status
      using errcode = 'PM003', hint = 'Only a proposal that waits can be amended.';
  end if;
  if v_proposal.action not in ('new_fact', 'updated_fact', 'new_rule', 'changed_rule') then
    raise exception 'proposal % of run % says nothing to amend', v_proposal.position, run.id
      using errcode = 'PM003', hint = 'Accept or reject it.';
  end if;

  v_item := case
    when changes is null then coalesce(v_proposal.original_item, v_proposal.item)
    else (v_proposal.item || changes) - array(
      select c.key from jsonb_each(changes) as c where c.value = 'null'
    )
  end;
  v_plan := memory.classify_action(run, v_settings, v_proposal.action, v_item, v_proposal, as_of);
  select p.run_id, p.position into v_other
  from memory.consolidation_proposals as p
  where p.tenant_id = run.tenant_id and p.key = memory.proposal_key(v_plan)
    and p.status = 'proposed'
    and (p.run_id, p.position) <> (run.id, v_proposal.position);
  if found then
    raise exception 'proposal % of run % says the same', v_other.position, v_other.run_id
      using errcode = 'PM004', hint = 'Reject one of the two.';
  end if;

  update memory.consolidation_proposals as p
  set
    item = v_item,
    original_item = case when changes is not null then coalesce(p.original_item, p.item) end,
    memory_id = v_plan.memory_id,
    content = memory.proposal_content(v_plan),
    key = memory.proposal_key(v_plan)
  where p.tenant_id = run.tenant_id and p.run_id = run.id and p.position = v_proposal.position;
  return memory.proposal_content(v_plan);
end;
$$;

comment on function memory.change_proposal(
  memory.consolidation_runs, bigint, jsonb, timestamptz
) is
'Changes what a proposal of a locked run says; changes NULL: it says again what the LLM wrote. '
'Errors: as memory.amend_proposal.';

create or replace function memory.amend_proposal(
  run_id uuid,
  place bigint,
  changes jsonb,
  as_of timestamptz default now()
)
  returns text
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_run memory.consolidation_runs := memory.lock_run(
    memory.current_tenant(), amend_proposal.run_id
  );
  v_known text[] := '{
    content,subject,predicate,scope,permanence,importance,confidence,tags
  }'::text [];
begin
  perform
    memory.check_reviewer(memory.current_settings()),
    memory.check_write_time('as_of', as_of);
  perform memory.check_object('changes', changes);
  if changes = '{}' or exists (
    select from jsonb_object_keys(changes) as k (key) where k.key <> all (v_known)
  ) then
    raise exception 'changes are of %', coalesce(
      (select string_agg(k.key, ', ' order by k.key) from jsonb_object_keys(changes) as k (key)),
      'nothing'
    )
      using errcode = 'PM002', hint = format('Change some of %s.', array_to_string(v_known, ', '));
  end if;
  return memory.change_proposal(v_run, place, changes, as_of);
end;
$$;

comment on function memory.amend_proposal(uuid, bigint, jsonb, timestamptz) is
'Edits the proposal at a position (place) of a run that waits, before it is accepted: changes is '
'an object with some of content, subject, predicate, scope, permanence, importance, confidence and '
'tags, of which null takes a value away. What it says is judged anew, so it may concern another '
'fact or rule then; limits of confidence and permanence still apply. Its evidence and what the LLM '
'wrote are kept. Returns what it says now. Errors: PM001 no such proposal, PM002 invalid, PM003 it '
'was decided, or says nothing, PM004 another proposal says the same, PM008 a writer, where the '
'setting consolidation_reviewers is admins.';
grant execute on function memory.amend_proposal to memory_writer, memory_admin;

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
  perform memory.close_reviews(close_review.tenant_id);
  return query
  select r.* from memory.consolidation_runs as r
  where r.tenant_id = close_review.tenant_id and r.id = close_review.run_id;
end;
$$;

comment on function memory.close_review(text, uuid) is
'Sets a proposed run to done if no proposals remain, and returns the run.';

commit;
