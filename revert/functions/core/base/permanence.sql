-- Revert pymem:functions/core/base/permanence from pg

begin;

drop function memory.decay_rate_of(text);

commit;
