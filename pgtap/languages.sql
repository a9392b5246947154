begin;
\ir fixtures.sql
select plan(116);

-- Texts are stored in one spelling and queried in another. The number of a text is its subject.

create table memory_test.texts (number integer primary key, config text, content text);
insert into memory_test.texts (number, config, content)
values
(1, 'english', '我家有一只小狗叫雷克斯'),
(2, 'english', 'Every morning she drinks 喝茶, then 咖啡'),
(3, 'english', '新的iPhone手机很贵'),
(4, 'english', '東京タワーの近くでラーメンを食べました'),
(5, 'english', 'かきを買った'),
(6, 'english', 'かぎを買った'),
(7, 'english', 'ฉันชอบดื่มกาแฟทุกเช้า'),
(8, 'english', '철수는 매일 한국어를 공부한다'),
(9, 'english', '아침에 물을 마신다'),
(10, 'english', 'Mẹ của Đặng Thị Hương sống ở Hà Nội'),
(11, 'english', 'Ayşe ılıca için İzmir''e gitti'),
(12, 'english', 'Η Ελένη μένει στην Αθήνα, οδός Ερμού'),
(13, 'english', U&'The cafe\0301 near Zu\0308rich Airport'),
(14, 'english', 'ＮＥＣ ＰＣ－９８０１ was her first computer'),
(15, 'english', 'An eﬃcient oﬃce'),
(16, 'english', 'Party 🎉👩‍👩‍👧 in Graz ☕️!'),
(17, 'english', 'Straße, Łódź, Tromsø, Þórr, œuvre, Æsir'),
(18, 'english', 'Ёлка стоит на улице, за́мок закрыт'),
(19, 'english', 'ｶﾞｿﾘﾝは高い'),
(20, 'english', 'मेरी किताब कहाँ है'),
(21, 'english', 'قرأتُ كتاباً جديداً'),
(22, 'english', 'Her résumés: 5 m², CO₂, wait…really, Acme™ and 2½ cups'),
(23, 'english', 'ຂ້ອຍມັກກິນເຂົ້າ'),
(24, 'english', 'ខ្ញុំចូលចិត្តកាហ្វេ'),
(25, 'english', 'ကျွန်တော်ကော်ဖီကြိုက်တယ်'),
(30, 'german', 'Für Müller über die Straße: Häuser'),
(31, 'german', 'Fur Muller gingen Strassen auf'),
(40, 'french', 'Les universités préférées étaient déjà fermées'),
(41, 'french', 'Une universite preferee, deja fermee'),
(50, 'russian', 'Мой русский друг купил ёлки и йод'),
(51, 'russian', 'елка стоила дорого'),
(60, 'turkish', 'Ağacın altında ıhlamur içtik'),
(61, 'turkish', 'agacin altinda ihlamur ictik');

select memory_test.as_tenant(t.config), memory.configure(jsonb_build_object('text_search_config', t.config))
from (select distinct x.config from memory_test.texts as x) as t
order by t.config \g /dev/null

-- A tenant for each configuration.
create function memory_test.store_texts()
  returns void
  language plpgsql
as $$
declare
  v_text memory_test.texts;
begin
  for v_text in select t.* from memory_test.texts as t order by t.number loop
    perform memory_test.as_tenant(v_text.config);
    perform memory.store_fact(v_text.number::text, 'n', v_text.content, as_of => '2026-01-01Z');
  end loop;
end;
$$;
select memory_test.store_texts();

create function memory_test.found(config text, query text, keyword_match text)
  returns integer[]
  language sql
  begin atomic
    select memory_test.as_tenant(config);
    select coalesce(array_agg(m.subject::integer order by m.subject::integer), '{}')
    from memory.keyword_search('fact', query, keyword_match => found.keyword_match, max_results => 100) as m;
  end;

create table memory_test.cases (position serial primary key, config text, query text, expected integer[], what text);
insert into memory_test.cases (config, query, expected, what)
values
('english', '小狗', '{1}', 'a Chinese word is found within its sentence'),
('english', '雷克斯', '{1}', 'a Chinese name is found within its sentence'),
('english', '狗', '{1}', 'a Chinese word of one character is found'),
('english', '我家有一只小狗叫雷克斯', '{1}', 'a Chinese sentence is found as a whole'),
('english', '大狗', '{}', 'a Chinese word that only shares a character is not found'),
('english', '斯克雷', '{}', 'Chinese characters in another order are not found'),
('english', '喝茶', '{2}', 'a Chinese word in an English sentence is found'),
(
  'english', 'morning 喝茶 drink', '{2}',
  'a Chinese word is found together with the English words around it'
),
('english', '茶', '{2}', 'one character of a Chinese word in an English sentence is found'),
('english', 'iphone', '{3}', 'a Latin word within Chinese is a word of its own'),
('english', '手机', '{3}', 'a Chinese word next to a Latin one is found'),
('english', 'iPhone手机', '{3}', 'adjacent Latin and Chinese words are found as one query term'),
('english', '东京 小狗', '{}', 'all words of a query must occur'),
('english', 'ラーメン', '{4}', 'a Japanese word is found'),
('english', '東京タワー', '{4}', 'a Japanese word of two scripts is found'),
('english', 'ﾗｰﾒﾝ', '{4}', 'a Japanese word is found in half width'),
('english', 'かき', '{5}', 'a kana with dakuten differs from the one without'),
('english', 'かぎ', '{6}', 'a kana with dakuten is found'),
('english', U&'か\304D\3099', '{6}', 'a decomposed kana with dakuten is found'),
('english', 'ガソリン', '{19}', 'a word stored in half width is found in full width'),
('english', 'กาแฟ', '{7}', 'a Thai word is found'),
('english', 'ดื่ม', '{7}', 'a Thai word is found with its vowels and tones'),
('english', 'ชา', '{}', 'a Thai word that does not occur is not found'),
('english', 'ເຂົ້າ', '{23}', 'a Lao word is found'),
('english', 'កាហ្វេ', '{24}', 'a Khmer word is found'),
('english', 'ကော်ဖီ', '{25}', 'a Burmese word is found'),
('english', '한국어', '{8}', 'a Korean word is found before a particle'),
('english', '철수', '{8}', 'a Korean name is found before a particle'),
('english', normalize('한국어를', nfd), '{8}', 'a Korean word is found in decomposed syllables'),
('english', '물', '{9}', 'a Korean word of one syllable is found'),
('english', 'dang thi huong ha noi', '{10}', 'Vietnamese is found without its diacritics'),
('english', 'ĐẶNG THỊ HƯƠNG', '{10}', 'Vietnamese is found in capital letters'),
('english', 'mẹ', '{10}', 'a Vietnamese word that resembles an English stop word is found'),
('english', 'ayse ilica izmir', '{11}', 'Turkish is found without dots, cedillas and dotless letters'),
('english', 'AYŞE ILICA İZMİR', '{11}', 'Turkish is found in capital letters'),
('english', 'Αθηνα', '{12}', 'Greek is found without tonos'),
('english', 'ΑΘΗΝΑ ΟΔΟΣ', '{12}', 'Greek is found in capital letters, even with a final sigma'),
('english', 'cafe zurich', '{13}', 'a decomposed accent is found without the accent'),
('english', 'café Zürich', '{13}', 'a decomposed accent is found as a composed one'),
('english', 'CAFÉ', '{13}', 'a decomposed accent is found in capital letters'),
('english', 'nec pc-9801', '{14}', 'full-width letters are found in ASCII'),
('english', 'efficient OFFICES', '{15}', 'ligatures are found as letters and stemmed'),
('english', 'party graz', '{16}', 'words next to emoji are found'),
('english', '🎉', '{}', 'an emoji is not a word'),
(
  'english', 'strasse lodz tromso thorr oeuvre aesir', '{17}',
  'letters with a stroke and double letters are found as plain letters'
),
('english', 'STRASSE Łodz', '{17}', 'a query may write only some letters plain'),
('english', 'елка замок', '{18}', 'ё is found as е, and stress marks do not count'),
('english', 'किताब', '{20}', 'a Hindi word is found with its vowel signs'),
('english', 'कतब', '{}', 'a Hindi word is not found without its vowel signs'),
('english', 'كتاباً', '{21}', 'an Arabic word is found as written'),
('english', 'resume', '{22}', 'an English word with accents is stemmed like one without'),
('english', 'm2 CO2', '{22}', 'superscript and subscript digits are digits'),
(
  'english', 'wait really Acme 2 cups', '{22}',
  'ellipses, trademark signs and fractions only separate words'
),
('german', 'Muller', '{30,31}', 'in German an umlaut is found without its dots'),
('german', 'müller', '{30,31}', 'in German a plain letter is found with an umlaut'),
('german', 'Strasse', '{30,31}', 'in German ß is found as ss'),
('german', 'Straßen', '{30,31}', 'in German ss is found as ß, whatever the ending'),
('german', 'für', '{}', 'a German stop word with its umlaut remains a stop word'),
('german', 'über Müller', '{30,31}', 'a German stop word is ignored next to another word'),
('german', 'Haus', '{30}', 'the German stemmer recognizes a plural with an umlaut'),
('german', 'hausern', '{30}', 'the German stemmer recognizes a plural without its umlaut'),
(
  'french', 'universite', '{40,41}',
  'in French a word is found without its accents, whatever its ending'
),
('french', 'université', '{40,41}', 'in French a word is found with its accents'),
('french', 'universités', '{40,41}', 'in French a word is found in the plural'),
('french', 'déjà', '{40,41}', 'in French a word with accents is found without them'),
('french', 'deja', '{40,41}', 'in French a word without accents is found with them'),
('french', 'DÉJÀ UNIVERSITÉ', '{40,41}', 'in French words are found in capital letters'),
('french', 'préférer', '{40}', 'the French stemmer recognizes only accented endings'),
('french', 'été', '{}', 'a French stop word with its accents remains a stop word'),
('russian', 'ёлка', '{50,51}', 'in Russian ё is found as е'),
('russian', 'ЕЛКИ', '{50,51}', 'in Russian ё is found as е in any case and ending'),
('russian', 'йод', '{50}', 'in Russian й is a letter of its own'),
('russian', 'иод', '{}', 'in Russian й is not found as и'),
('russian', 'мой', '{}', 'a Russian stop word with its й remains a stop word'),
('turkish', 'ıhlamur', '{60,61}', 'in Turkish ı is found as i'),
('turkish', 'IHLAMUR', '{60,61}', 'in Turkish ı is found as I'),
('turkish', 'ağacın', '{60,61}',
'a Turkish stem that ends in another letter than the word is folded');

select is(memory_test.found(c.config, c.query, 'all'), c.expected, c.what)
from memory_test.cases as c
order by c.position;
select is_empty(
  $$ select c.config, c.query, memory_test.found(c.config, c.query, 'any')
     from memory_test.cases as c
     where not memory_test.found(c.config, c.query, 'any') @> c.expected
        or c.expected = '{}' and length(c.query) < 3 and memory_test.found(c.config, c.query, 'any') <> '{}'
     order by c.position $$,
  'matching any word finds at least what matching all words finds'
);
select is_empty(
  $$ select t.number from memory_test.texts as t
     where not t.number = any (memory_test.found(t.config, t.content, 'all'))
       or not t.number = any (memory_test.found(t.config, normalize(t.content, nfd), 'all'))
       or not t.number = any (memory_test.found(t.config, t.content, 'any'))
     order by t.number $$,
  'every text is found by its own words, composed or decomposed'
);

-- Every type of memory, and every function that searches

select memory_test.as_tenant('a') \g /dev/null
select memory.store_episode(d.content, 'home', as_of => d.at) from (values
  ('Met José at 星巴克', '2026-01-01Z'::timestamptz), ('Nothing of note', '2026-01-02Z')
) as d (content, at) \g /dev/null
select memory.store_fact('José', 'drinks at', '星巴克', as_of => '2026-01-01Z') as drinks \gset
select memory.store_facts(
  '[{"subject": "Zoë", "predicate": "drinks at", "content": "星巴克 with Jose"}]', as_of => '2026-01-01Z'
) \g /dev/null
select memory.store_rule('Ask JOSÉ about 星巴克 first', as_of => '2026-01-01Z') \g /dev/null
select is(
  (
    select array_agg(m.memory_type || ' ' || m.content order by m.content)
    from memory.keyword_search(t.type, q.query, as_of => '2026-01-02Z') as m
  ),
  t.expected, format('%s memories are found in any spelling: %s', t.type, q.query)
)
from (values
  (1, 'episode', '{"episode Met José at 星巴克"}'::text[]),
  (2, 'fact', '{"fact 星巴克","fact 星巴克 with Jose"}'),
  (3, 'rule', '{"rule Ask JOSÉ about 星巴克 first"}')
) as t (position, type, expected)
cross join (values (1, 'jose 星巴克'), (2, 'josé 巴克')) as q (position, query)
order by t.position, q.position;
select memory.store_fact('José', 'drinks at', 'home', as_of => '2026-01-03Z') \g /dev/null
select is(
  (
    select array_agg(m.content order by m.content)
    from memory.recall('星巴克', types => '{fact}', known_at => '2026-01-02Z', as_of => '2026-01-04Z') as m
  ),
  '{星巴克,"星巴克 with Jose"}', 'recall of a past time finds a fact by the same words'
);
select is(
  (
    select array_agg(x.outcome || ' ' || x.content order by x.outcome)
    from memory.recall_explain('星巴克', types => '{fact}', as_of => '2026-01-04Z') as x
  ),
  '{"returned 星巴克 with Jose","superseded 星巴克"}', 'recall_explain matches words as recall does'
);
select memory.configure('{"text_search_config": "french"}') \g /dev/null
select is(
  (select array_agg(m.content order by m.content) from memory.keyword_search('fact', 'ZOE 星巴') as m),
  '{"星巴克 with Jose"}', 'texts reindexed in another language are found by the same words'
);
select memory.configure('{"text_search_config": "english"}') \g /dev/null

-- Rank

select memory.store_rule(r.content, as_of => '2026-01-01Z') from unnest(
  '{我喜欢喝绿茶,绿茶和红茶绿茶,Zürich and zurich and Zürich again,Zürich once and nothing else to say here}'::text[]
) as r (content) \g /dev/null
select results_eq(
  format('select m.content from memory.keyword_search(''rule'', %L, keyword_match => ''any'') as m', q.query),
  format('select unnest(%L::text[])', q.expected), q.what
)
from (values
  (
    1, '绿茶', '{绿茶和红茶绿茶,我喜欢喝绿茶}'::text[],
    'a text that holds a character pair twice ranks above one that holds it once'
  ),
  (
    2, 'zurich', '{"Zürich and zurich and Zürich again","Zürich once and nothing else to say here"}',
    'a word counts as often as it occurs, in any spelling'
  )
) as q (position, query, expected, what)
order by q.position;
select results_eq(
  $$ select m.content from memory.search('喜欢喝什么红茶', '{rule}', mode => 'keyword', as_of => '2026-01-02Z') as m $$,
  $$ values ('我喜欢喝绿茶'), ('绿茶和红茶绿茶') $$,
  'BM25 weighs character pairs like words'
);
select is(
  (select length(r.search_vector) from memory.rules as r where r.content = '我喜欢喝绿茶'), 11,
  'the length of a text counts its characters and pairs'
);

-- Names in texts

select is(memory.normalize_name(n.name), n.expected, n.what)
from (values
  (
    1, 'José  O’NEIL-Smith', ' jose o neil smith ',
    'a normalized name is lower-case words without accents'
  ),
  (2, U&'Jose\0301', ' jose ', 'a decomposed name loses its accents'),
  (3, '我叫雷克斯', ' 我叫 叫雷 雷克 克斯 ', 'in a script without spaces each character pair is a word'),
  (4, '雷克斯', ' 雷克 克斯 ', 'a name in a script without spaces is normalized to its character pairs'),
  (5, '宝', ' 宝 ', 'a name of one character is a word by itself'),
  (6, '철수는', ' 철수 수는 ', 'a Korean name is normalized apart from its particle'),
  (7, 'ÇİĞDEM', ' cigdem ', 'a capital letter with a dot is normalized to one without'),
  (8, '!?', '  ', 'a name without words is normalized to nothing')
) as n (position, name, expected, what)
order by n.position;
select ok(memory.normalize_name(null) is null, 'a NULL name is normalized to NULL');

select memory_test.as_tenant('names') \g /dev/null
select memory.store_fact(f.subject, 'says', f.content, as_of => '2026-01-01Z') from (values
  ('雷克斯', 'woof'), ('user', '我家小狗叫雷克斯'), ('user 2', '雷克'), ('JOSÉ', 'hola'), ('user 3', U&'I met Jose\0301.'),
  ('user 4', 'Joseph'), ('宝', 'hi'), ('user 5', '支付宝')
) as f (subject, content) \g /dev/null
select is(
  (
    select e.erased from memory.erase_subject(s.subject, dry_run => true) as e
    where e.object = 'facts'
  ),
  s.expected, s.what
)
from (values
  (1, 'Jose', 2::bigint, 'erasing a name also erases it with its accents'),
  (2, '雷克斯', 2, 'erasing a name finds it within a sentence without spaces'),
  (3, '宝', 1, 'erasing a name of one character spares words that contain it')
) as s (position, subject, expected, what)
order by s.position;

select memory_test.as_tenant('a') \g /dev/null

-- Long texts and long questions

select setseed(0.5) \g /dev/null
create table memory_test.long as
select k.kind, string_agg(k.word, k.separator order by k.n) as content
from (
  select 'han' as kind, n, chr(19968 + (random() * 20000)::integer) as word, '' as separator
  from generate_series(1, 349000) as n
  union all
  select 'accents', n, chr(224 + n % 30) || to_hex(n * 7919::bigint % 1000003) || chr(248 + n % 100), '-'
  from generate_series(1, 100000) as n
  union all
  -- Each becomes eighteen characters.
  select 'compatible', n, chr(65018), '' from generate_series(1, 300000) as n
) as k
group by k.kind, k.separator;
select cmp_ok(min(octet_length(l.content)), '>', 850000,
'the test texts are nearly 1 MiB long') from memory_test.long as l;
select lives_ok(
  format(
    $$ select memory.store_episode('雷克斯 Müller ' || l.content, 'home', as_of => '2026-01-01Z')
       from memory_test.long as l where l.kind = %L $$,
    k.kind
  ),
  format('a long text can be stored: %s', k.kind)
)
from (values (1, 'han'), (2, 'accents'), (3, 'compatible')) as k (position, kind)
order by k.position;
select is(
  (select count(*) from memory.keyword_search('episode', '雷克斯 muller', as_of => '2026-01-02Z') as m), 3::bigint,
  'long texts are found by their first words'
);
select cmp_ok(
  (
    select length(memory.to_search_vector('english', left(l.content, 87381)))
    from memory_test.long as l where l.kind = 'han'
  ),
  '>', 60000, 'most character pairs of a 256 KiB text are indexed'
);
select ok(
  memory.to_search_vector('english', repeat('我家有一只小狗叫雷克斯。', 7000) || '大猫')
  @@ memory.every_word('english', '小狗叫雷克斯 大猫'),
  'all character pairs of a repetitive text are indexed'
);
select is(
  cardinality((memory.read_query(left(l.content, 21000), m.keyword_match, memory.current_settings())).lexemes), 64,
  format('a query searches for at most 64 character pairs: %s', m.keyword_match)
)
from memory_test.long as l
cross join unnest('{all,any}'::text[]) as m (keyword_match)
where l.kind = 'han'
order by m.keyword_match;
select lives_ok(
  format(
    $$ select memory.keyword_search('episode', left(l.content, 21000), keyword_match => %L)
       from memory_test.long as l where l.kind = 'han' $$,
    m.keyword_match
  ),
  format('a query of 63 KiB is answered: %s', m.keyword_match)
)
from unnest('{all,any}'::text[]) as m (keyword_match)
order by m.keyword_match;

-- A parser that finds words by itself

create text search parser memory_test.own (
  start = prsd_start, gettoken = prsd_nexttoken, end = prsd_end, headline = prsd_headline, lextypes = prsd_lextype
);
create text search configuration public.chinese (parser = memory_test.own);
alter text search configuration public.chinese add mapping for word, asciiword with simple;
select is(
  memory.to_search_vector('chinese', '小狗叫 Café'), '''小狗叫'':1 ''cafe'':2'::tsvector,
  'words found by another parser are not split'
);

select * from finish();
rollback;
