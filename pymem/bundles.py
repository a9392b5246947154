"""Bundles: the deploy scripts of a slice of sqitch.plan as one script for psql.

A release has the whole schema as ``pymem--0.2.0.sql`` and the upgrade from the previous release as
``pymem--0.1.0--0.2.0.sql``. Each is one transaction and stops at the first error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_HEAD = """\
-- {what}: changes of sqitch.plan in its order, in one transaction.
-- Generated; the scripts are under deploy/.

\\set ON_ERROR_STOP on

begin;
"""


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the plan.

    Attributes:
        name: The change, such as ``functions/core/search/recall``.
        tag: The first tag that follows it, such as ``v0.1.0``; None if not released.
        is_latest: Whether no later line of the plan reworks it.
    """

    name: str
    tag: str | None
    is_latest: bool

    def script(self, kind: str = "deploy") -> str:
        """Return the path of its script; scripts of reworked changes are under sql/reworked."""
        if self.is_latest:
            return f"{kind}/{self.name}.sql"
        return f"sql/reworked/{kind}/{self.name}@{self.tag}.sql"


def read_plan(text: str) -> list[Change]:
    """Return the changes of a plan, in order."""
    names: list[str] = []
    tags: list[str | None] = []
    for line in text.splitlines():
        if not line.strip() or line[0] in "%#":
            continue
        word = line.split()[0]
        if word.startswith("@"):
            tags += [word[1:]] * (len(names) - len(tags))
        else:
            names.append(word)
    tags += [None] * (len(names) - len(tags))
    last = {name: index for index, name in enumerate(names)}
    return [
        Change(name, tag, is_latest=last[name] == index)
        for index, (name, tag) in enumerate(zip(names, tags, strict=True))
    ]


def slice_plan(
    changes: list[Change], *, since: str | None = None, until: str | None = None
) -> list[Change]:
    """Return the changes after one tag, up to and including another.

    Raises:
        ValueError: The plan has no such tag.
    """
    return changes[_end(changes, since) if since else 0 : _end(changes, until) if until else None]


def _end(changes: list[Change], tag: str) -> int:
    tags = [change.tag for change in changes]
    if tag not in tags:
        raise ValueError(f"sqitch.plan has no tag {tag}")
    return len(tags) - tags[::-1].index(tag)


def without_transaction(script: str) -> str:
    """Return a deploy script or a bundle without its transaction and psql meta-commands."""
    return re.sub(r"^(begin;|commit;|\\set .*)\n", "", script, flags=re.MULTILINE)


def write_bundles(root: Path, version: str) -> dict[str, str]:
    """Return the bundles of a checkout by file name: each release whole, and each upgrade.

    Args:
        root: The checkout.
        version: The version of the package, which includes the changes after the last tag.
    """
    changes = read_plan((root / "sqitch.plan").read_text(encoding="utf-8"))
    tags = list(dict.fromkeys(change.tag for change in changes if change.tag))
    current = f"v{version}"
    releases = tags if current in tags else [*tags, current]
    bundles = {}
    for old, new in zip([None, *releases], releases, strict=False):
        until = new if new in tags else None
        whole, part = slice_plan(changes, until=until), slice_plan(changes, since=old, until=until)
        bundles[f"pymem--{new[1:]}.sql"] = _bundle(root, f"The schema of pymem {new[1:]}", whole)
        if old is not None:
            name = f"pymem--{old[1:]}--{new[1:]}.sql"
            bundles[name] = _bundle(root, f"From pymem {old[1:]} to {new[1:]}", part)
    return bundles


def _bundle(root: Path, what: str, changes: list[Change]) -> str:
    scripts = [(root / change.script()).read_text(encoding="utf-8") for change in changes]
    # Each script is a transaction of its own for sqitch; here all of them are one.
    body = "\n".join(without_transaction(script) for script in scripts)
    text = f"{_HEAD.format(what=what)}\n{body}\ncommit;\n"
    return re.sub(r"\n{3,}", "\n\n", text)
