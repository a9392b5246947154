begin;
\ir fixtures.sql
select plan(19);

-- Queries point along axis 1, and news has a similarity of 0.4 to them. Another fact has some
-- similarity to the query and some to the news; the rest of it lies along an axis of its own.

create function memory_test.beside(to_query float8, to_news float8, axis integer)
  returns vector
  language sql
  immutable
  return (
    select array_agg(
      case i
        when 1 then to_query
        when 2 then r.shared
        when axis then sqrt(1 - to_query * to_query - r.shared * r.shared)
        else 0
      end
      order by i
    )::vector
    from (select (to_news - 0.4 * to_query) / sqrt(0.84) as shared) as r
    cross join generate_series(1, 384) as i
  );

create function memory_test.tell(
  predicate text,
  content text,
  embedding vector,
  at timestamptz
)
  returns uuid
  language sql
  begin atomic
    select memory.store_fact(
      'Ada', predicate, content, importance => 5, embedding => embedding, as_of => at
    );
  end;

-- The answer to a query: what is told, and before which older fact as its update.
create function memory_test.answer()
  returns text
  language sql
  begin atomic
    select string_agg(
      m.content || coalesce(' (updates ' || o.content || ')', ''), ', ' order by m.position
    )
    from (
      select r.content, r.updates_id, row_number() over () as position
      from memory.rank_memories('zzz', embedding => memory_test.axis(1), as_of => '2026-06-01Z') as r
    ) as m
    left join memory.facts as o on o.id = m.updates_id;
  end;

create function memory_test.another_memory(tenant_id text)
  returns void
  language sql
  as $$
    select memory_test.as_tenant(tenant_id);
    select memory.register_embedding_version('model', '1');
  $$;

select memory_test.another_memory('plain') \g /dev/null
select memory_test.tell('home', 'Rome', memory_test.beside(0.6, 0.9, 3), '2026-01-01Z') \g /dev/null
select memory_test.tell('sister', 'Bea', memory_test.beside(0.7, 0.6, 4), '2026-01-02Z') \g /dev/null
select memory_test.tell('city', 'Oslo from now on', memory_test.near(0.4), '2026-01-03Z') \g /dev/null
select is(
  memory_test.answer(), 'Bea, Oslo from now on (updates Rome), Rome',
  'news ranks before the older fact it resembles most, and not before others it resembles'
);
select is(
  (select count(distinct m.score)
   from memory.rank_memories('zzz', embedding => memory_test.axis(1), as_of => '2026-06-01Z') as m
   where m.content in ('Rome', 'Oslo from now on')),
  1::bigint, 'news takes the score of the fact before which it ranks'
);
select memory.configure('{"updates_first": false}') \g /dev/null
select is(
  memory_test.answer(), 'Bea, Rome, Oslo from now on', 'with updates_first off, news takes no other place'
);

select memory_test.another_memory('unasked') \g /dev/null
select memory_test.tell('home', 'Rome', memory_test.beside(0, 0.9, 3), '2026-01-01Z') \g /dev/null
select memory_test.tell('sister', 'Bea', memory_test.beside(0.7, 0.6, 4), '2026-01-02Z') \g /dev/null
select memory_test.tell('city', 'Oslo from now on', memory_test.near(0.4), '2026-01-03Z') \g /dev/null
select is(
  memory_test.answer(), 'Bea, Oslo from now on',
  'news about a fact that is no answer ranks before no other fact'
);

select memory_test.another_memory('superseded') \g /dev/null
select memory_test.tell('home', 'Rome', memory_test.beside(0.6, 0.9, 3), '2026-01-01Z') \g /dev/null
select memory_test.tell('sister', 'Bea', memory_test.beside(0.7, 0.6, 4), '2026-01-02Z') \g /dev/null
select memory_test.tell('home', 'Oslo from now on', memory_test.near(0.4), '2026-01-03Z') \g /dev/null
select is(
  memory_test.answer(), 'Bea, Oslo from now on',
  'news that superseded the fact it is about ranks before no other fact'
);
select memory_test.tell('home', 'Bern from now on', memory_test.near(0.4), '2026-01-04Z') \g /dev/null
select memory_test.tell('home', 'Graz from now on', memory_test.near(0.4), '2026-01-05Z') \g /dev/null
select is(
  memory_test.answer(), 'Bea, Graz from now on', 'neither does news that superseded such news'
);
select memory_test.tell('address', 'Rome, Via Appia', memory_test.beside(0.6, 0.89, 5), '2026-01-02 01:00Z') \g /dev/null
select is(
  memory_test.answer(), 'Bea, Graz from now on (updates Rome, Via Appia), Rome, Via Appia',
  'what resembles the news about as much as the fact that it superseded is updated too'
);

select memory_test.another_memory('named') \g /dev/null
select memory.configure('{"boost_named": 0.9}') \g /dev/null
select memory.store_fact(
  'Zzz', 'home', 'Rome', importance => 5, embedding => memory_test.beside(0.5, 0.9, 3), as_of => '2026-01-01Z'
) \g /dev/null
select memory_test.tell('city', 'Oslo from now on', memory_test.near(0.4), '2026-01-03Z') \g /dev/null
select is(
  memory_test.answer(), 'Rome, Oslo from now on',
  'news does not rank before a fact about somebody whom the query names'
);

select memory_test.another_memory('another subject') \g /dev/null
select memory.store_fact('Bob', 'home', 'Rome', embedding => memory_test.beside(0.6, 0.9, 3), as_of => '2026-01-01Z') \g /dev/null
select memory_test.tell('trip', 'to Oslo', memory_test.beside(0.1, 0.5, 4), '2026-01-02Z') \g /dev/null
select memory_test.tell('trip', 'canceled for Rome', memory_test.near(0.4), '2026-01-03Z') \g /dev/null
select is(
  memory_test.answer(), 'Rome, canceled for Rome', 'news that superseded a fact says nothing of another subject'
);
select memory_test.tell('home', 'Rome', memory_test.beside(0.6, 0.9, 5), '2026-01-02Z') \g /dev/null
select is(
  memory_test.answer(), 'canceled for Rome (updates Rome), Rome, Rome', 'but of its own subject it may'
);

-- Each fact of a chain is followed through what it superseded.
select memory_test.another_memory('chain') \g /dev/null
select memory_test.tell('home', 'Rome', memory_test.near(0.9), '2026-01-01Z') as rome \gset
create table memory_test.chain as
select
  n as steps,
  memory_test.tell('home', 'town ' || n || ' from now on', memory_test.near(0.4), '2026-01-01Z'::timestamptz + n * interval '1 day') as id
from generate_series(1, 17) as n;
select results_eq(
  $$ select c.steps, memory.replaced_by_news(c.id) from memory_test.chain as c where c.steps in (1, 2, 16, 17) order by 1 $$,
  format($$ values (1, %L::uuid), (2, %1$L), (16, %1$L), (17, null) $$, :'rome'),
  'what news replaced is found through up to 15 other news'
);
select is(memory.replaced_by_news(:'rome'), null, 'a fact that superseded none replaced none');

select memory_test.another_memory('other key') \g /dev/null
select memory_test.tell('home', 'Rome', memory_test.beside(0.6, 0.8, 3), '2026-01-01Z') \g /dev/null
select memory_test.tell('city', 'Oslo from now on', memory_test.near(0.4), '2026-01-03Z') \g /dev/null
select memory_test.tell('city', 'Bern from now on', memory_test.near(0.4), '2026-01-04Z') \g /dev/null
select is(
  memory_test.answer(), 'Bern from now on (updates Rome), Rome',
  'news that superseded other news still ranks before the fact that both are about'
);

select memory_test.another_memory('older') \g /dev/null
select memory_test.tell('city', 'Oslo from now on', memory_test.near(0.4), '2026-01-01Z') \g /dev/null
select memory_test.tell('home', 'Rome', memory_test.beside(0.6, 0.9, 3), '2026-01-02Z') \g /dev/null
select is(memory_test.answer(), 'Rome, Oslo from now on', 'news ranks before no newer fact');

select memory_test.another_memory('no news') \g /dev/null
select memory_test.tell('home', 'Rome', memory_test.beside(0.6, 0.9, 3), '2026-01-01Z') \g /dev/null
select memory_test.tell('city', 'Oslo', memory_test.near(0.4), '2026-01-02Z') \g /dev/null
select is(memory_test.answer(), 'Rome, Oslo', 'a fact that reports no news keeps its place');

select memory_test.another_memory('far') \g /dev/null
select memory.configure('{"meaning_weight": 1}') \g /dev/null
select memory_test.tell('home', 'Rome', memory_test.beside(0.95, 0.6, 3), '2026-01-01Z') \g /dev/null
select memory_test.tell('city', 'Oslo from now on', memory_test.near(0.35), '2026-01-02Z') \g /dev/null
select is(
  memory_test.answer(), 'Rome, Oslo from now on', 'news that fits far worse keeps its place'
);

select memory_test.another_memory('unlike') \g /dev/null
select memory_test.tell('home', 'Rome', memory_test.beside(0.6, 0.49, 3), '2026-01-01Z') \g /dev/null
select memory_test.tell('city', 'Oslo from now on', memory_test.near(0.4), '2026-01-02Z') \g /dev/null
select is(
  memory_test.answer(), 'Rome, Oslo from now on', 'news that resembles a fact too little is not about it'
);

select memory_test.another_memory('two') \g /dev/null
select memory_test.tell('home', 'Rome', memory_test.beside(0.6, 0.8, 3), '2026-01-01Z') \g /dev/null
select memory_test.tell('town', 'Turin', memory_test.beside(0.55, 0.84, 4), '2026-01-01Z') \g /dev/null
select memory_test.tell('city', 'Oslo from now on', memory_test.near(0.4), '2026-01-02Z') \g /dev/null
select is(
  memory_test.answer(), 'Oslo from now on (updates Rome), Rome, Turin',
  'news ranks before the best of several facts that it resembles about as much'
);

select memory_test.another_memory('words') \g /dev/null
select memory.store_fact('Ada', 'lives', 'zzz zzz in Rome', as_of => '2026-01-01Z') \g /dev/null
select memory.store_fact('Ada', 'city', 'zzz is Oslo from now on', as_of => '2026-01-02Z') \g /dev/null
select memory.store_fact('Bob', 'city', 'zzz is Bern from now on', as_of => '2026-01-02Z') \g /dev/null
select is(
  (select string_agg(coalesce(o.content, '-'), ', ' order by m.content)
   from memory.rank_memories('zzz', as_of => '2026-06-01Z') as m
   left join memory.facts as o on o.id = m.updates_id),
  '-, zzz zzz in Rome, -', 'without vectors, news is about an older fact of the same subject'
);

select * from finish();
rollback;
