-- Gives a database login the use of a tenant's memory. For the deployer, with psql:
--
--   psql -v login=assistant -v tenant=acme -v roles=memory_writer -f sql/grant_login.sql
--
-- roles: any of memory_writer, memory_worker, memory_reader, memory_admin, separated by commas. A
-- pooled application that serves many tenants gets memory_writer, memory_gateway instead, and no
-- tenant (-v tenant=''). The login role must exist: create role assistant login password '...';

\set ON_ERROR_STOP on

begin;
grant :roles to :"login";
select memory.bind_login(:'login', :'tenant')
where :'tenant' <> '';
commit;
