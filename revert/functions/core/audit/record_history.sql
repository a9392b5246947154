-- Revert pymem:functions/core/audit/record_history from pg

begin;

drop function memory.delete_history();
drop function memory.define_recorder(text);
drop function memory.start_state();
drop function memory.next_state_at(timestamp with time zone,timestamp with time zone);
drop function memory.image_digest(jsonb);
drop function memory.image_of(text,jsonb);

commit;
