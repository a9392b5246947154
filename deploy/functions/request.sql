-- Deploy pymem:functions/request to pg
-- requires: tables/tenant_logins

begin;

set local role memory_owner;

-- SECURITY DEFINER because callers cannot read tenant_logins. Row policies call this function as
-- "(select memory.current_tenant())": once per query instead of once per row.
create function memory.current_tenant()
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
    raise exception 'login % is bound to no tenant', session_user
      using errcode = '28000',
        hint = 'An administrator binds it to one with sql/grant_login.sql.';
  end if;

  -- A transaction-local setting reads as '' after the transaction, not as NULL.
  v_tenant_id := nullif(current_setting('memory.tenant_id', true), '');
  if v_tenant_id is null then
    raise exception 'this transaction names no tenant'
      using errcode = '28000',
        hint = 'Call memory.set_request(tenant_id => ...) first, in the same transaction.';
  end if;
  if octet_length(v_tenant_id) > 128 then
    raise exception 'the tenant name is % octets long', octet_length(v_tenant_id)
      using errcode = 'PM002', hint = 'Use a tenant name of at most 128 octets.';
  end if;
  return v_tenant_id;
end;
$$;

comment on function memory.current_tenant() is
'The tenant of this transaction: that of the bound login, else the one a member of memory_gateway named '
'with set_request. Errors: 28000 no tenant.';

create function memory.current_actor()
  returns text
  language sql
  stable
  parallel safe
  return coalesce(nullif(current_setting('memory.actor', true), ''), session_user);

comment on function memory.current_actor() is
'Who acts in this transaction, as the client says (set_request), else the login. Kept on audit events.';

create function memory.current_request_id()
  returns text
  language sql
  stable
  parallel safe
  return nullif(current_setting('memory.request_id', true), '');

comment on function memory.current_request_id() is
'The request id of this transaction (set_request) or NULL. Kept on audit events.';

create function memory.current_reason()
  returns text
  language sql
  stable
  parallel safe
  return nullif(current_setting('memory.reason', true), '');

comment on function memory.current_reason() is
'The reason code of this transaction (set_request) or NULL. Kept on audit events.';

-- All settings are transaction-local, so a pooled connection cannot carry them to the next request.
create function memory.set_request(
  tenant_id text default null,
  actor text default null,
  request_id text default null,
  reason text default null
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if octet_length(actor) > 128 or actor ~ '[[:cntrl:]]' then
    raise exception 'actor is not a name of at most 128 octets'
      using errcode = 'PM002', hint = 'Pass a short name such as "assistant" or "user:42".';
  end if;
  if request_id !~ '^[A-Za-z0-9_.:/+=@-]{1,128}$' then
    raise exception 'request_id is not an identifier'
      using errcode = 'PM002', hint = 'Use 1 to 128 characters out of A-Z a-z 0-9 _ . : / + = @ -';
  end if;
  -- A reason stays in the audit stream for ever, so it is a code and cannot hold personal content.
  if reason !~ '^[a-z0-9_.:-]{1,64}$' then
    raise exception 'reason is not a reason code'
      using errcode = 'PM002', hint = 'Use 1 to 64 characters out of a-z 0-9 _ . : - such as "user_request".';
  end if;

  if tenant_id is not null then
    perform set_config('memory.tenant_id', tenant_id, true);
    -- A bound login may repeat its own tenant, never name another.
    perform memory.require_tenant(tenant_id);
  end if;
  if actor is not null then
    perform set_config('memory.actor', actor, true);
  end if;
  if request_id is not null then
    perform set_config('memory.request_id', request_id, true);
  end if;
  if reason is not null then
    perform set_config('memory.reason', reason, true);
  end if;
end;
$$;

comment on function memory.set_request(text, text, text, text) is
'Names tenant, actor, request id and reason code for the rest of this transaction; NULL leaves a value as '
'it is. Errors: PM002 malformed value, PM005 another tenant than that of the login, 28000 no tenant.';

create function memory.require_tenant(tenant_id text)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if tenant_id is distinct from memory.current_tenant() then
    raise exception 'tenant % is not the tenant of this request', quote_nullable(tenant_id)
      using errcode = 'PM005', hint = 'Leave tenant_id out: it follows from the login.';
  end if;
end;
$$;

comment on function memory.require_tenant(text) is
'Refuses a tenant named in an argument unless it is the tenant of this transaction. Errors: PM005, 28000.';

commit;
