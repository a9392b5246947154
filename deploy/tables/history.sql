-- Deploy pymem:tables/history to pg

begin;

set local role memory_owner;

create table memory.memory_history (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  memory_type text not null check (memory_type = any(memory.recorded_type_names())),
  memory_id uuid not null,
  known_from timestamptz not null check (isfinite(known_from)),
  known_to timestamptz not null check (isfinite(known_to)),
  recorded_at timestamptz not null default now() check (isfinite(recorded_at)),
  image jsonb not null check (jsonb_typeof(image) = 'object'),
  successor_digest bytea not null check (octet_length(successor_digest) = 32),
  primary key (tenant_id, memory_type, memory_id, known_from),
  constraint memory_history_interval_check check (known_from < known_to)
);

create index memory_history_period_idx
on memory.memory_history (tenant_id, memory_type, known_to);

comment on table memory.memory_history is
'Earlier states of memories, entities and items: an image of each, from when it began to when it '
'ended, half-open. Content of episodes and facts, which never changes, and counters are not '
'repeated. Deleted with the memory.';
comment on column memory.memory_history.known_from is
'When the state began, by the clock of the caller (updated_at of the memory then).';
comment on column memory.memory_history.known_to is 'When the next state began.';
comment on column memory.memory_history.recorded_at is
'Time of the transaction that changed it, always from the server''s clock.';
comment on column memory.memory_history.image is
'Columns of the state and their values (memory.image_of); times in UTC.';
comment on column memory.memory_history.successor_digest is
'SHA-256 of the image of the next state, to verify that it is unchanged.';

commit;
