"""Which files of a tree are documentation. Pure: paths in, reasons out.

A folder that the user names is documentation as a whole. Of a package or work tree, its documentation folders count and
the readme, changes and guides next to its manifest; without such a folder every Markdown or reStructuredText file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.formats.reading import format_of

if TYPE_CHECKING:
    from collections.abc import Sequence

DOCUMENT_FOLDERS = frozenset(
    ("doc", "docs", "documentation", "manual", "guide", "guides", "book", "website", "docs_src")
)
NEVER_FOLDERS = frozenset((
    "node_modules", "__pycache__", "_build", "_static", "_templates", "_themes", "_theme", "_sources", "_images",
    "_ext", "site-packages", "locale", "locales", "overrides", "subprojects", "third_party",
))  # fmt: skip
CODE_FOLDERS = frozenset(("tests", "test", "testing", "vendor", "assets", "static", "templates", "fixtures"))
"""Folders of a package that hold no documentation; below a documentation folder they are subjects."""

NEVER_FILES = lazy_regex(
    r"(?:requirements|constraints)[\w.-]*\.txt|.*spelling.*\.txt|genindex.*|py-modindex.*|search\.html|searchindex.*|"
    r"404\.html|cmakelists\.txt|robots\.txt|llms(?:-full)?\.txt",
    re.I,
)
TOP_FILES = lazy_regex(
    r"(?:sources|top_level|dependency_links|entry_points|requires|manifest|pkg-info)[\w.-]*\.txt|license[\w.-]*|"
    r"copying[\w.-]*|code_of_conduct\.\w+|(?:pull_request|issue)_template.*|security\.md|authors[\w.-]*|"
    r"contributors[\w.-]*",
    re.I,
)
"""Files that are not documentation where no documentation folder is around them."""

TOP_LEVEL = lazy_regex(
    r"(?:readme|changelog|changes|history|news|release|upgrad|migrat|faq|install|guide|tutorial|howto)", re.I
)
LANGUAGE_FOLDER = lazy_regex(r"[a-z]{2}(?:[-_][A-Za-z]{2,4})?")


def select(paths: Sequence[str], language: str, *, package: bool) -> dict[str, str]:
    """Return each path with the reason why it is left out, "" if it is documentation.

    `package`: the tree is a package or work tree and not a folder of documentation. Paths are relative, with "/".
    """
    translations = _translations(paths, language)
    rendered = _rendered(paths)
    has_folder = package and any(_in_documentation(path) and format_of(path) for path in paths)
    return {
        path: "source of a page" if path in rendered else _reason(path, translations, package, has_folder)
        for path in paths
    }


def has_documentation(documents: Sequence[str]) -> bool:
    """Return whether documents of a package are in a documentation folder, and not only a readme and changes."""
    return any(_in_documentation(path) for path in documents)


def _reason(path: str, translations: frozenset[str], package: bool, has_folder: bool) -> str:
    *folders, name = path.split("/")
    form = format_of(path)
    if not form:
        return "format"
    if any(part.startswith(".") for part in (*folders, name)):
        return "hidden"
    inside = _in_documentation(path)
    if NEVER_FILES.fullmatch(name) or (package and not inside and TOP_FILES.fullmatch(name)):
        return "not documentation"
    if translations and any("/".join(folders[:at]) in translations for at in range(1, len(folders) + 1)):
        return "translation"
    lowered = {part.lower() for part in folders}
    if lowered & NEVER_FOLDERS or (package and not inside and lowered & CODE_FOLDERS):
        return "folder"
    if not package or inside:
        return ""
    if not folders and (form != "html") and (TOP_LEVEL.match(name) or not has_folder):
        return ""
    if has_folder or form not in ("markdown", "restructuredtext", "asciidoc"):
        return "outside of documentation"
    return ""


def _in_documentation(path: str) -> bool:
    folders = [part.lower() for part in path.split("/")[:-1]]
    for at, part in enumerate(folders):
        if part in NEVER_FOLDERS or part in CODE_FOLDERS:
            return False
        if part in DOCUMENT_FOLDERS:
            # documentation of a vendored or nested package lies deeper
            return at <= 1
    return False


def _rendered(paths: Sequence[str]) -> frozenset[str]:
    """Return the sources whose pages are in the tree as well: of the same content, the pages have the docstrings, too.

    Sources and pages are matched by the last two parts of their path, and only if most of the sources have a page.
    """
    pages = {_place(path) for path in paths if path.endswith(".html")}
    sources = [path for path in paths if path.endswith((".rst", ".md", ".txt")) and format_of(path)]
    found = [path for path in sources if _place(path) in pages]
    markup = [path for path in sources if not path.endswith(".txt")]
    return frozenset(found) if len(found) > max(3, len(markup) // 2) else frozenset()


def _place(path: str) -> str:
    return "/".join(path.rpartition(".")[0].split("/")[-2:])


def _translations(paths: Sequence[str], language: str) -> frozenset[str]:
    """Return folders named by a language other than the wanted one that stand next to one of the wanted language."""
    wanted: set[str] = set()
    others: set[tuple[str, str]] = set()
    for path in paths:
        parts = path.split("/")
        for at, part in enumerate(parts[:-1]):
            if LANGUAGE_FOLDER.fullmatch(part):
                above = "/".join(parts[:at])
                if part == language:
                    wanted.add(above)
                else:
                    others.add((above, part))
    return frozenset(f"{above}/{part}".lstrip("/") for above, part in others if above in wanted)
