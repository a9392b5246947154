-- Deploy pymem:functions/core/store/merge_entities to pg

begin;

set local role memory_owner;

create or replace function memory.lock_entity_pair(
  tenant_id text,
  first_id uuid,
  second_id uuid
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_missing uuid;
begin
  -- In order of id, whichever is the source, so that merges cannot deadlock. FOR UPDATE waits for
  -- stores of facts about these entities and blocks new ones.
  perform
  from memory.entities as e
  where e.tenant_id = lock_entity_pair.tenant_id and e.id in (first_id, second_id)
  order by e.id
  for update;

  select i.id into v_missing
  from unnest(array[first_id, second_id]) with ordinality as i (id, place)
  where i.id is null or not exists (
    select from memory.entities as e
    where e.tenant_id = lock_entity_pair.tenant_id and e.id = i.id
  )
  order by i.place
  limit 1;
  if found then
    raise exception 'no entity has id %', coalesce(v_missing::text, 'NULL')
      using errcode = 'PM001', hint = 'Find ids with memory.entity_resolve.';
  end if;
end;
$$;

comment on function memory.lock_entity_pair(text, uuid, uuid) is
'Locks two entities in order of id. Errors: PM001 no such entity.';

create or replace function memory.check_unmerged(
  source memory.entities,
  target memory.entities
)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_merged record;
begin
  select m.id, m.metadata ->> 'merged_into' as merged_into into v_merged
  from (values
    (1, (source).id, (source).metadata), (2, (target).id, (target).metadata)
  ) as m (place, id, metadata)
  where m.metadata ? 'merged_into'
  order by m.place
  limit 1;
  if found then
    raise exception 'entity % was already merged into %', v_merged.id, v_merged.merged_into
      using errcode = 'PM004', hint = 'Merge the entity it was merged into, or unmerge it first.';
  end if;
end;
$$;

comment on function memory.check_unmerged(memory.entities, memory.entities) is
'Refuses an entity that was merged away. Errors: PM004.';

create or replace function memory.added_names(
  source memory.entities,
  target memory.entities
)
  returns table (
    aliases text[],
    names text[]
  )
  language sql
  immutable
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    n.aliases,
    n.aliases || case
      when memory.fold_name((source).canonical_name) <> all (
        select memory.fold_name(t.name)
        from unnest((target).aliases || n.aliases || (target).canonical_name::text) as t (name)
      )
      then array[(source).canonical_name::text]
    end
  from (
    select array(
      select a.alias
      from unnest((source).aliases) with ordinality as a (alias, place)
      where memory.fold_name(a.alias) <> all (
        select memory.fold_name(t.name)
        from unnest((target).aliases || (target).canonical_name::text) as t (name)
      )
      order by a.place
    ) as aliases
  ) as n;
$$;

comment on function memory.added_names(memory.entities, memory.entities) is
'The aliases of the source of a merge that the target does not have, and these with the canonical '
'name of the source, if that is new too.';

-- Of two active facts of one key, the one with the higher confidence stays; the target wins a tie.
-- A winner keeps its predecessor. Where the loser once superseded the winner, which was restored
-- since, the two are a chain already.
create or replace function memory.merge_conflicts(
  tenant_id text,
  source_entity_id uuid,
  target_entity_id uuid,
  as_of timestamptz
)
  returns table (
    loser_id uuid,
    winner_id uuid,
    is_chained boolean
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    c.loser_id, c.winner_id,
    c.supersedes_id is null
    and not memory.comes_after(merge_conflicts.tenant_id, c.loser_id, c.winner_id)
  from memory.facts as s
  join memory.facts as t
    on t.tenant_id = merge_conflicts.tenant_id and t.entity_id = target_entity_id
      and t.validity = 'active' and t.scope = s.scope and t.predicate_key = s.predicate_key
      and t.planned_for is not distinct from s.planned_for
      and (t.valid_to <= as_of) is not true
  cross join lateral (
    select
      case when s.confidence > t.confidence then t.id else s.id end as loser_id,
      case when s.confidence > t.confidence then s.id else t.id end as winner_id,
      case when s.confidence > t.confidence then s.supersedes_id else t.supersedes_id end
        as supersedes_id
  ) as c
  where s.tenant_id = merge_conflicts.tenant_id and s.entity_id = source_entity_id
    and s.validity = 'active' and (s.valid_to <= as_of) is not true
  order by s.id;
$$;

comment on function memory.merge_conflicts(text, uuid, uuid, timestamptz) is
'The active facts of two entities that a merge would bring under one key: which is superseded, by '
'which, and whether the loser becomes the predecessor of the winner. What has ended at as_of '
'expires instead.';

create or replace function memory.entity_merge(
  source_entity_id uuid,
  target_entity_id uuid,
  as_of timestamptz default now()
)
  returns table (
    merge_id uuid,
    facts_repointed bigint,
    facts_superseded bigint,
    historical_facts_moved bigint,
    mentions_repointed bigint,
    aliases_added bigint
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_source memory.entities;
  v_target memory.entities;
  v_new_aliases text[];
  v_moved uuid[]; -- facts about the source
  v_objects uuid[]; -- facts whose object is the source
  v_losers uuid[];
  v_winners uuid[];
  v_is_chained boolean[]; -- whether the loser becomes the predecessor of the winner
begin
  if source_entity_id = target_entity_id then
    raise exception 'an entity cannot be merged into itself'
      using errcode = 'PM002', hint = 'Pass two different entities.';
  end if;
  perform memory.check_write_time('as_of', as_of);
  perform memory.lock_entity_pair(v_tenant_id, source_entity_id, target_entity_id);
  perform
    memory.check_after_creation(v_tenant_id, 'entity', e.id, as_of)
  from unnest(array[source_entity_id, target_entity_id]) as e (id);

  -- Read after the lock: another merge may have come first.
  select e.* into v_source
  from memory.entities as e
  where e.tenant_id = v_tenant_id and e.id = source_entity_id;
  select e.* into v_target
  from memory.entities as e
  where e.tenant_id = v_tenant_id and e.id = target_entity_id;
  perform memory.check_unmerged(v_source, v_target);

  select cardinality(n.aliases)::bigint, n.names into aliases_added, v_new_aliases
  from memory.added_names(v_source, v_target) as n;
  perform
    memory.read_aliases(v_target.aliases || v_new_aliases),
    memory.check_object('merged metadata', v_source.metadata || v_target.metadata);

  perform
  from memory.facts as f
  where f.tenant_id = v_tenant_id
    and (
      f.entity_id in (source_entity_id, target_entity_id)
      or f.object_entity_id = source_entity_id
    )
  order by f.id
  for no key update;

  v_moved := array(
    select f.id from memory.facts as f
    where f.tenant_id = v_tenant_id and f.entity_id = source_entity_id
    order by f.id
  );
  v_objects := array(
    select f.id from memory.facts as f
    where f.tenant_id = v_tenant_id and f.object_entity_id = source_entity_id
    order by f.id
  );
  select
    coalesce(array_agg(c.loser_id order by c.ordinality), '{}'),
    coalesce(array_agg(c.winner_id order by c.ordinality), '{}'),
    coalesce(array_agg(c.is_chained order by c.ordinality), '{}')
  into v_losers, v_winners, v_is_chained
  from memory.merge_conflicts(v_tenant_id, source_entity_id, target_entity_id, as_of)
    with ordinality as c;

  facts_superseded := cardinality(v_losers)::bigint;
  mentions_repointed := cardinality(v_objects)::bigint;
  select
    count(*) filter (where f.validity = 'active' and f.id <> all (v_losers || v_winners)),
    count(*) filter (where f.validity <> 'active')
  into facts_repointed, historical_facts_moved
  from memory.facts as f
  where f.tenant_id = v_tenant_id and f.entity_id = source_entity_id;

  update memory.entities as e
  set
    aliases = e.aliases || v_new_aliases,
    metadata = v_source.metadata || e.metadata,
    updated_at = memory.next_state_at(e.updated_at, as_of)
  where e.tenant_id = v_tenant_id and e.id = target_entity_id
  returning e.updated_at into v_target.updated_at;

  insert into memory.entity_merges as m (
    tenant_id, source_entity_id, target_entity_id, facts_repointed, facts_superseded,
    historical_facts_moved, mentions_repointed, aliases_added, target_state_at, merged_at
  )
  values (
    v_tenant_id, entity_merge.source_entity_id, entity_merge.target_entity_id, facts_repointed,
    facts_superseded, historical_facts_moved, mentions_repointed, aliases_added,
    v_target.updated_at, as_of
  )
  returning m.id into merge_id;

  -- What has ended of the target's expires first. Its entities are locked already, because its
  -- object can only be the source if it is updated again.
  perform memory.end_facts(
    v_tenant_id,
    array(
      select f.id
      from memory.facts as f
      where f.tenant_id = v_tenant_id and f.entity_id = entity_merge.target_entity_id
        and f.validity = 'active' and f.valid_to <= as_of
    ),
    as_of
  );
  -- Losers first, to free the keys of the target for the others. Each fact is updated once: the
  -- second update of a row in a transaction checks its foreign keys again, which would lock other
  -- entities while this one holds facts.
  update memory.facts as f
  set
    validity = 'superseded',
    entity_id = entity_merge.target_entity_id,
    object_entity_id = case
      when f.entity_id in (source_entity_id, target_entity_id)
        and f.object_entity_id in (source_entity_id, target_entity_id)
        and source_entity_id in (f.entity_id, f.object_entity_id)
      then null -- It would relate the entity to itself.
      when f.object_entity_id = source_entity_id then target_entity_id
      else f.object_entity_id
    end,
    metadata = f.metadata - 'status',
    valid_to = least(f.valid_to, greatest(f.valid_from, as_of)),
    updated_at = memory.next_state_at(f.updated_at, as_of)
  where f.tenant_id = v_tenant_id and f.id = any (v_losers);
  update memory.facts as f
  set
    entity_id = case
      when f.entity_id = source_entity_id then target_entity_id else f.entity_id
    end,
    object_entity_id = case
      when f.entity_id in (source_entity_id, target_entity_id)
        and f.object_entity_id in (source_entity_id, target_entity_id)
        and source_entity_id in (f.entity_id, f.object_entity_id)
      then null -- It would relate the entity to itself.
      when f.object_entity_id = source_entity_id then target_entity_id
      else f.object_entity_id
    end,
    supersedes_id = coalesce(o.loser_id, f.supersedes_id),
    validity = case
      when f.validity = 'active' and f.entity_id = source_entity_id and f.valid_to <= as_of
      then 'expired'
      else f.validity
    end,
    updated_at = memory.next_state_at(f.updated_at, as_of)
  from (
    select o.id, u.loser_id
    from memory.facts as o
    left join unnest(v_losers, v_winners, v_is_chained) as u (loser_id, winner_id, is_chained)
      on u.winner_id = o.id and u.is_chained
    where o.tenant_id = v_tenant_id
      and (
        o.entity_id = source_entity_id or o.object_entity_id = source_entity_id
        or o.id = any (v_winners) and u.loser_id is not null
      )
  ) as o
  where f.tenant_id = v_tenant_id and f.id = o.id;

  insert into memory.entity_merge_facts
    (tenant_id, merge_id, fact_id, change, state_at, winner_id, is_linked, is_chained)
  select
    v_tenant_id, entity_merge.merge_id, c.fact_id, c.change, f.updated_at, c.winner_id,
    c.is_linked, c.is_chained
  from (
    select u.fact_id, 'moved' as change, null::uuid as winner_id, null::boolean as is_linked,
      null::boolean as is_chained
    from unnest(v_moved) as u (fact_id)
    union all
    select u.fact_id, 'object', null, null, null
    from unnest(v_objects) as u (fact_id)
    union all
    select
      u.loser_id, 'superseded', u.winner_id,
      not exists (
        select from memory.memory_links as l
        where l.tenant_id = v_tenant_id and l.source_type = 'fact' and l.source_id = u.winner_id
          and l.target_type = 'fact' and l.target_id = u.loser_id
      ),
      u.is_chained
    from unnest(v_losers, v_winners, v_is_chained) as u (loser_id, winner_id, is_chained)
  ) as c
  join memory.facts as f on f.tenant_id = v_tenant_id and f.id = c.fact_id
  order by c.fact_id, c.change;

  insert into memory.memory_links
    (tenant_id, source_type, source_id, target_type, target_id, relation)
  select v_tenant_id, 'fact', u.winner_id, 'fact', u.loser_id, 'supersedes'
  from unnest(v_losers, v_winners) as u (loser_id, winner_id)
  order by u.winner_id, u.loser_id
  on conflict (tenant_id, source_type, source_id, target_type, target_id) do nothing;

  -- Last, because its event reports what the merge did.
  update memory.entities as e
  set
    metadata = e.metadata || jsonb_build_object('merged_into', entity_merge.target_entity_id),
    updated_at = memory.next_state_at(e.updated_at, as_of)
  where e.tenant_id = v_tenant_id and e.id = source_entity_id;
  return next;
end;
$$;

comment on function memory.entity_merge(uuid, uuid, timestamptz) is
'Merges an entity, the source, into another one, the target, because both are the same. Facts '
'about the source become facts about the target, and facts whose object is the source get the '
'target as their object; facts that relate the two to each other keep no object. Of two active '
'facts with the same scope and predicate, the one with the higher confidence stays and supersedes '
'the other; the target wins a tie. The target gets the names and metadata of the source but keeps '
'its own values; the source stays as a tombstone. Returns counts of what changed '
'(memory.entity_merges). Merges of the same entities wait for each other, in either direction. '
'Errors: PM001 no such entity, PM002 the same entity twice, or too many names or too much '
'metadata together, PM004 one of them was already merged away.';
grant execute on function memory.entity_merge to memory_writer;

create or replace function memory.entity_unmerge(
  entity_id uuid,
  as_of timestamptz default now()
)
  returns table (
    merge_id uuid,
    target_entity_id uuid,
    facts_returned bigint,
    facts_reactivated bigint,
    facts_kept bigint,
    mentions_returned bigint,
    aliases_removed bigint
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_merge memory.entity_merges;
  v_source memory.entities;
  v_target memory.entities;
  v_before jsonb; -- the target, before the merge
  v_names text[];
  v_facts uuid[]; -- what the merge changed
  v_moved uuid[]; -- facts about the source
  v_restored uuid[];
  v_is_restored boolean;
begin
  perform memory.check_write_time('as_of', as_of);
  -- The merge row names the target to lock; the second read, after the lock, confirms it.
  select m.* into v_merge
  from memory.entity_merges as m
  where m.tenant_id = v_tenant_id and m.source_entity_id = entity_unmerge.entity_id
    and m.unmerged_at is null;
  perform memory.lock_entity_pair(
    v_tenant_id, entity_unmerge.entity_id,
    coalesce(v_merge.target_entity_id, entity_unmerge.entity_id)
  );
  select m.* into v_merge
  from memory.entity_merges as m
  where m.tenant_id = v_tenant_id and m.id = v_merge.id and m.unmerged_at is null;
  if not found then
    raise exception 'entity % is not merged into another one', entity_unmerge.entity_id
      using errcode = 'PM004', hint = 'Pass the entity that was the source of the merge.';
  end if;
  select e.* into v_source
  from memory.entities as e
  where e.tenant_id = v_tenant_id and e.id = v_merge.source_entity_id;
  select e.* into v_target
  from memory.entities as e
  where e.tenant_id = v_tenant_id and e.id = v_merge.target_entity_id;
  if v_target.lifecycle_state = 'merged' then
    raise exception 'entity % was merged into % in turn',
      v_target.id, v_target.metadata ->> 'merged_into'
      using errcode = 'PM004', hint = format('Unmerge entity %s first.', v_target.id);
  end if;
  if as_of < v_merge.merged_at then
    raise exception 'as_of lies before the merge: %', as_of
      using errcode = 'PM002', hint = format('Pass %s or a later time.', v_merge.merged_at);
  end if;

  v_facts := array(
    select c.fact_id from memory.entity_merge_facts as c
    where c.tenant_id = v_tenant_id and c.merge_id = v_merge.id
    union
    select c.winner_id from memory.entity_merge_facts as c
    where c.tenant_id = v_tenant_id and c.merge_id = v_merge.id and c.winner_id is not null
    order by 1
  );
  v_moved := array(
    select c.fact_id from memory.entity_merge_facts as c
    where c.tenant_id = v_tenant_id and c.merge_id = v_merge.id and c.change = 'moved'
    order by c.fact_id
  );
  perform
  from memory.facts as f
  where f.tenant_id = v_tenant_id and f.id = any (v_facts)
  order by f.id
  for no key update;

  -- Superseded facts become active again if nothing has happened to them since and no other fact is
  -- active under the key to which they return.
  v_restored := array(
    select f.id
    from memory.entity_merge_facts as c
    join memory.facts as f on f.tenant_id = v_tenant_id and f.id = c.fact_id
    where c.tenant_id = v_tenant_id and c.merge_id = v_merge.id and c.change = 'superseded'
      and f.updated_at = c.state_at and f.validity = 'superseded'
      and not exists (
        select from memory.facts as a
        where a.tenant_id = v_tenant_id and a.entity_id in (v_source.id, v_target.id)
          and a.scope = f.scope and a.predicate_key = f.predicate_key
          and a.planned_for is not distinct from f.planned_for and a.validity = 'active'
          -- Both about the source then, or both about the target.
          and (a.entity_id = v_source.id or a.id = any (v_moved)) = (f.id = any (v_moved))
      )
    order by f.id
  );
  facts_reactivated := cardinality(v_restored)::bigint;
  select count(*) - facts_reactivated into facts_kept
  from memory.entity_merge_facts as c
  where c.tenant_id = v_tenant_id and c.merge_id = v_merge.id and c.change = 'superseded';

  -- Facts that the merge moved go back, last those that become active again, because their keys are
  -- free only then. Each fact is updated once, as in memory.entity_merge.
  facts_returned := 0::bigint;
  mentions_returned := 0::bigint;
  foreach v_is_restored in array '{false,true}'::boolean [] loop
    with going as (
      select
        c.fact_id,
        bool_or(c.change = 'moved') as is_moved,
        bool_or(c.change = 'object') as is_object,
        max(c.state_at) as state_at
      from memory.entity_merge_facts as c
      where c.tenant_id = v_tenant_id and c.merge_id = v_merge.id
      group by c.fact_id
    ),
    undone as (
      select
        f.id,
        coalesce(g.is_moved and f.entity_id = v_target.id, false) as is_moved,
        coalesce(
          g.is_object
          and (
            f.object_entity_id = v_target.id
            or f.object_entity_id is null and b.image ->> 'object_entity_id' is not null
          ),
          false
        ) as is_object,
        exists (
          select from memory.entity_merge_facts as c
          where c.tenant_id = v_tenant_id and c.merge_id = v_merge.id and c.is_chained
            and c.fact_id = any (v_restored) and c.winner_id = f.id and c.fact_id = f.supersedes_id
        ) as is_unchained,
        b.image
      from memory.facts as f
      left join going as g on g.fact_id = f.id
      left join memory.memory_history as b -- before the merge
        on b.tenant_id = v_tenant_id and b.memory_type = 'fact' and b.memory_id = f.id
          and b.known_to = g.state_at
      where f.tenant_id = v_tenant_id and f.id = any (v_facts)
        and (f.id = any (v_restored)) = v_is_restored
    ),
    returned as (
      update memory.facts as f
      set
        entity_id = case when u.is_moved then v_source.id else f.entity_id end,
        object_entity_id = case
          when u.is_object and f.object_entity_id = v_target.id then v_source.id
          -- What it was about may have been erased since.
          when f.object_entity_id is null and (u.is_moved or u.is_object) then (
            select e.id
            from memory.entities as e
            where e.tenant_id = v_tenant_id and e.id = (u.image ->> 'object_entity_id')::uuid
          )
          else f.object_entity_id
        end,
        supersedes_id = case when not u.is_unchained then f.supersedes_id end,
        validity = case when v_is_restored then 'active' else f.validity end,
        metadata = case when v_is_restored then u.image -> 'metadata' else f.metadata end,
        valid_to = case
          when v_is_restored then (u.image ->> 'valid_to')::timestamptz else f.valid_to
        end,
        updated_at = memory.next_state_at(f.updated_at, as_of)
      from undone as u
      where f.tenant_id = v_tenant_id and f.id = u.id
        and (u.is_moved or u.is_object or u.is_unchained or v_is_restored)
      returning u.is_moved, u.is_object
    )
    select
      facts_returned + count(*) filter (where r.is_moved),
      mentions_returned + count(*) filter (where r.is_object)
    into facts_returned, mentions_returned
    from returned as r;
  end loop;

  delete from memory.memory_links as l
  using memory.entity_merge_facts as c
  where c.tenant_id = v_tenant_id and c.merge_id = v_merge.id and c.is_linked
    and c.fact_id = any (v_restored)
    and l.tenant_id = v_tenant_id and l.source_type = 'fact' and l.source_id = c.winner_id
    and l.target_type = 'fact' and l.target_id = c.fact_id and l.relation = 'supersedes';

  select h.image into v_before
  from memory.memory_history as h
  where h.tenant_id = v_tenant_id and h.memory_type = 'entity' and h.memory_id = v_target.id
    and h.known_to = v_merge.target_state_at;
  -- Names that the target had before the merge stay.
  v_names := array(
    select memory.fold_name(n.name)
    from unnest(v_source.aliases || v_source.canonical_name::text) as n (name)
    except
    select memory.fold_name(o.name)
    from jsonb_array_elements_text(
      (v_before -> 'aliases') || jsonb_build_array(v_before -> 'canonical_name')
    ) as o (name)
  );
  aliases_removed := (
    select count(*) from unnest(v_target.aliases) as a (alias)
    where memory.fold_name(a.alias) = any (v_names)
  );
  update memory.entities as e
  set
    aliases = array(
      select a.alias
      from unnest(e.aliases) with ordinality as a (alias, place)
      where memory.fold_name(a.alias) <> all (v_names)
      order by a.place
    ),
    metadata = e.metadata - array(
      select k.key
      from jsonb_each(v_source.metadata) as k
      where not v_before -> 'metadata' ? k.key and e.metadata -> k.key = k.value
    ),
    updated_at = memory.next_state_at(e.updated_at, as_of)
  where e.tenant_id = v_tenant_id and e.id = v_target.id;

  update memory.entity_merges as m
  set unmerged_at = as_of
  where m.tenant_id = v_tenant_id and m.id = v_merge.id;
  update memory.entities as e
  set
    metadata = e.metadata - 'merged_into',
    updated_at = memory.next_state_at(e.updated_at, as_of)
  where e.tenant_id = v_tenant_id and e.id = v_source.id;

  merge_id := v_merge.id;
  target_entity_id := v_target.id;
  return next;
end;
$$;

comment on function memory.entity_unmerge(uuid, timestamptz) is
'Undoes a merge: its source becomes an entity of its own again. Facts that the merge moved return '
'to it (facts_returned), as do facts whose object it was. Superseded facts become active again '
'with their earlier values, unless they or their key have changed since (facts_kept). The target '
'loses the names and metadata that it had only from the source, and keeps what was stored about it '
'since. Errors: PM001 no such entity, PM002 a time before the merge, PM004 it is not merged, or '
'its target was merged away as well.';
grant execute on function memory.entity_unmerge to memory_writer;

commit;
