-- Verify pymem:functions/extras/entries/consolidate_entries on pg

begin;
select
  'memory.signs_of(public.vector)'::regprocedure,
  'memory.refresh_entry_comparisons(text,timestamp with time zone)'::regprocedure,
  'memory.find_similar_entries(text,uuid[],double precision,bigint)'::regprocedure,
  'memory.cluster_entries(text,uuid[],double precision)'::regprocedure,
  'memory.take_waiting_entries(text,integer,boolean)'::regprocedure,
  'memory.unite_labels(jsonb)'::regprocedure,
  'memory.merge_cluster_links(text,uuid[],uuid[])'::regprocedure,
  'memory.is_doubtful(memory.entries,timestamp with time zone)'::regprocedure,
  'memory.flag_doubtful_entries(text,timestamp with time zone)'::regprocedure,
  'memory.run_entry_consolidation(text,double precision,integer,boolean,timestamp with time zone)'::regprocedure,
  'memory.consolidate_entries(double precision,integer,boolean,timestamp with time zone)'::regprocedure,
  'memory.list_entry_clusters(double precision,integer,timestamp with time zone)'::regprocedure,
  'memory.due_entry_consolidation(text,timestamp with time zone)'::regprocedure,
  'memory.maybe_consolidate_entries(timestamp with time zone)'::regprocedure;
rollback;
