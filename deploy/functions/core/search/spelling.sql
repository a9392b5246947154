-- Deploy pymem:functions/core/search/spelling to pg

begin;

-- memory_search owns the functions in this file that read memories: see neighbors.sql.

set local role memory_owner;

create or replace function memory.near_spellings(word text)
  returns table (
    spelling text,
    slip integer
  )
  language sql
  immutable
  strict
  parallel safe
  rows 200
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select s.spelling, min(s.slip)
  from generate_series(1, length(word)) as p (place)
  cross join lateral (
    -- Two letters in the wrong order.
    select
      left(word, p.place - 1) || substr(word, p.place + 1, 1) || substr(word, p.place, 1)
      || substr(word, p.place + 2) as spelling,
      1 as slip
    where p.place < length(word)
    union all
    -- A letter twice that should be there once, and once that should be there twice.
    select left(word, p.place) || substr(word, p.place + 2), 1
    where substr(word, p.place, 1) = substr(word, p.place + 1, 1)
    union all
    select left(word, p.place) || substr(word, p.place), 1
    union all
    -- Another letter too few, and too many.
    select left(word, p.place) || a.letter || substr(word, p.place + 1), 2
    from string_to_table('abcdefghijklmnopqrstuvwxyz', null) as a (letter)
    union all
    select left(word, p.place - 1) || substr(word, p.place + 1), 3
    where p.place > 1
    union all
    -- Another letter: one beside it on a keyboard, or one that sounds like it.
    select left(word, p.place - 1) || a.letter || substr(word, p.place + 1), 4
    from (
      values (
        '{
          "a": "qwszei", "b": "vghn", "c": "xdfvsk", "d": "serfcx", "e": "wrsdai", "f": "drtgvc",
          "g": "ftyhbvj", "h": "gyujnb", "i": "uojkeay", "j": "huiknmg", "k": "jiolmc",
          "l": "kop", "m": "njk", "n": "bhjm", "o": "ipkl", "p": "ol", "q": "wa", "r": "etdf",
          "s": "awedxzc", "t": "ryfg", "u": "yihj", "v": "cfgb", "w": "qeas", "x": "zsdc",
          "y": "tughi", "z": "asx"
        }'::jsonb
      )
    ) as k (beside)
    cross join lateral string_to_table(k.beside ->> substr(word, p.place, 1), null) as a (letter)
    where p.place > 1
  ) as s
  where s.spelling <> word
  group by s.spelling;
$$;

comment on function memory.near_spellings(text) is
'The spellings that differ from a lowercase word by one slip of the pen, and its kind, the less '
'likely the higher: 1 two letters in the wrong order, or one letter for two alike or two for one, '
'2 a letter too few, 3 a letter too many, 4 another letter, which lies beside it on a keyboard or '
'sounds like it. The first letter is taken for right, but for its order.';
grant execute on function memory.near_spellings to memory_search;

create or replace function memory.is_read_as_such(word text)
  returns boolean
  language sql
  immutable
  strict
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    memory.may_name_time(word)
    or cardinality((memory.synonyms_of(lower(word), null)).words) > 1
    or memory.use_past_forms('did ' || word) <> 'did ' || word;
$$;

comment on function memory.is_read_as_such(text) is
'Whether a word names a time, a relation or a property, or is a verb with an irregular past.';
grant execute on function memory.is_read_as_such to memory_search;
grant execute on function memory.may_name_time to memory_search;

grant create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.unknown_words(
  query text,
  memory_types text[],
  scope text,
  settings memory.settings,
  as_of timestamptz
)
  returns text[]
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
  set enable_seqscan = off -- words are looked up
  set jit = off -- compiling costs even more
  set max_parallel_workers_per_gather = 0 -- so does starting workers
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := settings.tenant_id;
  v_config constant regconfig := settings.text_search_config;
  v_words text[] := array(
    select min(w.word)
    from (
      select m.groups[1] as word, m.position
      -- Parts of addresses, paths and names of files are no words.
      from regexp_matches(
        query, '(?<![[:alnum:]@./\\:_-])([A-Za-z]{5,20})(?![[:alnum:]@/\\:_-]|\.[[:alnum:]])', 'g'
      ) with ordinality as m (groups, position)
    ) as w
    cross join lateral to_tsvector('pg_catalog.english', w.word) as e (stem)
    cross join lateral tsvector_to_array(e.stem) as l (lexemes)
    where cardinality(l.lexemes) = 1
      and not to_tsvector('pg_catalog.english', memory.common_words())
        @@ memory.one_lexeme(l.lexemes[1])
      and not to_tsvector('pg_catalog.simple', memory.common_words())
        @@ memory.one_lexeme(lower(w.word))
    group by lower(w.word)
    order by min(w.position)
    limit 8
  );
begin
  if v_words = '{}' then
    return v_words;
  end if;
  return (
    with sampled as materialized (
      select m.search_vector
      from (
        select m.*
        from memory.searchable_memories as m
        where m.is_live and m.tenant_id = v_tenant_id and m.memory_type = any (memory_types)
        limit 64 -- noqa: AM09
      ) as m
      where (m.expires_at is null or m.expires_at > as_of)
        and memory.is_in_scope(m.memory_type, m.scope, unknown_words.scope)
    )
    select coalesce(array_agg(w.word order by w.position), '{}')
    from unnest(v_words) with ordinality as w (word, position)
    cross join lateral tsvector_to_array(to_tsvector(v_config, w.word)) as l (lexemes)
    where cardinality(l.lexemes) = 1
      -- First among any few, because all memories with a frequent word are many.
      and not exists (
        select from sampled as s where s.search_vector @@ memory.one_lexeme(l.lexemes[1])
      )
      and not exists (
        select
        from memory.searchable_memories as m
        where m.is_live and m.tenant_id collate "POSIX" = v_tenant_id
          and m.memory_type = any (memory_types)
          and memory.search_terms(m.tenant_id, m.search_vector)
            && memory.hash_terms(v_tenant_id, l.lexemes)
          and (m.expires_at is null or m.expires_at > as_of)
          and memory.is_in_scope(m.memory_type, m.scope, unknown_words.scope)
      )
      and not exists (
        select
        from memory.entries as e
        where e.lifecycle_state in ('aged', 'archived')
          and e.tenant_id collate "POSIX" = v_tenant_id
          and 'entry' = any (memory_types)
          and memory.search_terms(e.tenant_id, e.search_vector)
            && memory.hash_terms(v_tenant_id, l.lexemes)
          and (e.expires_at is null or e.expires_at > as_of)
          and memory.is_in_scope('entry', e.scope, unknown_words.scope)
      )
  );
end;
$$;

comment on function memory.unknown_words(text, text[], text, memory.settings, timestamptz) is
'The words of a query that are neither common (memory.common_words) nor in a memory of the given '
'types in a visible scope (memory.visible_scope) that is live, aged or archived: words of five to '
'twenty letters a to z, among the first eight that are not common. Words that differ by their ends '
'only are the same.';

create or replace function memory.known_spelling(
  word text,
  memory_types text[],
  scope text,
  settings memory.settings,
  as_of timestamptz
)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
  set enable_seqscan = off -- words are looked up
  set jit = off -- compiling costs even more
  set max_parallel_workers_per_gather = 0 -- so does starting workers
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := settings.tenant_id;
  v_spellings text[];
  v_slips integer[];
  v_lexemes text[];
  v_best text;
  v_found text[]; -- those that memories have, also as a name
begin
  select
    array_agg(n.spelling order by n.slip, n.spelling collate "C"),
    array_agg(n.slip order by n.slip, n.spelling collate "C")
  into v_spellings, v_slips
  from memory.near_spellings(lower(known_spelling.word)) as n
  -- Shorter ones resemble too many.
  where n.slip <= 2 or length(known_spelling.word) >= 6;

  -- Those that are no stop words, with their lexemes: in the text of all, each has its position.
  select
    array_agg(v_spellings[p.position] order by p.position),
    array_agg(v_slips[p.position] order by p.position),
    array_agg(t.lexeme order by p.position)
  into v_spellings, v_slips, v_lexemes
  from unnest(
    to_tsvector(settings.text_search_config::regconfig, array_to_string(v_spellings, ' '))
  ) as t
  cross join unnest(t.positions) as p (position);

  -- A word that memories have as such, whose plural may be another.
  select
    (array_agg(u.spelling order by u.slip, u.uses desc, u.spelling) filter (where u.fits))[1],
    array_agg(u.spelling)
  into v_best, v_found
  from (
    select n.spelling, n.slip, count(*) as uses, bool_or(w.fits) as fits
    from (
      select m.search_vector, concat_ws(' ', m.subject, m.predicate, m.content) as body
      from memory.searchable_memories as m
      where m.is_live and m.tenant_id collate "POSIX" = v_tenant_id
        and m.memory_type = any (memory_types)
        and memory.search_terms(m.tenant_id, m.search_vector)
          && memory.hash_terms(v_tenant_id, v_lexemes)
        and (m.expires_at is null or m.expires_at > as_of)
        and memory.is_in_scope(m.memory_type, m.scope, known_spelling.scope)
      order by m.id
      limit 100
    ) as f
    cross join unnest(tsvector_to_array(f.search_vector)) as h (lexeme)
    join unnest(v_spellings, v_slips, v_lexemes) as n (spelling, slip, lexeme)
      on n.lexeme = h.lexeme
    cross join lateral (
      select
        n.slip <= 2
        -- Another name may be that of somebody else: Marina is not Maria.
        or f.body ~ ('\m' || n.spelling || '\M') and known_spelling.word !~ '^[A-Z][a-z]' as fits
    ) as w
    where f.body ~* (
      '\m' || case when n.slip <= 2 then rtrim(n.spelling, 's') || 's?' else n.spelling end || '\M'
    )
    group by n.spelling, n.slip
  ) as u;

  -- Or the only common one.
  if v_best is null and known_spelling.word !~ '^[A-Z][a-z]' then
    select min(c.spelling) into v_best
    from (
      select n.spelling, rank() over (order by n.slip) as place
      from unnest(v_spellings, v_slips) as n (spelling, slip)
      where n.spelling <> all (coalesce(v_found, '{}'))
        and to_tsvector('pg_catalog.simple', memory.common_words())
          @@ memory.one_lexeme(n.spelling)
    ) as c
    where c.place = 1
    having count(*) = 1;
  end if;
  return v_best;
end;
$$;

comment on function memory.known_spelling(text, text[], text, memory.settings, timestamptz) is
'What a word that nobody knows (memory.unknown_words) was probably meant to be: the word that '
'differs by the likeliest slip (memory.near_spellings), if a live memory of the given types in a '
'visible scope has it, else if it is common and the only one. A name is only another one if a '
'letter is missing, twice or in the wrong place. NULL: unknown.';

create or replace function memory.correct_spelling(
  query text,
  memory_types text[],
  scope text,
  settings memory.settings,
  as_of timestamptz
)
  returns text
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_query text := query;
  v_words text[];
  v_word text;
  v_known text;
begin
  -- Whole prompts have words enough, and a quotation is meant as it is. What is in several languages
  -- is known in one only.
  if query is null or length(query) > 300 or query like '%"%' or settings.ranking = 'specified'
    or cardinality(memory.query_languages(settings)) > 1
  then
    return v_query;
  end if;
  v_words := memory.unknown_words(query, memory_types, scope, settings, as_of);
  -- Who uses many words that nobody knows knows them, or speaks another language.
  if cardinality(v_words) > 2 then
    return v_query;
  end if;
  foreach v_word in array v_words loop
    continue when memory.is_read_as_such(v_word);
    v_known := memory.known_spelling(
      v_word,
      -- Looking up all spellings takes half a millisecond for each type.
      array(
        select c.memory_type from unnest(memory.corpus_sizes(memory_types)) as c where c.documents > 0
      ),
      scope, settings, as_of
    );
    continue when v_known is null;
    v_query := regexp_replace(
      v_query, '\m' || v_word || '\M',
      case
        when v_word = upper(v_word) then upper(v_known)
        when v_word ~ '^[A-Z]' then initcap(v_known)
        else v_known
      end,
      'g'
    );
  end loop;
  return v_query;
end;
$$;

comment on function memory.correct_spelling(text, text[], text, memory.settings, timestamptz) is
'A query with each misspelled word as it is probably meant: "Where is the teelscope?" becomes '
'"Where is the telescope?". Misspelled is a word that is neither common nor in a memory of the '
'given types in a visible scope, but is one slip of the pen away from such a word '
'(memory.known_spelling); unless it is read as such (memory.is_read_as_such). Queries with more '
'than two such words, over 300 characters or with quotations stay, and all while texts are indexed '
'again in another language, or with the ranking "specified".';
grant execute on function memory.correct_spelling to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
