-- What is visible by default: a butler sees its own and global memories, and more on request.

begin;
\ir fixtures.sql

select plan(56);

-- The home and work butlers of tenant a, and butlers with the same names in tenant b.

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

-- Everything that reads by scope: %1$L is the scope, and m what it finds.
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

-- The calls that do not find exactly what is expected, in one scope or without a scope.
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
  'without a butler and a scope everything of the tenant is found'
);
select is_empty(
  format('select * from memory_test.differences(%L, %L)', :'all', '*'),
  'without a butler scope * finds everything of the tenant'
);
select is_empty(
  format('select * from memory_test.differences(%L, %L)', :'home', 'home'),
  'without a butler a named scope is searched'
);
select memory.set_request(butler => 'home') \g /dev/null
select is_empty(
  format('select * from memory_test.differences(%L)', :'home'),
  'a butler finds its own and global memories, and none of another butler'
);
select is_empty(
  format('select * from memory_test.differences(%L, %L)', :'all', '*'),
  'a butler that asks for scope * finds everything of the tenant'
);
select is_empty(
  format('select * from memory_test.differences(%L, %L)', :'work', 'work'),
  'a butler that names another butler''s scope finds what that butler finds'
);
select is_empty(
  format('select * from memory_test.differences(%L, %L)', :'global', 'global'),
  'a butler that names the scope global finds only global facts and rules'
);
select memory.set_request(butler => 'work') \g /dev/null
select is_empty(
  format('select * from memory_test.differences(%L)', :'work'),
  'the butler that the request named last counts'
);
select memory.set_request(butler => 'guest') \g /dev/null
select is_empty(
  format('select * from memory_test.differences(%L)', :'global'),
  'a butler without memories of its own finds the global ones'
);
select set_config('memory.butler', '*', true) \g /dev/null
select is_empty(
  format('select * from memory_test.differences(%L)', :'all'),
  'a butler called * counts as no butler'
);

-- Roles

select memory_test.a_login('butlers_writer', 'a', 'memory_writer') \g /dev/null
select memory_test.a_login('butlers_reader', 'a', 'memory_reader') \g /dev/null
select memory_test.share_results() \g /dev/null
set local session authorization butlers_writer;
select memory.set_request(butler => 'home') \g /dev/null
select is_empty(
  format('select * from memory_test.differences(%L)', :'home'), 'a writer finds what its butler sees'
);
select is_empty(
  format('select * from memory_test.differences(%L, %L)', :'all', '*'),
  'a writer finds everything of the tenant in scope *'
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
  'a reader that names another scope finds what is in it'
);
select is(
  memory.current_butler(), 'home', 'a reader''s current butler is the one that its request names'
);
select is(memory.visible_scope(null), 'home', 'a reader''s visible scope is that of its butler');
reset session authorization;

-- A butler belongs to its tenant.

select memory_test.as_tenant('b') \g /dev/null
select memory.set_request(butler => 'home') \g /dev/null
select is_empty(
  $$ select * from memory_test.differences(
       '{fact of b\, global,fact of b\, home,rule of b\, global,rule of b\, home,episode of b\, home}'
     ) $$,
  'a butler sees nothing of a butler with the same name in another tenant'
);
select memory_test.as_tenant('a') \g /dev/null

-- Recall counts references to what it returned.

select results_eq(
  $$ select f.content from memory.facts as f where f.tenant_id = 'b' and f.reference_count > 0 order by 1 $$,
  $$ values ('tea: fact of b, global'), ('tea: fact of b, home') $$,
  'recall counts a reference to what the butler saw and to nothing else'
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
  'a butler''s context is its own and global memories, whichever butler the request names'
);
select throws_ok(
  $$ select memory.context('tea', '*') $$, 'PM002', 'butler is "*"',
  'context for all butlers is refused'
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
    from memory.list_contradictions(scope, as_of => '2026-01-02Z') as c
    order by 1
  );
select memory.set_request(butler => 'home') \g /dev/null
select is(
  memory_test.contradicted(), '{"[home]: tea: fact of home"}',
  'a butler sees contradictions among the memories it sees'
);
select is(
  memory_test.contradicted('*'), '{"[home]: tea: fact of home","[work]: tea: fact of work"}',
  'scope * shows all contradictions of the tenant'
);
select is(
  memory_test.contradicted('work'), '{"[work]: tea: fact of work"}',
  'a named scope shows its own contradictions'
);
select is(
  memory.memory_stats() -> 'facts' -> 'active', '2',
  'memory_stats counts the facts that the butler sees'
);
select is(
  memory.memory_stats() -> 'rules' -> 'candidate', '2',
  'memory_stats counts the rules that the butler sees'
);
select is(
  memory.memory_stats('*') -> 'facts' -> 'active', '3',
  'memory_stats counts all facts of the tenant in scope *'
);
select is(
  memory.memory_stats('global') -> 'facts' -> 'active', '1',
  'memory_stats counts the facts of a named scope'
);
select is(
  memory.memory_stats() -> 'episodes' -> 'total', '2',
  'memory_stats counts all episodes, whatever the scope'
);
select set_config('memory.butler', '', true) \g /dev/null
select is(
  memory.memory_stats() -> 'facts' -> 'active', '3',
  'memory_stats counts all facts without a butler'
);
select is(
  memory_test.contradicted(), '{"[home]: tea: fact of home","[work]: tea: fact of work"}',
  'without a butler all contradictions are shown'
);

-- Reading by id

select memory.set_request(butler => 'home') \g /dev/null
select is(
  memory.get_memory('fact', f.id) ->> 'content', 'tea: fact of work',
  'a memory of another scope can be read by its id'
)
from memory.facts as f
where f.tenant_id = 'a' and f.scope = 'work';

-- visible_scope

select is(memory.visible_scope('work'), 'work', 'visible_scope returns a named scope');
select is(
  memory.visible_scope(null), 'home', 'visible_scope returns the butler''s scope if none is named'
);
select ok(
  memory.visible_scope('*') is null, 'visible_scope returns NULL, for all scopes, if the scope is *'
);
select set_config('memory.butler', '', true) \g /dev/null
select ok(
  memory.visible_scope(null) is null,
  'visible_scope returns NULL, for all scopes, without a scope and a butler'
);
select is(memory.visible_scope(''), '', 'visible_scope returns an empty scope unchanged');

-- No scope or butler can be called *.

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
  '23514', null, format('the table %s cannot hold the %s *', b.table_name, b.column_name)
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
  (select f.scope from memory.facts as f where f.id = :'starred'), '**', 'a scope may be called **'
);
select lives_ok(
  format($$ select memory.store_episode('a', %L) $$, repeat('b', 128)),
  'a butler''s name may have 128 bytes'
);
select throws_ok(
  format($$ select memory.store_episode('a', %L) $$, repeat('b', 129)), 'PM002', 'butler is 129 bytes long',
  'a butler''s name of 129 bytes is refused'
);
select throws_ok(
  $$ select memory.store_rule('a', scope => ' ') $$, 'PM002', 'scope is empty',
  'a blank scope is refused'
);

select * from finish();
rollback;
