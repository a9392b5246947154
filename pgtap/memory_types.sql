begin;
\ir fixtures.sql
select plan(23);

-- A fifth type of memory: its table, one row, its own rules. Everything else follows.

create table memory.notes (
  tenant_id text not null,
  id uuid not null default gen_random_uuid(),
  content text not null,
  scope text not null default 'global',
  importance float8 not null default 5,
  confidence float8 not null default 1,
  decay_rate float8 not null default 0.1,
  metadata jsonb not null default '{}',
  tags jsonb not null default '[]',
  lifecycle_state text generated always as (
    case
      when metadata @> '{"forgotten": true}' then 'retracted'
      when metadata ->> 'status' = 'fading' then 'fading'
      else 'active'
    end
  ) stored,
  reference_count integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_referenced_at timestamptz,
  last_confirmed_at timestamptz,
  embedding vector(384),
  embedding_version_id uuid,
  text_search_config text not null default 'english',
  search_vector tsvector not null,
  primary key (tenant_id, id)
);
grant select on memory.notes to memory_search;

create function memory.prepare_note()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  new.last_confirmed_at := coalesce(new.last_confirmed_at, new.created_at);
  new.search_vector := memory.to_search_vector(
    new.text_search_config, memory.render_memory('note', new.content)
  );
  return new;
end;
$$;

create trigger prepare before insert or update of content on memory.notes
for each row execute function memory.prepare_note();

create function memory.restore_note(settings memory.settings, note_id uuid, as_of timestamptz)
  returns void
  language sql
as $$
  update memory.notes as n
  set metadata = n.metadata - '{status,forgotten}'::text[],
    updated_at = memory.next_state_at(n.updated_at, as_of)
  where n.tenant_id = settings.tenant_id and n.id = note_id;
$$;

insert into memory.memory_types (
  memory_type, table_name, position, counted_columns, live_condition, forgettable_condition,
  forget_assignments, decaying_condition, ended_condition, expire_assignments
)
values (
  'note', 'notes', 7, '{content,metadata,search_vector}', $$m.lifecycle_state <> 'retracted'$$,
  $$m.lifecycle_state <> 'retracted'$$, $$metadata = m.metadata || '{"forgotten": true}'$$,
  $$m.lifecycle_state <> 'retracted' and m.decay_rate > 0$$, 'false',
  $$metadata = (m.metadata - 'status') || '{"forgotten": true}'$$
);
select memory.refresh_memory_types() \g /dev/null
select memory.isolate_table('notes') \g /dev/null
alter table memory.notes owner to memory_owner;
create policy ranked_retrieval on memory.notes for select to memory_search using (true);
insert into memory.transitions (memory_type, aspect, from_state, to_state, event_type)
values
('note', 'lifecycle_state', '[*]', 'active', 'note_created'),
('note', 'lifecycle_state', 'active', 'fading', 'note_fading'),
('note', 'lifecycle_state', 'active', 'retracted', 'note_forgotten'),
('note', 'lifecycle_state', 'retracted', 'active', 'note_restored');
select memory.attach_triggers('note') \g /dev/null

insert into memory.notes (tenant_id, content, created_at, updated_at)
values
('a', 'The tea is in the blue tin', '2026-01-01Z', '2026-01-01Z'),
('b', 'The tea is in the safe', '2026-01-01Z', '2026-01-01Z');
select n.id as note from memory.notes as n where n.tenant_id = 'a' \gset
select memory.store_fact('Ada', 'drinks', 'tea with milk', as_of => '2026-01-01Z') as fact \gset

select is(memory.memory_type_names(), '{episode,fact,rule,entry,note}', 'a declared type is searched');
select is(
  memory_test.events_of(:'note'), '{note_created}', 'the creation of a memory of a new type is audited'
);
select results_eq(
  $$ select s.memory_type, s.content from memory.search('tea', as_of => '2026-01-02Z') as s order by 1 $$,
  $$ values ('fact', 'tea with milk'), ('note', 'The tea is in the blue tin') $$,
  'search finds a memory of a new type beside the others, and of this tenant only'
);
select results_eq(
  $$ select s.memory_type from memory.recall('blue tin', as_of => '2026-01-02Z') as s $$,
  $$ values ('note') $$, 'recall finds a memory of a new type'
);
select is(
  (memory.get_memory('note', :'note', '2026-01-03Z') ->> 'reference_count')::integer, 2,
  'recall and get_memory count references to a memory of a new type'
);
select results_eq(
  $$ select s.content from memory.search('tea', types => '{note}', as_of => '2026-01-02Z') as s $$,
  $$ values ('The tea is in the blue tin') $$, 'a search can be limited to a new type'
);
select is(
  (select q.memory_id from memory.embedding_queue as q where q.memory_type = 'note' and q.tenant_id = 'a'),
  :'note', 'a memory of a new type waits for its vector'
);
select results_eq(
  $$ select c.documents from unnest(memory.corpus_sizes('{note}')) as c $$, $$ values (1::bigint) $$,
  'a memory of a new type counts in the statistics of the corpus'
);
select is(
  (select o.lifecycle_state from memory.memory_overview as o where o.memory_type = 'note' and o.content ~ 'blue'),
  'active', 'the overview shows a memory of a new type'
);

select memory.register_embedding_version('model', '1', 384) as version \gset
select memory.set_embedding('note', :'note', memory_test.axis(1), :'version') \g /dev/null
select results_eq(
  $$ select s.content, s.similarity from memory.semantic_search('note', memory_test.axis(1), as_of => '2026-01-02Z') as s $$,
  $$ values ('The tea is in the blue tin', 1.0::float8) $$, 'a memory of a new type is found by its vector'
);
select memory.configure('{"text_search_config": "simple"}') \g /dev/null
select is(
  (select n.text_search_config from memory.notes as n where n.id = :'note'), 'simple',
  'a change of language reaches a memory of a new type'
);
select is_empty(
  $$ select v.* from memory.verify_chain() as v where v.memory_type = 'note' $$,
  'the verification of the audit stream accepts a memory of a new type'
);

update memory.notes as n set content = 'The tea is in the red tin', updated_at = '2026-01-04Z' where n.id = :'note';
select results_eq(
  format($$ select r.image ->> 'content' from memory.replay_memory('note', %L) as r order by r.position $$, :'note'),
  $$ values ('The tea is in the blue tin'), ('The tea is in the red tin') $$,
  'the history of a memory of a new type keeps what it said'
);
select results_eq(
  $$ select s.content from memory.rank_memories('tin', known_at => '2026-01-02Z', as_of => '2026-01-05Z') as s $$,
  $$ values ('The tea is in the blue tin') $$, 'the past knows a memory of a new type'
);
select is(
  (select l.created from memory.create_link('fact', :'fact', 'note', :'note', 'supports') as l), true,
  'a memory of a new type can be linked'
);
select is(
  memory.confirm_memory('note', :'note', '2026-01-05Z'), true, 'a memory of a new type that decays can be confirmed'
);
select results_eq(
  $$ select s.memory_type, s.checked, s.fading from memory.run_decay_sweep('2026-01-25Z') as s order by 1 $$,
  $$ values ('fact', 1::bigint, 0::bigint), ('note', 1, 1), ('rule', 0, 0) $$,
  'the decay sweep lets a memory of a new type fade'
);
select is(
  (select n.lifecycle_state from memory.notes as n where n.id = :'note'), 'fading', 'a memory of a new type has the state that the sweep gave it'
);
select throws_ok(
  format($$ select memory.forget_memory('note', %L, '2026-01-26Z') $$, :'note'), 'PM003', null,
  'a transition that is not declared for a new type is refused'
);
insert into memory.transitions (memory_type, aspect, from_state, to_state, event_type)
values ('note', 'lifecycle_state', 'fading', 'retracted', 'note_forgotten');
select is(memory.forget_memory('note', :'note', '2026-01-26Z'), true, 'a memory of a new type can be forgotten');
select is_empty(
  $$ select from memory.search('tin', as_of => '2026-01-27Z') $$, 'a forgotten memory of a new type is not found'
);
select is(memory.restore_memory('note', :'note', '2026-01-28Z'), true, 'a memory of a new type can be restored');
select is(
  memory_test.events_of(:'note'), '{note_created,note_fading,note_forgotten,note_restored}',
  'every change of state of a memory of a new type is audited'
);

select * from finish();
rollback;
