-- Revert pymem:functions/hygiene from pg

begin;

drop function memory.revert_inversion(uuid, timestamptz);
drop function memory.run_rule_hygiene(timestamptz);
drop function memory.inverted_content(text, jsonb);

commit;
