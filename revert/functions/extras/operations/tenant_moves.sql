-- Revert pymem:functions/extras/operations/tenant_moves from pg

begin;

drop function memory.list_tenant_sizes();
drop function memory.delete_rows(text,text,integer);
drop function memory.digest_remembered(text);
drop function memory.digest_tables(text,jsonb);
drop function memory.remember_digests(text,jsonb);
drop function memory.digest_expression(text,text[]);
drop function memory.list_bindings(text);
drop function memory.copy_bindings(text,name[]);
drop function memory.arrive(text,uuid,name[]);
drop function memory.advance_sequences(jsonb);
drop function memory.last_numbers(text);
drop function memory.has_event(text,uuid);
drop function memory.mark_freeze(text);
drop function memory.list_writers();
drop function memory.begin_deletion(text,uuid);
drop function memory.end_move(text,uuid);
drop function memory.get_move(text);
drop function memory.set_move_step(text,uuid,text,timestamp with time zone);
drop function memory.find_rows(text);
drop function memory.begin_move(text,uuid,text,text);
drop function memory.list_tables();

commit;
