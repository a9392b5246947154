"""The documentation says what the database says."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

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


@pytest.mark.parametrize("path", ["README.md", "docs/mcp.md"])
def test_configuration_to_copy_can_be_read(path: str) -> None:
    text = (ROOT / path).read_text()
    blocks = re.findall(r"^```(json|toml)\n(.*?)^```$", text, re.M | re.S)
    assert blocks
    for language, block in blocks:
        parsed = json.loads(block) if language == "json" else tomllib.loads(block)
        [servers] = [
            parsed[key]
            for key in ("mcpServers", "servers", "context_servers", "mcp_servers")
            if key in parsed
        ]
        [server] = servers.values()
        # Either it is started, or it is reached by a token.
        if "command" not in server:
            assert {server[key] for key in ("url", "serverUrl", "httpUrl") if key in server} == {
                "https://memory.example.org/mcp"
            }
            token = server.get("bearer_token_env_var") or server["headers"]["Authorization"]
            assert token == "PYMEM_TOKEN" or re.match(r"Bearer (\$|pymem_)", token)
        elif server["command"] == "pymem":
            assert server["args"] == ["mcp"]
