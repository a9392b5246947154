-- Deploy pymem:functions/core/search/relation_words to pg

begin;

set local role memory_owner;

create or replace function memory.key_words(content text)
  returns text[]
  language sql
  immutable
  strict
  parallel safe
  return string_to_array(
    btrim(regexp_replace(lower(normalize(content, nfkc)), '[^[:alnum:]]+', ' ', 'g')), ' '
  );

comment on function memory.key_words(text) is
'The words of a text in lower case, letters and digits only.';
grant execute on function memory.key_words to memory_search;

create or replace function memory.synonyms_of(
  relation text,
  language text,
  out words text[],
  out of_person boolean
)
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with people (en, de, fr, es, nl) as (
    values
    (
      'mother,mom,mum,mama,mommy,mummy,+parents', 'mutter,mutti,mama,mami,+eltern',
      'mère,maman,+parents', 'madre,mamá,+padres', 'moeder,mam,mama,+ouders'
    ),
    (
      'father,dad,daddy,papa,+parents', 'vater,vati,papa,papi,+eltern', 'père,papa,+parents',
      'padre,papá,+padres', 'vader,pap,papa,+ouders'
    ),
    ('parents,folks', 'eltern', 'parents', 'padres', 'ouders'),
    (
      'wife,spouse,partner,married to,is married to,+significant other,+other half,+better half',
      'frau,ehefrau,partnerin', 'femme,épouse', 'mujer,esposa', 'vrouw,partner'
    ),
    (
      'husband,hubby,spouse,partner,married to,is married to,+significant other,+other half,'
      '+better half',
      'mann,ehemann,partner', 'mari,époux', 'marido,esposo', 'man,partner'
    ),
    (
      'girlfriend,gf,fiancée,fiancee,partner', 'freundin,verlobte,partnerin', 'copine', 'novia',
      'vriendin'
    ),
    ('boyfriend,bf,fiancé,fiance,partner', 'freund,verlobter,partner', 'copain', 'novio', 'vriend'),
    (
      'son,boy,+sons,+child,+children,+kid,+kids', 'sohn,+söhne,+kind,+kinder',
      'fils,+enfant,+enfants', 'hijo,+hijos', 'zoon,+kind,+kinderen'
    ),
    (
      'daughter,+daughters,+child,+children,+kid,+kids', 'tochter,+töchter,+kind,+kinder',
      'fille,+filles,+enfant,+enfants', 'hija,+hijas,+hijos', 'dochter,+kind,+kinderen'
    ),
    ('child,kid', 'kind', 'enfant', '', 'kind'),
    ('children,kids', 'kinder', 'enfants', 'hijos', 'kinderen'),
    (
      'brother,bro,+brothers,+sibling,+siblings', 'bruder,+brüder,+geschwister', 'frère,+frères',
      'hermano,+hermanos', 'broer,+broers'
    ),
    (
      'sister,+sisters,+sibling,+siblings', 'schwester,+schwestern,+geschwister',
      'sœur,soeur,+sœurs,+soeurs', 'hermana,+hermanas,+hermanos', 'zus,+zussen'
    ),
    ('siblings', 'geschwister', '', 'hermanos', ''),
    (
      'grandmother,grandma,granny,+grandparents', 'großmutter,grossmutter,oma,+großeltern',
      'grand mère,grand-mère,mamie,+grands parents', 'abuela,+abuelos',
      'grootmoeder,oma,+grootouders'
    ),
    (
      'grandfather,grandpa,granddad,+grandparents', 'großvater,grossvater,opa,+großeltern',
      'grand père,grand-père,papy,+grands parents', 'abuelo,+abuelos', 'grootvader,opa,+grootouders'
    ),
    (
      'mother in law,mother-in-law', 'schwiegermutter', 'belle mère,belle-mère', 'suegra',
      'schoonmoeder'
    ),
    (
      'father in law,father-in-law', 'schwiegervater', 'beau père,beau-père', 'suegro',
      'schoonvader'
    ),
    ('brother in law,brother-in-law', 'schwager', 'beau frère,beau-frère', 'cuñado', 'zwager'),
    ('sister in law,sister-in-law', 'schwägerin', 'belle sœur,belle-sœur', 'cuñada', 'schoonzus'),
    ('son in law,son-in-law', 'schwiegersohn', 'gendre', 'yerno', 'schoonzoon'),
    (
      'daughter in law,daughter-in-law', 'schwiegertochter', 'belle fille,belle-fille', 'nuera',
      'schoondochter'
    ),
    ('uncle', 'onkel', 'oncle', 'tío', 'oom'),
    ('aunt,auntie', 'tante', 'tante', 'tía', 'tante'),
    (
      'boss,manager,supervisor', 'chef,chefin,vorgesetzter,vorgesetzte',
      'chef,cheffe,patron,patronne', 'jefe,jefa', 'baas'
    ),
    (
      'colleague,coworker,co worker,co-worker,+colleagues,+coworkers', 'kollege,kollegin,+kollegen',
      'collègue,+collègues', 'colega,+colegas', 'collega,+collegas'
    ),
    (
      'friend,buddy,pal,mate,+friends', 'freund,freundin,+freunde', 'ami,amie,+amis',
      'amigo,amiga,+amigos', 'vriend,vriendin,+vrienden'
    ),
    (
      'best friend', 'bester freund,besten freund,beste freundin,besten freundin',
      'meilleur ami,meilleure amie', 'mejor amigo,mejor amiga', 'beste vriend,beste vriendin'
    ),
    (
      'roommate,flatmate,housemate', 'mitbewohner,mitbewohnerin', 'colocataire',
      'compañero de piso', 'huisgenoot'
    ),
    (
      'neighbor,neighbour,+neighbors,+neighbours', 'nachbar,nachbarin,+nachbarn',
      'voisin,voisine,+voisins', 'vecino,vecina,+vecinos', 'buurman,buurvrouw,+buren'
    ),
    ('landlord,landlady', 'vermieter,vermieterin', 'propriétaire', 'casero,casera', 'huisbaas'),
    (
      'doctor,gp,physician,family doctor', 'arzt,ärztin,hausarzt,hausärztin', 'médecin,docteur',
      'médico,médica,doctor,doctora', 'huisarts,dokter'
    ),
    ('dentist', 'zahnarzt,zahnärztin', 'dentiste', 'dentista', 'tandarts'),
    (
      'teacher', 'lehrer,lehrerin', 'maître,maîtresse', 'maestro,maestra,profesor,profesora',
      'leraar,lerares'
    ),
    (
      'vet,veterinarian', 'tierarzt,tierärztin', 'vétérinaire', 'veterinario,veterinaria',
      'dierenarts'
    ),
    (
      'babysitter,nanny,sitter', 'babysitter,babysitterin,kindermädchen', 'baby sitter,nounou',
      'niñera', 'oppas'
    ),
    (
      'trainer,personal trainer,coach', 'trainer,trainerin', 'entraîneur,entraîneuse,coach',
      'entrenador,entrenadora', 'trainer'
    ),
    (
      'therapist,psychologist', 'therapeut,therapeutin,psychologe,psychologin',
      'thérapeute,psychologue', 'terapeuta,psicólogo,psicóloga', 'therapeut,psycholoog'
    ),
    (
      'hairdresser,barber', 'friseur,friseurin', 'coiffeur,coiffeuse', 'peluquero,peluquera',
      'kapper'
    ),
    (
      'cleaner,housekeeper,cleaning lady', 'putzfrau,haushälterin,putzhilfe', 'femme de ménage',
      'limpiadora', 'schoonmaker,schoonmaakster'
    ),
    (
      'accountant,tax advisor,tax adviser', 'steuerberater,steuerberaterin', 'comptable',
      'contable', 'boekhouder'
    ),
    (
      'advisor,adviser,thesis advisor,thesis adviser,thesis supervisor,mentor',
      'betreuer,betreuerin,doktorvater,doktormutter,mentor,mentorin', 'directeur de thèse',
      'tutor,tutora', 'begeleider,mentor'
    ),
    ('lawyer,attorney,solicitor', 'anwalt,anwältin', 'avocat,avocate', 'abogado,abogada', 'advocaat'),
    ('mechanic', 'mechaniker', 'garagiste', 'mecánico', 'monteur'),
    (
      'dog,puppy,+dogs,+pet,+pets', 'hund,hündin,+hunde,+haustier', 'chien,chienne',
      'perro,perra,+mascota', 'hond,+huisdier'
    ),
    (
      'cat,kitten,+cats,+pet,+pets', 'katze,kater,+katzen,+haustier', 'chat,chatte',
      'gato,gata,+mascota', 'kat,poes,+huisdier'
    )
  ),
  properties (en, de, fr, es, nl) as (
    values
    ('name,full name', 'name', 'nom', 'nombre', 'naam'),
    (
      'job,work,occupation,profession,career,job title,role,works as',
      'beruf,job,arbeite,arbeitet als', 'métier,profession,emploi,travaille',
      'profesión,oficio,empleo,trabajo', 'beroep,baan,werk'
    ),
    (
      'employer,company,works at,works for,+work', 'arbeitgeber,firma,arbeitet bei',
      'employeur,entreprise', 'empleador,empresa', 'werkgever,bedrijf'
    ),
    (
      'address,home address,residence,live,lives in,lives at,city',
      'adresse,anschrift,wohnort,wohne,wohnt in,stadt', 'adresse,domicile,habite,ville',
      'dirección,domicilio,vivo,vive en,ciudad', 'adres,woonplaats,woon,woont in,stad'
    ),
    (
      'phone,phone number,telephone,telephone number,mobile,mobile number,cell phone,cell',
      'telefon,telefonnummer,handy,handynummer', 'téléphone,numéro de téléphone',
      'teléfono,número de teléfono,móvil', 'telefoon,telefoonnummer'
    ),
    (
      'email,email address,e mail,e-mail,e mail address', 'email,e mail,e-mail,e mail adresse',
      'e mail,e-mail,courriel', 'correo,correo electrónico', 'e mail,e-mail,mailadres'
    ),
    (
      'birthday,date of birth,birth date,born,born on,+age', 'geburtstag,geburtsdatum,+alter',
      'anniversaire,date de naissance,+âge', 'cumpleaños,fecha de nacimiento,+edad',
      'verjaardag,geboortedatum,+leeftijd'
    ),
    ('age', 'alter', 'âge', 'edad', 'leeftijd'),
    ('height', 'größe', 'taille', 'estatura', 'lengte'),
    (
      'hometown,home town,birthplace,is from,comes from,born in,origin',
      'heimatstadt,heimat,geburtsort,herkunft', 'ville natale', 'ciudad natal', 'geboorteplaats'
    ),
    (
      'project,projects,current project,current projects,working on,works on,is working on',
      'projekt,projekte,aktuelles projekt', 'projet,projets', 'proyecto,proyectos',
      'project,projecten'
    ),
    (
      'goal,aim,ambition,aspiration,+goals,+aims,+ambitions', 'ziel,+ziele', 'objectif', 'meta',
      'doel'
    ),
    ('car,vehicle,drives', 'auto,wagen,fährt', 'voiture', 'coche,carro', 'auto'),
    ('hobby,pastime,+hobbies', 'hobby,+hobbys', 'loisir,+loisirs', 'afición,+aficiones', 'hobby'),
    (
      'allergy,allergic to,is allergic to,+allergies', 'allergie,+allergien',
      'allergie,+allergies', 'alergia,+alergias', 'allergie'
    )
  )
  select
    array_agg(distinct w.word order by w.word) || relation,
    coalesce(bool_and(g.of_person), true)
  from (
    select true as of_person, p.* from people as p
    union all
    select false as of_person, p.* from properties as p
  ) as g
  cross join lateral unnest(
    string_to_array(concat_ws(',', g.en, g.de, g.fr, g.es, g.nl), ',')
  ) as w (word)
  where w.word not in ('', relation) and w.word not like '+%'
    and ',' || translate(
      case language
        when 'en' then g.en
        when 'de' then g.de
        when 'fr' then g.fr
        when 'es' then g.es
        when 'nl' then g.nl
        else concat_ws(',', g.en, g.de, g.fr, g.es, g.nl)
      end,
      '+', ''
    ) || ',' like '%,' || relation || ',%';
$$;

comment on function memory.synonyms_of(text, text) is
'What else facts may call whom or what a word means, such as "my mom" or "mein Beruf": keys of '
'predicates that mean the same in five languages. The word itself is the last one; it is as '
'memory.key_words makes it, with spaces between several. One for several people, such as '
'"parents" (+ in the list), also means each of them, but none of them means it. language: that of '
'the word, en, de, fr, es or nl; NULL for any. of_person: whether a fact of such a predicate may '
'tell who somebody is, as all do but those of known properties.';
grant execute on function memory.synonyms_of to memory_search;

create or replace function memory.naming_predicates()
  returns text[]
  language sql
  immutable
  parallel safe
  return '{name,full name,first name,given name,nickname,alias,called,is called,goes by,is,'
  'identity,nom,nombre,naam}'::text[];

comment on function memory.naming_predicates() is
'The predicates of facts whose content may begin with what somebody is called.';
grant execute on function memory.naming_predicates to memory_search;

create or replace function memory.restate_question(query text)
  returns text
  language plpgsql
  immutable
  strict
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  -- How a question begins and ends around whom it is about, and what it asks for.
  v_idioms jsonb := '{
    "what do": {
      "do": "job", "do for a living": "job", "do for work": "job", "drive": "car"
    },
    "what does": {
      "do": "job", "do for a living": "job", "do for work": "job", "drive": "car"
    },
    "who do": {"work for": "employer"},
    "who does": {"work for": "employer"},
    "what am": {"working on": "project"},
    "what are": {"working on": "project"},
    "what is": {"working on": "project"},
    "how old am": {"": "age"},
    "how old is": {"": "age"},
    "how tall am": {"": "height"},
    "how tall is": {"": "height"},
    "where am": {"from": "hometown"},
    "where is": {"from": "hometown"},
    "where do": {"work": "employer", "come from": "hometown"},
    "where does": {"work": "employer", "come from": "hometown"},
    "where was": {"born": "birthplace"},
    "when was": {"born": "birthday"},
    "was mache": {"beruflich": "job", "von beruf": "job"},
    "was macht": {"beruflich": "job", "von beruf": "job"},
    "was bin": {"von beruf": "job"},
    "was ist": {"von beruf": "job"},
    "wie alt bin": {"": "age"},
    "wie alt ist": {"": "age"},
    "wo arbeite": {"": "employer"},
    "wo arbeitet": {"": "employer"},
    "woher komme": {"": "hometown"},
    "woher kommt": {"": "hometown"},
    "wo bin": {"geboren": "birthplace"},
    "wo ist": {"geboren": "birthplace"},
    "wo wurde": {"geboren": "birthplace"},
    "wann bin": {"geboren": "birthday"},
    "wann ist": {"geboren": "birthday"},
    "wann wurde": {"geboren": "birthday"},
    "que fait": {"dans la vie": "job"},
    "quel âge a": {"": "age"},
    "a qué se dedica": {"": "job"},
    "cuántos años tiene": {"": "age"},
    "wat doe": {"voor werk": "job"},
    "wat doet": {"voor werk": "job"},
    "hoe oud ben": {"": "age"},
    "hoe oud is": {"": "age"}
  }'::jsonb;
  v_words text[] := memory.key_words(left(query, 201));
  v_text text;
  v_now text;
  v_restated text;
begin
  if length(query) > 200 or cardinality(v_words) not between 3 and 16
    or not v_idioms ?| array(
      select array_to_string(v_words[1:n.words], ' ') from generate_series(2, 4) as n (words)
    )
  then
    return null;
  end if;

  v_text := regexp_replace(array_to_string(v_words, ' '), ' (again|please|then)$', '');
  v_now := (regexp_match(v_text, ' (right now|now|today|these days|currently|at the moment)$'))[1];
  v_text := left(v_text, length(v_text) - coalesce(length(v_now) + 1, 0));
  select
    'What is '
    || case
      when w.who = any ('{i,ich,ik}'::text[]) then 'my'
      when w.who = any ('{we,wir}'::text[]) then 'our'
      else w.who || '''s'
    end
    || ' ' || i.property || case when v_now is not null then ' now' else '' end || '?'
  into v_restated
  from generate_series(2, 4) as n (words)
  cross join lateral (
    select array_to_string(v_words[1:n.words], ' ') as beginning
  ) as b
  cross join lateral jsonb_each_text(v_idioms -> b.beginning) as i (ending, property)
  cross join lateral (
    select
      substr(
        v_text, length(b.beginning) + 2,
        greatest(
          0, length(v_text) - length(b.beginning) - length(rtrim(' ' || i.ending)) - 1
        )
      ) as who
    where v_text like b.beginning || ' %' || rtrim(' ' || i.ending)
  ) as w
  where w.who ~ '^[[:alnum:]]+( [[:alnum:]]+){0,3}$'
    -- Who asks what to do today does not ask for a job.
    and (i.ending <> 'do' or v_now is null or v_now = any ('{these days,currently}'::text[]))
    and w.who <> all (
      '{you,it,this,that,they,she,he,these,those,du,es,er,sie,il,elle}'::text[]
    )
  order by length(w.who), b.beginning collate "C", i.ending collate "C"
  limit 1;
  return v_restated;
end;
$$;

comment on function memory.restate_question(text) is
'A question that asks for a property of somebody without its name, with the name that facts are '
'likely to give it: "What do I do for a living?" is "What is my job?", "How old is Ada?" "What is '
'ada''s age?". NULL for any other text, and where only a pronoun says whom it is about. '
'English, German, French, Dutch and Spanish.';
grant execute on function memory.restate_question to memory_search;

create or replace function memory.ends_property(word text)
  returns boolean
  language sql
  immutable
  parallel safe
  return word is null
    or '{in,of,is,are,was,were,and,or,the,a,to,for,from,with,at,on,by,about,s,now,'
    'again,please,today,still,then,when,where,before,if,ist,sind,war,und,oder,von,am,im,für,mit,'
    'noch,jetzt,bitte,ich,est,et,ou,au,je,es,y,o,yo,en,van,ik}'::text[]
    @> array[word];

comment on function memory.ends_property(text) is
'Whether the name of a property ends before a word, or at the end (NULL): my phone bill is no '
'phone.';
grant execute on function memory.ends_property to memory_search;

create or replace function memory.read_possessions(query_words text[])
  returns setof memory.possession
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
as $$
declare
  v_possessives jsonb := '{
    "my": "en", "our": "en", "mein": "de", "meine": "de", "meinem": "de", "meinen": "de",
    "meiner": "de", "meines": "de", "unser": "de", "unsere": "de", "unserem": "de",
    "unseren": "de", "unserer": "de", "mon": "fr", "ma": "fr", "mes": "fr", "notre": "fr",
    "nos": "fr", "mi": "es", "mis": "es", "nuestro": "es", "nuestra": "es", "nuestros": "es",
    "nuestras": "es", "mijn": "nl", "onze": "nl"
  }'::jsonb;
  -- Of these, only what follows is a property.
  v_pronouns jsonb := '{"i": "en", "ich": "de", "je": "fr", "j": "fr", "yo": "es", "ik": "nl"}'::jsonb;
  v_verbs text[] := '{work,live,arbeite,wohne,travaille,habite,trabajo,vivo,werk,woon}'::text[];
  -- Of these, what only the user says of himself or herself.
  v_spoken jsonb := '{"wohne": "de", "arbeite": "de", "vivo": "es"}'::jsonb;
  -- The user's, which goes without saying where none but such a word comes before it.
  v_own jsonb := '{
    "mom": "en", "mum": "en", "mommy": "en", "mummy": "en", "dad": "en", "daddy": "en",
    "grandma": "en", "granny": "en", "grandpa": "en", "granddad": "en", "mutti": "de",
    "mami": "de", "vati": "de", "papi": "de", "mama": null, "papa": null, "oma": null,
    "opa": null, "maman": "fr", "mamie": "fr", "papy": "fr", "mamá": "es", "papá": "es",
    "abuela": "es", "abuelo": "es"
  }'::jsonb;
  v_before text[] := '{is,are,was,were,does,do,did,has,have,had,can,could,will,would,should,may,'
    'might,must,to,with,for,from,of,and,or,at,by,about,without,when,where,what,who,how,why,if,'
    'than,like,call,called,ask,asked,tell,told,visit,see,saw,meet,met,give,gave,buy,help,send,'
    'sent,text,phone,email,remind,pay,get,take,bring,make,makes,made,keep,keeps,let,love,miss,'
    'because,ist,sind,war,hat,hatte,wird,kann,soll,muss,mit,für,von,bei,zu,und,oder,an,wann,wo,'
    'wie,wohnt,heißt,lebt,arbeitet,ruf,rufe,frag,sag,besuche,wenn,ob,ohne,über,est,a,avec,pour,de,'
    'à,et,ou,chez,que,quand,où,habite,appelle,es,está,con,para,y,o,cuando,vive,heeft,voor,van,bij,'
    'en,woont,aan}'::text[];
  -- These are the user's, too, after "the".
  v_the text[] := '{dog,puppy,cat,kitten,kids,children,boss,landlord,landlady,vet,wife,husband,'
    'dentist,doctor,neighbor,neighbors,neighbour,neighbours,babysitter,nanny,sitter,trainer,'
    'therapist,hairdresser,barber,cleaner,accountant,lawyer,mechanic}'::text[];
  -- What makes something else of such a word: a mother tongue.
  v_after text[] := '{tongue,peeve,project,projects,company,companies,process,processes,theme,'
    'board,joke,jokes,smith,brother,sister}'::text[];
  -- What a property may be, which stays the same.
  v_states text[] := '{old,new,former,previous,current,present,own,alte,alter,altes,alten,neue,'
    'neuer,neues,neuen,frühere,früherer,jetzige,jetziger,ancien,ancienne,nouveau,nouvelle,actuel,'
    'actuelle,antiguo,antigua,nuevo,nueva,actual,oude,nieuwe,huidige}'::text[];
  -- Alone, these words are English, and mean something else.
  v_english text[] := '{chat,chef,man,patron}'::text[];
begin
  if (
    v_possessives ?| query_words or v_own ?| query_words or v_verbs && query_words
    or 's' = any (query_words) or 'the' = any (query_words) and v_the && query_words
    or cardinality(query_words) <= 3
  ) is not true
  then
    return;
  end if;

  return query with asked as (
    select w.word, w.position
    from unnest(query_words) with ordinality as w (word, position)
  ),
  -- My wife, my best friend; dad; Lina's teacher.
  owned as materialized (
    select
      o.*,
      n.length,
      a.skipped,
      o.position + a.skipped + n.length as ends
    from (
      select
        w.position, w.position as begins, 'user' as subject_key,
        v_possessives ->> w.word as language
      from asked as w
      where v_possessives ? w.word
      union all
      select w.position - 1, w.position, 'user', v_own ->> w.word
      from asked as w
      where v_own ? w.word
        and (
          w.position = 1
          or query_words[w.position - 1] = any (v_before)
          -- What's mom's number?
          or query_words[w.position - 1] = 's'
          and query_words[w.position - 2] = any ('{what,where,who,when,how}'::text[])
        )
      union all
      -- Who feeds the dog?
      select w.position, w.position, 'user', 'en'
      from asked as w
      where w.word = 'the' and query_words[w.position + 1] = any (v_the)
        -- The dog of a friend is another one, and a dog park none.
        and (
          query_words[w.position + 2] = any (
            '{of,from,next,who,which,that,with,in,at,on,i,we,you,he,she,they,park,food,fight,menu,'
            'level,house,show}'::text[]
          )
        ) is not true
      union all
      -- Where do I work?
      select w.position, w.position, 'user', v_pronouns ->> w.word
      from asked as w
      where v_pronouns ? w.word and query_words[w.position + 1] = any (v_verbs)
      union all
      -- Wo wohne ich? ¿Dónde vivo?
      select w.position - 1, w.position, 'user', v_spoken ->> w.word
      from asked as w
      where v_spoken ? w.word
      union all
      -- Nothing but what somebody or something is to the user: spouse, phone number.
      select 0, 0, 'user', null
      where cardinality(query_words) <= 3 and query_words[1] <> all (v_english)
      union all
      select
        w.position, w.position - l.length,
        array_to_string(query_words[w.position - l.length:w.position - 1], ' '), 'en'
      from asked as w
      cross join generate_series(1, 3) as l (length)
      where w.word = 's' and w.position > l.length
    ) as o
    cross join generate_series(1, 3) as n (length)
    -- My old address is an address, too.
    cross join generate_series(
      0, case when query_words[o.position + 1] = any (v_states) then 1 else 0 end
    ) as a (skipped)
    where o.position + a.skipped + n.length <= cardinality(query_words)
      and (o.position > 0 or o.begins > 0 or a.skipped + n.length = cardinality(query_words))
    order by o.position, o.subject_key, n.length, a.skipped
    limit 60
  )
  select
    o.position, o.begins, o.ends, o.subject_key, o.language, p.relation,
    -- A fact may say what somebody has.
    s.words || array(select 'has ' || k.word from unnest(s.words) as k (word)) as predicate_keys,
    s.words,
    s.of_person
  from owned as o
  cross join lateral (
    select array_to_string(query_words[o.position + o.skipped + 1:o.ends], ' ') as relation
  ) as p
  cross join lateral memory.synonyms_of(p.relation, o.language) as s
  where (query_words[o.ends + 1] = any (v_after)) is not true
    -- A name alone is nobody's.
    and (o.position > 0 or o.begins > 0 or cardinality(s.words) > 1)
    and query_words[o.ends + 1:o.ends + 2] <> '{in,law}'
    and (
      s.of_person and o.skipped = 0 -- an old boss is somebody else
      -- My phone bill is no phone.
      or not s.of_person and memory.ends_property(query_words[o.ends + 1])
    );
end;
$$;

comment on function memory.read_possessions(text[]) is
'Whom or what the words of a query (memory.key_words) mention by what they are to somebody: "my '
'wife", "Ada''s address", "dad". A query of up to three words may say nothing else.';
grant execute on function memory.read_possessions to memory_search;

create or replace function memory.read_properties(query_words text[])
  returns text[]
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
as $$
begin
  return array(
    select distinct k.predicate_key
    from generate_subscripts(query_words[:30], 1) as p (position)
    cross join generate_series(0, 2) as l (length)
    cross join lateral memory.synonyms_of(
      array_to_string(query_words[p.position:p.position + l.length], ' '), 'en'
    ) as s
    cross join unnest(s.words) as k (predicate_key)
    where p.position + l.length <= least(30, cardinality(query_words)) and not s.of_person
      and memory.ends_property(query_words[p.position + l.length + 1])
    order by k.predicate_key
  );
end;
$$;

comment on function memory.read_properties(text[]) is
'What facts may call the properties that words (memory.key_words) name in English: keys of '
'predicates. Of the first 30 words.';
grant execute on function memory.read_properties to memory_search;

commit;
