begin;
\ir fixtures.sql
select plan(14);

create function pg_temp.metric(wanted text, labels jsonb default '{}', as_of timestamptz default '2026-01-03Z') returns float8
language sql as $$ select m.value from memory.metrics(as_of => $3) as m where m.name = $1 and m.labels = $2 $$;

select results_eq(
  $$ select m.name, m.labels, m.value from memory.metrics() as m order by m.name collate "C", m.labels $$,
  $$ values
    ('pymem_consolidation_dead_letters', '{}'::jsonb, 0::float8), ('pymem_consolidation_pending', '{}', 0),
    ('pymem_embedding_backlog', '{"target": "active"}', 0), ('pymem_embedding_backlog', '{"target": "building"}', 0),
    ('pymem_oldest_unconsolidated_seconds', '{}', 0), ('pymem_oldest_unembedded_seconds', '{}', 0),
    ('pymem_unsealed_events', '{}', (select count(*)::float8 from memory.list_events(max_results => 1000))) $$,
  'the metrics of an empty memory are zero'
);

insert into memory.episodes (tenant_id, butler, content, created_at)
values
('a', 'home', 'e1', '2026-01-01Z'), ('a', 'home', 'e2', '2026-01-02Z'), ('a', 'home', 'e3', '2025-12-01Z'),
('b', 'home', 'e4', '2025-12-31Z');
update memory.episodes as e
set consolidation_status = case e.content when 'e2' then 'failed' else 'dead_letter' end where e.content in ('e2', 'e3');
update memory.embedding_queue as q set enqueued_at = '2026-01-02Z' where q.tenant_id = 'a';
insert into memory.rules (tenant_id, content, maturity, metadata)
values ('a', 'r1', 'candidate', '{}'), ('a', 'r2', 'proven', '{"forgotten": true}');

select is(pg_temp.metric('pymem_memories', '{"type": "episode", "state": "pending"}'), 1::float8, 'episodes count by state');
select is(pg_temp.metric('pymem_memories', '{"type": "rule", "state": "forgotten"}'), 1::float8, 'a forgotten rule counts as such');
select is(pg_temp.metric('pymem_consolidation_pending'), 2::float8, 'what waits for consolidation counts once, failed or not');
select is(pg_temp.metric('pymem_consolidation_dead_letters'), 1::float8, 'dead letters count by themselves');
select is(
  pg_temp.metric('pymem_oldest_unconsolidated_seconds'), 172800::float8, 'the oldest episode tells how long consolidation is behind'
);
select is(pg_temp.metric('pymem_oldest_unembedded_seconds'), 86400::float8, 'the oldest in the queue tells how long embedding is behind');
select memory.seal_events();
select is(pg_temp.metric('pymem_unsealed_events'), 0::float8, 'sealed events are not counted as unsealed');
select throws_ok($$ select memory.metrics(as_of => null) $$, 'PM002', null, 'no time is refused');
select throws_ok($$ select memory.metrics(all_tenants => null) $$, 'PM002', null, 'neither one nor all tenants is refused');

select memory_test.a_login('metrics_tenant', 'a', 'memory_reader');
select memory_test.a_login('metrics_gateway', null, 'memory_reader, memory_gateway');
select memory_test.share_results();
set local session authorization metrics_tenant;
select throws_ok(
  $$ select memory.metrics(all_tenants => true) $$, 'PM005', null, 'a login of one tenant gets no numbers of others'
);
set local session authorization metrics_gateway;
select memory_test.as_tenant('') \g /dev/null
select ok(
  (select m.value >= 2 from memory.metrics(true) as m
   where m.name = 'pymem_memories' and m.labels = '{"type": "episode", "state": "pending"}'),
  'a gateway counts over all tenants'
);
select is_empty(
  $$ select m.labels from memory.metrics(true) as m
     where exists (select from jsonb_object_keys(m.labels) as k where k not in ('type', 'state', 'target')) $$,
  'labels name types, states and targets only'
);
select throws_ok(
  $$ select memory.metrics() $$, '28000', null, 'a gateway without a tenant has no numbers of one, also not afterwards'
);
reset session authorization;

select * from finish();
rollback;
