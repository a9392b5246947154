-- Revert pymem:functions/extras/operations/jobs from pg

begin;

drop function memory.list_jobs(name);
drop function memory.all_jobs(memory.settings);

commit;
