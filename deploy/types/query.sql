-- Deploy pymem:types/query to pg

begin;

set local role memory_owner;

create type memory.linked_entry as (
  id uuid,
  hops integer,
  weight float8
);

comment on type memory.linked_entry is
'An entry that links lead to from entries that fit a query: how many links, and how much of their '
'weight arrives, 0..1.';

create type memory.queried_memory as (
  memory_type text,
  id uuid,
  entry_id text,
  title text,
  snippet text,
  content text,
  scope text,
  subject text,
  predicate text,
  entry_type text,
  category text,
  tags jsonb,
  source text,
  version integer,
  importance float8,
  confidence float8,
  tier text,
  band text,
  created_at timestamptz,
  edited_at timestamptz,
  expires_at timestamptz,
  last_referenced_at timestamptz,
  reference_count integer,
  planned_for timestamptz,
  similarity float8,
  keyword_score float8,
  meaning float8,
  words float8,
  hops integer,
  linked float8,
  relevance float8,
  recency float8,
  score float8,
  total_found bigint
);

comment on type memory.queried_memory is
'A result of memory.query or memory.retrieve_entries. What only entries have is NULL for others.';
comment on column memory.queried_memory.entry_id is 'Id of the form mem-YYYY-MM-DD-NNN.';
comment on column memory.queried_memory.title is 'Title of an entry; subject of a fact.';
comment on column memory.queried_memory.snippet is
'One line of the content around what matches, at most 200 characters.';
comment on column memory.queried_memory.scope is 'Scope, or butler of an episode.';
comment on column memory.queried_memory.version is 'How often an entry was edited, from 1.';
comment on column memory.queried_memory.confidence is 'Effective confidence, 0..1.';
comment on column memory.queried_memory.tier is
'featured, normal, warned or last_resort (memory.confidence_tier).';
comment on column memory.queried_memory.band is
'active, aging, aged or archived: the age of an entry since it was last edited or confirmed.';
comment on column memory.queried_memory.edited_at is
'Last edit of an entry; otherwise when it was created.';
comment on column memory.queried_memory.planned_for is
'When a fact begins that does not hold yet; NULL for others.';
comment on column memory.queried_memory.hops is
'0 if it is tagged with a word of the query, else the number of links from the nearest entry that '
'is or that fits by itself; NULL if no link leads to it.';
comment on column memory.queried_memory.linked is
'Share of its missing relevance (1 - relevance) that a tag, or links from entries that fit, add, '
'0..1.';
comment on column memory.queried_memory.relevance is
'How well it fits, 0..1, with the parts meaning, words and linked; NULL if the query has no text.';
comment on column memory.queried_memory.recency is
'For an entry memory.retention_priority, for others the recency score, 0..1.';
comment on column memory.queried_memory.score is
'Composite score of relevance, importance, recency and confidence.';
comment on column memory.queried_memory.total_found is
'How many memories fit, also those beyond the limit; with a text, among twice as many '
'as were asked for (at least 20; at least 1000 if not sorted by relevance), which are ranked.';

commit;
