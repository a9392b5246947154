-- Deploy pymem:tables/approvals to pg

begin;

set local role memory_owner;

create table memory.approvals (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  action text not null
  constraint approvals_action_check check (action in ('write_sensitive', 'cross_scope')),
  data_class text check (data_class = '*' or data_class ~ '^[a-z][a-z0-9_]{0,39}$'),
  user_id text check (octet_length(user_id) <@ int4range '[1,128]'),
  persona_id text check (octet_length(persona_id) <@ int4range '[1,128]'),
  session_id text check (octet_length(session_id) <@ int4range '[1,128]'),
  granted_by text not null check (memory.is_actor(granted_by)),
  reason text check (reason ~ '^[a-z0-9_.:-]{1,64}$'),
  created_at timestamptz not null default now() check (isfinite(created_at)),
  expires_at timestamptz not null check (isfinite(expires_at)),
  lapses_at timestamptz not null check (isfinite(lapses_at)),
  used_at timestamptz check (isfinite(used_at)),
  used_by uuid,
  revoked_at timestamptz check (isfinite(revoked_at)),
  primary key (tenant_id, id),
  constraint approvals_interval_check check (expires_at > created_at),
  constraint approvals_used_check check ((used_at is null) = (used_by is null)),
  constraint approvals_subject_check check (
    case action
      when 'write_sensitive' then data_class is not null
      else data_class is null and coalesce(user_id, persona_id, session_id) is not null
    end
  )
);

create index approvals_created_idx on memory.approvals (tenant_id, created_at desc, id);

comment on table memory.approvals is
'What people allow once that the policy billy forbids: to write sensitive content, or to read '
'outside of a scope. Checked and used up in the transaction of the write or query.';
comment on column memory.approvals.action is
'write_sensitive: memory.write_memory may store content of the class. cross_scope: '
'memory.query_memory may show the entries that have these ids.';
comment on column memory.approvals.data_class is
'The class of sensitive content, such as payment_card, or "*" for all; NULL for cross_scope.';
comment on column memory.approvals.user_id is
'cross_scope: only entries of this user; write_sensitive: only entries written for it. NULL: any. '
'The same for persona_id and session_id.';
comment on column memory.approvals.granted_by is 'The actor who granted it (memory.current_actor).';
comment on column memory.approvals.reason is 'Why, as a code such as "support_case".';
comment on column memory.approvals.expires_at is 'Until when it can be used, by as_of.';
comment on column memory.approvals.lapses_at is
'The same by the clock of the server: no caller extends an approval by naming an earlier time.';
comment on column memory.approvals.used_by is
'The entry that was written with it, or the event of the query.';
comment on column memory.approvals.used_at is 'When it was used, which is possible once.';
comment on column memory.approvals.revoked_at is 'When it was taken back before it was used.';

commit;
