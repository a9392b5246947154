-- Deploy pymem:functions/core/lifecycle/entries to pg

begin;

set local role memory_owner;

create or replace function memory.restore_entry(
  settings memory.settings,
  entry_id uuid,
  as_of timestamptz
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_entry memory.entries;
begin
  select e.* into v_entry
  from memory.entries as e
  where e.tenant_id = settings.tenant_id and e.id = restore_entry.entry_id
  for no key update;
  if as_of >= v_entry.deleted_at + interval '30 days' then
    raise exception 'entry % was deleted more than 30 days ago', v_entry.entry_id
      using errcode = 'PM003', hint = 'Create it again.';
  end if;
  if v_entry.policy = 'billy' and v_entry.expired_at is not null then
    raise exception 'entry % is guarded and has expired', v_entry.entry_id
      using errcode = 'PM008', hint = 'Write it again with memory.write_memory.';
  end if;
  if v_entry.deleted_at is null and v_entry.policy <> 'billy' then
    update memory.entries as e
    set
      expired_at = null,
      expires_at = case when e.expires_at > as_of then e.expires_at end,
      retention = 'active',
      last_confirmed_at = greatest(e.last_confirmed_at, as_of),
      updated_at = memory.next_state_at(e.updated_at, as_of)
    where e.tenant_id = settings.tenant_id and e.id = v_entry.id
      and (
        e.expired_at is not null or e.expires_at <= as_of
        or e.retention in ('aged', 'archived')
      );
  else
    update memory.entries as e
    set
      deleted_at = null,
      updated_at = memory.next_state_at(e.updated_at, as_of)
    where e.tenant_id = settings.tenant_id and e.id = v_entry.id and e.deleted_at is not null;
  end if;
end;
$$;

comment on function memory.restore_entry(memory.settings, uuid, timestamptz) is
'Undoes the deletion of an entry within 30 days. An entry that is not deleted, but has expired or '
'is archived, becomes active, confirmed as of as_of. Errors: PM003 deleted for longer, PM008 '
'guarded and expired.';

create or replace function memory.delete_entry(
  entry_id text,
  permanent boolean default false,
  as_of timestamptz default now()
)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_id uuid := memory.find_entry(v_tenant_id, entry_id);
begin
  perform memory.check_write_time('as_of', as_of);
  if v_id is null then
    return false;
  end if;
  perform memory.check_after_creation(v_tenant_id, 'entry', v_id, as_of);
  if permanent then
    perform memory.lock_embedding_versions(v_tenant_id);
    delete from memory.entries as e where e.tenant_id = v_tenant_id and e.id = v_id;
  else
    perform memory.hide_memory(v_tenant_id, 'entry', v_id, as_of);
  end if;
  return found;
end;
$$;

comment on function memory.delete_entry(text, boolean, timestamptz) is
'Deletes an entry: no search finds it, memory.restore_memory brings it back within 30 days, and '
'then upkeep deletes it for good. permanent: at once, with its history; its links resolve as '
'expired. Returns false for an unknown id. Errors: PM002.';
grant execute on function memory.delete_entry to memory_writer;

create or replace function memory.archive_entry(
  entry_id text,
  as_of timestamptz default now()
)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_id uuid := memory.find_entry(v_tenant_id, archive_entry.entry_id);
  v_entry memory.entries;
begin
  perform memory.check_write_time('as_of', as_of);
  select e.* into v_entry
  from memory.entries as e
  where e.tenant_id = v_tenant_id and e.id = v_id
  for no key update;
  if not found then
    return false;
  end if;
  perform memory.check_unguarded(v_entry);
  perform memory.check_after_creation(v_tenant_id, 'entry', v_id, as_of);
  perform memory.check_present(v_entry);
  update memory.entries as e
  set retention = 'archived', updated_at = memory.next_state_at(e.updated_at, as_of)
  where e.tenant_id = v_tenant_id and e.id = v_id and e.retention <> 'archived';
  return true;
end;
$$;

comment on function memory.archive_entry(text, timestamptz) is
'Archives an entry: only a query that asks for archived entries finds it, until it is edited, '
'confirmed or restored. Returns false for an unknown id. Errors: PM002, PM003 deleted or expired, '
'PM008 guarded.';
grant execute on function memory.archive_entry to memory_writer;

create or replace function memory.rate_entry(
  entry_id text,
  outcome text,
  by_entry text default null,
  as_of timestamptz default now()
)
  returns float8
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_id uuid := memory.require_entry(v_tenant_id, rate_entry.entry_id);
  v_by uuid;
  v_entry memory.entries;
  v_relation text;
  v_confidence float8;
begin
  perform memory.check_word(
    'outcome', outcome, '{used,confirmed,contradicted,conflicting,outdated}'
  );
  perform memory.check_write_time('as_of', as_of);
  if (outcome = 'conflicting') <> (by_entry is not null) then
    raise exception 'outcome % % by_entry', outcome,
      case when by_entry is null then 'without' else 'with' end
      using errcode = 'PM002',
        hint = 'by_entry names the newer entry that conflicts, and only with outcome conflicting.';
  end if;
  v_by := case when by_entry is not null then memory.require_entry(v_tenant_id, by_entry) end;

  perform from memory.entries as e
  where e.tenant_id = v_tenant_id and e.id in (v_id, v_by)
  order by e.id
  for no key update;
  select e.* into v_entry
  from memory.entries as e
  where e.tenant_id = v_tenant_id and e.id = v_id;
  perform memory.check_unguarded(v_entry);
  perform memory.check_after_creation(v_tenant_id, 'entry', v_id, as_of);
  perform memory.check_present(v_entry);
  if v_by is not null then
    if v_by = v_id then
      raise exception 'an entry cannot conflict with itself'
        using errcode = 'PM002', hint = 'Pass the id of another entry as by_entry.';
    end if;
    -- An entry that names another as related, or supports it, may also contradict it.
    insert into memory.memory_links as l
      (tenant_id, source_type, source_id, target_type, target_id, relation)
    values (v_tenant_id, 'entry', v_by, 'entry', v_id, 'contradicts')
    on conflict (tenant_id, source_type, source_id, target_type, target_id)
    do update set relation = excluded.relation where l.relation in ('related_to', 'supports');
    if not found then
      select l.relation into v_relation
      from memory.memory_links as l
      where l.tenant_id = v_tenant_id and l.source_type = 'entry' and l.source_id = v_by
        and l.target_type = 'entry' and l.target_id = v_id;
      if v_relation <> 'contradicts' then
        raise exception 'entry % is linked as %, and cannot conflict with %', by_entry, v_relation,
          v_entry.entry_id
          using errcode = 'PM004', hint = 'Rate it as contradicted or outdated.';
      end if;
      -- Said before: a conflict counts once.
      return v_entry.confidence;
    end if;
  end if;
  v_confidence := round(
    least(1.0, greatest(0.0, v_entry.confidence + memory.confidence_step(outcome)))::numeric, 6
  )::float8;

  update memory.entries as e
  set
    confidence = v_confidence,
    last_confirmed_at = case
      when outcome = 'confirmed' then greatest(e.last_confirmed_at, as_of)
      else e.last_confirmed_at
    end,
    retention = case when outcome = 'confirmed' then 'active' else e.retention end,
    flagged_at = case when outcome <> 'confirmed' then e.flagged_at end,
    reference_count = e.reference_count + (outcome = 'used')::integer,
    last_referenced_at = case
      when outcome = 'used' then greatest(e.last_referenced_at, as_of)
      else e.last_referenced_at
    end,
    updated_at = case
      when outcome = 'confirmed' or v_confidence <> e.confidence
      then memory.next_state_at(e.updated_at, as_of)
      else e.updated_at
    end
  where e.tenant_id = v_tenant_id and e.id = v_id;
  return v_confidence;
end;
$$;

comment on function memory.rate_entry(text, text, text, timestamptz) is
'What became of an entry, and its new confidence (memory.confidence_step): used, to good effect; '
'confirmed or contradicted by the user; conflicting with a newer entry, by_entry, which is linked '
'as contradicting it and counts once; outdated. Confirming also makes an aged or archived one '
'active. Errors: PM001 unknown id, PM002, PM003 deleted or expired, PM004 by_entry derives from it '
'or supersedes it, PM008 guarded.';
grant execute on function memory.rate_entry to memory_writer;

create or replace function memory.get_entry(
  entry_id text,
  as_of timestamptz default now()
)
  returns jsonb
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_id uuid := memory.find_entry(v_tenant_id, entry_id);
  v_entry jsonb;
begin
  if v_id is null then
    return null;
  end if;
  v_entry := memory.get_memory('entry', v_id, as_of);
  return v_entry || jsonb_build_object(
    'importance_word', memory.importance_word((v_entry ->> 'importance')::float8),
    'tier', memory.confidence_tier((v_entry ->> 'confidence')::float8),
    'band', memory.band_of_entry(
      v_entry ->> 'retention', (v_entry ->> 'edited_at')::timestamptz,
      (v_entry ->> 'last_confirmed_at')::timestamptz, as_of
    ),
    'related', (
      select coalesce(jsonb_agg(e.entry_id order by e.entry_id), '[]')
      from memory.memory_links as l
      join memory.entries as e on e.tenant_id = l.tenant_id and e.id = l.target_id
      where l.tenant_id = v_tenant_id and l.source_type = 'entry' and l.source_id = v_id
        and l.target_type = 'entry' and l.relation = 'related_to' and e.deleted_at is null
    )
  );
end;
$$;

comment on function memory.get_entry(text, timestamptz) is
'An entry in any state as a JSON object: its columns except vectors, and importance_word, tier '
'(memory.confidence_tier), band (of its age) and related, the ids of entries that it names and '
'that are not deleted. Counts as a reference to it. NULL for an unknown id. Errors: PM002 '
'malformed id, PM008 guarded.';
grant execute on function memory.get_entry to memory_writer;

create or replace function memory.age_entries(
  tenant_id text,
  as_of timestamptz
)
  returns table (
    moved bigint,
    archived bigint
  )
  language plpgsql
  volatile
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  with due as (
    select
      e.id,
      memory.band_of_entry(e.retention, e.edited_at, e.last_confirmed_at, as_of) as band
    from memory.entries as e
    where e.tenant_id = age_entries.tenant_id
      and e.lifecycle_state in ('active', 'aged')
      and e.edited_at <= as_of - interval '90 days'
      and e.retention
        <> memory.band_of_entry(e.retention, e.edited_at, e.last_confirmed_at, as_of)
    order by e.id
    limit 10000
    for no key update skip locked
  ),
  changed as (
    update memory.entries as e
    set retention = d.band, updated_at = memory.next_state_at(e.updated_at, as_of)
    from due as d
    where e.tenant_id = age_entries.tenant_id and e.id = d.id
    returning e.retention
  )
  select count(*), count(*) filter (where c.retention = 'archived')
  into moved, archived
  from changed as c;
  return next;
end;
$$;

comment on function memory.age_entries(text, timestamptz) is
'Moves the entries of a tenant into the band of their age, at most 10,000 at a time, and returns '
'how many, and how many of them into the archive.';

create or replace function memory.run_entry_upkeep(
  period text default 'daily',
  as_of timestamptz default now()
)
  returns table (
    task text,
    changed bigint,
    measured bigint
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  perform memory.check_word('period', period, '{daily,weekly,monthly}');
  perform memory.check_write_time('as_of', as_of);

  if period = 'daily' then
    with due as (
      select e.id
      from memory.entries as e
      where e.tenant_id = v_tenant_id
        and e.expires_at <= as_of and e.expired_at is null and e.deleted_at is null
        and e.policy <> 'billy' -- their expiry is traced
      order by e.id
      limit 10000
      for no key update skip locked
    )
    update memory.entries as e
    set expired_at = as_of, updated_at = memory.next_state_at(e.updated_at, as_of)
    from due as d
    where e.tenant_id = v_tenant_id and e.id = d.id;
    task := 'expired';
    get diagnostics changed = row_count;
    return next;

    -- 30 days without access lower the confidence once; 60 days, twice.
    with due as (
      select e.id, i.periods, i.idle_since
      from memory.entries as e
      cross join lateral (
        select s.idle_since, floor(memory.days_between(s.idle_since, as_of) / 30) as periods
        from (
          values (
            greatest(e.created_at, e.last_referenced_at, e.last_confirmed_at, e.decayed_at)
          )
        ) as s (idle_since)
      ) as i
      where e.tenant_id = v_tenant_id
        and e.lifecycle_state in ('active', 'aged', 'archived')
        and e.confidence > 0 and i.periods >= 1
      order by e.id
      limit 10000
      for no key update of e skip locked
    )
    update memory.entries as e
    set
      confidence = round(
        greatest(0.0, e.confidence + d.periods * memory.confidence_step('unused'))::numeric, 6
      ),
      -- Days of 24 hours, like those of days_between.
      decayed_at = d.idle_since + d.periods * interval '720 hours',
      updated_at = memory.next_state_at(e.updated_at, as_of)
    from due as d
    where e.tenant_id = v_tenant_id and e.id = d.id;
    task := 'lowered confidence';
    get diagnostics changed = row_count;
    return next;

    perform memory.lock_embedding_versions(v_tenant_id);
    with due as (
      select e.id
      from memory.entries as e
      where e.tenant_id = v_tenant_id
        and (e.expired_at is not null or e.deleted_at is not null)
        and coalesce(e.deleted_at, e.expired_at) <= as_of - interval '30 days'
      order by e.id
      limit 10000
      for update skip locked
    )
    delete from memory.entries as e
    using due as d
    where e.tenant_id = v_tenant_id and e.id = d.id;
    task := 'purged';
    get diagnostics changed = row_count;
    return next;
  elsif period = 'weekly' then
    -- What the indexes hold is compared with the rows; a difference is repaired.
    with due as (
      select e.id
      from memory.entries as e
      where e.tenant_id = v_tenant_id and e.embedding is null
        and e.lifecycle_state in ('active', 'aged', 'archived', 'guarded')
        and not exists (
          select
          from memory.embedding_queue as q
          where q.tenant_id = v_tenant_id and q.target = 'active' and q.memory_type = 'entry'
            and q.memory_id = e.id
        )
    )
    insert into memory.embedding_queue (tenant_id, target, memory_type, memory_id)
    select v_tenant_id, 'active', 'entry', d.id
    from due as d
    order by d.id
    on conflict (tenant_id, target, memory_type, memory_id) do nothing;
    task := 'queued for a vector';
    get diagnostics changed = row_count;
    return next;

    -- A thousand entries a week, others each time, are indexed again and compared.
    with sample as materialized (
      select e.id
      from memory.entries as e
      where e.tenant_id = v_tenant_id
      order by md5(e.id::text || date_trunc('week', as_of at time zone 'UTC')::text), e.id
      limit 1000
    ),
    wrong as materialized (
      select e.id, v.search_vector
      from sample as s
      join memory.entries as e on e.tenant_id = v_tenant_id and e.id = s.id
      cross join lateral (
        select memory.to_search_vector(
          e.text_search_config, memory.render_entry(e.content, e.tags, e.keywords)
        ) as search_vector
      ) as v
      where v.search_vector <> e.search_vector
      order by e.id
      for no key update of e skip locked
    ),
    repaired as (
      update memory.entries as e
      set search_vector = w.search_vector
      from wrong as w
      where e.tenant_id = v_tenant_id and e.id = w.id
      returning e.id
    )
    select 'search vectors repaired', (select count(*) from repaired), (select count(*) from sample)
    into task, changed, measured;
    return next;

    task := 'links that have lost an end';
    changed := 0;
    measured := (
      select count(*)
      from memory.memory_links as l
      where l.tenant_id = v_tenant_id
        and exists (
          select
          from (
            values (l.source_type, l.source_id), (l.target_type, l.target_id)
          ) as e (memory_type, memory_id)
          cross join lateral memory.resolved_state(
            v_tenant_id, e.memory_type, e.memory_id, as_of
          ) as r
          where e.memory_type = 'entry' and r.state is null
        )
    );
    return next;
  else
    task := 'moved to another band';
    changed := (select a.moved from memory.age_entries(v_tenant_id, as_of) as a);
    return next;

    delete from memory.entry_numbers as n
    where n.tenant_id = v_tenant_id and n.day < (as_of at time zone 'UTC')::date - 60
      and not exists (
        select
        from memory.entries as e
        where e.tenant_id = v_tenant_id
          and e.entry_id > format('mem-%s-', to_char(n.day, 'YYYY-MM-DD'))
          and e.entry_id < format('mem-%s.', to_char(n.day, 'YYYY-MM-DD'))
      );
    task := 'numbers of empty days removed';
    get diagnostics changed = row_count;
    return next;

    changed := 0;
    for task, measured in
      select 'size of ' || c.relname, pg_relation_size(c.oid)
      from pg_index as i
      join pg_class as c on c.oid = i.indexrelid
      where i.indrelid = 'memory.entries'::regclass
      order by c.relname
    loop
      return next;
    end loop;
  end if;
end;
$$;

comment on function memory.run_entry_upkeep(text, timestamptz) is
'Upkeep of entries, safe to run twice; a task changes at most 10,000 rows, the next run goes on. '
'daily: what has expired leaves the searches, guarded entries aside; 30 days without access '
'lower the confidence by 0.05; what was deleted or expired 30 days ago is deleted for good. '
'weekly: entries that lack a vector are queued; of 1000 entries the search vector is made again '
'and repaired where it differs; links are counted that lead from or to an entry of which nothing '
'is left. (memory.rebuild_vector_indexes rebuilds an approximate index, by a schedule of its own; '
'keyword indexes take in each text at once.) monthly: entries move to the band of '
'their age (memory.retention_band), and so out of the search indexes; the indexes of entries, '
'those of all tenants together, are measured. Returns for each task how many rows it changed, '
'and, if it measures, how many it looked at or found, or a size in bytes. Errors: PM002.';
grant execute on function memory.run_entry_upkeep to memory_worker;

commit;
