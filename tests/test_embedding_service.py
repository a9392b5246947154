"""Models of OpenAI-compatible services give vectors that fit, or an error that says why not."""

from __future__ import annotations

import base64
import json
import struct
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from pymem import InvalidArgumentError, Memory, UnavailableError
from pymem.embedding import EmbeddingEngine, embeddings_installed, service
from pymem.reembedding import reembed
from pymem.worker import EmbeddingWorker
from tests.conftest import Database

pytestmark = pytest.mark.anyio

Request = dict[str, Any]
Respond = Callable[[Request], tuple[int, Any]]


class Service:
    """A service whose answers a test decides."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.keys: list[str | None] = []
        self.headers: dict[str, str] = {}
        self.respond: Respond = vectors
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append({**request, "path": self.path})
                outer.keys.append(self.headers.get("Authorization"))
                status, answer = outer.respond(request)
                body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.host}/v1"


@pytest.fixture
def fake() -> Iterator[Service]:
    fake = Service()
    thread = threading.Thread(target=fake.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield fake
    finally:
        fake.server.shutdown()
        thread.join()
        fake.server.server_close()


def vector(text: str, length: int = 384) -> list[float]:
    """Twice as long as it should be, and different for different texts."""
    numbers = np.random.default_rng(list(text.encode())).normal(size=length)
    return [float(number) for number in 2 * numbers / np.linalg.norm(numbers)]


def vectors(request: Request, length: int = 384) -> tuple[int, Any]:
    rows = [
        {"object": "embedding", "index": index, "embedding": vector(text, length)}
        for index, text in enumerate(request["input"])
    ]
    return 200, {"object": "list", "data": rows[::-1], "model": request["model"]}


async def test_vectors_come_in_the_order_of_the_texts_and_have_length_1(fake: Service) -> None:
    engine = EmbeddingEngine(f"{fake.url}#tiny")

    found = np.array(engine.embed_batch(["tea", "", "cake"]))

    assert np.allclose(found, np.array([vector("tea"), vector(" "), vector("cake")]) / 2, atol=1e-6)
    assert [request["model"] for request in fake.requests] == ["tiny", "tiny"]
    assert {request["path"] for request in fake.requests} == {"/v1/embeddings"}
    assert not any("dimensions" in request for request in fake.requests)


async def test_a_model_is_named_by_its_service_and_its_version_by_its_length(
    fake: Service,
) -> None:
    def by_request(request: Request) -> tuple[int, Any]:
        return vectors(request, request.get("dimensions", 1024))

    fake.respond = by_request
    cut = EmbeddingEngine(f"{fake.url}/embeddings#org/Tiny", dimensions=384)
    asked = EmbeddingEngine(f"{fake.url}?dimensions=384#org/Tiny")

    assert (cut.model, cut.load()) == (f"org/Tiny@{fake.host}/v1", "1024:384")
    assert (asked.model, asked.load()) == (f"org/Tiny@{fake.host}/v1", "384?")
    assert asked.backend == "service"
    assert fake.requests[-1]["dimensions"] == 384
    short = np.array(vector("tea", 1024))[:384]
    assert np.allclose(cut.embed("tea"), short / np.linalg.norm(short), atol=1e-6)


async def test_longer_vectors_are_refused_unless_they_may_be_cut(fake: Service) -> None:
    fake.respond = lambda request: vectors(request, 1024)

    with pytest.raises(UnavailableError, match="vectors of 1024 dimensions"):
        EmbeddingEngine(f"{fake.url}#tiny").load()


async def test_a_service_that_ignores_the_length_asked_for_is_found_out(fake: Service) -> None:
    fake.respond = lambda request: vectors(request, 768)

    with pytest.raises(UnavailableError, match="vectors of 768 dimensions, not 384"):
        EmbeddingEngine(f"{fake.url}?dimensions=384#tiny").load()


async def test_a_service_that_refuses_the_length_asked_for_is_told_of(fake: Service) -> None:
    fake.respond = lambda request: (
        400,
        {"message": "Model does not support matryoshka; changing output dimensions is refused"},
    )

    with pytest.raises(UnavailableError, match="answered 400") as caught:
        EmbeddingEngine(f"{fake.url}?dimensions=384#tiny").load()
    assert "leave ?dimensions= out" in str(caught.value.hint)
    assert len(fake.requests) == 1


async def test_base64_is_read_too(fake: Service) -> None:
    def packed(request: Request) -> tuple[int, Any]:
        status, answer = vectors(request)
        for row in answer["data"]:
            row["embedding"] = base64.b64encode(struct.pack("<384f", *row["embedding"])).decode()
        return status, answer

    fake.respond = packed

    assert np.allclose(
        EmbeddingEngine(f"{fake.url}#tiny").embed("tea"), np.array(vector("tea")) / 2, atol=1e-6
    )


async def test_many_texts_are_sent_in_bounded_requests(
    fake: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MAX_TEXTS", 4)
    monkeypatch.setattr(service, "MAX_CHARACTERS", 30)
    engine = EmbeddingEngine(f"{fake.url}#tiny")

    engine.embed_batch(["x"] * 10 + ["y" * 50, "z" * 20, "z" * 20])

    sent = [len(request["input"]) for request in fake.requests[1:]]
    assert sent == [4, 4, 2, 1, 1, 1]


async def test_a_text_that_is_too_long_counts_with_its_beginning(fake: Service) -> None:
    def strict(request: Request) -> tuple[int, Any]:
        if any(len(text) > 3000 for text in request["input"]):
            return 400, {"error": {"message": "maximum context length is 3000"}}
        return vectors(request)

    fake.respond = strict
    found = EmbeddingEngine(f"{fake.url}#tiny").embed_batch(["tea", "x" * 10000, "cake"])

    expected = [vector("tea"), vector("x" * 2500), vector("cake")]
    assert np.allclose(found, np.array(expected) / 2, atol=1e-6)


async def test_a_busy_service_is_asked_again_when_it_says(
    fake: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("pymem.embedding.service.time.sleep", waited.append)
    fake.headers = {"Retry-After": "3"}
    fake.respond = lambda request: (
        (429, {"error": "slow down"}) if len(fake.requests) < 3 else vectors(request)
    )

    assert EmbeddingEngine(f"{fake.url}#tiny").load() == "384"
    assert waited == [3.0, 3.0]


async def test_a_service_that_stays_busy_is_given_up(
    fake: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("pymem.embedding.service.time.sleep", waited.append)
    fake.respond = lambda request: (503, b"loading")

    with pytest.raises(UnavailableError, match="answered 503: loading"):
        EmbeddingEngine(f"{fake.url}#tiny").load()
    assert waited == [0.5, 2.0, 5.0]

    fake.headers = {"Retry-After": "3600"}
    waited.clear()
    with pytest.raises(UnavailableError, match="503"):
        EmbeddingEngine(f"{fake.url}#tiny").load()
    assert waited == []


@pytest.mark.parametrize(
    ("status", "answer", "reason"),
    [
        (200, b"<html>", "no list of vectors"),
        (200, {"data": None}, "no list of vectors"),
        (200, b"[" * 100_000, "no list of vectors"),
        (200, {"data": [{"index": 0, "embedding": []}]}, "no list of vectors"),
        (200, {"data": [{"index": 0, "embedding": ["x"]}]}, "no list of vectors"),
        (200, {"data": [{"index": 7, "embedding": [1.0] * 384}]}, "1 vectors for 1 texts"),
        (200, {"data": [{"index": 0, "embedding": [0.0] * 384}]}, "zero or not finite"),
        (200, {"data": [{"index": 0, "embedding": [float("nan")] * 384}]}, "zero or not finite"),
        (200, {"data": [{"index": 0, "embedding": [1.0] * 12}]}, "vectors of 12 dimensions"),
        (200, b" " * (2 << 20), "more than vectors"),
        (302, b"", "answered 302"),
        (401, {"error": "no such key: s3cret"}, r"answered 401: .*no such key: \*\*\*"),
        (404, {"error": "no such model"}, "answered 404"),
    ],
)
async def test_what_is_no_vector_is_an_error_that_says_so(
    fake: Service, monkeypatch: pytest.MonkeyPatch, status: int, answer: Any, reason: str
) -> None:
    monkeypatch.setenv(service.KEY_VARIABLE, "s3cret")
    fake.headers = {"Location": "http://127.0.0.1:1/"} if status == 302 else {}
    fake.respond = lambda request: (status, answer)

    with pytest.raises(UnavailableError, match=reason) as caught:
        EmbeddingEngine(f"{fake.url}#tiny").load()
    assert "s3cret" not in f"{caught.value} {caught.value.hint}"
    assert fake.keys == ["Bearer s3cret"]


async def test_a_service_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_WAITS", ())

    with pytest.raises(UnavailableError, match=r"http://127.0.0.1:1/v1/embeddings cannot be"):
        EmbeddingEngine("http://127.0.0.1:1/v1#tiny").load()


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/v1",
        "http:///v1#tiny",
        "http://[::1/v1#tiny",
        "https://me:s3cret@localhost/v1#tiny",
        "http://localhost/v1?dimensions=many#tiny",
        "http://localhost/v1?dimensions=384&dimensions=384#tiny",
    ],
)
async def test_a_url_that_names_no_model_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        EmbeddingEngine(url)
    assert "s3cret" not in str(caught.value)


async def test_a_model_of_a_service_needs_nothing_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pymem.embedding.engine._installed", lambda *packages: False)

    assert embeddings_installed("http://localhost/v1#tiny")


async def test_a_memory_changes_to_a_service_and_lives_on_without_it(
    fake: Service, database: Database
) -> None:
    engine = EmbeddingEngine(f"{fake.url}#tiny")
    async with await Memory.connect(database.login("a")) as plain:
        await plain.store_fact("Ada", "drinks", "tea")
        changed = await reembed(plain, engine)
    assert (changed.changed, changed.embedded) == (True, 1)

    async with await Memory.connect(database.login("a"), engine=engine) as memory:
        await memory.store_fact("Ada", "eats", "cake")
        [best, *_] = await memory.search("Ada eats cake")
        assert best.content == "cake"
        fake.respond = lambda request: (401, {"error": "the key has expired"})
        await memory.store_fact("Ada", "plays", "chess")
        assert [found.content for found in await memory.search("chess")] == ["chess"]

        fake.respond = vectors
        assert await EmbeddingWorker(memory, engine).run_once() == 1
    assert database.query(
        "select content, vector_dims(embedding) from memory.facts order by content"
    ) == [("cake", 384), ("chess", 384), ("tea", 384)]
