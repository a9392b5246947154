"""Spans of OpenTelemetry for what is asked of a memory, of its model and of its LLM.

Names are those of the semantic conventions for generative AI, which are still in development: they
stand here and nowhere else. Without the SDK (``opentelemetry-sdk``) nothing is imported, and
nothing recorded.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pymem.errors import PymemError

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram
    from opentelemetry.trace import Tracer

logger = logging.getLogger(__name__)

OPERATIONS = {
    operation: frozenset(functions.split())
    for operation, functions in {
        "search_memory": """
            context find_ids get_memory get_entry get_items hybrid_search keyword_search
            list_related preview_batch query_memory query_topic rank_memories read_period recall
            recall_explain retrieve_entries search search_items semantic_search
        """,
        # They store, or find that the same is stored already.
        "create_memory": """
            create_entry create_link import_entries import_memories restore_rows store_episode
            store_episodes store_messages store_observations store_rule write_memory
        """,
        # A fact or an item takes the place of the one with the same key.
        "upsert_memory": "apply_consolidation batch_items put_items store_fact store_facts",
        "update_memory": """
            accept_proposals archive_entry confirm_memory consolidate_entries mark_harmful
            mark_helpful rate_entry restore_memory revert_inversion summarize_entry_merge
            undo_consolidation undo_entry_merge update_entry
        """,
        "delete_memory": """
            delete_entry delete_expired_items erase_subject expire_memory forget_memory
            undo_import
        """,
    }.items()
}
"""The SQL functions of each operation on memory; others have no span."""

_OPERATION_OF = {name: operation for operation, names in OPERATIONS.items() for name in names}

# The first of them that a function has is the query.
_QUERIES = ("query", "query_text", "topic")


class Seen:
    """What is recorded of one operation; without the SDK, nothing."""

    def set(self, **attributes: str | float | None) -> None:
        """Set attributes, ``__`` in their names for ``.``; those that are None are left out."""

    def answer(self, result: Any) -> None:
        """Record what a function of the schema answered: how many rows, or the id of a memory."""


class _Recorded(Seen):
    def __init__(self, span: Any) -> None:
        self._span = span

    def set(self, **attributes: str | float | None) -> None:
        for name, value in attributes.items():
            if value is not None:
                self._span.set_attribute(name.replace("__", "."), value)

    def answer(self, result: Any) -> None:
        if isinstance(result, list):
            self.set(pymem__results=len(result))
        elif isinstance(result, UUID):
            self.set(gen_ai__memory__record__id=str(result))


_UNSEEN = Seen()


@contextmanager
def seen_call(function: str, arguments: dict[str, Any]) -> Iterator[Seen]:
    """Record the call of a function of the schema, if it is an operation on memory.

    Args:
        function: Its name.
        arguments: Its arguments by name. The query is recorded only where
            OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is ``true``.
    """
    operation = _OPERATION_OF.get(function)
    if operation is None or not is_on():
        yield _UNSEEN
        return
    with _seen(operation) as seen:
        seen.set(pymem__function=function)
        if (record := arguments.get("memory_id", arguments.get("entry_id"))) is not None:
            seen.set(gen_ai__memory__record__id=str(record))
        if _with_contents():
            query = next((arguments[name] for name in _QUERIES if arguments.get(name)), None)
            seen.set(gen_ai__memory__query__text=query)
        yield seen


@contextmanager
def seen_embedding(model: str) -> Iterator[Seen]:
    """Record that texts are embedded.

    Args:
        model: Name of the model.
    """
    if not is_on():
        yield _UNSEEN
        return
    with _seen("embeddings", model) as seen:
        yield seen


@contextmanager
def seen_chat(model: str | None) -> Iterator[Seen]:
    """Record that an LLM is asked.

    Args:
        model: Name of the model; None if it is not known.
    """
    if not is_on():
        yield _UNSEEN
        return
    with _seen("chat", model) as seen:
        yield seen


@contextmanager
def _seen(operation: str, model: str | None = None) -> Iterator[Seen]:
    from opentelemetry.trace import SpanKind, StatusCode

    attributes = {"gen_ai.operation.name": operation, "gen_ai.provider.name": "pymem"}
    if model is not None:
        attributes["gen_ai.request.model"] = model
    begun = time.monotonic()
    name = operation if model is None else f"{operation} {model}"
    with _tracer().start_as_current_span(
        name,
        kind=SpanKind.CLIENT,
        attributes=attributes,
        # Messages of errors may quote what is stored: their code says enough.
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield _Recorded(span)
        except BaseException as error:
            attributes["error.type"] = _type_of(error)
            span.set_attribute("error.type", attributes["error.type"])
            span.set_status(StatusCode.ERROR)
            raise
        finally:
            _durations().record(time.monotonic() - begun, attributes)


@contextmanager
def caused_by(headers: Mapping[str, str]) -> Iterator[None]:
    """Make the spans inside children of the caller's, which its header ``traceparent`` names.

    Over MCP, the SDK of the protocol does that.

    Args:
        headers: The headers of a request.
    """
    if not is_on() or "traceparent" not in headers:
        yield
        return
    from opentelemetry.context import attach, detach
    from opentelemetry.propagate import extract

    token = attach(extract(headers))
    try:
        yield
    finally:
        detach(token)


def _type_of(error: BaseException) -> str:
    """Return what the conventions call error.type: the SQLSTATE, or the class."""
    code = error.code if isinstance(error, PymemError) else None
    return code or type(error).__name__


@cache
def is_on() -> bool:
    """Return whether the SDK is installed and not switched off."""
    return (
        os.environ.get("OTEL_SDK_DISABLED", "").lower() != "true"
        and find_spec("opentelemetry") is not None
        and find_spec("opentelemetry.sdk") is not None
    )


@cache
def _with_contents() -> bool:
    wanted = os.environ.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "")
    return wanted.lower() == "true"


@cache
def _tracer() -> Tracer:
    from opentelemetry.trace import get_tracer

    return get_tracer("pymem")


@cache
def _durations() -> Histogram:
    from opentelemetry.metrics import get_meter

    return get_meter("pymem").create_histogram(
        "gen_ai.client.operation.duration", unit="s", description="Duration of an operation"
    )


def export_spans(service: str) -> None:
    """Send the spans and durations of this process to where the environment says.

    That is OTEL_EXPORTER_OTLP_ENDPOINT, or the variables for traces and metrics alone; without
    them, without the SDK, or if the process was instrumented before (``opentelemetry-instrument``),
    nothing is changed. What cannot be sent is lost, and no call waits for it.

    Args:
        service: The name of the service, unless OTEL_SERVICE_NAME is set.
    """
    endpoints = {
        signal: os.environ.get(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")
        or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
        for signal in ("TRACES", "METRICS")
    }
    if not any(endpoints.values()) or not is_on():
        return
    from opentelemetry import metrics, trace

    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError:
        logger.warning(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the exporter is not installed: "
            'pip install "pymem-postgres[otel]"'
        )
        return
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME", service)})
    if endpoints["TRACES"] and isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        traces = TracerProvider(resource=resource)
        traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(traces)
    if endpoints["METRICS"] and "proxy" in type(metrics.get_meter_provider()).__name__.lower():
        metrics.set_meter_provider(
            MeterProvider(
                metric_readers=[PeriodicExportingMetricReader(OTLPMetricExporter())],
                resource=resource,
            )
        )
