"""The command pymem, as a process, against the real database."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests import forked
from tests.conftest import Database

Run = Callable[..., subprocess.CompletedProcess[str]]


def command(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return forked.run_text(*arguments, env={"COLUMNS": "120", **(env or {})})


@pytest.fixture
def pymem(database: Database) -> Run:
    """Run pymem against the database, without loading the embedding model."""
    url = database.login("a")

    def run(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = command("--database-url", url, *arguments, env={"PYMEM_NO_EMBEDDINGS": "1"})
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


def parsed(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


def test_a_fact_is_stored_found_shown_and_forgotten(pymem: Run) -> None:
    stored = pymem(
        "store", "fact", "user", "favorite_color", "green", "--tag", "taste"
    ).stdout.strip()

    found = pymem("search", "green")
    assert "[user] [favorite_color]: green" in found.stdout
    assert stored in found.stdout

    shown = parsed(pymem("get", "fact", stored, "--json"))
    assert (shown["content"], shown["tags"], shown["validity"]) == ("green", ["taste"], "active")
    assert "embedding" not in shown

    assert pymem("forget", "fact", stored).stdout == "forgotten\n"
    assert pymem("search", "green").stdout == "nothing found\n"


def test_a_question_about_the_past_is_answered_with_until_when_it_held(pymem: Run) -> None:
    pymem("store", "fact", "user", "lives_in", "Bern", "--valid-from", "2019-03-01")
    pymem("store", "fact", "user", "lives in", "Basel", "--valid-from", "2024-07-01")

    past = pymem("recall", "Where did I live before?").stdout.splitlines()
    present = pymem("recall", "Where do I live in?").stdout

    assert "[user] [lives_in]: Bern (until 2024-07-01)" in past[1]
    assert "[user] [lives in]: Basel" in past[2]
    assert "Bern" not in present


def test_episodes_and_rules_are_stored(pymem: Run) -> None:
    session = str(uuid4())
    pymem(
        *("store", "episode", "Ada called", "--butler", "home", "--session", session),
        *("--importance", "8", "--metadata", '{"mood": "good"}'),
    )
    pymem("store", "rule", "Call Ada back", "--scope", "home")

    found = parsed(pymem("search", "Ada", "--json"))

    assert {memory["memory_type"] for memory in found} == {"episode", "rule"}
    [episode] = [memory for memory in found if memory["memory_type"] == "episode"]
    assert (episode["session_id"], episode["importance"]) == (session, 8)
    assert episode["metadata"] == {"mood": "good"}


def test_rules_are_marked(pymem: Run) -> None:
    rule = pymem("store", "rule", "Call before nine").stdout.strip()

    helped = pymem("mark", "helpful", rule, "--context", '{"session": 7}')
    for _ in range(3):
        harmed = pymem("mark", "harmful", rule, "--reason", "It was a Sunday")
    shown = parsed(pymem("mark", "helpful", rule, "--json"))

    assert helped.stdout == (
        "candidate, effectiveness 1.00 (asymmetric 0.99): applied 1, helpful 1, harmful 0\n"
    )
    assert harmed.stdout == (
        "candidate, effectiveness 0.08 (asymmetric 0.08): applied 4, helpful 1, harmful 3; "
        "due to become a warning\n"
    )
    assert (shown["applied_count"], shown["needs_inversion"]) == (5, False)


def test_a_sweep_lets_memories_fade_and_expire(pymem: Run, database: Database) -> None:
    database.query(
        "select memory.store_fact(s, 'is', 'fact', permanence => 'ephemeral', as_of => '2026-01-01Z')"
        " from generate_series(1, 3) as n cross join lateral (select 'subject ' || n) as x (s)"
    )

    faded = pymem("sweep", "--as-of", "2026-01-20").stdout
    swept = parsed(pymem("sweep", "--as-of", "2026-02-20", "--json"))
    again = parsed(pymem("sweep", "--as-of", "2026-02-20", "--json"))

    lines = [line.split("\t") for line in faded.splitlines()]
    assert lines[0] == ["type", "checked", "began to fade", "expired", "recovered"]
    assert lines[1:] == [
        ["fact", "3", "3", "0", "0"],
        ["rule", "0", "0", "0", "0"],
    ]
    assert swept[0] == {
        "memory_type": "fact",
        "checked": 3,
        "fading": 0,
        "expired": 3,
        "recovered": 0,
    }
    assert again[0]["checked"] == 0


def test_a_sweep_of_all_tenants_is_for_a_gateway(pymem: Run, database: Database) -> None:
    for tenant in ("a", "b"):
        database.query("select memory.store_rule('Offer tea')", tenant=tenant)

    refused = pymem("sweep", "--all-tenants", code=1)
    done = command("--database-url", database.login(None), "sweep", "--all-tenants", "--json")

    assert "may not act for all tenants" in refused.stderr
    assert [(row["tenant"], row["memory_type"], row["checked"]) for row in parsed(done)] == [
        ("a", "fact", 0),
        ("a", "rule", 1),
        ("b", "fact", 0),
        ("b", "rule", 1),
    ]


def test_a_cleanup_goes_on_until_nothing_is_due(pymem: Run, database: Database) -> None:
    database.query(
        "select memory.store_episode('episode ' || n, 'home', as_of => '2026-01-01Z')"
        " from generate_series(1, 25) as n"
    )

    table = pymem("cleanup", "--batch-size", "10", "--as-of", "2026-02-01").stdout
    again = parsed(pymem("cleanup", "--json"))

    assert [line.split("\t") for line in table.splitlines()] == [
        ["expired", "beyond capacity", "remaining"],
        ["25", "0", "0"],
    ]
    assert again == [{"expired_deleted": 0, "capacity_deleted": 0, "remaining": 0, "due": 0}]


def test_a_link_to_a_deleted_episode_is_shown_as_expired(pymem: Run, database: Database) -> None:
    episode = database.value("select memory.store_episode('x', 'home', as_of => '2026-01-01Z')")
    fact = database.value(
        "select memory.store_fact('s', 'p', 'c', source_episode_id => %s)", episode
    )
    pymem("cleanup")

    assert f"episode {episode} (expired)" in " ".join(
        pymem("get", "fact", str(fact)).stdout.split()
    )
    [link] = parsed(pymem("get", "fact", str(fact), "--json"))["links"]
    assert (link["target_id"], link["target_state"]) == (str(episode), "expired")


def test_a_harmful_rule_turns_into_a_warning_and_back(pymem: Run) -> None:
    rule = pymem("store", "rule", "Call before nine").stdout.strip()
    for _ in range(3):
        pymem("mark", "harmful", rule, "--reason", "It was early")

    [done] = parsed(pymem("hygiene", "--json"))
    warning = parsed(pymem("get", "rule", rule, "--json"))
    table = pymem("hygiene").stdout
    reverted = pymem("hygiene", "--revert", rule).stdout
    restored = parsed(pymem("get", "rule", rule, "--json"))

    assert (done["inverted"], done["promoted"]) == (1, 0)
    assert done["anchor"].startswith(f"{done['sealed']}:")
    assert warning["content"] == (
        "ANTI-PATTERN: Do NOT Call before nine. This caused problems because: It was early"
    )
    assert warning["maturity"] == "anti_pattern"
    [row] = [line.split() for line in table.splitlines()][1:]
    assert row == ["0", "0", "0", done["anchor"]]
    assert reverted == "a rule again, candidate\n"
    assert (restored["content"], restored["maturity"]) == ("Call before nine", "candidate")


def test_a_fact_is_forgotten_restored_and_its_history_told(pymem: Run) -> None:
    paris = pymem("store", "fact", "Ada", "lives in", "Paris").stdout.strip()
    rome = pymem("store", "fact", "Ada", "lives in", "Rome").stdout.strip()

    refused = pymem("restore", "fact", paris, code=1)
    pymem("forget", "fact", rome)
    restored = pymem("restore", "fact", paris).stdout
    confirmed = pymem("confirm", "fact", paris).stdout
    unknown = pymem("restore", "fact", str(uuid4()), code=1)
    told = parsed(pymem("history", "fact", paris, "--json"))
    table = pymem("history", "fact", rome).stdout

    assert "is active under its key [PM003]" in refused.stderr
    assert f"Forget fact {rome} first" in refused.stderr
    assert (restored, confirmed) == ("restored\n", "confirmed\n")
    assert "hint: Find ids" in unknown.stderr
    assert [(fact["content"], fact["lifecycle_state"]) for fact in told["versions"]] == [
        ("Paris", "active"),
        ("Rome", "retracted"),
    ]
    assert [
        (state["event_type"], state["image"]["lifecycle_state"]) for state in told["states"]
    ] == [
        ("fact_created", "active"),
        ("fact_superseded", "superseded"),
        ("fact_restored", "active"),
        (None, "active"),
    ]
    assert "[Ada] [lives in]:" in " ".join(table.split())
    assert "fact_retracted" in table


def test_links_are_walked(pymem: Run, database: Database) -> None:
    paris = pymem("store", "fact", "Ada", "lives in", "Paris").stdout.strip()
    rome = pymem("store", "fact", "Ada", "lives in", "Rome").stdout.strip()
    rule = pymem("store", "rule", "Write to Ada in Italian").stdout.strip()
    database.query(
        "select memory.create_link('rule', %s, 'fact', %s, 'derived_from')", *(rule, rome)
    )

    near = pymem("related", "fact", paris).stdout
    far = pymem("related", "fact", paris, "--depth", "2").stdout
    told = parsed(pymem("related", "fact", paris, "--depth", "2", "--json"))
    one_way = parsed(pymem("related", "fact", rome, "--direction", "outgoing", "--json"))
    over = parsed(
        pymem(
            *("related", "fact", paris, "--depth", "2", "--json"),
            *("--relation", "derived_from", "--relation", "supports"),
        )
    )
    nothing = pymem("related", "fact", paris, "--relation", "related_to").stdout

    assert "[Ada] [lives in]: Rome" in near
    assert "← supersedes" in near
    assert f"\t{rome}\n" in near
    assert "1 ← derived_from" in far
    assert f"\t{rule}\n" in far
    assert [(row["depth"], row["content"]) for row in told] == [
        (1, "Rome"),
        (2, "Write to Ada in Italian"),
    ]
    assert [(row["content"], row["state"]) for row in one_way] == [("Paris", "superseded")]
    assert over == []
    assert nothing == "nothing related\n"


def test_what_stands_against_each_other_is_shown(pymem: Run) -> None:
    nothing = pymem("contradictions").stdout
    paris = pymem("store", "fact", "Ada", "lives in", "Paris").stdout.strip()
    rome = pymem("store", "fact", "Ada", "Lives-in", "Rome").stdout.strip()

    table = pymem("contradictions").stdout
    [pair] = parsed(pymem("contradictions", "--json", "--scope", "home", "--limit", "5"))
    pymem("forget", "fact", paris)
    settled = parsed(pymem("contradictions", "--json"))

    assert nothing == "no contradictions\n"
    for text in ("near_duplicate", "fact: [Ada] [Lives-in]: Rome", "fact: [Ada] [lives in]: Paris"):
        assert text in table
    assert (pair["source_id"], pair["target_id"]) == (rome, paris)
    assert settled == []


def test_a_history_that_was_tampered_with_is_told(pymem: Run, database: Database) -> None:
    fact = pymem("store", "fact", "Ada", "lives in", "Paris").stdout.strip()
    pymem("confirm", "fact", fact)
    database.query("set session_replication_role = replica; update memory.facts set importance = 9")

    told = pymem("history", "fact", fact, code=1).stdout

    assert {"changed", "without", "history"} <= set(told.split())


def test_recall_looks_into_the_past(pymem: Run, database: Database) -> None:
    for city, since in (("Paris", "2026-01-01Z"), ("Rome", "2026-02-01Z")):
        database.query(
            """select memory.store_fact('Ada', 'lives in', %s, valid_from => %s, as_of => %s)""",
            *(city, since.replace("2026", "2020"), since),
        )

    def cities(*options: str) -> list[str]:
        return [row["content"] for row in parsed(pymem("recall", "Ada", "--json", *options))]

    assert cities("--known-at", "2026-01-15") == ["Paris"]
    assert cities("--known-at", "2026-02-15") == ["Rome"]
    assert cities("--valid-at", "2020-01-15") == ["Paris"]
    assert cities("--valid-at", "2020-01-15", "--known-at", "2025-01-15") == []
    assert database.value("select sum(reference_count) from memory.facts") == 0
    assert cities("--explain", "--known-at", "2026-01-15") == ["Paris"]


def test_explain_tries_other_settings(pymem: Run, database: Database) -> None:
    pymem("store", "fact", "Ada", "drinks", "tea", "--importance", "9")

    explain = ("recall", "tea", "--explain", "--json")
    [present] = parsed(pymem(*explain))
    [tried] = parsed(pymem(*explain, "--set", "weight_importance=0", "--set", "weight_recency=0"))
    unknown = pymem("recall", "tea", "--explain", "--set", "weight=1", code=1).stderr
    alone = pymem("recall", "tea", "--set", "weight_importance=1", code=2).stderr
    malformed = pymem("recall", "tea", "--explain", "--set", "weight", code=2).stderr

    assert tried["relevance"] == present["relevance"]
    assert tried["score"] != present["score"]
    assert "unknown setting: weight" in unknown
    assert "--set tries settings with --explain only" in alone
    assert "--set takes NAME=VALUE, not weight" in malformed
    assert database.value("select count(*) from memory.settings") == 0


def test_a_context_is_explained_line_by_line(pymem: Run, database: Database) -> None:
    pymem("store", "fact", "Ada", "drinks", "tea")
    pymem("store", "rule", "Offer tea " + "and more tea " * 40)

    lines = parsed(
        pymem("context", "tea", "--butler", "home", "--budget", "60", "--explain", "--json")
    )
    shown = pymem("context", "tea", "--butler", "home", "--budget", "60", "--explain").stdout
    text = pymem("context", "tea", "--butler", "home", "--budget", "60").stdout

    kept = [line["content"] for line in lines if line["outcome"] != "dropped"]
    assert [line for line in text.splitlines() if line.startswith("- ")] == kept
    assert [line["outcome"] for line in lines] == ["kept", "shortened"]
    assert "shortened: shortened to what was left of the budget" in shown
    assert database.value("select sum(reference_count) from memory.facts") == 0


def test_stats_count_what_there_is(pymem: Run) -> None:
    pymem("store", "fact", "Ada", "lives in", "Paris", "--scope", "home")
    pymem("store", "rule", "Be brief")

    counts = parsed(pymem("stats", "--json"))
    table = pymem("stats", "--scope", "work").stdout

    assert (counts["facts"]["active"], counts["rules"]["candidate"]) == (1, 1)
    assert counts["episodes"]["backlog_age_hours"] is None
    assert ["facts", "active", "0"] in [line.split() for line in table.splitlines()]


def test_a_subject_is_erased_with_proof(pymem: Run) -> None:
    pymem("store", "fact", "Ada Lovelace", "lives in", "Paris")
    pymem("store", "episode", "ada lovelace called", "--butler", "home")
    pymem("store", "rule", "Be brief")

    dry = parsed(pymem("erase", "Ada Lovelace", "--dry-run", "--json"))
    exact = pymem("erase", "Ada Lovelace", "--exact", "--yes", code=1)
    whole = pymem("erase", "Ada Lovelace", "--yes")
    left = parsed(pymem("search", "Ada brief", "--json"))

    assert {row["object"]: row["erased"] for row in dry["erased"] if row["erased"]} == {
        "episodes": 1,
        "facts": 1,
        "keys of facts": 1,
    }
    assert "still in episodes.content: 1" in exact.stderr
    assert "nothing remains in" in whole.stdout
    assert [row["content"] for row in left] == ["Be brief"]


def test_erasing_asks_first(pymem: Run) -> None:
    pymem("store", "fact", "Ada Lovelace", "lives in", "Paris")

    asked = pymem("erase", "Ada Lovelace", code=1)

    assert "Erase this permanently?" in asked.stdout
    assert parsed(pymem("stats", "--json"))["facts"]["active"] == 1


def test_the_chain_of_events_is_sealed_and_verified(pymem: Run, database: Database) -> None:
    pymem("store", "rule", "Be brief")
    [sealed] = parsed(pymem("hygiene", "--json"))
    intact = pymem("verify", "--anchor", sealed["anchor"]).stdout
    database.query(
        """alter table memory.memory_events disable trigger refuse_change;
           update memory.memory_events set actor = 'somebody else' where event_type = 'rule_created';
           alter table memory.memory_events enable always trigger refuse_change"""
    )

    broken = parsed(pymem("verify", "--json", code=1))
    table = pymem("verify", "--anchor", sealed["anchor"].replace(":", ":00", 1), code=1).stdout
    wrong = pymem("verify", "--anchor", "so", code=2).stderr

    assert intact == "nothing contradicts the chain\n"
    assert [problem["problem"] for problem in broken] == ["event changed"]
    assert {"chain", "cut", "off"} <= set(table.split())
    assert "pass a position and a hexadecimal hash" in wrong


def test_an_anchor_shows_a_schema_that_was_changed_with_its_record(
    pymem: Run, database: Database
) -> None:
    [sealed] = parsed(pymem("hygiene", "--json"))
    digest = database.value("select encode(memory.definitions_digest(), 'hex')")
    database.query(
        """create or replace function memory.check_seals(tenant_id text)
             returns setof memory.chain_problem language sql stable
           as 'select p.* from unnest(null::memory.chain_problem[]) as p'"""
    )

    seen = parsed(pymem("verify", "--json", code=1))
    # Who can replace functions can also make the record and the digest agree with them.
    database.query("set role memory_owner; select memory.record_definitions()")
    database.query(
        f"""create or replace function memory.definitions_digest() returns bytea
              language sql stable as $$ select '\\x{digest}'::bytea $$;
            set role memory_owner; select memory.record_definitions()"""
    )
    unseen = pymem("verify").stdout
    anchored = parsed(pymem("verify", "--json", "--anchor", sealed["anchor"], code=1))

    assert sealed["anchor"].endswith(f":{digest}")
    assert [problem["problem"] for problem in seen] == ["definition changed"]
    assert "memory.check_seals(text)" in seen[0]["detail"]
    assert unseen == "nothing contradicts the chain\n"
    assert [problem["problem"] for problem in anchored] == ["definition changed"]


def test_recall_explains_its_scores(pymem: Run) -> None:
    pymem("store", "fact", "user", "likes", "tea")

    table = pymem("recall", "tea", "--explain").stdout
    [found] = parsed(pymem("recall", "tea", "--json"))

    for heading in (
        "score",
        "relev.",
        "import.",
        "recency",
        "conf.",
        "meaning",
        "words",
        "outcome",
    ):
        assert heading in table
    assert "returned" in table
    assert found["reference_count"] == 0  # explaining counts no reference


def test_recall_explains_what_became_of_a_memory_and_what_boosts_it(pymem: Run) -> None:
    session = str(uuid4())
    for content in ("Ada asked for tea", "There was no tea left"):
        pymem("store", "episode", content, "--butler", "home", "--session", session)
    gone = pymem("store", "rule", "Offer tea").stdout.strip()
    pymem("forget", "rule", gone)

    table = pymem("recall", "What did Ada say of tea?", "--explain").stdout

    assert "returned, turn 0." in table
    assert "session 0." in table
    assert "name" not in table
    [line] = [line for line in table.splitlines() if "Offer tea" in line]
    assert "forgotten" in line.split("\t")


def test_recall_at_another_time_only_looks(pymem: Run) -> None:
    pymem("store", "fact", "user", "had_for_lunch", "noodles", "--permanence", "ephemeral")
    later = (datetime.now(UTC) + timedelta(days=60)).date().isoformat()

    assert pymem("recall", "noodles", "--as-of", later).stdout.startswith("nothing recalled")
    [found] = parsed(
        pymem("recall", "noodles", "--as-of", later, "--min-confidence", "0", "--json")
    )

    assert found["effective_confidence"] < 0.01
    assert parsed(pymem("search", "noodles", "--json"))[0]["reference_count"] == 0


def test_context_is_printed_as_it_is(pymem: Run) -> None:
    pymem("store", "fact", "user", "likes", "tea")

    text = pymem("context", "tea", "--butler", "home").stdout

    assert text == "# Memory Context\n\n## Key Facts\n- [user] [likes]: tea (confidence: 1.00)\n"
    assert parsed(pymem("context", "tea", "--butler", "home", "--json")) == {"context": text}


@pytest.fixture
def shared_by_butlers(pymem: Run) -> None:
    for scope in ("global", "home", "work"):
        pymem("store", "fact", "user", f"tea_{scope}", f"{scope} tea", "--scope", scope)
    pymem("store", "rule", "Offer tea at work", "--scope", "work")
    pymem("--butler", "home", "store", "episode", "home had tea")
    pymem("--butler", "home", "store", "episode", "work had tea", "--butler", "work")


@pytest.mark.usefixtures("shared_by_butlers")
def test_a_butler_sees_its_own_memories_and_global_ones(pymem: Run, database: Database) -> None:
    home = {"global tea", "home tea", "home had tea"}
    work = {"global tea", "work tea", "Offer tea at work", "work had tea"}
    url = database.login("a")

    def seen(*arguments: str) -> set[str]:
        return {memory["content"] for memory in parsed(pymem(*arguments, "--json"))}

    for find in ("search", "recall"):
        assert seen(find, "tea") == home | work
        assert seen("--butler", "home", find, "tea") == home
        assert seen("--butler", "home", find, "tea", "--scope", "*") == home | work
        assert seen("--butler", "home", find, "tea", "--all-scopes") == home | work
        assert seen("--butler", "home", find, "tea", "--scope", "work") == work
    named = command(
        *("--database-url", url, "search", "tea", "--json"),
        env={"PYMEM_NO_EMBEDDINGS": "1", "PYMEM_BUTLER": "home"},
    )
    assert {memory["content"] for memory in parsed(named)} == home
    stats = parsed(pymem("--butler", "home", "stats", "--json"))
    assert stats["facts"]["active"] == 2
    stats = parsed(pymem("--butler", "home", "stats", "--all-scopes", "--json"))
    assert stats["facts"]["active"] == 3


@pytest.mark.usefixtures("shared_by_butlers")
def test_context_is_that_of_the_butler_of_the_command_or_of_all_commands(pymem: Run) -> None:
    home = pymem("--butler", "home", "context", "tea", "--recent-episodes").stdout
    work = pymem(
        "--butler", "home", "context", "tea", "--butler", "work", "--recent-episodes"
    ).stdout

    for text, own, other in ((home, "home", "work"), (work, "work", "home")):
        assert "global tea" in text
        assert f"{own} tea" in text
        assert f"{own} had tea" in text
        assert f"{other} tea" not in text
        assert f"{other} had tea" not in text


def test_settings_of_the_tenant_hold_where_an_option_is_left_out(
    pymem: Run, tmp_path: Path
) -> None:
    pymem("store", "fact", "user", "drinks", "tea", "--confidence", "0.4")
    sure = pymem("store", "fact", "user", "likes", "tea").stdout.strip()
    before = parsed(pymem("search", "tea", "--json"))
    file = tmp_path / "butler.toml"
    file.write_text("[modules.memory.retrieval]\ndefault_mode = 'semantic'\nmin_confidence = 0.5\n")
    pymem("configure", str(file))

    refused = pymem("search", "tea", code=1).stderr
    after = parsed(pymem("search", "tea", "--mode", "keyword", "--json"))
    told = parsed(pymem("search", "tea", "--mode", "hybrid", "--min-confidence", "0.2", "--json"))
    recalled = parsed(pymem("recall", "tea", "--json"))
    context = pymem("context", "tea", "--butler", "home").stdout

    assert "searching by meaning is off" in refused
    assert [len(found) for found in (before, after, told)] == [2, 1, 2]
    assert [found["id"] for found in (*after, *recalled)] == [sure, sure]
    assert "[likes]" in context
    assert "[drinks]" not in context


def test_events_show_what_happened(pymem: Run) -> None:
    stored = pymem("--actor", "tester", "store", "fact", "user", "likes", "tea").stdout.strip()
    pymem("store", "fact", "user", "likes", "coffee")

    events = parsed(pymem("events", "--memory", stored, "--json"))
    table = pymem("events").stdout

    assert [event["event_type"] for event in events] == ["fact_superseded", "fact_created"]
    assert events[1]["actor"] == "tester"
    assert "link_created" in table


def test_settings_come_from_a_butler_toml(pymem: Run, tmp_path: Path) -> None:
    file = tmp_path / "butler.toml"
    file.write_text("[modules.memory.retrieval]\ndefault_limit = 5\nkeyword_match = 'all'\n")

    changed = parsed(pymem("configure", str(file), "--json"))["changed"]
    again = pymem("configure", str(file)).stdout
    settings = parsed(pymem("settings", "--json"))
    table = pymem("settings", "--changed").stdout
    file.write_text("[modules.memory.retrieval]\ndefault_limit = 6\n")
    kept = pymem("configure", str(file)).stdout
    reset = pymem("configure", str(file), "--reset").stdout

    assert changed == {
        "retrieval_limit": {"before": 20, "after": 5},
        "keyword_match": {"before": "any", "after": "all"},
    }
    assert again == "nothing changed\n"
    assert (settings["retrieval_limit"], settings["keyword_match"]) == (5, "all")
    assert settings["rrf_k"] == 60
    assert table.splitlines() == [
        "setting\tvalue\tdefault, if another",
        "retrieval_limit\t5\t20",
        "keyword_match\tall\tany",
    ]
    assert kept == "setting\tbefore\tafter\nretrieval_limit\t5\t6\n"
    assert reset == "setting\tbefore\tafter\nkeyword_match\tall\tany\n"
    assert parsed(pymem("configure", "--json"))["keyword_match"] == "any"


def test_vector_indexes_are_rebuilt_and_checked(pymem: Run) -> None:
    assert pymem("reindex").stdout == "exact\n"
    assert parsed(pymem("reindex", "--method", "ivfflat", "--lists", "7", "--json")) == {
        "method": "ivfflat"
    }

    checked = parsed(pymem("check-vectors", "--sample", "3", "--depth", "5", "--json"))
    table = pymem("check-vectors").stdout

    assert [(row["memory_type"], row["method"], row["memories"]) for row in checked] == [
        ("entry", "ivfflat", 0),
        ("episode", "ivfflat", 0),
        ("fact", "ivfflat", 0),
        ("rule", "ivfflat", 0),
    ]
    for word in ("ivfflat", "finds", "worst", "short"):
        assert word in table


def test_the_scale_of_similarities_is_measured(pymem: Run, database: Database) -> None:
    database.query("select memory.register_embedding_version('model', '1')")
    database.query(
        """select memory.store_fact(
             'subject ' || n, 'is', 'thing ' || n,
             embedding => (select array_agg((m = n or m = 384)::integer order by m)::real[]::vector
                           from generate_series(1, 384) as m)
           ) from generate_series(1, 12) as n"""
    )

    measured = parsed(pymem("calibrate", "--json"))
    table = pymem("calibrate", "--sample", "10").stdout

    assert measured == {
        "before": {"similarity_floor": 0.05, "similarity_ceiling": 0.75},
        "after": {
            "similarity_floor": pytest.approx(0.5),
            "similarity_ceiling": pytest.approx(0.87),
            "pairs": 66,
        },
    }
    assert [line.split("\t") for line in table.splitlines()] == [
        ["cosine similarity", "unlike", "alike", "pairs of memories"],
        ["before", "0.500", "0.870", ""],
        ["measured", "0.500", "0.870", "45"],
    ]


def test_what_fits_too_little_is_left_out(pymem: Run) -> None:
    pymem("store", "fact", "user", "drinks", "tea")
    question = "Which trains leave for Oslo and Bergen before tea on Sunday?"

    for find, nothing in (("search", "nothing found\n"), ("recall", "nothing recalled of ")):
        assert pymem(find, question, "--min-relevance", "0.9").stdout.startswith(nothing)
        [found] = parsed(pymem(find, question, "--min-relevance", "0", "--json"))
        assert found["content"] == "tea"
    context = ("context", question, "--butler", "home", "--min-relevance")
    assert "tea" not in pymem(*context, "0.9").stdout
    assert "tea" in pymem(*context, "0").stdout
    [explained] = parsed(pymem("recall", question, "--explain", "--min-relevance", "0.9", "--json"))
    assert explained["outcome"] == "below relevance"


def test_the_setting_says_whether_context_has_recent_episodes(pymem: Run, tmp_path: Path) -> None:
    pymem("store", "episode", "Ada had tea", "--butler", "home")
    context = ("context", "tea", "--butler", "home")
    before = pymem(*context).stdout
    file = tmp_path / "butler.toml"
    file.write_text("[modules.memory.context]\nrecent_episodes = true\n")
    pymem("configure", str(file))

    assert "Ada had tea" not in before
    assert "Ada had tea" in pymem(*context).stdout
    assert "Ada had tea" not in pymem(*context, "--no-recent-episodes").stdout


def test_ingest_reports_broken_lines_and_ends_with_an_error(pymem: Run, tmp_path: Path) -> None:
    file = tmp_path / "episodes.jsonl"
    file.write_text(
        '{"butler": "home", "content": "one"}\n{broken\n{"butler": "home", "content": "two"}\n'
    )

    done = pymem("ingest", str(file), code=1)

    assert "line 2: Invalid JSON" in done.stderr
    assert "2 stored, 0 already there, 1 broken" in done.stdout
    again = parsed(pymem("ingest", str(file), "--json", code=1))
    assert (again["stored"], again["known"], len(again["broken"])) == (0, 2, 1)


def test_embedding_is_done_by_the_command_too(database: Database) -> None:
    url = database.login("a")
    assert (
        command(
            *("--database-url", url, "store", "fact", "user", "pet", "a dog"),
            env={"PYMEM_NO_EMBEDDINGS": "1"},
        ).returncode
        == 0
    )

    assert command("--database-url", url, "embed").stdout == "1 embedded\n"
    found = command(
        "--database-url", url, "search", "Which animal?", "--mode", "semantic", "--json"
    )

    assert json.loads(found.stdout)[0]["content"] == "a dog"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("search", "x", "--limit", "0"), 1, "--limit is 0"),
        (("search", "x", "--limit", "-5"), 1, "--limit is -5"),
        (("search", "x", "--limit", "99999999999"), 1, "out of range"),
        (("search", "x", "--min-confidence", "2"), 1, "--min-confidence is 2"),
        (("search", "x", "--min-confidence", "nan"), 1, "--min-confidence is NaN"),
        (("search", "x", "--min-relevance", "2"), 1, "--min-relevance is 2"),
        (("recall", "x", "--min-relevance", "-1"), 1, "--min-relevance is -1"),
        (("context", "x", "--butler", "b", "--min-relevance", "nan"), 1, "--min-relevance is NaN"),
        (("search", "x", "--mode", "psychic"), 2, "psychic"),
        (("search", "x", "--type", "dream"), 2, "dream"),
        (("search", "x", "--mode", "semantic"), 1, "embedding"),
        (("recall", "x", "--as-of", "yesterday"), 2, "is not a time"),
        (("get", "fact", "abc"), 1, "abc"),
        (("get", "fact", "00000000-0000-0000-0000-000000000000"), 1, "no fact has id"),
        (("get", "dream", "00000000-0000-0000-0000-000000000000"), 2, "dream"),
        (("forget", "rule", "00000000-0000-0000-0000-000000000000"), 1, "no rule has id"),
        (("mark", "helpful", "00000000-0000-0000-0000-000000000000"), 1, "no rule has id"),
        (("mark", "helpful", "abc"), 1, "abc"),
        (("mark", "harmful", str(uuid4()), "--context", "[]"), 1, "--context is not a JSON object"),
        (
            ("mark", "harmful", "00000000-0000-0000-0000-000000000000", "--reason", ""),
            1,
            "reason is empty",
        ),
        (
            ("mark", "helpful", "00000000-0000-0000-0000-000000000000", "--as-of", "9998-01-01"),
            1,
            "--as-of lies in the future",
        ),
        (("mark", "useless", "abc"), 2, "useless"),
        (("related", "fact", "abc"), 1, "abc"),
        (
            ("related", "fact", "00000000-0000-0000-0000-000000000000", "--depth", "6"),
            1,
            "--depth is 6",
        ),
        (("related", "fact", "abc", "--relation", "likes"), 2, "likes"),
        (("contradictions", "--limit", "0"), 1, "--limit is 0"),
        (("sweep", "--as-of", "9998-01-01"), 1, "--as-of lies in the future"),
        (("sweep", "--as-of", "never"), 2, "is not a time"),
        (("hygiene", "--as-of", "9998-01-01"), 1, "--as-of lies in the future"),
        (("hygiene", "--revert", "abc"), 1, "abc"),
        (("hygiene", "--revert", "00000000-0000-0000-0000-000000000000"), 1, "no rule has id"),
        (("hygiene", "--revert", str(uuid4()), "--all-tenants"), 2, "one tenant"),
        (("cleanup", "--max-entries", "-1"), 1, "--max-entries is -1"),
        (("cleanup", "--batch-size", "0"), 1, "--batch-size is 0"),
        (("cleanup", "--max-entries", "nan"), 2, "nan"),
        (("store", "fact", "", "p", "c"), 1, "subject is empty"),
        (("store", "fact", "s", "p", "c", "--permanence", "eternal"), 1, "eternal"),
        (("store", "fact", "s", "p", "c", "--confidence", "7"), 1, "confidence is 7"),
        (("store", "fact", "s", "p", "c", "--metadata", "{oops"), 1, "--metadata is not JSON"),
        (("store", "fact", "s", "p", "c", "--metadata", "[1]"), 1, "not a JSON object"),
        (
            ("store", "fact", "s", "p", "c", "--metadata", "[" * 100_000),
            1,
            "--metadata is not JSON",
        ),
        (("store", "episode", "x", "--butler", "b", "--session", "s1"), 1, "s1"),
        (("store", "episode", "x"), 2, "--butler"),
        (("store", "episode", "x", "--butler", "*"), 1, 'butler is "*"'),
        (("store", "fact", "s", "p", "c", "--scope", "*"), 1, 'scope is "*"'),
        (("context", "x"), 2, "--butler"),
        (("context", "x", "--butler", "*"), 1, 'butler is "*"'),
        (("--butler", "*", "search", "x"), 1, "butler is not the name of an agent"),
        (("--butler", "b" * 129, "stats"), 1, "butler is not the name of an agent"),
        (
            ("context", "x", "--butler", "home", "--budget", "1"),
            1,
            "a --budget of 1 leaves no room",
        ),
        (("ingest", "/nowhere.jsonl"), 1, "cannot be read"),
        (("configure", "/nowhere.toml"), 1, "cannot be read"),
        (("events", "--limit", "0"), 1, "--limit is 0"),
        (("reindex", "--method", "magic"), 2, "magic"),
        (("reindex", "--method", "hnsw", "--lists", "20"), 1, "hnsw has no lists"),
        (("check-vectors", "--sample", "0"), 1, "sample is 0"),
        (("check-vectors", "--depth", "1001"), 1, "depth is 1001"),
        (("calibrate",), 1, "no embedding model is registered"),
        (("calibrate", "--sample", "9"), 1, "sample_size is 9"),
        (("--actor", "a\nb", "search", "x"), 1, "actor"),
        (("--tenant", "other", "search", "x"), 1, "tenant"),
        (
            ("--database-url", "postgresql://nobody@localhost:1/x", "search", "x"),
            3,
            "cannot be reached",
        ),
        (("--database-url", "nonsense", "search", "x"), 3, "cannot be reached"),
    ],
)
def test_mistakes_get_one_line_and_an_exit_code(
    pymem: Run, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = pymem(*arguments, code=code)

    assert done.stdout == ""
    assert message in done.stderr
    if code != 2:
        assert len(done.stderr.strip().splitlines()) <= 2


def test_where_starting_a_server_is_forbidden_it_says_how_to(tmp_path: Path) -> None:
    env = {"PYMEM_DATABASE_URL": "", "PYMEM_NO_START": "1"}

    done = command("--data", str(tmp_path), "search", "x", env=env)

    assert done.returncode == 3
    assert "pymem up" in done.stderr


def test_deploy_makes_a_database_ready(empty_database: Database) -> None:
    arguments = (
        *("--database-url", empty_database.superuser_url, "deploy"),
        *("--login", "pymem_test_deployed", "--login-tenant", "acme"),
    )
    first, second = command(*arguments), command(*arguments)

    assert "deployed" in first.stdout
    assert "is already deployed" in second.stdout
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert (
        empty_database.value(
            "select tenant_id from memory.tenant_logins where login = 'pymem_test_deployed'"
        )
        == "acme"
    )


def test_every_command_has_help() -> None:
    listed = command("--help").stdout
    for name in (
        *("up", "down", "run", "deploy", "ingest", "store", "search", "recall", "context"),
        *(
            "get",
            "mark",
            "forget",
            "sweep",
            "cleanup",
            "hygiene",
            "embed",
            "related",
            "contradictions",
            "events",
            "configure",
            "mcp",
            "reindex",
            "check-vectors",
            "calibrate",
            "doctor",
        ),
    ):
        assert f"  {name} " in listed
        assert command(name, "--help").returncode == 0


def test_mcp_refuses_groups_of_tools_that_are_none(pymem: Run, database: Database) -> None:
    named = pymem("mcp", "--tools", "core,histroy", code=1)
    configured = command(
        "--database-url", database.login("a"), "mcp", env={"PYMEM_TOOLS": "core,histroy"}
    )
    for done in (named, configured):
        assert "no group of tools is named 'histroy'" in done.stderr
        assert "hint: Did you mean history? Groups: core, all, writing" in done.stderr
