-- Deploy pymem:functions/extras/entries/query_memory to pg

begin;

set local role memory_owner;

create or replace function memory.entries_in_scope(
  tenant_id text,
  user_id text,
  persona_id text,
  session_id text,
  approval memory.approvals
)
  returns setof uuid
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  -- Each branch is a range of entries_guarded_idx.
  select e.id
  from memory.entries as e
  where e.tenant_id = entries_in_scope.tenant_id and e.lifecycle_state = 'guarded'
    and e.user_id = entries_in_scope.user_id
    and (e.persona_id is null or e.persona_id = entries_in_scope.persona_id)
    and (e.session_id is null or e.session_id = entries_in_scope.session_id)
  union
  select e.id
  from memory.entries as e
  where e.tenant_id = entries_in_scope.tenant_id and e.lifecycle_state = 'guarded'
    and e.user_id is null
    and e.persona_id = entries_in_scope.persona_id
    and (e.session_id is null or e.session_id = entries_in_scope.session_id)
  union
  select e.id
  from memory.entries as e
  where e.tenant_id = entries_in_scope.tenant_id and e.lifecycle_state = 'guarded'
    and e.user_id is null and e.persona_id is null
    and e.session_id = entries_in_scope.session_id
  union
  select e.id
  from memory.entries as e
  where e.tenant_id = entries_in_scope.tenant_id and e.lifecycle_state = 'guarded'
    and approval.id is not null
    and (approval.user_id is null or e.user_id = approval.user_id)
    and (approval.persona_id is null or e.persona_id = approval.persona_id)
    and (approval.session_id is null or e.session_id = approval.session_id);
$$;

comment on function memory.entries_in_scope(text, text, text, text, memory.approvals) is
'The guarded entries of which each id that they name, of user, persona and session, is one of '
'these, and those that an approval of cross_scope names; unordered.';

create or replace function memory.rank_entries(
  entry_ids uuid[],
  query text,
  embedding vector,
  max_results integer,
  settings memory.settings,
  as_of timestamptz
)
  returns table (
    id uuid,
    confidence float8,
    effective_confidence float8,
    relevance float8,
    score float8
  )
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_words memory.keyword_query := memory.read_query(query, settings.keyword_match, settings);
  v_terms tsquery[] := array(
    select memory.one_lexeme(l.lexeme)
    from unnest(v_words.lexemes) with ordinality as l (lexeme, position)
    order by l.position
  );
  v_asks boolean := v_words.lexemes is not null or embedding is not null;
  v_in_general boolean := memory.asks_in_general(query);
  v_version memory.embedding_versions;
begin
  select v.* into v_version
  from memory.embedding_versions as v
  where v.tenant_id = settings.tenant_id and v.status = 'active';

  return query
  with eligible as materialized (
    select
      e.id, e.confidence, c.effective_confidence, e.importance, e.created_at, e.search_vector,
      case
        when e.embedding_version_id = v_version.id then 1 - (e.embedding <=> rank_entries.embedding)
      end as similarity
    from unnest(entry_ids) as i (id)
    join memory.entries as e on e.tenant_id = settings.tenant_id and e.id = i.id
    cross join lateral (
      select memory.guarded_confidence(
        e.confidence, e.decay_rate, e.last_confirmed_at, as_of
      ) as effective_confidence
    ) as c
    where e.created_at <= as_of
      and (e.expires_at is null or e.expires_at > as_of)
      and c.effective_confidence >= settings.expiry_threshold
  ),
  corpus as materialized (
    select
      count(*) as documents,
      coalesce(nullif(avg(length(e.search_vector)), 0), 1)::float8 as average_terms
    from eligible as e
  ),
  occurrences as materialized (
    select
      e.id, t.position,
      v_words.all_terms is null or e.search_vector @@ v_words.condition as is_match,
      memory.saturate_frequency(
        memory.term_frequency(e.search_vector, t.term),
        length(e.search_vector) / c.average_terms,
        settings.bm25_k1, settings.bm25_b
      ) as saturation
    from eligible as e
    cross join corpus as c
    join unnest(v_terms) with ordinality as t (term, position) on e.search_vector @@ t.term
  ),
  terms as materialized (
    select
      t.position,
      memory.inverse_document_frequency(
        c.documents, (select count(*) from occurrences as o where o.position = t.position)
      ) as weight
    from corpus as c
    cross join generate_subscripts(v_terms, 1) as t (position)
  ),
  matches as (
    select
      o.id,
      sum(t.weight * o.saturation)
      / ((settings.bm25_k1 + 1) * (select sum(a.weight) from terms as a)) as share
    from occurrences as o
    join terms as t on t.position = o.position
    where o.is_match
    group by o.id
  ),
  weighed as (
    select
      e.*,
      case when v_asks then memory.weigh_evidence(
        memory.meaning_score(
          e.similarity, v_version.similarity_floor, v_version.similarity_ceiling
        ),
        case
          when e.similarity is null then memory.words_score(m.share, 0)
          else memory.words_score(m.share)
        end,
        settings.meaning_weight, settings.words_weight
      ) end as relevance
    from eligible as e
    left join matches as m on m.id = e.id
  ),
  judged as (
    select
      w.*,
      max(w.relevance) over () as best,
      memory.required_evidence(settings.min_evidence, c.documents, v_in_general) as required
    from weighed as w
    cross join corpus as c
  )
  select
    j.id, j.confidence, j.effective_confidence, j.relevance,
    case
      when v_asks then memory.composite_score(
        j.relevance, j.importance,
        memory.recency_score(j.created_at, settings.recency_half_life_days, as_of),
        j.effective_confidence, settings.weight_relevance, settings.weight_importance,
        settings.weight_recency, settings.weight_confidence, settings.relevance_sharpness
      )
      else j.effective_confidence
    end as score
  from judged as j
  where not v_asks
    or j.best >= j.required
    and j.relevance >= memory.required_relevance(settings.min_relevance, j.required, j.best)
  order by score desc, j.created_at desc, j.id
  limit max_results;
end;
$$;

comment on function memory.rank_entries(
  uuid[], text, vector, integer, memory.settings, timestamptz
) is
'Ranks guarded entries for a query as memory.recall ranks memories, all compared exactly: by '
'relevance in meaning and words, importance, recency of creation and effective confidence. Leaves '
'out what has expired or faded and what is not relevant. Without a searchable word or vector: '
'all, by effective confidence.';

create or replace function memory.query_memory(
  query text,
  user_id text default null,
  persona_id text default null,
  session_id text default null,
  max_results integer default 10,
  approval_id uuid default null,
  embedding vector default null,
  embedding_version_id uuid default null,
  as_of timestamptz default now()
)
  returns table (
    id uuid,
    entry_id text,
    given_id text,
    content text,
    scope jsonb,
    category text,
    confidence float8,
    effective_confidence float8,
    importance text,
    importance_score float8,
    source text,
    created_at timestamptz,
    expires_at timestamptz,
    keywords jsonb,
    embedding_id uuid,
    relevance float8,
    score float8
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_limit integer := memory.check_limit(max_results);
  v_approval memory.approvals;
  v_reason text;
  v_ids uuid[];
  v_confidences float8[];
  v_relevances float8[];
  v_scores float8[];
  v_event_id uuid;
begin
  perform memory.check_text(n.name, n.value, 128)
  from (
    values
    ('user_id', query_memory.user_id), ('persona_id', query_memory.persona_id),
    ('session_id', query_memory.session_id)
  ) as n (name, value)
  where n.value is not null;
  perform
    memory.check_query(query),
    memory.check_query_embedding(query_memory.embedding, query_memory.embedding_version_id),
    memory.check_time('as_of', as_of);

  if approval_id is not null then
    v_approval := memory.lock_approval(v_tenant_id, approval_id, 'cross_scope', as_of);
  end if;
  v_reason := case
    when approval_id is not null and v_approval.id is null then 'approval_invalid'
    when approval_id is null
      and coalesce(query_memory.user_id, query_memory.persona_id, query_memory.session_id) is null
    then 'scope_missing'
  end;
  if v_reason is null then
    select
      array_agg(r.id order by r.place), array_agg(r.effective_confidence order by r.place),
      array_agg(r.relevance order by r.place), array_agg(r.score order by r.place)
    into v_ids, v_confidences, v_relevances, v_scores
    from memory.rank_entries(
      array(
        select s.id
        from memory.entries_in_scope(
          v_tenant_id, query_memory.user_id, query_memory.persona_id, query_memory.session_id,
          v_approval
        ) as s (id)
        order by s.id
      ),
      query, query_memory.embedding, v_limit, v_settings, as_of
    ) with ordinality as r (id, confidence, effective_confidence, relevance, score, place);
  end if;

  v_event_id := memory.trace_memory(
    v_tenant_id, 'memory_query', null,
    jsonb_build_object(
      'scope', jsonb_build_object(
        'user_id', query_memory.user_id, 'persona_id', query_memory.persona_id,
        'session_id', query_memory.session_id
      ),
      'memories', (
        select coalesce(
          jsonb_agg(
            jsonb_build_object(
              'memory_id', e.id, 'confidence', e.confidence, 'effective_confidence', f.confidence
            )
            order by f.place
          ),
          '[]'
        )
        from unnest(v_ids, v_confidences) with ordinality as f (id, confidence, place)
        join memory.entries as e on e.tenant_id = v_tenant_id and e.id = f.id
      ),
      'approval_id', v_approval.id,
      'reason', v_reason
    ),
    v_reason
  );
  if v_approval.id is not null then
    perform memory.use_approval(v_tenant_id, v_approval.id, v_event_id, as_of);
  end if;

  return query
  select
    e.id, e.entry_id, substr(e.idempotency_key, length('write_memory:') + 1), e.content,
    jsonb_build_object(
      'user_id', e.user_id, 'persona_id', e.persona_id, 'session_id', e.session_id
    ),
    e.category, e.confidence, f.effective_confidence, memory.importance_word(e.importance),
    e.importance, e.source, e.created_at, e.expires_at, e.keywords, e.embedding_version_id,
    f.relevance, f.score
  from unnest(v_ids, v_confidences, v_relevances, v_scores) with ordinality
    as f (id, effective_confidence, relevance, score, place)
  join memory.entries as e on e.tenant_id = v_tenant_id and e.id = f.id
  order by f.place;
end;
$$;

comment on function memory.query_memory(
  text, text, text, text, integer, uuid, vector, uuid, timestamptz
) is
'The guarded entries of a scope that fit a query, best first; no others: of an entry, each of '
'user_id, persona_id and session_id that it names must be the one given here. approval_id: one of '
'cross_scope, used up, adds the entries that it names. confidence is the stored one, '
'effective_confidence after decay (memory.guarded_confidence); being returned changes neither. An '
'empty query returns all, by effective confidence. Expired and faded entries are never returned. '
'Each call is traced (memory_query); without a scope, or with an approval that cannot be used, it '
'returns nothing, and the event says why. given_id: the id that the writer gave. Errors: PM002, '
'PM004 vector from another embedding version.';
grant execute on function memory.query_memory to memory_writer;

commit;
