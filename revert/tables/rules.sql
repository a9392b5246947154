-- Revert pymem:tables/rules from pg

begin;

drop table memory.rule_applications;
drop table memory.rules;

commit;
