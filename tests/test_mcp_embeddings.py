"""Other programs use the embedding model of the server as they use OpenAI's."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest

from pymem.embedding import DEFAULT_MODEL, get_embedding_engine
from tests.conftest import Server, fresh_database
from tests.test_mcp_http import Shared, serving, tenant

pytestmark = pytest.mark.anyio

__all__ = ["tenant"]


@pytest.fixture(scope="module")
def shared(
    server: Server, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shared]:
    with fresh_database(server, template) as database:
        login = database.login(None)
        with serving(login, tmp_path_factory.mktemp("mcp"), with_model=True) as running:
            yield Shared(running, database, login)


async def ask(shared: Shared, token: str | None, asked: Any, **headers: str) -> httpx2.Response:
    """Ask for vectors; what is asked is JSON, or bytes as they are."""
    url = shared.serving.url.rpartition("/")[0] + "/v1/embeddings"
    sent = {"content": asked} if isinstance(asked, bytes) else {"json": asked}
    authorization = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(timeout=60) as http:
        return await http.post(url, headers={**authorization, **headers}, **sent)


async def test_a_reader_gets_the_vectors_of_the_model(shared: Shared, tenant: str) -> None:
    token = shared.token(tenant, "reader")
    engine = get_embedding_engine()

    many = (
        await ask(shared, token, {"model": DEFAULT_MODEL, "input": ["tea"] * 40 + ["cake"]})
    ).json()
    one = (await ask(shared, token, {"input": "cake", "dimensions": 384, "user": "x"})).json()
    packed = await ask(shared, token, {"input": "cake", "encoding_format": "base64"})

    assert [row["index"] for row in many["data"]] == list(range(41))
    assert many["model"] == DEFAULT_MODEL
    cake = np.array(engine.embed("cake"))
    for vector in (many["data"][40]["embedding"], one["data"][0]["embedding"]):
        assert np.allclose(vector, cake, atol=1e-5)
    numbers = np.frombuffer(base64.b64decode(packed.json()["data"][0]["embedding"]), "<f4")
    assert np.allclose(numbers, cake, atol=1e-5)


@pytest.mark.parametrize(
    ("asked", "status", "param"),
    [
        (b"{", 400, None),
        (b"[" * 100_000, 400, None),
        ([], 400, None),
        ({}, 400, "input"),
        ({"input": []}, 400, "input"),
        ({"input": [[1, 2]]}, 400, "input"),
        ({"input": ["x"] * 2049}, 400, "input"),
        ({"input": "x", "model": "text-embedding-3-small"}, 404, "model"),
        ({"input": "x", "model": ["x"]}, 404, "model"),
        ({"input": "x", "dimensions": 512}, 400, "dimensions"),
        ({"input": "x", "encoding_format": "int8"}, 400, "encoding_format"),
    ],
)
async def test_what_cannot_be_answered_says_why_in_the_form_of_openai(
    shared: Shared, tenant: str, asked: Any, status: int, param: str | None
) -> None:
    answer = await ask(shared, shared.token(tenant, "reader"), asked)

    assert answer.status_code == status
    error = answer.json()["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert error["message"]


async def test_a_server_without_a_model_says_so(
    shared: Shared, tenant: str, tmp_path: Path
) -> None:
    with serving(shared.login, tmp_path) as running:
        plain = Shared(running, shared.database, shared.login)
        answer = await ask(plain, shared.token(tenant, "reader"), {"input": "x"})

    assert answer.status_code == 503
    assert answer.json()["error"]["message"] == "this server has no embedding model"


async def test_vectors_need_a_token_a_known_host_and_a_bounded_body(
    shared: Shared, tenant: str
) -> None:
    token = shared.token(tenant, "reader")

    assert (await ask(shared, None, {"input": "x"})).status_code == 401
    assert (await ask(shared, token, {"input": "x"}, Host="evil.example")).status_code == 421
    assert (
        await ask(shared, token, {"input": "x"}, Origin="https://evil.example")
    ).status_code == 403
    assert (await ask(shared, token, {"input": "x" * (5 << 20)})).status_code == 413


async def test_texts_with_what_no_model_reads_have_vectors_too(shared: Shared, tenant: str) -> None:
    answer = await ask(
        shared, shared.token(tenant), {"input": ["", "\x00", "\u202e", "tea" * 9999]}
    )

    assert [len(row["embedding"]) for row in answer.json()["data"]] == [384] * 4
