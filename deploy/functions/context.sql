-- Deploy pymem:functions/context to pg
-- requires: functions/recall

begin;

set local role memory_owner;

-- What an LLM reads must not be able to forge a heading, another list item or a control sequence.
create function memory.one_line(content text)
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
'A text as part of one Markdown line: whitespace, line breaks, control, direction and tag '
'characters become single spaces, and a leading mark-up character is escaped.';

create type memory.context_section as (
  heading text,
  share float8,
  lines text[],
  taken integer
);

comment on type memory.context_section is
'A section while context is put together: its lines, best first, and how many of them are taken.';

create function memory.context(
  trigger_prompt text,
  butler text,
  token_budget integer default null,
  include_recent_episodes boolean default false,
  embedding vector default null,
  embedding_version_id uuid default null,
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
  v_heading text := E'# Memory Context\n';
  v_topic text := memory.truncate_utf8(coalesce(trigger_prompt, ''), 65536);
  v_room bigint := floor(
    coalesce(context.token_budget, v_settings.context_token_budget)
    * v_settings.context_chars_per_token
  )::bigint;
  v_facts memory.ranked_memory[];
  v_rules memory.ranked_memory[];
  v_episodes memory.episodes[] := array[]::memory.episodes[];
  v_sections memory.context_section[];
  v_free bigint;
  v_used bigint;
  v_cost integer;
begin
  perform memory.check_text('butler', butler, 128);
  perform memory.check_time('as_of', as_of);
  if v_room < length(v_heading) then
    raise exception 'a token_budget of % has no room for the heading', token_budget
      using errcode = 'PM002', hint = 'Pass a token_budget of 5 or more.';
  end if;

  v_facts := array(
    select m
    from memory.rank_memories(
      v_topic, butler, v_settings.retrieval_limit, '{fact}', null, embedding,
      embedding_version_id, as_of => as_of
    ) as m
  );
  v_rules := array(
    select m
    from memory.rank_memories(
      v_topic, butler, v_settings.retrieval_limit, '{rule}', null, embedding,
      embedding_version_id, as_of => as_of
    ) as m
    order by
      array_position(array['proven', 'established', 'candidate', 'anti_pattern'], m.maturity),
      m.score desc, m.created_at desc, m.id
  );
  if include_recent_episodes then
    v_episodes := array(
      select e
      from memory.episodes as e
      where e.tenant_id = v_settings.tenant_id
        and e.butler = context.butler
        and (e.expires_at is null or e.expires_at > as_of)
      order by e.created_at desc, e.id
      limit v_settings.retrieval_limit
    );
  end if;

  v_sections := array[
    row(
      '## Key Facts', v_settings.context_facts_share,
      array(
        select format(
          '- [%s] [%s]: %s (confidence: %s)',
          memory.one_line(f.subject), memory.one_line(f.predicate), memory.one_line(f.content),
          to_char(
            case v_settings.context_confidence
              when 'base' then f.confidence
              else f.effective_confidence
            end,
            'FM0.00'
          )
        )
        from unnest(v_facts) with ordinality as f
        order by f.ordinality
      ), 0
    ),
    row(
      '## Active Rules', v_settings.context_rules_share,
      array(
        select memory.context_rule_line(r.content, r.maturity, r.effectiveness_score)
        from unnest(v_rules) with ordinality as r
        where r.maturity <> 'anti_pattern'
        order by r.ordinality
      ), 0
    ),
    row(
      '## Warnings', v_settings.context_warnings_share,
      array(
        select memory.context_rule_line(r.content, r.maturity, r.effectiveness_score)
        from unnest(v_rules) with ordinality as r
        where r.maturity = 'anti_pattern'
        order by r.ordinality
      ), 0
    ),
    row(
      '## Recent Episodes', v_settings.context_episodes_share,
      array(
        select format(
          '- [%s] %s', to_char(e.created_at, 'YYYY-MM-DD HH24:MI'), memory.one_line(e.content)
        )
        from unnest(v_episodes) with ordinality as e
        order by e.ordinality
      ), 0
    )
  ]::memory.context_section[];

  -- First each section takes lines within its share and what the sections before it left over,
  -- then the sections share the rest in the same order. A section stops at the first line that
  -- does not fit.
  v_room := v_room - length(v_heading);
  v_free := 0;
  v_used := 0;
  for v_pass in 1 .. 2 loop
    if v_pass = 2 then
      v_free := v_room - v_used;
    end if;
    for i in 1 .. cardinality(v_sections) loop
      if v_pass = 1 then
        v_free := v_free + floor(v_room * v_sections[i].share)::bigint;
      end if;
      while v_sections[i].taken < cardinality(v_sections[i].lines) loop
        v_cost := length(v_sections[i].lines[v_sections[i].taken + 1]) + 1
          + case when v_sections[i].taken = 0 then length(v_sections[i].heading) + 2 else 0 end;
        exit when v_cost > v_free;
        v_free := v_free - v_cost;
        v_used := v_used + v_cost;
        v_sections[i].taken := v_sections[i].taken + 1;
      end loop;
    end loop;
  end loop;

  if v_settings.context_counts_references
    and current_setting('transaction_read_only') = 'off'
  then
    perform memory.check_write_time('as_of', as_of);
    perform memory.count_references(
      array(select e.id from unnest(v_episodes[:v_sections[4].taken]) as e),
      array(select f.id from unnest(v_facts[:v_sections[1].taken]) as f),
      array(
        select r.id from unnest(v_rules) with ordinality as r
        where r.maturity <> 'anti_pattern'
        order by r.ordinality
        limit v_sections[2].taken
      ) || array(
        select r.id from unnest(v_rules) with ordinality as r
        where r.maturity = 'anti_pattern'
        order by r.ordinality
        limit v_sections[3].taken
      ),
      as_of
    );
  end if;

  return v_heading || coalesce((
    select string_agg(
      E'\n' || s.heading || E'\n' || array_to_string(s.lines[:s.taken], E'\n') || E'\n', ''
      order by s.ordinality
    )
    from unnest(v_sections) with ordinality as s
    where s.taken > 0
  ), '');
end;
$$;

comment on function memory.context(text, text, integer, boolean, vector, uuid, timestamptz) is
'Memory as text for a prompt, at most token_budget tokens (NULL: the setting) of '
'context_chars_per_token characters: facts by score, rules by maturity and score, anti-patterns '
'as warnings, on request the newest episodes of the butler. The butler is the scope. Each memory '
'is one line, so stored text cannot forge a section. The same data, arguments and as_of give the '
'same text, byte for byte. Of a prompt beyond 64 KiB the first 64 KiB count. Errors: PM002 '
'budget without room for the heading or invalid argument, PM004 vector of another embedding '
'version.';

create function memory.context_rule_line(
  content text,
  maturity text,
  effectiveness_score float8
)
  returns text
  language sql
  immutable
  parallel safe
  return format(
    '- %s (maturity: %s, effectiveness: %s)',
    memory.one_line(content), maturity, to_char(effectiveness_score, 'FM0.00')
  );

comment on function memory.context_rule_line(text, text, float8) is
'A rule as a line of memory.context.';

commit;
