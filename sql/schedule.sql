-- Hands the periodic jobs of a tenant to pg_cron. For a superuser, with psql, in the database with the
-- schema memory:
--
--   psql -d yourdb -v tenant=acme -v login=acme_jobs -f sql/schedule.sql
--
-- What is due when is in the tenant's settings (docs/configuration.md); run this again whenever they
-- change: it registers, changes and removes until pg_cron has exactly the jobs that are not off.
--
-- Consolidation is none of them, because it asks an LLM: let cron call `pymem consolidate --due`, which does
-- what is due by the settings (after six hours, or a hundred episodes of an agent).
--
-- login: the role as which the jobs run. It must be a login that acts for the tenant and has the
-- roles of its jobs (docs/operations.md), which sql/grant_login.sql gives it. With
-- cron.use_background_workers = on it needs no password.

\set ON_ERROR_STOP on

select coalesce(current_setting('cron.database_name', true), '') = '' as lacks_pg_cron \gset
\if :lacks_pg_cron
do $$
begin
  raise exception 'pg_cron does not run on this server'
    using hint = 'Add pg_cron to shared_preload_libraries and restart the server.';
end;
$$;
\endif

begin;
select memory.set_request(tenant_id => :'tenant') \g /dev/null
-- A job's name has room for 63 octets, less than a database and a tenant may need.
select
  current_database() as database,
  'pymem:'
    || left(md5(jsonb_build_array(current_database(), :'tenant'::text)::text), 16)
    || ':' as prefix,
  coalesce(jsonb_agg(j), '[]') as jobs,
  current_setting('cron.database_name') as cron_database
from memory.list_jobs(:'login') as j \gset
commit;

\connect :cron_database

set client_min_messages = warning;
create extension if not exists pg_cron;

begin;
select cron.unschedule(c.jobid)
from cron.job as c
where starts_with(c.jobname, :'prefix')
  and (c.username, c.jobname) not in (
    select :'login', :'prefix' || j.job
    from jsonb_to_recordset(:'jobs') as j (job text)
  ) \g /dev/null
select cron.schedule_in_database(
  :'prefix' || j.job, j.schedule, j.command, :'database', :'login'
)
from jsonb_to_recordset(:'jobs') as j (job text, schedule text, command text)
order by j.job \g /dev/null
commit;

select c.jobname, c.schedule, c.command, c.username, c.active
from cron.job as c
where starts_with(c.jobname, :'prefix')
order by c.jobname;
