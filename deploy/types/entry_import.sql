-- Deploy pymem:types/entry_import to pg

begin;

set local role memory_owner;

create type memory.entry_to_import as (
  "position" bigint,
  problem text,
  given text[],
  entry_id text,
  known_id uuid,
  content text,
  entry_type text,
  tags jsonb,
  keywords jsonb,
  category text,
  confidence float8,
  importance float8,
  source text,
  scope text,
  user_id text,
  persona_id text,
  session_id text,
  created_at timestamptz,
  updated_at timestamptz,
  expires_at timestamptz,
  access_count integer,
  last_accessed timestamptz,
  version integer,
  base_version integer,
  archived boolean,
  deleted boolean,
  related text[],
  front_matter text,
  path text,
  metadata jsonb,
  idempotency_key text,
  row_id uuid,
  outcome text,
  reason text,
  missing text[],
  links jsonb
);

comment on type memory.entry_to_import is
'An element of the import_entries argument: what is wrong with it, if anything, the keys that it '
'has, and their values, cleaned. NULL: not given, or without a value. Then what becomes of it: its '
'row, stored or new, the outcome, why, the related ids that name no entry, and the relation to '
'each entry that the row is linked to, by its id; guarded entries aside.';

commit;
