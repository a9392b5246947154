-- Deploy pymem:functions/extras/items/item_filters to pg

begin;

set local role memory_owner;

create or replace function memory.is_item_operator(filter jsonb)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select case jsonb_typeof(filter)
    when 'object'
    then exists (select from jsonb_object_keys(filter) as k (key) where k.key like '$%')
    else false
  end;
$$;

comment on function memory.is_item_operator(jsonb) is
'Whether a part of a filter of items compares, as {"$gt": 3} does, rather than being a value.';

create or replace function memory.check_item_filter(filter jsonb)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_part record;
begin
  if memory.is_item_operator(filter) then
    for v_part in
      select e.key, e.value from jsonb_each(filter) as e order by e.key
    loop
      perform memory.check_word('operator', v_part.key, '{$eq,$ne,$gt,$gte,$lt,$lte}');
      if v_part.key not in ('$eq', '$ne')
        and jsonb_typeof(v_part.value) not in ('number', 'string')
      then
        raise exception '% compares with %', v_part.key, left(v_part.value::text, 100)
          using errcode = 'PM002', hint = format('Pass %s a number or a text.', v_part.key);
      end if;
    end loop;
  elsif jsonb_typeof(filter) = 'object' then
    perform memory.check_item_filter(e.value) from jsonb_each(filter) as e;
  elsif jsonb_typeof(filter) = 'array' then
    perform memory.check_item_filter(e.value) from jsonb_array_elements(filter) as e (value);
  end if;
end;
$$;

comment on function memory.check_item_filter(jsonb) is
'Rejects a part of a filter of items with an unknown operator, or one that compares with something '
'that has no order. Errors: PM002.';

create or replace function memory.meets_item_operator(
  value jsonb,
  operator text,
  operand jsonb
)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select case operator
    when '$eq' then coalesce(value, 'null'::jsonb) = operand
    when '$ne' then coalesce(value, 'null'::jsonb) <> operand
    else coalesce(
      case
        when jsonb_typeof(value) <> jsonb_typeof(operand) then false
        when jsonb_typeof(value) = 'number' then case operator
          when '$gt' then value::numeric > operand::numeric
          when '$gte' then value::numeric >= operand::numeric
          when '$lt' then value::numeric < operand::numeric
          when '$lte' then value::numeric <= operand::numeric
        end
        when jsonb_typeof(value) = 'string' then case operator
          when '$gt' then (value #>> '{}') collate "C" > (operand #>> '{}')
          when '$gte' then (value #>> '{}') collate "C" >= (operand #>> '{}')
          when '$lt' then (value #>> '{}') collate "C" < (operand #>> '{}')
          when '$lte' then (value #>> '{}') collate "C" <= (operand #>> '{}')
        end
      end,
      false
    )
  end;
$$;

comment on function memory.meets_item_operator(jsonb, text, jsonb) is
'Whether a value, NULL for one that is missing, compares as $eq, $ne, $gt, $gte, $lt or $lte says. '
'A missing value equals null. Only numbers are greater or less than numbers, and texts than texts, '
'these by their characters'' codes.';

create or replace function memory.matches_item_filter(
  value jsonb,
  filter jsonb
)
  returns boolean
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if memory.is_item_operator(filter) then
    return (
      select bool_and(memory.meets_item_operator(matches_item_filter.value, o.key, o.value))
      from jsonb_each(filter) as o
    );
  end if;
  case jsonb_typeof(filter)
    when 'object' then
      return coalesce(jsonb_typeof(value) = 'object', false) and not exists (
        select
        from jsonb_each(filter) as f
        where not memory.matches_item_filter(matches_item_filter.value -> f.key, f.value)
      );
    when 'array' then
      return coalesce(jsonb_typeof(value) = 'array', false)
        and jsonb_array_length(value) = jsonb_array_length(filter)
        and not exists (
          select
          from jsonb_array_elements(filter) with ordinality as f (value, place)
          where not memory.matches_item_filter(
            matches_item_filter.value -> (f.place - 1)::integer, f.value
          )
        );
    else
      return coalesce(value, 'null'::jsonb) = filter;
  end case;
end;
$$;

comment on function memory.matches_item_filter(jsonb, jsonb) is
'Whether a value, NULL for one that is missing, is what a part of a filter says: compares as its '
'operators say, is an object with at least its keys, an array of as many elements, or equal. A '
'missing value equals null.';

create or replace function memory.meets_item_filter(
  value jsonb,
  filter jsonb
)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  -- Keys at the top are names of fields, whatever they begin with.
  select not exists (
    select
    from jsonb_each(filter) as f
    where not memory.matches_item_filter(meets_item_filter.value -> f.key, f.value)
  );
$$;

comment on function memory.meets_item_filter(jsonb, jsonb) is
'Whether the value of an item meets a filter: for each field what it must be '
'(memory.matches_item_filter), such as {"kind": "note", "stars": {"$gte": 3}}.';

commit;
