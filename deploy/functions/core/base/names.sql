-- Deploy pymem:functions/core/base/names to pg

begin;

set local role memory_owner;

-- The names of an entity, as memory.entity_resolve compares them: what is searched by index, and
-- what two entities may share.
create or replace function memory.fold_name(name text)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when octet_length(name) = length(name) then lower(memory.collapse_whitespace(name))
    -- Of marks alone folding leaves nothing.
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
'A name folded (memory.fold_text) and in lower case, each run of whitespace one space, curly '
'apostrophes and other hyphens those of ASCII: equal for names that differ in nothing else.';
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
'Keys of the runs of three characters in a name (memory.hash_terms); none for a shorter one. '
'Whatever contains a text has all keys of the text.';
grant execute on function memory.name_terms to memory_search;

commit;
