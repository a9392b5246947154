-- Revert pymem:tables/job_runs from pg

begin;

drop table memory.common_runner;

drop table memory.job_runners;

drop table memory.job_runs;

commit;
