"""A storm: clients and workers over one database, what befalls them, and what must then hold."""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from bisect import bisect
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from campaign import accounts, invariants, journal
from campaign.client import Load, describe
from campaign.ledger import Piece, server_version
from campaign.operations import TENANTS
from campaign.servers import DATABASE, GATEWAY, Cluster, with_settings

_LONGEST_RECOVERY = 60.0
_LONGEST_END = 60.0

SETTINGS = """
select memory.configure('{
  "event_seal_schedule": "5 seconds", "corpus_statistics_schedule": "7 seconds",
  "decay_sweep_schedule": "11 seconds", "rule_hygiene_schedule": "5 seconds",
  "episode_cleanup_schedule": "13 seconds", "entry_expiry_schedule": "9 seconds",
  "entry_consolidation_schedule": "17 seconds", "item_expiry_schedule": "6 seconds",
  "consolidation_episode_threshold": 5, "consolidation_batch_size": 40,
  "consolidation_lease_minutes": 0.1, "consolidation_max_attempts": 2
}')
"""

_ERRORS = r"""
select p.proname::text, array_agg(c.code[1])
from pg_proc as p
cross join lateral regexp_matches(
  substring(obj_description(p.oid, 'pg_proc') from '(Errors: .*)'), '\m([0-9][0-9A-Z]{4})\M', 'g'
) as c (code)
where p.pronamespace = 'memory'::regnamespace
group by p.proname
"""


@dataclass
class Plan:
    """What a storm is.

    Attributes:
        part: The part of the campaign that it is.
        seed: Decides what the clients do and what befalls them.
        seconds: How long the clients call.
        processes: Processes of clients.
        tasks: Clients in each.
        workers: Processes of workers.
        settings: Settings of the sessions of clients.
        is_adrift: Whether the clocks of the clients are wrong.
        bounded: Whether to leave out what reads or writes a whole memory, which grows.
        batches: Whether the clients store many memories at a time more often.
        checks: Whether to check anything at the end.
        pause: Seconds that a client waits on the average after each call.
        allowed: SQLSTATEs, or their classes, that clients may meet beside those of PM and those
            that the comment of a function names.
    """

    part: str
    seed: str
    seconds: float
    processes: int = 3
    tasks: int = 4
    workers: int = 1
    settings: dict[str, str] = field(default_factory=dict)
    is_adrift: bool = False
    bounded: bool = False
    batches: bool = False
    checks: bool = True
    pause: float = 0
    allowed: tuple[str, ...] = ()


class Storm:
    """The processes of a storm over a cluster.

    Args:
        cluster: A cluster with the schema.
        plan: What to do.
        urls: How clients reach it; default: the cluster alone.
    """

    def __init__(
        self, cluster: Cluster, plan: Plan, urls: Callable[[str], str] | None = None
    ) -> None:
        self.cluster = cluster
        self.plan = plan
        self.chance = random.Random(f"storm {plan.seed}")
        self.urls = urls or cluster.url
        self.folder = Path(tempfile.mkdtemp(prefix="pymem-storm-"))
        self.clients: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        self.generations: Counter[int] = Counter()
        self.downs: list[float] = []
        self.probes = 0
        self.outcome = Piece(plan.part, plan.seed)

    # Processes

    def start_client(self, number: int) -> subprocess.Popen[bytes]:
        """Start a process of clients; one of a new generation in place of one that was killed."""
        self.generations[number] += 1
        name = f"{self.plan.seed}/{number}.{self.generations[number]}"
        load = Load(
            name=name.replace("/", "-"),
            urls={
                tenant: with_settings(self.urls(tenant), **self.plan.settings) for tenant in TENANTS
            },
            gateway_url=with_settings(self.urls(GATEWAY), **self.plan.settings),
            journal=str(self.folder / f"{name.replace('/', '-')}.jsonl"),
            seed=name,
            tasks=self.plan.tasks,
            is_adrift=self.plan.is_adrift,
            bounded=self.plan.bounded,
            batches=self.plan.batches,
            pause=self.plan.pause,
        )
        return self._start("campaign.client", stdin=describe(load))

    def start_worker(self) -> subprocess.Popen[bytes]:
        """Start a process of workers."""
        return self._start("campaign.worker", self.urls(GATEWAY))

    def _start(self, module: str, *arguments: str, stdin: str = "") -> subprocess.Popen[bytes]:
        with (self.folder / f"{module}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", module, *arguments],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=Path(__file__).parent.parent,
            )
        assert process.stdin is not None
        process.stdin.write(stdin.encode())
        process.stdin.close()
        return process

    # The storm

    def run(self, befall: Callable[[Storm, float], None] | None = None) -> Piece:
        """Let the clients call while things befall them, then check everything.

        Args:
            befall: What befalls them, until a time of the monotonic clock; default: nothing.
        """
        begun = time.monotonic()
        try:
            self._prepare()
            self.clients = [self.start_client(n) for n in range(self.plan.processes)]
            self.workers = [self.start_worker() for _ in range(self.plan.workers)]
            until = time.monotonic() + self.plan.seconds
            if befall is not None:
                befall(self, until)
            while (left := until - time.monotonic()) > 0:
                time.sleep(min(0.2, left))
                self.revive()
            self.stop()
            if self.plan.checks:
                self.check()
            self.outcome.seconds = round(time.monotonic() - begun, 1)
            return self.outcome
        finally:
            for process in self.clients + self.workers:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                process.wait()
            if not self.outcome.violations:
                shutil.rmtree(self.folder, ignore_errors=True)

    def probe(self) -> None:
        """Store a rule over a new connection, as soon as that is possible; note how long it took.

        The time begins with the end of the server that has just been noted in downs.
        """
        self.probes += 1
        probes = journal.Journal(self.folder / "probes.jsonl")
        tenant, word = next(iter(TENANTS.items()))
        while True:
            self.probes += 1
            call = journal.Call(
                f"{self.plan.seed}.probe.{self.probes}",
                tenant,
                "store_rule",
                {"content": f"{word} probe {self.probes}"},
            )
            probes.send(call)
            try:
                with psycopg.connect(
                    self.urls(tenant), autocommit=True, connect_timeout=5
                ) as connection:
                    row = connection.execute(
                        "select memory.store_rule(%s) from memory.set_request(request_id => %s)",
                        (call.arguments["content"], call.request_id),
                    ).fetchone()
                assert row is not None
            except psycopg.OperationalError as error:
                call.code, call.message = error.sqlstate or "08000", str(error)
                probes.end(call)
                if time.time() - self.downs[-1] > _LONGEST_RECOVERY:
                    self.outcome.violations.append(f"no recovery within a minute: {error}")
                    break
                time.sleep(0.02)
                continue
            call.outcome, call.rows = "answered", [str(row[0])]
            probes.end(call)
            break
        self.outcome.recoveries.setdefault("new", []).append(time.time() - self.downs[-1])
        probes.close()

    def _prepare(self) -> None:
        with psycopg.connect(self.cluster.url(), autocommit=True) as connection:
            for tenant in TENANTS:
                connection.execute("select set_config('memory.tenant_id', %s, false)", (tenant,))
                connection.execute(SETTINGS)
                connection.execute("select memory.register_embedding_version('storm', '1')")

    def revive(self) -> None:
        """Start anew what was killed; a process that ended by itself is a violation."""
        for number, process in enumerate(self.clients):
            if process.poll() is not None:
                self._note_end("clients", process)
                self.clients[number] = self.start_client(number)
        for number, process in enumerate(self.workers):
            if process.poll() is not None:
                self._note_end("workers", process)
                self.workers[number] = self.start_worker()

    def _note_end(self, what: str, process: subprocess.Popen[bytes]) -> None:
        if process.returncode != -signal.SIGKILL:
            self.outcome.violations.append(
                f"a process of {what} ended by itself: {process.returncode}; see {self.folder}"
            )

    def stop(self) -> None:
        """Let the clients and workers finish what they are at, and end."""
        for process in self.clients + self.workers:
            process.send_signal(signal.SIGTERM)
        for what, processes in (("clients", self.clients), ("workers", self.workers)):
            for process in processes:
                try:
                    process.wait(_LONGEST_END)
                except subprocess.TimeoutExpired:
                    self.outcome.violations.append(f"a process of {what} did not end in a minute")
                    process.kill()
                    process.wait()
                else:
                    if process.returncode not in (0, -signal.SIGTERM, -signal.SIGKILL):
                        self._note_end(what, process)
        # Statements whose client is gone end before anything is counted.
        with psycopg.connect(self.cluster.url(), autocommit=True) as connection:
            deadline = time.monotonic() + _LONGEST_END
            while time.monotonic() < deadline:
                busy: Any = connection.execute(
                    """select count(*) from pg_stat_activity
                       where datname = %s and pid <> pg_backend_pid()
                         and backend_type = 'client backend'""",
                    (DATABASE,),
                ).fetchone()
                if not busy[0]:
                    break
                time.sleep(0.05)

    def check(self) -> None:
        """Compare what is left with what was answered."""
        calls = journal.read(self.folder)
        with psycopg.connect(self.cluster.url(), autocommit=True) as connection:
            errors = {name: tuple(codes) for name, codes in connection.execute(_ERRORS)}
        outcome = self.outcome
        functions: Counter[str] = Counter()
        outcome.calls = len(calls)
        for call in calls.values():
            if call.outcome == "answered":
                outcome.answered += 1
                functions[call.function] += 1
            elif call.outcome == "lost":
                outcome.lost += 1
            if call.code is not None:
                outcome.codes[call.code] += 1
                expected = ("PM", *self.plan.allowed, *errors.get(call.function, ()))
                if not call.code.startswith(expected):
                    outcome.violations.append(
                        f"{call.request_id} {call.function} by {call.client}: "
                        f"{call.code} {call.message}"
                    )
            if call.milliseconds > outcome.slowest[0] * 1000:
                outcome.slowest = (round(call.milliseconds / 1000, 2), call.function)
        outcome.figures["functions"] = dict(functions)
        self._measure_recoveries(calls)
        outcome.violations += [f"deadlock: {each}" for each in self.cluster.deadlocks()]
        with psycopg.connect(self.cluster.url(), autocommit=True) as connection:
            outcome.server = server_version(connection)
            outcome.writes, outcome.write_calls, problems = accounts.compare(connection, calls)
            outcome.violations += problems
            outcome.violations += invariants.check(
                connection, calls, self.cluster.url(GATEWAY), self.chance
            )

    def _measure_recoveries(self, calls: dict[str, journal.Call]) -> None:
        begun = {
            kind: sorted(
                (call.ended_at - call.milliseconds / 1000, call.ended_at)
                for call in calls.values()
                if call.outcome == "answered"
                and call.client == kind
                and ".probe." not in call.request_id
            )
            for kind in ("sql", "python")
        }
        for kind, ends in begun.items():
            for down in self.downs:
                # Until the server has noticed the end of one connection, it answers others.
                after = bisect(ends, (down + 0.1, 0.0))
                if after < len(ends):
                    self.outcome.recoveries.setdefault(kind, []).append(
                        min(end for _, end in ends[after : after + 50]) - down
                    )
