-- Deploy pymem:functions/core/base/names to pg

begin;

set local role memory_owner;

-- Entity names as memory.entity_resolve compares them: searched by index, and not unique.
create or replace function memory.fold_name(name text)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when octet_length(name) = length(name) then lower(memory.collapse_whitespace(name))
    -- Folding removes all of a name that consists only of marks.
    else coalesce(
      nullif(
        memory.collapse_whitespace(translate(
          memory.fold_text(lower(memory.fold_text(name))), U&'\2018\2019\02BC\2010', '''''''-'
        )),
        ''
      ),
      lower(memory.collapse_whitespace(name))
    )
  end;

comment on function memory.fold_name(text) is
'A name folded (memory.fold_text), in lower case, with whitespace collapsed, and with curly '
'apostrophes and other hyphens as in ASCII. Names that differ only in these are equal.';
grant execute on function memory.fold_name to memory_search;

create or replace function memory.name_terms(
  tenant_id text,
  name text
)
  returns bigint[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select memory.hash_terms(
    tenant_id,
    array(
      select distinct substr(name, g.start, 3)
      from generate_series(1, char_length(name) - 2) as g (start)
    )
  );
$$;

comment on function memory.name_terms(text, text) is
'Keys of all runs of three characters in a name (memory.hash_terms); none for a shorter name. A '
'text that contains another one has all of its keys.';
grant execute on function memory.name_terms to memory_search;

commit;
