-- Deploy pymem:functions/extras/entries/import_entries to pg

begin;

set local role memory_owner;

create or replace function memory.take_entry_numbers(
  tenant_id text,
  days date[],
  numbers integer[]
)
  returns integer[]
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_taken integer[];
begin
  -- The locks on the rows of the days make concurrent creators take turns.
  with wanted as (
    select
      w.day, coalesce(max(w.number), 0) as highest, count(*) filter (where w.number is null) as new
    from unnest(days, numbers) as w (day, number)
    group by w.day
  ),
  taken as (
    insert into memory.entry_numbers as n (tenant_id, day, last_number)
    select take_entry_numbers.tenant_id, w.day, greatest(w.highest + w.new, 1)
    from wanted as w
    order by w.day
    on conflict (tenant_id, day) do update
    set last_number = (
      select greatest(n.last_number, w.highest) + w.new from wanted as w where w.day = n.day
    )
    returning n.day, n.last_number
  )
  select array_agg(
    coalesce(o.number, (t.last_number - w.new + o.place)::integer) order by o.ordinality
  )
  into v_taken
  from (
    select
      u.*,
      row_number() over (partition by u.day, u.number is null order by u.ordinality) as place
    from unnest(days, numbers) with ordinality as u (day, number, ordinality)
  ) as o
  join taken as t on t.day = o.day
  join wanted as w on w.day = o.day;
  return v_taken;
end;
$$;

comment on function memory.take_entry_numbers(text, date[], integer[]) is
'The numbers on these days of entries that are created: a given one is kept, and those that '
'memory.next_entry_id gives will be higher; for NULL the next of the day.';

create or replace function memory.metadata_of_import(
  metadata jsonb,
  entry memory.entry_to_import,
  mark text default null
)
  returns jsonb
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select (metadata_of_import.metadata - '{file,missing_related}'::text[]) || coalesce(
    jsonb_object_agg(k.key, k.value) filter (where k.value is not null), '{}'
  )
  from (
    values
    (
      'file', case
        when coalesce((entry).front_matter, (entry).path) is null then metadata_of_import.metadata -> 'file'
        else coalesce(
          case
            when (entry).front_matter <> metadata_of_import.metadata -> 'file' ->> 'front_matter'
            then (metadata_of_import.metadata -> 'file') - 'mark'
            else metadata_of_import.metadata -> 'file'
          end,
          '{}'
        ) || jsonb_strip_nulls(jsonb_build_object(
          'front_matter', (entry).front_matter, 'path', (entry).path, 'mark', mark
        ))
      end
    ),
    (
      'missing_related', case
        when (entry).related is null then metadata_of_import.metadata -> 'missing_related'
        else nullif(to_jsonb((entry).missing), '[]')
      end
    )
  ) as k (key, value);
$$;

comment on function memory.metadata_of_import(
  jsonb, memory.entry_to_import, text
) is
'The metadata of an entry after an import: with the front matter and the path of its file, the '
'mark of a new entry, and the related ids that name no entry. Another front matter has no mark.';

create or replace function memory.differs_from_import(
  entry memory.entries,
  import memory.entry_to_import
)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(
    (import).content <> (entry).content
    or (import).entry_type <> (entry).entry_type
    or (import).tags <> (entry).tags
    or (import).keywords <> (entry).keywords
    or (import).importance <> (entry).importance
    or (import).confidence <> (entry).confidence
    or (import).source <> (entry).source
    or (import).scope <> (entry).scope
    or (import).archived <> ((entry).retention = 'archived')
    or (import).metadata <> (entry).metadata - '{file,missing_related}'::text[]
    or exists (
      select
      from (
        values
        ('category', (import).category, (entry).category),
        ('user_id', (import).user_id, (entry).user_id),
        ('persona_id', (import).persona_id, (entry).persona_id),
        ('session_id', (import).session_id, (entry).session_id)
      ) as v (key, imported, stored)
      where v.key = any ((import).given) and v.imported is distinct from v.stored
    )
    or 'expires_at' = any ((import).given)
    and (import).expires_at is distinct from (entry).expires_at
    or exists (
      -- A link that the import does not name, or an entry that it names without any link.
      select
      from jsonb_each_text((import).links) as l (entry_id, relation)
      where l.relation = 'related_to' and l.entry_id <> all ((import).related)
    )
    or exists (
      select
      from unnest((import).related) as r (entry_id)
      where r.entry_id <> (entry).entry_id and r.entry_id <> all ((import).missing)
        and not (import).links ? r.entry_id
        -- It was named before it existed.
        and coalesce(not (entry).metadata -> 'missing_related' ? r.entry_id, true)
    ),
    false
  );
$$;

comment on function memory.differs_from_import(memory.entries, memory.entry_to_import) is
'Whether an import says otherwise than a stored entry is; its counters, times and front matter '
'aside.';

create or replace function memory.judge_imports(
  tenant_id text,
  imports memory.entry_to_import[]
)
  returns memory.entry_to_import[]
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  -- A plan made while the tables were empty would read all of them for each element.
  set plan_cache_mode = force_custom_plan
as $$
  with guarded (scopes) as (
    select array_agg(s.scope)
    from (
      select distinct coalesce(u.scope, 'global') as scope
      from unnest(imports) as u
      offset 0
    ) as s
    where memory.policy_of(tenant_id, s.scope) = 'billy'
  ),
  stored as (
    select
      n.*, e.id as stored_id, e.scope as stored_scope, e.policy,
      coalesce(e.entry_id, n.entry_id) as own_id
    from (
      select
        u as import, u.*,
        case
          when coalesce(u.entry_id, u.idempotency_key) is not null
          then min(u."position") over (
            partition by u.problem is null, u.entry_id, case
              when u.entry_id is null then u.idempotency_key
            end
          )
        end as earlier
      from unnest(imports) as u
    ) as n
    left join lateral (
      select x.id, x.entry_id, x.scope, x.policy
      from memory.entries as x
      where x.tenant_id = judge_imports.tenant_id and x.entry_id = n.entry_id
        and n.problem is null
      union all
      select x.id, x.entry_id, x.scope, x.policy
      from memory.entries as x
      where x.tenant_id = judge_imports.tenant_id and x.idempotency_key = n.idempotency_key
        and n.entry_id is null and n.problem is null
    ) as e on true
  ),
  refused as (
    select
      s.*,
      s.known_id is not null and s.stored_id is null and exists (
        select
        from memory.memory_events as v
        where v.tenant_id = judge_imports.tenant_id and v.memory_id = s.known_id
          and v.event_type = 'entry_purged'
      ) as is_purged,
      case
        when s.problem is not null then s.problem
        when s.earlier < s."position" then format('it is the same entry as element %s', s.earlier)
        when s.policy = 'billy' then 'policy: the entry is guarded, it is never changed'
        when s.stored_id is null and s.deleted is not true and s.content is null
        then 'it has no content'
        when (s.stored_id is null and s.deleted is not true or s.scope <> s.stored_scope)
          and coalesce(s.scope, 'global') = any (g.scopes)
        then format(
          'policy: entries of scope %s are written on explicit request only',
          quote_literal(coalesce(s.scope, 'global'))
        )
      end as refusal
    from stored as s
    cross join guarded as g
  ),
  judged as (
    select
      r.import, r."position", r.stored_id, r.own_id,
      case
        when r.refusal is not null then 'rejected'
        when r.stored_id is not null then null
        when r.deleted then 'unchanged'
        when r.is_purged then 'deleted'
        else 'created'
      end as outcome,
      case
        when r.refusal is not null then r.refusal
        when r.stored_id is not null then null
        when r.deleted then 'there is no such entry'
        when r.is_purged then 'it was deleted for good'
      end as reason
    from refused as r
  )
  select array_agg(
    jsonb_populate_record(j.import, jsonb_build_object(
      'row_id', coalesce(j.stored_id, gen_random_uuid()),
      'entry_id', j.own_id,
      'outcome', j.outcome,
      'reason', j.reason
    ))
    order by j."position"
  )
  from judged as j;
$$;

comment on function memory.judge_imports(text, memory.entry_to_import[]) is
'What is imported, with its row and id where it is stored; what is refused, and what is new, has '
'its outcome. A new one has an id only if it was given.';

create or replace function memory.relate_imports(
  tenant_id text,
  imports memory.entry_to_import[]
)
  returns memory.entry_to_import[]
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_custom_plan
as $$
  -- The entries that are named, guarded ones aside.
  with known (entry_ids) as (
    select jsonb_object_agg(k.entry_id, null)
    from (
      select n.entry_id
      from unnest(imports) as n
      where n.outcome = 'created' and n.entry_id is not null
      union
      select e.entry_id
      from (
        select distinct r.entry_id
        from unnest(imports) as n
        cross join lateral unnest(n.related) as r (entry_id)
        where n.outcome is distinct from 'rejected'
      ) as r
      cross join lateral (
        select x.entry_id
        from memory.entries as x
        where x.tenant_id = relate_imports.tenant_id and x.entry_id = r.entry_id
          and x.policy <> 'billy'
        offset 0
      ) as e
    ) as k
  )
  select array_agg(
    jsonb_populate_record(n, jsonb_build_object(
      'missing', array(
        select r.entry_id
        from unnest(n.related) as r (entry_id)
        where n.outcome is distinct from 'rejected'
          and not coalesce(k.entry_ids ? r.entry_id, false)
        order by r.entry_id
      ),
      'links', coalesce(l.links, '{}')
    ))
    order by n."position"
  )
  from unnest(imports) as n
  cross join known as k
  cross join lateral (
    select jsonb_object_agg(t.entry_id, m.relation) as links
    from (
      select o.target_type, o.target_id, o.relation
      from memory.memory_links as o
      where o.tenant_id = relate_imports.tenant_id and o.source_type = 'entry'
        and o.source_id = n.row_id
      offset 0
    ) as m
    cross join lateral (
      select x.entry_id
      from memory.entries as x
      where x.tenant_id = relate_imports.tenant_id and x.id = m.target_id and x.policy <> 'billy'
      offset 0
    ) as t
    where m.target_type = 'entry'
  ) as l;
$$;

comment on function memory.relate_imports(text, memory.entry_to_import[]) is
'What is imported, with the related ids that name no entry, neither a stored nor a new one, and '
'with the links of its row.';

create or replace function memory.create_imports(
  tenant_id text,
  imports memory.entry_to_import[],
  as_of timestamptz
)
  returns memory.entry_to_import[]
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := create_imports.tenant_id;
  v_text_search_config constant text := memory.text_search_config_of(v_tenant_id);
  v_imports memory.entry_to_import[];
begin
  with days as (
    select
      array_agg(d.day order by d."position") as days,
      array_agg(d.number order by d."position") as numbers,
      array_agg(d."position" order by d."position") as positions
    from (
      select
        n."position",
        coalesce(
          substring(n.entry_id from 5 for 10)::date,
          (coalesce(n.created_at, as_of) at time zone 'UTC')::date
        ) as day,
        substring(n.entry_id from 16)::integer as number
      from unnest(imports) as n
      where n.outcome = 'created'
    ) as d
  )
  select array_agg(
    case
      when n.outcome = 'created' and n.entry_id is null
      then jsonb_populate_record(n, jsonb_build_object(
        'entry_id', memory.entry_id_of(g.day, g.number)
      ))
      else n
    end
    order by n."position"
  )
  into v_imports
  from unnest(imports) as n
  left join (
    select g.*
    from days as d
    cross join lateral unnest(
      d.positions, d.days, memory.take_entry_numbers(v_tenant_id, d.days, d.numbers)
    ) as g ("position", day, number)
  ) as g on g."position" = n."position";

  insert into memory.entries (
    tenant_id, id, entry_id, content, entry_type, category, tags, keywords, importance, confidence,
    source, trust, scope, user_id, persona_id, session_id, retention, version, created_at,
    edited_at, decayed_at, reference_count, last_referenced_at, expires_at, metadata,
    text_search_config, idempotency_key
  )
  select
    v_tenant_id, n.row_id, n.entry_id, n.content, coalesce(n.entry_type, 'note'), n.category,
    coalesce(n.tags, '[]'), coalesce(n.keywords, '[]'), coalesce(n.importance, 5.0),
    coalesce(n.confidence, memory.initial_confidence('import')), coalesce(n.source, 'import'),
    memory.trust_of_source(coalesce(n.source, 'import')), coalesce(n.scope, 'global'),
    n.user_id, n.persona_id, n.session_id,
    case when n.archived then 'archived' else 'active' end, coalesce(n.version, 1),
    coalesce(n.created_at, as_of), coalesce(n.updated_at, n.created_at, as_of),
    -- Its confidence has been lowered for not being used until now, by where it comes from.
    case when n.created_at < as_of then as_of end,
    coalesce(n.access_count, 0), n.last_accessed, n.expires_at,
    memory.metadata_of_import(
      coalesce(n.metadata, '{}'), n,
      memory.entry_file_mark(
        coalesce(n.version, 1), coalesce(n.confidence, memory.initial_confidence('import')),
        n.archived is true, n.expires_at, coalesce(n.access_count, 0), n.last_accessed,
        coalesce(n.related, '{}')
      )
    ),
    v_text_search_config, n.idempotency_key
  from unnest(v_imports) as n
  where n.outcome = 'created'
  order by n.entry_id
  on conflict do nothing;

  -- Another session may have been faster.
  return array(
    select
      case
        when n.outcome = 'created' and not exists (
          select
          from memory.entries as e
          where e.tenant_id = v_tenant_id and e.id = n.row_id
        )
        then jsonb_populate_record(n, jsonb_build_object(
          'outcome', 'conflict', 'reason', 'another session has just stored it'
        ))
        else n
      end
    from unnest(v_imports) as n
    order by n."position"
  );
end;
$$;

comment on function memory.create_imports(text, memory.entry_to_import[], timestamptz) is
'Stores the new entries of an import; returns what is imported, each new one with its id, and as '
'a conflict if another session has stored it meanwhile.';

create or replace function memory.compare_imports(
  tenant_id text,
  imports memory.entry_to_import[]
)
  returns memory.entry_to_import[]
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select array_agg(
    case
      when e.id is null then n
      else jsonb_populate_record(n, jsonb_build_object(
        'outcome', case
          when n.deleted and e.deleted_at is not null then 'unchanged'
          when n.deleted and (n.base_version <> e.version or n.known_id <> e.id) then 'conflict'
          when n.deleted or e.deleted_at is not null then 'deleted'
          when not c.is_other and not c.is_changed then
            case
              when n.front_matter <> coalesce(e.metadata -> 'file' ->> 'front_matter', '')
              then 'updated'
              else 'unchanged'
            end
          when c.is_other or n.base_version <> e.version then 'conflict'
          when e.expired_at is not null or n.source <> e.source or c.is_too_large then 'rejected'
          else 'updated'
        end,
        'reason', case
          when n.deleted and e.deleted_at is not null then null
          when n.deleted and n.known_id <> e.id or c.is_other and e.deleted_at is null
          then format('another entry has this id, created at %s', to_char(
            e.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
          ))
          when n.deleted and n.base_version <> e.version
          then format('it has version %s, not %s', e.version, n.base_version)
          when n.deleted then null
          when e.deleted_at is not null then 'it was deleted; memory.restore_memory brings it back'
          when not c.is_changed then null
          when n.base_version <> e.version
          then format('it has version %s, not %s', e.version, n.base_version)
          when e.expired_at is not null then 'it has expired; memory.restore_memory brings it back'
          when n.source <> e.source then format('its source is %s and cannot change', e.source)
          when c.is_too_large then 'its metadata with the front matter is longer than 64 KiB'
        end
      ))
    end
    order by n."position"
  )
  from unnest(imports) as n
  left join memory.entries as e
    on e.tenant_id = compare_imports.tenant_id and e.id = n.row_id and n.outcome is null
  left join lateral (
    select
      -- An edited entry keeps its uuid and its time of creation.
      coalesce(n.created_at <> e.created_at, false)
      or coalesce(n.known_id <> e.id, false) and memory.differs_from_import(e, n) as is_other,
      memory.differs_from_import(e, n) as is_changed,
      octet_length(memory.metadata_of_import(
        coalesce(n.metadata || memory.kept_metadata(e.metadata), e.metadata), n
      )::text) > 65536 as is_too_large
    where e.id is not null
  ) as c on true;
$$;

comment on function memory.compare_imports(text, memory.entry_to_import[]) is
'What is imported, each with an outcome: that of stored entries by what differs.';

create or replace function memory.update_from_imports(
  tenant_id text,
  imports memory.entry_to_import[],
  as_of timestamptz
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := update_from_imports.tenant_id;
begin
  update memory.entries as e
  set deleted_at = as_of, updated_at = memory.next_state_at(e.updated_at, as_of)
  where e.tenant_id = v_tenant_id and e.deleted_at is null
    and e.id = any (array(
      select n.row_id
      from unnest(imports) as n
      where n.deleted and n.outcome = 'deleted'
      order by 1
    ));

  update memory.entries as e
  set
    content = coalesce(n.content, e.content),
    entry_type = coalesce(n.entry_type, e.entry_type),
    category = case when 'category' = any (n.given) then n.category else e.category end,
    tags = coalesce(n.tags, e.tags),
    keywords = coalesce(n.keywords, e.keywords),
    importance = coalesce(n.importance, e.importance),
    confidence = coalesce(n.confidence, e.confidence),
    scope = coalesce(n.scope, e.scope),
    user_id = case when 'user_id' = any (n.given) then n.user_id else e.user_id end,
    persona_id = case when 'persona_id' = any (n.given) then n.persona_id else e.persona_id end,
    session_id = case when 'session_id' = any (n.given) then n.session_id else e.session_id end,
    expires_at = case when 'expires_at' = any (n.given) then n.expires_at else e.expires_at end,
    retention = case when n.archived then 'archived' else 'active' end,
    flagged_at = null,
    metadata = memory.metadata_of_import(
      coalesce(n.metadata || memory.kept_metadata(e.metadata), e.metadata), n
    ),
    edited_at = case
      when n.updated_at <> e.edited_at then n.updated_at else greatest(e.edited_at, as_of)
    end,
    reference_count = greatest(e.reference_count, n.access_count),
    last_referenced_at = greatest(e.last_referenced_at, n.last_accessed),
    version = e.version + 1,
    updated_at = memory.next_state_at(e.updated_at, as_of)
  from unnest(imports) as n
  where e.tenant_id = v_tenant_id and e.id = n.row_id
    and n.outcome = 'updated' and memory.differs_from_import(e, n);

  -- The file reads otherwise, but says the same of the entry: no new version.
  update memory.entries as e
  set
    metadata = m.metadata,
    reference_count = greatest(e.reference_count, n.access_count),
    last_referenced_at = greatest(e.last_referenced_at, n.last_accessed),
    updated_at = case
      when m.metadata <> e.metadata then memory.next_state_at(e.updated_at, as_of)
      else e.updated_at
    end
  from unnest(imports) as n
  cross join lateral (
    select o.metadata
    from memory.entries as o
    where o.tenant_id = v_tenant_id and o.id = n.row_id
  ) as o
  cross join lateral (
    select
      memory.metadata_of_import(o.metadata, n) as metadata
  ) as m
  where e.tenant_id = v_tenant_id and e.id = n.row_id and n.deleted is not true
    and n.outcome in ('unchanged', 'updated')
    and not memory.differs_from_import(e, n)
    and (
      m.metadata - 'file' <> e.metadata - 'file'
      or (m.metadata -> 'file') - 'mark' <> (e.metadata -> 'file') - 'mark'
      or m.metadata ? 'file' and not e.metadata ? 'file'
      or n.access_count > e.reference_count
      or n.last_accessed > coalesce(e.last_referenced_at, '-infinity')
    )
    and octet_length(m.metadata::text) <= 65536;
end;
$$;

comment on function memory.update_from_imports(text, memory.entry_to_import[], timestamptz) is
'Deletes the stored entries that an import says are deleted, and changes those that it changes.';

create or replace function memory.link_imports(
  tenant_id text,
  imports memory.entry_to_import[]
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := link_imports.tenant_id;
begin
  with gone as materialized (
    select n.row_id, l.target_id
    from unnest(imports) as n
    cross join lateral (
      select k.target_type, k.target_id
      from memory.memory_links as k
      where k.tenant_id = v_tenant_id and k.source_type = 'entry' and k.source_id = n.row_id
        and k.relation = 'related_to'
      offset 0
    ) as l
    where n.outcome = 'updated' and n.related is not null and l.target_type = 'entry'
      and not exists (
        select
        from memory.entries as t
        where t.tenant_id = v_tenant_id and t.id = l.target_id
          and (t.entry_id = any (n.related) or t.policy = 'billy')
        offset 0
      )
  )
  delete from memory.memory_links as l
  using gone as g
  where l.tenant_id = v_tenant_id and l.source_type = 'entry' and l.source_id = g.row_id
    and l.target_type = 'entry' and l.target_id = g.target_id;
  -- A pair that is linked otherwise keeps its relation.
  insert into memory.memory_links
    (tenant_id, source_type, source_id, target_type, target_id, relation)
  select v_tenant_id, 'entry', n.row_id, 'entry', t.id, 'related_to'
  from unnest(imports) as n
  cross join lateral unnest(n.related) as r (entry_id)
  cross join lateral (
    select t.id
    from memory.entries as t
    where t.tenant_id = v_tenant_id and t.entry_id = r.entry_id and t.policy <> 'billy'
    offset 0
  ) as t
  where n.outcome in ('created', 'updated', 'unchanged') and n.deleted is not true
    and not n.links ? r.entry_id and r.entry_id <> all (n.missing) and t.id <> n.row_id
  order by n.row_id, t.id
  on conflict (tenant_id, source_type, source_id, target_type, target_id) do nothing;
end;
$$;

comment on function memory.link_imports(text, memory.entry_to_import[]) is
'Links the entries of an import to those that they name, and to no others.';

create or replace function memory.import_entries(
  entries jsonb,
  as_of timestamptz default now()
)
  returns table (
    "position" bigint, -- noqa: RF06
    entry_id text,
    id uuid,
    version integer,
    outcome text,
    reason text,
    missing_related text[]
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set enable_seqscan = off -- a plan made while there were few entries serves for many, too
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := memory.current_tenant();
  v_imports memory.entry_to_import[];
begin
  perform memory.check_write_time('as_of', as_of);
  if jsonb_typeof(entries) is distinct from 'array' then
    raise exception 'entries are not a JSON array'
      using errcode = 'PM002', hint = 'Pass an array of objects, one per entry.';
  end if;
  v_imports := array(
    select memory.read_import(a.element, a.ordinality, as_of)
    from jsonb_array_elements(entries) with ordinality as a (element, ordinality)
    order by a.ordinality
  );
  if cardinality(v_imports) = 0 then
    return;
  end if;

  perform
  from memory.entries as e
  where e.tenant_id = v_tenant_id
    and (
      e.entry_id = any (array(
        select n.entry_id from unnest(v_imports) as n where n.entry_id is not null order by 1
      ))
      or e.idempotency_key = any (array(
        select n.idempotency_key from unnest(v_imports) as n
        where n.entry_id is null and n.idempotency_key is not null
        order by 1
      ))
    )
  order by e.id
  for no key update;

  v_imports := memory.relate_imports(
    v_tenant_id, memory.judge_imports(v_tenant_id, v_imports)
  );
  if exists (select from unnest(v_imports) as n where n.outcome = 'created') then
    v_imports := memory.create_imports(v_tenant_id, v_imports, as_of);
    if exists (select from unnest(v_imports) as n where n.outcome = 'conflict') then
      -- What names one that was not created names none.
      v_imports := memory.relate_imports(v_tenant_id, v_imports);
    end if;
  end if;
  v_imports := memory.compare_imports(v_tenant_id, v_imports);
  perform memory.update_from_imports(v_tenant_id, v_imports, as_of);
  perform memory.link_imports(v_tenant_id, v_imports);

  return query
  select
    n."position", n.entry_id, e.id, e.version, n.outcome, n.reason,
    case when n.outcome in ('created', 'updated', 'unchanged') then n.missing else '{}' end
  from unnest(v_imports) as n
  left join memory.entries as e
    on e.tenant_id = v_tenant_id and e.id = n.row_id and e.policy <> 'billy'
  order by n."position";
end;
$$;

comment on function memory.import_entries(jsonb, timestamptz) is
'Stores entries that come from elsewhere: an array of objects with entry_id (kept; none: a new '
'one of the day of created_at), content, type, tags, keywords, category, confidence (NULL: 0.80), '
'importance, source (default import), scope, user_id, persona_id, session_id, created_at, '
'updated_at, expires_at (may lie in the past), access_count, last_accessed, version, archived, '
'related (entry ids, also of the same array), metadata; of a file, front_matter and path; '
'idempotency_key. A stored entry keeps what an object leaves out; null clears. deleted: it is to '
'be deleted. base_version: the version that the change was made to (0: none is expected), and id: '
'the uuid it is known by; if the stored entry has another and differs, nothing is overwritten. '
'Returns for each, in order, what became of it: created, updated, unchanged, conflict, deleted, '
'or rejected, with the reason; the others are stored all the same. missing_related: ids that name '
'no entry yet; importing again links them. Importing twice changes nothing. Errors: PM002 not an '
'array.';
grant execute on function memory.import_entries to memory_writer;

commit;
