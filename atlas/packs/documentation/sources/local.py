"""Sources on this machine: files of a tree are selected, read, masked and parsed one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from atlas import _parser
from atlas.core.errors import ConfigError
from atlas.packs.documentation.article import memory_of
from atlas.packs.documentation.code.files import CodeFile, Package, code_files
from atlas.packs.documentation.formats.document import Document
from atlas.packs.documentation.formats.reading import read_article
from atlas.packs.documentation.formats.restructured.settings import MAX_BYTES as SETTINGS_BYTES
from atlas.packs.documentation.formats.restructured.settings import nearest, read_settings, settings_files
from atlas.packs.documentation.sources import selection
from atlas.packs.documentation.sources.archive import ArchiveTree
from atlas.packs.documentation.sources.folder import FolderTree
from atlas.packs.documentation.sources.inclusions import includes_files, read_including
from atlas.packs.documentation.sources.installed import installed_tree
from atlas.packs.documentation.sources.package_facts import PackageFacts, package_facts, without_documentation
from atlas.packs.documentation.sources.values import CollectProgress, Planned, SourceKind
from atlas.packs.documentation.sources.work_tree import DocumentationTree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from atlas.packs.documentation.article import Article
    from atlas.packs.documentation.sources.values import CollectOptions, SourceSpec, Tree


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive that a registry's client has downloaded."""

    path: Path
    name: str
    version: str


def open_tree(source: SourceSpec, options: CollectOptions) -> Tree:
    """Return the files of a source on this machine. Raises ConfigError."""
    if source.kind is SourceKind.ARCHIVE:
        return ArchiveTree(source.path, options.max_files, options.max_total_bytes)
    if source.kind is SourceKind.WORK_TREE:
        return DocumentationTree(source.path, options.max_file_bytes)
    if source.kind is SourceKind.INSTALLED:
        return installed_tree(source.name, options.site_packages)
    if source.kind in (SourceKind.FOLDER, SourceKind.FILE):
        return FolderTree(source.path, options.max_files)
    raise ConfigError(f"{source.text} is not on this machine.")


def read_source(
    source: SourceSpec, options: CollectOptions, report: Callable[[CollectProgress], None]
) -> list[Article]:
    """Return the articles of a source on this machine, sorted by key. Raises ConfigError."""
    return read_tree(open_tree(source, options), source, options, report)


def read_archive(
    archive: Archive, source: SourceSpec, options: CollectOptions, report: Callable[[CollectProgress], None]
) -> list[Article]:
    """Return the articles of a downloaded archive, sorted by key. Raises ConfigError."""
    return read_tree(_archive_tree(archive, options), source, options, report)


def _archive_tree(archive: Archive, options: CollectOptions) -> ArchiveTree:
    return ArchiveTree(archive.path, options.max_files, options.max_total_bytes, version=archive.version)


def plan_source(source: SourceSpec, options: CollectOptions) -> list[Planned]:
    """Return every file of a source with the reason why it is left out, if it is. Raises ConfigError."""
    return _plan_tree(open_tree(source, options), source, options)


def plan_archive(archive: Archive, source: SourceSpec, options: CollectOptions) -> list[Planned]:
    """Return every file of a downloaded archive as `plan_source` does. Raises ConfigError."""
    return _plan_tree(_archive_tree(archive, options), source, options)


def _plan_tree(tree: Tree, source: SourceSpec, options: CollectOptions) -> list[Planned]:
    entries = tree.entries()
    paths = [one.path for one in entries]
    reasons = _selected(tree, paths, source, options)
    reasons |= dict.fromkeys(_code_of(tree, paths, options), "")
    found = [Planned(source.text, one.path, one.size, reasons[one.path]) for one in entries]
    return [*found, *(Planned(source.text, path, 0, reason) for path, reason in tree.problems)]


def read_tree(
    tree: Tree, source: SourceSpec, options: CollectOptions, report: Callable[[CollectProgress], None]
) -> list[Article]:
    """Return the articles of a tree, sorted by key. Raises ConfigError if it cannot be read or is over a limit."""
    paths = [one.path for one in tree.entries()]
    reasons = _selected(tree, paths, source, options)
    documents = [path for path in paths if not reasons[path]]
    code = _code_of(tree, paths, options)
    wanted = [path for path in paths if not reasons[path] or path in code]
    if len(wanted) > options.max_files:
        raise ConfigError(f"{source.text} has {len(wanted):,} files, which is over the limit.", "Name a folder of it.")
    facts = package_facts(tree, paths) if tree.package else PackageFacts()
    masked = _masked if options.mask_secrets else _as_it_is
    version = tree.version or facts.version
    files_of_settings = tree.read(settings_files(paths), SETTINGS_BYTES)
    settings = {path: read_settings(masked(data), version) for path, data, _ in files_of_settings}
    articles: list[Article] = []
    including: list[Document] = []
    files: list[CodeFile] = []
    total = 0
    held = _Held(source.text, options.max_memory)
    for path, data, cut in tree.read(wanted, options.max_file_bytes):
        total += len(data)
        if total > options.max_total_bytes:
            raise ConfigError(f"{source.text} has more than {options.max_total_bytes:,} bytes.", "Name a folder of it.")
        report(CollectProgress(source.text, "read", len(articles) + len(files), len(wanted), path))
        if path in code:
            files.append(CodeFile(path, masked(data)))
            continue
        document = Document(
            key=path,
            data=masked(data),
            path=path,
            licence=tree.licence or facts.licence,
            source=source.text,
            source_version=version,
            cut=cut,
            settings=nearest(settings, path),
        )
        if includes_files(document):
            including.append(document)
        else:
            articles.append(held.with_article(read_article(document)))
    included = read_including(tree, including, paths, frozenset(documents), masked)
    articles += map(held.with_article, included)
    if facts.is_python and not selection.has_documentation(documents):
        said = without_documentation(facts)
        report(CollectProgress(source.text, "read", len(articles), len(wanted), source.text, said))
    for path, reason in tree.problems:
        report(CollectProgress(source.text, "read", len(articles), len(wanted), path, reason))
    package = Package(
        *(source.name or facts.name, tree.version or facts.version, tree.licence or facts.licence, source.text)
    )
    articles += _of_code(files, articles, package, selection.has_documentation(documents))
    return sorted(articles, key=lambda one: one.key)


class _Held:
    """Counts the memory of the articles of a source."""

    def __init__(self, source: str, limit: int) -> None:
        self._source, self._limit, self._bytes = source, limit, 0

    def with_article(self, article: Article) -> Article:
        """Return the article, once it is counted. Raises ConfigError over the limit."""
        self._bytes += memory_of(article)
        if self._bytes > self._limit:
            raise ConfigError(
                f"The documents of {self._source} hold more than {self._limit:,} bytes.", "Name a folder of it."
            )
        return article


def _code_of(tree: Tree, paths: list[str], options: CollectOptions) -> frozenset[str]:
    """Return the files of a package's own code."""
    return frozenset(code_files(paths)) if tree.package and options.code else frozenset()


def _of_code(
    files: list[CodeFile], articles: list[Article], package: Package, is_documented: bool
) -> Iterable[Article]:
    """Return the articles of a package's own code, as its documentation calls the symbols."""
    if not files:
        return ()
    from atlas.packs.documentation.code.articles import code_articles
    from atlas.packs.documentation.code.joining import joined
    from atlas.parsing.outline import OutlineReader

    ordered = sorted(files, key=lambda one: one.path)
    return joined(list(code_articles(ordered, package, OutlineReader())), articles, is_documented=is_documented)


def _selected(tree: Tree, paths: list[str], source: SourceSpec, options: CollectOptions) -> dict[str, str]:
    if source.kind is SourceKind.FILE:
        return dict.fromkeys(paths, "")
    return selection.select(paths, options.language, package=tree.package)


def _as_it_is(data: bytes) -> bytes:
    return data


def _masked(data: bytes) -> bytes:
    """Return a text with `*` for secrets; binary formats and texts full of candidates stay as they are."""
    if b"\x00" in data[:4096] or data.startswith(b"%PDF-"):
        return data
    try:
        return _parser.mask_secrets(data)
    except ValueError:
        return data
