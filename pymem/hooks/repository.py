"""The repository that an agent works in: its name, its branch, and whether memory is off there.

The files of git are read, git itself is not run: a hook has no time, and a repository must not
decide what is run.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pymem.hooks.text import one_line, shorten

OFF_FILE = ".pymem-off"
"""A file of this name switches the hooks off in its folder and all below."""

_MAX_CONFIG = 1 << 18
_MAX_LINE = 4096
_LONGEST = 200

_SECTION = re.compile(r'\[\s*remote\s+"((?:[^"\\]|\\.)*)"\s*\]', re.IGNORECASE)
_URL = re.compile(r"url\s*=\s*(.*)", re.IGNORECASE)
# host:path, possibly with a user; not a letter of a drive, and not scheme://.
_SCP = re.compile(r"(?:[^@/\s]*@)?(\[[^\]\s]+\]|[^:/\s@\[\]]{2,}):(?!//)(.+)")


@dataclass(frozen=True, slots=True)
class Repository:
    """Where an agent works.

    Attributes:
        name: Host and path of the remote, such as ``github.com/acme/shop``; without a remote, the
            name of the folder.
        branch: The branch that is checked out; None outside of git, or if there is none.
    """

    name: str
    branch: str | None = None


def is_off(folder: Path) -> bool:
    """Return whether a file switches the hooks off in a folder, or in one above it."""
    return any((each / OFF_FILE).exists() for each in (folder, *folder.parents))


def find_repository(folder: Path) -> Repository:
    """Return the repository that a folder is in, or the folder itself as one without a remote."""
    for root in (folder, *folder.parents):
        git = _git_folder(root / ".git")
        if git is not None:
            common = _common_folder(git)
            remote = _remote(common / "config")
            name = normalize_remote(remote) if remote is not None else None
            # The folder of a work tree has any name; that of the repository is the same in all.
            home = common.parent if common.name == ".git" else root
            return Repository(name or _name(home), _branch(git / "HEAD"))
    return Repository(_name(folder))


def normalize_remote(url: str) -> str | None:
    """Return host and path of a remote, the same for each way to write it, without credentials.

    The remote ``https://user:token@GitHub.com/acme/shop.git`` and ``git@github.com:acme/shop`` are
    both ``github.com/acme/shop``. Of a path on this machine only the last part counts. None if
    nothing is left.
    """
    url = re.split(r"[?#]", one_line(url))[0]
    host: str | None = None
    path = url.replace("\\", "/")
    if "://" in url:
        try:
            parts = urlsplit(url)
            host, path = parts.hostname, parts.path
        except ValueError:
            return None
    elif found := _SCP.fullmatch(url):
        host, path = found[1], found[2]
    path = re.sub(r"/{2,}", "/", path).strip("/").removesuffix(".git").strip("/")
    if "@" in path:
        # A slash in a password that is not escaped: what precedes the host is no part of the name.
        host, path = None, path.rpartition("@")[2]
    elif not host:
        path = path.rpartition("/")[2]
    name = f"{host.lower()}/{path}" if host and path else path
    return shorten(name, _LONGEST) or None


def _name(folder: Path) -> str:
    return shorten(one_line(folder.name), _LONGEST) or "unnamed"


def _git_folder(place: Path) -> Path | None:
    """Return the folder with HEAD; in a work tree or submodule a file names it."""
    if place.is_dir():
        return place
    if not place.is_file():
        return None
    found = re.match(r"gitdir:\s*(.+)", _read(place, _MAX_LINE))
    return Path(os.path.normpath(place.parent / found[1].strip())) if found else None


def _common_folder(git: Path) -> Path:
    """Return the folder with what all work trees of a repository share."""
    named = _read(git / "commondir", _MAX_LINE).strip()
    return Path(os.path.normpath(git / named)) if named else git


def _remote(config: Path) -> str | None:
    """Return the URL of the remote "origin", or else of the first one."""
    remotes: dict[str, str] = {}
    remote: str | None = None
    for line in _read(config, _MAX_CONFIG).splitlines():
        line = line.strip()
        if line.startswith("["):
            section = _SECTION.match(line)
            remote = section[1] if section else None
        elif remote is not None and (found := _URL.match(line)):
            value = re.sub(r"\s+[#;].*", "", found[1]).strip().strip('"')
            remotes.setdefault(remote, value)
    return remotes.get("origin") or next(iter(remotes.values()), None)


def _branch(head: Path) -> str | None:
    found = re.match(r"ref:\s*refs/heads/(.+)", _read(head, _MAX_LINE))
    # Where refs are in tables, HEAD names no branch.
    if found is None or found[1].strip() == ".invalid":
        return None
    return shorten(one_line(found[1]), _LONGEST) or None


def _read(path: Path, most: int) -> str:
    try:
        with path.open("rb") as file:
            return file.read(most).decode(errors="replace")
    except OSError:
        return ""
