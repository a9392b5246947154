-- Deploy pymem:functions/extras/entries/merge_text to pg

begin;

set local role memory_owner;

-- Punctuation inside of a word stays: 3.5 is not 35, C++ is not C.
create or replace function memory.fold_statement(statement text)
  returns text
  language sql
  immutable
  parallel safe
  return memory.collapse_whitespace(
    regexp_replace(
      lower(memory.fold_text(memory.collapse_whitespace(statement))) collate "C",
      '(?:^| )[-\u2012-\u2015\u2022]+(?= |$)'
      '|(?:(?<=^)|(?<= ))["''\u2018-\u201f\u00ab\u00bb(\[{*_`~]+'
      '|["''\u2018-\u201f\u00ab\u00bb)\]}*_`~.,;:!\u2026]+(?= |$)',
      '', 'g'
    )
  );

comment on function memory.fold_statement(text) is
'A statement without differences of case, accents, whitespace and the punctuation around words. '
'Equal results say the same.';

create or replace function memory.missing_fence(block text)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when block ~ (E'\n {0,3}' || substring(block from '^\s*([`~]{3,})') || '[`~]*[ \t\r]*$')
    then ''
    else E'\n' || substring(block from '^\s*([`~]{3,})')
  end;

comment on function memory.missing_fence(text) is
'What closes a fenced block of code, a line; empty if it is closed.';

create or replace function memory.list_statements(content text)
  returns table (
    "position" bigint, -- noqa: RF06
    statement text,
    is_block boolean
  )
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with code as (
    select c.position, c.part, c.is_code
    from memory.split_code(replace(content, E'\r\n', E'\n')) as c
  ),
  -- A block of code is one statement, closed even if its text forgets to.
  blocks as (
    select
      c.position,
      regexp_replace(c.part, '^\n', '') || memory.missing_fence(c.part) as block
    from code as c
    where c.is_code
  ),
  sentences as (
    select c.position, l.line_position, s.place, s.sentence
    from code as c
    cross join lateral regexp_split_to_table(c.part, '\n')
      with ordinality as l (line, line_position)
    cross join lateral regexp_split_to_table(
      regexp_replace(l.line, '^(?:\s*(?:#{1,6}|[-*+]|\d+[.)]|>)(?:\s+|$))+', ''),
      '(?<=[.!?])\s+(?=[A-Z0-9"''(\u00c0-\u00de])'
    ) with ordinality as s (sentence, place)
    where not c.is_code
  ),
  parts as (
    select
      s.position, s.line_position, s.place,
      memory.collapse_whitespace(s.sentence) as statement, false as is_block
    from sentences as s
    where memory.fold_statement(s.sentence) <> ''
    union all
    select b.position, 1, 1, b.block, true
    from blocks as b
  )
  select
    row_number() over (order by p.position, p.line_position, p.place), p.statement, p.is_block
  from parts as p
  order by 1;
$$;

comment on function memory.list_statements(text) is
'What a Markdown text says, in order: its sentences, without the markup of headings, lists and '
'quotes, and its blocks of code, whole.';

create or replace function memory.merge_contents(
  contents text[],
  entry_ids text[]
)
  returns text
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with said as (
    select
      c.place, s.position, s.statement, s.is_block, entry_ids[c.place] as entry_id,
      row_number() over (
        partition by
          case when s.is_block then s.statement else memory.fold_statement(s.statement) end
        order by c.place, s.position
      ) as mention
    from unnest(contents) with ordinality as c (content, place)
    cross join lateral memory.list_statements(c.content) as s
    where c.place = 1 or c.content <> contents[1]
  ),
  notes as (
    select string_agg(
      case
        when s.is_block then format(E'From %s:\n\n%s\n', s.entry_id, s.statement)
        else format('- %s (%s)', s.statement, s.entry_id)
      end,
      E'\n' order by s.place, s.is_block, s.position
    ) as notes
    from said as s
    where s.place > 1 and s.mention = 1
  )
  select contents[1] || case
    when n.notes is null then ''
    else
      -- A block of code that does not end would take in the notes.
      coalesce(
        (
          select memory.missing_fence(c.part)
          from memory.split_code(contents[1]) as c
          where c.is_code
          order by c.position desc
          limit 1
        ),
        ''
      )
      || case when contents[1] ~ '\n\s*$' then E'\n' else E'\n\n' end
      || E'## Also noted\n\n' || rtrim(n.notes, E'\n') || E'\n'
  end
  from notes as n;
$$;

comment on function memory.merge_contents(text[], text[]) is
'The text of several entries in one: the first, byte for byte, then, under "Also noted", what the '
'others say that is not said yet (memory.fold_statement), each with the id of the entry that says '
'it.';

-- Similar vectors do not tell "on Monday" from "on Tuesday", nor tea with sugar from tea without.
create or replace function memory.telling_marks(contents text[])
  returns table (
    place bigint,
    marks text[]
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with folded as materialized (
    select
      c.place,
      replace(
        replace(replace(lower(memory.fold_text(i.content)), '’', ''''), 'n''t ', ' not '),
        'cannot', 'can not'
      ) as content
    from unnest(contents) with ordinality as c (content, place)
    -- The ids in a merged text are not numbers of what it says.
    cross join lateral (
      select regexp_replace(c.content, '\mmem-\d{4}-\d\d-\d\d-\d{3,9}\M', '', 'g') as content
    ) as i
  ),
  words as materialized (
    select f.place, w.word
    from folded as f
    cross join lateral regexp_split_to_table(
      f.content collate "C", '[\x01-/:-@[-`{-\u00bf\u2000-\u206f\u3000-\u3004\u3008-\u3020]+'
    ) as w (word)
  ),
  -- Each word is looked up once, however often the texts have it.
  vocabulary as materialized (
    select distinct w.word from words as w
  ),
  meanings as materialized (
    select
      v.word,
      case when t.kind in ('number', 'ordinal') then 'number' else t.kind end || ' ' || t.value
      as mark
    from (
      select y.word, y.word as form from vocabulary as y
      union
      select y.word, rtrim(y.word, 's') from vocabulary as y
    ) as v
    join memory.time_words as t on t.folded = v.form
    where t.kind in ('month', 'weekday', 'season', 'day', 'holiday', 'number', 'ordinal')
      -- Mostly articles.
      and v.form <> all ('{a,an,one,ein,eine,einen,einem,einer,un,une,una,uno}'::text [])
    union
    select v.word, 'word ' || coalesce(p.stands_for, v.word)
    from vocabulary as v
    join (
      values
        (
          '^(dislik|hat(e|es|ed|ing)$|detest|loath|avoid|refus|reject|forbid|forbad|prohibit|deny|'
          'denie|disabl|disallow|disagree|cancel|stop|quit|remov|delet|fail|lack|hass|vermeid|'
          'verbot|verbiet|deteste|evit|odia|rechaz)',
          'against'
        ),
        ('^(before|vor|avant|antes)$', 'before'),
        ('^(after|nach|apres|despues)$', 'after'),
        ('^(more|mehr|plus|mas)$', 'more'),
        ('^(less|fewer|weniger|moins|menos)$', 'less'),
        (
          '^(mornings?|evenings?|afternoons?|nights?|noon|midnight|mother|father|brothers?|'
          'sisters?|sons?|daughters?|wife|husband|aunt|uncle|mutter|vater|bruder|schwester|sohn|tochter|'
          'first|last|left|right|north|south|east|west|up|down|off|minimum|maximum|always|'
          'sometimes|rarely|old|new|former|current|high|low|true|false|yes|hot|cold|daily|weekly|'
          'monthly|yearly|production|staging)$',
          null
        ),
        ('^increas', 'increase'),
        ('^decreas', 'decrease')
    ) as p (pattern, stands_for) on v.word collate "C" ~ p.pattern
  ),
  marks as (
    select distinct f.place, 'number ' || replace(n.number[1], ',', '.') as mark
    from folded as f
    cross join lateral regexp_matches(
      f.content collate "C",
      '((?:(?<=^)|(?<=[\s(]))[-+]\d[\d.,:/-]*\d%?|\d[\d.,:/-]*\d%?'
      '|(?:(?:(?<=^)|(?<=[\s(]))[-+])?\d%?)',
      'g'
    ) as n (number)
    union
    select w.place, m.mark
    from words as w
    join meanings as m on m.word = w.word
    union all
    -- How often a text denies counts, not with which word.
    select w.place, 'not'
    from words as w
    where w.word = any ((
      '{not,no,non,never,none,nobody,nothing,neither,nor,without,nicht,kein,keine,keinen,keinem,'
      'keiner,keines,nie,niemals,niemand,nichts,ohne,weder,pas,jamais,sans,aucun,aucune,rien,ni,'
      'nunca,sin,nada,ningun,ninguno,ninguna,jamas,tampoco}'
    )::text [])
    union all
    -- Of two things that are compared, the second one.
    select distinct f.place, 'than ' || c.word[1]
    from folded as f
    cross join lateral regexp_matches(
      f.content collate "C",
      '\m(?:than|over|instead of|versus|vs|als|statt|anstatt|plutot que|en lugar de)\.? +'
      '(?:the |a |an |to |der |die |das |le |la |les |el |los |las )?([^\s.,;:!?()"]+)',
      'g'
    ) as c (word)
  )
  select
    f.place,
    coalesce(
      array_agg(m.mark order by m.mark collate "C") filter (where m.mark is not null), '{}'
    )
  from folded as f
  left join marks as m on m.place = f.place
  group by f.place
  order by f.place;
$$;

comment on function memory.telling_marks(text[]) is
'What makes similar texts different, by their place: their numbers and dates, how often they deny, '
'some words with an opposite, and what comes second in a comparison (over, than). Sorted. Knows '
'English, and the most common of these words in German, French and Spanish.';

create or replace function memory.telling_names(content text)
  returns text[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(array_agg(distinct left(lower(n.name[1] collate "C"), 5)), '{}')
  from regexp_matches(
    memory.fold_text(
      regexp_replace(memory.without_code(content), '(?n)^ {0,3}#{1,6}[ \t].*$', '', 'g')
    ) collate "C",
    '(?<![[:alnum:]_\u0080-\uffff])([A-Z\u00c0-\u00de\u0391-\u03a9\u0410-\u042f]'
    '[[:alnum:]_\u0080-\uffff]+)',
    'g'
  ) as n (name);
$$;

comment on function memory.telling_names(text) is
'The beginnings, five letters, of the words in capitals of a text, headings aside: its names, '
'among others.';

create or replace function memory.lacks_names(
  names text[],
  content text
)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select exists (
    select
    from unnest(names) as n (name)
    where n.name <> all (array(
      select left(w.word, 5)
      from regexp_split_to_table(
        lower(memory.fold_text(content)) collate "C",
        '[\x01-/:-@[-^`{-\u00bf\u2000-\u206f\u3000-\u3004\u3008-\u3020]+'
      ) as w (word)
    ))
  );
$$;

comment on function memory.lacks_names(text[], text) is
'Whether a text lacks one of these names (memory.telling_names).';

create or replace function memory.merged_confidence(confidence float8)
  returns float8
  language sql
  immutable
  parallel safe
  return greatest(confidence, least(0.99, round((confidence + 0.05)::numeric, 6)))::float8;

comment on function memory.merged_confidence(float8) is
'The confidence of a merged entry, from the highest of its members: 0.05 more, as for a '
'statement that is repeated (memory.initial_confidence), up to 0.99. Once, however often it was '
'repeated: one source may have repeated itself.';

commit;
