"""Composition of an index and of the check of its tree: settings -> adapters -> `Atlas`, `TreeCheck`.

Opening for reading needs an index; opening for writing creates one. Functions import the adapters that they need, so a
server that lists its tools, or a command that prints help, loads none of them.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.adapters.opening.data_folder import prepare_data_folder
from atlas.adapters.opening.embedder import (
    make_code_encoder,
    make_documents_embedder,
    make_embedder,
    make_prose_embedder,
    make_prose_encoder,
    make_writing_embedders,
)
from atlas.adapters.opening.sentence_transformer import has_model, make_quality_reader, make_quality_writer
from atlas.app.bus import connect_bus_of_running_daemon
from atlas.app.store import FACTS_FILE, has_database, open_store
from atlas.core.errors import ConfigError
from atlas.runtime.config.addresses import masked
from atlas.runtime.config.checks import check_published
from atlas.runtime.config.load import load_settings
from atlas.runtime.process.cache import note_use, prune_cache
from atlas.runtime.process.data_folder import cache_root
from atlas.runtime.process.lock import has_writer

if TYPE_CHECKING:
    from atlas.app.published.manifest import PublishedIndex
    from atlas.code.atlas import Atlas
    from atlas.code.index.events import IndexSummary, Progress
    from atlas.code.index.index import Indexer
    from atlas.code.index.index_request import IndexTarget
    from atlas.code.index.project.tree_check import TreeCheck
    from atlas.code.index.project.workspace import ProjectSource
    from atlas.code.index.tiers.gate import SignificanceGate
    from atlas.code.index.warm_index import WarmIndex
    from atlas.code.question.languages import LanguageTerms
    from atlas.code.reader import Reader
    from atlas.core.contracts import Store
    from atlas.core.model import Skipped
    from atlas.packs.documentation.pack.minisign import MinisignSecret
    from atlas.parsing.scanning import Scope
    from atlas.runtime.config.load import Settings

_log = logging.getLogger(__name__)


@asynccontextmanager
async def open_atlas(settings: Settings, *, writing: bool = False, reset: bool = False) -> AsyncGenerator[Atlas]:
    """Open the index of a project for the duration of the block.

    For reading, raises NotFound if there is none. For writing, creates a missing index (`reset` also replaces an
    existing one) and raises WriterBusy while another process writes. Raises Unavailable for an unreachable server,
    ConfigError for one that rejects this user, SchemaMismatch and StoreError.
    """
    atlas = await connect(settings, writing=writing, reset=reset)
    try:
        yield atlas
    finally:
        await atlas.aclose()


async def index_project(
    settings: Settings,
    progress: Progress,
    *,
    full: bool = False,
    take_over: bool = False,
    patience: float = math.inf,
    waiting: Callable[[str, float], None] | None = None,
    quality: bool = False,
    warm: WarmIndex | None = None,
) -> IndexSummary:
    """Make the index of a project equal to its files, here or through the running daemon; see `request_index`.

    `quality` also waits for the vectors of the sentence transformer; raises ConfigError if there is none. `warm` keeps
    what a pass here has read.
    """
    if quality and not settings.quality.is_on:
        raise ConfigError("no sentence transformer is configured", "Set quality.model in the user's atlas.toml.")
    if quality and not has_model(settings):
        hint = "Correct it in the user's atlas.toml; the folder holds tokenizer.json and model.onnx."
        raise ConfigError(f"quality.model: no such folder: {settings.quality.model}", hint)
    from atlas.code.index.index_request import request_index

    is_first = not has_database(settings)
    summary = None if full else await seed_first_index(settings, progress, quality=quality)
    if summary is None:
        target = _index_target(settings, quality=quality, warm=warm)
        chosen = {"full": full, "take_over": take_over, "quality": quality}
        summary = await request_index(target, progress, patience=patience, waiting=waiting, **chosen)
    if is_first:
        await limit_cache(settings)
    return summary


async def limit_cache(settings: Settings) -> None:
    """Remove what is beyond the limits of the cache: its size has just grown."""
    chosen = settings.cache
    if chosen.prune and not settings.store.url and settings.data_dir.parent == cache_root():
        for one in await asyncio.to_thread(prune_cache, settings.data_dir, chosen.max_days, chosen.max_mb * 1_000_000):
            _log.info("the data folder %s of %s is removed: see [cache] in the settings", one.folder, one.root)


async def index_by_running_daemon(settings: Settings) -> IndexSummary | None:
    """Have the running daemon make the index of a project equal to its files; None if there is none or it ends.

    Raises Unavailable if it serves other projects only.
    """
    from atlas.code.index.events import no_progress
    from atlas.code.index.index_request import request_daemon

    return await request_daemon(_index_target(settings), no_progress)


async def seed_first_index(settings: Settings, progress: Progress, *, quality: bool = False) -> IndexSummary | None:
    """Make a missing index from the nearest one of the same repository; None where there is one, or that cannot be."""
    from atlas.app.seeding import seed_index

    read = cache(partial(make_source, settings))  # the languages' files are read once

    def opening(copied: Settings) -> AbstractAsyncContextManager[Indexer]:
        facts = copied.data_dir / FACTS_FILE.format(project=copied.project_name)
        return _open_indexer(copied, False, quality=quality, source=replace(read(), cache=facts))

    return await seed_index(settings, opening, lambda: read().fingerprint, progress)


def publish(settings: Settings, target: str, secret: MinisignSecret | None) -> tuple[PublishedIndex, str]:
    """Publish the index of the commit that is checked out; return what was published, and where for messages.

    `target` "" = published.source. Raises ConfigError without either, and as `publish_index` does.
    """
    from atlas.app.published.publishing import publish_index

    if target:
        origins = {**settings.origins, "published.source": "--publish-to"}
        place = target if "://" in target else str(Path(target).expanduser().resolve())
        settings = replace(settings, published=replace(settings.published, source=place), origins=origins)
        check_published(settings)
    if not settings.published.source:
        raise ConfigError("there is no place to publish to", "Set published.source in your own atlas.toml.")
    made = publish_index(settings, settings.published.source, partial(_fingerprint, settings), secret)
    return made, masked(settings.published.source)


def _fingerprint(settings: Settings) -> str:
    return make_source(settings).fingerprint


def _index_target(settings: Settings, *, quality: bool = False, warm: WarmIndex | None = None) -> IndexTarget:
    from atlas.code.index.index_request import IndexTarget

    return IndexTarget(
        project=settings.project_name,
        root=settings.root,
        open_indexer=partial(_open_indexer, settings, quality=quality, warm=warm),
        connect_daemon=partial(connect_bus_of_running_daemon, settings),
        # on shared servers the writer may be on another host: its heartbeat tells
        has_writer=partial(has_writer, settings.data_dir) if not settings.shared else lambda: True,
        read_result=partial(_read_result, settings),
    )


@asynccontextmanager
async def _open_indexer(
    settings: Settings,
    reset: bool,
    *,
    quality: bool,
    warm: WarmIndex | None = None,
    source: ProjectSource | None = None,
) -> AsyncGenerator[Indexer]:
    """Open the index for writing only: the read path, which takes 0.3 s to import, stays out.

    `source`: the project as an earlier pass of this process has read it; None: it is read.
    """
    limit_threads(settings)
    store = await open_store(settings, writing=True, reset=reset)
    try:
        indexer = await asyncio.to_thread(_indexer, settings, store, quality=quality, warm=warm, source=source)
        try:
            yield indexer
        finally:
            for embedder in (*indexer.embedders, *([indexer.quality] if indexer.quality is not None else [])):
                await embedder.aclose()
    finally:
        await store.aclose()


async def _read_result(settings: Settings) -> tuple[int, Sequence[Skipped]]:
    """Return the generation, and what the index leaves out; the read path, which takes 0.2 s to import, stays out."""
    store = await open_store(settings)
    try:
        generations = {state.project: state.generation for state in await store.projects()}
        return generations[settings.project_name], await store.skipped(settings.project_name)
    finally:
        await store.aclose()


async def connect(settings: Settings, *, writing: bool = False, reset: bool = False) -> Atlas:
    """Return an open index that the caller closes; see `open_atlas`."""
    limit_threads(settings)
    store = await open_store(settings, writing=writing, reset=reset)
    note_use(settings.data_dir)
    return await asyncio.to_thread(assemble, settings, store, writing=writing)


def assemble(settings: Settings, store: Store, *, writing: bool = False) -> Atlas:
    """Return the reader of an open store and, if `writing`, its indexer; closing it closes the store."""
    from atlas.code.atlas import Atlas

    return Atlas(_reader(settings, store), _indexer(settings, store) if writing else None)


def limit_threads(settings: Settings) -> None:
    """Limit the threads of the extension; has no effect once they run."""
    if settings.index.threads:
        os.environ.setdefault("RAYON_NUM_THREADS", str(settings.index.threads))


def _reader(settings: Settings, store: Store) -> Reader:
    from atlas.adapters.git.history import GitHistory
    from atlas.code.index.watch.git_rules import rule_stamps
    from atlas.code.reader import RankingOptions, Reader
    from atlas.parsing import (
        Cl100kCounter,
        digest_paths,
        make_excerpts,
        mask_secrets,
        positions_that_differ,
        read_path,
        split_words,
    )
    from atlas.parsing.lines import TreeLines
    from atlas.parsing.outline import OutlineReader

    code = make_embedder(settings)
    documents = make_documents_embedder(settings, code)
    outline = OutlineReader(settings.language_folders, settings.knowledge.folder, _client_rules)
    return Reader(
        store,
        code,
        Cl100kCounter(),
        settings.project_name,
        settings.root,
        split_words,
        digest_paths,
        make_language_terms(settings),
        GitHistory(settings.root, positions_that_differ, mask_secrets),
        outline,
        make_prose_embedder(settings),
        documents,
        RankingOptions(settings.search.learned, frozenset(settings.search.off), fusion=settings.search.fusion),
        make_excerpts(settings.language_folders),
        make_prose_encoder(documents),
        make_code_encoder(code),
        make_quality_reader(settings),
        TreeLines(settings.root, outline.languages, partial(_scope, settings), partial(rule_stamps, settings.root)),
        read_path,
    )


def make_language_terms(settings: Settings) -> LanguageTerms:
    """Return the languages' terms for questions and hits. Raises ConfigError for an invalid language."""
    from atlas.code.question.languages import LanguageRow, language_terms
    from atlas.parsing import search_terms

    with _language_errors(settings):
        return language_terms(map(LanguageRow._make, search_terms(settings.language_folders)))


def make_warm_index(settings: Settings) -> WarmIndex:
    """Return what keeps the workspace of index passes between them, with at most the daemon's memory."""
    from atlas.code.index.warm_index import WarmIndex
    from atlas.runtime.process.memory import resident_meter

    def reopen(source: ProjectSource) -> AbstractAsyncContextManager[Indexer]:
        return _open_indexer(settings, False, quality=False, source=source)

    resident, most = resident_meter(), settings.daemon.memory_mb << 20
    return WarmIndex(reopen, lambda: resident() >= most)


def _indexer(
    settings: Settings,
    store: Store,
    *,
    quality: bool = False,
    warm: WarmIndex | None = None,
    source: ProjectSource | None = None,
) -> Indexer:
    from atlas.adapters.buses.memory import MemoryBus
    from atlas.code.index.index import Indexer

    return Indexer(
        source=source if source is not None else make_source(settings),
        store=store,
        bus=MemoryBus(),
        gate=make_gate(settings, store),
        embedders=make_writing_embedders(settings),
        quality=make_quality_writer(settings, in_background=False) if quality else None,
        keep=warm.take if warm is not None else None,
    )


def make_gate(settings: Settings, store: Store) -> SignificanceGate:
    """Return the gate before tier 3."""
    from atlas.code.index.tiers.gate import SignificanceGate

    return SignificanceGate(store, settings.pipeline.body_threshold / 100, embeds=settings.embedder.embeds)


def _client_rules() -> list[tuple[str, str]]:
    from atlas.code.index import detectors

    return detectors.built_in()


def make_source(settings: Settings) -> ProjectSource:
    """Return the write path's description of a project and create its data folder. Raises ConfigError."""
    from atlas.code.index import detectors
    from atlas.code.index.project.workspace import ProjectSource
    from atlas.parsing import fingerprint, load_languages

    _refuse_bare(settings.root)
    # an index on a server needs the folder for the facts cache only
    prepare_data_folder(settings)
    with _language_errors(settings):
        rules = [*detectors.built_in(), *detectors.installed()]
        languages = load_languages(settings.language_folders, settings.knowledge.folder, rules)
    source = ProjectSource(
        project=settings.project_name,
        root=settings.root,
        languages=languages,
        fingerprint=fingerprint(languages),
        cache=settings.data_dir / FACTS_FILE.format(project=settings.project_name),
        scope=_scope(settings),
        timeout_ms=settings.index.parse_timeout_ms,
        reread=_reread,
    )
    return _with_own_rules(source, settings.index.detectors)


def _refuse_bare(root: Path) -> None:
    """Raise ConfigError for a repository without a work tree: what is in it are git's files, not a project's."""
    if (root / "HEAD").is_file() and (root / "objects").is_dir() and (root / "refs").is_dir():
        raise ConfigError(
            f"{root} is a git repository without a work tree",
            f"Index a work tree of it: git -C {root} worktree add FOLDER, or a clone.",
        )


def _reread(source: ProjectSource) -> ProjectSource:
    settings = load_settings(str(source.root), str(source.cache.parent))
    # while a file is edited it may be broken for a moment, and the last good scope stays in force
    if settings.ignored:
        raise ConfigError(settings.ignored[0].why, settings.ignored[0].hint)
    return _with_own_rules(replace(source, scope=_scope(settings)), settings.index.detectors)


def _with_own_rules(source: ProjectSource, path: str) -> ProjectSource:
    """Return the source with the project's own rules as the file has them now. Broken ones are left out and logged."""
    from atlas.code.index import detectors

    own = detectors.of_project(source.root, path)
    digest = detectors.digest_of(own)
    source = replace(source, rules_file=path)
    if digest == source.rules:
        return source
    try:
        return replace(source, languages=source.languages.with_own_rules(own), rules=digest, problem="")
    except ValueError as error:
        problem = f"The rules in {path} are ignored: {error}"
        _log.warning(problem)
        return replace(source, languages=source.languages.with_own_rules([]), rules=digest, problem=problem)


def own_rules_digest(settings: Settings) -> str:
    """Return what names the project's own rules for routes and events as their file has them now; "" for none."""
    from atlas.code.index import detectors

    return detectors.digest_of(detectors.of_project(settings.root, settings.index.detectors))


def current_scope(settings: Settings) -> Scope:
    """Return the scope that the project's settings have now. Raises ConfigError while they are invalid."""
    return _scope(load_settings(str(settings.root), str(settings.data_dir)))


@contextmanager
def _language_errors(settings: Settings) -> Generator[None]:
    try:
        yield
    except ValueError as error:
        own = settings.languages.folders
        hint = "Correct that file." if own else "Install the package again."
        raise ConfigError(f"a language cannot be used: {error}", hint) from error


def _scope(settings: Settings) -> Scope:
    from atlas.parsing.scanning import Scope

    scope = settings.scope
    return Scope(
        scope.include,
        scope.exclude,
        scope.max_file_bytes,
        scope.git_rules,
        generated=scope.include_generated,
        plain_text=scope.plain_text,
    )


def make_tree_check(settings: Settings) -> TreeCheck:
    """Return a check of the project's tree, which keeps the scanned tree in the data folder for the next session."""
    from atlas.code.index.project.tree_check import CheckedTree, TreeCheck
    from atlas.code.index.project.tree_snapshot import FILE
    from atlas.parsing import language_files_state, load_languages

    # other hosts may write an index on a server
    snapshot = None if settings.store.url else settings.data_dir / FILE.format(project=settings.project_name)
    return TreeCheck(
        CheckedTree(
            project=settings.project_name,
            root=settings.root,
            languages=partial(load_languages, settings.language_folders, settings.knowledge.folder),
            scope=partial(current_scope, settings),
            languages_state=partial(language_files_state, settings.language_folders, settings.knowledge.folder),
            snapshot=snapshot,
            rules_file=settings.index.detectors,
            rules=partial(own_rules_digest, settings),
        )
    )
