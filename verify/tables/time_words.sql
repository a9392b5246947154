-- Verify pymem:tables/time_words on pg

begin;
select 1 / count(*)
from memory.time_words as w
where w.language = 'fr' and w.kind = 'month' and w.folded = 'aout';
rollback;
