begin;
\ir fixtures.sql
select plan(19);

select memory_test.a_login('verifications_reader', 'a', 'memory_reader');
select memory_test.a_login('verifications_worker', 'a', 'memory_worker');
select memory_test.share_results();
select memory_test.as_tenant('c') \g /dev/null

select results_eq(
  $$ select * from memory.chain_status() $$,
  $$ values (0::bigint, null::bytea, null::timestamptz, 0::bigint, null::timestamptz, null::bigint, null::text, null::integer) $$,
  'before the first event there is nothing to say'
);
select memory_test.as_tenant('a') \g /dev/null
select is((select s.unsealed_events from memory.chain_status() as s), 2::bigint, 'each login was an event');
select memory.store_rule('Offer tea') \g /dev/null
select memory.store_rule('Offer milk') \g /dev/null
select is((select s.unsealed_events from memory.chain_status() as s), 4::bigint, 'events without a seal are counted');
select s.hash as sealed, s.position as sealed_position from memory.seal_events() as s \gset
select results_eq(
  $$ select s.position, s.hash, s.unsealed_events, s.sealed_at from memory.chain_status() as s $$,
  format($$ values (4::bigint, %L::bytea, 0::bigint, now()) $$, :'sealed'),
  'after a seal none is left'
);
select memory.store_rule('Offer sugar') \g /dev/null
select is((select s.unsealed_events from memory.chain_status() as s), 1::bigint, 'until the next event');

select is_empty($$ select * from memory.list_verifications() $$, 'nobody has verified the chain yet');
set local session authorization verifications_worker;
select memory.set_request(actor => 'Ada') \g /dev/null
select is_empty($$ select * from memory.record_verification(as_of => '2026-01-01Z') $$, 'a chain without problems is verified');
select is_empty(format($$ select * from memory.record_verification(4, %L, '2026-01-02Z') $$, :'sealed'), 'against a seal that was kept elsewhere, too');
set local session authorization verifications_reader;
select results_eq(
  $$ select v.verified_at, v.actor, v.position, v.hash, v.has_anchor, v.problems from memory.list_verifications() as v $$,
  format(
    $$ values ('2026-01-02Z'::timestamptz, 'Ada', 4::bigint, %L::bytea, true, 0), ('2026-01-01Z', 'Ada', 4, %L, false, 0) $$, :'sealed', :'sealed'
  ),
  'a reader sees when it was verified, by whom and with which result'
);
select results_eq(
  $$ select s.verified_at, s.verified_position, s.verified_by, s.problems from memory.chain_status() as s $$,
  $$ values ('2026-01-02Z'::timestamptz, 4::bigint, 'Ada', 0) $$, 'the status names the last time'
);
set local session authorization default;
select memory_test.as_tenant('a') \g /dev/null
select is(
  (select jsonb_agg(e.payload order by e.seq) from memory.memory_events as e where e.event_type = 'chain_verified'),
  '[{"position": 4, "problems": 0, "has_anchor": false}, {"position": 4, "problems": 0, "has_anchor": true}]', 'each is audited'
);
alter table memory.memory_events disable trigger user;
update memory.memory_events set actor = 'nobody' where seq = (select min(e.seq) from memory.memory_events as e where e.event_type = 'rule_created' and e.tenant_id = 'a');
alter table memory.memory_events enable trigger user;
alter table memory.memory_events enable always trigger refuse_change;
alter table memory.memory_events enable always trigger refuse_truncate;
select is(
  (select array_agg(p.problem) from memory.record_verification(as_of => '2026-01-03Z') as p), '{event changed}', 'problems are returned'
);
select is((select s.problems from memory.chain_status() as s), 1, 'and counted');
select is((select count(*) from memory.list_verifications(1)), 1::bigint, 'max_results limits the list');
select throws_ok($$ select memory.record_verification(1) $$, 'PM002', null, 'half an anchor is refused');
select throws_ok($$ update memory.chain_verifications set problems = 0 $$, 'PM006', null, 'a result cannot be changed');
select throws_ok($$ delete from memory.chain_verifications $$, 'PM006', null, 'or deleted');
select memory_test.as_tenant('b') \g /dev/null
select is_empty($$ select * from memory.list_verifications() $$, 'another tenant has its own verifications');
select is((select s.position from memory.chain_status() as s), 0::bigint, 'and its own chain');

select * from finish();
rollback;
