"""Docstring -> definition: the first sentence asks, and a copy of the file without documentation answers.

Documentation is taken out in place, so that all lines keep their numbers. The file is parsed again afterwards: a
definition whose documentation is still there, in whatever form its language has, is not asked about.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from atlas.parsing import Languages
from atlas_bench.search.facts import CONTAINERS, SECTION, Definition, TreeFile, read_file
from atlas_bench.search.questions import SearchQuestion, Target

MIN_WORDS = 4
MAX_WORDS = 40
_BOILERPLATE = re.compile(
    r"(tests? |see |ensure|regression|deprecated|todo|internal|returns? (the )?(new )?instance|\W|copyright|@)", re.I
)
_COMMENT = re.compile(r"\s*(///?|//!|/\*|\*|#(?!\[|!|include|define|if|else|endif|pragma|region)|--|;;|%%|\(\*)")
_MARKUP = re.compile(r"</?[a-z][^>]*>|\{@\w+ ([^}]*)\}|`+|:\w+:(?=`)", re.I)
PYTHON = "python"
PythonDefinition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def without_docstrings(file: TreeFile, data: bytes, languages: Languages) -> tuple[bytes, list[Definition]]:
    """Return the file without documentation of definitions, and the definitions that have lost theirs."""
    documented = [each for each in file.definitions if each.docstring and each.kind != SECTION]
    if not documented:
        return data, []
    lines = data.split(b"\n")
    if file.language == PYTHON:
        _blank_python(data, lines)
    else:
        for definition in documented:
            _blank_comment(lines, definition)
    blanked = b"\n".join(lines)
    bare = {
        (each.qualified, each.line): each.docstring for each in read_file(file.path, blanked, languages).definitions
    }
    lost = [each for each in documented if not bare.get((each.qualified, each.line), "-")]
    return blanked, lost


def ask_docstrings(file: TreeFile, lost: list[Definition]) -> Iterator[SearchQuestion]:
    """Yield a question for each definition whose documentation was taken out and begins with a usable sentence."""
    for definition in lost if file.usable else ():
        sentence = first_sentence(definition)
        if sentence and definition.kind not in CONTAINERS:
            target = Target(file.path, definition.line, definition.qualified)
            yield SearchQuestion("docstring", sentence, (target,))


def first_sentence(definition: Definition) -> str:
    """Return the first sentence of the documentation, "" if it is too short, too long, or says nothing."""
    text = _MARKUP.sub(r"\1", definition.docstring).strip()
    sentence = " ".join(re.split(r"(?<=[.!?])\s|\n\s*\n|\n\s*[@:]\w", text, maxsplit=1)[0].split()).rstrip(".")
    # Documentation in Go begins with the name
    sentence = re.sub(rf"^{re.escape(definition.name)}\s+(?:is |are )?", "", sentence)
    usable = sentence.isascii() and MIN_WORDS <= len(sentence.split()) <= MAX_WORDS
    return sentence if usable and not _BOILERPLATE.match(sentence) else ""


def _blank_python(data: bytes, lines: list[bytes]) -> None:
    """Replace the docstrings of a Python file by `...`; a file that this interpreter cannot parse stays as it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, PythonDefinition) and ast.get_docstring(node, clean=False):
            statement = node.body[0]
            first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
            if last >= len(lines):
                continue
            after = lines[last][statement.end_col_offset or 0 :]
            lines[first] = lines[first][: statement.col_offset] + b"..." + (after if first == last else b"")
            for number in range(first + 1, last + 1):
                lines[number] = after if number == last else b""


def _blank_comment(lines: list[bytes], definition: Definition) -> None:
    """Empty the comment lines above the name of a definition: in its own lines, else those that touch it."""
    first = min(definition.start, definition.line) - 1
    while first > 0 and _is_comment(lines[first - 1]):
        first -= 1
    within = False
    for number in range(first, min(definition.line - 1, len(lines))):
        text = lines[number]
        opens = text.lstrip().startswith((b"/*", b"(*"))
        if within or opens or _is_comment(text):
            lines[number] = b""
        within = (within or opens) and b"*/" not in text and b"*)" not in text


def _is_comment(line: bytes) -> bool:
    return _COMMENT.match(line.decode("utf8", "replace")) is not None
