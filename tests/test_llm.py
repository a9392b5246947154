"""Asking an LLM ends in its answer or in an error that says why, and leaves nothing running."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pymem import InvalidArgumentError, LLMError, LLMUnreachableError, PymemError
from pymem.consolidation import http
from pymem.consolidation.llm import (
    LLM,
    Answer,
    CommandLLM,
    HttpLLM,
    choose_llm,
    command_llm,
    llm_from_environment,
)
from tests.conftest import ROOT

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
        f"while sum(file.stat().st_size > 0 for file in os.scandir({str(folder)!r})) < 2:"
        " time.sleep(0.01)\n"
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


async def test_a_command_gets_only_what_programs_need_and_what_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYMEM_DATABASE_URL", "postgresql://secret@db/x")
    monkeypatch.setenv("PGPASSWORD", "secret")
    monkeypatch.setenv("PGSERVICE", "secret")
    monkeypatch.setenv("PYMEM_DATA", "/secret")
    monkeypatch.setenv("SOME_LLM_KEY", "needed")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "known")
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    monkeypatch.setenv("https_proxy", "http://proxy")

    script = "import json, os; print(json.dumps(dict(os.environ)))"
    answer = await python(script, env=["SOME_LLM_KEY"])("", SOURCE)

    environment = json.loads(answer)
    assert environment["PYMEM_CONSOLIDATION"] == "1"
    assert environment["PYMEM_TRIGGER_SOURCE"] == SOURCE
    assert environment["SOME_LLM_KEY"] == "needed"
    assert environment["ANTHROPIC_API_KEY"] == "known"
    assert environment["https_proxy"] == "http://proxy"
    assert environment["PATH"] == os.environ["PATH"]
    assert "secret" not in answer
    assert "SOME_LLM_KEY" not in json.loads(await python(script)("", SOURCE))


def test_a_variable_that_leads_to_the_database_is_never_passed() -> None:
    with pytest.raises(InvalidArgumentError, match="PGPASSWORD would lead"):
        CommandLLM(["true"], env=["PGPASSWORD"])


@pytest.mark.skipif(sys.platform != "linux", reason="Linux hides processes from each other")
def test_a_command_cannot_read_the_environment_of_who_asks_it() -> None:
    """A process that is not dumpable shows its environment to root only: see prctl(2)."""
    code = """
import asyncio, ctypes, sys
from pymem.consolidation.llm import CommandLLM
libc, is_dumpable = ctypes.CDLL(None), 3
before = libc.prctl(is_dumpable)
answer = asyncio.run(CommandLLM([sys.executable, "-c", "print('yes')"])("", "manual"))
print(before, answer.strip(), libc.prctl(is_dumpable))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout == "1 yes 0\n"


async def test_no_shell_reads_the_command() -> None:
    assert await command_llm("echo '$HOME' ; `id` 'a b'")("", SOURCE) == "$HOME ; `id` a b"


@pytest.mark.parametrize("command", ["", "  ", "echo 'x"])
def test_a_command_line_that_cannot_be_split_is_refused(command: str) -> None:
    with pytest.raises(InvalidArgumentError) as raised:
        command_llm(command)
    assert raised.value.hint


async def test_a_command_that_does_not_exist() -> None:
    with pytest.raises(LLMUnreachableError, match="no-such-llm cannot be started") as raised:
        await CommandLLM(["no-such-llm"])("", SOURCE)
    assert isinstance(raised.value, LLMError)
    assert isinstance(raised.value, PymemError)
    assert raised.value.code == "38000"
    assert raised.value.hint


async def test_a_command_that_cannot_be_executed_was_not_asked(tmp_path: Path) -> None:
    script = tmp_path / "llm"
    script.write_text("#!/no/such/interpreter\n")
    with pytest.raises(LLMUnreachableError, match="cannot be started"):
        await CommandLLM([str(script)])("", SOURCE)
    script.chmod(0o755)
    with pytest.raises(LLMUnreachableError, match="No such file"):
        await CommandLLM([str(script)])("", SOURCE)
    with pytest.raises(LLMUnreachableError, match="not found"):
        await command_llm("sh -c no-such-llm")("", SOURCE)


@pytest.mark.parametrize(
    ("command", "model"),
    [
        ("claude -p", "claude"),
        ("/usr/local/bin/claude -p --model opus", "opus"),
        ("llm -m gpt-5-mini --key sk-SECRET", "gpt-5-mini"),
        ("codex exec --model=o4 -", "o4"),
        ("a --key sk-SECRET", "a"),
        ("a -m", "a"),
        ("a --model= x", "a"),
        ("a -m 'a whole prompt, with a SECRET'", "a"),
        (f"a -m {'x' * 300}", "a"),
        ("ollama run llama3.2", "ollama"),
    ],
)
def test_the_model_of_a_command_is_named_but_none_of_its_arguments(
    command: str, model: str
) -> None:
    assert command_llm(command).model == model
    assert command_llm(command, model="given").model == "given"


def test_a_command_that_cannot_be_split_is_not_repeated() -> None:
    with pytest.raises(InvalidArgumentError) as raised:
        command_llm("a --key sk-SECRET 'x")
    assert "SECRET" not in str(raised.value)


WORKER = """
import asyncio, sys
from pymem.consolidation.llm import CommandLLM
asyncio.run(CommandLLM([sys.executable, "-c", sys.argv[1]])("", "manual"))
"""


async def test_a_command_ends_with_its_worker_even_if_that_is_killed(tmp_path: Path) -> None:
    script = family(tmp_path, then="time.sleep(600)")
    worker = subprocess.Popen([sys.executable, "-c", WORKER, script], cwd=ROOT)
    try:
        await pids(tmp_path, 2)
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait()

    assert await all_ended(tmp_path, 2)
    # Nor is what kept watch left.
    groups = subprocess.run(
        ["ps", "-eo", "args"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert not [line for line in groups if str(tmp_path) in line]


async def test_signals_are_the_commands_own() -> None:
    script = (
        "import signal; print([signal.getsignal(number) == signal.SIG_DFL for number in"
        " (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)])"
    )
    assert await python(script)("", SOURCE) == "[True, True, True]"
    with pytest.raises(LLMError, match="was ended by SIGPIPE"):
        await command_llm("sh -c 'kill -s PIPE $$'")("", SOURCE)


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
        self.refuse: Callable[[Any], tuple[int, str] | None] = lambda _: None
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                request = json.loads(body)
                service.requests.append((self.path, dict(self.headers), request))
                time.sleep(service.delay)
                status, answer = service.status, service.body
                if refusal := service.refuse(request):
                    status, answer = refusal[0], refusal[1].encode()
                with suppress(OSError):
                    self.send_response(status)
                    if service.location is not None:
                        self.send_header("Location", service.location)
                    self.send_header("Retry-After", "20")
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def answer(self, content: Any, finish_reason: str = "stop", **more: Any) -> None:
        choice = {"message": {"content": content}, "finish_reason": finish_reason}
        self.body = json.dumps({"choices": [choice], **more}).encode()

    @property
    def formats(self) -> list[str]:
        """What was asked for, each time."""
        return [
            (request.get("response_format") or {}).get("type", "plain")
            for _, _, request in self.requests
        ]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setattr(http, "_dialects", {})
    service = Service()
    yield service
    service.close()


@pytest.mark.parametrize("end", ["", "/", "/chat/completions"])
async def test_the_service_gets_the_prompt_and_its_message_is_the_answer(
    service: Service, end: str
) -> None:
    service.answer("étapé \ud83d")
    llm: LLM = HttpLLM(service.url + end, "small", api_key="key")

    assert await llm("épaté", SOURCE) == Answer("étapé \ufffd", model="small")

    ((path, headers, request),) = service.requests
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer key"
    assert headers["X-Trigger-Source"] == SOURCE
    assert request == {
        "model": "small",
        "messages": [{"role": "user", "content": "épaté"}],
        "stream": False,
        "temperature": 0,
        "response_format": {"type": "json_object"},
    }


async def test_a_service_without_a_key_is_sent_none(service: Service) -> None:
    service.answer("x")

    await HttpLLM(service.url, "small")("x", "manual\r\nAuthorization: forged")

    assert "Authorization" not in service.requests[0][1]


@pytest.mark.parametrize("status", [401, 402, 403, 404, 413, 429, 500, 503])
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
    assert isinstance(raised.value, LLMUnreachableError) == (status not in (413, 500))
    assert ("wait 20 seconds" in raised.value.hint) == (status not in (413, 500))


async def test_the_key_does_not_follow_a_redirection(service: Service) -> None:
    other = Service()
    try:
        service.status, service.location = 307, f"{other.url}/chat/completions"
        with pytest.raises(LLMUnreachableError, match="answered 307"):
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


async def test_an_answer_that_was_cut_off_is_an_answer(service: Service) -> None:
    service.answer('{"new_facts": [', finish_reason="length")

    answer = await HttpLLM(service.url, "small")("x", SOURCE)

    assert (answer.text, answer.is_cut_off) == ('{"new_facts": [', True)

    service.answer("", finish_reason="length")
    with pytest.raises(LLMError, match="reached its limit before it answered"):
        await HttpLLM(service.url, "small")("x", SOURCE)


async def test_the_service_says_which_model_it_was_and_what_it_took(service: Service) -> None:
    service.answer("{}", model="small-2026-05", usage={"prompt_tokens": 12, "completion_tokens": 3})
    assert await HttpLLM(service.url, "small")("x", SOURCE) == Answer("{}", 12, 3, "small-2026-05")

    for usage in (None, 7, {}, {"prompt_tokens": -1}, {"prompt_tokens": "12"}, [1]):
        service.answer([{"type": "text", "text": "{}"}], model=None, usage=usage)
        assert await HttpLLM(service.url, "small")("x", SOURCE) == Answer("{}", model="small")


SCHEMA = {"type": "object", "properties": {"new_facts": {"type": "array"}}}


async def test_a_service_is_asked_for_the_schema(service: Service) -> None:
    service.answer("{}")

    await HttpLLM(service.url, "small", schema=SCHEMA, max_tokens=900)("x", SOURCE)

    [(_, _, request)] = service.requests
    assert request["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "consolidation", "schema": SCHEMA, "strict": True},
    }
    assert (request["max_tokens"], request["temperature"]) == (900, 0)


def takes(*formats: str) -> Callable[[Any], tuple[int, str] | None]:
    def refuse(request: Any) -> tuple[int, str] | None:
        asked = (request.get("response_format") or {}).get("type", "plain")
        return None if asked in formats else (400, "'response_format.type' must be another")

    return refuse


@pytest.mark.parametrize(
    ("taken", "tried"),
    [
        (["json_schema", "json_object", "plain"], ["json_schema"]),
        (["json_object", "plain"], ["json_schema", "json_schema", "json_object"]),
        (["plain"], ["json_schema", "json_schema", "json_object", "plain"]),
    ],
)
@pytest.mark.parametrize("status", [400, 422])
async def test_what_a_service_does_not_take_is_left_out_from_then_on(
    service: Service, taken: list[str], tried: list[str], status: int
) -> None:
    refuse = takes(*taken)
    service.refuse = lambda request: (status, "unsupported") if refuse(request) else None
    service.answer("{}")

    await HttpLLM(service.url, "small", schema=SCHEMA)("x", SOURCE)
    assert service.formats == tried

    await HttpLLM(service.url, "small", schema=SCHEMA)("x", SOURCE)
    assert service.formats == [*tried, tried[-1]]

    # Another model of the same service may take more.
    await HttpLLM(service.url, "large", schema=SCHEMA)("x", SOURCE)
    assert service.formats == [*tried, tried[-1], *tried]


async def test_a_schema_that_is_not_strict_enough_is_sent_as_any_other(service: Service) -> None:
    service.refuse = lambda request: (
        (400, "Invalid schema for response_format: 'required' is missing")
        if request["response_format"]["json_schema"].get("strict")
        else None
    )
    service.answer("{}")

    await HttpLLM(service.url, "small", schema=SCHEMA)("x", SOURCE)

    assert service.formats == ["json_schema", "json_schema"]


async def test_a_reasoning_model_takes_no_temperature_and_another_limit(service: Service) -> None:
    def refuse(request: Any) -> tuple[int, str] | None:
        for name in ("max_tokens", "temperature"):
            if name in request:
                return 400, json.dumps({"error": {"message": f"Unsupported: '{name}'"}})
        return None

    service.refuse = refuse
    service.answer("{}")

    await HttpLLM(service.url, "o9", schema=SCHEMA, max_tokens=900)("x", SOURCE)
    await HttpLLM(service.url, "o9", schema=SCHEMA, max_tokens=900)("x", SOURCE)

    requests = [request for _, _, request in service.requests]
    assert len(requests) == 4
    for request in requests[2:]:
        assert request["max_completion_tokens"] == 900
        assert "temperature" not in request
        assert request["response_format"]["json_schema"]["strict"] is True


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9589",
        '{"error": {"type": "exceed_context_size_error", "n_ctx": 4096}}',
        "prompt is too long: 212345 tokens > 200000 maximum",
    ],
)
async def test_a_prompt_that_is_too_long_is_told_at_once(service: Service, said: str) -> None:
    service.refuse = lambda _: (400, said)

    with pytest.raises(LLMError) as raised:
        await HttpLLM(service.url, "small", schema=SCHEMA)("x", SOURCE)

    assert not isinstance(raised.value, LLMUnreachableError)
    assert "context length" in (raised.value.hint or "")
    assert len(service.requests) == 1

    # Nothing is left out for that.
    service.refuse = lambda _: None
    service.answer("{}")
    await HttpLLM(service.url, "small", schema=SCHEMA)("x", SOURCE)
    assert service.formats[-1] == "json_schema"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (403, "Your chosen model requires moderation and your input was flagged"),
        (400, "The response was filtered due to Azure's content management policy"),
        (429, "Request too large for small: Limit 30000, Requested 40000"),
    ],
)
async def test_what_is_refused_for_what_the_prompt_says_counts_as_asked(
    service: Service, status: int, said: str
) -> None:
    service.refuse = lambda _: (status, said)

    with pytest.raises(LLMError, match=f"answered {status}") as raised:
        await HttpLLM(service.url, "small", schema=SCHEMA)("x", SOURCE)

    assert not isinstance(raised.value, LLMUnreachableError)
    assert len(service.requests) == 1


async def test_a_request_that_is_refused_in_any_form_is_an_error_and_teaches_nothing(
    service: Service,
) -> None:
    service.refuse = lambda _: (400, "no")
    with pytest.raises(LLMError, match="answered 400: no"):
        await HttpLLM(service.url, "small", schema=SCHEMA)("x", SOURCE)
    assert len(service.requests) == 5

    service.refuse = lambda _: None
    service.answer("{}")
    await HttpLLM(service.url, "small", schema=SCHEMA)("x", SOURCE)
    assert service.formats[-1] == "json_schema"


@pytest.mark.parametrize("code", [429, "rate_limited", None])
async def test_an_error_with_a_status_of_success_is_an_error(service: Service, code: Any) -> None:
    service.body = json.dumps({"error": {"code": code, "message": "quota of topsecret"}}).encode()

    with pytest.raises(LLMError, match=r"quota of \*\*\*") as raised:
        await HttpLLM(service.url, "small", api_key="topsecret")("x", SOURCE)

    assert isinstance(raised.value, LLMUnreachableError) == (code == 429)


async def test_a_refusal_of_the_model_is_an_error(service: Service) -> None:
    message = {"content": None, "refusal": "I cannot help with that"}
    service.body = json.dumps({"choices": [{"message": message}]}).encode()
    with pytest.raises(LLMError, match="small refused: I cannot help with that"):
        await HttpLLM(service.url, "small")("x", SOURCE)

    service.answer('{"new_facts": [', finish_reason="content_filter")
    with pytest.raises(LLMError, match="small refused"):
        await HttpLLM(service.url, "small")("x", SOURCE)


async def test_a_key_in_the_address_is_sent_but_not_shown(service: Service) -> None:
    service.status = 401
    with pytest.raises(LLMUnreachableError) as raised:
        await HttpLLM(f"{service.url}?api-key=topsecret", "small")("x", SOURCE)
    assert service.requests[0][0] == "/v1/chat/completions?api-key=topsecret"
    assert "topsecret" not in str(raised.value)

    for url in ("http://me:topsecret@localhost/v1", "https://topsecret@localhost"):
        with pytest.raises(InvalidArgumentError) as refused:
            HttpLLM(url, "small")
        assert "topsecret" not in str(refused.value)


def test_the_llm_is_chosen_by_what_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "topsecret")
    assert choose_llm() is None
    command = choose_llm(command="claude -p", timeout=7)
    assert isinstance(command, CommandLLM)
    assert (command.argv, command.timeout, command.model) == (["claude", "-p"], 7, "claude")
    service = choose_llm(url="http://localhost/v1", model="small", key_env="SOME_KEY")
    assert isinstance(service, HttpLLM)
    assert "topsecret" not in repr(vars(service).keys())
    for mistaken in (
        {"command": "claude -p", "url": "http://localhost"},
        {"url": "http://localhost"},
        {"url": "http://localhost", "model": "small", "key_env": "sk-topsecret"},
    ):
        with pytest.raises(InvalidArgumentError) as raised:
            choose_llm(**mistaken)  # type: ignore[arg-type]
        assert "topsecret" not in str(raised.value)
        assert raised.value.hint


def test_the_environment_names_the_llm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith(("PYMEM_LLM", "PYMEM_CONFIG"))]:
        monkeypatch.delenv(name)
    assert llm_from_environment() is None
    monkeypatch.setenv("PYMEM_LLM_URL", "http://localhost:11434/v1")
    monkeypatch.setenv("PYMEM_LLM_MODEL", "small")
    service = llm_from_environment()
    assert isinstance(service, HttpLLM)
    assert service.url == "http://localhost:11434/v1/chat/completions"
    assert service.max_tokens is None
    monkeypatch.setenv("PYMEM_LLM_MAX_TOKENS", "900")
    limited = llm_from_environment()
    assert isinstance(limited, HttpLLM)
    assert limited.max_tokens == 900
    for mistaken in ("many", "0", "-1"):
        monkeypatch.setenv("PYMEM_LLM_MAX_TOKENS", mistaken)
        with pytest.raises(InvalidArgumentError, match="PYMEM_LLM_MAX_TOKENS"):
            llm_from_environment()
    monkeypatch.delenv("PYMEM_LLM_URL")
    config = tmp_path / "butler.toml"
    config.write_text('[modules.memory.consolidation.llm]\ncommand = "claude -p"\n')
    monkeypatch.setenv("PYMEM_CONFIG", str(config))
    command = llm_from_environment()
    assert isinstance(command, CommandLLM)
    assert command.argv == ["claude", "-p"]


async def test_a_response_that_is_too_long_is_an_error(service: Service) -> None:
    service.answer("x" * (10 << 20))

    with pytest.raises(LLMError, match="more than 1048576 bytes"):
        await HttpLLM(service.url, "small")("x", SOURCE)


async def test_a_service_that_hangs_is_given_up(service: Service) -> None:
    service.delay = 2

    with pytest.raises(LLMError, match=r"no answer within 0\.3 seconds"):
        await HttpLLM(service.url, "small", timeout=0.3)("x", SOURCE)


async def test_a_service_that_is_not_there(service: Service) -> None:
    for url in (
        "http://127.0.0.1:1/v1",
        "http://no-such-host.invalid",
        service.url.replace("http:", "https:"),
    ):
        with pytest.raises(LLMUnreachableError, match="cannot be reached"):
            await HttpLLM(url, "small", timeout=20)("x", SOURCE)


async def test_a_service_that_does_not_take_the_call_is_unreachable(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "_CONNECT_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0), backlog=1) as silent:
        address = silent.getsockname()
        waiting = [socket.socket() for _ in range(8)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(address)
        try:
            with pytest.raises(LLMUnreachableError, match="cannot be reached"):
                await HttpLLM(f"http://127.0.0.1:{address[1]}", "small", timeout=20)("x", SOURCE)
        finally:
            for each in waiting:
                each.close()


async def test_a_service_that_breaks_off_has_been_asked() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(LLMError, match="broke off") as raised:
            await HttpLLM(f"http://127.0.0.1:{port}/v1", "small")("x", SOURCE)
    assert not isinstance(raised.value, LLMUnreachableError)


@pytest.mark.parametrize(
    "url", ["", "localhost:11434", "file:///etc/passwd", "ftp://x", "http://[/v1", "http:///v1"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgumentError) as raised:
        HttpLLM(url, "small")
    assert raised.value.hint


@pytest.mark.parametrize("key", ["", "key\n", "kéy", "a\r\nX-Forged: 1"])
def test_a_malformed_key_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(InvalidArgumentError) as raised:
        HttpLLM("http://localhost", "small", api_key=key)
    assert not key or key not in str(raised.value)
