-- Deploy pymem:functions/core/store/resolve_entities to pg

begin;

set local role memory_owner;
grant create on schema memory to memory_search;
set local role memory_search;

-- Name functions are not leakproof, so row security would prevent the use of their indexes: like
-- ranked retrieval, this function reads rows of every tenant and filters by tenant itself.
create or replace function memory.find_names(
  tenant_id text,
  name text,
  entity_type text,
  enable_fuzzy boolean,
  max_entities integer
)
  returns table (
    entity_id uuid,
    name_match text
  )
  language plpgsql
  stable
  rows 20
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_name text collate "C" := memory.fold_name(find_names.name);
  v_beyond text collate "C" := v_name || U&'\+10FFFF'; -- after all names with this prefix
  v_starting uuid[];
  v_containing uuid[];
  v_threshold text := current_setting('pg_trgm.similarity_threshold', true);
begin
  return query
  select n.entity_id, case when n.is_canonical then 'exact' else 'alias' end
  from memory.entity_names as n
  where n.tenant_id = find_names.tenant_id and n.name = v_name
    and (find_names.entity_type is null or n.entity_type = find_names.entity_type)
  order by n.is_canonical desc, n.entity_id
  limit max_entities;

  -- No sort over all names: in index order, these scans end after max_entities.
  v_starting := array(
    select n.entity_id
    from memory.entity_names as n
    where n.tenant_id = find_names.tenant_id and n.name > v_name and n.name < v_beyond
      and (find_names.entity_type is null or n.entity_type = find_names.entity_type)
    order by n.name, n.entity_id
    limit max_entities
  );
  if cardinality(v_starting) < max_entities then
    if char_length(v_name) >= 3 then
      v_containing := array(
        select n.entity_id
        from memory.entity_names as n
        where memory.name_terms(n.tenant_id, n.name)
            @> memory.name_terms(find_names.tenant_id, v_name)
          and n.tenant_id = find_names.tenant_id and position(v_name in n.name) > 1
          and (find_names.entity_type is null or n.entity_type = find_names.entity_type)
        order by n.name, n.entity_id
        limit max_entities
      );
    else
      v_containing := array(
        select n.entity_id
        from memory.entity_names as n
        where n.tenant_id = find_names.tenant_id and position(v_name in n.name) > 1
          and (find_names.entity_type is null or n.entity_type = find_names.entity_type)
        order by n.name, n.entity_id
        limit max_entities
      );
    end if;
  end if;
  return query
  select u.entity_id, 'prefix'
  from unnest(v_starting || v_containing) with ordinality as u (entity_id, place)
  order by u.place;

  if not enable_fuzzy or char_length(v_name) <= 2
    or not memory.has_extension('pg_trgm')
  then
    return;
  end if;

  -- The trigram index covers all tenants, so for up to 2000 names a scan of the tenant's names is
  -- faster.
  if not exists (
    select from memory.entity_names as n
    where n.tenant_id = find_names.tenant_id
    order by n.name, n.entity_id
    offset 2000
  ) then
    return query
    select s.entity_id, 'fuzzy'
    from (
      select n.entity_id, n.name, similarity(n.name, v_name) as similarity
      from memory.entity_names as n
      where n.tenant_id = find_names.tenant_id
        and (find_names.entity_type is null or n.entity_type = find_names.entity_type)
      offset 0 -- no flattening: the similarity is computed only once per name
    ) as s
    where s.similarity >= 0.3
    order by s.similarity desc, s.name, s.entity_id
    limit max_entities;
    return;
  end if;

  -- Overrides what the session has set; if nothing is set, the extension uses 0.3.
  if v_threshold <> '0.3' then
    perform set_config('pg_trgm.similarity_threshold', '0.3', true);
  end if;
  return query
  select s.entity_id, 'fuzzy'
  from (
    select n.entity_id, similarity(n.name, v_name) as similarity
    from memory.entity_names as n
    where n.tenant_id = find_names.tenant_id and n.name % v_name
      and (find_names.entity_type is null or n.entity_type = find_names.entity_type)
    order by similarity desc, n.name, n.entity_id
    limit max_entities
  ) as s;
  if v_threshold <> '0.3' then
    perform set_config('pg_trgm.similarity_threshold', v_threshold, true);
  end if;
end;
$$;

comment on function memory.find_names(text, text, text, boolean, integer) is
'Entities of a tenant by name, as memory.fold_name compares it: exact, the canonical name; alias; '
'prefix, the beginning or a part of a name; fuzzy, a trigram similarity of at least 0.3 (pg_trgm), '
'if it is requested, the name has more than two characters and the extension is installed. Of each '
'kind at most max_entities, the first by name or the most similar; an entity may appear more than '
'once.';
grant execute on function memory.find_names to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

create or replace function memory.read_hints(context_hints jsonb)
  returns jsonb
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_bad text;
begin
  if jsonb_typeof(context_hints) is distinct from 'object' then
    raise exception 'context_hints is not a JSON object'
      using errcode = 'PM002',
        hint = 'Pass hints such as {"topic": "mathematics", "mentioned_with": ["Ada"]}, or {}.';
  end if;
  perform memory.check_object('context_hints', context_hints);
  select k.key into v_bad
  from jsonb_each(context_hints) as k
  where not case k.key
    when 'topic' then jsonb_typeof(k.value) in ('string', 'null')
    when 'mentioned_with' then jsonb_typeof(k.value) in ('string', 'null')
      or jsonb_typeof(k.value) = 'array' and not k.value @? 'strict $[*] ? (@.type() != "string")'
    when 'domain_scores' then jsonb_typeof(k.value) = 'null'
      or jsonb_typeof(k.value) = 'object'
      and not k.value @? 'strict $.* ? (@.type() != "number" || @ < -1000000 || @ > 1000000)'
      and not exists (
        select from jsonb_object_keys(
          case jsonb_typeof(k.value) when 'object' then k.value else '{}' end
        ) as i (id)
        where i.id !~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
      )
    else false
  end
  order by k.key
  limit 1;
  if found then
    raise exception 'context_hints have an invalid key or value: %', quote_literal(left(v_bad, 100))
      using errcode = 'PM002',
        hint = 'Pass {"topic": "text", "mentioned_with": ["name"], "domain_scores": {"<entity '
          || 'id>": 5}}, or some of these; scores are at most a million, positive or negative.';
  end if;
  return jsonb_strip_nulls(context_hints);
end;
$$;

comment on function memory.read_hints(jsonb) is
'The hints of entity_resolve, checked: topic (text), mentioned_with (text or array of texts), '
'domain_scores (entity id to number). Errors: PM002 anything else.';

create or replace function memory.hint_overlap(
  tenant_id text,
  entity_ids uuid[],
  terms text[]
)
  returns table (
    entity_id uuid,
    overlap float8
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    e.entity_id,
    max(s.shared::float8 / (f.terms + cardinality(hint_overlap.terms) - s.shared))
  from unnest(entity_ids) as e (entity_id)
  -- 500 facts in total, so that the time is bounded however many facts there are about an entity.
  cross join lateral (
    select n.search_vector, length(n.search_vector) as terms
    from (
      (
        -- The words of its own name are no topic, unless the hint has them.
        select
          ts_delete(
            a.search_vector,
            array(
              select unnest(
                tsvector_to_array(memory.to_search_vector(a.text_search_config, a.subject))
              )
              except
              select unnest(hint_overlap.terms)
            )
          ) as search_vector,
          a.created_at, a.id
        from memory.facts as a
        where a.tenant_id = hint_overlap.tenant_id and a.entity_id = e.entity_id
          and a.validity = 'active'
        order by a.created_at desc, a.id desc
        limit greatest(1, 500 / cardinality(entity_ids))
      )
      union
      (
        select o.search_vector, o.created_at, o.id
        from memory.facts as o
        where o.tenant_id = hint_overlap.tenant_id and o.object_entity_id = e.entity_id
          and o.validity = 'active'
        order by o.created_at desc, o.id desc
        limit greatest(1, 500 / cardinality(entity_ids))
      )
    ) as n
    order by n.created_at desc, n.id desc
    limit greatest(1, 500 / cardinality(entity_ids))
  ) as f
  cross join lateral (
    select f.terms - length(ts_delete(f.search_vector, hint_overlap.terms)) as shared
  ) as s
  where s.shared > 0
  group by e.entity_id;
$$;

comment on function memory.hint_overlap(text, uuid[], text[]) is
'How close the facts about entities are to some terms (lexemes), 0..1: the highest Jaccard '
'coefficient of the terms and those of an active fact whose subject or object is the entity; '
'words of the subject that are not among the terms do not count if it is the entity. Reads the '
'newest 500 facts of all entities together, equally many of each. Entities without overlap have '
'no row.';

create or replace function memory.entity_resolve(
  name text,
  tenant_id text default null,
  entity_type text default null,
  context_hints jsonb default '{}',
  enable_fuzzy boolean default false,
  max_results integer default 20
)
  returns setof memory.resolved_entity
  language plpgsql
  stable
  rows 20 -- the default of max_results; the planner would assume 1000
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_hints jsonb := memory.read_hints(entity_resolve.context_hints);
  v_scored uuid[] := array(
    select k.id::uuid from jsonb_object_keys(v_hints -> 'domain_scores') as k (id) order by 1
  );
  v_ids uuid[];
  v_matches text[];
  v_terms text[];
begin
  if entity_resolve.tenant_id is not null then
    perform memory.require_tenant(entity_resolve.tenant_id);
  end if;
  perform memory.check_text('name', memory.collapse_whitespace(entity_resolve.name), 512);
  if entity_resolve.entity_type is not null then
    perform memory.check_word(
      'entity_type', entity_resolve.entity_type, '{person,organization,place,other}'
    );
  end if;
  perform memory.check_number('max_results', max_results, 1, 1000);

  -- More candidates than are returned: they come in order of name, and are then ranked by score.
  select array_agg(n.entity_id order by n.entity_id), array_agg(n.name_match order by n.entity_id)
  into v_ids, v_matches
  from (
    select distinct on (f.entity_id) f.entity_id, f.name_match
    from (
      select c.entity_id, c.name_match
      from memory.find_names(
        v_tenant_id, entity_resolve.name, entity_resolve.entity_type,
        coalesce(entity_resolve.enable_fuzzy, false),
        greatest(100, max_results)
      ) as c
      union all
      -- Entities with a domain score are candidates however many others match.
      select d.entity_id, 'prefix'
      from unnest(v_scored) as d (entity_id)
      join memory.entity_names as c on c.tenant_id = v_tenant_id and c.entity_id = d.entity_id
      where position(memory.fold_name(entity_resolve.name) in c.name) > 0
        and (entity_resolve.entity_type is null or c.entity_type = entity_resolve.entity_type)
    ) as f
    order by f.entity_id, array_position('{exact,alias,prefix,fuzzy}', f.name_match)
  ) as n;

  v_terms := tsvector_to_array(memory.to_search_vector(
    v_settings.text_search_config,
    concat_ws(' ', v_hints ->> 'topic', v_hints ->> 'mentioned_with')
  ));
  return query
  select
    e.id, e.canonical_name::text, e.entity_type::text, s.score, m.name_match, e.aliases
  from unnest(v_ids, v_matches) as m (entity_id, name_match)
  join memory.entities as e on e.tenant_id = v_tenant_id and e.id = m.entity_id
  left join memory.hint_overlap(
    v_tenant_id, case when v_terms <> '{}' then v_ids end, v_terms
  ) as h on h.entity_id = m.entity_id
  left join lateral (
    select sum(k.value::float8) as score
    from jsonb_each_text(v_hints -> 'domain_scores') as k
    where k.key::uuid = e.id
  ) as d on true
  cross join lateral (
    select round(
      (
        case m.name_match
          when 'exact' then 100 when 'alias' then 80 when 'prefix' then 50 else 20
        end
        + 20 * coalesce(h.overlap, 0)
        + coalesce(d.score, 0)
      )::numeric,
      4
    )::float8 as score
  ) as s
  where e.lifecycle_state = 'active'
  order by s.score desc, e.canonical_name collate "C", e.id
  limit max_results;
end;
$$;

comment on function memory.entity_resolve(text, text, text, jsonb, boolean, integer) is
'Entities that a name may refer to, the best first; none if no name matches, and none is created. '
'By its best kind of match (memory.find_names), an entity scores exact 100, alias 80, prefix 50, '
'fuzzy 20. context_hints add to the score: topic and mentioned_with up to 20, 20 times '
'memory.hint_overlap of their words; domain_scores the value for its id. Scores have four '
'decimals; ties are ordered by canonical name, then id. The names of a merged entity lead to its '
'target. If more than 100 of one kind match, only the first by name are ranked. Errors: PM002, '
'PM005 another tenant.';
grant execute on function memory.entity_resolve to memory_writer, memory_reader, memory_admin;

commit;
