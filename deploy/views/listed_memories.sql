-- Deploy pymem:views/listed_memories to pg

begin;

set local role memory_owner;

do $$
begin
  perform memory.refresh_listed_memories();
end;
$$;

comment on view memory.listed_memories is
'Episodes, facts, rules and entries in one shape, for lists, without vectors. is_live: what '
'searches find unless it has expired; is_decaying: whether the decay sweep looks at it. The scope '
'of an episode is its butler.';

commit;
