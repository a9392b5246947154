-- Revert pymem:functions/calibration from pg

begin;

drop function memory.calibrate_similarity(integer);

commit;
