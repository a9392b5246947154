-- Deploy pymem:functions/extras/entries/sensitive_numbers to pg

begin;

set local role memory_owner;

-- Check digits and other rules of numbers, all pure. Spaces, periods and hyphens within a number do
-- not count.

create or replace function memory.without_separators(number text)
  returns text
  language sql
  immutable
  parallel safe
  return upper(translate(number, E' .-\t', ''));

comment on function memory.without_separators(text) is
'A number without spaces, tabs, periods and hyphens, in upper case.';

create or replace function memory.passes_luhn(number text)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(
    sum(
      case
        when d.position % 2 = 1 then d.digit::integer
        when d.digit::integer > 4 then d.digit::integer * 2 - 9
        else d.digit::integer * 2
      end
    ) % 10 = 0
    and count(*) > 1,
    false
  )
  from regexp_split_to_table(
    reverse(substring(memory.without_separators(number) from '^[0-9]{1,64}$')), ''
  ) with ordinality as d (digit, position);
$$;

comment on function memory.passes_luhn(text) is
'Whether the last digit of a number is its check digit by the Luhn algorithm (ISO/IEC 7812-1). '
'False for anything but 2 to 64 digits.';

create or replace function memory.is_payment_card(number text)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  -- Prefixes and lengths: Visa, Mastercard, American Express, Diners Club, JCB, Discover, UnionPay,
  -- Maestro, Mir.
  select memory.without_separators(number) ~ (
      '^(4([0-9]{12}|[0-9]{15}|[0-9]{18})|5[1-5][0-9]{14}'
      '|2(22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}'
      '|3[47][0-9]{13}|3(0[0-5]|[689][0-9])[0-9]{11,16}|35(2[89]|[3-8][0-9])[0-9]{12,15}'
      '|6(011|4[4-9][0-9]|5[0-9]{2})[0-9]{12,15}|62[0-9]{14,17}|(50|5[678]|6[37])[0-9]{14,17}'
      '|220[0-4][0-9]{12,15})$'
    )
    and memory.without_separators(number) !~ '^([0-9])\1+$'
    and memory.passes_luhn(number);
$$;

comment on function memory.is_payment_card(text) is
'Whether a number is that of a payment card: a prefix and length that card networks issue, and '
'its check digit (memory.passes_luhn).';

create or replace function memory.contains_payment_card(digits text)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  -- Numbers in a row run together, so every sequence of up to five groups is tried.
  select coalesce(
    bool_or(memory.is_payment_card(array_to_string(g.groups[i.first:i.last], ''))), false
  )
  from (
    select string_to_array(regexp_replace(left(digits, 4096), '[ .-]+', ' ', 'g'), ' ') as groups
  ) as g
  cross join lateral (
    select f.first, l.last
    from generate_subscripts(g.groups, 1) as f (first)
    cross join generate_series(f.first, least(f.first + 4, cardinality(g.groups))) as l (last)
    where f.first = l.last or length(g.groups[f.first]) = 4
  ) as i;
$$;

comment on function memory.contains_payment_card(text) is
'Whether one of the numbers in a run of digits and separators, in up to five groups of which the '
'first has four digits, is that of a payment card.';

create or replace function memory.iban_length(country text)
  returns integer
  language sql
  immutable
  parallel safe
  return (
    '{
      "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22,
      "BI": 27, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27,
      "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27,
      "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
      "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32,
      "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19,
      "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24,
      "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31,
      "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23,
      "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30
    }'::jsonb ->> country
  )::integer;

comment on function memory.iban_length(text) is
'The length of an IBAN of a country (ISO 3166 code) by the registry of SWIFT; NULL for a country '
'that has none.';

create or replace function memory.is_iban(number text)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(
    n.iban ~ '^[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}$'
    and length(n.iban) = memory.iban_length(left(n.iban, 2))
    and (
      select string_agg(
        case when c.letter ~ '[A-Z]' then (ascii(c.letter) - 55)::text else c.letter end,
        '' order by c.position
      )::numeric % 97
      from regexp_split_to_table(substr(n.iban, 5) || left(n.iban, 4), '')
        with ordinality as c (letter, position)
      where n.iban ~ '^[0-9A-Z]{15,34}$'
    ) = 1,
    false
  )
  from (select memory.without_separators(number) as iban) as n;
$$;

comment on function memory.is_iban(text) is
'Whether a number is an IBAN (ISO 13616): the length of its country, and check digits modulo 97.';

create or replace function memory.begins_with_iban(number text)
  returns boolean
  language sql
  immutable
  parallel safe
  return memory.is_iban(left(
    memory.without_separators(number),
    memory.iban_length(left(memory.without_separators(number), 2))
  ));

comment on function memory.begins_with_iban(text) is
'Whether a text begins with an IBAN; in a sentence, words may follow it.';

create or replace function memory.is_us_ssn(number text)
  returns boolean
  language sql
  immutable
  parallel safe
  -- 078-05-1120 and 219-09-9999 are known from advertisements.
  return memory.without_separators(number)
    ~ '^(?!000|666|9|078051120|219099999)[0-9]{3}(?!00)[0-9]{2}(?!0000)[0-9]{4}$';

comment on function memory.is_us_ssn(text) is
'Whether nine digits can be a Social Security number of the United States: area not 000, 666 or '
'above 899, group not 00, serial not 0000. It has no check digit.';

create or replace function memory.is_de_tax_id(number text)
  returns boolean
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_number text := memory.without_separators(number);
  v_product integer := 10;
  v_sum integer;
  v_check integer;
begin
  -- Among the first ten digits one occurs twice or three times.
  if v_number !~ '^[1-9][0-9]{10}$' or (
    select max(d.times) not between 2 and 3
    from (
      select count(*) as times from regexp_split_to_table(left(v_number, 10), '') as s (digit)
      group by s.digit
    ) as d
  ) then
    return false;
  end if;
  for i in 1 .. 10 loop
    v_sum := (substr(v_number, i, 1)::integer + v_product) % 10;
    v_product := (case v_sum when 0 then 10 else v_sum end * 2) % 11;
  end loop;
  v_check := 11 - v_product;
  return case v_check when 10 then 0 else v_check end = right(v_number, 1)::integer;
end;
$$;

comment on function memory.is_de_tax_id(text) is
'Whether a number is a tax identification number (Steuer-ID) of Germany: eleven digits, check '
'digit by ISO/IEC 7064 MOD 11,10.';

create or replace function memory.is_de_social_security(number text)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(
    (
      select sum(p.product / 10 + p.product % 10) % 10 = right(n.number, 1)::integer
      from (
        select d.digit::integer
          * ('{2,1,2,5,7,1,2,1,2,1,2,1}'::integer[])[d.position] as product
        from regexp_split_to_table(
          left(n.number, 8) || to_char(ascii(substr(n.number, 9, 1)) - 64, 'FM00')
          || substr(n.number, 10, 2),
          ''
        ) with ordinality as d (digit, position)
      ) as p
    ),
    false
  )
  from (
    select substring(memory.without_separators(number) from '^[0-9]{8}[A-Z][0-9]{3}$') as number
  ) as n;
$$;

comment on function memory.is_de_social_security(text) is
'Whether a number is a social insurance number (Sozialversicherungsnummer) of Germany: eight '
'digits, a letter, two digits and a check digit.';

create or replace function memory.is_fr_nir(number text)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  -- Corsica has letters as departments.
  select coalesce(
    97 - replace(replace(left(n.number, 13), '2A', '19'), '2B', '18')::numeric % 97
    = right(n.number, 2)::integer,
    false
  )
  from (
    select substring(
      memory.without_separators(number) from '^[12478][0-9]{4}(?:[0-9]{2}|2[AB])[0-9]{8}$'
    ) as number
  ) as n;
$$;

comment on function memory.is_fr_nir(text) is
'Whether a number is a social security number (NIR) of France: thirteen places and a key, 97 '
'minus the number modulo 97.';

create or replace function memory.is_es_dni(number text)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(
    substr(
      'TRWAGMYFPDXBNJZSQVHLCKE',
      translate(left(n.number, 8), 'XYZ', '012')::integer % 23 + 1, 1
    ) = right(n.number, 1),
    false
  )
  from (
    select substring(
      memory.without_separators(number) from '^[0-9XYZ][0-9]{7}[A-Z]$'
    ) as number
  ) as n;
$$;

comment on function memory.is_es_dni(text) is
'Whether a number is that of an identity card (DNI) or of a foreigner (NIE) of Spain: its letter '
'follows from the number modulo 23.';

create or replace function memory.is_it_tax_code(number text)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(
    (
      select sum(
          case
            when c.position % 2 = 1
            then ('{1,0,5,7,9,13,15,17,19,21,2,4,18,20,11,3,6,8,12,14,16,10,22,25,24,23}'::integer[])[
              p.place + 1
            ]
            else p.place
          end
        ) % 26 = ascii(right(n.code, 1)) - 65
      from regexp_split_to_table(left(n.code, 15), '') with ordinality as c (letter, position)
      cross join lateral (
        select case
          when c.letter ~ '[0-9]' then c.letter::integer
          else ascii(c.letter) - 65
        end as place
      ) as p
    ),
    false
  )
  from (
    select substring(
      memory.without_separators(number)
      from '^[A-Z]{6}[0-9LMNP-V]{2}[ABCDEHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]$'
    ) as code
  ) as n;
$$;

comment on function memory.is_it_tax_code(text) is
'Whether a text is a tax code (codice fiscale) of a person in Italy: sixteen places, the last of '
'which is a check letter.';

create or replace function memory.is_br_cpf(number text)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(
    n.number !~ '^([0-9])\1{10}$'
    and (
      select
        min(case when r.remainder < 2 then 0 else 11 - r.remainder end)
        filter (where r.length = 9) = substr(n.number, 10, 1)::integer
        and min(case when r.remainder < 2 then 0 else 11 - r.remainder end)
        filter (where r.length = 10) = substr(n.number, 11, 1)::integer
      from (
        select
          l.length,
          sum(substr(n.number, p.place, 1)::integer * (l.length + 2 - p.place)) % 11 as remainder
        from (values (9), (10)) as l (length)
        cross join generate_series(1, l.length) as p (place)
        group by l.length
      ) as r
    ),
    false
  )
  from (
    select substring(memory.without_separators(number) from '^[0-9]{11}$') as number
  ) as n;
$$;

comment on function memory.is_br_cpf(text) is
'Whether a number is a CPF of Brazil: nine digits and two check digits modulo 11, not all equal.';

create or replace function memory.looks_like_secret(assignment text)
  returns boolean
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  -- The word after the last separator, without quotes and the end of the sentence.
  v_value text := btrim(
    regexp_replace(substring(assignment from '\S+$'), '^.*?[:=](?=.{4})|[.,;:!?)]+$', '', 'g'),
    '"''`«»“”'
  );
begin
  return length(v_value) >= 6
    and (
      v_value ~ '[0-9]' and (v_value ~ '[^0-9]' or v_value ~ '^[0-9]{6}')
      or v_value ~ '[[:alnum:]][!@#$%^&*_+=~|\\/<>?]+[[:alnum:]]?'
      or v_value ~ '[[:lower:]][[:upper:]]' and length(v_value) >= 8
    )
    and v_value !~* '^(\*+|x+|\.+|<.*>?|\$?\{.*|\[.*|none|null|true|false|redacted|hidden|secret)$';
end;
$$;

comment on function memory.looks_like_secret(text) is
'Whether the last word of a text, such as "password: x7Kp-22", can be a secret: it mixes letters '
'with digits or symbols, or the case of letters, or is six digits or more; a plain word or a '
'placeholder is none.';

create or replace function memory.is_valid_match(
  validator text,
  matched text
)
  returns boolean
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  return coalesce(case validator
    when 'none' then true
    when 'luhn' then memory.passes_luhn(matched)
    when 'secret_value' then memory.looks_like_secret(matched)
    when 'payment_card' then memory.contains_payment_card(matched)
    when 'iban' then memory.begins_with_iban(matched)
    when 'us_ssn' then memory.is_us_ssn(substring(matched from '[0-9][0-9 -]*$'))
    when 'de_tax_id' then memory.is_de_tax_id(matched)
    when 'de_social_security' then memory.is_de_social_security(matched)
    when 'fr_nir' then memory.is_fr_nir(matched)
    when 'es_dni' then memory.is_es_dni(matched)
    when 'it_tax_code' then memory.is_it_tax_code(matched)
    when 'br_cpf' then memory.is_br_cpf(substring(matched from '[0-9][0-9.-]*$'))
  end, false);
end;
$$;

comment on function memory.is_valid_match(text, text) is
'Whether what a pattern matched passes its validator (memory.sensitive_patterns).';

commit;
