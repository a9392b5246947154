-- Deploy pymem:views/searchable_memories to pg

begin;

set local role memory_owner;

do $$
begin
  perform memory.refresh_searchable_memories();
end;
$$;

comment on view memory.searchable_memories is
'Episodes, facts and rules in one shape: what search reads. is_live: an active fact, a rule not '
'forgotten; a column and not a condition, because only branches without one can use a vector '
'index. expires_at (episodes only) is for the reader to compare with its time. The scope of an '
'episode is its butler.';

commit;
