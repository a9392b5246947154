-- Deploy pymem:tables/corpus_statistics to pg

begin;

set local role memory_owner;

create table memory.corpus_statistics (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  memory_type text not null check (memory_type = any(memory.memory_type_names())),
  documents bigint not null check (documents >= 0),
  terms bigint not null check (terms >= 0),
  primary key (tenant_id, memory_type)
);

comment on table memory.corpus_statistics is
'How many memories of a type can be found, and how long they are together, as of the last fold: '
'what BM25 has to know of a tenant. Together with corpus_deltas exact at any time.';
comment on column memory.corpus_statistics.documents is
'Memories that are live: neither superseded nor expired nor retracted.';
comment on column memory.corpus_statistics.terms is 'Sum of the distinct lexemes of each.';

create table memory.corpus_deltas (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id bigint not null generated always as identity,
  memory_type text not null check (memory_type = any(memory.memory_type_names())),
  documents bigint not null,
  terms bigint not null,
  primary key (tenant_id, id)
);

comment on table memory.corpus_deltas is
'Changes to corpus_statistics not folded into it yet: stores append here, and so never wait for '
'each other.';
comment on column memory.corpus_deltas.documents is
'Memories that became live less those that ended.';
comment on column memory.corpus_deltas.terms is 'The same for their distinct lexemes.';

commit;
