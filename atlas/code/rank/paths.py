"""What the path of a file says: the part of a project that a title names, a translation, a copy. Pure.

Subjects of commits and titles of reports often name a file, folder or package in front of a colon (`httputil: reject
duplicate headers`). It is a name of one word, so words and vectors hardly see it. Translations (`docs/zh/guide.md`,
`README.ja.md`) and copies (legacy, vendored, example and benchmark code) are seldom what a question means.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from atlas.core.english.stems import root_of

FOLDER, PART = 0.5, 0.4
"""For files of a folder with the name, and files that have the name as a part of theirs."""
_TITLE = re.compile(
    r"(?:\[[^\]]{0,40}\]\s*)*"
    r"(?P<names>[\w.+/-]{2,60}(?:\([\w.+/, -]{1,40}\))?(?:(?:,\s?|:\s)[\w.+/-]{2,60}){0,2}):\s+\S"
)
_BETWEEN = re.compile(r"[,:()\s]+")
_NO_COMPONENT = re.compile(
    r"fix(es|ed)?|feat(ure)?|bug(fix)?|chore|refactor|perf|security|sec|usr|upstream|cve[-\d]*|(build|ci|style|revert)"
    r"|warnings?|errors?|notes?|issue|question|request|proposal|regression|crash|problem|help|idea|todo|update|expected"
    r"|actual|result|example|summary|description|title|steps|https?|\w+(error|exception|warning)|\d+",
    re.IGNORECASE,
)
"""Words before a colon that say what kind of text follows."""
_CODES = (
    "ar|bg|bn|ca|cs|da|de|el|es|fa|fi|fr|he|hi|hr|hu|hy|id|it|ja|jp|ka|kk|ko|kr|lt|lv|ms|my|nb|nl|no|pl|pt|ro|ru|sk|sl|sr"
    "|sv|th|tr|tw|ua|uk|ur|uz|vi|vn|zh|cn"
)
"""Codes of languages (ISO 639-1) that documents are translated to, and of countries in use for them; not English."""
_REGION = r"(?:[-_](?:hans|hant|[a-z]{2}|419))?"
_TRANSLATED_FOLDER = re.compile(rf"(?:^|/)(?:{_CODES}){_REGION}/", re.IGNORECASE)
_TITLED = r"(?:readme|changelog|contributing|install|code_of_conduct)[-_]"
_TRANSLATED_FILE = re.compile(
    rf"(?:\.|(?:^|/){_TITLED})(?:{_CODES}){_REGION}\.(?:md|mdx|markdown|rst|txt|adoc)$", re.IGNORECASE
)
_PLACES = re.compile(r"(?:^|/)(?:docs?|documentation|i18n|locales?|translations?|content|site|website)/", re.IGNORECASE)
_COPY = re.compile(
    r"(?:^|/)(?P<kind>\w{0,60}?legacy\w*+|deprecated|compat|backports?|_?vendor(?:ed|s)?|third[_-]?party|extern(?:al)?|node_modules"
    r"|bundled|archive|attic|examples?|samples?|demos?|bench(?:marks?)?|fixtures)(?:/|\.|$)",
    re.IGNORECASE,
)
_BENCHMARK = re.compile(r"[_.-]bench(?:mark)?s?\.\w+$|[a-z0-9]Benchmarks?\.\w+$")
"""Benchmark files: `str_cat_benchmark.cc`, `parse.bench.ts`, `MapBenchmark.java`."""

_VERSION = re.compile(r"(?P<before>^|.*?/)v(?P<major>\d+)(?:(?P<stage>alpha|beta)(?P<minor>\d+))?/")
"""The first folder of a path that is a version: `src/v3/`, `apis/v1beta2/`."""


def read_components(text: str) -> tuple[str, ...]:
    """Return the names in front of the first colon of a text, in lower case."""
    match = _TITLE.match(text)
    if match is None:
        return ()
    names = (name.strip("/.").lower() for name in _BETWEEN.split(match["names"]))
    return tuple(name for name in names if len(name) > 1 and not _NO_COMPONENT.fullmatch(name))


def component_share(path: str, components: tuple[str, ...]) -> float:
    """Return how well a path is that of one of the components, 0..1."""
    return max((_share(path.lower(), name) for name in components), default=0.0)


def _share(path: str, name: str) -> float:
    folders, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    if name in (file, stem):
        return 1.0
    if "/" in name and any(written.endswith(f"/{name}") for written in (f"/{path}", f"/{folders}/{stem}")):
        return 1.0
    if f"/{name}/" in f"/{folders}/":
        return FOLDER
    return PART if name in re.split(r"[_-]", stem) else 0.0


def is_translation(path: str) -> bool:
    """Return whether a document's name, or a folder below one of documents, names a language other than English."""
    return bool(_TRANSLATED_FILE.search(path)) or bool(_TRANSLATED_FOLDER.search(path) and _PLACES.search(path))


def is_copy(path: str, asked: Collection[str] = ()) -> bool:
    """Return whether a folder or file of the path says that its code is legacy, vendored, a benchmark or an example.

    `asked`: roots of a question's words; what it asks for by that word is no copy.
    """
    if _BENCHMARK.search(path) and root_of("benchmark") not in asked and root_of("bench") not in asked:
        return True
    found = _COPY.search(path)
    return found is not None and root_of(found["kind"].lower()) not in asked


def newest_versions(paths: Iterable[str]) -> Mapping[str, tuple[int, int, int]]:
    """Return the newest version by the folder that has folders of versions."""
    newest: dict[str, tuple[int, int, int]] = {}
    for folder, version in filter(None, map(version_of, paths)):
        newest[folder] = max(version, newest.get(folder, version))
    return newest


def version_of(path: str) -> tuple[str, tuple[int, int, int]] | None:
    """Return the path up to the folder of a version, and the version; None without one."""
    found = _VERSION.match(path)
    if found is None:
        return None
    stage = {"alpha": 0, "beta": 1, None: 2}[found["stage"]]
    return found["before"], (int(found["major"]), stage, int(found["minor"] or 0))


def is_old_version(path: str, newest: Mapping[str, tuple[int, int, int]]) -> bool:
    """Return whether a path is in the folder of a version that has a newer sibling: `v3/` beside `v4/`."""
    version = version_of(path)
    return version is not None and version[1] < newest.get(version[0], version[1])
