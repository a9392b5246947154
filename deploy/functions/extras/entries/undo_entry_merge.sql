-- Deploy pymem:functions/extras/entries/undo_entry_merge to pg

begin;

set local role memory_owner;

create or replace function memory.undo_entry_merge(
  entry_id text,
  as_of timestamptz default now()
)
  returns integer
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_id uuid := memory.require_entry(v_tenant_id, undo_entry_merge.entry_id);
  v_merge memory.entry_merges;
  v_entry memory.entries;
  v_later text;
  v_restored uuid[];
begin
  perform
    memory.check_write_time('as_of', as_of),
    memory.check_after_creation(v_tenant_id, 'entry', v_id, as_of);
  perform
  from memory.entries as e
  where e.tenant_id = v_tenant_id
    and (
      e.id = v_id
      or e.id in (
        select m.member_id
        from memory.entry_merge_members as m
        where m.tenant_id = v_tenant_id and m.merged_id = v_id
      )
    )
  order by e.id
  for no key update;
  select m.* into v_merge
  from memory.entry_merges as m
  where m.tenant_id = v_tenant_id and m.merged_id = v_id
  for no key update;
  if not found then
    raise exception 'entry % was not made by merging others', undo_entry_merge.entry_id
      using errcode = 'PM003',
        hint = 'Pass the id of an entry that memory.consolidate_entries created.';
  end if;
  if v_merge.undone_at is not null then
    return 0;
  end if;
  select e.* into v_entry
  from memory.entries as e
  where e.tenant_id = v_tenant_id and e.id = v_id;
  select e.entry_id into v_later
  from memory.entry_merge_members as m
  join memory.entry_merges as o
    on o.tenant_id = m.tenant_id and o.merged_id = m.merged_id and o.undone_at is null
  join memory.entries as e on e.tenant_id = o.tenant_id and e.id = o.merged_id
  where m.tenant_id = v_tenant_id and m.member_id = v_id
  order by e.id
  limit 1;
  if found then
    raise exception 'entry % was merged into % in turn', v_entry.entry_id, v_later
      using errcode = 'PM003', hint = format('Undo the merge of %s first.', v_later);
  end if;
  if v_entry.version > 1 + (v_merge.summarized_at is not null)::integer then
    raise exception 'entry % was edited since it was merged', v_entry.entry_id
      using errcode = 'PM003',
        hint = 'Restore what you need of the archived entries with memory.restore_memory.';
  end if;

  with restored as (
    update memory.entries as e
    set retention = m.retention, updated_at = memory.next_state_at(e.updated_at, as_of)
    from memory.entry_merge_members as m
    where m.tenant_id = v_tenant_id and m.merged_id = v_id
      and e.tenant_id = v_tenant_id and e.id = m.member_id
      and e.lifecycle_state = 'archived' and e.version = m.version
    returning e.id
  )
  select coalesce(array_agg(r.id), '{}') into v_restored from restored as r;
  delete from memory.memory_links as l
  where l.tenant_id = v_tenant_id
    and l.source_type = 'entry' and l.source_id = v_id and l.relation = 'supersedes';
  perform memory.hide_memory(v_tenant_id, 'entry', v_id, as_of);
  update memory.entry_merges as m
  set undone_at = as_of
  where m.tenant_id = v_tenant_id and m.merged_id = v_id;

  -- They count as compared, so that the next run does not merge them again.
  perform memory.refresh_entry_comparisons(v_tenant_id, as_of);
  update memory.entry_comparisons as c
  set compared_at = as_of
  where c.tenant_id = v_tenant_id and c.entry_id = any (v_restored);
  perform memory.write_event(
    v_tenant_id, 'entry_merge_undone', 'entry', v_id,
    jsonb_build_object(
      'consolidation_id', v_merge.consolidation_id,
      'restored_ids', (
        select coalesce(jsonb_agg(r.id order by r.id), '[]') from unnest(v_restored) as r (id)
      )
    )
  );
  return cardinality(v_restored);
end;
$$;

comment on function memory.undo_entry_merge(text, timestamptz) is
'Undoes what made an entry of others: those that are still archived, and were not edited since, '
'become active again, and the merged entry is deleted. They are not merged again until one is '
'edited or another similar one appears. Returns how many it restored; 0 the second time. Errors: '
'PM001 unknown id, PM002, PM003 the entry was not made by merging, was edited since or merged in '
'turn.';
grant execute on function memory.undo_entry_merge to memory_writer, memory_worker;

commit;
