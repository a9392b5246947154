-- Deploy pymem:tables/tenant_moves to pg

begin;

set local role memory_owner;

-- Without row security by tenant: memory.current_tenant reads it to say where a tenant is.
create table memory.tenant_moves (
  tenant_id text primary key check (octet_length(tenant_id) <@ int4range '[1,128]'),
  move_id uuid not null,
  side text not null check (side in ('source', 'target')),
  step text not null,
  peer text check (octet_length(peer) <@ int4range '[1,512]'),
  access text not null generated always as (
    case
      when side = 'source' and step = 'begun' or side = 'target' and step = 'arrived' then 'full'
      when step = 'frozen' then 'read'
      else 'none'
    end
  ) stored,
  begun_at timestamptz not null default now() check (isfinite(begun_at)),
  step_at timestamptz not null default now() check (isfinite(step_at)),
  constraint tenant_moves_step_of_side check (
    case side
      when 'source' then step in ('begun', 'frozen', 'left', 'kept', 'deleted', 'deleting')
      else step in ('begun', 'copied', 'arrived', 'deleting')
    end
  ),
  constraint tenant_moves_peer_or_deleting check (peer is not null or step = 'deleting')
);

-- The policies of writing ask whether any tenant is frozen: seldom one is.
create index tenant_moves_frozen_idx on memory.tenant_moves (tenant_id) where access = 'read';

comment on table memory.tenant_moves is
'Tenants that are on their way to or from another server, and those that have left for one. Who '
'moves them writes a row on both servers at each step, so that a move that was killed goes on.';
comment on column memory.tenant_moves.move_id is
'The move, the same on both servers. The names of its replication end in it.';
comment on column memory.tenant_moves.side is
'source: the tenant leaves this server, or is deleted. target: it comes here.';
comment on column memory.tenant_moves.step is
'At the source: begun, frozen (nobody writes), left (nobody reads either), kept (left, and the '
'rows stay), deleted (left, and the rows are gone). At the target: begun, copied (its rows are '
'here and follow the source), arrived. deleting: the rows of a tenant that is given up, or of a '
'move that is, are being deleted; then this row goes, too.';
comment on column memory.tenant_moves.peer is
'The other server, as host:port/database; NULL: there is none.';
comment on column memory.tenant_moves.access is
'What the functions of the schema allow for the tenant here: full, read or none.';

commit;
