-- What a query asks for: facts whose predicate it contains, and more than a name.
begin;
\ir fixtures.sql
select plan(15);

select memory.register_embedding_version('model', '1') as version_id \gset
select memory.store_fact(f.subject, f.predicate, f.content, embedding => memory_test.near(f.similarity), as_of => '2026-11-01Z')
from (values
  ('shop', 'deployed_with', 'the usual tool', 0.1), ('user', 'drives', 'a van', 0.1), ('Ann', 'drives', 'a bus', 0.3),
  ('Ann', 'sings', 'alto', 0.29), ('user', 'is_in', 'Kiel', 0.1), ('shop', 'hours', 'we deploy at night', 0.28),
  ('user', 'role', 'lead of the team', 0.2), ('team', 'likes', 'a beer', 0.2)
) as f (subject, predicate, content, similarity) \g /dev/null
select memory.store_episode(e.content, 'b', embedding => memory_test.near(e.similarity), as_of => '2026-11-01Z')
from (values ('Deployed the shop twice before noon', 0.1), ('The old van drives', 0.1), ('Ann was late', 0.3)) as e (content, similarity) \g /dev/null

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
  (2, 'What do I drive?', 'user drives', 'who asks about himself or herself asks for the own fact under it'),
  (3, 'What does Ann drive?', 'Ann drives', 'who names somebody asks for the fact of whom is named'),
  (4, 'Which one drives?', 'Ann drives', 'who names nobody asks for that of anybody'),
  (5, 'In what am I?', 'Ann drives', 'a predicate without a word of its own is contained in no query'),
  (6, 'What does Ann do?', 'Ann drives', 'a query with a name alone finds what is known before remarks with that name'),
  (7, 'Was Ann late?', 'Ann was late', 'unless it asks for more'),
  (8, 'What''s the tool that it''s deployed with?', 'shop deployed_with', 'an apostrophe alone makes nobody an owner')
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
  memory_test.best_of('Noah''s drives'), '<', memory_test.best_of('Noah drives') - 0.1,
  'who asks for what somebody else has does not ask for that of others'
);
select is(memory.expand_query(q.query), q.expected, q.what)
from (values
  (1, 'What is my job?', 'What is my job? (role)', 'what a property is called in a fact is added to the query'),
  (2, 'Was ist mein Beruf?', 'Was ist mein Beruf? (role)', 'also if it is called so in another language'),
  (3, 'What is my role?', 'What is my role?', 'not if the query says it already, and a property names nobody'),
  (4, 'my former job', 'my former job (role)', 'what was before is called the same'),
  (5, 'my former team lead', 'my former team lead', 'but somebody else is not')
) as q (position, query, expected, what)
order by q.position;
select is(memory_test.first_of('What is my job?'), 'user role', 'so the fact is found by its own word');

select * from finish();
rollback;
