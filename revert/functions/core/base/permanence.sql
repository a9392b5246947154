-- Revert pymem:functions/core/base/permanence from pg

begin;

drop function memory.planned_for(timestamp with time zone,timestamp with time zone);
drop function memory.decay_rate_of(text);
drop function memory.source_classes();
drop function memory.permanences();

commit;
