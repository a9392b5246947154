-- Verify pymem:functions/links on pg

begin;
select
  'memory.create_link(text, uuid, text, uuid, text)'::regprocedure,
  'memory.resolved_state(text, text, uuid, timestamptz)'::regprocedure,
  'memory.get_links(text, uuid, text, integer, timestamptz)'::regprocedure;
rollback;
