"""What operators see of a running server: metrics, an access log, logs; never what is stored."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from pymem.observing import metrics
from pymem.observing.calls import outcome_of
from pymem.observing.logs import JsonFormatter
from tests.conftest import ROOT, Database, Server, fresh_database
from tests.test_mcp_http import ACCEPT, LIST, Shared, make_token, serving

SECRET = "the tulips are under the third stone"

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\.)*",?)*)\})? (?:[0-9.e+-]+|\+Inf)')


def parse(text: str) -> dict[tuple[str, str], float]:
    """Check the format of metrics and return the values by name and labels."""
    found: dict[tuple[str, str], float] = {}
    typed: set[str] = set()
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# TYPE "):
            typed.add(line.split()[2])
        elif not line.startswith("# HELP "):
            matched = SAMPLE.fullmatch(line)
            assert matched, line
            name = matched[1]
            assert name in typed or re.sub(r"_(bucket|sum|count)$", "", name) in typed, line
            assert (name, matched[2] or "") not in found, line
            found[name, matched[2] or ""] = float(line.rpartition(" ")[2])
    return found


def metrics_at(log: Path) -> str:
    for _ in range(100):
        if matched := re.search(r"serving metrics at (\S+)", log.read_text()):
            return matched[1]
        time.sleep(0.05)
    raise AssertionError(log.read_text())


def scraped(url: str, wanted: str = "pymem_doctor_findings") -> tuple[str, dict[Any, float]]:
    """Return the metrics, once those of the database are there."""
    for _ in range(200):
        answer = httpx2.get(url, timeout=5)
        assert answer.headers["content-type"] == metrics.CONTENT_TYPE
        if wanted in answer.text:
            break
        time.sleep(0.05)
    return answer.text, parse(answer.text)


def call(shared: Shared, token: str | None, name: str, **arguments: Any) -> httpx2.Response:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }
    headers = ACCEPT if token is None else {**ACCEPT, "Authorization": f"Bearer {token}"}
    return httpx2.post(shared.serving.url, json=body, headers=headers, timeout=30)


@pytest.fixture(scope="module")
def seen(
    server: Server, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shared]:
    """A gateway's server with metrics and an access log in JSON, and what it was asked."""
    folder = tmp_path_factory.mktemp("seen")
    os.environ["PYMEM_LOG_FORMAT"] = "json"
    try:
        with fresh_database(server, template) as database:
            login = database.login(None)
            for tenant in ("garden of Ada", "house of Ben"):
                # The database is asked as soon as the server starts, and then for a while not.
                database.value("select memory.store_episode(%s, 'home')", SECRET, tenant=tenant)
            with serving(login, folder, "--metrics-port", "0", "--access-log") as running:
                shared = Shared(running, database, login)
                call(shared, None, "memory_stats")
                for tenant in ("garden of Ada", "house of Ben"):
                    token = make_token(database, tenant)
                    stored = call(
                        shared, token, "memory_store_fact", subject="tulips", predicate="place",
                        content=SECRET,
                    )  # fmt: skip
                    assert stored.status_code == 200, stored.text
                    call(shared, token, "memory_search", query=SECRET)
                    call(shared, token, "memory_get", memory_type="fact", memory_id="no id")
                    call(shared, token, f"no_tool_{SECRET}")
                yield shared
    finally:
        del os.environ["PYMEM_LOG_FORMAT"]


def test_metrics_count_calls_by_outcome_and_memories_of_all_tenants(seen: Shared) -> None:
    text, found = scraped(metrics_at(seen.serving.log))

    def value(name: str, **labels: str) -> float:
        return found[name, ",".join(f'{key}="{text}"' for key, text in labels.items())]

    assert value("pymem_tool_calls_total", tool="memory_store_fact", outcome="ok") == 2
    assert value("pymem_tool_calls_total", tool="memory_search", outcome="ok") == 2
    assert value("pymem_tool_calls_total", tool="memory_get", outcome="refused") == 2
    assert value("pymem_tool_calls_total", tool="unknown", outcome="refused") == 2
    assert value("pymem_tool_duration_seconds_count", tool="memory_store_fact") == 2
    assert value("pymem_tool_duration_seconds_bucket", tool="memory_store_fact", le="+Inf") == 2
    assert value("pymem_http_requests_total", route="/mcp", status="4xx") == 1
    assert value("pymem_up") == 1
    assert found["pymem_memories", 'type="episode",state="pending"'] == 2
    assert value("pymem_consolidation_pending") == 2
    assert value("pymem_embedding_backlog", target="active") == 2
    assert value("pymem_pool_size", role="login") >= 1
    assert value("pymem_pool_waiting", role="memory_writer") == 0
    assert {key for key in found if key[0] == "pymem_doctor_findings"} == {
        ("pymem_doctor_findings", f'severity="{each}"') for each in ("error", "warning", "info")
    }
    for hidden in ("Ada", "Ben", "tulips", "pymem_6", "no_tool"):
        assert hidden not in text


def test_metrics_are_on_a_port_of_their_own_and_answer_local_names_only(seen: Shared) -> None:
    url = metrics_at(seen.serving.log)

    assert httpx2.get(f"{seen.serving.origin}/metrics").status_code == 404
    assert url.startswith("http://127.0.0.1:")
    assert httpx2.get(url, headers={"Host": "evil.example.org"}).status_code == 421
    assert httpx2.get(url, headers={"Origin": "http://evil.example.org"}).status_code == 403
    assert httpx2.post(url).status_code == 405


def access_lines(shared: Shared) -> list[dict[str, Any]]:
    lines = [each for each in shared.serving.log.read_text().splitlines() if each.startswith("{")]
    return [line for line in map(json.loads, lines) if line["logger"] == "pymem.access"]


def test_the_access_log_names_route_status_and_token_but_no_text(seen: Shared) -> None:
    answer = httpx2.post(
        seen.serving.url, json=LIST, headers={**ACCEPT, "X-Request-Id": "trace-7"}, timeout=5
    )
    made_up = httpx2.get(
        f"{seen.serving.origin}/no/such/{SECRET}", headers={"X-Request-Id": "a\tb"}
    )
    # A line is written once its answer is sent: the last one may come after its answer.
    for _ in range(100):
        requests = access_lines(seen)
        by_id = {line["request_id"]: line for line in requests}
        if {"trace-7", made_up.headers["x-request-id"]} <= by_id.keys():
            break
        time.sleep(0.05)

    assert answer.headers["x-request-id"] == "trace-7"
    assert re.fullmatch("[0-9a-f]{32}", made_up.headers["x-request-id"])
    first, by_ada = requests[0], requests[1]
    assert (first["method"], first["route"], first["status"]) == ("POST", "/mcp", 401)
    assert first["token"] == "-"
    assert by_ada["status"] == 200
    assert by_ada["ms"] > 0
    ids = seen.database.value(
        "select array_agg(left(t.id::text, 8)) from memory.access_tokens as t",
        tenant="garden of Ada",
    )
    assert by_ada["token"] in ids
    assert {line["route"] for line in requests if line["status"] == 404} == {"other"}
    assert by_id["trace-7"]["route"] == "/mcp"
    assert by_id[made_up.headers["x-request-id"]]["route"] == "other"
    for hidden in (SECRET, "tulips", "Ada", "pymem_6"):
        assert hidden not in "\n".join(json.dumps(line) for line in requests)


def test_a_line_of_json_tells_where_it_failed_but_not_the_text_of_the_error() -> None:
    try:
        raise ValueError(SECRET)
    except ValueError:
        record = logging.LogRecord(
            "pymem", logging.ERROR, __file__, 1, "it\nfailed", None, sys.exc_info()
        )

    line = JsonFormatter().format(record)

    assert "\n" not in line
    assert SECRET not in line
    assert json.loads(line)["exception"] == "builtins.ValueError"
    assert json.loads(line)["message"] == "it\nfailed"
    assert "test_observing.py" in json.loads(line)["frames"][0]


def test_labels_are_escaped_and_buckets_add_up() -> None:
    counter = metrics.Counter("a_total", "What\nit is.", ("b",))
    counter.count('"\\\n')
    histogram = metrics.Histogram("c_seconds", "How long.", ())
    for seconds in (0.001, 0.005, 100.0):
        histogram.observe(seconds)

    text = metrics.render([counter, histogram])

    assert 'a_total{b="\\"\\\\\\n"} 1\n' in text
    assert "# HELP a_total What\\nit is.\n" in text
    found = parse(text)
    assert found["c_seconds_bucket", 'le="0.005"'] == 2
    assert found["c_seconds_bucket", 'le="30"'] == 2
    assert found["c_seconds_bucket", 'le="+Inf"'] == found["c_seconds_count", ""] == 3
    assert found["c_seconds_sum", ""] == pytest.approx(100.006)


@pytest.mark.parametrize(
    ("code", "outcome"),
    [("PM002", "refused"), ("08001", "unavailable"), ("53300", "unavailable"), ("XX000", "failed")],
)
def test_outcomes_follow_the_code_of_an_error(code: str, outcome: str) -> None:
    assert outcome_of({"error": {"code": code}}, True) == outcome
    assert outcome_of({}, False) == "ok"


def test_pymem_run_serves_the_metrics_of_its_tenant(
    server: Server, template: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with fresh_database(server, template) as database, log.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "pymem.cli", "run", "--no-embed", "--metrics-port", "0"],
            env={
                **os.environ,
                "PYMEM_DATABASE_URL": database.login("a"),
                "PYMEM_NO_EMBEDDINGS": "1",
            },
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )
        try:
            _, found = scraped(metrics_at(log))
            assert found["pymem_up", ""] == 1
            assert ("pymem_unsealed_events", "") in found
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()
            process.wait()


def test_what_cannot_be_served_is_refused(database: Database) -> None:
    def refused(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "pymem.cli", *arguments],
            env={**os.environ, "PYMEM_DATABASE_URL": database.login("a")},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 2, done.stderr
        return done.stderr

    assert "requires --transport http" in refused("mcp", "--metrics-port", "0")
    assert "--once" in refused("run", "--once", "--metrics-port", "0")


# What is shipped to look at them

METRIC = re.compile(r"\bpymem_[a-z_]+")


def names_of(text: str) -> set[str]:
    return set(METRIC.findall(text))


def test_the_board_and_the_rules_and_the_page_name_metrics_that_exist(seen: Shared) -> None:
    text, _ = scraped(metrics_at(seen.serving.log))
    served = set(re.findall(r"^# TYPE (\S+)", text, re.M))
    queried = served | {f"{name}_bucket" for name in served if name.endswith("_seconds")}
    board = json.loads((ROOT / "examples/grafana/pymem.json").read_text())
    rules = yaml.safe_load((ROOT / "examples/prometheus/pymem.rules.yml").read_text())
    page = (ROOT / "docs/observability.md").read_text()
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    alerts = {rule["alert"]: rule["expr"] for group in rules["groups"] for rule in group["rules"]}

    assert all(names_of(each) for each in [*expressions, *alerts.values()])
    for expression in [*expressions, *alerts.values()]:
        assert names_of(expression) <= queried, expression
        assert expression.count("(") == expression.count(")"), expression
    assert names_of("\n".join(expressions)) | {"pymem_metrics_age_seconds"} >= {
        name for name in served if "duration" not in name
    }
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    documented = names_of("\n".join(re.findall(r"^\| `(.*?)` \|", page, re.M)))
    assert documented == served
    assert set(re.findall(r"\bPymem\w+", page)) == set(alerts)
