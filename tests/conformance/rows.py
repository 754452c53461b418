"""Small deltas written in one line, and a vector index in plain Python, for tests of stores."""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections.abc import Sequence

from atlas.core.model import (
    STRUCTURE_PATH,
    Decision,
    EdgeRow,
    FileRecord,
    GraphDelta,
    ModelInfo,
    NodeRow,
    SearchText,
    VectorRow,
)

PROJECT = "p"
MODEL = ModelInfo("test", "tiny", 4, "one")


def digest(*parts: object) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def node(
    qualified: str,
    path: str = "a.py",
    *,
    project: str = PROJECT,
    label: str = "Function",
    name: str = "",
    span: tuple[int, int] = (0, 10),
    line: int = 1,
    language: str = "python",
    docstring: str = "",
    text: str | None = None,
    is_test: bool = False,
    is_generated: bool = False,
) -> NodeRow:
    """A node whose chunk digest follows from its text ("" = not embedded, None = made from the name)."""
    chunk = "" if text == "" else digest(qualified, text)
    return NodeRow(
        uid=f"{project}:{qualified}",
        label=label,
        kind=label.lower(),
        name=name or qualified.split("#")[0].split(".")[-1],
        qualified_name=qualified,
        path=path,
        language=language,
        line=line,
        start_line=line,
        end_line=line + 2,
        start_byte=span[0],
        end_byte=span[1],
        signature=f"def {name or qualified}()",
        docstring=docstring,
        is_test=is_test,
        is_generated=is_generated,
        exported=True,
        modifiers="",
        signature_digest=digest(qualified),
        body_digest=digest(text),
        docstring_digest=digest(docstring),
        text_digest=digest(text, docstring),
        chunk_digest=chunk,
        chunk_name=qualified,
    )


def edge(source: str, target: str, type: str = "CALLS", line: int = 1, confidence: float = 0.9) -> EdgeRow:
    return EdgeRow(f"{PROJECT}:{source}", f"{PROJECT}:{target}", type, line, "import", confidence)


def words(row: NodeRow, source: str = "") -> SearchText:
    """Search text of a node; everything is lower case and split at dots."""
    qualified, path = (re.sub(r"\W+", " ", text.lower()) for text in (row.qualified_name, row.path))
    return SearchText(row.uid, row.name.lower(), qualified, row.docstring.lower(), source, path)


def unit(
    path: str,
    nodes: Sequence[NodeRow] = (),
    edges: Sequence[EdgeRow] = (),
    *,
    project: str = PROJECT,
    texts: Sequence[SearchText] | None = None,
    content: bytes | None = None,
    problems: tuple[str, ...] = (),
    language: str = "python",
    decisions: Sequence[Decision] = (),
) -> GraphDelta:
    """A whole unit; texts are made from the nodes unless given."""
    if content is None and path != STRUCTURE_PATH:
        content = f"content of {path} {len(nodes)}".encode()
    record = FileRecord(
        path=path,
        language=language if path != STRUCTURE_PATH else "",
        digest=hashlib.blake2b(content, digest_size=16).hexdigest() if content is not None else "",
        size=len(content or b""),
        mtime_ns=1,
        lines=1,
        unit_digest=digest(nodes, edges, texts) * 2,
        unresolved=len(edges),
        resolved=len(nodes),
        problems=problems,
    )
    texts = [words(row) for row in nodes] if texts is None else texts
    return GraphDelta(project, path, record, nodes, edges, texts, content, decisions)


def gone(path: str, project: str = PROJECT) -> GraphDelta:
    return GraphDelta(project, path, None)


def vector(row: NodeRow, *values: float) -> VectorRow:
    """A vector that is up to date with the row."""
    return VectorRow(row.uid, row.chunk_digest, struct.pack(f"<{len(values)}e", *values))


def query(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


class PythonVectorIndex:
    """The contract of the extension's VectorIndex, without its speed."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._vectors: dict[int, tuple[float, ...]] = {}

    def __len__(self) -> int:
        return len(self._vectors)

    def put(self, ids: Sequence[int], vectors: Sequence[bytes]) -> None:
        for key, data in zip(ids, vectors, strict=True):
            self._vectors[key] = struct.unpack(f"<{self._dimension}e", data)

    def remove(self, ids: Sequence[int]) -> None:
        for key in ids:
            self._vectors.pop(key, None)

    def ids(self) -> list[int]:
        return list(self._vectors)

    def search(self, query: bytes, limit: int, allowed: bytes | None = None) -> list[tuple[int, float]]:
        wanted = struct.unpack(f"<{self._dimension}f", query)
        keys = self._vectors if allowed is None else [key for (key,) in struct.iter_unpack("<q", allowed)]
        scored = [(key, self._cosine(wanted, self._vectors[key])) for key in keys if key in self._vectors]
        return sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:limit]

    def cosines(self, query: bytes, vectors: Sequence[bytes]) -> list[float]:
        wanted = struct.unpack(f"<{self._dimension}f", query)
        rows = [struct.unpack(f"<{self._dimension}e", data) for data in vectors]
        return [self._cosine(wanted, row) if any(row) else math.nan for row in rows]

    @staticmethod
    def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
        length = math.hypot(*left) * math.hypot(*right)
        return sum(a * b for a, b in zip(left, right, strict=True)) / length if length else 0.0
