"""Spans of OpenTelemetry: what a collector gets of calls, and what it never gets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from pymem.memory import Memory
from pymem.observing.spans import OPERATIONS
from tests.conftest import Server, fresh_database
from tests.test_mcp_http import make_token, serving

SECRET = "the tulips are under the third stone"
TRACE = "0af7651916cd43dd8448eb211c80319c"


class Collector:
    """What an OpenTelemetry collector would have received."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.spans: list[dict[str, Any]] = []
        self.metrics: set[str] = set()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.bodies.append(body)
                if self.path == "/v1/traces":
                    collector.take_spans(body)
                else:
                    collector.take_metrics(body)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take_spans(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = {each.key: each.value.string_value for each in resource.resource.attributes}
            for scope in resource.scope_spans:
                self.spans += [
                    {
                        "service": service["service.name"],
                        "scope": scope.scope.name,
                        "name": span.name,
                        "trace": span.trace_id.hex(),
                        "failed": span.status.code == span.status.STATUS_CODE_ERROR,
                        "attributes": {
                            each.key: each.value.string_value or each.value.int_value
                            for each in span.attributes
                        },
                    }
                    for span in scope.spans
                ]

    def take_metrics(self, body: bytes) -> None:
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            for scope in resource.scope_metrics:
                self.metrics |= {metric.name for metric in scope.metrics}

    def wait_for(self, count: int) -> list[dict[str, Any]]:
        """Return the spans of pymem once there are as many."""
        for _ in range(200):
            if len(own := [span for span in self.spans if span["scope"] == "pymem"]) >= count:
                break
            time.sleep(0.05)
        return own


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    collector = Collector()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "200")
    yield collector
    collector.server.shutdown()
    collector.server.server_close()


def call(
    url: str, token: str, name: str, key: str | None = None, /, **arguments: Any
) -> httpx2.Response:
    return httpx2.post(
        url.rpartition("/")[0] + f"/v1/tools/{name}",
        json=arguments,
        headers={
            "Authorization": f"Bearer {token}",
            "traceparent": f"00-{TRACE}-b7ad6b7169203331-01",
            **({} if key is None else {"Idempotency-Key": key}),
        },
        timeout=60,
    )


def test_a_collector_gets_spans_by_the_conventions_and_no_contents(
    server: Server, template: str, tmp_path: Path, collector: Collector
) -> None:
    with fresh_database(server, template) as database:
        token = make_token(database, "acme")
        with serving(database.login(None), tmp_path, with_model=True) as running:
            stored = call(
                running.url,
                token,
                "memory_store_fact",
                subject="Ada",
                predicate="buried",
                content=SECRET,
            ).json()
            call(running.url, token, "memory_search", query="Where are the tulips?")
            call(running.url, token, "memory_confirm", memory_type="fact", memory_id=stored["id"])
            call(running.url, token, "memory_forget", memory_type="fact", memory_id=stored["id"])
            call(
                *(running.url, token, "memory_store_episode", "the key"),
                butler="b",
                content="It rains.",
            )
            refused = call(
                running.url, token, "memory_store_episode", "the key", butler="b", content=SECRET
            )
            assert refused.status_code == 409, refused.text
            spans = collector.wait_for(10)
            for _ in range(100):
                if "gen_ai.client.operation.duration" in collector.metrics:
                    break
                time.sleep(0.05)

    model = "sentence-transformers/all-MiniLM-L6-v2"
    assert [span["name"] for span in spans][:10] == [
        f"embeddings {model}",
        "upsert_memory",
        f"embeddings {model}",
        "search_memory",
        "update_memory",
        "delete_memory",
        f"embeddings {model}",
        "create_memory",
        f"embeddings {model}",
        "create_memory",
    ]
    assert {span["service"] for span in spans} == {"pymem-mcp"}
    assert {span["trace"] for span in spans} == {TRACE}
    assert spans[3]["attributes"] == {
        "gen_ai.operation.name": "search_memory",
        "gen_ai.provider.name": "pymem",
        "pymem.function": "search",
        "pymem.results": 1,
    }
    assert spans[4]["attributes"]["gen_ai.memory.record.id"] == stored["id"]
    assert not any(span["failed"] for span in spans[:9])
    assert all(span["failed"] for span in spans[9:])
    assert spans[9]["attributes"]["error.type"] == "PM004"
    assert "gen_ai.client.operation.duration" in collector.metrics
    for secret in ("tulips", "Ada", "acme", token):
        assert not any(secret.encode() in body for body in collector.bodies), secret


def test_the_query_is_recorded_only_where_the_operator_asks_for_contents(
    server: Server,
    template: str,
    tmp_path: Path,
    collector: Collector,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    with fresh_database(server, template) as database:
        token = make_token(database, "acme")
        with serving(database.login(None), tmp_path) as running:
            call(running.url, token, "memory_search", query="Where are the tulips?")
            [span] = collector.wait_for(1)

    assert span["attributes"]["gen_ai.memory.query.text"] == "Where are the tulips?"


def test_a_collector_that_is_away_is_no_trouble_for_calls(
    server: Server, template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    with fresh_database(server, template) as database:
        token = make_token(database, "acme")
        with serving(database.login(None), tmp_path) as running:
            begun = time.monotonic()
            answer = call(running.url, token, "memory_search", query="tulips")

    assert answer.json()["results"] == []
    assert time.monotonic() - begun < 5


def test_each_function_that_has_a_span_is_one_of_the_client() -> None:
    named = {name for names in OPERATIONS.values() for name in names}
    assert {name for name in named if not hasattr(Memory, name)} == set()
    assert sum(map(len, OPERATIONS.values())) == len(named)


def test_without_an_endpoint_nothing_of_opentelemetry_is_imported_by_the_client() -> None:
    program = """if True:
        import json, sys
        import pymem, pymem.memory, pymem.observing.spans as spans
        spans.export_spans("x")
        print(json.dumps([name for name in sys.modules if name.startswith("opentelemetry")]))
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == []
