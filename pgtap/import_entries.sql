begin;
\ir fixtures.sql
select plan(53);

create table memory_test.seven as
select '{
  "entry_id": "mem-2026-02-10-007", "content": "# Seven\n\nText", "type": "preference",
  "tags": ["a", " b  c ", "a"], "keywords": ["k"], "category": "c", "confidence": 0.9, "importance": 8,
  "source": "user", "scope": " work ", "user_id": "u", "persona_id": "p", "session_id": "s",
  "created_at": "2026-02-10T10:00:00Z", "updated_at": "2026-02-11 10:00", "expires_at": "2026-02-12",
  "access_count": 3, "last_accessed": "2026-02-13T00:00:00+02:00", "version": 4,
  "related": ["mem-2026-02-10-009", "mem-2026-02-10-099"], "metadata": {"x": 1}, "front_matter": "---\n---\n",
  "path": "a/b.md"
}'::jsonb as element;

create function memory_test.outcomes(entries jsonb, as_of timestamptz default '2026-03-02Z')
  returns setof text
  language sql
  as $$
    select concat_ws(' ', i.entry_id, i.outcome, i.version) from memory.import_entries(entries, as_of) as i
    order by i.position
  $$;

-- New entries

create table memory_test.answers as
select i.*
from memory.import_entries(
  jsonb_build_array(
    (select s.element from memory_test.seven as s),
    '{"content": "new", "created_at": "2026-02-10"}'::jsonb,
    '{"entry_id": "mem-2026-02-10-009", "content": "nine"}'::jsonb,
    '{"content": "today"}'::jsonb
  ),
  as_of => '2026-03-01Z'
) as i;
select results_eq(
  $$ select a.position, a.entry_id, a.version, a.outcome, a.reason, a.missing_related
     from memory_test.answers as a order by a.position $$,
  $$ values
       (1::bigint, 'mem-2026-02-10-007', 4, 'created', null::text, '{mem-2026-02-10-099}'::text[]),
       (2, 'mem-2026-02-10-010', 1, 'created', null, '{}'),
       (3, 'mem-2026-02-10-009', 1, 'created', null, '{}'),
       (4, 'mem-2026-03-01-001', 1, 'created', null, '{}') $$,
  'ids are kept, new ones follow the highest of the day'
);
select results_eq(
  $$ select e.title, e.entry_type, e.tags, e.keywords, e.category, e.confidence, e.importance, e.source, e.trust,
       e.scope, e.user_id, e.persona_id, e.session_id, e.created_at, e.edited_at, e.expires_at, e.reference_count,
       e.last_referenced_at, e.decayed_at, e.lifecycle_state, e.metadata #- '{file,mark}'
     from memory.entries as e where e.entry_id = 'mem-2026-02-10-007' $$,
  $$ values (
       'Seven', 'preference', '["a", "b c"]'::jsonb, '["k"]'::jsonb, 'c', 0.9::float8, 8::float8, 'user', 'user',
       'work', 'u', 'p', 's', '2026-02-10 10:00Z'::timestamptz, '2026-02-11 10:00Z'::timestamptz,
       '2026-02-12Z'::timestamptz, 3, '2026-02-12 22:00Z'::timestamptz, '2026-03-01Z'::timestamptz, 'active',
       '{"x": 1, "file": {"front_matter": "---\n---\n", "path": "a/b.md"},
         "missing_related": ["mem-2026-02-10-099"]}'::jsonb
     ) $$,
  'an entry keeps the values that it comes with; times without an offset are UTC'
);
select results_eq(
  $$ select e.entry_type, e.tags, e.confidence, e.importance, e.source, e.trust, e.scope, e.created_at, e.metadata
     from memory.entries as e where e.content = 'today' $$,
  $$ values ('note', '[]'::jsonb, 0.8::float8, 5::float8, 'import', 'external', 'global',
       '2026-03-01Z'::timestamptz, '{}'::jsonb) $$,
  'what is left out has the values of an import'
);
select is(
  (select (memory.create_entry('next', as_of => '2026-03-01Z')).entry_id), 'mem-2026-03-01-002',
  'create_entry goes on behind the numbers of an import'
);
select results_eq(
  $$ select r.changed from memory.run_entry_upkeep(as_of => '2026-03-02Z') as r where r.task = 'expired' $$,
  $$ values (1::bigint) $$, 'an entry whose expiry lies in the past expires with the next upkeep'
);
select is(
  (select e.confidence from memory.entries as e where e.entry_id = 'mem-2026-02-10-007'), 0.9::float8,
  'the time before an import lowers no confidence again'
);

-- Importing again

select set_eq(
  $$ select * from memory_test.outcomes((select jsonb_build_array(s.element) from memory_test.seven as s)) $$,
  $$ values ('mem-2026-02-10-007 unchanged 4') $$, 'the same import changes nothing, even once expired'
);
select is(
  (select e.metadata ->> 'missing_related' from memory.entries as e where e.entry_id = 'mem-2026-02-10-007'),
  '["mem-2026-02-10-099"]', 'ids that name no entry are kept'
);
select set_eq(
  $$ select * from memory_test.outcomes(
       '[{"entry_id": "mem-2026-02-10-007", "related": ["mem-2026-02-10-009", "mem-2026-02-10-099"]},
         {"entry_id": "mem-2026-02-10-099", "content": "late"}]'
     ) $$,
  $$ values ('mem-2026-02-10-007 unchanged 4'), ('mem-2026-02-10-099 created 1') $$,
  'a related entry may come later'
);
select results_eq(
  $$ select t.entry_id, l.relation from memory.memory_links as l join memory.entries as t on t.id = l.target_id
     order by t.entry_id $$,
  $$ values ('mem-2026-02-10-009', 'related_to'), ('mem-2026-02-10-099', 'related_to') $$,
  'then it is linked, without a new version'
);
select is(
  (select e.metadata -> 'missing_related' from memory.entries as e where e.entry_id = 'mem-2026-02-10-007'),
  null, 'and missing no longer'
);
select set_eq(
  $$ select * from memory_test.outcomes(
       '[{"entry_id": "mem-2026-02-10-009", "content": "nine!", "base_version": 1},
         {"entry_id": "mem-2026-02-10-010", "base_version": 0},
         {"entry_id": "mem-2026-02-10-099", "content": "later", "base_version": 3}]'
     ) $$,
  $$ values ('mem-2026-02-10-009 updated 2'), ('mem-2026-02-10-010 unchanged 1'), ('mem-2026-02-10-099 conflict 1') $$,
  'another base version is a conflict, unless nothing would change'
);
select set_eq(
  $$ select e.content from memory.entries as e where e.entry_id in ('mem-2026-02-10-009', 'mem-2026-02-10-099') $$,
  $$ values ('nine!'), ('late') $$, 'a conflict overwrites nothing'
);
select set_eq(
  $$ select concat_ws(' ', i.outcome, i.reason) from memory.import_entries(
       '[{"entry_id": "mem-2026-02-10-009", "content": "x", "created_at": "2020-01-01"},
         {"entry_id": "mem-2026-02-10-010", "content": "x", "id": "00000000-0000-0000-0000-000000000001"},
         {"entry_id": "mem-2026-02-10-099", "content": "x", "source": "user"},
         {"entry_id": "mem-2026-02-10-007", "content": "x"}]', '2026-03-02Z'
     ) as i $$,
  $$ values
       ('conflict another entry has this id, created at 2026-03-01T00:00:00.000000Z'),
       ('conflict another entry has this id, created at 2026-02-10T00:00:00.000000Z'),
       ('rejected its source is import and cannot change'),
       ('rejected it has expired; memory.restore_memory brings it back') $$,
  'another entry, another source and an expired one are refused'
);
select set_eq(
  $$ select * from memory_test.outcomes(
       '[{"entry_id": "mem-2026-02-10-009", "front_matter": "---\n# a comment\n---\n"}]'
     ) $$,
  $$ values ('mem-2026-02-10-009 updated 2') $$, 'front matter that says the same is no new version'
);
select set_eq(
  $$ select * from memory_test.outcomes('[{"entry_id": "mem-2026-02-10-009", "tags": ["t"], "category": "c"}]') $$,
  $$ values ('mem-2026-02-10-009 updated 3') $$, 'what is left out stays'
);
select results_eq(
  $$ select e.content, e.tags, e.category, e.edited_at from memory.entries as e
     where e.entry_id = 'mem-2026-02-10-009' $$,
  $$ values ('nine!', '["t"]'::jsonb, 'c', '2026-03-02Z'::timestamptz) $$, 'and what is given changes'
);
select is_empty(
  $$ with i as (
       select i.* from memory.import_entries(
         '[{"entry_id": "mem-2026-02-10-009", "tags": null, "category": null}]', '2026-03-03Z'
       ) as i
     )
     select from i where i.outcome <> 'updated' $$,
  'an edit is an update'
);
select results_eq(
  $$ select e.tags, e.category from memory.entries as e where e.entry_id = 'mem-2026-02-10-009' $$,
  $$ values ('[]'::jsonb, null::text) $$, 'null clears'
);
select set_eq(
  $$ select * from memory_test.outcomes(
       '[{"content": "once", "idempotency_key": "k"}, {"content": "once", "idempotency_key": "k"}]'
     ) $$,
  $$ values ('mem-2026-03-02-001 created 1'), ('rejected') $$, 'a key names an entry once in a batch'
);
select set_eq(
  $$ select * from memory_test.outcomes('[{"content": "once", "idempotency_key": "k"}]') $$,
  $$ values ('mem-2026-03-02-001 unchanged 1') $$, 'and the same entry later'
);

-- Ranges

select memory_test.as_tenant('ranges');
select set_eq(
  format(
    $$ select i.outcome, i.reason from memory.import_entries(
         jsonb_build_array(
           jsonb_build_object('content', 'long', %L, repeat('x', %s)), jsonb_build_object('content', 'long', %1$L, repeat('x', %2$s + 1))
         ), '2026-03-02Z'
       ) as i $$, r.name, r.octets
  ),
  format($$ values ('created', null::text), ('rejected', '%s is %s bytes long') $$, r.name, r.octets + 1),
  format('%s has up to %s bytes', r.name, r.octets)
)
from (values ('category', 128), ('user_id', 128), ('persona_id', 128), ('session_id', 128), ('path', 1024), ('front_matter', 16384)) as r (name, octets)
order by r.name;
select memory_test.as_tenant('days');
select set_eq(
  $$ select * from memory_test.outcomes(
       '[{"content": "one", "created_at": "2026-02-01"}, {"content": "two", "created_at": "2026-02-02"},
         {"content": "three", "created_at": "2026-02-02"}]'
     ) $$,
  $$ values ('mem-2026-02-01-001 created 1'), ('mem-2026-02-02-001 created 1'), ('mem-2026-02-02-002 created 1') $$,
  'each day has numbers of its own'
);
select set_eq(
  $$ select * from memory_test.outcomes(
       '[{"content": "four", "created_at": "2026-02-01"}, {"content": "five", "created_at": "2026-02-02"}]'
     ) $$,
  $$ values ('mem-2026-02-01-002 created 1'), ('mem-2026-02-02-003 created 1') $$, 'which go on'
);
select memory_test.as_tenant('a');

-- Deletions

select set_eq(
  $$ select * from memory_test.outcomes(
       '[{"entry_id": "mem-2026-02-10-010", "deleted": true, "base_version": 9},
         {"entry_id": "mem-2026-02-10-099", "deleted": true, "base_version": 1},
         {"entry_id": "mem-2020-01-01-001", "deleted": true}]'
     ) $$,
  $$ values ('mem-2026-02-10-010 conflict 1'), ('mem-2026-02-10-099 deleted 1'), ('mem-2020-01-01-001 unchanged') $$,
  'a deletion is one of a version, too'
);
select set_eq(
  $$ select * from memory_test.outcomes(
       '[{"entry_id": "mem-2026-02-10-099", "deleted": true}]'
     ) $$,
  $$ values ('mem-2026-02-10-099 unchanged 1') $$, 'deleting again changes nothing'
);
select results_eq(
  $$ select i.outcome, i.reason from memory.import_entries(
       '[{"entry_id": "mem-2026-02-10-099", "content": "late"}]', '2026-03-02Z'
     ) as i $$,
  $$ values ('deleted', 'it was deleted; memory.restore_memory brings it back') $$,
  'an import does not bring back what was deleted'
);
select e.id as purged_id from memory.entries as e where e.entry_id = 'mem-2026-02-10-099' \gset
select memory.delete_entry('mem-2026-02-10-099', permanent => true) as deleted \g /dev/null
select results_eq(
  format(
    $$ select i.outcome, i.reason, i.id from memory.import_entries(
         '[{"entry_id": "mem-2026-02-10-099", "content": "late", "id": "%s"}]', '2026-03-02Z'
       ) as i $$,
    :'purged_id'
  ),
  $$ values ('deleted', 'it was deleted for good', null::uuid) $$, 'nor what was deleted for good'
);

-- Bad elements

select results_eq(
  $$ select i.outcome, i.reason from memory.import_entries(
       '[7, {"content": 5}, {"contents": "x"}, {}, {"content": " "}, {"content": "x", "confidence": 1.1},
         {"content": "x", "importance": -1}, {"content": "x", "type": "idea"}, {"content": "x", "source": "web"},
         {"content": "x", "created_at": "now"}, {"content": "x", "created_at": "2026-02-30"},
         {"content": "x", "updated_at": "2999-01-01"}, {"content": "x", "entry_id": "mem-2026-02-30-001"},
         {"content": "x", "entry_id": "mem-2026-02-03-123456789"}, {"content": "x", "version": 1.5},
         {"content": "x", "confidence": 1e400}, {"content": "x", "tags": [1]}, {"content": "x", "scope": "*"},
         {"content": "x", "metadata": {"file": {}}}, {"content": "x", "id": "7"}, {"content": "x", "category": ""},
         {"content": "fine"}]', '2026-03-05Z'
     ) as i order by i.position $$,
  $$ values
       ('rejected', 'it is not a JSON object'), ('rejected', 'content is 5, not a JSON string'),
       ('rejected', 'it has the unknown key "contents"'), ('rejected', 'it has no content'),
       ('rejected', 'content is empty'), ('rejected', 'confidence is 1.1'), ('rejected', 'importance is -1'),
       ('rejected', 'unknown type: ''idea'''), ('rejected', 'unknown source: ''web'''),
       ('rejected', 'created_at is now, not a time such as 2026-03-01T12:00:00Z'),
       ('rejected', 'date/time field value out of range: "2026-02-30"'),
       ('rejected', 'updated_at lies in the future: 2999-01-01 00:00:00+00'),
       ('rejected', 'entry_id is ''mem-2026-02-30-001'', not an id such as mem-2026-03-01-001'),
       ('rejected', 'entry_id is ''mem-2026-02-03-123456789'', not an id such as mem-2026-03-01-001'),
       ('rejected', 'version is 1.5'),
       ('rejected', '"1' || repeat('0', 400) || '" is out of range for type double precision'),
       ('rejected', 'tags are not a JSON array of strings'), ('rejected', 'scope is "*"'),
       ('rejected', 'metadata uses a reserved key'), ('rejected', 'id is 7, not a UUID'),
       ('rejected', 'category is empty'), ('created', null) $$,
  'each bad element is rejected with a reason, and the others are stored'
);
select throws_ok($$ select memory.import_entries('{}') $$, 'PM002', 'entries are not a JSON array', 'no array');
select throws_ok($$ select memory.import_entries(null) $$, 'PM002', 'entries are not a JSON array', 'NULL');
select is_empty($$ select memory.import_entries('[]') $$, 'importing nothing returns nothing');

-- Guarded entries

insert into memory.entry_policies (tenant_id, scope, policy) values ('a', 'secret', 'billy');
insert into memory.entries (tenant_id, entry_id, content, policy, scope, user_id, search_vector, title)
values ('a', 'mem-2026-03-01-500', 'guarded', 'billy', 'secret', 'u', '', '');
select results_eq(
  $$ select i.outcome, i.reason, case when i.outcome <> 'created' then i.id end, i.missing_related
     from memory.import_entries(
       '[{"content": "x", "scope": " secret "}, {"entry_id": "mem-2026-02-10-010", "scope": "secret"},
         {"entry_id": "mem-2026-03-01-500", "content": "x"}, {"entry_id": "mem-2026-03-01-500", "deleted": true},
         {"content": "x", "related": ["mem-2026-03-01-500"], "front_matter": "---\n---\n"}]', '2026-03-06Z'
     ) as i order by i.position $$,
  $$ select v.outcome, v.reason, e.id, v.missing
     from (values
       (1, 'rejected', 'policy: entries of scope ''secret'' are written on explicit request only', null, '{}'::text[]),
       (2, 'rejected', 'policy: entries of scope ''secret'' are written on explicit request only',
         'mem-2026-02-10-010', '{}'),
       (3, 'rejected', 'policy: the entry is guarded, it is never changed', null, '{}'),
       (4, 'rejected', 'it is the same entry as element 3', null, '{}'),
       (5, 'created', null, null, '{mem-2026-03-01-500}')
     ) as v (position, outcome, reason, entry_id, missing)
     left join memory.entries as e on e.entry_id = v.entry_id
     order by v.position $$,
  'nothing comes into a guarded scope, or changes or links a guarded entry'
);
select is(
  (select e.content from memory.entries as e where e.entry_id = 'mem-2026-03-01-500'), 'guarded',
  'a guarded entry stays as it is'
);

-- Exports

select is_empty(
  $$ select from memory.export_entries(include_deleted => true) as x where x.scope = 'secret' $$,
  'guarded entries are not exported'
);
select results_eq(
  $$ select x.entry_id, x.related, x.metadata, x.front_matter, x.path, x.is_as_imported
     from memory.export_entries(as_of => '2026-03-02Z') as x where x.entry_id in (
       'mem-2026-02-10-007', 'mem-2026-02-10-009', 'mem-2026-03-06-001'
     ) $$,
  $$ values
       ('mem-2026-02-10-007', '{mem-2026-02-10-009}'::text[], '{"x": 1}'::jsonb, E'---\n---\n', 'a/b.md', false),
       ('mem-2026-02-10-009', '{}', '{}', E'---\n# a comment\n---\n', null, false),
       ('mem-2026-03-06-001', '{mem-2026-03-01-500}', '{}', E'---\n---\n', null, true) $$,
  'an export has the related ids, existing or not, and the front matter'
);
select is_empty(
  $$ select from memory.export_entries(include_archived => false, as_of => '2026-03-06Z') as x
     where x.entry_id = 'mem-2026-02-10-007' $$,
  'expired entries may be left out'
);
select set_eq(
  $$ with recursive pages as (
       select 1 as page, null::text as first_id, array(
         select x.entry_id from memory.export_entries(batch_size => 2, include_deleted => true) as x
       ) as ids
       union all
       select p.page + 1, p.ids[1], array(
         select x.entry_id
         from memory.export_entries(
           batch_size => 2, include_deleted => true, after_id => p.ids[cardinality(p.ids)]
         ) as x
       )
       from pages as p
       where p.ids <> '{}'
     )
     select unnest(p.ids) from pages as p $$,
  $$ select e.entry_id from memory.entries as e where e.tenant_id = 'a' and e.policy = 'meridian' $$,
  'batches of an export have each entry once'
);
select throws_ok(
  $$ select memory.export_entries(batch_size => 0) $$, 'PM002', 'batch_size is 0', 'no empty batches'
);

-- What an import names and does not store

select count(*) as stored
from memory.import_entries('[
  {"entry_id": "mem-2026-04-01-001", "content": "one", "idempotency_key": "first"},
  {"entry_id": "mem-2026-04-01-002", "content": "two"},
  {"entry_id": "mem-2026-04-01-003", "content": "three", "related": ["mem-2026-04-01-002"]}
]', '2026-04-02Z') \gset
select set_eq(
  $$ select memory_test.outcomes('[
       {"entry_id": "mem-2026-04-01-009", "content": "nine", "idempotency_key": "first"},
       {"entry_id": "mem-2026-04-01-002", "related": ["mem-2026-04-01-009"]}
     ]', '2026-04-03Z')
     from generate_series(1, 2) $$,
  array['mem-2026-04-01-009 conflict', 'mem-2026-04-01-002 unchanged 1'],
  'an entry that names one whose key another has does not change, however often it is imported'
);
select results_eq(
  $$ select i.missing_related
     from memory.import_entries('[
       {"entry_id": "mem-2026-04-01-009", "content": "nine", "idempotency_key": "first"},
       {"entry_id": "mem-2026-04-01-002", "related": ["mem-2026-04-01-009"]}
     ]', '2026-04-03Z') as i
     order by i.position $$,
  $$ values ('{}'::text[]), ('{mem-2026-04-01-009}') $$,
  'and says that it is missing'
);
select memory.delete_entry('mem-2026-04-01-002', permanent => true, as_of => '2026-04-04Z') as gone \gset
create function memory_test.links_of_three()
  returns bigint
  language sql
  as $$
    select count(l.*)
    from memory.entries as e
    cross join lateral memory.get_links('entry', e.id) as l
    where e.entry_id = 'mem-2026-04-01-003'
  $$;
select is(memory_test.links_of_three(), 1::bigint, 'a link outlives the entry that it leads to');
select count(*) as stored
from memory.import_entries(
  '[{"entry_id": "mem-2026-04-01-003", "content": "Three", "related": []}]', '2026-04-05Z'
) \gset
select is(
  memory_test.links_of_three(), 0::bigint, 'until an import of its own does not name it any more'
);
select is(
  array(
    select i.entry_id || ', ' || (memory.create_entry('next', as_of => d.day::timestamptz)).entry_id
    from (values ('2026-05-01'), ('2026-05-02')) as d (day)
    cross join lateral memory.import_entries(
      jsonb_build_array(jsonb_build_object('entry_id', format('mem-%s-%s', d.day, case d.day when '2026-05-01' then '000' else '001' end), 'content', 'x')),
      '2026-05-03Z'
    ) as i
    order by d.day
  ),
  '{"mem-2026-05-01-000, mem-2026-05-01-002","mem-2026-05-02-001, mem-2026-05-02-002"}',
  'numbers of a day go on from the highest one that was imported'
);
select is(
  array(
    select i.outcome
    from jsonb_array_elements('[
      {"confidence": 0.4}, {"importance": 9}, {"scope": "home"}, {"archived": true},
      {"tags": ["x"]}, {"keywords": ["x"]}, {"type": "pattern"}, {"category": "x"}, {"expires_at": "2027-01-01"}
    ]') with ordinality as p (part, position)
    cross join lateral memory.import_entries(
      jsonb_build_array('{"entry_id": "mem-2026-05-02-002"}'::jsonb || p.part), '2026-05-04Z'
    ) as i
    order by p.position
  ),
  array_fill('updated'::text, '{9}'),
  'an entry of which any part differs is updated'
);
select is(
  array(
    select concat_ws(': ', i.outcome, i.reason)
    from memory.import_entries(
      '[{"content": "x", "idempotency_key": "k1"}, {"content": "y", "idempotency_key": "k2"},
        {"content": "z", "idempotency_key": "k1"}]', '2026-05-05Z'
    ) as i
    order by i.position
  ),
  '{created,created,"rejected: it is the same entry as element 1"}', 'entries without an id are told apart by their keys'
);
select is(
  (
    select i.outcome
    from memory.import_entries(
      '[{"entry_id": "mem-2026-06-01-001", "id": "60000000-0000-0000-0000-000000000001", "content": "x"}]', '2026-06-02Z'
    ) as i
  ),
  'created', 'that another entry was deleted for good does not keep one away'
);
select memory_test.as_tenant('b');
select is_empty($$ select memory.export_entries(include_deleted => true) $$, 'another tenant exports its own entries only');

select * from finish();
rollback;
