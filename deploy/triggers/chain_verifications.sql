-- Deploy pymem:triggers/chain_verifications to pg

begin;

set local role memory_owner;

create or replace trigger audit_created
after insert on memory.chain_verifications
for each row execute function memory.audit_verification();

create or replace trigger refuse_change
before update or delete on memory.chain_verifications
for each row execute function memory.refuse_change();

create or replace trigger refuse_truncate
before truncate on memory.chain_verifications
for each statement execute function memory.refuse_truncate();

commit;
