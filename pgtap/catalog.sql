begin;
\ir fixtures.sql
select plan(44);

-- What the house rules are about.

create view memory_test.relations as
select
  c.oid, c.oid::regclass as name, c.relkind, c.relowner, c.relacl, c.relrowsecurity, c.relforcerowsecurity
from pg_class as c
where c.relnamespace = 'memory'::regnamespace;

create view memory_test.tables as
select r.* from memory_test.relations as r
where r.relkind in ('r', 'p', 'f', 'm');

-- The code: what is left of a body without comments and without texts.
create view memory_test.functions as
select
  p.oid, p.oid::regprocedure as name, p.prokind, p.proowner, p.proacl, p.prosecdef, p.prosqlbody, p.proargnames,
  p.pronargs,
  p.proconfig @> array['search_path=pg_catalog, memory, public, pg_temp'] is true as pinned,
  exists (select from unnest(p.proconfig) as s where s like 'search_path=%') as sets_path,
  regexp_replace(p.prosrc, '--[^\n]*', '', 'g') as body,
  regexp_replace(regexp_replace(p.prosrc, '--[^\n]*', '', 'g'), $$'[^']*'$$, '', 'g') as code
from pg_proc as p
where p.pronamespace = 'memory'::regnamespace;

-- Columns by name, in the order of the key.
create view memory_test.indexes as
select
  i.indexrelid::regclass as name, i.indrelid as table_id, i.indisunique, i.indisprimary, i.indisvalid,
  i.indisready, i.indislive, i.indpred, m.amname,
  array(
    select coalesce(a.attname, '<expression>') collate "default"
    from unnest(i.indkey::int2[]) with ordinality as k (number, position)
    left join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = k.number
    where k.position <= i.indnkeyatts
    order by k.position
  )::text[] as columns
from pg_index as i
join memory_test.tables as t on t.oid = i.indrelid
join pg_class as c on c.oid = i.indexrelid
join pg_am as m on m.oid = c.relam;

create view memory_test.foreign_keys as
select
  k.conname as name, k.conrelid as table_id,
  array(
    select a.attname
    from unnest(k.conkey) with ordinality as n (number, position)
    join pg_attribute as a on a.attrelid = k.conrelid and a.attnum = n.number
    order by n.position
  )::text[] as columns,
  array(
    select a.attname
    from unnest(k.confkey) with ordinality as n (number, position)
    join pg_attribute as a on a.attrelid = k.confrelid and a.attnum = n.number
    order by n.position
  )::text[] as target_columns
from pg_constraint as k
join memory_test.tables as t on t.oid = k.conrelid
where k.contype = 'f';

create view memory_test.types as
select t.oid, t.oid::regtype as name, t.typtype, t.typrelid, t.typowner, t.typacl
from pg_type as t
where t.typnamespace = 'memory'::regnamespace and t.typcategory <> 'A';

select results_eq(
  $$ select
       (select count(*) from memory_test.tables), (select count(*) from memory_test.functions) > 60,
       (select count(*) from memory_test.indexes) > 40, (select count(*) from memory_test.foreign_keys) $$,
  $$ values (52::bigint, true, true, 27::bigint) $$,
  'the rules below look at 52 tables, their functions, indexes and foreign keys'
);

-- Comments

select isnt(
  obj_description('memory'::regnamespace, 'pg_namespace'), null, 'the schema says what it is for'
);
select is_empty(
  $$ select r.name from memory_test.relations as r
     where r.relkind in ('r', 'p', 'f', 'm', 'v')
       and nullif(obj_description(r.oid, 'pg_class'), '') is null $$,
  'every table and view has a comment'
);
select is_empty(
  $$ select t.name from memory_test.types as t
     left join memory_test.relations as r on r.oid = t.typrelid
     where (t.typtype <> 'c' or r.relkind = 'c') and nullif(obj_description(t.oid, 'pg_type'), '') is null $$,
  'every type has a comment'
);
select is_empty(
  $$ select f.name from memory_test.functions as f
     where nullif(obj_description(f.oid, 'pg_proc'), '') is null $$,
  'every function has a comment'
);

-- Functions

select is_empty(
  $$ select f.name from memory_test.functions as f
     where not f.pinned and (f.sets_path or f.prosqlbody is null) and f.prokind <> 'a' $$,
  'every function has the pinned search_path or a body that was parsed when it was created'
);
select is_empty(
  $$ select f.name from memory_test.functions as f where f.prosecdef and not f.pinned $$,
  'every function that runs with the rights of its owner has the pinned search_path'
);
select results_eq(
  $$ select f.name::text from memory_test.functions as f where f.code ~* '\mexecute\M' order by 1 $$,
  $$ values
     ('memory.activate_embedding_version()'), ('memory.advance_sequences(jsonb)'), ('memory.attach_triggers(text)'),
     ('memory.check_states(text)'),
     ('memory.count_memories(text[],text,text[],text[],text[],jsonb,text,text,uuid,text,uuid,text,text,'
      || 'double precision,double precision,timestamp with time zone,timestamp with time zone,'
      || 'timestamp with time zone,timestamp with time zone,integer,timestamp with time zone)'),
     ('memory.define_memory_function(text,text,text,text)'), ('memory.define_recorder(text)'), ('memory.define_union_view(name,text[],jsonb)'),
     ('memory.delete_rows(text,text,integer)'), ('memory.digest_remembered(text)'), ('memory.digest_tables(text,jsonb)'),
     ('memory.due_memories(text,memory.settings,timestamp with time zone)'),
     ('memory.find_rows(text)'),
     ('memory.grant_roles(name,text[])'),
     ('memory.images_around(text,text,uuid,timestamp with time zone)'),
     ('memory.isolate_table(name)'),
     ('memory.last_numbers(text)'),
     ('memory.list_memories(text[],text,text[],text[],text[],jsonb,text,text,uuid,text,uuid,text,text,'
      || 'double precision,double precision,timestamp with time zone,timestamp with time zone,'
      || 'timestamp with time zone,timestamp with time zone,text,text,integer,timestamp with time zone)'),
     ('memory.list_mentions(text,name,text[])'), ('memory.list_tenant_sizes()'),
     ('memory.lock_for_rebuild(text)'), ('memory.lock_undo(text,memory.planned_undo)'),
     ('memory.memories_as_of(timestamp with time zone,timestamp with time zone,text[],text,text[],jsonb,text,text,uuid,'
      || 'text,text,text,integer,timestamp with time zone)'), ('memory.read_export(text,jsonb,integer,text[],text,boolean,boolean,timestamp with time zone)'),
     ('memory.rebuild_vector_indexes(text,integer)'),
     ('memory.refresh_expected_indexes()'), ('memory.refresh_memory_functions()'),
     ('memory.refresh_setting_defaults()'),
     ('memory.refresh_time_questions()'), ('memory.refresh_time_vocabulary()'),
     ('memory.refresh_type_names()'), ('memory.reindex_batch(memory.settings,integer)'), ('memory.remember_digests(text,jsonb)'),
     ('memory.replay_memory(text,uuid)'),
     ('memory.restore_kind(uuid,text,jsonb[],bigint[])'),
     ('memory.restore_memory(text,uuid,timestamp with time zone)'),
     ('memory.reverse_change(text,text,uuid,timestamp with time zone,timestamp with time zone)'),
     ('memory.run_job(text,timestamp with time zone)'),
     ('memory.set_embedding(text,uuid,vector,uuid,text)'),
     ('memory.sweep_memories(text,uuid[],memory.settings,timestamp with time zone)'),
     ('memory.take_back(text,text,uuid[],timestamp with time zone)'),
     ('memory.tenants_in(name,text,timestamp with time zone)'),
     ('memory.try_settings(memory.settings,jsonb)'),
     ('memory.verify_erasure(text)'), ('memory.write_settings(memory.settings)') $$,
  'only functions that define schema objects, name the table of a type, know the columns of a table, '
  'or leave filters out that are not in use build SQL from strings'
);
select is_empty(
  $$ select c.relname
     from pg_class as c
     join pg_am as a on a.oid = c.relam and a.amname = 'gin'
     where c.relnamespace = 'memory'::regnamespace
       and not coalesce('fastupdate=off' = any (c.reloptions), false) $$,
  'no search reads the list of what a GIN index has not taken in yet'
);
select is_empty(
  $$ select f.name, m.word
     from memory_test.functions as f
     cross join lateral regexp_matches(
       f.code, '\m(SELECT|FROM|WHERE|BEGIN|RETURN|IF|RAISE|INSERT|UPDATE|DELETE)\M', 'g'
     ) as m (word) $$,
  'keywords are in lower case'
);
select is_empty(
  $$ select f.name
     from memory_test.functions as f
     where regexp_count(f.code, '\mraise exception\M') <> regexp_count(f.code, '\merrcode =')
       or regexp_count(f.code, '\mraise exception\M') <> regexp_count(f.code, '\mhint =') $$,
  'every error has a code and a hint'
);
select is_empty(
  $$ select f.name, m.code[1]
     from memory_test.functions as f
     cross join lateral regexp_matches(f.body, 'errcode\s*=\s*([^,;]*)', 'g') as m (code)
     where m.code[1] !~ '^''(28000|PM00[1-9]|PM010)''$' and m.code[1] <> 'v_plan.code'
     union all
     select f.name, m.code[1]
     from memory_test.functions as f
     cross join lateral regexp_matches(f.body, 'block_undo\(\s*plan,\s*([^,]*)', 'g') as m (code)
     where m.code[1] !~ '^(''PM00[1-9]''|v_effect\.code)$' $$,
  'every error code is 28000 or one of PM001 to PM010'
);
select is_empty(
  $$ select f.name
     from memory_test.functions as f
     where f.code ~ '\mraise\s+(?!exception\M|warning\M|notice\M|info\M|log\M|debug\M)' $$,
  'errors are raised in no other way'
);
select is_empty(
  $$ select f.name from memory_test.functions as f where f.code ~ '_advisory_|\mlisten\M|notify' $$,
  'no function takes an advisory lock, which any login could hold, or notifies, which any could hear'
);
select is_empty(
  $$ select f.name
     from memory_test.functions as f
     where array_position(f.proargnames, 'as_of') <> f.pronargs $$,
  'as_of is the last argument of every function that takes it'
);
select is_empty(
  $$ select f.name
     from memory_test.functions as f
     where f.proargnames[f.pronargs] = 'as_of'
       and pg_get_function_arg_default(f.oid, f.pronargs) is distinct from 'now()'
       and exists (
         select from unnest('{memory_writer,memory_worker,memory_reader,memory_admin}'::name[]) as r (role)
         where has_function_privilege(r.role, f.oid, 'execute')
       ) $$,
  'the time is now unless a client says otherwise'
);
select ok(
  (select count(*) > 15 from memory_test.functions as f where f.proargnames[f.pronargs] = 'as_of'),
  'there are functions that take the time as an argument'
);

-- Tenants

select is_empty(
  $$ select t.name from memory_test.tables as t where not (t.relrowsecurity and t.relforcerowsecurity) $$,
  'row security is enabled on every table and forced on its owner'
);
select is_empty(
  $$ select t.name from memory_test.tables as t
     where t.name not in ('memory.transitions'::regclass, 'memory.time_words'::regclass, 'memory.memory_types'::regclass, 'memory.sensitive_patterns'::regclass, 'memory.definitions'::regclass, 'memory.common_runner'::regclass)
       and not exists (
         select from pg_attribute as a
         where a.attrelid = t.oid and a.attname = 'tenant_id' and a.atttypid = 'text'::regtype
           and a.attnotnull
       ) $$,
  'every row but those of transitions, time_words, memory_types, sensitive_patterns, definitions and common_runner belongs to a tenant'
);
select is_empty(
  $$ select t.name from memory_test.tables as t
     where not exists (select from memory_test.indexes as i where i.table_id = t.oid and i.indisprimary) $$,
  'every table has a primary key'
);
select is_empty(
  $$ select i.name from memory_test.indexes as i
     where i.indisunique and i.columns[1] <> 'tenant_id'
       and i.table_id not in (
         'memory.transitions'::regclass, 'memory.time_words'::regclass, 'memory.memory_types'::regclass, 'memory.sensitive_patterns'::regclass, 'memory.definitions'::regclass, 'memory.tenant_logins'::regclass, 'memory.common_runner'::regclass
       ) $$,
  'every primary key and unique index leads with the tenant'
);
select results_eq(
  $$ select i.name::text, i.columns::text from memory_test.indexes as i
     where i.indisunique and i.table_id in (
       'memory.transitions'::regclass, 'memory.time_words'::regclass, 'memory.memory_types'::regclass, 'memory.sensitive_patterns'::regclass, 'memory.definitions'::regclass, 'memory.tenant_logins'::regclass, 'memory.common_runner'::regclass
     )
     order by 1 $$,
  $$ values
     ('memory.common_runner_pkey', '{is_common}'),
     ('memory.definitions_pkey', '{kind,identity}'),
     ('memory.memory_types_pkey', '{memory_type}'),
     ('memory.memory_types_position_key', '{position}'),
     ('memory.memory_types_table_name_key', '{table_name}'),
     ('memory.sensitive_patterns_pkey', '{data_class,name}'),
     ('memory.tenant_logins_pkey', '{login}'),
     ('memory.time_words_folded_key', '{language,folded}'),
     ('memory.time_words_pkey', '{language,word,kind}'),
     ('memory.transitions_pkey', '{memory_type,aspect,from_state,to_state}') $$,
  'the key of a login is its name, and types, transitions, words, patterns and who looks after all are the same for every tenant'
);
select is_empty(
  $$ select k.name from memory_test.foreign_keys as k
     where k.columns[1] <> 'tenant_id' or k.target_columns[1] <> 'tenant_id' $$,
  'every foreign key leads with the tenant on both sides'
);
select is_empty(
  $$ select k.name from memory_test.foreign_keys as k
     where not exists (
       select from memory_test.indexes as i
       where i.table_id = k.table_id and i.indisvalid and i.amname = 'btree'
         and i.columns[:cardinality(k.columns)] @> k.columns
         and (
           i.indpred is null
           or pg_get_expr(i.indpred, i.table_id) = format('(%s IS NOT NULL)', k.columns[2])
         )
     ) $$,
  'every foreign key is covered by an index'
);

-- Privileges and owners

select is_empty(
  $$ select n.nspname, a.privilege_type
     from pg_namespace as n
     cross join lateral aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) as a
     where n.nspname = 'memory' and a.grantee = 0 $$,
  'PUBLIC may do nothing with the schema'
);
select is_empty(
  $$ select f.name, a.privilege_type
     from memory_test.functions as f
     cross join lateral aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) as a
     where a.grantee = 0 $$,
  'PUBLIC may call no function'
);
select is_empty(
  $$ select r.name, a.privilege_type
     from memory_test.relations as r
     cross join lateral aclexplode(r.relacl) as a
     where a.grantee = 0 $$,
  'PUBLIC has no privilege on a table, view or sequence'
);
select is_empty(
  $$ select t.name, a.privilege_type
     from memory_test.types as t
     left join memory_test.relations as r on r.oid = t.typrelid
     cross join lateral aclexplode(coalesce(t.typacl, acldefault('T', t.typowner))) as a
     where a.grantee = 0 and (t.typtype <> 'c' or r.relkind = 'c') $$,
  'PUBLIC may use no type'
);
select is_empty(
  $$ select t.name, a.privilege_type
     from memory_test.types as t
     join memory_test.relations as r on r.oid = t.typrelid and r.relkind <> 'c'
     cross join lateral aclexplode(coalesce(t.typacl, acldefault('T', t.typowner))) as a
     where a.grantee = 0 $$,
  'PUBLIC may use the row type of no table, so nobody can tie a table of theirs to one of ours'
);
select is_empty(
  $$ select r.role, t.name
     from unnest(
       '{memory_writer,memory_worker,memory_admin,memory_gateway}'::name[]
     ) as r (role)
     cross join memory_test.relations as t
     where t.relkind in ('r', 'p', 'f', 'm', 'v')
       and (
         has_table_privilege(
           r.role, t.oid, 'select, insert, update, delete, truncate, references, trigger'
         )
         or has_any_column_privilege(r.role, t.oid, 'select, insert, update, references')
       ) $$,
  'clients have no privilege on any table or view'
);
select is_empty(
  $$ select t.name, a.attname
     from memory_test.relations as t
     left join pg_attribute as a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
     where t.relkind in ('r', 'p', 'f', 'm', 'v')
       and (
         has_table_privilege(
           'memory_reader', t.oid, 'insert, update, delete, truncate, references, trigger'
         )
         or has_any_column_privilege('memory_reader', t.oid, 'insert, update, references')
         or t.relkind <> 'v' and has_table_privilege('memory_reader', t.oid, 'select')
         or (a.atttypid = 'public.vector'::regtype or a.attname = 'tenant_id')
           and has_column_privilege('memory_reader', t.oid, a.attnum, 'select')
       ) $$,
  'but dashboards, which may read what their views show, no vector, and no tenant to ask the planner about'
);
select is_empty(
  $$ select r.name from memory_test.relations as r
     join pg_class as c on c.oid = r.oid
     where r.relkind = 'v' and not coalesce('security_invoker=true' = any (c.reloptions), false) $$,
  'a view shows what its reader may see'
);
select results_eq(
  $$ select f.name::text from memory_test.functions as f
     where f.proowner = 'memory_search'::regrole order by 1 $$,
  $$ values
     ('memory.approximate_neighbors(text,vector,text,integer,double precision,timestamp with time zone)'),
     ('memory.asks_for(memory.question,text,text,text)'),
     ('memory.bm25_matches(memory.corpus_size[],memory.keyword_query,text[],memory.word_match[],boolean,'
      || 'memory.settings,text,double precision,timestamp with time zone)'),
     ('memory.boost_episodes(memory.fused_candidate[],memory.settings)'),
     ('memory.correct_spelling(text,text,memory.settings,timestamp with time zone)'),
     ('memory.count_vectors(text)'),
     ('memory.due_jobs(timestamp with time zone)'),
     ('memory.exact_neighbors(text,vector,text,integer,double precision,timestamp with time zone)'),
     ('memory.facts_with_terms(bigint[],text,integer)'),
     ('memory.filter_memories(memory.query_condition[],text[],text,boolean,memory.settings,'
      || 'timestamp with time zone)'),
     ('memory.find_dropped(text[],text,vector,text,integer,double precision,memory.settings,'
      || 'timestamp with time zone)'),
     ('memory.find_memories(text[],text,text,vector,text,integer,double precision,double precision,text,'
      || 'boolean,boolean,memory.settings,timestamp with time zone)'),
     ('memory.find_names(text,text,text,boolean,integer)'),
     ('memory.former_facts(uuid[],tstzmultirange)'),
     ('memory.frequent_words(memory.corpus_size,tsquery[],boolean,text)'),
     ('memory.fuse_lists(text[],text,memory.keyword_query,vector,text,integer,double precision,integer,'
      || 'memory.settings,timestamp with time zone)'),
     ('memory.judge_candidates(memory.fused_candidate[],memory.question,bigint,double precision,'
      || 'memory.settings,timestamp with time zone)'),
     ('memory.keyword_matches(text,text,tsquery,bigint[],bigint[],text,integer,double precision,'
      || 'timestamp with time zone)'),
     ('memory.known_spelling(text,boolean,text[],text,memory.settings,timestamp with time zone)'),
     ('memory.largest_tenant_size()'),
     ('memory.list_aged(memory.keyword_query,vector,text,integer,memory.settings,'
      || 'timestamp with time zone)'),
     ('memory.list_candidates(text[],text,memory.relations,vector,text,integer,double precision,'
      || 'double precision,text,boolean,memory.settings,timestamp with time zone)'),
     ('memory.meet_condition(memory.query_condition,text[],text,boolean,memory.settings,'
      || 'timestamp with time zone)'),
     ('memory.near_among(text[],uuid[],vector,memory.settings,timestamp with time zone)'),
     ('memory.near_by_index(text[],vector,memory.word_match[],memory.word_match[])'),
     ('memory.nearest_neighbors(text,vector,text,integer,double precision,integer,'
      || 'timestamp with time zone)'),
     ('memory.read_query(text,text,memory.settings)'),
     ('memory.read_relations(text,text,memory.settings,boolean)'),
     ('memory.replaced_by_news(uuid)'), ('memory.tagged_entries(text[],text,integer,timestamp with time zone)'),
     ('memory.tagged_facts(jsonb,text,integer)'),
     ('memory.tenants_in(name,text,timestamp with time zone)'), ('memory.tenants_with_memories()'),
     ('memory.tenants_without_due_times(boolean)'),
     ('memory.unknown_words(text,text,memory.settings,timestamp with time zone)'),
     ('memory.use_approximate_index(text,integer)'),
     ('memory.vector_index(text)'),
     ('memory.weigh_among(text[],uuid[],memory.keyword_query,vector,integer,memory.corpus_size[],'
      || 'memory.settings,timestamp with time zone)'),
     ('memory.weigh_memories(text[],memory.keyword_query,vector,text,integer,double precision,'
      || 'memory.corpus_size[],memory.settings,timestamp with time zone)'),
     ('memory.weigh_timely(memory.fused_candidate[],text[],memory.keyword_query,vector,text,integer,'
      || 'double precision,tstzmultirange,memory.corpus_size[],memory.settings,timestamp with time zone)') $$,
  'memory_search owns the functions of ranked retrieval, those that find names and tags, those that list tenants and where work waits, and no other'
);
select is_empty(
  $$ select f.name::text from memory_test.functions as f
     where f.proowner not in ('memory_owner'::regrole, 'memory_search'::regrole)
     union all
     select r.name::text from memory_test.relations as r where r.relowner <> 'memory_owner'::regrole
     union all
     select t.name::text from memory_test.types as t where t.typowner <> 'memory_owner'::regrole
     union all
     select n.nspname from pg_namespace as n
     where n.nspname = 'memory' and n.nspowner <> 'memory_owner'::regrole $$,
  'everything else belongs to memory_owner'
);

-- Indexes and constraints

select is_empty(
  $$ select i.name from memory_test.indexes as i where not (i.indisvalid and i.indisready and i.indislive) $$,
  'no index is invalid'
);
select is_empty(
  $$ select k.conrelid::regclass, k.conname from pg_constraint as k
     where k.connamespace = 'memory'::regnamespace and not k.convalidated $$,
  'no constraint is unvalidated'
);

-- Triggers: 1 is for each row, 2 before, 4 insert, 8 delete, 16 update, 32 truncate.

create view memory_test.triggers as
select
  t.tgrelid as table_id, t.tgtype::integer as type, t.tgname::text collate "default" as name,
  t.tgenabled::text collate "default" as enabled, p.proname::text collate "default" as function,
  t.tgtype & 1 = 1 or t.tgnewtable is not null as sees_rows
from pg_trigger as t
join memory_test.tables as r on r.oid = t.tgrelid
join pg_proc as p on p.oid = t.tgfoid
where not t.tgisinternal;

create view memory_test.audited_tables as
select t.oid, t.name from memory_test.tables as t
where t.name::text not in (
  'memory.memory_events', 'memory.transitions', 'memory.time_words', 'memory.memory_types', 'memory.sensitive_patterns', 'memory.definitions', 'memory.fact_keys', 'memory.embedding_queue',
  'memory.staged_embeddings', 'memory.corpus_statistics', 'memory.corpus_deltas', 'memory.tombstones',
  'memory.job_runs', 'memory.job_runners', 'memory.common_runner', 'memory.login_codes', 'memory.tenant_moves',
  'memory.memory_history', 'memory.event_chain', 'memory.event_chain_heads',
  'memory.consolidation_runs',
  'memory.entity_names', 'memory.entity_merges', 'memory.entity_merge_facts',
  'memory.entry_comparisons', 'memory.entry_merges', 'memory.entry_merge_members',
  'memory.entry_numbers', 'memory.entry_consolidations', 'memory.store_vectors',
  'memory.imported_memories', 'memory.restored_events'
);

select is_empty(
  $$ select a.name, o.name
     from memory_test.audited_tables as a
     cross join (values ('insert', 4), ('delete', 8), ('update', 16)) as o (name, bit)
     where not exists (
       select from memory_test.triggers as t
       where t.table_id = a.oid and t.enabled in ('O', 'A')
         and t.type & o.bit <> 0 and t.sees_rows
         and (
           t.function like 'audit\_%' and t.type & 2 = 0
           or t.function = 'refuse_change' and t.type & 2 = 2
         )
     ) $$,
  'every insert, update and delete of the audited tables is audited or refused'
);
select is_empty(
  $$ select a.name
     from memory_test.audited_tables as a
     where not exists (
       select from memory_test.triggers as t
       where t.table_id = a.oid and t.enabled in ('O', 'A') and t.type & 32 = 32 and t.type & 2 = 2
         and t.function = 'refuse_truncate'
     ) $$,
  'truncating an audited table is refused before it happens'
);
select results_eq(
  $$ select t.name, t.enabled, t.type, t.function
     from memory_test.triggers as t
     where t.table_id = 'memory.memory_events'::regclass and t.function = 'refuse_change'
     order by 1 $$,
  $$ values
     ('refuse_change', 'A', 1 + 2 + 8 + 16, 'refuse_change'),
     ('refuse_truncate', 'A', 2 + 32, 'refuse_change') $$,
  'the guards of the audit stream fire always, also for a session that replays replicated changes'
);
select is_empty(
  $$ select t.table_id::regclass, t.name from memory_test.triggers as t
     where t.enabled not in ('O', 'A') $$,
  'no trigger is disabled'
);

-- Argument checks

create function memory_test.plan_of(call text)
  returns setof text
  language plpgsql
as $$
begin
  return query execute format(
    'explain (verbose, costs off) select %s from memory.facts as f', call
  );
end;
$$;
select is_empty(
  $$ select c.call, p.line
     from (values
       ('check_text(f.subject, f.content, 9)'),
       ('check_scope(f.subject, f.scope)'),
       ('visible_scope(f.scope)'),
       ('check_number(f.subject, f.importance, 0, 1)'),
       ('check_word(f.subject, f.scope, ''{a,b}'')'),
       ('check_tags(f.tags)'),
       ('check_object(f.subject, f.metadata)'),
       ('check_metadata(f.metadata, ''{a}'')'),
       ('check_time(f.subject, f.created_at)'),
       ('check_time_zone(f.subject, f.content)'),
       ('check_write_time(f.subject, f.created_at)'),
       ('check_interval(f.valid_from, f.valid_to)'),
       ('check_expiry(f.valid_to, f.valid_from)'),
       ('check_idempotency_key(f.idempotency_key)'),
       ('check_embedding(f.embedding)'),
       ('check_query_embedding(f.embedding, f.embedding_version_id)'),
       ('check_limit(f.reference_count)'),
       ('check_query(f.content)'),
       ('check_types(array[f.subject])')
     ) as c (call)
     cross join lateral memory_test.plan_of('memory.' || c.call) as p (line)
     where p.line ~ '\m(check_|visible_|is_scope)' $$,
  'the planner makes checks of arguments part of the statement: no function is called where they hold'
);

-- plpgsql_check

select exists (
  select from pg_available_extensions as e where e.name = 'plpgsql_check'
) as has_plpgsql_check \gset
\if :has_plpgsql_check
create extension if not exists plpgsql_check with schema memory_test;
select is_empty(
  $$ select f.name, t.tgrelid::regclass, c.lineno, c.level, c.message, c.detail
     from memory_test.functions as f
     join pg_proc as p on p.oid = f.oid
     join pg_language as l on l.oid = p.prolang and l.lanname = 'plpgsql'
     left join pg_trigger as t on t.tgfoid = p.oid
     cross join lateral plpgsql_check_function_tb(
       p.oid, coalesce(t.tgrelid, 0), oldtable => t.tgoldtable, newtable => t.tgnewtable,
       fatal_errors => false, all_warnings => true
     ) as c
     -- What these execute comes from memory.memory_types, which only its owner changes, from the
     -- catalog, or from vector_index_statements, and every name in it is quoted.
     where not (
       f.code ~* '\mexecute\M'
       and (c.level = 'security' or concat(c.message, c.detail) ~ 'dynamic SQL')
     ) $$,
  'plpgsql_check has nothing to say against any function, performance and security included'
);
\else
select skip('plpgsql_check is not installed', 1);
\endif

-- Dead rows

select is_empty(
  $$ select v.name
     from (
       select t.table_name as name, 0.05 as scale, 75 as room from memory.memory_types as t where t.is_searched
       union all
       select * from (values ('embedding_queue', 0, 70), ('corpus_deltas', 0, 100)) as q
     ) as v (name, scale, room)
     join pg_class as c on c.oid = format('memory.%I', v.name)::regclass
     left join lateral (
       select
         max(o.option_value) filter (where o.option_name = 'autovacuum_vacuum_scale_factor')::numeric as scale,
         coalesce(max(o.option_value) filter (where o.option_name = 'fillfactor')::integer, 100) as room
       from pg_options_to_table(c.reloptions) as o
     ) as o on true
     where (o.scale, o.room) is distinct from (v.scale, v.room) $$,
  'tables whose rows change with every search are vacuumed early, and have room for the new rows'
);

-- Words that functions check and tables allow

select is_empty(
  $$ select c.conrelid::regclass, c.conname
     from pg_constraint as c
     cross join (values ('permanence', memory.permanences()), ('source_class', memory.source_classes()), ('trust', memory.source_classes())) as w (column_name, words)
     where c.connamespace = 'memory'::regnamespace and c.conname like '%\_' || w.column_name || '\_check'
       and pg_get_constraintdef(c.oid) like '%ARRAY[%'
       and array(select m[1] from regexp_matches(pg_get_constraintdef(c.oid), '''(\w+)''', 'g') as m) <> w.words $$,
  'tables allow the permanences and source classes that functions check'
);

select * from finish();
rollback;
