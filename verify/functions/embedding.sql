-- Verify pymem:functions/embedding on pg

begin;
select
  'memory.check_dimensions(integer, text)'::regprocedure,
  'memory.refuse_embedding(vector, text)'::regprocedure,
  'memory.check_embedding(vector, text)'::regprocedure,
  'memory.active_embedding_version()'::regprocedure,
  'memory.current_embedding_versions()'::regprocedure,
  'memory.check_embedding_version(uuid)'::regprocedure,
  'memory.lock_embedding_version(text, vector, uuid)'::regprocedure,
  'memory.check_similarity_scale(float8, float8)'::regprocedure,
  'memory.register_embedding_version(text, text, integer, float8, float8)'::regprocedure,
  'memory.render_for_embedding(
    text, text, text, text, text, text, text, uuid, timestamptz, uuid
  )'::regprocedure,
  'memory.embedding_text(
    text, text, text, text, text, uuid, timestamptz, timestamptz
  )'::regprocedure,
  'memory.claim_unembedded(uuid, integer, interval, timestamptz)'::regprocedure,
  'memory.embedding_version_status(uuid)'::regprocedure,
  'memory.set_embedding(text, uuid, vector, uuid, text)'::regprocedure,
  'memory.embedding_backlog(timestamptz)'::regprocedure;
rollback;
