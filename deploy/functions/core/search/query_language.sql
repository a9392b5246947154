-- Deploy pymem:functions/core/search/query_language to pg

begin;

set local role memory_owner;

-- The grammar is in docs/query-language.md. A query becomes tokens (read_tokens), each term of it a
-- condition (read_condition), and these a list of which one must hold (read_query_as). NOT is moved
-- to the terms on the way. No SQL is made of it.

create or replace function memory.query_fields()
  returns text[]
  language sql
  immutable
  parallel safe
  return '{
    tag,type,category,source,scope,title,related,confidence,importance,created,updated,expires,is
  }'::text[];

comment on function memory.query_fields() is
'The names that may stand before a colon in a query.';

create or replace function memory.refuse_syntax(
  place integer,
  actual text,
  expected text,
  example text
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception 'query, character %: found %, expected %', place,
    coalesce('''' || left(actual, 60) || '''', 'the end'), expected
    using errcode = 'PM007', hint = format('Example: %s', example);
end;
$$;

comment on function memory.refuse_syntax(integer, text, text, text) is
'Raises the error of a query that is malformed: where (in characters from 1), what was found '
'(NULL: the end), what was expected instead, and a query that is right. Errors: PM007.';

create or replace function memory.refuse_complexity(
  what text,
  most text
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception 'the query is too complex: %', what
    using errcode = 'PM007', hint = format('Pass a query of at most %s, or several queries.', most);
end;
$$;

comment on function memory.refuse_complexity(text, text) is
'Raises the error of a query beyond the limits: 4 KiB, 64 terms, 256 alternatives. Errors: PM007.';

create or replace function memory.read_quoted(
  query text,
  place integer
)
  returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_quoted text := substring(
    query collate "C" from '^(?:"(?:[^"\\]|\\.)*"|[“”„][^“”„]*[“”„])'
  );
begin
  if v_quoted is null then
    perform memory.refuse_syntax(
      place, query, 'a closing quote', '"search text" AND tag:python'
    );
  end if;
  if memory.is_blank(substr(v_quoted, 2, length(v_quoted) - 2)) then
    perform memory.refuse_syntax(place, v_quoted, 'text between the quotes', '"search text"');
  end if;
  return v_quoted;
end;
$$;

comment on function memory.read_quoted(text, integer) is
'The quoted text that a text begins with, with its quotes. Errors: PM007.';

create or replace function memory.unquote(quoted text)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when left(quoted, 1) = '"'
    then regexp_replace(substr(quoted, 2, length(quoted) - 2), '\\(["\\])', '\1', 'g')
    else substr(quoted, 2, length(quoted) - 2)
  end;

comment on function memory.unquote(text) is
'A quoted text without its quotes. Between straight quotes, \" stands for a quote and \\ for a '
'backslash; another backslash for itself.';

create or replace function memory.read_tokens(query text)
  returns memory.query_token[]
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_space text := '[\x01- \u0085\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]';
  v_rest text := coalesce(query, '');
  v_position integer := 1;
  v_terms integer := 0;
  v_count integer := 0;
  v_tokens memory.query_token[] := '{}'::memory.query_token[];
  v_token memory.query_token;
  v_text text;
  v_value text;
begin
  if octet_length(v_rest) > 4096 then
    perform memory.refuse_complexity(format('%s bytes', octet_length(v_rest)), '4 KiB');
  end if;
  while v_rest <> '' loop
    -- Regular expressions read all of the rest: what one character decides does without them.
    v_text := left(v_rest, 1);
    if v_text collate "C" ~ v_space then
      v_position := v_position + 1;
      v_rest := substr(v_rest, 2);
      continue;
    end if;

    v_token := null;
    v_token.position := v_position;
    v_token.is_quoted := false;
    if v_text in ('(', ')') then
      v_token.kind := v_text;
    elsif v_text = '-' and v_rest collate "C" ~ ('^-+(?!' || v_space || '|-|$)') then
      v_token.kind := 'NOT';
    elsif v_text in ('"', '“', '”', '„') then
      v_text := memory.read_quoted(v_rest, v_position);
      v_token.kind := 'phrase';
      v_token.is_quoted := true;
      v_token.value := memory.unquote(v_text);
    else
      v_text := substring(v_rest collate "C" from '^[A-Za-z][A-Za-z_]+(?=:)');
      v_token.field := lower(v_text);
      if v_token.field <> all (memory.query_fields()) then
        if v_rest ~ '^[A-Za-z_]+:(//|:|\\)' then
          -- An address, a name in a program, a path.
          v_token.field := null;
        else
          perform memory.refuse_syntax(
            v_position, v_text || ':',
            'one of ' || array_to_string(memory.query_fields(), ':, ') || ':',
            format('tag:python, or in quotes "%s: …"', v_text)
          );
        end if;
      end if;
      if v_token.field is not null then
        v_token.kind := 'field';
        v_value := substr(v_rest, length(v_text) + 2);
        v_position := v_position + length(v_text) + 1;
        if left(v_value, 1) in ('"', '“', '”', '„') then
          v_value := memory.read_quoted(v_value, v_position);
          v_token.is_quoted := true;
          v_token.value := memory.unquote(v_value);
        elsif lower(left(v_value, 7)) = 'between' and v_value ~* '^between[ \t]*\(' then
          v_token.value := substring(v_value from '^\w+[ \t]*\([^()]*\)');
          if v_token.value is null then
            perform memory.refuse_syntax(
              v_position, v_value, 'between(first, last)', 'created:between(2026-01-01, 2026-02-01)'
            );
          end if;
          v_value := v_token.value;
        else
          v_token.value := substring(
            v_value collate "C" from '^(?:(?!' || v_space || ')[^()"“”„])+'
          );
          if v_token.value is null then
            perform memory.refuse_syntax(
              v_position, nullif(left(v_value, 1), ''),
              format('a value right after %s:', v_token.field), 'tag:python AND tag:"two words"'
            );
          end if;
          v_value := v_token.value;
        end if;
        v_position := v_token.position;
        v_text := v_text || ':' || v_value;
      else
        v_text := substring(v_rest collate "C" from '^(?:(?!' || v_space || ')[^()"“”„])+');
        v_token.kind := case when v_text in ('AND', 'OR', 'NOT') then v_text else 'word' end;
        v_token.value := v_text;
      end if;
    end if;

    v_position := v_position + length(v_text);
    v_rest := substr(v_rest, length(v_text) + 1);
    if v_token.kind = 'word' and v_tokens[v_count].kind = 'word'
      and v_tokens[v_count - 1].kind is distinct from 'NOT'
    then
      -- Words in a row are one term.
      v_tokens[v_count].value := v_tokens[v_count].value || ' ' || v_token.value;
    else
      v_tokens := v_tokens || v_token;
      v_count := v_count + 1;
      v_terms := v_terms + (v_token.kind in ('word', 'phrase', 'field'))::integer;
      if v_terms > 64 then
        perform memory.refuse_complexity(v_terms || ' terms', '64 terms');
      end if;
    end if;
  end loop;
  return v_tokens;
end;
$$;

comment on function memory.read_tokens(text) is
'The parts of a query, in order. Words in a row that all rank are one. Errors: PM007.';

create or replace function memory.read_comparison(
  value text,
  out operator text,
  out first text,
  out last text
)
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_parts text[];
begin
  -- Most values are no intervals, which regular expressions need not read.
  if lower(left(value, 7)) = 'between' then
    v_parts := regexp_match(value, '^between[ \t]*\(\s*([^,]*?)\s*,\s*([^,]*?)\s*\)$', 'i');
  end if;
  if v_parts is null and strpos(value, '..') > 0 then
    v_parts := regexp_match(value, '^([^<>=].*?)\.\.(.+)$');
  end if;
  if v_parts is not null then
    operator := 'between';
    first := v_parts[1];
    last := v_parts[2];
    return;
  end if;
  operator := case
    when left(value, 2) in ('>=', '<=') then left(value, 2)
    when left(value, 1) in ('>', '<', '=') then left(value, 1)
  end;
  first := substr(value, coalesce(length(operator), 0) + 1);
  operator := coalesce(operator, '=');
end;
$$;

comment on function memory.read_comparison(text) is
'The parts of a value such as >0.8, 0.5..0.8 or between(a, b): the operator is =, <, <=, >, >= or '
'between, the only one with a last.';

create or replace function memory.read_score(
  field text,
  value text
)
  returns numrange
  language sql
  immutable
  parallel safe
  return case
    when field = 'importance' and lower(value) = 'low' then numrange(0, 3.5)
    when field = 'importance' and lower(value) = 'medium' then numrange(3.5, 6.5, '[]')
    when field = 'importance' and lower(value) = 'high' then numrange(6.5, 10, '(]')
    when value ~ '^(\d{1,2}(\.\d{1,15})?|\.\d{1,15})$' then
      case
        when value::numeric <= case field when 'importance' then 10 else 1 end
        then numrange(value::numeric, value::numeric, '[]')
      end
  end;

comment on function memory.read_score(text, text) is
'What a number after confidence: (0..1) or importance: (0..10, or low, medium, high as in '
'memory.importance_word) stands for; NULL for another text.';

create or replace function memory.read_scores(
  field text,
  value text,
  place integer
)
  returns nummultirange
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_comparison record;
  v_first numrange;
  v_last numrange;
  v_example text := case field when 'importance' then 'importance:high' else 'confidence:>0.8' end;
begin
  select c.operator, c.first, c.last into v_comparison from memory.read_comparison(value) as c;
  v_first := memory.read_score(field, v_comparison.first);
  v_last := memory.read_score(field, coalesce(v_comparison.last, v_comparison.first));
  if v_first is null or v_last is null then
    perform memory.refuse_syntax(
      place, case when v_first is null then v_comparison.first else v_comparison.last end,
      case field
        when 'importance' then 'low, medium, high or a number between 0 and 10'
        else 'a number between 0 and 1'
      end,
      v_example
    );
  elsif lower(v_first) > lower(v_last) then
    perform memory.refuse_syntax(place, value, 'the smaller number first', v_example);
  end if;
  return multirange(
    case v_comparison.operator
      when '>'
      then numrange(upper(v_first), null, case when upper_inc(v_first) then '()' else '[)' end)
      when '>='
      then numrange(lower(v_first), null, case when lower_inc(v_first) then '[)' else '()' end)
      when '<'
      then numrange(null, lower(v_first), case when lower_inc(v_first) then '()' else '(]' end)
      when '<='
      then numrange(null, upper(v_first), case when upper_inc(v_first) then '(]' else '()' end)
      else range_merge(v_first, v_last)
    end
  );
end;
$$;

comment on function memory.read_scores(text, text, integer) is
'The numbers that the value of confidence: or importance: admits. Errors: PM007.';

create or replace function memory.read_span(
  value text,
  time_zone text,
  as_of timestamptz
)
  returns tstzrange
  language plpgsql
  stable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_today date := (as_of at time zone time_zone)::date;
  v_parts text[] := regexp_match(value, '^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$');
  v_from date;
  v_to date;
begin
  if v_parts is not null then
    if v_parts[1] = '0000' or v_parts[2] not between '01' and '12' then
      return null;
    end if;
    v_from := make_date(v_parts[1]::integer, coalesce(v_parts[2], '01')::integer, 1);
    if v_parts[3] is not null then
      v_from := v_from + v_parts[3]::integer - 1;
      if to_char(v_from, 'DD') <> v_parts[3] then
        return null;
      end if;
      v_to := v_from + 1;
    elsif v_parts[2] is not null then
      v_to := (v_from + interval '1 month')::date;
    else
      v_to := (v_from + interval '1 year')::date;
    end if;
  else
    case lower(value)
      when 'last_hour' then return tstzrange(as_of - interval '1 hour', as_of, '[]');
      when 'last_week' then return tstzrange(as_of - interval '168 hours', as_of, '[]');
      when 'last_month' then return tstzrange(as_of - interval '720 hours', as_of, '[]');
      when 'last_year' then return tstzrange(as_of - interval '8760 hours', as_of, '[]');
      when 'today' then
        v_from := v_today;
        v_to := v_today + 1;
      when 'yesterday' then
        v_from := v_today - 1;
        v_to := v_today;
      when 'this_week' then
        v_from := date_trunc('week', v_today::timestamp)::date;
        v_to := v_from + 7;
      when 'this_month' then
        v_from := date_trunc('month', v_today::timestamp)::date;
        v_to := (v_from + interval '1 month')::date;
      else return null;
    end case;
  end if;
  return tstzrange(
    v_from::timestamp at time zone time_zone, v_to::timestamp at time zone time_zone
  );
end;
$$;

comment on function memory.read_span(text, text, timestamptz) is
'The time that a day, a month, a year or a word such as last_week stands for, in a time zone; NULL '
'for another text. last_hour, last_week, last_month and last_year are the 60 minutes and the 7, 30 '
'and 365 days up to as_of; this_week begins on Monday.';

create or replace function memory.read_spans(
  field text,
  value text,
  place integer,
  time_zone text,
  as_of timestamptz
)
  returns tstzmultirange
  language plpgsql
  stable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_comparison record;
  v_first tstzrange;
  v_last tstzrange;
begin
  if field = 'expires' and lower(value) = 'never' then
    return multirange(tstzrange('infinity', 'infinity', '[]'));
  end if;
  select c.operator, c.first, c.last into v_comparison from memory.read_comparison(value) as c;
  v_first := memory.read_span(v_comparison.first, time_zone, as_of);
  v_last := memory.read_span(coalesce(v_comparison.last, v_comparison.first), time_zone, as_of);
  if v_first is null or v_last is null then
    perform memory.refuse_syntax(
      place, case when v_first is null then v_comparison.first else v_comparison.last end,
      case field when 'expires' then 'never, ' else '' end
      || 'a day (2026-03-01), a month, a year, last_hour, today, yesterday, last_week, last_month, '
      'last_year, this_week, this_month or between(first, last)',
      field || ':between(2026-01-01, 2026-02-01)'
    );
  elsif lower(v_first) > lower(v_last) then
    perform memory.refuse_syntax(
      place, value, 'the earlier time first', field || ':between(2026-01-01, 2026-02-01)'
    );
  end if;
  -- What never expires is not after any time.
  return multirange(
    case v_comparison.operator
      when '>'
      then tstzrange(
        upper(v_first), 'infinity', case when upper_inc(v_first) then '()' else '[)' end
      )
      when '>=' then tstzrange(lower(v_first), 'infinity')
      when '<' then tstzrange(null, lower(v_first))
      when '<='
      then tstzrange(null, upper(v_first), case when upper_inc(v_first) then '(]' else '()' end)
      else range_merge(v_first, v_last)
    end
  );
end;
$$;

comment on function memory.read_spans(text, text, integer, text, timestamptz) is
'The times that the value of created:, updated: or expires: admits. Errors: PM007.';

create or replace function memory.all_kinds()
  returns text[]
  language sql
  immutable
  parallel safe
  return array_remove(memory.memory_type_names(), 'entry')
    || '{entry.fact,entry.preference,entry.pattern,entry.note}'::text[];

comment on function memory.all_kinds() is
'The kinds of memories that queries tell apart: the types, and for entries each type of entry.';

create or replace function memory.kinds_of(words text[])
  returns text[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select array(
    select k.kind
    from unnest(memory.all_kinds()) as k (kind)
    where k.kind = any (words) or split_part(k.kind, '.', 1) = any (words)
      or split_part(k.kind, '.', 2) = any (words)
    order by k.kind
  );
$$;

comment on function memory.kinds_of(text[]) is
'The kinds (memory.all_kinds) that one of these words names: fact are facts and entries of type '
'fact, entry are all entries.';

create or replace function memory.linked_entries(
  tenant_id text,
  entry_id text
)
  returns uuid[]
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select array(
    select l.target_id
    from memory.memory_links as l
    where l.tenant_id = linked_entries.tenant_id and l.relation = 'related_to'
      and l.source_type = 'entry' and l.source_id = e.id
    union
    select l.source_id
    from memory.memory_links as l
    where l.tenant_id = linked_entries.tenant_id and l.relation = 'related_to'
      and l.target_type = 'entry' and l.target_id = e.id
    order by 1
  )
  from memory.find_entry(tenant_id, entry_id) as e (id);
$$;

comment on function memory.linked_entries(text, text) is
'The ids of the memories that a link related_to leads to from an entry, or from to it; none for an '
'unknown entry. Errors: PM002 malformed id.';

create or replace function memory.read_condition(
  token memory.query_token,
  is_negated boolean,
  settings memory.settings,
  as_of timestamptz
)
  returns memory.query_condition
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_condition memory.query_condition;
  v_position integer := token.position + coalesce(length(token.field) + 1, 0);
  v_value text := token.value;
  v_label text := memory.fold_label(memory.collapse_whitespace(token.value));
  v_labels text[] := array[v_label];
  v_numbers nummultirange;
  v_times tstzmultirange;
  v_ids uuid[];
begin
  v_condition.topic_required := false;
  v_condition.with_archived := false;

  if token.kind = 'word' and not is_negated then
    v_condition.topic_required := true;
    return v_condition;
  end if;
  if (token.kind <> 'field' or token.field = 'title')
    and memory.normalize_name(v_value) !~ '\S'
  then
    perform memory.refuse_syntax(
      v_position, v_value, 'a text with a letter or a digit', '"search text" AND NOT draft'
    );
  end if;
  if token.kind <> 'field' then
    if is_negated then
      v_condition.excluded_phrases := array[v_value];
    else
      v_condition.phrases := array[v_value];
    end if;
    return v_condition;
  end if;

  case token.field
    when 'type' then
      v_condition.kinds := memory.kinds_of(v_labels);
      if v_condition.kinds = '{}' or v_label !~ '^[a-z]+$' then
        perform memory.refuse_syntax(
          v_position, v_value,
          'one of preference, pattern, note, ' || array_to_string(memory.memory_type_names(), ', '),
          'type:preference'
        );
      end if;
      if is_negated then
        v_condition.kinds := array(
          select k.kind
          from unnest(memory.all_kinds()) as k (kind)
          where k.kind <> all (v_condition.kinds)
          order by k.kind
        );
      end if;
    when 'tag' then
      if is_negated then
        v_condition.excluded_tags := v_labels;
      else
        v_condition.tags := v_labels;
      end if;
    when 'category' then
      if is_negated then
        v_condition.excluded_categories := array[memory.fold_label(v_value)];
      else
        v_condition.categories := array[memory.fold_label(v_value)];
      end if;
    when 'source' then
      if is_negated then
        v_condition.excluded_sources := v_labels;
      else
        v_condition.sources := v_labels;
      end if;
    when 'scope' then
      if is_negated then
        v_condition.excluded_scopes := array[memory.collapse_whitespace(v_value)];
      else
        v_condition.scopes := array[memory.collapse_whitespace(v_value)];
      end if;
    when 'title' then
      if is_negated then
        v_condition.excluded_titles := array[memory.normalize_name(v_value)];
      else
        v_condition.titles := array[memory.normalize_name(v_value)];
      end if;
    when 'related' then
      if v_label
        !~ '^(mem-\d{4}-\d\d-\d\d-\d{3,9}|[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12})$'
      then
        perform memory.refuse_syntax(
          v_position, v_value, 'the id of an entry', 'related:mem-2026-03-01-001'
        );
      end if;
      -- Without a tenant, only the syntax is of interest.
      v_ids := case
        when settings.tenant_id is null then '{}'
        else memory.linked_entries(settings.tenant_id, v_label)
      end;
      if is_negated then
        v_condition.excluded_ids := v_ids;
      else
        v_condition.ids := v_ids;
      end if;
    when 'confidence', 'importance' then
      v_numbers := memory.read_scores(token.field, v_value, v_position);
      if is_negated then
        v_numbers := '{(,)}'::nummultirange - v_numbers;
      end if;
      if token.field = 'confidence' then
        v_condition.confidence := v_numbers;
      else
        v_condition.importance := v_numbers;
      end if;
    when 'created', 'updated', 'expires' then
      v_times := memory.read_spans(token.field, v_value, v_position, settings.time_zone, as_of);
      if is_negated then
        v_times := '{(,)}'::tstzmultirange - v_times;
      end if;
      case token.field
        when 'created' then v_condition.created_at := v_times;
        when 'updated' then v_condition.updated_at := v_times;
        else v_condition.expires_at := v_times;
      end case;
    when 'is' then
      case
        when v_label in ('active', 'aging', 'aged', 'archived') then
          v_condition.bands := case
            when is_negated then array_remove('{active,aged,aging,archived}', v_label)
            else v_labels
          end;
          v_condition.with_archived := v_label = 'archived' and not is_negated;
        when v_label in ('featured', 'normal', 'warned', 'last_resort') then
          v_numbers := multirange(memory.tier_range(v_label));
          v_condition.confidence := case
            when is_negated then '{(,)}'::nummultirange - v_numbers else v_numbers
          end;
        when v_label = 'expiring' then
          v_times := multirange(tstzrange(as_of, as_of + interval '30 days', '(]'));
          v_condition.expires_at := case
            when is_negated then '{(,)}'::tstzmultirange - v_times else v_times
          end;
        when v_label = 'flagged' then
          v_condition.is_flagged := not is_negated;
        else
          perform memory.refuse_syntax(
            v_position, v_value,
            'one of active, aging, aged, archived, expiring, flagged, featured, normal, warned, '
            'last_resort',
            'is:archived'
          );
      end case;
  end case;
  return v_condition;
end;
$$;

comment on function memory.read_condition(
  memory.query_token, boolean, memory.settings, timestamptz
) is
'What a term of a query, or its negation, asks of a memory. Errors: PM007.';

create or replace function memory.all_of(
  ones text[],
  others text[]
)
  returns text[]
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if ones is null then
    return others;
  elsif others is null then
    return ones;
  end if;
  return array(
    select e.element from unnest(ones) as e (element)
    union
    select e.element from unnest(others) as e (element)
    order by 1
  );
end;
$$;

comment on function memory.all_of(text[], text[]) is
'The elements of both lists, each once; NULL is an empty list.';

create or replace function memory.shared_of(
  ones text[],
  others text[]
)
  returns text[]
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if ones is null then
    return others;
  elsif others is null then
    return ones;
  end if;
  return array(
    select e.element from unnest(ones) as e (element)
    intersect
    select e.element from unnest(others) as e (element)
    order by 1
  );
end;
$$;

comment on function memory.shared_of(text[], text[]) is
'The elements that two lists have in common; NULL is the list of everything.';

create or replace function memory.both_conditions(
  a memory.query_condition,
  b memory.query_condition
)
  returns memory.query_condition
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_both memory.query_condition;
begin
  v_both.topic_required := a.topic_required or b.topic_required;
  v_both.phrases := memory.all_of(a.phrases, b.phrases);
  v_both.excluded_phrases := memory.all_of(a.excluded_phrases, b.excluded_phrases);
  v_both.kinds := case
    when a.is_flagged <> b.is_flagged then '{}'
    else memory.shared_of(a.kinds, b.kinds)
  end;
  v_both.tags := memory.all_of(a.tags, b.tags);
  v_both.excluded_tags := memory.all_of(a.excluded_tags, b.excluded_tags);
  v_both.any_tags := memory.shared_of(a.any_tags, b.any_tags);
  v_both.titles := memory.all_of(a.titles, b.titles);
  v_both.excluded_titles := memory.all_of(a.excluded_titles, b.excluded_titles);
  v_both.sources := memory.shared_of(a.sources, b.sources);
  v_both.excluded_sources := memory.all_of(a.excluded_sources, b.excluded_sources);
  v_both.categories := memory.shared_of(a.categories, b.categories);
  v_both.excluded_categories := memory.all_of(a.excluded_categories, b.excluded_categories);
  v_both.scopes := memory.shared_of(a.scopes, b.scopes);
  v_both.excluded_scopes := memory.all_of(a.excluded_scopes, b.excluded_scopes);
  v_both.confidence := coalesce(a.confidence * b.confidence, a.confidence, b.confidence);
  v_both.importance := coalesce(a.importance * b.importance, a.importance, b.importance);
  v_both.created_at := coalesce(a.created_at * b.created_at, a.created_at, b.created_at);
  v_both.updated_at := coalesce(a.updated_at * b.updated_at, a.updated_at, b.updated_at);
  v_both.expires_at := coalesce(a.expires_at * b.expires_at, a.expires_at, b.expires_at);
  v_both.bands := memory.shared_of(a.bands, b.bands);
  v_both.with_archived := a.with_archived or b.with_archived;
  v_both.is_flagged := coalesce(a.is_flagged, b.is_flagged);
  v_both.ids := memory.shared_of(a.ids::text[], b.ids::text[]);
  v_both.excluded_ids := memory.all_of(
    a.excluded_ids::text[], b.excluded_ids::text[]
  );
  return v_both;
end;
$$;

comment on function memory.both_conditions(memory.query_condition, memory.query_condition) is
'The condition that asks for what two conditions ask for. any_tags of both would have to be kept '
'apart: only one of the two may have them.';

create or replace function memory.combine_conditions(
  ones memory.query_condition[],
  others memory.query_condition[],
  with_both boolean
)
  returns memory.query_condition[]
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if cardinality(ones) + cardinality(others) > 257
    or with_both and cardinality(ones) * cardinality(others) > 256
  then
    perform memory.refuse_complexity(
      cardinality(ones) || case when with_both then ' x ' else ' + ' end || cardinality(others)
      || ' alternatives',
      '256 alternatives'
    );
  end if;
  if not with_both then
    return array(
      select c from unnest(ones) as c
      union
      select c from unnest(others) as c
      order by 1
    );
  elsif cardinality(ones) = 1 and cardinality(others) = 1 then
    return array[memory.both_conditions(ones[1], others[1])];
  end if;
  return array(
    select distinct memory.both_conditions(s, o)
    from unnest(ones) as s
    cross join unnest(others) as o
    order by 1
  );
end;
$$;

comment on function memory.combine_conditions(
  memory.query_condition[], memory.query_condition[], boolean
) is
'Two lists of alternatives as one: what meets both, or either. Errors: PM007 more than 256.';

create or replace function memory.read_query_as(
  query text,
  settings memory.settings,
  as_of timestamptz,
  out conditions memory.query_condition[],
  out topic text
)
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tokens memory.query_token[];
  v_token memory.query_token;
  v_condition memory.query_condition;
  v_operand memory.query_condition[];
  v_topics text[] := '{}'::text[];
  -- What is read of the open parentheses, one after the other, and for each (and for the whole
  -- query, the first) where its alternatives begin and where the last of them begins, which may
  -- grow by AND; whether it is negated, so that AND and OR change places; and its position.
  v_found memory.query_condition[] := '{}'::memory.query_condition[];
  v_first integer[] := array[1];
  v_last integer[] := array[1];
  v_negated boolean[] := array[false];
  v_opened integer[] := array[0];
  v_depth integer := 1;
  v_not boolean := false;
  v_operator text; -- what the next term is needed for; NULL if none is
  v_previous text := '';
begin
  perform memory.check_query(query), memory.check_time('as_of', as_of);
  v_tokens := memory.read_tokens(query);
  topic := '';
  if v_tokens = '{}' then
    v_condition.topic_required := false;
    v_condition.with_archived := false;
    conditions := array[v_condition];
    return;
  end if;
  v_tokens := v_tokens || row(length(query) + 1, 'end', null, null, false)::memory.query_token;

  foreach v_token in array v_tokens loop
    if v_token.kind in ('AND', 'OR', ')', 'end')
      and (v_operator is not null or v_previous in ('', '('))
      and not (v_token.kind = ')' and v_depth = 1)
    then
      perform memory.refuse_syntax(
        v_token.position, nullif(v_token.kind, 'end'),
        case
          when v_operator is not null then 'a term after ' || v_operator
          else 'a term'
        end,
        case v_operator
          when 'NOT' then 'tag:python AND NOT tag:draft'
          else '(tag:frontend OR tag:backend) AND confidence:>0.7'
        end
      );
    end if;

    v_operand := null;
    case
      when v_token.kind = 'NOT' then
        v_not := not v_not;
        v_operator := 'NOT';
      when v_token.kind = '(' then
        v_depth := v_depth + 1;
        v_first[v_depth] := cardinality(v_found) + 1;
        v_last[v_depth] := v_first[v_depth];
        v_negated[v_depth] := v_negated[v_depth - 1] <> v_not;
        v_opened[v_depth] := v_token.position;
        v_not := false;
        v_operator := null;
      when v_token.kind in ('word', 'phrase', 'field') then
        v_not := v_negated[v_depth] <> v_not;
        if v_token.kind = 'word' and v_not then
          -- Words in a row are all meant: their negation is that one of them does not occur.
          v_operand := '{}';
          foreach v_token.value in array string_to_array(v_token.value, ' ') loop
            v_operand := memory.combine_conditions(
              v_operand, array[memory.read_condition(v_token, v_not, settings, as_of)],
              with_both => false
            );
          end loop;
        else
          v_operand := array[memory.read_condition(v_token, v_not, settings, as_of)];
        end if;
        if v_token.kind <> 'field' and not v_not then
          v_topics := v_topics || v_token.value;
        end if;
        v_not := false;
        v_operator := null;
      when v_token.kind = 'AND' then
        v_operator := 'AND';
      else
        -- OR, ) or the end: the last alternative is complete.
        if v_token.kind = ')' and v_depth = 1 then
          perform memory.refuse_syntax(
            v_token.position, ')', 'an opening parenthesis before it',
            '(tag:frontend OR tag:backend) AND confidence:>0.7'
          );
        elsif v_token.kind = 'end' and v_depth > 1 then
          perform memory.refuse_syntax(
            v_opened[v_depth], '(', 'a closing parenthesis after it',
            '(tag:frontend OR tag:backend) AND confidence:>0.7'
          );
        end if;
        if v_last[v_depth] > v_first[v_depth] then
          v_found := v_found[:v_first[v_depth] - 1] || memory.combine_conditions(
            v_found[v_first[v_depth]:v_last[v_depth] - 1], v_found[v_last[v_depth]:],
            with_both => v_negated[v_depth]
          );
        end if;
        v_last[v_depth] := cardinality(v_found) + 1;
        if v_token.kind = 'OR' then
          v_operator := 'OR';
        elsif v_token.kind = ')' then
          v_operand := v_found[v_first[v_depth]:];
          v_found := v_found[:v_first[v_depth] - 1];
          v_depth := v_depth - 1;
        end if;
    end case;

    if v_operand is not null then
      v_found := v_found[:v_last[v_depth] - 1] || case
        when v_last[v_depth] > cardinality(v_found) then v_operand
        else memory.combine_conditions(
          v_found[v_last[v_depth]:], v_operand, with_both => not v_negated[v_depth]
        )
      end;
    end if;
    v_previous := v_token.kind;
  end loop;
  conditions := v_found;
  topic := array_to_string(v_topics, ' ');
end;
$$;

comment on function memory.read_query_as(text, memory.settings, timestamptz) is
'A query of the query language as the conditions of which a memory must meet one, and the text '
'that ranks. Without a tenant in the settings, related: stands for no memory. Errors: PM002 over '
'64 KiB, PM007.';

create or replace function memory.parse_query(
  query text,
  settings memory.settings,
  as_of timestamptz
)
  returns memory.query_condition[]
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select r.conditions from memory.read_query_as(query, settings, as_of) as r;
$$;

comment on function memory.parse_query(text, memory.settings, timestamptz) is
'A query of the query language as the conditions of which a memory must meet one; an empty query '
'is one condition that everything meets. Errors: PM002 over 64 KiB, PM007.';

create or replace function memory.query_topic(query text)
  returns text
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select r.topic
  from memory.read_query_as(query, memory.setting_defaults(), '2000-01-01 00:00Z') as r;
$$;

comment on function memory.query_topic(text) is
'The words and phrases that a query of the query language looks for, in order: the text to embed '
'for memory.query; empty if it has only filters. Errors: PM002 over 64 KiB, PM007 malformed.';
grant execute on function memory.query_topic to memory_writer, memory_reader;

commit;
