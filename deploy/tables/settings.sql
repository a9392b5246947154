-- Deploy pymem:tables/settings to pg

begin;

set local role memory_owner;

-- A setting is declared only here: type, default, range (CHECK) and meaning (comment).
-- memory.refresh_setting_defaults() turns the defaults into a constant for tenants without a row;
-- make generate writes the client's row, the sections of butler.toml and the documentation.
create table memory.settings (
  tenant_id text primary key check (octet_length(tenant_id) <@ int4range '[1,128]'),

  retrieval_mode text not null default 'hybrid'
  check (retrieval_mode in ('hybrid', 'semantic', 'keyword')),
  retrieval_limit integer not null default 20 check (retrieval_limit between 1 and 1000),
  candidate_pool integer not null default 100 check (candidate_pool between 1 and 10000),
  min_confidence float8 not null default 0.2 check (min_confidence between 0 and 1),
  ranking text not null default 'calibrated' check (ranking in ('calibrated', 'specified')),
  min_relevance float8 not null default 0.06 check (min_relevance between 0 and 1),
  min_evidence float8 not null default 0.06 check (min_evidence between 0 and 1),
  meaning_weight float8 not null default 0.8 check (meaning_weight between 0 and 1),
  words_weight float8 not null default 0.2 check (words_weight between 0 and 1),
  episode_meaning_weight float8 not null default 0.5
  check (episode_meaning_weight between 0 and 1),
  episode_words_weight float8 not null default 0.95 check (episode_words_weight between 0 and 1),
  relevance_sharpness float8 not null default 40 check (relevance_sharpness between 1 and 1000),
  weight_relevance float8 not null default 0.4 check (weight_relevance between 0 and 1),
  weight_importance float8 not null default 0.3 check (weight_importance between 0 and 1),
  weight_recency float8 not null default 0.2 check (weight_recency between 0 and 1),
  weight_confidence float8 not null default 0.1 check (weight_confidence between 0 and 1),
  rrf_k integer not null default 60 check (rrf_k between 1 and 10000),
  keyword_match text not null default 'any' check (keyword_match in ('any', 'all')),
  bm25_k1 float8 not null default 0.5 check (bm25_k1 between 0 and 10),
  bm25_b float8 not null default 0.4 check (bm25_b between 0 and 1),
  boost_neighbors float8 not null default 0.4 check (boost_neighbors between 0 and 1),
  boost_session float8 not null default 0.4 check (boost_session between 0 and 1),
  boost_named float8 not null default 0.1 check (boost_named between 0 and 1),
  boost_time float8 not null default 0.3 check (boost_time between 0 and 1),
  boost_related float8 not null default 0.3 check (boost_related between 0 and 1),
  updates_first boolean not null default true,
  time_zone text not null default 'UTC' check (time_zone <> ''),
  text_search_config text not null default 'english' check (text_search_config <> ''),
  index_rendering text not null default 'dated' check (index_rendering in ('content', 'dated')),
  embedding_rendering text not null default 'previous_dated'
  check (embedding_rendering in ('content', 'dated', 'previous', 'previous_dated')),
  recency_half_life_days float8 not null default 7
  check (recency_half_life_days between 0.001 and 100000),
  recency_null text not null default 'zero' check (recency_null in ('zero', 'created_at')),
  exact_scan_limit integer not null default 10000 check (exact_scan_limit >= 0),
  vector_index_schedule text not null default 'off'
  check (memory.is_schedule(vector_index_schedule)),
  corpus_statistics_schedule text not null default '30 3 * * *'
  check (memory.is_schedule(corpus_statistics_schedule)),

  fading_threshold float8 not null default 0.2 check (fading_threshold between 0 and 1),
  expiry_threshold float8 not null default 0.05 check (expiry_threshold between 0 and 1),
  episode_ttl_days float8 not null default 7 check (episode_ttl_days between 0.001 and 100000),
  entry_decay_rate float8 not null default 0.008 check (entry_decay_rate between 0 and 100),
  decay_sweep_schedule text not null default '0 3 * * *'
  check (memory.is_schedule(decay_sweep_schedule)),
  episode_cleanup_schedule text not null default '10 3 * * *'
  check (memory.is_schedule(episode_cleanup_schedule)),
  rule_hygiene_schedule text not null default '20 3 * * *'
  check (memory.is_schedule(rule_hygiene_schedule)),
  event_seal_schedule text not null default '40 * * * *'
  check (memory.is_schedule(event_seal_schedule)),

  context_token_budget integer not null default 3000
  check (context_token_budget between 5 and 1000000),
  context_chars_per_token float8 not null default 4
  check (context_chars_per_token between 0.5 and 4),
  context_token_estimate text not null default 'octets'
  check (context_token_estimate in ('octets', 'characters')),
  context_facts_share float8 not null default 0.6 check (context_facts_share between 0 and 1),
  context_rules_share float8 not null default 0.25 check (context_rules_share between 0 and 1),
  context_warnings_share float8 not null default 0.05
  check (context_warnings_share between 0 and 1),
  context_episodes_share float8 not null default 0.1
  check (context_episodes_share between 0 and 1),
  context_entries_share float8 not null default 0.2
  check (context_entries_share between 0 and 1),
  context_confidence text not null default 'effective'
  check (context_confidence in ('effective', 'base')),
  context_counts_references boolean not null default false,
  context_recent_episodes boolean not null default false,
  context_entries boolean not null default false,

  episode_max_entries integer not null default 10000
  check (episode_max_entries between 0 and 1000000000),
  episode_pending_grace_days float8 not null default 0
  check (episode_pending_grace_days between 0 and 100000),

  consolidation_interval_hours float8 not null default 6
  check (consolidation_interval_hours between 0 and 100000),
  consolidation_episode_threshold integer not null default 100
  check (consolidation_episode_threshold between 1 and 1000000),
  consolidation_batch_size integer not null default 50
  check (consolidation_batch_size between 1 and 10000),
  consolidation_batch_tokens integer not null default 6000
  check (consolidation_batch_tokens between 1 and 10000000),
  consolidation_lease_minutes float8 not null default 15
  check (consolidation_lease_minutes between 0.1 and 10080),
  consolidation_max_attempts integer not null default 5
  check (consolidation_max_attempts between 1 and 1000),
  consolidation_max_permanence text not null default 'stable'
  check (
    consolidation_max_permanence
    in ('permanent', 'stable', 'standard', 'volatile', 'ephemeral')
  ),
  consolidation_review boolean not null default false,
  consolidation_reviewers text not null default 'admins'
  check (consolidation_reviewers in ('admins', 'writers')),
  consolidation_supersedes text not null default 'same_trust'
  check (consolidation_supersedes in ('same_trust', 'inferred_only', 'review')),
  consolidation_proposal_days float8 not null default 90
  check (consolidation_proposal_days between 0 and 100000),
  consolidation_max_confidence float8 not null default 0.8
  check (consolidation_max_confidence between 0 and 1),
  consolidation_answer_octets integer not null default 65536
  check (consolidation_answer_octets between 0 and 1048576),
  consolidation_answer_days float8 not null default 30
  check (consolidation_answer_days between 0 and 100000),
  consolidation_instructions jsonb not null default '""'
  check (memory.is_text_by_butler(consolidation_instructions)),
  consolidation_language jsonb not null default '""'
  check (memory.is_text_by_butler(consolidation_language)),
  consolidation_categories jsonb not null default '[]'
  check (memory.is_list_by_butler(consolidation_categories)),
  consolidation_predicates jsonb not null default '[]'
  check (memory.is_list_by_butler(consolidation_predicates)),

  entry_merge_similarity float8 not null default 0.92
  check (entry_merge_similarity between 0.5 and 1),
  entry_consolidation_schedule text not null default '5 * * * *'
  check (memory.is_schedule(entry_consolidation_schedule)),
  entry_expiry_schedule text not null default '45 3 * * *'
  check (memory.is_schedule(entry_expiry_schedule)),
  entry_daily_schedule text not null default '50 3 * * *'
  check (memory.is_schedule(entry_daily_schedule)),
  entry_weekly_schedule text not null default '0 4 * * 0'
  check (memory.is_schedule(entry_weekly_schedule)),
  entry_monthly_schedule text not null default '10 4 1 * *'
  check (memory.is_schedule(entry_monthly_schedule)),
  item_expiry_schedule text not null default '50 * * * *'
  check (memory.is_schedule(item_expiry_schedule)),
  session_expiry_schedule text not null default '55 * * * *'
  check (memory.is_schedule(session_expiry_schedule)),

  rule_effectiveness text not null default 'by_outcome'
  check (rule_effectiveness in ('by_outcome', 'asymmetric')),
  rule_helpful_confirms boolean not null default false,
  rule_established_successes integer not null default 5
  check (rule_established_successes between 1 and 1000000),
  rule_established_effectiveness float8 not null default 0.6
  check (rule_established_effectiveness between 0 and 1),
  rule_proven_successes integer not null default 15
  check (rule_proven_successes between 1 and 1000000),
  rule_proven_effectiveness float8 not null default 0.8
  check (rule_proven_effectiveness between 0 and 1),
  rule_proven_age_days float8 not null default 30
  check (rule_proven_age_days between 0 and 100000),
  rule_inversion_harms integer not null default 3
  check (rule_inversion_harms between 1 and 1000000),
  rule_inversion_effectiveness float8 not null default 0.3
  check (rule_inversion_effectiveness between 0 and 1),

  constraint settings_fading_before_expiry check (fading_threshold >= expiry_threshold),
  constraint settings_weights_not_all_zero check (
    weight_relevance + weight_importance + weight_recency + weight_confidence > 0
  ),
  constraint settings_context_shares_at_most_one check (
    context_facts_share + context_rules_share + context_warnings_share + context_episodes_share
    <= 1.000001
  )
);

comment on table memory.settings is
'How a tenant''s memory behaves. A tenant without a row has the values of '
'memory.setting_defaults().';
comment on constraint settings_weights_not_all_zero on memory.settings is
'Make at least one of weight_relevance, weight_importance, weight_recency and weight_confidence '
'greater than 0.';
comment on constraint settings_context_shares_at_most_one on memory.settings is
'Make context_facts_share, context_rules_share, context_warnings_share and context_episodes_share '
'add up to at most 1.';
comment on column memory.settings.retrieval_mode is 'Search mode when a call names none.';
comment on column memory.settings.retrieval_limit is
'Facts, and rules, that memory.context considers.';
comment on column memory.settings.candidate_pool is
'Number of episodes, by meaning and words, that recall considers and applies boosts to.';
comment on column memory.settings.min_confidence is
'Effective confidence below which recall and context drop a memory.';
comment on column memory.settings.ranking is
'How search, recall and context rank: "calibrated", by a relevance on an absolute scale, or '
'"specified", by the literal formulas of reciprocal rank fusion (k = 60, lists as deep as the '
'answer, every word required, no floor, no boosts).';
comment on column memory.settings.min_relevance is
'Relevance below which search, recall and context drop a memory.';
comment on column memory.settings.min_evidence is
'Minimum evidence, from meaning and words, of the best memory for any to be returned; '
'memory.required_evidence says how it grows with the number of memories.';
comment on column memory.settings.meaning_weight is
'Relevance that meaning alone can give a fact or rule.';
comment on column memory.settings.words_weight is
'Relevance that words alone can give a fact or rule that has a vector.';
comment on column memory.settings.episode_meaning_weight is
'Relevance that meaning alone can give an episode.';
comment on column memory.settings.episode_words_weight is
'Relevance that words alone can give an episode that has a vector.';
comment on column memory.settings.relevance_sharpness is
'Factor by which relevance counts more in the composite score than its weight says: 1 is the plain '
'weighted sum; with the default, importance, recency and confidence decide only among about '
'equally relevant memories.';
comment on column memory.settings.weight_relevance is 'Weight of relevance in the composite score.';
comment on column memory.settings.weight_importance is
'Weight of importance / 10 in the composite score.';
comment on column memory.settings.weight_recency is 'Weight of recency in the composite score.';
comment on column memory.settings.weight_confidence is
'Weight of effective confidence in the composite score.';
comment on column memory.settings.rrf_k is
'Constant k of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009).';
comment on column memory.settings.keyword_match is
'Keyword side of search, recall, context and hybrid_search: "any" word of the query, or "all" '
'words.';
comment on column memory.settings.bm25_k1 is
'How much repeated words add (k1 of BM25).';
comment on column memory.settings.bm25_b is
'How much long texts are penalized (b of BM25).';
comment on column memory.settings.boost_neighbors is
'Relevance that a perfectly relevant turn gives the turns before and after it; a question gives '
'the answer after it twice as much. 0: off.';
comment on column memory.settings.boost_session is
'Relevance that three perfectly relevant episodes give all of their session; 0: off.';
comment on column memory.settings.boost_named is
'Relevance that a memory gains if the query names its speaker (metadata.speaker of an episode), '
'subject or entity (of a fact); 0: off.';
comment on column memory.settings.boost_time is
'Relevance that an episode gains if it is from a time that the query names (memory.read_period), '
'and a fact or rule in proportion to how well it fits; so does a fact that reports news '
'(memory.tells_update) if the query asks for the present (memory.asks_present); 0: off.';
comment on column memory.settings.boost_related is
'Relevance that an entry gains if it is a perfectly relevant one''s neighbor by a related_to link, '
'counted half for each link; 0: off.';
comment on column memory.settings.updates_first is
'Whether recall and context rank a fact that reports news (memory.tells_update) before similar '
'older facts.';
comment on column memory.settings.time_zone is
'Time zone in which a query''s "yesterday" or "on 3 May" is read: an IANA name that the server '
'knows, such as Europe/Berlin.';
comment on column memory.settings.text_search_config is
'Text search configuration (language) for indexing texts and reading queries. Naming it in '
'memory.configure reindexes the tenant''s texts.';
comment on column memory.settings.index_rendering is
'What the text index holds of an episode: its "content", or also its day in words ("dated"). '
'Naming it in memory.configure reindexes the tenant''s texts.';
comment on column memory.settings.embedding_rendering is
'What is embedded of an episode: its "content"; content and day in words ("dated"); content and '
'the end of the session''s previous turn ("previous"); or all three ("previous_dated"). Takes '
'effect with the next registered embedding version or memory.start_reembedding.';
comment on column memory.settings.recency_half_life_days is 'Half-life of the recency score, days.';
comment on column memory.settings.recency_null is
'Recency of a memory never referenced: "zero", or counted from "created_at".';
comment on column memory.settings.exact_scan_limit is
'Number of memories of a type up to which semantic search compares all of them, even if an '
'approximate index exists, and search by words reads all that contain a word of the query.';
comment on column memory.settings.vector_index_schedule is
'When the job rebuild_vector_indexes is due: five fields as in crontab(5), or "off" '
'(memory.is_schedule).';
comment on column memory.settings.corpus_statistics_schedule is
'When the job fold_corpus_statistics is due: five fields as in crontab(5), or "off" '
'(memory.is_schedule).';
comment on column memory.settings.fading_threshold is
'Effective confidence below which a memory fades; it recovers when confirmed to at least this.';
comment on column memory.settings.expiry_threshold is
'Effective confidence below which a fact expires and a rule is forgotten.';
comment on column memory.settings.episode_ttl_days is
'Days until an episode expires, unless set when it is stored.';
comment on column memory.settings.entry_decay_rate is
'Decay per day of the entries that memory.write_memory stores from now on, times 2 minus their '
'confidence: the less reliable, the faster; 0: none.';
comment on column memory.settings.decay_sweep_schedule is
'When the job run_decay_sweep is due: five fields as in crontab(5), or "off" '
'(memory.is_schedule).';
comment on column memory.settings.episode_cleanup_schedule is
'When the job run_episode_cleanup is due: five fields as in crontab(5), or "off" '
'(memory.is_schedule).';
comment on column memory.settings.rule_hygiene_schedule is
'When the job run_rule_hygiene is due: five fields as in crontab(5), or "off" '
'(memory.is_schedule).';
comment on column memory.settings.event_seal_schedule is
'When the job seal_events is due: five fields as in crontab(5), or "off" '
'(memory.is_schedule).';
comment on column memory.settings.context_token_budget is
'Tokens of memory.context when a call names none.';
comment on column memory.settings.context_chars_per_token is
'Characters of plain English counted as one token. At most 4, so that the text never exceeds 4 '
'characters per token.';
comment on column memory.settings.context_token_estimate is
'How the length of other scripts is counted: by "octets" (bytes), which is safe for all of them, '
'or by "characters" (memory.count_room).';
comment on column memory.settings.context_facts_share is
'Share of the context budget first offered to facts.';
comment on column memory.settings.context_rules_share is
'Share of the context budget first offered to rules.';
comment on column memory.settings.context_warnings_share is
'Share of the context budget first offered to anti-pattern rules.';
comment on column memory.settings.context_episodes_share is
'Share of the context budget first offered to recent episodes, if requested.';
comment on column memory.settings.context_entries_share is
'Share of the context budget first offered to entries, if requested; the other shares then divide '
'the rest.';
comment on column memory.settings.context_confidence is
'Confidence that context prints: "effective" at the time of the call, or "base" as stored.';
comment on column memory.settings.context_recent_episodes is
'Whether context adds the butler''s newest episodes when a call does not say.';
comment on column memory.settings.context_entries is
'Whether context adds the entries that fit when a call does not say.';
comment on column memory.settings.context_counts_references is
'Whether context counts as a reference to what it shows. Off by default, so repeated calls return '
'the same text.';
comment on column memory.settings.episode_max_entries is
'Number of episodes beyond which cleanup deletes the oldest consolidated ones.';
comment on column memory.settings.episode_pending_grace_days is
'Days that cleanup keeps an expired episode that is still waiting for consolidation.';
comment on column memory.settings.consolidation_interval_hours is
'Hours after which a butler''s waiting episodes are due for consolidation.';
comment on column memory.settings.consolidation_episode_threshold is
'Number of a butler''s waiting episodes at which consolidation is due at once.';
comment on column memory.settings.consolidation_batch_size is
'Maximum number of episodes per run.';
comment on column memory.settings.consolidation_batch_tokens is
'Maximum number of tokens in the episodes of a run, estimated as a quarter of their octets; a '
'longer episode goes alone.';
comment on column memory.settings.consolidation_lease_minutes is
'Minutes that a worker holds a run before others may take over.';
comment on column memory.settings.consolidation_max_attempts is
'Failed attempts after which an episode becomes a dead letter.';
comment on column memory.settings.consolidation_max_permanence is
'Most lasting permanence of a fact inferred by consolidation.';
comment on column memory.settings.consolidation_review is
'Whether the results of consolidation wait for approval (memory.accept_proposals).';
comment on column memory.settings.consolidation_reviewers is
'Who may accept, amend and reject proposals: admins, or writers too. The tools of agents have the '
'rights of writers, so an agent could then accept what an LLM made of its own words.';
comment on column memory.settings.consolidation_supersedes is
'What newer evidence may change by itself: what is trusted no more than the evidence (same_trust), '
'only what was also inferred (inferred_only), or nothing (review). What may not be changed waits '
'as a proposal (memory.accept_proposals), and so does what would change a permanent memory.';
comment on column memory.settings.consolidation_proposal_days is
'Days after which cleanup deletes a proposal of consolidation, decided or not.';
comment on column memory.settings.consolidation_max_confidence is
'Maximum confidence of a fact inferred by consolidation.';
comment on column memory.settings.consolidation_answer_octets is
'Octets of the answer of the LLM that a run keeps (memory.get_consolidation_answer); 0: none.';
comment on column memory.settings.consolidation_answer_days is
'Days until cleanup deletes the answer that a run keeps.';
comment on column memory.settings.consolidation_instructions is
'Instructions of your own for the prompt of consolidation: a text, or a text for each butler and '
'for all others ("*").';
comment on column memory.settings.consolidation_language is
'Language of the facts and rules that consolidation stores, such as "German", or a language for '
'each butler and for all others ("*"). Empty: that of the episode.';
comment on column memory.settings.consolidation_categories is
'Categories that consolidation may give to facts: an array, or an array for each butler and for '
'all others ("*"). Empty: none.';
comment on column memory.settings.consolidation_predicates is
'Predicates that consolidation should prefer: an array, or an array for each butler and for all '
'others ("*"). Empty: no preference.';
comment on column memory.settings.entry_merge_similarity is
'Cosine similarity from which entries with the same numbers, dates, denials and names are merged '
'(memory.consolidate_entries). With the vectors of all-MiniLM-L6-v2, most paraphrases of a '
'statement are above the default.';
comment on column memory.settings.entry_consolidation_schedule is
'When the job maybe_consolidate_entries is due: five fields as in crontab(5), or "off" '
'(memory.is_schedule).';
comment on column memory.settings.entry_expiry_schedule is
'When the job expire_memory is due: five fields as in crontab(5), or "off" '
'(memory.is_schedule).';
comment on column memory.settings.entry_daily_schedule is
'When the job run_daily_entry_upkeep is due: five fields as in crontab(5), or "off" '
'(memory.is_schedule).';
comment on column memory.settings.entry_weekly_schedule is
'When the job run_weekly_entry_upkeep is due: five fields as in crontab(5), or "off" '
'(memory.is_schedule).';
comment on column memory.settings.entry_monthly_schedule is
'When the job run_monthly_entry_upkeep is due: five fields as in crontab(5), or "off" '
'(memory.is_schedule).';
comment on column memory.settings.item_expiry_schedule is
'When the job delete_expired_items is due: five fields as in crontab(5), or "off" '
'(memory.is_schedule).';
comment on column memory.settings.session_expiry_schedule is
'When the job delete_expired_sessions is due: five fields as in crontab(5), or "off" '
'(memory.is_schedule).';
comment on column memory.settings.rule_effectiveness is
'Effectiveness of a rule after a mark: "by_outcome", the share of successes after a helpful mark '
'and the asymmetric score after a harmful one, or always the "asymmetric" score.';
comment on column memory.settings.rule_helpful_confirms is
'Whether a helpful mark also confirms the rule, which restarts its decay.';
comment on column memory.settings.rule_established_successes is
'Successes required for a candidate to become established.';
comment on column memory.settings.rule_established_effectiveness is
'Effectiveness required for a candidate to become established; below it, a harmful mark demotes '
'an established rule to candidate.';
comment on column memory.settings.rule_proven_successes is
'Successes required for an established rule to become proven.';
comment on column memory.settings.rule_proven_effectiveness is
'Effectiveness required for an established rule to become proven; below it, a harmful mark demotes '
'a proven rule to established.';
comment on column memory.settings.rule_proven_age_days is
'Age in days required for an established rule to become proven.';
comment on column memory.settings.rule_inversion_harms is
'Harmful outcomes at which a rule is due to become a warning.';
comment on column memory.settings.rule_inversion_effectiveness is
'Effectiveness below which a rule with that many harmful outcomes is due to become a warning.';

commit;
