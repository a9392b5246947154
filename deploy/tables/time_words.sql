-- Deploy pymem:tables/time_words to pg
-- requires: schema

begin;

set local role memory_owner;

create function memory.fold_words(words text)
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
'"Août" and "aout", for "New Year''s Eve" and "new year s eve".';

create function memory.words_of(content text)
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
'The words of a text in their order, folded (memory.fold_words): letters of ASCII and digits, and '
'periods, each of which is a word; any other letter separates words. There may be empty words.';

-- Reference data, the same for every tenant, like transitions.
create table memory.time_words (
  language text not null check (language ~ '^[a-z]{2}$'),
  word text not null check (word <> ''),
  kind text not null,
  value text not null,
  trust text not null default 'plain',
  folded text not null generated always as (memory.fold_words(word)) stored,
  primary key (language, word, kind),
  constraint time_words_value check (
    value ~ case kind
      when 'month' then '^([1-9]|1[0-2])$'
      when 'weekday' then '^[1-7]$'
      when 'day' then '^(-[12]|[012])$'
      when 'season' then '^[1-4]$'
      when 'quarter' then '^[1-4]$'
      when 'holiday' then '^(easter|[01][0-9]-[0-3][0-9])([+-][0-9]+)?(~[1-7])?(/[0-9]+)?$'
      when 'unit' then '^(day|week|weekend|month|quarter|year|decade)$'
      when 'number' then '^[0-9]+(-[0-9]+)?$'
      when 'ordinal' then '^([1-9]|1[0-2])$'
      when 'relative before' then '^(-[12]|[012]|past)$'
      when 'relative after' then '^(-[12]|[012]|past)$'
      when 'relative around' then '^(-[12]|[012]|past)$'
      when 'part' then '^([123]/3|[12]/2)$'
      when 'before' then '^(ago)?$'
      when 'in' then '^(the)?$'
      else '^$'
    end
  ),
  constraint time_words_kind check (
    kind in (
      'month', 'weekday', 'day', 'season', 'quarter', 'holiday', 'unit', 'number', 'ordinal',
      'relative before', 'relative after', 'relative around', 'ago', 'since', 'until', 'before',
      'after', 'from', 'to', 'between', 'and', 'or', 'of', 'in', 'on', 'article', 'part', 'every',
      'filler', 'common', 'never', 'update', 'present'
    )
  ),
  constraint time_words_trust check (
    trust = 'plain'
    or trust = 'weak' and kind in ('month', 'season', 'quarter')
    or trust = 'verb' and kind in ('month', 'weekday')
  )
);

-- Once in a language, a word names one thing.
create unique index time_words_folded_key
on memory.time_words (language, folded) where kind not in ('update', 'present');

comment on table memory.time_words is
'The words by which texts name times (memory.read_period), say that they are news '
'(memory.tells_update) or ask for the present (memory.asks_present). These functions are made from '
'the rows when they are deployed: whoever adds words deploys functions/time_words anew. A text is '
'read in one language, that of most of its words.';
comment on column memory.time_words.language is 'ISO 639-1: en, de, fr, es.';
comment on column memory.time_words.word is
'A word, or several with single spaces between. Of the kinds update and present also a pattern: '
'"…" stands for up to six words of the same sentence, at the end for one more word; <weekday> and '
'<month> for every word of that kind and language.';
comment on column memory.time_words.kind is
'What the word says. Names of times: month, weekday, day, season, quarter, holiday, unit. Which '
'one: number, ordinal, part, and relative before, after or around (on either side of) what it is '
'about, as in last week, la semaine prochaine. How they belong together: ago, since, until, '
'before, after, from, to, between, and, or, of, in, on, article, every (what recurs names no '
'time). filler: nothing, it is passed over. common: only which language this is. never: no time, '
'though a part of it is a word for one; also no update.';
comment on column memory.time_words.value is
'Month 1..12; weekday 1 (Monday)..7; day: days from today, -2..2; season 1 (spring)..4 (winter); '
'quarter 1..4; unit: day, week, weekend, month, quarter, year, decade; number: the number, or from '
'and to of a vague one; ordinal 1..12; relative: units from this one, -2..2, or "past" for those '
'up to now; part: which of how many, 1/3..3/3 or 1/2, 2/2. holiday: month and day, or easter; then '
'days added, ~ the weekday looked for from there on, / its days, as in 11-22~4 and easter-2/4. '
'before: "ago" if the word stands before a count of units, too. in: "the" if the word holds the '
'article. Empty for other kinds.';
comment on column memory.time_words.trust is
'plain: names a time wherever it stands. weak: also a name or another word, so only beside a day '
'or year or after words such as in, since, last. verb: as weak, and in lower case only where no '
'verb can stand.';
comment on column memory.time_words.folded is 'The word by memory.fold_words: how it is looked up.';

insert into memory.time_words (language, kind, value, trust, word)
select w.language, w.kind, w.value, w.trust, u.word
from (
  values
  ('en', 'month', '1', 'plain', '{january}'),
  ('en', 'month', '2', 'plain', '{february}'),
  ('en', 'month', '7', 'plain', '{july}'),
  ('en', 'month', '9', 'plain', '{september}'),
  ('en', 'month', '10', 'plain', '{october}'),
  ('en', 'month', '11', 'plain', '{november}'),
  ('en', 'month', '12', 'plain', '{december}'),
  ('en', 'month', '1', 'weak', '{jan}'),
  ('en', 'month', '2', 'weak', '{feb}'),
  ('en', 'month', '3', 'weak', '{mar}'),
  ('en', 'month', '4', 'weak', '{april,apr}'),
  ('en', 'month', '6', 'weak', '{june,jun}'),
  ('en', 'month', '7', 'weak', '{jul}'),
  ('en', 'month', '8', 'weak', '{august,aug}'),
  ('en', 'month', '9', 'weak', '{sep,sept}'),
  ('en', 'month', '10', 'weak', '{oct}'),
  ('en', 'month', '11', 'weak', '{nov}'),
  ('en', 'month', '12', 'weak', '{dec}'),
  ('en', 'month', '3', 'verb', '{march}'),
  ('en', 'month', '5', 'verb', '{may}'),
  ('en', 'weekday', '1', 'plain', '{monday}'),
  ('en', 'weekday', '2', 'plain', '{tuesday,tue,tues}'),
  ('en', 'weekday', '3', 'plain', '{wednesday}'),
  ('en', 'weekday', '4', 'plain', '{thursday,thu,thur,thurs}'),
  ('en', 'weekday', '5', 'plain', '{friday,fri}'),
  ('en', 'weekday', '6', 'plain', '{saturday}'),
  ('en', 'weekday', '7', 'plain', '{sunday}'),
  ('en', 'weekday', '1', 'verb', '{mon}'),
  ('en', 'weekday', '3', 'verb', '{wed}'),
  ('en', 'weekday', '6', 'verb', '{sat}'),
  ('en', 'weekday', '7', 'verb', '{sun}'),
  ('en', 'day', '-2', 'plain', '{day before yesterday}'),
  ('en', 'day', '-1', 'plain', '{yesterday,last night}'),
  ('en', 'day', '0', 'plain', '{today,tonight,this morning,this afternoon,this evening}'),
  ('en', 'day', '1', 'plain', '{tomorrow}'),
  ('en', 'day', '2', 'plain', '{day after tomorrow}'),
  ('en', 'season', '1', 'weak', '{spring}'),
  ('en', 'season', '2', 'plain', '{summer}'),
  ('en', 'season', '3', 'plain', '{autumn}'),
  ('en', 'season', '3', 'weak', '{fall}'),
  ('en', 'season', '4', 'plain', '{winter}'),
  ('en', 'quarter', '1', 'weak', '{q1,first quarter}'),
  ('en', 'quarter', '2', 'weak', '{q2,second quarter}'),
  ('en', 'quarter', '3', 'weak', '{q3,third quarter}'),
  ('en', 'quarter', '4', 'weak', '{q4,fourth quarter}'),
  ('en', 'holiday', '12-24/3', 'plain', '{christmas,xmas}'),
  ('en', 'holiday', '12-24', 'plain', '{christmas eve}'),
  ('en', 'holiday', '12-25', 'plain', '{christmas day}'),
  ('en', 'holiday', '12-26', 'plain', '{boxing day}'),
  ('en', 'holiday', '12-31', 'plain', '{new year''s eve,new years eve}'),
  ('en', 'holiday', '01-01', 'plain', '{new year''s day,new years day,new year,new year''s}'),
  ('en', 'holiday', '02-14', 'plain', '{valentine''s day,valentines day}'),
  ('en', 'holiday', '10-31', 'plain', '{halloween}'),
  ('en', 'holiday', '11-22~4', 'plain', '{thanksgiving}'),
  ('en', 'holiday', '11-23~5', 'plain', '{black friday}'),
  ('en', 'holiday', 'easter-2/4', 'plain', '{easter}'),
  ('en', 'holiday', 'easter-2', 'plain', '{good friday}'),
  ('en', 'holiday', 'easter', 'plain', '{easter sunday}'),
  ('en', 'holiday', 'easter+1', 'plain', '{easter monday}'),
  ('en', 'holiday', 'easter+49/2', 'plain', '{pentecost,whitsun}'),
  ('en', 'unit', 'day', 'plain', '{day,days}'),
  ('en', 'unit', 'week', 'plain', '{week,weeks}'),
  ('en', 'unit', 'weekend', 'plain', '{weekend,weekends}'),
  ('en', 'unit', 'month', 'plain', '{month,months}'),
  ('en', 'unit', 'quarter', 'plain', '{quarter,quarters}'),
  ('en', 'unit', 'year', 'plain', '{year,years}'),
  ('en', 'unit', 'decade', 'plain', '{decade,decades}'),
  ('en', 'number', '1', 'plain', '{a,an,one}'),
  ('en', 'number', '2', 'plain', '{two}'),
  ('en', 'number', '3', 'plain', '{three}'),
  ('en', 'number', '4', 'plain', '{four}'),
  ('en', 'number', '5', 'plain', '{five}'),
  ('en', 'number', '6', 'plain', '{six}'),
  ('en', 'number', '7', 'plain', '{seven}'),
  ('en', 'number', '8', 'plain', '{eight}'),
  ('en', 'number', '9', 'plain', '{nine}'),
  ('en', 'number', '10', 'plain', '{ten}'),
  ('en', 'number', '11', 'plain', '{eleven}'),
  ('en', 'number', '12', 'plain', '{twelve}'),
  ('en', 'number', '2-3', 'plain', '{couple,couple of,a couple,a couple of}'),
  ('en', 'number', '2-5', 'plain', '{few,a few}'),
  ('en', 'number', '3-7', 'plain', '{several}'),
  ('en', 'ordinal', '1', 'plain', '{first}'),
  ('en', 'ordinal', '2', 'plain', '{second}'),
  ('en', 'ordinal', '3', 'plain', '{third}'),
  ('en', 'ordinal', '4', 'plain', '{fourth}'),
  ('en', 'ordinal', '5', 'plain', '{fifth}'),
  ('en', 'ordinal', '6', 'plain', '{sixth}'),
  ('en', 'ordinal', '7', 'plain', '{seventh}'),
  ('en', 'ordinal', '8', 'plain', '{eighth}'),
  ('en', 'ordinal', '9', 'plain', '{ninth}'),
  ('en', 'ordinal', '10', 'plain', '{tenth}'),
  ('en', 'ordinal', '11', 'plain', '{eleventh}'),
  ('en', 'ordinal', '12', 'plain', '{twelfth}'),
  ('en', 'relative before', '-1', 'plain', '{last,previous}'),
  ('en', 'relative before', 'past', 'plain', '{past}'),
  ('en', 'relative before', '0', 'plain', '{this,current}'),
  ('en', 'relative before', '1', 'plain', '{next,coming,upcoming}'),
  ('en', 'ago', '', 'plain', '{ago}'),
  ('en', 'since', '', 'plain', '{since}'),
  ('en', 'until', '', 'plain', '{until,till,up to,up until}'),
  ('en', 'before', '', 'plain', '{before,prior to,earlier than}'),
  ('en', 'after', '', 'plain', '{after,later than}'),
  ('en', 'from', '', 'plain', '{from}'),
  ('en', 'to', '', 'plain', '{to,through,thru}'),
  ('en', 'between', '', 'plain', '{between}'),
  ('en', 'and', '', 'plain', '{and}'),
  ('en', 'or', '', 'plain', '{or}'),
  ('en', 'of', '', 'plain', '{of}'),
  ('en', 'in', '', 'plain', '{in,during,over,throughout,around,within}'),
  ('en', 'on', '', 'plain', '{on,at}'),
  ('en', 'article', '', 'plain', '{the}'),
  ('en', 'part', '1/3', 'plain', '{early,beginning of,start of}'),
  ('en', 'part', '2/3', 'plain', '{mid,middle of}'),
  ('en', 'part', '3/3', 'plain', '{late,end of}'),
  ('en', 'part', '1/2', 'plain', '{first half of}'),
  ('en', 'part', '2/2', 'plain', '{second half of,last half of}'),
  ('en', 'every', '', 'plain', '{every,every other,each,any,per}'),
  ('en', 'filler', '', 'plain', '{about,roughly,approximately,exactly,just,some,only}'),
  ('en', 'never', '', 'plain', '{happy new year,new year''s resolution,new year''s resolutions}'),
  ('en', 'never', '', 'plain', '{new york,new zealand,new delhi,new orleans,new jersey}'),
  ('en', 'never', '', 'plain', '{new mexico,new england,new hampshire,new guinea,new caledonia}'),
  ('en', 'never', '', 'plain', '{on weekends,at weekends,on the weekends,during weekends}'),
  ('en', 'never', '', 'plain', '{the nun,a nun,now and then,now and again,still life}'),
  ('en', 'common', '', 'plain', '{i,you,he,she,it,we,they,me,us,my,your,his,her,our,their,that}'),
  ('en', 'common', '', 'plain', '{what,who,whom,when,where,why,how,which,there,with,for,not,no}'),
  ('en', 'common', '', 'plain', '{is,are,was,were,be,been,do,does,did,have,has,had,will,would}'),
  ('en', 'common', '', 'plain', '{can,could,should,might,as,by,but,if,show,tell,find,list}'),
  ('en', 'update', '', 'plain', '{now,nowadays,no longer,not … any more,not … anymore,anymore}'),
  ('en', 'update', '', 'plain', '{isn''t … any more,doesn''t … any more,don''t … any more}'),
  ('en', 'update', '', 'plain', '{aren''t … any more,won''t … any more,can''t … any more}'),
  ('en', 'update', '', 'plain', '{from now on,from today on,as of,as from,since today}'),
  ('en', 'update', '', 'plain', '{since <weekday>,since <month>}'),
  ('en', 'update', '', 'plain', '{changed to,changes to,moved to,moves to,switched to}'),
  ('en', 'update', '', 'plain', '{switches to,instead of,in place of,replaced by,replaces}'),
  ('en', 'update', '', 'plain', '{rescheduled,postponed,brought forward,new}'),
  ('en', 'present', '', 'plain', '{now,today,nowadays,these days,currently,current,presently}'),
  ('en', 'present', '', 'plain', '{at present,at the moment,still,latest,newest}'),
  ('en', 'present', '', 'plain', '{most recent,up to date}'),

  ('de', 'month', '1', 'plain', '{januar,jänner}'),
  ('de', 'month', '2', 'plain', '{februar,feber}'),
  ('de', 'month', '3', 'plain', '{märz,maerz}'),
  ('de', 'month', '4', 'plain', '{april}'),
  ('de', 'month', '5', 'plain', '{mai}'),
  ('de', 'month', '6', 'plain', '{juni}'),
  ('de', 'month', '7', 'plain', '{juli}'),
  ('de', 'month', '8', 'plain', '{august}'),
  ('de', 'month', '9', 'plain', '{september}'),
  ('de', 'month', '10', 'plain', '{oktober}'),
  ('de', 'month', '11', 'plain', '{november}'),
  ('de', 'month', '12', 'plain', '{dezember}'),
  ('de', 'weekday', '1', 'plain', '{montag,montag morgen}'),
  ('de', 'weekday', '2', 'plain', '{dienstag,dienstag morgen}'),
  ('de', 'weekday', '3', 'plain', '{mittwoch,mittwoch morgen}'),
  ('de', 'weekday', '4', 'plain', '{donnerstag,donnerstag morgen}'),
  ('de', 'weekday', '5', 'plain', '{freitag,freitag morgen}'),
  ('de', 'weekday', '6', 'plain', '{samstag,samstag morgen,sonnabend}'),
  ('de', 'weekday', '7', 'plain', '{sonntag,sonntag morgen}'),
  ('de', 'day', '-2', 'plain', '{vorgestern,vorgestern morgen}'),
  ('de', 'day', '-1', 'plain', '{gestern,gestern morgen,letzte nacht}'),
  ('de', 'day', '0', 'plain', '{heute,heute morgen,diesen morgen}'),
  ('de', 'day', '1', 'plain', '{morgen}'),
  ('de', 'day', '2', 'plain', '{übermorgen,uebermorgen}'),
  ('de', 'season', '1', 'plain', '{frühling,fruehling,frühjahr,fruehjahr}'),
  ('de', 'season', '2', 'plain', '{sommer}'),
  ('de', 'season', '3', 'plain', '{herbst}'),
  ('de', 'season', '4', 'plain', '{winter}'),
  ('de', 'quarter', '1', 'weak', '{q1,erstes quartal,ersten quartal}'),
  ('de', 'quarter', '2', 'weak', '{q2,zweites quartal,zweiten quartal}'),
  ('de', 'quarter', '3', 'weak', '{q3,drittes quartal,dritten quartal}'),
  ('de', 'quarter', '4', 'weak', '{q4,viertes quartal,vierten quartal}'),
  ('de', 'holiday', '12-24/3', 'plain', '{weihnachten}'),
  ('de', 'holiday', '12-24', 'plain', '{heiligabend,heiliger abend}'),
  ('de', 'holiday', '12-31', 'plain', '{silvester}'),
  ('de', 'holiday', '01-01', 'plain', '{neujahr}'),
  ('de', 'holiday', 'easter-2/4', 'plain', '{ostern}'),
  ('de', 'holiday', 'easter-2', 'plain', '{karfreitag}'),
  ('de', 'holiday', 'easter', 'plain', '{ostersonntag}'),
  ('de', 'holiday', 'easter+1', 'plain', '{ostermontag}'),
  ('de', 'holiday', 'easter+49/2', 'plain', '{pfingsten}'),
  ('de', 'unit', 'day', 'plain', '{tag,tage,tagen,tages}'),
  ('de', 'unit', 'week', 'plain', '{woche,wochen}'),
  ('de', 'unit', 'weekend', 'plain', '{wochenende,wochenenden,wochenendes}'),
  ('de', 'unit', 'month', 'plain', '{monat,monate,monaten,monats}'),
  ('de', 'unit', 'quarter', 'plain', '{quartal,quartale,quartalen,quartals}'),
  ('de', 'unit', 'year', 'plain', '{jahr,jahre,jahren,jahres}'),
  ('de', 'unit', 'decade', 'plain', '{jahrzehnt,jahrzehnte,jahrzehnten,jahrzehnts}'),
  ('de', 'number', '1', 'plain', '{ein,eine,einem,einen,einer,eines}'),
  ('de', 'number', '2', 'plain', '{zwei}'),
  ('de', 'number', '3', 'plain', '{drei}'),
  ('de', 'number', '4', 'plain', '{vier}'),
  ('de', 'number', '5', 'plain', '{fünf,fuenf}'),
  ('de', 'number', '6', 'plain', '{sechs}'),
  ('de', 'number', '7', 'plain', '{sieben}'),
  ('de', 'number', '8', 'plain', '{acht}'),
  ('de', 'number', '9', 'plain', '{neun}'),
  ('de', 'number', '10', 'plain', '{zehn}'),
  ('de', 'number', '11', 'plain', '{elf}'),
  ('de', 'number', '12', 'plain', '{zwölf,zwoelf}'),
  ('de', 'number', '2-5', 'plain', '{ein paar,paar,einige,einigen,wenige,wenigen}'),
  ('de', 'number', '3-7', 'plain', '{mehrere,mehreren}'),
  ('de', 'ordinal', '1', 'plain', '{erste,ersten,erster,erstes}'),
  ('de', 'ordinal', '2', 'plain', '{zweite,zweiten,zweiter,zweites}'),
  ('de', 'ordinal', '3', 'plain', '{dritte,dritten,dritter,drittes}'),
  ('de', 'ordinal', '4', 'plain', '{vierte,vierten,vierter,viertes}'),
  ('de', 'ordinal', '5', 'plain', '{fünfte,fünften,fünfter,fünftes}'),
  ('de', 'relative before', '-2', 'plain', '{vorletzte,vorletzten,vorletzter,vorletztes}'),
  ('de', 'relative before', '-1', 'plain', '{letzte,letztem,letzten,letzter,letztes}'),
  ('de', 'relative before', '-1', 'plain', '{vorige,vorigem,vorigen,voriger,voriges}'),
  ('de', 'relative before', '-1', 'plain', '{vergangene,vergangenem,vergangenen,vergangener}'),
  ('de', 'relative before', '-1', 'plain', '{vergangenes}'),
  ('de', 'relative before', '0', 'plain', '{diese,diesem,diesen,dieser,dieses}'),
  ('de', 'relative before', '1', 'plain', '{nächste,nächstem,nächsten,nächster,nächstes,naechste}'),
  ('de', 'relative before', '1', 'plain', '{naechsten,naechster,naechstes,kommende,kommendem}'),
  ('de', 'relative before', '1', 'plain', '{kommenden,kommender,kommendes}'),
  ('de', 'relative before', '2', 'plain', '{übernächste,übernächsten,übernächster,übernächstes}'),
  ('de', 'since', '', 'plain', '{seit,ab}'),
  ('de', 'until', '', 'plain', '{bis}'),
  ('de', 'before', 'ago', 'plain', '{vor}'),
  ('de', 'after', '', 'plain', '{nach}'),
  ('de', 'from', '', 'plain', '{von,vom}'),
  ('de', 'between', '', 'plain', '{zwischen}'),
  ('de', 'and', '', 'plain', '{und}'),
  ('de', 'or', '', 'plain', '{oder}'),
  ('de', 'of', '', 'plain', '{des}'),
  ('de', 'in', '', 'plain', '{in,während,waehrend,um,gegen}'),
  ('de', 'in', 'the', 'plain', '{im}'),
  ('de', 'on', '', 'plain', '{am,an,zu}'),
  ('de', 'article', '', 'plain', '{der,die,das,den,dem,zum,zur}'),
  ('de', 'part', '1/3', 'plain', '{anfang,beginn}'),
  ('de', 'part', '2/3', 'plain', '{mitte}'),
  ('de', 'part', '3/3', 'plain', '{ende}'),
  ('de', 'part', '1/2', 'plain', '{erste hälfte,ersten hälfte}'),
  ('de', 'part', '2/2', 'plain', '{zweite hälfte,zweiten hälfte}'),
  ('de', 'every', '', 'plain', '{jede,jedem,jeden,jeder,jedes,alle}'),
  ('de', 'filler', '', 'plain', '{etwa,ungefähr,ungefaehr,circa,zirka,ca,rund,genau,knapp}'),
  ('de', 'never', '', 'plain', '{guten morgen,am morgen,jeden morgen,der morgen,den morgen}'),
  ('de', 'never', '', 'plain', '{an wochenenden,an den wochenenden}'),
  ('de', 'never', '', 'plain', '{dem morgen,nächsten morgen,am nächsten morgen,ein morgen}'),
  ('de', 'common', '', 'plain', '{ich,du,er,sie,es,wir,ihr,mir,mich,dir,dich,uns,mein,meine}'),
  ('de', 'common', '', 'plain', '{was,wer,wen,wem,wann,wo,wie,warum,welche,welcher,welches}'),
  ('de', 'common', '', 'plain', '{ist,sind,war,waren,wird,wurde,werden,habe,haben,hat,hatte}'),
  ('de', 'common', '', 'plain', '{nicht,kein,keine,mit,auf,für,auch,noch,dass,hier,gemacht}'),
  ('de', 'update', '', 'plain', '{jetzt,nun,nunmehr,nicht mehr,kein … mehr,keine … mehr}'),
  ('de', 'update', '', 'plain', '{ab sofort,ab jetzt,ab heute,seit heute,seit <weekday>}'),
  ('de', 'update', '', 'plain', '{ab <weekday>,seit <month>,ab <month>}'),
  ('de', 'update', '', 'plain', '{statt …,anstatt,anstelle,stattdessen}'),
  ('de', 'update', '', 'plain', '{neu,neue,neuem,neuen,neuer,neues}'),
  ('de', 'update', '', 'plain', '{geändert,geaendert,verlegt,verschoben,vorgezogen,ersetzt}'),
  ('de', 'present', '', 'plain', '{jetzt,heute,derzeit,aktuell,aktuelle,aktuellen,aktueller}'),
  ('de', 'present', '', 'plain', '{aktuelles,momentan,im moment,zurzeit,zur zeit,gegenwärtig}'),
  ('de', 'present', '', 'plain', '{noch,inzwischen,mittlerweile,neueste,neuesten,neuester}'),

  ('fr', 'month', '1', 'plain', '{janvier}'),
  ('fr', 'month', '2', 'plain', '{février}'),
  ('fr', 'month', '3', 'weak', '{mars}'),
  ('fr', 'month', '4', 'plain', '{avril}'),
  ('fr', 'month', '5', 'plain', '{mai}'),
  ('fr', 'month', '6', 'plain', '{juin}'),
  ('fr', 'month', '7', 'plain', '{juillet}'),
  ('fr', 'month', '8', 'plain', '{août}'),
  ('fr', 'month', '9', 'plain', '{septembre}'),
  ('fr', 'month', '10', 'plain', '{octobre}'),
  ('fr', 'month', '11', 'plain', '{novembre}'),
  ('fr', 'month', '12', 'plain', '{décembre}'),
  ('fr', 'weekday', '1', 'plain', '{lundi}'),
  ('fr', 'weekday', '2', 'plain', '{mardi}'),
  ('fr', 'weekday', '3', 'plain', '{mercredi}'),
  ('fr', 'weekday', '4', 'plain', '{jeudi}'),
  ('fr', 'weekday', '5', 'plain', '{vendredi}'),
  ('fr', 'weekday', '6', 'plain', '{samedi}'),
  ('fr', 'weekday', '7', 'plain', '{dimanche}'),
  ('fr', 'day', '-2', 'plain', '{avant-hier}'),
  ('fr', 'day', '-1', 'plain', '{hier,nuit dernière}'),
  ('fr', 'day', '0', 'plain', '{aujourd''hui,ce matin,ce soir,cet après-midi,cette nuit}'),
  ('fr', 'day', '1', 'plain', '{demain}'),
  ('fr', 'day', '2', 'plain', '{après-demain}'),
  ('fr', 'season', '1', 'plain', '{printemps}'),
  ('fr', 'season', '2', 'weak', '{été}'),
  ('fr', 'season', '3', 'plain', '{automne}'),
  ('fr', 'season', '4', 'plain', '{hiver}'),
  ('fr', 'quarter', '1', 'weak', '{premier trimestre}'),
  ('fr', 'quarter', '2', 'weak', '{deuxième trimestre,second trimestre}'),
  ('fr', 'quarter', '3', 'weak', '{troisième trimestre}'),
  ('fr', 'quarter', '4', 'weak', '{quatrième trimestre}'),
  ('fr', 'holiday', '12-24/3', 'plain', '{noël}'),
  ('fr', 'holiday', '12-31', 'plain', '{saint-sylvestre}'),
  ('fr', 'holiday', '01-01', 'plain', '{nouvel an,jour de l''an}'),
  ('fr', 'holiday', 'easter-2/4', 'plain', '{pâques}'),
  ('fr', 'holiday', 'easter-2', 'plain', '{vendredi saint}'),
  ('fr', 'holiday', 'easter+1', 'plain', '{lundi de pâques}'),
  ('fr', 'holiday', 'easter+49/2', 'plain', '{pentecôte}'),
  ('fr', 'unit', 'day', 'plain', '{jour,jours}'),
  ('fr', 'unit', 'week', 'plain', '{semaine,semaines}'),
  ('fr', 'unit', 'weekend', 'plain', '{week-end,week-ends,weekend,weekends}'),
  ('fr', 'unit', 'month', 'plain', '{mois}'),
  ('fr', 'unit', 'quarter', 'plain', '{trimestre,trimestres}'),
  ('fr', 'unit', 'year', 'plain', '{an,ans,année,années}'),
  ('fr', 'unit', 'decade', 'plain', '{décennie,décennies}'),
  ('fr', 'number', '1', 'plain', '{un,une}'),
  ('fr', 'number', '2', 'plain', '{deux}'),
  ('fr', 'number', '3', 'plain', '{trois}'),
  ('fr', 'number', '4', 'plain', '{quatre}'),
  ('fr', 'number', '5', 'plain', '{cinq}'),
  ('fr', 'number', '6', 'plain', '{six}'),
  ('fr', 'number', '7', 'plain', '{sept}'),
  ('fr', 'number', '8', 'plain', '{huit}'),
  ('fr', 'number', '9', 'plain', '{neuf}'),
  ('fr', 'number', '10', 'plain', '{dix}'),
  ('fr', 'number', '11', 'plain', '{onze}'),
  ('fr', 'number', '12', 'plain', '{douze}'),
  ('fr', 'number', '2-5', 'plain', '{quelques}'),
  ('fr', 'number', '3-7', 'plain', '{plusieurs}'),
  ('fr', 'ordinal', '1', 'plain', '{premier,première}'),
  ('fr', 'ordinal', '2', 'plain', '{deuxième,second,seconde}'),
  ('fr', 'ordinal', '3', 'plain', '{troisième}'),
  ('fr', 'ordinal', '4', 'plain', '{quatrième}'),
  ('fr', 'ordinal', '5', 'plain', '{cinquième}'),
  ('fr', 'relative before', '0', 'plain', '{ce,cet,cette}'),
  ('fr', 'relative around', '-2', 'plain', '{avant-dernier,avant-dernière}'),
  ('fr', 'relative around', '-1', 'plain', '{dernier,dernière,derniers,dernières}'),
  ('fr', 'relative around', '1', 'plain', '{prochain,prochaine,prochains,prochaines}'),
  ('fr', 'relative after', '-1', 'plain', '{passé,passée,passés,passées,précédent,précédente}'),
  ('fr', 'ago', '', 'plain', '{il y a}'),
  ('fr', 'since', '', 'plain', '{depuis,dès le,à partir de,à partir du,à compter de,à compter du}'),
  ('fr', 'until', '', 'plain', '{jusqu''à,jusqu''au,jusqu''en,jusque}'),
  ('fr', 'before', '', 'plain', '{avant}'),
  ('fr', 'after', '', 'plain', '{après}'),
  ('fr', 'to', '', 'plain', '{à,au,aux}'),
  ('fr', 'between', '', 'plain', '{entre}'),
  ('fr', 'and', '', 'plain', '{et}'),
  ('fr', 'or', '', 'plain', '{ou}'),
  ('fr', 'of', '', 'plain', '{de,du,des,d}'),
  ('fr', 'in', '', 'plain', '{en,dans,pendant,durant,courant,vers}'),
  ('fr', 'article', '', 'plain', '{le,la,les,l,ces}'),
  ('fr', 'part', '1/3', 'plain', '{début}'),
  ('fr', 'part', '2/3', 'plain', '{mi,milieu}'),
  ('fr', 'part', '3/3', 'plain', '{fin}'),
  ('fr', 'part', '1/2', 'plain', '{première moitié}'),
  ('fr', 'part', '2/2', 'plain', '{deuxième moitié,seconde moitié}'),
  ('fr', 'every', '', 'plain', '{chaque,tous les,toutes les}'),
  ('fr', 'filler', '', 'plain', '{environ,exactement,à peu près}'),
  ('fr', 'never', '', 'plain', '{de nouveau,à nouveau}'),
  ('fr', 'common', '', 'plain', '{je,tu,il,elle,on,nous,vous,ils,elles,j,me,te,se,mon,ma,mes}'),
  ('fr', 'common', '', 'plain', '{que,qu,qui,quoi,quand,comment,pourquoi,quel,quelle,combien}'),
  ('fr', 'common', '', 'plain', '{est,sont,était,étaient,ai,as,avons,avez,ont,avait,fait,dit}'),
  ('fr', 'common', '', 'plain', '{ne,pas,plus,avec,pour,sur,s,c,n,notre,nos,votre,vos,leur}'),
  ('fr', 'update', '', 'plain', '{désormais,dorénavant,maintenant,ne … plus,n … plus}'),
  ('fr', 'update', '', 'plain', '{dès aujourd''hui,depuis aujourd''hui,à partir d''aujourd''hui}'),
  ('fr', 'update', '', 'plain', '{depuis <weekday>,au lieu de,au lieu d,à la place de}'),
  ('fr', 'update', '', 'plain', '{remplace,remplacé,remplacée,remplacés,remplacées}'),
  ('fr', 'update', '', 'plain', '{nouveau,nouvel,nouvelle,nouveaux,nouvelles}'),
  ('fr', 'update', '', 'plain', '{déplacé,déplacée,reporté,reportée}'),
  ('fr', 'present', '', 'plain', '{maintenant,aujourd''hui,actuellement,actuelle,actuel}'),
  ('fr', 'present', '', 'plain', '{en ce moment,à présent,à l''heure actuelle,ces jours-ci}'),
  ('fr', 'present', '', 'plain', '{toujours}'),

  ('es', 'month', '1', 'plain', '{enero}'),
  ('es', 'month', '2', 'plain', '{febrero}'),
  ('es', 'month', '3', 'plain', '{marzo}'),
  ('es', 'month', '4', 'plain', '{abril}'),
  ('es', 'month', '5', 'plain', '{mayo}'),
  ('es', 'month', '6', 'plain', '{junio}'),
  ('es', 'month', '7', 'plain', '{julio}'),
  ('es', 'month', '8', 'plain', '{agosto}'),
  ('es', 'month', '9', 'plain', '{septiembre,setiembre}'),
  ('es', 'month', '10', 'plain', '{octubre}'),
  ('es', 'month', '11', 'plain', '{noviembre}'),
  ('es', 'month', '12', 'plain', '{diciembre}'),
  ('es', 'weekday', '1', 'plain', '{lunes}'),
  ('es', 'weekday', '2', 'plain', '{martes}'),
  ('es', 'weekday', '3', 'plain', '{miércoles}'),
  ('es', 'weekday', '4', 'plain', '{jueves}'),
  ('es', 'weekday', '5', 'plain', '{viernes}'),
  ('es', 'weekday', '6', 'plain', '{sábado}'),
  ('es', 'weekday', '7', 'plain', '{domingo}'),
  ('es', 'day', '-2', 'plain', '{anteayer,antier,antes de ayer,anteanoche}'),
  ('es', 'day', '-1', 'plain', '{ayer,anoche}'),
  ('es', 'day', '0', 'plain', '{hoy,esta mañana,esta tarde,esta noche}'),
  ('es', 'day', '1', 'plain', '{mañana}'),
  ('es', 'day', '2', 'plain', '{pasado mañana}'),
  ('es', 'season', '1', 'plain', '{primavera}'),
  ('es', 'season', '2', 'plain', '{verano}'),
  ('es', 'season', '3', 'plain', '{otoño}'),
  ('es', 'season', '4', 'plain', '{invierno}'),
  ('es', 'quarter', '1', 'weak', '{q1,primer trimestre}'),
  ('es', 'quarter', '2', 'weak', '{q2,segundo trimestre}'),
  ('es', 'quarter', '3', 'weak', '{q3,tercer trimestre}'),
  ('es', 'quarter', '4', 'weak', '{q4,cuarto trimestre}'),
  ('es', 'holiday', '12-24/3', 'plain', '{navidad,navidades}'),
  ('es', 'holiday', '12-24', 'plain', '{nochebuena}'),
  ('es', 'holiday', '12-31', 'plain', '{nochevieja}'),
  ('es', 'holiday', '01-01', 'plain', '{año nuevo}'),
  ('es', 'holiday', 'easter-2/4', 'plain', '{pascua}'),
  ('es', 'holiday', 'easter-2', 'plain', '{viernes santo}'),
  ('es', 'holiday', 'easter-7/8', 'plain', '{semana santa}'),
  ('es', 'holiday', 'easter+49/2', 'plain', '{pentecostés}'),
  ('es', 'unit', 'day', 'plain', '{día,días}'),
  ('es', 'unit', 'week', 'plain', '{semana,semanas}'),
  ('es', 'unit', 'weekend', 'plain', '{fin de semana,fines de semana}'),
  ('es', 'unit', 'month', 'plain', '{mes,meses}'),
  ('es', 'unit', 'quarter', 'plain', '{trimestre,trimestres}'),
  ('es', 'unit', 'year', 'plain', '{año,años}'),
  ('es', 'unit', 'decade', 'plain', '{década,décadas}'),
  ('es', 'number', '1', 'plain', '{un,una,uno}'),
  ('es', 'number', '2', 'plain', '{dos}'),
  ('es', 'number', '3', 'plain', '{tres}'),
  ('es', 'number', '4', 'plain', '{cuatro}'),
  ('es', 'number', '5', 'plain', '{cinco}'),
  ('es', 'number', '6', 'plain', '{seis}'),
  ('es', 'number', '7', 'plain', '{siete}'),
  ('es', 'number', '8', 'plain', '{ocho}'),
  ('es', 'number', '9', 'plain', '{nueve}'),
  ('es', 'number', '10', 'plain', '{diez}'),
  ('es', 'number', '11', 'plain', '{once}'),
  ('es', 'number', '12', 'plain', '{doce}'),
  ('es', 'number', '2-3', 'plain', '{un par de,par de}'),
  ('es', 'number', '2-5', 'plain', '{unos,unas,algunos,algunas,unos pocos,unas pocas}'),
  ('es', 'number', '3-7', 'plain', '{varios,varias}'),
  ('es', 'ordinal', '1', 'plain', '{primer,primero,primera}'),
  ('es', 'ordinal', '2', 'plain', '{segundo,segunda}'),
  ('es', 'ordinal', '3', 'plain', '{tercer,tercero,tercera}'),
  ('es', 'ordinal', '4', 'plain', '{cuarto,cuarta}'),
  ('es', 'ordinal', '5', 'plain', '{quinto,quinta}'),
  ('es', 'relative before', '0', 'plain', '{este,esta}'),
  ('es', 'relative around', '-2', 'plain', '{antepasado,antepasada}'),
  ('es', 'relative around', '-1', 'plain', '{pasado,pasada,pasados,pasadas}'),
  ('es', 'relative around', 'past', 'plain', '{último,última,últimos,últimas}'),
  ('es', 'relative around', '1', 'plain', '{próximo,próxima,próximos,próximas}'),
  ('es', 'relative after', '1', 'plain', '{que viene,que vienen}'),
  ('es', 'relative after', '-1', 'plain', '{anterior}'),
  ('es', 'ago', '', 'plain', '{hace}'),
  ('es', 'since', '', 'plain', '{desde,a partir de,a partir del}'),
  ('es', 'until', '', 'plain', '{hasta}'),
  ('es', 'before', '', 'plain', '{antes de,antes del}'),
  ('es', 'after', '', 'plain', '{después de,después del,tras}'),
  ('es', 'to', '', 'plain', '{a,al}'),
  ('es', 'between', '', 'plain', '{entre}'),
  ('es', 'and', '', 'plain', '{y,e}'),
  ('es', 'or', '', 'plain', '{o,u}'),
  ('es', 'of', '', 'plain', '{de,del}'),
  ('es', 'in', '', 'plain', '{en,durante,hacia}'),
  ('es', 'article', '', 'plain', '{el,la,los,las,estos,estas}'),
  ('es', 'part', '1/3', 'plain', '{principios,comienzos,inicios,principio,comienzo,inicio}'),
  ('es', 'part', '2/3', 'plain', '{mediados}'),
  ('es', 'part', '3/3', 'plain', '{finales,fines,final,fin}'),
  ('es', 'part', '1/2', 'plain', '{primera mitad}'),
  ('es', 'part', '2/2', 'plain', '{segunda mitad}'),
  ('es', 'every', '', 'plain', '{cada,todos los,todas las}'),
  ('es', 'filler', '', 'plain', '{aproximadamente,casi,exactamente}'),
  ('es', 'never', '', 'plain', '{los lunes,los martes,los miércoles,los jueves,los viernes}'),
  ('es', 'never', '', 'plain', '{por la mañana,de la mañana,en la mañana,la mañana,cada mañana}'),
  ('es', 'never', '', 'plain', '{una mañana,los fines de semana,de nuevo}'),
  ('es', 'common', '', 'plain', '{yo,tú,ella,nosotros,ellos,me,te,se,nos,mi,mis,su,sus}'),
  ('es', 'common', '', 'plain', '{qué,quién,dónde,cuándo,cómo,cuál,por,para,con,no,lo}'),
  ('es', 'common', '', 'plain', '{es,son,era,fue,están,hay,he,ha,hemos,han,hizo,hice}'),
  ('es', 'common', '', 'plain', '{hicimos,dijo,pasó}'),
  ('es', 'update', '', 'plain', '{ahora,ya no,desde hoy,a partir de hoy,a partir de ahora}'),
  ('es', 'update', '', 'plain', '{de ahora en adelante,desde el <weekday>,en lugar de,en vez de}'),
  ('es', 'update', '', 'plain', '{cambiado,cambiada,reemplaza,reemplazado,reemplazada,aplazado}'),
  ('es', 'update', '', 'plain', '{nuevo,nueva,nuevos,nuevas}'),
  ('es', 'present', '', 'plain', '{ahora,hoy,hoy en día,actualmente,en este momento,todavía,aún}')
) as w (language, kind, value, trust, words)
cross join unnest(w.words::text []) as u (word);

commit;
