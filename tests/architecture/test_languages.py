"""Languages are data: outside of grammars and hooks no code names one (ADR 0003 lists the exceptions)."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMES = sorted(
    folder.parent.name for folder in (ROOT / "atlas/languages").glob("*/language.toml") if len(folder.parent.name) > 2
)
# no languages of programs
NAMES = [name for name in NAMES if name not in ("note", "dependency-lock", "dependency-manifest")]
ENGLISH = frozenset({"flow"})
"""Names that are plain words, too: they are a language only in quotes."""
NAMED = (
    "rust-parser/parse/src/grammars.rs",
    "rust-parser/parse/src/languages/",
    "rust-parser/parse/src/documents/",
    "rust-parser/parse/src/markdown/",
    "rust-parser/parse/src/notes/",
    "rust-parser/parse/src/lib.rs",
    "rust-parser/scan/src/manifests.rs",
    "rust-parser/facts/src/manifest.rs",
    "rust-parser/manifests/",
    "rust-parser/link/src/packages/",
    "rust-parser/link/src/configuration/",
    "atlas/packs/documentation/",
    "atlas/code/across/",
    "atlas/code/tools/vocabulary.py",
    "atlas/adapters/buses/valkey/connection.py",
    "atlas/cli/chat/",
    "atlas/code/index/watch/recursive.py",
    "atlas/papers/export.py",
    "atlas/server/editor/protocol.py",
)
"""Grammars and hooks; package managers; edits that the benchmark makes; scripts that the bus server runs; texts of models, which are Markdown; names of `watchfiles`, which is written in Rust; a format of exports; a kind of text in a protocol."""
RUST_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"((?:[^"\\]|\\.)*)"|(\w+)', re.DOTALL)


def in_rust(text: str) -> set[str]:
    """Return the strings and names of Rust code, without comments and tests."""
    code, _, _ = text.partition("#[cfg(test)]")
    return {string or name for string, name in RUST_TOKEN.findall(code)}


def in_python(text: str) -> set[str]:
    """Return the strings and names of Python code, without comments."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.string.strip("\"'") for token in tokens if token.type in (tokenize.NAME, tokenize.STRING)}


def test_no_other_code_names_a_language() -> None:
    found: list[str] = []
    for files, words_of in (("rust-parser/*/src/**/*.rs", in_rust), ("atlas/**/*.py", in_python)):
        for path in sorted(ROOT.glob(files)):
            shown = path.relative_to(ROOT).as_posix()
            # the extension's Python face names the interpreter
            if shown.startswith((*NAMED, "rust-parser/py/")):
                continue
            text = path.read_text(encoding="utf-8")
            found += [f"{shown}: {name}" for name in sorted(ENGLISH) if re.search(rf"[\"']{name}[\"']", text)]
            for word in words_of(text):
                parts = (
                    re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", word).lower().split("_") if word.isidentifier() else [word]
                )
                found += [f"{shown}: {word}" for name in NAMES if name in parts and name not in ENGLISH]
    assert found == []


def test_every_exception_is_needed() -> None:
    for place in NAMED:
        assert (ROOT / place).exists(), place
