-- Revert pymem:functions/core/lifecycle/hygiene from pg

begin;

drop function memory.revert_inversion(uuid,timestamp with time zone);
drop function memory.run_rule_hygiene(timestamp with time zone);
drop function memory.inverted_content(text,jsonb);

commit;
