-- Revert pymem:functions/consolidation from pg

begin;

drop function memory.consolidation_context(text, integer, integer);
drop function memory.requeue_episodes(uuid [], timestamptz);
drop function memory.fail_consolidation(uuid, text, text, text, timestamptz);
drop function memory.release_episodes(uuid, timestamptz);
drop function memory.extend_lease(uuid, interval, timestamptz);
drop function memory.refuse_lost_lease(memory.consolidation_runs);
drop function memory.lock_run(text, uuid);
drop function memory.claim_episodes(text, integer, interval, timestamptz);
drop function memory.consolidation_due(timestamptz);
drop function memory.due_episodes(text, text, timestamptz);

commit;
