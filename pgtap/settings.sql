begin;
\ir fixtures.sql
select plan(79);

-- The error code of a statement, or none. The statement is undone.
create function memory_test.code_of(statement text)
  returns text
  language plpgsql
as $$
begin
  execute statement;
  raise exception using errcode = 'ZZ000';
exception
  when sqlstate 'ZZ000' then
    return 'none';
  when others then
    return sqlstate;
end;
$$;

-- Another value for a setting, within its range.
create function memory_test.other_value(
  setting text,
  value jsonb
)
  returns jsonb
  language sql
  return case
    when setting = 'entry_merge_similarity' then '0.95'
    when jsonb_typeof(value) = 'array' then '{"*": ["a", "b"], "home": []}'
    when setting in ('consolidation_instructions', 'consolidation_language') then '{"home": "a"}'
    when jsonb_typeof(value) = 'boolean' then to_jsonb(not value::boolean)
    when jsonb_typeof(value) = 'number' and value::numeric > 1 then to_jsonb(value::numeric - 1)
    when value = '0' then '0.5'
    when jsonb_typeof(value) = 'number' then to_jsonb(value::numeric / 2)
    else to_jsonb(case setting
      when 'retrieval_mode' then 'keyword'
      when 'keyword_match' then 'all'
      when 'ranking' then 'specified'
      when 'time_zone' then 'Europe/Berlin'
      when 'index_rendering' then 'content'
      when 'embedding_rendering' then 'previous'
      when 'text_search_config' then 'german'
      when 'recency_null' then 'created_at'
      when 'context_confidence' then 'base'
      when 'context_token_estimate' then 'characters'
      when 'vector_index_schedule' then '0 3 * * 0'
      when 'entry_consolidation_schedule' then 'off'
      when 'entry_expiry_schedule' then 'off'
      when 'entry_daily_schedule' then 'off'
      when 'entry_weekly_schedule' then 'off'
      when 'entry_monthly_schedule' then 'off'
      when 'item_expiry_schedule' then 'off'
      when 'session_expiry_schedule' then 'off'
      when 'corpus_statistics_schedule' then 'off'
      when 'decay_sweep_schedule' then 'off'
      when 'episode_cleanup_schedule' then 'off'
      when 'rule_hygiene_schedule' then 'off'
      when 'event_seal_schedule' then 'off'
      when 'consolidation_max_permanence' then 'standard'
      when 'consolidation_reviewers' then 'writers'
      when 'consolidation_supersedes' then 'review'
      when 'rule_effectiveness' then 'asymmetric'
      else 'no other value known'
    end)
  end;

-- Changes every setting of the current tenant in turn and returns those that configure does not
-- return changed, that do not read back changed, or that change another setting.
create function memory_test.settings_that_do_not_change()
  returns setof text
  language plpgsql
as $$
declare
  v_setting text;
  v_change jsonb;
  v_expected jsonb;
  v_answer jsonb;
begin
  for v_setting in
    select k.key
    from jsonb_object_keys(to_jsonb(memory.current_settings())) as k (key)
    where k.key <> 'tenant_id'
  loop
    v_expected := to_jsonb(memory.current_settings());
    v_change := jsonb_build_object(
      v_setting, memory_test.other_value(v_setting, v_expected -> v_setting)
    );
    v_expected := v_expected || v_change;
    begin
      v_answer := to_jsonb(memory.configure(v_change));
    exception
      when others then
        return next v_setting || ': ' || sqlerrm;
    end;
    if v_answer is distinct from v_expected
      or to_jsonb(memory.current_settings()) is distinct from v_expected
    then
      return next v_setting;
    end if;
  end loop;
end;
$$;

-- Defaults

select is(
  to_jsonb(memory.default_settings('t')),
  '{
    "tenant_id": "t",
    "retrieval_mode": "hybrid", "retrieval_limit": 20, "candidate_pool": 100, "min_confidence": 0.2,
    "ranking": "calibrated", "min_relevance": 0.06, "min_evidence": 0.06,
    "meaning_weight": 0.8, "words_weight": 0.2, "episode_meaning_weight": 0.5, "episode_words_weight": 0.95,
    "relevance_sharpness": 40,
    "weight_relevance": 0.4, "weight_importance": 0.3, "weight_recency": 0.2, "weight_confidence": 0.1,
    "rrf_k": 60, "keyword_match": "any", "bm25_k1": 0.5, "bm25_b": 0.4,
    "boost_neighbors": 0.4, "boost_session": 0.4, "boost_named": 0.1, "boost_time": 0.3, "boost_related": 0.3,
    "updates_first": true, "time_zone": "UTC",
    "text_search_config": "english", "index_rendering": "dated", "embedding_rendering": "previous_dated",
    "recency_half_life_days": 7, "recency_null": "zero", "exact_scan_limit": 10000,
    "vector_index_schedule": "off", "corpus_statistics_schedule": "30 3 * * *",
    "fading_threshold": 0.2, "expiry_threshold": 0.05, "episode_ttl_days": 7, "entry_decay_rate": 0.008,
    "decay_sweep_schedule": "0 3 * * *", "episode_cleanup_schedule": "10 3 * * *", "rule_hygiene_schedule": "20 3 * * *", "event_seal_schedule": "40 * * * *",
    "entry_merge_similarity": 0.92, "entry_consolidation_schedule": "5 * * * *", "entry_expiry_schedule": "45 3 * * *", "entry_daily_schedule": "50 3 * * *",
    "entry_weekly_schedule": "0 4 * * 0", "entry_monthly_schedule": "10 4 1 * *", "item_expiry_schedule": "50 * * * *",
    "session_expiry_schedule": "55 * * * *",
    "context_token_budget": 3000, "context_chars_per_token": 4, "context_token_estimate": "octets",
    "context_facts_share": 0.6, "context_rules_share": 0.25, "context_warnings_share": 0.05,
    "context_episodes_share": 0.1, "context_confidence": "effective", "context_counts_references": false,
    "context_entries_share": 0.2, "context_recent_episodes": false, "context_entries": false,
    "episode_max_entries": 10000, "episode_pending_grace_days": 0,
    "consolidation_interval_hours": 6, "consolidation_episode_threshold": 100, "consolidation_batch_size": 50, "consolidation_lease_minutes": 15,
    "consolidation_batch_tokens": 6000, "consolidation_answer_octets": 65536, "consolidation_answer_days": 30,
    "consolidation_instructions": "", "consolidation_language": "", "consolidation_categories": [], "consolidation_predicates": [],
    "consolidation_max_attempts": 5, "consolidation_max_permanence": "stable", "consolidation_review": false, "consolidation_reviewers": "admins", "consolidation_supersedes": "same_trust",
    "consolidation_proposal_days": 90, "consolidation_max_confidence": 0.8,
    "rule_effectiveness": "by_outcome", "rule_helpful_confirms": false,
    "rule_established_successes": 5, "rule_established_effectiveness": 0.6,
    "rule_proven_successes": 15, "rule_proven_effectiveness": 0.8, "rule_proven_age_days": 30,
    "rule_inversion_harms": 3, "rule_inversion_effectiveness": 0.3
  }'::jsonb,
  'the settings have the documented defaults'
);
select is_empty(
  $$ select d.key from jsonb_each(to_jsonb(memory.default_settings('t'))) as d where d.value = 'null' $$,
  'every setting has a default'
);
select is(
  memory_test.code_of($$ insert into memory.settings select (memory.default_settings('t')).* $$), 'none',
  'the defaults are within their ranges'
);
select is(
  to_jsonb(memory.current_settings()), to_jsonb(memory.default_settings('a')),
  'a tenant without settings has the defaults'
);
select is_empty(
  $$ select s.tenant_id from memory.settings as s where s.tenant_id = 'a' $$,
  'reading the defaults stores nothing'
);

-- configure

select to_jsonb(memory.configure('{"retrieval_limit": 7}')) as answer \gset
select is(
  :'answer'::jsonb, to_jsonb(memory.default_settings('a')) || '{"retrieval_limit": 7}',
  'configure returns all settings of the tenant'
);
select is(
  to_jsonb(memory.current_settings()), :'answer'::jsonb,
  'a configured setting reads back, and the others have their defaults'
);
select results_eq(
  $$ select e.event_type, e.memory_id is null, e.payload -> 'old', e.payload -> 'new' || '{"tenant_id": "a"}'
     from memory.memory_events as e where e.tenant_id = 'a' $$,
  $$ values (
    'settings_created', true, '{}'::jsonb,
    to_jsonb(memory.default_settings('a')) || '{"retrieval_limit": 7}'
  ) $$,
  'the first configuration writes an event with all settings'
);
select memory.configure('{"rrf_k": 30, "keyword_match": "all"}') \g /dev/null
select is(
  to_jsonb(memory.current_settings()),
  to_jsonb(memory.default_settings('a')) || '{"retrieval_limit": 7, "rrf_k": 30, "keyword_match": "all"}',
  'configure can change several settings and keeps those configured before'
);
select results_eq(
  $$ select e.payload from memory.memory_events as e
     where e.tenant_id = 'a' and e.event_type = 'settings_updated' $$,
  $$ values ('{
       "old": {"rrf_k": 60, "keyword_match": "any"}, "new": {"rrf_k": 30, "keyword_match": "all"}
     }'::jsonb) $$,
  'a later configuration writes an event with the old and new values of what changed'
);
select memory.configure('{}') \g /dev/null
select is(
  to_jsonb(memory.current_settings()),
  to_jsonb(memory.default_settings('a')) || '{"retrieval_limit": 7, "rrf_k": 30, "keyword_match": "all"}',
  'an empty configuration changes nothing'
);
select memory_test.as_tenant('b') \g /dev/null
select is(
  to_jsonb(memory.current_settings()), to_jsonb(memory.default_settings('b')),
  'another tenant keeps the defaults'
);
select memory.configure('{"retrieval_limit": 9}') \g /dev/null
select is((memory.current_settings()).retrieval_limit, 9, 'each tenant has its own settings');
select memory_test.as_tenant('a') \g /dev/null
select is(
  (memory.current_settings()).retrieval_limit, 7,
  'the settings of a tenant are independent of those of another tenant'
);
select is_empty(
  $$ select memory_test.settings_that_do_not_change() $$,
  'every setting of a configured tenant can be changed alone and reads back'
);
select is(
  (
    select count(*)
    from jsonb_each(to_jsonb(memory.current_settings())) as c
    join jsonb_each(to_jsonb(memory.default_settings('a'))) as d on d.key = c.key
    where c.value = d.value and c.key not in ('tenant_id', 'rrf_k', 'keyword_match')
  ),
  0::bigint, 'every setting of the test differs from its default'
);
select memory_test.as_tenant('c') \g /dev/null
select is(
  to_jsonb(memory.configure((
    select jsonb_object_agg(d.key, memory_test.other_value(d.key, d.value))
    from jsonb_each(to_jsonb(memory.default_settings('c'))) as d
    where d.key <> 'tenant_id'
  ))),
  (
    select jsonb_object_agg(d.key, memory_test.other_value(d.key, d.value))
    from jsonb_each(to_jsonb(memory.default_settings('c'))) as d
    where d.key <> 'tenant_id'
  ) || '{"tenant_id": "c"}',
  'every setting of a new tenant can be changed at once'
);
select memory_test.as_tenant('a') \g /dev/null
delete from memory.settings as s where s.tenant_id = 'a';
select is(
  to_jsonb(memory.current_settings()), to_jsonb(memory.default_settings('a')),
  'a tenant has the defaults again after its row is removed'
);
select is(
  (
    select count(*) from memory.memory_events as e
    where e.tenant_id = 'a' and e.event_type = 'settings_deleted' and e.payload -> 'new' = '{}'
      and e.payload -> 'old' ->> 'retrieval_mode' = 'keyword'
  ),
  1::bigint, 'removing the settings of a tenant writes an event'
);

-- What configure refuses

select throws_ok(
  $$ select memory.configure('{"retrieval_limti": 7}') $$, 'PM002', 'unknown setting: retrieval_limti',
  'an unknown setting is refused'
);
select throws_ok(
  $$ select memory.configure('{"zzz": 1, "retrieval_limit": 7, "Aaa": null}') $$,
  'PM002', 'unknown setting: "Aaa", zzz', 'the error names all unknown settings'
);
select throws_ok(
  $$ select memory.configure('{"tenant_id": "b"}') $$, 'PM002', 'unknown setting: tenant_id',
  'the tenant is not a setting'
);
select throws_ok(
  $$ select memory.configure('{"tenant_id": "a"}') $$, 'PM002', null,
  'the tenant cannot be set to its own name'
);
select throws_ok(
  $$ select memory.configure(null) $$, 'PM002', 'settings are not a JSON object', 'NULL settings are refused'
);
select is_empty(
  $$ select s.settings from unnest('{null,[],"\"rrf_k\"",7,true}'::text[]) as s (settings)
     where memory_test.code_of(format('select memory.configure(%L)', s.settings)) <> 'PM002' $$,
  'settings that are not an object are refused'
);
select is_empty(
  $$ select k.key from jsonb_object_keys(to_jsonb(memory.default_settings('a'))) as k (key)
     where k.key <> 'tenant_id'
       and memory_test.code_of(
         format('select memory.configure(%L)', jsonb_build_object(k.key, null))
       ) <> 'none' $$,
  'every setting can be set to NULL'
);
select memory.configure('{"retrieval_limit": 7, "rrf_k": 31, "time_zone": "Europe/Rome"}') \g /dev/null
select memory.configure('{"retrieval_limit": null, "time_zone": null}') \g /dev/null
select is(
  (select to_jsonb(s) - 'tenant_id' from memory.current_settings() as s),
  (
    select to_jsonb(d) - 'tenant_id' || '{"rrf_k": 31}'
    from memory.default_settings('a') as d
  ),
  'NULL sets a setting back to its default, and leaves others alone'
);
select throws_ok(
  $$ select memory.configure('{"fading_threshold": 0.04}') $$, 'PM002',
  'fading_threshold is 0.04, expiry_threshold is 0.05',
  'memories cannot expire before they fade'
);
select is_empty(
  $$ select k.key from jsonb_object_keys(to_jsonb(memory.default_settings('a'))) as k (key)
     where k.key <> 'tenant_id'
       and memory_test.code_of(
         format('select memory.configure(%L)', jsonb_build_object(k.key, '{"a": [1]}'::jsonb))
       ) <> 'PM002' $$,
  'no setting can be set to an object'
);
select is_empty(
  $$ select d.key from jsonb_each(to_jsonb(memory.default_settings('a'))) as d
     where d.key not in ('tenant_id', 'consolidation_instructions', 'consolidation_language')
       and memory_test.code_of(
         format('select memory.configure(%L)', jsonb_build_object(d.key, 'many'))
       ) <> 'PM002' $$,
  'no setting but two for the prompt accepts an arbitrary word'
);
select is_empty(
  $$ select d.key, n.value from jsonb_each(to_jsonb(memory.default_settings('a'))) as d,
       unnest('{NaN,Infinity,-Infinity,1e400,-1}'::text[]) as n (value)
     where jsonb_typeof(d.value) = 'number'
       and memory_test.code_of(
         format('select memory.configure(%L)', jsonb_build_object(d.key, n.value))
       ) <> 'PM002' $$,
  'no numeric setting accepts NaN, infinite, too large or negative numbers'
);
select is_empty(
  $$ select r.setting, r.value
     from (values
       ('retrieval_limit', '0'), ('retrieval_limit', '1001'), ('retrieval_limit', '1.5'),
       ('candidate_pool', '0'), ('candidate_pool', '10001'),
       ('min_confidence', '-0.01'), ('min_confidence', '1.01'),
       ('ranking', '"best"'), ('ranking', '""'),
       ('min_relevance', '-0.01'), ('min_relevance', '1.01'),
       ('min_evidence', '-0.01'), ('min_evidence', '1.01'),
       ('meaning_weight', '-0.01'), ('meaning_weight', '1.01'),
       ('words_weight', '-0.01'), ('words_weight', '1.01'),
       ('episode_meaning_weight', '-0.01'), ('episode_meaning_weight', '1.01'),
       ('episode_words_weight', '-0.01'), ('episode_words_weight', '1.01'),
       ('relevance_sharpness', '0.99'), ('relevance_sharpness', '1001'),
       ('bm25_k1', '-0.01'), ('bm25_k1', '10.01'), ('bm25_b', '-0.01'), ('bm25_b', '1.01'),
       ('boost_neighbors', '-0.01'), ('boost_neighbors', '1.01'),
       ('boost_session', '-0.01'), ('boost_session', '1.01'),
       ('boost_named', '-0.01'), ('boost_named', '1.01'),
       ('boost_time', '-0.01'), ('boost_time', '1.01'),
       ('updates_first', '2'), ('time_zone', '""'),
       ('weight_relevance', '-0.01'), ('weight_relevance', '1.01'),
       ('weight_importance', '-0.01'), ('weight_importance', '1.01'),
       ('weight_recency', '-0.01'), ('weight_recency', '1.01'),
       ('weight_confidence', '-0.01'), ('weight_confidence', '1.01'),
       ('rrf_k', '0'), ('rrf_k', '10001'), ('rrf_k', '99999999999'),
       ('recency_half_life_days', '0'), ('recency_half_life_days', '100001'),
       ('exact_scan_limit', '-1'), ('exact_scan_limit', '2147483648'),
       ('fading_threshold', '-0.01'), ('fading_threshold', '1.01'),
       ('expiry_threshold', '-0.01'), ('expiry_threshold', '1.01'),
       ('episode_ttl_days', '0'), ('episode_ttl_days', '100001'),
       ('entry_decay_rate', '-0.001'), ('entry_decay_rate', '100.1'),
       ('context_token_budget', '4'), ('context_token_budget', '1000001'),
       ('context_chars_per_token', '0.4'), ('context_chars_per_token', '4.1'),
       ('context_facts_share', '-0.01'), ('context_facts_share', '1.01'),
       ('context_rules_share', '-0.01'), ('context_rules_share', '1.01'),
       ('context_warnings_share', '-0.01'), ('context_warnings_share', '1.01'),
       ('context_episodes_share', '-0.01'), ('context_episodes_share', '1.01'),
       ('context_token_estimate', '"words"'), ('context_counts_references', '2'),
       ('context_recent_episodes', '2'), ('context_entries', '2'),
       ('context_entries_share', '-0.01'), ('context_entries_share', '1.01'),
       ('episode_max_entries', '-1'), ('episode_max_entries', '1000000001'),
       ('episode_pending_grace_days', '-0.01'), ('episode_pending_grace_days', '100001'),
       ('rule_effectiveness', '"best"'), ('rule_helpful_confirms', '2'),
       ('rule_established_successes', '0'), ('rule_established_successes', '1000001'),
       ('rule_established_effectiveness', '-0.01'), ('rule_established_effectiveness', '1.01'),
       ('rule_proven_successes', '0'), ('rule_proven_successes', '1000001'),
       ('rule_proven_effectiveness', '-0.01'), ('rule_proven_effectiveness', '1.01'),
       ('rule_proven_age_days', '-1'), ('rule_proven_age_days', '100001'),
       ('rule_inversion_harms', '0'), ('rule_inversion_harms', '1000001'),
       ('rule_inversion_effectiveness', '-0.01'), ('rule_inversion_effectiveness', '1.01'),
       ('retrieval_mode', '"any"'), ('keyword_match', '"hybrid"'), ('recency_null', '"one"'),
       ('context_confidence', '"none"'), ('retrieval_mode', '""'), ('text_search_config', '""')
     ) as r (setting, value)
     where memory_test.code_of(
       format('select memory.configure(%L)', jsonb_build_object(r.setting, r.value::jsonb))
     ) <> 'PM002' $$,
  'values just outside the range of a setting are refused'
);
select is_empty(
  $$ select r.settings
     from (values
       ('{"retrieval_limit": 1}'), ('{"retrieval_limit": 1000}'),
       ('{"candidate_pool": 1}'), ('{"candidate_pool": 10000}'),
       ('{"min_confidence": 0}'), ('{"min_confidence": 1}'),
       ('{"ranking": "calibrated"}'), ('{"ranking": "specified"}'),
       ('{"min_relevance": 0}'), ('{"min_relevance": 1}'), ('{"min_evidence": 0}'), ('{"min_evidence": 1}'),
       ('{"meaning_weight": 0}'), ('{"meaning_weight": 1}'), ('{"words_weight": 0}'), ('{"words_weight": 1}'),
       ('{"episode_meaning_weight": 0}'), ('{"episode_meaning_weight": 1}'),
       ('{"episode_words_weight": 0}'), ('{"episode_words_weight": 1}'),
       ('{"relevance_sharpness": 1}'), ('{"relevance_sharpness": 1000}'),
       ('{"bm25_k1": 0}'), ('{"bm25_k1": 10}'), ('{"bm25_b": 0}'), ('{"bm25_b": 1}'),
       ('{"boost_neighbors": 0}'), ('{"boost_neighbors": 1}'),
       ('{"boost_session": 0}'), ('{"boost_session": 1}'), ('{"boost_named": 0}'), ('{"boost_named": 1}'),
       ('{"boost_time": 0}'), ('{"boost_time": 1}'), ('{"updates_first": false}'),
       ('{"time_zone": "UTC"}'), ('{"time_zone": "Etc/UTC"}'), ('{"time_zone": "America/Indiana/Knox"}'),
       ('{"weight_relevance": 0}'), ('{"weight_relevance": 1}'),
       ('{"weight_importance": 0}'), ('{"weight_importance": 1}'),
       ('{"weight_recency": 0}'), ('{"weight_recency": 1}'),
       ('{"weight_confidence": 0}'), ('{"weight_confidence": 1}'),
       ('{"rrf_k": 1}'), ('{"rrf_k": 10000}'),
       ('{"recency_half_life_days": 0.001}'), ('{"recency_half_life_days": 100000}'),
       ('{"exact_scan_limit": 0}'), ('{"exact_scan_limit": 2147483647}'),
       ('{"entry_merge_similarity": 0.5}'), ('{"entry_merge_similarity": 1}'),
       ('{"fading_threshold": 0, "expiry_threshold": 0}'), ('{"fading_threshold": 1}'),
       ('{"expiry_threshold": 0}'), ('{"expiry_threshold": 1, "fading_threshold": 1}'),
       ('{"episode_ttl_days": 0.001}'), ('{"episode_ttl_days": 100000}'),
       ('{"entry_decay_rate": 0}'), ('{"entry_decay_rate": 100}'),
       ('{"context_token_budget": 5}'), ('{"context_token_budget": 1000000}'),
       ('{"context_chars_per_token": 0.5}'), ('{"context_chars_per_token": 4}'),
       ('{"retrieval_mode": "hybrid"}'), ('{"retrieval_mode": "semantic"}'),
       ('{"retrieval_mode": "keyword"}'),
       ('{"keyword_match": "any"}'), ('{"keyword_match": "all"}'),
       ('{"recency_null": "zero"}'), ('{"recency_null": "created_at"}'),
       ('{"context_confidence": "effective"}'), ('{"context_confidence": "base"}'),
       ('{"episode_max_entries": 0}'), ('{"episode_max_entries": 1000000000}'),
       ('{"episode_pending_grace_days": 0}'), ('{"episode_pending_grace_days": 100000}'),
       ('{"rule_effectiveness": "asymmetric"}'), ('{"rule_effectiveness": "by_outcome"}'),
       ('{"rule_helpful_confirms": true}'),
       ('{"rule_established_successes": 1}'), ('{"rule_established_successes": 1000000}'),
       ('{"rule_established_effectiveness": 0}'), ('{"rule_established_effectiveness": 1}'),
       ('{"rule_proven_successes": 1}'), ('{"rule_proven_successes": 1000000}'),
       ('{"rule_proven_effectiveness": 0}'), ('{"rule_proven_effectiveness": 1}'),
       ('{"rule_proven_age_days": 0}'), ('{"rule_proven_age_days": 100000}'),
       ('{"rule_inversion_harms": 1}'), ('{"rule_inversion_harms": 1000000}'),
       ('{"rule_inversion_effectiveness": 0}'), ('{"rule_inversion_effectiveness": 1}'),
       ('{"context_token_estimate": "octets"}'), ('{"context_token_estimate": "characters"}'),
       ('{"context_counts_references": true}'), ('{"context_recent_episodes": true}'),
       ('{"context_entries": true}'), ('{"context_entries_share": 0}'), ('{"context_entries_share": 1}'),
       ('{"text_search_config": "simple"}')
     ) as r (settings)
     where memory_test.code_of(format('select memory.configure(%L)', r.settings)) <> 'none' $$,
  'both ends of each range and every word of a setting are accepted'
);
select throws_ok(
  $$ select memory.configure('{
       "weight_relevance": 0, "weight_importance": 0, "weight_recency": 0, "weight_confidence": 0
     }') $$,
  'PM002', null, 'four weights of zero are refused'
);
select lives_ok(
  $$ select memory.configure('{
       "weight_relevance": 0, "weight_importance": 0, "weight_recency": 0, "weight_confidence": 0.001
     }') $$,
  'a single weight above zero is accepted'
);
select throws_ok(
  $$ select memory.configure('{"context_facts_share": 0.61}') $$, 'PM002', null,
  'context shares that add up to more than 1 are refused'
);
select lives_ok(
  $$ select memory.configure('{"context_facts_share": 0.7, "context_rules_share": 0.15}') $$,
  'context shares that change together only need to add up together'
);
select lives_ok(
  $$ select memory.configure('{
       "context_facts_share": 0, "context_rules_share": 0, "context_warnings_share": 0,
       "context_episodes_share": 0
     }') $$,
  'context shares may all be zero'
);
select throws_ok(
  $$ select memory.configure('{"text_search_config": "klingon"}') $$,
  'PM002', $$unknown text search configuration 'klingon'$$, 'an unknown text search configuration is refused'
);
select is(
  (memory.configure('{"text_search_config": null}')).text_search_config,
  (memory.default_settings('a')).text_search_config, 'NULL means the default text search configuration'
);
select throws_ok(
  $$ select memory.configure('{"text_search_config": "pg_catalog.english"}') $$, 'PM002', null,
  'a text search configuration with a schema in its name is refused'
);
create text search configuration public."Odd one" (copy = pg_catalog.simple);
select ok(
  memory_test.code_of(
    $$ select memory.configure('{"text_search_config": "Odd one"}'), memory.store_rule('Speak clearly') $$
  ) in ('none', 'PM002'),
  'an accepted text search configuration works, whatever its name'
);
create schema hidden_text_search;
create text search configuration hidden_text_search.hidden (copy = pg_catalog.simple);
select throws_ok(
  $$ select memory.configure('{"text_search_config": "hidden"}') $$, 'PM002', null,
  'a text search configuration outside the search path is unknown'
);
select is_empty(
  $$ select z.time_zone
     from unnest('{Berlin,CEST,+02:00,EST5EDT4,posix/Europe/Berlin,localtime,"UTC ","null"}'::text[])
       as z (time_zone)
     where memory_test.code_of(
       format('select memory.configure(%L)', jsonb_build_object('time_zone', z.time_zone))
     ) <> 'PM002' $$,
  'a time zone that is not a full IANA name is refused'
);
-- The message and hint of a refused configuration.
create function memory_test.hint_of(settings jsonb)
  returns text
  language plpgsql
as $$
declare
  v_hint text;
begin
  perform memory.configure(settings);
  return null;
exception
  when others then
    get stacked diagnostics v_hint = pg_exception_hint;
    return sqlerrm || ': ' || v_hint;
end;
$$;
select is(
  memory_test.hint_of(jsonb_build_object('time_zone', z.time_zone)), z.refusal,
  format('the error about the time zone %L has a helpful hint', z.time_zone)
)
from (values
  (
    1, 'Mars',
    $$unknown time_zone: 'Mars': Pass time_zone as an IANA time zone name, such as Europe/Berlin or UTC.$$
  ),
  (
    2, '',
    'unknown time_zone: '''': Pass time_zone as an IANA time zone name, such as Europe/Berlin or UTC.'
  )
) as z (position, time_zone, refusal)
order by z.position;
select to_jsonb(memory.current_settings()) as before \gset
select throws_ok(
  $$ select memory.configure('{"retrieval_limit": 3, "rrf_k": 0}') $$, 'PM002', null,
  'one bad value makes the whole configuration fail'
);
select is(
  to_jsonb(memory.current_settings()), :'before'::jsonb,
  'a refused configuration changes no setting'
);

-- Changing the language reindexes the texts

select memory.configure('{"text_search_config": "english"}') \g /dev/null
select memory.store_episode('Ada was running', 'home') as episode_id \gset
select memory.store_fact('dogs', 'like', 'running') as fact_id \gset
select memory.store_rule('Avoid running') as rule_id \gset
select memory.store_fact('cats', 'like', 'running') as retracted_id \gset
select memory.forget_memory('fact', :'retracted_id') \g /dev/null
select memory_test.as_tenant('d') \g /dev/null
select memory.store_fact('dogs', 'like', 'running') as foreign_id \gset
select memory_test.as_tenant('a') \g /dev/null
select results_eq(
  $$ select m.id from memory.keyword_search('fact', 'runs') as m $$,
  format($$ values (%L::uuid) $$, :'fact_id'),
  'an English search finds other forms of a word'
);
select to_jsonb(memory.configure('{"text_search_config": "simple"}')) ->> 'text_search_config' as config \gset
select is(:'config'::text, 'simple', 'the language of the texts can be changed');
select is(
  (select e.search_vector from memory.episodes as e where e.id = :'episode_id'),
  to_tsvector('simple', 'Ada was running (' || memory.date_in_words(now()) || ')'),
  'a new language reindexes episodes'
);
select is(
  (select f.search_vector from memory.facts as f where f.id = :'fact_id'),
  to_tsvector('simple', 'dogs like running'), 'a new language reindexes facts'
);
select is(
  (select r.search_vector from memory.rules as r where r.id = :'rule_id'),
  to_tsvector('simple', 'Avoid running'), 'a new language reindexes rules'
);
select is(
  (select f.search_vector from memory.facts as f where f.id = :'retracted_id'),
  to_tsvector('simple', 'cats like running'), 'a new language reindexes retracted facts'
);
select results_eq(
  format(
    $$ select e.text_search_config from memory.episodes as e where e.id = %L
       union all select f.text_search_config from memory.facts as f where f.id = %L
       union all select r.text_search_config from memory.rules as r where r.id = %L $$,
    :'episode_id', :'fact_id', :'rule_id'
  ),
  $$ values ('simple'), ('simple'), ('simple') $$,
  'each memory stores the language of its index'
);
select is_empty(
  $$ select m.id from memory.keyword_search('fact', 'runs') as m $$,
  'a search in the new language does not find other forms of the word'
);
select results_eq(
  $$ select m.id from memory.keyword_search('fact', 'Running') as m $$,
  format($$ values (%L::uuid) $$, :'fact_id'),
  'a search in the new language finds the word itself'
);
select is(
  memory_test.events_of(:'fact_id'), '{fact_created}',
  'reindexing a fact writes no event of it'
);
select is(
  memory_test.events_of(:'episode_id'), '{episode_created}',
  'reindexing an episode writes no event of it'
);
select is(
  memory_test.events_of(:'rule_id'), '{rule_created}',
  'reindexing a rule writes no event of it'
);
select is(
  (
    select e.payload - 'memories' from memory.memory_events as e
    where e.tenant_id = memory.current_tenant() and e.event_type = 'texts_reindexed'
  ),
  '{"text_search_config": "simple"}'::jsonb,
  'reindexing writes one event that names the language'
);
select is(
  (
    select f.text_search_config || ' ' || f.search_vector::text from memory.facts as f
    where f.id = :'foreign_id'
  ),
  'english ' || to_tsvector('english', 'dogs like running')::text,
  'a new language does not reindex texts of another tenant'
);
select f.ctid as fact_place from memory.facts as f where f.id = :'fact_id' \gset
select memory.configure('{"text_search_config": "simple", "rrf_k": 30}') \g /dev/null
select results_eq(
  format($$ select f.ctid::text from memory.facts as f where f.id = %L $$, :'fact_id'),
  format($$ values (%L) $$, :'fact_place'),
  'configuring the same language again does not write the rows'
);
select is(
  memory_test.events_of(:'fact_id'), '{fact_created}',
  'configuring the same language again writes no event of the memories'
);
select memory.store_fact('birds', 'like', 'singing') as bird_id \gset
select is(
  (select f.search_vector from memory.facts as f where f.id = :'bird_id'),
  to_tsvector('simple', 'birds like singing'), 'a new fact is indexed in the new language'
);
select memory.store_facts(
  '[{"subject": "bees", "predicate": "like", "content": "dancing"},
    {"subject": "cows", "predicate": "like", "content": "grazing"}]'
) \g /dev/null
select results_eq(
  $$ select f.search_vector from memory.facts as f where f.subject in ('bees', 'cows') order by f.subject $$,
  $$ values (to_tsvector('simple', 'bees like dancing')), (to_tsvector('simple', 'cows like grazing')) $$,
  'new facts of a batch are indexed in the new language'
);
select memory.store_rule('Mind swimming') as rule_of_simple \gset
select is(
  (select r.search_vector from memory.rules as r where r.id = :'rule_of_simple'),
  to_tsvector('simple', 'Mind swimming'), 'a new rule is indexed in the new language'
);

-- Without a tenant

select memory_test.as_tenant('') \g /dev/null
select throws_ok(
  $$ select memory.current_settings() $$, '28000', null, 'settings cannot be read without a tenant'
);
select throws_ok(
  $$ select memory.configure('{"rrf_k": 10}') $$, '28000', null,
  'settings cannot be configured without a tenant'
);

-- Where the defaults come from

select memory_test.as_tenant('a') \g /dev/null
select is(
  memory_test.hint_of('{"rrf_k": 0}'),
  'rrf_k is 0: It must hold that rrf_k >= 1 and rrf_k <= 10000.',
  'a value out of range is named, and the range'
);
select is(
  memory_test.hint_of('{"ranking": "best"}'),
  'ranking is best: It must hold that ranking is one of ''calibrated'', ''specified''.',
  'words are listed'
);
select matches(
  memory_test.hint_of('{"context_facts_share": 0.9, "context_rules_share": 0.9}'),
  ': Make context_facts_share, .* add up to at most 1\.$',
  'the hint of shares that add up to more says what to do'
);
select matches(
  memory_test.hint_of(
    '{"weight_relevance": 0, "weight_importance": 0, "weight_recency": 0, "weight_confidence": 0}'
  ),
  ': Make at least one of weight_relevance, .* greater than 0\.$',
  'the hint of weights of zero says what to do'
);
select is(
  memory_test.hint_of('{"rrf_k": "many"}'),
  'rrf_k is "many": Pass a value of type integer.', 'a value of another type is named, and the type'
);
-- In steps: some servers add no column with a default to a table whose row parsed bodies read.
alter table memory.settings add column greeting text check (greeting in ('hi', 'hello'));
alter table memory.settings alter column greeting set default 'hi';
update memory.settings set greeting = default;
alter table memory.settings
alter column greeting set not null,
drop column bm25_b,
alter column rrf_k set default 61;
select memory.refresh_setting_defaults() \g /dev/null
select is(
  to_jsonb(memory.setting_defaults()) - (
    select array_agg(a.attname::text) from pg_attribute as a
    where a.attrelid = 'memory.settings'::regclass and a.attname not in ('greeting', 'rrf_k')
  ),
  '{"greeting": "hi", "rrf_k": 61}',
  'after a refresh the defaults are those of the columns, of a new one too'
);
select ok(
  not to_jsonb(memory.setting_defaults()) ? 'bm25_b', 'and a dropped column is left out'
);
select is(
  (memory.current_settings()).greeting, 'hi', 'a tenant with a row has the default of a new column'
);
select memory.write_settings(
  jsonb_populate_record(memory.current_settings(), '{"greeting": "hello"}')
) \g /dev/null
select is((memory.current_settings()).greeting, 'hello', 'and can be given another value');
select is(
  (
    select p.provolatile::text || p.proparallel::text || pg_get_userbyid(p.proowner)
    from pg_proc as p where p.oid = 'memory.setting_defaults()'::regprocedure
  ),
  'ismemory_owner', 'the refreshed function is immutable, as the first one was'
);

select * from finish();
rollback;
