"""The parsing of a batch of tier 2: facts of changed files go to the linker and to the cache on disk.

It works in small steps, between which a pass can be cancelled. What a cancelled or killed pass has parsed, the next one
takes from the cache.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from atlas.code.index.events import Progress
from atlas.code.index.project.parse_journal import ParseJournal
from atlas.code.index.project.reconcile import trusted_mtime
from atlas.code.index.project.workspace import ProjectSource
from atlas.code.index.tiers.ast_pass import PARSE_BATCH, Pass
from atlas.core.model import Skipped
from atlas.core.threads import in_thread
from atlas.parsing import Linker, ParsedFile, digest_paths, parse_paths


async def parse_files(
    work: Pass, linker: Linker, paths: Sequence[str], progress: Progress
) -> tuple[list[str], ParseJournal]:
    """Parse files; return the paths that are unreadable or must not be indexed, and what to remove after the pass."""
    workspace, left_out, done = work.workspace, list[str](), 0
    journal = ParseJournal(workspace.source.cache, _rules(workspace.source))
    known = await in_thread(lambda: journal.load(ignored=workspace.full))
    # a short pass is quicker than the journal
    kept = journal if len(paths) > PARSE_BATCH else None
    for batch in work.parse_batches(paths):
        progress("parse", done, len(paths))
        started = time.process_time()
        again = await in_thread(_recall, work, linker, batch, known) if known else set[str]()
        left_out += await in_thread(_parse, work, linker, [path for path in batch if path not in again], kept)
        workspace.counters.spend("parse", time.process_time() - started)
        done += len(batch)
    progress("parse", len(paths), len(paths))
    return left_out, journal


def _rules(source: ProjectSource) -> str:
    scope = source.scope
    return f"{source.fingerprint} {source.rules} {scope.max_bytes} {scope.generated} {source.timeout_ms}"


def _recall(work: Pass, linker: Linker, paths: Sequence[str], known: Mapping[str, str]) -> set[str]:
    """Take in the files whose content an unfinished pass has parsed; return them."""
    workspace = work.workspace
    cache, root = workspace.facts.cache, str(workspace.source.root)
    there = [path for path in paths if path in known]
    digests = digest_paths(root, there)
    wanted = [(path, digest) for path, digest in zip(there, digests, strict=True) if digest == known[path]]
    missing = set(linker.recall(cache, wanted, root))
    wanted = [(path, digest) for path, digest in wanted if path not in missing]
    taken: set[str] = set()
    for (path, _), parsed in zip(wanted, cache.get(wanted), strict=True):
        if parsed is not None:
            workspace.tree.refuse(path, None)
            work.take_in(path, parsed)
            taken.add(path)
    return taken


def _parse(work: Pass, linker: Linker, paths: Sequence[str], journal: ParseJournal | None) -> list[str]:
    workspace, source = work.workspace, work.workspace.source
    left_out: list[str] = []
    results = parse_paths(
        source.languages,
        str(source.root),
        paths,
        max_bytes=source.scope.max_bytes,
        timeout_ms=source.timeout_ms,
        generated=source.scope.generated,
    )
    fresh: list[ParsedFile] = []
    for path, result in zip(paths, results, strict=True):
        reason = result if isinstance(result, str) else result.skip_reason
        if isinstance(result, str) or reason:
            file = work.files[path]
            mtime = trusted_mtime(file.mtime_ns, work.read_at)
            workspace.tree.refuse(path, Skipped(path, reason, file.size, mtime))
            left_out.append(path)
        else:
            workspace.tree.refuse(path, None)
            work.take_in(path, result)
            fresh.append(result)
    linker.take(fresh)
    workspace.facts.put(fresh)
    workspace.counters.parsed += len(fresh)
    if journal is not None and fresh:
        journal.add([(file.path, file.digest) for file in fresh])
    return left_out
