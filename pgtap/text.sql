begin;
\ir fixtures.sql
select plan(168);

-- truncate_utf8

select results_eq(
  $$ select n, memory.truncate_utf8(U&'a\00e9b', n) from generate_series(0, 5) as n $$,
  $$ values (0, ''), (1, 'a'), (2, 'a'), (3, U&'a\00e9'), (4, U&'a\00e9b'), (5, U&'a\00e9b') $$,
  'a character of two bytes is kept whole or not at all'
);
select results_eq(
  $$ select n, memory.truncate_utf8(U&'a\20acb', n) from generate_series(0, 6) as n $$,
  $$ values (0, ''), (1, 'a'), (2, 'a'), (3, 'a'), (4, U&'a\20ac'), (5, U&'a\20acb'), (6, U&'a\20acb') $$,
  'a character of three bytes is kept whole or not at all'
);
select results_eq(
  $$ select n, memory.truncate_utf8(U&'a\+01F600b', n) from generate_series(0, 7) as n $$,
  $$ values
    (0, ''), (1, 'a'), (2, 'a'), (3, 'a'), (4, 'a'), (5, U&'a\+01F600'), (6, U&'a\+01F600b'),
    (7, U&'a\+01F600b') $$,
  'a character of four bytes is kept whole or not at all'
);
select results_eq(
  $$ select n, memory.truncate_utf8(U&'\+01F600\+01F600', n) from unnest('{3,4,7,8}'::integer[]) as n $$,
  $$ values (3, ''), (4, U&'\+01F600'), (7, U&'\+01F600'), (8, U&'\+01F600\+01F600') $$,
  'a text is cut between two characters of four bytes'
);
select is(memory.truncate_utf8('', 0), '', 'an empty text stays empty when it is cut');
select ok(memory.truncate_utf8(null, 5) is null, 'a NULL text stays NULL when it is cut');
select is_empty(
  $$ with mixed as (
       select string_agg(U&'x\00e9\20ac\+01F600\05E9', '') as content from generate_series(1, 20)
     ), cut as (
       select m.content, n, memory.truncate_utf8(m.content, n) as kept
       from mixed as m, generate_series(0, octet_length(m.content)) as n
     )
     select c.n from cut as c
     where c.kept <> left(c.content, length(c.kept))
       or octet_length(c.kept) > c.n
       or c.n < octet_length(c.content) and octet_length(left(c.content, length(c.kept) + 1)) <= c.n $$,
  'the longest prefix of whole characters that fits is kept'
);

-- collapse_whitespace

select is(
  memory.collapse_whitespace('one  two   three'), 'one two three', 'each run of spaces becomes one space'
);
select is(
  memory.collapse_whitespace(E'one \t\r\n\u00a0 two'), 'one two',
  'a mixed run of whitespace becomes one space'
);
select is(memory.collapse_whitespace(E' \n one two \t '), 'one two', 'whitespace at the ends is stripped');
select is(
  memory.collapse_whitespace(U&'\3000one\2003'), 'one', 'Unicode whitespace at the ends is stripped'
);
select is(memory.collapse_whitespace(E' \n\t '), '', 'whitespace alone collapses to nothing');
select is(
  memory.collapse_whitespace(''), '',
  'an empty text stays empty when whitespace collapses'
);
select ok(memory.collapse_whitespace(null) is null, 'whitespace of a NULL text collapses to NULL');
select results_eq(
  $$ select to_hex(i) from generate_series(1, 65535) as i
     where i not between 55296 and 57343 and memory.collapse_whitespace('a' || chr(i) || 'b') = 'a b'
     order by i $$,
  $$ select c from unnest(
       '{9,a,b,c,d,20,85,a0,1680,2000,2001,2002,2003,2004,2005,2006,2007,2008,2009,200a,2028,2029,
         202f,205f,3000}'::text[]
     ) with ordinality as s (c, position)
     order by position $$,
  'exactly the 25 Unicode space characters count as whitespace'
);
select is_empty(
  $$ select to_hex(i) from generate_series(65536, 131071) as i
     where memory.collapse_whitespace('a' || chr(i) || 'b') <> 'a' || chr(i) || 'b' $$,
  'no character beyond the basic plane counts as whitespace'
);

-- is_blank

select is_empty(
  $$ select to_hex(i) from generate_series(1, 65535) as i
     where i not between 55296 and 57343
       and memory.collapse_whitespace(chr(i)) = '' and not memory.is_blank(chr(i)) $$,
  'a text is blank if collapse_whitespace leaves nothing of it'
);
select is_empty(
  $$ select to_hex(c) from unnest(array[
       1, 27, 127, 173, 847, 1564, 4447, 6068, 6158, 8203, 8204, 8205, 8206, 8238, 8288, 8294, 10240, 12644,
       65024, 65279, 65440, 917536
     ]) as c
     where not memory.is_blank(chr(c)) or not memory.is_blank(chr(c) || ' ' || chr(8203)) $$,
  'characters without a glyph are blank'
);
select is_empty(
  $$ select to_hex(c) from unnest(array[33, 161, 769, 8210, 8364, 12353, 65533, 128512]) as c
     where memory.is_blank(chr(c)) $$,
  'punctuation, marks and emoji are not blank'
);
select results_eq(
  $$ select memory.is_blank(t) from unnest(array['', E' \n\u3000', E' \n\u3000x', 'x ', null]) with ordinality as s (t, n)
     order by n $$,
  $$ values (true), (true), (false), (false), (null) $$,
  'a text with one visible character is not blank'
);

-- preprocess_text

select is(
  memory.preprocess_text(U&'\000a Met\00a0\00a0Ada \2028 at  noon '), 'Met Ada at noon',
  'stored text is indexed with collapsed whitespace and stripped ends'
);
select is(memory.preprocess_text(E' \t'), '', 'blank text is indexed as nothing');
select ok(memory.preprocess_text(null) is null, 'a NULL text is indexed as NULL');
select is(
  memory.preprocess_text(repeat('x', 1048576)), repeat('x', 1048576), 'text of 1 MiB is not cut'
);
select is(
  octet_length(memory.preprocess_text(repeat('x', 1048577))), 1048576,
  'text longer than 1 MiB is cut to 1 MiB'
);
select is(
  octet_length(memory.preprocess_text(repeat(U&'\00e9', 600000))), 1048576,
  'the limit of 1 MiB counts bytes, not characters'
);
select is(
  octet_length(memory.preprocess_text('x' || repeat(U&'\00e9', 600000))), 1048575,
  'the limit of 1 MiB does not split a character'
);
select is(
  memory.preprocess_text('a' || repeat(' ', 1048576) || 'b'), 'a b',
  'whitespace is collapsed before the text is cut'
);

-- preprocess_search_query

select is(
  memory.preprocess_search_query(U&'  where\3000is\000aAda '), 'where is Ada',
  'a query is read with collapsed whitespace and stripped ends'
);
select is(memory.preprocess_search_query(null), '', 'a NULL query is read as an empty one');
select is(memory.preprocess_search_query(''), '', 'an empty query stays empty');
select is(memory.preprocess_search_query(E' \n '), '', 'a blank query is read as an empty one');
select is(
  octet_length(memory.preprocess_search_query(repeat('x', 1048577))), 1048577, 'a query is never cut'
);

-- render_memory

select is(
  memory.render_memory('episode', 'Met Ada'), 'Met Ada', 'an episode is indexed as its content'
);
select is(
  memory.render_memory('rule', 'Ask first'), 'Ask first', 'a rule is indexed as its content'
);
select is(
  memory.render_memory('fact', 'green', 'user', 'favorite_color'), 'user favorite color green',
  'a fact is indexed as subject, predicate without underscores, and content'
);
select is(
  memory.render_memory('episode', 'Met Ada', 'user', 'likes'), 'Met Ada',
  'subject and predicate are not part of an episode'
);
select is(
  memory.render_memory('rule', 'Ask first', 'user', 'likes'), 'Ask first',
  'subject and predicate are not part of a rule'
);
select is(
  memory.render_memory('fact', 'green', null, 'favorite_color'), 'favorite color green',
  'a missing part of a fact leaves no gap'
);
select is(
  memory.render_memory('fact', E' dark\n green ', E'user\t', ' color '), 'user color dark green',
  'whitespace is collapsed across the parts of a fact'
);
select ok(
  memory.render_memory('episode', null, happened_at => '2023-05-08Z', previous => 'Hello') is null,
  'an episode without content is rendered as NULL'
);
select is(
  memory.render_memory('episode', 'Met Ada', happened_at => '2023-05-08 23:59:59.9Z'),
  'Met Ada (8 May 2023)', 'the date of an episode follows its text in words'
);
select is(
  memory.render_memory('episode', 'Met Ada', previous => E'Who\ndid you meet? '), 'Met Ada Who did you meet?',
  'the previous turn of an episode follows its text'
);
select is(
  memory.render_memory('episode', 'Met Ada', happened_at => '2023-05-08Z', previous => 'Who?'),
  'Met Ada (8 May 2023) Who?', 'the date of an episode comes before the previous turn'
);
select is(
  memory.render_memory(t.type, 'tea', 'user', 'likes', '2023-05-08Z', 'Hello'),
  memory.render_memory(t.type, 'tea', 'user', 'likes'),
  t.type || ' text includes neither date nor previous turn'
)
from unnest('{fact,rule}'::text[]) as t (type)
order by t.type;
select is(
  memory.render_memory('episode', 'x', previous => repeat('long ', 100)), 'x ' || rtrim(repeat('long ', 60)),
  'only the last 300 characters of the previous turn are rendered'
);
select is(
  memory.end_of_text(t.content, t.max_characters), t.expected, t.what
)
from (values
  (1, 'one two', 7, 'one two', 'a text within the limit is kept whole'),
  (2, 'one two', 6, 'two', 'a word that the limit would cut is left out'),
  (3, 'one two', 4, 'two', 'the limit may fall between words'),
  (4, 'one two', 3, 'two', 'the limit may fall before a word'),
  (5, 'one' || U&'\3000' || 'two', 3, 'two', 'any whitespace separates words'),
  (6, 'onetwo', 3, 'etwo', 'a word longer than the limit is cut'),
  (7, '', 3, '', 'the end of an empty text is empty')
) as t (position, content, max_characters, expected, what)
order by t.position;
select is(
  memory.date_in_words(d.at), d.expected, d.at || ' is written in words'
)
from (values
  ('2023-01-01 00:00Z'::timestamptz, '1 January 2023'), ('2023-12-31 23:59:59Z', '31 December 2023'),
  ('2024-02-29 12:00+14', '28 February 2024')
) as d (at, expected)
order by d.at;
select is(
  memory.render_memory('episode', repeat('x', 262144)), repeat('x', 262144),
  'a text of 256 KiB is indexed in full'
);
select is(
  memory.render_memory('episode', repeat('x', 262144) || 'y'), repeat('x', 262144),
  'the first 256 KiB of a longer episode are indexed'
);
select is(
  memory.render_memory('rule', repeat('x', 262144) || 'y'), repeat('x', 262144),
  'the first 256 KiB of a longer rule are indexed'
);
select is(
  memory.render_memory('fact', repeat('x', 262144), 'user', 'says'), 'user says ' || repeat('x', 262134),
  'the first 256 KiB of a longer fact include subject and predicate'
);
select is(
  memory.render_memory('episode', 'x' || repeat(U&'\20ac', 100000)), 'x' || repeat(U&'\20ac', 87381),
  'the 256 KiB end before a character that does not fit'
);

-- fold_text

select is(memory.fold_text(f.content), f.expected, f.what)
from (values
  (1, 'Plain ASCII, as it is.', 'Plain ASCII, as it is.', 'ASCII is not folded'),
  (2, 'Café ÉÀÇÑÖ', 'Cafe EACNO', 'Latin letters lose their accents and keep their case'),
  (3, U&'CAFE\0301', 'CAFE', 'decomposed Latin letters lose their accents'),
  (4, 'Đặng Thị', 'Dang Thi', 'letters with several accents lose them all'),
  (5, 'ß ẞ æ Æ ǽ œ Œ þ Þ', 'ss SS ae AE ae oe OE th TH', 'ß, æ, œ and þ become two letters'),
  (6, 'ø Ø ǿ đ Đ ð Ð ł Ł ħ Ħ ŧ Ŧ', 'o O o d D d D l L h H t T', 'letters lose their strokes'),
  (7, 'ı İ', 'i I', 'dotted capital and dotless i become plain letters'),
  (
    8, 'Άλφα οδός Ϊ', 'Αλφα οδοσ Ι',
    'Greek letters lose their accents, and a final sigma becomes a sigma'
  ),
  (9, 'Ёлка за́мок', 'Елка замок', 'Cyrillic letters lose their accents'),
  (10, 'й Й ў Ў ї Ї', 'й Й ў Ў ї Ї', 'Cyrillic letters keep marks that make another letter'),
  (
    11, normalize('й Й ў Ў ї Ї', nfd), 'й Й ў Ў ї Ї',
    'decomposed Cyrillic letters keep marks that make another letter'
  ),
  (12, 'ＡＢＣ１２', 'ABC12', 'full-width letters become ASCII'),
  (13, 'ﬁ ﬄ ĳ', 'fi ffl ij', 'ligatures become letters'),
  (14, 'm² CO₂ ①', 'm2 CO2 1', 'superscript, subscript and circled digits become digits'),
  (15, 'か が ガ パ', 'か が ガ パ', 'kana keep their dakuten'),
  (16, 'ｶﾞ ﾊﾟ', 'ガ パ', 'half-width kana become full-width'),
  (17, normalize('한국어 が', nfd), '한국어 が', 'hangul and kana are composed'),
  (18, 'हिन्दी किताब', 'हिन्दी किताब', 'Devanagari keeps its vowel signs'),
  (19, 'كِتَاب עִבְרִית', 'كِتَاب עִבְרִית', 'Arabic and Hebrew keep their vowel signs'),
  (20, 'ภาษาไทย กั้น', 'ภาษาไทย กั้น', 'Thai keeps its vowels and tones'),
  (
    21, U&'\200EDonau\00ADdampf\200Bschiff\FEFF', 'Donaudampfschiff',
    'invisible characters are dropped'
  ),
  (22, '☕️ 👩‍👩‍👧', U&'☕ 👩\200D👩\200D👧', 'an emoji of several characters keeps its joiners'),
  (23, '', '', 'an empty text is folded to an empty text')
) as f (position, content, expected, what)
order by f.position;
select ok(memory.fold_text(null) is null, 'a NULL text is folded to NULL');
select is_empty(
  $$ select to_hex(i) from generate_series(1, 131071) as i
     where i not between 55296 and 57343
       and memory.fold_text(memory.fold_text(chr(i) || U&'a\0301')) <> memory.fold_text(chr(i) || U&'a\0301') $$,
  'folding a folded text changes nothing'
);
select is_empty(
  $$ select to_hex(i) from generate_series(1, 131071) as i
     where i not between 55296 and 57343
       and memory.fold_text(chr(i)) <> memory.fold_text(normalize(chr(i), nfd)) $$,
  'a character is folded the same, composed or decomposed'
);
select is_empty(
  $$ select to_hex(i) from generate_series(1, 131071) as i
     where i not between 55296 and 57343
       and memory.fold_text(chr(i)) ~ '[''\\]' and normalize(chr(i), nfkc) !~ '[''\\]' $$,
  'folding produces no quotes or backslashes'
);

-- pair_characters

select is(memory.pair_characters(p.content, false), p.expected, p.what)
from (values
  (1, 'plain', 'plain', 'words between spaces are not split'),
  (2, '小狗叫', ' 小狗 狗叫 ', 'a run of characters becomes its pairs'),
  (3, '小狗', ' 小狗 ', 'a pair of characters stays one pair'),
  (4, '小', ' 小 ', 'a single character stays unpaired'),
  (5, 'iPhone手机x', 'iPhone 手机 x', 'a run of characters ends at another script'),
  (6, '小狗。大猫', ' 小狗 。 大猫 ', 'a run of characters ends at punctuation'),
  (7, '東京タワー', ' 東京 京タ タワ ワー ', 'Han characters and kana form one run'),
  (8, 'น้ำดื่ม', ' น้ำ ำดื่ ดื่ม ', 'marks stay with their letter'),
  (9, '한국어를 잘', ' 한국 국어 어를   잘 ', 'hangul is split into pairs'),
  (
    10, U&'\+020000\+020001\+020002', U&' \+020000\+020001 \+020001\+020002 ',
    'rare Han characters are split into pairs'
  ),
  (11, 'हिन्दी Ελένη мир', 'हिन्दी Ελένη мир', 'scripts with spaces are not split into pairs')
) as p (position, content, expected, what)
order by p.position;
select is(
  memory.pair_characters('小狗叫 小狗 小', true), ' 小 小狗 狗 狗叫 叫   小 小狗 狗   小 ',
  'each single character is listed before the pair that it begins'
);
select ok(memory.pair_characters(null, true) is null, 'a NULL text is split into NULL');

-- to_search_vector

select is(
  memory.to_search_vector('english', 'The dogs were running'), '''dog'':2 ''run'':4'::tsvector,
  'a text is indexed by the stems of its words and without stop words'
);
select is(
  memory.to_search_vector('simple', 'The dogs'), '''dogs'':2 ''the'':1'::tsvector,
  'the text search configuration decides what the words are'
);
select is(memory.to_search_vector('english', ''), ''::tsvector, 'an empty text has an empty search vector');
select ok(memory.to_search_vector('english', null) is null, 'a NULL text has a NULL search vector');
select is(memory.to_search_vector(v.config, v.content), v.expected, v.what)
from (values
  (
    1, 'english', 'Zürich résumés', '''resum'':2 ''zurich'':1'::tsvector,
    'English words are folded, then stemmed'
  ),
  (
    2, 'english', 'mẹ và the', '''me'':1 ''va'':2',
    'a word that folding turns into a stop word is indexed'
  ),
  (3, 'simple', 'Ça ça CA', '''ca'':1,2,3', 'words that folding makes equal are one lexeme'),
  (
    4, 'german', 'für Häuser', '''haus'':2',
    'German words are stemmed with their umlauts, then folded'
  ),
  (
    5, 'french', 'une université', '''univers'':2 ''universit'':2',
    'a French word with accents is also stemmed without them'
  ),
  (6, 'turkish', 'agac', '''agac'':1', 'a Turkish accent that stemming produces is folded'),
  (
    7, 'english', 'likes 小狗叫', '''like'':1 ''叫'':6 ''小'':2 ''小狗'':3 ''狗'':4 ''狗叫'':5',
    'a run of characters keeps its position'
  ),
  (8, 'english', '🎉 … ™', '', 'emoji and signs are not words'),
  (9, 'english', 'it’s “fine”', '''fine'':3', 'curly quotes are not words'),
  (
    10, 'english', 'o\ô ''é'' é:*', '''e'':3,4 ''o'':1,2',
    'quotes and backslashes are not words and raise no error'
  ),
  (
    11, 'english', 'PO-1188 of 2026-041, -5', '''-5'':6 ''041'':5 ''1188'':2 ''2026'':4 ''po'':1',
    'a hyphen before a digit is a minus only where nothing stands before it'
  ),
  (
    12, 'english', 'Café-7', '''7'':2 ''cafe'':1', 'also in a text that is not ASCII'
  ),
  (14, 'english', '{"c":-5} (-7) x=-8', '''-5'':2 ''-7'':3 ''-8'':5 ''c'':1 ''x'':4', 'after a sign it is one'),
  (13, 'german', 'Rechnung 2026-041', '''041'':3 ''2026'':2 ''rechnung'':1', 'and in other languages')
) as v (position, config, content, expected, what)
order by v.position;
select is(
  length(memory.to_search_vector('english', repeat('狗', 100) || repeat('猫', 3000))), 5,
  'a run longer than the longest lexeme is indexed'
);
select throws_ok(
  $$ select memory.to_search_vector('klingon', 'x') $$, '42704', null,
  'an unknown text search configuration is refused'
);

-- query_lexemes

select is(
  memory.query_lexemes('english', 'The zebras were running after the aardvark'), '{zebra,run,aardvark}',
  'the words of a query are stemmed in order of appearance without stop words'
);
select is(
  memory.query_lexemes('english', 'run dogs running dog runs'), '{run,dog}',
  'each word of a query counts once'
);
select is(
  memory.query_lexemes('simple', 'The running'), '{the,running}',
  'a query is read with the given text search configuration'
);
select is(memory.query_lexemes('english', null), '{}', 'a NULL query has no words');
select is(
  memory.query_lexemes('english', 'invoice 2026-041'), '{invoic,2026,041}',
  'the numbers of a query are those of a text'
);
select is(memory.query_lexemes('english', ''), '{}', 'an empty query has no words');
select is(memory.query_lexemes('english', 'the of and'), '{}', 'a query of stop words has no words');
select is(
  memory.query_lexemes('english', E' & | ! ( ) :* <-> '' " \\ % '), '{}',
  'a query of punctuation has no words'
);
select is(
  memory.query_lexemes('english', E'cat & !dog | (fish:*) ''bird\\'), '{cat,dog,fish,bird}',
  'operators in a query have no effect and its words count'
);
select is(
  memory.query_lexemes('english', U&'cat\00a0dog\3000fish'), '{cat,dog,fish}',
  'Unicode spaces separate the words of a query'
);
select is(
  memory.query_lexemes('english', repeat('x', 3000) || ' dog'), '{dog}',
  'a word too long to index is left out'
);
select is(memory.query_lexemes(q.config, q.query), q.expected, q.what)
from (values
  (1, 'english', 'Wo ist Zürich?', '{wo,ist,zurich}'::text[], 'the words of a query are folded'),
  (2, 'english', '小狗叫 iPhone手机', '{小狗,狗叫,iphon,手机}', 'a query is split into pairs of characters'),
  (3, 'english', '喝 茶', '{喝,茶}', 'a query keeps characters that stand alone'),
  (
    4, 'french', 'université', '{univers,universit}',
    'a French word with accents is queried with and without them'
  ),
  (5, 'german', 'für', '{}', 'a stop word with accents is left out of a query')
) as q (position, config, query, expected, what)
order by q.position;
select ok(
  'dog' = any (memory.query_lexemes('english', repeat('cat ', 300000) || 'dog')),
  'a word beyond the first megabyte of a query counts'
);

-- any_lexeme

select is(memory.any_lexeme('{cat}'), '''cat'''::tsquery, 'one word gives a query for it');
select is(
  memory.any_lexeme('{zebra,cat,dog}')::text, '''zebra'' | ''cat'' | ''dog''',
  'several words give a query for any of them in their order'
);
select ok(memory.any_lexeme('{}') is null, 'an empty list of words gives no query');
select ok(memory.any_lexeme(null) is null, 'NULL words give no query');
create temporary table odd_lexemes as
select l.lexeme
from unnest(array[
  '''', 'o''brien', '''''', '\', 'c:\dir', '\''', '''\', '\\', 'a\', ':', ':*', 'cat:*', 'cat:A', '&', '|',
  '!', '!cat', '(', ')', '<->', '<2>', 'a & b', 'a | b', ' ', ' a', E'a\nb', '"', '%', '$$', '*',
  U&'\0627\0644', U&'\+01F600'
]) as l (lexeme);
select is_empty(
  $$ select o.lexeme from odd_lexemes as o
     where numnode(memory.any_lexeme(array[o.lexeme])) <> 1
       or not array_to_tsvector(array[o.lexeme]) @@ memory.any_lexeme(array[o.lexeme]) $$,
  'a word of quotes, backslashes or query syntax is searched literally'
);
select is_empty(
  $$ select o.lexeme, p.lexeme from odd_lexemes as o, odd_lexemes as p
     where o.lexeme <> p.lexeme
       and array_to_tsvector(array[p.lexeme]) @@ memory.any_lexeme(array[o.lexeme]) $$,
  'a word of quotes, backslashes or query syntax matches no other word'
);
select is(
  numnode((select memory.any_lexeme(array_agg(o.lexeme)) from odd_lexemes as o)),
  (select 2 * count(*) - 1 from odd_lexemes as o)::integer,
  'a query for any of many odd words has one operand per word'
);
select ok(
  not array_to_tsvector('{category}') @@ memory.any_lexeme('{cat:*}'),
  'a word cannot become a prefix search'
);
select ok(
  array_to_tsvector('{dog}') @@ memory.any_lexeme('{cat,dog}'), 'a text with one of the words matches'
);
select ok(
  not array_to_tsvector('{fish}') @@ memory.any_lexeme('{cat,dog}'),
  'a text with none of the words does not match'
);

-- every_word

select is(memory.every_word(q.config, q.query)::text, q.expected, q.what)
from (values
  (
    1, 'english', 'the running dogs', '''run'' & ''dog''',
    'every word of a query but its stop words is required'
  ),
  (2, 'english', '小狗叫', '''小狗'' & ''狗叫''', 'every pair of characters is required'),
  (
    3, 'french', 'une université', '''univers'' | ''universit''',
    'a French word with accents is required with or without them'
  ),
  (4, 'german', 'für Müller', '''mull''', 'a stop word with accents is not required'),
  (
    5, 'english', 'mẹ Zürich', '''zurich'' & ''me''',
    'a word that folding turns into a stop word is required'
  ),
  (6, 'english', '…', '', 'a query without words requires nothing')
) as q (position, config, query, expected, what)
order by q.position;

-- hash_terms, search_terms

create temporary table many_lexemes as
select array_agg('word' || i) as lexemes from generate_series(1, 10000) as i;
select is(
  (
    select count(distinct t.term)
    from many_lexemes as m, unnest(memory.hash_terms('a', m.lexemes)) as t (term)
  ),
  10000::bigint, 'ten thousand words have ten thousand keys'
);
select ok(
  not (
    select memory.hash_terms('a', m.lexemes) && memory.hash_terms('b', m.lexemes) from many_lexemes as m
  ),
  'two tenants with the same words share no key'
);
select ok(
  not memory.hash_terms('ab', '{c,bc}') && memory.hash_terms('a', '{bc,c}'),
  'the boundary between tenant and word affects the key'
);
select is(
  memory.hash_terms('a', '{cat,dog}'), memory.hash_terms('a', '{cat}') || memory.hash_terms('a', '{dog}'),
  'the key of a word does not depend on other words'
);
select is(cardinality(memory.hash_terms('a', '{cat,dog}')), 2, 'each word has one key');
select is(memory.hash_terms('a', '{}'), '{}', 'an empty list of words has no keys');
select is(memory.hash_terms('a', null), '{}', 'NULL words have no keys');
select ok(
  memory.search_terms('a', '''cat'':1 ''dog'':2,3'::tsvector) @> memory.hash_terms('a', '{cat,dog}')
  and memory.search_terms('a', '''cat'':1 ''dog'':2,3'::tsvector) <@ memory.hash_terms('a', '{cat,dog}'),
  'a text is indexed under the keys of its words'
);
select is(
  cardinality(memory.search_terms('a', '''cat'':1 ''dog'':2,3'::tsvector)), 2,
  'a text is indexed under each key once'
);
select is(memory.search_terms('a', ''::tsvector), '{}', 'an empty text is indexed under no key');
select ok(
  memory.search_terms('a', memory.to_search_vector('english', 'The dogs were running'))
  @> memory.hash_terms('a', memory.query_lexemes('english', 'a running dog')),
  'the keys of a query match a text with its words'
);
select ok(
  not memory.search_terms('b', memory.to_search_vector('english', 'The dogs were running'))
  && memory.hash_terms('a', memory.query_lexemes('english', 'a running dog')),
  'the keys of a query of one tenant match no text of another'
);

-- Volatility

select is(
  (
    select array_agg(p.proname::text order by p.proname)
    from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace
      and p.provolatile = 'i' and p.proparallel = 's'
      and p.proname in (
        'truncate_utf8', 'collapse_whitespace', 'preprocess_text', 'preprocess_search_query',
        'render_memory', 'hash_terms', 'search_terms', 'query_lexemes', 'any_lexeme',
        'date_in_words', 'end_of_text', 'fold_text', 'pair_characters', 'fold_vector'
      )
  ),
  '{any_lexeme,collapse_whitespace,date_in_words,end_of_text,fold_text,fold_vector,hash_terms,'
  'pair_characters,preprocess_search_query,'
  'preprocess_text,query_lexemes,'
  'render_memory,search_terms,truncate_utf8}',
  'the text functions are immutable and parallel safe'
);

select * from finish();
rollback;
