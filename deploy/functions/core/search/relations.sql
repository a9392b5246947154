-- Deploy pymem:functions/core/search/relations to pg

begin;

-- memory_search owns memory.read_relations: see neighbors.sql.

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

create or replace function memory.subjects_of_user(
  scope text,
  settings memory.settings
)
  returns text[]
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
as $$
declare
  v_subjects text[] := '{user,the user,i,me,myself,self}'::text[];
  v_names text[];
begin
  -- Some facts are about the user, others are about what they say that the user is called.
  select array_agg(distinct k.subject_key order by k.subject_key) into v_names
  from memory.facts as f
  cross join lateral (
    select memory.key_words(left(f.content, 200)) as words
    offset 0 -- computes them only once
  ) as c
  cross join generate_series(1, 3) as l (length)
  cross join lateral (
    select array_to_string(c.words[1:l.length], ' ') as subject_key
    where l.length <= cardinality(c.words)
  ) as k
  where f.tenant_id = settings.tenant_id and f.subject_key = any (v_subjects)
    -- Who is Portuguese is not called so.
    and f.predicate_key = any (array_remove(memory.naming_predicates(), 'is'))
    and f.validity = 'active' and f.planned_for is null
    and memory.is_in_scope('fact', f.scope, subjects_of_user.scope)
    and exists (
      select
      from memory.facts as o
      where o.tenant_id = settings.tenant_id and o.subject_key = k.subject_key
        and o.validity = 'active'
        and memory.is_in_scope('fact', o.scope, subjects_of_user.scope)
    );

  -- Or all are about somebody, who is likely to ask: whom most of them are about.
  if v_names is null and not exists (
    select
    from memory.facts as f
    where f.tenant_id = settings.tenant_id and f.subject_key = any (v_subjects)
      and f.validity = 'active' and memory.is_in_scope('fact', f.scope, subjects_of_user.scope)
  ) then
    select array[s.subject_key] into v_names
    from (
      select
        f.subject_key,
        count(*) as facts,
        sum(count(*)) over () as all_facts,
        lead(count(*), 1, 0::bigint) over (order by count(*) desc, f.subject_key) as next_facts
      from (
        select f.subject_key
        from memory.facts as f
        where f.tenant_id = settings.tenant_id and f.validity = 'active'
          and memory.is_in_scope('fact', f.scope, subjects_of_user.scope)
        limit 1001
      ) as f
      group by f.subject_key
      order by facts desc, f.subject_key
      limit 1
    ) as s
    where s.all_facts <= 1000 and s.facts >= 3
      and s.facts >= 0.4 * s.all_facts and s.facts >= 2 * s.next_facts;
  end if;
  return v_subjects || v_names;
end;
$$;

comment on function memory.subjects_of_user(text, memory.settings) is
'Under which subjects (memory.spelling_key) the facts about the user are, in a visible scope: '
'user, I and the like, and the names that facts about them tell. Where nothing is known about any '
'of these: the subject of at least three facts, of 0.4 of them all, and of twice as many as the '
'next one has, if there are at most 1,000 facts.';
grant execute on function memory.subjects_of_user to memory_search;

grant create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.read_relations(
  query text,
  scope text,
  settings memory.settings,
  restates boolean default true
)
  returns memory.relations
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
as $$
declare
  v_restated text := case when restates then memory.restate_question(query) end;
  v_query text := coalesce(v_restated, query);
  v_words text[] := memory.key_words(left(v_query, 1000));
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
  v_the text[] := '{dog,puppy,cat,kitten,kids,children,boss,landlord,landlady,vet,wife,husband}'::text[];
  -- What makes something else of such a word: a mother tongue.
  v_after text[] := '{tongue,peeve,project,projects,company,companies,process,processes,theme,'
    'board,joke,jokes,smith,brother,sister}'::text[];
  -- What a property may be, which stays the same.
  v_states text[] := '{old,new,former,previous,current,present,own,alte,alter,altes,alten,neue,'
    'neuer,neues,neuen,frühere,früherer,jetzige,jetziger,ancien,ancienne,nouveau,nouvelle,actuel,'
    'actuelle,antiguo,antigua,nuevo,nueva,actual,oude,nieuwe,huidige}'::text[];
  -- Alone, these words are English, and mean something else.
  v_english text[] := '{chat,chef,man,patron}'::text[];
  -- What may follow a property.
  v_joining text[] := '{in,of,is,are,was,were,and,or,the,a,to,for,from,with,at,on,by,about,s,now,'
    'again,please,today,still,then,when,where,before,if,ist,sind,war,und,oder,von,am,im,für,mit,'
    'noch,jetzt,bitte,ich,est,et,ou,au,je,es,y,o,yo,en,van,ik}'::text[];
  -- What asks who somebody is.
  v_asking text[] := '{who,what,is,are,was,were,do,does,did,you,i,me,the,a,s,name,named,call,'
    'called,tell,know,remember,remind,wer,wie,ist,sind,heißt,heisst,qui,est,comment,appelle,nom,quién,'
    'quien,es,cómo,como,llama,nombre,hoe,heet,naam}'::text[];
  v_names text;
  v_is_found boolean;
  v_asked text[];
  v_selves text[];
  v_naming text[] := memory.naming_predicates();
  v_relations memory.relations := row(query, null::memory.mentioned[], null::text);
begin
  if settings.boost_named = 0 or settings.ranking = 'specified'
    or (
      v_possessives ?| v_words or v_own ?| v_words or 's' = any (v_words) or v_verbs && v_words
      or 'the' = any (v_words) and v_the && v_words
      or cardinality(v_words) <= 3
    ) is not true
  then
    return v_relations;
  end if;

  v_selves := memory.subjects_of_user(scope, settings);
  with words as (
    select w.word, w.position
    from unnest(v_words) with ordinality as w (word, position)
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
      from words as w
      where v_possessives ? w.word
      union all
      select w.position - 1, w.position, 'user', v_own ->> w.word
      from words as w
      where v_own ? w.word
        and (
          w.position = 1
          or v_words[w.position - 1] = any (v_before)
          -- What's mom's number?
          or v_words[w.position - 1] = 's'
          and v_words[w.position - 2] = any ('{what,where,who,when,how}'::text[])
        )
      union all
      -- Who feeds the dog?
      select w.position, w.position, 'user', 'en'
      from words as w
      where w.word = 'the' and v_words[w.position + 1] = any (v_the)
        -- The dog of a friend is another one, and a dog park none.
        and (
          v_words[w.position + 2] = any (
            '{of,from,next,who,which,that,with,in,at,on,i,we,you,he,she,they,park,food,fight,menu,'
            'level,house,show}'::text[]
          )
        ) is not true
      union all
      -- Where do I work?
      select w.position, w.position, 'user', v_pronouns ->> w.word
      from words as w
      where v_pronouns ? w.word and v_words[w.position + 1] = any (v_verbs)
      union all
      -- Wo wohne ich? ¿Dónde vivo?
      select w.position - 1, w.position, 'user', v_spoken ->> w.word
      from words as w
      where v_spoken ? w.word
      union all
      -- Nothing but what somebody or something is to the user: spouse, phone number.
      select 0, 0, 'user', null
      where cardinality(v_words) <= 3 and v_words[1] <> all (v_english)
      union all
      select
        w.position, w.position - l.length,
        array_to_string(v_words[w.position - l.length:w.position - 1], ' '), 'en'
      from words as w
      cross join generate_series(1, 3) as l (length)
      where w.word = 's' and w.position > l.length
    ) as o
    cross join generate_series(1, 3) as n (length)
    -- My old address is an address, too.
    cross join generate_series(
      0, case when v_words[o.position + 1] = any (v_states) then 1 else 0 end
    ) as a (skipped)
    where o.position + a.skipped + n.length <= cardinality(v_words)
      and (o.position > 0 or o.begins > 0 or a.skipped + n.length = cardinality(v_words))
    order by o.position, o.subject_key, n.length, a.skipped
    limit 60
  ),
  mentions as (
    select
      o.position, o.begins, o.ends, o.subject_key, o.language, p.relation,
      -- A fact may say what somebody has.
      s.words || array(select 'has ' || k.word from unnest(s.words) as k (word)) as predicate_keys,
      s.words,
      s.of_person
    from owned as o
    cross join lateral (
      select array_to_string(v_words[o.position + o.skipped + 1:o.ends], ' ') as relation
    ) as p
    cross join lateral memory.synonyms_of(p.relation, o.language) as s
    where (v_words[o.ends + 1] = any (v_after)) is not true
      -- A name alone is nobody's.
      and (o.position > 0 or o.begins > 0 or cardinality(s.words) > 1)
      and v_words[o.ends + 1:o.ends + 2] <> '{in,law}'
      and (
        s.of_person and o.skipped = 0 -- an old boss is somebody else
        -- My phone bill is no phone.
        or not s.of_person and (v_words[o.ends + 1] <> all (v_joining)) is not true
      )
  ),
  relations as materialized (
    select
      m.position, m.begins, m.ends, m.language, m.of_person, f.id, f.subject_key,
      f.predicate_key, f.content, f.object_entity_id
    from mentions as m
    join memory.facts as f
      on f.tenant_id = settings.tenant_id
        and f.subject_key = any (
          case when m.subject_key = 'user' then v_selves else array[m.subject_key] end
        )
        and f.predicate_key = any (m.predicate_keys) and f.validity = 'active'
        and f.planned_for is null
    where memory.is_in_scope('fact', f.scope, read_relations.scope)
      -- A property that is called as the query calls it is meant, and no other.
      and (
        m.of_person or f.predicate_key = m.relation
        or not exists (
          select
          from memory.facts as e
          where e.tenant_id = settings.tenant_id and e.subject_key = f.subject_key
            and e.predicate_key = m.relation and e.validity = 'active'
        )
      )
    union all
    -- Or they are a subject themselves: mother, my mother, Ada's mother.
    select
      c.position, c.begins, c.ends, c.language, true, c.id, c.subject_key, c.word, c.content,
      c.object_entity_id
    from (
      select distinct on (m.position, m.relation, f.subject_key)
        m.position, m.begins, m.ends, m.language, k.word, f.id, f.subject_key,
        case when n.says_who then f.content else '' end as content,
        case when n.says_who then f.object_entity_id end as object_entity_id
      from mentions as m
      cross join unnest(m.words) as k (word)
      cross join lateral (
        select array_agg(o.owner || '''s ' || k.word) as subject_keys
        from unnest(
          case when m.subject_key = 'user' then v_selves else array[m.subject_key] end
        ) as o (owner)
      ) as s
      join memory.facts as f
        on f.tenant_id = settings.tenant_id and f.validity = 'active' and f.planned_for is null
          and f.subject_key = any (
            s.subject_keys
            || case when m.subject_key = 'user' then array[k.word, 'my ' || k.word] end
          )
      cross join lateral (
        select f.predicate_key = any (v_naming) as says_who
      ) as n
      where m.of_person and memory.is_in_scope('fact', f.scope, read_relations.scope)
      order by
        m.position, m.relation, f.subject_key, n.says_who desc, f.predicate_key, f.id
    ) as c
    order by position, predicate_key, id
    limit 10
  ),
  -- Whom such a fact names: another subject among its first words.
  named as (
    select
      r.position, r.id, -1::bigint as place, e.canonical_name as name, null as subject_key,
      e.id as entity_id
    from relations as r
    join memory.entities as e
      on e.tenant_id = settings.tenant_id and e.id = r.object_entity_id
    union all
    select r.position, r.id, g.place, s.subject, g.subject_key, null
    from relations as r
    cross join lateral (
      -- Dr. Sethi has a dot as a subject, too; what follows a name may be a comma.
      select
        memory.key_words(left(r.content, 200)) as words,
        string_to_array(memory.spelling_key(left(r.content, 200)), ' ') as spelled
      offset 0 -- computes them only once
    ) as c
    cross join lateral (
      select
        3 * p.position - l.length as place,
        k.subject_key
      from generate_series(1, 8) as p (position)
      cross join generate_series(1, 3) as l (length)
      cross join lateral (
        select array_to_string(c.words[p.position:p.position + l.length - 1], ' ')
        where p.position + l.length - 1 <= cardinality(c.words)
        union
        select rtrim(array_to_string(c.spelled[p.position:p.position + l.length - 1], ' '), ',;:')
        where p.position + l.length - 1 <= cardinality(c.spelled)
      ) as k (subject_key)
      where k.subject_key <> all (v_selves || r.subject_key)
    ) as g
    cross join lateral (
      select f.subject
      from memory.facts as f
      where f.tenant_id = settings.tenant_id and f.subject_key = g.subject_key
        and f.validity = 'active' and memory.is_in_scope('fact', f.scope, read_relations.scope)
      order by f.predicate_key, f.id
      limit 1
    ) as s
    -- An employer may be somebody, too; the lead of a team is not the team.
    where r.of_person or g.place <= 2
  ),
  told as (
    select
      r.position, r.predicate_key, r.id, r.content, f.name, f.subject_key, f.entity_id,
      concat_ws(
        ' ',
        -- What the fact calls them: models of embeddings know that a mom is a mother, in English.
        case
          when (f.name is null or r.language is distinct from 'en')
            and not v_words @> memory.key_words(r.predicate_key)
          then r.predicate_key
        end,
        case when not v_words @> memory.key_words(f.name) then f.name end
      ) as text
    from relations as r
    left join (
      -- Of each fact, the first name, and of those that begin there the longest.
      select distinct on (n.position, n.id) n.*
      from named as n
      order by n.position, n.id, n.place, length(n.name) desc, n.name collate "C"
    ) as f on f.position = r.position and f.id = r.id
  )
  select
    string_agg(t.text, ', ' order by t.position, t.predicate_key, t.id)
    filter (where t.text <> '' and t.occurrence = 1),
    array_agg(
      row(
        t.id, t.subject_key, t.entity_id,
        memory.key_words(left(t.content, 1000)) = memory.key_words(t.name)
      )::memory.mentioned
      order by t.position, t.predicate_key, t.id
    ) filter (where t.name is not null),
    (
      select string_agg(w.word, ' ' order by w.position)
      from words as w
      where w.word <> all (v_asking)
        and not exists (
          select from relations as r where w.position between r.begins and r.ends
        )
        and not exists (select from told as n where w.word = any (memory.key_words(n.name)))
    ),
    -- Whether a fact has what it asks for, which stands at its end.
    exists (
      select
      from relations as r
      where not r.of_person
        and r.ends = cardinality(v_words) - (v_words[cardinality(v_words)] = 'now')::integer
    )
  into v_names, v_relations.people, v_relations.rest, v_is_found
  from (
    select
      o.*,
      row_number() over (
        partition by o.text
        order by o.position, o.predicate_key, o.id
      ) as occurrence
    from told as o
  ) as t;

  if v_relations.people is null then
    v_relations.rest := null;
  else
    -- What is asked about them may be called otherwise, too.
    v_asked := array(
      select distinct k.predicate_key
      from (values ((string_to_array(v_relations.rest, ' '))[:30])) as r (words)
      cross join generate_subscripts(r.words, 1) as p (position)
      cross join generate_series(0, 2) as l (length)
      cross join lateral memory.synonyms_of(
        array_to_string(r.words[p.position:p.position + l.length], ' '), 'en'
      ) as s
      cross join unnest(s.words) as k (predicate_key)
      where p.position + l.length <= cardinality(r.words) and not s.of_person
        -- Their phone bill is no phone.
        and (r.words[p.position + l.length + 1] <> all (v_joining)) is not true
      order by k.predicate_key
    );
    v_relations.rest := nullif(
      concat_ws(' ', v_relations.rest, array_to_string(v_asked, ' ')), ''
    );
    select
      nullif(
        concat_ws(
          ', ', v_names,
          string_agg(distinct f.predicate_key, ', ') filter (
            -- Who asks where she works knows the word already.
            where not exists (
              select from unnest(v_words) as w (word)
              where length(w.word) > 2 and starts_with(f.predicate_key, w.word)
            )
          )
        ),
        ''
      ),
      v_is_found or count(*) > 0
    into v_names, v_is_found
    from (
      select f.predicate_key
      from memory.facts as f
      where f.tenant_id = settings.tenant_id and f.predicate_key = any (v_asked)
        and f.subject_key = any (array(select p.subject_key from unnest(v_relations.people) as p))
        and f.validity = 'active' and f.planned_for is null
        and memory.is_in_scope('fact', f.scope, read_relations.scope)
      union all
      select f.predicate_key
      from memory.facts as f
      where f.tenant_id = settings.tenant_id and f.predicate_key = any (v_asked)
        and f.entity_id = any (array(select p.entity_id from unnest(v_relations.people) as p))
        and f.validity = 'active' and f.planned_for is null
        and memory.is_in_scope('fact', f.scope, read_relations.scope)
    ) as f;
  end if;
  if v_restated is not null and not v_is_found then
    -- Nobody has what it asks for.
    return memory.read_relations(
      regexp_replace(query, ' for a living\M', ' for work', 'i'), scope, settings,
      restates => false
    );
  end if;
  v_relations.query := v_query || coalesce(' (' || v_names || ')', '');
  return v_relations;
end;
$$;

comment on function memory.read_relations(text, text, memory.settings, boolean) is
'Whom a query mentions by what they are to somebody, and what facts call the properties that it '
'mentions (memory.expand_query), for a visible scope (memory.visible_scope). restates: as '
'memory.restate_question asks it, if a fact has what it asks for then. Nothing is looked for '
'without boost_named, or with the ranking "specified", which ranks by the words as they are.';
grant execute on function memory.read_relations to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
