begin;
\ir fixtures.sql
select plan(107);

-- The contents that general search finds.
create function memory_test.found(
  query text,
  as_of timestamptz
)
  returns text[]
  language sql
  stable
  return (
    select coalesce(array_agg(m.content order by m.content), '{}')
    from memory.search(query, min_confidence => 0, as_of => as_of) as m
  );

-- The keys of a memory that get_memory shows: the columns but the tenant and the vectors.
create function memory_test.shown_columns(relation regclass)
  returns text[]
  language sql
  stable
  return (
    select array_agg(c.name order by c.name collate "C")
    from (
      select a.attname::text
      from pg_attribute as a
      where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
        and a.attname not in ('tenant_id', 'embedding', 'search_vector')
      union all
      select 'memory_type'
    ) as c (name)
  );

create function memory_test.keys_of(object text)
  returns text[]
  language sql
  return (
    select array_agg(k.key order by k.key collate "C")
    from jsonb_object_keys(object::jsonb) as k (key)
  );

select gen_random_uuid() as random_id \gset
select memory.register_embedding_version('model', '1') as version_id \gset

-- Memories that no call names: they must look the same in the end.
select memory.store_episode('Bystander', 'home', as_of => '2026-01-01Z') as bystander_episode_id \gset
select memory.store_fact('by', 'stands', 'fact', as_of => '2026-01-01Z') as bystander_fact_id \gset
select memory.store_rule('Stand by', as_of => '2026-01-01Z') as bystander_rule_id \gset
select e::text || f::text || r::text as bystanders
from memory.episodes as e, memory.facts as f, memory.rules as r
where e.id = :'bystander_episode_id' and f.id = :'bystander_fact_id' and r.id = :'bystander_rule_id' \gset

select memory_test.as_tenant('b') \g /dev/null
select memory.store_episode('Foreign episode', 'home', as_of => '2026-01-01Z') as foreign_episode_id \gset
select memory.store_fact('foreign', 'is', 'fact', as_of => '2026-01-01Z') as foreign_fact_id \gset
select memory.store_rule('Foreign rule', as_of => '2026-01-01Z') as foreign_rule_id \gset
select memory_test.as_tenant('a') \g /dev/null

-- confirm_memory

select memory.store_episode('Met Ada', 'home', as_of => '2026-01-01Z') as episode_id \gset
select memory.store_fact('user', 'likes', 'tea', as_of => '2026-01-01Z') as fact_id \gset
select memory.store_rule('Ask first', as_of => '2026-01-01Z') as rule_id \gset
select memory.confirm_memory('fact', :'fact_id', '2026-02-01Z') as confirmed \gset
select is(:'confirmed'::boolean, true, 'a fact can be confirmed');
select is(
  (select f.last_confirmed_at from memory.facts as f where f.id = :'fact_id'), '2026-02-01Z'::timestamptz,
  'confirming a fact restarts its decay'
);
select is(
  memory_test.events_of(:'fact_id'), '{fact_created,fact_confirmed}', 'confirming a fact writes an event'
);
select memory.confirm_memory('fact', :'fact_id', '2026-02-01Z') as confirmed \gset
select is(:'confirmed'::boolean, true, 'a fact can be confirmed again at the same time');
select is(
  memory_test.events_of(:'fact_id'), '{fact_created,fact_confirmed}',
  'confirming a fact again at the same time changes nothing and writes no event'
);
select memory.confirm_memory('fact', :'fact_id', '2026-01-15Z') as confirmed \gset
select is(:'confirmed'::boolean, true, 'a fact can be confirmed late');
select is(
  (select f.last_confirmed_at from memory.facts as f where f.id = :'fact_id'), '2026-02-01Z'::timestamptz,
  'a late confirmation does not move the time of confirmation of a fact backwards'
);
select is(
  memory_test.events_of(:'fact_id'), '{fact_created,fact_confirmed}',
  'a late confirmation of a fact writes no event'
);
select memory.confirm_memory('fact', :'fact_id') as confirmed \gset
select is(
  (select f.last_confirmed_at from memory.facts as f where :'confirmed'::boolean and f.id = :'fact_id'),
  now(),
  'a confirmation without a time is dated now'
);
select is(
  (select f.confidence || ' ' || f.reference_count from memory.facts as f where f.id = :'fact_id'), '1 0',
  'a confirmation leaves the stored confidence and is not a reference'
);
select memory.confirm_memory('rule', :'rule_id', '2026-02-01Z') as confirmed \gset
select is(:'confirmed'::boolean, true, 'a rule can be confirmed');
select is(
  (select r.last_confirmed_at from memory.rules as r where r.id = :'rule_id'), '2026-02-01Z'::timestamptz,
  'confirming a rule restarts its decay'
);
select is(
  memory_test.events_of(:'rule_id'), '{rule_created,rule_confirmed}', 'confirming a rule writes an event'
);
select memory.confirm_memory('rule', :'rule_id', '2026-01-15Z') as confirmed \gset
select is(
  (select r.last_confirmed_at from memory.rules as r where :'confirmed'::boolean and r.id = :'rule_id'),
  '2026-02-01Z'::timestamptz,
  'a late confirmation does not move the time of confirmation of a rule backwards'
);
select is(
  memory_test.events_of(:'rule_id'), '{rule_created,rule_confirmed}',
  'a late confirmation of a rule writes no event'
);
insert into memory.facts (tenant_id, subject, predicate, content, created_at)
values ('a', 'import', 'is', 'old', '2026-01-01Z')
returning id as import_id \gset
update memory.facts as f set last_confirmed_at = null where f.id = :'import_id';
select memory.confirm_memory('fact', :'import_id', '2026-01-02Z') \g /dev/null
select is(
  (select f.last_confirmed_at from memory.facts as f where f.id = :'import_id'), '2026-01-02Z'::timestamptz,
  'a fact that was never confirmed can be confirmed'
);

select throws_ok(
  format($$ select memory.confirm_memory('episode', %L) $$, :'episode_id'),
  'PM002', 'an episode cannot be confirmed', 'an episode cannot be confirmed'
);
select throws_ok(
  format($$ select memory.confirm_memory('episode', %L) $$, :'random_id'), 'PM002', null,
  'an episode that does not exist cannot be confirmed'
);
select throws_ok(
  format($$ select memory.confirm_memory('entity', %L) $$, :'fact_id'),
  'PM002', $$unknown memory_type: 'entity'$$, 'a memory of an unknown type cannot be confirmed'
);
select throws_ok(
  format($$ select memory.confirm_memory(null, %L) $$, :'fact_id'),
  'PM002', 'unknown memory_type: NULL', 'a memory of a NULL type cannot be confirmed'
);
select throws_ok(
  format($$ select memory.confirm_memory('fact', %L, now() + interval '2 days') $$, :'fact_id'),
  'PM002', null,
  'a confirmation in the future is refused'
);
select throws_ok(
  format($$ select memory.confirm_memory('fact', %L, null) $$, :'fact_id'), 'PM002', null,
  'a confirmation at a NULL time is refused'
);
select throws_ok(
  format($$ select memory.confirm_memory('fact', %L, '-infinity') $$, :'fact_id'), 'PM002', null,
  'a confirmation at an infinite time is refused'
);
select lives_ok(
  format($$ select memory.confirm_memory('rule', %L, now() + interval '23 hours') $$, :'rule_id'),
  'a confirmation by a clock that runs some hours ahead is accepted'
);
select is(
  memory.confirm_memory('fact', :'random_id'), false,
  'confirming an unknown fact returns false'
);
select is(
  memory.confirm_memory('rule', :'random_id'), false,
  'confirming an unknown rule returns false'
);
select is(
  memory.confirm_memory('rule', :'fact_id'), false,
  'confirming a fact as a rule returns false'
);
select is(
  memory.confirm_memory('fact', null), false,
  'confirming a fact with a NULL id returns false'
);
select is(
  memory.confirm_memory('fact', :'foreign_fact_id'), false,
  'confirming a fact of another tenant returns false'
);
select is(
  memory.confirm_memory('rule', :'foreign_rule_id'), false,
  'confirming a rule of another tenant returns false'
);
select is(
  (select f.last_confirmed_at from memory.facts as f where f.id = :'foreign_fact_id'),
  '2026-01-01Z'::timestamptz, 'a fact of another tenant is not confirmed'
);

-- confirm_memory of fading memories

select memory.store_fact(
  'fading', 'at', 'threshold', confidence => 0.2, metadata => '{"k": 1}', as_of => '2026-01-01Z'
) as at_id \gset
select memory.store_fact(
  'fading', 'below', 'threshold', confidence => 0.19, as_of => '2026-01-01Z'
) as below_id \gset
select memory.store_rule(
  'Fading at', confidence => 0.2, metadata => '{"k": 1}', as_of => '2026-01-01Z'
) as rule_at_id \gset
select memory.store_rule('Fading below', confidence => 0.19, as_of => '2026-01-01Z') as rule_below_id \gset
update memory.facts as f set metadata = f.metadata || '{"status": "fading"}'
where f.id in (:'at_id', :'below_id');
update memory.rules as r set metadata = r.metadata || '{"status": "fading"}'
where r.id in (:'rule_at_id', :'rule_below_id');
select memory.confirm_memory('fact', :'at_id', '2026-02-01Z') \g /dev/null
select results_eq(
  format(
    $$ select f.lifecycle_state, f.metadata, f.last_confirmed_at from memory.facts as f where f.id = %L $$,
    :'at_id'
  ),
  $$ values ('active', '{"k": 1}'::jsonb, '2026-02-01Z'::timestamptz) $$,
  'a fading fact recovers at the threshold and keeps its other metadata'
);
select is(
  memory_test.events_of(:'at_id'), '{fact_created,fact_fading,fact_confirmed,fact_recovered}',
  'the recovery of a fact writes an event'
);
select memory.confirm_memory('fact', :'below_id', '2026-02-01Z') as confirmed \gset
select results_eq(
  format(
    $$ select %L::boolean, f.lifecycle_state, f.last_confirmed_at from memory.facts as f where f.id = %L $$,
    :'confirmed', :'below_id'
  ),
  $$ values (true, 'fading', '2026-02-01Z'::timestamptz) $$,
  'a fading fact below the threshold is confirmed and keeps fading'
);
select is(
  memory_test.events_of(:'below_id'), '{fact_created,fact_fading,fact_confirmed}',
  'confirming a fact below the threshold writes no event but the confirmation'
);
select memory.confirm_memory('rule', :'rule_at_id', '2026-02-01Z') \g /dev/null
select results_eq(
  format($$ select r.lifecycle_state, r.metadata from memory.rules as r where r.id = %L $$, :'rule_at_id'),
  $$ values ('active', '{"k": 1}'::jsonb) $$,
  'a fading rule recovers at the threshold'
);
select is(
  memory_test.events_of(:'rule_at_id'), '{rule_created,rule_fading,rule_confirmed,rule_recovered}',
  'the recovery of a rule writes an event'
);
select memory.confirm_memory('rule', :'rule_below_id', '2026-02-01Z') as confirmed \gset
select results_eq(
  format(
    $$ select %L::boolean, r.lifecycle_state, r.last_confirmed_at from memory.rules as r where r.id = %L $$,
    :'confirmed', :'rule_below_id'
  ),
  $$ values (true, 'fading', '2026-02-01Z'::timestamptz) $$,
  'a fading rule below the threshold is confirmed and keeps fading'
);
select memory.configure('{"fading_threshold": 0.1}') \g /dev/null
select memory.confirm_memory('fact', :'below_id', '2026-02-02Z') \g /dev/null
select memory.confirm_memory('rule', :'rule_below_id', '2026-02-02Z') \g /dev/null
select is(
  (
    select f.lifecycle_state || ' ' || r.lifecycle_state from memory.facts as f, memory.rules as r
    where f.id = :'below_id' and r.id = :'rule_below_id'
  ),
  'active active', 'the settings determine the threshold of recovery'
);
select memory.configure('{"fading_threshold": 0.2}') \g /dev/null

-- confirm_memory of superseded, expired and retracted memories

select memory.store_fact('color', 'of', 'green', as_of => '2026-01-01Z') as superseded_id \gset
select memory.store_fact('color', 'of', 'blue', as_of => '2026-01-02Z') as successor_id \gset
select memory.store_fact('shape', 'of', 'round', as_of => '2026-01-01Z') as expired_id \gset
update memory.facts as f set validity = 'expired' where f.id = :'expired_id';
select memory.store_fact('size', 'of', 'small', as_of => '2026-01-01Z') as retracted_id \gset
select memory.forget_memory('fact', :'retracted_id') \g /dev/null
select memory.store_rule('Forgotten', as_of => '2026-01-01Z') as forgotten_id \gset
select memory.forget_memory('rule', :'forgotten_id') \g /dev/null
select throws_ok(
  format($$ select memory.confirm_memory('fact', %L) $$, :'superseded_id'),
  'PM003', format('fact %s is superseded and cannot be confirmed', :'superseded_id'),
  'a superseded fact cannot be confirmed'
);
select throws_ok(
  format($$ select memory.confirm_memory('fact', %L) $$, :'expired_id'),
  'PM003', format('fact %s is expired and cannot be confirmed', :'expired_id'),
  'an expired fact cannot be confirmed'
);
select throws_ok(
  format($$ select memory.confirm_memory('fact', %L) $$, :'retracted_id'),
  'PM003', format('fact %s is retracted and cannot be confirmed', :'retracted_id'),
  'a retracted fact cannot be confirmed'
);
select throws_ok(
  format($$ select memory.confirm_memory('rule', %L) $$, :'forgotten_id'),
  'PM003', format('rule %s is retracted and cannot be confirmed', :'forgotten_id'),
  'a forgotten rule cannot be confirmed'
);

-- forget_memory of an episode

select memory.store_episode('Parrot flew in', 'home', as_of => '2026-01-02Z') as parrot_id \gset
select is(
  memory_test.found('parrot', '2026-01-05Z'), '{Parrot flew in}', 'an episode is found before it is forgotten'
);
select memory.forget_memory('episode', :'parrot_id', '2026-01-05Z') as forgotten \gset
select is(:'forgotten'::boolean, true, 'an episode can be forgotten');
select is(
  (select e.expires_at from memory.episodes as e where e.id = :'parrot_id'), '2026-01-05Z'::timestamptz,
  'a forgotten episode expires at the time of the call'
);
select is(
  memory_test.found('parrot', '2026-01-05Z'), '{}',
  'a forgotten episode is no longer found'
);
select is(
  memory_test.found('parrot', '2026-01-04Z'), '{Parrot flew in}',
  'a search as of an earlier time still finds a forgotten episode'
);
select is(
  memory_test.events_of(:'parrot_id'), '{episode_created,episode_expired}',
  'forgetting an episode writes an event'
);
select e.ctid as place from memory.episodes as e where e.id = :'parrot_id' \gset
select memory.forget_memory('episode', :'parrot_id', '2026-01-05Z') as forgotten \gset
select is(:'forgotten'::boolean, true, 'an episode can be forgotten again');
select is(
  (select e.ctid::text from memory.episodes as e where e.id = :'parrot_id'), :'place',
  'forgetting an episode again does not write its row'
);
select memory.forget_memory('episode', :'parrot_id', '2026-01-07Z') as forgotten \gset
select is(
  (select e.expires_at from memory.episodes as e where :'forgotten'::boolean and e.id = :'parrot_id'),
  '2026-01-05Z'::timestamptz, 'forgetting an episode at a later time does not extend its life'
);
select is(
  memory_test.events_of(:'parrot_id'), '{episode_created,episode_expired}',
  'forgetting an episode again writes no event'
);
select memory.store_episode('Long past', 'home', as_of => '2026-01-02Z') as past_id \gset
select memory.forget_memory('episode', :'past_id') as forgotten \gset
select results_eq(
  format(
    $$ select %L::boolean, e.expires_at from memory.episodes as e where e.id = %L $$, :'forgotten', :'past_id'
  ),
  $$ values (true, '2026-01-09Z'::timestamptz) $$,
  'an expired episode keeps its time of expiry when it is forgotten'
);
select is(
  memory_test.events_of(:'past_id'), '{episode_created}',
  'forgetting an expired episode writes no event'
);
update memory.episodes as e set expires_at = null where e.id = :'episode_id';
select memory.forget_memory('episode', :'episode_id') \g /dev/null
select is(
  (select e.expires_at from memory.episodes as e where e.id = :'episode_id'), now(),
  'an episode that never expires can be forgotten, by default now'
);

-- forget_memory of a fact

select memory.store_fact('parrot', 'is', 'Norwegian', metadata => '{"k": 1}') as bird_id \gset
update memory.facts as f set metadata = f.metadata || '{"status": "fading"}' where f.id = :'bird_id';
select is(memory_test.found('Norwegian', now()), '{Norwegian}', 'a fact is found before it is forgotten');
select memory.forget_memory('fact', :'bird_id') as forgotten \gset
select is(:'forgotten'::boolean, true, 'a fact can be forgotten');
select results_eq(
  format(
    $$ select f.validity, f.lifecycle_state, f.metadata, f.content from memory.facts as f where f.id = %L $$,
    :'bird_id'
  ),
  $$ values ('retracted', 'retracted', '{"k": 1}'::jsonb, 'Norwegian') $$,
  'a forgotten fact is retracted, no longer fades and is kept for audit'
);
select is(memory_test.found('Norwegian', now()), '{}', 'a forgotten fact is no longer found');
select is_empty(
  $$ select m.id from memory.recall('Norwegian parrot', min_confidence => 0) as m
     where m.content = 'Norwegian' $$,
  'a forgotten fact is no longer recalled'
);
select is(
  memory_test.events_of(:'bird_id'), '{fact_created,fact_fading,fact_retracted}',
  'forgetting a fact writes an event'
);
select f.ctid as place from memory.facts as f where f.id = :'bird_id' \gset
select memory.forget_memory('fact', :'bird_id') as forgotten \gset
select is(:'forgotten'::boolean, true, 'a fact can be forgotten again');
select is(
  (select f.ctid::text from memory.facts as f where f.id = :'bird_id'), :'place',
  'forgetting a fact again does not write its row'
);
select is(
  memory_test.events_of(:'bird_id'), '{fact_created,fact_fading,fact_retracted}',
  'forgetting a fact again writes no event'
);
select memory.forget_memory('fact', :'superseded_id') as forgotten \gset
select results_eq(
  format(
    $$ select %L::boolean, f.validity from memory.facts as f where f.id = %L $$,
    :'forgotten', :'superseded_id'
  ),
  $$ values (true, 'retracted') $$,
  'a superseded fact can be forgotten'
);
select is(
  (select f.validity from memory.facts as f where f.id = :'successor_id'), 'active',
  'the successor of a forgotten fact stays active'
);
select memory.forget_memory('fact', :'expired_id') as forgotten \gset
select results_eq(
  format(
    $$ select %L::boolean, f.validity from memory.facts as f where f.id = %L $$, :'forgotten', :'expired_id'
  ),
  $$ values (true, 'retracted') $$,
  'an expired fact can be forgotten'
);

-- forget_memory of a rule

select memory.store_rule('Feed the budgie', metadata => '{"k": 1}') as budgie_id \gset
update memory.rules as r set metadata = r.metadata || '{"status": "fading"}' where r.id = :'budgie_id';
select is(
  memory_test.found('budgie', now()), '{"Feed the budgie"}', 'a rule is found before it is forgotten'
);
select memory.forget_memory('rule', :'budgie_id') as forgotten \gset
select is(:'forgotten'::boolean, true, 'a rule can be forgotten');
select results_eq(
  format(
    $$ select r.lifecycle_state, r.metadata, r.content from memory.rules as r where r.id = %L $$, :'budgie_id'
  ),
  $$ values ('retracted', '{"k": 1, "forgotten": true}'::jsonb, 'Feed the budgie') $$,
  'a forgotten rule is marked, no longer fades and is kept for audit'
);
select is(memory_test.found('budgie', now()), '{}', 'a forgotten rule is no longer found');
select is(
  memory_test.events_of(:'budgie_id'), '{rule_created,rule_fading,rule_retracted}',
  'forgetting a rule writes an event'
);
select r.ctid as place from memory.rules as r where r.id = :'budgie_id' \gset
select memory.forget_memory('rule', :'budgie_id') as forgotten \gset
select is(:'forgotten'::boolean, true, 'a rule can be forgotten again');
select is(
  (select r.ctid::text from memory.rules as r where r.id = :'budgie_id'), :'place',
  'forgetting a rule again does not write its row'
);
select is(
  memory_test.events_of(:'budgie_id'), '{rule_created,rule_fading,rule_retracted}',
  'forgetting a rule again writes no event'
);

-- What forget_memory refuses or does not find

select throws_ok(
  format($$ select memory.forget_memory('entity', %L) $$, :'fact_id'),
  'PM002', $$unknown memory_type: 'entity'$$, 'a memory of an unknown type cannot be forgotten'
);
select throws_ok(
  format($$ select memory.forget_memory(null, %L) $$, :'fact_id'), 'PM002', null,
  'a memory of a NULL type cannot be forgotten'
);
select throws_ok(
  format($$ select memory.forget_memory('fact', %L, now() + interval '2 days') $$, :'fact_id'), 'PM002', null,
  'a memory cannot be forgotten in the future'
);
select throws_ok(
  format($$ select memory.forget_memory('fact', %L, null) $$, :'fact_id'), 'PM002', null,
  'a memory cannot be forgotten at a NULL time'
);
select results_eq(
  format(
    $$ select t.memory_type, memory.forget_memory(t.memory_type, %L)
       from unnest('{episode,fact,rule}'::text[]) as t (memory_type) $$,
    :'random_id'
  ),
  $$ values ('episode', false), ('fact', false), ('rule', false) $$,
  'forgetting an unknown memory returns false'
);
select is(
  memory.forget_memory('rule', :'fact_id'), false,
  'forgetting a fact as a rule returns false'
);
select is(
  memory.forget_memory('fact', null), false,
  'forgetting a fact with a NULL id returns false'
);
select memory.forget_memory('episode', :'foreign_episode_id') as forgotten_episode,
  memory.forget_memory('fact', :'foreign_fact_id') as forgotten_fact,
  memory.forget_memory('rule', :'foreign_rule_id') as forgotten_rule \gset
select is(
  array[:'forgotten_episode', :'forgotten_fact', :'forgotten_rule']::boolean[], '{f,f,f}',
  'forgetting a memory of another tenant returns false'
);
select results_eq(
  $$ select e.expires_at, f.lifecycle_state, r.lifecycle_state
     from memory.episodes as e, memory.facts as f, memory.rules as r
     where e.tenant_id = 'b' and f.tenant_id = 'b' and r.tenant_id = 'b' $$,
  $$ values ('2026-01-08Z'::timestamptz, 'active', 'active') $$,
  'a memory of another tenant is not forgotten'
);

-- get_memory

select memory.store_episode(
  'Read me', 'home', :'random_id', 6, '{"k": 1}', memory_test.axis(1), as_of => '2026-01-01Z'
) as read_episode_id \gset
select memory.store_fact(
  'book', 'is', 'read', tags => '["a"]', embedding => memory_test.axis(1), as_of => '2026-01-01Z'
) as read_fact_id \gset
select memory.store_rule(
  'Read on', embedding => memory_test.axis(1), as_of => '2026-01-01Z'
) as read_rule_id \gset
select memory.get_memory('episode', :'read_episode_id', '2026-01-02Z') as episode \gset
select memory.get_memory('fact', :'read_fact_id', '2026-01-02Z') as fact \gset
select memory.get_memory('rule', :'read_rule_id', '2026-01-02Z') as rule \gset
select ok(
  :'episode'::jsonb @> format(
    '{
      "memory_type": "episode", "id": "%s", "content": "Read me", "butler": "home", "session_id": "%s",
      "importance": 6, "metadata": {"k": 1}, "lifecycle_state": "pending", "embedding_version_id": "%s"
    }',
    :'read_episode_id', :'random_id', :'version_id'
  )::jsonb,
  'an episode can be read'
);
select ok(
  :'fact'::jsonb @> format(
    '{
      "memory_type": "fact", "id": "%s", "subject": "book", "predicate": "is", "content": "read",
      "tags": ["a"], "validity": "active", "confidence": 1
    }',
    :'read_fact_id'
  )::jsonb,
  'a fact can be read'
);
select ok(
  :'rule'::jsonb @> format(
    '{"memory_type": "rule", "id": "%s", "content": "Read on", "maturity": "candidate"}', :'read_rule_id'
  )::jsonb,
  'a rule can be read'
);
select is(
  memory_test.keys_of(:'episode'), memory_test.shown_columns('memory.episodes'),
  'get_memory shows all of an episode but the tenant and the vectors'
);
select is(
  memory_test.keys_of(:'fact'), memory_test.shown_columns('memory.facts'),
  'get_memory shows all of a fact but the tenant and the vectors'
);
select is(
  memory_test.keys_of(:'rule'), memory_test.shown_columns('memory.rules'),
  'get_memory shows all of a rule but the tenant and the vectors'
);
select results_eq(
  format(
    $$ select m ->> 'reference_count', (m ->> 'last_referenced_at')::timestamptz
       from unnest(array[%L, %L, %L]::jsonb[]) as m $$,
    :'episode', :'fact', :'rule'
  ),
  $$ values ('1', '2026-01-02Z'::timestamptz), ('1', '2026-01-02Z'), ('1', '2026-01-02Z') $$,
  'reading a memory counts as a reference, which the answer includes'
);
select memory.get_memory('episode', :'read_episode_id') \g /dev/null
select memory.get_memory('fact', :'read_fact_id') \g /dev/null
select memory.get_memory('rule', :'read_rule_id') \g /dev/null
select results_eq(
  format(
    $$ select e.reference_count, e.last_referenced_at from memory.episodes as e where e.id = %L
       union all
       select f.reference_count, f.last_referenced_at from memory.facts as f where f.id = %L
       union all
       select r.reference_count, r.last_referenced_at from memory.rules as r where r.id = %L $$,
    :'read_episode_id', :'read_fact_id', :'read_rule_id'
  ),
  $$ values (2, now()), (2, now()), (2, now()) $$,
  'reading a memory again counts again, by default now'
);
select is(
  array[
    memory_test.events_of(:'read_episode_id'), memory_test.events_of(:'read_fact_id'),
    memory_test.events_of(:'read_rule_id')
  ],
  '{{episode_created},{fact_created},{rule_created}}', 'reading a memory writes no event'
);
select results_eq(
  format(
    $$ select memory.get_memory('fact', %L) ->> 'lifecycle_state'
       union all select memory.get_memory('rule', %L) ->> 'lifecycle_state'
       union all select memory.get_memory('episode', %L) ->> 'content' $$,
    :'bird_id', :'budgie_id', :'parrot_id'
  ),
  $$ values ('retracted'), ('retracted'), ('Parrot flew in') $$,
  'a forgotten memory can still be read'
);
select results_eq(
  format(
    $$ select t.memory_type, memory.get_memory(t.memory_type, %L) is null
       from unnest('{episode,fact,rule}'::text[]) as t (memory_type) $$,
    :'random_id'
  ),
  $$ values ('episode', true), ('fact', true), ('rule', true) $$,
  'a memory that does not exist reads as NULL'
);
select is(
  memory.get_memory('rule', :'read_fact_id')::text, null,
  'a fact reads as NULL when it is taken for a rule'
);
select ok(
  memory.get_memory('episode', :'foreign_episode_id') is null
  and memory.get_memory('fact', :'foreign_fact_id') is null
  and memory.get_memory('rule', :'foreign_rule_id') is null,
  'a memory of another tenant reads as NULL'
);
select is(
  (select f.reference_count from memory.facts as f where f.id = :'foreign_fact_id'), 0,
  'an attempt to read a fact of another tenant does not count as a reference'
);
select throws_ok(
  format($$ select memory.get_memory('entity', %L) $$, :'fact_id'),
  'PM002', $$unknown memory_type: 'entity'$$, 'a memory of an unknown type cannot be read'
);
select throws_ok(
  format($$ select memory.get_memory(null, %L) $$, :'fact_id'), 'PM002', null,
  'a memory of a NULL type cannot be read'
);
select throws_ok(
  format($$ select memory.get_memory('fact', %L, now() + interval '2 days') $$, :'fact_id'), 'PM002', null,
  'a memory cannot be read in the future, because reading counts'
);
select throws_ok(
  format($$ select memory.get_memory('fact', %L, null) $$, :'fact_id'), 'PM002', null,
  'a memory cannot be read at a NULL time'
);
select is(
  (
    select e::text || f::text || r::text
    from memory.episodes as e, memory.facts as f, memory.rules as r
    where e.id = :'bystander_episode_id' and f.id = :'bystander_fact_id' and r.id = :'bystander_rule_id'
  ),
  :'bystanders',
  'other memories stay as they are'
);

-- Without a tenant

select memory_test.as_tenant('') \g /dev/null
select throws_ok(
  format($$ select memory.confirm_memory('fact', %L) $$, :'fact_id'), '28000', null,
  'nothing can be confirmed without a tenant'
);
select throws_ok(
  format($$ select memory.forget_memory('fact', %L) $$, :'fact_id'), '28000', null,
  'nothing can be forgotten without a tenant'
);
select throws_ok(
  format($$ select memory.get_memory('fact', %L) $$, :'fact_id'), '28000', null,
  'nothing can be read without a tenant'
);

select * from finish();
rollback;
