"""Texts, differences, addresses and drawings of the dashboard, without a server."""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup
from starlette.datastructures import FormData, Headers, QueryParams

from pymem.errors import InvalidArgumentError
from pymem.invisible import INVISIBLE
from pymem.ui import charts, graphs, wording
from pymem.ui.forms import Fields, Query
from pymem.ui.guard import Attempts, is_from_own_page
from pymem.ui.page import NOTES, Note, own_address
from pymem.ui.rendering import ENVIRONMENT, static_file
from pymem.ui.shown import (
    Keyed,
    Piece,
    compare_words,
    csv_cell,
    editable,
    keyed,
    read_edited,
    shown,
    visible,
)
from pymem.ui.svg import element
from pymem.ui.wording import NAVIGATION
from tests.conftest import ROOT

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)

hostile = st.text(
    st.one_of(
        st.sampled_from("\u202e\u200b\u200d\ufe0f\u0000\x1b\ufeff⟦⟧U+202E<>&\"'\r\n\t ab"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=60,
)


# What hides in a text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a⟦U+000D⟧b"),
        ("pay\u202efdp.exe", "pay⟦U+202E⟧fdp.exe"),
        ("pass\u200bword", "pass⟦U+200B⟧word"),
        ("pass\u200dword", "pass⟦U+200D⟧word"),
        ("\x1b[31mred", "⟦U+001B⟧[31mred"),
        ("nul\x00", "nul⟦U+0000⟧"),
        ("\U000e0041tag", "⟦U+E0041⟧tag"),
        ("soft\u00adhyphen", "soft⟦U+00AD⟧hyphen"),
        # What shapes an emoji or a letter hides nothing.
        ("👩\u200d💻", "👩\u200d💻"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("1\ufe0f\u20e3", "1\ufe0f\u20e3"),
        ("नि\u200cश", "नि\u200cश"),
        ("⠓⠕\u2800⠓⠕", "⠓⠕\u2800⠓⠕"),
        # A second selector carries data.
        ("❤\ufe0f\ufe0f", "❤\ufe0f⟦U+FE0F⟧"),
        ("x\u2800y", "x⟦U+2800⟧y"),
        ("a\ufe0fb", "a⟦U+FE0F⟧b"),
    ],
)
def test_what_hides_is_written_out(text: str, expected: str) -> None:
    assert visible(text) == expected


@settings(max_examples=60, deadline=None)
@given(hostile)
def test_nothing_invisible_and_no_markup_of_a_text_reaches_a_page(text: str) -> None:
    html = shown(text)
    bare = re.sub(
        r'<span class="hidden-character" title="[a-z0-9 -]+">(⟦U\+[0-9A-F]{4,6}⟧)</span>',
        r"\1",
        html,
    )
    assert not re.search(r"[<>\"']", bare)
    for place, character in enumerate(bare):
        if re.match(f"[{INVISIBLE}]", character) and character not in "\n\t":
            # Only what shapes its neighbors.
            assert character in "\u200c\u200d\ufe0e\ufe0f\u2800"
            assert place > 0
    assert unescape(bare) == visible(text)


@settings(max_examples=60, deadline=None)
@given(hostile)
def test_a_text_that_was_edited_nowhere_stays_the_same(text: str) -> None:
    assert read_edited(editable(text)) == text.replace("\r\n", "\n")


@settings(max_examples=60, deadline=None)
@given(hostile)
def test_a_field_holds_nothing_invisible(text: str) -> None:
    field = editable(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069\u200b]", field)


def test_a_browser_ends_lines_in_its_own_way() -> None:
    assert read_edited("one\r\ntwo") == "one\ntwo"


def test_only_characters_that_hide_are_read_from_their_code() -> None:
    assert read_edited("⟦U+0041⟧ ⟦U+202E⟧ ⟦U+FFFFFF⟧") == "⟦U+0041⟧ \u202e ⟦U+FFFFFF⟧"


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("  =1", "'  =1"),
        ("a=1", "a=1"),
        (-0.5, "-0.5"),
        (None, ""),
        ("a\u202eb", "a⟦U+202E⟧b"),
    ],
)
def test_no_cell_is_a_formula(value: object, cell: str) -> None:
    assert csv_cell(value) == cell


# Differences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[Mira] [tea]: jasmine", Keyed("Mira", "tea", "jasmine")),
        ("[Mira] [tea]", Keyed("Mira", "tea", None)),
        ("[a] b] [c]: d\ne", Keyed("a] b", "c", "d\ne")),
        # Whoever chooses a subject does not choose how the rest is read.
        ("[a] [b]: c] [p]: content", None),
        ("[a] [b]: see [x]: y", None),
        ("a rule", None),
        ("", None),
    ],
)
def test_a_fact_in_one_text_is_parted_where_it_can_be_read_one_way(
    text: str, expected: Keyed | None
) -> None:
    assert keyed(text) == expected


def test_navigation_has_each_path_and_key_once() -> None:
    links = [link for _, group in NAVIGATION for link in group]
    assert len({path for path, _, _ in links}) == len({key for _, _, key in links}) == len(links)


def joined(pieces: list[Piece], *, changed: bool | None = None) -> str:
    return "".join(piece.text for piece in pieces if changed is None or piece.is_changed is changed)


@settings(max_examples=60, deadline=None)
@given(hostile, hostile)
def test_differences_contain_both_texts_whole(before: str, after: str) -> None:
    old, new = compare_words(before, after)
    assert joined(old) == before
    assert joined(new) == after
    assert joined(old, changed=False).split() == joined(new, changed=False).split()


def test_only_changed_words_are_marked() -> None:
    old, new = compare_words("half a tablet in the evening", "a quarter of a tablet in the morning")
    assert [piece.text for piece in old if piece.is_changed] == ["half", "evening"]
    assert "tablet in the" in joined(new, changed=False)


def test_long_texts_are_compared_in_time() -> None:
    words = " ".join(f"w{number}" for number in range(50_000))
    old, new = compare_words(f"{words} end", f"begin {words}")
    assert joined(old) == f"{words} end"
    assert joined(new) == f"begin {words}"


# Addresses and forms


def query(**parameters: str) -> Query:
    return Query("/ui/facts", QueryParams(parameters))


def test_defaults_are_left_out_of_an_address() -> None:
    asked = query(q="", state="live", order="oldest", unasked="x")
    assert asked.text("q") == ""
    assert asked.choice("state", ("live", "any"), "live") == "live"
    assert asked.choice("order", ("newest", "oldest"), "newest") == "oldest"
    assert asked.canonical == "/ui/facts?order=oldest"
    assert asked.link(after="c u r") == "/ui/facts?order=oldest&after=c+u+r"
    assert not asked.is_filtered


def test_a_canonical_address_is_not_sent_on() -> None:
    asked = query(order="oldest")
    asked.choice("order", ("newest", "oldest"), "newest")
    assert asked.canonical is None


def test_what_cannot_be_read_is_named_and_stays_in_the_address() -> None:
    asked = query(confidence="2", **{"from": "yesterday"}, entity="x", state="<b>")
    assert asked.number("confidence") is None
    assert asked.moment("from") is None
    assert asked.uuid("entity") is None
    assert asked.choice("state", ("live",), "live") == "live"
    assert sorted(asked.errors) == ["confidence", "entity", "from", "state"]
    assert asked.canonical is None


def test_times_without_a_zone_are_of_the_tenant() -> None:
    asked = Query(
        "/", QueryParams({"from": "2026-03-01T12:00"}), wording.time_zone("Europe/Lisbon")
    )
    assert asked.moment("from") == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert wording.time_zone("Nowhere/At_all") is UTC


@pytest.mark.parametrize(
    ("address", "is_own"),
    [
        ("/ui/", True),
        ("/ui/facts?q=a%20b", True),
        ("/ui", True),
        ("//evil.example/ui/", False),
        ("https://evil.example/ui/", False),
        ("/uix", False),
        ("/mcp", False),
        ("/ui/\\evil.example", False),
        ("/ui/\r\nSet-Cookie: a=b", False),
        ("javascript:alert(1)", False),
        ("", False),
        ("/ui/" + "x" * 5000, False),
    ],
)
def test_forms_lead_back_to_pages_here_only(address: str, is_own: bool) -> None:
    assert (own_address(address) == address) is is_own


def test_fields_refuse_what_they_cannot_hold() -> None:
    fields = Fields(FormData([("n", "x"), ("long", "a" * 3000), ("word", "other")]))
    asks: tuple[Callable[[], Any], ...] = (
        lambda: fields.number("n"),
        lambda: fields.whole("n"),
        lambda: fields.text("long"),
        lambda: fields.text("missing", required=True),
        lambda: fields.choice("word", ("one",)),
    )
    for ask in asks:
        with pytest.raises(InvalidArgumentError):
            ask()


@pytest.mark.parametrize("action", NOTES)
def test_notes_come_back_as_they_were_written(action: str) -> None:
    note = Note(action, 3, 1, "ui-" + "0" * 20, 3)
    assert Note.read(note.written()) == note
    assert Note.read(note.written() + "<script>") is None


def test_a_note_of_something_unknown_is_none() -> None:
    assert Note.read("drop_everything.1.0.1.ui-" + "0" * 20) is None


# Guards


@pytest.mark.parametrize(
    ("headers", "is_own"),
    [
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site", "origin": "http://h:1"}, False),
        ({"sec-fetch-site": "none"}, False),
        ({"origin": "http://h:1"}, True),
        ({"origin": "http://h:2"}, False),
        ({"origin": "null"}, False),
        ({}, False),
    ],
)
def test_only_own_pages_change_something(headers: dict[str, str], is_own: bool) -> None:
    assert is_from_own_page(Headers({"host": "h:1", **headers})) is is_own


def test_an_address_that_fails_too_often_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("pymem.ui.guard.time.monotonic", lambda: clock[0])
    attempts = Attempts(most=3, seconds=60)
    for _ in range(3):
        assert attempts.wait("a") == 0
        attempts.note("a")
    assert attempts.wait("a") == 60
    assert attempts.wait("b") == 0
    clock[0] += 61
    assert attempts.wait("a") == 0


# Drawings


def parsed(drawing: Markup) -> ElementTree.Element:
    return ElementTree.fromstring(str(drawing))


@settings(max_examples=60, deadline=None)
@given(hostile)
def test_no_text_of_a_drawing_is_markup(text: str) -> None:
    root = parsed(element("svg", element("title", text), aria_label=text))
    assert [child.tag for child in root] == ["title"]
    assert root.attrib["aria-label"].split() == visible(text).split()


def test_drawings_have_names_and_no_inline_style() -> None:
    points = [(NOW + timedelta(days=day), 1 - day / 100) for day in range(100)]
    drawings = [
        charts.stacked_bar([charts.Part("relevance", 0.4, "relevance", 0.4)], name="parts"),
        charts.column_chart([("Mon", 3), ("Tue", 0)], name="days"),
        charts.decay_chart(
            points,
            [charts.Mark(NOW + timedelta(days=10), 0.9, "now", "now")],
            [charts.Threshold(0.2, "fades")],
            now=NOW + timedelta(days=10),
            name="curve",
            dates=charts.spread_dates(points[0][0], points[-1][0]),
        ),
        charts.interval_bars(
            [charts.Interval(NOW, None, "known", "known")],
            first=NOW,
            last=NOW + timedelta(days=1),
            now=NOW,
            name="intervals",
        ),
        charts.density_ticks([0, 3, 1], name="ticks"),
    ]
    for drawing in drawings:
        root = parsed(drawing)
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-label"]
        assert "style" not in drawing
        assert "nan" not in drawing.lower()


def test_parts_of_a_bar_stay_within_it() -> None:
    parts = [charts.Part(str(number), 0.4, "relevance", 0.4) for number in range(4)]
    root = parsed(charts.stacked_bar(parts, name="too much"))
    ends = [
        float(rect.attrib["x"].rstrip("%")) + float(rect.attrib["width"].rstrip("%"))
        for rect in root
        if "x" in rect.attrib
    ]
    assert max(ends) <= 100.001


def test_a_neighborhood_is_drawn_alike_each_time_and_within_its_frame() -> None:
    nodes = [graphs.Node("0", "middle", "person", 0, None, "", "#")]
    nodes += [
        graphs.Node(
            str(number),
            f"near {number}",
            "other",
            1 + number % 2,
            "0" if number % 2 == 0 else str(number - 1),
            "→ knows",
            "/ui/",
        )
        for number in range(2, 80)
    ]
    drawn = graphs.neighborhood(nodes, name="near")
    assert drawn == graphs.neighborhood(nodes, name="near")
    circles = [each for each in parsed(drawn) if each.tag == "circle"]
    assert len(circles) == graphs.MOST_NODES
    for circle in circles:
        assert 0 <= float(circle.attrib["cx"]) <= 1000
        assert 0 <= float(circle.attrib["cy"]) <= 560


# What is not ours


def test_htmx_is_the_released_file_with_its_license() -> None:
    digest = hashlib.sha256(static_file("htmx.min.js")).hexdigest()
    # Of dist/htmx.min.js in the package htmx.org 4.0.1.
    assert digest == "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130"
    assert b"Permission to use, copy, modify, and/or distribute" in static_file("htmx.LICENSE")


def test_every_template_can_be_compiled() -> None:
    names = ENVIRONMENT.list_templates()
    assert len(names) > 20
    for name in names:
        ENVIRONMENT.get_template(name)
        source = (ROOT / "pymem" / "ui" / "templates" / name).read_text()
        # Nothing is marked as safe, and nothing is styled or scripted inline.
        assert not re.search(
            r"\|\s*safe|autoescape|<style|\sstyle=|\son[a-z]+=|javascript:", source
        ), name


# Words


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "just now"),
        (-90, "in 1 minute"),
        (90, "1 minute ago"),
        (7200, "2 hours ago"),
        (86400 * 3, "3 days ago"),
        (86400 * 45, "45 days ago"),
        (86400 * 70, "2 months ago"),
        (86400 * 400, "13 months ago"),
        (86400 * 800, "2 years ago"),
    ],
)
def test_times_are_told_from_now(seconds: float, expected: str) -> None:
    assert wording.ago(NOW - timedelta(seconds=seconds), NOW) == expected


def test_counts_agree_with_their_words() -> None:
    assert wording.plural(1, "memory") == "1 memory"
    assert wording.plural(2000, "memory") == "2,000 memories"
    assert wording.plural(2, "day") == "2 days"
    assert wording.listed(["a", "b", "c"]) == "a, b and c"
