-- Revert pymem:functions/extras/consolidation/undo_consolidation from pg

begin;

drop function memory.undo_consolidation(uuid,timestamp with time zone);
drop function memory.undo_end_of_fact(text,uuid,timestamp with time zone);
drop function memory.is_fact_key_taken(memory.facts);

commit;
