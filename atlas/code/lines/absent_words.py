"""Words of a question that no indexed code has: `is there a websocket helper`, `callers of checkout`.

Hits that merely resemble a question for whether something exists, or for who uses it, would look like a yes. Reads the
indexed texts only.
"""

from __future__ import annotations

import re

from atlas.code.lines.asked_words import topic_words
from atlas.code.lines.scan_texts import scan_texts
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
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


async def find_absent_words(reader: Reader, query: Query, where: Filter) -> tuple[str, ...]:
    """Return a line for each word that no indexed code has; () for other questions. Raises store errors."""
    text = query.text
    uses = _USES_OF_ONE.match(text)
    if query.states or query.reports or query.names or len(text.split()) > MOST_WORDS:
        return ()
    if uses is None and not _ASKS.search(text):
        return ()
    words = [uses["word"]] if uses is not None else topic_words(text)
    words = [word for word in words if len(word) >= MIN_LETTERS and word.lower() not in _GENERAL]
    said: list[str] = []
    for word in words[:MAX_WORDS]:
        root = word.removesuffix("s")
        parts = map(re.escape, re.split(r"[-_ ]", root))
        scan = await scan_texts(reader, where, re.compile("[-_ ]?".join(parts), re.IGNORECASE), (root[:4].encode(),))
        if any(not each.file.is_document for each in scan.found) or scan.notes:
            continue
        places = ", ".join(dict.fromkeys(each.place for each in scan.found[:MOST_PLACES]))
        said.append(f"`{word}` occurs in no indexed code" + (f", only in {places}" if places else " or document"))
    return tuple(said[:MOST_NAMED])


MAX_WORDS = 4
"""Words that are looked for."""
