"""Chromium for the tests of pages, and what it must not say about them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, sync_playwright

from tests.conftest import ROOT
from tests.ui import PREFIX, Visitor

CHROMIUM = shutil.which("chromium")
_MISSING = ROOT / ".build" / "browser.missing"
PICTURES = ROOT / ".build" / "ui"
"""Where pictures of the pages are written."""

needs_browser = pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("CI"),
    reason=_MISSING.read_text().strip() if _MISSING.exists() else "scripts/browser has not run",
)

DESKTOP = {"width": 1360, "height": 900}
PHONE = {"width": 390, "height": 844}


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser of the distribution."""
    with sync_playwright() as playwright:
        # As root there is no sandbox; what is opened is our own.
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


class Watched:
    """A page, and all that it did which it should not.

    Attributes:
        page: The page.
        said: Messages on the console, errors of scripts, dialogs, requests to elsewhere.
    """

    def __init__(self, context: BrowserContext, origin: str) -> None:
        self.page = context.new_page()
        self.said: list[str] = []
        self._origin = origin
        page = self.page
        page.on("console", lambda message: self.said.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("dialog", self._dismiss)
        page.on("request", self._check)

    def _dismiss(self, dialog: Dialog) -> None:
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _check(self, request: Any) -> None:
        if not request.url.startswith((self._origin, "data:")):
            self.said.append(f"request: {request.url}")

    def open(self, path: str) -> Page:
        """Open a page of the dashboard; it must be there and say nothing."""
        answer = self.page.goto(f"{self._origin}{PREFIX}{path}")
        assert answer is not None
        assert answer.status == 200, (path, answer.status)
        assert self.said == [], (path, self.said)
        return self.page


def signed_in(browser: Browser, visitor: Visitor, **options: Any) -> tuple[BrowserContext, Watched]:
    """Return a browser window with the session of a visitor."""
    context = browser.new_context(viewport=options.pop("viewport", DESKTOP), **options)
    context.set_default_timeout(15_000)
    context.add_cookies(
        [
            {
                "name": name,
                "value": value,
                "domain": "127.0.0.1",
                "path": "/",
                "secure": True,
                "httpOnly": True,
                "sameSite": "Strict",
            }
            for name, value in visitor.cookies.items()
        ]
    )
    return context, Watched(context, visitor.origin)
