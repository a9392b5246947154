begin;
\ir fixtures.sql
select plan(58);

-- Filters of list_memories and count_memories, orders, and pages.

select memory_test.as_tenant('a') \g /dev/null
insert into memory.entities (id, tenant_id, canonical_name, entity_type)
values ('aa000000-0000-0000-0000-000000000001', 'a', 'Ada', 'person');
insert into memory.facts (
  id, tenant_id, subject, predicate, content, scope, permanence, decay_rate, confidence, importance,
  created_at, last_confirmed_at, updated_at, reference_count, source_butler, tags, entity_id, validity
)
select
  ('f0000000-0000-0000-0000-00000000000' || f.n)::uuid, 'a', f.subject, f.predicate, f.content, 'global', f.permanence,
  memory.decay_rate_of(f.permanence), f.confidence, f.importance, f.created_at, f.created_at, f.updated_at, f.used,
  f.butler, f.tags::jsonb, f.entity_id, f.validity
from (values
  (1, 'user', 'drinks', 'Green tea', 'permanent', 0.5, 5, '2026-01-01Z'::timestamptz, '2026-01-09Z'::timestamptz, 3, 'home', '["Tea", "kitchen"]', null::uuid, 'active'),
  (2, 'user', 'eats', 'CAKE', 'standard', 1, 7, '2026-01-02Z', '2026-01-02Z', 0, 'home', '["kitchen"]', null, 'active'),
  (3, 'Ada', 'likes', 'äpfel und Öl', 'volatile', 1, 5, '2026-01-02Z', '2026-01-03Z', 7, 'work', '[]', 'aa000000-0000-0000-0000-000000000001', 'active'),
  (4, 'user', 'reads', 'teapots', 'ephemeral', 0.9, 5, '2026-01-03Z', '2026-01-04Z', 3, 'work', '[]', null, 'active'),
  (5, 'user', 'slept', 'badly', 'ephemeral', 1, 2, '2026-01-04Z', '2026-01-05Z', 0, null, '["tea"]', null, 'superseded'),
  (6, 'user', 'walks', 'Rex', 'stable', 0, 5, '2026-01-05Z', '2026-01-06Z', 0, null, '[]', null, 'active')
) as f (n, subject, predicate, content, permanence, confidence, importance, created_at, updated_at, used, butler, tags, entity_id, validity);
update memory.facts as f set updated_at = u.at
from (values (1, '2026-01-09Z'::timestamptz), (3, '2026-01-03Z'), (4, '2026-01-04Z'), (6, '2026-01-06Z')) as u (n, at)
where f.id = ('f0000000-0000-0000-0000-00000000000' || u.n)::uuid;
insert into memory.episodes (id, tenant_id, butler, session_id, content, created_at, updated_at, expires_at)
values
('e0000000-0000-0000-0000-000000000001', 'a', 'home', 'ee000000-0000-0000-0000-000000000001', 'We had tea', '2026-01-03Z', '2026-01-03Z', '2026-02-03Z'),
('e0000000-0000-0000-0000-000000000002', 'a', 'home', null, 'Rain', '2026-01-06Z', '2026-01-06Z', null);
insert into memory.rules (id, tenant_id, content, maturity, permanence, decay_rate, confidence, created_at, last_confirmed_at, updated_at, metadata)
values
('20000000-0000-0000-0000-000000000001', 'a', 'Offer tea', 'candidate', 'standard', 0.01, 0.5, '2026-01-02Z', '2026-01-02Z', '2026-01-02Z', '{}'),
('20000000-0000-0000-0000-000000000002', 'a', 'Do not shout', 'anti_pattern', 'permanent', 0.01, 0.5, '2026-01-07Z', '2026-01-07Z', '2026-01-07Z', '{}');
insert into memory.entries (id, tenant_id, entry_id, content, category, tags, confidence, created_at, updated_at, expires_at)
values ('c0000000-0000-0000-0000-000000000001', 'a', 'mem-2026-01-08-001', E'# Kettle\nIt is red', 'household', '["kitchen"]', 0.7, '2026-01-08Z', '2026-01-08Z', '2026-03-01Z');

-- What passes: the digits that tell the memories apart.
create function memory_test.short(id uuid) returns text language sql immutable return left(id::text, 1) || right(id::text, 1);
create function memory_test.listed(arguments text) returns text[] language plpgsql as $$
declare v_listed text[];
begin
  execute format(
    'select array_agg(memory_test.short(l.id) order by l.ordinality) from memory.list_memories(%s%sas_of => ''2026-01-10Z'') with ordinality as l',
    arguments, case when arguments <> '' then ', ' else '' end
  ) into v_listed;
  return v_listed;
end;
$$;

-- Filters

select is(memory_test.listed(c.arguments), c.wanted::text[], c.what)
from (values
  (1, '', '{c1,22,e2,f6,f4,e1,f3,f2,21,f1}', 'without filters, what searches find is listed, newest first, equal times by id'),
  (2, $$permanences => '{permanent,volatile}'$$, '{22,f3,f1}', 'permanences of facts and rules'),
  (3, $$maturities => '{candidate}'$$, '{21}', 'maturities of rules'),
  (4, $$tags => '["kitchen"]'$$, '{c1,f2,f1}', 'a tag of any type'),
  (5, $$tags => '["kitchen", "Tea"]'$$, '{f1}', 'all tags must be there'),
  (6, $$tags => '["tea"]', states => '{superseded,active}'$$, '{f5}', 'tags are told apart by case, and states select'),
  (7, $$tags => '["none"]'$$, null, 'a tag that nothing has'),
  (8, $$subject => ' USER '$$, '{f6,f4,f2,f1}', 'subjects in any spelling of the key'),
  (9, $$subject => 'user', predicate => 'Eats'$$, '{f2}', 'predicates likewise'),
  (10, $$entity_id => 'aa000000-0000-0000-0000-000000000001'$$, '{f3}', 'the facts about an entity'),
  (11, $$butler => 'home'$$, '{e2,e1,f2,f1}', 'what came from a butler'),
  (12, $$session_id => 'ee000000-0000-0000-0000-000000000001'$$, '{e1}', 'the episodes of a session'),
  (13, $$category => 'household'$$, '{c1}', 'entries of a category'),
  (14, $$content_contains => 'TEA'$$, '{f4,e1,21,f1}', 'a text within the content, in any case'),
  (15, $$content_contains => 'cake'$$, '{f2}', 'upper case in the content'),
  (16, $$content_contains => 'ÄPFEL UND öl'$$, '{f3}', 'letters beyond ASCII in any case'),
  (17, $$content_contains => 'walk'$$, '{f6}', 'a text within the predicate'),
  (18, $$content_contains => '100%'$$, null, 'a percent sign stands for itself'),
  (19, $$created_from => '2026-01-02Z', created_to => '2026-01-03Z'$$, '{f3,f2,21}', 'times of creation, from and before'),
  (20, $$updated_from => '2026-01-03Z', updated_to => '2026-01-04Z'$$, '{e1,f3}', 'times of the last change'),
  (21, $$types => '{fact}', max_confidence => 0.6$$, '{f6,f4,f1}', 'effective confidence below'),
  (22, $$types => '{fact}', min_confidence => 0.5$$, '{f3,f2,f1}', 'effective confidence from'),
  (23, $$types => '{fact}', min_confidence => 0.5, max_confidence => 0.6$$, '{f1}', 'a band of confidence'),
  (24, $$types => '{fact}', min_confidence => 0, max_confidence => 1$$, '{f6,f4,f3,f2,f1}', 'the whole band leaves nothing out'),
  (25, $$states => '{superseded}'$$, '{f5}', 'states that searches do not find'),
  (26, $$types => '{rule,entry}', scope => 'home'$$, '{c1,22,21}', 'scopes and types as before')
) as c (position, arguments, wanted, what)
order by c.position;

select is(
  (select array_agg(memory_test.short(l.id)) from memory.list_memories(as_of => '2026-02-03Z') as l where l.memory_type = 'episode'),
  '{e2}', 'an episode that has run out is left out'
);

-- Counts

select results_eq($$ select * from memory.count_memories(as_of => '2026-01-10Z') $$, $$ values (10::bigint, false) $$, 'count_memories counts what is listed');
select results_eq($$ select * from memory.count_memories(at_most => 9, as_of => '2026-01-10Z') $$, $$ values (9::bigint, true) $$, 'up to a number, and says whether there are more');
select results_eq($$ select * from memory.count_memories(at_most => 10, as_of => '2026-01-10Z') $$, $$ values (10::bigint, false) $$, 'which there are not if it is the number');
select results_eq($$ select * from memory.count_memories('{fact}', tags => '["kitchen"]', as_of => '2026-01-10Z') $$, $$ values (2::bigint, false) $$, 'with the same filters');
select throws_ok($$ select memory.count_memories(at_most => 0) $$, 'PM002', null, 'nothing cannot be counted');

-- Orders

select is(memory_test.listed(format('order_by => %L', c.order_by)), c.wanted::text[], format('%s: %s', c.order_by, c.what))
from (values
  (1, 'newest', '{c1,22,e2,f6,f4,e1,f3,f2,21,f1}', 'the last one created first'),
  (2, 'oldest', '{f1,21,f2,f3,e1,f4,f6,e2,22,c1}', 'the other way round'),
  (3, 'updated', '{f1,c1,22,f6,e2,f4,f3,e1,f2,21}', 'the last one changed first'),
  (4, 'important', '{f2,c1,22,e2,f6,f4,e1,f3,21,f1}', 'the most important first, equal ones newest first'),
  (5, 'most_used', '{f3,f4,f1,f6,f2,e2,e1,c1,22,21}', 'the most used first'),
  (6, 'most_confident', '{e2,e1,f2,f3,c1,f1,22,21,f4,f6}', 'by effective confidence'),
  (7, 'least_confident', '{f6,f4,21,22,f1,c1,f3,f2,e1,e2}', 'the other way round'),
  (8, 'fades_next', '{f6,f4,f3,21,f2}', 'what decays, the next to fade first')
) as c (position, order_by, wanted, what)
order by c.position;
select results_eq(
  $$ select memory_test.short(l.id), round(l.effective_confidence::numeric, 12)
     from memory.list_memories(order_by => 'most_confident', as_of => '2026-01-10Z') as l
     where l.memory_type <> 'fact' or l.permanence in ('permanent', 'volatile') $$,
  $$ select v.id, round(v.confidence::numeric, 12) from (values ('e2', 1.0::float8), ('e1', 1.0), ('f3', exp(-0.03 * 8)), ('c1', 0.7), ('f1', 0.5), ('22', 0.5 * exp(-0.01 * 3)), ('21', 0.5 * exp(-0.01 * 8))) as v (id, confidence) $$,
  'effective confidence is as of the time'
);

-- Pages

create function memory_test.paged(order_by text, size integer) returns text[] language plpgsql as $$
declare
  v_all text[] := '{}';
  v_page text[];
  v_after text;
  v_next text;
begin
  loop
    select array_agg(memory_test.short(l.id) order by l.ordinality), (array_agg(l.cursor order by l.ordinality desc))[1]
    into v_page, v_next
    from memory.list_memories(order_by => paged.order_by, after => v_after, max_results => size, as_of => '2026-01-10Z') with ordinality as l;
    exit when v_page is null;
    v_all := v_all || v_page;
    v_after := v_next;
  end loop;
  return v_all;
end;
$$;
select is(
  array[memory_test.paged(o.name, 1), memory_test.paged(o.name, 3), memory_test.paged(o.name, 4)]::text,
  (select array[l.ids, l.ids, l.ids]::text from memory_test.listed(format('order_by => %L', o.name)) as l (ids)),
  format('%s: pages of any size make up the list', o.name)
)
from unnest('{newest,oldest,updated,important,most_used,most_confident,least_confident,fades_next}'::text[])
  with ordinality as o (name, position)
order by o.position;

select l.cursor as place from memory.list_memories(max_results => 2, as_of => '2026-01-10Z') as l offset 1 \gset
select matches(:'place'::text, '^[A-Za-z0-9_-]+$', 'a cursor can stand in an address');
select is(
  (select array_agg(memory_test.short(l.id)) from memory.list_memories('{episode}', after => :'place', as_of => '2026-06-01Z') as l),
  '{e2,e1}', 'a page is as of the time of the first one'
);
select throws_ok(
  format('select memory.list_memories(order_by => %L, after => %L)', c.order_by, c.after), 'PM002', 'after is not a cursor of this list',
  format('%s is refused', c.what)
)
from (values
  (1, 'the cursor of another order', 'oldest', :'place'),
  (2, 'a cursor that was cut', 'newest', left(:'place', 20)),
  (3, 'any text', 'newest', 'Grüße'),
  (4, 'an empty cursor', 'newest', ''),
  (5, 'a forged cursor', 'newest', translate(encode(convert_to('{"order_by": "newest"}', 'UTF8'), 'base64'), E'+/=\n', '-_'))
) as c (position, what, order_by, after)
order by c.position;
select throws_ok(
  format(
    'select memory.list_memories(after => %L)',
    translate(encode(convert_to('{"order_by": "newest", "keys": ["tomorrow evening"], "id": "f0000000-0000-0000-0000-000000000001", "memory_type": "fact", "as_of": "2026-01-01Z"}', 'UTF8'), 'base64'), E'+/=\n', '-_')
  ), 'PM002', 'after is not a cursor of this list', 'a forged cursor with a value of another type is refused'
);

-- What becomes of a memory

select results_eq(
  $$ select memory_test.short(l.id), l.fades_at, l.ends_at from memory.list_memories(as_of => '2026-01-10Z') as l where l.id::text ~ '^(f.*[1236]|2.*2|e.*1|c.*1)$' $$,
  $$ values
     ('c1', null::timestamptz, '2026-03-01Z'::timestamptz),
     ('22', null, null),
     ('f6', '2026-01-05Z', '2026-01-05Z'),
     ('e1', null, '2026-02-03Z'),
     ('f3', '2026-01-02Z'::timestamptz + ln(1 / 0.2) / 0.03 * interval '1 day', '2026-01-02Z'::timestamptz + ln(1 / 0.05) / 0.03 * interval '1 day'),
     ('f2', '2026-01-02Z'::timestamptz + ln(1 / 0.2) / 0.008 * interval '1 day', '2026-01-02Z'::timestamptz + ln(1 / 0.05) / 0.008 * interval '1 day'),
     ('f1', null, null) $$,
  'a list says when a memory fades and when it is no longer found'
);

select * from finish();
rollback;
