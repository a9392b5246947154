begin;
\ir fixtures.sql
select plan(61);

insert into memory.entities (tenant_id, id, canonical_name, entity_type, aliases)
values
('a', '00000000-0000-0000-0000-0000000000a1', 'Anna Schmidt', 'person', '{Anna,"Dr. Schmidt"}'),
('a', '00000000-0000-0000-0000-0000000000a2', 'Anna', 'person', '{}'),
('a', '00000000-0000-0000-0000-0000000000a3', 'Hannah Arendt', 'person', '{}'),
('a', '00000000-0000-0000-0000-0000000000a4', 'Annapolis', 'place', '{}'),
('a', '00000000-0000-0000-0000-0000000000a5', 'Johanna', 'person', '{ANNA}'),
('a', '00000000-0000-0000-0000-0000000000a6', 'Smythe', 'person', '{}'),
('a', '00000000-0000-0000-0000-0000000000a7', '100% Wool_Shop', 'organization', '{}'),
('a', '00000000-0000-0000-0000-0000000000a8', 'ANNA', 'organization', '{}');

create function memory_test.resolved(
  name text,
  entity_type text default null,
  context_hints jsonb default '{}',
  enable_fuzzy boolean default false,
  max_results integer default 20
)
  returns text[]
  language sql
  begin atomic
    select array_agg(format('%s %s %s', r.canonical_name, r.name_match, r.score) order by r.place)
    from memory.entity_resolve(
      resolved.name, entity_type => resolved.entity_type, context_hints => resolved.context_hints,
      enable_fuzzy => resolved.enable_fuzzy, max_results => resolved.max_results
    ) with ordinality as r (
      entity_id, canonical_name, entity_type, score, name_match, aliases, place
    );
  end;

-- Kinds of matches

select is(
  memory_test.resolved('anna'),
  '{ANNA exact 100,Anna exact 100,Anna Schmidt alias 80,Johanna alias 80,Annapolis prefix 50,Hannah Arendt prefix 50}',
  'canonical name, alias and part of a name, in whatever case: the best kind of match counts, then the canonical name'
);
select results_eq(
  $$ select * from memory.entity_resolve('dr.  SCHMIDT') $$,
  $$ values (
       '00000000-0000-0000-0000-0000000000a1'::uuid, 'Anna Schmidt', 'person', 80::float8, 'alias', '{Anna,"Dr. Schmidt"}'::text[]
     ) $$,
  'a candidate tells what it is called, and why it fits'
);
select is(memory_test.resolved('anna', 'place'), '{Annapolis prefix 50}', 'of one type, if wanted');
select is(memory_test.resolved('schmi'), '{Anna Schmidt prefix 50}', 'a part in the middle');
select is(memory_test.resolved('an', max_results => 3), '{ANNA prefix 50,Anna prefix 50,Anna Schmidt prefix 50}', 'two letters will do');
select is(memory_test.resolved('y'), '{Smythe prefix 50}', 'and so will one');
select is(memory_test.resolved('anna', max_results => 2), '{ANNA exact 100,Anna exact 100}', 'the best come first');
select is(memory_test.resolved('%'), '{"100% Wool_Shop prefix 50"}', 'nothing in a name is a wildcard: %');
select is(memory_test.resolved('l_s'), '{"100% Wool_Shop prefix 50"}', 'nor _');
select is(memory_test.resolved('\'), null, 'nor \');
select is(memory_test.resolved('Bartholomew'), null, 'no fit, no candidate');
select is(
  (select count(*) from memory.entities as e where e.canonical_name = 'Bartholomew'), 0::bigint, 'and none is made'
);
select throws_ok($$ select memory.entity_resolve(' ') $$, 'PM002', 'name is empty', 'a blank name is refused');
select throws_ok($$ select memory.entity_resolve(null) $$, 'PM002', 'name is empty', 'as is none');
select throws_ok($$ select memory.entity_resolve('a', entity_type => 'robot') $$, 'PM002', 'unknown entity_type: ''robot''', 'and an unknown type');
select throws_ok($$ select memory.entity_resolve('a', 'b') $$, 'PM005', null, 'and another tenant');
select lives_ok($$ select memory.entity_resolve('a', 'a') $$, 'the own one may be named');
select throws_ok($$ select memory.entity_resolve('a', max_results => 0) $$, 'PM002', 'max_results is 0', 'some have to be wanted');

-- Accents and scripts

insert into memory.entities (tenant_id, canonical_name, entity_type, aliases)
values
('a', 'José Núñez', 'person', '{Pepe,"El Niño"}'), ('a', 'JOSE NUNEZ', 'other', '{}'),
('a', 'Müller & Söhne', 'organization', '{}'), ('a', 'Łódź', 'place', '{}'), ('a', 'Straße 7', 'place', '{}'),
('a', 'Đặng Thị Hương', 'person', '{}'), ('a', 'İpek Işık', 'person', '{}'), ('a', 'Ελένη', 'person', '{}'),
('a', 'Андрей Ёлкин', 'person', '{}'), ('a', '張偉', 'person', '{张伟}'), ('a', 'ガルシア', 'person', '{}'),
('a', '김철수', 'person', '{}'), ('a', 'ＮＥＣ', 'organization', '{}'), ('a', 'Brian O’Neil', 'person', '{}'),
('a', U&'\0301', 'other', '{}');
select is(memory_test.resolved(n.name), n.expected, n.what)
from (values
  (1, 'jose nunez', '{"JOSE NUNEZ exact 100","José Núñez exact 100"}'::text[], 'an accent counts as little as case'),
  (2, U&'JOSE\0301 NU\0301N\0303EZ', '{"JOSE NUNEZ exact 100","José Núñez exact 100"}', 'composed or not'),
  (3, 'el nino', '{"José Núñez alias 80"}', 'in an alias, too'),
  (4, 'José', '{"JOSE NUNEZ prefix 50","José Núñez prefix 50"}', 'in the beginning of a name'),
  (5, 'nuñez', '{"JOSE NUNEZ prefix 50","José Núñez prefix 50"}', 'and in a part of one'),
  (6, 'Muller & Sohne', '{"Müller & Söhne exact 100"}', 'umlauts are accents'),
  (7, 'lodz', '{"Łódź exact 100"}', 'strokes are, too'),
  (8, 'STRASSE 7', '{"Straße 7 exact 100"}', 'ß is ss'),
  (9, 'Dang Thi Huong', '{"Đặng Thị Hương exact 100"}', 'Vietnamese'),
  (10, 'ipek isik', '{"İpek Işık exact 100"}', 'Turkish'),
  (11, 'ΕΛΕΝΗ', '{"Ελένη exact 100"}', 'Greek'),
  (12, 'андрей елкин', '{"Андрей Ёлкин exact 100"}', 'Russian'),
  (13, 'андреи елкин', null, 'in which й is a letter of its own'),
  (14, '张伟', '{"張偉 alias 80"}', 'Chinese, as written'),
  (15, '張', '{"張偉 prefix 50"}', 'also a part of it'),
  (16, 'ｶﾞﾙｼｱ', '{"ガルシア exact 100"}', 'Japanese in half width'),
  (17, 'カルシア', null, 'but not without dakuten'),
  (18, '철수', '{"김철수 prefix 50"}', 'Korean'),
  (19, 'nec', '{"ＮＥＣ exact 100"}', 'full width'),
  (20, 'brian o''neil', '{"Brian O’Neil exact 100"}', 'curly apostrophes are straight'),
  (21, U&'\0301', '{"́ exact 100"}', 'a name of marks alone is itself')
) as n (position, name, expected, what)
order by n.position;
select is(
  memory_test.resolved('Nuňes José', enable_fuzzy => true), '{"JOSE NUNEZ fuzzy 20","José Núñez fuzzy 20"}',
  'what resembles does so without accents'
);
select is(
  memory_test.resolved('lodz', context_hints => jsonb_build_object('domain_scores', jsonb_build_object(e.id::text, 1))),
  '{"Łódź exact 101"}', 'one that the caller scores is found without accents'
)
from memory.entities as e where e.canonical_name = 'Łódź';

-- Fuzzy

select is(memory_test.resolved('Smithe'), null, 'what only resembles does not fit');
select is(memory_test.resolved('Smithe', enable_fuzzy => true), '{Smythe fuzzy 20}', 'unless that is wanted');
select is(
  (memory_test.resolved('anna', enable_fuzzy => true))[1:6], memory_test.resolved('anna'),
  'it only adds what was not found otherwise'
);
select is(memory_test.resolved('sm', enable_fuzzy => true), '{Smythe prefix 50}', 'names of two letters resemble nothing');
set local pg_trgm.similarity_threshold = 0.9;
select is(memory_test.resolved('Smithe', enable_fuzzy => true), '{Smythe fuzzy 20}', 'whatever similarity the session has set');
select is(current_setting('pg_trgm.similarity_threshold')::float8, 0.9::float8, 'which it keeps');
savepoint with_extension;
drop extension pg_trgm cascade;
select is(memory_test.resolved('Smithe', enable_fuzzy => true), null, 'without pg_trgm nothing resembles, and nothing fails');
select is(memory_test.resolved('anna', enable_fuzzy => true), memory_test.resolved('anna'), 'all the rest is found as ever');
rollback to with_extension;

-- Hints

select memory.store_fact('Anna', 'works on', 'quantum computing at the institute', entity_id => '00000000-0000-0000-0000-0000000000a2') \g /dev/null
select memory.store_fact('Anna', 'likes', 'gardens', entity_id => '00000000-0000-0000-0000-0000000000a8') \g /dev/null
select is(
  memory_test.resolved('anna', 'person', '{"topic": "gardens of quantum computers"}'),
  '{Anna exact 106.6667,Anna Schmidt alias 80,Johanna alias 80,Hannah Arendt prefix 50}',
  'facts that share words with the topic count: here 2 of 6, a third of 20'
);
select is(
  memory_test.resolved('anna', 'organization', '{"mentioned_with": ["Anna", "gardens"]}'),
  '{ANNA exact 113.3333}', 'and those that share words with other names: 2 of 3'
);
select is(
  memory_test.resolved('anna', 'person', '{"domain_scores": {"00000000-0000-0000-0000-0000000000A5": 30.5, "00000000-0000-0000-0000-0000000000a1": -1, "00000000-0000-0000-0000-0000000000ff": 99}}'),
  '{Johanna alias 110.5,Anna exact 100,Anna Schmidt alias 79,Hannah Arendt prefix 50}', 'scores of the caller are added'
);
insert into memory.entities (tenant_id, canonical_name, entity_type)
select 'a', 'Zoe ' || to_char(n, 'FM0000'), 'person' from generate_series(1, 300) as n;
select is(
  memory_test.resolved(
    'zoe', context_hints => jsonb_build_object('domain_scores', jsonb_build_object(
      (select e.id::text from memory.entities as e where e.canonical_name = 'Zoe 0299'), 1
    )), max_results => 2
  ),
  '{Zoe 0299 prefix 51,Zoe 0001 prefix 50}', 'also of one that many others would have crowded out'
);
select throws_ok(
  $$ select memory.entity_resolve('a', context_hints => '{"domain_scores": {"Anna": 1}}') $$, 'PM002',
  'context_hints hold the unfit key ''domain_scores''', 'scores are of ids'
);
select throws_ok(
  $$ select memory.entity_resolve('a', context_hints => '{"domain_scores": {"00000000-0000-0000-0000-0000000000a5": "x"}}') $$, 'PM002',
  null, 'and numbers'
);
select throws_ok(
  $$ select memory.entity_resolve('a', context_hints => '{"tenant_id": "b"}') $$, 'PM002',
  'context_hints hold the unfit key ''tenant_id''', 'other hints are refused'
);

-- Who is found

update memory.entities as e
set metadata = '{"merged_into": "00000000-0000-0000-0000-0000000000a1"}'
where e.id = '00000000-0000-0000-0000-0000000000a6';
select is(memory_test.resolved('smythe', enable_fuzzy => true), null, 'what was merged away is not found');
insert into memory.entities (tenant_id, canonical_name, entity_type) values ('b', 'Anna of another tenant', 'person');
select is(memory_test.resolved('another tenant', enable_fuzzy => true), null, 'nor is that of another tenant');
insert into memory.entities (tenant_id, canonical_name, entity_type)
select 'a', 'Person ' || n, 'person' from generate_series(1, 3000) as n;
analyze memory.entity_names;
select is(memory_test.resolved('son 2999'), '{Person 2999 prefix 50}', 'one of thousands is found');
set local pg_trgm.similarity_threshold = 0.9;
select ok(
  'Person 2999 fuzzy 20' = any (memory_test.resolved('Persn 2999', enable_fuzzy => true, max_results => 100)),
  'and so is one that resembles'
);
select is(current_setting('pg_trgm.similarity_threshold')::float8, 0.9::float8, 'whatever the session has set');

select * from finish();
rollback;
