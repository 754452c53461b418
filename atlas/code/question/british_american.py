"""British and American spellings of a word: `colour` and `color`, `serialise` and `serialize`. Pure.

Questions and code seldom agree on one, and the index stores words as they are written. Abbreviations (`db` for
`database`) are no part of this: searching for them as well found as much as it lost (docs/measurements/search.md).
"""

from __future__ import annotations

import re

_PAIRS = (
    (re.compile(r"^(col|behavi|fav|flav|hon|neighb|harb|lab)our"), r"\1or"),
    (re.compile(r"^(col|behavi|fav|flav|hon|neighb|harb|lab)or(?!ator)"), r"\1our"),
    (re.compile(r"([a-z]{3})is(e|ed|es|er|ers|ing|ation|able)$"), r"\1iz\2"),
    (re.compile(r"([a-z]{3})iz(e|ed|es|er|ers|ing|ation|able)$"), r"\1is\2"),
    (re.compile(r"^(anal|paral)ys(e|ed|es|er|ers|ing)$"), r"\1yz\2"),
    (re.compile(r"^(anal|paral)yz(e|ed|es|er|ers|ing)$"), r"\1ys\2"),
    (re.compile(r"^(cent|met|lit)re(s?)$"), r"\1er\2"),
    (re.compile(r"^(cent|met|lit)er(s?)$"), r"\1re\2"),
    (re.compile(r"^(cancel|label|model|signal|channel)l(ed|ing|er)$"), r"\1\2"),
    (re.compile(r"^(cancel|label|model|signal|channel)(ed|ing|er)$"), r"\1l\2"),
    (re.compile(r"^(catal|dial|anal)ogue(s?)$"), r"\1og\2"),
    (re.compile(r"^(catal|dial|anal)og(s?)$"), r"\1ogue\2"),
    (re.compile(r"^(lic|def|off)ence"), r"\1ense"),
    (re.compile(r"^(lic|def|off)ense"), r"\1ence"),
    (re.compile(r"^grey"), "gray"),
    (re.compile(r"^gray"), "grey"),
)


def other_spellings(word: str) -> list[str]:
    """Return the other spellings of a lower-case word; some are none, which costs nothing."""
    return [pattern.sub(other, word) for pattern, other in _PAIRS if pattern.search(word)]
