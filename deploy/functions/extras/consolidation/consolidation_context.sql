-- Deploy pymem:functions/extras/consolidation/consolidation_context to pg

begin;

set local role memory_owner;

create or replace function memory.is_known_to(
  source_butler text,
  scope text,
  butler text
)
  returns boolean
  language sql
  immutable
  parallel safe
  return source_butler = butler or scope = butler or scope = 'global';

comment on function memory.is_known_to(text, text, text) is
'Whether consolidation shows a memory to a butler and may change it: it stored the memory, or the '
'memory is of its scope or global.';
grant execute on function memory.is_known_to to memory_search;

create or replace function memory.terms_of_episodes(
  settings memory.settings,
  episode_ids uuid[]
)
  returns bigint[]
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set jit = off -- compiling costs more than it saves
as $$
declare
  v_documents bigint := (
    select z.documents from unnest(memory.corpus_sizes('{fact}')) as z
  );
begin
  return array(
    with said as (
      select w.lexeme, count(*) as episodes
      from memory.episodes as e
      cross join lateral unnest(tsvector_to_array(
        case e.index_rendering
          when 'dated'
          -- Nobody said the day.
          then ts_delete(
            e.search_vector,
            tsvector_to_array(
              memory.to_search_vector(e.text_search_config, memory.date_in_words(e.created_at))
            )
          )
          else e.search_vector
        end
      )) as w (lexeme)
      where e.tenant_id = settings.tenant_id and e.id = any (terms_of_episodes.episode_ids)
      group by w.lexeme
    ),
    -- Ids are random, so the first ones are a sample.
    sample as materialized (
      select f.search_vector
      from memory.facts as f
      where f.tenant_id = settings.tenant_id and f.validity = 'active'
      order by f.id
      limit 1000
    ),
    seen as (
      select w.lexeme, count(*) as facts
      from sample as s
      cross join lateral unnest(tsvector_to_array(s.search_vector)) as w (lexeme)
      group by w.lexeme
    ),
    expected as (
      select
        s.lexeme, s.episodes,
        coalesce(n.facts, 0.5) * v_documents / (select count(*) + 0.5 from sample) as facts
      from said as s
      left join seen as n on n.lexeme = s.lexeme
    ),
    rarest as (
      select
        e.*,
        sum(e.facts) over (order by e.facts, e.episodes desc, e.lexeme) as facts_so_far
      from expected as e
    )
    select t.term
    from rarest as r
    cross join lateral unnest(memory.hash_terms(settings.tenant_id, array[r.lexeme])) as t (term)
    where r.facts <= 500 and r.facts_so_far <= 10000
    order by r.facts, r.episodes desc, r.lexeme
  );
end;
$$;

comment on function memory.terms_of_episodes(memory.settings, uuid[]) is
'The lexemes of episodes (memory.hash_terms), rarest first, that a sample of 1000 facts expects in '
'at most 500 facts each, and 10000 together.';

grant create on schema memory to memory_search;
set local role memory_search;

-- memory_search owns what searches by words: see functions/core/search/neighbors.
create or replace function memory.facts_with_terms(
  terms bigint[],
  butler text,
  depth integer
)
  returns table (
    id uuid,
    place bigint
  )
  language plpgsql
  stable
  rows 50
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
  set enable_seqscan = off
  set jit = off -- compiling costs even more
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_documents bigint := (
    select z.documents from unnest(memory.corpus_sizes('{fact}')) as z
  );
begin
  return query
  with found as (
    select m.id, m.created_at, m.is_known, count(*) over (partition by t.term) as facts
    from unnest(terms) as t (term)
    cross join lateral (
      select
        f.id, f.created_at,
        memory.is_known_to(f.source_butler, f.scope, facts_with_terms.butler) as is_known
      from memory.facts as f
      where f.validity = 'active'
        and f.tenant_id collate "POSIX" = v_tenant_id
        and memory.search_terms(f.tenant_id, f.search_vector) && array[t.term]
      limit 1000
    ) as m
  )
  select x.id, row_number() over (order by x.weight desc, x.created_at desc, x.id)
  from (
    select
      f.id, f.created_at,
      sum(memory.inverse_document_frequency(v_documents, f.facts)) as weight
    from found as f
    -- Of more frequent words, not all facts were read.
    where f.is_known and f.facts < 1000
    group by f.id, f.created_at
  ) as x
  order by 2
  limit depth;
end;
$$;

comment on function memory.facts_with_terms(bigint[], text, integer) is
'The active facts known to a butler that contain lexemes (memory.hash_terms), by the sum of their '
'memory.inverse_document_frequency. Lexemes that 1000 facts contain do not count.';
grant execute on function memory.facts_with_terms to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

create or replace function memory.facts_by_meaning(
  settings memory.settings,
  butler text,
  episode_ids uuid[],
  depth integer,
  as_of timestamptz
)
  returns table (
    id uuid,
    place bigint
  )
  language plpgsql
  stable
  rows 50
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_approximate boolean := memory.use_approximate_index('fact', settings.exact_scan_limit);
  v_sessions vector[];
begin
  -- Without an index, comparing a large memory with the batch takes too long.
  if not v_approximate and settings.exact_scan_limit < (
    select z.documents from unnest(memory.corpus_sizes('{fact}')) as z
  ) then
    return;
  end if;
  v_sessions := array(
    select avg(e.embedding)
    from memory.episodes as e
    where e.tenant_id = settings.tenant_id and e.id = any (episode_ids)
      and e.embedding is not null
    group by e.session_id
    order by count(*) desc, e.session_id
    limit 4
  );
  return query
  select n.id, row_number() over (order by max(n.weight) desc, n.id)
  from unnest(v_sessions) as s (embedding)
  cross join lateral (
    select a.id, a.weight
    from memory.approximate_neighbors(
      'fact', s.embedding, facts_by_meaning.butler, depth, 0, as_of
    ) as a
    where v_approximate
    union all
    select x.id, x.weight
    from memory.exact_neighbors('fact', s.embedding, facts_by_meaning.butler, depth, 0, as_of) as x
    where not v_approximate
  ) as n
  group by n.id
  order by 2
  limit depth;
end;
$$;

comment on function memory.facts_by_meaning(
  memory.settings, text, uuid[], integer, timestamptz
) is
'The active facts of a butler''s scope nearest to what the sessions of episodes are about on '
'average; of the four sessions with the most of these episodes. No rows without vectors, or if '
'there are more than exact_scan_limit facts and no index of their vectors.';

create or replace function memory.facts_of_names(
  settings memory.settings,
  butler text,
  episode_ids uuid[],
  depth integer
)
  returns table (
    id uuid,
    place bigint
  )
  language plpgsql
  stable
  rows 50
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_entities uuid[] := array(
    with words as (
      select w.word, lead(w.word) over o as second, lead(w.word, 2) over o as third
      from memory.episodes as e
      cross join lateral regexp_split_to_table(
        btrim(memory.normalize_name(left(e.content, 8192))), ' '
      ) with ordinality as w (word, place)
      where e.tenant_id = settings.tenant_id and e.id = any (episode_ids)
      window o as (partition by e.id order by w.place)
    ),
    names as (
      select w.word as name from words as w where w.word <> ''
      union
      select w.word || ' ' || w.second from words as w where w.second is not null
      union
      select w.word || ' ' || w.second || ' ' || w.third
      from words as w
      where w.third is not null
    )
    select n.entity_id
    from memory.entity_names as n
    where n.tenant_id = settings.tenant_id and n.name = any (array(select m.name from names as m))
    group by n.entity_id
    order by n.entity_id
    limit 100
  );
begin
  return query
  select x.id, row_number() over (order by x.created_at desc, x.id)
  from (
    select f.id, f.created_at
    from unnest(v_entities) as e (id)
    cross join lateral (
      (
        select o.id, o.created_at
        from memory.facts as o
        where o.tenant_id = settings.tenant_id and o.entity_id = e.id and o.validity = 'active'
          and memory.is_known_to(o.source_butler, o.scope, facts_of_names.butler)
        order by o.created_at desc, o.id
        limit depth
      )
      union
      (
        select o.id, o.created_at
        from memory.facts as o
        where o.tenant_id = settings.tenant_id and o.object_entity_id = e.id
          and o.validity = 'active'
          and memory.is_known_to(o.source_butler, o.scope, facts_of_names.butler)
        order by o.created_at desc, o.id
        limit depth
      )
    ) as f
    group by f.id, f.created_at
  ) as x
  order by 2
  limit depth;
end;
$$;

comment on function memory.facts_of_names(memory.settings, text, uuid[], integer) is
'The newest active facts known to a butler about entities that episodes name, in up to three '
'words, by a name or alias.';

create or replace function memory.pending_proposals(
  tenant_id text,
  butler text,
  max_results integer
)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(
    jsonb_agg(
      jsonb_build_object('text', x.content, 'action', x.action, 'reason', x.reason)
      order by x.created_at desc, x.run_id, x.position
    ),
    '[]'
  )
  from (
    select p.run_id, p.position, p.action, p.content, p.reason, p.created_at
    from memory.consolidation_proposals as p
    join memory.consolidation_runs as r on r.tenant_id = p.tenant_id and r.id = p.run_id
    where p.tenant_id = pending_proposals.tenant_id and p.status = 'proposed'
      and r.butler = pending_proposals.butler
    order by p.created_at desc, p.run_id, p.position
    limit max_results
  ) as x;
$$;

comment on function memory.pending_proposals(text, text, integer) is
'What runs of a butler have proposed and nobody has decided about, newest first: an array of '
'objects with text ("[subject] [predicate]: content" of a fact), action and reason.';

create or replace function memory.get_consolidation_context(
  butler text,
  max_facts integer default 100,
  max_rules integer default 50,
  run_id uuid default null,
  as_of timestamptz default now()
)
  returns jsonb
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_episode_ids uuid[];
  v_relevant uuid[] := array[]::uuid[];
  v_newest uuid[];
begin
  perform
    memory.check_text('butler', butler, 128),
    memory.check_number('max_facts', max_facts, 0, 1000),
    memory.check_number('max_rules', max_rules, 0, 1000),
    memory.check_time('as_of', as_of);
  if run_id is not null then
    select r.episode_ids into v_episode_ids
    from memory.consolidation_runs as r
    where r.tenant_id = v_tenant_id and r.id = get_consolidation_context.run_id
      and r.butler = get_consolidation_context.butler;
    if not found then
      raise exception 'butler % has no consolidation run %', quote_literal(butler), run_id
        using errcode = 'PM001', hint = 'Pass the run_id that memory.claim_episodes returned.';
    end if;
    v_relevant := array(
      select m.id
      from (
        select w.id, w.place
        from memory.facts_with_terms(
          memory.terms_of_episodes(v_settings, v_episode_ids), butler, max_facts
        ) as w
        union all
        select n.id, n.place
        from memory.facts_of_names(v_settings, butler, v_episode_ids, max_facts / 2) as n
        union all
        select v.id, v.place
        from memory.facts_by_meaning(
          v_settings, butler, v_episode_ids, max_facts / 2, as_of
        ) as v
      ) as m
      group by m.id
      order by sum(1.0::float8 / (v_settings.rrf_k + m.place)) desc, m.id
      limit max_facts
    );
  end if;
  v_newest := array(
    select f.id
    from memory.facts as f
    where f.tenant_id = v_tenant_id and f.validity = 'active'
      and memory.is_known_to(f.source_butler, f.scope, get_consolidation_context.butler)
      and f.id <> all (v_relevant)
    order by f.created_at desc, f.id
    limit max_facts - cardinality(v_relevant)
  );

  return jsonb_build_object(
    'facts',
    (
      select
        coalesce(
          jsonb_agg(
            jsonb_build_object(
              'id', f.id, 'subject', f.subject, 'predicate', f.predicate, 'content', f.content,
              'permanence', f.permanence, 'scope', f.scope, 'since', f.observed_at,
              'planned_for', f.planned_for,
              'origin', case when f.metadata ? 'consolidation_run' then 'inferred' else 'stated' end,
              'trust', f.trust
            )
            order by k.place
          ),
          '[]'
        )
      from unnest(v_relevant || v_newest) with ordinality as k (id, place)
      join memory.facts as f on f.tenant_id = v_tenant_id and f.id = k.id
    ),
    'rules',
    (
      select coalesce(jsonb_agg(to_jsonb(x) - 'created_at' order by x.created_at desc, x.id), '[]')
      from (
        select r.id, r.content, r.maturity, r.scope, r.created_at
        from memory.rules as r
        where r.tenant_id = v_tenant_id and r.lifecycle_state <> 'retracted'
          and memory.is_known_to(r.source_butler, r.scope, get_consolidation_context.butler)
        order by r.created_at desc, r.id
        limit max_rules
      ) as x
    ),
    'proposals',
    memory.pending_proposals(v_tenant_id, butler, max_facts),
    'instructions',
    jsonb_build_object(
      'instructions', memory.value_of_butler(v_settings.consolidation_instructions, butler),
      'language', memory.value_of_butler(v_settings.consolidation_language, butler),
      'categories', memory.value_of_butler(v_settings.consolidation_categories, butler),
      'predicates', memory.value_of_butler(v_settings.consolidation_predicates, butler)
    )
  );
end;
$$;

comment on function memory.get_consolidation_context(
  text, integer, integer, uuid, timestamptz
) is
'What a butler already knows, for the prompt: {"facts": […], "rules": […], "proposals": […], '
'"instructions": {…}}. Facts and rules that it stored, or of its scope or global: with run_id '
'first the facts that share words, names or meaning with the episodes of the run, most relevant '
'first, then the newest; each with since, when it was observed, and origin, "stated" or '
'"inferred". proposals: those that wait for a decision (text, action, reason), newest first. '
'instructions: the settings consolidation_instructions, _language, _categories and _predicates '
'for this butler, null where they say nothing about it. Errors: PM001 the butler has no such run, '
'PM002.';
grant execute on function memory.get_consolidation_context to memory_worker;

commit;
