-- Revert pymem:views/read_model from pg

begin;

drop view memory.rule_outcomes;
drop view memory.provenance;
drop view memory.event_feed;
drop view memory.memory_overview;

commit;
