"""The embedding model of the server, for other programs: the embeddings API of OpenAI."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from pymem.embedding import EmbeddingEngine
from pymem.embedding.engine import DIMENSIONS
from pymem.errors import PymemError
from pymem.mcp_server.limits import FairShare
from pymem.sanitize import clean_text

logger = logging.getLogger(__name__)

PATH = "/v1/embeddings"

MAX_TEXTS = 2048
"""Texts of a request, as OpenAI takes."""

# So that nobody waits for all texts of somebody else.
_TEXTS_AT_A_TIME = 32


class _BadRequestError(Exception):
    """A request that is refused.

    Args:
        message: What is wrong.
        param: The field that is.
        status: HTTP status of the answer.
    """

    def __init__(self, message: str, param: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.param = param
        self.status = status


class EmbeddingsApp:
    """Answers POST with vectors; the request has been authenticated and its length checked.

    Args:
        engine: Embeds the texts; None for a server without embeddings, which answers 503.
    """

    def __init__(self, engine: EmbeddingEngine | None) -> None:
        self._engine = engine
        # The model itself uses all processors.
        self._shares = FairShare(2)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
        except _BadRequestError as error:
            response = error_response(error.status, str(error), error.param)
        except Exception as error:
            logger.exception("the embedding engine failed")
            message = error.message if isinstance(error, PymemError) else "the engine failed"
            response = error_response(503, message)
        else:
            response = JSONResponse(answer)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> dict[str, Any]:
        engine = self._engine
        if engine is None:
            raise _BadRequestError("this server has no embedding model", status=503)
        try:
            asked = json.loads(await request.body())
        except (ValueError, RecursionError):
            raise _BadRequestError("the body is no JSON") from None
        if not isinstance(asked, dict):
            raise _BadRequestError("the body is no JSON object")
        texts, in_base64 = _read(asked, engine)
        vectors: list[list[float]] = []
        for start in range(0, len(texts), _TEXTS_AT_A_TIME):
            async with self._shares.turn(request.user.access_token.holder.tenant_id):
                vectors += await asyncio.to_thread(
                    engine.embed_batch, texts[start : start + _TEXTS_AT_A_TIME]
                )
        return {
            "object": "list",
            "model": engine.model,
            "data": [
                {
                    "object": "embedding",
                    "index": index,
                    "embedding": _in_base64(vector) if in_base64 else vector,
                }
                for index, vector in enumerate(vectors)
            ],
            # Clients require the numbers; nobody pays for them here.
            "usage": {"prompt_tokens": 0, "total_tokens": 0},
        }


def _read(asked: Mapping[str, Any], engine: EmbeddingEngine) -> tuple[list[str], bool]:
    """Return the texts, and whether their vectors are wanted in base64."""
    texts = asked.get("input")
    if isinstance(texts, str):
        texts = [texts]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise _BadRequestError("input is no text and no list of texts", "input")
    if not 1 <= len(texts) <= MAX_TEXTS:
        raise _BadRequestError(f"input has {len(texts)} texts, not 1 to {MAX_TEXTS}", "input")
    if (model := asked.get("model", engine.model)) not in (engine.model, _short(engine.model)):
        raise _BadRequestError(
            f"the model of this server is {engine.model}, not {clean_text(str(model)[:100])}",
            "model",
            404,
        )
    if asked.get("dimensions") not in (None, DIMENSIONS):
        raise _BadRequestError(f"vectors have {DIMENSIONS} dimensions", "dimensions")
    form = asked.get("encoding_format", "float")
    if form not in ("float", "base64"):
        raise _BadRequestError("encoding_format is neither float nor base64", "encoding_format")
    return texts, form == "base64"


def _short(model: str) -> str:
    return model.rpartition("/")[2]


def _in_base64(vector: list[float]) -> str:
    return base64.b64encode(np.array(vector, "<f4").tobytes()).decode()


def error_response(status: int, message: str, param: str | None = None) -> JSONResponse:
    """Return an error in the form of OpenAI.

    Args:
        status: HTTP status.
        message: What is wrong.
        param: The field that is; None for the request as a whole.
    """
    kind = "invalid_request_error" if status < 500 else "server_error"
    return JSONResponse(
        {"error": {"message": message, "type": kind, "param": param, "code": None}}, status
    )


class TrustedHosts:
    """Refuses requests to other hosts, or from other pages, than the server's own.

    Args:
        app: The application.
        security: Which Host and Origin headers are accepted.
    """

    def __init__(self, app: ASGIApp, security: TransportSecuritySettings) -> None:
        self._app = app
        self._security = TransportSecurityMiddleware(security)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        if refused := await self._security.validate_request(request):
            await refused(scope, receive, send)
        else:
            await self._app(scope, receive, send)
