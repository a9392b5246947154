-- Deploy pymem:functions/extras/entries/entry_policies to pg

begin;

set local role memory_owner;

create or replace function memory.set_entry_policy(
  scope text,
  policy text
)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_scope text := memory.collapse_whitespace(set_entry_policy.scope);
begin
  perform
    memory.check_text('scope', v_scope, 128),
    memory.check_word('policy', set_entry_policy.policy, '{meridian,billy}');
  insert into memory.entry_policies as p (tenant_id, scope, policy)
  values (v_tenant_id, v_scope, set_entry_policy.policy)
  on conflict (tenant_id, scope) do update set policy = excluded.policy
  where p.policy <> excluded.policy;
  return found;
end;
$$;

comment on function memory.set_entry_policy(text, text) is
'Sets how the entries of a scope may be written from now on, "*": of all scopes without a policy '
'of their own; returns whether that is a change. meridian: memory.create_entry and the like. '
'billy: only memory.write_memory. Entries that exist keep the policy under which they were '
'written. Errors: PM002.';
grant execute on function memory.set_entry_policy to memory_admin;

create or replace function memory.list_entry_policies()
  returns table (
    scope text,
    policy text,
    entries bigint
  )
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    p.scope, p.policy,
    (
      select count(*)
      from memory.entries as e
      where e.tenant_id = p.tenant_id and e.scope = p.scope and e.deleted_at is null
    )
  from memory.entry_policies as p
  where p.tenant_id = memory.current_tenant()
  order by p.scope;
$$;

comment on function memory.list_entry_policies() is
'The policies that were set, by scope, with the number of entries that are stored in it under any '
'policy and not deleted; "*" stands for all other scopes. Without a policy, a scope is meridian.';
grant execute on function memory.list_entry_policies to memory_writer, memory_reader, memory_admin;

commit;
