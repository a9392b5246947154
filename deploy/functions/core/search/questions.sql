-- Deploy pymem:functions/core/search/questions to pg

begin;

set local role memory_owner;

create or replace function memory.read_question(
  relations memory.relations,
  words memory.keyword_query,
  scope text,
  settings memory.settings,
  as_of timestamptz
)
  returns memory.question
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_query text := (relations).query;
  v_question memory.question;
  v_words text[];
begin
  v_question.names := memory.normalize_name(v_query);
  -- Words are compared: of so many regular expressions, not all stay compiled.
  v_words := string_to_array(v_question.names, ' ');
  -- Who asks what somebody is called asks for a name.
  v_question.lexemes := words.lexemes
    || case when words.lexemes @> '{call}' then '{name}' else '{}' end::text[];
  v_question.core := array(
    select l.lexeme
    from unnest(words.lexemes) as l (lexeme)
    where l.lexeme <> all ('{use,need,get,know,tell,name,call,pleas,current,right}'::text[])
  );
  v_question.of_happening := memory.asks_happened(v_query);
  -- "What happened to my disk?" does not ask which one somebody has.
  v_question.of_self := memory.asks_of_self(v_query) and not v_question.of_happening;
  v_question.mentions := nullif(
    memory.query_lexemes(settings.text_search_config, (relations).mentions), '{}'
  );
  v_question.selves := case
    when v_question.of_self
    then array(
      select memory.normalize_name(s.subject_key)
      from unnest(memory.subjects_of_user(read_question.scope, settings)) as s (subject_key)
    )
  end;
  v_question.of_own := v_question.of_self and v_question.mentions is null
    and v_question.names !~ ' how (do|can|could|should|would|must|shall) i ';
  v_question.of_events := false;
  if settings.boost_time > 0 then
    v_question.period := memory.read_period(v_query, settings.time_zone, as_of);
    v_question.of_present := memory.asks_present(v_query);
    v_question.of_events := v_question.period is not null and memory.asks_events(v_query);
  end if;
  v_question.of_state := not v_words && '{did,were,had,been,happen,happens,happened,said,hat,hatte,
      hatten,war,waren,wurde,passiert,passierte,geschah,etait,avait,arrive,fue,ha,paso,heeft,werd,
      gebeurd,gebeurde}'
    and v_question.names !~ ' (how is|how are|wie geht|comment va|como esta) '
    and not v_question.of_happening
    -- In German, was means what.
    and (
      'was' <> all (v_words)
      or v_words && '{ist,sind,mein,meine,ich,mag,macht,kann,soll,fur,der,die,das}'
    )
    and not v_question.of_events
    and (upper(v_question.period) <= as_of) is not true;
  v_question.of_whom := v_question.of_state
    and v_words && '{who,do,does,doing,wer,macht,tut,qui,fait,quien,hace,doet}';
  -- In English, may is a month, too.
  v_question.of_duty := v_question.of_state and v_question.period is null
    and v_words && '{should,shall,must,ought,may,allowed,supposed,soll,sollte,sollten,sollen,muss,
      mussen,darf,durfen,dois,doit,devons,faut,debo,debe,debemos,moet,moeten}';
  v_question.in_general := memory.asks_in_general(v_query) and not v_question.of_events;
  if v_question.of_happening then
    -- What it names: neither words that only ask, nor those of times and of small words.
    v_question.core := memory.query_lexemes(
      settings.text_search_config,
      (
        select string_agg(w.word, ' ')
        from unnest(
          memory.words_of(
            regexp_replace(left(v_query, 1000), '\m(new with|latest on)\M', ' ', 'i')
          )
        ) as w (word)
        where not memory.time_vocabulary() ? w.word
          and w.word <> all (
            '{what,has,have,did,do,does,anything,something,happen,happened,go,went,gone,wrong,just,'
            'ever,lately,recently,already,was,passiert,passierte,geschehen,geschah,ging,schief,'
            'schiefgegangen,etwas,que,s,passe,arrive,paso,le,les,ha,pasado,ocurrio,sucedio}'::text[]
          )
      )
    );
    v_question.of_happening := v_question.core <> '{}';
  end if;
  return v_question;
end;
$$;

comment on function memory.read_question(
  memory.relations, memory.keyword_query, text, memory.settings, timestamptz
) is
'What a query, as memory.read_relations gives it, says besides its words (NULL: they do not '
'count) and its meaning, at as_of in the '
'time zone of the settings, for a visible scope (memory.visible_scope). Without boost_time, no '
'times are read.';
grant execute on function memory.read_question to memory_search;

commit;
