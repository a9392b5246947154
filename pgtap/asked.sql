-- What a query asks for: facts whose predicate it contains, and more than a name.
begin;
\ir fixtures.sql
select plan(49);

select memory.register_embedding_version('model', '1') as version_id \gset
select memory.store_fact(f.subject, f.predicate, f.content, embedding => memory_test.near(f.similarity), as_of => '2026-11-01Z')
from (values
  ('shop', 'deployed_with', 'the usual tool', 0.1), ('user', 'drives', 'a van', 0.1), ('Ann', 'drives', 'a bus', 0.3),
  ('Ann', 'sings', 'alto', 0.29), ('shop', 'is_in', 'Kiel', 0.1), ('shop', 'hours', 'we deploy at night', 0.28),
  ('user', 'works_at', 'Acme', 0.1), ('shop', 'name', 'Bits', 0.1), ('user', 'works_as', 'a cook', 0.2), ('user', 'do_not_call', 'before nine', 0.1)
) as f (subject, predicate, content, similarity) \g /dev/null
select memory.store_episode(e.content, 'b', embedding => memory_test.near(e.similarity), as_of => '2026-11-01Z')
from (values
  ('Deployed the shop twice before noon', 0.1), ('The old van drives', 0.1), ('Ann was late', 0.3), ('Call me', 0.1)
) as e (content, similarity) \g /dev/null

create function memory_test.first_of(query text)
  returns text
  language sql
  return (
    select coalesce(m.subject || ' ' || m.predicate, m.content)
    from memory.search(
      first_of.query, max_results => 1, min_relevance => 0, embedding => memory_test.axis(1), as_of => '2026-11-02Z'
    ) as m
  );
select is(memory_test.first_of(q.query), q.expected, q.what)
from (values
  (1, 'How do we deploy?', 'shop deployed_with', 'a fact whose predicate the query contains comes before a remark with the same word'),
  (2, 'How should I deploy the shop?', 'shop deployed_with', 'the query may also name its subject, and ask how something is done'),
  (3, 'What did we deploy?', 'Deployed the shop twice before noon', 'but who asks what happened asks for no such fact'),
  (4, 'What do I drive?', 'user drives', 'who asks about himself or herself asks for the own fact under it'),
  (5, 'What does Ann drive?', 'Ann drives', 'who names somebody asks for the fact of whom is named'),
  (6, 'Who drives?', 'Ann drives', 'who names nobody asks for that of anybody'),
  (7, 'What do I work as?', 'user works_as', 'of several such facts the one that fits best by meaning comes first'),
  (8, 'Whom do I call?', 'Call me', 'a predicate that says no answers nothing else'),
  (9, 'What is the shop in?', 'Deployed the shop twice before noon', 'a predicate without a word of its own is contained in no query'),
  (10, 'What does Ann do?', 'Ann drives', 'a query with a name alone finds what is known before remarks with that name'),
  (11, 'Ann', 'Ann drives', 'also if it is no question'),
  (12, 'Was Ann late?', 'Ann was late', 'unless it asks for more'),
  (13, 'How is Ann?', 'Ann was late', 'or how somebody is'),
  (14, 'What is the name of the shop?', 'shop name', 'who asks for a name asks for what is under it'),
  (15, 'What is the shop called?', 'shop name', 'who asks what something is called asks for that, too')
) as q (position, query, expected, what)
order by q.position;
create function memory_test.best_of(query text)
  returns float8
  language sql
  return (
    select max(m.relevance)
    from memory.search(best_of.query, min_relevance => 0, embedding => memory_test.axis(1), as_of => '2026-11-02Z') as m
    where m.predicate = 'drives'
  );
select cmp_ok(
  memory_test.best_of(q.query), '<', memory_test.best_of('Who drives?') - 0.3,
  'who asks for more than a predicate asks for nobody else''s: ' || q.query
)
from unnest('{"Noah''s drives","Noah drives","the drives of Noah"}'::text[]) as q (query);
select memory.configure('{"episode_words_weight": 0}') \g /dev/null
select cmp_ok(
  memory_test.best_of('Who drives?'), '<', 0.7::float8, 'words that do not count in full lift nothing'
);

-- News comes before the fact that it replaces, also if the query contains its predicate.
select memory_test.as_tenant('news');
select memory.register_embedding_version('model', '1') as news_version_id \gset
select memory.store_fact('user', 'drives', 'a Golf', embedding => memory_test.near(0.5), as_of => '2026-10-01Z') \g /dev/null
select memory.store_fact(
  'user', 'news', 'sold the Golf and no longer needs it', embedding => memory_test.near(0.45), as_of => '2026-11-01Z'
) \g /dev/null
select results_eq(
  $$ select m.predicate from memory.rank_memories(
       'What do I drive?', embedding => memory_test.axis(1), as_of => '2026-11-02Z'
     ) as m $$,
  $$ values ('news'), ('drives') $$,
  'news comes before the fact that the query asks for'
);

-- What happened to somebody is what was said about them.
select memory_test.as_tenant('happenings');
select memory.register_embedding_version('model', '1') as happenings_version_id \gset
select memory.store_fact('Ann', f.predicate, f.content, embedding => memory_test.near(f.similarity), as_of => '2026-11-01Z')
from (values ('sings', 'alto', 0.5), ('lives_in', 'Kiel', 0.45)) as f (predicate, content, similarity) \g /dev/null
select memory.store_episode(e.content, 'b', embedding => memory_test.near(e.similarity), as_of => '2026-11-01Z')
from (values ('Ann broke a leg on the stairs', 0.4), ('The stairs were painted', 0.42), ('It rained', 0.3)) as e (content, similarity) \g /dev/null
select is(memory_test.first_of(q.query), q.expected, q.what)
from (values
  (1, 'What happened to Ann?', 'Ann broke a leg on the stairs', 'who asks what happened to somebody asks for what was said about them'),
  (2, 'What went wrong with the stairs?', 'The stairs were painted', 'or about a thing'),
  (3, 'What happened to Ann on the stairs?', 'Ann broke a leg on the stairs', 'with all that the question names'),
  (4, 'What happened to Ann in the garden?', 'Ann sings', 'not with only some of it'),
  (5, 'What happened?', 'Ann sings', 'who names nothing asks for no remark in particular'),
  (6, 'Who is Ann?', 'Ann sings', 'nor who does not ask what happened'),
  (7, 'What''s new with Ann?', 'Ann broke a leg on the stairs', 'who asks for news asks what happened'),
  (8, 'What is the latest on the stairs?', 'The stairs were painted', 'in other words, too')
) as q (position, query, expected, what)
order by q.position;

-- What somebody is to the user names them, too.
select memory_test.as_tenant('sons');
select memory.register_embedding_version('model', '1') as sons_version_id \gset
select memory.store_fact(f.subject, f.predicate, f.content, embedding => memory_test.near(f.similarity), as_of => '2026-11-01Z')
from (values
  ('user', 'son', 'Ben, 9', 0.4), ('Ben', 'works_as', 'cook', 0.1), ('Ben', 'lives_in', 'Kiel', 0.5), ('user', 'job', 'smith', 0.3),
  ('user', 'phone_number', '555 12', 0.2), ('Ben', 'phone_number', '555 13', 0.45), ('Ben', 'birthday', '3 May', 0.1)
) as f (subject, predicate, content, similarity) \g /dev/null
select is(
  memory_test.first_of('What is my son''s job?'), 'Ben works_as',
  'who asks for what somebody has who is mentioned asks for the fact about them'
);
select is(
  memory_test.first_of('What is my phone?'), 'user phone_number',
  'who asks for the own property asks for nobody else''s, also if a fact calls it otherwise'
);
select isnt(
  memory_test.first_of('When is my son''s dad''s birthday?'), 'Ben birthday',
  'nor for that of whom somebody mentioned has'
);

-- What a property is called in a fact is added to the query.
select memory_test.as_tenant('properties');
select memory.store_fact('user', f.predicate, f.content, as_of => '2026-11-01Z')
from (values
  ('role', 'lead of the team'), ('lives_in', 'Kiel'), ('company', 'Acme, since 2020'), ('phone_number', '555 12'), ('email_address', 'a@b.c')
) as f (predicate, content) \g /dev/null
select memory.store_fact(f.subject, 'likes', 'a beer', as_of => '2026-11-01Z')
from (values ('team'), ('Acme')) as f (subject) \g /dev/null
select is(memory.expand_query(q.query), q.query || coalesce(' (' || q.added || ')', ''), q.what)
from (values
  (1, 'What is my job?', 'role', 'a property has many names'),
  (2, 'Was ist mein Beruf?', 'role', 'also in other languages'),
  (3, 'What is my role?', null, 'a property with the name that the query uses adds nothing, and the lead of a team is not the team'),
  (4, 'my former job', 'role', 'what was before is called the same'),
  (5, 'my former colleague', null, 'but somebody else is not'),
  (6, 'Where is my company?', 'Acme', 'a property may be somebody'),
  (7, 'What is my employer''s address?', 'Acme', 'under any of its names'),
  (8, 'How much is my phone bill?', null, 'a word that belongs to the next one is no property'),
  (9, 'Was ist meine Handynummer?', 'phone number', 'one at the end is'),
  (10, 'my phone and my home address', 'phone number, lives in', 'several are added in their order'),
  (11, 'Quelle est mon adresse e-mail ?', null, 'an address of mail is no place')
) as q (position, query, added, what)
order by q.position;
select memory.store_fact('user', 'job', 'cook', as_of => '2026-11-01Z') \g /dev/null
select is(memory.expand_query('What is my job?'), 'What is my job?', 'of several names, that of the query counts');

-- What somebody should do

select memory_test.as_tenant('duty') \g /dev/null
select memory.register_embedding_version('model', '1') \g /dev/null
select memory.store_fact(
  'Greta Olsen', 'prefers', 'phone calls before ten', embedding => memory_test.near(0.2), as_of => '2026-11-01Z'
) \g /dev/null
select memory.store_episode(
  'Greta called: the export failed', 'b', embedding => memory_test.near(0.2), as_of => '2026-11-01Z'
) \g /dev/null
select is(memory_test.first_of(q.query), q.expected, q.what)
from (values
  (1, 'When did Greta call?', 'Greta called: the export failed', 'what happened is told by what somebody said'),
  (2, 'When should I call Greta?', 'Greta Olsen prefers', 'what should be done, by what is known'),
  (3, 'May I call Greta?', 'Greta Olsen prefers', 'so is what may be done'),
  (4, 'Does Greta call in May?', 'Greta called: the export failed', 'May is a month')
) as q (position, query, expected, what)
order by q.position;

-- What somebody said about those whom a question mentions

select memory_test.as_tenant('said') \g /dev/null
select memory.register_embedding_version('model', '1') \g /dev/null
select memory.store_fact(
  'user', 'girlfriend', 'Salome, studies medicine', embedding => memory_test.near(0.5), as_of => '2026-11-01Z'
) \g /dev/null
select memory.store_episode(e.content, 'b', embedding => memory_test.near(e.similarity), as_of => '2026-11-01Z')
from (values ('Salome visits soon', 0.6), ('Salome is tired', 0.4)) as e (content, similarity) \g /dev/null
select is(
  memory_test.first_of('When does my girlfriend come?'), 'Salome visits soon', 'what fits better by meaning comes before who somebody is'
);
select memory.forget_memory('episode', e.id, as_of => '2026-11-01Z') from memory.episodes as e where e.content = 'Salome visits soon' \g /dev/null
select is(
  memory_test.first_of('When does my girlfriend come?'), 'user girlfriend', 'but not what fits worse'
);

select * from finish();
rollback;
