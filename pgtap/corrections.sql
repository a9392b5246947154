begin;
\ir fixtures.sql
select plan(107);

-- What consolidation may change, and what waits as a proposal.

-- One episode, consolidated at once: each element of the answer has it as evidence unless it names
-- some. Returns the run.
create function memory_test.tell(
  said text,
  answer jsonb,
  at timestamptz,
  source_class text default 'user',
  butler text default 'home'
)
  returns memory.consolidation_runs
  language plpgsql
as $$
declare
  v_episode_id uuid := memory.store_episode(said, butler, source_class => source_class, created_at => at, as_of => at);
  v_run_id uuid;
  v_run memory.consolidation_runs;
begin
  -- What has failed before goes alone, and first.
  loop
    select c.run_id into strict v_run_id
    from memory.claim_episodes(butler, as_of => at + interval '1 hour') as c
    order by c.episode_id = v_episode_id desc
    limit 1;
    exit when (
      select v_episode_id = any (r.episode_ids)
      from memory.consolidation_runs as r
      where r.id = v_run_id
    );
    perform memory.apply_consolidation(v_run_id, '{}', as_of => at + interval '1 hour');
  end loop;
  select r.* into v_run
  from memory.apply_consolidation(v_run_id, memory_test.cited(answer, v_episode_id), as_of => at + interval '1 hour') as r;
  return v_run;
end;
$$;
create function memory_test.cited(answer jsonb, episode_id uuid)
  returns jsonb
  language sql
as $$
  select coalesce(jsonb_object_agg(l.key, e.items), '{}')
  from jsonb_each(answer) as l
  cross join lateral (
    select jsonb_agg(
      case jsonb_typeof(i.item) when 'object' then jsonb_build_object('evidence', jsonb_build_array(episode_id)) || i.item else i.item end
      order by i.place
    ) as items
    from jsonb_array_elements(l.value) with ordinality as i (item, place)
  ) as e;
$$;
create function memory_test.fact(subject text, predicate text, content text)
  returns jsonb
  language sql
  return jsonb_build_object('new_facts', jsonb_build_array(jsonb_build_object(
    'subject', subject, 'predicate', predicate, 'content', content
  )));
create function memory_test.action(list text, target_id uuid, more jsonb default '{}')
  returns jsonb
  language sql
  return jsonb_build_object(list, jsonb_build_array(jsonb_build_object('target_id', target_id) || more));
create function memory_test.active(subject text)
  returns setof text
  language sql
  stable
as $$
  select format('%s: %s', f.predicate, f.content)
  from memory.facts as f
  where f.tenant_id = 'a' and f.subject = active.subject and f.validity = 'active'
  order by 1
$$;
-- The proposals that wait, the oldest first.
create function memory_test.pending()
  returns setof memory.consolidation_proposals
  language sql
  stable
as $$
  select p.* from memory.consolidation_proposals as p
  where p.tenant_id = 'a' and p.status = 'proposed'
  order by p.created_at, p.run_id, p.position
$$;
create function memory_test.reject_all()
  returns void
  language sql
as $$
  select memory.reject_proposals(p.run_id, array[p.position], '2026-09-01Z') from memory_test.pending() as p
$$;

-- A correction by the user

select memory.store_fact('Mara', 'home city', 'Rome', as_of => '2026-01-01Z') as rome \gset
select is(
  (select f.observed_at from memory.facts as f where f.id = :'rome'), '2026-01-01Z'::timestamptz,
  'a stated fact was observed when it was stored'
);
select (r).* from memory_test.tell(
  'I moved to Lisbon', memory_test.action('updated_facts', :'rome', '{"content": "Lisbon"}'), '2026-02-01Z'
) as r \gset said_
select is(
  array[:said_facts_created, :said_facts_superseded, :said_contradicted, :said_rejected], '{1,1,0,0}'::integer[],
  'what the user says later supersedes what was stated'
);
select results_eq(
  $$ select f.content, f.validity, f.valid_from, f.valid_to, f.observed_at, f.trust from memory.facts as f where f.subject = 'Mara' order by f.valid_from $$,
  $$ values
     ('Rome', 'superseded', '2026-01-01Z'::timestamptz, '2026-02-01Z'::timestamptz, '2026-01-01Z'::timestamptz, 'user'),
     ('Lisbon', 'active', '2026-02-01Z', null, '2026-02-01Z', 'user') $$,
  'a correction holds from the time of its evidence, and what it supersedes until then'
);
select results_eq(
  $$ select f.scope, f.predicate from memory.facts as f where f.content = 'Lisbon' $$, $$ values ('global', 'home city') $$,
  'a correction has the scope and the predicate of what it corrects'
);
select is_empty(
  $$ select c.kind from memory.list_contradictions(as_of => '2026-02-02Z') as c $$, 'an applied correction contradicts nothing'
);

-- What an agent observed is trusted less than what was stated

select memory_test.tell(
  'Mara seems to be in Porto', memory_test.fact('Mara', 'home_city', 'Porto'), '2026-03-01Z', 'agent'
) \g /dev/null
select results_eq($$ select memory_test.active('Mara') $$, $$ values ('home city: Lisbon') $$, 'less trusted evidence changes nothing');
select results_eq(
  $$ select p.action, p.memory_type, f.content, p.content, p.reason, p.quotes, p.trust, p.observed_at, p.created_at
     from memory_test.pending() as p join memory.facts as f on f.id = p.memory_id $$,
  $$ values (
       'new_fact', 'fact', 'Lisbon', '[Mara] [home city]: Porto', 'its trust is user, that of the evidence is agent',
       '{"Mara seems to be in Porto"}'::text[], 'agent', '2026-03-01Z'::timestamptz, '2026-03-01T01:00Z'::timestamptz
     ) $$,
  'but it waits as a proposal, with the memory concerned, its text, its evidence and the reason'
);
select results_eq(
  $$ select r.status, r.contradicted, r.rejected from memory.list_consolidation_runs(max_results => 1) as r $$,
  $$ values ('done', 1, 0) $$, 'a run that leaves proposals is done'
);
select memory_test.tell(
  'Porto once more', memory_test.fact('Mara', 'Home city', ' PORTO'), '2026-03-03Z', 'agent'
) \g /dev/null
select results_eq(
  $$ select p.quotes, cardinality(p.evidence), p.trust, p.observed_at from memory_test.pending() as p $$,
  $$ values ('{"Porto once more","Mara seems to be in Porto"}'::text[], 2, 'agent', '2026-03-03Z'::timestamptz) $$,
  'the same proposal waits once, with the evidence of both'
);
select memory_test.tell(
  'Porto, says the web', memory_test.fact('Mara', 'Home city', 'porto'), '2026-03-04Z', 'external'
) \g /dev/null
select results_eq(
  $$ select p.quotes[1], cardinality(p.evidence), p.trust, p.observed_at from memory_test.pending() as p $$,
  $$ values ('Porto once more', 2, 'agent', '2026-03-03Z'::timestamptz) $$, 'less trusted evidence does not lower its trust'
);

-- It is shown

select results_eq(
  $$ select c.kind, c.source_type, c.source_content, c.target_content, c.reason, c.position from memory.list_contradictions(as_of => '2026-03-04Z') as c $$,
  $$ values (
       'proposal', 'fact', '[Mara] [home city]: Porto', '[Mara] [home city]: Lisbon', 'its trust is user, that of the evidence is agent', 1::bigint
     ) $$,
  'list_contradictions lists a proposal once, with what it would say, and no link of its evidence'
);
select is(
  (select count(*) from memory.list_contradictions(as_of => '2026-06-04Z') as c), 1::bigint,
  'also when its evidence has expired'
);
select matches(
  memory.context('where does Mara live', 'home', as_of => '2026-03-04Z'), 'Lisbon \(confidence: [0-9.]+, contradicted: Porto\)',
  'a context marks the fact, and shows what an agent said, though an external source said it too'
);
select memory_test.tell(
  'Porto it is, I think', memory_test.fact('Mara', 'home city', 'Faro'), '2026-03-05Z', 'agent'
) \g /dev/null
select matches(
  memory.context('where does Mara live', 'home', as_of => '2026-03-06Z'), 'Lisbon \(confidence: [0-9.]+, contradicted: Faro\)',
  'a context shows the newest correction that waits, if nothing less trusted than an agent said it'
);
select memory_test.tell(
  'long', memory_test.fact('Mara', 'home city', repeat('Faro is a city. ', 100)), '2026-03-06Z', 'agent'
) \g /dev/null
select ok(
  length(substring(memory.context('where does Mara live', 'home', as_of => '2026-03-07Z') from 'contradicted: [^\n]*')) < 150,
  'a context shows the beginning of a long one'
);
select ok(
  octet_length(memory.context('where does Mara live', 'home', token_budget => 40, as_of => '2026-03-07Z')) <= 160,
  'and stays within its budget'
);

-- It is decided

select p.run_id, p.position from memory_test.pending() as p order by p.created_at limit 1 \gset
select results_eq(
  format($$ select d.remark, d.before, d.after, d.reason, cardinality(d.evidence), d.butler from memory.preview_proposals(%L) as d $$, :'run_id'),
  $$ values (
       'would be superseded; its trust is user, that of the evidence is agent', 'Lisbon', 'Porto',
       'its trust is user, that of the evidence is agent', 2, 'home'
     ) $$,
  'preview_proposals says what accepting would do, and why it waits'
);
select is(
  (select count(*) from memory.preview_proposals()), 3::bigint, 'preview_proposals without a run shows all that wait'
);
select results_eq(
  $$ select d.source_run_id, d.position from memory.preview_proposals(max_results => 2) as d $$,
  $$ select d.source_run_id, d.position from memory.preview_proposals() as d limit 2 $$,
  'max_results limits how many are shown, the oldest first'
);
select throws_ok(
  $$ select from memory.preview_proposals(max_results => 0) $$, 'PM002', null, 'a limit of no proposals is refused'
);
select memory.reject_proposals(:'run_id', as_of => '2026-03-08Z') \g /dev/null
select is(
  (select count(*) from memory.preview_proposals()), 2::bigint, 'what is rejected waits no longer'
);
select is(
  memory_test.events_of((select p.memory_id from memory.consolidation_proposals as p where p.status = 'rejected' limit 1)) @> '{proposal_created,proposal_updated,proposal_rejected}',
  true, 'proposals and decisions are in the audit stream'
);
select is(
  (select count(*) from memory.list_contradictions(as_of => '2026-03-08Z') as c where c.source_content like '%Porto%'), 0::bigint,
  'what was rejected contradicts no longer, though its evidence is there'
);
-- The same evidence again, as after pymem consolidate --again.
create procedure memory_test.propose_again(at timestamptz)
  language plpgsql
as $$
declare
  v_proposal memory.consolidation_proposals;
  v_run memory.consolidation_runs;
begin
  select p.* into v_proposal from memory.consolidation_proposals as p where p.status = 'rejected' order by p.created_at limit 1;
  insert into memory.consolidation_runs as r (tenant_id, butler, episode_ids, started_at, leased_until)
  values ('a', 'home', v_proposal.evidence, at, at + interval '1 hour')
  returning r.* into v_run;
  perform memory.apply_consolidation(v_run.id, memory_test.cited(memory_test.fact('Mara', 'home city', 'Porto'), v_proposal.evidence[1]), as_of => at);
end;
$$;
call memory_test.propose_again('2026-03-09Z');
select is(
  (select count(*) from memory.preview_proposals()), 2::bigint, 'what was rejected is not asked again for the same evidence'
);
select memory_test.tell(
  'Now it is Porto', memory_test.fact('Mara', 'home city', 'Porto'), '2026-03-10Z', 'agent'
) \g /dev/null
select is(
  (select count(*) from memory.preview_proposals()), 3::bigint, 'but for new evidence'
);
-- The episodes are gone by then.
select memory.run_episode_cleanup(as_of => '2026-05-01Z') \g /dev/null
select is((select count(*) from memory.episodes as e where e.butler = 'home'), 0::bigint, 'episodes are deleted after days');
select p.run_id, p.position from memory_test.pending() as p order by p.created_at desc limit 1 \gset
select results_eq(
  format($$ select r.status, r.facts_created, r.facts_superseded, r.rejected from memory.accept_proposals(%L, as_of => '2026-05-02Z') as r $$, :'run_id'),
  $$ values ('done', 1, 1, 0) $$, 'accepting a proposal forces what waited'
);
select results_eq(
  $$ select f.content, f.trust, f.observed_at, f.valid_from, f.source_episode_id, f.confidence from memory.facts as f where f.subject = 'Mara' and f.validity = 'active' $$,
  $$ values ('Porto', 'agent', '2026-03-10Z'::timestamptz, '2026-03-10Z'::timestamptz, null::uuid, 0.8::float8) $$,
  'with the trust and the time of its evidence, though that is gone'
);
select results_eq(
  $$ select d.before, d.after, d.remark from memory.preview_proposals() as d where d.after = 'Faro' $$,
  $$ values ('Porto', 'Faro', 'would be superseded; the evidence is not newer than what is known') $$,
  'another proposal concerns what holds by now'
);
select is(
  (select r.facts_superseded from memory_test.pending() as p cross join memory.accept_proposals(p.run_id, as_of => '2026-05-03Z') as r where p.item ->> 'content' = 'Faro'),
  1, 'and supersedes that'
);
select results_eq(
  $$ select f.content, f.valid_from, f.valid_to from memory.facts as f where f.subject = 'Mara' order by f.created_at offset 2 $$,
  $$ values ('Porto', '2026-03-10Z'::timestamptz, '2026-03-10Z'::timestamptz), ('Faro', '2026-03-10Z', null) $$,
  'the accepted one holds at the earliest since that began'
);
select memory.run_episode_cleanup(as_of => '2026-05-30Z') \g /dev/null
select is((select count(*) from memory.preview_proposals()), 1::bigint, 'a proposal stays for 90 days');
select memory.run_episode_cleanup(as_of => '2026-07-01Z') \g /dev/null
select is((select count(*) from memory.preview_proposals()), 0::bigint, 'and then cleanup deletes it');

-- An update of what is no longer current can be accepted, and is rejected otherwise

select memory.store_fact('Ole', 'job', 'cook', as_of => '2026-01-01Z') as cook \gset
select memory_test.tell('x', memory_test.action('updated_facts', :'cook', '{"content": "baker"}'), '2026-02-01Z', 'agent') \g /dev/null
select memory.store_fact('Ole', 'job', 'clerk', as_of => '2026-03-01Z') \g /dev/null
select is(
  (memory_test.tell('x', memory_test.action('updated_facts', :'cook', '{"content": "diver"}'), '2026-04-01Z')).errors -> 0 ->> 'message',
  format('fact %s is superseded and no longer current', :'cook'), 'an answer cannot update what is no longer current'
);
select is(
  (select r.facts_superseded from memory_test.pending() as p cross join memory.accept_proposals(p.run_id, as_of => '2026-04-02Z') as r), 1,
  'who accepts an update corrects what holds by then'
);
select results_eq($$ select memory_test.active('Ole') $$, $$ values ('job: baker') $$, 'and it holds');

-- Newer and older evidence

select memory_test.tell('I left Alpha, I work at Beta', memory_test.fact('Ida', 'employer', 'Beta'), '2026-06-01Z') \g /dev/null
select memory_test.tell('I work at Alpha', memory_test.fact('Ida', 'employer', 'Alpha'), '2026-05-01Z') \g /dev/null
select results_eq($$ select memory_test.active('Ida') $$, $$ values ('employer: Beta') $$, 'older evidence, tried again, does not supersede newer knowledge');
select results_eq(
  $$ select p.item ->> 'content', p.reason from memory_test.pending() as p $$, $$ values ('Alpha', 'the evidence is not newer than what is known') $$,
  'it waits as a proposal'
);
select memory_test.reject_all() \g /dev/null
select memory_test.tell('Beta and Gamma', memory_test.fact('Ida', 'employer', 'Gamma'), '2026-06-01Z') \g /dev/null
select is((select count(*) from memory_test.pending()), 1::bigint, 'evidence of the same time is not newer');
select memory_test.reject_all() \g /dev/null
select id as beta from memory.facts where content = 'Beta' \gset
select memory_test.tell('Still at Beta', memory_test.fact('Ida', 'employer', 'beta'), '2026-06-10Z') \g /dev/null
select is((select f.observed_at from memory.facts as f where f.id = :'beta'), '2026-06-10Z'::timestamptz, 'a confirmation raises when it was observed, to the time of its evidence');
select memory.confirm_memory('fact', :'beta', '2026-06-12Z') \g /dev/null
select is((select f.observed_at from memory.facts as f where f.id = :'beta'), '2026-06-12Z'::timestamptz, 'confirming by hand raises it too');
select memory_test.tell('At Delta', memory_test.fact('Ida', 'employer', 'Delta'), '2026-06-11Z') \g /dev/null
select results_eq($$ select memory_test.active('Ida') $$, $$ values ('employer: Beta') $$, 'evidence from before the last confirmation changes nothing');
select memory_test.reject_all() \g /dev/null
select memory_test.tell('Ida works at Beta', memory_test.fact('Ida', 'employer', 'Beta'), '2026-06-20Z', 'external') \g /dev/null
select results_eq(
  format($$ select f.trust, f.observed_at, f.last_confirmed_at from memory.facts as f where f.id = %L $$, :'beta'),
  $$ values ('user', '2026-06-12Z'::timestamptz, '2026-06-20T01:00Z'::timestamptz) $$,
  'what an external source confirms keeps its trust, and the user may still correct it'
);
select is(
  (select l.relation from memory.memory_links as l where l.source_type = 'episode' and l.target_id = :'beta' and l.relation <> 'contradicts'), 'supports',
  'the source supports it'
);
select is_empty(
  $$ select r.problem from memory.facts as f cross join lateral memory.replay_memory('fact', f.id) as r where f.tenant_id = 'a' and r.problem is not null $$,
  'the history of all of these has no problems'
);

-- The setting consolidation_supersedes, and permanent facts

select memory.store_fact('Per', 'age', '30', as_of => '2026-01-01Z') \g /dev/null
select memory_test.tell('x', memory_test.fact('Per', 'shoe', '40'), '2026-01-01Z') \g /dev/null
select memory.configure('{"consolidation_supersedes": "inferred_only"}') \g /dev/null
select memory_test.tell('y', memory_test.fact('Per', 'age', '31') , '2026-02-01Z') \g /dev/null
select memory_test.tell('y', memory_test.fact('Per', 'shoe', '41') , '2026-02-02Z') \g /dev/null
select results_eq($$ select memory_test.active('Per') $$, $$ values ('age: 30'), ('shoe: 41') $$, 'with inferred_only, what was stated stays');
select is((select p.reason from memory_test.pending() as p), 'it was stated, and consolidation_supersedes is inferred_only', 'and its correction waits');
select memory_test.reject_all() \g /dev/null
select memory.configure('{"consolidation_supersedes": "review"}') \g /dev/null
select memory_test.tell('z', memory_test.fact('Per', 'shoe', '42') || '{"new_rules": [{"content": "Ask Per"}]}' , '2026-02-03Z') \g /dev/null
select results_eq($$ select memory_test.active('Per') $$, $$ values ('age: 30'), ('shoe: 41') $$, 'with review, nothing that is known changes');
select is((select count(*) from memory.rules as r where r.content = 'Ask Per'), 1::bigint, 'but what is new is stored');
select memory.configure('{"consolidation_supersedes": "same_trust"}') \g /dev/null
select memory_test.reject_all() \g /dev/null
select memory.store_fact('Per', 'blood group', 'A', permanence => 'permanent', as_of => '2026-01-01Z') \g /dev/null
select memory_test.tell('It is B', memory_test.fact('Per', 'blood group', 'B') , '2026-02-04Z') \g /dev/null
select is((select p.reason from memory_test.pending() as p), 'it is permanent', 'the correction of a permanent fact waits, whoever says it');
select memory.accept_proposals(p.run_id, as_of => '2026-02-05Z') from memory_test.pending() as p \g /dev/null
select results_eq(
  $$ select f.content, f.permanence from memory.facts as f where f.predicate = 'blood group' and f.validity = 'active' $$, $$ values ('B', 'permanent') $$,
  'who accepts it keeps it permanent'
);

-- Confirmations

select memory.store_fact('Per', 'tea', 'green', as_of => '2026-01-01Z') as tea \gset
select is(
  (memory_test.tell('c', jsonb_build_object('confirmations', jsonb_build_array(:'tea')), '2026-02-06Z')).errors -> 0 ->> 'message',
  format('fact %s is stated or permanent, and its confirmation has no evidence', :'tea'), 'what was stated is not confirmed without evidence'
);
select is(
  (memory_test.tell('c', memory_test.action('confirmations', :'tea'), '2026-02-07Z')).confirmed, 1, 'but with evidence'
);
select is(
  (select f.observed_at from memory.facts as f where f.id = :'tea'), '2026-02-07Z'::timestamptz, 'which says when it was observed'
);
select id as shoe from memory.facts where content = '41' \gset
select is(
  (memory_test.tell('c', jsonb_build_object('confirmations', jsonb_build_array(:'shoe')), '2026-02-08Z')).confirmed, 1, 'what was inferred needs none'
);
select results_eq(
  format($$ select f.observed_at, f.last_confirmed_at from memory.facts as f where f.id = %L $$, :'shoe'),
  $$ values ('2026-02-02Z'::timestamptz, '2026-02-08T01:00Z'::timestamptz) $$, 'and was not observed by that'
);

-- Times that the text names

select (r).* from memory_test.tell(
  'times',
  '{"new_facts": [
    {"subject": "T", "predicate": "day", "content": "x", "valid_from": "2025-04-01"},
    {"subject": "T", "predicate": "month", "content": "x", "valid_from": "2025-04"},
    {"subject": "T", "predicate": "year", "content": "x", "valid_from": "2025"},
    {"subject": "T", "predicate": "time", "content": "x", "valid_from": "2025-04-01T10:00+02:00"},
    {"subject": "T", "predicate": "none", "content": "x", "valid_from": null, "valid_to": ""},
    {"subject": "T", "predicate": "until", "content": "x", "valid_to": "2026-12-31"},
    {"subject": "T", "predicate": "past", "content": "x", "valid_from": "2019", "valid_to": "2021"},
    {"subject": "T", "predicate": "bad", "content": "x", "valid_from": "now"},
    {"subject": "T", "predicate": "bad", "content": "x", "valid_from": "infinity"},
    {"subject": "T", "predicate": "bad", "content": "x", "valid_from": "last spring"},
    {"subject": "T", "predicate": "bad", "content": "x", "valid_from": "2026-02-31"},
    {"subject": "T", "predicate": "bad", "content": "x", "valid_from": "0001-01-01"},
    {"subject": "T", "predicate": "bad", "content": "x", "valid_from": "9999-01-01"},
    {"subject": "T", "predicate": "bad", "content": "x", "valid_from": 2025.5},
    {"subject": "T", "predicate": "bad", "content": "x", "valid_from": "2025", "valid_to": "2024"}
  ]}', '2026-03-01Z'
) as r \gset said_
select is(:said_rejected, 8, 'a time that is none, or out of all reason, rejects the element');
select results_eq(
  $$ select f.predicate, f.validity, f.valid_from, f.valid_to from memory.facts as f where f.subject = 'T' order by 1 $$,
  $$ values
     ('day', 'active', '2025-04-01Z'::timestamptz, null::timestamptz), ('month', 'active', '2025-04-01Z', null),
     ('none', 'active', '2026-03-01Z', null), ('past', 'superseded', '2019-01-01Z', '2021-01-01Z'),
     ('time', 'active', '2025-04-01T08:00Z', null), ('until', 'active', '2026-03-01Z', '2026-12-31Z'), ('year', 'active', '2025-01-01Z', null) $$,
  'facts hold from and until when the text says, otherwise from their evidence on'
);
select memory_test.tell(
  'I lived in Rome until 2020', '{"new_facts": [{"subject": "T", "predicate": "day", "content": "Rome", "valid_from": "2019", "valid_to": "2020"}]}', '2026-03-02Z'
) \g /dev/null
select is(
  (select count(*) from memory.facts as f where f.subject = 'T' and f.predicate = 'day' and f.validity = 'active' and f.content = 'x'), 1::bigint,
  'what has ended supersedes nothing'
);

-- Facts that end

select memory.store_fact('Uma', 'cat', 'Tom', as_of => '2026-01-01Z') as tom \gset
select memory_test.tell('The cat may be gone', memory_test.action('ended_facts', :'tom'), '2026-02-01Z', 'agent') \g /dev/null
select results_eq($$ select memory_test.active('Uma') $$, $$ values ('cat: Tom') $$, 'less trusted evidence does not end a fact');
select results_eq(
  $$ select c.source_content from memory.list_contradictions(as_of => '2026-02-02Z') as c where c.kind = 'proposal' $$,
  $$ values ('[Uma] [cat]: Tom (no longer holds)') $$, 'its end waits as a proposal'
);
select memory_test.tell('The cat may be gone, ' || n, memory_test.action('ended_facts', :'tom'), '2026-02-01Z'::timestamptz + n * interval '1 minute', 'agent')
from generate_series(1, 12) as n \g /dev/null
select results_eq(
  $$ select cardinality(p.evidence), p.quotes[1], cardinality(p.quotes), p.quotes[10]
     from memory.consolidation_proposals as p where p.status = 'proposed' $$,
  $$ values (13, 'The cat may be gone, 12', 10, 'The cat may be gone, 3') $$,
  'what is proposed again has all evidence, and quotes the newest ten'
);
select memory_test.reject_all() \g /dev/null
select (r).* from memory_test.tell(
  'I have no cat any more', memory_test.action('ended_facts', :'tom', '{"ended_at": "2026-01-20", "reason": "ran away"}'), '2026-02-03Z'
) as r \gset said_
select is(array[:said_facts_ended, :said_facts_created], '{1,0}'::integer[], 'the user ends a fact');
select results_eq(
  format($$ select f.validity, f.valid_to from memory.facts as f where f.id = %L $$, :'tom'), $$ values ('superseded', '2026-01-20Z'::timestamptz) $$,
  'it has been valid until then'
);
select is(
  (select count(*) from memory.recall('Uma cat', valid_at => '2026-01-10Z', as_of => '2026-02-04Z') as r where r.id = :'tom'), 1::bigint,
  'and what was valid before then still is found'
);
select results_eq(
  format($$ select u.memory_id, u.outcome from memory_test.undo_run(%L, '2026-02-05Z') as u $$, :'said_id'),
  format($$ values (%L::uuid, 'restored') $$, :'tom'), 'undoing the run restores it'
);
select results_eq(
  format($$ select f.validity, f.valid_to, f.metadata from memory.facts as f where f.id = %L $$, :'tom'), $$ values ('active', null::timestamptz, '{}'::jsonb) $$,
  'it holds again without end'
);
select is_empty(
  format($$ select u.* from memory_test.undo_run(%L, '2026-02-06Z') as u $$, :'said_id'), 'undoing again finds nothing'
);
select (r).* from memory_test.tell(
  'I give the cat away on 1 May', memory_test.action('ended_facts', :'tom', '{"ended_at": "2026-05-01"}'), '2026-03-03Z'
) as r \gset said_
select results_eq(
  format($$ select f.validity, f.valid_to from memory.facts as f where f.id = %L $$, :'tom'), $$ values ('active', '2026-05-01Z'::timestamptz) $$,
  'a fact that will end holds until then'
);
select results_eq(
  format($$ select u.outcome from memory_test.undo_run(%L, '2026-03-05Z') as u $$, :'said_id'), $$ values ('restored') $$, 'which is undone too'
);
select is((select f.valid_to from memory.facts as f where f.id = :'tom'), null, 'it has no end again');
select (r).* from memory_test.tell('No cat', memory_test.action('ended_facts', :'tom'), '2026-03-06Z') as r \gset said_
select memory.store_fact('Uma', 'cat', 'Kim', as_of => '2026-03-07Z') \g /dev/null
select results_eq(
  format($$ select u.outcome from memory_test.undo_run(%L, '2026-03-08Z') as u $$, :'said_id'), $$ values ('stored anew since') $$,
  'a fact whose key is taken stays ended'
);

select memory.store_fact('Uma', 'dog', 'Rex', as_of => '2026-03-07Z') as rex \gset
select (r).* from memory_test.tell('No dog', memory_test.action('ended_facts', :'rex'), '2026-03-08Z') as r \gset said_
select memory.restore_memory('fact', :'rex', '2026-03-09Z') \g /dev/null
select results_eq(
  format($$ select u.outcome from memory_test.undo_run(%L, '2026-03-10Z') as u $$, :'said_id'), $$ values ('restored since') $$,
  'a fact that was restored by hand holds already'
);

-- Rules

select memory.store_rule('Do not call before noon', scope => 'home', tags => '["phone"]', as_of => '2026-01-01Z') as noon \gset
select memory.store_rule('Write letters', as_of => '2026-01-01Z') as letters \gset
select memory_test.tell(
  'agents', memory_test.action('changed_rules', :'noon', '{"content": "Call at any time"}') || memory_test.action('withdrawn_rules', :'letters'),
  '2026-02-01Z', 'agent'
) \g /dev/null
select results_eq(
  $$ select p.action, p.content, p.reason from memory_test.pending() as p $$,
  $$ values
     ('changed_rule', 'Call at any time', 'its trust is user, that of the evidence is agent'),
     ('withdrawn_rule', 'Write letters', 'its trust is user, that of the evidence is agent') $$,
  'a stated rule is not changed or withdrawn by less trusted evidence'
);
select matches(
  memory.context('call before noon', 'home', as_of => '2026-02-02Z'), 'noon \(maturity: candidate, effectiveness: 0.00, contradicted: Call at any time\)',
  'a context marks the rule'
);
select memory_test.reject_all() \g /dev/null
select (r).* from memory_test.tell(
  'Call after six', memory_test.action('changed_rules', :'noon', '{"content": "Call after 18:00"}') || memory_test.action('withdrawn_rules', :'letters', '{"reason": "no post"}'),
  '2026-02-02Z'
) as r \gset said_
select is(array[:said_rules_created, :said_rules_changed, :said_rules_withdrawn], '{1,1,1}'::integer[], 'the user changes and withdraws rules');
select results_eq(
  $$ select r.content, r.lifecycle_state, r.scope, r.tags, r.maturity from memory.rules as r where r.content in ('Call after 18:00', 'Do not call before noon', 'Write letters') order by 1 $$,
  $$ values
     ('Call after 18:00', 'active', 'home', '["phone"]'::jsonb, 'candidate'), ('Do not call before noon', 'retracted', 'home', '["phone"]', 'candidate'),
     ('Write letters', 'retracted', 'global', '[]', 'candidate') $$,
  'the new rule starts as a candidate, and the old ones are kept'
);
select results_eq(
  format($$ select l.relation, r.content from memory.memory_links as l join memory.rules as r on r.id = l.source_id where l.target_id = %L and l.source_type = 'rule' $$, :'noon'),
  $$ values ('supersedes', 'Call after 18:00') $$, 'which is linked'
);
select results_eq(
  format($$ select u.content, u.outcome from memory_test.undo_run(%L, '2026-02-03Z') as u order by 1 $$, :'said_id'),
  $$ values ('Call after 18:00', 'retracted'), ('Do not call before noon', 'restored'), ('Write letters', 'restored') $$,
  'undoing the run restores both'
);
select (r).* from memory_test.tell(
  'Call after six', memory_test.action('changed_rules', :'noon', '{"content": "Call after 19:00"}'), '2026-02-04Z'
) as r \gset said_
select memory.mark_helpful((select r.id from memory.rules as r where r.content = 'Call after 19:00'), as_of => '2026-02-05Z') \g /dev/null
select results_eq(
  format($$ select u.content, u.outcome from memory_test.undo_run(%L, '2026-02-06Z') as u order by 1 $$, :'said_id'),
  $$ values ('Call after 19:00', 'applied since'), ('Do not call before noon', 'its successor stays') $$,
  'a rule whose successor was applied stays replaced'
);
select (r).* from memory_test.tell(
  'rules',
  format(
    '{"new_rules": [{"content": "Ask globally", "scope": "global"}, {"content": "Ask elsewhere", "scope": "work"}],
      "changed_rules": [{"target_id": "%1$s", "content": "write  letters"}, {"target_id": "%2$s", "content": "x"}, {"target_id": "%1$s", "content": "call after 19:00"}]}',
    :'letters', :'noon'
  )::jsonb, '2026-02-07Z'
) as r \gset said_
select results_eq(
  $$ select r.scope from memory.rules as r where r.content like 'Ask %ly' $$, $$ values ('global') $$, 'a rule has the scope that the answer says'
);
select results_eq(
  format($$ select e ->> 'message' from jsonb_array_elements(%L::jsonb) as e $$, :'said_errors'),
  format(
    $$ values ('scope ''work'' does not belong to butler ''home'''), ('rule %s is forgotten and no longer current'), (%L) $$, :'noon',
    format('rule %s says the same already', (select r.id from memory.rules as r where r.content = 'Call after 19:00'))
  ),
  'not that of another butler, and what is gone or said already is not changed'
);
select is(:said_confirmed, 1, 'a change to the same words confirms');

-- Entities

select memory.entity_create('Ines Duarte', 'person', aliases => '{user,Ines}') as ines \gset
select memory.entity_create('Porto', 'place') as porto \gset
select memory.entity_create('Alex One', 'person', aliases => '{Alex}') \g /dev/null
select memory.entity_create('Alex Two', 'person', aliases => '{Alex}') \g /dev/null
select memory.store_fact('user', 'home_city', 'Lisbon', as_of => '2026-01-01Z') as plain \gset
select memory_test.tell(
  'Ines moved',
  '{"new_facts": [
     {"subject": "INES", "predicate": "home city", "content": "Ines lives in Porto", "object": "porto"},
     {"subject": "Alex", "predicate": "job", "content": "cook", "object": "Alex"},
     {"subject": "Inês Duarte", "predicate": "knows herself", "content": "x", "object": "Ines"}
   ]}', '2026-02-01Z'
) \g /dev/null
select results_eq(
  $$ select f.subject, f.predicate, f.entity_id, f.object_entity_id, f.validity from memory.facts as f
     where f.subject in ('user', 'INES', 'Alex', 'Inês Duarte') order by f.subject collate "C" $$,
  format(
    $$ values
       ('Alex', 'job', null::uuid, null::uuid, 'active'), ('INES', 'home_city', %1$L::uuid, %2$L::uuid, 'active'),
       ('Inês Duarte', 'knows herself', %1$L, null, 'active'), ('user', 'home_city', %1$L, null, 'superseded') $$,
    :'ines', :'porto'
  ),
  'a name of exactly one entity is that entity, under whichever name it was known; an ambiguous one is left alone'
);
select memory.store_fact('user', 'home_city', 'Faro', as_of => '2026-02-02Z') as faro \gset
select (r).* from memory_test.tell('y', memory_test.fact('user', 'home_city', 'Braga'), '2026-02-03Z') as r \gset said_
select results_eq(
  $$ select f.subject, f.content, f.validity from memory.facts as f where f.predicate = 'home_city' order by f.created_at $$,
  $$ values
     ('user', 'Lisbon', 'superseded'), ('INES', 'Ines lives in Porto', 'superseded'), ('user', 'Faro', 'superseded'), ('user', 'Braga', 'active') $$,
  'it supersedes what was known under the name and under the entity'
);
select results_eq(
  format($$ select u.content, u.outcome from memory_test.undo_run(%L, '2026-02-04Z') as u $$, :'said_id'),
  $$ values ('Braga', 'retracted, its predecessor restored') $$, 'undoing it restores both'
);
select results_eq(
  $$ select f.subject, f.content from memory.facts as f where f.predicate = 'home_city' and f.validity = 'active' order by f.created_at $$,
  $$ values ('INES', 'Ines lives in Porto'), ('user', 'Faro') $$, 'they hold again'
);
select is(
  (memory_test.tell('z', memory_test.fact('Ines Duarte', 'home_city', 'faro'), '2026-02-05Z')).confirmed, 1,
  'the same words confirm under either key'
);
select memory.entity_create('Uma Reis', 'person', aliases => '{my boss}') as uma \gset
select memory.entity_create('Pia', 'person') as pia \gset
select memory.store_fact('my boss', 'birthday', '3 May', as_of => '2026-02-05Z') \g /dev/null
select memory.store_fact('Pia', 'birthday', '9 May', entity_id => :'pia', as_of => '2026-02-05Z') \g /dev/null
select memory_test.tell('Uma', memory_test.fact('Uma Reis', 'birthday', '4 May'), '2026-02-06Z') \g /dev/null
select results_eq(
  $$ select f.content, f.entity_id, f.validity from memory.facts as f where f.predicate = 'birthday' order by f.content $$,
  format(
    $$ values ('3 May', %1$L::uuid, 'superseded'), ('4 May', %1$L, 'active'), ('9 May', %2$L, 'active') $$, :'uma', :'pia'
  ),
  'what was known under a name comes under its entity, whatever is known about another one'
);

-- A stated fact of scope global is known to each butler

select memory.store_fact('Zoe', 'city', 'Rome', as_of => '2026-01-01Z') \g /dev/null
select memory_test.tell('x', memory_test.fact('Zoe', 'city', 'Bonn'), '2026-02-10Z') \g /dev/null
select memory_test.tell('x', '{"new_facts": [{"subject": "Zoe", "predicate": "city", "content": "Kiel", "scope": "home"}]}', '2026-02-11Z') \g /dev/null
select results_eq(
  $$ select f.scope, f.content from memory.facts as f where f.subject = 'Zoe' and f.validity = 'active' order by 1 $$,
  $$ values ('global', 'Bonn'), ('home', 'Kiel') $$, 'a fact without scope concerns the global one, unless the butler has one of its own'
);

-- Bounds, and what the parser could not read

create function memory_test.many(list text, first integer, last integer, more jsonb default '{}')
  returns jsonb
  language sql
as $$
  select jsonb_build_object(list, jsonb_agg(
    jsonb_build_object('subject', 'many', 'predicate', 'p' || n, 'content', list || n) || more order by n
  ))
  from generate_series(first, last) as n;
$$;
select (r).* from memory_test.tell('many', memory_test.many('new_facts', 1, 25), '2026-03-10Z') as r \gset said_
select is(array[:said_facts_created, :said_rejected], '{20,5}'::integer[], 'one episode gives at most 20 facts');
select matches(:'said_errors'::jsonb -> 0 ->> 'message', '^episode [0-9a-f-]{36} gave 20 facts already$', 'the run says so');
select (r).* from memory_test.tell('many', memory_test.many('new_rules', 1, 120), '2026-03-11Z') as r \gset said_
select is(array[:said_rules_created, :said_rejected], '{100,20}'::integer[], 'a batch gives at most 100 facts and rules');
select (r).* from memory_test.tell(
  'parse', memory_test.fact('p', 'q', 'r') || '{"parse_errors": ["new_facts[1]: no content", "x"]}', '2026-03-12Z'
) as r \gset said_
select is(array[:said_facts_created, :said_rejected], '{1,2}'::integer[], 'what the parser could not read counts as rejected');
select (r).* from memory_test.tell(
  'note', memory_test.fact('p', 'noted', 'r') || '{"parse_notes": ["new_facts[1]: tags: 3 is not a list"]}', '2026-03-12Z'
) as r \gset said_
select is(array[:said_facts_created, :said_rejected], '{1,0}'::integer[], 'what it left out of an element does not');
select is(:'said_errors'::jsonb, '[{"message": "new_facts[1]: tags: 3 is not a list"}]', 'but the run says so');
select is(
  (memory_test.tell('parse', '{"parse_errors": ["new_facts[1]: no content"]}', '2026-03-13Z')).status, 'failed',
  'an answer of which nothing can be read has failed'
);
select is(
  (memory_test.tell('big', memory_test.fact('p', 'big', repeat('x', 100000)), '2026-03-14Z', butler => 'big')).facts_created, 1,
  'an answer may be long'
);

-- Invalid elements

select (r).* from memory_test.tell(
  'bad',
  format(
    '{"new_facts": [{"subject": "a", "predicate": "b", "content": "c", "evidence": []}, {"subject": "a", "predicate": "b", "content": " "},
                    {"subject": "a", "predicate": "b", "content": "c", "evidence": ["%1$s"]}, {"subject": "a", "predicate": "b", "content": "c", "importance": 11}],
      "ended_facts": [{"target_id": "%1$s"}], "changed_rules": [{"target_id": "%1$s", "content": "x"}], "withdrawn_rules": [{}],
      "confirmations": [{"target_id": "%1$s", "evidence": []}]}', '00000000-0000-0000-0000-000000000001'
  )::jsonb, '2026-03-15Z', butler => 'bad'
) as r \gset said_
select results_eq(
  format($$ select e ->> 'code', e ->> 'message' from jsonb_array_elements(%L::jsonb) as e where e ? 'code' $$, :'said_errors'),
  $$ values
     ('PM002', 'there is no evidence'), ('PM002', 'content is empty'),
     ('PM002', 'evidence ''00000000-0000-0000-0000-000000000001'' is not an episode of this batch'), ('PM002', 'importance is 11'),
     ('PM001', 'no fact has id 00000000-0000-0000-0000-000000000001'), ('PM001', 'no rule has id 00000000-0000-0000-0000-000000000001'),
     ('PM001', 'no rule has id NULL'), ('PM002', 'there is no evidence') $$,
  'invalid elements are rejected with the reason'
);
select is((select count(*) from memory.preview_proposals() as p where p.butler = 'bad'), 0::bigint, 'and never kept as proposals');

-- Undoing a run voids its proposals

select memory.store_fact('Wim', 'age', '20', as_of => '2026-01-01Z') \g /dev/null
select (r).* from memory_test.tell('x', memory_test.fact('Wim', 'age', '21'), '2026-04-01Z', 'agent', 'wim') as r \gset said_
select memory_test.undo_run(:'said_id', '2026-04-02Z') \g /dev/null
select results_eq(
  format($$ select d.status, d.remark from memory.preview_proposals(%L) as d $$, :'said_id'), $$ values ('rejected', 'its run was undone') $$,
  'the proposals of a run that is undone are rejected'
);
select memory.store_fact('Wim', 'allergy', 'none', permanence => 'permanent', as_of => '2026-01-01Z') \g /dev/null
select (r).id from memory_test.tell('x', memory_test.fact('Wim', 'allergy', 'nuts'), '2026-04-01Z', 'tool', 'wim') as r \gset said_
select memory_test.tell('I am allergic to nuts', memory_test.fact('Wim', 'allergy', 'Nuts'), '2026-04-02Z', 'user', 'wim') \g /dev/null
select memory_test.undo_run(:'said_id', '2026-04-02T02:00Z') \g /dev/null
select results_eq(
  $$ select p.item ->> 'content', p.trust, p.observed_at, array(select e.content from memory.episodes as e where e.id = any (p.evidence))
     from memory_test.pending() as p where p.content like '[Wim] [allergy]%' $$,
  $$ values ('Nuts', 'user', '2026-04-02Z'::timestamptz, '{I am allergic to nuts}'::text[]) $$,
  'what somebody more trusted said too waits on, with that evidence alone'
);
select memory_test.tell('Really', memory_test.fact('Wim', 'allergy', 'nuts'), '2026-04-02T03:00Z', 'user', 'wim') \g /dev/null
select (r).id from memory_test.tell('x', memory_test.fact('Wim', 'size', '50'), '2026-01-01Z', 'user', 'wim') as r \gset said_
select memory_test.tell('y', memory_test.fact('Wim', 'size', '49'), '2026-01-01Z', 'user', 'wim') \g /dev/null
select is((select count(*) from memory_test.pending() as p where p.content like '[Wim]%'), 2::bigint, 'what is proposed again waits once still');

select memory.store_fact('Wim', 'hat', 'red', as_of => '2026-01-01Z') \g /dev/null
select memory_test.tell('z', memory_test.fact('Wim', 'hat', 'blue'), '2026-04-02T04:00Z', 'external', 'wim') \g /dev/null
select matches(
  memory.context('hat of Wim', 'wim', as_of => '2026-04-02T06:00Z'), 'red \(confidence: [0-9.]+, contradicted\)',
  'a context marks a fact, without the words of an external source'
);

-- A correction of what was true before the known fact

select memory.store_fact('Ute', 'home city', 'Rome', as_of => '2026-01-01Z') as ute_rome \gset
select memory_test.tell(
  'I have lived in Lisbon since 2024',
  memory_test.action('updated_facts', :'ute_rome', '{"content": "Lisbon", "valid_from": "2024"}'), '2026-05-01Z'
) \g /dev/null
select results_eq(
  $$ select f.content, f.validity, f.valid_from, f.supersedes_id
     from memory.facts as f where f.subject = 'Ute' order by f.content $$,
  format(
    $$ values ('Lisbon', 'active', '2024-01-01Z'::timestamptz, %1$L::uuid),
         ('Rome', 'superseded', '2026-01-01Z', null) $$, :'ute_rome'
  ),
  'a correction supersedes its target, even if it was true earlier'
);

-- Other tenants

select memory_test.tell('x', memory_test.fact('Wim', 'age', '22'), '2026-04-03Z', 'agent', 'wim') \g /dev/null
select memory_test.as_tenant('b') \g /dev/null
select is_empty($$ select * from memory.preview_proposals() $$, 'the proposals of another tenant are not shown');
select is_empty($$ select * from memory.list_contradictions() $$, 'nor listed');

select * from finish();
rollback;
