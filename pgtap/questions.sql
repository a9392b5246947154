-- What questions ask in other words than facts and remarks tell it.
begin;
\ir fixtures.sql
select plan(68);

select is(memory.restate_question(r.query), r.expected, r.what)
from (values
  (1, 'What do I do for a living?', 'What is my job?', 'what somebody does for a living is a job'),
  (2, 'what do I do', 'What is my job?', 'so is what somebody does'),
  (17, 'What do I do today?', null, 'but not what there is to do today'),
  (18, 'What is Ada working on these days?', 'What is ada''s project now?', 'what is asked about now stays so'),
  (19, 'How old is Ada?' || repeat(' ', 200) || 'x', null, 'a long text is more than its beginning'),
  (3, 'What does my best friend do for work now?', 'What is my best friend''s job now?', 'somebody may be named in several words'),
  (4, 'How old is Ada?', 'What is ada''s age?', 'how old somebody is asks for the age'),
  (5, 'How old are you?', null, 'but nobody is asked for the age of the one who answers'),
  (6, 'Where is she from?', null, 'nor is a pronoun somebody who is known'),
  (7, 'What are we working on right now?', 'What is our project now?', 'what somebody works on is a project'),
  (8, 'When was Ada born?', 'What is ada''s birthday?', 'a birth has a day'),
  (9, 'Wie alt bin ich?', 'What is my age?', 'questions in other languages are read, too'),
  (10, 'A qué se dedica Ada', 'What is ada''s job?', 'with or without marks'),
  (11, 'What do I do if it rains?', null, 'a question with another end is another question'),
  (12, 'What do', null, 'and one that breaks off is none'),
  (13, 'What does ' || repeat('very ', 4) || 'much do?', null, 'a long description is no name'),
  (14, 'I do what I do for a living', null, 'statements stay as they are'),
  (15, '', null, 'an empty text asks for nothing'),
  (16, null, null, 'nor does NULL')
) as r (position, query, expected, what)
order by r.position;

select memory_test.as_tenant('restated') \g /dev/null
select memory.store_fact(f.subject, f.predicate, f.content, as_of => '2026-11-01Z')
from (values
  ('user', 'occupation', 'draws books'), ('user', 'home', 'lives in Cork'), ('user', 'wife', 'Kari, met in Bergen'),
  ('Kari', 'works_as', 'teaches chemistry'), ('Kari', 'born', 'in May 1986'), ('user', 'cat', 'a tabby called Biscuit'),
  ('Biscuit', 'insulin', 'two units'), ('user', 'goal', 'to publish a book'), ('user', 'age', '41'), ('user', 'car', 'a Volvo of 2015'), ('Kari', 'goal', 'a garden'),
  ('Rex', 'works_at', 'at the mill'), ('Rex', 'role', 'bites where we work'), ('Rex', 'height', '60 cm')
) as f (subject, predicate, content) \g /dev/null
select is(memory_test.first_answer(r.query), r.expected, r.what)
from (values
  (1, 'What do I do for a living?', 'draws books', 'who asks for a living does not ask for a home'),
  (2, 'What does my wife do?', 'teaches chemistry', 'what somebody does comes before who that is'),
  (3, 'What is my wife''s job?', 'teaches chemistry', 'whatever a fact calls it'),
  (4, 'How old is Kari?', 'in May 1986', 'a birthday tells an age'),
  (5, 'When does the cat need insulin?', 'two units', 'the cat is that of the user'),
  (9, 'How tall is Rex?', '60 cm', 'how tall somebody is asks for the height'),
  (8, 'Where does Rex work?', 'at the mill', 'where somebody works is an employer before it is a job'),
  (6, 'What is my ambition?', 'to publish a book', 'an ambition is a goal'),
  (7, 'How old is my car?', 'a Volvo of 2015', 'the age of a car is not that of the user')
) as r (position, query, expected, what)
order by r.position;
select is(memory.expand_query(r.query), r.expected, r.what)
from (values
  (1, 'What does Biscuit do?', 'What does Biscuit do?', 'a question stays as it is where no fact has what it asks for'),
  (2, 'How tall am I?', 'How tall am I?', 'also if it asks about the user'),
  (3, 'What does Biscuit do for a living?', 'What does Biscuit do for work?', 'but a living is work'),
  (9, 'When does the cat menu change?', 'When does the cat menu change?', 'a cat menu is no cat'),
  (10, 'What is my wife''s goal?', 'What is my wife''s goal? (Kari)', 'a word that the question has is not repeated'),
  (4, 'Who feeds the dog?', 'Who feeds the dog?', 'the dog is nobody if there is none'),
  (6, 'Who feeds the cat of Kari?', 'Who feeds the cat of Kari?', 'and the cat of somebody else is not that of the user'),
  (7, 'What does my wife do?', 'What is my wife''s job? (Kari, works as)', 'what is asked about somebody may be called otherwise, too'),
  (8, 'Where does my wife work?', 'Where does my wife work? (Kari)', 'as long as the question does not have the word'),
  (11, 'How tall is Rex?', 'What is rex''s height?', 'a property that a fact has is asked by its name'),
  (5, 'What do I do?', 'What is my job? (occupation)', 'else it is asked with the words of facts')
) as r (position, query, expected, what)
order by r.position;

-- Verbs in the past

select is(memory.use_past_forms(r.query), r.expected, r.what)
from (values
  (1, 'What did Emil lose?', 'What did Emil lost?', 'verbs after "did" are read as statements have them'),
  (2, 'DID WE BUY milk? We buy tea.', 'DID WE bought milk? We buy tea.', 'in the same sentence'),
  (3, 'Didn''t he want to go?', 'Didn''t he want to go?', 'but not after "to"'),
  (4, 'What do I lose?', 'What do I lose?', 'other questions stay as they are'),
  (5, 'Who did a and b and c and d and e meet?', 'Who did a and b and c and d and e meet?', 'and so does what is far away'),
  (8, 'When did the build fail?', 'When did the build fail?', 'nouns stay as they are'),
  (9, 'What did the doctor say I can eat?', 'What did the doctor say I can eat?', 'and so do other clauses'),
  (10, 'How did my morning run go?', 'How did my morning run went?', 'the last verb is changed'),
  (6, 'Where did she cook?', 'Where did she cook?', 'regular verbs are read by their stem anyway'),
  (7, null, null, 'NULL stays NULL')
) as r (position, query, expected, what)
order by r.position;
select memory_test.as_tenant('past') \g /dev/null
select memory.store_episode(e.content, 'home', as_of => '2026-11-01Z')
from unnest('{Emil lost a glove,Emil has to lose weight,Emil sang}'::text[]) as e (content) \g /dev/null
select is(memory_test.first_answer('What did Emil lose?'), 'Emil lost a glove', 'who asks what was lost finds it');
select results_eq(
  $$ select m.content from memory.keyword_search('episode', 'What did Emil sing?', keyword_match => 'any', as_of => '2026-11-02Z') as m limit 1 $$,
  $$ values ('Emil sang') $$, 'a search for words reads them so, too'
);
select memory.store_fact('Emil', 'teaches', 'at Yale', as_of => '2026-11-01Z') \g /dev/null
select is(memory_test.first_answer('What did Emil teach?'), 'at Yale', 'what is told in the present is found, if nothing else is');
select is(memory_test.first_answer('What may Emil lose?'), 'Emil has to lose weight', 'who asks what may be lost finds that');

-- What somebody asked

select is(round(memory.share_that_asks(r.content)::numeric, 2), r.expected, r.what)
from (values
  (1, 'What pet do you have?', 1.00, 'a text may be nothing but a question'),
  (2, 'Nice. What is it?', 0.71, 'or partly one'),
  (3, 'See https://x.y/?a=b', 0.00, 'a mark within an address asks nothing'),
  (4, '', 0.00, 'nor does an empty text'),
  (5, 'I don''t have that information yet. What is it?', 1.00, 'who does not know asks'),
  (6, 'You haven''t told me. I do not have a car.', 0.51, 'but not who has something else not'),
  (7, 'I''m allergic to peanuts, remember?', 0.00, 'or who reminds somebody of something'),
  (8, 'What is the door code? 4711.', 0.00, 'or who answers with a number')
) as r (position, content, expected, what)
order by r.position;
select is(
  memory.ends_with_question('Why?' || repeat(' ', r.spaces)), r.expected,
  format('a question mark %s characters before the end of a text %s', r.spaces, case when r.expected then 'counts' else 'does not count' end)
)
from (values (0, true), (99, true), (100, false)) as r (spaces, expected)
order by r.spaces;
select is(
  array(select w.word from unnest('{wife,job,mother,boss}'::text[]) as w (word) where memory.read_properties(array[w.word]) <> '{}'),
  '{job}', 'a person whom somebody has is no property'
);
select memory_test.as_tenant('asked') \g /dev/null
select memory.store_episode(e.content, 'home', as_of => '2026-11-01Z')
from unnest('{What is the password of the network?,"The password of the network at home is otter."}'::text[]) as e (content) \g /dev/null
select is(
  memory_test.first_answer('What is the password of the network?'),
  'The password of the network at home is otter.', 'what answers a question comes before the same question'
);
select is(
  memory_test.first_answer('When did I ask for the password of the network?'),
  'What is the password of the network?', 'unless it is asked for'
);
select memory_test.as_tenant('told') \g /dev/null
select memory.store_messages(c.messages::jsonb, 'home', session_id => c.id, as_of => '2026-11-01Z')
from (values
  (uuid '00000000-0000-0000-0000-00000000000a', '[{"role": "user", "content": "Is that the landlord?"}, {"role": "user", "content": "landlord Petrakis"}]'),
  (uuid '00000000-0000-0000-0000-00000000000b', '[{"role": "user", "content": "That is the landlord."}, {"role": "user", "content": "landlord Petrakis"}]')
) as c (id, messages) \g /dev/null
select results_eq(
  $$ select m.content, round((max(m.neighbor_boost) / min(m.neighbor_boost))::numeric, 2)
     from memory.rank_memories('landlord', as_of => '2026-11-02Z') as m
     group by 1 order by 2 desc, 1 $$,
  $$ values ('landlord Petrakis', 2.00), ('Is that the landlord?', 1.00), ('That is the landlord.', 1.00) $$,
  'what follows a question is lifted twice as much as what follows a statement'
);

select * from finish();
rollback;
