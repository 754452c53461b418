"""Counts of calls for Prometheus, and spans for OpenTelemetry."""

from __future__ import annotations

import pytest

from atlas.core.errors import NotFound
from atlas.runtime.process.metrics import CallMetrics, prometheus_text, start_tracing


def test_calls_are_counted_by_tool_and_outcome() -> None:
    calls = CallMetrics()
    with calls.call("recall"):
        assert dict((name, value) for name, _, value in calls.samples())["atlas_calls_at_work"] == 1
    with pytest.raises(NotFound), calls.call("recall"):
        raise NotFound("nothing")
    lines = prometheus_text(calls.samples()).splitlines()
    assert 'atlas_calls_total{tool="recall",outcome="ok"} 1' in lines
    assert 'atlas_calls_total{tool="recall",outcome="error"} 1' in lines
    assert 'atlas_call_seconds_bucket{tool="recall",le="+Inf"} 2' in lines
    assert 'atlas_call_seconds_count{tool="recall"} 2' in lines
    assert lines.count("# TYPE atlas_call_seconds histogram") == 1 and "atlas_calls_at_work 0" in lines
    assert prometheus_text([("x", {"a": 'q"\\\n'}, 1.0)]).splitlines()[1] == 'x{a="q\\"\\\\\\n"} 1'


def test_spans_are_off_unless_wanted_and_name_the_tool_only() -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    calls, exporter, provider = CallMetrics(), memory.InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    start_tracing("")
    with calls.call("recall"):
        pass
    assert not exporter.get_finished_spans()
    calls.tracer = provider.get_tracer("atlas")
    with calls.call("recall"):
        pass
    with pytest.raises(NotFound), calls.call("get_unit"):
        raise NotFound("nothing")
    spans = exporter.get_finished_spans()
    assert [(one.name, dict(one.attributes), one.status.is_ok) for one in spans] == [
        ("tool recall", {"atlas.tool": "recall"}, True),
        ("tool get_unit", {"atlas.tool": "get_unit"}, False),
    ]
