-- Verify pymem:functions/calibration on pg

begin;
select 'memory.calibrate_similarity(integer)'::regprocedure;
rollback;
