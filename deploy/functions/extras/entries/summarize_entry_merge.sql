-- Deploy pymem:functions/extras/entries/summarize_entry_merge to pg

begin;

set local role memory_owner;

create or replace function memory.list_unsummarized_merges(
  max_results integer default 20,
  as_of timestamptz default now()
)
  returns table (
    entry_id text,
    title text,
    content text,
    version integer
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
  perform
    memory.check_number('max_results', max_results, 1, 1000),
    memory.check_time('as_of', as_of);
  return query
  select e.entry_id, e.title, e.content, e.version
  from memory.entry_merges as m
  join memory.entries as e on e.tenant_id = m.tenant_id and e.id = m.merged_id
  where m.tenant_id = v_tenant_id
    and m.undone_at is null
    and m.summarized_at is null
    and m.merged_at <= as_of
    and e.lifecycle_state = 'active'
    and e.version = 1
    and (e.expires_at is null or e.expires_at > as_of)
    -- Otherwise there is nothing to sum up: the text is that of one of them.
    and not exists (
      select
      from memory.entry_merge_members as o
      join memory.entries as s on s.tenant_id = o.tenant_id and s.id = o.member_id
      where o.tenant_id = m.tenant_id and o.merged_id = m.merged_id and s.content = e.content
    )
  order by m.merged_at, e.entry_id
  limit max_results;
end;
$$;

comment on function memory.list_unsummarized_merges(integer, timestamptz) is
'Entries that consolidation made of others and that nobody edited or summarized since, the oldest '
'merge first: those with more than the text of one. At most max_results (1..1000). Errors: PM002.';
grant execute on function memory.list_unsummarized_merges to memory_writer, memory_worker;

create or replace function memory.lost_details(
  content text,
  summary text
)
  returns text
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with details as (
    select t.place, o.mark
    from memory.telling_marks(array[lost_details.content, summary]) as t
    cross join lateral unnest(t.marks) as o (mark)
    union
    -- Most words in capitals that are no names begin a sentence and are very common.
    select 1, 'name ' || n.name || '…'
    from unnest(memory.telling_names(lost_details.content)) as n (name)
    where to_tsvector('english', n.name) <> '' and memory.lacks_names(array[n.name], summary)
  )
  select string_agg(d.mark, ', ' order by d.mark)
  from details as d
  where d.place = 1 and not exists (select from details as o where o.place = 2 and o.mark = d.mark);
$$;

comment on function memory.lost_details(text, text) is
'The numbers, dates, denials and names (memory.telling_marks, memory.telling_names) of a text that '
'a summary lacks; NULL if it has all of them.';

create or replace function memory.summarize_entry_merge(
  entry_id text,
  summary text,
  model text default null,
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
  v_id uuid := memory.require_entry(v_tenant_id, summarize_entry_merge.entry_id);
  v_merge memory.entry_merges;
  v_entry memory.entries;
  v_lost text;
  v_added text;
begin
  perform
    memory.check_text('summary', summary, 1048576),
    memory.check_model('model', coalesce(model, 'none'), 512),
    memory.check_write_time('as_of', as_of);
  select e.* into v_entry
  from memory.entries as e
  where e.tenant_id = v_tenant_id and e.id = v_id
  for no key update;
  select m.* into v_merge
  from memory.entry_merges as m
  where m.tenant_id = v_tenant_id and m.merged_id = v_id
  for no key update;
  if v_merge.merged_id is null or v_merge.undone_at is not null then
    raise exception 'entry % is not a merge of others', v_entry.entry_id
      using errcode = 'PM003', hint = 'Pass an id of memory.list_unsummarized_merges.';
  elsif v_entry.version > 1 then
    raise exception 'entry % was edited since it was merged', v_entry.entry_id
      using errcode = 'PM004', hint = 'Leave it as it is.';
  elsif octet_length(summary) > octet_length(v_entry.content) then
    raise exception 'the summary is longer than the text: % octets, not %',
      octet_length(summary), octet_length(v_entry.content)
      using errcode = 'PM002', hint = 'Shorten it.';
  end if;

  v_lost := memory.lost_details(v_entry.content, summary);
  v_added := memory.lost_details(summary, v_entry.content);
  if v_lost is not null then
    raise exception 'the summary leaves something out: %', v_lost
      using errcode = 'PM002', hint = 'Keep all numbers, dates, denials and names.';
  elsif v_added is not null then
    raise exception 'the summary adds something: %', v_added
      using errcode = 'PM002', hint = 'Say only what the text says.';
  end if;

  update memory.entry_merges as m
  set summarized_at = as_of, model = summarize_entry_merge.model
  where m.tenant_id = v_tenant_id and m.merged_id = v_id;
  return (
    select u.version
    from memory.update_entry(
      v_entry.entry_id, content => summary, expected_version => 1, as_of => as_of
    ) as u
  );
end;
$$;

comment on function memory.summarize_entry_merge(text, text, text, timestamptz) is
'Replaces the text of an entry that consolidation made of others by a summary, for example of an '
'LLM (model), and returns its version. The summary has the same numbers, dates, denials and names '
'as the text, and is not longer. The text before is in the history, and memory.undo_entry_merge '
'still brings the others back. Errors: PM001 unknown id, PM002 the summary leaves something out, '
'adds something or is too long, PM003 not a merge, PM004 edited since.';
grant execute on function memory.summarize_entry_merge to memory_writer, memory_worker;

commit;
