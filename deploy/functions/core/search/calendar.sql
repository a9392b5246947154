-- Deploy pymem:functions/core/search/calendar to pg

begin;

set local role memory_owner;

create or replace function memory.day_of(
  year integer,
  month integer,
  day integer
)
  returns date
  language sql
  immutable
  parallel safe
  return case
    when year >= 1 and year <= 9999 and month between 1 and 12 and day between 1 and 31
      and date_part('month', make_date(year, month, 1) + (day - 1)) = month
    then make_date(year, month, day)
  end;

comment on function memory.day_of(integer, integer, integer) is
'The date of a year (1..9999), month and day; NULL if it does not exist, such as February 31.';

create or replace function memory.holiday_of(
  holiday text,
  year integer
)
  returns daterange
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select daterange(s.day, s.day + coalesce(substring(holiday from '/([0-9]+)')::integer, 1))
  from (
    select
      f.day + coalesce(
        (substring(holiday from '~([1-7])')::integer - date_part('isodow', f.day)::integer + 7) % 7,
        0
      ) as day
    from (
      select
        case
          -- Carter's algorithm for Easter, valid from 1900 to 2099.
          when holiday like 'easter%'
          then make_date(year, 3, 1) + e.d + 6 - (year + year / 4 + e.d + 1) % 7
          else memory.day_of(year, left(holiday, 2)::integer, substr(holiday, 4, 2)::integer)
        end
        + coalesce(substring(substr(holiday, 6) from '[+-][0-9]+')::integer, 0) as day
      from (
        select d.d - (d.d > 48)::integer as d
        from (select 21 + (204 - 11 * (year % 19)) % 30 as d) as d
      ) as e
    ) as f
  ) as s;
$$;

comment on function memory.holiday_of(text, integer) is
'The days of a holiday in a year; the holiday in the notation of memory.time_words. Easter from '
'1900 to 2099.';

create or replace function memory.unit_length(unit text)
  returns interval
  language sql
  immutable
  parallel safe
  return case unit
    when 'day' then interval '1 day'
    when 'week' then interval '7 days'
    when 'weekend' then interval '7 days'
    when 'month' then interval '1 month'
    when 'quarter' then interval '3 months'
    when 'year' then interval '1 year'
    when 'decade' then interval '10 years'
  end;

comment on function memory.unit_length(text) is
'The length of a unit of memory.time_words; for a weekend, the distance to the next one.';

create or replace function memory.unit_days(
  unit text,
  distance integer,
  today date
)
  returns daterange
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_length interval := memory.unit_length(unit);
  v_day date := date_trunc(
    replace(unit, 'weekend', 'week'), today + distance * v_length
  )::date;
begin
  return case unit
    when 'weekend' then daterange(v_day + 5, v_day + 7)
    else daterange(v_day, (v_day + v_length)::date)
  end;
end;
$$;

comment on function memory.unit_days(text, integer, date) is
'The days of a calendar unit (of memory.time_words), distance units away from the current one; '
'weeks begin on Monday, and a weekend belongs to the week it ends.';

create or replace function memory.days_in_year(
  what text,
  which text,
  year integer
)
  returns daterange
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_day date;
begin
  case
    when year not between 1 and 9998 then
      return null;
    when what = 'date' then
      v_day := memory.day_of(
        year, split_part(which, '-', 1)::integer, split_part(which, '-', 2)::integer
      );
      return case when v_day is not null then daterange(v_day, v_day + 1) end;
    when what = 'month' then
      v_day := make_date(year, which::integer, 1);
      return daterange(v_day, (v_day + interval '1 month')::date);
    when what = 'holiday' then
      return memory.holiday_of(which, year);
    else
      v_day := make_date(year, 3 * which::integer - case what when 'quarter' then 2 else 0 end, 1);
      return daterange(v_day, (v_day + interval '3 months')::date);
  end case;
end;
$$;

comment on function memory.days_in_year(text, text, integer) is
'The days of a yearly recurring time in a year. what: date (which: month and day, "5-8"), month '
'(1..12), season (1..4; meteorological, northern hemisphere; winter begins in December), quarter '
'(1..4), holiday (as in memory.time_words). NULL if there are none.';

create or replace function memory.last_occurrence(
  what text,
  which text,
  day date
)
  returns daterange
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_year integer := date_part('year', day)::integer;
  v_day date;
  v_days daterange;
begin
  if what = 'weekday' then
    v_day := day - (date_part('isodow', day)::integer - which::integer + 7) % 7;
    return daterange(v_day, v_day + 1);
  end if;
  -- There can be eight years between one February 29 and the next.
  for v_past in 0 .. 8 loop
    v_days := memory.days_in_year(what, which, v_year - v_past);
    if lower(v_days) <= day then
      return v_days;
    end if;
  end loop;
  return null;
end;
$$;

comment on function memory.last_occurrence(text, text, date) is
'The last occurrence of a recurring time that began on or before a day: a weekday (which: 1..7) or '
'a yearly recurring time (memory.days_in_year). NULL if there is none.';

create or replace function memory.first_occurrence(
  what text,
  which text,
  day date
)
  returns daterange
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_year integer := date_part('year', day)::integer;
  v_day date;
  v_days daterange;
begin
  if what = 'weekday' then
    v_day := day + (which::integer - date_part('isodow', day)::integer + 7) % 7;
    return daterange(v_day, v_day + 1);
  end if;
  for v_coming in 0 .. 8 loop
    v_days := memory.days_in_year(what, which, v_year + v_coming);
    if lower(v_days) >= day then
      return v_days;
    end if;
  end loop;
  return null;
end;
$$;

comment on function memory.first_occurrence(text, text, date) is
'The first occurrence of a recurring time (as in memory.last_occurrence) that begins on or after a '
'day. NULL if there is none.';

create or replace function memory.nearest_days(
  what text,
  which text,
  relative text,
  today date
)
  returns daterange
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_days daterange := case
    when relative in ('1', '2') then memory.first_occurrence(what, which, today + 1)
    else memory.last_occurrence(what, which, today)
  end;
begin
  if relative = 'ahead' and not v_days @> today then
    v_days := memory.first_occurrence(what, which, today);
  elsif relative in ('-1', '-2', 'past') and v_days @> today then
    v_days := memory.last_occurrence(what, which, lower(v_days) - 1);
  end if;
  return case
    when relative = '-2' then memory.last_occurrence(what, which, lower(v_days) - 1)
    when relative = '2' then memory.first_occurrence(what, which, lower(v_days) + 1)
    when relative <> '0' or v_days @> today then v_days
    when relative = '0' and what = 'weekday'
    then memory.first_occurrence(what, which, date_trunc('week', today::timestamp)::date)
    when relative = '0' then memory.days_in_year(what, which, date_part('year', today)::integer)
    else v_days
  end;
end;
$$;

comment on function memory.nearest_days(text, text, text, date) is
'The occurrence of a recurring time (as in memory.last_occurrence) that is meant today: the last '
'that has begun or, with relative (as in memory.time_words), -1 or past: the last that is over, '
'-2: the one before, 1: the next to begin, 2: the one after, 0: that of this year, or week for a '
'weekday; or, with ahead, the one that is not over yet. NULL if there is none.';

commit;
