-- Verify pymem:tables/dismissed_contradictions on pg

begin;
select d.tenant_id, d.first_type, d.first_id, d.second_type, d.second_id, d.dismissed_at
from memory.dismissed_contradictions as d
where false;
rollback;
