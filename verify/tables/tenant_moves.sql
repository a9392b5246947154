-- Verify pymem:tables/tenant_moves on pg

begin;
select t.tenant_id, t.move_id, t.side, t.step, t.peer, t.access, t.begun_at, t.step_at
from memory.tenant_moves as t
where false;
rollback;
