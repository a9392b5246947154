-- Revert pymem:functions/decay from pg

begin;

drop function memory.run_decay_sweep_all_tenants(timestamptz);
drop function memory.sweep_rules(memory.settings, timestamptz);
drop function memory.sweep_facts(memory.settings, timestamptz);
drop function memory.due_rules(memory.settings, timestamptz);
drop function memory.due_facts(memory.settings, timestamptz);
drop function memory.run_decay_sweep(timestamptz);
drop function memory.decayed_state(float8, float8, float8);

commit;
