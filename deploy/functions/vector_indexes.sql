-- Deploy pymem:functions/vector_indexes to pg
-- requires: functions/neighbours

begin;

set local role memory_owner;

create function memory.rebuild_vector_indexes(method text default 'auto')
  returns text
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set client_min_messages = warning -- no NOTICE about an index that is not there
as $$
declare
  v_method text := method;
begin
  perform memory.check_word('method', method, '{auto,exact,ivfflat,hnsw}');
  -- One rebuild at a time, from before the tables are read: two that had read them would wait for
  -- each other to drop the indexes. Readers and writers go on until then.
  lock table memory.episodes, memory.facts, memory.rules in share update exclusive mode;
  if v_method = 'auto' then
    v_method := case
      when memory.largest_tenant_size() > (memory.default_settings('auto')).exact_scan_limit
      then 'hnsw'
      else 'exact'
    end;
  end if;

  drop index if exists memory.episodes_embedding_idx;
  drop index if exists memory.facts_embedding_idx;
  drop index if exists memory.rules_embedding_idx;

  case v_method
    when 'ivfflat' then
      create index episodes_embedding_idx on memory.episodes
      using ivfflat (embedding vector_cosine_ops) with (lists = 20);
      create index facts_embedding_idx on memory.facts
      using ivfflat (embedding vector_cosine_ops) with (lists = 20) where validity = 'active';
      create index rules_embedding_idx on memory.rules
      using ivfflat (embedding vector_cosine_ops) with (lists = 20)
      where lifecycle_state <> 'retracted';
    when 'hnsw' then
      create index episodes_embedding_idx on memory.episodes
      using hnsw (embedding vector_cosine_ops);
      create index facts_embedding_idx on memory.facts
      using hnsw (embedding vector_cosine_ops) where validity = 'active';
      create index rules_embedding_idx on memory.rules
      using hnsw (embedding vector_cosine_ops) where lifecycle_state <> 'retracted';
    else
      null; -- exact: the covering indexes of the tables suffice
  end case;
  return v_method;
end;
$$;

comment on function memory.rebuild_vector_indexes(text) is
'Chooses how semantic search finds vectors and builds what it needs; returns the method. exact: '
'compares all vectors of the tenant, perfect recall, best up to exact_scan_limit. hnsw: an '
'approximate index for tenants beyond that. ivfflat: 20 lists, all of them read. auto: hnsw if '
'any tenant is that large, else exact. Blocks writers while it builds. Errors: PM002.';

commit;
