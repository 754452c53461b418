"""Options that a question describes and no line has: `which option sets the directory of the persistent cache`.

An option is written or explained in lines that have several words of what it does. A word of the question that stands
near none of the others is what the project lacks. Reads the indexed texts only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from atlas.code.lines.absent.words import GENERAL, MOST_PLACES, begins_word, is_lock, word_pattern
from atlas.code.lines.asked_words import topic_words
from atlas.code.lines.line_report import shown
from atlas.code.lines.scan_texts import TextMatch, scan_patterns
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter

MOST_WORDS, MAX_WORDS = 25, 8
"""Words of a question, and those of what an option does that are looked for."""
LEAST_OTHERS = 2
"""Other words that the project has and that are never near; fewer may be chance."""
NEAR = 3
"""Lines above and below a word in which another one is near."""
MAX_HEADING = 80
_ASKS = lazy_regex(
    r"^(?:which|what|name the|find the|is there an?) (?:[\w-]{1,30} ){0,2}(?:option|setting|parameter|property|field"
    r"|argument|config(?:uration)? (?:key|value)|key|switch|flag)s?(?: (?:of|for|in) [^,?]{1,30}?)? "
    r"(?:sets?|controls?|limits?|changes?|enables?|disables?|configures?|determines?|decides?|specif(?:y|ies)|defines?"
    r"|turns? (?:on|off)|makes?|lets?|permits?|allows?) (?P<does>[^?;:]{5,160})",
    re.IGNORECASE,
)
_FURTHER = lazy_regex(r", | and (?=(?:which|what|how|where|when|is|does)\b)", re.IGNORECASE)
_HEADING = lazy_regex(r"#{1,6} [`\"']?[\w.-]{2,60}[`\"']?\s*$")
"""A heading that is one name: `### cache`."""
_STATES = frozenset(
    "stay stays remain remains happen happens become becomes last lasts work works apply applies end ends".split()  # noqa: SIM905
)
"""Verbs that name nothing an option has: `decides how long a link stays valid`."""
_PLACES = frozenset(("between", "across", "after", "before", "during", "until", "within", "without", "often", "long"))
"""Words that say when or where an option does something."""


async def find_absent_option(reader: Reader, query: Query, where: Filter) -> tuple[str, ...]:
    """Return that no line near a word of what an option does has the others, with headings that have one; or ().

    Raises store errors.
    """
    asked = _ASKS.match(query.text)
    if asked is None or query.names or query.states or query.paths or len(query.text.split()) > MOST_WORDS:
        return ()
    own = reader.root.name.lower()
    words = [
        word
        for word in topic_words(_FURTHER.split(asked["does"])[0])
        if word not in {own, *_STATES, *_PLACES, *GENERAL}
    ]
    words = words[:MAX_WORDS]
    if len(words) <= LEAST_OTHERS:
        return ()
    asked = [word_pattern(word) for word in words]
    scans = await scan_patterns(reader, replace(where, include_tests=False), asked, lambda path: not is_lock(path))
    if any(scan.notes for scan in scans):
        return ()
    kept = {word: [each for each in scan.found if begins_word(each)] for word, scan in zip(words, scans, strict=True)}
    kept = {word: found for word, found in kept.items() if found}
    alone = [word for word in kept if _is_alone(word, kept)]
    if not alone or len(kept) <= LEAST_OTHERS:
        return ()
    others = ", ".join(f"`{word}`" for word in kept if word != alone[0])
    said = f"outside of tests, no line within {NEAR} lines of `{alone[0]}` has any of {others}"
    headings = [each for found in sorted(kept.values(), key=len) for each in _headings(found)][:MOST_PLACES]
    listed = "; ".join(f"{each.place} {shown(each.text)[:MAX_HEADING]}" for each in headings)
    return (said, f"headings that are names with one of the words: {listed}") if listed else (said,)


def _is_alone(word: str, kept: dict[str, list[TextMatch]]) -> bool:
    at = {(each.file.path, each.line + by) for each in kept[word] for by in range(-NEAR, NEAR + 1)}
    return not any(
        (each.file.path, each.line) in at for other, found in kept.items() if other != word for each in found
    )


def _headings(found: Sequence[TextMatch]) -> list[TextMatch]:
    return [each for each in found if each.file.is_document and _HEADING.match(each.text)]
