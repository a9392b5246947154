begin;
\ir fixtures.sql
select plan(703);

-- The periods of a text with days as people write them. By default it is a Wednesday.
create function memory_test.period_of(
  query text,
  as_of timestamptz default '2023-11-15T14:30Z',
  time_zone text default 'UTC'
)
  returns text
  language sql
  stable
  return (
    select string_agg(
      coalesce(replace(to_char(lower(r.range) at time zone time_zone, 'YYYY-MM-DD HH24:MI'), ' 00:00', ''), '')
      || '..'
      || coalesce(replace(to_char(upper(r.range) at time zone time_zone, 'YYYY-MM-DD HH24:MI'), ' 00:00', ''), ''),
      ' ' order by r.range
    )
    from unnest(memory.read_period(query, time_zone, as_of)) as r (range)
  );

create table memory_test.forms (
  position integer generated always as identity,
  expected text,
  what text,
  queries text[]
);

create function memory_test.check_forms()
  returns setof text
  language sql
as $$
  select is(memory_test.period_of(q.query), f.expected, f.what || ': ' || q.query)
  from memory_test.forms as f
  cross join unnest(f.queries) with ordinality as q (query, number)
  order by f.position, q.number;
$$;

-- Days, months, years

insert into memory_test.forms (expected, what, queries)
values
('2023-11-08..2023-11-16', 'two words for the past count as one', '{"What did I do this past week?",in the past last week}'),
(
  '2023-04-01..2023-05-01 2023-11-06..2023-11-13', 'a word after its unit makes no part of a month',
  '{la semaine dernière d''avril,"la semana pasada, en abril"}'
),
(
  '2023-05-08..2023-05-09', 'a day is read in any format',
  '{2023-05-08,2023/05/08,"What happened at 2023-05-08T10:15:00Z?",8 May 2023,"on May 8, 2023",
    the 8th of May 2023,8.5.2023,"Monday, 8 May 2023",8-May-2023,8 MAY 2023,2023 May 8,Mon 8 May 2023,
    "the eighth of May, 2023"}'
),
(
  '2023-05-08..2023-05-09', 'a date with slashes puts the month first',
  '{5/8/2023,5/8/23,05-08-2023}'
),
(
  '2023-08-25..2023-08-26', 'a date with slashes puts the day first if it is not a month',
  '{25/8/2023,25-08-2023}'
),
('1999-12-31..2000-01-01', 'a two-digit year from 70 on belongs to the 20th century', '{12/31/99}'),
('1865-04-14..1865-04-15', 'a date in digits may be in any century', '{1865-04-14}'),
(
  '1776-07-04..1776-07-05', 'a number before 1900 is a year next to a day',
  '{4 July 1776,"July 4, 1776"}'
),
(
  '2023-05-03..2023-05-04', 'a day without a year is the most recent one',
  '{What did we do on 3 May?,May 3rd,the 3rd of May,the third of May,on may 3,3 may?}'
),
('2022-12-03..2022-12-04', 'a day without a year may be in last year', '{on 3 December}'),
('2023-11-15..2023-11-16', 'a day without a year may be today', '{15 November}'),
(
  '2023-05-01..2023-06-01', 'a month is read with and without its year',
  '{May 2023,2023-05,in May,in May of this year,what did we do in may,"in May, 2023",this May,last May,
    during May,the events of May,last may?}'
),
('2022-12-01..2023-01-01', 'a month that has not begun is in last year', '{in December,December}'),
('2023-11-01..2023-12-01', 'a month without a year may be the current one', '{in November}'),
(
  '2022-11-01..2022-12-01', 'the current month is not the last one',
  '{last November,November last year}'
),
('2024-05-01..2024-06-01', 'the next May lies in the future', '{next May}'),
(
  '2022-05-01..2022-06-01', 'a month next to a year is in that year',
  '{May last year,last year in May,in May of 2022}'
),
('2023-01-01..2024-01-01', 'a year is read after a preposition', '{in 2023,in the year 2023,this year,the events of 2023?}'),
('2019-01-01..2020-01-01 2021-01-01..2022-01-01', 'two years are two periods', '{in 2019 and 2021,in 2019 or 2021}'),
('1990-01-01..2000-01-01', 'a decade is ten years', '{in the 1990s,the 1990''s}'),
(
  '2023-04-01..2023-05-01', 'April is a month after a preposition or next to a year',
  '{in April,April 2023}'
),
('2023-07-01..2023-10-01', 'a quarter is three months', '{Q3 2023,in Q3,third quarter of 2023,last quarter}'),

-- Parts of months, years and weeks

(
  '2023-05-01..2023-05-11', 'the early part of a month is its first third',
  '{early May 2023,the beginning of May}'
),
(
  '2023-05-11..2023-05-21', 'the middle of a month is its second third',
  '{mid-May,in the middle of May 2023}'
),
(
  '2023-05-21..2023-06-01', 'the late part of a month is its last third',
  '{late May,at the end of May}'
),
('2022-09-01..2023-01-01', 'a third of a year is four months', '{end of 2022,the end of last year}'),
('2022-07-01..2023-01-01', 'half a year is six months', '{second half of 2022}'),
('2023-05-01..2023-05-08', 'the first week of a month is its first seven days', '{the first week of May,the 1st week of May}'),
(
  '2022-05-25..2022-06-01', 'the last week of a month is its last seven days',
  '{the last week of May 2022}'
),
(
  '2023-05-26..2023-05-27', 'a weekday is counted within its month',
  '{the last Friday of May,the fourth Friday of May}'
),
(
  '2023-07-25..2023-07-26', 'the next month begins with that weekday', '{the last Tuesday of July}'
),
('2023-12-31..2024-01-01', 'a day is counted within its year', '{the last day of the year}'),
('2023-05-06..2023-05-08', 'a weekend is named by its day', '{the weekend of 6 May,the first weekend of May}'),
(
  '2023-05-08..2023-05-15', 'a week is named by any of its days',
  '{the week of 8 May,the week of 14 May 2023}'
),

-- Seasons and holidays

('2022-12-01..2023-03-01', 'winter begins in December', '{last winter,winter 2022,the winter of 2022,in the winter of last year}'),
('2023-03-01..2023-06-01', 'spring begins in March', '{in spring 2023,last spring,in the spring,"spring, 2023"}'),
('2023-08-01..2023-09-01', 'the last month of a season is its end', '{the end of summer}'),
('2023-09-01..2023-12-01', 'fall and autumn begin in September', '{fall 2023,this autumn,in the fall}'),
(
  '2022-12-24..2022-12-27', 'Christmas is the most recent one',
  '{Christmas,last Christmas,at Christmas,Christmas 2022,Xmas last year}'
),
('2023-12-24..2023-12-27', 'this Christmas is in this year', '{this Christmas,next Christmas}'),
('2022-12-31..2023-01-01', 'New Year''s Eve is the last day of the year', '{New Year''s Eve,New Year’s Eve 2022}'),
('2023-04-07..2023-04-11', 'Easter lasts from Friday to Monday', '{Easter,Easter 2023}'),
('2022-04-15..2022-04-16', 'Good Friday depends on Easter', '{Good Friday 2022}'),
('2022-11-24..2022-11-25', 'Thanksgiving is a Thursday', '{Thanksgiving}'),

-- Days and weekdays

(
  '2023-11-15..2023-11-16', 'today is the day of the query',
  '{today,tonight,this morning,What have we done this afternoon?}'
),
(
  '2023-11-14..2023-11-15', 'yesterday is the day before today',
  '{yesterday,YESTERDAY!,last night,yesterday evening,a day ago,"“yesterday”"}'
),
(
  '2023-11-13..2023-11-14', 'the day before yesterday is two days ago', '{the day before yesterday}'
),
('2023-11-17..2023-11-18', 'the day after tomorrow is two days ahead', '{the day after tomorrow}'),
('2023-11-16..2023-11-17', 'tomorrow is the day after today', '{tomorrow,tomorrow morning}'),
(
  '2023-11-13..2023-11-14', 'a weekday is the most recent one',
  '{on Monday,Monday,What was said on Monday evening?,on Mon}'
),
('2023-11-15..2023-11-16', 'a weekday may be today', '{on Wednesday}'),
('2023-11-08..2023-11-09', 'last Wednesday is not today', '{last Wednesday}'),
('2023-11-10..2023-11-11', 'last Friday is before today', '{last Friday,this past Friday}'),
('2023-11-17..2023-11-18', 'next Friday is after today', '{next Friday,this Friday}'),
(
  '2023-11-06..2023-11-07', 'a weekday next to a week is in that week',
  '{Monday last week,"last week, on Monday",on Monday of last week}'
),

-- Weeks and other units counted from today

(
  '2023-11-06..2023-11-13', 'last week begins on the Monday before this week',
  '{last week,a week ago,one week ago,previous week,Did I see Bob last week?}'
),
('2023-11-13..2023-11-20', 'this week begins on Monday', '{this week,earlier this week}'),
('2023-11-20..2023-11-27', 'next week begins on Monday', '{next week}'),
(
  '2023-10-30..2023-11-06', 'weeks are counted from the current one',
  '{two weeks ago,the week before last,about 2 weeks ago}'
),
('2023-10-23..2023-11-06', 'a couple of weeks means two or three', '{a couple of weeks ago}'),
('2023-10-09..2023-11-06', 'a few weeks means two to five', '{a few weeks ago,few weeks ago}'),
('2023-11-12..2023-11-13', 'days are counted from today', '{3 days ago,three days ago}'),
(
  '2023-10-01..2023-11-01', 'last month is the one before the current month',
  '{last month,a month ago}'
),
('2022-11-01..2022-12-01', 'months are counted across years', '{twelve months ago,12 months ago}'),
(
  '2022-01-01..2023-01-01', 'last year is the one before the current year', '{last year,a year ago}'
),
('2010-01-01..2020-01-01', 'last decade is the one before the current decade', '{last decade}'),
('1024-01-01..1025-01-01', 'a count may have three digits', '{999 years ago}'),
(
  '2023-11-11..2023-11-13', 'the last weekend is in last week',
  '{last weekend,at the weekend,over the weekend}'
),
('2023-11-18..2023-11-20', 'this weekend is in this week', '{this weekend}'),
('2023-11-25..2023-11-27', 'next weekend is in next week', '{next weekend}'),
('2023-11-12..2023-11-16', 'the past days end today', '{the past 3 days,during the last three days}'),
(
  '2023-11-08..2023-11-16', 'the past week ends today',
  '{the past week,in the last week,over the past 7 days}'
),
('2023-10-11..2023-11-16', 'the last few weeks end today', '{the last few weeks}'),
('2023-11-15..2023-11-19', 'the next days begin today', '{the next 3 days}'),

-- From, to, and between

(
  '2023-11-13..2023-11-15 14:30', 'a period since a weekday lasts until now',
  '{since Monday,from Monday on}'
),
(
  '2023-05-01..2023-11-15 14:30', 'a period since a month begins on its first day',
  '{since May,since the beginning of May,since early May 2023}'
),
(
  '2019-01-01..2023-11-15 14:30', 'a period since a year begins on its first day',
  '{since 2019,from 2019 on}'
),
(
  '2023-11-12..2023-11-15 14:30', 'a period since some days begins that many days ago',
  '{since 3 days,since three days ago}'
),
(
  '..2020-01-01', 'a period before a year ends where the year begins',
  '{before 2020,"before January 1, 2020",prior to 2020}'
),
(
  '..2022-12-24', 'a period before a holiday ends where the holiday begins',
  '{before last Christmas}'
),
('2023-05-04..', 'a period after a day begins on the next day', '{after 3 May,later than 3 May}'),
(
  '..2023-06-01', 'a period until a month includes that month',
  '{until May,till May,up to May 2023,until the end of May}'
),
(
  '2023-05-03..2023-05-08', 'a range from one day to another includes both',
  '{between 3 and 7 May,from 3 to 7 May 2023,3-7 May,"May 3-7, 2023",3–7 May,from the 3rd to the 7th of May,
    between 3 May and 7 May,from May 3 to May 7,May 3 to 7}'
),
(
  '2023-03-01..2023-06-01', 'a range from one month to another includes both',
  '{from March to May 2023,between March and May,March-May 2023,March – May 2023,March until May 2023}'
),
(
  '2022-11-01..2023-03-01', 'a range may cross the end of a year',
  '{from November to February 2023,from November 2022 to February}'
),
(
  '2019-01-01..2022-01-01', 'a range from one year to another includes both',
  '{between 2019 and 2021,2019-2021,2019 to 2021,from 2019 until 2021}'
),
(
  '2023-11-13..2023-11-16', 'a range from one weekday to another includes both',
  '{from Monday to Wednesday,between Monday and Wednesday,Monday-Wednesday}'
),
(
  '2023-05-03..2023-11-15', 'a range leads from a date to a relative day',
  '{from 3 May to yesterday,between 3 May and yesterday}'
),
(
  '2022-12-17..2022-12-24', 'a length of time before a day ends at that day',
  '{the week before Christmas,7 days before Christmas}'
),
(
  '2023-05-04..2023-05-07', 'a length of time after a day begins on the next day',
  '{three days after 3 May}'
),
(
  '2023-05-01..2023-07-01', 'two adjacent months are one period', '{in May or June,in May and June}'
),
(
  '2021-04-01..2021-05-01 2021-06-01..2021-07-01', 'two separate months of a year are two periods',
  '{in April and June 2021}'
),
('2023-05-03..2023-05-04 2023-05-07..2023-05-08', 'two days are two periods', '{on 3 and 7 May}'),
(
  '2023-05-03..2023-05-04 2023-11-06..2023-11-13', 'a day and a week are two periods',
  '{What did we do on 3 May? And last week?,"last week, or on 3 May"}'
),

-- Texts that name no time

(
  null, 'may and march are verbs',
  '{May I ask you something?,may I,this may be wrong,what comes next may surprise you,how long will it last may vary,
    March on!,you may,What may Ada like?,May,may,may 8 people come?,march 8 miles,the 3 of us may come,one may think,
    all 3 may fail,the march on the town hall,May May come?}'
),
(
  null, 'April, June and Jan are also names',
  '{What does April like?,What does June think of Jan?,a friend of April,June''s birthday}'
),
(null, 'a season that something belongs to is not a period', '{the colors of summer,the sound of the winter}'),
(null, 'second, sun, sat and fall are other words', '{a second helping,the second may be better,he sat in the sun,I fall in love,fall of Rome}'),
(
  null, 'a number alone is not a year or date',
  '{4711,room 2019,$2020,1.2.3.4,version 8.5.23,10:30,3.5,9/11,555-2023,the winner of 2019 is,2000 people,in 1899,since 1776,in 2100}'
),
(
  null, 'a length of time is not a period',
  '{in 20 minutes it is done,10 years,for 3 years,2 years old,one day,some day,the week,a week,half past 3,quarter past 3,
    in her 20s,the other day,the last day of school,the day I met you,next day,these days}'
),
(
  null, 'a recurring time is not a period',
  '{every Monday,on Mondays,each summer,every other Friday,on weekends,every day,in summer}'
),
(
  null, 'a date that does not exist is not read',
  '{31 February,2023-02-30,February 30 2024,29 February 2023,2023-13-01,0000-00-00}'
),
(
  null, 'a time word alone names no time',
  '{since I last saw him,before you go,after work,until then,next to me,this time}'
),
(
  null, 'a text without a time has no period',
  '{What does Ada like to drink?,"",in 99999,year 99999,the 5th floor,Happy New Year!}'
)
;
select * from memory_test.check_forms();
delete from memory_test.forms;

-- Other times to ask at

select is(memory_test.period_of(r.query, r.as_of), r.expected, r.what)
from (values
  (
    1, '29 February', '2023-11-15Z'::timestamptz, '2020-02-29..2020-03-01',
    '29 February is in the last leap year'
  ),
  (2, '29 February', '2024-02-29Z', '2024-02-29..2024-03-01', '29 February may be today'),
  (3, '29 February', '1903-06-01Z', '1896-02-29..1896-03-01', '29 February may be eight years ago'),
  (4, 'February 2024', '2023-11-15Z', '2024-02-01..2024-03-01', 'February has 29 days in a leap year'),
  (
    5, 'a year ago', '2024-02-29Z', '2023-01-01..2024-01-01',
    'a year ago is the previous year, also on a leap day'
  ),
  (6, 'a month ago', '2023-03-31Z', '2023-02-01..2023-03-01', 'the month before 31 March is February'),
  (
    7, 'last month', '2024-01-15Z', '2023-12-01..2024-01-01',
    'the month before January is in last year'
  ),
  (
    8, 'last week', '2024-01-03Z', '2023-12-25..2024-01-01',
    'the week before the new year is in last year'
  ),
  (
    9, 'in December', '2024-01-03Z', '2023-12-01..2024-01-01',
    'in January, December is in last year'
  ),
  (10, 'this winter', '2024-01-15Z', '2023-12-01..2024-03-01', 'the current winter is this winter'),
  (
    11, 'last winter', '2024-01-15Z', '2022-12-01..2023-03-01',
    'the current winter is not last winter'
  ),
  (
    12, 'last winter', '2024-03-01Z', '2023-12-01..2024-03-01',
    'a winter is last winter once it is over'
  ),
  (
    13, 'this winter', '2024-07-01Z', '2024-12-01..2025-03-01',
    'in summer, this winter is the coming one'
  ),
  (14, 'at Christmas', '2023-12-24Z', '2023-12-24..2023-12-27', 'Christmas begins on 24 December'),
  (15, 'on Sunday', '2023-11-12Z', '2023-11-12..2023-11-13', 'a week ends on Sunday'),
  (
    16, 'this week', '2023-11-12Z', '2023-11-06..2023-11-13',
    'this week includes a Sunday that is today'
  ),
  (
    17, 'last weekend', '2023-11-12Z', '2023-11-04..2023-11-06',
    'on Sunday, the last weekend is in last week'
  ),
  (
    18, 'at the weekend', '2023-11-12Z', '2023-11-11..2023-11-13',
    'on Sunday, the weekend is the current one'
  ),
  (
    19, 'from December to February', '2024-04-01Z', '2023-12-01..2024-03-01',
    'a range continues into the next year'
  ),
  (20, 'since next week', '2023-11-15Z', null, 'a period since a future time is not read'),
  (21, 'in 2023', '2010-01-01Z', '2023-01-01..2024-01-01', 'a year may lie in the future'),
  (22, 'yesterday', '0300-01-01Z', '0299-12-31..0300-01-01', 'a time in the year 300 is read'),
  (23, 'yesterday', '0001-01-01Z', null, 'no period is read at a time too early to count back'),
  (24, 'yesterday', '294276-01-01Z', null, 'no period is read at a time too late to count ahead')
) as r (position, query, as_of, expected, what)
order by r.position;

-- Time zones

select is(
  memory.read_period('yesterday', r.time_zone, r.as_of), r.expected::tstzmultirange, r.what
)
from (values
  (
    1, 'Europe/Berlin', '2023-11-15T14:30Z'::timestamptz, '{[2023-11-13T23:00Z,2023-11-14T23:00Z)}',
    'a day is a day of the time zone'
  ),
  (
    2, 'Europe/Berlin', '2023-11-14T23:30Z', '{[2023-11-13T23:00Z,2023-11-14T23:00Z)}',
    'a day begins at midnight of the time zone'
  ),
  (
    3, 'America/Los_Angeles', '2023-11-15T04:00Z', '{[2023-11-13T08:00Z,2023-11-14T08:00Z)}',
    'yesterday is relative to the date in the time zone'
  ),
  (
    4, 'Europe/Berlin', '2023-03-27T10:00Z', '{[2023-03-25T23:00Z,2023-03-26T22:00Z)}',
    'the day on which daylight saving time begins has 23 hours'
  ),
  (
    5, 'Europe/Berlin', '2023-10-30T10:00Z', '{[2023-10-28T22:00Z,2023-10-29T23:00Z)}',
    'the day on which daylight saving time ends has 25 hours'
  ),
  (
    6, 'America/Sao_Paulo', '2018-11-05T12:00Z', '{[2018-11-04T03:00Z,2018-11-05T02:00Z)}',
    'a day without midnight begins an hour later'
  ),
  (
    7, 'Asia/Kathmandu', '2023-11-15T14:30Z', '{[2023-11-13T18:15Z,2023-11-14T18:15Z)}',
    'time zones need not differ by whole hours'
  ),
  (
    8, 'Etc/GMT-14', '2023-11-15T12:00Z', '{[2023-11-14T10:00Z,2023-11-15T10:00Z)}',
    'a time zone may have a fixed offset'
  )
) as r (position, time_zone, as_of, expected, what)
order by r.position;
select is(
  memory.read_period('in March 2023', 'Europe/Berlin', '2023-11-15Z'),
  '{[2023-02-28T23:00Z,2023-03-31T22:00Z)}'::tstzmultirange,
  'a month in which daylight saving time begins is an hour shorter'
);
select is(
  memory.read_period('since Sunday', 'Europe/Berlin', '2023-03-27T10:00Z'),
  '{[2023-03-25T23:00Z,2023-03-27T10:00Z)}'::tstzmultirange,
  'a period since a day ends at the time of the query'
);
select is(
  (
    select array_agg(memory.is_time_zone(z.name) order by z.position)
    from unnest(
      '{UTC,GMT,Europe/Berlin,America/Argentina/Buenos_Aires,America/Port-au-Prince,Etc/GMT+3,europe/berlin}'::text[]
    ) with ordinality as z (name, position)
  ),
  '{t,t,t,t,t,t,t}'::boolean[], 'names of the IANA database are time zones'
);
select is_empty(
  $$ select z.name
     from unnest(
       array['', 'Mars/Olympus', 'PST', 'CEST', 'UTC+3', 'Foo/Bar3', 'EST5EDT', '+02:00', 'Etc/GMT+15', 'Berlin',
         'Europe/Berlin ', repeat('a/', 500), null]
     ) as z (name)
     where memory.is_time_zone(z.name) $$,
  'abbreviations, offsets and unknown names are not time zones'
);
select throws_ok(
  format('select memory.read_period(%L, %L, ''2023-11-15Z'')', r.query, r.time_zone), 'PM002', r.message, r.what
)
from (values
  (1, 'yesterday', 'Mars/Olympus', 'unknown time_zone: ''Mars/Olympus''', 'an unknown time zone is refused'),
  (
    2, 'tea', 'PST', 'unknown time_zone: ''PST''',
    'an unknown time zone is refused for a text without a time'
  ),
  (3, null, null, 'unknown time_zone: NULL', 'a NULL time zone is refused')
) as r (position, query, time_zone, message, what)
order by r.position;
select throws_ok(
  $$ select memory.read_period('yesterday', 'UTC', 'infinity') $$, 'PM002', 'as_of is infinity',
  'an infinite time is refused'
);
select is(memory.read_period(null, 'UTC', '2023-11-15Z'), null, 'a NULL text names no time');
set local time zone 'Asia/Tokyo';
select is(
  memory.read_period('yesterday, since Monday', 'UTC', '2023-11-15T23:00Z'),
  '{[2023-11-13Z,2023-11-15T23:00Z)}'::tstzmultirange, 'the time zone of the session does not matter'
);
set local time zone default;

-- Other languages

insert into memory_test.forms (expected, what, queries)
values
(
  '2023-11-14..2023-11-15', 'yesterday is read in German, French and Spanish',
  '{Was haben wir gestern gemacht?,gestern Morgen,Qu''avons-nous fait hier ?,¿Qué hicimos ayer?,anoche}'
),
(
  '2023-11-13..2023-11-14', 'two days ago is read in German, French and Spanish',
  '{vorgestern,avant-hier,anteayer,vor zwei Tagen,il y a deux jours,hace 2 días}'
),
(
  '2023-11-15..2023-11-16', 'today is read in German, French and Spanish',
  '{heute,heute Morgen,aujourd''hui,ce matin,hoy,esta mañana}'
),
(
  '2023-11-16..2023-11-17', 'tomorrow is read in German, French and Spanish',
  '{Was machen wir morgen?,demain,mañana,mañana por la mañana}'
),
(
  '2023-11-17..2023-11-18', 'the day after tomorrow is read in German, French and Spanish',
  '{übermorgen,ÜBERMORGEN,après-demain,pasado mañana}'
),
(
  '2023-11-12..2023-11-13', 'three days ago is read in German, French and Spanish',
  '{Was war vor 3 Tagen?,vor etwa drei Tagen,il y a 3 jours,hace 3 días}'
),
(
  '2023-11-06..2023-11-13', 'last week is read in German, French and Spanish',
  '{letzte Woche,vor einer Woche,la semaine dernière,il y a une semaine,la semana pasada,hace una semana}'
),
(
  '2023-11-13..2023-11-20', 'this week is read in German, French and Spanish',
  '{diese Woche,cette semaine,esta semana}'
),
(
  '2023-11-20..2023-11-27', 'next week is read in German, French and Spanish',
  '{nächste Woche,la semaine prochaine,la próxima semana,la semana que viene}'
),
(
  '2023-10-01..2023-11-01', 'last month is read in German, French and Spanish',
  '{letzten Monat,im letzten Monat,le mois dernier,el mes pasado}'
),
(
  '2022-01-01..2023-01-01', 'last year is read in German, French and Spanish',
  '{letztes Jahr,l''an dernier,l’année dernière,il y a un an,el año pasado}'
),
(
  '2023-11-12..2023-11-16', 'the past three days are read in German, French and Spanish',
  '{in den letzten 3 Tagen,ces 3 derniers jours,los últimos 3 días}'
),
(
  '2023-11-13..2023-11-14', 'Monday is read in German, French and Spanish',
  '{am Montag,am Montag Morgen,lundi,el lunes,lundi dernier,el lunes pasado}'
),
(
  '2023-11-20..2023-11-21', 'next Monday is read in German, French and Spanish',
  '{nächsten Montag,lundi prochain,el próximo lunes}'
),
(
  '2023-11-11..2023-11-13', 'the weekend is read in German, French and Spanish',
  '{am Wochenende,letztes Wochenende,le week-end dernier,el fin de semana}'
),
(
  '2023-05-03..2023-05-04', 'the third of May is read in German, French and Spanish',
  '{am 3. Mai,am 3.5.2023,3.Mai 2023,le 3 mai,le 03/05/2023,el 3 de mayo de 2023,3 mayo}'
),
(
  '2023-05-01..2023-05-02', 'the first of May is read in German, French and Spanish',
  '{am ersten Mai,le 1er mai,el 1º de mayo,el primero de mayo}'
),
(
  '2023-05-03..2023-05-08', 'a range of days is read in German, French and Spanish',
  '{vom 3. bis 7. Mai,3.-7. Mai 2023,zwischen dem 3. und dem 7. Mai,du 3 au 7 mai,del 3 al 7 de mayo}'
),
(
  '2023-05-01..2023-06-01', 'May is read in German, French and Spanish',
  '{im Mai,Mai 2023,en mai,mai 2023,en mayo,mayo de 2023}'
),
(
  '2023-03-01..2023-04-01', 'March is read in German (also without umlaut), French and Spanish',
  '{im März,im Marz,im Maerz 2023,en mars,en marzo}'
),
(
  '2022-05-01..2022-06-01', 'May of last year is read in German, French and Spanish',
  '{Mai letzten Jahres,en mai de l''année dernière,en mayo del año pasado}'
),
(
  '2023-03-01..2023-06-01', 'a range of months is read in German, French and Spanish',
  '{zwischen März und Mai 2023,von März bis Mai 2023,de mars à mai 2023,entre marzo y mayo de 2023}'
),
(
  '2023-05-01..2023-05-11', 'the beginning of May is read in German, French and Spanish',
  '{Anfang Mai,début mai,a principios de mayo}'
),
(
  '2023-06-01..2023-09-01', 'last summer is read in German, French and Spanish',
  '{letzten Sommer,im Sommer 2023,l''été dernier,cet été,el verano pasado,en el verano de 2023}'
),
(
  '2022-12-24..2022-12-27', 'Christmas is read in German, French and Spanish',
  '{Weihnachten,Noël,en Navidad}'
),
(
  '2023-11-13..2023-11-15 14:30', 'since Monday is read in German, French and Spanish',
  '{seit Montag,depuis lundi,desde el lunes}'
),
(
  '2023-11-12..2023-11-15 14:30', 'three days until now are read in German, French and Spanish',
  '{seit 3 Tagen,depuis 3 jours,desde hace 3 días}'
),
(
  '..2020-01-01', 'a period before a year is read in German, French and Spanish',
  '{vor 2020,avant 2020,antes de 2020}'
),
(
  '2023-05-04..', 'a period after a day is read in German, French and Spanish',
  '{nach dem 3. Mai,après le 3 mai,después del 3 de mayo}'
),
(
  '..2023-06-01', 'a period until a month is read in German, French and Spanish',
  '{bis Mai,jusqu''en mai,hasta mayo}'
),
(
  '2019-01-01..2020-01-01', 'a year is read in French and German, where it needs no preposition',
  '{Wo waren wir 2019?,en 2019,im Jahr 2019}'
),
(
  null, 'words of other meanings in German, French and Spanish name no time',
  '{Guten Morgen!,Was ist hier passiert?,Das kostet 2019 Euro,jeden Montag,j''ai été malade,chaque lundi,los lunes,por la mañana,
    cada verano,Mars est une planète,en verano}'
),
(
  null, 'a German or French time word in an English text has its English meaning',
  '{Who ordered the mai tai?,What is on Mars?,the mission to Mars}'
)
;
select * from memory_test.check_forms();

-- Unusual texts

select lives_ok(
  format('select memory.read_period(%L, ''UTC'', ''2023-11-15Z'')', r.query),
  r.what || ' raises no error'
)
from (values
  (1, repeat('9', 400), 'a number of 400 digits'),
  (
    2, repeat('9', 400) || ' May ' || repeat('1', 300) || ' years ago',
    'a day and a count of hundreds of digits'
  ),
  (3, E'\U0001f375\u200d\U0001f375 May 3 \U0001f389', 'an emoji'),
  (4, (select string_agg(chr(g), '') from generate_series(1, 999) as g), 'every character up to 999'),
  (
    5, (select string_agg(chr(57 * g), 'May ') from generate_series(1, 900) as g),
    'a text of characters between months'
  ),
  (6, repeat('from 3 to 7 May until last week, ', 2000), 'a text of 64 KiB of times'),
  (7, repeat('may ', 300), 'a text of nothing but may'),
  (8, repeat('-', 2000) || '2023', 'a text without a space'),
  (9, '999 decades ago, the past 999 decades, the next 999 decades', 'a count beyond the calendar'),
  (10, 'the twelfth year of May, the last decade of yesterday', 'a part that does not exist'),
  (11, E'last\tweek\u2028\u00a0 \r\n 3\fMay', 'unusual whitespace'),
  (12, 'year 0000-01-01 9999-12-31 0001-01-01 99/99/9999 0/0/0000 0.0.0000 1/1/00', 'a date at the end of the calendar'),
  (13, E'\u0663 May \uff13 May \u00bd May \u2167 May', 'digits of other scripts'),
  (14, 'İ ı ſ K ß ﬁ ŉ May', 'letters with unusual case mappings'),
  (15, $$'); drop table memory.facts; -- last week$$, 'an SQL statement'),
  (
    16, 'since since until before 3 3 May May of of last last week week of of the the',
    'a jumble of time words'
  ),
  (17, repeat('3 and ', 160) || 'May', 'an endless list')
) as r (position, query, what)
order by r.position;
select is_empty(
  $$ select t.query
     from (
       select string_agg(w.word, ' ' order by md5(w.word || g.number)) as query
       from generate_series(1, 40) as g (number)
       join memory.time_words as w on abs(hashtext(w.word || g.number)) % 100 = 0
       group by g.number
     ) as t
     cross join lateral unnest(memory.read_period(t.query, 'Europe/Berlin', '2023-11-15Z')) as r (range)
     where isempty(r.range) or not lower_inc(r.range) and not lower_inf(r.range) or upper_inc(r.range) $$,
  'every period read from words in any order is half-open and not empty'
);
select is(
  memory_test.period_of(repeat('x ', 480) || ' last week'), '2023-11-06..2023-11-13',
  'the first 1,000 characters of a text are read'
);
select is(
  memory_test.period_of(repeat('x ', 498) || 'on Monday'), null,
  'text beyond 1,000 characters is not read'
);
select is(
  memory_test.period_of(repeat('x ', 497) || 'in Maybach'), null,
  'a word cut at 1,000 characters is not read'
);
select is(
  memory_test.period_of(E'what did we do on\n3\tMay'), '2023-05-03..2023-05-04',
  'any whitespace separates words'
);
select is(
  (select count(*) from unnest(memory.read_period(
    (select string_agg(format('in %s', y), ', ') from generate_series(1950, 2000, 2) as y), 'UTC', '2023-11-15Z'
  ))), 16::bigint, 'at most sixteen times are read from a text'
);

-- Updates

select is(memory.tells_update(r.content), r.expected, r.what || ': ' || r.content)
from (
  select f.expected, f.what, c.content, f.position, c.number
  from (values
    (
      1, true, 'an English update is recognized',
      '{She now lives in Rome.,NOW in Rome,He no longer works there,She does not drink coffee any more,She does not smoke anymore,
        She doesn''t drink tea any more,"From now on, tea.",as of Monday,since today,since Monday we meet at five,since March she smokes,
        The dentist changed to Dr. Bell,the meeting moved to 5 pm,Tea instead of coffee,in place of coffee,replaced by tea,
        This replaces the old plan,He switched to tea,"rescheduled, again",Postponed!,brought forward by a day,a new car,from today on,
        Switched from Lavazza to a local roaster,She moved from Bern to Rome,Ada takes over from Bob}'
    ),
    (
      2, true, 'a German update is recognized',
      '{Sie wohnt jetzt in Rom,Nun wohnt sie in Rom,Sie wohnt nicht mehr in Rom,ab sofort,seit heute,ab heute,seit Montag,Tee statt Kaffee,
        neu,die neue Adresse,Termin geändert,geaendert,verlegt,ersetzt,den Arzt gewechselt}'
    ),
    (
      3, true, 'a French update is recognized',
      '{désormais,DÉSORMAIS,elle habite maintenant à Rome,Elle n''habite plus ici,elle ne fume plus,dès aujourd''hui,depuis aujourd''hui,
        au lieu de café,remplacé,le nouveau médecin,une nouvelle adresse}'
    ),
    (
      4, true, 'a Spanish update is recognized',
      '{ahora vive en Roma,ya no vive aquí,desde hoy,a partir de ahora,en lugar de café,cambiado,el nuevo médico,una nueva dirección}'
    ),
    (
      5, false, 'a text without update words is not an update',
      '{I know her,She lives in New York,Renowned,newly wed? anew!,The nun sings,now and then,She moved,"not coffee. Any more?",
        Das Treffen findet am Montag statt.,de nouveau malade,since 2019 she smokes,the place of birth,""}'
    )
  ) as f (position, expected, what, contents)
  cross join unnest(f.contents::text[]) with ordinality as c (content, number)
) as r
order by r.position, r.number;
select is(memory.tells_update(null), false, 'a NULL text is not an update');
select is(
  array[memory.tells_update(repeat('x ', 1990) || 'no longer'), memory.tells_update(repeat('x ', 2000) || 'no longer')],
  '{t,f}'::boolean[], 'the first 4,000 characters of a text are searched for updates'
);

-- The present

select is(memory.asks_present(r.query), r.expected, r.what || ': ' || r.query)
from (
  select f.expected, f.what, c.query, f.position, c.number
  from (values
    (
      1, true, 'an English question asks for the present',
      '{Where does she live now?,What is on today,what does she drink these days?,Who is currently in charge,the current plan,at present,
        at the moment,Is it still on?,the LATEST news,most recent}'
    ),
    (
      2, true, 'a German question asks for the present',
      '{Wo wohnt sie jetzt?,heute,derzeit,aktuell,Wohnt sie noch dort?}'
    ),
    (
      3, true, 'a French question asks for the present',
      '{Où habite-t-elle maintenant ?,aujourd''hui,actuellement,en ce moment,toujours}'
    ),
    (
      4, true, 'a Spanish question asks for the present',
      '{¿Dónde vive ahora?,hoy,actualmente,en este momento,todavía}'
    ),
    (
      5, false, 'a question does not ask for the present',
      '{Where did she live?,I know,the actual price,a still life,a moment,recently,presentation,""}'
    )
  ) as f (position, expected, what, queries)
  cross join unnest(f.queries::text[]) with ordinality as c (query, number)
) as r
order by r.position, r.number;
select is(memory.asks_present(null), false, 'a NULL question does not ask for the present');

-- What is to come

select is(memory_test.period_of(r.query), r.expected, 'a question about what is to come means the next occurrence: ' || r.query)
from (values
  (1, 'What will I do in December?', '2023-12-01..2024-01-01'),
  (2, 'Am I free on Saturday?', '2023-11-18..2023-11-19'),
  (3, 'What is planned for 5 May?', '2024-05-05..2024-05-06'),
  (4, 'Who is coming at the weekend?', '2023-11-18..2023-11-20'),
  (5, 'What do I have planned in November?', '2023-11-01..2023-12-01'),
  (6, 'Do we have anything on Wednesday?', '2023-11-15..2023-11-16'),
  (7, 'What are my plans for Christmas?', '2023-12-24..2023-12-27'),
  (8, 'Was habe ich am 5. Dezember vor?', '2023-12-05..2023-12-06'),
  (9, 'Was steht im Januar an?', '2024-01-01..2024-02-01'),
  (10, 'Qu''est-ce qui est prévu en janvier ?', '2024-01-01..2024-02-01'),
  (11, '¿Qué tengo previsto en enero?', '2024-01-01..2024-02-01'),
  (12, 'What is planned for May 2022?', '2022-05-01..2022-06-01')
) as r (position, query, expected)
order by r.position;
select is(memory_test.period_of(r.query), r.expected, 'another question means the last occurrence: ' || r.query)
from (values
  (1, 'What did I do in December?', '2022-12-01..2023-01-01'),
  (2, 'What was planned for Monday?', '2023-11-13..2023-11-14'),
  (3, 'Were we free on Saturday?', '2023-11-11..2023-11-12'),
  (4, 'Was war im Januar los?', '2023-01-01..2023-02-01'),
  (5, 'Christmas', '2022-12-24..2022-12-27')
) as r (position, query, expected)
order by r.position;
select is(memory.asks_ahead(null), false, 'a NULL question does not ask about what is to come');

-- What there is at a time

select is(memory.asks_events(r.query), r.expected, r.what || ': ' || r.query)
from (
  select f.expected, f.what, c.query, f.position, c.number
  from (values
    (
      1, true, 'a question asks what there is at a time',
      '{What happened yesterday?,what is going on today?,What is planned for next week?,What do I have on Friday?,What did I do on Monday?,
        Was ist gestern passiert?,Was steht morgen an?,Que s''est-il passé hier et quoi de neuf ?,¿Qué pasó ayer?}'
    ),
    (
      2, false, 'a question asks about something',
      '{Who won the election yesterday?,What is the weather today?,Where was Ada in May?,yesterday,Wer kam gestern?,""}'
    )
  ) as f (position, expected, what, queries)
  cross join unnest(f.queries::text[]) with ordinality as c (query, number)
) as r
order by r.position, r.number;
select is(memory.asks_events(null), false, 'a NULL question does not ask what there is at a time');
select is(memory.asks_happened(r.query), r.expected, 'a question asks what happened, or not: ' || r.query)
from (values
  (1, 'What happened to Jonas?', true), (2, 'What went wrong with the queue?', true), (3, 'Was ist mit Jonas passiert?', true),
  (4, '¿Qué le pasó a Ana?', true), (5, 'Que s''est-il passé ?', true), (6, 'What is planned for Friday?', false),
  (7, 'Where is Jonas?', false), (8, 'Do you happen to know my shoe size?', false), (9, 'What is going on with the deployment?', false),
  (10, 'What happens when tests fail?', false), (11, 'Who went on the hike with me?', false), (12, 'Has anything happened to Jonas?', true)
) as r (position, query, expected)
order by r.position;
select is(
  (memory.read_question(
    row(r.query, null, null, null)::memory.relations,
    memory.read_query(r.query, 'any', memory.current_settings()), null, memory.current_settings(), '2023-11-15Z'
  )).core,
  r.core, 'what is left names to what it happened: ' || r.query
)
from (values
  (1, 'What happened to Jonas yesterday?', '{jona}'::text[]), (2, 'What has happened to Ada since May?', '{ada}'),
  (3, 'What went wrong with the big queue?', '{big,queue}'), (4, 'Was ist mit Jonas passiert?', '{jona}'), (5, '¿Qué le pasó a Juan?', '{juan}'),
  (6, 'Qu''est-il arrivé à Juan ?', '{juan}'), (7, 'What''s new with Ada''s big car?', '{ada,big,car}')
) as r (position, query, core)
order by r.position;
select is(memory.asks_happened(null), false, 'a NULL question does not ask what happened');

-- News

select lives_ok(
  format('select memory.tells_update(%L), memory.asks_present(%1$L)', r.content),
  r.what || ' raises no error'
)
from (values
  (
    1, (select string_agg(chr(57 * g), 'now ') from generate_series(1, 900) as g),
    'a text of unusual characters'
  ),
  (2, repeat('not ', 20000), 'a long text')
) as r (position, content, what)
order by r.position;

-- The vocabulary

select set_eq(
  $$ select distinct w.language from memory.time_words as w $$, '{en,de,fr,es}'::text[], 'four languages are understood'
);
select is_empty(
  $$ select l.language, v.kind, v.value
     from unnest('{en,de,fr,es}'::text[]) as l (language)
     cross join (
       select 'month', m::text from generate_series(1, 12) as m
       union all
       select 'weekday', d::text from generate_series(1, 7) as d
       union all
       select 'season', s::text from generate_series(1, 4) as s
       union all
       select 'day', d::text from generate_series(-2, 2) as d
       union all
       select 'unit', u from unnest('{day,week,weekend,month,quarter,year,decade}'::text[]) as u
     ) as v (kind, value)
     where not exists (
       select from memory.time_words as w
       where w.language = l.language and w.kind = v.kind and w.value = v.value
     ) $$,
  'each language has a word for each month, weekday, season, day around today and unit'
);
select is_empty(
  $$ select w.word from memory.time_words as w
     where w.word <> lower(w.word) or w.word ~ '^ | $|  ' or w.kind !~ '^(tells|asks) ' and w.folded !~ '^[a-z0-9 ]+$' $$,
  'time words are lower case with single spaces, and folded words are ASCII'
);
select is_empty(
  $$ select w.language, w.folded
     from memory.time_words as w
     where w.kind !~ '^(tells|asks) '
       and memory.time_vocabulary() -> w.folded ->> w.language is null $$,
  'the functions know every time word of the table'
);
select is(memory.fold_words('Ça, l’Été! NOËL New Year''s'), 'ca, l ete! noel new year s', 'folded words have no accents');
select is(
  array_remove(memory.words_of('What''s up, Zoë? 3.5'), ''), '{what,s,up,zoe,3,.,5}'::text[],
  'a text is split into folded words'
);
select throws_ok(
  format('insert into memory.time_words (language, word, kind, value, trust) values (%L, %L, %L, %L, %L)', r.a, r.b, r.c, r.d, r.e),
  r.code, null, r.what
)
from (values
  (1, 'en', 'x', 'month', '13', 'plain', '23514', 'a thirteenth month is refused'),
  (2, 'en', 'x', 'unit', 'hour', 'plain', '23514', 'a unit that cannot be counted is refused'),
  (3, 'en', 'x', 'color', '', 'plain', '23514', 'an unknown kind of time word is refused'),
  (
    4, 'en', 'x', 'ago', '1', 'plain', '23514',
    'a value for a time word that only has a kind is refused'
  ),
  (
    5, 'English', 'x', 'ago', '', 'plain', '23514', 'a language of more than two letters is refused'
  ),
  (
    6, 'en', 'x', 'unit', 'day', 'weak', '23514',
    'a weak time word of a kind that is never weak is refused'
  ),
  (
    7, 'en', 'monday', 'month', '1', 'plain', '23505',
    'a second meaning of a word in a language is refused'
  )
) as r (position, a, b, c, d, e, code, what)
order by r.position;

-- Volatility

select volatility_is('memory', 'read_period', '{text,text,timestamp with time zone}'::name[], 'immutable', 'read_period is immutable');
select volatility_is('memory', 'tells_update', '{text}'::name[], 'immutable', 'tells_update is immutable');
select volatility_is('memory', 'asks_present', '{text}'::name[], 'immutable', 'asks_present is immutable');

select * from finish();
rollback;
