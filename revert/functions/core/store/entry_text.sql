-- Revert pymem:functions/core/store/entry_text from pg

begin;

drop function memory.retention_priority(timestamp with time zone,integer,timestamp with time zone);
drop function memory.band_of_entry(text,timestamp with time zone,timestamp with time zone,timestamp with time zone);
drop function memory.retention_band(timestamp with time zone,timestamp with time zone);
drop function memory.confidence_tier(double precision);
drop function memory.tier_range(text);
drop function memory.confidence_step(text);
drop function memory.initial_confidence(text,boolean,boolean,double precision);
drop function memory.sounds_vague(text);
drop function memory.clean_labels(jsonb);
drop function memory.importance_of(text);
drop function memory.importance_word(double precision);
drop function memory.list_sections(text);
drop function memory.entry_title(text);
drop function memory.without_code(text);
drop function memory.split_code(text);

commit;
