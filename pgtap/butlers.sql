-- Who sees what by default: a butler its own memories and global ones, and more where it asks for more.

begin;
\ir fixtures.sql

select plan(56);

-- The home butler and the work butler of tenant a, and one of the same name of tenant b.

select memory_test.as_tenant(t.tenant_id), memory.register_embedding_version('model', '1')
from unnest('{b,a}'::text[]) with ordinality as t (tenant_id, position)
order by t.position \g /dev/null
insert into memory.facts
  (tenant_id, subject, predicate, content, scope, created_at, embedding, embedding_version_id)
select t.tenant_id, 'tea', s.scope, 'tea: fact of ' || t.whose || s.scope, s.scope, '2026-01-01Z',
  memory_test.axis(1), v.id
from (values ('a', ''), ('b', 'b, ')) as t (tenant_id, whose)
cross join unnest('{global,home,work}'::text[]) as s (scope)
join memory.embedding_versions as v on v.tenant_id = t.tenant_id;
insert into memory.rules (tenant_id, content, scope, created_at, embedding, embedding_version_id)
select f.tenant_id, replace(f.content, 'fact', 'rule'), f.scope, f.created_at, f.embedding, f.embedding_version_id
from memory.facts as f;
insert into memory.episodes
  (tenant_id, content, butler, created_at, expires_at, embedding, embedding_version_id)
select f.tenant_id, replace(f.content, 'fact', 'episode'), f.scope, f.created_at, null, f.embedding,
  f.embedding_version_id
from memory.facts as f
where f.scope <> 'global';

-- Everything that reads by scope: %1$L is the scope, and m what was found.
create table memory_test.calls (
  position integer generated always as identity,
  name text,
  source text
);
insert into memory_test.calls (name, source)
values
(
  'semantic_search',
  $$ unnest('{episode,fact,rule}'::text[]) as t (type)
     cross join lateral memory.semantic_search(
       t.type, memory_test.axis(1), %1$L, as_of => '2026-01-02Z'
     ) as m $$
),
(
  'keyword_search',
  $$ unnest('{episode,fact,rule}'::text[]) as t (type)
     cross join lateral memory.keyword_search(t.type, 'tea', %1$L, as_of => '2026-01-02Z') as m $$
),
(
  'hybrid_search',
  $$ unnest('{episode,fact,rule}'::text[]) as t (type)
     cross join lateral memory.hybrid_search(
       t.type, 'tea', memory_test.axis(1), %1$L, as_of => '2026-01-02Z'
     ) as m $$
),
(
  'search',
  $$ memory.search('tea', scope => %1$L, embedding => memory_test.axis(1), as_of => '2026-01-02Z') as m $$
),
(
  'rank_memories',
  $$ memory.rank_memories('tea', %1$L, embedding => memory_test.axis(1), as_of => '2026-01-02Z') as m $$
),
(
  'rank_memories of the past',
  $$ memory.rank_memories(
       'tea', %1$L, embedding => memory_test.axis(1), known_at => '2026-01-02Z', as_of => '2026-01-03Z'
     ) as m $$
),
(
  'recall_explain',
  $$ (
       select x.content
       from memory.recall_explain(
         'tea', %1$L, embedding => memory_test.axis(1), as_of => '2026-01-02Z'
       ) as x
       where x.outcome = 'returned'
     ) as m $$
),
(
  'recall',
  $$ memory.recall('tea', %1$L, embedding => memory_test.axis(1), as_of => '2026-01-02Z') as m $$
);
grant select on memory_test.calls to public;

-- What each of them finds that expected does not have, and the other way round; of one scope, or of none.
create function memory_test.differences(expected text[], scope text default null, except_for text default '')
  returns setof text
  language plpgsql
as $$
declare
  v_call memory_test.calls;
  v_seen text[];
begin
  for v_call in
    select c.* from memory_test.calls as c where c.name <> except_for order by c.position
  loop
    execute 'select array(select replace(m.content, ''tea: '', '''') from '
      || format(v_call.source, scope) || ' order by 1)'
    into v_seen;
    if v_seen <> array(select e.content from unnest(expected) as e (content) order by 1) then
      return next format('%s: %s', v_call.name, v_seen);
    end if;
  end loop;
end;
$$;

\set all '{fact of global,fact of home,fact of work,rule of global,rule of home,rule of work,episode of home,episode of work}'
\set home '{fact of global,fact of home,rule of global,rule of home,episode of home}'
\set work '{fact of global,fact of work,rule of global,rule of work,episode of work}'
\set global '{fact of global,rule of global}'

select is_empty(
  format('select * from memory_test.differences(%L)', :'all'),
  'without a butler and without a scope everything of the tenant is found'
);
select is_empty(
  format('select * from memory_test.differences(%L, %L)', :'all', '*'), 'and so it is in scope *'
);
select is_empty(
  format('select * from memory_test.differences(%L, %L)', :'home', 'home'),
  'without a butler a scope that is named is searched'
);
select memory.set_request(butler => 'home') \g /dev/null
select is_empty(
  format('select * from memory_test.differences(%L)', :'home'),
  'a butler finds its own facts, rules and episodes and those that are global, no other butler''s'
);
select is_empty(
  format('select * from memory_test.differences(%L, %L)', :'all', '*'),
  'a butler that asks for scope * finds everything of the tenant'
);
select is_empty(
  format('select * from memory_test.differences(%L, %L)', :'work', 'work'),
  'a butler that names the scope of another one finds what that one finds'
);
select is_empty(
  format('select * from memory_test.differences(%L, %L)', :'global', 'global'),
  'a butler that names the scope global finds what is global only, no episode'
);
select memory.set_request(butler => 'work') \g /dev/null
select is_empty(
  format('select * from memory_test.differences(%L)', :'work'), 'the butler that is named last counts'
);
select memory.set_request(butler => 'guest') \g /dev/null
select is_empty(
  format('select * from memory_test.differences(%L)', :'global'),
  'a butler that has nothing of its own finds what is global'
);
select set_config('memory.butler', '*', true) \g /dev/null
select is_empty(
  format('select * from memory_test.differences(%L)', :'all'), 'a butler called * counts as none'
);

-- Whoever asks

select memory_test.a_login('butlers_writer', 'a', 'memory_writer') \g /dev/null
select memory_test.a_login('butlers_reader', 'a', 'memory_reader') \g /dev/null
select memory_test.share_results() \g /dev/null
set local session authorization butlers_writer;
select memory.set_request(butler => 'home') \g /dev/null
select is_empty(
  format('select * from memory_test.differences(%L)', :'home'), 'a writer finds what its butler sees'
);
select is_empty(
  format('select * from memory_test.differences(%L, %L)', :'all', '*'), 'and with scope * everything'
);
set local session authorization butlers_reader;
select set_config('memory.butler', '', true) \g /dev/null
select is_empty(
  format('select * from memory_test.differences(%L, except_for => %L)', :'all', 'recall'),
  'a reader without a butler finds everything'
);
select memory.set_request(butler => 'home') \g /dev/null
select is_empty(
  format('select * from memory_test.differences(%L, except_for => %L)', :'home', 'recall'),
  'a reader finds what its butler sees'
);
select is_empty(
  format('select * from memory_test.differences(%L, %L, %L)', :'work', 'work', 'recall'),
  'and in another scope what is there'
);
select is(memory.current_butler(), 'home', 'a reader is told its butler');
select is(memory.visible_scope(null), 'home', 'and its scope');
reset session authorization;

-- A butler is one of its tenant.

select memory_test.as_tenant('b') \g /dev/null
select memory.set_request(butler => 'home') \g /dev/null
select is_empty(
  $$ select * from memory_test.differences(
       '{fact of b\, global,fact of b\, home,rule of b\, global,rule of b\, home,episode of b\, home}'
     ) $$,
  'a butler of another tenant sees nothing of one that has its name'
);
select memory_test.as_tenant('a') \g /dev/null

-- Recall counts as used what it returned.

select results_eq(
  $$ select f.content from memory.facts as f where f.tenant_id = 'b' and f.reference_count > 0 order by 1 $$,
  $$ values ('tea: fact of b, global'), ('tea: fact of b, home') $$,
  'recall counts a reference to what the butler saw, and to nothing else'
);

-- Context

select memory.set_request(butler => 'work') \g /dev/null
select results_eq(
  $$ select m[1]
     from regexp_matches(
       memory.context('tea', 'home', include_recent_episodes => true, as_of => '2026-01-02Z'),
       'tea: (\w+ of \w+)', 'g'
     ) as m
     order by 1 $$,
  format('select unnest(%L::text[]) as c order by 1', :'home'),
  'the context of a butler is its own and what is global, whichever butler the request names'
);
select throws_ok(
  $$ select memory.context('tea', '*') $$, 'PM002', 'butler is "*"', 'there is no context of all butlers'
);

-- Contradictions and counts

select memory.create_link('fact', s.id, 'fact', t.id, 'contradicts')
from memory.facts as s
join memory.facts as t on t.tenant_id = s.tenant_id
where s.tenant_id = 'a' and (s.scope, t.scope) in (('home', 'global'), ('work', 'global')) \g /dev/null
create function memory_test.contradicted(scope text default null)
  returns text[]
  language sql
  return array(
    select replace(c.source_content, '[tea] ', '')
    from memory.contradictions(scope, as_of => '2026-01-02Z') as c
    order by 1
  );
select memory.set_request(butler => 'home') \g /dev/null
select is(
  memory_test.contradicted(), '{"[home]: tea: fact of home"}',
  'a butler is shown contradictions among what it sees'
);
select is(
  memory_test.contradicted('*'), '{"[home]: tea: fact of home","[work]: tea: fact of work"}',
  'and with scope * all of the tenant'
);
select is(
  memory_test.contradicted('work'), '{"[work]: tea: fact of work"}', 'and those of a scope that it names'
);
select is(
  memory.memory_stats() -> 'facts' -> 'active', '2', 'statistics count the facts that the butler sees'
);
select is(memory.memory_stats() -> 'rules' -> 'candidate', '2', 'and the rules');
select is(memory.memory_stats('*') -> 'facts' -> 'active', '3', 'with scope * all facts of the tenant');
select is(memory.memory_stats('global') -> 'facts' -> 'active', '1', 'with another scope those of it');
select is(memory.memory_stats() -> 'episodes' -> 'total', '2', 'and all episodes, whatever the scope');
select set_config('memory.butler', '', true) \g /dev/null
select is(memory.memory_stats() -> 'facts' -> 'active', '3', 'without a butler all facts');
select is(
  memory_test.contradicted(), '{"[home]: tea: fact of home","[work]: tea: fact of work"}',
  'and all contradictions'
);

-- An id is explicit.

select memory.set_request(butler => 'home') \g /dev/null
select is(
  memory.get_memory('fact', f.id) ->> 'content', 'tea: fact of work',
  'a memory of another scope is read by its id'
)
from memory.facts as f
where f.tenant_id = 'a' and f.scope = 'work';

-- visible_scope

select is(memory.visible_scope('work'), 'work', 'the scope that is named is visible');
select is(memory.visible_scope(null), 'home', 'where none is named that of the butler');
select ok(memory.visible_scope('*') is null, 'where it is * all of them');
select set_config('memory.butler', '', true) \g /dev/null
select ok(memory.visible_scope(null) is null, 'where there is no butler either, all of them');
select is(memory.visible_scope(''), '', 'an empty scope is one that nothing is in');

-- No scope and no butler is called *.

create function memory_test.error_of(statement text)
  returns text
  language plpgsql
as $$
declare
  v_message text;
  v_hint text;
begin
  execute statement;
  return 'none';
exception
  when others then
    get stacked diagnostics v_message = message_text, v_hint = pg_exception_hint;
    return format('%s %s / %s', sqlstate, v_message, v_hint);
end;
$$;
select is(
  memory_test.error_of(b.statement),
  format('PM002 %s is "*" / Pass another %1$s: "*" stands for all scopes where memories are read.', b.name),
  format('%s is refused', b.statement)
)
from (values
  (1, 'scope', $$select memory.store_fact('a', 'b', 'c', scope => '*')$$),
  (2, 'scope', $$select memory.store_fact('a', 'b', 'c', scope => E' *\n')$$),
  (3, 'source_butler', $$select memory.store_fact('a', 'b', 'c', source_butler => '*')$$),
  (4, 'scope of fact 1',
    $$select memory.store_facts('[{"subject": "a", "predicate": "b", "content": "c", "scope": " *"}]')$$),
  (5, 'source_butler of fact 1',
    $$select memory.store_facts('[{"subject": "a", "predicate": "b", "content": "c", "source_butler": "*"}]')$$),
  (6, 'scope', $$select memory.store_rule('a', scope => '*')$$),
  (7, 'source_butler', $$select memory.store_rule('a', source_butler => '*')$$),
  (8, 'butler', $$select memory.store_episode('a', '*')$$),
  (9, 'butler', $$select memory.store_episode('a', ' * ')$$),
  (10, 'butler of episode 1', $$select memory.store_episodes('[{"content": "a", "butler": "*"}]')$$)
) as b (position, name, statement)
order by b.position;
select throws_ok(
  format(
    'insert into memory.%I (tenant_id, content, %s %I) values (''a'', ''b'', %s ''*'')',
    b.table_name, b.others, b.column_name, b.others_values
  ),
  '23514', null, format('the table %s holds no %s *', b.table_name, b.column_name)
)
from (values
  (1, 'facts', 'scope', 'subject, predicate,', '''c'', ''d'','),
  (2, 'facts', 'source_butler', 'subject, predicate,', '''c'', ''d'','),
  (3, 'rules', 'scope', '', ''),
  (4, 'rules', 'source_butler', '', ''),
  (5, 'episodes', 'butler', '', '')
) as b (position, table_name, column_name, others, others_values)
order by b.position;
select memory.store_fact('a', 'b', 'c', scope => '**', source_butler => '**') as starred \gset
select is(
  (select f.scope from memory.facts as f where f.id = :'starred'), '**', 'a name may hold stars'
);
select lives_ok(
  format($$ select memory.store_episode('a', %L) $$, repeat('b', 128)), 'a butler has a name of 128 octets'
);
select throws_ok(
  format($$ select memory.store_episode('a', %L) $$, repeat('b', 129)), 'PM002', 'butler is 129 octets long',
  'and no longer one'
);
select throws_ok(
  $$ select memory.store_rule('a', scope => ' ') $$, 'PM002', 'scope is empty', 'a scope has a name'
);

select * from finish();
rollback;
