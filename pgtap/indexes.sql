begin;
\ir fixtures.sql
select plan(33);

create view memory_test.definitions as
select
  c.relname::text as index_name, pg_get_indexdef(i.indexrelid) as definition, k.contype::text as contype,
  i.indisvalid and i.indisready and i.indislive as is_valid
from pg_index as i
join pg_class as c on c.oid = i.indexrelid
left join pg_constraint as k on k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x')
where c.relnamespace = 'memory'::regnamespace;
create table memory_test.deployed as select * from memory_test.definitions;

-- Runs the repairs in a transaction, where nothing is concurrent.
create function memory_test.repair()
  returns void
  language plpgsql
as $$
declare
  v_repair text;
begin
  for v_repair in select replace(p.repair, ' concurrently', '') from memory.check_indexes() as p loop
    execute v_repair;
  end loop;
end;
$$;

-- Expected indexes

select cmp_ok(
  (select count(*) from memory_test.deployed), '>', 50::bigint,
  'the schema has more than fifty indexes'
);
select set_eq(
  $$ select e.index_name from memory.expected_indexes() as e $$,
  $$ select d.index_name from memory_test.deployed as d where d.definition !~ 'gin_trgm_ops' $$,
  'every deployed index is expected, except the one that needs pg_trgm'
);
select is_empty(
  $$ select e.* from memory.expected_indexes() as e
     where e.statement !~* '^(create (unique )?index \w+ on memory\.|alter table memory\.)'
       or e.statement ~ '\m(hnsw|ivfflat)\M' $$,
  'every expected index has a statement that names its schema'
);
select is_empty('select * from memory.check_indexes()', 'a fresh schema has no problem');

-- Missing

do $$
declare
  v_name text;
begin
  for v_name in select d.index_name from memory_test.deployed as d where d.contype is null loop
    execute format('drop index memory.%I', v_name);
  end loop;
  alter table memory.memory_links drop constraint memory_links_pkey;
end;
$$;
select set_eq(
  $$ select p.index_name, p.problem from memory.check_indexes() as p $$,
  $$ select d.index_name, 'missing' from memory_test.deployed as d
     where d.contype is null or d.index_name = 'memory_links_pkey' $$,
  'every dropped index is reported as missing'
);
select results_eq(
  $$ select p.* from memory.check_indexes() as p
     where p.index_name in ('memory_links_pkey', 'facts_scope_active_idx', 'facts_idempotency_key')
     order by 1 $$,
  $$ values
     ('facts_idempotency_key', 'missing',
       'CREATE UNIQUE INDEX concurrently facts_idempotency_key ON memory.facts USING btree '
       || '(tenant_id, idempotency_key) WHERE (idempotency_key IS NOT NULL)'),
     ('facts_scope_active_idx', 'missing',
       'CREATE INDEX concurrently facts_scope_active_idx ON memory.facts USING brin '
       || '(tenant_id, scope, validity) WHERE (validity = ''active''::text)'),
     ('memory_links_pkey', 'missing',
       'alter table memory.memory_links add constraint memory_links_pkey '
       || 'PRIMARY KEY (tenant_id, source_type, source_id, target_type, target_id)') $$,
  'the repair of a missing index builds it concurrently'
);
set local search_path = pg_catalog;
select memory_test.repair();
set local search_path = memory_test, tap, public;
select set_eq(
  'select * from memory_test.definitions', 'select * from memory_test.deployed',
  'the repairs restore every index as deployed, whatever the search_path'
);
select is_empty('select * from memory.check_indexes()', 'no problem is left after the repairs');

-- Invalid

update pg_index as i set indisvalid = false where i.indexrelid = 'memory.facts_vectors_idx'::regclass;
update pg_index as i set indisready = false where i.indexrelid = 'memory.rules_vectors_idx'::regclass;
update pg_index as i set indislive = false where i.indexrelid = 'memory.episodes_search_idx'::regclass;
select results_eq(
  'select * from memory.check_indexes()',
  $$ values
     ('episodes_search_idx', 'invalid', 'reindex index concurrently memory.episodes_search_idx'),
     ('facts_vectors_idx', 'invalid', 'reindex index concurrently memory.facts_vectors_idx'),
     ('rules_vectors_idx', 'invalid', 'reindex index concurrently memory.rules_vectors_idx') $$,
  'an index whose build did not end is invalid'
);
update pg_index as i set indisready = true, indislive = true
where i.indexrelid in ('memory.rules_vectors_idx'::regclass, 'memory.episodes_search_idx'::regclass);
select memory_test.repair();
select is_empty(
  'select * from memory.check_indexes()', 'an invalid index is valid again after the repair'
);

create index facts_vectors_idx_ccnew on memory.facts (tenant_id);
select is_empty(
  'select * from memory.check_indexes()', 'an additional index of an operator is not a problem'
);
update pg_index as i set indisvalid = false where i.indexrelid = 'memory.facts_vectors_idx_ccnew'::regclass;
select results_eq(
  'select * from memory.check_indexes()',
  $$ values (
       'facts_vectors_idx_ccnew', 'invalid', 'drop index concurrently memory.facts_vectors_idx_ccnew'
     ) $$,
  'an index left behind by an interrupted reindex is to be dropped'
);
select memory_test.repair();
select hasnt_index(
  'memory', 'facts', 'facts_vectors_idx_ccnew',
  'the repair drops an index left behind by an interrupted reindex'
);

-- Approximate indexes

select memory.rebuild_vector_indexes('hnsw');
select is_empty(
  'select * from memory.check_indexes()',
  'a valid approximate index on every table is not a problem'
);
drop index memory.episodes_embedding_idx;
update pg_index as i set indisvalid = false where i.indexrelid = 'memory.rules_embedding_idx'::regclass;
select results_eq(
  'select * from memory.check_indexes()',
  $$ values
     ('episodes_embedding_idx', 'missing', 'select memory.rebuild_vector_indexes(''hnsw'')'),
     ('rules_embedding_idx', 'invalid', 'select memory.rebuild_vector_indexes(''hnsw'')') $$,
  'if one table has a valid approximate index, the others should have one too'
);
select memory_test.repair();
select is_empty(
  'select * from memory.check_indexes()', 'rebuilding the approximate indexes leaves no problem'
);

-- The index that needs pg_trgm

drop index memory.entity_names_similarity_idx;
select results_eq(
  'select index_name, problem from memory.check_indexes()',
  $$ values ('entity_names_similarity_idx', 'missing') $$,
  'a missing index that needs pg_trgm is reported if pg_trgm is installed'
);
select memory_test.repair();
select is_empty(
  'select * from memory.check_indexes()', 'the repair builds the index that needs pg_trgm'
);
drop extension pg_trgm cascade;
select is_empty(
  'select * from memory.check_indexes()',
  'the index that needs pg_trgm is not missing without pg_trgm'
);
create extension pg_trgm with schema public;
select isnt_empty(
  'select * from memory.check_indexes()',
  'the index that needs pg_trgm is missing once pg_trgm is installed'
);
select memory_test.repair();

-- Privileges

select memory_test.a_login('indexes_admin', 'a', 'memory_admin');
select memory_test.a_login('indexes_writer', 'a', 'memory_writer, memory_worker, memory_reader');
select memory_test.share_results();
set local session authorization indexes_admin;
select is_empty(
  'select * from memory.check_indexes()',
  'an administrator can check indexes without rights on the tables'
);
set local session authorization indexes_writer;
select throws_ok(
  'select * from memory.check_indexes()', '42501', null,
  'a login without the role memory_admin cannot check indexes'
);
set local session authorization default;

-- Indexes that no plan of a test shows: of what is listed by butler, expires, waits to be
-- consolidated, or is queried by clients.
select is(pg_get_indexdef(to_regclass('memory.' || i.name)), i.definition, i.what)
from (values
  (
    1, 'episodes_butler_created_idx',
    'CREATE INDEX episodes_butler_created_idx ON memory.episodes USING btree (tenant_id, butler, created_at DESC, id)',
    'episodes of a butler are indexed, the newest first'
  ),
  (
    2, 'episodes_expires_idx',
    'CREATE INDEX episodes_expires_idx ON memory.episodes USING btree (tenant_id, expires_at) WHERE (expires_at IS NOT NULL)',
    'so are episodes that expire'
  ),
  (
    3, 'episodes_pending_idx',
    'CREATE INDEX episodes_pending_idx ON memory.episodes USING btree (tenant_id, butler, created_at, id) '
    'WHERE (((consolidation_status)::text = ''pending''::text) OR ((consolidation_status)::text = ''failed''::text))',
    'and those that are to be consolidated'
  ),
  (
    4, 'facts_subject_predicate_idx',
    'CREATE INDEX facts_subject_predicate_idx ON memory.facts USING btree (tenant_id, subject_key, predicate_key)',
    'facts are indexed by subject and predicate, whatever their state'
  ),
  (
    5, 'facts_tags_idx', 'CREATE INDEX facts_tags_idx ON memory.facts USING gin (tags) WITH (fastupdate=off)',
    'and by tags as they are'
  ),
  (
    6, 'entities_name_idx', 'CREATE INDEX entities_name_idx ON memory.entities USING btree (tenant_id, canonical_name)',
    'entities are indexed by name'
  ),
  (
    7, 'entities_aliases_idx', 'CREATE INDEX entities_aliases_idx ON memory.entities USING gin (aliases) WITH (fastupdate=off)',
    'by alias'
  ),
  (
    8, 'entities_metadata_idx', 'CREATE INDEX entities_metadata_idx ON memory.entities USING gin (metadata) WITH (fastupdate=off)',
    'and by metadata'
  ),
  (
    9, 'memory_links_target_idx',
    'CREATE INDEX memory_links_target_idx ON memory.memory_links USING btree (tenant_id, target_type, target_id, source_type, source_id)',
    'links are indexed by what they lead to'
  ),
  (
    10, 'memory_events_type_idx',
    'CREATE INDEX memory_events_type_idx ON memory.memory_events USING btree (tenant_id, event_type, created_at DESC, seq DESC)',
    'events are indexed by type'
  ),
  (
    11, 'memory_events_created_idx',
    'CREATE INDEX memory_events_created_idx ON memory.memory_events USING btree (tenant_id, created_at DESC, seq DESC)',
    'and by time'
  )
) as i (position, name, definition, what)
order by i.position;

select * from finish();
rollback;
