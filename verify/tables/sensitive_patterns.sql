-- Verify pymem:tables/sensitive_patterns on pg

begin;
select 1 / count(*)
from memory.sensitive_patterns as p
where p.data_class = 'payment_card' and p.validator = 'payment_card';
select
  p.tenant_id, p.data_class, p.name, p.kind, p.pattern, p.match_case, p.required_words, p.validator,
  p.country
from memory.tenant_patterns as p
where false;
rollback;
