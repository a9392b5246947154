-- Revert pymem:functions/extras/operations/examine_tenant from pg

begin;

drop function memory.examine_tokens(memory.settings,timestamp with time zone);
drop function memory.examine_fading(memory.settings,timestamp with time zone);
drop function memory.examine_settings(memory.settings);
drop function memory.examine_jobs(memory.settings,timestamp with time zone);
drop function memory.examine_consolidation(memory.settings,timestamp with time zone);
drop function memory.examine_embeddings(memory.settings,timestamp with time zone);

commit;
