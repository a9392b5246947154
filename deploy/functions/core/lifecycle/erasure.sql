-- Deploy pymem:functions/core/lifecycle/erasure to pg

begin;

set local role memory_owner;

create or replace function memory.mentions_any(
  body text,
  names text[]
)
  returns boolean
  language sql
  immutable
  parallel safe
  return exists (
    select from unnest(names) as n (name) where position(n.name in memory.normalize_name(body)) > 0
  );

comment on function memory.mentions_any(text, text[]) is
'Whether a text contains any of the names (memory.normalize_name) as whole words, ignoring case '
'and accents.';

create or replace function memory.names_of_subject(
  tenant_id text,
  subject text
)
  returns text[]
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_name text := memory.normalize_name(names_of_subject.subject);
begin
  perform memory.check_text('subject', names_of_subject.subject, 512);
  if btrim(v_name) = '' then
    raise exception 'subject % contains no letter or digit', quote_literal(names_of_subject.subject)
      using errcode = 'PM002', hint = 'Pass the name of a person or thing.';
  end if;
  return array(
    select v_name
    union
    select n.name
    from memory.entities as e
    cross join lateral (
      select memory.normalize_name(a.alias) as name
      from unnest(e.aliases || e.canonical_name::text) as a (alias)
    ) as n
    where e.tenant_id = names_of_subject.tenant_id
      and v_name in (
        select memory.normalize_name(a.alias)
        from unnest(e.aliases || e.canonical_name::text) as a (alias)
      )
      and btrim(n.name) <> ''
    order by 1
  );
end;
$$;

comment on function memory.names_of_subject(text, text) is
'A name and all names of the entities with that name or alias, normalized. Errors: PM002.';

create or replace function memory.is_key_of(
  key memory.fact_keys,
  names text[],
  entity_ids uuid[],
  mentions boolean
)
  returns boolean
  language sql
  immutable
  parallel safe
  -- noqa: disable=RF01,LT06
  return case
    when key.anchor like 'entity:%' then substr(key.anchor, 8)::uuid = any (entity_ids)
    else memory.normalize_name(substr(key.anchor, 9)) = any (names)
  end
  or mentions and memory.mentions_any(
    concat_ws(' | ', key.anchor, key.predicate, key.scope), names
  );

-- noqa: enable=RF01,LT06

comment on function memory.is_key_of(memory.fact_keys, text[], uuid[], boolean) is
'Whether a fact key belongs to a subject: to one of its names or entities; with mentions, also '
'whether it contains one of the names.';

create or replace function memory.erase_subject(
  subject text,
  mentions boolean default true,
  dry_run boolean default false
)
  returns table (
    object text,
    erased bigint
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_names text[] := memory.names_of_subject(v_tenant_id, erase_subject.subject);
  v_entities uuid[];
  v_about uuid[]; -- facts about the subject, without those that only mention it
  v_facts uuid[];
  v_episodes uuid[];
  v_rules uuid[];
  v_entries uuid[];
  v_applications uuid[];
  v_proposals memory.consolidation_proposals[];
  v_next_turns uuid[];
  v_answers uuid[];
  v_images bigint;
  v_keys bigint;
  v_cleared bigint;
  v_traces bigint;
begin
  -- Including the entities merged into them.
  v_entities := array(
    with recursive meant as (
      select e.id
      from memory.entities as e
      where e.tenant_id = v_tenant_id
        and case
          when erase_subject.mentions then memory.mentions_any(e.canonical_name, v_names)
          else memory.normalize_name(e.canonical_name) = any (v_names)
        end
      union
      select m.source_entity_id
      from meant as t
      join memory.entity_merges as m
        on m.tenant_id = v_tenant_id and m.target_entity_id = t.id and m.unmerged_at is null
    )
    select t.id from meant as t order by t.id
  );
  v_about := array(
    select f.id
    from memory.facts as f
    where f.tenant_id = v_tenant_id
      and (memory.normalize_name(f.subject) = any (v_names) or f.entity_id = any (v_entities))
  );
  v_facts := array(
    select f.id
    from memory.facts as f
    where f.tenant_id = v_tenant_id
      and (
        f.id = any (v_about)
        or erase_subject.mentions and memory.mentions_any(
          concat_ws(
            ' | ', f.subject, f.predicate, f.content, f.tags::text, f.metadata::text, f.scope,
            f.source_butler
          ),
          v_names
        )
      )
  );
  -- What a fact about the subject was drawn from, supports or contradicts it is also about the
  -- subject.
  v_episodes := array(
    select e.id
    from memory.episodes as e
    where e.tenant_id = v_tenant_id
      and (
        e.id in (
          select l.target_id
          from memory.memory_links as l
          where l.tenant_id = v_tenant_id and l.source_type = 'fact'
            and l.source_id = any (v_about)
            and l.target_type = 'episode' and l.relation = 'derived_from'
          union all
          select l.source_id
          from memory.memory_links as l
          where l.tenant_id = v_tenant_id and l.source_type = 'episode'
            and l.target_type = 'fact' and l.target_id = any (v_about)
            and l.relation in ('supports', 'contradicts')
        )
        or e.id in (
          select f.source_episode_id
          from memory.facts as f
          where f.tenant_id = v_tenant_id and f.id = any (v_about)
        )
        or erase_subject.mentions and memory.mentions_any(
          concat_ws(
            ' | ', e.content, e.metadata::text, e.last_consolidation_error, e.butler
          ),
          v_names
        )
      )
  );
  v_rules := array(
    select r.id
    from memory.rules as r
    where r.tenant_id = v_tenant_id
      and erase_subject.mentions
      and memory.mentions_any(
        concat_ws(
          ' | ', r.content, r.tags::text, r.metadata::text, r.scope, r.source_butler
        ),
        v_names
      )
  );
  -- What concerns a user is about that user.
  v_entries := array(
    select y.id
    from memory.entries as y
    where y.tenant_id = v_tenant_id
      and (
        memory.normalize_name(y.user_id) = any (v_names)
        or erase_subject.mentions and memory.mentions_any(
          concat_ws(
            ' | ', y.content, y.category, y.tags::text, y.keywords::text, y.metadata::text, y.scope,
            y.user_id, y.persona_id, y.session_id
          ),
          v_names
        )
      )
  );
  v_applications := array(
    select a.id
    from memory.rule_applications as a
    where a.tenant_id = v_tenant_id
      and (
        a.rule_id = any (v_rules)
        or erase_subject.mentions
        and memory.mentions_any(concat_ws(' | ', a.reason, a.context::text), v_names)
      )
  );
  -- The embedding of a turn also covers the end of the previous turn.
  v_next_turns := array(
    select n.id
    from memory.episodes as e
    cross join lateral (
      select t.id
      from memory.episodes as t
      where t.tenant_id = v_tenant_id and t.session_id = e.session_id and t.butler = e.butler
        and (t.created_at, t.id) > (e.created_at, e.id)
      order by t.created_at, t.id
      limit 1
    ) as n
    where e.tenant_id = v_tenant_id and e.id = any (v_episodes) and n.id <> all (v_episodes)
  );
  select count(*) into v_images
  from memory.memory_history as h
  where h.tenant_id = v_tenant_id
    and (
      h.memory_id = any (v_facts || v_episodes || v_rules || v_entries || v_entities)
      or erase_subject.mentions and memory.mentions_any(h.image::text, v_names)
    );
  select count(*) into v_keys
  from memory.fact_keys as k
  where k.tenant_id = v_tenant_id and memory.is_key_of(k, v_names, v_entities, mentions);
  select count(*) into v_cleared
  from memory.entities as e
  where e.tenant_id = v_tenant_id and e.id <> all (v_entities) and erase_subject.mentions
    and memory.mentions_any(concat_ws(' | ', e.metadata::text, e.aliases::text), v_names);
  -- An answer about an erased episode may tell what it said in other words.
  v_answers := array(
    select r.id
    from memory.consolidation_runs as r
    where r.tenant_id = v_tenant_id and r.answer is not null
      and (
        r.episode_ids && v_episodes
        or erase_subject.mentions and memory.mentions_any(r.answer, v_names)
      )
    order by r.id
  );
  v_proposals := array(
    select p
    from memory.consolidation_proposals as p
    where p.tenant_id = v_tenant_id
      and (
        p.memory_id = any (v_facts || v_rules) or p.evidence && v_episodes
        or erase_subject.mentions and memory.mentions_any(
          concat_ws(' | ', p.item::text, p.content, p.reason, p.quotes::text, p.outcome), v_names
        )
      )
  );
  select cardinality(v_answers) + cardinality(v_proposals) + count(*) into v_traces
  from memory.consolidation_runs as r
  where r.tenant_id = v_tenant_id and erase_subject.mentions
    and memory.mentions_any(r.errors::text, v_names);

  if not erase_subject.dry_run then
    perform from memory.consolidation_runs as r
    where r.tenant_id = v_tenant_id and r.id = any (v_answers) order by r.id for update;
    perform from memory.entities as e
    where e.tenant_id = v_tenant_id and e.id = any (v_entities) order by e.id for update;
    perform from memory.fact_keys as k
    where k.tenant_id = v_tenant_id and memory.is_key_of(k, v_names, v_entities, mentions)
    order by k.scope, k.anchor, k.predicate
    for update;
    perform from memory.episodes as e
    where e.tenant_id = v_tenant_id and e.id = any (v_episodes || v_next_turns)
    order by e.id
    for update;
    perform from memory.facts as f
    where f.tenant_id = v_tenant_id
      and (f.id = any (v_facts) or f.object_entity_id = any (v_entities))
    order by f.id
    for update;
    perform from memory.rules as r
    where r.tenant_id = v_tenant_id and r.id = any (v_rules) order by r.id for update;
    perform from memory.entries as y
    where y.tenant_id = v_tenant_id and y.id = any (v_entries) order by y.id for update;

    perform set_config('memory.erasing', 'on', true);

    update memory.consolidation_runs as r
    set answer = null
    where r.tenant_id = v_tenant_id and r.id = any (v_answers);
    delete from memory.rule_applications as a
    where a.tenant_id = v_tenant_id and a.id = any (v_applications);
    delete from memory.rules as r where r.tenant_id = v_tenant_id and r.id = any (v_rules);
    delete from memory.facts as f where f.tenant_id = v_tenant_id and f.id = any (v_facts);
    delete from memory.entries as y where y.tenant_id = v_tenant_id and y.id = any (v_entries);
    delete from memory.episodes as e where e.tenant_id = v_tenant_id and e.id = any (v_episodes);
    update memory.facts as f
    set object_entity_id = null
    where f.tenant_id = v_tenant_id and f.object_entity_id = any (v_entities);
    delete from memory.entities as e where e.tenant_id = v_tenant_id and e.id = any (v_entities);
    delete from memory.fact_keys as k
    where k.tenant_id = v_tenant_id and memory.is_key_of(k, v_names, v_entities, mentions);
    delete from memory.consolidation_proposals as p
    using unnest(v_proposals) as v
    where p.tenant_id = v_tenant_id and p.run_id = v.run_id and p.position = v.position;
    perform memory.close_reviews(v_tenant_id);
    if erase_subject.mentions then
      update memory.consolidation_runs as r
      set errors = '[]'
      where r.tenant_id = v_tenant_id and memory.mentions_any(r.errors::text, v_names);
      update memory.entities as e
      set
        metadata = case
          when memory.mentions_any(e.metadata::text, v_names) then '{}' else e.metadata
        end,
        aliases = array(
          select a.alias
          from unnest(e.aliases) with ordinality as a (alias, place)
          where not memory.mentions_any(a.alias, v_names)
          order by a.place
        )
      where e.tenant_id = v_tenant_id
        and memory.mentions_any(concat_ws(' | ', e.metadata::text, e.aliases::text), v_names);
      -- After what changes entities, because that leaves their images.
      delete from memory.memory_history as h
      where h.tenant_id = v_tenant_id and memory.mentions_any(h.image::text, v_names);
    end if;

    delete from memory.staged_embeddings as s
    where s.tenant_id = v_tenant_id and s.memory_type = 'episode'
      and s.memory_id = any (v_next_turns);
    update memory.episodes as e
    set embedding = null, embedding_version_id = null
    where e.tenant_id = v_tenant_id and e.id = any (v_next_turns);
    insert into memory.embedding_queue (tenant_id, target, memory_type, memory_id)
    select v_tenant_id, t.target, 'episode', n.id
    from unnest(v_next_turns) as n (id)
    cross join (
      select 'active' as target
      union all
      select v.status from memory.embedding_versions as v
      where v.tenant_id = v_tenant_id and v.status = 'building'
    ) as t
    order by t.target, n.id
    on conflict (tenant_id, target, memory_type, memory_id) do update set
      enqueued_at = excluded.enqueued_at,
      claimed_until = excluded.claimed_until,
      attempts = excluded.attempts;

    perform memory.write_event(
      v_tenant_id, 'erased', null, null,
      jsonb_build_object(
        'episodes', cardinality(v_episodes), 'facts', cardinality(v_facts),
        'rules', cardinality(v_rules), 'entries', cardinality(v_entries),
        'entities', cardinality(v_entities)
      )
    );
    perform set_config('memory.erasing', '', true);
  end if;

  return query
  select v.object, v.erased
  from (
    values
      (1, 'episodes', cardinality(v_episodes)::bigint),
      (2, 'facts', cardinality(v_facts)),
      (3, 'rules', cardinality(v_rules)),
      (4, 'entries', cardinality(v_entries)),
      (5, 'entities', cardinality(v_entities)),
      (6, 'rule applications', cardinality(v_applications)),
      (7, 'states in the history', v_images),
      (8, 'keys of facts', v_keys),
      (9, 'entities cleared of mentions', v_cleared),
      (10, 'vectors of next turns', cardinality(v_next_turns)),
      (11, 'traces of consolidation', v_traces)
  ) as v (place, object, erased)
  order by v.place;
end;
$$;

comment on function memory.erase_subject(text, boolean, boolean) is
'Deletes what the memory contains about a person or thing, in one transaction and permanently: '
'facts about the name or an entity with that name, the episodes they were drawn from, the entity, '
'the entries of a user with that name, and, with mentions (the default), every memory whose text, '
'tags or metadata contain one of its names as whole words; with their vectors, history, '
'applications and keys. Turns that follow a deleted turn are embedded again. Links and tombstones '
'stay, without content; events contain none. Settings stay too, such as instructions for the '
'prompt of consolidation that contain the name. Returns what was erased, or with dry_run would be. '
'Does not cover what is stored at the same time: call memory.verify_erasure afterwards. VACUUM '
'removes the bytes from disk; backups keep them until they are deleted. Errors: PM002.';
grant execute on function memory.erase_subject to memory_admin;

create or replace function memory.verify_erasure(subject text)
  returns table (
    table_name text,
    column_name text,
    remaining bigint
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_names text[] := memory.names_of_subject(v_tenant_id, verify_erasure.subject);
begin
  -- Read from the catalog, so that no table or column is missed.
  for table_name, column_name in
    select c.relname::text, a.attname::text
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid
    where c.relnamespace = 'memory'::regnamespace
      and c.relkind in ('r', 'p')
      and a.attnum > 0
      and not a.attisdropped
      and a.atttypid in (
        'text'::regtype, 'varchar'::regtype, 'text[]'::regtype, 'jsonb'::regtype, 'json'::regtype
      )
      and exists (
        select from pg_attribute as t
        where t.attrelid = c.oid and t.attname = 'tenant_id' and t.attnum > 0
      )
      -- The tenant and who did what are not content.
      and a.attname <> 'tenant_id'
      and (c.relname, a.attname) not in (
        ('memory_events', 'actor'), ('memory_events', 'request_id'), ('memory_events', 'reason'),
        ('access_tokens', 'name'), ('access_tokens', 'role'), ('access_tokens', 'actor')
      )
    order by 1, 2
  loop
    execute format(
      'select count(*) from memory.%I as t '
      'where t.tenant_id = $1 and memory.mentions_any(t.%I::text, $2)',
      table_name, column_name
    )
    into remaining
    using v_tenant_id, v_names;
    return next;
  end loop;
end;
$$;

comment on function memory.verify_erasure(text) is
'Searches every text and JSON column of all tables of the tenant for a name, and the names of '
'entities with that name, and returns how many rows of each column still contain one. The actors '
'in the audit stream and the owners of access tokens are not content and stay. Reads everything. '
'Errors: PM002.';
grant execute on function memory.verify_erasure to memory_admin;

commit;
