-- Revert pymem:functions/extras/consolidation/review_consolidation from pg

begin;

drop function memory.close_review(text,uuid);
drop function memory.reject_proposals(uuid,bigint[],timestamp with time zone);
drop function memory.accept_proposals(uuid,bigint[],timestamp with time zone);
drop function memory.preview_proposals(uuid,timestamp with time zone);
drop function memory.preview_action(memory.consolidation_runs,memory.settings,memory.consolidation_proposals,timestamp with time zone);

commit;
