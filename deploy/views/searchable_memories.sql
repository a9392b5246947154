-- Deploy pymem:views/searchable_memories to pg

begin;

set local role memory_owner;

do $$
begin
  perform memory.refresh_searchable_memories();
end;
$$;

comment on view memory.searchable_memories is
'Episodes, facts, rules and entries in one shape, for search. is_live: an active fact or entry, or '
'a rule that is not forgotten; a column rather than a condition, because only branches without one '
'can use a vector index. is_guarded: an entry that only memory.query_memory shows, in any state. '
'The caller compares expires_at (episodes and entries only) with its time. The scope of an episode '
'is its butler.';

commit;
