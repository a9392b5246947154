-- Deploy pymem:tables/tenant_logins to pg

begin;

set local role memory_owner;

create table memory.tenant_logins (
  login name primary key,
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  created_at timestamptz not null default now() check (isfinite(created_at))
);

comment on table memory.tenant_logins is
'The tenant that a database login is bound to. A bound login acts for that tenant whatever '
'settings it forges.';
comment on column memory.tenant_logins.login is
'Name of the login role (session_user).';

commit;
