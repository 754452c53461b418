"""Which feature of a manifest a question for packages means, by its name or by what documents say of it.

`Which crates come in when I turn on mail signing` means the feature of which a list says `**dkim**: sign email`. Its
packages are those that it names and those of the features in it. Reads the indexed texts only.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from atlas.code.graph.packages import PackageReport
from atlas.code.lines.scan_texts import scan_texts
from atlas.code.question.package_questions import PackageAspect
from atlas.code.reader import Reader
from atlas.core.english.stems import root_of
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter

MOST_LEVELS = 4
MAX_SAID = 300
_TURNED_ON = lazy_regex(
    r"\b(?:turn\w* on|switch\w* on|enabl\w+|activat\w+|opt(?:ing)? in(?:to)?|features?|us(?:e|ing)|with|for)\b"
    r" (?:the |an? )?(?P<what>[^?.!,;]{3,80})",
    re.IGNORECASE,
)
_SAID_OF = lazy_regex(r"[*`]{1,3}(?P<name>[A-Za-z][\w-]{1,40})[*`]{1,3}\s?[:–-]\s?(?P<said>[^\n]{4,300})")
_OF_ANY = frozenset("feature features crate crates package packages dependency dependencies support".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class ManifestFeature:
    """A feature of a manifest."""

    name: str
    path: str
    line: int
    packages: frozenset[str]
    """As the manifest names them, those of the features in it included."""


async def narrowed_by_feature(reader: Reader, text: str, found: PackageReport, where: Filter) -> PackageReport:
    """Return a list of dependencies with those of the one feature that a question means, if it means one."""
    question, named = found.question, _TURNED_ON.search(text)
    is_list = question.asks == PackageAspect.LIST and not (question.groups or question.topic or question.names)
    paths = sorted({each.path for each in found.declared if each.path.endswith(".toml")})
    if not is_list or named is None or not paths:
        return found
    texts = await reader.store.content(where.project or reader.project, paths)
    features = [each for path, data in texts.items() for each in _features(path, data.decode("utf-8", "replace"))]
    words = [word for word in re.findall(r"[a-z][\w-]+", named["what"].lower()) if word not in STOP_WORDS | _OF_ANY]
    meant = [each for each in features if each.name.lower() in words] or await _described(
        reader, words, features, where
    )
    if len(meant) != 1 or not meant[0].packages:
        return found
    lines = texts[meant[0].path].decode("utf-8", "replace").split("\n")
    kept = tuple(
        each
        for each in found.declared
        if each.path == meant[0].path
        and each.kind != "development"
        and {each.package, each.name, key_of(lines, each.line)} & meant[0].packages
    )
    topic = f"feature `{meant[0].name}` ({meant[0].path}:{meant[0].line})"
    return replace(found, declared=kept, question=replace(question, kinds=(), topic=topic)) if kept else found


def key_of(lines: Sequence[str], number: int) -> str:
    """Return the name by which a manifest declares what stands in a line: `tokio1 = { package = "tokio" }`."""
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    return line.partition("=")[0].strip().strip("\"'")


def _features(path: str, text: str) -> Iterator[ManifestFeature]:
    try:
        table = tomllib.loads(text).get("features")
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    if not isinstance(table, dict):
        return
    features = {
        name: [each for each in cast("list[object]", parts) if isinstance(each, str)]
        for name, parts in cast("dict[str, object]", table).items()
        if isinstance(parts, list)
    }
    for name in features:
        pattern = re.compile(rf"\s*[\"']?{re.escape(name)}[\"']?\s*=\s*\[")
        numbers = (number for number, line in enumerate(text.split("\n"), 1) if pattern.match(line))
        yield ManifestFeature(name, path, next(numbers, 1), frozenset(_packages(name, features, MOST_LEVELS)))


def _packages(name: str, features: Mapping[str, Sequence[str]], levels: int) -> Iterator[str]:
    for part in features.get(name, ()):
        own, _, inner = part.removeprefix("dep:").partition("/")
        if own.endswith("?"):
            continue  # only where something else brings it in
        if not inner and own in features and own != name and levels and not part.startswith("dep:"):
            yield from _packages(own, features, levels - 1)
        else:
            yield own


async def _described(
    reader: Reader, words: Sequence[str], features: Sequence[ManifestFeature], where: Filter
) -> list[ManifestFeature]:
    """Return the feature of which lines of documents say most of some words; nothing where several do."""
    named = {each.name: each for each in features}
    scan = await scan_texts(reader, where, _SAID_OF, ())
    has: dict[str, int] = {}
    for each in scan.found:
        if each.match["name"] in named:
            said = each.match["said"][:MAX_SAID].lower()
            count = sum(root_of(word) in said for word in words)
            has[each.match["name"]] = max(has.get(each.match["name"], 0), count)
    most = max(has.values(), default=0)
    best = [named[name] for name, count in has.items() if count == most]
    return best if most and most * 2 >= len(words) else []
