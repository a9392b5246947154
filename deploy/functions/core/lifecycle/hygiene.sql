-- Deploy pymem:functions/core/lifecycle/hygiene to pg

begin;

set local role memory_owner;

create or replace function memory.inverted_content(
  content text,
  reasons jsonb
)
  returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_reasons text := coalesce(
    (
      select string_agg(d.reason, '; ' order by d.ordinality)
      from (
        select distinct on (memory.fold_label(t.reason)) t.reason, a.ordinality
        from jsonb_array_elements_text(
          case jsonb_typeof(reasons) when 'array' then reasons else '[]' end
        ) with ordinality as a (reason, ordinality)
        cross join lateral (
          select rtrim(memory.collapse_whitespace(a.reason), ' .;') as reason
        ) as t
        where t.reason <> ''
        order by memory.fold_label(t.reason), a.ordinality
      ) as d
    ),
    'repeated failures'
  );
  v_head text := 'ANTI-PATTERN: Do NOT ';
  -- The sentence of the rule ends here, unless with another mark than a full stop.
  v_rule text := rtrim(inverted_content.content, E' .\t\n');
  v_tail text := case when v_rule ~ '[!?]$' then '' else '.' end
    || ' This caused problems because: ' || v_reasons;
begin
  return v_head
    || memory.truncate_utf8(v_rule, 1048576 - octet_length(v_head) - octet_length(v_tail))
    || v_tail;
end;
$$;

comment on function memory.inverted_content(text, jsonb) is
'The content of a rule turned into an anti-pattern: what not to do, and why. reasons is a JSON '
'array of texts, at most 512 KiB; one that repeats another is left out. Content that would exceed '
'1 MiB is truncated.';

create or replace function memory.run_rule_hygiene(as_of timestamptz default now())
  returns table (
    inverted bigint,
    promoted bigint
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_inverted uuid[];
  v_promoted uuid[];
begin
  perform memory.check_write_time('as_of', as_of);

  select
    array_agg(x.id) filter (where x.needs_inversion),
    array_agg(x.id) filter (where not x.needs_inversion)
  into v_inverted, v_promoted
  from (
    select r.id, r.metadata @> '{"needs_inversion": true}' as needs_inversion
    from memory.rules as r
    where r.tenant_id = v_tenant_id
      and r.lifecycle_state <> 'retracted'
      and r.maturity <> 'anti_pattern'
      and (
        r.metadata @> '{"needs_inversion": true}'
        or r.maturity = 'established'
        and memory.promoted_maturity(
          v_settings, r.maturity, r.success_count, r.effectiveness_score, r.created_at, as_of
        ) = 'proven'
      )
    order by r.id
    for no key update
  ) as x;

  update memory.rules as r
  set
    content = memory.inverted_content(r.content, r.metadata -> 'harmful_reasons'),
    maturity = 'anti_pattern',
    permanence = 'permanent',
    decay_rate = 0,
    updated_at = memory.next_state_at(r.updated_at, as_of),
    metadata = (r.metadata - '{needs_inversion,status}'::text []) || jsonb_build_object(
      'original_content', r.content,
      'inverted_from', jsonb_build_object(
        'maturity', r.maturity, 'permanence', r.permanence, 'decay_rate', r.decay_rate
      )
    )
  where r.tenant_id = v_tenant_id and r.id = any (v_inverted);
  update memory.rules as r
  set maturity = 'proven', updated_at = memory.next_state_at(r.updated_at, as_of)
  where r.tenant_id = v_tenant_id and r.id = any (v_promoted);

  inverted := coalesce(cardinality(v_inverted), 0)::bigint;
  promoted := coalesce(cardinality(v_promoted), 0)::bigint;
  return next;
end;
$$;

comment on function memory.run_rule_hygiene(timestamptz) is
'Inverts harmful rules and promotes proven ones: turns rules with metadata.needs_inversion into '
'anti-patterns, whose content warns against them, and promotes established rules whose '
'effectiveness and age suffice. An anti-pattern does not decay; its new content waits to be '
'embedded; the previous rule is kept in metadata.original_content and inverted_from, for '
'memory.revert_inversion. Returns how many of each. A second run changes nothing more. Errors: '
'PM002 invalid time.';
grant execute on function memory.run_rule_hygiene to memory_worker;

create or replace function memory.revert_inversion(
  rule_id uuid,
  as_of timestamptz default now()
)
  returns text
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_rule record;
begin
  perform memory.check_write_time('as_of', as_of);
  select r.lifecycle_state, r.maturity, r.metadata into v_rule
  from memory.rules as r
  where r.tenant_id = v_tenant_id and r.id = revert_inversion.rule_id
  for no key update;
  if not found then
    perform memory.refuse_unknown_rule(revert_inversion.rule_id);
  end if;
  if v_rule.lifecycle_state = 'retracted' then
    raise exception 'rule % is forgotten', revert_inversion.rule_id
      using errcode = 'PM003', hint = 'Store it again if it is right after all.';
  end if;
  if v_rule.maturity <> 'anti_pattern'
    or not v_rule.metadata ?& '{original_content,inverted_from}'
  then
    raise exception 'rule % was not inverted', revert_inversion.rule_id
      using errcode = 'PM003',
        hint = 'Only an anti-pattern created by memory.run_rule_hygiene can be reverted to a rule.';
  end if;
  perform memory.check_after_creation(v_tenant_id, 'rule', revert_inversion.rule_id, as_of);

  update memory.rules as r
  set
    content = r.metadata ->> 'original_content',
    maturity = r.metadata -> 'inverted_from' ->> 'maturity',
    permanence = r.metadata -> 'inverted_from' ->> 'permanence',
    decay_rate = (r.metadata -> 'inverted_from' ->> 'decay_rate')::float8,
    last_confirmed_at = greatest(r.last_confirmed_at, as_of),
    updated_at = memory.next_state_at(r.updated_at, as_of),
    metadata = r.metadata - '{original_content,inverted_from}'::text []
  where r.tenant_id = v_tenant_id and r.id = revert_inversion.rule_id;
  return v_rule.metadata -> 'inverted_from' ->> 'maturity';
end;
$$;

comment on function memory.revert_inversion(uuid, timestamptz) is
'Turns an anti-pattern back into the rule it was: content, maturity, permanence and decay, which '
'starts at as_of because this counts as a confirmation. Its counts stay, so the next harmful mark '
'may flag it again. Returns its maturity. Errors: PM001 no such rule, PM002 invalid time, PM003 '
'forgotten or not inverted.';
grant execute on function memory.revert_inversion to memory_admin;

commit;
