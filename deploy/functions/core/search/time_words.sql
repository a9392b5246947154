-- Deploy pymem:functions/core/search/time_words to pg

begin;

set local role memory_owner;

-- Every search calls the functions generated here, so the vocabulary of memory.time_words is
-- compiled into them. Whether a text contains any of the words is a look-up in the keys of a JSON
-- object, which takes a tenth of the time of a regular expression with as many words; only texts
-- that do are read more closely. Phrases with gaps, and phrases whose meaning depends on the words
-- around them, are expensive to match: their fixed parts are matched first.
create or replace function memory.refresh_time_questions()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_question record;
  v_argument text;
  v_words text;
begin
  for v_question in
    with words as (
      select
        w.kind,
        memory.fold_words(
          coalesce(replace(w.word, '<' || n.kind || '>', n.word), w.word)
        ) as word,
        memory.fold_words(regexp_replace(w.word, '<\w+>|…', '', 'g')) as parts
      from memory.time_words as w
      left join memory.time_words as n
        on n.language = w.language and w.word ~ ('<' || n.kind || '>')
    ),
    asked as (
      select w.kind as question, w.word, w.parts
      from words as w
      where w.kind ~ '^(tells|asks) '
      union all
      select 'asks events', w.word, w.parts
      from words as w
      where w.kind = 'asks happened'
    ),
    phrases as (
      select
        a.question, a.parts,
        coalesce('(?<! (' || n.before || ') )', '')
        || replace(
          regexp_replace(a.word, ' \.\.\.$', ' [a-z0-9]+'), ' ... ',
          -- No end of a sentence, but the point of an ordinal: am 5. Dezember.
          '( [a-z0-9]+| (?<=[0-9] )[.]){0,6} '
        )
        || coalesce('(?! (' || n.after || ') )', '') as pattern,
        split_part(' ... ' || regexp_replace(a.word, ' \.\.\.$', ''), ' ... ', -1) as fixed_part,
        a.word ~ ' ' or n.before is not null or n.after is not null as is_phrase
      from asked as a
      cross join lateral (
        select
          string_agg(left(w.word, -1 - length(a.word)), '|' order by w.word)
          filter (where w.word like '% ' || a.word) as before,
          string_agg(substr(w.word, 2 + length(a.word)), '|' order by w.word)
          filter (where w.word like a.word || ' %') as after
        from words as w
        where w.kind = 'never'
      ) as n
    )
    select
      p.question,
      jsonb_object_agg(k.word, null) as keys,
      jsonb_object_agg(k.word, null) filter (where not p.is_phrase) as words,
      ' (' || string_agg(distinct p.pattern, '|' order by p.pattern) filter (where p.is_phrase)
      || ') ' as pattern,
      ' (' || string_agg(distinct p.fixed_part, '|' order by p.fixed_part)
      filter (where p.is_phrase) || ') ' as fixed_parts
    from phrases as p
    cross join lateral (
      -- A text that contains a phrase contains its longest word.
      select u.word
      from unnest(string_to_array(p.parts, ' ')) as u (word)
      order by length(u.word) desc, u.word
      limit 1
    ) as k
    group by p.question
    order by p.question
  loop
    v_argument := case when v_question.question ~ '^tells' then 'content' else 'query' end;
    v_words := format(
      'memory.words_of(left(%s, %s))',
      v_argument, case when v_question.question ~ '^tells' then 4000 else 1000 end
    );
    execute format(
      'create or replace function memory.%1$s(%2$s text)
         returns boolean
         language sql
         immutable
         parallel safe
         return case
           when %4$L::jsonb ?| %3$s is not true then false
           when %5$L::jsonb ?| %3$s then true
           when regexp_replace('' '' || array_to_string(%3$s, '' '') || '' '', '' +'', '' '', ''g'')
             collate "C" !~ %7$L
           then false
           else regexp_replace('' '' || array_to_string(%3$s, '' '') || '' '', '' +'', '' '', ''g'')
             collate "C" ~ %6$L
         end',
      replace(v_question.question, ' ', '_'),
      v_argument, v_words, v_question.keys, v_question.words, v_question.pattern,
      v_question.fixed_parts
    );
  end loop;
end;
$$;

comment on function memory.refresh_time_questions() is
'Regenerates memory.tells_update, asks_present, asks_ahead, asks_past, asks_events and '
'asks_happened from memory.time_words. Call it in each change that adds or removes words.';

create or replace function memory.refresh_time_vocabulary()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_keys jsonb;
  v_vocabulary jsonb;
begin
  -- The shortest words for a unit mean something else in other languages, and rarely stand alone.
  select jsonb_object_agg(k.word, null) into v_keys
  from memory.time_words as w
  cross join lateral (
    select u.word
    from unnest(string_to_array(w.folded, ' ')) as u (word)
    order by length(u.word) desc, u.word
    limit 1
  ) as k
  where w.kind in ('month', 'weekday', 'day', 'season', 'quarter', 'holiday', 'ago')
    or w.kind in ('since', 'relative after', 'relative around') and w.folded !~ ' '
    or w.kind = 'unit' and length(w.folded) > 2;

  execute format(
    'create or replace function memory.may_name_time(query text)
       returns boolean
       language sql
       immutable
       parallel safe
       return coalesce(
         %L::jsonb ?| memory.words_of(left(query, 1000))
         or left(query, 1000) collate "C" ~ %L,
         false
       )',
    v_keys,
    '(19|20)[0-9]{2}|[0-9]{4}[./-][0-9]|[0-9]{1,2}[/-][0-9]{1,2}[/-][0-9]{2}'
  );

  with readings as (
    select
      w.folded, w.language as key,
      case w.kind || ' ' || w.value
        when 'before ago' then 'V'
        when 'in the' then 'j'
        else k.letter || w.value
      end as reading
    from memory.time_words as w
    join (
      values
      ('month', 'plain', 'M'), ('month', 'weak', 'n'), ('month', 'verb', 'm'),
      ('weekday', 'plain', 'W'), ('weekday', 'verb', 'd'),
      ('season', 'plain', 'S'), ('season', 'weak', 'g'),
      ('quarter', 'weak', 'K'), ('holiday', 'plain', 'H'), ('day', 'plain', 'T'),
      ('unit', 'plain', 'U'), ('number', 'plain', 'Z'), ('ordinal', 'plain', 'z'),
      ('relative before', 'plain', 'R'), ('relative after', 'plain', 'r'),
      ('relative around', 'plain', 'Q'), ('part', 'plain', 'P'), ('every', 'plain', 'v'),
      ('ago', 'plain', 'A'), ('since', 'plain', 'C'), ('until', 'plain', 'I'),
      ('before', 'plain', 'B'), ('after', 'plain', 'L'), ('from', 'plain', 'f'),
      ('to', 'plain', 't'), ('between', 'plain', 'b'), ('and', 'plain', '&'),
      ('or', 'plain', '|'), ('of', 'plain', 'o'), ('in', 'plain', 'i'), ('on', 'plain', 'u'),
      ('article', 'plain', 'a'), ('filler', 'plain', '_'), ('common', 'plain', 'x'),
      ('never', 'plain', 'x')
    ) as k (kind, trust, letter)
      on k.kind = w.kind and k.trust = w.trust
    union all
    -- The number of words of the longest phrase that begins with this word.
    select
      split_part(w.folded, ' ', 1), '+', max(cardinality(string_to_array(w.folded, ' ')))::text
    from memory.time_words as w
    where w.kind !~ '^(tells|asks) ' and w.folded ~ ' '
    group by split_part(w.folded, ' ', 1)
  )
  select jsonb_object_agg(w.folded, w.readings) into v_vocabulary
  from (
    select r.folded, jsonb_object_agg(r.key, r.reading) as readings
    from readings as r
    group by r.folded
  ) as w;

  execute format(
    'create or replace function memory.time_vocabulary()
       returns jsonb
       language sql
       immutable
       parallel safe
       return %L::jsonb',
    v_vocabulary
  );
end;
$$;

comment on function memory.refresh_time_vocabulary() is
'Regenerates memory.may_name_time and memory.time_vocabulary from memory.time_words. Call it in '
'each change that adds or removes words.';

do $$
begin
  perform memory.refresh_time_questions();
  perform memory.refresh_time_vocabulary();
end;
$$;

comment on function memory.tells_update(text) is
'Whether a text says that it is news that replaces earlier knowledge: its first 4,000 characters '
'contain a word of the kind tells update of memory.time_words, such as "no longer" or "from now '
'on", as whole words in any case. False for NULL.';
grant execute on function memory.tells_update
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;
comment on function memory.asks_present(text) is
'Whether a question asks about the present: its first 1,000 characters contain a word of the kind '
'asks present of memory.time_words, such as "currently" or "these days", as whole words in any '
'case. False for NULL.';
grant execute on function memory.asks_present
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;
comment on function memory.asks_ahead(text) is
'Whether a question asks about what is to come: its first 1,000 characters contain a word of the '
'kind asks ahead of memory.time_words, such as "what will" or "planned", as whole words in any '
'case. False for NULL.';
grant execute on function memory.asks_ahead
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;
comment on function memory.asks_past(text) is
'Whether a question asks about what is over: its first 1,000 characters contain a word of the kind '
'asks past of memory.time_words, such as "used to" or "my old", as whole words in any case. False '
'for NULL.';
grant execute on function memory.asks_past
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;
comment on function memory.asks_events(text) is
'Whether a question asks what there is at a time rather than about something: its first 1,000 '
'characters contain a word of the kind asks events of memory.time_words, such as "happened" or '
'"planned", as whole words in any case. False for NULL.';
grant execute on function memory.asks_events
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;
comment on function memory.asks_happened(text) is
'Whether a question asks what happened: its first 1,000 characters contain a word of the kind asks '
'happened of memory.time_words, such as "what happened" or "what went wrong", as whole words in '
'any case. '
'False for NULL.';
grant execute on function memory.asks_happened
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;
comment on function memory.may_name_time(text) is
'Whether the first 1,000 characters of a text contain a word or number that a time expression may '
'consist of: memory.read_period checks this before it parses the text. False for NULL.';
comment on function memory.time_vocabulary() is
'The words of memory.time_words that name times, folded (memory.fold_words): {word: {language: '
'reading, "+": the number of words of the longest phrase that begins with it}}. A reading is a '
'letter for the kind and the value: M5 is a month, n and m one that is weak or a verb, W (d) a '
'weekday, T a day, S (g) a season, K quarter, H holiday, U unit, Z number, z ordinal, R (r, Q) '
'relative before (after, around), P part, v every, A ago, C since, I until, B before (V ago, too), '
'L after, f from, t to, b between, & and, | or, o of, i in (j in the), u on, a article, _ filler, '
'x another word.';
grant execute on function memory.time_vocabulary to memory_search;

commit;
