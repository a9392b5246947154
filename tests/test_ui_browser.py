"""The dashboard in a real browser: with a script and without, on a phone and on a desk."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import psycopg
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from pymem.ui.shown import visible
from tests import hostile_texts
from tests.browsers import DESKTOP, PHONE, PICTURES, Watched, chromium, needs_browser, signed_in
from tests.conftest import Server, fresh_database
from tests.test_mcp_http import make_token, revoke
from tests.test_ui_pages import FILES, Sql, every_page, unvisited
from tests.ui import Dashboard, Visitor, dashboard
from tests.ui_world import World, furnish

pytestmark = needs_browser

AXE = Axe()
expect.set_options(timeout=15_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


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
    return furnish(shared.database, "world")


@pytest.fixture
def tenant(own_tenant: str) -> str:
    return own_tenant


@pytest.fixture
def db(shared: Dashboard, tenant: str) -> Sql:
    return Sql(shared.database, tenant)


@pytest.fixture
def visitor(shared: Dashboard, tenant: str) -> Visitor:
    return shared.visitor(tenant)


@pytest.fixture(params=[True, False], ids=["with a script", "without a script"])
def window(request: pytest.FixtureRequest, browser: Browser, visitor: Visitor) -> Iterator[Watched]:
    context, watched = signed_in(browser, visitor, java_script_enabled=request.param)
    yield watched
    assert watched.said == []
    context.close()


@pytest.fixture
def scripted(browser: Browser, visitor: Visitor) -> Iterator[Watched]:
    context, watched = signed_in(browser, visitor)
    yield watched
    assert watched.said == []
    context.close()


# Every page


def overflow(page: Page) -> Any:
    """What is wider than the window, apart from what scrolls by itself."""
    return page.evaluate(
        """() => document.scrollingElement.scrollWidth > innerWidth + 1
             ? [...document.querySelectorAll('main *')]
                 .filter(each => each.getBoundingClientRect().right > innerWidth + 1)
                 .slice(0, 5).map(each => each.outerHTML.slice(0, 200))
             : []"""
    )


SMALL = """() => [...document.querySelectorAll('main button, main select, main input, main a.button')]
  .filter(each => each.checkVisibility({opacityProperty: true, visibilityProperty: true})
    && each.type !== 'hidden' && !each.closest('label.check, .is-small') && each.type !== 'range'
    && each.getBoundingClientRect().height > 0
    && each.getBoundingClientRect().height < 43.5)
  .map(each => each.outerHTML.slice(0, 160))"""


MOVING = """() => [...document.querySelectorAll('*')]
  .filter(each => {
    const style = getComputedStyle(each);
    return style.animationName !== 'none' || /[1-9]/.test(style.transitionDuration)
      || style.scrollBehavior === 'smooth';
  })
  .slice(0, 3).map(each => each.outerHTML.slice(0, 160))"""


@pytest.mark.parametrize("look", ["light", "dark"])
def test_every_page_is_quiet_accessible_and_fits(
    shared: Dashboard, world: World, browser: Browser, look: str
) -> None:
    is_phone = look == "dark"
    context, watched = signed_in(
        browser,
        shared.visitor("world"),
        viewport=PHONE if is_phone else DESKTOP,
        color_scheme=look,
        has_touch=is_phone,
        is_mobile=is_phone,
        reduced_motion="reduce",
    )
    PICTURES.mkdir(parents=True, exist_ok=True)
    problems: dict[str, Any] = {}
    for name, path in every_page(world).items():
        if name in FILES:
            continue
        page = watched.open(path)
        # What takes long is there, too.
        expect(page.locator(".late")).to_have_count(0)
        found = AXE.run(page).response["violations"]
        problems[name] = [
            (each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found
        ]
        problems[f"{name}: too wide"] = overflow(page)
        problems[f"{name}: moves"] = page.evaluate(MOVING)
        if is_phone:
            problems[f"{name}: small"] = page.evaluate(SMALL)
        if is_phone:
            page.screenshot(path=PICTURES / f"{name}-phone.png")
        else:
            page.screenshot(path=PICTURES / f"{name}-light.png")
            page.emulate_media(color_scheme="dark")
            page.screenshot(path=PICTURES / f"{name}-dark.png")
            page.emulate_media(color_scheme="light")
    context.close()
    assert {name: found for name, found in problems.items() if found} == {}


def test_every_page_is_there_without_a_script(
    shared: Dashboard, world: World, browser: Browser
) -> None:
    context, watched = signed_in(
        browser, shared.visitor("world"), viewport=PHONE, java_script_enabled=False
    )
    for name, path in every_page(world).items():
        if name in FILES:
            continue
        page = watched.open(path)
        expect(page.locator("main h1")).to_have_count(1)
        for _ in range(20):
            again = page.get_by_role("link", name="Look again")
            if not again.count():
                break
            again.first.click()
        assert page.get_by_role("link", name="Look again").count() == 0, name
        # Buttons that only a script can press are not there.
        for button in page.locator("main button").all():
            assert not button.is_visible() or button.get_attribute("type") != "button", name
    page = watched.open("/facts")
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Rules", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Rules")
    context.close()


def test_pages_that_say_no_are_accessible_too(
    shared: Dashboard, world: World, browser: Browser
) -> None:
    context, watched = signed_in(browser, shared.visitor("world", "reader"))
    page = watched.page
    for name, path in (
        ("not-here", "/nothing"),
        ("not-allowed", "/tokens"),
        ("login", "/login"),
    ):
        page.goto(f"{shared.origin}/ui{path}")
        found = AXE.run(page).response["violations"]
        assert [each["id"] for each in found] == [], name
        page.screenshot(path=PICTURES / f"{name}-light.png")
    context.close()


# Signing in


@pytest.mark.parametrize("has_script", [True, False])
def test_the_link_signs_in_with_and_without_a_script(
    shared: Dashboard, tenant: str, browser: Browser, has_script: bool
) -> None:
    code = shared.database.value(
        "select c.login_code from memory.create_login_code('admin') as c", tenant=tenant
    )
    context = browser.new_context(java_script_enabled=has_script)
    page = context.new_page()
    page.goto(f"{shared.origin}/ui/login?code={code}&next=/ui/facts")
    if not has_script:
        page.get_by_role("button", name="Open the memory").click()
    page.wait_for_url("**/ui/facts")
    [cookie] = [each for each in context.cookies() if each["name"].startswith("__Host-pymem")]
    assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (True, True, "Strict")
    assert page.evaluate("document.cookie") == "" if has_script else True
    context.close()


def test_a_token_signs_in_and_its_end_signs_out(
    shared: Dashboard, tenant: str, browser: Browser
) -> None:
    token = make_token(shared.database, tenant, "writer")
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{shared.origin}/ui/rules?state=any")
    page.get_by_label("Access token").fill("pymem_61_" + "0" * 64)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not valid")
    page.get_by_label("Access token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/ui/rules?state=any")
    revoke(shared.database, token, tenant)
    page.get_by_role("link", name="Facts", exact=True).click()
    expect(page.get_by_label("Access token")).to_be_visible()
    context.close()


def test_two_tenants_in_two_browsers_never_meet(shared: Dashboard, browser: Browser) -> None:
    windows = {}
    for tenant in ("left", "right"):
        Sql(shared.database, tenant).fact("Ada", "secret", f"the word of {tenant}")
        windows[tenant] = signed_in(browser, shared.visitor(tenant))
    for _ in range(3):
        for tenant, (_, watched) in windows.items():
            other = "right" if tenant == "left" else "left"
            for path in ("/facts", "/search?q=word", "/events", "/"):
                text = watched.open(path).content()
                assert f"word of {other}" not in text
            assert f"the word of {tenant}" in watched.open("/facts").content()
    facts = {
        tenant: Sql(shared.database, tenant).value("select id::text from memory.list_memories()")
        for tenant in windows
    }
    answer = windows["left"][1].page.goto(f"{shared.origin}/ui/m/fact/{facts['right']}")
    assert answer is not None
    assert answer.status == 404
    for context, _ in windows.values():
        context.close()


# Acting, with a script and without


def test_a_fact_is_forgotten_and_comes_back(window: Watched, db: Sql) -> None:
    fact, other = db.fact("Ada", "drinks", "tea"), db.fact("Bob", "drinks", "beer")
    page = window.open("/facts")
    page.get_by_role("button", name="Forget Ada").click()
    expect(page.locator("#note")).to_contain_text("Forgotten")
    assert (db.state("fact", fact), db.state("fact", other)) == ("retracted", "active")
    expect(page.get_by_role("button", name="Forget Ada")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#note")).to_contain_text("Undone.")
    assert db.state("fact", fact) == "active"
    expect(page.get_by_role("button", name="Forget Ada")).to_be_visible()


def test_several_are_chosen_and_forgotten(window: Watched, db: Sql) -> None:
    facts = [db.fact(f"Person {number}") for number in range(3)]
    page = window.open("/facts")
    for number in range(2):
        page.get_by_role("checkbox", name=f"Select Person {number}").check()
    page.get_by_role("group", name="With the selected").get_by_role("button", name="Forget").click()
    expect(page.locator("#note")).to_contain_text("2 done")
    assert [db.state("fact", fact) for fact in facts] == ["retracted", "retracted", "active"]


def test_a_fact_is_edited_on_its_page(window: Watched, db: Sql) -> None:
    fact = db.fact("Ada", "drinks", "black tea")
    page = window.open(f"/m/fact/{fact}")
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Text", exact=True).fill("green tea")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#note")).to_contain_text("Saved")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Ada")
    assert db.state("fact", fact) == "superseded"
    page.get_by_role("link", name="2 versions").click()
    expect(page.locator("ins").first).to_contain_text("green")


def test_a_new_rule_is_stored_and_marked(window: Watched, db: Sql) -> None:
    page = window.open("/rules")
    page.get_by_role("link", name="New rule").click()
    page.get_by_label("What to do").fill("Offer tea")
    page.get_by_role("button", name="Store").click()
    page.get_by_role("button", name="It helped").click()
    expect(page.locator("#note")).to_contain_text("helped")
    page.get_by_label("It did harm, because").fill("too hot")
    page.get_by_role("button", name="Note the harm").click()
    expect(page.locator("#note")).to_contain_text("harm")
    [rule] = [
        row[0] for row in db.rows("select id::text from memory.list_memories(types => '{rule}')")
    ]
    memory = db.memory("rule", rule)
    assert (memory["success_count"], memory["harmful_count"]) == (1, 1)


def test_a_list_goes_on(window: Watched, db: Sql) -> None:
    db.rows("select memory.store_fact('s', 'p' || n, 'c' || n) from generate_series(1, 120) as n")
    page = window.open("/facts")
    expect(page.locator("#rows > tr")).to_have_count(50)
    page.get_by_role("link", name="Next 50").click()
    has_script = page.locator("#rows > tr").count() > 50 or page.url.endswith("/facts")
    expect(page.locator("#rows > tr")).to_have_count(100 if has_script else 50)
    page.get_by_role("link", name="Next 50").click()
    expect(page.locator("#rows > tr")).to_have_count(120 if has_script else 20)
    expect(page.get_by_text("That is all.")).to_be_visible()


def test_filters_are_in_the_address(window: Watched, db: Sql) -> None:
    db.fact("Ada", "drinks", "tea")
    db.rows("select memory.forget_memory('fact', %s::uuid)", db.fact("Bob", "drinks", "beer"))
    page = window.open("/facts")
    page.get_by_label("Contains").fill("beer")
    page.get_by_label("State").select_option("any")
    if "state=any" not in page.url:
        page.get_by_role("button", name="Filter", exact=True).click()
    page.wait_for_url("**/facts?q=beer&state=any")
    expect(page.locator("#rows > tr")).to_have_count(1)
    page.get_by_role("link", name="Clear").click()
    page.wait_for_url("**/facts")


def test_proposals_are_decided(window: Watched, shared: Dashboard, tenant: str, db: Sql) -> None:
    world = furnish(shared.database, tenant)
    page = window.open("/review")
    expect(page.locator(".proposal")).to_have_count(3)
    page.get_by_role("button", name="Reject proposal").first.click()
    expect(page.locator(".proposal")).to_have_count(2)
    page.get_by_role("button", name="Accept all 2").click()
    expect(page.get_by_text("No proposal waits.")).to_be_visible()
    assert sorted(
        row[0]
        for row in db.rows("select status from memory.preview_proposals(%s::uuid)", world.run_id)
    ) == [
        "accepted",
        "accepted",
        "rejected",
    ]


# Keys


def test_keys_move_open_confirm_forget_and_undo(scripted: Watched, db: Sql) -> None:
    first, second = db.fact("Ada"), db.fact("Bob")
    page = scripted.open("/facts")
    page.keyboard.press("j")
    expect(page.locator("[data-row]").first).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("[data-row]").nth(1)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("f")
    expect(page.locator("#note")).to_contain_text("Forgotten")
    assert sorted([db.state("fact", first), db.state("fact", second)]) == ["active", "retracted"]
    page.keyboard.press("u")
    expect(page.locator("#note")).to_contain_text("Undone")
    page.keyboard.press("j")
    page.keyboard.press("c")
    expect(page.locator("#note")).to_contain_text("Confirmed")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/ui/m/fact/**")
    page.keyboard.press("/")
    expect(page.get_by_label("Search the memory")).to_be_focused()
    # While typing they are letters.
    page.keyboard.type("ffuc")
    assert page.get_by_label("Search the memory").input_value() == "ffuc"
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/ui/rules")
    page.keyboard.press("?")
    page.wait_for_url("**/ui/help")
    page.get_by_role("button", name="Switch keys off").click()
    expect(page.get_by_role("button", name="Switch keys on")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("f")
    assert page.url.endswith("/ui/help")


def test_everything_is_reached_with_the_tab_key(scripted: Watched, db: Sql) -> None:
    db.fact("Ada")
    page = scripted.open("/facts")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.trim().slice(0, 20)"))
        outline = page.evaluate(
            "document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== 'none'"
        )
        assert outline, page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
    assert {"New fact", "Confirm Ada", "Forget Ada", "Facts"} <= {
        " ".join(each.split()) for each in reached
    }


# Following, sliders, the look


def test_new_events_appear_while_following(scripted: Watched, db: Sql) -> None:
    db.fact("Ada")
    page = scripted.open("/events?follow=1")
    before = page.locator("#rows > li").count()
    fact = db.fact("Bob")
    expect(page.locator("#rows > li").first).to_contain_text(fact[:8], timeout=10_000)
    db.rows("select memory.forget_memory('fact', %s::uuid)", fact)
    expect(page.locator("#rows > li").first).to_contain_text("retracted", timeout=10_000)
    # Each once.
    expect(page.locator("#rows > li")).to_have_count(before + 2)


def test_a_slider_tells_the_time_that_it_leads_to(scripted: Watched, db: Sql) -> None:
    db.rows("select memory.store_fact('Ada', 'drinks', 'tea', as_of => now() - interval '10 days')")
    page = scripted.open("/at")
    slider = page.get_by_label("Known at")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("PageDown")
    told = page.locator("output").first.text_content()
    assert told is not None
    page.get_by_role("button", name="Go there").click()
    page.wait_for_url(re.compile(r"/ui/at\?known_at="))
    expect(page.locator("output").first).to_contain_text(told[:10])
    expect(page.get_by_text("You look at the past.")).to_be_visible()


def test_the_look_is_chosen_and_kept(scripted: Watched) -> None:
    page = scripted.open("/help")
    background = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(background)
    page.get_by_role("button", name="Dark").click()
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate(background) != light
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"


def test_the_menu_opens_on_a_phone_without_a_script(browser: Browser, visitor: Visitor) -> None:
    context, watched = signed_in(
        browser, visitor, viewport=PHONE, java_script_enabled=False, has_touch=True
    )
    page = watched.open("/")
    expect(page.get_by_role("link", name="Doctor", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Doctor", exact=True).click()
    page.wait_for_url("**/ui/doctor")
    context.close()


# What somebody stored to do harm

HOSTILE = "hostile"


def store_hostile(connection: psycopg.Connection[Any]) -> dict[str, list[str]]:
    """Store each hostile text in each place that takes one; return the ids by kind."""
    texts = [text.replace("\x00", "") for text in hostile_texts.TEXTS]
    names = [text for text in texts if len(text.encode()) <= 120 and text.strip()]

    def each(statement: str, values: Iterable[Any]) -> list[str]:
        found = []
        for value in values:
            given = value if isinstance(value, tuple) else (value,)
            try:
                row = connection.execute(statement, given).fetchone()
            except psycopg.Error as error:
                # What is nothing but invisible, or no name, is refused, which is as well.
                assert str(error.sqlstate).startswith("PM00"), (value, error)
            else:
                assert row is not None
                found.append(str(row[0]))
        return found

    facts = each(
        """select memory.store_fact('subject ' || %s, 'p', %s, tags => %s::jsonb,
             metadata => %s::jsonb)""",
        (
            (
                f"{number} {text[:200]}",
                text,
                json.dumps([text[:60]]),
                json.dumps({"note": text[:2000]}),
            )
            for number, text in enumerate(texts)
        ),
    )
    # Each once more, replaced by the next.
    each(
        "select memory.store_fact('changing', %s, %s)",
        ((f"p{number % 7}", text) for number, text in enumerate(texts)),
    )
    rules = each("select memory.store_rule(%s)", texts)
    each(
        "select (memory.mark_harmful(%s::uuid, %s)).id",
        ((rule, names[7 * number % len(names)]) for number, rule in enumerate(rules[:20])),
    )
    episodes = each(
        "select memory.store_episode(%s, %s)",
        ((text, names[number % len(names)]) for number, text in enumerate(texts)),
    )
    entries = each("select id from memory.create_entry(%s)", texts)
    entities = each(
        "select memory.entity_create(canonical_name => %s, entity_type => 'other')", names
    )
    each(
        "select (memory.create_link('fact', %s::uuid, 'fact', %s::uuid, 'contradicts')).created",
        list(pairwise(facts))[:60],
    )
    each(
        """select memory.store_fact('x', %s, 'near', entity_id => %s::uuid,
             object_entity_id => %s::uuid)""",
        (
            (names[number % len(names)], one, other)
            for number, (one, other) in enumerate(pairwise(entities))
        ),
    )
    each("select id from memory.create_access_token(%s, 'reader')", names[:30])
    runs = propose_hostile(connection, texts)
    each(
        "select memory.configure(jsonb_build_object('consolidation_instructions', %s::text))",
        names[:1],
    )
    return {
        "fact": facts,
        "rule": rules,
        "episode": episodes,
        "entry": entries,
        "entity": entities,
        "run": runs,
    }


def propose_hostile(connection: psycopg.Connection[Any], texts: list[str]) -> list[str]:
    """Have runs of consolidation propose hostile texts, and answer so; return their ids."""
    connection.execute("select memory.configure('{\"consolidation_review\": true}')")
    runs = []
    for number in range(4):
        claimed = connection.execute(
            """select run_id::text, episode_id::text
               from memory.claim_episodes((select butler from memory.list_due_consolidations()
                                           where waiting > 0 order by butler offset %s limit 1))""",
            (number,),
        ).fetchall()
        some = [text for text in texts[number::4] if 0 < len(text.strip()) < 4000][:12]
        connection.execute(
            """select memory.apply_consolidation(
                 %s::uuid, %s::jsonb, model => %s, prompt_version => '<b>7', answer => %s)""",
            (
                claimed[0][0],
                json.dumps(
                    {
                        "new_facts": [
                            {
                                "subject": text[:100],
                                "predicate": text[:60],
                                "content": text,
                                "evidence": [claimed[0][1]],
                            }
                            for text in some
                        ],
                        "new_rules": [
                            {"content": text, "evidence": [claimed[0][1]]} for text in some
                        ],
                    }
                ),
                some[0][:100],
                some[-1],
            ),
        )
        runs.append(claimed[0][0])
    connection.execute("select memory.configure('{\"consolidation_review\": null}')")
    return runs


@pytest.fixture(scope="module")
def hostile(shared: Dashboard) -> dict[str, str]:
    """Addresses of the pages of a tenant in which every text is hostile."""
    with psycopg.connect(shared.database.superuser_url, autocommit=True) as connection:
        connection.execute("select set_config('memory.tenant_id', %s, false)", (HOSTILE,))
        ids = store_hostile(connection)
        [(changing,)] = connection.execute(
            "select id from memory.list_memories(subject => 'changing', predicate => 'p3')"
        )
        [(event,)] = connection.execute(
            "select id from memory.list_events(event_type => 'fact_created', max_results => 1)"
        )
    markup = "%3Cscript%3Ewindow.pwned%3D1%3C%2Fscript%3E%E2%80%AE"
    attribute = "%22%3E%3Cimg+src%3Dx+onerror%3Dwindow.pwned%3D1%3E"
    one, other = ids["entity"][:2]
    addresses = {
        "overview": "/",
        **{f"{kind}, newest": f"/{kind}" for kind in ("facts", "rules", "episodes", "entries")},
        "facts, oldest": "/facts?order=oldest",
        "episodes, oldest": "/episodes?order=oldest",
        **{f"fact {one}": f"/m/fact/{one}" for one in ids["fact"][::24]},
        **{
            f"{kind} {one}": f"/m/{kind}/{one}"
            for kind in ("rule", "entry")
            for one in ids[kind][::90]
        },
        **{f"episode {one}": f"/m/episode/{one}" for one in ids["episode"][::90]},
        **{f"entity {one}": f"/entities/{one}?depth=2" for one in ids["entity"][::40]},
        "versions": f"/m/fact/{changing}/chain",
        "edit": f"/m/fact/{ids['fact'][3]}/edit",
        "edit of an entry": f"/m/entry/{ids['entry'][5]}/edit",
        "edit of a rule": f"/m/rule/{ids['rule'][5]}/edit",
        "new": "/new/fact",
        "search": "/search?q=script+window+alert&limit=50",
        "search for markup": f"/search?q={markup}",
        "filter by markup": f"/facts?q={attribute}&subject={markup}",
        "filters with markup": f"/facts?from={attribute}&confidence={markup}",
        "context": "/context?prompt=script+window&butler=x&episodes=1&entries=1&budget=20000",
        "past": "/at?known_at=2026-01-01",
        "merge": f"/entities/merge?source={one}&target={other}",
        "entities": "/entities",
        "contradictions": "/contradictions",
        "events": f"/events?actor={attribute}",
        "all events": "/events",
        "undo": f"/events/{event}",
        "settings": "/settings",
        "tokens": "/tokens",
        "erase": f"/erase?subject={markup}",
        "review": "/review",
        "runs": "/runs",
        "runs of a butler": f"/runs?butler={attribute}",
        **{f"run {run}": f"/runs/{run}" for run in ids["run"]},
        "doctor": "/doctor",
        "work": "/work",
        "chain": "/chain",
        "transfer": "/transfer",
        "help": "/help",
    }
    # What is left are files.
    assert unvisited(addresses.values()) == {
        "/m/{memory_type}/{memory_id}/text",
        "/transfer/memory.{kind}",
        "/{kind:str}.csv",
    }
    return addresses


FOREIGN = """() => ({
  pwned: window.pwned,
  foreign: [...document.querySelectorAll(
    'iframe, object, embed, img, video, audio, base, template, dialog, marquee, math, body style, main script, link[href*="evil"], [style], form[action*="evil"], main a:not([href^="/ui/"]):not([href^="#"]):not([href=""]), [onclick], [onerror], [onload], [onfocus], [hx-get]'
  )].map(each => each.outerHTML.slice(0, 200)),
  mains: document.querySelectorAll('main').length,
  nav: document.querySelectorAll('#nav a').length > 15,
  title: document.title.length > 0,
})"""


HIDDEN = r"""() => {
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const bad = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]|\udb40[\udc00-\udfff]/;
  while (walk.nextNode()) {
    const match = walk.currentNode.data.match(bad);
    if (match) found.push([match[0].codePointAt(0).toString(16), walk.currentNode.data.slice(0, 80)]);
  }
  return found.slice(0, 3);
}"""


def test_no_stored_text_runs_shows_as_markup_or_breaks_a_page(
    shared: Dashboard, hostile: dict[str, str], browser: Browser
) -> None:
    context, watched = signed_in(browser, shared.visitor(HOSTILE), viewport=PHONE)
    wrong: dict[str, Any] = {}
    for name, path in hostile.items():
        page = watched.open(path)
        expect(page.locator(".late")).to_have_count(0)
        expected: Any = {"pwned": None, "foreign": [], "mains": 1, "nav": True, "title": True}
        if (found := page.evaluate(FOREIGN)) != expected:
            wrong[name] = found
        if wide := overflow(page):
            wrong[f"{name}: too wide"] = wide
        if hidden := page.evaluate(HIDDEN):
            wrong[f"{name}: invisible"] = hidden
    assert wrong == {}
    assert watched.said == []
    context.close()


def test_every_hostile_text_is_there_to_be_read(
    shared: Dashboard, hostile: dict[str, str], browser: Browser
) -> None:
    """Nothing is cut away or swallowed by the page: a text that hides is a text that wins."""
    context, watched = signed_in(browser, shared.visitor(HOSTILE))
    page = watched.open("/facts?order=oldest&predicate=p")
    shown: list[str] = []
    while True:
        shown += page.locator("#rows .fact").all_text_contents()
        following = page.locator("a[data-more]")
        if not following.count():
            break
        page.goto(shared.origin + str(following.get_attribute("href")))
    flat = ["".join(each.split()) for each in shown]
    stored = Sql(shared.database, HOSTILE).rows(
        "select content from memory.list_memories(predicate => 'p', max_results => 1000)"
    )
    assert len(stored) >= 150
    for (text,) in stored:
        wanted = "".join(visible(text).split())[:300]
        assert any(wanted in each for each in flat), text[:100]
    assert hostile
    assert watched.said == []
    context.close()
