-- Deploy pymem:functions/extras/conversations/store_messages to pg

begin;

set local role memory_owner;

create or replace function memory.message_part_text(part jsonb)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when jsonb_typeof(part) = 'string' then part #>> '{}'
    when part ->> 'type' in ('text', 'input_text', 'output_text') then part ->> 'text'
    when part ->> 'type' = 'refusal' then part ->> 'refusal'
    when part ->> 'type' in ('tool_use', 'server_tool_use', 'function')
      then '[tool call' || coalesce(
        ': ' || left(coalesce(part ->> 'name', part #>> '{function,name}'), 100), ''
      ) || ']'
    else '[' || left(part ->> 'type', 100) || ']'
  end;

comment on function memory.message_part_text(jsonb) is
'What a part of a message says: its text, the name of a tool that is called, or else its type in '
'brackets, such as [image_url].';

create or replace function memory.message_text(message jsonb)
  returns text
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with parts as (
    select
      case jsonb_typeof(m.content)
        when 'array' then m.content
        when 'string' then jsonb_build_array(m.content)
        else '[]'
      end
      || case when jsonb_typeof(m.refusal) = 'string' then jsonb_build_array(m.refusal) else '[]' end
      || case when jsonb_typeof(m.tool_calls) = 'array' then m.tool_calls else '[]' end
      || case
        when jsonb_typeof(m.function_call) = 'object'
          then jsonb_build_array(m.function_call || '{"type": "function"}')
        else '[]'
      end as parts
    from (
      values (
        message -> 'content', message -> 'refusal', message -> 'tool_calls',
        message -> 'function_call'
      )
    ) as m (content, refusal, tool_calls, function_call)
  )
  select
    case
      when message ->> 'role' in ('user', 'assistant') and message ->> 'name' ~ '\S'
        then memory.collapse_whitespace(message ->> 'name') || ': '
      else ''
    end
    || string_agg(memory.message_part_text(t.part), E'\n' order by p.ordinal, t.ordinal)
  from parts as s
  cross join jsonb_array_elements(s.parts) with ordinality as p (part, ordinal)
  -- The answer of a tool has parts of its own.
  cross join lateral jsonb_array_elements(
    case
      when p.part ->> 'type' = 'tool_result' and jsonb_typeof(p.part -> 'content') = 'array'
        then p.part -> 'content'
      when p.part ->> 'type' = 'tool_result' and jsonb_typeof(p.part -> 'content') = 'string'
        then jsonb_build_array(p.part -> 'content')
      else jsonb_build_array(p.part)
    end
  ) with ordinality as t (part, ordinal)
  where not memory.is_blank(memory.message_part_text(t.part));
$$;

comment on function memory.message_text(jsonb) is
'What a chat message says: its text, or those of its parts, a line each; calls of tools and other '
'parts are noted by name or type. The name of a speaker stands before it. NULL for nothing.';

create or replace function memory.message_time(value jsonb)
  returns timestamptz
  language sql
  immutable
  parallel restricted -- as memory.read_time
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select case jsonb_typeof(value)
    when 'string' then memory.read_time(value #>> '{}')
    when 'number' then
      case when value::numeric between 0 and 1e11 then to_timestamp(value::float8) end
  end;
$$;

comment on function memory.message_time(jsonb) is
'The time of a message: a text in the form of ISO 8601, in UTC unless it has an offset, or seconds '
'since 1970. NULL for anything else.';

create or replace function memory.check_messages(messages jsonb)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_bad record;
begin
  if jsonb_typeof(messages) is distinct from 'array' then
    raise exception 'messages are not a JSON array'
      using errcode = 'PM002',
        hint = 'Pass an array such as [{"role": "user", "content": "I moved to Porto."}].';
  end if;

  select m.position, p.problem, p.hint into v_bad
  from jsonb_array_elements(messages) with ordinality as m (message, position)
  cross join lateral (
    values
      (
        1, jsonb_typeof(m.message) <> 'object', 'is not a JSON object',
        'Pass each message as an object such as {"role": "user", "content": "I moved to Porto."}.'
      ),
      (
        2,
        jsonb_typeof(m.message -> 'role') is distinct from 'string'
        or m.message ->> 'role'
          not in ('user', 'assistant', 'system', 'developer', 'tool', 'function'),
        'has the role ' || coalesce(left((m.message -> 'role')::text, 100), 'NULL'),
        'Valid: user, assistant, system, developer, tool.'
      ),
      (
        3,
        jsonb_typeof(m.message -> 'content') not in ('string', 'array', 'null')
        or jsonb_typeof(m.message -> 'content') = 'array' and (
          m.message @? '$.content[*] ?
            (@.type() != "string" && !(@.type() == "object" && @.type.type() == "string"))'
          or m.message @? '$.content[*] ?
            (@.type like_regex "^(in|out)put_text$|^text$" && !(@.text.type() == "string"))'
          or m.message @? '$.content[*] ? (@.type == "tool_result").content[*] ?
            (@.type() != "string" && @.type() != "null" && !(@.type.type() == "string"))'
        ),
        'has content that is neither a text nor parts of a message',
        'Pass a text, or an array of parts such as {"type": "text", "text": "I moved to Porto."}.'
      ),
      (
        4,
        jsonb_typeof(m.message -> 'name') not in ('string', 'null')
        or octet_length(m.message ->> 'name') > 128,
        'has the name ' || left((m.message -> 'name')::text, 100),
        'Pass the name of the speaker as a text of at most 128 bytes, or none.'
      ),
      (
        5,
        jsonb_typeof(m.message -> 'id') not in ('string', 'number', 'null')
        or octet_length(m.message ->> 'id') > 200,
        'has the id ' || left((m.message -> 'id')::text, 100),
        'Pass an id as a text of at most 200 bytes, or none.'
      ),
      (
        6,
        exists (
          select
          from jsonb_each(
            case jsonb_typeof(m.message) when 'object' then m.message end
          ) as t (key, value)
          where t.key in ('created_at', 'timestamp') and jsonb_typeof(t.value) <> 'null'
            and memory.message_time(t.value) is null
        ),
        'has the time '
        || left(coalesce(
          nullif(m.message -> 'created_at', 'null'), m.message -> 'timestamp'
        )::text, 100),
        'Pass times in ISO 8601, such as 2026-03-01T12:00:00Z, or as seconds since 1970.'
      )
  ) as p (ordinal, is_bad, problem, hint)
  where p.is_bad and (p.ordinal = 1 or jsonb_typeof(m.message) = 'object')
  order by m.position, p.ordinal
  limit 1;
  if found then
    raise exception 'message % %', v_bad.position, v_bad.problem
      using errcode = 'PM002', hint = v_bad.hint;
  end if;
end;
$$;

comment on function memory.check_messages(jsonb) is
'Rejects what is not an array of chat messages; the message of the error gives the position, from '
'1. Errors: PM002.';

create or replace function memory.read_messages(
  messages jsonb,
  as_of timestamptz
)
  returns setof memory.message_turn
  language sql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with turns as (
    select
      m.position,
      m.message,
      m.message ->> 'role' as role,
      coalesce(memory.message_text(m.message), '') as content,
      nullif(m.message -> 'id', 'null') as id,
      memory.message_time(
        coalesce(nullif(m.message -> 'created_at', 'null'), m.message -> 'timestamp')
      ) as given_at
    from jsonb_array_elements(messages) with ordinality as m (message, position)
  ),
  dated as (
    select
      t.*,
      count(t.given_at) over (order by t.position) as date_number,
      min(t.position) filter (where t.given_at is not null) over () as first_dated,
      count(*) over (
        partition by t.role, t.content, t.id is null and t.given_at is null order by t.position
      ) as occurrence
    from turns as t
  )
  select
    d.position,
    d.role,
    d.content,
    case
      when d.role in ('tool', 'function')
        or d.message @? '$.content[*] ? (@.type == "tool_result")'
      then 'tool'
      when d.role = 'user' then 'user'
      else 'agent'
    end,
    case jsonb_typeof(d.message -> 'metadata')
      when 'object' then d.message -> 'metadata' else '{}'
    end
    || jsonb_strip_nulls(
      jsonb_build_object(
        'role', d.role, 'name', d.message -> 'name', 'message_id', d.message -> 'id'
      )
    ),
    -- A turn without a time follows the one before it, by microseconds.
    case d.date_number
      when 0 then
        coalesce(
          first_value(d.given_at) over (order by d.given_at is null, d.position)
          - make_interval(secs => (d.first_dated - d.position) / 1e6::float8),
          as_of + make_interval(secs => (d.position - 1) / 1e6::float8)
        )
      else
        first_value(d.given_at) over in_order
        + make_interval(
          secs => (d.position - first_value(d.position) over in_order) / 1e6::float8
        )
    end,
    case
      when d.id is not null then jsonb_build_array(d.role, d.content, 'id', d.id)
      when d.given_at is not null
      then jsonb_build_array(d.role, d.content, 'at', extract(epoch from d.given_at))
      else jsonb_build_array(d.role, d.content, 'number', d.occurrence)
    end
  from dated as d
  window in_order as (partition by d.date_number order by d.position)
  order by d.position;
$$;

comment on function memory.read_messages(jsonb, timestamptz) is
'Chat messages as turns, numbered from 1. A turn is the same by its role and text, with the id, '
'else the time, else the number among equal turns.';

create or replace function memory.store_messages(
  messages jsonb,
  butler text,
  session_id uuid default null,
  importance float8 default 5.0,
  extraction text default 'none',
  as_of timestamptz default now()
)
  returns setof memory.stored_message
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_butler text := memory.collapse_whitespace(store_messages.butler);
  v_session_id uuid := store_messages.session_id;
  v_turns memory.message_turn[];
  v_episodes jsonb;
  v_ids uuid[];
  v_new boolean[];
begin
  perform
    memory.check_scope('butler', v_butler),
    memory.check_number('importance', store_messages.importance, 0, 10),
    memory.check_word('extraction', store_messages.extraction, '{none,summary}'),
    memory.check_write_time('as_of', as_of),
    memory.check_messages(messages);
  perform
    memory.check_metadata(
      coalesce(nullif(m.message -> 'metadata', 'null'), '{}'),
      whose => ' of message ' || m.ordinal
    )
  from jsonb_array_elements(messages) with ordinality as m (message, ordinal);
  v_turns := array(
    select m from memory.read_messages(messages, as_of) as m order by m.ordinal
  );
  perform
    memory.check_text('content of message ' || m.ordinal, m.content, 1048576),
    memory.check_metadata(m.metadata, whose => ' of message ' || m.ordinal),
    memory.check_write_time('created_at of message ' || m.ordinal, m.created_at)
  from unnest(v_turns) as m;

  -- Without a session, the same conversation handed over again has the same one.
  if v_session_id is null then
    select
      md5(jsonb_build_array(v_butler, jsonb_agg(m.identity order by m.ordinal))::text)::uuid
    into v_session_id
    from unnest(v_turns) as m;
  end if;
  select
    jsonb_agg(
      jsonb_build_object(
        'content', m.content, 'butler', v_butler, 'session_id', v_session_id,
        'importance', store_messages.importance, 'metadata', m.metadata,
        'created_at', m.created_at, 'source_class', m.source_class,
        'idempotency_key', 'message:' || encode(
          sha256(convert_to(
            jsonb_build_array(v_butler, v_session_id, m.identity)::text, 'UTF8'
          )), 'hex'
        )
      )
      order by m.ordinal
    )
  into v_episodes
  from unnest(v_turns) as m;
  if v_episodes is null then
    return;
  end if;

  select array_agg(s.id order by s.ordinal), array_agg(s.created order by s.ordinal)
  into v_ids, v_new
  from memory.store_episodes(v_episodes, as_of) as s;

  -- What a host tells its agent is no news. The outcome of a session is what the agent said last.
  perform memory.close_episodes(
    v_tenant_id,
    array(
      select v_ids[m.ordinal]
      from unnest(v_turns) as m
      where v_new[m.ordinal]
        and (
          m.role in ('system', 'developer')
          or store_messages.extraction = 'summary' and m.source_class <> 'user'
          and m.ordinal is distinct from (
            select max(l.ordinal)
            from unnest(v_turns) as l
            where l.role = 'assistant'
          )
        )
      order by m.ordinal
    ),
    as_of
  );

  return query
  select i.ordinal, v_session_id, i.id, v_new[i.ordinal]
  from unnest(v_ids) with ordinality as i (id, ordinal)
  order by i.ordinal;
end;
$$;

comment on function memory.store_messages(jsonb, text, uuid, float8, text, timestamptz) is
'Stores the turns of a conversation as episodes of one session, all or none: an array of chat '
'messages with role (user, assistant, system, developer, tool, function), content (a text, or an '
'array of parts) and, optionally, name, id, created_at or timestamp (ISO 8601, or seconds since '
'1970) and metadata. Returns for each, in order, its session, its episode and whether it is new: '
'handed over again, or grown, a conversation stores only new turns. A turn is known by its text '
'and its id, else its time, else its number among equal turns of the session; without session_id, '
'only the whole conversation is known. The role says whose statement it is: that of the user, of '
'the agent or of a tool. Turns without a time follow one another by microseconds. They wait for '
'consolidation, except those of the system; with extraction = summary, of what the user did not '
'say only the last turn of the assistant waits. Errors: PM002 invalid argument (the message says '
'which).';
grant execute on function memory.store_messages to memory_writer;

commit;
