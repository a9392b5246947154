-- Deploy pymem:tables/store_items to pg

begin;

set local role memory_owner;

-- Labels and keys are compared octet by octet, so that the items below a prefix of a namespace are
-- one range of the key.
create table memory.store_items (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  namespace text[] collate "C" not null,
  key text collate "C" not null check (octet_length(key) <@ int4range '[1,1024]'),
  value jsonb not null check (jsonb_typeof(value) = 'object'),
  lifecycle_state text not null default 'active' check (lifecycle_state = 'active'),
  ttl interval check (ttl > interval '0'),
  expires_at timestamptz check (isfinite(expires_at)),
  created_at timestamptz not null default now() check (isfinite(created_at)),
  updated_at timestamptz not null default now() check (isfinite(updated_at)),
  primary key (tenant_id, id),
  constraint store_items_key_key unique (tenant_id, namespace, key),
  constraint store_items_namespace_check check (
    array_ndims(namespace) = 1 and cardinality(namespace) <= 32
    and octet_length(array_to_string(namespace, '')) <= 1024
    and array_position(namespace, null::text) is null
    and array_position(namespace, ''::text) is null
  ),
  constraint store_items_expiry_check check ((ttl is null) = (expires_at is null))
)
-- Reading an item may move its expiry.
with (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.05);

create table memory.store_vectors (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  item_id uuid not null,
  path text collate "C" not null check (octet_length(path) <@ int4range '[1,1024]'),
  model text collate "C" not null check (octet_length(model) <= 512),
  embedding vector(384) not null,
  primary key (tenant_id, item_id, path),
  foreign key (tenant_id, item_id) references memory.store_items (tenant_id, id) on delete cascade
);

comment on table memory.store_items is
'Values that a framework keeps under a namespace and a key, such as the store of LangGraph. They '
'are not memories: recall and search do not look at them.';
comment on column memory.store_items.namespace is
'The path to the item: 1 to 32 labels, none empty, of at most 1024 octets together.';
comment on column memory.store_items.key is
'Names the item within its namespace: 1 to 1024 octets.';
comment on column memory.store_items.value is 'A JSON object, of at most 1 MiB and 64 levels.';
comment on column memory.store_items.lifecycle_state is
'Always active: an item that has expired is not returned, and deleted later.';
comment on column memory.store_items.ttl is
'How long after it was last written, or read with refresh, the item expires; NULL: never.';
comment on column memory.store_items.expires_at is
'From when on no function returns the item (memory.delete_expired_items deletes it).';
comment on column memory.store_items.updated_at is 'When its value was last written.';

comment on table memory.store_vectors is
'The vectors by which memory.search_items finds an item: one for each text in it that is indexed. '
'Replaced with the value.';
comment on column memory.store_vectors.path is
'Where in the value the text is, such as "title" or "messages[*].content.0".';
comment on column memory.store_vectors.model is
'What the client has computed it with. Searches compare with vectors of the same model only.';
comment on column memory.store_vectors.embedding is 'Computed by the client; 384 dimensions.';

commit;
