-- Deploy pymem:tables/rule_triggers to pg
-- requires: functions/rules

begin;

set local role memory_owner;

create trigger check_application
before insert on memory.rule_applications
for each row execute function memory.check_application();

-- Fires after audit_created, so that the event of the application comes before those of its
-- consequences.
create trigger count_application
after insert on memory.rule_applications
for each row execute function memory.count_application();

commit;
