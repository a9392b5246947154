begin;
\ir fixtures.sql
select plan(104);

-- What entries say

select results_eq(
  $$ select s.fold from unnest(array[
       'The user likes "tea".', '  THE user likes  *tea*!', 'Thé user – likes tea…', '3.5 apples', '35 apples',
       'C++', 'C', 'tea?', '-5 degrees', '(see `x_y`)', '—'
     ]) with ordinality as t (text, place)
     cross join lateral memory.fold_statement(t.text) as s (fold) order by t.place $$,
  $$ values ('the user likes tea'), ('the user likes tea'), ('the user likes tea'), ('3.5 apples'), ('35 apples'),
     ('c++'), ('c'), ('tea?'), ('-5 degrees'), ('see x_y'), ('') $$,
  'statements are equal but for case, accents, whitespace and the punctuation around words'
);
select results_eq(
  $$ select s.statement, s.is_block from memory.list_statements(
       E'# Tea\n\nThe user likes tea. It is "green".\n\n- no sugar\n1. hot\n> e.g. at 5 p.m. daily\n\n```sh\n# brew\nbrew tea\n```\n---\nDone! Really? (Yes.)'
     ) as s order by s.position $$,
  $$ values ('Tea', false), ('The user likes tea.', false), ('It is "green".', false), ('no sugar', false), ('hot', false),
     ('e.g. at 5 p.m. daily', false), (E'```sh\n# brew\nbrew tea\n```', true), ('Done!', false), ('Really?', false), ('(Yes.)', false) $$,
  'a text says its sentences without markup, and its blocks of code'
);
select is(
  memory.merge_contents(
    array[
      E'# Tea\n\nThe user likes tea.',
      E'# Tea\n\nThe user LIKES tea. It has to be green.',
      E'# Green tea\nIt has to be green! Never on Sundays.\n\n```\nbrew\n```'
    ],
    '{mem-2026-03-01-001,mem-2026-03-01-002,mem-2026-03-01-003}'
  ),
  E'# Tea\n\nThe user likes tea.\n\n## Also noted\n\n- It has to be green. (mem-2026-03-01-002)\n'
  '- Green tea (mem-2026-03-01-003)\n- Never on Sundays. (mem-2026-03-01-003)\n'
  'From mem-2026-03-01-003:\n\n```\nbrew\n```\n',
  'a merged text has the first one, and what only the others say, each with its origin'
);
select is(
  memory.merge_contents(array[E'a b c\r\n', 'A  B c.', '- a b C'], '{x,y,z}'), E'a b c\r\n',
  'a merged text without anything to add is the first one, byte for byte'
);
select is(
  memory.merge_contents(array[E'```\nbrew', 'Tea is green.'], '{x,y}'),
  E'```\nbrew\n```\n\n## Also noted\n\n- Tea is green. (y)\n',
  'a block of code that does not end is closed first'
);
select is(
  memory.merge_contents(array[E'```\n~~~\nbrew\n```\n', 'Tea is green.'], '{x,y}'),
  E'```\n~~~\nbrew\n```\n\n## Also noted\n\n- Tea is green. (y)\n',
  'a fence of another kind inside a block of code opens none'
);
select results_eq(
  $$ select s.statement, s.is_block from memory.list_statements(E'````md\n```\nbrew\n```\n````\n') as s $$,
  $$ values (E'````md\n```\nbrew\n```\n````', true) $$, 'a shorter fence inside a block of code does not end it'
);
select is_empty(
  $$ select t.one, t.other from (values
       ('The deadline is March 15th', 'The deadline is March 16th', false),
       ('He pays 1,950 dollars', 'He pays 1,960 dollars', false),
       ('The user likes tea', 'The user does not like tea', false),
       ('The user likes tea', 'The user doesn''t like tea', false),
       ('The user likes tea', 'The user dislikes tea', false),
       ('Coffee with sugar', 'Coffee without sugar', false),
       ('We meet on Monday', 'We meet on Tuesday', false),
       ('Run the tests before the commit', 'Run the tests after the commit', false),
       ('He prefers tabs over spaces', 'He prefers spaces over tabs', false),
       ('Two cats', 'Three cats', false),
       ('Der Nutzer trinkt Kaffee', 'Der Nutzer trinkt keinen Kaffee', false),
       ('It is -5 degrees', 'It is 5 degrees', false),
       ('The user has two cats', 'User has 2 cats', true),
       ('The team meets at noon on Mondays', 'Team meeting is on Monday at noon', true),
       ('The deadline is March 15th', 'On March 15 is the deadline', true),
       ('He prefers TypeScript over JavaScript', 'He likes TypeScript better than JavaScript', true),
       ('Coffee without sugar', 'Coffee with no sugar', true)
     ) as t (one, other, is_equal)
     cross join lateral (
       select count(distinct m.marks) = 1 as is_equal from memory.telling_marks(array[t.one, t.other]) as m
     ) as m
     where m.is_equal <> t.is_equal $$,
  'texts whose numbers, dates, denials, opposites or comparisons differ are told apart'
);
select results_eq(
  $$ select
       memory.lacks_names(memory.telling_names('Alice works here'), 'Bob works here'),
       memory.lacks_names(memory.telling_names('Bob works here'), 'Alice works here'),
       memory.lacks_names(memory.telling_names('Jenkins runs the builds'), 'The builds run with Jenkins'),
       memory.lacks_names(memory.telling_names(E'# Some Heading\nhere'), 'there') $$,
  $$ values (true, true, false, false) $$, 'texts with other names are told apart; headings do not count'
);
select results_eq(
  $$ select memory.merged_confidence(c) from unnest('{0,0.5,0.92,0.96,0.99,1}'::float8[]) as c $$,
  $$ values (0.05::float8), (0.55), (0.97), (0.99), (0.99), (1) $$,
  'being repeated adds 0.05 to a confidence, up to 0.99'
);
select is(
  memory.unite_labels('[["b", "a"], ["a", "c"], []]'), '["b", "a", "c"]'::jsonb, 'labels are united in order'
);
select ok(
  octet_length(memory.unite_labels(
    (select jsonb_agg(jsonb_build_array(n || repeat('x', 100))) from generate_series(1, 1000) as n)
  )::text) between 15000 and 16384,
  'united labels fit into an entry'
);

-- A merge

select memory.register_embedding_version('m', '1') as version \gset
create function memory_test.entry(content text, similarity float8, confidence float8 default 0.7, as_of timestamptz default '2026-03-01Z')
  returns text
  language sql
  volatile
  return (
    select e.entry_id from memory.create_entry(
      content, 'preference', confidence => confidence, embedding => memory_test.near(similarity), as_of => as_of
    ) as e
  );
create view memory_test.shown as
select e.*, 'x' as x from memory.entries as e where e.tenant_id = memory.current_tenant();

select (memory.create_entry(
  E'# Tea\n\nThe user likes tea.', 'preference', '["drink", "tea"]', 0.8, keywords => '["green"]',
  importance => 3, user_id => 'ada', metadata => '{"a": 1, "b": 1}', expires_at => '2027-01-01Z',
  embedding => memory_test.near(1), as_of => '2026-03-01Z'
)).entry_id as tea \gset
select (memory.create_entry(
  'The user is fond of tea. It has to be green.', 'preference', '["habit", "tea"]', 0.7, keywords => '["leaf"]',
  importance => 8, user_id => 'ada', metadata => '{"b": 2, "c": 3}', expires_at => '2028-01-01Z', source => 'import',
  category => 'food', embedding => memory_test.near(0.95), as_of => '2026-03-02Z'
)).entry_id as fond \gset
select (memory.create_entry('The user likes teapots', 'preference', embedding => memory_test.near(0.5), user_id => 'ada', as_of => '2026-03-02Z')).entry_id as pots \gset
-- Near, but not of the same user, type, scope, persona or session
select count(*) as others from (values
  ('preference', 'bob', 'global', null, null::text), ('preference', null, 'global', null, null), ('fact', 'ada', 'global', null, null),
  ('preference', 'ada', 'home', null, null), ('preference', 'ada', 'global', 'p', null), ('preference', 'ada', 'global', null, 's')
) as v (entry_type, user_id, scope, persona_id, session_id)
cross join lateral memory.create_entry(
  'The user likes tea a lot', v.entry_type, user_id => v.user_id, scope => v.scope, persona_id => v.persona_id,
  session_id => v.session_id, embedding => memory_test.near(0.99), as_of => '2026-03-02Z'
) as e \gset
select (memory.create_entry('Where tea grows', 'fact', related => array[:'fond'], as_of => '2026-03-03Z')).entry_id as grows \gset
select memory.update_entry(:'tea', related => array[:'pots'], as_of => '2026-03-03Z') \g /dev/null
select memory.store_episode('Ada had tea', 'home') as episode \gset
select memory.create_link('entry', memory.get_entry_uuid(:'tea'), 'episode', :'episode', 'derived_from') \g /dev/null
select memory.rate_entry(:'pots', 'conflicting', :'fond', '2026-03-03Z') \g /dev/null
select memory.get_entry(:'fond', '2026-03-03Z') \g /dev/null

select results_eq(
  $$ select l.cluster, l.entry_id, l.title, l.confidence, round(l.similarity::numeric, 4) from memory.list_entry_clusters(as_of => '2026-03-04Z') as l $$,
  format($$ values (1, %L, 'Tea', 0.8::float8, 1.0), (1, %L, 'The user is fond of tea. It has to be green.', 0.7, 0.95) $$, :'tea', :'fond'),
  'similar entries of one scope, user, persona, session and type are a cluster'
);
select results_eq(
  $$ select run_id, examined, clusters, merged, created, flagged, archived from memory.consolidate_entries(dry_run => true, as_of => '2026-03-04Z') $$,
  $$ values (null::uuid, 10, 1, 2, 1, 0, 0) $$, 'a dry run counts'
);
select is_empty($$ select from memory.entry_consolidations $$, 'a dry run is not recorded');
select is_empty($$ select from memory_test.shown where source = 'derived' or retention <> 'active' $$, 'a dry run changes no entry');
select results_eq(
  $$ select count(*) from memory.list_entry_clusters(0.96, as_of => '2026-03-04Z') $$, $$ values (0::bigint) $$,
  'a higher similarity can be asked for'
);
select run_id from memory.consolidate_entries(as_of => '2026-03-04Z') \gset
select results_eq(
  format($$ select cause, finished_at, examined, merged, created, flagged, archived from memory.entry_consolidations where id = %L $$, :'run_id'),
  $$ values ('manual', '2026-03-04Z'::timestamptz, 10, 2, 1, 0, 0) $$, 'a run is recorded'
);
select e.entry_id as merged, e.id as merged_uuid from memory_test.shown as e where e.source = 'derived' \gset
select is(:'merged'::text, 'mem-2026-03-04-001', 'a merged entry has an id of its own');
select results_eq(
  format($$ select title, content, entry_type, category, tags, keywords, importance, confidence, trust, user_id, scope,
    expires_at, metadata, reference_count, created_at, edited_at, version, retention, embedding is null
    from memory_test.shown where entry_id = %L $$, :'merged'),
  format(
    $$ values ('Tea', %L, 'preference', 'food', '["drink", "tea", "habit"]'::jsonb, '["green", "leaf"]'::jsonb, 8.0::float8,
      0.85::float8, 'external', 'ada', 'global', '2028-01-01Z'::timestamptz, '{"a": 1, "b": 1, "c": 3}'::jsonb, 1,
      '2026-03-04Z'::timestamptz, '2026-03-04Z'::timestamptz, 1, 'active', true) $$,
    E'# Tea\n\nThe user likes tea.\n\n## Also noted\n\n- The user is fond of tea. (' || :'fond' || E')\n- It has to be green. (' || :'fond' || E')\n'
  ),
  'a merged entry has the text of the best and what others add, and what all have together'
);
select ok(
  exists (select from memory.embedding_queue where memory_id = :'merged_uuid'), 'a merged entry waits for its vector'
);
select results_eq(
  $$ select entry_id, retention, version, flagged_at from memory_test.shown where lifecycle_state = 'archived' order by entry_id $$,
  format($$ values (%L, 'archived', 2, null::timestamptz), (%L, 'archived', 1, null) $$, :'tea', :'fond'),
  'the originals are archived, not deleted'
);
select results_eq(
  format(
    $$ select coalesce(e.entry_id, 'episode'), l.relation from memory.memory_links as l left join memory.entries as e on e.id = l.target_id
       where l.source_id = %L order by 2, 1 $$, :'merged_uuid'
  ),
  format($$ values (%L, 'contradicts'), ('episode', 'derived_from'), (%L, 'supersedes'), (%L, 'supersedes') $$, :'pots', :'tea', :'fond'),
  'a merged entry supersedes the originals and has their links; of two relations the weightier'
);
select results_eq(
  format(
    $$ select e.entry_id, l.relation from memory.memory_links as l join memory.entries as e on e.id = l.source_id
       where l.target_id = %L $$, :'merged_uuid'
  ),
  format($$ values (%L, 'related_to') $$, :'grows'), 'what was related to an original is related to the merged entry'
);
select results_eq(
  $$ select e.payload - 'consolidation_id' from memory.memory_events as e where e.event_type = 'entries_consolidated' $$,
  format(
    $$ values (jsonb_build_object('cause', 'manual', 'examined', 10, 'merged', 2, 'created', 1, 'flagged', 0, 'archived', 0, 'created_ids', jsonb_build_array(%L))) $$,
    :'merged_uuid'
  ),
  'a run writes an event of counts and ids'
);
select is(
  memory_test.events_of(memory.get_entry_uuid(:'fond')), '{entry_created,link_created,entry_archived}',
  'archiving an original writes its event'
);
select results_eq(
  $$ select examined, clusters, merged, created from memory.consolidate_entries(as_of => '2026-03-04Z') $$,
  $$ values (1, 0, 0, 0) $$, 'the next run compares only what is new, and merges nothing'
);
select results_eq(
  $$ select examined from memory.consolidate_entries(as_of => '2026-03-04Z') $$, $$ values (0) $$,
  'a run without anything new compares nothing'
);
select is_empty(
  $$ select * from memory.verify_chain() where memory_type = 'entry' $$, 'events and entries agree after a merge'
);

-- Undo

select throws_ok(
  format($$ select memory.undo_entry_merge(%L) $$, :'tea'), 'PM003', format('entry %s was not made by merging others', :'tea'),
  'what was not merged cannot be undone'
);
select throws_ok(
  $$ select memory.undo_entry_merge('mem-2020-01-01-001') $$, 'PM001', null, 'the merge of an unknown entry cannot be undone'
);
select throws_ok(
  format($$ select memory.undo_entry_merge(%L, '2026-03-03Z') $$, :'merged'), 'PM002', null, 'a merge cannot be undone before it was made'
);

-- A summary in place of the merged text

select results_eq(
  $$ select m.entry_id, m.version from memory.list_unsummarized_merges(as_of => '2026-03-05Z') as m $$,
  format($$ values (%L, 1) $$, :'merged'), 'a merge of different texts waits for a summary'
);
select is_empty(
  $$ select from memory.list_unsummarized_merges(as_of => '2026-03-03Z') $$, 'a merge waits for a summary from when it was made'
);
savepoint expiring;
update memory.entries as e set expires_at = '2026-03-06Z' from memory.entry_merges as m where m.merged_id = e.id;
select count(*) as waiting from memory.list_unsummarized_merges(as_of => '2026-03-06Z') \gset
rollback to savepoint expiring;
select is(:waiting, 0, 'and until it expires');
select is(
  memory.lost_details('Ada pays 30 EUR on Monday, not in May. It is late.', 'Each Monday 30 EUR are paid'),
  'month 5, name ada…, name may…, not', 'a summary has to keep numbers, dates, denials and names'
);
select is(
  memory.lost_details('Ada pays 30 EUR on Monday. She pays.', 'On Monday, Ada pays 30 EUR'), null, 'a summary may have other words'
);
select throws_ok(
  format($$ select memory.summarize_entry_merge(%L, %L) $$, :'merged', summary), code, null, description
)
from (values
  ('Not tea', 'PM002', 'a summary that denies what the text says is refused'),
  ('The user has 3 teas', 'PM002', 'a summary that adds a number is refused'),
  (repeat('tea ', 100), 'PM002', 'a summary that is longer than the text is refused')
) as v (summary, code, description);
select throws_ok(
  format($$ select memory.summarize_entry_merge(%L, 'tea') $$, :'tea'), 'PM003', format('entry %s is not a merge of others', :'tea'),
  'only what consolidation merged is summarized'
);
savepoint merged;
select is(
  memory.summarize_entry_merge(:'merged', 'The user likes tea. It has to be green.', 'some model', '2026-03-05Z'), 2,
  'a summary is the next version of the merged entry'
);
select results_eq(
  format($$ select content, version from memory_test.shown where entry_id = %L $$, :'merged'),
  $$ values ('The user likes tea. It has to be green.', 2) $$, 'a summary replaces the merged text'
);
select is_empty($$ select from memory.list_unsummarized_merges(as_of => '2026-03-05Z') $$, 'a merge is summarized once');
select throws_ok(
  format($$ select memory.summarize_entry_merge(%L, 'Tea') $$, :'merged'), 'PM004', null, 'a summary does not replace an edited text'
);
select is(memory.undo_entry_merge(:'merged', '2026-03-06Z'), 2, 'undoing a summarized merge restores the originals');
rollback to merged;
select memory.update_entry(:'merged', tags => '["x"]', as_of => '2026-03-05Z') \g /dev/null
select throws_ok(
  format($$ select memory.undo_entry_merge(%L, '2026-03-05Z') $$, :'merged'), 'PM003', format('entry %s was edited since it was merged', :'merged'),
  'the merge of an entry that was edited since cannot be undone'
);
rollback to merged;
select memory.update_entry(:'fond', content => 'The user is fond of mate.', as_of => '2026-03-05Z') \g /dev/null
select memory.archive_entry(:'fond', '2026-03-05Z') \g /dev/null
select is(memory.undo_entry_merge(:'merged', '2026-03-06Z'), 1, 'an original that was edited since is left alone');
rollback to merged;
select is(memory.undo_entry_merge(:'merged', '2026-03-06Z'), 2, 'undoing a merge restores the originals');
select results_eq(
  format($$ select entry_id, lifecycle_state, version, updated_at from memory_test.shown where entry_id in (%L, %L, %L) order by entry_id $$, :'tea', :'fond', :'merged'),
  format(
    $$ values (%L, 'active', 2, '2026-03-06Z'::timestamptz), (%L, 'active', 1, '2026-03-06Z'), (%L, 'retracted', 1, '2026-03-06Z') $$,
    :'tea', :'fond', :'merged'
  ),
  'the originals are active, and the merged entry is deleted'
);
select is_empty(
  format($$ select from memory.memory_links where source_id = %L and relation = 'supersedes' $$, :'merged_uuid'),
  'it no longer supersedes them'
);
select is(memory.undo_entry_merge(:'merged', '2026-03-06Z'), 0, 'undoing again does nothing');
select is(
  (select e.payload - 'consolidation_id' from memory.memory_events as e where e.event_type = 'entry_merge_undone'),
  jsonb_build_object('restored_ids', (
    select jsonb_agg(e.id order by e.id) from memory.entries as e where e.entry_id in (:'tea', :'fond')
  )),
  'undoing writes an event'
);
select results_eq(
  $$ select clusters from memory.consolidate_entries(as_of => '2026-03-07Z') $$, $$ values (0) $$,
  'what was undone is not merged again by the next run'
);
select memory.update_entry(:'fond', content => 'The user is very fond of tea. It has to be green.', embedding => memory_test.near(0.96), as_of => '2026-03-08Z') \g /dev/null
select results_eq(
  $$ select examined, merged, created from memory.consolidate_entries(as_of => '2026-03-08Z') $$, $$ values (1, 2, 1) $$,
  'but once one is edited'
);
select e.entry_id as second from memory_test.shown as e where e.source = 'derived' and e.lifecycle_state = 'active' \gset
select memory.set_embedding('entry', memory.get_entry_uuid(:'second'), memory_test.near(0.99), :'version') \g /dev/null
select (memory.create_entry('The user loves tea', 'preference', confidence => 0.95, user_id => 'ada', embedding => memory_test.near(0.98), as_of => '2026-03-09Z')).entry_id as loves \gset
select results_eq(
  $$ select examined, merged, created from memory.consolidate_entries(as_of => '2026-03-09Z') $$, $$ values (2, 2, 1) $$,
  'a merged entry is merged in turn'
);
select e.entry_id as third from memory_test.shown as e where e.source = 'derived' and e.lifecycle_state = 'active' \gset
select throws_ok(
  format($$ select memory.undo_entry_merge(%L, '2026-03-10Z') $$, :'second'), 'PM003', format('entry %s was merged into %s in turn', :'second', :'third'),
  'an earlier merge is undone after the later one'
);
select is(memory.undo_entry_merge(:'third', '2026-03-10Z') + memory.undo_entry_merge(:'second', '2026-03-10Z'), 4, 'the later one first');

-- What is not merged

select memory_test.as_tenant('b') \g /dev/null
select memory.register_embedding_version('m', '1') as version \gset
select memory_test.entry('The deadline is March 15th', 1) as d15 \gset
select memory_test.entry('The deadline is March 16th', 0.99) as d16 \gset
select memory_test.entry('The user does not want it', 0.98) as negated \gset
select memory_test.entry('Alice has it', 0.97) as alice \gset
select memory_test.entry('Bob has it', 0.96) as bob \gset
select results_eq(
  $$ select examined, clusters from memory.consolidate_entries(as_of => '2026-03-02Z') $$, $$ values (5, 0) $$,
  'similar entries with other numbers, denials or names are not merged'
);
select memory_test.as_tenant('c') \g /dev/null
select memory.register_embedding_version('m', '1') \g /dev/null
select memory.create_entry('Same  text', as_of => '2026-03-01Z'), memory.create_entry('same text', as_of => '2026-03-01Z'), memory.create_entry('another text', as_of => '2026-03-01Z') \g /dev/null
select results_eq(
  $$ select examined, merged, created from memory.consolidate_entries(as_of => '2026-03-02Z') $$, $$ values (3, 2, 1) $$,
  'equal texts are merged without vectors'
);
select memory.create_entry('Vector', embedding => memory_test.axis(5), as_of => '2026-03-03Z'), memory.create_entry('vector', embedding => memory_test.axis(5), as_of => '2026-03-03Z') \g /dev/null
select memory.consolidate_entries(as_of => '2026-03-03Z') \g /dev/null
select is(
  (select e.embedding from memory_test.shown as e where e.source = 'derived' and e.title ilike 'vector'), memory_test.axis(5),
  'a merged entry with the text of one of them has its vector'
);
-- Rounding makes the cosine of a vector with itself a little more than 1.
select memory_test.as_tenant('i') \g /dev/null
select memory.register_embedding_version('m', '1') \g /dev/null
select count(*) from generate_series(35, 36) as n cross join generate_series(1, 2) as c
cross join lateral (select array_agg((i * i * n + 7 * i) % 101 - 50)::vector as embedding from generate_series(1, 384) as i) as v
cross join lateral memory.create_entry(chr(62 + n) || repeat('z', c), embedding => v.embedding, as_of => '2026-03-01Z') \g /dev/null
select results_eq(
  $$ select merged, created from memory.consolidate_entries(as_of => '2026-03-02Z') $$, $$ values (4, 2) $$,
  'entries with equal vectors are merged'
);
-- A chain: each is similar to the next, the ends are not.
select memory_test.as_tenant('d') \g /dev/null
select memory.register_embedding_version('m', '1') \g /dev/null
select memory_test.entry('one end', cos(0.0), 0.7), memory_test.entry('the middle', cos(0.3), 0.8), memory_test.entry('other end', cos(0.6), 0.7), memory_test.entry('far end', cos(0.9), 0.6) \g /dev/null
select results_eq(
  $$ select l.cluster, l.title, round(l.similarity::numeric, 4) from memory.list_entry_clusters(as_of => '2026-03-02Z') as l order by l.cluster, l.similarity desc, l.title $$,
  $$ values (1, 'the middle', 1.0000), (1, 'one end', 0.9553), (1, 'other end', 0.9553) $$,
  'all entries of a cluster are similar to the best of them; no chain grows'
);
select memory_test.as_tenant('e') \g /dev/null
select memory.register_embedding_version('m', '1') \g /dev/null
insert into memory.entry_policies (tenant_id, scope, policy) values ('e', 'strict', 'billy');
insert into memory.entries (tenant_id, entry_id, content, policy, scope, user_id, confidence, embedding, embedding_version_id)
select 'e', 'mem-2026-03-01-90' || n, 'Guarded', 'billy', 'strict', 'ada', 0.3, memory_test.axis(1), v.id
from generate_series(1, 2) as n cross join memory.active_embedding_version() as v;
insert into memory.entries (tenant_id, entry_id, content, scope, embedding, embedding_version_id, created_at, updated_at)
select 'e', 'mem-2026-03-01-91' || n, 'Written before the scope became strict', 'strict', memory_test.axis(1), v.id, now() - interval '3 hours', now() - interval '3 hours'
from generate_series(1, 2) as n cross join memory.active_embedding_version() as v;
select to_jsonb(array_agg(e order by e.id)) as guarded from memory_test.shown as e \gset
select results_eq(
  $$ select examined, clusters, flagged from memory.consolidate_entries(as_of => now() - interval '2 hours') $$, $$ values (0, 0, 0) $$,
  'guarded entries, and those of a strict scope, are not consolidated'
);
select is_empty($$ select * from memory.maybe_consolidate_entries(now() + interval '23 hours') $$, 'so they do not make it due');
select memory.run_entry_upkeep('daily', now() + interval '12 hours'), memory.run_entry_upkeep('monthly', now() + interval '12 hours') \g /dev/null
select is(
  (select to_jsonb(array_agg(e order by e.id)) from memory_test.shown as e), :'guarded'::jsonb, 'guarded entries stay as they are'
);

-- Doubtful and old entries

select memory_test.as_tenant('f') \g /dev/null
select (memory.create_entry('Doubtful', confidence => 0.49, as_of => '2026-03-01Z')).entry_id as doubtful \gset
select (memory.create_entry('Fine', confidence => 0.5, as_of => '2026-03-01Z')).entry_id as fine \gset
select (memory.create_entry('Old', as_of => '2025-01-01Z')).entry_id as old \gset
select results_eq(
  $$ select flagged, archived from memory.consolidate_entries(as_of => '2026-03-02Z') $$, $$ values (1, 1) $$,
  'doubtful entries are flagged, and old ones archived'
);
select results_eq(
  $$ select entry_id, flagged_at, retention from memory_test.shown order by created_at, entry_id $$,
  format($$ values (%L, null::timestamptz, 'archived'), (%L, '2026-03-02Z', 'active'), (%L, null, 'active') $$, :'old', :'doubtful', :'fine'),
  'a flag has its time'
);
select results_eq(
  $$ select flagged from memory.consolidate_entries(as_of => '2026-03-03Z') $$, $$ values (0) $$, 'an entry is flagged once'
);
select memory.rate_entry(:'doubtful', 'contradicted', as_of => '2026-03-03Z'), memory.rate_entry(:'doubtful', 'confirmed', as_of => '2026-03-04Z') \g /dev/null
select results_eq(
  $$ select flagged from memory.consolidate_entries(as_of => '2026-03-05Z') $$, $$ values (0) $$, 'an entry that was confirmed is not flagged again'
);
select memory.update_entry(:'doubtful', content => 'Still doubtful', as_of => '2026-03-06Z') \g /dev/null
select results_eq(
  $$ select flagged from memory.consolidate_entries(as_of => '2026-03-06Z') $$, $$ values (1) $$, 'but after an edit'
);
select (memory.create_entry('Aged', confidence => 0.6, as_of => '2025-08-01Z')).entry_id as aged \gset
select memory.run_entry_upkeep('monthly', '2026-03-07Z'), memory.rate_entry(:'aged', 'contradicted', as_of => '2026-03-07Z') \g /dev/null
select results_eq(
  $$ select flagged from memory.consolidate_entries(dry_run => true, as_of => '2026-03-08Z') $$, $$ values (1) $$,
  'a dry run counts an aged entry that is doubtful'
);
select memory.consolidate_entries(as_of => '2026-03-08Z') \g /dev/null
select results_eq(
  format($$ select flagged_at, lifecycle_state from memory.entries where entry_id = %L $$, :'aged'),
  $$ values ('2026-03-08Z'::timestamptz, 'aged') $$, 'an aged entry is flagged, too'
);

-- When it is due

select memory_test.as_tenant('g') \g /dev/null
select is_empty($$ select * from memory.maybe_consolidate_entries('2026-03-01Z') $$, 'without entries nothing is due');
select count(*) from generate_series(1, 99) as n cross join lateral memory.create_entry('Entry ' || n, as_of => '2026-03-01Z') \g /dev/null
select is_empty($$ select * from memory.maybe_consolidate_entries('2026-03-01Z') $$, '99 new entries are not due');
savepoint few;
select memory.create_entry('Entry 100', as_of => '2026-03-01Z') \g /dev/null
select results_eq($$ select examined from memory.maybe_consolidate_entries('2026-03-01Z') $$, $$ values (100) $$, '100 new entries are due');
select results_eq($$ select cause from memory.entry_consolidations where tenant_id = 'g' $$, $$ values ('count') $$, 'because of their number');
rollback to few;
select is_empty($$ select * from memory.maybe_consolidate_entries('2026-03-01 23:59:59Z') $$, 'fewer are not due within 24 hours');
select results_eq($$ select examined from memory.maybe_consolidate_entries('2026-03-02 00:00:01Z') $$, $$ values (99) $$, 'after 24 hours they are');
select results_eq($$ select cause from memory.entry_consolidations where tenant_id = 'g' $$, $$ values ('age') $$, 'because of the time');
select is_empty($$ select * from memory.maybe_consolidate_entries('2026-04-01Z') $$, 'without anything new nothing is due, however late');
select e.entry_id as edited from memory_test.shown as e order by e.entry_id limit 1 \gset
select memory.update_entry(:'edited', content => 'Entry of another day', as_of => '2026-04-01Z') \g /dev/null
select results_eq($$ select examined from memory.maybe_consolidate_entries('2026-04-01Z') $$, $$ values (1) $$, 'an edited entry is');
savepoint doubted;
select memory.rate_entry(:'edited', 'contradicted', as_of => '2026-04-02Z'), memory.rate_entry(:'edited', 'contradicted', as_of => '2026-04-02Z') \g /dev/null
select results_eq($$ select flagged from memory.maybe_consolidate_entries('2026-04-03Z') $$, $$ values (1) $$, 'so is one whose confidence has fallen, to be flagged');
select is_empty($$ select * from memory.maybe_consolidate_entries('2026-04-05Z') $$, 'once');
rollback to doubted;
select results_eq(
  $$ select examined from memory.consolidate_entries(as_of => '2026-04-02Z') $$, $$ values (0) $$, 'a run by hand is never refused'
);
savepoint imported;
select memory.import_entries(
  (select jsonb_agg(jsonb_build_object('content', 'Imported ' || n, 'created_at', '2025-06-01T00:00:00Z')) from generate_series(1, 100) as n),
  as_of => '2026-04-02 00:10:00Z'
) \g /dev/null
select results_eq(
  $$ select examined from memory.maybe_consolidate_entries('2026-04-02 00:20:00Z') $$, $$ values (100) $$,
  '100 imported entries are due, however old they say they are'
);
select is_empty($$ select * from memory.maybe_consolidate_entries('2026-04-02 00:30:00Z') $$, 'once, though they have no vectors');
rollback to imported;

-- In parts

select memory_test.as_tenant('h') \g /dev/null
select count(*) from generate_series(1, 5) as n cross join lateral memory.create_entry('Entry', metadata => jsonb_build_object('n', n), as_of => '2026-03-01Z') \g /dev/null
select results_eq($$ select examined, merged from memory.consolidate_entries(max_entries => 2, as_of => '2026-03-02Z') $$, $$ values (2, 5) $$, 'a run compares some entries with all');
select results_eq($$ select examined from memory.consolidate_entries(max_entries => 2, as_of => '2026-03-02Z') $$, $$ values (1) $$, 'and the next run, those that are left');

-- Similar pairs, compared each with each and by their signs

select memory_test.as_tenant('pairs');
select memory.register_embedding_version('model', '1') as pairs_version \gset
-- A number from -1 to 1, always the same.
create function memory_test.chance(one integer, other integer)
  returns float8
  language sql
  immutable
  return ('x' || left(md5(one || ' ' || other), 8))::bit(32)::integer / 2147483648.0;
-- 100 pairs with a similarity of about 0.95, which have nothing to do with one another.
insert into memory.entries
  (tenant_id, entry_id, content, embedding, embedding_version_id, created_at, edited_at)
select
  'pairs', 'mem-2026-01-01-' || lpad(n::text, 6, '0'), translate(n::text, '0123456789', 'abcdefghij'),
  (
    select array_agg(memory_test.chance(n / 2, i) + 0.23 * memory_test.chance(1000 + n, i) order by i)::vector
    from generate_series(1, 384) as i
  ),
  :'pairs_version', '2026-01-01Z', '2026-01-01Z'
from generate_series(0, 199) as n;
select memory.refresh_entry_comparisons('pairs', '2026-01-02Z') \g /dev/null
create function memory_test.pairs(max_comparisons bigint)
  returns setof text
  language sql
  begin atomic
    select least(o.entry_id, t.entry_id) || ' ' || greatest(o.entry_id, t.entry_id)
    from memory.find_similar_entries(
      'pairs', array(select e.id from memory.entries as e where e.tenant_id = 'pairs'), 0.9, max_comparisons
    ) as s
    join memory.entries as o on o.id = s.one_id
    join memory.entries as t on t.id = s.other_id;
  end;
select results_eq(
  $$ select count(*), count(distinct p), bool_and(right(split_part(p, ' ', 1), 6)::integer / 2 = right(p, 6)::integer / 2)
     from memory_test.pairs(1000000) as p $$,
  $$ values (100::bigint, 100::bigint, true) $$, 'each with each, all similar pairs are found once'
);
select cmp_ok((select count(*) from memory_test.pairs(0)), '>=', 97::bigint, 'by their signs, nearly all are');
select is_empty('select memory_test.pairs(0) except select memory_test.pairs(1000000)', 'and no others');

-- The planes of signs_of, by the signs of each axis and of its opposite.

create table memory_test.planes as
select b.plane, a.axis, get_bit(s.ones, b.plane - 1) - get_bit(s.others, b.plane - 1) as coefficient
from generate_series(1, 384) as a (axis)
cross join lateral (
  select memory.signs_of(memory_test.axis(a.axis)) as ones, memory.signs_of(array_fill(0, array[384])::vector - memory_test.axis(a.axis)) as others
  offset 0
) as s
cross join generate_series(1, 768) as b (plane)
where get_bit(s.ones, b.plane - 1) <> get_bit(s.others, b.plane - 1);
select set_eq(
  $$ select p.plane, p.axis, p.coefficient from memory_test.planes as p where p.plane <= 384 $$,
  $$ select n as plane, n as axis, 1 as coefficient from generate_series(1, 384) as n $$,
  'the first half of the signs says on which side of each axis a vector lies'
);
select is_empty(
  $$ select 1 from memory_test.planes as p where p.plane > 384 group by p.plane having count(*) <> 4
     union all
     select 1 from memory_test.planes as p where p.plane > 384 group by p.axis having count(*) <> 4 $$,
  'the other half is about sums of four axes each, which all count alike'
);
select is_empty(
  $$ select p.plane, o.plane
     from memory_test.planes as p
     join memory_test.planes as o on o.axis = p.axis and o.plane > p.plane
     where p.plane > 384
     group by p.plane, o.plane
     having sum(p.coefficient * o.coefficient) <> 0 $$,
  'at right angles to each other, so that no sign follows from the others'
);

-- Arguments

select throws_ok($$ select memory.consolidate_entries(0.49) $$, 'PM002', null, 'a similarity below 0.5 is refused');
select throws_ok($$ select memory.consolidate_entries(1.01) $$, 'PM002', null, 'a similarity above 1 is refused');
select throws_ok($$ select memory.consolidate_entries(max_entries => 0) $$, 'PM002', null, 'a run of no entries is refused');
select throws_ok($$ select memory.list_entry_clusters('NaN') $$, 'PM002', null, 'a similarity that is no number is refused');
select memory_test.as_tenant('') \g /dev/null
select throws_ok($$ select memory.consolidate_entries() $$, '28000', null, 'nothing is consolidated without a tenant');

-- When it is due

select memory_test.as_tenant('due') \g /dev/null
create function memory_test.is_due(as_of timestamptz)
  returns boolean
  language sql
  return (
    select c.consolidation_due
    from memory.create_entry('Something else: ' || md5(is_due.as_of::text), as_of => is_due.as_of) as c
  );
select is(
  array(select memory_test.is_due('2026-05-01Z'::timestamptz + n * interval '1 minute') from generate_series(1, 99) as n order by n),
  array_fill(false, array[99]), 'a consolidation is not due before 100 entries are new'
);
select is(memory_test.is_due('2026-05-01T02:00Z'), true, 'storing the hundredth new entry tells that a consolidation is due');
select memory.consolidate_entries(as_of => '2026-05-01T03:00Z') \g /dev/null
select is(memory_test.is_due('2026-05-02T02:59Z'), false, 'a day has to pass since the last consolidation');
select is(memory_test.is_due('2026-05-02T03:00Z'), true, 'a day after a consolidation, one new entry makes the next one due');

select * from finish();
rollback;
