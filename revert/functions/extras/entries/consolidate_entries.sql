-- Revert pymem:functions/extras/entries/consolidate_entries from pg

begin;

drop function memory.maybe_consolidate_entries(timestamp with time zone);
drop function memory.due_entry_consolidation(text,timestamp with time zone);
drop function memory.list_entry_clusters(double precision,integer,timestamp with time zone);
drop function memory.consolidate_entries(double precision,integer,boolean,timestamp with time zone);
drop function memory.run_entry_consolidation(text,double precision,integer,boolean,timestamp with time zone);
drop function memory.flag_doubtful_entries(text,timestamp with time zone);
drop function memory.is_doubtful(memory.entries,timestamp with time zone);
drop function memory.merge_cluster_links(text,uuid[],uuid[]);
drop function memory.unite_labels(jsonb);
drop function memory.take_waiting_entries(text,integer,boolean);
drop function memory.cluster_entries(text,uuid[],double precision);
drop function memory.find_similar_entries(text,uuid[],double precision,bigint);
drop function memory.refresh_entry_comparisons(text,timestamp with time zone);
drop function memory.signs_of(public.vector);

commit;
