"""Parsing never fails, whatever the bytes are, and what it says always holds together."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from atlas._parser import Languages, ParsedFile, parse_bytes

from .cases import LANGUAGES, facts_of, read_cases

REGISTRY = Languages([str(LANGUAGES)])
SOURCES = sorted(
    (path, source)
    for cases in sorted(Path(__file__).parent.glob("*.md"))
    for case in read_cases(cases)
    for path, source in case.files.items()
)
NAMES = [
    "a.py",
    "a.js",
    "a.ts",
    "a.tsx",
    "a.go",
    "a.java",
    "a.kt",
    "a.scala",
    "a.swift",
    "a.rs",
    "a.rb",
    "a.php",
    "a.cs",
    "a.c",
    "a.h",
    "a.cc",
    "a.sh",
    "a.lua",
    "a.ex",
]
PIECES = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "'",
    '"',
    "`",
    "\0",
    "\xff",
    "\n",
    "\r\n",
    "\t",
    "    ",
    "class ",
    "def ",
    "=> ",
    "#",
    "é",
    "/*",
]


def check(facts: dict[str, Any], size: int) -> None:
    """Spans lie inside the file, parents precede children, paths are unique, lines exist."""
    definitions = facts["definitions"]
    paths = [item["path"] for item in definitions]
    assert len(set(paths)) == len(paths)
    assert definitions[0]["path"] == ""
    seen = {""}
    for item in definitions:
        assert 0 <= item["start_byte"] <= item["end_byte"] <= size
        assert item["parent"] in seen
        assert 1 <= item["start_line"] <= item["name_line"] <= max(item["end_line"], 1) <= max(facts["lines"], 1)
        seen.add(item["path"])
    for item in [*facts["references"], *facts["bindings"], *facts["imports"], *facts["problems"]]:
        assert 1 <= item["line"] <= max(facts["lines"], 1)
        assert item.get("scope", "") in seen


def size_of(data: bytes) -> int:
    """Longest text in UTF-8, whose bytes spans count: two bytes of UTF-16 become three, and so does half a character."""
    return 3 * len(data) // 2 + 3 if data[:2] in (b"\xfe\xff", b"\xff\xfe") else len(data)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, bytes]:
    """A file of the cases, with some pieces cut out, doubled or inserted."""
    path, source = draw(st.sampled_from(SOURCES))
    data = source.encode()
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 40)))
        change: Sequence[bytes] = (data[:start], data[end:])
        piece = draw(st.sampled_from([piece.encode("latin-1") for piece in PIECES]) | st.binary(max_size=6))
        data = piece.join(change) if draw(st.booleans()) else data[:end] + data[start:end] + data[end:]
    return path, data


def test_files_of_the_cases() -> None:
    for path, source in SOURCES:
        check(facts_of(REGISTRY, path, source.encode()), len(source.encode()))


@settings(max_examples=80, deadline=None)
@given(mutated())
@example((".github/workflows/ci.yml", b"\xfe\xff" + b"name: CI\n" * 12))
def test_mutated_files(file: tuple[str, bytes]) -> None:
    path, data = file
    parsed = parse_bytes(REGISTRY, path, data)
    if not parsed.skip_reason:
        check(facts_of(REGISTRY, path, data), size_of(data))


@settings(max_examples=50, deadline=None)
@given(st.sampled_from([*NAMES, "a.md"]), st.binary(max_size=300))
def test_any_bytes(path: str, data: bytes) -> None:
    parsed = parse_bytes(REGISTRY, path, data)
    if not parsed.skip_reason:
        check(facts_of(REGISTRY, path, data), size_of(data))


@pytest.mark.parametrize(("path", "source"), SOURCES[:: max(1, len(SOURCES) // 25)])
@pytest.mark.parametrize("part", [0.25, 0.5, 0.9])
def test_truncated_files(path: str, source: str, part: float) -> None:
    data = source.encode()[: int(len(source) * part)]
    if not parse_bytes(REGISTRY, path, data).skip_reason:
        check(facts_of(REGISTRY, path, data), len(data))


@pytest.mark.parametrize("wrong", NAMES)
def test_wrong_language(wrong: str) -> None:
    for path, source in SOURCES[::7]:
        if not parse_bytes(REGISTRY, wrong, source.encode()).skip_reason:
            check(facts_of(REGISTRY, wrong, source), len(source.encode())), path


def problems(path: str, data: bytes, timeout_ms: int = 2000) -> tuple[ParsedFile, set[str]]:
    parsed = parse_bytes(REGISTRY, path, data, timeout_ms=timeout_ms)
    return parsed, {problem.split(": ")[1] for problem in parsed.problems}


def test_invalid_text_is_replaced() -> None:
    data = b"def caf\xe9(): return 1\n\ndef after(): pass\n"
    parsed, codes = problems("a.py", data)
    assert "encoding" in codes
    assert "after" in {item["name"] for item in facts_of(REGISTRY, "a.py", data)["definitions"]}
    assert ParsedFile.from_bytes(parsed.to_bytes()).to_json() == parsed.to_json()


def test_nul_bytes_do_not_end_the_file() -> None:
    data = b"def before(): pass\nx = '\0'\ndef after(): pass\n"
    _, codes = problems("a.py", data)
    assert "nul-bytes" in codes
    assert {"before", "after"} <= {item["name"] for item in facts_of(REGISTRY, "a.py", data)["definitions"]}


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b""])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_byte_order_mark_and_line_ends(mark: bytes, end: bytes) -> None:
    data = mark + end.join(
        [b'"""Doc."""', b"def f(a):", b'    """Two', b"    lines.", b'    """', b"    return a", b""]
    )
    facts = facts_of(REGISTRY, "a.py", data)
    assert not facts["problems"]
    module, function = facts["definitions"]
    assert (module["docstring"], function["docstring"].splitlines()) == ("Doc.", ["Two", "lines."])
    assert (function["start_line"], function["end_line"], facts["lines"]) == (2, 6, 6)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["a.py", "a.js", "a.ts"])
@pytest.mark.parametrize("piece", [b"(", b"[", b"{", b"f(", b"-", b"a.b(", b"x=", b"!", b"not ", b"if x:\n"])
def test_nesting_a_hundred_thousand_deep(path: str, piece: bytes) -> None:
    # Lines of a length that a person may have written; one long line would be a minified script.
    data = b"def good(): pass\n" + (piece * 20 + b"\n") * 5_000
    started = time.monotonic()
    parsed = parse_bytes(REGISTRY, path, data)
    assert time.monotonic() - started < 20
    assert parsed.lines >= 2


@pytest.mark.parametrize(
    ("path", "opening", "closing", "indent"),
    [("a.js", b"function f() {\n", b"}\n", False), ("a.py", b"class A:\n", b"", True)],
)
def test_definitions_nested_too_deep_are_left_out(path: str, opening: bytes, closing: bytes, indent: bool) -> None:
    depth = 300
    data = b"".join(b" " * (number if indent else 0) + opening for number in range(depth))
    data += b" " * depth + b"pass\n" if indent else closing * depth
    _, codes = problems(path, data)
    assert "too-deep" in codes
    definitions = facts_of(REGISTRY, path, data)["definitions"]
    assert 50 < len(definitions) < depth


def test_long_chains_keep_every_call() -> None:
    data = b"x = a" + b".b()" * 1000 + b"\n"
    facts = facts_of(REGISTRY, "a.py", data)
    assert sum(item["kind"] == "Call" for item in facts["references"]) == 1000


@pytest.mark.parametrize("path", ["a.py", "a.json.py", "a.js"])
def test_ten_megabytes_on_one_line(path: str) -> None:
    data = b"x = [" + b"1, " * 3_400_000 + b"]"
    started = time.monotonic()
    parsed, codes = problems(path, data, timeout_ms=500)
    assert time.monotonic() - started < 10
    assert parsed.skip_reason or codes & {"timeout", "long-line"}


def test_time_is_bounded() -> None:
    data = b"x = f(a, b)\n" * 200_000
    started = time.monotonic()
    parsed, codes = problems("a.py", data, timeout_ms=1)
    assert time.monotonic() - started < 2
    assert codes == {"timeout"}
    assert parsed.lines == 200_000


@pytest.mark.parametrize(
    ("path", "token"),
    [
        ("a.swift", "#"),
        ("a.kt", "/*"),
        ("a.lua", "- "),
        ("a.lua", "\\\n"),
        ("a.py", "\\\n"),
        ("a.scala", ";"),
    ],
)
def test_the_deadline_holds_where_a_scanner_reads_ahead(path: str, token: str) -> None:
    """The skip of an error is one step of the parser; a scanner may read the rest of the text at each byte of it."""
    began = time.process_time()
    problems(path, (token * (1_000_000 // len(token))).encode(), timeout_ms=100)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(("path", "token"), [("a.kt", "a<"), ("a.swift", "f(x=>{"), ("a.ts", "f(x=>{"), ("a.rs", "[")])
def test_brackets_without_an_end_are_not_parsed(path: str, token: str) -> None:
    began = time.process_time()
    _, codes = problems(path, (token * (1_000_000 // len(token))).encode())
    assert "timeout" in codes
    assert time.process_time() - began < 1
    _, codes = problems("a.py", b"a = f(b[1 << 2]) <= {c: 0}\n" * 30_000)
    assert not codes


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.py", "import a{0}\n"),
        ("a.cs", "using A{0};\n"),
        ("a.ex", "import A{0}\n"),
        ("a.js", "/** @import {{T{0}}} from './t' */\n"),
    ],
)
def test_a_file_of_imports_keeps_its_first_ones(path: str, line: str) -> None:
    source = "".join(line.format(number) for number in range(20_001))
    facts = facts_of(REGISTRY, path, source.encode())
    assert len(facts["imports"]) == 20_000
    assert [(one["line"], one["code"]) for one in facts["problems"]] == [(20_001, "too-many-imports")]


@pytest.mark.parametrize("mark", ["- ", "> ", "1. ", "> - ", "[^1]: - "])
@pytest.mark.parametrize("line", ["b\n", "\n"])
def test_nested_lists_and_quotes_take_linear_time(mark: str, line: str) -> None:
    source = mark * 16_000 + "a\n" + line * 100_000
    began = time.process_time()
    parsed = parse_bytes(REGISTRY, "a.md", source.encode())
    assert time.process_time() - began < 3
    assert not [problem for problem in parsed.problems if "timeout" in problem]


def test_markdown_that_is_not_utf8_keeps_its_places() -> None:
    source = b"# caf\xe9 \xe2\x82\n\n`one` [\xff](c.md)\n\n# `two`\n"
    facts = facts_of(REGISTRY, "a.md", source)
    assert [item["name"] for item in facts["definitions"][1:]] == ["caf\ufffd \ufffd", "two"]
    assert [(item["expr"], item["line"]) for item in facts["references"]] == [("one", 3), ("c.md", 3), ("two", 5)]
    assert [item["start_byte"] for item in facts["definitions"][1:]] == [0, source.index(b"# `two`")]


def test_facts_that_point_nowhere_are_refused() -> None:
    written = parse_bytes(
        REGISTRY, "a.py", b"from m import f\nclass A(B):\n    def g(self, x: int = 1): return f(x)\n"
    ).to_bytes()
    refused = 0
    for at in range(len(written)):
        try:
            ParsedFile.from_bytes(written[:at] + b"\x7f" + written[at + 1 :]).to_json()
        except ValueError:
            refused += 1
    assert 0 < refused < len(written)


def test_lines_of_code_may_begin_with_any_character_behind_a_sign() -> None:
    parsed = parse_bytes(REGISTRY, "a.pl", "sub one {\n}\n- \u2665 love\n%  \u00e9\n".encode())
    assert not parsed.problems
