-- Verify pymem:functions/core/base/permanence on pg

begin;
select
  'memory.decay_rate_of(text)'::regprocedure;
rollback;
