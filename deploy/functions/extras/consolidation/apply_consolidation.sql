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
        (select array_agg(e.id order by e.id) from unnest((run).episode_ids) as e (id)),
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
'The idempotency key of an action: the same action drawn from the same episodes has the same key.';

create or replace function memory.read_evidence(
  run memory.consolidation_runs,
  item jsonb
)
  returns uuid[]
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_foreign text;
  v_evidence uuid[];
begin
  if jsonb_typeof(item -> 'evidence') is distinct from 'array' or item -> 'evidence' = '[]' then
    return run.episode_ids;
  end if;
  select left(e.id, 100) into v_foreign
  from jsonb_array_elements_text(item -> 'evidence') with ordinality as e (id, place)
  where not exists (select from unnest(run.episode_ids) as b (id) where b.id::text = lower(e.id))
  order by e.place
  limit 1;
  if found then
    raise exception 'evidence % is not an episode of this batch', quote_nullable(v_foreign)
      using errcode = 'PM002', hint = 'Pass ids of episodes in the prompt, or leave evidence out.';
  end if;
  v_evidence := array(
    select distinct on (e.id) e.id::uuid
    from jsonb_array_elements_text(item -> 'evidence') with ordinality as e (id, place)
    order by e.id, e.place
  );
  return v_evidence;
end;
$$;

comment on function memory.read_evidence(memory.consolidation_runs, jsonb) is
'The episodes an action was drawn from: those it names, or else the whole batch. Errors: PM002 an '
'episode outside the batch.';

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
    case relation when 'contradicts' then 'episode' else memory_type end,
    case relation when 'contradicts' then e.id else memory_id end,
    case relation when 'contradicts' then memory_type else 'episode' end,
    case relation when 'contradicts' then memory_id else e.id end,
    relation
  from unnest(evidence) as e (id)
  order by e.id
  on conflict (tenant_id, source_type, source_id, target_type, target_id) do nothing;
$$;

comment on function memory.link_evidence(text, text, uuid, uuid[], text) is
'Links a memory to the episodes it was derived from, or episodes to the memory they contradict.';

-- What a client stored is stated. What consolidation inferred is marked, and it may supersede it.
create or replace function memory.is_inferred(metadata jsonb)
  returns boolean
  language sql
  immutable
  parallel safe
  return metadata ? 'consolidation_run';

comment on function memory.is_inferred(jsonb) is
'Whether consolidation inferred a memory (metadata.consolidation_run) rather than a client stating '
'it.';

create or replace function memory.apply_fact(
  run memory.consolidation_runs,
  settings memory.settings,
  item jsonb,
  target memory.facts,
  as_of timestamptz
)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_evidence uuid[] := memory.read_evidence(run, item);
  v_subject text := memory.collapse_whitespace(coalesce(target.subject, item ->> 'subject'));
  v_predicate text := memory.collapse_whitespace(coalesce(target.predicate, item ->> 'predicate'));
  v_scope text := memory.collapse_whitespace(
    coalesce(target.scope, item ->> 'scope', run.butler)
  );
  v_entity_id uuid := target.entity_id;
  v_content text := item ->> 'content';
  v_grades text[] := '{ephemeral,volatile,standard,stable,permanent}'::text [];
  v_permanence text := v_grades[least(
    coalesce(
      array_position(v_grades, item ->> 'permanence'),
      array_position(v_grades, target.permanence),
      3
    ),
    array_position(v_grades, settings.consolidation_max_permanence)
  )];
  v_active_id uuid;
  v_active record;
  v_id uuid;
begin
  perform
    memory.check_text('subject', v_subject, 512),
    memory.check_text('predicate', v_predicate, 512),
    memory.check_text('scope', v_scope, 128),
    memory.check_text('content', v_content, 1048576);
  if v_scope not in ('global', run.butler) and target.id is null then
    raise exception 'scope % does not belong to butler %',
      quote_literal(v_scope), quote_literal(run.butler)
      using errcode = 'PM002', hint = 'Leave scope out, or pass global.';
  end if;

  v_active_id := memory.lock_fact_key(
    run.tenant_id, v_scope, v_subject, v_entity_id, v_predicate
  );
  if target.id is not null and v_active_id is distinct from target.id then
    raise exception 'fact % is % and no longer current', target.id, (
      select f.validity from memory.facts as f
      where f.tenant_id = run.tenant_id and f.id = target.id
    )
      using errcode = 'PM003', hint = 'Store the current content as a new fact.';
  end if;

  if v_active_id is not null then
    select f.content, f.metadata, f.trust into v_active
    from memory.facts as f
    where f.tenant_id = run.tenant_id and f.id = v_active_id;
    if lower(memory.collapse_whitespace(v_active.content))
      = lower(memory.collapse_whitespace(v_content))
    then
      perform memory.confirm_memory('fact', v_active_id, as_of);
      perform memory.link_evidence(
        run.tenant_id, 'fact', v_active_id, v_evidence, 'derived_from'
      );
      return 'confirmed';
    end if;
    if not memory.is_inferred(v_active.metadata)
      or exists (
        select from memory.episodes as e
        where e.tenant_id = run.tenant_id and e.id = any (v_evidence)
          and memory.least_trust(v_active.trust, e.source_class) <> v_active.trust
      )
    then
      perform memory.link_evidence(
        run.tenant_id, 'fact', v_active_id, v_evidence, 'contradicts'
      );
      return 'contradicted';
    end if;
  end if;

  v_id := memory.store_fact(
    v_subject, v_predicate, v_content,
    importance => coalesce((item ->> 'importance')::float8, target.importance, 5),
    permanence => v_permanence,
    scope => v_scope,
    tags => case jsonb_typeof(item -> 'tags')
      when 'array' then item -> 'tags' else coalesce(target.tags, '[]')
    end,
    entity_id => v_entity_id,
    confidence => least(
      coalesce((item ->> 'confidence')::float8, 1), settings.consolidation_max_confidence
    ),
    source_butler => run.butler,
    source_episode_id => v_evidence[1],
    metadata => jsonb_build_object('consolidation_run', run.id),
    idempotency_key => memory.consolidation_key(
      run, 'fact', array[v_subject, v_predicate, v_scope, v_content]
    ),
    as_of => as_of
  );
  perform memory.link_evidence(run.tenant_id, 'fact', v_id, v_evidence, 'derived_from');
  return case when v_active_id is null then 'fact created' else 'fact superseded' end;
end;
$$;

comment on function memory.apply_fact(
  memory.consolidation_runs, memory.settings, jsonb, memory.facts, timestamptz
) is
'Stores an inferred fact, with the permanence and confidence limited by the settings. An active '
'fact under its key is confirmed if it says the same; superseded if it was also inferred, from '
'sources that are not more trusted; and kept otherwise, for example if a client stated it: then '
'the episodes are linked as contradicting it. Returns what happened. Errors: as store_fact, PM002 '
'evidence or scope of another butler.';

create or replace function memory.apply_action(
  run memory.consolidation_runs,
  settings memory.settings,
  action text,
  item jsonb,
  as_of timestamptz
)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_evidence uuid[];
  v_target memory.facts;
  v_id uuid;
begin
  if jsonb_typeof(item) is distinct from (
    case action when 'confirmation' then 'string' else 'object' end
  ) then
    raise exception '% is %', action, left(coalesce(item::text, 'NULL'), 100)
      using errcode = 'PM002',
        hint = case action
          when 'confirmation' then 'Pass the text of a UUID.' else 'Pass a JSON object.'
        end;
  end if;

  case action
    when 'new_fact' then
      return memory.apply_fact(run, settings, item, null, as_of);

    when 'updated_fact' then
      select f.* into v_target
      from memory.facts as f
      where f.tenant_id = run.tenant_id and f.id = (item ->> 'target_id')::uuid
        and (f.source_butler = run.butler or f.scope in ('global', run.butler));
      if not found then
        raise exception 'no fact has id %', item ->> 'target_id'
          using errcode = 'PM001', hint = 'Pass the id of a fact in the prompt.';
      end if;
      return memory.apply_fact(run, settings, item, v_target, as_of);

    when 'new_rule' then
      v_evidence := memory.read_evidence(run, item);
      select r.id into v_id
      from memory.rules as r
      where r.tenant_id = run.tenant_id and r.lifecycle_state <> 'retracted'
        and r.scope in ('global', run.butler)
        and lower(memory.collapse_whitespace(r.content))
          = lower(memory.collapse_whitespace(item ->> 'content'))
      order by r.created_at, r.id
      limit 1;
      if found then
        perform memory.confirm_memory('rule', v_id, as_of);
        perform memory.link_evidence(run.tenant_id, 'rule', v_id, v_evidence, 'derived_from');
        return 'confirmed';
      end if;
      v_id := memory.store_rule(
        item ->> 'content',
        scope => run.butler,
        tags => case jsonb_typeof(item -> 'tags') when 'array' then item -> 'tags' else '[]' end,
        source_butler => run.butler,
        source_episode_id => v_evidence[1],
        metadata => jsonb_build_object('consolidation_run', run.id),
        idempotency_key => memory.consolidation_key(run, 'rule', array[item ->> 'content']),
        as_of => as_of
      );
      perform memory.link_evidence(run.tenant_id, 'rule', v_id, v_evidence, 'derived_from');
      return 'rule created';

    else
      select f.id into v_id
      from memory.facts as f
      where f.tenant_id = run.tenant_id and f.id = (item #>> '{}')::uuid
        and (f.source_butler = run.butler or f.scope in ('global', run.butler));
      if found then
        perform memory.confirm_memory('fact', v_id, as_of);
        return 'confirmed';
      end if;
      select r.id into v_id
      from memory.rules as r
      where r.tenant_id = run.tenant_id and r.id = (item #>> '{}')::uuid
        and (r.source_butler = run.butler or r.scope in ('global', run.butler));
      if found then
        perform memory.confirm_memory('rule', v_id, as_of);
        return 'confirmed';
      end if;
      raise exception 'no fact or rule has id %', item #>> '{}'
        using errcode = 'PM001', hint = 'Pass the id of a fact or rule in the prompt.';
  end case;
end;
$$;

comment on function memory.apply_action(
  memory.consolidation_runs, memory.settings, text, jsonb, timestamptz
) is
'Applies one action of a consolidation; it can only change what the prompt of the butler may '
'contain. Returns what happened. Errors: those of the action.';

create or replace function memory.try_action(
  run memory.consolidation_runs,
  settings memory.settings,
  action text,
  "position" bigint, -- noqa: RF06
  item jsonb,
  as_of timestamptz,
  out outcome text,
  out error jsonb
)
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  outcome := memory.apply_action(run, settings, action, item, as_of);
exception
  -- Errors of the action itself. Others, such as a lost connection, a lock or a full disk, roll
  -- back the whole call.
  when others then
    if sqlstate !~ '^(22|23|PM)' then
      raise;
    end if;
    outcome := 'rejected';
    error := jsonb_build_object(
      'action', action, 'position', "position", 'code', sqlstate, 'message', left(sqlerrm, 500)
    );
end;
$$;

comment on function memory.try_action(
  memory.consolidation_runs, memory.settings, text, bigint, jsonb, timestamptz
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
    (3, 'new_rule', 'new_rules'), (4, 'confirmation', 'confirmations')
  ) as k (turn, action, list)
  cross join lateral jsonb_array_elements(
    case jsonb_typeof(output -> k.list) when 'array' then output -> k.list else '[]' end
  ) with ordinality as e (item, place)
  order by k.turn, e.place;
$$;

comment on function memory.read_actions(jsonb) is
'The elements of the four lists of an answer, in the order in which they are applied; place is the '
'position in each list, from 1.';

create or replace function memory.count_outcomes(
  tenant_id text,
  run_id uuid,
  outcomes text[],
  errors jsonb
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  update memory.consolidation_runs as r
  set
    facts_created = r.facts_created
      + cardinality(array_positions(outcomes, 'fact created'))
      + cardinality(array_positions(outcomes, 'fact superseded')),
    facts_superseded = r.facts_superseded
      + cardinality(array_positions(outcomes, 'fact superseded')),
    rules_created = r.rules_created + cardinality(array_positions(outcomes, 'rule created')),
    confirmed = r.confirmed + cardinality(array_positions(outcomes, 'confirmed')),
    contradicted = r.contradicted + cardinality(array_positions(outcomes, 'contradicted')),
    rejected = r.rejected + cardinality(array_positions(outcomes, 'rejected')),
    errors = r.errors || count_outcomes.errors
  where r.tenant_id = count_outcomes.tenant_id and r.id = run_id;
$$;

comment on function memory.count_outcomes(text, uuid, text[], jsonb) is
'Adds the outcomes of actions to the counts of their run.';

create or replace function memory.apply_consolidation(
  run_id uuid,
  output jsonb,
  prompt_version text default null,
  model text default null,
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
  v_is_proposed boolean := false;
  v_outcomes text[] := array[]::text[];
  v_errors jsonb := '[]'::jsonb;
begin
  perform
    memory.check_object('output', output),
    memory.check_write_time('as_of', as_of);
  if v_run.status in ('proposed', 'done', 'undone') then
    -- A repeated call: the first one applied everything.
    return next v_run;
    return;
  elsif v_run.status <> 'running' then
    perform memory.refuse_lost_lease(v_run);
  end if;

  if jsonb_typeof(output -> 'parse_errors') = 'array' then
    select coalesce(
      jsonb_agg(jsonb_build_object('message', left(p.problem, 500)) order by p.place), '[]'
    )
    into v_errors
    from jsonb_array_elements_text(output -> 'parse_errors') with ordinality as p (problem, place);
  end if;

  if v_settings.consolidation_review then
    insert into memory.consolidation_proposals (tenant_id, run_id, position, action, item)
    select v_tenant_id, v_run.id, a.number, a.action, a.item
    from memory.read_actions(output) with ordinality as a (action, place, item, number);
    v_is_proposed := found;
  else
    for v_action in select a.* from memory.read_actions(output) as a loop
      select t.outcome, t.error into v_outcome, v_error
      from memory.try_action(
        v_run, v_settings, v_action.action, v_action.place, v_action.item, as_of
      ) as t;
      v_outcomes := v_outcomes || v_outcome;
      if v_error is not null then
        v_errors := v_errors || v_error;
      end if;
    end loop;
  end if;
  perform memory.count_outcomes(v_tenant_id, v_run.id, v_outcomes, v_errors);

  if v_outcomes <> '{}' and v_outcomes <@ '{rejected}' then
    perform memory.fail_consolidation(
      v_run.id, 'every action was rejected', prompt_version, model, as_of
    );
  else
    update memory.episodes as e
    set
      consolidation_status = 'consolidated',
      last_consolidation_error = null,
      next_consolidation_retry_at = null,
      updated_at = memory.next_state_at(e.updated_at, as_of)
    where e.tenant_id = v_tenant_id
      and e.id in (
        select b.id
        from memory.episodes as b
        where b.tenant_id = v_tenant_id and b.id = any (v_run.episode_ids)
          and b.consolidation_status in ('pending', 'failed')
        order by b.id
        for no key update
      );
    update memory.consolidation_runs as r
    set
      status = case when v_is_proposed then 'proposed' else 'done' end,
      finished_at = as_of,
      prompt_version = apply_consolidation.prompt_version,
      model = apply_consolidation.model
    where r.tenant_id = v_tenant_id and r.id = v_run.id;
  end if;
  return query
  select r.* from memory.consolidation_runs as r
  where r.tenant_id = v_tenant_id and r.id = v_run.id;
end;
$$;

comment on function memory.apply_consolidation(uuid, jsonb, text, text, timestamptz) is
'Applies the result of a batch, an object with the arrays new_facts, updated_facts, new_rules and '
'confirmations, each element in its own subtransaction, and ends the run: its episodes are '
'consolidated, unless every action was rejected (then as fail_consolidation). Returns the run, '
'with counts and the reasons for rejections. With the setting consolidation_review the elements '
'wait for memory.accept_proposals. Calling it again changes nothing. Errors: PM001 unknown run, '
'PM002 not an object, PM003 the lease was lost; errors such as lock timeouts roll back everything.';
grant execute on function memory.apply_consolidation to memory_worker;

create or replace function memory.list_consolidation_runs(
  butler text default null,
  max_results integer default 20,
  run_id uuid default null
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
begin
  perform memory.check_number('max_results', max_results, 1, 10000);
  return query
  select r.*
  from memory.consolidation_runs as r
  where r.tenant_id = v_tenant_id
    and (list_consolidation_runs.butler is null or r.butler = list_consolidation_runs.butler)
    and (run_id is null or r.id = run_id)
  order by r.started_at desc, r.id
  limit max_results;
end;
$$;

comment on function memory.list_consolidation_runs(text, integer, uuid) is
'The consolidation runs, newest first: of one butler or all, or a single run. Errors: PM002.';
grant execute on function memory.list_consolidation_runs
to memory_worker, memory_reader, memory_admin;

commit;
