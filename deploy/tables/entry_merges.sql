-- Deploy pymem:tables/entry_merges to pg

begin;

set local role memory_owner;

-- Ids, versions and hashes only: the texts are in the entries and are deleted with them.

create table memory.entry_comparisons (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  entry_id uuid not null,
  version integer not null,
  embedding_version_id uuid,
  group_key uuid not null,
  text_key uuid not null,
  signs bit(768),
  is_copy boolean not null default false,
  compared_at timestamptz check (isfinite(compared_at)),
  primary key (tenant_id, entry_id),
  foreign key (tenant_id, entry_id) references memory.entries (tenant_id, id) on delete cascade
);

create index entry_comparisons_waiting_idx
on memory.entry_comparisons (tenant_id, entry_id) where compared_at is null;

comment on table memory.entry_comparisons is
'Which live entries consolidation has compared with all others, so that it compares only new and '
'changed ones.';
comment on column memory.entry_comparisons.version is 'The version of the entry when it was read.';
comment on column memory.entry_comparisons.embedding_version_id is
'The version of its vector then; NULL if it had none.';
comment on column memory.entry_comparisons.group_key is
'Hash of scope, user, persona, session and type: only entries of one group are merged.';
comment on column memory.entry_comparisons.text_key is
'Hash of its content in lower case with whitespace collapsed: equal texts are merged without a '
'vector.';
comment on column memory.entry_comparisons.signs is
'On which side of 768 planes through the origin its vector lies (memory.signs_of).';
comment on column memory.entry_comparisons.is_copy is
'Whether another entry of its group, which is compared instead, has the same text.';
comment on column memory.entry_comparisons.compared_at is
'When it was compared; NULL while it waits.';

create table memory.entry_merges (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  merged_id uuid not null,
  consolidation_id uuid not null,
  merged_at timestamptz not null check (isfinite(merged_at)),
  undone_at timestamptz check (isfinite(undone_at)),
  summarized_at timestamptz check (isfinite(summarized_at)),
  model text
  check (octet_length(model) <@ int4range '[1,512]' and not memory.has_invisible(model)),
  primary key (tenant_id, merged_id),
  foreign key (tenant_id, merged_id) references memory.entries (tenant_id, id) on delete cascade,
  foreign key (tenant_id, consolidation_id)
  references memory.entry_consolidations (tenant_id, id) on delete cascade
);

create index entry_merges_consolidation_idx
on memory.entry_merges (tenant_id, consolidation_id);

comment on table memory.entry_merges is 'Entries that memory.consolidate_entries made of others.';
comment on column memory.entry_merges.merged_id is 'The entry that it made.';
comment on column memory.entry_merges.undone_at is
'When memory.undo_entry_merge undid it; NULL while it stands.';
comment on column memory.entry_merges.summarized_at is
'When memory.summarize_entry_merge replaced its text by a summary.';
comment on column memory.entry_merges.model is 'What made the summary.';

create table memory.entry_merge_members (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  merged_id uuid not null,
  member_id uuid not null,
  version integer not null,
  retention text not null
  constraint entry_merge_members_retention_check
  check (retention in ('active', 'aging', 'aged', 'archived')),
  similarity float8 not null check (similarity between -1 and 1),
  primary key (tenant_id, merged_id, member_id),
  foreign key (tenant_id, merged_id)
  references memory.entry_merges (tenant_id, merged_id) on delete cascade,
  foreign key (tenant_id, member_id) references memory.entries (tenant_id, id) on delete cascade
);

create index entry_merge_members_member_idx
on memory.entry_merge_members (tenant_id, member_id);

comment on table memory.entry_merge_members is
'The entries of which another was made, so that the merge can be undone.';
comment on column memory.entry_merge_members.version is 'Its version when it was merged.';
comment on column memory.entry_merge_members.retention is 'Its band before it was archived.';
comment on column memory.entry_merge_members.similarity is
'Cosine similarity to the entry whose text leads the merged one; 1 for that one and for equal '
'texts.';

commit;
