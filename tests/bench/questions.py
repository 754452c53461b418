"""Questions with known answers from any Python tree: the first sentence of a docstring asks for its definition.

The tree is copied with all docstrings blanked out (places stay as they are), so that the sentence is not in the index.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass
from pathlib import Path

MIN_WORDS = 4
BOILERPLATE = re.compile(r"(test|see |ensure|regression|deprecated|\W|todo|internal)", re.IGNORECASE)
TESTS = re.compile(r"(^|/)(tests?|testing)(/|$)|(^|/)(test_[^/]*|conftest)\.py$")

Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Question:
    """A sentence and the place (`path:line`) of the definition it was written for."""

    text: str
    place: str
    name: str


def copy_without_docstrings(source: Path, target: Path) -> list[Question]:
    """Copy the tree's Python files, docstrings replaced by `...`; return the questions, sorted by place."""
    questions: list[Question] = []
    for path in sorted(source.rglob("*.py")):
        relative = path.relative_to(source).as_posix()
        try:
            text = path.read_text(encoding="utf-8")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        blanked, found = _blank(text, tree, relative)
        destination = target / relative
        destination.parent.mkdir(parents=True, exist_ok=True)
        destination.write_text(blanked, encoding="utf-8")
        questions += found
    return _distinct(questions)


def _blank(text: str, tree: ast.Module, path: str) -> tuple[str, list[Question]]:
    lines = text.encode().split(b"\n")
    questions: list[Question] = []
    for node in ast.walk(tree):
        if not isinstance(node, Definition) or not ast.get_docstring(node, clean=False):
            continue
        statement = node.body[0]
        first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
        after = lines[last][statement.end_col_offset or 0 :]
        lines[first] = lines[first][: statement.col_offset] + b"..." + (after if first == last else b"")
        for number in range(first + 1, last + 1):
            lines[number] = after if number == last else b""
        if not isinstance(node, ast.Module) and not TESTS.search(path):
            sentence = _sentence(ast.get_docstring(node) or "")
            if sentence:
                questions.append(Question(sentence, f"{path}:{node.lineno}", node.name))
    return b"\n".join(lines).decode(), questions


def _sentence(docstring: str) -> str:
    sentence = " ".join(re.split(r"(?<=[.!?])\s|\n\s*\n", docstring.strip(), maxsplit=1)[0].split()).rstrip(".")
    usable = sentence.isascii() and len(sentence.split()) >= MIN_WORDS and not BOILERPLATE.match(sentence)
    return sentence if usable else ""


def _distinct(questions: list[Question]) -> list[Question]:
    """Questions that are asked once; a sentence that belongs to several definitions has no single answer."""
    counts: dict[str, int] = {}
    for question in questions:
        counts[question.text] = counts.get(question.text, 0) + 1
    return sorted((question for question in questions if counts[question.text] == 1), key=lambda each: each.place)


_COMMENT = re.compile(r"\s*(///(?!/)|//(?![/!])|\*|/\*\*)")
_ATTRIBUTE = re.compile(r"\s*(#\[|@\w)")
_DEFINED = re.compile(
    r"\s*(?:export\s+|default\s+|pub(?:\([^)]*\))?\s+|async\s+|unsafe\s+|const\s+(?=fn|unsafe)|abstract\s+)*"
    r"(?:fn|struct|enum|trait|function|class|interface|type|func(?:\s*\([^)]*\))?|const)\s+(\w+)"
)


def copy_without_doc_comments(source: Path, target: Path, suffix: str) -> list[Question]:
    """Copy the files with a suffix, comment lines above definitions emptied; return the questions, sorted by place.

    For languages whose documentation is a comment: Rust, Go, TypeScript. Files of tests are copied and not asked about.
    """
    questions: list[Question] = []
    for path in sorted(source.rglob(f"*{suffix}")):
        relative = path.relative_to(source).as_posix()
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        for number, line in enumerate(lines):
            found = _DEFINED.match(line)
            first = _comment_above(lines, number) if found else number
            if found is None or first == number:
                continue
            comment = [part for part in lines[first:number] if _COMMENT.match(part)]
            text = "\n".join(re.sub(r"^\s*(/\*\*|\*/|\*|/{2,3})", "", part).strip(" */") for part in comment)
            sentence = _sentence(re.sub(rf"^\s*{found[1]}\s+", "", text))
            if sentence and not re.search(r"(^|/)(tests?|benches)/|[._]tests?\.", relative):
                questions.append(Question(sentence, f"{relative}:{number + 1}", found[1]))
            for above in range(first, number):
                if _COMMENT.match(lines[above]):
                    lines[above] = ""
        destination = target / relative
        destination.parent.mkdir(parents=True, exist_ok=True)
        destination.write_text("\n".join(lines), encoding="utf-8")
    return _distinct(questions)


def _comment_above(lines: list[str], number: int) -> int:
    """Return the first line of the comment that ends above a definition, attributes in between; its own if none."""
    first = number
    while first and (_COMMENT.match(lines[first - 1]) or _ATTRIBUTE.match(lines[first - 1])):
        first -= 1
    return first
