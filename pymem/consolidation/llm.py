"""LLMs for consolidation: a command, or a service with an OpenAI-compatible chat API."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from pymem.errors import InvalidArgumentError, LLMError
from pymem.sanitize import clean_text

LLM = Callable[[str, str], Awaitable[str]]
"""Takes a prompt and its trigger, such as ``schedule:consolidation``; returns the answer."""

_TAIL = 2048
"""Bytes of the output of a failed command or service to include in the error message."""
_GRACE = 2.0
"""Seconds to wait for the remaining output of a command that has exited."""
_SECRETS = ("PGPASSWORD", "PYMEM_DATABASE_URL")


class CommandLLM:
    """A command that reads a prompt from standard input and writes the answer to standard output.

    It runs without a shell, in its own session and process group, with the environment of the
    caller except the address and password of the database. ``PYMEM_CONSOLIDATION=1`` lets hooks of
    an agent skip this session; ``PYMEM_TRIGGER_SOURCE`` is the trigger. The process group is
    killed once the answer is complete or the caller gives up.

    Args:
        argv: The command and its arguments.
        timeout: Timeout in seconds.
        max_output: Maximum length of the answer, in bytes.
    """

    def __init__(
        self, argv: Sequence[str], *, timeout: float = 300, max_output: int = 1 << 20
    ) -> None:
        if isinstance(argv, str) or not argv or not argv[0]:
            raise InvalidArgumentError(
                "the command is empty or not a list", hint="Pass a program and its arguments."
            )
        self.argv = [os.fspath(part) for part in argv]
        self.timeout = timeout
        self.max_output = max_output

    async def __call__(self, prompt: str, trigger_source: str) -> str:
        """Return the answer to a prompt.

        Raises:
            LLMError: The command did not start, failed, timed out or wrote too much.
        """
        loop = asyncio.get_running_loop()
        environment = {name: value for name, value in os.environ.items() if name not in _SECRETS}
        environment["PYMEM_CONSOLIDATION"] = "1"
        environment["PYMEM_TRIGGER_SOURCE"] = clean_text(trigger_source)
        try:
            with os.fdopen(os.memfd_create("prompt"), "wb") as stdin:
                stdin.write(clean_text(prompt).encode())
                stdin.seek(0)
                transport, process = await loop.subprocess_exec(
                    lambda: _Process(self.max_output),
                    *self.argv,
                    stdin=stdin,
                    env=environment,
                    start_new_session=True,
                )
        except (OSError, ValueError) as error:
            raise LLMError(
                f"{self.argv[0]} cannot be started: {error}",
                hint="Check the consolidation command, and that it is on the PATH.",
            ) from error
        try:
            async with asyncio.timeout(self.timeout):
                await process.done.wait()
        except TimeoutError:
            raise LLMError(
                f"{self.argv[0]} gave no answer within {self.timeout:g} seconds",
                hint="Raise the timeout, or consolidate fewer episodes at a time.",
            ) from None
        finally:
            await _end(transport, process)
        if process.overflowed:
            raise _too_long(self.argv[0], self.max_output)
        if status := transport.get_returncode():
            raise LLMError(
                f"{self.argv[0]} {_how_it_ended(status)}: {_text(process.errors) or 'no message'}",
                hint="Run the command by hand with a prompt on its standard input.",
            )
        return _text(process.output)


def command_llm(command: str, *, timeout: float = 300) -> CommandLLM:
    """Return the LLM for a command line, which is split like a shell would but run without one.

    Raises:
        InvalidArgumentError: The command is empty or has an unclosed quote.
    """
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise InvalidArgumentError(
            f"the command {command[:200]!r} cannot be split: {error}",
            hint="Quote its arguments as in a shell.",
        ) from error
    return CommandLLM(argv, timeout=timeout)


class HttpLLM:
    """A service with an OpenAI-compatible chat API, as most hosted and local models offer.

    The openai package is not used: it reads responses of any length and follows redirects.

    Args:
        url: Base URL of the API, such as ``http://localhost:11434/v1``.
        model: Name of the model.
        api_key: Sent as bearer token; None for a service that needs none.
        timeout: Timeout in seconds.
        max_output: Maximum length of the response, in bytes.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        timeout: float = 300,
        max_output: int = 1 << 20,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise InvalidArgumentError(
                f"{url[:200]!r} is not a service URL",
                hint="Pass a URL that begins with http:// or https://.",
            )
        if api_key is not None and not (api_key.isascii() and api_key.isprintable() and api_key):
            raise InvalidArgumentError(
                "the API key is malformed", hint="Check it for line breaks and quotes."
            )
        self.url = url.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"
        self.model = model
        self.timeout = timeout
        self.max_output = max_output
        self._api_key = api_key

    async def __call__(self, prompt: str, trigger_source: str) -> str:
        """Return the answer to a prompt, without retries: consolidation retries later.

        Raises:
            LLMError: The service is unreachable, failed, timed out or wrote too much.
        """
        import httpx2

        headers = {"X-Trigger-Source": _header(trigger_source)}
        if self._api_key is not None:
            headers["Authorization"] = f"Bearer {self._api_key}"
        request = {
            "model": self.model,
            "messages": [{"role": "user", "content": clean_text(prompt)}],
            "stream": False,
        }
        body = bytearray()
        try:
            async with (
                asyncio.timeout(self.timeout),
                httpx2.AsyncClient(timeout=None) as client,
                client.stream("POST", self.url, json=request, headers=headers) as response,
            ):
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > self.max_output:
                        raise _too_long(self.url, self.max_output)
        except TimeoutError:
            raise LLMError(
                f"{self.url} gave no answer within {self.timeout:g} seconds",
                hint="Raise the timeout, or consolidate fewer episodes at a time.",
            ) from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise LLMError(
                f"{self.url} cannot be reached: {error or type(error).__name__}",
                hint="Check the URL, and that the service is running.",
            ) from error
        if not response.is_success:
            raise LLMError(
                f"{self.url} answered {response.status_code}: {_text(body[:_TAIL])}",
                hint="Check the model, the API key and the limits of the service.",
            )
        return self._content(bytes(body))

    def _content(self, body: bytes) -> str:
        try:
            choice: Any = json.loads(body)["choices"][0]
            content = choice["message"]["content"]
            finished = choice.get("finish_reason")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            content = finished = None
        if finished == "length":
            raise LLMError(
                f"the answer of {self.model} was cut off at the model's limit",
                hint="Consolidate fewer episodes at a time.",
            )
        if not isinstance(content, str):
            raise LLMError(
                f"{self.url} answered no text: {_text(body[:_TAIL])}",
                hint="The service must offer OpenAI-compatible chat completions.",
            )
        return clean_text(content)


class _Process(asyncio.SubprocessProtocol):
    """Collects the output of a process.

    ``communicate`` has no limit, and waits for every child process that holds the pipes open.

    Attributes:
        done: The process has exited or exceeded max_output.
        drained: All output has been read.
    """

    def __init__(self, max_output: int) -> None:
        self.output = bytearray()
        self.errors = bytearray()
        self.overflowed = False
        self.done = asyncio.Event()
        self.exited = asyncio.Event()
        self.drained = asyncio.Event()
        self._max_output = max_output
        self._open = {1, 2}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.errors += data
            del self.errors[:-_TAIL]
        elif len(self.output) + len(data) > self._max_output:
            self.overflowed = True
            self.done.set()
        else:
            self.output += data

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if not self._open:
            self.drained.set()

    def process_exited(self) -> None:
        self.exited.set()
        self.done.set()


async def _end(transport: asyncio.SubprocessTransport, process: _Process) -> None:
    """Kill the rest of the process group and read the rest of the output."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(transport.get_pid(), signal.SIGKILL)
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await process.exited.wait()
                if not process.overflowed:
                    await process.drained.wait()
    finally:
        transport.close()


def _how_it_ended(status: int) -> str:
    if status > 0:
        return f"failed with exit code {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _too_long(who: str, max_output: int) -> LLMError:
    return LLMError(
        f"{who} answered more than {max_output} bytes",
        hint="It should write only the answer; or consolidate fewer episodes at a time.",
    )


def _header(value: str) -> str:
    return "".join(letter if "!" <= letter <= "~" else "?" for letter in value)


def _text(data: bytes | bytearray) -> str:
    return clean_text(data.decode(errors="replace")).strip()
