-- Verify pymem:functions/extras/operations/examine_database on pg

begin;
select
  'memory.counted(bigint,text)'::regprocedure,
  'memory.age_in_words(timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.examine_login(text)'::regprocedure,
  'memory.examine_server(integer)'::regprocedure,
  'memory.examine_row_security()'::regprocedure,
  'memory.examine_guards()'::regprocedure,
  'memory.examine_definitions()'::regprocedure,
  'memory.examine_privileges(text,integer)'::regprocedure,
  'memory.examine_indexes()'::regprocedure,
  'memory.examine_moves(text,timestamp with time zone)'::regprocedure,
  'memory.examine_statistics()'::regprocedure;
rollback;
