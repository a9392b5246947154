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
  v_tenant_id text;
begin
  select l.tenant_id into v_tenant_id
  from memory.tenant_logins as l
  where l.login = session_user;
  if found then
    return v_tenant_id;
  end if;

  if not pg_has_role(session_user, 'memory_gateway', 'member') then
    raise exception 'login % is not bound to a tenant', session_user
      using errcode = '28000',
        hint = 'An administrator can bind it with sql/grant_login.sql.';
  end if;

  -- A transaction-local setting reads as '' after the transaction, not as NULL.
  v_tenant_id := nullif(current_setting('memory.tenant_id', true), '');
  if v_tenant_id is null then
    raise exception 'this transaction names no tenant'
      using errcode = '28000',
        hint = 'Call memory.set_request(tenant_id => ...) first, in the same transaction.';
  end if;
  if octet_length(v_tenant_id) > 128 then
    raise exception 'the tenant name is % bytes long', octet_length(v_tenant_id)
      using errcode = 'PM002', hint = 'Use a tenant name of at most 128 bytes.';
  end if;
  return v_tenant_id;
end;
$$;

comment on function memory.current_tenant() is
'The tenant of this transaction: that of a bound login, otherwise the one that a member of '
'memory_gateway named with set_request. Errors: 28000 no tenant.';
grant execute on function memory.current_tenant
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

-- Any session can set memory.actor and the like without set_request, so malformed values count as
-- not set: the audit stream holds nothing that these functions reject, and a butler always has a
-- valid scope name.

create or replace function memory.is_actor(actor text)
  returns boolean
  language sql
  immutable
  parallel safe
  return octet_length(actor) <= 128 and actor ~ '^[^[:cntrl:]]+$';

comment on function memory.is_actor(text) is
'Whether a text is a valid name of an actor: 1 to 128 bytes without control characters.';
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
    raise exception 'actor is not a name of 1 to 128 bytes'
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

create or replace function memory.require_tenant(tenant_id text)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if tenant_id is distinct from memory.current_tenant() then
    raise exception 'tenant % is not the tenant of this request', quote_nullable(tenant_id)
      using errcode = 'PM005', hint = 'Omit tenant_id: it follows from the login.';
  end if;
end;
$$;

comment on function memory.require_tenant(text) is
'Rejects a tenant argument that is not the tenant of this transaction. Errors: PM005, 28000.';
grant execute on function memory.require_tenant
to memory_writer, memory_worker, memory_reader, memory_admin;

commit;
