begin;
\ir fixtures.sql
select plan(13);

select is(
  (select array_agg(d.setting) from memory.describe_settings() as d),
  (
    select array_agg(a.attname::text order by a.attnum) from pg_attribute as a
    where a.attrelid = 'memory.settings'::regclass and a.attnum > 0 and not a.attisdropped and a.attname <> 'tenant_id'
  ),
  'every setting is described, in the order of the table'
);
select is_empty(
  $$ select d.setting from memory.describe_settings() as d where d.description is null or d.value is null or not d.is_default $$,
  'each with what it means and its value, which is the default'
);
select results_eq(
  $$ select d.setting, d.type, d.value, d.minimum, d.maximum, d.choices, d.condition
     from memory.describe_settings() as d
     where d.setting in ('retrieval_limit', 'ranking', 'context_entries', 'time_zone', 'recency_half_life_days', 'exact_scan_limit') $$,
  $$ values
     ('retrieval_limit', 'integer', '20'::jsonb, 1::float8, 1000::float8, null::text[], 'retrieval_limit >= 1 AND retrieval_limit <= 1000'),
     ('ranking', 'text', '"calibrated"', null, null, '{calibrated,specified}', $q$ranking is one of 'calibrated', 'specified'$q$),
     ('time_zone', 'text', '"UTC"', null, null, null, $q$time_zone <> ''$q$),
     ('recency_half_life_days', 'double precision', '7', 0.001, 100000, null, 'recency_half_life_days >= 0.001 AND recency_half_life_days <= 100000'),
     ('exact_scan_limit', 'integer', '10000', 0, null, null, 'exact_scan_limit >= 0'),
     ('context_entries', 'boolean', 'false', null, null, null, null) $$,
  'with its range, its words or its condition'
);
select is(
  (select d.condition from memory.describe_settings() as d where d.setting = 'expiry_threshold'),
  'expiry_threshold >= 0 AND expiry_threshold <= 1 AND fading_threshold >= expiry_threshold', 'a condition may name another setting, too'
);
-- What a description allows is what the table allows.
select is_empty(
  $$ select d.setting from memory.describe_settings() as d
     where d.type in ('integer', 'double precision') and d.minimum is null
       or case when d.minimum is not null
         then (d.value #>> '{}')::float8 not between d.minimum and coalesce(d.maximum, 'infinity')
       end
       or not d.choices @> array[d.value #>> '{}'] $$,
  'every number has a minimum, and every default is allowed'
);
create function memory_test.is_refused(setting text, value jsonb) returns boolean language plpgsql as $$
begin
  perform memory.try_settings(memory.current_settings(), jsonb_build_object(setting, value));
  return false;
exception
  when sqlstate 'PM002' then
    return true;
end;
$$;
select is_empty(
  $$ select d.setting from memory.describe_settings() as d
     where d.minimum is not null and not memory_test.is_refused(d.setting, to_jsonb(d.minimum - 1))
       or d.maximum is not null and not memory_test.is_refused(d.setting, to_jsonb(d.maximum + 1))
       or d.choices is not null and not memory_test.is_refused(d.setting, '"no such word"') $$,
  'what lies outside of a range or the words is refused'
);
select is_empty(
  $$ select d.setting, w.word
     from memory.describe_settings() as d cross join lateral unnest(d.choices) as w (word)
     where memory_test.is_refused(d.setting, to_jsonb(w.word)) $$,
  'each of the words is allowed'
);
select is_empty($$ select d.setting from memory.describe_settings() as d where d.changed_at is not null $$, 'nothing was changed yet');
select memory.configure('{"retrieval_limit": 30}') \g /dev/null
select memory.set_request(actor => 'Ada') \g /dev/null
select memory.configure('{"ranking": "specified"}') \g /dev/null
select results_eq(
  $$ select d.setting, d.value, d.default_value, d.changed_by from memory.describe_settings() as d where not d.is_default $$,
  $$ values ('retrieval_limit', '30'::jsonb, '20'::jsonb, null::text), ('ranking', '"specified"', '"calibrated"', 'Ada') $$,
  'what was changed says from what, and by whom'
);
select is(
  (select d.changed_at from memory.describe_settings() as d where d.setting = 'ranking'), now(), 'and when'
);
select memory_test.as_tenant('b') \g /dev/null
select is_empty($$ select d.setting from memory.describe_settings() as d where not d.is_default $$, 'another tenant has its own settings');
select memory_test.as_tenant('') \g /dev/null
select throws_ok($$ select memory.describe_settings() $$, '28000', null, 'without a tenant there are none');

select memory_test.as_tenant('narrow');
alter table memory.settings add check (retrieval_limit <= 500);
select results_eq(
  $$ select d.minimum, d.maximum from memory.describe_settings() as d where d.setting = 'retrieval_limit' $$,
  $$ values (1::float8, 500::float8) $$, 'of two bounds the narrower one is told'
);

select * from finish();
rollback;
