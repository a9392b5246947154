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

commit;
