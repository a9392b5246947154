-- Deploy pymem:functions/core/search/keywords to pg

begin;

-- memory_search owns the functions in this file that read memories: see neighbors.sql.

set local role memory_owner;

create or replace function memory.term_frequency(
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
'How often a text contains the single lexeme of a query, up to 255 times. With equal weights '
'ts_rank of n occurrences is (1 + 1/4 + ... + 1/n^2) / (pi^2/6), which falls short of 1 by about '
'1/(n + 1/2) / (pi^2/6); n is rounded.';
grant execute on function memory.term_frequency to memory_search;

create or replace function memory.one_lexeme(lexeme text)
  returns tsquery
  language sql
  immutable
  parallel safe
  return (
    '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''''
  )::tsquery;

comment on function memory.one_lexeme(text) is
'A tsquery that matches texts containing the lexeme.';
grant execute on function memory.one_lexeme to memory_search;

create or replace function memory.inverse_document_frequency(
  documents bigint,
  matching bigint
)
  returns float8
  language sql
  immutable
  parallel safe
  return ln(
    1 + (greatest(documents, matching) - matching + 0.5::float8) / (matching + 0.5::float8)
  );

comment on function memory.inverse_document_frequency(bigint, bigint) is
'How distinctive a word is that n of N documents contain: ln(1 + (N - n + 0.5)/(n + 0.5)), the '
'form of BM25 that is never negative.';
grant execute on function memory.inverse_document_frequency to memory_search;

create or replace function memory.saturate_frequency(
  frequency float8,
  relative_length float8,
  k1 float8,
  b float8
)
  returns float8
  language sql
  immutable
  parallel safe
  return frequency * (k1 + 1) / (frequency + k1 * (1 - b + b * relative_length));

comment on function memory.saturate_frequency(float8, float8, float8, float8) is
'The factor of a word''s frequency in BM25, 0..k1 + 1: each further occurrence adds less, and the '
'word counts less in a text longer than average (relative_length above 1).';
grant execute on function memory.saturate_frequency to memory_search;

grant create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.frequent_words(
  corpus memory.corpus_size,
  terms tsquery[],
  keeps_rarest boolean,
  tenant_id text
)
  returns float8[]
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
  set enable_seqscan = off -- the sample is a range of ids
  set jit = off -- compiling costs even more
  set max_parallel_workers_per_gather = 0 -- so does starting workers
as $$
declare
  -- Ids are random: about 256 of them lie between the middle and this one.
  v_middle constant uuid := uuid '80000000-0000-0000-0000-000000000000';
  v_end uuid := rpad(
    to_hex(least(2147483648 + ceil(4294967296.0 * 256 / corpus.documents), 4294967295)::bigint),
    32, '0'
  )::uuid;
begin
  return (
    with sampled as materialized (
      select m.search_vector
      from memory.searchable_memories as m
      where m.is_live
        and m.tenant_id = frequent_words.tenant_id
        and m.memory_type = corpus.memory_type
        and m.id >= v_middle
        and m.id < v_end
    ),
    words as (
      select
        t.position,
        (
          select count(*) filter (where s.search_vector @@ t.term)::float8 / nullif(count(*), 0)
          from sampled as s
        ) as share
      from unnest(terms) with ordinality as t (term, position)
    )
    select array_agg(case when w.is_frequent then w.share end order by w.position)
    from (
      select
        w.*,
        corpus.documents * sum(w.share) over (order by w.share, w.position)
        > case when keeps_rarest then 3000 else 1000 end
        and (
          not keeps_rarest or row_number() over (order by w.share, w.position) > 1
        ) as is_frequent
      from words as w
    ) as w
    having bool_or(w.is_frequent)
  );
end;
$$;

comment on function memory.frequent_words(memory.corpus_size, tsquery[], boolean, text) is
'The words of a query that are too frequent among the memories of a type to look up all that '
'contain them: at the place of each, the share of the memories that contain it, 0..1, estimated '
'from about 256 of them, always the same ones; NULL for the others: with keeps_rarest at least '
'one, and as many of the rarest as about 3000 memories contain; without, where meaning leads to '
'memories, too, as about 1000 do. NULL if all can be looked up.';

create or replace function memory.bm25_matches(
  corpus memory.corpus_size[],
  words memory.keyword_query,
  near_types text[],
  near memory.word_match[],
  only_near boolean,
  settings memory.settings,
  scope text,
  min_confidence float8,
  as_of timestamptz
)
  returns setof memory.word_match
  language plpgsql
  stable
  rows 50 -- the default estimate of 1000 rows leads to worse joins
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
  set enable_bitmapscan = on -- weigh_memories turns it off
  set jit = off -- compiling costs even more
  set max_parallel_workers_per_gather = 0 -- so does starting workers
as $$
#variable_conflict use_column
declare
  v_tenant_id text := settings.tenant_id;
  v_terms tsquery[] := array(
    select memory.one_lexeme(l.lexeme)
    from unnest(words.lexemes) with ordinality as l (lexeme, position)
    order by l.position
  );
  v_condition tsquery := case when words.all_terms is not null then words.condition end;
  v_memory_types text[] := array(select c.memory_type from unnest(corpus) as c);
  -- Variables, because reading fields of a record for each row is expensive.
  v_k1 float8 := settings.bm25_k1;
  v_b float8 := settings.bm25_b;
  v_words integer := cardinality(v_terms);
  -- While texts are indexed again in another language, a lexeme is rare that is that of a frequent
  -- word in the language of few texts: then all lexemes count alike, one for each word.
  v_languages float8 := words.languages::float8;
  -- For each type in turn: its frequent words, as memory.frequent_words returns them; what these
  -- add to the highest possible score; the words that lead to memories; and where their keys begin
  -- and end among all keys.
  v_shares float8[] := array[]::float8[];
  v_frequent float8[];
  v_extra float8[] := array_fill(0.0::float8, array[cardinality(corpus)]);
  v_keys bigint[] := words.any_terms;
  v_near_types text[] := array[]::text[]; -- those of which not every word leads to its memories
  v_leading tsquery[] := array_fill(null::tsquery, array[cardinality(corpus)]); -- where not all do
  v_first integer[] := array_fill(1, array[cardinality(corpus)]);
  v_last integer[] := array_fill(v_words, array[cardinality(corpus)]);
  -- With only_near: how many memories contain each word that leads to memories, and the highest
  -- possible score.
  v_documents bigint[];
  v_possible float8[];
begin
  for v_type in 1 .. cardinality(corpus) loop
    continue when corpus[v_type].documents <= settings.exact_scan_limit
      or v_words < 2 and corpus[v_type].memory_type <> all (near_types);
    v_frequent := memory.frequent_words(
      corpus[v_type], v_terms, corpus[v_type].memory_type <> all (near_types), v_tenant_id
    );
    continue when v_frequent is null;
    v_shares[(v_type - 1) * v_words + 1 : v_type * v_words] := v_frequent;
    v_first[v_type] := cardinality(v_keys) + 1;
    v_keys := v_keys || array(
      select k.key
      from unnest(words.any_terms, v_frequent) as k (key, share)
      where k.share is null
    );
    v_last[v_type] := cardinality(v_keys);
    v_leading[v_type] := memory.any_lexeme(array(
      select l.lexeme from unnest(words.lexemes, v_frequent) as l (lexeme, share) where l.share is null
    ));
    if corpus[v_type].memory_type = any (near_types) then
      v_near_types := v_near_types || corpus[v_type].memory_type;
    end if;
    v_extra[v_type] := (
      select sum(
        memory.inverse_document_frequency(
          corpus[v_type].documents, (corpus[v_type].documents * f.share)::bigint
        ) - memory.inverse_document_frequency(corpus[v_type].documents, 0)
      )
      from unnest(v_frequent) as f (share)
      where f.share is not null
    );
  end loop;

  if only_near then
    v_documents := array(
      select case
        when v_shares[(c.position - 1) * v_words + w.position] is not null
        then (c.documents * v_shares[(c.position - 1) * v_words + w.position])::bigint
        else (
          select count(*)
          from memory.searchable_memories as m
          where m.is_live
            and m.tenant_id collate "POSIX" = v_tenant_id
            and m.memory_type = c.memory_type
            and memory.search_terms(m.tenant_id, m.search_vector) && array[w.key]
        )
      end
      from unnest(corpus) with ordinality as c (memory_type, documents, average_terms, position)
      cross join unnest(words.any_terms) with ordinality as w (key, position)
      order by c.position, w.position
    );
    v_possible := array(
      select sum(
        memory.inverse_document_frequency(
          c.documents, v_documents[(c.position - 1) * v_words + w.position]
        )
      )
      from unnest(corpus) with ordinality as c (memory_type, documents, average_terms, position)
      cross join generate_series(1, v_words) as w (position)
      group by c.position
      order by c.position
    );
  end if;

  return query
  with matching as (
    select
      array_position(v_memory_types, m.memory_type) as type_position,
      m.id,
      m.created_at,
      m.search_vector,
      (v_condition is null or m.search_vector @@ v_condition)
      and (m.expires_at is null or m.expires_at > as_of)
      and memory.is_in_scope(m.memory_type, m.scope, bm25_matches.scope)
      and (
        bm25_matches.min_confidence = 0
        or memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of)
          >= bm25_matches.min_confidence
      ) as is_eligible
    from memory.searchable_memories as m
    where not only_near
      and m.is_live
      -- The hashed terms already belong to the tenant; this only makes sure of it, in a collation
      -- that keeps other indexes out of the plan.
      and m.tenant_id collate "POSIX" = v_tenant_id
      and m.memory_type = any (v_memory_types)
      and memory.search_terms(m.tenant_id, m.search_vector) && v_keys[
        v_first[array_position(v_memory_types, m.memory_type)]
        : v_last[array_position(v_memory_types, m.memory_type)]
      ]
    union all
    select
      array_position(v_memory_types, n.memory_type), n.id, m.created_at, m.search_vector,
      v_condition is null or m.search_vector @@ v_condition
    from unnest(near) as n
    cross join lateral (
      select s.created_at, s.search_vector
      from memory.searchable_memories as s
      where s.tenant_id = v_tenant_id and s.memory_type = n.memory_type and s.id = n.id
        and s.is_live
      offset 0 -- keeps this a look-up of one memory
    ) as m
    where only_near
      or (
        n.memory_type = any (v_near_types)
        -- Those that a word leads to are there already.
        and (m.search_vector @@ v_leading[array_position(v_memory_types, n.memory_type)])
          is not true
      )
    offset 0 -- computes is_eligible only once per memory
  ),
  occurrences as (
    select
      m.type_position, m.id, m.created_at, m.is_eligible,
      memory.term_frequency(m.search_vector, t.term) as frequency,
      length(m.search_vector)::float8 as terms,
      coalesce(
        v_documents[(m.type_position - 1) * v_words + t.position],
        count(*) over (partition by m.type_position, t.position)
      ) as documents,
      v_shares[(m.type_position - 1) * v_words + t.position] as share
    from matching as m
    join unnest(v_terms) with ordinality as t (term, position) on m.search_vector @@ t.term
    offset 0 -- computes each frequency only once
  ),
  weighed as (
    select
      o.*,
      c.documents as all_documents,
      case
        when v_languages > 1 then 1.0
        else memory.inverse_document_frequency(
          c.documents, coalesce((c.documents * o.share)::bigint, o.documents)
        )
      end as weight,
      memory.saturate_frequency(o.frequency, o.terms / c.average_terms, v_k1, v_b) as saturation
    from occurrences as o
    join unnest(corpus) with ordinality as c (type, documents, average_terms, position)
      on c.position = o.type_position
    offset 0 -- computes each weight only once
  ),
  -- If n memories contain a word, each of their rows contributes 1/n of its weight; words that no
  -- memory contains make up the rest of the query. Frequent ones are in v_extra.
  possible as (
    select
      w.*,
      (v_k1 + 1) * case
        when v_languages > 1 then v_words / v_languages
        when only_near then v_possible[w.type_position]
        else
          v_extra[w.type_position]
          + coalesce(
            sum(w.weight / w.documents) filter (where w.share is null)
              over (partition by w.type_position),
            0
          )
          + (
            v_words - coalesce(
              sum(1.0::float8 / w.documents) filter (where w.share is null)
                over (partition by w.type_position),
              0
            )
          ) * memory.inverse_document_frequency(w.all_documents, 0)
      end as possible
    from weighed as w
  )
  select
    v_memory_types[p.type_position], p.id, p.created_at, sum(p.weight * p.saturation),
    least(1.0, sum(p.weight * p.saturation) / max(p.possible))
  from possible as p
  where p.is_eligible
  group by p.type_position, p.id, p.created_at;
end;
$$;

comment on function memory.bm25_matches(
  memory.corpus_size[], memory.keyword_query, text[], memory.word_match[], boolean, memory.settings,
  text, float8, timestamptz
) is
'The live memories of the given types that contain lexemes of a query, unordered, with their BM25 '
'score (Robertson and Zaragoza, 2009): for each lexeme inverse_document_frequency, counted over '
'the tenant''s live memories of the type, times saturate_frequency; and its share of the highest '
'possible score, each lexeme at k1 + 1. If all words are required, only memories that contain all '
'of them. Of a type with more than exact_scan_limit memories, those that contain only frequent '
'words of the query (memory.frequent_words) are left out: these words count, but do not lead to a '
'memory. Of near_types, near has the memories that are candidates whatever they contain (live '
'ones, already in scope): these are weighed if they contain frequent words only, too. If all words '
'of the query are frequent in such a type, only these are weighed; in any other type, the rarest '
'word always leads to memories. With only_near, no others than near are read: of each word, the '
'memories that contain it are only counted.';

-- begin atomic instead of SET search_path, so that the planner inlines the function.
-- noqa: disable=RF01,RF03,AM03,ST06
create or replace function memory.keyword_matches(
  tenant_id text,
  memory_type text,
  query tsquery,
  any_terms bigint[],
  all_terms bigint[],
  scope text,
  depth integer,
  min_confidence float8,
  as_of timestamptz
)
  returns setof memory.candidate
  language sql
  stable
  rows 50 -- the default estimate of 1000 rows leads to worse joins
begin atomic
  select m.id, ts_rank(m.search_vector, keyword_matches.query)::float8 as weight, m.created_at
  from memory.searchable_memories as m
  where m.is_live
    and m.tenant_id = keyword_matches.tenant_id
    and m.memory_type = keyword_matches.memory_type
    and memory.search_terms(m.tenant_id, m.search_vector) && any_terms
    and memory.search_terms(m.tenant_id, m.search_vector) @> coalesce(all_terms, '{}')
    -- With all_terms NULL any term is a match, so the condition need not be checked.
    and (all_terms is null or m.search_vector @@ keyword_matches.query)
    and (m.expires_at is null or m.expires_at > as_of)
    and memory.is_in_scope(m.memory_type, m.scope, keyword_matches.scope)
    and (
      keyword_matches.min_confidence = 0
      or memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of)
        >= keyword_matches.min_confidence
    )
  order by weight desc, m.created_at desc, m.id
  limit depth;
end;

-- noqa: enable=RF01,RF03,AM03,ST06

comment on function memory.keyword_matches(
  text, text, tsquery, bigint[], bigint[], text, integer, float8, timestamptz
) is
'The depth live memories of one type that match a query best, by ts_rank. any_terms, all_terms: '
'hashed lexemes (hash_terms); a match contains at least one of any_terms and each of all_terms. '
'all_terms NULL: any term is enough.';

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
