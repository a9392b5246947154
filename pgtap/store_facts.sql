begin;
\ir fixtures.sql
select plan(102);

-- Stored values

select memory.store_episode('Met Ada at the station', 'home') as episode_id \gset
insert into memory.entities (tenant_id, id, canonical_name, entity_type, metadata)
values
('a', '00000000-0000-0000-0000-0000000000e1', 'Ada', 'person', '{}'),
('a', '00000000-0000-0000-0000-0000000000e2', 'Ada L.', 'person', '{"merged_into": "00000000-0000-0000-0000-0000000000e1"}');
select memory.register_embedding_version('model', '1') as version_id \gset

create table memory_test.answers as
select s.*
from memory.store_facts(
  jsonb_build_array(
    '{"subject": "user", "predicate": "likes", "content": "tea"}'::jsonb,
    jsonb_build_object(
      'subject', E' Ada\t', 'predicate', E'lives\n in', 'content', ' Oslo ', 'importance', 7.5,
      'permanence', 'stable', 'scope', ' work ', 'tags', '["city"]'::jsonb,
      'entity_id', '00000000-0000-0000-0000-0000000000e1', 'confidence', 0.5, 'source_butler', 'home',
      'source_episode_id', :'episode_id', 'metadata', '{"a": [1]}'::jsonb,
      'embedding', memory_test.axis(1)::text::jsonb, 'idempotency_key', 'k1'
    ),
    '{"subject": "user", "predicate": "owns", "content": "a bike", "importance": null, "permanence": null,
      "scope": null, "tags": null, "entity_id": null, "confidence": null, "source_butler": null,
      "source_episode_id": null, "metadata": null, "embedding": null, "idempotency_key": null}'::jsonb
  ),
  embedding_version_id => :'version_id',
  as_of => '2026-01-02Z'
) as s;
select results_eq(
  $$ select a.ordinal, a.created, a.superseded_id, f.content
     from memory_test.answers as a join memory.facts as f on f.id = a.id order by a.ordinal $$,
  $$ values (1::bigint, true, null::uuid, 'tea'), (2, true, null, ' Oslo '), (3, true, null, 'a bike') $$,
  'store_facts returns the ids in the order of the facts'
);
select results_eq(
  $$ select f.tenant_id, f.subject, f.predicate, f.importance, f.confidence, f.decay_rate, f.permanence,
       f.validity, f.scope, f.reference_count, f.tags, f.metadata, f.created_at, f.last_confirmed_at,
       f.entity_id, f.source_butler, f.source_episode_id, f.supersedes_id, f.embedding_version_id,
       f.idempotency_key, f.text_search_config
     from memory.facts as f where f.content in ('tea', 'a bike') order by f.predicate $$,
  $$ select 'a', 'user', p, 5.0::float8, 1.0::float8, 0.008::float8, 'standard', 'active', 'global', 0,
       '[]'::jsonb, '{}'::jsonb, '2026-01-02Z'::timestamptz, '2026-01-02Z'::timestamptz, null::uuid,
       null::text, null::uuid, null::uuid, null::uuid, null::text, 'english'
     from unnest('{likes,owns}'::text[]) as p $$,
  'omitted and null values have the documented defaults'
);
select results_eq(
  $$ select f.subject, f.predicate, f.importance, f.confidence, f.decay_rate, f.permanence, f.scope, f.tags,
       f.metadata, f.entity_id::text, f.source_butler, f.source_episode_id::text, f.embedding::text,
       f.embedding_version_id::text, f.idempotency_key
     from memory.facts as f where f.content = ' Oslo ' $$,
  format(
    $$ values ('Ada', 'lives in', 7.5::float8, 0.5::float8, 0.002::float8, 'stable', 'work',
       '["city"]'::jsonb, '{"a": [1]}'::jsonb, '00000000-0000-0000-0000-0000000000e1', 'home', %L,
       memory_test.axis(1)::text, %L, 'k1') $$,
    :'episode_id', :'version_id'
  ),
  'a fact keeps the values that it is stored with'
);
select results_eq(
  $$ select q.target, f.content from memory.embedding_queue as q join memory.facts as f on f.id = q.memory_id
     order by f.content $$,
  $$ values ('active', 'a bike'), ('active', 'tea') $$,
  'facts without a vector are queued for one'
);
select results_eq(
  $$ select l.source_type, f.content, l.target_type, l.target_id::text, l.relation
     from memory.memory_links as l join memory.facts as f on f.id = l.source_id $$,
  format($$ values ('fact', ' Oslo ', 'episode', %L, 'derived_from') $$, :'episode_id'),
  'a fact derived from an episode is linked to it'
);
select is_empty(
  $$ select s.* from memory.store_facts('[]') as s $$, 'storing no facts returns no rows'
);

-- Several facts of one key

select memory.store_fact('user', 'mood', 'calm') as calm_id \gset
select max(e.seq) as last_seq from memory.memory_events as e \gset
create table memory_test.moods as
select s.*
from memory.store_facts(
  '[
    {"subject": "user", "predicate": "mood", "content": "glad"},
    {"subject": "user", "predicate": "name", "content": "Ada"},
    {"subject": " user ", "predicate": "mood", "content": "sad"},
    {"subject": "user", "predicate": "mood", "content": "tired", "scope": "work"},
    {"subject": "user", "predicate": "mood", "content": "happy"}
  ]'
) as s;
select results_eq(
  $$ select m.ordinal, f.content, f.validity, o.content, f.supersedes_id is not distinct from m.superseded_id
     from memory_test.moods as m
     join memory.facts as f on f.id = m.id
     left join memory.facts as o on o.id = m.superseded_id
     order by m.ordinal $$,
  $$ values
     (1::bigint, 'glad', 'superseded', 'calm', true), (2, 'Ada', 'active', null, true),
     (3, 'sad', 'superseded', 'glad', true), (4, 'tired', 'active', null, true),
     (5, 'happy', 'active', 'sad', true) $$,
  'each fact of the same key supersedes the one before it, and the last one is active'
);
select results_eq(
  format(
    $$ select e.event_type, s.content, e.payload ->> 'from', e.payload ->> 'to', t.content
       from memory.memory_events as e
       join memory.facts as s on s.id = e.memory_id
       left join memory.facts as t on t.id = (e.payload ->> 'target_id')::uuid
       where e.seq > %s
       order by e.seq $$,
    :last_seq
  ),
  $$ values
     ('fact_superseded', 'calm', 'active', 'superseded', null),
     ('fact_created', 'glad', '[*]', 'active', null),
     ('fact_created', 'Ada', '[*]', 'active', null),
     ('fact_superseded', 'glad', 'active', 'superseded', null),
     ('fact_created', 'sad', '[*]', 'active', null),
     ('fact_created', 'tired', '[*]', 'active', null),
     ('fact_superseded', 'sad', 'active', 'superseded', null),
     ('fact_created', 'happy', '[*]', 'active', null),
     ('link_created', 'glad', null, null, 'calm'),
     ('link_created', 'sad', null, null, 'glad'),
     ('link_created', 'happy', null, null, 'sad') $$,
  'the events show each fact of a key as active until the next one'
);
update memory.facts as f set metadata = '{"status": "fading", "a": 1}' where f.content = 'happy';
select memory.store_facts('[{"subject": "user", "predicate": "mood", "content": "gone"}]') as moods \g /dev/null
select is(
  (select f.validity || ' ' || f.metadata from memory.facts as f where f.content = 'happy'),
  'superseded {"a": 1}', 'a fading fact is superseded and loses its mark'
);
select memory.forget_memory('fact', f.id) as forgotten from memory.facts as f where f.content = 'gone' \gset
select is(
  (
    select s.superseded_id
    from memory.store_facts('[{"subject": "user", "predicate": "mood", "content": "back"}]') as s
  ),
  null, 'a retracted fact is not superseded'
);
select results_eq(
  $$ select s.created, o.subject
     from memory.store_facts(
       '[{"subject": "Ms Ada", "predicate": "lives in", "content": "Rome", "scope": "work",
          "entity_id": "00000000-0000-0000-0000-0000000000e1"}]'
     ) as s
     join memory.facts as o on o.id = s.superseded_id $$,
  $$ values (true, 'Ada') $$,
  'the key of a fact about an entity is the entity, whatever the subject'
);

-- Idempotency keys

create table memory_test.repeated as
select s.*
from memory.store_facts(
  '[
    {"subject": "once", "predicate": "p", "content": "c", "idempotency_key": "k2"},
    {"subject": "once", "predicate": "p", "content": "other"},
    {"subject": "once", "predicate": "p", "content": "c", "idempotency_key": "k2"},
    {"subject": " once", "predicate": "p ", "content": "c", "idempotency_key": "k2"}
  ]'
) as s;
select results_eq(
  $$ select r.ordinal, r.created, r.id = first_value(r.id) over (order by r.ordinal), r.superseded_id is null
     from memory_test.repeated as r order by r.ordinal $$,
  $$ values (1::bigint, true, true, true), (2, true, false, false), (3, false, true, true), (4, false, true, true) $$,
  'an idempotency key repeated within a batch returns the first id'
);
select results_eq(
  $$ select f.content, f.validity from memory.facts as f where f.subject = 'once' order by f.content $$,
  $$ values ('c', 'superseded'), ('other', 'active') $$,
  'an idempotency key repeated within a batch stores no second fact'
);
select results_eq(
  $$ select s.ordinal, s.created, s.id = r.id, s.superseded_id
     from memory.store_facts(
       '[{"subject": "once", "predicate": "p", "content": "c", "idempotency_key": "k2"}]'
     ) as s
     cross join memory_test.repeated as r
     where r.ordinal = 1 $$,
  $$ values (1::bigint, false, true, null::uuid) $$,
  'a known idempotency key returns the first id even if that fact is superseded'
);
select is(
  memory.store_fact('once', 'p', 'c', idempotency_key => 'k2'),
  (select r.id from memory_test.repeated as r where r.ordinal = 1),
  'store_fact recognizes the idempotency keys of a batch'
);
select memory.store_fact('twice', 'p', 'c', idempotency_key => 'k3') as twice_id \gset
select is(
  (
    select s.id
    from memory.store_facts(
      '[{"subject": "twice", "predicate": "p", "content": "c", "idempotency_key": "k3"}]'
    ) as s
  ),
  :'twice_id', 'a batch recognizes the idempotency keys of store_fact'
);

create table memory_test.said_twice as
select s.*
from jsonb_build_object(
  'subject', 'Leo', 'predicate', 'plays', 'content', 'the cello', 'source_episode_id', :'episode_id'
) as f (fact)
cross join lateral memory.store_facts(jsonb_build_array(f.fact, f.fact)) as s;
select is(
  (select array_agg((s.created, l.relation)::text order by s.ordinal)
   from memory_test.said_twice as s
   join memory.memory_links as l on l.source_id = s.id and l.target_id = :'episode_id'),
  '{"(t,derived_from)","(f,derived_from)"}',
  'a fact that a batch says twice, from one episode, is stored once with its source'
);

-- The same result as single calls. Tenant one stores each element with store_fact, tenant two all
-- of them in a few batches. The elements have few keys, so that they supersede and repeat each
-- other.

create function memory_test.draw(
  number bigint,
  what text,
  size integer
)
  returns integer
  language sql
  immutable
  return mod(('x' || left(md5(what || number), 7))::bit(28)::integer, size);

create table memory_test.elements as
select
  d.number,
  jsonb_strip_nulls(jsonb_build_object(
    'subject', 'subject ' || memory_test.draw(d.seed, 'subject', 5),
    'predicate', 'predicate ' || memory_test.draw(d.seed, 'predicate', 3),
    'content', 'content ' || d.seed,
    'importance', memory_test.draw(d.seed, 'importance', 11),
    'permanence', ('{permanent,stable,standard,volatile,ephemeral}'::text[])[
      1 + memory_test.draw(d.seed, 'permanence', 5)
    ],
    'scope', ('{global,work}'::text[])[1 + memory_test.draw(d.seed, 'scope', 3)],
    'tags', to_jsonb(array['t' || memory_test.draw(d.seed, 'tags', 3)]),
    'entity_id', ('{00000000-0000-0000-0000-0000000000e1,00000000-0000-0000-0000-0000000000e3}'::text[])[
      1 + memory_test.draw(d.seed, 'entity', 4)
    ],
    'confidence', memory_test.draw(d.seed, 'confidence', 101) / 100.0,
    'source_butler', ('{home}'::text[])[1 + memory_test.draw(d.seed, 'butler', 2)],
    'source_episode_id', ('{00000000-0000-0000-0000-0000000000f1,00000000-0000-0000-0000-0000000000f2}'::text[])[
      1 + memory_test.draw(d.seed, 'episode', 3)
    ],
    'metadata', jsonb_build_object('number', d.seed),
    'embedding', case memory_test.draw(d.seed, 'embedding', 4)
      when 0 then memory_test.axis(1 + memory_test.draw(d.seed, 'axis', 384))::text::jsonb
    end,
    'idempotency_key', case when d.keyed then 'key ' || d.seed end
  )) as element
from (
  select
    n.number, n.keyed,
    case
      when n.keyed then -1 - memory_test.draw(n.number, 'key', 40)
      else n.number - (memory_test.draw(n.number, 'again', 5) = 0)::integer
    end as seed
  from (
    select n.number, memory_test.draw(n.number, 'keyed', 4) = 0 as keyed from generate_series(1, 300) as n (number)
  ) as n
) as d;

create table memory_test.stored (
  tenant_id text,
  number bigint,
  id uuid,
  created boolean,
  superseded_id uuid
);

create function memory_test.store_elements(tenant_id text, statement text)
  returns void
  language plpgsql
as $$
begin
  perform memory_test.as_tenant(store_elements.tenant_id);
  insert into memory.entities (tenant_id, id, canonical_name, entity_type)
  values
  (store_elements.tenant_id, '00000000-0000-0000-0000-0000000000e1', 'one', 'person'),
  (store_elements.tenant_id, '00000000-0000-0000-0000-0000000000e3', 'three', 'person');
  insert into memory.episodes (tenant_id, id, butler, content)
  values
  (store_elements.tenant_id, '00000000-0000-0000-0000-0000000000f1', 'home', 'one'),
  (store_elements.tenant_id, '00000000-0000-0000-0000-0000000000f2', 'home', 'two');
  perform memory.register_embedding_version('model', '1');
  execute statement;
end;
$$;

create function memory_test.store_one(element jsonb)
  returns uuid
  language sql
  return memory.store_fact(
    element ->> 'subject', element ->> 'predicate', element ->> 'content',
    importance => (element ->> 'importance')::float8, permanence => element ->> 'permanence',
    scope => coalesce(element ->> 'scope', 'global'), tags => element -> 'tags',
    entity_id => (element ->> 'entity_id')::uuid, confidence => (element ->> 'confidence')::float8,
    source_butler => element ->> 'source_butler',
    source_episode_id => (element ->> 'source_episode_id')::uuid, metadata => element -> 'metadata',
    embedding => (element ->> 'embedding')::vector, idempotency_key => element ->> 'idempotency_key'
  );

select memory_test.store_elements(
  'one',
  $$ do $do$
     declare
       v_element record;
       v_id uuid;
     begin
       for v_element in select e.number, e.element from memory_test.elements as e order by e.number loop
         v_id := memory_test.store_one(v_element.element);
         insert into memory_test.stored
         select 'one', v_element.number, v_id,
           not exists (select from memory_test.stored as s where s.id = v_id),
           case
             when not exists (select from memory_test.stored as s where s.id = v_id)
             then (select f.supersedes_id from memory.facts as f where f.tenant_id = 'one' and f.id = v_id)
           end;
       end loop;
     end;
     $do$ $$
);
select memory_test.store_elements(
  'two',
  $$ insert into memory_test.stored
     select 'two', b.first + s.ordinal - 1, s.id, s.created, s.superseded_id
     from (
       select min(e.number) as first, jsonb_agg(e.element order by e.number) as elements
       from memory_test.elements as e
       group by width_bucket(e.number, '{10,11,60,250}'::bigint[])
       order by 1
     ) as b
     cross join lateral memory.store_facts(b.elements) as s $$
);

-- The elements, named by the number of the first one stored with the same id.
create view memory_test.named as
select s.tenant_id, s.id, min(s.number) as name from memory_test.stored as s group by 1, 2;

create function memory_test.name_of(
  tenant_id text,
  id uuid
)
  returns text
  language sql
  stable
  return coalesce(
    (select n.name::text from memory_test.named as n where n.tenant_id = name_of.tenant_id and n.id = name_of.id),
    id::text
  );

-- The input is worth comparing.
select ok(
  (
    select count(*) filter (where f.validity = 'superseded') > 150
      and count(*) filter (where f.validity = 'active') between 30 and 60
      and count(*) filter (where f.entity_id is not null and f.validity = 'superseded') > 30
      and count(f.idempotency_key) > 25
    from memory.facts as f
    where f.tenant_id = 'one'
  ),
  'the test elements supersede each other often'
);
select ok(
  (select count(*) filter (where not s.created) > 25 from memory_test.stored as s where s.tenant_id = 'one'),
  'the test elements repeat each other'
);

create function memory_test.same(what text, description text)
  returns text
  language sql
  return results_eq(
    format(what, 'two'), format(what, 'one'), description
  );

select memory_test.same(
  $$ select s.number, memory_test.name_of('%1$s', s.id), s.created, memory_test.name_of('%1$s', s.superseded_id)
     from memory_test.stored as s where s.tenant_id = '%1$s' order by 1 $$,
  'a batch returns the same as store_fact for each element'
);
select memory_test.same(
  $$ select memory_test.name_of('%1$s', f.id) collate "C", memory_test.name_of('%1$s', f.supersedes_id),
       to_jsonb(f) - '{id,tenant_id,supersedes_id,embedding_version_id,updated_at}'::text[], f.embedding_version_id is null
     from memory.facts as f where f.tenant_id = '%1$s' order by 1 $$,
  'a batch stores the same facts'
);
select memory_test.same(
  $$ select k.scope collate "C", k.anchor collate "C", k.predicate collate "C"
     from memory.fact_keys as k where k.tenant_id = '%1$s' order by 1, 2, 3 $$,
  'a batch locks the same keys'
);
select memory_test.same(
  $$ select memory_test.name_of('%1$s', l.source_id) collate "C", memory_test.name_of('%1$s', l.target_id) collate "C",
       l.source_type, l.target_type, l.relation
     from memory.memory_links as l where l.tenant_id = '%1$s' order by 1, 2 $$,
  'a batch links the same memories'
);
select memory_test.same(
  $$ select memory_test.name_of('%1$s', q.memory_id) collate "C", q.target, q.memory_type
     from memory.embedding_queue as q where q.tenant_id = '%1$s' order by 1, 2, 3 $$,
  'a batch queues the same facts for a vector'
);
select memory_test.as_tenant('one');
select to_jsonb(memory.corpus_sizes('{fact}')) as corpus_one \gset
select memory_test.as_tenant('two');
select is(
  to_jsonb(memory.corpus_sizes('{fact}')), :'corpus_one',
  'a batch leaves the same corpus statistics'
);
select memory_test.same(
  $$ select memory_test.name_of('%1$s', e.memory_id) collate "C",
       array_agg(
         (e.event_type, e.memory_type, e.payload, e.actor, e.login, e.request_id, e.reason, e.created_at)::text
         order by e.seq
       )
     from memory.memory_events as e
     where e.tenant_id = '%1$s' and e.memory_id is not null and e.event_type <> 'link_created'
     group by 1 order by 1 $$,
  'a batch writes the same events about each fact, in the same order'
);
select memory_test.same(
  $$ select memory_test.name_of('%1$s', e.memory_id) collate "C",
       array_agg(
         concat_ws(
           ' ', e.payload ->> 'relation', e.payload ->> 'target_type',
           memory_test.name_of('%1$s', (e.payload ->> 'source_id')::uuid),
           memory_test.name_of('%1$s', (e.payload ->> 'target_id')::uuid)
         )
         order by e.seq
       )
     from memory.memory_events as e
     where e.tenant_id = '%1$s' and e.event_type = 'link_created'
     group by 1 order by 1 $$,
  'a batch writes the same link events'
);
select is_empty(
  $$ select k.*
     from (
       select
         e.seq,
         sum(
           case when e.payload ->> 'to' = 'active' then 1 else 0 end
           - case when e.payload ->> 'from' = 'active' then 1 else 0 end
         ) over (
           partition by f.scope, f.predicate, f.entity_id, case when f.entity_id is null then f.subject end
           order by e.seq
         ) as active
       from memory.memory_events as e
       join memory.facts as f on f.tenant_id = e.tenant_id and f.id = e.memory_id
       where e.tenant_id = 'two' and e.event_type in ('fact_created', 'fact_superseded')
     ) as k
     where k.active not in (0, 1) $$,
  'the events of a batch show at most one active fact of a key at any time'
);
select memory_test.as_tenant('a');

-- Refused batches. Nothing is stored, even if the other facts are valid.

create function memory_test.refusal(facts jsonb)
  returns text
  language plpgsql
as $$
begin
  perform memory.store_facts(facts);
  return 'none';
exception
  when others then return sqlstate || ' ' || sqlerrm;
end;
$$;

create table memory_test.refusals (
  number integer generated always as identity,
  change jsonb,
  error text
);

insert into memory_test.refusals (change, error)
values
('{"subject": " "}', 'PM002 subject of fact 2 is empty'),
('{"subject": null}', 'PM002 subject of fact 2 is empty'),
('{"predicate": ""}', 'PM002 predicate of fact 2 is empty'),
('{"content": "\n"}', 'PM002 content of fact 2 is empty'),
('{"scope": " "}', 'PM002 scope of fact 2 is empty'),
(jsonb_build_object('subject', repeat('s', 513)), 'PM002 subject of fact 2 is 513 bytes long'),
(jsonb_build_object('predicate', repeat('p', 513)), 'PM002 predicate of fact 2 is 513 bytes long'),
(jsonb_build_object('content', repeat('c', 1048577)), 'PM002 content of fact 2 is 1048577 bytes long'),
(jsonb_build_object('scope', repeat('s', 129)), 'PM002 scope of fact 2 is 129 bytes long'),
('{"importance": 10.5}', 'PM002 importance of fact 2 is 10.5'),
('{"confidence": -0.1}', 'PM002 confidence of fact 2 is -0.1'),
('{"confidence": 1.001}', 'PM002 confidence of fact 2 is 1.001'),
('{"importance": -0.001}', 'PM002 importance of fact 2 is -0.001'),
('{"permanence": "eternal"}', $$PM002 unknown permanence of fact 2: 'eternal'$$),
('{"tags": [1]}', 'PM002 tags of fact 2 are not a JSON array of strings'),
('{"tags": [["a"]]}', 'PM002 tags of fact 2 are not a JSON array of strings'),
(
  jsonb_build_object('tags', array[repeat('t', 16384)]), 'PM002 tags of fact 2 are 16388 bytes long'
),
('{"metadata": {"status": "fading"}}', 'PM002 metadata of fact 2 uses a reserved key'),
('{"metadata": {"ended_by_run": "x"}}', 'PM002 metadata of fact 2 uses a reserved key'),
('{"metadata": {"ended_before": "x"}}', 'PM002 metadata of fact 2 uses a reserved key'),
(jsonb_build_object('metadata', jsonb_build_object('k', repeat('v', 65536))), 'PM002 metadata of fact 2 is 65545 bytes long'),
('{"source_butler": " "}', 'PM002 source_butler of fact 2 is empty'),
(jsonb_build_object('source_butler', repeat('b', 129)), 'PM002 source_butler of fact 2 is 129 bytes long'),
('{"idempotency_key": ""}', 'PM002 idempotency_key of fact 2 is 0 bytes long'),
(jsonb_build_object('idempotency_key', repeat('k', 201)), 'PM002 idempotency_key of fact 2 is 201 bytes long'),
('{"embedding": [1, 2, 3]}', 'PM002 vectors of 3 dimensions of fact 2 do not fit'),
(
  jsonb_build_object('embedding', array_fill(0, array[384])),
  'PM002 the norm of the embedding of fact 2 is 0'
),
('{"colour": "red"}', 'PM002 fact 2 has the unknown key "colour"'),
('{"colour": null}', 'PM002 fact 2 has the unknown key "colour"'),
('{"id": "00000000-0000-0000-0000-000000000001"}', 'PM002 fact 2 has the unknown key "id"'),
('{"content": 7}', 'PM002 content of fact 2 is 7'),
('{"importance": "7"}', 'PM002 importance of fact 2 is "7"'),
('{"tags": "a"}', 'PM002 tags of fact 2 is "a"'),
('{"metadata": []}', 'PM002 metadata of fact 2 is []'),
('{"entity_id": "Ada"}', 'PM002 entity_id of fact 2 is "Ada"'),
('{"source_episode_id": 7}', 'PM002 source_episode_id of fact 2 is 7'),
('{"valid_from": 7}', 'PM002 valid_from of fact 2 is 7'),
('{"valid_from": "last summer"}', 'PM002 valid_from of fact 2 is "last summer"'),
('{"valid_to": "2026-02-30"}', 'PM002 valid_to of fact 2 is "2026-02-30"'),
('{"created_at": "300000-01-01"}', 'PM002 created_at of fact 2 is "300000-01-01"'),
(
  '{"entity_id": "00000000-0000-0000-0000-0000000000ff"}',
  'PM001 entity 00000000-0000-0000-0000-0000000000ff of fact 2 does not exist'
),
(
  '{"entity_id": "00000000-0000-0000-0000-0000000000e3"}',
  'PM001 entity 00000000-0000-0000-0000-0000000000e3 of fact 2 does not exist'
),
(
  '{"entity_id": "00000000-0000-0000-0000-0000000000e2"}',
  'PM003 entity 00000000-0000-0000-0000-0000000000e2 of fact 2 was merged into '
  '00000000-0000-0000-0000-0000000000e1'
),
(
  '{"source_episode_id": "00000000-0000-0000-0000-0000000000f1"}',
  'PM001 no episode has id 00000000-0000-0000-0000-0000000000f1, the source of fact 2'
),
('{"idempotency_key": "k3"}', $$PM004 idempotency_key 'k3' was used for something else$$);

create function memory_test.sizes()
  returns bigint[]
  language sql
  stable
  return array[
    (select count(*) from memory.facts), (select count(*) from memory.fact_keys),
    (select count(*) from memory.memory_links), (select count(*) from memory.memory_events),
    (select count(*) from memory.embedding_queue)
  ];
select memory_test.sizes() as sizes \gset

select is(
  memory_test.refusal(jsonb_build_array(
    '{"subject": "s", "predicate": "p", "content": "first"}'::jsonb,
    '{"subject": "s", "predicate": "p", "content": "second"}'::jsonb || r.change,
    '{"subject": "s", "predicate": "p", "content": "third"}'::jsonb
  )),
  r.error,
  'a batch is refused with the error ' || r.error
)
from memory_test.refusals as r
order by r.number;
select is(
  memory_test.refusal(
    '[{"subject": "s", "predicate": "p", "content": "a", "idempotency_key": "new"},
      {"subject": "s", "predicate": "p", "content": "b", "idempotency_key": "new"}]'
  ),
  $$PM004 idempotency_key 'new' was used for something else$$,
  'an idempotency key within a batch cannot be used for two facts'
);
select is(
  memory_test.refusal('{}'), 'PM002 facts are not a JSON array',
  'an object is refused as a batch'
);
select is(
  memory_test.refusal('null'), 'PM002 facts are not a JSON array',
  'a JSON null is refused as a batch'
);
select is(memory_test.refusal(null), 'PM002 facts are not a JSON array', 'a NULL batch is refused');
select is(
  memory_test.refusal('[[]]'), 'PM002 fact 1 is not a JSON object',
  'a fact that is not an object is refused'
);
select is(
  memory_test.refusal('[{}]'), 'PM002 subject of fact 1 is empty',
  'a fact without keys is refused'
);
select throws_ok(
  $$ select memory.store_facts('[]', as_of => now() + interval '2 days') $$, 'PM002', null,
  'facts cannot be stored in the future'
);
select throws_ok(
  format(
    $$ select memory.store_facts(%L, embedding_version_id => gen_random_uuid()) $$,
    jsonb_build_array(jsonb_build_object(
      'subject', 's', 'predicate', 'p', 'content', 'c', 'embedding', memory_test.axis(1)::text::jsonb
    ))
  ),
  'PM004', null, 'a vector of another version is refused'
);
select is(memory_test.sizes(), :'sizes', 'refused batches leave nothing behind');

select is(
  memory_test.refusal(jsonb_build_array(jsonb_build_object('subject', U&'\200B \2060', 'predicate', 'p', 'content', 'c'))),
  'PM002 subject of fact 1 is empty', 'a subject of invisible characters only is refused'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', U&'\200B') $$, 'PM002', 'content is empty',
  'content of invisible characters only is refused'
);
select throws_ok(
  format(
    'select memory.store_fact(%L, %L, %L, metadata => %L)', 's', 'p', 'c',
    '{"a": ' || repeat('[', 500) || repeat(']', 500) || '}'
  ),
  'PM002', 'metadata is nested more than 64 levels deep', 'deeply nested metadata is refused'
);
select throws_ok(
  format(
    'select memory.store_episode(%L, %L, metadata => %L)', 'e', 'home',
    '{"a": ' || repeat('{"b": ', 64) || '1' || repeat('}', 64) || '}'
  ),
  'PM002', 'metadata is nested more than 64 levels deep', '65 levels are too deep'
);
select lives_ok(
  format(
    'select memory.store_episode(%L, %L, metadata => %L)', 'e', 'home',
    '{"a": ' || repeat('[', 63) || '1' || repeat(']', 63) || '}'
  ),
  '64 levels are accepted'
);

select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', scope => 'Global') $$,
  'PM002', 'scope is ''Global'', which is not "global"', 'a scope that looks like global is refused'
);

-- Facts that arrive late, and facts that say what is known: one by one, and as batches

create table memory_test.late (
  place integer generated always as identity,
  predicate text,
  content text,
  valid_from timestamptz,
  valid_to timestamptz
);
insert into memory_test.late (predicate, content, valid_from, valid_to)
values
('lives in', 'Rome', '2026-01-10Z', null), ('lives in', 'Oslo', '2026-01-01Z', null),
('lives in', 'Bonn', '2026-01-05Z', null), ('lives in', E' Rome\n', '2026-01-12Z', null),
('lives in', 'Kyiv', '2026-01-02Z', '2026-01-03Z'), ('lives in', 'Lyon', '2026-01-02Z', null),
('plans', 'to stay', '2027-01-01Z', null), ('plans', 'to go', '2026-01-10Z', null),
('works at', 'Mill', '2026-01-03Z', null), ('works at', 'Mine', '2026-01-09Z', null),
('works at', 'Mine', '2026-01-10Z', '2030-01-01Z'), ('works at', 'Bank', '2026-01-02Z', null);

create function memory_test.intervals_of(whose text)
  returns text[]
  language sql
  stable
  return array(
    select format(
      '%s: %s %s %s..%s', f.predicate, f.content, f.validity,
      to_char(f.valid_from at time zone 'UTC', 'MM-DD'),
      to_char(f.valid_to at time zone 'UTC', 'MM-DD')
    )
    from memory.facts as f
    where f.subject = whose
    order by f.predicate, f.valid_from, f.valid_to, f.content
  );

select memory.store_fact(
  'single', l.predicate, l.content, valid_from => l.valid_from, valid_to => l.valid_to,
  as_of => '2026-01-20Z'
) as late_id
from memory_test.late as l order by l.place \g /dev/null
select is(
  memory_test.intervals_of('single'),
  '{lives in: Oslo superseded 01-01..01-02,lives in: Kyiv superseded 01-02..01-02,
    lives in: Lyon superseded 01-02..01-05,lives in: Bonn superseded 01-05..01-10,
    lives in: Rome active 01-10..,plans: to go active 01-10..,plans: to stay active 01-01..,
    works at: Bank superseded 01-02..01-03,works at: Mill superseded 01-03..01-09,
    works at: Mine superseded 01-09..01-10,works at: Mine active 01-10..01-01}',
  'the newest fact and plans stay active; what comes late is history until the next one begins'
);
select memory.store_facts(
  jsonb_agg(to_jsonb(l) - 'place' || '{"subject": "batch"}' order by l.place), as_of => '2026-01-20Z'
) as late_ids from memory_test.late as l \g /dev/null
select is(
  memory_test.intervals_of('batch'), memory_test.intervals_of('single'),
  'a batch orders facts by the time from which they are valid as store_fact does'
);
select memory.store_facts(
  jsonb_agg(to_jsonb(l) - 'place' || '{"subject": "split"}' order by l.place), as_of => '2026-01-20Z'
) as late_ids from memory_test.late as l group by l.place % 3 order by l.place % 3 \g /dev/null
select is(
  array(
    select i.line from unnest(memory_test.intervals_of('split')) as i (line)
    where i.line like '% active %' order by 1
  ),
  array(
    select i.line from unnest(memory_test.intervals_of('single')) as i (line)
    where i.line like '% active %' order by 1
  ),
  'batches in another order leave the same fact active'
);
select memory.store_fact('clock', 'p', 'newer', as_of => '2026-01-20Z') as newer_id \gset
select memory.store_fact('clock', 'p', 'older', as_of => '2026-01-19Z') as older_id \gset
select is(
  memory_test.intervals_of('clock'),
  '{p: older superseded 01-19..01-20,p: newer active 01-20..}',
  'a fact that is stored with an earlier time is history'
);
select is_empty(
  format($$ select from memory.memory_links as l where %L in (l.source_id, l.target_id) $$, :'older_id'),
  'what comes late supersedes nothing'
);

select memory.store_fact(
  'again', 'drinks', 'tea', importance => 8, permanence => 'stable', tags => '["a", "b"]',
  as_of => '2026-01-10Z'
) as tea_id \gset
update memory.facts as f set reference_count = 7, metadata = '{"status": "fading"}'
where f.id = :'tea_id';
select memory.store_episode('Tea, again', 'home', created_at => '2026-01-12Z') as tea_episode \gset
select is(
  memory.store_fact(
    'again', 'drinks', ' tea', tags => '["b"]', idempotency_key => null,
    source_episode_id => null, as_of => '2026-01-12Z'
  ),
  :'tea_id', 'the same words again confirm the fact that is known'
);
select results_eq(
  format(
    $$ select f.lifecycle_state, f.importance, f.permanence, f.reference_count, f.last_confirmed_at
       from memory.facts as f where f.id = %L $$, :'tea_id'
  ),
  $$ values ('active', 8::float8, 'stable', 7, '2026-01-12Z'::timestamptz) $$,
  'a confirmed fact keeps what it was, and its decay starts again'
);
select results_eq(
  $$ select s.ordinal, s.id, s.created, s.superseded_id
     from memory.store_facts(
       '[{"subject": "again", "predicate": "drinks", "content": "tea", "idempotency_key": "tea 1"},
         {"subject": "again", "predicate": "drinks", "content": "tea", "idempotency_key": "tea 1"},
         {"subject": "again", "predicate": "eats", "content": "rice"},
         {"subject": "again", "predicate": "eats", "content": "rice", "idempotency_key": "rice 1"},
         {"subject": "again", "predicate": "drinks", "content": "tea"}]',
       as_of => '2026-01-13Z'
     ) as s
     where s.ordinal <> 3 and s.ordinal <> 4 $$,
  format(
    $$ values (1::bigint, %1$L::uuid, false, null::uuid), (2, %1$L, false, null), (5, %1$L, false, null) $$,
    :'tea_id'
  ),
  'a batch confirms what is known'
);
select results_eq(
  $$ select f.content, f.validity, f.idempotency_key from memory.facts as f
     where f.subject = 'again' order by f.content $$,
  $$ values ('rice', 'active', 'rice 1'), ('tea', 'active', 'tea 1') $$,
  'a fact that is stored again gets the idempotency key'
);
select is(
  memory.store_fact('again', 'drinks', 'tea', idempotency_key => 'tea 1', as_of => '2026-01-14Z'),
  :'tea_id', 'the idempotency key of a confirmation returns the confirmed fact'
);
select is(
  memory_test.refusal(
    '[{"subject": "again", "predicate": "sees", "content": "a", "idempotency_key": "sees"},
      {"subject": "again", "predicate": "sees", "content": "b", "idempotency_key": "sees"}]'
  ),
  $$PM004 idempotency_key 'sees' was used for something else$$,
  'an idempotency key stands for one content'
);
select isnt(
  memory.store_fact('again', 'drinks', 'tea', importance => 3, as_of => '2026-01-15Z'),
  :'tea_id', 'the same words with another importance supersede'
);
select isnt(
  memory.store_fact(
    'again', 'drinks', 'tea', importance => 3,
    source_episode_id => memory.store_episode('Tea!', 'home', source_class => 'external'),
    as_of => '2026-01-16Z'
  ),
  (select f.supersedes_id from memory.facts as f where f.subject = 'again' and f.importance = 3
   order by f.created_at desc, f.id limit 1),
  'the same words of another trust are another fact'
);
select memory.store_facts(
  (
    select jsonb_agg(jsonb_build_object(
      'subject', 'ends', 'predicate', 'p' || t.place, 'content', 'c', 'valid_from', '2026-01-01Z', 'valid_to', t.ends_at
    ))
    from unnest('{2026-01-31,2026-02-01,2026-02-02}'::text[]) with ordinality as t (ends_at, place)
  ), as_of => '2026-02-01Z'
) \g /dev/null
select is(
  array(select f.validity from memory.facts as f where f.subject = 'ends' order by f.predicate),
  '{superseded,superseded,active}', 'a fact that ends at the very moment when it is stored is over'
);

select * from finish();
rollback;
