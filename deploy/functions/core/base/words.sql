-- Deploy pymem:functions/core/base/words to pg

begin;

set local role memory_owner;

create or replace function memory.fold_words(words text)
  returns text
  language sql
  immutable
  strict
  parallel safe
  return lower(
    translate(
      regexp_replace(normalize(words, nfkd) collate "C", '[\u0300-\u036f]', '', 'g'), '''’-', '   '
    )
  );

comment on function memory.fold_words(text) is
'Words in lower case without accents, with a space for each apostrophe and hyphen: equal for '
'"Août" and "aout", and for "New Year''s Eve" and "new year s eve".';
grant execute on function memory.fold_words
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.words_of(content text)
  returns text[]
  language sql
  immutable
  strict
  parallel safe
  return string_to_array(
    replace(
      regexp_replace(
        case
          -- Most texts are ASCII, which has no accents.
          when octet_length(content) = length(content) then lower(content collate "C")
          else memory.fold_words(content)
        end collate "C",
        '[^a-z0-9 .]+', ' ', 'g'
      ),
      '.', ' . '
    ),
    ' '
  );

comment on function memory.words_of(text) is
'The words of a text in order, folded (memory.fold_words): runs of ASCII letters and digits. Each '
'period is a word of its own; all other characters separate words. Some words may be empty.';
grant execute on function memory.words_of
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

commit;
