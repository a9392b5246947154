-- Revert pymem:functions/core/lifecycle/mentions from pg

begin;

drop function memory.mentions_in_entity(memory.entities,text[]);
drop function memory.mentions_in_proposal(memory.consolidation_proposals,text[]);
drop function memory.redact_history(text,text[]);
drop function memory.image_text_columns();
drop function memory.redact_image(jsonb,text[],text[]);
drop function memory.mentions_in_image(jsonb,text[],text[]);
drop function memory.redact_value(jsonb,text[]);
drop function memory.list_mentions(text,name,text[]);
drop function memory.text_columns();
drop function memory.is_key_of(memory.fact_keys,text[],uuid[],boolean);
drop function memory.names_of_subject(text,text);
drop function memory.mentions_any(text,text[]);
drop function memory.text_boundary();
drop function memory.readings_of(text);
drop function memory.unescape_text(text);

commit;
