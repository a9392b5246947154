-- Deploy pymem:functions/core/base/words to pg

begin;

set local role memory_owner;

create or replace function memory.fold_words(words text)
  returns text
  language sql
  immutable
  strict
  parallel safe
  return lower(
    translate(
      regexp_replace(normalize(words, nfkd) collate "C", '[\u0300-\u036f]', '', 'g'), '''’-', '   '
    )
  );

comment on function memory.fold_words(text) is
'Words in lower case without accents, with a space for each apostrophe and hyphen: equal for '
'"Août" and "aout", and for "New Year''s Eve" and "new year s eve".';
grant execute on function memory.fold_words
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.words_of(content text)
  returns text[]
  language sql
  immutable
  strict
  parallel safe
  return string_to_array(
    replace(
      regexp_replace(
        case
          -- Most texts are ASCII, which has no accents.
          when octet_length(content) = length(content) then lower(content collate "C")
          else memory.fold_words(content)
        end collate "C",
        '[^a-z0-9 .]+', ' ', 'g'
      ),
      '.', ' . '
    ),
    ' '
  );

comment on function memory.words_of(text) is
'The words of a text in order, folded (memory.fold_words): runs of ASCII letters and digits. Each '
'period is a word of its own; all other characters separate words. Some words may be empty.';
grant execute on function memory.words_of
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.asks_of_self(query text)
  returns boolean
  language sql
  immutable
  strict
  parallel safe
  return regexp_replace(
    regexp_replace(
      ' ' || array_to_string(memory.words_of(left(query, 1000)), ' ') || ' ', '[ .]+', ' ', 'g'
    ),
    ' (tell|show|give|remind|zeige?|nenne?|sage?|erinner[en]?|dis|montre[rz]?|rappelle[rz]?|dime|'
    'muestrame|recuerdame)( to)? (me|mir|mich|moi) ',
    ' ', 'g'
  ) collate "C" ~ (
    ' (i|me|my|mine|myself|ich|mich|mir|mein(e[mnrs]?)?|je|j|moi|mon|ma|mes|ik|mijn|yo|mi|mis|'
    'conmigo) '
  );

comment on function memory.asks_of_self(text) is
'Whether somebody asks about himself or herself: the first 1,000 characters contain a pronoun of '
'the first person, as "Where do I live?" and "my doctor", but not "Tell me where she lives". '
'English, German, French, Dutch and Spanish; false in other languages. NULL for NULL.';
grant execute on function memory.asks_of_self
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.use_past_forms(query text)
  returns text
  language sql
  immutable
  strict
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select case
    when strpos(lower(left(query, 1000)), 'did') = 0 then query
    else (
      select string_agg(
        case when c.position = c.verb_at then v.forms ->> lower(c.word) else c.word end,
        '' order by c.position
      )
      from (
        select
          t.word,
          t.position,
          -- The last one: "How did the morning run go?"
          max(t.position) filter (
            where v.forms ? lower(t.word)
              -- At most seven words after "did", in the same clause.
              and t.asked_at > coalesce(t.ended_at, 0) and t.position <= t.asked_at + 14
              -- A noun, or something else than a past form.
              and (
                t.previous = any (
                  '{to,the,a,an,my,our,your,his,her,its,their,this,that,s,can,could,will,would,'
                  'should,may,might,must}'::text[]
                )
              ) is not true
          ) over (partition by t.asked_at) as verb_at
        from (
          select
            m.groups[1] as word,
            m.position,
            lag(lower(m.groups[1]), 2) over preceding as previous,
            max(m.position) filter (where m.groups[1] ~* '^didn?$') over preceding as asked_at,
            max(m.position) filter (
              where m.groups[1] ~ '[.?!;\n]'
                or lower(m.groups[1]) = any (
                  '{say,tell,mention,if,that,when,while,because,before,after}'::text[]
                )
            ) over preceding as ended_at
          from regexp_matches(left(query, 1000), '[[:alpha:]]+|[^[:alpha:]]+', 'g')
            with ordinality as m (groups, position)
          window preceding as (order by m.position)
        ) as t
      ) as c
    ) || substr(query, 1001)
  end
  from (
    values (
      '{
        "become": "became", "begin": "began", "bite": "bit", "break": "broke", "bring": "brought",
        "build": "built", "buy": "bought", "catch": "caught", "choose": "chose", "come": "came",
        "draw": "drew", "drink": "drank", "drive": "drove", "eat": "ate", "fall": "fell",
        "feed": "fed", "feel": "felt", "fight": "fought", "find": "found", "fly": "flew",
        "forget": "forgot", "give": "gave", "go": "went", "grow": "grew", "hear": "heard",
        "hide": "hid", "hold": "held", "keep": "kept", "lead": "led", "leave": "left",
        "lend": "lent", "lose": "lost", "make": "made", "meet": "met", "pay": "paid",
        "ride": "rode", "run": "ran", "see": "saw", "sell": "sold", "send": "sent",
        "sing": "sang", "sit": "sat", "sleep": "slept", "speak": "spoke", "spend": "spent",
        "stand": "stood", "steal": "stole", "swim": "swam", "take": "took", "teach": "taught",
        "tear": "tore", "think": "thought", "throw": "threw", "wake": "woke", "wear": "wore",
        "win": "won", "write": "wrote"
      }'::jsonb
    )
  ) as v (forms);
$$;

comment on function memory.use_past_forms(text) is
'A question with "did" with its irregular verb as statements have it: "What did Emil lose?" '
'becomes "What did Emil lost?", whose words a text with "lost" contains. Changed is the last one '
'of a clause, at most seven words after "did", unless an article or a word such as "to" precedes '
'it; in the first 1,000 characters. Any other text as it is; NULL for NULL.';
grant execute on function memory.use_past_forms to memory_search;

create or replace function memory.ends_with_question(content text)
  returns boolean
  language sql
  immutable
  parallel safe
  return right(content, 100) ~ '[?？؟]["”»)'']*\s*$';

comment on function memory.ends_with_question(text) is
'Whether the last sentence of a text has a question mark.';
grant execute on function memory.ends_with_question to memory_search;

create or replace function memory.share_that_asks(content text)
  returns float8
  language plpgsql
  immutable
  strict
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_text text := left(content, 2000);
  v_rest text;
begin
  if v_text !~* '[?？؟]|(n.?t|not)( yet)? (have|know)|no (info|record|memor)|have(n.?t| not) ' then
    return 0::float8;
  end if;
  v_rest := regexp_replace(
    -- "I'm allergic to nuts, remember?" and "Can you remind me that ...?" tell something.
    regexp_replace(
      v_text, '(, (right|ok|okay|remember|correct|isn.?t it)|\mremind me (that|to)\M[^.?!\n]*)\?',
      '\1.', 'gi'
    ),
    '[^.?!？؟\n0-9]*('
    '[?？؟]+|'
    '\m(don.?t|do not)( yet)? have (that |this |any |the )?(information|info|details?|records?|'
    'memory|notes?)( yet)?[.!]+|'
    '\mno (information|info|records?|memory) (about|of|on|for)\M[^.?!\n]*[.!]+|'
    '\myou (haven.?t|have not) (told|mentioned|shared)\M[^.?!\n]*[.!]+|'
    '\mi (don.?t|do not) know (yet|it|that|this|(what |who |where |when )?your)\M[^.?!\n]*[.!]+'
    ')["”»)'']*(\s+|$)',
    '', 'gi'
  );
  -- "What is the code? 4711." answers itself.
  return case
    when v_rest ~ '[0-9]' then 0::float8
    else 1 - length(v_rest)::float8 / length(v_text)
  end;
end;
$$;

comment on function memory.share_that_asks(text) is
'How much of a text are sentences that end with a question mark, or in which somebody says in '
'English not to have been told something ("I don''t have that information yet."), 0..1, by their '
'length; of the first 2,000 characters. 0 if there is a number: it tells something. NULL for NULL.';
grant execute on function memory.share_that_asks to memory_search;

create or replace function memory.mostly_asks(share float8)
  returns boolean
  language sql
  immutable
  parallel safe
  return share > 2.0 / 3;

comment on function memory.mostly_asks(float8) is
'Whether more than two thirds of a text ask (share, of memory.share_that_asks). NULL for NULL.';
grant execute on function memory.mostly_asks to memory_search;

-- Languages that leave pronouns out, such as Spanish, cannot be told by them: their questions are
-- never taken for general ones.
create or replace function memory.asks_in_general(query text)
  returns boolean
  language sql
  immutable
  strict
  parallel safe
  return (
    select
      t.query ~ (
        '^ *((and|but|so|please|in|at|on|to|for|from|since|until|by|with|of|und|aber|bitte|an|auf|'
        'bis|fur|mit|seit|von|zu|et|mais|de|a|en|depuis|maar|op|met|sinds|tot|van|voor) ){0,2}'
        '(who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|'
        'would|should|may|has|have|had|tell|explain|give|show|describe|list|write|'
        'calculate|compute|convert|define|solve|translate|'
        'wer|wen|wem|wessen|was|welche[nmrs]?|wann|wo|woher|wohin|wie|warum|wieso|weshalb|ist|sind|'
        'waren|hat|haben|kann|konnen|erklare?|erzahle?|zeige?|nenne?|beschreibe?|gibt|berechne|'
        'ubersetze|'
        'qui|qu|quoi|quel(le)?s?|quand|ou|comment|pourquoi|combien|est|sont|explique[rz]?|'
        'wat|welke?|wanneer|waar|waarom|hoe|zijn|heeft|hebben|kunnen|vertel|geef) '
      )
      and regexp_replace(
        t.query,
        ' (tell|show|give|explain|teach|write|erklare?|erzahle?|zeige?|nenne?|explique[rz]?|vertel|'
        'geef)( to)? (me|us|mir|uns|moi|nous|mij|ons) ',
        ' ', 'g'
      ) !~ (
        ' (i|me|my|mine|myself|we|us|our|ours|ourselves|he|him|his|she|her|hers|they|them|their|'
        'theirs|someone|somebody|anyone|anybody|everyone|everybody|nobody|users?|'
        'ich|mich|mir|mein(e[mnrs]?)?|wir|uns|unser(e[mnrs]?)?|er|ihn|ihm|sie|ihr(e[mnrs]?)?|ihnen|'
        'seine[mnrs]?|jemand(em|en)?|niemand(em|en)?|nutzer(s|in)?|'
        'je|j|m|moi|mon|ma|mes|nous|notre|nos|il|elle|lui|ils|elles|eux|leurs?|ses|quelqu|personne|'
        'utilisateur|utilisatrice|'
        'ik|mij|mijn|wij|ons|onze|hij|hem|haar|hun|hen|iemand|niemand|gebruiker) '
      )
    from (
      select
        regexp_replace(
          ' ' || array_to_string(memory.words_of(left(query, 1000)), ' ') || ' ',
          '[ .]+', ' ', 'g'
        ) collate "C" as query
    ) as t
  );

comment on function memory.asks_in_general(text) is
'Whether a text is a question about the world, not about somebody: it begins like a question '
'or a request to tell something, and its first 1,000 characters have no pronoun of a person, as '
'"What does carpe diem mean?" and "Tell me a joke", but not "Where did I park?" or "when was she '
'born". English, German, French and Dutch; false in other languages. NULL for NULL.';
grant execute on function memory.asks_in_general
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

commit;
