-- Deploy pymem:functions/extras/entries/approvals to pg

begin;

set local role memory_owner;

create or replace function memory.audit_approval()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.write_event(
    new.tenant_id,
    case
      when tg_op = 'INSERT' then 'approval_granted'
      when new.used_at is distinct from old.used_at then 'approval_used'
      when new.revoked_at is distinct from old.revoked_at then 'approval_revoked'
      else 'approval_updated'
    end,
    'approval', new.id,
    jsonb_build_object(
      'action', new.action, 'data_class', new.data_class,
      'scope', jsonb_build_object(
        'user_id', new.user_id, 'persona_id', new.persona_id, 'session_id', new.session_id
      ),
      'granted_by', new.granted_by, 'reason', new.reason, 'expires_at', new.expires_at,
      'used_by', new.used_by
    )
  );
  return null;
end;
$$;

comment on function memory.audit_approval() is
'Trigger: writes approval_granted, approval_used, approval_revoked or approval_updated.';

create or replace function memory.grant_approval(
  action text,
  data_class text default null,
  user_id text default null,
  persona_id text default null,
  session_id text default null,
  reason text default null,
  expires_in interval default '1 hour',
  as_of timestamptz default now()
)
  returns uuid
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_id uuid;
begin
  perform
    memory.check_word('action', grant_approval.action, '{write_sensitive,cross_scope}'),
    memory.check_write_time('as_of', as_of);
  perform memory.check_text(n.name, n.value, 128)
  from (
    values
    ('user_id', grant_approval.user_id), ('persona_id', grant_approval.persona_id),
    ('session_id', grant_approval.session_id)
  ) as n (name, value)
  where n.value is not null;
  if grant_approval.action = 'write_sensitive'
    and not coalesce(
      grant_approval.data_class = '*' or grant_approval.data_class ~ '^[a-z][a-z0-9_]{0,39}$', false
    )
  then
    raise exception 'data_class is %', quote_nullable(left(grant_approval.data_class, 100))
      using errcode = 'PM002',
        hint = 'Name the class of sensitive content, such as "payment_card", or "*" for all.';
  elsif grant_approval.action = 'cross_scope' and grant_approval.data_class is not null then
    raise exception 'an approval of cross_scope has no class'
      using errcode = 'PM002', hint = 'Name whose entries may be read: user_id, persona_id, session_id.';
  elsif grant_approval.action = 'cross_scope'
    and coalesce(grant_approval.user_id, grant_approval.persona_id, grant_approval.session_id) is null
  then
    raise exception 'an approval of cross_scope names no scope'
      using errcode = 'PM002', hint = 'Name whose entries may be read: user_id, persona_id, session_id.';
  end if;
  if not coalesce(memory.is_reason_code(grant_approval.reason), true) then
    raise exception 'reason is not a reason code'
      using errcode = 'PM002',
        hint = 'Use 1 to 64 characters from a-z 0-9 _ . : - such as "support_case".';
  end if;
  if expires_in is null or as_of + expires_in <= as_of
    or as_of + expires_in > as_of + interval '1 year'
  then
    raise exception 'expires_in is %', coalesce(expires_in::text, 'NULL')
      using errcode = 'PM002', hint = 'Pass expires_in of at most a year, such as "1 hour".';
  end if;

  insert into memory.approvals as a (
    tenant_id, action, data_class, user_id, persona_id, session_id, granted_by, reason, created_at,
    expires_at, lapses_at
  )
  values (
    v_tenant_id, grant_approval.action, grant_approval.data_class, grant_approval.user_id,
    grant_approval.persona_id, grant_approval.session_id, memory.current_actor(),
    coalesce(grant_approval.reason, memory.current_reason()), as_of, as_of + expires_in,
    now() + expires_in
  )
  returning a.id into v_id;
  return v_id;
end;
$$;

comment on function memory.grant_approval(
  text, text, text, text, text, text, interval, timestamptz
) is
'Allows once what the policy billy forbids, and returns the id that memory.write_memory or '
'memory.query_memory takes. action write_sensitive: to write content of a class '
'(memory.detect_sensitive), "*": of any, for the given user, persona or session, or anyone. '
'cross_scope: to read the entries of the given user, persona or session. reason: a code. '
'expires_in: at most a year. Errors: PM002.';
grant execute on function memory.grant_approval to memory_admin;

create or replace function memory.revoke_approval(
  approval_id uuid,
  as_of timestamptz default now()
)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_approval memory.approvals;
begin
  perform memory.check_write_time('as_of', as_of);
  select a.* into v_approval
  from memory.approvals as a
  where a.tenant_id = v_tenant_id and a.id = approval_id
  for no key update;
  if v_approval.id is null or v_approval.used_at is not null then
    return false;
  end if;
  if v_approval.revoked_at is null then
    update memory.approvals as a
    set revoked_at = as_of
    where a.tenant_id = v_tenant_id and a.id = approval_id;
  end if;
  return true;
end;
$$;

comment on function memory.revoke_approval(uuid, timestamptz) is
'Revokes an approval: it is refused once this commits. Revoking it again changes nothing. Returns '
'false if there is no such approval, or if it has been used. Errors: PM002.';
grant execute on function memory.revoke_approval to memory_admin;

create or replace function memory.list_approvals(
  only_open boolean default false,
  max_results integer default 50,
  as_of timestamptz default now()
)
  returns table (
    id uuid,
    action text,
    data_class text,
    user_id text,
    persona_id text,
    session_id text,
    status text,
    granted_by text,
    reason text,
    created_at timestamptz,
    expires_at timestamptz,
    used_at timestamptz,
    used_by uuid,
    revoked_at timestamptz
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_limit integer := memory.check_limit(max_results);
begin
  perform memory.check_time('as_of', as_of);
  return query
  select
    a.id, a.action, a.data_class, a.user_id, a.persona_id, a.session_id, s.status, a.granted_by, a.reason,
    a.created_at, a.expires_at, a.used_at, a.used_by, a.revoked_at
  from memory.approvals as a
  cross join lateral (
    select case
      when a.used_at is not null then 'used'
      when a.revoked_at is not null then 'revoked'
      when least(a.expires_at - as_of, a.lapses_at - now()) <= '0' then 'expired'
      else 'open'
    end as status
  ) as s
  where a.tenant_id = v_tenant_id
    and (s.status = 'open' or not only_open)
  order by a.created_at desc, a.id
  limit v_limit;
end;
$$;

comment on function memory.list_approvals(boolean, integer, timestamptz) is
'The approvals of the tenant, newest first: all, or only those that can still be used. status: '
'open, used, revoked or expired. Errors: PM002.';
grant execute on function memory.list_approvals to memory_admin;

create or replace function memory.lock_approval(
  tenant_id text,
  approval_id uuid,
  action text,
  as_of timestamptz
)
  returns memory.approvals
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_approval memory.approvals;
begin
  -- Of two users of one approval, the second waits here, then sees that it is used.
  select a.* into v_approval
  from memory.approvals as a
  where a.tenant_id = lock_approval.tenant_id and a.id = lock_approval.approval_id
  for no key update;
  if v_approval.action = lock_approval.action
    and v_approval.used_at is null and v_approval.revoked_at is null
    and as_of >= v_approval.created_at and as_of < v_approval.expires_at
    and now() < v_approval.lapses_at
  then
    return v_approval;
  end if;
  return null;
end;
$$;

comment on function memory.lock_approval(text, uuid, text, timestamptz) is
'An approval of an action that can be used at as_of, locked until the end of the transaction; '
'NULL if there is none: unknown, for something else, used, revoked or expired.';

create or replace function memory.use_approval(
  tenant_id text,
  approval_id uuid,
  used_by uuid,
  as_of timestamptz
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  update memory.approvals as a
  set used_at = use_approval.as_of, used_by = use_approval.used_by
  where a.tenant_id = use_approval.tenant_id and a.id = use_approval.approval_id;
$$;

comment on function memory.use_approval(text, uuid, uuid, timestamptz) is
'Marks an approval that memory.lock_approval returned as used, by an entry or an event.';

commit;
