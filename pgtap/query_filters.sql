begin;
\ir fixtures.sql
select plan(60);

-- The titles say which entries are found.

create function memory_test.entry(
  content text,
  as_of timestamptz default '2026-03-10Z',
  entry_type text default 'note',
  tags jsonb default '[]',
  confidence float8 default 0.7,
  importance float8 default 5.0,
  category text default null,
  scope text default 'global',
  related text[] default '{}',
  expires_at timestamptz default null
)
  returns text
  language sql
  volatile
  return (
    select c.entry_id
    from memory.create_entry(
      content, entry_type => entry_type, tags => tags, confidence => confidence,
      importance => importance, category => category, scope => scope, related => related,
      expires_at => expires_at, as_of => as_of
    ) as c
  );

-- What a query finds on 18 March 2026: titles, contents of facts and rules, in order.
create function memory_test.found(
  query text,
  types text[] default '{entry}',
  scope text default null,
  include_archived boolean default false,
  as_of timestamptz default '2026-03-18 12:00Z'
)
  returns text
  language sql
  stable
  return (
    select coalesce(
      string_agg(
        coalesce(e.title, m.content) || case when f.topic_required then '?' else '' end, ', '
        order by coalesce(e.title, m.content) collate "C"
      ),
      ''
    )
    from memory.filter_memories(
      memory.parse_query(query, memory.current_settings(), as_of), types, scope, include_archived,
      memory.current_settings(), as_of
    ) as f
    left join memory.entries as e on e.id = f.id and f.memory_type = 'entry'
    left join memory.searchable_memories as m on m.id = f.id and m.memory_type = f.memory_type
  );

select memory_test.as_tenant('b');
select memory_test.entry('Python of another tenant', tags => '["python"]');
select memory_test.as_tenant('a');

select memory_test.entry(
  e'# Alpha\nThe quick brown fox of the config.yaml', tags => '["Python", "Two words"]', confidence => 0.95,
  importance => 8, category => 'Work', entry_type => 'preference', scope => 'home'
) as alpha \gset
select memory_test.entry(
  e'# Beta\nThe brown quick fox. To be or not to be.', tags => '["python", "C++"]', confidence => 0.6,
  related => array[:'alpha'], expires_at => '2026-04-01Z'
) as beta \gset
select memory_test.entry(
  e'# Gamma plan\n小狗叫 café', '2026-01-01Z', 'fact', '["Café"]', 0.4, 2, related => array[:'beta']
) as gamma \gset
select memory_test.entry(e'# Aging\nold news', '2025-12-10Z');
select memory_test.entry(e'# Aged\nold news', '2025-09-01Z');
select memory_test.entry(e'# Ancient\nold news', '2025-01-01Z');
select memory_test.entry(e'# Archived\nput away', '2026-03-01Z') as archived \gset
select memory.archive_entry(:'archived', '2026-03-02Z');
select memory_test.entry(e'# Expired\nold news', '2026-03-01Z', expires_at => '2026-03-15Z');
select memory_test.entry(e'# Deleted\nold news', '2026-03-01Z') as deleted \gset
select memory.delete_entry(:'deleted', as_of => '2026-03-02Z');
insert into memory.entries
  (tenant_id, entry_id, content, policy, user_id, tags, search_vector, created_at, edited_at, title)
values ('a', 'mem-2026-03-02-999', '# Guarded', 'billy', 'ada', '["python"]', '', '2026-03-02Z', '2026-03-02Z', '');
select memory.store_fact('Ada Lovelace', 'likes', 'Likes python', tags => '["python"]', importance => 9, as_of => '2026-03-09Z');
select memory.store_rule('Ask Python first', as_of => '2026-03-09Z');
select memory.store_episode('We met a snake', 'home', as_of => '2026-03-17Z');

-- What is found at all

select is(
  memory_test.found(''), 'Aged, Aging, Alpha, Beta, Gamma plan',
  'found are active and aged entries by their age; not archived, expired, deleted or guarded ones'
);
select is(
  memory_test.found('', include_archived => true),
  'Aged, Aging, Alpha, Ancient, Archived, Beta, Gamma plan', 'archived ones if included'
);
select is(memory_test.found('is:archived'), 'Ancient, Archived', 'or asked for');
select is(
  memory_test.found('is:archived OR tag:python'), 'Alpha, Ancient, Archived, Beta',
  'in the alternative that asks for them'
);
select is(memory_test.found('NOT is:active'), 'Aged, Aging', 'not if only another band is refused');
select is(memory_test.found('NOT is:archived', include_archived => true), 'Aged, Aging, Alpha, Beta, Gamma plan', 'refused, they stay away');
select is(memory_test.found('is:aging'), 'Aging', 'aging entries are 90 days old');
select is(memory_test.found('is:aged'), 'Aged', 'aged ones are 180');
select is(memory_test.found('is:active'), 'Alpha, Beta, Gamma plan', 'active ones younger');
select is(memory_test.found('', scope => 'home'), 'Aged, Aging, Alpha, Beta, Gamma plan', 'a scope and global');
select is(memory_test.found('', scope => 'away'), 'Aged, Aging, Beta, Gamma plan', 'no other scope');
select is(memory_test.found('tag:python', as_of => '2026-04-02Z'), 'Alpha', 'what expires by then is not found');
select lives_ok(
  $$ select memory.run_entry_upkeep('daily', '2026-03-18 12:00Z'), memory.run_entry_upkeep('monthly', '2026-03-18 12:00Z') $$,
  'upkeep runs'
);
select is(
  memory_test.found('') || '; ' || memory_test.found('is:archived') || '; ' || memory_test.found('is:aged'),
  'Aged, Aging, Alpha, Beta, Gamma plan; Ancient, Archived; Aged', 'and changes nothing of that'
);
select is(memory_test.found('"old news"'), 'Aged, Aging', 'words of aged entries are indexed too');
select is(memory_test.found('"old news"', include_archived => true), 'Aged, Aging, Ancient', 'and of archived ones');

-- Terms

select is(memory_test.found('python'), 'Aged?, Aging?, Alpha?, Beta?, Gamma plan?', 'plain words only rank');
select is(memory_test.found('snake OR tag:python'), 'Aged?, Aging?, Alpha, Beta, Gamma plan?', 'what meets an alternative without them need not be relevant');
select is(memory_test.found('tag:PYTHON'), 'Alpha, Beta', 'tags ignore case');
select is(memory_test.found('tag:"two words"'), 'Alpha', 'tags of two words');
select is(memory_test.found('tag:c++ tag:python'), 'Beta', 'several tags are all needed');
select is(memory_test.found('tag:cafe'), 'Gamma plan', 'tags ignore accents');
select is(memory_test.found('tag:pyth'), '', 'tags are whole');
select is(memory_test.found('tag:python -tag:c++'), 'Alpha', 'excluded tags');
select is(memory_test.found('"quick brown"'), 'Alpha', 'a phrase has an order');
select is(memory_test.found('"brown quick"'), 'Beta', 'the other order');
select is(memory_test.found('"Quick, BROWN foxes"'), 'Alpha', 'but no case, punctuation or endings');
select is(memory_test.found('"Ｑuick brown foxes"'), 'Alpha', 'nor the width of letters');
select is(memory_test.found('"to be or not to be"'), 'Beta', 'a phrase of stop words');
select memory_test.as_tenant('bills');
select memory_test.entry(E'Bill\n\nPaid PO-1188 of 2026-041.');
select results_eq(
  $$ select memory_test.found(q.query) from unnest('{\"PO-1188\",\"1188 of 2026\",\"paid po 1188\",\"1188 PO\"}'::text[]) as q (query) $$,
  $$ values ('Bill'), ('Bill'), ('Bill'), ('') $$,
  'a phrase with numbers after hyphens'
);
select results_eq(
  $$ select q.query, (select count(*)::integer from memory.keyword_search('entry', q.query, keyword_match => q.keyword_match) as m)
     from (values ('PO-1188', 'all'), ('2026-041', 'all'), ('041', 'all'), ('PO-1189', 'all'), ('po 1188', 'any')) as q (query, keyword_match) $$,
  $$ values ('PO-1188', 1), ('2026-041', 1), ('041', 1), ('PO-1189', 0), ('po 1188', 1) $$,
  'and words with them, all or any of them'
);
select memory_test.as_tenant('a');
select is(memory_test.found('"小狗"'), 'Gamma plan', 'a phrase in a script without spaces');
select is(memory_test.found('"cafe"') || memory_test.found('"café"'), 'Gamma planGamma plan', 'with and without accents');
select is(memory_test.found('tag:python -fox'), '', 'excluded words');
select is(memory_test.found('tag:python -"quick brown"'), 'Beta', 'excluded phrases');
select is(memory_test.found('-fox -小狗 -news'), '', 'all of them');
select is(memory_test.found('-(fox news) is:active'), 'Alpha, Beta, Gamma plan', 'one of them');
select is(memory_test.found('title:PLAN'), 'Gamma plan', 'words of the title');
select is(memory_test.found('title:pla') || memory_test.found('title:"plan gamma"'), '', 'whole and in order');
select is(memory_test.found('-title:plan is:active'), 'Alpha, Beta', 'excluded titles');
select is(memory_test.found('confidence:>=0.6 confidence:<0.95 -is:aging -is:aged'), 'Beta', 'confidence');
select is(memory_test.found('importance:high OR importance:low'), 'Alpha, Gamma plan', 'importance');
select is(
  memory_test.found('category:work') || memory_test.found('scope:home') || memory_test.found('type:preference')
  || memory_test.found('-source:interaction'),
  'AlphaAlphaAlpha', 'category, scope, type and source'
);
select is(memory_test.found('related:' || :'beta'), 'Alpha, Gamma plan', 'linked from it or to it');
select is(memory_test.found('expires:2026-04 OR is:expiring'), 'Beta', 'expiry');
select is(memory_test.found('-expires:never'), 'Beta', 'or none');
select is(memory_test.found('created:between(2025-09-01, 2025-12-10)'), 'Aged, Aging', 'creation, last day included');

-- Other types

select is(
  memory_test.found('tag:python', '{episode,fact,rule,entry}'), 'Alpha, Beta, Likes python', 'facts have tags'
);
select is(
  memory_test.found('type:fact', '{episode,fact,rule,entry}') || '; ' || memory_test.found('title:lovelace', '{fact,rule}')
  || '; ' || memory_test.found('-tag:python source:home', '{episode,fact,rule}') || '; ' || memory_test.found('"ask python"', '{rule}'),
  'Gamma plan, Likes python; Likes python; We met a snake; Ask Python first', 'types, subjects, butlers and phrases of other memories'
);

-- Filters

select is(
  (
    select string_agg(e.title, ', ' order by e.title)
    from memory.filter_memories(
      memory.narrow_conditions(
        memory.parse_query('-is:aged OR tag:x', memory.current_settings(), '2026-03-18Z'),
        memory.filters_condition(
          types => '{note,fact}', tags => '{C++,cafe,Python}', confidence_min => 0.4, confidence_max => 0.9,
          created_after => '2026-01-01Z', created_before => '2026-03-10Z', exclude_ids => array[:'gamma', gen_random_uuid()::text]
        )
      ),
      '{entry}', null, false, memory.current_settings(), '2026-03-18Z'
    ) as f
    join memory.entries as e on e.id = f.id
  ),
  'Beta', 'filters given as values: any type, any tag, ranges, ids'
);
select results_eq(
  $$ select 'Archived' = any (f.titles), 'Ancient' = any (f.titles), 'Alpha' = any (f.titles)
     from (
       select array_agg(e.title) as titles
       from memory.filter_memories(
         array[memory.filters_condition(confidence_min => 0)], '{entry}', null, false, memory.current_settings(),
         '2026-03-18 12:00Z'
       ) as f
       join memory.entries as e on e.id = f.id
     ) as f $$,
  $$ values (false, false, true) $$, 'and find no archived entries'
);

-- Alternatives

create function memory_test.alternatives(query text)
  returns text
  language sql
  return (
    select string_agg(
      concat_ws(
        ' ', 'all of ' || c.tags::text, 'any of ' || c.any_tags::text, c.kinds::text,
        'about ' || c.topic_required::text
      ), '; ' order by c
    )
    from unnest(
      memory.join_alternatives(
        memory.parse_query(query, memory.current_settings(), '2026-03-18Z')
      )
    ) as c
  );
select is(
  memory_test.alternatives('(tag:a OR tag:B OR tag:c) AND type:note'), 'any of {a,b,c} {entry.note} about false',
  'alternatives that differ in one tag are met together'
);
select is(
  memory_test.alternatives('tag:a type:note OR tag:b'), 'all of {a} {entry.note} about false; all of {b} about false',
  'others are not'
);
select is(
  memory_test.alternatives('tag:a tag:b OR tag:c OR type:note'),
  '{entry.note} about false; all of {a,b} about false; all of {c} about false',
  'neither are those with several tags, or with none'
);
select is(
  memory_test.alternatives('tag:a tea OR tag:b OR tag:c tea'), 'all of {b} about false; any of {a,c} about true',
  'a topic is kept'
);
select is(
  memory_test.found('(tag:python OR tag:"two words") AND confidence:>0.7'), 'Alpha',
  'what meets alternatives that differ in one tag is found once'
);

select throws_ok(
  $$ select memory.filters_condition(types => '{idea}') $$, 'PM002', null, 'an unknown type is refused'
);
select throws_ok(
  $$ select memory.filters_condition(confidence_max => 1.5) $$, 'PM002', null, 'so is a confidence above 1'
);
select is(
  cardinality((memory.filters_condition(tags => array[repeat('x', 16384)])).any_tags), 1,
  'a tag may be as long as all tags of a memory'
);
select throws_ok(
  $$ select memory.filters_condition(tags => array[repeat('x', 16385)]) $$, 'PM002', null, 'but no longer'
);

select * from finish();
rollback;
