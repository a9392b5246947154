-- Deploy pymem:functions/extras/entries/export_entries to pg

begin;

set local role memory_owner;

create or replace function memory.export_entries(
  include_archived boolean default true,
  include_deleted boolean default false,
  after_id text default null,
  batch_size integer default 1000,
  as_of timestamptz default now()
)
  returns table (
    entry_id text,
    id uuid,
    content text,
    type text,
    tags jsonb,
    keywords jsonb,
    category text,
    confidence float8,
    importance float8,
    source text,
    scope text,
    user_id text,
    persona_id text,
    session_id text,
    created_at timestamptz,
    updated_at timestamptz,
    expires_at timestamptz,
    access_count integer,
    last_accessed timestamptz,
    version integer,
    archived boolean,
    deleted_at timestamptz,
    related text[],
    metadata jsonb,
    front_matter text,
    path text,
    is_as_imported boolean
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
    memory.check_number('batch_size', batch_size, 1, 10000),
    memory.check_time('as_of', as_of);
  return query
  with batch as (
    select
      e.*,
      -- At most 32 MiB of content at once, but always one entry.
      sum(octet_length(e.content)) over (order by e.entry_id) - octet_length(e.content) as before
    from (
      select e.*
      from memory.entries as e
      where e.tenant_id = v_tenant_id and e.policy <> 'billy'
        and e.entry_id > coalesce(export_entries.after_id, '')
        and (include_deleted or e.deleted_at is null)
        and (
          include_archived
          or e.retention <> 'archived' and e.expired_at is null
          and (e.expires_at is null or e.expires_at > as_of)
        )
      order by e.entry_id
      limit export_entries.batch_size
    ) as e
  )
  select
    b.entry_id, b.id, b.content, b.entry_type, b.tags, b.keywords, b.category, b.confidence,
    b.importance, b.source, b.scope, b.user_id, b.persona_id, b.session_id, b.created_at,
    b.edited_at, b.expires_at, b.reference_count, b.last_referenced_at, b.version,
    b.retention = 'archived', b.deleted_at, r.related,
    b.metadata - '{file,missing_related}'::text[],
    b.metadata -> 'file' ->> 'front_matter',
    b.metadata -> 'file' ->> 'path',
    coalesce(
      b.metadata -> 'file' ->> 'mark' = memory.entry_file_mark(
        b.version, b.confidence, b.retention = 'archived', b.expires_at, b.reference_count,
        b.last_referenced_at, r.related
      ),
      false
    )
  from batch as b
  cross join lateral (
    select array(
      select t.entry_id collate "C"
      from memory.memory_links as l
      join memory.entries as t on t.tenant_id = l.tenant_id and t.id = l.target_id
      where l.tenant_id = v_tenant_id and l.source_type = 'entry' and l.source_id = b.id
        and l.target_type = 'entry' and l.relation = 'related_to' and t.policy <> 'billy'
      union
      select m.entry_id
      from jsonb_array_elements_text(
        case jsonb_typeof(b.metadata -> 'missing_related')
          when 'array' then b.metadata -> 'missing_related'
        end
      ) as m (entry_id)
      order by 1
    ) as related
  ) as r
  where b.before < 33554432
  order by b.entry_id;
end;
$$;

comment on function memory.export_entries(boolean, boolean, text, integer, timestamptz) is
'The entries of the tenant, for files or another memory: up to batch_size (at most 10000, and '
'about 32 MiB) by entry_id, those after after_id; none: there are no more. Without '
'include_archived, those that are archived or have expired are left out; with include_deleted, '
'deleted ones are there, with deleted_at. Guarded entries never leave by this way. related: the '
'ids of the entries that it names, existing or not. front_matter and path: those of the file that '
'it was imported from; is_as_imported: nothing that the front matter says has changed since. '
'Counts no reference. Errors: PM002.';
grant execute on function memory.export_entries to memory_writer, memory_reader;

commit;
