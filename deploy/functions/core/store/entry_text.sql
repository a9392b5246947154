-- Deploy pymem:functions/core/store/entry_text to pg

begin;

set local role memory_owner;

create or replace function memory.split_code(content text)
  returns table (
    "position" bigint, -- noqa: RF06
    part text,
    is_code boolean
  )
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  -- A fence is closed by one of its kind that is at least as long, or else by the end of the text.
  -- {1,1}? makes the shortest match the preferred one. A back reference would take quadratic time.
  with pattern as (
    select format(
      '(?:(?:^|\n) {0,3}(?:%s)){1,1}?',
      string_agg(
        replace(
          format('%s(?:$|\n(?:.*\n)? {0,3}%s[ \t\r]*(?=\n|$)|\n.*$)', f.opening, f.closing),
          'ANY', '[^\n]*'
        ),
        '|'
      )
    ) as code
    from (
      values
      ('`{3}[^`\n]*', '`{3,}'), ('`{4}[^`\n]*', '`{4,}'), ('`{5,}[^`\n]*', '`{5,}'),
      ('~{3}(?:[^~\n]ANY)?', '~{3,}'), ('~{4}(?:[^~\n]ANY)?', '~{4,}'), ('~{5,}(?:[^~\n]ANY)?', '~{5,}')
    ) as f (opening, closing)
  )
  select row_number() over (order by c.position, c.is_code), c.part, c.is_code
  from pattern as p
  cross join lateral (
    select t.position, t.part, false as is_code
    from regexp_split_to_table(split_code.content, p.code) with ordinality as t (part, position)
    union all
    select b.position, b.match[1], true
    from regexp_matches(split_code.content, p.code, 'g') with ordinality as b (match, position)
  ) as c
  order by 1;
$$;

comment on function memory.split_code(text) is
'A Markdown text cut into its fenced blocks of code, each with the line break before it, and what '
'stands between them, in order.';
grant execute on function memory.split_code
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.without_code(content text)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when content ~ '```|~~~'
    then (
      select coalesce(string_agg(c.part, '' order by c.position) filter (where not c.is_code), '')
      from memory.split_code(content) as c -- noqa: RF03
    )
    else content
  end;

comment on function memory.without_code(text) is
'A Markdown text without its fenced blocks of code, in which # does not begin a heading.';
grant execute on function memory.without_code
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.entry_title(content text)
  returns text
  language sql
  immutable
  parallel safe
  return coalesce(
    nullif(rtrim(left(btrim(regexp_replace(
      coalesce(
        substring(memory.without_code(left(content, 65536)) from '(?n)^ {0,3}#{1,6}[ \t]+(\S.*)$'),
        substring(left(content, 65536) from '(?n)^\s*(?:[-*+>][ \t]+)?(\S.*)$')
      ) collate "C",
      '[ \t]+#+[ \t]*$|[\x01-\x1f\x7f]', '', 'g'
    ), E' \t'), 200)), ''),
    'Untitled'
  );

comment on function memory.entry_title(text) is
'The title of a Markdown text: its first heading, else its first line that is not blank, without '
'markup of headings, lists and quotes; at most 200 characters. Headings in blocks of code and '
'after the first 64 KiB do not count.';
grant execute on function memory.entry_title
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.list_sections(content text)
  returns table (
    "position" bigint, -- noqa: RF06
    level integer,
    heading text,
    body text
  )
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with lines as (
    select
      row_number() over (order by c.position, l.position) as position,
      l.line, c.is_code
    from memory.split_code(replace(content, E'\r\n', E'\n')) as c
    cross join regexp_replace(c.part, '^\n', '') as t (text)
    cross join unnest(
      case when c.is_code then array[t.text] else string_to_array(t.text, E'\n') end
    ) with ordinality as l (line, position)
  ),
  parts as (
    select
      l.position, l.line,
      not l.is_code and l.line ~ '^ {0,3}#{1,6}[ \t]+\S' as is_heading,
      count(*) filter (where not l.is_code and l.line ~ '^ {0,3}#{1,6}[ \t]+\S')
        over (order by l.position) as section
    from lines as l
  )
  select
    row_number() over (order by p.section),
    length(substring(min(p.line) filter (where p.is_heading) from '#+')),
    regexp_replace(
      substring(min(p.line) filter (where p.is_heading) from '#+[ \t]+(\S.*)$'), '[ \t]+#*[ \t]*$', ''
    ),
    btrim(string_agg(p.line, E'\n' order by p.position) filter (where not p.is_heading), E'\n')
  from parts as p
  group by p.section
  having min(p.line) filter (where p.is_heading) is not null
    or string_agg(p.line, '') ~ '\S'
  order by p.section;
$$;

comment on function memory.list_sections(text) is
'The sections of a Markdown text, such as Context and Evidence, in order: level and heading (NULL '
'for what stands before the first one) and the text below it.';
grant execute on function memory.list_sections
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.importance_word(importance float8)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when importance < 3.5 then 'low' when importance <= 6.5 then 'medium'
    when importance is not null then 'high'
  end;

comment on function memory.importance_word(float8) is
'An importance of 0..10 as low (below 3.5), medium or high (above 6.5).';
grant execute on function memory.importance_word
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.importance_of(word text)
  returns float8
  language sql
  immutable
  parallel safe
  return case word when 'low' then 2.5 when 'medium' then 5.0 when 'high' then 8.5 end::float8;

comment on function memory.importance_of(text) is
'The importance, 0..10, that low (2.5), medium (5) or high (8.5) stands for; NULL for another '
'word.';
grant execute on function memory.importance_of
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.clean_labels(labels jsonb)
  returns jsonb
  language sql
  immutable
  strict
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(jsonb_agg(l.label order by l.position), '[]')
  from (
    select memory.collapse_whitespace(t.label) as label, min(t.position) as position
    from jsonb_array_elements_text(labels) with ordinality as t (label, position)
    where not memory.is_blank(t.label)
    group by 1
  ) as l;
$$;

comment on function memory.clean_labels(jsonb) is
'A JSON array of labels without blank and repeated ones, whitespace collapsed, in order; NULL for '
'NULL.';

create or replace function memory.sounds_vague(content text)
  returns boolean
  language sql
  immutable
  parallel safe
  return content ~* (
    '\m(maybe|perhaps|possibly|probably|presumably|apparently|i think|i guess|i suppose|i believe|'
    'might|could be|not (quite |really )?sure|unsure|sort of|kind of|or something|as far as i know|'
    'vielleicht|wahrscheinlich|vermutlich|möglicherweise|ich glaube|ich denke|peut-être|'
    'probablement|je crois|je pense|quizás|tal vez|probablemente|creo que)\M'
  );

comment on function memory.sounds_vague(text) is
'Whether a text hedges: maybe, I think, not sure and the like, in English, German, French and '
'Spanish.';

create or replace function memory.initial_confidence(
  source text,
  is_vague boolean default false,
  is_repeated boolean default false,
  source_confidence float8 default null
)
  returns float8
  language sql
  immutable
  parallel safe
  return least(1.0, greatest(0.0, case
    when source = 'user'
    then 0.95 - case when is_vague then 0.10 else 0 end + case when is_repeated then 0.05 else 0 end
    when source = 'derived' then least(0.50, source_confidence)
    when source = 'import' then least(0.80, source_confidence)
    else 0.70
  end))::float8;

comment on function memory.initial_confidence(text, boolean, boolean, float8) is
'The confidence of a new entry by its source: 0.95 if the user stated it, less 0.10 if vaguely, '
'plus 0.05 if repeatedly; 0.50 if derived and 0.80 if imported, but not above source_confidence, '
'that of what it comes from; 0.70 as an observation (interaction, system, tool). Range 0..1.';
grant execute on function memory.initial_confidence
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.confidence_step(outcome text)
  returns float8
  language sql
  immutable
  parallel safe
  return case outcome
    when 'used' then 0.02
    when 'confirmed' then 0.10
    when 'contradicted' then -0.20
    when 'conflicting' then -0.15
    when 'outdated' then -0.30
    when 'unused' then -0.05
  end::float8;

comment on function memory.confidence_step(text) is
'What an outcome adds to the confidence of an entry: used well +0.02; confirmed +0.10 or '
'contradicted by the user -0.20; conflicting with a new entry -0.15; outdated -0.30; unused for 30 '
'days -0.05. NULL for another word.';
grant execute on function memory.confidence_step
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.tier_range(tier text)
  returns numrange
  language sql
  immutable
  parallel safe
  return case tier
    when 'featured' then numrange(0.9, null)
    when 'normal' then numrange(0.7, 0.9)
    when 'warned' then numrange(0.5, 0.7)
    when 'last_resort' then numrange(null, 0.5)
  end;

comment on function memory.tier_range(text) is
'The confidence of the entries of a tier (memory.confidence_tier).';
grant execute on function memory.tier_range
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.confidence_tier(confidence float8)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when confidence >= lower(memory.tier_range('featured'))::float8 then 'featured'
    when confidence >= lower(memory.tier_range('normal'))::float8 then 'normal'
    when confidence >= lower(memory.tier_range('warned'))::float8 then 'warned'
    when confidence is not null then 'last_resort'
  end;

comment on function memory.confidence_tier(float8) is
'How a retrieval treats an entry of this confidence: featured (from 0.9), normal (0.7), warned '
'(0.5), or last_resort, returned only if there is nothing else.';
grant execute on function memory.confidence_tier
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.retention_band(
  last_changed_at timestamptz,
  as_of timestamptz default now()
)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when memory.days_between(last_changed_at, as_of) >= 365 then 'archived'
    when memory.days_between(last_changed_at, as_of) >= 180 then 'aged'
    when memory.days_between(last_changed_at, as_of) >= 90 then 'aging'
    else 'active'
  end;

comment on function memory.retention_band(timestamptz, timestamptz) is
'The band of an age: active below 90 days, aging below 180, aged below 365, then archived.';
grant execute on function memory.retention_band
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.band_of_entry(
  retention text,
  edited_at timestamptz,
  last_confirmed_at timestamptz,
  as_of timestamptz
)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when retention = 'archived' then 'archived'
    else memory.retention_band(greatest(edited_at, last_confirmed_at), as_of)
  end;

comment on function memory.band_of_entry(text, timestamptz, timestamptz, timestamptz) is
'The band of an entry at as_of, whether or not upkeep has run: archived if it was archived, else '
'that of its age since it was last edited or confirmed.';
grant execute on function memory.band_of_entry to memory_search;

create or replace function memory.retention_priority(
  edited_at timestamptz,
  reference_count integer,
  as_of timestamptz default now()
)
  returns float8
  language sql
  immutable
  parallel safe
  return least(
    1.0,
    exp(greatest(-700.0, -0.01 * memory.days_between(edited_at, as_of)))
    + least(0.02 * reference_count, 0.5)
  );

comment on function memory.retention_priority(timestamptz, integer, timestamptz) is
'The recency of an entry: exp(-0.01 * days since its last edit), 0.74 after 30 days, plus what its '
'use preserves, 0.02 for each access up to 0.5. Range 0..1.';
grant execute on function memory.retention_priority
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

commit;
