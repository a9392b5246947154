-- Verify pymem:tables/entry_merges on pg

begin;
select
  c.tenant_id, c.entry_id, c.version, c.embedding_version_id, c.group_key, c.text_key, c.signs,
  c.is_copy, c.compared_at
from memory.entry_comparisons as c
where false;
select
  m.tenant_id, m.merged_id, m.consolidation_id, m.merged_at, m.undone_at, m.summarized_at, m.model
from memory.entry_merges as m
where false;
select m.tenant_id, m.merged_id, m.member_id, m.version, m.retention, m.similarity
from memory.entry_merge_members as m
where false;
rollback;
