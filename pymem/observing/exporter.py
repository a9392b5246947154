"""The metrics of a process on a port of their own, for Prometheus.

They count the memories of every tenant that the process serves, so no token of a tenant may read
them: who can reach the port can. It is on loopback unless the operator says otherwise.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import uvicorn
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pymem.errors import InvalidArgumentError, PymemError
from pymem.memory import Memory
from pymem.models import Finding, Metrics
from pymem.observing.metrics import CONTENT_TYPE, PROCESS, Gauge, Metric, render

logger = logging.getLogger(__name__)

PATH = "/metrics"

REFRESH_SECONDS = 30.0
"""How often the database is asked; scrapes in between get the same numbers."""
FINDINGS_SECONDS = 300.0
"""The same for what pymem doctor checks."""
_ANSWER_SECONDS = 20.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

MEANINGS = {
    "pymem_memories": "Memories by type and state.",
    "pymem_embedding_backlog": "Memories that wait for a vector, by the model it is for.",
    "pymem_oldest_unembedded_seconds": "How long the oldest of them has waited.",
    "pymem_consolidation_pending": "Episodes that wait for consolidation.",
    "pymem_oldest_unconsolidated_seconds": "Age of the oldest of them.",
    "pymem_consolidation_dead_letters": "Episodes whose consolidation was given up.",
    "pymem_unsealed_events": "Events that are not in the hash chain yet.",
}
"""What the metrics of memory.metrics say."""

SEVERITIES = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class MetricsListener:
    """Where metrics are served.

    Attributes:
        port: Port; 0 for any free port.
        host: Address to listen on.
        announce: Called with the address of the metrics once they are served.
    """

    port: int
    host: str = "127.0.0.1"
    announce: Callable[[str], None] = lambda address: None


class Collector:
    """Asks the database now and then, in the background, so that no scrape waits for it.

    Args:
        memory: Connected with the role memory_reader, memory_worker or memory_admin.
        pools: The memories whose connections are counted, by the name of their role.
    """

    def __init__(self, memory: Memory, pools: Mapping[str, Memory]) -> None:
        self._memory = memory
        self._pools = pools
        self._numbers: list[Metrics] = []
        self._findings: list[Finding] | None = None
        self._is_up = False
        self._all_tenants: bool | None = None
        self._answered_at: float | None = None
        self._examined_at = -FINDINGS_SECONDS

    async def run(self) -> None:
        """Ask until canceled."""
        while True:
            try:
                await self.refresh()
            except PymemError as error:
                logger.warning("metrics without the database: %s", error)
            except TimeoutError:
                logger.warning("metrics without the database: it did not answer in time")
            await asyncio.sleep(REFRESH_SECONDS)

    async def refresh(self) -> None:
        """Ask the database now.

        Raises:
            PymemError: It does not answer.
            TimeoutError: It takes too long.
        """
        self._is_up = False
        async with asyncio.timeout(_ANSWER_SECONDS):
            if self._all_tenants is None:
                login = await self._memory.current_login()
                self._all_tenants = self._memory.tenant_id is None and login.tenant_id is None
            self._numbers = await self._memory.metrics(all_tenants=self._all_tenants)
            self._is_up = True
            self._answered_at = time.monotonic()
            if time.monotonic() >= self._examined_at + FINDINGS_SECONDS:
                self._findings = await self._memory.diagnose()
                self._examined_at = time.monotonic()

    def text(self) -> str:
        """Return all metrics, without asking anybody."""
        return render([*PROCESS, *self._own(), *self._of_database()])

    def _own(self) -> Iterator[Metric]:
        numbers = {role: memory._pool_numbers() for role, memory in self._pools.items()}
        for name, key, meaning in (
            ("pymem_pool_size", "size", "Connections to the database, by role."),
            ("pymem_pool_idle", "idle", "Connections that nobody uses."),
            ("pymem_pool_waiting", "waiting", "Calls that wait for a connection."),
        ):
            yield Gauge(name, meaning, [({"role": role}, numbers[role][key]) for role in numbers])
        yield Gauge("pymem_up", "1 if the database answered the last time.", [({}, self._is_up)])
        if self._answered_at is not None:
            age = time.monotonic() - self._answered_at
            yield Gauge("pymem_metrics_age_seconds", "Age of what it answered.", [({}, age)])

    def _of_database(self) -> Iterator[Metric]:
        for name, meaning in MEANINGS.items():
            found = [(row.labels, row.value) for row in self._numbers if row.name == name]
            if found:
                yield Gauge(name, meaning, found)
        if self._findings is not None:
            counts = dict.fromkeys(SEVERITIES, 0)
            for finding in self._findings:
                counts[finding.severity] = counts.get(finding.severity, 0) + 1
            yield Gauge(
                "pymem_doctor_findings",
                "What pymem doctor finds, by severity.",
                [({"severity": severity}, count) for severity, count in counts.items()],
            )


@asynccontextmanager
async def exporting(
    listener: MetricsListener | None, memory: Memory, pools: Mapping[str, Memory]
) -> AsyncIterator[None]:
    """Serve metrics in the body; nothing without a listener.

    Args:
        listener: Where to serve them; None not to serve them.
        memory: As in Collector.
        pools: As in Collector.

    Raises:
        InvalidArgumentError: The address cannot be listened on.
    """
    if listener is None:
        yield
        return
    collector = Collector(memory, pools)
    security = TransportSecurityMiddleware(_security(listener.host))

    async def answer(request: Request) -> Response:
        refusal = await security.validate_request(request)
        return refusal or Response(collector.text(), media_type=CONTENT_TYPE)

    app = Starlette(routes=[Route(PATH, answer, methods=["GET"])])
    with _listening(listener) as listening:
        config = uvicorn.Config(
            app,
            http="h11",
            access_log=False,
            log_config=None,
            proxy_headers=False,
            server_header=False,
            ws="none",
            lifespan="off",
            limit_concurrency=20,
            timeout_graceful_shutdown=1,
        )
        server = _QuietServer(config)
        tasks = [
            asyncio.create_task(server.serve(sockets=[listening]), name="pymem-metrics"),
            asyncio.create_task(collector.run(), name="pymem-collector"),
        ]
        try:
            host = f"[{listener.host}]" if ":" in listener.host else listener.host
            listener.announce(f"http://{host}:{listening.getsockname()[1]}{PATH}")
            yield
        finally:
            server.should_exit = True
            tasks[1].cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _security(host: str) -> TransportSecuritySettings:
    # Elsewhere, the names of this machine are not known; the network decides who comes.
    if host not in _LOOPBACK:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = ("127.0.0.1", "localhost", "[::1]")
    return TransportSecuritySettings(
        allowed_hosts=[pattern for name in names for pattern in (name, f"{name}:*")]
    )


@contextmanager
def _listening(listener: MetricsListener) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
    try:
        listening = socket.create_server((listener.host, listener.port), family=family)
    except (OSError, OverflowError) as error:
        raise InvalidArgumentError(
            f"cannot serve metrics on {listener.host} port {listener.port}: {error}",
            hint="Pass another --metrics-port or --metrics-host.",
        ) from error
    with listening:
        yield listening


class _QuietServer(uvicorn.Server):
    """Leaves signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


__all__ = ["MEANINGS", "Collector", "MetricsListener", "exporting"]
