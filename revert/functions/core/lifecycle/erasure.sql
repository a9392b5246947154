-- Revert pymem:functions/core/lifecycle/erasure from pg

begin;

drop function memory.verify_erasure(text);
drop function memory.erase_subject(text,boolean,boolean);
drop function memory.is_key_of(memory.fact_keys,text[],uuid[],boolean);
drop function memory.names_of_subject(text,text);
drop function memory.mentions_any(text,text[]);

commit;
