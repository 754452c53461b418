"""Which words of a clause are verbs, as far as that can be told without a dictionary. Pure."""

from __future__ import annotations

from functools import cache

from atlas.code.question.frames import relation_words

_BASES = frozenset(
    """
    set put read sent built made kept run written get taken take used use need want have work send call decide choose
    go come happen turn pick handle add start stop support look show give depend call import run return
    """.split()  # noqa: SIM905
)
"""Verbs that are seldom the second noun of two: `read` ends `the pager`, `limit` does not end `the size`."""
_ALSO_THIRD = frozenset(
    """
    pull cover ensure slow switch keep raise throw catch guard wrap tell cause prevent protect serve create require
    include implement extend inherit derive define declare save write emit fire publish subscribe consume register
    validate verify reject refuse accept configure enable disable convert translate resolve select skip remove delete
    clean close open connect bind mean exist ship contain own receive fail allow let leave listen hold determine
    """.split()  # noqa: SIM905
)
_NOUNS = frozenset(("uses", "calls", "imports", "reads", "returns", "turns", "runs", "sets", "tests", "needs", "works"))
"""Third persons that are as often nouns: `the calls`."""
_LEAST_ENDING = 4


def ends_nouns(word: str) -> bool:
    """Return whether a word in lower case is a verb behind the nouns of a subject."""
    is_base = word in _BASES or word.removesuffix("s") in _BASES
    return is_base or _ending(word) in _ALSO_THIRD or (word.endswith("ed") and len(word) > _LEAST_ENDING)


def is_third_person(word: str) -> bool:
    """Return whether a word in lower case may be a verb in the third person: `raises`, `catches`, `calls`."""
    return word in _third_persons() or word in _NOUNS or _ending(word) in _BASES | _ALSO_THIRD


def is_base(word: str) -> bool:
    """Return whether a word in lower case is one of the verbs that clauses are about."""
    return word in _BASES


def _ending(word: str) -> str:
    """Return a word without the ending of the third person; "" for one that has none."""
    if not word.endswith("s") or word.endswith("ss"):
        return ""
    short = word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "oes")) else word[:-1]
    return short if short in _BASES or short in _ALSO_THIRD else word[:-1]


@cache
def _third_persons() -> frozenset[str]:
    forms = (form for entry in relation_words() for form in entry.forms.get("third", ()))
    return frozenset(word for form in forms for word in form.split()[:1])
