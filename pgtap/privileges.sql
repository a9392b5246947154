begin;
\ir fixtures.sql
select plan(35);

-- Who may call what, decided here a second time. A function that is not listed is for its owner.

create table memory_test.decisions (
  roles name[],
  functions name[]
);

insert into memory_test.decisions (roles, functions)
values
-- everybody who works with a memory
(
  '{memory_admin,memory_reader,memory_worker,memory_writer}',
  '{current_login,authenticate_token,set_request,require_tenant,current_actor,current_request_id,current_reason,current_butler,visible_scope,version,diagnose,is_actor,
    is_request_id,is_reason_code,is_scope,is_blank,
    create_session,create_login_code,redeem_login_code,authenticate_session,end_session}'
),
(
  '{memory_admin,memory_reader,memory_search,memory_worker,memory_writer}',
  '{current_tenant,current_settings}'
),
-- formulas and text functions
(
  '{memory_admin,memory_reader,memory_worker,memory_writer}',
  '{preprocess_text,render_memory,date_in_words,end_of_text,decay_rate_of,
    split_code,without_code,entry_title,list_sections,importance_word,importance_of,initial_confidence,confidence_step,get_entry_uuid}'
),
(
  '{memory_admin,memory_reader,memory_search,memory_worker,memory_writer}',
  '{truncate_utf8,collapse_whitespace,fold_text,preprocess_search_query,days_between,effective_confidence,recency_score,rrf_score,
    relevance_score,composite_score,fold_words,words_of,asks_in_general,asks_of_self,tells_update,asks_present,asks_ahead,asks_past,asks_events,asks_happened,read_period,
    confidence_tier,tier_range,retention_band,retention_priority}'
),
-- the audit stream and provenance
('{memory_admin,memory_reader,memory_writer}', '{list_events,get_links,list_related,list_memories,count_memories,peek_memory,decay_curve,
  memories_as_of,diff_as_of,change_density,memory_timeseries,
  list_entities,merge_suggestions,merge_preview,find_ids,list_contradictions,
  fact_history,replay_memory,memory_stats,list_scopes,
  entity_get,entity_resolve,entity_neighbors}'),
('{memory_admin,memory_reader,memory_worker}', '{metrics,get_chain_head,verify_chain,definitions_digest}'),
-- agents and applications
(
  '{memory_writer}',
  '{store_episode,store_episodes,store_messages,list_turns,store_observations,store_fact,store_facts,store_rule,replace_rule,create_link,entity_create,entity_update,entity_merge,entity_unmerge,dismiss_contradiction,reopen_contradiction,get_memory,confirm_memory,forget_memory,
    restore_memory,recall,
    create_entry,update_entry,delete_entry,archive_entry,rate_entry,get_entry,import_entries}'
),
-- search, which changes nothing
('{memory_admin,memory_reader,memory_writer}', '{export_memories,list_export_kinds,describe_export,list_imports}'),
('{memory_writer}', '{import_memories}'),
('{memory_admin,memory_writer}', '{undo_import}'),
('{memory_admin}', '{export_all_memories,start_restore,restore_rows,finish_restore}'),
('{memory_reader,memory_writer}', '{semantic_search,keyword_search,hybrid_search,search,expand_query,rank_memories,recall_explain,context,context_explain,query,query_topic,
    export_entries}'),
-- the strict store
('{memory_writer}', '{write_memory,query_memory,retrieve_entries}'),
('{memory_worker}', '{expire_memory,delete_expired_sessions}'),
-- items of frameworks
('{memory_writer}', '{put_items,batch_items}'),
('{memory_reader,memory_writer}', '{get_items,search_items,list_item_namespaces}'),
('{memory_worker,memory_writer}', '{delete_expired_items}'),
('{memory_worker}', '{find_due_jobs,sign_off_runner}'),
('{memory_admin,memory_worker}', '{claim_job,run_job,record_verification}'),
('{memory_admin,memory_reader}', '{describe_settings}'),
('{memory_admin,memory_writer}', '{detect_sensitive}'),
('{memory_admin,memory_reader,memory_writer}', '{list_entry_policies}'),
(
  '{memory_admin}',
  '{check_definitions,grant_approval,revoke_approval,list_approvals,set_entry_policy,add_sensitive_pattern,remove_sensitive_pattern,
    list_sensitive_patterns}'
),
-- rules that earn trust, and maintenance
('{memory_writer}', '{mark_helpful,mark_harmful}'),
('{memory_admin,memory_reader,memory_worker,memory_writer}', '{asymmetric_score,decayed_state}'),
('{memory_worker}', '{list_tenants,list_busy_tenants,find_due_jobs_all_tenants,sign_off_runner_all_tenants,run_decay_sweep,run_decay_sweep_all_tenants,run_episode_cleanup,
  run_rule_hygiene,run_entry_upkeep,maybe_consolidate_entries,seal_events}'),
('{memory_worker,memory_writer}', '{consolidate_entries,list_entry_clusters,undo_entry_merge,list_unsummarized_merges,summarize_entry_merge}'),
('{memory_admin}', '{revert_inversion,erase_subject,verify_erasure}'),
('{memory_admin,memory_writer}', '{accept_proposals,reject_proposals,amend_proposal}'),
('{memory_worker}', '{list_due_consolidations,claim_episodes,extend_lease,get_consolidation_context,apply_consolidation,
  fail_consolidation,preview_batch}'),
('{memory_admin,memory_worker}', '{requeue_episodes,requeue_run,release_run,undo_consolidation}'),
('{memory_admin,memory_reader,memory_worker}', '{list_consolidation_runs,get_consolidation_answer,preview_proposals,undo_preview,
  job_status,chain_status,list_verifications}'),
('{memory_admin,memory_reader,memory_worker,memory_writer}', '{undo_preview_event}'),
('{memory_admin,memory_worker,memory_writer}', '{undo_event}'),
('{memory_owner}', '{tenants_with_memories,tenants_in,tenants_without_due_times,due_jobs}'),

-- embeddings
(
  '{memory_admin,memory_worker,memory_writer}',
  '{register_embedding_version,embedding_text}'
),
('{memory_admin,memory_reader,memory_worker,memory_writer}', '{active_embedding_version,current_embedding_versions,embedding_backlog}'),
('{memory_admin,memory_worker}', '{reindex_texts}'),
('{memory_worker}', '{claim_embedding_jobs,set_embedding,fold_corpus_statistics,recount_corpus_statistics}'),
-- administration of a tenant
('{memory_admin}', '{create_access_token,list_access_tokens,revoke_access_token}'),
(
  '{memory_admin}',
  '{configure,default_settings,calibrate_similarity,start_reembedding,cancel_reembedding,activate_embedding_version,
    rebuild_vector_indexes,vector_index_statements,measure_index_recall,check_indexes}'
),
-- shared between the two owners
('{memory_search}', '{pair_characters,reads_accents,split_numbers,prepare_words,fold_vector,accented_words,read_words,query_vector,query_lexemes,
    any_lexeme,every_word,hash_terms,search_terms,tag_terms,fold_label,fold_labels,fold_each_label,read_phrase,read_phrase_in,query_languages,has_literals,term_frequency,corpus_sizes,normalize_name,fold_name,name_terms,
    is_in_scope,is_known_to,recency_of,one_lexeme,inverse_document_frequency,saturate_frequency,meaning_score,words_score,weigh_evidence,candidate_depth,required_evidence,required_relevance,
    vector_index_name,band_of_entry,time_vocabulary,read_question,read_former,decays_until,key_words,spelling_key,synonyms_of,restate_question,ends_property,read_possessions,read_properties,use_past_forms,near_spellings,common_words,is_spelled_oddly,is_read_as_such,lone_word,is_in_english,may_name_time,memory_type_names,share_that_asks,mostly_asks,ends_with_question,naming_predicates,subjects_of_user,with_tags,join_alternatives,extension_schemas,has_extension}'),
('{memory_owner}', '{find_memories,read_relations,correct_spelling,list_candidates,judge_candidates,asks_for,boost_episodes,find_dropped,find_names,read_query,exact_neighbors,approximate_neighbors,nearest_neighbors,
    use_approximate_index,vector_index,largest_tenant_size,count_vectors,filter_memories,
    weigh_among,weigh_timely,list_aged,tagged_entries,tagged_facts,facts_with_terms}');

create view memory_test.decided as
select f.name, r.role
from memory_test.decisions as d
cross join unnest(d.functions) as f (name)
cross join unnest(d.roles) as r (role);

create view memory_test.granted as
select p.oid, p.proname as name, a.grantee, a.is_grantable,
  case when a.grantee = 0 then 'public' else pg_get_userbyid(a.grantee) end as role
from pg_proc as p
cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
where p.pronamespace = 'memory'::regnamespace and a.grantee <> p.proowner;

create view memory_test.roles as
select r.role, r.position
from unnest(
  '{memory_owner,memory_search,memory_writer,memory_worker,memory_reader,memory_admin,memory_gateway}'::name[]
) with ordinality as r (role, position);

select is_empty(
  $$ select f.name from memory_test.decisions as d cross join unnest(d.functions) as f (name)
     group by 1 having count(*) > 1 $$,
  'each function is listed once'
);
select is_empty(
  $$ select p.proname from pg_proc as p
     where p.pronamespace = 'memory'::regnamespace
     group by 1 having count(*) > 1 $$,
  'no function is overloaded, so a name identifies a function'
);
select is_empty(
  $$ select f.name from memory_test.decisions as d cross join unnest(d.functions) as f (name)
     except
     select p.proname from pg_proc as p where p.pronamespace = 'memory'::regnamespace $$,
  'every function that is listed exists'
);
select is_empty(
  $$ select g.name, g.role from memory_test.granted as g
     except
     select d.name, d.role from memory_test.decided as d $$,
  'no role may call a function that is not listed for it'
);
select is_empty(
  $$ select d.name, d.role from memory_test.decided as d
     except
     select g.name, g.role from memory_test.granted as g $$,
  'every role may call the functions that are listed for it'
);
select is_empty(
  $$ select g.name, g.role from memory_test.granted as g where g.is_grantable $$,
  'no grant of a function can be passed on'
);
select is_empty(
  $$ select r.role, p.proname
     from memory_test.roles as r
     cross join pg_proc as p
     where p.pronamespace = 'memory'::regnamespace
       and has_function_privilege(r.role, p.oid, 'execute') <> (
         pg_get_userbyid(p.proowner) = r.role
         or exists (select from memory_test.decided as d where d.name = p.proname and d.role = r.role)
       ) $$,
  'no role gains a function through another role'
);

-- Calls each function with NULLs, hidden from the planner, which would skip a strict function.
-- Everything is undone.

create function memory_test.called_as(role name, function oid)
  returns text
  language plpgsql
as $$
declare
  v_call text := (
    select format(
      'select memory.%I(%s) from (select 1 %s offset 0) as v', p.proname,
      string_agg('a' || t.position, ', ' order by t.position),
      string_agg(
        -- A function for any type of array is called with one of them.
        ', null::' || replace(format_type(t.type, null), 'anyarray', 'text[]') || ' as a' || t.position,
        '' order by t.position
      )
    )
    from pg_proc as p
    left join lateral unnest(p.proargtypes) with ordinality as t (type, position) on true
    where p.oid = called_as.function
    group by p.proname
  );
begin
  begin
    execute format('set local role %I', role);
    execute v_call;
    raise exception using errcode = 'UNDO0';
  exception when others then
    return case sqlstate when '42501' then 'refused' else 'called' end;
  end;
end;
$$;
select is(
  array(
    select p.proname
    from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace
      and memory_test.called_as(r.role, p.oid) = 'called'
    order by 1
  ),
  array(select d.name from memory_test.decided as d where d.role = r.role order by 1),
  format('%s can call its listed functions; all others are refused with 42501', r.role)
)
from memory_test.roles as r
where r.role not in ('memory_owner', 'memory_search')
order by r.position;

select memory_test.a_login('privileges_nobody', null, 'memory_gateway');
select memory_test.a_login('privileges_writer', 'a', 'memory_writer');
select memory_test.share_results();
create role privileges_stranger;
select is_empty(
  $$ select p.proname from pg_proc as p
     where p.pronamespace = 'memory'::regnamespace
       and memory_test.called_as('privileges_stranger', p.oid) = 'called' $$,
  'a role without any of these roles can call nothing'
);
set local session authorization privileges_nobody;
select throws_ok(
  $$ select memory.version() $$, '42501', 'permission denied for function version',
  'a login that is only a gateway can call nothing'
);
set local session authorization privileges_writer;
select throws_ok(
  $$ select memory.configure('{"rrf_k": 1}') $$, '42501', 'permission denied for function configure',
  'an agent cannot change settings'
);
select is(
  memory.render_memory(
    'episode', 'Tea.', happened_at => '2023-05-08Z', previous => 'What do you drink?'
  ),
  'Tea. (8 May 2023) What do you drink?', 'an agent can render a memory'
);
select throws_ok(
  $$ select memory.write_event('a', 'x', null, null, '{}') $$, '42501',
  'permission denied for function write_event', 'an agent cannot write events'
);
select throws_ok(
  $$ select memory.bind_login('privileges_writer', 'b') $$, '42501',
  'permission denied for function bind_login', 'an agent cannot bind itself to another tenant'
);
select throws_ok(
  $$ select * from memory.facts $$, '42501', 'permission denied for table facts',
  'an agent cannot read a table'
);
select throws_ok(
  $$ set local role memory_owner $$, '42501', 'permission denied to set role "memory_owner"',
  'an agent cannot become the owner'
);
select throws_ok(
  $$ create function memory.mine() returns integer language sql return 1 $$, '42501',
  'permission denied for schema memory', 'an agent cannot create anything in the schema'
);
select throws_ok(
  $$ create temporary table mine (fact memory.facts) $$, '42501', null,
  'an agent cannot use a row type of the schema in a table of its own'
);
set local session authorization default;

-- Tables

select is_empty(
  $$ select r.role, c.oid::regclass, v.privilege
     from memory_test.roles as r
     cross join pg_class as c
     cross join unnest('{select,insert,update,delete,truncate,references,trigger}'::text[]) as v (privilege)
     where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p', 'f', 'm', 'v')
       and r.role <> 'memory_owner'
       and has_table_privilege(r.role, c.oid, v.privilege) <> (
         r.role = 'memory_search' and v.privilege = 'select'
         and c.relname in (
           'episodes', 'facts', 'rules', 'entries', 'entities', 'entity_names', 'searchable_memories', 'memory_types',
           'job_runs'
         )
         or r.role = 'memory_reader' and v.privilege = 'select'
         and c.relname in ('memory_overview', 'event_feed', 'provenance', 'rule_outcomes')
       ) $$,
  'ranking and finding work read nine tables, dashboards read four views, and no role has other privileges'
);
select is_empty(
  $$ select a.attrelid::regclass, a.attname
     from pg_attribute as a
     join pg_class as c on c.oid = a.attrelid
     cross join lateral aclexplode(a.attacl) as p
     where c.relnamespace = 'memory'::regnamespace
       and (p.grantee <> 'memory_reader'::regrole or p.privilege_type <> 'SELECT')
       and (
         p.grantee <> 'memory_search'::regrole or p.privilege_type <> 'SELECT' or p.is_grantable
         or (c.relname, a.attname) not in (
           ('embedding_versions', 'tenant_id'), ('embedding_versions', 'status'),
           ('embedding_versions', 'similarity_floor'), ('embedding_versions', 'similarity_ceiling'),
           ('embedding_queue', 'tenant_id'), ('embedding_queue', 'claimed_until'),
           ('corpus_statistics', 'tenant_id'), ('corpus_statistics', 'former_languages'),
           ('memory_events', 'tenant_id')
         )
       ) $$,
  'no column privilege is granted beyond the dashboard views, the similarity scale and where work waits'
);
select is_empty(
  $$ select r.role, c.oid::regclass
     from memory_test.roles as r
     cross join pg_class as c
     where c.relnamespace = 'memory'::regnamespace and c.relkind = 'S' and r.role <> 'memory_owner'
       and has_sequence_privilege(r.role, c.oid, 'usage, select, update') $$,
  'no role may use a sequence'
);
select is_empty(
  $$ select c.oid::regclass, a.privilege_type
     from pg_class as c
     cross join lateral aclexplode(c.relacl) as a
     where c.relnamespace = 'memory'::regnamespace
       and a.grantee not in ('memory_owner'::regrole, 'memory_search'::regrole)
       and (a.grantee <> 'memory_reader'::regrole or c.relkind <> 'v') $$,
  'no other role has a privilege on a table, view or sequence'
);

-- Schema and types

select results_eq(
  $$ select a.grantee::regrole::text, string_agg(a.privilege_type, ' ' order by a.privilege_type)
     from pg_namespace as n
     cross join lateral aclexplode(n.nspacl) as a
     where n.nspname = 'memory'
     group by 1 order by 1 $$,
  $$ values
     ('memory_admin', 'USAGE'), ('memory_gateway', 'USAGE'), ('memory_owner', 'CREATE USAGE'),
     ('memory_reader', 'USAGE'), ('memory_search', 'USAGE'), ('memory_worker', 'USAGE'),
     ('memory_writer', 'USAGE') $$,
  'every role may use the schema, and only its owner may create in it'
);
select results_eq(
  $$ select t.oid::regtype::text, a.grantee::regrole::text
     from pg_type as t
     cross join lateral aclexplode(t.typacl) as a
     where t.typnamespace = 'memory'::regnamespace and a.grantee <> t.typowner
     order by 1, 2 $$,
  $$ values
     ('memory.candidate', 'memory_search'), ('memory.corpus_size', 'memory_search'),
     ('memory.fused_candidate', 'memory_search'), ('memory.keyword_query', 'memory_search'),
     ('memory.mentioned', 'memory_search'), ('memory.possession', 'memory_search'),
     ('memory.query_condition', 'memory_search'), ('memory.question', 'memory_search'),
     ('memory.ranked_memory', 'memory_search'), ('memory.relations', 'memory_search'),
     ('memory.settings', 'memory_search'), ('memory.word_match', 'memory_search') $$,
  'ranked retrieval may use the types of its arguments and results'
);

-- Objects that are created later

set local role memory_owner;
create function memory.created_later() returns integer language sql return 1;
create type memory.type_created_later as (a integer);
create table memory.table_created_later (a integer);
reset role;
select is(
  (select p.proacl::text from pg_proc as p where p.oid = 'memory.created_later()'::regprocedure),
  '{memory_owner=X/memory_owner}', 'a function created later is for its owner only'
);
select is(
  (select t.typacl::text from pg_type as t where t.oid = 'memory.type_created_later'::regtype),
  '{memory_owner=U/memory_owner}', 'a type created later is for its owner only'
);
select is_empty(
  $$ select r.role from memory_test.roles as r
     where r.role <> 'memory_owner'
       and has_table_privilege(r.role, 'memory.table_created_later', 'select, insert, update, delete') $$,
  'a table created later is for its owner only'
);
grant create on schema memory to memory_search;
set local role memory_search;
create function memory.ranking_created_later() returns integer language sql return 1;
reset role;
select is(
  (select p.proacl::text from pg_proc as p where p.oid = 'memory.ranking_created_later()'::regprocedure),
  '{memory_search=X/memory_search}',
  'a function of ranked retrieval created later is for its owner only'
);

-- Roles

select is_empty(
  $$ select r.role from memory_test.roles as r
     left join pg_roles as p on p.rolname = r.role
     where p.oid is null or p.rolcanlogin or p.rolsuper or p.rolbypassrls or p.rolcreaterole or p.rolcreatedb
       or p.rolreplication $$,
  'no role can log in or has privileges over the cluster'
);
select is_empty(
  $$ select m.member::regrole, m.roleid::regrole
     from pg_auth_members as m
     join memory_test.roles as r on r.role::regrole = m.member $$,
  'no role is a member of another'
);
select is_empty(
  $$ select r.role from memory_test.roles as r
     where nullif(shobj_description(r.role::regrole, 'pg_authid'), '') is null $$,
  'every role has a comment'
);

select * from finish();
rollback;
