"""A memory leaves the database as a file and comes back as it was."""

from __future__ import annotations

import io
import json
import re
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pymem.errors import (
    ConflictError,
    InvalidArgumentError,
    InvalidTransitionError,
    TenantDeniedError,
)
from pymem.memory import Memory
from pymem.transfer.exporting import Selection, export_jsonl
from pymem.transfer.restoring import restore
from tests.conftest import ROOT, Database
from tests.leak_world import furnish

pytestmark = pytest.mark.anyio

KINDS = [
    "entity",
    "entity_merge",
    "episode",
    "fact",
    "entity_merge_fact",
    "rule",
    "rule_application",
    "entry",
    "entry_consolidation",
    "entry_merge",
    "entry_merge_member",
    "item",
    "link",
    "tombstone",
    "history",
    "event",
]


@pytest.fixture(scope="module")
def furnished(shared_database: Database) -> dict[str, str]:
    """Tenant a, with one of everything; and entries that were merged."""
    things = furnish(shared_database, "a", "quartzite", more=1)
    with psycopg.connect(shared_database.login("a"), autocommit=True) as connection:
        # What does not come along: a change of the model, and what waits for it.
        connection.execute("select memory.cancel_reembedding()")
        for text in ("The kettle leaks.", "the kettle  leaks."):
            connection.execute("select id from memory.create_entry(%s)", (text,))
        connection.execute("select run_id from memory.consolidate_entries()")
    return things


@pytest.fixture
async def memory(shared_database: Database, furnished: dict[str, str]) -> AsyncIterator[Memory]:
    async with await Memory.connect(shared_database.login("a")) as memory:
        yield memory


@pytest.fixture
async def other(shared_database: Database, own_tenant: str) -> AsyncIterator[Memory]:
    """An empty tenant."""
    async with await Memory.connect(
        shared_database.login(own_tenant, name="pymem_test_own")
    ) as memory:
        yield memory


async def exported(memory: Memory, selection: Selection | None = None) -> bytes:
    written = io.BytesIO()
    await export_jsonl(memory, written.write, selection or Selection(guarded=True))
    return written.getvalue()


def lines(export: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in export.splitlines()]


def rows(export: bytes, *kinds: str) -> list[dict[str, Any]]:
    return [line for line in lines(export) if line["type"] in kinds]


def rewritten(export: bytes, change: Callable[[list[dict[str, Any]]], Any]) -> io.BytesIO:
    """An export after somebody has edited it, with an end that fits."""
    edited: list[Any] = [*lines(export)]
    change(edited)
    end: dict[str, Any] = {"type": "end", "rows": {}}
    for line in edited[1:-1]:
        if not isinstance(line, dict):
            continue
        end["rows"][line["type"]] = end["rows"].get(line["type"], 0) + 1
    text = [json.dumps(line) for line in [*edited[:-1], end]]
    return io.BytesIO("\n".join(text).encode())


class TestRoundTrip:
    async def test_an_export_has_rows_of_every_kind(self, memory: Memory) -> None:
        export = lines(await exported(memory))
        assert [k for k in KINDS if k in {line["type"] for line in export}] == KINDS
        assert export[0]["type"] == "pymem_export"
        assert export[-1]["type"] == "end"
        # And, on request, of vectors.
        with_vectors = lines(await exported(memory, Selection(vectors=True)))
        assert {"embedding_version", "item_vector"} <= {line["type"] for line in with_vectors}

    async def test_every_row_is_restored_as_it_was(
        self, memory: Memory, other: Memory, own_tenant: str, shared_database: Database
    ) -> None:
        export = await exported(memory)
        report = await restore(other, io.BytesIO(export))
        assert not report.known.total()
        again = await exported(other)
        kinds = [kind for kind in KINDS if kind != "event"]
        assert rows(again, *kinds) == rows(export, *kinds)
        assert report.restored.total() == len(lines(export)) - 2

        def told(event: dict[str, Any]) -> dict[str, Any]:
            row = event["row"]
            origin = row["payload"].pop(
                "restored", {"login": row["login"], "created_at": row["created_at"]}
            )
            return {
                **{
                    k: row[k]
                    for k in (
                        "id",
                        "event_type",
                        "memory_type",
                        "memory_id",
                        "actor",
                        "request_id",
                        "reason",
                        "payload",
                    )
                },
                **{k: v for k, v in origin.items() if k != "batch_id"},
            }

        # In the order in which they came, by which histories are told.
        before = sorted(rows(export, "event"), key=lambda line: line["row"]["seq"])
        after = sorted(rows(again, "event"), key=lambda line: line["row"]["seq"])
        assert [told(event) for event in after] == [told(event) for event in before]

    async def test_recall_and_histories_are_the_same(
        self, memory: Memory, other: Memory, furnished: dict[str, str]
    ) -> None:
        await restore(other, io.BytesIO(await exported(memory)))
        await other.configure({"retrieval_limit": 8})
        as_of = datetime.now(UTC) + timedelta(minutes=1)
        types = ["episode", "fact", "rule", "entry"]
        for query in ("tea with quartzite", "Ada quartzite drinks", "kettle"):
            found = [
                await each.rank_memories(query, types=types, max_results=50, as_of=as_of)
                for each in (memory, other)
            ]
            assert found[0] == found[1]
            assert found[0]
        past = [
            await each.rank_memories("tea", known_at=as_of - timedelta(minutes=1), as_of=as_of)
            for each in (memory, other)
        ]
        assert past[0] == past[1]
        for kind in ("fact", "superseded", "retracted", "drink"):
            chains = [await each.fact_history(furnished[kind]) for each in (memory, other)]
            assert chains[0] == chains[1]
        assert chains[0][0].actor == "pymem_test_leak_a"
        [chain] = [await other.fact_history(furnished["superseded"])]
        assert chain[0].actor == "user:quartzite"
        things: tuple[tuple[Any, str], ...] = (
            *(("fact", name) for name in ("fact", "superseded", "retracted", "drink")),
            *(("rule", name) for name in ("rule", "forgotten", "warning")),
            *(("entry", name) for name in ("entry", "guarded")),
            *(("entity", name) for name in ("entity", "merged", "friend")),
            ("episode", "episode"),
        )
        for type_, thing in things:
            states = [await each.replay_memory(type_, furnished[thing]) for each in (memory, other)]
            assert states[0] == states[1]
            assert not [state.problem for state in states[1] if state.problem]

    async def test_the_restored_memory_verifies_and_lives_on(
        self, memory: Memory, other: Memory, furnished: dict[str, str]
    ) -> None:
        await restore(other, io.BytesIO(await exported(memory)), batch="moved")
        await other.seal_events()
        assert [p.detail for p in await other.verify_chain()] == []
        # Merges of entities and entries can be undone, rules marked, facts superseded.
        await other.entity_unmerge(furnished["merged"])
        await other.mark_helpful(furnished["rule"])
        await other.confirm_memory("fact", furnished["drink"])
        fact = await other.get_memory("fact", furnished["fact"])
        assert fact is not None
        newer = await other.store_fact(
            fact["subject"], fact["predicate"], "cocoa", scope=fact["scope"]
        )
        assert [each.id for each in await other.fact_history(newer)][-1] == newer
        entry = await other.create_entry("A new one.")
        assert entry.entry_id not in {
            line["row"]["entry_id"] for line in rows(await exported(memory), "entry")
        }
        await other.seal_events()
        assert [p.detail for p in await other.verify_chain()] == []

    async def test_events_of_a_restored_memory_say_so(
        self, memory: Memory, other: Memory, furnished: dict[str, str]
    ) -> None:
        started = datetime.now(UTC) - timedelta(seconds=5)
        await restore(other, io.BytesIO(await exported(memory)), batch="moved")
        [event] = await other.list_events(memory_id=furnished["rule"], event_type="rule_created")
        # Login and time are never what a client says.
        assert event.login == "pymem_test_own"
        assert event.created_at > started
        assert event.actor == "user:quartzite"
        assert event.payload["restored"]["login"] == "pymem_test_leak_a"
        [batch] = await other.list_imports()
        assert (batch.name, batch.format, batch.status) == ("moved", "pymem", "done")
        assert event.payload["restored"]["batch_id"] == str(batch.id)
        kinds = [
            e.event_type for e in await other.list_events(max_results=10000) if e.memory_id is None
        ]
        assert kinds == [
            "import_finished",
            "restore_started",
            "import_started",
            "tenant_login_created",
        ]

    async def test_vectors_come_along_if_the_model_is_the_same(
        self,
        memory: Memory,
        other: Memory,
        furnished: dict[str, str],
        shared_database: Database,
        own_tenant: str,
    ) -> None:
        export = await exported(memory, Selection(vectors=True, guarded=True))
        await restore(other, io.BytesIO(export))
        kinds = ("episode", "fact", "rule", "entry", "item_vector")
        again = await exported(other, Selection(vectors=True, guarded=True))
        [version] = rows(again, "embedding_version")

        def vectors(text: bytes) -> list[Any]:
            return [line["row"].get("embedding") for line in rows(text, *kinds)]

        assert vectors(again) == vectors(export)
        assert sum(v is not None for v in vectors(again)) >= 4
        assert version["row"]["model"] == furnished["model"]
        # The rest waits for the embedding worker.
        waiting = shared_database.value(
            "select count(*) from memory.embedding_queue where tenant_id = %s", own_tenant
        )
        assert waiting == sum(
            line["row"]["embedding"] is None
            for line in rows(again, "episode", "fact", "rule", "entry")
        )

    async def test_another_model_leaves_the_vectors_out(
        self, memory: Memory, other: Memory
    ) -> None:
        await other.register_embedding_version("another", "1")
        await restore(
            other, io.BytesIO(await exported(memory, Selection(vectors=True, guarded=True)))
        )
        again = await exported(other, Selection(vectors=True, guarded=True))
        assert {line["row"]["embedding"] for line in rows(again, "fact", "rule", "entry")} == {None}

    async def test_without_events_the_history_tells_what_happened(
        self, memory: Memory, other: Memory, furnished: dict[str, str]
    ) -> None:
        export = await exported(memory, Selection(guarded=True, events=False))
        assert not rows(export, "event")
        await restore(other, io.BytesIO(export))
        await other.seal_events()
        assert [p.detail for p in await other.verify_chain()] == []
        states = [
            await each.replay_memory("rule", furnished["warning"]) for each in (memory, other)
        ]
        assert [s.image for s in states[0]] == [s.image for s in states[1]]
        assert [s.problem for s in states[1]] == [None] * len(states[1])

    async def test_the_past_is_exported_as_it_was_known(
        self, memory: Memory, other: Memory, shared_database: Database
    ) -> None:
        async with await Memory.connect(shared_database.login("past")) as past:
            start = datetime(2026, 3, 1, tzinfo=UTC)
            days = [start + timedelta(days=n) for n in range(6)]
            tea = await past.store_fact("Ada", "drinks", "tea", as_of=days[0])
            rule = await past.store_rule("Warm the pot.", as_of=days[0])
            await past.confirm_memory("fact", tea, as_of=days[1])
            await past.store_fact("Ada", "drinks", "coffee", as_of=days[3])
            await past.forget_memory("rule", rule, as_of=days[3])
            export = await exported(past, Selection(as_of=days[2]))
            assert not rows(export, "event")
            [fact] = rows(export, "fact")
            assert (fact["row"]["id"], fact["row"]["validity"]) == (str(tea), "active")
            assert fact["row"]["last_confirmed_at"] == "2026-03-02T00:00:00+00:00"
            assert len(rows(export, "history")) == 1
            await restore(other, io.BytesIO(export))
            found = [
                [
                    (m.id, m.content, m.score)
                    for m in await each.rank_memories(
                        "Ada drinks", known_at=known_at, as_of=days[2]
                    )
                ]
                for each, known_at in ((past, days[2]), (other, None))
            ]
            assert [f[:2] for f in found[0]] == [f[:2] for f in found[1]]
            assert await other.get_memory("rule", rule, as_of=days[2]) is not None
            await other.seal_events()
            assert [p.detail for p in await other.verify_chain()] == []

    async def test_part_of_a_memory_is_restored_on_its_own(
        self, memory: Memory, other: Memory, furnished: dict[str, str]
    ) -> None:
        export = await exported(memory, Selection(types=["fact"], scope=furnished["scope"]))
        kinds = {line["type"] for line in lines(export)[1:-1]}
        # With the entities that its facts are about.
        assert kinds <= {"fact", "entity", "history", "event", "link"}
        assert {line["row"]["scope"] for line in rows(export, "fact")} <= {
            furnished["scope"],
            "global",
        }
        await restore(other, io.BytesIO(export))
        await other.seal_events()
        assert [p.detail for p in await other.verify_chain()] == []
        only = await exported(memory, Selection(types=["rule", "item"]))
        assert not rows(only, "fact", "entity", "episode", "entry", "link")
        assert rows(only, "item")


class TestRestoring:
    async def test_restoring_twice_changes_nothing(self, memory: Memory, other: Memory) -> None:
        export = await exported(memory)
        await restore(other, io.BytesIO(export))
        before = await exported(other)
        report = await restore(other, io.BytesIO(export))
        # Events count as known, too.
        assert report.restored.total() == 0
        assert lines(await exported(other))[1:] == lines(before)[1:]

    async def test_a_dry_run_leaves_nothing(self, memory: Memory, other: Memory) -> None:
        report = await restore(other, io.BytesIO(await exported(memory)), dry_run=True)
        assert report.restored["fact"] > 1
        assert lines(await exported(other))[-1] == {"type": "end", "rows": {}}
        assert await other.list_imports() == []

    async def test_ids_that_other_content_has_are_refused(
        self, memory: Memory, other: Memory, furnished: dict[str, str]
    ) -> None:
        export = await exported(memory)
        await restore(other, io.BytesIO(export))
        before = await exported(other)

        def edit(edited: list[dict[str, Any]]) -> None:
            for line in edited:
                if line.get("row", {}).get("id") == furnished["fact"]:
                    line["row"]["content"] = "poison"

        with pytest.raises(ConflictError, match="the memory has this fact with another content"):
            await restore(other, rewritten(export, edit))
        assert lines(await exported(other))[1:] == lines(before)[1:]

    async def test_a_key_that_another_fact_has_is_refused(
        self, memory: Memory, other: Memory, furnished: dict[str, str]
    ) -> None:
        await other.store_fact("more", "0", "something else")
        with pytest.raises(
            ConflictError, match=r"export, line \d+: the memory has another fact under"
        ):
            await restore(other, io.BytesIO(await exported(memory)), name="export")
        assert len(rows(await exported(other), "fact")) == 1

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda e: e.insert(3, "x"), "line 4: it is not a JSON object"),
            (lambda e: e.insert(3, {"type": "spell", "row": {}}), "line 4: it is 'spell'"),
            (lambda e: e[1].pop("row"), "line 2: it has no row"),
            (
                lambda e: e[1]["row"].update(color="red"),
                'line 2: it has the unknown column "color"',
            ),
            (lambda e: e[1]["row"].pop("id"), "line 2: it has no id|line 2: null value in column"),
            (lambda e: e[1]["row"].update(id="x"), "line 2: invalid input syntax for type uuid"),
            (lambda e: e[1]["row"].update(created_at="infinity"), "line 2: .*check constraint"),
            (lambda e: e[0].update(format=2), "format 2"),
            (lambda e: e[0].pop("events"), "not the first line"),
        ],
    )
    async def test_what_is_no_export_is_refused_and_named(
        self, memory: Memory, other: Memory, change: Callable[..., Any], message: str
    ) -> None:
        export = await exported(memory)
        with pytest.raises(InvalidArgumentError, match=message):
            await restore(other, rewritten(export, change), name="export")
        assert await other.list_imports() == []

    @pytest.mark.parametrize(
        ("spoil", "message"),
        [
            (lambda e: e[: len(e) // 2], "line \\d+: it is not JSON|cut off after line"),
            (
                lambda e: e[: e.rindex(b"\n", 0, -1) + 1],
                "cut off after line \\d+: its end is missing",
            ),
            (lambda e: e + b'{"type": "fact"}\n', "it follows the end"),
            (
                lambda e: b"\n".join(
                    line
                    for line in e.split(b"\n")
                    if not line.startswith(b'{"type": "rule_application"')
                ),
                "does not have the rows",
            ),
            (lambda e: e.replace(b"quartzite", b"\\u0000", 1), "line 1.*NUL|has the character NUL"),
            (lambda e: e.replace(b"quartzite", b"\\ud800", 1), "half a surrogate pair"),
            (lambda e: e.replace(b"quartzite", b"\xff", 1), "it is not JSON"),
            (
                lambda e: e.replace(b"\n", b"\n" + b"[" * 100_000 + b"\n", 1),
                "line 2: it is nested too deeply",
            ),
            (
                lambda e: e.replace(b"\n", b"\n" + b" " * (17 << 20) + b"\n", 1),
                "line 2: it is longer than 16 MiB",
            ),
            (
                lambda e: e.replace(b'"importance": 5', b'"importance": NaN', 1),
                "NaN is not a JSON number",
            ),
            (lambda e: e.replace(b'"importance": 5', b'"importance": 1e999', 1), "line \\d+: "),
        ],
    )
    async def test_a_spoiled_file_is_refused_and_named(
        self, memory: Memory, other: Memory, spoil: Callable[[bytes], bytes], message: str
    ) -> None:
        export = await exported(memory)
        with pytest.raises(InvalidArgumentError, match=message):
            await restore(other, io.BytesIO(spoil(export)), name="export")
        assert await other.list_imports() == []
        assert lines(await exported(other))[-1] == {"type": "end", "rows": {}}

    @pytest.mark.parametrize(
        ("kind", "change", "message"),
        [
            # A state, a history or an event that somebody has changed.
            ("fact", {"confidence": 0.1}, "contradicts itself: fact .*: it differs from the state"),
            ("fact", {"validity": "expired"}, "contradicts itself: fact"),
            (
                "history",
                {"image": {"confidence": 1}},
                "contradicts itself: .*: its history was changed",
            ),
            ("link", {"relation": "supports"}, "contradicts itself: .*its link"),
            ("event", {"event_type": "erased"}, "no event of the type 'erased'"),
            ("event", {"memory_type": "access_token"}, "no event of the type"),
            (
                "tombstone",
                {"memory_id": "00000000-0000-0000-0000-000000000001"},
                "contradicts itself|its link",
            ),
        ],
    )
    async def test_an_export_that_was_tampered_with_is_refused(
        self,
        memory: Memory,
        other: Memory,
        furnished: dict[str, str],
        kind: str,
        change: dict[str, Any],
        message: str,
    ) -> None:
        def edit(edited: list[dict[str, Any]]) -> None:
            for line in edited:
                row = line.get("row", {})
                if line["type"] == kind and (
                    kind in ("tombstone", "event")
                    or row.get("relation") == "derived_from"
                    or row.get("id") == furnished["superseded"]
                    or (
                        row.get("memory_id") == furnished["warning"]
                        and "needs_inversion" in row["image"]["metadata"]
                    )
                ):
                    row.update(change)
                    return
            raise AssertionError("nothing to change")

        with pytest.raises(InvalidArgumentError, match=message):
            await restore(other, rewritten(await exported(memory), edit), name="export")
        assert await other.list_imports() == []

    async def test_a_row_that_refers_to_nothing_is_refused(
        self, memory: Memory, other: Memory
    ) -> None:
        def forget_entities(edited: list[dict[str, Any]]) -> None:
            edited[:] = [line for line in edited if line["type"] != "entity"]

        def forget_facts(edited: list[dict[str, Any]]) -> None:
            edited[:] = [
                line
                for line in edited
                if line["type"] != "fact" or line["row"]["supersedes_id"] is not None
            ]

        export = await exported(memory)
        for change in (forget_entities, forget_facts):
            with pytest.raises(
                InvalidArgumentError, match=r"refers to what neither|superseded one that"
            ):
                await restore(other, rewritten(export, change))


async def test_the_program_about_import_and_export_moves_a_memory(
    memory: Memory, other: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [program] = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / "import-export.md").read_text(), re.S
    )
    names: dict[str, Any] = {}
    exec(program, names)
    monkeypatch.chdir(tmp_path)
    await names["move"](memory, other)
    assert rows(await exported(other), "fact") == rows(await exported(memory), "fact")


class TestRights:
    async def test_a_reader_exports_without_guarded_entries_and_restores_nothing(
        self, shared_database: Database, memory: Memory
    ) -> None:
        url = shared_database.login("a", name="pymem_test_reads", roles="memory_reader")
        async with await Memory.connect(url) as reader:
            export = await exported(reader, Selection())
            assert len(rows(export, "fact")) == len(rows(await exported(memory), "fact"))
            assert not [r for r in rows(export, "entry") if r["row"]["policy"] == "billy"]
            guarded = {
                r["row"]["id"]
                for r in rows(await exported(memory), "entry")
                if r["row"]["policy"] == "billy"
            }
            assert guarded
            assert not [i for i in guarded if i.encode() in export]
            with pytest.raises(TenantDeniedError):
                await exported(reader, Selection(guarded=True))
            with pytest.raises(TenantDeniedError):
                await restore(reader, io.BytesIO(export))

    async def test_an_export_without_guarded_entries_is_whole(
        self, memory: Memory, other: Memory
    ) -> None:
        await restore(other, io.BytesIO(await exported(memory, Selection())))
        await other.seal_events()
        assert [p.detail for p in await other.verify_chain()] == []

    async def test_a_restore_that_is_not_finished_cannot_be_committed(
        self, memory: Memory, other: Memory
    ) -> None:
        async def begin(line: str) -> None:
            async with other.transaction() as together:
                await together.start_restore(json.loads(header))
                await together.restore_rows([line])

        header, fact = (await exported(memory)).split(b"\n")[0], None
        for line in (await exported(memory)).split(b"\n"):
            if line.startswith(b'{"type": "episode"'):
                fact = line.decode()
        assert fact is not None
        with pytest.raises(InvalidTransitionError, match="is not finished"):
            await begin(fact)
        with pytest.raises(InvalidTransitionError, match="no restore has begun"):
            await other.restore_rows([fact])
        with pytest.raises(InvalidTransitionError, match="is not finished"):
            await other.start_restore(json.loads(header))

    async def test_a_client_cannot_write_past_the_audit(
        self, other: Memory, shared_database: Database, own_login: str
    ) -> None:
        with psycopg.connect(own_login, autocommit=True) as connection:
            connection.execute("select set_config('memory.restoring', 'on', false)")
            connection.execute("select memory.store_fact('Ada', 'drinks', 'tea')")
        assert [e.event_type for e in await other.list_events()] == [
            "fact_created",
            "tenant_login_created",
        ]

    async def test_one_snapshot_is_exported(
        self, other: Memory, shared_database: Database, own_login: str
    ) -> None:
        await other.store_fact("Ada", "drinks", "tea")
        written = io.BytesIO()
        stored: list[object] = []

        def write(data: bytes) -> None:
            if not stored:
                with psycopg.connect(own_login, autocommit=True) as connection:
                    stored.append(connection.execute("select memory.store_rule('Warm the pot.')"))
            written.write(data)

        await export_jsonl(other, write)
        assert not rows(written.getvalue(), "rule")
        assert rows(await exported(other), "rule")
