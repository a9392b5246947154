-- Deploy pymem:triggers/links to pg

begin;

set local role memory_owner;

create or replace trigger lower_trust
after insert on memory.memory_links
referencing new table as new_rows
for each statement execute function memory.lower_trust();

create or replace trigger check_ends
after insert on memory.memory_links
referencing new table as new_rows
for each statement execute function memory.check_link_ends();

create or replace trigger check_changed_ends
after update on memory.memory_links
referencing new table as new_rows
for each statement execute function memory.check_link_ends();

create or replace trigger audit_created
after insert on memory.memory_links
referencing new table as new_rows
for each statement execute function memory.audit_created_links();

create or replace trigger audit
after update or delete on memory.memory_links
for each row execute function memory.audit_link();

create or replace trigger refuse_truncate
before truncate on memory.memory_links
for each statement execute function memory.refuse_truncate();

commit;
