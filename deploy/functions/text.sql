-- Deploy pymem:functions/text to pg
-- requires: schema

begin;

set local role memory_owner;

create function memory.truncate_utf8(
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
  -- The octets of a codepoint after its first all have the form 10xxxxxx.
  while v_length > 0 and get_byte(v_octets, v_length) & 192 = 128 loop
    v_length := v_length - 1;
  end loop;
  return convert_from(substring(v_octets from 1 for v_length), 'UTF8');
end;
$$;

comment on function memory.truncate_utf8(text, integer) is
'Cuts a text to at most max_octets octets of UTF-8, never inside a codepoint.';

-- The class names every Unicode space itself, so that the result does not depend on the locale.
create function memory.collapse_whitespace(content text)
  returns text
  language sql
  immutable
  parallel safe
  return case
    -- Most texts have nothing to collapse, and to find that out takes a third of the time.
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

-- Stops at the first visible character, however long the text is.
create function memory.is_blank(content text)
  returns boolean
  language sql
  immutable
  strict
  parallel safe
  return content collate "C"
    !~ '[^\s\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]';

comment on function memory.is_blank(text) is
'Whether collapse_whitespace leaves nothing of a text.';

create function memory.preprocess_text(content text)
  returns text
  language sql
  immutable
  parallel safe
  return rtrim(memory.truncate_utf8(memory.collapse_whitespace(content), 1048576), ' ');

comment on function memory.preprocess_text(text) is
'Prepares stored text for indexing: whitespace collapsed, ends stripped, cut to 1 MiB (1,048,576 '
'octets) between codepoints. A PostgreSQL text holds no NUL; clients strip it before sending.';

create function memory.preprocess_search_query(query text)
  returns text
  language sql
  immutable
  parallel safe
  return coalesce(memory.collapse_whitespace(query), '');

comment on function memory.preprocess_search_query(text) is
'Prepares a search query: whitespace collapsed, ends stripped, never cut. NULL gives an empty '
'text.';

create function memory.date_in_words(at timestamptz)
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
'The day of a time as people write it, in English and in UTC: 8 May 2023.';

create function memory.end_of_text(
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
'The last words of a text, at most max_characters of it; a word longer than that is cut.';

create function memory.render_memory(
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
'content", underscores of the predicate as spaces. Rule: its content. Episode: its content, if '
'given followed by the day it happened, "(8 May 2023)", and the end of the previous turn of its '
'session (last, so that a long one does not push the content out of a model''s window). At most '
'256 KiB, because to_tsvector refuses more than 1 MiB of lexemes and positions, and text can '
'grow threefold on its way there.';

create function memory.to_search_vector(
  text_search_config text,
  rendered text
)
  returns tsvector
  language sql
  stable
  parallel safe
  return to_tsvector(text_search_config::regconfig, rendered);

comment on function memory.to_search_vector(text, text) is
'The search vector of a rendered text under the named text search configuration.';

create function memory.hash_terms(
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
'One 64-bit key per lexeme, seeded with the tenant: the keys of two tenants never meet in an '
'index, so a search costs what its own tenant stored. A collision costs a recheck, never a wrong '
'answer.';

create function memory.search_terms(
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
'The keys under which the GIN indexes file a search vector: hash_terms of its lexemes.';

create function memory.query_lexemes(
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
    -- Whatever whitespace there is, it separates words.
    select t.lexeme
    from unnest(to_tsvector(text_search_config::regconfig, coalesce(query, ''))) as t
    order by t.positions[1], t.lexeme
  );
$$;

comment on function memory.query_lexemes(text, text) is
'The distinct lexemes of free text in order of appearance; no stop words.';

create function memory.any_lexeme(lexemes text[])
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
'The tsquery that matches a text with any of the lexemes; NULL for none.';

commit;
