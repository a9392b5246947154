-- Deploy pymem:functions/core/search/relations to pg

begin;

-- memory_search owns memory.add_names: see neighbors.sql.

set local role memory_owner;

create or replace function memory.key_words(content text)
  returns text[]
  language sql
  immutable
  strict
  parallel safe
  return string_to_array(
    btrim(regexp_replace(lower(normalize(content, nfkc)), '[^[:alnum:]]+', ' ', 'g')), ' '
  );

comment on function memory.key_words(text) is
'The words of a text in lower case, as they are in the keys of facts.';
grant execute on function memory.key_words to memory_search;

grant create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.add_names(
  query text,
  scope text,
  settings memory.settings
)
  returns text
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
as $$
declare
  v_words text[] := memory.key_words(left(query, 1000));
  v_possessives text[] := '{my,our,mein,meine,meinem,meinen,meiner,meines,unser,unsere,unserem,'
    'unseren,unserer,mon,ma,mes,notre,nos,mijn,onze,mi,mis,nuestro,nuestra,nuestros,nuestras}'::text[];
  v_names text;
begin
  if settings.boost_named = 0 or (v_words && (v_possessives || '{s}'::text[])) is not true then
    return add_names.query;
  end if;

  with words as (
    select w.word, w.position
    from unnest(v_words) with ordinality as w (word, position)
  ),
  -- My wife, my best friend; Lina's teacher.
  mentions as (
    select
      o.position,
      o.subject_key,
      array_to_string(v_words[o.position + 1:o.position + n.length], ' ') as predicate_key
    from (
      select w.position, 'user' as subject_key
      from words as w
      where w.word = any (v_possessives)
      union all
      select w.position, array_to_string(v_words[w.position - l.length:w.position - 1], ' ')
      from words as w
      cross join generate_series(1, 3) as l (length)
      where w.word = 's' and w.position > l.length
    ) as o
    cross join generate_series(1, 3) as n (length)
    where o.position + n.length <= cardinality(v_words)
    order by o.position, o.subject_key, n.length
    limit 60
  ),
  relations as materialized (
    select m.position, f.id, f.subject_key, f.content, f.object_entity_id
    from mentions as m
    join memory.facts as f
      on f.tenant_id = settings.tenant_id and f.subject_key = m.subject_key
        and f.predicate_key = m.predicate_key and f.validity = 'active' and f.planned_for is null
    where memory.is_in_scope('fact', f.scope, add_names.scope)
    order by m.position, f.id
    limit 10
  ),
  -- Whom such a fact names: another subject among its first words.
  named as (
    select r.position, r.id, -1::bigint as place, e.canonical_name as name
    from relations as r
    join memory.entities as e
      on e.tenant_id = settings.tenant_id and e.id = r.object_entity_id
    union all
    select r.position, r.id, g.place, s.subject
    from relations as r
    cross join lateral (
      select memory.key_words(left(r.content, 200)) as words
      offset 0 -- computes them only once
    ) as c
    cross join lateral (
      select
        3 * p.position - l.length as place,
        array_to_string(c.words[p.position:p.position + l.length - 1], ' ') as subject_key
      from generate_series(1, least(8, cardinality(c.words))) as p (position)
      cross join generate_series(1, 3) as l (length)
      where p.position + l.length - 1 <= cardinality(c.words)
    ) as g
    cross join lateral (
      select f.subject
      from memory.facts as f
      where f.tenant_id = settings.tenant_id and f.subject_key = g.subject_key
        and f.subject_key not in ('user', r.subject_key)
        and f.validity = 'active' and memory.is_in_scope('fact', f.scope, add_names.scope)
      order by f.predicate_key, f.id
      limit 1
    ) as s
  )
  select string_agg(f.name, ', ' order by f.position, f.id) into v_names
  from (
    -- Of each fact, the first name, and of those that begin there the longest.
    select distinct on (n.position, n.id) n.position, n.id, n.name
    from named as n
    order by n.position, n.id, n.place, n.name collate "C"
  ) as f
  where not v_words @> memory.key_words(f.name);

  return add_names.query || coalesce(' (' || v_names || ')', '');
end;
$$;

comment on function memory.add_names(text, text, memory.settings) is
'As memory.expand_query, for a visible scope (memory.visible_scope). Without boost_named, no names '
'are looked for.';
grant execute on function memory.add_names to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
