begin;
\ir fixtures.sql
select plan(232);

-- An entry as memory.write_memory takes it, with some of it replaced.
create function memory_test.an_entry(
  content text default 'Ada drinks green tea',
  scope jsonb default '{"user_id": "ada"}',
  metadata jsonb default '{}',
  other jsonb default '{}'
)
  returns jsonb
  language sql
  immutable
  return jsonb_build_object(
    'content', content, 'scope', scope,
    'metadata',
    '{"category": "preference", "confidence": 0.9, "importance": "medium", "source": "user"}'::jsonb || metadata
  ) || other;

-- Writes an entry on 1 January and returns its id.
create function memory_test.written(
  content text,
  scope jsonb,
  metadata jsonb default '{}',
  as_of timestamptz default '2026-01-01Z'
)
  returns uuid
  language sql
  volatile
  return (
    select w.id from memory.write_memory(memory_test.an_entry(content, scope, metadata), 'loop', as_of => as_of) as w
  );

create function memory_test.answer(
  query text,
  user_id text default null,
  persona_id text default null,
  session_id text default null,
  approval_id uuid default null,
  as_of timestamptz default '2026-01-02Z'
)
  returns text[]
  language sql
  volatile
  return (
    select coalesce(array_agg(q.content order by q.content), '{}')
    from memory.query_memory(
      query, user_id, persona_id, session_id, approval_id => approval_id, as_of => as_of
    ) as q
  );

create function memory_test.last_event(event_type text)
  returns memory.memory_events
  language sql
  stable
  return (
    select e from memory.memory_events as e
    where e.event_type = last_event.event_type
    order by e.seq desc limit 1
  );

-- Written

select w.status, w.id, w.entry_id
from memory.write_memory(
  memory_test.an_entry(
    metadata => '{"created_at": "2026-01-01T09:30:00+01:00", "expires_at": "2027-01-01"}',
    other => '{"id": "first", "retrieval": {"keywords": ["tea", " tea ", "cup"], "embedding_id": null}}'
  ),
  'loop', as_of => '2026-01-01 12:00Z'
) as w \gset tea_
select is(:'tea_status'::text, 'stored', 'an entry with all that is asked for is stored');
select is(:'tea_entry_id'::text, 'mem-2026-01-01-001', 'it has an id of its day');
select row_eq(
  format($$ select e.content, e.policy, e.lifecycle_state, e.user_id, e.persona_id, e.session_id, e.category,
    e.confidence, e.importance, e.decay_rate, e.source, e.trust, e.keywords, e.created_at, e.last_confirmed_at,
    e.expires_at, e.metadata
    from memory.entries as e where e.id = %L $$, :'tea_id'),
  row(
    'Ada drinks green tea'::text, 'billy'::text, 'guarded'::text, 'ada'::text, null::text, null::text,
    'preference'::text, 0.9::float8, 5::float8, 0.008::float8, 'user'::text, 'user'::text,
    '["tea", "cup"]'::jsonb, '2026-01-01 08:30Z'::timestamptz, '2026-01-01 08:30Z'::timestamptz,
    '2027-01-01 00:00Z'::timestamptz, '{"requested_by": "loop", "classes": []}'::jsonb
  ),
  'it says what the caller said'
);
select is(
  memory_test.events_of(:'tea_id'), '{memory_write_attempt,entry_created,memory_write_success}',
  'the attempt and the success are traced'
);
select is(
  (memory_test.last_event('memory_write_success')).payload,
  jsonb_build_object(
    'memory_id', :'tea_id', 'entry_id', 'mem-2026-01-01-001',
    'scope', '{"user_id": "ada", "persona_id": null, "session_id": null}'::jsonb,
    'confidence', 0.9, 'reason', null
  ),
  'with id, scope and confidence'
);
select is(
  (memory_test.last_event('memory_write_attempt')).payload ->> 'requested_by', 'loop', 'and who asked for it'
);
select is(
  w.id, :'tea_id', 'the same entry with the same id is not stored again'
)
from memory.write_memory(memory_test.an_entry(other => '{"id": "first"}'), 'loop', as_of => '2026-01-01 13:00Z') as w;
select is(
  w.reason, 'id_taken', 'another entry may not have the same id'
)
from memory.write_memory(
  memory_test.an_entry('Ada drinks coffee', other => '{"id": "first"}'), 'loop', as_of => '2026-01-01 13:00Z'
) as w;
select is((select count(*) from memory.entries as e), 1::bigint, 'nothing else was stored');

-- Rejected

create table memory_test.rejections (
  what text,
  entry jsonb,
  reason text
);
insert into memory_test.rejections (what, entry, reason)
values
('no object', '[]', 'malformed'), ('a text', '"x"', 'malformed'), ('null', 'null', 'malformed'),
('an unknown key', memory_test.an_entry(other => '{"tags": []}'), 'malformed'),
('an unknown key of metadata', memory_test.an_entry(metadata => '{"mood": "good"}'), 'malformed'),
('an unknown part of a scope', memory_test.an_entry(scope => '{"team": "x"}'), 'malformed'),
('a scope that is a text', memory_test.an_entry(scope => '"ada"'), 'malformed'),
('a user that is a number', memory_test.an_entry(scope => '{"user_id": 7}'), 'malformed'),
('a blank user', memory_test.an_entry(scope => '{"user_id": " "}'), 'malformed'),
('a long user', memory_test.an_entry(scope => jsonb_build_object('user_id', repeat('x', 129))), 'malformed'),
('content that is a number', memory_test.an_entry(other => '{"content": 7}'), 'malformed'),
('keywords that are no list', memory_test.an_entry(other => '{"retrieval": {"keywords": "tea"}}'), 'malformed'),
('keywords that are no texts', memory_test.an_entry(other => '{"retrieval": {"keywords": [1]}}'), 'malformed'),
('many keywords', memory_test.an_entry(other => jsonb_build_object('retrieval', jsonb_build_object('keywords',
  jsonb_build_array(repeat('x', 16384))))), 'malformed'),
('confidence that is a text', memory_test.an_entry(metadata => '{"confidence": "0.9"}'), 'malformed'),
('a sensitivity that is no word', memory_test.an_entry(metadata => '{"sensitivity": "Very!"}'), 'malformed'),
('no content', memory_test.an_entry() - 'content', 'content_empty'),
('null as content', memory_test.an_entry(other => '{"content": null}'), 'content_empty'),
('blank content', memory_test.an_entry(E' \n\t\u3000'), 'content_empty'),
('content over 1 MiB', memory_test.an_entry(repeat('x', 1048577)), 'content_too_large'),
('no scope', memory_test.an_entry() - 'scope', 'scope_missing'),
('a scope without ids', memory_test.an_entry(scope => '{}'), 'scope_missing'),
('a scope of nulls', memory_test.an_entry(scope => '{"user_id": null, "session_id": null}'), 'scope_missing'),
('no category', memory_test.an_entry(metadata => '{"category": null}'), 'category_missing'),
('no confidence', memory_test.an_entry(metadata => '{"confidence": null}'), 'confidence_missing'),
('no metadata', memory_test.an_entry() - 'metadata', 'category_missing'),
('confidence below 0', memory_test.an_entry(metadata => '{"confidence": -0.1}'), 'confidence_out_of_range'),
('confidence above 1', memory_test.an_entry(metadata => '{"confidence": 1.0000001}'), 'confidence_out_of_range'),
('a huge confidence', memory_test.an_entry(metadata => '{"confidence": 1e400}'), 'confidence_out_of_range'),
('no importance', memory_test.an_entry(metadata => '{"importance": null}'), 'importance_missing'),
('importance in numbers', memory_test.an_entry(metadata => '{"importance": 7}'), 'importance_invalid'),
('another importance', memory_test.an_entry(metadata => '{"importance": "High"}'), 'importance_invalid'),
('no source', memory_test.an_entry(metadata => '{"source": null}'), 'source_missing'),
('another source', memory_test.an_entry(metadata => '{"source": "interaction"}'), 'source_invalid'),
('a creation that is no time', memory_test.an_entry(metadata => '{"created_at": "now"}'), 'created_at_invalid'),
('a creation on 30 February', memory_test.an_entry(metadata => '{"created_at": "2025-02-30"}'), 'created_at_invalid'),
('a creation in the future', memory_test.an_entry(metadata => '{"created_at": "2026-01-03"}'), 'created_at_invalid'),
('an expiry that is no time', memory_test.an_entry(metadata => '{"expires_at": "infinity"}'), 'expires_at_invalid'),
('an expiry at a time of no zone', memory_test.an_entry(metadata => '{"expires_at": "2027-01-01T00:00+99"}'), 'expires_at_invalid'),
('an expiry now', memory_test.an_entry(metadata => '{"expires_at": "2026-01-02"}'), 'expired'),
('a card number', memory_test.an_entry('Pay with 4111 1111 1111 1111'), 'sensitive:payment_card'),
('a password', memory_test.an_entry('password: Sommer2024!'), 'sensitive:secret'),
('a card number in a keyword', memory_test.an_entry(other => '{"retrieval": {"keywords": ["4111111111111111"]}}'), 'sensitive:payment_card'),
('a card number as category', memory_test.an_entry(metadata => '{"category": "4111111111111111"}'), 'sensitive:payment_card'),
('a card number as its id', memory_test.an_entry(other => '{"id": "4111111111111111"}'), 'sensitive:payment_card'),
('a card number as user', memory_test.an_entry(scope => '{"user_id": "4111 1111 1111 1111"}'), 'sensitive:payment_card'),
('a sensitive category', memory_test.an_entry(metadata => '{"category": "Health"}'), 'sensitive:health'),
('declared sensitivity', memory_test.an_entry(metadata => '{"sensitivity": "gossip"}'), 'sensitive:gossip');

select is((w.status, w.id, w.entry_id, w.reason)::text, ('rejected', null::uuid, null::text, r.reason)::text, r.what || ' is rejected')
from memory_test.rejections as r
cross join lateral memory.write_memory(r.entry, 'loop', as_of => '2026-01-02Z') as w;
select is(w.reason, 'malformed', 'no entry is rejected') from memory.write_memory(null, 'loop') as w;
select is(w.reason, 'not_requested', format('a write asked for by %s is rejected', to_jsonb(left(a.actor, 10))))
from (values (null), (''), (' '), (E'a\nb'), (repeat('x', 129))) as a (actor)
cross join lateral memory.write_memory(memory_test.an_entry(), a.actor) as w;
select is((select count(*) from memory.entries as e), 1::bigint, 'none of these is stored');
select is_empty(
  $$ select p.path, l.octets, r.refusal
     from (values
       ('{id}'::text[], 128), ('{scope,user_id}', 128), ('{scope,persona_id}', 128), ('{scope,session_id}', 128),
       ('{metadata,category}', 128), ('{metadata,sensitivity}', 40), ('{metadata,created_at}', 40),
       ('{metadata,expires_at}', 40), ('{retrieval,embedding_id}', 128)
     ) as p (path, max_octets)
     cross join unnest(array[p.max_octets, p.max_octets + 1]) as l (octets)
     cross join lateral memory.refusal_of_entry(
       jsonb_set(
         memory_test.an_entry(other => '{"retrieval": {"keywords": []}}'), p.path, to_jsonb(repeat('x', l.octets))
       ),
       'loop', '2026-01-02Z'
     ) as r (refusal)
     where (r.refusal is not distinct from 'malformed') <> (l.octets > p.max_octets) $$,
  'a text that is as long as its place allows is taken, and no longer one'
);
select is(
  (
    select count(*) from memory.memory_events as e
    where e.event_type = 'memory_write_attempt' and e.memory_id is null and e.reason = e.payload ->> 'reason'
  ),
  (select count(*) + 6 + 1 from memory_test.rejections as r),
  'each leaves the trace of an attempt, with its reason'
);
select is_empty(
  $$ select e.event_type, e.payload from memory.memory_events as e
     where e.payload::text ~ 'green tea|4111|Sommer' $$,
  'but nothing of its content'
);
select is(
  (select w.reason from memory.write_memory(memory_test.an_entry(metadata => '{"sensitivity": "none"}'), 'loop', as_of => '2026-01-02Z') as w),
  null, 'what is declared as not sensitive is stored'
);
select memory_test.written('tiny', '{"user_id": "tiny"}', '{"confidence": 1e-320}') as tiny \gset
select is(
  (select e.confidence from memory.entries as e where e.id = :'tiny'), 0::float8,
  'a confidence too small for the column is stored as 0'
);
select memory.delete_entry(e.entry_id, true) from memory.entries as e where e.id <> :'tea_id' \g /dev/null
select throws_ok(
  $$ select memory.write_memory(memory_test.an_entry(), 'loop', as_of => 'infinity') $$, 'PM002',
  'as_of is infinity', 'the clock must be a time'
);
select throws_ok(
  $$ select memory.write_memory(memory_test.an_entry(), 'loop', embedding => '[1,2]') $$, 'PM002',
  null, 'a vector must fit'
);

-- The clock, decay and expiry

select is(round(memory.guarded_confidence(1.0, 0.1, '2026-01-01Z', '2026-01-11Z')::numeric, 6), round(exp(-1.0)::numeric, 6), 'full confidence decays at the rate');
select is(round(memory.guarded_confidence(0.5, 0.1, '2026-01-01Z', '2026-01-11Z')::numeric, 6), round(0.5 * exp(-1.5), 6), 'half the confidence decays half as fast again');
select is(memory.guarded_confidence(0.5, 0, '2026-01-01Z', '2027-01-11Z'), 0.5::float8, 'without a rate there is no decay');
select is(round((q.effective_confidence)::numeric, 9), round((0.9 * exp(-0.008 * 1.1 * 100))::numeric, 9), 'a query says the confidence after decay')
from memory.query_memory('tea', 'ada', as_of => '2026-01-01 08:30Z'::timestamptz + interval '100 days') as q;
select is(q.confidence, 0.9::float8, 'and the stored one, which does not change')
from memory.query_memory('tea', 'ada', as_of => '2026-12-01Z') as q;

-- What a query returns

select is(
  to_jsonb(q) - '{relevance,score,effective_confidence,created_at,expires_at}'::text[],
  jsonb_build_object(
    'id', :'tea_id', 'entry_id', 'mem-2026-01-01-001', 'given_id', 'first', 'content', 'Ada drinks green tea',
    'scope', '{"user_id": "ada", "persona_id": null, "session_id": null}'::jsonb, 'category', 'preference',
    'confidence', 0.9, 'importance', 'medium', 'importance_score', 5, 'source', 'user',
    'keywords', '["tea", "cup"]'::jsonb, 'embedding_id', null
  ),
  'an entry is returned with its metadata'
)
from memory.query_memory('tea', 'ada', as_of => '2026-01-02Z') as q;
select is(
  (select e.payload - 'memories' from memory_test.last_event('memory_query') as e),
  '{"scope": {"user_id": "ada", "persona_id": null, "session_id": null}, "reason": null, "approval_id": null}'::jsonb,
  'a query is traced with its scope'
);
select is(
  (select e.payload #> '{memories,0,memory_id}' from memory_test.last_event('memory_query') as e), to_jsonb(:'tea_id'::text),
  'with what it returned'
);
select is(
  (select e.payload #> '{memories,0,confidence}' from memory_test.last_event('memory_query') as e), '0.9'::jsonb,
  'and with how confidently'
);
select is((select row(e.reference_count, e.last_referenced_at, e.confidence, e.version, e.updated_at)::text from memory.entries as e where e.id = :'tea_id'),
  (select row(0, null::timestamptz, 0.9::float8, 1, e.created_at)::text from memory.entries as e where e.id = :'tea_id'), 'being returned changes nothing of an entry');
select is(memory_test.answer('tea', 'ada', as_of => '2025-12-31Z'), '{}', 'an entry is not returned before it was written');

-- Scopes

select memory_test.written(t.content || ' tea', t.scope)
from (values
  ('u', '{"user_id": "u"}'::jsonb), ('p', '{"persona_id": "p"}'), ('s', '{"session_id": "s"}'),
  ('up', '{"user_id": "u", "persona_id": "p"}'), ('us', '{"user_id": "u", "session_id": "s"}'),
  ('ps', '{"persona_id": "p", "session_id": "s"}'), ('ups', '{"user_id": "u", "persona_id": "p", "session_id": "s"}'),
  ('v', '{"user_id": "v"}'), ('us2', '{"user_id": "u", "session_id": "s2"}')
) as t (content, scope) \g /dev/null
select is(
  memory_test.answer('', t.u, t.p, t.s), t.expected::text[],
  format('scope %s', concat_ws(', ', coalesce(t.u, '-'), coalesce(t.p, '-'), coalesce(t.s, '-')))
)
from (values
  ('u', null, null, '{u tea}'), (null, 'p', null, '{p tea}'), (null, null, 's', '{s tea}'),
  ('u', 'p', null, '{p tea,u tea,up tea}'), ('u', null, 's', '{s tea,u tea,us tea}'),
  (null, 'p', 's', '{p tea,ps tea,s tea}'),
  ('u', 'p', 's', '{p tea,ps tea,s tea,u tea,up tea,ups tea,us tea}'),
  ('u', null, 's2', '{u tea,us2 tea}'), ('v', 'p', null, '{p tea,v tea}'), ('w', null, null, '{}'),
  ('p', 's', 'u', '{}')
) as t (u, p, s, expected);
select is(memory_test.answer('tea'), '{}', 'a query without a scope returns nothing');
select is((memory_test.last_event('memory_query')).reason, 'scope_missing', 'and its trace says why');
select throws_ok($$ select memory.query_memory('tea', ' ') $$, 'PM002', 'user_id is empty', 'a scope is a name');
select throws_ok($$ select memory.query_memory('tea', 'u', max_results => 0) $$, 'PM002', 'max_results is 0', 'a limit is positive');
select is((select count(*) from memory.query_memory('', 'u', 'p', 's', 3, as_of => '2026-01-02Z')), 3::bigint, 'and holds');

-- Ranking

select memory_test.written(t.content, '{"user_id": "r"}', t.metadata)
from (values
  ('Rita repairs old bicycles in her garage', '{}'::jsonb), ('Rita flies to Lisbon in June', '{}'),
  ('Rita was told about bicycles', '{"confidence": 0.3, "importance": "low"}'), ('The garage is painted blue', '{}'),
  ('Rita sings in a choir', '{"importance": "high"}')
) as t (content, metadata) \g /dev/null
select is(
  array(select q.content from memory.query_memory('who repairs bicycles?', 'r', as_of => '2026-01-02Z') as q),
  '{"Rita repairs old bicycles in her garage","Rita was told about bicycles"}', 'the most relevant comes first, what is not relevant not at all'
);
select is(memory_test.answer('quantum chromodynamics', 'r'), '{}', 'a query that nothing fits returns nothing');
select ok(bool_and(q.relevance between 0 and 1 and q.score > 0), 'relevance and score are given')
from memory.query_memory('bicycles', 'r', as_of => '2026-01-02Z') as q;
select is(
  (select array_agg(q.effective_confidence) from memory.query_memory(null, 'r', as_of => '2026-01-02Z') as q),
  (select array_agg(q.effective_confidence order by q.effective_confidence desc) from memory.query_memory('', 'r', as_of => '2026-01-02Z') as q),
  'without words all are returned, by effective confidence'
);
select memory.register_embedding_version('model', '1') as version \gset
select w.status from memory.write_memory(memory_test.an_entry('near', '{"user_id": "e"}'), 'loop', embedding => memory_test.axis(1), as_of => '2026-01-01Z') as w \g /dev/null
select w.status from memory.write_memory(memory_test.an_entry('far', '{"user_id": "e"}'), 'loop', embedding => memory_test.axis(2), as_of => '2026-01-01Z') as w \g /dev/null
select is(
  array(select q.content from memory.query_memory('anything', 'e', embedding => memory_test.axis(1), as_of => '2026-01-02Z') as q),
  '{near}', 'vectors are compared'
);
select is(q.embedding_id::text, :'version', 'an entry names the version of its vector')
from memory.query_memory('near', 'e', as_of => '2026-01-02Z') as q;

-- Approvals

select memory.grant_approval('write_sensitive', 'payment_card', expires_in => '1 hour', reason => 'checkout', as_of => '2026-01-02Z') as card \gset
select is((w.status, w.reason)::text, ('rejected', 'sensitive:iban')::text, 'an approval of one class is none of another')
from memory.write_memory(memory_test.an_entry('DE89370400440532013000 and 4111111111111111'), 'loop', :'card', as_of => '2026-01-02Z') as w;
select is((w.status, w.reason)::text, ('rejected', 'approval_invalid')::text, 'it does not hold before it was granted')
from memory.write_memory(memory_test.an_entry('4111111111111111'), 'loop', :'card', as_of => '2026-01-01Z') as w;
select is((w.status, w.reason)::text, ('rejected', 'approval_invalid')::text, 'nor once it has expired')
from memory.write_memory(memory_test.an_entry('4111111111111111'), 'loop', :'card', as_of => '2026-01-02 01:00Z') as w;
select is(w.status, 'stored', 'it is not used up by what needs none')
from memory.write_memory(memory_test.an_entry('plain', '{"user_id": "card"}'), 'loop', :'card', as_of => '2026-01-02Z') as w;
select w.status, w.id from memory.write_memory(memory_test.an_entry('4111111111111111', '{"user_id": "card"}'), 'loop', :'card', as_of => '2026-01-02 00:59Z') as w \gset paid_
select is(:'paid_status'::text, 'stored', 'with an approval sensitive content is stored');
select is((w.status, w.reason)::text, ('rejected', 'approval_invalid')::text, 'an approval is used once')
from memory.write_memory(memory_test.an_entry('4111111111111111'), 'loop', :'card', as_of => '2026-01-02Z') as w;
select is((a.status, a.used_by, a.used_at)::text, ('used', :'paid_id'::uuid, '2026-01-02 00:59Z'::timestamptz)::text, 'and says for what')
from memory.list_approvals() as a where a.id = :'card';
select is(memory_test.events_of(:'card'), '{approval_granted,approval_used}', 'both are audited');
select is((select e.metadata -> 'classes' from memory.entries as e where e.id = :'paid_id'), '["payment_card"]', 'the entry says what is sensitive about it');
select is((w.status, w.reason)::text, ('rejected', 'approval_invalid')::text, 'no approval has an unknown id')
from memory.write_memory(memory_test.an_entry('4111111111111111'), 'loop', gen_random_uuid()) as w;

select memory.grant_approval('write_sensitive', '*', user_id => 'ada', session_id => 's') as mine \gset
select is((w.status, w.reason)::text, ('rejected', 'approval_invalid')::text, 'an approval for one scope is none for ' || s.scope)
from (values ('{"user_id": "ada"}'), ('{"user_id": "bob", "session_id": "s"}'), ('{"session_id": "s"}')) as s (scope)
cross join lateral memory.write_memory(memory_test.an_entry('4111111111111111', s.scope::jsonb), 'loop', :'mine') as w;
select is(memory.revoke_approval(:'mine'), true, 'an approval can be revoked');
select is(memory.revoke_approval(:'mine'), true, 'and again');
select is(memory.revoke_approval(:'card'), false, 'but not once it is used');
select is(memory.revoke_approval(gen_random_uuid()), false, 'nor if there is none');
select is((w.status, w.reason)::text, ('rejected', 'approval_invalid')::text, 'a revoked one does not hold')
from memory.write_memory(memory_test.an_entry('4111111111111111', '{"user_id": "ada", "session_id": "s"}'), 'loop', :'mine') as w;
select is(memory_test.events_of(:'mine'), '{approval_granted,approval_revoked}', 'revoking is audited');

select memory.grant_approval('write_sensitive', '*', expires_in => '1 hour') as late \gset
update memory.approvals as a set lapses_at = now() where a.id = :'late';
select is((w.status, w.reason)::text, ('rejected', 'approval_invalid')::text, 'nobody extends an approval by naming an earlier time')
from memory.write_memory(memory_test.an_entry('4111111111111111'), 'loop', :'late') as w;
select is(a.status, 'expired', 'it has expired by the clock of the server') from memory.list_approvals() as a where a.id = :'late';
select throws_ok(format('delete from memory.approvals where id = %L', :'late'), 'PM006', null, 'an approval is not deleted');

select memory.grant_approval('cross_scope', user_id => 'u', as_of => '2026-01-02Z') as reading \gset
select is((w.status, w.reason)::text, ('rejected', 'approval_invalid')::text, 'an approval to read is none to write')
from memory.write_memory(memory_test.an_entry('4111111111111111'), 'loop', :'reading', as_of => '2026-01-02Z') as w;
select is(memory_test.answer('', 'v', approval_id => :'reading'), '{u tea,up tea,ups tea,us tea,us2 tea,v tea}', 'with an approval a query reads another scope');
select is(memory_test.answer('', 'v', approval_id => :'reading'), '{}', 'once');
select is((memory_test.last_event('memory_query')).reason, 'approval_invalid', 'and the trace says why');
select is(
  (select a.used_by from memory.list_approvals() as a where a.id = :'reading'),
  (select e.id from memory.memory_events as e where e.event_type = 'memory_query' and e.payload ->> 'approval_id' = :'reading'),
  'an approval names the event of the query that used it'
);
select memory.grant_approval('cross_scope', user_id => 'u', session_id => 's2', as_of => '2026-01-02Z') as narrow \gset
select is(memory_test.answer('', approval_id => :'narrow'), '{us2 tea}', 'an approval reads what it names, also without a scope');
select is(
  array(select a.id from memory.list_approvals(only_open => true, as_of => '2026-01-02Z') as a), '{}', 'only what can be used is open'
);
select throws_ok(format('select memory.grant_approval(%s)', t.arguments), 'PM002', t.message, t.message)
from (values
  ($$'everything'$$, $$unknown action: 'everything'$$), ($$'write_sensitive'$$, 'data_class is NULL'),
  ($$'write_sensitive', 'Bad!'$$, $$data_class is 'Bad!'$$),
  ($$'cross_scope', 'iban', 'u'$$, 'an approval of cross_scope has no class'),
  ($$'cross_scope'$$, 'an approval of cross_scope names no scope'),
  ($$'cross_scope', user_id => ''$$, 'user_id is empty'),
  ($$'cross_scope', user_id => 'u', reason => 'No code'$$, 'reason is not a reason code'),
  ($$'cross_scope', user_id => 'u', expires_in => '0'$$, 'expires_in is 00:00:00'),
  ($$'cross_scope', user_id => 'u', expires_in => '2 years'$$, 'expires_in is 2 years')
) as t (arguments, message);

-- Expiry

select memory_test.written('short', '{"user_id": "x"}', '{"expires_at": "2026-02-01"}') as short \gset
select memory_test.written('weak', '{"user_id": "x"}', '{"confidence": 0.06}') as weak \gset
select memory_test.written('strong', '{"user_id": "x"}') as strong \gset
select is(memory_test.answer('', 'x', as_of => '2026-01-31Z'), '{short,strong}', 'a weak entry fades within a month');
select is(memory_test.answer('', 'x', as_of => '2026-02-01Z'), '{strong}', 'at its expiry an entry is not returned any more');
select is((select u.changed from memory.run_entry_upkeep('daily', '2026-02-01Z') as u where u.task = 'expired'), 0::bigint, 'upkeep leaves guarded entries alone');
select is((select row(x.expired, x.faded)::text from memory.expire_memory('2026-01-10Z') as x), '(0,0)', 'too early nothing ends');
select results_eq($$ select x.expired, x.faded from memory.expire_memory('2026-02-01Z') as x $$, $$ values (1::bigint, 1::bigint) $$, 'then one expires and one fades');
select results_eq($$ select x.expired, x.faded from memory.expire_memory('2026-02-01Z') as x $$, $$ values (0::bigint, 0::bigint) $$, 'once');
select is(
  (select e.payload from memory.memory_events as e where e.event_type = 'memory_expired' and e.memory_id = :'short'),
  jsonb_build_object(
    'from', 'guarded', 'to', 'expired', 'entry_id', (select e.entry_id from memory.entries as e where e.id = :'short'),
    'scope', '{"user_id": "x", "persona_id": null, "session_id": null}'::jsonb, 'confidence', 0.9, 'reason', 'expired'
  ),
  'an expiry is traced with scope, confidence and reason'
);
select is((select e.payload ->> 'reason' from memory.memory_events as e where e.event_type = 'memory_expired' and e.memory_id = :'weak'), 'faded', 'and what has faded says so');
select is(memory_test.events_of(:'short'), '{memory_write_attempt,entry_created,memory_write_success,memory_expired}', 'once');
select is(memory_test.answer('', 'x', as_of => '2026-01-02Z'), '{strong}', 'an entry that has ended is not returned at an earlier time either');
select throws_ok(format($$ select memory.restore_memory('entry', %L) $$, :'short'), 'PM008', null, 'nor restored');
select throws_ok(format('update memory.entries set expired_at = null where id = %L', :'short'), 'PM008', null, 'by nobody');
select is((select u.changed from memory.run_entry_upkeep('daily', '2026-03-04Z') as u where u.task = 'purged'), 2::bigint, 'a month later upkeep deletes it');
select is((memory_test.events_of(:'short'))[5], 'entry_purged', 'which is traced');
select throws_ok($$ select memory.expire_memory('infinity') $$, 'PM002', 'as_of is infinity', 'the clock must be a time');

-- Deletion

select memory_test.written('gone', '{"user_id": "d"}') as gone \gset
select is(memory.forget_memory('entry', :'gone', '2026-01-02Z'), true, 'a guarded entry can be deleted');
select is(memory_test.answer('', 'd'), '{}', 'and is not returned then');
select is((memory_test.events_of(:'gone'))[4], 'entry_deleted', 'the deletion is traced');
select is((memory_test.last_event('entry_deleted')).payload -> 'confidence', '0.9', 'with its confidence');
select is(memory.restore_memory('entry', :'gone', '2026-01-03Z'), true, 'a deletion can be undone');
select is(memory_test.answer('', 'd'), '{gone}', 'and it is returned again');
select is((memory_test.events_of(:'gone'))[5], 'entry_restored', 'which is traced');

-- Policies

select is(memory.set_entry_policy('work', 'billy'), true, 'a scope gets a policy');
select is(memory.set_entry_policy(' work ', 'billy'), false, 'once');
select throws_ok($$ select memory.create_entry('x', scope => 'work') $$, 'PM008', null, 'there nothing is created but on request');
select lives_ok($$ select memory.create_entry('open thoughts on tea', scope => 'home') $$, 'elsewhere it is');
select is(memory.set_entry_policy('*', 'billy'), true, 'and so does the tenant');
select throws_ok($$ select memory.create_entry('x', scope => 'home') $$, 'PM008', null, 'then nothing is created anywhere');
select is(memory.set_entry_policy('home', 'meridian'), true, 'but in a scope of its own policy');
select lives_ok($$ select memory.create_entry('x', scope => 'home') $$, 'where it is');
select results_eq(
  $$ select p.scope, p.policy, p.entries from memory.list_entry_policies() as p $$,
  $$ values ('*', 'billy', 0::bigint), ('home', 'meridian', 2), ('work', 'billy', 0) $$, 'policies are listed'
);
select is(
  array(select e.event_type from memory.memory_events as e where e.event_type ~ '^entry_policy' order by e.seq),
  '{entry_policy_created,entry_policy_created,entry_policy_created}', 'and audited'
);
select throws_ok($$ select memory.set_entry_policy('x', 'other') $$, 'PM002', null, 'other policies there are not');
select throws_ok($$ select memory.set_entry_policy('', 'billy') $$, 'PM002', null, 'nor a scope without a name');

-- No other way leads to a guarded entry. Each is refused, or does not show it.

select t.entry_id as strong_id from memory.entries as t where t.id = :'strong' \gset
select e.entry_id as open_id, e.id as open_uuid from memory.entries as e where e.content = 'x' \gset
create table memory_test.before as
select to_jsonb(e) - '{embedding,search_vector}'::text[] as entry from memory.entries as e where e.policy = 'billy';

select throws_ok(format(r.call, :'strong_id', :'strong', :'open_id', :'open_uuid'), 'PM008', null, r.what)
from (values
  ($$ select memory.update_entry(%1$L, content => 'x') $$, 'update_entry cannot change it'),
  ($$ select memory.update_entry(%1$L, tags => '["x"]') $$, 'nor label it'),
  ($$ select memory.update_entry(%1$L, related => array[%3$L]) $$, 'nor relate it'),
  ($$ select memory.update_entry(%1$L, expires_at => '2030-01-01') $$, 'nor extend it'),
  ($$ select memory.update_entry(%2$L, confidence => 1) $$, 'nor raise its confidence'),
  ($$ select memory.rate_entry(%1$L, 'used') $$, 'rate_entry cannot count its use'),
  ($$ select memory.rate_entry(%1$L, 'confirmed') $$, 'nor confirm it'),
  ($$ select memory.rate_entry(%1$L, 'outdated') $$, 'nor lower its confidence'),
  ($$ select memory.rate_entry(%3$L, 'conflicting', by_entry => %1$L) $$, 'nor let it contradict another entry'),
  ($$ select memory.archive_entry(%1$L) $$, 'archive_entry cannot archive it'),
  ($$ select memory.get_memory('entry', %2$L) $$, 'get_memory does not show it'),
  ($$ select memory.get_entry(%1$L) $$, 'nor does get_entry'),
  ($$ select memory.create_link('entry', %2$L, 'entry', %4$L, 'derived_from') $$, 'it is linked to nothing'),
  ($$ select memory.create_link('entry', %4$L, 'entry', %2$L, 'supports') $$, 'and nothing to it'),
  ($$ select memory.create_entry('y', related => array[%1$L], scope => 'home') $$, 'nor is a new entry'),
  ($$ select memory.update_entry(%3$L, related => array[%1$L]) $$, 'nor one that exists'),
  ($$ update memory.entries set trust = 'external' where id = %2$L $$, 'its trust stays'),
  ($$ update memory.entries set scope = 'work' where id = %2$L $$, 'its role stays'),
  ($$ update memory.entries set expires_at = '2030-01-01' where id = %2$L $$, 'its expiry stays'),
  ($$ update memory.entries set metadata = '{}' where id = %2$L $$, 'its metadata stay'),
  ($$ update memory.entries set last_confirmed_at = now() where id = %2$L $$, 'its decay does not start again'),
  ($$ update memory.entries set decay_rate = 0 where id = %2$L $$, 'nor stop'),
  ($$ update memory.entries set retention = 'archived' where id = %2$L $$, 'it has no band')
) as r (call, what);
select throws_ok(format($$ select memory.confirm_memory('entry', %L) $$, :'strong'), 'PM002', null, 'no entry is confirmed as a fact is');
select throws_ok(format($$ update memory.entries set policy = 'meridian' where id = %L $$, :'strong'), 'PM006', null, 'its policy stays');
select throws_ok(format($$ update memory.entries set content = 'x' where id = %L $$, :'strong'), 'PM008', null, 'its content stays');

select is_empty(format(r.call, :'strong'), r.what)
from (values
  ($$ select 1 from memory.search('strong weak short gone tea', types => '{entry}', scope => '*', min_relevance => 0) as m join memory.entries as e on e.id = m.id and e.policy = 'billy' $$, 'search does not find it'),
  ($$ select 1 from memory.keyword_search('entry', 'strong', scope => '*') $$, 'nor does keyword_search'),
  ($$ select 1 from memory.hybrid_search('entry', 'strong', scope => '*') $$, 'nor does hybrid_search'),
  ($$ select 1 from memory.semantic_search('entry', memory_test.axis(1), scope => '*') $$, 'nor does semantic_search'),
  ($$ select 1 from memory.recall('strong', types => '{entry}', scope => '*', min_relevance => 0) as m where m.content = 'strong' $$, 'nor does recall'),
  ($$ select 1 from memory.recall('near', types => '{entry}', scope => '*', embedding => memory_test.axis(1), min_relevance => 0) as m where m.content = 'near' $$, 'not by its vector'),
  ($$ select 1 from memory.rank_memories('strong', types => '{entry}', scope => '*', known_at => now()) as m where m.content = 'strong' $$, 'nor rank_memories at a time'),
  ($$ select 1 from memory.rank_memories('short', types => '{entry}', scope => '*', known_at => '2026-01-15Z', as_of => '2026-01-15Z') as m where m.content = 'short' $$, 'nor before it expired'),
  ($$ select 1 from memory.rank_memories('gone', types => '{entry}', scope => '*', known_at => '2026-01-02 12:00Z') as m where m.content = 'gone' $$, 'nor while it was deleted'),
  ($$ select 1 from memory.recall_explain('strong gone near', types => '{entry}', scope => 'x', min_confidence => 1, embedding => memory_test.axis(1)) as m join memory.entries as e on e.id = m.id and e.policy = 'billy' $$, 'recall_explain does not say why'),
  ($$ select 1 from memory.list_related('entry', %1$L) $$, 'nothing is related to it'),
  ($$ select 1 from memory.get_links('entry', %1$L) $$, 'nor linked'),
  ($$ select 1 from memory.list_contradictions(scope => '*') as c where c::text ~ 'strong' $$, 'nor contradicts it'),
  ($$ select 1 from memory.list_scopes() as s where s.scope <> 'home' $$, 'its scope is not listed'),
  ($$ select 1 from memory.replay_memory('entry', %1$L) as r where r.image::text ~ 'strong' $$, 'its history does not say what it says'),
  ($$ select 1 from memory.list_events(max_results => 10000) as e where e.payload::text ~ 'strong|near|short' $$, 'nor do events')
) as r (call, what);
select is(
  position('strong' in coalesce(memory.context('strong', 'home', min_relevance => 0), '')), 0, 'nor does context'
);
select is((select count(*) from memory.replay_memory('entry', :'gone')), 3::bigint, 'its states can be replayed');
select is_empty(format('select r.problem from memory.replay_memory(''entry'', %L) as r where r.problem is not null', :'gone'), 'and agree with its events');
select memory.forget_memory('entry', :'gone') \g /dev/null
select throws_ok(format($$ select memory.get_memory('entry', %L) $$, :'gone'), 'PM008', null, 'a deleted one is not shown either');
select is_empty(
  $$ select 1 from memory.recall_explain('gone', types => '{entry}', scope => '*') as m where m.content = 'gone' $$, 'nor explained'
);
select memory.restore_memory('entry', :'gone') \g /dev/null
select memory.run_entry_upkeep(p.period, '2026-03-05Z') from (values ('daily'), ('weekly'), ('monthly')) as p (period) \g /dev/null
select is_empty(
  $$ (select b.entry - 'updated_at' from memory_test.before as b)
     except
     (select to_jsonb(e) - '{embedding,search_vector,updated_at}'::text[] from memory.entries as e where e.policy = 'billy') $$,
  'after all this every guarded entry is as it was'
);
select lives_ok(
  format('select memory.set_embedding(''entry'', %L, memory_test.axis(3))', :'strong'), 'a worker gives it a vector'
);
select is_empty(
  $$ select p.problem from memory.verify_chain() as p where p.problem !~ 'seal' $$, 'and events agree with states'
);

-- Written again by the id that a query returned

select w.entry_id as cat from memory.write_memory(memory_test.an_entry('Ada has a cat'), 'loop', as_of => '2026-02-01Z') as w \gset
select is(
  w.entry_id, :'cat', 'an entry without an id of its own is known by that of the memory'
)
from memory.write_memory(memory_test.an_entry('Ada has a cat', other => jsonb_build_object('id', :'cat')), 'loop', as_of => '2026-02-02Z') as w;
select is(
  w.reason, 'id_taken', 'under which nothing else is written'
)
from memory.write_memory(memory_test.an_entry('Ada has a dog', other => jsonb_build_object('id', :'cat')), 'loop', as_of => '2026-02-02Z') as w;
select is((select count(*) from memory.entries as e where e.content like 'Ada has a %'), 1::bigint, 'it is stored once');
select memory.write_memory(memory_test.an_entry('Ada has a cat', metadata => '{"confidence": 0.4}', other => jsonb_build_object('id', :'cat')), 'loop', as_of => '2026-02-03Z') \g /dev/null
select is(
  ((memory_test.last_event('memory_write_attempt')).payload ->> 'confidence')::float8, 0.9::float8,
  'the trace of a repetition has the confidence that is stored'
);
select memory.write_memory(memory_test.an_entry('Ada has a cold', metadata => '{"expires_at": "2026-02-10T00:00:00Z"}', other => '{"id": "cold"}'), 'loop', as_of => '2026-02-03Z') \g /dev/null
select is(
  w.reason, 'id_taken', 'an entry that has expired is not written again under its id: it would not be found'
)
from memory.write_memory(memory_test.an_entry('Ada has a cold', other => '{"id": "cold"}'), 'loop', as_of => '2026-02-11Z') as w;

-- Dashboards

select memory_test.as_tenant('a') \g /dev/null
select memory_test.written('Ada drinks white tea', '{"user_id": "ada"}') is not null as written \gset
insert into memory.entries (tenant_id, entry_id, content) values ('a', 'mem-2026-01-01-900', 'Ada drinks black tea');
select memory_test.share_results() \g /dev/null
set local role memory_reader;
select results_eq(
  $$ select o.content from memory.memory_overview as o where o.content ~ 'drinks (white|black) tea' $$, $$ values ('Ada drinks black tea') $$,
  'views of dashboards do not show what is guarded'
);
select is_empty($$ select e.content from memory.entries as e where e.content ~ 'drinks white tea' $$, 'nor does the table');
reset role;

select * from finish();
rollback;
