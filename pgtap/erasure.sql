begin;
\ir fixtures.sql
select plan(36);

-- Ada, also called Countess; Bob; and memories that only mention them.

select memory.register_embedding_version('model', '1') \g /dev/null
insert into memory.entities (tenant_id, id, canonical_name, entity_type, aliases, metadata)
values
('a', '00000000-0000-0000-0000-0000000000e1', 'Ada Lovelace', 'person', '{Countess}', '{}'),
('a', '00000000-0000-0000-0000-0000000000e2', 'Bob', 'person', '{"friend of Ada Lovelace", Bobby}',
  '{"note": "met ADA  LOVELACE"}');
select memory.store_episode(
  'I moved to Rome', 'home', session_id => '00000000-0000-0000-0000-0000000000a1',
  embedding => memory_test.axis(1), as_of => now() - interval '1 day'
) as source \gset
select memory.store_episode(
  'How nice', 'home', session_id => '00000000-0000-0000-0000-0000000000a1',
  embedding => memory_test.axis(1)
) as next_turn \gset
select memory.store_fact(
  'ada lovelace', 'lives in', 'Paris', embedding => memory_test.axis(2), as_of => now() - interval '1 day'
) as paris \gset
select memory.store_fact(
  'ada lovelace', 'lives in', 'Rome', source_episode_id => :'source', tags => '["home"]'
) as rome \gset
select memory.store_fact(
  'the Countess', 'likes', 'tea', entity_id => '00000000-0000-0000-0000-0000000000e1'
) as tea \gset
select memory.store_fact('Bob', 'knows', 'Ada Lovelace, and her cat') as knows \gset
select memory.store_fact('Bob', 'age', '40', metadata => '{"said by": "Countess"}') as age \gset
select memory.store_fact('Bob', 'mood', 'well') as mood \gset
select memory.store_fact('Adam Lovelace', 'mood', 'well') as adam \gset
select memory.store_episode('ADA-LOVELACE called', 'home') as called \gset
select memory.store_episode('Somebody called', 'home', metadata => '{"speaker": "Ada Lovelace"}') as spoke \gset
select memory.store_rule('Call Ada Lovelace on Mondays') as call \gset
select memory.store_rule('Be brief') as brief \gset
select memory.mark_helpful(:'brief', '{"with": "Ada Lovelace"}') \g /dev/null
select memory.mark_helpful(:'brief', '{"with": "Bob"}') \g /dev/null
update memory.rules as r set tags = '["Countess"]' where r.id = :'brief';
update memory.rules as r set tags = '[]' where r.id = :'brief';
select memory.create_link('fact', :'mood', 'fact', :'rome', 'related_to') \g /dev/null
select entry_id as of_ada from memory.create_entry('Likes tea', user_id => 'ADA lovelace') \gset
select entry_id as note, id as note_id from memory.create_entry('# Call Ada Lovelace', category => 'people') \gset
select memory.update_entry(:'note', '# Call the Countess') \g /dev/null
select entry_id as tagged from memory.create_entry('Call her', tags => '["Ada Lovelace"]') \gset
select entry_id as kept from memory.create_entry('Call Adam Lovelace', related => array[:'note']) \gset
insert into memory.consolidation_runs (tenant_id, id, butler, status, started_at, leased_until, finished_at, errors)
values (
  'a', '00000000-0000-0000-0000-0000000000c1', 'home', 'proposed', now(), now(), now(), '[{"message": "Ada Lovelace is no UUID"}]'
);
insert into memory.consolidation_proposals
(tenant_id, run_id, position, action, item, key, memory_type, memory_id, content, reason, evidence, quotes, created_at)
values
('a', '00000000-0000-0000-0000-0000000000c1', 1, 'new_rule', '{"content": "Call Ada Lovelace"}', '1', 'rule', null, 'Call Ada Lovelace', 'x', '{}', '{"Ada Lovelace called"}', now()),
('a', '00000000-0000-0000-0000-0000000000c1', 2, 'new_rule', '{"content": "Be brief"}', '2', 'rule', null, 'Be brief', 'x', '{}', '{}', now()),
('a', '00000000-0000-0000-0000-0000000000c1', 3, 'new_rule', '{"content": "Be calm"}', '3', 'rule', null, 'Be calm', 'x', array[:'source'::uuid], '{"I moved to Rome"}', now()),
('a', '00000000-0000-0000-0000-0000000000c1', 4, 'confirmation', '{}', '4', 'fact', :'rome', 'Rome', 'x', '{}', '{}', now());

select results_eq(
  $$ select v.table_name, v.column_name from memory.verify_erasure('Ada Lovelace') as v where v.remaining > 0 $$,
  $$ values
     ('consolidation_proposals', 'content'), ('consolidation_proposals', 'item'), ('consolidation_proposals', 'quotes'), ('consolidation_runs', 'errors'), ('entities', 'aliases'), ('entities', 'canonical_name'), ('entities', 'metadata'), ('entity_names', 'name'),
     ('entries', 'content'), ('entries', 'tags'), ('entries', 'title'), ('entries', 'user_id'), ('episodes', 'content'),
     ('episodes', 'metadata'), ('fact_keys', 'anchor'), ('facts', 'content'), ('facts', 'metadata'), ('facts', 'subject'),
     ('facts', 'subject_key'), ('memory_history', 'image'), ('rule_applications', 'context'), ('rules', 'content') $$,
  'verify_erasure finds every column that holds the subject before the erasure'
);
select md5(string_agg(to_jsonb(f)::text, '' order by f.id)) as before from memory.facts as f \gset
select results_eq(
  $$ select e.object, e.erased from memory.erase_subject('Ada Lovelace', dry_run => true) as e $$,
  $$ values
     ('episodes', 3::bigint), ('facts', 5), ('rules', 1), ('entries', 3), ('items', 0), ('entities', 1), ('rule applications', 1),
     ('states in the history', 3), ('keys of facts', 2), ('entities cleared of mentions', 1),
     ('vectors of next turns', 1), ('traces of consolidation', 4) $$,
  'a dry run returns what would be erased'
);
select is(
  (select md5(string_agg(to_jsonb(f)::text, '' order by f.id)) from memory.facts as f), :'before',
  'a dry run erases nothing'
);
select is_empty(
  $$ select e.event_type from memory.memory_events as e where e.event_type = 'erased' $$,
  'a dry run writes no event'
);

-- Without mentions

create function memory_test.erased_without_mentions()
  returns text[]
  language plpgsql
as $$
declare
  v_left text[];
begin
  begin
    perform memory.erase_subject('ADA lovelace', mentions => false);
    v_left := array(
      select f.content from memory.facts as f union all select e.content from memory.episodes as e
      union all select r.content from memory.rules as r union all select n.canonical_name from memory.entities as n
      union all select y.content from memory.entries as y
      order by 1
    );
    raise exception using errcode = 'UNDO0';
  exception
    when sqlstate 'UNDO0' then return v_left;
  end;
end;
$$;
select is(
  memory_test.erased_without_mentions(),
  '{"# Call the Countess",40,"ADA-LOVELACE called","Ada Lovelace, and her cat","Be brief",Bob,"Call Ada Lovelace on Mondays",
    "Call Adam Lovelace","Call her","How nice","Somebody called",well,well}',
  'without mentions only the entity, facts about it, their sources and the entries of that user are erased'
);

-- With mentions

select results_eq(
  $$ select e.erased from memory.erase_subject('Ada Lovelace') as e $$,
  $$ values (3::bigint), (5), (1), (3), (0), (1), (1), (3), (2), (1), (1), (4) $$,
  'an erasure erases what the dry run returned'
);
select is_empty(
  $$ select v.table_name, v.column_name from memory.verify_erasure('Ada Lovelace') as v where v.remaining > 0 $$,
  'nothing of the subject is left after an erasure'
);
select is_empty(
  $$ select v.table_name, v.column_name from memory.verify_erasure('countess') as v where v.remaining > 0 $$,
  'no alias of the subject is left after an erasure'
);
select set_eq(
  $$ select f.content from memory.facts as f $$, $$ values ('well') $$,
  'a fact that does not mention the subject is kept'
);
select results_eq(
  $$ select y.content from memory.entries as y $$, $$ values ('Call Adam Lovelace') $$,
  'an entry that does not mention the subject is kept'
);
select results_eq(
  format($$ select l.target_id, l.target_state from memory.get_links('entry', memory.get_entry_uuid(%L)) as l $$, :'kept'),
  format($$ values (%L::uuid, 'expired') $$, :'note_id'),
  'a link to an erased entry shows the target as expired'
);
select is(
  (select count(*) from memory.facts as f where f.id = :'adam'), 1::bigint,
  'a fact about a subject with a similar name is kept'
);
select set_eq(
  $$ select e.content from memory.episodes as e $$, $$ values ('How nice') $$,
  'an episode that does not mention the subject is kept'
);
select set_eq(
  $$ select r.content from memory.rules as r $$, $$ values ('Be brief') $$,
  'a rule that does not mention the subject is kept'
);
select results_eq(
  $$ select a.context from memory.rule_applications as a $$, $$ values ('{"with": "Bob"}'::jsonb) $$,
  'a rule application that does not mention the subject is kept'
);
select results_eq(
  $$ select e.canonical_name::text, e.aliases, e.metadata from memory.entities as e $$,
  $$ values ('Bob', '{Bobby}'::text[], '{}'::jsonb) $$,
  'another entity loses its mentions of the subject'
);
select results_eq(
  format($$ select e.embedding is null, exists (
       select from memory.embedding_queue as q where q.memory_id = e.id
     ) from memory.episodes as e where e.id = %L $$, :'next_turn'),
  $$ values (true, true) $$, 'the vector of the turn after an erased one is made again'
);
select is_empty(
  $$ select q.memory_id from memory.embedding_queue as q
     where not exists (select from memory.searchable_memories as m where m.id = q.memory_id) $$,
  'nothing that was erased waits for a vector'
);
select set_eq(
  $$ select t.memory_type, t.memory_id from memory.tombstones as t $$,
  format(
    $$ values ('episode', %L::uuid), ('fact', %L::uuid), ('fact', %L::uuid), ('entry', %L::uuid) $$, :'source', :'rome',
    :'paris', :'note_id'
  ),
  'an erased memory that a link names leaves a tombstone'
);
select results_eq(
  format($$ select l.target_id, l.target_state from memory.get_links('fact', %L) as l $$, :'mood'),
  format($$ values (%L::uuid, 'expired') $$, :'rome'),
  'a link to an erased fact shows the target as expired'
);
select results_eq(
  $$ select e.payload from memory.memory_events as e where e.event_type = 'erased' $$,
  $$ values ('{"facts": 5, "items": 0, "rules": 1, "entries": 3, "entities": 1, "episodes": 3}'::jsonb) $$,
  'an erasure writes one event with the number of erased memories'
);
select is(
  (select count(*) from memory.memory_events as e where e.event_type in ('fact_deleted', 'rule_deleted', 'entry_purged', 'entity_deleted', 'episode_deleted')),
  13::bigint, 'each erased memory writes an event of its deletion'
);
select is_empty(
  $$ select p.* from memory.verify_chain() as p $$, 'the audit stream is intact after an erasure'
);
select is_empty(
  $$ select k.anchor from memory.fact_keys as k where k.anchor like 'entity:%' $$,
  'no key of the erased entity is left'
);
select results_eq(
  $$ select e.erased from memory.erase_subject('Ada Lovelace') as e where e.erased > 0 $$,
  $$ select 1::bigint where false $$, 'a second erasure erases nothing'
);
select lives_ok(
  $$ select memory.store_fact('Ada Lovelace', 'mood', 'reborn') $$,
  'the name of an erased subject can be used again'
);
select is(
  (select c.documents from unnest(memory.corpus_sizes('{fact}')) as c), 3::bigint,
  'the corpus statistics are exact after an erasure'
);

-- What verify_erasure finds

select results_eq(
  $$ select v.table_name, v.column_name, v.remaining from memory.verify_erasure('Ada Lovelace') as v where v.remaining > 0 $$,
  $$ values ('fact_keys', 'anchor', 1::bigint), ('facts', 'subject', 1), ('facts', 'subject_key', 1) $$,
  'verify_erasure finds what was stored after the erasure'
);
select ok(
  (select count(*) > 40 from memory.verify_erasure('nobody') as v),
  'verify_erasure checks every column of text or JSON'
);

-- Arguments

select throws_ok(
  $$ select memory.erase_subject(null) $$, 'PM002', null, 'a NULL subject cannot be erased'
);
select throws_ok(
  $$ select memory.erase_subject('  ') $$, 'PM002', null, 'a blank subject cannot be erased'
);
select throws_ok(
  $$ select memory.erase_subject('!?') $$, 'PM002', null,
  'a subject without a letter or digit cannot be erased'
);
select throws_ok(
  $$ select memory.verify_erasure('') $$, 'PM002', null, 'verify_erasure refuses an empty subject'
);

-- Another tenant

select memory_test.as_tenant('b') \g /dev/null
select memory.store_fact('Ada Lovelace', 'mood', 'well') \g /dev/null
select memory_test.as_tenant('a') \g /dev/null
select memory.erase_subject('Ada Lovelace') \g /dev/null
select is(
  (select count(*) from memory.facts as f where f.tenant_id = 'b'), 1::bigint,
  'an erasure keeps the memories of another tenant'
);
select is_empty(
  $$ select v.* from memory.verify_erasure('Ada Lovelace') as v where v.remaining > 0 $$,
  'verify_erasure does not check the memories of another tenant'
);

-- What others are drawn from

select memory_test.as_tenant('sources');
select memory.store_episode('It rained all day', 'home') as rained \gset
select memory.store_episode('Somebody likes cake', 'home') as liked \gset
select memory.store_episode('She said so', 'home') as said \gset
select memory.store_rule('Take an umbrella') as umbrella \gset
select memory.create_link('rule', :'umbrella', 'episode', :'rained', 'derived_from') \g /dev/null
select memory.store_fact('Bob', 'likes', 'cake', source_episode_id => :'liked') as cake \gset
select memory.store_episode('There was cake again', 'home') as again \gset
select memory.create_link('episode', :'again', 'fact', :'cake', 'supports') \g /dev/null
select memory.store_fact('Ada', 'likes', 'tea', source_episode_id => :'said') \g /dev/null
select count(*) from memory.erase_subject('Ada') \g /dev/null
select results_eq(
  $$ select e.content from memory.episodes as e where e.tenant_id = 'sources' order by 1 $$,
  $$ values ('It rained all day'), ('Somebody likes cake'), ('There was cake again') $$,
  'of the episodes, only those that tell of the subject go'
);

select * from finish();
rollback;
