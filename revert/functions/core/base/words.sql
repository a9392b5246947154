-- Revert pymem:functions/core/base/words from pg

begin;

drop function memory.asks_in_general(text);
drop function memory.mostly_asks(double precision);
drop function memory.share_that_asks(text);
drop function memory.ends_with_question(text);
drop function memory.use_past_forms(text);
drop function memory.asks_of_self(text);
drop function memory.words_of(text);
drop function memory.fold_words(text);

commit;
