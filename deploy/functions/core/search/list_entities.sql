-- Deploy pymem:functions/core/search/list_entities to pg

begin;

set local role memory_owner;

create or replace function memory.count_facts_about(
  tenant_id text,
  entity_id uuid
)
  returns table (
    facts integer,
    mentions integer
  )
  language sql
  stable
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    (
      select count(*)::integer
      from (
        select from memory.facts as f
        where f.tenant_id = count_facts_about.tenant_id
          and f.entity_id = count_facts_about.entity_id and f.validity = 'active'
        limit 1000
      ) as a
    ),
    (
      select count(*)::integer
      from (
        select from memory.facts as f
        where f.tenant_id = count_facts_about.tenant_id
          and f.object_entity_id = count_facts_about.entity_id and f.validity = 'active'
        limit 1000
      ) as o
    );
$$;

comment on function memory.count_facts_about(text, uuid) is
'How many active facts are about an entity, and have it as their object, each counted to 1000.';

create or replace function memory.list_entities(
  query text default null,
  types text[] default null,
  states text[] default '{active}',
  after text default null,
  max_results integer default 50
)
  returns table (
    entity_id uuid,
    canonical_name text,
    entity_type text,
    state text,
    aliases text[],
    merged_into uuid,
    facts integer,
    mentions integer,
    created_at timestamptz,
    updated_at timestamptz,
    cursor text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_custom_plan -- the filters in use choose the index
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_types text[] := memory.check_words(
    'types', list_entities.types, '{person,organization,place,other}'
  );
  v_states text[] := memory.check_words('states', list_entities.states, '{active,merged}');
  v_limit integer := memory.check_limit(max_results);
  v_place memory.list_place;
  v_name text;
  v_ids uuid[];
begin
  if list_entities.after is not null then
    v_place := memory.decode_place(list_entities.after, 'entities', '{text}');
  end if;
  if list_entities.query is not null then
    perform memory.check_text('query', memory.collapse_whitespace(list_entities.query), 512);
    v_name := memory.fold_name(list_entities.query);
    v_ids := array(
      select n.entity_id
      from memory.find_names(v_tenant_id, list_entities.query, null, false, 1000) as n
      union
      -- Entities that were merged away have no names to look up.
      select e.id
      from memory.entities as e
      cross join lateral unnest(e.aliases || e.canonical_name::text) as a (name)
      where e.tenant_id = v_tenant_id and e.lifecycle_state = 'merged'
        and coalesce('merged' = any (v_states), true)
        and position(v_name in memory.fold_name(a.name)) > 0
    );
  end if;

  return query
  select
    l.id, l.canonical_name, l.entity_type, l.lifecycle_state, l.aliases, l.merged_into, c.facts,
    c.mentions, l.created_at, l.updated_at,
    memory.encode_place(
      row('entities', array[l.canonical_name], l.id, 'entity', l.created_at)::memory.list_place
    )
  from (
    select
      e.id, e.canonical_name::text as canonical_name, e.entity_type::text as entity_type,
      e.lifecycle_state, e.aliases, (e.metadata ->> 'merged_into')::uuid as merged_into,
      e.created_at, e.updated_at
    from memory.entities as e
    where e.tenant_id = v_tenant_id
      and (v_ids is null or e.id = any (v_ids))
      and (v_types is null or e.entity_type = any (v_types))
      and (v_states is null or e.lifecycle_state = any (v_states))
      and (
        v_place.id is null
        or (e.canonical_name, e.id) > (v_place.keys[1], v_place.id)
      )
    order by e.canonical_name, e.id
    limit v_limit
  ) as l
  cross join lateral memory.count_facts_about(v_tenant_id, l.id) as c
  order by l.canonical_name, l.id;
end;
$$;

comment on function memory.list_entities(text, text[], text[], text, integer) is
'Entities by name, up to max_results, capped at 1000: with how many active facts are about each, '
'and have it as their object, each counted to 1000. query: only those of which a name contains it '
'(memory.find_names; at most 1000 that begin with it and 1000 others); types: only person, '
'organization, place, other; states: active, merged (into merged_into), NULL: both. The next page: '
'pass cursor of the last row as after, with the same filters. Errors: PM002.';
grant execute on function memory.list_entities to memory_writer, memory_reader, memory_admin;

create or replace function memory.similar_names(
  names text[],
  others text[]
)
  returns float8[]
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if not memory.has_extension('pg_trgm') then
    return array_fill(0::float8, array[cardinality(names)]);
  end if;
  return array(
    select similarity(n.name, n.other)::float8
    from unnest(names, others) with ordinality as n (name, other, position)
    order by n.position
  );
end;
$$;

comment on function memory.similar_names(text[], text[]) is
'How alike each name is to the other one at the same place: the similarity of pg_trgm, 0..1; 0 '
'without the extension.';

create or replace function memory.merge_suggestions(
  after text default null,
  max_results integer default 50
)
  returns table (
    source_entity_id uuid,
    source_name text,
    source_facts integer,
    target_entity_id uuid,
    target_name text,
    target_facts integer,
    entity_type text,
    similarity float8,
    reason text,
    cursor text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_limit integer := memory.check_limit(max_results);
  v_place memory.list_place;
  v_one_ids uuid[];
  v_other_ids uuid[];
  v_entity_types text[];
  v_names text[];
  v_others text[];
  v_are_canonical boolean[];
begin
  if merge_suggestions.after is not null then
    v_place := memory.decode_place(merge_suggestions.after, 'merges', '{float8,uuid}');
  end if;

  with names as materialized (
    select n.entity_id, n.name, n.entity_type::text as entity_type, n.is_canonical
    from memory.entity_names as n
    where n.tenant_id = v_tenant_id
  ),
  -- Names are compared that share a word, or the beginning of one, where they are rarely
  -- misspelled; the fewer others have it, the sooner.
  words as materialized (
    select n.*, w.word
    from names as n
    cross join lateral (
      select p.word from unnest(string_to_array(n.name, ' ')) as p (word) where length(p.word) > 1
      union
      select left(p.word, 3) || '*'
      from unnest(string_to_array(n.name, ' ')) as p (word) where length(p.word) > 4
    ) as w
  ),
  telling as (
    select w.word, count(distinct w.entity_id) as entities
    from words as w
    group by w.word
    having count(distinct w.entity_id) between 2 and 20
  ),
  pairs as (
    select
      a.entity_id as one_id, b.entity_id as other_id, a.entity_type, a.name, b.name as other,
      a.is_canonical and b.is_canonical as are_canonical, min(t.entities) as entities
    from telling as t
    join words as a on a.word = t.word
    join words as b
      on b.word = t.word and b.entity_id > a.entity_id and b.entity_type = a.entity_type
    group by 1, 2, 3, 4, 5, 6
    union all
    select
      a.entity_id, b.entity_id, a.entity_type, a.name, b.name, a.is_canonical and b.is_canonical, 0
    from names as a
    join names as b
      on b.name = a.name and b.entity_id > a.entity_id and b.entity_type = a.entity_type
  )
  select
    array_agg(p.one_id order by p.place), array_agg(p.other_id order by p.place),
    array_agg(p.entity_type order by p.place), array_agg(p.name order by p.place),
    array_agg(p.other order by p.place), array_agg(p.are_canonical order by p.place)
  into v_one_ids, v_other_ids, v_entity_types, v_names, v_others, v_are_canonical
  from (
    select
      p.*, row_number() over (order by p.entities, p.one_id, p.other_id, p.name, p.other) as place
    from pairs as p
  ) as p
  where p.place <= 20000;

  return query
  with compared as (
    select
      p.one_id, p.other_id, p.entity_type,
      case
        when p.name = p.other then case when p.are_canonical then 'same name' else 'alias' end
        when w.is_part then 'part of a name'
        else 'similar name'
      end as reason,
      round(
        case
          when p.name = p.other then 1
          when w.is_part then greatest(0.7, p.similarity)
          else p.similarity
        end::numeric,
        4
      )::float8 as similarity
    from unnest(
      v_one_ids, v_other_ids, v_entity_types, v_names, v_others, v_are_canonical,
      memory.similar_names(v_names, v_others)
    ) as p (one_id, other_id, entity_type, name, other, are_canonical, similarity)
    cross join lateral (
      select
        string_to_array(p.name, ' ') <@ string_to_array(p.other, ' ')
        or string_to_array(p.other, ' ') <@ string_to_array(p.name, ' ') as is_part
    ) as w
  ),
  best as materialized (
    select distinct on (c.one_id, c.other_id) c.*
    from compared as c
    where c.similarity >= 0.6
    order by
      c.one_id, c.other_id, c.similarity desc,
      array_position('{same name,alias,part of a name,similar name}', c.reason)
  ),
  page as (
    select b.*
    from best as b
    where v_place.id is null
      or (b.similarity, b.one_id, b.other_id)
        < ((v_place.keys[1])::float8, v_place.id, (v_place.keys[2])::uuid)
    order by b.similarity desc, b.one_id desc, b.other_id desc
    limit v_limit
  )
  select
    s.id, s.canonical_name::text, r.source_facts, t.id, t.canonical_name::text, r.target_facts,
    p.entity_type, p.similarity, p.reason,
    memory.encode_place(
      row('merges', array[p.similarity::text, p.other_id::text], p.one_id, 'entity', s.created_at)
        ::memory.list_place
    )
  from page as p
  cross join lateral memory.count_facts_about(v_tenant_id, p.one_id) as o
  cross join lateral memory.count_facts_about(v_tenant_id, p.other_id) as x
  cross join lateral (
    select
      case when o.facts > x.facts then p.other_id else p.one_id end as source_id,
      least(o.facts, x.facts) as source_facts,
      case when o.facts > x.facts then p.one_id else p.other_id end as target_id,
      greatest(o.facts, x.facts) as target_facts
  ) as r
  join memory.entities as s on s.tenant_id = v_tenant_id and s.id = r.source_id
  join memory.entities as t on t.tenant_id = v_tenant_id and t.id = r.target_id
  order by p.similarity desc, p.one_id desc, p.other_id desc;
end;
$$;

comment on function memory.merge_suggestions(text, integer) is
'Pairs of entities of one type that may be the same, the most alike first, up to max_results, '
'capped at 1000. reason: same name (folded), alias (a name of one is an alias of the other), part '
'of a name (the words of one are among those of the other) or, where pg_trgm is installed, similar '
'name; similarity of the names, 0.6..1. The target is the one with more facts, which are counted '
'to 1000. Names are compared that share a word, or its first three letters, with at most 20 '
'entities: 20000 pairs, of which few others share the word. The next page: pass cursor of the last '
'row as after. Errors: PM002.';
grant execute on function memory.merge_suggestions to memory_writer, memory_reader, memory_admin;

create or replace function memory.merge_preview(
  source_entity_id uuid,
  target_entity_id uuid
)
  returns table (
    change text,
    fact_id uuid,
    scope text,
    subject text,
    predicate text,
    content text,
    confidence float8,
    winner_id uuid,
    winner_content text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_source memory.entities;
  v_target memory.entities;
  v_missing uuid;
begin
  if source_entity_id = target_entity_id then
    raise exception 'an entity cannot be merged into itself'
      using errcode = 'PM002', hint = 'Pass two different entities.';
  end if;
  select e.* into v_source
  from memory.entities as e
  where e.tenant_id = v_tenant_id and e.id = source_entity_id;
  select e.* into v_target
  from memory.entities as e
  where e.tenant_id = v_tenant_id and e.id = target_entity_id;
  if v_source.id is null or v_target.id is null then
    v_missing := case when v_source.id is null then source_entity_id else target_entity_id end;
    raise exception 'no entity has id %', coalesce(v_missing::text, 'NULL')
      using errcode = 'PM001', hint = 'Find ids with memory.list_entities.';
  end if;
  perform memory.check_unmerged(v_source, v_target);

  return query
  with conflicts as materialized (
    select c.loser_id, c.winner_id
    from memory.merge_conflicts(v_tenant_id, source_entity_id, target_entity_id, now()) as c
  ),
  changes as (
    select 1 as position, 'superseded' as change, c.loser_id as fact_id, c.winner_id
    from conflicts as c
    union all
    select
      case f.validity when 'active' then 2 else 4 end,
      case f.validity when 'active' then 'moved' else 'historical' end, f.id, null
    from memory.facts as f
    where f.tenant_id = v_tenant_id and f.entity_id = source_entity_id
      and f.id not in (select c.loser_id from conflicts as c)
    union all
    select 3, 'object', f.id, null
    from memory.facts as f
    where f.tenant_id = v_tenant_id and f.object_entity_id = source_entity_id
  ),
  described as (
    select
      c.position, c.change, c.fact_id, f.scope, f.subject, f.predicate, f.content, f.confidence,
      c.winner_id, w.content as winner_content, f.created_at
    from changes as c
    join memory.facts as f on f.tenant_id = v_tenant_id and f.id = c.fact_id
    left join memory.facts as w on w.tenant_id = v_tenant_id and w.id = c.winner_id
    union all
    select 0, 'alias', null, null, null, null, a.alias, null, null, null, null
    from memory.added_names(v_source, v_target) as n
    cross join lateral unnest(n.names) as a (alias)
  )
  select
    d.change, d.fact_id, d.scope, d.subject, d.predicate, d.content, d.confidence, d.winner_id,
    d.winner_content
  from described as d
  order by d.position, d.created_at desc, d.fact_id, d.content;
end;
$$;

comment on function memory.merge_preview(uuid, uuid) is
'What memory.entity_merge of a source into a target would do, changing nothing: the names that the '
'target gets (change alias, the name as content), the facts that would be superseded and by which '
'(superseded, with winner_id), that would be about the target (moved; historical if they are not '
'active) and that would have it as their object (object). Errors: PM001 no such entity, PM002 the '
'same entity twice, PM004 one of them was already merged away.';
grant execute on function memory.merge_preview to memory_writer, memory_reader, memory_admin;

commit;
