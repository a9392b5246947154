begin;
\ir fixtures.sql
select plan(61);

-- A rule of January 1 with a vector, marked on January 2: + is helpful, - is harmful.
create function memory_test.a_rule(
  content text,
  outcomes text,
  reasons text[] default '{}'
)
  returns uuid
  language plpgsql
as $$
declare
  v_id uuid := memory.store_rule(
    content, metadata => '{"k": 1}', embedding => memory_test.axis(1), as_of => '2026-01-01Z'
  );
  v_outcomes text[] := string_to_array(outcomes, null);
begin
  for i in 1 .. cardinality(v_outcomes) loop
    if v_outcomes[i] = '+' then
      perform memory.mark_helpful(v_id, as_of => '2026-01-02Z');
    else
      perform memory.mark_harmful(v_id, reasons[i], as_of => '2026-01-02Z');
    end if;
  end loop;
  return v_id;
end;
$$;

create function memory_test.cleaned(as_of timestamptz)
  returns text
  language sql
  volatile
  begin atomic
    select concat_ws('/', h.inverted, h.promoted) from memory.run_rule_hygiene(as_of) as h;
  end;

create function memory_test.the_rule(rule_id uuid)
  returns table (
    content text,
    maturity text,
    permanence text,
    decay_rate float8,
    lifecycle_state text,
    metadata jsonb
  )
  language sql
  stable
  begin atomic
    select r.content, r.maturity, r.permanence, r.decay_rate, r.lifecycle_state, r.metadata
    from memory.rules as r where r.id = rule_id;
  end;

select memory.register_embedding_version('model', '1') as version_id \gset

-- The text of a warning

select is(
  memory.inverted_content('Call before nine', '["They sleep long", "It was a Sunday"]'),
  'ANTI-PATTERN: Do NOT Call before nine. This caused problems because: They sleep long; It was a Sunday',
  'a warning says what not to do and why'
);
select is(
  memory.inverted_content('Call before nine', r.reasons),
  'ANTI-PATTERN: Do NOT Call before nine. This caused problems because: repeated failures',
  format(
    'a warning without reasons (%s) mentions repeated failures', coalesce(r.reasons::text, 'NULL')
  )
)
from (values (1, null::jsonb), (2, '[]'), (3, '"x"')) as r (position, reasons)
order by r.position;
select is(
  memory.inverted_content(
    'Call before nine. .', '["It was a Sunday.", "it was a  Sunday", "They sleep long;", " ", "It was a Sunday"]'
  ),
  'ANTI-PATTERN: Do NOT Call before nine. This caused problems because: It was a Sunday; They sleep long',
  'a warning has one full stop, and each reason once'
);
select is(
  memory.inverted_content('Call before nine!', '["late"]'),
  'ANTI-PATTERN: Do NOT Call before nine! This caused problems because: late',
  'a warning keeps the mark that ends its rule'
);
select is(
  octet_length(memory.inverted_content(repeat('é', 524288), to_jsonb(array[repeat('x', 1024)]))), 1048576 - 1,
  'a warning that would be too long is cut between characters'
);
select matches(
  memory.inverted_content(repeat('é', 524288), '["late"]'), 'é\. This caused problems because: late$',
  'a warning that is cut keeps its reasons'
);

-- Inversion

select memory_test.a_rule('Call before nine', '---', '{It was a Sunday,NULL,They sleep long}') as bad_id \gset
select memory_test.a_rule('Offer tea', '++') as good_id \gset
select memory_test.a_rule('Ask twice', '--') as dubious_id \gset
select memory_test.a_rule('Forget it', '---') as forgotten_id \gset
select memory.forget_memory('rule', :'forgotten_id') \g /dev/null
select md5(string_agg(r.ctid::text || r::text, '' order by r.id)) as others_before
from memory.rules as r where r.id <> :'bad_id' \gset
select is(memory_test.cleaned('2026-01-03Z'), '1/0', 'a rule that is due is inverted');
select results_eq(
  format($$ select * from memory_test.the_rule(%L) $$, :'bad_id'),
  $$ values (
    'ANTI-PATTERN: Do NOT Call before nine. This caused problems because: It was a Sunday; They sleep long',
    'anti_pattern', 'permanent', 0.0::float8, 'active',
    '{"k": 1, "original_content": "Call before nine",
      "harmful_reasons": ["It was a Sunday", "They sleep long"],
      "inverted_from": {"maturity": "candidate", "permanence": "standard", "decay_rate": 0.01}}'::jsonb
  ) $$,
  'an inverted rule is a warning that does not decay and keeps what it was'
);
select is(
  (select md5(string_agg(r.ctid::text || r::text, '' order by r.id)) from memory.rules as r
   where r.id <> :'bad_id'),
  :'others_before', 'hygiene changes no other rule, not even a forgotten one that was due'
);
select is(
  (memory_test.events_of(:'bad_id'))[5:], '{rule_inverted,rule_updated}'::text[],
  'inverting a rule writes its events'
);
select is_empty(
  format($$ select e.* from memory.memory_events as e where e.memory_id = %L and e::text like '%%Sunday%%' $$, :'bad_id'),
  'the events of an inverted rule do not contain its text'
);
select is(memory_test.cleaned('2026-01-03Z'), '0/0', 'a second run of hygiene inverts nothing');
update memory.rules as r set metadata = r.metadata || '{"needs_inversion": true}' where r.id = :'bad_id';
select is(
  memory_test.cleaned('2026-01-03Z'), '0/0',
  'a warning is not inverted again, even if it is flagged'
);
update memory.rules as r set metadata = r.metadata - 'needs_inversion' where r.id = :'bad_id';
select is(
  (select r.search_vector from memory.rules as r where r.id = :'bad_id'),
  (select to_tsvector('english', r.content) from memory.rules as r where r.id = :'bad_id'),
  'a warning is indexed by its own words'
);
select results_eq(
  $$ select m.maturity from memory.keyword_search('rule', 'sunday problems') as m $$,
  $$ values ('anti_pattern') $$, 'a warning is found by its own words'
);
select matches(
  memory.context('sunday', 'home', as_of => '2026-01-04Z'), '## Warnings\n- ANTI-PATTERN: Do NOT Call before nine',
  'context lists an inverted rule among the warnings'
);
select throws_ok(
  format($$ select memory.mark_helpful(%L) $$, :'bad_id'), 'PM003', null,
  'a warning cannot be marked as helpful'
);
select memory.run_decay_sweep('2026-11-01Z') \g /dev/null
select is(
  (select r.lifecycle_state from memory.rules as r where r.id = :'bad_id'), 'active',
  'a warning does not decay'
);
select is(
  memory.store_rule('Whistle', idempotency_key => 'once', as_of => '2026-01-01Z'),
  memory.store_rule('Whistle', idempotency_key => 'once', as_of => '2026-01-01Z'),
  'storing a rule again with its idempotency key returns the same rule'
);
select m.id as once_id from memory.keyword_search('rule', 'Whistle') as m \gset
select memory.mark_harmful(:'once_id', as_of => '2026-01-02Z') from generate_series(1, 3) \g /dev/null
select memory_test.cleaned('2026-01-03Z') \g /dev/null
select is(
  memory.store_rule('Whistle', idempotency_key => 'once'), :'once_id'::uuid,
  'storing a rule again with its idempotency key returns it after it was inverted'
);

-- Vectors

select is(
  (select r.embedding is null and r.embedding_version_id is null from memory.rules as r where r.id = :'bad_id'),
  true, 'inverting a rule deletes the vector of its old text'
);
select results_eq(
  $$ select q.target, q.attempts, q.claimed_until from memory.embedding_queue as q
     where q.memory_id in (select r.id from memory.rules as r where r.content like '%nine%') $$,
  $$ values ('active', 0, null::timestamptz) $$, 'an inverted rule waits for a new vector'
);
select results_eq(
  format($$ select c.content from memory.claim_embedding_jobs() as c where c.memory_id = %L $$, :'bad_id'),
  format($$ select r.content from memory.rules as r where r.id = %L $$, :'bad_id'),
  'a worker claims the new text of an inverted rule'
);
select memory.set_embedding('rule', :'bad_id', memory_test.axis(2)) \g /dev/null
select is(
  (select r.embedding from memory.rules as r where r.id = :'bad_id'), memory_test.axis(2),
  'a worker can set the vector of an inverted rule'
);
select memory.start_reembedding('model', '2') as building_id \gset
select memory.set_embedding('rule', :'bad_id', memory_test.axis(3), :'building_id') \g /dev/null
select memory.claim_embedding_jobs(lease => '1 hour') \g /dev/null
update memory.rules as r set content = 'Do not call' where r.id = :'bad_id';
select results_eq(
  format(
    $$ select q.target, q.attempts, q.claimed_until from memory.embedding_queue as q
       where q.memory_id = %L order by q.target $$,
    :'bad_id'
  ),
  $$ values ('active', 0, null::timestamptz), ('building', 0, null) $$,
  'a rule whose text changes waits for vectors of all current versions'
);
select is_empty(
  format($$ select s.* from memory.staged_embeddings as s where s.memory_id = %L $$, :'bad_id'),
  'changing the text of a rule deletes the staged vector of the old text'
);
select memory.claim_embedding_jobs(lease => '1 hour') \g /dev/null
update memory.rules as r set content = 'Do not call at all' where r.id = :'bad_id';
select results_eq(
  format(
    $$ select q.target, q.attempts, q.claimed_until from memory.embedding_queue as q
       where q.memory_id = %L order by q.target $$,
    :'bad_id'
  ),
  $$ values ('active', 0, null::timestamptz), ('building', 0, null) $$,
  'changing the text of a rule ends a worker''s claim of the old text'
);
select is(
  memory.set_embedding('rule', :'bad_id', memory_test.axis(2), text_md5 => md5('Do not call')), false,
  'a vector of the old text is refused'
);
select is(
  memory.set_embedding('rule', :'bad_id', memory_test.axis(2), :'building_id', md5('Do not call')), false,
  'a vector of the old text is refused for the version being built'
);
select is(
  (
    select count(*)
    from memory.embedding_queue as q
    left join memory.staged_embeddings as s on s.memory_id = q.memory_id
    where q.memory_id = :'bad_id' and s.memory_id is null
  ),
  2::bigint, 'a vector of the old text leaves the queue unchanged'
);
select is(
  memory.set_embedding(
    'rule', :'bad_id', memory_test.axis(2), :'building_id', md5('Do not call at all')
  ),
  true, 'a vector of the new text is accepted for the version being built'
);
select is(
  memory.set_embedding('rule', :'bad_id', memory_test.axis(2), text_md5 => md5('Do not call at all')), true,
  'a vector of the new text is accepted for the active version'
);
update memory.rules as r set content = r.content, importance = 6 where r.id = :'bad_id';
select is(
  (select r.embedding is not null from memory.rules as r where r.id = :'bad_id'), true,
  'a rule whose text stays the same keeps its vector'
);
select memory.cancel_reembedding() \g /dev/null

-- Reverting an inversion

select memory_test.a_rule('Whisper', '---', '{Nobody hears it}') as whisper_id \gset
update memory.rules as r
set permanence = 'volatile', decay_rate = 0.03, metadata = r.metadata || '{"status": "fading"}'
where r.id = :'whisper_id';
update memory.rules as r set maturity = 'established' where r.id = :'whisper_id';
select r.content, r.maturity, r.permanence, r.decay_rate, r.metadata - '{needs_inversion,status}'::text[] as metadata
from memory.rules as r where r.id = :'whisper_id' \gset was_
select memory_test.cleaned('2026-01-03Z') \g /dev/null
select is(
  (select r.lifecycle_state from memory.rules as r where r.id = :'whisper_id'), 'active',
  'a fading rule is active once it is inverted'
);
select memory.set_embedding('rule', :'whisper_id', memory_test.axis(2)) \g /dev/null
select is(
  memory.revert_inversion(:'whisper_id', '2026-02-01Z'), 'established',
  'reverting an inversion returns the maturity of the rule'
);
select results_eq(
  format($$ select * from memory_test.the_rule(%L) $$, :'whisper_id'),
  format(
    $$ values (%L, %L, %L, %s::float8, 'active', %L::jsonb) $$,
    :'was_content', :'was_maturity', :'was_permanence', :was_decay_rate, :'was_metadata'
  ),
  'reverting an inversion restores text, maturity, permanence and metadata'
);
select is(
  (select r.last_confirmed_at from memory.rules as r where r.id = :'whisper_id'), '2026-02-01Z'::timestamptz,
  'the decay of a reverted rule starts again'
);
select is(
  (select r.embedding is null from memory.rules as r where r.id = :'whisper_id'), true,
  'a reverted rule waits for a vector again'
);
select is(
  (memory_test.events_of(:'whisper_id'))[array_length(memory_test.events_of(:'whisper_id'), 1) - 2:],
  '{rule_confirmed,rule_restored,rule_updated}'::text[], 'reverting an inversion writes its events'
);
select is(
  memory_test.cleaned('2026-02-02Z'), '0/0', 'hygiene does not invert a reverted rule again'
);
select memory.mark_harmful(:'whisper_id', as_of => '2026-02-02Z') \g /dev/null
select is(
  memory_test.cleaned('2026-02-02Z'), '1/0',
  'hygiene inverts a reverted rule again after further harm'
);

-- Age

select memory_test.a_rule('Greet', '++++++++++++++++') as greet_id \gset
select memory_test.a_rule('Smile', '++++++++++++++') as smile_id \gset
select memory_test.a_rule('Nod', '++++++++++++++++---') as nod_id \gset
update memory.rules as r set maturity = 'established' where r.id = :'nod_id' and r.maturity <> 'established';
select is(
  memory_test.cleaned('2026-01-30 23:59:59Z'), '0/0',
  'no rule is proven by its age before its thirtieth day is over'
);
select is(memory_test.cleaned('2026-01-31Z'), '0/1', 'a successful rule becomes proven by its age');
select is(
  (select string_agg(r.maturity, ' ' order by r.content) from memory.rules as r
   where r.id in (:'greet_id', :'nod_id', :'smile_id')),
  'proven established established',
  'a rule with too few successes or too little effectiveness is not proven by its age'
);
select is(
  (memory_test.events_of(:'greet_id'))[18:], '{rule_helpful,rule_promoted}'::text[],
  'promoting a rule by its age writes an event'
);

-- Bad input

select memory_test.as_tenant('b') \g /dev/null
select memory.store_rule('Foreign') as foreign_id \gset
update memory.rules as r set maturity = 'anti_pattern' where r.id = :'foreign_id';
select memory_test.as_tenant('a') \g /dev/null
select memory.store_rule('By hand') as by_hand_id \gset
update memory.rules as r set maturity = 'anti_pattern' where r.id = :'by_hand_id';
select memory_test.a_rule('Gone', '---') as gone_id \gset
select memory_test.cleaned('2026-01-03Z') \g /dev/null
select memory.forget_memory('rule', :'gone_id') \g /dev/null
select md5(string_agg(r::text, '' order by r.id)) as rules_before from memory.rules as r \gset
select throws_ok(format('select memory.revert_inversion(%s)', c.arguments), c.code, null, c.description)
from (values
  (1, quote_nullable(gen_random_uuid()), 'PM001',
    'reverting a rule that does not exist is refused'),
  (2, 'null', 'PM001', 'reverting a NULL rule is refused'),
  (3, quote_nullable(:'foreign_id'), 'PM001', 'reverting a rule of another tenant is refused'),
  (4, quote_nullable(:'good_id'), 'PM003', 'reverting a rule that was never inverted is refused'),
  (5, quote_nullable(:'by_hand_id'), 'PM003',
    'reverting a warning whose previous state is unknown is refused'),
  (6, quote_nullable(:'gone_id'), 'PM003', 'reverting a forgotten rule is refused'),
  (7, quote_nullable(:'once_id') || ', ''2025-12-31Z''', 'PM002',
    'reverting a rule before it was created is refused'),
  (8, quote_nullable(:'once_id') || ', ''infinity''', 'PM002',
    'reverting a rule at an infinite time is refused'),
  (9, quote_nullable(:'once_id') || ', null', 'PM002', 'reverting a rule at a NULL time is refused')
) as c (position, arguments, code, description)
order by c.position;
select throws_ok(
  format('select memory.run_rule_hygiene(%L)', t.as_of), 'PM002', null,
  format('hygiene at the time %s is refused', coalesce(t.as_of, 'NULL'))
)
from unnest(array['infinity', null, (now() + interval '25 hours')::text]) as t (as_of);
select is(
  (select md5(string_agg(r::text, '' order by r.id)) from memory.rules as r), :'rules_before',
  'refused calls change no rule'
);
select throws_ok(
  $$ select memory.store_rule('x', metadata => '{"inverted_from": {}}') $$, 'PM002', null,
  'metadata cannot forge the previous state of a rule'
);

select * from finish();
rollback;
