"""Words of a question that no indexed code has: `is there a websocket helper`, `callers of checkout`.

Hits that merely resemble a question for whether something exists, or for who uses it, would look like a yes; so would
those of a question for how or where something is done that the project does not do. Reads the indexed texts only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from atlas.code.lines.asked_words import topic_words
from atlas.code.lines.scan_texts import scan_patterns
from atlas.code.question.cues import is_relation_word
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.english.stems import root_of
from atlas.core.model import Filter

MOST_WORDS = 16
MOST_NAMED = 2
MOST_PLACES = 3
MIN_LETTERS = 4
_ASKS = re.compile(
    r"^(?:(?:is|are) there|any)\b|^(?:does|do|can|could|has|have) (?:\S+ ){1,3}?"
    r"(?:have|support|offer|provide|include|handle|ship|contain|come with|speak|know|understand|use|work with)\b"
    r"|\bis \S+ supported\b|\bsupport for\b",
    re.IGNORECASE,
)
_USES_OF_ONE = re.compile(
    r"^(?:(?:the |all |any )?"
    r"(?:callers|callees|users|usages|uses|tests|subclasses|implementations|definition) (?:of|for)"
    r"|(?:who|what) (?:calls|uses|invokes|tests|overrides|implements)"
    r"|where is|where are) (?:the )?(?P<word>\w+)(?: (?:called|used|defined|declared|implemented))?[?.! ]*$",
    re.IGNORECASE,
)
_LOOKS_FOR = re.compile(r"(?:where|how|which|what)\b", re.IGNORECASE)
_SAYS_HOW = re.compile(r"\w+(?:ly|ed|ing)")
"""Words that say how something is done rather than what is; people have many that code does not."""
_ENDS = "(?:e|es|ed|er|ers|s|ing|ings|ions?|ors?|able|ment|ation|ations)?"
MOST_ASKED = 25
"""Words of a question for how or where something is done."""
_GENERAL = frozenset(
    """
    helper helpers class classes function functions method methods module modules feature features built built-in
    builtin
    integration integrations implementation implementations backend backends adapter adapters driver drivers client
    clients server servers plugin plugins wrapper wrappers middleware handler handlers parser parsers ship ships shipped
    offer offers provide provides include includes handle handles contain contains anywhere somewhere already still also
    something anything kind sort type types some other another official native first-class mode file files code
    test tests page pages doc docs document documentation example examples
    """.split()  # noqa: SIM905
)


async def find_absent_words(reader: Reader, query: Query, unknown: Sequence[str], where: Filter) -> tuple[str, ...]:
    """Return a line for each word that no indexed code has; () for other questions. Raises store errors.

    `unknown`: the words that the word search does not have. Of a question for how or where something is done only they
    are looked for, and named where no document has them either.
    """
    text, length = query.text, len(query.text.split())
    uses = _USES_OF_ONE.match(text)
    if query.states or query.reports or length > MOST_ASKED:
        return ()
    is_existence = length <= MOST_WORDS and not query.names and (uses is not None or bool(_ASKS.search(text)))
    if is_existence:
        words = [uses["word"]] if uses is not None else list(topic_words(text))
    elif unknown and not query.names and _LOOKS_FOR.match(text):
        words = [word for word in topic_words(text) if _is_thing(word, unknown)]
    else:
        return ()
    words = [word for word in words if len(word) >= MIN_LETTERS and word.lower() not in _GENERAL][:MAX_WORDS]
    if not words:
        return ()
    scans = await scan_patterns(reader, where, [_pattern(word) for word in words])
    said: list[str] = []
    for word, scan in zip(words, scans, strict=True):
        if scan.notes or any(not each.file.is_document for each in scan.found) or (scan.found and not is_existence):
            continue
        places = ", ".join(dict.fromkeys(each.place for each in scan.found[:MOST_PLACES]))
        said.append(f"`{word}` occurs in no indexed code" + (f", only in {places}" if places else " or document"))
    return tuple(said[:MOST_NAMED])


def _is_thing(word: str, unknown: Sequence[str]) -> bool:
    """Return whether a word, or a part of it, is unknown and does not only say how something is done."""
    parts = re.split(r"[-_./]", word)
    says_how = _SAYS_HOW.fullmatch(word) is not None or is_relation_word(word)
    return not says_how and any(part in unknown for part in parts if len(part) > 2)


def _pattern(word: str) -> tuple[re.Pattern[str], tuple[bytes]]:
    """Return what finds a word in its other forms, joined by other signs, and inside of names; and how it begins."""
    parts = [re.escape(part) for part in re.split(r"[-_ ]", word.removesuffix("s"))]
    forms = ["[-_ ]?".join(parts)]
    if word.isalpha():
        forms.append(rf"(?<![a-z]){re.escape(root_of(word))}{_ENDS}(?![a-z])")
    return re.compile("|".join(forms), re.IGNORECASE), (word[:MIN_LETTERS].encode(),)


MAX_WORDS = 4
"""Words that are looked for."""
