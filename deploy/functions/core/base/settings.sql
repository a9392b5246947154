-- Deploy pymem:functions/core/base/settings to pg

begin;

set local role memory_owner;

-- memory.setting_defaults() takes no argument, so the planner folds it to a constant: every search
-- of a tenant without settings uses it.
create or replace function memory.refresh_setting_defaults()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_defaults text[] := array(
    select coalesce(pg_get_expr(d.adbin, d.adrelid), 'null')
    from pg_attribute as a
    left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = 'memory.settings'::regclass and a.attnum > 0 and not a.attisdropped
    order by a.attnum
  );
begin
  execute format(
    'create or replace function memory.setting_defaults()
      returns memory.settings
      language sql
      immutable
      parallel safe
      return row(%s)::memory.settings',
    array_to_string(v_defaults, ', ')
  );
end;
$$;

comment on function memory.refresh_setting_defaults() is
'Regenerates memory.setting_defaults() from the column defaults of memory.settings. A change that '
'adds a setting or alters a default must call it.';

do $$
begin
  perform memory.refresh_setting_defaults();
end;
$$;

comment on function memory.setting_defaults() is
'The settings of a tenant that has configured nothing, with a NULL tenant_id.';

create or replace function memory.default_settings(tenant_id text)
  returns memory.settings
  language plpgsql
  immutable
  parallel safe
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_settings memory.settings := memory.setting_defaults();
begin
  v_settings.tenant_id := tenant_id;
  return v_settings;
end;
$$;

comment on function memory.default_settings(text) is
'The settings of a tenant that has configured nothing.';
grant execute on function memory.default_settings to memory_admin;

create or replace function memory.current_settings()
  returns memory.settings
  language plpgsql
  stable
  parallel safe
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_settings memory.settings;
begin
  select s.* into v_settings from memory.settings as s where s.tenant_id = v_tenant_id;
  if not found then
    v_settings := memory.setting_defaults();
    v_settings.tenant_id := v_tenant_id;
  end if;
  return v_settings;
end;
$$;

comment on function memory.current_settings() is
'The settings of the current tenant, including defaults. Errors: 28000 no tenant.';
grant execute on function memory.current_settings
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

-- Stores need only this one setting: building a row of all settings takes longer than the lookup.
create or replace function memory.text_search_config_of(tenant_id text)
  returns text
  language plpgsql
  stable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_text_search_config text;
begin
  select s.text_search_config into v_text_search_config
  from memory.settings as s
  where s.tenant_id = text_search_config_of.tenant_id;
  if not found then
    v_text_search_config := (memory.setting_defaults()).text_search_config;
  end if;
  return v_text_search_config;
end;
$$;

comment on function memory.text_search_config_of(text) is
'The text search configuration of a tenant, or the default.';

create or replace function memory.refuse_settings(
  wanted jsonb,
  changes jsonb,
  constraint_name text
)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_said text;
  v_hint text;
  v_change record;
begin
  -- The condition as the server prints it, without casts and with words for its commonest parts.
  select
    string_agg(
      format('%s is %s', a.attname, left(coalesce(wanted ->> a.attname::text, 'null'), 100)),
      ', ' order by a.attnum
    ),
    coalesce(
      obj_description(c.oid, 'pg_constraint'),
      format(
        'It must hold that %s.',
        replace(
          regexp_replace(
            regexp_replace(
              pg_get_expr(c.conbin, c.conrelid, true), '::(double precision|text)(\[\])?', '', 'g'
            ),
            ' = ANY \(ARRAY\[([^]]*)\]\)', ' is one of \1'
          ),
          ' AND ', ' and '
        )
      )
    )
  into v_said, v_hint
  from pg_constraint as c
  join pg_attribute as a on a.attrelid = c.conrelid and a.attnum = any (c.conkey)
  where c.conrelid = 'memory.settings'::regclass
    and c.conname = refuse_settings.constraint_name::name
  group by c.oid, c.conbin, c.conrelid;
  if v_said is not null then
    raise exception '%', v_said using errcode = 'PM002', hint = v_hint;
  end if;

  -- A value of another type: the error of the server does not name the setting.
  for v_change in
    select k.key, k.value, format_type(a.atttypid, null) as type_name
    from jsonb_each(changes) as k
    join pg_attribute as a
      on a.attrelid = 'memory.settings'::regclass and a.attname = k.key::name
    order by k.key
  loop
    begin
      perform jsonb_populate_record(
        null::memory.settings, jsonb_build_object(v_change.key, v_change.value)
      );
    exception
      when data_exception then
        raise exception '% is %', v_change.key, left(v_change.value::text, 100)
          using errcode = 'PM002', hint = format('Pass a value of type %s.', v_change.type_name);
    end;
  end loop;
end;
$$;

comment on function memory.refuse_settings(jsonb, jsonb, text) is
'Raises the error for settings that the table refuses: wanted, of which changes are new, against '
'the named CHECK, or none for a value of another type. Errors: PM002.';

create or replace function memory.read_settings(
  settings jsonb,
  defaults memory.settings
)
  returns jsonb
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_changes jsonb;
  v_unknown text;
begin
  if jsonb_typeof(read_settings.settings) is distinct from 'object' then
    raise exception 'settings are not a JSON object'
      using errcode = 'PM002', hint = 'Pass an object such as {"retrieval_limit": 20}.';
  end if;

  select string_agg(quote_ident(k.key), ', ' order by k.key) into v_unknown
  from jsonb_object_keys(read_settings.settings) as k (key)
  where k.key = 'tenant_id' or not to_jsonb(defaults) ? k.key;
  if v_unknown is not null then
    raise exception 'unknown setting: %', v_unknown
      using errcode = 'PM002',
        hint = coalesce(
          'There are ' || (
            select string_agg(k.key, ', ' order by k.key)
            from jsonb_object_keys(to_jsonb(defaults)) as k (key)
            where k.key <> 'tenant_id'
              and string_to_array(k.key, '_')
                && regexp_split_to_array(lower(v_unknown), '[^a-z0-9]+')
          ) || '. ',
          ''
        ) || 'memory.describe_settings() lists all.';
  end if;

  v_changes := read_settings.settings || coalesce(
    (
      select jsonb_object_agg(k.key, to_jsonb(defaults) -> k.key)
      from jsonb_each(read_settings.settings) as k
      where k.value = 'null'
    ),
    '{}'
  );
  if v_changes ? 'text_search_config' then
    perform memory.check_text_search_config(v_changes ->> 'text_search_config');
  end if;
  if v_changes ? 'time_zone' then
    perform memory.check_time_zone('time_zone', v_changes ->> 'time_zone');
  end if;
  return v_changes;
end;
$$;

comment on function memory.read_settings(jsonb, memory.settings) is
'Settings to change, with the default in place of null. Errors: PM002 unknown setting, or a '
'language or time zone unknown to the server.';

-- What the table would refuse, without writing to it.
create or replace function memory.try_settings(
  present memory.settings,
  settings jsonb
)
  returns memory.settings
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_changes jsonb := memory.read_settings(
    try_settings.settings, memory.default_settings((present).tenant_id)
  );
  v_new memory.settings;
  v_check record;
  v_holds boolean;
begin
  begin
    v_new := jsonb_populate_record(present, v_changes);
  exception
    when data_exception then
      perform memory.refuse_settings(to_jsonb(present) || v_changes, v_changes, null);
      raise;
  end;
  for v_check in
    select c.conname, pg_get_expr(c.conbin, c.conrelid) as condition
    from pg_constraint as c
    where c.conrelid = 'memory.settings'::regclass and c.contype = 'c'
      and exists (
        select from pg_attribute as a
        where a.attrelid = c.conrelid and a.attnum = any (c.conkey) and v_changes ? a.attname
      )
    order by c.conname
  loop
    execute format('select %s from (select ($1).*) as s', v_check.condition)
    into v_holds
    using v_new;
    if not v_holds then
      perform memory.refuse_settings(to_jsonb(v_new), v_changes, v_check.conname);
    end if;
  end loop;
  return v_new;
end;
$$;

comment on function memory.try_settings(memory.settings, jsonb) is
'The present settings with changes, which are checked as memory.configure does and stored nowhere. '
'Errors: PM002.';

create or replace function memory.configure(settings jsonb)
  returns memory.settings
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_old memory.settings := memory.default_settings(v_tenant_id);
  v_new memory.settings;
  v_changes jsonb := memory.read_settings(configure.settings, v_old);
  v_constraint text;
begin
  begin
    -- Lock the row before reading it, so concurrent changes are both kept.
    insert into memory.settings as s
    select (jsonb_populate_record(v_old, v_changes)).*
    on conflict (tenant_id) do nothing
    returning s.* into v_new;
    if not found then
      select s.* into v_old from memory.settings as s where s.tenant_id = v_tenant_id for update;
      v_new := jsonb_populate_record(v_old, v_changes);
      if v_new is distinct from v_old then
        perform memory.write_settings(v_new);
      end if;
    end if;
  exception
    when check_violation or not_null_violation or data_exception then
      get stacked diagnostics v_constraint = constraint_name;
      perform memory.refuse_settings(to_jsonb(v_old) || v_changes, v_changes, v_constraint);
      raise;
  end;

  -- Texts and queries must use the same language, so the tenant's texts are indexed again, even if
  -- the language is unchanged: a store concurrent with an earlier change may have missed it. A few
  -- at once: recall, which counts references, waits for those that are locked here.
  if v_changes ?| '{text_search_config,index_rendering}' then
    perform memory.mark_for_reindexing(v_tenant_id, v_old.text_search_config);
    perform memory.reindex_batch(v_new, 200);
  end if;
  return v_new;
end;
$$;

comment on function memory.configure(jsonb) is
'Changes settings of the current tenant: an object of setting names and values; null sets one '
'back to its default, and other settings keep their values. Naming text_search_config or '
'index_rendering indexes all texts of the tenant again that are indexed differently: 200 at once, '
'the others by memory.reindex_texts. Returns all settings. Errors: PM002 unknown setting, value '
'out of range, or a language or time zone unknown to the server, 28000 no tenant.';
grant execute on function memory.configure to memory_admin;

create or replace function memory.describe_settings()
  returns table (
    setting text,
    type text,
    value jsonb,
    default_value jsonb,
    is_default boolean,
    description text,
    minimum float8,
    maximum float8,
    choices text[],
    condition text,
    changed_at timestamptz,
    changed_by text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_present jsonb := to_jsonb(memory.current_settings());
  v_default jsonb := to_jsonb(memory.setting_defaults());
begin
  return query
  with conditions as (
    select a.attname, c.conkey, pg_get_expr(c.conbin, c.conrelid, true) as condition
    from pg_constraint as c
    join pg_attribute as a on a.attrelid = c.conrelid and a.attnum = any (c.conkey)
    where c.conrelid = 'memory.settings'::regclass and c.contype = 'c'
  ),
  -- As the server prints them: x >= 0::double precision AND x <= 1::double precision,
  -- x = ANY (ARRAY['a'::text, 'b'::text]).
  bounds as (
    select
      c.attname,
      max(b.matched[2]::float8) filter (where b.matched[1] = '>=') as minimum,
      min(b.matched[2]::float8) filter (where b.matched[1] = '<=') as maximum
    from conditions as c
    cross join lateral regexp_matches(
      c.condition, format('\m%s (>=|<=) ''?(-?[0-9.]+)''?::|\m%1$s (>=|<=) (-?[0-9.]+)', c.attname),
      'g'
    ) as m (parts)
    cross join lateral (
      select array[coalesce(m.parts[1], m.parts[3]), coalesce(m.parts[2], m.parts[4])]
    ) as b (matched)
    where cardinality(c.conkey) = 1
    group by c.attname
  ),
  words as (
    select
      c.attname,
      array_agg(w.matched[1] order by w.position) as choices
    from conditions as c
    cross join lateral regexp_matches(
      substring(c.condition from format('\m%s = ANY \(ARRAY\[([^]]*)\]', c.attname)),
      '''([^'']*)''', 'g'
    ) with ordinality as w (matched, position)
    where cardinality(c.conkey) = 1
    group by c.attname
  ),
  changes as (
    select distinct on (k.key) k.key, e.created_at, e.actor
    from memory.memory_events as e
    cross join lateral jsonb_object_keys(
      case jsonb_typeof(e.payload -> 'new') when 'object' then e.payload -> 'new' else '{}' end
    ) as k (key)
    where e.tenant_id = v_tenant_id
      -- The first row of a tenant holds all settings: which of them were set then is not told.
      and e.event_type = 'settings_updated'
    order by k.key, e.created_at desc, e.seq desc
  )
  select
    a.attname::text, format_type(a.atttypid, null), v_present -> a.attname,
    v_default -> a.attname, v_present -> a.attname is not distinct from v_default -> a.attname,
    col_description(a.attrelid, a.attnum), b.minimum, b.maximum, w.choices,
    (
      select string_agg(
        regexp_replace(
          regexp_replace(c.condition, '::(double precision|text|jsonb|integer)(\[\])?', '', 'g'),
          ' = ANY \(ARRAY\[([^]]*)\]\)', ' is one of \1'
        ),
        ' AND ' order by c.condition
      )
      from conditions as c
      where c.attname = a.attname
    ),
    g.created_at, g.actor
  from pg_attribute as a
  left join bounds as b on b.attname = a.attname
  left join words as w on w.attname = a.attname
  left join changes as g on g.key = a.attname::text
  where a.attrelid = 'memory.settings'::regclass and a.attnum > 0 and not a.attisdropped
    and a.attname <> 'tenant_id'
  order by a.attnum;
end;
$$;

comment on function memory.describe_settings() is
'The settings of the tenant, in the order of the table: value, default, what each means, what it '
'can be (minimum and maximum of a number, choices of a word, and the conditions of the table that '
'name it, also together with others), and when it was last changed, by whom, since the first '
'change of any.';
grant execute on function memory.describe_settings to memory_reader, memory_admin;

create or replace function memory.check_text_search_config(text_search_config text)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  -- A name that needs quoting would not survive the cast to regconfig.
  if not exists (
    select from pg_ts_config as c
    where c.cfgname = text_search_config
      and quote_ident(c.cfgname) = c.cfgname
      and pg_ts_config_is_visible(c.oid)
  ) then
    raise exception 'unknown text search configuration %', quote_nullable(text_search_config)
      using errcode = 'PM002',
        hint = 'Known: ' || (
          select string_agg(c.cfgname, ', ' order by c.cfgname)
          from pg_ts_config as c
          where quote_ident(c.cfgname) = c.cfgname and pg_ts_config_is_visible(c.oid)
        );
  end if;
end;
$$;

comment on function memory.check_text_search_config(text) is
'Rejects a text search configuration that does not exist or whose name needs quoting. Errors: '
'PM002.';

create or replace function memory.write_settings(settings memory.settings)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_columns text[] := array(
    select quote_ident(a.attname)
    from pg_attribute as a
    where a.attrelid = 'memory.settings'::regclass and a.attnum > 0 and not a.attisdropped
    order by a.attnum
  );
begin
  execute format(
    'update memory.settings set (%s) = (select ($1).*) where tenant_id = ($1).tenant_id',
    array_to_string(v_columns, ', ')
  )
  using settings;
end;
$$;

comment on function memory.write_settings(memory.settings) is
'Replaces the settings row of a tenant.';

commit;
