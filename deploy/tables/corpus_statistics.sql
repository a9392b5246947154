-- Deploy pymem:tables/corpus_statistics to pg
-- requires: tables/episodes
-- requires: tables/facts
-- requires: tables/rules

begin;

set local role memory_owner;

create table memory.corpus_statistics (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  memory_type text not null check (memory_type in ('episode', 'fact', 'rule')),
  documents bigint not null check (documents >= 0),
  terms bigint not null check (terms >= 0),
  primary key (tenant_id, memory_type)
);

comment on table memory.corpus_statistics is
'How many memories of a type can be found, and how long they are together, as of the last fold: '
'what BM25 has to know of a tenant. Together with corpus_deltas exact at any time.';
comment on column memory.corpus_statistics.documents is
'Memories that are live: neither superseded nor expired nor retracted.';
comment on column memory.corpus_statistics.terms is 'Sum of the distinct lexemes of each.';

create table memory.corpus_deltas (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id bigint not null generated always as identity,
  memory_type text not null check (memory_type in ('episode', 'fact', 'rule')),
  documents bigint not null,
  terms bigint not null,
  primary key (tenant_id, id)
);

comment on table memory.corpus_deltas is
'Changes to corpus_statistics not folded into it yet: stores append here, and so never wait for '
'each other.';
comment on column memory.corpus_deltas.documents is
'Memories that became live less those that ended.';
comment on column memory.corpus_deltas.terms is 'The same for their distinct lexemes.';

create function memory.start_corpus_statistics(tenant_id text)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  insert into memory.corpus_statistics (tenant_id, memory_type, documents, terms)
  select start_corpus_statistics.tenant_id, t.memory_type, 0, 0
  from (values ('episode'), ('fact'), ('rule')) as t (memory_type)
  on conflict do nothing;
$$;

comment on function memory.start_corpus_statistics(text) is
'Gives a tenant its rows of statistics, if it has none.';

create function memory.fold_corpus_deltas(tenant_id text)
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
  -- Where somebody changed memories past the triggers, a store must not fail for it.
  update memory.corpus_statistics as s
  set
    documents = greatest(0, s.documents + t.documents),
    terms = greatest(0, s.terms + t.terms)
  from total as t
  where s.tenant_id = fold_corpus_deltas.tenant_id and s.memory_type = t.memory_type;
end;
$$;

comment on function memory.fold_corpus_deltas(text) is
'Moves the deltas of a tenant into its statistics. The caller has locked the row of its episodes, '
'which stands for all three.';

create function memory.try_fold(tenant_id text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  -- Unless somebody else is at it; and a snapshot from before another fold could not. A row is
  -- locked for that: only the functions can, while an advisory lock is anybody's to hold.
  if current_setting('transaction_isolation') <> 'read committed' then
    return;
  end if;
  if not exists (
    select from memory.corpus_statistics as s where s.tenant_id = try_fold.tenant_id
  ) then
    perform memory.start_corpus_statistics(tenant_id);
  end if;
  perform from memory.corpus_statistics as s
  where s.tenant_id = try_fold.tenant_id and s.memory_type = 'episode'
  for update skip locked;
  if found then
    perform memory.fold_corpus_deltas(tenant_id);
  end if;
end;
$$;

comment on function memory.try_fold(text) is
'Folds the deltas of a tenant, unless somebody else is at it. Waits for nobody, but for another '
'first fold of the tenant.';

-- Now and then whoever comes by folds. All three tables call the states of memories that are found
-- no more the same.

create function memory.count_texts()
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
    where t.lifecycle_state not in ('superseded', 'expired', 'retracted')
    group by t.tenant_id
    returning d.tenant_id, d.id
  loop
    if v_delta.id % 128 = 0 then
      perform memory.try_fold(v_delta.tenant_id);
    end if;
  end loop;
  return null;
end;
$$;

comment on function memory.count_texts() is
'Trigger of a statement: stored or deleted memories, the transition table texts, change the '
'statistics of the corpus. Argument: their type.';

create function memory.count_changed_text()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_old integer := (old.lifecycle_state not in ('superseded', 'expired', 'retracted'))::integer;
  v_new integer := (new.lifecycle_state not in ('superseded', 'expired', 'retracted'))::integer;
  v_documents integer := v_new - v_old;
  v_terms integer := v_new * length(new.search_vector) - v_old * length(old.search_vector);
  v_delta_id bigint;
begin
  if v_documents <> 0 or v_terms <> 0 then
    insert into memory.corpus_deltas as d (tenant_id, memory_type, documents, terms)
    values (new.tenant_id, tg_argv[0], v_documents, v_terms)
    returning d.id into v_delta_id;
    if v_delta_id % 128 = 0 then
      perform memory.try_fold(new.tenant_id);
    end if;
  end if;
  return null;
end;
$$;

comment on function memory.count_changed_text() is
'Trigger: a memory whose text is indexed anew, or that is found no more or again, changes the '
'statistics of the corpus. Argument: its type.';

create trigger count_stored_texts
after insert on memory.episodes referencing new table as texts
for each statement execute function memory.count_texts('episode');

create trigger count_stored_texts
after insert on memory.facts referencing new table as texts
for each statement execute function memory.count_texts('fact');

create trigger count_stored_texts
after insert on memory.rules referencing new table as texts
for each statement execute function memory.count_texts('rule');

create trigger count_deleted_texts
after delete on memory.episodes referencing old table as texts
for each statement execute function memory.count_texts('episode');

create trigger count_deleted_texts
after delete on memory.facts referencing old table as texts
for each statement execute function memory.count_texts('fact');

create trigger count_deleted_texts
after delete on memory.rules referencing old table as texts
for each statement execute function memory.count_texts('rule');

create trigger count_changed_text
after update of text_search_config, index_rendering, search_vector on memory.episodes
for each row execute function memory.count_changed_text('episode');

create trigger count_changed_text
after update of validity, text_search_config, search_vector on memory.facts
for each row execute function memory.count_changed_text('fact');

create trigger count_changed_text
after update of content, metadata, text_search_config, search_vector on memory.rules
for each row execute function memory.count_changed_text('rule');

commit;
