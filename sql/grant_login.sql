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
select
  set_config('pymem.login', :'login', true),
  set_config('pymem.roles', :'roles', true) \g /dev/null
do $$
declare
  v_login text := current_setting('pymem.login');
  v_prefix text := memory.role_prefix();
  v_role text;
begin
  foreach v_role in array regexp_split_to_array(trim(current_setting('pymem.roles')), '\s*,\s*')
  loop
    v_role := v_prefix || regexp_replace(v_role, '^' || v_prefix, '');
    if v_role <> all(
      array(
        select v_prefix || 'memory_' || k.kind
        from unnest('{writer,worker,reader,admin,gateway}'::text[]) as k (kind)
      )
    ) then
      raise exception '% is no role for a login', quote_literal(v_role)
        using hint = 'Pass memory_writer, memory_worker, memory_reader, memory_admin or '
          'memory_gateway, separated by commas.';
    end if;
    begin
      execute format('grant %I to %I', v_role, v_login);
    exception
      when insufficient_privilege then
        raise exception '% may not grant the role %', current_user, v_role
          using errcode = '42501',
            hint = format(
              'As who has deployed the first memory of this cluster, or a superuser: grant %I to %I '
              'with admin option;',
              v_role, current_user
            );
    end;
  end loop;
end;
$$;
select memory.bind_login(:'login', :'tenant')
where :'tenant' <> '';
commit;
