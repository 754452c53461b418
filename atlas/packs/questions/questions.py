"""Questions about a pack: made by rules from its headings, sentences and facts, or read from `eval/questions.jsonl`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import cast

from atlas.core.english.sentences import sentences
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match, NodeRow
from atlas.packs.documentation.pack.manifest import shown
from atlas.packs.documentation.pack.strict_json import load_json
from atlas.packs.questions.texts import properties_of, read_contents
from atlas.packs.questions.values import PackReader
from atlas.parsing import stem_words

FEW_SHOT, HELD_OUT = "few-shot", "held-out"
SENTENCE, HEADING, FACT, HAND = "sentence", "heading", "fact", "hand"
MAX_EACH = 120
"""Questions of one kind; enough for a share within some points, and asked within seconds."""
MOST, MAX_TEXT = 10_000, 2_000
"""Questions that are read, and characters of each of their texts."""
KEPT_WORDS = 0.4
"""Share of the content words of a sentence that its question keeps."""
MIN_WORDS, LEAST_KEPT = 6, 3
"""Words of a sentence of which a question is made, and of the question: two words ask nothing ("Django fixes")."""
_WORD = lazy_regex(r"[A-Za-z](?:\w|[.-]++(?=\w))*+")
_GENERAL = frozenset(
    ("overview", "introduction", "example", "examples", "notes", "note", "usage", "api", "arguments", "attributes",
     "methods", "options", "settings", "see also", "parameters", "returns", "installation", "synopsis", "description",
     "reference", "summary", "details", "misc", "miscellaneous", "features", "bug fixes", "bugfixes", "changes")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class GoldSection:
    """A section that answers: key of the article, with or without its ending, and heading ("" = any)."""

    article: str
    section: str = ""


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question with what a good answer has."""

    id: str
    kind: str
    question: str
    gold: tuple[GoldSection, ...] = ()
    """None: the pack does not answer it."""
    fact: str = ""
    """A regular expression or text that the answer must contain; "" if there is none."""
    split: str = HELD_OUT


def read_questions(text: str) -> list[EvalQuestion]:
    """Return the first `MOST` questions of a JSONL text; lines that are no question are left out.

    Their texts are one line of visible characters, since they are shown and asked.
    """
    found: list[EvalQuestion] = []
    for number, line in enumerate(text.splitlines(), 1):
        if len(found) == MOST:
            break
        try:
            raw = cast("dict[str, object]", load_json(line))
            gold = cast("list[dict[str, str]]", raw.get("gold", []))
            sections = tuple(GoldSection(str(each["article"]), str(each.get("section", ""))) for each in gold)
            question = shown(str(raw["question"]))[:MAX_TEXT]
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        texts = {name: shown(str(raw.get(name, default)))[:MAX_TEXT] for name, default in _defaults(number)}
        found.append(EvalQuestion(texts["id"], texts["kind"], question, sections, texts["fact"], texts["split"]))
    return found


def own_questions(text: str) -> list[EvalQuestion]:
    """Return the questions of a JSONL text that no rule has made."""
    return [each for each in read_questions(text) if each.kind not in (SENTENCE, HEADING, FACT)]


def questions_text(questions: Iterable[EvalQuestion]) -> str:
    """Return questions as JSONL."""
    return "".join(f"{json.dumps(asdict(each), ensure_ascii=False, sort_keys=True)}\n" for each in questions)


async def make_questions(reader: PackReader, most: int = MAX_EACH) -> list[EvalQuestion]:
    """Return questions made by rules, the same for the same pack. Half of them are held out from few-shot examples.

    Of sentences: what is left of one when words are dropped; of headings: the words of heading and article in another
    order; of facts: its subject and kind. At most `most` of each kind.
    """
    paths = sorted(await reader.store.paths(reader.project))
    found: list[EvalQuestion] = []
    for path in paths:
        where = Filter(project=reader.project, labels=(Label.SECTION, Label.CHUNK, Label.FACT))
        nodes = await reader.store.find(path, Match.PATH, where, 5_000)
        content = (await read_contents(reader, [path])).get(path, b"")
        found += _of_article(path, [node.row for node in nodes], content)
    found = _with_all_golds(found)
    chosen: list[EvalQuestion] = []
    for kind in (SENTENCE, HEADING, FACT):
        of_kind = sorted((each for each in found if each.kind == kind), key=lambda each: _hash(each.id))
        chosen += of_kind[:most]
    return sorted(chosen, key=lambda each: (each.kind, each.id))


def _with_all_golds(found: Sequence[EvalQuestion]) -> list[EvalQuestion]:
    """Return each question once, with the sections and facts of all that ask the same: every one of them answers it."""
    same: dict[tuple[str, str], list[EvalQuestion]] = {}
    for each in found:
        same.setdefault((each.kind, each.question.casefold()), []).append(each)
    return [
        replace(
            group[0],
            gold=tuple(dict.fromkeys(gold for each in group for gold in each.gold)),
            fact="|".join(dict.fromkeys(each.fact for each in group if each.fact)),
        )
        for group in same.values()
    ]


def _defaults(number: int) -> tuple[tuple[str, str], ...]:
    return ("id", str(number)), ("kind", HAND), ("fact", ""), ("split", HELD_OUT)


def _of_article(path: str, rows: Sequence[NodeRow], content: bytes) -> Iterator[EvalQuestion]:
    searched = {row.uid.rpartition("/")[0] for row in rows if row.label == Label.CHUNK}
    sections = {row.uid: row for row in rows if row.label == Label.SECTION and row.uid in searched}
    seen: set[str] = set()
    for row in rows:
        section = sections.get(row.uid.rpartition("/")[0])
        if section is None:
            continue
        gold = (GoldSection(path, section.name),)
        if row.label == Label.FACT:
            question = _of_fact(row)
            if question:
                yield _made(FACT, row.uid, question, gold, re.escape(str(properties_of(row).get("value", ""))))
        elif row.label == Label.CHUNK and section.uid not in seen:
            seen.add(section.uid)
            text = content[row.start_byte : row.end_byte].decode("utf-8", "replace")
            question = _of_heading(row)
            if question:
                yield _made(HEADING, row.uid, question, gold)
            question = _of_sentences(sentences(text))
            if question:
                yield _made(SENTENCE, row.uid, question, gold)


def _made(kind: str, uid: str, question: str, gold: tuple[GoldSection, ...], fact: str = "") -> EvalQuestion:
    name = _hash(f"{kind} {uid}")
    split = HELD_OUT if int(name, 16) % 2 else FEW_SHOT
    return EvalQuestion(f"{kind}-{name}", kind, question, gold, fact, split)


def _of_sentences(found: Sequence[str]) -> str:
    """Return a question from the second sentence of prose, or from the only one."""
    prose = [each for each in found if MIN_WORDS <= len(_WORD.findall(each)) <= 30 and "```" not in each]
    if not prose:
        return ""
    words = _WORD.findall(prose[min(1, len(prose) - 1)])
    content = [word for word in words if stem_words(word).strip()]
    if len(content) < MIN_WORDS:
        return ""
    kept = sorted(content, key=lambda word: _hash(f"{word} {prose[0]}"))[: round(len(content) * KEPT_WORDS)]
    asked = list(dict.fromkeys(word for word in words if word in kept))
    return " ".join(asked) if len(asked) >= LEAST_KEPT else ""


def _of_heading(row: NodeRow) -> str:
    """Return the words of the innermost heading and of the article's title; "" for a general heading."""
    headings = row.chunk_name.split(" > ")
    title = headings[-1].strip().lower()
    if len(headings) < 2 or title in _GENERAL or len(_WORD.findall(title)) < 2:
        return ""
    return f"How does {title} work in {headings[0].lower()}?"


def _of_fact(row: NodeRow) -> str:
    said = properties_of(row)
    subject, value = str(said.get("subject", "")), str(said.get("value", ""))
    if not subject or not value or value in subject or len(subject) < 4:
        return ""
    match row.kind:
        case "default":
            return f"What is the default of {subject}?"
        case "deprecated":
            return f"Since which version is {subject} deprecated?"
        case "removed":
            return f"In which version was {subject} removed?"
        case "added":
            return f"Since which version is there {subject}?"
        case "error":
            return f"Which error does {subject} raise?"
        case "limit":
            return f"What is the limit of {subject}?"
        case _:
            return ""


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf8", "surrogatepass"), digest_size=5).hexdigest()
