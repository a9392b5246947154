-- Revert pymem:functions/core/embedding/calibration from pg

begin;

drop function memory.calibrate_similarity(integer,text);

commit;
