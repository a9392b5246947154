-- Deploy pymem:functions/core/search/weigh_entries to pg

begin;

-- memory_search owns the functions in this file that read memories: see neighbors.sql.

set local role memory_owner;
grant create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.near_among(
  memory_types text[],
  ids uuid[],
  embedding vector,
  settings memory.settings,
  as_of timestamptz
)
  returns memory.word_match[]
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
  v_types text[] := array(select distinct t.type from unnest(memory_types) as t (type));
  v_near memory.word_match[];
begin
  -- Looking up one vector costs as much as passing about ten in the covering index.
  if cardinality(ids) <= 3000 then
    return array(
      select row(
        w.memory_type, w.id, m.created_at, 1 - (m.embedding <=> near_among.embedding), null
      )::memory.word_match
      from unnest(memory_types, ids) as w (memory_type, id)
      cross join lateral (
        select s.created_at, s.embedding
        from memory.searchable_memories as s
        where s.tenant_id = v_tenant_id and s.memory_type = w.memory_type and s.id = w.id
        offset 0 -- keeps this a look-up of one memory
      ) as m
      where m.embedding is not null
    );
  end if;

  if v_types = array['entry']
    and memory.use_approximate_index('entry', settings.exact_scan_limit)
  then
    v_near := array(
      select row('entry', n.id, n.created_at, n.weight, null)::memory.word_match
      from memory.approximate_neighbors('entry', embedding, null, 500, 0, as_of) as n
      where n.id in (select w.id from unnest(ids) as w (id))
    );
    if cardinality(v_near) >= 100 then
      return v_near;
    end if;
    -- Too few: only an exact scan shows whether there are more.
  end if;

  return array(
    select row(
      m.memory_type, m.id, m.created_at, 1 - (m.embedding <=> near_among.embedding), null
    )::memory.word_match
    from memory.searchable_memories as m
    where m.is_live
      and m.tenant_id collate "C" = v_tenant_id
      and m.memory_type = any (v_types)
      and m.embedding is not null
      and m.id in (select w.id from unnest(ids) as w (id))
  );
end;
$$;

comment on function memory.near_among(text[], uuid[], vector, memory.settings, timestamptz) is
'The similarities (weight) of the given memories to a vector, types and ids at the same places. Of '
'more than 3000, only live ones, and with an approximate index only the nearest, if these are 100 '
'or more.';

create or replace function memory.weigh_among(
  memory_types text[],
  ids uuid[],
  words memory.keyword_query,
  embedding vector,
  depth integer,
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
  set jit = off -- compiling costs even more
  set max_parallel_workers_per_gather = 0 -- so does starting workers
as $$
#variable_conflict use_column
declare
  v_tenant_id text := settings.tenant_id;
  v_condition tsquery := memory.any_lexeme(words.lexemes);
  v_terms tsquery[] := array(
    select memory.one_lexeme(l.lexeme)
    from unnest(words.lexemes) with ordinality as l (lexeme, position)
    order by l.position
  );
  v_types text[] := array(select c.memory_type from unnest(corpus) as c);
  v_meaning_weight float8 := settings.meaning_weight;
  v_words_weight float8 := settings.words_weight;
  v_episode_meaning_weight float8 := settings.episode_meaning_weight;
  v_episode_words_weight float8 := settings.episode_words_weight;
  v_near memory.word_match[] := array[]::memory.word_match[];
  -- What is wanted is looked up one by one, unless it is too much.
  v_looked_up text[] := case when cardinality(ids) <= 3000 then v_types else '{}' end;
  v_wanted memory.word_match[] := array(
    select row(w.memory_type, w.id, null, null, null)::memory.word_match
    from unnest(memory_types, ids) as w (memory_type, id)
    where v_looked_up <> '{}'
  );
  v_floor float8;
  v_ceiling float8;
begin
  if embedding is not null then
    select v.similarity_floor, v.similarity_ceiling into v_floor, v_ceiling
    from memory.embedding_versions as v
    where v.tenant_id = v_tenant_id and v.status = 'active';
    v_near := memory.near_among(memory_types, ids, embedding, settings, as_of);
  end if;

  return array(
    with wanted as materialized (
      select w.memory_type, w.id from unnest(memory_types, ids) as w (memory_type, id)
    ),
    matching as materialized (
      select b.memory_type, b.id, b.created_at, b.weight, b.share
      from memory.bm25_matches(
        corpus, words, v_looked_up, v_wanted, v_looked_up <> '{}', settings, null, 0, as_of
      ) as b
      where words.any_terms is not null and b.id in (select w.id from wanted as w)
      union all
      -- The corpus holds only live memories: in others, all words of the query weigh the same.
      select 'entry', e.id, e.created_at, null, p.share
      from memory.entries as e
      cross join lateral (
        select count(*)::float8 / cardinality(v_terms) as share
        from unnest(v_terms) as t (term)
        where e.search_vector @@ t.term
      ) as p
      where words.any_terms is not null
        and e.tenant_id collate "POSIX" = v_tenant_id
        and e.lifecycle_state in ('aged', 'archived')
        and memory.search_terms(e.tenant_id, e.search_vector) && words.any_terms
        and e.search_vector @@ v_condition
        and e.id in (select w.id from wanted as w)
    ),
    scored as (
      select
        coalesce(n.memory_type, b.memory_type) as memory_type,
        coalesce(n.id, b.id) as id,
        coalesce(n.created_at, b.created_at) as created_at,
        n.weight as similarity,
        b.weight as keyword_score,
        memory.meaning_score(n.weight, v_floor, v_ceiling) as meaning,
        case
          when n.weight is null then memory.words_score(b.share, 0)
          else memory.words_score(b.share)
        end as words
      from unnest(v_near) as n
      full join matching as b on b.memory_type = n.memory_type and b.id = n.id
      offset 0 -- computes each score only once
    )
    select row(
      s.memory_type, array_position(v_types, s.memory_type), s.id, s.created_at, s.similarity,
      null, s.keyword_score, null, null, s.meaning, s.words, null, null, null, null, s.relevance,
      null, null
    )::memory.fused_candidate
    from (
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
      limit depth
    ) as s
  );
end;
$$;

comment on function memory.weigh_among(
  text[], uuid[], memory.keyword_query, vector, integer, memory.corpus_size[], memory.settings,
  timestamptz
) is
'The depth most relevant of the given memories, types and ids at the same places, weighed as by '
'memory.weigh_memories; unordered. Words of an entry that is not live count alike, because only '
'the live ones make up the corpus.';
grant execute on function memory.weigh_among to memory_owner;

create or replace function memory.weigh_timely(
  candidates memory.fused_candidate[],
  memory_types text[],
  words memory.keyword_query,
  embedding vector,
  scope text,
  depth integer,
  min_confidence float8,
  period tstzmultirange,
  corpus memory.corpus_size[],
  settings memory.settings,
  as_of timestamptz
)
  returns memory.fused_candidate[]
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_types text[];
  v_ids uuid[];
  v_times timestamptz[];
  v_weighed memory.fused_candidate[];
begin
  select array_agg(t.memory_type), array_agg(t.id), array_agg(t.created_at)
  into v_types, v_ids, v_times
  from (
    (
      select 'episode' as memory_type, e.id, e.created_at
      from memory.episodes as e
      where 'episode' = any (memory_types)
        and e.tenant_id = settings.tenant_id
        and e.created_at >= coalesce(lower(weigh_timely.period), '-infinity')
        and e.created_at < coalesce(upper(weigh_timely.period), 'infinity')
        and e.created_at <@ weigh_timely.period
        and (e.expires_at is null or e.expires_at > as_of)
        and memory.is_in_scope('episode', e.butler, weigh_timely.scope)
      order by e.created_at desc, e.id desc -- as the index has them
      limit depth
    )
    union all
    (
      select 'fact', f.id, f.created_at
      from memory.facts as f
      where 'fact' = any (memory_types)
        and f.tenant_id = settings.tenant_id
        and f.planned_for is not null and f.validity = 'active'
        and f.planned_for <@ weigh_timely.period
        and memory.is_in_scope('fact', f.scope, weigh_timely.scope)
        and f.confidence >= weigh_timely.min_confidence
      order by f.planned_for, f.id
      limit depth
    )
  ) as t
  where not exists (
    select from unnest(candidates) as c where c.memory_type = t.memory_type and c.id = t.id
  );
  if v_ids is null then
    return array[]::memory.fused_candidate[];
  end if;
  v_weighed := memory.weigh_among(
    v_types, v_ids, words, embedding, cardinality(v_ids), corpus, settings, as_of
  );
  -- What has no vector yet and none of the words is of that time all the same.
  return v_weighed || array(
    select row(
      t.memory_type, array_position(memory_types, t.memory_type), t.id, t.created_at, null, null,
      null, null, null, null, null, null, null, null, null, 0, null, null
    )::memory.fused_candidate
    from unnest(v_types, v_ids, v_times) as t (memory_type, id, created_at)
    where not exists (
      select from unnest(v_weighed) as w where w.memory_type = t.memory_type and w.id = t.id
    )
  );
end;
$$;

comment on function memory.weigh_timely(
  memory.fused_candidate[], text[], memory.keyword_query, vector, text, integer, float8,
  tstzmultirange, memory.corpus_size[], memory.settings, timestamptz
) is
'More candidates: the newest episodes of a period and the facts that are planned for it, the '
'soonest first, up to depth each, weighed like the others; without words in common and without a '
'vector, their relevance is 0.';
grant execute on function memory.weigh_timely to memory_owner;

create or replace function memory.list_aged(
  words memory.keyword_query,
  embedding vector,
  scope text,
  depth integer,
  settings memory.settings,
  as_of timestamptz
)
  returns uuid[]
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
  set jit = off -- compiling costs even more
  set max_parallel_workers_per_gather = 0 -- so does starting workers
as $$
declare
  v_tenant_id text := settings.tenant_id;
begin
  return array(
    (
      select e.id
      from memory.entries as e
      where list_aged.embedding is not null
        and e.tenant_id collate "C" = v_tenant_id
        and e.lifecycle_state = 'aged'
        and e.embedding is not null
        and (e.expires_at is null or e.expires_at > as_of)
        and memory.is_in_scope('entry', e.scope, list_aged.scope)
      order by e.embedding <=> list_aged.embedding, e.created_at desc, e.id
      limit depth
    )
    union
    (
      select e.id
      from memory.entries as e
      where words.any_terms is not null
        and e.tenant_id collate "POSIX" = v_tenant_id
        and e.lifecycle_state = 'aged'
        and memory.search_terms(e.tenant_id, e.search_vector) && words.any_terms
        and e.search_vector @@ words.condition
        and (e.expires_at is null or e.expires_at > as_of)
        and memory.is_in_scope('entry', e.scope, list_aged.scope)
      order by ts_rank(e.search_vector, words.condition) desc, e.created_at desc, e.id
      limit depth
    )
  );
end;
$$;

comment on function memory.list_aged(
  memory.keyword_query, vector, text, integer, memory.settings, timestamptz
) is
'The aged entries that match a query best by meaning, and those that match it best by words, up to '
'depth each; unordered.';
grant execute on function memory.list_aged to memory_owner;

create or replace function memory.tagged_entries(
  tags text[],
  scope text,
  max_entries integer,
  as_of timestamptz
)
  returns table (id uuid)
  language plpgsql
  stable
  rows 20
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_terms bigint[] := memory.hash_terms(
    v_tenant_id, array(select memory.fold_label(t.tag) from unnest(tagged_entries.tags) as t (tag))
  );
begin
  return query
  select e.id
  from memory.entries as e
  where e.tenant_id = v_tenant_id
    and e.lifecycle_state in ('active', 'aged')
    and (e.expires_at is null or e.expires_at > as_of)
    and memory.tag_terms(e.tenant_id, e.tags) && v_terms
    and memory.is_in_scope('entry', e.scope, tagged_entries.scope)
  order by e.lifecycle_state = 'aged', e.confidence desc, e.created_at desc, e.id
  limit max_entries;
end;
$$;

comment on function memory.tagged_entries(text[], text, integer, timestamptz) is
'Up to max_entries entries that have one of these tags, whatever the case: active ones before '
'aged ones, the most reliable first.';
grant execute on function memory.tagged_entries to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

create or replace function memory.follow_links(
  starts memory.linked_entry[],
  max_hops integer,
  scope text,
  as_of timestamptz
)
  returns memory.linked_entry[]
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_met memory.linked_entry[] := array[]::memory.linked_entry[];
  v_level memory.linked_entry[] := starts;
begin
  for v_hops in 1 .. max_hops loop
    v_level := array(
      select row(n.id, v_hops, n.weight)::memory.linked_entry
      from (
        select e.id, max(e.weight) as weight
        from (
          select o.target_id as id, f.weight / 2 as weight
          from unnest(v_level) as f
          join memory.memory_links as o
            on o.tenant_id = v_tenant_id and o.source_type = 'entry' and o.source_id = f.id
          where o.target_type = 'entry' and o.relation = 'related_to'
          union all
          select i.source_id, f.weight / 2
          from unnest(v_level) as f
          join memory.memory_links as i
            on i.tenant_id = v_tenant_id and i.target_type = 'entry' and i.target_id = f.id
          where i.source_type = 'entry' and i.relation = 'related_to'
        ) as e
        -- No way leads over what is not found itself.
        join memory.entries as m on m.tenant_id = v_tenant_id and m.id = e.id
          and m.lifecycle_state in ('active', 'aged', 'archived')
          and (m.expires_at is null or m.expires_at > follow_links.as_of)
          and memory.is_in_scope('entry', m.scope, follow_links.scope)
        -- Neighbors support each other, but none supports itself by way of another.
        where v_hops = 1 or not exists (select from unnest(starts) as s where s.id = e.id)
        group by e.id
      ) as n
      order by n.weight desc, n.id
      limit 200
    );
    exit when cardinality(v_level) = 0;
    v_met := v_met || v_level;
  end loop;
  return array(
    select row(m.id, min(m.hops), max(m.weight))::memory.linked_entry
    from unnest(v_met) as m
    group by m.id
    order by max(m.weight) desc, m.id
    limit 200
  );
end;
$$;

comment on function memory.follow_links(memory.linked_entry[], integer, text, timestamptz) is
'The entries of the scope that related_to links, in either direction, lead to from the starts: '
'over at most max_hops links, each of which halves the weight, and over no entry that is deleted '
'or has expired. If several ways lead to an entry, the best one counts. At most 200, the heaviest '
'first.';

commit;
