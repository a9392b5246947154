-- Revert pymem:functions/core/search/list_past from pg

begin;

drop function memory.change_density(timestamp with time zone,timestamp with time zone,integer,text[],timestamp with time zone);
drop function memory.diff_as_of(timestamp with time zone,timestamp with time zone,text[],text,text,integer,timestamp with time zone);
drop function memory.state_at(text,text,uuid,timestamp with time zone);
drop function memory.memories_as_of(timestamp with time zone,timestamp with time zone,text[],text,text[],jsonb,text,text,uuid,text,text,text,integer,timestamp with time zone);
drop function memory.has_planned_successor(text,uuid,timestamp with time zone,timestamp with time zone);
drop function memory.found_states();

commit;
