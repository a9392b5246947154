-- Revert pymem:functions/extras/consolidation/preview_batch from pg

begin;

drop function memory.preview_batch(text,integer,integer,timestamp with time zone);

commit;
