-- Revert pymem:triggers/approvals from pg

begin;

drop trigger refuse_truncate on memory.approvals;
drop trigger refuse_change on memory.approvals;
drop trigger audit on memory.approvals;

commit;
