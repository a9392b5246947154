-- Deploy pymem:functions/core/search/query to pg

begin;

set local role memory_owner;

create or replace function memory.find_matches(
  memory_types text[],
  topic text,
  conditions memory.query_condition[],
  graph_tags text[],
  mode text,
  embedding vector,
  scope text,
  include_archived boolean,
  sort text,
  max_results integer,
  min_relevance float8,
  settings memory.settings,
  as_of timestamptz
)
  returns setof memory.queried_memory
  language plpgsql
  stable
  rows 50 -- the default estimate of 1000 rows leads to worse joins
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_plain memory.query_condition;
  v_types text[];
  v_ids uuid[];
  v_free uuid[] := array[]::uuid[];
begin
  v_plain.topic_required := true;
  v_plain.with_archived := false;
  -- Without a text, or with other conditions, what meets these is listed before anything is ranked.
  if topic !~ '\S' and mode <> 'graph' or include_archived or conditions <> array[v_plain] then
    select
      coalesce(array_agg(f.memory_type), '{}'),
      coalesce(array_agg(f.id), '{}'),
      -- What meets a condition that does not ask for the text need not fit it.
      coalesce(array_agg(f.id) filter (where not f.topic_required), '{}')
    into v_types, v_ids, v_free
    from memory.filter_memories(
      conditions, memory_types, scope, include_archived, settings, as_of
    ) as f;
  end if;

  return query
  select m.*
  from memory.rank_matches(
    memory_types, topic, mode, embedding, scope, v_types, v_ids, v_free, graph_tags,
    include_archived or exists (select from unnest(conditions) as c where c.bands is not null),
    exists (select from unnest(conditions) as c where c.confidence is not null),
    sort, max_results, settings.min_confidence, min_relevance, settings, as_of
  ) as m;
end;
$$;

comment on function memory.find_matches(
  text[], text, memory.query_condition[], text[], text, vector, text, boolean, text, integer,
  float8, memory.settings, timestamptz
) is
'What memory.query and memory.retrieve_entries return: the memories that meet one of the '
'conditions, ranked by memory.rank_matches. Conditions apply before ranking.';

create or replace function memory.query(
  query text,
  types text[] default null,
  scope text default null,
  sort text default 'relevance',
  max_results integer default 10,
  include_archived boolean default false,
  min_relevance float8 default null,
  embedding vector default null,
  embedding_version_id uuid default null,
  as_of timestamptz default now()
)
  returns setof memory.queried_memory
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_settings memory.settings := memory.current_settings();
  v_types text[] := memory.check_types(coalesce(types, memory.memory_type_names()));
  v_limit integer := memory.check_limit(max_results);
  v_query record;
begin
  perform
    memory.check_word(
      'sort', sort, '{relevance,created,updated,accessed,confidence,importance,title}'
    ),
    memory.check_number('min_relevance', coalesce(min_relevance, 0), 0, 1),
    memory.check_query_embedding(embedding, embedding_version_id),
    memory.check_time('as_of', as_of);
  select q.conditions, q.topic into v_query
  from memory.read_query_as(query.query, v_settings, as_of) as q;

  return query
  select m.*
  from memory.find_matches(
    v_types, v_query.topic, v_query.conditions, '{}', 'hybrid', embedding,
    memory.visible_scope(scope), coalesce(include_archived, false), sort, v_limit, min_relevance,
    v_settings, as_of
  ) as m;
end;
$$;

comment on function memory.query(
  text, text[], text, text, integer, boolean, float8, vector, uuid, timestamptz
) is
'Memories of all types (NULL) or some that meet a query in the query language '
'(docs/query-language.md), such as: deadline AND tag:work AND created:last_month. Words rank by '
'meaning and words; everything else is a condition, applied before ranking. sort: relevance '
'(composite score), created, updated, accessed, confidence, importance (highest or latest first) '
'or title. embedding: the vector of memory.query_topic. Entries of very low confidence come only '
'if there is nothing else, aged ones only to fill up the answer, archived ones only with '
'include_archived or is:archived. scope and min_relevance as in memory.search. Changes nothing. '
'Errors: PM002, PM004 vector from another embedding version, PM007 malformed query.';
grant execute on function memory.query to memory_writer, memory_reader;

create or replace function memory.retrieve_entries(
  query text,
  mode text default 'hybrid',
  max_results integer default 5,
  sort text default 'relevance',
  is_expression boolean default false,
  entry_types text[] default null,
  tags jsonb default null,
  confidence_min float8 default 0,
  confidence_max float8 default 1,
  created_after timestamptz default null,
  created_before timestamptz default null,
  exclude_ids text[] default null,
  include_archived boolean default false,
  scope text default null,
  min_relevance float8 default null,
  embedding vector default null,
  embedding_version_id uuid default null,
  as_of timestamptz default now()
)
  returns setof memory.queried_memory
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_settings memory.settings := memory.current_settings();
  v_limit integer := memory.check_limit(max_results);
  v_filter memory.query_condition;
  v_conditions memory.query_condition[];
  v_topic text := memory.preprocess_search_query(query);
  v_tags text[];
  v_found memory.queried_memory;
  v_ids uuid[] := array[]::uuid[];
begin
  perform
    memory.check_word('mode', mode, '{hybrid,semantic,keyword,graph}'),
    memory.check_word(
      'sort', sort, '{relevance,created,updated,accessed,confidence,importance,title}'
    ),
    memory.check_number('confidence_min', confidence_min, 0, 1),
    memory.check_number('confidence_max', confidence_max, confidence_min, 1),
    memory.check_number('min_relevance', coalesce(min_relevance, 0), 0, 1),
    memory.check_query(query),
    memory.check_tags(coalesce(tags, '[]')),
    memory.check_query_embedding(embedding, embedding_version_id),
    memory.check_write_time('as_of', as_of);
  v_tags := array(select t.tag from jsonb_array_elements_text(tags) as t (tag));
  perform memory.check_word('entry_types', t.type, '{fact,preference,pattern,note}')
  from unnest(entry_types) as t (type);
  if mode = 'semantic' and embedding is null then
    raise exception 'semantic retrieval without an embedding'
      using errcode = 'PM002',
        hint = 'Pass the vector of the query, or use mode hybrid, keyword or graph.';
  end if;

  if created_after > created_before then
    raise exception 'created_after is later than created_before: % > %',
      created_after, created_before
      using errcode = 'PM002', hint = 'Swap them.';
  end if;
  v_filter := memory.filters_condition(
    entry_types,
    -- In mode graph, tags are where the walk begins.
    case when mode <> 'graph' then v_tags end,
    confidence_min, confidence_max, created_after, created_before, exclude_ids
  );
  if is_expression then
    select q.topic, memory.narrow_conditions(q.conditions, v_filter)
    into v_topic, v_conditions
    from memory.read_query_as(query, v_settings, as_of) as q;
  else
    v_filter.topic_required := v_topic <> '';
    v_conditions := array[v_filter];
  end if;

  for v_found in
    select m.*
    from memory.find_matches(
      array['entry'], v_topic, v_conditions,
      case when mode = 'graph' then v_tags else '{}' end, mode, embedding,
      memory.visible_scope(scope), coalesce(include_archived, false), sort, v_limit, min_relevance,
      v_settings, as_of
    ) as m
  loop
    return next v_found;
    v_ids := v_ids || v_found.id;
  end loop;

  -- Retrieval must also work on a standby, where nothing can be counted.
  if memory.can_write() then
    perform memory.count_references(
      array(select 'entry' from unnest(v_ids)), v_ids, as_of
    );
  end if;
end;
$$;

comment on function memory.retrieve_entries(
  text, text, integer, text, boolean, text[], jsonb, float8, float8, timestamptz, timestamptz,
  text[], boolean, text, float8, vector, uuid, timestamptz
) is
'Entries for a question in plain words or, if is_expression, in the query language '
'(docs/query-language.md), best first, and counts an access to each. mode: hybrid, by meaning, '
'words and links; semantic; keyword; graph, which starts at entries tagged with one of the tags or '
'a word of the query and follows their related_to links. Only entries of one of the entry_types, '
'with one of the tags (unless mode is graph), a confidence in the range, created in the interval '
'(both ends included), and none of exclude_ids. '
'sort, min_relevance, include_archived, scope: as in memory.query. '
'Errors: PM002, PM004 vector from another embedding version, PM007 malformed query.';
grant execute on function memory.retrieve_entries to memory_writer;

commit;
