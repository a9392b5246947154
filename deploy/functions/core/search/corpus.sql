-- Deploy pymem:functions/core/search/corpus to pg

begin;

set local role memory_owner;

create or replace function memory.start_corpus_statistics(tenant_id text)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  insert into memory.corpus_statistics (tenant_id, memory_type, documents, terms)
  select start_corpus_statistics.tenant_id, t.memory_type, 0, 0
  from unnest(memory.memory_type_names()) as t (memory_type)
  on conflict do nothing;
$$;

comment on function memory.start_corpus_statistics(text) is
'Creates the statistics rows of a tenant if they do not exist.';

create or replace function memory.fold_corpus_deltas(tenant_id text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  with folded as (
    delete from memory.corpus_deltas as d
    where d.tenant_id = fold_corpus_deltas.tenant_id
    returning d.memory_type, d.documents, d.terms
  ),
  total as (
    select f.memory_type, sum(f.documents) as documents, sum(f.terms) as terms
    from folded as f
    group by f.memory_type
  )
  -- Memories changed without the triggers must not make a store fail, hence greatest.
  update memory.corpus_statistics as s
  set
    documents = greatest(0, s.documents + t.documents),
    terms = greatest(0, s.terms + t.terms)
  from total as t
  where s.tenant_id = fold_corpus_deltas.tenant_id and s.memory_type = t.memory_type;
end;
$$;

comment on function memory.fold_corpus_deltas(text) is
'Adds the deltas of a tenant to its statistics and deletes them. The caller holds the lock on the '
'row for episodes, which stands for all three.';

create or replace function memory.maybe_fold_deltas(tenant_id text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  -- Folding needs a snapshot taken after the previous fold, hence READ COMMITTED. The lock is on a
  -- row, which only these functions can lock: anyone could hold an advisory lock.
  if current_setting('transaction_isolation') <> 'read committed' then
    return;
  end if;
  if not exists (
    select from memory.corpus_statistics as s where s.tenant_id = maybe_fold_deltas.tenant_id
  ) then
    perform memory.start_corpus_statistics(tenant_id);
  end if;
  perform from memory.corpus_statistics as s
  where s.tenant_id = maybe_fold_deltas.tenant_id and s.memory_type = 'episode'
  for update skip locked;
  if found then
    perform memory.fold_corpus_deltas(tenant_id);
  end if;
end;
$$;

comment on function memory.maybe_fold_deltas(text) is
'Folds the deltas of a tenant, unless another session is doing so. Waits only if another session '
'is folding for this tenant for the first time.';

create or replace function memory.is_counted_state(lifecycle_state text)
  returns boolean
  language sql
  immutable
  parallel safe
  return lifecycle_state
    not in ('superseded', 'expired', 'retracted', 'aged', 'archived', 'guarded');

comment on function memory.is_counted_state(text) is
'Whether a memory in this state belongs to the corpus: all tables use the same names for states '
'that searches leave out.';

-- Every 128th insert folds the deltas.

create or replace function memory.count_texts()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_sign integer := case tg_op when 'DELETE' then -1 else 1 end;
  v_delta record;
begin
  for v_delta in
    insert into memory.corpus_deltas as d (tenant_id, memory_type, documents, terms)
    select t.tenant_id, tg_argv[0], v_sign * count(*), v_sign * sum(length(t.search_vector))
    from texts as t
    where memory.is_counted_state(t.lifecycle_state)
    group by t.tenant_id
    returning d.tenant_id, d.id
  loop
    if v_delta.id % 128 = 0 then
      perform memory.maybe_fold_deltas(v_delta.tenant_id);
    end if;
  end loop;
  return null;
end;
$$;

comment on function memory.count_texts() is
'Statement trigger: stored or deleted memories, the transition table texts, change the corpus '
'statistics. Argument: their type.';

create or replace function memory.count_changed_text()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_old integer := memory.is_counted_state(old.lifecycle_state)::integer;
  v_new integer := memory.is_counted_state(new.lifecycle_state)::integer;
  v_documents integer := v_new - v_old;
  v_terms integer := v_new * length(new.search_vector) - v_old * length(old.search_vector);
  v_delta_id bigint;
begin
  if v_documents <> 0 or v_terms <> 0 then
    insert into memory.corpus_deltas as d (tenant_id, memory_type, documents, terms)
    values (new.tenant_id, tg_argv[0], v_documents, v_terms)
    returning d.id into v_delta_id;
    if v_delta_id % 128 = 0 then
      perform memory.maybe_fold_deltas(new.tenant_id);
    end if;
  end if;
  return null;
end;
$$;

comment on function memory.count_changed_text() is
'Row trigger: a memory whose text is indexed again, or that becomes unsearchable or searchable '
'again, changes the corpus statistics. Argument: its type.';

create or replace function memory.corpus_sizes(memory_types text[])
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
'The size of the corpus of each type, in the order of the types: exact, with or without folding.';
grant execute on function memory.corpus_sizes to memory_search;

create or replace function memory.lock_corpus_statistics()
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
'Waits for a session that is folding the deltas of the current tenant, and keeps others from '
'folding until the end of the transaction. Returns the tenant. Errors: PM002 not at READ '
'COMMITTED.';

create or replace function memory.fold_corpus_statistics()
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
'Folds the deltas that stores have recorded into the corpus statistics; returns how many there '
'were. Every 128th store also folds: this function leaves none. Errors: PM002 not at READ '
'COMMITTED.';
grant execute on function memory.fold_corpus_statistics to memory_worker;

create or replace function memory.recount_corpus_statistics()
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
  -- Counts and deltas come from one snapshot: a store that commits later keeps its delta.
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
  from unnest(memory.memory_type_names()) as t (memory_type)
  left join counted as c on c.memory_type = t.memory_type
  where s.tenant_id = v_tenant_id
    and s.memory_type = t.memory_type
    and (s.documents, s.terms) <> (coalesce(c.documents, 0), coalesce(c.terms, 0));
  return found;
end;
$$;

comment on function memory.recount_corpus_statistics() is
'Recounts the corpus; returns whether the statistics were wrong, which happens only if memories '
'were changed without the triggers. Errors: PM002 not at READ COMMITTED.';
grant execute on function memory.recount_corpus_statistics to memory_worker;

-- A change of language indexes the texts of a tenant again, in batches: what a batch locks, recall,
-- which counts references, waits for.

create or replace function memory.lock_first_statistics(tenant_id text)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform from memory.corpus_statistics as s
  where s.tenant_id = lock_first_statistics.tenant_id and s.memory_type = 'episode'
  for update skip locked;
  return found;
end;
$$;

comment on function memory.lock_first_statistics(text) is
'Locks the statistics of a tenant by the row for episodes, which stands for all; false, without '
'waiting, if another session has them.';

create or replace function memory.mark_for_reindexing(
  tenant_id text,
  text_search_config text
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.start_corpus_statistics(tenant_id);
  -- No memory is locked yet, so this may wait for a session that is folding.
  perform from memory.corpus_statistics as s
  where s.tenant_id = mark_for_reindexing.tenant_id and s.memory_type = 'episode'
  for update;
  update memory.corpus_statistics as s
  set former_languages = s.former_languages || mark_for_reindexing.text_search_config
  where s.tenant_id = mark_for_reindexing.tenant_id
    and mark_for_reindexing.text_search_config <> all (s.former_languages);
end;
$$;

comment on function memory.mark_for_reindexing(text, text) is
'Notes that texts of a tenant wait to be indexed again, some of them in this text search '
'configuration.';

create or replace function memory.reindex_batch(
  settings memory.settings,
  batch_size integer
)
  returns integer
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := settings.tenant_id;
  v_language text := settings.text_search_config;
  v_rendering text := settings.index_rendering;
  v_type record;
  v_count integer;
  v_total integer := 0;
  v_waiting boolean;
begin
  for v_type in
    select
      t.memory_type, t.table_name,
      case t.memory_type
        when 'episode'
        then '(m.text_search_config, m.index_rendering) <> ($1, $2)'
        else 'm.text_search_config <> $1'
      end as condition,
      case t.memory_type when 'episode' then ', index_rendering = $2' else '' end as assignment
    from memory.memory_types as t
    join memory.corpus_statistics as s
      on s.tenant_id = v_tenant_id and s.memory_type = t.memory_type and s.former_languages <> '{}'
    where t.is_searched
    order by t.position
  loop
    -- Nobody is waited for, so nobody who waits for these rows can be waiting in a circle.
    execute format(
      'with batch as (
         select m.id
         from memory.%1$I as m
         where m.tenant_id = $3 and %2$s
         order by m.id
         limit $4
         for no key update skip locked
       )
       update memory.%1$I as m
       set text_search_config = $1%3$s
       from batch as b
       where m.tenant_id = $3 and m.id = b.id',
      v_type.table_name, v_type.condition, v_type.assignment
    ) using v_language, v_rendering, v_tenant_id, batch_size - v_total;
    get diagnostics v_count = row_count;
    v_total := v_total + v_count;
    exit when v_total >= batch_size;

    execute format(
      'select exists (select from memory.%I as m where m.tenant_id = $3 and %s)',
      v_type.table_name, v_type.condition
    ) into v_waiting using v_language, v_rendering, v_tenant_id;
    -- Not waiting for the lock, either: if it is taken, the next call finds nothing left to do.
    if not v_waiting and memory.lock_first_statistics(v_tenant_id) then
      update memory.corpus_statistics as s
      set former_languages = '{}'
      where s.tenant_id = v_tenant_id and s.memory_type = v_type.memory_type;
    end if;
  end loop;

  if v_total > 0 then
    perform memory.write_event(
      v_tenant_id, 'texts_reindexed', null, null,
      jsonb_build_object('text_search_config', v_language, 'memories', v_total)
    );
  end if;
  return v_total;
end;
$$;

comment on function memory.reindex_batch(memory.settings, integer) is
'Indexes up to batch_size texts of a tenant again, where memory.mark_for_reindexing has noted that '
'some wait; returns how many. One event for all: what a text says does not change.';

create or replace function memory.reindex_texts(batch_size integer default 200)
  returns integer
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_settings memory.settings;
begin
  perform memory.check_number('batch_size', batch_size, 1, 10000);
  if not exists (
    select from memory.corpus_statistics as s
    where s.tenant_id = v_tenant_id and s.former_languages <> '{}'
  ) then
    return 0;
  end if;
  -- The language stays until the end of the batch; memory.configure waits for it.
  perform from memory.settings as s where s.tenant_id = v_tenant_id for key share;
  v_settings := memory.current_settings();
  return memory.reindex_batch(v_settings, batch_size);
end;
$$;

comment on function memory.reindex_texts(integer) is
'Indexes up to batch_size texts again that a change of text_search_config or index_rendering '
'(memory.configure) has left; returns how many. Call it until it returns 0, each time in a '
'transaction of its own: searches count their references in between. The embedding worker and '
'configure of the Python client do so. Texts that others have locked are left for the next call. '
'Errors: PM002.';
grant execute on function memory.reindex_texts to memory_worker, memory_admin;

create or replace function memory.query_languages(settings memory.settings)
  returns text[]
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select array[settings.text_search_config] || array(
    select distinct l.language
    from memory.corpus_statistics as s
    cross join lateral unnest(s.former_languages) as l (language)
    where s.tenant_id = settings.tenant_id and l.language <> settings.text_search_config
    order by 1
  );
$$;

comment on function memory.query_languages(memory.settings) is
'The text search configurations in which to read a query: that of the settings first, then those '
'of texts that wait to be indexed again.';
grant execute on function memory.query_languages to memory_search;

commit;
