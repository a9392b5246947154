-- Deploy pymem:functions/core/embedding/calibration to pg

begin;

set local role memory_owner;

create or replace function memory.calibrate_similarity(
  sample_size integer default 400,
  target text default 'active'
)
  returns table (
    similarity_floor float8,
    similarity_ceiling float8,
    pairs bigint
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set jit = off
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_version_id uuid;
  v_ids uuid[];
  v_floor float8;
  v_pairs bigint;
begin
  perform memory.check_number('sample_size', sample_size, 10, 2000);
  perform memory.check_word('target', target, '{active,building}');
  select v.id into v_version_id
  from memory.embedding_versions as v
  where v.tenant_id = v_tenant_id and v.status = calibrate_similarity.target
  for no key update;
  if not found then
    raise exception 'no embedding model is %',
      case target when 'active' then 'registered' else 'being changed to' end
      using errcode = 'PM004',
        hint = case target
          when 'active' then 'Call memory.register_embedding_version(model, version) first.'
          else 'Call memory.start_reembedding(model, version) first.'
        end;
  end if;

  -- Facts and rules, which have distinct topics, if there are ten; turns of a conversation are all
  -- alike. Ids are random, so the first ones by id are a sample, and always the same.
  v_ids := array(
    select m.id
    from memory.searchable_memories as m
    left join memory.staged_embeddings as s
      on s.tenant_id = v_tenant_id and s.embedding_version_id = v_version_id
      and s.memory_type = m.memory_type and s.memory_id = m.id
    where m.tenant_id = v_tenant_id and m.is_live
      and case target when 'active' then m.embedding else s.embedding end is not null
    order by m.memory_type = 'episode', m.id
    limit sample_size
  );
  if cardinality(v_ids) < 10 then
    raise exception 'only % memories have a vector', cardinality(v_ids)
      using errcode = 'PM004',
        hint = 'Store and embed at least ten memories, or pass the scale to '
          'memory.register_embedding_version.';
  end if;

  with sampled as materialized (
    select
      m.id,
      m.memory_type = 'episode' as is_episode,
      case target when 'active' then m.embedding else s.embedding end as embedding
    from memory.searchable_memories as m
    left join memory.staged_embeddings as s
      on s.tenant_id = v_tenant_id and s.embedding_version_id = v_version_id
      and s.memory_type = m.memory_type and s.memory_id = m.id
    where m.tenant_id = v_tenant_id and m.id = any (v_ids)
  ),
  compared as (
    select a.is_episode or b.is_episode as is_talk, 1 - (a.embedding <=> b.embedding) as similarity
    from sampled as a
    join sampled as b on b.id > a.id
  ),
  quantiles as (
    select
      c.is_talk,
      count(*) as pairs,
      percentile_cont(case when c.is_talk then 0.05 else 0.25 end) within group (
        order by c.similarity
      ) as similarity
    from compared as c
    group by c.is_talk
  )
  select q.similarity, q.pairs into v_floor, v_pairs
  from quantiles as q
  order by q.pairs < 45, q.is_talk
  limit 1;

  return query
  update memory.embedding_versions as v
  set
    similarity_floor = least(v_floor, 0.98),
    similarity_ceiling = least(v_floor, 0.98) + 0.74 * (1 - least(v_floor, 0.98))
  where v.tenant_id = v_tenant_id and v.id = v_version_id
  returning v.similarity_floor, v.similarity_ceiling, v_pairs;
end;
$$;

comment on function memory.calibrate_similarity(integer, text) is
'Measures the similarity scale of the embedding model on the tenant''s own memories, stores it '
'with the embedding version, and returns it with the number of pairs compared. A quarter of all '
'pairs of facts and rules lies below the floor (of pairs with episodes, which share their topics, '
'a twentieth); the ceiling is 0.74 of the way from there to 1. For all-MiniLM-L6-v2 this gives its '
'own scale, 0.05 to 0.75. sample_size: memories compared with each other, 10..2000. target: the '
'"active" model, or the one whose vectors are "building". Errors: PM002, PM004 no model, or too '
'few memories with a vector.';
grant execute on function memory.calibrate_similarity to memory_admin;

commit;
