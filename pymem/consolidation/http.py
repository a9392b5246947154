"""An LLM behind a service with the chat API of OpenAI."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from pymem.consolidation.answer import (
    MAX_OUTPUT,
    TAIL,
    Answer,
    decode,
    to_count,
    too_long,
    too_slow,
)
from pymem.errors import InvalidArgumentError, LLMError, LLMUnreachableError
from pymem.sanitize import clean_text

_CONNECT_SECONDS = 10.0
_END = "/chat/completions"
_UNREACHED = frozenset({401, 402, 403, 404, 405, 407, 429, 502, 503, 529})
"""Statuses of a service that asked no model: no such key, credit, model or path; busy."""
_UNSUPPORTED = frozenset({400, 415, 422, 501})
"""Statuses of a service that may not know a field of the request."""
_TOO_LONG_PROMPT = re.compile(
    r"context.{0,20}(length|size|window)|n_ctx|too many tokens|(prompt|input) is too long"
    r"|request too large",
    re.I,
)
_FLAGGED = re.compile(r"moderation|flagged|content.?(filter|policy|management policy)", re.I)
"""Says a service that refuses what is in a prompt, with any status."""
_FORMATS = ("strict", "json_schema", "json_object", "plain")


@dataclass(frozen=True, slots=True)
class _Dialect:
    """The fields that a service and a model take; services differ.

    Attributes:
        format: The form of the answer: a JSON schema that all keywords are taken of, a JSON schema,
            any JSON object, or as the prompt says.
        has_temperature: Whether a temperature is sent. Reasoning models refuse one.
        limit: The name of the field that limits the answer; newer models of OpenAI changed it.
    """

    format: str = _FORMATS[0]
    has_temperature: bool = True
    limit: str = "max_tokens"


# What each service and model took: asked once per process, not with every batch.
_dialects: dict[tuple[str, str], _Dialect] = {}


class HttpLLM:
    """A service with an OpenAI-compatible chat API, as most hosted and local models offer.

    It is called with httpx2, the client below the openai package (3.54), rather than with that
    package. openai follows redirects and retries by default and reads the body of an error of any
    length, and of a success unless it is streamed by hand; it sends OPENAI_ORG_ID and headers about
    this machine to any server, and requires a key where a local server needs none. Each could be
    overridden; what remained would be this request and these few errors, for 30 MB and 0.4 seconds
    of import. Here a response has a limit, no redirection is followed (it would get the prompt and
    perhaps the key) and nothing is retried: consolidation retries later.

    The first request asks for the JSON schema and temperature 0. What a service refuses is left out
    from then on.

    Args:
        url: Base URL of the API, such as ``http://localhost:11434/v1``.
        model: Name of the model.
        api_key: Sent as bearer token; None for a service that needs none. It is neither stored nor
            shown, not even where the service repeats it.
        timeout: Timeout in seconds.
        max_output: Maximum length of the response, in bytes.
        max_tokens: Maximum length of the answer, in tokens; None for the service's own.
        schema: JSON schema of the answer; None asks only for a JSON object.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        timeout: float = 300,
        max_output: int = MAX_OUTPUT,
        max_tokens: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> None:
        if api_key is not None and not (api_key.isascii() and api_key.isprintable() and api_key):
            raise InvalidArgumentError(
                "the API key is malformed", hint="Check it for line breaks and quotes."
            )
        if not model or not model.strip():
            raise InvalidArgumentError(
                "the service needs the name of a model", hint="Pass --llm-model, as it lists them."
            )
        self.url = _endpoint(url)
        # Without a query, which may hold a key.
        self.shown_url = self.url.partition("?")[0]
        self.model = clean_text(model.strip())
        self.timeout = timeout
        self.max_output = max_output
        self.max_tokens = max_tokens
        self._schema = None if schema is None else dict(schema)
        self._api_key = api_key

    async def __call__(self, prompt: str, trigger_source: str) -> Answer:
        """Return the answer to a prompt.

        Raises:
            LLMUnreachableError: The service cannot be reached, refuses or is busy.
            LLMError: The service failed, timed out, wrote too much or answered no text.
        """
        headers = {"X-Trigger-Source": _header(trigger_source)}
        if self._api_key is not None:
            headers["Authorization"] = f"Bearer {self._api_key}"
        memory = (self.url, self.model)
        dialect = _dialects.get(memory, self._first_dialect())
        try:
            async with asyncio.timeout(self.timeout):
                while True:
                    status, retry_after, body = await self._post(
                        self._request(prompt, dialect), headers
                    )
                    if 200 <= status < 300:
                        break
                    other = self._other_dialect(dialect, status, body)
                    if other is None:
                        raise self._refusal(status, body, retry_after)
                    dialect = other
        except TimeoutError:
            raise too_slow(self.shown_url, self.timeout) from None
        _dialects[memory] = dialect
        return self._answer(bytes(body))

    async def _post(
        self, request: dict[str, Any], headers: dict[str, str]
    ) -> tuple[int, str | None, bytearray]:
        """Post a request; return the status, the seconds to wait if it tells, and the body."""
        import httpx2

        body = bytearray()
        try:
            async with (
                httpx2.AsyncClient(
                    timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS), follow_redirects=False
                ) as client,
                client.stream("POST", self.url, json=request, headers=headers) as response,
            ):
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > self.max_output:
                        raise too_long(self.shown_url, self.max_output)
        except (
            httpx2.ConnectError,
            httpx2.ConnectTimeout,
            httpx2.ProxyError,
            httpx2.UnsupportedProtocol,
            httpx2.InvalidURL,
        ) as error:
            raise LLMUnreachableError(
                f"{self.shown_url} cannot be reached: {self._censored(str(error)) or 'no answer'}",
                hint="Check the URL, and that the service is running.",
            ) from error
        except httpx2.HTTPError as error:
            reason = self._censored(str(error)) or type(error).__name__
            raise LLMError(
                f"{self.shown_url} broke off: {reason}",
                hint="See the log of the service; a prompt may be too long for it.",
            ) from error
        return response.status_code, response.headers.get("Retry-After"), body

    # The request

    def _first_dialect(self) -> _Dialect:
        return _Dialect() if self._schema is not None else _Dialect(format="json_object")

    def _request(self, prompt: str, dialect: _Dialect) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": clean_text(prompt)}],
            "stream": False,
        }
        if dialect.has_temperature:
            request["temperature"] = 0
        if self.max_tokens is not None:
            request[dialect.limit] = self.max_tokens
        match dialect.format:
            case "strict" | "json_schema":
                schema: dict[str, Any] = {"name": "consolidation", "schema": self._schema}
                if dialect.format == "strict":
                    schema["strict"] = True
                request["response_format"] = {"type": "json_schema", "json_schema": schema}
            case "json_object":
                request["response_format"] = {"type": "json_object"}
        return request

    def _other_dialect(
        self, dialect: _Dialect, status: int, body: bytes | bytearray
    ) -> _Dialect | None:
        """Return what to try next after a refused request; None if it is not for its fields."""
        if status not in _UNSUPPORTED:
            return None
        told = decode(body[:TAIL])
        if _TOO_LONG_PROMPT.search(told) or _FLAGGED.search(told):
            return None
        if self.max_tokens is not None and dialect.limit == "max_tokens" and dialect.limit in told:
            return replace(dialect, limit="max_completion_tokens")
        if dialect.has_temperature and "temperature" in told:
            return replace(dialect, has_temperature=False)
        if dialect.format != _FORMATS[-1]:
            return replace(dialect, format=_FORMATS[_FORMATS.index(dialect.format) + 1])
        if dialect.has_temperature:
            return replace(dialect, has_temperature=False)
        return None

    # The response

    def _refusal(
        self, status: int, body: bytes | bytearray, retry_after: str | None = None
    ) -> LLMError:
        said = self._censored(decode(body[:TAIL]))
        message = f"{self.shown_url} answered {status}: {said}"
        # These are for this prompt: the same one would be refused again.
        if status == 413 or _TOO_LONG_PROMPT.search(said):
            return LLMError(
                message,
                hint="Raise the context length of the model, or consolidate fewer episodes at a "
                "time.",
            )
        if _FLAGGED.search(said):
            return LLMError(
                message, hint="Consolidate fewer episodes at a time to find which it refuses."
            )
        if status in _UNREACHED or 300 <= status < 400:
            wait = f" It asks to wait {retry_after} seconds." if _is_number(retry_after) else ""
            return LLMUnreachableError(
                message, hint=f"Check the model, the API key and the limits of the service.{wait}"
            )
        return LLMError(message, hint="See what the service says about the request.")

    def _answer(self, body: bytes) -> Answer:
        try:
            response: Any = json.loads(body)
        except (ValueError, RecursionError):
            response = None
        if not isinstance(response, dict):
            raise self._no_text(body)
        if response.get("error"):
            # Some services pass on the error of another with a status of success.
            error = response["error"]
            status = error.get("code") if isinstance(error, dict) else None
            raise self._refusal(status if isinstance(status, int) else 200, body)
        choices = response.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
            raise self._no_text(body)
        message, finished = choice["message"], choice.get("finish_reason")
        text = "".join(_texts(message.get("content")))
        if finished == "content_filter" or (message.get("refusal") and not text):
            said = self._censored(str(message.get("refusal") or text))
            raise LLMError(
                f"{self.model} refused: {clean_text(said)[:500]}",
                hint="Consolidate fewer episodes at a time to find which it refuses.",
            )
        if not text.strip():
            if finished == "length":
                raise LLMError(
                    f"{self.model} reached its limit before it answered",
                    hint="Raise the limit of tokens, or the context length of the model.",
                )
            raise self._no_text(body)
        usage = response.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        model = response.get("model")
        return Answer(
            clean_text(text),
            to_count(counts.get("prompt_tokens")),
            to_count(counts.get("completion_tokens")),
            clean_text(model) if isinstance(model, str) and model.strip() else self.model,
            finished == "length",
        )

    def _no_text(self, body: bytes) -> LLMError:
        return LLMError(
            f"{self.shown_url} answered no text: {self._censored(decode(body[:TAIL]))}",
            hint="The service must offer OpenAI-compatible chat completions.",
        )

    def _censored(self, text: str) -> str:
        """Return a text without the key, which some services repeat."""
        return text if self._api_key is None else text.replace(self._api_key, "***")


def _endpoint(url: str) -> str:
    """Return the address of chat completions for the base URL of an API.

    Raises:
        InvalidArgumentError: Not such a URL, or one with a password.
    """
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_one = False
    if not is_one:
        raise InvalidArgumentError(
            "the LLM's URL is no service URL",
            hint="Pass a URL that begins with http:// or https://, such as "
            "http://localhost:11434/v1.",
        )
    if "@" in parts.netloc:
        raise InvalidArgumentError(
            "the LLM's URL holds a password", hint="Pass the key in an environment variable."
        )
    path = parts.path.rstrip("/").removesuffix(_END) + _END
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def _texts(content: Any) -> Iterator[str]:
    """Yield the texts of a message: a string, or parts of which some are texts."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]


def _is_number(text: str | None) -> bool:
    return text is not None and text.isascii() and text.isdecimal() and len(text) < 10


def _header(value: str) -> str:
    return "".join(letter if "!" <= letter <= "~" else "?" for letter in value)
