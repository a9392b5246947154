-- Deploy pymem:functions/core/base/permanence to pg

begin;

set local role memory_owner;

create or replace function memory.permanences()
  returns text[]
  language sql
  immutable
  parallel safe
  return '{permanent,stable,standard,volatile,ephemeral}'::text[];

comment on function memory.permanences() is
'How slowly facts and rules decay, from not at all to within days; see memory.decay_rate_of.';

create or replace function memory.source_classes()
  returns text[]
  language sql
  immutable
  parallel safe
  return '{user,agent,tool,external}'::text[];

comment on function memory.source_classes() is
'Whose statement something may be, the most trusted first; see memory.trust_rank.';

create or replace function memory.decay_rate_of(permanence text)
  returns float8
  language sql
  immutable
  parallel safe
  return case permanence
    when 'permanent' then 0.0
    when 'stable' then 0.002
    when 'standard' then 0.008
    when 'volatile' then 0.03
    when 'ephemeral' then 0.1
  end;

comment on function memory.decay_rate_of(text) is
'Decay rate per day of a permanence: permanent 0, stable 0.002, standard 0.008, volatile 0.03, '
'ephemeral 0.1; NULL for any other word.';
grant execute on function memory.decay_rate_of
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.planned_for(
  valid_from timestamptz,
  as_of timestamptz
)
  returns timestamptz
  language sql
  stable
  parallel safe
  return case when valid_from > as_of + interval '1 hour' then valid_from end;

comment on function memory.planned_for(timestamptz, timestamptz) is
'For when a fact is planned that is valid from valid_from: that time; NULL if it has begun. What '
'begins within the hour counts as begun: clocks differ.';

commit;
