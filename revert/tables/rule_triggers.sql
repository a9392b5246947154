-- Revert pymem:tables/rule_triggers from pg

begin;

drop trigger count_application on memory.rule_applications;
drop trigger check_application on memory.rule_applications;

commit;
