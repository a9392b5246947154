-- Deploy pymem:roles to pg

begin;

-- Roles are cluster-wide, so several databases share them: create what is missing, and accept that
-- a concurrent deployment may create the same role.
do $$
declare
  v_role text;
  v_comment text;
  v_is_old boolean := current_setting('server_version_num')::integer < 160000;
  v_set text := case when v_is_old then 'member' else 'set' end;
  v_options text := case when v_is_old then '' else ' with inherit true, set true' end;
begin
  for v_role, v_comment in
    values
      ('memory_owner', 'owns the schema memory. Never grant it to a login.'),
      ('memory_search', 'owns ranked retrieval and reads every tenant. Never grant it to a login.'),
      ('memory_writer', 'an agent or application: stores, recalls, confirms and forgets.'),
      ('memory_worker', 'background work: embeddings, decay, cleanup and hygiene.'),
      ('memory_reader', 'reads without changing anything: search, links, the audit stream.'),
      ('memory_admin', 'manages settings, embedding model changes and vector indexes of a tenant.'),
      ('memory_gateway', 'a pooled application that names the tenant of each transaction.')
  loop
    continue when exists (select from pg_catalog.pg_roles as r where r.rolname = v_role);
    begin
      execute format('create role %I nologin', v_role);
      execute format('comment on role %I is %L', v_role, 'pymem: ' || v_comment);
    exception when duplicate_object or unique_violation then
      null;
    end;
  end loop;

  -- A deployer that is not a superuser (managed services) needs membership to create objects as
  -- these roles. Since PostgreSQL 16 who has made a role may grant it, but is not yet a member, and a
  -- member need not inherit its rights or act as it.
  foreach v_role in array array['memory_owner', 'memory_search', 'memory_gateway'] loop
    continue when pg_catalog.pg_has_role(current_user, v_role, 'usage')
      and pg_catalog.pg_has_role(current_user, v_role, v_set);
    execute format('grant %I to %I%s', v_role, current_user, v_options);
  end loop;
end;
$$;

commit;
