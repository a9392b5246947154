"""The commands for entities, against the real database.

They run within this process, which saves starting one for each; test_cli has them as processes.
"""

from __future__ import annotations

import os
import pty
import subprocess
from uuid import UUID, uuid4

import pytest
from click.testing import CliRunner

from pymem.cli import main
from tests import forked
from tests.conftest import Database
from tests.test_cli import Run, parsed

COMMANDS = ("create", "show", "update", "resolve", "merge", "unmerge", "neighbors")
UNKNOWN = "00000000-0000-0000-0000-000000000000"


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pymem without loading the embedding model."""
    result = CliRunner().invoke(
        main, arguments, prog_name="pymem", env={"COLUMNS": "120", "PYMEM_NO_EMBEDDINGS": "1"}
    )
    return subprocess.CompletedProcess(arguments, result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def pymem(database: Database) -> Run:
    """Run pymem against the database."""
    url = database.login("a")

    def run(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = command("--database-url", url, *arguments)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def made(pymem: Run, name: str, kind: str = "person", *options: str) -> str:
    """Make an entity and return its id."""
    printed: str = pymem("entity", "create", name, "--type", kind, *options).stdout.strip()
    return str(UUID(printed))


def know(
    database: Database, about: str, predicate: str, content: str, *, object_id: str | None = None
) -> None:
    """Store a fact about an entity."""
    database.query(
        "select memory.store_fact('x', %s, %s, entity_id => %s, object_entity_id => %s)",
        *(predicate, content, about, object_id),
    )


def words(text: str) -> str:
    """Return a table as its words, wherever their lines break."""
    return " ".join(text.split())


def test_an_entity_is_made_and_shown(pymem: Run, database: Database) -> None:
    ada = made(
        *(pymem, "Ada  Lovelace", "person", "--alias", "Ada", "--alias", "Countess of [Lovelace]"),
        *("--metadata", '{"born": 1815}'),
    )
    know(database, ada, "lives in", "London")

    table = words(pymem("entity", "show", ada).stdout)
    shown = parsed(pymem("entity", "show", ada, "--json"))
    made_by_program = parsed(
        pymem(
            "entity", "create", "Ockham Park", "--type", "place", "--json", "--as-of", "2026-01-01"
        )
    )
    place = parsed(pymem("entity", "show", made_by_program["entity_id"], "--json"))

    for text in (
        f"id {ada}",
        "canonical_name Ada Lovelace",
        'aliases ["Ada", "Countess of [Lovelace]"]',
        'metadata {"born": 1815}',
        "lifecycle_state active",
        "active_facts 1",
    ):
        assert text in table
    assert (shown["aliases"], shown["merged_into"]) == (["Ada", "Countess of [Lovelace]"], None)
    assert (place["entity_type"], place["aliases"], place["metadata"]) == ("place", [], {})
    assert place["created_at"].startswith("2026-01-01T00:00:00")


def test_a_fact_is_about_an_entity_and_names_another(pymem: Run) -> None:
    ada, park = made(pymem, "Ada King"), made(pymem, "East Horsley", "place")
    fact = pymem(
        *("store", "fact", "the countess", "lives at", "East Horsley Towers"),
        *("--entity", ada, "--object-entity", park),
    ).stdout.strip()

    stored = parsed(pymem("get", "fact", fact, "--json"))
    [around] = parsed(pymem("entity", "neighbors", ada, "--json"))
    unknown = pymem("store", "fact", "x", "y", "z", "--entity", UNKNOWN, code=1)

    assert stored["entity_id"] == ada
    assert around["entity_id"] == park
    assert UNKNOWN in unknown.stderr


def test_the_history_of_an_entity_is_shown(pymem: Run) -> None:
    ada = made(pymem, "Ada Noel", "person", "--as-of", "2026-01-01")
    pymem("entity", "update", ada, "--name", "Ada Noel-Byron", "--as-of", "2026-02-01")

    states = parsed(pymem("history", "entity", ada, "--json"))["states"]
    unknown = pymem("history", "entity", UNKNOWN, code=1)

    assert [state["image"]["canonical_name"] for state in states] == ["Ada Noel", "Ada Noel-Byron"]
    assert "pymem entity resolve" in unknown.stderr


def test_what_is_not_said_stays(pymem: Run) -> None:
    ada = made(
        *(pymem, "Ada Byron", "person", "--alias", "Ada", "--alias", "A. B."),
        *("--metadata", '{"born": 1815, "title": "Miss"}'),
    )

    def after(*options: str) -> tuple[str, list[str], dict[str, object]]:
        assert pymem("entity", "update", ada, *options).stdout == "updated\n"
        shown = parsed(pymem("entity", "show", ada, "--json"))
        return shown["canonical_name"], shown["aliases"], shown["metadata"]

    assert after("--name", "Ada Lovelace", "--metadata", '{"title": "Countess"}') == (
        "Ada Lovelace",
        ["Ada", "A. B."],
        {"born": 1815, "title": "Countess"},
    )
    assert after("--alias", "Ada", "--alias", "Ada Byron")[:2] == (
        "Ada Lovelace",
        ["Ada", "Ada Byron"],
    )
    assert after("--no-aliases")[:2] == ("Ada Lovelace", [])
    assert parsed(pymem("entity", "update", ada, "--alias", "A. L.", "--json")) == {
        "entity_id": ada,
        "updated": True,
    }


def test_a_name_is_resolved(pymem: Run, database: Database) -> None:
    lovelace = made(pymem, "Ada Lovelace", "person", "--alias", "Countess [of] Lovelace")
    ada = made(pymem, "Ada", "place")
    know(database, lovelace, "writes about", "the analytical engine of Babbage")

    table = words(pymem("entity", "resolve", "ada").stdout)
    found = parsed(pymem("entity", "resolve", "ada", "--json"))
    people = parsed(pymem("entity", "resolve", "ada", "--type", "person", "--json"))
    first = parsed(pymem("entity", "resolve", "ada", "--limit", "1", "--json"))

    def score(*options: str) -> float:
        [row] = parsed(pymem("entity", "resolve", "lovelace", *options, "--json"))
        return float(row["score"])

    assert "1 place: Ada exact 100.00" in table
    assert "2 person: Ada Lovelace prefix 50.00 also Countess [of] Lovelace" in table
    assert ada in table
    assert lovelace in table
    assert [(row["entity_id"], row["name_match"], row["score"]) for row in found] == [
        (ada, "exact", 100),
        (lovelace, "prefix", 50),
    ]
    assert [row["entity_id"] for row in people] == [lovelace]
    assert [row["entity_id"] for row in first] == [ada]
    assert 50 == score() < score("--topic", "engine") < score("--topic", "analytical engine")
    assert score("--mentioned-with", "Charles", "--mentioned-with", "Babbage") > 50


def test_a_misspelt_name_is_found_if_that_is_wanted(pymem: Run) -> None:
    ada = made(pymem, "Ada Lovelace")

    nothing = pymem("entity", "resolve", "Ada Lovelcae", "--type", "person")
    as_json = pymem("entity", "resolve", "Ada Lovelcae", "--json")
    fuzzy = parsed(pymem("entity", "resolve", "Ada Lovelcae", "--fuzzy", "--json"))
    still_nothing = pymem("entity", "resolve", "Grace Hopper", "--fuzzy")

    assert nothing.stdout == "no entity matches\n"
    assert nothing.stderr == (
        "hint: Try another name, --fuzzy, no --type, or create one with `pymem entity create`.\n"
    )
    assert parsed(as_json) == []
    assert "--fuzzy, or create one" in as_json.stderr
    assert [(row["entity_id"], row["name_match"]) for row in fuzzy] == [(ada, "fuzzy")]
    assert "--fuzzy" not in still_nothing.stderr


def test_entities_are_merged_and_unmerged(pymem: Run, database: Database) -> None:
    bob = made(pymem, "Bob", "person", "--alias", "Bobby")
    robert = made(pymem, "Robert Smith")
    acme = made(pymem, "Acme", "organization")
    know(database, bob, "likes", "tea")
    know(database, bob, "phone", "ends in 12")
    know(database, robert, "phone", "ends in 97")
    know(database, acme, "employs", "Bob", object_id=bob)

    merged = pymem("entity", "merge", bob, robert).stdout
    tombstone = parsed(pymem("entity", "show", bob, "--json"))
    shown = words(pymem("entity", "show", bob).stdout)
    names = parsed(pymem("entity", "show", robert, "--json"))["aliases"]
    found = parsed(pymem("entity", "resolve", "bobby", "--json"))
    twice = pymem("entity", "merge", bob, robert, code=1)
    changed = pymem("entity", "update", bob, "--name", "Bobby", code=1)
    around = pymem("entity", "neighbors", bob)
    around_json = pymem("entity", "neighbors", bob, "--json")
    unmerged = pymem("entity", "unmerge", bob).stdout
    back = parsed(pymem("entity", "show", bob, "--json"))
    again = pymem("entity", "unmerge", bob, code=1)

    assert merged == (
        "merged: facts moved 1, superseded 1, of the past 0; mentions moved 1; aliases taken over 1\n"
    )
    assert (tombstone["lifecycle_state"], tombstone["merged_into"]) == ("merged", robert)
    assert f"lifecycle_state merged merged_into {robert}" in shown
    assert names == ["Bobby", "Bob"]
    assert [(row["entity_id"], row["name_match"]) for row in found] == [(robert, "alias")]
    assert f"was already merged into {robert} [PM004]" in twice.stderr
    assert f"was merged into {robert} [PM003]" in changed.stderr
    assert "hint: Change the entity it was merged into." in changed.stderr
    assert around.stdout == "no neighbors\n"
    assert f"hint: It was merged into entity {robert}: use that one." in around.stderr
    assert parsed(around_json) == []
    assert unmerged == (
        f"unmerged from {robert}: facts returned 2, active again 1, kept 0; mentions returned 1; "
        "names removed 2\n"
    )
    assert (back["lifecycle_state"], back["active_facts"]) == ("active", 2)
    assert "is not merged into another one [PM004]" in again.stderr


def test_merges_are_told_to_programs(pymem: Run) -> None:
    bob, robert = made(pymem, "Bob"), made(pymem, "Robert")

    merged = parsed(pymem("entity", "merge", bob, robert, "--json"))
    unmerged = parsed(pymem("entity", "unmerge", bob, "--json"))

    assert merged == {
        "source_entity_id": bob,
        "target_entity_id": robert,
        "merge_id": unmerged["merge_id"],
        "facts_repointed": 0,
        "facts_superseded": 0,
        "historical_facts_moved": 0,
        "mentions_repointed": 0,
        "aliases_added": 0,
    }
    assert unmerged == {
        "entity_id": bob,
        "target_entity_id": robert,
        "merge_id": merged["merge_id"],
        "facts_returned": 0,
        "facts_reactivated": 0,
        "facts_kept": 0,
        "mentions_returned": 0,
        "aliases_removed": 1,
    }


def test_the_neighbors_of_an_entity_are_shown(pymem: Run, database: Database) -> None:
    ada = made(pymem, "Ada")
    charles = made(pymem, "Charles [Babbage]")
    london = made(pymem, "London", "place")
    alone = made(pymem, "Nobody")
    know(database, ada, "works with [him]", "Charles", object_id=charles)
    know(database, charles, "lives in", "London", object_id=london)

    near = words(pymem("entity", "neighbors", ada).stdout)
    far = words(pymem("entity", "neighbors", ada, "--depth", "2").stdout)
    back = parsed(pymem("entity", "neighbors", london, "--json"))
    nearest = parsed(pymem("entity", "neighbors", ada, "--depth", "2", "--limit", "1", "--json"))
    none = pymem("entity", "neighbors", alone)

    assert "1 1 person: Charles [Babbage] 1 → works with [him]" in near
    assert charles in near
    assert "London" not in near
    assert "2 2 place: London 1 1 → lives in" in far
    [row] = back
    assert (row["entity_id"], row["depth"], row["via_entity_id"], row["direction"]) == (
        *(charles, 1, london),
        "incoming",
    )
    assert [row["entity_id"] for row in nearest] == [charles]
    assert (none.stdout, none.stderr) == ("no neighbors\n", "")


def test_a_name_is_taken_once(pymem: Run) -> None:
    ada = made(pymem, "Ada")
    other = made(pymem, "Ada Lovelace")
    made(pymem, "Ada", "place")

    created = pymem("entity", "create", "Ada", "--type", "person", code=1)
    renamed = pymem("entity", "update", other, "--name", "Ada", code=1)

    for done, name in ((created, "NAME"), (renamed, "--name")):
        assert done.stdout == ""
        assert done.stderr == (
            f"error: person 'Ada' already exists: entity {ada} [PM004]\n"
            f"hint: Use this entity, or choose another {name} to tell the two apart.\n"
        )


def test_another_tenant_sees_no_entity(pymem: Run, database: Database) -> None:
    ada, grace = made(pymem, "Ada"), made(pymem, "Grace")
    know(database, ada, "knows", "Grace", object_id=grace)

    def other(*arguments: str) -> subprocess.CompletedProcess[str]:
        return command("--database-url", database.login("b"), "entity", *arguments)

    for arguments in (
        ("show", ada),
        ("update", ada, "--name", "Eve"),
        ("merge", ada, grace),
        ("unmerge", ada),
        ("neighbors", ada),
    ):
        done = other(*arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"no entity has id {ada} [PM001]" in done.stderr
    assert other("resolve", "Ada", "--fuzzy").stdout == "no entity matches\n"
    namesake = other("create", "Ada", "--type", "person")
    assert namesake.returncode == 0
    assert namesake.stdout.strip() != ada
    assert [row["entity_id"] for row in parsed(pymem("entity", "resolve", "Ada", "--json"))] == [
        ada
    ]
    assert parsed(pymem("entity", "show", ada, "--json"))["canonical_name"] == "Ada"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("create", "Ada"), 2, "--type"),
        (("create", "Ada", "--type", "dragon"), 2, "dragon"),
        (("create", " ", "--type", "person"), 1, "NAME is empty"),
        (("create", "Ada", "--type", "person", "--alias", ""), 1, "alias 1 is empty"),
        (("create", "Ada", "--type", "person", "--metadata", "[1]"), 1, "not a JSON object"),
        (("create", "Ada", "--type", "person", "--as-of", "9998-01-01"), 1, "lies in the future"),
        (("show", "abc"), 1, "abc"),
        (("show", UNKNOWN), 1, f"no entity has id {UNKNOWN}"),
        (("update", UNKNOWN), 2, "nothing to change"),
        (("update", UNKNOWN, "--alias", "A", "--no-aliases"), 2, "contradicts --alias"),
        (("update", UNKNOWN, "--name", "Ada"), 1, "`pymem entity resolve`"),
        (("update", UNKNOWN, "--name", ""), 1, "--name is empty"),
        (("update", UNKNOWN, "--metadata", "{oops"), 1, "--metadata is not JSON"),
        (("resolve", ""), 1, "name is empty"),
        (("resolve", "Ada", "--type", "dragon"), 2, "dragon"),
        (("resolve", "Ada", "--limit", "0"), 1, "--limit is 0"),
        (("merge", UNKNOWN, str(uuid4())), 1, f"no entity has id {UNKNOWN}"),
        (("merge", UNKNOWN, UNKNOWN), 1, "cannot be merged into itself"),
        (("unmerge", UNKNOWN), 1, f"no entity has id {UNKNOWN}"),
        (("neighbors", UNKNOWN), 1, f"no entity has id {UNKNOWN}"),
        (("neighbors", UNKNOWN, "--depth", "6"), 1, "--depth is 6"),
        (("neighbors", UNKNOWN, "--limit", "0"), 1, "--limit is 0"),
    ],
)
def test_mistakes_get_one_line_and_an_exit_code(
    pymem: Run,
    arguments: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    done = pymem("entity", *arguments, code=code)

    assert done.stdout == ""
    assert message in done.stderr
    if code == 1:
        assert len(done.stderr.strip().splitlines()) <= 2


def on_a_terminal(*arguments: str, columns: int) -> str:
    """Return what pymem prints on a terminal of so many columns."""
    master, slave = pty.openpty()
    with os.fdopen(master, "rb", buffering=0) as screen:
        env = {**os.environ, "COLUMNS": str(columns), "TERM": "dumb"}
        with open(os.devnull, "rb") as nothing:
            process = forked.Command(arguments, env, (nothing.fileno(), slave, 2))
        os.close(slave)
        printed = b""
        try:
            while read := screen.read(4096):
                printed += read
        except OSError:  # how Linux says that the other end is closed
            pass
    assert process.wait(60) == 0
    return printed.decode()


def test_ids_stay_whole_on_a_narrow_terminal(pymem: Run, database: Database) -> None:
    names = [" ".join(["Ada"] * 40), " ".join(["Charles"] * 40)]
    ada, charles = (made(pymem, name, "person", "--alias", f"{name}!") for name in names)
    know(database, ada, " ".join(["works with"] * 9), "x", object_id=charles)

    for arguments, shown in (
        (("show", ada), ada),
        (("resolve", "ada"), ada),
        (("neighbors", ada), charles),
    ):
        printed = on_a_terminal(
            "--database-url", database.login("a"), "entity", *arguments, columns=80
        )
        assert shown in printed
        assert max(len(line) for line in printed.splitlines()) <= 80


def test_every_command_has_help() -> None:
    listed = command("entity", "--help").stdout
    for name in COMMANDS:
        [line] = [line for line in listed.splitlines() if line.startswith(f"  {name} ")]
        assert not line.endswith("...")
        assert command("entity", name, "--help").returncode == 0


def test_entities_are_listed_and_duplicates_found_and_previewed(
    pymem: Run, database: Database
) -> None:
    charles = made(pymem, "Charles Babbage", "person", "--alias", "Charlie")
    babbage = made(pymem, "Babbage")
    made(pymem, "Berlin", "place")
    know(database, babbage, "likes", "engines")
    know(database, babbage, "born in", "London")
    know(database, charles, "likes", "numbers")

    everything = parsed(pymem("entity", "list", "--json"))
    named = parsed(pymem("entity", "list", "charlie", "--type", "person", "--json"))
    page = parsed(pymem("entity", "list", "--after", everything[0]["cursor"], "--json"))
    shown = pymem("entity", "list", "babb").stdout
    [pair] = parsed(pymem("entity", "duplicates", "--json"))
    table = pymem("entity", "duplicates").stdout
    preview = pymem("entity", "preview", charles[:8], babbage[:8]).stdout
    changes = parsed(pymem("entity", "preview", charles, babbage, "--json"))

    assert [row["canonical_name"] for row in everything] == ["Babbage", "Berlin", "Charles Babbage"]
    assert [row["entity_id"] for row in named] == [charles]
    assert [row["canonical_name"] for row in page] == ["Berlin", "Charles Babbage"]
    assert "Charles Babbage (Charlie)\tperson\t1\t0" in shown
    assert (pair["source_entity_id"], pair["target_entity_id"]) == (charles, babbage)
    assert "part of a name\tCharles Babbage (1 facts)\tBabbage (2 facts)" in table
    assert "superseded\t[likes]: numbers (by: engines)" in preview
    assert [row["change"] for row in changes] == ["alias", "alias", "superseded"]
    assert pymem("entity", "list", "--merged").stdout == "no entities\n"
    pymem("entity", "merge", charles, babbage)
    assert pymem("entity", "list", "--merged").stdout.count(f"→ {babbage}") == 1
    assert pymem("entity", "duplicates").stdout == "no entities seem to be the same\n"
    assert "was already merged" in pymem("entity", "preview", charles, babbage, code=1).stderr


def test_a_contradiction_is_dismissed_and_reopened(pymem: Run, database: Database) -> None:
    green = database.value("select memory.store_fact('Ada', 'favorite color', 'green')")
    blue = database.value("select memory.store_fact('Ada', 'favoriteColor', 'blue')")

    assert "near_duplicate" in pymem("contradictions").stdout
    assert pymem("dismiss", "fact", str(green), "fact", str(blue)).stdout == "dismissed\n"
    assert pymem("contradictions").stdout == "no contradictions\n"
    assert pymem("dismiss", "fact", str(blue), "fact", str(green)).stdout == "nothing changed\n"
    assert (
        pymem("dismiss", "fact", str(blue), "fact", str(green), "--reopen").stdout == "reopened\n"
    )
    assert "near_duplicate" in pymem("contradictions").stdout
