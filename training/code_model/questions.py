"""Texts of a package that ask for code in other words than its documentation. Pure.

Titles of tests, prose and lists of changes that name a symbol, comments inside of bodies, and messages in strings. Each
becomes a question; what the answer would give away (the name, the comment, the message) is taken out.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence

from training.code_model.sentences import is_usable
from training.code_model.words import words_of

MIN_WORDS = 3
MAX_CHARACTERS = 160
MAX_NAMES = 2
"""Names in a sentence: one that lists more of them says little about each."""
CALL = re.compile(r"\b([A-Za-z_]\w{3,})\s*(?:::<[^>()]*>)?\(")
FORMS = (
    "how does {} work",
    "how to {}",
    "where is {} handled",
    "where does it {}",
    "what happens when {}",
    "which function {}",
    "find the code that {}",
    "how is {} done",
    "where do we {}",
    "what does the {}",
)
"""Ways to ask. Training with them teaches that such words say nothing about the code."""
ASKED = 0.3
"""Share of the questions that are put in one of the forms."""

_TITLE = re.compile(
    r"""\b(?:it|test|specify|describe|context|scenario|should|[tb]\.Run|test_case|TEST_CASE|SECTION)\s*\(?\s*(["'`])(.{8,160}?)\1"""
)
_QUOTED_NAME = re.compile(r"\bfun\s+`([^`\n]{8,160})`\s*\(")
_TEST_WORDS = frozenset(("test", "tests", "should", "it", "spec", "case"))
_COMMENT = re.compile(r"^\s*(?:#+|//+|--)(?![!@:/])\s?(.*)$")
_STRING = re.compile(r""""((?:[^"\\\n]|\\.){15,200})"|'((?:[^'\\\n]|\\.){15,200})'""")
_HOLES = re.compile(r"%[-+#]?[\d.]*[a-zA-Z]|\$?\{[^{}]*\}|\\.|<[^<>]*>")
_FENCES = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.M | re.S)
_LITERALS = re.compile(r"::[ \t]*\n[ \t]*\n(?:[ \t]+[^\n]*\n|[ \t]*\n)+")
_ROLE = re.compile(r":[a-z:]+:`[~!]?([^`<]*?)(?:\s*<([^`>]*)>)?`")
_NAMED = re.compile(r"`+([^`\n]{3,80})`+|\b([A-Za-z_]\w{2,}(?:(?:\.|::)\w+)*)\(\)")
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.)\s)|\n(?=#)|\n(?===+|--+)")
_LINK = re.compile(r"\[([^\]\n]*)\](?:\([^)\n]*\)|\[[^\]\n]*\])|https?://\S+|#\d+|\(\s*@[\w-]+\s*\)")


def title_words(name: str) -> str:
    """Return the words of a test's name without those that only say that it is a test; "" if too few are left."""
    words = words_of(name)
    while words and words[0] in _TEST_WORDS:
        words = words[1:]
    return " ".join(words) if len(words) >= MIN_WORDS and not words[0].isdigit() else ""


def titles_of(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield line number (from 0) and text of titles that a test gives as a string."""
    for number, line in enumerate(lines):
        match = _TITLE.search(line)
        text = match[2] if match else (_QUOTED_NAME.search(line) or ("", ""))[1]
        plain = re.sub(r"^should\s+", "", " ".join(_HOLES.sub(" ", text).replace("_", " ").split()))
        if len(re.findall(r"[A-Za-z]{2,}", plain)) >= MIN_WORDS and plain.isascii():
            yield number, plain


def prose_of(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield sentences of a page that mark names as code, with these names; the names are taken out."""
    plain = _LITERALS.sub("\n\n", _FENCES.sub("\n\n", text))
    plain = _ROLE.sub(lambda match: f"`{match[2] or match[1]}`", plain)
    for block in _BLOCK.split(plain):
        # Indented blocks are examples; a list item is a sentence
        if re.match(r"\s{4,}\S|\s*[.]{2} |\s*[|+]", block):
            continue
        for sentence in re.split(r"(?<=[.!?:;])\s+", " ".join(block.split())):
            names = [match[1] or match[2] for match in _NAMED.finditer(sentence)]
            if not 0 < len(names) <= MAX_NAMES:
                continue
            asked = _LINK.sub(lambda match: match[1] or " ", _NAMED.sub(" ", sentence))
            asked = " ".join(re.sub(r"[*_|>#]+|^\s*[-+]\s|\(\s*\)", " ", asked).split()).strip(" .,:;-")
            if len(asked) <= MAX_CHARACTERS and is_usable(asked) and len(re.findall(r"[a-z]{4,}", asked)) >= MIN_WORDS + 1:
                yield asked, [simple for name in names if (simple := _simple(name))]


def _simple(name: str) -> str:
    """Return the last part of a qualified name or call, "" if the text is no name."""
    match = re.fullmatch(r"[@&*~!.]*((?:\w+(?:::|\.|#|->))*)(\w{3,})!?(?:<[^>]*>)?(?:\([^()]*\))?", name.strip())
    return match[2] if match and not match[2].isdigit() else ""


def comments_of(lines: Sequence[str]) -> Iterator[tuple[str, list[int]]]:
    """Yield the comments inside of a body, without its first line, and the lines they take."""
    found: list[int] = []
    for number in range(1, len(lines) + 1):
        match = _COMMENT.match(lines[number]) if number < len(lines) else None
        if match:
            found.append(number)
        elif found:
            text = " ".join(" ".join((_COMMENT.match(lines[at]) or ("", ""))[1].split()) for at in found)
            first = re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0].rstrip(".: ")
            if len(first) <= MAX_CHARACTERS and is_usable(first) and not re.search(r"[()]\s*$|^\w+\(|[_<>|]{2}", first):
                yield first, found
            found = []


def messages_of(code: str) -> Iterator[tuple[str, str]]:
    """Yield texts in strings that read like English, and the string as it is written."""
    for match in _STRING.finditer(code):
        plain = " ".join(_HOLES.sub(" ", match[1] or match[2]).split()).strip(" .:,!'\"")
        words = re.findall(r"[a-z]{2,}", plain)
        if len(words) >= MIN_WORDS + 1 and len(words) >= 0.7 * len(plain.split()) and is_usable(plain):
            yield plain, match[0]


def without_names(question: str, names: Sequence[str]) -> str:
    """Return a question without the identifiers in `names`, written as one word or as several."""
    for name in names:
        parts = words_of(name)
        if len(parts) > 1:
            question = re.sub(r"[\s_-]*".join(map(re.escape, parts)), " ", question, flags=re.I)
    return " ".join(question.split())


def ask(question: str) -> str:
    """Return the question, some of them in one of the forms; the same text gives the same form."""
    chance = zlib.crc32(question.encode())
    if chance % 1000 >= ASKED * 1000:
        return question
    return FORMS[(chance // 1000) % len(FORMS)].format(question[:1].lower() + question[1:])


def gives_away(question: str, name: str) -> bool:
    """Whether most words of a question are those of the name: nothing is to be learned from it."""
    words, known = words_of(question), set(words_of(name))
    return sum(word in known for word in words) > 0.6 * len(words)
