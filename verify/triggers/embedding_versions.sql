-- Verify pymem:triggers/embedding_versions on pg

begin;
select 1 / (count(*) = 2)::integer
from pg_trigger as t
where t.tgrelid = 'memory.embedding_versions'::regclass and t.tgname in (
  'audit',
  'refuse_truncate'
);
rollback;
