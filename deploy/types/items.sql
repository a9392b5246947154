-- Deploy pymem:types/items to pg

begin;

set local role memory_owner;

create type memory.item_to_put as (
  place bigint,
  namespace text[] collate "C",
  key text collate "C",
  value jsonb,
  ttl interval,
  model text,
  vectors jsonb
);

comment on type memory.item_to_put is
'An element of the argument of memory.put_items, checked: value is NULL for an item to delete, '
'vectors an array of objects with path and embedding.';

create type memory.item_search as (
  place bigint,
  prefix text[] collate "C",
  prefix_end text[] collate "C",
  filter jsonb,
  embedding vector(384),
  model text,
  max_results bigint,
  skipped bigint,
  refresh boolean
);

comment on type memory.item_search is
'An element of the argument of memory.search_items, checked: the items whose namespace is at least '
'prefix and less than prefix_end.';

commit;
