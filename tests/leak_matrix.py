"""How tenant b asks for what is tenant a's: the data of tests/test_leaks.py.

Each line is a call of a function of the schema memory. `:name` is a thing of tenant a: an id, a
name, a key, a text (tests/leak_world.py lists and makes them). Several calls in a row, separated by
`;`, are one attempt. `as_of` is added where a function takes it.

Every function that a role may call has to be here, with a line in which each of its ids, and each
argument that is called like a thing, is one of tenant a's.
"""

# What each tenant has of its own, so that tenant a is answered otherwise than tenant b.
CALLS = """
# Tenant and request
current_tenant()
current_settings()
require_tenant(tenant_id => :tenant_id)
set_request(tenant_id => :tenant_id)
set_request(butler => :butler); recall(:content, embedding => :vector)
set_request(actor => :actor, request_id => :request_id, reason => :reason); store_rule('coffee'); list_events()

# A memory by its id
get_memory('episode', memory_id => :episode)
get_memory('fact', memory_id => :fact)
get_memory('fact', memory_id => :superseded)
get_memory('rule', memory_id => :rule)
confirm_memory('fact', memory_id => :fact)
confirm_memory('fact', memory_id => :retracted)
confirm_memory('rule', memory_id => :rule)
confirm_memory('rule', memory_id => :forgotten)
forget_memory('episode', memory_id => :episode)
forget_memory('fact', memory_id => :fact)
forget_memory('rule', memory_id => :rule)
restore_memory('episode', memory_id => :episode)
restore_memory('fact', memory_id => :retracted)
restore_memory('fact', memory_id => :superseded)
restore_memory('rule', memory_id => :forgotten)
mark_helpful(rule_id => :rule)
mark_harmful(rule_id => :rule, reason => :reason)
mark_harmful(rule_id => :forgotten, reason => :reason)
mark_helpful(rule_id => :warning)
revert_inversion(rule_id => :warning)
revert_inversion(rule_id => :rule)

# Provenance, history, audit
create_link('fact', source_id => :fact, target_type => 'rule', target_id => :rule, relation => 'supports')
create_link('episode', source_id => :episode, target_type => 'fact', target_id => :deleted, relation => 'supports')
get_links('fact', memory_id => :fact)
get_links('episode', memory_id => :deleted)
get_links('rule', memory_id => :rule, direction => 'outgoing')
fact_history(fact_id => :fact)
fact_history(fact_id => :superseded)
replay_memory('fact', memory_id => :superseded)
replay_memory('rule', memory_id => :warning)
list_events()
list_events(memory_id => :fact)
list_events(memory_id => :deleted)
list_events(event_type => 'fact_created')
memory_stats()
memory_stats(scope => :scope)
metrics()
seal_events()
get_chain_head()
verify_chain(anchor_position => :position, anchor_hash => :hash)

list_scopes()
list_related('fact', memory_id => :fact)
list_related('rule', memory_id => :rule, max_depth => 3, direction => 'outgoing')
list_memories()
list_memories(scope => :scope)
list_memories(types => '{entry,fact}', states => '{active,expired,retracted,superseded}')
list_memories(subject => :subject, predicate => :predicate)
list_memories(entity_id => :entity, order_by => 'fades_next')
list_memories(butler => :butler, session_id => :session, order_by => 'updated')
list_memories(category => :category, order_by => 'most_confident')
list_memories(tags => jsonb_build_array(:name::text), order_by => 'important')
list_memories(content_contains => :content, order_by => 'most_used')
count_memories(scope => :scope, subject => :subject, predicate => :predicate)
count_memories(tags => jsonb_build_array(:name::text))
count_memories(butler => :butler)
count_memories(entity_id => :entity)
count_memories(session_id => :session)
count_memories(category => :category)
peek_memory('fact', memory_id => :fact)
peek_memory('fact', memory_id => :superseded)
peek_memory('episode', memory_id => :episode)
peek_memory('rule', memory_id => :warning)
peek_memory('entry', memory_id => :entry)
peek_memory('entry', memory_id => :guarded)
decay_curve('fact', memory_id => :fact, points => 3)
decay_curve('rule', memory_id => :rule, points => 3)
memories_as_of()
memories_as_of(subject => :subject, predicate => :predicate, valid_at => now())
memories_as_of(entity_id => :entity)
memories_as_of(butler => :butler)
memories_as_of(scope => :scope, types => '{fact}', states => '{active,superseded}')
diff_as_of('2026-01-01Z')
diff_as_of('2026-01-01Z', scope => :scope)
change_density()
memory_timeseries()
find_ids(left(:fact::text, 8))
find_ids(left(:entity::text, 8), kinds => '{entity}')
find_ids(:entry::text)
list_contradictions()
list_contradictions(scope => :scope)
list_entities()
list_entities(:name)
merge_suggestions()
merge_preview(source_entity_id => :entity, target_entity_id => :friend)
merge_preview(source_entity_id => :merged, target_entity_id => :entity)
dismiss_contradiction('fact', one_id => :drink, other_type => 'fact', other_id => :fact)
dismiss_contradiction('rule', one_id => :rule, other_type => 'fact', other_id => :fact)
reopen_contradiction('rule', one_id => :warning, other_type => 'fact', other_id => :fact)

# Entries
get_entry_uuid(entry_id => :entry_id)
get_entry(entry_id => :entry_id)
get_entry(entry_id => :entry)
get_entry(entry_id => :deleted_entry_id)
create_entry(content => :content, scope => :scope, category => :category, user_id => :user_id, idempotency_key => :idempotency_key)
create_entry('x', related => array[:entry_id])
create_entry('x', related => array[:entry])
create_entry('x', embedding => :vector, embedding_version_id => :active)
create_entry(content => :content, source => 'user', scope => :scope, user_id => :user_id)
create_entry('x'); search('x', types => '{entry}')
update_entry(entry_id => :entry_id, content => :content, category => :category)
update_entry(entry_id => :entry, expected_version => 1)
update_entry(entry_id => :deleted_entry_id, content => :content)
update_entry(entry_id => :entry_id, embedding => :vector, embedding_version_id => :building)
create_entry('x', idempotency_key => 'mine'); update_entry(:entry_id, related => array[:other_entry_id])
archive_entry(entry_id => :entry_id)
archive_entry(entry_id => :deleted_entry_id)
rate_entry(entry_id => :entry_id, outcome => 'used')
rate_entry(entry_id => :entry_id, outcome => 'conflicting', by_entry => :other_entry_id)
rate_entry(entry_id => :deleted_entry_id, outcome => 'outdated')
delete_entry(entry_id => :entry_id)
delete_entry(entry_id => :entry, permanent => true)
# Weekly and monthly upkeep tell of the volume of an index, which is no secret (docs/security.md).
run_entry_upkeep()
create_entry(content => :content, scope => :scope, user_id => :user_id); create_entry(content => :content, scope => :scope, user_id => :user_id); consolidate_entries()
create_entry(content => :content, embedding => :vector, embedding_version_id => :active); list_entry_clusters()
undo_entry_merge(entry_id => :entry_id)
undo_entry_merge(entry_id => :entry)
create_entry(content => :content, embedding => :vector, embedding_version_id => :active); create_entry(content => :content || ' and more', embedding => :vector, embedding_version_id => :active); consolidate_entries(); list_unsummarized_merges()
summarize_entry_merge(entry_id => :entry_id, summary => 'x', model => :model)
summarize_entry_merge(entry_id => :entry, summary => 'x', model => :model)
get_memory('entry', memory_id => :entry)
forget_memory('entry', memory_id => :entry)
restore_memory('entry', memory_id => :entry)
replay_memory('entry', memory_id => :entry)
get_links('entry', memory_id => :entry)
list_related('entry', memory_id => :entry)
create_link('entry', source_id => :entry, target_type => 'fact', target_id => :fact, relation => 'supports')
set_embedding('entry', memory_id => :entry, embedding => :vector)
search(query => :content, types => '{entry}', embedding => :vector)
recall(:content, types => '{entry}', embedding => :vector)
recall(:content, types => '{entry}', known_at => :as_of)
semantic_search('entry', :vector)
keyword_search('entry', query => :content)
context(:content, butler => :butler, include_entries => true, embedding => :vector)
query(:content, scope => :scope, embedding => :vector, embedding_version_id => :active)
query('confidence:>0.1', types => '{entry}', include_archived => true)
retrieve_entries(:content, scope => :scope, embedding => :vector, embedding_version_id => :active)

# Entities
entity_create(canonical_name => :name, entity_type => 'person')
entity_create(:name, 'person', tenant_id => :tenant_id)
entity_create('Bob', 'person', tenant_id => :tenant_id)
entity_create('Bob', 'person', aliases => array[:subject, :name]); entity_resolve(name => :subject)
entity_get(entity_id => :entity)
entity_get(entity_id => :merged)
entity_update(entity_id => :entity, canonical_name => 'Bob')
entity_update(entity_id => :merged, aliases => array[:name])
entity_resolve(name => :name)
entity_resolve(name => :name, tenant_id => :tenant_id)
entity_resolve(name => :scope, enable_fuzzy => true)
entity_resolve('a', context_hints => jsonb_build_object('topic', :content, 'domain_scores', jsonb_build_object(:entity, 9)))
entity_merge(source_entity_id => :entity, target_entity_id => :friend)
entity_merge(source_entity_id => :merged, target_entity_id => :friend)
entity_create('Bob', 'person'); entity_merge(source_entity_id => :entity, target_entity_id => :friend)
entity_unmerge(entity_id => :merged)
entity_unmerge(entity_id => :entity)
entity_neighbors(entity_id => :entity, max_depth => 3)
replay_memory('entity', memory_id => :entity)

# Storing under the keys, and next to the things, of somebody else
store_episode(content => :content, butler => :butler, idempotency_key => :idempotency_key)
store_episode('coffee', butler => :butler, session_id => :session); embedding_text('episode', 'cake', butler => :butler, session_id => :session)
store_episode(:content, :butler, embedding => :vector, embedding_version_id => :active)
store_episode(:content, :butler, embedding => :vector, embedding_version_id => :building)
store_episodes(jsonb_build_array(jsonb_build_object('content', :content, 'butler', :butler, 'session_id', :session, 'idempotency_key', :idempotency_key)))
store_messages(jsonb_build_array(jsonb_build_object('role', 'user', 'content', :content)), butler => :butler, session_id => :session)
list_turns(episode_ids => array[:turn]::uuid[])
store_observations(episode_ids => array[:turn]::uuid[], observations => jsonb_build_array(jsonb_build_object('content', :content, 'evidence', jsonb_build_array(:turn))))
store_fact(subject => :subject, predicate => :predicate, content => 'coffee', scope => :scope)
store_fact(subject => :subject, predicate => :predicate, content => :content, scope => :scope, idempotency_key => :idempotency_key)
store_fact('x', 'is', 'y', entity_id => :entity)
store_fact('x', 'is', 'y', object_entity_id => :friend)
store_fact('x', 'is', 'y', entity_id => :merged)
store_fact('x', 'is', 'y', source_butler => :butler, source_episode_id => :episode)
store_fact('x', 'is', 'y', embedding => :vector, embedding_version_id => :active)
store_facts(jsonb_build_array(jsonb_build_object('subject', :subject, 'predicate', :predicate, 'content', 'coffee', 'scope', :scope)))
store_facts(jsonb_build_array(jsonb_build_object('subject', :subject, 'predicate', :predicate, 'content', :content, 'scope', :scope, 'idempotency_key', :idempotency_key)))
store_facts(jsonb_build_array(jsonb_build_object('subject', 'x', 'predicate', 'is', 'content', 'y', 'entity_id', :entity)))
store_facts(jsonb_build_array(jsonb_build_object('subject', 'x', 'predicate', 'is', 'content', 'y', 'source_episode_id', :episode)))
store_facts(jsonb_build_array(jsonb_build_object('subject', 'x', 'predicate', 'is', 'content', 'y', 'embedding', (:vector)::jsonb)), embedding_version_id => :active)
store_rule(content => :content, scope => :scope, idempotency_key => :idempotency_key)
store_rule('x', source_butler => :butler, source_episode_id => :episode)
store_rule('x', embedding => :vector, embedding_version_id => :active)
import_entries(jsonb_build_array(jsonb_build_object('content', :content, 'scope', :scope, 'idempotency_key', :idempotency_key, 'related', jsonb_build_array('mem-2026-03-01-001'), 'id', :fact)))
import_entries(jsonb_build_array(jsonb_build_object('entry_id', 'mem-2026-03-01-001', 'content', 'coffee'))); export_entries()

# Exports, restores and imports
describe_export(scope => :scope, include_guarded => true)
export_memories('fact', after_key => to_jsonb(array[:fact]), scope => :scope)
export_memories('history', after_key => jsonb_build_array('fact', :superseded, '-infinity'))
export_memories('event', types => '{fact}', scope => :scope)
export_memories('link', after_key => jsonb_build_array('fact', :fact, 'fact', :superseded))
export_memories('entity', scope => :scope)
export_memories('item_vector', include_vectors => true)
export_memories('episode', known_at => :as_of)
export_all_memories('entry', after_key => to_jsonb(array[:guarded]), scope => :scope)
export_all_memories('history', scope => :scope)
export_all_memories('tombstone')
start_restore('{"type": "pymem_export", "format": 1, "events": false}', name => 'x'); restore_rows(array[format('{"type": "fact", "row": {"id": "%s", "subject": "a", "predicate": "b", "content": "c"}}', :fact)])
start_restore('{"type": "pymem_export", "format": 1, "events": false}', name => 'x'); restore_rows(array[format('{"type": "link", "row": {"source_type": "fact", "source_id": "%s", "target_type": "rule", "target_id": "%s", "relation": "supports"}}', :fact, :rule)]); finish_restore()
start_restore('{"type": "pymem_export", "format": 1, "events": false}', name => 'x'); restore_rows(array[format('{"type": "tombstone", "row": {"memory_type": "episode", "memory_id": "%s", "created_at": "2026-03-01Z", "deleted_at": "2026-03-01Z"}}', :deleted)]); finish_restore()
import_memories(jsonb_build_array(jsonb_build_object('type', 'episode', 'source_id', :idempotency_key, 'content', :content, 'butler', :butler)), 'other', batch => :import_name)
import_memories(jsonb_build_array(jsonb_build_object('type', 'fact', 'source_id', :idempotency_key, 'subject', :subject, 'predicate', :predicate, 'content', 'coffee', 'scope', :scope), jsonb_build_object('type', 'link', 'from', :idempotency_key, 'to', :import_source)), 'other', batch => :import_name)
import_memories(jsonb_build_array(jsonb_build_object('type', 'rule', 'source_id', :import_source, 'content', :content, 'scope', :scope), jsonb_build_object('type', 'entry', 'content', :content)), 'other', batch => 'x'); undo_import('x')
list_imports()
list_imports(before_at => now(), before_id => :import_batch)
undo_import(batch => :import_name)
undo_import(batch => :import_batch::text)
export_entries(include_deleted => true)

# The strict store
write_memory(entry => jsonb_build_object('content', :content, 'scope', jsonb_build_object('user_id', :user_id), 'metadata', jsonb_build_object('category', 'note', 'confidence', 0.9, 'importance', 'low', 'source', 'user'), 'id', :idempotency_key), requested_by => :actor)
write_memory(jsonb_build_object('content', '4111111111111111', 'scope', jsonb_build_object('user_id', :user_id), 'metadata', jsonb_build_object('category', 'note', 'confidence', 0.9, 'importance', 'low', 'source', 'user')), 'loop', approval_id => :card_approval)
write_memory(jsonb_build_object('content', :content, 'scope', jsonb_build_object('user_id', :user_id), 'metadata', jsonb_build_object('category', 'note', 'confidence', 0.9, 'importance', 'low', 'source', 'user')), 'loop', embedding => :vector, embedding_version_id => :active)
query_memory(query => :content, user_id => :user_id, embedding => :vector)
query_memory('', user_id => :user_id, embedding_version_id => :active)
query_memory('', approval_id => :approval)
get_memory('entry', memory_id => :guarded)
forget_memory('entry', memory_id => :guarded)
create_link('entry', source_id => :guarded, target_type => 'fact', target_id => :fact, relation => 'supports')
replay_memory('entry', memory_id => :guarded)
expire_memory()
detect_sensitive(content => :name)
grant_approval('cross_scope', user_id => :user_id, reason => :reason); list_approvals()
revoke_approval(approval_id => :approval)
list_approvals()
list_approvals(only_open => true)
set_entry_policy(scope => :butler, policy => 'billy')
list_entry_policies()
add_sensitive_pattern('customer', name => :pattern, pattern => :name)
remove_sensitive_pattern('customer', name => :pattern)
list_sensitive_patterns()

# Items of frameworks
get_items(jsonb_build_array(jsonb_build_object('namespace', jsonb_build_array('users', :name), 'key', :subject)))
put_items(jsonb_build_array(jsonb_build_object('namespace', jsonb_build_array('users', :name), 'key', :subject, 'value', null)))
put_items(jsonb_build_array(jsonb_build_object('namespace', jsonb_build_array('users', :name), 'key', :subject, 'value', jsonb_build_object('text', 'coffee')))); get_items(jsonb_build_array(jsonb_build_object('namespace', jsonb_build_array('users', :name), 'key', :subject)))
search_items('[{}]')
search_items(jsonb_build_array(jsonb_build_object('namespace_prefix', jsonb_build_array('users', :name), 'embedding', :vector::jsonb)))
search_items(jsonb_build_array(jsonb_build_object('filter', jsonb_build_object('text', :content))))
list_item_namespaces('[{}]')
list_item_namespaces(jsonb_build_array(jsonb_build_object('conditions', jsonb_build_array(jsonb_build_object('match', 'suffix', 'path', jsonb_build_array(:name))))))
batch_items(jsonb_build_array(jsonb_build_object('op', 'get', 'namespace', jsonb_build_array('users', :name), 'key', :subject), jsonb_build_object('op', 'search'), jsonb_build_object('op', 'list'), jsonb_build_object('op', 'put', 'namespace', jsonb_build_array('users', :name), 'key', :subject, 'value', null)))
delete_expired_items()

# Searching for the words, and with the vector, of somebody else
semantic_search('fact', :vector, scope => :scope, embedding_version_id => :active)
semantic_search('episode', :vector)
keyword_search('rule', query => :content)
keyword_search('fact', query => :subject, scope => :scope)
hybrid_search('episode', query => :content, embedding => :vector)
hybrid_search('fact', query => :subject, embedding => :vector, scope => :scope, embedding_version_id => :active)
search(query => :content, embedding => :vector)
search(query => :content, scope => '*', embedding => :vector)
search(query => :name, mode => 'keyword', scope => :scope, embedding_version_id => :active)
rank_memories(:content, embedding => :vector)
rank_memories(:content, scope => :scope, embedding => :vector, embedding_version_id => :active)
rank_memories(:content, known_at => :as_of, valid_at => :as_of)
recall(:content, embedding => :vector)
recall(:content, scope => '*', embedding => :vector)
recall(:subject, scope => :scope, embedding_version_id => :active)
recall(:content, known_at => :as_of)
recall_explain(:content, embedding => :vector)
recall_explain(:content, scope => :scope, embedding_version_id => :active)
recall_explain(:content, embedding => :vector, settings => '{"weight_recency": 0}', known_at => :as_of)
context_explain(:content, butler => :butler, include_recent_episodes => true, embedding => :vector)
context_explain(:content, 'home', embedding_version_id => :active)
context(:content, butler => :butler, include_recent_episodes => true, embedding => :vector)
context(:content, 'home', embedding_version_id => :active)
search(query => :content, min_relevance => 0, embedding => :vector)
recall_explain(:content, min_relevance => 0, embedding => :vector)
context('anything', butler => :butler, min_relevance => 0, embedding => :vector)
configure('{"ranking": "specified"}'); search(query => :content, embedding => :vector)
configure('{"min_evidence": 0, "min_relevance": 0}'); recall('coffee', embedding => :vector)
configure('{"boost_named": 0.5, "boost_session": 0.5, "boost_neighbors": 0.5}'); recall(:content, embedding => :vector)
rebuild_vector_indexes('hnsw'); configure('{"exact_scan_limit": 0}'); semantic_search('fact', :vector, max_results => 1)

# Embeddings
register_embedding_version(model => :model, version => :version)
register_embedding_version(model => :model, version => :next_version)
active_embedding_version()
current_embedding_versions()
embedding_text('episode', content => :content, subject => :subject, predicate => :predicate, butler => :butler, session_id => :session)
embedding_backlog()
claim_embedding_jobs()
claim_embedding_jobs(embedding_version_id => :building)
set_embedding('episode', memory_id => :episode, embedding => :vector)
set_embedding('fact', memory_id => :fact, embedding => :vector, embedding_version_id => :active)
set_embedding('fact', memory_id => :fact, embedding => :vector, embedding_version_id => :building)
set_embedding('rule', memory_id => :rule, embedding => :vector, text_md5 => md5(:content))
calibrate_similarity()
calibrate_similarity(target => 'building')
store_fact('x', 'is', 'y', embedding => :vector); calibrate_similarity(sample_size => 10)
start_reembedding(model => :model, version => :version)
start_reembedding(model => :model, version => :next_version)
cancel_reembedding()
activate_embedding_version()
measure_index_recall()
fold_corpus_statistics()

# Consolidation
list_due_consolidations()
claim_episodes()
claim_episodes(butler => :butler)
preview_batch()
preview_batch(butler => :butler)
store_episode('coffee', butler => :busy_butler); claim_episodes(butler => :busy_butler)
extend_lease(run_id => :running)
release_run(run_id => :running)
get_consolidation_context(butler => :butler)
get_consolidation_context(butler => :busy_butler, run_id => :running)
apply_consolidation(run_id => :running, output => '{"new_facts": []}', model => :model)
apply_consolidation(run_id => :running, output => jsonb_build_object('confirmations', jsonb_build_array(:fact), 'updated_facts', jsonb_build_array(jsonb_build_object('target_id', :fact, 'content', 'coffee'))))
apply_consolidation(run_id => :done, output => '{}')
fail_consolidation(run_id => :running, error => 'no', model => :model)
requeue_episodes(episode_ids => array[:failed]::uuid[])
requeue_episodes()
requeue_run(run_id => :done)
requeue_run(run_id => :reviewed)
get_consolidation_answer(run_id => :done)
undo_consolidation(run_id => :done)
undo_consolidation(run_id => :reviewed)
preview_proposals(run_id => :reviewed)
preview_proposals()
accept_proposals(run_id => :reviewed)
reject_proposals(run_id => :reviewed)
list_consolidation_runs()
list_consolidation_runs(butler => :butler)
list_consolidation_runs(run_id => :done)

# Maintenance and administration
run_decay_sweep()
run_episode_cleanup()
run_rule_hygiene()
run_job('run_decay_sweep'); run_job('seal_events')
erase_subject(subject => :subject)
erase_subject(subject => :name, dry_run => true)
verify_erasure(subject => :subject)
configure('{"retrieval_limit": 3}')
list_access_tokens()
revoke_access_token(token_id => :token)
authenticate_token(token_digest => :token_digest)
create_session(token_digest => :token_digest)
redeem_login_code(code_digest => :code_digest)
authenticate_session(session_digest => :session_digest)
end_session(session_digest => :session_digest)
delete_expired_sessions()
diagnose()
diagnose(passed => true)
"""

# Calls that answer every tenant the same.
ALIKE = """
start_restore('{"type": "pymem_export", "format": 1, "events": false}', name => :name); finish_restore()
list_export_kinds()
start_restore('{"type": "pymem_export", "format": 1, "events": true}', name => 'x'); restore_rows(array[format('{"type": "event", "row": {"id": "%s", "seq": 1, "event_type": "fact_created", "memory_type": "fact", "memory_id": "%s", "payload": {"from": "[*]", "to": "active"}}}', :fact, :fact)]); finish_restore()
maybe_consolidate_entries()
query_topic(query => :content)
store_fact('x', 'is', 'y', source_episode_id => :deleted)
create_access_token(name => :name, role => 'reader', actor => :actor)
create_login_code('reader', actor => :actor)
current_login()
current_actor()
current_request_id()
current_reason()
current_butler()
visible_scope(scope => :scope)
reindex_texts()
recount_corpus_statistics()
find_due_jobs()
claim_job('seal_events'); find_due_jobs()
find_due_jobs(); sign_off_runner()
default_settings(tenant_id => :tenant_id)
read_period('last week', 'UTC')
rebuild_vector_indexes('auto')
rebuild_vector_indexes('ivfflat')
vector_index_statements('ivfflat')
check_definitions()
definitions_digest()
check_indexes()
"""

# A login that names the tenant of each transaction may know which there are; others are refused.
FOR_GATEWAYS = """
list_tenants()
run_decay_sweep_all_tenants()
metrics(all_tenants => true)
"""

# The indexes are everybody's: who rebuilds them keeps everybody waiting meanwhile.
DELAYS_ALL = "rebuild_vector_indexes"

# Pure functions: immutable, with the rights of the caller, of nothing but their arguments.
FORMULAS = """
asks_present asymmetric_score collapse_whitespace composite_score confidence_step confidence_tier date_in_words
days_between decay_rate_of decayed_state effective_confidence end_of_text entry_title fold_text fold_words
importance_of importance_word initial_confidence is_actor is_blank is_reason_code is_request_id is_scope
list_sections preprocess_search_query preprocess_text recency_score relevance_score render_memory
retention_band retention_priority rrf_score split_code tells_update truncate_utf8
tier_range version without_code words_of
"""

# What differs from call to call, or counts for all tenants together (docs/security.md).
UNSTEADY = "seq token session_id csrf_token login_code exact_ms index_ms search_ms"

# Which call would tell of a key of another tenant by a unique index or a foreign key: of each index
# and foreign key the function and the argument. Where nobody can name such a key: why.
KEYS = """
embedding_versions_model_version_rendering_key         start_reembedding(model)
embedding_versions_one_active_key                      one for a tenant: none is named
embedding_versions_one_building_key                    start_reembedding(version)
episodes_idempotency_key                               store_episode(idempotency_key)
facts_idempotency_key                                  store_fact(idempotency_key)
facts_active_subject_key                               store_fact(subject)
facts_active_entity_key                                store_fact(entity_id)
rules_idempotency_key                                  store_rule(idempotency_key)
entries_idempotency_key                                create_entry(idempotency_key)
store_items_key_key                                    put_items names what another tenant has
store_vectors_tenant_id_item_id_fkey                   vectors are of the item put with them
entries_entry_id_key                                   numbers are the tenant's: none is named
entities_name_type_key                                 entity_create(canonical_name)
event_chain_event_key                                  events have new ids
import_batches_name_key                                import_memories(batch)
imported_memories_tenant_id_batch_id_fkey              memories are of the import that stores them
restored_events_tenant_id_batch_id_fkey                events are of the restore that reads them
access_tokens_tenant_id_token_digest_key               authenticate_token(token_digest)
sessions_tenant_id_session_digest_key                  authenticate_session(session_digest)
sessions_tenant_id_token_id_fkey                       create_session(token_digest)
consolidation_runs_lease_key                           claim_episodes(butler)
episodes_tenant_id_embedding_version_id_fkey           store_episode(embedding_version_id)
facts_tenant_id_entity_id_fkey                         store_fact(entity_id)
facts_tenant_id_object_entity_id_fkey                  store_fact(object_entity_id)
facts_tenant_id_embedding_version_id_fkey              store_fact(embedding_version_id)
facts_tenant_id_source_episode_id_fkey                 store_fact(source_episode_id)
facts_tenant_id_supersedes_id_fkey                     store_fact(subject)
rules_tenant_id_embedding_version_id_fkey              store_rule(embedding_version_id)
rules_tenant_id_source_episode_id_fkey                 store_rule(source_episode_id)
entries_tenant_id_embedding_version_id_fkey            create_entry(embedding_version_id)
entry_comparisons_tenant_id_entry_id_fkey              comparisons are of the tenant's entries
entry_merges_tenant_id_merged_id_fkey                  undo_entry_merge(entry_id)
entry_merges_tenant_id_consolidation_id_fkey           merges are of the tenant's runs
entry_merge_members_tenant_id_merged_id_fkey           undo_entry_merge(entry_id)
entry_merge_members_tenant_id_member_id_fkey           members are of the tenant's entries
rule_applications_tenant_id_rule_id_fkey               mark_helpful(rule_id)
staged_embeddings_tenant_id_embedding_version_id_fkey  set_embedding(embedding_version_id)
consolidation_proposals_tenant_id_run_id_fkey          apply_consolidation(run_id)
consolidation_proposals_pending_key                    keys are made from the text of an answer
entity_merges_source_key                               entity_merge(source_entity_id)
entity_names_tenant_id_entity_id_fkey                  names come with their entity
entity_merges_tenant_id_source_entity_id_fkey          entity_merge(source_entity_id)
entity_merges_tenant_id_target_entity_id_fkey          entity_merge(target_entity_id)
entity_merge_facts_tenant_id_merge_id_fkey             entity_unmerge(entity_id)
entity_merge_facts_tenant_id_fact_id_fkey              facts are those of the entities
entity_merge_facts_tenant_id_winner_id_fkey            facts are those of the entities
memory_types_position_key                              types are everybody's: none is stored
memory_types_table_name_key                            types are everybody's: none is stored
time_words_folded_key                                  words are everybody's: none is stored
"""

# What memory_reader may read of views, and, for their sake, columns of tables. Nobody may do anything
# else with a relation.
READABLE_VIEWS = "memory_overview event_feed provenance rule_outcomes"
READABLE_TABLES = (
    "episodes facts rules entries rule_applications memory_events memory_links tombstones"
)

# Columns of the views that the planner has statistics of: words that are the same for every tenant, and
# names of scopes and butlers, which searches are planned by (docs/security.md).
ESTIMATED = """
memory_type scope source_butler lifecycle_state maturity permanence event_type from_state to_state source_type
target_type relation outcome
"""
