"""The page of a file, outline beside source, importers and imports, problems, owners; of a folder what lies in it.

Source is that of the index: a file that is not indexed has none here, only the reason, and masked secrets stay masked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from atlas.code.reader import Reader
from atlas.code.tools.citations import FILE_KINDS, hit_name, symbol_of
from atlas.code.tools.envelope import inside
from atlas.code.tools.symbol.symbol_answers import ContextAnswer
from atlas.core.errors import NotFound
from atlas.core.model import FileRecord, Filter, Label, Match, NodeRow, Skipped
from atlas.server.explorer.commits import LastCommits
from atlas.server.explorer.questions import Asker, Given
from atlas.server.explorer.source import MAX_NODES, code_lines, links_in

SOURCE_LINES = 600
"""Lines of source on a page."""
OUTLINED = 600
"""Symbols of an outline."""
LISTED = 500
"""Entries of a folder."""
BESIDE = 60
"""Importers and imports on a page."""
ENOUGH = 20_000
"""Tokens of a file's context, of which importers and imports are shown."""


@dataclass(frozen=True, slots=True)
class OutlinedSymbol:
    """A symbol in the outline of a file."""

    uid: str
    text: str
    line: int
    depth: int


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A file, or a folder with the sums of its files."""

    name: str
    path: str
    is_folder: bool
    files: int
    lines: int
    language: str
    problems: int


class FilePages:
    """The pages of files and folders."""

    def __init__(self, commits: LastCommits) -> None:
        """Take what says who has changed what."""
        self._commits = commits

    async def values(self, ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
        """Return what the page of a file or folder shows. Raises NotFound for what is not indexed, with the reason."""
        path = inside(given.text("path"), str(reader.root)).rstrip("/")
        record = (await reader.store.records(reader.project, [path])).get(path) if path else None
        shown = await (_file(ask, reader, given, record) if record is not None else _folder(reader, path))
        return {**shown, "owners": await self._commits.owners(reader, path)}


async def _file(ask: Asker, reader: Reader, given: Given, record: FileRecord) -> dict[str, object]:
    store, path = reader.store, record.path
    nodes = await store.find(path, Match.PATH, Filter(project=reader.project), MAX_NODES)
    rows = sorted((node.row for node in nodes), key=lambda row: (row.start_line, -row.end_line, row.qualified_name))
    text = (await store.content(reader.project, [path])).get(path, b"").decode("utf-8", "replace").splitlines()
    start = max(min(given.number("line"), len(text)) - 1, 0) // SOURCE_LINES * SOURCE_LINES
    shown = text[start : start + SOURCE_LINES]
    links = await links_in(reader, reader.project, path, start + 1, start + len(shown))
    own = next((row for row in rows if row.label in (Label.MODULE, Label.PACKAGE, Label.FILE, Label.DOC_FILE)), None)
    context = await ask("get_context", name=own.uid, token_budget=ENOUGH) if own is not None else None
    sections = context.sections if isinstance(context, ContextAnswer) else ()
    outline = [*_outline(rows)]
    return {
        "title": path,
        "kind": "file",
        "path": path,
        "parents": _parents(path),
        "record": record,
        "own": own,
        "outline": outline[:OUTLINED],
        "outline_left": max(len(outline) - OUTLINED, 0),
        "code": code_lines("\n".join(shown), record.language, start + 1, links, "\n".join(text[:start]))
        if shown
        else [],
        "span": (start + 1, start + len(shown), len(text)),
        "page_lines": SOURCE_LINES,
        "sections": [one for one in sections if one.kind in ("imported_by", "imports", "docs", "tests", "documents")],
        "beside": BESIDE,
        "evidence": context.evidence if context is not None else None,
    }


def _outline(rows: Iterable[NodeRow]) -> Iterable[OutlinedSymbol]:
    around: list[int] = []
    for row in rows:
        if row.kind in FILE_KINDS or row.label in (Label.MODULE, Label.PACKAGE):
            continue
        while around and around[-1] < row.end_line:
            around.pop()
        yield OutlinedSymbol(row.uid, hit_name(symbol_of(row)), row.line or row.start_line, min(len(around), 8))
        around.append(row.end_line)


async def _folder(reader: Reader, path: str) -> dict[str, object]:
    prefix = f"{path}/" if path else ""
    manifest = await reader.store.manifest(reader.project)
    records = [record for name, record in manifest.items() if name and name.startswith(prefix)]
    skipped = [each for each in await reader.store.skipped(reader.project) if _lies_in(each, prefix, path)]
    if path and not records:
        reasons = "; ".join(f"{each.path}: {each.reason}" for each in skipped[:3])
        raise NotFound(f"{path} is not in the index", reasons or "No indexed file or folder has this path.")
    entries = _entries(records, prefix)
    return {
        "title": path or reader.project,
        "kind": "folder",
        "path": path,
        "parents": _parents(path),
        "entries": entries[:LISTED],
        "entries_left": max(len(entries) - LISTED, 0),
        "files": len(records),
        "lines": sum(record.lines for record in records),
        "skipped": skipped[:BESIDE],
        "skipped_left": max(len(skipped) - BESIDE, 0),
        "evidence": None,
    }


def _lies_in(each: Skipped, prefix: str, path: str) -> bool:
    return each.path.startswith(prefix) or each.path.rstrip("/") == path


def _entries(records: Iterable[FileRecord], prefix: str) -> list[FolderEntry]:
    """Return what lies in a folder: folders first, by name."""
    folders: dict[str, list[FileRecord]] = {}
    files: list[FolderEntry] = []
    for record in records:
        name, slash, _ = record.path[len(prefix) :].partition("/")
        if slash:
            folders.setdefault(name, []).append(record)
        else:
            files.append(FolderEntry(name, record.path, False, 1, record.lines, record.language, len(record.problems)))
    found = [_sum(name, f"{prefix}{name}", own) for name, own in folders.items()]
    return [*sorted(found, key=lambda one: one.name), *sorted(files, key=lambda one: one.name)]


def _sum(name: str, path: str, records: Sequence[FileRecord]) -> FolderEntry:
    problems = sum(bool(each.problems) for each in records)
    return FolderEntry(name, path, True, len(records), sum(each.lines for each in records), "", problems)


def _parents(path: str) -> list[tuple[str, str]]:
    """Return (name, path) of the folders around a path, outermost first."""
    parts = path.split("/")[:-1] if path else []
    return [(name, "/".join(parts[: number + 1])) for number, name in enumerate(parts)]
