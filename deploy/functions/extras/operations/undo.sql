-- Deploy pymem:functions/extras/operations/undo to pg

begin;

set local role memory_owner;

create or replace function memory.lock_undo(
  tenant_id text,
  plan memory.planned_undo
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_type text;
begin
  if plan.memory_ids = '{}' then
    -- The function that takes the write back locks what it changes; settings are compared first.
    if plan.inverse = 'configure' then
      perform from memory.settings as s where s.tenant_id = lock_undo.tenant_id for update;
    end if;
    return;
  end if;

  if plan.inverse = 'reopen proposals' then
    perform memory.lock_run(tenant_id, (plan.details ->> 'run_id')::uuid);
  end if;
  perform memory.lock_embedding_versions(tenant_id);
  if plan.memory_type = 'entity' then
    perform from memory.entities as e
    where e.tenant_id = lock_undo.tenant_id and e.id = any (plan.memory_ids)
    order by e.id
    for no key update;
    return;
  end if;
  perform memory.lock_entities_of_facts(tenant_id, plan.memory_ids);
  -- A fact may have come under the key of an entity with the write that is undone.
  insert into memory.fact_keys (tenant_id, scope, anchor, predicate)
  select distinct lock_undo.tenant_id, f.scope, k.anchor, f.predicate_key
  from memory.facts as f
  cross join lateral (
    select memory.fact_anchor(f.entity_id, f.subject_key) as anchor
    union all
    select memory.fact_anchor((h.image ->> 'entity_id')::uuid, f.subject_key)
    from memory.memory_history as h
    where h.tenant_id = lock_undo.tenant_id and h.memory_type = 'fact' and h.memory_id = f.id
      and h.known_to = f.updated_at
  ) as k
  where f.tenant_id = lock_undo.tenant_id and f.id = any (plan.memory_ids)
  order by 2, 3, 4
  on conflict (tenant_id, scope, anchor, predicate) do update set scope = excluded.scope;
  foreach v_type in array memory.recorded_type_names() loop
    continue when v_type = 'entity';
    execute format(
      'select from memory.%I as m
       where m.tenant_id = $1 and m.id = any ($2) order by m.id for no key update',
      memory.table_of(v_type)
    ) using tenant_id, plan.memory_ids;
  end loop;
end;
$$;

comment on function memory.lock_undo(text, memory.planned_undo) is
'Locks what an undo changes, each kind of row in the order of locks.';

create or replace function memory.reverse_change(
  tenant_id text,
  memory_type text,
  memory_id uuid,
  written_at timestamptz,
  as_of timestamptz
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- like the stored images
  set extra_float_digits = 1
as $$
#variable_conflict use_column
declare
  v_images record := memory.images_around(tenant_id, memory_type, memory_id, written_at);
  v_target jsonb := memory.reversed_image(memory_type, v_images.before, v_images.today);
  v_table name := memory.table_of(memory_type);
  v_changed text;
begin
  if v_images.before is null then
    -- Stored and superseded by one statement: no earlier state was recorded.
    if v_images.today ->> 'validity' = 'superseded' then
      perform memory.restore_memory('fact', memory_id, as_of);
    end if;
    return;
  end if;
  select string_agg(format('%1$I = b.%1$I', c.column_name), ', ' order by c.column_name)
  into v_changed
  from memory.changing_columns(memory_type) as c
  where not c.is_generated
    and v_target -> c.column_name is distinct from v_images.today -> c.column_name;
  if v_changed is null then
    return;
  end if;
  execute format(
    'update memory.%1$I as m
     set %2$s, updated_at = memory.next_state_at(m.updated_at, $3)
     from jsonb_populate_record(null::memory.%1$I, $4) as b
     where m.tenant_id = $1 and m.id = $2',
    v_table, v_changed
  ) using tenant_id, memory_id, as_of, v_target;
end;
$$;

comment on function memory.reverse_change(text, text, uuid, timestamptz, timestamptz) is
'Makes a memory or entity what it was before the transaction of a time changed it.';

create or replace function memory.reopen_proposals(
  tenant_id text,
  details jsonb
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_run_id uuid := (details ->> 'run_id')::uuid;
  v_positions bigint[] := array(
    select p.position::bigint
    from jsonb_array_elements_text(details -> 'positions') as p (position)
    order by 1
  );
  v_outcomes text[];
  v_errors jsonb;
begin
  select
    array_agg(
      case when p.status = 'rejected' then 'rejected' else p.outcome end order by p.position
    ),
    coalesce(
      jsonb_agg(
        jsonb_build_object('action', p.action, 'position', p.position, 'message', p.outcome)
        order by p.position
      ) filter (where p.status = 'rejected'),
      '[]'
    )
  into v_outcomes, v_errors
  from memory.consolidation_proposals as p
  where p.tenant_id = reopen_proposals.tenant_id and p.run_id = v_run_id
    and p.position = any (v_positions);
  perform memory.count_outcomes(tenant_id, v_run_id, v_outcomes, '[]', -1);
  update memory.consolidation_proposals as p
  set status = 'proposed', outcome = null, decided_at = null
  where p.tenant_id = reopen_proposals.tenant_id and p.run_id = v_run_id
    and p.position = any (v_positions);
  -- Where all its actions were proposed, none was kept because of what is known.
  update memory.consolidation_runs as r
  set
    status = case when r.contradicted = 0 then 'proposed' else r.status end,
    errors = coalesce(
      (
        select jsonb_agg(e.error order by e.place)
        from jsonb_array_elements(r.errors) with ordinality as e (error, place)
        where not exists (
          select from jsonb_array_elements(v_errors) as u (error) where e.error @> u.error
        )
      ),
      '[]'
    )
  where r.tenant_id = reopen_proposals.tenant_id and r.id = v_run_id;
end;
$$;

comment on function memory.reopen_proposals(text, jsonb) is
'Lets proposals that were decided wait again, and takes them out of the counts of their run.';

create or replace function memory.carry_out_undo(
  tenant_id text,
  plan memory.planned_undo,
  as_of timestamptz
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_event memory.memory_events := memory.find_event(tenant_id, plan.event_id);
  v_going uuid[];
  v_effects memory.planned_undo[];
  v_effect memory.planned_undo;
  v_pattern jsonb := plan.details -> 'pattern';
begin
  case plan.inverse
    when 'forget' then
      perform memory.take_back(tenant_id, plan.memory_type, array[plan.memory_id], as_of);
      perform memory.reverse_change(
        tenant_id, plan.memory_type, p.id::uuid, v_event.created_at, as_of
      )
      from jsonb_array_elements_text(coalesce(plan.details -> 'predecessors', '[]')) as p (id);
      -- Another fact may have come late, too.
      update memory.facts as f
      set valid_to = n.starts_at, updated_at = memory.next_state_at(f.updated_at, as_of)
      from memory.facts as e
      cross join lateral memory.next_start(
        e.tenant_id, e.scope, e.subject, e.entity_id, e.predicate, e.valid_from
      ) as n (starts_at)
      where e.tenant_id = carry_out_undo.tenant_id and plan.details -> 'ended' ? e.id::text
        and n.starts_at < e.valid_to
        and f.tenant_id = e.tenant_id and f.id = e.id;

    when 'reverse' then
      delete from memory.rule_applications as a
      where a.tenant_id = carry_out_undo.tenant_id
        and plan.details -> 'rule_application_ids' ? a.id::text
        and a.rule_id = plan.memory_id;
      if plan.memory_id is not null then
        perform memory.reverse_change(
          tenant_id, plan.memory_type, plan.memory_id, v_event.created_at, as_of
        );
      end if;
      delete from memory.memory_links as l
      using jsonb_to_recordset(plan.details -> 'links') as n (
        source_type text, source_id uuid, target_type text, target_id uuid
      )
      where l.tenant_id = carry_out_undo.tenant_id
        and l.source_type = n.source_type and l.source_id = n.source_id
        and l.target_type = n.target_type and l.target_id = n.target_id;

    when 'reopen proposals' then
      select
        coalesce(
          array_agg(e.memory_id order by e.seq) filter (where e.event_type = 'fact_created'), '{}'
        )
      into v_going
      from memory.events_of_write(v_event) as e;
      v_effects := array(
        select memory.plan_undo(
          memory.find_event(tenant_id, e.id::uuid), false, v_going, carry_out_undo.as_of
        )
        from jsonb_array_elements_text(plan.details -> 'effects') with ordinality as e (id, place)
        order by e.place
      );
      foreach v_effect in array v_effects loop
        perform memory.carry_out_undo(tenant_id, v_effect, as_of);
      end loop;
      perform memory.reopen_proposals(tenant_id, plan.details);

    when 'unamend' then
      perform memory.change_proposal(
        memory.lock_run(tenant_id, (plan.details ->> 'run_id')::uuid),
        (plan.details ->> 'position')::bigint, null, as_of
      );
    when 'split' then
      perform memory.undo_entry_merge(e.entry_id, as_of)
      from memory.entries as e
      where e.tenant_id = carry_out_undo.tenant_id and e.id = plan.memory_id;
    when 'unmerge' then
      perform memory.entity_unmerge(plan.memory_id, as_of);
    when 'merge' then
      perform memory.entity_merge(
        plan.memory_id, (plan.details ->> 'target_entity_id')::uuid, as_of
      );
    when 'reopen' then
      perform memory.reopen_contradiction(p.first_type, p.first_id, p.second_type, p.second_id)
      from jsonb_to_record(plan.details)
        as p (first_type text, first_id uuid, second_type text, second_id uuid);
    when 'dismiss' then
      perform memory.dismiss_contradiction(
        p.first_type, p.first_id, p.second_type, p.second_id, as_of
      )
      from jsonb_to_record(plan.details)
        as p (first_type text, first_id uuid, second_type text, second_id uuid);
    when 'delete item' then
      delete from memory.store_items as i
      where i.tenant_id = carry_out_undo.tenant_id and i.id = plan.memory_id;
    when 'undo run' then
      perform memory.undo_consolidation((plan.details ->> 'run_id')::uuid, as_of);
    when 'undo import' then
      perform memory.undo_import(plan.details ->> 'batch_id', as_of);
    when 'configure' then
      perform memory.configure(plan.details -> 'settings');
    when 'revoke token' then
      perform memory.revoke_access_token(plan.memory_id, as_of);
    when 'revoke approval' then
      perform memory.revoke_approval(plan.memory_id, as_of);
    when 'cancel reembedding' then
      perform memory.cancel_reembedding();
    when 'remove pattern' then
      perform memory.remove_sensitive_pattern(v_pattern ->> 'data_class', v_pattern ->> 'name');
    when 'add pattern' then
      perform memory.add_sensitive_pattern(
        p.data_class, p.name, p.pattern, p.kind, p.validator, p.required_words, p.match_case,
        p.country
      )
      from jsonb_populate_record(null::memory.tenant_patterns, v_pattern) as p;
  end case;
end;
$$;

comment on function memory.carry_out_undo(text, memory.planned_undo, timestamptz) is
'Does what a plan of an undo says. Errors: those of the function that takes the write back.';

create or replace function memory.undo_event(
  event_id uuid,
  as_of timestamptz default now()
)
  returns table (
    outcome text,
    undone_event_id uuid,
    undo_event_id uuid
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_event memory.memory_events;
  v_principal memory.memory_events;
  v_plan memory.planned_undo;
begin
  perform memory.check_write_time('as_of', as_of);
  v_event := memory.find_event(v_tenant_id, undo_event.event_id);
  -- The event that stands for the write is locked, so that it is undone once; then its plan tells
  -- what else to lock, and only after that, whether anything stands in the way.
  v_principal := memory.principal_event(v_event);
  undone_event_id := v_principal.id;
  perform from memory.memory_events as e
  where e.tenant_id = v_tenant_id and e.id = undone_event_id
  for no key update;
  v_plan := memory.plan_undo(v_event, as_of => undo_event.as_of);
  if v_plan.undone_at is not null then
    outcome := 'undone before';
    undo_event_id := v_plan.undo_event_id;
    return next;
    return;
  end if;
  if v_plan.code is null then
    if not exists (
      select from unnest(v_plan.roles) as r (role)
      where pg_has_role(memory.acting_role(), r.role, 'usage')
    ) then
      raise exception 'it takes the role % to %', array_to_string(v_plan.roles, ' or '), v_plan.says
        using errcode = 'PM008', hint = 'Have somebody undo it who may.';
    end if;
    perform memory.lock_undo(v_tenant_id, v_plan);
    v_plan := memory.plan_undo(v_event, as_of => undo_event.as_of);
  end if;
  if v_plan.code is not null then
    raise exception 'event % cannot be undone: %', undo_event.event_id, v_plan.obstacle
      using errcode = v_plan.code, hint = v_plan.hint;
  end if;

  -- First: what follows belongs to the undo, and triggers ask for it (memory.is_unmarking).
  insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, payload)
  values (
    v_tenant_id, 'event_undone', v_principal.memory_type, v_principal.memory_id,
    jsonb_build_object(
      'event_id', v_plan.event_id, 'event_type', v_plan.event_type, 'inverse', v_plan.inverse
    ) || case
      when v_plan.details -> 'rule_application_ids' <> '[]'
      then jsonb_build_object('rule_application_ids', v_plan.details -> 'rule_application_ids')
      else '{}'
    end
  )
  returning id into undo_event_id;
  perform memory.carry_out_undo(v_tenant_id, v_plan, as_of);
  outcome := 'undone';
  return next;
end;
$$;

comment on function memory.undo_event(uuid, timestamptz) is
'Undoes the write that an event comes from, whichever of its events it is: a memory that was '
'stored is forgotten, and what it superseded is restored; a change, confirmation, mark or link is '
'taken back; a merge is undone, and so are the review of proposals, a dismissed contradiction, a '
'run of consolidation, an import, a change of settings. Writes an event, event_undone, with the id '
'of the event that stands for the write. Returns undone, or, the second time, undone before, with '
'both events. The inverse takes the role that the write took. Errors: PM001 no such event, PM002, '
'PM003 it has no inverse, PM004 something newer depends on it, as the message says, PM008 another '
'role may undo it.';
grant execute on function memory.undo_event to memory_writer, memory_worker, memory_admin;

commit;
