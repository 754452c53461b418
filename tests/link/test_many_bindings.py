"""A name that a function binds ten thousands of times takes linear time; its values are then unknown."""

from __future__ import annotations

import time
from pathlib import Path

from atlas import _parser

LANGUAGES = _parser.Languages([str(Path(__file__).parents[2] / "atlas" / "languages")])
ASSIGNMENTS = 70_000


def test_a_variable_that_is_assigned_in_every_line() -> None:
    source = "def f():\n    pass\n\n\ndef g(a):\n" + "    a = a.b()\n" * ASSIGNMENTS + "    f()\n"
    linker = _parser.Linker("p", LANGUAGES)
    began = time.process_time()
    linker.update([_parser.parse_bytes(LANGUAGES, "a.py", source.encode(), timeout_ms=60_000)])
    assert time.process_time() - began < 6  # it took 14 s
    called = {edge[1].rpartition(".")[2] for edge in linker.unit("a.py").edges() if edge[2] == "CALLS"}
    assert called == {"f"}
