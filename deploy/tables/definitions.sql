-- Deploy pymem:tables/definitions to pg

begin;

set local role memory_owner;

-- The manifest of the schema: the same for every tenant.
create table memory.definitions (
  kind text not null,
  identity text not null,
  digest bytea not null check (octet_length(digest) = 32),
  is_portable boolean not null,
  release text not null,
  server_version integer not null,
  primary key (kind, identity)
);

comment on table memory.definitions is
'What the schema consisted of when memory.record_definitions recorded it, at the end of each '
'deployment; memory.check_definitions compares it with what there is now.';
comment on column memory.definitions.kind is
'function, trigger, policy, rule (and so view), constraint, column, relation or privileges.';
comment on column memory.definitions.identity is 'What is defined, with its schema or table.';
comment on column memory.definitions.digest is 'SHA-256 of the definition.';
comment on column memory.definitions.is_portable is
'Whether every major version of PostgreSQL writes the definition in the same way.';
comment on column memory.definitions.release is 'The memory.version() that was recorded.';
comment on column memory.definitions.server_version is
'The major version of PostgreSQL on which it was recorded.';

commit;
