begin;
\ir fixtures.sql
select plan(187);

-- Ends a write as a commit would: what comes later has another time. Returns its newest event.
create sequence memory_test.writes;
create function memory_test.written()
  returns uuid
  language plpgsql
as $$
declare
  v_event_id uuid;
  v_time timestamptz := now() - interval '1 day' + nextval('memory_test.writes') * interval '1 second';
begin
  select e.id into v_event_id
  from memory.memory_events as e
  where e.created_at = now()
  order by e.seq desc
  limit 1;
  alter table memory.memory_events disable trigger refuse_change;
  alter table memory.memory_history disable trigger user;
  update memory.memory_events set created_at = v_time where created_at = now();
  update memory.memory_history set recorded_at = v_time where recorded_at = now();
  alter table memory.memory_history enable trigger user;
  alter table memory.memory_events enable always trigger refuse_change;
  return v_event_id;
end;
$$;

-- An event of the newest write.
create function memory_test.event_of(event_type text, memory_id uuid default null)
  returns uuid
  language sql
  stable
  return (
    select e.id
    from memory.memory_events as e
    where e.event_type = event_of.event_type
      and (event_of.memory_id is null or e.memory_id = event_of.memory_id)
    order by e.created_at desc, e.seq desc
    limit 1
  );

create function memory_test.undo(event_id uuid, as_of timestamptz default '2026-03-01Z')
  returns text
  language plpgsql
as $$
declare
  v_outcome text;
begin
  select u.outcome into v_outcome from memory.undo_event(event_id, as_of) as u;
  perform memory_test.written();
  return v_outcome;
exception
  when others then
    return sqlstate || ': ' || sqlerrm;
end;
$$;

-- What a memory or entity says, as JSON; an entry in any version.
create function memory_test.image(memory_type text, memory_id uuid)
  returns jsonb
  language plpgsql
as $$
declare
  v_image jsonb;
begin
  execute format('select memory.image_of($1, to_jsonb(m)) - ''version'' from memory.%I as m where m.id = $2', memory.table_of(memory_type))
  into v_image using memory_type, memory_id;
  return v_image;
end;
$$;

-- Makes a change, undoes it and says what is different afterwards: nothing, if all is well.
create function memory_test.difference(memory_type text, memory_id uuid, change text, event_type text default null)
  returns text
  language plpgsql
as $$
declare
  v_before jsonb := memory_test.image(memory_type, memory_id);
  v_after jsonb;
  v_event_id uuid;
  v_outcome text;
begin
  execute change;
  v_after := memory_test.image(memory_type, memory_id);
  v_event_id := memory_test.written();
  if event_type is not null then
    v_event_id := memory_test.event_of(event_type, memory_id);
  end if;
  if v_after = v_before then
    return 'it changed nothing';
  end if;
  v_outcome := memory_test.undo(v_event_id);
  if v_outcome <> 'undone' then
    return v_outcome;
  end if;
  return coalesce(
    (
      select string_agg(format('%s: %s, not %s', b.key, a.value, b.value), '; ' order by b.key)
      from jsonb_each(v_before) as b
      join jsonb_each(memory_test.image(memory_type, memory_id)) as a on a.key = b.key
      where a.value <> b.value
    ),
    'none'
  );
end;
$$;

-- Stores and what they supersede

select memory.store_fact('Ada', 'drinks', 'tea', valid_to => '2027-01-01Z', as_of => '2026-01-01Z') as tea \gset
select memory_test.written() as tea_stored \gset
select memory_test.image('fact', :'tea') as tea_before \gset
select memory.store_fact('Ada', 'drinks', 'coffee', as_of => '2026-01-02Z') as coffee \gset
select memory_test.written() as coffee_stored \gset
select results_eq(
  format('select p.undone_event_id, p.is_undoable, p.inverse, p.role, p.obstacle, p.hint, p.undone_at from memory.undo_preview_event(%L) as p', :'coffee_stored'),
  format($$ values (%L::uuid, true, 'forget the fact and restore what it superseded', 'writer', null, null, null::timestamptz) $$, memory_test.event_of('fact_created', :'coffee')),
  'the preview tells how the store of a fact would be undone, and for which event'
);
select results_eq(
  format('select p.is_undoable, p.obstacle, p.hint from memory.undo_preview_event(%L) as p', :'tea_stored'),
  format($$ values (false, 'fact %s has changed since: fact_created, event %s', 'Undo what came later first.') $$, :'tea', memory_test.event_of('fact_created', :'coffee')),
  'what something newer depends on cannot be undone, and the preview says why'
);
select throws_ok(
  format('select memory.undo_event(%L)', :'tea_stored'), 'PM004',
  format('event %s cannot be undone: fact %s has changed since: fact_created, event %s', :'tea_stored', :'tea', memory_test.event_of('fact_created', :'coffee')),
  'nor does undo_event undo it'
);
select is(memory_test.undo(memory_test.event_of('fact_superseded')), 'undone', 'the event of the superseded fact stands for the same write');
select is(
  array(select f.lifecycle_state from memory.facts as f where f.id in (:'tea', :'coffee') order by f.content), '{retracted,active}',
  'the fact is forgotten, and what it superseded holds again'
);
select is(memory_test.image('fact', :'tea'), :'tea_before'::jsonb, 'as it did before');
select results_eq(
  $$ select e.event_type, e.payload - 'event_id' from memory.memory_events as e where e.created_at = (select max(o.created_at) from memory.memory_events as o) order by e.seq $$,
  $$ values ('event_undone', '{"inverse": "forget", "event_type": "fact_created"}'::jsonb), ('fact_retracted', '{"from": "active", "to": "retracted"}'), ('fact_restored', '{"from": "superseded", "to": "active"}') $$,
  'the audit says what was undone and what that did'
);
select is(
  (select e.payload ->> 'event_id' from memory.memory_events as e where e.event_type = 'event_undone'),
  memory_test.event_of('fact_created', :'coffee')::text, 'and of which event'
);
select results_eq(
  format('select u.* from memory.undo_event(%L) as u', :'coffee_stored'),
  format($$ values ('undone before', %L::uuid, %L::uuid) $$, memory_test.event_of('fact_created', :'coffee'), memory_test.event_of('event_undone')),
  'undoing it again, by another event of the write, changes nothing'
);
select is((select count(*) from memory.memory_events as e where e.event_type = 'event_undone'), 1::bigint, 'and writes no event');
select isnt_empty(format('select from memory.undo_preview_event(%L) as p where not p.is_undoable and p.undone_at is not null and p.obstacle is null', :'coffee_stored'), 'the preview says when it was undone');
select matches(memory_test.undo(memory_test.event_of(e.event_type)), '^PM003: .* is part of an undo$', format('an undo is not undone: %s', e.event_type))
from unnest('{event_undone,fact_retracted,fact_restored}'::text[]) as e (event_type);
select is(memory_test.undo(:'tea_stored'), 'undone', 'then what it depended on can be undone, too');
select is_empty(format('select from memory.search(%L)', 'tea'), 'the fact is no longer found');

select memory.store_fact('Bo', 'drinks', 'milk', as_of => '2026-01-01Z') as milk \gset
select memory_test.written() \g /dev/null
select memory.store_fact('Bo', 'drinks', 'juice', as_of => '2026-01-02Z') as juice \gset
select memory_test.written() as juice_stored \gset
select memory.forget_memory('fact', :'juice', '2026-01-03Z') \g /dev/null
select memory_test.written() as juice_forgotten \gset
select matches(memory_test.undo(:'juice_stored'), '^PM004: .*has changed since: fact_retracted, event ', 'what was forgotten since is no longer undone');
select memory.store_fact('Bo', 'drinks', 'water', as_of => '2026-01-03Z') as water \gset
select memory_test.written() as water_stored \gset
select matches(memory_test.undo(:'juice_forgotten'), format('^PM004: .*fact %s is active under the key of fact %s$', :'water', :'juice'), 'nor is a forgotten fact brought back whose key is taken');
select is(memory_test.undo(:'water_stored'), 'undone', 'once the key is free');
select is(memory_test.undo(:'juice_forgotten'), 'undone', 'it is');
select is(memory_test.undo(:'juice_stored'), 'undone', 'and then its store can be undone again');
select is((select f.lifecycle_state from memory.facts as f where f.id = :'milk'), 'active', 'so that the oldest holds');

-- One that comes late ends an earlier one where it begins.
select memory.store_fact('Eve', 'lives_in', 'Bergen', valid_from => '2020-01-01Z', as_of => '2026-01-01Z') \g /dev/null
select memory_test.written() \g /dev/null
select memory.store_fact('Eve', 'lives_in', 'Paris', valid_from => '2024-01-01Z', as_of => '2026-01-01Z') \g /dev/null
select memory_test.written() \g /dev/null
create function memory_test.homes()
  returns text[]
  language sql
  stable
  return array(
    select f.content || ' until ' || f.valid_to::date
    from memory.facts as f
    where f.subject = 'Eve' and f.validity = 'superseded'
    order by f.valid_from
  );
select memory.store_fact('Eve', 'lives_in', 'Rome', valid_from => '2022-01-01Z', as_of => '2026-01-02Z') \g /dev/null
select memory_test.written() as rome_stored \gset
select is(memory_test.homes(), '{Bergen until 2022-01-01,Rome until 2024-01-01}', 'a fact that comes late ends the one before it');
select results_eq(
  format('select p.is_undoable, p.inverse from memory.undo_preview_event(%L) as p', memory_test.event_of('fact_updated')),
  $$ values (true, 'forget the fact and let what it ended last as long as before') $$,
  'the event of that end stands for the store of the late fact'
);
select is(memory_test.undo(memory_test.event_of('fact_updated')), 'undone', 'and is undone with it');
select is(memory_test.homes(), '{"Bergen until 2024-01-01"}', 'so that no time is left without a home');
select is(memory_test.undo(:'rome_stored'), 'undone before', 'nor is anything left to undo');
select memory.store_facts(
  '[{"subject": "Eve", "predicate": "lives_in", "content": "Oslo", "valid_from": "2021-01-01Z"},
    {"subject": "Eve", "predicate": "lives_in", "content": "Lund", "valid_from": "2023-01-01Z"}]',
  as_of => '2026-01-03Z'
) \g /dev/null
select memory_test.written() \g /dev/null
select is(memory_test.homes(), '{Bergen until 2021-01-01,Oslo until 2023-01-01,Lund until 2024-01-01}', 'two late facts of a batch share the time');
select memory_test.event_of('fact_created', f.id) as oslo_stored from memory.facts as f where f.content = 'Oslo' \gset
select is(memory_test.undo(:'oslo_stored'), 'undone', 'the first of them is undone alone');
select is(memory_test.homes(), '{"Bergen until 2023-01-01","Lund until 2024-01-01"}', 'what it ended lasts until the other one begins');

select memory.store_fact('Cy', 'plays', 'chess', as_of => '2026-01-01Z') \g /dev/null
select memory_test.written() \g /dev/null
select memory.store_facts('[{"subject": "Cy", "predicate": "plays", "content": "go"}, {"subject": "Cy", "predicate": "plays", "content": "bridge"}, {"subject": "Cy", "predicate": "likes", "content": "cats"}]', as_of => '2026-01-02Z') \g /dev/null
select memory_test.written() \g /dev/null
select is(
  memory_test.undo((select memory_test.event_of('fact_created', f.id) from memory.facts as f where f.content = 'bridge')), 'undone',
  'of several facts that one call stored, each is undone by itself'
);
select is(array(select f.content from memory.facts as f where f.subject = 'Cy' and f.validity = 'active' order by 1), '{cats,go}', 'what superseded another one of the call, too');

select memory.store_episode('Ada is ill', 'home', as_of => '2026-01-01Z') as ill \gset
select memory_test.written() as ill_stored \gset
select memory.store_fact('Ada', 'health', 'ill', source_episode_id => :'ill', as_of => '2026-01-02Z') as health \gset
select memory_test.written() as health_stored \gset
select matches(memory_test.undo(:'ill_stored'), format('^PM004: .*: fact %s was derived from episode %s$', :'health', :'ill'), 'an episode from which something was learned stays');
select is(memory_test.undo(:'health_stored'), 'undone', 'until that is undone');
select is(memory_test.undo(:'ill_stored', '2026-01-04Z'), 'undone', 'then the episode is forgotten');
select is((select e.expires_at from memory.episodes as e where e.id = :'ill'), '2026-01-04Z'::timestamptz, 'as of the undo');
select memory.store_episode('Ada is well', 'sick', as_of => '2026-01-01Z') as well \gset
select memory_test.written() as well_stored \gset
select run_id as sick_run from memory.claim_episodes('sick', as_of => '2026-01-02Z') \gset
select matches(memory_test.undo(:'well_stored'), '^PM004: .* is being consolidated$', 'one that is being consolidated stays, too');
select memory.release_run(:'sick_run') \g /dev/null
select memory_test.written() \g /dev/null
select memory.store_rule('Be kind', as_of => '2026-01-01Z') as kind \gset
select memory_test.written() as kind_stored \gset
select is(memory_test.undo(:'kind_stored'), 'undone', 'the store of a rule can be undone');
select is((select r.lifecycle_state from memory.rules as r where r.id = :'kind'), 'retracted', 'which forgets it');

-- Changes, each of which is taken back

select memory.store_fact('Eve', 'age', '30', permanence => 'volatile', confidence => 0.9, as_of => '2026-01-01Z') as age \gset
select memory.store_fact('Eve', 'pet', 'cat', permanence => 'volatile', confidence => 0.9, as_of => '2025-12-01Z') as pet \gset
select memory.store_rule('Ask first', confidence => 0.9, as_of => '2026-01-01Z') as ask \gset
select memory.store_episode('Eve asked', 'home', as_of => '2026-01-01Z') as asked \gset
select memory.store_episode('A page says so', 'home', source_class => 'external', as_of => '2026-01-01Z') as page \gset
select memory.entity_create('Eve', 'person', aliases => '{Evie}', metadata => '{"a": 1}', as_of => '2026-01-01Z') as eve \gset
select memory_test.written() \g /dev/null
select entry_id as note from memory.create_entry('Eve has a cat', tags => '["pet"]', as_of => '2026-01-01Z') \gset
select e.id as note_id from memory.entries as e where e.entry_id = :'note' \gset
select entry_id as other from memory.create_entry('Eve has no cat', as_of => '2026-01-01Z') \gset
select memory_test.written() \g /dev/null

create table memory_test.changes (position integer primary key, what text, memory_type text, memory_id uuid, change text, event_type text);
insert into memory_test.changes (position, what, memory_type, memory_id, change) values
  (1, 'a confirmation of a fact', 'fact', :'age', format('select memory.confirm_memory(%L, %L, %L)', 'fact', :'age', '2026-01-10Z')),
  (2, 'one more', 'fact', :'age', format('select memory.confirm_memory(%L, %L, %L)', 'fact', :'age', '2026-01-11Z')),
  (3, 'that a fact was forgotten', 'fact', :'age', format('select memory.forget_memory(%L, %L, %L)', 'fact', :'age', '2026-01-10Z')),
  (4, 'that another fact superseded it', 'fact', :'age', 'select memory.store_facts(''[{"subject": "Eve", "predicate": "age", "content": "30"}]'', as_of => ''2026-01-12Z'')'),
  (5, 'the same with a source', 'fact', :'age', format('select memory.store_facts(''[{"subject": "Eve", "predicate": "age", "content": "30", "source_episode_id": "%s"}]'', as_of => ''2026-01-12Z'')', :'page')),
  (6, 'a link that lowers the trust', 'fact', :'age', format('select memory.create_link(%L, %L, %L, %L, %L)', 'fact', :'age', 'episode', :'page', 'derived_from')),
  (7, 'a confirmation of a rule', 'rule', :'ask', format('select memory.confirm_memory(%L, %L, %L)', 'rule', :'ask', '2026-01-10Z')),
  (8, 'a helpful mark', 'rule', :'ask', format('select memory.mark_helpful(%L, as_of => %L)', :'ask', '2026-01-10Z')),
  (9, 'a harmful mark with a reason', 'rule', :'ask', format('select memory.mark_harmful(%L, %L, as_of => %L)', :'ask', 'too slow', '2026-01-10Z')),
  (10, 'five marks and a promotion', 'rule', :'ask', format('select memory.mark_helpful(%L, as_of => %L) from generate_series(1, 5)', :'ask', '2026-01-10Z')),
  (11, 'that a rule was forgotten', 'rule', :'ask', format('select memory.forget_memory(%L, %L, %L)', 'rule', :'ask', '2026-01-10Z')),
  (12, 'that an episode was forgotten', 'episode', :'asked', format('select memory.forget_memory(%L, %L, %L)', 'episode', :'asked', '2026-01-05Z')),
  (13, 'an edit of an entry', 'entry', :'note_id', format('select memory.update_entry(%L, content => %L, tags => %L, as_of => %L)', :'note', 'Eve has a dog', '[]', '2026-01-10Z')),
  (14, 'another edit', 'entry', :'note_id', format('select memory.update_entry(%L, category => %L, importance => 9, as_of => %L)', :'note', 'pets', '2026-01-11Z')),
  (15, 'that an entry was archived', 'entry', :'note_id', format('select memory.archive_entry(%L, %L)', :'note', '2026-01-10Z')),
  (16, 'a rating of an entry', 'entry', :'note_id', format('select memory.rate_entry(%L, %L, as_of => %L)', :'note', 'confirmed', '2026-01-10Z')),
  (17, 'a rating because of another entry', 'entry', :'note_id', format('select memory.rate_entry(%L, %L, %L, %L)', :'note', 'conflicting', :'other', '2026-01-10Z')),
  (18, 'that an entry was deleted', 'entry', :'note_id', format('select memory.delete_entry(%L, as_of => %L)', :'note', '2026-01-10Z')),
  (19, 'a change of an entity', 'entity', :'eve', format('select memory.entity_update(%L, %L, %L, %L, %L)', :'eve', 'Eve Adams', '{Eve,Evie}', '{"a": null, "b": 2}', '2026-01-10Z'));
select is(memory_test.difference(c.memory_type, c.memory_id, c.change, c.event_type), 'none', format('undone: %s', c.what))
from memory_test.changes as c
order by c.position;
select is_empty($$ select from memory.rule_applications $$, 'marks that were taken back are gone');
select is_empty(
  format($$ select from memory.memory_links as l where l.source_id = %L or l.relation = 'contradicts' $$, :'age'), 'so are the links that came with a change'
);
select is((select e.version from memory.entries as e where e.id = :'note_id'), 5, 'an edit that is undone is a new version of the entry');
select memory.forget_memory('fact', :'age', '2026-01-10Z') \g /dev/null
select memory_test.written() \g /dev/null
select memory.delete_entry(:'note', as_of => '2026-01-10Z') \g /dev/null
select memory_test.written() \g /dev/null
select memory.forget_memory('rule', :'ask', '2026-01-10Z') \g /dev/null
select memory_test.written() \g /dev/null
select memory.forget_memory('episode', :'asked', '2026-01-05Z') \g /dev/null
select memory_test.written() \g /dev/null
select is(memory_test.difference(c.memory_type, c.memory_id, format('select memory.restore_memory(%L, %L, %L)', c.memory_type, c.memory_id, '2026-01-12Z')), 'none', format('undone: that a forgotten %s was restored', c.memory_type))
from (values ('fact', :'age'::uuid), ('rule', :'ask'), ('episode', :'asked'), ('entry', :'note_id')) as c (memory_type, memory_id)
order by c.memory_type;
select is_empty(
  $$ select m.memory_type, r.problem
     from (values ('fact', (select f.id from memory.facts as f where f.subject = 'Eve' and f.predicate = 'age' order by f.created_at, f.id limit 1)), ('rule', (select r.id from memory.rules as r where r.content = 'Ask first')), ('entry', (select e.id from memory.entries as e where e.content like '%a cat'))) as m (memory_type, id)
     cross join lateral memory.replay_memory(m.memory_type, m.id) as r
     where r.problem is not null $$,
  'the history of what was undone agrees with its events'
);

-- Time

select memory.store_fact('Ivy', 'lives in', 'Porto', as_of => '2026-01-20Z') as porto \gset
select memory.store_fact('Ivy', 'lives in', 'Turin', valid_from => '2026-01-25Z', as_of => '2026-01-20Z') as turin \gset
select memory_test.written() \g /dev/null
select memory.run_decay_sweep('2026-01-26Z') \g /dev/null
select memory_test.written() \g /dev/null
select is(
  memory_test.undo(memory_test.event_of(e.type, e.id)), format('PM003: event %s cannot be undone: time did that: what was planned has begun', memory_test.event_of(e.type, e.id)),
  format('that a plan has begun is not undone by its %s: time did that', e.type)
)
from (values ('fact_updated', :'turin'::uuid), ('fact_superseded', :'porto'), ('link_created', null)) as e (type, id);
select memory.forget_memory('fact', :'turin', as_of => '2026-01-27Z') \g /dev/null
select lives_ok(
  format('select memory.restore_memory(%L, %L, %L)', 'fact', :'porto', '2026-01-28Z'),
  'whoever did not do what was planned forgets it, and restores what held'
);
select memory_test.written() \g /dev/null

select memory.run_decay_sweep('2026-02-01Z') \g /dev/null
select memory_test.written() \g /dev/null
select is((select f.lifecycle_state from memory.facts as f where f.id = :'pet'), 'fading', 'a fact fades');
select matches(memory_test.undo(memory_test.event_of('fact_fading', :'pet')), '^PM003: .*: time did that to the fact$', 'which is not undone');
select is(memory_test.difference('fact', :'pet', format('select memory.confirm_memory(%L, %L, %L)', 'fact', :'pet', '2026-02-02Z')), 'none', 'undone: the confirmation of a fading fact');
select is((select f.lifecycle_state from memory.facts as f where f.id = :'pet'), 'fading', 'which fades again');
select memory.forget_memory('fact', :'pet', '2026-02-03Z') \g /dev/null
select memory_test.written() as pet_forgotten \gset
select is(memory_test.undo(:'pet_forgotten'), 'undone', 'a fading fact that was forgotten can come back');
select is((select f.lifecycle_state from memory.facts as f where f.id = :'pet'), 'active', 'active, until the next sweep');

-- Only the last of several changes

select memory.store_fact('Flo', 'sport', 'golf', as_of => '2026-01-01Z') as golf \gset
select memory_test.written() \g /dev/null
select memory.confirm_memory('fact', :'golf', '2026-01-02Z') \g /dev/null
select memory_test.written() as first_confirmed \gset
select memory.confirm_memory('fact', :'golf', '2026-01-03Z') \g /dev/null
select memory_test.written() as second_confirmed \gset
select matches(memory_test.undo(:'first_confirmed'), format('^PM004: .*has changed since: fact_confirmed, event %s$', :'second_confirmed'), 'of two changes, the first one waits for the second one');
select is(memory_test.undo(:'second_confirmed'), 'undone', 'which can be undone');
select is(memory_test.undo(:'first_confirmed'), 'undone', 'then the first one can');
select is((select f.last_confirmed_at from memory.facts as f where f.id = :'golf'), '2026-01-01Z'::timestamptz, 'and the fact was never confirmed');
select is(memory_test.events_of(:'golf'), '{fact_created,fact_confirmed,fact_confirmed,event_undone,fact_updated,event_undone,fact_updated}', 'what is taken back is an update, no confirmation');

-- Links

select memory.create_link('fact', :'golf', 'rule', :'kind', 'supports') \g /dev/null
select memory_test.written() as linked \gset
select is((select p.inverse from memory.undo_preview_event(:'linked') as p), 'remove the link', 'a link that changed nothing else is removed');
select is(memory_test.undo(:'linked'), 'undone', 'by undoing it');
select is_empty(format('select from memory.get_links(%L, %L)', 'fact', :'golf'), 'then it is gone');
select memory.create_link('fact', :'golf', 'rule', :'kind', 'supports') \g /dev/null
select memory_test.written() as linked \gset
delete from memory.memory_links as l where l.source_id = :'golf';
select memory_test.written() \g /dev/null
select matches(memory_test.undo(:'linked'), '^PM004: .*the link was removed or changed since$', 'unless somebody else removed it');

-- Rules that do harm

select memory.store_rule('Shout', as_of => '2026-01-01Z') as shout \gset
select memory_test.written() \g /dev/null
select memory.mark_harmful(:'shout', as_of => '2026-01-02Z') from generate_series(1, 3) \g /dev/null
select memory_test.written() as harmed \gset
select memory.run_rule_hygiene('2026-01-03Z') \g /dev/null
select memory_test.written() \g /dev/null
select matches(memory_test.undo(:'harmed'), '^PM004: .*has changed since: rule_inverted', 'marks of which a rule was inverted stay');
select is((select p.role from memory.undo_preview_event(memory_test.event_of('rule_inverted')) as p), 'admin', 'an inversion is for admins to undo');
select is(memory_test.undo(memory_test.event_of('rule_inverted')), 'undone', 'who can');
select results_eq(format('select r.content, r.maturity, r.metadata from memory.rules as r where r.id = %L', :'shout'), $$ values ('Shout', 'candidate', '{"needs_inversion": true}'::jsonb) $$, 'the rule is what it was');
select is(memory_test.undo(:'harmed'), 'undone', 'then its marks can be taken back');
select results_eq(format('select r.harmful_count, r.applied_count, r.effectiveness_score from memory.rules as r where r.id = %L', :'shout'), $$ values (0, 0, 0::float8) $$, 'as if it had never been applied');
select throws_ok($$ delete from memory.rule_applications $$, 'PM006', null, 'no other call deletes marks')
from (select memory.mark_helpful(:'shout', as_of => '2026-02-02Z') offset 0) as m;
select memory_test.written() \g /dev/null

-- Entities

select memory.entity_create('Gus', 'person', as_of => '2026-01-01Z') as gus \gset
select memory_test.written() as gus_created \gset
select memory.entity_create('August', 'person', as_of => '2026-01-01Z') as august \gset
select memory_test.written() \g /dev/null
select memory.store_fact('Gus', 'lives in', 'Rome', entity_id => :'gus', as_of => '2026-01-02Z') as rome \gset
select memory_test.written() as rome_stored \gset
select memory.entity_merge(:'gus', :'august', '2026-01-03Z') \g /dev/null
select memory_test.written() as merged \gset
select matches(memory_test.undo(:'rome_stored'), '^PM004: .*has changed since: entity_merge, event ', 'a fact that a merge moved depends on it');
select is((select p.inverse from memory.undo_preview_event(memory_test.event_of('fact_updated', :'rome')) as p), 'separate the entities', 'the event of the fact stands for the merge');
select is(memory_test.undo(:'merged'), 'undone', 'a merge can be undone');
select is((select f.entity_id from memory.facts as f where f.id = :'rome'), :'gus'::uuid, 'its facts go back');
select is(memory_test.undo(:'rome_stored'), 'undone', 'and then the store of the fact, too');
select memory.entity_merge(:'gus', :'august', '2026-01-04Z') \g /dev/null
select memory_test.written() as merged \gset
select memory.entity_unmerge(:'gus', '2026-01-05Z') \g /dev/null
select memory_test.written() as unmerged \gset
select matches(memory_test.undo(:'merged'), '^PM004: .* was unmerged since$', 'a merge that was undone by hand is over');
select is(memory_test.undo(:'unmerged'), 'undone', 'which can be undone in turn');
select is((select e.lifecycle_state from memory.entities as e where e.id = :'gus'), 'merged', 'so that they are one again');
select memory.entity_create('Augustus', 'person', as_of => '2026-01-01Z') as augustus \gset
select memory_test.written() \g /dev/null
select memory.entity_merge(:'august', :'augustus', '2026-01-06Z') \g /dev/null
select memory_test.written() \g /dev/null
select matches(memory_test.undo(:'merged'), format('^PM004: .*entity %s was merged into %s in turn$', :'august', :'augustus'), 'not while the target is merged in turn');
select matches(memory_test.undo(:'gus_created'), '^PM003: .*entity_created has no inverse$', 'an entity that was created stays');
select memory.entity_update(:'augustus', 'Gusto', as_of => '2026-01-07Z') \g /dev/null
select memory_test.written() as renamed \gset
select memory.entity_create('Augustus', 'person', as_of => '2026-01-08Z') as usurper \gset
select memory_test.written() \g /dev/null
select matches(memory_test.undo(:'renamed'), format('^PM004: .*entity %s has the name that entity %s had$', :'usurper', :'augustus'), 'an entity does not get a name back that another one has');

-- Contradictions

select memory.dismiss_contradiction('fact', :'golf', 'fact', :'milk', '2026-01-02Z') \g /dev/null
select memory_test.written() as dismissed \gset
select is(memory_test.undo(:'dismissed'), 'undone', 'a dismissed contradiction is reopened');
select is_empty($$ select from memory.dismissed_contradictions $$, 'by undoing that');
select memory.dismiss_contradiction('fact', :'golf', 'fact', :'milk', '2026-01-02Z') \g /dev/null
select memory_test.written() as dismissed \gset
select memory.reopen_contradiction('fact', :'golf', 'fact', :'milk') \g /dev/null
select memory_test.written() as reopened \gset
select matches(memory_test.undo(:'dismissed'), '^PM004: .*that was taken back since$', 'one that was reopened by hand is over');
select is(memory_test.undo(:'reopened'), 'undone', 'and so is a reopened one dismissed');
select isnt_empty($$ select from memory.dismissed_contradictions $$, 'by undoing that');

-- Consolidation

select memory.configure('{"consolidation_review": true}') \g /dev/null
select memory_test.written() \g /dev/null
select memory.store_fact('Hal', 'age', '30', scope => 'lab', as_of => '2026-01-01Z') as hal_age \gset
select memory.store_rule('Be quick', scope => 'lab', as_of => '2026-01-01Z') as quick \gset
select memory.store_episode('Hal is 31 and has a cat', 'lab', as_of => '2026-01-02Z') as hal_said \gset
select memory_test.written() \g /dev/null
select run_id as run from memory.claim_episodes('lab', as_of => '2026-01-02Z') \gset
select memory_test.written() \g /dev/null
select memory.apply_consolidation(:'run', memory_test.cited(:'run', format(
  '{"new_facts": [{"subject": "Hal", "predicate": "age", "content": "31"}, {"subject": "Hal", "predicate": "cat", "content": "Tom"}],
    "new_rules": [{"content": "Feed the cat"}], "confirmations": [{"target_id": "%s"}]}', :'quick')::jsonb), as_of => '2026-01-02Z') \g /dev/null
select memory_test.written() \g /dev/null
select r.id as hal_run, to_jsonb(r) - 'finished_at' as run_before from memory.consolidation_runs as r where r.id = :'run' \gset
select memory_test.image('rule', :'quick') as quick_before \gset
select memory.amend_proposal(:'run', 2, '{"content": "Kim"}', '2026-01-03Z') \g /dev/null
select memory_test.written() as amended \gset
select is(memory_test.undo(:'amended'), 'undone', 'an amendment can be undone');
select results_eq($$ select p.content, p.original_item from memory.consolidation_proposals as p where p.position = 2 $$, $$ values ('[Hal] [cat]: Tom', null::jsonb) $$, 'then the proposal says what the LLM wrote');
select memory.amend_proposal(:'run', 2, '{"content": "Kim"}', '2026-01-03Z') \g /dev/null
select memory_test.written() as amended \gset
select memory.amend_proposal(:'run', 2, '{"content": "Kit"}', '2026-01-03Z') \g /dev/null
select memory_test.written() as amended_again \gset
select matches(memory_test.undo(:'amended'), format('^PM004: .*has changed since: event %s$', :'amended_again'), 'the last amendment only');
select is(memory_test.undo(:'amended_again'), 'undone', 'which takes all of them back');
select memory.accept_proposals(:'run', '{1,2,4}', '2026-01-03Z') \g /dev/null
select memory_test.written() as accepted \gset
select is((select p.inverse from memory.undo_preview_event(:'accepted') as p), 'let 3 proposals wait again', 'the proposals that one call accepted belong together');
select is((select p.undone_event_id from memory.undo_preview_event(memory_test.event_of('fact_superseded', :'hal_age')) as p), (select p.undone_event_id from memory.undo_preview_event(:'accepted') as p), 'and so does what that changed');
select memory.reject_proposals(:'run', '{3}', '2026-01-04Z') \g /dev/null
select memory_test.written() as rejected \gset
select is((select r.status from memory.consolidation_runs as r where r.id = :'run'), 'done', 'all is decided');
select is(memory_test.undo(:'rejected'), 'undone', 'a rejection can be undone');
select is(memory_test.undo(:'accepted'), 'undone', 'what was accepted, too');
select is((select to_jsonb(r) - 'finished_at' from memory.consolidation_runs as r where r.id = :'run'), :'run_before'::jsonb, 'then the run and its counts are what they were');
select is((select count(*) from memory.preview_proposals(:'run', as_of => '2026-01-05Z') as p where p.status = 'proposed'), 4::bigint, 'all proposals wait');
select is(array(select f.lifecycle_state from memory.facts as f where f.subject = 'Hal' order by f.content), '{active,retracted,retracted}', 'what they stored is forgotten, and what it superseded holds');
select is(memory_test.image('rule', :'quick'), :'quick_before'::jsonb, 'the rule is not confirmed');
select is_empty(format('select from memory.get_links(%L, %L)', 'rule', :'quick'), 'and has no evidence');
select memory.amend_proposal(:'run', 2, '{"content": "Kim"}', '2026-01-05Z') \g /dev/null
select memory_test.written() as amended \gset
select memory.accept_proposals(:'run', '{2}', '2026-01-05Z') \g /dev/null
select memory_test.written() as accepted_one \gset
select is(memory_test.undo(:'accepted_one'), 'undone', 'an amended proposal waits again, too');
select is(memory_test.undo(:'amended'), 'undone', 'and what was decided and undone does not keep its amendment');
select memory.accept_proposals(:'run', as_of => '2026-01-06Z') \g /dev/null
select memory_test.written() as accepted \gset
select is((select r.facts_created from memory.consolidation_runs as r where r.id = :'run'), 2, 'they can be accepted after all');
select memory.confirm_memory('fact', f.id, '2026-01-07Z') from memory.facts as f where f.predicate = 'cat' and f.validity = 'active' \g /dev/null
select memory_test.written() \g /dev/null
select matches(memory_test.undo(:'accepted'), '^PM004: .*has changed since: fact_confirmed', 'but not undone once something newer depends on one of them');
select is((select p.role from memory.undo_preview_event(memory_test.event_of('episode_consolidated')) as p), 'worker', 'a run is for workers to undo');
select is(memory_test.undo(memory_test.event_of('episode_consolidated')), 'undone', 'an episode stands for the run that consolidated it');
select is((select r.status from memory.consolidation_runs as r where r.id = :'run'), 'undone', 'which is undone');
select matches(memory_test.undo(:'accepted'), '^PM004: .*run .* is undone$', 'then so is the review');
select memory.requeue_run(:'run', '2026-01-07Z') \g /dev/null
select memory_test.written() as requeued \gset
select matches(memory_test.undo(:'requeued'), '^PM003: .*consolidation decides on the state of an episode$', 'an episode that waits again is not undone');

-- Rules that were replaced

select memory.store_rule('Offer tea', as_of => '2026-01-01Z') as tea_rule \gset
select memory_test.written() \g /dev/null
select memory.replace_rule(:'tea_rule', 'Offer coffee', as_of => '2026-01-02Z') as coffee_rule \gset
select memory_test.written() \g /dev/null
select is(memory_test.undo(memory_test.event_of('rule_retracted', :'tea_rule')), 'undone', 'that a rule was replaced is undone');
select is(
  array(select r.lifecycle_state from memory.rules as r where r.id in (:'tea_rule', :'coffee_rule') order by r.content), '{retracted,active}',
  'the new one is forgotten, and the old one is back'
);

-- Two rules marked in one write

select memory.store_rule('Knock', as_of => '2026-01-01Z') as knock \gset
select memory.store_rule('Ring', as_of => '2026-01-01Z') as ring \gset
select memory_test.written() \g /dev/null
select memory.mark_helpful(r.id, as_of => '2026-01-10Z') from unnest(array[:'knock', :'ring']::uuid[]) as r (id) \g /dev/null
select memory_test.written() \g /dev/null
select jsonb_array_length(p.details -> 'rule_application_ids') as marks
from memory.memory_events as e
cross join lateral memory.plan_change_undo(null, e, '{}') as p
where e.memory_id = :'knock' and e.payload ? 'rule_application_id' \gset
select is(:'marks'::integer, 1, 'a mark is undone without that of another rule');

-- Entries that were merged

select memory.create_entry('Tea is green and hot', as_of => '2026-01-01Z') \g /dev/null
select memory.create_entry('tea is GREEN and hot', as_of => '2026-01-01Z') \g /dev/null
select memory_test.written() \g /dev/null
select memory.consolidate_entries(as_of => '2026-01-02Z') \g /dev/null
select memory_test.written() as consolidated \gset
select matches(memory_test.undo(:'consolidated'), '^PM003: .*entries_consolidated has no inverse$', 'each merge of entries is undone by itself');
select m.merged_id from memory.entry_merges as m \gset
select is(memory_test.undo(memory_test.event_of('entry_archived')), 'undone', 'by the event of one that was merged');
select is(array(select e.lifecycle_state from memory.entries as e where e.content ilike 'tea is%' order by 1), '{active,active,retracted}', 'then there are two again');
select matches(memory_test.undo(memory_test.event_of('entry_deleted', :'merged_id')), '^PM003: .*is part of an undo$', 'which is not undone');

-- Configuration

select memory.configure('{"retrieval_limit": 7, "min_confidence": 0.4}') \g /dev/null
select memory_test.written() as configured \gset
select is((select p.inverse from memory.undo_preview_event(:'configured') as p), 'set min_confidence, retrieval_limit back', 'settings are set back');
select is(memory_test.undo(:'configured'), 'undone', 'by undoing their change');
select results_eq('select s.retrieval_limit, s.min_confidence, s.consolidation_review from memory.current_settings() as s', $$ values (20, 0.2::float8, true) $$, 'others stay');
select memory.configure('{"retrieval_limit": 7}') \g /dev/null
select memory_test.written() as configured \gset
select memory.configure('{"retrieval_limit": 8}') \g /dev/null
select memory_test.written() \g /dev/null
select matches(memory_test.undo(:'configured'), '^PM004: .*retrieval_limit was set anew since$', 'what was set anew since stays');
select is(memory_test.undo(memory_test.event_of('settings_created')), 'undone', 'the first change of settings sets them back to their defaults');
select is((select s.consolidation_review from memory.current_settings() as s), false, 'as they were');
select memory.configure('{"consolidation_instructions": "Be brief"}') \g /dev/null
select memory_test.written() as instructed \gset
select matches(memory_test.undo(:'instructed'), '^PM003: .*the audit does not have the text of consolidation_instructions$', 'texts are not in the audit');

select memory.add_sensitive_pattern('house', 'key', 'abc[0-9]+', required_words => '{door}') \g /dev/null
select memory_test.written() as added \gset
select is(memory_test.undo(:'added'), 'undone', 'a pattern that was added is removed');
select memory.add_sensitive_pattern('house', 'key', 'abc[0-9]+', required_words => '{door}') \g /dev/null
select memory_test.written() as added \gset
select memory.remove_sensitive_pattern('house', 'key') \g /dev/null
select memory_test.written() as removed \gset
select matches(memory_test.undo(:'added'), '^PM004: .*the pattern was removed since$', 'once');
select is(memory_test.undo(:'removed'), 'undone', 'one that was removed is added again');
select results_eq($$ select t.pattern, t.required_words from memory.tenant_patterns as t $$, $$ values ('abc[0-9]+', '{door}'::text[]) $$, 'as it was');
select matches(memory_test.undo(:'removed'), 'undone before', 'once');
select memory.remove_sensitive_pattern('house', 'key') \g /dev/null
select memory_test.written() as removed \gset
select memory.add_sensitive_pattern('house', 'key', 'xyz[0-9]+') \g /dev/null
select memory_test.written() \g /dev/null
select matches(memory_test.undo(:'removed'), '^PM004: .*the pattern was set anew since$', 'not in place of another one');

select id as token from memory.create_access_token('phone', 'reader') \gset
select memory_test.written() as token_created \gset
select is(memory_test.undo(:'token_created'), 'undone', 'a new token is revoked');
select isnt((select t.revoked_at from memory.access_tokens as t where t.id = :'token'), null, 'at once');
select matches(memory_test.undo(memory_test.event_of('access_token_revoked')), '^PM003', 'which is not undone');
select memory.grant_approval('write_sensitive', 'health', reason => 'asked', as_of => now()) as approval \gset
select memory_test.written() as granted \gset
select is(memory_test.undo(:'granted'), 'undone', 'an approval is revoked');
select isnt((select a.revoked_at from memory.approvals as a where a.id = :'approval'), null, 'at once');
select memory.start_reembedding('other', '1', 384) as version \gset
select memory_test.written() as started \gset
select is(memory_test.undo(:'started'), 'undone', 'a change of the embedding model is stopped');
select is((select v.status from memory.embedding_versions as v where v.id = :'version'), 'retired', 'by undoing its beginning');

-- Items and imports

-- Others, which have changed, before and after it.
select memory.put_items(format('[{"namespace": ["b"], "key": %s, "value": {"x": %s}}]', to_json(k.key), k.value)::jsonb, k.stored_at)
from (values ('j', 1, timestamptz '2026-01-01Z'), ('l', 1, '2026-01-01Z'), ('j', 2, '2026-01-02Z'), ('l', 2, '2026-01-02Z')) as k (key, value, stored_at) \g /dev/null
select memory_test.written() \g /dev/null
select memory.put_items('[{"namespace": ["b"], "key": "k", "value": {"x": 1}}]', '2026-01-01Z') \g /dev/null
select memory_test.written() as put \gset
select is(memory_test.undo(:'put'), 'undone', 'an item that was stored is deleted');
select is((select string_agg(i.key collate "default", ',' order by i.key) from memory.store_items as i), 'j,l', 'by undoing that, and no other one');
select matches(memory_test.undo(memory_test.event_of('item_deleted')), '^PM003: .*is part of an undo$', 'for good');
select memory.put_items('[{"namespace": ["b"], "key": "k", "value": {"x": 1}}]', '2026-01-01Z') \g /dev/null
select memory_test.written() as put \gset
select memory.put_items('[{"namespace": ["b"], "key": "k", "value": {"x": 2}}]', '2026-01-02Z') \g /dev/null
select memory_test.written() as put_again \gset
select matches(memory_test.undo(:'put'), '^PM004: .*item .* has changed since$', 'unless it has changed');
select matches(memory_test.undo(:'put_again'), '^PM003: .*item_updated has no inverse$', 'which is not undone');
select memory.import_memories('[{"type": "fact", "subject": "Ida", "predicate": "age", "content": "5"}]', 'other', 'from a list', as_of => '2026-01-01Z') \g /dev/null
select memory_test.written() as imported \gset
select is((select p.inverse from memory.undo_preview_event(memory_test.event_of('import_started')) as p), 'undo the import from a list', 'an import is undone as a whole');
select is(memory_test.undo(memory_test.event_of('import_started')), 'undone', 'by the event of its beginning');
select is((select b.status from memory.import_batches as b), 'undone', 'then it is undone');
select memory.import_memories('[{"type": "fact", "subject": "Ida", "predicate": "age", "content": "6"}]', 'other', 'from another list', as_of => '2026-01-01Z') \g /dev/null
select memory_test.written() \g /dev/null
select is(memory_test.undo(memory_test.event_of('import_started')), 'undone', 'another import is undone on its own');

-- Guarded entries

select id as guarded from memory.write_memory(
  '{"content": "Ada drinks green tea", "scope": {"user_id": "ada"},
    "metadata": {"category": "preference", "confidence": 0.9, "importance": "medium", "source": "user"}}',
  'loop', as_of => '2026-01-01Z'
) \gset
select memory_test.written() \g /dev/null
select memory.delete_entry(e.entry_id, as_of => '2026-01-02Z') from memory.entries as e where e.id = :'guarded' \g /dev/null
select memory_test.written() as deleted \gset
select is(memory_test.undo(:'deleted'), 'undone', 'the deletion of a guarded entry can be undone');
select is(memory_test.undo(memory_test.event_of('entry_created', :'guarded')), 'undone', 'so can that it was written');
select is((select e.lifecycle_state from memory.entries as e where e.id = :'guarded'), 'retracted', 'which deletes it');
select id as guarded from memory.write_memory(
  '{"content": "Ada drinks green tea on Mondays", "scope": {"user_id": "ada"},
    "metadata": {"category": "preference", "confidence": 0.9, "importance": "medium", "source": "user", "expires_at": "2026-02-01"}}',
  'loop', as_of => '2026-01-01Z'
) \gset
select memory_test.written() \g /dev/null
select memory.expire_memory('2026-02-02Z') \g /dev/null
select memory_test.written() \g /dev/null
select matches(memory_test.undo(memory_test.event_of('memory_expired', :'guarded')), '^PM003: .*cannot go from expired back to guarded$', 'one that has expired stays so');
select status from memory.write_memory('{"content": "x"}', as_of => '2026-01-01Z') \g /dev/null
select memory_test.written() \g /dev/null
select matches(
  memory_test.undo(memory_test.event_of('memory_write_attempt')), '^PM003: .*event .* changed nothing$',
  'a rejected write has changed nothing'
);
select id from memory.query_memory('green tea', user_id => 'ada', as_of => '2026-01-01Z') \g /dev/null
select memory_test.written() \g /dev/null
select matches(memory_test.undo(memory_test.event_of('memory_query')), '^PM003: .*event .* changed nothing$', 'nor has a query');
select is(
  (select p.is_undoable from memory.undo_preview_event(memory_test.event_of('memory_query')) as p), false,
  'as the preview says'
);

-- Who may undo, and what not

select throws_ok($$ select memory.undo_event(gen_random_uuid()) $$, 'PM001', null, 'an unknown event is refused');
select throws_ok($$ select memory.undo_event(null) $$, 'PM001', null, 'so is none');
select throws_ok($$ select memory.undo_preview_event(gen_random_uuid()) $$, 'PM001', null, 'neither has a preview');
select throws_ok(format('select memory.undo_event(%L, %L)', :'tea_stored', '2126-01-01Z'), 'PM002', null, 'the distant future is refused');
select memory.delete_entry(:'other', true) \g /dev/null
select memory_test.written() \g /dev/null
select matches(memory_test.undo(memory_test.event_of('entry_purged')), '^PM003: .*entry_purged has no inverse$', 'what was deleted for good does not come back');
select matches(memory_test.undo((select e.id from memory.memory_events as e where e.event_type = 'entry_created' and not exists (select from memory.entries as n where n.id = e.memory_id) limit 1)), '^PM003: .*is gone$', 'nor can its creation be undone');

select memory_test.a_login('undo_admin', 'a', 'memory_admin');
select memory_test.a_login('undo_writer', 'a', 'memory_writer');
select memory_test.a_login('undo_reader', 'a', 'memory_reader');
select memory_test.share_results();
select memory_test.as_tenant('a') \g /dev/null
select memory.store_fact('Jo', 'age', '5', as_of => '2026-01-01Z') as jo \gset
select memory_test.written() as jo_stored \gset
select memory.configure('{"retrieval_limit": 9}') \g /dev/null
select memory_test.written() as configured \gset
set local session authorization undo_reader;
select throws_ok(format('select memory.undo_event(%L)', :'jo_stored'), '42501', null, 'a reader undoes nothing');
select is((select p.is_undoable from memory.undo_preview_event(:'jo_stored') as p), true, 'but sees what can be undone');
set local session authorization undo_admin;
select throws_ok(format('select memory.undo_event(%L)', :'jo_stored'), 'PM008', 'it takes the role memory_writer to forget the fact', 'an admin does not undo what only writers do');
set local session authorization undo_writer;
select throws_ok(format('select memory.undo_event(%L)', :'configured'), 'PM008', 'it takes the role memory_admin to set retrieval_limit back', 'nor a writer what only admins do');
select is((select u.outcome from memory.undo_event(:'jo_stored') as u), 'undone', 'a writer undoes what writers do');
set local session authorization undo_admin;
select is((select u.outcome from memory.undo_event(:'configured') as u), 'undone', 'and an admin what admins do');
set local session authorization default;
select memory_test.as_tenant('b') \g /dev/null
select throws_ok(format('select memory.undo_event(%L)', :'jo_stored'), 'PM001', null, 'another tenant has no such event');

select * from finish();
rollback;
