begin;
\ir fixtures.sql
select plan(62);

-- An episode stored at the given time, which lives for seven days.
create function memory_test.an_episode(
  content text,
  stored_at timestamptz default '2026-01-01Z',
  status text default 'pending'
)
  returns uuid
  language plpgsql
as $$
declare
  v_id uuid := memory.store_episode(content, 'home', as_of => stored_at);
begin
  if status <> 'pending' then
    update memory.episodes as e set consolidation_status = status where e.id = v_id;
  end if;
  return v_id;
end;
$$;

-- A cleanup in one line: expired/surplus/remaining/due.
create function memory_test.cleaned(
  as_of timestamptz,
  max_entries integer default 10000,
  batch_size integer default 10000
)
  returns text
  language sql
  volatile
  begin atomic
    select concat_ws('/', c.expired_deleted, c.capacity_deleted, c.remaining, c.due)
    from memory.run_episode_cleanup(max_entries, batch_size, as_of) as c;
  end;

create function memory_test.left_over()
  returns text
  language sql
  stable
  return (
    select string_agg(e.content, ' ' order by e.content) from memory.episodes as e where e.tenant_id = 'a'
  );

-- Expiry

select is(
  memory_test.cleaned('2026-01-01Z'), '0/0/0/0', 'a cleanup of an empty memory deletes nothing'
);
select memory_test.an_episode(s, status => s)
from unnest('{consolidated,dead_letter,failed,pending}'::text[]) as s \g /dev/null
select memory_test.an_episode('later', '2026-01-02Z') \g /dev/null
select is(
  memory_test.cleaned('2026-01-07 23:59:59Z'), '0/0/5/0', 'an episode that has not expired is kept'
);
select is(
  memory_test.cleaned('2026-01-08Z'), '0/0/5/0',
  'an episode that expires at this very moment is not yet deleted'
);
select is(
  memory_test.cleaned('2026-01-08 00:00:00.000001Z'), '4/0/1/0',
  'an expired episode is deleted, whether it was consolidated or not'
);
select is(memory_test.left_over(), 'later', 'a cleanup keeps the episodes that have not expired');
select is(
  memory_test.cleaned('2026-01-08 00:00:00.000001Z'), '0/0/1/0',
  'a second cleanup at the same time deletes nothing'
);
select is(
  (
    select array_agg(distinct e.payload) from memory.memory_events as e
    where e.event_type = 'episode_deleted'
  ),
  array[
    '{"from": "consolidated", "to": "[*]"}', '{"from": "dead_letter", "to": "[*]"}',
    '{"from": "failed", "to": "[*]"}', '{"from": "pending", "to": "[*]"}'
  ]::jsonb[],
  'each deletion writes an event'
);
select is(
  (select count(*) from memory.embedding_queue), 1::bigint,
  'a deleted episode no longer waits for a vector'
);
select memory_test.an_episode('for ever') as for_ever_id \gset
update memory.episodes as e set expires_at = null where e.id = :'for_ever_id';
select memory_test.an_episode('forgotten', '2026-01-05Z') as forgotten_id \gset
select memory.forget_memory('episode', :'forgotten_id', '2026-01-06Z') \g /dev/null
select is(
  memory_test.cleaned('2026-01-06 00:00:01Z'), '1/0/2/0',
  'the next cleanup deletes a forgotten episode'
);
select is(
  memory_test.cleaned(now()), '1/0/1/0',
  'a later cleanup deletes the episodes that have expired since'
);
select is(memory_test.left_over(), 'for ever', 'an episode that never expires is kept');
select memory_test.an_episode('recent', now() - interval '8 days') \g /dev/null
select results_eq(
  $$ select c.expired_deleted, c.remaining from memory.run_episode_cleanup() as c $$,
  $$ values (1::bigint, 1::bigint) $$, 'a cleanup runs as of now by default'
);

-- Grace

select memory.configure('{"episode_pending_grace_days": 2}') \g /dev/null
select memory_test.an_episode(s, status => s)
from unnest('{consolidated,dead_letter,failed,pending}'::text[]) as s \g /dev/null
select is(
  memory_test.cleaned('2026-01-09Z', batch_size => 1), '1/0/4/1',
  'episodes in their grace period are not due'
);
select is(
  memory_test.cleaned('2026-01-09Z'), '1/0/3/0',
  'episodes that wait for consolidation are kept during the grace period'
);
select is(
  memory_test.left_over(), 'failed for ever pending',
  'consolidated episodes and dead letters have no grace period'
);
select is(
  memory_test.cleaned('2026-01-10Z'), '0/0/3/0',
  'an episode is kept until the end of its grace period'
);
select is(
  memory_test.cleaned('2026-01-10 00:00:01Z'), '2/0/1/0',
  'an episode is deleted after the end of its grace period'
);
select memory.configure('{"episode_pending_grace_days": 0}') \g /dev/null

-- Capacity

select memory_test.an_episode('c' || n, '2026-01-01Z'::timestamptz + n * interval '1 minute', 'consolidated')
from generate_series(1, 5) as n \g /dev/null
select memory_test.an_episode(s, '2025-12-31Z', s)
from unnest('{dead_letter,failed,pending}'::text[]) as s \g /dev/null
select is(
  memory_test.cleaned('2026-01-02Z', 9), '0/0/9/0',
  'a cleanup deletes nothing for capacity if there are max_entries episodes'
);
select is(
  memory_test.cleaned('2026-01-02Z', 7), '0/2/7/0',
  'a cleanup deletes as many episodes as exceed max_entries'
);
select is(
  memory_test.left_over(), 'c3 c4 c5 dead_letter failed for ever pending',
  'a cleanup deletes the oldest consolidated episodes for capacity'
);
select is(
  memory_test.cleaned('2026-01-02Z', 0), '0/3/4/0',
  'only consolidated episodes are deleted for capacity'
);
select is(
  memory_test.left_over(), 'dead_letter failed for ever pending',
  'unconsolidated episodes are kept even if max_entries is 0'
);
select memory_test.an_episode(s || n, '2026-01-01Z', 'consolidated')
from unnest('{x,y}'::text[]) as s, generate_series(1, 3) as n \g /dev/null
select is(
  memory_test.cleaned('2026-01-08 00:00:01Z', 5), '9/0/1/0',
  'expired episodes are deleted before any episode is deleted for capacity'
);
select memory_test.an_episode('gone ' || n, '2025-12-01Z', 'consolidated') from generate_series(1, 2) as n \g /dev/null
select memory_test.an_episode('here ' || n, '2026-01-01Z'::timestamptz + n * interval '1 s', 'consolidated')
from generate_series(1, 3) as n \g /dev/null
select is(
  memory_test.cleaned('2026-01-02Z', 3), '2/1/3/0',
  'expired episodes do not count toward max_entries'
);
select is(
  memory_test.left_over(), 'for ever here 2 here 3',
  'a cleanup keeps the newest episodes within max_entries'
);
select memory_test.cleaned('2026-01-02Z', 0) \g /dev/null
select memory_test.an_episode('tie' || n, '2026-01-01Z', 'consolidated') as id
from generate_series(1, 4) as n \g /dev/null
select string_agg(e.id::text, ' ' order by e.id) as last_ties
from (select e.id from memory.episodes as e where e.content like 'tie%' order by e.id desc limit 2) as e \gset
select is(
  memory_test.cleaned('2026-01-02Z', 3), '0/2/3/0',
  'a cleanup for capacity deletes some of several episodes of the same time'
);
select is(
  (select string_agg(e.id::text, ' ' order by e.id) from memory.episodes as e where e.content like 'tie%'),
  :'last_ties', 'of episodes of the same time those with the lower ids are deleted first'
);
update memory.episodes as e set expires_at = null where e.content like 'tie%';
select is(
  memory_test.cleaned('2026-01-02Z', 2), '0/1/2/0',
  'a consolidated episode that never expires is deleted for capacity too'
);
select memory.configure('{"episode_max_entries": 1}') \g /dev/null
select results_eq(
  $$ select c.capacity_deleted, c.remaining from memory.run_episode_cleanup(as_of => '2026-01-02Z') as c $$,
  $$ values (1::bigint, 1::bigint) $$, 'max_entries defaults to the setting'
);
select memory.configure('{"episode_max_entries": 10000}') \g /dev/null

-- Batches

select memory_test.an_episode('old ' || n, '2026-01-01Z'::timestamptz - n * interval '1 hour')
from generate_series(1, 5) as n \g /dev/null
select memory_test.an_episode('done ' || n, '2026-01-05Z', 'consolidated')
from generate_series(1, 4) as n \g /dev/null
select is(
  memory_test.cleaned('2026-01-09Z', 3, 2), '2/0/8/5',
  'a cleanup deletes one batch and reports how many episodes are due'
);
select is(
  memory_test.left_over(), 'done 1 done 2 done 3 done 4 for ever old 1 old 2 old 3',
  'the episodes that expired first are deleted first'
);
select is(
  memory_test.cleaned('2026-01-09Z', 3, 2), '2/0/6/3', 'the next cleanup deletes the next batch'
);
select is(
  memory_test.cleaned('2026-01-09Z', 3, 2), '1/1/4/1',
  'a batch continues with capacity after the last expired episode'
);
select is(memory_test.cleaned('2026-01-09Z', 3, 2), '0/1/3/0', 'the last batch leaves nothing due');
select is(
  memory_test.cleaned('2026-01-09Z', 3, 1), '0/0/3/0', 'a cleanup deletes nothing if nothing is due'
);
select is(
  memory_test.cleaned('2026-01-09Z', 1, 1), '0/1/2/1',
  'a full batch for capacity reports how many episodes are still due'
);
select is(
  memory_test.cleaned('2026-01-09Z', 1, 1), '0/1/1/0',
  'the last batch for capacity leaves nothing due'
);
select memory_test.an_episode('kept ' || n, '2026-01-05Z') from generate_series(1, 3) as n \g /dev/null
select memory_test.an_episode('done', '2026-01-05Z', 'consolidated') \g /dev/null
select is(
  memory_test.cleaned('2026-01-09Z', 0, 1), '0/1/4/0',
  'an episode that cannot be deleted for capacity is never due'
);

-- Provenance

select memory_test.an_episode('source') as source_id \gset
select memory_test.an_episode('stray') as stray_id \gset
select memory_test.an_episode('linked') as linked_id \gset
select memory.store_fact('Ada', 'likes', 'tea', source_episode_id => :'source_id') as fact_id \gset
select memory.store_rule('Offer tea', source_episode_id => :'source_id') as rule_id \gset
select from memory.create_link('episode', :'linked_id', 'fact', :'fact_id', 'supports') \g /dev/null
insert into memory.facts (tenant_id, subject, predicate, content, source_episode_id)
values ('a', 'Ada', 'was', 'imported', :'source_id') returning id as imported_id \gset
insert into memory.rules (tenant_id, content, source_episode_id)
values ('a', 'Imported', :'source_id') returning id as imported_rule_id \gset
select results_eq(
  format(
    $$ select l.source_state, l.target_state from memory.get_links('fact', %L, 'outgoing', as_of => '2026-01-07Z') as l $$,
    :'fact_id'
  ),
  $$ values ('active', 'pending') $$, 'a link to a pending episode shows the target as pending'
);
select results_eq(
  format(
    $$ select l.target_state from memory.get_links('fact', %L, 'outgoing', as_of => '2026-01-08Z') as l $$, :'fact_id'
  ),
  $$ values ('expired') $$, 'a link to an expired episode shows the target as expired'
);
select memory_test.cleaned(now()) \g /dev/null
select results_eq(
  format(
    $$ select l.source_type, l.source_id, l.target_type, l.target_id, l.target_state, l.relation
       from memory.get_links('fact', %L, 'outgoing') as l $$,
    :'fact_id'
  ),
  format(
    $$ values ('fact', %L::uuid, 'episode', %L::uuid, 'expired', 'derived_from') $$, :'fact_id', :'source_id'
  ),
  'a link to a deleted episode shows the target as expired'
);
select results_eq(
  format(
    $$ select l.source_id, l.source_state, l.target_state from memory.get_links('fact', %L, 'incoming') as l $$,
    :'fact_id'
  ),
  format($$ values (%L::uuid, 'expired', 'active') $$, :'linked_id'),
  'a link from a deleted episode shows the source as expired'
);
select results_eq(
  format(
    $$ select l.source_type, l.source_id, l.relation from memory.get_links('episode', %L) as l
       order by l.source_type, l.source_id $$,
    :'source_id'
  ),
  format(
    $$ select * from (values
         ('fact', %L::uuid, 'derived_from'), ('fact', %L, 'derived_from'), ('rule', %L, 'derived_from'),
         ('rule', %L, 'derived_from')
       ) as v order by 1, 2 $$,
    :'fact_id', :'imported_id', :'rule_id', :'imported_rule_id'
  ),
  'whatever was derived from a deleted episode keeps its link, even if it was imported'
);
select is(
  (
    select array_agg(s.source_episode_id) from (
      select f.source_episode_id from memory.facts as f
      union all
      select r.source_episode_id from memory.rules as r
    ) as s
  ),
  array[null, null, null, null]::uuid[],
  'a fact or rule derived from a deleted episode no longer has a source_episode_id'
);
select is(
  (select count(*) from memory.memory_events as e where e.event_type in ('fact_updated', 'rule_updated')),
  0::bigint, 'deleting an episode writes no event for the facts and rules derived from it'
);
select results_eq(
  format(
    $$ select t.memory_type, t.memory_id, t.created_at, t.deleted_at from memory.tombstones as t
       where t.memory_id in (%L, %L, %L) order by t.memory_id = %L $$,
    :'source_id', :'linked_id', :'stray_id', :'linked_id'
  ),
  format(
    $$ values
       ('episode', %L::uuid, '2026-01-01Z'::timestamptz, now()),
       ('episode', %L, '2026-01-01Z', now()) $$,
    :'source_id', :'linked_id'
  ),
  'a deleted episode leaves a tombstone only if a link names it'
);
select is(
  memory.get_memory('episode', :'source_id'), null::jsonb, 'a deleted episode can no longer be read'
);
select throws_ok(
  format($$ select memory.create_link('fact', %L, 'episode', %L, 'supports') $$, :'imported_id', :'stray_id'),
  'PM001', null, 'a deleted episode can no longer be linked'
);
select throws_ok(
  $$ update memory.tombstones as t set created_at = now() $$, 'PM006', null, 'a tombstone cannot be changed'
);
select throws_ok(
  $$ delete from memory.tombstones $$, 'PM006', null, 'a tombstone cannot be deleted'
);
select throws_ok(
  $$ truncate memory.tombstones $$, 'PM006', null, 'the tombstones cannot be truncated'
);

-- Other tenants

select memory_test.as_tenant('b') \g /dev/null
select memory_test.an_episode('foreign', status => 'consolidated') \g /dev/null
select memory_test.as_tenant('a') \g /dev/null
select memory_test.cleaned(now(), 0) \g /dev/null
select is(
  (select e.content from memory.episodes as e where e.tenant_id = 'b'), 'foreign',
  'a cleanup deletes no episode of another tenant'
);

-- Bad input

select memory_test.an_episode('due') \g /dev/null
select throws_ok(
  format('select memory.run_episode_cleanup(%s)', c.arguments), 'PM002', c.message, c.description
)
from (values
  (1, 'max_entries => -1', 'max_entries is -1', 'a negative capacity is refused'),
  (2, 'max_entries => 1000000001', 'max_entries is 1000000001',
    'a capacity above the maximum is refused'),
  (3, 'batch_size => 0', 'batch_size is 0', 'a batch size of 0 is refused'),
  (4, 'batch_size => -1', 'batch_size is -1', 'a negative batch size is refused'),
  (5, 'batch_size => 100001', 'batch_size is 100001', 'a batch size above the maximum is refused'),
  (6, 'batch_size => null', 'batch_size is NULL', 'a NULL batch size is refused'),
  (7, 'as_of => null', 'as_of is NULL', 'a cleanup at a NULL time is refused'),
  (8, $$as_of => 'infinity'$$, 'as_of is infinity', 'a cleanup at an infinite time is refused'),
  (9, $$as_of => now() + interval '25 hours'$$,
    'as_of lies in the future: ' || (now() + interval '25 hours')::text,
    'a cleanup at a future time is refused')
) as c (position, arguments, message, description)
order by c.position;
select is(memory_test.left_over(), 'due for ever', 'a refused cleanup deletes nothing');

select * from finish();
rollback;
