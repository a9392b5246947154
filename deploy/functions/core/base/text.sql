-- Deploy pymem:functions/core/base/text to pg

begin;

set local role memory_owner;

create or replace function memory.truncate_utf8(
  content text,
  max_octets integer
)
  returns text
  language plpgsql
  immutable
  strict
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_octets bytea;
  v_length integer := greatest(max_octets, 0);
begin
  if octet_length(content) <= v_length then
    return content;
  end if;
  v_octets := convert_to(content, 'UTF8');
  -- The bytes of a codepoint after the first have the form 10xxxxxx.
  while v_length > 0 and get_byte(v_octets, v_length) & 192 = 128 loop
    v_length := v_length - 1;
  end loop;
  return convert_from(substring(v_octets from 1 for v_length), 'UTF8');
end;
$$;

comment on function memory.truncate_utf8(text, integer) is
'Truncates a text to at most max_octets bytes of UTF-8, never inside a codepoint.';
grant execute on function memory.truncate_utf8
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

-- The class lists every Unicode space, so the result does not depend on the locale.
create or replace function memory.collapse_whitespace(content text)
  returns text
  language sql
  immutable
  parallel safe
  return case
    -- Most texts have nothing to collapse, and this test takes a third of the time.
    when content collate "C"
      ~ '[\t-\r\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]|  |^ | $'
    then btrim(regexp_replace(
      content collate "C",
      '[\s\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g'
    ), ' ')
    else content
  end;

comment on function memory.collapse_whitespace(text) is
'Turns each run of whitespace (any Unicode space, tab or line break) into one space and strips '
'the ends.';
grant execute on function memory.collapse_whitespace
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

-- In PL/pgSQL, because each statement that writes facts would inline a function in SQL anew.
create or replace function memory.spelling_key(name text)
  returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_key text;
begin
  if octet_length(name) = length(name) then
    return lower(memory.collapse_whitespace(name));
  end if;
  v_key := lower(normalize(memory.collapse_whitespace(name), nfkc));
  -- Of one character, compatibility forms make up to 18: too many for an index.
  return case when octet_length(v_key) <= 1024 then v_key else md5(v_key) end;
end;
$$;

comment on function memory.spelling_key(text) is
'The form in which a subject or predicate, of at most 512 bytes, is part of the key of a fact: in '
'lower case, with whitespace collapsed and in Unicode''s normal form NFKC, so that neither the '
'width of letters nor how accents are composed matters.';

-- Stops at the first visible character, however long the text is.
create or replace function memory.is_blank(content text)
  returns boolean
  language sql
  immutable
  strict
  parallel safe
  return content collate "C"
    !~ ('[^\x01-\x20\x7f-\xa0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f'
      '\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0'
      '\U000e0000-\U000e0fff]');

comment on function memory.is_blank(text) is
'Whether a text has no visible character: nothing but whitespace, control characters and '
'characters without a glyph, such as a zero width space.';
grant execute on function memory.is_blank
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.preprocess_text(content text)
  returns text
  language sql
  immutable
  parallel safe
  return rtrim(memory.truncate_utf8(memory.collapse_whitespace(content), 1048576), ' ');

comment on function memory.preprocess_text(text) is
'Prepares stored text for indexing: collapses whitespace, strips the ends, truncates to 1 MiB '
'(1,048,576 bytes) between codepoints. A PostgreSQL text cannot contain NUL; clients strip it '
'before sending.';
grant execute on function memory.preprocess_text
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.preprocess_search_query(query text)
  returns text
  language sql
  immutable
  parallel safe
  return coalesce(memory.collapse_whitespace(query), '');

comment on function memory.preprocess_search_query(text) is
'Prepares a search query: collapses whitespace, strips the ends, never truncates. NULL gives an '
'empty text.';
grant execute on function memory.preprocess_search_query
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.date_in_words(at timestamptz)
  returns text
  language sql
  immutable
  strict
  parallel safe
  return date_part('day', at at time zone 'UTC') || ' '
    || (
      '{January,February,March,April,May,June,July,August,September,October,November,December}'
    ::text[])[date_part('month', at at time zone 'UTC')]
    || ' ' || date_part('year', at at time zone 'UTC');

comment on function memory.date_in_words(timestamptz) is
'The date of a time in English words, in UTC: 8 May 2023.';
grant execute on function memory.date_in_words
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.end_of_text(
  content text,
  max_characters integer
)
  returns text
  language sql
  immutable
  strict
  parallel safe
  return case
    when length(content) <= max_characters then content
    else regexp_replace(right(content, max_characters + 1), '^\S*\s+', '')
  end;

comment on function memory.end_of_text(text, integer) is
'The last words of a text, at most max_characters long; a longer word is cut.';
grant execute on function memory.end_of_text
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.render_memory(
  memory_type text,
  content text,
  subject text default null,
  predicate text default null,
  happened_at timestamptz default null,
  previous text default null
)
  returns text
  language sql
  immutable
  parallel safe
  return rtrim(
    memory.truncate_utf8(
      memory.preprocess_text(
        case
          when content is null then null
          when memory_type = 'fact'
          then coalesce(subject || ' ', '') || coalesce(replace(predicate, '_', ' ') || ' ', '')
            || content
          when memory_type = 'episode'
          then content || coalesce(' (' || memory.date_in_words(happened_at) || ')', '')
            || coalesce(' ' || memory.end_of_text(previous, 300), '')
          else content
        end
      ),
      262144
    ),
    ' '
  );

comment on function memory.render_memory(text, text, text, text, timestamptz, text) is
'The text of a memory that is indexed for keyword search or embedded. Fact: "subject predicate '
'content", with spaces for the underscores of the predicate. Rule: its content. Episode: its '
'content, then, if given, the day it happened, "(8 May 2023)", and the end of the previous turn of '
'its session (last, so that a long one does not push the content out of a model''s window). At '
'most 256 KiB, because to_tsvector rejects more than 1 MiB of lexemes and positions, and text can '
'triple on its way there (memory.index_words truncates text that grows more).';
grant execute on function memory.render_memory
to memory_writer, memory_worker, memory_reader, memory_admin;

-- Functions for non-ASCII text list characters by codepoint, so their results do not depend on the
-- locale.

create or replace function memory.fold_text(content text)
  returns text
  language sql
  immutable
  parallel safe
  return case
    -- Most texts are plain ASCII, and this test costs next to nothing.
    when octet_length(content) = length(content) then content
    -- Folding does not change dashes, curly quotes, Han and emoji either.
    when content collate "C"
      !~ '[^\x01-\x7f\u2012-\u2016\u2018-\u2023\u3001\u3002\u4e00-\u9fff\U0001f300-\U0001faff]'
    then content
    else normalize(
      translate(
        replace(replace(replace(replace(replace(replace(replace(replace(
          regexp_replace(
            normalize(content, nfkd) collate "C",
            -- Marks of Latin, Greek and Cyrillic letters, except those that form й, ў and ї, and
            -- invisible characters.
            '(?<![\u0418\u0438\u0423\u0443])\u0306|(?<![\u0406\u0456])\u0308'
            '|[\u0300-\u0305\u0307\u0309-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff'
            '\ufe20-\ufe2f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069'
            '\ufe00-\ufe0f\ufeff]',
            '', 'g'
          ),
          'ß', 'ss'), 'ẞ', 'SS'), 'æ', 'ae'), 'Æ', 'AE'),
          'œ', 'oe'), 'Œ', 'OE'), 'þ', 'th'), 'Þ', 'TH'
        ),
        'ØøĐđÐðŁłĦħŦŧıς', 'OoDdDdLlHhTtiσ'
      ),
      nfkc
    )
  end;

comment on function memory.fold_text(text) is
'A text without the differences that writers ignore or write in several ways: composed and '
'compatible forms become equal (Unicode NFKC: decomposed letters, full width, ligatures), Latin, '
'Greek and Cyrillic letters lose their accents (é as e, ё as е; but й, ў and ї are letters of '
'their own), ß as ss, æ as ae, œ as oe, þ as th, ø as o, đ and ð as d, ł as l, ħ as h, ŧ as t, ı '
'as i, ς as σ. Marks of other scripts carry meaning and stay. Case is kept. Folding twice changes '
'nothing.';
grant execute on function memory.fold_text
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.pair_characters(
  content text,
  with_single boolean
)
  returns text
  language plpgsql
  immutable
  strict
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  -- Han, kana, bopomofo, hangul; Thai, Lao, Myanmar, Khmer.
  v_letters text := '\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff'
    || '\U00020000-\U000323af\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff'
    || '\u31f0-\u31ff\U0001b000-\U0001b16f\u3105-\u312f\u31a0-\u31bf\uac00-\ud7a3'
    || '\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6'
    || '\u0edc-\u0edf\u1000-\u102a\u103f\u1050-\u1055\u105a-\u105d\u1061\u1065\u1066'
    || '\u106e-\u1070\u1075-\u1081\u108e\u1780-\u17b3\u17d7\u17dc';
  -- Marks above, below or around a letter belong to it.
  v_marks text := '\u3099\u309a\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc'
    || '\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d'
    || '\u1071-\u1074\u1082-\u108d\u108f\u17b4-\u17d3\u17dd';
  v_character text := '([' || v_letters || '][' || v_marks || ']*)';
  v_after text := '(?<=[' || v_letters || v_marks || '])';
  v_before text := '(?=[' || v_letters || '])';
  v_runs text;
begin
  if content collate "C" !~ ('[' || v_letters || ']') then
    return content;
  end if;
  v_runs := regexp_replace(
    content collate "C", '[' || v_letters || v_marks || ']+', ' \& ', 'g'
  );
  -- A character that is written twice, with a space between, ends one pair and begins the next.
  if not with_single then
    return regexp_replace(v_runs collate "C", v_after || v_character || v_before, '\1 \1', 'g');
  end if;
  return regexp_replace(
    regexp_replace(v_runs collate "C", v_character || v_before, '\1 \1', 'g') collate "C",
    v_after || v_character, '\1 \1', 'g'
  );
end;
$$;

comment on function memory.pair_characters(text, boolean) is
'Splits text in scripts without spaces between words (Chinese, Japanese, Thai, Lao, Myanmar, '
'Khmer), and in Korean, whose words carry particles, into pairs of neighboring characters, '
'separated from the text around them: 小狗叫 becomes 小狗 狗叫, and with_single 小 小狗 狗 狗叫 叫. A character '
'keeps its marks; a single character stays as it is. The argument is in NFKC.';
grant execute on function memory.pair_characters to memory_search;

create or replace function memory.reads_accents(text_search_config text)
  returns boolean
  language sql
  immutable
  parallel safe
  return text_search_config not in ('english', 'simple');

comment on function memory.reads_accents(text) is
'Whether the dictionaries of a text search configuration may distinguish é from e, in stop words '
'or endings: true for all except those known not to.';
grant execute on function memory.reads_accents to memory_search;

create or replace function memory.prepare_words(
  text_search_config text,
  content text,
  with_single boolean
)
  returns text
  language plpgsql
  stable
  strict
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_text text;
begin
  if octet_length(content) = length(content) then
    return content;
  end if;
  -- NFKC would turn ™, №, fractions, ellipses and the like into letters, digits or periods; they
  -- become spaces instead. Some locales turn the last Σ of a word into ς.
  v_text := regexp_replace(
    replace(content, 'Σ', 'σ') collate "C",
    '[\u00bc-\u00be\u2024-\u2026\u2116\u2120-\u2122\u2150-\u215f\u2189]', ' ', 'g'
  );
  -- Dictionaries know neither invisible characters nor marks that did not combine with a letter.
  v_text := regexp_replace(
    normalize(v_text, nfkc) collate "C",
    '[\u0300-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\ufe20-\ufe2f\u00ad\u061c\u200b'
    '\u200e\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]',
    '', 'g'
  );
  -- A parser other than the built-in one may find words without spaces by itself.
  if exists (
    select
    from pg_ts_config as c
    join pg_ts_parser as p on p.oid = c.cfgparser
    where c.oid = text_search_config::regconfig
      and p.prsname = 'default' and p.prsnamespace = 'pg_catalog'::regnamespace
  ) then
    return memory.pair_characters(v_text, with_single);
  end if;
  return v_text;
end;
$$;

comment on function memory.prepare_words(text, text, boolean) is
'A text prepared for a text search configuration: in NFKC, with its accents, and with scripts '
'without spaces split by memory.pair_characters.';
grant execute on function memory.prepare_words to memory_search;

create or replace function memory.fold_vector(search_vector tsvector)
  returns tsvector
  language sql
  immutable
  parallel safe
  -- In NFKC, folding neither adds nor removes syntax such as quotes.
  return memory.fold_text(search_vector::text)::tsvector;

comment on function memory.fold_vector(tsvector) is
'A search vector with its lexemes, which are in NFKC, folded (memory.fold_text); lexemes that '
'become equal are merged.';
grant execute on function memory.fold_vector to memory_search;

create or replace function memory.accented_words(
  text_search_config text,
  words text
)
  returns table (
    lexemes text[],
    folded_lexemes text[]
  )
  language sql
  stable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    tsvector_to_array(memory.fold_vector(to_tsvector(text_search_config::regconfig, w.word))),
    tsvector_to_array(memory.fold_vector(to_tsvector(text_search_config::regconfig, f.word)))
  from (
    select distinct s.word
    from regexp_split_to_table(
      words collate "C",
      '[\x01-/:-@[-`{-\u00bf\u2000-\u206f\u3000-\u3004\u3008-\u3020]+'
    ) as s (word)
    where octet_length(s.word) > length(s.word)
  ) as w
  cross join lateral (select memory.fold_text(w.word) as word) as f
  where f.word <> w.word;
$$;

comment on function memory.accented_words(text, text) is
'For each word of a text (memory.prepare_words) that folding changes: its lexemes, folded, and '
'those of the folded word; empty for a stop word.';
grant execute on function memory.accented_words to memory_search;

create or replace function memory.read_words(
  text_search_config text,
  words text
)
  returns tsvector
  language plpgsql
  stable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_reads_accents boolean := memory.reads_accents(text_search_config);
  v_folded text := memory.fold_text(words);
  v_vector tsvector := to_tsvector(text_search_config::regconfig, words);
  v_other tsvector;
begin
  if v_folded = words and not v_reads_accents then
    return v_vector;
  end if;
  -- Some dictionaries give unaccented words a stem that ends with an accent.
  v_vector := memory.fold_vector(v_vector);
  if v_folded = words then
    return v_vector;
  end if;
  v_other := memory.fold_vector(to_tsvector(text_search_config::regconfig, v_folded));
  if not v_reads_accents then
    select v_other, v_vector into v_vector, v_other;
  end if;
  v_other := ts_delete(v_other, tsvector_to_array(v_vector));
  if v_other <> '' then
    v_other := ts_delete(
      v_other,
      array(
        select unnest(case when v_reads_accents then a.folded_lexemes else a.lexemes end)
        from memory.accented_words(text_search_config, words) as a
        where case when v_reads_accents then a.lexemes = '{}' else a.folded_lexemes <> '{}' end
      )
    );
  end if;
  return case
    when v_other = '' then v_vector
    else (v_vector::text || ' ' || v_other::text)::tsvector
  end;
end;
$$;

comment on function memory.read_words(text, text) is
'The lexemes of a text (memory.prepare_words), folded (memory.fold_text). If the dictionaries read '
'accents (memory.reads_accents), a word with an accent gives the folded lexeme of the word and '
'that of the folded word, which matches text typed without accents; neither if it is a stop word. '
'Otherwise it gives the lexeme of the folded word, or its own if only the folded word is a stop '
'word.';
grant execute on function memory.read_words to memory_search;

create or replace function memory.index_words(
  text_search_config text,
  rendered text
)
  returns tsvector
  language plpgsql
  stable
  parallel restricted -- it may begin a subtransaction
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_words text := memory.prepare_words(text_search_config, rendered, true);
begin
  -- Only a long text can give more lexemes than a search vector can hold.
  while octet_length(v_words) > 131072 loop
    begin
      return memory.read_words(text_search_config, v_words);
    exception when program_limit_exceeded then
      v_words := memory.truncate_utf8(v_words, octet_length(v_words) / 4 * 3);
    end;
  end loop;
  return memory.read_words(text_search_config, v_words);
end;
$$;

comment on function memory.index_words(text, text) is
'The search vector of any text: memory.read_words of the text, truncated if a search vector cannot '
'hold it all. Each character of a script without spaces is also indexed by itself, so that a query '
'for one finds it.';

create or replace function memory.to_search_vector(
  text_search_config text,
  rendered text
)
  returns tsvector
  language sql
  stable
  parallel restricted
  return case
    when octet_length(rendered) = length(rendered) and not memory.reads_accents(text_search_config)
    then to_tsvector(text_search_config::regconfig, rendered)
    else memory.index_words(text_search_config, rendered)
  end;

comment on function memory.to_search_vector(text, text) is
'The search vector of a rendered text under the named text search configuration, with folded '
'lexemes (memory.read_words). The planner inlines it if the argument is cheap, such as a variable.';

create or replace function memory.hash_terms(
  tenant_id text,
  lexemes text[]
)
  returns bigint[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(array_agg(hashtextextended(l.lexeme, hashtextextended(tenant_id, 0))), '{}')
  from unnest(lexemes) as l (lexeme);
$$;

comment on function memory.hash_terms(text, text[]) is
'One 64-bit key per lexeme, seeded with the tenant: tenants do not share keys in an index, so a '
'search costs what its own tenant stored. A collision costs a recheck, never a wrong answer.';
grant execute on function memory.hash_terms to memory_search;

create or replace function memory.search_terms(
  tenant_id text,
  search_vector tsvector
)
  returns bigint[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select memory.hash_terms(tenant_id, tsvector_to_array(search_vector));
$$;

comment on function memory.search_terms(text, tsvector) is
'The keys under which GIN indexes store a search vector: hash_terms of its lexemes.';
grant execute on function memory.search_terms to memory_search;

create or replace function memory.fold_label(label text)
  returns text
  language sql
  immutable
  parallel safe
  return lower(memory.fold_text(label));

comment on function memory.fold_label(text) is
'A tag, a category or the like as others are compared with it: folded (memory.fold_text) and in '
'lower case.';
grant execute on function memory.fold_label to memory_search;

create or replace function memory.fold_each_label(labels jsonb)
  returns jsonb
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(jsonb_agg(memory.fold_label(l.label) order by l.position), '[]')
  from jsonb_array_elements_text(labels) with ordinality as l (label, position);
$$;

comment on function memory.fold_each_label(jsonb) is
'The part of fold_labels for labels that are not plain ASCII.';
grant execute on function memory.fold_each_label to memory_search;

-- An expression that the planner inlines: it is computed for each row that a query looks at.
create or replace function memory.fold_labels(labels jsonb)
  returns jsonb
  language sql
  immutable
  parallel safe
  return case
    when octet_length(labels::text) = length(labels::text) then lower(labels::text)::jsonb
    else memory.fold_each_label(labels)
  end;

comment on function memory.fold_labels(jsonb) is
'A JSON array of labels, each folded (memory.fold_label).';
grant execute on function memory.fold_labels to memory_search;

create or replace function memory.tag_terms(
  tenant_id text,
  tags jsonb
)
  returns bigint[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select memory.hash_terms(
    tenant_id, array(select jsonb_array_elements_text(memory.fold_labels(tags)))
  );
$$;

comment on function memory.tag_terms(text, jsonb) is
'The keys under which a GIN index stores tags: hash_terms of the folded tags.';
grant execute on function memory.tag_terms to memory_search;

create or replace function memory.query_vector(
  text_search_config text,
  query text
)
  returns tsvector
  language sql
  stable
  parallel safe
  return case
    when octet_length(query) = length(query) and not memory.reads_accents(text_search_config)
    then to_tsvector(text_search_config::regconfig, query)
    else memory.read_words(
      text_search_config, memory.prepare_words(text_search_config, query, false)
    )
  end;

comment on function memory.query_vector(text, text) is
'The lexemes of a query, made as memory.to_search_vector makes those of a text; in scripts without '
'spaces the pairs of characters, and single ones only where they stand alone. NULL for a NULL '
'query.';
grant execute on function memory.query_vector to memory_search;

create or replace function memory.query_lexemes(
  text_search_config text,
  query text
)
  returns text[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
  set client_min_messages = warning -- no NOTICE about words too long to index
as $$
  select array(
    -- Any whitespace separates words.
    select t.lexeme
    from unnest(memory.query_vector(text_search_config, query)) as t
    order by t.positions[1], t.lexeme
  );
$$;

comment on function memory.query_lexemes(text, text) is
'The distinct lexemes of free text in order of appearance, without stop words.';
grant execute on function memory.query_lexemes to memory_search;

create or replace function memory.any_lexeme(lexemes text[])
  returns tsquery
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select string_agg(
    '''' || replace(replace(l.lexeme, '\', '\\'), '''', '''''') || '''', ' | ' order by l.position
  )::tsquery
  from unnest(lexemes) with ordinality as l (lexeme, position);
$$;

comment on function memory.any_lexeme(text[]) is
'The tsquery that matches a text with any of the lexemes; NULL for no lexemes.';
grant execute on function memory.any_lexeme to memory_search;

create or replace function memory.every_word(
  text_search_config text,
  query text
)
  returns tsquery
  language plpgsql
  stable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
  set client_min_messages = warning -- no NOTICE about words too long to index
as $$
declare
  v_reads_accents boolean := memory.reads_accents(text_search_config);
  -- PostgreSQL parses a query recursively: a much longer one would exhaust the stack.
  v_words text := memory.truncate_utf8(
    memory.prepare_words(text_search_config, query, false), 65536
  );
  v_lexemes text[] := tsvector_to_array(memory.read_words(text_search_config, v_words));
  v_query tsquery := plainto_tsquery(
    text_search_config::regconfig,
    case when v_reads_accents then v_words else memory.fold_text(v_words) end
  );
  v_word record;
begin
  if v_reads_accents and memory.fold_text(v_query::text) <> v_query::text then
    v_query := memory.fold_text(v_query::text)::tsquery;
  end if;
  for v_word in
    select a.lexemes, a.folded_lexemes
    from memory.accented_words(text_search_config, v_words) as a
    where a.lexemes <> a.folded_lexemes and a.lexemes <> '{}'
    order by a.lexemes, a.folded_lexemes
  loop
    if not v_reads_accents and v_word.folded_lexemes = '{}' then
      -- A word within an address or a path is not a word by itself.
      if v_word.lexemes <@ v_lexemes then
        v_query := v_query && memory.any_lexeme(v_word.lexemes);
      end if;
    elsif v_reads_accents and cardinality(v_word.lexemes || v_word.folded_lexemes) = 2 then
      v_query := ts_rewrite(
        v_query, memory.any_lexeme(v_word.lexemes),
        memory.any_lexeme(v_word.lexemes || v_word.folded_lexemes)
      );
    end if;
  end loop;
  return v_query;
end;
$$;

comment on function memory.every_word(text, text) is
'The tsquery that matches a text with every word of a query, like plainto_tsquery, but with the '
'lexemes of memory.query_vector. If a word gives two, either one matches. Only the first 64 KiB of '
'the prepared query (memory.prepare_words) count.';
grant execute on function memory.every_word to memory_search;

commit;
