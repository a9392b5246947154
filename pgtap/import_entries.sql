begin;
\ir fixtures.sql
select plan(1);

create table memory_test.r as
select i.* from memory.import_entries('[
  {"entry_id": "mem-2026-02-10-007", "content": "# Seven\n\nText", "type": "preference", "tags": ["a", " b  c ", "a"],
   "confidence": 0.9, "created_at": "2026-02-10T10:00:00Z", "updated_at": "2026-02-11T10:00:00Z", "related": ["mem-2026-02-10-009", "mem-2026-02-10-099"], "access_count": 3, "version": 4, "source": "interaction"},
  {"content": "new", "created_at": "2026-02-10"},
  {"entry_id": "mem-2026-02-10-009", "content": "nine", "front_matter": "", "path": "a/b.md"},
  {"entry_id": "mem-2026-02-10-009", "content": "nine again"},
  {"content": 5}, 7, {"content": "x", "confidence": 2}, {"content": "x", "type": "bogus"}, {"content": "x", "expires_at": "tomorrow"}
]', as_of => '2026-03-01Z') as i;
select * from memory_test.r;
select e.entry_id, e.metadata, e.tags, e.version, e.edited_at, e.trust,e.confidence from memory.entries e order by 1;
select * from memory.export_entries();
select i.* from memory.import_entries('[
  {"entry_id": "mem-2026-02-10-007", "content": "# Seven\n\nText", "type": "preference", "tags": ["a", " b  c ", "a"],
   "confidence": 0.9, "created_at": "2026-02-10T10:00:00Z", "updated_at": "2026-02-11T10:00:00Z", "related": ["mem-2026-02-10-009", "mem-2026-02-10-099"], "access_count": 3, "version": 4, "source": "interaction"},
  {"entry_id": "mem-2026-02-10-009", "content": "nine!", "front_matter": "", "path": "a/b.md", "base_version": 1}
]', as_of => '2026-03-02Z') as i;
select ok(true);
select * from finish();
rollback;
