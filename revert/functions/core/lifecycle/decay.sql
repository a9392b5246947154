-- Revert pymem:functions/core/lifecycle/decay from pg

begin;

drop function memory.run_decay_sweep_all_tenants(timestamp with time zone);
drop function memory.sweep_rules(memory.settings,timestamp with time zone);
drop function memory.due_rules(memory.settings,timestamp with time zone);
drop function memory.sweep_facts(memory.settings,timestamp with time zone);
drop function memory.due_facts(memory.settings,timestamp with time zone);
drop function memory.run_decay_sweep(timestamp with time zone);
drop function memory.decayed_state(double precision,double precision,double precision);

commit;
