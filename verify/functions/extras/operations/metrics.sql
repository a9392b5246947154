-- Verify pymem:functions/extras/operations/metrics on pg

begin;
select
  'memory.tenant_metrics(timestamp with time zone)'::regprocedure,
  'memory.metrics(boolean,timestamp with time zone)'::regprocedure;
rollback;
