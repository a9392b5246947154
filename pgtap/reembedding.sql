-- The isolation level of a transaction is chosen at its beginning, so the switch at another level than
-- READ COMMITTED has a transaction of its own.
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
select memory_test.error_of($$ select memory.switch_embedding_version() $$) as repeatable_read \gset
rollback;

begin;
\ir fixtures.sql
select plan(92);

-- A search by meaning for facts: content and similarity.
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

-- What waits for a vector, by type and then by id.
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
  'the switch is refused where it could not see the stores it waited for'
);

-- Nothing to change yet

select is(memory.cancel_reembedding(), false, 'at first there is no change of model to cancel');
select throws_ok(
  $$ select memory.switch_embedding_version() $$, 'PM004', 'no re-embedding is under way',
  'nor one to finish'
);
select throws_ok(
  $$ select memory.start_reembedding('', '2') $$, 'PM002', null,
  'a change to a model without a name is refused'
);
select throws_ok(
  $$ select memory.start_reembedding(null, '2') $$, 'PM002', null, 'a change to a NULL model is refused'
);
select throws_ok(
  $$ select memory.start_reembedding(repeat('m', 257), '2') $$, 'PM002', null,
  'a change to a model beyond 256 octets is refused'
);
select throws_ok(
  $$ select memory.start_reembedding('model', ' ') $$, 'PM002', null, 'a change to a blank version is refused'
);
select throws_ok(
  $$ select memory.start_reembedding('model', null) $$, 'PM002', null, 'a change to a NULL version is refused'
);
select throws_ok(
  $$ select memory.start_reembedding('model', repeat('1', 129)) $$, 'PM002', null,
  'a change to a version beyond 128 octets is refused'
);
select throws_ok(
  $$ select memory.start_reembedding('model', '2', 768) $$, 'PM002', 'vectors of 768 dimensions do not fit',
  'a change to a model of other dimensions is refused'
);
select throws_ok(
  $$ select memory.start_reembedding('model', '2', null) $$, 'PM002', null,
  'a change to a model of NULL dimensions is refused'
);

-- Memories under the old model: one of each type with its vector, and a fact that waits for it

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
  'PM004', 'model model version 1 is active already, with rendering previous_dated', 'a change to the model that is active is refused'
);
select results_eq(
  $$ select * from memory_test.versions() $$, $$ values ('model 1', 'active') $$, 'and leaves it active'
);

-- Start

select memory.start_reembedding('model', '2') as new_id \gset
select results_eq(
  $$ select * from memory_test.versions() $$, $$ values ('model 1', 'active'), ('model 2', 'building') $$,
  'a change of model begins beside the active version'
);
select results_eq(
  $$ select v.id from memory.active_embedding_version() as v $$, format($$ values (%L::uuid) $$, :'old_id'),
  'the old version stays the active one'
);
select is(
  memory_test.waiting('building'),
  memory_test.sorted(concat_ws(' ', :'episode_id', :'fact_id', :'rule_id', :'waiting_id', :'retracted_id')),
  'every memory is queued for the new version'
);
select is(
  memory_test.waiting('active'), array[:'waiting_id']::uuid[],
  'what lacks its vector of the old one is queued for that too'
);
select results_eq(
  $$ select b.embedding_version_id, b.version, b.status, b.pending from memory.embedding_backlog() as b $$,
  format($$ values (%L::uuid, '1', 'active', 1::bigint), (%L, '2', 'building', 5) $$, :'old_id', :'new_id'),
  'the backlog tells about both versions'
);
select is(
  memory.register_embedding_version('model', '2'), :'new_id'::uuid,
  'a worker of the new model gets the id of its version'
);
select is(
  memory.register_embedding_version('model', '1'), :'old_id'::uuid, 'and so does one of the old model'
);
select throws_ok(
  $$ select memory.register_embedding_version('model', '3') $$, 'PM004', null,
  'a third model is still refused'
);
select throws_ok(
  $$ select memory.start_reembedding('model', '3') $$,
  'PM004', 're-embedding with model model version 2 (rendering previous_dated) is under way', 'a second change is refused'
);
select throws_ok(
  $$ select memory.start_reembedding('other', '2') $$, 'PM004', null, 'whatever model it names'
);
select throws_ok(
  $$ select memory.start_reembedding('model', '1') $$, 'PM004', null, 'even the one that is active'
);
select throws_ok(
  $$ insert into memory.embedding_versions (tenant_id, model, version, status)
     values ('a', 'model', '3', 'building') $$,
  '23505', null, 'the database holds one version under construction per tenant'
);
select is_empty(
  $$ select q.memory_id from memory.embedding_queue as q where q.tenant_id = 'b' $$,
  'another tenant is not concerned'
);

-- Side by side

select throws_ok(
  $$ select memory.switch_embedding_version() $$,
  'PM004', '4 memories have no vector of the new version yet',
  'the switch is refused while memories that are found by meaning lack their new vector'
);
select results_eq(
  format(
    $$ select c.memory_type, c.memory_id, c.content
       from memory.claim_unembedded(%L, as_of => '2026-01-01Z') as c order by c.memory_type, c.content $$,
    :'new_id'
  ),
  format(
    $$ values
      ('episode', %L::uuid, 'Met Ada (' || memory.date_in_words(now()) || ')'), ('fact', %L, 'user likes tea'), ('fact', %L, 'user lives in Oslo'),
      ('fact', %L, 'user plays chess'), ('rule', %L, 'Ask first') $$,
    :'episode_id', :'fact_id', :'retracted_id', :'waiting_id', :'rule_id'
  ),
  'a worker of the new model claims what lacks its vector'
);
select results_eq(
  format($$ select c.memory_id from memory.claim_unembedded(%L, as_of => '2026-01-01Z') as c $$, :'old_id'),
  format($$ values (%L::uuid) $$, :'waiting_id'),
  'a worker of the old model claims its own, though the other one has a claim on it'
);
select memory.set_embedding('fact', :'fact_id', memory_test.axis(12), :'new_id') as staged \gset
select is(:'staged'::boolean, true, 'a vector of the new version is taken');
select is(
  (
    select f.embedding = memory_test.axis(2) and f.embedding_version_id = :'old_id'
    from memory.facts as f where f.id = :'fact_id'
  ),
  true, 'and leaves the old one in its place'
);
select is(
  :'fact_id' = any (memory_test.waiting('building')), false,
  'and takes the memory off the queue of the new version'
);
select results_eq(
  $$ select * from memory_test.found(memory_test.axis(2)) $$, $$ values ('tea', 1.000000) $$,
  'a search finds the memory by its old vector'
);
select results_eq(
  format(
    $$ select m.content from memory.semantic_search('fact', memory_test.axis(2), max_results => 1,
         embedding_version_id => %L) as m $$,
    :'old_id'
  ),
  $$ values ('tea') $$,
  'and with a vector of the old version'
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
  'a vector of the new version may be replaced before the switch'
);
select is(
  memory.set_embedding('fact', :'foreign_id', memory_test.axis(1), :'new_id'), false,
  'a memory of another tenant is given no vector of the new version'
);
select is(
  memory.set_embedding('rule', :'fact_id', memory_test.axis(1), :'new_id'), false,
  'nor is a fact that is taken for a rule'
);
select is(
  (select count(*) from memory.staged_embeddings as s), 1::bigint, 'and none is kept'
);
select is(
  (
    select array_agg(distinct e.event_type order by e.event_type) from memory.memory_events as e
    where e.tenant_id = 'a'
  ),
  '{embedding_version_created,episode_created,fact_created,fact_retracted,rule_created}',
  'none of this is an event'
);

-- New stores during the change

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
  'PM004', null, 'a store with a vector of the new version is refused'
);
select is(
  memory_test.waiting('building'),
  memory_test.sorted(concat_ws(
    ' ', :'episode_id', :'rule_id', :'waiting_id', :'retracted_id',
    :'during_id', :'during_embedded_id', :'during_episode_id', :'during_rule_id'
  )),
  'what is stored during the change is queued for the new version, with a vector or without'
);
select is(
  memory_test.waiting('active'),
  memory_test.sorted(concat_ws(' ', :'waiting_id', :'during_id', :'during_rule_id')),
  'and without a vector for the old version too'
);
select results_eq(
  $$ select * from memory_test.found(memory_test.axis(5)) $$, $$ values ('a bike', 1.000000) $$,
  'what is stored with a vector during the change is found by it at once'
);
select results_eq(
  format(
    $$ select c.memory_id from memory.claim_unembedded(%L, 2, as_of => '2026-01-01Z') as c $$, :'old_id'
  ),
  format($$ values (%L::uuid), (%L) $$, :'during_id', :'during_rule_id'),
  'a worker of the old model gets as many as it asks for, whatever waits for the new version'
);
delete from memory.embedding_queue as q where q.target = 'building' and q.memory_id = :'during_id';
select is(
  memory.start_reembedding('model', '2'), :'new_id'::uuid,
  'beginning the same change again gives its version again'
);
select is(
  memory_test.waiting('building'),
  memory_test.sorted(concat_ws(
    ' ', :'episode_id', :'rule_id', :'waiting_id', :'retracted_id',
    :'during_id', :'during_embedded_id', :'during_episode_id', :'during_rule_id'
  )),
  'and queues what is missing, but not what has its vector'
);
select is(
  (
    select count(*) from memory.embedding_queue as q
    where q.target = 'building' and q.memory_id = :'rule_id' and q.attempts = 1
  ),
  1::bigint, 'and leaves the claims of the workers as they are'
);
select memory.set_embedding('episode', :'during_episode_id', memory_test.axis(16), :'new_id') \g /dev/null
delete from memory.episodes as e where e.id = :'during_episode_id';
select is_empty(
  format(
    $$ select s.memory_id from memory.staged_embeddings as s where s.memory_id = %L $$, :'during_episode_id'
  ),
  'the vector that waits for an episode goes with the episode'
);

-- Switch

select memory.set_embedding('episode', :'episode_id', memory_test.axis(11), :'new_id') \g /dev/null
select memory.set_embedding('rule', :'rule_id', memory_test.axis(13), :'new_id') \g /dev/null
select memory.set_embedding('fact', :'during_embedded_id', memory_test.axis(15), :'new_id') \g /dev/null
select throws_ok(
  $$ select memory.switch_embedding_version() $$,
  'PM004', '1 memories have no vector of the new version yet',
  'a single memory that lacks its new vector holds the switch up'
);
select results_eq(
  $$ select * from memory_test.versions() $$, $$ values ('model 1', 'active'), ('model 2', 'building') $$,
  'a switch that is refused changes nothing'
);
select memory.set_embedding('fact', :'retracted_id', memory_test.axis(14), :'new_id') \g /dev/null
select memory.set_embedding('fact', :'waiting_id', memory_test.axis(17), :'new_id') \g /dev/null
select is(
  :'waiting_id' = any (memory_test.waiting('active')), true,
  'a memory that has its vector of the new version waits on for that of the old one'
);
select is(
  :'waiting_id' = any (memory_test.waiting('building')), false, 'but no more for that of the new one'
);
select memory.switch_embedding_version() as switched_id \gset
select is(:'switched_id'::uuid, :'new_id'::uuid, 'when none is missing the switch returns the new version');
select results_eq(
  $$ select * from memory_test.versions() $$, $$ values ('model 1', 'retired'), ('model 2', 'active') $$,
  'which is the active one then, and the old one is retired'
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
  'memories of each type have their new vectors'
);
select is(
  (select f.embedding from memory.facts as f where f.id = :'retracted_id'), memory_test.axis(14),
  'and a fact that is found no more'
);
select results_eq(
  $$ select * from memory_test.found(memory_test.axis(13)) $$, $$ values ('tea', 1.000000) $$,
  'a search finds a memory by its new vector'
);
select is_empty(
  $$ select m.id from memory.semantic_search('fact', memory_test.axis(2)) as m where m.similarity > 0.5 $$,
  'and not by its old one'
);
select results_eq(
  $$ select * from memory_test.found(memory_test.axis(17)) $$, $$ values ('chess', 1.000000) $$,
  'a memory that had no old vector is found by its new one'
);
select is(
  memory_test.waiting('active'), memory_test.sorted(concat_ws(' ', :'during_id', :'during_rule_id')),
  'what has no vector at all waits for one of the new version now'
);
select is(memory_test.waiting('building'), '{}', 'nothing waits for a version under construction');
select is_empty(
  $$ select s.memory_id from memory.staged_embeddings as s $$, 'no vector is left beside the memories'
);
select results_eq(
  $$ select b.embedding_version_id, b.status, b.pending from memory.embedding_backlog() as b $$,
  format($$ values (%L::uuid, 'active', 2::bigint) $$, :'new_id'),
  'the backlog is that of the new version'
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
  'and events of the status of both'
);
select results_eq(
  $$ select f.embedding = memory_test.axis(2), f.embedding_version_id from memory.facts as f
     where f.tenant_id = 'b' $$,
  format($$ values (true, %L::uuid) $$, :'foreign_version_id'),
  'the vectors of another tenant stay as they are'
);
select throws_ok(
  format(
    $$ select memory.store_rule('x', embedding => memory_test.axis(1), embedding_version_id => %L) $$,
    :'old_id'
  ),
  'PM004', null, 'a store with a vector of the old version is refused'
);
select throws_ok(
  format(
    $$ select memory.semantic_search('fact', memory_test.axis(2), embedding_version_id => %L) $$, :'old_id'
  ),
  'PM004', null, 'a search with a vector of the old version is refused'
);
select throws_ok(
  format($$ select memory.set_embedding('fact', %L, memory_test.axis(1), %L) $$, :'during_id', :'old_id'),
  'PM004', null, 'a worker of the old model can set no vector any more'
);
select throws_ok(
  format($$ select memory.claim_unembedded(%L) $$, :'old_id'), 'PM004', null, 'nor claim anything'
);
select throws_ok(
  $$ select memory.register_embedding_version('model', '1') $$, 'PM004', null,
  'a client of the old model is told so when it registers'
);
select memory.set_embedding('fact', :'during_id', memory_test.axis(18)) \g /dev/null
select is(
  (select f.embedding_version_id from memory.facts as f where f.id = :'during_id'), :'new_id'::uuid,
  'what waited gets its vector from the new version'
);
select throws_ok(
  $$ select memory.switch_embedding_version() $$, 'PM004', 'no re-embedding is under way',
  'there is nothing left to switch'
);

-- Back to a retired version, cancelled once

select memory.start_reembedding('model', '1') as back_id \gset
select is(:'back_id'::uuid, :'old_id'::uuid, 'a retired version can be built again, under its id');
select results_eq(
  $$ select * from memory_test.versions() $$, $$ values ('model 1', 'building'), ('model 2', 'active') $$,
  'beside the one that replaced it'
);
select is(
  memory_test.waiting('building'),
  memory_test.sorted(concat_ws(
    ' ', :'episode_id', :'fact_id', :'rule_id', :'waiting_id', :'retracted_id',
    :'during_id', :'during_embedded_id', :'during_rule_id'
  )),
  'its old vectors are gone: every memory is queued again'
);
select memory.set_embedding('fact', :'fact_id', memory_test.axis(2), :'old_id') \g /dev/null
select memory_test.as_tenant('b') \g /dev/null
select is(memory.cancel_reembedding(), false, 'a tenant cannot cancel the change of another one');
select memory.start_reembedding('model', '2') as foreign_new_id \gset
select memory.set_embedding('fact', :'foreign_id', memory_test.axis(9), :'foreign_new_id') \g /dev/null
select memory.store_fact('user', 'likes', 'juice') \g /dev/null
select memory_test.as_tenant('a') \g /dev/null
select memory.cancel_reembedding() as cancelled \gset
select is(:'cancelled'::boolean, true, 'a change that is under way can be cancelled');
select results_eq(
  $$ select * from memory_test.versions() $$, $$ values ('model 1', 'retired'), ('model 2', 'active') $$,
  'and its version is retired'
);
select is(memory_test.waiting('building'), '{}', 'no memory waits for it any more');
select is(
  memory_test.waiting('active'), array[:'during_rule_id']::uuid[], 'while what waits for the active one does'
);
select is_empty(
  $$ select s.memory_id from memory.staged_embeddings as s where s.tenant_id = 'a' $$,
  'the vectors it had so far are discarded'
);
select is(
  (
    select count(*) from memory.embedding_queue as q join memory.staged_embeddings as s using (tenant_id)
    where q.tenant_id = 'b' and q.target = 'building'
  ),
  1::bigint, 'another tenant keeps its change, its queue and its vectors'
);
select results_eq(
  $$ select * from memory_test.found(memory_test.axis(13)) $$, $$ values ('tea', 1.000000) $$,
  'searches go on as before'
);
select is(memory.cancel_reembedding(), false, 'what is cancelled cannot be cancelled again');
select memory.store_fact('user', 'wears', 'a hat') as after_id \gset
select is(
  :'after_id' = any (memory_test.waiting('building')), false,
  'what is stored after the change was cancelled is not queued for its version'
);
select memory.start_reembedding('model', '1') \g /dev/null
select is(
  :'fact_id' = any (memory_test.waiting('building')), true,
  'a change that is begun anew queues what had its vector before it was cancelled'
);

-- The first model of all may come by way of a change

select memory_test.as_tenant('c') \g /dev/null
select memory.store_fact('user', 'likes', 'tea') as first_id \gset
select memory.start_reembedding('model', '1') as first_version_id \gset
select is_empty(
  $$ select * from memory.active_embedding_version() $$, 'a change alone makes no version active'
);
select memory.set_embedding('fact', :'first_id', memory_test.axis(1), :'first_version_id') \g /dev/null
select memory.switch_embedding_version() \g /dev/null
select results_eq(
  $$ select * from memory_test.found(memory_test.axis(1)) $$, $$ values ('tea', 1.000000) $$,
  'a tenant without an active version may switch to its first one'
);
select memory_test.as_tenant('d') \g /dev/null
select memory.start_reembedding('model', '1') \g /dev/null
select memory.cancel_reembedding() \g /dev/null
select memory.register_embedding_version('model', '1') \g /dev/null
select is(
  (select v.model from memory.active_embedding_version() as v), 'model',
  'the first model that is registered becomes the active one, even after a change to it was cancelled'
);

-- A vector that was left beside its memory by another version, by a worker that outran a cancellation

select memory_test.as_tenant('e') \g /dev/null
select memory.register_embedding_version('model', '1') \g /dev/null
select memory.store_fact('user', 'likes', 'tea', embedding => memory_test.axis(1)) as left_id \gset
select memory.start_reembedding('model', '2') as left_version_id \gset
select memory.cancel_reembedding() \g /dev/null
insert into memory.staged_embeddings (tenant_id, memory_type, memory_id, embedding_version_id, embedding)
values ('e', 'fact', :'left_id', :'left_version_id', memory_test.axis(2));
select memory.start_reembedding('model', '3') \g /dev/null
select throws_ok(
  $$ select memory.switch_embedding_version() $$,
  'PM004', '1 memories have no vector of the new version yet',
  'a vector of a version that was cancelled does not pass for one of the new version'
);

select * from finish();
rollback;
