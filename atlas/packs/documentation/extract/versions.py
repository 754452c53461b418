"""Versions in which something was added, changed, deprecated or removed, from notes and sentences. Pure."""

from __future__ import annotations

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.extract.statements import is_about_a_fault, is_condition

_VERSION = r"(?<!#)v?(\d+(?:\.\d+){0,3}(?:[a-z]+\d*)?)"
_NAMED = r"(?:(?:in|since|from|with|as of|of)\s+)?(?:version\s+|release\s+|v(?=\d)|[A-Z][\w.]*\s+)?"
_NOTES = {
    "versionadded": "added",
    "versionchanged": "changed",
    "versionremoved": "removed",
    "deprecated": "deprecated",
    "deprecated-removed": "deprecated",
}
_ADJECTIVE = r"\s+(?:features?|APIs?|methods?|functions?|code|alias(?:es)?|settings?|behaviou?r|options?|parts?)\b"
_SENTENCES = (
    ("deprecated", lazy_regex(rf"\b[Dd]eprecated\b(?!{_ADJECTIVE})(?:(?!remove)[^.;]){{0,40}}?{_NAMED}\b{_VERSION}\b")),
    (
        "removed",
        lazy_regex(rf"\b(?:[Rr]emoved|[Ss]topped working|no longer (?:supported|available))\b\s+{_NAMED}{_VERSION}\b"),
    ),
    (
        "added",
        lazy_regex(
            rf"(?<!['\u2019]s )\b(?:[Nn]ew|[Aa]dded|[Ii]ntroduced)\s+(?=(?:in|since|from|with|as of|version|release)\s)"
            rf"{_NAMED}{_VERSION}\b"
        ),
    ),
)
_BARE_DEPRECATION = lazy_regex(r"\b(?:is|are|was|were|has been|have been|now) deprecated\b|^\W*Deprecated\b")


_WHOLE = lazy_regex(
    r"^(?:[-*]\s+)?(?:The\s+)?(?:undocumented\s+)?`{1,2}(?P<name>[^`\n]{2,120})`{1,2}(?P<noun>(?:\s+[\w-]+){0,4}?)\s+"
    r"(?:is|are|was|were|has been|have been)\s+(?:now\s+)?(?P<kind>deprecated|removed)\b"
)
"""What a sentence declares outdated as a whole: its subject is an API name."""
_THIS = lazy_regex(
    r"^\W*(?:This\s+(?:(?:function|method|class|decorator|module|attribute|property|setting|command|constant|exception|"
    r"field|type|alias|macro|trait|struct|enum|hook|component|package)\s+)?(?:is|was|has been)\s+(?:now\s+)?)?"
    r"(?P<kind>[Dd]eprecated|[Rr]emoved)\b"
)
"""The same about what a heading or signature above the sentence names."""
_TITLE = lazy_regex(r"\bv?(\d+\.\d+(?:\.\d+)?)\b")


def declared_outdated(sentence: str) -> tuple[str, str, str]:
    """Return code, noun and kind of what a sentence declares deprecated or removed, ("", "", "") for others."""
    found = _WHOLE.match(sentence)
    return (found["name"], found["noun"].strip(), found["kind"]) if found else ("", "", "")


def outdated_subject(sentence: str) -> str:
    """Return `deprecated` or `removed` if a sentence says that of the subject of its section, "" for others."""
    found = _THIS.match(sentence)
    return found["kind"].lower() if found else ""


def title_version(*titles: str) -> str:
    """Return the only version in the first title that has one ("Features removed in 5.0"), "" if there are several."""
    for title in titles:
        versions = set(_TITLE.findall(title))
        if versions:
            return versions.pop() if len(versions) == 1 else ""
    return ""


def note_fact(label: str) -> tuple[str, str]:
    """Return kind and version of a version notice (`deprecated 4.2`), ("", "") for other notes."""
    kind, _, version = label.partition(" ")
    return (_NOTES[kind], version.strip()) if kind in _NOTES else ("", "")


def sentence_facts(sentence: str) -> list[tuple[str, str]]:
    """Return kind and version of what a sentence says about versions; the version of a bare deprecation is ""."""
    found: list[tuple[str, str]] = []
    for kind, pattern in _SENTENCES:
        match = pattern.search(sentence)
        is_aside = match and (is_about_a_fault(sentence) or is_condition(sentence[: match.start()]))
        if match and not (kind == "added" and is_aside):
            found.append((kind, match[1]))
    bare = _BARE_DEPRECATION.search(sentence)
    if bare and not is_condition(sentence[: bare.start()]) and all(kind != "deprecated" for kind, _ in found):
        found.append(("deprecated", ""))
    return found
