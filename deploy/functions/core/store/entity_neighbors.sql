-- Deploy pymem:functions/core/store/entity_neighbors to pg

begin;

set local role memory_owner;

create or replace function memory.edges_of_entities(
  tenant_id text,
  entity_ids uuid[]
)
  returns table (
    from_id uuid,
    to_id uuid,
    direction text,
    relation text,
    fact_id uuid,
    created_at timestamptz
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  -- Offset 0 makes each step a look-up of one key, and only a condition on the key stands inside.
  -- Without statistics the planner would choose a smaller index in which just the tenant is known,
  -- and read all facts of the tenant for each link: minutes for ten thousand links.
  with about as (
    select f.id, f.entity_id, f.predicate, f.object_entity_id, f.created_at
    from unnest(entity_ids) as u (entity_id)
    cross join lateral (
      select f.id, f.entity_id, f.predicate, f.object_entity_id, f.created_at, f.validity
      from memory.facts as f
      where f.tenant_id = edges_of_entities.tenant_id and f.entity_id = u.entity_id
      offset 0
    ) as f
    where f.validity = 'active'
  ),
  linked as (
    select a.entity_id, 'outgoing' as direction, l.relation, a.id, l.created_at, l.target_id as other_id
    from about as a
    cross join lateral (
      select l.target_type, l.target_id, l.relation, l.created_at
      from memory.memory_links as l
      where l.tenant_id = edges_of_entities.tenant_id and l.source_type = 'fact'
        and l.source_id = a.id
      offset 0
    ) as l
    where l.target_type = 'fact'
    union all
    select a.entity_id, 'incoming', l.relation, a.id, l.created_at, l.source_id
    from about as a
    cross join lateral (
      select l.source_type, l.source_id, l.relation, l.created_at
      from memory.memory_links as l
      where l.tenant_id = edges_of_entities.tenant_id and l.target_type = 'fact'
        and l.target_id = a.id
      offset 0
    ) as l
    where l.source_type = 'fact'
  )
  select a.entity_id, a.object_entity_id, 'outgoing', a.predicate, a.id, a.created_at
  from about as a
  where a.object_entity_id is not null
  union all
  select f.object_entity_id, f.entity_id, 'incoming', f.predicate, f.id, f.created_at
  from unnest(entity_ids) as u (entity_id)
  cross join lateral (
    select f.id, f.entity_id, f.predicate, f.object_entity_id, f.created_at, f.validity
    from memory.facts as f
    where f.tenant_id = edges_of_entities.tenant_id and f.object_entity_id = u.entity_id
    offset 0
  ) as f
  where f.validity = 'active' and f.entity_id is not null
  union all
  select l.entity_id, o.entity_id, l.direction, l.relation, l.id, l.created_at
  from linked as l
  cross join lateral (
    select o.entity_id, o.validity
    from memory.facts as o
    where o.tenant_id = edges_of_entities.tenant_id and o.id = l.other_id
    offset 0
  ) as o
  where o.validity = 'active' and o.entity_id is not null;
$$;

comment on function memory.edges_of_entities(text, uuid[]) is
'Edges from the given entities to others: active facts with one as the subject and another as the '
'object, and links between active facts about two entities.';

create or replace function memory.entity_neighbors(
  entity_id uuid,
  max_depth integer default 1,
  max_results integer default 50
)
  returns setof memory.entity_neighbor
  language plpgsql
  stable
  rows 50 -- the default of max_results; the planner would assume 1000
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_visited uuid[] := array[entity_neighbors.entity_id];
  v_front uuid[] := v_visited;
  v_next uuid[];
  v_neighbor memory.entity_neighbor;
begin
  perform
    memory.check_number('max_depth', max_depth, 1, 5),
    memory.check_number('max_results', max_results, 1, 1000);

  -- Breadth first: an entity is visited once, at its smallest depth, so that cycles end and no more
  -- is visited than is returned.
  for v_depth in 1..max_depth loop
    v_next := '{}';
    for v_neighbor in
      select
        n.to_id, e.canonical_name::text, e.entity_type::text, v_depth, n.from_id, n.direction,
        n.relation, n.fact_id, n.edges
      from (
        select distinct on (g.to_id)
          g.*, count(*) over (partition by g.to_id) as edges
        from memory.edges_of_entities(v_tenant_id, v_front) as g
        where g.to_id <> all (v_visited)
        order by g.to_id, g.created_at desc, g.fact_id, g.from_id, g.direction, g.relation
      ) as n
      join memory.entities as e on e.tenant_id = v_tenant_id and e.id = n.to_id
      order by n.edges desc, n.created_at desc, n.to_id
      limit max_results + 1 - cardinality(v_visited)
    loop
      return next v_neighbor;
      v_next := v_next || v_neighbor.entity_id;
    end loop;
    exit when v_next = '{}';
    v_front := v_next;
    v_visited := v_visited || v_next;
  end loop;
end;
$$;

comment on function memory.entity_neighbors(uuid, integer, integer) is
'Entities around one: those that an active fact about it names as its object (outgoing) or that '
'name it (incoming), with the predicate as the relation, and those of facts that are linked to its '
'facts, with the relation of the link; then their neighbors, up to max_depth (1..5) steps away. '
'Each entity is returned once, at its smallest depth, with the newest edge that leads there, from '
'via_entity_id, and the number of edges from that depth; the nearest first, then those with the '
'most and newest edges. At most max_results (1..1000). No row for an unknown id. Errors: PM002.';
grant execute on function memory.entity_neighbors to memory_writer, memory_reader, memory_admin;

commit;
