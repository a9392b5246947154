-- Verify pymem:functions/extras/entries/sensitive_numbers on pg

begin;
select
  'memory.without_separators(text)'::regprocedure,
  'memory.passes_luhn(text)'::regprocedure,
  'memory.is_payment_card(text)'::regprocedure,
  'memory.contains_payment_card(text)'::regprocedure,
  'memory.iban_length(text)'::regprocedure,
  'memory.is_iban(text)'::regprocedure,
  'memory.begins_with_iban(text)'::regprocedure,
  'memory.is_us_ssn(text)'::regprocedure,
  'memory.is_de_tax_id(text)'::regprocedure,
  'memory.is_de_social_security(text)'::regprocedure,
  'memory.is_fr_nir(text)'::regprocedure,
  'memory.is_es_dni(text)'::regprocedure,
  'memory.is_it_tax_code(text)'::regprocedure,
  'memory.is_br_cpf(text)'::regprocedure,
  'memory.looks_like_secret(text)'::regprocedure,
  'memory.is_valid_match(text,text)'::regprocedure;
rollback;
