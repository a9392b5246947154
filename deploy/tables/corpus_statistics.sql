-- Deploy pymem:tables/corpus_statistics to pg

begin;

set local role memory_owner;

create table memory.corpus_statistics (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  memory_type text not null check (memory_type = any(memory.memory_type_names())),
  documents bigint not null check (documents >= 0),
  terms bigint not null check (terms >= 0),
  former_languages text[] not null default '{}',
  primary key (tenant_id, memory_type)
)
-- Updated at each fold: with room on the page, its index stays as it is.
with (fillfactor = 50);

comment on table memory.corpus_statistics is
'How many memories of a type are searchable, and their total length, as of the last fold: the '
'corpus statistics that BM25 needs. Exact at any time together with corpus_deltas.';
comment on column memory.corpus_statistics.documents is
'Live memories: not superseded, expired or retracted.';
comment on column memory.corpus_statistics.terms is 'Sum of the distinct lexemes of each memory.';
comment on column memory.corpus_statistics.former_languages is
'While texts of the type wait to be indexed again (memory.reindex_texts): the text search '
'configurations that they may still have. Queries are read in these, too.';

create table memory.corpus_deltas (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id bigint not null generated always as identity,
  memory_type text not null check (memory_type = any(memory.memory_type_names())),
  documents bigint not null,
  terms bigint not null,
  primary key (tenant_id, id)
)
-- Every search reads all of them, dead ones included, and a fold leaves 128 dead at a time.
with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

comment on table memory.corpus_deltas is
'Changes to corpus_statistics that are not folded into it yet. Stores append here, so they never '
'wait for each other.';
comment on column memory.corpus_deltas.documents is
'Memories that became live minus those that ended.';
comment on column memory.corpus_deltas.terms is 'The same for their distinct lexemes.';

commit;
