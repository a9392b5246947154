-- Revert pymem:functions/embedding from pg

begin;

drop function memory.embedding_backlog(timestamptz);
drop function memory.set_embedding(text, uuid, vector, uuid, text);
drop function memory.embedding_version_status(uuid);
drop function memory.claim_unembedded(uuid, integer, interval, timestamptz);
drop function memory.embedding_text(text, text, text, text, text, uuid, timestamptz, timestamptz);
drop function memory.render_for_embedding(
  text, text, text, text, text, text, text, uuid, timestamptz, uuid
);
drop function memory.register_embedding_version(text, text, integer, float8, float8);
drop function memory.check_similarity_scale(float8, float8);
drop function memory.lock_embedding_version(text, vector, uuid);
drop function memory.check_embedding_version(uuid);
drop function memory.current_embedding_versions();
drop function memory.active_embedding_version();
drop function memory.check_embedding(vector, text);
drop function memory.refuse_embedding(vector, text);
drop function memory.check_dimensions(integer, text);

commit;
