-- Revert pymem:functions/rules from pg

begin;

drop function memory.mark_harmful(uuid, text, jsonb, timestamptz);
drop function memory.mark_helpful(uuid, jsonb, timestamptz);
drop function memory.mark_rule(uuid, text, text, jsonb, timestamptz);
drop function memory.demoted_maturity(memory.settings, text, float8);
drop function memory.promoted_maturity(
  memory.settings, text, bigint, float8, timestamptz, timestamptz
);
drop function memory.count_application();
drop function memory.check_application();

commit;
