-- Revert pymem:functions/core/base/text from pg

begin;

drop function memory.every_word(text,text);
drop function memory.any_lexeme(text[]);
drop function memory.query_lexemes(text,text);
drop function memory.query_vector(text,text);
drop function memory.tag_terms(text,jsonb);
drop function memory.fold_labels(jsonb);
drop function memory.fold_each_label(jsonb);
drop function memory.fold_label(text);
drop function memory.search_terms(text,tsvector);
drop function memory.hash_terms(text,text[]);
drop function memory.to_search_vector(text,text);
drop function memory.index_words(text,text);
drop function memory.read_words(text,text);
drop function memory.accented_words(text,text);
drop function memory.fold_vector(tsvector);
drop function memory.prepare_words(text,text,boolean);
drop function memory.split_numbers(text);
drop function memory.reads_accents(text);
drop function memory.pair_characters(text,boolean);
drop function memory.fold_text(text);
drop function memory.render_memory(text,text,text,text,timestamp with time zone,text);
drop function memory.end_of_text(text,integer);
drop function memory.date_in_words(timestamp with time zone);
drop function memory.preprocess_search_query(text);
drop function memory.preprocess_text(text);
drop function memory.has_invisible(text);
drop function memory.is_blank(text);
drop function memory.predicate_key(text);
drop function memory.fact_anchor(uuid,text);
drop function memory.spelling_key(text);
drop function memory.collapse_whitespace(text);
drop function memory.truncate_utf8(text,integer);

commit;
