"""A visitor of the dashboard without a browser: its requests, its cookies, the forms it sends."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import httpx2

from tests.conftest import Database
from tests.test_mcp_http import Serving, make_token, serving

PREFIX = "/ui"


@dataclass
class Visitor:
    """Somebody with a session, or without one."""

    http: httpx2.Client
    cookies: dict[str, str] = field(default_factory=dict)
    csrf: str = ""
    _note: tuple[str, str, str] = ("", "", "")

    @property
    def origin(self) -> str:
        return str(self.http.base_url).rstrip("/")

    def ask(self, method: str, path: str, **given: Any) -> httpx2.Response:
        """Make a request, and keep what the answer says to keep."""
        headers = {**given.pop("headers", {})}
        if self.cookies:
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        answer = self.http.request(method, path, headers=headers, **given)
        # They are kept here: of each visitor its own, and of no use to another.
        self.http.cookies.clear()
        for each in answer.headers.get_list("set-cookie"):
            for name, morsel in SimpleCookie(each).items():
                if morsel["max-age"] == "0":
                    self.cookies.pop(name, None)
                else:
                    self.cookies[name] = morsel.value
        if found := re.search(r'name="csrf" value="([0-9a-f]{64})"', answer.text):
            self.csrf = found[1]
        return answer

    def get(self, path: str, **given: Any) -> httpx2.Response:
        """Open a page, as often as parts of it are still being read; it must be there."""
        for _ in range(200):
            answer = self._get(path, **given)
            if "Still reading" not in answer.text:
                break
            time.sleep(0.05)
        return answer

    def _get(self, path: str, **given: Any) -> httpx2.Response:
        answer = self.ask("GET", PREFIX + path, **given)
        while answer.status_code in (302, 303) and "login" not in answer.headers["location"]:
            answer = self.ask("GET", answer.headers["location"], **given)
        assert answer.status_code == 200, (answer.status_code, text_of(answer))
        return answer

    def send(self, path: str, /, **fields: Any) -> httpx2.Response:
        """Send a form as its page would."""
        if not self.csrf:
            self.get("/help")
        data = {"csrf": self.csrf, "back": f"{PREFIX}/help", **fields}
        return self.ask("POST", PREFIX + path, data=data, headers={"origin": self.origin})

    def do(self, path: str, /, **fields: Any) -> str:
        """Send a form that should succeed; return the page after it, as text."""
        answer = self.send(path, **fields)
        assert answer.status_code == 303, (answer.status_code, text_of(answer))
        page = self.ask("GET", answer.headers["location"])
        assert page.status_code == 200, text_of(page)
        return text_of(page)

    def undo(self) -> str:
        """Undo what was just done, by the button of the last page."""
        note = self.last_note
        return self.do("/undo", request_id=note[1], parts=note[0], count=note[2])

    @property
    def last_note(self) -> tuple[str, str, str]:
        """The parts, the request and the number of things that were done last."""
        return self._note

    def done(self, path: str, /, **fields: Any) -> str:
        """Like do, and remember how to undo it."""
        answer = self.send(path, **fields)
        assert answer.status_code == 303, (answer.status_code, text_of(answer))
        page = self.ask("GET", answer.headers["location"])
        assert page.status_code == 200, text_of(page)
        found = re.search(
            r'name="request_id" value="(ui-[0-9a-f]+)">\s*<input type="hidden" name="parts" value="(\d+)">\s*<input type="hidden" name="count" value="(\d+)"',
            page.text,
        )
        self._note = (found[2], found[1], found[3]) if found else ("", "", "")
        return text_of(page)

    def sign_in(self, **fields: str) -> httpx2.Response:
        """Send the form to sign in."""
        return self.ask("POST", f"{PREFIX}/login", data=fields, headers={"origin": self.origin})


def text_of(answer: httpx2.Response) -> str:
    """What a person reads on a page."""
    body = re.sub(r"(?s)<(head|script|style|nav).*?</\1>", " ", answer.text)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


@dataclass
class Dashboard:
    """A server of a gateway login with the dashboard, and the database behind it."""

    serving: Serving
    database: Database
    http: httpx2.Client

    @property
    def origin(self) -> str:
        return self.serving.origin

    def stranger(self, cookies: dict[str, str] | None = None, csrf: str = "") -> Visitor:
        """Somebody without a session, or with the cookies of somebody else."""
        return Visitor(self.http, dict(cookies or {}), csrf)

    def visitor(self, tenant: str, role: str = "admin", *, actor: str = "mira") -> Visitor:
        """Somebody who has signed in with a token of this role."""
        visitor = self.stranger()
        token = make_token(self.database, tenant, role, actor=actor)
        answer = visitor.sign_in(token=token)
        assert answer.status_code == 303, text_of(answer)
        return visitor


@contextmanager
def dashboard(database: Database, folder: Path, *options: str) -> Iterator[Dashboard]:
    """Serve the dashboard of a database, beside the tools."""
    with (
        serving(database.login(None), folder, *(options or ("--ui",))) as running,
        httpx2.Client(base_url=running.origin, timeout=60) as http,
    ):
        yield Dashboard(running, database, http)
