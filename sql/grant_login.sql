-- Gives a database login the use of a tenant's memory. For who has deployed it, with psql:
--
--   psql -v login=assistant -v tenant=acme -v roles=memory_writer -f sql/grant_login.sql
--
-- roles: any of memory_writer, memory_worker, memory_reader, memory_admin, separated by commas; a
-- prefix that they have in this database may be left out. A pooled application that serves many
-- tenants gets memory_writer, memory_gateway instead, and no tenant (-v tenant=''). The login role
-- must exist: create role assistant login password '...';

\set ON_ERROR_STOP on

begin;
select memory.grant_roles(:'login', string_to_array(:'roles', ',')) \g /dev/null
select memory.bind_login(:'login', :'tenant')
where :'tenant' <> '' \g /dev/null
commit;
