-- Verify pymem:functions/extras/operations/event_chain on pg

begin;
select
  'memory.event_digest(memory.memory_events)'::regprocedure,
  'memory.settled_seq(text)'::regprocedure,
  'memory.unsealed_events(text)'::regprocedure,
  'memory.settle_seals(memory.event_chain_heads,xid8,bigint)'::regprocedure,
  'memory.seal_events(integer)'::regprocedure,
  'memory.get_chain_head()'::regprocedure,
  'memory.check_guards()'::regprocedure,
  'memory.check_seals(text)'::regprocedure,
  'memory.check_event_coverage(text)'::regprocedure,
  'memory.check_row_coverage(text)'::regprocedure,
  'memory.check_states(text)'::regprocedure,
  'memory.verify_chain(bigint,bytea,integer)'::regprocedure;
rollback;
