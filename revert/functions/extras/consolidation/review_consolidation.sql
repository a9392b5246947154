-- Revert pymem:functions/extras/consolidation/review_consolidation from pg

begin;

drop function memory.close_review(text,uuid);
drop function memory.amend_proposal(uuid,bigint,jsonb,timestamp with time zone);
drop function memory.change_proposal(memory.consolidation_runs,bigint,jsonb,timestamp with time zone);
drop function memory.reject_proposals(uuid,bigint[],timestamp with time zone);
drop function memory.accept_proposals(uuid,bigint[],timestamp with time zone);
drop function memory.check_reviewer(memory.settings);
drop function memory.preview_proposals(uuid,integer,timestamp with time zone);
drop function memory.preview_action(memory.consolidation_runs,memory.settings,memory.consolidation_proposals,timestamp with time zone);

commit;
