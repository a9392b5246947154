-- Deploy pymem:tables/embedding_versions to pg

begin;

set local role memory_owner;

create table memory.embedding_versions (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  model text not null
  check (octet_length(model) <@ int4range '[1,256]' and not memory.has_invisible(model)),
  version text not null
  check (octet_length(version) <@ int4range '[1,128]' and not memory.has_invisible(version)),
  rendering text not null default 'previous_dated'
  check (rendering in ('content', 'dated', 'previous', 'previous_dated')),
  dimensions integer not null default 384
  constraint embedding_versions_dimensions_of_the_columns check (dimensions = 384),
  similarity_floor float8 not null default 0.05 check (similarity_floor between -1 and 1),
  similarity_ceiling float8 not null default 0.75 check (similarity_ceiling between -1 and 1),
  status text not null check (status in ('active', 'building', 'retired')),
  created_at timestamptz not null default now() check (isfinite(created_at)),
  primary key (tenant_id, id),
  constraint embedding_versions_model_version_rendering_key
  unique (tenant_id, model, version, rendering),
  constraint embedding_versions_similarity_scale
  check (similarity_ceiling >= similarity_floor + 0.01)
);

create unique index embedding_versions_one_active_key
on memory.embedding_versions (tenant_id) where status = 'active';

create unique index embedding_versions_one_building_key
on memory.embedding_versions (tenant_id) where status = 'building';

comment on table memory.embedding_versions is
'Which model produced a vector, and from which text. Vectors of two versions cannot be compared: '
'the embedding columns hold those of the active version, staged_embeddings those of a version '
'being built.';
comment on column memory.embedding_versions.model is
'Name of the model, such as sentence-transformers/all-MiniLM-L6-v2.';
comment on column memory.embedding_versions.version is
'Version of the model; for local models a digest of the weights.';
comment on column memory.embedding_versions.rendering is
'Which text of an episode is embedded; see memory.settings.embedding_rendering.';
comment on column memory.embedding_versions.dimensions is
'Length of the vectors: that of the embedding columns.';
comment on column memory.embedding_versions.similarity_floor is
'Cosine similarity at which texts are unrelated: memory.meaning_score 0. The default is for '
'all-MiniLM-L6-v2; memory.calibrate_similarity measures another model.';
comment on column memory.embedding_versions.similarity_ceiling is
'Cosine similarity at which a text says what a query asks for: memory.meaning_score 1.';
comment on column memory.embedding_versions.status is
'active: searched. building: being filled while the active one is searched. retired: no longer '
'used.';

commit;
