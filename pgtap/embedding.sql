begin;
\ir fixtures.sql
select plan(131);

-- What waits for a vector, oldest first.
create function memory_test.queue()
  returns table (target text, memory_type text, memory_id uuid, claimed_until timestamptz, attempts integer)
  language sql
  stable
  begin atomic
    select q.target, q.memory_type, q.memory_id, q.claimed_until, q.attempts
    from memory.embedding_queue as q
    where q.tenant_id = memory.current_tenant()
    order by q.target, q.enqueued_at, q.memory_type, q.memory_id;
  end;

-- The error code of a statement, or none; its effects are undone.
create function memory_test.code_of(statement text)
  returns text
  language plpgsql
as $$
begin
  execute statement;
  raise exception using errcode = 'ZZ000';
exception
  when sqlstate 'ZZ000' then
    return 'none';
  when others then
    return sqlstate;
end;
$$;

-- Before any model is registered

select is_empty(
  $$ select * from memory.active_embedding_version() $$, 'no embedding model is active at first'
);
select is_empty(
  $$ select * from memory.embedding_backlog() $$, 'nothing waits for a vector at first'
);
select memory.store_episode('Early', 'home') as early_id \gset
select results_eq(
  $$ select b.embedding_version_id, b.model, b.version, b.status, b.pending, b.claimed, b.oldest_at
     from memory.embedding_backlog() as b $$,
  $$ values (null::uuid, null::text, null::text, 'active', 1::bigint, 0::bigint, now()) $$,
  'memories wait for a model that is not yet registered'
);
select throws_ok(
  format($$ select memory.set_embedding('episode', %L, memory_test.axis(1)) $$, :'early_id'),
  'PM004', 'no embedding model is registered', 'no vector can be set before a model is registered'
);
select throws_ok(
  $$ select memory.check_embedding_version(null) $$, 'PM004', 'no embedding model is registered',
  'no vector can be stored before a model is registered'
);
select ok(
  memory.lock_embedding_version('a', null, null) is null,
  'a memory stored without a vector needs no model'
);
select throws_ok(
  $$ select memory.claim_embedding_jobs('00000000-0000-0000-0000-000000000001') $$,
  'PM001', 'no embedding version has id 00000000-0000-0000-0000-000000000001',
  'nothing can be claimed for a version that does not exist'
);

-- register_embedding_version

select throws_ok(
  $$ select memory.register_embedding_version('', '1') $$, 'PM002', null, 'a model without a name is refused'
);
select throws_ok(
  $$ select memory.register_embedding_version(E'x\nERROR: \u001b]52;', '1') $$, 'PM002',
  'model has control, direction or other invisible characters', 'a model that forges a line is refused'
);
select throws_ok(
  $$ select memory.register_embedding_version('model', U&'1\202E') $$, 'PM002',
  'version has control, direction or other invisible characters', 'a version with a direction is refused'
);
select throws_ok(
  $$ select memory.start_reembedding(E'x\u001b[1A', '1') $$, 'PM002',
  'model has control, direction or other invisible characters', 'so is the model of a change'
);
select throws_ok(
  $$ select memory.start_reembedding('model', U&'1\200B') $$, 'PM002',
  'version has control, direction or other invisible characters', 'and its version'
);
select throws_ok(
  $$ insert into memory.embedding_versions (tenant_id, model, version, status)
     values ('a', E'x\ny', '1', 'retired') $$,
  '23514', null, 'the table refuses them, too'
);
select throws_ok(
  $$ select memory.register_embedding_version(null, '1') $$, 'PM002', null, 'a NULL model is refused'
);
select throws_ok(
  $$ select memory.register_embedding_version(repeat('m', 257), '1') $$, 'PM002', null,
  'a model name of more than 256 bytes is refused'
);
select throws_ok(
  $$ select memory.register_embedding_version('model', ' ') $$, 'PM002', null, 'a blank version is refused'
);
select throws_ok(
  $$ select memory.register_embedding_version('model', null) $$, 'PM002', null, 'a NULL version is refused'
);
select throws_ok(
  $$ select memory.register_embedding_version('model', repeat('1', 129)) $$, 'PM002', null,
  'a version of more than 128 bytes is refused'
);
select throws_ok(
  $$ select memory.register_embedding_version('model', '1', 768) $$,
  'PM002', 'vectors of 768 dimensions do not fit',
  'a model with another number of dimensions is refused'
);
select throws_ok(
  $$ select memory.register_embedding_version('model', '1', null) $$,
  'PM002', 'vectors of NULL dimensions do not fit', 'a model with NULL dimensions is refused'
);
select is_empty(
  $$ select v.id from memory.embedding_versions as v $$, 'a refused model is not registered'
);
select memory.register_embedding_version('model', '1') as version_id \gset
select results_eq(
  $$ select v.id, v.model, v.version, v.dimensions from memory.active_embedding_version() as v $$,
  format($$ values (%L::uuid, 'model', '1', 384) $$, :'version_id'),
  'the first registered model becomes the active one'
);
select is(
  memory.register_embedding_version('model', '1', 384), :'version_id'::uuid,
  'registering a model again returns its id'
);
select is(
  (
    select count(*) from memory.memory_events as e
    where e.tenant_id = 'a' and e.event_type = 'embedding_version_created'
      and e.payload -> 'new' ->> 'id' = :'version_id'
  ),
  1::bigint, 'registering a model twice writes one event'
);
select throws_ok(
  $$ select memory.register_embedding_version('other', '1') $$,
  'PM004', 'the stored vectors are from model model version 1, not from other version 1',
  'a second model is refused'
);
select throws_ok(
  $$ select memory.register_embedding_version('model', '2') $$,
  'PM004', 'the stored vectors are from model model version 1, not from model version 2',
  'another version of the model is refused'
);
select is(
  (select count(*) from memory.embedding_versions as v), 1::bigint,
  'a refused second model is not registered'
);
select memory_test.as_tenant('b') \g /dev/null
select is_empty($$ select * from memory.active_embedding_version() $$, 'another tenant has no model yet');
select memory.register_embedding_version('other', '9') as foreign_version_id \gset
select is(
  (select v.model from memory.active_embedding_version() as v), 'other',
  'another tenant may register another model'
);
select memory.store_fact('foreign', 'fact', 'of b') as foreign_id \gset
select memory_test.as_tenant('a') \g /dev/null
select is(
  (select v.model from memory.active_embedding_version() as v), 'model',
  'the model of another tenant leaves the first tenant''s unchanged'
);
select memory_test.as_tenant('long') \g /dev/null
select memory.register_embedding_version(repeat('m', 256), repeat('1', 128)) \g /dev/null
select is(
  (select octet_length(v.model) from memory.active_embedding_version() as v), 256,
  'the longest name of a model can be registered'
);
select memory_test.as_tenant('a') \g /dev/null
select throws_ok(
  $$ insert into memory.embedding_versions (tenant_id, model, version, status)
     values ('a', 'other', '1', 'active') $$,
  '23505', null, 'a tenant cannot have two active versions'
);
select throws_ok(
  $$ insert into memory.embedding_versions (tenant_id, model, version, dimensions, status)
     values ('a', 'other', '1', 768, 'retired') $$,
  '23514', null, 'a version with another number of dimensions cannot be stored'
);

-- Which vectors may be stored

select is(
  memory.check_embedding_version(null), :'version_id'::uuid,
  'a vector without a version is of the active version'
);
select is(
  memory.check_embedding_version(:'version_id'), :'version_id'::uuid,
  'a vector of the active version is accepted'
);
select throws_ok(
  format($$ select memory.check_embedding_version(%L) $$, :'foreign_version_id'),
  'PM004', 'the embedding is not from the active version, model model version 1',
  'a vector of another version is refused'
);
select is(
  memory.lock_embedding_version('a', memory_test.axis(1), null), :'version_id'::uuid,
  'a vector is stored under the active version'
);
select throws_ok(
  $$ select memory.lock_embedding_version('a', '[1,2,3]', null) $$, 'PM002', null,
  'lock_embedding_version refuses a vector of the wrong length'
);
select throws_ok(
  format($$ select memory.store_rule('x', embedding => memory_test.axis(1), embedding_version_id => %L) $$,
    :'foreign_version_id'),
  'PM004', null, 'a vector of another version cannot be stored'
);
select lives_ok(
  $$ select memory.check_embedding(memory_test.axis(7)) $$, 'a unit vector is accepted'
);
select throws_ok(
  $$ select memory.check_embedding(null) $$, 'PM002', null, 'a NULL vector is refused'
);
select throws_ok(
  $$ select memory.check_embedding('[1,2,3]') $$, 'PM002', 'vectors of 3 dimensions do not fit',
  'a vector of 3 dimensions is refused'
);
select throws_ok(
  $$ select memory.check_embedding(array_fill(1, array[385])::vector) $$,
  'PM002', 'vectors of 385 dimensions do not fit', 'a vector with one dimension too many is refused'
);
select throws_ok(
  $$ select memory.check_embedding(array_fill(0, array[384])::vector) $$,
  'PM002', 'the norm of the embedding is 0', 'a zero vector is refused'
);
select throws_ok(
  $$ select memory.check_embedding(array_fill(1e-9, array[384])::vector) $$,
  'PM002', null, 'a vector with a tiny norm is refused'
);
select throws_ok(
  $$ select memory.check_embedding(array_fill(1e6, array[384])::vector) $$, 'PM002', null,
  'a vector with a huge norm is refused'
);
select throws_ok(
  $$ select memory.check_embedding(array_fill(3e38, array[384])::vector) $$, 'PM002', null,
  'a vector of the largest numbers is refused'
);
select lives_ok(
  $$ select memory.check_embedding(array_fill(1e4, array[384])::vector),
       memory.check_embedding(array_fill(1e-6, array[384])::vector) $$,
  'long and short vectors are accepted'
);

-- What is queued

select memory.store_episode('Met Ada', 'home') as episode_id \gset
select memory.store_fact('user', 'likes', 'tea') as fact_id \gset
select memory.store_rule('Ask first') as rule_id \gset
select results_eq(
  $$ select q.target, q.memory_type, q.memory_id, q.claimed_until, q.attempts from memory_test.queue() as q
     order by q.memory_type, q.memory_id $$,
  format(
    $$ select 'active', m.memory_type, m.memory_id, null::timestamptz, 0
       from (values
         ('episode', %L::uuid), ('episode', %L), ('fact', %L), ('rule', %L)
       ) as m (memory_type, memory_id)
       order by m.memory_type, m.memory_id $$,
    :'early_id', :'episode_id', :'fact_id', :'rule_id'
  ),
  'a memory stored without a vector is queued for one'
);
select memory.store_episode('Met Bob', 'home', embedding => memory_test.axis(2)) as embedded_episode_id \gset
select memory.store_fact('user', 'hates', 'rain', embedding => memory_test.axis(2)) as embedded_fact_id \gset
select memory.store_rule(
  'Bring cake', embedding => memory_test.axis(2), embedding_version_id => :'version_id'
) as embedded_rule_id \gset
select is(
  (select count(*) from memory_test.queue() as q), 4::bigint,
  'a memory stored with a vector is not queued'
);

-- claim_embedding_jobs: what it refuses

select throws_ok(
  $$ select memory.claim_embedding_jobs(batch_size => 0) $$, 'PM002', null,
  'a claim with a batch size of 0 is refused'
);
select throws_ok(
  $$ select memory.claim_embedding_jobs(batch_size => 10001) $$, 'PM002', null,
  'a claim with a batch size of more than 10000 is refused'
);
select throws_ok(
  $$ select memory.claim_embedding_jobs(batch_size => null) $$, 'PM002', null,
  'a claim with a NULL batch size is refused'
);
select throws_ok(
  $$ select memory.claim_embedding_jobs(lease => null) $$, 'PM002', 'lease is NULL', 'a NULL lease is refused'
);
select throws_ok(
  $$ select memory.claim_embedding_jobs(lease => '0') $$, 'PM002', null, 'a lease of no time is refused'
);
select throws_ok(
  $$ select memory.claim_embedding_jobs(lease => '-1 minute') $$, 'PM002', null, 'a negative lease is refused'
);
select throws_ok(
  $$ select memory.claim_embedding_jobs(lease => '24:00:01') $$, 'PM002', null,
  'a lease of more than a day is refused'
);
select throws_ok(
  $$ select memory.claim_embedding_jobs(as_of => null) $$, 'PM002', null,
  'a claim at a NULL time is refused'
);
select throws_ok(
  $$ select memory.claim_embedding_jobs(as_of => 'infinity') $$, 'PM002', null,
  'a claim at an infinite time is refused'
);
select is(
  memory_test.code_of($$ select memory.claim_embedding_jobs(as_of => now() + interval '2 days') $$), 'PM002',
  'a claim at a future time is refused'
);
select throws_ok(
  format($$ select memory.claim_embedding_jobs(%L) $$, :'foreign_version_id'), 'PM001', null,
  'a claim for the version of another tenant is refused'
);
select is(
  (select sum(q.attempts) from memory_test.queue() as q), 0::bigint,
  'a refused claim claims nothing'
);

-- claim_embedding_jobs: order, batches and leases

update memory.embedding_queue as q set enqueued_at = '2026-01-01T00:00Z' where q.memory_id = :'rule_id';
update memory.embedding_queue as q set enqueued_at = '2026-01-01T00:01Z' where q.memory_id = :'fact_id';
update memory.embedding_queue as q set enqueued_at = '2026-01-01T00:02Z' where q.memory_id = :'episode_id';
update memory.embedding_queue as q set enqueued_at = '2026-01-01T00:03Z' where q.memory_id = :'early_id';
select results_eq(
  $$ select c.memory_type, c.memory_id, c.content
     from memory.claim_embedding_jobs(batch_size => 2, as_of => '2026-01-02T00:00Z') as c $$,
  format(
    $$ values ('rule', %L::uuid, 'Ask first'), ('fact', %L, 'user likes tea') $$, :'rule_id', :'fact_id'
  ),
  'a worker claims as many as it asks for, the oldest first, each with its text'
);
select results_eq(
  $$ select q.memory_type, q.claimed_until, q.attempts from memory_test.queue() as q limit 3 $$,
  $$ values
    ('rule', '2026-01-02T00:05Z'::timestamptz, 1), ('fact', '2026-01-02T00:05Z', 1), ('episode', null, 0) $$,
  'a claim lasts five minutes by default'
);
select results_eq(
  $$ select c.memory_id, c.content
     from memory.claim_embedding_jobs(null, 2, '10 minutes', '2026-01-02T00:01Z') as c $$,
  format(
    $$ values (%1$L::uuid, 'Met Ada (%3$s)'), (%2$L, 'Early (%3$s)') $$,
    :'episode_id', :'early_id', memory.date_in_words(now())
  ),
  'a second worker claims other memories'
);
select is_empty(
  $$ select c.memory_id from memory.claim_embedding_jobs(as_of => '2026-01-02T00:04:59Z') as c $$,
  'nothing can be claimed while everything is claimed'
);
select results_eq(
  $$ select b.pending, b.claimed, b.oldest_at from memory.embedding_backlog('2026-01-02T00:04:59Z') as b $$,
  $$ values (4::bigint, 4::bigint, '2026-01-01T00:00Z'::timestamptz) $$,
  'the backlog has the number of waiting and claimed memories and the oldest time'
);
select results_eq(
  $$ select b.pending, b.claimed from memory.embedding_backlog('2026-01-02T00:05Z') as b $$,
  $$ values (4::bigint, 2::bigint) $$,
  'the backlog does not count a claim whose lease has ended'
);
select memory.store_fact('user', 'plays', 'chess') as late_id \gset
select results_eq(
  $$ select c.memory_id from memory.claim_embedding_jobs(batch_size => 1, as_of => '2026-01-02T00:05Z') as c $$,
  format($$ values (%L::uuid) $$, :'late_id'),
  'a memory that was never tried is claimed before older ones that were'
);
select results_eq(
  $$ select c.memory_id from memory.claim_embedding_jobs(as_of => '2026-01-02T00:05Z') as c $$,
  format($$ values (%L::uuid), (%L) $$, :'rule_id', :'fact_id'),
  'memories can be claimed again after their lease ends'
);
select results_eq(
  $$ select c.memory_id from memory.claim_embedding_jobs(lease => '1 day', as_of => '2026-01-02T01:00Z') as c $$,
  format(
    $$ values (%L::uuid), (%L), (%L), (%L), (%L) $$,
    :'episode_id', :'early_id', :'late_id', :'rule_id', :'fact_id'
  ),
  'a claim takes up to 32 by default, those with the fewest attempts first'
);
select results_eq(
  $$ select q.claimed_until, q.attempts from memory_test.queue() as q $$,
  $$ values
    ('2026-01-03T01:00Z'::timestamptz, 3), ('2026-01-03T01:00Z', 3), ('2026-01-03T01:00Z', 2),
    ('2026-01-03T01:00Z', 2), ('2026-01-03T01:00Z', 2) $$,
  'each claim counts as an attempt, and a lease may last a day'
);
select memory_test.as_tenant('busy') \g /dev/null
select memory.store_episode('Note ' || i, 'home') from generate_series(1, 40) as i \g /dev/null
select is(
  (select count(*) from memory.claim_embedding_jobs(as_of => '2026-01-02Z') as c), 32::bigint,
  'a claim takes 32 of a long queue by default'
);
select is(
  (select count(*) from memory.claim_embedding_jobs(batch_size => 10000, as_of => '2026-01-02Z') as c), 8::bigint,
  'the next claim takes the rest of a long queue'
);
select memory_test.as_tenant('b') \g /dev/null
select results_eq(
  $$ select c.memory_id, c.content from memory.claim_embedding_jobs(as_of => '2026-01-02Z') as c $$,
  format($$ values (%L::uuid, 'foreign fact of b') $$, :'foreign_id'),
  'a worker claims memories of its own tenant only'
);
select memory_test.as_tenant('a') \g /dev/null
select memory.store_episode(repeat('x', 300000), 'home') as long_id \gset
select is(
  (select octet_length(c.content) from memory.claim_embedding_jobs(:'version_id', as_of => '2026-01-02Z') as c),
  262144, 'only the first 256 KiB of a long text are embedded'
);

-- set_embedding

select throws_ok(
  format($$ select memory.set_embedding('thing', %L, memory_test.axis(1)) $$, :'fact_id'), 'PM002', null,
  'a vector for an unknown memory type is refused'
);
select throws_ok(
  format($$ select memory.set_embedding(null, %L, memory_test.axis(1)) $$, :'fact_id'), 'PM002', null,
  'a vector for a NULL memory type is refused'
);
select throws_ok(
  format($$ select memory.set_embedding('fact', %L, null) $$, :'fact_id'), 'PM002', 'embedding is NULL',
  'a NULL vector is refused'
);
select throws_ok(
  format($$ select memory.set_embedding('fact', %L, '[1,2,3]') $$, :'fact_id'), 'PM002', null,
  'a vector with another number of dimensions cannot be set'
);
select throws_ok(
  format($$ select memory.set_embedding('fact', %L, array_fill(0, array[384])::vector) $$, :'fact_id'),
  'PM002', null, 'a zero vector cannot be set'
);
select throws_ok(
  format($$ select memory.set_embedding('fact', %L, array_fill(1e6, array[384])::vector) $$, :'fact_id'),
  'PM002', null, 'a vector with a huge norm cannot be set'
);
select throws_ok(
  format(
    $$ select memory.set_embedding('fact', %L, memory_test.axis(1), %L) $$,
    :'fact_id', '00000000-0000-0000-0000-000000000001'
  ),
  'PM001', 'no embedding version has id 00000000-0000-0000-0000-000000000001',
  'a vector of an unknown version is refused'
);
select throws_ok(
  format(
    $$ select memory.set_embedding('fact', %L, memory_test.axis(1), %L) $$, :'fact_id', :'foreign_version_id'
  ),
  'PM001', null, 'a vector of the version of another tenant is refused'
);
insert into memory.embedding_versions (tenant_id, model, version, status)
values ('a', 'old', '0', 'retired')
returning id as retired_version_id \gset
select results_eq(
  $$ select v.id from memory.active_embedding_version() as v $$,
  format($$ values (%L::uuid) $$, :'version_id'),
  'a retired version is not the active one'
);
select throws_ok(
  format(
    $$ select memory.set_embedding('fact', %L, memory_test.axis(1), %L) $$, :'fact_id', :'retired_version_id'
  ),
  'PM004', format('embedding version %s is retired', :'retired_version_id'),
  'a vector of a retired version is refused'
);
select throws_ok(
  format($$ select memory.claim_embedding_jobs(%L) $$, :'retired_version_id'), 'PM004', null,
  'nothing can be claimed for a retired version'
);
select is(
  (select count(*) from memory.facts as f where f.id = :'fact_id' and f.embedding is null), 1::bigint,
  'a refused vector is not set'
);
select memory.set_embedding('episode', :'episode_id', memory_test.axis(3)) as set_episode \gset
select memory.set_embedding('fact', :'fact_id', memory_test.axis(4), :'version_id') as set_fact \gset
select memory.set_embedding('rule', :'rule_id', memory_test.axis(5), null) as set_rule \gset
select results_eq(
  format(
    $$ select %L::boolean, e.embedding = memory_test.axis(3), e.embedding_version_id
       from memory.episodes as e where e.id = %L $$,
    :'set_episode', :'episode_id'
  ),
  format($$ values (true, true, %L::uuid) $$, :'version_id'),
  'set_embedding sets the vector of an episode'
);
select results_eq(
  format(
    $$ select %L::boolean, f.embedding = memory_test.axis(4), f.embedding_version_id
       from memory.facts as f where f.id = %L $$,
    :'set_fact', :'fact_id'
  ),
  format($$ values (true, true, %L::uuid) $$, :'version_id'),
  'set_embedding sets the vector of a fact'
);
select results_eq(
  format(
    $$ select %L::boolean, r.embedding = memory_test.axis(5), r.embedding_version_id
       from memory.rules as r where r.id = %L $$,
    :'set_rule', :'rule_id'
  ),
  format($$ values (true, true, %L::uuid) $$, :'version_id'),
  'set_embedding sets the vector of a rule'
);
select is(
  (select array_agg(q.memory_id order by q.memory_id) from memory_test.queue() as q),
  (
    select array_agg(m.id order by m.id)
    from unnest(array[:'early_id', :'late_id', :'long_id']::uuid[]) as m (id)
  ),
  'memories whose vector was set no longer wait, and the others do'
);
select results_eq(
  format(
    $$ select e.embedding = memory_test.axis(2), f.embedding = memory_test.axis(2),
         r.embedding = memory_test.axis(2)
       from memory.episodes as e, memory.facts as f, memory.rules as r
       where e.id = %L and f.id = %L and r.id = %L $$,
    :'embedded_episode_id', :'embedded_fact_id', :'embedded_rule_id'
  ),
  $$ values (true, true, true) $$,
  'set_embedding leaves the vectors of other memories unchanged'
);
select is(
  (select count(*) from memory.episodes as e where e.id = :'early_id' and e.embedding is null), 1::bigint,
  'set_embedding leaves other memories without a vector'
);
select results_eq(
  $$ select m.id from memory.semantic_search('fact', memory_test.axis(4), max_results => 1) as m $$,
  format($$ values (%L::uuid) $$, :'fact_id'),
  'a fact is found by meaning once its vector is set'
);
select is(memory_test.events_of(:'fact_id'), '{fact_created}', 'setting a vector writes no event');
select memory.set_embedding('fact', :'fact_id', memory_test.axis(6)) as set_again \gset
select is(
  (select f.embedding from memory.facts as f where :'set_again'::boolean and f.id = :'fact_id'),
  memory_test.axis(6), 'a vector may be replaced by another one of the same version'
);
select is(
  memory.set_embedding('rule', :'late_id', memory_test.axis(1)), false,
  'setting a vector returns false if the memory type is wrong'
);
select is(
  (select count(*) from memory_test.queue() as q where q.memory_id = :'late_id'), 1::bigint,
  'a fact still waits for its vector if the memory type was wrong'
);
select is(
  memory.set_embedding('fact', :'foreign_id', memory_test.axis(1)), false,
  'setting the vector of another tenant''s fact returns false'
);
select is(
  (select f.embedding::text from memory.facts as f where f.id = :'foreign_id'), null,
  'another tenant''s fact is not given a vector'
);
select is(
  (select count(*) from memory.embedding_queue as q where q.memory_id = :'foreign_id'), 1::bigint,
  'another tenant''s fact still waits for its vector'
);
select is(
  memory.set_embedding('rule', null, memory_test.axis(1)), false,
  'setting a vector without an id returns false'
);
select gen_random_uuid() as gone_id \gset
insert into memory.embedding_queue (tenant_id, target, memory_type, memory_id)
values ('a', 'active', 'rule', :'gone_id');
select memory.set_embedding('rule', :'gone_id', memory_test.axis(1)) as set_gone \gset
select is(:'set_gone'::boolean, false, 'setting the vector of a deleted memory returns false');
select is_empty(
  format($$ select q.memory_id from memory.embedding_queue as q where q.memory_id = %L $$, :'gone_id'),
  'a deleted memory no longer waits after a call to set_embedding'
);

-- embedding_backlog

select results_eq(
  $$ select b.embedding_version_id, b.model, b.version, b.status, b.pending, b.claimed, b.oldest_at
     from memory.embedding_backlog('2026-01-02Z') as b $$,
  format(
    $$ values (
      %L::uuid, 'model', '1', 'active', 3::bigint, 3::bigint, '2026-01-01T00:03Z'::timestamptz
    ) $$,
    :'version_id'
  ),
  'the backlog is that of the active version and of the current tenant'
);
delete from memory.episodes as e where e.id = :'early_id';
select is_empty(
  format($$ select q.memory_id from memory.embedding_queue as q where q.memory_id = %L $$, :'early_id'),
  'a deleted episode no longer waits for a vector'
);
select is(
  (select array_agg(q.memory_id order by q.memory_id) from memory_test.queue() as q),
  (select array_agg(m.id order by m.id) from unnest(array[:'late_id', :'long_id']::uuid[]) as m (id)),
  'deleting an episode leaves the others waiting'
);
select memory.set_embedding('episode', :'long_id', memory_test.axis(7)) \g /dev/null
select memory.set_embedding('fact', :'late_id', memory_test.axis(8)) \g /dev/null
select results_eq(
  $$ select b.model, b.pending, b.claimed, b.oldest_at from memory.embedding_backlog() as b $$,
  $$ values ('model', 0::bigint, 0::bigint, null::timestamptz) $$,
  'the backlog of the active version is empty if nothing waits'
);

-- What the columns hold

select is_empty(
  $$ select t.name, v.problem
     from unnest('{episodes,facts,rules}'::text[]) as t (name),
       (values
         ('zero', array_fill(0, array[384])::vector), ('tiny', array_fill(1e-9, array[384])::vector),
         ('huge', array_fill(1e6, array[384])::vector)
       ) as v (problem, embedding)
     where memory_test.code_of(
       format('update memory.%I set embedding = %L where embedding is not null', t.name, v.embedding)
     ) <> 'PM002' $$,
  'no table holds a zero vector or one whose norm is out of range'
);
select is_empty(
  $$ select t.name from unnest('{episodes,facts,rules}'::text[]) as t (name)
     where memory_test.code_of(
       format('update memory.%I set embedding_version_id = null', t.name)
     ) <> '23514' $$,
  'no table holds a vector without its version'
);
select is_empty(
  $$ select t.name from unnest('{episodes,facts,rules}'::text[]) as t (name)
     where memory_test.code_of(format('update memory.%I set embedding = null', t.name)) <> '23514' $$,
  'no table holds a version without a vector'
);
select is_empty(
  format(
    $$ select t.name from unnest('{episodes,facts,rules}'::text[]) as t (name)
       where memory_test.code_of(
         format('update memory.%%I set embedding_version_id = %%L where tenant_id = ''a''', t.name, %L)
       ) <> '23503' $$,
    :'foreign_version_id'
  ),
  'no table holds a vector of a version of another tenant'
);
select is_empty(
  $$ select t.name from unnest('{episodes,facts,rules}'::text[]) as t (name)
     where memory_test.code_of(format('update memory.%I set embedding = ''[1,2,3]''', t.name)) <> '22000' $$,
  'no table holds a vector with another number of dimensions'
);

-- embedding_text: the text of a memory that is embedded

select memory_test.as_tenant('rendering');
\set session '00000000-0000-0000-0000-00000000005e'
insert into memory.episodes (tenant_id, id, butler, session_id, content, created_at, expires_at)
values
('rendering', '00000000-0000-0000-0000-000000000001', 'home', :'session', 'first', '2023-05-08 10:00Z', null),
('rendering', '00000000-0000-0000-0000-000000000003', 'home', :'session', 'third', '2023-05-08 10:01Z', null),
('rendering', '00000000-0000-0000-0000-000000000002', 'home', :'session', 'second', '2023-05-08 10:01Z', null),
('rendering', '00000000-0000-0000-0000-000000000004', 'work', :'session', 'of another', '2023-05-08 10:02Z', null),
('rendering', '00000000-0000-0000-0000-000000000005', 'home', null, 'without session', '2023-05-08 10:03Z', null);
insert into memory.episodes (tenant_id, butler, session_id, content, created_at)
values ('another tenant', 'home', :'session', 'foreign', '2023-05-08 10:04Z');
select is(
  memory.embedding_text('episode', 'new', butler => v.butler, session_id => v.session, created_at => v.created_at),
  v.expected, v.what
)
from (values
  (1, 'home', :'session'::uuid, '2023-05-09 11:00Z'::timestamptz, 'new (9 May 2023) third',
    'an episode is embedded with its day and the previous turn'),
  (2, 'home', :'session', '2023-05-08 10:00:30Z', 'new (8 May 2023) first',
    'the previous turn is the last one before the time of the episode'),
  (3, 'home', :'session', '2023-05-08 09:00Z', 'new (8 May 2023)',
    'the first episode of a session has no previous turn'),
  (4, 'work', :'session', '2023-05-08 11:00Z', 'new (8 May 2023) of another',
    'each butler has its own turns'),
  (5, 'home', null, '2023-05-08 11:00Z', 'new (8 May 2023)',
    'an episode without a session has no previous turn')
) as v (position, butler, session, created_at, expected, what)
order by v.position;
select is(
  memory.embedding_text('episode', 'new', butler => 'home', as_of => '2023-05-10Z'), 'new (10 May 2023)',
  'an episode without a time has the day of as_of'
);
select is(
  memory.embedding_text(v.type, 'tea', 'user', 'likes_most', 'home', :'session', '2023-05-08 11:00Z'),
  v.expected, format('a %s is embedded without a day and a previous turn', v.type)
)
from (values ('fact', 'user likes most tea'), ('rule', 'tea')) as v (type, expected)
order by v.type;
select throws_ok(
  $$ select memory.embedding_text('link', 'tea') $$, 'PM002', null,
  'embedding_text refuses an unknown memory type'
);
select results_eq(
  $$ select c.content from memory.claim_embedding_jobs() as c where c.memory_type = 'episode' order by 1 $$,
  $$ values
     ('first (8 May 2023)'), ('of another (8 May 2023)'), ('second (8 May 2023) first'),
     ('third (8 May 2023) second'), ('without session (8 May 2023)') $$,
  'a worker gets the same text, and turns of the same time are ordered by id'
);
-- A version keeps the rendering that was set when it was registered.
select memory.configure('{"embedding_rendering": "previous"}') \g /dev/null
select is(
  memory.embedding_text('episode', 'new', butler => 'home', session_id => :'session', created_at => '2023-05-09Z'),
  'new third', 'without a version the setting embedding_rendering applies'
);
select memory.register_embedding_version('model', '1') as rendering_version_id \gset
select memory.configure('{"embedding_rendering": "dated"}') \g /dev/null
select is(
  memory.embedding_text('episode', 'new', butler => 'home', session_id => :'session', created_at => '2023-05-09Z'),
  'new third', 'the rendering of the registered version applies, whatever the setting'
);
select memory.start_reembedding('model', '1') as dated_version_id \gset
select results_eq(
  $$ select v.rendering, v.status from memory.current_embedding_versions() as v $$,
  $$ values ('previous', 'active'), ('dated', 'building') $$,
  'the same model can be built again with another rendering'
);
select memory.cancel_reembedding() \g /dev/null

-- What waits although it is gone

select memory_test.as_tenant('gone');
select memory.register_embedding_version('model', '1') \g /dev/null
select memory.store_rule('Wait') as waiting_rule \gset
insert into memory.embedding_queue (tenant_id, target, memory_type, memory_id, enqueued_at)
select 'gone', 'active', 'rule', gen_random_uuid(), '2020-01-01Z' from generate_series(1, 40);
select is_empty($$ select from memory.claim_embedding_jobs(batch_size => 1, as_of => now() - interval '50 hours') as j where j.content <> 'Wait' $$, 'what is gone is claimed by nobody');
select results_eq(
  $$ select distinct c.content from generate_series(1, 50) as n, memory.claim_embedding_jobs(batch_size => 10, as_of => now() - interval '50 hours' + n * interval '1 hour') as c $$,
  $$ values ('Wait') $$, 'what is there is claimed even if much before it is gone'
);
select results_eq(
  $$ select q.memory_id from memory.embedding_queue as q where q.tenant_id = 'gone' $$,
  format('values (%L::uuid)', :'waiting_rule'), 'only what is gone waits no longer'
);

-- Work

select memory_test.as_tenant('busy') \g /dev/null
select count(*)
from memory.store_facts((
  select jsonb_agg(jsonb_build_object('subject', 'person ' || n, 'predicate', 'likes', 'content', 'thing ' || n))
  from generate_series(1, 4000) as n
)) \g /dev/null
create view memory_test.work as
select s.seq_tup_read + s.idx_tup_fetch as rows_read
from pg_stat_xact_user_tables as s where s.relid = 'memory.embedding_queue'::regclass;
-- Plans made while the queue was short are made anew, as after autovacuum.
discard plans;
select w.rows_read from memory_test.work as w \gset
select count(*) as claimed from memory.claim_embedding_jobs(batch_size => 20) \gset
select cmp_ok(
  (w.rows_read - :rows_read) / :claimed, '<', 10::bigint, 'claiming some jobs reads little of a long queue'
)
from memory_test.work as w;

select * from finish();
rollback;
