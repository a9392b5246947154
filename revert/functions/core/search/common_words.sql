-- Revert pymem:functions/core/search/common_words from pg

begin;

drop function memory.common_words();

commit;
