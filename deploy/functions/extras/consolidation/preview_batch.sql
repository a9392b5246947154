-- Deploy pymem:functions/extras/consolidation/preview_batch to pg

begin;

set local role memory_owner;

create or replace function memory.preview_batch(
  butler text default null,
  batch_size integer default null,
  max_tokens integer default null,
  as_of timestamptz default now()
)
  returns jsonb
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_episodes jsonb;
  v_known jsonb;
  v_is_seen boolean := false;
begin
  -- Claimed in a subtransaction that is rolled back: no other rule picks the same batch for sure,
  -- nor knows what the claim would be shown. Variables keep their values.
  begin
    select jsonb_agg(to_jsonb(c) order by c.created_at, c.episode_id) into v_episodes
    from memory.claim_episodes(
      preview_batch.butler, preview_batch.batch_size,
      max_tokens => preview_batch.max_tokens, as_of => preview_batch.as_of
    ) as c;
    v_known := memory.get_consolidation_context(
      v_episodes #>> '{0,episode_butler}',
      run_id => (v_episodes #>> '{0,run_id}')::uuid,
      as_of => preview_batch.as_of
    )
    where v_episodes is not null;
    v_is_seen := true;
    raise exception 'a preview claims nothing' using errcode = 'PM003', hint = 'Caught below.';
  exception
    when sqlstate 'PM003' then
      if not v_is_seen then
        raise;
      end if;
  end;
  return jsonb_build_object('episodes', v_episodes, 'known', v_known)
  where v_episodes is not null;
end;
$$;

comment on function memory.preview_batch(text, integer, integer, timestamptz) is
'What a worker that calls memory.claim_episodes with these arguments now would get, without '
'claiming it: {"episodes": […], "known": {…}}, the rows of memory.claim_episodes and what '
'memory.get_consolidation_context says for their run. NULL if there is nothing to claim. Errors: '
'PM002.';
grant execute on function memory.preview_batch to memory_worker;

commit;
