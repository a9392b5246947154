-- Deploy pymem:functions/extras/operations/tenant_moves to pg

begin;

set local role memory_owner;

-- Not granted to any role: who moves a tenant is a superuser on both servers. That login copies and
-- deletes rows past the triggers (session_replication_role), and past row security, so each
-- statement names the tenant. All run with the rights of the invoker.

create or replace function memory.list_tables()
  returns table (
    table_name text,
    kind text,
    key text[],
    columns text[],
    sequence_name text,
    sequence_column text
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    c.relname::text,
    case
      -- Sessions and codes are those of browsers that this server has let in.
      when c.relname in ('sessions', 'login_codes') then 'local'
      when exists (
        select from pg_policy as p
        where p.polrelid = c.oid and p.polname = 'tenant' and not p.polpermissive
      )
      then 'tenant'
      when exists (
        select from pg_policy as p where p.polrelid = c.oid and p.polname = 'reference_data'
      )
      then 'reference'
      else 'server'
    end,
    array(
      select a.attname::text
      from pg_index as i
      cross join lateral unnest(i.indkey::smallint[]) with ordinality as k (number, place)
      join pg_attribute as a on a.attrelid = c.oid and a.attnum = k.number
      where i.indrelid = c.oid and i.indisprimary and k.place <= i.indnkeyatts
      order by k.place
    ),
    array(
      select a.attname::text
      from pg_attribute as a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      order by a.attnum
    ),
    pg_get_serial_sequence(format('memory.%I', c.relname), s.attname),
    s.attname::text
  from pg_class as c
  left join pg_attribute as s
    on s.attrelid = c.oid and s.attidentity <> '' and not s.attisdropped
  where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
  order by c.relname;
$$;

comment on function memory.list_tables() is
'All tables of the schema, from the catalog, by name. kind: tenant (each row belongs to a tenant '
'and goes where it goes: memory.isolate_table), local (each row belongs to a tenant, but is not '
'copied, and goes when the tenant leaves), reference (the same for all tenants, part of the '
'release), or server (about this server: the bindings of its logins, its definitions, the moves '
'of tenants). key: the columns of the primary key. columns: those that are not computed, in '
'order. sequence_column: the column that counts up, of all tenants, and sequence_name its '
'sequence.';

-- The state of a move

create or replace function memory.begin_move(
  tenant_id text,
  move_id uuid,
  side text,
  peer text
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_row memory.tenant_moves;
  v_table text;
begin
  perform memory.check_text('tenant_id', begin_move.tenant_id, 128);
  perform memory.check_text('peer', begin_move.peer, 512);
  perform memory.check_word('side', begin_move.side, '{source,target}');
  select m.* into v_row
  from memory.tenant_moves as m
  where m.tenant_id = begin_move.tenant_id
  for update;
  if v_row.move_id = begin_move.move_id and v_row.side = begin_move.side then
    return;
  elsif v_row.step = 'deleted' and begin_move.side = 'target' then
    -- It comes back.
    delete from memory.tenant_moves as m where m.tenant_id = begin_move.tenant_id;
  elsif v_row.tenant_id is not null then
    raise exception 'tenant % is already in a move here: % %',
      quote_literal(begin_move.tenant_id), v_row.side, v_row.step
      using errcode = 'PM004',
        hint = 'Finish or undo that move first: pymem tenant list shows it.';
  end if;

  v_table := memory.find_rows(begin_move.tenant_id);
  if begin_move.side = 'target' and v_table is not null then
    raise exception 'tenant % has rows here, in %', quote_literal(begin_move.tenant_id), v_table
      using errcode = 'PM004',
        hint = format(
          'A tenant is on one server only. If nobody needs these rows, delete them first: '
          'pymem tenant delete %L --yes.',
          begin_move.tenant_id
        );
  elsif begin_move.side = 'source' and v_table is null then
    raise exception 'tenant % has no rows here', quote_literal(begin_move.tenant_id)
      using errcode = 'PM001', hint = 'See pymem tenant list.';
  end if;
  insert into memory.tenant_moves (tenant_id, move_id, side, step, peer)
  values (
    begin_move.tenant_id, begin_move.move_id, begin_move.side, 'begun', begin_move.peer
  );
end;
$$;

comment on function memory.begin_move(text, uuid, text, text) is
'Records that a tenant leaves this server (side source) or comes to it (target, where nobody can '
'use it until it has arrived). peer: the other server. Again with the same move_id, does nothing. '
'Errors: PM001 nothing to move, PM002, PM004 another move, or rows at the target.';

create or replace function memory.find_rows(tenant_id text)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_table text;
  v_found boolean;
begin
  for v_table in
    select t.table_name
    from memory.list_tables() as t
    where t.kind in ('tenant', 'local')
    order by 1
  loop
    execute format('select exists (select from memory.%I where tenant_id = $1)', v_table)
    into v_found
    using find_rows.tenant_id;
    if v_found then
      return v_table;
    end if;
  end loop;
  return null;
end;
$$;

comment on function memory.find_rows(text) is
'The first table, by name, with rows of a tenant; NULL: none has.';

create or replace function memory.set_move_step(
  tenant_id text,
  move_id uuid,
  step text,
  since timestamptz default null
)
  returns timestamptz
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_row memory.tenant_moves;
begin
  select m.* into v_row
  from memory.tenant_moves as m
  where m.tenant_id = set_move_step.tenant_id and m.move_id = set_move_step.move_id
  for update;
  if not found then
    raise exception 'tenant % is not in the move %',
      quote_nullable(set_move_step.tenant_id), set_move_step.move_id
      using errcode = 'PM001', hint = 'See pymem tenant list.';
  elsif v_row.step = set_move_step.step then
    return v_row.step_at;
  elsif v_row.step_at <> since then
    raise exception 'tenant % is % since %, not since %',
      quote_literal(v_row.tenant_id), v_row.step, v_row.step_at, since
      using errcode = 'PM004', hint = 'Another process moves it; see pymem tenant list.';
  elsif not exists (
    select from (values
      ('source', 'begun', 'frozen'), ('source', 'frozen', 'begun'), ('source', 'frozen', 'left'),
      ('source', 'left', 'begun'), ('source', 'left', 'kept'), ('source', 'left', 'deleted'),
      ('source', 'kept', 'deleted'),
      ('target', 'begun', 'copied'), ('target', 'copied', 'arrived'),
      ('target', 'begun', 'deleting'), ('target', 'copied', 'deleting')
    ) as e (side, from_step, to_step)
    where (e.side, e.from_step, e.to_step) = (v_row.side, v_row.step, set_move_step.step)
  ) then
    raise exception 'the % of a move cannot go from % to %',
      v_row.side, v_row.step, quote_nullable(set_move_step.step)
      using errcode = 'PM003', hint = 'The table of moves says in its comment which step follows which.';
  elsif set_move_step.step = 'deleted' and memory.find_rows(v_row.tenant_id) is not null then
    raise exception 'tenant % still has rows here', quote_literal(v_row.tenant_id)
      using errcode = 'PM003', hint = 'Delete them first: pymem tenant delete.';
  end if;
  update memory.tenant_moves as m
  set step = set_move_step.step, step_at = clock_timestamp()
  where m.tenant_id = v_row.tenant_id
  returning m.step_at into v_row.step_at;
  return v_row.step_at;
end;
$$;

comment on function memory.set_move_step(text, uuid, text, timestamptz) is
'Takes one side of a move to another step (memory.tenant_moves), and returns since when it is '
'there; to that where it is, does nothing. since: only if it is at the present step since then. '
'From left the source may go back to begun, which is right only while the target cannot arrive. '
'Errors: PM001 no such move, PM003 not a step from there, PM004 another step since then.';

create or replace function memory.get_move(tenant_id text)
  returns table (
    move_id uuid,
    side text,
    step text,
    peer text
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select m.move_id, m.side, m.step, m.peer
  from memory.tenant_moves as m
  where m.tenant_id = get_move.tenant_id;
$$;

comment on function memory.get_move(text) is
'The move that a tenant is in here, as in memory.tenant_moves; no row: none.';

create or replace function memory.end_move(
  tenant_id text,
  move_id uuid
)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_row memory.tenant_moves;
begin
  select m.* into v_row
  from memory.tenant_moves as m
  where m.tenant_id = end_move.tenant_id and m.move_id = end_move.move_id
  for update;
  if not found then
    return false;
  elsif v_row.access = 'full' then
    null;
  elsif v_row.step not in ('begun', 'deleting') or memory.find_rows(v_row.tenant_id) is not null
  then
    raise exception 'the % of the move is %', v_row.side, v_row.step
      using errcode = 'PM003',
        hint = 'A move ends when the tenant has arrived, or is undone when its rows at the target '
          'are deleted.';
  end if;
  delete from memory.tenant_moves as m where m.tenant_id = v_row.tenant_id;
  return true;
end;
$$;

comment on function memory.end_move(text, uuid) is
'Forgets a move on this server: at the target once the tenant has arrived, or no row of it is '
'left; at the source, one that was undone. Returns whether it was there. Errors: PM003.';

create or replace function memory.begin_deletion(
  tenant_id text,
  move_id uuid
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  perform memory.check_text('tenant_id', begin_deletion.tenant_id, 128);
  insert into memory.tenant_moves as m (tenant_id, move_id, side, step)
  values (begin_deletion.tenant_id, begin_deletion.move_id, 'source', 'deleting')
  on conflict (tenant_id) do update set
    move_id = excluded.move_id, side = excluded.side, step = excluded.step, peer = null,
    step_at = clock_timestamp()
  where m.step = 'deleting';
  if not found then
    raise exception 'tenant % is in a move', quote_literal(begin_deletion.tenant_id)
      using errcode = 'PM004',
        hint = 'Finish or undo that move first: pymem tenant list shows it.';
  end if;
end;
$$;

comment on function memory.begin_deletion(text, uuid) is
'Closes a tenant here that is given up, so that all its rows can be deleted. Errors: PM002, PM004 '
'it is in a move.';

-- The freeze

create or replace function memory.list_writers()
  returns table (
    transaction text,
    process integer,
    login name,
    application text,
    begun_at timestamp with time zone
  )
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select l.virtualtransaction, a.pid, a.usename, a.application_name, a.xact_start
  from pg_locks as l
  join pg_stat_activity as a on a.pid = l.pid
  where l.locktype = 'virtualxid' and l.granted
    and a.datname = current_database()
    and a.pid <> pg_backend_pid()
    and a.backend_type <> all ('{walsender,autovacuum worker}'::text [])
    and (a.backend_xid is not null or a.backend_xmin is not null)
  union all
  select 'prepared ' || x.gid, null, x.owner, null, x.prepared
  from pg_prepared_xacts as x
  where x.database = current_database()
  order by 5, 2;
$$;

comment on function memory.list_writers() is
'Transactions of this database that have a snapshot or have written, prepared ones included, the '
'oldest first. When all that are listed once a tenant is frozen have ended, none writes for it '
'any more: what begins later, or takes a later snapshot, sees that it is frozen. Those that only '
'read count, too, because nobody can tell.';

create or replace function memory.mark_freeze(tenant_id text)
  returns uuid
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  insert into memory.memory_events (tenant_id, event_type)
  values (mark_freeze.tenant_id, 'tenant_frozen')
  returning id;
$$;

comment on function memory.mark_freeze(text) is
'Writes the last event of a tenant before it moves, tenant_frozen, and returns its id. Changes '
'arrive in the order of their commits: with this event, everything before it is there.';

create or replace function memory.has_event(
  tenant_id text,
  event_id uuid
)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select exists (
    select from memory.memory_events as e
    where e.tenant_id = has_event.tenant_id and e.id = has_event.event_id
  );
$$;

comment on function memory.has_event(text, uuid) is 'Whether an event is here.';

create or replace function memory.last_numbers(tenant_id text default null)
  returns jsonb
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_table record;
  v_number bigint;
  v_numbers jsonb := '{}'::jsonb;
begin
  for v_table in
    select t.table_name, t.sequence_name, t.sequence_column
    from memory.list_tables() as t
    where t.kind = 'tenant' and t.sequence_name is not null
    order by t.table_name
  loop
    execute case
      when last_numbers.tenant_id is null
      then format('select last_value from %s', v_table.sequence_name)
      else format(
        'select max(%I) from memory.%I where tenant_id = %L',
        v_table.sequence_column, v_table.table_name, last_numbers.tenant_id
      )
    end
    into v_number;
    v_numbers := v_numbers || jsonb_build_object(v_table.sequence_name, v_number);
  end loop;
  return v_numbers;
end;
$$;

comment on function memory.last_numbers(text) is
'By sequence, the number that it has drawn last, or the largest one in the rows of a tenant.';

create or replace function memory.advance_sequences(beyond jsonb)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_room bigint := 1000000::bigint;
  v_sequence record;
  v_last bigint;
begin
  for v_sequence in
    select t.sequence_name, (advance_sequences.beyond ->> t.sequence_name)::bigint as number
    from memory.list_tables() as t
    where t.kind = 'tenant' and t.sequence_name is not null
    order by t.sequence_name
  loop
    execute format('select last_value from %s', v_sequence.sequence_name) into v_last;
    -- Others draw numbers meanwhile, but not as many as there is room: it never goes back.
    if v_sequence.number >= v_last then
      perform setval(v_sequence.sequence_name, v_sequence.number + v_room);
    end if;
  end loop;
end;
$$;

comment on function memory.advance_sequences(jsonb) is
'Takes the sequences beyond the numbers that another server has drawn (memory.last_numbers), with '
'room for a million more: what is written next for a tenant from there comes after its rows.';

-- Arrival

create or replace function memory.arrive(
  tenant_id text,
  move_id uuid,
  logins name[]
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  perform memory.set_move_step(arrive.tenant_id, arrive.move_id, 'arrived');
  perform memory.copy_bindings(arrive.tenant_id, arrive.logins);
  insert into memory.memory_events (tenant_id, event_type)
  values (arrive.tenant_id, 'tenant_arrived');
end;
$$;

comment on function memory.arrive(text, uuid, name[]) is
'Opens a tenant at the target: takes the sequences on, binds its logins, writes the event '
'tenant_arrived. In a session whose triggers do not fire (session_replication_role). Errors: '
'PM001, PM003, PM004 a login is bound to another tenant here.';

create or replace function memory.copy_bindings(
  tenant_id text,
  logins name[]
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_login name := (
    select l.login
    from memory.tenant_logins as l
    where l.login = any (copy_bindings.logins) and l.tenant_id <> copy_bindings.tenant_id
    order by l.login
    limit 1
  );
begin
  if v_login is not null then
    raise exception 'the login % is bound to another tenant here', quote_ident(v_login)
      using errcode = 'PM004', hint = 'Unbind it at one of the servers, as its deployer.';
  end if;
  delete from memory.tenant_logins as l
  where l.tenant_id = copy_bindings.tenant_id and l.login <> all (copy_bindings.logins);
  insert into memory.tenant_logins as l (login, tenant_id)
  select n.login, copy_bindings.tenant_id
  from unnest(copy_bindings.logins) as n (login)
  on conflict (login) do nothing;
end;
$$;

comment on function memory.copy_bindings(text, name[]) is
'Binds exactly these logins to a tenant, whose events of that have come from elsewhere. In a '
'session whose triggers do not fire. Errors: PM004 one is bound to another tenant here.';

create or replace function memory.list_bindings(tenant_id text)
  returns table (
    login name,
    password text,
    roles name[]
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    l.login, a.rolpassword,
    array(
      select substr(r.rolname, length(memory.role_prefix()) + 1)::name
      from pg_auth_members as m
      join pg_roles as r on r.oid = m.roleid
      join unnest('{writer,worker,reader,admin,gateway}'::text []) as k (kind)
        on r.rolname = memory.role_prefix() || 'memory_' || k.kind
      where m.member = a.oid
      order by k.kind
    )
  from memory.tenant_logins as l
  left join pg_authid as a on a.rolname = l.login
  where l.tenant_id = list_bindings.tenant_id
  order by l.login;
$$;

comment on function memory.list_bindings(text) is
'The logins that are bound to a tenant, the verifiers of their passwords and their roles of the '
'memory, without the prefix that these have here (memory.grant_roles). For a superuser: only they '
'may read verifiers.';

-- Copies

create or replace function memory.digest_expression(
  table_name text,
  columns text[]
)
  returns text
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  -- Types of extensions have other numbers on each server.
  select format(
    'hash_record_extended(row(record_send(row(%s))), 0)',
    string_agg(
      case
        when y.oid < 16384 then format('t.%I', c.name)
        else format('%s(t.%I)', y.typsend, c.name)
      end,
      ', ' order by c.place
    )
  )
  from unnest(columns) with ordinality as c (name, place)
  join pg_attribute as a
    on a.attrelid = format('memory.%I', table_name)::regclass and a.attname = c.name
  join pg_type as y on y.oid = a.atttypid;
$$;

comment on function memory.digest_expression(text, text[]) is
'The SQL of a 64-bit hash of the columns of a row t, in the form in which PostgreSQL sends them: '
'the same on every server.';

create or replace function memory.remember_digests(
  tenant_id text,
  columns jsonb
)
  returns bigint
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_table text;
  v_expression text;
  -- Transactions before this one are over: later, their rows can only go.
  v_horizon xid := pg_snapshot_xmin(pg_current_snapshot())::xid;
  v_rows bigint;
  v_total bigint := 0::bigint;
begin
  drop table if exists pg_temp.remembered_digests;
  create temporary table remembered_digests (
    table_name text primary key, expression text, horizon xid, old_rows bigint, old_digest numeric
  );
  for v_table, v_expression in
    select
      c.key,
      memory.digest_expression(c.key, array(select jsonb_array_elements_text(c.value)))
    from jsonb_each(remember_digests.columns) as c
    order by c.key
  loop
    execute format('drop table if exists pg_temp.%I', 'digests_of_' || v_table);
    execute format(
      'create temporary table %I as select
         t.ctid as place, t.xmin as version, %s as digest, age(t.xmin) > age(%L::xid) as is_old
       from memory.%I as t where t.tenant_id = %L',
      'digests_of_' || v_table, v_expression, v_horizon, v_table, remember_digests.tenant_id
    );
    get diagnostics v_rows = row_count;
    v_total := v_total + v_rows;
    execute format(
      'insert into remembered_digests
       select %L, %L, %L, count(*), coalesce(sum(r.digest), 0)
       from pg_temp.%I as r where r.is_old',
      v_table, v_expression, v_horizon, 'digests_of_' || v_table
    );
    execute format('analyze pg_temp.%I', 'digests_of_' || v_table);
  end loop;
  return v_total;
end;
$$;

comment on function memory.remember_digests(text, jsonb) is
'Computes the digest of each row of a tenant and keeps it in temporary tables of the session, so '
'that memory.digest_remembered later computes only those of rows that were written since. columns: '
'by table, the columns that count. Returns the number of rows.';

create or replace function memory.digest_tables(
  tenant_id text,
  columns jsonb
)
  returns table (
    table_name text,
    row_count bigint,
    digest numeric
  )
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  return query execute (
    select string_agg(
      format(
        'select %L, count(*), coalesce(sum(%s), 0) from memory.%I as t where t.tenant_id = %L',
        c.key,
        memory.digest_expression(c.key, array(select jsonb_array_elements_text(c.value))),
        c.key, digest_tables.tenant_id
      ),
      ' union all ' order by c.key
    )
    from jsonb_each(columns) as c
  );
end;
$$;

comment on function memory.digest_tables(text, jsonb) is
'The number of rows of a tenant in each table and the sum of their digests '
'(memory.digest_expression), whatever their order, to compare a copy with its original. It tells '
'what is lost or changed, not what is forged. columns: by table, the columns that count.';

create or replace function memory.digest_remembered(tenant_id text)
  returns table (
    table_name text,
    row_count bigint,
    digest numeric
  )
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_query text;
  v_is_same boolean;
  v_expression text;
begin
  -- One statement for all tables: most have few rows, if any.
  v_query :=
    'select string_agg(
       format(
         ''select %1$L::text as name, count(*) as present,
             count(*) filter (where age(t.xmin) > age(%2$L::xid)) as old,
             coalesce(sum(case when age(t.xmin) > age(%2$L::xid) then 0 else %3$s end), 0) as fresh
           from memory.%1$I as t where t.tenant_id = %4$L'',
         r.table_name, r.horizon, r.expression, $1
       ),
       '' union all '' order by r.table_name
     )
     from pg_temp.remembered_digests as r';
  execute v_query into v_query using tenant_id;
  v_query := format(
    'select f.name, f.present, r.old_rows = f.old as is_same, f.fresh + r.old_digest as digest,
       r.expression
     from (%s) as f
     join pg_temp.remembered_digests as r on r.table_name = f.name',
    v_query
  );
  for table_name, row_count, v_is_same, digest, v_expression in execute v_query loop
    -- As many rows from before as then are the same rows. Else some are gone: a version of a row
    -- never changes, so that one at the same place, of the same transaction, is the same.
    if not v_is_same then
      execute format(
        'select coalesce(sum(coalesce(r.digest, %s)), 0)
         from memory.%I as t
         left join pg_temp.%I as r on r.place = t.ctid and r.version = t.xmin
         where t.tenant_id = %L',
        v_expression, table_name, 'digests_of_' || table_name, digest_remembered.tenant_id
      )
      into digest;
    end if;
    return next;
  end loop;
end;
$$;

comment on function memory.digest_remembered(text) is
'What memory.digest_tables returns for the tenant and the columns for which this session has '
'called memory.remember_digests.';

create or replace function memory.delete_rows(
  tenant_id text,
  table_name text,
  max_rows integer default 50000
)
  returns bigint
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_rows bigint;
begin
  perform memory.check_number('max_rows', max_rows, 1, 10000000);
  if not exists (
    select from memory.list_tables() as t
    where t.table_name = delete_rows.table_name and t.kind in ('tenant', 'local')
  ) then
    raise exception 'memory.% is no table of tenants', quote_ident(table_name)
      using errcode = 'PM002', hint = 'Pass the name of a table whose rows belong to tenants.';
  elsif not exists (
    select from memory.tenant_moves as m
    where m.tenant_id = delete_rows.tenant_id and m.access = 'none'
  ) then
    raise exception 'tenant % is in use here', quote_nullable(delete_rows.tenant_id)
      using errcode = 'PM003',
        hint = 'Its rows are deleted once it has left for another server: pymem tenant move.';
  elsif current_setting('session_replication_role') <> 'replica' then
    raise exception 'triggers fire in this session: they would record what is deleted'
      using errcode = 'PM002', hint = 'First: set session_replication_role = replica;';
  end if;
  execute format(
    'delete from memory.%1$I as t
     where t.ctid = any (array(
       select s.ctid from memory.%1$I as s where s.tenant_id = $1 limit $2 for update
     ))',
    table_name
  )
  using delete_rows.tenant_id, max_rows;
  get diagnostics v_rows = row_count;
  return v_rows;
end;
$$;

comment on function memory.delete_rows(text, text, integer) is
'Deletes up to max_rows rows of a tenant from a table, past all triggers: of a tenant that has '
'left for another server, whose copy here is of no use. Returns how many; repeat until 0. VACUUM '
'then removes the bytes. Errors: PM002, PM003 the tenant is in use here.';

create or replace function memory.list_tenant_sizes()
  returns table (
    tenant_id text,
    memories bigint,
    row_count bigint,
    octets bigint,
    side text,
    step text,
    peer text
  )
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_counts text := (
    select string_agg(
      format(
        'select t.tenant_id, count(*) as row_count, %L::boolean as is_memory, '
        'pg_total_relation_size(%L) / sum(count(*)) over () * count(*) as octets '
        'from memory.%I as t group by t.tenant_id',
        coalesce(m.is_searched, false), format('memory.%I', t.table_name), t.table_name
      ),
      ' union all ' order by t.table_name
    )
    from memory.list_tables() as t
    left join memory.memory_types as m on m.table_name = t.table_name
    where t.kind = 'tenant'
  );
begin
  return query execute format(
    'select
       coalesce(c.tenant_id, m.tenant_id),
       coalesce(sum(c.row_count) filter (where c.is_memory), 0)::bigint,
       coalesce(sum(c.row_count), 0)::bigint,
       coalesce(sum(c.octets), 0)::bigint,
       m.side, m.step, m.peer
     from (%s) as c
     full join memory.tenant_moves as m on m.tenant_id = c.tenant_id
     group by 1, m.side, m.step, m.peer
     order by 1',
    v_counts
  );
end;
$$;

comment on function memory.list_tenant_sizes() is
'Every tenant with rows or a move here: memories (of any type and state), rows of all tables, and '
'octets, its share of the tables and indexes by its share of their rows. Reads a key of all rows. '
'side, step, peer: the move that it is in, as in memory.tenant_moves. For the deployer, who sees '
'all tenants.';

commit;
