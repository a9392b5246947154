-- Verify pymem:tables/corpus_statistics on pg

begin;
select s.tenant_id, s.memory_type, s.documents, s.terms, s.former_languages
from memory.corpus_statistics as s
where false;
select d.tenant_id, d.id, d.memory_type, d.documents, d.terms
from memory.corpus_deltas as d
where false;
rollback;
