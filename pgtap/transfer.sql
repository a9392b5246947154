begin;
\ir fixtures.sql
select plan(62);

-- What an export consists of

select is_empty(
  $$ select c.relname::text
     from pg_class as c
     join pg_attribute as a on a.attrelid = c.oid and a.attname = 'tenant_id' and a.attnum > 0
     where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
       and not exists (select from memory.transfer_kinds() as k where k.table_name = c.relname)
     except
     select * from unnest('{
       settings,tenant_logins,tenant_moves,access_tokens,sessions,login_codes,chain_verifications,approvals,entry_policies,tenant_patterns,
       consolidation_runs,consolidation_proposals,event_chain,event_chain_heads,job_runs,job_runners,
       import_batches,imported_memories,restored_events,
       fact_keys,entity_names,entry_numbers,entry_comparisons,embedding_queue,staged_embeddings,
       corpus_statistics,corpus_deltas
     }'::text[]) $$,
  'a table is part of an export, or configuration, work in progress, or computed from the rest'
);
select is_empty(
  $$ select k.kind
     from memory.transfer_kinds() as k
     cross join lateral (
       select array_agg(a.attname::text order by n.place) as columns
       from pg_index as i
       cross join lateral unnest(i.indkey::int2[]) with ordinality as n (number, place)
       join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = n.number
       where i.indrelid = format('memory.%I', k.table_name)::regclass and i.indisprimary
     ) as p
     where p.columns <> array['tenant_id'] || k.key_columns and k.kind <> 'event' $$,
  'a table is read by its primary key, and events by their times'
);
select results_eq(
  $$ select k.kind from memory.list_export_kinds() as k where k.kind like 'e%' $$,
  $$ values ('embedding_version'), ('entity'), ('entity_merge'), ('episode'), ('entity_merge_fact'),
       ('entry'), ('entry_consolidation'), ('entry_merge'), ('entry_merge_member'), ('event') $$,
  'kinds come in the order in which they refer to each other'
);
select results_eq(
  $$ select k.position from memory.transfer_kinds() as k order by k.position $$,
  $$ select n::integer from generate_series(1, (select count(*) from memory.transfer_kinds())) as n $$,
  'each kind has a place of its own'
);

-- Batches

create table memory_test.facts as
select n, memory.store_fact('Ada', 'p' || n, 'x', as_of => '2026-03-01Z') as id
from generate_series(1, 7) as n;
create function memory_test.walk(kind text, batch_size integer)
  returns setof text
  language plpgsql
as $$
declare
  v_key jsonb;
  v_row record;
  v_found boolean := true;
begin
  while v_found loop
    v_found := false;
    for v_row in select e.* from memory.export_memories(kind, v_key, batch_size) as e loop
      v_found := true;
      v_key := v_row.key;
      return next v_row.line;
    end loop;
  end loop;
end;
$$;
select results_eq(
  $$ select (w.line::jsonb #>> '{row,id}')::uuid from memory_test.walk('fact', 3) as w (line) $$,
  $$ select f.id from memory_test.facts as f order by 1 $$,
  'batches by key give each row once'
);
select is(
  (select count(*) from memory_test.walk('event', 2)), 7::bigint,
  'events that one transaction wrote are told apart by their number'
);
select memory_test.as_tenant('long');
select lives_ok(
  $$ select memory.store_fact('Ada', 'long' || n, repeat('x', 1000000), as_of => '2026-03-02Z')
     from generate_series(1, 20) as n $$,
  'long facts are stored'
);
select is(
  (select count(*) from memory.export_memories('fact', batch_size => 100) as e
   where e.line like '%xxxx%'), 17::bigint,
  'a batch has about 16 MiB of text'
);
select is((select count(*) from memory_test.walk('fact', 100)), 20::bigint, 'the next one has the rest');
select memory_test.as_tenant('a');
select is(
  (select (e.line::jsonb -> 'row') - '{id,metadata,importance}'::text[]
   from memory.export_memories('fact', batch_size => 10000) as e
   where e.line::jsonb #>> '{row,predicate}' = 'p1'),
  '{"subject": "Ada", "predicate": "p1", "content": "x", "confidence": 1, "decay_rate": 0.008,
    "permanence": "standard", "source_butler": null, "source_episode_id": null, "trust": "user",
    "supersedes_id": null, "entity_id": null, "object_entity_id": null, "validity": "active",
    "scope": "global", "reference_count": 0, "created_at": "2026-03-01T00:00:00+00:00",
    "last_referenced_at": null, "last_confirmed_at": "2026-03-01T00:00:00+00:00",
    "observed_at": "2026-03-01T00:00:00+00:00", "updated_at": "2026-03-01T00:00:00+00:00",
    "valid_from": "2026-03-01T00:00:00+00:00", "valid_to": null, "planned_for": null, "tags": [],
    "idempotency_key": null}'::jsonb,
  'a row has all columns but the tenant, derived ones and vectors; times are in UTC'
);
set local timezone = 'Asia/Tokyo';
select ok(
  (select e.line from memory.export_memories('fact', batch_size => 1) as e) like '%+00:00%',
  'whatever the time zone of the session'
);
set local timezone = 'UTC';
select throws_ok(
  $$ select memory.export_memories('spell') $$, 'PM002', null, 'an unknown kind is refused'
);
select throws_ok(
  $$ select memory.export_memories('fact', types => '{spell}') $$, 'PM002', null, 'an unknown type is refused'
);
select throws_ok(
  $$ select memory.export_memories('fact', after_key => '{"a": 1}') $$, 'PM002', null, 'a key is an array'
);
select throws_ok(
  $$ select memory.export_memories('fact', after_key => '["a", "b"]') $$, 'PM002', null, 'of as many values as the key has'
);
select throws_ok(
  $$ select memory.export_memories('fact', batch_size => 0) $$, 'PM002', null, 'a batch has at least one row'
);
select throws_ok(
  $$ select memory.export_memories('fact', include_vectors => true, known_at => '2026-03-01Z') $$,
  'PM002', null, 'vectors of the past are not kept'
);

-- Which rows

select memory.store_fact('Ada', 'p1', 'y', as_of => '2026-03-03Z');
select results_eq(
  $$ select e.line::jsonb #>> '{row,content}', e.line::jsonb #>> '{row,validity}'
     from memory.export_memories('fact', known_at => '2026-03-02 12:00Z', batch_size => 10000) as e
     where e.line::jsonb #>> '{row,predicate}' = 'p1' $$,
  $$ values ('x', 'active') $$,
  'an export of the past has what was known then, in its state of then'
);
select is_empty(
  $$ select memory.export_memories('event', known_at => '2026-03-02 12:00Z') $$,
  'and no audit stream, which tells of what came later'
);
select is(
  (select count(*) from memory.export_memories('fact', types => '{rule}') as e), 0::bigint,
  'other types are left out'
);
select memory.store_fact('Ada', 'q', 'z', scope => 'home');
select is(
  (select count(*) from memory.export_memories('fact', scope => 'garden', batch_size => 10000) as e
   where e.line::jsonb #>> '{row,scope}' = 'home'),
  0::bigint, 'and other scopes'
);
select l.created
from memory.facts as a
join memory.facts as b on b.predicate = 'p2'
cross join lateral memory.create_link('fact', a.id, 'fact', b.id, 'supports') as l
where a.predicate = 'q' \gset
select results_eq(
  $$ select 'all', count(*) from memory.export_memories('link') as e where e.line ~ 'supports'
     union all
     select 'before it was made', count(*) from memory.export_memories('link', known_at => '2026-03-02 12:00Z') as e where e.line ~ 'supports'
     union all
     select 'of rules', count(*) from memory.export_memories('link', types => '{rule}') as e where e.line ~ 'supports'
     union all
     select 'of another scope', count(*) from memory.export_memories('link', scope => 'garden') as e where e.line ~ 'supports' $$,
  $$ values ('all', 1::bigint), ('before it was made', 0), ('of rules', 0), ('of another scope', 0) $$,
  'a link is exported with both of its memories, once it was made'
);
select memory.write_memory(
  '{"content": "guarded", "scope": {"user_id": "u"}, "metadata": {"category": "note", "confidence": 0.9,
    "importance": "low", "source": "user", "expires_at": null}}', 'user:u'
);
select is(
  (select count(*) from memory.export_memories('entry')), 0::bigint, 'a guarded entry is left out'
);
select is(
  (select count(*) from memory.export_all_memories('entry')), 1::bigint, 'unless an admin asks for it'
);

-- Restoring

create table memory_test.export as
select k.position, e.line
from memory.list_export_kinds() as k
cross join lateral memory.export_all_memories(k.kind, batch_size => 10000) as e
where k.kind not in ('event', 'embedding_version');
create function memory_test.lines(kinds text default '%')
  returns text[]
  language sql
  stable
  return (
    select array_agg(e.line order by e.position, e.line)
    from memory_test.export as e where e.line::jsonb ->> 'type' like kinds
  );
create table memory_test.header as select memory.describe_export(include_events => false) as header;
select throws_ok(
  $$ select memory.restore_rows('{}') $$, 'PM003', null, 'no other write begins a restore'
);
select memory_test.as_tenant('b');
select throws_ok(
  $$ select memory.restore_rows('{}') $$, 'PM003', null, 'rows are restored after a restore has begun'
);
select throws_ok(
  $$ select memory.start_restore('{"type": "x"}') $$, 'PM002', null, 'with the header of an export'
);
select throws_ok(
  $$ select memory.start_restore((select h.header || '{"format": 2}' from memory_test.header as h)) $$,
  'PM002', null, 'in a format that this release knows'
);
select lives_ok(
  $$ select memory.start_restore((select h.header from memory_test.header as h), name => 'moved') $$,
  'a restore begins'
);
select results_eq(
  $$ select r.kind, r.restored, r.known from memory.restore_rows(memory_test.lines()) as r order by r.kind $$,
  $$ values ('entry', 1::bigint, 0::bigint), ('fact', 9, 0), ('history', 1, 0), ('link', 2, 0) $$,
  'rows are restored'
);
select results_eq(
  $$ select r.kind, r.restored, r.known from memory.restore_rows(memory_test.lines('fact')) as r $$,
  $$ values ('fact', 0::bigint, 9::bigint) $$,
  'once'
);
select throws_ok(
  $$ select memory.restore_rows(array[replace((memory_test.lines('fact'))[1], '"confidence": 1', '"confidence": 2')]) $$,
  'PM004', null, 'what is there with another content is refused'
);
select throws_like(
  $$ select memory.restore_rows(
       (memory_test.lines('fact'))[1:2] || array['{"type": "rule", "row": {"id": "x"}}']
     ) $$,
  'element 3: %', 'the message says which element is wrong'
);
select results_eq(
  $$ select f.restored from memory.finish_restore() as f where f.memory_type in ('fact', 'entry') $$,
  $$ values (9::bigint), (1) $$,
  'the restore is finished, and says how many'
);
select is(
  (select count(*) from memory.memory_events as e
   where e.tenant_id = 'b' and e.event_type in ('fact_created', 'fact_superseded') and e.payload ? 'restored'),
  10::bigint, 'the history of what was restored tells its events'
);
select is_empty(
  $$ select v.detail from memory.verify_chain() as v $$, 'of which the chain has nothing to say'
);
select throws_ok(
  $$ select memory.start_restore((select h.header from memory_test.header as h)) $$, 'PM003', null,
  'a transaction restores one export'
);

-- Importing

select memory_test.as_tenant('c');
create function memory_test.import(elements text, batch text default 'one', source_class text default 'external')
  returns setof text
  language sql
as $$
  select concat_ws(' ', i.ordinal, i.memory_type, i.outcome)
  from memory.import_memories(elements::jsonb, 'other', batch, source_class, '2026-03-01Z') as i;
$$;
select results_eq(
  $$ select * from memory_test.import('[
       {"type": "rule", "source_id": "r", "content": "Warm the pot.", "created_at": "2026-01-01Z"},
       {"type": "link", "from": "r", "to": "f"},
       {"type": "fact", "source_id": "f", "subject": "Ada", "predicate": "drinks", "content": "tea"},
       {"type": "episode", "butler": "home", "content": "It rained."},
       {"type": "entry", "content": "# Tea"},
       {"type": "link", "from": "r", "to": "nobody"}
     ]') $$,
  $$ values ('1 rule created'), ('2 link created'), ('3 fact created'), ('4 episode created'),
       ('5 entry created'), ('6 link skipped') $$,
  'elements of all types are stored in one call, and answered in their order'
);
select results_eq(
  $$ select s.memory_type, coalesce(f.trust, r.trust, e.source_class, y.trust)
     from memory.searchable_memories as s
     left join memory.facts as f on f.id = s.id
     left join memory.rules as r on r.id = s.id
     left join memory.episodes as e on e.id = s.id
     left join memory.entries as y on y.id = s.id
     where s.tenant_id = 'c' order by 1 $$,
  $$ values ('entry', 'external'), ('episode', 'external'), ('fact', 'external'), ('rule', 'external') $$,
  'what comes from outside is trusted as that'
);
select results_eq(
  $$ select r.created_at, r.last_confirmed_at, r.metadata -> 'import' ->> 'id' from memory.rules as r where r.tenant_id = 'c' $$,
  $$ values ('2026-01-01Z'::timestamptz, '2026-03-01Z'::timestamptz, 'r') $$,
  'it keeps when it came about and who it was there; it is confirmed now'
);
select memory.store_fact('Ada', 'lives in', 'Porto');
select results_eq(
  $$ select * from memory_test.import('[
       {"type": "fact", "source_id": "f", "subject": "Ada", "predicate": "drinks", "content": "tea"},
       {"type": "fact", "subject": "ada", "predicate": "Drinks", "content": "tea"},
       {"type": "fact", "subject": "Ada", "predicate": "lives in", "content": "Lisbon"},
       {"type": "rule", "source_id": "r", "content": "Warm the pot."},
       {"type": "link", "from": "r", "to": "f"}
     ]') $$,
  $$ values ('1 fact known'), ('2 fact known'), ('3 fact conflict'), ('4 rule known'), ('5 link known') $$,
  'what is known is not stored again, and what is stated is not overridden'
);
select memory_test.as_tenant('planner');
select memory.store_fact('Bea', 'lives in', 'Turin', valid_from => '2027-01-01Z', as_of => '2026-03-01Z');
select results_eq(
  $$ select * from memory_test.import('[{"type": "fact", "subject": "Bea", "predicate": "lives in", "content": "Genoa"}]') $$,
  $$ values ('1 fact created') $$, 'what is planned conflicts with nothing that holds until then'
);
select memory_test.as_tenant('c');
select throws_ok(
  $$ select memory_test.import('[{"type": "fact", "subject": "a", "predicate": "b", "content": ""}]') $$,
  'PM002', null, 'a wrong element is refused'
);
select throws_ok(
  $$ select memory_test.import('[{"type": "spell"}]') $$, 'PM002', null, 'as is one of an unknown type'
);
select throws_ok(
  $$ select memory_test.import('[]', source_class => 'user') $$, 'PM004', null, 'an import has one source class'
);
select results_eq(
  $$ select l.name, l.status, l.created, l.known from memory.list_imports() as l $$,
  $$ values ('one', 'done', 4::bigint, 3::bigint) $$,
  'imports are listed'
);
select results_eq(
  $$ select u.memory_type, u.outcome, u.memories from memory.undo_import('one', '2026-03-02Z') as u $$,
  $$ values ('episode', 'forgotten', 1::bigint), ('fact', 'forgotten', 1), ('rule', 'forgotten', 1),
       ('entry', 'forgotten', 1) $$,
  'an import is undone'
);
select is(
  (select count(*) from memory.list_memories() as m where m.content <> 'Porto'), 0::bigint,
  'and nothing of it is found'
);

select memory_test.as_tenant('links');
select results_eq(
  $$ select * from memory_test.import('[
       {"type": "fact", "source_id": "f", "subject": "Ada", "predicate": "drinks", "content": "tea"},
       {"type": "rule", "source_id": "r", "content": "Warm the pot."},
       {"type": "rule", "source_id": "s", "content": "Wait."},
       {"type": "link", "from": "r", "to": "f"}, {"type": "link", "from": "s", "to": "f"}, {"type": "link", "from": "r", "to": "s"}
     ]') $$,
  $$ values ('1 fact created'), ('2 rule created'), ('3 rule created'), ('4 link created'), ('5 link created'), ('6 link created') $$,
  'links that share an end are imported, each of them once'
);
select is(
  array(
    select memory_test.import(jsonb_build_array(
      jsonb_build_object('type', 'rule', 'content', 'Pour.', 'source_id', repeat('x', 1024))
    )::text)
  ),
  '{1 rule created}', 'the id of a source may have 1024 bytes'
);
select throws_ok(
  $$ select memory_test.import(jsonb_build_array(
       jsonb_build_object('type', 'rule', 'content', 'Pour.', 'source_id', repeat('x', 1025))
     )::text) $$, 'PM002', null, 'and no more'
);

select memory_test.as_tenant('since');
select memory_test.import('[
  {"type": "fact", "source_id": "f", "subject": "Ada", "predicate": "drinks", "content": "tea"},
  {"type": "rule", "content": "Warm the pot."}, {"type": "rule", "content": "Wait."}, {"type": "entry", "content": "# Tea"}
]') \g /dev/null
select memory.update_entry(e.entry_id, '# Green tea', as_of => '2026-03-02Z') from memory.entries as e where e.tenant_id = 'since' \g /dev/null
select memory.forget_memory('fact', f.id, as_of => '2026-03-02Z') from memory.facts as f where f.tenant_id = 'since' \g /dev/null
select memory.confirm_memory('rule', r.id, as_of => '2026-03-02Z') from memory.rules as r where r.content = 'Wait.' \g /dev/null
select results_eq(
  $$ select u.memory_type, u.outcome, u.memories from memory.undo_import('one', '2026-03-03Z') as u order by 1, 2 $$,
  $$ values ('entry', 'changed since', 1::bigint), ('fact', 'forgotten since', 1), ('rule', 'confirmed since', 1), ('rule', 'forgotten', 1) $$,
  'undoing an import leaves what has happened to its memories since'
);

select memory_test.as_tenant('d');
select throws_ok(
  $$ select memory.undo_import('one') $$, 'PM001', null, 'an import of another tenant is unknown'
);

-- Vectors and items

select memory_test.as_tenant('vectors');
select memory.register_embedding_version('model', '1') \g /dev/null
select memory.store_fact('Ada', 'drinks', 'tea', embedding => memory_test.axis(1), as_of => '2026-03-01Z') \g /dev/null
select memory.put_items('[{"namespace": ["a"], "key": "k", "value": {"x": 1}}]', '2026-03-01Z') \g /dev/null
create table memory_test.vectors as
select k.position, e.line
from memory.list_export_kinds() as k
cross join lateral memory.export_all_memories(k.kind, batch_size => 100, include_vectors => true) as e
where k.kind <> 'event';
select results_eq(
  $$ select k.kind
     from memory.list_export_kinds() as k
     cross join lateral memory.export_all_memories(k.kind, batch_size => 100) as e
     where k.kind in ('item', 'item_vector', 'embedding_version') $$,
  array['item'],
  'without vectors, items are exported all the same'
);
create table memory_test.vectors_header as
select memory.describe_export(include_vectors => true, include_events => false) as header;
create function memory_test.restore_vectors(tenant_id text, model text default null)
  returns text
  language plpgsql
as $$
begin
  perform memory_test.as_tenant(tenant_id);
  if model is not null then
    perform memory.register_embedding_version(model, '1');
  end if;
  perform memory.start_restore((select h.header from memory_test.vectors_header as h), name => 'copy');
  perform memory.restore_rows((select array_agg(v.line order by v.position, v.line) from memory_test.vectors as v));
  perform memory.finish_restore();
  return (
    select concat_ws(
      ' ', v.model, case when f.embedding is null then 'without vector' else 'with vector' end,
      (select count(*) from memory.embedding_queue as q where q.tenant_id = f.tenant_id), 'waiting'
    )
    from memory.facts as f
    left join memory.embedding_versions as v on v.id = f.embedding_version_id
    where f.tenant_id = restore_vectors.tenant_id and f.content = 'tea'
  );
end;
$$;
select is(memory_test.restore_vectors('empty'), 'model with vector 0 waiting', 'a tenant without vectors takes those of an export');
select memory_test.as_tenant('damaged');
select memory.store_fact('Bob', 'drinks', 'ale') as ale \gset
set local session_replication_role = replica;
delete from memory.facts where id = :'ale';
set local session_replication_role = origin;
select isnt_empty($$ select v.detail from memory.verify_chain() as v where v.memory_type = 'fact' $$, 'a fact that has vanished is reported');
select is(
  (select count(*) from regexp_matches(memory_test.restore_vectors('damaged'), 'model with vector') as m), 1::bigint,
  'damage to other memories of the tenant does not keep it from taking an export'
);
select memory_test.as_tenant('imported');
select memory_test.import('[
  {"type": "fact", "source_id": "f", "subject": "Bob", "predicate": "drinks", "content": "ale"},
  {"type": "rule", "source_id": "r", "content": "Warm the pot."}, {"type": "link", "from": "r", "to": "f"}
]') \g /dev/null
select memory.forget_memory('fact', f.id) from memory.facts as f where f.tenant_id = 'imported' \g /dev/null
create view memory_test.told as
select e.memory_type, e.event_type, e.payload ? 'restored' as is_restored
from memory.memory_events as e
join memory.imported_memories as i on i.tenant_id = e.tenant_id and i.memory_type = e.memory_type and i.memory_id = e.memory_id
join memory.import_batches as b on b.tenant_id = i.tenant_id and b.id = i.batch_id and b.name = 'one'
where e.tenant_id = 'imported';
create table memory_test.told_before as select * from memory_test.told;
select memory_test.restore_vectors('imported') \g /dev/null
select set_eq(
  'select * from memory_test.told', 'select * from memory_test.told_before',
  'the history of what another import has brought is not told again'
);
select is(memory_test.restore_vectors('same', 'model'), 'model with vector 0 waiting', 'so does one with the same model');
select is(memory_test.restore_vectors('another', 'other'), 'without vector 1 waiting', 'with another model they are made anew');
select results_eq(
  $$ select u.memory_type, u.outcome, u.memories from memory.undo_import('copy', '2026-03-03Z') as u order by 1 $$,
  $$ values ('fact', 'forgotten', 1::bigint), ('item', 'forgotten', 1) $$, 'a restore is undone with its items'
);
select memory_test.as_tenant('same');
select memory.put_items('[{"namespace": ["a"], "key": "k", "value": {"x": 2}}]', now() + interval '1 minute') \g /dev/null
select results_eq(
  $$ select u.memory_type, u.outcome, u.memories from memory.undo_import('copy', '2026-03-03Z') as u where u.memory_type = 'item' $$,
  $$ values ('item', 'changed since', 1::bigint) $$, 'but for those that have changed'
);

select * from finish();
rollback;
