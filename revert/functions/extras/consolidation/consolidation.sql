-- Revert pymem:functions/extras/consolidation/consolidation from pg

begin;

drop function memory.get_consolidation_answer(uuid);
drop function memory.requeue_run(uuid,timestamp with time zone);
drop function memory.requeue_episodes(uuid[],timestamp with time zone);
drop function memory.requeue(text,uuid[],text[],timestamp with time zone);
drop function memory.made_nothing(memory.consolidation_runs);
drop function memory.close_episodes(text,uuid[],timestamp with time zone);
drop function memory.fail_consolidation(uuid,text,text,text,boolean,text,integer,integer,double precision,timestamp with time zone);
drop function memory.end_run(memory.consolidation_runs,memory.settings,text,text,text,boolean,text,integer,integer,double precision,timestamp with time zone);
drop function memory.release_run(uuid,timestamp with time zone);
drop function memory.extend_lease(uuid,interval,timestamp with time zone);
drop function memory.refuse_lost_lease(memory.consolidation_runs);
drop function memory.lock_run(text,uuid);
drop function memory.claim_episodes(text,integer,interval,integer,timestamp with time zone);
drop function memory.next_batch(text,text,integer,integer,timestamp with time zone);
drop function memory.list_due_consolidations(timestamp with time zone);
drop function memory.due_episodes(text,text,timestamp with time zone);

commit;
