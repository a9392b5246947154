-- Deploy pymem:functions/core/search/candidates to pg

begin;

-- memory_search owns the functions in this file: see neighbors.sql. memory.find_memories sets
-- plan_cache_mode and jit for the functions it calls.
--
-- There are two retrieval paths. fuse_lists reads a semantic and a keyword list and fuses them by
-- rank: semantic_search, keyword_search, hybrid_search and the ranking "specified". weigh_memories
-- scores the relevance of each memory directly: search, recall and context.

set local role memory_owner;

create or replace function memory.normalize_name(name text)
  returns text
  language sql
  immutable
  parallel safe
  return ' ' || btrim(regexp_replace(
    case
      when octet_length(name) <> length(name)
      then memory.fold_text(
        lower(memory.pair_characters(memory.fold_text(name), with_single => false))
      )
      else lower(name)
    end,
    '[^[:alnum:]]+', ' ', 'g'
  )) || ' ';

comment on function memory.normalize_name(text) is
'Folds a name or a text (memory.fold_text) into lowercase words between single spaces, so that '
'position() matches whole words only. In scripts without spaces each pair of adjacent characters '
'counts as a word (memory.pair_characters): a two-character name matches anywhere in a text, a '
'one-character name only where it stands alone.';
grant execute on function memory.normalize_name to memory_search;

create or replace function memory.recency_of(
  last_referenced_at timestamptz,
  created_at timestamptz,
  settings memory.settings,
  as_of timestamptz
)
  returns float8
  language sql
  stable
  parallel safe
  return memory.recency_score(
    case
      when (settings).recency_null = 'created_at' then coalesce(last_referenced_at, created_at)
      else last_referenced_at
    end,
    (settings).recency_half_life_days,
    as_of
  );

comment on function memory.recency_of(timestamptz, timestamptz, memory.settings, timestamptz) is
'The recency score of a memory by the settings recency_null and recency_half_life_days, 0..1.';
grant execute on function memory.recency_of to memory_search;

grant create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.read_query(
  query text,
  keyword_match text,
  settings memory.settings
)
  returns memory.keyword_query
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set client_min_messages = warning -- no NOTICE about words too long to index
  set enable_seqscan = off -- one row is enough, but none must not take all
as $$
declare
  -- More than one only while texts wait to be indexed again.
  v_languages text[] := memory.query_languages(settings);
  v_language text;
  v_text text := coalesce(query, '');
  v_vector tsvector := memory.query_vector(settings.text_search_config, v_text);
  v_past text := case
    when keyword_match = 'all' or settings.ranking = 'specified' then v_text
    else memory.use_past_forms(v_text)
  end;
  v_past_vector tsvector;
  v_past_terms bigint[];
  v_plain boolean := octet_length(query) = length(query)
    and not memory.reads_accents(settings.text_search_config)
    and cardinality(v_languages) = 1;
  v_query memory.keyword_query;
begin
  if v_past <> v_text then
    v_past_vector := memory.query_vector(settings.text_search_config, v_past);
    v_past_terms := memory.hash_terms(
      settings.tenant_id,
      tsvector_to_array(ts_delete(v_past_vector, tsvector_to_array(v_vector)))
    );
    -- What is known may be told in the present: where somebody teaches.
    if v_past_terms <> '{}' and exists (
      select
      from memory.searchable_memories as m
      where m.is_live
        and m.tenant_id collate "POSIX" = settings.tenant_id
        and memory.search_terms(m.tenant_id, m.search_vector) && v_past_terms
    ) then
      v_text := v_past;
      v_vector := v_past_vector;
    end if;
  end if;
  foreach v_language in array v_languages[2:] loop
    v_vector := v_vector || memory.query_vector(v_language, v_text);
  end loop;
  if v_vector = '' then
    return null;
  end if;
  -- A query may be a whole prompt: only its first 64 distinct words are looked up.
  v_query.lexemes := case
    when length(v_vector) <= 64 then tsvector_to_array(v_vector)
    else array(
      select w.lexeme
      from unnest(v_languages) as l (language)
      cross join lateral unnest(
        memory.query_lexemes(l.language, v_text)
      ) with ordinality as w (lexeme, position)
      group by w.lexeme
      order by min(w.position), w.lexeme
      limit 64
    )
  end;
  v_query.languages := cardinality(v_languages);
  v_query.any_terms := memory.hash_terms(settings.tenant_id, v_query.lexemes);
  if keyword_match = 'all' then
    if v_plain then
      v_query.condition := plainto_tsquery(
        settings.text_search_config::regconfig,
        memory.split_numbers(memory.preprocess_search_query(query))
      );
    else
      v_query.condition := memory.every_word(settings.text_search_config, query);
      foreach v_language in array v_languages[2:] loop
        v_query.condition := v_query.condition || memory.every_word(v_language, query);
      end loop;
    end if;
    -- If a word has alternatives, not every lexeme is required.
    v_query.all_terms := case
      when v_plain and v_query.condition::text !~ '\|' then v_query.any_terms
      else memory.hash_terms(
        settings.tenant_id,
        array(
          select l.lexeme
          from unnest(v_query.lexemes) as l (lexeme)
          where not ts_delete(v_vector, l.lexeme) @@ v_query.condition
        )
      )
    end;
  else
    v_query.condition := memory.any_lexeme(v_query.lexemes);
  end if;
  return v_query;
end;
$$;

comment on function memory.read_query(text, text, memory.settings) is
'Parses a query for keyword search, which matches any or all of its words: any of them also as '
'memory.use_past_forms reads it, if a memory has such a form. NULL if the query has no searchable '
'word.';
grant execute on function memory.read_query to memory_owner;

-- begin atomic instead of SET search_path, so that the planner inlines the function.
-- noqa: disable=AL03,AM03,AM09,RF01,RF02,RF03,ST05,ST06,ST09
create or replace function memory.fuse_lists(
  memory_types text[],
  mode text,
  words memory.keyword_query,
  embedding vector,
  scope text,
  depth integer,
  min_confidence float8,
  rrf_k integer,
  settings memory.settings,
  as_of timestamptz
)
  returns setof memory.fused_candidate
  language sql
  stable
  rows 50 -- the default estimate of 1000 rows leads to worse joins
begin atomic
  select
    t.memory_type, t.type_position, l.id, l.created_at, l.similarity, l.semantic_rank,
    l.keyword_score, l.keyword_rank, r.rrf_score, null::float8, null::float8, null::float8,
    null::float8, null::float8, null::float8,
    case when mode = 'hybrid' then memory.relevance_score(r.rrf_score, rrf_k) end,
    null::text,
    case mode
      when 'semantic' then l.similarity
      when 'keyword' then l.keyword_score
      else r.rrf_score
    end
  from unnest(memory_types) with ordinality as t (memory_type, type_position)
  cross join lateral (
    select
      coalesce(s.id, k.id) as id,
      coalesce(s.created_at, k.created_at) as created_at,
      s.weight as similarity,
      s.place as semantic_rank,
      k.weight as keyword_score,
      k.place as keyword_rank
    from memory.nearest_neighbors(
      t.memory_type, case when mode <> 'keyword' then embedding end, fuse_lists.scope, depth,
      fuse_lists.min_confidence, (settings).exact_scan_limit, as_of
    ) with ordinality as s (id, weight, created_at, place)
    full join (
      select m.*, row_number() over (order by m.weight desc, m.created_at desc, m.id) as place
      from memory.keyword_matches(
        (settings).tenant_id, t.memory_type, (words).condition, (words).any_terms,
        (words).all_terms, fuse_lists.scope, depth, fuse_lists.min_confidence, as_of
      ) as m
      where (words).any_terms is not null
    ) as k
    on k.id = s.id
  ) as l
  cross join lateral (
    select case when mode = 'hybrid' then
      memory.rrf_score(l.semantic_rank, l.keyword_rank, depth + 1, rrf_k)
    end as rrf_score
    limit 1 -- makes this a computed value, so that relevance_score can be inlined
  ) as r;
end;

-- noqa: enable=AL03,AM03,AM09,RF01,RF02,RF03,ST05,ST06,ST09

comment on function memory.fuse_lists(
  text[], text, memory.keyword_query, vector, text, integer, float8, integer, memory.settings,
  timestamptz
) is
'Reads up to depth entries of the semantic and the keyword list of each type and fuses them by '
'rank; unordered.';

create or replace function memory.near_by_index(
  memory_types text[],
  embedding vector,
  near memory.word_match[],
  matching memory.word_match[]
)
  returns table (
    memory_type text,
    id uuid,
    created_at timestamptz,
    similarity float8
  )
  language plpgsql
  stable
  rows 50 -- the default estimate of 1000 rows leads to worse joins
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  return query
  select n.memory_type, n.id, n.created_at, n.weight
  from unnest(near) as n
  union all
  select w.memory_type, w.id, w.created_at, 1 - (m.embedding <=> near_by_index.embedding)
  from unnest(matching) as w
  join memory.searchable_memories as m
    on m.tenant_id = v_tenant_id and m.memory_type = w.memory_type and m.id = w.id
  where w.memory_type = any (memory_types)
    and not exists (select from unnest(near) as n where n.id = w.id);
end;
$$;

comment on function memory.near_by_index(
  text[], vector, memory.word_match[], memory.word_match[]
) is
'The memories that an approximate index has found (near, weighed by similarity) and the ones of '
'these types that match by words, with their similarities; NULL for a word match without a vector.';

create or replace function memory.boost_episodes(
  candidates memory.fused_candidate[],
  settings memory.settings
)
  returns table (
    id uuid,
    session_id uuid,
    by_neighbors float8,
    by_session float8
  )
  language plpgsql
  stable
  rows 50 -- the default estimate of 1000 rows leads to worse joins
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  with turns as materialized (
    select
      c.id, c.relevance, e.session_id, p.id as previous_id,
      e.metadata ->> 'speaker' as speaker, memory.ends_with_question(e.content) as asks
    from unnest(candidates) as c
    join memory.episodes as e on e.tenant_id = settings.tenant_id and e.id = c.id
    left join lateral (
      select o.id
      from memory.episodes as o
      where o.tenant_id = settings.tenant_id
        and o.session_id = e.session_id
        and (o.created_at, o.id) < (c.created_at, c.id)
      order by o.created_at desc, o.id desc
      limit 1
    ) as p on true
    where c.memory_type = 'episode' and e.session_id is not null
  ),
  neighbors as (
    select n.id, max(n.relevance) as best
    from (
      -- What somebody else says after a question answers it.
      select
        t.id,
        case
          when o.asks and (t.speaker <> o.speaker) is not false then 2 * o.relevance
          else o.relevance
        end as relevance
      from turns as t
      join turns as o on o.id = t.previous_id
      union all
      select t.previous_id, t.relevance from turns as t
    ) as n
    group by n.id
  ),
  sessions as (
    select s.session_id, sum(s.relevance) / 3 as best
    from (
      select
        t.session_id, t.relevance,
        row_number() over (partition by t.session_id order by t.relevance desc, t.id) as position
      from turns as t
    ) as s
    where s.position <= 3
    group by s.session_id
  )
  select
    t.id, t.session_id,
    least(1.0, settings.boost_neighbors * coalesce(n.best, 0)), settings.boost_session * s.best
  from turns as t
  join sessions as s on s.session_id = t.session_id
  left join neighbors as n on n.id = t.id;
end;
$$;

comment on function memory.boost_episodes(memory.fused_candidate[], memory.settings) is
'Boosts for candidates that are turns of a session. by_neighbors: from the more relevant of the '
'turns before and after it, if they are candidates; one before it that ends with a question of '
'somebody else counts twice. by_session: from the three most relevant '
'candidates of its session, their sum divided by three.';
grant execute on function memory.boost_episodes to memory_owner;

create or replace function memory.weigh_memories(
  memory_types text[],
  words memory.keyword_query,
  embedding vector,
  scope text,
  depth integer,
  min_confidence float8,
  corpus memory.corpus_size[],
  settings memory.settings,
  as_of timestamptz
)
  returns memory.fused_candidate[]
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
  set enable_seqscan = off -- vectors are read from their covering index: see exact_neighbors
  set enable_bitmapscan = off
  set jit = off -- compiling costs even more
  set max_parallel_workers_per_gather = 0 -- so does starting workers
as $$
#variable_conflict use_column
declare
  v_tenant_id text := settings.tenant_id;
  -- Variables, because reading fields of a record for each row is expensive.
  v_meaning_weight float8 := settings.meaning_weight;
  v_words_weight float8 := settings.words_weight;
  v_episode_meaning_weight float8 := settings.episode_meaning_weight;
  v_episode_words_weight float8 := settings.episode_words_weight;
  v_approximate text[] := array[]::text[];
  v_near memory.word_match[] := array[]::memory.word_match[]; -- of these
  v_floor float8;
  v_ceiling float8;
  v_pool integer := depth;
begin
  if exists (
    select from unnest(corpus) as c where c.memory_type = 'episode' and c.documents > 0
  ) then
    v_pool := greatest(depth, settings.candidate_pool);
  end if;
  if embedding is not null then
    select v.similarity_floor, v.similarity_ceiling into v_floor, v_ceiling
    from memory.embedding_versions as v
    where v.tenant_id = v_tenant_id and v.status = 'active';
    v_approximate := array(
      select t.type
      from unnest(memory_types) as t (type)
      where memory.use_approximate_index(t.type, settings.exact_scan_limit)
    );
    if v_approximate <> '{}' then
      v_near := array(
        select row(t.type, n.id, n.created_at, n.weight, null)::memory.word_match
        from unnest(v_approximate) as t (type)
        cross join lateral memory.nearest_neighbors(
          t.type, weigh_memories.embedding, weigh_memories.scope, v_pool,
          weigh_memories.min_confidence, settings.exact_scan_limit, as_of
        ) as n
      );
    end if;
  end if;

  -- The most relevant by meaning and words, with extra episodes for the boosts to choose from.
  return array(
    with matching as materialized (
      select b.*
      from memory.bm25_matches(
        corpus, words, v_approximate, v_near, false, settings, weigh_memories.scope,
        weigh_memories.min_confidence, as_of
      ) as b
      where words.any_terms is not null
    ),
    near as (
      select
        m.memory_type, m.id, m.created_at,
        1 - (m.embedding <=> weigh_memories.embedding) as similarity
      from memory.searchable_memories as m
      where m.is_live
        and m.tenant_id collate "C" = v_tenant_id
        and m.memory_type = any (memory_types)
        and m.memory_type <> all (v_approximate)
        and weigh_memories.embedding is not null
        and m.embedding is not null
        and (m.expires_at is null or m.expires_at > as_of)
        and memory.is_in_scope(m.memory_type, m.scope, weigh_memories.scope)
        and (
          weigh_memories.min_confidence = 0
          or memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of)
            >= weigh_memories.min_confidence
        )
      union all
      select i.*
      from memory.near_by_index(
        v_approximate, weigh_memories.embedding, v_near,
        array(
          select b::memory.word_match
          from matching as b
          order by b.weight desc, b.created_at desc, b.id
          limit v_pool
        )
      ) as i
      where v_approximate <> '{}'
      offset 0 -- computes each similarity only once
    ),
    scored as (
      select
        coalesce(n.memory_type, b.memory_type) as memory_type,
        coalesce(n.id, b.id) as id,
        coalesce(n.created_at, b.created_at) as created_at,
        n.similarity,
        b.weight as keyword_score,
        memory.meaning_score(n.similarity, v_floor, v_ceiling) as meaning,
        case
          when n.similarity is null then memory.words_score(b.share, 0)
          else memory.words_score(b.share)
        end as words
      from near as n
      full join matching as b on b.memory_type = n.memory_type and b.id = n.id
      where n.id is not null or b.memory_type <> all (v_approximate)
      offset 0 -- computes each score only once
    ),
    weighed as (
      select
        s.*,
        memory.weigh_evidence(
          s.meaning, s.words,
          case s.memory_type
            when 'episode' then v_episode_meaning_weight else v_meaning_weight
          end,
          case s.memory_type when 'episode' then v_episode_words_weight else v_words_weight end
        ) as relevance
      from scored as s
      order by
        relevance desc, s.similarity desc nulls last, s.created_at desc, s.memory_type, s.id
      limit v_pool
    )
    select row(
      w.memory_type, array_position(memory_types, w.memory_type), w.id, w.created_at,
      w.similarity, null, w.keyword_score, null, null, w.meaning, w.words, null, null, null, null,
      w.relevance, null, null
    )::memory.fused_candidate
    from (
      select
        w.*,
        row_number() over (
          partition by w.memory_type = 'episode'
          order by
            w.relevance desc, w.similarity desc nulls last, w.created_at desc, w.memory_type, w.id
        ) as position
      from weighed as w
    ) as w
    where w.position <= depth or w.memory_type = 'episode'
  );
end;
$$;

comment on function memory.weigh_memories(
  text[], memory.keyword_query, vector, text, integer, float8, memory.corpus_size[],
  memory.settings, timestamptz
) is
'The memories of the given types that match a query best by meaning and words: up to depth facts '
'and rules, and more episodes for the boosts to choose from (setting candidate_pool); unordered. '
'relevance: a noisy-or of both, weighted by the settings, or of words alone for a memory without a '
'vector. corpus: memory.corpus_sizes of the types.';

create or replace function memory.asks_for(
  question memory.question,
  subject text,
  predicate text,
  text_search_config text
)
  returns boolean
  language sql
  stable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    (question).of_state
    and (not (question).of_own or memory.normalize_name(subject) = any ((question).selves))
    and p.lexemes <> '{}' and p.lexemes <@ (question).lexemes
    and case
      when (question).core <@ (p.lexemes || p.of_subject || (question).mentions) then true
      -- "What is my job? (works as)": read_relations adds what a fact calls it.
      when p.lexemes && (question).core then (question).core <@ (
        p.lexemes || p.of_subject || (question).mentions || tsvector_to_array(
          memory.query_vector(
            text_search_config,
            array_to_string(
              (
                memory.synonyms_of(array_to_string(memory.key_words(predicate), ' '), null)
              ).words,
              ' '
            )
          )
        )
      )
      else false
    end
    -- What somebody does not eat is no answer to what they eat.
    and memory.normalize_name(predicate)
      !~ (
        ' (no|not|never|cannot|dont|doesnt|without|nicht|kein|keine|nie|ohne|ne|pas|jamais|sans|'
        'nunca|sin|niet|geen|nooit) '
      )
  from (
    values (
      tsvector_to_array(
        memory.query_vector(text_search_config, replace(predicate, '_', ' '))
      ),
      tsvector_to_array(memory.query_vector(text_search_config, subject))
    )
  ) as p (lexemes, of_subject);
$$;

comment on function memory.asks_for(memory.question, text, text, text) is
'Whether a question asks for just what a fact of this subject holds under this predicate: it '
'contains the predicate, no other words but those of the subject, those that mean the same '
'(memory.synonyms_of), and such as use or name, and is '
'not about what happened. Who asks for something of his or her own asks for facts about the user '
'only (memory.subjects_of_user). NULL if words do not count.';
grant execute on function memory.asks_for to memory_owner;

-- begin atomic instead of SET search_path, so that the planner inlines the function.
-- noqa: disable=AL03,AM03,AM09,RF01,RF02,RF03,ST05,ST06,ST09
create or replace function memory.judge_candidates(
  candidates memory.fused_candidate[],
  question memory.question,
  documents bigint,
  min_relevance float8,
  settings memory.settings,
  as_of timestamptz
)
  returns setof memory.fused_candidate
  language sql
  stable
  rows 50 -- the default estimate of 1000 rows leads to worse joins
begin atomic
  select
    d.memory_type, d.type_position, d.id, d.created_at, d.similarity, d.semantic_rank,
    d.keyword_score, d.keyword_rank, d.rrf_score, d.meaning, d.words, d.by_neighbors,
    d.by_session, p.by_name, d.by_time, r.relevance,
    case
      -- The daily sweep makes an ended fact expired.
      when d.memory_type = 'fact' and exists (
        select from memory.facts as f
        where f.tenant_id = (settings).tenant_id and f.id = d.id
          and f.valid_to <= judge_candidates.as_of
      )
      then 'expired'
      when judge_candidates.min_relevance is not null
      then case when r.relevance < judge_candidates.min_relevance then 'below relevance' end
      when d.best_evidence < q.evidence then 'no match'
      when r.relevance
        < memory.required_relevance((settings).min_relevance, q.evidence, d.best_evidence)
      then 'below relevance'
    end,
    r.relevance as score
  from (
    select
      c.*,
      m.is_asked_for,
      m.asking,
      coalesce(b.by_neighbors, 0) as by_neighbors,
      coalesce(b.by_session, 0) as by_session,
      greatest(
        n.by_name,
        case when m.is_self then (settings).boost_named * least(1.0, 2 * c.relevance) end
      ) as by_name,
      t.by_time,
      -- Words weigh no more here than for facts, because conversations share many words.
      max(
        1 - (1 - n.by_name)
        -- Who asks what happened on a day asks for the day.
        * (case when (question).of_events then 1 - t.by_time else 1 end)
        * (
          1 - memory.weigh_evidence(
            c.meaning, c.words,
            case c.memory_type
              when 'episode' then (settings).episode_meaning_weight else (settings).meaning_weight
            end,
            (settings).words_weight
          )
        )
      ) over () as best_evidence,
      m.beginning,
      array_agg(n.named) filter (where c.memory_type = 'fact') over () as named_subjects,
      bool_or(n.is_named) over () as names_somebody,
      bool_or(n.is_all) over () as names_only
    from unnest(candidates) as c
    left join lateral (
      select
        case when c.memory_type = 'episode' then s.metadata ->> 'speaker' end as speaker,
        case when c.keyword_score is not null then s.subject end as subject,
        s.entity_id,
        s.valid_from,
        s.planned_for,
        case
          when (question).period is not null and c.memory_type = 'fact'
            -- Reading a text takes 0.2 ms, twice.
            and c.relevance >= 0.2
            and ((question).period @> coalesce(s.valid_from, c.created_at)) is not true
          -- A day without a year may be the last one or, as in a plan, the next one.
          then memory.read_period(
            s.content, (settings).time_zone, coalesce(s.valid_from, c.created_at)
          )
          + coalesce(
            memory.read_period(
              'planned ' || s.content, (settings).time_zone, coalesce(s.valid_from, c.created_at)
            ),
            '{}'
          )
        end as named_period,
        (question).of_present and c.memory_type = 'fact' and memory.tells_update(s.content)
        as is_news,
        c.keyword_score is not null
        and case c.memory_type
          when 'fact'
          then memory.asks_for(question, s.subject, s.predicate, (settings).text_search_config)
          when 'episode'
          then (question).of_happening and (question).core <@ tsvector_to_array(s.search_vector)
        end
        as is_asked_for,
        case
          when c.memory_type = 'episode'
            and (question).names !~ (
              ' (ask|asks|asked|asking|question|questions|wonder|wondered|frag|frage|fragen|fragte|'
              'gefragt|demande|demander|pregunta|preguntar|pregunto|vraag|vragen|vroeg|request|'
              'requested|want to know|wanted to know) '
            )
          then memory.share_that_asks(s.content)
        end
        as asking,
        (question).of_self
        and array[
          memory.normalize_name(
            case s.memory_type when 'episode' then s.metadata ->> 'speaker' else s.subject end
          )
        ] <@ (question).selves
        as is_self,
        case
          when c.memory_type = 'fact' and c.keyword_score is not null
          then left(s.content, 100)
        end as beginning
      from memory.searchable_memories as s
      where s.tenant_id = (settings).tenant_id and s.memory_type = c.memory_type and s.id = c.id
        -- A fact whose subject is named contains words of the query; its entity may have other
        -- names.
        and (
          c.keyword_score is not null or c.memory_type = 'episode'
          or (question).period is not null or (question).of_present or (question).of_self
          or exists (select from memory.entities as e where e.tenant_id = (settings).tenant_id)
        )
      offset 0 -- keeps this a look-up of one memory
    ) as m on true
    cross join lateral (
      select
        i.name is not null as is_named,
        i.named,
        case when i.name is not null then (settings).boost_named else 0 end as by_name,
        i.named = (question).names
        or (question).of_whom
        and (question).core <@ tsvector_to_array(
          memory.query_vector((settings).text_search_config, i.name)
        )
        as is_all
      from (
        select o.name, memory.normalize_name(o.name) as named
        from (
          select (
            select n.name
            from (
              values (m.speaker), (m.subject)
              union all
              select e.canonical_name
              from memory.entities as e
              where e.tenant_id = (settings).tenant_id and e.id = m.entity_id
              union all
              select unnest(e.aliases)
              from memory.entities as e
              where e.tenant_id = (settings).tenant_id and e.id = m.entity_id
            ) as n (name)
            where strpos((question).names, nullif(memory.normalize_name(n.name), '  ')) > 0
            order by length(n.name) desc, n.name collate "C"
            limit 1
          ) as name
          from (values (1)) as one (row)
          offset 0 -- looks for names only once
        ) as o
        offset 0
      ) as i
    ) as n
    cross join lateral (
      select
        case
          when c.memory_type = 'episode' and (question).period @> c.created_at
          then (settings).boost_time
          when (
            m.is_news or (question).period @> coalesce(m.valid_from, c.created_at)
            or (question).period && m.named_period
          ) is not true
          then 0
          -- Its time alone can make an episode an answer, or a plan if what there is then is asked
          -- for; a fact or rule must also be relevant.
          when (question).of_events and m.planned_for is not null then (settings).boost_time
          else (settings).boost_time * least(1.0, 2 * c.relevance)
        end as by_time
    ) as t
    left join (
      select e.*
      from memory.boost_episodes(candidates, settings) as e
      where (settings).boost_neighbors + (settings).boost_session > 0
        and exists (select from unnest(candidates) as i where i.memory_type = 'episode')
      offset 0 -- without it the function runs even if its result is not needed
    ) as b on b.id = c.id
    offset 0 -- computes each boost only once
  ) as d
  cross join lateral (
    select
      case
        -- "What does Ada do?" has no word but a name, which each remark about her has, too; "When
        -- should I call Ada?" does not ask when somebody called.
        when d.memory_type = 'episode' and (d.names_only or (question).of_duty)
        then least(
          d.relevance,
          memory.weigh_evidence(
            d.meaning, d.words, (settings).episode_meaning_weight, (settings).words_weight
          )
        )
        -- "How do we deploy?" asks for what is under deployed_with, not for each remark about it;
        -- "What happened to Ada?" for what somebody said about her.
        when d.is_asked_for
        then greatest(
          d.relevance,
          memory.weigh_evidence(
            d.meaning, 1::float8,
            case d.memory_type
              when 'episode' then (settings).episode_meaning_weight else (settings).meaning_weight
            end,
            (settings).episode_words_weight
          )
        )
        else d.relevance
      end as evidence
  ) as w
  cross join lateral (
    select
      case
        -- "[user] [partner]: Ada, who repairs boats" is about Ada, too.
        when d.by_name < (settings).boost_named and d.named_subjects is not null and exists (
          select
          from unnest(d.named_subjects) as s (named)
          cross join lateral memory.normalize_name(d.beginning) as b (words)
          where starts_with(b.words, s.named)
        )
        then (settings).boost_named
        else d.by_name
      end as by_name
    from (values (1)) as one (row)
    offset 0 -- looks for the subject only once
  ) as p
  cross join lateral (
    select
      (
        1 - (1 - w.evidence)
        * (1 - d.by_neighbors) * (1 - d.by_session) * (1 - p.by_name) * (1 - d.by_time)
      )
      -- What somebody asked is hardly ever what answers the same question.
      * case when memory.mostly_asks(d.asking) then 1 - d.asking / 2 else 1 end
      as relevance
  ) as r
  cross join lateral (
    select
      memory.required_evidence(
        (settings).min_evidence, documents, (question).in_general and not d.names_somebody
      ) as evidence
  ) as q;
end;

-- noqa: enable=AL03,AM03,AM09,RF01,RF02,RF03,ST05,ST06,ST09

comment on function memory.judge_candidates(
  memory.fused_candidate[], memory.question, bigint, float8, memory.settings, timestamptz
) is
'Adds boosts to weighed candidates, each combined with the relevance as a noisy-or: for an '
'episode, the adjacent turns and its session; for any memory, a person or a time that the query '
'mentions, for a fact also one that its content begins with, or that it is about the user who '
'asks about himself or herself; for a fact, that it reports news, if the query asks about the '
'present. The less relevant a fact or rule is, the smaller its boosts of time and user. The words '
'of a fact that the query asks for (memory.asks_for) count in full, and as those of an episode; '
'so do those of an episode that holds all that a question names which asks what happened. An '
'episode''s words count as those of a fact if the query has no word but a name, or asks what '
'should, must or may be done. An episode '
'that mostly asks (memory.mostly_asks) has 1 - half of the share that asks of its '
'relevance, unless the query is about what was asked. outcome: "no '
'match" for all if even the best of so many documents has less evidence by meaning, words and '
'name (and time, if the query asks for what there is at a time) than memory.required_evidence '
'says, for a question in general if it mentions nobody; "below relevance" if the relevance is '
'less than memory.required_relevance. A min_relevance replaces both. "expired" for a fact that has '
'ended by as_of, which NULL does not look at.';
grant execute on function memory.judge_candidates to memory_owner;

create or replace function memory.list_candidates(
  memory_types text[],
  mode text,
  relations memory.relations,
  embedding vector,
  scope text,
  depth integer,
  min_confidence float8,
  min_relevance float8,
  keyword_match text,
  listed boolean,
  settings memory.settings,
  as_of timestamptz
)
  returns setof memory.fused_candidate
  language plpgsql
  stable
  rows 50 -- the default estimate of 1000 rows leads to worse joins
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
  set jit = off -- compiling costs even more
  set max_parallel_workers_per_gather = 0 -- so does starting workers
as $$
#variable_conflict use_column
declare
  v_specified boolean := settings.ranking = 'specified';
  v_words memory.keyword_query;
  v_corpus memory.corpus_size[];
  v_candidates memory.fused_candidate[];
  v_question memory.question;
  v_documents bigint;
begin
  if mode <> 'semantic' then
    v_words := memory.read_query(
      (relations).query,
      coalesce(
        list_candidates.keyword_match,
        case when v_specified then 'all' else settings.keyword_match end
      ),
      settings
    );
  end if;
  if listed or v_specified then
    return query
    select
      f.memory_type, f.type_position, f.id, f.created_at, f.similarity, f.semantic_rank, f.keyword_score,
      f.keyword_rank, f.rrf_score, f.meaning, f.words, f.neighbor_boost, f.session_boost,
      f.named_boost, f.time_boost, f.relevance,
      case when f.relevance < list_candidates.min_relevance then 'below relevance' end, f.score
    from memory.fuse_lists(
      memory_types, mode, v_words, list_candidates.embedding, list_candidates.scope, depth,
      list_candidates.min_confidence, case when v_specified then 60 else settings.rrf_k end,
      settings, as_of
    ) as f;
    return;
  end if;
  v_corpus := memory.corpus_sizes(memory_types);
  v_question := memory.read_question(
    relations, v_words, list_candidates.scope, settings, as_of
  );
  select sum(c.documents)::bigint into v_documents
  from unnest(v_corpus) as c;
  -- A variable, because judge_candidates is inlined and evaluates its argument at each use.
  v_candidates := memory.weigh_memories(
    memory_types, v_words, case when mode <> 'keyword' then list_candidates.embedding end,
    list_candidates.scope, depth, list_candidates.min_confidence, v_corpus, settings, as_of
  );
  if v_question.of_events then
    v_candidates := v_candidates || memory.weigh_timely(
      v_candidates, memory_types, v_words,
      case when mode <> 'keyword' then list_candidates.embedding end, list_candidates.scope, depth,
      list_candidates.min_confidence, v_question.period, v_corpus, settings, as_of
    );
  end if;
  return query
  select j.*
  from memory.judge_candidates(
    v_candidates, v_question, v_documents, list_candidates.min_relevance, settings, as_of
  ) as j;
end;
$$;

comment on function memory.list_candidates(
  text[], text, memory.relations, vector, text, integer, float8, float8, text, boolean,
  memory.settings, timestamptz
) is
'The candidates for a query, unordered, with an outcome for those that are not part of the answer: '
'weighed by relevance or, if listed or with the ranking "specified", read from the semantic and '
'keyword lists. relations: the query with the names of whom it mentions (memory.read_relations). '
'depth: entries of each list, or candidates as in memory.weigh_memories. keyword_match: NULL means '
'the default of the ranking.';
grant execute on function memory.list_candidates to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
