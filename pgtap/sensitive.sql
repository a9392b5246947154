begin;
\ir fixtures.sql
select plan(197);

-- Check digits: examples that the authorities, networks or encyclopedias publish.

create table memory_test.numbers (
  validator text,
  number text
);
insert into memory_test.numbers (validator, number)
values
('luhn', '79927398713'), ('luhn', '0000 0000 0000'), ('luhn', '4111-1111-1111-1111'),
('payment_card', '4111111111111111'), ('payment_card', '4222222222222'),
('payment_card', '4012 8888 8888 1881'), ('payment_card', '5555-5555-5555-4444'),
('payment_card', '5105105105105100'), ('payment_card', '2223 0031 2200 3222'),
('payment_card', '3782 822463 10005'), ('payment_card', '371449635398431'),
('payment_card', '6011111111111117'), ('payment_card', '6011 0009 9013 9424'),
('payment_card', '3530111333300000'), ('payment_card', '30569309025904'),
('payment_card', '38520000023237'), ('payment_card', '6200000000000005'),
('iban', 'GB82 WEST 1234 5698 7654 32'), ('iban', 'DE89370400440532013000'),
('iban', 'FR14 2004 1010 0505 0001 3M02 606'), ('iban', 'NL91ABNA0417164300'),
('iban', 'CH93 0076 2011 6238 5295 7'), ('iban', 'NO93 8601 1117 947'),
('iban', 'ES91 2100 0418 4502 0005 1332'), ('iban', 'MT84 MALT 0110 0001 2345 MTLC AST0 01S'),
('iban', 'de89 3704 0044 0532 0130 00'), ('iban', 'IT60 X054 2811 1010 0000 0123 456'),
('us_ssn', '123-45-6789'), ('us_ssn', '899-99-9999'), ('us_ssn', '001010001'),
('de_tax_id', '86095742719'), ('de_tax_id', '10234567880'), ('de_tax_id', '47036892816'), ('de_tax_id', '65929970489'),
('de_social_security', '15070649C103'), ('de_social_security', '15 070649 C 103'),
('fr_nir', '2 55 08 14 168 025 38'), ('fr_nir', '255081416802538'),
('es_dni', '12345678Z'), ('es_dni', '00000000T'), ('es_dni', 'X1234567L'),
('es_dni', 'Y-1234567-X'), ('es_dni', 'Z1234567R'),
('it_tax_code', 'RSSMRA85T10A562S'), ('it_tax_code', 'MRTMTT91D08F205J'),
('br_cpf', '111.444.777-35'), ('br_cpf', '529.982.247-25'), ('br_cpf', '52998224725');

select ok(memory.is_valid_match(n.validator, n.number), format('%s: %s', n.validator, n.number))
from memory_test.numbers as n
order by n.validator, n.number;

-- Every other last place is wrong, except where a number has none to check.
select is_empty(
  $$ select n.validator, n.number, o.place
     from memory_test.numbers as n
     cross join unnest(string_to_array('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', null)) as o (place)
     where n.validator <> 'us_ssn'
       and o.place <> upper(right(n.number, 1))
       and (o.place ~ '[0-9]') = (right(n.number, 1) ~ '[0-9]')
       and memory.is_valid_match(n.validator, left(n.number, -1) || o.place) $$,
  'a number with another last place fails its check'
);
-- Neighbours of which neither is a zero in a set of letters: a transposition shows.
select is_empty(
  $$ select n.validator, n.number
     from memory_test.numbers as n
     where n.validator in ('iban', 'fr_nir', 'es_dni')
       and substr(n.number, 7, 1) ~ '[0-9]' and substr(n.number, 8, 1) ~ '[0-9]'
       and substr(n.number, 7, 1) <> substr(n.number, 8, 1)
       and memory.is_valid_match(
         n.validator,
         left(n.number, 6) || substr(n.number, 8, 1) || substr(n.number, 7, 1) || substr(n.number, 9)
       ) $$,
  'a number with two places exchanged fails its check'
);
select is_empty(
  $$ select v.validator, t.text
     from (select distinct validator from memory_test.numbers) as v
     cross join (values (''), (' '), ('abc'), ('-'), ('12'), ('٤٤٤٤'), (repeat('1', 5000)), (repeat('9 ', 3000))) as t (text)
     where memory.is_valid_match(v.validator, t.text) is not false
       and (v.validator, t.text) <> ('luhn', '12') $$,
  'what is no number is none of them'
);
select is(memory.passes_luhn('0'), false, 'one digit has no check digit');
select is(memory.is_payment_card('1111111111111117'), false, 'a number of no network is no card');
select is(memory.is_payment_card('4444444444444448'), true, 'a number that only looks made up is a card');
select is(memory.is_payment_card('0000000000000000'), false, 'zeros are no card');
select is(
  array(
    select s.number from (values ('000-12-3456'), ('666-12-3456'), ('900-12-3456'), ('123-00-4567'),
      ('123-45-0000'), ('078-05-1120'), ('219-09-9999')) as s (number) where memory.is_us_ssn(s.number)
  ),
  '{}', 'numbers that the United States never give are no social security numbers'
);
select ok(
  memory.contains_payment_card('12 4012 4111 1111 1111 1111 7'),
  'a card is found among other numbers'
);
select is(memory.iban_length('DE'), 22, 'an IBAN of Germany has 22 places');
select is(memory.iban_length('US'), null, 'the United States have none');

-- Detectors

create function memory_test.found(content text)
  returns text
  language sql
  stable
  return (
    select string_agg(concat_ws(' ', d.data_class, d.name, d."position"), ', ' order by d."position", d.name)
    from memory.detect_sensitive(content) as d
  );

select is(memory_test.found(t.content), t.expected, left(t.content, 60))
from (values
  ('My password is hunter2', 'secret password 4'),
  ('password: Sommer2024!', 'secret password 1'),
  ('the wifi password for the office is k9#Lm22x.', 'secret password 10'),
  ('{"db_password": "x8dk22ppq"}', 'secret password 6'),
  ('PWD=correct-horse-7', 'secret password 1'),
  ('Das Passwort ist Regen!bogen3', 'secret password 5'),
  ('mot de passe : Soleil#44', 'secret password 1'),
  ('my password was hunter2', 'secret password 4'),
  ('Das Passwort lautet geheim99', 'secret password 5'),
  ('la mia parola d''ordine è Gatto123', 'secret password 8'),
  ('wachtwoord: Kat12345', 'secret password 1'),
  (E'contrasen\u0303a: Gato1234', 'secret password 1'),
  ('El PIN es 4821', 'secret pin 4'),
  ('le code PIN est 1234', 'secret pin 9'),
  ('Il PIN è 4821', 'secret pin 4'),
  ('My PIN is 4921.', 'secret pin 4'),
  ('cvv: 123', 'secret pin 1'),
  ('postgresql://app:s3cret@db.example.org:5432/app', 'secret connection_string 1'),
  ('redis://:s3cret@cache/0', 'secret connection_string 1'),
  ('-----BEGIN OPENSSH PRIVATE KEY-----', 'key private_key 1'),
  ('-----BEGIN RSA PRIVATE KEY-----', 'key private_key 1'),
  ('key AKIAIOSFODNN7EXAMPLE here', 'key aws_access_key 5'),
  ('aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'key assigned_key 5'),
  ('API key: 9f8e7d6c5b4a39281706', 'key assigned_key 1'),
  ('AIza' || repeat('Sy0', 11) || 'Dd', 'key google_api_key 1'),
  ('sk_live_' || repeat('4eC3', 6), 'key stripe_key 1'),
  ('sk-ant-api03-' || repeat('aB3_', 10), 'key model_api_key 1'),
  ('sk-proj-' || repeat('aB3d', 10), 'key model_api_key 1'),
  ('ghp_' || repeat('aB3d', 9), 'token github_token 1'),
  ('github_pat_' || repeat('aB3d', 12), 'token github_token 1'),
  ('glpat-' || repeat('aB3d', 5), 'token gitlab_token 1'),
  ('xoxb-' || repeat('1234', 5), 'token slack_token 1'),
  ('npm_' || repeat('aB3d', 9), 'token package_token 1'),
  ('hf_' || repeat('abCd', 9), 'token package_token 1'),
  ('pymem_61_' || repeat('0f1e', 16), 'token access_token 1'),
  ('eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N', 'token jwt 1'),
  ('Authorization: Bearer mF_9.B5f-4.1JqM7xYz0aQ', 'token bearer 16'),
  ('Pay with 4111 1111 1111 1111, please', 'payment_card card_number 10'),
  ('Pay with 4111.1111.1111.1111', 'payment_card card_number 10'),
  ('card ４１１１１１１１１１１１１１１１ in wide digits', 'payment_card card_number 6'),
  (E'card 4111\u20111111\u00A01111\u200B1111', 'payment_card card_number 6'),
  ('Transfer to DE89 3704 0044 0532 0130 00 is fine by me', 'iban iban 13'),
  ('iban gb82west12345698765432', 'iban iban 6'),
  ('SSN 123-45-6789', 'national_id us_ssn_named 1, national_id us_ssn 5'),
  ('my social security number is 123 45 6789', 'national_id us_ssn_named 4'),
  ('Meine Steuer-ID lautet 86 095 742 719', 'national_id de_tax_id 24'),
  ('86095742719', null),
  ('Rentenversicherung 15 070649 C 103', 'national_id de_social_security 20'),
  ('NIR 2 55 08 14 168 025 38', 'national_id fr_nir 5'),
  ('DNI 12345678Z', 'national_id es_dni 5'),
  ('codice fiscale RSSMRA85T10A562S', 'national_id it_tax_code 16'),
  ('NI number AB 12 34 56 C', 'national_id gb_national_insurance 11'),
  ('CPF 529.982.247-25', 'national_id br_cpf 5'),
  ('cpf: 52998224725', 'national_id br_cpf_named 1')
) as t (content, expected);

select is(memory_test.found(t.content), null, 'harmless: ' || left(t.content, 60))
from (values
  ('I forgot my password again.'), ('The password is required.'), ('password: required'),
  ('Password: <your password>'), ('password=${PASSWORD}'), ('password: ********'), ('My password was stolen in 2019'), ('the pin was 12 mm long'),
  ('The password is really important to her'), ('a pass to the museum is 12 euros'),
  ('Her secret is the sauce.'), ('The key is under the mat.'), ('secret token of love'),
  ('Call me at +1 (555) 123-4567.'), ('+49 170 1234567'), ('Order 4111111111111112 has shipped'),
  ('It happened on 2024-05-17 at 12:30:45.123456'), ('1716556800000'), ('Version 10.15.7.1234.5678'),
  ('ISBN 978-3-16-148410-0'), ('EAN 4006381333931'), ('192.168.100.200:8080'),
  ('550e8400-e29b-41d4-a716-446655440000'), ('https://example.org/a:b@c'), ('mailto:ada@example.org'),
  ('At 10 we meet; DE 22 is the road'), ('desk-lamp-with-a-very-long-name-1'), ('risk-averse people'),
  ('AKIA is a prefix'), ('the bearer of good news arrives'), ('pi is 3.14159265358979323846'),
  ('tracking 1Z 999 AA1 01 2345 6784'), ('GDP of 12,345,678,901,234 dollars'), ('99 88 77 66 55 44 33 22'),
  ('see AB123456 in the file'), ('12345678A'), ('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
) as t (content);

select is(
  (select string_agg(d::text, '') from memory.detect_sensitive('password: Sommer2024!') as d) ~ 'Sommer',
  false, 'what is found is never shown'
);
select throws_ok(
  $$ select memory.detect_sensitive(' ') $$, 'PM002', 'content is empty', 'there must be a text'
);
select is(
  array(select distinct p.data_class from memory.list_sensitive_patterns() as p where p.kind = 'content' order by 1),
  '{iban,key,national_id,payment_card,secret,token}', 'these classes are found in texts'
);
select is(
  array(select distinct p.data_class from memory.list_sensitive_patterns() as p where p.kind = 'label' order by 1),
  '{belief,conviction,credentials,finance,health,identity,intimacy}', 'these classes are declared by labels'
);
select is(memory.find_label('a', t.label), t.data_class, 'label ' || t.label)
from (values
  ('Health', 'health'), (' mental  health ', 'health'), ('MEDICATIONS', 'health'), ('finance', 'finance'),
  ('api_key', 'credentials'), ('religion', 'belief'), ('sexual orientation', 'intimacy'),
  ('passport', 'identity'), ('criminal record', 'conviction'), ('healthy food', null),
  ('preference', null), ('work', null), ('', null)
) as t (label, data_class);

-- What a tenant adds

select is(
  memory.add_sensitive_pattern('customer', 'number', '\mC-\d{6}\M', required_words => '{"", C-, " "}'), true,
  'a tenant adds a pattern'
);
select results_eq(
  $$ select t.required_words from memory.tenant_patterns as t $$, $$ values ('{c-}'::text[]) $$, 'in lower case, without blank words'
);
select is(memory_test.found('Ask for C-123456'), 'customer number 9', 'which is found from then on');
select memory_test.as_tenant('b');
select is(memory_test.found('Ask for C-123456'), null, 'only for the tenant');
select memory_test.as_tenant('a');
select is(
  memory.add_sensitive_pattern('customer', 'number', '\mK-\d{6}\M'), false,
  'the same name replaces it'
);
select is(memory_test.found('Ask for C-123456 or K-654321'), 'customer number 21', 'and only the new one holds');
select is(memory.remove_sensitive_pattern('customer', 'number'), true, 'it can be removed');
select is(memory.remove_sensitive_pattern('customer', 'number'), false, 'once');
select is(memory.remove_sensitive_pattern('iban', 'iban'), false, 'but not what is built in');
select is(
  memory.add_sensitive_pattern('iban', 'iban', '\mIBAN-\d+', validator => 'none'), true,
  'a tenant replaces what is built in'
);
select is(memory_test.found('DE89370400440532013000 IBAN-7'), 'iban iban 24', 'for itself');
select memory.remove_sensitive_pattern('iban', 'iban') \g /dev/null
select is(memory_test.found('DE89370400440532013000 IBAN-7'), 'iban iban 1', 'and takes that back');
select is(
  memory.add_sensitive_pattern('health', 'diet', 'diet|allerg(y|ies)', kind => 'label'), true,
  'a tenant adds a label'
);
select is(memory.find_label('a', 'Allergies'), 'health', 'by which a category declares a class');
select is(
  array(select e.event_type from memory.memory_events as e where e.event_type ~ 'sensitive_pattern' order by e.seq),
  '{sensitive_pattern_created,sensitive_pattern_updated,sensitive_pattern_deleted,sensitive_pattern_created,'
  'sensitive_pattern_deleted,sensitive_pattern_created}', 'all of this is audited'
);

select throws_ok(format('select memory.add_sensitive_pattern(%s)', t.arguments), 'PM002', t.message, t.message)
from (values
  ($$'Bad Class', 'x', 'y'$$, 'data_class and name must be words'),
  ($$'x', null, 'y'$$, 'data_class and name must be words'),
  ($$'x', 'x', ''$$, 'pattern is empty'),
  ($$'x', 'x', repeat('a', 501)$$, 'pattern is 501 bytes long'),
  ($$'x', 'x', 'a('$$, 'not a regular expression: invalid regular expression: parentheses () not balanced'),
  ($$'x', 'x', '(?i)a'$$, 'not a regular expression: invalid regular expression: quantifier operand invalid'),
  ($$'x', 'x', '(a)\1'$$, 'the pattern has a back-reference'),
  ($$'x', 'x', 'a*'$$, 'the pattern matches an empty text'),
  ($$'x', 'x', '((a{1,255}){1,255}){1,255}'$$, 'not a regular expression: invalid regular expression: regular expression is too complex'),
  ($$'x', 'x', 'a', kind => 'other'$$, $$unknown kind: 'other'$$),
  ($$'x', 'x', 'a', validator => 'other'$$, $$unknown validator: 'other'$$),
  ($$'x', 'x', 'a', country => 'Germany'$$, $$country is 'Germany'$$),
  ($$'x', 'x', 'a', required_words => array[repeat('a', 1001)]$$, 'required_words are 1001 bytes long')
) as t (arguments, message);
select memory.add_sensitive_pattern('many', 'p' || n, 'many' || n)
from generate_series(1, 99) as n \g /dev/null
select throws_ok(
  $$ select memory.add_sensitive_pattern('many', 'p100', 'many100') $$, 'PM002',
  'there are 100 patterns already', 'a tenant adds at most a hundred patterns'
);
select lives_ok(
  $$ select memory.add_sensitive_pattern('many', 'p99', 'other') $$, 'of which it may replace each'
);

select * from finish();
rollback;
