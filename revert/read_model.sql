-- Revert pymem:read_model from pg

begin;

revoke select on memory.tombstones from memory_reader;
revoke select on memory.rule_applications from memory_reader;
revoke select on memory.memory_links from memory_reader;
revoke select on memory.memory_events from memory_reader;
revoke select on memory.rules from memory_reader;
revoke select on memory.facts from memory_reader;
revoke select on memory.episodes from memory_reader;
drop view memory.rule_outcomes;
drop view memory.provenance;
drop view memory.event_feed;
drop view memory.memory_overview;

commit;
