begin;
\ir fixtures.sql
select plan(68);

create function memory_test.digest(token text)
  returns bytea
  language sql
  immutable
  return sha256(convert_to(token, 'UTF8'));

select memory_test.a_login('tokens_admin_a', 'a', 'memory_admin');
select memory_test.a_login('tokens_reader_a', 'a', 'memory_reader');
select memory_test.a_login('tokens_writer_b', 'b', 'memory_writer');
select memory_test.a_login('tokens_gateway', null, 'memory_gateway, memory_reader, memory_writer');
select memory_test.a_login('tokens_unbound', null, 'memory_writer');
select memory_test.share_results();

-- create_access_token

set local session authorization tokens_admin_a;
select t.id as laptop_id, t.token as laptop, t.expires_at as laptop_until
from memory.create_access_token('laptop', 'writer', 'assistant', as_of => '2026-01-01Z') as t \gset
select matches(
  :'laptop'::text, '^pymem_61_[0-9a-f]{64}$',
  'a token consists of its tenant in hexadecimal and a secret'
);
select is(
  :'laptop_until'::timestamptz, '2026-04-01Z'::timestamptz,
  'a token is valid for 90 days by default'
);
select is(
  (select count(distinct t.token) from generate_series(1, 50) as n, memory.create_access_token('n', 'reader', n::text) as t),
  50::bigint, 'every token is different'
);
select is(
  (select t.expires_at from memory.create_access_token('n', 'reader', null, '1 hour', '2026-01-01Z') as t),
  '2026-01-01T01:00Z'::timestamptz, 'a token is valid for as long as the caller asks'
);
set local session authorization default;
select results_eq(
  format(
    $$ select t.tenant_id, t.name, t.role, t.actor, t.created_at, t.revoked_at, t.last_used_on
       from memory.access_tokens as t where t.id = %L $$, :'laptop_id'
  ),
  $$ values ('a', 'laptop', 'writer', 'assistant', '2026-01-01Z'::timestamptz, null::timestamptz, null::date) $$,
  'a token keeps its tenant, name, role, actor and creation time'
);
select is(
  (select t.actor from memory.access_tokens as t where t.expires_at = '2026-01-01T01:00Z'), 'n',
  'a token created without an actor acts under its own name'
);
select is(
  (select t.token_digest from memory.access_tokens as t where t.id = :'laptop_id'),
  memory_test.digest(:'laptop'), 'only the digest of a token is stored'
);
select is_empty(
  format(
    $$ select e.id from memory.memory_events as e
       where to_jsonb(e)::text like '%%' || %L || '%%' or to_jsonb(e)::text like '%%' || %L || '%%' $$,
    split_part(:'laptop', '_', 3), encode(memory_test.digest(:'laptop'), 'hex')
  ),
  'the audit stream contains neither the secret of a token nor its digest'
);
select results_eq(
  format(
    $$ select e.event_type, e.memory_type, e.login::text collate "default", (e.payload - 'digest')::text from memory.memory_events as e
       where e.tenant_id = 'a' and e.memory_id = %L $$,
    :'laptop_id'
  ),
  $$ values ('access_token_created', 'access_token', 'tokens_admin_a', '{}') $$,
  'creating a token writes an event'
);
select memory_test.as_tenant('Größe 8');
select t.token as odd from memory.create_access_token('odd', 'reader') as t \gset
select is(
  convert_from(decode(split_part(:'odd'::text, '_', 2), 'hex'), 'UTF8'), 'Größe 8',
  'a token can name any tenant, whatever characters its name has'
);
select matches(
  :'odd'::text, '^pymem_[0-9a-f]+_[0-9a-f]{64}$',
  'the token of a tenant with an unusual name has the usual form'
);
select memory_test.as_tenant('a');

select throws_ok(
  format('select memory.create_access_token(%L, %L, %L, %L, %L)', c.name, c.role, c.actor, c.expires_in, c.as_of),
  'PM002', null, format('%s is refused', c.what)
)
from (values
  (1, 'a token without a name', null, 'reader', null, '1 day', '2026-01-01Z'),
  (2, 'a blank name', ' ', 'reader', null, '1 day', '2026-01-01Z'),
  (3, 'a name of more than 128 bytes', repeat('n', 129), 'reader', null, '1 day', '2026-01-01Z'),
  (4, 'a name with a line break', E'a\nb', 'reader', null, '1 day', '2026-01-01Z'),
  (5, 'an unknown role', 'n', 'owner', null, '1 day', '2026-01-01Z'),
  (6, 'the name of a database role', 'n', 'memory_reader', null, '1 day', '2026-01-01Z'),
  (7, 'a token without a role', 'n', null, null, '1 day', '2026-01-01Z'),
  (8, 'an empty actor', 'n', 'reader', '', '1 day', '2026-01-01Z'),
  (9, 'an actor with a line break', 'n', 'reader', E'a\nb', '1 day', '2026-01-01Z'),
  (10, 'a token that never expires', 'n', 'reader', null, null, '2026-01-01Z'),
  (11, 'a token that has already expired', 'n', 'reader', null, '0', '2026-01-01Z'),
  (12, 'a token that expires before it is created', 'n', 'reader', null, '-1 day', '2026-01-01Z'),
  (13, 'a token for more than ten years', 'n', 'reader', null, '3654 days', '2026-01-01Z'),
  (14, 'a creation time in the future', 'n', 'reader', null, '1 day', '2126-01-01Z'),
  (15, 'a NULL creation time', 'n', 'reader', null, '1 day', null),
  (16, 'an infinite creation time', 'n', 'reader', null, '1 day', 'infinity')
) as c (position, what, name, role, actor, expires_in, as_of)
order by c.position;
select memory_test.as_tenant('');
select throws_ok(
  $$ select memory.create_access_token('n', 'reader') $$, '28000', null,
  'a token cannot be created without a tenant'
);

-- authenticate_token: the tenant is named first, as in any call

set local session authorization tokens_gateway;
select memory.set_request(tenant_id => 'a') \g /dev/null
select results_eq(
  format(
    $$ select t.token_id, t.tenant_id, t.role, t.actor, t.expires_at
       from memory.authenticate_token(memory_test.digest(%L), '2026-01-02Z') as t $$, :'laptop'
  ),
  format(
    $$ values (%L::uuid, 'a', 'writer', 'assistant', '2026-04-01Z'::timestamptz) $$, :'laptop_id'
  ),
  'a gateway learns whose token it is from the digest'
);
select isnt_empty(
  format($$ select from memory.authenticate_token(memory_test.digest(%L), '2026-03-31T23:59:59.999Z') $$, :'laptop'),
  'a token is valid until just before it expires'
);
select is_empty(
  format($$ select from memory.authenticate_token(memory_test.digest(%L), '2026-04-01Z') $$, :'laptop'),
  'a token is no longer valid at the moment it expires'
);
select is_empty(
  format(
    $$ select from memory.authenticate_token(memory_test.digest(%L), '2026-01-02Z') $$, t.token
  ),
  format('%s is not a valid token', t.what)
)
from (values
  (1, 'another secret', 'pymem_61_' || repeat('0', 64)),
  (2, 'the secret alone', split_part(:'laptop', '_', 3)),
  (3, 'the secret under another tenant', replace(:'laptop', 'pymem_61_', 'pymem_62_')),
  (4, 'the token in upper case', upper(:'laptop')),
  (5, 'the token with a space', :'laptop' || ' '),
  (6, 'an empty string', '')
) as t (position, what, token)
order by t.position;
select is_empty($$ select from memory.authenticate_token(null) $$, 'NULL is not a valid token');
select is_empty(
  $$ select from memory.authenticate_token((select sha256(memory_test.digest('x')))) $$,
  'the digest of a digest is not a valid token'
);
select throws_ok(
  $$ select memory.authenticate_token(memory_test.digest('x'), null) $$, 'PM002', null,
  'authenticate_token refuses a NULL time'
);
select memory.set_request(tenant_id => 'b') \g /dev/null
select is_empty(
  format($$ select from memory.authenticate_token(memory_test.digest(%L), '2026-01-02Z') $$, :'laptop'),
  'a gateway that names a tenant other than the token''s finds nothing'
);
select set_config('memory.tenant_id', '', true) \g /dev/null
select throws_ok(
  format($$ select memory.authenticate_token(memory_test.digest(%L), '2026-01-02Z') $$, :'laptop'), '28000', null,
  'a gateway that names no tenant is refused'
);
set local session authorization tokens_writer_b;
select set_config('memory.tenant_id', 'a', true) \g /dev/null
select is_empty(
  format($$ select from memory.authenticate_token(memory_test.digest(%L), '2026-01-02Z') $$, :'laptop'),
  'a login bound to another tenant finds nothing, whichever tenant it names'
);
set local session authorization tokens_reader_a;
select isnt_empty(
  format($$ select from memory.authenticate_token(memory_test.digest(%L), '2026-01-02Z') $$, :'laptop'),
  'a login bound to the tenant learns whose token it is, whatever its role'
);
set local session authorization tokens_unbound;
select throws_ok(
  format($$ select memory.authenticate_token(memory_test.digest(%L), '2026-01-02Z') $$, :'laptop'), '28000', null,
  'a login that is neither bound nor a gateway is refused'
);

-- The day of use

set local session authorization default;
select memory_test.as_tenant('a');
select is(
  (select t.last_used_on from memory.access_tokens as t where t.id = :'laptop_id'), '2026-03-31'::date,
  'the last day on which a token was used is recorded'
);
select t.ctid as place from memory.access_tokens as t where t.id = :'laptop_id' \gset
select memory.authenticate_token(memory_test.digest(:'laptop'), '2026-03-31T12:00Z') \g /dev/null
select memory.authenticate_token(memory_test.digest(:'laptop'), '2026-03-30T12:00Z') \g /dev/null
select is(
  (select t.ctid from memory.access_tokens as t where t.id = :'laptop_id'), :'place'::tid,
  'using a token again on the same day, or dated earlier, writes nothing'
);
select is(
  memory_test.events_of(:'laptop_id'), '{access_token_created}', 'using a token writes no event'
);

-- list_access_tokens

set local session authorization tokens_admin_a;
select t.id as phone_id from memory.create_access_token('phone', 'reader', as_of => '2026-01-03Z') as t \gset
select memory.revoke_access_token(:'phone_id', '2026-01-04Z') \g /dev/null
select results_eq(
  $$ select t.name, t.role, t.actor, t.status, t.created_at, t.expires_at, t.revoked_at, t.last_used_on
     from memory.list_access_tokens('2026-04-01Z') as t where t.name <> 'n' $$,
  $$ values
     (
       'phone', 'reader', 'phone', 'revoked', '2026-01-03Z'::timestamptz, '2026-04-03Z'::timestamptz,
       '2026-01-04Z'::timestamptz, null::date
     ),
     (
       'laptop', 'writer', 'assistant', 'expired', '2026-01-01Z'::timestamptz, '2026-04-01Z'::timestamptz, null,
       '2026-03-31'::date
     ) $$,
  'an administrator sees the tokens of the tenant, newest first'
);
select is(
  (select t.status from memory.list_access_tokens('2026-03-31Z') as t where t.name = 'laptop'), 'active',
  'list_access_tokens shows a token as active until it expires'
);
select throws_ok(
  $$ select memory.list_access_tokens(null) $$, 'PM002', null,
  'list_access_tokens refuses a NULL time'
);

-- revoke_access_token

select is(memory.revoke_access_token(:'laptop_id', '2026-02-01Z'), true, 'a token can be revoked');
select is(
  memory.revoke_access_token(:'laptop_id', '2026-02-02Z'), true, 'revoking a token again succeeds'
);
select is(
  memory.revoke_access_token(gen_random_uuid()), false, 'revoking an unknown token returns false'
);
select throws_ok(
  format($$ select memory.revoke_access_token(%L, 'infinity') $$, :'laptop_id'), 'PM002', null,
  'a token cannot be revoked at an infinite time'
);
select is_empty(
  format($$ select from memory.authenticate_token(memory_test.digest(%L), '2026-01-15Z') $$, :'laptop'),
  'a revoked token is refused, even as of a time before it was revoked'
);
set local session authorization default;
select is(
  (select t.revoked_at from memory.access_tokens as t where t.id = :'laptop_id'), '2026-02-01Z'::timestamptz,
  'revoking a token again keeps the time of the first revocation'
);
select is(
  memory_test.events_of(:'laptop_id'), '{access_token_created,access_token_revoked}',
  'revoking a token twice writes one event'
);

-- What an operator does to the table

select lives_ok(
  format($$ update memory.access_tokens as t set role = 'admin' where t.id = %L $$, :'laptop_id'),
  'an operator may change a token'
);
select lives_ok(
  format($$ update memory.access_tokens as t set revoked_at = null where t.id = %L $$, :'laptop_id'),
  'an operator may undo a revocation'
);
select results_eq(
  format(
    $$ select e.event_type, (e.payload - 'digest')::text from memory.memory_events as e
       where e.memory_id = %L order by e.seq offset 2 $$, :'laptop_id'
  ),
  $$ values
     ('access_token_updated', '{"changed": ["role"]}'), ('access_token_updated', '{"changed": ["revoked_at"]}') $$,
  'every change that an operator makes to a token writes an event'
);
select throws_ok(
  format($$ delete from memory.access_tokens as t where t.id = %L $$, :'laptop_id'), 'PM006', null,
  'a token cannot be deleted'
);
select throws_ok(
  $$ truncate memory.access_tokens cascade $$, 'PM006', null, 'the access tokens cannot be truncated'
);

-- current_login

set local session authorization tokens_reader_a;
select results_eq(
  $$ select c.login::text collate "default", c.tenant_id, c.is_gateway, c.roles from memory.current_login() as c $$,
  $$ values ('tokens_reader_a', 'a', false, '{memory_reader}'::text[]) $$,
  'current_login returns the tenant of a bound login'
);
set local role memory_reader;
select is(
  (select c.login::text collate "default" from memory.current_login() as c), 'tokens_reader_a',
  'current_login returns the session''s login, whatever role it has set'
);
set local session authorization tokens_gateway;
select results_eq(
  $$ select c.tenant_id, c.is_gateway, c.roles from memory.current_login() as c $$,
  $$ values (null::text, true, '{memory_reader,memory_writer}'::text[]) $$,
  'current_login returns a gateway''s roles and no tenant'
);

-- The day of use is never to come

set local session authorization default;
select memory_test.as_tenant('a');
select t.id as desk_id, t.token as desk from memory.create_access_token('desk', 'reader') as t \gset
select memory.authenticate_token(memory_test.digest(:'desk'), now() + interval '1 day') \g /dev/null
select is(
  (select t.last_used_on from memory.access_tokens as t where t.id = :'desk_id'),
  (now() at time zone 'UTC')::date, 'a token is never recorded as used on a day to come'
);

set local session authorization tokens_unbound;
select results_eq(
  $$ select c.tenant_id, c.is_gateway from memory.current_login() as c $$,
  $$ values (null::text, false) $$,
  'current_login returns no tenant for a login that is neither bound nor a gateway'
);

select * from finish();
rollback;
