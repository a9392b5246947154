-- Verify pymem:functions/core/search/spelling on pg

begin;
select
  'memory.memory_type_names()'::regprocedure,
  'memory.may_name_time(text)'::regprocedure,
  'memory.near_spellings(text)'::regprocedure,
  'memory.is_spelled_oddly(text)'::regprocedure,
  'memory.is_read_as_such(text)'::regprocedure,
  'memory.lone_word(text)'::regprocedure,
  'memory.is_in_english(text)'::regprocedure,
  'memory.unknown_words(text,text,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.known_spelling(text,boolean,text[],text,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.correct_spelling(text,text,memory.settings,timestamp with time zone)'::regprocedure;
rollback;
