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
--
--   psql -d yourdb -f {file}
--
-- First it checks what it needs. Another client than psql runs it without the lines that begin with
-- a backslash, and what stands between \\if and \\endif.

\\set ON_ERROR_STOP on
\\set SHOW_CONTEXT never

{preparation}
begin;

call pg_temp.require_deployment();
"""

_CHANGE = """\

-- {name}
call pg_temp.run_change($pymem$
{script}
$pymem$);
"""

PREPARATION = ("sql/prepare_deployment.sql", "sql/check_deployment.sql")
"""The files that prepare a session for scripts of changes, and check what these need."""


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
    """Return a deploy script or a bundle without its transaction and what only psql understands."""
    plain = re.sub(r"^\\if .*?^\\endif\n", "", script, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^(begin;|commit;|\\set .*)\n", "", plain, flags=re.MULTILINE)


def preparation_of(bundle: str) -> str:
    """Return the part of a bundle that prepares the session, before the transaction."""
    return without_transaction(bundle[: bundle.index("\nbegin;\n")])


def changes_of(bundle: str) -> str:
    """Return the part of a bundle that its release fixes: the changes."""
    return bundle[bundle.index("\nbegin;\n") :]


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
    bundles: dict[str, str] = {}
    for old, new in zip([None, *releases], releases, strict=False):
        until = new if new in tags else None
        whole, part = slice_plan(changes, until=until), slice_plan(changes, since=old, until=until)
        names = {f"pymem--{new[1:]}.sql": (f"The schema of pymem {new[1:]}", whole)}
        if old is not None:
            what = f"From pymem {old[1:]} to {new[1:]}"
            names[f"pymem--{old[1:]}--{new[1:]}.sql"] = (what, part)
        bundles |= {name: _bundle(root, name, *made) for name, made in names.items()}
    return bundles


def _bundle(root: Path, name: str, what: str, changes: list[Change]) -> str:
    preparation = "\n".join((root / path).read_text(encoding="utf-8") for path in PREPARATION)
    parts = [_HEAD.format(what=what, file=name, preparation=preparation)]
    for change in changes:
        # Each script is a transaction of its own for sqitch; here all of them are one.
        script = without_transaction((root / change.script()).read_text(encoding="utf-8"))
        parts.append(_CHANGE.format(name=change.name, script=script.strip()))
    parts.append("\ncommit;\n")
    return re.sub(r"\n{3,}", "\n\n", "".join(parts))
