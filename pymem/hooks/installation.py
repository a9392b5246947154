"""Adds the hooks to the configuration of an agent, and takes them out again."""

from __future__ import annotations

import copy
import json
import math
import os
import re
import shlex
import shutil
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pymem.errors import InvalidArgumentError

_EVENTS = {
    "claude": {
        "SessionStart": "session-start",
        "UserPromptSubmit": "prompt",
        "Stop": "stop",
        "SessionEnd": "session-end",
    },
    # Codex has no end of a session.
    "codex": {
        "SessionStart": "session-start",
        "UserPromptSubmit": "prompt",
        "Stop": "stop",
    },
}
# Seconds that the agent waits; a hook ends by itself sooner.
_TIMEOUT = 10

# What install writes, whatever the path of the command, which may have changed since.
_OURS = re.compile(
    r"""(?:.*[/\\])?pymem(?:\.exe)?['"]?(?: --[a-z]+ (?:'[^']*'|"[^"]*"|[^\s'"])+)*"""
    r""" hook (?:session-start|prompt|stop|session-end)"""
    r""" --agent (?:claude|codex)"""
)
_HINT = "Mend it, or move it away; nothing was changed."


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of a file.

    Attributes:
        path: The file.
        before: Its text; None if there is none.
        after: What it shall be; None: no file.
    """

    path: Path
    before: str | None
    after: str | None

    @property
    def backup(self) -> Path:
        """The copy of the file before the change."""
        return self.path.with_name(f"{self.path.name}.pymem-backup")

    def make(self) -> bool:
        """Make it, atomically, after a copy of the file; return whether there was anything to do.

        Raises:
            InvalidArgumentError: The file or its folder cannot be written.
        """
        if self.before == self.after:
            return False
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.before is not None:
                _write(self.backup, self.before, self.path)
            if self.after is None:
                self.path.unlink()
            else:
                _write(self.path, self.after, self.path)
        except OSError as error:
            raise InvalidArgumentError(
                f"{self.path} cannot be written: {error.strerror}", hint="Nothing was changed."
            ) from error
        return True


def settings_file(agent: str, project: Path | None = None) -> Path:
    """Return the file that configures the hooks of an agent: of the user, or of a project."""
    if agent == "claude":
        home, name = os.environ.get("CLAUDE_CONFIG_DIR"), "settings.json"
    else:
        home, name = os.environ.get("CODEX_HOME"), "hooks.json"
    folder = f".{agent}"
    if project is not None:
        return project / folder / name
    return (Path(home).expanduser() if home else Path.home() / folder) / name


def command_of_pymem(*, shared: bool) -> str:
    """Return how an agent calls pymem: by its path, which may not be in PATH, or by name.

    Args:
        shared: Whether others share the configuration, so that no path of this machine fits.
    """
    script = shutil.which(sys.argv[0]) if Path(sys.argv[0]).stem == "pymem" else None
    beside = Path(sys.executable).with_name("pymem.exe" if os.name == "nt" else "pymem")
    path = script or (str(beside) if beside.is_file() else None)
    if shared or path is None:
        return "pymem"
    path = os.path.abspath(path)
    if os.name == "nt":
        # Agents run commands in the shell of Git, too.
        return '"{}"'.format(path.replace("\\", "/"))
    return shlex.quote(path)


def plan_install(agent: str, path: Path, pymem: str = "pymem") -> Change:
    """Return the change that adds the hooks; none where they are there already.

    Args:
        agent: ``claude`` or ``codex``.
        path: Its configuration.
        pymem: The command.

    Raises:
        InvalidArgumentError: The file is not JSON, or not of the form that is documented for it.
    """
    path = Path(os.path.realpath(path))
    before = _read(path)
    document = _parse(path, before)
    wanted = _wanted(agent, pymem)
    if _commands(document) == wanted:
        return Change(path, before, before)
    after = copy.deepcopy(document)
    _remove(after)
    _add(after, wanted)
    return Change(path, before, _dump(after, before))


def plan_uninstall(agent: str, path: Path, pymem: str = "pymem") -> Change:
    """Return the change that removes what install added; none where there is nothing of it.

    Where nothing else has changed since, the file becomes what it was, to the letter. Arguments and
    errors are those of plan_install.
    """
    path = Path(os.path.realpath(path))
    before = _read(path)
    document = _parse(path, before)
    if before is None or not _commands(document):
        return Change(path, before, before)
    after = copy.deepcopy(document)
    _remove(after)
    backup = Change(path, None, None).backup
    saved = _read_backup(backup)
    if saved is not None:
        with suppress(InvalidArgumentError):
            original = _parse(backup, saved)
            _add(original, _wanted(agent, pymem))
            if original == document:
                return Change(path, before, saved)
    elif not after:
        return Change(path, before, None)
    return Change(path, before, _dump(after, before))


# The document


def _wanted(agent: str, pymem: str) -> dict[str, str]:
    """Return the commands that an agent is to run, by event."""
    return {event: f"{pymem} hook {name} --agent {agent}" for event, name in _EVENTS[agent].items()}


def _add(document: dict[str, Any], commands: dict[str, str]) -> None:
    hooks = document.setdefault("hooks", {})
    for event, command in commands.items():
        handler = {"type": "command", "command": command, "timeout": _TIMEOUT}
        hooks.setdefault(event, []).append({"hooks": [handler]})


def _groups(document: dict[str, Any]) -> list[tuple[str, list[Any]]]:
    return list(document.get("hooks", {}).items())


def _is_ours(handler: Any) -> bool:
    command = handler.get("command") if isinstance(handler, dict) else None
    return isinstance(command, str) and _OURS.fullmatch(command.strip()) is not None


def _commands(document: dict[str, Any]) -> dict[str, str]:
    """Return our commands, by event; with more than one for an event, they are joined."""
    found: dict[str, str] = {}
    for event, groups in _groups(document):
        for group in groups:
            for handler in group["hooks"]:
                if _is_ours(handler):
                    found[event] = "\n".join(filter(None, (found.get(event), handler["command"])))
    return found


def _remove(document: dict[str, Any]) -> None:
    """Remove our handlers, and what has become empty by that."""
    for event, groups in _groups(document):
        for group in list(groups):
            kept = [handler for handler in group["hooks"] if not _is_ours(handler)]
            if len(kept) == len(group["hooks"]):
                continue
            group["hooks"] = kept
            if not kept:
                groups.remove(group)
            if not groups:
                del document["hooks"][event]
            if not document["hooks"]:
                del document["hooks"]


# The file


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidArgumentError(
            f"{path} cannot be read: {error.strerror}", hint=_HINT
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"{path} is not UTF-8", hint=_HINT) from error


def _read_backup(path: Path) -> str | None:
    with suppress(InvalidArgumentError):
        return _read(path)
    return None


def _parse(path: Path, text: str | None) -> dict[str, Any]:
    """Return the document; an empty one for no file or an empty one."""
    if text is None or not text.removeprefix("\ufeff").strip():
        return {}

    def refuse(problem: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"{path} {problem}", hint=_HINT)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise refuse(f"has the key {json.dumps(twice)} twice")
        return made

    def finite(number: str) -> float:
        value = float(number)
        if not math.isfinite(value):
            raise ValueError(f"{number} is too large")
        return value

    def constant(name: str) -> float:
        raise ValueError(f"{name} is not a JSON number")

    try:
        document = json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=unique,
            parse_float=finite,
            parse_constant=constant,
        )
    except InvalidArgumentError:
        raise
    except (ValueError, RecursionError) as error:
        raise refuse(f"is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise refuse("is not a JSON object")
    hooks = document.get("hooks", {})
    if not isinstance(hooks, dict):
        raise refuse('has "hooks" that are not an object')
    for event, groups in hooks.items():
        if not isinstance(groups, list) or not all(
            isinstance(group, dict) and isinstance(group.get("hooks"), list) for group in groups
        ):
            raise refuse(
                f'has hooks for {json.dumps(event)} that are not a list of {{"hooks": […]}}'
            )
    return document


def _dump(document: dict[str, Any], before: str | None) -> str:
    """Return a document as text, indented and ended as it was before."""
    before = before or "{\n  \n}\n"
    found = re.search(r"^([ \t]+)\S", before, re.MULTILINE)
    text = json.dumps(
        document,
        indent=found[1] if found else 2,
        # As it is written where it is not plain.
        ensure_ascii=before.isascii() and "\\u" in before,
    )
    if before.endswith("\n"):
        text += "\n"
    if "\r\n" in before:
        text = text.replace("\n", "\r\n")
    return ("\ufeff" if before.startswith("\ufeff") else "") + text


def _write(path: Path, text: str, like: Path) -> None:
    """Write a file as a whole or not at all, with the mode of another one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            shutil.copymode(like, name)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
