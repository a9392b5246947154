-- Revert pymem:functions/extras/transfer/restore_rows from pg

begin;

drop function memory.finish_restore();
drop function memory.check_restored(text,uuid);
drop function memory.append_history_events(text,uuid);
drop function memory.append_restored_events(text,uuid);
drop function memory.restore_rows(text[]);
drop function memory.restore_kind(uuid,text,jsonb[],bigint[]);
drop function memory.restore_vectors(jsonb[]);
drop function memory.check_batch_name(text,text,uuid);
drop function memory.start_restore(jsonb,text);
drop function memory.current_restore();

commit;
