-- Deploy pymem:functions/core/search/search to pg

begin;

set local role memory_owner;

create or replace function memory.refuse_limit(max_results integer)
  returns integer
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception 'max_results is %', coalesce(max_results::text, 'NULL')
    using errcode = 'PM002',
      hint = 'Pass a max_results of 1 or more; an answer has at most 1000 rows.';
end;
$$;

comment on function memory.refuse_limit(integer) is
'Raises the error of check_limit. Errors: PM002.';

create or replace function memory.check_limit(max_results integer)
  returns integer
  language sql
  immutable
  parallel safe
  return case
    when max_results >= 1 then least(max_results, 1000)
    else memory.refuse_limit(max_results)
  end;

comment on function memory.check_limit(integer) is
'Refuses a max_results below 1 and caps it at 1000. Errors: PM002.';

create or replace function memory.compare_query_version(
  embedding vector,
  embedding_version_id uuid
)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform case when embedding is not null then memory.check_embedding(embedding) end;
  perform memory.check_embedding_version(embedding_version_id);
end;
$$;

comment on function memory.compare_query_version(vector, uuid) is
'The part of check_query_embedding for a vector that names its version. Errors: PM002, PM004.';

create or replace function memory.check_query_embedding(
  embedding vector,
  embedding_version_id uuid
)
  returns void
  language sql
  stable
  return case
    when embedding_version_id is null
    then case when embedding is not null then memory.check_embedding(embedding) end
    else memory.compare_query_version(embedding, embedding_version_id)
  end;

comment on function memory.check_query_embedding(vector, uuid) is
'Refuses a malformed query vector, or one from an embedding version that is not active. Errors: '
'PM002, PM004.';

create or replace function memory.semantic_search(
  memory_type text,
  embedding vector,
  scope text default null,
  max_results integer default 10,
  embedding_version_id uuid default null,
  as_of timestamptz default now()
)
  returns setof memory.ranked_memory
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_scope text := memory.visible_scope(scope);
  v_limit integer := memory.check_limit(max_results);
begin
  perform
    memory.check_word('memory_type', memory_type, memory.memory_type_names()),
    memory.check_time('as_of', as_of);
  if embedding is null then
    raise exception 'embedding is NULL'
      using errcode = 'PM002', hint = 'Pass the vector of the query, or use memory.keyword_search.';
  end if;
  perform memory.check_query_embedding(embedding, embedding_version_id);

  return query
  select m.*
  from memory.find_memories(
    array[memory_type], 'semantic', null, embedding, v_scope, v_limit, 0, null, null, true, false,
    memory.current_settings(), as_of
  ) as m;
end;
$$;

comment on function memory.semantic_search(text, vector, text, integer, uuid, timestamptz) is
'The live memories of one type closest in meaning: by cosine similarity to the query vector, best '
'first. scope: finds the facts and rules of this scope and of global, and the episodes of this '
'butler; "*": everything; NULL: the scope of the request''s butler, or everything if there is no '
'butler (memory.visible_scope). Errors: PM002, PM004 vector from another embedding version.';
grant execute on function memory.semantic_search to memory_writer, memory_reader;

create or replace function memory.keyword_search(
  memory_type text,
  query text,
  scope text default null,
  max_results integer default 10,
  keyword_match text default 'all',
  as_of timestamptz default now()
)
  returns setof memory.ranked_memory
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_scope text := memory.visible_scope(scope);
  v_limit integer := memory.check_limit(max_results);
begin
  perform
    memory.check_word('memory_type', memory_type, memory.memory_type_names()),
    memory.check_word('keyword_match', keyword_match, '{any,all}'),
    memory.check_query(query),
    memory.check_time('as_of', as_of);

  return query
  select m.*
  from memory.find_memories(
    array[memory_type], 'keyword', query, null, v_scope, v_limit, 0, null, keyword_match, true,
    false, memory.current_settings(), as_of
  ) as m;
end;
$$;

comment on function memory.keyword_search(text, text, text, integer, text, timestamptz) is
'The live memories of one type that contain the words of the query, by ts_rank, best first. '
'keyword_match "all": every word (plainto_tsquery); "any": at least one. Words are folded; scripts '
'without spaces are split into pairs of characters (memory.to_search_vector). An empty query finds '
'nothing. Errors: PM002.';
grant execute on function memory.keyword_search to memory_writer, memory_reader;

create or replace function memory.hybrid_search(
  memory_type text,
  query text,
  embedding vector default null,
  scope text default null,
  max_results integer default 10,
  keyword_match text default null,
  embedding_version_id uuid default null,
  as_of timestamptz default now()
)
  returns setof memory.ranked_memory
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_scope text := memory.visible_scope(scope);
  v_limit integer := memory.check_limit(max_results);
begin
  perform
    memory.check_word('memory_type', memory_type, memory.memory_type_names()),
    memory.check_word('keyword_match', coalesce(keyword_match, 'any'), '{any,all}'),
    memory.check_query(query),
    memory.check_query_embedding(embedding, embedding_version_id),
    memory.check_time('as_of', as_of);

  return query
  select m.*
  from memory.find_memories(
    array[memory_type], 'hybrid', query, embedding, v_scope, v_limit, 0, null, keyword_match, true,
    false, memory.current_settings(), as_of
  ) as m;
end;
$$;

comment on function memory.hybrid_search(
  text, text, vector, text, integer, text, uuid, timestamptz
) is
'The live memories of one type closest in meaning and words: reciprocal rank fusion of the '
'semantic and the keyword list, each max_results long; a memory in only one list ranks one below '
'the end of the other. keyword_match "any": the keyword list contains matches of any word of the '
'query, "all": of every word; NULL: the setting keyword_match, or every word with the ranking '
'"specified". Without an embedding only words count. Errors: PM002, PM004 vector from another '
'embedding version.';
grant execute on function memory.hybrid_search to memory_writer, memory_reader;

create or replace function memory.search(
  query text,
  types text[] default null,
  scope text default null,
  mode text default null,
  max_results integer default 10,
  min_confidence float8 default null,
  min_relevance float8 default null,
  embedding vector default null,
  embedding_version_id uuid default null,
  as_of timestamptz default now()
)
  returns setof memory.ranked_memory
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_settings memory.settings := memory.current_settings();
  v_types text[] := memory.check_types(types);
  v_mode text := coalesce(search.mode, v_settings.retrieval_mode);
  v_min_confidence float8 := coalesce(search.min_confidence, v_settings.min_confidence);
  v_scope text := memory.visible_scope(scope);
  v_limit integer := memory.check_limit(max_results);
begin
  perform
    memory.check_word('mode', v_mode, '{hybrid,semantic,keyword}'),
    memory.check_number('min_confidence', v_min_confidence, 0, 1),
    memory.check_number('min_relevance', coalesce(min_relevance, 0), 0, 1),
    memory.check_query(query),
    memory.check_query_embedding(embedding, embedding_version_id),
    memory.check_time('as_of', as_of);
  if v_mode = 'semantic' and embedding is null then
    raise exception 'semantic search without an embedding'
      using errcode = 'PM002',
        hint = 'Pass the vector of the query, or use mode hybrid or keyword.';
  end if;

  return query
  select m.*
  from memory.find_memories(
    v_types, v_mode, query, embedding, v_scope, v_limit, v_min_confidence, min_relevance, null,
    false, false, v_settings, as_of
  ) as m;
end;
$$;

comment on function memory.search(
  text, text[], text, text, integer, float8, float8, vector, uuid, timestamptz
) is
'Searches several types (NULL: episode, fact, rule) and returns the most relevant memories of all. '
'mode: hybrid, semantic (by meaning alone) or keyword (by words alone); NULL: the setting. Leaves '
'out facts and rules whose effective confidence at as_of is below min_confidence (NULL: the '
'setting) and memories whose relevance is below min_relevance (NULL: the setting, and nothing is '
'found if even the best has too little evidence): the answer may be empty. scope: as in '
'memory.semantic_search. Errors: PM002, PM004 vector from another embedding version.';
grant execute on function memory.search to memory_writer, memory_reader;

create or replace function memory.read_types(types text[])
  returns text[]
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_all text[] := memory.memory_type_names();
begin
  if types = '{}'
    or array_ndims(types) <> 1
    or array_position(types, null) is not null
    or not types <@ v_all
  then
    raise exception 'unknown memory types: %', left(types::text, 200)
      using errcode = 'PM002',
        hint = format(
          'Pass some of %s, or nothing for %s.', array_to_string(v_all, ', '),
          array_to_string(memory.default_type_names(), ', ')
        );
  end if;
  -- Without duplicates, in a fixed order.
  return array(select t.type from unnest(v_all) as t (type) where t.type = any (types));
end;
$$;

comment on function memory.read_types(text[]) is
'The memory types that an argument of check_types names, without duplicates, in a fixed order. '
'Errors: PM002.';

create or replace function memory.check_types(types text[])
  returns text[]
  language sql
  immutable
  parallel safe
  return case
    when types is null then memory.default_type_names()
    else memory.read_types(types)
  end;

comment on function memory.check_types(text[]) is
'The memory types to search, in a fixed order; NULL means memory.default_type_names. Errors: PM002 '
'unknown type or empty array.';

create or replace function memory.refuse_query(query text)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception 'the query is % bytes long', octet_length(query)
    using errcode = 'PM002', hint = 'Pass a query of at most 64 KiB.';
end;
$$;

comment on function memory.refuse_query(text) is
'Raises the error of check_query. Errors: PM002.';

create or replace function memory.check_query(query text)
  returns void
  language sql
  immutable
  parallel safe
  return case
    when query is null or octet_length(query) <= 65536 then null
    else memory.refuse_query(query)
  end;

comment on function memory.check_query(text) is
'Refuses a query over 64 KiB. Errors: PM002.';

create or replace function memory.expand_query(
  query text,
  scope text default null,
  as_of timestamptz default now()
)
  returns text
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select r.query
  from memory.current_settings() as s
  cross join lateral memory.read_relations(
    memory.correct_spelling(expand_query.query, memory.visible_scope(scope), s, as_of),
    memory.visible_scope(scope), s
  ) as r;
$$;

comment on function memory.expand_query(text, text, timestamptz) is
'A query with the names of those whom it mentions by what they are to somebody: "Where does my '
'wife work? (Mirjam)", if a fact says that the wife of user is Mirjam, and others are about '
'Mirjam. Understood are "my" and "our" (in English, German, French, Dutch and Spanish) and '
'"Lina''s", followed by a predicate of at most three words or a common synonym of it, and words '
'such as "mom" alone, in its first 1,000 characters. Where nobody is named, or the word is '
'not English, what the fact calls them is added: "Who is my supervisor? (boss)"; so it is for some '
'properties: "What is my job? (role)". Before that, misspelled words become those that memories '
'have: "What does my dauhgter do?" (memory.correct_spelling). '
'memory.search and memory.recall look for the words of the expanded query; their embedding should '
'be that of the expanded query, too. Errors: PM002 invalid scope.';
grant execute on function memory.expand_query to memory_writer, memory_reader;

commit;
