"""Sections that sentences refer to by the name of a symbol or by title: a good sentence is evidence for its subject.

Pure. In documentation another text often names the answer in the words of a question: "to avoid a query for each row,
use `select_related()`". In an encyclopedia the second article of a question stands in the sentence of the first one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.questions.texts import Passage

LEAST_NAME, LEAST_TITLE = 3, 9
"""Characters of the name of a symbol, and of a title of several words."""
_SPAN = lazy_regex(r"`([^`\n]{2,80})`")
_PARTS = lazy_regex(r"[.:#]")
_ARGUMENTS = lazy_regex(r"\(.*", re.DOTALL)


def references(passages: Sequence[Passage], sentences: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the best sentence that refers to each section, by uid; sentences of the section itself do not count.

    `passages` are all that are known, `sentences` scores of the sentences of some of them, by uid.
    """
    names, titles = _names(passages)
    found: dict[str, float] = {}
    for passage in passages:
        scores = sentences.get(passage.uid, ())
        if not scores:
            continue
        whole = passage.text.lower()
        said = [title for title in titles if title in whole]
        for (text, _), score in zip(passage.sentences, scores, strict=False):
            targets = [uid for span in _SPAN.findall(text) for uid in names.get(last_name(span), ())]
            if said:
                lower = text.lower()
                targets += [uid for title in said if title in lower for uid in titles[title]]
            for uid in targets:
                if uid != passage.section and score > found.get(uid, 0.0):
                    found[uid] = score
    return found


def last_name(name: str) -> str:
    """Return the last part of a name in lower case: `QuerySet.select_related()` -> select_related."""
    return _PARTS.split(_ARGUMENTS.sub("", name).strip("~!. "))[-1].lower()


def _names(passages: Sequence[Passage]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return the sections by the names of their symbols, and by their titles."""
    names: dict[str, set[str]] = {}
    titles: dict[str, set[str]] = {}
    for passage in passages:
        headings = passage.headings
        for heading in headings[1:]:
            if " " not in heading.strip() and len(name := last_name(heading)) >= LEAST_NAME:
                names.setdefault(name, set()).add(passage.section)
        for title in {headings[-1].lower(), headings[0].lower() if len(headings) == 1 else ""}:
            if len(title) >= LEAST_TITLE and " " in title:
                titles.setdefault(title, set()).add(passage.section)
    return names, titles
