-- Deploy pymem:functions/core/search/contradictions to pg

begin;

set local role memory_owner;

create or replace function memory.normalize_key(name text)
  returns text
  language sql
  immutable
  strict
  parallel safe
  return lower(translate(normalize(name, nfkc), ' _-', '')) collate "C";

comment on function memory.normalize_key(text) is
'A subject or predicate without common spelling differences: case, spaces, underscores, hyphens '
'and Unicode composition. favorite_color, "Favorite color" and favoriteColor have the same key.';

-- An index on these keys would slow down every store of a fact for a rare query. So this computes
-- all keys from the unique indexes alone and reads only the facts whose key occurs more than once:
-- about half a second for 100,000 active facts of a tenant.
create or replace function memory.near_duplicates(
  tenant_id text,
  scope text
)
  returns table (
    newest_id uuid,
    older_id uuid
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with keys as (
    select
      f.scope, f.subject_key, null::uuid as entity_id, f.predicate_key,
      memory.normalize_key(f.subject_key) as anchor_form,
      memory.normalize_key(f.predicate_key) as predicate_form
    from memory.facts as f
    where f.tenant_id = near_duplicates.tenant_id
      and f.entity_id is null and f.validity = 'active' and f.planned_for is null
      and (near_duplicates.scope is null or f.scope in ('global', near_duplicates.scope))
    union all
    -- An id contains hyphens, so it never equals the key of a subject.
    select
      f.scope, null, f.entity_id, f.predicate_key, f.entity_id::text collate "C",
      memory.normalize_key(f.predicate_key)
    from memory.facts as f
    where f.tenant_id = near_duplicates.tenant_id
      and f.entity_id is not null and f.validity = 'active' and f.planned_for is null
      and (near_duplicates.scope is null or f.scope in ('global', near_duplicates.scope))
  ),
  counted as (
    select
      k.*,
      count(*) over (partition by k.anchor_form, k.predicate_form, k.scope collate "C") as facts
    from keys as k
  ),
  alike as (
    select c.scope, c.anchor_form, c.predicate_form, f.id, f.created_at
    from counted as c
    join memory.facts as f
      on f.tenant_id = near_duplicates.tenant_id and f.scope = c.scope
        and f.subject_key = c.subject_key and f.predicate_key = c.predicate_key
        and f.entity_id is null and f.validity = 'active' and f.planned_for is null
    where c.facts > 1
    union all
    select c.scope, c.anchor_form, c.predicate_form, f.id, f.created_at
    from counted as c
    join memory.facts as f
      on f.tenant_id = near_duplicates.tenant_id and f.entity_id = c.entity_id
        and f.scope = c.scope and f.predicate_key = c.predicate_key and f.validity = 'active'
        and f.planned_for is null
    where c.facts > 1
  ),
  compared as (
    select
      a.id,
      first_value(a.id) over (
        partition by a.anchor_form, a.predicate_form, a.scope order by a.created_at desc, a.id
      ) as newest_id
    from alike as a
  )
  select c.newest_id, c.id
  from compared as c
  where c.id <> c.newest_id;
$$;

comment on function memory.near_duplicates(text, text) is
'Active facts of one scope and one entity, or of one scope and subject, whose keys are equal by '
'normalize_key: each is paired with the newest of its group, which would have superseded it under '
'the same key. scope: only this one and global; NULL: all.';

-- limit 1 keeps this a look-up. Without it the planner reads all memories of a tenant: it
-- underestimates them, because row security repeats the condition on the tenant.
-- noqa: disable=AM09,RF01,RF03
create or replace function memory.live_memory(
  tenant_id text,
  memory_type text,
  memory_id uuid,
  scope text,
  as_of timestamptz
)
  returns table (
    created_at timestamptz,
    content text,
    confidence float8
  )
  language sql
  stable
begin atomic
  select
    m.created_at,
    case m.memory_type
      when 'fact' then format('[%s] [%s]: %s', m.subject, m.predicate, m.content)
      else m.content
    end as content,
    memory.effective_confidence(
      m.confidence, m.decay_rate, coalesce(m.last_confirmed_at, m.created_at), as_of
    ) as confidence
  from memory.searchable_memories as m
  where m.tenant_id = live_memory.tenant_id
    and m.memory_type = live_memory.memory_type
    and m.id = live_memory.memory_id
    and m.is_live
    and (m.expires_at is null or m.expires_at > as_of)
    -- An anti-pattern says the opposite of the rule that was linked.
    and m.maturity is distinct from 'anti_pattern'
    and memory.is_in_scope(m.memory_type, m.scope, live_memory.scope)
  limit 1;
end;

-- noqa: enable=AM09,RF01,RF03

comment on function memory.live_memory(text, text, uuid, text, timestamptz) is
'The content of a memory if it can contradict another one: an active fact, a rule that is neither '
'forgotten nor an anti-pattern, an episode that has not expired. confidence: after decay, 0..1; 1 '
'for an episode. scope: as in near_duplicates; for an episode, its butler.';

create or replace function memory.is_proposed(link memory.memory_links)
  returns boolean
  language sql
  stable
  return exists (
    select from memory.consolidation_proposals as p
    where link.source_type = 'episode' and p.tenant_id = link.tenant_id -- noqa: RF01
      and p.memory_id = link.target_id -- noqa: RF01
      and p.evidence @> array[link.source_id] -- noqa: RF01
  );

comment on function memory.is_proposed(memory.memory_links) is
'Whether a proposal says what follows from an episode that contradicts a memory: then the proposal '
'is listed while it waits, and the link no longer.';

create or replace function memory.is_dismissed(
  tenant_id text,
  one_type text,
  one_id uuid,
  other_type text,
  other_id uuid
)
  returns boolean
  language sql
  stable
  return exists (
    select from memory.dismissed_contradictions as d
    where d.tenant_id = is_dismissed.tenant_id -- noqa: RF01
      and d.first_type = case
        when (one_type collate "C", one_id) < (other_type collate "C", other_id) -- noqa: RF03
        then one_type else other_type -- noqa: RF03
      end
      and d.first_id = case
        when (one_type collate "C", one_id) < (other_type collate "C", other_id) -- noqa: RF03
        then one_id else other_id -- noqa: RF03
      end
      and d.second_type = case
        when (one_type collate "C", one_id) < (other_type collate "C", other_id) -- noqa: RF03
        then other_type else one_type -- noqa: RF03
      end
      and d.second_id = case
        when (one_type collate "C", one_id) < (other_type collate "C", other_id) -- noqa: RF03
        then other_id else one_id -- noqa: RF03
      end
  );

comment on function memory.is_dismissed(text, text, uuid, text, uuid) is
'Whether somebody said that two memories, in either order, are both true.';

create or replace function memory.pending_corrections(
  tenant_id text,
  memory_type text,
  memory_ids uuid[]
)
  returns table (
    memory_id uuid,
    content text,
    trust text
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select distinct on (p.memory_id)
    p.memory_id,
    case p.action
      when 'ended_fact' then 'no longer holds'
      when 'withdrawn_rule' then 'withdrawn'
      else p.item ->> 'content'
    end,
    p.trust
  from memory.consolidation_proposals as p
  where p.tenant_id = pending_corrections.tenant_id
    and p.memory_type = pending_corrections.memory_type
    and p.memory_id = any (memory_ids)
    and p.status = 'proposed'
    and p.action <> 'confirmation'
  order by p.memory_id, p.observed_at desc nulls last, p.created_at desc, p.run_id, p.position;
$$;

comment on function memory.pending_corrections(text, text, uuid[]) is
'What waits as a proposal of consolidation instead of some memories: of each the one with the '
'newest evidence, and the least trust of that.';

create or replace function memory.list_contradicted(
  memory_type text,
  memory_ids uuid[],
  as_of timestamptz default now()
)
  returns uuid[]
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
begin
  return array(
    select o.id
    from (
      select l.source_id as id, l.target_type as other_type, l.target_id as other_id
      from memory.memory_links as l
      where l.tenant_id = v_tenant_id
        and l.source_type = list_contradicted.memory_type
        and l.source_id = any (memory_ids)
        and l.relation = 'contradicts'
      union all
      select l.target_id, l.source_type, l.source_id
      from memory.memory_links as l
      where l.tenant_id = v_tenant_id
        and l.target_type = list_contradicted.memory_type
        and l.target_id = any (memory_ids)
        and l.relation = 'contradicts'
        and not memory.is_proposed(l)
    ) as o
    cross join lateral memory.live_memory(v_tenant_id, o.other_type, o.other_id, null, as_of)
    where not memory.is_dismissed(
      v_tenant_id, list_contradicted.memory_type, o.id, o.other_type, o.other_id
    )
    union
    select p.memory_id
    from memory.pending_corrections(
      v_tenant_id, list_contradicted.memory_type, memory_ids
    ) as p
    order by 1
  );
end;
$$;

comment on function memory.list_contradicted(text, uuid[], timestamptz) is
'Those of the given memories that a contradicts link connects with a memory that still stands '
'(memory.live_memory), or for which a proposal of consolidation waits.';

create or replace function memory.list_contradictions(
  scope text default null,
  max_results integer default 50,
  as_of timestamptz default now()
)
  returns table (
    kind text,
    source_type text,
    source_id uuid,
    source_content text,
    source_confidence float8,
    source_created_at timestamptz,
    target_type text,
    target_id uuid,
    target_content text,
    target_confidence float8,
    target_created_at timestamptz,
    since timestamptz,
    run_id uuid,
    "position" bigint, -- noqa: RF06
    reason text
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
  v_scope text := memory.visible_scope(scope);
  v_limit integer := memory.check_limit(max_results);
  v_linked integer;
  v_proposed integer;
begin
  if v_scope is not null then
    perform memory.check_text('scope', v_scope, 128);
  end if;
  perform memory.check_time('as_of', as_of);

  return query
  select
    'proposal', p.memory_type, p.memory_id,
    case p.action
      when 'ended_fact' then t.content || ' (no longer holds)'
      when 'withdrawn_rule' then t.content || ' (withdrawn)'
      else p.content
    end,
    least(coalesce((p.item ->> 'confidence')::float8, 1), v_settings.consolidation_max_confidence),
    p.created_at, p.memory_type, p.memory_id, t.content, t.confidence, t.created_at, p.created_at,
    p.run_id, p.position, p.reason
  from memory.consolidation_proposals as p
  cross join lateral memory.live_memory(
    v_tenant_id, p.memory_type, p.memory_id, v_scope, as_of
  ) as t
  where p.tenant_id = v_tenant_id and p.status = 'proposed' and p.memory_id is not null
    and p.action <> 'confirmation'
  order by p.created_at desc, p.run_id, p.position
  limit v_limit;
  get diagnostics v_proposed = row_count;

  return query
  select
    'contradicts', l.source_type, l.source_id, s.content, s.confidence, s.created_at,
    l.target_type, l.target_id, t.content, t.confidence, t.created_at, l.created_at,
    null::uuid, null::bigint, null
  from memory.memory_links as l
  cross join lateral memory.live_memory(
    v_tenant_id, l.source_type, l.source_id, v_scope, as_of
  ) as s
  cross join lateral memory.live_memory(
    v_tenant_id, l.target_type, l.target_id, v_scope, as_of
  ) as t
  where l.tenant_id = v_tenant_id
    and l.relation = 'contradicts'
    and not memory.is_proposed(l)
    and not memory.is_dismissed(
      v_tenant_id, l.source_type, l.source_id, l.target_type, l.target_id
    )
    -- Links in both directions are one pair: only the older link is listed.
    and not exists (
      select from memory.memory_links as b
      where b.tenant_id = v_tenant_id
        and b.source_type = l.target_type and b.source_id = l.target_id
        and b.target_type = l.source_type and b.target_id = l.source_id
        and b.relation = 'contradicts'
        and (b.created_at, b.source_type, b.source_id)
          < (l.created_at, l.source_type, l.source_id)
    )
  order by l.created_at desc, l.source_type, l.source_id, l.target_type, l.target_id
  limit v_limit - v_proposed;
  get diagnostics v_linked = row_count;
  if v_proposed + v_linked = v_limit then
    return;
  end if;

  return query
  select
    'near_duplicate', 'fact', n.newest_id, s.content, s.confidence, s.created_at,
    'fact', n.older_id, t.content, t.confidence, t.created_at, s.created_at,
    null::uuid, null::bigint, null
  from memory.near_duplicates(v_tenant_id, v_scope) as n
  cross join lateral memory.live_memory(
    v_tenant_id, 'fact', n.newest_id, v_scope, as_of
  ) as s
  cross join lateral memory.live_memory(
    v_tenant_id, 'fact', n.older_id, v_scope, as_of
  ) as t
  where not memory.is_dismissed(v_tenant_id, 'fact', n.newest_id, 'fact', n.older_id)
  order by s.created_at desc, n.newest_id, t.created_at desc, n.older_id
  limit v_limit - v_proposed - v_linked;
end;
$$;

comment on function memory.list_contradictions(text, integer, timestamptz) is
'Pairs of conflicting memories for a person to review. kind proposal: what consolidation would say '
'instead of the target, which it may not change by itself (reason): the source has no id of its '
'own, and memory.accept_proposals or reject_proposals decide by run_id and position, which the '
'others lack. kind contradicts: the ends of such a link; near_duplicate: active facts of one scope '
'and one entity or subject whose keys differ only in case, spaces, underscores or hyphens, so that '
'neither superseded the other; the source is the newest. The content of a fact reads [subject] '
'[predicate]: content; confidence is as of as_of, 0..1. since: when they were linked, or when the '
'newer one was created. Proposals first, then links, then near duplicates, newest first; at most '
'max_results, which is capped at 1000. What memory.dismiss_contradiction names is left out. scope: '
'as in memory.semantic_search. Errors: PM002.';
grant execute on function memory.list_contradictions to memory_writer, memory_reader, memory_admin;

create or replace function memory.audit_dismissal()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_pair memory.dismissed_contradictions := case tg_op when 'DELETE' then old else new end;
begin
  if memory.is_restoring() then
    return null;
  end if;
  perform memory.write_event(
    v_pair.tenant_id,
    case tg_op
      when 'INSERT' then 'contradiction_dismissed' when 'DELETE' then 'contradiction_reopened'
      else 'contradiction_updated'
    end,
    v_pair.first_type, v_pair.first_id,
    to_jsonb(v_pair) - '{tenant_id,dismissed_at}'::text []
  );
  return null;
end;
$$;

comment on function memory.audit_dismissal() is
'Trigger: writes contradiction_dismissed or contradiction_reopened with both memories.';

create or replace function memory.dismiss_contradiction(
  one_type text,
  one_id uuid,
  other_type text,
  other_id uuid,
  as_of timestamptz default now()
)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_is_first boolean := (one_type collate "C", one_id) < (other_type collate "C", other_id);
  v_missing record;
begin
  perform
    memory.check_word('one_type', one_type, memory.memory_type_names()),
    memory.check_word('other_type', other_type, memory.memory_type_names()),
    memory.check_write_time('as_of', as_of);
  select m.memory_type, m.id into v_missing
  from (values (1, one_type, one_id), (2, other_type, other_id)) as m (place, memory_type, id)
  where m.id is null or memory.created_at_of(v_tenant_id, m.memory_type, m.id) is null
  order by m.place
  limit 1;
  if found then
    raise exception 'no % has id %', v_missing.memory_type, coalesce(v_missing.id::text, 'NULL')
      using errcode = 'PM001', hint = 'Find ids with memory.list_contradictions.';
  end if;
  if (one_type, one_id) = (other_type, other_id) then
    raise exception 'a memory cannot contradict itself'
      using errcode = 'PM002', hint = 'Pass two different memories.';
  end if;

  insert into memory.dismissed_contradictions
    (tenant_id, first_type, first_id, second_type, second_id, dismissed_at)
  values (
    v_tenant_id,
    case when v_is_first then one_type else other_type end,
    case when v_is_first then one_id else other_id end,
    case when v_is_first then other_type else one_type end,
    case when v_is_first then other_id else one_id end,
    as_of
  )
  on conflict do nothing;
  return found;
end;
$$;

comment on function memory.dismiss_contradiction(text, uuid, text, uuid, timestamptz) is
'Says that two memories, in either order, are both true: memory.list_contradictions no longer '
'lists the pair, and no context marks one of them because of the other, until '
'memory.reopen_contradiction. Their links stay. Returns whether that is new. Errors: PM001 no such '
'memory, PM002.';
grant execute on function memory.dismiss_contradiction to memory_writer;

create or replace function memory.reopen_contradiction(
  one_type text,
  one_id uuid,
  other_type text,
  other_id uuid
)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  delete from memory.dismissed_contradictions as d
  where d.tenant_id = memory.current_tenant()
    and (
      (d.first_type, d.first_id, d.second_type, d.second_id)
        = (one_type, one_id, other_type, other_id)
      or (d.first_type, d.first_id, d.second_type, d.second_id)
        = (other_type, other_id, one_type, one_id)
    );
  return found;
end;
$$;

comment on function memory.reopen_contradiction(text, uuid, text, uuid) is
'Takes memory.dismiss_contradiction of two memories, in either order, back. Returns whether they '
'were dismissed. Errors: 28000 no tenant.';
grant execute on function memory.reopen_contradiction to memory_writer;

commit;
