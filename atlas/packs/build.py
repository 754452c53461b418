"""Building and updating packs: sources -> articles -> a folder that appears whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex
from atlas.core.threads import in_thread
from atlas.packs.describe import STATEMENTS, BuildRequest, make_manifest, urls_text
from atlas.packs.documentation.links import link_anchors
from atlas.packs.documentation.pack.folder import (
    check_target,
    draft_folder,
    load_manifest,
    with_checksums,
    write_files,
)
from atlas.packs.documentation.pack.manifest import PACK_FILE, Manifest, check_name
from atlas.packs.documentation.pack.skill import skill_text
from atlas.packs.documentation.sources.collecting import mark_built
from atlas.packs.documentation.sources.spec import BY_ENDING, BY_SCHEME
from atlas.packs.documentation.sources.values import WEB, CollectProgress, Planned, SourceKind
from atlas.packs.entities import said_of
from atlas.packs.opening import BuiltFile, OpenPack, chunks_of, known_vectors, open_pack, packs_folder, write_pack
from atlas.packs.records import BuildRecord, is_as_built, remember_build, remember_check
from atlas.packs.sources import NO_CONSENT, Consent, NamedHosts, request_of

if TYPE_CHECKING:
    from atlas.core.fetching import Fetcher
    from atlas.packs.documentation.article import Article
    from atlas.packs.documentation.sources.values import SourceSpec
    from atlas.packs.model import ModelPass

UNNAMED = "1"
"""The version of a pack for which none is named."""

Report = Callable[[CollectProgress], None]


@dataclass(frozen=True, slots=True)
class BuildResult:
    """A pack that was built."""

    folder: Path
    manifest: Manifest
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    """Keys of articles that differ from the pack before."""
    embedded: int = 0
    problems: tuple[str, ...] = ()
    """Documents that were left out with the reason, and `key: line: code: message` of what could not be read."""
    notes: tuple[str, ...] = ()
    """What a language model was not asked, or said without evidence."""


def no_report(progress: CollectProgress) -> None:
    """Report nothing."""


class LeftOut:
    """Passes reports on and keeps what they say about documents that are left out."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.found: list[str] = []

    def __call__(self, progress: CollectProgress) -> None:
        """Take a report."""
        if progress.problem:
            self.found.append(f"{progress.current}: {progress.problem}")
        self._report(progress)


async def plan_build(request: BuildRequest, report: Report = no_report) -> list[Planned]:
    """Return what a build would read; writes nothing. Raises ConfigError and Unavailable."""
    from atlas.packs.documentation.sources.collecting import plan

    check_name(request.name, request.version or UNNAMED)
    specs = _specs(request)
    fetcher = _fetcher(request, specs)
    try:
        return await plan(specs, request.options, fetcher, report)
    finally:
        if fetcher is not None:
            await fetcher.aclose()


async def build_pack(
    request: BuildRequest,
    target: Path | None = None,
    *,
    replaces: bool = False,
    report: Report = no_report,
    model: ModelPass | None = None,
) -> BuildResult:
    """Build a pack from its sources, to a folder or to the installed packs.

    Raises ConfigError for sources that cannot be read, a name that is none, or a pack that is there already, StoreError
    if the pack cannot be written.
    """
    check_name(request.name, request.version or UNNAMED)
    specs = _specs(request)
    if target is not None or request.version:
        check_target(_target(request, target), replaces=replaces)
    left_out = LeftOut(report)
    articles = await collect_articles(request, specs, left_out)
    built = await build_from_articles(
        completed(request, specs, articles), articles, target, replaces=replaces, report=report, model=model
    )
    await in_thread(mark_built, specs, request.options)
    return replace(built, problems=(*left_out.found, *built.problems))


async def build_from_articles(
    request: BuildRequest,
    articles: Sequence[Article],
    target: Path | None = None,
    *,
    replaces: bool = False,
    report: Report = no_report,
    model: ModelPass | None = None,
    before: OpenPack | None = None,
) -> BuildResult:
    """Build a pack from articles that were read; `before` is the one that it replaces.

    Its vectors are used again if it was built here.
    """
    if not articles:
        raise ConfigError("the sources have no documents", "see what is left out and why: atlas pack build --dry-run")
    request = completed(request, (), articles)
    check_name(request.name, request.version)
    folder = _target(request, target)
    is_own = before is not None and await in_thread(is_as_built, before.folder, before.manifest)
    known = await known_vectors(before.store, before.manifest.name) if before is not None and is_own else None

    def step(phase: str, done: int, total: int) -> None:
        report(CollectProgress(request.name, phase, done, total))

    with draft_folder(folder, replaces=replaces) as draft:
        extend = await model.extend(articles, lambda done, total: step("model", done, total)) if model else None
        built = await write_pack(draft / PACK_FILE, request.name, articles, extend, known, step)
        manifest = make_manifest(request, articles, built, model)
        write_files(draft, {"skill.md": skill_text(manifest), "urls.txt": urls_text(articles)})
        report(CollectProgress(request.name, "calibrate"))
        await _complete(draft, manifest, articles, built, before)
        (draft / "eval" / "results").mkdir(mode=0o700)
        manifest = with_checksums(draft, manifest)
    remember_check(folder / PACK_FILE)
    problems = tuple(f"{one.key}: {text}" for one in articles for text in one.problems)
    notes = tuple(model.notes) if model is not None else ()
    if not remember_build(folder, manifest, BuildRecord(_folder(request), request.private)):
        notes = (*notes, "the user's data folder cannot be written: an update will ask about the sources")
    return BuildResult(folder, manifest, embedded=built.embedded, problems=problems, notes=notes)


async def update_pack(
    folder: Path,
    report: Report = no_report,
    model: ModelPass | None = None,
    *,
    force: bool = False,
    state: Path | None = None,
    consent: Consent = NO_CONSENT,
) -> BuildResult:
    """Read the sources of a pack again and rebuild it if an article differs; equals a clean build of the same sources.

    Texts that are the same keep their vectors. A pack from elsewhere is rebuilt whatever it says, from the sources that
    the user has agreed to. Raises as `build_pack` and `request_of` do.
    """
    manifest = load_manifest(folder)
    request = request_of(folder, consent)
    force = force or not await in_thread(is_as_built, folder, manifest)
    specs = _specs(request)
    refresh = replace(request.options, refresh=True, state=state)
    left_out = LeftOut(report)
    articles = await collect_articles(replace(request, options=refresh), specs, left_out)
    old = open_pack(folder)
    try:
        before = await article_digests(old)
        after = {one.key: one.digest for one in articles}
        added = tuple(sorted(after.keys() - before.keys()))
        removed = tuple(sorted(before.keys() - after.keys()))
        changed = tuple(sorted(key for key in after.keys() & before.keys() if after[key] != before[key]))
        lost = model is None and any(one.space == STATEMENTS for one in manifest.models)
        notes = ("the statements of the language model are kept out; --extend asks for them again",) if lost else ()
        if not (added or removed or changed or force or model):
            await in_thread(mark_built, specs, refresh)
            return BuildResult(folder, manifest, problems=tuple(left_out.found))
        built = await build_from_articles(
            request, articles, folder, replaces=True, report=report, model=model, before=old
        )
    finally:
        await old.aclose()
    await in_thread(mark_built, specs, refresh)
    problems = (*left_out.found, *built.problems)
    return replace(
        built, added=added, changed=changed, removed=removed, notes=(*notes, *built.notes), problems=problems
    )


async def collect_articles(request: BuildRequest, specs: Sequence[SourceSpec], report: Report) -> list[Article]:
    """Return the articles of the sources in order. Raises ConfigError and Unavailable."""
    from atlas.packs.documentation.sources.collecting import collect

    fetcher = _fetcher(request, specs)
    try:
        return [article async for article in collect(specs, request.options, fetcher, report)]
    finally:
        if fetcher is not None:
            await fetcher.aclose()


async def article_digests(pack: OpenPack) -> dict[str, str]:
    """Return the digests of the sources of a pack's articles by key."""
    found: dict[str, str] = {}
    paths = await pack.store.paths(pack.manifest.name)
    for start in range(0, len(paths), 500):
        uids = [f"{pack.manifest.name}:{path}" for path in paths[start : start + 500]]
        for node in await pack.store.symbols(uids):
            found[node.row.path] = str(said_of(node).get("digest", ""))
    return found


def completed(request: BuildRequest, specs: Sequence[SourceSpec], articles: Sequence[Article]) -> BuildRequest:
    """Return the request with library and versions that follow from its sources."""
    named = next((spec for spec in specs if spec.name or spec.kind == SourceKind.ARCHIVE), None)
    in_name = _ARCHIVE.fullmatch(named.path.name) if named is not None else None
    library = request.library or (named.name if named else "") or (in_name["name"] if in_name else "")
    stated = next((one.source_version for one in articles if one.source_version), "") if named else ""
    library_version = request.library_version or (named.version if named else "") or stated
    library_version = library_version or (in_name["version"] if in_name else "")
    ecosystem = request.ecosystem or (BY_SCHEME.get(str(named.kind), "") if named else "")
    ecosystem = ecosystem or (BY_ENDING.get(in_name["ending"], "") if in_name else "")
    version = request.version or library_version or UNNAMED
    return replace(request, library=library, library_version=library_version, ecosystem=ecosystem, version=version)


_ARCHIVE = lazy_regex(
    r"(?P<name>[A-Za-z0-9][\w.-]*?)-v?(?P<version>\d[\w.!+]*?)(?:-[\w.-]+)?\.(?P<ending>whl|crate|tgz|tar\.gz|zip)"
)


async def _complete(
    draft: Path, manifest: Manifest, articles: Sequence[Article], built: BuiltFile, before: OpenPack | None
) -> None:
    """Write the files that need the finished graph: vocabulary, questions made by rules, and the gate's calibration.

    Settings and questions that people have added to the pack before stay.
    """
    from atlas.packs.questions.calibration import calibrated, with_gate
    from atlas.packs.questions.questions import make_questions, own_questions, questions_text
    from atlas.packs.questions.retrieval.vocabulary import vocabulary_text

    passages = ((chunk.name, chunk.text) for chunk in chunks_of(built.graph.units))
    write_files(draft, {"vocabulary.json": vocabulary_text(passages, link_anchors(articles))})
    with_checksums(draft, manifest)
    pack = open_pack(draft, check=False)
    try:
        questions = await make_questions(pack.reader)
        gate = await calibrated(pack.reader, questions)
    finally:
        await pack.aclose()
    own = own_questions(before.reader.examples) if before is not None else []
    settings = before.reader.settings if before is not None else ""
    files = {"kg_config.json": with_gate(settings, gate), "eval/questions.jsonl": questions_text([*questions, *own])}
    write_files(draft, files)


def _specs(request: BuildRequest) -> list[SourceSpec]:
    from atlas.packs.documentation.sources.spec import parse_source

    if not request.sources:
        raise ConfigError("a pack needs a source", "name one: --from FOLDER, --from pypi:NAME==VERSION, --from URL")
    return [parse_source(text, Path(request.folder) if request.folder else None) for text in request.sources]


def _fetcher(request: BuildRequest, specs: Sequence[SourceSpec]) -> Fetcher | None:
    if not any(spec.kind in WEB for spec in specs):
        return None
    from atlas.adapters.opening.packs import make_fetcher

    return make_fetcher() if request.private is None else NamedHosts(make_fetcher(), request.private)


def _target(request: BuildRequest, target: Path | None) -> Path:
    return target if target is not None else packs_folder() / request.name / request.version


def _folder(request: BuildRequest) -> str:
    """Return the folder at which relative paths of the sources start, for an update from elsewhere."""
    return request.folder or str(Path.cwd())
