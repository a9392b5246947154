-- Deploy pymem:functions/core/base/schedule to pg

begin;

set local role memory_owner;

create or replace function memory.is_schedule(schedule text)
  returns boolean
  language sql
  immutable
  parallel safe
  return schedule
    ~ '^(off|[0-9A-Za-z*/,-]+( [0-9A-Za-z*/,-]+){4}|([1-9]|[1-5][0-9]) seconds)$';

comment on function memory.is_schedule(text) is
'Whether a text is a valid schedule of a job: "off", or what pg_cron reads: five fields as in '
'crontab(5), such as "0 3 * * *", or from pg_cron 1.5 also "30 seconds", at most 59.';

commit;
