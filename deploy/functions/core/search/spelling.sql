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
    -- A letter too few, and one too many.
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
'sounds like it. None changes the first letter, but for its order.';
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
  return '(?<![[:alnum:]\u0300-\u036f@./\\:?=&#$%~*+''’‘`<_-])(' || word
    || ')(?![[:alnum:]\u0300-\u036f@/\\:=&#$%~*+`(>_-]|\.[[:alnum:]]|[''’](t|re|ve|ll|d|m)\M)';

comment on function memory.lone_word(text) is
'A regular expression that finds a word (given as one, too) where it stands alone: not in an '
'address, a path, the name of a file, code, a compound or a contraction.';
grant execute on function memory.lone_word to memory_search;

create or replace function memory.is_in_english(query text)
  returns boolean
  language sql
  immutable
  strict
  parallel safe
  return query ~* (
    '\m(what|where|when|why|how|which|whose|the|my|does|did|are|have|should|any|there|from|about|'
    || 'your|our|their|with)\M'
  );

comment on function memory.is_in_english(text) is
'Whether a query has one of the words with which English questions are asked.';
grant execute on function memory.is_in_english to memory_search;

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
    where w.word in (lower(w.word), initcap(w.word), upper(w.word))
      and cardinality(l.lexemes) = 1
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
    return array[]::text[];
  end if;
  return (
    with sampled as materialized (
      select m.memory_type, m.content, m.search_vector
      from (
        select m.*
        from memory.searchable_memories as m
        where m.is_live and m.tenant_id = v_tenant_id
        order by m.id -- reads only so many; ids are random
        limit 64
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
        -- Some memories before all: those with a frequent word are many. Who asks again misspells
        -- as before, so an episode that asks makes no word known.
        and not exists (
          select
          from sampled as s
          where s.search_vector @@ memory.one_lexeme(l.lexemes[1])
            and (
              s.memory_type <> 'episode'
              or not memory.mostly_asks(memory.share_that_asks(s.content))
            )
        )
        and not exists (
          select
          from memory.searchable_memories as m
          where m.is_live and m.tenant_id collate "POSIX" = v_tenant_id
            and memory.search_terms(m.tenant_id, m.search_vector)
              && memory.hash_terms(v_tenant_id, l.lexemes)
            and (m.expires_at is null or m.expires_at > as_of)
            and memory.is_in_scope(m.memory_type, m.scope, unknown_words.scope)
            and (
              m.memory_type <> 'episode'
              or not memory.mostly_asks(memory.share_that_asks(m.content))
            )
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
'memory in a visible scope (memory.visible_scope) that is live, aged or archived, episodes aside '
'that mostly ask (memory.mostly_asks): words of five to twenty letters a to z. Words '
'that differ by their ends only are the same. None of a query with more than four words that are '
'not common.';

create or replace function memory.known_spelling(
  word text,
  in_english boolean,
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
  v_length constant integer := length(known_spelling.word);
  v_is_name constant boolean := known_spelling.word ~ '^[A-Z]';
  v_is_odd constant boolean := in_english
    and memory.is_spelled_oddly(lower(known_spelling.word));
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
      n.slip = 2 and (v_is_odd or v_length >= 7)
      or n.slip > 2 and (v_is_odd and v_length >= 6 or in_english and v_length >= 9)
    );

  -- The likeliest slips first.
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

    with near as materialized (
      select n.spelling, memory.one_lexeme(n.lexeme) as term
      from unnest(v_spellings, v_lexemes) as n (spelling, lexeme)
    ),
    -- Some that have one of them are enough.
    found as materialized (
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
      limit 20 -- noqa: AM09
    ),
    texts as materialized (
      select n.spelling, memory.fold_text(left(f.body, 4000)) as body
      from found as f
      join near as n on f.search_vector @@ n.term
    )
    select lower(m.groups[1]) into v_best
    from texts as t
    cross join lateral regexp_matches(
      t.body,
      -- The plural may be there, or another form of it.
      memory.lone_word(
        regexp_replace(t.spelling, '([^s])s$', '\1') || '(?:s|es|d|ed|ing|er|ers|ly)?'
      ),
      'gi'
    ) as m (groups)
    -- Another name may be that of somebody else: Karin is not Karina.
    where v_slip = 1 or m.groups[1] !~ '^[A-Z]'
    group by lower(m.groups[1])
    order by count(*) desc, lower(m.groups[1]) collate "C"
    limit 1;
    exit when found;
  end loop;
  return v_best;
end;
$$;

comment on function memory.known_spelling(
  text, boolean, text[], text, memory.settings, timestamptz
) is
'What a word that nobody knows (memory.unknown_words) was probably meant to be: the word that '
'differs from it by the likeliest kind of slip (memory.near_spellings) among those that a live '
'memory of the given types in a visible scope, of at least min_confidence, has in its first 4,000 '
'characters. NULL: none. Kind 1 is always looked for, the others for words in lowercase only, and '
'found in lowercase only: kind 2 for words of seven letters or that are spelled oddly '
'(memory.is_spelled_oddly), 3 and 4 for words of nine letters, or of six that are spelled oddly. '
'in_english: the word is of an English query; in others, none is spelled oddly, and kinds 3 and 4 '
'are not looked for.';

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
  v_types text[];
  v_word text;
  v_known text;
begin
  -- Whole prompts have words enough, and quotations are meant as they are.
  if query is null or length(query) > 300 or translate(query, '"“”„«»', '') <> query
    or settings.ranking = 'specified'
  then
    return v_query;
  end if;
  v_words := memory.unknown_words(query, scope, settings, as_of);
  -- Three unknown words are not misspelled: they are of another subject or language. While texts are
  -- indexed in two languages, a word may be known in the other one.
  if cardinality(v_words) not between 1 and 2
    or cardinality(memory.query_languages(settings)) > 1
  then
    return v_query;
  end if;
  -- Looking up all spellings takes half a millisecond for each type.
  v_types := array(
    select c.memory_type
    from unnest(memory.corpus_sizes(memory.memory_type_names())) as c
    where c.documents > 0
  );
  foreach v_word in array v_words loop
    continue when memory.is_read_as_such(v_word);
    v_known := memory.known_spelling(
      v_word, memory.is_in_english(query), v_types, scope, settings, as_of
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
'visible scope (memory.unknown_words), and one slip of the pen away from one that a memory has '
'(memory.known_spelling); unless it is read as such (memory.is_read_as_such). Queries with more '
'than two unknown words, over 300 characters or with quotations stay, and all while texts are '
'indexed again in another language, or with the ranking "specified".';
grant execute on function memory.correct_spelling to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
