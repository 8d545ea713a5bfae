"""Spans by OpenTelemetry: from a request through the queue to a bot's commit and its update.

Nothing of it is imported unless `RINGMASTER_TRACING` is set. A context travels as a W3C
`traceparent`: in the request, in the header of a task, with the bell of a commit; never in a log.
"""

import os
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final

KEPT: Final = 4096  # commits whose trace is remembered until their updates are sent
_FORM: Final = re.compile(r"00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}\Z")
_OFF: Final[AbstractContextManager[Any]] = nullcontext()

_tracer: Any = None
_provider: Any = None
_of_commits: Final[OrderedDict[str, str]] = OrderedDict()


def set_up(enabled: bool, process: str) -> None:
    """Trace from now on, if asked to; ``process`` is told as the service's name.

    Where spans are sent, the standard variables `OTEL_EXPORTER_OTLP_...` say. To be called once in
    a process, after it was forked.

    Raises:
        SystemExit: the extra `tracing` is not installed.
    """
    global _tracer, _provider  # noqa: PLW0603 - one for the process, as the library has it
    if not enabled:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        raise SystemExit(
            "ringmaster: RINGMASTER_TRACING needs more packages: pip install "
            "'scout-ringmaster[tracing]'"
        ) from None
    name = os.environ.get("OTEL_SERVICE_NAME", f"ringmaster-{process}")
    _provider = TracerProvider(resource=Resource.create({"service.name": name}))
    _provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    _tracer = _provider.get_tracer("ringmaster")


def shut_down() -> None:
    """Send what was not yet sent."""
    if _provider is not None:
        _provider.shutdown()


def is_on() -> bool:
    """Whether spans are made."""
    return _tracer is not None


def trace_of(traceparent: str | None) -> str | None:
    """The id of the trace that a header is about; None if it is none."""
    found = None if traceparent is None else _FORM.match(traceparent)
    return None if found is None else found.group(1)


def span(
    name: str, parent: str | None = None, kind: str = "INTERNAL", **attributes: str | int
) -> AbstractContextManager[Any]:
    """A span around a block, under ``parent``'s or else under that of the block around it.

    Attributes are ids, versions, codes and types of actions: what any operator may read.
    """
    return _OFF if _tracer is None else _span(name, parent, kind, attributes)


@contextmanager
def _span(
    name: str, parent: str | None, kind: str, attributes: Mapping[str, str | int]
) -> Iterator[Any]:
    from opentelemetry.trace import SpanKind  # noqa: PLC0415

    told = {f"ringmaster.{key}": value for key, value in attributes.items()}
    with _tracer.start_as_current_span(
        name,
        context=_context(parent),
        kind=SpanKind[kind],
        attributes=told,
        record_exception=False,  # its text could carry a hidden card
        set_status_on_exception=False,
    ) as made:
        yield made


def _context(parent: str | None) -> Any:
    if parent is None:
        return None
    from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415
        TraceContextTextMapPropagator,
    )

    return TraceContextTextMapPropagator().extract({"traceparent": parent})


def traceparent() -> str:
    """The span that this is under, as a header; empty if under none, or if nothing is traced."""
    if _tracer is None:
        return ""
    from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415
        TraceContextTextMapPropagator,
    )

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get("traceparent", "")


def remember(traces: Mapping[str, str]) -> None:
    """Keep which commits, by nonce, were made under which spans, for their updates."""
    if _tracer is None:
        return
    for nonce, parent in traces.items():
        _of_commits[nonce] = parent
        if len(_of_commits) > KEPT:
            _of_commits.popitem(last=False)


def update(nonce: str, match_id: str, version: int) -> AbstractContextManager[Any]:
    """The span of handing an update to a stream, in the trace of what it tells of."""
    parent = _of_commits.get(nonce) if _tracer is not None else None
    if not parent:
        return _OFF
    return _Unentered(parent, match_id, version)


class _Unentered(AbstractContextManager[None]):
    """A span that is not the current one: a generator's block is left and entered by others."""

    def __init__(self, parent: str, match_id: str, version: int) -> None:
        self._span = _tracer.start_span(
            "update",
            context=_context(parent),
            attributes={"ringmaster.match": match_id, "ringmaster.version": version},
        )

    def __exit__(self, *_: object) -> None:
        self._span.end()
