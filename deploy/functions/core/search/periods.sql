-- Deploy pymem:functions/core/search/periods to pg

begin;

set local role memory_owner;

-- A text is parsed in four steps. read_time_words turns each word into a letter by the vocabulary;
-- after that the language rarely matters. read_times finds the times among the letters: "the 8th of
-- May" is aOoM, where OoM is a time, y. place_times resolves them to days and drops what is not a
-- time. read_period applies the words around them: "since May" is Cy. There are few regular
-- expressions, because a session caches only 32.

create or replace function memory.part_of_days(
  days daterange,
  part text
)
  returns daterange
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_first_day date := lower(days);
  v_next_day date := upper(days);
  v_number integer := left(part, 1)::integer;
  v_parts integer := right(part, 1)::integer;
  v_length integer := v_next_day - v_first_day;
  v_months integer;
begin
  if date_part('day', v_first_day) = 1 and date_part('day', v_next_day) = 1 then
    v_months := 12 * (date_part('year', v_next_day) - date_part('year', v_first_day))::integer
      + (date_part('month', v_next_day) - date_part('month', v_first_day))::integer;
  end if;
  return case
    when v_length < 3 then days
    when v_months > 1 and v_months % v_parts = 0
    then daterange(
      (v_first_day + (v_number - 1) * v_months / v_parts * interval '1 month')::date,
      (v_first_day + v_number * v_months / v_parts * interval '1 month')::date
    )
    else daterange(
      v_first_day + (v_number - 1) * v_length / v_parts, v_first_day + v_number * v_length / v_parts
    )
  end;
end;
$$;

comment on function memory.part_of_days(daterange, text) is
'A part of a range of days, such as 1/3 for the first third: whole months if several months divide '
'evenly. A range of fewer than three days is returned whole.';

create or replace function memory.nth_days(
  days daterange,
  number integer,
  unit text,
  weekday text
)
  returns daterange
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_weekday text := coalesce(weekday, case unit when 'weekend' then '6' end);
  v_length interval := memory.unit_length(unit);
  v_day date := case
    when v_weekday is not null and number < 0
    then lower(memory.last_occurrence('weekday', v_weekday, upper(days) - 1))
    when v_weekday is not null
    then lower(memory.first_occurrence('weekday', v_weekday, lower(days))) + 7 * (number - 1)
    when number < 0 then (upper(days) - v_length)::date
    else (lower(days) + (number - 1) * v_length)::date
  end;
begin
  return case
    when not v_day <@ days then null
    when weekday is not null then daterange(v_day, v_day + 1)
    when unit = 'weekend' then daterange(v_day, v_day + 2)
    else daterange(v_day, (v_day + v_length)::date)
  end;
end;
$$;

comment on function memory.nth_days(daterange, integer, text, text) is
'The first (1), second (2) or last (-1) weekday, weekend or other unit within a range of days; '
'weeks are counted from its first day. NULL if there is none.';

create or replace function memory.read_number(
  word text,
  language text
)
  returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_digits text := translate(left(word, 40), translate(left(word, 40), '0123456789', ''), '');
  v_suffix text := substr(word, 1 + length(v_digits));
  v_parts text[];
  v_numbers integer[];
  v_first_day date;
  v_next_day date;
begin
  if word = v_digits || v_suffix and length(v_digits) <= 4 then
    return case
      when v_suffix = '' and v_digits::integer between 1 and 31 then 'N' || v_digits::integer
      when v_suffix = '' and length(word) < 4 then 'J' || v_digits::integer
      when v_suffix = '' and left(word, 2) in ('15', '16', '17', '18', '19', '20')
      then 'Y' || v_digits
      when v_suffix = 's' and v_digits ~ '^(19|20).0$' then 'E' || v_digits
      when v_suffix in ('st', 'nd', 'rd', 'th', 'er', 'o') and v_digits::integer between 1 and 31
      then 'O' || v_digits::integer
      else 'x'
    end;
  end if;

  v_parts := regexp_match(word, '^([0-9]{1,2})-([0-9]{1,2})$');
  if v_parts[1]::integer between 1 and 31 and v_parts[2]::integer between 1 and 31 then
    return 'G' || v_parts[1]::integer || '-' || v_parts[2]::integer;
  end if;
  v_parts := coalesce(
    regexp_match(word, '^([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?:t.*)?$'),
    regexp_match(word, '^([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})$'),
    regexp_match(word, '^([0-9]{1,2})(/)([0-9]{1,2})/([0-9]{2})$'),
    regexp_match(word, '^((?:19|20)[0-9]{2})(-)((?:19|20)[0-9]{2}|0[1-9]|1[0-2])()$')
  );
  v_numbers := array[v_parts[1], v_parts[3], nullif(v_parts[4], '')]::integer[];
  case
    when v_parts is null then
      return 'x';
    when v_parts[4] = '' and v_numbers[2] > 12 then
      v_first_day := make_date(v_numbers[1], 1, 1);
      v_next_day := make_date(v_numbers[2] + 1, 1, 1);
    when v_parts[4] = '' then
      v_first_day := make_date(v_numbers[1], v_numbers[2], 1);
      v_next_day := (v_first_day + interval '1 month')::date;
    when length(v_parts[1]) = 4 then
      v_first_day := memory.day_of(v_numbers[1], v_numbers[2], v_numbers[3]);
      v_next_day := v_first_day + 1;
    else
      if length(v_parts[4]) = 2 then
        v_numbers[3] := v_numbers[3] + case when v_numbers[3] < 70 then 2000 else 1900 end;
      end if;
      v_first_day := coalesce(
        case when language = 'en' and v_parts[2] <> '.' then
          memory.day_of(v_numbers[3], v_numbers[1], v_numbers[2])
        end,
        memory.day_of(v_numbers[3], v_numbers[2], v_numbers[1])
      );
      v_next_day := v_first_day + 1;
  end case;
  return case
    when v_first_day < v_next_day
    then 'F' || v_first_day - date '2000-01-01' || '+' || v_next_day - v_first_day
    else 'x'
  end;
end;
$$;

comment on function memory.read_number(text, text) is
'The reading (as in memory.time_vocabulary) of a lowercase word that begins with a digit: N a day '
'of the month, O an ordinal, G a range of days, J another number of up to three digits, Y a year '
'(1500..2099), E a decade, F full dates: the days from 2000-01-01 to the first, and how many. F '
'are 2023-05-08, 2023/5/8, 2023-05, 2019-2021, 8.5.2023 and 5/8/2023, 5-8-2023 or 5/8/23, with the '
'month first in English if that day exists, else the day first. x for anything else.';

create or replace function memory.read_time_words(query text)
  returns table (
    language text,
    letters text,
    readings text[]
  )
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- cheaper than planning
as $$
declare
  v_vocabulary constant jsonb := memory.time_vocabulary();
  v_text text := left(query, 1000);
  v_spelled text[];
  v_words text[];
  v_word text;
  v_known jsonb;
  v_phrase text;
  v_reading text;
  v_length integer;
  v_at integer := 1;
begin
  if length(query) > 1000 then
    -- The last word may be cut off and read as another one.
    v_text := coalesce(substring(v_text from '^(.*)\s'), '');
  end if;
  if octet_length(v_text) > length(v_text) then
    v_text := translate(
      regexp_replace(normalize(v_text, nfkd) collate "C", '[\u0300-\u036f]', '', 'g'),
      '’‘–—‐−“”„«»¿¡', '''''----"""""""'
    );
  end if;
  v_text := translate(replace(v_text, '0''s', '0s'), E'\t\n\x0b\f\r''', '      ');
  -- Separates mid-May, 8-May, 8.Mai, and characters that are not part of a word or number.
  v_text := regexp_replace(
    regexp_replace(
      v_text collate "C", '([0-9])[.-](?=[A-Za-z])|([A-Za-z])-(?=[A-Za-z0-9])', '\1\2 ', 'g'
    ),
    '([^0-9A-Za-z_\u00c0-\u1fff\u2c00-\u2fff\u3040-\ufdff ./:-]|(?<![0-9])[./:-]|[./:-](?![0-9]))',
    ' \1 ', 'g'
  );
  v_spelled := array_remove(string_to_array(v_text, ' '), '');
  v_words := array_remove(string_to_array(lower(v_text collate "C"), ' '), '');

  select k.language into language
  from (
    select u.word, 1 as weight from unnest(v_words) as u (word)
    union
    select u.word || ' ' || v_words[u.position + 1], 2
    from unnest(v_words) with ordinality as u (word, position)
  ) as w
  cross join lateral jsonb_object_keys(v_vocabulary -> w.word) as k (language)
  where k.language <> '+'
  group by k.language
  order by sum(w.weight) desc, k.language <> 'en', k.language
  limit 1;
  language := coalesce(language, 'en');

  letters := '';
  readings := '{}';
  while v_at <= cardinality(v_words) loop
    v_word := v_words[v_at];
    v_known := v_vocabulary -> v_word;
    v_length := 1;
    if v_known ? '+' then
      for v_more in reverse
        least((v_known ->> '+')::integer, cardinality(v_words) - v_at + 1) .. 2
      loop
        v_phrase := array_to_string(v_words[v_at : v_at + v_more - 1], ' ');
        if v_vocabulary -> v_phrase ? language then
          v_known := v_vocabulary -> v_phrase;
          v_length := v_more;
          exit;
        end if;
      end loop;
    end if;
    v_reading := coalesce(
      v_known ->> language,
      case
        when ascii(v_word) between 48 and 57 then memory.read_number(v_word, language)
        when v_word = ',' then 'c'
        when v_word = '-' then 'D'
        when v_word = '&' then '&'
        -- As in 8. Mai.
        when v_word = '.' and language = 'de' and right(letters, 1) = 'N' then '_'
        when ascii(v_word) < 95 or ascii(v_word) in (96, 123, 124, 125, 126) then 's'
        when ascii(v_spelled[v_at]) between 65 and 90 then 'X'
        else 'x'
      end
    );
    if left(v_reading, 1) in ('m', 'd')
      and ascii(v_spelled[v_at]) between 65 and 90
      and ascii(substr(v_spelled[v_at], 2)) between 97 and 122
    then
      v_reading := translate(left(v_reading, 1), 'md', 'nw') || substr(v_reading, 2);
    end if;
    if v_reading <> '_' then
      letters := letters || left(v_reading, 1);
      readings := array_append(readings, v_reading);
    end if;
    v_at := v_at + v_length;
  end loop;
  return next;
end;
$$;

comment on function memory.read_time_words(text) is
'The words, numbers and punctuation of the first 1,000 characters of a text as readings (of '
'memory.time_vocabulary and memory.read_number; D a dash, c a comma, s other punctuation, X a '
'capitalized word), without fillers, and their first letters as one text. A capitalized month that '
'may be a verb is read as weak. language: that of most of the distinct known words; English wins '
'ties.';

create or replace function memory.read_times(
  language text,
  letters text,
  readings text[],
  today date,
  ahead boolean
)
  returns table (
    items text,
    whats text[],
    whichs text[],
    days daterange[]
  )
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- cheaper than planning
as $$
declare
  v_match text;
  v_at integer := 1;
  v_before text;
  v_rest text;
  v_letter text;
  v_value text;
  v_item text;
  v_what text;
  v_which text;
  v_days daterange;
  v_name text;
  v_join text;
  v_numbers text[];
  v_count text;
  v_least integer;
  v_most integer;
  v_relative text;
  v_unit text;
  v_length interval;
begin
  items := '';
  whats := '{}';
  whichs := '{}';
  days := '{}';
  for v_match in
    select m.found[1]
    from regexp_matches(
      letters,
      -- The longest match wins. 3 May, 3 and 7 May, 3-7 May; the first of May; May 3, May 3-7.
      '((?:[Wwd][ca]*)?(?:[NO](?:[tDI&|][ua]*[NO])?|G)o?[Mnm]|zo[Mnm]|zM'
      '|(?:[Wwd][ca]*)?[Mnm]a?(?:[NO](?:[Dt][NO])?|G)(?!U)'
      -- The past 3 days; since 3 days; 3 days ago; the last week of something.
      '|[RQC]+[NJZ]U|[NJZ]QU|[NJZ]U[QrA]|[AV][NJZ]U|[zORQ][UWwd](?=o[aRQ]*[MnmSgHKYFETU])'
      -- Last week, last May, the week before last; the year 2023; other words.
      '|[RQ]+[UMnmSgHKWwd]|[UMnmSgHKWwd](?:[Qr]|[BL]R(?![NJZUMnmSgHKWwd]))|Ua?Y'
      '|[xXsoijutfbv&|DBLIca]+|.)',
      'g'
    ) with ordinality as m (found, position)
    order by m.position
  loop
    v_which := substr(readings[v_at], 2);
    if translate(v_match, 'UMnmSgHKWwdTEFYNOGJZzRQrP', '') = v_match then
      -- Words that are not times.
      items := items || v_match;
      whats := whats || array_fill(null::text, array[length(v_match)]);
      whichs := whichs || array_fill(null::text, array[length(v_match)]);
      days := days || array_fill(null::daterange, array[length(v_match)]);
      v_at := v_at + length(v_match);
      continue;
    end if;

    v_name := null;
    v_join := 'D';
    v_numbers := '{}';
    v_count := null;
    v_relative := null;
    v_unit := null;
    for v_position in v_at .. v_at + length(v_match) - 1 loop
      v_letter := left(readings[v_position], 1);
      v_value := substr(readings[v_position], 2);
      case
        when strpos('MnmSgHKWwdTEFY', v_letter) > 0 then
          v_name := v_letter;
          v_which := v_value;
        when strpos('NOGzJZ', v_letter) > 0 then
          v_numbers := v_numbers || string_to_array(v_value, '-');
          v_count := v_value;
        when strpos('RQr', v_letter) > 0 then
          v_relative := v_value;
        when v_letter = 'U' then
          v_unit := v_value;
        when strpos('tDI&|', v_letter) > 0 then
          v_join := v_letter;
        else
          null;
      end case;
    end loop;
    v_at := v_at + length(v_match);
    v_rest := substr(letters, v_at);
    v_before := rtrim(items, 'a');
    v_length := memory.unit_length(v_unit);
    v_most := least(
      v_numbers[cardinality(v_numbers)]::integer, case v_unit when 'decade' then 99 else 999 end
    );
    v_least := least(v_numbers[1]::integer, v_most);

    v_item := 'p';
    v_what := coalesce(
      case
        when v_name in ('M', 'n', 'm') and v_count is not null then 'date'
        when v_name in ('M', 'n', 'm') then 'month'
        when v_name in ('S', 'g') then 'season'
        when v_name = 'K' then 'quarter'
        when v_name = 'H' then 'holiday'
        when v_name in ('W', 'w', 'd') then 'weekday'
      end,
      v_unit
    );
    v_days := null;
    case
      when v_what = 'date' then
        v_item := translate(v_name, 'M', 'y');
        if v_numbers[2] is not null then
          items := items || v_item || v_join;
          whats := whats || array[v_what, null];
          whichs := whichs || array[v_which || '-' || v_numbers[1], null];
          days := days || array[v_days, null];
        end if;
        v_which := v_which || '-' || v_numbers[cardinality(v_numbers)];
      when length(v_match) = 2 and coalesce(v_relative, '-1') in ('-1', 'past')
        and v_rest ~ '^o[aRQ]*[MnmSgHKYFETU]' and left(v_match, 1) <> 'U'
      then
        v_item := 'h';
        v_which := coalesce(v_count, '-1')
          || case when v_unit is null then ' ' || v_which else '' end;
      when v_count is not null and v_unit is not null
        and (v_relative is not null or left(v_match, 1) = 'C')
      then
        if left(v_match, 1) = 'C' then
          items := items || 'C';
          whats := array_append(whats, null);
          whichs := array_append(whichs, null);
          days := array_append(days, null);
        end if;
        v_days := case
          when v_relative = '0' then null
          when v_relative in ('1', '2') then daterange(today, (today + v_most * v_length)::date + 1)
          else daterange((today - v_most * v_length)::date, today + 1)
        end;
      when v_count is not null and v_unit is not null then
        v_days := daterange(
          lower(memory.unit_days(v_unit, -v_most, today)),
          upper(memory.unit_days(v_unit, -v_least, today))
        );
      when v_relative is not null and v_unit is not null then
        v_relative := case
          when length(v_match) = 3 and v_match like '_B_' then '-2'
          when length(v_match) = 3 and v_match like '_L_' then '2'
          else v_relative
        end;
        v_days := case
          -- The last day, the next day: these are days of something else.
          when v_unit = 'day' and v_relative not in ('0', 'past') then null
          when v_unit <> 'weekend' and (
            v_relative = 'past' or language = 'en' and v_relative = '-1' and right(items, 1) = 'a'
          )
          then daterange((today - v_length)::date, today + 1)
          else memory.unit_days(v_unit, replace(v_relative, 'past', '-1')::integer, today)
        end;
      when v_relative is not null and v_name is not null then
        v_days := case
          when v_name not in ('m', 'd') or strpos('scDYtoI&|', left(v_rest, 1)) > 0
          then memory.nearest_days(v_what, v_which, v_relative, today)
        end;
      when v_name in ('E', 'Y') then
        v_item := case when v_name = 'E' or v_unit = 'year' then 'p' else 'Y' end;
        v_days := daterange(
          make_date(v_which::integer, 1, 1),
          make_date(v_which::integer + case v_name when 'E' then 10 else 1 end, 1, 1)
        );
      when v_name = 'T' then
        v_days := daterange(today + v_which::integer, today + v_which::integer + 1);
      when v_name = 'F' then
        v_days := daterange(
          date '2000-01-01' + split_part(v_which, '+', 1)::integer,
          date '2000-01-01' + split_part(v_which, '+', 1)::integer
            + split_part(v_which, '+', 2)::integer
        );
      when v_name is not null then
        v_item := translate(v_name, 'MHKSW', 'yynek');
      when v_unit is not null and right(items, 1) in ('a', 'o')
        and right(rtrim(v_before, 'o'), 1) in ('P', 'h')
      then
        v_days := memory.unit_days(v_unit, 0, today);
      when v_unit = 'weekend' and (
        right(v_before, 1) in ('i', 'u') or language in ('es', 'fr') and v_before <> items
      ) then
        v_days := memory.unit_days(
          v_unit, case when date_part('isodow', today) < 6 and not ahead then -1 else 0 end, today
        );
      else
        v_item := left(v_match, 1);
    end case;
    items := items || case when v_item = 'p' and v_days is null then 'x' else v_item end;
    whats := array_append(whats, v_what);
    whichs := array_append(whichs, v_which);
    days := array_append(days, v_days);
  end loop;
  return next;
end;
$$;

comment on function memory.read_times(text, text, text[], date, boolean) is
'The times among the letters of memory.read_time_words: a letter for each time or other word, with '
'its details. p: days. Recurring times (memory.last_occurrence; what, which): y yearly, n weak, m '
'possibly a verb, e and g seasons, k weekdays, w and d weak ones. Y a year. h: the number (1.., -1 '
'the last) of a unit, or of a weekday after a space, within the time that follows. Other letters '
'as before. ahead: at the weekend means the next one.';

create or replace function memory.join_times(
  gap text,
  what text,
  next_what text
)
  returns boolean
  language sql
  immutable
  parallel safe
  return case
    when translate(gap, '.', '') = '' then what = next_what
    else translate(gap, '.', '') ~ '^(c|c?[&|tDI])[aijuofPhDU]*$'
  end;

comment on function memory.join_times(text, text, text) is
'Whether two times belong together by what is between them (items of memory.read_times): and, or, '
'to, until, a dash, a comma, and words that belong to the second one; nothing, if both are of one '
'kind, as in May-June.';

create or replace function memory.place_times(
  language text,
  items text,
  whats text[],
  whichs text[],
  days daterange[],
  today date,
  ahead boolean
)
  returns table (
    items_placed text,
    days_placed daterange[]
  )
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- cheaper than planning
as $$
declare
  v_times integer[];
  v_from integer;
  v_to integer;
  v_item text;
  v_next_item text;
  v_gap text;
  v_before text;
  v_near text;
  v_after text;
  v_is_article boolean;
  v_is_joined boolean;
  v_counts boolean;
  v_within daterange;
  v_found daterange;
  v_position integer;
begin
  items_placed := items;
  days_placed := days;
  v_times := array(
    select p.position
    from generate_series(1, length(items)) as p (position)
    where strpos('pYynmegkwd', substr(items, p.position, 1)) > 0
    order by p.position
    limit 16
  );

  -- A year or week next to a recurring time selects its occurrence: May 2023, last week on Friday.
  -- The recurring time becomes p, the other one and what is between them dots.
  for v_number in 1 .. cardinality(v_times) - 1 loop
    v_from := v_times[v_number];
    v_to := v_times[v_number + 1];
    v_item := substr(items_placed, v_from, 1);
    v_next_item := substr(items_placed, v_to, 1);
    v_gap := substr(items_placed, v_from + 1, v_to - v_from - 1);
    v_position := case
      when v_item in ('.', 'x') or translate(v_gap, 'oijuac', '') <> '' then null
      when v_item not in ('p', 'Y') and v_next_item in ('p', 'Y') then v_from
      when v_item in ('p', 'Y') and v_next_item not in ('p', 'Y')
        -- Unless it has its own year.
        and left(ltrim(substr(items_placed, v_to + 1), 'oc'), 1) not in ('p', 'Y')
      then v_to
    end;
    if v_position is not null then
      v_within := days[v_from + v_to - v_position];
      v_found := case
        when upper(v_within) - lower(v_within) <= 7
          or whats[v_position] <> 'weekday' and upper(v_within) - lower(v_within) <= 366
        then memory.first_occurrence(whats[v_position], whichs[v_position], lower(v_within))
      end;
      if lower(v_found) <@ v_within then
        days_placed[v_position] := v_found;
        items_placed := overlay(
          items_placed placing repeat('.', v_to - v_from + 1)
          from v_from for v_to - v_from + 1
        );
        items_placed := overlay(items_placed placing 'p' from v_position for 1);
      elsif v_position = v_from and v_next_item = 'Y' and translate(v_gap, 'oc', '') = '' then
        -- February 29, 2023.
        items_placed := overlay(items_placed placing 'x' from v_from for 1);
        items_placed := overlay(items_placed placing 'x' from v_to for 1);
      end if;
    end if;
  end loop;
  v_times := array(
    select t.position
    from unnest(v_times) with ordinality as t (position, number)
    where substr(items_placed, t.position, 1) not in ('.', 'x')
    order by t.number
  );

  -- "From November to February 2023": the first time is the last one before the second.
  for v_number in reverse cardinality(v_times) - 1 .. 1 loop
    v_from := v_times[v_number];
    v_to := v_times[v_number + 1];
    if substr(items_placed, v_from, 1) in ('y', 'n', 'm', 'e', 'g')
      and substr(items_placed, v_to, 1) = 'p'
      and memory.join_times(
        substr(items_placed, v_from + 1, v_to - v_from - 1), whats[v_from], whats[v_to]
      )
    then
      v_found := memory.last_occurrence(whats[v_from], whichs[v_from], lower(days_placed[v_to]));
      if v_found is not null then
        days_placed[v_from] := v_found;
        items_placed := overlay(items_placed placing 'p' from v_from for 1);
      end if;
    end if;
  end loop;

  -- Other times count only if the words around them say so. They mean the nearest: q.
  for v_number in 1 .. cardinality(v_times) loop
    v_to := v_times[v_number];
    v_item := substr(items_placed, v_to, 1);
    v_before := rtrim(left(items_placed, v_to - 1), '.');
    v_is_article := right(v_before, 1) = 'a';
    -- A space stands for no item.
    v_near := right(' ' || rtrim(v_before, '.a'), 1);
    v_after := substr(items_placed, v_to + 1) || ' ';
    v_is_joined := false;
    if v_number > 1 then
      v_from := v_times[v_number - 1];
      v_gap := substr(items_placed, v_from + 1, v_to - v_from - 1);
      v_is_joined := substr(items_placed, v_from, 1) in ('p', 'q')
        and memory.join_times(v_gap, whats[v_from], whats[v_to]);
    end if;
    if v_near = 'v' then
      v_item := 'x';
    elsif v_item <> 'p' then
      v_counts := case
        when v_item in ('n', 'm') then
          v_item = 'n' and whats[v_to] = 'date'
          or strpos('ijCIBVLb', v_near) > 0
          or v_is_joined and whats[v_from] in ('date', 'month', whats[v_to])
          or (v_item = 'n' or v_near = 'f') and v_after ~ '^[tDI][.aijuof]*[ynmpY]'
          or v_near = 'f' and left(v_after, 1) = 'u'
          or whats[v_to] = 'date' and (
            strpos('uf', v_near) > 0 or strpos(' scDYtI&|', left(v_after, 1)) > 0
          )
          or v_near = 'P' and (v_item = 'n' or strpos(' sc', left(v_after, 1)) > 0)
          -- The end of April, the events of May; but a person in: a friend of April.
          or v_near = 'o' and (v_item = 'm' or rtrim(v_before, '.a') ~ '([PUzNOWh]|a[xX])o$')
        when v_item in ('e', 'g') then
          v_is_joined
          or v_near = 'j'
          or v_is_article and v_near = 'i'
          or strpos('CIBVLPb', v_near) > 0 and (v_item = 'e' or not v_is_article)
          or v_is_article and v_near = 't' and v_item = 'e'
          or v_near = 'o' and right(rtrim(v_before, '.ao'), 1) = 'P'
        when v_item = 'w' then v_is_joined or v_near = 'u'
        when v_item = 'd' then v_is_joined
        when v_item = 'Y' then
          whichs[v_to]::integer >= 1900 and (
            v_is_joined
            or strpos('ijCIBVLbfP', v_near) > 0
            or v_near = 'o' and strpos(' sc', left(v_after, 1)) > 0
            or left(v_after, 2) in ('tY', 'DY')
            -- German years need no preposition, but before a noun one may be a count.
            or language = 'de' and left(v_after, 1) not in ('X', 'U')
          )
        else true
      end;
      v_found := case
        when not v_counts then null
        when v_item = 'Y' then days_placed[v_to]
        when v_is_joined and (
          substr(items_placed, v_from, 1) = 'p' and (
            whats[v_from] = whats[v_to]
            or whats[v_to] <> 'weekday'
            and whats[v_from] in ('date', 'month', 'season', 'quarter', 'holiday')
          )
          or translate(v_gap, 'tDI', '') <> v_gap
          or translate(v_gap, '.', '') = ''
          or right(rtrim(left(items_placed, v_from - 1), '.aiju'), 1) = 'b'
        )
        then memory.first_occurrence(whats[v_to], whichs[v_to], lower(days_placed[v_from]))
        else memory.nearest_days(
          whats[v_to], whichs[v_to], case when ahead then 'ahead' end, today
        )
      end;
      days_placed[v_to] := v_found;
      v_item := case
        when v_found is null then 'x'
        when v_is_joined then substr(items_placed, v_from, 1)
        else 'q'
      end;
    end if;

    -- Early May, the first week of May, the week of May 8.
    if v_item in ('p', 'q') then
      v_before := rtrim(v_before, '.oafD');
      v_position := length(v_before);
      case
        when right(v_before, 1) = 'P' then
          days_placed[v_to] := memory.part_of_days(days_placed[v_to], whichs[v_position]);
        when right(v_before, 1) = 'h' then
          days_placed[v_to] := memory.nth_days(
            days_placed[v_to], split_part(whichs[v_position], ' ', 1)::integer, whats[v_position],
            nullif(split_part(whichs[v_position], ' ', 2), '')
          );
        when right(v_before, 1) = 'U' and whats[v_position] in ('week', 'weekend')
          and strpos('of', substr(items_placed, v_position + 1, 1)) > 0
        then
          days_placed[v_to] := memory.unit_days(
            whats[v_position], 0, lower(days_placed[v_to])
          );
        else
          null;
      end case;
      if days_placed[v_to] is null then
        v_item := 'x';
      end if;
    end if;
    items_placed := overlay(items_placed placing v_item from v_to for 1);
  end loop;
  return next;
end;
$$;

comment on function memory.place_times(
  text, text, text[], text[], daterange[], date, boolean
) is
'Resolves the first 16 times of memory.read_times to days, as of today. Their letters become p for '
'certain days, q for the nearest occurrence (ahead: the one to come), and x for what turns out not '
'to be a time.';

create or replace function memory.read_period(
  query text,
  time_zone text,
  as_of timestamptz default now()
)
  returns tstzmultirange
  language plpgsql
  immutable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- cheaper than planning
as $$
declare
  v_today date;
  v_words record;
  v_read record;
  v_placed record;
  v_ahead boolean;
  v_times integer[];
  v_number integer := 1;
  v_at integer;
  v_next integer;
  v_before text;
  v_after text;
  v_gap text;
  v_word text;
  v_unit integer;
  v_distance interval;
  v_first_day date;
  v_next_day date;
  v_from timestamptz;
  v_to timestamptz;
  v_periods tstzmultirange := tstzmultirange();
begin
  perform memory.check_time_zone('time_zone', time_zone);
  perform memory.check_time('as_of', as_of);
  if not memory.may_name_time(query) then
    return null;
  end if;
  select w.* into v_words from memory.read_time_words(query) as w;
  v_today := (as_of at time zone time_zone)::date;
  if translate(v_words.letters, 'MnmWwdTSgHKUYEF', '') = v_words.letters
    or v_today not between '0200-01-01' and '9000-01-01'
  then
    return null;
  end if;
  v_ahead := memory.asks_ahead(query);
  select t.* into v_read
  from memory.read_times(
    v_words.language, v_words.letters, v_words.readings, v_today, v_ahead
  ) as t;
  select t.* into v_placed
  from memory.place_times(
    v_words.language, v_read.items, v_read.whats, v_read.whichs, v_read.days, v_today, v_ahead
  ) as t;

  v_times := array(
    select p.position
    from generate_series(1, length(v_placed.items_placed)) as p (position)
    where substr(v_placed.items_placed, p.position, 1) in ('p', 'q')
    order by p.position
  );
  while v_number <= cardinality(v_times) loop
    v_at := v_times[v_number];
    v_next := v_times[v_number + 1];
    v_before := left(v_placed.items_placed, v_at - 1);
    v_after := substr(v_placed.items_placed, v_at + 1);
    v_gap := translate(left(v_after, v_next - v_at - 1), '.', '');
    v_first_day := lower(v_placed.days_placed[v_at]);
    v_next_day := upper(v_placed.days_placed[v_at]);
    v_word := right(rtrim(v_before, '.aoijuDPhU'), 1);
    v_before := rtrim(v_before, '.aiju');
    v_distance := null;
    if lower(v_placed.days_placed[v_next]) >= v_first_day
      and memory.join_times(v_gap, v_read.whats[v_at], v_read.whats[v_next])
      and (
        v_gap = ''
        or left(v_gap, 1) in ('t', 'D', 'I')
        or left(v_gap, 1) = '&' and v_word = 'b'
      )
    then
      v_next_day := upper(v_placed.days_placed[v_next]);
      v_number := v_number + 1;
      v_word := null;
    elsif v_word = 'f' and left(v_after, 1) = 'u'
      and left(ltrim(v_after, 'ua'), 1) not in ('p', 'q')
    then
      -- From May on.
      v_word := 'C';
    elsif right(v_before, 2) in ('UB', 'UV', 'UL') then
      -- Three days before.
      v_unit := length(v_before) - 1;
      v_distance := memory.unit_length(v_read.whats[v_unit]) * case
        when substr(v_before, v_unit - 1, 1) in ('N', 'J', 'Z')
        then split_part(v_read.whichs[v_unit - 1], '-', -1)::integer
        else 1
      end;
    end if;
    v_from := v_first_day::timestamp at time zone time_zone;
    v_to := v_next_day::timestamp at time zone time_zone;
    v_periods := v_periods + tstzmultirange(
      case
        when v_word = 'C' and v_from >= as_of then 'empty'
        when v_word = 'C' then tstzrange(v_from, as_of)
        when v_word = 'I' then tstzrange(null, v_to)
        when v_word = 'L' then tstzrange(v_to, (v_next_day + v_distance) at time zone time_zone)
        when v_word in ('B', 'V')
        then tstzrange((v_first_day - v_distance) at time zone time_zone, v_from)
        else tstzrange(v_from, v_to)
      end
    );
    v_number := v_number + 1;
  end loop;
  return nullif(v_periods, tstzmultirange());
end;
$$;

comment on function memory.read_period(text, text, timestamptz) is
'The times that the first 1,000 characters of a text name, such as "last week" or "on May 3", as '
'understood at as_of in a time zone (an IANA name): half-open ranges from midnight to midnight; '
'NULL if there are none. A time without a year, such as May or Monday, means the last one that has '
'begun, or, if the text asks about what is to come (memory.asks_ahead), the next one. '
'Errors: PM002 invalid time zone or as_of; none for any text.';
grant execute on function memory.read_period
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.read_former(
  query text,
  settings memory.settings,
  as_of timestamptz
)
  returns tstzmultirange
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_period tstzmultirange;
begin
  if settings.boost_time > 0 then
    v_period := memory.read_period(query, settings.time_zone, as_of);
    if v_period is null and memory.asks_past(query) then
      return '{(,)}'::tstzmultirange;
    elsif upper(v_period) <= as_of and not memory.asks_events(query) then
      return v_period;
    end if;
  end if;
  return null;
end;
$$;

comment on function memory.read_former(text, memory.settings, timestamptz) is
'The times whose facts a query asks for, if they are over at as_of: those that it names '
'(memory.read_period), unless it asks what happened then; or any, if it names none and asks about '
'the past (memory.asks_past). NULL: it asks for what holds. Without boost_time, no times are read.';
grant execute on function memory.read_former to memory_search;

commit;
