-- Deploy pymem:functions/extras/transfer/transfer_kinds to pg

begin;

set local role memory_owner;

create or replace function memory.transfer_kinds()
  returns table (
    kind text,
    "position" integer, -- noqa: RF06
    table_name name,
    key_columns text[],
    left_out text[]
  )
  language sql
  immutable
  parallel safe
begin atomic
  select k.*
  from (
    values
    ('embedding_version', 1, 'embedding_versions', '{id}'::text [], '{}'::text []),
    ('entity', 2, 'entities', '{id}', '{}'),
    ('entity_merge', 3, 'entity_merges', '{id}', '{}'),
    ('episode', 4, 'episodes', '{id}', '{consolidated}'),
    ('fact', 5, 'facts', '{id}', '{}'),
    ('entity_merge_fact', 6, 'entity_merge_facts', '{merge_id,fact_id,change}', '{}'),
    ('rule', 7, 'rules', '{id}', '{}'),
    ('rule_application', 8, 'rule_applications', '{id}', '{}'),
    ('entry', 9, 'entries', '{id}', '{title}'),
    ('entry_consolidation', 10, 'entry_consolidations', '{id}', '{}'),
    ('entry_merge', 11, 'entry_merges', '{merged_id}', '{}'),
    ('entry_merge_member', 12, 'entry_merge_members', '{merged_id,member_id}', '{}'),
    ('item', 13, 'store_items', '{id}', '{}'),
    ('item_vector', 14, 'store_vectors', '{item_id,path}', '{}'),
    ('link', 15, 'memory_links', '{source_type,source_id,target_type,target_id}', '{}'),
    (
      'dismissal', 16, 'dismissed_contradictions',
      '{first_type,first_id,second_type,second_id}', '{}'
    ),
    ('tombstone', 17, 'tombstones', '{memory_type,memory_id}', '{}'),
    ('history', 18, 'memory_history', '{memory_type,memory_id,known_from}', '{}'),
    ('event', 19, 'memory_events', '{created_at,seq}', '{}')
  ) as k (kind, position, table_name, key_columns, left_out);
end;

comment on function memory.transfer_kinds() is
'What an export of a memory consists of: a kind of row for each table, in the order in which they '
'are restored, and the key by which a table is read in batches. left_out: columns that follow from '
'others. Not part of it: settings, logins, tokens and sessions, policies and approvals, runs of '
'consolidation and what they propose, the hash chain and its verifications, and what is computed '
'from the rest.';

create or replace function memory.transfer_columns(
  table_name name,
  include_vectors boolean
)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select array(
    select a.attname::text
    from pg_attribute as a
    where a.attrelid = format('memory.%I', transfer_columns.table_name)::regclass
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      -- The tenant into which it is restored decides these.
      and a.attname not in ('tenant_id', 'search_vector', 'text_search_config', 'index_rendering')
      and (include_vectors or a.attname not in ('embedding', 'embedding_version_id'))
      and not exists (
        select
        from memory.transfer_kinds() as k
        where k.table_name = transfer_columns.table_name and a.attname::text = any (k.left_out)
      )
    order by a.attnum
  );
$$;

comment on function memory.transfer_columns(name, boolean) is
'The columns of a table that an export has, in the order of the table: without the tenant, derived '
'ones and, unless asked for, vectors.';

commit;
