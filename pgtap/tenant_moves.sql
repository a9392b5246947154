begin;
\ir fixtures.sql
select plan(86);

-- list_tables

select is_empty(
  $$ select c.oid::regclass from pg_class as c
     left join memory.list_tables() as t on t.table_name = c.relname
     where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p') and t.table_name is null $$,
  'list_tables knows every table'
);
select results_eq(
  $$ select t.kind, t.table_name from memory.list_tables() as t where t.kind <> 'tenant' $$,
  $$ values
     ('server', 'common_runner'), ('server', 'definitions'), ('local', 'login_codes'), ('reference', 'memory_types'),
     ('reference', 'sensitive_patterns'), ('local', 'sessions'), ('server', 'tenant_logins'), ('server', 'tenant_moves'), ('reference', 'time_words'),
     ('reference', 'transitions') $$,
  'all tables move with a tenant but those of its browsers, reference data and those about the server'
);
select is_empty(
  $$ select t.table_name from memory.list_tables() as t
     where t.kind in ('tenant', 'local') and t.key[1] is distinct from 'tenant_id' $$,
  'the key of each table of tenants begins with the tenant, so that replication can tell whose row goes'
);
select is_empty(
  $$ select t.table_name, c.relpersistence, c.relreplident
     from memory.list_tables() as t
     join pg_class as c on c.oid = format('memory.%I', t.table_name)::regclass
     where c.relpersistence <> 'p' or c.relreplident <> 'd' $$,
  'each table is logged, and replicates changes by its key'
);
select results_eq(
  $$ select t.columns @> '{id,content,embedding}', t.columns && '{lifecycle_state}'
     from memory.list_tables() as t where t.table_name = 'facts' $$,
  $$ values (true, false) $$,
  'the columns of a table are those that are not computed'
);
select results_eq(
  $$ select t.table_name, t.sequence_name, t.sequence_column from memory.list_tables() as t
     where t.sequence_name is not null $$,
  $$ values
     ('corpus_deltas', 'memory.corpus_deltas_id_seq', 'id'),
     ('memory_events', 'memory.memory_events_seq_seq', 'seq') $$,
  'list_tables names the sequences'
);
select is_empty(
  $$ select t.tgrelid::regclass, t.tgname from pg_trigger as t
     join pg_class as c on c.oid = t.tgrelid
     where c.relnamespace = 'memory'::regnamespace and t.tgenabled = 'A' and t.tgtype & 4 = 4 $$,
  'no trigger fires when a row arrives by replication'
);
select is_empty(
  $$ select a.attrelid::regclass, a.attname
     from pg_attribute as a
     join pg_class as c on c.oid = a.attrelid
     join pg_type as t on t.oid = a.atttypid
     where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r' and a.attnum > 0
       and t.typsend = 0 $$,
  'every column has a type that can be sent, and so compared between servers'
);

-- Two tenants with a memory each, and a login each.

select memory_test.share_results();
create function memory_test.furnish(tenant_id text)
  returns uuid
  language plpgsql
as $$
declare
  v_fact_id uuid;
begin
  perform memory_test.as_tenant(tenant_id);
  perform memory.store_episode('Tea was drunk', 'home');
  v_fact_id := memory.store_fact('user', 'drinks', 'tea', embedding => null);
  perform memory.store_rule('Offer tea');
  perform memory.put_items('[{"namespace": ["tea"], "key": "key", "value": {}}]');
  perform memory.seal_events();
  insert into memory.login_codes
    (tenant_id, code_digest, login, role, actor, created_at, expires_at)
  values (
    furnish.tenant_id, sha256('code'), 'moves_a', 'reader', 'Ada', now(), now() + interval '1 minute'
  );
  return v_fact_id;
end;
$$;
select memory_test.furnish('b') as fact_of_b \gset
select memory_test.furnish('a') as fact_of_a \gset
select memory_test.a_login('moves_a', 'a', 'memory_writer, memory_worker, memory_reader, memory_admin');
select memory_test.a_login('moves_b', 'b', 'memory_writer, memory_worker, memory_reader, memory_admin');
select memory_test.a_login('moves_all', null, 'memory_worker, memory_gateway');
select memory_test.as_tenant('a');
select '10000000-0000-0000-0000-000000000001'::uuid as move \gset
select '10000000-0000-0000-0000-000000000002'::uuid as other_move \gset

-- begin_move

select throws_ok(
  format($$ select memory.begin_move('nobody', %L, 'source', 'other:5432/memory') $$, :'move'), 'PM001', null,
  'a tenant without rows does not leave'
);
select throws_ok(
  format($$ select memory.begin_move('a', %L, 'target', 'other:5432/memory') $$, :'move'), 'PM004',
  'tenant ''a'' has rows here, in corpus_deltas', 'a tenant does not come to where it has rows'
);
select throws_ok(
  format($$ select memory.begin_move('', %L, 'source', 'other:5432/memory') $$, :'move'), 'PM002', null,
  'a move needs a tenant'
);
select throws_ok(
  format($$ select memory.begin_move('a', %L, 'middle', 'other:5432/memory') $$, :'move'), 'PM002', null,
  'a move has two sides'
);
select lives_ok(
  format($$ select memory.begin_move('a', %L, 'source', 'other:5432/memory') $$, :'move'), 'a tenant begins to leave'
);
select lives_ok(
  format($$ select memory.begin_move('a', %L, 'source', 'other:5432/memory') $$, :'move'),
  'beginning the same move again does nothing'
);
select throws_ok(
  format($$ select memory.begin_move('a', %L, 'source', 'other:5432/memory') $$, :'other_move'), 'PM004', null,
  'a tenant is in one move at a time'
);
select throws_ok(
  format($$ select memory.begin_deletion('a', %L) $$, :'other_move'), 'PM004', null,
  'a tenant in a move is not deleted'
);
select lives_ok(
  $$ select memory.store_fact('user', 'eats', 'cake') $$, 'a tenant that begins to leave is written'
);

-- Steps

select throws_ok(
  format($$ select memory.set_move_step('a', %L, 'left') $$, :'move'), 'PM003', null,
  'a tenant does not leave before it is frozen'
);
select throws_ok(
  format($$ select memory.set_move_step('a', %L, 'arrived') $$, :'move'), 'PM003', null,
  'the source does not take steps of the target'
);
select throws_ok(
  format($$ select memory.set_move_step('a', %L, null) $$, :'move'), 'PM003', null, 'a step is not NULL'
);
select throws_ok(
  format($$ select memory.set_move_step('a', %L, 'frozen') $$, :'other_move'), 'PM001', null,
  'another move does not set the step'
);
select lives_ok(
  format($$ select memory.set_move_step('a', %L, 'frozen') $$, :'move'), 'a tenant is frozen'
);
select lives_ok(
  format($$ select memory.set_move_step('a', %L, 'frozen') $$, :'move'), 'a step to where it is does nothing'
);

-- A frozen tenant can be read, and not written.

select memory_test.as_tenant('');
set local session authorization moves_a;
select is(
  (select count(*) from memory.search('tea')), 3::bigint, 'a frozen tenant is searched'
);
select is(
  (select count(*) from memory.recall('tea')), 3::bigint, 'recall works on a frozen tenant'
);
select isnt(
  memory.get_memory('fact', :'fact_of_a'), null, 'get_memory works on a frozen tenant'
);
select is(
  (select count(*) from memory.get_items('[{"namespace": ["tea"], "key": "key", "refresh": true}]')), 1::bigint,
  'get_items works on a frozen tenant'
);
select isnt(memory.context('tea', 'home'), null, 'context works on a frozen tenant');
select is_empty($$ select * from memory.verify_chain() $$, 'the chain of a frozen tenant is verified');
select throws_ok(
  $$ select memory.store_fact('user', 'wants', 'more tea') $$, 'PM010',
  'tenant ''a'' is moving to another server and can only be read now', 'store_fact is refused on a frozen tenant'
);
select throws_ok(
  $$ select memory.store_episode('More tea was drunk', 'home') $$, 'PM010', null,
  'store_episode is refused on a frozen tenant'
);
select throws_ok(
  format($$ select memory.forget_memory('fact', %L) $$, :'fact_of_a'), 'PM010', null,
  'forget_memory is refused on a frozen tenant'
);
select throws_ok(
  $$ select memory.erase_subject('user') $$, 'PM010', null, 'erase_subject is refused on a frozen tenant'
);
select throws_ok(
  $$ select memory.configure('{"retrieval_limit": 7}') $$, 'PM010', null, 'configure is refused on a frozen tenant'
);
select throws_ok(
  $$ select memory.put_items('[{"namespace": ["tea"], "key": "key", "value": {"of": "a"}}]') $$, 'PM010', null,
  'put_items is refused on a frozen tenant'
);
select throws_ok(
  $$ select memory.claim_embedding_jobs() $$, 'PM010', null, 'a worker claims no job of a frozen tenant'
);
select throws_ok(
  $$ select memory.seal_events() $$, 'PM010', null, 'events of a frozen tenant are not sealed'
);
set local session authorization moves_b;
select lives_ok(
  $$ select memory.store_fact('user', 'wants', 'more tea') $$, 'other tenants are written meanwhile'
);
select lives_ok(
  $$ select memory.erase_subject('nobody') $$, 'other tenants delete meanwhile'
);
reset session authorization;
insert into memory.job_runs (tenant_id, job, known_since, due_at)
select t.tenant_id, 'seal_events', now(), now() from unnest('{a,b}'::text[]) as t (tenant_id);
set local session authorization moves_all;
select results_eq(
  $$ select t.tenant_id from memory.list_tenants() as t $$, $$ values ('b') $$,
  'workers leave out a tenant that is frozen'
);
select results_eq(
  $$ select t.tenant_id from memory.list_busy_tenants('embedding') as t $$, $$ values ('b') $$,
  'also where work of it waits'
);
select results_eq(
  $$ select distinct d.tenant_id from memory.find_due_jobs_all_tenants() as d $$,
  $$ values ('b') $$, 'and where its jobs are due'
);
reset session authorization;
select throws_ok(
  $$ select memory.unbind_login('moves_a') $$, 'PM010', null, 'a login of a frozen tenant is not unbound'
);
select throws_ok(
  $$ select memory.bind_login('moves_a', 'b') $$, 'PM010', null,
  'a login of a frozen tenant is not bound to another one'
);
select memory_test.as_tenant('a');
select is(
  (select f.reference_count from memory.facts as f where f.id = :'fact_of_a'), 0,
  'what was read of a frozen tenant was not counted'
);

-- The last event

select memory.mark_freeze('a') as mark \gset
select ok(memory.has_event('a', :'mark'), 'the mark of the freeze is an event');
select ok(not memory.has_event('b', :'mark'), 'an event of another tenant is none');
select is(
  (select e.event_type from memory.memory_events as e where e.tenant_id = 'a' order by e.seq desc limit 1),
  'tenant_frozen', 'the mark of the freeze is the last event'
);

-- Undone, and again

select lives_ok(
  format($$ select memory.set_move_step('a', %L, 'begun') $$, :'move'), 'a frozen tenant thaws'
);
select lives_ok(
  $$ select memory.store_fact('user', 'wants', 'more tea') $$, 'and is written again'
);
select throws_ok(
  $$ select memory.delete_rows('a', 'facts') $$, 'PM003', null, 'rows of a tenant in use are not deleted'
);
select memory.set_move_step('a', :'move', 'frozen');
select memory.set_move_step('a', :'move', 'left');

-- A tenant that has left

select memory_test.as_tenant('');
set local session authorization moves_a;
select throws_ok(
  $$ select * from memory.search('tea') $$, 'PM010', 'tenant ''a'' is on another server',
  'a tenant that has left is not read'
);
select throws_ok(
  $$ select memory.store_fact('user', 'wants', 'more tea') $$, 'PM010', null, 'nor written'
);
select set_config('memory.moving', 'on', true);
select throws_ok(
  $$ select * from memory.search('tea') $$, 'PM010', null, 'whatever settings its logins make'
);
reset session authorization;
select memory_test.as_tenant('a');
select is(
  (select count(*) from memory.search('tea')), 4::bigint, 'but by a superuser who moves it'
);
select set_config('memory.moving', '', true);
select throws_ok(
  $$ select * from memory.search('tea') $$, 'PM010', null, 'who has to say so'
);

-- Copies

select columns as columns from (
  select jsonb_object_agg(t.table_name, t.columns) as columns
  from memory.list_tables() as t where t.kind = 'tenant'
) as c \gset
create temporary table digests as
select * from memory.digest_tables('a', :'columns');
select results_eq(
  $$ select d.row_count from digests as d where d.table_name in ('facts', 'settings', 'rules') order by d.table_name $$,
  $$ values (3::bigint), (1::bigint), (0::bigint) $$,
  'digest_tables counts the rows of a tenant'
);
select cmp_ok(
  memory.remember_digests('a', :'columns'), '=', (select sum(d.row_count) from digests as d)::bigint,
  'remember_digests reads every row of the tenant'
);
select bag_eq(
  $$ select * from memory.digest_remembered('a') $$, $$ select * from digests $$,
  'digests that are remembered are the same'
);
update memory.facts as f set importance = 9 where f.id = :'fact_of_a';
select results_eq(
  $$ select t.table_name from memory.digest_remembered('a') as t join digests as d using (table_name)
     where t.digest <> d.digest and t.row_count = d.row_count $$,
  $$ values ('facts') $$,
  'a changed row changes the digest of its table, and no other'
);
select bag_eq(
  $$ select * from memory.digest_remembered('a') $$,
  format($$ select * from memory.digest_tables('a', %L) $$, :'columns'),
  'digests that are remembered are those of all rows as they are'
);
select is_empty(
  format(
    $$ select t.table_name from memory.digest_tables('b', %L) as t join digests as d using (table_name)
       where t.row_count > 0 and t.digest = d.digest $$, :'columns'
  ),
  'rows of another tenant have other digests'
);

-- delete_rows

select throws_ok(
  $$ select memory.delete_rows('a', 'facts') $$, 'PM002', null,
  'rows of a tenant that has left are not deleted where triggers would record it'
);
set local session_replication_role = replica;
select throws_ok(
  $$ select memory.delete_rows('a', 'transitions') $$, 'PM002', null, 'rows without a tenant are not deleted'
);
select throws_ok(
  $$ select memory.delete_rows('b', 'facts') $$, 'PM003', null, 'nor those of a tenant that is here'
);
select is(memory.delete_rows('a', 'facts', 2), 2::bigint, 'delete_rows deletes as many as asked for');
select is(memory.find_rows('a') is null, false, 'find_rows finds what is left');
select throws_ok(
  format($$ select memory.set_move_step('a', %L, 'deleted') $$, :'move'), 'PM003', null,
  'a tenant is not deleted while it has rows'
);
create temporary table deleted as
select t.table_name, memory.delete_rows('a', t.table_name) as row_count
from memory.list_tables() as t where t.kind in ('tenant', 'local');
select is(memory.find_rows('a'), null, 'every row is deleted, events and seals included');
select ok(
  (select d.row_count > 5 from deleted as d where d.table_name = 'memory_events'), 'which are rows of the tenant'
);
select results_eq(
  $$ select d.table_name, d.row_count from deleted as d where d.table_name in ('sessions', 'login_codes') $$,
  $$ values ('login_codes', 1::bigint), ('sessions', 0) $$,
  'and codes for its browsers, which no copy has'
);
set local session_replication_role = origin;
select is(
  (select count(*) from memory.facts as f where f.tenant_id = 'b'), 2::bigint, 'other tenants keep theirs'
);
select throws_ok(
  $$ delete from memory.memory_events as e where e.tenant_id = 'b' $$, 'PM006', null,
  'events of a tenant that is here are not deleted'
);

-- Back again

select memory.set_move_step('a', :'move', 'deleted');
select results_eq(
  $$ select s.tenant_id, s.memories, s.row_count > 10, s.octets > 8192, s.side, s.step
     from memory.list_tenant_sizes() as s $$,
  $$ values ('a', 0::bigint, false, false, 'source', 'deleted'), ('b', 4, true, true, null, null) $$,
  'list_tenant_sizes lists the tenants that are here, and those that have left'
);
select throws_ok(
  format($$ select memory.end_move('a', %L) $$, :'move'), 'PM003', null, 'a server remembers who has left'
);
select lives_ok(
  format($$ select memory.begin_move('a', %L, 'target', 'other:5432/memory') $$, :'other_move'),
  'a tenant that has left may come back'
);
set local session authorization moves_a;
select throws_ok(
  $$ select * from memory.search('tea') $$, 'PM010', null, 'a tenant that is coming is not read'
);
reset session authorization;
select memory.set_move_step('a', :'other_move', 'copied');
insert into memory.memory_events (tenant_id, seq, event_type)
overriding system value values ('a', 5000000000, 'from another server');
select is(
  memory.last_numbers('a') ->> 'memory.memory_events_seq_seq', '5000000000',
  'last_numbers finds the largest number of the tenant'
);
select memory.advance_sequences(memory.last_numbers('a'));
select memory.advance_sequences('{"memory.memory_events_seq_seq": 7}');
select cmp_ok(
  (memory.last_numbers() ->> 'memory.memory_events_seq_seq')::bigint, '>', 5000000000,
  'advance_sequences goes beyond it, and never back'
);
select memory.arrive('a', :'other_move', '{moves_a,moves_new}');
select results_eq(
  $$ select l.login from memory.tenant_logins as l where l.tenant_id = 'a' order by 1 $$,
  $$ values ('moves_a'::name), ('moves_new') $$,
  'the logins of a tenant arrive with it'
);
select results_eq(
  $$ select e.event_type, e.seq > 5000000000 from memory.memory_events as e
     where e.tenant_id = 'a' order by e.seq desc limit 1 $$,
  $$ values ('tenant_arrived', true) $$,
  'its next event comes after all that have come with it'
);
select results_eq(
  $$ select b.login, b.roles from memory.list_bindings('b') as b $$,
  $$ values ('moves_b'::name, '{memory_admin,memory_reader,memory_worker,memory_writer}'::name[]) $$,
  'bindings tell the roles of their logins, without a prefix'
);
select throws_ok(
  $$ select memory.copy_bindings('a', '{moves_b}') $$, 'PM004', null,
  'a login of another tenant does not change sides'
);
select ok(memory.end_move('a', :'other_move'), 'a move ends when the tenant has arrived');
select ok(not memory.end_move('a', :'other_move'), 'once');

-- begin_deletion

select memory.begin_deletion('a', :'move');
set local session authorization moves_a;
select throws_ok(
  $$ select * from memory.search('tea') $$, 'PM010', null, 'a tenant that is being deleted is not read'
);
reset session authorization;

select * from finish();
rollback;
