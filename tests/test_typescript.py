"""The TypeScript client: its types are those of the document, and it works against a server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from generator.typescript import write_types
from pymem.rest.openapi import describe
from tests.conftest import ROOT, Database
from tests.test_mcp_http import make_token, serving

CLIENT = ROOT / "clients" / "typescript"
MISSING = ROOT / ".build" / "node.missing"
PINNED = CLIENT / "node_modules" / ".bin" / "tsc"
# That of npm, or else of the distribution.
TSC = PINNED if PINNED.exists() else Path(shutil.which("tsc") or PINNED)

needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not TSC.exists(),
    reason=MISSING.read_text().strip() if MISSING.exists() else "scripts/node-packages has not run",
)


def run(*command: str | Path, **arguments: Any) -> str:
    done = subprocess.run(
        command,
        cwd=arguments.pop("cwd", CLIENT),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
        **arguments,
    )
    assert done.returncode == 0, done.stdout
    return str(done.stdout)


@pytest.fixture(scope="module")
def built() -> Path:
    shutil.rmtree(CLIENT / "dist", ignore_errors=True)
    run(TSC)
    return CLIENT / "dist"


def test_its_types_are_up_to_date() -> None:
    present = (CLIENT / "src" / "schema.ts").read_text()
    assert present == write_types(describe()), "run make generate"


def test_it_is_small_and_needs_nothing() -> None:
    client = (CLIENT / "src" / "index.ts").read_text()
    assert len(client.splitlines()) < 300
    assert set(re.findall(r'from "([^"]+)"', client)) == {"./schema.js"}
    assert '"dependencies"' not in (CLIENT / "package.json").read_text()


@needs_node
def test_it_works_against_a_server(built: Path, database: Database, tmp_path: Path) -> None:
    program = tmp_path / "program.mjs"
    [documented] = re.findall(
        r"^```js\n(.*?)^```$", (CLIENT / "README.md").read_text(), re.M | re.S
    )
    program.write_text(documented.replace('"pymem-client"', f'"{built / "index.js"}"'))
    with serving(database.login(None), tmp_path) as running:
        env = {
            **os.environ,
            "PYMEM_URL": running.origin,
            "PYMEM_TOKEN": make_token(database, "a"),
        }
        run("node", "--test", "test/client.test.mjs", env=env)
        printed = run("node", program, env=env).splitlines()
    stored, found = printed[0].split()
    assert len(stored) == 36
    assert int(found) >= 1
    assert printed[1].startswith("404 ")


MISTAKES = {
    "an unknown tool": 'client.call("memory_serch", {query: "tea"});',
    "a missing argument": 'client.call("memory_search");',
    "an unknown argument": 'client.call("memory_search", {query: "tea", scpoe: "*"});',
    "a wrong type": 'client.call("memory_search", {query: 1});',
    "an unknown word": 'client.call("memory_get", {memory_type: "note", memory_id: "x"});',
    "a key that is not kept": (
        'client.call("memory_search", {query: "tea"}, {idempotencyKey: "k"});'
    ),
}
RIGHT = """\
import {PymemClient} from "pymem-client";
export const client = new PymemClient({url: "http://localhost", token: "t"});
void client.call("memory_stats");
void client.call("memory_search", {query: "tea"}, {timeout: 5});
void client.call("memory_store_rule", {content: "Offer tea"}, {idempotencyKey: "k"});
"""


@needs_node
def test_the_compiler_finds_mistakes(built: Path, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"type": "module"}')
    built_types = os.path.relpath(built / "index.js", tmp_path)
    settings = json.loads((CLIENT / "tsconfig.json").read_text())["compilerOptions"]
    del settings["rootDir"], settings["outDir"]
    (tmp_path / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": {**settings, "noEmit": True}, "include": ["calls.ts"]})
    )
    calls = tmp_path / "calls.ts"
    right = RIGHT.replace("pymem-client", built_types)
    calls.write_text(right)
    run(TSC, cwd=tmp_path)
    calls.write_text(right + "\n".join(MISTAKES.values()))
    failed = subprocess.run(
        [TSC],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
    )
    wrong = {int(line) for line in re.findall(r"calls\.ts\((\d+),", failed.stdout)}
    first = len(RIGHT.splitlines()) + 1
    assert wrong == set(range(first, first + len(MISTAKES))), failed.stdout
