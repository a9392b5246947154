-- Deploy pymem:functions/core/lifecycle/erasure to pg

begin;

set local role memory_owner;

create or replace function memory.find_subject(
  tenant_id text,
  subject text,
  mentions boolean
)
  returns memory.subject_traces
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := find_subject.tenant_id;
  traces memory.subject_traces;
begin
  traces.names := memory.names_of_subject(v_tenant_id, find_subject.subject);
  -- Including the entities merged into them.
  traces.entities := array(
    with recursive meant as (
      select e.id
      from memory.entities as e
      where e.tenant_id = v_tenant_id
        and case
          when find_subject.mentions then memory.mentions_any(e.canonical_name, traces.names)
          else memory.readings_of(e.canonical_name) && traces.names
        end
      union
      select m.source_entity_id
      from meant as t
      join memory.entity_merges as m
        on m.tenant_id = v_tenant_id and m.target_entity_id = t.id and m.unmerged_at is null
    )
    select t.id from meant as t order by t.id
  );
  return traces;
end;
$$;

comment on function memory.find_subject(text, text, boolean) is
'The names of a person or thing, and the entities that have one of them.';

create or replace function memory.lock_subject(
  tenant_id text,
  subject text,
  mentions boolean
)
  returns memory.subject_traces
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := lock_subject.tenant_id;
  traces memory.subject_traces;
  v_touched uuid[];
  v_locked uuid[] := '{}'::uuid[];
begin
  -- Locks come before lists, so that nothing appears between a list and its deletion. Imports and
  -- runs come first, as when they are applied; all that hold texts, because it is not known yet
  -- which concern the subject.
  perform from memory.import_batches as b
  where b.tenant_id = v_tenant_id and lock_subject.mentions
  order by b.id for update;
  perform from memory.consolidation_runs as r
  where r.tenant_id = v_tenant_id
    and (r.answer is not null or r.errors <> '[]' or r.status = 'proposed')
  order by r.id for update;
  perform memory.lock_embedding_versions(v_tenant_id);
  loop
    traces := memory.find_subject(v_tenant_id, lock_subject.subject, lock_subject.mentions);
    -- And those that are cleared of mentions.
    v_touched := traces.entities || array(
      select e.id
      from memory.entities as e
      where e.tenant_id = v_tenant_id and lock_subject.mentions
        and memory.mentions_in_entity(e, traces.names)
    );
    exit when v_touched <@ v_locked;
    -- Whoever stores about an entity locks it, too. Its names may have changed meanwhile.
    perform from memory.entities as e
    where e.tenant_id = v_tenant_id and e.id = any (v_touched) order by e.id for update;
    v_locked := v_locked || v_touched;
  end loop;
  perform from memory.fact_keys as k
  where k.tenant_id = v_tenant_id
    and memory.is_key_of(k, traces.names, traces.entities, lock_subject.mentions)
  order by k.scope, k.anchor, k.predicate
  for update;
  return traces;
end;
$$;

comment on function memory.lock_subject(text, text, boolean) is
'What memory.find_subject returns, once everything is locked by which something about the subject '
'could appear: imports, runs, the entities, and those that are cleared of mentions, the keys of '
'its facts.';

create or replace function memory.find_traces(
  tenant_id text,
  traces memory.subject_traces,
  mentions boolean
)
  returns memory.subject_traces
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := find_traces.tenant_id;
  v_about uuid[]; -- facts about the subject, without those that only mention it
begin
  traces.rules := '{}';
  traces.applications := '{}';
  traces.runs := '{}';
  v_about := array(
    select f.id
    from memory.facts as f
    where f.tenant_id = v_tenant_id
      and (
        f.entity_id = any (traces.entities)
        or memory.mentions_any(f.subject, traces.names)
        and memory.readings_of(f.subject) && traces.names
      )
  );
  traces.facts := v_about;
  -- What a fact about the subject was drawn from, supports or contradicts it is also about the
  -- subject.
  traces.episodes := array(
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
      )
  );
  -- What concerns a user is about that user.
  traces.entries := array(
    select y.id
    from memory.entries as y
    where y.tenant_id = v_tenant_id
      and memory.mentions_any(y.user_id, traces.names)
      and memory.readings_of(y.user_id) && traces.names
  );
  -- As is what is kept under a name of the subject.
  traces.items := array(
    select i.id
    from memory.store_items as i
    where i.tenant_id = v_tenant_id
      and exists (
        select
        from unnest(i.namespace || i.key) as n (name)
        where memory.mentions_any(n.name, traces.names)
          and memory.readings_of(n.name) && traces.names
      )
  );
  if find_traces.mentions then
    traces.facts := array(
      select unnest(v_about)
      union
      select unnest(memory.list_mentions(v_tenant_id, 'facts', traces.names))
    );
    traces.episodes := array(
      select unnest(traces.episodes)
      union
      select unnest(memory.list_mentions(v_tenant_id, 'episodes', traces.names))
    );
    traces.entries := array(
      select unnest(traces.entries)
      union
      select unnest(memory.list_mentions(v_tenant_id, 'entries', traces.names))
    );
    traces.items := array(
      select unnest(traces.items)
      union
      select unnest(memory.list_mentions(v_tenant_id, 'store_items', traces.names))
      union
      select s.item_id
      from memory.store_vectors as s
      where s.tenant_id = v_tenant_id and memory.mentions_any(s.path, traces.names)
    );
    traces.rules := memory.list_mentions(v_tenant_id, 'rules', traces.names);
    traces.applications := memory.list_mentions(
      v_tenant_id, 'rule_applications', traces.names
    );
    traces.runs := array(
      select r.id
      from memory.consolidation_runs as r
      where r.tenant_id = v_tenant_id
        and memory.mentions_any(
          concat_ws(memory.text_boundary(), r.butler, r.prompt_version, r.model), traces.names
        )
    );
  end if;
  return traces;
end;
$$;

comment on function memory.find_traces(text, memory.subject_traces, boolean) is
'Adds the memories about the subject of these names and entities, with mentions those that mention '
'it too.';

create or replace function memory.find_next_turns(
  tenant_id text,
  episodes uuid[]
)
  returns uuid[]
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select array(
    select n.id
    from memory.episodes as e
    cross join lateral (
      select t.id
      from memory.episodes as t
      where t.tenant_id = find_next_turns.tenant_id and t.session_id = e.session_id
        and t.butler = e.butler and (t.created_at, t.id) > (e.created_at, e.id)
      order by t.created_at, t.id
      limit 1
    ) as n
    where e.tenant_id = find_next_turns.tenant_id and e.id = any (episodes)
      and n.id <> all (episodes)
  );
$$;

comment on function memory.find_next_turns(text, uuid[]) is
'The turns that follow one of these and are none of them: the embedding of a turn also covers the '
'end of the previous turn.';

create or replace function memory.lock_traces(
  tenant_id text,
  traces memory.subject_traces
)
  returns memory.subject_traces
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := lock_traces.tenant_id;
begin
  perform from memory.episodes as e
  where e.tenant_id = v_tenant_id and e.id = any (traces.episodes || traces.next_turns)
  order by e.id for update;
  perform from memory.facts as f
  where f.tenant_id = v_tenant_id
    and (f.id = any (traces.facts) or f.object_entity_id = any (traces.entities))
  order by f.id for update;
  perform from memory.rules as r
  where r.tenant_id = v_tenant_id and r.id = any (traces.rules)
  order by r.id for update;
  perform from memory.entries as y
  where y.tenant_id = v_tenant_id and y.id = any (traces.entries)
  order by y.id for update;
  perform from memory.store_items as i
  where i.tenant_id = v_tenant_id and i.id = any (traces.items)
  order by i.namespace, i.key for update;

  -- What another erasure has deleted meanwhile is gone.
  traces.episodes := array(
    select e.id from memory.episodes as e
    where e.tenant_id = v_tenant_id and e.id = any (traces.episodes)
  );
  traces.next_turns := array(
    select e.id from memory.episodes as e
    where e.tenant_id = v_tenant_id and e.id = any (traces.next_turns)
  );
  traces.facts := array(
    select f.id from memory.facts as f
    where f.tenant_id = v_tenant_id and f.id = any (traces.facts)
  );
  traces.rules := array(
    select r.id from memory.rules as r
    where r.tenant_id = v_tenant_id and r.id = any (traces.rules)
  );
  traces.entries := array(
    select y.id from memory.entries as y
    where y.tenant_id = v_tenant_id and y.id = any (traces.entries)
  );
  traces.items := array(
    select i.id from memory.store_items as i
    where i.tenant_id = v_tenant_id and i.id = any (traces.items)
  );
  return traces;
end;
$$;

comment on function memory.lock_traces(text, memory.subject_traces) is
'Locks the memories about a subject, and returns what is left of them.';

create or replace function memory.find_outcomes(
  tenant_id text,
  traces memory.subject_traces,
  mentions boolean
)
  returns memory.subject_traces
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := find_outcomes.tenant_id;
begin
  traces.applications := array(
    select a.id
    from memory.rule_applications as a
    where a.tenant_id = v_tenant_id
      and (a.rule_id = any (traces.rules) or a.id = any (traces.applications))
  );
  -- An answer about an erased episode may tell what it said in other words.
  traces.answers := array(
    select r.id
    from memory.consolidation_runs as r
    where r.tenant_id = v_tenant_id and r.answer is not null and r.id <> all (traces.runs)
      and (
        r.episode_ids && traces.episodes
        or find_outcomes.mentions and memory.mentions_any(r.answer, traces.names)
      )
  );
  return traces;
end;
$$;

comment on function memory.find_outcomes(text, memory.subject_traces, boolean) is
'Adds what came of these memories: the applications of the rules, the answers about the episodes.';

create or replace function memory.memories_of(traces memory.subject_traces)
  returns uuid[]
  language sql
  immutable
  parallel safe
  return (traces).facts || (traces).episodes || (traces).rules || (traces).entries
  || (traces).items || (traces).entities;

comment on function memory.memories_of(memory.subject_traces) is
'What among the traces of a subject has a history.';

create or replace function memory.concerns_subject(
  proposal memory.consolidation_proposals,
  traces memory.subject_traces,
  mentions boolean
)
  returns boolean
  language sql
  immutable
  parallel safe
  return array[proposal.run_id] <@ (traces).runs
  or array[proposal.memory_id] <@ ((traces).facts || (traces).rules)
  or proposal.evidence && (traces).episodes
  or mentions and memory.mentions_in_proposal(proposal, (traces).names);

comment on function memory.concerns_subject(
  memory.consolidation_proposals, memory.subject_traces, boolean
) is
'Whether a proposal of consolidation is of a run, a memory or episodes about a subject, or, with '
'mentions, mentions it.';

create or replace function memory.count_traces(
  tenant_id text,
  traces memory.subject_traces,
  mentions boolean,
  out applications bigint,
  out images bigint,
  out proposals bigint,
  out cleared bigint,
  out errors bigint
)
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := count_traces.tenant_id;
  v_columns constant text[] := memory.image_text_columns();
begin
  count_traces.applications := cardinality(traces.applications)::bigint;
  count_traces.cleared := 0;
  count_traces.errors := 0;
  select count(*) into count_traces.images
  from memory.memory_history as h
  where h.tenant_id = v_tenant_id and h.memory_id = any (memory.memories_of(traces));
  select count(*) into count_traces.proposals
  from memory.consolidation_proposals as p
  where p.tenant_id = v_tenant_id
    and memory.concerns_subject(p, traces, count_traces.mentions);
  if count_traces.mentions then
    select count_traces.images + count(*) into count_traces.images
    from memory.memory_history as h
    where h.tenant_id = v_tenant_id
      and h.memory_id <> all (memory.memories_of(traces))
      and memory.mentions_in_image(h.image, v_columns, traces.names);
    select count(*) into count_traces.cleared
    from memory.entities as e
    where e.tenant_id = v_tenant_id and e.id <> all (traces.entities)
      and memory.mentions_in_entity(e, traces.names);
    select count(*) into count_traces.errors
    from memory.consolidation_runs as r
    where r.tenant_id = v_tenant_id and r.id <> all (traces.runs)
      and memory.mentions_any(r.errors::text, traces.names);
  end if;
end;
$$;

comment on function memory.count_traces(text, memory.subject_traces, boolean) is
'How much else concerns a subject: applications of rules, states in the history, proposals of '
'consolidation, entities that mention it, errors of runs that do.';

create or replace function memory.delete_traces(
  tenant_id text,
  traces memory.subject_traces,
  keys memory.fact_keys[],
  mentions boolean,
  out applications bigint,
  out images bigint,
  out proposals bigint,
  out cleared bigint,
  out errors bigint
)
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := delete_traces.tenant_id;
begin
  delete_traces.cleared := 0;
  delete_traces.errors := 0;
  select count(*) into delete_traces.images
  from memory.memory_history as h
  where h.tenant_id = v_tenant_id and h.memory_id = any (memory.memories_of(traces));
  -- First, because triggers ask for it: memory.is_erasing.
  perform memory.write_event(
    v_tenant_id, 'erased', null, null,
    jsonb_build_object(
      'episodes', cardinality(traces.episodes), 'facts', cardinality(traces.facts),
      'rules', cardinality(traces.rules), 'entries', cardinality(traces.entries),
      'items', cardinality(traces.items), 'entities', cardinality(traces.entities)
    )
  );

  update memory.consolidation_runs as r
  set answer = null
  where r.tenant_id = v_tenant_id and r.id = any (traces.answers);
  delete from memory.rule_applications as a
  where a.tenant_id = v_tenant_id and a.id = any (traces.applications);
  get diagnostics delete_traces.applications = row_count;
  delete from memory.rules as r where r.tenant_id = v_tenant_id and r.id = any (traces.rules);
  delete from memory.facts as f where f.tenant_id = v_tenant_id and f.id = any (traces.facts);
  delete from memory.entries as y where y.tenant_id = v_tenant_id and y.id = any (traces.entries);
  delete from memory.store_items as i where i.tenant_id = v_tenant_id and i.id = any (traces.items);
  delete from memory.episodes as e where e.tenant_id = v_tenant_id and e.id = any (traces.episodes);
  update memory.facts as f
  set object_entity_id = null
  where f.tenant_id = v_tenant_id and f.object_entity_id = any (traces.entities);
  delete from memory.entities as e where e.tenant_id = v_tenant_id and e.id = any (traces.entities);
  delete from memory.fact_keys as k
  using unnest(delete_traces.keys) as v
  where k.tenant_id = v_tenant_id and k.scope = v.scope and k.anchor = v.anchor
    and k.predicate = v.predicate;
  delete from memory.consolidation_proposals as p
  where p.tenant_id = v_tenant_id
    and memory.concerns_subject(p, traces, delete_traces.mentions);
  get diagnostics delete_traces.proposals = row_count;
  delete from memory.consolidation_runs as r
  where r.tenant_id = v_tenant_id and r.id = any (traces.runs);
  perform memory.close_reviews(v_tenant_id);
  if delete_traces.mentions then
    update memory.consolidation_runs as r
    set errors = '[]'
    where r.tenant_id = v_tenant_id and memory.mentions_any(r.errors::text, traces.names);
    get diagnostics delete_traces.errors = row_count;
    update memory.import_batches as b
    set name = b.id::text
    where b.tenant_id = v_tenant_id and memory.mentions_any(b.name, traces.names);
    delete from memory.restored_events as r
    where r.tenant_id = v_tenant_id and memory.mentions_any(r.event::text, traces.names);
    update memory.entry_merges as m
    set model = null
    where m.tenant_id = v_tenant_id and memory.mentions_any(m.model, traces.names);
    delete from memory.store_vectors as s
    where s.tenant_id = v_tenant_id and memory.mentions_any(s.model, traces.names);
    update memory.entities as e
    set
      metadata = memory.redact_value(e.metadata, traces.names),
      aliases = array(
        select a.alias
        from jsonb_array_elements_text(memory.redact_value(to_jsonb(e.aliases), traces.names))
          with ordinality as a (alias, place)
        order by a.place
      )
    where e.tenant_id = v_tenant_id
      and memory.mentions_in_entity(e, traces.names);
    get diagnostics delete_traces.cleared = row_count;
    -- After what changes entities, because each of those leaves an image.
    delete_traces.images := delete_traces.images - delete_traces.cleared
      + memory.redact_history(v_tenant_id, traces.names);
  end if;
end;
$$;

comment on function memory.delete_traces(
  text, memory.subject_traces, memory.fact_keys[], boolean
) is
'Deletes the memories about a subject, and what else concerns it; counts this as '
'memory.count_traces does.';

create or replace function memory.embed_next_turns(
  tenant_id text,
  traces memory.subject_traces
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := embed_next_turns.tenant_id;
begin
  delete from memory.staged_embeddings as s
  where s.tenant_id = v_tenant_id and s.memory_type = 'episode'
    and s.memory_id = any (traces.next_turns);
  update memory.episodes as e
  set embedding = null, embedding_version_id = null
  where e.tenant_id = v_tenant_id and e.id = any (traces.next_turns);
  insert into memory.embedding_queue (tenant_id, target, memory_type, memory_id)
  select v_tenant_id, t.target, 'episode', n.id
  from unnest(traces.next_turns) as n (id)
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
end;
$$;

comment on function memory.embed_next_turns(text, memory.subject_traces) is
'Has the turns embedded again that follow an erased turn, whose vectors cover its end.';

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
  v_tenant_id constant text := memory.current_tenant();
  v_traces memory.subject_traces;
  v_keys memory.fact_keys[];
  v_counted record;
begin
  if erase_subject.dry_run then
    v_traces := memory.find_subject(v_tenant_id, erase_subject.subject, erase_subject.mentions);
  else
    v_traces := memory.lock_subject(v_tenant_id, erase_subject.subject, erase_subject.mentions);
  end if;
  v_keys := array(
    select k
    from memory.fact_keys as k
    where k.tenant_id = v_tenant_id
      and memory.is_key_of(k, v_traces.names, v_traces.entities, erase_subject.mentions)
  );
  v_traces := memory.find_traces(v_tenant_id, v_traces, erase_subject.mentions);
  -- Last and by itself, because finding may take long, and a turn may have followed meanwhile.
  v_traces.next_turns := memory.find_next_turns(v_tenant_id, v_traces.episodes);
  if not erase_subject.dry_run then
    v_traces := memory.lock_traces(v_tenant_id, v_traces);
  end if;
  v_traces := memory.find_outcomes(v_tenant_id, v_traces, erase_subject.mentions);
  if erase_subject.dry_run then
    select * into v_counted
    from memory.count_traces(v_tenant_id, v_traces, erase_subject.mentions);
  else
    select * into v_counted
    from memory.delete_traces(v_tenant_id, v_traces, v_keys, erase_subject.mentions);
    perform memory.embed_next_turns(v_tenant_id, v_traces);
  end if;

  return query
  select v.object, v.erased
  from (
    values
      (1, 'episodes', cardinality(v_traces.episodes)::bigint),
      (2, 'facts', cardinality(v_traces.facts)),
      (3, 'rules', cardinality(v_traces.rules)),
      (4, 'entries', cardinality(v_traces.entries)),
      (5, 'items', cardinality(v_traces.items)),
      (6, 'entities', cardinality(v_traces.entities)),
      (7, 'rule applications', v_counted.applications),
      (8, 'states in the history', v_counted.images),
      (9, 'keys of facts', cardinality(v_keys)),
      (10, 'entities cleared of mentions', v_counted.cleared),
      (11, 'vectors of next turns', cardinality(v_traces.next_turns)),
      (
        12, 'traces of consolidation',
        cardinality(v_traces.runs) + cardinality(v_traces.answers) + v_counted.proposals
        + v_counted.errors
      )
  ) as v (place, object, erased)
  order by v.place;
end;
$$;

comment on function memory.erase_subject(text, boolean, boolean) is
'Deletes what the memory contains about a person or thing, in one transaction and permanently: '
'facts about the name or an entity with that name, the episodes they were drawn from, the entity, '
'the entries of a user with that name, the items with that name as key or in their namespace, and, '
'with mentions (the default), every memory whose text, tags or metadata contain one of its names '
'as whole words, and every item that does; with their vectors, history, applications and keys. '
'Turns that follow a deleted turn are embedded again. Links and tombstones stay, without content; '
'events contain none. Settings stay too, such as instructions for the prompt of consolidation that '
'contain the name. Returns what was erased, or with dry_run would be. '
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
  v_columns text[] := memory.image_text_columns();
begin
  -- Read from the catalog, so that no table or column is missed.
  for table_name, column_name in
    select c.table_name::text, c.column_name::text
    from memory.text_columns() as c
    order by 1, 2
  loop
    execute format(
      'select count(*) from memory.%I as t where t.tenant_id = $1 and %s',
      table_name,
      case
        when (table_name, column_name) = ('memory_history', 'image')
        then 'memory.mentions_in_image(t.image, $3, $2)'
        else format('memory.mentions_any(t.%I::text, $2)', column_name)
      end
    )
    into remaining
    using v_tenant_id, v_names, v_columns;
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
