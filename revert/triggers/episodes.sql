-- Revert pymem:triggers/episodes from pg

begin;

drop trigger audit_updated on memory.episodes;
drop trigger audit_expired on memory.episodes;
drop trigger prepare on memory.episodes;
drop trigger start_state on memory.episodes;
drop trigger refuse_truncate on memory.episodes;
drop trigger record_changes on memory.episodes;
drop trigger forget_embedding on memory.episodes;
drop trigger enqueue_embedding on memory.episodes;
drop trigger delete_history on memory.episodes;
drop trigger create_tombstones on memory.episodes;
drop trigger count_stored_texts on memory.episodes;
drop trigger count_deleted_texts on memory.episodes;
drop trigger count_changed_text on memory.episodes;
drop trigger check_vector on memory.episodes;
drop trigger audit_deleted on memory.episodes;
drop trigger audit_created on memory.episodes;
drop function memory.record_episode_changes();

commit;
