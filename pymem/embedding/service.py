"""A model behind a service with the embeddings API of OpenAI."""

from __future__ import annotations

import base64
import json
import math
import os
import time
import weakref
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import numpy as np
from numpy.typing import NDArray

from pymem.errors import InvalidArgumentError, UnavailableError
from pymem.sanitize import clean_text

KEY_VARIABLE = "PYMEM_EMBEDDING_KEY"
"""Environment variable with the key of the service, which is sent as bearer token."""

MAX_TEXTS = 256
"""Texts in one request; OpenAI takes at most 2048."""
MAX_CHARACTERS = 200_000
"""Characters in one request, unless one text alone is longer."""
_SHORTEST = 500
"""Characters to which a text is cut down, when the service calls it too long."""
_CONNECT_SECONDS = 5.0
_SILENT_SECONDS = 60.0
_WAITS = (0.5, 2.0, 5.0)
"""Seconds before each further attempt, where the service does not ask for more."""
_MAX_WAIT = 20.0
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
"""Statuses of a service that may answer the same request later."""
_REFUSED = frozenset({400, 413, 422})
"""Statuses of a service that may take the same texts shorter, or fewer of them."""
_END = "/embeddings"
_MAX_BYTES_OF_A_VECTOR = 256 << 10
_SHOWN = 300


def is_service(model: str) -> bool:
    """Return whether a model is named by the URL of a service."""
    return model.startswith(("http://", "https://"))


class ServiceEncoder:
    """A model that an OpenAI-compatible service runs: OpenAI, vLLM, Ollama, llama.cpp and others.

    The service gets the texts of memories and queries. No redirection is followed, which would get
    them and perhaps the key. A request that is refused because it is busy, or cannot be reached, is
    made again after 0.5, 2 and 5 seconds, or when the service says, within 20 seconds. Texts that
    are too long for the model count with their beginning, as with local models.

    Args:
        url: ``https://host/v1#model``: the base URL of the API, and the model as the service names
            it. With ``?dimensions=384`` before the ``#``, the service is asked for vectors of that
            length; some refuse to be asked, so nothing is sent otherwise.

    Attributes:
        model: Name of the model, and host and path of the service, since models of one name differ.
        asked: The length of vectors that is asked for; None for the model's own.
        dimensions: Length of the vectors that the service gives.

    Raises:
        InvalidArgumentError: Not such a URL, or one with a password.
        UnavailableError: The service cannot be reached, refuses or gives no vectors.
    """

    def __init__(self, url: str) -> None:
        self.model, self.url, self._name, self.asked = _read(url)
        # Without a query, which may hold a key.
        self._shown_url = self.url.partition("?")[0]
        self._key = os.environ.get(KEY_VARIABLE) or None
        if self._key is not None and not (self._key.isascii() and self._key.isprintable()):
            raise InvalidArgumentError(
                f"{KEY_VARIABLE} is malformed", hint="Check it for line breaks and quotes."
            )
        import httpx2

        self._client = httpx2.Client(
            timeout=httpx2.Timeout(_SILENT_SECONDS, connect=_CONNECT_SECONDS),
            follow_redirects=False,
        )
        weakref.finalize(self, self._client.close)
        self.dimensions = 0
        self.dimensions = self._post(["dimensions"]).shape[1]

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, of length 1, as the rows of an array.

        Raises:
            UnavailableError: As the class.
        """
        vectors = [self._encode(part) for part in _parts(texts)]
        return np.concatenate(vectors) if vectors else np.empty((0, self.dimensions), np.float32)

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        try:
            return self._post(texts)
        except _RefusedError:
            # One of them may be too long, or all together.
            if len(texts) > 1:
                middle = len(texts) // 2
                return np.concatenate([self._encode(texts[:middle]), self._encode(texts[middle:])])
            if len(texts[0]) <= _SHORTEST:
                raise
            return self._encode([texts[0][: len(texts[0]) // 2]])

    def _post(self, texts: list[str]) -> NDArray[np.float32]:
        request: dict[str, Any] = {
            "model": self._name,
            "input": texts,
            "encoding_format": "float",
        }
        if self.asked is not None:
            request["dimensions"] = self.asked
        begun = time.monotonic()
        for wait in (*_WAITS, None):
            status, retry_after, body, trouble = self._ask(request, len(texts))
            if trouble is None and status not in _BUSY:
                break
            seconds = max(wait or 0.0, retry_after)
            if wait is None or time.monotonic() + seconds > begun + _MAX_WAIT:
                break
            time.sleep(seconds)
        if trouble is not None:
            raise UnavailableError(
                f"{self._shown_url} cannot be reached: {trouble}",
                hint="Check the URL, and that the service is running.",
            )
        if not 200 <= status < 300:
            raise self._refusal(status, body)
        return self._vectors(body, len(texts))

    def _ask(self, request: dict[str, Any], count: int) -> tuple[int, float, bytes, str | None]:
        """Return the status, the seconds to wait, the body, and why there is none of these."""
        import httpx2

        headers = {} if self._key is None else {"Authorization": f"Bearer {self._key}"}
        body = bytearray()
        try:
            with self._client.stream("POST", self.url, json=request, headers=headers) as response:
                for part in response.iter_bytes():
                    body += part
                    if len(body) > (count + 4) * _MAX_BYTES_OF_A_VECTOR:
                        raise self._useless("more than vectors")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            return 0, 0.0, b"", self._censored(str(error)) or type(error).__name__
        return (
            response.status_code,
            _seconds(response.headers.get("Retry-After")),
            bytes(body),
            None,
        )

    def _refusal(self, status: int, body: bytes) -> UnavailableError:
        said = self._censored(clean_text(body[:2000].decode("utf-8", "replace"))).strip()
        message = f"{self._shown_url} answered {status}: {said[:_SHOWN]}"
        if "dimension" in said and self.asked is not None:
            return UnavailableError(
                message,
                hint="The model may not be made for other lengths: leave ?dimensions= out of the "
                "URL. With --dimensions 384, the vectors are cut here.",
            )
        hint = f"Check the name of the model, and the key in {KEY_VARIABLE}."
        if 300 <= status < 400:
            hint = "Pass the URL that it redirects to."
        return (_RefusedError if status in _REFUSED else UnavailableError)(message, hint=hint)

    def _vectors(self, body: bytes, count: int) -> NDArray[np.float32]:
        try:
            rows = sorted(json.loads(body)["data"], key=lambda row: int(row["index"]))
            indexes = [int(row["index"]) for row in rows]
            vectors = np.stack([_vector(row["embedding"]) for row in rows])
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise self._useless("no list of vectors") from error
        if indexes != list(range(count)):
            raise self._useless(f"{len(indexes)} vectors for {count} texts")
        expected = self.asked or self.dimensions or vectors.shape[1]
        if vectors.shape[1] != expected:
            raise self._useless(f"vectors of {vectors.shape[1]} dimensions, not {expected}")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not (norms > 0).all():
            raise self._useless("vectors that are zero or not finite")
        unit: NDArray[np.float32] = (vectors / norms).astype(np.float32)
        return unit

    def _useless(self, what: str) -> UnavailableError:
        return UnavailableError(
            f"{self._shown_url} answered {what}",
            hint="The service must offer OpenAI-compatible embeddings, from one model only.",
        )

    def _censored(self, text: str) -> str:
        """Return a text without the key, which some services repeat."""
        return text if self._key is None else text.replace(self._key, "***")


class _RefusedError(UnavailableError):
    """The service does not take the texts as they are."""


def _read(url: str) -> tuple[str, str, str, int | None]:
    """Return the name of a model, the address of embeddings, the service's name and the length."""
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_one = False
    if not is_one or not parts.fragment:
        raise InvalidArgumentError(
            "the URL of the embedding model names no service and model",
            hint="Pass a URL such as http://localhost:11434/v1#nomic-embed-text.",
        )
    if "@" in parts.netloc:
        raise InvalidArgumentError(
            "the URL of the embedding model holds a password", hint=f"Set {KEY_VARIABLE}."
        )
    query = parse_qsl(parts.query, keep_blank_values=True)
    asked = [value for name, value in query if name == "dimensions"]
    if asked and not (len(asked) == 1 and asked[0].isdecimal() and 0 < int(asked[0]) <= 65536):
        raise InvalidArgumentError(
            "the URL of the embedding model asks for no length",
            hint="Write ?dimensions=384 before the #.",
        )
    name = clean_text(parts.fragment)
    base = parts.path.rstrip("/").removesuffix(_END)
    others = urlencode([(key, value) for key, value in query if key != "dimensions"])
    return (
        f"{name}@{parts.netloc}{base}",
        urlunsplit((parts.scheme, parts.netloc, base + _END, others, "")),
        name,
        int(asked[0]) if asked else None,
    )


def name_of(url: str) -> str:
    """Return the name of the model that a URL names.

    Raises:
        InvalidArgumentError: As ServiceEncoder.
    """
    return _read(url)[0]


def _parts(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts in parts of a bounded number and length."""
    part: list[str] = []
    length = 0
    for text in texts:
        if part and (len(part) == MAX_TEXTS or length + len(text) > MAX_CHARACTERS):
            yield part
            part, length = [], 0
        part.append(text)
        length += len(text)
    if part:
        yield part


def _vector(value: Any) -> NDArray[np.float64]:
    if isinstance(value, str):
        # Some services answer in base64 whatever is asked for.
        return np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float64)
    if not isinstance(value, list) or not value:
        raise TypeError("no vector")
    return np.array([float(number) for number in value], np.float64)


def _seconds(retry_after: str | None) -> float:
    try:
        seconds = float(retry_after or 0)
    except ValueError:
        return 0.0  # a date
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0
