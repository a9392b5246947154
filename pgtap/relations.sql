-- Whom a query means by what they are to somebody.
begin;
\ir fixtures.sql
select plan(88);

select memory.store_fact(f.subject, f.predicate, f.content, scope => f.scope, as_of => '2026-11-01Z')
from (values
  ('user', 'wife', 'Mirjam, a nurse', 'global'), ('Mirjam', 'likes', 'peonies', 'global'),
  ('user', 'best_friend', 'is called Tom Ray', 'global'), ('Tom Ray', 'phone', '555 12', 'global'),
  ('Tom', 'phone', '555 99', 'global'), ('Lina', 'teacher', 'Frau Graf', 'global'), ('Frau Graf', 'phone', '555 77', 'global'),
  ('user', 'boss', 'Ann', 'global'), ('user', 'cat', 'Zoë, a tabby', 'global'), ('Zoë', 'eats', 'tuna', 'global'),
  ('user', 'coach', 'Eve', 'work'), ('Eve', 'phone', '555 33', 'work'), ('user', 'dog', 'like user, lazy', 'global'),
  ('user', 'teacher', '"Theo", a student', 'global'), ('Theo', 'phone', '555 44', 'global')
) as f (subject, predicate, content, scope) \g /dev/null

select is(memory.expand_query(r.query), r.expected, r.what)
from (values
  (1, 'Where does my wife work?', 'Where does my wife work? (Mirjam)', 'what a person is to the user leads to the name'),
  (2, 'my best friend''s phone', 'my best friend''s phone (Tom Ray)', 'a name of several words counts as a whole'),
  (3, 'Call Lina''s teacher', 'Call Lina''s teacher (Frau Graf)', 'so does what a person is to somebody else'),
  (4, 'What does our cat eat?', 'What does our cat eat? (Zoë)', 'our is read as my'),
  (5, 'Meine wife und mein cat', 'Meine wife und mein cat (Mirjam, Zoë)', 'several are named in the order in which they are mentioned'),
  (6, 'Who is my boss?', 'Who is my boss?', 'nobody is named of whom nothing else is known'),
  (7, 'Does my wife Mirjam sing?', 'Does my wife Mirjam sing?', 'who is named already is not named again'),
  (8, 'The wife of a friend', 'The wife of a friend', 'without a word such as my nobody is looked for'),
  (9, 'my dog', 'my dog', 'the user is nobody else'),
  (12, 'my teacher''s phone', 'my teacher''s phone (Theo)', 'a name may stand in quotes'),
  (10, '', '', 'an empty query stays empty'),
  (11, null, null, 'NULL stays NULL')
) as r (position, query, expected, what)
order by r.position;
select memory.store_fact('user', f.predicate, f.content, as_of => '2026-11-01Z')
from (values ('old piano teacher', 'Nora'), ('very old piano teacher', 'Gina')) as f (predicate, content) \g /dev/null
select memory.store_fact(f.subject, 'phone', '555 1', as_of => '2026-11-01Z')
from unnest('{Nora,Gina}'::text[]) as f (subject) \g /dev/null
select is(
  array(
    select memory.expand_query(q.query)
    from unnest('{my old piano teacher''s phone,my very old piano teacher''s phone}'::text[]) as q (query)
  ),
  '{my old piano teacher''s phone (Nora),my very old piano teacher''s phone}',
  'a predicate of three words is understood, and none of four'
);
select memory.store_fact('user', f.predicate, f.content, as_of => '2026-11-01Z')
from (values ('mother', 'Ruth, lives in Chur'), ('son', 'Emil'), ('daughter', 'Ida, 7'), ('dad', 'Peter')) as f (predicate, content) \g /dev/null
select memory.store_fact(f.subject, 'birthday', 'in May', as_of => '2026-11-01Z')
from unnest('{Ruth,Emil,Ida,Peter}'::text[]) as f (subject) \g /dev/null
select is(memory.expand_query(r.query), r.query || coalesce(' (' || r.names || ')', ''), r.what)
from (values
  (1, 'my mom''s birthday', 'Ruth', 'a mom is a mother'),
  (2, 'Wo wohnt meine Mutter?', 'mother Ruth', 'the word may be of another language than the fact, whose word is then added'),
  (3, 'Quand est né mon père ?', 'dad Peter', 'the word of the fact may be one for children'),
  (4, 'What do my kids want?', 'Ida, Emil', 'kids are sons and daughters'),
  (5, 'Where does my spouse work?', 'Mirjam', 'a spouse may be a wife'),
  (6, 'When did mom call Dad?', 'Ruth, Peter', 'mom and dad are those of the user'),
  (18, 'Where does my boy live?', 'Emil', 'also as people say it'),
  (19, 'When did I meet my other half?', 'Mirjam', 'in several words'),
  (9, 'Who is my supervisor?', 'boss', 'what a fact calls them is added where nobody is named'),
  (7, 'Is my chat with the kind man over?', null, 'a word means what it means in the language of the question'),
  (8, 'Lina''s dad', null, 'the dad of somebody else is not that of the user'),
  (10, 'What''s mom''s number?', 'Ruth', 'after "what''s", mom is that of the user'),
  (11, 'Annas Mama und sein Papa', null, 'nor is the mother of Anna, or his father'),
  (12, 'Wo wohnt Mama?', 'mother Ruth', 'but whose they are goes without saying'),
  (13, 'my mother-in-law and my mother tongue', null, 'a mother-in-law is no mother, and a mother tongue nobody'),
  (14, 'mom, my mother and my mom', 'Ruth', 'who is mentioned several times is named once'),
  (15, 'Spouse', 'wife Mirjam', 'nothing but such a word is read as the user''s'),
  (16, 'supervisor phone', null, 'unless other words follow'),
  (17, 'Chef', null, 'or it means something else in English')
) as r (position, query, names, what)
order by r.position;
select is(
  (memory.synonyms_of('dog', 'de')).words || (memory.synonyms_of('mein freund', 'en')).words, '{dog,mein freund}'::text[],
  'a word of no relation has no synonyms'
);
select is_empty(
  $$ select s.word from unnest('{partner,doctor,colleague,grandma,mother in law,kids,dog}'::text[]) as r (word)
     cross join lateral unnest((memory.synonyms_of(r.word, 'en')).words) as s (word)
     where s.word <> memory.predicate_key(s.word) $$,
  'synonyms are spelled as the keys of facts'
);
select is(
  memory.expand_query('my coach', 'home'), 'my coach', 'facts of another scope name nobody'
);
select is(memory.expand_query('my coach', 'work'), 'my coach (Eve)', 'facts of the scope do');
select is(
  memory.expand_query('my wife ' || repeat('x', 65537)), 'my wife ' || repeat('x', 65537) || ' (Mirjam)',
  'of a query of any length, the beginning is read'
);
select results_eq(
  $$ select m.subject, m.content from memory.rank_memories('What does my wife like?', max_results => 2, as_of => '2026-11-02Z') as m $$,
  $$ values ('Mirjam', 'peonies'), ('user', 'Mirjam, a nurse') $$,
  'a question about somebody by what they are finds what is known of them, then who that is'
);
select results_eq(
  $$ select m.subject from memory.rank_memories('my best friend''s phone', as_of => '2026-11-02Z') as m limit 2 $$,
  $$ values ('Tom Ray'), ('user') $$,
  'of several with such a fact, the right one comes first'
);
select results_eq(
  $$ select m.subject
     from memory.rank_memories('my best friend''s phone', known_at => '2026-11-02Z', as_of => '2026-11-03Z') as m limit 2 $$,
  $$ values ('Tom Ray'), ('user') $$,
  'so it does as of a time'
);
select memory.store_fact(f.subject, f.predicate, f.content, as_of => '2026-11-01Z')
from (values
  ('user', 'sister', 'Ann, sings in a choir'), ('Ann', 'phone', '555 44, ask for Ann'), ('Ann', 'hobby', 'hobby horses as a hobby'),
  ('user', 'hobby', 'chess'), ('user', 'doctor', 'Dr. Sethi'), ('Dr. Sethi', 'practice', 'in Mill Lane')
) as f (subject, predicate, content) \g /dev/null
select results_eq(
  format($$ select m.subject from memory.rank_memories(%L, max_results => 1, as_of => '2026-11-02Z') as m $$, r.query),
  r.expected, r.what
)
from (values
  (1, 'Who is my wife?', $$ values ('user') $$, 'who asks only who somebody is gets who that is'),
  (7, 'Do you know who my boss is?', $$ values ('user') $$, 'also if the fact says nothing but the name'),
  (8, 'Who do I know with horses as a hobby?', $$ values ('Ann') $$, 'or fit better'),
  (2, 'Where does my sister sing?', $$ values ('user') $$, 'who somebody is comes first if it says what is asked for'),
  (9, 'Does my boss Ann have a phone?', $$ values ('Ann') $$, 'also if they are named'),
  (3, 'my sister''s phone', $$ values ('Ann') $$, 'else what is known about somebody comes first, also if nothing more is asked for'),
  (4, 'In which lane is my doctor?', $$ values ('Dr. Sethi') $$, 'a name may have a dot'),
  (5, 'What is my hobby?', $$ values ('user') $$, 'who asks about himself or herself gets no hobby of others before the own one'),
  (6, 'What is the hobby of Ann?', $$ values ('Ann') $$, 'unless the others are named')
) as r (position, query, expected, what)
order by r.position;
select memory.entity_create('Grace Hopper', 'person') as grace \gset
select memory.store_fact('user', 'mentor', 'an admiral', object_entity_id => :'grace', as_of => '2026-11-01Z') as mentor \gset
select is(
  memory.expand_query('What does my mentor teach?'), 'What does my mentor teach? (Grace Hopper)',
  'the entity that a fact names is taken by its name'
);
select memory.store_fact('A very old', 'is', 'x', as_of => '2026-11-01Z') \g /dev/null
select memory.store_fact('user', 'mentor', 'a very old admiral', object_entity_id => :'grace', as_of => '2026-11-01 01:00Z') \g /dev/null
select is(
  memory.expand_query('What does my mentor teach?'), 'What does my mentor teach? (Grace Hopper)',
  'an entity goes before a subject of three words that the text begins with'
);
select memory.configure('{"boost_named": 0}') \g /dev/null
select is(memory.expand_query('my wife'), 'my wife', 'without boost_named, nobody is looked for');

-- Who asks

create function memory_test.first_facts(query text, max_results integer default 1)
  returns text[]
  language sql
  stable
  return array(
    select m.subject || ': ' || m.content
    from memory.rank_memories(query, max_results => max_results, as_of => '2026-11-02Z') as m
  );
select memory_test.as_tenant('named') \g /dev/null
select memory.store_fact(f.subject, f.predicate, f.content, as_of => '2026-11-01Z')
from (values
  ('user', 'name', 'Ada King'), ('user', 'is', 'Bo'), ('Ada', 'lives_in', 'Porto'), ('Ada', 'wife', 'Mirjam'), ('Mirjam', 'lives_in', 'Lyon'),
  ('Bo', 'lives_in', 'Live Oak'), ('Bo', 'wife', 'Cleo'), ('Cleo', 'lives_in', 'Bonn')
) as f (subject, predicate, content) \g /dev/null
select is(memory_test.first_facts('Where do I live?'), '{"Ada: Porto"}', 'facts about the name of the user are about the user');
select is(memory.expand_query('Where does my wife live?'), 'Where does my wife live? (Mirjam)', 'so is what people are to that name');
select is(memory_test.first_facts('Where does my wife live?'), '{"Mirjam: Lyon"}', 'and what is known of them');
select memory.store_fact('user', f.predicate, f.content, as_of => '2026-11-01Z')
from (values ('role', 'nurse'), ('address', 'Rua das Flores 12')) as f (predicate, content) \g /dev/null
select is(memory.expand_query(r.query), r.query || coalesce(' (' || r.added || ')', ''), r.what)
from (values
  (1, 'Where do I work?', 'role', 'where somebody works may be called a role'),
  (2, 'Wo wohne ich?', 'address, lives in', 'a verb in the first person needs no such word before it'),
  (3, 'Weißt du, wo ich wohne?', 'address, lives in', 'also in other languages'),
  (4, 'Where does Bo work?', null, 'others are not the user')
) as r (position, query, added, what)
order by r.position;
select memory_test.as_tenant('city') \g /dev/null
select memory.store_fact('user', 'city', 'Freiburg', as_of => '2026-11-01Z') \g /dev/null
select is(memory.expand_query('¿Dónde vivo?'), '¿Dónde vivo? (city)', 'somebody who lives somewhere may have a city');
select is(memory.expand_query('Was ist meine Adresse?'), 'Was ist meine Adresse? (city)', 'which is better than no address');

select memory_test.as_tenant('unnamed') \g /dev/null
select memory.store_fact(f.subject, f.predicate, f.content, as_of => '2026-11-01Z')
from (values
  ('Ada', 'lives_in', 'Porto'), ('Ada', 'likes', 'fado'), ('Bo', 'lives_in', 'Live Oak'), ('Cleo', 'lives_in', 'Bonn')
) as f (subject, predicate, content) \g /dev/null
select is(memory_test.first_facts('Where do I live?'), '{"Bo: Live Oak"}', 'of a few facts about several people, none is known to be the user');
select memory.store_fact('Ada', 'wife', 'Mirjam', as_of => '2026-11-01Z') \g /dev/null
select is(memory_test.first_facts('Where do I live?'), '{"Ada: Porto"}', 'whom most facts are about is taken for the user');
select memory.store_fact('user', 'likes', 'tea', as_of => '2026-11-01Z') \g /dev/null
select is(memory_test.first_facts('Where do I live?'), '{"Bo: Live Oak"}', 'unless some are about the user');

select memory_test.as_tenant('introduced') \g /dev/null
select memory.store_fact(f.subject, f.predicate, f.content, as_of => '2026-11-01Z')
from (values
  ('user', 'partner', 'Bo, who repairs boats'), ('Bo', 'birthday', 'in May'), ('user', 'boat', 'painted by Bo'), ('Bo''s boat', 'color', 'red')
) as f (subject, predicate, content) \g /dev/null
select results_eq(
  $$ select m.subject, m.content from memory.rank_memories('Where does Bo work?', as_of => '2026-11-02Z') as m where m.named_boost > 0 order by 1 $$,
  $$ values ('Bo', 'in May'), ('user', 'Bo, who repairs boats') $$,
  'a fact that begins with the name of whom others are about is about them, too'
);

-- Who is a subject by what they are

select memory_test.as_tenant('relatives') \g /dev/null
select memory.store_fact(f.subject, f.predicate, f.content, as_of => '2026-11-01Z')
from (values
  ('user''s mother', 'name', 'Ruth, in Chur'), ('Ruth', 'eats', 'no nuts'), ('my brother', 'eats', 'a lot'), ('dog', 'name', 'Rex'),
  ('Rex', 'eats', 'bones'), ('Lina''s teacher', 'is', 'Frau Graf'), ('Frau Graf', 'eats', 'soup'), ('sister', 'says', 'Rex is a good dog')
) as f (subject, predicate, content) \g /dev/null
select is(memory.expand_query(r.query), r.query || coalesce(' (' || r.names || ')', ''), r.what)
from (values
  (1, 'What may my mom not eat?', 'Ruth', 'the mother of the user may be a subject of her own'),
  (2, 'What does my dog eat?', 'Rex', 'a dog may be one without more words'),
  (3, 'Does Lina''s teacher eat?', 'Frau Graf', 'so may somebody else''s teacher'),
  (4, 'Was isst mein Bruder?', 'brother', 'the word of the subject is added where it differs'),
  (5, 'What does my sister say?', null, 'what somebody says names nobody')
) as r (position, query, names, what)
order by r.position;
select memory.store_fact('Rex', 'is', 'Ruth and Lina''s dog', as_of => '2026-11-01Z') \g /dev/null
select is(memory.expand_query('Rex'), 'Rex', 'a name alone leads to nobody else');
select is(memory_test.first_facts('What may my mom not eat?'), '{"Ruth: no nuts"}', 'what is known of them comes first');
select is(memory_test.first_facts('What is the name of my mother?'), '{"user''s mother: Ruth, in Chur"}', 'unless that is what is asked for');

-- Whom one fact alone is about

select memory_test.as_tenant('one fact') \g /dev/null
select memory.store_fact('user', f.predicate, f.content, as_of => '2026-11-01Z')
from (values
  ('dog', 'Rex'), ('sister', 'Nora, lives in Gent'), ('dentist', 'Dr. Okafor on Mill Street'), ('boss', 'Harriet Vance'),
  ('husband', 'Married in Rome'), ('brother', 'plays chess'), ('personal_trainer', 'Bea')
) as f (predicate, content) \g /dev/null
select memory.store_episode(e.content, 'b', as_of => '2026-11-01Z')
from unnest('{"Rex ate a sock","Harriet moved the deadline","Nora is a nurse","The vet ate at Nora''s"}'::text[]) as e (content) \g /dev/null
select is(memory.expand_query(r.query), r.query || coalesce(' (' || r.names || ')', ''), r.what)
from (values
  (1, 'What did my dog eat?', 'Rex', 'a fact that is a name leads to it, also if nothing else is known of whom it names'),
  (2, 'Where does my sister work?', 'Nora', 'so does one that begins with a name'),
  (3, 'What did the dentist find?', 'Dr. Okafor', 'which may have a title, and stand before other words'),
  (4, 'Who is my boss?', null, 'who asks only who somebody is gets no more words'),
  (5, 'When did my husband marry?', null, 'a capital letter alone is no name'),
  (6, 'Does my brother play?', null, 'nor is what begins with none'),
  (7, 'Is my trainer ill?', 'Bea', 'a trainer may be a personal trainer')
) as r (position, query, names, what)
order by r.position;
select is(memory_test.first_answer(r.query), r.expected, r.what)
from (values
  (1, 'What did my dog eat?', 'Rex ate a sock', 'what somebody said about them comes before the name'),
  (2, 'What did my boss move?', 'Harriet moved the deadline', 'also if it has only the first part of the name'),
  (3, 'What is my dog''s name?', 'Rex', 'unless the name is asked for'),
  (4, 'Where does my sister live?', 'Nora, lives in Gent', 'or the fact says what is asked for'),
  (5, 'Is my sister a nurse?', 'Nora is a nurse', 'which a word of the question tells'),
  (6, 'Who is my boss?', 'Harriet Vance', 'who asks who somebody is gets that'),
  (7, 'How is my dog?', 'Rex ate a sock', 'but not who asks how somebody is')
) as r (position, query, expected, what)
order by r.position;

select memory.store_fact('user', 'dentist', 'the one near the station', as_of => '2026-11-01Z') \g /dev/null
select ok(
  (memory.read_relations('Where is my dentist?', null, memory.current_settings())).people is null,
  'a fact without a name names nobody'
);

select * from finish();
rollback;
