-- Deploy pymem:functions/core/lifecycle/cleanup to pg

begin;

set local role memory_owner;

create or replace function memory.close_reviews(tenant_id text)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with closed as (
    select r.id
    from memory.consolidation_runs as r
    where r.tenant_id = close_reviews.tenant_id and r.status = 'proposed'
      and not exists (
        select from memory.consolidation_proposals as p
        where p.tenant_id = r.tenant_id and p.run_id = r.id and p.status = 'proposed'
      )
    order by r.id
    for update
  )
  update memory.consolidation_runs as r
  set status = 'done'
  from closed as c
  where r.tenant_id = close_reviews.tenant_id and r.id = c.id;
$$;

comment on function memory.close_reviews(text) is
'Sets proposed runs of consolidation to done of which no proposal waits.';

create or replace function memory.run_episode_cleanup(
  max_entries integer default null,
  batch_size integer default 10000,
  as_of timestamptz default now()
)
  returns table (
    expired_deleted bigint,
    capacity_deleted bigint,
    remaining bigint,
    due bigint
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_max_entries integer := coalesce(max_entries, v_settings.episode_max_entries);
  v_grace interval := make_interval(secs => v_settings.episode_pending_grace_days * 86400);
  v_expired uuid[];
  v_surplus uuid[];
  v_ids uuid[];
  v_locked uuid[]; -- facts and rules drawn from these episodes
  v_busy uuid[]; -- episodes with others, which somebody else holds
begin
  perform
    memory.check_number('max_entries', v_max_entries, 0, 1000000000),
    memory.check_number('batch_size', batch_size, 1, 100000),
    memory.check_write_time('as_of', as_of);

  update memory.consolidation_runs as r
  set answer = null
  where r.tenant_id = v_tenant_id
    and r.id in (
      select o.id
      from memory.consolidation_runs as o
      where o.tenant_id = v_tenant_id and o.answer is not null
        and o.finished_at < as_of
          - make_interval(secs => v_settings.consolidation_answer_days * 86400)
      order by o.finished_at, o.id
      limit batch_size
      for update skip locked
    );

  perform memory.lock_embedding_versions(v_tenant_id);

  -- Skips locked rows: an episode that a fact is being drawn from is left for the next run.
  select coalesce(array_agg(x.id), '{}') into v_expired
  from (
    select e.id
    from memory.episodes as e
    where e.tenant_id = v_tenant_id
      and e.expires_at < as_of
      and (
        e.consolidation_status in ('consolidated', 'dead_letter') or e.expires_at < as_of - v_grace
      )
    order by e.expires_at, e.id
    limit batch_size
    for update skip locked
  ) as x;

  -- Counts and selects in one statement and locks afterwards: two concurrent cleanups select the
  -- same episodes, so together they delete no more than one would.
  select coalesce(array_agg(x.id), '{}') into v_surplus
  from (
    select e.id
    from memory.episodes as e
    where e.tenant_id = v_tenant_id
      and e.id = any (array(
        select o.id
        from memory.episodes as o
        where o.tenant_id = v_tenant_id
          and o.consolidation_status = 'consolidated'
          and (o.expires_at is null or o.expires_at >= as_of)
        order by o.created_at, o.id
        limit least(
          batch_size - cardinality(v_expired),
          greatest(
            (select count(*) from memory.episodes as a where a.tenant_id = v_tenant_id)
            - cardinality(v_expired) - v_max_entries,
            0
          )
        )
      ))
    order by e.id
    for update skip locked
  ) as x;
  v_ids := v_expired || v_surplus;

  -- Locked because the delete below clears their foreign keys. An episode whose facts or rules
  -- somebody else holds is left for the next run, too: to wait for them could be a deadlock, because
  -- the second update of a row in a transaction looks at its episode again.
  v_locked := array(
    select f.id
    from memory.facts as f
    where f.tenant_id = v_tenant_id and f.source_episode_id = any (v_ids)
    order by f.id
    for no key update skip locked
  ) || array(
    select r.id
    from memory.rules as r
    where r.tenant_id = v_tenant_id and r.source_episode_id = any (v_ids)
    order by r.id
    for no key update skip locked
  );
  v_busy := array(
    select s.source_episode_id
    from (
      select f.id, f.source_episode_id from memory.facts as f
      where f.tenant_id = v_tenant_id and f.source_episode_id = any (v_ids)
      union all
      select r.id, r.source_episode_id from memory.rules as r
      where r.tenant_id = v_tenant_id and r.source_episode_id = any (v_ids)
    ) as s
    left join unnest(v_locked) as l (id) on l.id = s.id
    where l.id is null
  );
  if v_busy <> '{}' then
    v_expired := array(select unnest(v_expired) except select unnest(v_busy));
    v_surplus := array(select unnest(v_surplus) except select unnest(v_busy));
    v_ids := v_expired || v_surplus;
  end if;
  -- An import may have set a source without a link; only the link outlives the episode.
  insert into memory.memory_links
    (tenant_id, source_type, source_id, target_type, target_id, relation)
  select v_tenant_id, s.source_type, s.id, 'episode', s.source_episode_id, 'derived_from'
  from (
    select 'fact' as source_type, f.id, f.source_episode_id from memory.facts as f
    where f.tenant_id = v_tenant_id and f.source_episode_id = any (v_ids)
    union all
    select 'rule', r.id, r.source_episode_id from memory.rules as r
    where r.tenant_id = v_tenant_id and r.source_episode_id = any (v_ids)
  ) as s
  order by s.source_type, s.id
  on conflict (tenant_id, source_type, source_id, target_type, target_id) do nothing;

  delete from memory.episodes as e where e.tenant_id = v_tenant_id and e.id = any (v_ids);

  delete from memory.consolidation_proposals as p
  where p.tenant_id = v_tenant_id
    and coalesce(p.decided_at, p.created_at)
      < as_of - make_interval(secs => v_settings.consolidation_proposal_days * 86400);
  perform memory.close_reviews(v_tenant_id);

  expired_deleted := cardinality(v_expired)::bigint;
  capacity_deleted := cardinality(v_surplus)::bigint;
  select count(*) into remaining from memory.episodes as e where e.tenant_id = v_tenant_id;
  due := 0;
  if expired_deleted + capacity_deleted = batch_size then
    select count(*) into due
    from memory.episodes as e
    where e.tenant_id = v_tenant_id
      and e.expires_at < as_of
      and (
        e.consolidation_status in ('consolidated', 'dead_letter') or e.expires_at < as_of - v_grace
      );
    if remaining - due > v_max_entries then
      select due + least(remaining - due - v_max_entries, count(*)) into due
      from memory.episodes as e
      where e.tenant_id = v_tenant_id
        and e.consolidation_status = 'consolidated'
        and (e.expires_at is null or e.expires_at >= as_of);
    end if;
  end if;
  return next;
end;
$$;

comment on function memory.run_episode_cleanup(integer, integer, timestamptz) is
'Deletes episodes that expired before as_of; then, beyond max_entries (default: the setting '
'episode_max_entries, 10000), the oldest consolidated ones. Never deletes unconsolidated episodes '
'for capacity. Memories drawn from a deleted episode keep their link, which resolves as expired. '
'Also deletes proposals of consolidation older than consolidation_proposal_days. '
'One call deletes at most batch_size episodes and returns how many of each kind, how many remain, '
'and how many more are due: call it again, in a new transaction, until none are due. Also deletes '
'the answers of the LLM that runs of consolidation have kept for consolidation_answer_days. '
'Errors: PM002 invalid argument.';
grant execute on function memory.run_episode_cleanup to memory_worker;

commit;
