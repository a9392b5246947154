-- Deploy pymem:roles to pg

begin;

-- Roles belong to the cluster, so several databases share them: create what is missing, and
-- accept that another deployment may create the same role at the same moment.
do $$
declare
  v_role text;
begin
  foreach v_role in array array[
    'memory_owner', 'memory_search', 'memory_writer', 'memory_worker',
    'memory_reader', 'memory_admin', 'memory_gateway'
  ] loop
    if not exists (select from pg_catalog.pg_roles as r where r.rolname = v_role) then
      begin
        execute format('create role %I nologin', v_role);
      exception when duplicate_object or unique_violation then
        null;
      end;
    end if;
  end loop;

  -- A deployer who is no superuser (managed services) creates objects as these two roles.
  if not (select r.rolsuper from pg_catalog.pg_roles as r where r.rolname = current_user) then
    execute format('grant memory_owner, memory_search, memory_gateway to %I', current_user);
  end if;
end;
$$;

comment on role memory_owner is
'pymem: owns the schema memory. Never grant it to a login.';
comment on role memory_search is
'pymem: owns the ranked-retrieval functions, reads every tenant. Never grant it to a login.';
comment on role memory_writer is
'pymem: an agent or application: stores, recalls, confirms and forgets through functions.';
comment on role memory_worker is
'pymem: background work: fills in embeddings.';
comment on role memory_reader is
'pymem: reads without changing anything: links and the audit stream.';
comment on role memory_admin is
'pymem: settings of a tenant, change of embedding model, vector indexes.';
comment on role memory_gateway is
'pymem: a pooled application that serves several tenants and names the tenant per transaction.';

commit;
