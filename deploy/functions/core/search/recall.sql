-- Deploy pymem:functions/core/search/recall to pg

begin;

set local role memory_owner;

create or replace function memory.rank_memories(
  topic text,
  scope text default null,
  max_results integer default 10,
  types text[] default null,
  min_confidence float8 default null,
  min_relevance float8 default null,
  embedding vector default null,
  embedding_version_id uuid default null,
  known_at timestamptz default null,
  valid_at timestamptz default null,
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
  v_min_confidence float8 := coalesce(rank_memories.min_confidence, v_settings.min_confidence);
  v_scope text := memory.visible_scope(scope);
  v_limit integer := memory.check_limit(max_results);
begin
  perform
    memory.check_number('min_confidence', v_min_confidence, 0, 1),
    memory.check_number('min_relevance', coalesce(min_relevance, 0), 0, 1),
    memory.check_query(topic),
    memory.check_query_embedding(embedding, embedding_version_id),
    memory.check_time('as_of', as_of);
  if known_at is not null or valid_at is not null then
    perform memory.check_time('known_at', coalesce(known_at, as_of));
    perform memory.check_time('valid_at', coalesce(valid_at, as_of));
    return query
    select m.*
    from memory.find_memories_at(
      v_types, topic, embedding, v_scope, v_limit, v_min_confidence, min_relevance, v_settings,
      known_at, valid_at, as_of
    ) as m;
    return;
  end if;

  return query
  select m.*
  from memory.find_memories(
    v_types, 'hybrid', topic, embedding, v_scope, v_limit, v_min_confidence, min_relevance, null,
    false, true, v_settings, as_of
  ) as m;
end;
$$;

comment on function memory.rank_memories(
  text, text, integer, text[], float8, float8, vector, uuid, timestamptz, timestamptz, timestamptz
) is
'What memory.recall would return, without counting references: changes nothing, accepts any as_of, '
'and returns the same rows for the same data, arguments and time. Errors: PM002, PM004.';
grant execute on function memory.rank_memories to memory_writer, memory_reader;

create or replace function memory.recall(
  topic text,
  scope text default null,
  max_results integer default 10,
  types text[] default null,
  min_confidence float8 default null,
  min_relevance float8 default null,
  embedding vector default null,
  embedding_version_id uuid default null,
  known_at timestamptz default null,
  valid_at timestamptz default null,
  as_of timestamptz default now()
)
  returns setof memory.ranked_memory
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_memory memory.ranked_memory;
  v_types text[] := array[]::text[];
  v_ids uuid[] := array[]::uuid[];
begin
  perform memory.check_write_time('as_of', as_of);

  for v_memory in
    select m.*
    from memory.rank_memories(
      topic, scope, max_results, types, min_confidence, min_relevance, embedding,
      embedding_version_id, known_at, valid_at, as_of
    ) as m
  loop
    return next v_memory;
    v_types := v_types || v_memory.memory_type;
    v_ids := v_ids || v_memory.id;
  end loop;

  -- Recall must also work where nothing can be counted: on a standby. A query about the past does not
  -- use the memories of today.
  if memory.can_write() and known_at is null and valid_at is null then
    perform memory.count_references(v_types, v_ids, as_of);
  end if;
end;
$$;

comment on function memory.recall(
  text, text, integer, text[], float8, float8, vector, uuid, timestamptz, timestamptz, timestamptz
) is
'The memories that matter for a topic, best first: the max_results most relevant, ordered by the '
'composite score of relevance, importance, recency and effective confidence, in which relevance '
'decides unless two are about equally relevant. Counts a reference to each memory it returns; the '
'rows show the state before. known_at: the answer of the memories as known then. valid_at: uses '
'the facts valid in the world then, superseded ones included. With either, nothing is counted. '
'scope, types, min_confidence, min_relevance: as in memory.search. Errors: PM002, PM004 vector '
'from another embedding version.';
grant execute on function memory.recall to memory_writer;

commit;
