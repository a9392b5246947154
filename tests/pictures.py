"""Takes the pictures of the dashboard that the documentation shows.

    python -m tests.pictures [FOLDER]

The memory that they show is that of tests/ui_world.py, embedded by the model of this machine.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, ViewportSize, expect

from bench.scratch import Scratch, scratch_database
from tests.browsers import chromium
from tests.conftest import ROOT, Database, Server
from tests.ui_world import World, furnish, live_on

TENANT = "mira"
SIZE: ViewportSize = {"width": 1280, "height": 820}


def pictures(world: World) -> dict[str, tuple[str, Literal["light", "dark"]]]:
    """Return what each picture shows, and how."""
    question = "How+does+Mira+like+her+tea%3F"
    return {
        "overview": ("/", "light"),
        "facts": ("/facts", "light"),
        "fact": (f"/m/fact/{world.facts['Mira', 'favorite_tea']}", "light"),
        "search": (f"/search?q={question}&limit=5", "dark"),
        "review": ("/review", "light"),
        "entity": (f"/entities/{world.entities['Mira Nowak']}?depth=2", "dark"),
    }


@contextmanager
def serving(scratch: Scratch) -> Iterator[str]:
    """Serve the dashboard and return a link that signs in."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "pymem.cli", "--tenant", TENANT, "--actor", TENANT),
            *("ui", "--no-browser", "--port", "0"),
        ],
        env={**os.environ, "PYMEM_DATABASE_URL": scratch.url},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def pack(png: bytes) -> bytes:
    """Return a PNG with its pixels as they are, packed more tightly."""
    at, made, pixels = 8, [png[:8]], b""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    while at < len(png):
        [length] = struct.unpack(">I", png[at : at + 4])
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length
        if kind == b"IDAT":
            pixels += data
        elif kind == b"IEND":
            packed = zlib.compressobj(9, zlib.DEFLATED, 15, 9)
            made.append(chunk(b"IDAT", packed.compress(zlib.decompress(pixels)) + packed.flush()))
            made.append(chunk(kind, data))
        elif kind[0] < 97:  # what is needed to show it
            made.append(chunk(kind, data))
    return b"".join(made)


def take(page: Page, path: Path) -> None:
    """Take a picture once all of a page is there."""
    expect(page.locator(".late")).to_have_count(0, timeout=20_000)
    path.write_bytes(pack(page.screenshot()))


def main() -> None:
    folder = Path(sys.argv[1] if sys.argv[1:] else ROOT / "docs" / "images")
    with scratch_database("128MB") as scratch:
        database = Database(Server(scratch.superuser_url), "bench")
        world = furnish(database, TENANT)
        live_on(database, TENANT, world)
        subprocess.run(
            [sys.executable, "-m", "pymem.cli", "--tenant", TENANT, "embed"],
            env={**os.environ, "PYMEM_DATABASE_URL": scratch.url},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        database.query("select memory.seal_events()", tenant=TENANT)
        with serving(scratch) as link, chromium() as browser:
            context = browser.new_context(viewport=SIZE)
            page = context.new_page()
            page.goto(link)
            page.wait_for_url("**/ui/")
            origin = link.partition("/ui/")[0]
            for name, (path, look) in pictures(world).items():
                page.emulate_media(color_scheme=look)
                page.goto(f"{origin}/ui{path}")
                take(page, folder / f"ui-{name}.png")


if __name__ == "__main__":
    main()
