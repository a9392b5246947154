begin;
\ir fixtures.sql
select plan(13);

select memory.register_embedding_version('model', '1') as version_id \gset
insert into memory.facts
  (tenant_id, id, subject, predicate, content, scope, importance, validity, confidence, permanence, decay_rate,
   created_at, last_referenced_at, embedding, embedding_version_id)
select
  'a', lpad(v.id::text, 32, '0')::uuid, v.name, 'drinks', v.content, v.scope, v.importance, v.validity, v.confidence, 'permanent', 0,
  '2026-01-01Z', v.referenced_at::timestamptz, memory_test.near(v.similarity), :'version_id'
from (values
  (1, 'near', 'tea', 'home', 5, 'active', 0.9, 0.95, null),
  (2, 'important', 'tea', 'global', 10, 'active', 0.9, 0.80, '2026-01-08Z'),
  (3, 'third', 'milk', 'home', 1, 'active', 0.9, 0.70, null),
  (4, 'elsewhere', 'tea', 'work', 5, 'active', 0.9, 0.99, null),
  (5, 'faint', 'tea', 'home', 5, 'active', 0.1, 0.98, null),
  (6, 'forgotten', 'tea', 'home', 5, 'retracted', 0.9, 0.97, null),
  (7, 'superseded', 'tea', 'home', 5, 'superseded', 0.9, 0.96, null),
  (8, 'expired', 'tea', 'home', 5, 'expired', 0.9, 0.95, null),
  (9, 'forgotten and far', 'wine', 'home', 5, 'retracted', 0.9, 0.10, null)
) as v (id, name, content, scope, importance, validity, confidence, similarity, referenced_at);

-- What-if: other settings, and the past

create function memory_test.subjects(arguments text) returns text[] language plpgsql as $$
declare v_subjects text[];
begin
  execute format(
    'select array_agg(x.subject order by x.position) from memory.recall_explain(
       ''tea'', ''home'', 2, embedding => memory_test.axis(1), %s as_of => ''2026-01-15Z''
     ) as x where x.position is not null', arguments
  ) into v_subjects;
  return v_subjects;
end;
$$;
select is(
  memory_test.subjects('settings => ''{"weight_importance": 0, "weight_recency": 0}'','), '{near,important}',
  'other weights give another order'
);
select is(
  memory_test.subjects('settings => ''{}'','), memory_test.subjects(''), 'no other settings give the same'
);
select is(
  memory_test.subjects('settings => ''{"min_confidence": 0}'','), '{near,faint}', 'a lower floor finds more'
);
select is(memory_test.subjects(''), '{important,near}', 'nothing of that is stored');
select is((select count(*) from memory.settings), 0::bigint, 'as the table shows');
select is(
  (
    select array_agg(round(x.score::numeric, 12) order by x.position)
    from memory.recall_explain(
      'tea', 'home', 2, embedding => memory_test.axis(1), settings => '{"relevance_sharpness": 3}', as_of => '2026-01-15Z'
    ) as x where x.position is not null
  ),
  (
    select array_agg(round(((3 * 0.4 * x.relevance + 0.3 * x.importance / 10 + 0.2 * x.recency + 0.1 * x.effective_confidence) / 1.8)::numeric, 12) order by x.position)
    from memory.recall_explain(
      'tea', 'home', 2, embedding => memory_test.axis(1), settings => '{"relevance_sharpness": 3}', as_of => '2026-01-15Z'
    ) as x where x.position is not null
  ),
  'the score follows from the settings that are tried'
);
select throws_ok(
  format('select memory.recall_explain(%L, settings => %L)', 'tea', c.settings), 'PM002', c.message, format('%s are refused', c.what)
)
from (values
  (1, 'settings out of range', '{"weight_recency": -1}', 'weight_recency is -1'),
  (2, 'unknown settings', '{"weight": 1}', 'unknown setting: weight'),
  (3, 'settings of another type', '{"weight_recency": "much"}', 'weight_recency is "much"'),
  (4, 'settings that are no object', '[]', 'settings are not a JSON object'),
  (5, 'words that a setting cannot be', '{"ranking": "best"}', 'ranking is best')
) as c (position, what, settings, message)
order by c.position;

select memory.store_fact('near', 'drinks', 'cocoa', scope => 'home', as_of => '2026-01-12Z') as cocoa \gset
select results_eq(
  $$ select x.position, x.outcome, x.subject, x.content
     from memory.recall_explain(
       'tea', 'home', 1, embedding => memory_test.axis(1), known_at => '2026-01-11Z', as_of => '2026-01-15Z'
     ) as x where x.subject in ('near', 'important') $$,
  $$ values (1::bigint, 'returned', 'near', 'tea'), (null, 'beyond limit', 'important', 'tea') $$,
  'of the past, what was relevant then is shown'
);
select results_eq(
  $$ select x.memory_type, x.id, x.content, x.score, x.relevance
     from memory.recall_explain('tea', 'home', 2, embedding => memory_test.axis(1), known_at => '2026-01-11Z', as_of => '2026-01-15Z') as x
     where x.position is not null $$,
  $$ select m.memory_type, m.id, m.content, m.score, m.relevance
     from memory.rank_memories('tea', 'home', 2, embedding => memory_test.axis(1), known_at => '2026-01-11Z', as_of => '2026-01-15Z') as m $$,
  'with the scores of then'
);

select * from finish();
rollback;
