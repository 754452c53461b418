"""Knowledge folders for tests."""

from __future__ import annotations

from pathlib import Path

from atlas.knowledge.notes.folder import KnowledgeFolder
from atlas.knowledge.notes.ids import IdSource
from atlas.knowledge.notes.notebook import Notebook


def book_at(place: Path) -> Notebook:
    """A knowledge folder in a new project below a folder."""
    (place / "project").mkdir(parents=True)
    folder = KnowledgeFolder(place / "project", ".knowledge", place / "data")
    return Notebook(folder, IdSource(), place / "data", client="cli")


def tree(book: Notebook) -> dict[str, bytes]:
    """The files of a knowledge folder by their paths in it, without the rule for merges."""
    top = book.folder.root / book.folder.path
    found = (one for one in sorted(top.rglob("*")) if one.is_file() and one.name != ".gitattributes")
    return {str(one.relative_to(top)): one.read_bytes() for one in found}


def write(book: Notebook, path: str, data: str | bytes) -> Path:
    """Write a file by hand."""
    file = book.folder.root / book.folder.path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return file
