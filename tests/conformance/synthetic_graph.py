"""Deltas of a realistic size made from any tree of Python files with `ast`: for measuring stores, not for truth.

Every class, function and module becomes a node with its text; every called or read name becomes an edge to one of the
definitions of that name. The shape (names, docstrings, words, fan-in) is that of the code read.
"""

from __future__ import annotations

import ast
import hashlib
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from atlas.core.model import STRUCTURE_PATH, EdgeRow, FileRecord, GraphDelta, NodeRow, SearchText

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_split_cache: dict[str, str] = {}


def split_words(text: str) -> list[str]:
    """Words as the extension splits them: each identifier lower-cased, then its parts."""
    words: list[str] = []
    for word in WORD.findall(text):
        split = _split_cache.get(word)
        if split is None:
            parts = [part.lower() for part in PART.findall(word)]
            split = " ".join([word.lower(), *parts] if len(parts) > 1 else [word.lower()])
            _split_cache[word] = split
        words.append(split)
    return " ".join(words).split(" ") if words else []


def digest(*parts: object, size: int = 8) -> str:
    """Hex digest of the parts."""
    return hashlib.blake2b("\0".join(map(str, parts)).encode("utf8", "replace"), digest_size=size).hexdigest()


def deltas_of_tree(project: str, root: Path) -> Iterator[GraphDelta]:
    """Yield one delta per readable Python file, then the structure unit."""
    files: list[tuple[str, bytes, ast.Module]] = []
    warnings.simplefilter("ignore")
    for path in sorted(root.rglob("*.py")):
        data = path.read_bytes()
        try:
            files.append((path.relative_to(root).as_posix(), data, ast.parse(data)))
        except (SyntaxError, ValueError, RecursionError):
            continue
    definitions: dict[str, list[str]] = {}
    for path, _, tree in files:
        for uid, name in _definitions(project, path, tree):
            definitions.setdefault(name, []).append(uid)
    structure: list[EdgeRow] = []
    for path, data, tree in files:
        unit = _Unit(project, path, data, definitions)
        unit.module(tree)
        structure.append(EdgeRow(f"{project}:{project}", unit.nodes[0].uid, "CONTAINS", 0, "structure", 1.0))
        record = FileRecord(
            path,
            "python",
            digest(data, size=16),
            len(data),
            1,
            data.count(b"\n"),
            digest(*unit.nodes, *unit.edges, size=16),
        )
        yield GraphDelta(project, path, record, unit.nodes, unit.edges, unit.texts, data)
    root_node = NodeRow(
        f"{project}:{project}",
        "Project",
        "project",
        project,
        project,
        "",
        "",
        *([0] * 5),
        "",
        "",
        *([False] * 3),
        *([""] * 7),
    )
    yield GraphDelta(project, STRUCTURE_PATH, FileRecord(STRUCTURE_PATH), [root_node], structure)


def _definitions(project: str, path: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    module = path.removesuffix(".py").replace("/", ".")
    stack: list[tuple[str, ast.AST]] = [(module, tree)]
    seen: set[str] = set()
    while stack:
        prefix, node = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{prefix}.{child.name}"
                if name not in seen:
                    seen.add(name)
                    yield f"{project}:{name}", child.name
                stack.append((name, child))


class _Unit:
    def __init__(self, project: str, path: str, data: bytes, definitions: dict[str, list[str]]) -> None:
        self.project, self.path, self.data, self.definitions = project, path, data, definitions
        self.lines = data.split(b"\n")
        self.offsets = [0]
        for line in self.lines:
            self.offsets.append(self.offsets[-1] + len(line) + 1)
        self.nodes: list[NodeRow] = []
        self.edges: list[EdgeRow] = []
        self.texts: list[SearchText] = []
        self.seen: set[str] = set()

    def module(self, tree: ast.Module) -> None:
        name = self.path.removesuffix(".py").replace("/", ".")
        self._add(tree, "Module", "module", name.rpartition(".")[2], name, 0, len(self.data), 1, len(self.lines))
        self._walk(tree, name, "Module")

    def _walk(self, node: ast.AST, prefix: str, parent_label: str) -> None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            name = f"{prefix}.{child.name}"
            if name in self.seen:
                continue
            self.seen.add(name)
            label = "Class" if isinstance(child, ast.ClassDef) else "Method" if parent_label == "Class" else "Function"
            end_line = child.end_lineno or child.lineno
            start, end = self.offsets[child.lineno - 1], min(self.offsets[end_line], len(self.data))
            self._add(child, label, label.lower(), child.name, name, start, end, child.lineno, end_line)
            parent = f"{self.project}:{prefix}"
            kind = "DEFINES_METHOD" if label == "Method" else "DEFINES"
            self.edges.append(EdgeRow(parent, f"{self.project}:{name}", kind, child.lineno, "structure", 1.0))
            self._walk(child, name, label)

    def _add(
        self,
        node: ast.AST,
        label: str,
        kind: str,
        name: str,
        qualified: str,
        start: int,
        end: int,
        line: int,
        end_line: int,
    ) -> None:
        uid = f"{self.project}:{qualified}"
        text = self.data[start:end].decode("utf8", "replace")
        docstring = (ast.get_docstring(node) or "")[:4000]  # type: ignore[arg-type]
        signature = text.split("\n", 1)[0][:400]
        test = "tests/" in self.path
        self.nodes.append(
            NodeRow(
                *(uid, label, kind, name, qualified, self.path, "python", line, line, end_line, start, end, signature),
                *(docstring, test, False, not name.startswith("_"), "", digest(signature), digest(text, 1)),
                *(digest(docstring), digest(text), digest(name, text), ".".join(qualified.split(".")[-2:])),
            )
        )
        own, calls = self._own(node)
        self.texts.append(
            SearchText(
                uid,
                " ".join(split_words(name)),
                " ".join(split_words(qualified.replace(".", " "))),
                " ".join(split_words(docstring)),
                " ".join(split_words(own)),
                " ".join(split_words(self.path)),
            )
        )
        taken: set[tuple[str, int, str]] = set()
        for called, at, edge_type in calls:
            if (called, at, edge_type) in taken:
                continue
            taken.add((called, at, edge_type))
            targets = self.definitions[called]
            target = targets[int(digest(qualified, called), 16) % len(targets)]
            self.edges.append(EdgeRow(uid, target, edge_type, at, "import" if len(targets) == 1 else "local-type", 0.9))

    def _own(self, node: ast.AST) -> tuple[str, list[tuple[str, int, str]]]:
        """Words of the node without nested definitions, and (name, line, edge type) of what it uses."""
        words: list[str] = []
        calls: list[tuple[str, int, str]] = []
        stack = list(ast.iter_child_nodes(node))
        while stack:
            child = stack.pop()
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            name = ""
            if isinstance(child, ast.Name):
                name = child.id
            elif isinstance(child, ast.Attribute):
                name = child.attr
            elif isinstance(child, ast.arg) or (isinstance(child, ast.keyword) and child.arg):
                words.append(child.arg)
            elif isinstance(child, ast.Constant) and isinstance(child.value, str):
                words.append(child.value)
            if name:
                words.append(name)
                if name in self.definitions:
                    calls.append(
                        (
                            name,
                            getattr(child, "lineno", 0),
                            "CALLS" if isinstance(child, ast.Attribute) else "REFERENCES",
                        )
                    )
            stack.extend(ast.iter_child_nodes(child))
        return " ".join(words), calls
