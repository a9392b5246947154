begin;
\ir fixtures.sql
select plan(212);

-- The code of the error of a statement, its message and its hint, every id replaced by <id>.
create function memory_test.error_of(statement text)
  returns text
  language plpgsql
as $$
declare
  v_hint text;
begin
  execute statement;
  return 'none';
exception
  when others then
    get stacked diagnostics v_hint = pg_exception_hint;
    return regexp_replace(
      concat_ws(' | ', sqlstate, sqlerrm, v_hint),
      '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', '<id>', 'g'
    );
end;
$$;

-- An entry of a day.
create function memory_test.an_entry(
  content text,
  as_of timestamptz default '2026-01-01Z',
  source text default 'interaction'
)
  returns text
  language sql
  return (select c.entry_id from memory.create_entry(content, source => source, as_of => as_of) as c);

create function memory_test.events_of_entry(entry_id text)
  returns text[]
  language sql
  return memory_test.events_of(memory.get_entry_uuid(entry_id));

-- What an entry is now, without counting as a reference to it.
create function memory_test.entry(entry_id text)
  returns memory.entries
  language sql
  return (select e from memory.entries as e where e.tenant_id = 'a' and e.entry_id = entry.entry_id);

-- Creation

select results_eq(
  $$ select c.entry_id, c.title, c.stored_confidence, c.version, c.created, c.consolidation_due
     from memory.create_entry(E'# Tea\n\nThe user likes tea.', as_of => '2026-03-01T10:00Z') as c $$,
  $$ values ('mem-2026-03-01-001', 'Tea', 0.7::float8, 1, true, false) $$,
  'create_entry returns the id, the title and the confidence of a new entry'
);
select results_eq(
  $$ select e.content, e.entry_type, e.category, e.tags, e.keywords, e.importance, e.source, e.trust, e.policy, e.scope,
       e.retention, e.lifecycle_state, e.version, e.created_at, e.edited_at, e.last_confirmed_at, e.updated_at,
       e.reference_count, e.expires_at, e.metadata
     from memory.entries as e $$,
  $$ values (
       E'# Tea\n\nThe user likes tea.', 'note', null::text, '[]'::jsonb, '[]'::jsonb, 5.0::float8, 'interaction', 'agent',
       'meridian', 'global', 'active', 'active', 1, '2026-03-01T10:00Z'::timestamptz, '2026-03-01T10:00Z'::timestamptz,
       '2026-03-01T10:00Z'::timestamptz, '2026-03-01T10:00Z'::timestamptz, 0, null::timestamptz, '{}'::jsonb
     ) $$,
  'an entry has the defaults of MERIDIAN'
);
select is(
  array[
    memory_test.an_entry('b', '2026-03-01T23:59:59.999999Z'), memory_test.an_entry('c', '2026-03-02Z'),
    memory_test.an_entry('d', '2026-03-01Z'), memory_test.an_entry('e', '2026-03-02T01:00+03')
  ],
  '{mem-2026-03-01-002,mem-2026-03-02-001,mem-2026-03-01-003,mem-2026-03-01-004}',
  'the entries of a day, in UTC, are numbered from 1'
);
update memory.entry_numbers as n set last_number = 998 where n.day = '2026-03-02';
select is(
  array[memory_test.an_entry('f', '2026-03-02Z'), memory_test.an_entry('g', '2026-03-02Z')],
  '{mem-2026-03-02-999,mem-2026-03-02-1000}', 'a number beyond 999 has four digits'
);
select memory_test.as_tenant('b') \g /dev/null
select is(memory_test.an_entry('h', '2026-03-02Z'), 'mem-2026-03-02-001', 'each tenant has numbers of its own');
select memory_test.as_tenant('a') \g /dev/null

select c.id, c.entry_id
from memory.create_entry(
  E'Kräutertee — “green”\r\n\tno sugar  ', 'preference', '[" hot  drinks", "hot drinks", "", "Tea"]', 0.42,
  '{}', 'user', 'drinks', '["brew", "brew "]', 8, 'home', 'Ada', 'butler', 's1', '2027-01-01Z', '{"k": [1]}',
  idempotency_key => 'key', as_of => '2026-03-03Z'
) as c \gset
select results_eq(
  format(
    $$ select e.content, e.title, e.entry_type, e.tags, e.confidence, e.source, e.trust, e.category, e.keywords,
         e.importance, e.scope, e.user_id, e.persona_id, e.session_id, e.expires_at, e.metadata, e.idempotency_key
       from memory.entries as e where e.id = %L $$, :'id'
  ),
  $$ values (
       E'Kräutertee — “green”\r\n\tno sugar  ', 'Kräutertee — “green”', 'preference', '["hot drinks", "Tea"]'::jsonb,
       0.42::float8, 'user', 'user', 'drinks', '["brew"]'::jsonb, 8::float8, 'home', 'Ada', 'butler', 's1',
       '2027-01-01Z'::timestamptz, '{"k": [1]}'::jsonb, 'key'
     ) $$,
  'an entry is stored as it was said, its labels cleaned'
);
select is(memory.get_entry_uuid(:'entry_id'), :'id'::uuid, 'get_entry_uuid returns the uuid of an entry');
select is(memory.get_entry_uuid(upper(:'id')), :'id'::uuid, 'get_entry_uuid accepts a uuid');
select is(memory.get_entry_uuid('mem-2026-03-03-999'), null, 'get_entry_uuid returns NULL for an unknown id');
select is(
  memory.get_entry(:'id', '2026-03-03Z') - '{reference_count,last_referenced_at}'::text[],
  memory.get_entry(:'entry_id', '2026-03-03Z') - '{reference_count,last_referenced_at}'::text[],
  'both ids of an entry name it'
);

-- Confidence and trust by source

select is(
  (
    select c.stored_confidence || ' ' || (memory.get_entry(c.entry_id) ->> 'trust')
    from memory.create_entry(s.content, source => s.source, as_of => '2026-03-04Z') as c
  ),
  s.stored, format('%s from %s is stored with %s', quote_literal(s.content), s.source, s.stored)
)
from (values
  (1, 'user', 'Ada likes chess', '0.95 user'), (2, 'user', 'Maybe Ada likes go', '0.85 user'),
  (3, 'interaction', 'Maybe Ada likes go', '0.7 agent'), (4, 'system', 's', '0.7 agent'), (5, 'tool', 't', '0.7 tool'),
  (6, 'import', 'i', '0.8 external'), (7, 'derived', 'd', '0.5 agent')
) as s (position, source, content, stored)
order by s.position;
select is(
  array[
    (select c.stored_confidence from memory.create_entry('Ada likes chess', source => 'user', as_of => '2026-03-05Z') as c),
    (select c.stored_confidence from memory.create_entry('Maybe Ada likes go', source => 'user', as_of => '2026-03-05Z') as c),
    (select c.stored_confidence from memory.create_entry('Ada likes chess', source => 'user', scope => 'home', as_of => '2026-03-05Z') as c),
    (select c.stored_confidence from memory.create_entry('Ada likes chess', source => 'user', user_id => 'Bob', as_of => '2026-03-05Z') as c),
    (select c.stored_confidence from memory.create_entry('Ada likes chess', source => 'interaction', as_of => '2026-03-05Z') as c)
  ],
  '{1,0.9,0.95,0.95,0.7}', 'what a user states again, of the same user in the same scope, gains 0.05'
);

-- Idempotency

select results_eq(
  format(
    $$ select c.id, c.entry_id, c.created, c.stored_confidence
       from memory.create_entry(%L, scope => 'home', idempotency_key => 'key') as c $$,
    E'Kräutertee — “green”\r\n\tno sugar  '
  ),
  format($$ values (%L::uuid, %L, false, 0.42::float8) $$, :'id', :'entry_id'),
  'creating again with the same key returns the first entry'
);
select throws_ok(
  $$ select memory.create_entry('other', scope => 'home', idempotency_key => 'key') $$, 'PM004', null,
  'the key of another entry is refused'
);
select memory.update_entry(:'id', tags => '["x"]', as_of => '2026-03-06Z') \g /dev/null
select memory.update_entry(:'id', 'Edited', as_of => '2026-03-07Z') \g /dev/null
select results_eq(
  format(
    $$ select c.id, c.title, c.version, c.created
       from memory.create_entry(%L, scope => 'home', idempotency_key => 'key') as c $$,
    E'Kräutertee — “green”\r\n\tno sugar  '
  ),
  format($$ values (%L::uuid, 'Edited', 3, false) $$, :'id'),
  'the key of an entry that was edited since returns that entry'
);
select memory_test.as_tenant('b') \g /dev/null
select is(
  (select c.created from memory.create_entry('other', idempotency_key => 'key') as c), true,
  'each tenant has keys of its own'
);
select memory_test.as_tenant('a') \g /dev/null

-- Related entries

select memory_test.an_entry('one', '2026-04-01Z') as one, memory_test.an_entry('two', '2026-04-01Z') as two,
  memory_test.an_entry('three', '2026-04-01Z') as three \gset
select c.entry_id as four
from memory.create_entry('four', related => array[:'two', memory.get_entry_uuid(:'one')::text, :'two'], as_of => '2026-04-01Z') as c \gset
select is(
  memory.get_entry(:'four') -> 'related', jsonb_build_array(:'one', :'two'), 'an entry names others as related, by either id'
);
select is(
  (select array_agg(l.relation || ' ' || l.target_type) from memory.get_links('entry', memory.get_entry_uuid(:'four')) as l),
  '{related_to entry,related_to entry}', 'related entries are links'
);
select results_eq(
  format($$ select u.version, u.content_changed from memory.update_entry(%L, related => array[%L, %L], as_of => '2026-04-02Z') as u $$,
    :'four', :'two', :'three'),
  $$ values (2, false) $$, 'an update of what is related makes a version'
);
select is(
  memory.get_entry(:'four') -> 'related', jsonb_build_array(:'two', :'three'), 'an update replaces what is related whole'
);
select is(
  memory_test.events_of_entry(:'four'), '{entry_created,link_created,link_created,link_deleted,link_created,entry_updated}',
  'an update of what is related is audited'
);
select is(
  (select u.version from memory.update_entry(:'four', related => array[:'three', :'two']) as u), 2,
  'the same related entries in another order change nothing'
);
select memory.delete_entry(:'three', as_of => '2026-04-03Z') \g /dev/null
select is(memory.get_entry(:'four') -> 'related', jsonb_build_array(:'two'), 'an entry that is deleted is not named as related');
select memory.update_entry(:'four', related => array[:'two'], as_of => '2026-04-03Z') \g /dev/null
select memory.restore_memory('entry', memory.get_entry_uuid(:'three'), '2026-04-04Z') \g /dev/null
select is(
  memory.get_entry(:'four') -> 'related', jsonb_build_array(:'two', :'three'),
  'an entry that is restored is named again, even if the list was written back without it'
);
savepoint twin;
insert into memory.facts (tenant_id, id, subject, predicate, content, valid_from)
values (memory.current_tenant(), memory.get_entry_uuid(:'one'), 's', 'p', 'a fact with the id of an entry', '2026-01-01Z');
select memory.create_link('entry', memory.get_entry_uuid(:'four'), 'fact', memory.get_entry_uuid(:'one'), 'related_to') \g /dev/null
select memory.get_entry(:'four') -> 'related' as related_beside_fact \gset
rollback to savepoint twin;
select is(
  :'related_beside_fact'::jsonb, jsonb_build_array(:'two', :'three'), 'only entries are named as related, whatever id another memory has'
);
select memory.update_entry(:'four', related => '{}') \g /dev/null
select is(memory.get_entry(:'four') -> 'related', '[]', 'an update can clear what is related');

-- Refused arguments

select is(
  memory_test.error_of('select memory.create_entry(' || r.arguments || ')'), r.error,
  format('create_entry(%s) is refused', r.arguments)
)
from (values
  (1, '''''', 'PM002 | content is empty | Pass content with at least one visible character.'),
  (2, 'null', 'PM002 | content is empty | Pass content with at least one visible character.'),
  (3, 'repeat(''x'', 1048577)',
    'PM002 | content is 1048577 bytes long | Pass content of at most 1048576 bytes; split longer text.'),
  (4, '''x'', ''idea''', 'PM002 | unknown entry_type: ''idea'' | Valid: fact, preference, pattern, note.'),
  (5, '''x'', null', 'PM002 | unknown entry_type: NULL | Valid: fact, preference, pattern, note.'),
  (6, '''x'', source => ''nobody''',
    'PM002 | unknown source: ''nobody'' | Valid: user, system, tool, interaction, import, derived.'),
  (7, '''x'', confidence => 1.01', 'PM002 | confidence is 1.01 | Pass confidence between 0 and 1.'),
  (8, '''x'', importance => ''NaN''', 'PM002 | importance is NaN | Pass importance between 0 and 10.'),
  (9, '''x'', importance => null', 'PM002 | importance is NULL | Pass importance between 0 and 10.'),
  (10, '''x'', related => ''{mem-2026-01-01-999}''',
    'PM001 | no entry has id mem-2026-01-01-999 | Find ids with memory.query.'),
  (11, '''x'', related => ''{tea}''',
    'PM002 | not the id of an entry: ''tea'' | Pass an id such as mem-2026-03-01-001, or the uuid of the entry.'),
  (12, '''x'', related => array[null]',
    'PM002 | not the id of an entry: NULL | Pass an id such as mem-2026-03-01-001, or the uuid of the entry.'),
  (13, '''x'', related => array_fill(''x''::text, ''{1001}'')', 'PM002 | 1001 related entries | Pass at most 1000 ids.'),
  (14, '''x'', expires_at => ''2026-01-01Z'', as_of => ''2026-01-01Z''',
    format('PM002 | expires_at lies in the past: %s | Pass a time after %s, or none.', '2026-01-01Z'::timestamptz,
      '2026-01-01Z'::timestamptz)),
  (15, '''x'', expires_at => ''infinity''', 'PM002 | expires_at is infinity | Pass expires_at as a finite timestamp.'),
  (16, '''x'', category => ''''', 'PM002 | category is empty | Pass category with at least one visible character.'),
  (17, '''x'', user_id => repeat(''x'', 129)',
    'PM002 | user_id is 129 bytes long | Pass user_id of at most 128 bytes; split longer text.'),
  (18, '''x'', as_of => ''infinity''', 'PM002 | as_of is infinity | Pass as_of as a finite timestamp.')
) as r (position, arguments, error)
order by r.position;
select is(
  left(memory_test.error_of('select memory.create_entry(''x'', ' || r.argument || ')'), 5), 'PM002',
  format('create_entry(%s) is refused', r.argument)
)
from unnest(array[
  'tags => ''{}''', 'tags => ''[1]''', 'tags => null', 'keywords => ''"x"''', 'scope => ''*''', 'scope => ''''',
  'metadata => ''[]''', 'metadata => null', 'idempotency_key => ''''', 'persona_id => ''''', 'session_id => '' ''',
  'as_of => now() + interval ''2 days''', 'embedding => ''[1]'''
]) with ordinality as r (argument, position)
order by r.position;
insert into memory.entry_policies (tenant_id, scope, policy) values ('a', 'private', 'billy'), ('b', '*', 'billy');
select is(
  memory_test.error_of($$ select memory.create_entry('x', scope => ' private ') $$),
  'PM008 | entries of scope ''private'' are written on explicit request only'
  ' | Call memory.write_memory, which checks and traces the write.',
  'a scope of policy billy refuses create_entry'
);
select memory_test.as_tenant('b') \g /dev/null
select throws_ok(
  $$ select memory.create_entry('x') $$, 'PM008', null, 'the policy of a tenant holds for all its scopes'
);
insert into memory.entry_policies (tenant_id, scope, policy) values ('b', 'global', 'meridian');
select lives_ok($$ select memory.create_entry('x') $$, 'the policy of a scope comes before that of the tenant');
delete from memory.entry_policies as p where p.tenant_id = 'b';
select results_eq(
  $$ select e.event_type, e.payload -> 'new' ->> 'policy' from memory.memory_events as e
     where e.tenant_id = 'b' and e.event_type like 'entry_policy%' order by e.seq $$,
  $$ values
     ('entry_policy_created', 'billy'), ('entry_policy_created', 'meridian'), ('entry_policy_deleted', null),
     ('entry_policy_deleted', null) $$,
  'each change of a policy is audited'
);
select memory_test.as_tenant('a') \g /dev/null

-- Updates

select c.id as tea, c.entry_id as tea_id
from memory.create_entry(
  E'# Tea\n\nBlack', 'preference', '["drinks"]', 0.8, category => 'food', keywords => '["brew"]',
  expires_at => '2027-01-01Z', metadata => '{"n": 1}', as_of => '2026-05-01Z'
) as c \gset
select results_eq(
  format(
    $$ select u.id, u.current_id, u.title, u.stored_confidence, u.version, u.content_changed
       from memory.update_entry(%L, E'# Green tea\n\nNo sugar', as_of => '2026-05-02Z') as u $$, :'tea_id'
  ),
  format($$ values (%L::uuid, %L, 'Green tea', 0.8::float8, 2, true) $$, :'tea', :'tea_id'),
  'update_entry returns the entry as it is now'
);
select results_eq(
  format(
    $$ select e.entry_type, e.tags, e.category, e.keywords, e.expires_at, e.metadata, e.created_at, e.edited_at, e.updated_at
       from memory.entries as e where e.id = %L $$, :'tea'
  ),
  $$ values (
       'preference', '["drinks"]'::jsonb, 'food', '["brew"]'::jsonb, '2027-01-01Z'::timestamptz, '{"n": 1}'::jsonb,
       '2026-05-01Z'::timestamptz, '2026-05-02Z'::timestamptz, '2026-05-02Z'::timestamptz
     ) $$,
  'an update keeps what it does not name'
);
select results_eq(
  format(
    $$ select u.version, u.content_changed from memory.update_entry(
         %L, entry_type => 'fact', tags => '["hot", "hot "]', confidence => 0.9, category => '', keywords => '[]',
         importance => 7, expires_at => 'infinity', metadata => '{}', expected_version => 2, as_of => '2026-05-03Z'
       ) as u $$, :'tea'
  ),
  $$ values (3, false) $$, 'an update of the version that the caller has read succeeds'
);
select results_eq(
  format(
    $$ select e.entry_type, e.tags, e.confidence, e.category, e.keywords, e.importance, e.expires_at, e.metadata
       from memory.entries as e where e.id = %L $$, :'tea'
  ),
  $$ values (
       'fact', '["hot"]'::jsonb, 0.9::float8, null::text, '[]'::jsonb, 7::float8, null::timestamptz, '{}'::jsonb
     ) $$,
  'an update replaces tags, keywords and metadata whole and clears category and expiry'
);
select is(
  memory_test.error_of(format($$ select memory.update_entry(%L, 'x', expected_version => 2) $$, :'tea_id')),
  format('PM004 | entry %s has version 3, not 2', :'tea_id')
    || ' | It was changed since you read it: read version 3, and repeat your change on that.',
  'an update of an older version is refused'
);
select results_eq(
  format(
    $$ select r.known_from, r.image ->> 'title', (r.image ->> 'version')::integer, r.problem
       from memory.replay_memory('entry', %L) as r order by r.position $$, :'tea'
  ),
  $$ values
     ('2026-05-01Z'::timestamptz, 'Tea', 1, null::text), ('2026-05-02Z', 'Green tea', 2, null),
     ('2026-05-03Z', 'Green tea', 3, null) $$,
  'the history keeps each version with its time'
);
select md5(e::text) as before from memory.entries as e where e.id = :'tea' \gset
select count(*) as events_before from memory.memory_events \gset
select is(
  (select u.version || ' ' || u.content_changed from memory.update_entry(:'tea', as_of => '2026-05-04Z') as u), '3 false',
  'an update of nothing makes no version'
);
select is(
  (
    select u.version || ' ' || u.content_changed
    from memory.update_entry(
      :'tea', E'# Green tea\n\nNo sugar', 'fact', '["hot"]', 0.9, '{}', '', '[]', 7, 'infinity', '{}', as_of => '2026-05-04Z'
    ) as u
  ),
  '3 false', 'an update to what is there already makes no version'
);
select is(
  (select md5(e::text) from memory.entries as e where e.id = :'tea') || (select count(*) from memory.memory_events),
  :'before' || :'events_before', 'an update that changes nothing leaves no trace'
);
select is(
  memory_test.error_of(format('select memory.update_entry(%L, %s)', :'tea_id', r.arguments)), r.error,
  format('update_entry(id, %s) is refused', r.arguments)
)
from (values
  (1, '''''', 'PM002 | content is empty | Pass content with at least one visible character.'),
  (2, 'entry_type => ''idea''', 'PM002 | unknown entry_type: ''idea'' | Valid: fact, preference, pattern, note.'),
  (3, 'confidence => -0.1', 'PM002 | confidence is -0.1 | Pass confidence between 0 and 1.'),
  (4, 'importance => 11', 'PM002 | importance is 11 | Pass importance between 0 and 10.'),
  (5, format('related => array[%L]', :'tea_id'),
    'PM002 | an entry cannot be related to itself | Leave its own id out of related.'),
  (6, 'related => ''{mem-2026-01-01-999}''', 'PM001 | no entry has id mem-2026-01-01-999 | Find ids with memory.query.'),
  (7, 'category => '' ''', 'PM002 | category is empty | Pass category with at least one visible character.'),
  (8, 'expires_at => ''-infinity''', 'PM002 | expires_at is -infinity | Pass expires_at as a finite timestamp.'),
  (9, 'expires_at => ''2026-05-04Z'', as_of => ''2026-05-04Z''',
    format('PM002 | expires_at lies in the past: %s | Pass a time after %s, or none.', '2026-05-04Z'::timestamptz,
      '2026-05-04Z'::timestamptz)),
  (10, 'as_of => null', 'PM002 | as_of is NULL | Pass as_of as a finite timestamp.'),
  (11, '''x'', as_of => ''2026-04-30Z''',
    format('PM002 | as_of lies before entry <id> was created: %s | Pass %s or later.', '2026-04-30Z'::timestamptz,
      '2026-05-01Z'::timestamptz))
) as r (position, arguments, error)
order by r.position;
select is(
  memory_test.error_of($$ select memory.update_entry('mem-2026-01-01-999', 'x') $$),
  'PM001 | no entry has id mem-2026-01-01-999 | Find ids with memory.query.', 'an unknown entry cannot be updated'
);

-- Vectors

select memory.register_embedding_version('model', '1') as embedding_version \gset
create function memory_test.is_queued(entry_id text)
  returns text
  language sql
  return (
    select case when e.embedding is null then 'no vector' else 'vector' end
      || case when q.memory_id is null then '' else ', queued' end
    from memory.entries as e
    left join memory.embedding_queue as q on q.tenant_id = e.tenant_id and q.memory_type = 'entry' and q.memory_id = e.id
    where e.tenant_id = 'a' and e.entry_id = is_queued.entry_id
  );
select c.entry_id as embedded
from memory.create_entry('A dog', embedding => memory_test.axis(1), as_of => '2026-05-05Z') as c \gset
select is(memory_test.is_queued(:'embedded'), 'vector', 'an entry can be created with its vector');
select is(memory_test.is_queued(:'tea_id'), 'no vector, queued', 'an entry without a vector waits for it');
select memory.update_entry(:'embedded', tags => '["pet"]', as_of => '2026-05-06Z') \g /dev/null
select is(memory_test.is_queued(:'embedded'), 'vector', 'an update of other columns keeps the vector');
select memory.update_entry(:'embedded', 'A cat', as_of => '2026-05-07Z') \g /dev/null
select is(memory_test.is_queued(:'embedded'), 'no vector, queued', 'an update of the content asks for a new vector');
select memory.update_entry(:'embedded', 'A bird', embedding => memory_test.axis(2), as_of => '2026-05-08Z') \g /dev/null
select is(memory_test.is_queued(:'embedded'), 'vector', 'an update of the content can bring its vector');
select memory.update_entry(:'embedded', 'Bird a', embedding => memory_test.axis(2), as_of => '2026-05-09Z') \g /dev/null
select is(
  memory_test.is_queued(:'embedded'), 'no vector, queued', 'the vector of the old content is not taken for that of the new one'
);
select is(
  array[
    memory.set_embedding('entry', memory.get_entry_uuid(:'embedded'), memory_test.axis(1), text_md5 => md5('A bird')),
    memory.set_embedding('entry', memory.get_entry_uuid(:'embedded'), memory_test.axis(1), text_md5 => md5('Bird a'))
  ],
  '{f,t}', 'the vector of a text that was edited meanwhile is refused'
);
select is(memory_test.is_queued(:'embedded'), 'vector', 'the vector of the current text is stored');

-- Deletion

select is(memory.delete_entry(:'tea_id', as_of => '2026-06-01Z'), true, 'an entry can be deleted');
select is(
  (memory_test.entry(:'tea_id')).lifecycle_state || ' ' || (memory_test.entry(:'tea_id')).deleted_at,
  'retracted ' || '2026-06-01Z'::timestamptz, 'a deleted entry is marked'
);
select is(memory.delete_entry('mem-2026-01-01-999'), false, 'deleting an unknown entry returns false');
select is(memory.delete_entry(:'tea_id', as_of => '2026-06-02Z'), true, 'an entry can be deleted again');
select is((memory_test.entry(:'tea_id')).deleted_at, '2026-06-01Z', 'deleting again does not change when it was deleted');
select throws_ok(
  format($$ select %s $$, r.call), 'PM003', format('entry %s is deleted', :'tea_id'),
  format('a deleted entry refuses %s', r.name)
)
from (values
  (1, 'an update', format('memory.update_entry(%L, ''x'')', :'tea_id')),
  (2, 'a rating', format('memory.rate_entry(%L, ''used'')', :'tea_id')),
  (3, 'being archived', format('memory.archive_entry(%L)', :'tea_id'))
) as r (position, name, call)
order by r.position;
select throws_ok(
  format($$ select memory.restore_memory('entry', %L, '2026-07-01Z') $$, :'tea'), 'PM003',
  format('entry %s was deleted more than 30 days ago', :'tea_id'), 'after 30 days a deleted entry cannot be restored'
);
select is(
  memory.restore_memory('entry', :'tea', '2026-06-30T23:59:59Z'), true, 'within 30 days a deleted entry can be restored'
);
select is((memory_test.entry(:'tea_id')).lifecycle_state, 'active', 'a restored entry is active');
select is(
  memory_test.events_of(:'tea'),
  '{entry_created,entry_updated,entry_updated,entry_deleted,entry_restored}', 'deletion and restoration are audited'
);
select memory.archive_entry(:'tea_id', '2026-07-01Z') \g /dev/null
select is(memory.forget_memory('entry', :'tea', '2026-07-02Z'), true, 'forget_memory deletes an entry');
select is(memory.restore_memory('entry', :'tea', '2026-07-03Z'), true, 'an archived entry that was deleted can be restored');
select is((memory_test.entry(:'tea_id')).lifecycle_state, 'archived', 'an archived entry is restored as archived');
select memory.delete_entry(:'tea_id', as_of => '2026-07-04Z') \g /dev/null
select is(
  (select u.changed from memory.run_entry_upkeep(as_of => '2026-08-02T23:59Z') as u where u.task = 'purged'), 0::bigint,
  'upkeep keeps what was deleted within 30 days'
);
select is(
  (select u.changed from memory.run_entry_upkeep(as_of => '2026-08-03Z') as u where u.task = 'purged'), 1::bigint,
  'upkeep deletes for good what was deleted 30 days ago'
);
select is_empty(
  format(
    $$ select e.id from memory.entries as e where e.id = %1$L
       union all select h.memory_id from memory.memory_history as h where h.memory_id = %1$L $$, :'tea'
  ),
  'what is deleted for good leaves no history'
);
select is(
  (select e.event_type from memory.memory_events as e where e.memory_id = :'tea' order by e.seq desc limit 1), 'entry_purged',
  'the final deletion is audited'
);
select memory.update_entry(:'four', related => array[:'one'], as_of => '2026-08-03Z') \g /dev/null
select memory.get_entry_uuid(:'one') as one_uuid \gset
select is(memory.delete_entry(:'one', permanent => true), true, 'an entry can be deleted for good at once');
select is(memory.get_entry(:'one'), null, 'what is deleted for good is unknown');
select results_eq(
  format($$ select l.target_id, l.target_state from memory.get_links('entry', %L) as l $$, memory.get_entry_uuid(:'four')),
  format($$ values (%L::uuid, 'expired') $$, :'one_uuid'), 'a link to an entry that is deleted for good shows it as expired'
);
select is(
  memory.restore_memory('entry', :'one_uuid'), false, 'an entry that is deleted for good cannot be restored'
);

-- The archive

select memory_test.an_entry('Kept', '2026-01-01Z') as kept \gset
select is(memory.archive_entry(:'kept', '2026-01-02Z'), true, 'an entry can be archived');
select is((memory_test.entry(:'kept')).lifecycle_state, 'archived', 'an archived entry says so');
select is(memory.archive_entry(:'kept', '2026-01-03Z'), true, 'an archived entry can be archived again');
select is((memory_test.entry(:'kept')).updated_at, '2026-01-02Z', 'archiving again changes nothing');
select is(memory.archive_entry('mem-2026-01-01-999'), false, 'archiving an unknown entry returns false');
select is(memory.get_entry(:'kept', '2026-01-03Z') ->> 'band', 'archived', 'the band of an archived entry is archived');
select memory.update_entry(:'kept', tags => '["x"]', as_of => '2026-01-04Z') \g /dev/null
select is((memory_test.entry(:'kept')).lifecycle_state, 'active', 'an update makes an archived entry active');
select memory.archive_entry(:'kept', '2026-01-05Z') \g /dev/null
select memory.rate_entry(:'kept', 'used', as_of => '2026-01-06Z') \g /dev/null
select is((memory_test.entry(:'kept')).lifecycle_state, 'archived', 'using an archived entry leaves it in the archive');
select memory.rate_entry(:'kept', 'confirmed', as_of => '2026-01-07Z') \g /dev/null
select is((memory_test.entry(:'kept')).lifecycle_state, 'active', 'confirming an archived entry makes it active');
select memory.archive_entry(:'kept', '2026-01-08Z') \g /dev/null
select memory.restore_memory('entry', memory.get_entry_uuid(:'kept'), '2026-01-09Z') \g /dev/null
select results_eq(
  format($$ select e.lifecycle_state, e.last_confirmed_at from memory.entries as e where e.entry_id = %L $$, :'kept'),
  $$ values ('active', '2026-01-09Z'::timestamptz) $$, 'restoring an archived entry makes it active, confirmed as of then'
);
select is(
  memory_test.events_of_entry(:'kept'),
  '{entry_created,entry_archived,entry_updated,entry_revived,entry_archived,entry_updated,entry_confirmed,entry_updated,'
  'entry_revived,entry_archived,entry_confirmed,entry_revived}',
  'archiving and reviving are audited'
);

-- Ratings

select is(
  (
    select memory.rate_entry(
      (select c.entry_id from memory.create_entry('x', confidence => r.before, as_of => '2026-02-01Z') as c), r.outcome,
      as_of => '2026-02-02Z'
    )
  ),
  r.after, format('%s changes a confidence of %s to %s', r.outcome, r.before, r.after)
)
from (values
  (1, 'used', 0.7::float8, 0.72::float8), (2, 'used', 0.99, 1.0), (3, 'confirmed', 0.7, 0.8), (4, 'confirmed', 0.95, 1.0),
  (9, 'used', 0.1234564, 0.143456), (5, 'contradicted', 0.7, 0.5), (6, 'contradicted', 0.1, 0.0), (7, 'outdated', 0.7, 0.4), (8, 'outdated', 0.0, 0.0)
) as r (position, outcome, before, after)
order by r.position;
select c.entry_id as rated from memory.create_entry('rated', confidence => 1, as_of => '2026-02-01Z') as c \gset
select memory.rate_entry(:'rated', 'used', as_of => '2026-02-03Z') \g /dev/null
select results_eq(
  format(
    $$ select e.confidence, e.reference_count, e.last_referenced_at, e.last_confirmed_at, e.updated_at, e.version
       from memory.entries as e where e.entry_id = %L $$, :'rated'
  ),
  $$ values (
       1.0::float8, 1, '2026-02-03Z'::timestamptz, '2026-02-01Z'::timestamptz, '2026-02-01Z'::timestamptz, 1
     ) $$,
  'using an entry that is certain only counts as a reference to it'
);
select memory.rate_entry(:'rated', 'confirmed', as_of => '2026-02-04Z') \g /dev/null
select memory.rate_entry(:'rated', 'confirmed', as_of => '2026-02-02Z') \g /dev/null
select is(
  (memory_test.entry(:'rated')).last_confirmed_at, '2026-02-04Z', 'a late confirmation moves no time backwards'
);
update memory.entries as e set flagged_at = '2026-02-05Z' where e.entry_id = :'rated';
select memory.rate_entry(:'rated', 'outdated', as_of => '2026-02-06Z') \g /dev/null
select is((memory_test.entry(:'rated')).flagged_at, '2026-02-05Z', 'an outdated entry still waits for review');
select memory.rate_entry(:'rated', 'confirmed', as_of => '2026-02-07Z') \g /dev/null
select is((memory_test.entry(:'rated')).flagged_at, null, 'a confirmed entry no longer waits for review');

select c.entry_id as newer
from memory.create_entry('newer', related => array[:'rated'], as_of => '2026-02-08Z') as c \gset
select is(
  memory.rate_entry(:'rated', 'conflicting', :'newer', '2026-02-08Z'), 0.65::float8,
  'a conflict with a newer entry lowers the confidence, even if that names it as related'
);
select is(
  memory.rate_entry(:'rated', 'conflicting', memory.get_entry_uuid(:'newer')::text, '2026-02-09Z'), 0.65::float8,
  'a conflict counts once'
);
select results_eq(
  format($$ select l.source_id, l.relation from memory.get_links('entry', %L) as l $$, memory.get_entry_uuid(:'rated')),
  format($$ values (%L::uuid, 'contradicts') $$, memory.get_entry_uuid(:'newer')),
  'the newer entry is linked as contradicting the older one'
);
select memory.rate_entry(:'rated', 'conflicting', :'kept', '2026-02-09Z') as by_another \gset
select is(:'by_another'::float8, 0.5::float8, 'a conflict with another entry counts too');
select c.entry_id as derived from memory.create_entry('derived', as_of => '2026-02-08Z') as c \gset
select memory.create_link(
  'entry', memory.get_entry_uuid(:'derived'), 'entry', memory.get_entry_uuid(:'rated'), 'derived_from'
) \g /dev/null
select is(
  memory_test.error_of(format('select memory.rate_entry(%s)', r.arguments)), r.error,
  format('rate_entry is refused: %s', r.name)
)
from (values
  (1, 'an entry that derives from it', format('%L, ''conflicting'', %L', :'rated', :'derived'),
    format(
      'PM004 | entry %s is linked as derived_from, and cannot conflict with %s | Rate it as contradicted or outdated.',
      :'derived', :'rated'
    )),
  (2, 'itself', format('%L, ''conflicting'', %L', :'rated', :'rated'),
    'PM002 | an entry cannot conflict with itself | Pass the id of another entry as by_entry.'),
  (3, 'a conflict with nothing', format('%L, ''conflicting''', :'rated'),
    'PM002 | outcome conflicting without by_entry'
    ' | by_entry names the newer entry that conflicts, and only with outcome conflicting.'),
  (4, 'another outcome with an entry', format('%L, ''used'', %L', :'rated', :'newer'),
    'PM002 | outcome used with by_entry'
    ' | by_entry names the newer entry that conflicts, and only with outcome conflicting.'),
  (5, 'an unknown outcome', format('%L, ''unused''', :'rated'),
    'PM002 | unknown outcome: ''unused'' | Valid: used, confirmed, contradicted, conflicting, outdated.'),
  (6, 'an unknown entry', '''mem-2026-01-01-999'', ''used''',
    'PM001 | no entry has id mem-2026-01-01-999 | Find ids with memory.query.'),
  (7, 'an unknown newer entry', format('%L, ''conflicting'', ''mem-2026-01-01-999''', :'rated'),
    'PM001 | no entry has id mem-2026-01-01-999 | Find ids with memory.query.'),
  (8, 'a time before its creation', format('%L, ''used'', as_of => ''2026-01-31Z''', :'rated'),
    format('PM002 | as_of lies before entry <id> was created: %s | Pass %s or later.', '2026-01-31Z'::timestamptz,
      '2026-02-01Z'::timestamptz))
) as r (position, name, arguments, error)
order by r.position;

-- Upkeep

select memory_test.as_tenant('c') \g /dev/null
create function memory_test.upkeep(period text, as_of timestamptz)
  returns text
  language sql
  return (
    select string_agg(u.task || ' ' || u.changed, ', ' order by u.task)
    from memory.run_entry_upkeep(period, as_of) as u
    where u.task not like 'size of %'
  );
create function memory_test.confidences()
  returns text
  language sql
  return (
    select string_agg(e.content || ' ' || e.confidence || ' ' || e.lifecycle_state, ', ' order by e.content)
    from memory.entries as e where e.tenant_id = 'c'
  );
select memory_test.an_entry('idle', '2026-01-01Z') as idle, memory_test.an_entry('used', '2026-01-01Z') as used \gset
select c.entry_id as ending
from memory.create_entry('ending', expires_at => '2026-01-20Z', as_of => '2026-01-01Z') as c \gset
select c.entry_id as faint from memory.create_entry('faint', confidence => 0.02, as_of => '2026-01-01Z') as c \gset
select memory.rate_entry(:'used', 'used', as_of => '2026-01-15Z') \g /dev/null
select is(
  memory_test.upkeep('daily', '2026-01-19Z'), 'expired 0, lowered confidence 0, purged 0', 'there may be nothing to do'
);
select is(
  memory_test.upkeep('daily', '2026-01-20Z'), 'expired 1, lowered confidence 0, purged 0', 'an entry expires in time'
);
select is(
  memory_test.error_of(format($$ select memory.update_entry(%L, 'x') $$, :'ending')),
  format('PM003 | entry %s is expired | Restore it first with memory.restore_memory.', :'ending'),
  'an expired entry cannot be updated'
);
select is(
  memory_test.upkeep('daily', '2026-01-31Z'), 'expired 0, lowered confidence 2, purged 0',
  'thirty days without access lower the confidence'
);
select is(
  memory_test.upkeep('daily', '2026-01-31Z'), 'expired 0, lowered confidence 0, purged 0', 'upkeep can run twice'
);
select is(
  memory_test.confidences(), 'ending 0.7 expired, faint 0 active, idle 0.65 active, used 0.72 active',
  'unused entries lose 0.05 and never go below 0'
);
select is(
  memory_test.upkeep('daily', '2026-02-19Z'), 'expired 0, lowered confidence 1, purged 1',
  'what expired thirty days ago is deleted for good'
);
select is(
  memory_test.upkeep('daily', '2026-04-01Z'), 'expired 0, lowered confidence 2, purged 0', 'a run that is late catches up'
);
select is(
  memory_test.confidences(), 'faint 0 active, idle 0.55 active, used 0.62 active',
  'each thirty days without access count'
);
select memory.get_entry(:'idle', '2026-04-15Z') \g /dev/null
select is(
  memory_test.upkeep('daily', '2026-05-02Z'), 'expired 0, lowered confidence 1, purged 0', 'reading an entry keeps it'
);
select is(
  memory_test.upkeep('monthly', '2026-03-31Z'), 'moved to another band 0, numbers of empty days removed 0',
  'below 90 days entries are active'
);
select is(
  memory_test.upkeep('monthly', '2026-04-01Z'), 'moved to another band 3, numbers of empty days removed 0',
  'from 90 days on entries are aging'
);
select is((select e.lifecycle_state from memory.entries as e where e.entry_id = :'idle' and e.tenant_id = 'c'), 'active',
  'an aging entry is found as before');
select memory.update_entry(:'used', 'used again', as_of => '2026-06-01Z') \g /dev/null
select is(
  memory_test.upkeep('monthly', '2026-06-30Z'), 'moved to another band 2, numbers of empty days removed 0',
  'from 180 days on entries are aged'
);
select memory.rate_entry(:'faint', 'confirmed', as_of => '2026-07-01Z') \g /dev/null
select is(
  memory_test.upkeep('monthly', '2026-11-01Z'), 'moved to another band 2, numbers of empty days removed 0',
  'an edit or a confirmation begins the bands anew'
);
select is(
  (select string_agg(e.content || ' ' || e.retention, ', ' order by e.content) from memory.entries as e where e.tenant_id = 'c'),
  'faint aging, idle aged, used again aging', 'each entry has the band of its age'
);
select is(
  memory.get_entry(:'idle', '2026-11-02Z') ->> 'band', 'aged', 'get_entry tells the band of the age'
);
select is(
  (select memory.band_of_entry(e.retention, e.edited_at, e.last_confirmed_at, '2027-01-01Z') from memory.entries as e
   where e.entry_id = :'idle' and e.tenant_id = 'c'),
  'archived', 'from 365 days on entries are archived'
);
select memory.delete_entry(:'idle', true) \g /dev/null
select memory.delete_entry(:'used', true) \g /dev/null
select memory.delete_entry(:'faint', true) \g /dev/null
select is(
  memory_test.upkeep('monthly', '2026-11-02Z'), 'moved to another band 0, numbers of empty days removed 1',
  'the numbers of a day without entries are forgotten after two months'
);
select memory_test.an_entry('queue', '2026-11-01Z') \g /dev/null
delete from memory.embedding_queue as q where q.tenant_id = 'c';
select is(
  (select u.changed from memory.run_entry_upkeep('weekly') as u where u.task = 'queued for a vector'), 1::bigint,
  'weekly upkeep queues what lacks a vector'
);
select is(
  (select u.changed from memory.run_entry_upkeep('weekly') as u where u.task = 'queued for a vector'), 0::bigint,
  'weekly upkeep queues nothing twice'
);
select is(
  memory_test.error_of($$ select memory.run_entry_upkeep('hourly') $$),
  'PM002 | unknown period: ''hourly'' | Valid: daily, weekly, monthly.', 'an unknown period is refused'
);

-- Search

select memory_test.as_tenant('d') \g /dev/null
select memory.store_fact('Ada', 'drinks', 'oolong', as_of => '2026-01-01Z') \g /dev/null
select c.id as oolong, c.entry_id as oolong_id
from memory.create_entry('# Oolong in the morning', tags => '["ritual"]', source => 'user', as_of => '2026-01-01Z') as c \gset
create function memory_test.found(types text[], query text default 'oolong', as_of timestamptz default '2026-01-02Z')
  returns text[]
  language sql
  return array(select s.content from memory.search(query, types => types, as_of => as_of) as s order by 1);
select is(memory_test.found(null), '{oolong}', 'a search that names no types leaves entries out');
select is(memory_test.found('{entry}'), '{"# Oolong in the morning"}', 'a search that asks for entries finds them');
select is(
  memory_test.found('{fact,entry}'), '{"# Oolong in the morning",oolong}', 'a search can ask for entries beside other types'
);
select is(memory_test.found('{entry}', 'ritual'), '{"# Oolong in the morning"}', 'an entry is found by its tags');
select is(
  array(select m.memory_type from memory.recall('oolong', as_of => '2026-01-02Z') as m), '{fact}',
  'recall leaves entries out unless it is asked for them'
);
select is(
  array(select m.memory_type from memory.recall('oolong', types => '{entry}', as_of => '2026-01-02Z') as m), '{entry}',
  'recall returns entries on request'
);
select is(
  (select e.reference_count from memory.entries as e where e.id = :'oolong'), 1, 'recall counts as a reference to an entry'
);
select is(
  array[
    memory.context('oolong', 'home', as_of => '2026-01-02Z') ~ '## Notes',
    memory.context('oolong', 'home', include_entries => true, as_of => '2026-01-02Z')
      ~ '## Notes\n- \\# Oolong in the morning \(confidence: 0.95\)'
  ],
  '{f,t}', 'the context has entries on request'
);
select memory.configure('{"context_entries": true}') \g /dev/null
select is(
  array[
    memory.context('oolong', 'home', as_of => '2026-01-02Z') ~ 'Oolong in the morning',
    memory.context('oolong', 'home', include_entries => false, as_of => '2026-01-02Z') ~ 'Oolong in the morning'
  ],
  '{t,f}', 'a setting lets every context have entries'
);
select results_eq(
  $$ select o.content, o.scope, o.lifecycle_state, o.confidence, o.effective_confidence, o.reference_count
     from memory.memory_overview as o where o.memory_type = 'entry' and o.content ~ 'Oolong' $$,
  $$ values ('# Oolong in the morning', 'global', 'active', 0.95::float8, 0.95::float8, 1) $$,
  'the overview shows an entry'
);
select memory.update_entry(:'oolong', '# Green tea in the morning', as_of => '2026-02-01Z') \g /dev/null
select is(memory_test.found('{entry}', 'oolong', '2026-02-02Z'), '{}', 'an edited entry is not found by what it said');
select is(
  array(
    select m.content
    from memory.recall('oolong', types => '{entry}', known_at => '2026-01-15Z', as_of => '2026-03-01Z') as m
  ),
  '{"# Oolong in the morning"}', 'the past knows what an entry said'
);
select is(
  array(
    select m.content
    from memory.recall('green', types => '{entry}', known_at => '2026-02-15Z', as_of => '2026-03-01Z') as m
  ),
  '{"# Green tea in the morning"}', 'the past knows what an entry says since its edit'
);
select is(
  array(
    select m.content
    from memory.recall('oolong', types => '{entry}', known_at => '2026-02-15Z', as_of => '2026-03-01Z') as m
  ),
  '{}', 'the past does not confuse the two'
);
select memory.archive_entry(:'oolong', '2026-02-10Z') \g /dev/null
select is(memory_test.found('{entry}', 'green', '2026-02-11Z'), '{}', 'an archived entry is not found');
select memory.rate_entry(:'oolong', 'confirmed', as_of => '2026-02-12Z') \g /dev/null
select memory.update_entry(:'oolong', expires_at => '2026-02-20Z', as_of => '2026-02-12Z') \g /dev/null
select is(
  array[
    cardinality(memory_test.found('{entry}', 'green', '2026-02-19T23:59Z')),
    cardinality(memory_test.found('{entry}', 'green', '2026-02-20Z'))
  ],
  '{1,0}', 'an entry is found until it expires'
);
select memory.update_entry(:'oolong', expires_at => 'infinity', as_of => '2026-02-13Z') \g /dev/null
select memory.delete_entry(:'oolong_id', as_of => '2026-02-21Z') \g /dev/null
select is(memory_test.found('{entry}', 'green', '2026-02-22Z'), '{}', 'a deleted entry is not found');
select is(
  (select c.documents from unnest(memory.corpus_sizes('{entry}')) as c), 0::bigint, 'a deleted entry leaves the corpus'
);

-- Other tenants

select memory_test.as_tenant('a') \g /dev/null
select is(
  array[
    memory.get_entry(:'oolong')::text, memory.get_entry_uuid(:'oolong')::text, memory.delete_entry(:'oolong')::text,
    memory.archive_entry(:'oolong')::text
  ],
  '{null,null,false,false}', 'the entry of another tenant is unknown'
);
select is(
  array[
    memory_test.error_of(format($$ select memory.update_entry(%L, 'x') $$, :'oolong')),
    memory_test.error_of(format($$ select memory.rate_entry(%L, 'used') $$, :'oolong')),
    memory_test.error_of(format($$ select memory.create_entry('x', related => array[%L]) $$, :'oolong'))
  ],
  array_fill('PM001 | no entry has id <id> | Find ids with memory.query.'::text, '{3}'),
  'the entry of another tenant is refused as unknown'
);

-- Guarded entries

insert into memory.entries (tenant_id, entry_id, content, policy, user_id, created_at)
values ('a', 'mem-2026-01-01-900', 'Ada likes oolong', 'billy', 'Ada', '2026-01-01Z');
select memory.get_entry_uuid('mem-2026-01-01-900') as guarded \gset
select is(
  memory_test.error_of(format('select memory.%s', replace(r.call, '%', quote_literal(:'guarded')))), r.error,
  format('a guarded entry refuses %s', r.call)
)
from (values
  (1, 'update_entry(%, tags => ''["x"]'')',
    'PM008 | entry mem-2026-01-01-900 is guarded: it is never changed'
    ' | Write another entry with memory.write_memory, and delete this one.'),
  (2, 'rate_entry(%, ''used'')',
    'PM008 | entry mem-2026-01-01-900 is guarded: it is never changed'
    ' | Write another entry with memory.write_memory, and delete this one.'),
  (3, 'archive_entry(%)',
    'PM008 | entry mem-2026-01-01-900 is guarded: it is never changed'
    ' | Write another entry with memory.write_memory, and delete this one.'),
  (4, 'get_entry(%)',
    'PM008 | entry <id> is guarded | Read it with memory.query_memory, in the scope that it belongs to.')
) as r (position, call, error)
order by r.position;
select throws_ok(
  $$ update memory.entries as e set policy = 'meridian' where e.entry_id = 'mem-2026-01-01-900' $$, 'PM006', null,
  'the policy of an entry never changes'
);
select throws_ok(
  format($$ update memory.entries as e set %s where e.entry_id = 'mem-2026-01-01-900' $$, c.change), 'PM008', null,
  format('the owner cannot set %s of a guarded entry', c.change)
)
from unnest(array['content = ''x''', 'confidence = 0.1', 'importance = 1', 'user_id = ''Bob''', 'tags = ''["x"]'''])
  with ordinality as c (change, position)
order by c.position;
update memory.entries as e set reference_count = 7, last_referenced_at = now() where e.entry_id = 'mem-2026-01-01-900';
select is((memory_test.entry('mem-2026-01-01-900')).reference_count, 0, 'references to a guarded entry are not counted');
select is(
  array(select s.content from memory.search('oolong', types => '{entry}', as_of => '2026-01-02Z') as s), '{}',
  'no search finds a guarded entry'
);

-- All of it

select is_empty(
  $$ select e.entry_id, r.problem from memory.entries as e
     cross join lateral memory.replay_memory('entry', e.id) as r
     where e.tenant_id = 'a' and r.problem is not null $$,
  'states, events and rows agree'
);
select memory.seal_events() \g /dev/null
select is_empty($$ select * from memory.verify_chain() $$, 'the audit stream is intact');
select is_empty(
  $$ select e.event_type, e.payload from memory.memory_events as e
     where e.memory_type = 'entry' and e.payload::text ~* 'tea|oolong|chess' $$,
  'no event holds what an entry says'
);

select * from finish();
rollback;
