begin;
\ir fixtures.sql
select plan(78);

-- The whole error that linking two memories raises, every id replaced by <id>.
create function memory_test.error_of_link(
  source_type text,
  source_id uuid,
  target_type text,
  target_id uuid
)
  returns text
  language plpgsql
as $$
declare
  v_detail text;
  v_hint text;
begin
  perform memory.create_link(source_type, source_id, target_type, target_id, 'supports');
  return 'none';
exception
  when others then
    get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
    return regexp_replace(
      concat_ws(' | ', sqlstate, sqlerrm, nullif(v_detail, ''), nullif(v_hint, '')),
      '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', '<id>', 'g'
    );
end;
$$;

select memory.store_episode('Met Ada', 'home') as episode_id \gset
select memory.store_episode('Met Bob', 'home') as episode2_id \gset
select memory.store_fact('user', 'likes', 'tea') as fact_id \gset
select memory.store_fact('user', 'plays', 'chess') as fact2_id \gset
select memory.store_rule('Ask first') as rule_id \gset
select memory.store_rule('Bring cake') as rule2_id \gset
select memory_test.as_tenant('b') \g /dev/null
select memory.store_episode('Met Eve', 'home') as foreign_episode_id \gset
select memory.store_fact('user', 'likes', 'milk') as foreign_fact_id \gset
select memory.store_rule('Ask never') as foreign_rule_id \gset
select memory.store_rule('Bring nothing') as foreign_rule2_id \gset
select memory_test.as_tenant('a') \g /dev/null
select gen_random_uuid() as random_id \gset

-- create_link

select results_eq(
  format(
    $$ select * from memory.create_link('fact', %L, 'episode', %L, 'derived_from') $$,
    :'fact_id', :'episode_id'
  ),
  $$ values (true, 'derived_from') $$,
  'a fact may be derived from an episode'
);
select results_eq(
  format(
    $$ select * from memory.create_link('episode', %L, 'rule', %L, 'supports') $$, :'episode_id', :'rule_id'
  ),
  $$ values (true, 'supports') $$,
  'an episode may support a rule'
);
select results_eq(
  format(
    $$ select * from memory.create_link('rule', %L, 'fact', %L, 'contradicts') $$, :'rule_id', :'fact_id'
  ),
  $$ values (true, 'contradicts') $$,
  'a rule may contradict a fact'
);
select results_eq(
  format(
    $$ select * from memory.create_link('fact', %L, 'fact', %L, 'supersedes') $$, :'fact2_id', :'fact_id'
  ),
  $$ values (true, 'supersedes') $$,
  'a fact may supersede a fact'
);
select results_eq(
  format(
    $$ select * from memory.create_link('rule', %L, 'rule', %L, 'related_to') $$, :'rule_id', :'rule2_id'
  ),
  $$ values (true, 'related_to') $$,
  'a rule may be related to a rule'
);
select results_eq(
  format(
    $$ select * from memory.create_link('episode', %L, 'episode', %L, 'related_to') $$,
    :'episode_id', :'episode2_id'
  ),
  $$ values (true, 'related_to') $$,
  'an episode may be related to an episode'
);
select results_eq(
  $$ select l.tenant_id, l.source_type, l.source_id, l.target_type, l.target_id, l.relation, l.created_at
     from memory.memory_links as l where l.relation = 'derived_from' $$,
  format(
    $$ values ('a', 'fact', %L::uuid, 'episode', %L::uuid, 'derived_from', now()) $$,
    :'fact_id', :'episode_id'
  ),
  'a link stores its tenant, both ends, the relation and the time'
);

-- A second call

select results_eq(
  format(
    $$ select * from memory.create_link('fact', %L, 'episode', %L, 'derived_from') $$,
    :'fact_id', :'episode_id'
  ),
  $$ values (false, 'derived_from') $$,
  'creating the same link again creates nothing'
);
select results_eq(
  format(
    $$ select * from memory.create_link('fact', %L, 'episode', %L, 'supports') $$, :'fact_id', :'episode_id'
  ),
  $$ values (false, 'derived_from') $$,
  'another relation of the same pair creates nothing and returns the stored one'
);
select results_eq(
  format($$ select l.relation from memory.get_links('fact', %L, 'outgoing') as l $$, :'fact_id'),
  $$ values ('derived_from') $$,
  'the stored relation of a linked pair stays'
);
select is(
  (
    select count(*) from memory.memory_events as e
    where e.memory_id = :'fact_id' and e.event_type like 'link%'
  ),
  1::bigint, 'only the call that creates a link writes an event'
);
select results_eq(
  format(
    $$ select * from memory.create_link('episode', %L, 'fact', %L, 'supports') $$, :'episode_id', :'fact_id'
  ),
  $$ values (true, 'supports') $$,
  'the opposite direction is another link'
);
select results_eq(
  format(
    $$ select * from memory.create_link('fact', %L, 'rule', %L, 'contradicts') $$, :'fact_id', :'rule_id'
  ),
  $$ values (true, 'contradicts') $$,
  'the opposite direction may have the same relation'
);
select memory.store_fact('third', 'is', 'fact') as fact3_id \gset
select memory.store_fact('fourth', 'is', 'fact') as fact4_id \gset
select memory.store_fact('fifth', 'is', 'fact') as fact5_id \gset
select memory.create_link('fact', :'fact3_id', 'fact', :'fact4_id', 'supports') \g /dev/null
select results_eq(
  format(
    $$ select * from memory.create_link('fact', %L, 'fact', %L, 'contradicts') $$, :'fact5_id', :'fact4_id'
  ),
  $$ values (true, 'contradicts') $$,
  'links from several sources to one target have their own relations'
);
select results_eq(
  format(
    $$ select * from memory.create_link('fact', %L, 'fact', %L, 'related_to') $$, :'fact5_id', :'fact3_id'
  ),
  $$ values (true, 'related_to') $$,
  'links from one source to several targets have their own relations'
);
select results_eq(
  format(
    $$ select * from memory.create_link('fact', %L, 'fact', %L, 'supports') $$, :'fact5_id', :'fact4_id'
  ),
  $$ values (false, 'contradicts') $$,
  'each linked pair returns its own relation'
);

-- What create_link refuses

select throws_ok(
  format($$ select memory.create_link('thing', %L, 'episode', %L, 'supports') $$, :'fact_id', :'episode_id'),
  'PM002', $$unknown source_type: 'thing'$$, 'an unknown type of source is refused'
);
select throws_ok(
  format($$ select memory.create_link(null, %L, 'episode', %L, 'supports') $$, :'fact_id', :'episode_id'),
  'PM002', 'unknown source_type: NULL', 'a NULL type of source is refused'
);
select throws_ok(
  format($$ select memory.create_link('fact', %L, 'entity', %L, 'supports') $$, :'fact_id', :'episode_id'),
  'PM002', $$unknown target_type: 'entity'$$, 'an unknown type of target is refused'
);
select throws_ok(
  format($$ select memory.create_link('fact', %L, null, %L, 'supports') $$, :'fact_id', :'episode_id'),
  'PM002', 'unknown target_type: NULL', 'a NULL type of target is refused'
);
select throws_ok(
  format($$ select memory.create_link('fact', %L, 'episode', %L, 'likes') $$, :'fact_id', :'episode_id'),
  'PM002', $$unknown relation: 'likes'$$, 'an unknown relation is refused'
);
select throws_ok(
  format($$ select memory.create_link('fact', %L, 'episode', %L, null) $$, :'fact_id', :'episode_id'),
  'PM002', 'unknown relation: NULL', 'a NULL relation is refused'
);
select throws_ok(
  format($$ select memory.create_link('fact', null, 'episode', %L, 'supports') $$, :'episode_id'),
  'PM002', 'source_id is NULL', 'a link without a source is refused'
);
select throws_ok(
  format($$ select memory.create_link('fact', %L, 'episode', null, 'supports') $$, :'fact_id'),
  'PM002', 'target_id is NULL', 'a link without a target is refused'
);
select throws_ok(
  format($$ select memory.create_link('fact', %L, 'fact', %L, 'related_to') $$, :'fact_id', :'fact_id'),
  'PM002', 'a link needs two different memories', 'a memory cannot be linked to itself'
);
select throws_ok(
  format($$ select memory.create_link('fact', %L, 'episode', %L, 'supports') $$, :'random_id', :'episode_id'),
  'PM001', format('no fact has id %s', :'random_id'), 'a source that does not exist is refused'
);
select throws_ok(
  format($$ select memory.create_link('fact', %L, 'episode', %L, 'supports') $$, :'fact_id', :'random_id'),
  'PM001', format('no episode has id %s', :'random_id'), 'a target that does not exist is refused'
);
select throws_ok(
  format($$ select memory.create_link('fact', %L, 'rule', %L, 'supports') $$, :'fact_id', :'random_id'),
  'PM001', format('no rule has id %s', :'random_id'),
  'a rule that does not exist is refused as a target'
);
select throws_ok(
  format($$ select memory.create_link('rule', %L, 'episode', %L, 'supports') $$, :'fact_id', :'episode_id'),
  'PM001', format('no rule has id %s', :'fact_id'), 'a source of another type than given is refused'
);
select throws_ok(
  format($$ select memory.create_link('fact', %L, 'fact', %L, 'supports') $$, :'fact_id', :'episode_id'),
  'PM001', format('no fact has id %s', :'episode_id'),
  'a target of another type than given is refused'
);
select is(
  memory_test.error_of_link('fact', :'fact_id', 'rule', :'random_id'),
  'PM001 | no rule has id <id> | Link two memories that exist; find ids with memory.search.',
  'the error about an unknown memory names its id and says what to do'
);
select results_eq(
  format(
    $$ select memory_test.error_of_link('fact', %L, f.memory_type, f.id)
       from (values ('episode', %L::uuid), ('fact', %L), ('rule', %L)) as f (memory_type, id) $$,
    :'fact_id', :'foreign_episode_id', :'foreign_fact_id', :'foreign_rule_id'
  ),
  format(
    $$ select memory_test.error_of_link('fact', %L, t.memory_type, %L)
       from unnest('{episode,fact,rule}'::text[]) as t (memory_type) $$,
    :'fact_id', :'random_id'
  ),
  'a target of another tenant raises the error of one that does not exist'
);
select results_eq(
  format(
    $$ select memory_test.error_of_link(f.memory_type, f.id, 'fact', %L)
       from (values ('episode', %L::uuid), ('fact', %L), ('rule', %L)) as f (memory_type, id) $$,
    :'fact_id', :'foreign_episode_id', :'foreign_fact_id', :'foreign_rule_id'
  ),
  format(
    $$ select memory_test.error_of_link(t.memory_type, %L, 'fact', %L)
       from unnest('{episode,fact,rule}'::text[]) as t (memory_type) $$,
    :'random_id', :'fact_id'
  ),
  'a source of another tenant raises the error of one that does not exist'
);
select throws_ok(
  format($$ select memory.create_link('fact', %L, 'rule', %L, 'supports') $$, :'fact_id', :'foreign_rule_id'),
  'PM001', format('no rule has id %s', :'foreign_rule_id'),
  'a rule of another tenant is refused as a target'
);
select throws_ok(
  format(
    $$ select memory.create_link('rule', %L, 'rule', %L, 'supports') $$,
    :'foreign_rule_id', :'foreign_rule2_id'
  ),
  'PM001', null, 'two memories of another tenant cannot be linked'
);
select is(
  (select count(*) from memory.memory_links as l), 11::bigint, 'refused links are not stored'
);

-- get_links

select results_eq(
  format(
    $$ select l.source_type, l.source_id, l.target_type, l.target_id, l.relation, l.created_at
       from memory.get_links('episode', %L, 'incoming') as l $$,
    :'episode_id'
  ),
  format(
    $$ values ('fact', %L::uuid, 'episode', %L::uuid, 'derived_from', now()) $$, :'fact_id', :'episode_id'
  ),
  'the incoming links of a memory are those that lead to it'
);
update memory.memory_links as l set created_at = '2026-01-03Z' where l.relation = 'derived_from';
update memory.memory_links as l set created_at = '2026-01-01Z' where l.source_type in ('episode', 'rule');
update memory.memory_links as l set created_at = '2026-01-04Z'
where l.source_type = 'fact' and l.target_type = 'rule';
select results_eq(
  format(
    $$ select l.target_type, l.target_id, l.relation from memory.get_links('fact', %L, 'outgoing') as l $$,
    :'fact_id'
  ),
  format(
    $$ values ('episode', %L::uuid, 'derived_from'), ('rule', %L, 'contradicts') $$, :'episode_id', :'rule_id'
  ),
  'the outgoing links of a memory are those that start from it, oldest first'
);
select results_eq(
  format(
    $$ select l.source_type, l.source_id, l.relation from memory.get_links('fact', %L, 'incoming') as l $$,
    :'fact_id'
  ),
  format(
    $$ values ('episode', %L::uuid, 'supports'), ('rule', %L, 'contradicts'), ('fact', %L, 'supersedes') $$,
    :'episode_id', :'rule_id', :'fact2_id'
  ),
  'incoming links come oldest first'
);
select results_eq(
  format(
    $$ select l.source_type, l.target_type, l.relation from memory.get_links('fact', %L, 'both') as l $$,
    :'fact_id'
  ),
  $$ values
    ('episode', 'fact', 'supports'), ('rule', 'fact', 'contradicts'), ('fact', 'episode', 'derived_from'),
    ('fact', 'rule', 'contradicts'), ('fact', 'fact', 'supersedes') $$,
  'both directions come in one order; links of the same time are ordered by type'
);
insert into memory.rules (tenant_id, id, content)
values ('a', '00000000-0000-0000-0000-000000000001', 'Of the lowest id');
insert into memory.episodes (tenant_id, id, butler, content)
values ('a', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'home', 'Of the highest id');
select memory.create_link(
  'rule', '00000000-0000-0000-0000-000000000001', 'fact', :'fact4_id', 'supports'
) \g /dev/null
select memory.create_link(
  'episode', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'fact', :'fact4_id', 'supports'
) \g /dev/null
select results_eq(
  format($$ select l.source_type from memory.get_links('fact', %L, 'incoming') as l $$, :'fact4_id'),
  $$ values ('episode'), ('fact'), ('fact'), ('rule') $$,
  'links of the same time are ordered by type, whatever their ids'
);
select set_eq(
  format($$ select * from memory.get_links('fact', %L) $$, :'fact_id'),
  format($$ select * from memory.get_links('fact', %L, 'both') $$, :'fact_id'),
  'both directions are the default'
);
select is(
  (select count(*) from memory.get_links('fact', :'fact_id') as l), 5::bigint,
  'a memory has its links in both directions'
);
select is_empty(
  format($$ select * from memory.get_links('episode', %L, 'outgoing') $$, :'episode2_id'),
  'a memory that is only a target has no outgoing links'
);
select is_empty(
  format($$ select * from memory.get_links('rule', %L) $$, :'fact_id'),
  'a memory has no links under another type'
);
select is_empty(
  format($$ select * from memory.get_links('fact', %L) $$, :'random_id'), 'an unknown memory has no links'
);
select is_empty($$ select * from memory.get_links('fact', null) $$, 'a NULL memory has no links');
select throws_ok(
  format($$ select * from memory.get_links('thing', %L) $$, :'fact_id'),
  'PM002', $$unknown memory_type: 'thing'$$, 'links of an unknown type are refused'
);
select throws_ok(
  format($$ select * from memory.get_links(null, %L) $$, :'fact_id'), 'PM002', null,
  'links of a NULL type are refused'
);
select throws_ok(
  format($$ select * from memory.get_links('fact', %L, 'sideways') $$, :'fact_id'),
  'PM002', $$unknown direction: 'sideways'$$, 'an unknown direction is refused'
);
select throws_ok(
  format($$ select * from memory.get_links('fact', %L, null) $$, :'fact_id'), 'PM002', null,
  'a NULL direction is refused'
);
select results_eq(
  format(
    $$ select l.source_type, l.target_type, l.relation from memory.get_links('fact', %L, max_results => 3) as l $$,
    :'fact_id'
  ),
  $$ values ('episode', 'fact', 'supports'), ('rule', 'fact', 'contradicts'), ('fact', 'episode', 'derived_from') $$,
  'max_results limits the links to the oldest'
);
select results_eq(
  format(
    $$ select l.source_type from memory.get_links('fact', %L, 'incoming', max_results => 1) as l $$, :'fact_id'
  ),
  $$ values ('episode') $$, 'max_results counts only links in the requested direction'
);
select throws_ok(
  format($$ select * from memory.get_links('fact', %L, max_results => %s) $$, :'fact_id', n), 'PM002', null,
  format('%s links cannot be asked for', n)
)
from unnest('{0,10001,"null"}'::text[]) as n;
select memory_test.as_tenant('b') \g /dev/null
select memory.create_link('rule', :'foreign_rule_id', 'rule', :'foreign_rule2_id', 'related_to') \g /dev/null
select is_empty(
  format($$ select * from memory.get_links('fact', %L) $$, :'fact_id'),
  'another tenant sees none of the links'
);
select memory_test.as_tenant('a') \g /dev/null
select is_empty(
  format($$ select * from memory.get_links('rule', %L) $$, :'foreign_rule_id'),
  'the links of another tenant are not seen'
);

-- Events

select results_eq(
  format(
    $$ select e.tenant_id, e.memory_type, e.memory_id, e.payload from memory.memory_events as e
       where e.event_type = 'link_created' and e.memory_id = %L $$,
    :'fact2_id'
  ),
  format(
    $$ values ('a', 'fact', %L::uuid, jsonb_build_object(
         'source_type', 'fact', 'source_id', %L, 'target_type', 'fact', 'target_id', %L,
         'relation', 'supersedes'
       )) $$,
    :'fact2_id', :'fact2_id', :'fact_id'
  ),
  'a link writes an event of its source with both ends and the relation'
);
select is(
  (
    select count(*) from memory.memory_events as e
    where e.tenant_id = 'a' and e.event_type = 'link_created'
  ),
  13::bigint, 'each link writes one event'
);
update memory.memory_links as l set relation = 'related_to' where l.source_id = :'fact2_id';
select is(
  (
    select e.payload ->> 'relation' from memory.memory_events as e
    where e.event_type = 'link_updated' and e.memory_id = :'fact2_id'
  ),
  'related_to', 'changing a link as an operator writes an event'
);
delete from memory.memory_links as l where l.source_id = :'fact2_id';
select is(
  (
    select e.payload ->> 'target_id' from memory.memory_events as e
    where e.event_type = 'link_deleted' and e.memory_id = :'fact2_id'
  ),
  :'fact_id', 'deleting a link as an operator writes an event'
);
select is_empty(
  format($$ select * from memory.get_links('fact', %L) $$, :'fact2_id'),
  'a deleted link is no longer returned'
);

-- A link outlives its episode

delete from memory.episodes as e where e.id = :'episode_id';
select results_eq(
  format(
    $$ select l.target_id, l.relation from memory.get_links('fact', %L, 'outgoing') as l
       where l.target_type = 'episode' $$,
    :'fact_id'
  ),
  format($$ values (%L::uuid, 'derived_from') $$, :'episode_id'),
  'a fact stays linked to a deleted episode'
);
select throws_ok(
  format(
    $$ select memory.create_link('rule', %L, 'episode', %L, 'derived_from') $$, :'rule2_id', :'episode_id'
  ),
  'PM001', null, 'a deleted episode cannot be linked'
);

-- The table refuses the same from every writer

select throws_ok(
  format(
    $$ insert into memory.memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
       values ('a', 'fact', %L, 'fact', %L, 'likes') $$,
    :'fact2_id', :'fact_id'
  ),
  '23514', null, 'the table refuses an unknown relation'
);
select throws_ok(
  format(
    $$ insert into memory.memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
       values ('a', 'fact', %L, 'fact', %L, 'supports') $$,
    :'fact_id', :'fact_id'
  ),
  '23514', null, 'the table refuses a link of a memory to itself'
);
select throws_ok(
  format(
    $$ insert into memory.memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
       values ('a', 'entity', %L, 'fact', %L, 'supports') $$,
    :'fact2_id', :'fact_id'
  ),
  '23514', null, 'the table refuses a link from an unknown type'
);
select throws_ok(
  format(
    $$ insert into memory.memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
       values ('a', 'fact', %L, null, %L, 'supports') $$,
    :'fact2_id', :'fact_id'
  ),
  '23502', null, 'the table refuses a link to a NULL type'
);
select throws_ok(
  format(
    $$ insert into memory.memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
       values ('b', 'rule', %L, 'fact', %L, 'supports') $$,
    :'foreign_rule_id', :'fact_id'
  ),
  'PM001', null, 'the table refuses a link across tenants'
);
select throws_ok(
  format(
    $$ insert into memory.memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
       values ('a', 'fact', %L, 'fact', %L, 'supports'),
         ('a', 'fact', %L, 'rule', '00000000-0000-0000-0000-0000000000ff', 'supports') $$,
    :'fact2_id', :'fact_id', :'fact2_id'
  ),
  'PM001', 'no rule has id 00000000-0000-0000-0000-0000000000ff',
  'an insert of several links is refused if one of them leads to nothing'
);
select throws_ok(
  format(
    $$ update memory.memory_links set target_id = '00000000-0000-0000-0000-0000000000ff'
       where source_id = %L and target_type = 'episode' $$,
    :'fact_id'
  ),
  'PM001', null, 'a link cannot be changed to lead to nothing'
);
select throws_ok(
  format($$ update memory.memory_links set source_type = 'entity' where source_id = %L $$, :'fact_id'),
  '23514', null, 'a link cannot be changed to an unknown type of source'
);
select throws_ok(
  format($$ update memory.memory_links set target_type = 'entity' where source_id = %L $$, :'fact_id'),
  '23514', null, 'a link cannot be changed to an unknown type of target'
);
select throws_ok(
  format(
    $$ insert into memory.memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
       select l.tenant_id, l.source_type, l.source_id, l.target_type, l.target_id, 'supports'
       from memory.memory_links as l where l.source_id = %L and l.target_type = 'rule' $$,
    :'fact_id'
  ),
  '23505', null, 'the table refuses a second link of the same ordered pair'
);
select throws_ok(
  $$ truncate memory.memory_links $$, 'PM006', null,
  'the links cannot be truncated, which would bypass the audit'
);

-- Without a tenant

select memory_test.as_tenant('') \g /dev/null
select throws_ok(
  format($$ select memory.create_link('fact', %L, 'fact', %L, 'supports') $$, :'fact2_id', :'fact_id'),
  '28000', null, 'nothing can be linked without a tenant'
);
select throws_ok(
  format($$ select memory.get_links('fact', %L) $$, :'fact_id'), '28000', null,
  'no links are returned without a tenant'
);

select * from finish();
rollback;
