"""Spell questions for who writes and who reads a value in one way: `what sets or reads X`. Pure.

Both halves are about the same lines, of which the answer says what each does.
"""

from __future__ import annotations

import re

from atlas.code.question.names import is_code_shaped
from atlas.core.lazy_regex import lazy_regex

_WRITES = r"(?:writes?(?: to)?|sets?|assigns?(?: to)?|modif(?:y|ies)|mutates?)"
_CHANGES = rf"(?:{_WRITES}|changes?|updates?)"
_READS = r"(?:reads?(?: from)?|access(?:es)?|uses?|consumes?)"
_WHO = (
    r"(?:who|what|which(?: (?:code|functions?|methods?|classes|files?|places?|modules?))?"
    r"|where do(?:es)? (?:we|it|the code))"
)
_KIND = r"(?:the |our )?(?:(?:field|property|attribute|variable|member|global|flag|setting) )?"
_NAME = rf"{_KIND}(?P<name>[`'\"]?[A-Za-z_@$][\w.:#$>-]{{0,120}}[`'\"]?)"
_WRITTEN = r"(?:written(?: to)?|set|assigned|modified|mutated|changed|updated)"
_READ = r"(?:read|accessed|used|consumed)"
_IT = r"(?:it|that|them|from it|its value|the value)"
_FORMS = tuple(
    lazy_regex(form, re.IGNORECASE)
    for form in (
        rf"\b{_WHO} {_CHANGES} {_NAME},? (?:and|or)(?: {_WHO})? {_READS}(?: {_IT})?\b",
        rf"\b{_WHO} {_READS} {_NAME},? (?:and|or)(?: {_WHO})? {_CHANGES}(?: {_IT})?\b",
        rf"\b{_WHO} (?:{_READS} ?(?:and|or|/) ?{_CHANGES}|{_CHANGES} ?(?:and|or|/) ?{_READS}) {_NAME}",
        rf"\bwhere (?:is|are) {_NAME} (?:{_WRITTEN},? (?:and|or)(?: where)?(?: is it| it is)? {_READ}"
        rf"|{_READ},? (?:and|or)(?: where)?(?: is it| it is)? {_WRITTEN})\b",
    )
)
_ONLY_WRITES = tuple(
    lazy_regex(form, re.IGNORECASE)
    for form in (rf"^{_WHO} {_WRITES} {_NAME}(?=[?.! ]|$)", rf"^where (?:is|are) {_NAME} {_WRITTEN}(?=[?.! ]|$)")
)


def spell_accesses(text: str) -> str:
    """Return a question for what writes a name, or for what writes and what reads it, as one for what sets it."""
    for form in _FORMS:
        if (match := form.search(text)) is not None and _is_name(match["name"]):
            return f"{text[: match.start()]}what sets or reads {match['name']}{text[match.end() :]}"
    for form in _ONLY_WRITES:
        if (match := form.search(text)) is not None and _is_name(match["name"]):
            return f"what sets {match['name']}{text[match.end() :]}"
    return text


def _is_name(written: str) -> bool:
    return written.startswith("`") or is_code_shaped(written.strip("`'\""))
