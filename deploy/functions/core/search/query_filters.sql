-- Deploy pymem:functions/core/search/query_filters to pg

begin;

set local role memory_owner;

create or replace function memory.filters_condition(
  types text[] default null,
  tags text[] default null,
  confidence_min float8 default 0,
  confidence_max float8 default 1,
  created_after timestamptz default null,
  created_before timestamptz default null,
  exclude_ids text[] default null
)
  returns memory.query_condition
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_condition memory.query_condition;
  v_words text[] := '{preference,pattern,note}'::text[] || memory.memory_type_names();
begin
  perform
    memory.check_number('confidence_min', confidence_min, 0, 1),
    memory.check_number('confidence_max', confidence_max, 0, 1),
    memory.check_time('created_after', coalesce(created_after, '2000-01-01Z')),
    memory.check_time('created_before', coalesce(created_before, '2000-01-01Z'));
  if greatest(cardinality(types), cardinality(tags), cardinality(exclude_ids)) > 1000 then
    raise exception 'a filter has more than 1000 values'
      using errcode = 'PM002', hint = 'Pass at most 1000 types, tags and ids.';
  end if;
  perform memory.check_word('type', t.type, v_words) from unnest(types) as t (type);
  perform memory.check_text('tag', t.tag, 16384) from unnest(tags) as t (tag);

  v_condition.topic_required := false;
  v_condition.with_archived := false;
  if types <> '{}' then
    v_condition.kinds := memory.kinds_of(types);
  end if;
  if tags <> '{}' then
    v_condition.any_tags := array(
      select distinct memory.fold_label(memory.collapse_whitespace(t.tag))
      from unnest(tags) as t (tag)
      order by 1
    );
  end if;
  if confidence_min > 0 or confidence_max < 1 then
    v_condition.confidence := case
      when confidence_min <= confidence_max
      then multirange(numrange(confidence_min::numeric, confidence_max::numeric, '[]'))
      else '{}'
    end;
  end if;
  if created_after is not null or created_before is not null then
    v_condition.created_at := case
      when created_after > created_before then '{}'
      else multirange(tstzrange(created_after, created_before, '[]'))
    end;
  end if;
  if exclude_ids <> '{}' then
    v_condition.excluded_ids := array(
      select coalesce(
        memory.find_entry(v_tenant_id, i.id),
        case when i.id !~~ 'mem-%' then i.id::uuid end
      )
      from unnest(exclude_ids) as i (id)
    );
    v_condition.excluded_ids := array_remove(v_condition.excluded_ids, null);
  end if;
  return v_condition;
end;
$$;

comment on function memory.filters_condition(
  text[], text[], float8, float8, timestamptz, timestamptz, text[]
) is
'The condition of filters that are given as values: one of these types (the words of type:), one '
'of these tags, a confidence from min to max, created from created_after to created_before, both '
'inclusive, and none of these ids (of entries in either form, or of other memories). NULL and '
'empty lists filter nothing. Errors: PM002.';

create or replace function memory.narrow_conditions(
  conditions memory.query_condition[],
  filter memory.query_condition
)
  returns memory.query_condition[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select array(
    select distinct memory.both_conditions(c, filter) from unnest(conditions) as c order by 1
  );
$$;

comment on function memory.narrow_conditions(memory.query_condition[], memory.query_condition) is
'Conditions of a query, each narrowed by a filter (memory.filters_condition).';

create or replace function memory.read_phrase(
  text_search_config text,
  phrase text
)
  returns tsquery
  language plpgsql
  stable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
  set client_min_messages = warning -- no NOTICE about words too long to index
as $$
declare
  v_words text := memory.prepare_words(text_search_config, phrase, false);
  v_folded text := memory.fold_text(v_words);
  v_query tsquery;
begin
  if v_words <> phrase and memory.pair_characters(v_folded, false) <> v_folded
    or v_words <> phrase and memory.split_numbers(normalize(phrase, nfkc)) <> v_words
  then
    return null;
  end if;
  v_query := phraseto_tsquery(text_search_config::regconfig, v_folded);
  if memory.reads_accents(text_search_config) and v_words <> v_folded then
    v_query := v_query || phraseto_tsquery(text_search_config::regconfig, v_words);
  end if;
  if memory.fold_text(v_query::text) <> v_query::text then
    v_query := memory.fold_text(v_query::text)::tsquery;
  end if;
  return case when numnode(v_query) > 0 then v_query end;
end;
$$;

comment on function memory.read_phrase(text, text) is
'The tsquery that matches texts in which these words follow one another, as indexed by '
'memory.to_search_vector; NULL if the text itself has to be looked at: there are only stop words, '
'or scripts without spaces.';
grant execute on function memory.read_phrase to memory_search;

create or replace function memory.read_phrase_in(
  languages text[],
  phrase text
)
  returns tsquery
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_query tsquery := memory.read_phrase(languages[1], phrase);
  v_language text;
begin
  foreach v_language in array languages[2:] loop
    v_query := v_query || coalesce(memory.read_phrase(v_language, phrase), v_query);
  end loop;
  return v_query;
end;
$$;

comment on function memory.read_phrase_in(text[], text) is
'memory.read_phrase in any of some text search configurations; NULL if it is for the first.';
grant execute on function memory.read_phrase_in to memory_search;

create or replace function memory.has_literals(
  content text,
  literals text[],
  excluded_literals text[]
)
  returns boolean
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_text text := memory.normalize_name(content);
  v_literal text;
begin
  foreach v_literal in array coalesce(literals, '{}') loop
    if strpos(v_text, v_literal) = 0 then
      return false;
    end if;
  end loop;
  foreach v_literal in array coalesce(excluded_literals, '{}') loop
    if strpos(v_text, v_literal) > 0 then
      return false;
    end if;
  end loop;
  return true;
end;
$$;

comment on function memory.has_literals(text, text[], text[]) is
'Whether a text contains all literals and none of the excluded ones; these are the results of '
'memory.normalize_name.';
grant execute on function memory.has_literals to memory_search;

create or replace function memory.with_tags(
  condition memory.query_condition,
  tags text[],
  any_tags text[]
)
  returns memory.query_condition
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  condition.tags := with_tags.tags;
  condition.any_tags := with_tags.any_tags;
  return condition;
end;
$$;

comment on function memory.with_tags(memory.query_condition, text[], text[]) is
'A condition with other tags and any_tags.';
grant execute on function memory.with_tags to memory_search;

create or replace function memory.join_alternatives(conditions memory.query_condition[])
  returns memory.query_condition[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select array(
    select memory.with_tags(
      a.rest,
      case when cardinality(a.tags) = 1 then a.tags end,
      case when cardinality(a.tags) > 1 then a.tags end
    )
    from (
      select
        memory.with_tags(c, null, null) as rest,
        array_agg(distinct c.tags[1] order by c.tags[1]) as tags
      from unnest(conditions) as c
      where cardinality(c.tags) = 1 and c.any_tags is null
      group by 1
    ) as a
    union all
    select c
    from unnest(conditions) as c
    where (cardinality(c.tags) = 1 and c.any_tags is null) is not true
    order by 1
  );
$$;

comment on function memory.join_alternatives(memory.query_condition[]) is
'Alternatives that mean the same, fewer of them: those that differ in a single tag become one that '
'asks for any of the tags.';
grant execute on function memory.join_alternatives to memory_search;

-- memory_search owns what reads memories: see neighbors.sql.
grant create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.meet_condition(
  condition memory.query_condition,
  memory_types text[],
  scope text,
  include_archived boolean,
  settings memory.settings,
  as_of timestamptz
)
  returns table (
    memory_type text,
    id uuid
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  -- With the values in the plan, what a condition does not ask for costs nothing, and the planner
  -- knows which index leads to the fewest memories.
  set plan_cache_mode = force_custom_plan
  set jit = off -- compiling costs more than it saves
  set max_parallel_workers_per_gather = 0 -- so does starting workers
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_scope text := scope;
  v_types text[] := array(
    select t.type
    from unnest(memory_types) as t (type)
    where t.type <> 'entry' and (condition.kinds is null or t.type = any (condition.kinds))
  );
  v_entry_types text[] := case
    when condition.kinds is not null then array(
      select split_part(k.kind, '.', 2)
      from unnest(condition.kinds) as k (kind)
      where split_part(k.kind, '.', 1) = 'entry'
    )
  end;
  v_bands text[] := coalesce(condition.bands, '{active,aging,aged,archived}');
  v_states text[] := '{active,aged}'::text[];
  v_ids uuid[] := condition.ids;
  v_excluded_ids uuid[] := condition.excluded_ids;
  v_tags text[] := condition.tags;
  v_any_tags text[] := condition.any_tags;
  v_excluded_tags text[] := condition.excluded_tags;
  v_tag_terms bigint[] := case
    when v_tags is not null then memory.hash_terms(v_tenant_id, v_tags)
  end;
  v_any_tag_terms bigint[] := case
    when v_any_tags is not null then memory.hash_terms(v_tenant_id, v_any_tags)
  end;
  v_titles text[] := condition.titles;
  v_title_word text := btrim(split_part(condition.titles[1], ' ', 2));
  v_excluded_titles text[] := condition.excluded_titles;
  v_sources text[] := condition.sources;
  v_excluded_sources text[] := condition.excluded_sources;
  v_categories text[] := condition.categories;
  v_excluded_categories text[] := condition.excluded_categories;
  v_scopes text[] := condition.scopes;
  v_excluded_scopes text[] := condition.excluded_scopes;
  v_confidence nummultirange := condition.confidence;
  -- What the index of types and confidence needs, unless there is one that leads to fewer memories;
  -- the cast to numeric rounds a little.
  v_by_confidence boolean :=
    num_nonnulls(condition.ids, condition.tags, condition.any_tags, condition.phrases) = 0;
  v_least float8 := case
    when v_by_confidence then lower(condition.confidence)::float8 - 1e-9
  end;
  v_most float8 := case
    when v_by_confidence then upper(condition.confidence)::float8 + 1e-9
  end;
  v_importance nummultirange := condition.importance;
  v_created_at tstzmultirange := condition.created_at;
  v_created_from timestamptz := lower(condition.created_at);
  v_created_to timestamptz := upper(condition.created_at);
  v_updated_at tstzmultirange := condition.updated_at;
  v_expires_at tstzmultirange := condition.expires_at;
  v_is_flagged boolean := condition.is_flagged;
  v_matching tsquery; -- every phrase
  v_excluded tsquery; -- any phrase that is excluded
  v_terms bigint[]; -- what every match is indexed under
  v_literals text[]; -- phrases to look for in the text itself
  v_excluded_literals text[];
  v_phrase text;
  v_query tsquery;
begin
  foreach v_phrase in array coalesce(condition.phrases, '{}') loop
    v_query := memory.read_phrase_in(memory.query_languages(settings), v_phrase);
    if v_query is null then
      v_literals := v_literals || memory.normalize_name(v_phrase);
    else
      v_matching := coalesce(v_matching && v_query, v_query);
    end if;
    v_terms := v_terms || (memory.read_query(v_phrase, 'all', settings)).all_terms;
  end loop;
  foreach v_phrase in array coalesce(condition.excluded_phrases, '{}') loop
    v_query := memory.read_phrase_in(memory.query_languages(settings), v_phrase);
    if v_query is null then
      v_excluded_literals := v_excluded_literals || memory.normalize_name(v_phrase);
    else
      v_excluded := coalesce(v_excluded || v_query, v_query);
    end if;
  end loop;
  if not (include_archived or condition.with_archived) then
    v_bands := array_remove(v_bands, 'archived');
  elsif 'archived' = any (v_bands) then
    v_states := '{active,aged,archived}'::text[];
  end if;

  if 'entry' = any (memory_types) and v_bands <> '{}' and v_entry_types is distinct from '{}' then
    return query
    select 'entry', e.id
    from memory.entries as e
    where e.tenant_id = v_tenant_id
      and e.lifecycle_state = any (v_states)
      and (e.expires_at is null or e.expires_at > as_of)
      and (v_scope is null or e.scope in (v_scope, 'global'))
      and (
        cardinality(v_bands) = 4
        or memory.band_of_entry(e.retention, e.edited_at, e.last_confirmed_at, as_of)
          = any (v_bands)
      )
      and (v_entry_types is null or e.entry_type = any (v_entry_types))
      and (v_ids is null or e.id = any (v_ids))
      and (v_excluded_ids is null or e.id <> all (v_excluded_ids))
      and (v_tags is null or memory.tag_terms(e.tenant_id, e.tags) @> v_tag_terms)
      and (v_tags is null or memory.fold_labels(e.tags) ?& v_tags)
      and (v_any_tags is null or memory.tag_terms(e.tenant_id, e.tags) && v_any_tag_terms)
      and (v_any_tags is null or memory.fold_labels(e.tags) ?| v_any_tags)
      and (v_excluded_tags is null or not memory.fold_labels(e.tags) ?| v_excluded_tags)
      and (v_sources is null or e.source = any (v_sources))
      and (v_excluded_sources is null or e.source <> all (v_excluded_sources))
      and (v_categories is null or memory.fold_label(e.category) = any (v_categories))
      and (
        v_excluded_categories is null or e.category is null
        or memory.fold_label(e.category) <> all (v_excluded_categories)
      )
      and (v_scopes is null or e.scope = any (v_scopes))
      and (v_excluded_scopes is null or e.scope <> all (v_excluded_scopes))
      and (v_least is null or e.confidence >= v_least)
      and (v_most is null or e.confidence <= v_most)
      and (v_confidence is null or e.confidence::numeric <@ v_confidence)
      and (v_importance is null or e.importance::numeric <@ v_importance)
      and (v_created_from is null or e.created_at >= v_created_from)
      and (v_created_to is null or e.created_at <= v_created_to)
      and (v_created_at is null or e.created_at <@ v_created_at)
      and (v_updated_at is null or e.edited_at <@ v_updated_at)
      and (v_expires_at is null or coalesce(e.expires_at, 'infinity') <@ v_expires_at)
      and (v_is_flagged is null or (e.flagged_at is not null) = v_is_flagged)
      -- One index of words for active entries, and one for the others.
      and (
        v_terms is null
        or e.lifecycle_state = 'active'
          and memory.search_terms(e.tenant_id, e.search_vector) @> v_terms
        or e.lifecycle_state in ('aged', 'archived')
          and memory.search_terms(e.tenant_id, e.search_vector) @> v_terms
      )
      and (v_matching is null or e.search_vector @@ v_matching)
      and (v_excluded is null or not e.search_vector @@ v_excluded)
      -- Most titles are in ASCII, and do not contain the first word.
      and (
        v_titles is null or octet_length(e.title) > length(e.title)
        or strpos(lower(e.title), v_title_word) > 0
      )
      and (
        v_titles is null or not exists (
          select from unnest(v_titles) as t (title)
          where strpos(memory.normalize_name(e.title), t.title) = 0
        )
      )
      and (
        v_excluded_titles is null or not exists (
          select from unnest(v_excluded_titles) as t (title)
          where strpos(memory.normalize_name(e.title), t.title) > 0
        )
      )
      and (
        num_nulls(v_literals, v_excluded_literals) = 2 or memory.has_literals(
          e.content || ' ' || e.tags::text || ' ' || e.keywords::text, v_literals,
          v_excluded_literals
        )
      );
  end if;

  if v_types <> '{}' and 'active' = any (v_bands) and v_categories is null
    and v_is_flagged is not true
  then
    return query
    select m.memory_type, m.id
    from memory.searchable_memories as m
    where m.is_live
      and m.tenant_id = v_tenant_id
      and m.memory_type = any (v_types)
      and (m.expires_at is null or m.expires_at > as_of)
      and memory.is_in_scope(m.memory_type, m.scope, v_scope)
      and (v_ids is null or m.id = any (v_ids))
      and (v_excluded_ids is null or m.id <> all (v_excluded_ids))
      and (v_tags is null or memory.fold_labels(m.tags) ?& v_tags)
      and (v_any_tags is null or memory.fold_labels(m.tags) ?| v_any_tags)
      and (v_excluded_tags is null or not memory.fold_labels(m.tags) ?| v_excluded_tags)
      and (v_sources is null or memory.fold_label(m.source_butler) = any (v_sources))
      and (
        v_excluded_sources is null or m.source_butler is null
        or memory.fold_label(m.source_butler) <> all (v_excluded_sources)
      )
      and (v_scopes is null or m.scope = any (v_scopes))
      and (v_excluded_scopes is null or m.scope <> all (v_excluded_scopes))
      and (
        v_confidence is null
        or memory.effective_confidence(
          m.confidence, m.decay_rate, m.last_confirmed_at, as_of
        )::numeric <@ v_confidence
      )
      and (v_importance is null or m.importance::numeric <@ v_importance)
      and (v_created_from is null or m.created_at >= v_created_from)
      and (v_created_to is null or m.created_at <= v_created_to)
      and (v_created_at is null or m.created_at <@ v_created_at)
      and (v_updated_at is null or coalesce(m.updated_at, m.created_at) <@ v_updated_at)
      and (v_expires_at is null or coalesce(m.expires_at, 'infinity') <@ v_expires_at)
      and (
        v_terms is null or memory.search_terms(m.tenant_id, m.search_vector) @> v_terms
      )
      and (v_matching is null or m.search_vector @@ v_matching)
      and (v_excluded is null or not m.search_vector @@ v_excluded)
      and (
        v_titles is null or not exists (
          select from unnest(v_titles) as t (title)
          where strpos(memory.normalize_name(coalesce(m.subject, '')), t.title) = 0
        )
      )
      and (
        v_excluded_titles is null or not exists (
          select from unnest(v_excluded_titles) as t (title)
          where strpos(memory.normalize_name(coalesce(m.subject, '')), t.title) > 0
        )
      )
      and (
        num_nulls(v_literals, v_excluded_literals) = 2 or memory.has_literals(
          concat_ws(' ', m.subject, m.predicate, m.content), v_literals, v_excluded_literals
        )
      );
  end if;
end;
$$;

comment on function memory.meet_condition(
  memory.query_condition, text[], text, boolean, memory.settings, timestamptz
) is
'The memories of these types that meet a condition, its topic aside, unordered.';

create or replace function memory.filter_memories(
  conditions memory.query_condition[],
  memory_types text[],
  scope text,
  include_archived boolean,
  settings memory.settings,
  as_of timestamptz
)
  returns table (
    memory_type text,
    id uuid,
    topic_required boolean
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_conditions memory.query_condition[] := case
    when cardinality(conditions) = 1 then conditions else memory.join_alternatives(conditions)
  end;
begin
  if cardinality(v_conditions) = 1 then
    return query
    select m.memory_type, m.id, v_conditions[1].topic_required
    from memory.meet_condition(
      v_conditions[1], memory_types, filter_memories.scope, include_archived, settings, as_of
    ) as m;
  else
    return query
    select m.memory_type, m.id, bool_and(c.topic_required)
    from unnest(v_conditions) as c
    cross join lateral memory.meet_condition(
      c, memory_types, filter_memories.scope, include_archived, settings, as_of
    ) as m
    group by m.memory_type, m.id;
  end if;
end;
$$;

comment on function memory.filter_memories(
  memory.query_condition[], text[], text, boolean, memory.settings, timestamptz
) is
'The memories of these types that meet one of the conditions, unordered; topic_required: only if '
'they are relevant to the words of the query too. Found are live memories and aged entries, and '
'with include_archived, or where a condition asks for them, archived ones, by their age at as_of '
'whether or not upkeep has run; never deleted, expired or guarded ones. Other memories than '
'entries have no category and no title but their subject, and are active and not flagged; their '
'source is the butler they came from.';
grant execute on function memory.filter_memories to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
