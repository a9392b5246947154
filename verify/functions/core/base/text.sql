-- Verify pymem:functions/core/base/text on pg

begin;
select
  'memory.truncate_utf8(text,integer)'::regprocedure,
  'memory.collapse_whitespace(text)'::regprocedure,
  'memory.spelling_key(text)'::regprocedure,
  'memory.is_blank(text)'::regprocedure,
  'memory.has_invisible(text)'::regprocedure,
  'memory.preprocess_text(text)'::regprocedure,
  'memory.preprocess_search_query(text)'::regprocedure,
  'memory.date_in_words(timestamp with time zone)'::regprocedure,
  'memory.end_of_text(text,integer)'::regprocedure,
  'memory.render_memory(text,text,text,text,timestamp with time zone,text)'::regprocedure,
  'memory.fold_text(text)'::regprocedure,
  'memory.pair_characters(text,boolean)'::regprocedure,
  'memory.reads_accents(text)'::regprocedure,
  'memory.prepare_words(text,text,boolean)'::regprocedure,
  'memory.fold_vector(tsvector)'::regprocedure,
  'memory.accented_words(text,text)'::regprocedure,
  'memory.read_words(text,text)'::regprocedure,
  'memory.index_words(text,text)'::regprocedure,
  'memory.to_search_vector(text,text)'::regprocedure,
  'memory.hash_terms(text,text[])'::regprocedure,
  'memory.search_terms(text,tsvector)'::regprocedure,
  'memory.fold_label(text)'::regprocedure,
  'memory.fold_each_label(jsonb)'::regprocedure,
  'memory.fold_labels(jsonb)'::regprocedure,
  'memory.tag_terms(text,jsonb)'::regprocedure,
  'memory.query_vector(text,text)'::regprocedure,
  'memory.query_lexemes(text,text)'::regprocedure,
  'memory.any_lexeme(text[])'::regprocedure,
  'memory.every_word(text,text)'::regprocedure;
rollback;
