-- Revert pymem:functions/extras/entries/sensitive_numbers from pg

begin;

drop function memory.is_valid_match(text,text);
drop function memory.looks_like_secret(text);
drop function memory.is_br_cpf(text);
drop function memory.is_it_tax_code(text);
drop function memory.is_es_dni(text);
drop function memory.is_fr_nir(text);
drop function memory.is_de_social_security(text);
drop function memory.is_de_tax_id(text);
drop function memory.is_us_ssn(text);
drop function memory.begins_with_iban(text);
drop function memory.is_iban(text);
drop function memory.iban_length(text);
drop function memory.contains_payment_card(text);
drop function memory.is_payment_card(text);
drop function memory.passes_luhn(text);
drop function memory.without_separators(text);

commit;
