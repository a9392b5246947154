-- Revert pymem:functions/store_rules from pg

begin;

drop function memory.store_rule(
  text, text, jsonb, float8, float8, text, uuid, jsonb, vector, uuid, text, timestamptz
);

commit;
