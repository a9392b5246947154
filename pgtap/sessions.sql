begin;
\ir fixtures.sql
select plan(58);

create function memory_test.digest(secret text)
  returns bytea
  language sql
  immutable
  return sha256(convert_to(secret, 'UTF8'));

select memory_test.a_login('sessions_admin_a', 'a', 'memory_admin');
select memory_test.a_login('sessions_reader_a', 'a', 'memory_reader');
select memory_test.a_login('sessions_worker_a', 'a', 'memory_worker');
select memory_test.a_login('sessions_writer_b', 'b', 'memory_writer');
select memory_test.a_login('sessions_gateway', null, 'memory_gateway, memory_reader, memory_writer');
select memory_test.share_results();

select t.id as laptop_id, t.token as laptop
from memory.create_access_token('laptop', 'writer', 'Ada', as_of => '2026-01-01Z') as t \gset
select t.id as short_id, t.token as short
from memory.create_access_token('short', 'reader', null, '2 hours', '2026-01-01Z') as t \gset

-- create_session

set local session authorization sessions_gateway;
select memory.set_request(tenant_id => 'a') \g /dev/null
select s.session_id as session, s.csrf_token as csrf, s.expires_at as session_until, s.role as session_role, s.actor as session_actor, s.token_id as session_token
from memory.create_session(memory_test.digest(:'laptop'), '2026-01-02Z') as s \gset
select matches(
  :'session'::text, '^61_[0-9a-f]{64}$', 'a session id consists of its tenant in hexadecimal and 256 bits'
);
select matches(:'csrf'::text, '^[0-9a-f]{64}$', 'the token of its forms has 256 bits');
select is(
  array[:'session_role', :'session_actor', :'session_token'], array['writer', 'Ada', :'laptop_id'],
  'a session acts as its token'
);
select is(:'session_until'::timestamptz, '2026-01-03Z'::timestamptz, 'a session ends after 24 hours at the latest');
select is(
  (select s.expires_at from memory.create_session(memory_test.digest(:'short'), '2026-01-01Z') as s),
  '2026-01-01 02:00Z'::timestamptz, 'or with its token'
);
select is(
  (select count(distinct v) from generate_series(1, 20) as n,
     memory.create_session(memory_test.digest(:'laptop'), '2026-01-02Z'::timestamptz + n * interval '1 s') as s,
     unnest(array[s.session_id, s.csrf_token]) as v),
  40::bigint, 'every session has its own id and token of forms'
);
select is_empty(
  format('select from memory.create_session(memory_test.digest(%L), %L)', c.token, c.as_of),
  format('%s opens no session', c.what)
)
from (values
  (1, 'an unknown token', 'pymem_61_0', '2026-01-02Z'),
  (2, 'a token without its prefix', split_part(:'laptop', '_', 3), '2026-01-02Z'),
  (3, 'an expired token', :'short', '2026-01-01 02:00Z'),
  (4, 'the id of a session', :'session', '2026-01-02Z')
) as c (position, what, token, as_of)
order by c.position;
select throws_ok(
  format('select memory.create_session(memory_test.digest(%L), %L)', :'laptop', t), 'PM002', null,
  format('a session that starts at %s is refused', t)
)
from unnest('{infinity,2126-01-01Z}'::text[]) with ordinality as u (t, position)
order by u.position;
select memory.set_request(tenant_id => 'b') \g /dev/null
select is_empty(
  format('select from memory.create_session(memory_test.digest(%L), %L)', :'laptop', '2026-01-02Z'),
  'a token opens no session of another tenant'
);
set local session authorization default;
select memory_test.as_tenant('a') \g /dev/null
select results_eq(
  format(
    $$ select s.tenant_id, s.token_id, s.login::text, s.role, s.actor, s.created_at, s.last_used_at
       from memory.sessions as s where s.session_digest = memory_test.digest(%L) $$, :'session'
  ),
  format(
    $$ values ('a', %L::uuid, null::text, null::text, null::text, '2026-01-02Z'::timestamptz, '2026-01-02Z'::timestamptz) $$,
    :'laptop_id'
  ),
  'only the digest of a session id is stored'
);
select results_eq(
  format(
    $$ select e.event_type, e.memory_type, e.payload
       from memory.memory_events as e
       join memory.sessions as s on s.tenant_id = e.tenant_id and s.id = e.memory_id
       where s.session_digest = memory_test.digest(%L) $$, :'session'
  ),
  format(
    $$ values ('session_started', 'session', jsonb_build_object('token_id', %L)) $$, :'laptop_id'
  ),
  'opening a session writes an event with its token'
);
select is_empty(
  format(
    $$ select e.id from memory.memory_events as e
       where to_jsonb(e)::text like '%%' || %L || '%%' or to_jsonb(e)::text like '%%' || %L || '%%' $$,
    split_part(:'session', '_', 2), :'csrf'
  ),
  'the audit stream contains no secret of a session'
);

-- authenticate_session

set local session authorization sessions_gateway;
select memory.set_request(tenant_id => 'a') \g /dev/null
select results_eq(
  format(
    $$ select s.tenant_id, s.role, s.actor, s.token_id, s.csrf_token, s.created_at, s.last_used_at, s.expires_at
       from memory.authenticate_session(memory_test.digest(%L), '2026-01-02 00:00:30Z') as s $$, :'session'
  ),
  format(
    $$ values ('a', 'writer', 'Ada', %L::uuid, %L, '2026-01-02Z'::timestamptz, '2026-01-02Z'::timestamptz, '2026-01-03Z'::timestamptz) $$,
    :'laptop_id', :'csrf'
  ),
  'a request with a session acts as its token, and its use is noted at most once a minute'
);
select is(
  (select s.last_used_at from memory.authenticate_session(memory_test.digest(:'session'), '2026-01-02 07:59:59Z') as s),
  '2026-01-02 07:59:59Z'::timestamptz, 'after a minute its use is noted'
);
select is_empty(
  format('select from memory.authenticate_session(memory_test.digest(%L), %L)', c.session, c.as_of),
  format('%s is refused', c.what)
)
from (values
  (1, 'an unknown session', '61_0', '2026-01-02 08:00Z'),
  (2, 'a session that was not used for 8 hours', :'session', '2026-01-02 15:59:59Z'),
  (3, 'the access token itself', :'laptop', '2026-01-02 08:00Z'),
  (4, 'the token of forms', :'csrf', '2026-01-02 08:00Z')
) as c (position, what, session, as_of)
order by c.position;
select isnt_empty(
  format('select from memory.authenticate_session(memory_test.digest(%L), %L)', :'session', '2026-01-02 15:59:58Z'),
  'a session that was used within 8 hours is not'
);
select isnt_empty(
  format('select from memory.authenticate_session(memory_test.digest(%L), %L)', :'session', '2026-01-02 23:59:57Z'),
  'a session lasts for 24 hours'
);
select is_empty(
  format('select from memory.authenticate_session(memory_test.digest(%L), %L)', :'session', '2026-01-03Z'),
  'and no longer, even if it is used'
);
select is(
  (select s.last_used_at from memory.authenticate_session(memory_test.digest(:'session'), '2026-01-02 00:00Z') as s),
  '2026-01-02 23:59:57Z'::timestamptz, 'an earlier time does not turn its last use back'
);
select throws_ok(
  format('select memory.authenticate_session(memory_test.digest(%L), %L)', :'session', 'infinity'), 'PM002', null,
  'an infinite time is refused'
);
select memory.set_request(tenant_id => 'b') \g /dev/null
select is_empty(
  format('select from memory.authenticate_session(memory_test.digest(%L), %L)', :'session', '2026-01-02 23:59:59Z'),
  'a session is unknown to another tenant'
);
select is(memory.end_session(memory_test.digest(:'session')), false, 'which cannot end it either');
select memory.set_request(tenant_id => 'a') \g /dev/null

-- A read-only transaction lets in, and notes nothing.

savepoint before_reading;
set transaction read only;
select isnt_empty(
  format('select from memory.authenticate_session(memory_test.digest(%L), %L)', :'session', '2026-01-02 23:59:59Z'),
  'a session is good in a read-only transaction'
);
rollback to savepoint before_reading;

-- end_session

select is(memory.end_session(memory_test.digest(:'session')), true, 'a session can be ended');
select is(memory.end_session(memory_test.digest(:'session')), false, 'once');
select is_empty(
  format('select from memory.authenticate_session(memory_test.digest(%L), %L)', :'session', '2026-01-02 01:00Z'),
  'and is refused from then on'
);
select s.session_id as session
from memory.create_session(memory_test.digest(:'laptop'), '2026-01-02Z') as s \gset
set local session authorization default;
select memory_test.as_tenant('a') \g /dev/null
select ok(
  (select count(*) = 1 from memory.memory_events as e where e.event_type = 'session_ended'),
  'the end of a session is audited'
);
select memory.revoke_access_token(:'laptop_id', '2026-01-02 01:00Z') \g /dev/null
select is_empty(
  format('select from memory.authenticate_session(memory_test.digest(%L), %L)', :'session', '2026-01-02 00:30Z'),
  'a session ends with the revocation of its token, at any time that is asked for'
);
select throws_ok(
  $$ truncate memory.sessions $$, 'PM006', null, 'sessions cannot be truncated without a trace'
);

-- create_login_code, redeem_login_code

set local session authorization sessions_reader_a;
select c.login_code as code, c.expires_at as code_until from memory.create_login_code('reader', 'Ada', '2026-01-02Z') as c \gset
select matches(:'code'::text, '^61_[0-9a-f]{64}$', 'a one-time code consists of its tenant and 256 bits');
select is(:'code_until'::timestamptz, '2026-01-02 00:01Z'::timestamptz, 'it is good for a minute');
select throws_ok(
  format('select memory.create_login_code(%L, %L, %L)', c.role, c.actor, c.as_of), 'PM002', null, format('%s is refused', c.what)
)
from (values
  (1, 'a code for a role that one does not have', 'writer', 'Ada', '2026-01-02Z'),
  (2, 'a code for an unknown role', 'owner', 'Ada', '2026-01-02Z'),
  (3, 'a code without a role', null, 'Ada', '2026-01-02Z'),
  (4, 'a code for an actor with a line break', 'reader', E'a\nb', '2026-01-02Z'),
  (5, 'a code of the distant future', 'reader', 'Ada', '2126-01-02Z')
) as c (position, what, role, actor, as_of)
order by c.position;
select is_empty(
  format('select from memory.redeem_login_code(memory_test.digest(%L), %L)', '61_0', '2026-01-02Z'),
  'an unknown code opens no session'
);
select results_eq(
  format(
    $$ select s.tenant_id, s.role, s.actor, s.token_id, s.expires_at
       from memory.redeem_login_code(memory_test.digest(%L), '2026-01-02 00:00:59Z') as s $$, :'code'
  ),
  $$ values ('a', 'reader', 'Ada', null::uuid, '2026-01-03 00:00:59Z'::timestamptz) $$,
  'a code opens a session of its role'
);
select is_empty(
  format('select from memory.redeem_login_code(memory_test.digest(%L), %L)', :'code', '2026-01-02 00:00:59Z'),
  'only once'
);
select c.login_code as code from memory.create_login_code('reader', as_of => '2026-01-02Z') as c \gset
select is_empty(
  format('select from memory.redeem_login_code(memory_test.digest(%L), %L)', :'code', '2026-01-02 00:01Z'),
  'a code is no longer good at the end of the minute'
);
select is_empty(
  format('select from memory.redeem_login_code(memory_test.digest(%L), %L)', :'code', '2026-01-02Z'),
  'and was used up by the attempt'
);
select c.login_code as code from memory.create_login_code('reader', as_of => '2026-01-02Z') as c \gset
select s.session_id as session, s.actor as session_actor
from memory.redeem_login_code(memory_test.digest(:'code'), '2026-01-02Z') as s \gset
select is(:'session_actor'::text, 'sessions_reader_a', 'without an actor it acts as whoever asked for the code');
select isnt_empty(
  format('select from memory.authenticate_session(memory_test.digest(%L), %L)', :'session', '2026-01-02 01:00Z'),
  'such a session is good'
);
set local session authorization default;
revoke memory_reader from sessions_reader_a;
select memory_test.as_tenant('a') \g /dev/null
select is_empty(
  format('select from memory.authenticate_session(memory_test.digest(%L), %L)', :'session', '2026-01-02 01:00Z'),
  'until the login that asked for the code loses the role'
);
grant memory_reader to sessions_reader_a;
update memory.tenant_logins set tenant_id = 'b' where login = 'sessions_reader_a';
select is_empty(
  format('select from memory.authenticate_session(memory_test.digest(%L), %L)', :'session', '2026-01-02 01:00Z'),
  'or its tenant'
);
set local session authorization sessions_gateway;
set local role memory_reader;
select memory.set_request(tenant_id => 'a') \g /dev/null
select throws_ok(
  $$ select memory.create_login_code('writer') $$, 'PM002', null, 'only the rights in use count, not all of the login'
);
reset role;

-- delete_expired_sessions

set local session authorization sessions_worker_a;
select c.login_code as code from memory.create_login_code('worker', as_of => '2026-01-02 00:59:30Z') as c \gset
set local session authorization default;
select memory_test.as_tenant('a') \g /dev/null
select t.token as phone from memory.create_access_token('phone', 'reader', as_of => '2026-01-01Z') as t \gset
delete from memory.sessions;
select count(*) as opened from unnest('{2026-01-02 00:00Z,2026-01-02 10:00Z}'::timestamptz[]) as t (at),
  memory.create_session(memory_test.digest(:'phone'), t.at) \gset
set local session authorization sessions_worker_a;
select is(memory.delete_expired_sessions('2026-01-02 07:59Z'), 0::bigint, 'sessions that are in use are kept');
select is(memory.delete_expired_sessions('2026-01-02 08:00Z'), 1::bigint, 'those that are over are deleted');
set local session authorization default;
select memory_test.as_tenant('a') \g /dev/null
select is((select count(*) from memory.login_codes), 0::bigint, 'as are codes that nobody used');
select memory.revoke_access_token(t.id, '2026-01-02 10:00Z') from memory.access_tokens as t where t.name = 'phone' \g /dev/null
select is(memory.delete_expired_sessions('2026-01-02 10:01Z'), 1::bigint, 'and those of revoked tokens');
select memory_test.as_tenant('b') \g /dev/null
select is(memory.delete_expired_sessions('2026-01-09Z'), 0::bigint, 'other tenants have their own');

select * from finish();
rollback;
