-- Deploy pymem:functions/extras/operations/examine_tenant to pg

begin;

set local role memory_owner;

-- What memory.diagnose looks at for a tenant: one function a check, none of them granted. Strict:
-- where there is no tenant, there are no settings, and they find nothing.

create or replace function memory.examine_embeddings(
  settings memory.settings,
  as_of timestamptz
)
  returns setof memory.finding
  language plpgsql
  stable
  strict
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  return query
  select f.severity, 'embeddings', b.status, f.message, f.hint
  from memory.embedding_backlog(as_of) as b
  cross join lateral (
    values
    (
      b.status = 'active' and b.embedding_version_id is null,
      case settings.retrieval_mode when 'keyword' then 'info' else 'warning' end,
      format(
        'no embedding model is registered, so %s can be found by words only',
        memory.counted(b.pending, 'memory')
      ),
      'Run `pymem embed` once or `pymem run` all the time, or, if keyword-only search is intended: '
      'select memory.configure(''{"retrieval_mode": "keyword"}'');'
    ),
    (
      b.status = 'active' and b.embedding_version_id is not null
      and b.oldest_at < as_of - interval '1 hour',
      'warning',
      format(
        'waiting for a vector of model %s: %s, for up to %s',
        b.model, memory.counted(b.pending, 'memory'), memory.age_in_words(b.oldest_at, as_of)
      ),
      'Run `pymem embed` or `pymem run` with that model.'
    ),
    (
      b.status = 'building' and b.pending = 0,
      'warning',
      format('every memory has its vector of model %s, and searches use the old ones', b.model),
      'select memory.activate_embedding_version(); or give up: select memory.cancel_reembedding();'
    ),
    (
      b.status = 'building' and b.pending > 0
      and b.claimed = 0 and b.oldest_at < as_of - interval '1 day',
      'warning',
      format(
        'the change to model %s is stalled: %s without a vector, for up to %s',
        b.model, memory.counted(b.pending, 'memory'), memory.age_in_words(b.oldest_at, as_of)
      ),
      'Run `pymem reembed` with that model, or cancel: '
      'select memory.cancel_reembedding();'
    ),
    (
      b.status = 'building' and b.pending > 0
      and not (b.claimed = 0 and b.oldest_at < as_of - interval '1 day'),
      'info',
      format(
        'a change to model %s is in progress: %s to go',
        b.model, memory.counted(b.pending, 'memory')
      ),
      'Switch when it is done: select memory.activate_embedding_version();'
    )
  ) as f (applies, severity, message, hint)
  where f.applies;

  return query
  select
    'warning', 'embeddings', q.target,
    format(
      'claimed by embedding workers five times or more, still without a vector: %s',
      memory.counted(count(*), 'memory')
    ),
    'See the log of the worker; memory.embedding_queue lists the memories.'
  from memory.embedding_queue as q
  where q.tenant_id = settings.tenant_id
    and q.target in ('active', 'building')
    and q.attempts >= 5
    and (q.claimed_until is null or q.claimed_until <= as_of)
  group by q.target;

  return query
  select
    'info', 'embeddings', 'embedding_rendering',
    format(
      'episodes should be embedded as "%s", but their vectors are made from "%s"',
      settings.embedding_rendering, v.rendering
    ),
    format('Embed them again: select memory.start_reembedding(%L, %L);', v.model, v.version)
  from memory.active_embedding_version() as v
  where v.rendering <> settings.embedding_rendering
    and not exists (
      select from memory.current_embedding_versions() as b
      where b.status = 'building' and b.rendering = settings.embedding_rendering
    );

  return query
  select
    'warning', 'embeddings', i.memory_type,
    format(
      'searches compare the vectors of %s, more than exact_scan_limit (%s)',
      memory.counted(c.documents, i.memory_type), settings.exact_scan_limit
    ),
    'select memory.rebuild_vector_indexes(); or, if that is intended, raise exact_scan_limit.'
  from memory.vector_indexes() as i
  join unnest(memory.corpus_sizes(memory.memory_type_names())) as c on c.memory_type = i.memory_type
  where i.method = 'exact' and c.documents > settings.exact_scan_limit
    and exists (select from memory.active_embedding_version());
end;
$$;

comment on function memory.examine_embeddings(memory.settings, timestamptz) is
'Memories that have waited for a vector for more than an hour, or have failed five times, a model '
'change that has stalled for a day or only needs the switch, vectors of another rendering, and '
'many vectors without an index.';

create or replace function memory.examine_consolidation(
  settings memory.settings,
  as_of timestamptz
)
  returns setof memory.finding
  language plpgsql
  stable
  strict
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  return query
  select
    'warning', 'consolidation',
    memory.enumerate(array_agg(d.butler order by d.oldest_at, d.butler)),
    format(
      'waiting for consolidation, which was due a day ago: %s, for up to %s',
      memory.counted(sum(d.waiting)::bigint, 'episode'),
      memory.age_in_words(min(d.oldest_at), as_of)
    ),
    format(
      'Run a consolidation worker (docs/consolidation.md). Episodes are kept for %s days.',
      settings.episode_ttl_days
    )
  from memory.list_due_consolidations(as_of - interval '1 day') as d
  where d.is_due and d.oldest_at < as_of - interval '1 day'
  having count(*) > 0;

  return query
  select f.severity, 'consolidation', f.status, f.message, f.hint
  from (
    select
      count(*) filter (where e.consolidation_status = 'failed') as failed,
      count(*) filter (where e.consolidation_status = 'dead_letter') as dead
    from memory.episodes as e
    where e.tenant_id = settings.tenant_id
      and e.consolidation_status in ('failed', 'dead_letter')
      and (e.expires_at is null or e.expires_at > as_of)
  ) as c
  cross join lateral (
    values
    (
      'failed', c.failed, 'info',
      format('failed and waiting for a retry: %s', memory.counted(c.failed, 'episode')),
      'See why: select errors from memory.list_consolidation_runs();'
    ),
    (
      'dead_letter', c.dead, 'warning',
      format(
        'given up after %s: %s',
        memory.counted(settings.consolidation_max_attempts, 'attempt'),
        memory.counted(c.dead, 'episode')
      ),
      'See why (select errors from memory.list_consolidation_runs();), then: '
      'select memory.requeue_episodes();'
    )
  ) as f (status, number, severity, message, hint)
  where f.number > 0;

  return query
  select
    'warning', 'consolidation', 'runs', 'the last three runs have failed',
    'See why: select errors from memory.list_consolidation_runs();'
  from (
    select r.status
    from memory.consolidation_runs as r
    where r.tenant_id = settings.tenant_id and r.status in ('proposed', 'done', 'failed', 'undone')
    order by r.started_at desc, r.id
    limit 3
  ) as r
  having count(*) = 3 and bool_and(r.status = 'failed');

  return query
  select
    'warning', 'consolidation', r.butler,
    format(
      'the lease of a run ended %s ago: its worker died, and no other has run since',
      memory.age_in_words(r.leased_until, as_of)
    ),
    'Run a consolidation worker (docs/consolidation.md): it releases the episodes.'
  from memory.consolidation_runs as r
  where r.tenant_id = settings.tenant_id
    and r.status = 'running'
    and r.leased_until < as_of - interval '1 hour';

  return query
  select
    'warning', 'consolidation', 'review',
    format(
      'proposed in %s, neither accepted nor rejected for up to %s',
      memory.counted(count(distinct p.run_id), 'run'), memory.age_in_words(min(p.created_at), as_of)
    ),
    'See memory.preview_proposals(); memory.accept_proposals and memory.reject_proposals.'
  from memory.consolidation_proposals as p
  where p.tenant_id = settings.tenant_id
    and p.status = 'proposed'
    and p.created_at < as_of - interval '7 days'
  having count(*) > 0;
end;
$$;

comment on function memory.examine_consolidation(memory.settings, timestamptz) is
'Episodes that wait although consolidation was due a day ago, failed episodes and dead letters, '
'consecutive runs that failed or whose lease ended an hour ago, and proposals that have waited for '
'a week.';

create or replace function memory.examine_jobs(
  settings memory.settings,
  as_of timestamptz
)
  returns setof memory.finding
  language plpgsql
  stable
  strict
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_cutoff timestamptz := as_of - interval '2 days';
  v_grace interval := make_interval(secs => settings.episode_pending_grace_days * 86400);
  v_due uuid[];
  v_aged bigint;
begin
  -- Not every scheduler records when a job ran last, so these look for work that it should have done.
  -- What was swept since is due as of then, too, as it has aged since, but it is not due now.
  v_due := array(
    select i.id
    from unnest(memory.decaying_type_names()) as t (memory_type)
    cross join lateral memory.due_memories(t.memory_type, settings, v_cutoff) as d
    cross join lateral unnest(d.ids) as i (id)
  );
  if v_due <> '{}' then
    v_aged := (
      select count(*)
      from unnest(memory.decaying_type_names()) as t (memory_type)
      cross join lateral memory.due_memories(t.memory_type, settings, as_of) as d
      cross join lateral unnest(d.ids) as due_now (id)
      join unnest(v_due) as due_then (id) on due_then.id = due_now.id
    );
  end if;

  return query
  select
    -- Not sealing events is a valid choice.
    case when j.job = 'seal_events' and j.schedule = 'off' then 'info' else 'warning' end,
    'jobs', j.job, o.message,
    format(
      'select %s; and make sure that something runs it (docs/operations.md): its schedule is "%s".',
      j.call, j.schedule
    )
  from memory.all_jobs(settings) as j
  join (
    select
      'run_decay_sweep' as job, v_aged > 0 as is_overdue,
      format(
        'overdue for a decay sweep for two days: %s',
        memory.counted(v_aged, 'memory')
      ) as message
    union all
    select
      'run_episode_cleanup', count(*) > 0,
      format(
        'expired more than two days ago but not deleted: %s', memory.counted(count(*), 'episode')
      )
    from memory.episodes as e
    where e.tenant_id = settings.tenant_id
      and e.expires_at < v_cutoff
      and (
        e.consolidation_status in ('consolidated', 'dead_letter')
        or e.expires_at < v_cutoff - v_grace
      )
    union all
    select
      'run_rule_hygiene', count(*) > 0,
      format(
        'overdue for inversion or promotion for two days: %s', memory.counted(count(*), 'rule')
      )
    from memory.rules as r
    where r.tenant_id = settings.tenant_id
      and r.lifecycle_state <> 'retracted'
      and r.maturity <> 'anti_pattern'
      and r.last_applied_at < v_cutoff
      and (
        r.metadata @> '{"needs_inversion": true}'
        or r.maturity = 'established'
        and memory.promoted_maturity(
          settings, r.maturity, r.success_count, r.effectiveness_score, r.created_at, v_cutoff
        ) = 'proven'
      )
    union all
    select
      'seal_events', e.created_at < as_of - interval '1 day',
      format(
        'the oldest event without a seal is %s old', memory.age_in_words(e.created_at, as_of)
      )
    from (
      select u.created_at
      from memory.unsealed_events(settings.tenant_id) as u
      order by u.seq
      limit 1
    ) as e
    union all
    select
      'fold_corpus_statistics', count(*) > 1000,
      format('not folded into the corpus statistics: %s', memory.counted(count(*), 'change'))
    from memory.corpus_deltas as d
    where d.tenant_id = settings.tenant_id
  ) as o on o.job = j.job
  where o.is_overdue;

  return query
  select
    'warning', 'jobs', 'pymem run',
    format(
      '`pymem run` was last seen %s ago and did not sign off',
      memory.age_in_words(s.seen_at, as_of)
    ),
    'Start it again (docs/operations.md); if something else runs the jobs from now on: '
    || case
      when exists (select from memory.job_runners as r where r.tenant_id = settings.tenant_id)
      then 'select memory.sign_off_runner();'
      else 'select memory.sign_off_runner_all_tenants();'
    end
  from memory.runner_seen_at(settings.tenant_id) as s (seen_at)
  where s.seen_at < as_of - interval '10 minutes';
end;
$$;

comment on function memory.examine_jobs(memory.settings, timestamptz) is
'Periodic jobs that are behind: the sweeps by two days, the seals by one, the folding by more than '
'a thousand changes; and a process of `pymem run` that has not been seen for ten minutes. Work '
'without a visible effect is not checked.';

create or replace function memory.examine_settings(settings memory.settings)
  returns setof memory.finding
  language plpgsql
  stable
  strict
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_default memory.settings := memory.default_settings(settings.tenant_id);
  v_room bigint := floor(settings.context_token_budget * settings.context_chars_per_token)::bigint;
  v_stored bigint;
begin
  return query
  select
    c.severity, 'settings', c.setting, c.message,
    case
      when c.severity = 'info' then 'Ignore this if it is intended. If not: '
      else 'Change it, for example to the default: '
    end || format(
      'select memory.configure(%L);',
      jsonb_build_object(c.setting, to_jsonb(v_default) -> c.setting)
    )
  from (
    values
    (
      'weight_relevance', 'warning', settings.weight_relevance = 0,
      'recall ranks without regard to the query'
    ),
    (
      'expiry_threshold', 'warning',
      settings.expiry_threshold > 0 and settings.expiry_threshold >= settings.fading_threshold,
      format(
        'nothing fades before it expires: expiry_threshold is %s, fading_threshold %s',
        settings.expiry_threshold, settings.fading_threshold
      )
    ),
    (
      'min_confidence', 'info', settings.min_confidence > settings.fading_threshold,
      format(
        'memories below a confidence of %s are no longer found, long before they fade (below %s)',
        settings.min_confidence, settings.fading_threshold
      )
    ),
    (
      'min_confidence', 'warning', settings.min_confidence > 0.5,
      format(
        'new rules, with confidence 0.5, are left out of recall and context: min_confidence is %s',
        settings.min_confidence
      )
    ),
    (
      'fading_threshold', 'warning', settings.fading_threshold > 0.5,
      format(
        'new rules, with confidence 0.5, fade at the next sweep: fading_threshold is %s',
        settings.fading_threshold
      )
    ),
    (
      'consolidation_max_confidence', 'warning',
      settings.consolidation_max_confidence
        < greatest(settings.min_confidence, settings.fading_threshold, settings.expiry_threshold),
      format(
        'facts inferred by consolidation, with confidence %s at most, fade at once or are not '
        'found',
        settings.consolidation_max_confidence
      )
    ),
    (
      'episode_ttl_days', 'warning',
      settings.episode_ttl_days * 24 < settings.consolidation_interval_hours,
      format(
        'episodes expire after %s days, but consolidation is due every %s hours',
        settings.episode_ttl_days, settings.consolidation_interval_hours
      )
    ),
    (
      'rule_proven_successes', 'warning',
      settings.rule_proven_successes < settings.rule_established_successes,
      format(
        'proven requires fewer successes (%s) than established (%s)',
        settings.rule_proven_successes, settings.rule_established_successes
      )
    ),
    (
      'rule_proven_effectiveness', 'warning',
      settings.rule_proven_effectiveness < settings.rule_established_effectiveness,
      format(
        'proven requires less effectiveness (%s) than established (%s)',
        settings.rule_proven_effectiveness, settings.rule_established_effectiveness
      )
    ),
    (
      'rule_inversion_effectiveness', 'warning',
      settings.rule_inversion_effectiveness > settings.rule_established_effectiveness,
      format(
        'rules become anti-patterns at an effectiveness (below %s) that makes others established '
        '(from %s)',
        settings.rule_inversion_effectiveness, settings.rule_established_effectiveness
      )
    ),
    (
      'context_token_budget', 'error', v_room < length(E'# Memory Context\n'),
      format('memory.context has no room for its heading: %s characters', v_room)
    ),
    (
      'context_token_budget', 'warning', v_room between length(E'# Memory Context\n') and 99,
      format('memory.context has room for little more than its heading: %s characters', v_room)
    ),
    (
      'context_facts_share', 'info',
      settings.context_facts_share + settings.context_rules_share
        + settings.context_warnings_share + settings.context_episodes_share = 0,
      'no section of memory.context has a share, so facts may take all of it'
    ),
    (
      'ranking', 'info',
      settings.ranking = 'specified'
        and (settings.rrf_k, settings.keyword_match, settings.min_relevance, settings.min_evidence)
          <> (v_default.rrf_k, v_default.keyword_match, v_default.min_relevance,
            v_default.min_evidence),
      'rrf_k, keyword_match, min_relevance and min_evidence have no effect while ranking is '
      '"specified"'
    ),
    (
      'retrieval_mode', 'error',
      settings.retrieval_mode = 'semantic'
        and not exists (select from memory.active_embedding_version()),
      'searches are refused: retrieval_mode is "semantic", but no embedding model is registered'
    ),
    (
      'text_search_config', 'error',
      not exists (
        select from pg_ts_config as t
        where t.cfgname = settings.text_search_config and pg_ts_config_is_visible(t.oid)
      ),
      format(
        'stores and searches are refused: no text search configuration is named %s',
        quote_literal(settings.text_search_config)
      )
    )
  ) as c (setting, severity, applies, message)
  where c.applies;

  v_stored := (
    select count(*) from (
      select e.text_search_config from memory.episodes as e
      where e.tenant_id = settings.tenant_id
      union all
      select f.text_search_config from memory.facts as f
      where f.tenant_id = settings.tenant_id
      union all
      select r.text_search_config from memory.rules as r
      where r.tenant_id = settings.tenant_id
    ) as m
    where m.text_search_config <> settings.text_search_config
  );
  if v_stored > 0 then
    return query values (
      'warning', 'settings', 'text_search_config',
      format(
        'indexed in another language than that of searches (%s): %s',
        settings.text_search_config, memory.counted(v_stored, 'memory')
      ),
      case
        when cardinality(memory.query_languages(settings)) > 1
        then 'They are found meanwhile. Run pymem worker, or repeat until it returns 0: '
          'select memory.reindex_texts();'
        else format(
          'Index them again: select memory.configure(%L);',
          jsonb_build_object('text_search_config', settings.text_search_config)
        )
      end
    );
  end if;
end;
$$;

comment on function memory.examine_settings(memory.settings) is
'Settings that contradict each other, or the data.';

create or replace function memory.examine_fading(
  settings memory.settings,
  as_of timestamptz
)
  returns setof memory.finding
  language plpgsql
  stable
  strict
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_threshold float8 := greatest(settings.min_confidence, settings.expiry_threshold);
  v_day float8 := (extract(epoch from as_of) / 86400)::float8;
begin
  if v_threshold = 0 then
    return;
  end if;

  return query
  select
    'info', 'fading', 'confidence',
    format(
      'facts (%s) and rules (%s) fall below a confidence of %s within 14 days, and so out of searches',
      f.facts, f.rules, v_threshold
    ),
    'See which: pymem list --order fades-next. Confirm what still holds: pymem confirm, or '
    'memory.confirm_memory. Store what holds for good as stable or permanent.'
  from (
    select
      count(*) filter (where m.memory_type = 'fact') as facts,
      count(*) filter (where m.memory_type = 'rule') as rules
    from (
      -- An index holds the facts of one rate in the order of decay_key.
      select s.*
      from unnest('{stable,standard,volatile,ephemeral}'::text[]) as p (permanence)
      cross join lateral memory.decay_rate_of(p.permanence) as r (decay_rate)
      cross join lateral (
        select l.*
        from memory.listed_memories as l
        where l.tenant_id = settings.tenant_id and l.memory_type = 'fact'
          and l.decay_rate = r.decay_rate
          and l.decay_key >= ln(v_threshold) + r.decay_rate * v_day - 1e-6
          and l.decay_key <= ln(v_threshold) + r.decay_rate * (v_day + 14) + 1e-6
      ) as s
      union all
      select l.*
      from memory.listed_memories as l
      where l.tenant_id = settings.tenant_id and l.memory_type = 'rule' and l.decay_rate > 0
    ) as m
    cross join lateral memory.reaches_at(
      m.confidence, m.decay_rate, m.last_confirmed_at, v_threshold
    ) as e (ends_at)
    where m.is_decaying
      and e.ends_at >= as_of and e.ends_at < as_of + interval '14 days'
      -- What holds for some weeks only is meant to fade.
      and e.ends_at - m.last_confirmed_at > interval '60 days'
  ) as f
  where f.facts + f.rules > 0;
end;
$$;

comment on function memory.examine_fading(memory.settings, timestamptz) is
'Facts and rules whose effective confidence falls below min_confidence within 14 days, other than '
'those that hold less than 60 days anyway.';

create or replace function memory.examine_tokens(
  settings memory.settings,
  as_of timestamptz
)
  returns setof memory.finding
  language plpgsql
  stable
  strict
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_soon timestamptz := as_of + interval '14 days';
begin
  -- A token created for a shorter time is meant to expire, and one with a successor may.
  return query
  select
    'warning', 'tokens', t.name,
    format(
      'the token %L of role %s is in use and expires in %s',
      t.name, t.role, memory.age_in_words(as_of, t.expires_at)
    ),
    format(
      'Create a new one and distribute it: '
      'select token from memory.create_access_token(name => %L, role => %L, actor => %L);',
      t.name, t.role, t.actor
    )
  from memory.access_tokens as t
  where t.tenant_id = settings.tenant_id
    and t.revoked_at is null
    and t.expires_at > as_of
    and t.expires_at <= v_soon
    and t.expires_at - t.created_at > interval '14 days'
    and t.last_used_on >= (as_of at time zone 'UTC')::date - 14
    and not exists (
      select from memory.access_tokens as n
      where n.tenant_id = t.tenant_id
        and (n.name, n.role, n.actor) = (t.name, t.role, t.actor)
        and n.revoked_at is null
        and n.expires_at > v_soon
    );

  return query
  select
    'info', 'tokens', t.name,
    format(
      'the token %L of role admin was created %s ago',
      t.name, memory.age_in_words(t.created_at, as_of)
    ),
    format(
      'Replace it regularly; then: select memory.revoke_access_token(%L);', t.id
    )
  from memory.access_tokens as t
  where t.tenant_id = settings.tenant_id
    and t.revoked_at is null
    and t.expires_at > as_of
    and t.role = 'admin'
    and t.created_at < as_of - interval '365 days';
end;
$$;

comment on function memory.examine_tokens(memory.settings, timestamptz) is
'Access tokens that were used within the last 14 days and expire within the next 14 days; those of '
'role admin that are older than a year.';

commit;
