-- Revert pymem:functions/core/store/prepare from pg

begin;

drop function memory.refuse_cycle();
drop function memory.comes_after(text,uuid,uuid);
drop function memory.keep_counters();
drop function memory.guard_entry();
drop function memory.prepare_entry();
drop function memory.render_entry(text,jsonb,jsonb);
drop function memory.prepare_rule();
drop function memory.prepare_fact();
drop function memory.write_names();
drop function memory.prepare_entity();
drop function memory.prepare_episode();
drop function memory.least_trust(text,text);
drop function memory.trust_rank(text);
drop function memory.check_vector();

commit;
