-- The isolation level of a transaction is set at its beginning, so the switch at another level
-- than READ COMMITTED has a transaction of its own.
begin isolation level repeatable read;
\ir fixtures.sql

-- The error of a statement: its code and message.
create function memory_test.error_of(statement text)
  returns text
  language plpgsql
as $$
begin
  execute statement;
  return 'none';
exception
  when others then
    return sqlstate || ' ' || sqlerrm;
end;
$$;

select memory.start_reembedding('model', '1') \g /dev/null
select memory_test.error_of($$ select memory.activate_embedding_version() $$) as repeatable_read \gset
rollback;

begin;
\ir fixtures.sql
select plan(92);

-- A semantic search for facts: content and similarity.
create function memory_test.found(embedding vector)
  returns table (content text, similarity numeric)
  language sql
  stable
  begin atomic
    select m.content, round(m.similarity::numeric, 6)
    from memory.semantic_search('fact', embedding, max_results => 1) as m;
  end;

-- Status of the versions of the current tenant, by name.
create function memory_test.versions()
  returns table (version text, status text)
  language sql
  stable
  begin atomic
    select v.model || ' ' || v.version, v.status
    from memory.embedding_versions as v
    where v.tenant_id = memory.current_tenant()
    order by 1;
  end;

-- The memories that wait for a vector, by type and then by id.
create function memory_test.waiting(target text)
  returns uuid[]
  language sql
  stable
  return (
    select coalesce(array_agg(q.memory_id order by q.memory_id), '{}')
    from memory.embedding_queue as q
    where q.tenant_id = memory.current_tenant() and q.target = waiting.target
  );

create function memory_test.sorted(ids text)
  returns uuid[]
  language sql
  return (select coalesce(array_agg(i::uuid order by i::uuid), '{}') from string_to_table(ids, ' ') as i);

select is(
  :'repeatable_read'::text, 'PM002 the switch cannot run in a repeatable read transaction',
  'the switch is refused at an isolation level that hides concurrent stores'
);

-- No re-embedding yet

select is(
  memory.cancel_reembedding(), false,
  'canceling returns false when no re-embedding is in progress'
);
select throws_ok(
  $$ select memory.activate_embedding_version() $$, 'PM004', 'no re-embedding is under way',
  'switching is refused when no re-embedding is in progress'
);
select throws_ok(
  $$ select memory.start_reembedding('', '2') $$, 'PM002', null,
  're-embedding with a model without a name is refused'
);
select throws_ok(
  $$ select memory.start_reembedding(null, '2') $$, 'PM002', null,
  're-embedding with a NULL model is refused'
);
select throws_ok(
  $$ select memory.start_reembedding(repeat('m', 257), '2') $$, 'PM002', null,
  're-embedding with a model name longer than 256 bytes is refused'
);
select throws_ok(
  $$ select memory.start_reembedding('model', ' ') $$, 'PM002', null,
  're-embedding with a blank version is refused'
);
select throws_ok(
  $$ select memory.start_reembedding('model', null) $$, 'PM002', null,
  're-embedding with a NULL version is refused'
);
select throws_ok(
  $$ select memory.start_reembedding('model', repeat('1', 129)) $$, 'PM002', null,
  're-embedding with a version longer than 128 bytes is refused'
);
select throws_ok(
  $$ select memory.start_reembedding('model', '2', 768) $$, 'PM002', 'vectors of 768 dimensions do not fit',
  're-embedding with a model of other dimensions is refused'
);
select throws_ok(
  $$ select memory.start_reembedding('model', '2', null) $$, 'PM002', null,
  're-embedding with a model of NULL dimensions is refused'
);

-- Memories under the old model: one of each type with its vector, and a fact without one

select memory.register_embedding_version('model', '1') as old_id \gset
select memory.store_episode('Met Ada', 'home', embedding => memory_test.axis(1)) as episode_id \gset
select memory.store_fact('user', 'likes', 'tea', embedding => memory_test.axis(2)) as fact_id \gset
select memory.store_rule('Ask first', embedding => memory_test.axis(3)) as rule_id \gset
select memory.store_fact('user', 'plays', 'chess') as waiting_id \gset
select memory.store_fact('user', 'lives_in', 'Oslo', embedding => memory_test.axis(4)) as retracted_id \gset
select memory.forget_memory('fact', :'retracted_id') \g /dev/null
select memory_test.as_tenant('b') \g /dev/null
select memory.register_embedding_version('model', '1') as foreign_version_id \gset
select memory.store_fact('user', 'likes', 'milk', embedding => memory_test.axis(2)) as foreign_id \gset
select memory_test.as_tenant('a') \g /dev/null

select throws_ok(
  $$ select memory.start_reembedding('model', '1') $$,
  'PM004', 'model model version 1 is already active, with rendering previous_dated',
  're-embedding with the active model is refused'
);
select results_eq(
  $$ select * from memory_test.versions() $$, $$ values ('model 1', 'active') $$,
  'a refused re-embedding leaves the active version active'
);

-- Start

select memory.start_reembedding('model', '2') as new_id \gset
select results_eq(
  $$ select * from memory_test.versions() $$, $$ values ('model 1', 'active'), ('model 2', 'building') $$,
  're-embedding starts a building version next to the active one'
);
select results_eq(
  $$ select v.id from memory.active_embedding_version() as v $$, format($$ values (%L::uuid) $$, :'old_id'),
  'the old version stays active during re-embedding'
);
select is(
  memory_test.waiting('building'),
  memory_test.sorted(concat_ws(' ', :'episode_id', :'fact_id', :'rule_id', :'waiting_id', :'retracted_id')),
  'every memory is queued for the new version'
);
select is(
  memory_test.waiting('active'), array[:'waiting_id']::uuid[],
  'a memory without a vector of the old version stays queued for it'
);
select results_eq(
  $$ select b.embedding_version_id, b.version, b.status, b.pending from memory.embedding_backlog() as b $$,
  format($$ values (%L::uuid, '1', 'active', 1::bigint), (%L, '2', 'building', 5) $$, :'old_id', :'new_id'),
  'the backlog lists both versions'
);
select is(
  memory.register_embedding_version('model', '2'), :'new_id'::uuid,
  'a worker of the new model gets the id of the new version'
);
select is(
  memory.register_embedding_version('model', '1'), :'old_id'::uuid,
  'a worker of the old model gets the id of the old version'
);
select throws_ok(
  $$ select memory.register_embedding_version('model', '3') $$, 'PM004', null,
  'registering a third model is refused during re-embedding'
);
select throws_ok(
  $$ select memory.start_reembedding('model', '3') $$,
  'PM004', 're-embedding with model model version 2 (rendering previous_dated) is under way',
  'a second re-embedding is refused'
);
select throws_ok(
  $$ select memory.start_reembedding('other', '2') $$, 'PM004', null,
  'a second re-embedding is refused, whatever model it names'
);
select throws_ok(
  $$ select memory.start_reembedding('model', '1') $$, 'PM004', null,
  'a re-embedding back to the active model is refused during re-embedding'
);
select throws_ok(
  $$ insert into memory.embedding_versions (tenant_id, model, version, status)
     values ('a', 'model', '3', 'building') $$,
  '23505', null, 'the database refuses a second building version of a tenant'
);
select is_empty(
  $$ select q.memory_id from memory.embedding_queue as q where q.tenant_id = 'b' $$,
  're-embedding queues nothing of another tenant'
);

-- Two versions

select throws_ok(
  $$ select memory.activate_embedding_version() $$,
  'PM004', '4 memories have no vector of the new version yet',
  'the switch is refused while active memories lack their new vector'
);
select results_eq(
  format(
    $$ select c.memory_type, c.memory_id, c.content
       from memory.claim_embedding_jobs(%L, as_of => '2026-01-01Z') as c order by c.memory_type, c.content $$,
    :'new_id'
  ),
  format(
    $$ values
      ('episode', %L::uuid, 'Met Ada (' || memory.date_in_words(now()) || ')'), ('fact', %L, 'user likes tea'), ('fact', %L, 'user lives in Oslo'),
      ('fact', %L, 'user plays chess'), ('rule', %L, 'Ask first') $$,
    :'episode_id', :'fact_id', :'retracted_id', :'waiting_id', :'rule_id'
  ),
  'a worker of the new model claims the memories without its vector'
);
select results_eq(
  format($$ select c.memory_id from memory.claim_embedding_jobs(%L, as_of => '2026-01-01Z') as c $$, :'old_id'),
  format($$ values (%L::uuid) $$, :'waiting_id'),
  'a worker of the old model can claim a memory that the other worker has claimed'
);
select memory.set_embedding('fact', :'fact_id', memory_test.axis(12), :'new_id') as staged \gset
select is(:'staged'::boolean, true, 'a vector of the new version is accepted');
select is(
  (
    select f.embedding = memory_test.axis(2) and f.embedding_version_id = :'old_id'
    from memory.facts as f where f.id = :'fact_id'
  ),
  true, 'a vector of the new version leaves the old one in place'
);
select is(
  :'fact_id' = any (memory_test.waiting('building')), false,
  'a vector of the new version removes the memory from its queue'
);
select results_eq(
  $$ select * from memory_test.found(memory_test.axis(2)) $$, $$ values ('tea', 1.000000) $$,
  'a search finds a memory by its old vector during re-embedding'
);
select results_eq(
  format(
    $$ select m.content from memory.semantic_search('fact', memory_test.axis(2), max_results => 1,
         embedding_version_id => %L) as m $$,
    :'old_id'
  ),
  $$ values ('tea') $$,
  'a search with the id of the old version is answered during re-embedding'
);
select throws_ok(
  format(
    $$ select memory.semantic_search('fact', memory_test.axis(12), embedding_version_id => %L) $$, :'new_id'
  ),
  'PM004', null, 'a search with a vector of the new version is refused'
);
select memory.set_embedding('fact', :'fact_id', memory_test.axis(13), :'new_id') \g /dev/null
select is(
  (select s.embedding from memory.staged_embeddings as s where s.memory_id = :'fact_id'),
  memory_test.axis(13),
  'a vector of the new version can be replaced before the switch'
);
select is(
  memory.set_embedding('fact', :'foreign_id', memory_test.axis(1), :'new_id'), false,
  'a memory of another tenant is given no vector of the new version'
);
select is(
  memory.set_embedding('rule', :'fact_id', memory_test.axis(1), :'new_id'), false,
  'a fact taken for a rule is given no vector of the new version'
);
select is(
  (select count(*) from memory.staged_embeddings as s), 1::bigint,
  'a vector that was not accepted is not kept'
);
select is(
  (
    select array_agg(distinct e.event_type order by e.event_type) from memory.memory_events as e
    where e.tenant_id = 'a'
  ),
  '{embedding_version_created,episode_created,fact_created,fact_retracted,rule_created}',
  'staging vectors writes no event'
);

-- New memories during re-embedding

create table memory_test.during as
select s.ordinal, s.id
from memory.store_facts(jsonb_build_array(
  '{"subject": "user", "predicate": "drives", "content": "a car"}'::jsonb,
  jsonb_build_object(
    'subject', 'user', 'predicate', 'rides', 'content', 'a bike', 'embedding', memory_test.axis(5)::text::jsonb
  )
)) as s;
select d.id as during_id from memory_test.during as d where d.ordinal = 1 \gset
select d.id as during_embedded_id from memory_test.during as d where d.ordinal = 2 \gset
select memory.store_episode('Met Bob', 'home', embedding => memory_test.axis(6)) as during_episode_id \gset
select memory.store_rule('Bring cake') as during_rule_id \gset
select throws_ok(
  format(
    $$ select memory.store_rule('x', embedding => memory_test.axis(1), embedding_version_id => %L) $$,
    :'new_id'
  ),
  'PM004', null, 'storing with a vector of the new version is refused'
);
select is(
  memory_test.waiting('building'),
  memory_test.sorted(concat_ws(
    ' ', :'episode_id', :'rule_id', :'waiting_id', :'retracted_id',
    :'during_id', :'during_embedded_id', :'during_episode_id', :'during_rule_id'
  )),
  'a memory stored during re-embedding is queued for the new version'
);
select is(
  memory_test.waiting('active'),
  memory_test.sorted(concat_ws(' ', :'waiting_id', :'during_id', :'during_rule_id')),
  'a memory stored without a vector is also queued for the old version'
);
select results_eq(
  $$ select * from memory_test.found(memory_test.axis(5)) $$, $$ values ('a bike', 1.000000) $$,
  'a memory stored with a vector during re-embedding is found by it at once'
);
select results_eq(
  format(
    $$ select c.memory_id from memory.claim_embedding_jobs(%L, 2, as_of => '2026-01-01Z') as c $$, :'old_id'
  ),
  format($$ values (%L::uuid), (%L) $$, :'during_id', :'during_rule_id'),
  'a worker of the old model gets as many memories as it requests'
);
delete from memory.embedding_queue as q where q.target = 'building' and q.memory_id = :'during_id';
select is(
  memory.start_reembedding('model', '2'), :'new_id'::uuid,
  'starting the same re-embedding again returns its version'
);
select is(
  memory_test.waiting('building'),
  memory_test.sorted(concat_ws(
    ' ', :'episode_id', :'rule_id', :'waiting_id', :'retracted_id',
    :'during_id', :'during_embedded_id', :'during_episode_id', :'during_rule_id'
  )),
  'starting the same re-embedding again queues the memories that are missing'
);
select is(
  (
    select count(*) from memory.embedding_queue as q
    where q.target = 'building' and q.memory_id = :'rule_id' and q.attempts = 1
  ),
  1::bigint, 'starting the same re-embedding again keeps the claims of workers'
);
select memory.set_embedding('episode', :'during_episode_id', memory_test.axis(16), :'new_id') \g /dev/null
delete from memory.episodes as e where e.id = :'during_episode_id';
select is_empty(
  format(
    $$ select s.memory_id from memory.staged_embeddings as s where s.memory_id = %L $$, :'during_episode_id'
  ),
  'the staged vector of an episode is deleted with the episode'
);

-- Switch

select memory.set_embedding('episode', :'episode_id', memory_test.axis(11), :'new_id') \g /dev/null
select memory.set_embedding('rule', :'rule_id', memory_test.axis(13), :'new_id') \g /dev/null
select memory.set_embedding('fact', :'during_embedded_id', memory_test.axis(15), :'new_id') \g /dev/null
select throws_ok(
  $$ select memory.activate_embedding_version() $$,
  'PM004', '1 memories have no vector of the new version yet',
  'a single memory without its new vector blocks the switch'
);
select results_eq(
  $$ select * from memory_test.versions() $$, $$ values ('model 1', 'active'), ('model 2', 'building') $$,
  'a refused switch changes nothing'
);
select memory.set_embedding('fact', :'retracted_id', memory_test.axis(14), :'new_id') \g /dev/null
select memory.set_embedding('fact', :'waiting_id', memory_test.axis(17), :'new_id') \g /dev/null
select is(
  :'waiting_id' = any (memory_test.waiting('active')), true,
  'a memory with its new vector stays queued for its old one'
);
select is(
  :'waiting_id' = any (memory_test.waiting('building')), false,
  'a memory with its new vector is no longer queued for it'
);
select memory.activate_embedding_version() as switched_id \gset
select is(
  :'switched_id'::uuid, :'new_id'::uuid,
  'the switch returns the new version when no vector is missing'
);
select results_eq(
  $$ select * from memory_test.versions() $$, $$ values ('model 1', 'retired'), ('model 2', 'active') $$,
  'the switch activates the new version and retires the old one'
);
select results_eq(
  format(
    $$ select e.embedding = memory_test.axis(11), e.embedding_version_id from memory.episodes as e
       where e.id = %L
       union all
       select f.embedding = memory_test.axis(13), f.embedding_version_id from memory.facts as f
       where f.id = %L
       union all
       select r.embedding = memory_test.axis(13), r.embedding_version_id from memory.rules as r
       where r.id = %L $$,
    :'episode_id', :'fact_id', :'rule_id'
  ),
  format($$ values (true, %L::uuid), (true, %L), (true, %L) $$, :'new_id', :'new_id', :'new_id'),
  'memories of each type have their new vectors after the switch'
);
select is(
  (select f.embedding from memory.facts as f where f.id = :'retracted_id'), memory_test.axis(14),
  'a retracted fact has its new vector after the switch'
);
select results_eq(
  $$ select * from memory_test.found(memory_test.axis(13)) $$, $$ values ('tea', 1.000000) $$,
  'a search finds a memory by its new vector after the switch'
);
select is_empty(
  $$ select m.id from memory.semantic_search('fact', memory_test.axis(2)) as m where m.similarity > 0.5 $$,
  'a search does not find a memory by its old vector after the switch'
);
select results_eq(
  $$ select * from memory_test.found(memory_test.axis(17)) $$, $$ values ('chess', 1.000000) $$,
  'a memory that had no old vector is found by its new one'
);
select is(
  memory_test.waiting('active'), memory_test.sorted(concat_ws(' ', :'during_id', :'during_rule_id')),
  'a memory without any vector is queued for the new version after the switch'
);
select is(
  memory_test.waiting('building'), '{}',
  'no memory is queued for a building version after the switch'
);
select is_empty(
  $$ select s.memory_id from memory.staged_embeddings as s $$,
  'no staged vector is left after the switch'
);
select results_eq(
  $$ select b.embedding_version_id, b.status, b.pending from memory.embedding_backlog() as b $$,
  format($$ values (%L::uuid, 'active', 2::bigint) $$, :'new_id'),
  'the backlog lists only the new version after the switch'
);
select results_eq(
  $$ select e.memory_id::text, e.payload from memory.memory_events as e
     where e.tenant_id = 'a' and e.event_type = 'reembedded' $$,
  format(
    $$ values (null::text, jsonb_build_object('from', %L, 'to', %L, 'memories', 6)) $$, :'old_id', :'new_id'
  ),
  'the switch writes an event with both versions and the number of memories'
);
select results_eq(
  $$ select e.payload from memory.memory_events as e
     where e.tenant_id = 'a' and e.event_type = 'embedding_version_updated' order by e.seq $$,
  $$ values
    ('{"old": {"status": "active"}, "new": {"status": "retired"}}'::jsonb),
    ('{"old": {"status": "building"}, "new": {"status": "active"}}') $$,
  'the switch writes an event of the status of each version'
);
select results_eq(
  $$ select f.embedding = memory_test.axis(2), f.embedding_version_id from memory.facts as f
     where f.tenant_id = 'b' $$,
  format($$ values (true, %L::uuid) $$, :'foreign_version_id'),
  'the switch keeps the vectors of another tenant'
);
select throws_ok(
  format(
    $$ select memory.store_rule('x', embedding => memory_test.axis(1), embedding_version_id => %L) $$,
    :'old_id'
  ),
  'PM004', null, 'storing with a vector of the old version is refused after the switch'
);
select throws_ok(
  format(
    $$ select memory.semantic_search('fact', memory_test.axis(2), embedding_version_id => %L) $$, :'old_id'
  ),
  'PM004', null, 'a search with a vector of the old version is refused after the switch'
);
select throws_ok(
  format($$ select memory.set_embedding('fact', %L, memory_test.axis(1), %L) $$, :'during_id', :'old_id'),
  'PM004', null, 'a worker of the old model cannot set a vector after the switch'
);
select throws_ok(
  format($$ select memory.claim_embedding_jobs(%L) $$, :'old_id'), 'PM004', null,
  'a worker of the old model cannot claim a memory after the switch'
);
select throws_ok(
  $$ select memory.register_embedding_version('model', '1') $$, 'PM004', null,
  'a client of the old model cannot register after the switch'
);
select memory.set_embedding('fact', :'during_id', memory_test.axis(18)) \g /dev/null
select is(
  (select f.embedding_version_id from memory.facts as f where f.id = :'during_id'), :'new_id'::uuid,
  'a queued memory gets its vector from the new version after the switch'
);
select throws_ok(
  $$ select memory.activate_embedding_version() $$, 'PM004', 'no re-embedding is under way',
  'switching again is refused'
);

-- Back to a retired version, canceled once

select memory.start_reembedding('model', '1') as back_id \gset
select is(
  :'back_id'::uuid, :'old_id'::uuid,
  'a retired version can be built again under the same id'
);
select results_eq(
  $$ select * from memory_test.versions() $$, $$ values ('model 1', 'building'), ('model 2', 'active') $$,
  'a retired version is built next to the active one'
);
select is(
  memory_test.waiting('building'),
  memory_test.sorted(concat_ws(
    ' ', :'episode_id', :'fact_id', :'rule_id', :'waiting_id', :'retracted_id',
    :'during_id', :'during_embedded_id', :'during_rule_id'
  )),
  'building a retired version queues every memory again'
);
select memory.set_embedding('fact', :'fact_id', memory_test.axis(2), :'old_id') \g /dev/null
select memory_test.as_tenant('b') \g /dev/null
select is(
  memory.cancel_reembedding(), false,
  'a tenant cannot cancel the re-embedding of another tenant'
);
select memory.start_reembedding('model', '2') as foreign_new_id \gset
select memory.set_embedding('fact', :'foreign_id', memory_test.axis(9), :'foreign_new_id') \g /dev/null
select memory.store_fact('user', 'likes', 'juice') \g /dev/null
select memory_test.as_tenant('a') \g /dev/null
select memory.cancel_reembedding() as cancelled \gset
select is(:'cancelled'::boolean, true, 'a re-embedding in progress can be canceled');
select results_eq(
  $$ select * from memory_test.versions() $$, $$ values ('model 1', 'retired'), ('model 2', 'active') $$,
  'canceling a re-embedding retires its version'
);
select is(memory_test.waiting('building'), '{}', 'canceling a re-embedding empties its queue');
select is(
  memory_test.waiting('active'), array[:'during_rule_id']::uuid[],
  'canceling a re-embedding keeps the queue of the active version'
);
select is_empty(
  $$ select s.memory_id from memory.staged_embeddings as s where s.tenant_id = 'a' $$,
  'canceling a re-embedding discards its vectors'
);
select is(
  (
    select count(*) from memory.embedding_queue as q join memory.staged_embeddings as s using (tenant_id)
    where q.tenant_id = 'b' and q.target = 'building'
  ),
  1::bigint, 'another tenant keeps its re-embedding, its queue and its vectors'
);
select results_eq(
  $$ select * from memory_test.found(memory_test.axis(13)) $$, $$ values ('tea', 1.000000) $$,
  'searches find the same memories after canceling'
);
select is(memory.cancel_reembedding(), false, 'a canceled re-embedding cannot be canceled again');
select memory.store_fact('user', 'wears', 'a hat') as after_id \gset
select is(
  :'after_id' = any (memory_test.waiting('building')), false,
  'a memory stored after canceling is not queued for the canceled version'
);
select memory.start_reembedding('model', '1') \g /dev/null
select is(
  :'fact_id' = any (memory_test.waiting('building')), true,
  'a restarted re-embedding queues memories that had a vector before canceling'
);

-- The first model of a tenant may come by re-embedding

select memory_test.as_tenant('c') \g /dev/null
select memory.store_fact('user', 'likes', 'tea') as first_id \gset
select memory.start_reembedding('model', '1') as first_version_id \gset
select is_empty(
  $$ select * from memory.active_embedding_version() $$,
  'starting a re-embedding does not activate a version'
);
select memory.set_embedding('fact', :'first_id', memory_test.axis(1), :'first_version_id') \g /dev/null
select memory.activate_embedding_version() \g /dev/null
select results_eq(
  $$ select * from memory_test.found(memory_test.axis(1)) $$, $$ values ('tea', 1.000000) $$,
  'a tenant without an active version can switch to its first one'
);
select memory_test.as_tenant('d') \g /dev/null
select memory.start_reembedding('model', '1') \g /dev/null
select memory.cancel_reembedding() \g /dev/null
select memory.register_embedding_version('model', '1') \g /dev/null
select is(
  (select v.model from memory.active_embedding_version() as v), 'model',
  'the first registered model becomes active, even after a canceled re-embedding with it'
);

-- A staged vector of another version, left by a worker that continued after a cancellation

select memory_test.as_tenant('e') \g /dev/null
select memory.register_embedding_version('model', '1') \g /dev/null
select memory.store_fact('user', 'likes', 'tea', embedding => memory_test.axis(1)) as left_id \gset
select memory.start_reembedding('model', '2') as left_version_id \gset
select memory.cancel_reembedding() \g /dev/null
insert into memory.staged_embeddings (tenant_id, memory_type, memory_id, embedding_version_id, embedding)
values ('e', 'fact', :'left_id', :'left_version_id', memory_test.axis(2));
select memory.start_reembedding('model', '3') \g /dev/null
select throws_ok(
  $$ select memory.activate_embedding_version() $$,
  'PM004', '1 memories have no vector of the new version yet',
  'a staged vector of a canceled version does not count as one of the new version'
);

select * from finish();
rollback;
