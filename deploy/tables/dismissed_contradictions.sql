-- Deploy pymem:tables/dismissed_contradictions to pg

begin;

set local role memory_owner;

create table memory.dismissed_contradictions (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  first_type text not null
  constraint dismissed_contradictions_first_type_check
  check (first_type = any(memory.memory_type_names())),
  first_id uuid not null,
  second_type text not null
  constraint dismissed_contradictions_second_type_check
  check (second_type = any(memory.memory_type_names())),
  second_id uuid not null,
  dismissed_at timestamptz not null check (isfinite(dismissed_at)),
  primary key (tenant_id, first_type, first_id, second_type, second_id),
  constraint dismissed_contradictions_order_check
  check ((first_type collate "C", first_id) < (second_type collate "C", second_id))
);

comment on table memory.dismissed_contradictions is
'Pairs of memories that contradict each other in form but are both true: '
'memory.list_contradictions leaves them out. Ids only; a row may outlive its memories, as links '
'do.';
comment on column memory.dismissed_contradictions.first_type is
'Of the two, the one whose type and id come first.';

commit;
