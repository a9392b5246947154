-- Deploy pymem:functions/extras/operations/chain_verifications to pg

begin;

set local role memory_owner;

create or replace function memory.audit_verification()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.write_event(
    new.tenant_id, 'chain_verified', null, null,
    jsonb_build_object(
      'position', new.position, 'problems', new.problems, 'has_anchor', new.has_anchor
    )
  );
  return null;
end;
$$;

comment on function memory.audit_verification() is
'Trigger: writes chain_verified with the result.';

create or replace function memory.record_verification(
  anchor_position bigint default null,
  anchor_hash bytea default null,
  as_of timestamptz default now()
)
  returns setof memory.chain_problem
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_head memory.event_chain_heads;
  v_problems integer;
begin
  perform memory.check_write_time('as_of', as_of);
  select h.* into v_head
  from memory.event_chain_heads as h
  where h.tenant_id = v_tenant_id;
  return query
  select p.* from memory.verify_chain(anchor_position, anchor_hash, 10000) as p;
  get diagnostics v_problems = row_count;
  insert into memory.chain_verifications
    (tenant_id, verified_at, actor, position, hash, has_anchor, problems)
  values (
    v_tenant_id, as_of, memory.current_actor(), coalesce(v_head.position, 0),
    coalesce(v_head.hash, ''), anchor_position is not null, v_problems
  );
end;
$$;

comment on function memory.record_verification(bigint, bytea, timestamptz) is
'Verifies the hash chain as memory.verify_chain does, up to 10000 problems, and records when, who '
'and with which result. Returns the problems. Errors: PM002.';
grant execute on function memory.record_verification to memory_worker, memory_admin;

create or replace function memory.list_verifications(max_results integer default 50)
  returns table (
    verified_at timestamptz,
    actor text,
    "position" bigint, -- noqa: RF06
    hash bytea,
    has_anchor boolean,
    problems integer
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select v.verified_at, v.actor, v.position, v.hash, v.has_anchor, v.problems
  from memory.chain_verifications as v
  where v.tenant_id = memory.current_tenant()
  order by v.verified_at desc, v.id
  limit memory.check_limit(max_results);
end;
$$;

comment on function memory.list_verifications(integer) is
'The recorded verifications of the hash chain (memory.record_verification), newest first: at most '
'max_results, capped at 1000. position: how many events were sealed then. Errors: PM002.';
grant execute on function memory.list_verifications to memory_worker, memory_reader, memory_admin;

create or replace function memory.chain_status()
  returns table (
    "position" bigint, -- noqa: RF06
    hash bytea,
    sealed_at timestamptz,
    unsealed_events bigint,
    verified_at timestamptz,
    verified_position bigint,
    verified_by text,
    problems integer
  )
  language plpgsql
  stable
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  return query
  select
    coalesce(h.position, 0), h.hash, h.sealed_at,
    (select count(*) from memory.unsealed_events(v_tenant_id) as e),
    v.verified_at, v.position, v.actor, v.problems
  from (values (true)) as o (one)
  left join memory.event_chain_heads as h on h.tenant_id = v_tenant_id
  left join lateral (
    select c.verified_at, c.position, c.actor, c.problems
    from memory.chain_verifications as c
    where c.tenant_id = v_tenant_id
    order by c.verified_at desc, c.id
    limit 1
  ) as v on true;
end;
$$;

comment on function memory.chain_status() is
'The end of the hash chain of the tenant, how many events wait for a seal, and when the chain was '
'verified last, by whom, up to which position and with how many problems: NULL if nobody has '
'recorded that (memory.record_verification).';
grant execute on function memory.chain_status to memory_worker, memory_reader, memory_admin;

commit;
