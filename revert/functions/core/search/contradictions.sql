-- Revert pymem:functions/core/search/contradictions from pg

begin;

drop function memory.reopen_contradiction(text,uuid,text,uuid);
drop function memory.dismiss_contradiction(text,uuid,text,uuid,timestamp with time zone);
drop function memory.audit_dismissal();
drop function memory.list_contradictions(text,integer,timestamp with time zone);
drop function memory.list_contradicted(text,uuid[],timestamp with time zone);
drop function memory.pending_corrections(text,text,uuid[]);
drop function memory.is_dismissed(text,text,uuid,text,uuid);
drop function memory.is_proposed(memory.memory_links);
drop function memory.live_memory(text,text,uuid,text,timestamp with time zone);
drop function memory.near_duplicates(text,text);
drop function memory.normalize_key(text);

commit;
