-- Deploy pymem:functions/core/base/settings to pg

begin;

set local role memory_owner;

-- Without an argument it is a constant, which a plan holds ready: every search of a tenant that has
-- configured nothing takes it.
create or replace function memory.setting_defaults()
  returns memory.settings
  language sql
  immutable
  parallel safe
  return row(
    null, -- tenant_id
    'hybrid', -- retrieval_mode
    20, -- retrieval_limit
    100, -- candidate_pool
    0.2, -- min_confidence
    'calibrated', -- ranking
    0.06, -- min_relevance
    0.06, -- min_evidence
    0.8, -- meaning_weight
    0.2, -- words_weight
    0.5, -- episode_meaning_weight
    0.95, -- episode_words_weight
    40, -- relevance_sharpness
    0.4, -- weight_relevance
    0.3, -- weight_importance
    0.2, -- weight_recency
    0.1, -- weight_confidence
    60, -- rrf_k
    'any', -- keyword_match
    0.5, -- bm25_k1
    0.4, -- bm25_b
    0.4, -- boost_neighbors
    0.4, -- boost_session
    0.1, -- boost_named
    0.3, -- boost_time
    true, -- updates_first
    'UTC', -- time_zone
    'english', -- text_search_config
    'dated', -- index_rendering
    'previous_dated', -- embedding_rendering
    7, -- recency_half_life_days
    'zero', -- recency_null
    10000, -- exact_scan_limit
    'off', -- vector_index_schedule
    '30 3 * * *', -- corpus_statistics_schedule
    0.2, -- fading_threshold
    0.05, -- expiry_threshold
    7, -- episode_ttl_days
    '0 3 * * *', -- decay_sweep_schedule
    '10 3 * * *', -- episode_cleanup_schedule
    '20 3 * * *', -- rule_hygiene_schedule
    '40 * * * *', -- event_seal_schedule
    3000, -- context_token_budget
    4, -- context_chars_per_token
    'octets', -- context_token_estimate
    0.60, -- context_facts_share
    0.25, -- context_rules_share
    0.05, -- context_warnings_share
    0.10, -- context_episodes_share
    'effective', -- context_confidence
    false, -- context_counts_references
    false, -- context_recent_episodes
    10000, -- episode_max_entries
    0, -- episode_pending_grace_days
    6, -- consolidation_interval_hours
    100, -- consolidation_episode_threshold
    50, -- consolidation_batch_size
    15, -- consolidation_lease_minutes
    5, -- consolidation_max_attempts
    'stable', -- consolidation_max_permanence
    false, -- consolidation_review
    0.8, -- consolidation_max_confidence
    'by_outcome', -- rule_effectiveness
    false, -- rule_helpful_confirms
    5, -- rule_established_successes
    0.6, -- rule_established_effectiveness
    15, -- rule_proven_successes
    0.8, -- rule_proven_effectiveness
    30, -- rule_proven_age_days
    3, -- rule_inversion_harms
    0.3 -- rule_inversion_effectiveness
  )::memory.settings;

comment on function memory.setting_defaults() is
'The settings a tenant has before anyone configures it, for no tenant in particular.';

create or replace function memory.default_settings(tenant_id text)
  returns memory.settings
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_settings memory.settings := memory.setting_defaults();
begin
  v_settings.tenant_id := tenant_id;
  return v_settings;
end;
$$;

comment on function memory.default_settings(text) is
'The settings a tenant has before anyone configures it.';
grant execute on function memory.default_settings to memory_admin;

create or replace function memory.current_settings()
  returns memory.settings
  language plpgsql
  stable
  parallel safe
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_settings memory.settings;
begin
  select s.* into v_settings from memory.settings as s where s.tenant_id = v_tenant_id;
  if not found then
    v_settings := memory.setting_defaults();
    v_settings.tenant_id := v_tenant_id;
  end if;
  return v_settings;
end;
$$;

comment on function memory.current_settings() is
'The settings of the current tenant, defaults included. Errors: 28000 no tenant.';
grant execute on function memory.current_settings
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

-- For stores, which need nothing else: a row of all settings takes longer to make than to look up.
create or replace function memory.text_search_config_of(tenant_id text)
  returns text
  language plpgsql
  stable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_text_search_config text;
begin
  select s.text_search_config into v_text_search_config
  from memory.settings as s
  where s.tenant_id = text_search_config_of.tenant_id;
  if not found then
    v_text_search_config := (memory.setting_defaults()).text_search_config;
  end if;
  return v_text_search_config;
end;
$$;

comment on function memory.text_search_config_of(text) is
'The text search configuration a tenant has set, or the default.';

create or replace function memory.configure(settings jsonb)
  returns memory.settings
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_old memory.settings := memory.default_settings(v_tenant_id);
  v_new memory.settings;
  v_unknown text;
begin
  if jsonb_typeof(configure.settings) is distinct from 'object' then
    raise exception 'settings are not a JSON object'
      using errcode = 'PM002', hint = 'Pass an object such as {"retrieval_limit": 20}.';
  end if;

  select string_agg(quote_ident(k.key), ', ' order by k.key) into v_unknown
  from jsonb_object_keys(configure.settings) as k (key)
  where k.key = 'tenant_id' or not to_jsonb(v_old) ? k.key;
  if v_unknown is not null then
    raise exception 'unknown setting: %', v_unknown
      using errcode = 'PM002',
        hint = 'Known settings: ' || (
          select string_agg(k.key, ', ' order by k.key)
          from jsonb_object_keys(to_jsonb(v_old)) as k (key)
          where k.key <> 'tenant_id'
        );
  end if;

  if configure.settings ? 'text_search_config' then
    perform memory.check_text_search_config(configure.settings ->> 'text_search_config');
  end if;
  if configure.settings ? 'time_zone' then
    perform memory.check_time_zone('time_zone', configure.settings ->> 'time_zone');
  end if;

  begin
    -- The row is locked before it is read, so that two changes at once are both kept.
    insert into memory.settings as s
    select (jsonb_populate_record(v_old, configure.settings)).*
    on conflict (tenant_id) do nothing
    returning s.* into v_new;
    if not found then
      select s.* into v_old from memory.settings as s where s.tenant_id = v_tenant_id for update;
      v_new := jsonb_populate_record(v_old, configure.settings);
      if v_new is distinct from v_old then
        perform memory.write_settings(v_new);
      end if;
    end if;
  exception
    when check_violation or not_null_violation or data_exception then
      raise exception 'a setting is out of its range: %', sqlerrm
        using errcode = 'PM002',
          hint = 'The comments on the columns of memory.settings give the ranges.';
  end;

  -- Texts and queries must be read in the same language, so the tenant's texts are indexed anew.
  -- Also when the language is the same: a store that ran beside the change may have missed it.
  if configure.settings ?| '{text_search_config,index_rendering}' then
    update memory.episodes as e
    set
      text_search_config = v_new.text_search_config,
      index_rendering = v_new.index_rendering
    where e.tenant_id = v_tenant_id
      and (e.text_search_config, e.index_rendering)
        <> (v_new.text_search_config, v_new.index_rendering);
    update memory.facts as f set text_search_config = v_new.text_search_config
    where f.tenant_id = v_tenant_id and f.text_search_config <> v_new.text_search_config;
    update memory.rules as r set text_search_config = v_new.text_search_config
    where r.tenant_id = v_tenant_id and r.text_search_config <> v_new.text_search_config;
  end if;
  return v_new;
end;
$$;

comment on function memory.configure(jsonb) is
'Changes settings of the current tenant: an object of setting names and values; what it leaves '
'out keeps its value. Naming text_search_config or index_rendering indexes anew all texts of the '
'tenant that are indexed otherwise. Returns all settings. Errors: PM002 unknown setting, value out '
'of range, or a language or time zone that the server does not know, 28000 no tenant.';
grant execute on function memory.configure to memory_admin;

create or replace function memory.check_text_search_config(text_search_config text)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  -- A name that needs quotes would not survive the cast to regconfig.
  if not exists (
    select from pg_ts_config as c
    where c.cfgname = text_search_config
      and quote_ident(c.cfgname) = c.cfgname
      and pg_ts_config_is_visible(c.oid)
  ) then
    raise exception 'unknown text search configuration %', quote_nullable(text_search_config)
      using errcode = 'PM002',
        hint = 'Known: ' || (
          select string_agg(c.cfgname, ', ' order by c.cfgname)
          from pg_ts_config as c
          where quote_ident(c.cfgname) = c.cfgname and pg_ts_config_is_visible(c.oid)
        );
  end if;
end;
$$;

comment on function memory.check_text_search_config(text) is
'Refuses a text search configuration that does not exist or whose name needs quotes. Errors: '
'PM002.';

create or replace function memory.write_settings(settings memory.settings)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  update memory.settings as s
  set
    retrieval_mode = settings.retrieval_mode,
    retrieval_limit = settings.retrieval_limit,
    candidate_pool = settings.candidate_pool,
    min_confidence = settings.min_confidence,
    ranking = settings.ranking,
    min_relevance = settings.min_relevance,
    min_evidence = settings.min_evidence,
    meaning_weight = settings.meaning_weight,
    words_weight = settings.words_weight,
    episode_meaning_weight = settings.episode_meaning_weight,
    episode_words_weight = settings.episode_words_weight,
    relevance_sharpness = settings.relevance_sharpness,
    weight_relevance = settings.weight_relevance,
    weight_importance = settings.weight_importance,
    weight_recency = settings.weight_recency,
    weight_confidence = settings.weight_confidence,
    rrf_k = settings.rrf_k,
    keyword_match = settings.keyword_match,
    bm25_k1 = settings.bm25_k1,
    bm25_b = settings.bm25_b,
    boost_neighbors = settings.boost_neighbors,
    boost_session = settings.boost_session,
    boost_named = settings.boost_named,
    boost_time = settings.boost_time,
    updates_first = settings.updates_first,
    time_zone = settings.time_zone,
    text_search_config = settings.text_search_config,
    index_rendering = settings.index_rendering,
    embedding_rendering = settings.embedding_rendering,
    recency_half_life_days = settings.recency_half_life_days,
    recency_null = settings.recency_null,
    exact_scan_limit = settings.exact_scan_limit,
    vector_index_schedule = settings.vector_index_schedule,
    corpus_statistics_schedule = settings.corpus_statistics_schedule,
    fading_threshold = settings.fading_threshold,
    expiry_threshold = settings.expiry_threshold,
    episode_ttl_days = settings.episode_ttl_days,
    decay_sweep_schedule = settings.decay_sweep_schedule,
    episode_cleanup_schedule = settings.episode_cleanup_schedule,
    rule_hygiene_schedule = settings.rule_hygiene_schedule,
    event_seal_schedule = settings.event_seal_schedule,
    context_token_budget = settings.context_token_budget,
    context_chars_per_token = settings.context_chars_per_token,
    context_token_estimate = settings.context_token_estimate,
    context_facts_share = settings.context_facts_share,
    context_rules_share = settings.context_rules_share,
    context_warnings_share = settings.context_warnings_share,
    context_episodes_share = settings.context_episodes_share,
    context_confidence = settings.context_confidence,
    context_counts_references = settings.context_counts_references,
    context_recent_episodes = settings.context_recent_episodes,
    episode_max_entries = settings.episode_max_entries,
    episode_pending_grace_days = settings.episode_pending_grace_days,
    consolidation_interval_hours = settings.consolidation_interval_hours,
    consolidation_episode_threshold = settings.consolidation_episode_threshold,
    consolidation_batch_size = settings.consolidation_batch_size,
    consolidation_lease_minutes = settings.consolidation_lease_minutes,
    consolidation_max_attempts = settings.consolidation_max_attempts,
    consolidation_max_permanence = settings.consolidation_max_permanence,
    consolidation_review = settings.consolidation_review,
    consolidation_max_confidence = settings.consolidation_max_confidence,
    rule_effectiveness = settings.rule_effectiveness,
    rule_helpful_confirms = settings.rule_helpful_confirms,
    rule_established_successes = settings.rule_established_successes,
    rule_established_effectiveness = settings.rule_established_effectiveness,
    rule_proven_successes = settings.rule_proven_successes,
    rule_proven_effectiveness = settings.rule_proven_effectiveness,
    rule_proven_age_days = settings.rule_proven_age_days,
    rule_inversion_harms = settings.rule_inversion_harms,
    rule_inversion_effectiveness = settings.rule_inversion_effectiveness
  where s.tenant_id = settings.tenant_id;
$$;

comment on function memory.write_settings(memory.settings) is
'Replaces the settings of a tenant that has a row.';

commit;
