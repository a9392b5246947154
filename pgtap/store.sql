begin;
\ir fixtures.sql
select plan(79);

-- store_episode

select memory.store_episode(
  'Met Ada at the station', 'home', '00000000-0000-0000-0000-0000000000aa', 7, '{"mood": "good"}',
  created_at => '2026-01-01Z', as_of => '2026-01-02Z'
) as episode_id \gset

select results_eq(
  format(
    $$ select e.tenant_id, e.butler, e.session_id::text, e.content, e.importance, e.metadata,
         e.created_at, e.expires_at
       from memory.episodes as e where e.id = %L $$,
    :'episode_id'
  ),
  $$ values (
    'a', 'home', '00000000-0000-0000-0000-0000000000aa', 'Met Ada at the station', 7::float8,
    '{"mood": "good"}'::jsonb, '2026-01-01Z'::timestamptz, '2026-01-09Z'::timestamptz
  ) $$,
  'an episode keeps its values and expires seven days after it is stored'
);
select memory.store_episode('Plain', 'home', as_of => '2026-01-02Z') as plain_id \gset
select results_eq(
  format(
    $$ select e.importance, e.reference_count, e.consolidated, e.consolidation_status::text,
         e.retry_count, e.last_error, e.metadata, e.created_at, e.last_referenced_at,
         e.lifecycle_state
       from memory.episodes as e where e.id = %L $$,
    :'plain_id'
  ),
  $$ values (
    5.0::float8, 0, false, 'pending', 0, null::text, '{}'::jsonb, '2026-01-02Z'::timestamptz,
    null::timestamptz, 'pending'
  ) $$,
  'an episode has the documented defaults'
);
select isnt(
  memory.store_episode('Plain', 'home'), memory.store_episode('Plain', 'home'),
  'the same text stored twice creates two episodes'
);
select is(
  memory.store_episode('Once', 'home', idempotency_key => 'k1'),
  memory.store_episode('Once', 'home', idempotency_key => 'k1'),
  'the same idempotency key returns the first episode'
);
select is(
  (select count(*) from memory.episodes as e where e.idempotency_key = 'k1'), 1::bigint,
  'the same idempotency key stores no second episode'
);
select throws_ok(
  $$ select memory.store_episode('Something else', 'home', idempotency_key => 'k1') $$,
  'PM004', null, 'an idempotency key cannot be used for another text'
);
select throws_ok(
  $$ select memory.store_episode('Once', 'work', idempotency_key => 'k1') $$,
  'PM004', null, 'an idempotency key cannot be used by another butler'
);
select throws_ok(
  $$ select memory.store_episode(' ', 'home') $$, 'PM002', null, 'an episode without text is refused'
);
select throws_ok(
  $$ select memory.store_episode(null, 'home') $$, 'PM002', null, 'an episode with a NULL text is refused'
);
select throws_ok(
  $$ select memory.store_episode(repeat('x', 1048577), 'home') $$, 'PM002', null,
  'an episode longer than 1 MiB is refused'
);
select lives_ok(
  $$ select memory.store_episode(repeat('x', 1048576), 'home') $$, 'an episode of 1 MiB is stored'
);
select lives_ok(
  $$ select memory.store_episode(string_agg(md5(i::text), ' '), 'home') from generate_series(1, 31000) as i $$,
  'a megabyte of different words is stored'
);
select lives_ok(
  $$ select memory.store_episode(string_agg(md5(i::text), '-'), 'home') from generate_series(1, 31000) as i $$,
  'a megabyte of one hyphenated word is stored'
);
select lives_ok(
  $$ select memory.store_episode(string_agg('https://' || md5(i::text) || '.example/a/b?c=d', ' '), 'home')
     from generate_series(1, 18000) as i $$,
  'a megabyte of addresses is stored'
);
select memory.store_episode(U&'\+01F600 \0645\0631\062D\0628\0627 \05E9\05DC\05D5\05DD', 'home') as unicode_id \gset
select is(
  (select e.content from memory.episodes as e where e.id = :'unicode_id'),
  U&'\+01F600 \0645\0631\062D\0628\0627 \05E9\05DC\05D5\05DD',
  'emoji and right-to-left text are stored unchanged'
);
select throws_ok(
  $$ select memory.store_episode('x', '') $$, 'PM002', null, 'an episode without a butler is refused'
);
select throws_ok(
  $$ select memory.store_episode('x', repeat('b', 129)) $$, 'PM002', null,
  'a butler longer than 128 bytes is refused'
);
select throws_ok(
  $$ select memory.store_episode('x', 'home', importance => 10.5) $$, 'PM002', null,
  'an importance above 10 is refused'
);
select throws_ok(
  $$ select memory.store_episode('x', 'home', importance => 'NaN') $$, 'PM002', null,
  'an importance of NaN is refused'
);
select throws_ok(
  $$ select memory.store_episode('x', 'home', importance => 'Infinity') $$, 'PM002', null,
  'an infinite importance is refused'
);
select throws_ok(
  $$ select memory.store_episode('x', 'home', metadata => '[]') $$, 'PM002', null,
  'metadata that is not an object is refused'
);
select throws_ok(
  $$ select memory.store_episode('x', 'home', metadata => jsonb_build_object('k', repeat('v', 65536))) $$,
  'PM002', null, 'metadata larger than 64 KiB is refused'
);
select throws_ok(
  $$ select memory.store_episode('x', 'home', as_of => now() + interval '2 days') $$, 'PM002', null,
  'an episode cannot be stored in the future'
);
select throws_ok(
  $$ select memory.store_episode('x', 'home', created_at => '9999-01-01Z') $$, 'PM002', null,
  'an episode cannot have happened in the far future'
);
select throws_ok(
  $$ select memory.store_episode('x', 'home', created_at => '-infinity') $$, 'PM002', null,
  'an episode cannot have happened at an infinite time'
);
select throws_ok(
  $$ select memory.store_episode('x', 'home', idempotency_key => '') $$, 'PM002', null,
  'an empty idempotency key is refused'
);
select is(
  memory_test.events_of(:'plain_id'), '{episode_created}', 'storing an episode writes an event'
);

-- store_fact

select memory.store_fact('user', 'favorite_color', 'green', as_of => '2026-01-01Z') as green_id \gset
select results_eq(
  format(
    $$ select f.tenant_id, f.subject, f.predicate, f.content, f.importance, f.confidence, f.decay_rate,
         f.permanence, f.validity, f.scope, f.reference_count, f.tags, f.metadata, f.created_at,
         f.last_confirmed_at, f.supersedes_id, f.lifecycle_state
       from memory.facts as f where f.id = %L $$,
    :'green_id'
  ),
  $$ values (
    'a', 'user', 'favorite_color', 'green', 5.0::float8, 1.0::float8, 0.008::float8, 'standard',
    'active', 'global', 0, '[]'::jsonb, '{}'::jsonb, '2026-01-01Z'::timestamptz,
    '2026-01-01Z'::timestamptz, null::uuid, 'active'
  ) $$,
  'a fact has the documented defaults and is confirmed when it is stored'
);
select memory.store_fact('user', 'favorite_color', 'blue', as_of => '2026-02-01Z') as blue_id \gset
select is(
  (select f.validity from memory.facts as f where f.id = :'green_id'), 'superseded',
  'a fact of the same key supersedes the active one'
);
select is(
  (select f.supersedes_id from memory.facts as f where f.id = :'blue_id'), :'green_id'::uuid,
  'a fact names the fact that it supersedes'
);
select results_eq(
  format($$ select l.target_id::text, l.relation from memory.get_links('fact', %L, 'outgoing') as l $$, :'blue_id'),
  format($$ values (%L, 'supersedes') $$, :'green_id'),
  'a fact is linked to the fact that it supersedes'
);
select is(
  memory_test.events_of(:'green_id'), '{fact_created,fact_superseded}',
  'a superseded fact has an event'
);
select is(
  memory_test.events_of(:'blue_id'), '{fact_created,link_created}',
  'a superseding fact has an event'
);
select memory.store_fact('user', 'favorite_color', 'red', scope => 'work') as red_id \gset
select results_eq(
  $$ select f.scope, f.content from memory.facts as f
     where f.subject = 'user' and f.predicate = 'favorite_color' and f.validity = 'active' order by 1 $$,
  $$ values ('global', 'blue'), ('work', 'red') $$,
  'a fact in another scope supersedes nothing'
);
select memory.store_fact('user', 'favourite_number', '7') as seven_id \gset
select is(
  (select count(*) from memory.facts as f where f.subject = 'user' and f.validity = 'active'), 3::bigint,
  'a fact with another predicate supersedes nothing'
);
select memory.store_fact(E' user\t', E'liked\n_color', 'x') as odd_id \gset
select is(
  (select f.subject || '/' || f.predicate from memory.facts as f where f.id = :'odd_id'),
  'user/liked _color',
  'whitespace in subject and predicate is collapsed'
);
select memory.forget_memory('fact', :'seven_id');
select memory.store_fact('user', 'favourite_number', '8') as eight_id \gset
select is(
  (select coalesce(f.supersedes_id::text, 'nothing') from memory.facts as f where f.id = :'eight_id'),
  'nothing', 'a retracted fact is not superseded'
);
update memory.facts as f set metadata = '{"status": "fading"}' where f.id = :'red_id';
select memory.store_fact('user', 'favorite_color', 'black', scope => 'work') as black_id \gset
select is(
  (select f.validity || ' ' || f.metadata::text from memory.facts as f where f.id = :'red_id'),
  'superseded {}', 'a fading fact is superseded and loses its mark'
);
select memory.store_fact('lasting', p, 'x', permanence => p)
from unnest('{permanent,stable,standard,volatile,ephemeral}'::text[]) as p \g /dev/null
select results_eq(
  $$ select f.permanence, f.decay_rate from memory.facts as f where f.subject = 'lasting' order by f.decay_rate $$,
  $$ values ('permanent', 0.0::float8), ('stable', 0.002), ('standard', 0.008), ('volatile', 0.03), ('ephemeral', 0.1) $$,
  'the permanence sets the decay rate'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', permanence => 'eternal') $$,
  'PM002', $$unknown permanence: 'eternal'$$, 'an unknown permanence is refused'
);
select throws_ok(
  $$ insert into memory.facts (tenant_id, subject, predicate, content, permanence, decay_rate)
     values ('a', 's', 'p', 'c', 'stable', 0.5) $$,
  '23514', null, 'the database refuses a decay rate that differs from that of the permanence'
);
select is(
  memory.store_fact('once', 'p', 'c', idempotency_key => 'f1'),
  memory.store_fact('once', 'p', 'c', idempotency_key => 'f1'),
  'the same idempotency key returns the first fact instead of superseding it'
);
select throws_ok(
  $$ select memory.store_fact('once', 'p', 'other', idempotency_key => 'f1') $$,
  'PM004', null, 'an idempotency key cannot be used for another fact'
);
select throws_ok(
  $$ select memory.store_fact('', 'p', 'c') $$, 'PM002', null,
  'a fact without a subject is refused'
);
select throws_ok(
  $$ select memory.store_fact('s', null, 'c') $$, 'PM002', null,
  'a fact without a predicate is refused'
);
select throws_ok($$ select memory.store_fact('s', 'p', E'\n') $$, 'PM002', null, 'a fact without content is refused');
select throws_ok(
  $$ select memory.store_fact(repeat('s', 513), 'p', 'c') $$, 'PM002', null,
  'a subject longer than 512 bytes is refused'
);
select lives_ok(
  $$ select memory.store_fact(repeat('s', 512), repeat('p', 512), 'c', scope => repeat('x', 128)) $$,
  'a key of maximum length is stored'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', confidence => 1.5) $$, 'PM002', null, 'a confidence above 1 is refused'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', confidence => 'NaN') $$, 'PM002', null,
  'a confidence of NaN is refused'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', tags => '{"a": 1}') $$, 'PM002', null,
  'tags that are not an array are refused'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', tags => '["a", 1]') $$, 'PM002', null,
  'tags that are not strings are refused'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', metadata => '{"status": "fading"}') $$, 'PM002', null,
  'metadata cannot set a lifecycle state'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', scope => ' ') $$, 'PM002', null, 'an empty scope is refused'
);

-- Provenance

select memory.store_fact('Ada', 'met_at', 'station', source_butler => 'home', source_episode_id => :'episode_id') as sourced_id \gset
select results_eq(
  format($$ select l.target_type, l.target_id::text, l.relation from memory.get_links('fact', %L) as l $$, :'sourced_id'),
  format($$ values ('episode', %L, 'derived_from') $$, :'episode_id'),
  'a fact derived from an episode is linked to it'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', source_episode_id => '00000000-0000-0000-0000-000000000001') $$,
  'PM001', null, 'an unknown source episode is refused'
);

-- Facts about an entity

insert into memory.entities (tenant_id, id, canonical_name, entity_type, metadata)
values
('a', '00000000-0000-0000-0000-0000000000e1', 'Ada', 'person', '{}'),
('a', '00000000-0000-0000-0000-0000000000e2', 'Ada L.', 'person', '{"merged_into": "00000000-0000-0000-0000-0000000000e1"}');
select memory.store_fact('Ada', 'lives_in', 'Oslo', entity_id => '00000000-0000-0000-0000-0000000000e1') as oslo_id \gset
select memory.store_fact('Ms Ada', 'lives_in', 'Rome', entity_id => '00000000-0000-0000-0000-0000000000e1') as rome_id \gset
select is(
  (select f.supersedes_id from memory.facts as f where f.id = :'rome_id'), :'oslo_id'::uuid,
  'the key of a fact about an entity is the entity, whatever the subject'
);
select memory.store_fact('Ada', 'lives_in', 'Bern') as bern_id \gset
select is(
  (select count(*) from memory.facts as f where f.predicate = 'lives_in' and f.validity = 'active'), 2::bigint,
  'facts with and without an entity have different keys'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', entity_id => '00000000-0000-0000-0000-0000000000ff') $$,
  'PM001', 'entity 00000000-0000-0000-0000-0000000000ff does not exist', 'an unknown entity is refused'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', entity_id => '00000000-0000-0000-0000-0000000000e2') $$,
  'PM003', null, 'a merged entity is refused'
);
select memory.write_event('a', 'erased', null, null, '{}');
select throws_like(
  $$ delete from memory.entities as e where e.canonical_name = 'Ada' $$, '%foreign key constraint%',
  'an entity with facts cannot be deleted'
);

-- One active fact per key on every path

select throws_ok(
  $$ insert into memory.facts (tenant_id, subject, predicate, content) values ('a', 'user', 'favorite_color', 'pink') $$,
  '23505', null, 'the database refuses a second active fact of a subject key'
);
select throws_ok(
  $$ insert into memory.facts (tenant_id, subject, predicate, content, entity_id)
     values ('a', 'whoever', 'lives_in', 'Paris', '00000000-0000-0000-0000-0000000000e1') $$,
  '23505', null, 'the database refuses a second active fact of an entity key'
);
select memory.store_fact('user', 'favorite_color', 'white') as white_id \gset
select is(
  (
    with recursive chain as (
      select f.id, f.supersedes_id, 1 as length from memory.facts as f
      where f.id = :'white_id'
      union all
      select f.id, f.supersedes_id, c.length + 1 from chain as c join memory.facts as f on f.id = c.supersedes_id
    )
    select max(c.length) from chain as c
  ),
  3, 'superseding facts keeps the whole chain'
);

-- store_rule

select memory.store_rule('Ask before booking', as_of => '2026-01-01Z') as rule_id \gset
select results_eq(
  format(
    $$ select r.tenant_id, r.content, r.scope, r.maturity, r.confidence, r.decay_rate, r.permanence,
         r.importance, r.effectiveness_score, r.applied_count, r.success_count, r.harmful_count,
         r.reference_count, r.tags, r.metadata, r.created_at, r.last_confirmed_at, r.lifecycle_state
       from memory.rules as r where r.id = %L $$,
    :'rule_id'
  ),
  $$ values (
    'a', 'Ask before booking', 'global', 'candidate', 0.5::float8, 0.01::float8, 'standard',
    5.0::float8, 0.0::float8, 0, 0, 0, 0, '[]'::jsonb, '{}'::jsonb, '2026-01-01Z'::timestamptz,
    '2026-01-01Z'::timestamptz, 'active'
  ) $$,
  'a rule starts as a candidate with the documented defaults and is confirmed'
);
select is(memory_test.events_of(:'rule_id'), '{rule_created}', 'storing a rule writes an event');
select is(
  memory.store_rule('Once', idempotency_key => 'r1'), memory.store_rule('Once', idempotency_key => 'r1'),
  'the same idempotency key returns the first rule'
);
select throws_ok(
  $$ select memory.store_rule('Twice', idempotency_key => 'r1') $$, 'PM004', null,
  'an idempotency key cannot be used for another rule'
);
select throws_ok($$ select memory.store_rule('') $$, 'PM002', null, 'a rule without text is refused');
select throws_ok(
  $$ select memory.store_rule('x', metadata => '{"forgotten": true}') $$, 'PM002', null,
  'a rule cannot be stored as forgotten'
);
select throws_ok(
  $$ select memory.store_rule('x', metadata => '{"ended_by_run": "x"}') $$, 'PM002', null,
  'a rule cannot be stored as withdrawn by a run, which could then not be undone'
);
select throws_ok(
  $$ select memory.store_fact('x', 'y', 'z', metadata => '{"ended_before": "x"}') $$, 'PM002', null,
  'a fact cannot be stored as ended by a run, which could then not be undone'
);
select throws_ok(
  $$ select memory.store_rule('x', source_episode_id => '00000000-0000-0000-0000-000000000001') $$,
  'PM001', null, 'an unknown source episode of a rule is refused'
);
select memory.store_rule('y', source_episode_id => :'episode_id') as sourced_rule_id \gset
select results_eq(
  format($$ select l.relation from memory.get_links('rule', %L) as l $$, :'sourced_rule_id'),
  $$ values ('derived_from') $$,
  'a rule derived from an episode is linked to it'
);

-- Embeddings passed by the caller

select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', embedding => memory_test.axis(1)) $$,
  'PM004', null, 'a vector is refused before a model is registered'
);
select memory.register_embedding_version('model', '1') as version_id \gset
select memory.store_fact('s', 'p', 'c', embedding => memory_test.axis(1)) as embedded_id \gset
select is(
  (select f.embedding_version_id from memory.facts as f where f.id = :'embedded_id'),
  :'version_id'::uuid, 'a stored vector has its version'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', embedding => '[1,2,3]') $$, 'PM002', null,
  'a vector of the wrong length is refused'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', embedding => array_fill(0, array[384])::vector) $$, 'PM002', null,
  'a zero vector is refused'
);

-- A fact that never held ends no other.

select memory_test.as_tenant('never held');
select memory.store_fact('Ada', 'lives in', 'Bonn', valid_from => '2026-01-07Z', valid_to => '2026-01-07Z', as_of => '2026-01-20Z') \g /dev/null
select memory.store_fact('Ada', 'lives in', 'Rome', valid_from => '2026-01-10Z', as_of => '2026-01-20Z') \g /dev/null
select memory.store_fact('Ada', 'lives in', 'Oslo', valid_from => '2026-01-05Z', as_of => '2026-01-21Z') \g /dev/null
select is(
  (select f.valid_to from memory.facts as f where f.content = 'Oslo' and f.tenant_id = 'never held'), '2026-01-10Z',
  'a fact that comes late holds until the next one that held at all'
);

select * from finish();
rollback;
