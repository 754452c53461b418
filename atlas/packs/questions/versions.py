"""Versions that a question names, compared part by part with headings and facts: 3.0 is 3.0.0, and not 0.3.0. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match
from atlas.packs.questions.question import Question
from atlas.packs.questions.texts import Passage, read_passages
from atlas.packs.questions.values import PackReader

Version = tuple[int, ...]

EXACT, WITHIN, OTHER = 1.5, 0.4, -0.5
"""Share of the best score that a section gains whose heading is the version that is asked for, or one of its
releases (3.0.1 of 3.0), and loses with another version in its heading."""
MAX_VERSIONS, MAX_SECTIONS, PASSAGES_EACH = 2, 12, 3
FOUND_EACH = 60
"""Sections per beginning of a heading that are compared."""
VERSION_FACTS = frozenset({"added", "changed", "removed", "deprecated"})
"""Kinds of facts that say what a version did."""
_NUMBER = r"v?\d+(?:\.\d+)*(?!\w|/|\.\d)"
_LED = lazy_regex(
    r"(?:\b(?:versions?|releases?|upgrad\w+ to|migrat\w+ to|v)\s+|"
    r"(?P<loose>^|\b(?:since|in|of|from|between|to|before|after)\s+))"
    rf"(?:the\s+)?(?P<number>{_NUMBER})",
    re.I,
)
_FURTHER = lazy_regex(rf"\s*(?:,|and|or|to|vs\.?)\s+(?P<number>{_NUMBER})", re.I)
_HEADING = lazy_regex(r"(?:^|[\s\[(])v?(\d+(?:\.\d+)+|(?<=version )\d+|(?<=release )\d+)(?![\w/])", re.I)
_IN_HEADING = 8
"""Words of the longest heading that is read as one of a version."""
_CHANGES = lazy_regex(
    r"\b(?:versions?|releases?|released|since|changed|changes|changelog|upgrad\w+|migrat\w+|deprecat\w+|obsolete|"
    r"removed|removal|removes|dropped|drops|introduced|breaking|history|what(?:'s| is| was)? new|new in|"
    r"when\b.*\b(?:added|available))\b",
    re.I,
)
_OF_VERSION = lazy_regex(
    r"\b(?:changes|changed|change in|changelog|what(?:'s| is| was)? new|new in|new features|news|added|additions|"
    r"remov\w+|drop\w*|deprecat\w+|introduc\w+|break\w*|fixes|fixed|differ\w*|happened|gone|notes|upgrad\w+|migrat\w+|"
    r"improve\w*)\b",
    re.I,
)
_STATED = lazy_regex(r"(?:\w+ in|[Dd]eprecated since) version (\d+(?:\.\d+)*)")
"""How a directive of reStructuredText about a version begins, whatever kind of fact the sentence is."""


def version_of(text: str) -> Version:
    """Return the parts of a version; () for what is none."""
    return tuple(int(part[:9]) for part in re.findall(r"\d+", text)[:6])


def versions_in(text: str, name: str = "") -> tuple[Version, ...]:
    """Return the versions that a question names; `name` is that of the library, which may stand before the number."""
    patterns = [_LED, *([re.compile(rf"(?P<loose>\b{re.escape(name)}\s+)(?P<number>{_NUMBER})", re.I)] if name else [])]
    found: dict[Version, None] = {}
    for pattern in patterns:
        for match in pattern.finditer(text):
            number = match["number"]
            if match["loose"] is not None and "." not in number:
                continue  # "in 3 steps" counts things
            found[version_of(number)] = None
            further = _FURTHER.match(text, match.end())
            if further and "." in further["number"]:
                found[version_of(further["number"])] = None
    return tuple(found)[:MAX_VERSIONS]


def asks_for_changes(text: str) -> bool:
    """Return whether a question asks for versions or for what has changed."""
    return bool(_CHANGES.search(text))


def nearness(asked: Version, stated: Version) -> float:
    """Return `EXACT` for the same version, `WITHIN` for a release of the one that is asked for, else 0."""
    if not stated:
        return 0.0
    if _padded(asked) == _padded(stated):
        return EXACT
    return WITHIN if stated[: len(asked)] == asked else 0.0


def heading_version(heading: str) -> Version:
    """Return the version that a short heading names: "Version 3.0.0", "[1.2.0] - 2020-01-05"; () for others."""
    match = _HEADING.search(heading) if len(heading.split()) <= _IN_HEADING else None
    return version_of(match[1]) if match else ()


def of_other_versions(question: Question, name: str, headings: Mapping[str, str]) -> dict[str, float]:
    """Return what sections lose whose headings are versions that are not asked for; `headings` by uid."""
    asked = versions_in(question.text, name)
    stated = {uid: heading_version(heading) for uid, heading in headings.items()}
    return {uid: OTHER for uid, version in stated.items() if version and states_other(asked, version)}


def stated_in(text: str) -> Version:
    """Return the version of a note such as "Changed in version 2.3: ..."; () for other sentences."""
    match = _STATED.match(text)
    return version_of(match[1]) if match else ()


def states_other(asked: Sequence[Version], stated: Version) -> bool:
    """Return whether a version is none of those that are asked for."""
    return not any(nearness(one, stated) for one in asked)


def changed_versions(text: str, name: str = "") -> tuple[Version, ...]:
    """Return the versions of which a question asks what they changed."""
    return versions_in(text, name) if _OF_VERSION.search(text) else ()


def spellings(version: Version) -> list[str]:
    """Return how a version may be written: with and without zeros at its end."""
    least = max((place for place, part in enumerate(version, 1) if part), default=1)
    return [".".join(map(str, _padded(version)[:length])) for length in range(least, max(len(version), 3) + 1)]


async def sections_of_versions(reader: PackReader, question: Question) -> tuple[dict[str, float], list[Passage]]:
    """Return what the sections gain whose headings are versions of which the changes are asked for, and passages."""
    asked = changed_versions(question.text, reader.name)
    where = Filter(project=reader.project, labels=(Label.SECTION,))
    gains: dict[str, float] = {}
    for version in asked:
        for beginning in _beginnings(reader.name, version):
            for node in await reader.store.find(beginning, Match.PREFIX, where, FOUND_EACH):
                gain = nearness(version, heading_version(node.row.name))
                if gain:
                    gains[node.row.uid] = max(gain, gains.get(node.row.uid, 0.0))
    best = sorted(gains, key=lambda uid: (-gains[uid], uid))[:MAX_SECTIONS]
    uids = [f"{uid}/{number}" for uid in best for number in range(PASSAGES_EACH)]
    return {uid: gains[uid] for uid in best}, list((await read_passages(reader, uids)).values())


def _beginnings(name: str, version: Version) -> Iterable[str]:
    """Yield how headings of a version begin; 3.0.0 may be written 3.0."""
    texts = dict.fromkeys(".".join(map(str, parts)) for parts in (version, _padded(version)[:2]))
    names = (f"{name} ", f"{name} version ", f"what's new in {name} ") if name else ()
    for text in texts:
        for start in ("", "v", "[", "[v", "version ", "release ", *names):
            yield start + text


def _padded(version: Version) -> Version:
    return (*version, *([0] * (6 - len(version))))
