-- Verify pymem:functions/extras/entries/merge_text on pg

begin;
select
  'memory.fold_statement(text)'::regprocedure,
  'memory.missing_fence(text)'::regprocedure,
  'memory.list_statements(text)'::regprocedure,
  'memory.merge_contents(text[],text[])'::regprocedure,
  'memory.telling_marks(text[])'::regprocedure,
  'memory.telling_names(text)'::regprocedure,
  'memory.lacks_names(text[],text)'::regprocedure,
  'memory.merged_confidence(double precision)'::regprocedure;
rollback;
