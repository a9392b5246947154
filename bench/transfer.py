"""Measure how fast a memory is exported, restored and imported, and how much memory that takes.

Each step is a process of its own, so that its peak is its own.

    python -m bench.transfer --facts 100000 --folder /dev/shm
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.scratch import scratch_database
from pymem.database import Request
from pymem.memory import Memory
from pymem.transfer.exporting import export_jsonl
from pymem.transfer.folders import export_markdown
from pymem.transfer.importing import import_path
from pymem.transfer.pam import export_pam

TEXT = "The meeting about the budget of project {n} moved from Monday to Thursday at ten o'clock."
BATCH = 1000


async def fill(memory: Memory, facts: int) -> int:
    for start in range(0, facts, BATCH):
        await memory.store_facts(
            [
                {
                    "subject": f"project {n % 5000}",
                    "predicate": f"meeting {n}",
                    "content": TEXT.format(n=n),
                }
                for n in range(start, min(start + BATCH, facts))
            ]
        )
    return facts


async def step(name: str, url: str, folder: Path, facts: int) -> int:
    """Do one step and return how many rows it has handled."""
    url, _, tenant = url.rpartition(" ")
    request = Request(tenant_id=tenant, butler="home")
    async with await Memory.connect(url, request=request) as memory:
        match name:
            case "fill":
                return await fill(memory, facts)
            case "export":
                with (folder / "m.jsonl").open("wb") as file:
                    return (await export_jsonl(memory, file.write)).total()
            case "export pam":
                with (folder / "m.json").open("wb") as file:
                    return (await export_pam(memory, file.write)).total()
            case "export markdown":
                return (await export_markdown(memory, folder / "out")).total()
            case "restore":
                report = await import_path(memory, folder / "m.jsonl")
            case "import facts":
                report = await import_path(memory, folder / "facts.jsonl")
            case "import episodes":
                report = await import_path(memory, folder / "mem0.json")
            case _:
                report = await import_path(memory, folder / "facts.jsonl")
        return sum(counts.total() for counts in report.outcomes.values())


def measure(name: str, url: str, folder: Path, facts: int) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "bench.transfer",
        "--step",
        name,
        "--url",
        url,
        "--folder",
        str(folder),
        "--facts",
        str(facts),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--step")
    parser.add_argument("--url")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.step:
        started = time.perf_counter()
        handled = asyncio.run(step(options.step, options.url, options.folder, options.facts))
        seconds = time.perf_counter() - started
        # Of this program: what getrusage says is also that of the process it was forked from.
        status = Path("/proc/self/status").read_text()
        peak = int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024
        print(json.dumps({"rows": handled, "seconds": seconds, "peak_mib": peak}))
        return

    steps = (
        *(("fill", "a"), ("export", "a"), ("export pam", "a"), ("export markdown", "a")),
        *(("restore", "b"), ("import facts", "c"), ("import facts again", "c")),
        ("import episodes", "d"),
    )
    with (
        scratch_database(folder=options.folder) as scratch,
        tempfile.TemporaryDirectory(dir=options.folder) as temporary,
    ):
        folder = Path(temporary)
        write_files(folder, options.facts)
        for name, tenant in steps:
            found = measure(name, f"{scratch.url} {tenant}", folder, options.facts)
            print(
                f"{name:20} {found['rows']:>9,} rows {found['seconds']:8.1f} s "
                f"{found['rows'] / found['seconds']:>9,.0f} rows/s {found['peak_mib']:6.0f} MiB"
            )
        print(f"size of the export: {(folder / 'm.jsonl').stat().st_size / 1e6:,.0f} MB")


def write_files(folder: Path, facts: int) -> None:
    """Write the same texts as JSON Lines, of facts, and as an export of mem0."""
    with (folder / "facts.jsonl").open("w") as lines, (folder / "mem0.json").open("w") as mem0:
        mem0.write('{"results": [')
        for n in range(facts):
            fact = {"type": "fact", "source_id": str(n), "subject": f"project {n % 5000}"}
            fact |= {"predicate": f"meeting {n}", "content": TEXT.format(n=n)}
            lines.write(json.dumps(fact) + "\n")
            memory = {
                "id": str(n),
                "memory": TEXT.format(n=n),
                "created_at": "2026-01-01T00:00:00Z",
            }
            mem0.write(("," if n else "") + json.dumps(memory))
        mem0.write("]}")


if __name__ == "__main__":
    main()
