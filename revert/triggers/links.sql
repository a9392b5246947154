-- Revert pymem:triggers/links from pg

begin;

drop trigger refuse_truncate on memory.memory_links;
drop trigger audit on memory.memory_links;
drop trigger audit_created on memory.memory_links;
drop trigger check_changed_ends on memory.memory_links;
drop trigger check_ends on memory.memory_links;
drop trigger lower_trust on memory.memory_links;

commit;
