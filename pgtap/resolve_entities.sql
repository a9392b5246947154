begin;
\ir fixtures.sql
select plan(67);

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
  'the best kind of match comes first, then the canonical name, in any case'
);
select results_eq(
  $$ select e.canonical_name::text, n.name_match
     from memory.find_names('a', 'anna', null, false, 2) as n
     join memory.entities as e on e.id = n.entity_id
     order by n.name_match, e.canonical_name collate "C" $$,
  $$ values ('ANNA', 'exact'), ('Anna', 'exact'), ('Anna Schmidt', 'prefix'), ('Annapolis', 'prefix') $$,
  'whoever has the very name takes no place from those whose name begins with it'
);
select results_eq(
  $$ select * from memory.entity_resolve('dr.  SCHMIDT') $$,
  $$ values (
       '00000000-0000-0000-0000-0000000000a1'::uuid, 'Anna Schmidt', 'person', 80::float8, 'alias', '{Anna,"Dr. Schmidt"}'::text[]
     ) $$,
  'a candidate has its names and the reason why it matches'
);
select is(
  memory_test.resolved('anna', 'place'), '{Annapolis prefix 50}',
  'entity_type limits the candidates to one type'
);
select is(
  memory_test.resolved('schmi'), '{Anna Schmidt prefix 50}',
  'a part in the middle of a name matches'
);
select is(
  memory_test.resolved('an', max_results => 3), '{ANNA prefix 50,Anna prefix 50,Anna Schmidt prefix 50}',
  'two letters of a name match'
);
select is(memory_test.resolved('y'), '{Smythe prefix 50}', 'one letter of a name matches');
select is(
  memory_test.resolved('anna', max_results => 2), '{ANNA exact 100,Anna exact 100}',
  'max_results keeps the best candidates'
);
select is(
  memory_test.resolved('%'), '{"100% Wool_Shop prefix 50"}',
  'a percent sign in a name is not a wildcard'
);
select is(
  memory_test.resolved('l_s'), '{"100% Wool_Shop prefix 50"}',
  'an underscore in a name is not a wildcard'
);
select is(memory_test.resolved('\'), null, 'a backslash in a name does not escape anything');
select is(memory_test.resolved('Bartholomew'), null, 'a name without a match has no candidates');
select is(
  (select count(*) from memory.entities as e where e.canonical_name = 'Bartholomew'), 0::bigint,
  'resolving an unknown name creates no entity'
);
select throws_ok($$ select memory.entity_resolve(' ') $$, 'PM002', 'name is empty', 'a blank name is refused');
select throws_ok(
  $$ select memory.entity_resolve(null) $$, 'PM002', 'name is empty',
  'a NULL name is refused'
);
select throws_ok(
  $$ select memory.entity_resolve('a', entity_type => 'robot') $$, 'PM002', 'unknown entity_type: ''robot''',
  'an unknown entity_type is refused'
);
select throws_ok(
  $$ select memory.entity_resolve('a', 'b') $$, 'PM005', null,
  'another tenant is refused'
);
select lives_ok($$ select memory.entity_resolve('a', 'a') $$, 'a caller may name its own tenant');
select throws_ok(
  $$ select memory.entity_resolve('a', max_results => 0) $$, 'PM002', 'max_results is 0',
  'max_results of 0 is refused'
);

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
  (
    1, 'jose nunez', '{"JOSE NUNEZ exact 100","José Núñez exact 100"}'::text[],
    'accents are ignored like case'
  ),
  (
    2, U&'JOSE\0301 NU\0301N\0303EZ', '{"JOSE NUNEZ exact 100","José Núñez exact 100"}',
    'decomposed accents are ignored'
  ),
  (3, 'el nino', '{"José Núñez alias 80"}', 'accents in an alias are ignored'),
  (
    4, 'José', '{"JOSE NUNEZ prefix 50","José Núñez prefix 50"}',
    'accents at the beginning of a name are ignored'
  ),
  (
    5, 'nuñez', '{"JOSE NUNEZ prefix 50","José Núñez prefix 50"}',
    'accents in a part of a name are ignored'
  ),
  (6, 'Muller & Sohne', '{"Müller & Söhne exact 100"}', 'umlauts are ignored'),
  (7, 'lodz', '{"Łódź exact 100"}', 'strokes of letters are ignored'),
  (8, 'STRASSE 7', '{"Straße 7 exact 100"}', 'ß matches ss'),
  (
    9, 'Dang Thi Huong', '{"Đặng Thị Hương exact 100"}', 'Vietnamese names match without diacritics'
  ),
  (10, 'ipek isik', '{"İpek Işık exact 100"}', 'Turkish names match without dots and cedillas'),
  (11, 'ΕΛΕΝΗ', '{"Ελένη exact 100"}', 'Greek names match in capital letters'),
  (12, 'андрей елкин', '{"Андрей Ёлкин exact 100"}', 'Russian names match with е for ё'),
  (13, 'андреи елкин', null, 'Russian names do not match with и for й'),
  (14, '张伟', '{"張偉 alias 80"}', 'Chinese names match as written'),
  (15, '張', '{"張偉 prefix 50"}', 'a part of a Chinese name matches'),
  (16, 'ｶﾞﾙｼｱ', '{"ガルシア exact 100"}', 'Japanese names match in half width'),
  (17, 'カルシア', null, 'Japanese names do not match without dakuten'),
  (18, '철수', '{"김철수 prefix 50"}', 'a part of a Korean name matches'),
  (19, 'nec', '{"ＮＥＣ exact 100"}', 'full-width names match in ASCII'),
  (20, 'brian o''neil', '{"Brian O’Neil exact 100"}', 'a straight apostrophe matches a curly one'),
  (21, U&'\0301', '{"́ exact 100"}', 'a name of marks alone matches itself')
) as n (position, name, expected, what)
order by n.position;
select is(
  memory_test.resolved('Nuňes José', enable_fuzzy => true), '{"JOSE NUNEZ fuzzy 20","José Núñez fuzzy 20"}',
  'fuzzy matches ignore accents'
);
select is(
  memory_test.resolved('lodz', context_hints => jsonb_build_object('domain_scores', jsonb_build_object(e.id::text, 1))),
  '{"Łódź exact 101"}', 'an entity that the caller scores is found without accents'
)
from memory.entities as e where e.canonical_name = 'Łódź';

-- Fuzzy

select is(memory_test.resolved('Smithe'), null, 'a similar name does not match by default');
select is(
  memory_test.resolved('Smithe', enable_fuzzy => true), '{Smythe fuzzy 20}',
  'a similar name matches with enable_fuzzy'
);
select is(
  (memory_test.resolved('anna', enable_fuzzy => true))[1:6], memory_test.resolved('anna'),
  'enable_fuzzy only adds candidates'
);
select is(
  memory_test.resolved('sm', enable_fuzzy => true), '{Smythe prefix 50}',
  'names of two letters have no fuzzy matches'
);
set local pg_trgm.similarity_threshold = 0.9;
select is(
  memory_test.resolved('Smithe', enable_fuzzy => true), '{Smythe fuzzy 20}',
  'fuzzy matching ignores the similarity threshold of the session'
);
select is(
  current_setting('pg_trgm.similarity_threshold')::float8, 0.9::float8,
  'fuzzy matching keeps the similarity threshold of the session'
);
savepoint with_extension;
drop extension pg_trgm cascade;
select is(
  memory_test.resolved('Smithe', enable_fuzzy => true), null,
  'without pg_trgm there are no fuzzy matches and no errors'
);
select is(
  memory_test.resolved('anna', enable_fuzzy => true), memory_test.resolved('anna'),
  'without pg_trgm all other candidates are found'
);
rollback to with_extension;

-- Hints

select memory.store_fact('Anna', 'works on', 'quantum computing at the institute', entity_id => '00000000-0000-0000-0000-0000000000a2') \g /dev/null
select memory.store_fact('Anna', 'likes', 'gardens', entity_id => '00000000-0000-0000-0000-0000000000a8') \g /dev/null
select is(
  memory_test.resolved('anna', 'person', '{"topic": "gardens of quantum computers"}'),
  '{Anna exact 108,Anna Schmidt alias 80,Johanna alias 80,Hannah Arendt prefix 50}',
  'facts that share words with the topic add to the score: 2 of 5 words but its name, 8 of 20'
);
select is(
  (memory_test.resolved('anna', 'person', '{"topic": "works on quantum computing at the institute"}'))[1],
  'Anna exact 120', 'a topic of the same words adds 20'
);
select is(
  (memory_test.resolved('anna', 'person', '{"topic": "Anna works on quantum computing at the institute"}'))[1],
  'Anna exact 120', 'a topic with the name adds no less'
);
select is(
  memory_test.resolved('anna', 'organization', '{"mentioned_with": ["Anna", "gardens"]}'),
  '{ANNA exact 113.3333}', 'facts that share words with other names add to the score: 2 of 3 words'
);
select is(
  memory_test.resolved('anna', 'person', '{"domain_scores": {"00000000-0000-0000-0000-0000000000A5": 30.5, "00000000-0000-0000-0000-0000000000a1": -1, "00000000-0000-0000-0000-0000000000ff": 99}}'),
  '{Johanna alias 110.5,Anna exact 100,Anna Schmidt alias 79,Hannah Arendt prefix 50}',
  'domain_scores of the caller are added to the score'
);
insert into memory.entities (tenant_id, canonical_name, entity_type)
select 'a', 'Zoe ' || to_char(n, 'FM0000'), 'person' from generate_series(1, 300) as n;
select is(
  memory_test.resolved(
    'zoe', context_hints => jsonb_build_object('domain_scores', jsonb_build_object(
      (select e.id::text from memory.entities as e where e.canonical_name = 'Zoe 0299'), 1
    )), max_results => 2
  ),
  '{Zoe 0299 prefix 51,Zoe 0001 prefix 50}',
  'an entity that the caller scores is found among many others'
);
select throws_ok(
  $$ select memory.entity_resolve('a', context_hints => '{"domain_scores": {"Anna": 1}}') $$, 'PM002',
  'context_hints have an invalid key or value: ''domain_scores''', 'domain_scores must be keyed by id'
);
select throws_ok(
  $$ select memory.entity_resolve('a', context_hints => '{"domain_scores": {"00000000-0000-0000-0000-0000000000a5": "x"}}') $$, 'PM002',
  null, 'domain_scores must be numbers'
);
select throws_ok(
  $$ select memory.entity_resolve('a', context_hints => '{"tenant_id": "b"}') $$, 'PM002',
  'context_hints have an invalid key or value: ''tenant_id''', 'unknown hints are refused'
);
select throws_ok(
  $$ select memory.entity_resolve('a', context_hints => null) $$, 'PM002',
  'context_hints is not a JSON object', 'no hints are an empty object'
);

-- Which entities are found

update memory.entities as e
set metadata = '{"merged_into": "00000000-0000-0000-0000-0000000000a1"}'
where e.id = '00000000-0000-0000-0000-0000000000a6';
select is(
  memory_test.resolved('smythe', enable_fuzzy => true), null,
  'a merged entity is not found'
);
insert into memory.entities (tenant_id, canonical_name, entity_type) values ('b', 'Anna of another tenant', 'person');
select is(
  memory_test.resolved('another tenant', enable_fuzzy => true), null,
  'an entity of another tenant is not found'
);
insert into memory.entities (tenant_id, canonical_name, entity_type)
select 'a', 'Person ' || n, 'person' from generate_series(1, 3000) as n;
analyze memory.entity_names;
select is(
  memory_test.resolved('son 2999'), '{Person 2999 prefix 50}',
  'one entity among thousands is found'
);
set local pg_trgm.similarity_threshold = 0.9;
select ok(
  'Person 2999 fuzzy 20' = any (memory_test.resolved('Persn 2999', enable_fuzzy => true, max_results => 100)),
  'a similar name among thousands is found'
);
select is(
  current_setting('pg_trgm.similarity_threshold')::float8, 0.9::float8,
  'fuzzy matching among thousands keeps the similarity threshold of the session'
);

-- How many facts are read

select memory_test.as_tenant('many facts') \g /dev/null
select memory.entity_create('Mira', 'person') as mira \gset
select memory.store_fact('Mira', 'hobby', 'astronomy', entity_id => :'mira', as_of => '2026-10-01Z') \g /dev/null
select is(
  memory_test.resolved('Mira', context_hints => '{"topic": "astronomy"}'), '{Mira exact 110}', 'a fact that has the topic adds to the score'
);
select memory.store_fact('Mira', 'note ' || n, 'errand ' || n, entity_id => :'mira', as_of => '2026-10-02Z')
from generate_series(1, 500) as n \g /dev/null
select is(
  memory_test.resolved('Mira', context_hints => '{"topic": "astronomy"}'), '{Mira exact 100}', 'but not behind 500 newer ones'
);

select * from finish();
rollback;
