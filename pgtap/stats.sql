begin;
\ir fixtures.sql
select plan(19);

select is(
  memory.memory_stats(as_of => '2026-01-01Z'),
  '{
    "episodes": {"total": 0, "unconsolidated": 0, "backlog_age_hours": null, "consolidated": 0, "failed": 0,
      "dead_letter": 0, "expired": 0},
    "facts": {"active": 0, "fading": 0, "superseded": 0, "expired": 0, "retracted": 0},
    "rules": {"candidate": 0, "established": 0, "proven": 0, "anti_pattern": 0, "forgotten": 0},
    "entries": {"active": 0, "aging": 0, "aged": 0, "archived": 0, "guarded": 0, "expired": 0, "deleted": 0,
      "flagged": 0},
    "embeddings": {"pending": 0}
  }',
  'the stats of an empty memory are zero'
);
insert into memory.episodes (tenant_id, butler, content, created_at, expires_at)
values
('a', 'home', 'e1', '2026-01-01Z', '2026-01-08Z'), ('a', 'home', 'e2', '2026-01-02Z', null),
('a', 'home', 'e3', '2025-12-01Z', null), ('a', 'work', 'e4', '2026-01-01Z', '2026-01-02Z'),
('a', 'work', 'e5', '2026-01-01Z', null);
update memory.episodes as e
set consolidation_status = case e.content when 'e3' then 'consolidated' when 'e4' then 'failed' else 'dead_letter' end
where e.content in ('e3', 'e4', 'e5');
insert into memory.facts (tenant_id, subject, predicate, content, validity, metadata, scope)
values
('a', 's', '1', 'c', 'active', '{}', 'global'), ('a', 's', '2', 'c', 'active', '{"status": "fading"}', 'global'),
('a', 's', '3', 'c', 'superseded', '{}', 'home'), ('a', 's', '4', 'c', 'expired', '{}', 'home'),
('a', 's', '5', 'c', 'retracted', '{}', 'work'), ('a', 's', '6', 'c', 'active', '{}', 'work');
insert into memory.rules (tenant_id, content, maturity, metadata, scope)
values
('a', 'r1', 'candidate', '{}', 'global'), ('a', 'r2', 'established', '{}', 'home'), ('a', 'r3', 'proven', '{}', 'work'),
('a', 'r4', 'anti_pattern', '{}', 'global'), ('a', 'r5', 'proven', '{"forgotten": true}', 'home'),
('a', 'r6', 'candidate', '{"status": "fading"}', 'work');
insert into memory.entries (tenant_id, entry_id, content, scope, retention, policy, user_id, created_at, flagged_at)
values
('a', 'mem-2026-01-01-001', 'n1', 'global', 'active', 'meridian', null, '2026-01-01Z', '2026-01-02Z'),
('a', 'mem-2026-01-01-002', 'n2', 'home', 'active', 'meridian', null, '2026-01-01Z', null),
('a', 'mem-2026-01-01-003', 'n3', 'home', 'aging', 'meridian', null, '2026-01-01Z', null),
('a', 'mem-2026-01-01-004', 'n4', 'work', 'aged', 'meridian', null, '2026-01-01Z', '2026-01-02Z'),
('a', 'mem-2026-01-01-005', 'n5', 'work', 'archived', 'meridian', null, '2026-01-01Z', '2026-01-02Z'),
('a', 'mem-2026-01-01-006', 'n6', 'work', 'active', 'billy', 'Ada', '2026-01-01Z', '2026-01-02Z'),
('a', 'mem-2026-01-01-007', 'n7', 'work', 'active', 'meridian', null, '2026-01-01Z', '2026-01-02Z'),
('a', 'mem-2026-01-01-008', 'n8', 'home', 'active', 'meridian', null, '2026-01-01Z', '2026-01-02Z');
update memory.entries as e set expired_at = '2026-01-02Z' where e.content = 'n7';
update memory.entries as e set deleted_at = '2026-01-02Z' where e.content = 'n8';
select is(
  memory.memory_stats(as_of => '2026-01-03Z'),
  '{
    "episodes": {"total": 5, "unconsolidated": 2, "backlog_age_hours": 48.00, "consolidated": 1, "failed": 1,
      "dead_letter": 1, "expired": 1},
    "facts": {"active": 2, "fading": 1, "superseded": 1, "expired": 1, "retracted": 1},
    "rules": {"candidate": 2, "established": 1, "proven": 1, "anti_pattern": 1, "forgotten": 1},
    "entries": {"active": 2, "aging": 1, "aged": 1, "archived": 1, "guarded": 1, "expired": 1, "deleted": 1,
      "flagged": 3},
    "embeddings": {"pending": 25}
  }',
  'memory_stats counts each memory once in its type'
);
insert into memory.embedding_queue (tenant_id, memory_type, memory_id, target)
select 'a', 'fact', f.id, 'building' from memory.facts as f where f.tenant_id = 'a';
select is(
  memory.memory_stats(as_of => '2026-01-03Z') -> 'embeddings', '{"pending": 25}',
  'a vector that a version to come waits for is not pending'
);
select is(
  memory.memory_stats('home', '2026-01-03Z') - '{episodes,embeddings}'::text[],
  '{
    "facts": {"active": 1, "fading": 1, "superseded": 1, "expired": 1, "retracted": 0},
    "rules": {"candidate": 1, "established": 1, "proven": 0, "anti_pattern": 1, "forgotten": 1},
    "entries": {"active": 2, "aging": 1, "aged": 0, "archived": 0, "guarded": 0, "expired": 0, "deleted": 1,
      "flagged": 1}
  }',
  'memory_stats of a scope counts its facts, rules and entries and global ones'
);
select is(
  memory.memory_stats(as_of => '2026-01-01 01:14:06Z') #>> '{episodes,backlog_age_hours}', '1.24',
  'the age of the backlog is in hundredths of an hour'
);
select is(
  memory.memory_stats('home', '2026-01-03Z') -> 'episodes', memory.memory_stats(as_of => '2026-01-03Z') -> 'episodes',
  'memory_stats of a scope counts all episodes'
);
select throws_ok($$ select memory.memory_stats('') $$, 'PM002', null, 'an empty scope is refused');
select throws_ok(
  $$ select memory.memory_stats(as_of => null) $$, 'PM002', null,
  'a NULL time is refused'
);

-- Views of the dashboards

select memory.store_fact('Ada', 'mood', 'well', source_butler => 'home', as_of => now() - interval '10 days') as well \gset
select memory.store_fact('Ada', 'mood', 'ill', permanence => 'ephemeral', as_of => now() - interval '10 days') as ill \gset
select memory_test.a_login('stats_reader', 'a', 'memory_reader');
select memory_test.a_login('stats_stranger', 'b', 'memory_reader');
select memory_test.share_results();
set session authorization stats_reader;
select results_eq(
  $$ select m.memory_type, count(*) from memory.memory_overview as m group by 1 order by 1 $$,
  $$ values ('entry', 7::bigint), ('episode', 5), ('fact', 8), ('rule', 6) $$,
  'a reader sees all memories of its tenant that are not guarded'
);
select results_eq(
  format($$ select m.lifecycle_state, m.confidence, round(m.effective_confidence::numeric, 4), m.supersedes_id
            from memory.memory_overview as m where m.id = %L $$, :'ill'),
  format($$ values ('active', 1.0::float8, round(exp(-1.0), 4), %L::uuid) $$, :'well'),
  'memory_overview shows the state and the current confidence of a memory'
);
select is(
  (select m.lifecycle_state from memory.memory_overview as m where m.content = 'e4'), 'expired',
  'memory_overview shows an expired episode as expired'
);
select results_eq(
  format($$ select e.event_type, e.from_state, e.to_state from memory.event_feed as e
            where e.memory_id = %L order by e.seq $$, :'well'),
  $$ values ('fact_created', '[*]', 'active'), ('fact_superseded', 'active', 'superseded') $$,
  'event_feed shows the events of a memory'
);
select results_eq(
  $$ select p.source_id, p.relation, p.target_id, p.target_deleted_at from memory.provenance as p $$,
  format($$ values (%L::uuid, 'supersedes', %L::uuid, null::timestamptz) $$, :'ill', :'well'),
  'provenance shows the links of a memory'
);
select is_empty(
  $$ select * from memory.rule_outcomes $$,
  'rule_outcomes is empty without applications'
);
select throws_ok(
  $$ select f.embedding from memory.facts as f $$, '42501', null,
  'a reader cannot read vectors'
);
select throws_ok(
  $$ select * from memory.settings $$, '42501', null,
  'a reader cannot read settings'
);
select throws_ok(
  $$ delete from memory.memory_overview $$, null, null,
  'a reader cannot delete memories'
);
set session authorization stats_stranger;
select is_empty(
  $$ select * from memory.memory_overview $$,
  'a reader of another tenant sees none of the memories'
);
select is_empty(
  $$ select * from memory.event_feed as e where e.memory_id is not null $$,
  'a reader of another tenant sees none of the events'
);
reset session authorization;

select * from finish();
rollback;
