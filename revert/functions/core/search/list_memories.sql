-- Revert pymem:functions/core/search/list_memories from pg

begin;

drop function memory.find_ids(text,text[],integer);
drop function memory.count_memories(text[],text,text[],text[],text[],jsonb,text,text,uuid,text,uuid,text,text,double precision,double precision,timestamp with time zone,timestamp with time zone,timestamp with time zone,timestamp with time zone,integer,timestamp with time zone);
drop function memory.list_memories(text[],text,text[],text[],text[],jsonb,text,text,uuid,text,uuid,text,text,double precision,double precision,timestamp with time zone,timestamp with time zone,timestamp with time zone,timestamp with time zone,text,text,integer,timestamp with time zone);
drop function memory.list_statement(memory.memory_filter,text,boolean,integer);
drop function memory.list_order(text);
drop function memory.decode_place(text,text,text[]);
drop function memory.encode_place(memory.list_place);
drop function memory.filter_conditions(memory.memory_filter,text);
drop function memory.ends_at(boolean,timestamp with time zone,timestamp with time zone,timestamp with time zone,timestamp with time zone);
drop function memory.read_filter(text[],text,text[],text[],text[],jsonb,text,text,uuid,text,uuid,text,text,double precision,double precision,timestamp with time zone,timestamp with time zone,timestamp with time zone,timestamp with time zone,timestamp with time zone);
drop function memory.check_words(text,text[],text[]);
drop function memory.tagged_facts(jsonb,text,integer);

commit;
