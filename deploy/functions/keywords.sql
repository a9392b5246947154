-- Deploy pymem:functions/keywords to pg
-- requires: functions/neighbours
-- requires: functions/corpus

begin;

-- The functions of this file belong to memory_search: see functions/neighbours.

set local role memory_owner;

create function memory.term_frequency(
  search_vector tsvector,
  term tsquery
)
  returns float8
  language sql
  immutable
  parallel safe
  return round(
    1 / (pi() ^ 2 / 6 * (1 - ts_rank('{1,1,1,1}', search_vector, term)::float8)) - 0.5
  );

comment on function memory.term_frequency(tsvector, tsquery) is
'How often a text holds the one lexeme of a query, up to 255 times. With equal weights ts_rank of '
'n occurrences is (1 + 1/4 + ... + 1/n^2) / (pi^2/6); what is missing from 1 is 1/(n + 1/2), to '
'the nearest n.';

grant create on schema memory to memory_search;
grant usage on type memory.settings to memory_search;
set local role memory_search;

create function memory.bm25_matches(
  memory_type text,
  query tsquery,
  lexemes text[],
  settings memory.settings,
  scope text,
  max_results integer,
  min_confidence float8,
  as_of timestamptz
)
  returns setof memory.candidate
  language plpgsql
  stable
  rows 50 -- or the planner joins the answers as if they were thousands
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning would cost more than searching
  set jit = off -- and compiling more still
as $$
declare
  v_tenant_id text := settings.tenant_id;
  v_terms tsquery[] := array(
    select memory.any_lexeme(array[l.lexeme])
    from unnest(lexemes) with ordinality as l (lexeme, position)
    order by l.position
  );
  v_any bigint[] := memory.hash_terms(v_tenant_id, lexemes);
  v_corpus record;
begin
  select c.* into v_corpus from memory.corpus_size(memory_type) as c;

  return query
  with matching as materialized (
    select
      m.id,
      m.created_at,
      m.search_vector,
      m.search_vector @@ bm25_matches.query
      and (m.expires_at is null or m.expires_at > as_of)
      and (
        bm25_matches.scope is null or m.scope = bm25_matches.scope
        or m.scope = 'global' and m.memory_type <> 'episode'
      )
      and (
        bm25_matches.min_confidence = 0
        or memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of)
          >= bm25_matches.min_confidence
      ) as is_eligible
    from memory.searchable_memories as m
    where m.is_live
      and m.tenant_id = v_tenant_id
      and m.memory_type = bm25_matches.memory_type
      and memory.search_terms(m.tenant_id, m.search_vector) && v_any
  ),
  occurrences as (
    select
      m.id, m.created_at, m.is_eligible,
      memory.term_frequency(m.search_vector, t.term) as frequency,
      settings.bm25_k1 * (
        1 - settings.bm25_b + settings.bm25_b * length(m.search_vector) / v_corpus.average_terms
      ) as dampening,
      count(*) over (partition by t.term) as documents
    from matching as m
    join unnest(v_terms) as t (term) on m.search_vector @@ t.term
  )
  select
    o.id,
    sum(
      ln(1 + (greatest(v_corpus.documents, o.documents) - o.documents + 0.5) / (o.documents + 0.5))
      * o.frequency * (settings.bm25_k1 + 1) / (o.frequency + o.dampening)
    ) as weight,
    o.created_at
  from occurrences as o
  where o.is_eligible
  group by o.id, o.created_at
  order by weight desc, o.created_at desc, o.id
  limit max_results;
end;
$$;

comment on function memory.bm25_matches(
  text, tsquery, text[], memory.settings, text, integer, float8, timestamptz
) is
'As keyword_matches, but by BM25 of the lexemes (Robertson and Zaragoza, 2009): for each word '
'ln(1 + (N - n + 0.5)/(n + 0.5)) * f (k1 + 1)/(f + k1 (1 - b + b length/average)), where n of '
'the tenant''s N live memories of the type hold it, f times in this one; the length is that of '
'the search vector.';

-- Written so that the planner makes it part of the query that calls it.
-- noqa: disable=RF01,RF03,AM03,ST06
create function memory.keyword_matches(
  tenant_id text,
  memory_type text,
  query tsquery,
  any_terms bigint[],
  all_terms bigint[],
  scope text,
  max_results integer,
  min_confidence float8,
  as_of timestamptz
)
  returns setof memory.candidate
  language sql
  stable
  rows 50
begin atomic
  select m.id, ts_rank(m.search_vector, keyword_matches.query)::float8 as weight, m.created_at
  from memory.searchable_memories as m
  where m.is_live
    and m.tenant_id = keyword_matches.tenant_id
    and m.memory_type = keyword_matches.memory_type
    and memory.search_terms(m.tenant_id, m.search_vector) && any_terms
    and memory.search_terms(m.tenant_id, m.search_vector) @> coalesce(all_terms, '{}')
    -- Whoever holds one of the terms matches a query for any of them.
    and (all_terms is null or m.search_vector @@ keyword_matches.query)
    and (m.expires_at is null or m.expires_at > as_of)
    and (
      keyword_matches.scope is null or m.scope = keyword_matches.scope
      or m.scope = 'global' and m.memory_type <> 'episode'
    )
    and (
      keyword_matches.min_confidence = 0
      or memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of)
        >= keyword_matches.min_confidence
    )
  order by weight desc, m.created_at desc, m.id
  limit max_results;
end;
-- noqa: enable=RF01,RF03,AM03,ST06

comment on function memory.keyword_matches(
  text, text, tsquery, bigint[], bigint[], text, integer, float8, timestamptz
) is
'The live memories of one type that match a query, by ts_rank. any_terms, all_terms: keys '
'(hash_terms) of lexemes one of which, and each of which, a match is filed under; all_terms NULL: '
'the query is for any of them.';

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
