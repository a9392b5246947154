"""The documentation says what the database says."""

from __future__ import annotations

import re

from tests.conftest import ROOT, Database

# Heading of a diagram in docs/lifecycle.md, and the edges that it draws.
DIAGRAMS = {
    "Episodes": ("episode", "lifecycle_state"),
    "Facts": ("fact", "lifecycle_state"),
    "Rules": ("rule", "lifecycle_state"),
    "Maturity of rules": ("rule", "maturity"),
    "Entities": ("entity", "lifecycle_state"),
}


def test_the_state_diagrams_draw_the_declared_transitions(database: Database) -> None:
    text = (ROOT / "docs" / "lifecycle.md").read_text()
    drawn = [
        (*DIAGRAMS[heading], *edge)
        for heading, diagram in re.findall(
            r"^### ([^\n]+)\n\n```mermaid\nstateDiagram-v2\n(.*?)^```$", text, re.M | re.S
        )
        for edge in re.findall(r"^  (\S+) --> (\S+): (\S+)$", diagram, re.M)
    ]

    declared = database.query(
        "select memory_type, aspect, from_state, to_state, event_type from memory.transitions"
    )
    assert sorted(drawn) == sorted(declared)
    # Nothing in the diagrams but edges.
    assert len(drawn) == text.count(" --> ")


def test_every_setting_is_documented(database: Database) -> None:
    text = (ROOT / "docs" / "configuration.md").read_text()
    documented = re.findall(r"^\| `(\w+)` \| `[\w.]+` \|", text, re.M)

    settings = database.value("select to_jsonb(memory.default_settings('a')) - 'tenant_id'")
    assert sorted(documented) == sorted(settings)


def test_the_roles_are_documented(database: Database) -> None:
    text = (ROOT / "docs" / "security.md").read_text()
    table = re.findall(r"^\| `(memory_\w+)` \|.*\|([^|]*)\|$", text, re.M)

    roles = database.query(r"select rolname from pg_roles where rolname like 'memory\_%%'")
    assert sorted(role for role, _ in table) == sorted(role for (role,) in roles)
    for role, views in table:
        granted = database.query(
            """select c.relname::text from pg_class as c
               cross join lateral aclexplode(c.relacl) as a
               where c.relnamespace = 'memory'::regnamespace and c.relkind = 'v'
                 and a.grantee = to_regrole(%s) and a.grantee not in (
                   'memory_owner'::regrole, 'memory_search'::regrole
                 )""",
            role,
        )
        assert sorted(re.findall(r"`(\w+)`", views)) == sorted(view for (view,) in granted), role
