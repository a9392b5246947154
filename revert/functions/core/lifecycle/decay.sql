-- Revert pymem:functions/core/lifecycle/decay from pg

begin;

drop function memory.run_decay_sweep_all_tenants(timestamp with time zone);
drop function memory.sweep_memories(text,uuid[],memory.settings,timestamp with time zone);
drop function memory.due_memories(text,memory.settings,timestamp with time zone);
drop function memory.state_expression(text);
drop function memory.run_decay_sweep(timestamp with time zone);
drop function memory.begin_planned_facts(memory.settings,timestamp with time zone);
drop function memory.begin_plans(text,uuid[],timestamp with time zone,uuid[],timestamp with time zone);
drop function memory.decayed_state(double precision,double precision,double precision);

commit;
