-- Included (\ir) by every test after begin: helpers that vanish with the rollback.

\set ON_ERROR_STOP on
set local client_min_messages = warning;
set local search_path = memory_test, tap, public;

create schema memory_test;
grant usage on schema memory_test to public;

-- The vector along one of the 384 axes: vectors of two axes have cosine similarity 0.
create function memory_test.axis(number integer)
  returns vector
  language sql
  immutable
  return (
    select array_agg((i = number)::integer order by i)::vector
    from generate_series(1, 384) as i
  );

-- A unit vector whose cosine similarity to axis 1 is the argument.
create function memory_test.near(similarity float8)
  returns vector
  language sql
  immutable
  return (
    select array_agg(
      case i when 1 then similarity when 2 then sqrt(1 - similarity * similarity) else 0 end order by i
    )::vector
    from generate_series(1, 384) as i
  );

-- From here to the end of the transaction the superuser who runs the tests acts for a tenant.
create function memory_test.as_tenant(tenant_id text)
  returns void
  language sql
  begin atomic
    select set_config('memory.tenant_id', tenant_id, true);
  end;

-- A login of one tenant, for tests that must not run as superuser: set session authorization.
create function memory_test.a_login(
  login name,
  tenant_id text,
  roles text
)
  returns void
  language plpgsql
as $$
begin
  execute format('create role %I login', login);
  execute format('grant %s to %I', roles, login);
  if tenant_id is not null then
    insert into memory.tenant_logins (login, tenant_id) values (a_login.login, a_login.tenant_id);
  end if;
end;
$$;

-- pgTAP keeps its results in temporary tables of whoever called plan().
create function memory_test.share_results()
  returns void
  language plpgsql
as $$
begin
  grant all on __tcache__, __tcache___id_seq, __tresults___numb_seq to public;
end;
$$;

-- The event types of a memory, oldest first.
create function memory_test.events_of(memory_id uuid)
  returns text[]
  language sql
  stable
  return (
    select coalesce(array_agg(e.event_type order by e.seq), '{}')
    from memory.memory_events as e
    where e.memory_id = events_of.memory_id
  );

select memory_test.as_tenant('a');

-- An answer, with the whole batch as evidence of each element that names none.
create function memory_test.cited(run_id uuid, output jsonb)
  returns jsonb
  language sql
  stable
as $$
  select coalesce(jsonb_object_agg(l.key, e.items), '{}')
  from jsonb_each(output) as l
  cross join lateral (
    select jsonb_agg(
      case jsonb_typeof(i.item)
        when 'object'
        then jsonb_build_object('evidence', (
          select r.episode_ids from memory.consolidation_runs as r where r.id = run_id
        )) || i.item
        else i.item
      end
      order by i.place
    ) as items
    from jsonb_array_elements(l.value) with ordinality as i (item, place)
  ) as e;
$$;

-- Undoes a run, and fails if the preview promised something else.
create function memory_test.undo_run(run_id uuid, at timestamptz)
  returns table (memory_type text, memory_id uuid, content text, outcome text)
  language plpgsql
as $$
#variable_conflict use_column
declare
  v_previewed jsonb := (select jsonb_agg(to_jsonb(p) order by p.memory_type, p.memory_id, p.outcome) from memory.undo_preview(run_id) as p);
  v_done jsonb;
begin
  create temp table undone on commit drop as select u.* from memory.undo_consolidation(run_id, at) as u;
  v_done := (select jsonb_agg(to_jsonb(u) order by u.memory_type, u.memory_id, u.outcome) from undone as u);
  if v_done is distinct from v_previewed then
    raise exception 'previewed %, done %', v_previewed, v_done;
  end if;
  return query select u.* from undone as u;
  drop table undone;
end;
$$;

-- What a recall finds first, of memories of 2026-11-01.
create function memory_test.first_answer(query text)
  returns text
  language sql
  stable
  return (
    select m.content from memory.rank_memories(query, max_results => 1, as_of => '2026-11-02Z') as m
  );
