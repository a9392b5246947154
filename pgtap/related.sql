begin;
\ir fixtures.sql
select plan(47);

create function memory_test.id_of(name text)
  returns uuid
  language sql
  stable
  return (select s.id from memory.searchable_memories as s where s.tenant_id = 'a' and s.content = name);

-- Links two memories, named by their content, a second after the previous link.
create sequence memory_test.seconds;
create function memory_test.link(
  source text,
  relation text,
  target text
)
  returns void
  language sql
as $$
  insert into memory.memory_links
    (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
  select
    'a', s.memory_type, s.id, t.memory_type, t.id, link.relation,
    '2026-01-01Z'::timestamptz + nextval('memory_test.seconds') * interval '1 second'
  from memory.searchable_memories as s
  join memory.searchable_memories as t on t.tenant_id = 'a' and t.content = target
  where s.tenant_id = 'a' and s.content = source
$$;

-- A walk from a memory as lines: depth, name, and the link that reached it.
create function memory_test.walk(
  name text,
  max_depth integer default 1,
  relations text[] default null,
  direction text default 'both',
  max_results integer default 50
)
  returns setof text
  language sql
  stable
as $$
  select format(
    '%s %s: %s', r.depth, coalesce(r.content, r.memory_type || ' ' || r.state),
    concat_ws(
      ' ',
      case r.direction when 'outgoing' then f.content else coalesce(r.content, 'nothing') end,
      r.relation,
      case r.direction when 'outgoing' then coalesce(r.content, 'nothing') else f.content end
    )
  )
  from memory.searchable_memories as s
  cross join memory.list_related(
    s.memory_type, s.id, max_depth, relations, direction, max_results
  ) with ordinality as r
  left join memory.searchable_memories as f
    on f.tenant_id = 'a' and f.memory_type = r.from_type and f.id = r.from_id
  where s.tenant_id = 'a' and s.content = name
  order by r.ordinality
$$;

select memory.store_fact('letter', n.name, n.name)
from unnest('{a,b,c,d,e,f}'::text[]) as n (name) \g /dev/null
select memory.store_episode('talk', 'home') as talk_id \gset
select memory.store_rule('advice', scope => 'home') \g /dev/null

-- One link away

select memory_test.link('a', 'supports', 'b') \g /dev/null
select memory_test.link('c', 'contradicts', 'a') \g /dev/null
select memory_test.link('a', 'derived_from', 'talk') \g /dev/null
select memory_test.link('advice', 'related_to', 'a') \g /dev/null

select results_eq(
  $$ select memory_test.walk('a') $$,
  $$ values
     ('1 b: a supports b'), ('1 c: c contradicts a'), ('1 talk: a derived_from talk'),
     ('1 advice: advice related_to a') $$,
  'a memory is related to the memories it is linked with in either direction, oldest link first'
);
select results_eq(
  format($$ select * from memory.list_related('fact', %L) $$, memory_test.id_of('a')),
  format($$ select * from memory.list_related('fact', %L, 1, null, 'both', 50, now()) $$, memory_test.id_of('a')),
  'the defaults are one link, any relation, both directions, fifty results and now'
);
select results_eq(
  $$ select memory_test.walk('a', direction => 'outgoing') $$,
  $$ values ('1 b: a supports b'), ('1 talk: a derived_from talk') $$,
  'outgoing links lead from their source to their target'
);
select results_eq(
  $$ select memory_test.walk('a', direction => 'incoming') $$,
  $$ values ('1 c: c contradicts a'), ('1 advice: advice related_to a') $$,
  'incoming links lead from their target to their source'
);
select results_eq(
  $$ select memory_test.walk('a', relations => '{related_to,supports}') $$,
  $$ values ('1 b: a supports b'), ('1 advice: advice related_to a') $$,
  'only links of the requested relations are followed'
);
select is_empty(
  $$ select memory_test.walk('a', relations => '{supersedes}') $$,
  'requested relations without a link find nothing'
);
select results_eq(
  format(
    $$ select r.depth, r.memory_type, r.id, r.state, r.scope, r.subject, r.predicate, r.content, r.relation,
         r.direction, r.from_type, r.from_id, r.linked_at
       from memory.list_related('fact', %L) as r where r.memory_type <> 'episode' and r.relation <> 'contradicts' $$,
    memory_test.id_of('a')
  ),
  format(
    $$ values
       (1, 'fact', %1$L::uuid, 'active', 'global', 'letter', 'b', 'b', 'supports', 'outgoing', 'fact', %2$L::uuid,
        '2026-01-01 00:00:01Z'::timestamptz),
       (1, 'rule', %3$L::uuid, 'active', 'home', null, null, 'advice', 'related_to', 'incoming', 'fact', %2$L::uuid,
        '2026-01-01 00:00:04Z'::timestamptz) $$,
    memory_test.id_of('b'), memory_test.id_of('a'), memory_test.id_of('advice')
  ),
  'each row holds the memory, the link that reached it, its direction and its start'
);
select is(
  (select r.scope from memory.list_related('fact', memory_test.id_of('a')) as r where r.memory_type = 'episode'),
  'home', 'the scope of an episode is its butler'
);

-- Several links away

select memory_test.link('b', 'supports', 'd') \g /dev/null
select memory_test.link('c', 'supports', 'd') \g /dev/null
select memory_test.link('d', 'supports', 'e') \g /dev/null
select memory_test.link('e', 'supersedes', 'f') \g /dev/null

select results_eq(
  $$ select memory_test.walk('a', 2) $$,
  $$ values
     ('1 b: a supports b'), ('1 c: c contradicts a'), ('1 talk: a derived_from talk'),
     ('1 advice: advice related_to a'), ('2 d: b supports d') $$,
  'a memory that two others lead to appears once, over the older link'
);
update memory.memory_links as l set created_at = '2025-01-01Z'
where l.source_id = memory_test.id_of('c') and l.target_id = memory_test.id_of('d');
select results_eq(
  $$ select w from memory_test.walk('a', 2) as w where w like '2%' $$, $$ values ('2 d: c supports d') $$,
  'a memory that two others lead to appears over another link if that is older'
);
select results_eq(
  $$ select memory_test.walk('a', 5, direction => 'outgoing') $$,
  $$ values
     ('1 b: a supports b'), ('1 talk: a derived_from talk'), ('2 d: b supports d'), ('3 e: d supports e'),
     ('4 f: e supersedes f') $$,
  'outgoing links are followed at each step'
);
select results_eq(
  $$ select memory_test.walk('f', 3, direction => 'incoming') $$,
  $$ values ('1 e: e supersedes f'), ('2 d: d supports e'), ('3 c: c supports d'), ('3 b: b supports d') $$,
  'incoming links are followed at each step'
);
select results_eq(
  $$ select memory_test.walk('a', 5, '{supports}') $$,
  $$ values ('1 b: a supports b'), ('2 d: b supports d'), ('3 c: c supports d'), ('3 e: d supports e') $$,
  'requested relations apply at each step and may lengthen the way to a memory'
);
select results_eq(
  $$ select memory_test.walk('a', 3, direction => 'outgoing') $$,
  $$ select w from memory_test.walk('a', 5, direction => 'outgoing') as w where w not like '4%' $$,
  'a walk is at most max_depth links long'
);

-- Cycles, pairs, ties

select memory_test.link('f', 'related_to', 'a') \g /dev/null
select results_eq(
  $$ select memory_test.walk('a', 5, direction => 'outgoing') $$,
  $$ values
     ('1 b: a supports b'), ('1 talk: a derived_from talk'), ('2 d: b supports d'), ('3 e: d supports e'),
     ('4 f: e supersedes f') $$,
  'a cycle is walked once and does not return to its start'
);
select results_eq(
  $$ select memory_test.walk('a', 5) $$,
  $$ values
     ('1 b: a supports b'), ('1 c: c contradicts a'), ('1 talk: a derived_from talk'),
     ('1 advice: advice related_to a'), ('1 f: f related_to a'), ('2 d: c supports d'),
     ('2 e: e supersedes f') $$,
  'every memory appears over its shortest way'
);
select memory_test.link('b', 'related_to', 'a') \g /dev/null
select results_eq(
  $$ select w from memory_test.walk('a') as w where w like '1 b%' $$, $$ values ('1 b: a supports b') $$,
  'of two links between two memories the older one is returned'
);
update memory.memory_links as l set created_at = '2025-01-01Z'
where l.source_id = memory_test.id_of('b') and l.target_id = memory_test.id_of('a');
select results_eq(
  $$ select memory_test.walk('a', max_results => 1) $$, $$ values ('1 b: b related_to a') $$,
  'of two links between two memories the incoming one is returned if it is older'
);
update memory.memory_links as l set created_at = '2026-01-01Z';
select results_eq(
  $$ select w from memory_test.walk('a') as w where w like '1 b%' $$, $$ values ('1 b: a supports b') $$,
  'of two links of the same time the outgoing one is returned'
);
select results_eq(
  format(
    $$ select r.memory_type, r.id from memory.list_related('fact', %L, 5) as r where r.depth = 1 $$,
    memory_test.id_of('a')
  ),
  format(
    $$ select r.memory_type, r.id from memory.list_related('fact', %L) as r order by 1, 2 $$, memory_test.id_of('a')
  ),
  'memories linked at the same time are ordered by type and id'
);
insert into memory.facts (tenant_id, id, subject, predicate, content)
values ('a', '00000000-0000-0000-0000-000000000001', 'letter', 'twin', 'twin fact');
insert into memory.rules (tenant_id, id, content)
values ('a', '00000000-0000-0000-0000-000000000001', 'twin rule');
select memory_test.link('twin fact', 'supports', 'e') \g /dev/null
select memory_test.link('twin rule', 'supports', 'e') \g /dev/null
select results_eq(
  $$ select w from memory_test.walk('e') as w where w like '1 twin%' $$,
  $$ values ('1 twin fact: twin fact supports e'), ('1 twin rule: twin rule supports e') $$,
  'memories of two types with the same id are two memories'
);

-- Bounds

select is_empty(
  $$ select n
     from generate_series(1, 12) as n
     where array(select memory_test.walk('a', 5, max_results => n))
       <> (array(select memory_test.walk('a', 5)))[1:n] $$,
  'a smaller max_results returns the beginning of the same answer'
);
select is(
  (select count(*) from memory_test.walk('a', 5, max_results => 1)), 1::bigint,
  'max_results of 1 returns one memory'
);
insert into memory.facts (tenant_id, subject, predicate, content)
select 'a', 'number', n::text, 'number ' || n from generate_series(1, 1010) as n;
select memory_test.link('number 1', 'related_to', 'number ' || n)
from generate_series(2, 1010) as n \g /dev/null
select results_eq(
  $$ select count(*), max(r.content) filter (where r.ordinality = 1000)
     from memory.list_related('fact', memory_test.id_of('number 1'), max_results => 5000) with ordinality as r $$,
  $$ values (1000::bigint, 'number 1001') $$,
  'an answer holds at most a thousand memories'
);
select is(
  (select count(*) from memory.list_related('fact', memory_test.id_of('number 2'), 2, max_results => 1000) as r
   where r.depth = 2),
  999::bigint, 'an answer over several levels holds at most a thousand memories'
);

-- Through retracted, superseded and deleted memories

select memory.forget_memory('fact', memory_test.id_of('b')) \g /dev/null
select memory.forget_memory('rule', memory_test.id_of('advice')) \g /dev/null
select memory.forget_memory('fact', memory_test.id_of('d')) \g /dev/null
select memory.store_fact('letter', 'f', 'new f') \g /dev/null
select results_eq(
  format(
    $$ select r.content, r.state from memory.list_related('fact', %L, 2) as r
       where r.content in ('advice', 'b', 'd', 'e', 'f', 'new f', 'talk') order by 1 $$,
    memory_test.id_of('a')
  ),
  $$ values
     ('advice', 'retracted'), ('b', 'retracted'), ('d', 'retracted'), ('e', 'active'), ('f', 'superseded'),
     ('new f', 'active'), ('talk', 'pending') $$,
  'links lead to memories in any state and continue through them'
);
select is(
  (
    select r.state
    from memory.list_related('fact', memory_test.id_of('a'), as_of => now() + interval '8 days') as r
    where r.content = 'talk'
  ),
  'expired', 'an episode that has expired as of the requested time is returned as expired'
);
select memory.store_fact('letter', 'g', 'g') \g /dev/null
select memory_test.link('g', 'derived_from', 'talk') \g /dev/null
delete from memory.episodes as e where e.id = :'talk_id';
select results_eq(
  format(
    $$ select r.depth, r.memory_type, r.id, r.state, r.scope, r.content, r.relation, r.direction, r.from_id
       from memory.list_related('fact', %L, 2, '{derived_from}') as r $$,
    memory_test.id_of('a')
  ),
  format(
    $$ values
       (1, 'episode', %1$L::uuid, 'expired', null, null, 'derived_from', 'outgoing', %2$L::uuid),
       (2, 'fact', %3$L::uuid, 'active', 'global', 'g', 'derived_from', 'incoming', %1$L::uuid) $$,
    :'talk_id', memory_test.id_of('a'), memory_test.id_of('g')
  ),
  'a deleted episode is returned as expired, with its links but without its content'
);
select set_eq(
  format($$ select r.content from memory.list_related('episode', %L) as r $$, :'talk_id'), $$ values ('a'), ('g') $$,
  'a walk may start at a deleted episode'
);
select results_eq(
  format(
    $$ select r.memory_type, r.id, r.state from memory.list_related('fact', %L) as r order by 1, 2 $$,
    memory_test.id_of('a')
  ),
  format(
    $$ select o.memory_type, o.id, min(o.state)
       from memory.get_links('fact', %1$L) as l
       cross join lateral (values
         (l.source_type, l.source_id, l.source_state), (l.target_type, l.target_id, l.target_state)
       ) as o (memory_type, id, state)
       where o.id <> %1$L
       group by 1, 2 order by 1, 2 $$,
    memory_test.id_of('a')
  ),
  'a walk of one link returns the states that get_links returns'
);

-- Empty answers and other tenants

select is_empty(
  $$ select * from memory.list_related('fact', '00000000-0000-0000-0000-0000000000ff', 5) $$,
  'an unknown memory is related to nothing'
);
select is_empty(
  $$ select * from memory.list_related('fact', null) $$,
  'a NULL memory is related to nothing'
);
select is_empty(
  format($$ select * from memory.list_related('rule', %L) $$, memory_test.id_of('a')),
  'a memory under another type is related to nothing'
);
select is(
  (select sum(f.reference_count) from memory.facts as f), 0::bigint, 'a walk counts no references'
);
insert into memory.facts (tenant_id, id, subject, predicate, content)
select 'b', memory_test.id_of(n.name), 'letter', n.name, 'foreign ' || n.name
from unnest('{a,b,c}'::text[]) as n (name);
insert into memory.memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
values ('b', 'fact', memory_test.id_of('b'), 'fact', memory_test.id_of('c'), 'supports');
select is_empty(
  $$ select w from memory_test.walk('b', 5) as w where w like '%foreign%' or w like '%: b supports c' $$,
  'links of another tenant are not followed, even between memories of the same ids'
);
select memory_test.as_tenant('b') \g /dev/null
select results_eq(
  format($$ select r.content, r.depth from memory.list_related('fact', %L, 5) as r $$, memory_test.id_of('b')),
  $$ values ('foreign c', 1) $$,
  'another tenant sees only its own memories'
);
select memory_test.as_tenant('a') \g /dev/null

-- Refused

select throws_ok(
  format($$ select * from memory.list_related('thing', %L) $$, :'talk_id'), 'PM002', $$unknown memory_type: 'thing'$$,
  'an unknown type is refused'
);
select throws_ok(
  format($$ select * from memory.list_related('episode', %L, 0) $$, :'talk_id'), 'PM002', 'max_depth is 0',
  'a walk of 0 links is refused'
);
select throws_ok(
  format($$ select * from memory.list_related('episode', %L, 6) $$, :'talk_id'), 'PM002', 'max_depth is 6',
  'a walk of 6 links is refused'
);
select throws_ok(
  format($$ select * from memory.list_related('episode', %L, null) $$, :'talk_id'), 'PM002', 'max_depth is NULL',
  'a walk of NULL links is refused'
);
select throws_ok(
  format($$ select * from memory.list_related('episode', %L, relations => '{supports,likes}') $$, :'talk_id'),
  'PM002', 'unknown relations: {supports,likes}', 'an unknown relation is refused'
);
select throws_ok(
  format($$ select * from memory.list_related('episode', %L, relations => '{null}') $$, :'talk_id'),
  'PM002', 'unknown relations: {NULL}', 'a NULL relation is refused'
);
select throws_ok(
  format($$ select * from memory.list_related('episode', %L, relations => '{}') $$, :'talk_id'),
  'PM002', 'unknown relations: {}', 'an empty list of relations is refused'
);
select throws_ok(
  format($$ select * from memory.list_related('episode', %L, direction => 'sideways') $$, :'talk_id'),
  'PM002', $$unknown direction: 'sideways'$$, 'an unknown direction is refused'
);
select throws_ok(
  format($$ select * from memory.list_related('episode', %L, max_results => 0) $$, :'talk_id'),
  'PM002', 'max_results is 0', 'max_results of 0 is refused'
);
select throws_ok(
  format($$ select * from memory.list_related('episode', %L, as_of => 'infinity') $$, :'talk_id'),
  'PM002', 'as_of is infinity', 'an infinite time is refused'
);
select memory_test.as_tenant('') \g /dev/null
select throws_ok(
  format($$ select * from memory.list_related('episode', %L) $$, :'talk_id'), '28000', null,
  'nothing is returned without a tenant'
);

select * from finish();
rollback;
