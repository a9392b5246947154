begin;
\ir fixtures.sql
select plan(103);

-- A rule created on 1 January and marked on 2 January: + helpful, - harmful, 0 neutral, / skipped.
create function memory_test.a_rule(
  outcomes text,
  content text default 'Ask first'
)
  returns uuid
  language plpgsql
as $$
declare
  v_id uuid := memory.store_rule(content, as_of => '2026-01-01Z');
begin
  perform memory_test.mark(v_id, outcomes, '2026-01-02Z');
  return v_id;
end;
$$;

create function memory_test.mark(
  rule_id uuid,
  outcomes text,
  as_of timestamptz
)
  returns void
  language plpgsql
as $$
declare
  v_outcome text;
begin
  foreach v_outcome in array string_to_array(outcomes, null) loop
    case v_outcome
      when '+' then perform memory.mark_helpful(rule_id, as_of => as_of);
      when '-' then perform memory.mark_harmful(rule_id, as_of => as_of);
      else
        insert into memory.rule_applications (tenant_id, rule_id, outcome, created_at)
        values ('a', mark.rule_id, case v_outcome when '0' then 'neutral' else 'skipped' end, as_of);
    end case;
  end loop;
end;
$$;

-- Maturity, effectiveness to three places, applied/success/harmful, and ! if due for inversion.
create function memory_test.standing(rule_id uuid)
  returns text
  language sql
  stable
  return (
    select concat_ws(
      ' ', r.maturity, round(r.effectiveness_score::numeric, 3),
      concat_ws('/', r.applied_count, r.success_count, r.harmful_count),
      case when r.metadata @> '{"needs_inversion": true}' then '!' end
    )
    from memory.rules as r where r.id = rule_id
  );

create function memory_test.standing_after(outcomes text)
  returns text
  language plpgsql
as $$
declare
  v_id uuid := memory_test.a_rule(outcomes);
begin
  return memory_test.standing(v_id);
end;
$$;

-- The whole error of a statement, every id replaced by <id>.
create function memory_test.error_of(statement text)
  returns text
  language plpgsql
as $$
declare
  v_hint text;
begin
  execute statement;
  return 'none';
exception
  when others then
    get stacked diagnostics v_hint = pg_exception_hint;
    return regexp_replace(
      concat_ws(' | ', sqlstate, sqlerrm, v_hint),
      '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', '<id>', 'g'
    );
end;
$$;

-- Counts and effectiveness

select is(memory_test.standing_after(o.outcomes), o.standing, o.description)
from (values
  (1, '', 'candidate 0.000 0/0/0', 'a new rule is a candidate without outcomes'),
  (2, '+', 'candidate 1.000 1/1/0', 'a helpful mark counts as an application and a success'),
  (3, '-', 'candidate 0.000 1/0/1', 'a harmful mark counts as an application and a harm'),
  (4, '0', 'candidate 0.000 1/0/0', 'a neutral application only counts as an application'),
  (5, '/', 'candidate 0.000 0/0/0', 'a skipped application does not count'),
  (6, '+0+', 'candidate 0.667 3/2/0', 'after a helpful mark the effectiveness is success / applied'),
  (7, '+-', 'candidate 0.200 2/1/1',
    'after a harmful mark the effectiveness is success / (success + 4 harmful + 0.01)'),
  (
    8, '+-+', 'candidate 0.667 3/2/1',
    'after another helpful mark the effectiveness is success / applied again'
  ),
  (9, '+-0', 'candidate 0.200 3/1/1', 'a neutral application does not change the effectiveness'),
  (10, '++++++++++--', 'candidate 0.555 12/10/2', 'ten helpful and two harmful outcomes give 0.555'),
  (
    11, '++++++++++--+', 'established 0.846 13/11/2',
    'one more helpful mark lifts an effectiveness of 0.555 to 0.846'
  )
) as o (position, outcomes, standing, description)
order by o.position;

select results_eq(
  $$ select r.success_count, r.harmful_count, r.asymmetric_score
     from memory.rules as r where r.applied_count = 13 $$,
  $$ values (11, 2, 11 / 19.01::float8) $$,
  'the asymmetric score stays low after one more helpful mark'
);
select is_empty(
  $$ select r.id from memory.rules as r
     where r.asymmetric_score
       is distinct from memory.asymmetric_score(r.success_count, r.harmful_count) $$,
  'the column and the function of the asymmetric score agree'
);
select is(
  array[
    memory.asymmetric_score(0, 0), memory.asymmetric_score(0, 5),
    round(memory.asymmetric_score(10, 2)::numeric, 4)::float8,
    memory.asymmetric_score(9000000000000000000, 9000000000000000000)
  ],
  array[0, 0, 0.5552, 0.2]::float8[], 'the asymmetric score follows the formula without overflow'
);
select results_eq(
  format(
    $$ select m.* from memory.mark_helpful(%L, as_of => '2026-01-03Z') as m $$,
    memory_test.a_rule('++-', 'returned')
  ),
  $$ select r.id, 'candidate', 0.75::float8, 3 / 7.01::float8, 4, 3, 1, false
     from memory.rules as r where r.content = 'returned' $$,
  'mark_helpful returns the state of the rule after the mark'
);
select results_eq(
  format(
    $$ select m.harmful_count, m.effectiveness_score, m.asymmetric_score, m.needs_inversion
       from memory.mark_harmful(%L, as_of => '2026-01-03Z') as m $$,
    memory_test.a_rule('--')
  ),
  $$ values (3, 0.0::float8, 0.0::float8, true) $$,
  'mark_harmful returns the state of the rule after the mark'
);

-- Times

select memory_test.a_rule('') as timed_id \gset
select memory.mark_helpful(:'timed_id', as_of => '2026-02-01Z') \g /dev/null
select results_eq(
  format(
    $$ select r.last_applied_at, r.last_evaluated_at, r.last_confirmed_at from memory.rules as r
       where r.id = %L $$,
    :'timed_id'
  ),
  $$ values ('2026-02-01Z'::timestamptz, '2026-02-01Z'::timestamptz, '2026-01-01Z'::timestamptz) $$,
  'a mark records when the rule was applied and evaluated and does not confirm it'
);
select memory.mark_harmful(:'timed_id', as_of => '2026-01-15Z') \g /dev/null
select results_eq(
  format(
    $$ select r.applied_count, r.last_applied_at, r.last_evaluated_at from memory.rules as r
       where r.id = %L $$,
    :'timed_id'
  ),
  $$ values (2, '2026-02-01Z'::timestamptz, '2026-02-01Z'::timestamptz) $$,
  'a late mark counts and moves no time backwards'
);
select memory.mark_helpful(:'timed_id') \g /dev/null
select is(
  (select r.last_applied_at from memory.rules as r where r.id = :'timed_id'), now(),
  'a mark without a time is dated now'
);
select lives_ok(
  format($$ select memory.mark_helpful(%L, as_of => '2026-01-01Z') $$, :'timed_id'),
  'a rule can be applied at the moment of its creation'
);

-- Applications

select memory_test.a_rule('') as applied_id \gset
select memory.mark_helpful(:'applied_id', '{"session": 7}', '2026-01-03Z') \g /dev/null
select memory.mark_harmful(:'applied_id', 'It was late', '{"session": 8}', '2026-01-04Z') \g /dev/null
select memory.mark_harmful(:'applied_id', as_of => '2026-01-05Z') \g /dev/null
select results_eq(
  format(
    $$ select a.outcome, a.reason, a.context, a.created_at from memory.rule_applications as a
       where a.rule_id = %L order by a.created_at $$,
    :'applied_id'
  ),
  $$ values
     ('helpful', null, '{"session": 7}'::jsonb, '2026-01-03Z'::timestamptz),
     ('harmful', 'It was late', '{"session": 8}', '2026-01-04Z'),
     ('harmful', null, '{}', '2026-01-05Z') $$,
  'each mark stores an application with its outcome, reason, context and time'
);
select is_empty(
  $$ select r.id, r.applied_count, r.success_count, r.harmful_count
     from memory.rules as r
     left join memory.rule_applications as a on a.tenant_id = r.tenant_id and a.rule_id = r.id
     group by r.tenant_id, r.id
     having (r.applied_count, r.success_count, r.harmful_count) is distinct from (
       (count(a.id) filter (where a.outcome <> 'skipped'))::integer,
       (count(a.id) filter (where a.outcome = 'helpful'))::integer,
       (count(a.id) filter (where a.outcome = 'harmful'))::integer
     ) $$,
  'the counts of every rule match its applications'
);
select is(
  memory_test.events_of(:'applied_id'), '{rule_created,rule_helpful,rule_harmful,rule_harmful}',
  'a mark writes only its own event'
);
select is_empty(
  $$ select e.payload from memory.memory_events as e where e.event_type in ('rule_helpful', 'rule_harmful')
       and (select array_agg(k) from jsonb_object_keys(e.payload) as k) <> '{rule_application_id}' $$,
  'the event of a mark names the application and holds none of its text'
);

-- Promotion

select is(memory_test.standing_after(o.outcomes), o.standing, o.description)
from (values
  (1, '++++', 'candidate 1.000 4/4/0', 'four successes do not make a rule established'),
  (2, '+++++', 'established 1.000 5/5/0', 'the fifth success makes a rule established'),
  (
    3, '0000++++++', 'established 0.600 10/6/0',
    'a rule with an effectiveness of 0.6 becomes established'
  ),
  (
    4, '0000+++++', 'candidate 0.556 9/5/0',
    'a rule with an effectiveness below 0.6 stays a candidate'
  ),
  (
    5, '----------++++++++++++++', 'candidate 0.583 24/14/10',
    'many successes do not outweigh an effectiveness below 0.6'
  ),
  (6, '++++++++++++++++++++', 'established 1.000 20/20/0', 'a young rule does not become proven'),
  (7, '+++++0-', 'candidate 0.555 7/5/1', 'a harmful mark can demote an established rule')
) as o (position, outcomes, standing, description)
order by o.position;
select memory_test.a_rule('+++++++++++++++') as promoted_id \gset
select memory_test.mark(:'promoted_id', '+', '2026-01-30T23:59:59Z');
select is(
  memory_test.standing(:'promoted_id'), 'established 1.000 16/16/0',
  'a rule with fifteen successes is not proven a second before it is thirty days old'
);
select memory_test.mark(:'promoted_id', '+', '2026-01-31T00:00:00Z');
select is(
  memory_test.standing(:'promoted_id'), 'proven 1.000 17/17/0',
  'a helpful mark after thirty days makes a rule proven'
);
select is(
  (memory_test.events_of(:'promoted_id'))[6:8] || (memory_test.events_of(:'promoted_id'))[18:],
  '{rule_helpful,rule_promoted,rule_helpful,rule_helpful,rule_helpful,rule_promoted}',
  'each promotion writes an event after that of the mark'
);
select memory_test.a_rule('++++++++++++++') as fourteen_id \gset
select is(
  memory_test.standing(:'fourteen_id'), 'established 1.000 14/14/0',
  'a rule with fourteen successes is established'
);
update memory.rules as r set success_count = 13, applied_count = 13 where r.id = :'fourteen_id';
select memory_test.mark(:'fourteen_id', '+', '2026-03-01Z');
select is(
  memory_test.standing(:'fourteen_id'), 'established 1.000 14/14/0',
  'fourteen successes do not make an old rule proven'
);
select memory_test.mark(:'fourteen_id', '+', '2026-03-01Z');
select is(
  memory_test.standing(:'fourteen_id'), 'proven 1.000 15/15/0',
  'the fifteenth success makes an old rule proven'
);
select memory_test.a_rule('') as diluted_id \gset
update memory.rules as r
set maturity = 'established', success_count = 20, applied_count = 26
where r.id = :'diluted_id';
select memory_test.mark(:'diluted_id', '+', '2026-03-01Z');
select is(
  memory_test.standing(:'diluted_id'), 'established 0.778 27/21/0',
  'a rule with an effectiveness below 0.8 does not become proven'
);
select memory_test.mark(:'diluted_id', '+++', '2026-03-01Z');
select is(
  memory_test.standing(:'diluted_id'), 'proven 0.800 30/24/0',
  'a rule with an effectiveness of 0.8 becomes proven'
);
select memory_test.a_rule('') as imported_id \gset
update memory.rules as r set success_count = 50, applied_count = 50 where r.id = :'imported_id';
select memory_test.mark(:'imported_id', '+', '2026-03-01Z');
select is(
  memory_test.standing(:'imported_id'), 'established 1.000 51/51/0',
  'a mark promotes a rule by one step, even if it has earned two'
);
select memory_test.mark(:'imported_id', '+', '2026-03-01Z');
select is(
  memory_test.standing(:'imported_id'), 'proven 1.000 52/52/0',
  'the next mark promotes a rule by the second step'
);

-- Demotion

select memory_test.mark(:'imported_id', '---', '2026-03-02Z');
select is(
  memory_test.standing(:'imported_id'), 'proven 0.812 55/52/3',
  'a harmful mark does not demote a proven rule with an effectiveness of 0.8 or more'
);
select memory_test.mark(:'imported_id', '-', '2026-03-02Z');
select is(
  memory_test.standing(:'imported_id'), 'established 0.765 56/52/4',
  'a harmful mark demotes a proven rule with an effectiveness below 0.8'
);
select memory_test.mark(:'imported_id', '----', '2026-03-02Z');
select is(
  memory_test.standing(:'imported_id'), 'established 0.619 60/52/8',
  'a harmful mark does not demote an established rule with an effectiveness of 0.6 or more'
);
select memory_test.mark(:'imported_id', '-', '2026-03-02Z');
select is(
  memory_test.standing(:'imported_id'), 'candidate 0.591 61/52/9',
  'a harmful mark demotes an established rule with an effectiveness below 0.6'
);
select is(
  (select count(*) from unnest(memory_test.events_of(:'imported_id')) as e (type)
   where e.type = 'rule_demoted'),
  2::bigint, 'each demotion writes an event'
);
select memory_test.a_rule('') as fallen_id \gset
update memory.rules as r set maturity = 'established' where r.id = :'fallen_id';
update memory.rules as r
set maturity = 'proven', success_count = 1, applied_count = 1
where r.id = :'fallen_id';
select memory_test.mark(:'fallen_id', '-', '2026-03-02Z');
select is(
  memory_test.standing(:'fallen_id'), 'established 0.200 2/1/1',
  'a mark demotes a rule by one step, even if its effectiveness is far lower'
);
select memory_test.mark(:'fallen_id', '0', '2026-03-02Z');
select is(
  memory_test.standing(:'fallen_id'), 'established 0.200 3/1/1',
  'a neutral application does not demote a rule'
);
update memory.rules as r set maturity = 'established', success_count = 1, applied_count = 9
where r.id = :'fallen_id';
select memory_test.mark(:'fallen_id', '+', '2026-03-02Z');
select is(
  memory_test.standing(:'fallen_id'), 'established 0.200 10/2/1',
  'a helpful mark does not demote a rule'
);

select is(
  array[
    memory.demoted_maturity(s, 'proven', 0.8), memory.demoted_maturity(s, 'proven', 0.7999999999999999),
    memory.demoted_maturity(s, 'established', 0.6), memory.demoted_maturity(s, 'established', 0.5999999999999999),
    memory.demoted_maturity(s, 'candidate', 0), memory.demoted_maturity(s, 'anti_pattern', 0)
  ],
  '{proven,established,established,candidate,candidate,anti_pattern}'::text[],
  'the effectiveness that promotes a rule keeps it there, and a candidate cannot fall'
)
from memory.default_settings('a') as s;

-- Rules that are due for inversion

select is(memory_test.standing_after(o.outcomes), o.standing, o.description)
from (values
  (1, '--', 'candidate 0.000 2/0/2', 'two harmful marks do not flag a rule for inversion'),
  (2, '---', 'candidate 0.000 3/0/3 !', 'three harmful marks flag a rule for inversion'),
  (
    3, '+++++---', 'candidate 0.294 8/5/3 !',
    'an effectiveness below 0.3 flags a rule for inversion'
  ),
  (4, '++++++---', 'candidate 0.333 9/6/3', 'an effectiveness above 0.3 does not flag a rule'),
  (
    5, '---+', 'candidate 0.250 4/1/3 !',
    'a helpful mark to an effectiveness below 0.3 keeps the flag'
  ),
  (6, '---0/', 'candidate 0.000 4/0/3 !', 'a neutral or skipped application keeps the flag'),
  (
    7, '---++', 'candidate 0.400 5/2/3',
    'a helpful mark to an effectiveness above 0.3 removes the flag'
  ),
  (8, '---++-', 'candidate 0.111 6/2/4 !', 'another harmful mark sets the flag again')
) as o (position, outcomes, standing, description)
order by o.position;
select memory_test.a_rule('') as unmarked_id \gset
update memory.rules as r set harmful_count = 3, applied_count = 3 where r.id = :'unmarked_id';
select memory_test.mark(:'unmarked_id', '0', '2026-01-02Z');
select is(
  memory_test.standing(:'unmarked_id'), 'candidate 0.000 4/0/3',
  'a neutral application does not flag an imported rule with harm'
);
select memory_test.a_rule('---') as flagged_id \gset
select is(
  memory_test.events_of(:'flagged_id'), '{rule_created,rule_harmful,rule_harmful,rule_harmful}',
  'the inversion flag writes no event but that of the harmful mark'
);

-- Reasons

select memory_test.a_rule('') as reasoned_id \gset
select memory.mark_harmful(:'reasoned_id', 'first') \g /dev/null
select memory.mark_harmful(:'reasoned_id') \g /dev/null
select memory.mark_harmful(:'reasoned_id', 'second') \g /dev/null
select is(
  (select r.metadata -> 'harmful_reasons' from memory.rules as r where r.id = :'reasoned_id'),
  '["first", "second"]', 'harmful reasons are kept in order'
);
do $$
begin
  for i in 1 .. 30 loop
    perform memory.mark_harmful(r.id, 'reason ' || i)
    from memory.rules as r where r.metadata -> 'harmful_reasons' ->> 0 in ('first', 'second')
      or r.metadata -> 'harmful_reasons' ->> 0 like 'reason%';
  end loop;
end;
$$;
select is(
  (
    select jsonb_array_length(r.metadata -> 'harmful_reasons') || ' '
      || (r.metadata -> 'harmful_reasons' ->> 0) || ' ' || (r.metadata -> 'harmful_reasons' ->> 19)
    from memory.rules as r where r.id = :'reasoned_id'
  ),
  '20 reason 11 reason 30', 'only the newest twenty reasons are kept with the rule'
);
select is(
  (select count(*) from memory.rule_applications as a
   where a.rule_id = :'reasoned_id' and a.reason is not null),
  32::bigint, 'every reason stays with its application'
);
select memory.store_rule(
  'Full', metadata => jsonb_build_object('k', repeat('x', 65500)), as_of => '2026-01-01Z'
) as full_id \gset
select lives_ok(
  format($$ select memory.mark_harmful(%L, 'x' || repeat(E'\x01', 1023)) from generate_series(1, 20) $$, :'full_id'),
  'reasons fit next to the most metadata that a caller may store'
);
select throws_ok(
  format($$ update memory.rules as r set metadata = r.metadata || jsonb_build_object('l', repeat('y', 1024))
            where r.id = %L $$, :'full_id'),
  '23514', null, 'reserved room for reasons is not available to other metadata'
);

-- Settings

select memory.configure('{"rule_effectiveness": "asymmetric"}') \g /dev/null
select is(
  memory_test.standing_after('++++++++++--+'), 'candidate 0.579 13/11/2',
  'the asymmetric score can be the effectiveness after every mark'
);
select memory.configure('{"rule_effectiveness": "by_outcome", "rule_helpful_confirms": true}') \g /dev/null
select memory_test.a_rule('') as confirmed_id \gset
update memory.rules as r set metadata = '{"status": "fading"}' where r.id = :'confirmed_id';
select memory_test.mark(:'confirmed_id', '-', '2026-02-01Z');
select is(
  (select r.last_confirmed_at::text || r.lifecycle_state from memory.rules as r where r.id = :'confirmed_id'),
  '2026-01-01Z'::timestamptz::text || 'fading', 'a harmful mark does not confirm a rule'
);
select memory_test.mark(:'confirmed_id', '+', '2026-02-01Z');
select is(
  (select r.last_confirmed_at::text || r.lifecycle_state from memory.rules as r where r.id = :'confirmed_id'),
  '2026-02-01Z'::timestamptz::text || 'active',
  'a helpful mark confirms a rule if the setting says so'
);
select is(
  (memory_test.events_of(:'confirmed_id'))[4:], '{rule_helpful,rule_confirmed,rule_recovered}',
  'a confirming helpful mark writes an event of the confirmation'
);
select memory_test.mark(:'confirmed_id', '+', '2026-01-15Z');
select is(
  (select r.last_confirmed_at from memory.rules as r where r.id = :'confirmed_id'), '2026-02-01Z'::timestamptz,
  'a confirming helpful mark does not move the confirmation backwards'
);
select memory_test.a_rule('') as doubtful_id \gset
update memory.rules as r set confidence = 0.1, metadata = '{"status": "fading"}' where r.id = :'doubtful_id';
select memory_test.mark(:'doubtful_id', '+', '2026-02-01Z');
select is(
  (select r.lifecycle_state from memory.rules as r where r.id = :'doubtful_id'), 'fading',
  'a confirmed rule below the threshold keeps fading'
);
select memory.configure('{
  "rule_helpful_confirms": false, "rule_established_successes": 2, "rule_established_effectiveness": 0.5,
  "rule_proven_successes": 3, "rule_proven_effectiveness": 0.75, "rule_proven_age_days": 0.5,
  "rule_inversion_harms": 1, "rule_inversion_effectiveness": 0.7
}') \g /dev/null
select is(memory_test.standing_after(o.outcomes), o.standing, o.description)
from (values
  (1, '+', 'candidate 1.000 1/1/0', 'with lower thresholds one success leaves a candidate'),
  (2, '00++', 'established 0.500 4/2/0', 'with lower thresholds two successes establish a rule'),
  (3, '++0+', 'proven 0.750 4/3/0', 'with lower thresholds three successes prove a rule'),
  (
    4, '+++-', 'established 0.428 4/3/1 !',
    'with lower thresholds one harm demotes and flags a rule'
  )
) as o (position, outcomes, standing, description)
order by o.position;
select memory.configure(
  to_jsonb(memory.default_settings('a')) - '{tenant_id,text_search_config}'::text[]
) \g /dev/null

-- Rules that cannot be marked

select memory.store_rule('Fading', as_of => '2026-01-01Z') as fading_id \gset
update memory.rules as r set metadata = '{"status": "fading"}' where r.id = :'fading_id';
select is(
  (select m.success_count from memory.mark_helpful(:'fading_id') as m), 1, 'a fading rule can be marked'
);
select memory.store_rule('Forgotten', as_of => '2026-01-01Z') as forgotten_id \gset
select memory.forget_memory('rule', :'forgotten_id') \g /dev/null
select memory.store_rule('Warning', as_of => '2026-01-01Z') as warning_id \gset
update memory.rules as r set maturity = 'anti_pattern' where r.id = :'warning_id';
select memory.store_fact('user', 'likes', 'tea') as fact_id \gset
select memory_test.as_tenant('b') \g /dev/null
select memory.store_rule('Foreign') as foreign_id \gset
select memory_test.as_tenant('a') \g /dev/null
select memory.store_rule('Sound', as_of => '2026-01-01Z') as sound_id \gset
select md5(string_agg(r::text, '' order by r.id)) as rules_before from memory.rules as r \gset
select count(*) as applications_before from memory.rule_applications \gset

create table memory_test.refusals (position integer, call text, error text, description text);
insert into memory_test.refusals
values
(1, format('(%L)', gen_random_uuid()),
  'PM001 | no rule has id <id> | Find rules with memory.search(query, types => ''{rule}'').',
  'a rule that does not exist'),
(2, '(null)',
  'PM001 | no rule has id NULL | Find rules with memory.search(query, types => ''{rule}'').',
  'a NULL rule'),
(3, format('(%L)', :'fact_id'),
  'PM001 | no rule has id <id> | Find rules with memory.search(query, types => ''{rule}'').',
  'a fact that is taken for a rule'),
(4, format('(%L)', :'foreign_id'),
  'PM001 | no rule has id <id> | Find rules with memory.search(query, types => ''{rule}'').',
  'a rule of another tenant'),
(5, format('(%L)', :'forgotten_id'),
  'PM003 | rule <id> is forgotten and cannot be marked | Store it again if it is right after all.',
  'a forgotten rule'),
(6, format('(%L)', :'warning_id'),
  'PM003 | rule <id> is an anti-pattern and cannot be marked | '
  'Turn it back into a rule with memory.revert_inversion(rule_id).',
  'an anti-pattern'),
(7, format('(%L, as_of => ''2025-12-31Z'')', :'sound_id'),
  format(
    'PM002 | as_of lies before rule <id> was created: %s | Pass %s or later.',
    '2025-12-31Z'::timestamptz, '2026-01-01Z'::timestamptz
  ),
  'a rule before it was created'),
(8, format('(%L, as_of => ''infinity'')', :'sound_id'),
  'PM002 | as_of is infinity | Pass as_of as a finite timestamp.', 'a rule at an infinite time'),
(9, format('(%L, as_of => null)', :'sound_id'),
  'PM002 | as_of is NULL | Pass as_of as a finite timestamp.', 'a rule at a NULL time'),
(10, format('(%L, context => ''[]'')', :'sound_id'),
  'PM002 | context is not a JSON object | Pass context such as {"source": "email"}.',
  'a rule with a context that is not an object'),
(11, format('(%L, context => null)', :'sound_id'),
  'PM002 | context is not a JSON object | Pass context such as {"source": "email"}.',
  'a rule with a NULL context'),
(12, format('(%L, context => jsonb_build_object(''k'', repeat(''x'', 65536)))', :'sound_id'),
  'PM002 | context is 65545 bytes long | Pass context of at most 64 KiB.',
  'a rule with a context that is too large');
select is(
  array[
    memory_test.error_of('select memory.mark_helpful' || r.call),
    memory_test.error_of('select memory.mark_harmful' || r.call)
  ],
  array[r.error, r.error], format('%s cannot be marked', r.description)
)
from memory_test.refusals as r
order by r.position;
select throws_ok(
  $$ select memory.mark_helpful('ask first') $$, '22P02', null,
  'a text that is not an id cannot be marked'
);
select is(
  memory_test.error_of(
    format($$ select memory.mark_harmful(%L, as_of => now() + interval '25 hours') $$, :'sound_id')
  ),
  format(
    'PM002 | as_of lies in the future: %s | Pass as_of at most a day ahead; only pure functions accept later times.',
    now() + interval '25 hours'
  ),
  'a rule cannot be marked in the future'
);
select is(
  array[
    memory_test.error_of(format($$ select memory.mark_harmful(%L, ' ') $$, :'sound_id')),
    memory_test.error_of(format($$ select memory.mark_harmful(%L, repeat('x', 1025)) $$, :'sound_id'))
  ],
  array[
    'PM002 | reason is empty | Pass reason with at least one visible character.',
    'PM002 | reason is 1025 bytes long | Pass reason of at most 1024 bytes; split longer text.'
  ],
  'a reason that is empty or too long is refused'
);
select throws_ok(
  format($$ insert into memory.rule_applications (tenant_id, rule_id, outcome) values ('a', %L, 'neutral') $$,
    :'forgotten_id'),
  'PM003', null, 'an application of a forgotten rule cannot be inserted'
);
select is(
  (select md5(string_agg(r::text, '' order by r.id)) from memory.rules as r)
    || (select count(*) from memory.rule_applications),
  :'rules_before' || :'applications_before', 'refused marks change nothing'
);

-- Rules that are replaced

select memory.store_rule('Offer tea', scope => 'kitchen', tags => '["guests"]', importance => 8, confidence => 0.9, as_of => '2026-01-01Z') as old_rule \gset
select memory.replace_rule(:'old_rule', 'Offer tea or coffee', idempotency_key => 'both', as_of => '2026-01-02Z') as new_rule \gset
select results_eq(
  format($$ select r.content, r.scope, r.tags, r.importance, r.confidence, r.maturity, r.lifecycle_state from memory.rules as r where r.id in (%L, %L) order by r.created_at $$, :'old_rule', :'new_rule'),
  $$ values ('Offer tea', 'kitchen', '["guests"]'::jsonb, 8::float8, 0.9::float8, 'candidate', 'retracted'), ('Offer tea or coffee', 'kitchen', '["guests"]', 8, 0.5, 'candidate', 'active') $$,
  'a rule that replaces another one has its scope, tags and importance; that one is forgotten'
);
select results_eq(
  format($$ select l.source_id, l.relation, l.target_id from memory.get_links('rule', %L) as l $$, :'old_rule'),
  format($$ values (%L::uuid, 'supersedes', %L::uuid) $$, :'new_rule', :'old_rule'),
  'and linked as superseded'
);
select is(memory.replace_rule(:'old_rule', 'Offer tea or coffee', idempotency_key => 'both', as_of => '2026-01-03Z'), :'new_rule'::uuid, 'with the same key, the same rule replaces it');
select is((select count(*) from memory.rules as r where r.content = 'Offer tea or coffee'), 1::bigint, 'once');
select throws_ok(format('select memory.replace_rule(%L, %L)', :'old_rule', 'Offer water'), 'PM003', format('rule %s is forgotten and cannot be replaced', :'old_rule'), 'what is forgotten is not replaced');
select is_empty($$ select from memory.rules as r where r.content = 'Offer water' $$, 'and nothing is stored then');
select throws_ok(format('select memory.replace_rule(%L, %L, idempotency_key => %L)', :'new_rule', 'Offer tea or coffee', 'both'), 'PM004', null, 'a rule does not replace itself');
select throws_ok($$ select memory.replace_rule('00000000-0000-0000-0000-0000000000aa', 'x') $$, 'PM001', 'no rule has id 00000000-0000-0000-0000-0000000000aa', 'an unknown rule is not replaced');
select throws_ok(format('select memory.replace_rule(%L, %L)', :'new_rule', ' '), 'PM002', 'content is empty', 'nor is one by nothing');
select throws_ok(format('select memory.replace_rule(%L, %L, as_of => %L)', :'new_rule', 'x', '2026-01-01Z'), 'PM002', null, 'nor before it was stored');

select * from finish();
rollback;
