begin;
\ir fixtures.sql
select plan(54);

-- Pairs as lines: kind, source against target.
create function memory_test.pairs(
  scope text default null,
  max_results integer default 50,
  as_of timestamptz default now()
)
  returns setof text
  language sql
  stable
as $$
  select format('%s: %s | %s', c.kind, c.source_content, c.target_content)
  from memory.list_contradictions(scope, max_results, as_of) with ordinality as c
  order by c.ordinality
$$;

-- A fact with defaults for all but its key.
create function memory_test.a_fact(
  subject text,
  predicate text,
  content text default 'x',
  scope text default 'global',
  entity_id uuid default null,
  as_of timestamptz default now()
)
  returns uuid
  language sql
  return memory.store_fact(
    subject, predicate, content, scope => scope, entity_id => entity_id, as_of => as_of
  );

select is_empty(
  $$ select * from memory.list_contradictions() $$, 'an empty memory has no contradictions'
);

-- Links that contradict

select memory.store_fact('Ada', 'lives in', 'Paris', confidence => 0.8, as_of => '2026-01-01Z') as paris_id \gset
select memory.store_fact('Ada', 'works in', 'Rome', as_of => '2026-01-02Z') as rome_id \gset
select memory.store_rule('Write to Ada in French', as_of => '2026-01-03Z') as rule_id \gset
select memory.store_episode('Ada: I never lived in France', 'home', as_of => '2026-01-04Z') as episode_id \gset
select memory.create_link('fact', :'rome_id', 'fact', :'paris_id', 'contradicts') \g /dev/null
select memory.create_link('episode', :'episode_id', 'fact', :'paris_id', 'contradicts') \g /dev/null
select memory.create_link('fact', :'rome_id', 'rule', :'rule_id', 'contradicts') \g /dev/null
select memory.create_link('rule', :'rule_id', 'fact', :'paris_id', 'supports') \g /dev/null
update memory.memory_links as l
set created_at = case
  when l.source_type = 'episode' then '2026-01-05Z'::timestamptz
  when l.target_type = 'rule' then '2026-01-06Z'
  else '2026-01-04Z'
end;

select results_eq(
  $$ select memory_test.pairs(as_of => '2026-01-10Z') $$,
  $$ values
     ('contradicts: [Ada] [works in]: Rome | Write to Ada in French'),
     ('contradicts: Ada: I never lived in France | [Ada] [lives in]: Paris'),
     ('contradicts: [Ada] [works in]: Rome | [Ada] [lives in]: Paris') $$,
  'links that contradict are listed, the latest first, and no other links'
);
select results_eq(
  format(
    $$ select c.kind, c.source_type, c.source_id, c.source_content, round(c.source_confidence::numeric, 3),
         c.source_created_at, c.target_type, c.target_id, c.target_content,
         round(c.target_confidence::numeric, 3), c.target_created_at, c.since
       from memory.list_contradictions(as_of => '2026-01-10Z') as c where c.source_type = 'episode' $$
  ),
  format(
    $$ values (
       'contradicts', 'episode', %L::uuid, 'Ada: I never lived in France', 1.000, '2026-01-04Z'::timestamptz,
       'fact', %L::uuid, '[Ada] [lives in]: Paris', round((0.8 * exp(-0.008 * 9))::numeric, 3),
       '2026-01-01Z'::timestamptz, '2026-01-05Z'::timestamptz) $$,
    :'episode_id', :'paris_id'
  ),
  'a pair has the content, age and confidence of both sides, and when they were linked'
);
select memory.create_link('rule', :'rule_id', 'fact', :'rome_id', 'contradicts') \g /dev/null
update memory.memory_links as l set created_at = '2026-01-06Z' where l.source_type = 'rule';
select results_eq(
  $$ select p from memory_test.pairs(as_of => '2026-01-10Z') as p where p like '%French%' $$,
  $$ values ('contradicts: [Ada] [works in]: Rome | Write to Ada in French') $$,
  'two memories that contradict each other are one pair'
);
update memory.memory_links as l set created_at = '2026-01-03Z'
where l.source_type = 'rule' and l.relation = 'contradicts';
select results_eq(
  $$ select p from memory_test.pairs(as_of => '2026-01-10Z') as p where p like '%French%' $$,
  $$ values ('contradicts: Write to Ada in French | [Ada] [works in]: Rome') $$,
  'a pair linked both ways has the direction that was linked first'
);
select results_eq(
  $$ select n from generate_series(1, 4) as n
     where array(select memory_test.pairs(max_results => n, as_of => '2026-01-10Z'))
       = (array(select memory_test.pairs(as_of => '2026-01-10Z')))[1:n] $$,
  'values (1), (2), (3), (4)',
  'a smaller max_results returns the beginning of the same list'
);

-- Only what is live

select is_empty(
  $$ select p from memory_test.pairs(as_of => '2026-01-11Z') as p where p like '%never%' $$,
  'an expired episode contradicts nothing'
);
update memory.facts as f set metadata = '{"status": "fading"}' where f.id = :'paris_id';
select is(
  (select count(*) from memory_test.pairs(as_of => '2026-01-10Z') as p where p like '%Paris%'), 2::bigint,
  'a fading fact can still be contradicted'
);
savepoint live;
update memory.rules as r
set maturity = 'anti_pattern', metadata = '{"original_content": "Write to Ada in French"}'
where r.id = :'rule_id';
select is_empty(
  $$ select p from memory_test.pairs(as_of => '2026-01-10Z') as p where p like '%French%' $$,
  'a rule that has become a warning contradicts nothing'
);
rollback to savepoint live;
select memory.forget_memory('rule', :'rule_id') \g /dev/null
select is_empty(
  $$ select p from memory_test.pairs(as_of => '2026-01-10Z') as p where p like '%French%' $$,
  'a forgotten rule contradicts nothing'
);
rollback to savepoint live;
select memory.forget_memory('fact', :'paris_id') \g /dev/null
select results_eq(
  $$ select memory_test.pairs(as_of => '2026-01-10Z') $$,
  $$ values ('contradicts: Write to Ada in French | [Ada] [works in]: Rome') $$,
  'forgetting one side of a contradiction settles it'
);
rollback to savepoint live;
select memory.store_fact('Ada', 'works in', 'Berlin') \g /dev/null
select results_eq(
  $$ select memory_test.pairs(as_of => '2026-01-10Z') $$,
  $$ values ('contradicts: Ada: I never lived in France | [Ada] [lives in]: Paris') $$,
  'superseding one side of a contradiction settles it'
);
rollback to savepoint live;
delete from memory.episodes as e where e.id = :'episode_id';
select is_empty(
  $$ select p from memory_test.pairs(as_of => '2026-01-10Z') as p where p like '%never%' $$,
  'a deleted episode contradicts nothing'
);

-- Near duplicates

select memory_test.as_tenant('c') \g /dev/null
select memory_test.a_fact('user', 'favorite_color', 'green', as_of => '2026-01-01Z') as green_id \gset
select memory_test.a_fact('User', 'Favorite-Color', 'blue', as_of => '2026-01-02Z') as blue_id \gset
select results_eq(
  format(
    $$ select c.kind, c.source_type, c.source_id, c.source_content, c.source_created_at, c.target_type,
         c.target_id, c.target_content, c.target_created_at, c.since
       from memory.list_contradictions(as_of => '2026-01-10Z') as c $$
  ),
  format(
    $$ values ('near_duplicate', 'fact', %L::uuid, '[User] [Favorite-Color]: blue', '2026-01-02Z'::timestamptz,
         'fact', %L::uuid, '[user] [favorite_color]: green', '2026-01-01Z'::timestamptz,
         '2026-01-02Z'::timestamptz) $$,
    :'blue_id', :'green_id'
  ),
  'of two active facts with nearly the same key the newer is paired with the older'
);
select memory_test.a_fact('user', 'favoriteColor', 'red', as_of => '2026-01-04Z') \g /dev/null
select memory_test.a_fact('user', 'favorite - color', 'grey', as_of => '2026-01-03Z') \g /dev/null
select results_eq(
  $$ select memory_test.pairs() $$,
  $$ values
     ('near_duplicate: [user] [favoriteColor]: red | [user] [favorite - color]: grey'),
     ('near_duplicate: [user] [favoriteColor]: red | [User] [Favorite-Color]: blue'),
     ('near_duplicate: [user] [favoriteColor]: red | [user] [favorite_color]: green') $$,
  'of several near duplicates the newest is paired with each of the others'
);
select memory_test.a_fact('user', 'FAVORITE_COLOR', 'brown', as_of => '2026-01-04Z') \g /dev/null
select is(
  (select count(distinct c.source_id) from memory.list_contradictions() as c), 1::bigint,
  'of two equally new near duplicates one is paired with the others'
);
select is(
  (select c.source_id from memory.list_contradictions() as c limit 1),
  (select min(f.id::text)::uuid from memory.facts as f where f.tenant_id = 'c' and f.created_at = '2026-01-04Z'),
  'of two equally new near duplicates the one with the lower id is paired with the others'
);
select results_eq(
  $$ select n from generate_series(1, 4) as n
     where array(select memory_test.pairs(max_results => n)) = (array(select memory_test.pairs()))[1:n] $$,
  'values (1), (2), (3), (4)',
  'a smaller max_results returns the beginning of the same list of near duplicates'
);
select memory.forget_memory('fact', c.target_id) from memory.list_contradictions() as c \g /dev/null
select is_empty(
  $$ select memory_test.pairs() $$, 'forgetting all but one of several near duplicates settles them'
);

select memory_test.as_tenant('d') \g /dev/null
select memory_test.a_fact(k.subject, k.predicate) from (values
  ('C', 'level'), ('C++', 'level'), ('C#', 'level'), ('user', 'likes'), ('user', 'liked'), ('users', 'likes'),
  ('a', 'b c'), ('a b', 'c'), ('Zoë', 'age'), ('Zoe', 'age'), ('1.0', 'released'), ('10', 'released')
) as k (subject, predicate) \g /dev/null
select is_empty(
  $$ select memory_test.pairs() $$,
  'keys that differ in more than case and separators are not near duplicates'
);
select memory_test.a_fact(k.subject, k.predicate) from (values
  ('zoë', 'A-ge'), (E'zoe\u0308', 'hei_ght'), ('Zoë', 'height')
) as k (subject, predicate) \g /dev/null
select results_eq(
  $$ select p from memory_test.pairs() as p order by p collate "C" $$,
  $$ select * from (
       select format('near_duplicate: [%s] [%s]: x | [%s] [%s]: x', n.subject, n.predicate, o.subject, o.predicate)
       from memory.facts as n
       join memory.facts as o on o.tenant_id = 'd' and o.id > n.id
         and (translate(lower(o.predicate), '-_', ''), normalize(lower(o.subject)))
           = (translate(lower(n.predicate), '-_', ''), normalize(lower(n.subject)))
       where n.tenant_id = 'd'
     ) as x (p) order by p collate "C" $$,
  'keys that differ in separators, whatever their case and Unicode normalization, are near duplicates'
);
select is(
  (select count(*) from memory_test.pairs()), 2::bigint,
  'keys that differ in separators form two pairs here'
);

-- Scopes, entities and subjects

select memory_test.as_tenant('e') \g /dev/null
insert into memory.entities (tenant_id, id, canonical_name, entity_type)
values
('e', '00000000-0000-0000-0000-000000000001', 'Ada Lovelace', 'person'),
('e', '00000000-0000-0000-0000-000000000002', 'Ada Yonath', 'person');
select memory_test.a_fact('Ada', 'born_in', entity_id => '00000000-0000-0000-0000-000000000001') \g /dev/null
select memory_test.a_fact('Ada', 'Born in', entity_id => '00000000-0000-0000-0000-000000000002') \g /dev/null
select memory_test.a_fact('Ada', 'born-in') \g /dev/null
select memory_test.a_fact('00000000-0000-0000-0000-000000000001', 'born in') \g /dev/null
select memory_test.a_fact('Ada', 'Born-In', scope => 'home') \g /dev/null
select memory_test.a_fact('Ada', 'BornIn', scope => 'work') \g /dev/null
select is_empty(
  $$ select memory_test.pairs() $$,
  'facts about different entities or in different scopes are not near duplicates'
);
select memory_test.a_fact(
  'Countess', 'Born-in', 'London', entity_id => '00000000-0000-0000-0000-000000000001',
  as_of => '2026-01-01Z'
) \g /dev/null
select results_eq(
  $$ select memory_test.pairs() $$,
  $$ values ('near_duplicate: [Ada] [born_in]: x | [Countess] [Born-in]: London') $$,
  'facts about one entity are near duplicates, whatever subject they name'
);
select memory_test.a_fact('ada', 'BornIn', 'Rome', 'home', as_of => '2026-01-02Z') \g /dev/null
select memory_test.a_fact('ada', 'Born_In', 'Bern', 'work', as_of => '2026-01-03Z') \g /dev/null
select is(
  (select count(*) from memory_test.pairs()), 3::bigint, 'each scope has its own near duplicates'
);
select results_eq(
  $$ select p from memory_test.pairs('home') as p order by p collate "C" $$,
  $$ values
     ('near_duplicate: [Ada] [Born-In]: x | [ada] [BornIn]: Rome'),
     ('near_duplicate: [Ada] [born_in]: x | [Countess] [Born-in]: London') $$,
  'a scope shows its own and the global near duplicates'
);

-- Scope of links

select memory_test.as_tenant('f') \g /dev/null
select memory.store_fact('Ada', 'likes', 'tea') as global_id \gset
select memory.store_fact('Ada', 'drinks', 'coffee only', scope => 'home') as home_id \gset
select memory.store_rule('Never offer tea', scope => 'work') as work_id \gset
select memory.store_episode('Ada poured the tea away', 'home') as home_episode_id \gset
select memory.store_episode('Ada poured the tea away', 'global') as global_episode_id \gset
select memory.create_link(k.source_type, k.source_id, 'fact', :'global_id', 'contradicts')
from (values
  ('fact', :'home_id'::uuid), ('rule', :'work_id'), ('episode', :'home_episode_id'),
  ('episode', :'global_episode_id')
) as k (source_type, source_id) \g /dev/null
select is(
  (select count(*) from memory.list_contradictions() as c), 4::bigint,
  'without a scope all contradictions are shown'
);
select set_eq(
  $$ select c.source_id from memory.list_contradictions('home') as c $$,
  format('values (%L::uuid), (%L)', :'home_id', :'home_episode_id'),
  'a scope shows a contradiction if it sees both sides'
);
select set_eq(
  $$ select c.source_id from memory.list_contradictions('work') as c $$, format('values (%L::uuid)', :'work_id'),
  'another scope shows its own contradictions'
);
select is_empty(
  $$ select * from memory.list_contradictions('elsewhere') $$,
  'a scope that sees only one side of each contradiction shows no contradictions'
);
select results_eq(
  $$ select c.source_type, c.source_id from memory.list_contradictions() as c $$,
  $$ select l.source_type, l.source_id from memory.memory_links as l
     where l.tenant_id = 'f' order by 1, 2 $$,
  'contradictions linked at the same time are ordered by type and id'
);

-- Both kinds

select memory.store_fact('ada', 'Li-kes', 'milk') \g /dev/null
select is(
  (select array_agg(c.kind order by c.ordinality) from memory.list_contradictions() with ordinality as c),
  '{contradicts,contradicts,contradicts,contradicts,near_duplicate}'::text[],
  'contradicting links come before near duplicates'
);
select is(
  (select count(*) from memory.list_contradictions(max_results => 4) as c), 4::bigint,
  'max_results limits the number of pairs'
);
select memory_test.a_fact('number ' || n, p.predicate)
from generate_series(1, 1001) as n, (values ('is'), ('i-s')) as p (predicate) \g /dev/null
select is(
  (select count(*) from memory.list_contradictions(max_results => 5000) as c), 1000::bigint,
  'a list has at most a thousand pairs'
);
select is(
  (select count(*) from memory.memory_events as e where e.event_type not in ('fact_created', 'rule_created',
   'episode_created', 'link_created') and e.tenant_id = 'f'),
  0::bigint, 'listing contradictions writes no event'
);

-- list_contradicted

select memory_test.as_tenant('h') \g /dev/null
select memory.store_fact('Ada', 'likes', 'tea') as first_id \gset
select memory.store_fact('Ada', 'hates', 'every infusion', scope => 'home') as second_id \gset
select memory.store_fact('Ada', 'knows', 'Bob') as third_id \gset
select memory.store_rule('Never offer tea') as rule_id \gset
select memory.store_episode('Ada drank tea', 'home', as_of => '2026-01-01Z') as episode_id \gset
select memory.create_link('fact', :'first_id', 'fact', :'second_id', 'contradicts') \g /dev/null
select memory.create_link('rule', :'rule_id', 'fact', :'first_id', 'contradicts') \g /dev/null
select memory.create_link('episode', :'episode_id', 'rule', :'rule_id', 'contradicts') \g /dev/null
select memory.create_link('fact', :'third_id', 'fact', :'first_id', 'supports') \g /dev/null
-- The names of the contradicted memories of a type.
create function memory_test.contradicted(
  memory_type text,
  as_of timestamptz default '2026-01-02Z'
)
  returns text[]
  language sql
  return array(
    select coalesce(m.predicate, m.content)
    from unnest(
      memory.list_contradicted(
        contradicted.memory_type,
        array(
          select s.id from memory.searchable_memories as s
          where s.tenant_id in ('g', 'h') and s.memory_type = contradicted.memory_type
        ),
        contradicted.as_of
      )
    ) as c (id)
    join memory.searchable_memories as m on m.id = c.id
    order by 1
  );
select is(
  memory_test.contradicted('fact'), '{hates,likes}',
  'each end of a contradiction between facts is listed once'
);
select is(
  memory_test.contradicted('rule'), '{Never offer tea}',
  'a rule that a fact or an episode contradicts is listed'
);
select is(
  memory_test.contradicted('episode'), '{Ada drank tea}',
  'an episode that contradicts a rule is listed'
);
select is(
  memory.list_contradicted('fact', array[:'second_id', :'third_id']::uuid[], now()), array[:'second_id'::uuid],
  'only those of the given ids are listed'
);
select is(
  memory.list_contradicted('rule', array[:'first_id']::uuid[], now()), '{}',
  'only memories of the given type are listed'
);
select is(
  memory.list_contradicted('fact', '{}', now()), '{}', 'an empty list of ids returns nothing'
);
select is(
  memory.list_contradicted('fact', null, now()), '{}', 'a NULL list of ids returns nothing'
);
savepoint listed;
select memory.forget_memory('fact', :'second_id') \g /dev/null
select is(
  memory_test.contradicted('fact'), '{hates,likes}',
  'a forgotten fact is listed while the other end of its contradiction is live'
);
select memory.forget_memory('rule', :'rule_id') \g /dev/null
select is(
  memory_test.contradicted('fact'), '{hates}',
  'a fact is not listed once no live memory contradicts it'
);
rollback to savepoint listed;
select memory.forget_memory('rule', :'rule_id') \g /dev/null
select is(
  memory_test.contradicted('episode'), '{}',
  'an episode that contradicts a forgotten rule is not listed'
);
rollback to savepoint listed;
select memory.store_fact('Ada', 'hates', 'coffee', scope => 'home') \g /dev/null
select memory.forget_memory('rule', :'rule_id') \g /dev/null
select is(
  memory_test.contradicted('fact'), '{hates}',
  'superseding one end of a contradiction settles it for the other end only'
);
rollback to savepoint listed;
select memory.forget_memory('fact', :'first_id') \g /dev/null
select is(
  memory_test.contradicted('rule', '2026-01-07T23:59Z'), '{"Never offer tea"}',
  'an episode contradicts a rule until it expires'
);
select is(
  memory_test.contradicted('rule', '2026-01-08Z'), '{}',
  'an expired episode no longer contradicts a rule'
);
rollback to savepoint listed;
select memory_test.as_tenant('g') \g /dev/null
select is(
  memory_test.contradicted('fact'), '{}',
  'the contradicted memories of another tenant are not listed'
);

-- Other tenants and bad input

select memory_test.as_tenant('g') \g /dev/null
select is_empty(
  $$ select * from memory.list_contradictions() $$, 'a tenant does not see the contradictions of others'
);
select throws_ok(
  $$ select * from memory.list_contradictions('') $$, 'PM002', 'scope is empty', 'an empty scope is refused'
);
select throws_ok(
  $$ select * from memory.list_contradictions(max_results => 0) $$, 'PM002', 'max_results is 0',
  'a max_results of 0 is refused'
);
select throws_ok(
  $$ select * from memory.list_contradictions(as_of => null) $$, 'PM002', 'as_of is NULL',
  'a NULL time is refused'
);
select memory_test.as_tenant('') \g /dev/null
select throws_ok(
  $$ select * from memory.list_contradictions() $$, '28000', null,
  'listing contradictions without a tenant is refused'
);

select * from finish();
rollback;
