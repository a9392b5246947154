-- Deploy pymem:tables/imports to pg

begin;

set local role memory_owner;

create table memory.import_batches (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  name text not null constraint import_batches_name_check check (memory.is_actor(name)),
  format text not null
  constraint import_batches_format_check
  check (
    format in (
      'pymem', 'jsonl', 'mem0', 'zep', 'letta', 'chatgpt', 'claude', 'markdown', 'pam', 'other'
    )
  ),
  source_class text
  constraint import_batches_source_class_check
  check (source_class in ('user', 'agent', 'tool', 'external')),
  status text not null
  constraint import_batches_status_check check (status in ('running', 'done', 'undone')),
  created bigint not null default 0 check (created >= 0),
  known bigint not null default 0 check (known >= 0),
  started_at timestamptz not null
  check (isfinite(started_at) and started_at <= now() + interval '1 day'),
  undone_at timestamptz check (isfinite(undone_at)),
  primary key (tenant_id, id),
  constraint import_batches_name_key unique (tenant_id, name),
  constraint import_batches_source_check check ((format = 'pymem') = (source_class is null)),
  constraint import_batches_undone_check check ((status = 'undone') = (undone_at is not null))
);

create index import_batches_started_idx on memory.import_batches (tenant_id, started_at desc, id);

comment on table memory.import_batches is
'Imports: what memory.import_memories stored under one name, or what memory.restore_rows restored. '
'memory.undo_import undoes one.';
comment on column memory.import_batches.format is
'Where its memories come from; pymem: an export of a memory (memory.export_memories), restored.';
comment on column memory.import_batches.source_class is
'Whose statements they are; NULL for a restored memory, which says so of each.';
comment on column memory.import_batches.status is
'running: a restore that is not finished, which no transaction can leave behind; done or undone.';
comment on column memory.import_batches.created is 'How many memories it has stored.';
comment on column memory.import_batches.known is
'How many elements were there already, each time they came.';
comment on column memory.import_batches.undone_at is 'When it was undone last.';

create table memory.imported_memories (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  memory_type text not null check (memory_type = any(memory.recorded_type_names())),
  memory_id uuid not null,
  batch_id uuid not null,
  source_digest bytea check (octet_length(source_digest) = 32),
  imported_at timestamptz not null check (isfinite(imported_at)),
  primary key (tenant_id, memory_type, memory_id),
  foreign key (tenant_id, batch_id) references memory.import_batches (tenant_id, id)
);

create index imported_memories_batch_idx
on memory.imported_memories (tenant_id, batch_id, memory_type, memory_id);

create index imported_memories_source_idx
on memory.imported_memories (tenant_id, source_digest) where source_digest is not null;

comment on table memory.imported_memories is
'Which import stored a memory. Ids only: the texts are in the memories and are deleted with them.';
comment on column memory.imported_memories.source_digest is
'SHA-256 of the format and the id that the memory has where it comes from (memory.source_digest), '
'by which links of the import find it.';
comment on column memory.imported_memories.imported_at is
'When it was stored: what was confirmed or edited later is not undone.';

create table memory.restored_events (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  batch_id uuid not null,
  seq bigint not null,
  event jsonb not null check (jsonb_typeof(event) = 'object'),
  primary key (tenant_id, batch_id, seq),
  foreign key (tenant_id, batch_id) references memory.import_batches (tenant_id, id)
);

comment on table memory.restored_events is
'Events of a memory that is being restored: they come in batches by time, and go into the audit '
'stream in their order. Empty between transactions.';
comment on column memory.restored_events.seq is
'The number of the event where it comes from, by which they are put in order.';
comment on column memory.restored_events.event is 'The event as it was exported.';

commit;
