-- Revert pymem:functions/extras/operations/metrics from pg

begin;

drop function memory.metrics(boolean,timestamp with time zone);
drop function memory.tenant_metrics(timestamp with time zone);

commit;
