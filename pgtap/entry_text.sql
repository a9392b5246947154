begin;
\ir fixtures.sql
select plan(93);

-- Titles

select is(memory.entry_title(c.content), c.title, format('the title is %s', c.description))
from (values
  (1, E'# User prefers tea\n\nAlways.', 'User prefers tea', 'the first heading'),
  (2, E'Some text\n\n### Third level', 'Third level', 'the first heading, of any level and wherever it stands'),
  (3, E'# First\n# Second', 'First', 'the first of several headings'),
  (4, E'   ## Indented ##  ', 'Indented', 'a heading without its indentation and closing marks'),
  (5, E'# C# and F#', 'C# and F#', 'a heading with the marks that belong to a word'),
  (6, E'#hashtag\n\ntext', '#hashtag', 'the first line if # is not followed by a space'),
  (7, E'####### Seven\n', '####### Seven', 'the first line if there are seven marks'),
  (8, E'    # Indented code\nx', '# Indented code', 'the first line if the mark is indented by four'),
  (9, E'\n  \n\tUser likes tea.\nEvery day.', 'User likes tea.', 'the first line that is not blank'),
  (10, E'- an item\n- another', 'an item', 'an item of a list without its mark'),
  (11, E'> a quote', 'a quote', 'a quote without its mark'),
  (12, E'#\n\ntext', '#', 'an empty heading if nothing else is there'),
  (13, ' ', 'Untitled', 'Untitled for a blank text'),
  (14, E'# Windows\r\n\r\ntext\r\n', 'Windows', 'a heading without the end of its line'),
  (15, E'# a\tb\x07c', 'abc', 'a heading without control characters'),
  (16, E'# Überblick ☕', 'Überblick ☕', 'a heading with all its letters'),
  (17, E'```sh\n# a comment\n```\n# A heading', 'A heading', 'no comment in a block of code'),
  (
    18, E'```\n# no\n```\n# Between\n```\n# no\n```', 'Between',
    'a heading between two blocks of code'
  ),
  (19, E'~~~\n```\n# no\n~~~\n# After', 'After', 'a heading after a block that shows another fence'),
  (20, E'````\n```\n# no\n```\n````\n# After', 'After', 'a heading after a longer fence'),
  (21, E'text\n```\n# no\n``` no end\n# no', 'text', 'no heading in a block that is never closed'),
  (22, E'```inline``` code\n# Heading', 'Heading', 'a heading after code within a line'),
  (23, E'# ' || repeat('x', 300), repeat('x', 200), 'at most 200 characters long'),
  (24, repeat('x ', 40000) || E'\n# Late', left(repeat('x ', 100), 199), 'taken from the first 64 KiB')
) as c (position, content, title, description)
order by c.position;
select is(
  memory.entry_title(repeat(E'```\n# no\n```\n', 4000) || '# Yes'), 'Yes', 'many blocks of code take no long time'
);

-- Code and sections

select results_eq(
  $$ select c.position, c.part, c.is_code
     from memory.split_code(E'a\n```\nb\n```\nc\n~~~ sql\nd\n~~~') as c order by 1 $$,
  $$ values
     (1::bigint, 'a', false), (2, E'\n```\nb\n```', true), (3, E'\nc', false), (4, E'\n~~~ sql\nd\n~~~', true),
     (5, '', false) $$,
  'split_code cuts a text into code and the rest'
);
select is(
  (select string_agg(c.part, '' order by c.position) from memory.split_code(t.content) as c), t.content,
  'split_code loses nothing: ' || quote_literal(left(t.content, 30))
)
from (values
  (1, ''), (2, E'\n'), (3, E'```\n```'), (4, E'```\n```\n```\n```\n'), (5, E'a\n\n```\nb'), (6, E'\n\n~~~~\n~~~\n~~~~~\n\nx\r\n')
) as t (position, content)
order by t.position;
select is(
  memory.without_code(E'a\n```\nb\n```\nc'), E'a\nc', 'without_code leaves out the blocks of code'
);
select is(memory.without_code(E'```\nb'), '', 'without_code leaves nothing of a text that is code');
select results_eq(
  $$ select s.* from memory.list_sections(
       E'Before\n\n# Tea #\n\nThe user likes tea.\n\n## Context\nA talk\n\n### Empty\n## Evidence\n- "yes"\n'
     ) as s $$,
  $$ values
     (1::bigint, null::integer, null, 'Before'), (2, 1, 'Tea', 'The user likes tea.'),
     (3, 2, 'Context', 'A talk'), (4, 3, 'Empty', null), (5, 2, 'Evidence', '- "yes"') $$,
  'list_sections returns level, heading and text of each section'
);
select results_eq(
  $$ select s.* from memory.list_sections(E'# A\r\n\r\nx\r\n```\r\n# no\r\n\r\n```\r\ny\r\n# B') as s $$,
  $$ values
     (1::bigint, 1, 'A', E'x\n```\n# no\n\n```\ny'), (2, 1, 'B', null) $$,
  'a block of code belongs to its section'
);
select results_eq(
  $$ select s.heading, s.body from memory.list_sections(E'~~~\n```\n# no\n~~~\n# Yes') as s $$,
  $$ values (null, E'~~~\n```\n# no\n~~~'), ('Yes', null) $$, 'one fence does not close another'
);
select is_empty($$ select * from memory.list_sections(E' \n\n') $$, 'a blank text has no sections');
select is_empty($$ select * from memory.list_sections(null) $$, 'no text has no sections');

-- Importance

select is(
  array(
    select memory.importance_word(i.importance)
    from unnest('{0,3.49,3.5,5,6.5,6.51,10,null}'::float8[]) with ordinality as i (importance, position)
    order by i.position
  ),
  '{low,low,medium,medium,medium,high,high,null}', 'importance_word says an importance in a word'
);
select is(
  array(
    select memory.importance_of(w.word)
    from unnest('{low,medium,high,highest,null}'::text[]) with ordinality as w (word, position)
    order by w.position
  ),
  '{2.5,5,8.5,null,null}', 'importance_of says a word as an importance'
);
select is(
  memory.importance_word(memory.importance_of(w.word)), w.word, format('the importance of %s is %s', w.word, w.word)
)
from unnest('{high,low,medium}'::text[]) as w (word)
order by w.word;

-- Labels

select is(memory.clean_labels(l.labels), l.cleaned, format('%s are cleaned', quote_nullable(l.labels)))
from (values
  (1, '["b", "a"]'::jsonb, '["b", "a"]'::jsonb), (2, '[" a  b ", "a b", "a\tb"]', '["a b"]'),
  (3, '["A", "a"]', '["A", "a"]'), (4, '["", " ", "x"]', '["x"]'), (5, '[]', '[]'), (6, null, null)
) as l (position, labels, cleaned)
order by l.position;

-- Initial confidence

select is(
  memory.initial_confidence(c.source, c.is_vague, c.is_repeated, c.source_confidence), c.confidence,
  format(
    '%s%s%s%s begins with %s', c.source, case when c.is_vague then ', vague' end,
    case when c.is_repeated then ', repeated' end, ', of ' || c.source_confidence, c.confidence
  )
)
from (values
  (1, 'user', false, false, null::float8, 0.95::float8), (2, 'user', true, false, null, 0.85),
  (3, 'user', false, true, null, 1.0), (4, 'user', true, true, null, 0.9), (5, 'interaction', false, false, null, 0.7),
  (6, 'interaction', true, true, null, 0.7), (7, 'system', false, false, null, 0.7), (8, 'tool', false, false, null, 0.7),
  (9, 'derived', false, false, null, 0.5), (10, 'derived', false, false, 0.3, 0.3), (11, 'derived', false, false, 0.9, 0.5),
  (12, 'import', false, false, null, 0.8), (13, 'import', false, false, 0.6, 0.6), (14, 'import', false, false, 1.0, 0.8)
) as c (position, source, is_vague, is_repeated, source_confidence, confidence)
order by c.position;
select is(memory.initial_confidence('user'), 0.95::float8, 'what a user states is neither vague nor repeated by default');
select is_empty(
  $$ select t.content from unnest(array[
       'Maybe tea', 'I think it is tea', 'It might be tea', 'not really sure', 'Vielleicht Tee', 'Peut-être du thé',
       'Creo que es té'
     ]) as t (content)
     where not memory.sounds_vague(t.content) $$,
  'a text that hedges sounds vague'
);
select is_empty(
  $$ select t.content from unnest(array['User likes tea', 'A mighty tree', 'Sure']) as t (content)
     where memory.sounds_vague(t.content) $$,
  'a text that does not hedge does not sound vague'
);

-- Steps, tiers, bands, recency

select is(memory.confidence_step(s.outcome), s.step, format('%s adds %s', s.outcome, s.step))
from (values
  (1, 'used', 0.02::float8), (2, 'confirmed', 0.10), (3, 'contradicted', -0.20), (4, 'conflicting', -0.15),
  (5, 'outdated', -0.30), (6, 'unused', -0.05), (7, 'other', null)
) as s (position, outcome, step)
order by s.position;
select is(
  array(
    select memory.confidence_tier(c.confidence)
    from unnest('{1,0.9,0.8999,0.7,0.6999,0.5,0.4999,0,null}'::float8[]) with ordinality as c (confidence, position)
    order by c.position
  ),
  '{featured,featured,normal,normal,warned,warned,last_resort,last_resort,null}',
  'the tiers begin at 0.9, 0.7 and 0.5'
);
select is(
  array(
    select memory.retention_band('2026-01-01Z', '2026-01-01Z'::timestamptz + d.days * interval '24 hours')
    from unnest('{-1,0,89.999,90,179.999,180,364.999,365,9999}'::float8[]) with ordinality as d (days, position)
    order by d.position
  ),
  '{active,active,active,aging,aging,aged,aged,archived,archived}', 'the bands begin at 90, 180 and 365 days'
);
select is(
  memory.retention_band(now() - interval '200 days'), 'aged', 'the band is that of now unless a time is given'
);
select is(
  array(
    select memory.band_of_entry(b.retention, b.edited_at, b.confirmed_at, '2026-12-31Z')
    from (values
      (1, 'active', '2026-01-01Z'::timestamptz, null::timestamptz), (2, 'active', '2026-01-01Z', '2026-12-30Z'),
      (3, 'archived', '2026-12-30Z', '2026-12-30Z'), (4, 'aged', '2026-12-30Z', null), (5, 'active', '2025-12-31Z', null)
    ) as b (position, retention, edited_at, confirmed_at)
    order by b.position
  ),
  '{aged,active,archived,active,archived}',
  'the band of an entry is that of its age since it was edited or confirmed, unless it is archived'
);
select is(
  round(memory.retention_priority('2026-01-01Z', 0, '2026-01-01Z'::timestamptz + d.days * interval '24 hours')::numeric, 2),
  d.priority, format('the recency after %s days is %s', d.days, d.priority)
)
from (values (0, 1.00), (7, 0.93), (30, 0.74), (90, 0.41), (365, 0.03)) as d (days, priority)
order by d.days;
select is(
  array(
    select round(memory.retention_priority('2026-01-01Z', c.accesses, '2027-01-01Z')::numeric, 2)
    from unnest('{0,1,25,26,1000000}'::integer[]) with ordinality as c (accesses, position)
    order by c.position
  ),
  '{0.03,0.05,0.53,0.53,0.53}', 'each access preserves 0.02 of the recency, up to 0.5'
);
select is(
  memory.retention_priority('2026-01-01Z', 10, '2026-01-02Z'), 1.0::float8, 'the recency is at most 1'
);
select is(
  memory.retention_priority('2026-01-01Z', 0, '2025-01-01Z'), 1.0::float8,
  'the recency before an edit is that of the edit'
);
select cmp_ok(
  memory.retention_priority('0001-01-01Z', 0, '9999-01-01Z'), '<', 1e-300::float8, 'the recency does not overflow'
);

-- Snippets

select is(
  memory.make_snippet(E'# Keys\n\nUnder the mat.\n\n- the *blue* one\n', 'keys'), 'Under the mat. - the *blue* one',
  'a short text is shown whole, without its heading, on one line'
);
select is(
  memory.make_snippet(repeat('word ', 60), 'other'), repeat('word ', 40) || '…',
  'of a long one, the beginning, up to a whole word'
);
select is(
  memory.make_snippet(repeat('word ', 40) || 'a needle here', 'Is a Needle there?'), '… word word word word word word word a needle here',
  'or what surrounds a word of the topic'
);
select is(
  memory.make_snippet(repeat('word ', 40) || 'needle' || repeat(' word', 60), 'needle', 60),
  '… word word word word word word word needle word word word …', 'which may be in the middle'
);
select is(
  memory.make_snippet('needle ' || repeat('word ', 60), 'needle', 20), 'needle word word …', 'or at the beginning'
);
select is(
  memory.make_snippet(repeat('word ', 40) || repeat('b', 45) || ' needle here', 'needle'), '… needle here',
  'and begins with a whole word'
);

select * from finish();
rollback;
