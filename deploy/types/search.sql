-- Deploy pymem:types/search to pg

begin;

set local role memory_owner;

create type memory.candidate as (
  id uuid,
  weight float8,
  created_at timestamptz
);

comment on type memory.candidate is
'A memory in one ranked list, by similarity or keyword rank (weight); higher is better.';

create type memory.word_match as (
  memory_type text,
  id uuid,
  created_at timestamptz,
  weight float8,
  share float8
);

comment on type memory.word_match is
'A memory that contains words of a query: its BM25 score (weight), and that score as a share of '
'the highest that the words of the query can give, 0..1.';

create type memory.ranked_memory as (
  memory_type text,
  id uuid,
  scope text,
  subject text,
  predicate text,
  content text,
  importance float8,
  confidence float8,
  effective_confidence float8,
  permanence text,
  maturity text,
  effectiveness_score float8,
  entity_id uuid,
  session_id uuid,
  tags jsonb,
  metadata jsonb,
  created_at timestamptz,
  last_confirmed_at timestamptz,
  last_referenced_at timestamptz,
  reference_count integer,
  planned_for timestamptz,
  valid_to timestamptz,
  similarity float8,
  semantic_rank bigint,
  keyword_score float8,
  keyword_rank bigint,
  rrf_score float8,
  meaning float8,
  words float8,
  neighbor_boost float8,
  session_boost float8,
  named_boost float8,
  time_boost float8,
  relevance float8,
  recency float8,
  updates_id uuid,
  score float8
);

comment on type memory.ranked_memory is 'A search result with every part of its score.';
comment on column memory.ranked_memory.scope is 'Scope of a fact or rule, butler of an episode.';
comment on column memory.ranked_memory.effective_confidence is
'Confidence after decay, 0..1; 1 for an episode.';
comment on column memory.ranked_memory.planned_for is
'When a fact begins that does not hold yet; NULL for others.';
comment on column memory.ranked_memory.valid_to is
'When a fact stops being true, or stopped: a question about the past also finds what is over, with '
'the scores of what took its place; NULL while no end is known.';
comment on column memory.ranked_memory.similarity is
'Cosine similarity to the query, -1..1; NULL without a vector, or if not in the semantic list.';
comment on column memory.ranked_memory.semantic_rank is
'Rank in the semantic list, from 1; NULL if not in it or if there is no such list.';
comment on column memory.ranked_memory.keyword_score is
'ts_rank or BM25 of the keyword match, from 0; NULL if no word matches.';
comment on column memory.ranked_memory.keyword_rank is
'Rank in the keyword list, from 1; NULL if not in it or if there is no such list.';
comment on column memory.ranked_memory.rrf_score is
'Reciprocal rank fusion of both ranks; NULL if nothing is fused.';
comment on column memory.ranked_memory.meaning is
'How well it matches by meaning (memory.meaning_score), 0..1; NULL without a vector.';
comment on column memory.ranked_memory.words is
'How well it matches by words (memory.words_score), 0..1; NULL if no word matches.';
comment on column memory.ranked_memory.neighbor_boost is
'Share of its missing relevance (1 - relevance) that the turn before or after it adds, 0..1.';
comment on column memory.ranked_memory.session_boost is
'Share of its missing relevance that the best matches of its session add, 0..1.';
comment on column memory.ranked_memory.named_boost is
'Share of its missing relevance that being named by the query adds, 0..1.';
comment on column memory.ranked_memory.time_boost is
'Share of its missing relevance that falling in a time named by the query adds, 0..1.';
comment on column memory.ranked_memory.relevance is
'How well it matches the query, 0..1, whatever else was found; NULL if only lists are requested.';
comment on column memory.ranked_memory.recency is 'Recency score, 0..1; NULL outside recall.';
comment on column memory.ranked_memory.updates_id is
'The older fact that this one appears to update, and whose score it takes.';
comment on column memory.ranked_memory.score is
'What results are ordered by: similarity, keyword_score, rrf_score, relevance or, in recall, the '
'composite score.';

create type memory.corpus_size as (
  memory_type text,
  documents bigint,
  average_terms float8
);

comment on type memory.corpus_size is
'How many memories of a type are live, and their average number of distinct lexemes.';

create type memory.keyword_query as (
  lexemes text[],
  condition tsquery,
  any_terms bigint[],
  all_terms bigint[],
  languages integer
);

comment on type memory.keyword_query is
'The words of a query, as lexemes and as the tsquery that a text has to match, with index keys '
'(memory.hash_terms): a match is indexed under at least one of any_terms and under all of '
'all_terms, which is NULL if any lexeme is enough. languages: in how many the query is read, with '
'a lexeme for each word in each (memory.query_languages).';

create type memory.fused_candidate as (
  memory_type text,
  type_position bigint,
  id uuid,
  created_at timestamptz,
  similarity float8,
  semantic_rank bigint,
  keyword_score float8,
  keyword_rank bigint,
  rrf_score float8,
  meaning float8,
  words float8,
  neighbor_boost float8,
  session_boost float8,
  named_boost float8,
  time_boost float8,
  relevance float8,
  outcome text,
  score float8
);

comment on type memory.fused_candidate is 'A possible search result with the parts of its score.';
comment on column memory.fused_candidate.outcome is
'Why it is not a result: "below relevance", or "no match" if nothing has enough evidence; NULL if '
'it may be one.';
comment on column memory.fused_candidate.score is 'What a search in this mode orders by.';

create type memory.explained_memory as (
  position bigint,
  outcome text,
  memory_type text,
  id uuid,
  scope text,
  subject text,
  predicate text,
  content text,
  similarity float8,
  semantic_rank bigint,
  keyword_score float8,
  keyword_rank bigint,
  rrf_score float8,
  meaning float8,
  words float8,
  neighbor_boost float8,
  session_boost float8,
  named_boost float8,
  time_boost float8,
  relevance float8,
  importance float8,
  recency float8,
  effective_confidence float8,
  updates_id uuid,
  score float8
);

comment on type memory.explained_memory is
'A candidate of memory.recall, or a memory that could have been one, and its outcome. The score '
'parts are those of memory.ranked_memory.';
comment on column memory.explained_memory.position is
'Position in the answer, from 1; NULL if it is not in the answer.';
comment on column memory.explained_memory.outcome is
'returned; "beyond limit", relevant, but less than those returned; "below relevance", under '
'min_relevance; "no match", because even the best has too little evidence; or forgotten, '
'superseded, expired, "other scope", "below confidence".';

create type memory.related_memory as (
  depth integer,
  memory_type text,
  id uuid,
  state text,
  scope text,
  subject text,
  predicate text,
  content text,
  relation text,
  direction text,
  from_type text,
  from_id uuid,
  linked_at timestamptz,
  entry_id text,
  title text
);

comment on type memory.related_memory is
'A memory that links lead to, and the link by which it was first reached.';
comment on column memory.related_memory.depth is 'Distance in links, from 1.';
comment on column memory.related_memory.state is 'As in get_links; expired for a deleted memory.';
comment on column memory.related_memory.scope is
'Scope of a fact or rule, butler of an episode; NULL, like its text, for a deleted memory.';
comment on column memory.related_memory.direction is
'outgoing if the memory it was reached from is the source of the link, incoming if it is the '
'target.';
comment on column memory.related_memory.from_id is
'The memory it was reached from, one link closer to the start.';
comment on column memory.related_memory.linked_at is 'When the link was created.';
comment on column memory.related_memory.entry_id is
'Id of an entry of the form mem-YYYY-MM-DD-NNN; NULL for others, and for a deleted memory.';
comment on column memory.related_memory.title is 'Title of an entry, likewise.';

create type memory.listed_memory as (
  memory_type text,
  id uuid,
  entry_id text,
  state text,
  scope text,
  subject text,
  predicate text,
  content text,
  created_at timestamptz,
  title text,
  category text,
  maturity text,
  permanence text,
  importance float8,
  confidence float8,
  effective_confidence float8,
  effectiveness_score float8,
  fades_at timestamptz,
  ends_at timestamptz,
  reference_count integer,
  source_butler text,
  session_id uuid,
  entity_id uuid,
  supersedes_id uuid,
  tags jsonb,
  updated_at timestamptz,
  last_confirmed_at timestamptz,
  last_referenced_at timestamptz,
  valid_from timestamptz,
  valid_to timestamptz,
  planned_for timestamptz,
  cursor text
);

comment on type memory.listed_memory is
'A memory in a list without a question. What its type does not have is NULL.';
comment on column memory.listed_memory.entry_id is
'Id of an entry of the form mem-YYYY-MM-DD-NNN; NULL for others.';
comment on column memory.listed_memory.planned_for is
'When a fact begins that does not hold yet; NULL for others.';
comment on column memory.listed_memory.state is 'Its lifecycle state, or expired.';
comment on column memory.listed_memory.scope is 'Scope of a fact or rule, butler of an episode.';
comment on column memory.listed_memory.effective_confidence is
'Confidence after decay, 0..1; 1 for an episode.';
comment on column memory.listed_memory.fades_at is
'When its effective confidence reaches fading_threshold; NULL: never.';
comment on column memory.listed_memory.ends_at is
'When it is no longer found, by decay (expiry_threshold), by valid_to or because it expires; NULL: '
'never, or it is over already.';
comment on column memory.listed_memory.cursor is
'Where the list goes on after this row: pass it as after, with the same filters and order.';

create type memory.memory_difference as (
  change text,
  memory_type text,
  id uuid,
  scope text,
  subject text,
  predicate text,
  content_before text,
  content_after text,
  state_before text,
  state_after text,
  changed text[],
  successor_id uuid,
  changed_at timestamptz,
  cursor text
);

comment on type memory.memory_difference is
'What is different about a memory at a later time.';
comment on column memory.memory_difference.change is
'appeared (searches find it only at the later time), gone (only at the earlier one) or changed.';
comment on column memory.memory_difference.content_before is
'NULL if it did not exist at the earlier time.';
comment on column memory.memory_difference.changed is
'The names of the columns that differ; empty if it did not exist at the earlier time.';
comment on column memory.memory_difference.successor_id is 'The fact that superseded it.';
comment on column memory.memory_difference.changed_at is 'Its last change between the times.';
comment on column memory.memory_difference.cursor is
'Where the list goes on after this row: pass it as after, with the same arguments.';

create type memory.memory_filter as (
  tenant_id text,
  types text[],
  scope text,
  states text[],
  permanences text[],
  maturities text[],
  tags jsonb,
  tagged_facts uuid[],
  subject_key text,
  predicate_key text,
  entity_id uuid,
  butler text,
  session_id uuid,
  category text,
  content_contains text,
  min_confidence float8,
  max_confidence float8,
  created_from timestamptz,
  created_to timestamptz,
  updated_from timestamptz,
  updated_to timestamptz,
  as_of timestamptz
);

comment on type memory.memory_filter is
'What the memories of a list must meet (memory.list_memories), all of it; NULL: anything. Read by '
'memory.read_filter.';
comment on column memory.memory_filter.tagged_facts is
'The facts with these tags, if they are few: found by an index, which row security rules out '
'elsewhere.';
comment on column memory.memory_filter.content_contains is 'In lower case.';

create type memory.list_place as (
  order_by text,
  keys text[],
  id uuid,
  memory_type text,
  as_of timestamptz
);

comment on type memory.list_place is
'Where a page of a list ends: what is in its cursor. keys: what the order compares, as texts.';

create type memory.context_line as (
  section integer,
  memory_type text,
  id uuid,
  opening text,
  content text,
  closing text,
  room integer,
  is_taken boolean,
  score float8,
  reason text
);

comment on type memory.context_line is
'A line of memory.context during assembly. room: as counted by memory.count_room, line break '
'included. reason: why it was shortened or left out.';

create type memory.query_condition as (
  topic_required boolean,
  phrases text[],
  excluded_phrases text[],
  kinds text[],
  tags text[],
  excluded_tags text[],
  any_tags text[],
  titles text[],
  excluded_titles text[],
  sources text[],
  excluded_sources text[],
  categories text[],
  excluded_categories text[],
  scopes text[],
  excluded_scopes text[],
  confidence nummultirange,
  importance nummultirange,
  created_at tstzmultirange,
  updated_at tstzmultirange,
  expires_at tstzmultirange,
  bands text[],
  with_archived boolean,
  is_flagged boolean,
  ids uuid[],
  excluded_ids uuid[]
);

comment on type memory.query_condition is
'What a memory must meet, all of it; NULL: anything. A query of the query language is a list of '
'these, of which one must hold (memory.parse_query). Texts but phrases and scopes are folded '
'(memory.fold_label, memory.normalize_name).';
comment on column memory.query_condition.topic_required is
'Whether it must also be relevant to the words of the query (memory.query_topic).';
comment on column memory.query_condition.phrases is 'Texts that must occur, words in this order.';
comment on column memory.query_condition.excluded_phrases is
'Texts and single words that must not occur.';
comment on column memory.query_condition.kinds is
'Kinds of memories (memory.kinds_of), one of which it must be.';
comment on column memory.query_condition.tags is 'Tags, all of which it must have.';
comment on column memory.query_condition.excluded_tags is 'Tags, none of which it may have.';
comment on column memory.query_condition.any_tags is 'Tags, one of which it must have.';
comment on column memory.query_condition.titles is
'Words that must all occur in its title or subject, each a text between spaces.';
comment on column memory.query_condition.sources is
'One of these must be the source of an entry, or the butler that another memory came from.';
comment on column memory.query_condition.categories is 'One of these must be its category.';
comment on column memory.query_condition.scopes is
'One of these must be its scope, or the butler of an episode.';
comment on column memory.query_condition.confidence is
'Where its effective confidence must lie, 0..1.';
comment on column memory.query_condition.importance is 'Where its importance must lie, 0..10.';
comment on column memory.query_condition.updated_at is
'When an entry was last edited, or another memory last changed.';
comment on column memory.query_condition.expires_at is
'When it expires; infinity stands for never.';
comment on column memory.query_condition.bands is
'Bands of age, one of which it must be in (memory.band_of_entry); other memories than entries are '
'active.';
comment on column memory.query_condition.with_archived is
'Whether archived entries are asked for by name.';
comment on column memory.query_condition.is_flagged is
'Whether it must wait for review, or must not.';
comment on column memory.query_condition.ids is 'One of these must be its id.';
comment on column memory.query_condition.excluded_ids is 'None of these may be its id.';

create type memory.query_token as (
  position integer,
  kind text,
  field text,
  value text,
  is_quoted boolean
);

comment on type memory.query_token is
'A part of a query of the query language.';
comment on column memory.query_token.position is 'Where it begins, in characters from 1.';
comment on column memory.query_token.kind is
'( ) AND OR NOT -, word, phrase, field, or end after the last one.';
comment on column memory.query_token.field is 'The name before the colon, in lower case.';
comment on column memory.query_token.value is
'Its text: without quotes, and of a field what follows the colon.';

create type memory.question as (
  names text,
  lexemes text[],
  core text[],
  mentions text[],
  period tstzmultirange,
  of_present boolean,
  of_events boolean,
  of_self boolean,
  selves text[],
  of_own boolean,
  of_state boolean,
  of_whom boolean,
  of_happening boolean,
  of_duty boolean,
  in_general boolean
);

comment on type memory.question is
'What a query says besides its words and its meaning.';
comment on column memory.question.names is
'Its words, among which names are looked for (memory.normalize_name).';
comment on column memory.question.lexemes is
'Its words as they are indexed, among which predicates are looked for; NULL: words do not count.';
comment on column memory.question.core is
'Those of them that say what it is about: not use, name and the like.';
comment on column memory.question.mentions is
'Those that say what those are whom it names: son, in "What is my son''s job? (Ewan)"; NULL: none.';
comment on column memory.question.period is
'The times that it names (memory.read_period); NULL: none.';
comment on column memory.question.of_present is
'Whether it asks for the present (memory.asks_present).';
comment on column memory.question.of_events is
'Whether it asks what there is at these times (memory.asks_events).';
comment on column memory.question.of_self is
'Whether the user asks about himself or herself (memory.asks_of_self), and not what happened.';
comment on column memory.question.selves is
'If so, under which subjects the facts about him or her are (memory.subjects_of_user), as names.';
comment on column memory.question.of_own is
'Whether the user asks for what is his or her own, and not how something is done.';
comment on column memory.question.of_state is
'Whether it asks for what holds, and not for what happened or how somebody is.';
comment on column memory.question.of_happening is
'Whether it asks what happened to what it names (memory.asks_happened).';
comment on column memory.question.of_duty is
'Whether it asks what somebody should, must or may do.';
comment on column memory.question.of_whom is
'Whether it asks who somebody is, or what he or she does.';
comment on column memory.question.in_general is
'Whether it is about the world (memory.asks_in_general).';

create type memory.mentioned as (
  fact_id uuid,
  short_name text,
  subject_key text,
  entity_id uuid,
  is_bare boolean
);

comment on type memory.mentioned is
'Somebody whom a query mentions by what they are to somebody.';
comment on column memory.mentioned.fact_id is 'The fact that says who it is.';
comment on column memory.mentioned.short_name is
'The first word of their name that is no title (memory.normalize_name): Harriet, of Harriet Vance; '
'Lobo, of Dr. Lobo. NULL if no word has three letters.';
comment on column memory.mentioned.subject_key is
'The subject of facts about them (memory.spelling_key); NULL if they are an entity, or no subject.';
comment on column memory.mentioned.entity_id is 'The entity that they are.';
comment on column memory.mentioned.is_bare is 'Whether the fact says nothing but the name.';

create type memory.possession as (
  position bigint,
  begins bigint,
  ends bigint,
  subject_key text,
  language text,
  relation text,
  predicate_keys text[],
  words text[],
  of_person boolean
);

comment on type memory.possession is
'What a query mentions by whose it is, or whom by what they are to somebody: my wife.';
comment on column memory.possession.position is
'The word that says whose, from 1; 0: none, and the user is meant.';
comment on column memory.possession.begins is 'The first word of the mention, from 1.';
comment on column memory.possession.ends is 'The last word of the mention.';
comment on column memory.possession.subject_key is
'Whose it is (memory.key_words); "user" for the user.';
comment on column memory.possession.language is
'The language of the mention: en, de, fr, es or nl; NULL: any.';
comment on column memory.possession.relation is 'What it is called in the query.';
comment on column memory.possession.predicate_keys is 'What a fact may call it.';
comment on column memory.possession.words is
'Words that mean the same (memory.synonyms_of), the relation last.';
comment on column memory.possession.of_person is
'Whether it tells who somebody is, and not only a property.';

create type memory.relations as (
  query text,
  people memory.mentioned[],
  rest text,
  mentions text
);

comment on type memory.relations is
'Whom a query mentions by what they are to somebody.';
comment on column memory.relations.query is 'The query with their names (memory.expand_query).';
comment on column memory.relations.people is 'Those who are named; NULL: nobody.';
comment on column memory.relations.rest is
'What the query says besides them, and besides asking who they are: words with spaces between '
'them; NULL if nobody is named.';
comment on column memory.relations.mentions is
'The words that say what they are: son, in "What is my son''s job?"; NULL if nobody is named.';

grant usage on type
memory.mentioned, memory.possession, memory.relations, memory.question, memory.candidate,
memory.ranked_memory, memory.fused_candidate, memory.word_match, memory.corpus_size,
memory.keyword_query, memory.query_condition, memory.settings
to memory_search;

commit;
