begin;
\ir fixtures.sql
select plan(89);

-- The error code of a statement, or none. The statement is undone.
create function memory_test.code_of(statement text)
  returns text
  language plpgsql
as $$
begin
  execute statement;
  raise exception using errcode = 'ZZ000';
exception
  when sqlstate 'ZZ000' then
    return 'none';
  when others then
    return sqlstate;
end;
$$;

-- Claims a batch of a butler, lets the LLM fail, and says how many episodes it had.
create function memory_test.fail_batch(
  butler text,
  at timestamptz,
  was_answered boolean default true
)
  returns integer
  language plpgsql
as $$
declare
  v_run uuid;
  v_size integer;
begin
  select c.run_id, count(*) into v_run, v_size
  from memory.claim_episodes(fail_batch.butler, as_of => at) as c group by c.run_id;
  if v_run is not null then
    perform memory.fail_consolidation(v_run, 'no', was_answered => fail_batch.was_answered, as_of => at);
  end if;
  return v_size;
end;
$$;

-- Claims a batch of a butler and applies an answer; returns the run.
create function memory_test.answer_batch(
  butler text,
  at timestamptz,
  output jsonb default '{}'
)
  returns memory.consolidation_runs
  language plpgsql
as $$
declare
  v_run_id uuid;
  v_run memory.consolidation_runs;
begin
  select c.run_id into v_run_id
  from memory.claim_episodes(answer_batch.butler, as_of => at) as c
  limit 1;
  if v_run_id is not null then
    select a.* into v_run
    from memory.apply_consolidation(
      v_run_id, memory_test.cited(v_run_id, output), as_of => at
    ) as a;
  end if;
  return v_run;
end;
$$;

-- Batches by tokens

select memory.store_episode('t' || n || repeat('x', 398), 'tokens', source_class => case n when 1 then 'user' else 'agent' end,
  as_of => '2026-01-01Z'::timestamptz + n * interval '1 s')
from generate_series(1, 4) as n \g /dev/null
select memory.store_episode('big' || repeat('x', 900000), 'tokens', as_of => '2026-01-01T01:00Z') \g /dev/null
select memory.store_episode('last', 'tokens', as_of => '2026-01-01T02:00Z') \g /dev/null
select results_eq(
  $$ select left(c.content, 2), c.source_class from memory.claim_episodes('tokens', max_tokens => 250, as_of => '2026-01-02Z') as c $$,
  $$ values ('t1', 'user'), ('t2', 'agent') $$,
  'a batch has no more tokens than asked for, and its episodes say whose statements they are'
);
select memory.release_run(r.id, '2026-01-02Z') from memory.consolidation_runs as r where r.status = 'running' \g /dev/null
select is(
  (select count(*) from memory.claim_episodes('tokens', batch_size => 3, as_of => '2026-01-02Z')), 3::bigint,
  'a batch has no more episodes than asked for'
);
select memory.release_run(r.id, '2026-01-02Z') from memory.consolidation_runs as r where r.status = 'running' \g /dev/null
select is(
  cardinality((memory_test.answer_batch('tokens', '2026-01-02Z')).episode_ids), 4,
  'a batch ends before an episode that would make it too long by the setting'
);
select is(
  cardinality((memory_test.answer_batch('tokens', '2026-01-02Z')).episode_ids), 1,
  'an episode that is too long for any batch goes alone'
);
select memory.configure('{"consolidation_batch_tokens": 1}') \g /dev/null
select is(
  cardinality((memory_test.answer_batch('tokens', '2026-01-02Z')).episode_ids), 1,
  'even the smallest setting lets one episode through'
);
select memory.configure('{"consolidation_batch_tokens": 6000}') \g /dev/null
select memory.store_episode(t.content, 'bytes', as_of => '2026-01-01Z')
from unnest('{five.,again}'::text[]) as t (content) \g /dev/null
select is(
  (select count(*) from memory.claim_episodes('bytes', max_tokens => 3, as_of => '2026-01-02Z')), 1::bigint,
  'four bytes begun are a token'
);
select memory.release_run(r.id, '2026-01-02Z') from memory.consolidation_runs as r where r.status = 'running' \g /dev/null
select is(
  cardinality((memory_test.answer_batch('bytes', '2026-01-02Z')).episode_ids), 2, 'two tokens for five bytes each'
);
select throws_ok(
  $$ select memory.claim_episodes(max_tokens => 0) $$, 'PM002', null, 'a batch of no tokens is refused'
);

-- Halving

select memory.store_episode('h' || n, 'half', as_of => '2026-01-01Z'::timestamptz + n * interval '1 s')
from generate_series(1, 5) as n \g /dev/null
select is(memory_test.fail_batch('half', '2026-01-02T00:00Z'), 5, 'the first batch has all five episodes');
select results_eq(
  $$ select distinct e.consolidation_batch_limit, e.consolidation_attempts from memory.episodes as e where e.butler = 'half' $$,
  $$ values (2, 1) $$, 'after a failed batch of five, none of its episodes may be in one of more than two'
);
select is(memory_test.fail_batch('half', '2026-01-02T01:00Z'), 2, 'the next batch has half as many');
select results_eq(
  $$ select c.content from memory.claim_episodes('half', as_of => '2026-01-02T01:00Z') as c $$,
  $$ values ('h3'), ('h4') $$, 'so does the one after it, with the others'
);
select a.status from memory.consolidation_runs as r
cross join lateral memory.apply_consolidation(r.id, '{}', as_of => '2026-01-02T01:00Z') as a
where r.status = 'running' \g /dev/null
select results_eq(
  $$ select e.content, e.consolidation_status::text, e.consolidation_batch_limit from memory.episodes as e where e.butler = 'half' order by 1 $$,
  $$ values ('h1', 'failed', 1), ('h2', 'failed', 1), ('h3', 'consolidated', null::integer), ('h4', 'consolidated', null), ('h5', 'failed', 2) $$,
  'success lifts the limit'
);
select memory.store_episode('new', 'half', as_of => '2026-01-02T02:00Z') \g /dev/null
select results_eq(
  $$ select c.content from memory.claim_episodes('half', as_of => '2026-01-02T03:00Z') as c $$,
  $$ values ('h1') $$, 'an episode of a failed batch of two goes alone, even if others wait'
);
select memory.release_run(r.id, '2026-01-02T03:00Z') from memory.consolidation_runs as r where r.status = 'running' \g /dev/null
select memory_test.answer_batch('half', '2026-01-02T03:00Z') \g /dev/null
select memory_test.answer_batch('half', '2026-01-02T03:00Z') \g /dev/null
select results_eq(
  $$ select c.content from memory.claim_episodes('half', as_of => '2026-01-02T03:00Z') as c $$,
  $$ values ('h5'), ('new') $$, 'a limit of two leaves room for one that has not failed'
);
select memory.release_run(r.id, '2026-01-02T03:00Z') from memory.consolidation_runs as r where r.status = 'running' \g /dev/null

-- Only a batch of one makes a dead letter

select memory.configure('{"consolidation_max_attempts": 2}') \g /dev/null
select memory.store_episode('d' || n, 'dead', as_of => '2026-01-01Z'::timestamptz + n * interval '1 s')
from generate_series(1, 4) as n \g /dev/null
select memory_test.fail_batch('dead', '2026-01-02T00:00Z') \g /dev/null
select memory_test.fail_batch('dead', '2026-01-02T01:00Z') \g /dev/null
select results_eq(
  $$ select e.content, e.consolidation_status::text, e.consolidation_attempts from memory.episodes as e where e.butler = 'dead' order by 1 $$,
  $$ values ('d1', 'failed', 2), ('d2', 'failed', 2), ('d3', 'failed', 1), ('d4', 'failed', 1) $$,
  'an episode that never failed alone is no dead letter, however often it failed'
);
select memory_test.fail_batch('dead', '2026-01-02T02:00Z') \g /dev/null
select memory_test.answer_batch('dead', '2026-01-02T02:00Z') \g /dev/null
select memory_test.answer_batch('dead', '2026-01-02T02:00Z') \g /dev/null
select results_eq(
  $$ select e.content, e.consolidation_status::text from memory.episodes as e where e.butler = 'dead' order by 1 $$,
  $$ values ('d1', 'dead_letter'), ('d2', 'consolidated'), ('d3', 'consolidated'), ('d4', 'consolidated') $$,
  'the episode that fails alone ends alone'
);
select memory.configure('{"consolidation_max_attempts": 5}') \g /dev/null

-- The LLM could not be reached

select memory.store_episode('a' || n, 'away', as_of => '2026-01-01Z'::timestamptz + n * interval '1 s')
from generate_series(1, 3) as n \g /dev/null
create function memory_test.due(
  butler text,
  at timestamptz
)
  returns text
  language sql
  return (
    select concat_ws(
      ' ', d.waiting, 'waiting', nullif(d.retrying, 0) || ' retrying',
      case when d.is_running then 'running until ' || to_char(d.leased_until at time zone 'UTC', 'HH24:MI') end,
      case when d.is_due then 'due' end,
      'next ' || to_char(d.next_try_at at time zone 'UTC', 'HH24:MI')
    )
    from memory.list_due_consolidations(at) as d
    where d.butler = due.butler
  );
select is(memory_test.due('away', '2026-02-01T00:00Z'), null, 'expired episodes do not wait');
select is(memory_test.due('away', '2026-01-03T00:00Z'), '3 waiting due', 'new episodes are due at once');
select is(memory_test.fail_batch('away', '2026-01-03T00:00Z', was_answered => false), 3, 'a run claims the episodes');
select results_eq(
  $$ select distinct e.consolidation_status::text, e.consolidation_attempts, e.last_consolidation_error, e.next_consolidation_retry_at, e.consolidation_batch_limit
     from memory.episodes as e where e.butler = 'away' $$,
  $$ values ('pending', 0, null::text, null::timestamptz, null::integer) $$,
  'a run in which the LLM could not be reached leaves its episodes as they were'
);
select results_eq(
  $$ select r.status, r.was_answered, r.errors -> 0 ->> 'message' from memory.consolidation_runs as r where r.butler = 'away' $$,
  $$ values ('failed', false, 'no') $$, 'but it has failed, and says so'
);
select is(
  array[memory_test.due('away', '2026-01-03T00:01:59Z'), memory_test.due('away', '2026-01-03T00:02Z')],
  '{3 waiting next 00:02,3 waiting due}', 'the next try is due two minutes later, long before the interval ends'
);
select is(memory_test.fail_batch('away', '2026-01-03T00:02Z', was_answered => false), 3, 'the second try');
select is(
  array[memory_test.due('away', '2026-01-03T00:05Z'), memory_test.due('away', '2026-01-03T00:06Z')],
  '{3 waiting next 00:06,3 waiting due}', 'then after four minutes'
);
select memory_test.fail_batch('away', '2026-01-03T00:06Z', was_answered => false) \g /dev/null
select is(memory_test.due('away', '2026-01-03T00:07Z'), '3 waiting next 00:14', 'then after eight');
select memory.configure('{"consolidation_episode_threshold": 2}') \g /dev/null
select is(
  memory_test.due('away', '2026-01-03T00:07Z'), '3 waiting next 00:14',
  'no number of waiting episodes brings the next try forward'
);
select memory.configure('{"consolidation_episode_threshold": 100}') \g /dev/null
select is(memory_test.fail_batch('away', '2026-01-03T00:07Z', was_answered => false), 3, 'by hand it can be tried at once');
select memory_test.fail_batch('away', '2026-01-03T01:00Z'::timestamptz + n * interval '1 s', was_answered => false)
from generate_series(1, 20) as n \g /dev/null
select is(
  memory_test.due('away', '2026-01-03T02:00Z'), '3 waiting next 07:00', 'the wait never exceeds the interval of six hours'
);
select is((memory_test.answer_batch('away', '2026-01-03T03:00Z')).was_answered, true, 'a run that is done was answered');
select memory.store_episode('a4', 'away', as_of => '2026-01-03T03:00Z') \g /dev/null
select is(memory_test.due('away', '2026-01-03T03:01Z'), '1 waiting', 'an answer ends the series: the interval counts again');
select memory_test.fail_batch('away', '2026-01-03T09:00Z', was_answered => false) \g /dev/null
select is(memory_test.due('away', '2026-01-03T09:01Z'), '1 waiting next 09:02', 'and a new series begins with two minutes');

-- Retries, and runs in progress

select memory.store_episode('r1', 'retry', as_of => '2026-01-03T00:00Z') \g /dev/null
select memory_test.fail_batch('retry', '2026-01-03T01:00Z') \g /dev/null
select is(
  array[memory_test.due('retry', '2026-01-03T01:01Z'), memory_test.due('retry', '2026-01-03T01:02Z')],
  '{0 waiting 1 retrying next 01:02,1 waiting due}',
  'a butler whose episodes only wait for a retry is listed, and due when the retry is'
);
select memory.store_episode('r2', 'retry', as_of => '2026-01-03T01:00Z') \g /dev/null
select is(
  memory_test.due('retry', '2026-01-03T01:01Z'), '1 waiting 1 retrying', 'new episodes need not wait for the retry of others'
);
select memory.claim_episodes('retry', as_of => '2026-01-03T01:01Z') \g /dev/null
select is(
  memory_test.due('retry', '2026-01-03T01:03Z'), '2 waiting running until 01:16',
  'a run in progress shows until when it holds its lease'
);
select is(memory_test.due('retry', '2026-01-03T01:16Z'), '2 waiting due', 'and not any more after that');
select memory.configure('{"consolidation_review": true}') \g /dev/null
select memory.store_episode('p1', 'proposing', as_of => '2026-01-03T00:00Z') \g /dev/null
select memory_test.answer_batch('proposing', '2026-01-03T01:00Z', '{"new_rules": [{"content": "Be kind"}]}') \g /dev/null
select memory.store_episode('p2', 'proposing', as_of => '2026-01-03T01:00Z') \g /dev/null
select memory.configure('{"consolidation_review": false}') \g /dev/null
select is(
  array[memory_test.due('proposing', '2026-01-03T02:00Z'), memory_test.due('proposing', '2026-01-03T07:00Z')],
  '{1 waiting,1 waiting due}', 'a run that only proposed was a run too: the next is due after the interval'
);

-- What is noted about the LLM

select memory.store_episode('n' || n, 'notes' || n, as_of => '2026-01-03T00:00Z') from generate_series(1, 5) as n \g /dev/null
select run_id as noted from memory.claim_episodes('notes1', as_of => '2026-01-03T00:00Z') \gset
select memory.apply_consolidation(
  :'noted', '{}', prompt_version => 'v1', model => 'x' || repeat('é', 300), answer => 'I say {}', prompt_tokens => 12, answer_tokens => 3,
  llm_seconds => 1.5, as_of => '2026-01-03T00:00Z'
) \g /dev/null
select results_eq(
  format(
    $$ select octet_length(r.model), r.prompt_version, r.was_answered, r.answer, r.prompt_tokens, r.answer_tokens, r.llm_seconds
       from memory.consolidation_runs as r where r.id = %L $$, :'noted'
  ),
  $$ values (511, 'v1', true, 'I say {}', 12, 3, 1.5::float8) $$,
  'a run keeps its answer, tokens and seconds, and as much of a long name as fits'
);
select is(memory.get_consolidation_answer(:'noted'), 'I say {}', 'get_consolidation_answer returns the answer');
select results_eq(
  format($$ select r.answer, r.prompt_tokens from memory.list_consolidation_runs(run_id => %L) as r $$, :'noted'),
  $$ values (null::text, 12) $$, 'lists of runs have no answers'
);
select run_id as odd from memory.claim_episodes('notes2', as_of => '2026-01-03T00:00Z') \gset
select lives_ok(
  format(
    $$ select memory.fail_consolidation(
         %L, ' ', repeat('v', 200), repeat('m', 2000), true, repeat('é', 100000), -1, -1, 'NaN', '2026-01-03T00:00Z'
       ) $$, :'odd'
  ),
  'nothing about the LLM keeps a run from ending'
);
select results_eq(
  format(
    $$ select r.status, r.errors -> 0 ->> 'message', octet_length(r.prompt_version), octet_length(r.model), octet_length(r.answer),
         r.prompt_tokens, r.answer_tokens, r.llm_seconds
       from memory.consolidation_runs as r where r.id = %L $$, :'odd'
  ),
  $$ values ('failed', 'no reason was given', 128, 512, 65536, null::integer, null::integer, null::float8) $$,
  'what is too long is shortened, and what makes no sense is left out'
);
select run_id as rejecting from memory.claim_episodes('notes3', as_of => '2026-01-03T00:00Z') \gset
select memory.apply_consolidation(:'rejecting', '{"new_rules": [{"content": ""}]}', model => 'm', answer => 'bad', llm_seconds => 2, as_of => '2026-01-03T00:00Z') \g /dev/null
select results_eq(
  format($$ select r.status, r.model, r.answer, r.llm_seconds from memory.consolidation_runs as r where r.id = %L $$, :'rejecting'),
  $$ values ('failed', 'm', 'bad', 2::float8) $$, 'a run whose actions are all rejected keeps its answer'
);
select memory.configure('{"consolidation_answer_octets": 0}') \g /dev/null
select run_id as silent from memory.claim_episodes('notes4', as_of => '2026-01-03T00:00Z') \gset
select memory.apply_consolidation(:'silent', '{}', answer => 'secret', as_of => '2026-01-03T00:00Z') \g /dev/null
select is(memory.get_consolidation_answer(:'silent'), null, 'answers are not kept if the setting says so');
select memory.configure('{"consolidation_answer_octets": 7}') \g /dev/null
select run_id as short from memory.claim_episodes('notes5', as_of => '2026-01-03T00:00Z') \gset
select memory.apply_consolidation(:'short', '{}', answer => 'I say é', as_of => '2026-01-05T00:00Z') \g /dev/null
select is(memory.get_consolidation_answer(:'short'), 'I say ', 'an answer is shortened between characters');
select throws_ok(
  $$ select memory.get_consolidation_answer('00000000-0000-0000-0000-000000000000') $$, 'PM001', null,
  'an unknown run has no answer'
);
select memory_test.as_tenant('b') \g /dev/null
select throws_ok(
  format($$ select memory.get_consolidation_answer(%L) $$, :'noted'), 'PM001', null, 'nor has one of another tenant'
);
select memory.run_episode_cleanup(as_of => '2026-03-01Z') \g /dev/null
select memory_test.as_tenant('a') \g /dev/null
select memory.run_episode_cleanup(as_of => '2026-02-02T00:00Z') \g /dev/null
select is(memory.get_consolidation_answer(:'noted'), 'I say {}', 'an answer is kept for thirty days');
select memory.run_episode_cleanup(as_of => '2026-02-02T00:00:01Z') \g /dev/null
select is(
  array[memory.get_consolidation_answer(:'noted'), memory.get_consolidation_answer(:'short')], array[null, 'I say '],
  'and deleted by the cleanup afterwards'
);

-- Erasure

select memory.configure('{"consolidation_answer_octets": 65536}') \g /dev/null
select memory.store_episode('Zoe lives in Rome', 'erase1', as_of => now()) as of_zoe \gset
select memory.store_episode('x', 'erase2', as_of => now()) \g /dev/null
select memory.store_episode('y', 'erase3', as_of => now()) \g /dev/null
select run_id as told from memory.claim_episodes('erase1') \gset
select memory.apply_consolidation(
  :'told', format('{"new_facts": [{"subject": "Zoe", "predicate": "lives in", "content": "Rome", "evidence": ["%s"]}]}', :'of_zoe')::jsonb,
  answer => 'She lives in Rome'
) \g /dev/null
select run_id as named from memory.claim_episodes('erase2') \gset
select memory.fail_consolidation(:'named', 'no', answer => 'Was it Zoe?') \g /dev/null
select run_id as other from memory.claim_episodes('erase3') \gset
select memory.apply_consolidation(:'other', '{}', answer => 'Nothing') \g /dev/null
select is(
  (select v.remaining from memory.verify_erasure('Zoe') as v where (v.table_name, v.column_name) = ('consolidation_runs', 'answer')),
  1::bigint, 'verify_erasure looks at the answers'
);
select is(
  (select e.erased from memory.erase_subject('Zoe', mentions => false, dry_run => true) as e where e.object = 'traces of consolidation'),
  1::bigint, 'the answer about an erased episode is erased, even if mentions are not'
);
select is(
  (select e.erased from memory.erase_subject('Zoe') as e where e.object = 'traces of consolidation'),
  2::bigint, 'with mentions, every answer that names the subject is'
);
select is(
  array[memory.get_consolidation_answer(:'told'), memory.get_consolidation_answer(:'named'), memory.get_consolidation_answer(:'other')],
  array[null, null, 'Nothing'], 'after an erasure other answers are left'
);
select is_empty(
  $$ select v.table_name from memory.verify_erasure('Zoe') as v where v.remaining > 0 $$, 'nothing of the subject is left'
);

select memory.configure('{"consolidation_instructions": "Call Zoe"}') \g /dev/null
select results_eq(
  $$ select v.table_name, v.column_name from memory.verify_erasure('Zoe') as v where v.remaining > 0 $$,
  $$ values ('settings', 'consolidation_instructions') $$, 'instructions that name the subject are found'
);
select memory.configure('{"consolidation_instructions": ""}') \g /dev/null
select is(
  (
    select e.payload from memory.memory_events as e
    where e.tenant_id = 'a' and e.event_type = 'settings_updated' order by e.seq desc limit 1
  ),
  '{"old": {"consolidation_instructions": "10 octets"}, "new": {"consolidation_instructions": ""}}'::jsonb,
  'events, which cannot be erased, do not repeat them'
);

-- Again

create function memory_test.states(butler text)
  returns text
  language sql
  return (
    select string_agg(e.content || ' ' || e.consolidation_status, ', ' order by e.created_at, e.id)
    from memory.episodes as e where e.butler = states.butler
  );
select memory.store_episode('g' || n, 'again', as_of => '2026-01-03T00:00Z'::timestamptz + n * interval '1 s')
from generate_series(1, 2) as n \g /dev/null
select id as first from memory_test.answer_batch('again', '2026-01-03T01:00Z',
  '{"new_facts": [{"subject": "cat", "predicate": "name", "content": "Tom"}], "new_rules": [{"content": "Feed the cat"}]}') \gset
select throws_ok(
  format($$ select memory.requeue_run(%L, '2026-01-03T02:00Z') $$, :'first'), 'PM003', null,
  'the episodes of a run that stands are not requeued'
);
select count(*) from memory.undo_consolidation(:'first', '2026-01-03T02:00Z') \g /dev/null
select is(memory.requeue_run(:'first', '2026-01-03T03:00Z'), 2::bigint, 'those of an undone run are');
select is(memory_test.states('again'), 'g1 pending, g2 pending', 'they are pending again');
select is(memory.requeue_run(:'first', '2026-01-03T03:00Z'), 0::bigint, 'requeueing a run twice requeues nothing more');
select results_eq(
  $$ select r.facts_created, r.rules_created, cardinality(r.episode_ids)
     from memory_test.answer_batch('again', '2026-01-03T04:00Z',
       '{"new_facts": [{"subject": "cat", "predicate": "name", "content": "Tom"}], "new_rules": [{"content": "Feed the cat"}]}') as r $$,
  $$ values (1, 1, 2) $$, 'another run may store the same again'
);
select results_eq(
  $$ select f.content, f.lifecycle_state from memory.facts as f where f.subject = 'cat' union all
     select r.content, r.lifecycle_state from memory.rules as r where r.content like '%cat' order by 1, 2 $$,
  $$ values ('Feed the cat', 'active'), ('Feed the cat', 'retracted'), ('Tom', 'active'), ('Tom', 'retracted') $$,
  'then both are there again, and what was undone stays undone'
);
select is(
  memory.requeue_run(:'first', '2026-01-03T05:00Z'), 0::bigint, 'episodes of which a later run has made something are left alone'
);
select memory.store_episode('n' || n, 'nothing', as_of => '2026-01-03T00:00Z'::timestamptz + n * interval '1 s')
from generate_series(1, 2) as n \g /dev/null
select id as empty from memory_test.answer_batch('nothing', '2026-01-03T01:00Z') \gset
update memory.episodes as e set expires_at = '2026-01-03T02:00Z' where e.content = 'n2' and e.butler = 'nothing';
select is(
  memory.requeue_run(:'empty', '2026-01-03T03:00Z'), 1::bigint, 'a run that made nothing can be tried again, but for episodes that expired'
);
select is(
  memory_test.events_of((select e.id from memory.episodes as e where e.content = 'n1' and e.butler = 'nothing')),
  '{episode_created,episode_consolidated,episode_requeued}', 'requeueing a consolidated episode writes an event'
);
select memory.store_episode('f1', 'failing', as_of => '2026-01-03T00:00Z') as f1 \gset
select memory_test.fail_batch('failing', '2026-01-03T01:00Z') \g /dev/null
select is(
  (select memory.requeue_run(r.id, '2026-01-03T01:00Z') from memory.consolidation_runs as r where r.butler = 'failing'),
  1::bigint, 'so can a failed run'
);
select results_eq(
  format($$ select e.consolidation_status::text, e.consolidation_attempts, e.consolidation_batch_limit from memory.episodes as e where e.id = %L $$, :'f1'),
  $$ values ('pending', 0, null::integer) $$, 'a requeued episode is as if never tried'
);
select distinct run_id as working from memory.claim_episodes('failing', as_of => '2026-01-03T01:00Z') \gset
select throws_ok(
  format($$ select memory.requeue_run(%L) $$, :'working'), 'PM003', null, 'a run in progress is not requeued'
);
select is(memory.release_run(:'working', '2026-01-03T01:00Z'), true, 'it can be released by hand');
select throws_ok(
  format($$ select memory.requeue_run(%L) $$, (select r.id from memory.consolidation_runs as r where r.status = 'proposed')), 'PM003', null,
  'a run whose proposals wait is not requeued'
);
select throws_ok(
  $$ select memory.requeue_run('00000000-0000-0000-0000-000000000000') $$, 'PM001', null, 'an unknown run is not requeued'
);
select throws_ok(
  format($$ select memory.requeue_episodes(array[%L, '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000000']::uuid[]) $$, :'f1'),
  'PM001', 'no episode has id ''00000000-0000-0000-0000-000000000001''', 'the first unknown episode is named'
);
select is(memory.requeue_episodes(array[:'f1']::uuid[]), 0::bigint, 'a pending episode is not requeued');

-- What the prompt shows

select memory.store_fact('user', 'home city', 'The user lives in Lisbon', scope => 'ctx', as_of => '2026-01-01T00:00Z') as lisbon \gset
select memory.store_fact('user', 'thing ' || n, 'Something unrelated number ' || n, scope => 'ctx', as_of => '2026-01-02Z'::timestamptz + n * interval '1 s')
from generate_series(1, 120) as n \g /dev/null
select memory.store_fact('user', 'city', 'The user left Lisbon', scope => 'elsewhere', as_of => '2026-01-02Z') \g /dev/null
select memory.store_episode('I moved from Lisbon to Porto', 'ctx', as_of => '2026-01-03Z') \g /dev/null
select distinct run_id as ctx from memory.claim_episodes('ctx', as_of => '2026-01-03Z') \gset
create function memory_test.shown(
  list text,
  run_id uuid,
  max_facts integer default 100
)
  returns setof jsonb
  language sql
  return jsonb_array_elements(memory.get_consolidation_context('ctx', max_facts, run_id => shown.run_id) -> list);
select is(
  (select count(*) from memory_test.shown('facts', null) as f where f ->> 'content' like '%Lisbon'), 0::bigint,
  'without a run the newest facts are shown'
);
select is(
  (select f - 'id' from memory_test.shown('facts', :'ctx') as f limit 1),
  '{"subject": "user", "predicate": "home city", "content": "The user lives in Lisbon", "permanence": "standard", "scope": "ctx",
    "since": "2026-01-01T00:00:00+00:00", "origin": "stated", "trust": "user", "planned_for": null}'::jsonb,
  'with a run the fact that shares a rare word with its episodes comes first'
);
select is(
  (select array[count(*), count(distinct f ->> 'id')] from memory_test.shown('facts', :'ctx') as f), '{100,100}',
  'the newest facts fill up, and none is shown twice'
);
select is_empty(
  format($$ select f from memory_test.shown('facts', %L, 1000) as f where f ->> 'scope' = 'elsewhere' $$, :'ctx'),
  'facts of another butler''s scope are not shown'
);
select is(
  (select count(*) from memory_test.shown('facts', :'ctx', 0)), 0::bigint, 'no facts are shown if none are asked for'
);
select memory.entity_create('Ines Duarte', 'person', aliases => array['Nini']) as ines \gset
select memory.store_fact('wife', 'born in', 'Faro', entity_id => :'ines', scope => 'ctx', as_of => '2026-01-01T00:00Z') \g /dev/null
select memory.store_episode('My Nini came', 'ctx', as_of => '2026-01-03Z') \g /dev/null
select memory.release_run(:'ctx', '2026-01-03Z') \g /dev/null
select distinct run_id as ctx from memory.claim_episodes('ctx', as_of => '2026-01-03Z') \gset
select set_has(
  format($$ select f ->> 'content' from memory_test.shown('facts', %L, 3) as f $$, :'ctx'),
  $$ values ('Faro'), ('The user lives in Lisbon') $$, 'a fact about an entity is shown if an episode names one of its aliases'
);
select memory.register_embedding_version('model', '1') \g /dev/null
select memory.store_fact('user', 'pet', 'owns a dog', embedding => memory_test.near(0.9), scope => 'ctx', as_of => '2026-01-01T00:00Z') \g /dev/null
select memory.store_fact('user', 'hue', 'likes blue', embedding => memory_test.axis(9), scope => 'ctx', as_of => '2026-01-01T00:00Z') \g /dev/null
select memory.release_run(:'ctx', '2026-01-03Z') \g /dev/null
select memory.store_episode('My poodle barked', 'ctx', embedding => memory_test.axis(1), as_of => '2026-01-03Z') \g /dev/null
select distinct run_id as ctx from memory.claim_episodes('ctx', as_of => '2026-01-03Z') \gset
select set_has(
  format($$ select f ->> 'content' from memory_test.shown('facts', %L, 5) as f $$, :'ctx'),
  $$ values ('owns a dog') $$, 'a fact is shown that means something similar, if vectors say so'
);
select memory.configure('{"exact_scan_limit": 10}') \g /dev/null
select lives_ok(
  format($$ select memory.get_consolidation_context('ctx', run_id => %L) $$, :'ctx'), 'a large memory without an index of vectors is searched by words'
);
select memory.configure('{"exact_scan_limit": 10000}') \g /dev/null
select is(
  (select array_agg(distinct f ->> 'origin') from jsonb_array_elements(memory.get_consolidation_context('again') -> 'facts') as f),
  '{inferred}', 'what consolidation made is shown as inferred'
);
select throws_ok(
  format($$ select memory.get_consolidation_context('work', run_id => %L) $$, :'ctx'), 'PM001', null,
  'the run of another butler is refused'
);
select is(
  memory.get_consolidation_context('ctx') - '{facts,rules}'::text[],
  '{"proposals": [], "instructions": {"instructions": "", "language": "", "categories": [], "predicates": []}}'::jsonb,
  'there are no proposals and no instructions at first'
);
select is(
  memory.get_consolidation_context('proposing') -> 'proposals',
  '[{"text": "Be kind", "action": "new_rule", "reason": "consolidation_review is on"}]'::jsonb, 'proposals that wait are shown to their butler'
);
select memory.configure(
  '{"consolidation_instructions": {"ctx": "Only pets.", "*": "Be brief."}, "consolidation_language": "German",
    "consolidation_categories": {"home": ["family"]}, "consolidation_predicates": ["lives in", "owns"]}'
) \g /dev/null
select is(
  array[memory.get_consolidation_context('ctx') -> 'instructions', memory.get_consolidation_context('home') -> 'instructions'],
  array[
    '{"instructions": "Only pets.", "language": "German", "categories": null, "predicates": ["lives in", "owns"]}',
    '{"instructions": "Be brief.", "language": "German", "categories": ["family"], "predicates": ["lives in", "owns"]}'
  ]::jsonb[],
  'a setting for the prompt says the same for all butlers, or something to each'
);
select memory_test.as_tenant('b') \g /dev/null
select throws_ok(
  format($$ select memory.get_consolidation_context('ctx', run_id => %L) $$, :'ctx'), 'PM001', null, 'so is that of another tenant'
);
select memory_test.as_tenant('a') \g /dev/null
select is_empty(
  $$ select s.setting, s.value
     from (values
       ('consolidation_instructions', '1'), ('consolidation_instructions', '["a"]'), ('consolidation_instructions', '{"a": ["b"]}'),
       ('consolidation_instructions', to_jsonb(repeat('x', 70000))::text), ('consolidation_language', '7'),
       ('consolidation_categories', '"a"'), ('consolidation_categories', '[1]'), ('consolidation_categories', '{"a": "b"}'),
       ('consolidation_predicates', '{"a": [1]}'), ('consolidation_predicates', '[["a"]]')
     ) as s (setting, value)
     where memory_test.code_of(format('select memory.configure(%L)', jsonb_build_object(s.setting, s.value::jsonb))) <> 'PM002' $$,
  'a setting for the prompt of another shape is refused'
);

-- Work

select memory_test.as_tenant('b') \g /dev/null
select count(memory.store_fact('person ' || n, 'likes', 'thing ' || n)) from generate_series(1, 800) as n \g /dev/null
select memory.store_episode('twenty people', 'busy') \g /dev/null
-- As autovacuum does within a minute.
analyze memory.facts;
create view memory_test.work as
select s.seq_tup_read + s.idx_tup_fetch as rows_read from pg_stat_xact_user_tables as s where s.relid = 'memory.facts'::regclass;
select c.run_id as busy, c.episode_id as told, w.rows_read from memory.claim_episodes('busy') as c, memory_test.work as w \gset
select r.facts_created
from memory.apply_consolidation(:'busy', (
  select jsonb_build_object('new_facts', jsonb_agg(jsonb_build_object(
    'subject', 'another person ' || n, 'predicate', 'likes', 'content', 'thing ' || n, 'evidence', jsonb_build_array(:'told')
  )))
  from generate_series(1, 20) as n
)) as r \gset
select cmp_ok(
  (w.rows_read - :rows_read) / :facts_created, '<', 100::bigint,
  'storing what was learned reads few of the facts that are known about others'
)
from memory_test.work as w;

select * from finish();
rollback;
