-- Deploy pymem:functions/core/base/butler_values to pg

begin;

set local role memory_owner;

create or replace function memory.is_text_by_butler(value jsonb)
  returns boolean
  language sql
  immutable
  parallel safe
  return octet_length(value::text) <= 65536
  and case jsonb_typeof(value)
    when 'string' then true
    when 'object' then not value @? 'strict $.* ? (@.type() != "string")'
    else false
  end;

comment on function memory.is_text_by_butler(jsonb) is
'Whether a setting is a text, or an object with a text for each butler and for all others ("*"); '
'at most 64 KiB.';

create or replace function memory.is_list_by_butler(value jsonb)
  returns boolean
  language sql
  immutable
  parallel safe
  return octet_length(value::text) <= 65536
  and case jsonb_typeof(value)
    when 'array' then not value @? 'strict $[*] ? (@.type() != "string")'
    when 'object'
    then not value @? 'strict $.* ? (@.type() != "array")'
      and not value @? 'strict $.*[*] ? (@.type() != "string")'
    else false
  end;

comment on function memory.is_list_by_butler(jsonb) is
'Whether a setting is an array of texts, or an object with such an array for each butler and for '
'all others ("*"); at most 64 KiB.';

create or replace function memory.value_of_butler(
  value jsonb,
  butler text
)
  returns jsonb
  language sql
  immutable
  parallel safe
  return case jsonb_typeof(value)
    when 'object' then coalesce(value -> butler, value -> '*')
    else value
  end;

comment on function memory.value_of_butler(jsonb, text) is
'What a setting that may differ by butler says for one: its own value, or that for all others '
'("*"); NULL if there is neither. No butler is named "*".';

commit;
