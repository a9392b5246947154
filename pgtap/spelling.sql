begin;
\ir fixtures.sql
select plan(54);

-- Slips of the pen

select set_eq(
  $$ select s.spelling, s.slip from memory.near_spellings('tea') as s
     where s.spelling = any ('{tae,eta,te,team,treat,tex,tia,tep,sea,tea,teea}') $$,
  $$ values ('tae', 1), ('eta', 1), ('te', 3), ('team', 2), ('tia', 4), ('teea', 1) $$,
  'a slip is two letters in the wrong order, one too few, one too many, or one that is like it'
);
select results_eq(
  $$ select s.slip from memory.near_spellings('letter') as s where s.spelling in ('leter', 'letters')
     order by s.spelling $$,
  array[1, 2],
  'a letter that is doubled is likelier than any other one'
);
select is_empty($$ select s.* from memory.near_spellings(null) as s $$, 'no word has no spellings');

-- Queries

select memory_test.as_tenant('a');
select memory.store_fact('Ada', 'instrument', 'a theodolite with a quokka on it', scope => 'global');
select memory.store_fact('Ada', 'likes', 'zeppelins and pierogis');
select memory.store_fact('Mateus', 'hobby', 'bouldering');
select memory.store_fact('Marina', 'lives_in', 'Halifax');
select memory.store_fact('Ada', 'secret', 'a brontosaurus', scope => 'home');
select memory.store_rule('Call the chandlery early');
select memory.store_episode('We chose the bandoneon', 'work');
select memory.store_fact('Ada', 'mail', 'theodolyte@example.org');
select memory.store_fact('Karina', 'employer', 'Knauss in Zürich');
select memory.store_fact('Ada', 'dances', 'in a swing club');
select memory.store_fact('Ada', 'asks', 'write to brunhilde@example.org, Brunhilde bakes zwiebelkuchen');
select memory.store_fact('Ada', 'doubts', 'the velociraptor', confidence => 0.05);
select memory_test.as_tenant('b');
select memory.store_fact('Ada', 'owns', 'a pterodactyl');
select memory_test.as_tenant('a');

select results_eq(
  $$ select q.query, memory.expand_query(q.query)
     from unnest(array[
       'Where is the tehodolite?', 'Where is the theodoltie?', 'Where is the theoddolite?',
       'Where is the theodlite?', 'Where is the theodxlite?', 'Where is the THEODOLITE?',
       'Where is the THEODOLTIE?'
     ]) with ordinality as q (query, position)
     order by q.position $$,
  $$ values ('Where is the tehodolite?', 'Where is the theodolite?'),
     ('Where is the theodoltie?', 'Where is the theodolite?'),
     ('Where is the theoddolite?', 'Where is the theodolite?'),
     ('Where is the theodlite?', 'Where is the theodolite?'),
     ('Where is the theodxlite?', 'Where is the theodxlite?'),
     ('Where is the THEODOLITE?', 'Where is the THEODOLITE?'),
     ('Where is the THEODOLTIE?', 'Where is the THEODOLITE?') $$,
  'a word with one slip becomes the word that a memory has; any other stays'
);
select is(
  memory.expand_query('Does a theodokite have a qoukka?'), 'Does a theodolite have a quokka?',
  'another letter is one beside it on a keyboard; several words may be wrong'
);
select is(
  memory.expand_query('When do I call the chandelry?'), 'When do I call the chandlery?',
  'rules have words, too'
);
select is(
  memory.expand_query('Who chose the bandonoen?'), 'Who chose the bandoneon?', 'and episodes'
);
select is(
  memory.expand_query('Is there a zepelin?'), 'Is there a zeppelins?',
  'a plural is the same word'
);
select is(
  memory.expand_query('Where do I boudler?'), 'Where do I bouldering?',
  'so is another form, which takes its place'
);
select is(
  memory.expand_query('How do I take my cofffee and my mediction?'),
  'How do I take my cofffee and my mediction?',
  'a word that resembles none that a memory has stays'
);
select is(
  (select array_agg(m.content) from memory.recall('tehodolite') as m),
  array['a theodolite with a quokka on it'],
  'recall finds what is meant'
);
select is(
  (select array_agg(m.content) from memory.search('tehodolite') as m),
  array['a theodolite with a quokka on it'],
  'so does search'
);
select is(
  (select array_agg(m.content) from memory.query('tehodolite') as m),
  array['a theodolite with a quokka on it'],
  'so does the query language'
);
select is(
  (
    select (array_agg(m.content order by m."position"))[1]
    from memory.recall_explain('tehodolite') as m
  ),
  'a theodolite with a quokka on it',
  'so does the explanation'
);

-- Names

select is(
  (
    select (array_agg(m.content order by m.score desc, m.id))[1]
    from memory.recall('What does Matues do in his free time?') as m
  ),
  'bouldering',
  'a misspelled name is that of whom it resembles'
);
select is(memory.expand_query('Matues?'), 'Mateus?', 'also as the first word');
select is(
  memory.expand_query('Is Marinka here?'), 'Is Marinka here?', 'but another name stays another name'
);
select is(memory.expand_query('is marinka here?'), 'is marinka here?', 'also in lowercase');
select results_eq(
  $$ select memory.expand_query(q.query)
     from unnest(array[
       'Is Brunhlde here?', 'is brunhlde here?', 'what does the zwiebelkuche cost?'
     ]) with ordinality as q (query, position)
     order by q.position $$,
  array['Is Brunhlde here?', 'is brunhlde here?', 'what does the zwiebelkuchen cost?'],
  'and where a missing letter makes it an odd word, also beside an address'
);
select is(
  memory.expand_query('Is Karnia at Kanuss?'), 'Is Karina at Knauss?', 'names end as they do'
);
select is(
  memory.expand_query('Where is Zurcih?'), 'Where is Zurich?', 'accents do not count'
);

-- What stays as it is

select is(memory.expand_query('the qukka'), 'the quokka', 'words of five letters are read');
select is(memory.expand_query('the zepp'), 'the zepp', 'words of up to four letters stay');
select is(
  memory.expand_query('Are there quilts and zeppelins, and do I live among them?'),
  'Are there quilts and zeppelins, and do I live among them?',
  'common words and those that memories have stay'
);
select is(
  memory.expand_query('What do I do for a living? Which other house do I want?'),
  'What do I do for a living? Which other house do I want?',
  'no word of a question is misspelled because no memory has it'
);
select is(
  memory.expand_query('Wann habe ich meine Termine vereinbart, welche waren gestern?'),
  'Wann habe ich meine Termine vereinbart, welche waren gestern?',
  'nor is that of another language'
);
select results_eq(
  $$ select memory.expand_query(q.query)
     from unnest(array[
       'Where is my kitchen timer?', 'Do I take statins or retinol for shingles?',
       'When does the sewing class begin?', 'Is the outage of the throughput over?',
       'What did christina say about grenada?',
       'Why doesnt it work, and wheres the oughtn''t?'
     ]) with ordinality as q (query, position)
     order by q.position $$,
  array[
    'Where is my kitchen timer?', 'Do I take statins or retinol for shingles?',
    'When does the sewing class begin?', 'Is the outage of the throughput over?',
    'What did christina say about grenada?',
    'Why doesnt it work, and wheres the oughtn''t?'
  ],
  'a word that looks like one stays, though no memory has it'
);
select is(
  memory.expand_query('Wo ist der theodxolite?'), 'Wo ist der theodxolite?',
  'a letter too many is read in English questions only'
);
select is(
  memory.expand_query('Where is the theodxolite?'), 'Where is the theodolite?',
  'where a word of nine letters leaves no doubt'
);
select set_eq(
  $$ select w.word from unnest('{tuesday,gestern,daughter,choose,theodolite}'::text[]) as w (word)
     where memory.is_read_as_such(w.word) $$,
  array['tuesday', 'gestern', 'daughter', 'choose'],
  'words of times and relations and verbs are read as such'
);
select memory.store_fact('Ada', 'met', 'a gesterna');
select is(
  memory.expand_query('the gestern'), 'the gestern', 'and stay, though they resemble what a memory has'
);
select is(
  memory.expand_query(
    'a tehodolite@example.org b /tehodolite c tehodolite.py d tehodolite_2 e ?q=tehodolite f '
    'tehodolite-club Tehodolite g tehodolite.'
  ),
  'a tehodolite@example.org b /tehodolite c tehodolite.py d tehodolite_2 e ?q=tehodolite f '
  'tehodolite-club Theodolite g theodolite.',
  'addresses, names of files and parts of compounds stay, also beside the word itself'
);
select is(
  memory.expand_query('Where is the theodolyte?'), 'Where is the theodolite?',
  'a part of an address is no word that is known'
);
select is(memory.expand_query('"tehodolite"'), '"tehodolite"', 'quotations stay');
select is(memory.expand_query('“tehodolite”'), '“tehodolite”', 'however they are quoted');
select is(
  memory.expand_query('what is `tehodolite` or tehodolite() or TehodoLite'),
  'what is `tehodolite` or tehodolite() or TehodoLite',
  'and so does code'
);
select is(
  memory.expand_query('tehodolite qukka bandonoen'), 'tehodolite qukka bandonoen',
  'where most words are unknown, all stay'
);
select is(
  memory.expand_query('Where is the brontosuarus?'), 'Where is the brontosaurus?', 'without a scope'
);
select is(
  memory.expand_query('Where is the brontosuarus?', 'work'), 'Where is the brontosuarus?',
  'words of another scope are not told'
);
select is(
  memory.expand_query('Where is the pterodactly?'), 'Where is the pterodactly?',
  'nor are those of another tenant'
);
select is(
  memory.expand_query('the veolciraptor'), 'the veolciraptor',
  'nor those of facts that are too doubtful to be found'
);
select is(
  memory.expand_query('tehodolite ' || repeat('x ', 150)), 'tehodolite ' || repeat('x ', 150),
  'a long prompt stays'
);
select is(memory.expand_query(null), null, 'no query is none');
select is(
  memory.expand_query('tehodolite (.*) \1 ''; drop'), 'theodolite (.*) \1 ''; drop',
  'what is no word stays'
);
select is(
  (select count(*) from memory.hybrid_search('fact', 'tehodolite') as m), 0::bigint,
  'the ranking by lists takes words as they are'
);

-- Who asks again

select memory.store_episode('Where is the tehodolite?', 'work');
select is(
  memory.expand_query('Where is the tehodolite?'), 'Where is the theodolite?',
  'an episode that asks makes no word known'
);
select memory.store_episode('I wrote tehodolite.', 'work');
select is(
  memory.expand_query('Where is the tehodolite?'), 'Where is the tehodolite?', 'one that tells does'
);

-- Only what is there now

select memory.forget_memory('episode', (
  select m.id from memory.recall('bandoneon', types => '{episode}') as m
));
select is(
  memory.expand_query('Who chose the bandonoen?'), 'Who chose the bandonoen?',
  'words of forgotten memories are not told'
);
select memory.store_episode('We saw a tyrannosaur', 'work');
select is(
  memory.expand_query('Who saw the tyrannosuar?'), 'Who saw the tyrannosaur?', 'until it expires'
);
select is(
  memory.expand_query('Who saw the tyrannosuar?', as_of => now() + interval '1 year'),
  'Who saw the tyrannosuar?',
  'words of expired memories are not told'
);
select memory.store_fact('Ada', 'instrument', 'a sextant', scope => 'global');
select is(
  memory.expand_query('theoddolite'), 'theoddolite', 'nor are those of what is no longer so'
);
select is(memory.expand_query('a setxant'), 'a sextant', 'but of what is so instead');

-- Of many memories

select memory_test.as_tenant('large');
insert into memory.entries (tenant_id, entry_id, content, entry_type, created_at, edited_at)
select 'large', 'mem-2026-01-01-' || n, 'Day ' || n || repeat(' and night', 60), 'note', d.day, d.day
from generate_series(1000, 2999) as n
cross join lateral (values (timestamptz '2020-01-01Z' + n * 7919 % 2000 * interval '1 day')) as d (day);
analyze memory.entries;
create temporary table entries_read as
select i.indexrelid, pg_stat_get_xact_tuples_returned(i.indexrelid) as before
from pg_index as i
where i.indrelid = 'memory.entries'::regclass;
select memory.expand_query('Where is the sextant?');
select cmp_ok(
  (
    select sum(pg_stat_get_xact_tuples_returned(r.indexrelid) - r.before)
    from entries_read as r
  ), '<', 200::numeric,
  'a word that few memories or none have is looked up without reading all memories'
);


select memory_test.as_tenant('small');
select memory.configure('{"text_search_config": "german"}') \g /dev/null
select is(
  memory.unknown_words('Was liegt zwischen Koblenz', null, memory.current_settings(), now()), '{liegt,Koblenz}',
  'a word that the language of the texts does not index is not unknown'
);

select * from finish();
rollback;
