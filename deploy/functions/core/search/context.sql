-- Deploy pymem:functions/core/search/context to pg

begin;

set local role memory_owner;

-- Stored text in a prompt must not forge a heading, a list item or a control sequence.
create or replace function memory.one_line(content text)
  returns text
  language sql
  immutable
  strict
  parallel safe
  return regexp_replace(
    btrim(regexp_replace(
      content collate "C",
      '[\s\u0001-\u001f\u007f-\u00a0\u061c\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f'
      '\u205f-\u2064\u2066-\u2069\u3000\ufeff\U000e0000-\U000e007f]+',
      ' ', 'g'
    ), ' '),
    '^([#>*+`-])', '\\\1'
  );

comment on function memory.one_line(text) is
'Makes a text safe for one Markdown line: whitespace, line breaks and control, direction and tag '
'characters collapse into single spaces, and a leading markup character is escaped.';

create or replace function memory.count_room(
  content text,
  token_estimate text
)
  returns integer
  language sql
  immutable
  parallel safe
  return case
    when token_estimate = 'characters' then length(content)
    else ceil(length(content) + 1.5 * (octet_length(content) - length(content)))::integer
  end;

comment on function memory.count_room(text, text) is
'The room a text takes in a context, in characters of plain English, four to a token. '
'token_estimate "octets": a character of two bytes (accents, Greek, Cyrillic) counts as 2.5 and '
'one of three bytes (Chinese, Japanese, Thai) as 4, a whole token, the average of LLM tokenizers; '
'"characters": each counts as 1.';

create or replace function memory.shorten_text(
  content text,
  room integer,
  token_estimate text
)
  returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_room integer := room - memory.count_room('…', token_estimate);
  v_content text := left(content, greatest(v_room, 0));
  v_whole_words text;
begin
  if memory.count_room(content, token_estimate) <= room then
    return content;
  end if;
  while memory.count_room(v_content, token_estimate) > v_room and v_content <> '' loop
    v_content := left(v_content, least(length(v_content) - 1, (
      length(v_content) * v_room::float8 / memory.count_room(v_content, token_estimate)
    )::integer));
  end loop;
  v_whole_words := regexp_replace(v_content, '\s+\S*$', '');
  -- Cut between words unless that loses much, as in text without spaces.
  if length(v_whole_words) > 0.7 * length(v_content) then
    v_content := v_whole_words;
  end if;
  return rtrim(v_content) || '…';
end;
$$;

comment on function memory.shorten_text(text, integer, text) is
'A text, shortened if it takes more than the given room (memory.count_room): its beginning and an '
'ellipsis, cut between words if that loses little. If room is too small for an ellipsis, the '
'ellipsis alone.';

create or replace function memory.context(
  trigger_prompt text,
  butler text,
  token_budget integer default null,
  include_recent_episodes boolean default null,
  min_relevance float8 default null,
  embedding vector default null,
  embedding_version_id uuid default null,
  include_entries boolean default null,
  as_of timestamptz default now()
)
  returns text
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- the same text for every client
as $$
declare
  v_settings memory.settings := memory.current_settings();
  v_title text := E'# Memory Context\n';
  v_headings text[] := array[
    '## Key Facts', '## Active Rules', '## Warnings', '## Recent Episodes', '## Notes'
  ];
  v_with_entries boolean := coalesce(context.include_entries, v_settings.context_entries);
  v_entries_share float8 := case
    when v_with_entries then v_settings.context_entries_share else 0
  end;
  v_shares float8[] := array[
    v_settings.context_facts_share * (1 - v_entries_share),
    v_settings.context_rules_share * (1 - v_entries_share),
    v_settings.context_warnings_share * (1 - v_entries_share),
    v_settings.context_episodes_share * (1 - v_entries_share),
    v_entries_share
  ];
  v_estimate text := v_settings.context_token_estimate;
  v_topic text := memory.truncate_utf8(coalesce(trigger_prompt, ''), 65536);
  v_room bigint := floor(
    coalesce(context.token_budget, v_settings.context_token_budget)
    * v_settings.context_chars_per_token
  )::bigint;
  v_lines memory.context_line[];
  v_line memory.context_line;
  v_is_open boolean[] := array[false, false, false, false, false];
  v_longest bigint;
  v_left bigint;
  v_free bigint;
  v_heading_room integer;
  v_section integer := 0;
begin
  perform memory.check_scope('butler', butler);
  perform memory.check_number('min_relevance', coalesce(context.min_relevance, 0), 0, 1);
  perform memory.check_time('as_of', as_of);
  if v_room < length(v_title) then
    raise exception 'a token_budget of % leaves no room for the heading', token_budget
      using errcode = 'PM002', hint = 'Pass a token_budget of 5 or more.';
  end if;
  v_left := v_room - length(v_title);
  -- One long memory must not fill the context: a line takes at most a quarter of the room, or 400
  -- characters if that is more.
  v_longest := greatest(v_left / 4, 400);

  v_lines := array(
    with facts as materialized (
      select f.*
      from memory.rank_memories(
        v_topic, butler, v_settings.retrieval_limit, '{fact}', null, context.min_relevance,
        embedding, embedding_version_id, as_of => as_of
      ) with ordinality as f
    ),
    contradicted as materialized (
      select memory.list_contradicted('fact', array(select f.id from facts as f), as_of) as ids
    ),
    rules as materialized (
      select r.*
      from memory.rank_memories(
        v_topic, butler, v_settings.retrieval_limit, '{rule}', null, context.min_relevance,
        embedding, embedding_version_id, as_of => as_of
      ) as r
    ),
    -- What consolidation may not change by itself. What only a tool or a page said is not shown in
    -- the place of what is known.
    corrections as materialized (
      select
        p.memory_id,
        ', contradicted' || case
          when p.trust in ('user', 'agent')
          then ': ' || memory.shorten_text(memory.one_line(p.content), 120, v_estimate)
          else ''
        end as mark
      from (
        select f.* from memory.pending_corrections(
          v_settings.tenant_id, 'fact', array(select k.id from facts as k)
        ) as f
        union all
        select r.* from memory.pending_corrections(
          v_settings.tenant_id, 'rule', array(select k.id from rules as k)
        ) as r
      ) as p
    )
    select row(
      l.section, l.memory_type, l.id, l.opening, s.content, l.closing,
      memory.count_room(l.opening || s.content || l.closing, v_estimate) + 1, false
    )::memory.context_line
    from (
      select
        1 as section, 'fact' as memory_type, f.id, f.ordinality as position,
        format('- [%s] [%s]: ', memory.one_line(f.subject), memory.one_line(f.predicate))
        as opening,
        memory.one_line(f.content) as content,
        format(
          ' (confidence: %s%s)',
          to_char(
            case v_settings.context_confidence
              when 'base' then f.confidence
              else f.effective_confidence
            end,
            'FM0.00'
          ),
          coalesce(p.mark, case when f.id = any (c.ids) then ', contradicted' end)
        ) as closing
      from facts as f
      cross join contradicted as c
      left join corrections as p on p.memory_id = f.id
      union all
      select
        case r.maturity when 'anti_pattern' then 3 else 2 end, 'rule', r.id,
        row_number() over (
          order by
            array_position(array['proven', 'established', 'candidate'], r.maturity),
            r.score desc, r.created_at desc, r.id
        ),
        '- ', memory.one_line(r.content),
        format(
          ' (maturity: %s, effectiveness: %s%s)',
          r.maturity, to_char(r.effectiveness_score, 'FM0.00'), p.mark
        )
      from rules as r
      left join corrections as p on p.memory_id = r.id
      union all
      (
        select
          4, 'episode', e.id, row_number() over (order by e.created_at desc, e.id),
          format('- [%s] ', to_char(e.created_at, 'YYYY-MM-DD HH24:MI')),
          memory.one_line(e.content), ''
        from memory.episodes as e
        where coalesce(include_recent_episodes, v_settings.context_recent_episodes)
          and e.tenant_id = v_settings.tenant_id
          and e.butler = context.butler
          and (e.expires_at is null or e.expires_at > as_of)
        order by e.created_at desc, e.id
        limit v_settings.retrieval_limit
      )
      union all
      select
        5, 'entry', y.id, y.ordinality, '- ',
        memory.one_line(y.content),
        format(' (confidence: %s)', to_char(y.confidence, 'FM0.00'))
      from memory.rank_memories(
        v_topic, butler, v_settings.retrieval_limit, '{entry}', null, context.min_relevance,
        embedding, embedding_version_id, as_of => as_of
      ) with ordinality as y
      where v_with_entries
    ) as l
    cross join lateral (
      select memory.shorten_text(
        l.content,
        greatest(
          v_longest - memory.count_room(l.opening || l.closing, v_estimate), 100
        )::integer,
        v_estimate
      ) as content
    ) as s
    order by l.section, l.position
  );

  -- Pass 1: each section fills its share and what the sections before it left over. Pass 2: the
  -- sections fill the remaining room in the same order. Pass 3: lines that did not fit are
  -- shortened to fit what is left. A line that does not fit is skipped, and the next one is tried.
  for v_pass in 1 .. 3 loop
    v_free := case v_pass when 1 then 0 else v_left end;
    v_section := 0;
    for i in 1 .. cardinality(v_lines) loop
      v_line := v_lines[i];
      if v_pass = 1 then
        while v_section < v_line.section loop
          v_section := v_section + 1;
          v_free := v_free + floor((v_room - length(v_title)) * v_shares[v_section])::bigint;
        end loop;
      end if;
      continue when v_line.is_taken;
      v_heading_room := case
        when v_is_open[v_line.section] then 0
        else length(v_headings[v_line.section]) + 2
      end;
      if v_pass = 3 then
        continue when v_free - v_heading_room
          < memory.count_room(v_line.opening || v_line.closing, v_estimate) + 60;
        v_line.content := memory.shorten_text(
          v_line.content,
          (
            v_free - v_heading_room
            - memory.count_room(v_line.opening || v_line.closing, v_estimate) - 1
          )::integer,
          v_estimate
        );
        v_line.room := 1 + memory.count_room(
          v_line.opening || v_line.content || v_line.closing, v_estimate
        );
      end if;
      continue when v_line.room + v_heading_room > least(v_free, v_left);
      v_line.is_taken := true;
      v_lines[i] := v_line;
      v_is_open[v_line.section] := true;
      v_free := v_free - v_line.room - v_heading_room;
      v_left := v_left - v_line.room - v_heading_room;
    end loop;
  end loop;

  if v_settings.context_counts_references
    and current_setting('transaction_read_only') = 'off'
  then
    perform memory.check_write_time('as_of', as_of);
    perform memory.count_references(
      array(select l.memory_type from unnest(v_lines) as l where l.is_taken order by l.id),
      array(select l.id from unnest(v_lines) as l where l.is_taken order by l.id),
      as_of
    );
  end if;

  return v_title || coalesce((
    select string_agg(s.text, '' order by s.section)
    from (
      select
        l.section,
        E'\n' || v_headings[l.section] || E'\n'
        || string_agg(
          l.opening || l.content || l.closing || E'\n', '' order by l.ordinality
        ) as text
      from unnest(v_lines) with ordinality as l
      where l.is_taken
      group by l.section
    ) as s
  ), '');
end;
$$;

comment on function memory.context(
  text, text, integer, boolean, float8, vector, uuid, boolean, timestamptz
) is
'Memory as text for a prompt, at most token_budget tokens (NULL: the setting) as estimated by '
'memory.count_room: facts by score, rules by maturity and score, anti-patterns as warnings, and '
'with include_recent_episodes (NULL: the setting) the newest episodes of the butler; with '
'include_entries (NULL: the setting) entries by score. The butler is the scope; facts, rules and '
'entries below min_relevance are left out as in memory.search. Each memory is '
'one line, so stored text cannot forge a section; a long one is shortened, and one that does not '
'fit is skipped. A fact that contradicts another memory is marked, and with a fact or rule '
'that consolidation would correct stands what it would say. The same data, arguments and '
'as_of give the same text, byte for byte. Only the first 64 KiB of a prompt count. Errors: PM002 '
'budget without room for the heading or invalid argument, PM004 vector from another embedding '
'version.';
grant execute on function memory.context to memory_writer, memory_reader;

commit;
