-- Revert pymem:tables/history from pg

begin;

drop trigger bury on memory.facts;
drop trigger bury on memory.rules;
drop trigger start_state on memory.episodes;
drop trigger start_state on memory.facts;
drop trigger start_state on memory.rules;
drop trigger record_changes on memory.episodes;
drop trigger record_changes on memory.facts;
drop trigger record_changes on memory.rules;
drop trigger delete_history on memory.episodes;
drop trigger delete_history on memory.facts;
drop trigger delete_history on memory.rules;
drop trigger start_state on memory.entities;
drop trigger record_changes on memory.entities;
drop trigger delete_history on memory.entities;
drop table memory.memory_history;
drop function memory.delete_history();
drop function memory.record_entity_changes();
drop function memory.record_rule_changes();
drop function memory.record_fact_changes();
drop function memory.record_episode_changes();
drop function memory.start_state();
drop function memory.next_state_at(timestamptz, timestamptz);
drop function memory.image_digest(jsonb);
drop function memory.image_of(text, jsonb);

commit;
