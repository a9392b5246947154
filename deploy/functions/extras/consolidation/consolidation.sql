-- Deploy pymem:functions/extras/consolidation/consolidation to pg

begin;

set local role memory_owner;

-- begin atomic instead of SET search_path, so that the planner inlines the function.
-- noqa: disable=AM04,RF01,RF03
create or replace function memory.due_episodes(
  tenant_id text,
  butler text,
  as_of timestamptz
)
  returns setof memory.episodes
  language sql
  stable
begin atomic
  select e.*
  from memory.episodes as e
  where e.tenant_id = due_episodes.tenant_id
    and (due_episodes.butler is null or e.butler = due_episodes.butler)
    and (e.consolidation_status = 'pending' or e.consolidation_status = 'failed')
    and (
      e.consolidation_status = 'pending'
      or e.next_consolidation_retry_at is null or e.next_consolidation_retry_at <= as_of
    )
    and (e.expires_at is null or e.expires_at > as_of);
end;

-- noqa: enable=AM04,RF01,RF03

comment on function memory.due_episodes(text, text, timestamptz) is
'The episodes of a butler (NULL: of all) that are due for consolidation: pending ones, and failed '
'ones whose retry time has passed. Expired ones are left to the cleanup.';

create or replace function memory.list_due_consolidations(as_of timestamptz default now())
  returns table (
    butler text,
    waiting bigint,
    oldest_at timestamptz,
    is_running boolean,
    is_due boolean,
    retrying bigint,
    leased_until timestamptz,
    next_try_at timestamptz
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_interval interval := make_interval(secs => v_settings.consolidation_interval_hours * 3600);
begin
  perform memory.check_time('as_of', as_of);
  return query
  select
    w.butler, w.waiting, w.oldest_at, r.is_running,
    not r.is_running and w.waiting > 0 and t.next_try_at is null and (
      w.waiting >= v_settings.consolidation_episode_threshold
      or w.has_retry
      or u.tries > 0
      or r.last_at is null
      or r.last_at <= as_of - v_interval
    ),
    w.retrying, r.leased_until, t.next_try_at
  from (
    select
      e.butler,
      count(*) filter (where d.is_due) as waiting,
      count(*) filter (where not d.is_due) as retrying,
      coalesce(min(e.created_at) filter (where d.is_due), min(e.created_at)) as oldest_at,
      min(e.next_consolidation_retry_at) filter (where not d.is_due) as retry_at,
      bool_or(d.is_due and e.consolidation_status = 'failed') as has_retry
    from memory.episodes as e
    cross join lateral (
      select
        e.consolidation_status = 'pending'
        or e.next_consolidation_retry_at is null
        or e.next_consolidation_retry_at <= as_of as is_due
    ) as d
    where e.tenant_id = v_tenant_id
      and (e.consolidation_status = 'pending' or e.consolidation_status = 'failed')
      and (e.expires_at is null or e.expires_at > as_of)
    group by e.butler
  ) as w
  cross join lateral (
    select
      coalesce(bool_or(c.status = 'running' and c.leased_until > as_of), false) as is_running,
      max(c.leased_until) filter (where c.status = 'running' and c.leased_until > as_of)
        as leased_until,
      max(c.started_at) filter (where c.status not in ('running', 'abandoned')) as last_at,
      max(c.started_at) filter (
        where c.status not in ('running', 'abandoned') and c.was_answered is not false
      ) as answered_at
    from memory.consolidation_runs as c
    where c.tenant_id = v_tenant_id and c.butler = w.butler
  ) as r
  -- Runs since then in which the LLM could not be reached.
  cross join lateral (
    select
      count(*) as tries,
      max(c.finished_at) + least(
        interval '1 minute' * 2 ^ least(count(*), 20), greatest(v_interval, interval '2 minutes')
      ) as retry_at
    from memory.consolidation_runs as c
    where c.tenant_id = v_tenant_id and c.butler = w.butler
      and c.status = 'failed' and c.was_answered = false
      and (r.answered_at is null or c.started_at > r.answered_at)
  ) as u
  cross join lateral (
    select max(n.retry_at) as next_try_at
    from (values (u.retry_at), (case when w.waiting = 0 then w.retry_at end)) as n (retry_at)
    where n.retry_at > as_of
  ) as t
  order by w.oldest_at, w.butler;
end;
$$;

comment on function memory.list_due_consolidations(timestamptz) is
'The butlers with episodes that are not consolidated, longest waiting first: how many wait now '
'(waiting, those of a run in progress included) and how many for the time of their retry '
'(retrying); whether a run is in progress, and until when it holds its lease (leased_until); and '
'when the next try is due (next_try_at; NULL: now), 2, 4, 8, … minutes after runs that failed, or '
'in which the LLM could not be reached, but then at most consolidation_interval_hours. is_due: no '
'run is in progress, the time of the next try has come, and a retry is due, '
'consolidation_episode_threshold episodes wait, or consolidation_interval_hours have passed since '
'the last run began (or there was none). Errors: PM002.';
grant execute on function memory.list_due_consolidations to memory_worker;

create or replace function memory.next_batch(
  tenant_id text,
  butler text,
  batch_size integer,
  max_tokens integer,
  as_of timestamptz
)
  returns uuid[]
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(array_agg(b.id order by b.place), '{}')
  from (
    select
      o.id, o.place,
      min(o.consolidation_batch_limit) over w as batch_limit,
      sum(o.tokens) over w as tokens
    from (
      select
        e.id, e.consolidation_batch_limit,
        -- Of a text stored out of line, this reads only the length.
        (octet_length(e.content) + 3) / 4 as tokens,
        row_number() over (order by e.created_at, e.id) as place
      from memory.due_episodes(next_batch.tenant_id, next_batch.butler, as_of) as e
      order by e.created_at, e.id
      limit batch_size
    ) as o
    window w as (order by o.place)
  ) as b
  where b.place <= coalesce(b.batch_limit, b.place) and (b.tokens <= max_tokens or b.place = 1);
$$;

comment on function memory.next_batch(text, text, integer, integer, timestamptz) is
'The oldest due episodes of a butler that make a batch: at most batch_size, at most max_tokens '
'together (a longer one goes alone), and no more than the consolidation_batch_limit of any of '
'them.';

create or replace function memory.claim_episodes(
  butler text default null,
  batch_size integer default null,
  lease interval default null,
  max_tokens integer default null,
  as_of timestamptz default now()
)
  returns table (
    run_id uuid,
    episode_butler text,
    episode_id uuid,
    content text,
    created_at timestamptz,
    importance float8,
    session_id uuid,
    source_class text
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_batch_size integer := coalesce(batch_size, v_settings.consolidation_batch_size);
  v_max_tokens integer := coalesce(max_tokens, v_settings.consolidation_batch_tokens);
  v_lease interval := coalesce(
    lease, make_interval(secs => v_settings.consolidation_lease_minutes * 60)
  );
  v_butler text;
  v_run_id uuid;
  v_ids uuid[];
begin
  perform
    memory.check_number('batch_size', v_batch_size, 1, 10000),
    memory.check_number('max_tokens', v_max_tokens, 1, 10000000),
    memory.check_number('lease', extract(epoch from v_lease)::float8, 1, 604800),
    memory.check_write_time('as_of', as_of);

  update memory.consolidation_runs as r
  set status = 'abandoned', finished_at = as_of
  where r.tenant_id = v_tenant_id
    and r.id in (
      select a.id
      from memory.consolidation_runs as a
      where a.tenant_id = v_tenant_id and a.status = 'running' and a.leased_until <= as_of
      order by a.id
      for update skip locked
    );

  for v_butler in
    select e.butler
    from memory.due_episodes(v_tenant_id, claim_episodes.butler, as_of) as e
    group by e.butler
    order by min(e.created_at), e.butler
  loop
    insert into memory.consolidation_runs as r (tenant_id, butler, started_at, leased_until)
    values (v_tenant_id, v_butler, as_of, as_of + v_lease)
    on conflict (tenant_id, butler) where status = 'running' do nothing
    returning r.id into v_run_id;
    continue when v_run_id is null;

    -- Selected after taking the lease, because its previous holder may just have finished.
    v_ids := memory.next_batch(v_tenant_id, v_butler, v_batch_size, v_max_tokens, as_of);
    if v_ids = '{}' then
      delete from memory.consolidation_runs as r
      where r.tenant_id = v_tenant_id and r.id = v_run_id;
      v_run_id := null;
      continue;
    end if;
    update memory.consolidation_runs as r
    set episode_ids = v_ids
    where r.tenant_id = v_tenant_id and r.id = v_run_id;

    return query
    select
      v_run_id, v_butler, e.id, e.content, e.created_at, e.importance, e.session_id,
      e.source_class
    from memory.episodes as e
    where e.tenant_id = v_tenant_id and e.id = any (v_ids)
    order by e.created_at, e.id;
    return;
  end loop;
end;
$$;

comment on function memory.claim_episodes(text, integer, interval, integer, timestamptz) is
'Claims for one worker the oldest episodes of one butler that wait for consolidation, ordered by '
'created_at and id, with the run that holds the lease: until the worker ends the run '
'(apply_consolidation, fail_consolidation) or the lease expires, no other worker gets episodes of '
'this butler. butler NULL: the one whose oldest episode has waited longest. A batch has at most '
'batch_size episodes and max_tokens tokens, a quarter of their octets (a longer episode goes '
'alone; defaults: settings consolidation_batch_size, consolidation_batch_tokens), and at most half '
'as many as one that failed. No rows: nothing waits, or other workers hold the leases. Errors: '
'PM002.';
grant execute on function memory.claim_episodes to memory_worker;

create or replace function memory.lock_run(
  tenant_id text,
  run_id uuid
)
  returns memory.consolidation_runs
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_run memory.consolidation_runs;
begin
  select r.* into v_run
  from memory.consolidation_runs as r
  where r.tenant_id = lock_run.tenant_id and r.id = lock_run.run_id
  for update;
  if not found then
    raise exception 'no consolidation run has id %', run_id
      using errcode = 'PM001', hint = 'Pass the run_id that memory.claim_episodes returned.';
  end if;
  return v_run;
end;
$$;

comment on function memory.lock_run(text, uuid) is
'Locks a run and returns it. Errors: PM001.';

create or replace function memory.refuse_lost_lease(run memory.consolidation_runs)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception 'consolidation run % is % and no longer yours', run.id, run.status
    using errcode = 'PM003', hint = 'Discard this result and claim episodes again.';
end;
$$;

comment on function memory.refuse_lost_lease(memory.consolidation_runs) is
'Raises PM003: the run has ended, or its lease expired and was taken over.';

create or replace function memory.extend_lease(
  run_id uuid,
  lease interval default null,
  as_of timestamptz default now()
)
  returns timestamptz
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_lease interval := coalesce(
    lease, make_interval(secs => v_settings.consolidation_lease_minutes * 60)
  );
  v_run memory.consolidation_runs := memory.lock_run(v_settings.tenant_id, extend_lease.run_id);
begin
  perform
    memory.check_number('lease', extract(epoch from v_lease)::float8, 1, 604800),
    memory.check_write_time('as_of', as_of);
  if v_run.status <> 'running' then
    perform memory.refuse_lost_lease(v_run);
  end if;
  update memory.consolidation_runs as r
  set leased_until = greatest(r.leased_until, as_of + v_lease)
  where r.tenant_id = v_run.tenant_id and r.id = v_run.id;
  return greatest(v_run.leased_until, as_of + v_lease);
end;
$$;

comment on function memory.extend_lease(uuid, interval, timestamptz) is
'Extends the lease of a run; returns when it ends. Errors: PM001 unknown run, PM002, PM003 the '
'lease was lost.';
grant execute on function memory.extend_lease to memory_worker;

create or replace function memory.release_run(
  run_id uuid,
  as_of timestamptz default now()
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
  v_run memory.consolidation_runs := memory.lock_run(v_tenant_id, release_run.run_id);
begin
  perform memory.check_write_time('as_of', as_of);
  update memory.consolidation_runs as r
  set status = 'abandoned', finished_at = as_of
  where r.tenant_id = v_tenant_id and r.id = v_run.id and r.status = 'running';
  return found;
end;
$$;

comment on function memory.release_run(uuid, timestamptz) is
'Releases the episodes of a run at once, as if never claimed: for a worker that is being stopped, '
'or by hand for one that has died. False: the run has already ended. Errors: PM001, PM002.';
grant execute on function memory.release_run to memory_worker, memory_admin;

create or replace function memory.end_run(
  run memory.consolidation_runs,
  settings memory.settings,
  status text,
  prompt_version text,
  model text,
  was_answered boolean,
  answer text,
  prompt_tokens integer,
  answer_tokens integer,
  llm_seconds float8,
  as_of timestamptz
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  update memory.consolidation_runs as r
  set
    status = end_run.status,
    finished_at = as_of,
    prompt_version = coalesce(
      nullif(memory.truncate_utf8(end_run.prompt_version, 128), ''), r.prompt_version
    ),
    -- An LLM service tells its model itself.
    model = coalesce(
      case
        when not memory.has_invisible(end_run.model)
        then nullif(memory.truncate_utf8(end_run.model, 512), '')
      end,
      r.model
    ),
    was_answered = end_run.was_answered,
    answer = nullif(
      memory.truncate_utf8(end_run.answer, (end_run.settings).consolidation_answer_octets), ''
    ),
    prompt_tokens = case when end_run.prompt_tokens >= 0 then end_run.prompt_tokens end,
    answer_tokens = case when end_run.answer_tokens >= 0 then end_run.answer_tokens end,
    llm_seconds = case
      when end_run.llm_seconds >= 0 and end_run.llm_seconds < 'infinity' then end_run.llm_seconds
    end
  where r.tenant_id = (run).tenant_id and r.id = (run).id;
$$;

comment on function memory.end_run(
  memory.consolidation_runs, memory.settings, text, text, text, boolean, text, integer, integer,
  float8, timestamptz
) is
'Ends a run. What is only noted about the LLM and its answer is shortened, or left out if it makes '
'no sense, rather than refused: the answer has been paid for.';

create or replace function memory.fail_consolidation(
  run_id uuid,
  error text,
  prompt_version text default null,
  model text default null,
  was_answered boolean default true,
  answer text default null,
  prompt_tokens integer default null,
  answer_tokens integer default null,
  llm_seconds float8 default null,
  as_of timestamptz default now()
)
  returns table (
    failed bigint,
    dead_lettered bigint
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_run memory.consolidation_runs := memory.lock_run(v_tenant_id, fail_consolidation.run_id);
  v_error text := coalesce(
    nullif(memory.truncate_utf8(memory.collapse_whitespace(error), 4096), ''),
    'no reason was given'
  );
  v_size integer := cardinality(v_run.episode_ids);
  v_was_answered boolean := coalesce(fail_consolidation.was_answered, true);
begin
  perform memory.check_write_time('as_of', as_of);
  if v_run.status <> 'running' then
    perform memory.refuse_lost_lease(v_run);
  end if;

  with batch as (
    select e.id
    from memory.episodes as e
    where e.tenant_id = v_tenant_id and e.id = any (v_run.episode_ids)
      and e.consolidation_status in ('pending', 'failed')
      and v_was_answered
    order by e.id
    for no key update
  ),
  changed as (
    update memory.episodes as e
    set
      consolidation_attempts = e.consolidation_attempts + 1,
      consolidation_status = case when n.is_last then 'dead_letter' else 'failed' end,
      last_consolidation_error = v_error,
      next_consolidation_retry_at = case
        when not n.is_last
        then as_of + interval '1 minute' * 2 ^ least(e.consolidation_attempts + 1, 20)
      end,
      consolidation_batch_limit = greatest(1, v_size / 2),
      updated_at = memory.next_state_at(e.updated_at, as_of)
    from batch as b
    join memory.episodes as o on o.tenant_id = v_tenant_id and o.id = b.id
    cross join lateral (
      select
        v_size = 1 and o.consolidation_attempts + 1 >= v_settings.consolidation_max_attempts
          as is_last
    ) as n
    where e.tenant_id = v_tenant_id and e.id = b.id
    returning e.consolidation_status
  )
  select
    count(*) filter (where c.consolidation_status = 'failed'),
    count(*) filter (where c.consolidation_status = 'dead_letter')
  into failed, dead_lettered
  from changed as c;

  perform memory.end_run(
    v_run, v_settings, 'failed', prompt_version, model, v_was_answered, answer, prompt_tokens,
    answer_tokens, llm_seconds, as_of
  );
  update memory.consolidation_runs as r
  set errors = r.errors || jsonb_build_object('message', v_error)
  where r.tenant_id = v_tenant_id and r.id = v_run.id;
  return next;
end;
$$;

comment on function memory.fail_consolidation(
  uuid, text, text, text, boolean, text, integer, integer, float8, timestamptz
) is
'Ends a run without applying anything. Its episodes are retried after 2^attempts minutes, in '
'batches of at most half the size; one that has failed alone, and consolidation_max_attempts times '
'in all, becomes a dead letter. was_answered false: the LLM could not be reached, so this is no '
'attempt, and the episodes stay as they are; memory.list_due_consolidations says when to try '
'again. Keeps the beginning of the answer (memory.get_consolidation_answer), tokens and seconds. '
'Returns how many episodes will be retried and how many have become dead letters. Errors: PM001 '
'unknown run, PM002, PM003 the lease was lost.';
grant execute on function memory.fail_consolidation to memory_worker;

create or replace function memory.close_episodes(
  tenant_id text,
  episode_ids uuid[],
  as_of timestamptz
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  update memory.episodes as e
  set
    consolidation_status = 'consolidated',
    last_consolidation_error = null,
    next_consolidation_retry_at = null,
    consolidation_batch_limit = null,
    updated_at = memory.next_state_at(e.updated_at, as_of)
  where e.tenant_id = close_episodes.tenant_id
    and e.id in (
      select b.id
      from memory.episodes as b
      where b.tenant_id = close_episodes.tenant_id and b.id = any (episode_ids)
        and b.consolidation_status in ('pending', 'failed')
      order by b.id
      for no key update
    );
$$;

comment on function memory.close_episodes(text, uuid[], timestamptz) is
'Ends the waiting of episodes for consolidation: nothing is to be made of them, or it is made.';

create or replace function memory.made_nothing(run memory.consolidation_runs)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    run.status <> 'done'
    or run.facts_created + run.facts_ended + run.rules_created + run.rules_changed
    + run.rules_withdrawn + run.confirmed + run.contradicted = 0;
$$;

comment on function memory.made_nothing(memory.consolidation_runs) is
'Whether nothing stands that a run has made: it was undone, has failed, or its answer was empty.';

create or replace function memory.requeue(
  tenant_id text,
  episode_ids uuid[],
  states text[],
  as_of timestamptz
)
  returns bigint
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_requeued bigint;
begin
  with requeued as (
    select e.id
    from memory.episodes as e
    where e.tenant_id = requeue.tenant_id
      and (requeue.episode_ids is null or e.id = any (requeue.episode_ids))
      and e.consolidation_status = any (states)
    order by e.id
    for no key update
  )
  update memory.episodes as e
  set
    consolidation_status = 'pending',
    consolidation_attempts = 0,
    last_consolidation_error = null,
    next_consolidation_retry_at = null,
    consolidation_batch_limit = null,
    updated_at = memory.next_state_at(e.updated_at, as_of)
  from requeued as r
  where e.tenant_id = requeue.tenant_id and e.id = r.id;
  get diagnostics v_requeued = row_count;
  return v_requeued;
end;
$$;

comment on function memory.requeue(text, uuid[], text[], timestamptz) is
'Makes episodes in one of the states pending again, as if never tried: the given ones, or all '
'(NULL). Returns how many.';

create or replace function memory.requeue_episodes(
  episode_ids uuid[] default null,
  as_of timestamptz default now()
)
  returns bigint
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_unknown text;
begin
  perform memory.check_write_time('as_of', as_of);
  select quote_nullable(u.id::text) into v_unknown
  from unnest(requeue_episodes.episode_ids) with ordinality as u (id, place)
  where not exists (
    select from memory.episodes as e where e.tenant_id = v_tenant_id and e.id = u.id
  )
  order by u.place
  limit 1;
  if v_unknown is not null then
    raise exception 'no episode has id %', v_unknown
      using errcode = 'PM001', hint = 'Pass ids of episodes; expired ones may have been deleted.';
  end if;
  return memory.requeue(
    v_tenant_id, requeue_episodes.episode_ids,
    case
      when requeue_episodes.episode_ids is null then '{dead_letter}'::text[]
      else '{failed,dead_letter}'
    end,
    as_of
  );
end;
$$;

comment on function memory.requeue_episodes(uuid[], timestamptz) is
'Makes failed episodes and dead letters pending again, as if never tried: the given ones, or all '
'dead letters. Returns how many: those in another state stay as they are. For episodes that are '
'consolidated see memory.requeue_run. Errors: PM001 unknown episode, PM002.';
grant execute on function memory.requeue_episodes to memory_worker, memory_admin;

create or replace function memory.requeue_run(
  run_id uuid,
  as_of timestamptz default now()
)
  returns bigint
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_run memory.consolidation_runs := memory.lock_run(v_tenant_id, requeue_run.run_id);
begin
  perform memory.check_write_time('as_of', as_of);
  if v_run.status in ('running', 'proposed') or not memory.made_nothing(v_run) then
    raise exception 'consolidation run % is %', v_run.id, v_run.status
      using errcode = 'PM003',
        hint = case v_run.status
          when 'running' then 'Wait until it ends, or release it with memory.release_run.'
          when 'proposed'
          then 'Decide about it first, with memory.accept_proposals or memory.reject_proposals.'
          else 'Undo it first, with memory.undo_consolidation.'
        end;
  end if;
  return memory.requeue(
    v_tenant_id,
    array(
      select e.id
      from memory.episodes as e
      where e.tenant_id = v_tenant_id and e.id = any (v_run.episode_ids)
        and (e.expires_at is null or e.expires_at > as_of)
        -- What a later run has made of it stands.
        and not exists (
          select from memory.consolidation_runs as r
          where r.tenant_id = v_tenant_id and r.butler = v_run.butler
            and r.started_at >= v_run.started_at and r.id <> v_run.id
            and e.id = any (r.episode_ids)
            and (r.status = 'proposed' or not memory.made_nothing(r))
        )
      order by e.id
    ),
    '{consolidated,failed,dead_letter}',
    as_of
  );
end;
$$;

comment on function memory.requeue_run(uuid, timestamptz) is
'Makes the episodes of a run pending again, for another try with another prompt or model: of one '
'that was undone, that failed, or that made nothing. Episodes that have expired, or of which a '
'later run has made something, stay as they are. Returns how many are pending again. Errors: PM001 '
'unknown run, PM002, PM003 the run is in progress, waits for a review, or must be undone first.';
grant execute on function memory.requeue_run to memory_worker, memory_admin;

create or replace function memory.get_consolidation_answer(run_id uuid)
  returns text
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_answer text;
begin
  select r.answer into v_answer
  from memory.consolidation_runs as r
  where r.tenant_id = v_tenant_id and r.id = get_consolidation_answer.run_id;
  if not found then
    raise exception 'no consolidation run has id %', run_id
      using errcode = 'PM001',
        hint = 'Pass the id of a run that memory.list_consolidation_runs returned.';
  end if;
  return v_answer;
end;
$$;

comment on function memory.get_consolidation_answer(uuid) is
'The answer of the LLM in a run, up to consolidation_answer_octets of it; NULL if there is none, '
'or not any more after consolidation_answer_days. Errors: PM001 unknown run.';
grant execute on function memory.get_consolidation_answer
to memory_worker, memory_reader, memory_admin;

commit;
