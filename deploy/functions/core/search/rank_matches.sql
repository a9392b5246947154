-- Deploy pymem:functions/core/search/rank_matches to pg

begin;

set local role memory_owner;

create or replace function memory.make_snippet(
  content text,
  topic text,
  max_characters integer default 200
)
  returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_text text := memory.one_line(
    regexp_replace(left(content, 20000), '^\s*#{1,6}[ \t]+[^\n]*\n\s*(?=\S)', '')
  );
  v_lower text;
  v_found integer;
  v_start integer := 1;
begin
  if length(v_text) <= max_characters then
    return v_text;
  end if;
  v_lower := lower(v_text);
  -- The first long word of the query that occurs.
  select position(w.word in v_lower) into v_found
  from (
    select distinct lower(m.word[1]) as word from regexp_matches(topic, '[[:alnum:]]{3,}', 'g') as m (word)
  ) as w
  where position(w.word in v_lower) > 0
  order by length(w.word) desc, w.word
  limit 1;
  if v_found > max_characters - 40 then
    v_start := v_found - 40;
    v_start := v_start + position(' ' in substr(v_text, v_start, 40));
  end if;
  v_text := substr(v_text, v_start);
  return case when v_start > 1 then '… ' else '' end || case
    when length(v_text) <= max_characters then v_text
    else regexp_replace(left(v_text, max_characters), '\s+\S*$', '') || ' …'
  end;
end;
$$;

comment on function memory.make_snippet(text, text, integer) is
'One line of a Markdown text, without its first heading, at most about max_characters long: its '
'beginning, or what surrounds the longest word of the topic that occurs in it.';

create or replace function memory.rank_matches(
  memory_types text[],
  topic text,
  mode text,
  embedding vector,
  scope text,
  among_types text[],
  among_ids uuid[],
  free_ids uuid[],
  graph_tags text[],
  with_aged boolean,
  with_unreliable boolean,
  sort text,
  max_results integer,
  min_confidence float8,
  min_relevance float8,
  settings memory.settings,
  as_of timestamptz
)
  returns setof memory.queried_memory
  language plpgsql
  stable
  rows 50 -- the default estimate of 1000 rows leads to worse joins
  set search_path = pg_catalog, memory, public, pg_temp
  set jit = off -- compiling costs more than it saves
  set max_parallel_workers_per_gather = 0 -- so does starting workers
as $$
#variable_conflict use_column
declare
  v_tenant_id text := settings.tenant_id;
  v_has_topic boolean := topic ~ '\S';
  v_with_graph boolean := 'entry' = any (memory_types) and mode in ('hybrid', 'graph');
  v_embedding vector := case when mode in ('hybrid', 'semantic') then embedding end;
  -- What is newest or surest may be far from the most relevant.
  v_depth integer := memory.candidate_depth(
    case when sort = 'relevance' then max_results else greatest(max_results, 500) end
  );
  v_relations memory.relations;
  v_words memory.keyword_query;
  v_corpus memory.corpus_size[];
  v_weighed memory.fused_candidate[];
  v_candidates memory.fused_candidate[] := array[]::memory.fused_candidate[];
  v_types text[] := among_types;
  v_ids uuid[] := among_ids;
  v_question memory.question;
  v_tagged memory.linked_entry[];
  v_linked memory.linked_entry[] := array[]::memory.linked_entry[];
begin
  if v_has_topic and mode <> 'graph' then
    v_relations := memory.read_relations(
      memory.correct_spelling(topic, scope, settings, as_of), scope, settings
    );
    if mode <> 'semantic' then
      v_words := memory.read_query(v_relations.query, 'any', settings);
    end if;
    if among_ids is null then
      v_candidates := array(
        select c
        from memory.list_candidates(
          memory_types, mode, v_relations, v_embedding, scope, v_depth,
          -- Entries of any confidence: the tier decides on them.
          case when 'entry' = any (memory_types) then 0 else min_confidence end, min_relevance,
          null, false, settings, as_of
        ) as c
        where c.outcome is null
      );
      -- Aged entries are loaded only where the others do not fill the answer.
      if 'entry' = any (memory_types) and cardinality(v_candidates) < max_results then
        v_ids := memory.list_aged(v_words, v_embedding, scope, v_depth, settings, as_of);
        v_types := array(select 'entry' from unnest(v_ids));
      end if;
    end if;
    if cardinality(v_ids) > 0 then
      v_corpus := memory.corpus_sizes(memory_types);
      v_question := memory.read_question(v_relations, v_words, scope, settings, as_of);
      v_weighed := memory.weigh_among(
        v_types, v_ids, v_words, v_embedding, v_depth, v_corpus, settings, as_of
      );
      v_candidates := v_candidates || array(
        select j
        from memory.judge_candidates(
          v_weighed, v_question,
          greatest(cardinality(v_ids), (select sum(c.documents) from unnest(v_corpus) as c))
          ::bigint,
          min_relevance, settings, as_of
        ) as j
        where j.outcome is null
      );
    end if;
  end if;

  if v_with_graph and (v_has_topic or cardinality(graph_tags) > 0) then
    v_tagged := array(
      select row(t.id, 0, 0.5)::memory.linked_entry
      from memory.tagged_entries(
        graph_tags || array(
          select distinct t.tag
          from regexp_split_to_table(btrim(topic), '\s+') as w (word)
          -- A tag may end like a sentence: c++, c#.
          cross join lateral (
            values (w.word), (btrim(w.word, '.,;:!?"''()[]{}<>“”‘’'))
          ) as t (tag)
        ),
        scope, greatest(20, max_results), as_of
      ) as t
    );
    v_linked := array(
      select row(l.id, min(l.hops), max(l.weight))::memory.linked_entry
      from unnest(
        v_tagged || memory.follow_links(
          v_tagged || array(
            select row(c.id, 0, c.relevance)::memory.linked_entry
            from unnest(v_candidates) as c
            where c.memory_type = 'entry'
            order by c.relevance desc, c.id
            limit 10
          ),
          2, scope, as_of
        )
      ) as l
      group by l.id
    );
  end if;

  return query
  with fitting as (
    select
      coalesce(c.memory_type, 'entry') as memory_type,
      coalesce(c.id, l.id) as id,
      c.similarity, c.keyword_score, c.meaning, c.words,
      l.hops,
      case when v_has_topic then coalesce(settings.boost_related * l.weight, 0) end as linked,
      case
        when v_has_topic
        then 1 - (1 - coalesce(c.relevance, 0)) * (1 - coalesce(settings.boost_related * l.weight, 0))
      end as relevance
    from unnest(v_candidates) as c
    full join unnest(v_linked) as l on c.memory_type = 'entry' and c.id = l.id
    where (v_has_topic or mode = 'graph')
      -- What only links lead to must meet the conditions, too.
      and (
        c.id is not null
        or among_ids is null
        or l.id in (select a.id from unnest(among_ids) as a (id))
      )
    union all
    select a.memory_type, a.id, null, null, null, null, null, null, case when v_has_topic then 0 end
    from unnest(among_types, among_ids) as a (memory_type, id)
    where mode <> 'graph'
      and (
        not v_has_topic
        or a.id in (select i.id from unnest(free_ids) as i (id))
        and not exists (select from unnest(v_candidates) as c where c.id = a.id)
        and not exists (select from unnest(v_linked) as l where l.id = a.id)
      )
  ),
  -- Entries are joined, because a query without a text may list many of them.
  described as (
    select
      f.memory_type, f.id, f.similarity, f.keyword_score, f.meaning, f.words, f.hops, f.linked,
      f.relevance, e.content, e.scope, null::text as subject, null::text as predicate, e.tags,
      e.importance, e.created_at, e.expires_at, e.last_referenced_at, e.reference_count,
      e.confidence as effective_confidence, e.entry_id, e.title, e.entry_type, e.category,
      e.source, e.version, e.edited_at,
      null::timestamptz as planned_for,
      memory.band_of_entry(e.retention, e.edited_at, e.last_confirmed_at, as_of) as band,
      memory.confidence_tier(e.confidence) as tier,
      memory.retention_priority(e.edited_at, e.reference_count, as_of) as recency
    from fitting as f
    join memory.entries as e on e.tenant_id = v_tenant_id and e.id = f.id
    where f.memory_type = 'entry'
      and e.lifecycle_state in ('active', 'aged', 'archived')
      and (
        among_ids is not null
        or memory.band_of_entry(e.retention, e.edited_at, e.last_confirmed_at, as_of) <> 'archived'
      )
      and (e.expires_at is null or e.expires_at > as_of)
      and memory.is_in_scope('entry', e.scope, rank_matches.scope)
    union all
    select
      f.memory_type, f.id, f.similarity, f.keyword_score, f.meaning, f.words, f.hops, f.linked,
      f.relevance, m.content, m.scope, m.subject, m.predicate, m.tags, m.importance, m.created_at,
      m.expires_at, m.last_referenced_at, m.reference_count,
      memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of),
      null, null, null, null, null, null, null,
      case when m.planned_for > as_of then m.planned_for end, null, null,
      memory.recency_of(m.last_referenced_at, m.created_at, settings, as_of)
    from fitting as f
    cross join lateral (
      select s.*
      from memory.searchable_memories as s
      where s.tenant_id = v_tenant_id and s.memory_type = f.memory_type and s.id = f.id
      offset 0 -- keeps this a look-up of one memory
    ) as m
    where f.memory_type <> 'entry'
  ),
  scored as (
    select
      d.*,
      memory.composite_score(
        coalesce(d.relevance, 0), d.importance, d.recency, d.effective_confidence,
        case when v_has_topic then settings.weight_relevance else 0 end,
        settings.weight_importance, settings.weight_recency, settings.weight_confidence,
        case when v_has_topic then settings.relevance_sharpness else 1 end
      ) as score,
      coalesce(d.tier = 'last_resort', false) and not with_unreliable as is_last_resort,
      coalesce(d.band = 'aged', false) and not with_aged as is_reserve
    from described as d
    where (
        d.relevance is null
        -- What only links lead to is less relevant than what fits by itself.
        or d.relevance >= coalesce(
          min_relevance, case when mode = 'graph' then 0 else settings.min_relevance end
        )
        or d.id in (select i.id from unnest(free_ids) as i (id))
      )
      -- Of entries, the tier decides.
      and (
        d.memory_type = 'entry' or among_ids is not null or d.effective_confidence >= min_confidence
      )
  ),
  placed as (
    select
      s.*,
      count(*) filter (where not s.is_last_resort) over () as better,
      count(*) filter (where not s.is_last_resort and not s.is_reserve) over () as ready
    from scored as s
  )
  select
    p.memory_type, p.id, p.entry_id, coalesce(p.title, p.subject),
    memory.make_snippet(p.content, topic), p.content, p.scope, p.subject, p.predicate,
    p.entry_type, p.category, p.tags, p.source, p.version, p.importance, p.effective_confidence,
    p.tier, p.band, p.created_at, coalesce(p.edited_at, p.created_at), p.expires_at,
    p.last_referenced_at, p.reference_count, p.planned_for, p.similarity, p.keyword_score,
    p.meaning, p.words, p.hops, p.linked, p.relevance, p.recency, p.score, p.total_found
  from (
    select x.*, count(*) over () as total_found
    from placed as x
    where (not x.is_last_resort or x.better = 0)
      -- Aged entries fill up an answer, and are never in place of others.
      and (not x.is_reserve or x.ready < max_results)
  ) as p
  order by
    p.is_reserve,
    case sort when 'created' then p.created_at when 'updated' then coalesce(p.edited_at, p.created_at)
      when 'accessed' then p.last_referenced_at end desc nulls last,
    case sort when 'confidence' then p.effective_confidence when 'importance' then p.importance end
    desc nulls last,
    case sort when 'title' then lower(coalesce(p.title, p.subject, p.content)) end,
    -- Without a text, what is near in the graph comes first.
    case when not v_has_topic then p.hops end,
    p.score desc, p.created_at desc, p.memory_type, p.id
  limit max_results;
end;
$$;

comment on function memory.rank_matches(
  text[], text, text, vector, text, text[], uuid[], uuid[], text[], boolean, boolean, text, integer,
  float8, float8, memory.settings, timestamptz
) is
'The memories that fit a topic, all or among the given ones (types and ids at the same places), '
'best first or in the order of sort. mode: hybrid, by meaning, words and links; semantic; keyword; '
'or graph, which follows links from entries tagged with graph_tags or a word of the topic. Without '
'a topic, all that are given; free_ids are those that need not fit the topic. Aged entries only '
'fill up the answer unless with_aged, and those of very low confidence are left out if there is '
'anything else, unless with_unreliable.';

commit;
