-- Deploy pymem:functions/core/base/schedule to pg

begin;

set local role memory_owner;

create or replace function memory.crontab_field(value text)
  returns text
  language sql
  immutable
  parallel safe
  return replace(
    replace('I(,I)*', 'I', '(\*(/[1-9][0-9]?)?|V(-V(/[1-9][0-9]?)?)?)'), 'V', '(' || value || ')'
  );

comment on function memory.crontab_field(text) is
'The regular expression of a field of crontab(5) whose values match a regular expression: items '
'with commas between them, each a star, a value, or a range; a star or a range may have a step.';

create or replace function memory.in_any_case(names text)
  returns text
  language sql
  immutable
  parallel safe
  return concat_ws('|', lower(names), upper(names), initcap(names));

comment on function memory.in_any_case(text) is
'The regular expression of names in lower case, in upper case, and with a capital.';

create or replace function memory.schedule_pattern()
  returns text
  language sql
  immutable
  parallel safe
  return '^(off|([1-9]|[1-5][0-9]) seconds|' || concat_ws(
    ' ',
    memory.crontab_field('[0-5]?[0-9]'),
    memory.crontab_field('[01]?[0-9]|2[0-3]'),
    memory.crontab_field('0?[1-9]|[12][0-9]|3[01]'),
    memory.crontab_field(
      '0?[1-9]|1[0-2]|' || memory.in_any_case('jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec')
    ),
    memory.crontab_field('[0-7]|' || memory.in_any_case('sun|mon|tue|wed|thu|fri|sat'))
  ) || ')$';

comment on function memory.schedule_pattern() is
'The regular expression of what is_schedule accepts, for PostgreSQL, Python and Rust alike.';

create or replace function memory.is_schedule(schedule text)
  returns boolean
  language sql
  immutable
  parallel safe
  return schedule ~ memory.schedule_pattern();

comment on function memory.is_schedule(text) is
'Whether a text is a valid schedule of a job: "off", or what pg_cron reads: five fields as in '
'crontab(5), each in its range, such as "0 3 * * *", or from pg_cron 1.5 also "30 seconds", at '
'most 59.';

create or replace function memory.crontab_values(
  field text,
  lowest integer,
  highest integer,
  names text[] default '{}'
)
  returns integer[]
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_item text;
  v_range text;
  v_step integer;
  v_ends integer[];
  v_values integer[] := '{}'::integer[];
begin
  foreach v_item in array string_to_array(lower(field), ',') loop
    v_range := split_part(v_item, '/', 1);
    v_step := coalesce(nullif(split_part(v_item, '/', 2), ''), '1')::integer;
    v_ends := case
      when v_range = '*' then array[lowest, highest]
      else array(
        select coalesce(array_position(names, e.value) - 1 + lowest, e.value::integer)
        from string_to_table(v_range, '-') with ordinality as e (value, position)
        order by e.position
      )
    end;
    v_values := v_values || array(
      select n.value
      from generate_series(v_ends[1], v_ends[cardinality(v_ends)], v_step) as n (value)
    );
  end loop;
  return array(select distinct n.value from unnest(v_values) as n (value) order by n.value);
end;
$$;

comment on function memory.crontab_values(text, integer, integer, text[]) is
'The values of a field of crontab(5), ascending: "*/20" with 0 and 59 gives 0, 20, 40. names: '
'words for the values from the lowest on, in lower case. A range that runs backwards has none.';

create or replace function memory.next_run(
  schedule text,
  after timestamptz
)
  returns timestamptz
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_fields text[] := string_to_array(schedule, ' ');
  v_from timestamp := date_trunc('minute', after at time zone 'UTC') + interval '1 minute';
  v_minute integer := (extract(hour from v_from) * 60 + extract(minute from v_from))::integer;
  v_times integer[];
  v_days integer[];
  v_months integer[];
  v_weekdays integer[];
  v_first date;
  v_day date;
  v_reach integer;
begin
  if schedule = 'off' or after is null then
    return null;
  end if;
  if memory.is_schedule(schedule) is not true then
    raise exception 'no schedule: %', quote_nullable(schedule)
      using errcode = 'PM002', hint = 'Pass five fields as in crontab, such as "0 3 * * *".';
  end if;
  if v_fields[2] = 'seconds' then
    return after + make_interval(secs => v_fields[1]::float8);
  end if;

  v_times := array(
    select h.hour * 60 + m.minute
    from unnest(memory.crontab_values(v_fields[2], 0, 23)) as h (hour)
    cross join unnest(memory.crontab_values(v_fields[1], 0, 59)) as m (minute)
    order by 1
  );
  v_days := memory.crontab_values(v_fields[3], 1, 31);
  v_months := memory.crontab_values(
    v_fields[4], 1, 12, '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}'
  );
  v_weekdays := memory.crontab_values(v_fields[5], 0, 7, '{sun,mon,tue,wed,thu,fri,sat}');

  v_first := v_from::date + case when v_minute > v_times[cardinality(v_times)] then 1 else 0 end;
  -- A week, a year, and until each day of the year was each day of the week.
  foreach v_reach in array array[7, 366, 41 * 366] loop
    v_day := (
      select min(d.day)
      from generate_series(0, v_reach) as n (days)
      cross join lateral (select v_first + n.days as day) as d
      cross join lateral (
        select
          extract(day from d.day)::integer = any (v_days) as is_day,
          extract(dow from d.day)::integer = any (v_weekdays)
          or extract(isodow from d.day)::integer = any (v_weekdays) as is_weekday
      ) as t
      where extract(month from d.day)::integer = any (v_months)
        and case
          -- As cron reads them: days and weekdays both count, unless one of them is every day.
          when starts_with(v_fields[3], '*') or starts_with(v_fields[5], '*')
            then t.is_day and t.is_weekday
          else t.is_day or t.is_weekday
        end
    );
    exit when v_day is not null;
  end loop;

  return (
    select (v_day + make_interval(mins => min(t.minute))) at time zone 'UTC'
    from unnest(v_times) as t (minute)
    where v_day > v_from::date or t.minute >= v_minute
  );
end;
$$;

comment on function memory.next_run(text, timestamptz) is
'The first time after another at which a schedule (is_schedule) is due, read in UTC as pg_cron '
'does; NULL for "off" and for a day that never comes, such as February 30. Errors: PM002 no '
'schedule.';

commit;
