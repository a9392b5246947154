begin;
\ir fixtures.sql
select plan(126);

-- Tenants a and b have the same memory, word for word except for their name.

create function memory_test.furnish(tenant_id text)
  returns void
  language plpgsql
as $$
declare
  v_version_id uuid;
  v_episode_id uuid;
  v_fact_id uuid;
  v_rule_id uuid;
  v_entity_id uuid := gen_random_uuid();
begin
  perform memory_test.as_tenant(tenant_id);
  perform memory.configure('{"retrieval_limit": 7}');
  v_version_id := memory.register_embedding_version('model', '1');
  v_episode_id := memory.store_episode(
    'tea ' || tenant_id, 'home', embedding => memory_test.axis(1), idempotency_key => 'key'
  );
  insert into memory.entities (tenant_id, id, canonical_name, entity_type)
  values (furnish.tenant_id, v_entity_id, 'Ada', 'person');
  v_fact_id := memory.store_fact(
    'Ada', 'drinks', 'tea ' || tenant_id, embedding => memory_test.axis(1), idempotency_key => 'key',
    source_episode_id => v_episode_id
  );
  perform memory.store_fact('Ada', 'eats', 'cake ' || tenant_id, entity_id => v_entity_id);
  v_rule_id := memory.store_rule(
    'tea ' || tenant_id, embedding => memory_test.axis(1), idempotency_key => 'key'
  );
  perform memory.create_entry('# Tea ' || tenant_id, embedding => memory_test.axis(1), idempotency_key => 'key');
  perform memory.grant_approval('write_sensitive', '*');
  perform memory.put_items(jsonb_build_array(jsonb_build_object(
    'namespace', '["tea"]'::jsonb, 'key', 'key', 'value', jsonb_build_object('of', tenant_id),
    'vectors', jsonb_build_array(jsonb_build_object(
      'path', 'of', 'embedding', memory_test.axis(1)::text::jsonb
    ))
  )));
  insert into memory.import_batches (tenant_id, name, format, source_class, status, started_at)
  values (furnish.tenant_id, 'import', 'other', 'user', 'done', now());
  insert into memory.imported_memories (tenant_id, memory_type, memory_id, batch_id, imported_at)
  select furnish.tenant_id, 'fact', v_fact_id, b.id, now()
  from memory.import_batches as b where b.tenant_id = furnish.tenant_id;
  perform memory.find_due_jobs();
  perform memory.add_sensitive_pattern('customer', 'number', 'C-\d{6}');
  insert into memory.entry_policies (tenant_id, scope, policy)
  values (furnish.tenant_id, 'private', 'billy');
  insert into memory.entry_consolidations
    (tenant_id, cause, finished_at, examined, merged, created, flagged, archived)
  values (furnish.tenant_id, 'manual', now(), 1, 0, 0, 0, 0);
  perform memory.fold_corpus_statistics();
  insert into memory.corpus_deltas (tenant_id, memory_type, documents, terms)
  values (tenant_id, 'fact', 0, 0);
  insert into memory.rule_applications (tenant_id, rule_id, outcome)
  values (furnish.tenant_id, v_rule_id, 'helpful');
  perform memory.create_link('rule', v_rule_id, 'fact', v_fact_id, 'supports');
  perform memory.dismiss_contradiction('rule', v_rule_id, 'fact', v_fact_id);
  v_episode_id := memory.store_episode('gone ' || tenant_id, 'home');
  perform memory.create_link('rule', v_rule_id, 'episode', v_episode_id, 'derived_from');
  delete from memory.episodes as e where e.id = v_episode_id;
  perform memory.claim_episodes();
  perform memory.seal_events();
  perform memory.record_verification();
  perform memory.create_session(sha256(convert_to(t.token, 'UTF8')))
  from memory.create_access_token('laptop', 'writer') as t;
  perform memory.create_login_code('reader');
  perform memory.start_reembedding('model', '2');
  perform memory.set_embedding(
    'fact', v_fact_id, memory_test.axis(1),
    (select b.embedding_version_id from memory.embedding_backlog() as b where b.status = 'building')
  );
end;
$$;
select memory_test.furnish('a');
select memory_test.furnish('b');
select memory_test.as_tenant('');

select e.id as episode_of_a from memory.episodes as e where e.tenant_id = 'a' \gset
select e.id as episode_of_b from memory.episodes as e where e.tenant_id = 'b' \gset
select f.id as fact_of_a from memory.facts as f where f.tenant_id = 'a' and f.predicate = 'drinks' \gset
select f.id as fact_of_b from memory.facts as f where f.tenant_id = 'b' and f.predicate = 'drinks' \gset
select f.id as cake_of_b from memory.facts as f where f.tenant_id = 'b' and f.predicate = 'eats' \gset
select r.id as rule_of_a from memory.rules as r where r.tenant_id = 'a' \gset
select r.id as rule_of_b from memory.rules as r where r.tenant_id = 'b' \gset
select y.id as entry_of_a from memory.entries as y where y.tenant_id = 'a' \gset
select y.id as entry_of_b from memory.entries as y where y.tenant_id = 'b' \gset
select e.id as entity_of_a from memory.entities as e where e.tenant_id = 'a' \gset
select e.id as entity_of_b from memory.entities as e where e.tenant_id = 'b' \gset
select v.id as version_of_a from memory.embedding_versions as v
where v.tenant_id = 'a' and v.status = 'active' \gset
select v.id as version_of_b from memory.embedding_versions as v
where v.tenant_id = 'b' and v.status = 'active' \gset
select v.id as building_of_a from memory.embedding_versions as v
where v.tenant_id = 'a' and v.status = 'building' \gset
select v.id as building_of_b from memory.embedding_versions as v
where v.tenant_id = 'b' and v.status = 'building' \gset
select t.id as token_of_a, t.token_digest as digest_of_a
from memory.access_tokens as t where t.tenant_id = 'a' \gset
select t.id as token_of_b, t.token_digest as digest_of_b
from memory.access_tokens as t where t.tenant_id = 'b' \gset

-- Everything a tenant has, in every table, down to the counters.
create function memory_test.everything_of(tenant_id text)
  returns text
  language plpgsql
as $$
declare
  v_table regclass;
  v_rows text;
  v_all text := '';
begin
  for v_table in
    select a.attrelid::regclass from pg_attribute as a
    join pg_class as c on c.oid = a.attrelid
    where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r' and a.attname = 'tenant_id'
    order by 1
  loop
    execute format(
      'select string_agg(to_jsonb(t)::text, '','' order by to_jsonb(t)::text) from %s as t
       where t.tenant_id = %L',
      v_table, tenant_id
    ) into v_rows;
    v_all := v_all || v_table::text || coalesce(v_rows, '');
  end loop;
  return md5(v_all);
end;
$$;

-- The answer of a statement, or how many rows it changes, or the code and message of its error,
-- without ids. The statement is undone.
create function memory_test.answer(statement text)
  returns text
  language plpgsql
as $$
declare
  v_answer text;
  v_rows bigint;
begin
  begin
    if statement like 'select%' then
      execute format(
        'select string_agg(t::text, '' / '' order by t::text collate "C") from (%s) as t', statement
      ) into v_answer;
    else
      execute statement;
      get diagnostics v_rows = row_count;
      v_answer := v_rows || ' rows';
    end if;
    raise exception using errcode = 'UNDO0';
  exception
    when sqlstate 'UNDO0' then null;
    when others then v_answer := sqlstate || ' ' || sqlerrm;
  end;
  return coalesce(
    regexp_replace(v_answer, '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'ID', 'g'), 'nothing'
  );
end;
$$;

select memory_test.a_login(
  'row_security_a', 'a', 'memory_writer, memory_worker, memory_reader, memory_admin'
);
select memory_test.a_login(
  'row_security_b', 'b', 'memory_writer, memory_worker, memory_reader, memory_admin'
);
select memory_test.a_login(
  'row_security_gateway', null,
  'memory_gateway, memory_writer, memory_worker, memory_reader, memory_admin'
);
select memory_test.a_login('row_security_unbound', null, 'memory_writer, memory_reader');
select memory_test.share_results();
select memory_test.everything_of('a') as before_a \gset

-- By id: every function that takes one, called by tenant b with its own id, one of tenant a and an
-- unknown one.

create table memory_test.questions (
  number integer generated always as identity,
  statement text,
  own text,
  others text
);
grant select on memory_test.questions to public;
insert into memory_test.questions (statement, own, others)
values
($$select memory.get_memory('episode', %L)$$, :'episode_of_b', :'episode_of_a'),
($$select memory.get_memory('fact', %L)$$, :'fact_of_b', :'fact_of_a'),
($$select memory.get_memory('rule', %L)$$, :'rule_of_b', :'rule_of_a'),
($$select memory.confirm_memory('fact', %L)$$, :'fact_of_b', :'fact_of_a'),
($$select memory.confirm_memory('rule', %L)$$, :'rule_of_b', :'rule_of_a'),
($$select m.success_count from memory.mark_helpful(%L) as m$$, :'rule_of_b', :'rule_of_a'),
($$select m.harmful_count from memory.mark_harmful(%L, 'late') as m$$, :'rule_of_b', :'rule_of_a'),
($$select memory.forget_memory('episode', %L)$$, :'episode_of_b', :'episode_of_a'),
($$select memory.forget_memory('fact', %L)$$, :'fact_of_b', :'fact_of_a'),
($$select memory.forget_memory('rule', %L)$$, :'rule_of_b', :'rule_of_a'),
($$select memory.restore_memory('episode', %L)$$, :'episode_of_b', :'episode_of_a'),
($$select memory.restore_memory('fact', %L)$$, :'fact_of_b', :'fact_of_a'),
($$select memory.restore_memory('rule', %L)$$, :'rule_of_b', :'rule_of_a'),
($$select memory.get_entry_uuid(%L)$$, :'entry_of_b', :'entry_of_a'),
($$select memory.get_entry(%L)$$, :'entry_of_b', :'entry_of_a'),
($$select memory.get_memory('entry', %L)$$, :'entry_of_b', :'entry_of_a'),
($$select u.version from memory.update_entry(%L, 'x') as u$$, :'entry_of_b', :'entry_of_a'),
($$select c.entry_id from memory.create_entry('x', related => array[%L]) as c$$, :'entry_of_b', :'entry_of_a'),
($$select memory.rate_entry(%L, 'used')$$, :'entry_of_b', :'entry_of_a'),
($$select memory.archive_entry(%L)$$, :'entry_of_b', :'entry_of_a'),
($$select memory.delete_entry(%L)$$, :'entry_of_b', :'entry_of_a'),
($$select memory.delete_entry(%L, permanent => true)$$, :'entry_of_b', :'entry_of_a'),
($$select memory.forget_memory('entry', %L)$$, :'entry_of_b', :'entry_of_a'),
($$select h.content from memory.fact_history(%L) as h$$, :'fact_of_b', :'fact_of_a'),
($$select h.image from memory.replay_memory('rule', %L) as h$$, :'rule_of_b', :'rule_of_a'),
($$select * from memory.get_links('fact', %L)$$, :'fact_of_b', :'fact_of_a'),
($$select * from memory.get_links('rule', %L, 'outgoing')$$, :'rule_of_b', :'rule_of_a'),
(
  format($$select * from memory.create_link('fact', %%L, 'rule', %L, 'supports')$$, :'rule_of_b'),
  :'fact_of_b', :'fact_of_a'
),
(
  format($$select * from memory.create_link('fact', %L, 'rule', %%L, 'supports')$$, :'fact_of_b'),
  :'rule_of_b', :'rule_of_a'
),
(
  format($$select * from memory.create_link('fact', %L, 'episode', %%L, 'supports')$$, :'cake_of_b'),
  :'episode_of_b', :'episode_of_a'
),
($$select memory.store_fact('s', 'p', 'c', source_episode_id => %L)$$, :'episode_of_b', :'episode_of_a'),
($$select memory.store_fact('s', 'p', 'c', entity_id => %L)$$, :'entity_of_b', :'entity_of_a'),
($$select memory.store_rule('c', source_episode_id => %L)$$, :'episode_of_b', :'episode_of_a'),
(
  $$select memory.store_episode('c', 'b', embedding => memory_test.axis(1), embedding_version_id => %L)$$,
  :'version_of_b', :'version_of_a'
),
(
  $$select memory.store_fact('s', 'p', 'c', embedding => memory_test.axis(1), embedding_version_id => %L)$$,
  :'version_of_b', :'version_of_a'
),
(
  $$select memory.store_rule('c', embedding => memory_test.axis(1), embedding_version_id => %L)$$,
  :'version_of_b', :'version_of_a'
),
($$select count(*) from memory.list_events(%L)$$, :'fact_of_b', :'fact_of_a'),
($$select * from memory.claim_embedding_jobs(%L)$$, :'building_of_b', :'building_of_a'),
($$select memory.revoke_access_token(%L)$$, :'token_of_b', :'token_of_a'),
($$select t.role from memory.authenticate_token(%L) as t$$, :'digest_of_b', :'digest_of_a'),
($$select memory.set_embedding('episode', %L, memory_test.axis(2))$$, :'episode_of_b', :'episode_of_a'),
($$select memory.set_embedding('fact', %L, memory_test.axis(2))$$, :'fact_of_b', :'fact_of_a'),
($$select memory.set_embedding('rule', %L, memory_test.axis(2))$$, :'rule_of_b', :'rule_of_a'),
(
  format($$select memory.set_embedding('fact', %L, memory_test.axis(2), %%L)$$, :'fact_of_b'),
  :'building_of_b', :'building_of_a'
),
(
  format($$select memory.set_embedding('fact', %%L, memory_test.axis(2), %L)$$, :'building_of_b'),
  :'fact_of_b', :'fact_of_a'
),
(
  $$select m.content from memory.semantic_search(
      'fact', memory_test.axis(1), embedding_version_id => %L
    ) as m$$,
  :'version_of_b', :'version_of_a'
),
(
  $$select m.content from memory.hybrid_search(
      'fact', 'tea', memory_test.axis(1), embedding_version_id => %L
    ) as m$$,
  :'version_of_b', :'version_of_a'
),
(
  $$select m.content from memory.search(
      'tea', embedding => memory_test.axis(1), embedding_version_id => %L
    ) as m$$,
  :'version_of_b', :'version_of_a'
),
(
  $$select m.content from memory.rank_memories(
      'tea', embedding => memory_test.axis(1), embedding_version_id => %L
    ) as m$$,
  :'version_of_b', :'version_of_a'
),
(
  $$select m.content from memory.recall(
      'tea', embedding => memory_test.axis(1), embedding_version_id => %L
    ) as m$$,
  :'version_of_b', :'version_of_a'
),
(
  $$select memory.context(
      'tea', 'home', embedding => memory_test.axis(1), embedding_version_id => %L
    )$$,
  :'version_of_b', :'version_of_a'
);

set local session authorization row_security_b;
select is(
  memory_test.answer(format(q.statement, q.others)),
  memory_test.answer(format(q.statement, gen_random_uuid())),
  format(
    'an id of another tenant is treated as unknown: %s',
    regexp_replace(q.statement, '\s+', ' ', 'g')
  )
)
from memory_test.questions as q
order by q.number;
select is_empty(
  $$ select q.statement from memory_test.questions as q
     where memory_test.answer(format(q.statement, q.own))
       = memory_test.answer(format(q.statement, gen_random_uuid())) $$,
  'an id of the own tenant has another answer than an unknown one'
);

-- By content: every search function, called by tenant b. 'b' in an answer marks its own memories.

select is(
  memory_test.answer(q.statement), q.expected,
  format('%s finds memories of the own tenant', q.name)
)
from (values
  (1, 'semantic_search', $$select m.content from memory.semantic_search('fact', memory_test.axis(1)) as m$$,
    '("tea b")'),
  (2, 'keyword_search', $$select m.content from memory.keyword_search('rule', 'tea') as m$$, '("tea b")'),
  (3, 'hybrid_search',
    $$select m.content from memory.hybrid_search('episode', 'tea', memory_test.axis(1)) as m$$, '("tea b")'),
  (4, 'search', $$select m.content from memory.search('tea', embedding => memory_test.axis(1)) as m$$,
    '("tea b") / ("tea b") / ("tea b")'),
  (5, 'rank_memories',
    $$select m.content from memory.rank_memories('tea', embedding => memory_test.axis(1)) as m$$,
    '("tea b") / ("tea b") / ("tea b")'),
  (6, 'recall', $$select m.content from memory.recall('tea', embedding => memory_test.axis(1)) as m$$,
    '("tea b") / ("tea b") / ("tea b")'),
  (
    7, 'context',
    $$select regexp_replace(line, '[0-9]{4}-.{11}', 'today')
      from regexp_split_to_table(memory.context('tea', 'home', 1000, true, embedding => memory_test.axis(1)), '\n') as line
      where line like '- %tea%'$$,
    '("- [Ada] [drinks]: tea b (confidence: 1.00)") / ("- [today] tea b") / '
    '("- tea b (maturity: candidate, effectiveness: 1.00)")'
  ),
  (8, 'embedding_backlog', $$select b.status, b.pending from memory.embedding_backlog() as b$$,
    '(active,1) / (building,4)'),
  (9, 'claim_embedding_jobs', $$select c.content from memory.claim_embedding_jobs() as c$$, '("Ada eats cake b")'),
  (10, 'active_embedding_version', $$select count(*) from memory.active_embedding_version()$$, '(1)'),
  (11, 'list_events', $$select distinct e.tenant_id from memory.list_events() as e$$, '(b)'),
  (12, 'current_settings', $$select s.tenant_id from memory.current_settings() as s$$, '(b)')
) as q (position, name, statement, expected)
order by q.position;

-- Operations of a tenant do not touch an identical memory of another tenant.

select isnt(
  memory.store_fact('Ada', 'drinks', 'tea a', idempotency_key => 'key2'), :'fact_of_a'::uuid,
  'the key of a fact belongs to its tenant'
);
select memory.store_episode('tea a', 'home', idempotency_key => 'keys of a') as stored_episode \gset
select is(
  memory_test.answer(
    format(
      $$select (m.memory ->> 'content') from memory.get_memory('episode', %L) as m (memory)$$,
      :'stored_episode'
    )
  ),
  '("tea a")', 'an idempotency key belongs to its tenant'
);
select isnt(
  memory.register_embedding_version('model', '1'), :'version_of_a'::uuid,
  'an embedding version belongs to its tenant'
);
select memory.configure('{"retrieval_limit": 3, "text_search_config": "simple"}') \g /dev/null
select memory.set_embedding('episode', :'episode_of_b', memory_test.axis(3), :'building_of_b') \g /dev/null
select memory.set_embedding('rule', :'rule_of_b', memory_test.axis(3), :'building_of_b') \g /dev/null
select memory.set_embedding('fact', :'fact_of_b', memory_test.axis(3), :'building_of_b') \g /dev/null
select memory.set_embedding('entry', :'entry_of_b', memory_test.axis(3), :'building_of_b') \g /dev/null
select memory.activate_embedding_version() as switched \gset
select is(
  :'switched'::uuid, :'building_of_b'::uuid,
  'switching the embedding model affects only the own tenant'
);
select memory.start_reembedding('model', '3') \g /dev/null
select ok(memory.cancel_reembedding(), 'canceling a re-embedding affects only the own tenant');
select memory.rebuild_vector_indexes('hnsw') \g /dev/null
select memory.confirm_memory('fact', :'cake_of_b') \g /dev/null
select count(*) from memory.recall('tea cake', max_results => 100, min_confidence => 0) \g /dev/null
select memory.forget_memory('rule', :'rule_of_b') \g /dev/null
set local session authorization default;
select is(
  memory_test.everything_of('a'), :'before_a',
  'operations of one tenant change no table row of another tenant'
);

-- Forged settings

set local session authorization row_security_b;
select set_config('memory.tenant_id', 'a', true) \g /dev/null
select is(memory.current_tenant(), 'b', 'a forged setting does not change the tenant of a bound login');
select is(
  memory.get_memory('fact', :'fact_of_a'), null,
  'a forged setting does not show a memory of another tenant'
);
select is(
  memory_test.answer($$select m.content from memory.keyword_search('episode', 'tea') as m$$),
  '("tea a") / ("tea b")', 'a forged setting does not make a search find memories of another tenant'
);
select is(
  memory_test.answer($$select distinct e.tenant_id from memory.list_events(max_results => 1000) as e$$),
  '(b)', 'a forged setting does not list events of another tenant'
);
select throws_ok(
  $$ select memory.set_request(tenant_id => 'a') $$,
  'PM005', 'tenant ''a'' is not the tenant of this request',
  'naming another tenant after forging a setting is refused'
);
set local role memory_writer;
select is(memory.current_tenant(), 'b', 'another role does not change the tenant of a login');
reset role;
set local session authorization row_security_unbound;
select set_config('memory.tenant_id', 'a', true) \g /dev/null
select throws_ok(
  $$ select memory.current_tenant() $$, '28000', 'login row_security_unbound is not bound to a tenant',
  'a login without a tenant that is not a gateway has none, whatever the settings say'
);
select throws_ok(
  $$ select * from memory.search('tea') $$, '28000', 'login row_security_unbound is not bound to a tenant',
  'a login without a tenant cannot search'
);
select throws_ok(
  $$ select memory.set_request(tenant_id => 'a') $$, '28000',
  'login row_security_unbound is not bound to a tenant', 'a login without a tenant cannot name one'
);

-- Gateway

set local session authorization row_security_gateway;
select set_config('memory.tenant_id', '', true) \g /dev/null
select throws_ok(
  $$ select * from memory.search('tea') $$, '28000', 'this transaction names no tenant',
  'a gateway must name a tenant'
);
select throws_ok(
  $$ select memory.set_request(tenant_id => repeat('t', 129)) $$,
  'PM002', 'the tenant name is 129 bytes long',
  'a gateway must name a tenant of at most 128 bytes'
);
select memory.set_request(tenant_id => 'a') \g /dev/null
select is(memory.current_tenant(), 'a', 'a gateway acts for the tenant that it names');
select isnt(
  memory.get_memory('fact', :'fact_of_a'), null,
  'a gateway sees memories of the tenant that it names'
);
select is(
  memory.get_memory('fact', :'fact_of_b'), null,
  'a gateway does not see memories of another tenant'
);
select memory.store_rule('through the gateway') as gateway_rule \gset
select memory.set_request(tenant_id => 'b') \g /dev/null
select is(
  memory.current_tenant(), 'b',
  'a gateway can name another tenant in the same transaction'
);
select is(
  memory.get_memory('rule', :'gateway_rule'), null,
  'a gateway that names another tenant does not see memories of the first'
);
select is(
  memory.forget_memory('rule', :'gateway_rule'), false,
  'a gateway that names another tenant cannot change memories of the first'
);
select is(
  memory_test.answer($$select distinct e.tenant_id from memory.list_events(max_results => 1000) as e$$),
  '(b)', 'a gateway that names another tenant does not list events of the first'
);
select memory.set_request(tenant_id => 'a') \g /dev/null
select isnt(
  memory.get_memory('rule', :'gateway_rule'), null,
  'a gateway can return to the first tenant'
);
select memory.set_request(tenant_id => 'c') \g /dev/null
select is(
  memory_test.answer($$select m.content from memory.search('tea', min_confidence => 0) as m$$), 'nothing',
  'a new tenant has an empty memory'
);

-- Excessive grants: privileges on the tables themselves.

set local session authorization default;
select memory_test.a_login('row_security_report', 'b', 'memory_reader');
select memory_test.a_login('row_security_stranger', null, 'pg_monitor');
grant usage on schema memory to row_security_stranger;
grant select, insert, update, delete on all tables in schema memory
to row_security_report, row_security_stranger, memory_gateway;
grant execute on all functions in schema memory to row_security_report;
-- Any of the inserts above may have folded those of the other tests.
insert into memory.corpus_deltas (tenant_id, memory_type, documents, terms)
values ('b', 'fact', 0, 0);

create function memory_test.tenants_seen()
  returns text
  language plpgsql
as $$
declare
  v_table regclass;
  v_tenants text[];
  v_seen text := '';
begin
  for v_table in
    select a.attrelid::regclass from pg_attribute as a
    join pg_class as c on c.oid = a.attrelid
    where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'v') and a.attname = 'tenant_id'
    order by a.attrelid::regclass::text
  loop
    execute format('select array_agg(distinct tenant_id order by tenant_id) from %s', v_table) into v_tenants;
    v_seen := concat_ws(
      ' ', nullif(v_seen, ''), replace(v_table::text, 'memory.', '') || coalesce(':' || v_tenants::text, '')
    );
  end loop;
  return v_seen;
end;
$$;
set local session authorization row_security_report;
select is(
  memory_test.tenants_seen(),
  'access_tokens:{b} approvals:{b} chain_verifications:{b} consolidation_proposals consolidation_runs:{b} corpus_deltas:{b} corpus_statistics:{b} dismissed_contradictions:{b} embedding_queue:{b} embedding_versions:{b} entities:{b} entity_merge_facts entity_merges entity_names:{b} entries:{b} '
  'entry_comparisons entry_consolidations:{b} entry_merge_members entry_merges entry_numbers:{b} entry_policies:{b} episodes:{b} '
  'event_chain:{b} event_chain_heads:{b} fact_keys:{b} facts:{b} import_batches:{b} imported_memories:{b} job_runners:{b} job_runs:{b} listed_memories:{b} login_codes:{b} memory_events:{b} '
  'memory_history:{b} memory_links:{b} restored_events rule_applications:{b} rules:{b} searchable_memories:{b} sessions:{b} settings:{b} '
  'staged_embeddings store_items:{b} store_vectors:{b} tenant_logins tenant_moves tenant_patterns:{b} tombstones:{b}',
  'a reader with privileges on the tables sees only its tenant, and no login'
);
select isnt_empty(
  $$ select * from memory.transitions $$,
  'a reader with privileges on the tables sees the transitions, which have no tenant'
);
select is_empty(
  $$ update memory.facts as f set importance = 1 where f.tenant_id = 'a' returning f.id $$,
  'a login with privileges on the tables cannot change rows of another tenant'
);
select isnt_empty(
  $$ update memory.facts as f set importance = 1 returning f.id $$,
  'a login with privileges on the tables can change rows of its own tenant'
);
select is_empty(
  $$ delete from memory.memory_links as l where l.tenant_id = 'a' returning l.source_id $$,
  'a login with privileges on the tables cannot delete rows of another tenant'
);
select throws_ok(
  $$ insert into memory.entities (tenant_id, canonical_name, entity_type) values ('a', 'x', 'other') $$,
  '42501', 'new row violates row-level security policy "tenant" for table "entities"',
  'a login with privileges on the tables cannot add rows to another tenant'
);
select throws_ok(
  $$ update memory.memory_links as l set tenant_id = 'a' $$, '42501', null,
  'a login with privileges on the tables cannot move rows to another tenant'
);
-- Keys: an id of another tenant is treated as unknown, while one of the own tenant is not.
create temporary table keys as
select * from (values
  (
    1, 'no foreign key of facts reveals an episode of another tenant',
    $$insert into memory.facts (tenant_id, subject, predicate, content, source_episode_id)
      values ('b', 's', 'p', 'c', %L)$$, :'episode_of_b', :'episode_of_a'
  ),
  (
    2, 'no foreign key of rules reveals an episode of another tenant',
    $$insert into memory.rules (tenant_id, content, source_episode_id) values ('b', 'c', %L)$$,
    :'episode_of_b', :'episode_of_a'
  ),
  (
    3, 'no foreign key reveals an entity of another tenant',
    $$insert into memory.facts (tenant_id, subject, predicate, content, entity_id)
      values ('b', 's', 'p', 'c', %L)$$, :'entity_of_b', :'entity_of_a'
  ),
  (
    4, 'no foreign key reveals a fact of another tenant',
    $$insert into memory.facts (tenant_id, subject, predicate, content, supersedes_id)
      values ('b', 's', 'p', 'c', %L)$$, :'fact_of_b', :'fact_of_a'
  ),
  (
    5, 'no foreign key reveals an embedding version of another tenant',
    $$insert into memory.rules (tenant_id, content, embedding, embedding_version_id)
      values ('b', 'c', memory_test.axis(1), %L)$$, :'version_of_b', :'version_of_a'
  ),
  (
    6, 'no foreign key reveals a building version of another tenant',
    $$insert into memory.staged_embeddings
        (tenant_id, memory_type, memory_id, embedding_version_id, embedding)
      values ('b', 'fact', gen_random_uuid(), %L, memory_test.axis(1))$$, :'building_of_b', :'building_of_a'
  ),
  (
    7, 'no foreign key of applications reveals a rule of another tenant',
    $$insert into memory.rule_applications (tenant_id, rule_id, outcome) values ('b', %L, 'helpful')$$,
    :'rule_of_b', :'rule_of_a'
  ),
  (
    8, 'no link reveals a rule of another tenant',
    $$insert into memory.memory_links
        (tenant_id, source_type, source_id, target_type, target_id, relation)
      values ('b', 'rule', %L, 'episode', '$$ || :'episode_of_b' || $$', 'supports')$$,
    :'rule_of_b', :'rule_of_a'
  ),
  (
    9, 'no unique key reveals a fact of another tenant',
    $$insert into memory.facts (tenant_id, id, subject, predicate, content)
      values ('b', %L, 's', 'p', 'c')$$, :'fact_of_b', :'fact_of_a'
  ),
  (
    10, 'no unique key reveals an entity of another tenant',
    $$insert into memory.entities (tenant_id, id, canonical_name, entity_type)
      values ('b', %L, 'Eve', 'person')$$, :'entity_of_b', :'entity_of_a'
  )
) as k (number, what, statement, own, others);
select is(
  memory_test.answer(format(k.statement, k.others)),
  memory_test.answer(format(k.statement, gen_random_uuid())), k.what
)
from keys as k
order by k.number;
select is_empty(
  $$ select k.what from keys as k
     where memory_test.answer(format(k.statement, k.own))
       = memory_test.answer(format(k.statement, gen_random_uuid())) $$,
  'a key of the own tenant has another answer than an unknown one'
);

-- A gateway with privileges on the tables sees the tenant that it names.

set local session authorization row_security_gateway;
select memory.set_request(tenant_id => 'a') \g /dev/null
select is(
  memory_test.answer('select distinct f.tenant_id from memory.facts as f'), '(a)',
  'a gateway with privileges on the tables sees the tenant that it names'
);
select memory.set_request(tenant_id => 'b') \g /dev/null
select is(
  memory_test.answer('select distinct f.tenant_id from memory.facts as f'), '(b)',
  'a gateway with privileges on the tables sees the next tenant that it names'
);
select set_config('memory.tenant_id', '', true) \g /dev/null
select throws_ok(
  $$ select * from memory.facts $$, '28000', 'this transaction names no tenant',
  'a gateway with privileges on the tables sees nothing if it names no tenant'
);

-- A role without a policy

set local session authorization row_security_stranger;
select is(
  memory_test.tenants_seen(),
  'access_tokens approvals chain_verifications consolidation_proposals consolidation_runs corpus_deltas corpus_statistics dismissed_contradictions embedding_queue embedding_versions entities entity_merge_facts entity_merges entity_names entries entry_comparisons entry_consolidations entry_merge_members entry_merges entry_numbers entry_policies episodes event_chain '
  'event_chain_heads fact_keys facts import_batches imported_memories job_runners job_runs listed_memories login_codes memory_events memory_history memory_links restored_events rule_applications rules searchable_memories sessions settings staged_embeddings store_items store_vectors tenant_logins tenant_moves tenant_patterns tombstones',
  'a role without a policy sees nothing, even with privileges on the tables'
);
select is_empty(
  $$ select * from memory.transitions $$,
  'a role without a policy does not see the transitions'
);
select is(
  memory_test.answer('delete from memory.rule_applications'), '0 rows',
  'a role without a policy cannot delete rows'
);
select throws_ok(
  $$ insert into memory.entities (tenant_id, canonical_name, entity_type) values ('a', 'x', 'other') $$,
  '42501', 'new row violates row-level security policy for table "entities"',
  'a role without a policy cannot add rows'
);

-- Another policy

set local session authorization default;
create policy too_much on memory.facts using (true) with check (true);
create policy too_much on memory.rules to memory_reader using (true) with check (true);
set local session authorization row_security_report;
select is(
  memory_test.answer('select distinct f.tenant_id from memory.facts as f'), '(b)',
  'a permissive policy for everybody does not show a client another tenant'
);
select is(
  memory_test.answer('select distinct r.tenant_id from memory.rules as r'), '(b)',
  'a permissive policy for its role does not show a client another tenant'
);
select is(
  memory_test.answer($$update memory.facts as f set importance = 1 where f.tenant_id = 'a'$$), '0 rows',
  'a permissive policy does not let a client change another tenant'
);
set local session authorization default;

-- Objects that shadow those of the schema

set local session authorization row_security_b;
create temporary table tenant_logins (login name, tenant_id text);
insert into tenant_logins values ('row_security_b', 'a');
create temporary table settings as select (memory.current_settings()).*;
update settings set tenant_id = 'a';
create temporary table facts (tenant_id text, id uuid, content text, validity text);
insert into facts values ('b', gen_random_uuid(), 'tea forged', 'active');
create temporary table searchable_memories (tenant_id text, id uuid, content text, memory_type text);
create function pg_temp.current_tenant() returns text language sql return 'a';
create function pg_temp.require_tenant(tenant_id text) returns void language sql return null;
create function pg_temp.lower(content text) returns text language sql return 'forged';
set local search_path = pg_temp, memory_test, tap, public, memory;
select is(
  pg_temp.current_tenant(), 'a',
  'a login can pretend to be another tenant in its own schema'
);
select is(
  memory.current_tenant(), 'b',
  'a shadowing function does not change the tenant of a login'
);
select is(
  (memory.current_settings()).tenant_id, 'b', 'settings are read from the table of the schema'
);
select throws_ok(
  $$ select memory.set_request(tenant_id => 'a') $$,
  'PM005', 'tenant ''a'' is not the tenant of this request',
  'functions of the schema call functions of the schema'
);
select is(
  memory_test.answer($$select m.content from memory.keyword_search('fact', 'forged') as m$$), 'nothing',
  'keyword_search reads the tables of the schema'
);
select is(
  memory_test.answer($$select m.content from memory.search('cake') as m$$), '("cake b")',
  'search reads the tables of the schema'
);
select memory.store_fact('Ada', 'brews', 'tea') as brewed \gset
select is(
  (select count(*) from pg_temp.facts), 1::bigint, 'store_fact stores nothing in a shadowing table'
);
set local session authorization default;
set local search_path = memory_test, tap, public;
select is(
  (select f.tenant_id from memory.facts as f where f.id = :'brewed'), 'b',
  'store_fact stores in the table of the schema'
);

select * from finish();
rollback;
