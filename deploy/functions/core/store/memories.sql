-- Deploy pymem:functions/core/store/memories to pg

begin;

set local role memory_owner;

-- What is done with a memory of any type. These functions name the table of each type, so that
-- their plans are kept; they are made from memory.memory_types.

create or replace function memory.branch_by_type(
  template text,
  memory_types text[] default memory.memory_type_names()
)
  returns text
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select string_agg(
    format(
      'when %L then %s',
      t.memory_type,
      replace(
        replace(
          replace(
            replace(
              replace(template, '{table}', format('memory.%I', t.table_name)),
              '{observe}',
              case
                when exists (
                  select from pg_attribute as a
                  where a.attrelid = format('memory.%I', t.table_name)::regclass
                    and a.attname = 'observed_at'
                )
                then 'observed_at = greatest(m.observed_at, renew_memory.observed_at),'
                else ''
              end
            ),
            '{forget}', coalesce(t.forget_assignments, '')
          ),
          '{forgettable}', coalesce(t.forgettable_condition, '')
        ),
        '{state}',
        case
          when exists (
            select from pg_attribute as a
            where a.attrelid = format('memory.%I', t.table_name)::regclass
              and a.attname = 'expires_at'
          )
          then 'case when m.expires_at <= as_of then ''expired'' else m.lifecycle_state end'
          else 'm.lifecycle_state'
        end
      )
    ),
    ' ' order by t.position
  )
  from memory.memory_types as t
  where t.memory_type = any (memory_types);
$$;

comment on function memory.branch_by_type(text, text[]) is
'The branches of a CASE over types of memories, from a template in which {table}, {state}, '
'{observe}, {forget} and {forgettable} stand for what memory.memory_types and the columns say of '
'each.';

create or replace function memory.define_memory_function(
  signature text,
  result text,
  volatility text,
  body text
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  execute format(
    'create or replace function memory.%s
       returns %s
       language plpgsql
       %s
       set search_path = pg_catalog, memory, public, pg_temp
     as %L',
    signature, result, volatility, body
  );
end;
$$;

comment on function memory.define_memory_function(text, text, text, text) is
'Makes a private function in PL/pgSQL.';

create or replace function memory.refresh_memory_functions()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.define_memory_function(
    'created_at_of(tenant_id text, memory_type text, memory_id uuid)', 'timestamptz', 'stable',
    'begin return case memory_type ' || memory.branch_by_type(
      '(
         select m.created_at from {table} as m
         where m.tenant_id = created_at_of.tenant_id and m.id = memory_id
       )',
      memory.recorded_type_names()
    ) || ' end; end;'
  );

  perform memory.define_memory_function(
    'memory_exists(tenant_id text, memory_type text, memory_id uuid)', 'boolean', 'volatile',
    'begin case memory_type ' || memory.branch_by_type(
      'perform from {table} as m
       where m.tenant_id = memory_exists.tenant_id and m.id = memory_id for key share;'
    ) || ' else return false; end case; return found; end;'
  );

  perform memory.define_memory_function(
    'lock_memory(tenant_id text, memory_type text, memory_id uuid)', 'text', 'volatile',
    'declare v_state text; begin case memory_type ' || memory.branch_by_type(
      'select m.lifecycle_state into v_state from {table} as m
       where m.tenant_id = lock_memory.tenant_id and m.id = memory_id for no key update;'
    ) || ' end case; return v_state; end;'
  );

  -- The stored confidence counts again from now on, so the fading mark is what the next sweep would
  -- make of it.
  perform memory.define_memory_function(
    'renew_memory(settings memory.settings, memory_type text, memory_id uuid, observed_at timestamptz, '
    'as_of timestamptz)',
    'void', 'volatile',
    'begin case memory_type ' || memory.branch_by_type(
      'update {table} as m
       set
         last_confirmed_at = greatest(m.last_confirmed_at, as_of),
         {observe}
         updated_at = memory.next_state_at(m.updated_at, as_of),
         metadata = case
           when m.confidence >= settings.fading_threshold then m.metadata - ''status''
           else m.metadata
         end
       where m.tenant_id = settings.tenant_id and m.id = memory_id;',
      memory.decaying_type_names()
    ) || ' end case; end;'
  );

  perform memory.define_memory_function(
    'hide_memory(tenant_id text, memory_type text, memory_id uuid, as_of timestamptz)',
    'void', 'volatile',
    'begin case memory_type ' || replace(
      memory.branch_by_type(
        'update {table} as m
         set {forget}, updated_at = memory.next_state_at(m.updated_at, $1)
         where m.tenant_id = hide_memory.tenant_id and m.id = memory_id and {forgettable};'
      ),
      '$1', 'as_of'
    ) || ' end case; end;'
  );

  perform memory.define_memory_function(
    'columns_of_memory(tenant_id text, memory_type text, memory_id uuid)', 'jsonb', 'stable',
    'begin return case memory_type ' || memory.branch_by_type(
      '(
         select to_jsonb(m) - ''{tenant_id,embedding,search_vector}''::text[]
         from {table} as m
         where m.tenant_id = columns_of_memory.tenant_id and m.id = memory_id
       )'
    ) || ' end; end;'
  );

  -- A reader does not wait for a long transaction that writes, such as a change of the model.
  -- Locked type by type in the order of all functions, then by id, so that readers deadlock neither
  -- with each other nor with those who write.
  perform memory.define_memory_function(
    'count_references(memory_types text[], memory_ids uuid[], as_of timestamptz)',
    'void', 'volatile security definer set lock_timeout = ''500ms''',
    'declare
       v_tenant_id text := memory.current_tenant();
       v_ids uuid[];
       v_type text;
     begin
       foreach v_type in array memory.memory_type_names() loop
         continue when v_type <> all (memory_types);
         v_ids := array(
           select r.id
           from unnest(memory_types, memory_ids) as r (memory_type, id)
           where r.memory_type = v_type
         );
         case v_type ' || memory.branch_by_type(
      'with locked as (
         select m.id
         from {table} as m
         where m.tenant_id = v_tenant_id and m.id = any (v_ids)
         order by m.id
         for no key update
       )
       update {table} as m
       set
         reference_count = m.reference_count + 1,
         last_referenced_at = greatest(m.last_referenced_at, as_of)
       from locked as l
       where m.tenant_id = v_tenant_id and m.id = l.id;'
    ) || ' end case;
       end loop;
     exception
       when lock_not_available then null;
     end;'
  );

  -- A set of one row: its body becomes part of the query that asks for it. A function that returns
  -- a value, or pins its search_path, is called for each row.
  execute format(
    'create or replace function memory.resolved_state(
       tenant_id text, memory_type text, memory_id uuid, as_of timestamptz
     )
       returns table (state text)
       language sql
       stable
       rows 1
     begin atomic
       select coalesce(
         case memory_type %s end,
         (
           select ''expired'' as state from memory.tombstones as t
           where t.tenant_id = resolved_state.tenant_id
             and t.memory_type = resolved_state.memory_type
             and t.memory_id = resolved_state.memory_id
         )
       );
     end',
    memory.branch_by_type(
      '(
         select {state} from {table} as m
         where m.tenant_id = resolved_state.tenant_id and m.id = memory_id
       )'
    )
  );
end;
$$;

comment on function memory.refresh_memory_functions() is
'Makes memory.created_at_of, memory_exists, lock_memory, renew_memory, hide_memory, '
'columns_of_memory, count_references and resolved_state handle each type in memory.memory_types.';

do $$
begin
  perform memory.refresh_memory_functions();
end;
$$;

comment on function memory.created_at_of(text, text, uuid) is
'When a memory or an entity was created; NULL for an unknown one.';
comment on function memory.memory_exists(text, text, uuid) is
'Whether a memory exists, locked against deletion until the end of the transaction.';
comment on function memory.lock_memory(text, text, uuid) is
'Locks a memory against changes, and returns its lifecycle_state; NULL for an unknown one.';
comment on function memory.renew_memory(memory.settings, text, uuid, timestamptz, timestamptz) is
'Lets the decay of a memory start again at as_of, and a fading one recover. It was observed at '
'observed_at, or later; NULL says nothing of that.';
comment on function memory.hide_memory(text, text, uuid, timestamptz) is
'Makes a memory forgotten as of as_of, unless it is already.';
comment on function memory.columns_of_memory(text, text, uuid) is
'A memory as a JSON object of all its columns but the tenant and the vectors; NULL for an unknown '
'one. Counts nothing.';
comment on function memory.resolved_state(text, text, uuid, timestamptz) is
'State of the memory at an end of a link: its lifecycle_state, and expired for one that has '
'expired or that left a tombstone.';
comment on function memory.count_references(text[], uuid[], timestamptz) is
'Counts one reference, at as_of, to each of some memories, named by type and id at the same '
'places. Bookkeeping: no event, and nothing is counted if one stays locked by somebody else for '
'half a second, so that no reader waits longer.';

create or replace function memory.check_after_creation(
  tenant_id text,
  memory_type text,
  memory_id uuid,
  as_of timestamptz
)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_created_at timestamptz := memory.created_at_of(tenant_id, memory_type, memory_id);
begin
  if as_of < v_created_at then
    raise exception 'as_of lies before % % was created: %', memory_type, memory_id, as_of
      using errcode = 'PM002', hint = format('Pass %s or later.', v_created_at);
  end if;
end;
$$;

comment on function memory.check_after_creation(text, text, uuid, timestamptz) is
'Refuses a time before a memory or an entity was created; an unknown one has none. Errors: PM002.';

create or replace function memory.refresh_memory_types()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.refresh_type_names();
  perform memory.refresh_memory_functions();
  perform memory.refresh_searchable_memories();
  perform memory.refresh_listed_memories();
  perform memory.refresh_memory_overview();
end;
$$;

comment on function memory.refresh_memory_types() is
'Makes all that is made from memory.memory_types follow its rows, except triggers. A change that '
'adds a type calls it, then memory.isolate_table and memory.attach_triggers for its table.';

create or replace function memory.lock_keys_of_facts(
  tenant_id text,
  fact_ids uuid[]
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  insert into memory.fact_keys (tenant_id, scope, anchor, predicate)
  select distinct
    lock_keys_of_facts.tenant_id, f.scope,
    memory.fact_anchor(f.entity_id, f.subject_key), f.predicate_key
  from memory.facts as f
  where f.tenant_id = lock_keys_of_facts.tenant_id and f.id = any (fact_ids)
  order by 2, 3, 4
  on conflict (tenant_id, scope, anchor, predicate) do update set scope = excluded.scope;
$$;

comment on function memory.lock_keys_of_facts(text, uuid[]) is
'Prevents other active facts of the keys of some facts until the end of the transaction, as '
'memory.lock_fact_key does.';

commit;
