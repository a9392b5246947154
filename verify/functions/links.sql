-- Verify pymem:functions/links on pg

begin;
select
  'memory.create_link(text, uuid, text, uuid, text)'::regprocedure,
  'memory.get_links(text, uuid, text)'::regprocedure;
rollback;
