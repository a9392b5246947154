-- Revert pymem:functions/extras/consolidation/undo_consolidation from pg

begin;

drop function memory.undo_preview(uuid);
drop function memory.undo_consolidation(uuid,timestamp with time zone);
drop function memory.lock_changes_of_run(memory.consolidation_runs);
drop function memory.undo_end_of_fact(text,uuid,timestamp with time zone);
drop function memory.end_of_fact_since(memory.facts,uuid[]);
drop function memory.is_used_since(text,timestamp with time zone,timestamp with time zone,integer);
drop function memory.is_fact_key_taken(memory.facts,uuid[]);

commit;
