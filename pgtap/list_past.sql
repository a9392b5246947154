begin;
\ir fixtures.sql
select plan(46);

select is_empty($$ select * from memory.memories_as_of('2026-01-10Z') $$, 'an empty memory has no past');
select is_empty($$ select * from memory.change_density() $$, 'nor changes');

select memory.store_episode('Rain', 'home', as_of => '2026-01-01Z') as rain \gset
select memory.store_fact('Ada', 'drinks', 'coffee', tags => '["drink"]', as_of => '2026-01-02Z') as coffee \gset
select memory.store_fact('Ada', 'eats', 'cake', scope => 'home', source_butler => 'home', as_of => '2026-01-03Z') as cake \gset
select memory.store_rule('Offer tea', as_of => '2026-01-04Z') as rule \gset
select memory.store_fact('Ada', 'drinks', 'tea', as_of => '2026-01-05Z') as tea \gset
select memory.confirm_memory('fact', :'cake', '2026-01-06Z') \g /dev/null
select memory.forget_memory('rule', :'rule', '2026-01-07Z') \g /dev/null
select c.id as note from memory.create_entry('# Kettle', as_of => '2026-01-08Z') as c \gset
select memory.update_entry(e.entry_id, content => '# Pot', as_of => '2026-01-09Z') from memory.entries as e \g /dev/null

create function memory_test.known(arguments text) returns text[] language plpgsql as $$
declare v_listed text[];
begin
  execute format(
    'select array_agg(l.content order by l.ordinality) from memory.memories_as_of(%s) with ordinality as l', arguments
  ) into v_listed;
  return v_listed;
end;
$$;

-- memories_as_of

select is(memory_test.known(c.arguments), c.wanted::text[], c.what)
from (values
  (1, $$'2026-01-10Z'$$, '{# Pot,tea,cake}', 'now it is as searches find it'),
  (2, $$'2026-01-08T12:00Z'$$, '{# Kettle,tea,cake}', 'an entry says what it said then; an episode that had run out was not found'),
  (3, $$'2026-01-06T12:00Z'$$, '{tea,"Offer tea",cake,Rain}', 'what was forgotten later was still known'),
  (4, $$'2026-01-04T12:00Z'$$, '{"Offer tea",cake,coffee,Rain}', 'before it was superseded, the older fact was known'),
  (5, $$'2026-01-02Z'$$, '{coffee,Rain}', 'at the moment of its creation a memory is known'),
  (6, $$'2025-12-31Z'$$, null, 'before the first one nothing was'),
  (7, $$as_of => '2026-01-02Z'$$, '{coffee,Rain}', 'without a time it is that of the call'),
  (8, $$'2026-01-10Z', '2026-01-04Z'$$, '{"# Pot",cake,coffee}', 'of facts those that were valid in the world then'),
  (9, $$'2026-01-04T12:00Z', '2026-01-02T12:00Z', types => '{fact}'$$, '{coffee}', 'both clocks together'),
  (10, $$'2026-01-06T12:00Z', types => '{rule,episode}'$$, '{"Offer tea",Rain}', 'types restrict it'),
  (11, $$'2026-01-06T12:00Z', scope => 'work', types => '{fact}'$$, '{tea}', 'so does a scope'),
  (12, $$'2026-01-06T12:00Z', states => '{superseded}'$$, '{coffee}', 'states are those of then'),
  (13, $$'2026-01-04T12:00Z', states => '{superseded}'$$, null, 'before which it was not superseded'),
  (14, $$'2026-01-04T12:00Z', tags => '["drink"]'$$, '{coffee}', 'as are tags'),
  (15, $$'2026-01-10Z', subject => 'ada', predicate => 'Drinks'$$, '{tea}', 'a key is in any spelling'),
  (16, $$'2026-01-08T12:00Z', content_contains => 'KETTLE'$$, '{"# Kettle"}', 'a text is sought in what was said then'),
  (17, $$'2026-01-10Z', content_contains => 'kettle'$$, null, 'not in what was said before'),
  (18, $$'2026-01-10Z', butler => 'home'$$, '{cake}', 'a butler restricts it'),
  (19, $$'2026-01-10Z', entity_id => gen_random_uuid()$$, null, 'and an entity')
) as c (position, arguments, wanted, what)
order by c.position;
select results_eq(
  $$ select l.content, l.state, l.effective_confidence, l.last_confirmed_at
     from memory.memories_as_of('2026-01-05T12:00Z', types => '{fact}') as l where l.content = 'cake' $$,
  $$ values ('cake', 'active', exp(-0.008 * 2.5)::float8, '2026-01-03Z'::timestamptz) $$,
  'confidence is that of then, before a later confirmation'
);
select is(
  (
    with recursive pages as (
      select p.* from (select l.content, l.cursor from memory.memories_as_of('2026-01-06T12:00Z', max_results => 1) as l) as p
      union all
      select n.content, n.cursor from pages as p cross join lateral memory.memories_as_of(after => p.cursor, max_results => 1) as n
    )
    select array_agg(p.content) from pages as p
  ),
  '{tea,"Offer tea",cake,Rain}', 'pages go on as of the time of the first one'
);
select throws_ok(
  $$ select memory.memories_as_of(after => (select l.cursor from memory.list_memories() as l limit 1)) $$, 'PM002',
  'after is not a cursor of this list', 'the cursor of another list is refused'
);
select throws_ok($$ select memory.memories_as_of('infinity') $$, 'PM002', null, 'an infinite time is refused');
select throws_ok($$ select memory.memories_as_of('2026-01-10Z', 'infinity') $$, 'PM002', null, 'on either clock');

-- diff_as_of

select results_eq(
  $$ select d.change, coalesce(d.content_after, ''), d.content_before, d.state_before, d.state_after, d.changed_at
     from memory.diff_as_of('2026-01-04T12:00Z', '2026-01-10Z') as d $$,
  $$ values
     ('appeared', '# Pot', null, null, 'active', '2026-01-09Z'::timestamptz),
     ('gone', 'Rain', 'Rain', 'pending', 'expired', '2026-01-08Z'),
     ('gone', 'Offer tea', 'Offer tea', 'active', 'retracted', '2026-01-07Z'),
     ('changed', 'cake', 'cake', 'active', 'active', '2026-01-06Z'),
     ('appeared', 'tea', null, null, 'active', '2026-01-05Z'),
     ('gone', 'coffee', 'coffee', 'active', 'superseded', '2026-01-05Z') $$,
  'what appeared, is gone or changed between two times'
) where :'tea' > :'coffee';
select results_eq(
  $$ select d.change, coalesce(d.content_after, ''), d.content_before, d.state_before, d.state_after, d.changed_at
     from memory.diff_as_of('2026-01-04T12:00Z', '2026-01-10Z') as d $$,
  $$ values
     ('appeared', '# Pot', null, null, 'active', '2026-01-09Z'::timestamptz),
     ('gone', 'Rain', 'Rain', 'pending', 'expired', '2026-01-08Z'),
     ('gone', 'Offer tea', 'Offer tea', 'active', 'retracted', '2026-01-07Z'),
     ('changed', 'cake', 'cake', 'active', 'active', '2026-01-06Z'),
     ('gone', 'coffee', 'coffee', 'active', 'superseded', '2026-01-05Z'),
     ('appeared', 'tea', null, null, 'active', '2026-01-05Z') $$,
  'what appeared, is gone or changed between two times'
) where :'tea' < :'coffee';
select results_eq(
  $$ select d.changed, d.successor_id from memory.diff_as_of('2026-01-04T12:00Z', '2026-01-10Z', '{fact}') as d where d.content_after = 'cake' $$,
  $$ values ('{last_confirmed_at,observed_at}'::text[], null::uuid) $$,
  'with the names of what changed'
);
select is(
  (select d.successor_id from memory.diff_as_of('2026-01-04T12:00Z', '2026-01-10Z') as d where d.content_after = 'coffee'), :'tea',
  'and what superseded a fact'
);
select results_eq(
  $$ select d.change, d.content_before, d.content_after, d.changed && '{content}' from memory.diff_as_of('2026-01-08T12:00Z', as_of => '2026-01-10Z') as d $$,
  $$ values ('changed', '# Kettle', '# Pot', true) $$, 'the difference to now shows both texts'
);
select is_empty($$ select * from memory.diff_as_of('2026-01-09Z', '2026-01-10Z') $$, 'where nothing changed nothing differs');
select is(
  (select array_agg(d.content_after) from memory.diff_as_of('2026-01-04T12:00Z', '2026-01-10Z', scope => 'work') as d where d.change <> 'appeared'),
  '{Offer tea,coffee}', 'a scope restricts it'
);
select is(
  (select count(*) from memory.diff_as_of('2026-01-04T12:00Z', '2026-01-10Z', max_results => 2)), 2::bigint, 'max_results limits it'
);
select is(
  (
    with first as (select d.*, row_number() over () as place from memory.diff_as_of('2026-01-04T12:00Z', '2026-01-10Z') as d),
      second as (
        select n.id, row_number() over () as place
        from memory.diff_as_of('2026-01-04T12:00Z', after => (select f.cursor from first as f where f.place = 2)) as n
      )
    select array_agg(s.id order by s.place) from second as s
  ),
  (
    select array_agg(d.id order by d.place)
    from (select d.id, row_number() over () as place from memory.diff_as_of('2026-01-04T12:00Z', '2026-01-10Z') as d) as d
    where d.place > 2
  ),
  'the next page goes on after a row, to the same time'
);
select throws_ok($$ select memory.diff_as_of('2026-01-10Z', '2026-01-10Z') $$, 'PM002', null, 'the same time twice is refused');
select throws_ok($$ select memory.diff_as_of(null, '2026-01-10Z') $$, 'PM002', null, 'no time is refused');

-- change_density

select results_eq(
  $$ select c.bucket, c.starts_at, c.ends_at, c.changes from memory.change_density('2026-01-01Z', '2026-01-09Z', 4) as c $$,
  $$ values
     (1, '2026-01-01Z'::timestamptz, '2026-01-03Z'::timestamptz, 2::bigint),
     (2, '2026-01-03Z', '2026-01-05Z', 2), (3, '2026-01-05Z', '2026-01-07Z', 3), (4, '2026-01-07Z', '2026-01-09Z', 3) $$,
  'changes are counted by when they were known, those at the end with the last part'
);
select is(
  (select array[min(c.starts_at), max(c.ends_at)] from memory.change_density(buckets => 3, as_of => '2026-01-10Z') as c),
  '{2026-01-01Z,2026-01-10Z}'::timestamptz[], 'without times from the first memory to now'
);
select is(
  (select sum(c.changes) from memory.change_density(types => '{rule}', as_of => '2026-01-10Z') as c), 2::numeric, 'of some types only'
);
select throws_ok(format('select memory.change_density(%s)', c.arguments), 'PM002', null, format('%s is refused', c.arguments))
from unnest(array['buckets => 0', 'buckets => 1001', '''2026-01-02Z'', ''2026-01-02Z''', '''-infinity''']) with ordinality as c (arguments, position)
order by c.position;

-- Another tenant

select memory_test.as_tenant('b') \g /dev/null
select is_empty($$ select * from memory.memories_as_of('2026-01-06Z') $$, 'another tenant has another past');
select is_empty($$ select * from memory.diff_as_of('2026-01-04T12:00Z', '2026-01-10Z') $$, 'no differences of this one');
select is_empty($$ select * from memory.change_density(as_of => '2026-01-10Z') $$, 'and no changes');

select * from finish();
rollback;
