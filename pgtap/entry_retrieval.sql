begin;
\ir fixtures.sql
select plan(45);

select memory_test.as_tenant('b') \g /dev/null
select id as other from memory.create_entry('# Espresso of another tenant', as_of => '2025-01-01Z') \gset
select memory_test.as_tenant('a') \g /dev/null
select memory.register_embedding_version('model', '1', 384) as version \gset

-- One axis for each subject.
create function memory_test.entry(
  content text, axis integer, tags jsonb default '[]', confidence float8 default 0.8,
  entry_type text default 'note', created_at timestamptz default '2025-06-01Z'
)
  returns text
  language sql
as $$
  select c.entry_id from memory.create_entry(
    content, entry_type => entry.entry_type, tags => entry.tags, confidence => entry.confidence,
    embedding => memory_test.axis(axis), as_of => created_at
  ) as c;
$$;
create function memory_test.found(query text, axis integer default null, include_archived boolean default false, as_of timestamptz default '2025-06-02Z')
  returns text[]
  language sql
as $$
  select coalesce(array_agg(q.title order by q.ordinality), '{}')
  from memory.query(
    query, types => '{entry}', include_archived => found.include_archived,
    embedding => case when axis is not null then memory_test.axis(axis) end, as_of => found.as_of
  ) with ordinality as q;
$$;

select memory_test.entry(E'# Espresso\n\nAda drinks it every morning.', 1, '["drinks"]', 0.95, 'preference') as espresso \gset
select memory_test.entry(E'# React dashboard\n\nBuilt with Vite.', 2, '["React", "work"]', 0.75, 'fact') as dashboard \gset
select memory_test.entry(E'# Vite plugins\n\nThe list of plugins.', 3, '["work"]', 0.6) as plugins \gset
select memory_test.entry(E'# Old rumor about espresso\n\nSomebody heard it.', 4, '["drinks"]', 0.3) as rumor \gset
select memory.update_entry(:'dashboard', related => array[:'plugins'], as_of => '2025-06-01 01:00Z') \g /dev/null
select memory.store_fact('Ada', 'drinks', 'espresso', tags => '["drinks"]', as_of => '2025-06-01Z') \g /dev/null

-- Retrieval

select results_eq(
  $$ select r.title, r.tier, r.band, round(r.meaning::numeric, 2), r.total_found
     from memory.retrieve_entries('morning drink', embedding => memory_test.axis(1), as_of => '2025-06-02Z') as r $$,
  $$ values ('Espresso', 'featured', 'active', 1.00, 1::bigint) $$,
  'retrieval by meaning finds the entry, its tier and its band'
);
select results_eq(
  $$ select r.title from memory.retrieve_entries('plugins', mode => 'keyword', as_of => '2025-06-02Z') as r $$,
  $$ values ('Vite plugins') $$, 'retrieval by words finds the entry'
);
select results_eq(
  $$ select r.title from memory.retrieve_entries('nothing of the kind', mode => 'semantic', embedding => memory_test.axis(2), as_of => '2025-06-02Z') as r $$,
  $$ values ('React dashboard') $$, 'semantic retrieval ignores words'
);
select results_eq(
  $$ select r.title, r.hops from memory.retrieve_entries('what about react', mode => 'graph', as_of => '2025-06-02Z') as r $$,
  $$ values ('React dashboard', 0), ('Vite plugins', 1) $$,
  'the graph is entered at a tag and followed along related entries, whatever the case of the tag'
);
select results_eq(
  $$ select r.title, r.hops from memory.retrieve_entries('', mode => 'graph', tags => '["REACT"]', as_of => '2025-06-02Z') as r $$,
  $$ values ('React dashboard', 0), ('Vite plugins', 1) $$, 'the graph can be entered at named tags'
);
select results_eq(
  $$ select r.title from memory.retrieve_entries('What about React?', mode => 'graph', max_results => 1, as_of => '2025-06-02Z') as r $$,
  $$ values ('React dashboard') $$, 'a tag is found in a question with punctuation'
);
savepoint longer_way;
select memory_test.entry(E'# Rollup\n\nWhat the plugins are made for.', 7, '["bundlers"]', 0.9) as rollup \gset
select memory.update_entry(:'plugins', related => array[:'rollup'], as_of => '2025-06-01 01:30Z') \g /dev/null
select results_eq(
  $$ select r.title, r.hops from memory.retrieve_entries('react', mode => 'graph', as_of => '2025-06-02Z') as r $$,
  $$ values ('React dashboard', 0), ('Vite plugins', 1), ('Rollup', 2) $$,
  'the graph is followed over two links, also with a query'
);
select memory.delete_entry(:'plugins', as_of => '2025-06-01 02:00Z') \g /dev/null
select results_eq(
  $$ select r.title from memory.retrieve_entries('react', mode => 'graph', as_of => '2025-06-02Z') as r $$,
  $$ values ('React dashboard') $$, 'no way leads over an entry that is deleted'
);
rollback to longer_way;
savepoint tagged_long_ago;
select memory_test.entry(E'# Grunt\n\nAn old tool.', 7, '["legacy"]', 0.9, created_at => '2024-11-01Z') as grunt \gset
select memory.run_entry_upkeep('monthly', '2025-06-01Z') \g /dev/null
select results_eq(
  $$ select r.title, r.band from memory.retrieve_entries('legacy', mode => 'graph', as_of => '2025-06-02Z') as r $$,
  $$ values ('Grunt', 'aged') $$, 'a tag leads to an aged entry if there is nothing newer'
);
rollback to tagged_long_ago;
savepoint many_sure;
select memory_test.entry(format(E'# Coffee number %s is good', n), 8, '["drink"]', 0.7) from generate_series(1, 60) as n \g /dev/null
select memory_test.entry('# Coffee of an earlier day', 8, '["drink"]', 0.9, created_at => '2025-05-01Z') \g /dev/null
select is(
  (select q.title from memory.query(u.query, types => '{entry}', sort => 'confidence', max_results => 1, as_of => '2025-06-02Z') as q),
  'Coffee of an earlier day', u.what
)
from (values
  (1, 'coffee', 'the surest of all that fit comes first, not the surest of the most relevant ones'),
  (2, 'coffee tag:drink', 'also with a condition')
) as u (position, query, what)
order by u.position;
rollback to many_sure;
savepoint many_tagged;
do $many$
begin
  perform memory_test.entry(format(E'# Note %s\n\nOne of many.', n), 8, '["many"]', 0.9) from generate_series(1, 30) as n;
end;
$many$;
select is(
  (select count(*) from memory.retrieve_entries('', mode => 'graph', tags => '["many"]', max_results => 50, as_of => '2025-06-02Z')),
  30::bigint, 'all that have a tag are found at it, up to the limit'
);
rollback to many_tagged;
select memory_test.entry(E'# Old start', 9, '["start"]', 0.5) as start \gset
select memory_test.entry(E'# New link', 1, '[]', 0.9) as link \gset
select memory.create_link('entry', s.id, 'entry', l.id, 'related_to')
from memory.entries as s
cross join memory.entries as l
where s.entry_id = :'start' and l.entry_id = :'link' \g /dev/null
select results_eq(
  $$ select r.title, r.hops from memory.retrieve_entries('', mode => 'graph', tags => '["start"]', as_of => '2025-06-02Z') as r $$,
  $$ values ('Old start', 0), ('New link', 1) $$, 'without a text, what is nearer in the graph comes first'
);
rollback to many_tagged;
select is(
  (select r.linked > 0 and r.hops = 1 from memory.retrieve_entries('vite', embedding => memory_test.axis(2), as_of => '2025-06-02Z') as r where r.title = 'Vite plugins'),
  true, 'links to what fits are a part of the score of their own'
);
select is(
  (select r.linked from memory.retrieve_entries('morning', embedding => memory_test.axis(1), as_of => '2025-06-02Z') as r limit 1),
  0::float8, 'an entry does not support itself'
);
select results_eq(
  $$ select r.title from memory.retrieve_entries('somebody heard a rumor', as_of => '2025-06-02Z') as r $$,
  $$ values ('Old rumor about espresso') $$, 'an entry of very low confidence is returned if there is nothing else'
);
select results_eq(
  $$ select q.title from memory.query('somebody heard a rumor', as_of => '2025-06-02Z') as q $$,
  $$ values ('Old rumor about espresso') $$, 'also by a query of all types'
);
savepoint doubted;
select memory_test.entry(E'# Doubted rumor\n\nNobody believes in the unicorn.', 9, '[]', 0.1) as doubted \gset
select memory.store_fact('Ada', 'owns', 'a unicorn', confidence => 0.15, as_of => '2025-06-01Z') \g /dev/null
select results_eq(
  $$ select q.memory_type, q.title from memory.query('unicorn', as_of => '2025-06-02Z') as q $$,
  $$ values ('entry', 'Doubted rumor') $$,
  'however low the confidence of an entry is; of other types, min_confidence decides'
);
rollback to doubted;
select results_eq(
  $$ select r.title from memory.retrieve_entries('espresso', as_of => '2025-06-02Z') as r $$,
  $$ values ('Espresso') $$, 'an entry of very low confidence is left out beside others'
);
select is(
  memory_test.found('espresso confidence:<0.5'), '{Old rumor about espresso}',
  'an entry of very low confidence is returned to a query that asks for its confidence'
);
select results_eq(
  $$ select r.title, r.tier from memory.retrieve_entries('plugins', as_of => '2025-06-02Z') as r where r.hops is null $$,
  $$ values ('Vite plugins', 'warned') $$, 'an entry of low confidence is marked'
);

-- Filters

select results_eq(
  $$ select r.title from memory.retrieve_entries('vite', entry_types => '{fact}', as_of => '2025-06-02Z') as r $$,
  $$ values ('React dashboard') $$, 'retrieval can be limited to types of entries'
);
select results_eq(
  $$ select r.title from memory.retrieve_entries('', tags => '["work", "none"]', sort => 'title', as_of => '2025-06-02Z') as r $$,
  $$ values ('React dashboard'), ('Vite plugins') $$, 'retrieval can be limited to entries with one of some tags'
);
select results_eq(
  $$ select r.title from memory.retrieve_entries('', confidence_min => 0.7, confidence_max => 0.8, as_of => '2025-06-02Z') as r $$,
  $$ values ('React dashboard') $$, 'retrieval can be limited to a range of confidence'
);
select is_empty(
  $$ select from memory.retrieve_entries('', created_after => '2025-06-01 00:00:01Z', as_of => '2025-06-02Z') $$,
  'retrieval can be limited to entries created after a time'
);
select results_eq(
  format($$ select r.title from memory.retrieve_entries('vite', exclude_ids => array[%L, 'mem-1999-01-01-001'], as_of => '2025-06-02Z') as r $$, :'dashboard'),
  $$ values ('Vite plugins') $$, 'retrieval can exclude entries'
);
select results_eq(
  $$ select r.title from memory.retrieve_entries('vite AND NOT tag:react', is_expression => true, entry_types => '{note,fact}', as_of => '2025-06-02Z') as r $$,
  $$ values ('Vite plugins') $$, 'an expression and filters apply together'
);
select is_empty(
  $$ select from memory.retrieve_entries('tag:work AND', is_expression => false, mode => 'semantic', embedding => memory_test.axis(9), as_of => '2025-06-02Z') $$,
  'a question in plain words is not read as an expression'
);
select throws_ok($$ select memory.retrieve_entries('tag:work AND', is_expression => true) $$, 'PM007', null, 'a malformed expression is refused');
select throws_ok($$ select memory.retrieve_entries('x', mode => 'semantic') $$, 'PM002', null, 'semantic retrieval needs a vector');
select throws_ok($$ select memory.retrieve_entries('x', entry_types => '{rumor}') $$, 'PM002', null, 'an unknown type of entry is refused');
select throws_ok($$ select memory.retrieve_entries('x', confidence_min => 0.8, confidence_max => 0.7) $$, 'PM002', null, 'a range of confidence that ends before it begins is refused');
select throws_ok($$ select memory.retrieve_entries('x', created_after => '2025-02-01Z', created_before => '2025-01-01Z') $$, 'PM002', null, 'an interval that ends before it begins is refused');

-- Accesses

select is(
  (select e.reference_count from memory.entries as e where e.entry_id = :'plugins' and e.tenant_id = 'a') > 3, true,
  'retrieval counts accesses'
);
select e.reference_count as counted from memory.entries as e where e.entry_id = :'plugins' and e.tenant_id = 'a' \gset
select r.reference_count as shown from memory.retrieve_entries('plugins', mode => 'keyword', as_of => '2025-06-03Z') as r \gset
select results_eq(
  format($$ select %s, e.reference_count from memory.entries as e where e.entry_id = %L and e.tenant_id = 'a' $$, :shown, :'plugins'),
  format($$ values (%s, %s) $$, :counted, :counted + 1), 'each retrieval counts one access, and shows the number before'
);

-- Queries over all types

select results_eq(
  $$ select q.memory_type, q.title from memory.query('espresso', as_of => '2025-06-02Z') as q order by 1, 2 $$,
  $$ values ('entry', 'Espresso'), ('fact', 'Ada') $$, 'a query finds memories of all types'
);
select results_eq(
  $$ select q.memory_type, q.title from memory.query('tag:drinks', sort => 'title', as_of => '2025-06-02Z') as q $$,
  $$ values ('fact', 'Ada'), ('entry', 'Espresso') $$, 'conditions apply to all types that have the column'
);
select results_eq(
  $$ select q.memory_type, q.title, q.keyword_score, q.words
     from memory.query('espresso morning unheard-of tag:drinks', as_of => '2025-06-02Z') as q order by 1, 2 $$,
  $$ select q.memory_type, q.title, q.keyword_score, q.words
     from memory.query('espresso morning unheard-of', as_of => '2025-06-02Z') as q order by 1, 2 $$,
  'the words of a query weigh the same with a condition'
);
select is(memory_test.found('rumor OR tag:react'), '{React dashboard}', 'what meets a condition need not fit the text of another');
select is_empty($$ select from memory.query('espresso', types => '{entry}', scope => 'garage', as_of => '2025-06-02Z') where memory_type <> 'entry' $$, 'a query in a scope finds global entries only beside its own');

-- Age

select is(memory_test.found('espresso', 1, as_of => '2025-11-30Z'), '{Espresso}', 'an aged entry is loaded where others do not fill the answer');
select memory.run_entry_upkeep('monthly', '2025-11-30Z') \g /dev/null
select is(memory_test.found('espresso', 1, as_of => '2025-11-30Z'), '{Espresso}', 'an aged entry is also found once it has left the search indexes');
select is(memory_test.found('espresso', 1, as_of => '2026-06-02Z'), '{}', 'an archived entry is not found');
select is(memory_test.found('espresso', 1, true, '2026-06-02Z'), '{Espresso}', 'an archived entry is found if asked for');
select is_empty(
  format($$ select from memory.query('espresso', include_archived => true, as_of => '2026-06-02Z') as q where q.id = %L $$, :'other'),
  'entries of another tenant are never found'
);

select * from finish();
rollback;
