begin;
\ir fixtures.sql
select plan(20);

select is_empty($$ select * from memory.context_explain('tea', 'home') $$, 'an empty memory gives no lines');

select memory.store_fact('Ada', 'drinks', 'tea with milk', importance => 9, as_of => '2026-01-01Z') as tea \gset
select memory.store_fact('Ada', 'brews', 'tea ' || repeat('very long and hot ', 60), importance => 5, as_of => '2026-01-01Z') as long \gset
select memory.store_fact('Ada', 'buys', 'tea on ' || repeat('Monday and Tuesday ', 12), importance => 1, as_of => '2026-01-01Z') as late \gset
select memory.store_rule('Offer tea to Ada', as_of => '2026-01-01Z') as rule \gset
select memory.store_episode('Ada had tea', 'home', as_of => '2026-01-02Z') as episode \gset
select c.id as note from memory.create_entry('# Tea in the kitchen', as_of => '2026-01-01Z') as c \gset

-- What the text is made of, line by line.
create function memory_test.text_of(budget integer, episodes boolean, entries boolean) returns text language sql as $$
  select E'# Memory Context\n' || coalesce(string_agg(s.text, '' order by s.place), '')
  from (
    select
      min(c.position) as place,
      format(E'\n## %s\n', c.section) || string_agg(c.content || E'\n', '' order by c.position) as text
    from memory.context_explain(
      'tea', 'home', budget, episodes, include_entries => entries, as_of => '2026-01-03Z'
    ) as c
    where c.outcome <> 'dropped'
    group by c.section
  ) as s
$$;

select results_eq(
  $$ select c.position, c.section, c.memory_type, c.id, c.outcome, c.reason
     from memory.context_explain('tea', 'home', 3000, true, include_entries => true, as_of => '2026-01-03Z') as c $$,
  format(
    $$ values
       (1::bigint, 'Key Facts', 'fact', %L::uuid, 'kept', null),
       (2, 'Key Facts', 'fact', %L, 'kept', null),
       (3, 'Key Facts', 'fact', %L, 'kept', null),
       (4, 'Active Rules', 'rule', %L, 'kept', null),
       (5, 'Recent Episodes', 'episode', %L, 'kept', null),
       (6, 'Notes', 'entry', %L, 'kept', null) $$,
    :'tea', :'long', :'late', :'rule', :'episode', :'note'
  ),
  'with room for all, each line is kept, in the order of the text'
);
select is(
  memory_test.text_of(b.budget, b.episodes, b.entries),
  memory.context('tea', 'home', b.budget, b.episodes, include_entries => b.entries, as_of => '2026-01-03Z'),
  format('the lines are those of the text with %s tokens, episodes %s, entries %s', b.budget, b.episodes, b.entries)
)
from (values
  (1, 5, true, true), (2, 40, false, false), (3, 60, true, false), (4, 120, true, true), (5, 250, true, false), (6, 300, false, true), (7, 3000, true, true)
) as b (position, budget, episodes, entries)
order by b.position;

select results_eq(
  $$ select c.outcome, c.reason from memory.context_explain('tea', 'home', 250, as_of => '2026-01-03Z') as c where c.content like '%[brews]%' $$,
  $$ values ('shortened', 'longer than a line may be') $$,
  'a long line says that it was shortened'
);
select results_eq(
  $$ select c.position, c.outcome, c.reason from memory.context_explain('tea', 'home', 60, as_of => '2026-01-03Z') as c where c.content like '%[buys]%' $$,
  $$ values (null::bigint, 'dropped', 'no room: 19 tokens were left') $$,
  'a line without room says how much there was'
);
select isnt_empty(
  $$ select from generate_series(20, 200, 10) as b cross join lateral memory.context_explain('tea', 'home', b, as_of => '2026-01-03Z') as c
     where c.outcome = 'shortened' and c.reason = 'shortened to what was left of the budget' $$,
  'a line that is shortened to fit says so'
);
select ok(
  (select bool_and(c.tokens = ceil((length(c.content) + 1) / 4.0)) from memory.context_explain('tea', 'home', as_of => '2026-01-03Z') as c),
  'tokens are those of the line and its break'
);
select ok(
  (select sum(c.tokens) filter (where c.outcome <> 'dropped') <= 60 from memory.context_explain('tea', 'home', 60, as_of => '2026-01-03Z') as c),
  'what stays is within the budget'
);
select results_eq(
  $$ select c.score from memory.context_explain('tea', 'home', as_of => '2026-01-03Z') as c where c.memory_type = 'fact' $$,
  $$ select m.score from memory.rank_memories('tea', 'home', 20, '{fact}', as_of => '2026-01-03Z') as m $$,
  'scores are those of the ranking'
);
select memory.configure('{"context_counts_references": true}') \g /dev/null
select count(*) as shown from memory.context_explain('tea', 'home', as_of => '2026-01-03Z') \gset
select is((select max(f.reference_count) from memory.facts as f), 0, 'explaining counts no reference, whatever the settings');
select memory.context('tea', 'home', as_of => '2026-01-03Z') \g /dev/null
select is((select max(f.reference_count) from memory.facts as f), 1, 'as the text itself may');
select throws_ok($$ select memory.context_explain('tea', 'home', 4) $$, 'PM002', null, 'a budget without room for the heading is refused');
select throws_ok($$ select memory.context_explain('tea', '*') $$, 'PM002', null, 'as is what is no butler');
select memory_test.as_tenant('b') \g /dev/null
select is_empty($$ select * from memory.context_explain('tea', 'home') $$, 'another tenant sees nothing');

select * from finish();
rollback;
