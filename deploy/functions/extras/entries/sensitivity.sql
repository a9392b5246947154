-- Deploy pymem:functions/extras/entries/sensitivity to pg

begin;

set local role memory_owner;

create or replace function memory.patterns_of(tenant_id text)
  returns table (
    data_class text,
    name text,
    kind text,
    pattern text,
    match_case boolean,
    required_words text[],
    validator text,
    country text,
    is_builtin boolean
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    t.data_class, t.name, t.kind, t.pattern, t.match_case, t.required_words, t.validator, t.country, false
  from memory.tenant_patterns as t
  where t.tenant_id = patterns_of.tenant_id
  union all
  select
    p.data_class, p.name, p.kind, p.pattern, p.match_case, p.required_words, p.validator, p.country, true
  from memory.sensitive_patterns as p
  where not exists (
    select
    from memory.tenant_patterns as t
    where t.tenant_id = patterns_of.tenant_id and t.data_class = p.data_class and t.name = p.name
  );
$$;

comment on function memory.patterns_of(text) is
'The patterns that hold for a tenant: its own, and those of memory.sensitive_patterns that it '
'does not replace; unordered.';

create or replace function memory.find_sensitive(
  tenant_id text,
  content text
)
  returns table (
    data_class text,
    name text,
    "position" integer -- noqa: RF06
  )
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  -- Other forms of digits, hyphens and spaces, each of which is one character.
  v_text text := case
    when octet_length(content) = length(content) then content
    else translate(
      normalize(content, nfc),
      E'\uFF10\uFF11\uFF12\uFF13\uFF14\uFF15\uFF16\uFF17\uFF18\uFF19\u2010\u2011\u2012\u2013'
      '\u2014\u2212\u00A0\u2007\u2009\u200B\u202F\u2060\u3000\uFF1A\uFF1D',
      '0123456789------       :='
    )
  end;
  v_lower text := lower(v_text);
  v_pattern record;
begin
  for v_pattern in
    select
      p.*, case when p.match_case then 'g' else 'gi' end as flags,
      -- Without a group of its own, a match is all that the pattern matches, and found faster.
      case when p.is_builtin then p.pattern else '(' || p.pattern || ')' end as expression
    from memory.patterns_of(find_sensitive.tenant_id) as p
    where p.kind = 'content'
      and (
        p.required_words = '{}'
        or exists (
          select from unnest(p.required_words) as w (word) where position(w.word in v_lower) > 0
        )
      )
    order by p.data_class, p.name
  loop
    data_class := v_pattern.data_class;
    name := v_pattern.name;
    select m.number::integer into "position"
    from regexp_matches(v_text, v_pattern.expression, v_pattern.flags)
      with ordinality as m (matched, number)
    where memory.is_valid_match(v_pattern.validator, m.matched[1])
    order by m.number
    limit 1;
    if found then
      "position" := regexp_instr(
        v_text, v_pattern.pattern, 1, "position", 0, replace(v_pattern.flags, 'g', '')
      );
      return next;
    end if;
  end loop;
end;
$$;

comment on function memory.find_sensitive(text, text) is
'What memory.detect_sensitive returns, for a tenant. Positions are those in the text in form NFC.';

create or replace function memory.find_label(
  tenant_id text,
  label text
)
  returns text
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select p.data_class
  from memory.patterns_of(find_label.tenant_id) as p
  where p.kind = 'label'
    and memory.fold_text(lower(memory.collapse_whitespace(label))) ~ ('^(?:' || p.pattern || ')$')
  order by p.data_class, p.name
  limit 1;
$$;

comment on function memory.find_label(text, text) is
'The class of sensitive content that a label, such as the category of an entry, declares; NULL '
'for none.';

create or replace function memory.detect_sensitive(content text)
  returns table (
    data_class text,
    name text,
    "position" integer -- noqa: RF06
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  perform memory.check_text('content', content, 1048576);
  return query
  select f.data_class, f.name, f."position"
  from memory.find_sensitive(memory.current_tenant(), detect_sensitive.content) as f
  order by f."position", f.data_class, f.name;
end;
$$;

comment on function memory.detect_sensitive(text) is
'What makes a text sensitive: secrets, keys, tokens, payment cards, IBANs, national numbers, and '
'what the tenant has added (memory.list_sensitive_patterns). One row for each detector that finds '
'something: its class and name, and where the first match begins, in characters from 1; never '
'what it matched. Errors: PM002 empty or over 1 MiB.';
grant execute on function memory.detect_sensitive to memory_writer, memory_admin;

create or replace function memory.check_pattern(pattern text)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.check_text('pattern', pattern, 500);
  -- Only a back-reference makes matching take exponential time.
  if pattern ~ '\\[1-9]' then
    raise exception 'the pattern has a back-reference'
      using errcode = 'PM002', hint = 'Repeat the expression instead of referring to it.';
  end if;
  begin
    if '' ~ ('(' || pattern || ')') then
      raise exception 'the pattern matches an empty text'
        using errcode = 'PM002', hint = 'Let it require at least one character.';
    end if;
  exception
    when invalid_regular_expression then
      raise exception 'not a regular expression: %', sqlerrm
        using errcode = 'PM002',
          hint = 'Pass a regular expression of PostgreSQL (ARE) without embedded options.';
  end;
end;
$$;

comment on function memory.check_pattern(text) is
'Refuses a pattern that is longer than 500 bytes, that does not compile, that has a '
'back-reference or that matches an empty text. Errors: PM002.';

create or replace function memory.add_sensitive_pattern(
  data_class text,
  name text,
  pattern text,
  kind text default 'content',
  validator text default 'none',
  required_words text[] default '{}',
  match_case boolean default false,
  country text default null
)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_words text[];
  v_created boolean;
begin
  if not coalesce(add_sensitive_pattern.data_class ~ '^[a-z][a-z0-9_]{0,39}$', false)
    or not coalesce(add_sensitive_pattern.name ~ '^[a-z][a-z0-9_]{0,39}$', false)
  then
    raise exception 'data_class and name must be words'
      using errcode = 'PM002',
        hint = 'Use up to 40 characters from a-z 0-9 _, such as "customer_number".';
  end if;
  perform
    memory.check_word('kind', add_sensitive_pattern.kind, '{content,label}'),
    memory.check_word(
      'validator', add_sensitive_pattern.validator,
      '{none,luhn,secret_value,payment_card,iban,us_ssn,de_tax_id,de_social_security,fr_nir,es_dni,'
      'it_tax_code,br_cpf}'
    );
  perform memory.check_pattern(add_sensitive_pattern.pattern);
  if not coalesce(add_sensitive_pattern.country ~ '^[A-Z]{2}$', true) then
    raise exception 'country is %', quote_literal(left(add_sensitive_pattern.country, 100))
      using errcode = 'PM002', hint = 'Pass an ISO 3166 code such as "DE", or none.';
  end if;
  v_words := array(
    select lower(w.word)
    from unnest(add_sensitive_pattern.required_words) with ordinality as w (word, position)
    where not memory.is_blank(w.word)
    order by w.position
  );
  if octet_length(array_to_string(v_words, ' ')) > 1000 then
    raise exception 'required_words are % bytes long', octet_length(array_to_string(v_words, ' '))
      using errcode = 'PM002', hint = 'Pass at most 1000 bytes of words.';
  end if;
  if (
    select count(*) >= 100
    from memory.tenant_patterns as t
    where t.tenant_id = v_tenant_id
      and (t.data_class, t.name) <> (add_sensitive_pattern.data_class, add_sensitive_pattern.name)
  ) then
    raise exception 'there are 100 patterns already'
      using errcode = 'PM002',
        hint = 'Every write tries each of them: remove some, or join several into one.';
  end if;

  insert into memory.tenant_patterns as t
    (tenant_id, data_class, name, kind, pattern, match_case, required_words, validator, country)
  values (
    v_tenant_id, add_sensitive_pattern.data_class, add_sensitive_pattern.name,
    add_sensitive_pattern.kind, add_sensitive_pattern.pattern,
    coalesce(add_sensitive_pattern.match_case, false), v_words, add_sensitive_pattern.validator,
    add_sensitive_pattern.country
  )
  on conflict (tenant_id, data_class, name) do update set
    kind = excluded.kind,
    pattern = excluded.pattern,
    match_case = excluded.match_case,
    required_words = excluded.required_words,
    validator = excluded.validator,
    country = excluded.country
  returning t.xmax = 0 into v_created;
  return v_created;
end;
$$;

comment on function memory.add_sensitive_pattern(
  text, text, text, text, text, text[], boolean, text
) is
'Adds what counts as sensitive for the tenant, and returns whether it is new: the same class and '
'name replaces what the tenant added, or a built-in one. pattern: a regular expression of '
'PostgreSQL; with kind "label", one that a category of an entry matches as a whole, folded into '
'lower case. validator: which rule a match must also pass. required_words: the pattern is tried '
'only on texts with one of these. country: of a national number. At most 100 patterns of 500 '
'bytes. Errors: PM002.';
grant execute on function memory.add_sensitive_pattern to memory_admin;

create or replace function memory.remove_sensitive_pattern(
  data_class text,
  name text
)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  delete from memory.tenant_patterns as t
  where t.tenant_id = v_tenant_id
    and t.data_class = remove_sensitive_pattern.data_class and t.name = remove_sensitive_pattern.name;
  return found;
end;
$$;

comment on function memory.remove_sensitive_pattern(text, text) is
'Removes what the tenant added by this class and name; a built-in pattern that it replaced holds '
'again. Returns false if it added none.';
grant execute on function memory.remove_sensitive_pattern to memory_admin;

create or replace function memory.list_sensitive_patterns()
  returns table (
    data_class text,
    name text,
    kind text,
    pattern text,
    match_case boolean,
    required_words text[],
    validator text,
    country text,
    is_builtin boolean
  )
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select p.*
  from memory.patterns_of(memory.current_tenant()) as p
  order by p.kind, p.data_class, p.name;
$$;

comment on function memory.list_sensitive_patterns() is
'What counts as sensitive for a tenant, built in (memory.sensitive_patterns) or added.';
grant execute on function memory.list_sensitive_patterns to memory_admin;

commit;
