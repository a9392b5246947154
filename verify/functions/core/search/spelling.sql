-- Verify pymem:functions/core/search/spelling on pg

begin;
select
  'memory.may_name_time(text)'::regprocedure,
  'memory.near_spellings(text)'::regprocedure,
  'memory.is_read_as_such(text)'::regprocedure,
  'memory.unknown_words(text,text[],text,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.known_spelling(text,text[],text,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.correct_spelling(text,text[],text,memory.settings,timestamp with time zone)'::regprocedure;
rollback;
