-- Deploy pymem:tables/events to pg

begin;

set local role memory_owner;

-- The checks spell out memory.is_actor and the like, the longest in short: every statement parses a
-- check again, and a function in it would double the cost of an event.
create table memory.memory_events (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  seq bigint not null generated always as identity,
  event_type text not null check (event_type <> ''),
  memory_type text,
  memory_id uuid,
  actor text default memory.current_actor()
  check (octet_length(actor) <= 128 and actor ~ '^[^[:cntrl:]]+$'),
  login name not null default session_user,
  request_id text default memory.current_request_id()
  check (request_id ~ '^[A-Za-z0-9_.:/+=@-]{1,128}$'),
  reason text default memory.current_reason() check (reason ~ '^[a-z0-9_.:-]{1,64}$'),
  payload jsonb not null default '{}' check (jsonb_typeof(payload) = 'object'),
  created_at timestamptz not null default now() check (isfinite(created_at)),
  primary key (tenant_id, id)
);

-- No statistics; see memory.episodes.
alter table memory.memory_events
alter column actor set statistics 0,
alter column login set statistics 0,
alter column request_id set statistics 0,
alter column reason set statistics 0;

create index memory_events_type_idx
on memory.memory_events (tenant_id, event_type, created_at desc, seq desc);

create index memory_events_created_idx
on memory.memory_events (tenant_id, created_at desc, seq desc);

create index memory_events_memory_idx
on memory.memory_events (tenant_id, memory_id, created_at desc, seq desc)
where memory_id is not null;

create index memory_events_request_idx
on memory.memory_events (tenant_id, request_id, created_at desc, seq desc)
where request_id is not null;

create index memory_events_seq_idx on memory.memory_events (tenant_id, seq);

comment on table memory.memory_events is
'Append-only audit stream: every change and lifecycle transition of every table. Contains ids, '
'states and names of changed columns, never content, so erasing content requires no edit here.';
comment on column memory.memory_events.seq is
'Order of the events; increases within a transaction. Gaps are normal (rolled-back transactions).';
comment on column memory.memory_events.event_type is 'What happened, such as fact_superseded.';
comment on column memory.memory_events.memory_type is
'episode, fact, rule, entry, entity, item or access_token; NULL for other events.';
comment on column memory.memory_events.actor is
'Who acted, as set by the client (memory.set_request), otherwise the login.';
comment on column memory.memory_events.login is
'The database login that acted; a client cannot set it.';
comment on column memory.memory_events.request_id is 'Request id set by the client, for tracing.';
comment on column memory.memory_events.reason is 'Reason code set by the client or a worker.';
comment on column memory.memory_events.payload is
'Details: {"from", "to"} of a transition, {"changed"} columns of an update, ends and relation of '
'a link.';
comment on column memory.memory_events.created_at is
'Time of the transaction, always from the server''s clock.';

commit;
