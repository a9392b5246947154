"""The pages of the dashboard without a browser: what they show, and that what they do is in SQL."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import psycopg
import pytest
from starlette.routing import compile_path

from pymem.ui.routes import PAGES, WRITES
from pymem.ui.viewer import ACTIONS
from tests.conftest import Database, Server, fresh_database
from tests.ui import Dashboard, Visitor, dashboard, text_of
from tests.ui_world import World, furnish


@pytest.fixture(scope="module")
def shared(
    server: Server, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Dashboard]:
    with (
        fresh_database(server, template) as database,
        dashboard(database, tmp_path_factory.mktemp("ui")) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def world(shared: Dashboard) -> World:
    """A tenant whose memory is only looked at."""
    return furnish(shared.database, "world")


@pytest.fixture(scope="module")
def looking(shared: Dashboard, world: World) -> Visitor:
    return shared.visitor("world")


@pytest.fixture
def tenant(own_tenant: str) -> str:
    return own_tenant


@pytest.fixture
def visitor(shared: Dashboard, tenant: str) -> Visitor:
    return shared.visitor(tenant)


class Sql:
    """What a tenant's memory says."""

    def __init__(self, database: Database, tenant: str) -> None:
        self._database = database
        self.tenant = tenant

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        return self._database.query(statement, *given, tenant=self.tenant)

    def value(self, statement: str, *given: Any) -> Any:
        return self._database.value(statement, *given, tenant=self.tenant)

    def fact(self, subject: str = "Ada", predicate: str = "drinks", content: str = "tea") -> str:
        return str(
            self.value("select memory.store_fact(%s, %s, %s)::text", subject, predicate, content)
        )

    def rule(self, content: str = "Offer tea") -> str:
        return str(self.value("select memory.store_rule(%s)::text", content))

    def memory(self, memory_type: str, memory_id: str) -> dict[str, Any]:
        found = self.value(
            "select memory.peek_memory(%s, %s::uuid) -> 'memory'", memory_type, memory_id
        )
        return dict(found)

    def state(self, memory_type: str, memory_id: str) -> str:
        return str(
            self.value(
                "select memory.peek_memory(%s, %s::uuid) ->> 'state'", memory_type, memory_id
            )
        )

    def last_event(self) -> tuple[str, str, str | None, str | None]:
        [row] = self.rows(
            "select event_type, actor, reason, request_id from memory.list_events(max_results => 1)"
        )
        return row


@pytest.fixture
def db(shared: Dashboard, tenant: str) -> Sql:
    return Sql(shared.database, tenant)


# What every page has


FILES = ("csv", "text", "export")
"""Of these addresses, those of files."""


def every_page(world: World) -> dict[str, str]:
    """An address for each page."""
    fact = world.facts["Mira", "favorite_tea"]
    rule = next(iter(world.rules.values()))
    episode = next(iter(world.episodes.values()))
    entry = next(iter(world.entries.values()))
    entity = world.entities["Mira Nowak"]
    other = world.entities["Thomas Zielinski"]
    return {
        "overview": "/",
        "facts": "/facts",
        "rules": "/rules",
        "episodes": "/episodes",
        "entries": "/entries",
        "fact": f"/m/fact/{fact}",
        "rule": f"/m/rule/{rule}",
        "episode": f"/m/episode/{episode}",
        "entry": f"/m/entry/{entry}",
        "versions": f"/m/fact/{fact}/chain",
        "edit": f"/m/fact/{fact}/edit",
        "edit-rule": f"/m/rule/{rule}/edit",
        "edit-entry": f"/m/entry/{entry}/edit",
        "text": f"/m/fact/{fact}/text",
        "new-fact": "/new/fact",
        "new-episode": "/new/episode",
        "search": "/search?q=tea",
        "search-empty": "/search",
        "context": "/context?prompt=Which+tea+does+Mira+like&butler=home&episodes=1&entries=1",
        "past": "/at",
        "past-then": "/at?known_at=2026-01-01&valid_at=2026-01-01",
        "entities": "/entities",
        "entity": f"/entities/{entity}?depth=2",
        "merge": f"/entities/merge?source={other}&target={world.entities['Tomasz Zielinski']}",
        "contradictions": "/contradictions",
        "review": "/review",
        "runs": "/runs",
        "run": f"/runs/{world.undoable_run_id}",
        "run-proposed": f"/runs/{world.run_id}",
        "events": "/events",
        "events-followed": "/events?follow=1",
        "undo": f"/events/{world.event_id}",
        "chain": "/chain",
        "doctor": "/doctor",
        "work": "/work",
        "settings": "/settings",
        "tokens": "/tokens",
        "erase": "/erase?subject=Tomasz",
        "transfer": "/transfer",
        "csv": "/facts.csv?state=any",
        "export": "/transfer/memory.jsonl",
        "help": "/help",
    }


def test_every_page_opens_whole(looking: Visitor, world: World) -> None:
    for name, path in every_page(world).items():
        answer = looking.get(path)
        page = answer.text
        if name not in FILES:
            assert page.count("<main") == page.count("</main>") == 1, name
            assert page.count("<h1") == 1, name
            assert "Not shown" not in page, (name, text_of(answer))
            assert "Not readable now" not in page, name
            # A dash stands for what is not known, never the word of a language.
            assert not re.search(r">\s*(None|nan|inf|undefined)\s*<", page), name


def test_looking_counts_nothing_and_changes_nothing(
    shared: Dashboard, looking: Visitor, world: World
) -> None:
    sql = Sql(shared.database, "world")
    counted = """select jsonb_object_agg(m.memory_type || m.id, m.reference_count)
                 from memory.searchable_memories as m where m.tenant_id = 'world'"""
    before = (
        sql.value(counted),
        sql.value("select count(*) from memory.memory_events where tenant_id = 'world'"),
    )
    for path in every_page(world).values():
        looking.get(path)
    after = (
        sql.value(counted),
        sql.value("select count(*) from memory.memory_events where tenant_id = 'world'"),
    )
    assert after == before


def test_every_page_is_among_those_that_are_tried(world: World) -> None:
    assert not unvisited(every_page(world).values())


def unvisited(addresses: Iterable[str]) -> set[str]:
    """Return the pages that none of some addresses leads to."""
    seen = set()
    for address in addresses:
        path = address.partition("?")[0]
        seen.add(next(page for page, _ in PAGES if compile_path(page)[0].fullmatch(path)))
    return {page for page, _ in PAGES} - seen


def test_every_page_and_form_has_a_way_in() -> None:
    paths = [path for path, _ in PAGES] + [path for path, _, _ in WRITES]
    assert all(path.startswith("/") for path in paths)
    assert {action for _, _, action in WRITES if action} <= ACTIONS.keys()


def test_a_part_that_fails_says_so_and_the_others_are_there(
    database: Database, tmp_path: Any
) -> None:
    world = furnish(database, "a")
    with dashboard(database, tmp_path) as running:
        visitor = running.visitor("a")
        database.query("alter function memory.memory_timeseries rename to gone_series")
        database.query("alter function memory.diagnose rename to gone_doctor")
        database.query("alter function memory.count_memories rename to gone_count")
        page = visitor.get("/")
        said = text_of(page)
        assert "facts are known" in said
        assert "Whether the doctor needs somebody is not known" in said
        assert "found no problem" not in said
        assert re.search(r"The last thirty days\s+! Not shown", said)
        assert "by mira" in said or "fact" in said
        said = text_of(visitor.get("/facts"))
        assert "not counted" in said
        assert "jasmine tea, brewed" in said
        database.query("alter function memory.list_memories rename to gone_list")
        said = text_of(visitor.get("/facts"))
        assert "Not shown" in said
        assert "Nothing is stored" not in said
        assert "No fact is known" not in said
        assert world


def test_a_part_that_takes_long_comes_when_it_is_there(
    shared: Dashboard, visitor: Visitor, db: Sql
) -> None:
    one, other = db.fact("Ada"), db.fact("Bob")
    db.rows(
        "select memory.create_link('fact', %s::uuid, 'fact', %s::uuid, 'contradicts')", one, other
    )
    with psycopg.connect(shared.database.superuser_url) as connection:
        connection.execute("lock table memory.memory_links")
        said = text_of(visitor.ask("GET", "/ui/contradictions"))
        assert "Still reading" in said
        assert "No two memories" not in said
        said = text_of(visitor.ask("GET", "/ui/"))
        assert "Nothing. The checks" not in said
    assert "1 pair" in text_of(visitor.get("/contradictions"))
    # What was just read is not shown after a change.
    visitor.done(f"/m/fact/{one}/forget")
    assert "1 pair" not in text_of(visitor.get("/contradictions"))


# Lists


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_a_fact_of_long_ago_has_its_pages(visitor: Visitor, db: Sql, zone: str) -> None:
    db.rows("select memory.configure(jsonb_build_object('time_zone', %s::text))", zone)
    fact = db.value(
        """select memory.store_fact(
             'Caesar', 'killed', 'by Brutus', valid_from => '0044-03-15 BC', valid_to => '12000-01-01'
           )::text"""
    )
    for path in (f"/m/fact/{fact}", f"/m/fact/{fact}/chain", f"/m/fact/{fact}/edit", "/facts"):
        assert "by Brutus" in text_of(visitor.get(path)), path


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("?q=JASMINE", {"favorite_tea"}),
        ("?subject=Rex", {"is", "medicine"}),
        ("?predicate=allergy", {"allergy"}),
        ("?tag=travel", {"plan"}),
        ("?tag=home,health", {"medicine"}),
        (
            "?state=superseded&subject=Mira",
            {"lives_in", "works_as", "favorite_tea", "running_goal"},
        ),
        ("?state=retracted", {"token"}),
        ("?scope=home", {"board_games"}),
        ("?permanence=permanent&q=Peanuts", {"allergy"}),
        ("?q=nothing+has+this", set()),
    ],
)
def test_facts_are_filtered(looking: Visitor, address: str, expected: set[str]) -> None:
    page = looking.get(f"/facts{address}")
    found = set(re.findall(r'class="predicate" dir="auto">([^<]*)<', page.text))
    if address == "?scope=home":
        assert expected <= found
    else:
        assert found == expected
    if not expected:
        assert "Nothing matches these filters" in text_of(page)


def test_a_filter_that_cannot_be_read_is_named(looking: Visitor) -> None:
    page = looking.get("/facts?from=yesterday&confidence=huge")
    assert "from is 'yesterday'" in text_of(page)
    assert "confidence is 'huge'" in text_of(page)


def test_addresses_leave_out_what_is_the_default(looking: Visitor) -> None:
    answer = looking.ask(
        "GET", "/ui/facts?q=&state=live&order=newest&confidence=any&tag=&nonsense=1"
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/ui/facts")
    answer = looking.ask("GET", "/ui/facts?q=tea&state=any&order=newest")
    assert answer.headers["location"] == "/ui/facts?q=tea&state=any"
    assert looking.ask("GET", "/ui/facts?q=tea&state=any").status_code == 200


def test_a_list_is_read_page_by_page_without_a_gap(
    shared: Dashboard, visitor: Visitor, db: Sql
) -> None:
    db.rows("select memory.store_fact('s', 'p' || n, 'c' || n) from generate_series(1, 120) as n")
    seen: list[str] = []
    path: str | None = "/ui/facts"
    pages = 0
    while path:
        answer = visitor.ask("GET", path)
        seen += re.findall(r"/ui/m/fact/([0-9a-f-]{36})\" class=\"key\"", answer.text)
        found = re.search(r'<a class="button" href="([^"]+)" rel="next"', answer.text)
        path = found[1].replace("&amp;", "&") if found else None
        pages += 1
    assert pages == 3
    assert len(seen) == len(set(seen)) == 120
    assert "120" in text_of(visitor.get("/facts"))


def test_a_file_for_spreadsheets_computes_nothing(visitor: Visitor, db: Sql) -> None:
    db.fact("=1+1", "@x", "-2\u202e")
    answer = visitor.get("/facts.csv?state=any")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="pymem-facts.csv"'
    [row] = csv.DictReader(io.StringIO(answer.text))
    assert (row["subject"], row["predicate"], row["content"]) == ("'=1+1", "'@x", "'-2⟦U+202E⟧")
    assert row["memory_type"] == "fact"


def test_a_long_text_is_there_whole(visitor: Visitor, db: Sql) -> None:
    text = " ".join(f"word{number}" for number in range(20_000))
    fact = db.fact(content=text)
    assert "all 188,889 characters" in text_of(visitor.get("/facts"))
    assert visitor.get(f"/m/fact/{fact}/text").text == text
    middling = " ".join(f"word{number}" for number in range(1_000))
    db.fact("Bob", content=middling)
    assert middling.split()[-1] in text_of(visitor.get("/facts"))


# One memory


def test_one_memory_says_where_it_comes_from(looking: Visitor, world: World) -> None:
    said = text_of(looking.get(f"/m/fact/{world.facts['Mira', 'favorite_tea']}"))
    assert "It replaced a fact Mira › favorite_tea: jasmine tea without milk" in said
    assert "It was derived from an episode Jasmine tea tastes bitter" in said
    assert "3 versions" in said
    said = text_of(looking.get(f"/m/rule/{next(iter(world.rules.values()))}"))
    assert "It was derived from a fact Mira › allergy: Peanuts" in said
    assert "Helped 17 times, harmed 0 times" in said


def test_versions_differ_by_words(looking: Visitor, world: World) -> None:
    page = looking.get(f"/m/fact/{world.facts['Mira', 'favorite_tea']}/chain").text
    assert "<del>without milk</del>" in page
    assert "<ins>, brewed for two minutes at 80 °C</ins>" in page
    assert page.count('class="diff-sign" aria-hidden="true">−') == 2


@pytest.mark.parametrize(
    "path",
    [
        "/m/fact/00000000-0000-0000-0000-000000000000",
        "/m/fact/nonsense",
        "/m/thing/00000000-0000-0000-0000-000000000000",
        "/m/fact/00000000-0000-0000-0000-000000000000/chain",
        "/entities/00000000-0000-0000-0000-000000000000",
        "/entities/nonsense",
        "/runs/00000000-0000-0000-0000-000000000000",
        "/runs/nonsense",
        "/nothing",
        "/static/../app.py",
        "/static/pymem.py",
    ],
)
def test_what_is_not_there_is_a_404(looking: Visitor, path: str) -> None:
    answer = looking.ask("GET", f"/ui{path}")
    assert answer.status_code == 404, text_of(answer)
    assert "Traceback" not in answer.text


def test_a_memory_of_another_tenant_is_not_there(shared: Dashboard, db: Sql) -> None:
    fact = db.fact(content="a secret of one tenant")
    other = shared.visitor("another tenant")
    answer = other.ask("GET", f"/ui/m/fact/{fact}")
    assert answer.status_code == 404
    assert other.send(f"/m/fact/{fact}/forget").status_code == 404
    assert "secret" not in other.get("/facts?state=any").text
    found = other.get("/search?q=secret").text.partition("<main")[2]
    assert "secret" not in found.replace('value="secret"', "")
    assert db.state("fact", fact) == "active"


# What is done, as SQL shows it, and undone


def test_confirming_starts_the_decay_anew_and_can_be_undone(visitor: Visitor, db: Sql) -> None:
    fact = db.value(
        "select memory.store_fact('Ada', 'drinks', 'tea', as_of => now() - interval '9 days')::text"
    )
    before = db.memory("fact", fact)["last_confirmed_at"]
    said = visitor.done(f"/m/fact/{fact}/confirm")
    assert "Confirmed: its decay starts anew." in said
    assert db.memory("fact", fact)["last_confirmed_at"] > before
    event, actor, reason, request_id = db.last_event()
    assert (event, actor, reason) == ("fact_confirmed", "mira", "ui.confirm")
    assert re.fullmatch(r"ui-[0-9a-f]{20}\.0", str(request_id))
    assert "Undone." in visitor.undo()
    assert db.memory("fact", fact)["last_confirmed_at"] == before


@pytest.mark.parametrize("memory_type", ["fact", "rule", "episode", "entry"])
def test_forgetting_is_undone(visitor: Visitor, db: Sql, memory_type: str) -> None:
    memory_id = {
        "fact": lambda: db.fact(),
        "rule": lambda: db.rule(),
        "episode": lambda: str(
            db.value("select memory.store_episode('They had tea', 'home')::text")
        ),
        "entry": lambda: str(db.value("select id::text from memory.create_entry('# Tea')")),
    }[memory_type]()
    before = db.state(memory_type, memory_id)
    assert "no search finds it any more" in visitor.done(f"/m/{memory_type}/{memory_id}/forget")
    assert db.state(memory_type, memory_id) in ("retracted", "expired", "forgotten")
    assert "Undone." in visitor.undo()
    assert db.state(memory_type, memory_id) == before
    visitor.done(f"/m/{memory_type}/{memory_id}/forget")
    assert "Restored." in visitor.done(f"/m/{memory_type}/{memory_id}/restore")
    assert db.state(memory_type, memory_id) == before


def test_several_are_forgotten_at_once_and_come_back_at_once(visitor: Visitor, db: Sql) -> None:
    facts = [db.fact(predicate=f"p{number}") for number in range(4)]
    said = visitor.done("/bulk", memory_type="fact", do="forget", id=facts[:3])
    assert "3 done" in said
    assert [db.state("fact", fact) for fact in facts] == ["retracted"] * 3 + ["active"]
    assert "3 done" in visitor.undo()
    assert [db.state("fact", fact) for fact in facts] == ["active"] * 4


def test_what_could_not_be_done_is_counted(visitor: Visitor, db: Sql) -> None:
    fact = db.fact()
    gone = db.fact(predicate="other")
    db.rows("select memory.forget_memory('fact', %s::uuid)", gone)
    said = visitor.done("/bulk", memory_type="fact", do="confirm", id=[fact, gone])
    assert "1 done, 1 could not be" in said
    answer = visitor.send("/bulk", memory_type="fact", do="confirm")
    assert answer.status_code == 422
    assert "Nothing is selected" in text_of(answer)


def test_editing_a_fact_replaces_it_and_can_be_undone(visitor: Visitor, db: Sql) -> None:
    fact = db.fact(content="black tea")
    page = visitor.get(f"/m/fact/{fact}/edit")
    assert "black tea</textarea>" in page.text
    visitor.done(
        f"/m/fact/{fact}/edit",
        content="green tea\r\nwithout milk",
        importance="7",
        confidence="0.9",
        permanence="stable",
        tags="food, home",
        valid_from="",
        valid_to="2100-01-01",
    )
    assert db.state("fact", fact) == "superseded"
    new = str(
        db.value("select id::text from memory.list_memories(types => '{fact}', subject => 'Ada')")
    )
    memory = db.memory("fact", new)
    assert memory["content"] == "green tea\nwithout milk"
    assert (memory["importance"], memory["confidence"], memory["permanence"]) == (7, 0.9, "stable")
    assert memory["tags"] == ["food", "home"]
    assert memory["supersedes_id"] == fact
    assert memory["valid_to"].startswith("2100-01-01")
    assert "Undone." in visitor.undo()
    assert db.state("fact", fact) == "active"
    assert db.state("fact", new) == "retracted"
    # Each says which of them is known.
    assert "What is known now" not in text_of(visitor.get(f"/m/fact/{fact}"))
    assert "What is known now: black tea" in text_of(visitor.get(f"/m/fact/{new}"))


def test_an_edited_fact_still_says_which_entity_it_is_about_and_relates(
    visitor: Visitor, db: Sql
) -> None:
    ada, bob = (
        str(db.value(f"select memory.entity_create('{name}', 'person')::text"))
        for name in ("Ada", "Bob")
    )
    fact = str(
        db.value(
            "select memory.store_fact('Ada', 'knows', 'Bob', "
            f"entity_id => '{ada}', object_entity_id => '{bob}')::text"
        )
    )
    visitor.done(
        f"/m/fact/{fact}/edit",
        content="Bob, from school",
        importance="5",
        permanence="standard",
        tags="",
    )
    new = str(
        db.value("select id::text from memory.list_memories(types => '{fact}', subject => 'Ada')")
    )
    memory = db.memory("fact", new)
    assert (memory["content"], memory["entity_id"], memory["object_entity_id"]) == (
        "Bob, from school",
        ada,
        bob,
    )


def test_hidden_characters_survive_an_edit_that_leaves_them(visitor: Visitor, db: Sql) -> None:
    text = "pay\u202efdp.exe\u200b ⟦U+202E⟧ end"
    fact = db.fact(content=text)
    page = visitor.get(f"/m/fact/{fact}/edit").text
    field = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page, re.S)
    assert field is not None
    assert "\u202e" not in page
    visitor.done(
        f"/m/fact/{fact}/edit",
        content=field[1] + "!",
        importance="5",
        permanence="standard",
        tags="",
    )
    assert (
        db.value("select content from memory.list_memories(types => '{fact}', subject => 'Ada')")
        == f"{text}!"
    )


def test_editing_an_entry_makes_a_version_of_it(visitor: Visitor, db: Sql) -> None:
    entry = str(db.value("select id::text from memory.create_entry('# Tea')"))
    visitor.done(
        f"/m/entry/{entry}/edit",
        content="# Tea\n\nGreen.",
        importance="5",
        tags="food",
        version="1",
    )
    memory = db.memory("entry", entry)
    assert (memory["content"], memory["version"]) == ("# Tea\n\nGreen.", 2)
    answer = visitor.send(
        f"/m/entry/{entry}/edit", content="# Late", importance="5", tags="", version="1"
    )
    assert answer.status_code == 409
    assert db.memory("entry", entry)["version"] == 2


def test_editing_a_rule_keeps_the_rule_before(visitor: Visitor, db: Sql) -> None:
    rule = db.rule("Offer tea")
    visitor.done(f"/m/rule/{rule}/edit", content="Offer tea or coffee", importance="5", tags="")
    assert db.state("rule", rule) in ("retracted", "forgotten")
    [(new,)] = db.rows("select id::text from memory.list_memories(types => '{rule}')")
    assert db.memory("rule", new)["content"] == "Offer tea or coffee"
    assert db.value("select relation from memory.get_links('rule', %s::uuid)", new) == "supersedes"
    visitor.undo()
    assert [
        row[0] for row in db.rows("select content from memory.list_memories(types => '{rule}')")
    ] == ["Offer tea"]


@pytest.mark.parametrize(
    ("memory_type", "fields"),
    [
        ("fact", {"subject": "Ada", "predicate": "drinks", "permanence": "stable", "tags": "a, b"}),
        ("rule", {"scope": "home"}),
        ("episode", {"butler": "home"}),
        ("entry", {"tags": "a"}),
    ],
)
def test_new_memories_are_stored_by_whoever_is_signed_in(
    visitor: Visitor, db: Sql, memory_type: str, fields: dict[str, str]
) -> None:
    visitor.get(f"/new/{memory_type}")
    said = visitor.done(f"/new/{memory_type}", content="Tea, please", **fields)
    assert "Stored." in said
    [(content, memory_id)] = db.rows(
        "select content, id::text from memory.list_memories(types => array[%s])", memory_type
    )
    assert content == "Tea, please"
    events = db.rows(
        "select actor, reason from memory.list_events(memory_id => %s::uuid)", memory_id
    )
    assert set(events) == {("mira", "ui.store")}
    visitor.undo()
    assert db.rows("select id from memory.list_memories(types => array[%s])", memory_type) == []


def test_an_empty_text_stores_nothing(visitor: Visitor, db: Sql) -> None:
    answer = visitor.send("/new/rule", content=" \r\n ")
    assert answer.status_code == 422
    assert "The text is empty" in text_of(answer)
    assert db.rows("select id from memory.list_memories()") == []


def test_outcomes_of_a_rule_are_counted_and_taken_back(visitor: Visitor, db: Sql) -> None:
    rule = db.rule()
    visitor.done(f"/m/rule/{rule}/mark_helpful")
    assert db.memory("rule", rule)["success_count"] == 1
    visitor.undo()
    assert db.memory("rule", rule)["success_count"] == 0
    visitor.done(f"/m/rule/{rule}/mark_harmful", reason="it was cold")
    assert db.memory("rule", rule)["harmful_count"] == 1
    assert db.memory("rule", rule)["metadata"]["harmful_reasons"] == ["it was cold"]
    assert "it was cold" in text_of(visitor.get(f"/m/rule/{rule}"))


def test_memories_are_linked_by_id_or_address(visitor: Visitor, db: Sql) -> None:
    fact, rule = db.fact(), db.rule()
    visitor.done(
        f"/m/rule/{rule}/link", target=f"http://x/ui/m/fact/{fact}", relation="derived_from"
    )
    [(source, target, relation)] = db.rows(
        "select source_id::text, target_id::text, relation from memory.get_links('rule', %s::uuid)",
        rule,
    )
    assert (source, target, relation) == (rule, fact, "derived_from")
    answer = visitor.send(f"/m/rule/{rule}/link", target=fact[:8], relation="supports")
    assert answer.status_code == 422
    assert "linked already" in text_of(answer)
    visitor.undo()
    assert db.rows("select relation from memory.get_links('rule', %s::uuid)", rule) == []


def test_an_earlier_version_becomes_the_known_one_again(visitor: Visitor, db: Sql) -> None:
    first = db.fact(content="black tea")
    second = db.fact(content="green tea")
    visitor.done(f"/m/fact/{first}/reinstate")
    assert db.state("fact", second) == "superseded"
    assert db.rows("select content from memory.list_memories(types => '{fact}')") == [
        ("black tea",)
    ]
    visitor.undo()
    assert db.rows("select content from memory.list_memories(types => '{fact}')") == [
        ("green tea",)
    ]


NO_UNDO = {
    "/bulk": "each of its actions is one of a memory, too",
    "/chain": "it changes no memory",
    "/entities": "an entity is merged into the right one",
    "/erase": "it says so before",
    "/events/{event_id}/undo": "it is one",
    "/runs/{run_id}/release": "the run has ended",
    "/runs/{run_id}/requeue": "what is learned is undone",
    "/runs/{run_id}/undo": "it is one; its episodes can be learned from again",
    "/tokens": "the token can be revoked on the page that shows it",
    "/tokens/revoke": "it says so before",
    "/transfer/undo": "it is one",
    "/undo": "it is one",
    "/work": "jobs do what is due",
}
"""Forms whose answer has no undo, and why."""


def test_every_write_answers_with_its_undo(shared: Dashboard, tenant: str, db: Sql) -> None:
    world = furnish(shared.database, tenant)
    visitor = shared.visitor(tenant)
    fact = world.facts["Mira", "favorite_tea"]
    # One that does not fade: what fades comes back active, to fade again.
    rule = world.rules["Set a lock timeout before every migration of the timetable service."]
    entry = next(iter(world.entries.values()))
    episode = next(iter(world.episodes.values()))
    earlier = db.value(
        "select h.id::text from memory.fact_history(%s::uuid) as h where h.position = 1", fact
    )
    inverted = db.value(
        "select id::text from memory.list_memories(types => '{rule}', maturities => '{anti_pattern}') limit 1"
    )
    thomas, tomasz = world.entities["Thomas Zielinski"], world.entities["Tomasz Zielinski"]
    [(one, other)] = db.rows(
        """select source_id::text, target_id::text from memory.list_contradictions()
           where kind = 'contradicts'"""
    )
    pair = {"first_type": "fact", "first_id": one, "second_type": "fact", "second_id": other}
    forgotten = world.facts["release bot", "token"]
    proposal = f"/review/{world.run_id}"
    edited = {"content": "says something else", "tags": "a, b", "importance": "7"}
    writes: list[tuple[str, dict[str, str]]] = [
        ("/new/fact", {"subject": "s", "predicate": "p", "content": "c", "permanence": "stable"}),
        # Replaces what is known.
        (
            "/new/fact",
            {
                "subject": "Mira",
                "predicate": "favorite_tea",
                "content": "mate",
                "permanence": "stable",
            },
        ),
        ("/new/rule", {"content": "Offer mate"}),
        ("/new/episode", {"content": "They had mate", "butler": "home"}),
        ("/new/entry", {"content": "# Mate"}),
        (f"/m/fact/{fact}/edit", {**edited, "permanence": "stable", "confidence": "0.5"}),
        (f"/m/rule/{rule}/edit", edited),
        (f"/m/entry/{entry}/edit", {**edited, "version": "1"}),
        (f"/m/fact/{fact}/link", {"target": entry, "relation": "supports"}),
        (f"/m/fact/{earlier}/reinstate", {}),
        (f"/m/fact/{fact}/confirm", {}),
        (f"/m/fact/{fact}/forget", {}),
        (f"/m/fact/{forgotten}/restore", {}),
        (f"/m/rule/{rule}/confirm", {}),
        (f"/m/rule/{rule}/forget", {}),
        (f"/m/rule/{rule}/mark_helpful", {}),
        (f"/m/rule/{rule}/mark_harmful", {"reason": "too hot"}),
        (f"/m/rule/{inverted}/revert_inversion", {}),
        (f"/m/episode/{episode}/forget", {}),
        (f"/m/entry/{entry}/confirm", {}),
        (f"/m/entry/{entry}/forget", {}),
        ("/entities/merge", {"source": thomas, "target": tomasz}),
        (f"/entities/{tomasz}/rename", {"canonical_name": "Tom", "aliases": "T"}),
        ("/contradictions", {"keep": "both", **pair}),
        ("/contradictions", {"keep": "first", **pair}),
        (f"{proposal}/amend", {"position": "0", "content": "says something else"}),
        (f"{proposal}/accept", {"position": "0"}),
        (f"{proposal}/reject", {"position": "0"}),
        (f"{proposal}/accept", {}),
        ("/settings", {"retrieval_limit": "7"}),
    ]
    first = min(
        row[0]
        for row in db.rows("select position from memory.preview_proposals(%s::uuid)", world.run_id)
    )
    tried = set()
    for path, fields in writes:
        given = {**fields, "position": str(first)} if "position" in fields else fields
        before = whole_memory(db)
        visitor.done(path, **given)
        tried.add(form_of(path))
        assert visitor.last_note[0], f"{path} offers no undo"
        assert whole_memory(db) != before, f"{path} did nothing"
        assert "Undone." in visitor.undo(), path
        after = whole_memory(db)
        for key in before.keys() | after.keys():
            assert after.get(key) == before.get(key), f"{path} came back otherwise: {key}"
    visitor.done("/entities/merge", source=thomas, target=tomasz)
    before = whole_memory(db)
    visitor.done(f"/entities/{thomas}/unmerge")
    visitor.undo()
    assert whole_memory(db) == before
    before = whole_memory(db)
    looked = upload(
        visitor,
        "new.jsonl",
        lines({"type": "fact", "subject": "Ada", "predicate": "drinks", "content": "tea"}),
    )
    sent = re.search(r'name="upload" value="([0-9a-f]+)"', looked.text)
    assert sent is not None
    visitor.done(
        "/transfer", do="import", upload=sent[1], format="", become="", scope="", source="user"
    )
    assert whole_memory(db) != before
    visitor.undo()
    assert whole_memory(db) == before
    tried |= {form_of(f"/entities/{thomas}/unmerge"), "/transfer"}
    assert {path for path, _, _ in WRITES} - tried == NO_UNDO.keys()


def form_of(address: str) -> str:
    """Return the path of the form that an address leads to."""
    return next(path for path, _, _ in WRITES if compile_path(path)[0].fullmatch(address))


def whole_memory(db: Sql) -> dict[str, Any]:
    """What the memory of a tenant says, apart from when it was changed."""
    return dict(
        db.rows(
            """
            select 'memory ' || m.memory_type || ' ' || m.id,
              to_jsonb(m) - '{updated_at,cursor,effective_confidence,fades_at,ends_at,version,edited_at}'::text[]
            from memory.list_memories(max_results => 1000) as m
            union all
            select 'proposal ' || p.run_id || ' ' || p.position, to_jsonb(p.status || p.content)
            from memory.consolidation_proposals as p where p.tenant_id = memory.current_tenant()
            union all
            select 'entity ' || e.id, to_jsonb(e) - '{updated_at,search_vector}'::text[]
            from memory.entities as e where e.tenant_id = memory.current_tenant()
            union all
            select 'pair ' || c.source_id || ' ' || c.target_id, to_jsonb(c.kind)
            from memory.list_contradictions() as c
            where c.kind <> 'proposal'
            union all
            -- What was taken back keeps its links, as it does when somebody forgets it.
            select 'link ' || l.source_id || ' ' || l.target_id, to_jsonb(l.relation)
            from memory.memory_links as l
            join memory.list_memories(max_results => 1000) as m on m.id = l.source_id
            where l.tenant_id = memory.current_tenant()
            union all
            select 'rule ' || r.id,
              jsonb_build_object('helped', r.success_count, 'harmed', r.harmful_count,
                'maturity', r.maturity, 'confirmed', r.last_confirmed_at)
            from memory.rules as r where r.tenant_id = memory.current_tenant()
              and r.lifecycle_state in ('active', 'fading')
            union all
            select 'setting ' || s.setting, s.value from memory.describe_settings() as s
            """
        )
    )


def test_an_undo_that_came_too_late_says_so(visitor: Visitor, db: Sql) -> None:
    fact = db.fact(content="black tea")
    visitor.done(
        f"/m/fact/{fact}/edit", content="green tea", importance="5", permanence="standard", tags=""
    )
    db.fact(content="white tea")
    note = visitor.last_note
    answer = visitor.send("/undo", request_id=note[1], parts=note[0])
    assert answer.status_code == 409
    assert db.rows("select content from memory.list_memories(types => '{fact}')") == [
        ("white tea",)
    ]


def test_nobody_undoes_what_is_not_in_the_audit(visitor: Visitor) -> None:
    answer = visitor.send("/undo", request_id="ui-" + "0" * 20, parts="1")
    assert answer.status_code == 404


# Search, context, time


def test_a_search_explains_itself(looking: Visitor) -> None:
    answer = looking.get("/search?q=Which+tea+does+Mira+like")
    said = text_of(answer)
    assert "jasmine tea, brewed for two minutes" in said
    assert "replaced by a newer one" in said
    assert answer.text.count('class="stacked"') >= 1
    assert "Parts of the score: relevance" in answer.text


def test_weights_are_tried_out_without_saving(shared: Dashboard, looking: Visitor) -> None:
    plain = looking.get("/search?q=tea")
    tried = looking.get(
        "/search?q=tea&weight_relevance=0&weight_importance=1&relevance_sharpness=1"
    )
    scores = [re.findall(r'class="score">([0-9.]+)<', each.text) for each in (plain, tried)]
    assert scores[0] != scores[1]
    assert "Nothing is saved" in text_of(tried)
    assert (
        Sql(shared.database, "world").value(
            "select weight_importance from memory.current_settings()"
        )
        == 0.3
    )


def test_a_context_is_shown_as_it_is(shared: Dashboard, looking: Visitor) -> None:
    answer = looking.get("/context?prompt=Which+tea+does+Mira+like&butler=home&budget=120")
    said = text_of(answer)
    text = Sql(shared.database, "world").value(
        "select memory.context('Which tea does Mira like', 'home', token_budget => 120)"
    )
    assert " ".join(text.split()) in said
    assert re.search(r"\d+ of 120 tokens", said)


def test_the_past_is_shown_as_it_was(looking: Visitor) -> None:
    answer = looking.ask("GET", "/ui/at?known_step=250&valid_step=500")
    assert re.fullmatch(
        r"/ui/at\?known_at=\d{4}-\d\d-\d\dT\d\d%3A\d\dZ", answer.headers["location"]
    )
    said = text_of(looking.get(answer.headers["location"].removeprefix("/ui")))
    assert "You look at the past." in said
    assert "Nothing can be changed here" in said
    said = text_of(looking.get("/at"))
    assert "You look at the past." not in said


# Review, contradictions, entities, runs


def test_proposals_are_accepted_changed_and_rejected(shared: Dashboard) -> None:
    world = furnish(shared.database, "review")
    sql = Sql(shared.database, "review")
    visitor = shared.visitor("review")
    page = visitor.get("/review")
    assert "3 proposals wait" in text_of(page)
    assert "<del>half</del>" in page.text
    assert "Rex&#39;s tablets upset his stomach" in page.text
    rows = {
        row[1]: row[0]
        for row in sql.rows(
            "select position, action from memory.preview_proposals(%s::uuid)", world.run_id
        )
    }
    base = f"/review/{world.run_id}"
    visitor.done(
        f"{base}/amend", position=str(rows["new_rule"]), content="Give Rex his tablets with food."
    )
    visitor.done(f"{base}/accept", position=str(rows["new_rule"]))
    assert sql.rows(
        "select content from memory.list_memories(types => '{rule}', content_contains => 'tablets')"
    ) == [("Give Rex his tablets with food.",)]
    visitor.done(f"{base}/reject", position=str(rows["new_fact"]))
    assert sql.rows("select id from memory.list_memories(predicate => 'knee')") == []
    assert "1 proposal waits" in text_of(visitor.get("/review"))
    visitor.done(f"{base}/accept")
    assert "a quarter of a tablet" in sql.value(
        "select content from memory.list_memories(subject => 'Rex', predicate => 'medicine')"
    )
    assert "nothing waits" in text_of(visitor.get("/review"))


def test_all_that_are_accepted_are_those_that_were_shown(
    shared: Dashboard, visitor: Visitor, db: Sql
) -> None:
    db.value("select memory.configure('{\"consolidation_review\": true}')")
    for butler in ("health", "home", "work"):
        episode = str(
            db.value("select memory.store_episode('They spoke of tea', %s)::text", butler)
        )
        [(run_id,)] = db.rows("select distinct run_id::text from memory.claim_episodes(%s)", butler)
        facts = [
            {"subject": f"{butler} {n}", "predicate": "p", "content": "c", "evidence": [episode]}
            for n in range(20)
        ]
        db.rows(
            "select memory.apply_consolidation(%s::uuid, %s::jsonb)",
            run_id,
            json.dumps({"new_facts": facts}),
        )
    page = visitor.get("/review")
    assert "60 proposals wait" in text_of(page)
    assert "and 10 more, which come next" in text_of(page)
    assert "Accept all 10" in text_of(page)
    [form] = [each for each in page.text.split("<form") if "Accept all 10" in each]
    [run_id] = re.findall(r"/review/([0-9a-f-]+)/accept", form)
    visitor.done(f"/review/{run_id}/accept", position=re.findall(r'"position" value="(\d+)"', form))
    assert db.value("select count(*) from memory.list_memories(types => '{fact}')") == 10
    visitor.undo()
    assert db.value("select count(*) from memory.list_memories(types => '{fact}')") == 0
    assert "60 proposals wait" in text_of(visitor.get("/review"))


def test_writers_review_where_the_setting_says_so(shared: Dashboard) -> None:
    world = furnish(shared.database, "writers")
    sql = Sql(shared.database, "writers")
    writer = shared.visitor("writers", "writer")
    assert writer.send(f"/review/{world.run_id}/reject").status_code == 403
    assert "/accept" not in writer.get("/review").text
    shared.visitor("writers").done("/settings", consolidation_reviewers="writers")
    writer = shared.visitor("writers", "writer")
    writer.done(f"/review/{world.run_id}/reject")
    assert sql.value("select count(*) from memory.preview_proposals()") == 0


def test_a_contradiction_is_decided(visitor: Visitor, db: Sql) -> None:
    def pair() -> tuple[str, str]:
        one = db.fact("Ada", "drinks", "tea")
        other = db.fact("Ada", "drinks coffee", "no tea")
        db.rows(
            "select memory.create_link('fact', %s::uuid, 'fact', %s::uuid, 'contradicts')",
            one,
            other,
        )
        return one, other

    one, other = pair()
    ends = {"first_type": "fact", "first_id": one, "second_type": "fact", "second_id": other}
    assert "1 pair" in text_of(visitor.get("/contradictions"))
    visitor.done("/contradictions", keep="both", **ends)
    assert "No two memories contradict each other" in text_of(visitor.get("/contradictions"))
    visitor.undo()
    assert "1 pair" in text_of(visitor.get("/contradictions"))
    visitor.done("/contradictions", keep="second", **ends)
    assert (db.state("fact", one), db.state("fact", other)) == ("retracted", "active")
    visitor.undo()
    assert db.state("fact", one) == "active"


def test_entities_are_created_renamed_merged_and_parted(visitor: Visitor, db: Sql) -> None:
    visitor.done(
        "/entities", canonical_name="Ada Lovelace", entity_type="person", aliases="Ada, Countess"
    )
    [(ada,)] = db.rows("select entity_id::text from memory.list_entities()")
    visitor.done(f"/entities/{ada}/rename", canonical_name="Ada King", aliases="Ada")
    assert db.rows("select canonical_name, aliases from memory.entity_get(%s::uuid)", ada) == [
        ("Ada King", ["Ada"])
    ]
    other = str(
        db.value(
            "select memory.entity_create(canonical_name => 'Adah King', entity_type => 'person')::text"
        )
    )
    db.rows("select memory.store_fact('x', 'drinks', 'tea', entity_id => %s::uuid)", other)
    page = visitor.get(f"/entities/merge?source={other}&target={ada}")
    assert "tea" in text_of(page)
    assert "moves" in text_of(page)
    visitor.done("/entities/merge", source=other, target=ada)
    assert db.value("select merged_into::text from memory.entity_get(%s::uuid)", other) == ada
    visitor.undo()
    assert db.value("select merged_into from memory.entity_get(%s::uuid)", other) is None
    visitor.done("/entities/merge", source=other, target=ada)
    visitor.done(f"/entities/{other}/unmerge")
    assert db.value("select merged_into from memory.entity_get(%s::uuid)", other) is None


def test_a_run_is_undone_and_its_episodes_learned_from_again(shared: Dashboard) -> None:
    world = furnish(shared.database, "runs")
    sql = Sql(shared.database, "runs")
    visitor = shared.visitor("runs", "worker")
    said = text_of(visitor.get(f"/runs/{world.undoable_run_id}"))
    assert "1 fact stored, from 3 episodes." in said
    assert "Mira and Jonas play board games" in said
    visitor.done(f"/runs/{world.undoable_run_id}/undo")
    assert sql.rows("select id from memory.list_memories(predicate => 'board_games')") == []
    visitor.done(f"/runs/{world.undoable_run_id}/requeue")
    assert (
        sql.value(
            "select count(*) from memory.list_due_consolidations() where butler = 'home' and waiting > 0"
        )
        == 1
    )


# Events, chain, work


def test_events_are_filtered_and_followed(shared: Dashboard, visitor: Visitor, db: Sql) -> None:
    fact = db.fact()
    visitor.done(f"/m/fact/{fact}/forget")
    _, _, _, request_id = db.last_event()
    assert "fact retracted" in text_of(visitor.get(f"/events?request_id={request_id}"))
    assert "fact created" not in text_of(visitor.get(f"/events?request_id={request_id}"))
    assert "fact created" not in text_of(visitor.get("/events?actor=mira"))
    assert "fact retracted" in text_of(visitor.get("/events?type=fact_retracted&of=fact"))
    followed = visitor.get("/events?follow=1").text
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in followed
    seq = db.value(
        "select max(seq) from memory.memory_events where tenant_id = current_setting('memory.tenant_id')"
    )
    db.fact("Bob")
    part = visitor.ask(
        "GET", f"/ui/events?follow=1&after_seq={seq}", headers={"hx-request": "true"}
    )
    assert "fact created" in text_of(part)
    assert "fact retracted" not in text_of(part)
    assert f"after_seq={seq + 1}" in part.text.replace("&amp;", "&") or "after_seq=" in part.text


def test_an_event_is_undone_from_the_audit(visitor: Visitor, db: Sql) -> None:
    fact = db.fact()
    db.rows("select memory.forget_memory('fact', %s::uuid)", fact)
    event = db.value("select id::text from memory.list_events(event_type => 'fact_retracted')")
    page = visitor.get(f"/events/{event}")
    assert "restore the fact" in text_of(page)
    visitor.done(f"/events/{event}/undo")
    assert db.state("fact", fact) == "active"
    assert "undone" in text_of(visitor.get(f"/events/{event}"))


def test_the_chain_is_verified_and_the_result_kept(visitor: Visitor, db: Sql) -> None:
    db.fact()
    db.rows("select memory.seal_events()")
    page = visitor.send("/chain")
    assert page.status_code == 200
    assert "Verified: no problem." in text_of(page)
    [(actor, problems)] = db.rows("select actor, problems from memory.list_verifications()")
    assert (actor, problems) == ("mira", 0)
    answer = visitor.send("/chain", anchor_position="1", anchor_hash="0" * 64)
    assert answer.status_code == 200
    assert "problem found" in text_of(answer) or "problems found" in text_of(answer)
    assert visitor.send("/chain", anchor_position="1", anchor_hash="zz").status_code == 422


def test_a_job_that_is_due_is_run(visitor: Visitor, db: Sql) -> None:
    db.fact()
    db.rows("select memory.find_due_jobs(as_of => now() - interval '3 days')")
    assert "Run now" in text_of(visitor.get("/work"))
    visitor.done("/work", job="run_decay_sweep")
    assert db.value(
        "select last_ran_at > now() - interval '1 minute' from memory.job_status() where job = 'run_decay_sweep'"
    )
    assert visitor.send("/work", job="run_decay_sweep").status_code == 422
    assert visitor.send("/work", job="drop_everything").status_code == 422


# Settings, tokens, erasing


def test_settings_are_changed_within_their_range(visitor: Visitor, db: Sql) -> None:
    page = visitor.get("/settings")
    assert "Weight of relevance in the composite score" in text_of(page)
    visitor.done(
        "/settings", weight_relevance="0.5", consolidation_review="true", ranking="calibrated"
    )
    assert db.rows(
        "select weight_relevance, consolidation_review from memory.current_settings()"
    ) == [(0.5, True)]
    assert "2 of" in text_of(visitor.get("/settings"))
    visitor.undo()
    assert db.rows(
        "select weight_relevance, consolidation_review from memory.current_settings()"
    ) == [(0.4, False)]
    visitor.done("/settings", weight_relevance="0.5")
    visitor.done("/settings", reset="weight_relevance")
    assert db.value("select weight_relevance from memory.current_settings()") == 0.4
    for fields in ({"weight_relevance": "7"}, {"weight_relevance": "x"}, {"ranking": "best"}):
        assert visitor.send("/settings", **fields).status_code == 422
    assert db.value("select weight_relevance from memory.current_settings()") == 0.4


def test_a_token_is_shown_once_and_revoked(visitor: Visitor, shared: Dashboard, db: Sql) -> None:
    answer = visitor.send("/tokens", name="laptop", role="reader", actor="", days="30")
    token = re.search(r"pymem_[0-9a-f]+_[0-9a-f]{64}", answer.text)
    assert token is not None
    assert token[0] not in visitor.get("/tokens").text
    guest = shared.stranger()
    assert guest.sign_in(token=token[0]).status_code == 303
    [token_id] = [
        row[0]
        for row in db.rows("select id::text from memory.list_access_tokens() where name = 'laptop'")
    ]
    visitor.done("/tokens/revoke", token_id=token_id)
    assert guest.ask("GET", "/ui/help").status_code == 303


def test_a_subject_is_erased_after_its_name_was_typed_again(visitor: Visitor, db: Sql) -> None:
    db.fact("Tomasz", "role", "importer")
    db.rule("Ask Tomasz")
    page = visitor.get("/erase?subject=Tomasz")
    assert "What would be erased" in text_of(page)
    answer = visitor.send("/erase", subject="Tomasz", mentions="yes", confirm="tomasz")
    assert answer.status_code == 422
    assert db.value("select count(*) from memory.list_memories()") == 2
    answer = visitor.send("/erase", subject="Tomasz", mentions="yes", confirm="Tomasz")
    assert answer.status_code == 200
    assert "Certificate" in text_of(answer)
    assert "finds the name nowhere any more" in text_of(answer)
    assert db.value("select count(*) from memory.list_memories()") == 0


# Import and export


def lines(*elements: dict[str, str]) -> bytes:
    return "\n".join(json.dumps(element) for element in elements).encode()


def upload(visitor: Visitor, name: str, content: bytes, **fields: str) -> Any:
    if not visitor.csrf:
        visitor.get("/help")
    data = {"csrf": visitor.csrf, "back": "/ui/transfer", "do": "preview", "source": "external"}
    return visitor.ask(
        "POST",
        "/ui/transfer",
        data=data | {"format": "", "become": "", "scope": ""} | fields,
        files={"file": (name, content)},
        headers={"origin": visitor.origin},
    )


def test_a_file_is_looked_into_then_imported_and_taken_back(
    shared: Dashboard, visitor: Visitor, db: Sql
) -> None:
    content = lines(
        {"type": "fact", "subject": "Ada", "predicate": "drinks", "content": "tea <b>\u202e"},
        {"type": "episode", "content": "They had tea", "butler": "home"},
    )
    looked = upload(visitor, "../../<b>memory.jsonl", content)
    assert looked.status_code == 200, text_of(looked)
    assert "Nothing is stored yet." in text_of(looked)
    assert "tea <b> ⟦U+202E⟧" in text_of(looked) or "tea <b>⟦U+202E⟧" in text_of(looked)
    assert db.rows("select id from memory.list_memories()") == []
    key = re.search(r'name="upload" value="([0-9a-f]+)"', looked.text)
    assert key is not None
    fields = {
        "do": "import",
        "upload": key[1],
        "format": "",
        "become": "",
        "scope": "",
        "source": "external",
    }
    # Another session does not get at it, even of the same tenant.
    stranger = shared.visitor(db.tenant)
    assert stranger.send("/transfer", **fields).status_code == 422
    assert "2 done" in visitor.done("/transfer", **fields)
    assert db.value("select count(*) from memory.list_memories()") == 2
    assert visitor.send("/transfer", **fields).status_code == 422
    [(batch,)] = db.rows("select id::text from memory.list_imports()")
    visitor.done("/transfer/undo", batch=batch)
    assert db.rows("select id from memory.list_memories()") == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.exe", b"MZ"),
        ("", b"x"),
        ("x.json", b"{"),
        ("x.zip", b"PK\x03\x04broken"),
        ("x.jsonl", b""),
    ],
)
def test_what_is_no_export_stores_nothing(
    visitor: Visitor, db: Sql, name: str, content: bytes
) -> None:
    answer = upload(visitor, name, content, do="import")
    assert answer.status_code in (400, 422), text_of(answer)
    assert "/tmp" not in text_of(answer)
    assert db.rows("select id from memory.list_memories()") == []


def test_an_export_holds_everything_and_is_restored(
    shared: Dashboard, visitor: Visitor, db: Sql
) -> None:
    fact = db.fact()
    answer = visitor.get("/transfer/memory.jsonl")
    assert re.fullmatch(
        r'attachment; filename="pymem-\d{4}-\d\d-\d\d.jsonl"', answer.headers["content-disposition"]
    )
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert fact in str([row for row in rows if row["type"] == "fact"])
    assert json.loads(visitor.get("/transfer/memory.pam").text)
    other = shared.visitor(f"{db.tenant} again")
    again = upload(other, "memory.jsonl", answer.content, do="import")
    assert again.status_code == 303, text_of(again)
    assert Sql(shared.database, f"{db.tenant} again").rows(
        "select id::text, content from memory.list_memories()"
    ) == [(fact, "tea")]
    # A writer may import, but not restore.
    writer = shared.visitor(f"{db.tenant} third", "writer")
    assert upload(writer, "memory.jsonl", answer.content, do="import").status_code == 403


# What pages load


def test_preferences_are_kept_in_the_browser(visitor: Visitor) -> None:
    visitor.done("/preferences", **{"pymem-theme": "dark"})
    assert 'data-theme="dark"' in visitor.get("/help").text
    visitor.done("/preferences", **{"pymem-keys": "off"})
    assert 'data-keys="off"' in visitor.get("/help").text
    visitor.send("/preferences", **{"pymem-theme": "<script>"})
    assert 'data-theme="dark"' in visitor.get("/help").text


def test_scripts_and_styles_come_from_here_and_are_kept(visitor: Visitor) -> None:
    page = visitor.get("/help").text
    loaded = re.findall(r'(?:src|href)="(/ui/static/[^"]+)"', page)
    assert {path.partition("?")[0].rpartition("/")[2] for path in loaded} == {
        "htmx.min.js",
        "icon.svg",
        "pymem.css",
        "pymem.js",
    }
    for path in loaded:
        answer = visitor.ask("GET", path)
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert "http://" not in re.sub(r"http://www.w3.org|http://127\.0\.0\.1", "", page)
    assert json.dumps(loaded)
