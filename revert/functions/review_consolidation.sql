-- Revert pymem:functions/review_consolidation from pg

begin;

drop function memory.close_review(text, uuid);
drop function memory.reject_proposals(uuid, bigint []);
drop function memory.accept_proposals(uuid, bigint [], timestamptz);
drop function memory.consolidation_diff(uuid);

commit;
