-- Revert pymem:functions/examine_tenant from pg

begin;

drop function memory.examine_tokens(memory.settings, timestamptz);
drop function memory.examine_settings(memory.settings);
drop function memory.examine_jobs(memory.settings, timestamptz);
drop function memory.examine_consolidation(memory.settings, timestamptz);
drop function memory.examine_embeddings(memory.settings, timestamptz);

commit;
