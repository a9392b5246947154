-- Revert pymem:functions/core/base/checks from pg

begin;

drop function memory.check_source(text,text,uuid);
drop function memory.refuse_guarded(text,uuid);
drop function memory.refuse_unknown_rule(uuid);
drop function memory.refuse_reused_key(text);
drop function memory.check_idempotency_key(text,text);
drop function memory.refuse_idempotency_key(text,text);
drop function memory.check_elements(text,jsonb,jsonb);
drop function memory.check_interval(timestamp with time zone,timestamp with time zone,text);
drop function memory.refuse_interval(timestamp with time zone,timestamp with time zone,text);
drop function memory.check_expiry(timestamp with time zone,timestamp with time zone);
drop function memory.refuse_expiry(timestamp with time zone,timestamp with time zone);
drop function memory.check_write_time(text,timestamp with time zone);
drop function memory.refuse_write_time(text,timestamp with time zone);
drop function memory.check_time(text,timestamp with time zone);
drop function memory.refuse_time(text,timestamp with time zone);
drop function memory.check_metadata(jsonb,text[],text);
drop function memory.refuse_metadata(jsonb,text[],text);
drop function memory.check_object(text,jsonb);
drop function memory.refuse_object(text,jsonb);
drop function memory.is_deep(jsonb);
drop function memory.check_tags(jsonb,text);
drop function memory.refuse_tags(jsonb,text);
drop function memory.check_word(text,text,text[]);
drop function memory.refuse_word(text,text,text[]);
drop function memory.check_number(text,double precision,double precision,double precision);
drop function memory.refuse_number(text,double precision,double precision,double precision);
drop function memory.check_scope(text,text);
drop function memory.refuse_scope(text,text);
drop function memory.check_model(text,text,integer);
drop function memory.check_text(text,text,integer);
drop function memory.refuse_text(text,text,integer);

commit;
