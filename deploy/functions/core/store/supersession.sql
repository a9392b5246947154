-- Deploy pymem:functions/core/store/supersession to pg

begin;

set local role memory_owner;

create or replace function memory.comes_late(
  valid_from timestamptz,
  known_from timestamptz,
  known_at timestamptz,
  as_of timestamptz
)
  returns boolean
  language sql
  stable
  parallel safe
  return coalesce(
    nullif(valid_from, now()) < known_from and known_from <= greatest(as_of, known_at), false
  );

comment on function memory.comes_late(timestamptz, timestamptz, timestamptz, timestamptz) is
'Whether a fact that is valid from valid_from is history beside the active one of its key, which '
'is valid from known_from and was stored at known_at. What has not begun is a plan and does not '
'count. What holds from the start of the transaction is never history, although another session '
'that it waited for may have begun later.';

create or replace function memory.repeats_fact(
  known memory.fact_to_store,
  again memory.fact_to_store
)
  returns boolean
  language sql
  immutable
  parallel safe
  return memory.collapse_whitespace(normalize((again).content, nfc))
    = memory.collapse_whitespace(normalize((known).content, nfc))
  and (again).object_entity_id is not distinct from (known).object_entity_id
  and (again).valid_to is not distinct from (known).valid_to
  and (again).importance in (5.0, (known).importance)
  and (again).permanence in ('standard', (known).permanence)
  and (again).confidence <= (known).confidence
  and (again).tags <@ (known).tags
  and (again).metadata <@ (known).metadata
  and ((again).idempotency_key is null or (known).idempotency_key is null);

comment on function memory.repeats_fact(memory.fact_to_store, memory.fact_to_store) is
'Whether a fact says nothing that the known one of its key does not say: the same content but for '
'blanks and Unicode composition, and no other importance, permanence, tag or the like than the '
'known one or the default. It is for as long as that, and no surer of it. The known one can take '
'over the idempotency key.';

create or replace function memory.is_same_fact(
  known memory.facts,
  again memory.fact_to_store
)
  returns boolean
  language sql
  immutable
  parallel safe
  return (known).scope = (again).scope
  and (known).predicate_key = (again).predicate_key
  and (known).entity_id is not distinct from (again).entity_id
  and (
    (known).entity_id is not null or (known).subject_key = memory.spelling_key((again).subject)
  )
  and (known).object_entity_id is not distinct from (again).object_entity_id
  and memory.collapse_whitespace(normalize((known).content, nfc))
    = memory.collapse_whitespace(normalize((again).content, nfc));

comment on function memory.is_same_fact(memory.facts, memory.fact_to_store) is
'Whether a fact that came again with the idempotency key of a known one has the key and content of '
'that, but for case, blanks and Unicode forms.';

create or replace function memory.as_stored(fact memory.facts)
  returns memory.fact_to_store
  language sql
  immutable
  parallel safe
  -- noqa: disable=RF01
  return row(
    fact.id, null, null, fact.subject, fact.predicate, fact.content, fact.importance,
    fact.permanence, fact.scope, fact.tags, fact.entity_id, fact.object_entity_id, fact.confidence,
    fact.source_butler, fact.source_episode_id, fact.metadata, null, fact.idempotency_key,
    fact.valid_from, fact.valid_to, null, null
  )::memory.fact_to_store;

-- noqa: enable=RF01
comment on function memory.as_stored(memory.facts) is
'A fact as it came to store_fact, without its vector.';

create or replace function memory.confirm_repeated(
  tenant_id text,
  fact_id uuid,
  idempotency_key text,
  source_episode_id uuid,
  as_of timestamptz
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  if confirm_repeated.idempotency_key is not null then
    begin
      update memory.facts as f
      set idempotency_key = confirm_repeated.idempotency_key
      where f.tenant_id = confirm_repeated.tenant_id and f.id = fact_id;
    exception when unique_violation then
      perform memory.refuse_reused_key(confirm_repeated.idempotency_key);
    end;
  end if;
  perform memory.renew_memory(
    memory.current_settings(), 'fact', fact_id,
    coalesce(
      (
        select e.created_at from memory.episodes as e
        where e.tenant_id = confirm_repeated.tenant_id
          and e.id = confirm_repeated.source_episode_id
      ),
      as_of
    ),
    as_of
  );
  insert into memory.memory_links
    (tenant_id, source_type, source_id, target_type, target_id, relation)
  select
    confirm_repeated.tenant_id, 'fact', fact_id, 'episode', confirm_repeated.source_episode_id,
    'derived_from'
  where confirm_repeated.source_episode_id is not null
  on conflict (tenant_id, source_type, source_id, target_type, target_id) do nothing;
end;
$$;

comment on function memory.confirm_repeated(text, uuid, text, uuid, timestamptz) is
'Confirms a fact that was stored again: its decay restarts at as_of, and it gets the idempotency '
'key and a link to the episode, unless they are NULL. Errors: PM004 key used for something else.';

create or replace function memory.trust_of_episode(
  tenant_id text,
  episode_id uuid
)
  returns text
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select memory.least_trust(
    'user',
    (
      select e.source_class from memory.episodes as e
      where e.tenant_id = trust_of_episode.tenant_id and e.id = episode_id
    )
  );
$$;

comment on function memory.trust_of_episode(text, uuid) is
'The trust of a fact that is derived from an episode, or stated if that is NULL.';

create or replace function memory.next_start(
  tenant_id text,
  scope text,
  subject text,
  entity_id uuid,
  predicate text,
  valid_from timestamptz
)
  returns timestamptz
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select min(f.valid_from)
  from memory.facts as f
  where f.tenant_id = next_start.tenant_id and f.scope = next_start.scope
    and f.predicate_key = memory.predicate_key(next_start.predicate)
    and f.validity in ('active', 'superseded')
    and (
      f.entity_id = next_start.entity_id
      or next_start.entity_id is null and f.entity_id is null
        and f.subject_key = memory.spelling_key(next_start.subject)
    )
    and f.valid_from > next_start.valid_from
    and (f.valid_to > f.valid_from) is not false;
$$;

comment on function memory.next_start(text, text, text, uuid, text, timestamptz) is
'When the next fact of a key after valid_from began, among those that were or are true; NULL for '
'none.';

create or replace function memory.end_earlier(
  tenant_id text,
  scope text,
  subject text,
  entity_id uuid,
  predicate text,
  starts timestamptz[],
  as_of timestamptz
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with earlier as (
    select f.id, s.start
    from memory.facts as f
    cross join lateral (
      select min(u.start) as start from unnest(starts) as u (start) where u.start >= f.valid_from
    ) as s
    where f.tenant_id = end_earlier.tenant_id and f.scope = end_earlier.scope
      and f.predicate_key = memory.predicate_key(end_earlier.predicate)
      and f.validity = 'superseded'
      and (
        f.entity_id = end_earlier.entity_id
        or end_earlier.entity_id is null and f.entity_id is null
          and f.subject_key = memory.spelling_key(end_earlier.subject)
      )
      and f.valid_to > s.start
    order by f.id
    for no key update of f
  )
  update memory.facts as f
  set valid_to = e.start, updated_at = memory.next_state_at(f.updated_at, as_of)
  from earlier as e
  where f.tenant_id = end_earlier.tenant_id and f.id = e.id;
$$;

comment on function memory.end_earlier(
  text, text, text, uuid, text, timestamptz[], timestamptz
) is
'Ends the superseded facts of a key where one that came late begins.';

create or replace function memory.find_begun_plans(
  tenant_id text,
  facts memory.fact_to_store[],
  as_of timestamptz
)
  returns uuid[]
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select array(
    select p.id
    from memory.facts as p
    where p.tenant_id = find_begun_plans.tenant_id and p.planned_for <= as_of
      and p.validity = 'active'
      and exists (
        select
        from unnest(facts) as f
        where f.scope = p.scope and f.predicate_key = p.predicate_key
          and (
            f.entity_id = p.entity_id
            or f.entity_id is null and p.entity_id is null
              and memory.spelling_key(f.subject) = p.subject_key
          )
      )
    order by p.planned_for, p.id
  );
$$;

comment on function memory.find_begun_plans(text, memory.fact_to_store[], timestamptz) is
'The plans under the keys of some facts that have begun at as_of, but that no sweep has seen yet, '
'in the order in which they began.';

create or replace function memory.end_facts(
  tenant_id text,
  fact_ids uuid[],
  as_of timestamptz
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  update memory.facts as f
  set
    validity = 'expired',
    metadata = f.metadata - 'status',
    updated_at = memory.next_state_at(f.updated_at, as_of)
  where f.tenant_id = end_facts.tenant_id and f.id = any (fact_ids)
    and f.validity = 'active' and f.valid_to <= as_of;
$$;

comment on function memory.end_facts(text, uuid[], timestamptz) is
'Lets those of some facts expire whose validity has ended at as_of, as the next sweep would.';

commit;
