-- Deploy pymem:functions/extras/operations/stats to pg

begin;

set local role memory_owner;

create or replace function memory.memory_stats(
  scope text default null,
  as_of timestamptz default now()
)
  returns jsonb
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_scope text := memory.visible_scope(scope);
begin
  if v_scope is not null then
    perform memory.check_text('scope', v_scope, 128);
  end if;
  perform memory.check_time('as_of', as_of);

  return jsonb_build_object(
    'episodes',
    (
      select jsonb_build_object(
        'total', count(*),
        'unconsolidated', count(*) filter (where e.consolidation_status = 'pending'),
        'backlog_age_hours', round(
          extract(
            epoch from as_of - min(e.created_at) filter (where e.consolidation_status = 'pending')
          ) / 3600,
          2
        ),
        'consolidated', count(*) filter (where e.consolidation_status = 'consolidated'),
        'failed', count(*) filter (where e.consolidation_status = 'failed'),
        'dead_letter', count(*) filter (where e.consolidation_status = 'dead_letter'),
        'expired', count(*) filter (where e.expires_at <= as_of)
      )
      from memory.episodes as e
      where e.tenant_id = v_tenant_id
    ),
    'facts',
    (
      select jsonb_build_object(
        'active', count(*) filter (where f.lifecycle_state = 'active'),
        'fading', count(*) filter (where f.lifecycle_state = 'fading'),
        'superseded', count(*) filter (where f.lifecycle_state = 'superseded'),
        'expired', count(*) filter (where f.lifecycle_state = 'expired'),
        'retracted', count(*) filter (where f.lifecycle_state = 'retracted')
      )
      from memory.facts as f
      where f.tenant_id = v_tenant_id
        and (v_scope is null or f.scope in ('global', v_scope))
    ),
    'rules',
    (
      select jsonb_build_object(
        'candidate', count(*) filter (where s.state = 'candidate'),
        'established', count(*) filter (where s.state = 'established'),
        'proven', count(*) filter (where s.state = 'proven'),
        'anti_pattern', count(*) filter (where s.state = 'anti_pattern'),
        'forgotten', count(*) filter (where s.state = 'forgotten')
      )
      from (
        select case r.lifecycle_state when 'retracted' then 'forgotten' else r.maturity end as state
        from memory.rules as r
        where r.tenant_id = v_tenant_id
          and (v_scope is null or r.scope in ('global', v_scope))
      ) as s
    ),
    'entries',
    (
      select jsonb_build_object(
        'active', count(*) filter (where e.lifecycle_state = 'active' and e.retention = 'active'),
        'aging', count(*) filter (where e.lifecycle_state = 'active' and e.retention = 'aging'),
        'aged', count(*) filter (where e.lifecycle_state = 'aged'),
        'archived', count(*) filter (where e.lifecycle_state = 'archived'),
        'guarded', count(*) filter (where e.lifecycle_state = 'guarded'),
        'expired', count(*) filter (where e.lifecycle_state = 'expired'),
        'deleted', count(*) filter (where e.lifecycle_state = 'retracted'),
        'flagged', count(*) filter (
          where e.flagged_at is not null and e.lifecycle_state in ('active', 'aged', 'archived')
        )
      )
      from memory.entries as e
      where e.tenant_id = v_tenant_id
        and (v_scope is null or e.scope in ('global', v_scope))
    ),
    'embeddings',
    (
      select jsonb_build_object('pending', count(*))
      from memory.embedding_queue as q
      where q.tenant_id = v_tenant_id and q.target = 'active'
    )
  );
end;
$$;

comment on function memory.memory_stats(text, timestamptz) is
'How much the tenant stores, as a JSON object: episodes (total, unconsolidated, backlog_age_hours: '
'the age of the oldest unconsolidated one or null, consolidated, failed, dead_letter; these '
'include expired ones), facts by state (active excludes fading), rules by maturity (forgotten ones '
'separately), entries by state (active without aging; flagged: waiting for review), embeddings '
'pending. scope: only facts, rules and entries of this scope and of global, "*": all, NULL: as in '
'memory.visible_scope; episodes are counted in every scope. Errors: PM002.';
grant execute on function memory.memory_stats to memory_writer, memory_reader, memory_admin;

commit;
