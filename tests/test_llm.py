"""Asking an LLM ends in its answer or in an error that says why, and leaves nothing running."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pymem import InvalidArgumentError, LLMError, PymemError
from pymem.consolidation.llm import LLM, CommandLLM, HttpLLM, command_llm

pytestmark = pytest.mark.anyio

SOURCE = "schedule:consolidation"


def python(script: str, **options: Any) -> CommandLLM:
    return CommandLLM([sys.executable, "-c", script], **options)


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


async def eventually(condition: Callable[[], bool]) -> bool:
    for _ in range(3000):
        if condition():
            return True
        await asyncio.sleep(0.01)
    return False


async def pids(folder: Path, count: int) -> list[int]:
    """Wait until as many processes have written their id into the folder."""
    assert await eventually(
        lambda: len([path for path in folder.iterdir() if path.read_text()]) >= count
    )
    return [int(path.read_text()) for path in folder.iterdir()]


async def all_ended(folder: Path, count: int) -> bool:
    started = await pids(folder, count)
    return await eventually(lambda: not any(runs(pid) for pid in started))


def family(folder: Path, *, then: str) -> str:
    """A script that ignores SIGTERM and starts a grandchild which does so too."""
    child = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"open({str(folder)!r} + '/' + str(os.getpid()), 'w').write(str(os.getpid()))\n"
    )
    return (
        f"{child}import subprocess\n"
        f"subprocess.Popen([sys.executable, '-c', {child + 'time.sleep(600)'!r}])\n"
        f"while len(os.listdir({str(folder)!r})) < 2: time.sleep(0.01)\n"
        f"{then}\n"
    )


async def test_the_command_gets_the_prompt_and_its_output_is_the_answer() -> None:
    llm: LLM = python("import sys; print(sys.stdin.read()[::-1])")

    assert await llm("épaté", SOURCE) == "étapé"


async def test_a_long_prompt_arrives_whole_and_need_not_be_read() -> None:
    prompt = "x" * (5 << 20)

    assert await python("import sys; print(len(sys.stdin.read()))")(prompt, SOURCE) == str(5 << 20)
    assert await python("print('unread')")(prompt, SOURCE) == "unread"
    assert await command_llm("sh -c 'wc -c < /dev/stdin'")(prompt, SOURCE) == str(5 << 20)


async def test_the_command_knows_what_it_is_for_but_not_the_database(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYMEM_DATABASE_URL", "postgresql://secret@db/x")
    monkeypatch.setenv("PGPASSWORD", "secret")
    monkeypatch.setenv("SOME_LLM_KEY", "needed")

    answer = await python("import json, os; print(json.dumps(dict(os.environ)))")("", SOURCE)

    environment = json.loads(answer)
    assert environment["PYMEM_CONSOLIDATION"] == "1"
    assert environment["PYMEM_TRIGGER_SOURCE"] == SOURCE
    assert environment["SOME_LLM_KEY"] == "needed"
    assert "secret" not in answer


async def test_no_shell_reads_the_command() -> None:
    assert await command_llm("echo '$HOME' ; `id` 'a b'")("", SOURCE) == "$HOME ; `id` a b"


@pytest.mark.parametrize("command", ["", "  ", "echo 'x"])
def test_a_command_line_that_cannot_be_split_is_refused(command: str) -> None:
    with pytest.raises(InvalidArgumentError) as raised:
        command_llm(command)
    assert raised.value.hint


async def test_a_command_that_does_not_exist() -> None:
    with pytest.raises(LLMError, match="no-such-llm cannot be started") as raised:
        await CommandLLM(["no-such-llm"])("", SOURCE)
    assert isinstance(raised.value, PymemError)
    assert raised.value.code == "38000"
    assert raised.value.hint


async def test_a_failure_is_reported_with_the_end_of_what_it_said() -> None:
    script = (
        "import sys; print('no answer'); sys.stderr.write('noise ' * 10000 + 'quota exceeded');"
        "sys.exit(7)"
    )

    with pytest.raises(LLMError, match=r"exit code 7: .*quota exceeded") as raised:
        await python(script)("", SOURCE)
    assert 2000 < len(raised.value.message) < 2300


async def test_a_command_that_dies_is_reported_with_the_signal() -> None:
    with pytest.raises(LLMError, match="was ended by SIGSEGV: no message"):
        await python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")("", SOURCE)


async def test_octets_that_are_no_text_do_not_matter() -> None:
    script = "import sys; sys.stdout.buffer.write(b'a\\x00\\xff\\xed\\xa0\\x80b')"

    answer = await python(script)("\ud800\x00", SOURCE)

    answer.encode()
    assert answer.startswith("a\ufffd")
    assert answer.endswith("b")


async def test_an_answer_of_just_the_limit_is_whole() -> None:
    llm = python("print('x' * 99999)", max_output=100_000)

    assert await llm("", SOURCE) == "x" * 99_999


@pytest.mark.parametrize("size", [100_001, 10 << 20])
async def test_an_answer_that_is_too_long_is_an_error(tmp_path: Path, size: int) -> None:
    script = family(tmp_path, then=f"print('x' * {size}, flush=True); time.sleep(600)")
    started = time.monotonic()

    with pytest.raises(LLMError, match="more than 100000 bytes"):
        await python(script, max_output=100_000)("", SOURCE)

    assert time.monotonic() - started < 30
    assert await all_ended(tmp_path, 2)


async def test_any_amount_of_messages_is_fine() -> None:
    script = "import sys; sys.stderr.write('x' * (10 << 20)); print('answer')"

    assert await python(script, max_output=100)("", SOURCE) == "answer"


async def test_a_command_that_hangs_is_ended_with_all_its_children(tmp_path: Path) -> None:
    script = family(tmp_path, then="time.sleep(600)")

    with pytest.raises(LLMError, match="no answer within 3 seconds"):
        await python(script, timeout=3)("", SOURCE)

    assert await all_ended(tmp_path, 2)


async def test_a_cancelled_command_is_ended_with_all_its_children(tmp_path: Path) -> None:
    task = asyncio.ensure_future(python(family(tmp_path, then="time.sleep(600)"))("", SOURCE))
    await pids(tmp_path, 2)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert await all_ended(tmp_path, 2)


async def test_an_answer_does_not_wait_for_children_that_stay(tmp_path: Path) -> None:
    started = time.monotonic()

    assert await python(family(tmp_path, then="print('answer')"))("", SOURCE) == "answer"

    assert time.monotonic() - started < 30
    assert await all_ended(tmp_path, 2)


async def test_a_child_that_left_the_group_does_not_hold_up_the_answer(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "print('answer')"
    )
    try:
        assert await asyncio.wait_for(python(script)("", SOURCE), 30) == "answer"
    finally:
        with suppress(ProcessLookupError):
            os.kill((await pids(tmp_path, 1))[0], 9)


async def test_many_at_once_do_not_get_in_each_others_way() -> None:
    llm = python("import sys; print(sys.stdin.read())")

    answers = await asyncio.gather(*(llm(str(number), SOURCE) for number in range(8)))

    assert answers == [str(number) for number in range(8)]


async def test_nothing_stays_open() -> None:
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    hanging = python("import time; time.sleep(600)", timeout=0.2)
    await python("print()")("", SOURCE)
    before = open_files()
    for _ in range(5):
        await python("print()")("", SOURCE)
        with pytest.raises(LLMError):
            await hanging("", SOURCE)
        with pytest.raises(LLMError):
            await CommandLLM(["no-such-llm"])("", SOURCE)
    assert await eventually(lambda: open_files() <= before)


class Service:
    """A stand-in for a service with the chat interface of OpenAI."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.status = 200
        self.body: bytes = b""
        self.delay = 0.0
        self.location: str | None = None
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.requests.append((self.path, dict(self.headers), json.loads(body)))
                time.sleep(service.delay)
                with suppress(OSError):
                    self.send_response(service.status)
                    if service.location is not None:
                        self.send_header("Location", service.location)
                    self.send_header("Content-Length", str(len(service.body)))
                    self.end_headers()
                    self.wfile.write(service.body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def answer(self, content: Any, finish_reason: str = "stop") -> None:
        choice = {"message": {"content": content}, "finish_reason": finish_reason}
        self.body = json.dumps({"choices": [choice]}).encode()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service()
    yield service
    service.close()


@pytest.mark.parametrize("end", ["", "/", "/chat/completions"])
async def test_the_service_gets_the_prompt_and_its_message_is_the_answer(
    service: Service, end: str
) -> None:
    service.answer("étapé \ud83d")
    llm: LLM = HttpLLM(service.url + end, "small", api_key="key")

    assert await llm("épaté", SOURCE) == "étapé \ufffd"

    ((path, headers, request),) = service.requests
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer key"
    assert headers["X-Trigger-Source"] == SOURCE
    assert request == {
        "model": "small",
        "messages": [{"role": "user", "content": "épaté"}],
        "stream": False,
    }


async def test_a_service_without_a_key_is_sent_none(service: Service) -> None:
    service.answer("x")

    await HttpLLM(service.url, "small")("x", "manual\r\nAuthorization: forged")

    assert "Authorization" not in service.requests[0][1]


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
async def test_a_refusal_is_reported_with_what_the_service_said(
    service: Service, status: int
) -> None:
    service.status = status
    service.body = b"quota exceeded " * 10_000

    with pytest.raises(LLMError, match=f"answered {status}: quota exceeded") as raised:
        await HttpLLM(service.url, "small", api_key="topsecret")("x", SOURCE)
    assert len(raised.value.message) < 2300
    assert raised.value.hint
    assert "topsecret" not in str(raised.value)
    assert len(service.requests) == 1


async def test_the_key_does_not_follow_a_redirection(service: Service) -> None:
    other = Service()
    try:
        service.status, service.location = 307, f"{other.url}/chat/completions"
        with pytest.raises(LLMError, match="answered 307"):
            await HttpLLM(service.url, "small", api_key="key")("x", SOURCE)
        assert other.requests == []
    finally:
        other.close()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": {"0": 1}}',
        b'{"choices": [null]}',
        b'{"choices": [{"message": "x"}]}',
        b'{"choices": [{"message": {"content": null}}]}',
        b'{"choices": [{"message": {"content": 3}}]}',
        b"\xff\xfe",
        b"[" * 100_000,
        b"9" * 10_000,
    ],
)
async def test_an_answer_of_another_form_is_an_error(service: Service, body: bytes) -> None:
    service.body = body

    with pytest.raises(LLMError, match="answered no text"):
        await HttpLLM(service.url, "small")("x", SOURCE)


async def test_an_answer_that_was_cut_off_is_an_error(service: Service) -> None:
    service.answer('{"new_facts": [', finish_reason="length")

    with pytest.raises(LLMError, match="cut off"):
        await HttpLLM(service.url, "small")("x", SOURCE)


async def test_a_response_that_is_too_long_is_an_error(service: Service) -> None:
    service.answer("x" * (10 << 20))

    with pytest.raises(LLMError, match="more than 1048576 bytes"):
        await HttpLLM(service.url, "small")("x", SOURCE)


async def test_a_service_that_hangs_is_given_up(service: Service) -> None:
    service.delay = 2

    with pytest.raises(LLMError, match=r"no answer within 0\.3 seconds"):
        await HttpLLM(service.url, "small", timeout=0.3)("x", SOURCE)


async def test_a_service_that_is_not_there(service: Service) -> None:
    for url in ("http://127.0.0.1:1/v1", "http://no-such-host.invalid", "http://[/v1"):
        with pytest.raises(LLMError, match="cannot be reached"):
            await HttpLLM(url, "small", timeout=20)("x", SOURCE)


@pytest.mark.parametrize("url", ["", "localhost:11434", "file:///etc/passwd", "ftp://x"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgumentError) as raised:
        HttpLLM(url, "small")
    assert raised.value.hint


@pytest.mark.parametrize("key", ["", "key\n", "kéy", "a\r\nX-Forged: 1"])
def test_a_malformed_key_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(InvalidArgumentError) as raised:
        HttpLLM("http://localhost", "small", api_key=key)
    assert not key or key not in str(raised.value)
