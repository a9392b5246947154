-- Deploy pymem:functions/core/base/time_zones to pg

begin;

set local role memory_owner;

-- The only cheap test is to use the zone: pg_timezone_names reads every file of the time zone
-- database.
create or replace function memory.is_time_zone(time_zone text)
  returns boolean
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  -- PostgreSQL also accepts "UTC+3", which is three hours west, and "PST", which has no daylight
  -- saving time.
  if time_zone ~ '^(?!posix/)([A-Za-z_]+(/[A-Za-z_-]+){1,2}|Etc/GMT[+-](1[0-4]|[0-9])|UTC|GMT)$' then
    perform timestamp '2000-01-01' at time zone time_zone;
    return true;
  end if;
  return false;
exception when invalid_parameter_value then
  return false;
end;
$$;

comment on function memory.is_time_zone(text) is
'Whether a text is the IANA name of a time zone, with its area, such as Europe/Berlin, or UTC or '
'GMT. False for NULL.';

create or replace function memory.refuse_time_zone(
  name text,
  value text
)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception 'unknown %: %', name, quote_nullable(left(value, 100))
    using errcode = 'PM002',
      hint = format('Pass %s as an IANA time zone name, such as Europe/Berlin or UTC.', name);
end;
$$;

comment on function memory.refuse_time_zone(text, text) is
'Raises the error for an argument that fails check_time_zone. Errors: PM002.';

create or replace function memory.check_time_zone(
  name text,
  value text
)
  returns void
  language sql
  immutable
  return case
    when value = 'UTC' or memory.is_time_zone(value) then null
    else memory.refuse_time_zone(name, value)
  end;

comment on function memory.check_time_zone(text, text) is
'Rejects a text that is not the name of a time zone (memory.is_time_zone). Errors: PM002.';

commit;
