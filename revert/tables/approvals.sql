-- Revert pymem:tables/approvals from pg

begin;

drop table memory.approvals;

commit;
