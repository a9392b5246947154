-- Deploy pymem:functions/corpus to pg
-- requires: tables/corpus_statistics
-- requires: functions/request
-- requires: functions/checks

begin;

set local role memory_owner;

create function memory.corpus_size(memory_type text)
  returns table (
    documents bigint,
    average_terms float8
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  return query
  select
    coalesce(sum(c.documents), 0)::bigint,
    coalesce(sum(c.terms)::float8 / nullif(sum(c.documents), 0), 0)
  from (
    select s.documents, s.terms
    from memory.corpus_statistics as s
    where s.tenant_id = v_tenant_id and s.memory_type = corpus_size.memory_type
    union all
    select d.documents, d.terms
    from memory.corpus_deltas as d
    where d.tenant_id = v_tenant_id and d.memory_type = corpus_size.memory_type
  ) as c;
end;
$$;

comment on function memory.corpus_size(text) is
'How many memories of a type are live, and how many distinct lexemes they have on average: '
'exact, whether folded or not.';

create function memory.fold_corpus_statistics()
  returns bigint
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_count bigint;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'the fold cannot run in a % transaction',
      current_setting('transaction_isolation')
      using errcode = 'PM002',
        hint = 'Run it at READ COMMITTED, where it sees every fold it waited for.';
  end if;
  perform pg_advisory_xact_lock(memory.corpus_lock_key(v_tenant_id));
  select count(*) into v_count from memory.corpus_deltas as d where d.tenant_id = v_tenant_id;
  perform memory.fold_corpus_deltas(v_tenant_id);
  return v_count;
end;
$$;

comment on function memory.fold_corpus_statistics() is
'Folds the changes that stores noted into the statistics of the corpus; returns how many there '
'were. Stores do so by themselves now and then: this is for a sweep that leaves none. Errors: '
'PM002 not at READ COMMITTED.';

commit;
