begin;
\ir fixtures.sql
select plan(145);

-- What a check finds, without its hints.
create function memory_test.found(
  check_name text,
  as_of timestamptz default now()
)
  returns text[]
  language sql
  stable
  return array(
    select format('%s %s: %s', d.severity, d.subject, d.message)
    from memory.diagnose(as_of => found.as_of) with ordinality as d
    where d.check_name = found.check_name
    order by d.ordinality
  );

-- Follows the hints of a check, in a transaction, where nothing is concurrent.
create function memory_test.follow(check_name text)
  returns void
  language plpgsql
as $$
declare
  v_hint text;
begin
  for v_hint in
    select d.hint from memory.diagnose() as d where d.check_name = follow.check_name
  loop
    execute replace(regexp_replace(v_hint, '^[^:]*: ', ''), ' concurrently', '');
  end loop;
end;
$$;

select memory_test.a_login('doctor_writer', 'a', 'memory_writer');
select memory_test.a_login('doctor_reader', 'a', 'memory_reader');
select memory_test.a_login('doctor_worker', 'a', 'memory_worker');
select memory_test.a_login('doctor_admin', 'a', 'memory_admin');
select memory_test.a_login('doctor_unbound', null, 'memory_writer');
select memory_test.a_login('doctor_gateway', null, 'memory_writer, memory_gateway');
select memory_test.a_login('doctor_both', 'a', 'memory_writer, memory_gateway');
select memory_test.a_login('doctor_bypass', 'a', 'memory_writer');
alter role doctor_bypass bypassrls;
create role doctor_chief superuser;
select memory_test.a_login('doctor_deputy', 'a', 'memory_writer, doctor_chief');
select memory_test.a_login('doctor_owner', 'a', 'memory_writer, memory_owner, memory_search');
create extension if not exists pg_trgm with schema public;
grant execute on function memory_test.found(text, timestamptz) to public;
select memory_test.share_results();

-- A healthy memory. Tests that were rolled back may have left tables large.

analyze;
select memory.register_embedding_version('model', '1') as version \gset
select memory.store_episode('Tea was drunk', 'home', embedding => memory_test.axis(1)) \g /dev/null
select memory.store_fact('Ada', 'likes', 'tea', embedding => memory_test.axis(1)) as fact \gset
select memory.store_rule('Offer tea', embedding => memory_test.axis(1)) as rule \gset
set session authorization doctor_writer;
select is_empty(
  'select * from memory.diagnose()', 'an ordinary login of a healthy memory has no findings'
);
select results_eq(
  'select d.severity, d.check_name, d.subject, d.hint from memory.diagnose(true) as d',
  $$ select 'ok', c.name, null::text, null::text
     from unnest(
       '{login,server,row_security,guards,definitions,privileges,indexes,statistics,moves,embeddings,consolidation,jobs,fading,settings,tokens}'
       ::text[]
     ) with ordinality as c (name, position)
     order by c.position $$,
  'every check reports ok on request'
);
select is(
  (select d.message from memory.diagnose(true) as d where d.check_name = 'login'),
  $$doctor_writer acts for tenant 'a' and is subject to row security$$,
  'the login check says who acts for which tenant'
);
reset session authorization;
select is_empty(
  $$ select d.* from memory.diagnose(as_of => now() + interval '50 minutes') as d where d.check_name <> 'login' $$,
  'memories that have just been stored may wait a while'
);

-- Logins

select is(
  memory_test.found('login'),
  array[format('error %1$s: the login %1$I is a superuser, which bypasses row security', session_user)],
  'a superuser is an error'
);
select memory_test.as_tenant('') \g /dev/null
select is(
  array(select d.check_name from memory.diagnose(true) as d where d.severity = 'ok'),
  '{server,row_security,guards,definitions,privileges,indexes,statistics,moves}',
  'without a tenant only the database is checked'
);
select matches(
  array_to_string(memory_test.found('login'), '; '),
  'warning \w+: no tenant is set, so only the database was checked',
  'a superuser without a tenant is warned that no memories were checked'
);
select memory_test.as_tenant('a') \g /dev/null

set session authorization doctor_gateway;
select is(memory_test.found('login'), '{}', 'a gateway that names a tenant has no finding');
select set_config('memory.tenant_id', '', true) \g /dev/null
select is(
  memory_test.found('login'),
  array['warning doctor_gateway: no tenant is set, so only the database was checked, not the memories'],
  'a gateway without a tenant is warned that no memories were checked'
);
set session authorization doctor_unbound;
select is(
  memory_test.found('login'),
  array['error doctor_unbound: the login doctor_unbound is not bound to a tenant, so every call is refused'],
  'a login bound to no tenant is an error'
);
set session authorization doctor_both;
select is(
  memory_test.found('login'),
  array['info memory_gateway: the login doctor_both is bound to tenant ''a'', so its role memory_gateway has no effect'],
  'the gateway role of a bound login is an info'
);
set session authorization doctor_bypass;
select is(
  memory_test.found('login'),
  array['error doctor_bypass: the login doctor_bypass has BYPASSRLS and bypasses row security'],
  'a login with BYPASSRLS is an error'
);
set session authorization doctor_deputy;
select is(
  memory_test.found('login'),
  array['error doctor_chief: the login doctor_deputy can become doctor_chief, which bypasses row security'],
  'a login that may become a superuser is an error'
);
set session authorization doctor_owner;
select is(
  memory_test.found('login'),
  array[
    'error memory_owner: the login doctor_owner is a member of memory_owner, which can change tables and turn off the audit',
    'error memory_search: the login doctor_owner is a member of memory_search, which can read the memories of every tenant'
  ],
  'a login that is a member of the owner roles is an error'
);
set session authorization doctor_reader;
select is_empty('select * from memory.diagnose()', 'a reader may call doctor');
set session authorization doctor_worker;
select is_empty('select * from memory.diagnose()', 'a worker may call doctor');
set session authorization doctor_admin;
select is_empty('select * from memory.diagnose()', 'an administrator may call doctor');
reset session authorization;
select volatility_is(
  'memory', 'diagnose', array['boolean', 'timestamp with time zone'], 'stable',
  'doctor is stable: it only reads'
);
select throws_ok(
  $$ select memory.diagnose(as_of => null) $$, 'PM002', null, 'doctor refuses a NULL time'
);
select throws_ok(
  $$ select memory.diagnose(as_of => 'infinity') $$, 'PM002', null, 'doctor refuses an infinite time'
);

-- The server

select is(
  array(select e.message from memory.examine_server(140012) as e),
  '{PostgreSQL 14 is too old for pymem}',
  'a PostgreSQL version that is too old is found'
);
select e.extversion as vector_version from pg_extension as e where e.extname = 'vector' \gset
update pg_extension as e set extversion = '0.6.2' where e.extname = 'vector';
select is(
  memory_test.found('server'),
  array[
    'error vector: pgvector 0.6.2 is too old for pymem',
    'info vector: pgvector 0.6.2 is installed, and ' || :'vector_version' || ' is available'
  ],
  'a pgvector version that is too old is an error'
);
update pg_extension as e set extversion = :'vector_version' where e.extname = 'vector';
alter extension vector set schema memory_test;
select is(
  memory_test.found('server'),
  array['error vector: the extension vector is in schema memory_test, which functions do not search'],
  'pgvector outside of the search path is an error'
);
select memory_test.follow('server') \g /dev/null
alter extension pg_trgm set schema memory_test;
select is(
  memory_test.found('server'),
  array[
    'info pg_trgm: the extension pg_trgm is in schema memory_test, which functions do not search: entities are not '
      'found by similar names'
  ],
  'pg_trgm outside of the search path is an info'
);
select memory_test.follow('server') \g /dev/null
drop extension pg_trgm cascade;
select is(
  memory_test.found('server'),
  array['info pg_trgm: the extension pg_trgm is not installed: entities are not found by similar names'],
  'a missing pg_trgm is an info'
);
select memory_test.follow('server') \g /dev/null
update pg_namespace as n
set nspacl = array[makeaclitem(n.nspowner, n.nspowner, 'USAGE', false)]
where n.nspname = (memory.extension_schemas())[1];
select is(
  memory_test.found('server'),
  array['error schema public: memory_owner may not use the schema public, where the extensions are'],
  'a schema of the extensions that the owner may not use is an error'
);
select memory_test.follow('server') \g /dev/null
select is(
  memory_test.found('server'), '{}', 'the server has no findings after the hints are followed'
);
-- Restore what was dropped with the extension.
select memory_test.follow('indexes') \g /dev/null

-- Row security

alter table memory.facts disable row level security;
alter table memory.rules no force row level security;
drop policy tenant on memory.episodes;
alter policy tenant on memory.entities using (true);
alter policy tenant on memory.memory_links to memory_owner;
select is(
  memory_test.found('row_security'),
  array[
    'error memory.entities: no policy restricts a tenant to its own rows',
    'error memory.episodes: no policy restricts a tenant to its own rows',
    'error memory.facts: row security is not enabled',
    'error memory.memory_links: no policy restricts a tenant to its own rows',
    'error memory.rules: row security is not forced on the owner'
  ],
  'a table that does not separate tenants is an error'
);
select memory_test.follow('row_security') \g /dev/null
select is(
  memory_test.found('row_security'), '{}',
  'row security has no findings after the hints are followed'
);

-- Guards

alter table memory.facts disable trigger audit_created;
alter table memory.memory_events enable trigger refuse_change;
set local session_replication_role = replica;
select is(
  memory_test.found('guards'),
  array[
    'error session_replication_role: triggers do not fire in this session: its writes leave no event and queue no embedding',
    'error triggers: the trigger audit_created of memory.facts is disabled',
    'error triggers: the trigger refuse_change of memory.memory_events is not set to ENABLE ALWAYS'
  ],
  'disabled triggers are errors'
);
reset session_replication_role;
alter table memory.facts enable trigger audit_created;
alter table memory.memory_events enable always trigger refuse_change;

-- Privileges

alter role memory_writer login;
grant execute on function memory.write_event(text, text, text, uuid, jsonb) to public;
grant select on memory.facts to public;
create table memory.notes (id integer);
alter table memory.notes enable row level security, force row level security;
select is(
  memory_test.found('privileges'),
  array[
    'error memory_writer: the role memory_writer can log in or has cluster-wide rights',
    'error public: everyone can use memory.facts, memory.write_event()',
    format('warning %1$s: the role %1$s owns, and so can change or runs, memory.notes', current_user)
  ],
  'roles, owners and privileges that are not as deployed are found'
);
drop table memory.notes;
revoke execute on function memory.write_event(text, text, text, uuid, jsonb) from public;
select ok(
  'error public: everyone can use memory.facts' = any (memory_test.found('privileges')), 'one of them is enough'
);
revoke select on memory.facts from public;
select memory_test.follow('privileges') \g /dev/null
select is(
  memory_test.found('privileges'), '{}', 'privileges have no findings once they are as deployed'
);

-- The schema public

create role doctor_stranger;
grant create on schema public to public;
grant create on schema public to doctor_writer with grant option;
grant create on schema public to doctor_owner, doctor_chief, memory_owner;
set session authorization doctor_writer;
grant create on schema public to doctor_stranger;
select is(
  memory_test.found('privileges'),
  array[
    'error schema public: everyone can create objects in the schema public, which functions search, and so run code as memory_owner',
    'error schema public: the role doctor_stranger can create objects in the schema public, which functions search, and so run code as memory_owner',
    'error schema public: the role doctor_writer can create objects in the schema public, which functions search, and so run code as memory_owner'
  ],
  'a role that may create objects in schema public is an error, unless it is an owner'
);
select is(
  (select d.hint from memory.diagnose() as d where d.check_name = 'privileges' limit 1),
  'revoke create on schema public from public cascade;',
  'the hint revokes the privilege to create objects in schema public'
);
reset session authorization;
select memory_test.follow('privileges') \g /dev/null
select is(
  memory_test.found('privileges'), '{}',
  'privileges have no findings after the hints for schema public are followed'
);
alter schema public owner to doctor_writer;
set session authorization doctor_writer;
select is(
  memory_test.found('login'),
  array['error schema public: the login doctor_writer owns the schema public, which functions search: what it creates there may run as memory_owner'],
  'a login that owns schema public is an error'
);
set session authorization doctor_owner;
select is(
  array(select d.subject from memory.diagnose() as d where d.check_name = 'login'),
  '{memory_owner,memory_search}',
  'an owner of schema public that also owns the memory is not reported twice'
);
reset session authorization;
alter schema public owner to pg_database_owner;

-- Moves that have stopped

insert into memory.tenant_moves (tenant_id, move_id, side, step, peer, step_at)
values
('a', gen_random_uuid(), 'source', 'begun', 'other:5432/memory', now() - interval '3 hours'),
('gone', gen_random_uuid(), 'source', 'deleted', 'other:5432/memory', now() - interval '3 hours');
set session authorization doctor_reader;
select is(
  memory_test.found('moves'),
  array['warning a: tenant ''a'' is on its way to other:5432/memory, and begun for 3 hours'],
  'a tenant is warned when its move has stopped half-way'
);
select is(
  memory_test.found('moves', now() - interval '150 minutes'), '{}', 'a move may take its time'
);
set session authorization doctor_gateway;
select memory_test.as_tenant('b') \g /dev/null
select is(memory_test.found('moves'), '{}', 'moves of other tenants are no findings');
reset session authorization;
select is(
  (select count(*) from memory.diagnose() as d where d.check_name = 'moves'), 1::bigint,
  'the owner of the schema is warned of every move that has stopped, and of none that is over'
);
delete from memory.tenant_moves;

-- Dropped logins

select memory_test.a_login('doctor_gone', 'a', 'memory_writer');
drop role doctor_gone;
set session authorization doctor_reader;
select is(
  memory_test.found('privileges'),
  array['warning doctor_gone: the login doctor_gone of tenant ''a'' was dropped but is still bound: the next login of that name gets the tenant'],
  'a tenant is warned of its own dropped login'
);
set session authorization doctor_gateway;
select memory_test.as_tenant('a') \g /dev/null
select is(
  cardinality(memory_test.found('privileges')), 1,
  'a gateway is warned of a dropped login of its current tenant'
);
select memory_test.as_tenant('b') \g /dev/null
select is(
  memory_test.found('privileges'), '{}',
  'a gateway is not warned of a dropped login of another tenant'
);
select memory_test.as_tenant('') \g /dev/null
select is(
  memory_test.found('privileges'), '{}',
  'a gateway without a tenant is not warned of dropped logins'
);
reset session authorization;
select is(
  array(select d.hint from memory.diagnose() as d where d.check_name = 'privileges'),
  array['As owner of the schema: select memory.unbind_login(''doctor_gone'');'],
  'the owner of the schema is warned of every dropped login, with a hint'
);
select memory_test.follow('privileges') \g /dev/null
select is(
  memory_test.found('privileges'), '{}', 'following the hint ends the binding of a dropped login'
);
select memory_test.as_tenant('a') \g /dev/null

-- Roles that may grant themselves any other

create role doctor_granter createrole;
create role doctor_granters nologin createrole;
create role doctor_distant nologin createrole;
alter role doctor_granter login;
alter role doctor_owner createrole;
grant doctor_granters to doctor_worker;
select set_eq(
  $$ select e.severity, e.message, e.hint from memory.examine_privileges('a', 150012) as e $$,
  $$ select
       'warning',
       format('the role %s has CREATEROLE and, before PostgreSQL 16, can grant itself memory_owner', r) as message,
       format('Upgrade PostgreSQL, or: alter role %s nocreaterole;', r) as hint
     from unnest('{doctor_granter,doctor_granters}'::text[]) as r $$,
  'on PostgreSQL 15 a login that has CREATEROLE, or may gain it, is a warning'
);
select is_empty(
  $$ select * from memory.examine_privileges('a', 160000) $$,
  'since PostgreSQL 16 a login with CREATEROLE is not a finding'
);
alter role doctor_granter nocreaterole;
alter role doctor_granters nocreaterole;

-- Indexes

drop index memory.facts_tags_idx, memory.facts_active_subject_key;
update pg_index as i set indisvalid = false where i.indexrelid = 'memory.rules_vectors_idx'::regclass;
select is(
  memory_test.found('indexes'),
  array[
    'error facts_active_subject_key: the index is missing',
    'warning facts_tags_idx: the index is missing',
    'warning rules_vectors_idx: the index is invalid'
  ],
  'a missing unique index is an error, and other missing or invalid indexes are warnings'
);
select memory_test.follow('indexes') \g /dev/null
select is(
  memory_test.found('indexes'), '{}', 'indexes have no findings after the hints are followed'
);

-- Statistics

alter table memory.rules set (autovacuum_enabled = off);
set local track_counts = off;
create table memory.notes as select repeat('x', 200) as note from generate_series(1, 40000) as n;
select is(
  memory_test.found('statistics'),
  array[
    'warning memory.notes: the table is large and was never analyzed, so plans are guesses',
    'warning memory.rules: autovacuum is off for this table',
    'warning track_counts: autovacuum is off: dead rows accumulate, and plans rely on old statistics'
  ],
  'tables that are not vacuumed or analyzed are warnings'
);
reset track_counts;
select memory_test.follow('statistics') \g /dev/null
select is(
  memory_test.found('statistics'), '{}', 'statistics have no findings after the hints are followed'
);
drop table memory.notes;

-- Embeddings

create function memory_test.later(days float8)
  returns timestamptz
  language sql
  stable
  return now() + days * interval '1 day';

select memory_test.as_tenant('e') \g /dev/null
select memory.store_episode('Tea was drunk', 'home') \g /dev/null
select is(
  memory_test.found('embeddings'),
  array['warning active: no embedding model is registered, so 1 memory can be found by words only'],
  'a memory without an embedding model is a warning'
);
select memory.configure('{"retrieval_mode": "keyword"}') \g /dev/null
select is(
  memory_test.found('embeddings'),
  array['info active: no embedding model is registered, so 1 memory can be found by words only'],
  'a memory without an embedding model is an info if retrieval is by words only'
);
select memory.configure('{"retrieval_mode": "hybrid"}') \g /dev/null
select memory.register_embedding_version('model', '1') as version \gset
select is(
  memory_test.found('embeddings', memory_test.later(1.0 / 25)), '{}',
  'a memory may wait an hour for its vector'
);
select is(
  memory_test.found('embeddings', memory_test.later(1.0 / 8)),
  array['warning active: waiting for a vector of model model: 1 memory, for up to 3 hours'],
  'a memory that waits for its vector for hours is a warning'
);
update memory.embedding_queue as q set attempts = 5 where q.tenant_id = 'e';
select is(
  memory_test.found('embeddings'),
  array['warning active: claimed by embedding workers five times or more, still without a vector: 1 memory'],
  'a memory without a vector after five attempts is a warning'
);
select is(
  (select array_agg(memory.set_embedding(c.memory_type, c.memory_id, memory_test.axis(1))) from memory.claim_embedding_jobs() as c),
  '{t}', 'every waiting memory can be given its vector'
);
select is(
  memory_test.found('embeddings', memory_test.later(9)), '{}',
  'embeddings have no findings once every memory has its vector'
);

select memory.configure('{"embedding_rendering": "content"}') \g /dev/null
select is(
  memory_test.found('embeddings'),
  array['info embedding_rendering: episodes should be embedded as "content", but their vectors are made from "previous_dated"'],
  'a rendering that differs from that of the vectors is an info'
);
select memory_test.follow('embeddings') \g /dev/null
select is(
  memory_test.found('embeddings'),
  array['info building: a change to model model is in progress: 1 memory to go'],
  'a change of the embedding model is an info'
);
select is(
  memory_test.found('embeddings', memory_test.later(3)),
  array['warning building: the change to model model is stalled: 1 memory without a vector, for up to 3 days'],
  'a change of the embedding model without progress is a warning'
);
select v.id as building from memory.current_embedding_versions() as v where v.status = 'building' \gset
select memory.set_embedding('episode', e.id, memory_test.axis(1), :'building')
from memory.episodes as e where e.tenant_id = 'e' \g /dev/null
select is(
  memory_test.found('embeddings'),
  array['warning building: every memory has its vector of model model, and searches use the old ones'],
  'a change of the embedding model that is ready but not completed is a warning'
);
select memory.activate_embedding_version() \g /dev/null
select is(
  memory_test.found('embeddings', memory_test.later(9)), '{}',
  'embeddings have no findings after a change of the model'
);

select memory.configure('{"exact_scan_limit": 0}') \g /dev/null
select is(
  memory_test.found('embeddings'),
  array['warning episode: searches compare the vectors of 1 episode, more than exact_scan_limit (0)'],
  'vectors beyond exact_scan_limit without an index are a warning'
);
select memory.rebuild_vector_indexes('hnsw') \g /dev/null
select is(memory_test.found('embeddings'), '{}', 'embeddings have no findings with a vector index');
select memory.rebuild_vector_indexes('exact') \g /dev/null

-- Consolidation

select memory_test.as_tenant('c') \g /dev/null
select memory.store_episode(b || n, b, as_of => now() - interval '2 hours')
from unnest('{home,work,gym,shop}'::text[]) as b cross join generate_series(1, 3) as n \g /dev/null
update memory.episodes as e set expires_at = null where e.tenant_id = 'c';
select is(memory_test.found('consolidation'), '{}', 'episodes may wait for consolidation');
select is(
  memory_test.found('consolidation', memory_test.later(2)),
  array['warning gym, home, shop and 1 more: waiting for consolidation, which was due a day ago: 12 episodes, for up to 2 days'],
  'episodes that wait for consolidation for days are a warning'
);
select c.run_id as run from memory.claim_episodes('home') as c limit 1 \gset
select is(
  memory_test.found('consolidation', memory_test.later(1.0 / 24)), '{}',
  'a lease that has just ended is not a finding'
);
select is(
  memory_test.found('consolidation', memory_test.later(1.0 / 12)),
  array['warning home: the lease of a run ended 105 minutes ago: its worker died, and no other has run since'],
  'a lease that ended long ago is a warning'
);
select memory.fail_consolidation(:'run', 'no answer') \g /dev/null
select is(
  memory_test.found('consolidation'),
  array['info failed: failed and waiting for a retry: 3 episodes'],
  'a failed run is an info'
);
select memory.configure('{"consolidation_max_attempts": 1}') \g /dev/null
select memory.fail_consolidation(c.run_id, 'no answer')
from unnest('{work,gym}'::text[]) as b
cross join lateral (select c.run_id from memory.claim_episodes(b, 1) as c limit 1) as c \g /dev/null
select is(
  memory_test.found('consolidation'),
  array[
    'warning dead_letter: given up after 1 attempt: 2 episodes',
    'warning runs: the last three runs have failed',
    'info failed: failed and waiting for a retry: 3 episodes'
  ],
  'dead letters and repeated failures are warnings'
);
update memory.episodes as e set expires_at = now() - interval '1 second' where e.consolidation_status = 'dead_letter';
select is(
  memory_test.found('consolidation'),
  array[
    'warning runs: the last three runs have failed',
    'info failed: failed and waiting for a retry: 3 episodes'
  ],
  'but not those that have expired'
);
update memory.episodes as e set expires_at = null where e.consolidation_status = 'dead_letter';
select memory.requeue_episodes() \g /dev/null
select memory.configure('{"consolidation_review": true}') \g /dev/null
select c.run_id as run, c.episode_id as seen from memory.claim_episodes('shop', as_of => now() + interval '1 minute') as c limit 1 \gset
select memory.apply_consolidation(
  :'run',
  jsonb_build_object('new_rules', jsonb_build_array(jsonb_build_object('content', 'Offer tea', 'evidence', jsonb_build_array(:'seen'))))
) \g /dev/null
select is(
  memory_test.found('consolidation', memory_test.later(1.0 / 50)),
  array['info failed: failed and waiting for a retry: 3 episodes'],
  'one good run ends the warning about failed runs, and proposals may wait'
);
update memory.episodes as e set consolidation_status = 'consolidated'
where e.tenant_id = 'c' and e.consolidation_status <> 'consolidated';
select is(
  memory_test.found('consolidation', memory_test.later(8)),
  array['warning review: proposed in 1 run, neither accepted nor rejected for up to 8 days'],
  'proposals that wait for more than a week are a warning'
);
select memory.reject_proposals(:'run') \g /dev/null
select is(
  memory_test.found('consolidation', memory_test.later(8)), '{}',
  'consolidation has no findings once the proposals are rejected'
);

-- Jobs

select memory_test.as_tenant('j') \g /dev/null
select memory.store_fact('Ada', 'mood', 'well', permanence => 'ephemeral') \g /dev/null
select memory.store_rule('Shout', confidence => 0.2) as rule \gset
select memory.seal_events() \g /dev/null
-- As if each event below was sealed at once.
update memory.event_chain_heads as h
set settled_seq = 1e18, noted_seq = null, noted_xid = null
where h.tenant_id = 'j';
-- The fact fades after 16.1 days and expires after 30; the rule fades at once.
select is(memory_test.found('jobs', memory_test.later(1)), '{}', 'a decay sweep may be a day late');
select is(
  memory_test.found('jobs', memory_test.later(3)),
  array['warning run_decay_sweep: overdue for a decay sweep for two days: 1 memory'],
  'a decay sweep that is three days late is a warning'
);
select is(
  memory_test.found('jobs', memory_test.later(19)),
  array['warning run_decay_sweep: overdue for a decay sweep for two days: 2 memories'],
  'facts and rules both count toward a late decay sweep'
);
update memory.facts as f set metadata = '{"status": "fading"}' where f.tenant_id = 'j';
update memory.rules as r set metadata = '{"status": "fading"}' where r.tenant_id = 'j';
select is(
  memory_test.found('jobs', memory_test.later(17)), '{}',
  'a fact that has just faded is not a finding'
);
update memory.facts as f set metadata = '{}', valid_to = now() + interval '1 hour' where f.tenant_id = 'j';
select is(
  memory_test.found('jobs', memory_test.later(3)),
  array['warning run_decay_sweep: overdue for a decay sweep for two days: 1 memory'],
  'a fact past its valid_to that has not expired is a warning'
);
select memory.forget_memory('fact', f.id) from memory.facts as f where f.tenant_id = 'j' \g /dev/null

select memory.mark_harmful(:'rule') from generate_series(1, 3) \g /dev/null
select is(
  memory_test.found('jobs', memory_test.later(3)),
  array['warning run_rule_hygiene: overdue for inversion or promotion for two days: 1 rule'],
  'a harmful rule that is not inverted is a warning'
);
update memory.rules as r
set metadata = r.metadata - 'needs_inversion', success_count = 15, harmful_count = 0, applied_count = 15,
  maturity = 'established', effectiveness_score = 1
where r.tenant_id = 'j';
select is(
  memory_test.found('jobs', memory_test.later(31)), '{}',
  'a rule that is due to become proven may wait two days'
);
select is(
  memory_test.found('jobs', memory_test.later(33)),
  array['warning run_rule_hygiene: overdue for inversion or promotion for two days: 1 rule'],
  'a rule that is due to become proven and is not promoted is a warning'
);
select memory.forget_memory('rule', :'rule') \g /dev/null

select memory.store_episode('Tea was drunk', 'home') \g /dev/null
select is(
  memory_test.found('jobs', memory_test.later(8)), '{}',
  'an expired episode may wait two days for the cleanup'
);
select is(
  memory_test.found('jobs', memory_test.later(10)),
  array['warning run_episode_cleanup: expired more than two days ago but not deleted: 1 episode'],
  'an expired episode that is not deleted is a warning'
);
select memory.configure('{"episode_pending_grace_days": 3}') \g /dev/null
select is(
  memory_test.found('jobs', memory_test.later(10)), '{}',
  'an expired episode within the grace period is not a finding'
);
update memory.episodes as e set consolidation_status = 'consolidated' where e.tenant_id = 'j';
select isnt(
  memory_test.found('jobs', memory_test.later(10)), '{}',
  'a consolidated episode has no grace period'
);
delete from memory.episodes as e where e.tenant_id = 'j';

update memory.event_chain_heads as h set settled_seq = 0 where h.tenant_id = 'j';
select is(
  memory_test.found('jobs', memory_test.later(0.9)), '{}', 'events may wait a day for their seal'
);
select is(
  memory_test.found('jobs', memory_test.later(2)),
  array['warning seal_events: the oldest event without a seal is 2 days old'],
  'events that wait for their seal for days are a warning'
);
select memory.configure('{"event_seal_schedule": "off"}') \g /dev/null
select matches(
  (select d.severity || ' ' || d.hint from memory.diagnose(as_of => memory_test.later(2)) as d where d.check_name = 'jobs'),
  '^info select memory.seal_events\(\); .* "off"', 'unsealed events are an info if sealing is off'
);
select memory.seal_events() \g /dev/null

select memory.fold_corpus_statistics() \g /dev/null
insert into memory.corpus_deltas (tenant_id, memory_type, documents, terms)
select 'j', 'fact', 0, 0 from generate_series(1, 1001);
select is(
  memory_test.found('jobs'),
  array['warning fold_corpus_statistics: not folded into the corpus statistics: 1,001 changes'],
  'many changes that are not folded are a warning'
);
select memory.fold_corpus_statistics() \g /dev/null
select is(memory_test.found('jobs'), '{}', 'jobs have no findings after the changes are folded');

select memory.find_due_jobs(now() - interval '12 seconds') \g /dev/null
select is(
  (select d.message from memory.diagnose(true) as d where d.check_name = 'jobs'),
  'the periodic jobs are up to date; `pymem run` was last seen 12 seconds ago',
  'the check of the jobs tells when somebody has last looked for those that are due'
);
select is(
  memory_test.found('jobs', now() + interval '20 minutes'),
  array['warning pymem run: `pymem run` was last seen 20 minutes ago and did not sign off'],
  'a runner that is gone without a word is a warning'
);
select memory.sign_off_runner() \g /dev/null
select is(memory_test.found('jobs', now() + interval '20 minutes'), '{}', 'one that has signed off is not missed');

-- Settings

select memory_test.as_tenant('s') \g /dev/null

-- What is found with these settings, followed by what is left after the hints: nothing.
create function memory_test.found_with(settings jsonb)
  returns text
  language plpgsql
as $$
declare
  v_found text;
begin
  perform memory.configure(to_jsonb(memory.default_settings('s')) - 'tenant_id' || settings);
  v_found := array_to_string(memory_test.found('settings'), '; ');
  for i in 1 .. 3 loop
    perform memory_test.follow('settings');
  end loop;
  return v_found || array_to_string(memory_test.found('settings'), '; ');
end;
$$;

select is(memory_test.found_with('{}'), '', 'the default settings have no findings');
select is(
  memory_test.found_with(c.settings), c.found,
  format('doctor finds what is wrong with the settings %s', c.settings)
)
from (
  values
  ('{"weight_relevance": 0}'::jsonb, 'warning weight_relevance: recall ranks without regard to the query'),
  (
    '{"expiry_threshold": 0.2}',
    'warning expiry_threshold: nothing fades before it expires: expiry_threshold is 0.2, fading_threshold 0.2'
  ),
  ('{"expiry_threshold": 0, "fading_threshold": 0, "min_confidence": 0}', ''),
  (
    '{"min_confidence": 0.4}',
    'info min_confidence: memories below a confidence of 0.4 are no longer found, long before they fade (below 0.2)'
  ),
  (
    '{"min_confidence": 0.6}',
    'warning min_confidence: new rules, with confidence 0.5, are left out of recall and context: min_confidence is 0.6; '
    'info min_confidence: memories below a confidence of 0.6 are no longer found, long before they fade (below 0.2)'
  ),
  (
    '{"fading_threshold": 0.6}',
    'warning fading_threshold: new rules, with confidence 0.5, fade at the next sweep: fading_threshold is 0.6'
  ),
  (
    '{"consolidation_max_confidence": 0.1}',
    'warning consolidation_max_confidence: facts inferred by consolidation, with confidence 0.1 at most, fade at once or are '
    'not found'
  ),
  (
    '{"episode_ttl_days": 0.125}',
    'warning episode_ttl_days: episodes expire after 0.125 days, but consolidation is due every 6 hours'
  ),
  (
    '{"rule_proven_successes": 3}',
    'warning rule_proven_successes: proven requires fewer successes (3) than established (5)'
  ),
  (
    '{"rule_proven_effectiveness": 0.5}',
    'warning rule_proven_effectiveness: proven requires less effectiveness (0.5) than established (0.6)'
  ),
  (
    '{"rule_inversion_effectiveness": 0.7}',
    'warning rule_inversion_effectiveness: rules become anti-patterns at an effectiveness (below 0.7) that makes others '
    'established (from 0.6)'
  ),
  ('{"context_token_budget": 24}', 'warning context_token_budget: memory.context has room for little more than its heading: 96 characters'),
  ('{"context_token_budget": 25}', ''),
  (
    '{"context_token_budget": 5, "context_chars_per_token": 3}',
    'error context_token_budget: memory.context has no room for its heading: 15 characters'
  ),
  (
    '{"context_facts_share": 0, "context_rules_share": 0, "context_warnings_share": 0, "context_episodes_share": 0}',
    'info context_facts_share: no section of memory.context has a share, so facts may take all of it'
  ),
  ('{"ranking": "specified"}', ''),
  ('{"rrf_k": 30, "keyword_match": "all", "min_relevance": 0.2, "min_evidence": 0.2}', ''),
  (
    '{"ranking": "specified", "rrf_k": 30}',
    'info ranking: rrf_k, keyword_match, min_relevance and min_evidence have no effect while ranking is "specified"'
  ),
  (
    '{"ranking": "specified", "keyword_match": "all"}',
    'info ranking: rrf_k, keyword_match, min_relevance and min_evidence have no effect while ranking is "specified"'
  ),
  (
    '{"ranking": "specified", "min_relevance": 0.2}',
    'info ranking: rrf_k, keyword_match, min_relevance and min_evidence have no effect while ranking is "specified"'
  ),
  (
    '{"ranking": "specified", "min_evidence": 0.2}',
    'info ranking: rrf_k, keyword_match, min_relevance and min_evidence have no effect while ranking is "specified"'
  ),
  (
    '{"retrieval_mode": "semantic"}',
    'error retrieval_mode: searches are refused: retrieval_mode is "semantic", but no embedding model is registered'
  )
) as c (settings, found);
select throws_ok(
  $$ select memory.search('tea', mode => 'semantic') $$, 'PM002', null,
  'a semantic search without an embedding model is refused'
);

select memory.store_rule('Offer tea') \g /dev/null
update memory.rules as r set text_search_config = 'german' where r.tenant_id = 's';
select is(
  memory_test.found('settings'),
  array['warning text_search_config: indexed in another language than that of searches (english): 1 memory'],
  'a memory indexed in a language other than that of searches is a warning'
);
select memory_test.follow('settings') \g /dev/null
select is(memory_test.found('settings'), '{}', 'following the hint indexes the memory again');
update memory.settings as s set text_search_config = 'klingon' where s.tenant_id = 's';
select is(
  memory_test.found('settings'),
  array[
    'error text_search_config: stores and searches are refused: no text search configuration is named ''klingon''',
    'warning text_search_config: indexed in another language than that of searches (klingon): 1 memory'
  ],
  'a text search configuration that does not exist is an error'
);
select throws_ok(
  $$ select memory.store_rule('Offer coffee') $$, '42704', null,
  'storing is refused if the text search configuration does not exist'
);

-- Access tokens

select memory_test.as_tenant('t') \g /dev/null
select id as token from memory.create_access_token('laptop', 'writer', 'assistant') \gset
select id as admin_token from memory.create_access_token('office', 'admin', expires_in => '800 days') \gset
select id as short_token from memory.create_access_token('visit', 'reader', expires_in => '14 days') \gset
update memory.access_tokens as t set last_used_on = (memory_test.later(70) at time zone 'UTC')::date
where t.tenant_id = 't' and t.name = 'laptop';
update memory.access_tokens as t set last_used_on = (now() at time zone 'UTC')::date
where t.tenant_id = 't' and t.name = 'visit';
select is(
  memory_test.found('tokens', memory_test.later(75.9)), '{}',
  'tokens that are valid for long enough are not a finding'
);
select is(
  memory_test.found('tokens', memory_test.later(76)),
  array['warning laptop: the token ''laptop'' of role writer is in use and expires in 14 days'],
  'a token in use that expires within 14 days is a warning'
);
select is(
  memory_test.found('tokens', memory_test.later(86)), '{}',
  'a token that expires soon and was not used lately is not a finding'
);
select is(
  memory_test.found('tokens', memory_test.later(90)), '{}', 'an expired token is not a finding'
);
select is(
  memory_test.found('tokens', memory_test.later(1)), '{}',
  'a token that was created for a short time is not a finding'
);
update memory.access_tokens as t set expires_at = memory_test.later(10), created_at = memory_test.later(-80)
where t.tenant_id = 't' and t.name = 'laptop';
update memory.access_tokens as t set last_used_on = (now() at time zone 'UTC')::date
where t.tenant_id = 't' and t.name = 'laptop';
select is(
  cardinality(memory_test.found('tokens')), 1,
  'a long-lived token in use that expires soon is found'
);
select memory_test.follow('tokens') \g /dev/null
select results_eq(
  $$ select t.role, t.actor from memory.list_access_tokens() as t where t.name = 'laptop' $$,
  $$ values ('writer', 'assistant'), ('writer', 'assistant') $$,
  'following the hint creates a token with the same role and actor'
);
select is(
  memory_test.found('tokens'), '{}',
  'a token that expires soon and has a successor is not a finding'
);
select is(
  memory_test.found('tokens', memory_test.later(365)), '{}',
  'a token of role admin may be a year old'
);
select is(
  memory_test.found('tokens', memory_test.later(366)),
  array['info office: the token ''office'' of role admin was created 366 days ago'],
  'a token of role admin that is more than a year old is an info'
);
select memory.revoke_access_token(:'admin_token') \g /dev/null
select is(
  memory_test.found('tokens', memory_test.later(366)), '{}', 'a revoked token is not a finding'
);

-- Fading: a fact reaches 0.2 after 201 days, a rule after 161

select memory_test.as_tenant('fading') \g /dev/null
select memory.store_fact('user', 'likes', 'tea', as_of => memory_test.later(-190)) as tea \gset
select memory.store_fact('user', 'name', 'Ada', permanence => 'stable', as_of => memory_test.later(-190)) \g /dev/null
select memory.store_fact('user', 'mood', 'good', permanence => 'volatile', as_of => memory_test.later(-190)) \g /dev/null
select memory.store_rule('Be brief', confidence => 1, as_of => memory_test.later(-149)) \g /dev/null
select is(
  memory_test.found('fading', memory_test.later(-3)), '{}', 'what is found for more than 14 days is not a finding'
);
select is(
  memory_test.found('fading', memory_test.later(0)),
  array['info confidence: facts (1) and rules (1) fall below a confidence of 0.2 within 14 days, and so out of searches'],
  'facts and rules that searches leave out within 14 days are an info'
);
select is(
  memory_test.found('fading', memory_test.later(13)), '{}',
  'what searches leave out already is not a finding, nor what is meant to fade soon'
);
select memory.confirm_memory('fact', :'tea', as_of => memory_test.later(0)) \g /dev/null
select is(
  memory_test.found('fading', memory_test.later(0)),
  array['info confidence: facts (0) and rules (1) fall below a confidence of 0.2 within 14 days, and so out of searches'],
  'a confirmation keeps a fact in the searches'
);
select memory.configure('{"min_confidence": 0, "expiry_threshold": 0}') \g /dev/null
select is(memory_test.found('fading', memory_test.later(0)), '{}', 'where nothing is left out, nothing falls out');

-- Order and tenants

select memory_test.as_tenant('n') \g /dev/null
select memory.register_embedding_version('model', '1') \g /dev/null
select is_empty(
  $$ select d.* from memory.diagnose(as_of => memory_test.later(30)) as d where d.check_name not in ('login', 'jobs') $$,
  'a tenant has no findings about the memories of other tenants'
);
select is(
  (select array_agg(d.subject) from memory.diagnose(as_of => memory_test.later(30)) as d where d.check_name = 'jobs'),
  '{seal_events}', 'a tenant has findings about its own events'
);
select memory.configure(
  '{"context_token_budget": 5, "context_chars_per_token": 1, "weight_relevance": 0, "ranking": "specified", "rrf_k": 30}'
) \g /dev/null
drop index memory.facts_tags_idx;
select results_eq(
  $$ select d.severity, d.check_name, d.subject from memory.diagnose(true) as d
     where d.check_name in ('indexes', 'statistics', 'jobs', 'settings') $$,
  $$ values
     ('error', 'settings', 'context_token_budget'), ('warning', 'indexes', 'facts_tags_idx'),
     ('warning', 'settings', 'weight_relevance'), ('info', 'settings', 'ranking'), ('ok', 'statistics', null),
     ('ok', 'jobs', null) $$,
  'errors come first, then the other findings by check, and what is ok comes last'
);

select * from finish();
rollback;
