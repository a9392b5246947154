-- Deploy pymem:functions/core/search/relations to pg

begin;

-- memory_search owns memory.read_relations: see neighbors.sql.

set local role memory_owner;

create or replace function memory.subjects_of_user(
  scope text,
  settings memory.settings
)
  returns text[]
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
as $$
declare
  v_subjects text[] := '{user,the user,i,me,myself,self}'::text[];
  v_names text[];
begin
  -- Some facts are about the user, others are about what they say that the user is called.
  select array_agg(distinct k.subject_key order by k.subject_key) into v_names
  from memory.facts as f
  cross join lateral (
    select memory.key_words(left(f.content, 200)) as words
    offset 0 -- computes them only once
  ) as c
  cross join generate_series(1, 3) as l (length)
  cross join lateral (
    select array_to_string(c.words[1:l.length], ' ') as subject_key
    where l.length <= cardinality(c.words)
  ) as k
  where f.tenant_id = settings.tenant_id and f.subject_key = any (v_subjects)
    -- Who is Portuguese is not called so.
    and f.predicate_key = any (array_remove(memory.naming_predicates(), 'is'))
    and f.validity = 'active' and f.planned_for is null
    and memory.is_in_scope('fact', f.scope, subjects_of_user.scope)
    and exists (
      select
      from memory.facts as o
      where o.tenant_id = settings.tenant_id and o.subject_key = k.subject_key
        and o.validity = 'active'
        and memory.is_in_scope('fact', o.scope, subjects_of_user.scope)
    );

  -- Or all are about somebody, who is likely to ask: whom most of them are about.
  if v_names is null and not exists (
    select
    from memory.facts as f
    where f.tenant_id = settings.tenant_id and f.subject_key = any (v_subjects)
      and f.validity = 'active' and memory.is_in_scope('fact', f.scope, subjects_of_user.scope)
  ) then
    select array[s.subject_key] into v_names
    from (
      select
        f.subject_key,
        count(*) as facts,
        sum(count(*)) over () as all_facts,
        lead(count(*), 1, 0::bigint) over (order by count(*) desc, f.subject_key) as next_facts
      from (
        select f.subject_key
        from memory.facts as f
        where f.tenant_id = settings.tenant_id and f.validity = 'active'
          and memory.is_in_scope('fact', f.scope, subjects_of_user.scope)
        limit 1001
      ) as f
      group by f.subject_key
      order by facts desc, f.subject_key
      limit 1
    ) as s
    where s.all_facts <= 1000 and s.facts >= 3
      and s.facts >= 0.4 * s.all_facts and s.facts >= 2 * s.next_facts;
  end if;
  return v_subjects || v_names;
end;
$$;

comment on function memory.subjects_of_user(text, memory.settings) is
'Under which subjects (memory.spelling_key) the facts about the user are, in a visible scope: '
'user, I and the like, and the names that facts about them tell. Where nothing is known about any '
'of these: the subject of at least three facts, of 0.4 of them all, and of twice as many as the '
'next one has, if there are at most 1,000 facts.';
grant execute on function memory.subjects_of_user to memory_search;

grant create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.read_relations(
  query text,
  scope text,
  settings memory.settings,
  restates boolean default true
)
  returns memory.relations
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
as $$
declare
  v_restated text := case when restates then memory.restate_question(query) end;
  v_query text := coalesce(v_restated, query);
  v_words text[] := memory.key_words(left(v_query, 1000));
  -- What asks who somebody is.
  v_asking text[] := '{who,what,is,are,was,were,do,does,did,you,i,me,the,a,s,name,named,call,'
    'called,tell,know,remember,remind,wer,wie,ist,sind,heißt,heisst,qui,est,comment,appelle,nom,quién,'
    'quien,es,cómo,como,llama,nombre,hoe,heet,naam}'::text[];
  v_names text;
  v_is_found boolean;
  v_possessions memory.possession[];
  v_asked text[];
  v_selves text[];
  v_naming text[] := memory.naming_predicates();
  v_relations memory.relations := row(query, null::memory.mentioned[], null::text, null::text);
begin
  if settings.boost_named = 0 or settings.ranking = 'specified' then
    return v_relations;
  end if;
  v_possessions := array(select p from memory.read_possessions(v_words) as p);
  if v_possessions = '{}' then
    return v_relations;
  end if;

  v_selves := memory.subjects_of_user(scope, settings);
  with mentions as (
    select m.* from unnest(v_possessions) as m
  ),
  relations as materialized (
    select
      m.position, m.begins, m.ends, m.language, m.of_person, f.id, f.subject_key,
      f.predicate_key, f.content, f.object_entity_id
    from mentions as m
    join memory.facts as f
      on f.tenant_id = settings.tenant_id
        and f.subject_key = any (
          case when m.subject_key = 'user' then v_selves else array[m.subject_key] end
        )
        and f.predicate_key = any (m.predicate_keys) and f.validity = 'active'
        and f.planned_for is null
    where memory.is_in_scope('fact', f.scope, read_relations.scope)
      -- A property that is called as the query calls it is meant, and no other.
      and (
        m.of_person or f.predicate_key = m.relation
        or not exists (
          select
          from memory.facts as e
          where e.tenant_id = settings.tenant_id and e.subject_key = f.subject_key
            and e.predicate_key = m.relation and e.validity = 'active'
        )
      )
    union all
    -- Or they are a subject themselves: mother, my mother, Ada's mother.
    select
      c.position, c.begins, c.ends, c.language, true, c.id, c.subject_key, c.word, c.content,
      c.object_entity_id
    from (
      select distinct on (m.position, m.relation, f.subject_key)
        m.position, m.begins, m.ends, m.language, k.word, f.id, f.subject_key,
        case when n.says_who then f.content else '' end as content,
        case when n.says_who then f.object_entity_id end as object_entity_id
      from mentions as m
      cross join unnest(m.words) as k (word)
      cross join lateral (
        select array_agg(o.owner || '''s ' || k.word) as subject_keys
        from unnest(
          case when m.subject_key = 'user' then v_selves else array[m.subject_key] end
        ) as o (owner)
      ) as s
      join memory.facts as f
        on f.tenant_id = settings.tenant_id and f.validity = 'active' and f.planned_for is null
          and f.subject_key = any (
            s.subject_keys
            || case when m.subject_key = 'user' then array[k.word, 'my ' || k.word] end
          )
      cross join lateral (
        select f.predicate_key = any (v_naming) as says_who
      ) as n
      where m.of_person and memory.is_in_scope('fact', f.scope, read_relations.scope)
      order by
        m.position, m.relation, f.subject_key, n.says_who desc, f.predicate_key, f.id
    ) as c
    order by position, predicate_key, id
    limit 10
  ),
  -- What the query says besides whom it mentions, and besides asking who they are.
  remaining as materialized (
    select w.word, w.position
    from unnest(v_words) with ordinality as w (word, position)
    where w.word <> all (v_asking)
      and not exists (
        select from relations as r where w.position between r.begins and r.ends
      )
  ),
  -- Whom such a fact names: another subject among its first words.
  named as (
    select
      r.position, r.id, -1::bigint as place, e.canonical_name as name, null as subject_key,
      e.id as entity_id
    from relations as r
    join memory.entities as e
      on e.tenant_id = settings.tenant_id and e.id = r.object_entity_id
    union all
    select r.position, r.id, g.place, s.subject, g.subject_key, null
    from relations as r
    cross join lateral (
      -- Dr. Sethi has a dot as a subject, too; what follows a name may be a comma.
      select
        memory.key_words(left(r.content, 200)) as words,
        string_to_array(memory.spelling_key(left(r.content, 200)), ' ') as spelled
      offset 0 -- computes them only once
    ) as c
    cross join lateral (
      select
        3 * p.position - l.length as place,
        k.subject_key
      from generate_series(1, 8) as p (position)
      cross join generate_series(1, 3) as l (length)
      cross join lateral (
        select array_to_string(c.words[p.position:p.position + l.length - 1], ' ')
        where p.position + l.length - 1 <= cardinality(c.words)
        union
        select rtrim(array_to_string(c.spelled[p.position:p.position + l.length - 1], ' '), ',;:')
        where p.position + l.length - 1 <= cardinality(c.spelled)
      ) as k (subject_key)
      where k.subject_key <> all (v_selves || r.subject_key)
    ) as g
    cross join lateral (
      select f.subject
      from memory.facts as f
      where f.tenant_id = settings.tenant_id and f.subject_key = g.subject_key
        and f.validity = 'active' and memory.is_in_scope('fact', f.scope, read_relations.scope)
      order by f.predicate_key, f.id
      limit 1
    ) as s
    -- An employer may be somebody, too; the lead of a team is not the team.
    where r.of_person or g.place <= 2
    union all
    -- Or nobody stored a fact about them yet: Rex; Rex, a beagle; Dr. Lobo in Mill Street.
    select r.position, r.id, 100, n.name, null, null
    from relations as r
    cross join lateral (
      select substring(
        r.content
        from '^\s*([[:upper:]][^\s,;:(]*( [[:upper:]][^\s,;:(]*){0,2})\s*([,;:(]|$)'
      ) as alone,
      -- Married in Rome is nobody's name.
      substring(
        r.content from '^\s*([[:upper:]][^\s,;:(]*( [[:upper:]][^\s,;:(]*){1,2}) [[:lower:]]'
      ) as before_words
    ) as c
    cross join lateral (select coalesce(c.alone, c.before_words) as name) as n
    where r.of_person and n.name is not null
      -- Who asks only who somebody is wants no more than this.
      and exists (select from remaining)
  ),
  told as (
    select
      r.position, r.ends, r.predicate_key, r.id, r.content, f.name, f.subject_key, f.entity_id,
      concat_ws(
        ' ',
        -- What the fact calls them: models of embeddings know that a mom is a mother, in English.
        case
          when (f.name is null or r.language is distinct from 'en')
            and not v_words @> memory.key_words(r.predicate_key)
          then r.predicate_key
        end,
        case when not v_words @> memory.key_words(f.name) then f.name end
      ) as text
    from relations as r
    left join (
      -- Of each fact, the first name, and of those that begin there the longest.
      select distinct on (n.position, n.id) n.*
      from named as n
      order by n.position, n.id, n.place, length(n.name) desc, n.name collate "C"
    ) as f on f.position = r.position and f.id = r.id
  )
  select
    string_agg(t.text, ', ' order by t.position, t.predicate_key, t.id)
    filter (where t.text <> '' and t.occurrence = 1),
    array_agg(
      row(
        t.id, memory.normalize_name(substring(t.name from '[^ ]{2,}[^ .](?= |$)')),
        t.subject_key, t.entity_id,
        memory.key_words(left(t.content, 1000)) = memory.key_words(t.name)
      )::memory.mentioned
      order by t.position, t.predicate_key, t.id
    ) filter (where t.name is not null),
    (
      select string_agg(w.word, ' ' order by w.position)
      from remaining as w
      where not exists (select from told as n where w.word = any (memory.key_words(n.name)))
    ),
    (
      select string_agg(w.word, ' ' order by w.position)
      from unnest(v_words) with ordinality as w (word, position)
      where exists (
        select from told as n
        where n.name is not null and w.position between n.position + 1 and n.ends
      )
    ),
    -- Whether a fact has what it asks for, which stands at its end.
    exists (
      select
      from relations as r
      where not r.of_person
        and r.ends = cardinality(v_words) - (v_words[cardinality(v_words)] = 'now')::integer
    )
  into v_names, v_relations.people, v_relations.rest, v_relations.mentions, v_is_found
  from (
    select
      o.*,
      row_number() over (
        partition by o.text
        order by o.position, o.predicate_key, o.id
      ) as occurrence
    from told as o
  ) as t;

  if v_relations.people is null then
    v_relations.rest := null;
  else
    -- What is asked about them may be called otherwise, too.
    v_asked := memory.read_properties(string_to_array(v_relations.rest, ' '));
    v_relations.rest := nullif(
      concat_ws(' ', v_relations.rest, array_to_string(v_asked, ' ')), ''
    );
    select
      nullif(
        concat_ws(
          ', ', v_names,
          string_agg(distinct f.predicate_key, ', ') filter (
            -- Who asks where she works knows the word already.
            where not exists (
              select from unnest(v_words) as w (word)
              where length(w.word) > 2 and starts_with(f.predicate_key, w.word)
            )
          )
        ),
        ''
      ),
      v_is_found or count(*) > 0
    into v_names, v_is_found
    from (
      select f.predicate_key
      from memory.facts as f
      where f.tenant_id = settings.tenant_id and f.predicate_key = any (v_asked)
        and f.subject_key = any (array(select p.subject_key from unnest(v_relations.people) as p))
        and f.validity = 'active' and f.planned_for is null
        and memory.is_in_scope('fact', f.scope, read_relations.scope)
      union all
      select f.predicate_key
      from memory.facts as f
      where f.tenant_id = settings.tenant_id and f.predicate_key = any (v_asked)
        and f.entity_id = any (array(select p.entity_id from unnest(v_relations.people) as p))
        and f.validity = 'active' and f.planned_for is null
        and memory.is_in_scope('fact', f.scope, read_relations.scope)
    ) as f;
  end if;
  if v_restated is not null and not v_is_found then
    -- Nobody has what it asks for.
    return memory.read_relations(
      regexp_replace(query, ' for a living\M', ' for work', 'i'), scope, settings,
      restates => false
    );
  end if;
  v_relations.query := v_query || coalesce(' (' || v_names || ')', '');
  return v_relations;
end;
$$;

comment on function memory.read_relations(text, text, memory.settings, boolean) is
'Whom a query mentions by what they are to somebody, and what facts call the properties that it '
'mentions (memory.expand_query), for a visible scope (memory.visible_scope). restates: as '
'memory.restate_question asks it, if a fact has what it asks for then. Nothing is looked for '
'without boost_named, or with the ranking "specified", which ranks by the words as they are.';
grant execute on function memory.read_relations to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
