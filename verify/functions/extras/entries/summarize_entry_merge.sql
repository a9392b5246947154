-- Verify pymem:functions/extras/entries/summarize_entry_merge on pg

begin;
select
  'memory.list_unsummarized_merges(integer,timestamp with time zone)'::regprocedure,
  'memory.lost_details(text,text)'::regprocedure,
  'memory.summarize_entry_merge(text,text,text,timestamp with time zone)'::regprocedure;
rollback;
