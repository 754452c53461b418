"""Copies a project's index from one store to another, unit by unit, and compares both.

Two open stores come in. Nothing is parsed, linked or embedded again; the batch size limits memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import cast

from atlas.code.index.events import Progress
from atlas.code.index.project.reconcile import PENDING
from atlas.core.contracts import Store
from atlas.core.errors import ConfigError, NotFound
from atlas.core.model import CODE, DOCUMENTS, PROSE, QUALITY, STRUCTURE_PATH, FileRecord, GraphDelta, VectorRow
from atlas.core.project_state import ProjectState, ProjectStats
from atlas.core.wording import counted
from atlas.parsing.texts import texts_of

COPY_BYTES = 300_000
"""Source text of one transaction: a server holds all of it in memory."""
UNIT_BYTES = 2_000
"""The cost of a unit in addition to its source text."""
VECTORS = 1_000
COUNTED = ("files", "nodes", "edges", "languages", "resolved", "unresolved", "chunks", "vectors", "skipped", "problems")


@dataclass(frozen=True, slots=True)
class CopyReport:
    """The result of `compare_project`: `differences` are lines for people, none if both stores agree."""

    project: str
    units: int
    nodes: int
    edges: int
    vectors: int
    source_digest: str
    """Of all compared content in a fixed order: 32 hex digits."""
    target_digest: str
    differences: tuple[str, ...]


async def copy_project(
    source: Store, target: Store, project: str, progress: Progress, *, replacing: bool = False
) -> None:
    """Make the target's project equal to the source's: graph, words, contents, up-to-date vectors, skipped files.

    Until the copy is complete, the target's project carries the mark of an unfinished pass, so the next index pass
    compares every file. Raises NotFound if the source does not hold the project, and ConfigError if the target already
    does, unless `replacing`.
    """
    state = await _state(source, project)
    manifest = await source.manifest(project)
    there = await _units_in(target, project)
    if there and not replacing:
        raise ConfigError(
            f"the target already holds {project}: {counted(len(there), 'unit')}",
            "Give --replace to have it replaced by the copy.",
        )
    await target.open_project(project, state.root)
    await _mark(target, project, manifest)
    gone = sorted(there - manifest.keys())
    for start in range(0, len(gone), VECTORS):
        await target.apply([GraphDelta(project, path, None) for path in gone[start : start + VECTORS]])
    done = 0
    for paths in _batches(manifest):
        deltas = [_with_texts(delta) for delta in await source.units(project, paths)]
        await target.apply([delta for delta in deltas if delta.path != STRUCTURE_PATH])
        # the structure's record comes last: it marks the copy as complete
        await target.apply([replace(delta, record=_pending(delta)) for delta in deltas if delta.path == STRUCTURE_PATH])
        done += len(paths)
        progress("copy", done, len(manifest))
    await _copy_vectors(source, target, state, progress)
    if STRUCTURE_PATH in manifest:
        await target.apply([GraphDelta(project, STRUCTURE_PATH, manifest[STRUCTURE_PATH])])
    await target.finish(project, await source.skipped(project))


async def compare_project(source: Store, target: Store, project: str, progress: Progress) -> CopyReport:
    """Compare a project in both stores, except when and how often it was written. Raises as they do."""
    ours, theirs = await source.manifest(project), await target.manifest(project)
    found: list[str] = []
    digests = (hashlib.blake2b(digest_size=16), hashlib.blake2b(digest_size=16))
    done = nodes = edges = 0
    for paths in _batches({**theirs, **ours}):
        pair = (await source.units(project, paths), await target.units(project, paths))
        one, other = ({delta.path: _serialized(delta) for delta in deltas} for deltas in pair)
        found += [f"unit {path or '(structure)'} differs" for path in paths if one.get(path) != other.get(path)]
        for digest, said in zip(digests, (one, other), strict=True):
            for path in sorted(said):
                digest.update(said[path])
        nodes += sum(len(delta.nodes or ()) for delta in pair[0])
        edges += sum(len(delta.edges) for delta in pair[0])
        done += len(paths)
        progress("check", done, len(ours))
    vectors = 0
    async for one, other in _vector_pages(source, target, project):
        vectors += len(one)
        for digest, page in zip(digests, (one, other), strict=True):
            digest.update(repr(page).encode())
        if one != other:
            found.append(f"vectors differ from {min(page[0].uid for page in (one, other) if page)} on")
    found += await _counts_that_differ(source, target, project)
    said = (digests[0].hexdigest(), digests[1].hexdigest())
    return CopyReport(project, len(ours), nodes, edges, vectors, *said, differences=tuple(found))


async def _state(store: Store, project: str) -> ProjectState:
    states = {state.project: state for state in await store.projects()}
    if project not in states:
        raise NotFound(f"{project} is not in the source index", near=tuple(states))
    return states[project]


async def _units_in(target: Store, project: str) -> set[str]:
    known = {state.project for state in await target.projects()}
    return set(await target.manifest(project)) if project in known else set()


async def _mark(target: Store, project: str, manifest: Mapping[str, FileRecord]) -> None:
    if (structure := manifest.get(STRUCTURE_PATH)) is not None:
        pending = replace(structure, unit_digest=PENDING + structure.unit_digest)
        await target.apply([GraphDelta(project, STRUCTURE_PATH, pending)])


def _pending(delta: GraphDelta) -> FileRecord:
    assert delta.record is not None
    return replace(delta.record, unit_digest=PENDING + delta.record.unit_digest)


async def _copy_vectors(source: Store, target: Store, state: ProjectState, progress: Progress) -> None:
    (stats,) = await source.stats(state.project)
    total, done = stats.vectors + stats.quality_vectors, 0
    for model in state.models:
        after = ""
        while rows := await source.vectors(state.project, VECTORS, after, model.space):
            await target.put_vectors(state.project, model, rows)
            done, after = done + len(rows), rows[-1].uid
            progress("vectors", done, max(done, total))


def _batches(manifest: Mapping[str, FileRecord]) -> Iterator[list[str]]:
    """Yield all paths, sorted, in batches that fit into a transaction."""
    batch: list[str] = []
    size = 0
    for path in sorted(manifest):
        batch.append(path)
        size += manifest[path].size + UNIT_BYTES
        if size >= COPY_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _with_texts(delta: GraphDelta) -> GraphDelta:
    """Return the delta with its search texts, which stores do not return."""
    return replace(delta, texts=texts_of(delta.path, delta.nodes or (), delta.edges, delta.content or b""))


def _serialized(delta: GraphDelta) -> bytes:
    """Return a unit as bytes: equal units give equal bytes."""
    content = delta.content if delta.content is None else hashlib.blake2b(delta.content, digest_size=16).digest()
    rows = (tuple(map(tuple, delta.nodes or ())), tuple(map(tuple, delta.edges)), tuple(map(tuple, delta.decisions)))
    record = () if delta.record is None else tuple(getattr(delta.record, one.name) for one in fields(delta.record))
    return repr((record, *rows, content)).encode("utf8", "surrogatepass")


async def _vector_pages(
    source: Store, target: Store, project: str
) -> AsyncIterator[tuple[list[VectorRow], list[VectorRow]]]:
    """Yield pages of both until they end or differ."""
    for space in (CODE, DOCUMENTS, PROSE, QUALITY):
        after = ""
        while True:
            one = await source.vectors(project, VECTORS, after, space)
            other = await target.vectors(project, VECTORS, after, space)
            if not one and not other:
                break
            yield one, other
            if one != other:
                return
            after = one[-1].uid


def _counts(stats: ProjectStats) -> dict[str, object]:
    """Return the counts without zeros."""
    said: dict[str, object] = {name: getattr(stats, name) for name in COUNTED}
    for name, value in said.items():
        if isinstance(value, Mapping):
            said[name] = {key: n for key, n in sorted(cast("Mapping[str, int]", value).items()) if n}
    return said


async def _counts_that_differ(source: Store, target: Store, project: str) -> Sequence[str]:
    one, other = _counts((await source.stats(project))[0]), _counts((await target.stats(project))[0])
    found = [
        f"{name}: {one[name]} in the source, {other[name]} in the target" for name in one if one[name] != other[name]
    ]
    if await source.skipped(project) != await target.skipped(project):
        found.append("the lists of skipped files differ")
    return found
