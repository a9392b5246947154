"""A memory into files and out of them."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from pymem.errors import InvalidArgumentError, PymemError
from pymem.transfer.exporting import Selection, export_jsonl
from pymem.transfer.importing import FORMATS, ImportReport, import_path
from pymem.transfer.pam import export_pam
from pymem.transfer.restoring import is_export
from pymem.ui.page import Page, require
from pymem.ui.shown import clip
from pymem.ui.viewer import ADMIN, WRITER, Viewer

MAX_UPLOAD = 64 << 20
"""Bytes of a file; `pymem import` takes larger ones."""

_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".zip", ".md", ".markdown", ".txt", ".af"})
_KEPT_SECONDS = 600.0
_MOST_KEPT = 8
_BLOCK = 1 << 20
_BECOME = {"": "What suits the format", "episodes": "Episodes", "facts": "Facts"}
_SOURCES = {"external": "Others: untrusted", "user": "The user: trusted"}


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that waits to be imported, after somebody looked at what is in it.

    Attributes:
        folder: Where it lies, alone; gone with this process.
        path: The file.
        name: How its sender calls it.
        tenant_id: Whose it is.
        session_id: In which session it was sent.
        until: Until when it is kept.
    """

    folder: tempfile.TemporaryDirectory[str]
    path: Path
    name: str
    tenant_id: str
    session_id: str
    until: float

    def remove(self) -> None:
        """Delete the file."""
        self.folder.cleanup()


class Uploads:
    """The files that wait, of all tenants; few, and not for long."""

    def __init__(self) -> None:
        self._waiting: dict[str, Upload] = {}

    async def take(self, viewer: Viewer, file: Any) -> str:
        """Keep an uploaded file and return its key."""
        self._sweep(viewer)
        name = str(file.filename or "")
        suffix = Path(name).suffix.lower()
        require(
            suffix in _SUFFIXES,
            f"a file {clip(suffix, 12) or 'without an ending'} is not imported",
            f"Choose one of {', '.join(sorted(_SUFFIXES))}.",
        )
        folder = tempfile.TemporaryDirectory(prefix="pymem-import-", ignore_cleanup_errors=True)
        # The name of the sender decides nothing here but the format.
        path = Path(folder.name) / f"{_stem(name)}{suffix}"
        with path.open("wb") as kept:
            while block := await file.read(_BLOCK):
                kept.write(block)
        key = secrets.token_hex(16)
        self._waiting[key] = Upload(
            folder=folder,
            path=path,
            name=name,
            tenant_id=viewer.tenant_id,
            session_id=str(viewer.session.id),
            until=time.monotonic() + _KEPT_SECONDS,
        )
        return key

    def find(self, viewer: Viewer, key: str) -> Upload:
        """Return a file of this session.

        Raises:
            InvalidArgumentError: It is not kept any more.
        """
        self._sweep(viewer)
        found = self._waiting.get(key)
        owner = (viewer.tenant_id, str(viewer.session.id))
        if found is None or (found.tenant_id, found.session_id) != owner:
            raise InvalidArgumentError(
                "the file is not kept any more", hint="Choose it again; it waits for ten minutes."
            )
        return found

    def drop(self, key: str) -> None:
        """Delete a file."""
        if (found := self._waiting.pop(key, None)) is not None:
            found.remove()

    def _sweep(self, viewer: Viewer) -> None:
        now = time.monotonic()
        old = [key for key, each in self._waiting.items() if each.until < now]
        own = [key for key, each in self._waiting.items() if each.tenant_id == viewer.tenant_id]
        for key in {*old, *own[: max(len(own) - _MOST_KEPT + 1, 0)]}:
            self.drop(key)


def _stem(name: str) -> str:
    """Return the words by which formats tell files apart, such as conversations."""
    stem = "".join(each for each in Path(name).stem.lower() if each.isascii() and each.isalnum())
    return stem[:60] or "file"


UPLOADS = Uploads()


async def show_transfer(page: Page) -> Response:
    """Show the forms, and the imports so far."""
    return await _page(page)


async def _page(
    page: Page, report: ImportReport | None = None, upload: str = "", name: str = ""
) -> Response:
    viewer = page.viewer
    imports = await viewer.load(viewer.reading.list_imports(max_results=20))
    return page.render(
        "transfer.html",
        imports=imports,
        report=report,
        upload=upload,
        name=name,
        given={key: page.fields.text(key) for key in ("format", "become", "scope", "source")}
        if report is not None
        else {},
        formats=[("", "Find out"), *((each, each) for each in FORMATS if each != "pymem")],
        become=_BECOME.items(),
        sources=_SOURCES.items(),
        most=MAX_UPLOAD >> 20,
    )


async def import_file(page: Page) -> Response:
    """Show what is in a file, or store it."""
    viewer, fields = page.viewer, page.fields
    does = fields.choice("do", ("preview", "import"))
    key = fields.text("upload")
    if not key:
        file = fields.file("file")
        require(file is not None and bool(file.filename), "no file was chosen")
        key = await UPLOADS.take(viewer, file)
    upload = UPLOADS.find(viewer, key)
    # An export of a memory is restored with ids and times, which an admin may.
    with upload.path.open("rb") as file:
        role = ADMIN if is_export(file.readline(_BLOCK)) else WRITER
    try:
        report = await viewer.turn(
            import_path(
                viewer.acting_as(role, "import", 0),
                upload.path,
                format=fields.choice("format", ("", *FORMATS)) or None,  # type: ignore[arg-type]
                as_=fields.choice("become", _BECOME) or None,  # type: ignore[arg-type]
                scope=fields.text("scope", most=128) or None,
                source_class=fields.choice("source", _SOURCES),  # type: ignore[arg-type]
                dry_run=does == "preview",
            ),
            role,
        )
    except PymemError as error:
        UPLOADS.drop(key)
        raise _of_upload(error, upload) from error
    if does == "preview":
        return await _page(page, report, key, upload.name)
    UPLOADS.drop(key)
    created = sum(counts["created"] for counts in report.outcomes.values())
    return page.done("import", done=created)


def _of_upload(error: PymemError, upload: Upload) -> PymemError:
    """Return an error that names the file as its sender does, and the form's fields."""
    message = error.message.replace(str(upload.path), clip(upload.name, 100))
    hint = error.hint
    if hint is not None and "--format" in hint:
        hint = "Choose its format in the form."
    return type(error)(message.replace(upload.folder.name, ""), code=error.code, hint=hint)


async def undo_import(page: Page) -> Response:
    """Forget what an import has stored."""
    undone = await page.viewer.turn(
        page.viewer.acting("undo").undo_import(page.fields.text("batch", required=True)),
        page.viewer.role_of("undo"),
    )
    require(bool(undone), "it was undone before")
    return page.done("undo", done=sum(row.memories for row in undone), parts=0)


async def export_file(page: Page) -> Response:
    """Return the memory as a file."""
    kind = page.parameter("kind")
    require(kind in ("jsonl", "pam"), f"there is no format {clip(kind, 20)!r}")
    write_export: Any = export_jsonl if kind == "jsonl" else export_pam
    suffix = "jsonl" if kind == "jsonl" else "pam.json"
    folder = Path(tempfile.mkdtemp(prefix="pymem-export-"))
    path = folder / f"memory.{suffix}"

    def clear() -> None:
        shutil.rmtree(folder, ignore_errors=True)

    try:
        with path.open("wb") as file:
            await page.viewer.turn(
                write_export(page.viewer.reading, file.write, Selection(events=kind == "jsonl"))
            )
    except BaseException:
        clear()
        raise
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    return FileResponse(
        path,
        media_type="application/json",
        filename=f"pymem-{day}.{suffix}",
        background=BackgroundTask(clear),
    )


PAGES = (("/transfer", show_transfer), ("/transfer/memory.{kind}", export_file))
WRITES = (
    ("/transfer", import_file, "import"),
    ("/transfer/undo", undo_import, "undo"),
)
