"""Paths of code that is seldom what a question means: legacy, vendored, example and benchmark copies. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from atlas.core.english.stems import root_of

_COPY = re.compile(
    r"(?:^|/)(?P<kind>\w{0,60}?legacy\w*+|deprecated|compat|backports?|_?vendor(?:ed|s)?|third[_-]?party|extern(?:al)?|node_modules"
    r"|bundled|archive|attic|examples?|samples?|demos?|bench(?:marks?)?|fixtures)(?:/|\.|$)",
    re.IGNORECASE,
)
_BENCHMARK = re.compile(r"[_.-]bench(?:mark)?s?\.\w+$|[a-z0-9]Benchmarks?\.\w+$")
"""Benchmark files: `str_cat_benchmark.cc`, `parse.bench.ts`, `MapBenchmark.java`."""


def is_copy(path: str, asked: Collection[str] = ()) -> bool:
    """Return whether a folder or file of the path says that its code is legacy, vendored, a benchmark or an example.

    `asked`: roots of a question's words; what it asks for by that word is no copy.
    """
    if _BENCHMARK.search(path) and root_of("benchmark") not in asked and root_of("bench") not in asked:
        return True
    found = _COPY.search(path)
    return found is not None and root_of(found["kind"].lower()) not in asked
