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
'What memories and entities said before they were changed: an image of each state that ended, from '
'the moment it began to the moment it ended, half-open. What never changes (content of episodes '
'and facts) and mere counters are not repeated. Deleted with its memory.';
comment on column memory.memory_history.known_from is
'Since when the memory said so, on the clock of whoever changed it (its updated_at then).';
comment on column memory.memory_history.known_to is 'When it began to say something else.';
comment on column memory.memory_history.recorded_at is
'Time of the transaction that changed it, from the server''s clock only.';
comment on column memory.memory_history.image is
'Columns of the state and their values, those of memory.image_of; times in UTC.';
comment on column memory.memory_history.successor_digest is
'SHA-256 of the image of the state that followed, to tell whether it is still the same.';

commit;
