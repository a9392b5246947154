-- Deploy pymem:tables/sensitive_patterns to pg

begin;

set local role memory_owner;

-- Reference data, the same for every tenant, like transitions. What a tenant adds is in
-- tenant_patterns.
create table memory.sensitive_patterns (
  data_class text not null check (data_class ~ '^[a-z][a-z0-9_]{0,39}$'),
  name text not null check (name ~ '^[a-z][a-z0-9_]{0,39}$'),
  kind text not null
  constraint sensitive_patterns_kind_check check (kind in ('content', 'label')),
  pattern text not null check (octet_length(pattern) <@ int4range '[1,1000]'),
  match_case boolean not null default false,
  required_words text[] not null default '{}',
  validator text not null default 'none'
  constraint sensitive_patterns_validator_check
  check (
    validator in (
      'none', 'luhn', 'secret_value', 'payment_card', 'iban', 'us_ssn', 'de_tax_id',
      'de_social_security', 'fr_nir', 'es_dni', 'it_tax_code', 'br_cpf'
    )
  ),
  country text check (country ~ '^[A-Z]{2}$'),
  primary key (data_class, name)
);

comment on table memory.sensitive_patterns is
'What memory.detect_sensitive looks for: what counts as sensitive in a text, and which labels '
'declare that it is. The same for every tenant; tenants add their own with '
'memory.add_sensitive_pattern.';
comment on column memory.sensitive_patterns.data_class is
'What it is, such as payment_card: the class that an approval names.';
comment on column memory.sensitive_patterns.name is 'Which detector of the class.';
comment on column memory.sensitive_patterns.kind is
'content: found in a text. label: a word by which a caller declares the class, in category.';
comment on column memory.sensitive_patterns.pattern is
'A regular expression (ARE), matched without regard to case unless match_case. A label is '
'compared as a whole, folded into lower case.';
comment on column memory.sensitive_patterns.required_words is
'The pattern is tried only on texts that contain one of these, in lower case; empty: on all.';
comment on column memory.sensitive_patterns.validator is
'What a match must also pass: check digits and other rules of its kind (memory.is_valid_match).';
comment on column memory.sensitive_patterns.country is 'ISO 3166 code of a national number.';

create table memory.tenant_patterns (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  data_class text not null check (data_class ~ '^[a-z][a-z0-9_]{0,39}$'),
  name text not null check (name ~ '^[a-z][a-z0-9_]{0,39}$'),
  kind text not null
  constraint tenant_patterns_kind_check check (kind in ('content', 'label')),
  pattern text not null check (octet_length(pattern) <@ int4range '[1,500]'),
  match_case boolean not null default false,
  required_words text[] not null default '{}'
  check (octet_length(array_to_string(required_words, ' ')) <= 1000),
  validator text not null default 'none'
  constraint tenant_patterns_validator_check
  check (
    validator in (
      'none', 'luhn', 'secret_value', 'payment_card', 'iban', 'us_ssn', 'de_tax_id',
      'de_social_security', 'fr_nir', 'es_dni', 'it_tax_code', 'br_cpf'
    )
  ),
  country text check (country ~ '^[A-Z]{2}$'),
  primary key (tenant_id, data_class, name)
);

comment on table memory.tenant_patterns is
'What a tenant adds to memory.sensitive_patterns. A row with the class and name of one of these '
'replaces it. Columns as there.';

-- noqa: disable=LT05
insert into memory.sensitive_patterns
  (data_class, name, kind, required_words, match_case, validator, country, pattern)
values
-- Secrets that a text names.
(
  'secret', 'password', 'content',
  '{pass,pwd,kennwort,contrase,senha,parola,wachtwoord}', false, 'secret_value', null,
  $re$(?<![[:alpha:]])(?:password|passwd|passphrase|passcode|pwd|passwort|kennwort|contrase[ñn]a|mot de passe|senha|parola(?: d.ordine)?|wachtwoord)\M(?:["')]{0,2} ?(?:for|to|of|on|für|zu|de|del|du) [^\n:=]{1,40}?)?["']?\s{0,3}(?:[:=]|is\M|ist\M|es\M|est\M|é\M|è\M|was\M|lautet\M|now is\M)\s{0,3}\S{4,128}$re$
),
(
  'secret', 'pin', 'content', '{pin,cvv,cvc,geheimzahl}', false, 'none', null,
  $re$\m(?:pin|cvv2?|cvc2?|geheimzahl)\M(?: ?(?:code|number|nummer))?(?: (?:for|to|of|für|zu) [^\n:=]{1,40}?)?\s{0,3}(?:[:=]|is\M|ist\M|es\M|est\M|é\M|è\M|was\M|lautet\M)\s{0,3}\d{3,8}\M$re$
),
(
  'secret', 'connection_string', 'content', '{://}', false, 'none', null,
  $re$\m[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,100}:[^\s/@]{1,200}@[^\s@]$re$
),
-- Keys.
(
  'key', 'private_key', 'content', '{private key,secret-key}', false, 'none', null,
  $re$-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\mAGE-SECRET-KEY-1[0-9A-Z]{20,}$re$
),
(
  'key', 'aws_access_key', 'content', '{akia,asia}', true, 'none', null,
  $re$\m(?:AKIA|ASIA)[0-9A-Z]{16}\M$re$
),
(
  'key', 'google_api_key', 'content', '{aiza}', true, 'none', null, $re$\mAIza[0-9A-Za-z_-]{35}$re$
),
(
  'key', 'stripe_key', 'content', '{k_live_,k_test_}', true, 'none', null,
  $re$\m[sr]k_(?:live|test)_[0-9A-Za-z]{16,}$re$
),
(
  'key', 'model_api_key', 'content', '{sk-}', true, 'none', null,
  $re$\msk-(?=[A-Za-z_-]{0,100}[0-9])[0-9A-Za-z_-]{20,}$re$
),
(
  'key', 'assigned_key', 'content', '{key,secret,token}', false, 'secret_value', null,
  $re$(?:api|access|secret|client|private|encryption|signing|auth)[ _-]?(?:access[ _-]?)?(?:key|secret|token)(?:[ _-]?id)?["']?\s{0,3}(?:[:=]|is\M)\s{0,3}["']?[0-9A-Za-z_/+.=-]{12,255}$re$
),
-- Tokens.
(
  'token', 'github_token', 'content', '{ghp_,gho_,ghu_,ghs_,ghr_,github_pat_}', true, 'none', null,
  $re$\m(?:gh[pousr]_[0-9A-Za-z]{36,}|github_pat_[0-9A-Za-z_]{40,})$re$
),
(
  'token', 'gitlab_token', 'content', '{glpat-}', true, 'none', null,
  $re$\mglpat-[0-9A-Za-z_-]{20,}$re$
),
(
  'token', 'slack_token', 'content', '{xox,hooks.slack.com}', true, 'none', null,
  $re$\mxox[abeoprs]-[0-9A-Za-z-]{10,}|hooks\.slack\.com/services/T[0-9A-Z]+/B[0-9A-Z]+/[0-9A-Za-z]{20,}$re$
),
(
  'token', 'package_token', 'content', '{npm_,pypi-,hf_,sg.}', true, 'none', null,
  $re$\m(?:npm_[0-9A-Za-z]{36}|pypi-[0-9A-Za-z_-]{40,}|hf_[0-9A-Za-z]{30,}|SG\.[0-9A-Za-z_-]{20,24}\.[0-9A-Za-z_-]{40,46})$re$
),
(
  'token', 'access_token', 'content', '{pymem_}', true, 'none', null,
  $re$\mpymem_[0-9a-f]{2,255}_[0-9a-f]{64}$re$
),
(
  'token', 'jwt', 'content', '{eyj}', true, 'none', null,
  $re$\meyJ[0-9A-Za-z_-]{8,}\.eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}$re$
),
(
  'token', 'bearer', 'content', '{bearer}', false, 'secret_value', null,
  $re$\mbearer\s{1,3}[0-9A-Za-z._~+/=-]{20,}$re$
),
-- Numbers of payment.
(
  'payment_card', 'card_number', 'content', '{}', false, 'payment_card', null,
  $re$\m\d(?:[ .-]?\d){12,}\M$re$
),
(
  'iban', 'iban', 'content', '{}', false, 'iban', null,
  $re$\m[A-Z]{2}\d{2}(?:[ .-]?[0-9A-Z]){11,30}$re$
),
-- National numbers.
(
  'national_id', 'us_ssn', 'content', '{-}', false, 'us_ssn', 'US',
  $re$(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])$re$
),
(
  'national_id', 'us_ssn_named', 'content', '{ssn,social security}', false, 'us_ssn', 'US',
  $re$(?:\mssn\M|social security)[^\n\d]{0,40}\d{3}[ -]?\d{2}[ -]?\d{4}\M$re$
),
(
  'national_id', 'de_tax_id', 'content', '{steuer,idnr,tax id,tax number}', false, 'de_tax_id', 'DE',
  $re$\m[1-9]\d(?: ?\d){9}\M$re$
),
(
  'national_id', 'de_social_security', 'content', '{}', true, 'de_social_security', 'DE',
  $re$\m\d{2} ?[0-3]\d[01]\d{3} ?[A-Z] ?\d{3}\M$re$
),
(
  'national_id', 'fr_nir', 'content', '{}', true, 'fr_nir', 'FR',
  $re$\m[12478] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}\M$re$
),
(
  'national_id', 'es_dni', 'content', '{}', false, 'es_dni', 'ES',
  $re$\m(?:\d{8}|[XYZ]-?\d{7})-?[A-Z]\M$re$
),
(
  'national_id', 'it_tax_code', 'content', '{}', false, 'it_tax_code', 'IT',
  $re$\m[A-Z]{6}[0-9LMNP-V]{2}[ABCDEHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]\M$re$
),
(
  'national_id', 'gb_national_insurance', 'content', '{}', true, 'none', 'GB',
  $re$\m(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\M$re$
),
(
  'national_id', 'br_cpf', 'content', '{}', false, 'br_cpf', 'BR',
  $re$\m\d{3}\.\d{3}\.\d{3}-\d{2}\M$re$
),
(
  'national_id', 'br_cpf_named', 'content', '{cpf}', false, 'br_cpf', 'BR',
  $re$\mcpf\M[^\n\d]{0,20}\d{11}\M$re$
),
-- What a caller declares by the category of an entry.
(
  'credentials', 'label', 'label', '{}', false, 'none', null,
  'credentials?|passwords?|secrets?|logins?|api[ _-]?keys?|tokens?|pins?'
),
(
  'finance', 'label', 'label', '{}', false, 'none', null,
  'financ(e|es|ial)|bank(ing)?|payments?|credit[ _-]?cards?|salar(y|ies)|income|debts?|tax(es)?'
),
(
  'health', 'label', 'label', '{}', false, 'none', null,
  'health|medical|medicine|medications?|diagnos(is|es)|illness(es)?|disease|disabilit(y|ies)|therapy'
  '|mental[ _-]?health|pregnancy|reproductive[ _-]?health'
),
(
  'identity', 'label', 'label', '{}', false, 'none', null,
  'identit(y|ies)|identity[ _-]?documents?|national[ _-]?ids?|passports?|social[ _-]?security'
  '|biometrics?|biometric[ _-]?data|genetics?|genetic[ _-]?data'
),
(
  'belief', 'label', 'label', '{}', false, 'none', null,
  'beliefs?|religions?|religious|faith|politics|political|political[ _-]?opinions?|philosophy'
  '|trade[ _-]?unions?|union[ _-]?membership'
),
(
  'intimacy', 'label', 'label', '{}', false, 'none', null,
  'sexuality|sexual[ _-]?orientation|sex[ _-]?life|gender[ _-]?identity|ethnicity'
  '|racial[ _-]?origin|ethnic[ _-]?origin'
),
(
  'conviction', 'label', 'label', '{}', false, 'none', null,
  'criminal[ _-]?(records?|history)|convictions?|criminal[ _-]?offen[cs]es?'
);

-- noqa: enable=LT05

commit;
