-- Deploy pymem:functions/corpus to pg
-- requires: tables/corpus_statistics
-- requires: functions/request
-- requires: functions/checks

begin;

set local role memory_owner;

create type memory.corpus_size as (
  memory_type text,
  documents bigint,
  average_terms float8
);

comment on type memory.corpus_size is
'How many memories of a type are live, and how many distinct lexemes they have on average.';

create function memory.corpus_sizes(memory_types text[])
  returns memory.corpus_size[]
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  return array(
    select row(
      t.type,
      coalesce(sum(c.documents), 0),
      coalesce(sum(c.terms)::float8 / nullif(sum(c.documents), 0), 0)
    )::memory.corpus_size
    from unnest(memory_types) with ordinality as t (type, position)
    left join (
      select s.memory_type, s.documents, s.terms
      from memory.corpus_statistics as s
      where s.tenant_id = v_tenant_id
      union all
      select d.memory_type, d.documents, d.terms
      from memory.corpus_deltas as d
      where d.tenant_id = v_tenant_id
    ) as c on c.memory_type = t.type
    group by t.type, t.position
    order by t.position
  );
end;
$$;

comment on function memory.corpus_sizes(text[]) is
'The size of the corpus of each type, in the order of the types: exact, whether folded or not.';

create function memory.lock_corpus_statistics()
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'statistics cannot be folded in a % transaction',
      current_setting('transaction_isolation')
      using errcode = 'PM002',
        hint = 'Run it at READ COMMITTED, where it sees every fold it waited for.';
  end if;
  perform memory.start_corpus_statistics(v_tenant_id);
  perform from memory.corpus_statistics as s
  where s.tenant_id = v_tenant_id and s.memory_type = 'episode'
  for update;
  return v_tenant_id;
end;
$$;

comment on function memory.lock_corpus_statistics() is
'Waits for whoever folds the deltas of the current tenant, and keeps others from it until the end '
'of the transaction. Returns the tenant. Errors: PM002 not at READ COMMITTED.';

create function memory.fold_corpus_statistics()
  returns bigint
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.lock_corpus_statistics();
  v_count bigint;
begin
  select count(*) into v_count from memory.corpus_deltas as d where d.tenant_id = v_tenant_id;
  perform memory.fold_corpus_deltas(v_tenant_id);
  return v_count;
end;
$$;

comment on function memory.fold_corpus_statistics() is
'Folds the changes that stores noted into the statistics of the corpus; returns how many there '
'were. Stores do so by themselves now and then: this is for a sweep that leaves none. Errors: '
'PM002 not at READ COMMITTED.';

create function memory.recount_corpus_statistics()
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.lock_corpus_statistics();
begin
  perform memory.fold_corpus_deltas(v_tenant_id);
  -- Counts and deltas of one snapshot: a store that commits later keeps its delta.
  with counted as (
    select m.memory_type, count(*) as documents, sum(length(m.search_vector)) as terms
    from memory.searchable_memories as m
    where m.tenant_id = v_tenant_id and m.is_live
    group by m.memory_type
  ),
  folded as (
    delete from memory.corpus_deltas as d where d.tenant_id = v_tenant_id
  )
  update memory.corpus_statistics as s
  set documents = coalesce(c.documents, 0), terms = coalesce(c.terms, 0)
  from (values ('episode'), ('fact'), ('rule')) as t (memory_type)
  left join counted as c on c.memory_type = t.memory_type
  where s.tenant_id = v_tenant_id
    and s.memory_type = t.memory_type
    and (s.documents, s.terms) <> (coalesce(c.documents, 0), coalesce(c.terms, 0));
  return found;
end;
$$;

comment on function memory.recount_corpus_statistics() is
'Counts the corpus anew; returns whether the statistics were off, as they can only be where '
'somebody changed memories past the triggers. Errors: PM002 not at READ COMMITTED.';

commit;
