-- Deploy pymem:functions/extras/entries/consolidate_entries to pg

begin;

set local role memory_owner;

create or replace function memory.signs_of(embedding vector)
  returns bit
  language sql
  immutable
  strict
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select (
    binary_quantize(p.direction) || binary_quantize(
      (subvector(p.pairs, 1, 96) + subvector(p.pairs, 97, 96))
      || (subvector(p.pairs, 1, 96) - subvector(p.pairs, 97, 96))
      || (subvector(p.pairs, 193, 96) + subvector(p.pairs, 289, 96))
      || (subvector(p.pairs, 193, 96) - subvector(p.pairs, 289, 96))
    )
  )::bit(768)
  from (
    select
      d.direction,
      (subvector(d.direction, 1, 192) + subvector(d.direction, 193, 192))
      || (subvector(d.direction, 1, 192) - subvector(d.direction, 193, 192)) as pairs
    -- Reads the vector from out-of-line storage once.
    from (select l2_normalize(embedding) as direction offset 0) as d
    offset 0
  ) as p;
$$;

comment on function memory.signs_of(vector) is
'On which side of 768 planes through the origin a vector lies: of the axes, and of sums of four '
'of them. Two vectors lie on different sides of a plane with a probability of their angle / 180 '
'degrees.';

create or replace function memory.refresh_entry_comparisons(
  tenant_id text,
  as_of timestamptz
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
  set enable_nestloop = off -- without statistics of a new table, it would read one for each row
  set enable_mergejoin = off
  set work_mem = '64MB'
  set jit = off
as $$
#variable_conflict use_column
declare
  v_policy text := coalesce(
    (
      select p.policy
      from memory.entry_policies as p
      where p.tenant_id = refresh_entry_comparisons.tenant_id and p.scope = '*'
    ),
    'meridian'
  );
begin
  -- In the order of ids: of two runs at once, one waits here for the other. Without those that are
  -- being deleted.
  insert into memory.entry_comparisons as c
    (tenant_id, entry_id, version, embedding_version_id, group_key, text_key, signs)
  select
    e.tenant_id, e.id, e.version, e.embedding_version_id,
    md5(
      jsonb_build_array(e.scope, e.user_id, e.persona_id, e.session_id, e.entry_type)::text
    )::uuid,
    md5(lower(memory.collapse_whitespace(e.content)))::uuid,
    memory.signs_of(e.embedding)
  from memory.entries as e
  left join memory.entry_comparisons as o on o.tenant_id = e.tenant_id and o.entry_id = e.id
  left join memory.entry_policies as p on p.tenant_id = e.tenant_id and p.scope = e.scope
  where e.tenant_id = refresh_entry_comparisons.tenant_id
    and e.lifecycle_state = 'active' and e.policy = 'meridian'
    and (e.expires_at is null or e.expires_at > as_of)
    and coalesce(p.policy, v_policy) = 'meridian'
    and (o.version, o.embedding_version_id) is distinct from (e.version, e.embedding_version_id)
  order by e.id
  for key share of e skip locked
  on conflict (tenant_id, entry_id) do update
  set
    version = excluded.version,
    embedding_version_id = excluded.embedding_version_id,
    group_key = excluded.group_key,
    text_key = excluded.text_key,
    signs = excluded.signs,
    compared_at = null
  where (c.version, c.embedding_version_id)
    is distinct from (excluded.version, excluded.embedding_version_id);

  delete from memory.entry_comparisons as c
  using (
    select o.entry_id
    from memory.entry_comparisons as o
    join memory.entries as e on e.tenant_id = o.tenant_id and e.id = o.entry_id
    left join memory.entry_policies as p on p.tenant_id = e.tenant_id and p.scope = e.scope
    where o.tenant_id = refresh_entry_comparisons.tenant_id
      and (
        e.lifecycle_state <> 'active' or e.expires_at <= as_of
        or coalesce(p.policy, v_policy) <> 'meridian'
      )
    order by o.entry_id
    for no key update of o skip locked
  ) as g
  where c.tenant_id = refresh_entry_comparisons.tenant_id and c.entry_id = g.entry_id;

  -- Of equal texts, one is compared: one with a vector, rather one that has been compared before.
  update memory.entry_comparisons as c
  set is_copy = not c.is_copy
  from (
    select
      o.entry_id, o.is_copy,
      row_number() over (
        partition by o.group_key, o.text_key
        order by o.embedding_version_id is null, o.compared_at is null, o.entry_id
      ) > 1 as should_be_copy
    from memory.entry_comparisons as o
    where o.tenant_id = refresh_entry_comparisons.tenant_id
  ) as s
  where c.tenant_id = refresh_entry_comparisons.tenant_id and c.entry_id = s.entry_id
    and s.is_copy <> s.should_be_copy;
end;
$$;

comment on function memory.refresh_entry_comparisons(text, timestamptz) is
'Makes the live entries of policy meridian, and no others, those of memory.entry_comparisons; '
'new and changed ones, and those with a new vector, wait.';

create or replace function memory.find_similar_entries(
  tenant_id text,
  waiting uuid[],
  min_similarity float8,
  max_comparisons bigint default 10000000
)
  returns table (
    one_id uuid,
    other_id uuid,
    similarity float8
  )
  language plpgsql
  stable
  rows 100
  set search_path = pg_catalog, memory, public, pg_temp
  set enable_nestloop = off
  set enable_mergejoin = off
  set work_mem = '64MB'
  set jit = off
as $$
#variable_conflict use_column
declare
  v_comparisons numeric;
  v_ones uuid[] := array[]::uuid[];
  v_others uuid[] := array[]::uuid[];
begin
  select sum(g.waiting * g.size) into v_comparisons
  from (
    select count(w.id) as waiting, count(*)::numeric as size
    from memory.entry_comparisons as c
    left join unnest(waiting) as w (id) on w.id = c.entry_id
    where c.tenant_id = find_similar_entries.tenant_id and not c.is_copy
      and c.embedding_version_id is not null
    group by c.group_key
  ) as g;

  if v_comparisons <= max_comparisons then
    return query
    with waiting_vectors as materialized (
      select c.entry_id, c.group_key, l2_normalize(e.embedding) as direction
      from memory.entry_comparisons as c
      join memory.entries as e
        on e.tenant_id = find_similar_entries.tenant_id and e.id = c.entry_id
      where c.tenant_id = find_similar_entries.tenant_id and c.entry_id = any (waiting)
        and not c.is_copy and e.embedding is not null
    )
    select o.entry_id, t.entry_id, least(-(o.direction <#> t.direction), 1.0)
    from (
      -- Normalized once for each entry, not once for each pair.
      select
        c.entry_id, c.group_key, w.entry_id is not null as is_waiting,
        l2_normalize(e.embedding) as direction
      from memory.entry_comparisons as c
      join memory.entries as e
        on e.tenant_id = find_similar_entries.tenant_id and e.id = c.entry_id
      left join waiting_vectors as w on w.entry_id = c.entry_id
      where c.tenant_id = find_similar_entries.tenant_id and not c.is_copy
        and e.embedding is not null
        and c.group_key in (select g.group_key from waiting_vectors as g)
      offset 0
    ) as t
    join waiting_vectors as o on o.group_key = t.group_key
    where (not t.is_waiting or o.entry_id < t.entry_id)
      and (o.direction <#> t.direction) <= -min_similarity;
    return;
  end if;

  -- Too many to compare each with each. Candidates are those whose 18 signs agree in one of 42 rows
  -- of planes: 0.97 of the pairs with a similarity of 0.92, 0.999 of those with 0.95, and one in
  -- 10,000 of others. Of 768 signs of a pair with 0.92, 98 differ, and hardly ever 160.
  for v_row in 0 .. 41 loop
    select
      v_ones || coalesce(array_agg(m.one_id), '{}'),
      v_others || coalesce(array_agg(m.other_id), '{}')
    into v_ones, v_others
    from (
      select o.entry_id as one_id, t.entry_id as other_id
      from memory.entry_comparisons as o
      join memory.entry_comparisons as t
        on t.group_key = o.group_key
          and substring(t.signs from v_row * 18 + 1 for 18)::bit(18)::integer
            = substring(o.signs from v_row * 18 + 1 for 18)::bit(18)::integer
      where o.tenant_id = find_similar_entries.tenant_id
        and t.tenant_id = find_similar_entries.tenant_id
        and not o.is_copy and not t.is_copy
        and o.compared_at is null and (t.compared_at is not null or o.entry_id < t.entry_id)
        and bit_count(o.signs # t.signs)
          < greatest(160, 768 * acos(min_similarity) / pi() + 62)
    ) as m;
  end loop;
  return query
  select c.one_id, c.other_id, s.similarity
  from (
    select distinct u.one_id, u.other_id from unnest(v_ones, v_others) as u (one_id, other_id)
  ) as c
  join memory.entries as o on o.tenant_id = find_similar_entries.tenant_id and o.id = c.one_id
  join memory.entries as t on t.tenant_id = find_similar_entries.tenant_id and t.id = c.other_id
  cross join lateral (select least(1 - (o.embedding <=> t.embedding), 1.0) as similarity) as s
  where s.similarity >= min_similarity;
end;
$$;

comment on function memory.find_similar_entries(text, uuid[], float8, bigint) is
'Pairs of live entries of a group (memory.entry_comparisons) whose vectors have at least this '
'cosine similarity and of which at least one is waiting; of entries with equal texts, only one. '
'Exact up to max_comparisons; beyond that, pairs are looked for among candidates, so that some '
'close to min_similarity are missed, but none is returned that is not similar.';

create or replace function memory.cluster_entries(
  tenant_id text,
  waiting uuid[],
  min_similarity float8
)
  returns table (
    cluster integer,
    place bigint,
    id uuid,
    version integer,
    similarity float8
  )
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set enable_nestloop = off -- arrays have no statistics: it would compare each row with each
  set enable_mergejoin = off
  set work_mem = '64MB'
  set jit = off
as $$
#variable_conflict use_column
declare
  v_ones uuid[];
  v_others uuid[];
  v_similarities float8[];
  v_ids uuid[];
  v_contents text[];
  v_groups uuid[];
  v_texts uuid[];
  v_pair record;
  v_centers integer[];
  v_nearness float8[];
begin
  select
    array_agg(s.one_id order by s.one_id, s.other_id),
    array_agg(s.other_id order by s.one_id, s.other_id),
    array_agg(s.similarity order by s.one_id, s.other_id)
  into v_ones, v_others, v_similarities
  from memory.find_similar_entries(tenant_id, waiting, min_similarity) as s;

  select array_agg(e.id order by e.id), array_agg(e.content order by e.id)
  into v_ids, v_contents
  from (select u.id from unnest(v_ones || v_others) as u (id) group by u.id) as i
  join memory.entries as e on e.tenant_id = cluster_entries.tenant_id and e.id = i.id;
  with ends as materialized (
    select e.id, e.content, m.marks, memory.telling_names(e.content) as names
    from unnest(v_ids, v_contents) with ordinality as e (id, content, place)
    join memory.telling_marks(v_contents) as m on m.place = e.place
  )
  select
    array_agg(p.one_id order by p.one_id, p.other_id),
    array_agg(p.other_id order by p.one_id, p.other_id),
    array_agg(p.similarity order by p.one_id, p.other_id)
  into v_ones, v_others, v_similarities
  from unnest(v_ones, v_others, v_similarities) as p (one_id, other_id, similarity)
  join ends as o on o.id = p.one_id
  join ends as t on t.id = p.other_id
  where o.marks = t.marks
    and not (
      memory.lacks_names(o.names, t.content) and memory.lacks_names(t.names, o.content)
    );

  -- The nodes are texts, in the order of the best entry of each. A text is similar to another, or
  -- is there twice.
  select
    array_agg(n.group_key order by n.position), array_agg(n.text_key order by n.position)
  into v_groups, v_texts
  from (
    select
      c.group_key, c.text_key,
      row_number() over (
        order by max(e.confidence) desc, max(e.edited_at) desc, c.group_key, c.text_key
      ) as position
    from (
      select o.group_key, o.text_key
      from unnest(v_ones || v_others) as u (id)
      join memory.entry_comparisons as o
        on o.tenant_id = cluster_entries.tenant_id and o.entry_id = u.id
      union
      select w.group_key, w.text_key
      from unnest(waiting) as u (id)
      join memory.entry_comparisons as w
        on w.tenant_id = cluster_entries.tenant_id and w.entry_id = u.id
      join memory.entry_comparisons as o
        on o.tenant_id = w.tenant_id and o.group_key = w.group_key and o.text_key = w.text_key
          and o.entry_id <> w.entry_id
    ) as k
    join memory.entry_comparisons as c
      on c.tenant_id = cluster_entries.tenant_id
        and c.group_key = k.group_key and c.text_key = k.text_key
    join memory.entries as e on e.tenant_id = c.tenant_id and e.id = c.entry_id
    group by c.group_key, c.text_key
  ) as n;
  if v_groups is null then
    return;
  end if;

  -- Each text that no better one has taken takes all similar ones that are left: all of a cluster
  -- are similar to its center.
  v_centers := array_fill(0, array[cardinality(v_groups)]);
  v_nearness := array_fill(1.0::float8, array[cardinality(v_groups)]);
  for v_pair in
    with nodes as materialized (
      select c.entry_id, n.position::integer as position
      from unnest(v_groups, v_texts) with ordinality as n (group_key, text_key, position)
      join memory.entry_comparisons as c
        on c.tenant_id = cluster_entries.tenant_id
          and c.group_key = n.group_key and c.text_key = n.text_key
    )
    select
      least(o.position, t.position) as better, greatest(o.position, t.position) as other,
      max(p.similarity) as similarity
    from unnest(v_ones, v_others, v_similarities) as p (one_id, other_id, similarity)
    join nodes as o on o.entry_id = p.one_id
    join nodes as t on t.entry_id = p.other_id
    group by 1, 2
    order by 1, 2
  loop
    if v_centers[v_pair.better] in (0, v_pair.better) and v_centers[v_pair.other] = 0 then
      v_centers[v_pair.better] := v_pair.better;
      v_centers[v_pair.other] := v_pair.better;
      v_nearness[v_pair.other] := v_pair.similarity;
    end if;
  end loop;

  return query
  with members as (
    select
      case n.center when 0 then n.position::integer else n.center end as cluster,
      n.position, e.id, e.version, e.confidence, e.edited_at, n.similarity,
      octet_length(e.content) + 64 as octets, md5(e.content) as hash
    from unnest(v_groups, v_texts, v_centers, v_nearness) with ordinality
      as n (group_key, text_key, center, similarity, position)
    join memory.entry_comparisons as c
      on c.tenant_id = cluster_entries.tenant_id
        and c.group_key = n.group_key and c.text_key = n.text_key
    join memory.entries as e
      on e.tenant_id = c.tenant_id and e.id = c.entry_id and e.version = c.version
  ),
  placed as (
    select
      m.*,
      row_number() over (
        partition by m.cluster order by m.position, m.confidence desc, m.edited_at desc, m.id
      ) as place,
      row_number() over (
        partition by m.cluster, m.hash
        order by m.position, m.confidence desc, m.edited_at desc, m.id
      ) as copy
    from members as m
  ),
  measured as (
    select
      p.*,
      sum(case p.copy when 1 then p.octets else 0 end) over (
        partition by p.cluster order by p.place
      ) as octets_so_far
    from placed as p
  ),
  fitting as (
    select m.*, count(*) over (partition by m.cluster) as size
    from measured as m
    where m.octets_so_far <= 524288 or m.place = 1 -- one entry has to hold them
  )
  select f.cluster, f.place, f.id, f.version, f.similarity
  from fitting as f
  where f.size > 1
  order by f.cluster, f.place;
end;
$$;

comment on function memory.cluster_entries(text, uuid[], float8) is
'Clusters of live entries that say the same, of which at least one waited: in each, the entry '
'with the highest confidence, of several the one edited last, is the center (place 1), and the '
'others are similar to it, with the same numbers, dates, denials and names '
'(memory.telling_marks, memory.telling_names), or have its text. No entry is in two. Texts of '
'more than 512 KiB together are not merged.';

create or replace function memory.take_waiting_entries(
  tenant_id text,
  max_entries integer,
  dry_run boolean
)
  returns uuid[]
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_id uuid;
  v_ids uuid[] := array[]::uuid[];
begin
  if dry_run then
    return array(
      select c.entry_id
      from memory.entry_comparisons as c
      where c.tenant_id = take_waiting_entries.tenant_id and c.compared_at is null
      order by c.entry_id
      limit max_entries
    );
  end if;
  -- A loop: plpgsql_check takes a subquery for one that changes nothing, locks included.
  for v_id in
    select c.entry_id
    from memory.entry_comparisons as c
    where c.tenant_id = take_waiting_entries.tenant_id and c.compared_at is null
    order by c.entry_id
    limit max_entries
    for no key update skip locked
  loop
    v_ids := v_ids || v_id;
  end loop;
  return v_ids;
end;
$$;

comment on function memory.take_waiting_entries(text, integer, boolean) is
'Entries that wait to be compared, locked against another run unless this one is dry.';

create or replace function memory.unite_labels(labels jsonb)
  returns jsonb
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(jsonb_agg(s.label order by s.place) filter (where s.octets <= 16000), '[]')
  from (
    select
      u.label, u.place,
      sum(octet_length(to_json(u.label)::text) + 2) over (order by u.place) as octets
    from (
      select l.label, min(array[a.place, l.place]) as place
      from jsonb_array_elements(labels) with ordinality as a (list, place)
      cross join lateral jsonb_array_elements_text(a.list) with ordinality as l (label, place)
      group by l.label
    ) as u
  ) as s;
$$;

comment on function memory.unite_labels(jsonb) is
'The labels of several lists (a JSON array of arrays), each once, in order, as far as one entry '
'can hold them (16 KiB).';

create or replace function memory.merge_cluster_links(
  tenant_id text,
  merged_ids uuid[],
  member_ids uuid[]
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with members as materialized (
    select m.merged_id, m.member_id
    from unnest(merged_ids, member_ids) as m (merged_id, member_id)
  ),
  wanted as (
    select
      'entry' as source_type, m.merged_id as source_id, 'entry' as target_type,
      m.member_id as target_id, 'supersedes' as relation
    from members as m
    union all
    select 'entry', m.merged_id, l.target_type, coalesce(o.merged_id, l.target_id), l.relation
    from members as m
    join memory.memory_links as l
      on l.tenant_id = merge_cluster_links.tenant_id
        and l.source_type = 'entry' and l.source_id = m.member_id
    left join members as o on l.target_type = 'entry' and o.member_id = l.target_id
    where l.relation <> 'supersedes'
    union all
    select l.source_type, coalesce(o.merged_id, l.source_id), 'entry', m.merged_id, l.relation
    from members as m
    join memory.memory_links as l
      on l.tenant_id = merge_cluster_links.tenant_id
        and l.target_type = 'entry' and l.target_id = m.member_id
    left join members as o on l.source_type = 'entry' and o.member_id = l.source_id
    where l.relation not in ('supersedes', 'derived_from')
  )
  insert into memory.memory_links
    (tenant_id, source_type, source_id, target_type, target_id, relation)
  select distinct on (w.source_type, w.source_id, w.target_type, w.target_id)
    merge_cluster_links.tenant_id, w.source_type, w.source_id, w.target_type, w.target_id,
    w.relation
  from wanted as w
  where w.source_id <> w.target_id
    and (
      w.relation = 'supersedes'
      -- An end that has been deleted since cannot be linked again.
      or memory.created_at_of(
        merge_cluster_links.tenant_id, w.source_type, w.source_id
      ) is not null
      and memory.created_at_of(
        merge_cluster_links.tenant_id, w.target_type, w.target_id
      ) is not null
    )
  order by
    w.source_type, w.source_id, w.target_type, w.target_id,
    array_position(
      '{supersedes,contradicts,derived_from,supports,related_to}'::text[], w.relation
    )
  on conflict (tenant_id, source_type, source_id, target_type, target_id) do nothing;
$$;

comment on function memory.merge_cluster_links(text, uuid[], uuid[]) is
'Links each merged entry to its members, which it supersedes, and as they were linked to others: '
'what they are related to, support, contradict or are derived from, and what is related to, '
'supports or contradicts them. Of several relations to one memory, the weightiest counts: '
'contradicts, derived_from, supports, related_to.';

create or replace function memory.is_doubtful(entry memory.entries, as_of timestamptz)
  returns boolean
  language sql
  immutable
  parallel safe
  return (entry).lifecycle_state in ('active', 'aged') and (entry).policy = 'meridian'
    and memory.confidence_tier((entry).confidence) = 'last_resort' and (entry).flagged_at is null
    and (entry).last_confirmed_at <= greatest((entry).created_at, (entry).edited_at)
    and (entry).created_at <= as_of;

comment on function memory.is_doubtful(memory.entries, timestamptz) is
'Whether an active or aged entry has a confidence below 0.5 and was neither flagged nor, since its '
'last edit, reviewed, which is to say confirmed.';

create or replace function memory.flag_doubtful_entries(
  tenant_id text,
  as_of timestamptz
)
  returns bigint
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_flagged bigint;
begin
  with due as (
    select e.id
    from memory.entries as e
    where e.tenant_id = flag_doubtful_entries.tenant_id
      and memory.is_doubtful(e, flag_doubtful_entries.as_of)
    order by e.id
    limit 1000
    for no key update skip locked
  )
  update memory.entries as e
  set flagged_at = as_of, updated_at = memory.next_state_at(e.updated_at, as_of)
  from due as d
  where e.tenant_id = flag_doubtful_entries.tenant_id and e.id = d.id;
  get diagnostics v_flagged = row_count;
  return v_flagged;
end;
$$;

comment on function memory.flag_doubtful_entries(text, timestamptz) is
'Flags doubtful entries (memory.is_doubtful) for review, at most 1000 at a time, and returns how '
'many.';

create or replace function memory.run_entry_consolidation(
  cause text,
  min_similarity float8,
  max_entries integer,
  dry_run boolean,
  as_of timestamptz
)
  returns table (
    run_id uuid,
    examined integer,
    clusters integer,
    merged integer,
    created integer,
    flagged integer,
    archived integer
  )
  language plpgsql
  volatile
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_waiting uuid[];
  v_clusters integer[];
  v_places bigint[];
  v_ids uuid[];
  v_versions integer[];
  v_similarities float8[];
  v_locked uuid[];
  v_skipped uuid[];
  v_merged_ids uuid[];
  v_active_id uuid;
begin
  perform memory.refresh_entry_comparisons(v_tenant_id, as_of);
  v_waiting := memory.take_waiting_entries(v_tenant_id, max_entries, dry_run);
  examined := cardinality(v_waiting);
  select
    array_agg(c.cluster order by c.cluster, c.place),
    array_agg(c.place order by c.cluster, c.place),
    array_agg(c.id order by c.cluster, c.place), array_agg(c.version order by c.cluster, c.place),
    array_agg(c.similarity order by c.cluster, c.place),
    count(distinct c.cluster)::integer
  into v_clusters, v_places, v_ids, v_versions, v_similarities, clusters
  from memory.cluster_entries(v_tenant_id, v_waiting, min_similarity) as c;
  if dry_run then
    merged := coalesce(cardinality(v_ids), 0);
    created := clusters;
    select
      count(*) filter (where memory.is_doubtful(e, as_of))::integer,
      count(*) filter (
        where e.lifecycle_state in ('active', 'aged')
          and memory.band_of_entry(e.retention, e.edited_at, e.last_confirmed_at, as_of)
            = 'archived'
      )::integer
    into flagged, archived
    from memory.entries as e
    where e.tenant_id = v_tenant_id and e.policy = 'meridian';
    flagged := least(flagged, 1000);
    return next;
    return;
  end if;

  -- An entry that is being changed keeps its cluster waiting for the next run.
  v_locked := array(
    select e.id
    from unnest(v_ids, v_versions) as m (id, version)
    join memory.entries as e
      on e.tenant_id = v_tenant_id and e.id = m.id and e.version = m.version
        and e.lifecycle_state = 'active'
    order by e.id
    for no key update of e skip locked
  );
  select array_agg(m.id) into v_skipped
  from unnest(v_clusters, v_ids) as m (cluster, id)
  where m.cluster in (
    select u.cluster
    from unnest(v_clusters, v_ids) as u (cluster, id)
    where u.id <> all (v_locked)
  );
  -- The merged entry of each member of the clusters that are left.
  select
    array_agg(n.merged_id order by m.cluster, m.place), array_agg(m.id order by m.cluster, m.place),
    array_agg(m.place order by m.cluster, m.place),
    array_agg(m.similarity order by m.cluster, m.place),
    count(*)::integer, count(distinct m.cluster)::integer
  into v_merged_ids, v_ids, v_places, v_similarities, merged, created
  from unnest(v_clusters, v_places, v_ids, v_similarities) as m (cluster, place, id, similarity)
  join (
    select u.cluster, gen_random_uuid() as merged_id
    from unnest(v_clusters) as u (cluster)
    group by u.cluster
  ) as n on n.cluster = m.cluster
  where m.id <> all (coalesce(v_skipped, '{}'));

  if created > 0 then
    -- A merged entry with the text of its center has its vector too, unless the model changes.
    select v.id into v_active_id
    from memory.embedding_versions as v
    where v.tenant_id = v_tenant_id and v.status = 'active'
    for key share;
    insert into memory.entries (
      tenant_id, id, entry_id, content, entry_type, category, tags, keywords, importance,
      confidence,
      source, trust, scope, user_id, persona_id, session_id, expires_at, metadata,
      reference_count, last_referenced_at, embedding, embedding_version_id, text_search_config,
      created_at, edited_at
    )
    select
      v_tenant_id, c.merged_id, memory.next_entry_id(v_tenant_id, as_of), c.content,
      b.entry_type, c.category, c.tags, c.keywords, c.importance, c.confidence, 'derived', c.trust,
      b.scope, b.user_id, b.persona_id, b.session_id, c.expires_at,
      case when octet_length(c.metadata::text) <= 65536 then c.metadata else b.metadata end,
      c.reference_count, c.last_referenced_at,
      case when c.content = b.content and b.embedding_version_id = v_active_id then b.embedding end,
      case
        when c.content = b.content and b.embedding_version_id = v_active_id
        then b.embedding_version_id
      end,
      memory.text_search_config_of(v_tenant_id), as_of, as_of
    from (
      select
        m.merged_id,
        (array_agg(m.id order by m.place))[1] as best_id,
        memory.merge_contents(
          array_agg(e.content order by m.place), array_agg(e.entry_id order by m.place)
        ) as content,
        (array_agg(e.category order by m.place) filter (where e.category is not null))[1]
        as category,
        memory.unite_labels(jsonb_agg(e.tags order by m.place)) as tags,
        memory.unite_labels(jsonb_agg(e.keywords order by m.place)) as keywords,
        max(e.importance) as importance,
        memory.merged_confidence(max(e.confidence)) as confidence,
        (array_agg(e.trust order by memory.trust_rank(e.trust)))[1] as trust,
        case when count(*) = count(e.expires_at) then max(e.expires_at) end as expires_at,
        (
          select coalesce(jsonb_object_agg(k.key, k.value order by o.place desc), '{}')
          from unnest(array_agg(e.metadata order by m.place)) with ordinality as o (metadata, place)
          cross join lateral jsonb_each(o.metadata) as k
        ) as metadata,
        max(e.reference_count) as reference_count,
        max(e.last_referenced_at) as last_referenced_at
      from unnest(v_merged_ids, v_ids, v_places) as m (merged_id, id, place)
      join memory.entries as e on e.tenant_id = v_tenant_id and e.id = m.id
      group by m.merged_id
    ) as c
    join memory.entries as b on b.tenant_id = v_tenant_id and b.id = c.best_id
    order by b.entry_id;
    perform memory.merge_cluster_links(v_tenant_id, v_merged_ids, v_ids);
  end if;

  flagged := memory.flag_doubtful_entries(v_tenant_id, as_of)::integer;
  archived := (select a.archived::integer from memory.age_entries(v_tenant_id, as_of) as a);
  insert into memory.entry_consolidations as r
    (tenant_id, cause, finished_at, examined, merged, created, flagged, archived)
  values (
    v_tenant_id, run_entry_consolidation.cause, as_of, examined, merged, created, flagged, archived
  )
  returning r.id into run_id;

  insert into memory.entry_merges (tenant_id, merged_id, consolidation_id, merged_at)
  select v_tenant_id, u.merged_id, run_entry_consolidation.run_id, as_of
  from unnest(v_merged_ids) as u (merged_id)
  group by u.merged_id;
  insert into memory.entry_merge_members
    (tenant_id, merged_id, member_id, version, retention, similarity)
  select v_tenant_id, m.merged_id, m.id, e.version, e.retention, m.similarity
  from unnest(v_merged_ids, v_ids, v_similarities) as m (merged_id, id, similarity)
  join memory.entries as e on e.tenant_id = v_tenant_id and e.id = m.id;
  update memory.entries as e
  set retention = 'archived', updated_at = memory.next_state_at(e.updated_at, as_of)
  where e.tenant_id = v_tenant_id and e.id = any (v_ids);

  update memory.entry_comparisons as c
  set compared_at = as_of
  from unnest(v_waiting) as w (id)
  where c.tenant_id = v_tenant_id and c.entry_id = w.id
    and w.id <> all (coalesce(v_skipped, '{}'));
  perform memory.write_event(
    v_tenant_id, 'entries_consolidated', null, null,
    jsonb_build_object(
      'consolidation_id', run_id, 'cause', cause, 'examined', examined, 'merged', merged,
      'created', created, 'flagged', flagged, 'archived', archived,
      'created_ids', (
        select coalesce(jsonb_agg(u.merged_id order by u.merged_id), '[]')
        from (select distinct m.merged_id from unnest(v_merged_ids) as m (merged_id)) as u
      )
    )
  );
  return next;
end;
$$;

comment on function memory.run_entry_consolidation(text, float8, integer, boolean, timestamptz) is
'The work of memory.consolidate_entries. The members of clusters are locked and looked at once '
'more; a cluster of which one is locked or was changed waits for the next run.';

create or replace function memory.consolidate_entries(
  min_similarity float8 default null,
  max_entries integer default 50000,
  dry_run boolean default false,
  as_of timestamptz default now()
)
  returns table (
    run_id uuid,
    examined integer,
    clusters integer,
    merged integer,
    created integer,
    flagged integer,
    archived integer
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform
    memory.check_number('min_similarity', coalesce(min_similarity, 1), 0.5, 1),
    memory.check_number('max_entries', max_entries, 1, 1000000),
    memory.check_write_time('as_of', as_of);
  return query
  select c.*
  from memory.run_entry_consolidation(
    'manual',
    coalesce(min_similarity, (memory.current_settings()).entry_merge_similarity),
    max_entries, dry_run, as_of
  ) as c;
end;
$$;

comment on function memory.consolidate_entries(float8, integer, boolean, timestamptz) is
'Merges live entries of one scope, user, persona, session and type that say the same: their '
'vectors have a cosine similarity of min_similarity (NULL: setting entry_merge_similarity) or '
'more and their texts the same numbers, dates, denials and names, or the texts are equal. Only '
'entries that are new, changed or newly embedded are compared, with all others, at most '
'max_entries per run; the rest waits for the next one. A merged entry has the text of the best '
'(highest confidence, then edited last) and what only others say, with the id of the entry that '
'says it; all their tags, keywords and links; their highest importance and access count; the '
'trust of the least trusted; and their highest confidence plus 0.05, because it was repeated, at '
'most 0.99. It supersedes the others, which are archived; memory.undo_entry_merge brings them '
'back. Then entries with a confidence below 0.5 are flagged for review, and old ones move to the '
'band of their age. dry_run: only counts. Guarded entries are never touched. Returns the run '
'(NULL if dry) and its counts. Errors: PM002.';
grant execute on function memory.consolidate_entries to memory_writer, memory_worker;

create or replace function memory.list_entry_clusters(
  min_similarity float8 default null,
  max_entries integer default 50000,
  as_of timestamptz default now()
)
  returns table (
    cluster integer,
    entry_id text,
    title text,
    confidence float8,
    similarity float8
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
  perform
    memory.check_number('min_similarity', coalesce(min_similarity, 1), 0.5, 1),
    memory.check_number('max_entries', max_entries, 1, 1000000),
    memory.check_write_time('as_of', as_of);
  perform memory.refresh_entry_comparisons(v_tenant_id, as_of);
  return query
  select
    dense_rank() over (order by c.cluster)::integer, e.entry_id, e.title, e.confidence, c.similarity
  from memory.cluster_entries(
    v_tenant_id, memory.take_waiting_entries(v_tenant_id, max_entries, true),
    coalesce(min_similarity, (memory.current_settings()).entry_merge_similarity)
  ) as c
  join memory.entries as e on e.tenant_id = v_tenant_id and e.id = c.id
  order by c.cluster, c.place;
end;
$$;

comment on function memory.list_entry_clusters(float8, integer, timestamptz) is
'What memory.consolidate_entries with these arguments would merge: the number of a cluster, its '
'entries, the one whose text would lead first, and their similarity to that one. Errors: PM002.';
grant execute on function memory.list_entry_clusters to memory_writer, memory_worker;

create or replace function memory.due_entry_consolidation(
  tenant_id text,
  as_of timestamptz
)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_finished_at timestamptz := (
    select max(c.finished_at)
    from memory.entry_consolidations as c
    where c.tenant_id = due_entry_consolidation.tenant_id
  );
begin
  if (
    select count(*) = 100
    from (
      select
      -- Imported ones may say that they are older than the last run.
      from memory.entries as e
      left join memory.entry_comparisons as c on c.tenant_id = e.tenant_id and c.entry_id = e.id
      where e.tenant_id = due_entry_consolidation.tenant_id and c.entry_id is null
        and e.lifecycle_state = 'active' and e.policy = 'meridian'
        and (e.expires_at is null or e.expires_at > due_entry_consolidation.as_of)
        and memory.policy_of(e.tenant_id, e.scope) = 'meridian'
      limit 100
    ) as n
  ) or exists (
    select
    from memory.entry_comparisons as c
    where v_finished_at is not null
      and c.tenant_id = due_entry_consolidation.tenant_id and c.compared_at is null
  ) then
    return 'count';
  elsif v_finished_at > as_of - interval '24 hours' then
    return null;
  elsif memory.is_entry_consolidation_due(tenant_id, as_of) or exists (
    -- Edited since, or embedded.
    select
    from memory.entries as e
    left join memory.entry_comparisons as c on c.tenant_id = e.tenant_id and c.entry_id = e.id
    where v_finished_at is not null
      and e.tenant_id = due_entry_consolidation.tenant_id
      and e.lifecycle_state = 'active' and e.policy = 'meridian'
      and (e.expires_at is null or e.expires_at > due_entry_consolidation.as_of)
      and memory.policy_of(e.tenant_id, e.scope) = 'meridian'
      and (c.version, c.embedding_version_id) is distinct from (e.version, e.embedding_version_id)
  ) or exists (
    select
    from memory.entries as e
    where v_finished_at is not null
      and e.tenant_id = due_entry_consolidation.tenant_id
      and memory.is_doubtful(e, due_entry_consolidation.as_of)
  ) then
    return 'age';
  end if;
  return null;
end;
$$;

comment on function memory.due_entry_consolidation(text, timestamptz) is
'Why a consolidation of entries is due: count, 100 are new, or the last run left some; age, 24 '
'hours since the last run, and some are new, edited, newly embedded or doubtful. NULL: it is not.';

create or replace function memory.maybe_consolidate_entries(as_of timestamptz default now())
  returns table (
    run_id uuid,
    examined integer,
    clusters integer,
    merged integer,
    created integer,
    flagged integer,
    archived integer
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_settings memory.settings := memory.current_settings();
  v_cause text;
begin
  perform memory.check_write_time('as_of', as_of);
  v_cause := memory.due_entry_consolidation(v_settings.tenant_id, as_of);
  if v_cause is null then
    return;
  end if;
  return query
  select c.*
  from memory.run_entry_consolidation(
    v_cause, v_settings.entry_merge_similarity, 50000, false, as_of
  ) as c;
end;
$$;

comment on function memory.maybe_consolidate_entries(timestamptz) is
'memory.consolidate_entries, if it is due: 100 entries are new since the last run or it left '
'some, or 24 hours have passed and some are new, edited, newly embedded or doubtful. No row if it '
'is not. Errors: PM002.';
grant execute on function memory.maybe_consolidate_entries to memory_worker;

commit;
