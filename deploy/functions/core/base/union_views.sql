-- Deploy pymem:functions/core/base/union_views to pg

begin;

set local role memory_owner;

create or replace function memory.define_union_view(
  view_name name,
  columns text[],
  expressions jsonb default '{}'
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_query text;
begin
  with wanted as (
    select
      t.table_name, t.position, c.place, split_part(c.declared, ' ', 1) as column_name,
      split_part(c.declared, ' ', 2) as type_name,
      case split_part(c.declared, ' ', 1)
        when 'memory_type' then quote_literal(t.memory_type)
        when 'is_live' then t.live_condition
        when 'is_decaying'
        then coalesce(replace(t.decaying_condition, '$1', '''-infinity''::timestamptz'), 'false')
        else coalesce(
          t.shape ->> split_part(c.declared, ' ', 1), expressions ->> split_part(c.declared, ' ', 1)
        )
      end as expression
    from memory.memory_types as t
    cross join unnest(columns) with ordinality as c (declared, place)
    where t.is_searched
  ),
  described as (
    select
      w.*,
      h.names @> array[w.column_name] as is_column,
      h.names @> array(
        select r.matched[1] from regexp_matches(w.expression, '\mm\.(\w+)', 'g') as r (matched)
      ) as is_computable
    from wanted as w
    cross join lateral (
      select array_agg(a.attname::text) as names
      from pg_attribute as a
      where a.attrelid = format('memory.%I', w.table_name)::regclass
        and a.attnum > 0 and not a.attisdropped
    ) as h
  ),
  branches as (
    select
      d.position,
      format(
        'select %s from memory.%I as m',
        string_agg(
          format(
            '%s as %I',
            case
              when d.expression is not null and d.is_computable
              then format('(%s)::%s', d.expression, d.type_name)
              when d.is_column then format('m.%I', d.column_name)
              else 'null::' || d.type_name
            end,
            d.column_name
          ),
          ', ' order by d.place
        ),
        d.table_name
      ) as branch
    from described as d
    group by d.position, d.table_name
  )
  select string_agg(b.branch, ' union all ' order by b.position) into v_query
  from branches as b;

  execute format(
    'create or replace view memory.%I with (security_invoker = true) as %s', view_name, v_query
  );
end;
$$;

comment on function memory.define_union_view(name, text[], jsonb) is
'Makes a view that shows the memories of all types in one shape. columns: each a name and its '
'type, in order; a later version may only add some at the end. is_live and is_decaying are the '
'conditions of the type; another column is what memory.memory_types.shape says; else the '
'expression, over a row m, where the table has all the columns that it names; else the column of '
'that name, or NULL.';

create or replace function memory.refresh_searchable_memories()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.define_union_view('searchable_memories', '{
    memory_type text, tenant_id text, id uuid, scope text, subject text, predicate text,
    content text, importance float8, confidence float8, decay_rate float8, permanence text,
    maturity text, effectiveness_score float8, entity_id uuid, session_id uuid, tags jsonb,
    metadata jsonb, created_at timestamptz, last_confirmed_at timestamptz,
    last_referenced_at timestamptz, reference_count integer, updated_at timestamptz,
    valid_from timestamptz, valid_to timestamptz, expires_at timestamptz, embedding vector,
    search_vector tsvector, lifecycle_state text, is_live boolean, source_butler text,
    is_guarded boolean, planned_for timestamptz
  }', '{"is_guarded": "m.policy = ''billy''"}');
end;
$$;

comment on function memory.refresh_searchable_memories() is
'Makes the view memory.searchable_memories show the types of memory.memory_types.';

create or replace function memory.refresh_listed_memories()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.define_union_view('listed_memories', '{
    memory_type text, tenant_id text, id uuid, entry_id text, title text, category text, scope text,
    subject text, predicate text, subject_key text, predicate_key text, content text,
    lifecycle_state text, is_live boolean, is_guarded boolean, is_decaying boolean, maturity text,
    permanence text, importance float8, confidence float8, decay_rate float8, decay_key float8,
    effectiveness_score float8, reference_count integer, source_butler text,
    source_episode_id uuid, session_id uuid, entity_id uuid, supersedes_id uuid, tags jsonb,
    metadata jsonb, created_at timestamptz, updated_at timestamptz, last_confirmed_at timestamptz,
    last_referenced_at timestamptz, valid_from timestamptz, valid_to timestamptz,
    expires_at timestamptz, planned_for timestamptz
  }', '{
    "is_guarded": "m.policy = ''billy''",
    "decay_key": "memory.decay_key(m.confidence, m.decay_rate, m.last_confirmed_at)"
  }');
end;
$$;

comment on function memory.refresh_listed_memories() is
'Makes the view memory.listed_memories show the types of memory.memory_types.';

create or replace function memory.refresh_memory_overview()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.define_union_view(
    'memory_overview',
    '{
      memory_type text, id uuid, scope text, subject text, predicate text, content text,
      lifecycle_state text, maturity text, permanence text, importance float8, confidence float8,
      effective_confidence float8, effectiveness_score float8, reference_count integer,
      source_butler text, source_episode_id uuid, supersedes_id uuid, entity_id uuid,
      session_id uuid, tags jsonb, metadata jsonb, created_at timestamptz, updated_at timestamptz,
      last_referenced_at timestamptz, last_confirmed_at timestamptz, valid_from timestamptz,
      valid_to timestamptz, expires_at timestamptz
    }',
    jsonb_build_object(
      'lifecycle_state',
      $expression$
        case when m.expires_at <= now() then 'expired' else m.lifecycle_state end
      $expression$,
      'effective_confidence',
      $expression$
        memory.effective_confidence(
          m.confidence, m.decay_rate, coalesce(m.last_confirmed_at, m.created_at), now()
        )
      $expression$
    )
  );
end;
$$;

comment on function memory.refresh_memory_overview() is
'Makes the view memory.memory_overview show the types of memory.memory_types.';

commit;
