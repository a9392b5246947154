begin;
\ir fixtures.sql
select plan(75);

-- An element for put_items; the ttl in minutes.
create function memory_test.put(
  namespace text, key text, value jsonb, ttl numeric default null, vectors jsonb default null
)
  returns jsonb
  language sql
  return jsonb_strip_nulls(jsonb_build_object(
    'op', 'put', 'namespace', to_jsonb(string_to_array(namespace, '/')), 'key', key, 'ttl', ttl
  )) || jsonb_build_object('value', value) || coalesce(jsonb_build_object('vectors', vectors), '{}');

create function memory_test.vector_at(path text, embedding vector)
  returns jsonb
  language sql
  return jsonb_build_object('path', path, 'embedding', embedding::text::jsonb);

create function memory_test.store(element jsonb, as_of timestamptz default '2026-01-01Z')
  returns text
  language sql
  return (select format('%s %s', p.stored, p.deleted) from memory.put_items(jsonb_build_array(element - 'op'), as_of) as p);

-- The value under a key, or NULL.
create function memory_test.value_of(namespace text, key text, as_of timestamptz, refresh boolean default false)
  returns jsonb
  language sql
  return (
    select g.value from memory.get_items(jsonb_build_array(jsonb_build_object(
      'namespace', to_jsonb(string_to_array(namespace, '/')), 'key', key, 'refresh', refresh
    )), as_of) as g
  );

-- The keys that a search returns, in its order.
create function memory_test.found(search jsonb, as_of timestamptz default '2026-01-02Z')
  returns text
  language sql
  return (
    select string_agg(s.key, ' ' order by s.row_number)
    from (
      select s.key, row_number() over () from memory.search_items(jsonb_build_array(search), as_of) as s
    ) as s
  );

create function memory_test.listed(listing jsonb)
  returns text
  language sql
  return (
    select string_agg(array_to_string(n.namespace, '/'), ' ' order by n.row_number)
    from (
      select n.namespace, row_number() over ()
      from memory.list_item_namespaces(jsonb_build_array(listing), '2026-01-02Z') as n
    ) as n
  );

-- The code of the error of a statement, or NULL.
create function memory_test.answer_code(statement text)
  returns text
  language plpgsql
as $$
declare
  v_code text;
  v_hint text;
begin
  execute statement;
  return null;
exception
  when others then
    get stacked diagnostics v_code = returned_sqlstate, v_hint = pg_exception_hint;
    return v_code || case when v_hint = '' then ' without hint: ' || sqlerrm else '' end;
end;
$$;

-- Storing, reading, deleting

select is(memory_test.store(memory_test.put('users/ada', 'prefs', '{"theme": "dark"}')), '1 0', 'an item is stored');
select is(memory_test.value_of('users/ada', 'prefs', '2026-01-02Z'), '{"theme": "dark"}', 'and read by its name');
select is(memory_test.value_of('users', 'prefs', '2026-01-02Z'), null, 'not under a part of its namespace');
select is(memory_test.value_of('users/ada', 'other', '2026-01-02Z'), null, 'nor under another key');
select i.id as prefs from memory.store_items as i where i.key = 'prefs' \gset
select is(
  memory_test.store(memory_test.put('users/ada', 'prefs', '{"theme": "light"}'), '2026-01-03Z'), '1 0', 'it is written over'
);
select results_eq(
  $$ select i.id, i.value, i.created_at, i.updated_at from memory.store_items as i where i.key = 'prefs' $$,
  format($$ values (%L::uuid, '{"theme": "light"}'::jsonb, timestamptz '2026-01-01Z', timestamptz '2026-01-03Z') $$, :'prefs'),
  'it stays the same item, created when it was stored first'
);
select results_eq(
  format($$ select r.known_from, r.image -> 'value', r.problem from memory.replay_memory('item', %L) as r $$, :'prefs'),
  $$ values
     (timestamptz '2026-01-01Z', '{"theme": "dark"}'::jsonb, null::text),
     ('2026-01-03Z', '{"theme": "light"}', null) $$,
  'its history has the earlier value'
);
select is(memory_test.events_of(:'prefs'), '{item_stored,item_updated}', 'storing and changing it are audited');
select is(
  (select e.payload from memory.memory_events as e where e.memory_id = :'prefs' and e.event_type = 'item_updated'),
  '{"changed": ["value"]}', 'the audit says what changed, not to what'
);
select is(
  memory_test.store(memory_test.put('users/ada', 'prefs', '{"theme": "light"}'), '2026-01-04Z'), '1 0', 'the same value again'
);
select results_eq(
  format($$ select i.updated_at, memory_test.events_of(i.id) from memory.store_items as i where i.id = %L $$, :'prefs'),
  $$ values (timestamptz '2026-01-04Z', '{item_stored,item_updated}'::text[]) $$,
  'moves its time, and is no change in the audit'
);
select is(memory_test.store(memory_test.put('users/ada', 'prefs', null)), '0 1', 'a null deletes it');
select is(memory_test.value_of('users/ada', 'prefs', '2026-01-05Z'), null, 'then it is gone');
select is(memory_test.events_of(:'prefs'), '{item_stored,item_updated,item_deleted}', 'deleting it is audited');
select is_empty(
  format($$ select from memory.memory_history as h where h.memory_id = %L $$, :'prefs'), 'its history goes with it'
);
select is(memory_test.store(memory_test.put('users/ada', 'prefs', null)), '0 0', 'deleting nothing changes nothing');
select is(
  array[
    memory_test.store(memory_test.put('long', repeat('k', 1024), '{}')),
    memory_test.store(memory_test.put('long', repeat('k', 1024), null))
  ], '{1 0,0 1}', 'a key may have 1024 characters'
);
select throws_ok($$ truncate memory.store_items cascade $$, 'PM006', null, 'items are never truncated');

select results_eq(
  $$ select p.stored, p.deleted from memory.put_items(jsonb_build_array(
       memory_test.put('batch', 'a', '{"n": 1}') - 'op', memory_test.put('batch', 'b', '{"n": 1}') - 'op',
       memory_test.put('batch', 'a', '{"n": 2}') - 'op', memory_test.put('batch', 'b', null) - 'op'
     ), '2026-01-01Z') as p $$,
  $$ values (1::bigint, 0::bigint) $$, 'what a batch says last of an item holds'
);
select is(memory_test.value_of('batch', 'a', '2026-01-02Z'), '{"n": 2}', 'the last value is stored');
select is(memory_test.value_of('batch', 'b', '2026-01-02Z'), null, 'what is deleted last is not');
select results_eq($$ select p.stored from memory.put_items('[]') as p $$, $$ values (0::bigint) $$, 'a batch may be empty');

-- Expiry

select memory_test.store(memory_test.put('ttl', 'short', '{"n": 1}', 10)) \g /dev/null
select memory_test.store(memory_test.put('ttl', 'never', '{"n": 1}')) \g /dev/null
select is(memory_test.value_of('ttl', 'short', '2026-01-01 00:09:59Z'), '{"n": 1}', 'an item is read until its ttl ends');
select is(memory_test.value_of('ttl', 'short', '2026-01-01 00:10Z'), null, 'and not from then on');
select is(memory_test.found('{"namespace_prefix": ["ttl"]}', '2026-01-01 00:10Z'), 'never', 'search does not find it either');
select is(memory_test.value_of('ttl', 'short', '2026-01-01 00:05Z', refresh => true), '{"n": 1}', 'reading with refresh');
select results_eq(
  $$ select i.expires_at, i.updated_at, (select count(*) from memory.memory_history as h where h.memory_id = i.id)
     from memory.store_items as i where i.key = 'short' $$,
  $$ values (timestamptz '2026-01-01 00:15Z', timestamptz '2026-01-01Z', 0::bigint) $$,
  'counts the ttl again, and is neither a write nor a state of the history'
);
select is(memory_test.value_of('ttl', 'short', '2026-01-01 00:01Z', refresh => true), '{"n": 1}', 'a reader whose clock is behind');
select is(
  (select i.expires_at from memory.store_items as i where i.key = 'short'), '2026-01-01 00:15Z', 'does not bring the end closer'
);
select is(
  memory_test.found('{"namespace_prefix": ["ttl"], "refresh": true, "limit": 0}', '2026-01-01 00:10Z'), null,
  'what a search does not return'
);
select is(
  (select i.expires_at from memory.store_items as i where i.key = 'short'), '2026-01-01 00:15Z', 'is not refreshed'
);
select is(
  memory_test.found('{"namespace_prefix": ["ttl"], "refresh": true}', '2026-01-01 00:10Z'), 'never short',
  'what it returns'
);
select is(
  (select i.expires_at from memory.store_items as i where i.key = 'short'), '2026-01-01 00:20Z', 'is'
);
select is(memory_test.value_of('ttl', 'short', '2026-01-01 00:20Z', refresh => true), null, 'reading does not revive what expired');
select i.id as expired from memory.store_items as i where i.key = 'short' \gset
select is(
  memory_test.store(memory_test.put('ttl', 'short', '{"n": 2}', 10), '2026-01-01 01:00Z'), '1 0', 'its name can be used again'
);
select results_ne(
  $$ select i.id from memory.store_items as i where i.key = 'short' $$, format('values (%L::uuid)', :'expired'),
  'for another item'
);
select is(memory_test.store(memory_test.put('ttl', 'short', null), '2026-01-02Z'), '0 0', 'what has expired was not there to delete');
select memory_test.store(memory_test.put('ttl', 'a', '{}', 10)) \g /dev/null
select memory_test.store(memory_test.put('ttl', 'b', '{}', 10.5)) \g /dev/null
select is(memory.delete_expired_items('2026-01-01 00:09Z'), 0::bigint, 'nothing has expired yet');
select is(memory.delete_expired_items('2026-01-01 00:10Z'), 1::bigint, 'what has expired is deleted for good');
select is(memory.delete_expired_items('2026-01-01 00:11Z'), 1::bigint, 'a ttl may be a part of a minute');
select is(memory_test.store(memory_test.put('ttl', 'a', '{}', 5)), '1 0', 'a ttl');
select is(memory_test.store(memory_test.put('ttl', 'a', '{}')), '1 0', 'is taken off by a write without one');
select is(memory_test.value_of('ttl', 'a', '2030-01-01Z'), '{}', 'and the item stays');

-- Prefixes are whole labels

select memory_test.store(memory_test.put(n.namespace, n.key, '{}'))
from (values
  ('a/b', 'one'), ('a/b/c', 'two'), ('a/bc', 'three'), ('a', 'four'), ('a/B', 'five'), ('a/%', 'six'),
  ('a_b', 'seven'), ('a/b c', 'eight'), (U&'a/b\+10FFFF', 'nine'), ('*', 'ten')
) as n (namespace, key) \g /dev/null
select is(
  (select string_agg(k.key, ' ' order by k.key) from string_to_table(memory_test.found('{"namespace_prefix": ["a", "b"]}'), ' ') as k (key)),
  'one two', 'a prefix is whole labels, in their case'
);
select is(memory_test.found('{"namespace_prefix": ["a", "%"]}'), 'six', 'a label is no pattern');
select is(memory_test.found('{"namespace_prefix": ["*"]}'), 'ten', 'nor is a star, in a search');
select is(
  (select count(*) from memory.search_items('[{"namespace_prefix": [], "limit": 100}]', '2026-01-02Z')),
  (select count(*) from memory.store_items as i where (i.expires_at <= '2026-01-02Z') is not true), 'no label is a prefix of all'
);
select is(
  memory_test.listed('{"conditions": [{"match": "prefix", "path": ["a"]}]}'),
  U&'a a/% a/B a/b a/b/c a/b c a/bc a/b\+10FFFF', 'namespaces are listed in order, by whole labels'
);
select is(memory_test.listed('{"conditions": [{"match": "prefix", "path": ["a", "*", "c"]}]}'), 'a/b/c', 'a star is any label');
select is(memory_test.listed('{"conditions": [{"match": "suffix", "path": ["b"]}]}'), 'a/b', 'a suffix is whole labels');
select is(
  memory_test.listed('{"conditions": [{"match": "prefix", "path": ["a"]}, {"match": "suffix", "path": ["*", "c"]}]}'), 'a/b/c',
  'all conditions hold'
);
select is(memory_test.listed('{"max_depth": 1}'), '* a a_b batch ttl', 'names are cut to a depth, each listed once');
select is(memory_test.listed('{"max_depth": 1, "limit": 2, "offset": 1}'), 'a a_b', 'a page of them');

-- Filters

select memory_test.store(memory_test.put('f', f.key, f.value))
from (values
  ('one', '{"n": 1, "s": "b", "o": {"x": 1, "y": [1, {"z": 2}]}, "t": true}'::jsonb), ('two', '{"n": 2.0, "s": "Z", "$gt": 1}'),
  ('null', '{"n": null}'), ('text', '{"n": "10"}'), ('none', '{}')
) as f (key, value) \g /dev/null
select results_eq(
  $$ select f.place, (
       select string_agg(s.key, ' ' order by s.key)
       from memory.search_items(jsonb_build_array(jsonb_build_object('namespace_prefix', '["f"]'::jsonb, 'filter', f.filter))) as s
     )
     from (values
       (1, '{"n": 1}'::jsonb), (2, '{"n": 2}'), (3, '{"n": {"$ne": 1}}'), (4, '{"n": {"$gt": 1}}'), (5, '{"n": {"$gte": 1, "$lt": 2}}'),
       (6, '{"n": null}'), (7, '{"n": {"$gt": "1"}}'), (8, '{"s": {"$lt": "b"}}'), (9, '{"o": {"x": 1}}'), (10, '{"o": {"y": [1, {"z": 2}]}}'),
       (11, '{"o": {"y": [1]}}'), (12, '{"o": {"x": {"$lte": 1}}}'), (13, '{"$gt": 1}'), (14, '{"t": true}'), (15, '{"t": 1}'),
       (16, '{"n": {"$eq": 1}, "s": "b"}'), (17, '{"o": {}}'), (18, '{"o": {"$eq": {"x": 1}}}'), (19, '{"n": {"$lte": 10}}'), (20, '{}')
     ) as f (place, filter)
     order by 1 $$,
  $$ values
     (1, 'one'), (2, 'two'), (3, 'none null text two'), (4, 'two'), (5, 'one'), (6, 'none null'), (7, 'text'), (8, 'two'), (9, 'one'),
     (10, 'one'), (11, null), (12, 'one'), (13, 'two'), (14, 'one'), (15, null), (16, 'one'), (17, 'one'), (18, null), (19, 'one two'),
     (20, 'none null one text two') $$,
  'a filter says what fields are or how they compare, by type; a missing field is null'
);

-- Vectors

select memory_test.store(memory_test.put('v', v.key, '{}', vectors => v.vectors), v.at)
from (values
  ('near', jsonb_build_array(memory_test.vector_at('a', memory_test.near(0.2)), memory_test.vector_at('b', memory_test.near(0.9))), timestamptz '2026-01-01Z'),
  ('far', jsonb_build_array(memory_test.vector_at('a', memory_test.near(0.5))), '2026-01-01 01:00Z'),
  ('without', '[]', '2026-01-01 02:00Z'), ('later', null, '2026-01-01 03:00Z')
) as v (key, vectors, at) \g /dev/null
create function memory_test.nearest(more jsonb)
  returns text
  language sql
  return memory_test.found(jsonb_build_object('namespace_prefix', '["v"]'::jsonb, 'embedding', memory_test.axis(1)::text::jsonb) || more);
select is(memory_test.nearest('{}'), 'near far later without', 'the nearest come first, those without a vector last');
select results_eq(
  $$ select round(s.score::numeric, 3) from memory.search_items(jsonb_build_array(
       jsonb_build_object('namespace_prefix', '["v"]'::jsonb, 'embedding', memory_test.axis(1)::text::jsonb)
     ), '2026-01-02Z') as s $$,
  $$ values (0.9), (0.5), (null), (null) $$, 'the score is the greatest similarity of the vectors of an item'
);
select is(memory_test.nearest('{"limit": 2, "offset": 1}'), 'far later', 'pages of them do not overlap');
select is(memory_test.found('{"namespace_prefix": ["v"]}'), 'later without far near', 'without a vector the latest come first');
select memory_test.store(memory_test.put('v', 'near', '{}', vectors => jsonb_build_array(memory_test.vector_at('c', memory_test.near(0.1))))) \g /dev/null
select results_eq(
  $$ select v.path collate "default" from memory.store_vectors as v join memory.store_items as i on i.id = v.item_id where i.key = 'near' $$,
  $$ values ('c') $$, 'a write replaces all vectors'
);
select memory_test.store(memory_test.put('v', 'other', '{}', vectors => jsonb_build_array(memory_test.vector_at('a', memory_test.axis(1)))) || '{"model": "m"}') \g /dev/null
select is(memory_test.nearest('{"limit": 1}'), 'far', 'vectors of other models are not compared');
select is(memory_test.nearest('{"limit": 1, "model": "m"}'), 'other', 'those of the same model are');
select throws_ok(
  $$ select memory_test.store(memory_test.put('v', 'x', '{}', vectors => '[{"path": "a", "embedding": [1, 2, 3]}]')) $$,
  'PM002', null, 'a vector has 384 dimensions'
);
select throws_ok(
  $$ select memory_test.store(memory_test.put('v', 'x', '{}', vectors => jsonb_build_array(memory_test.vector_at('a', (memory_test.axis(1) - memory_test.axis(1)))))) $$,
  'PM002', null, 'and a direction'
);

-- Batches

select results_eq(
  $$ select b.ordinal, coalesce(b.key, array_to_string(b.namespace, '/')), b.value from memory.batch_items(jsonb_build_array(
       memory_test.put('batch', 'a', '{"n": 3}'),
       '{"op": "get", "namespace": ["batch"], "key": "a"}'::jsonb,
       '{"op": "list", "conditions": [{"match": "prefix", "path": ["batch"]}]}'::jsonb,
       '{"op": "get", "namespace": ["batch"], "key": "missing"}'::jsonb,
       '{"op": "search", "namespace_prefix": ["batch"]}'::jsonb
     ), '2026-01-02Z') as b order by 1 $$,
  $$ values (2::bigint, 'a', '{"n": 2}'::jsonb), (3, 'batch', null), (5, 'a', '{"n": 2}') $$,
  'the reading operations of a batch see what was there before it, under their own numbers'
);
select is(memory_test.value_of('batch', 'a', '2026-01-03Z'), '{"n": 3}', 'its writes are done');

-- Refusals

select is_empty(
  $$ select c.place, r.answer
     from (values
       (1, 'put_items(''{}'')'), (2, 'put_items(''[{"key": "k", "value": {}}]'')'), (3, 'put_items(''[{"namespace": [], "key": "k"}]'')'),
       (4, 'put_items(''[{"namespace": [""], "key": "k"}]'')'), (5, 'put_items(''[{"namespace": [1], "key": "k"}]'')'),
       (6, 'put_items(''[{"namespace": ["a"], "key": ""}]'')'), (7, 'put_items(''[{"namespace": ["a"], "key": "k", "value": [1]}]'')'),
       (8, 'put_items(''[{"namespace": ["a"], "key": "k", "value": {}, "ttl": 0}]'')'),
       (9, 'put_items(''[{"namespace": ["a"], "key": "k", "value": {}, "ttl": 1e300}]'')'),
       (10, 'put_items(''[{"namespace": ["a"], "key": "k", "more": 1}]'')'),
       (11, 'put_items(jsonb_build_array(jsonb_build_object(''namespace'', array[repeat(''x'', 1025)], ''key'', ''k'')))'),
       (12, 'put_items(jsonb_build_array(jsonb_build_object(''namespace'', array[''a''], ''key'', ''k'', ''value'', jsonb_build_object(''x'', repeat(''x'', 1048577)))))'),
       (13, 'put_items(jsonb_build_array(jsonb_build_object(''namespace'', array[''a''], ''key'', ''k'', ''value'', (repeat(''{"a":'', 70) || 1 || repeat(''}'', 70))::jsonb)))'),
       (14, 'put_items(''[{"namespace": ["a"], "key": "k", "value": {}, "vectors": [1]}]'')'),
       (15, 'get_items(''[{"namespace": ["a"]}]'')'), (16, 'search_items(''[{"limit": -1}]'')'),
       (17, 'search_items(''[{"filter": {"a": {"$in": [1]}}}]'')'), (18, 'search_items(''[{"filter": {"a": {"$gt": null}}}]'')'),
       (19, 'search_items(''[{"filter": {"a": {"b": [{"$lt": 1, "c": 2}]}}}]'')'), (20, 'list_item_namespaces(''[{"max_depth": 0}]'')'),
       (21, 'list_item_namespaces(''[{"conditions": [{"match": "infix", "path": ["a"]}]}]'')'), (22, 'batch_items(''[{"op": "take"}]'')'),
       (23, 'batch_items(''[1]'')'), (24, 'delete_expired_items(''infinity'')'), (25, 'put_items(null)'),
       (26, 'list_item_namespaces(''[{"conditions": [{"path": ["a"]}]}]'')'),
       (27, 'put_items(''[{"namespace": ["a"], "key": "k", "value": {}, "vectors": [{"path": "p"}]}]'')'),
       (28, 'put_items(jsonb_build_array(jsonb_build_object(''namespace'', array[''a''], ''key'', repeat(''k'', 1025), ''value'', jsonb_build_object())))')
     ) as c (place, call)
     cross join lateral (select memory_test.answer_code('select * from memory.' || c.call) as answer) as r
     where r.answer is distinct from 'PM002' $$,
  'what is malformed is refused with a hint'
);

-- Others

select memory_test.as_tenant('b') \g /dev/null
select is(memory_test.value_of('batch', 'a', '2026-01-03Z'), null, 'another tenant reads nothing');
select is(memory_test.store(memory_test.put('batch', 'a', null)), '0 0', 'and deletes nothing');
select is(memory_test.store(memory_test.put('batch', 'a', '{"n": "b"}')), '1 0', 'it has its own item under the name');
select is(memory_test.listed('{}'), 'batch', 'and its own namespaces');
select memory_test.as_tenant('a') \g /dev/null
select is(memory_test.value_of('batch', 'a', '2026-01-03Z'), '{"n": 3}', 'each its own');

-- Erasure and the chain

select memory_test.store(memory_test.put('users/Ada Lovelace', 'x', '{}')) \g /dev/null
select memory_test.store(memory_test.put('notes', 'y', '{"about": ["Ada Lovelace"]}')) \g /dev/null
select is(
  (select e.erased from memory.erase_subject('ada lovelace', mentions => false, dry_run => true) as e where e.object = 'items'),
  1::bigint, 'what is kept under a name is about it'
);
select is(
  (select e.erased from memory.erase_subject('ada lovelace') as e where e.object = 'items'), 2::bigint,
  'an erasure erases every item that mentions it'
);
select is_empty($$ select p.* from memory.verify_chain() as p $$, 'rows and events agree');

select is(
  length((memory.end_of_prefix('{}'))[1]), 257, 'what comes after all labels is longer than the longest one'
);

select * from finish();
rollback;
