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
          "a": "qwszeio", "b": "vghn", "c": "xdfvsk", "d": "serfcxt", "e": "wrsdaio",
          "f": "drtgvc", "g": "ftyhbvj", "h": "gyujnb", "i": "uojkeay", "j": "huiknmg",
          "k": "jiolmc", "l": "kop", "m": "njk", "n": "bhjm", "o": "ipklaue", "p": "ol", "q": "wa",
          "r": "etdf", "s": "awedxzc", "t": "ryfgd", "u": "yihjo", "v": "cfgb", "w": "qeas",
          "x": "zsdc", "y": "tughi", "z": "asx"
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

create or replace function memory.is_spelled_oddly(word text)
  returns boolean
  language sql
  immutable
  strict
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select exists (
    select
    from generate_series(1, length(word)) as p (place)
    where position(
      substr(' ' || word || ' ', p.place, 3)
      in regexp_replace(memory.common_words(), '\s+', ' ', 'g')
    ) = 0
  );
$$;

comment on function memory.is_spelled_oddly(text) is
'Whether three letters follow each other in a lowercase word, or two at its beginning or end, '
'that do so in no common word (memory.common_words): nmuber begins like none.';
grant execute on function memory.is_spelled_oddly to memory_search;

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
grant execute on function memory.memory_type_names to memory_search;

create or replace function memory.lone_word(word text)
  returns text
  language sql
  immutable
  strict
  parallel safe
  return '(?<![[:alnum:]\u0300-\u036f@./\\:?=&#$%~*+''’_-])(' || word
    || ')(?![[:alnum:]\u0300-\u036f@/\\:=&#$%~*+_-]|\.[[:alnum:]]|[''’](t|re|ve|ll|d|m)\M)';

comment on function memory.lone_word(text) is
'The regular expression that finds a word, itself a regular expression, where it is a word by '
'itself: not a part of an address, a path, the name of a file, a compound or a contraction.';
grant execute on function memory.lone_word to memory_search;

grant create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.unknown_words(
  query text,
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
  v_config constant regconfig := settings.text_search_config::regconfig;
  v_words text[] := array(
    select min(w.word)
    from (
      select m.groups[1] as word, m.position
      from regexp_matches(query, memory.lone_word('[A-Za-z]{5,20}'), 'g')
        with ordinality as m (groups, position)
    ) as w
    cross join lateral tsvector_to_array(to_tsvector('pg_catalog.english', w.word)) as l (lexemes)
    where cardinality(l.lexemes) = 1
      and not to_tsvector('pg_catalog.english', memory.common_words())
        @@ memory.one_lexeme(l.lexemes[1])
      and not to_tsvector('pg_catalog.simple', memory.common_words())
        @@ memory.one_lexeme(lower(w.word))
    group by lower(w.word)
    order by min(w.position)
    limit 5
  );
begin
  -- Whoever says much is understood without a word.
  if cardinality(v_words) not between 1 and 4 then
    return '{}';
  end if;
  return (
    with sampled as materialized (
      select m.search_vector
      from (
        select m.*
        from memory.searchable_memories as m
        where m.is_live and m.tenant_id = v_tenant_id
        limit 64 -- noqa: AM09
      ) as m
      where (m.expires_at is null or m.expires_at > as_of)
        and memory.is_in_scope(m.memory_type, m.scope, unknown_words.scope)
    )
    select coalesce(array_agg(u.word order by u.position), '{}')
    from (
      select w.word, w.position
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
            and memory.search_terms(e.tenant_id, e.search_vector)
              && memory.hash_terms(v_tenant_id, l.lexemes)
            and (e.expires_at is null or e.expires_at > as_of)
            and memory.is_in_scope('entry', e.scope, unknown_words.scope)
        )
      order by w.position
      limit 3
    ) as u
  );
end;
$$;

comment on function memory.unknown_words(text, text, memory.settings, timestamptz) is
'The first words of a query, at most three, that are neither common (memory.common_words) nor in a '
'memory in a visible scope (memory.visible_scope) that is live, aged or archived: words of five to '
'twenty letters a to z. Words that differ by their ends only are the same. None of a query with '
'more than four such words that are not common.';

create or replace function memory.known_spelling(
  word text,
  with_common boolean,
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
  v_is_name constant boolean := known_spelling.word ~ '^[A-Z][a-z]';
  v_is_odd constant boolean := memory.is_spelled_oddly(lower(known_spelling.word));
  v_all text[];
  v_slips integer[];
  v_lexemes text[];
  v_spellings text[];
  v_best text;
begin
  select
    array_agg(n.spelling order by n.slip, n.spelling collate "C"),
    array_agg(n.slip order by n.slip, n.spelling collate "C")
  into v_all, v_slips
  from memory.near_spellings(lower(known_spelling.word)) as n
  where n.slip = 1
    or not v_is_name and (
      n.slip = 2 and (v_is_odd or length(known_spelling.word) >= 7)
      or n.slip > 2 and v_is_odd and length(known_spelling.word) >= 6
    );
  if v_all is null then
    return null;
  end if;

  -- A word that memories have, the likeliest slips first.
  for v_slip in 1 .. v_slips[cardinality(v_slips)] loop
    -- In the text of all spellings, each has its position.
    select array_agg(s.spelling order by p.position), array_agg(t.lexeme order by p.position)
    into v_spellings, v_lexemes
    from (
      select array_agg(a.spelling order by a.position) as spellings
      from unnest(v_all, v_slips) with ordinality as a (spelling, slip, position)
      where a.slip = v_slip
    ) as l
    cross join lateral unnest(
      to_tsvector(settings.text_search_config::regconfig, array_to_string(l.spellings, ' '))
    ) as t
    cross join unnest(t.positions) as p (position)
    cross join lateral (select l.spellings[p.position] as spelling) as s;

    with found as materialized (
      select n.spelling, f.body
      from (
        select m.search_vector, concat_ws(' ', m.subject, m.predicate, m.content) as body
        from memory.searchable_memories as m
        where m.is_live and m.tenant_id collate "POSIX" = v_tenant_id
          and m.memory_type = any (memory_types)
          and memory.search_terms(m.tenant_id, m.search_vector)
            && memory.hash_terms(v_tenant_id, v_lexemes)
          and (m.expires_at is null or m.expires_at > as_of)
          and memory.is_in_scope(m.memory_type, m.scope, known_spelling.scope)
          and (
            settings.min_confidence = 0
            or memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of)
              >= settings.min_confidence
          )
        limit 100 -- noqa: AM09
      ) as f
      cross join lateral unnest(tsvector_to_array(f.search_vector)) as h (lexeme)
      join unnest(v_spellings, v_lexemes) as n (spelling, lexeme) on n.lexeme = h.lexeme
    ),
    matched as (
      select f.spelling, regexp_match(
        memory.fold_text(left(f.body, 10000)),
        -- A plural may be meant.
        '\m(' || regexp_replace(f.spelling, '([^s])s$', '\1') || 's?)\M', 'i'
      ) as words
      from found as f
    )
    select lower(m.words[1]) into v_best
    from matched as m
    where m.words is not null
      -- Another name may be that of somebody else: Karin is not Karina.
      and (v_slip = 1 or m.words[1] !~ '^[A-Z][a-z]')
    group by lower(m.words[1])
    order by count(*) desc, lower(m.words[1]) collate "C"
    limit 1;
    exit when found;
  end loop;

  -- Or the only common one.
  if v_best is null and with_common then
    select min(c.spelling) into v_best
    from (
      select n.spelling, rank() over (order by n.slip) as place
      from unnest(v_all, v_slips) as n (spelling, slip)
      where to_tsvector('pg_catalog.simple', memory.common_words())
        @@ memory.one_lexeme(n.spelling)
    ) as c
    where c.place = 1
    having count(*) = 1;
  end if;
  return v_best;
end;
$$;

comment on function memory.known_spelling(
  text, boolean, text[], text, memory.settings, timestamptz
) is
'What a word that nobody knows (memory.unknown_words) was probably meant to be: the word that '
'differs by the likeliest slip (memory.near_spellings), if a live memory of the given types in a '
'visible scope has it in its first 10,000 characters; else, with_common, the only common one. Of '
'a name, only slips of kind 1 are looked for; of a word that is not spelled oddly '
'(memory.is_spelled_oddly), and may be right, those of kind 1, and of kind 2 if it has seven '
'letters; of any other word, those of kind 3 and 4 if it has six. NULL: unknown.';

create or replace function memory.correct_spelling(
  query text,
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
  -- Whole prompts have words enough, and quotations are meant as they are. While texts are indexed
  -- in two languages, a word may be known in the other one.
  if query is null or length(query) > 300 or query ~ '["“”„«»]' or settings.ranking = 'specified'
    or cardinality(memory.query_languages(settings)) > 1
  then
    return v_query;
  end if;
  v_words := memory.unknown_words(query, scope, settings, as_of);
  -- Three unknown words are not misspelled: they are of another subject or language.
  if cardinality(v_words) > 2 then
    return v_query;
  end if;
  foreach v_word in array v_words loop
    continue when memory.is_read_as_such(v_word);
    v_known := memory.known_spelling(
      v_word,
      -- The common words are English. At the beginning, a capital does not make a name.
      query ~* '\m(what|where|who|when|why|how|which|the|my|does|did|from|about|your|our|their)\M'
      and (v_word !~ '^[A-Z][a-z]' or starts_with(ltrim(query), v_word)),
      -- Looking up all spellings takes half a millisecond for each type.
      array(
        select c.memory_type
        from unnest(memory.corpus_sizes(memory.memory_type_names())) as c
        where c.documents > 0
      ),
      scope, settings, as_of
    );
    continue when v_known is null;
    v_query := regexp_replace(v_query, memory.lone_word(lower(v_word)), v_known, 'g');
    v_query := regexp_replace(v_query, memory.lone_word(initcap(v_word)), initcap(v_known), 'g');
    v_query := regexp_replace(v_query, memory.lone_word(upper(v_word)), upper(v_known), 'g');
  end loop;
  return v_query;
end;
$$;

comment on function memory.correct_spelling(text, text, memory.settings, timestamptz) is
'A query with each misspelled word as it is probably meant: "Where is the teelscope?" becomes '
'"Where is the telescope?". Misspelled is a word that is neither common nor in a memory in a '
'visible scope, but is one slip of the pen away from such a word (memory.known_spelling); unless '
'it is read as such (memory.is_read_as_such). Queries with more than two unknown words, over 300 '
'characters or with quotations stay, and all while texts are indexed again in another language, or '
'with the ranking "specified".';
grant execute on function memory.correct_spelling to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
