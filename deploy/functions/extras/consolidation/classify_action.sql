-- Deploy pymem:functions/extras/consolidation/classify_action to pg

begin;

set local role memory_owner;

-- What a client stored is stated. What consolidation inferred is marked.
create or replace function memory.is_inferred(metadata jsonb)
  returns boolean
  language sql
  immutable
  parallel safe
  return metadata ? 'consolidation_run';

comment on function memory.is_inferred(jsonb) is
'Whether consolidation inferred a memory (metadata.consolidation_run) rather than a client stating '
'it.';

create or replace function memory.are_same_words(
  one text,
  other text
)
  returns boolean
  language sql
  immutable
  parallel safe
  return lower(memory.collapse_whitespace(one)) = lower(memory.collapse_whitespace(other));

comment on function memory.are_same_words(text, text) is
'Whether two texts differ in nothing but case and whitespace.';

create or replace function memory.render_fact(
  subject text,
  predicate text,
  content text
)
  returns text
  language sql
  immutable
  parallel safe
  return format('[%s] [%s]: %s', subject, predicate, content);

comment on function memory.render_fact(text, text, text) is
'A fact in one line, as a context shows it.';

create or replace function memory.weigh_sources(
  tenant_id text,
  episode_ids uuid[],
  out evidence uuid[],
  out trust text,
  out observed_at timestamptz
)
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    coalesce(array_agg(e.id order by e.created_at desc, e.id), '{}'),
    (
      array_agg(
        e.source_class
        order by memory.trust_rank(e.source_class), e.id
      )
    )[1],
    max(e.created_at)
  from memory.episodes as e
  where e.tenant_id = weigh_sources.tenant_id and e.id = any (episode_ids);
$$;

comment on function memory.weigh_sources(text, uuid[]) is
'Those of some episodes that still exist, the newest first, their least trusted source class and '
'the newest time.';

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
begin
  if jsonb_typeof(item -> 'evidence') is distinct from 'array' or item -> 'evidence' = '[]' then
    raise exception 'there is no evidence'
      using errcode = 'PM002', hint = 'Name the episodes of the batch that it was drawn from.';
  end if;
  select left(e.id, 100) into v_foreign
  from jsonb_array_elements_text(item -> 'evidence') with ordinality as e (id, place)
  where not exists (select from unnest(run.episode_ids) as b (id) where b.id::text = lower(e.id))
  order by e.place
  limit 1;
  if found then
    raise exception 'evidence % is not an episode of this batch', quote_nullable(v_foreign)
      using errcode = 'PM002', hint = 'Pass ids of episodes in the prompt.';
  end if;
  return array(
    select distinct e.id::uuid as id from jsonb_array_elements_text(item -> 'evidence') as e (id)
    order by id
  );
end;
$$;

comment on function memory.read_evidence(memory.consolidation_runs, jsonb) is
'The episodes that an element was drawn from. Errors: PM002 none, or one outside the batch.';

create or replace function memory.read_item_time(
  item jsonb,
  name text,
  time_zone text,
  as_of timestamptz
)
  returns timestamptz
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_text text := btrim(item ->> name);
  v_time timestamptz;
begin
  if coalesce(v_text, '') = '' then
    return null;
  end if;
  -- PostgreSQL would read much more: "now", "infinity", "allballs".
  if v_text ~ '^\d{4}(-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?)?)?$' then
    v_time := (v_text || substr('0000-01-01', length(v_text) + 1))::timestamp at time zone time_zone;
  elsif v_text ~ '^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)? ?(Z|[+-]\d\d(:?\d\d)?)$' then
    v_time := v_text::timestamptz;
  end if;
  if v_time is null or v_time < '1000-01-01Z' or v_time > as_of + interval '100 years' then
    raise exception '% is no time: %', name, quote_literal(left(v_text, 100))
      using errcode = 'PM002', hint = 'Pass a date or a time as in ISO 8601, such as 2026-03-01.';
  end if;
  return v_time;
end;
$$;

comment on function memory.read_item_time(jsonb, text, text, timestamptz) is
'A time of an element: a year, a month, a day or a time, in the given time zone unless it has one; '
'NULL if it has none. Errors: PM002 not ISO 8601, or out of all reason; those of the calendar.';

create or replace function memory.entity_of_name(
  tenant_id text,
  name text
)
  returns uuid
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_name text collate "C" := memory.fold_name(entity_of_name.name);
  v_ids uuid[];
begin
  v_ids := array(
    select distinct n.entity_id
    from memory.entity_names as n
    where n.tenant_id = entity_of_name.tenant_id and n.name = v_name
    order by n.entity_id
    limit 2
  );
  return case when cardinality(v_ids) = 1 then v_ids[1] end;
end;
$$;

comment on function memory.entity_of_name(text, text) is
'The one entity that has this name or alias (memory.fold_name); NULL for none or several.';

create or replace function memory.reason_to_review(
  settings memory.settings,
  metadata jsonb,
  permanence text,
  trust text,
  observed_at timestamptz,
  plan memory.planned_action
)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when (settings).consolidation_supersedes = 'review' then 'consolidation_supersedes is review'
    when permanence = 'permanent' then 'it is permanent'
    when (settings).consolidation_supersedes = 'inferred_only'
      and not memory.is_inferred(metadata)
    then 'it was stated, and consolidation_supersedes is inferred_only'
    when memory.least_trust(trust, (plan).trust) <> trust
    then format('its trust is %s, that of the evidence is %s', trust, (plan).trust)
    when (plan).observed_at <= observed_at
    then 'the evidence is not newer than what is known'
  end;

comment on function memory.reason_to_review(
  memory.settings, jsonb, text, text, timestamptz, memory.planned_action
) is
'Why a fact or rule may not be changed without a review; NULL if it may: its permanence, and by '
'the setting consolidation_supersedes its origin, its trust, and when it was last observed, '
'compared with the evidence.';

create or replace function memory.classify_fact(
  run memory.consolidation_runs,
  settings memory.settings,
  plan memory.planned_action,
  item jsonb,
  target memory.facts,
  is_accepted boolean,
  as_of timestamptz
)
  returns memory.planned_action
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_plan memory.planned_action := plan;
  v_grades text[] := '{ephemeral,volatile,standard,stable,permanent}'::text [];
  v_scope text := memory.collapse_whitespace(coalesce(target.scope, item ->> 'scope'));
  v_names text[];
  v_predicate text collate "C";
  v_planned_for timestamptz;
  v_known_ids uuid[];
  v_known memory.facts;
  v_first memory.facts;
begin
  v_plan.memory_type := 'fact';
  v_plan.outcome := 'fact created';
  v_plan.subject := memory.collapse_whitespace(coalesce(target.subject, item ->> 'subject'));
  v_plan.predicate := memory.collapse_whitespace(coalesce(target.predicate, item ->> 'predicate'));
  v_plan.content := item ->> 'content';
  v_plan.category := memory.collapse_whitespace(item ->> 'category');
  v_plan.tags := case jsonb_typeof(item -> 'tags')
    when 'array' then item -> 'tags' else coalesce(target.tags, '[]')
  end;
  perform
    memory.check_text('subject', v_plan.subject, 512),
    memory.check_text('predicate', v_plan.predicate, 512),
    memory.check_text('content', v_plan.content, 1048576),
    case when v_plan.category <> '' then memory.check_text('category', v_plan.category, 128) end,
    memory.check_tags(v_plan.tags);
  if v_scope not in ('global', run.butler) and target.id is null then
    raise exception 'scope % does not belong to butler %',
      quote_literal(left(v_scope, 128)), quote_literal(run.butler)
      using errcode = 'PM002', hint = 'Leave scope out, or pass global.';
  end if;
  v_plan.valid_from := memory.read_item_time(item, 'valid_from', settings.time_zone, as_of);
  if target.id is null then
    v_plan.valid_to := memory.read_item_time(item, 'valid_to', settings.time_zone, as_of);
  else
    -- Another plan for the same time.
    v_plan.valid_from := coalesce(v_plan.valid_from, target.planned_for);
  end if;
  v_planned_for := memory.planned_for(v_plan.valid_from, as_of);
  v_plan.entity_id := coalesce(
    target.entity_id, memory.entity_of_name(run.tenant_id, v_plan.subject)
  );
  v_plan.object_entity_id := nullif(
    memory.entity_of_name(run.tenant_id, item ->> 'object'), v_plan.entity_id
  );

  -- What has ended already is history: it concerns nothing that holds.
  if v_plan.valid_to is null or v_plan.valid_to > as_of then
    v_predicate := memory.normalize_key(v_plan.predicate);
    -- A fact about an entity may be known by any of its names.
    v_names := array(
      select memory.spelling_key(v_plan.subject)
      union
      select memory.spelling_key(n.name)
      from memory.entities as e
      cross join lateral unnest(
        e.aliases || e.canonical_name::text
      ) as n (name)
      where e.tenant_id = run.tenant_id and e.id = v_plan.entity_id
    );
    -- Found first, read after that: joined, either arm could be searched for each fact of the tenant.
    v_known_ids := array(
      select f.id
      from memory.facts as f
      where f.tenant_id = run.tenant_id and f.subject_key = any (v_names)
        and f.entity_id is null and f.validity = 'active'
        and memory.normalize_key(f.predicate) = v_predicate
      union all
      select f.id
      from memory.facts as f
      where f.tenant_id = run.tenant_id and f.entity_id = v_plan.entity_id
        and f.validity = 'active'
        and memory.normalize_key(f.predicate) = v_predicate
    );
    for v_known in
      select f.*
      from memory.facts as f
      where f.tenant_id = run.tenant_id
        and f.id = any (v_known_ids)
        -- What is planned leaves alone what holds until then, and the other way round.
        and (
          f.planned_for is not distinct from v_planned_for
          or f.id = target.id and f.planned_for is not null
        )
        and case
          when v_scope is not null then f.scope = v_scope else f.scope in (run.butler, 'global')
        end
      order by
        f.id is not distinct from target.id desc, f.scope = run.butler desc,
        memory.are_same_words(f.content, v_plan.content) desc, f.entity_id is not null desc,
        f.observed_at desc, f.id
    loop
      if v_first.id is null then
        v_first := v_known;
        v_scope := v_known.scope;
        v_plan.predicate := v_known.predicate;
        v_plan.memory_id := v_known.id;
        v_plan.before := v_known.content;
        v_plan.is_trusted := memory.least_trust(v_known.trust, v_plan.trust) = v_known.trust;
        v_plan.outcome := 'fact superseded';
        if memory.are_same_words(v_known.content, v_plan.content) then
          v_plan.outcome := 'confirmed';
          exit;
        end if;
      elsif v_known.scope = v_scope then
        v_plan.other_ids := v_plan.other_ids || v_known.id;
      else
        continue;
      end if;
      v_plan.reason := coalesce(
        v_plan.reason,
        memory.reason_to_review(
          settings, v_known.metadata, v_known.permanence, v_known.trust, v_known.observed_at, v_plan
        )
      );
    end loop;
  end if;

  v_plan.scope := coalesce(v_scope, run.butler);
  v_plan.permanence := v_grades[least(
    coalesce(
      array_position(v_grades, item ->> 'permanence'),
      array_position(v_grades, coalesce(target.permanence, v_first.permanence)),
      3
    ),
    greatest(
      array_position(v_grades, settings.consolidation_max_permanence),
      -- Who accepts the correction of a permanent fact may keep it so.
      case when is_accepted then array_position(v_grades, v_first.permanence) end
    )
  )];
  v_plan.importance := coalesce(
    (item ->> 'importance')::float8, target.importance, v_first.importance, 5
  );
  v_plan.confidence := least(
    coalesce((item ->> 'confidence')::float8, 1), settings.consolidation_max_confidence
  );
  v_plan.valid_from := coalesce(
    v_plan.valid_from,
    least(v_plan.observed_at, v_plan.valid_to),
    as_of
  );
  -- Accepted although it is older than what is known.
  if is_accepted and item ->> 'valid_from' is null and v_first.valid_from <= as_of then
    v_plan.valid_from := greatest(v_plan.valid_from, v_first.valid_from);
  end if;
  perform
    memory.check_number('importance', v_plan.importance, 0, 10),
    memory.check_number('confidence', v_plan.confidence, 0, 1),
    memory.check_interval(v_plan.valid_from, v_plan.valid_to);
  return v_plan;
end;
$$;

comment on function memory.classify_fact(
  memory.consolidation_runs, memory.settings, memory.planned_action, jsonb, memory.facts, boolean,
  timestamptz
) is
'What a new fact, or another content for the fact target, would do. The subject is resolved to an '
'entity; active facts of that entity or of any of its names, whose predicate is equal by '
'memory.normalize_key, are the same fact: of the scope that is named, otherwise of the butler''s '
'and then of global. Errors: as memory.classify_action.';

create or replace function memory.classify_rule(
  run memory.consolidation_runs,
  settings memory.settings,
  plan memory.planned_action,
  item jsonb,
  target memory.rules
)
  returns memory.planned_action
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_plan memory.planned_action := plan;
  v_known memory.rules := target;
begin
  v_plan.memory_type := 'rule';
  v_plan.scope := memory.collapse_whitespace(coalesce(target.scope, item ->> 'scope', run.butler));
  v_plan.tags := case jsonb_typeof(item -> 'tags')
    when 'array' then item -> 'tags' else coalesce(target.tags, '[]')
  end;
  v_plan.importance := coalesce((item ->> 'importance')::float8, target.importance, 5);
  perform
    memory.check_tags(v_plan.tags), memory.check_number('importance', v_plan.importance, 0, 10);
  if v_plan.scope not in ('global', run.butler) and target.id is null then
    raise exception 'scope % does not belong to butler %',
      quote_literal(left(v_plan.scope, 128)), quote_literal(run.butler)
      using errcode = 'PM002', hint = 'Leave scope out, or pass global.';
  end if;

  if plan.action = 'withdrawn_rule' then
    v_plan.outcome := 'rule withdrawn';
    v_plan.content := target.content;
  else
    v_plan.content := item ->> 'content';
    perform memory.check_text('content', v_plan.content, 1048576);
    select r.* into v_known
    from memory.rules as r
    where r.tenant_id = run.tenant_id and r.lifecycle_state <> 'retracted'
      and r.scope in ('global', run.butler)
      and memory.are_same_words(r.content, v_plan.content)
    order by r.id is not distinct from target.id desc, r.created_at, r.id
    limit 1;
    if found then
      if v_known.id <> target.id then
        raise exception 'rule % says the same already', v_known.id
          using errcode = 'PM003', hint = 'Withdraw the one and confirm the other.';
      end if;
      v_plan.outcome := 'confirmed';
    elsif target.id is null then
      v_plan.outcome := 'rule created';
    else
      v_plan.outcome := 'rule changed';
      v_known := target;
    end if;
  end if;

  if v_known.id is not null then
    v_plan.memory_id := v_known.id;
    v_plan.before := v_known.content;
    v_plan.is_trusted := memory.least_trust(v_known.trust, v_plan.trust) = v_known.trust;
    if v_plan.outcome <> 'confirmed' then
      v_plan.reason := memory.reason_to_review(
        settings, v_known.metadata, v_known.permanence, v_known.trust, v_known.observed_at, v_plan
      );
    end if;
  end if;
  return v_plan;
end;
$$;

comment on function memory.classify_rule(
  memory.consolidation_runs, memory.settings, memory.planned_action, jsonb, memory.rules
) is
'What a new rule would do, or a change or withdrawal of the rule target. Errors: as '
'memory.classify_action.';

create or replace function memory.classify_confirmation(
  plan memory.planned_action,
  fact memory.facts,
  rule memory.rules
)
  returns memory.planned_action
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_plan memory.planned_action := plan;
  v_state text := coalesce(fact.lifecycle_state, rule.lifecycle_state);
begin
  v_plan.outcome := 'confirmed';
  v_plan.memory_type := case when fact.id is not null then 'fact' else 'rule' end;
  v_plan.memory_id := coalesce(fact.id, rule.id);
  v_plan.subject := fact.subject;
  v_plan.predicate := fact.predicate;
  v_plan.scope := coalesce(fact.scope, rule.scope);
  v_plan.content := coalesce(fact.content, rule.content);
  v_plan.before := v_plan.content;
  v_plan.is_trusted := memory.least_trust(
    coalesce(fact.trust, rule.trust), v_plan.trust
  ) = coalesce(fact.trust, rule.trust);
  if v_state not in ('active', 'fading') then
    raise exception '% % is % and cannot be confirmed',
      v_plan.memory_type, v_plan.memory_id, v_state
      using errcode = 'PM003', hint = 'Store it again if it still holds.';
  end if;
  if plan.observed_at is null
    and (
      coalesce(fact.permanence, rule.permanence) = 'permanent'
      or not memory.is_inferred(coalesce(fact.metadata, rule.metadata))
    )
  then
    raise exception '% % is stated or permanent, and its confirmation has no evidence',
      v_plan.memory_type, v_plan.memory_id
      using errcode = 'PM002', hint = 'Name the episodes that confirm it.';
  end if;
  return v_plan;
end;
$$;

comment on function memory.classify_confirmation(
  memory.planned_action, memory.facts, memory.rules
) is
'What the confirmation of a fact or rule would do. Errors: as memory.classify_action.';

create or replace function memory.classify_action(
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
declare
  v_plan memory.planned_action;
  v_is_accepted boolean := proposal.run_id is not null;
  v_is_bare boolean := action = 'confirmation' and jsonb_typeof(item) = 'string';
  v_target_id uuid;
  v_fact memory.facts;
  v_rule memory.rules;
begin
  if not v_is_bare and jsonb_typeof(item) is distinct from 'object' then
    raise exception '% is %', action, left(coalesce(item::text, 'NULL'), 100)
      using errcode = 'PM002', hint = 'Pass a JSON object.';
  end if;
  v_plan.action := action;
  v_plan.other_ids := '{}';
  v_plan.evidence := '{}';
  if v_is_accepted then
    -- Episodes may be gone; what they were is kept.
    select w.evidence, proposal.trust, proposal.observed_at
    into v_plan.evidence, v_plan.trust, v_plan.observed_at
    from memory.weigh_sources(run.tenant_id, proposal.evidence) as w;
  elsif not v_is_bare and (action <> 'confirmation' or item ? 'evidence') then
    select w.evidence, w.trust, w.observed_at
    into v_plan.evidence, v_plan.trust, v_plan.observed_at
    from memory.weigh_sources(run.tenant_id, memory.read_evidence(run, item)) as w;
    if v_plan.observed_at is null then
      raise exception 'the evidence has been deleted'
        using errcode = 'PM001', hint = 'Claim episodes again.';
    end if;
  end if;

  if action <> 'new_fact' and action <> 'new_rule' then
    v_target_id := (case when v_is_bare then item #>> '{}' else item ->> 'target_id' end)::uuid;
    if action in ('updated_fact', 'ended_fact', 'confirmation') then
      select f.* into v_fact
      from memory.facts as f
      where f.tenant_id = run.tenant_id and f.id = v_target_id
        and (f.source_butler = run.butler or f.scope in ('global', run.butler));
    end if;
    if action in ('changed_rule', 'withdrawn_rule', 'confirmation') then
      select r.* into v_rule
      from memory.rules as r
      where r.tenant_id = run.tenant_id and r.id = v_target_id
        and (r.source_butler = run.butler or r.scope in ('global', run.butler));
    end if;
    if v_fact.id is null and v_rule.id is null then
      raise exception 'no % has id %', case action
        when 'confirmation' then 'fact or rule'
        when 'updated_fact' then 'fact'
        when 'ended_fact' then 'fact'
        else 'rule'
      end, coalesce(v_target_id::text, 'NULL')
        using errcode = 'PM001', hint = 'Pass the id of a fact or rule in the prompt.';
    end if;
  end if;

  case
    when action = 'confirmation' then
      return memory.classify_confirmation(v_plan, v_fact, v_rule);
    when action in ('new_rule', 'changed_rule', 'withdrawn_rule') then
      if v_rule.lifecycle_state = 'retracted' then
        raise exception 'rule % is forgotten and no longer current', v_rule.id
          using errcode = 'PM003', hint = 'Store the rule as a new one if it holds.';
      end if;
      return memory.classify_rule(run, settings, v_plan, item, v_rule);
    when v_fact.id is not null and v_fact.validity <> 'active'
      -- Who accepts a correction corrects what holds by then.
      and (not v_is_accepted or action = 'ended_fact')
    then
      raise exception 'fact % is % and no longer current', v_fact.id, v_fact.validity
        using errcode = 'PM003', hint = 'Store the current content as a new fact.';
    when action <> 'ended_fact' then
      return memory.classify_fact(run, settings, v_plan, item, v_fact, v_is_accepted, as_of);
    else
      v_plan.outcome := 'fact ended';
      v_plan.memory_type := 'fact';
      v_plan.memory_id := v_fact.id;
      v_plan.before := v_fact.content;
      v_plan.subject := v_fact.subject;
      v_plan.predicate := v_fact.predicate;
      v_plan.scope := v_fact.scope;
      v_plan.content := v_fact.content;
      v_plan.entity_id := v_fact.entity_id;
      v_plan.valid_to := greatest(
        v_fact.valid_from,
        coalesce(
          memory.read_item_time(item, 'ended_at', settings.time_zone, as_of), v_plan.observed_at
        )
      );
      v_plan.reason := memory.reason_to_review(
        settings, v_fact.metadata, v_fact.permanence, v_fact.trust, v_fact.observed_at, v_plan
      );
      return v_plan;
  end case;
end;
$$;

comment on function memory.classify_action(
  memory.consolidation_runs, memory.settings, text, jsonb, memory.consolidation_proposals,
  timestamptz
) is
'What an element of an answer would do to which memory, and why it would wait for a review: the '
'one judgment by which elements are applied, previewed and accepted. It can only change what the '
'prompt of the butler may contain. With a proposal, which somebody accepts: the evidence is what '
'the proposal keeps of it, and a correction concerns what holds by then. Errors, of the element: '
'PM001 no such fact or rule, PM002 no evidence, evidence or scope of others, an invalid text, '
'number or time, PM003 no longer current; those of casts.';

commit;
