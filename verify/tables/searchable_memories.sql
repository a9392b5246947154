-- Verify pymem:tables/searchable_memories on pg

begin;
select m.memory_type, m.tenant_id, m.id, m.embedding, m.search_vector, m.expires_at
from memory.searchable_memories as m
where false;
select 'memory.ranked_memory'::regtype, 'memory.candidate'::regtype, 'memory.word_match'::regtype;
rollback;
