begin;
\ir fixtures.sql
select plan(61);

-- An episode that was stored at a time, and lives for seven days from then.
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

select is(memory_test.cleaned('2026-01-01Z'), '0/0/0/0', 'there is nothing to clean up in an empty memory');
select memory_test.an_episode(s, status => s)
from unnest('{consolidated,dead_letter,failed,pending}'::text[]) as s \g /dev/null
select memory_test.an_episode('later', '2026-01-02Z') \g /dev/null
select is(memory_test.cleaned('2026-01-07 23:59:59Z'), '0/0/5/0', 'what has not expired stays');
select is(
  memory_test.cleaned('2026-01-08Z'), '0/0/5/0', 'what expires in this very moment is hidden, and stays for now'
);
select is(
  memory_test.cleaned('2026-01-08 00:00:00.000001Z'), '4/0/1/0',
  'after seven days an episode is deleted, whether it was consolidated or not'
);
select is(memory_test.left_over(), 'later', 'and no other');
select is(
  memory_test.cleaned('2026-01-08 00:00:00.000001Z'), '0/0/1/0', 'a second cleanup finds nothing to do'
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
  'each deletion is on the record'
);
select is(
  (select count(*) from memory.embedding_queue), 1::bigint, 'what was deleted waits for no vector any more'
);
select memory_test.an_episode('for ever') as for_ever_id \gset
update memory.episodes as e set expires_at = null where e.id = :'for_ever_id';
select memory_test.an_episode('forgotten', '2026-01-05Z') as forgotten_id \gset
select memory.forget_memory('episode', :'forgotten_id', '2026-01-06Z') \g /dev/null
select is(
  memory_test.cleaned('2026-01-06 00:00:01Z'), '1/0/2/0', 'a forgotten episode is deleted by the next cleanup'
);
select is(memory_test.cleaned(now()), '1/0/1/0', 'and others when their time has come');
select is(memory_test.left_over(), 'for ever', 'one that never expires stays');
select memory_test.an_episode('recent', now() - interval '8 days') \g /dev/null
select results_eq(
  $$ select c.expired_deleted, c.remaining from memory.run_episode_cleanup() as c $$,
  $$ values (1::bigint, 1::bigint) $$, 'a cleanup that names no time is one of now'
);

-- Grace

select memory.configure('{"episode_pending_grace_days": 2}') \g /dev/null
select memory_test.an_episode(s, status => s)
from unnest('{consolidated,dead_letter,failed,pending}'::text[]) as s \g /dev/null
select is(
  memory_test.cleaned('2026-01-09Z'), '2/0/3/0', 'what still waits for consolidation may be given some days'
);
select is(memory_test.left_over(), 'failed for ever pending', 'the others not');
select is(memory_test.cleaned('2026-01-10Z'), '0/0/3/0', 'up to their end');
select is(memory_test.cleaned('2026-01-10 00:00:01Z'), '2/0/1/0', 'and no longer');
select memory.configure('{"episode_pending_grace_days": 0}') \g /dev/null

-- Capacity

select memory_test.an_episode('c' || n, '2026-01-01Z'::timestamptz + n * interval '1 minute', 'consolidated')
from generate_series(1, 5) as n \g /dev/null
select memory_test.an_episode(s, '2025-12-31Z', s)
from unnest('{dead_letter,failed,pending}'::text[]) as s \g /dev/null
select is(memory_test.cleaned('2026-01-02Z', 9), '0/0/9/0', 'up to max_entries nothing is deleted');
select is(memory_test.cleaned('2026-01-02Z', 7), '0/2/7/0', 'beyond, as many as there are too many');
select is(
  memory_test.left_over(), 'c3 c4 c5 dead_letter failed for ever pending', 'namely the oldest consolidated ones'
);
select is(
  memory_test.cleaned('2026-01-02Z', 0), '0/3/4/0', 'what is not consolidated is never deleted for capacity'
);
select is(memory_test.left_over(), 'dead_letter failed for ever pending', 'however little may stay');
select memory_test.an_episode(s || n, '2026-01-01Z', 'consolidated')
from unnest('{x,y}'::text[]) as s, generate_series(1, 3) as n \g /dev/null
select is(
  memory_test.cleaned('2026-01-08 00:00:01Z', 5), '9/0/1/0',
  'what has expired makes room before anything is deleted for capacity'
);
select memory_test.an_episode('gone ' || n, '2025-12-01Z', 'consolidated') from generate_series(1, 2) as n \g /dev/null
select memory_test.an_episode('here ' || n, '2026-01-01Z'::timestamptz + n * interval '1 s', 'consolidated')
from generate_series(1, 3) as n \g /dev/null
select is(memory_test.cleaned('2026-01-02Z', 3), '2/1/3/0', 'what expires does not count as too many');
select is(memory_test.left_over(), 'for ever here 2 here 3', 'nor is it deleted twice');
select memory_test.cleaned('2026-01-02Z', 0) \g /dev/null
select memory_test.an_episode('tie' || n, '2026-01-01Z', 'consolidated') as id
from generate_series(1, 4) as n \g /dev/null
select string_agg(e.id::text, ' ' order by e.id) as last_ties
from (select e.id from memory.episodes as e where e.content like 'tie%' order by e.id desc limit 2) as e \gset
select is(memory_test.cleaned('2026-01-02Z', 3), '0/2/3/0', 'of episodes of the same moment');
select is(
  (select string_agg(e.id::text, ' ' order by e.id) from memory.episodes as e where e.content like 'tie%'),
  :'last_ties', 'the lower ids go first'
);
update memory.episodes as e set expires_at = null where e.content like 'tie%';
select is(
  memory_test.cleaned('2026-01-02Z', 2), '0/1/2/0', 'an episode that never expires makes room too, once consolidated'
);
select memory.configure('{"episode_max_entries": 1}') \g /dev/null
select results_eq(
  $$ select c.capacity_deleted, c.remaining from memory.run_episode_cleanup(as_of => '2026-01-02Z') as c $$,
  $$ values (1::bigint, 1::bigint) $$, 'max_entries is a setting when a call does not name it'
);
select memory.configure('{"episode_max_entries": 10000}') \g /dev/null

-- Batches

select memory_test.an_episode('old ' || n, '2026-01-01Z'::timestamptz - n * interval '1 hour')
from generate_series(1, 5) as n \g /dev/null
select memory_test.an_episode('done ' || n, '2026-01-05Z', 'consolidated')
from generate_series(1, 4) as n \g /dev/null
select is(
  memory_test.cleaned('2026-01-09Z', 3, 2), '2/0/8/5',
  'a call deletes one batch and tells how many are due: three expired, and two beyond capacity'
);
select is(
  memory_test.left_over(), 'done 1 done 2 done 3 done 4 for ever old 1 old 2 old 3', 'what expired first goes first'
);
select is(memory_test.cleaned('2026-01-09Z', 3, 2), '2/0/6/3', 'the next call takes the next batch');
select is(
  memory_test.cleaned('2026-01-09Z', 3, 2), '1/1/4/1', 'and goes on with capacity when nothing expired is left'
);
select is(memory_test.cleaned('2026-01-09Z', 3, 2), '0/1/3/0', 'until nothing is due');
select is(memory_test.cleaned('2026-01-09Z', 3, 1), '0/0/3/0', 'and then nothing happens');
select is(
  memory_test.cleaned('2026-01-09Z', 1, 1), '0/1/2/1', 'a full batch of surplus'
);
select is(memory_test.cleaned('2026-01-09Z', 1, 1), '0/1/1/0', 'the last of which says so');
select memory_test.an_episode('kept ' || n, '2026-01-05Z') from generate_series(1, 3) as n \g /dev/null
select memory_test.an_episode('done', '2026-01-05Z', 'consolidated') \g /dev/null
select is(
  memory_test.cleaned('2026-01-09Z', 0, 1), '0/1/4/0', 'what cannot be deleted for capacity is never due'
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
  $$ values ('active', 'pending') $$, 'while an episode lives, links to it resolve to its state'
);
select results_eq(
  format(
    $$ select l.target_state from memory.get_links('fact', %L, 'outgoing', as_of => '2026-01-08Z') as l $$, :'fact_id'
  ),
  $$ values ('expired') $$, 'when it has expired, as expired'
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
  'and so when it is gone'
);
select results_eq(
  format(
    $$ select l.source_id, l.source_state, l.target_state from memory.get_links('fact', %L, 'incoming') as l $$,
    :'fact_id'
  ),
  format($$ values (%L::uuid, 'expired', 'active') $$, :'linked_id'), 'whichever end of a link it was'
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
  'what was drawn from it keeps its link, also what an import had not linked'
);
select is(
  (
    select array_agg(s.source_episode_id) from (
      select f.source_episode_id from memory.facts as f
      union all
      select r.source_episode_id from memory.rules as r
    ) as s
  ),
  array[null, null, null, null]::uuid[], 'and no foreign key to it'
);
select is(
  (select count(*) from memory.memory_events as e where e.event_type in ('fact_updated', 'rule_updated')),
  0::bigint, 'which is no change of theirs'
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
  'a tombstone is left of each episode that a link names, and of no other'
);
select is(memory.get_memory('episode', :'source_id'), null::jsonb, 'the episode itself is gone');
select throws_ok(
  format($$ select memory.create_link('fact', %L, 'episode', %L, 'supports') $$, :'imported_id', :'stray_id'),
  'PM001', null, 'nothing can be linked to it any more'
);
select throws_ok(
  $$ update memory.tombstones as t set created_at = now() $$, 'PM006', null, 'a tombstone cannot be changed'
);
select throws_ok($$ delete from memory.tombstones $$, 'PM006', null, 'nor taken away');
select throws_ok($$ truncate memory.tombstones $$, 'PM006', null, 'nor all at once');

-- Others

select memory_test.as_tenant('b') \g /dev/null
select memory_test.an_episode('foreign', status => 'consolidated') \g /dev/null
select memory_test.as_tenant('a') \g /dev/null
select memory_test.cleaned(now(), 0) \g /dev/null
select is(
  (select e.content from memory.episodes as e where e.tenant_id = 'b'), 'foreign',
  'a cleanup deletes nothing of another tenant'
);

-- Bad input

select memory_test.an_episode('due') \g /dev/null
select throws_ok(
  format('select memory.run_episode_cleanup(%s)', c.arguments), 'PM002', c.message, c.description
)
from (values
  (1, 'max_entries => -1', 'max_entries is -1', 'a negative capacity is refused'),
  (2, 'max_entries => 1000000001', 'max_entries is 1000000001', 'a boundless one too'),
  (3, 'batch_size => 0', 'batch_size is 0', 'a batch of nothing is refused'),
  (4, 'batch_size => -1', 'batch_size is -1', 'a batch of less too'),
  (5, 'batch_size => 100001', 'batch_size is 100001', 'and one that is no batch'),
  (6, 'batch_size => null', 'batch_size is NULL', 'and one without an end'),
  (7, 'as_of => null', 'as_of is NULL', 'a cleanup at no time is refused'),
  (8, $$as_of => 'infinity'$$, 'as_of is infinity', 'a cleanup at the end of time is refused'),
  (9, $$as_of => now() + interval '25 hours'$$,
    'as_of lies in the future: ' || (now() + interval '25 hours')::text, 'a cleanup of time to come is refused')
) as c (position, arguments, message, description)
order by c.position;
select is(memory_test.left_over(), 'due for ever', 'and nothing is deleted by any of them');

select * from finish();
rollback;
