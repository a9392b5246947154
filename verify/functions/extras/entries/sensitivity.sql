-- Verify pymem:functions/extras/entries/sensitivity on pg

begin;
select
  'memory.patterns_of(text)'::regprocedure,
  'memory.find_sensitive(text,text)'::regprocedure,
  'memory.find_label(text,text)'::regprocedure,
  'memory.detect_sensitive(text)'::regprocedure,
  'memory.check_pattern(text)'::regprocedure,
  'memory.add_sensitive_pattern(text,text,text,text,text,text[],boolean,text)'::regprocedure,
  'memory.remove_sensitive_pattern(text,text)'::regprocedure,
  'memory.list_sensitive_patterns()'::regprocedure;
rollback;
