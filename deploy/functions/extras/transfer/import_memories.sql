-- Deploy pymem:functions/extras/transfer/import_memories to pg

begin;

set local role memory_owner;

create or replace function memory.source_digest(
  format text,
  source_id text
)
  returns bytea
  language sql
  immutable
  parallel safe
  return sha256(convert_to(jsonb_build_array(format, source_id)::text, 'UTF8'));

comment on function memory.source_digest(text, text) is
'SHA-256 of a format and the id that a memory has where it comes from; NULL for none.';

create or replace function memory.read_element(
  element jsonb,
  format text,
  batch_id uuid,
  source_class text
)
  returns jsonb
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select element - '{type,source_id,from,to,relation}'::text []
  || jsonb_build_object(
    'idempotency_key',
    'import:' || encode(
      sha256(convert_to(
        jsonb_build_array(
          read_element.format, element -> 'type', element -> 'source_id',
          coalesce(element -> 'butler', element -> 'scope'), element -> 'subject',
          element -> 'predicate', element -> 'content'
        )::text, 'UTF8'
      )), 'hex'
    ),
    'metadata',
    case jsonb_typeof(element -> 'metadata') when 'object' then element -> 'metadata' else '{}' end
    || jsonb_build_object(
      'import',
      jsonb_strip_nulls(jsonb_build_object(
        'format', read_element.format, 'id', element -> 'source_id', 'batch', batch_id
      ))
    )
  )
  || case element ->> 'type'
    when 'entry' then jsonb_build_object('source', case read_element.source_class when 'user' then 'user' else 'import' end)
    when 'rule' then '{}'
    else jsonb_build_object('source_class', read_element.source_class)
  end;
$$;

comment on function memory.read_element(jsonb, text, uuid, text) is
'An element of the import_memories argument as an argument of the function that stores it: with a '
'key made of where it comes from and what it says, and where it comes from in its metadata.';

create or replace function memory.import_rules(
  rules jsonb,
  source_class text,
  as_of timestamptz
)
  returns table (
    ordinal bigint,
    id uuid,
    created boolean
  )
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_ids uuid[] := array(
    select gen_random_uuid() as id from jsonb_array_elements(rules) order by id
  );
begin
  perform memory.check_elements(
    'rule', rules,
    '{
      "content": "string", "scope": "string", "tags": "array", "confidence": "number",
      "importance": "number", "metadata": "object", "idempotency_key": "string",
      "created_at": "time"
    }'
  );
  return query
  with given as materialized (
    select
      a.ordinal, r.content, coalesce(memory.collapse_whitespace(r.scope), 'global') as scope,
      coalesce(r.tags, '[]') as tags, coalesce(r.confidence, 0.5) as confidence,
      coalesce(r.importance, 5.0) as importance, coalesce(r.metadata, '{}') as metadata,
      r.idempotency_key, coalesce(r.created_at, as_of) as created_at
    from jsonb_array_elements(rules) with ordinality as a (rule, ordinal)
    cross join lateral jsonb_to_record(a.rule) as r (
      content text, scope text, tags jsonb, confidence float8, importance float8, metadata jsonb,
      idempotency_key text, created_at timestamptz
    )
  ),
  checked as materialized (
    select
      g.ordinal,
      memory.check_text('content of rule ' || g.ordinal, g.content, 1048576),
      memory.check_scope('scope of rule ' || g.ordinal, g.scope),
      memory.check_number('confidence of rule ' || g.ordinal, g.confidence, 0, 1),
      memory.check_number('importance of rule ' || g.ordinal, g.importance, 0, 10),
      memory.check_tags(g.tags, ' of rule ' || g.ordinal),
      memory.check_metadata(
        g.metadata,
        '{
          status,forgotten,needs_inversion,harmful_reasons,original_content,inverted_from,
          ended_by_run
        }',
        ' of rule ' || g.ordinal
      ),
      memory.check_idempotency_key(g.idempotency_key, ' of rule ' || g.ordinal),
      memory.check_write_time('created_at of rule ' || g.ordinal, g.created_at)
    from given as g
  ),
  stored as (
    insert into memory.rules (
      tenant_id, id, content, scope, tags, confidence, importance, decay_rate, trust, metadata,
      text_search_config, idempotency_key, created_at, last_confirmed_at
    )
    select
      v_tenant_id, v_ids[g.ordinal], g.content, g.scope, g.tags, g.confidence, g.importance, 0.01,
      import_rules.source_class, g.metadata, memory.text_search_config_of(v_tenant_id), g.idempotency_key,
      g.created_at, as_of
    from given as g
    join checked as c on c.ordinal = g.ordinal
    order by g.idempotency_key, g.ordinal
    on conflict (tenant_id, idempotency_key) where idempotency_key is not null do nothing
    returning id, idempotency_key
  )
  select
    g.ordinal, coalesce(s.id, k.id), coalesce(s.id = v_ids[g.ordinal], false)
  from given as g
  left join stored as s on s.idempotency_key = g.idempotency_key
  left join memory.rules as k
    on k.tenant_id = v_tenant_id and k.idempotency_key = g.idempotency_key
  order by g.ordinal;
end;
$$;

comment on function memory.import_rules(jsonb, text, timestamptz) is
'Stores many rules, all or none, with the given trust: the rules of memory.import_memories. '
'Returns for each its id and whether it is new. Errors: PM002 (the message says which rule).';

create or replace function memory.judge_facts(facts jsonb)
  returns table (
    ordinal bigint,
    outcome text,
    active_id uuid
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  -- A fact of the memory, whoever stated it, is not superseded by one that is trusted less.
  select
    a.ordinal,
    case
      when a.fact ->> 'idempotency_key' = k.idempotency_key then 'known'
      when memory.collapse_whitespace(normalize(k.content, nfc))
        = memory.collapse_whitespace(normalize(a.fact ->> 'content', nfc))
      then 'known'
      when memory.least_trust(k.trust, a.fact ->> 'source_class') <> k.trust then 'conflict'
    end,
    k.id
  from jsonb_array_elements(facts) with ordinality as a (fact, ordinal)
  -- One by one from the unique index, however many facts there are.
  left join lateral (
    select f.id, f.content, f.trust, f.idempotency_key
    from memory.facts as f
    where f.tenant_id = (select memory.current_tenant())
      and f.scope = coalesce(memory.collapse_whitespace(a.fact ->> 'scope'), 'global')
      and f.subject_key = memory.spelling_key(a.fact ->> 'subject')
      and f.predicate_key = memory.predicate_key(a.fact ->> 'predicate')
      and f.entity_id is null and f.validity = 'active' and f.planned_for is null
    limit 1
  ) as k on true;
$$;

comment on function memory.judge_facts(jsonb) is
'What the active fact of its key says about each fact of an import: known, it says the same; '
'conflict, it says otherwise and is trusted more; else NULL.';

create or replace function memory.import_batch(
  name text,
  format text,
  source_class text,
  as_of timestamptz
)
  returns memory.import_batches
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_batch memory.import_batches;
begin
  insert into memory.import_batches (
    tenant_id, name, format, source_class, status, started_at
  )
  values (
    v_tenant_id, import_batch.name, import_batch.format, import_batch.source_class, 'done', as_of
  )
  on conflict (tenant_id, name) do update set status = 'done', undone_at = null
  returning * into v_batch;
  if (v_batch.format, v_batch.source_class)
    is distinct from (import_batch.format, import_batch.source_class)
  then
    raise exception 'the import % has the format % and the source class %',
      quote_literal(import_batch.name), v_batch.format, coalesce(v_batch.source_class, 'of each memory')
      using errcode = 'PM004', hint = 'Pass another name.';
  end if;
  return v_batch;
end;
$$;

comment on function memory.import_batch(text, text, text, timestamptz) is
'The import of this name, created if there is none; locked until the end of the transaction. '
'Errors: PM004 it has another format or source class.';

create or replace function memory.import_memories(
  elements jsonb,
  source_format text,
  batch text,
  source_class text default 'external',
  as_of timestamptz default now()
)
  returns table (
    ordinal bigint,
    memory_type text,
    id uuid,
    outcome text,
    reason text
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_batch memory.import_batches;
  v_bad record;
  v_type text;
  v_places bigint[];
  v_part jsonb;
  v_results jsonb := '[]'::jsonb;
begin
  perform
    memory.check_word(
      'source_format', import_memories.source_format,
      '{jsonl,mem0,zep,letta,chatgpt,claude,markdown,pam,other}'
    ),
    memory.check_word('source_class', import_memories.source_class, memory.source_classes()),
    memory.check_write_time('as_of', as_of),
    memory.check_text('batch', batch, 128),
    memory.check_batch_name(batch, import_memories.source_format, null);
  if jsonb_typeof(elements) is distinct from 'array' then
    raise exception 'elements are not a JSON array'
      using errcode = 'PM002', hint = 'Pass an array of objects, one per memory.';
  end if;
  select a.ordinal, a.element -> 'type' as type into v_bad
  from jsonb_array_elements(elements) with ordinality as a (element, ordinal)
  where jsonb_typeof(a.element) <> 'object'
    or (a.element ->> 'type' in ('episode', 'fact', 'rule', 'entry', 'link')) is not true
    or jsonb_typeof(a.element -> 'source_id') not in ('string', 'null')
    or octet_length(a.element ->> 'source_id') > 1024
    or a.element ->> 'type' = 'link' and (
      jsonb_typeof(a.element -> 'from') is distinct from 'string'
      or jsonb_typeof(a.element -> 'to') is distinct from 'string'
    )
  order by a.ordinal
  limit 1;
  if found then
    raise exception 'element % is not a memory or a link to import', v_bad.ordinal
      using errcode = 'PM002',
        hint = 'Pass objects with a type (episode, fact, rule, entry, link), and a source_id of at most '
          '1024 bytes or none; a link has the source ids from and to.';
  end if;
  v_batch := memory.import_batch(batch, import_memories.source_format, import_memories.source_class, as_of);

  foreach v_type in array '{episode,fact,rule,entry}'::text [] loop
    select
      array_agg(a.ordinal order by a.ordinal),
      jsonb_agg(
        memory.read_element(a.element, import_memories.source_format, v_batch.id, import_memories.source_class)
        order by a.ordinal
      )
    into v_places, v_part
    from jsonb_array_elements(elements) with ordinality as a (element, ordinal)
    where a.element ->> 'type' = v_type;
    continue when v_part is null;

    case v_type
      when 'episode' then
        v_results := v_results || (
          select jsonb_agg(jsonb_build_array(
            v_places[s.ordinal], 'episode', s.id, case when s.created then 'created' else 'known' end
          ))
          from memory.store_episodes(v_part, as_of) as s
        );
      when 'fact' then
        -- Checked first: a fact that is left out must be right, too.
        perform memory.check_facts(memory.read_facts(v_part, as_of));
        declare
          v_judged jsonb[] := array(
            select jsonb_build_array(j.active_id, j.outcome)
            from memory.judge_facts(v_part) as j
            order by j.ordinal
          );
          v_left bigint[] := array(
            select p.place::bigint
            from generate_series(1, cardinality(v_places)) as p (place)
            where v_judged[p.place] ->> 1 is null
            order by p.place
          );
        begin
          v_results := v_results || coalesce(
            (
              select jsonb_agg(jsonb_build_array(
                v_places[p.place], 'fact', v_judged[p.place] -> 0, v_judged[p.place] -> 1
              ))
              from generate_series(1, cardinality(v_places)) as p (place)
              where v_judged[p.place] ->> 1 is not null
            ),
            '[]'
          ) || coalesce(
            (
              select jsonb_agg(jsonb_build_array(
                v_places[v_left[s.ordinal]], 'fact', s.id,
                case when s.created then 'created' else 'known' end
              ))
              from memory.store_facts(
                (select coalesce(jsonb_agg(v_part -> (l.place - 1)::integer order by l.place), '[]')
                 from unnest(v_left) as l (place)),
                as_of => as_of
              ) as s
            ),
            '[]'
          );
        end;
      when 'rule' then
        v_results := v_results || (
          select jsonb_agg(jsonb_build_array(
            v_places[s.ordinal], 'rule', s.id, case when s.created then 'created' else 'known' end
          ))
          from memory.import_rules(v_part, import_memories.source_class, as_of) as s
        );
      else
        v_results := v_results || (
          select jsonb_agg(jsonb_build_array(
            v_places[s.ordinality], 'entry', s.id,
            case s.outcome
              when 'created' then 'created'
              when 'unchanged' then 'known'
              when 'updated' then 'known'
              else 'conflict'
            end,
            s.reason
          ))
          from rows from (memory.import_entries(v_part, as_of)) with ordinality as s
        );
    end case;
  end loop;

  insert into memory.imported_memories (
    tenant_id, memory_type, memory_id, batch_id, source_digest, imported_at
  )
  select
    v_tenant_id, r.result ->> 1, (r.result ->> 2)::uuid, v_batch.id,
    memory.source_digest(
      import_memories.source_format, elements -> ((r.result ->> 0)::integer - 1) ->> 'source_id'
    ),
    as_of
  from jsonb_array_elements(v_results) as r (result)
  where r.result ->> 3 = 'created'
  order by 2, 3
  on conflict (tenant_id, memory_type, memory_id) do nothing;

  -- Before the links come, which do not count.
  update memory.import_batches as b
  set created = b.created + c.created, known = b.known + c.known
  from (
    select
      count(*) filter (where r.result ->> 3 = 'created') as created,
      count(*) filter (where r.result ->> 3 = 'known') as known
    from jsonb_array_elements(v_results) as r (result)
  ) as c
  where b.tenant_id = v_tenant_id and b.id = v_batch.id;

  -- Both ends by what they were there; a link to what was not imported is left out.
  with wanted as materialized (
    select
      a.ordinal, coalesce(a.element ->> 'relation', 'related_to') as relation,
      s.memory_type as source_type, s.memory_id as source_id, t.memory_type as target_type,
      t.memory_id as target_id
    from jsonb_array_elements(elements) with ordinality as a (element, ordinal)
    left join lateral memory.find_imported(import_memories.source_format, a.element ->> 'from') as s on true
    left join lateral memory.find_imported(import_memories.source_format, a.element ->> 'to') as t on true
    where a.element ->> 'type' = 'link'
  ),
  linked as (
    insert into memory.memory_links (
      tenant_id, source_type, source_id, target_type, target_id, relation
    )
    select distinct on (w.source_type, w.source_id, w.target_type, w.target_id)
      v_tenant_id, w.source_type, w.source_id, w.target_type, w.target_id, w.relation
    from wanted as w
    where w.source_id <> w.target_id
    order by w.source_type, w.source_id, w.target_type, w.target_id, w.ordinal
    on conflict (tenant_id, source_type, source_id, target_type, target_id) do nothing
    returning source_type, source_id, target_type, target_id
  )
  select v_results || coalesce(
    jsonb_agg(jsonb_build_array(
      w.ordinal, 'link', null,
      case
        when l.source_id is not null then 'created'
        when w.source_id is null or w.target_id is null or w.source_id = w.target_id then 'skipped'
        else 'known'
      end
    )),
    '[]'
  ) into v_results
  from wanted as w
  left join linked as l
    on l.source_type = w.source_type and l.source_id = w.source_id
      and l.target_type = w.target_type and l.target_id = w.target_id;

  return query
  select
    (r.result ->> 0)::bigint, r.result ->> 1, (r.result ->> 2)::uuid, r.result ->> 3,
    coalesce(
      r.result ->> 4,
      case
        when r.result ->> 3 = 'conflict' then 'the memory knows otherwise, from a more trusted source'
        when r.result ->> 3 = 'skipped' then 'one of its ends was not imported'
      end
    )
  from jsonb_array_elements(v_results) as r (result)
  order by 1;
end;
$$;

comment on function memory.import_memories(jsonb, text, text, text, timestamptz) is
'Stores memories that come from elsewhere, all or none, as part of the import named batch, which '
'memory.undo_import undoes: an array of objects with type (episode, fact, rule, entry or link) '
'and, for an id that they have there, source_id. Episodes have content and butler and, '
'optionally, session_id, importance, metadata and created_at; facts subject, predicate and '
'content and, optionally, importance, permanence, scope, tags, confidence, metadata, created_at, '
'valid_from and valid_to; rules content and, optionally, scope, tags, confidence, importance, '
'metadata and created_at; entries the keys of memory.import_entries; links from and to, source '
'ids of the same format, and relation (default related_to). source_class says whose statements '
'they are; external: nobody''s that the agent should trust. source_format: jsonl, mem0, zep, '
'letta, chatgpt, claude, markdown, pam or other. Returns for each, in order, its type, id and '
'outcome: created; known, if it was imported before or the memory says the same; conflict, if the '
'memory says otherwise and trusts that more; skipped, a link to what is not there. Errors: PM002 '
'invalid element (the message says which), PM004 the import has another format.';
grant execute on function memory.import_memories to memory_writer;

create or replace function memory.find_imported(
  format text,
  source_id text
)
  returns table (
    memory_type text,
    memory_id uuid
  )
  language sql
  stable
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select i.memory_type, i.memory_id
  from memory.imported_memories as i
  where i.tenant_id = memory.current_tenant()
    and i.source_digest = memory.source_digest(find_imported.format, find_imported.source_id)
    and memory.memory_exists(i.tenant_id, i.memory_type, i.memory_id)
  order by i.imported_at desc, i.memory_type, i.memory_id
  limit 1;
$$;

comment on function memory.find_imported(text, text) is
'The memory that was imported last from a format under an id, if it still exists.';

commit;
