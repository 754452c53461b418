"""What a process has answered, for Prometheus, and spans of calls for OpenTelemetry, which are off unless configured.

Numbers only: neither names of projects nor arguments of calls. Use from one event loop.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from atlas.core.errors import ConfigError

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

_OTLP = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the latencies that are counted together, in seconds."""
Sample = tuple[str, Mapping[str, str], float]
"""Name, labels and value."""


class CallMetrics:
    """Calls by tool and outcome, their latencies, and how many are at work."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], int] = {}
        self._buckets: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}
        self.at_work = 0
        self.tracer: Tracer | None = None

    @contextmanager
    def call(self, tool: str) -> Generator[None]:
        """Count a call and its latency; an exception counts as an error. Opens a span if spans are wanted."""
        began, outcome = time.perf_counter(), "error"
        self.at_work += 1
        try:
            if self.tracer is None:
                yield
            else:
                with self.tracer.start_as_current_span(f"tool {tool}", attributes={"atlas.tool": tool}):
                    yield
            outcome = "ok"
        finally:
            self.at_work -= 1
            self._count(tool, outcome, time.perf_counter() - began)

    def _count(self, tool: str, outcome: str, seconds: float) -> None:
        self._calls[tool, outcome] = self._calls.get((tool, outcome), 0) + 1
        buckets = self._buckets.setdefault(tool, [0] * (len(BOUNDS) + 1))
        buckets[next((at for at, bound in enumerate(BOUNDS) if seconds <= bound), len(BOUNDS))] += 1
        self._seconds[tool] = self._seconds.get(tool, 0.0) + seconds

    def samples(self) -> Iterable[Sample]:
        """Yield what has been counted."""
        yield "atlas_calls_at_work", {}, self.at_work
        for (tool, outcome), count in sorted(self._calls.items()):
            yield "atlas_calls_total", {"tool": tool, "outcome": outcome}, count
        for tool, buckets in sorted(self._buckets.items()):
            so_far = 0
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), buckets, strict=True):
                so_far += count
                yield "atlas_call_seconds_bucket", {"tool": tool, "le": bound}, so_far
            yield "atlas_call_seconds_sum", {"tool": tool}, round(self._seconds[tool], 6)
            yield "atlas_call_seconds_count", {"tool": tool}, so_far


CALLS = CallMetrics()
"""Those of this process."""


def start_tracing(exporter: str) -> None:
    """Send spans of calls from now on; `exporter` is that of the settings, "" for none.

    "otlp" obeys the variables of OpenTelemetry (`OTEL_EXPORTER_OTLP_ENDPOINT`). Raises ConfigError without the library.
    """
    if not exporter or CALLS.tracer is not None:
        return
    try:
        # an optional extra: not there where types are checked
        sdk, exporters = (import_module(name) for name in ("opentelemetry.sdk.trace", _OTLP))
        export, resources = (import_module(f"opentelemetry.sdk.{name}") for name in ("trace.export", "resources"))
    except ImportError as error:
        from atlas.runtime.process.extras import how_to_install

        hint = f"{how_to_install('tracing')}, or unset mcp.tracing."
        raise ConfigError("the library of OpenTelemetry is not installed", hint) from error
    provider = sdk.TracerProvider(resource=resources.Resource.create({"service.name": "code-atlas"}))
    provider.add_span_processor(export.BatchSpanProcessor(exporters.OTLPSpanExporter()))
    import_module("opentelemetry.trace").set_tracer_provider(provider)
    CALLS.tracer = provider.get_tracer("atlas")


def prometheus_text(samples: Iterable[Sample], gauges: Iterable[str] = ()) -> str:
    """Return samples as Prometheus reads them. Names that end in `_total` are counters, `_bucket` histograms."""
    lines: list[str] = []
    declared: set[str] = set()
    known = frozenset(gauges)
    for name, labels, value in samples:
        family = name
        for ending in ("_bucket", "_sum", "_count"):
            if name.endswith(ending) and name not in known:
                family = name.removesuffix(ending)
        if family not in declared:
            declared.add(family)
            kind = "counter" if family.endswith("_total") else "histogram" if family != name else "gauge"
            lines.append(f"# TYPE {family} {kind}")
        said = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        lines.append(f"{name}{{{said}}} {value:g}" if said else f"{name} {value:g}")
    return "\n".join((*lines, ""))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
