-- Verify pymem:functions/core/base/permanence on pg

begin;
select
  'memory.permanences()'::regprocedure,
  'memory.source_classes()'::regprocedure,
  'memory.decay_rate_of(text)'::regprocedure,
  'memory.planned_for(timestamp with time zone,timestamp with time zone)'::regprocedure;
rollback;
