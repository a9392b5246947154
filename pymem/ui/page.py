"""A page that is being answered: its request, who looks at it, and the ways to answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from pymem.errors import InvalidArgumentError
from pymem.ui import PREFIX
from pymem.ui.forms import Fields, Query
from pymem.ui.rendering import render
from pymem.ui.viewer import Problem, Viewer

NOTE = "pymem-note"
"""The cookie that says on the next page what has just been done."""
THEME = "pymem-theme"
KEYS = "pymem-keys"

THEMES = ("auto", "light", "dark")


@dataclass(frozen=True, slots=True)
class Note:
    """What a request has done, for the page after it.

    Attributes:
        action: What, one of NOTES.
        done: How many.
        failed: How many could not be done.
        request_id: The request, by which the audit has its events.
        parts: How many of its parts can be undone.
    """

    action: str
    done: int = 1
    failed: int = 0
    request_id: str = ""
    parts: int = 0

    def written(self) -> str:
        """Return the value of the cookie."""
        return f"{self.action}.{self.done}.{self.failed}.{self.parts}.{self.request_id}"

    @classmethod
    def read(cls, written: str) -> Note | None:
        """Return what a cookie says; None if it was not written here."""
        matched = _NOTE.fullmatch(written)
        if matched is None or matched[1] not in NOTES:
            return None
        return cls(matched[1], int(matched[2]), int(matched[3]), matched[5], int(matched[4]))

    @property
    def sentence(self) -> str:
        """What has been done."""
        text = NOTES[self.action]
        if self.done != 1 or self.failed:
            text = f"{text.rstrip('.')}: {self.done:,} done"
            text += f", {self.failed:,} could not be." if self.failed else "."
        return text


_NOTE = re.compile(r"([a-z_]{1,30})\.(\d{1,6})\.(\d{1,6})\.(\d{1,4})\.((?:ui-[0-9a-f]{20})?)")

NOTES: Mapping[str, str] = {
    "accept": "Accepted: it is known now.",
    "add_link": "Linked.",
    "amend": "Changed the proposal. It still waits for a decision.",
    "configure": "Saved the settings.",
    "confirm": "Confirmed: its decay starts anew.",
    "create_entity": "Created. If it is one that was there, merge it into that one.",
    "create_token": "Created the token.",
    "dismiss": "Noted that both are true.",
    "edit": "Saved. The earlier version is kept.",
    "erase": "Erased for good.",
    "forget": "Forgotten: no search finds it any more.",
    "import": "Imported.",
    "mark_harmful": "Noted that the rule did harm.",
    "mark_helpful": "Noted that the rule helped.",
    "merge": "Merged: both names lead to one entity.",
    "preferences": "Kept your preference in this browser.",
    "reject": "Rejected: it will not be proposed again for the same evidence.",
    "release_run": "Released the episodes of the run.",
    "rename": "Saved the entity.",
    "requeue_run": "The episodes wait to be learned from again.",
    "restore": "Restored.",
    "revert_inversion": "The warning is a rule again.",
    "revoke_token": "Revoked for good: it is refused from now on.",
    "run_job": "Ran the job.",
    "store": "Stored.",
    "undo": "Undone.",
    "undo_run": "Undid the run. Its episodes can be learned from again.",
    "unmerge": "Parted again.",
    "verify": "Verified the chain.",
}


class Page:
    """A request of a viewer and the ways to answer it.

    Args:
        request: The request.
        viewer: Who made it.
        fields: The fields of the form that was sent, if any.
    """

    def __init__(self, request: Request, viewer: Viewer, fields: Fields | None = None) -> None:
        self.request = request
        self.viewer = viewer
        self._fields = fields
        self.query = Query(request.url.path, request.query_params, viewer.zone)

    @property
    def fields(self) -> Fields:
        """The fields of the form that was sent."""
        assert self._fields is not None  # noqa: S101 - of a POST there are
        return self._fields

    @property
    def is_part(self) -> bool:
        """Whether a script of the page asks, which takes from the answer the part it needs."""
        return self.request.headers.get("hx-request") == "true"

    def parameter(self, name: str) -> str:
        """Return a part of the path."""
        return str(self.request.path_params[name])

    def render(self, template: str, status: int = 200, /, **context: Any) -> Response:
        """Return a page."""
        note = Note.read(self.request.cookies.get(NOTE, ""))
        response = render(
            template,
            status,
            {
                **shell(self.request),
                "viewer": self.viewer,
                "now": self.viewer.now,
                "zone": self.viewer.zone,
                "query": self.query,
                "note": note,
                "page": self,
                **context,
            },
        )
        if NOTE in self.request.cookies:
            response.delete_cookie(NOTE, path=PREFIX, httponly=True, samesite="strict")
        return response

    def redirect(self, address: str) -> Response:
        """Send the browser to another page."""
        return RedirectResponse(address, 303)

    def done(
        self,
        action: str,
        *,
        back: str | None = None,
        done: int = 1,
        failed: int = 0,
        parts: int = 1,
    ) -> Response:
        """Send the browser back after something was done, with what it was and its undo.

        Args:
            action: What was done.
            back: Where to; default: where the form was.
            done: How many.
            failed: How many could not be.
            parts: How many parts of the request can be undone; 0: none.
        """
        response = self.redirect(back or self.origin)
        note = Note(action, done, failed, self.viewer.request_id, parts)
        response.set_cookie(
            NOTE, note.written(), max_age=120, path=PREFIX, httponly=True, samesite="strict"
        )
        return response

    def forget_settings(self) -> None:
        """Read the settings anew the next time: they were changed."""
        self.viewer.forget_settings()

    @property
    def origin(self) -> str:
        """The page that the form was on, as it says itself."""
        return own_address(self.fields.text("back")) or f"{PREFIX}/"

    @property
    def address(self) -> str:
        """The address of this page."""
        query = self.request.url.query
        return f"{self.request.url.path}?{query}" if query else self.request.url.path


def shell(request: Request) -> dict[str, Any]:
    """Return what the frame of every page needs."""
    theme = request.cookies.get(THEME, "auto")
    return {
        "theme": theme if theme in THEMES else "auto",
        "has_keys": request.cookies.get(KEYS) != "off",
        "path": request.url.path,
    }


def own_address(address: str) -> str | None:
    """Return an address of a page here, as it stands in a form; None if it leads elsewhere."""
    parts = urlsplit(address)
    is_own = (
        not parts.scheme
        and not parts.netloc
        and (parts.path == PREFIX or parts.path.startswith(f"{PREFIX}/"))
        and address.isprintable()
        and "\\" not in address
        and len(address) <= 4000
    )
    return address if is_own else None


def error_page(
    request: Request, problem: Problem, *, viewer: Viewer | None = None, back: str | None = None
) -> Response:
    """Return the page for a problem; what is not there and what cannot be read look different."""
    response = render(
        "error.html",
        problem.status,
        {
            **shell(request),
            "viewer": viewer,
            "note": None,
            "problem": problem,
            "back": back,
        },
    )
    if problem.status == 503:
        response.headers["Retry-After"] = "5"
    return response


def refusal_page(request: Request, status: int, message: str, hint: str) -> Response:
    """Return the page for a request that is refused before anybody looks at it."""
    return error_page(request, Problem(status, message, hint, "42501"))


def require(condition: bool, message: str, hint: str | None = None) -> None:
    """Refuse what a form says unless a condition holds.

    Raises:
        InvalidArgumentError: It does not.
    """
    if not condition:
        raise InvalidArgumentError(message, hint=hint)
