-- Deploy pymem:functions/core/lifecycle/rules to pg

begin;

set local role memory_owner;

create or replace function memory.check_application()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_rule record;
begin
  if memory.is_restoring() then
    return new;
  end if;
  -- Locks the rule first, so that concurrent marks of a rule are counted one after another.
  select r.lifecycle_state, r.maturity into v_rule
  from memory.rules as r
  where r.tenant_id = new.tenant_id and r.id = new.rule_id
  for no key update;
  if not found then
    perform memory.refuse_unknown_rule(new.rule_id);
  end if;
  if v_rule.lifecycle_state = 'retracted' then
    raise exception 'rule % is forgotten and cannot be marked', new.rule_id
      using errcode = 'PM003', hint = 'Store it again if it is right after all.';
  end if;
  if v_rule.maturity = 'anti_pattern' then
    raise exception 'rule % is an anti-pattern and cannot be marked', new.rule_id
      using errcode = 'PM003',
        hint = 'Turn it back into a rule with memory.revert_inversion(rule_id).';
  end if;
  perform memory.check_after_creation(new.tenant_id, 'rule', new.rule_id, new.created_at);
  return new;
end;
$$;

comment on function memory.check_application() is
'Trigger: only a live rule that is not an anti-pattern can be applied, and not before it was '
'created. Errors: PM001 no such rule, PM002 before its creation, PM003 forgotten or an '
'anti-pattern.';

create or replace function memory.count_application()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_settings memory.settings;
  v_rule memory.rules;
begin
  if new.outcome = 'skipped' or memory.is_restoring() then
    return null;
  end if;
  select s.* into v_settings from memory.settings as s where s.tenant_id = new.tenant_id;
  if not found then
    v_settings := memory.default_settings(new.tenant_id);
  end if;
  select r.* into v_rule
  from memory.rules as r
  where r.tenant_id = new.tenant_id and r.id = new.rule_id;

  v_rule.applied_count := v_rule.applied_count + 1;
  v_rule.last_applied_at := greatest(v_rule.last_applied_at, new.created_at);
  v_rule.last_evaluated_at := greatest(v_rule.last_evaluated_at, new.created_at);

  if new.outcome = 'helpful' then
    v_rule.success_count := v_rule.success_count + 1;
    v_rule.effectiveness_score := case v_settings.rule_effectiveness
      when 'by_outcome' then v_rule.success_count::float8 / v_rule.applied_count
      else memory.asymmetric_score(v_rule.success_count, v_rule.harmful_count)
    end;
    v_rule.maturity := memory.promoted_maturity(
      v_settings, v_rule.maturity, v_rule.success_count, v_rule.effectiveness_score,
      v_rule.created_at, new.created_at
    );
    if v_settings.rule_helpful_confirms then
      v_rule.last_confirmed_at := greatest(v_rule.last_confirmed_at, new.created_at);
      if v_rule.confidence >= v_settings.fading_threshold then
        v_rule.metadata := v_rule.metadata - 'status';
      end if;
    end if;
  elsif new.outcome = 'harmful' then
    v_rule.harmful_count := v_rule.harmful_count + 1;
    v_rule.effectiveness_score := memory.asymmetric_score(
      v_rule.success_count, v_rule.harmful_count
    );
    v_rule.maturity := memory.demoted_maturity(
      v_settings, v_rule.maturity, v_rule.effectiveness_score
    );
    if new.reason is not null then
      v_rule.metadata := jsonb_set(
        v_rule.metadata, '{harmful_reasons}',
        jsonb_path_query_array(
          coalesce(v_rule.metadata -> 'harmful_reasons', '[]') || to_jsonb(new.reason),
          '$[last - 19 to last]'
        )
      );
    end if;
  end if;

  if new.outcome <> 'neutral' then
    v_rule.metadata := case
      when v_rule.harmful_count >= v_settings.rule_inversion_harms
        and v_rule.effectiveness_score < v_settings.rule_inversion_effectiveness
      then v_rule.metadata || '{"needs_inversion": true}'
      else v_rule.metadata - 'needs_inversion'
    end;
  end if;

  update memory.rules as r
  set
    applied_count = v_rule.applied_count,
    success_count = v_rule.success_count,
    harmful_count = v_rule.harmful_count,
    effectiveness_score = v_rule.effectiveness_score,
    maturity = v_rule.maturity,
    last_applied_at = v_rule.last_applied_at,
    last_evaluated_at = v_rule.last_evaluated_at,
    last_confirmed_at = v_rule.last_confirmed_at,
    updated_at = memory.next_state_at(r.updated_at, new.created_at),
    metadata = v_rule.metadata
  where r.tenant_id = new.tenant_id and r.id = new.rule_id;
  return null;
end;
$$;

comment on function memory.count_application() is
'Trigger: counts an application of a rule, updates the effectiveness and moves the maturity by at '
'most one step. If harm prevails, flags the rule (metadata.needs_inversion) for '
'memory.run_rule_hygiene; removes the flag once a helpful mark raises the effectiveness enough.';

create or replace function memory.promoted_maturity(
  settings memory.settings,
  maturity text,
  success_count bigint,
  effectiveness_score float8,
  created_at timestamptz,
  as_of timestamptz default now()
)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when maturity = 'candidate'
      and success_count >= (settings).rule_established_successes
      and effectiveness_score >= (settings).rule_established_effectiveness
    then 'established'
    when maturity = 'established'
      and success_count >= (settings).rule_proven_successes
      and effectiveness_score >= (settings).rule_proven_effectiveness
      and memory.days_between(created_at, as_of) >= (settings).rule_proven_age_days
    then 'proven'
    else maturity
  end;

comment on function memory.promoted_maturity(
  memory.settings, text, bigint, float8, timestamptz, timestamptz
) is
'The maturity after at most one promotion: established after 5 successes with an effectiveness of '
'0.6, proven after 15 with 0.8 at an age of 30 days; these are the defaults of the settings.';

create or replace function memory.demoted_maturity(
  settings memory.settings,
  maturity text,
  effectiveness_score float8
)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when maturity = 'proven' and effectiveness_score < (settings).rule_proven_effectiveness
    then 'established'
    when maturity = 'established'
      and effectiveness_score < (settings).rule_established_effectiveness
    then 'candidate'
    else maturity
  end;

comment on function memory.demoted_maturity(memory.settings, text, float8) is
'The maturity after a harmful mark: one step down if the effectiveness is below the minimum of the '
'current maturity.';

create or replace function memory.mark_rule(
  rule_id uuid,
  outcome text,
  reason text,
  context jsonb,
  as_of timestamptz
)
  returns table (
    id uuid,
    maturity text,
    effectiveness_score float8,
    asymmetric_score float8,
    applied_count integer,
    success_count integer,
    harmful_count integer,
    needs_inversion boolean
  )
  language plpgsql
  volatile
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  perform memory.check_write_time('as_of', as_of), memory.check_object('context', mark_rule.context);
  if mark_rule.reason is not null then
    perform memory.check_text('reason', mark_rule.reason, 1024);
  end if;

  insert into memory.rule_applications (tenant_id, rule_id, outcome, reason, context, created_at)
  values (
    v_tenant_id, mark_rule.rule_id, mark_rule.outcome, mark_rule.reason, mark_rule.context, as_of
  );

  return query
  select
    r.id, r.maturity, r.effectiveness_score, r.asymmetric_score, r.applied_count,
    r.success_count, r.harmful_count, r.metadata @> '{"needs_inversion": true}'
  from memory.rules as r
  where r.tenant_id = v_tenant_id and r.id = mark_rule.rule_id;
end;
$$;

comment on function memory.mark_rule(uuid, text, text, jsonb, timestamptz) is
'Records an application of a rule; the triggers of memory.rule_applications do the rest. Returns '
'the updated rule. Errors: PM001, PM002, PM003.';

create or replace function memory.mark_helpful(
  rule_id uuid,
  context jsonb default '{}',
  as_of timestamptz default now()
)
  returns table (
    id uuid,
    maturity text,
    effectiveness_score float8,
    asymmetric_score float8,
    applied_count integer,
    success_count integer,
    harmful_count integer,
    needs_inversion boolean
  )
  language sql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select m.* from memory.mark_rule(rule_id, 'helpful', null, context, as_of) as m;
$$;

comment on function memory.mark_helpful(uuid, jsonb, timestamptz) is
'Records that a rule was applied and helped: counts it, sets its effectiveness to success / '
'applied, and may promote it by one step: to established after 5 successes with 0.6, to proven '
'after 15 with 0.8 at an age of 30 days (settings). context is a JSON object stored with the '
'application. Returns the updated rule. Errors: PM001 no such rule, PM002 invalid argument or a '
'time before its creation, PM003 forgotten or an anti-pattern.';
grant execute on function memory.mark_helpful to memory_writer;

create or replace function memory.mark_harmful(
  rule_id uuid,
  reason text default null,
  context jsonb default '{}',
  as_of timestamptz default now()
)
  returns table (
    id uuid,
    maturity text,
    effectiveness_score float8,
    asymmetric_score float8,
    applied_count integer,
    success_count integer,
    harmful_count integer,
    needs_inversion boolean
  )
  language sql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select m.* from memory.mark_rule(rule_id, 'harmful', reason, context, as_of) as m;
$$;

comment on function memory.mark_harmful(uuid, text, jsonb, timestamptz) is
'Records that a rule was applied and did harm: counts it, sets its effectiveness to success / '
'(success + 4 harmful + 0.01), and demotes it by one step if that is below the minimum of its '
'maturity. The reason (at most 1 KiB) is added to metadata.harmful_reasons, which keeps the newest '
'20. After 3 harmful marks with an effectiveness below 0.3 (settings) the next '
'memory.run_rule_hygiene turns the rule into an anti-pattern. Returns the updated rule. Errors: '
'PM001 no such rule, PM002 invalid argument or a time before its creation, PM003 forgotten or an '
'anti-pattern.';
grant execute on function memory.mark_harmful to memory_writer;

create or replace function memory.replace_rule(
  rule_id uuid,
  content text,
  tags jsonb default null,
  importance float8 default null,
  confidence float8 default 0.5,
  embedding vector default null,
  embedding_version_id uuid default null,
  idempotency_key text default null,
  as_of timestamptz default now()
)
  returns uuid
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_rule memory.rules;
  v_id uuid;
begin
  perform memory.check_write_time('as_of', as_of);
  select r.* into v_rule
  from memory.rules as r
  where r.tenant_id = v_tenant_id and r.id = replace_rule.rule_id;
  if not found then
    perform memory.refuse_unknown_rule(replace_rule.rule_id);
  end if;
  v_id := memory.store_rule(
    content,
    scope => v_rule.scope,
    tags => coalesce(replace_rule.tags, v_rule.tags),
    confidence => replace_rule.confidence,
    importance => coalesce(replace_rule.importance, v_rule.importance),
    source_butler => v_rule.source_butler,
    embedding => replace_rule.embedding,
    embedding_version_id => replace_rule.embedding_version_id,
    idempotency_key => replace_rule.idempotency_key,
    as_of => replace_rule.as_of
  );
  if exists (
    select
    from memory.memory_links as l
    where l.tenant_id = v_tenant_id and l.source_type = 'rule' and l.source_id = v_id
      and l.target_type = 'rule' and l.target_id = v_rule.id and l.relation = 'supersedes'
  ) then
    return v_id; -- the same key again
  elsif v_id = v_rule.id then
    perform memory.refuse_reused_key(replace_rule.idempotency_key);
  elsif memory.lock_memory(v_tenant_id, 'rule', v_rule.id) = 'retracted' then
    raise exception 'rule % is forgotten and cannot be replaced', v_rule.id
      using errcode = 'PM003', hint = 'Store the new rule with memory.store_rule.';
  end if;
  perform memory.check_after_creation(v_tenant_id, 'rule', v_rule.id, as_of);
  insert into memory.memory_links
    (tenant_id, source_type, source_id, target_type, target_id, relation)
  values (v_tenant_id, 'rule', v_id, 'rule', v_rule.id, 'supersedes');
  perform memory.hide_memory(v_tenant_id, 'rule', v_rule.id, as_of);
  return v_id;
end;
$$;

comment on function memory.replace_rule(
  uuid, text, jsonb, float8, float8, vector, uuid, text, timestamptz
) is
'Stores a rule that says something else instead of one that is there, and returns its id. The new '
'rule starts as a candidate, in the same scope, by default with the same tags and importance; the '
'old one is forgotten, and linked as superseded. Again with the same idempotency_key, returns the '
'same id. Errors: PM001 no such rule, PM002 invalid argument, PM003 it is forgotten, PM004 key '
'used for another rule.';
grant execute on function memory.replace_rule to memory_writer;

commit;
