begin;
\ir fixtures.sql
select plan(62);

select memory.store_fact('Ada', 'mood', 'well') as well \gset
select memory.store_fact('Ada', 'mood', 'ill') as ill \gset
select memory.store_episode('tea', 'home') as episode \gset
select memory.store_rule('Be brief') as rule \gset

-- Sealing

select is_empty(
  $$ select * from memory.get_chain_head() $$, 'a tenant has no chain before the first seal'
);
select is_empty(
  $$ select * from memory.verify_chain() $$, 'verify_chain finds no problem before the first seal'
);
select sealed, position, hash from memory.seal_events() \gset first_
select is(
  :first_sealed, (select count(*)::integer from memory.memory_events), 'the first seal seals all events'
);
select results_eq(
  $$ select c.position, c.event_id from memory.event_chain as c order by 1 $$,
  $$ select row_number() over (order by e.seq), e.id from memory.memory_events as e order by 1 $$,
  'events are sealed in their order'
);
select results_eq(
  $$ select h.position, h.hash from memory.get_chain_head() as h $$,
  format($$ values (%s::bigint, %L::bytea) $$, :'first_position', :'first_hash'),
  'the head of the chain is what the seal returned'
);
select results_eq(
  $$ with recursive chain as (
       select c.position, sha256(memory.event_digest(e)) as hash
       from memory.event_chain as c join memory.memory_events as e on e.id = c.event_id where c.position = 1
       union all
       select c.position, sha256(p.hash || memory.event_digest(e))
       from chain as p
       join memory.event_chain as c on c.position = p.position + 1
       join memory.memory_events as e on e.id = c.event_id
     )
     select c.hash from chain as c order by c.position $$,
  $$ select c.hash from memory.event_chain as c order by c.position $$,
  'each hash is that of the previous hash and the digest of the event'
);
select results_eq(
  $$ select s.sealed, s.position, s.hash from memory.seal_events() as s $$,
  format($$ values (0::bigint, %s::bigint, %L::bytea) $$, :'first_position', :'first_hash'),
  'a seal without new events seals nothing'
);
select memory.confirm_memory('rule', :'rule', now() + interval '1 hour') \g /dev/null
select memory.forget_memory('fact', :'ill') \g /dev/null
select results_eq(
  $$ select s.sealed, s.position from memory.seal_events(max_events => 1) as s $$,
  format($$ values (1::bigint, %s + 1::bigint) $$, :'first_position'),
  'a seal may cover only part of the events'
);
select results_eq(
  $$ select s.sealed, s.position from memory.seal_events() as s $$,
  format($$ values (1::bigint, %s + 2::bigint) $$, :'first_position'),
  'the next seal covers the rest of the events'
);
select is_empty(
  $$ select * from memory.verify_chain() $$, 'verify_chain finds no problem after several seals'
);
select is_empty(
  format($$ select * from memory.verify_chain(%s, %L) $$, :'first_position', :'first_hash'),
  'verify_chain finds no problem with an earlier anchor'
);
set local timezone = 'Asia/Kathmandu';
select is_empty(
  $$ select * from memory.verify_chain() $$, 'verify_chain finds no problem in another time zone'
);
set local timezone = 'UTC';
select throws_ok(
  $$ select memory.verify_chain(1) $$, 'PM002', null, 'an anchor without a hash is refused'
);
select throws_ok(
  $$ select memory.seal_events(0) $$, 'PM002', null, 'a seal of no events is refused'
);

-- Append-only

select throws_ok(
  $$ update memory.event_chain as c set hash = c.event_digest $$, 'PM006', null,
  'a seal cannot be changed'
);
select throws_ok(
  $$ delete from memory.event_chain as c $$, 'PM006', null, 'a seal cannot be deleted'
);
select throws_ok($$ truncate memory.event_chain $$, 'PM006', null, 'the seals cannot be truncated');
select throws_ok(
  $$ delete from memory.event_chain_heads as h $$, 'PM006', null,
  'the head of a chain cannot be deleted'
);
select throws_ok(
  $$ truncate memory.event_chain_heads $$, 'PM006', null,
  'the heads of the chains cannot be truncated'
);

-- An owner or superuser who writes past all that

create function memory_test.first_problem(
  statement text,
  among text default '%' -- pattern of the problems that count
)
  returns text
  language plpgsql
as $$
declare
  v_problem text;
begin
  begin
    alter table memory.memory_events disable trigger all;
    alter table memory.event_chain disable trigger all;
    alter table memory.event_chain_heads disable trigger all;
    set local session_replication_role = replica;
    execute statement;
    set local session_replication_role = origin;
    alter table memory.memory_events enable trigger all;
    alter table memory.event_chain enable trigger all;
    alter table memory.event_chain_heads enable trigger all;
    alter table memory.memory_events enable always trigger refuse_change;
    alter table memory.memory_events enable always trigger refuse_truncate;
    alter table memory.event_chain enable always trigger refuse_change;
    alter table memory.event_chain enable always trigger refuse_truncate;
    alter table memory.event_chain_heads enable always trigger refuse_change;
    alter table memory.event_chain_heads enable always trigger refuse_truncate;
    select concat_ws(' ', p.problem, p.position) into v_problem from memory.verify_chain() as p
    where p.problem like among limit 1;
    raise exception using errcode = 'UNDO0';
  exception
    when sqlstate 'UNDO0' then return v_problem;
  end;
end;
$$;

select is(
  memory_test.first_problem('select'), null, 'verify_chain finds no problem if nothing was changed'
);
select is(
  memory_test.first_problem(format(
    $$ update memory.memory_events set %s where id = (select event_id from memory.event_chain where position = 3) $$, c.change
  )),
  'event changed 3', format('verify_chain finds an edited event: %s', c.change)
)
from (values
  ($$actor = 'somebody else'$$), ($$payload = '{}'$$), ($$created_at = created_at - interval '1 day'$$),
  ($$reason = 'other'$$), ($$login = 'postgres '$$), ($$memory_id = gen_random_uuid()$$)
) as c (change);
select is(
  memory_test.first_problem(
    $$ delete from memory.memory_events where id = (select event_id from memory.event_chain where position = 2) $$
  ),
  'event missing 2', 'verify_chain finds a deleted event'
);
select is(
  memory_test.first_problem($$ truncate memory.memory_events $$), 'event missing 1',
  'verify_chain finds that all events were deleted'
);
select is(
  memory_test.first_problem(
    $$ delete from memory.memory_events where id = (select event_id from memory.event_chain where position = 2);
       delete from memory.event_chain where position = 2 $$
  ),
  'seal missing 3', 'verify_chain finds an event that was deleted with its seal'
);
select is(
  memory_test.first_problem(
    $$ update memory.memory_events set actor = 'x' where id = (select event_id from memory.event_chain where position = 2);
       update memory.event_chain as c set event_digest = memory.event_digest(e)
       from memory.memory_events as e where e.id = c.event_id and c.position = 2 $$
  ),
  'seal changed 2', 'verify_chain finds an edited event whose seal was computed again'
);
select is(
  memory_test.first_problem(
    $$ delete from memory.event_chain where position > 2 $$
  ),
  'chain cut off ' || (select h.position from memory.get_chain_head() as h),
  'verify_chain finds a chain that was cut off'
);
select is(
  memory_test.first_problem($$ truncate memory.event_chain $$),
  'chain cut off ' || (select h.position from memory.get_chain_head() as h),
  'verify_chain finds a deleted chain'
);
select is(
  memory_test.first_problem(
    $$ truncate memory.event_chain; truncate memory.event_chain_heads; truncate memory.memory_events $$
  ),
  'memory without event', 'verify_chain finds that chain, head and events were all deleted'
);
select is(
  memory_test.first_problem(
    $$ update memory.event_chain_heads
       set settled_seq = (select max(e.seq) from memory.memory_events as e), noted_seq = null, noted_xid = null;
       insert into memory.memory_events (tenant_id, seq, event_type) overriding system value
       select h.tenant_id, h.settled_seq - 1, 'fact_created' from memory.event_chain_heads as h $$
  ),
  'event unsealed', 'verify_chain finds an event that was inserted before sealed ones'
);
create function memory_test.new_chain()
  returns text
  language plpgsql
as $$
begin
  alter table memory.event_chain disable trigger all;
  alter table memory.event_chain_heads disable trigger all;
  alter table memory.memory_events disable trigger refuse_change;
  update memory.memory_events set actor = 'somebody else'
  where id = (select c.event_id from memory.event_chain as c where c.position = 2);
  alter table memory.memory_events enable always trigger refuse_change;
  delete from memory.event_chain;
  delete from memory.event_chain_heads;
  perform memory.seal_events();
  alter table memory.event_chain enable always trigger refuse_change;
  alter table memory.event_chain enable always trigger refuse_truncate;
  alter table memory.event_chain_heads enable always trigger refuse_change;
  alter table memory.event_chain_heads enable always trigger refuse_truncate;
  return 'made anew';
end;
$$;
select is(
  memory_test.first_problem(
    $$ create rule swallow as on insert to memory.memory_events do instead nothing $$, 'guard%'
  ),
  'guard removed', 'verify_chain finds a rule that swallows events'
);
select is(
  memory_test.first_problem(
    $$ create rule swallow as on insert to memory.memory_events do instead nothing;
       set local session_replication_role = origin;
       select memory.store_rule('unheard');
       drop rule swallow on memory.memory_events $$
  ),
  'memory without event', 'verify_chain finds a memory whose event was swallowed'
);
select is(
  memory_test.first_problem(format($$ delete from memory.facts where id = %L $$, :'ill')),
  'memory missing', 'verify_chain finds a deleted memory'
);
select is(
  memory_test.first_problem(format($$ update memory.facts set validity = 'active' where id = %L $$, :'ill'), 'state%'),
  'state without event', 'verify_chain finds a state without an event'
);
-- Rows that were changed past their triggers

select memory.store_fact('Ada', 'home', 'London') as home \gset
select memory.confirm_memory('fact', :'home', now() + interval '1 hour') \g /dev/null
select memory.create_link('fact', :'home', 'rule', :'rule', 'supports') \g /dev/null
insert into memory.tenant_logins (login, tenant_id) values ('chain_login', 'a');
select t.id as token from memory.create_access_token('laptop', 'reader') as t \gset
select t.id as revoked from memory.create_access_token('phone', 'reader') as t \gset
select memory.revoke_access_token(:'revoked') \g /dev/null
select is(memory_test.first_problem('select'), null, 'rows that agree with their events are no problem');
select is(
  memory_test.first_problem(c.attack), c.problem, format('verify_chain finds %s', c.meaning)
)
from (values
  ('delete from memory.memory_links', 'row missing', 'a deleted link'),
  ($$ update memory.memory_links set relation = 'contradicts' $$, 'row changed', 'a link with another relation'),
  (
    format(
      $$ insert into memory.memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
         values (memory.current_tenant(), 'rule', %L, 'fact', %L, 'supports') $$, :'rule', :'home'
    ),
    'row without event', 'a link without an event'
  ),
  (
    $$ update memory.tenant_logins set tenant_id = 'b' where login = 'chain_login' $$, 'row missing',
    'a login that was bound to another tenant'
  ),
  (
    $$ insert into memory.tenant_logins (login, tenant_id) values ('intruder', memory.current_tenant()) $$,
    'row without event', 'a login that was bound without an event'
  ),
  ($$ update memory.access_tokens set role = 'admin' where name = 'laptop' $$, 'row changed', 'a token with more rights'),
  (
    $$ update memory.access_tokens set expires_at = expires_at + interval '1 year' where name = 'laptop' $$,
    'row changed', 'a token that is valid for longer'
  ),
  (
    $$ update memory.access_tokens set token_digest = sha256('mine') where name = 'laptop' $$, 'row changed',
    'a token that was exchanged'
  ),
  ($$ update memory.access_tokens set revoked_at = null $$, 'row changed', 'a revocation that was undone'),
  ($$ delete from memory.access_tokens where name = 'phone' $$, 'row missing', 'a deleted token'),
  (
    format($$ update memory.facts set confidence = 0.01 where id = %L $$, :'home'), 'row changed',
    'a changed memory with other values'
  )
) as c (attack, problem, meaning);

-- Lawful changes are no problem

update memory.memory_links as l set target_type = 'episode', target_id = :'episode' where l.source_id = :'home';
select is_empty($$ select * from memory.verify_chain() $$, 'an operator may move a link');
delete from memory.memory_links;
select memory.create_link('fact', :'home', 'rule', :'rule', 'supports') \g /dev/null
select is_empty($$ select * from memory.verify_chain() $$, 'a link may be deleted and created again');
update memory.access_tokens as t set role = 'writer', revoked_at = null;
update memory.tenant_logins as l set login = 'renamed_login' where l.login = 'chain_login';
select is_empty($$ select * from memory.verify_chain() $$, 'an operator may change tokens and rename logins');
delete from memory.tenant_logins where login = 'renamed_login';
select is_empty($$ select * from memory.verify_chain() $$, 'a login may be unbound');
set local timezone = 'Asia/Kathmandu';
set local extra_float_digits = -10;
select is_empty(
  $$ select * from memory.verify_chain() $$, 'states and tokens are verified alike whatever the settings of a session'
);
set local timezone = 'UTC';
reset extra_float_digits;
alter table memory.facts add column hue text;
select is_empty(
  $$ select * from memory.verify_chain() as p where p.problem <> 'definition added' $$,
  'a column that was added later is in no digest'
);
alter table memory.facts drop column hue;
select memory.erase_subject('London') \g /dev/null
select is_empty($$ select * from memory.verify_chain() $$, 'an erasure is no problem');

-- Guards

alter table memory.facts disable trigger record_changes;
select results_eq(
  $$ select p.problem, p.detail from memory.verify_chain() as p where p.problem <> 'definition changed' $$,
  $$ values ('guard removed', 'the trigger record_changes of memory.facts is disabled') $$,
  'verify_chain finds a disabled trigger'
);
alter table memory.facts enable trigger record_changes;
alter table memory.memory_events enable trigger refuse_change;
select results_eq(
  $$ select p.detail from memory.verify_chain() as p where p.problem <> 'definition changed' $$,
  $$ values ('the trigger refuse_change of memory.memory_events is not set to ENABLE ALWAYS') $$,
  'verify_chain finds a trigger that does not always fire'
);
alter table memory.memory_events enable always trigger refuse_change;
select memory_test.new_chain() \g /dev/null
select is_empty(
  $$ select * from memory.verify_chain() $$, 'a chain that was built again has no problem in itself'
);
select results_eq(
  format($$ select p.problem from memory.verify_chain(%s, %L) as p $$, :'first_position', :'first_hash'),
  $$ values ('chain cut off') $$,
  'a chain that was built again does not match an anchor kept elsewhere'
);

select memory_test.as_tenant('b') \g /dev/null
select is_empty(
  $$ select * from memory.verify_chain() $$, 'the chain of another tenant has no problem'
);

select * from finish();
rollback;
