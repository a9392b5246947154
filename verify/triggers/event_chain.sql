-- Verify pymem:triggers/event_chain on pg

begin;
select 1 / (count(*) = 2)::integer
from pg_trigger as t
where t.tgrelid = 'memory.event_chain'::regclass and t.tgname in (
  'refuse_change',
  'refuse_truncate'
);
select 1 / (count(*) = 2)::integer
from pg_trigger as t
where t.tgrelid = 'memory.event_chain_heads'::regclass and t.tgname in (
  'refuse_change',
  'refuse_truncate'
);
rollback;
