begin;
\ir fixtures.sql
select plan(48);
select memory_test.as_tenant('a');

-- store_messages: turns are episodes of a session

create temporary table talk as
select * from memory.store_messages(
  '[
    {"role": "system", "content": "You are a travel agent."},
    {"role": "user", "content": "I moved to Porto.", "name": "Ada"},
    {"role": "assistant", "content": null,
     "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get_weather"}}]},
    {"role": "tool", "tool_call_id": "c1", "name": "get_weather", "content": "Rain"},
    {"role": "assistant", "content": [
      {"type": "text", "text": "Welcome to Porto."}, {"type": "image_url", "image_url": {}},
      {"type": "text", "text": "It rains."}], "metadata": {"model": "m"}}
  ]',
  ' home ', '00000000-0000-0000-0000-0000000000aa', as_of => '2026-03-01Z'
);
grant select on talk to public;

select results_eq(
  $$ select t.position, t.session_id::text, t.is_new from talk as t $$,
  $$ select n::bigint, '00000000-0000-0000-0000-0000000000aa', true
     from generate_series(1, 5) as n $$,
  'each turn is returned in order, in the session that was given, and is new'
);
select results_eq(
  $$ select e.butler, e.content, e.source_class, e.metadata
     from talk as t join memory.episodes as e on e.id = t.episode_id order by t.position $$,
  $$ values
    ('home', 'You are a travel agent.', 'agent', '{"role": "system"}'::jsonb),
    ('home', 'Ada: I moved to Porto.', 'user', '{"role": "user", "name": "Ada"}'),
    ('home', '[tool call: get_weather]', 'agent', '{"role": "assistant"}'),
    ('home', 'Rain', 'tool', '{"role": "tool", "name": "get_weather"}'),
    ('home', E'Welcome to Porto.\n[image_url]\nIt rains.', 'agent',
     '{"role": "assistant", "model": "m"}') $$,
  'a turn has the text of its parts, and the role says whose statement it is'
);
select is(
  (
    select array_agg(t.position order by e.created_at, e.id)
    from talk as t join memory.episodes as e on e.id = t.episode_id
  ),
  '{1,2,3,4,5}', 'turns without times keep their order'
);
select ok(
  (
    select min(e.created_at) = '2026-03-01Z' and max(e.created_at) < '2026-03-01 00:00:01Z'
      and count(distinct e.created_at) = 5
    from talk as t join memory.episodes as e on e.id = t.episode_id
  ),
  'turns without times are said one after the other, within a second'
);
select is(
  (select max(e.importance) from memory.episodes as e), 5.0::float8, 'importance is 5 by default'
);
select results_eq(
  $$ select e.consolidation_status::text
     from talk as t join memory.episodes as e on e.id = t.episode_id order by t.position $$,
  $$ values ('consolidated'), ('pending'), ('pending'), ('pending'), ('pending') $$,
  'what was said waits for consolidation; what the system is told does not'
);
select ok(
  exists (
    select
    from memory.search('Porto', types => '{episode}', scope => 'home', as_of => '2026-03-01Z')
  ),
  'turns are found at once'
);

-- Handed over again, and grown

create temporary table again as
select * from memory.store_messages(
  '[
    {"role": "system", "content": "You are a travel agent."},
    {"role": "user", "content": "I moved to Porto.", "name": "Ada"},
    {"role": "assistant", "content": null,
     "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get_weather"}}]},
    {"role": "tool", "tool_call_id": "c1", "name": "get_weather", "content": "Rain"},
    {"role": "assistant", "content": [
      {"type": "text", "text": "Welcome to Porto."}, {"type": "image_url", "image_url": {}},
      {"type": "text", "text": "It rains."}], "metadata": {"model": "m"}},
    {"role": "user", "content": "Thanks"},
    {"role": "assistant", "content": "Any time"},
    {"role": "user", "content": "Thanks"}
  ]',
  'home', '00000000-0000-0000-0000-0000000000aa', as_of => '2026-03-01Z'
);
grant select on again to public;
select is(
  (select array_agg(a.position order by a.position) from again as a where a.is_new), '{6,7,8}',
  'a conversation that has grown stores only what is new, also what was said before'
);
select results_eq(
  $$ select a.episode_id from again as a where a.position < 6 order by a.position $$,
  $$ select t.episode_id from talk as t order by t.position $$,
  'a turn that is known keeps its episode'
);
select is(
  (
    select array_agg(a.position order by e.created_at, e.id)
    from again as a join memory.episodes as e on e.id = a.episode_id
  ),
  '{1,2,3,4,5,6,7,8}', 'a conversation that has grown keeps its order'
);
select is(
  (
    select count(*) filter (where m.is_new)
    from memory.store_messages(
      '[{"role": "assistant", "content": "Any time"}, {"role": "user", "content": "Bye"}]',
      'home', '00000000-0000-0000-0000-0000000000aa'
    ) as m
  ),
  1::bigint, 'the end of a conversation stores only what is new'
);
select is(
  (
    select count(*) filter (where m.is_new)
    from memory.store_messages(
      '[{"role": "user", "content": "Bye"}]', 'work', '00000000-0000-0000-0000-0000000000aa'
    ) as m
  ),
  1::bigint, 'another butler has turns of its own'
);
select is(
  (
    select count(*) filter (where m.is_new)
    from memory.store_messages(
      '[{"role": "user", "content": "Bye"}]', 'home', '00000000-0000-0000-0000-0000000000bb'
    ) as m
  ),
  1::bigint, 'another session has turns of its own'
);
select results_eq(
  $$ select m.is_new
     from memory.store_messages('[
       {"role": "user", "content": "Yes", "id": "m1"}, {"role": "user", "content": "Yes", "id": 2},
       {"role": "user", "content": "Yes", "id": "m1"}, {"role": "user", "content": "No", "id": "m1"}
     ]', 'home', '00000000-0000-0000-0000-0000000000cc') as m $$,
  $$ values (true), (true), (false), (true) $$,
  'turns with ids are known by them and their text'
);
select results_eq(
  $$ select m.is_new from memory.store_messages('[
       {"role": "user", "content": "Yes", "created_at": "2026-03-01T10:00:00Z"},
       {"role": "user", "content": "Yes", "created_at": "2026-03-01T10:05:00Z"}
     ]', 'home', '00000000-0000-0000-0000-0000000000dd')
     as m
     union all
     select m.is_new from memory.store_messages('[
       {"role": "user", "content": "Yes", "timestamp": 1772359500},
       {"role": "user", "content": "Yes", "created_at": "2026-03-01T12:10:00+01:00"}
     ]', 'home', '00000000-0000-0000-0000-0000000000dd') as m $$,
  $$ values (true), (true), (false), (true) $$,
  'turns with times are known by them'
);

-- Without a session

create temporary table free as
select m.*, 1 as attempt
from memory.store_messages(
  '[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]', 'home'
) as m
union all
select m.*, 2
from memory.store_messages(
  '[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]', 'home'
) as m
union all
select m.*, 3
from memory.store_messages('[{"role": "user", "content": "Hello"}]', 'home') as m;
select results_eq(
  $$ select f.attempt, count(*) filter (where f.is_new), count(distinct f.session_id)
     from free as f group by f.attempt order by f.attempt $$,
  $$ values (1, 2::bigint, 1::bigint), (2, 0::bigint, 1::bigint), (3, 1::bigint, 1::bigint) $$,
  'without a session, one is made, and the same conversation is stored once'
);
select is(
  (select count(distinct f.session_id) from free as f), 2::bigint,
  'different conversations have different sessions'
);
select is_empty(
  $$ select * from memory.store_messages('[]', 'home') $$, 'a conversation without turns is none'
);

-- Times

create temporary table dated as
select * from memory.store_messages(
  '[
    {"role": "user", "content": "one"},
    {"role": "user", "content": "two", "created_at": "2026-02-01"},
    {"role": "user", "content": "three"},
    {"role": "user", "content": "four", "timestamp": 1770000000.5},
    {"role": "user", "content": "five", "created_at": null}
  ]',
  'times', as_of => '2026-03-01Z'
);
select results_eq(
  $$ select d.position, e.created_at
     from dated as d join memory.episodes as e on e.id = d.episode_id order by d.position $$,
  $$ values
    (1::bigint, '2026-01-31 23:59:59.999999Z'::timestamptz),
    (2, '2026-02-01Z'),
    (3, '2026-02-01 00:00:00.000001Z'),
    (4, '2026-02-02 02:40:00.5Z'),
    (5, '2026-02-02 02:40:00.500001Z') $$,
  'a turn without a time stays beside its neighbor'
);
create temporary table together as
select * from memory.store_messages(
  (
    select jsonb_agg(jsonb_build_object('role', 'user', 'content', n::text, 'timestamp', 1770000000))
    from generate_series(1, 20) as n
  ),
  'times'
);
select results_eq(
  $$ select e.content
     from together as t join memory.episodes as e on e.id = t.episode_id
     order by e.created_at, e.id $$,
  $$ select n::text from generate_series(1, 20) as n $$,
  'turns at the same time keep their order'
);

-- Whose statement it is

create temporary table said as
select * from memory.store_messages(
  '[
    {"role": "developer", "content": "Be brief."},
    {"role": "function", "name": "f", "content": "42"},
    {"role": "user", "content": [
      {"type": "tool_result", "tool_use_id": "t", "content": "Ada lives in Rome."}]},
    {"role": "user", "content": [
      {"type": "tool_result", "tool_use_id": "t", "content": [
      {"type": "text", "text": "One"}, {"type": "image", "source": {}}]},
      {"type": "text", "text": "And you?"}]},
    {"role": "assistant", "content": [
      {"type": "text", "text": "Let me see."}, {"type": "tool_use", "name": "look", "input": {}}]},
    {"role": "assistant", "content": "", "refusal": "I cannot."},
    {"role": "user", "content": ["plain", {"type": "input_text", "text": "text"}]}
  ]',
  'roles'
);
select results_eq(
  $$ select e.content, e.source_class
     from said as s join memory.episodes as e on e.id = s.episode_id order by s.position $$,
  $$ values
    ('Be brief.', 'agent'), ('42', 'tool'), ('Ada lives in Rome.', 'tool'),
    (E'One\n[image]\nAnd you?', 'tool'), (E'Let me see.\n[tool call: look]', 'agent'),
    ('I cannot.', 'agent'), (E'plain\ntext', 'user') $$,
  'what a tool answered is never taken for the word of the user'
);

-- extraction = summary

create temporary table summed as
select * from memory.store_messages(
  '[
    {"role": "user", "content": "Book a table."},
    {"role": "assistant", "content": "Looking."},
    {"role": "tool", "content": "Three places"},
    {"role": "assistant", "content": "Booked Chez Nous for eight."},
    {"role": "user", "content": "Great"}
  ]',
  'summary', extraction => 'summary', as_of => '2026-03-01Z'
);
select results_eq(
  $$ select e.content
     from summed as s join memory.episodes as e on e.id = s.episode_id
     where e.consolidation_status = 'pending' order by s.position $$,
  $$ values ('Book a table.'), ('Booked Chez Nous for eight.'), ('Great') $$,
  'with a summary, the last answer and what the user said wait for consolidation'
);

-- Bad messages

create temporary table bad (messages text, message text, hint text);
insert into bad values
('{"role": "user"}', 'messages are not a JSON array', 'Pass an array such as'),
('null', 'messages are not a JSON array', 'Pass an array such as'),
('["hello"]', 'message 1 is not a JSON object', 'Pass each message as an object'),
('[{"role": "user", "content": "x"}, {"role": "god", "content": "x"}]',
  'message 2 has the role "god"', 'Valid: user,'),
('[{"content": "x"}]', 'message 1 has the role NULL', 'Valid: user,'),
('[{"role": 3, "content": "x"}]', 'message 1 has the role 3', 'Valid: user,'),
('[{"role": "user", "content": 3}]', 'message 1 has content that is', 'Pass a text, or an array'),
('[{"role": "user", "content": [3]}]', 'message 1 has content that is', 'Pass a text,'),
('[{"role": "user", "content": [{"text": "x"}]}]', 'message 1 has content that is', 'Pass a text,'),
('[{"role": "user", "content": [{"type": "text", "text": 3}]}]', 'message 1 has content that is',
  'Pass a text,'),
('[{"role": "user", "content": [{"type": "tool_result", "content": [{}]}]}]',
  'message 1 has content that is', 'Pass a text,'),
('[{"role": "user", "content": " "}]', 'content of message 1 is empty', 'Pass content'),
('[{"role": "user"}]', 'content of message 1 is empty', 'Pass content'),
('[{"role": "user", "content": []}]', 'content of message 1 is empty', 'Pass content'),
('[{"role": "user", "content": "x", "name": 3}]', 'message 1 has the name 3', 'Pass the name'),
('[{"role": "user", "content": "x", "id": []}]', 'message 1 has the id []', 'Pass an id'),
('[{"role": "user", "content": "x", "created_at": "soon"}]', 'message 1 has the time "soon"',
  'Pass times'),
('[{"role": "user", "content": "x", "created_at": "2026-02-30"}]', 'message 1 has the time',
  'Pass times'),
('[{"role": "user", "content": "x", "timestamp": 1e300}]', 'message 1 has the time', 'Pass times'),
('[{"role": "user", "content": "x", "timestamp": true}]', 'message 1 has the time', 'Pass times'),
('[{"role": "user", "content": "x", "created_at": "2999-01-01"}]',
  'created_at of message 1 lies in the future', 'Pass created_at'),
('[{"role": "user", "content": "x", "metadata": []}]',
  'metadata of message 1 is not a JSON object', 'Pass metadata');
insert into bad values (
  jsonb_build_array(jsonb_build_object('role', 'user', 'content', repeat('x', 1048577)))::text,
  'content of message 1 is 1048577 bytes long', 'Pass content'
);
create function memory_test.refusal(messages jsonb, out code text, out message text, out hint text)
  language plpgsql
as $$
begin
  perform memory.store_messages(messages, 'bad');
exception
  when others then
    get stacked diagnostics code = returned_sqlstate, message = message_text, hint = pg_exception_hint;
end;
$$;
select is_empty(
  $$ select left(b.messages, 100), r.*
     from bad as b cross join lateral memory_test.refusal(b.messages::jsonb) as r
     where (r.code = 'PM002' and starts_with(r.message, b.message) and starts_with(r.hint, b.hint))
       is not true $$,
  'a bad message is refused with its position and a hint'
);
select is(
  (select count(*) from memory.episodes as e where e.butler = 'bad'), 0::bigint,
  'of a conversation with a bad message, nothing is stored'
);
select throws_ok(
  $$ select memory.store_messages('[{"role": "user", "content": "x"}]', '*') $$, 'PM002', null,
  'the butler is not "*"'
);
select throws_ok(
  $$ select memory.store_messages('[{"role": "user", "content": "x"}]', 'b', importance => 11) $$,
  'PM002', null, 'importance is at most 10'
);
select throws_ok(
  $$ select memory.store_messages('[{"role": "user", "content": "x"}]', 'b', extraction => 'llm') $$,
  'PM002', null, 'nothing in the database asks an LLM'
);
select throws_ok(
  $$ select memory.store_messages(
       '[{"role": "user", "content": "x"}]', 'b', as_of => now() + interval '2 days') $$,
  'PM002', null, 'nothing is stored in the future'
);

-- store_observations

select t.episode_id as moved_id from talk as t where t.position = 2 \gset
select t.episode_id as called_id from talk as t where t.position = 3 \gset
select t.episode_id as rain_id from talk as t where t.position = 4 \gset
select t.episode_id as answer_id from talk as t where t.position = 5 \gset
select a.episode_id as thanks_id from again as a where a.position = 6 \gset

select results_eq(
  format(
    $$ select t.episode_id, t.content, t.source_class, t.created_at
       from memory.list_turns(
         array[%L, %L, gen_random_uuid()]::uuid[], as_of => '2026-03-02Z') as t $$,
    :'rain_id', :'moved_id'
  ),
  format(
    $$ values
      (%L::uuid, 'Ada: I moved to Porto.', 'user', '2026-03-01 00:00:00.000001Z'::timestamptz),
      (%L, 'Rain', 'tool', '2026-03-01 00:00:00.000003Z') $$,
    :'moved_id', :'rain_id'
  ),
  'the turns that wait are listed in order'
);
create temporary table seen as
select * from memory.store_observations(
  array[:'moved_id', :'called_id', :'rain_id', :'answer_id', :'thanks_id']::uuid[],
  jsonb_build_array(
    jsonb_build_object(
      'content', 'Ada lives in Porto.', 'evidence', jsonb_build_array(:'moved_id'), 'importance', 8
    ),
    jsonb_build_object(
      'content', 'It rains in Porto.', 'metadata', '{"by": "llm"}'::jsonb,
      'evidence', jsonb_build_array(upper(:'moved_id'), :'rain_id')
    )
  ),
  as_of => '2026-03-02Z'
);
select results_eq(
  $$ select e.content, e.butler, e.session_id::text, e.source_class, e.importance, e.metadata,
       e.consolidation_status::text, e.created_at
     from seen as s join memory.episodes as e on e.id = s.id order by s.ordinal $$,
  $$ values
    ('Ada lives in Porto.', 'home', '00000000-0000-0000-0000-0000000000aa', 'user', 8::float8,
     '{}'::jsonb, 'pending', '2026-03-01 00:00:00.000001Z'::timestamptz),
    ('It rains in Porto.', 'home', '00000000-0000-0000-0000-0000000000aa', 'tool', 5,
     '{"by": "llm"}', 'pending', '2026-03-01 00:00:00.000003Z') $$,
  'an observation waits in the session, dated by the last and trusted as the least of its evidence'
);
select results_eq(
  format(
    $$ select e.id, e.consolidation_status::text from memory.episodes as e
       where e.id = any (%L::uuid[]) order by e.created_at $$,
    array[:'moved_id', :'called_id', :'rain_id', :'answer_id', :'thanks_id']
  ),
  format(
    $$ values (%L::uuid, 'consolidated'), (%L, 'consolidated'), (%L, 'consolidated'),
       (%L, 'consolidated'), (%L, 'pending') $$,
    :'moved_id', :'called_id', :'rain_id', :'answer_id', :'thanks_id'
  ),
  'the turns are done; what the user said and no observation holds waits'
);
select results_eq(
  $$ select s.ordinal, l.target_id, l.relation
     from seen as s
     cross join lateral memory.get_links('episode', s.id) as l order by s.ordinal, l.target_state,
       l.target_id = (select t.episode_id from talk as t where t.position = 4) $$,
  format(
    $$ values (1::bigint, %L::uuid, 'derived_from'), (2, %L, 'derived_from'),
       (2, %L, 'derived_from') $$,
    :'moved_id', :'moved_id', :'rain_id'
  ),
  'an observation is linked to its evidence'
);
select is_empty(
  format($$ select * from memory.list_turns(array[%L]::uuid[], '2026-03-02Z') $$, :'moved_id'),
  'a turn that is done is not listed'
);
select is_empty(
  format(
    $$ select * from memory.store_observations(
         array[%L, %L]::uuid[],
         '[{"content": "x", "evidence": [%s]}]', '2026-03-02Z'
       ) $$,
    :'moved_id', :'thanks_id', to_jsonb(:'thanks_id'::text)
  ),
  'nothing is drawn from turns of which one is done already'
);
select is(
  (select e.consolidation_status::text from memory.episodes as e where e.id = :'thanks_id'),
  'pending', 'and then the other turns wait on'
);
select is_empty(
  format(
    $$ select * from memory.store_observations(
         array[%L, gen_random_uuid()]::uuid[], '[{"content": "x", "evidence": [%s]}]',
         '2026-03-02Z') $$,
    :'thanks_id', to_jsonb(:'thanks_id'::text)
  ),
  'nothing is drawn from a turn that is no more'
);
select lives_ok(
  format('select memory.forget_memory(''episode'', %L, ''2026-03-02Z'')', :'thanks_id'),
  'a turn is forgotten'
);
select is_empty(
  format(
    $$ select * from memory.store_observations(
         array[%L]::uuid[], '[{"content": "x", "evidence": [%s]}]', '2026-03-02Z') $$,
    :'thanks_id', to_jsonb(:'thanks_id'::text)
  ),
  'nothing is drawn from a turn that was forgotten'
);
select throws_ok(
  format(
    $$ select memory.store_observations(array[%L]::uuid[], '[{"content": "x", "evidence": [%s]}]') $$,
    :'moved_id', to_jsonb(:'rain_id'::text)
  ),
  'PM002', null, 'evidence is among the episodes'
);
select throws_ok(
  format($$ select memory.store_observations(array[%L]::uuid[], '[{"content": "x"}]') $$, :'moved_id'),
  'PM002', null, 'an observation has evidence'
);
select throws_ok(
  format(
    $$ select memory.store_observations(
         array[%L]::uuid[], '[{"content": "x", "evidence": [null]}]') $$, :'moved_id'
  ),
  'PM002', null, 'evidence is not null'
);
select throws_ok(
  $$ select memory.store_observations(
       (
         select array_agg(m.episode_id)
         from (
           select m.episode_id
           from memory.store_messages('[{"role": "user", "content": "x"}]', 'home') as m
           union all
           select m.episode_id
           from memory.store_messages('[{"role": "user", "content": "x"}]', 'work') as m
         ) as m
       ),
       '[]'
     ) $$,
  'PM002', null, 'the episodes are of one session'
);
select is_empty(
  $$ select * from memory.store_observations('{}', '[]') $$, 'nothing comes from nothing'
);

-- A run of consolidation

select m.episode_id as held_id
from memory.store_messages('[{"role": "assistant", "content": "held"}]', 'held') as m \gset
select run_id from memory.claim_episodes('held') \gset
select is_empty(
  format(
    $$ select * from memory.store_observations(
         array[%L]::uuid[], '[{"content": "x", "evidence": [%s]}]') $$,
    :'held_id', to_jsonb(:'held_id'::text)
  ),
  'nothing is drawn from what a run of consolidation holds'
);
select memory.release_run(:'run_id');
select isnt_empty(
  format(
    $$ select * from memory.store_observations(
         array[%L]::uuid[], '[{"content": "x", "evidence": [%s]}]') $$,
    :'held_id', to_jsonb(:'held_id'::text)
  ),
  'what a run has released is open again'
);

-- Tenants

select m.episode_id as pending_id
from memory.store_messages('[{"role": "user", "content": "pending"}]', 'home') as m \gset
select memory_test.as_tenant('b');
select is(
  (
    select count(*) filter (where m.is_new)
    from memory.store_messages(
      '[{"role": "user", "content": "I moved to Porto.", "name": "Ada"}]',
      'home', '00000000-0000-0000-0000-0000000000aa'
    ) as m
  ),
  1::bigint, 'the turns of another tenant are unknown'
);
select is_empty(
  format($$ select * from memory.list_turns(array[%L]::uuid[]) $$, :'pending_id'),
  'the turns of another tenant are not listed'
);
select is_empty(
  format(
    $$ select * from memory.store_observations(
         array[%L]::uuid[], '[{"content": "x", "evidence": [%s]}]') $$,
    :'pending_id', to_jsonb(:'pending_id'::text)
  ),
  'nothing is drawn from the turns of another tenant'
);

select * from finish();
rollback;
