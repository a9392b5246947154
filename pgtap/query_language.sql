begin;
\ir fixtures.sql
select plan(63);

select memory.configure('{"time_zone": "America/New_York"}');

-- Noon on Wednesday, 18 March 2026, 08:00 in New York.
create function memory_test.conditions(query text)
  returns text
  language sql
  stable
  return (
    select string_agg(
      (jsonb_strip_nulls(to_jsonb(c)) - '{with_archived,topic_required}'::text[])::text
        || case when c.topic_required then ' topic' else '' end,
      ' | ' order by c
    )
    from unnest(memory.parse_query(query, memory.current_settings(), '2026-03-18 12:00Z')) as c
  );

-- The message and the hint of a query.
create function memory_test.error_of(query text)
  returns text
  language plpgsql
as $$
declare
  v_hint text;
begin
  perform memory.parse_query(query, memory.current_settings(), '2026-03-18 12:00Z');
  return 'none';
exception
  when others then
    get stacked diagnostics v_hint = pg_exception_hint;
    return concat_ws(' # ', sqlstate, sqlerrm, v_hint);
end;
$$;

create table memory_test.readings (query text, conditions text);
insert into memory_test.readings
values
-- text
('', '{}'), ('   ', '{}'),
('coffee machine', '{} topic'),
('"coffee machine"', '{"phrases": ["coffee machine"]}'),
('“coffee machine”', '{"phrases": ["coffee machine"]}'),
('„coffee machine“', '{"phrases": ["coffee machine"]}'),
('-tea', '{"excluded_phrases": ["tea"]}'),
('NOT "green tea"', '{"excluded_phrases": ["green tea"]}'),
('http://a.b/c 12:30 C:\dir std::vector -- and or not', '{} topic'),
-- operators: NOT before AND before OR
('tag:a tag:b', '{"tags": ["a", "b"]}'),
('tag:a AND tag:b', '{"tags": ["a", "b"]}'),
('tag:a OR tag:b', '{"tags": ["a"]} | {"tags": ["b"]}'),
('tag:a OR tag:b tag:c', '{"tags": ["a"]} | {"tags": ["b", "c"]}'),
('tag:a AND tag:b OR tag:c', '{"tags": ["a", "b"]} | {"tags": ["c"]}'),
('(tag:a OR tag:b) AND tag:c', '{"tags": ["a", "c"]} | {"tags": ["b", "c"]}'),
('NOT tag:a tag:b', '{"tags": ["b"], "excluded_tags": ["a"]}'),
('NOT (tag:a tag:b)', '{"excluded_tags": ["a"]} | {"excluded_tags": ["b"]}'),
('-(tag:a OR tag:b)', '{"excluded_tags": ["a", "b"]}'),
('NOT (tag:a AND NOT (tag:b OR -tag:c))',
 '{"tags": ["b"]} | {"excluded_tags": ["a"]} | {"excluded_tags": ["c"]}'),
('NOT NOT tag:a', '{"tags": ["a"]}'),
('-(red tea)', '{"excluded_phrases": ["red"]} | {"excluded_phrases": ["tea"]}'),
('tag:a OR tag:A', '{"tags": ["a"]}'),
('tea OR tag:a', '{"tags": ["a"]} | {} topic'),
-- labels
('TAG:Python', '{"tags": ["python"]}'),
('tag:"two  words"', '{"tags": ["two words"]}'),
('tag:"a\"b\\c\d" tag:c++ tag:Café', '{"tags": ["a\"b\\c\\d", "c++", "cafe"]}'),
('category:Work source:User scope:Home',
 '{"scopes": ["Home"], "sources": ["user"], "categories": ["work"]}'),
('-category:a -source:b -scope:c',
 '{"excluded_scopes": ["c"], "excluded_sources": ["b"], "excluded_categories": ["a"]}'),
('title:"Plan B" -title:old', '{"titles": [" plan b "], "excluded_titles": [" old "]}'),
('tag:''; drop table memory.entries;--', '{"tags": ["'';"]} topic'),
-- types
('type:preference', '{"kinds": ["entry.preference"]}'),
('type:fact', '{"kinds": ["entry.fact", "fact"]}'),
('type:entry -type:note', '{"kinds": ["entry.fact", "entry.pattern", "entry.preference"]}'),
('type:fact type:rule', '{"kinds": []}'),
-- numbers
('confidence:>0.8', '{"confidence": "{(0.8,)}"}'),
('confidence:>=0.8', '{"confidence": "{[0.8,)}"}'),
('confidence:<.5', '{"confidence": "{(,0.5)}"}'),
('confidence:<=1', '{"confidence": "{(,1]}"}'),
('confidence:=0.5', '{"confidence": "{[0.5,0.5]}"}'),
('confidence:0.5..0.8', '{"confidence": "{[0.5,0.8]}"}'),
('confidence:between(0.5, 0.8) -confidence:0.6', '{"confidence": "{[0.5,0.6),(0.6,0.8]}"}'),
('importance:low', '{"importance": "{[0,3.5)}"}'),
('importance:>=medium', '{"importance": "{[3.5,)}"}'),
('importance:>7.5', '{"importance": "{(7.5,)}"}'),
('is:featured', '{"confidence": "{[0.9,)}"}'),
('is:warned OR is:last_resort', '{"confidence": "{(,0.5)}"} | {"confidence": "{[0.5,0.7)}"}'),
-- states
('is:aged', '{"bands": ["aged"]}'),
('-is:active', '{"bands": ["aged", "aging", "archived"]}'),
('is:flagged', '{"is_flagged": true}'),
('is:flagged -is:flagged', '{"kinds": [], "is_flagged": true}'),
('related:mem-2026-03-01-001', '{"ids": []}');

select is(memory_test.conditions(r.query), r.conditions, format('reads %L', r.query))
from memory_test.readings as r
order by r.query, r.conditions;

-- Times

set local timezone = 'UTC';
create function memory_test.created(value text)
  returns tstzmultirange
  language sql
  stable
  return (
    memory.parse_query('created:' || value, memory.current_settings(), '2026-03-18 12:00Z')
  )[1].created_at;
select results_eq(
  $$ select v, memory_test.created(v)::text
     from unnest('{
       last_hour,today,yesterday,last_week,last_month,last_year,this_week,this_month,2026-03-08,
       2026-03,2024,TODAY
     }'::text[]) as v $$,
  $$ values
     ('last_hour', '{["2026-03-18 11:00:00+00","2026-03-18 12:00:00+00"]}'),
     ('today', '{["2026-03-18 04:00:00+00","2026-03-19 04:00:00+00")}'),
     ('yesterday', '{["2026-03-17 04:00:00+00","2026-03-18 04:00:00+00")}'),
     ('last_week', '{["2026-03-11 12:00:00+00","2026-03-18 12:00:00+00"]}'),
     ('last_month', '{["2026-02-16 12:00:00+00","2026-03-18 12:00:00+00"]}'),
     ('last_year', '{["2025-03-18 12:00:00+00","2026-03-18 12:00:00+00"]}'),
     ('this_week', '{["2026-03-16 04:00:00+00","2026-03-23 04:00:00+00")}'),
     ('this_month', '{["2026-03-01 05:00:00+00","2026-04-01 04:00:00+00")}'),
     -- 23 hours: the clocks go forward.
     ('2026-03-08', '{["2026-03-08 05:00:00+00","2026-03-09 04:00:00+00")}'),
     ('2026-03', '{["2026-03-01 05:00:00+00","2026-04-01 04:00:00+00")}'),
     ('2024', '{["2024-01-01 05:00:00+00","2025-01-01 05:00:00+00")}'),
     ('TODAY', '{["2026-03-18 04:00:00+00","2026-03-19 04:00:00+00")}') $$,
  'words, days, months and years stand for times in the time zone of the tenant'
);
select results_eq(
  $$ select v, memory_test.created(v)::text
     from unnest(array[
       '>2026-03-01', '>=2026-03-01', '<2026-03-01', '<=2026-03-01', '=2026-03-01', '>last_week',
       '2026-03-01..2026-03-02', 'between(2026-03-01, 2026-03-02)', 'BETWEEN( 2026-02,today )'
     ]) as v $$,
  $$ values
     ('>2026-03-01', '{["2026-03-02 05:00:00+00",infinity)}'),
     ('>=2026-03-01', '{["2026-03-01 05:00:00+00",infinity)}'),
     ('<2026-03-01', '{(,"2026-03-01 05:00:00+00")}'),
     ('<=2026-03-01', '{(,"2026-03-02 05:00:00+00")}'),
     ('=2026-03-01', '{["2026-03-01 05:00:00+00","2026-03-02 05:00:00+00")}'),
     ('>last_week', '{("2026-03-18 12:00:00+00",infinity)}'),
     ('2026-03-01..2026-03-02', '{["2026-03-01 05:00:00+00","2026-03-03 05:00:00+00")}'),
     ('between(2026-03-01, 2026-03-02)', '{["2026-03-01 05:00:00+00","2026-03-03 05:00:00+00")}'),
     ('BETWEEN( 2026-02,today )', '{["2026-02-01 05:00:00+00","2026-03-19 04:00:00+00")}') $$,
  'times are compared as whole days, months or years'
);

-- Topic

select is(
  memory.query_topic('best coffee -tea tag:drinks ("flat white" OR NOT (milk NOT beans))'),
  'best coffee flat white beans', 'the topic is what a query looks for, in order'
);
select is(memory.query_topic('tag:a is:aged'), '', 'a query of filters has no topic');
select is(memory.query_topic(null), '', 'nor has no query');
select throws_ok(
  $$ select memory.query_topic('tag:') $$, 'PM007', null, 'the topic of a malformed query is an error'
);

-- Errors

create table memory_test.mistakes (query text, place integer, found text, expected text);
insert into memory_test.mistakes
values
('tag:', 5, 'the end', 'a value right after tag:'),
('x tag: y', 7, ''' ''', 'a value right after tag:'),
('foo:bar', 1, '''foo:''', 'one of tag:, type:'),
('a "b', 3, '''"b''', 'a closing quote'),
('""', 1, '''""''', 'text between the quotes'),
('"  "', 1, '''"  "''', 'text between the quotes'),
('"…"', 1, '''…''', 'a text with a letter or a digit'),
('(a', 1, '''(''', 'a closing parenthesis'),
('a)', 2, ''')''', 'an opening parenthesis'),
('a ()', 4, ''')''', 'a term'),
('AND a', 1, '''AND''', 'a term'),
('a AND', 6, 'the end', 'a term after AND'),
('a OR OR b', 6, '''OR''', 'a term after OR'),
('a NOT', 6, 'the end', 'a term after NOT'),
('(a OR ) b', 7, ''')''', 'a term after OR'),
('confidence:>2', 12, '''2''', 'a number between 0 and 1'),
('confidence:high', 12, '''high''', 'a number between 0 and 1'),
('confidence:0.9..0.1', 12, '''0.9..0.1''', 'the smaller number first'),
('importance:11', 12, '''11''', 'low, medium, high or'),
('created:between(2026-02-30, 2026-03-01)', 9, '''2026-02-30''', 'a day'),
('created:between(2026-03-01, 2026-02-01)', 9, '''between(2026-03-01, 2026-02-01)''', 'the earlier'),
('created:between(2026-03-01', 9, '''between(2026-03-01''', 'between(first, last)'),
('created:never', 9, '''never''', 'a day'),
('created:2026-13', 9, '''2026-13''', 'a day'),
('created:0000', 9, '''0000''', 'a day'),
('type:idea', 6, '''idea''', 'one of preference'),
('is:new', 4, '''new''', 'one of active'),
('related:abc', 9, '''abc''', 'the id of an entry');

select results_eq(
  $$ select m.query,
       regexp_replace(
         memory_test.error_of(m.query), '^(PM007 # query, character \d+: found .*?, expected .*) # Example: .+',
         '\1'
       ) like format('PM007 # query, character %s: found %s, expected %s%%', m.place, m.found, m.expected)
     from memory_test.mistakes as m order by m.query $$,
  $$ select m.query, true from memory_test.mistakes as m order by m.query $$,
  'an error says where it is, what was found and what was expected'
);
select is_empty(
  $$ select h.hint
     from memory_test.mistakes as m
     cross join lateral split_part(memory_test.error_of(m.query), ' # Example: ', 2) as h (hint)
     where h.hint = '' or h.hint !~ '…' and memory_test.error_of(h.hint) <> 'none' $$,
  'the example of an error is a right query'
);
select is(
  memory_test.error_of((select string_agg('tag:a' || i, ' ') from generate_series(1, 65) as i)),
  'PM007 # the query is too complex: 65 terms # Pass a query of at most 64 terms, or several queries.',
  'a query has at most 64 terms'
);
select is(
  left(
    memory_test.error_of(
      (select string_agg(format('(tag:a%s OR tag:b%s)', i, i), ' ') from generate_series(1, 9) as i)
    ), 58
  ),
  'PM007 # the query is too complex: 256 x 2 alternatives # P', 'a query has at most 256 alternatives'
);
select is(
  left(memory_test.error_of(repeat('a', 4097)), 45),
  'PM007 # the query is too complex: 4097 bytes ', 'a query has at most 4 KiB'
);
select is(
  left(memory_test.error_of(repeat('a', 65537)), 5), 'PM002', 'a query over 64 KiB is no query'
);

select * from finish();
rollback;
