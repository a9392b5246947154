-- Verify pymem:functions/core/embedding/calibration on pg

begin;
select
  'memory.calibrate_similarity(integer,text)'::regprocedure;
rollback;
