-- Revert pymem:functions/extras/consolidation/consolidation from pg

begin;

drop function memory.get_consolidation_context(text,integer,integer);
drop function memory.requeue_episodes(uuid[],timestamp with time zone);
drop function memory.fail_consolidation(uuid,text,text,text,timestamp with time zone);
drop function memory.release_run(uuid,timestamp with time zone);
drop function memory.extend_lease(uuid,interval,timestamp with time zone);
drop function memory.refuse_lost_lease(memory.consolidation_runs);
drop function memory.lock_run(text,uuid);
drop function memory.claim_episodes(text,integer,interval,timestamp with time zone);
drop function memory.list_due_consolidations(timestamp with time zone);
drop function memory.due_episodes(text,text,timestamp with time zone);

commit;
