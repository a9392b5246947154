-- Deploy pymem:privileges to pg
-- requires: row_security
-- requires: read_model
-- requires: functions/access_tokens
-- requires: functions/entities
-- requires: functions/entity_neighbors
-- requires: functions/logins
-- requires: functions/erasure
-- requires: functions/event_chain
-- requires: functions/history
-- requires: functions/restore
-- requires: functions/stats
-- requires: functions/scopes
-- requires: functions/undo_consolidation
-- requires: functions/review_consolidation
-- requires: functions/context
-- requires: functions/cleanup
-- requires: functions/decay
-- requires: functions/doctor
-- requires: functions/events
-- requires: functions/explain
-- requires: functions/hygiene
-- requires: functions/lifecycle
-- requires: functions/links
-- requires: functions/merge_entities
-- requires: functions/periods

-- requires: functions/related
-- requires: functions/contradictions
-- requires: functions/reembedding
-- requires: functions/resolve_entities
-- requires: functions/rules
-- requires: functions/indexes
-- requires: functions/store_episodes
-- requires: functions/store_facts
-- requires: functions/store_rules
-- requires: functions/version

begin;

set local role memory_owner;

-- Default privileges do not cover the row types of tables. Whoever may use one can make a table of
-- that type, and so keep ours from being altered.
revoke usage on type
memory.tenant_logins,
memory.settings,
memory.embedding_versions,
memory.memory_events,
memory.transitions,
memory.time_words,
memory.episodes,
memory.entities,
memory.entity_names,
memory.entity_merges,
memory.entity_merge_facts,
memory.facts,
memory.fact_keys,
memory.rules,
memory.rule_applications,
memory.memory_links,
memory.embedding_queue,
memory.staged_embeddings,
memory.corpus_statistics,
memory.corpus_deltas,
memory.tombstones,
memory.memory_history,
memory.event_chain,
memory.event_chain_heads,
memory.consolidation_runs,
memory.consolidation_proposals,
memory.access_tokens,
memory.memory_overview,
memory.event_feed,
memory.provenance,
memory.rule_outcomes,
memory.searchable_memories
from public;

grant usage on schema memory
to memory_writer, memory_worker, memory_reader, memory_admin, memory_gateway;

-- Ranked retrieval belongs to memory_search, which may read what it ranks and nothing else. What it
-- owns is called by the functions of memory_owner only.

grant select on
memory.episodes, memory.facts, memory.rules, memory.entities, memory.entity_names,
memory.searchable_memories
to memory_search;
grant select (tenant_id, status, similarity_floor, similarity_ceiling)
on memory.embedding_versions to memory_search;

grant execute on function
memory.current_tenant(),
memory.current_settings(),
memory.collapse_whitespace(text),
memory.preprocess_search_query(text),
memory.fold_text(text),
memory.pair_characters(text, boolean),
memory.reads_accents(text),
memory.prepare_words(text, text, boolean),
memory.fold_vector(tsvector),
memory.accented_words(text, text),
memory.read_words(text, text),
memory.query_vector(text, text),
memory.query_lexemes(text, text),
memory.any_lexeme(text []),
memory.every_word(text, text),
memory.truncate_utf8(text, integer),
memory.term_frequency(tsvector, tsquery),
memory.corpus_sizes(text []),
memory.one_lexeme(text),
memory.inverse_document_frequency(bigint, bigint),
memory.saturate_frequency(float8, float8, float8, float8),
memory.normalize_name(text),
memory.hash_terms(text, text []),
memory.search_terms(text, tsvector),
memory.fold_name(text),
memory.name_terms(text, text),
memory.days_between(timestamptz, timestamptz),
memory.effective_confidence(float8, float8, timestamptz, timestamptz),
memory.recency_score(timestamptz, float8, timestamptz),
memory.rrf_score(bigint, bigint, bigint, integer),
memory.relevance_score(float8, integer),
memory.meaning_score(float8, float8, float8),
memory.words_score(float8, float8),
memory.weigh_evidence(float8, float8, float8, float8),
memory.required_evidence(float8, bigint),
memory.required_relevance(float8, float8, float8),
memory.composite_score(float8, float8, float8, float8, float8, float8, float8, float8, float8),
memory.fold_words(text),
memory.words_of(text),
memory.tells_update(text),
memory.asks_present(text),
memory.read_period(text, text, timestamptz)
to memory_search;

set local role memory_search;
grant execute on function
memory.exact_neighbours(text, vector, text, integer, float8, timestamptz),
memory.approximate_neighbours(text, vector, text, integer, float8, timestamptz),
memory.nearest_neighbours(text, vector, text, integer, float8, integer, timestamptz),
memory.use_approximate_index(text, integer),
memory.vector_index(text),
memory.find_memories(
  text [], text, text, vector, text, integer, float8, float8, text, boolean, boolean,
  memory.settings, timestamptz
),
memory.find_names(text, text, text, boolean, integer),
memory.read_query(text, text, memory.settings),
memory.list_candidates(
  text [], text, text, vector, text, integer, float8, float8, text, boolean, memory.settings,
  timestamptz
),
memory.find_dropped(text [], text, vector, text, integer, float8, memory.settings, timestamptz),
memory.largest_tenant_size(),
memory.count_vectors(text)
to memory_owner;
grant execute on function memory.tenants_with_memories() to memory_owner;
set local role memory_owner;

-- Everybody who works with a memory

grant execute on function
memory.set_request(text, text, text, text, text),
memory.require_tenant(text),
memory.current_tenant(),
memory.is_actor(text),
memory.is_request_id(text),
memory.is_reason(text),
memory.is_scope(text),
memory.is_blank(text),
memory.current_actor(),
memory.current_request_id(),
memory.current_reason(),
memory.current_butler(),
memory.visible_scope(text),
memory.current_settings(),
memory.current_login(),
memory.authenticate_token(bytea, timestamptz),
memory.version(),
memory.doctor(boolean, timestamptz)
to memory_writer, memory_worker, memory_reader, memory_admin;

-- The audit stream, provenance and entities

grant execute on function
memory.list_events(uuid, text, timestamptz, bigint, integer),
memory.get_links(text, uuid, text, integer, timestamptz),
memory.related(text, uuid, integer, text [], text, integer, timestamptz),
memory.contradictions(text, integer, timestamptz),
memory.fact_history(uuid),
memory.replay_memory(text, uuid),
memory.list_scopes(integer, timestamptz),
memory.memory_stats(text, timestamptz),
memory.entity_get(uuid),
memory.entity_resolve(text, text, text, jsonb, boolean, integer),
memory.entity_neighbors(uuid, integer, integer)
to memory_writer, memory_reader, memory_admin;

-- Agents and applications

grant execute on function
memory.store_episode(
  text, text, uuid, float8, jsonb, vector, uuid, text, timestamptz, text, timestamptz
),
memory.store_episodes(jsonb, timestamptz),
memory.store_fact(
  text, text, text, float8, text, text, jsonb, uuid, float8, text, uuid, jsonb, vector, uuid, text,
  timestamptz, timestamptz, uuid, timestamptz
),
memory.store_facts(jsonb, uuid, timestamptz),
memory.store_rule(
  text, text, jsonb, float8, float8, text, uuid, jsonb, vector, uuid, text, timestamptz
),
memory.create_link(text, uuid, text, uuid, text),
memory.entity_create(text, text, text, text [], jsonb, timestamptz),
memory.entity_update(uuid, text, text [], jsonb, timestamptz),
memory.entity_merge(uuid, uuid, timestamptz),
memory.entity_unmerge(uuid, timestamptz),
memory.get_memory(text, uuid, timestamptz),
memory.confirm_memory(text, uuid, timestamptz),
memory.forget_memory(text, uuid, timestamptz),
memory.restore_memory(text, uuid, timestamptz),
memory.recall(
  text, text, integer, text [], float8, float8, vector, uuid, timestamptz, timestamptz,
  timestamptz
)
to memory_writer;

-- Finding, by which nothing changes

grant execute on function
memory.semantic_search(text, vector, text, integer, uuid, timestamptz),
memory.keyword_search(text, text, text, integer, text, timestamptz),
memory.hybrid_search(text, text, vector, text, integer, text, uuid, timestamptz),
memory.search(text, text [], text, text, integer, float8, float8, vector, uuid, timestamptz),
memory.rank_memories(
  text, text, integer, text [], float8, float8, vector, uuid, timestamptz, timestamptz,
  timestamptz
),
memory.recall_explain(text, text, integer, text [], float8, float8, vector, uuid, timestamptz),
memory.context(text, text, integer, boolean, float8, vector, uuid, timestamptz)
to memory_writer, memory_reader;

-- Formulas and text functions: no data behind them

grant execute on function
memory.truncate_utf8(text, integer),
memory.collapse_whitespace(text),
memory.fold_text(text),
memory.preprocess_text(text),
memory.preprocess_search_query(text),
memory.render_memory(text, text, text, text, timestamptz, text),
memory.date_in_words(timestamptz),
memory.end_of_text(text, integer),
memory.fold_words(text),
memory.words_of(text),
memory.tells_update(text),
memory.asks_present(text),
memory.read_period(text, text, timestamptz),
memory.decay_rate_of(text),
memory.days_between(timestamptz, timestamptz),
memory.effective_confidence(float8, float8, timestamptz, timestamptz),
memory.recency_score(timestamptz, float8, timestamptz),
memory.rrf_score(bigint, bigint, bigint, integer),
memory.relevance_score(float8, integer),
memory.composite_score(float8, float8, float8, float8, float8, float8, float8, float8, float8)
to memory_writer, memory_worker, memory_reader, memory_admin;

-- Rules that earn trust

grant execute on function
memory.mark_helpful(uuid, jsonb, timestamptz),
memory.mark_harmful(uuid, text, jsonb, timestamptz)
to memory_writer;

grant execute on function
memory.asymmetric_score(bigint, bigint),
memory.decayed_state(float8, float8, float8)
to memory_writer, memory_worker, memory_reader, memory_admin;

-- Embeddings

grant execute on function
memory.register_embedding_version(text, text, integer, float8, float8),
memory.embedding_text(text, text, text, text, text, uuid, timestamptz, timestamptz),
memory.embedding_backlog(timestamptz)
to memory_writer, memory_worker, memory_admin;

grant execute on function
memory.active_embedding_version(),
memory.current_embedding_versions()
to memory_writer, memory_worker, memory_reader, memory_admin;

grant execute on function
memory.claim_unembedded(uuid, integer, interval, timestamptz),
memory.set_embedding(text, uuid, vector, uuid, text),
memory.fold_corpus_statistics(),
memory.recount_corpus_statistics()
to memory_worker;

-- Maintenance

grant execute on function
memory.list_tenants(),
memory.run_decay_sweep(timestamptz),
memory.run_decay_sweep_all_tenants(timestamptz),
memory.run_episode_cleanup(integer, integer, timestamptz),
memory.run_rule_hygiene(timestamptz),
memory.seal_events(integer)
to memory_worker;

grant execute on function
memory.get_chain_head(),
memory.verify_chain(bigint, bytea, integer)
to memory_worker, memory_reader, memory_admin;

-- Consolidation

grant execute on function
memory.consolidation_due(timestamptz),
memory.claim_episodes(text, integer, interval, timestamptz),
memory.extend_lease(uuid, interval, timestamptz),
memory.release_episodes(uuid, timestamptz),
memory.consolidation_context(text, integer, integer),
memory.apply_consolidation(uuid, jsonb, text, text, timestamptz),
memory.fail_consolidation(uuid, text, text, text, timestamptz)
to memory_worker;

grant execute on function
memory.requeue_episodes(uuid [], timestamptz),
memory.undo_consolidation(uuid, timestamptz)
to memory_worker, memory_admin;

grant execute on function
memory.accept_proposals(uuid, bigint [], timestamptz),
memory.reject_proposals(uuid, bigint [])
to memory_admin;

grant execute on function
memory.consolidation_diff(uuid)
to memory_worker, memory_reader, memory_admin;

grant execute on function
memory.list_consolidation_runs(text, integer, uuid)
to memory_worker, memory_reader, memory_admin;

-- Administration of a tenant

grant execute on function
memory.create_access_token(text, text, text, interval, timestamptz),
memory.list_access_tokens(timestamptz),
memory.revoke_access_token(uuid, timestamptz),
memory.erase_subject(text, boolean, boolean),
memory.verify_erasure(text),
memory.revert_inversion(uuid, timestamptz),
memory.configure(jsonb),
memory.default_settings(text),
memory.start_reembedding(text, text, integer, float8, float8),
memory.calibrate_similarity(integer),
memory.cancel_reembedding(),
memory.switch_embedding_version(),
memory.rebuild_vector_indexes(text, integer),
memory.vector_index_statements(text, integer),
memory.check_vector_recall(integer, integer, timestamptz),
memory.check_indexes()
to memory_admin;

commit;
