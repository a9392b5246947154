-- Verify pymem:functions/core/store/links on pg

begin;
select
  'memory.check_link_ends()'::regprocedure,
  'memory.lower_trust()'::regprocedure,
  'memory.create_link(text,uuid,text,uuid,text)'::regprocedure,
  'memory.get_links(text,uuid,text,integer,timestamp with time zone)'::regprocedure;
rollback;
