-- Deploy pymem:functions/core/base/request to pg

begin;

set local role memory_owner;

-- SECURITY DEFINER because callers cannot read tenant_logins. Row policies call this function as
-- "(select memory.current_tenant())": once per query instead of once per row.
create or replace function memory.current_tenant()
  returns text
  language plpgsql
  stable
  parallel safe
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  -- A transaction-local setting reads as '' after the transaction, not as NULL.
  v_named text := nullif(current_setting('memory.tenant_id', true), '');
  v_tenant_id text;
  v_access text;
begin
  -- One statement, because every statement on a table with row security calls this function. Few
  -- tenants are in tenant_moves: those that move, and those that have moved away.
  select l.tenant_id, m.access into v_tenant_id, v_access
  from (values (v_named)) as n (tenant_id)
  left join memory.tenant_logins as l on l.login = session_user
  left join memory.tenant_moves as m on m.tenant_id = coalesce(l.tenant_id, n.tenant_id);
  if v_tenant_id is null then
    if not pg_has_role(session_user, 'memory_gateway', 'member') then
      raise exception 'login % is not bound to a tenant', session_user
        using errcode = '28000',
          hint = 'An administrator can bind it with sql/grant_login.sql.';
    end if;
    if v_named is null then
      raise exception 'this transaction names no tenant'
        using errcode = '28000',
          hint = 'Call memory.set_request(tenant_id => ...) first, in the same transaction.';
    end if;
    if octet_length(v_named) > 128 then
      raise exception 'the tenant name is % bytes long', octet_length(v_named)
        using errcode = 'PM002', hint = 'Use a tenant name of at most 128 bytes.';
    end if;
    v_tenant_id := v_named;
  end if;

  if v_access = 'none' then
    perform memory.refuse_absent(v_tenant_id);
  end if;
  return v_tenant_id;
end;
$$;

comment on function memory.current_tenant() is
'The tenant of this transaction: that of a bound login, otherwise the one that a member of '
'memory_gateway named with set_request. Errors: 28000 no tenant, PM010 it is on another server.';
grant execute on function memory.current_tenant
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.refuse_absent(tenant_id text)
  returns void
  language plpgsql
  stable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  -- Who moves a tenant verifies the rows that have arrived before anybody else sees them.
  if current_setting('memory.moving', true) = 'on'
    and (select r.rolsuper from pg_roles as r where r.rolname = session_user)
  then
    return;
  end if;
  raise exception 'tenant % is on another server', quote_literal(tenant_id)
    using errcode = 'PM010',
      hint = 'Try again in a moment, through the pooler or with the address that the operator '
        'names.';
end;
$$;

comment on function memory.refuse_absent(text) is
'Raises PM010, unless the session is that of a superuser who has set memory.moving to on.';

create or replace function memory.refuse_frozen(tenant_id text)
  returns boolean
  language plpgsql
  stable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if exists (
    select from memory.tenant_moves as m
    where m.tenant_id = refuse_frozen.tenant_id and m.access <> 'full'
  ) then
    raise exception 'tenant % is moving to another server and can only be read now',
      quote_literal(tenant_id)
      using errcode = 'PM010', hint = 'Nothing was stored; try again in a moment.';
  end if;
  return false;
end;
$$;

comment on function memory.refuse_frozen(text) is
'Raises PM010 if the rows of a tenant may not change here: it is moving to another server, or is '
'there. Otherwise false. The policies of writing call it (memory.isolate_table).';

-- Security definer, as a caller cannot read tenant_moves.
create or replace function memory.can_write()
  returns boolean
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if current_setting('transaction_read_only') = 'on' then
    return false;
  end if;
  -- Of those that are frozen hardly ever one is.
  if not exists (select from memory.tenant_moves as m where m.access = 'read') then
    return true;
  end if;
  return not exists (
    select from memory.tenant_moves as m
    where m.tenant_id = memory.current_tenant() and m.access = 'read'
  );
end;
$$;

comment on function memory.can_write() is
'Whether this transaction may write: not on a standby, not in one that is read-only, and not for a '
'tenant that is moving to another server. Readers ask it before they count what they read.';

-- Any session can set memory.actor and the like without set_request, so malformed values count as
-- not set: the audit stream holds nothing that these functions reject, and a butler always has a
-- valid scope name.

create or replace function memory.is_actor(actor text)
  returns boolean
  language sql
  immutable
  parallel safe
  return octet_length(actor) <= 128 and actor collate "C"
    ~ ('^[^'
      -- generated by make generate: invisible characters
      '\u0001-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f'
      '\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0'
      '\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a'
      '\U000e0000-\U000e0fff'
      -- end of generated
      ']+$');

comment on function memory.is_actor(text) is
'Whether a text is a valid name of an actor: 1 to 128 bytes without control, direction or other '
'invisible characters (memory.has_invisible).';
grant execute on function memory.is_actor
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.is_request_id(request_id text)
  returns boolean
  language sql
  immutable
  parallel safe
  return request_id ~ '^[A-Za-z0-9_.:/+=@-]{1,128}$';

comment on function memory.is_request_id(text) is
'Whether a text is a valid request id: 1 to 128 characters from A-Z a-z 0-9 _ . : / + = @ -';
grant execute on function memory.is_request_id
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.is_reason_code(reason text)
  returns boolean
  language sql
  immutable
  parallel safe
  return reason ~ '^[a-z0-9_.:-]{1,64}$';

comment on function memory.is_reason_code(text) is
'Whether a text is a valid reason code: 1 to 64 characters from a-z 0-9 _ . : - A reason stays in '
'the audit stream forever, so this form keeps personal content out.';
grant execute on function memory.is_reason_code
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.is_scope(scope text)
  returns boolean
  language sql
  immutable
  parallel safe
  return octet_length(scope) <= 128 and not memory.is_blank(scope) and scope <> '*';

comment on function memory.is_scope(text) is
'Whether a text is a valid name of a scope or butler: 1 to 128 bytes with a visible character, and '
'not "*", which means all scopes when memories are read.';
grant execute on function memory.is_scope
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.current_actor()
  returns text
  language sql
  stable
  parallel safe
  return case
    when coalesce(current_setting('memory.actor', true), '') <> ''
      and memory.is_actor(current_setting('memory.actor', true))
    then current_setting('memory.actor', true)
    else session_user::text
  end;

comment on function memory.current_actor() is
'Who acts in this transaction, as set by the client (set_request), otherwise the login. Recorded '
'on audit events.';
grant execute on function memory.current_actor
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.current_request_id()
  returns text
  language sql
  stable
  parallel safe
  return case
    when memory.is_request_id(current_setting('memory.request_id', true))
    then current_setting('memory.request_id', true)
  end;

comment on function memory.current_request_id() is
'The request id of this transaction (set_request) or NULL. Recorded on audit events.';
grant execute on function memory.current_request_id
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.current_reason()
  returns text
  language sql
  stable
  parallel safe
  return case
    when memory.is_reason_code(current_setting('memory.reason', true))
    then current_setting('memory.reason', true)
  end;

comment on function memory.current_reason() is
'The reason code of this transaction (set_request) or NULL. Recorded on audit events.';
grant execute on function memory.current_reason
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.current_butler()
  returns text
  language sql
  stable
  parallel safe
  return case
    when memory.is_scope(current_setting('memory.butler', true))
    then current_setting('memory.butler', true)
  end;

comment on function memory.current_butler() is
'The butler of this transaction (set_request) or NULL: the agent whose memory is in use.';
grant execute on function memory.current_butler
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.visible_scope(scope text default null)
  returns text
  language sql
  stable
  parallel safe
  return case
    when scope is null then memory.current_butler()
    when scope <> '*' then scope
  end;

comment on function memory.visible_scope(text) is
'The scope that a reading function searches: the named one, or NULL, which means all scopes of the '
'tenant, for "*". By default that of memory.current_butler, and all scopes without a butler.';
grant execute on function memory.visible_scope
to memory_writer, memory_worker, memory_reader, memory_admin;

-- All settings are transaction-local, so a pooled connection cannot carry them into the next
-- request.
create or replace function memory.set_request(
  tenant_id text default null,
  actor text default null,
  request_id text default null,
  reason text default null,
  butler text default null
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_named text;
  v_butler text := memory.collapse_whitespace(butler);
begin
  if not memory.is_actor(actor) then
    raise exception 'actor is not a name of 1 to 128 bytes without invisible characters'
      using errcode = 'PM002', hint = 'Pass a short name such as "assistant" or "user:42".';
  elsif not memory.is_request_id(request_id) then
    raise exception 'request_id is not an identifier'
      using errcode = 'PM002', hint = 'Use 1 to 128 characters from A-Z a-z 0-9 _ . : / + = @ -';
  elsif not memory.is_reason_code(reason) then
    raise exception 'reason is not a reason code'
      using errcode = 'PM002',
        hint = 'Use 1 to 64 characters from a-z 0-9 _ . : - such as "user_request".';
  elsif not memory.is_scope(v_butler) then
    raise exception 'butler is not the name of an agent'
      using errcode = 'PM002',
        hint = 'Pass a name of 1 to 128 bytes such as "home"; for all scopes, omit it.';
  end if;

  if tenant_id is not null then
    v_named := set_config('memory.tenant_id', tenant_id, true);
    -- A bound login may repeat its own tenant, but not name another.
    if v_named <> memory.current_tenant() then
      perform memory.require_tenant(tenant_id);
    end if;
  end if;
  if coalesce(actor, request_id, reason, v_butler) is not null then
    perform set_config('memory.' || s.name, s.value, true)
    from (
      values ('actor', actor), ('request_id', request_id), ('reason', reason), ('butler', v_butler)
    ) as s (name, value)
    where s.value is not null;
  end if;
end;
$$;

comment on function memory.set_request(text, text, text, text, text) is
'Sets tenant, actor, request id, reason code and butler for the rest of this transaction; NULL '
'leaves a value unchanged. The butler is the agent whose memory is in use: reads without a scope '
'cover its own scope and global (memory.visible_scope). Errors: PM002 malformed value, PM005 a '
'tenant other than that of the login, 28000 no tenant.';
grant execute on function memory.set_request
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.acting_role()
  returns name
  language sql
  stable
  parallel safe
  return coalesce(nullif(nullif(current_setting('role'), 'none'), ''), session_user)::name;

comment on function memory.acting_role() is
'The database role whose rights the caller has, also inside of a function that runs with the '
'rights of its owner: the one that was set (SET ROLE), otherwise the login.';

create or replace function memory.require_tenant(tenant_id text)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if tenant_id is distinct from memory.current_tenant() then
    raise exception 'tenant % is not the tenant of this request', quote_nullable(tenant_id)
      using errcode = 'PM005',
        hint = 'Name no tenant: this login has one. For another tenant, use its login.';
  end if;
end;
$$;

comment on function memory.require_tenant(text) is
'Rejects a tenant argument that is not the tenant of this transaction. Errors: PM005, 28000.';
grant execute on function memory.require_tenant
to memory_writer, memory_worker, memory_reader, memory_admin;

commit;
