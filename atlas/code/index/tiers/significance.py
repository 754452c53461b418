"""The significance gate between tier 2 and tier 3: is a symbol's change worth a new vector soon? Pure.

Digests and texts of a symbol before and after come in, a decision with its reason goes out. A stopped change is
deferred: its chunk stays stale in the store, and the next scan of the whole project embeds it. Vectors therefore end
equal to a clean index's (I1), while reformatting a tree or editing comments causes no immediate embedding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Decision, SymbolDigests

BODY_THRESHOLD = 0.05
"""Share of a body's words that must differ, one word in twenty: below it a vector hardly changes."""

_WORD = lazy_regex(r"\w+|[^\w\s]")

Texts = Callable[[], tuple[str, str]]
"""() -> the symbol's text before and after; called only if digests do not decide."""


def decide(
    uid: str, old: SymbolDigests | None, new: SymbolDigests | None, texts: Texts, threshold: float = BODY_THRESHOLD
) -> Decision | None:
    """Return the decision on a change; None if the embedded text did not change or there is none.

    | change | decision | reason |
    | white space only | stop | layout |
    | comment that is not a docstring | stop | comment |
    | docstring | through | docstring |
    | body, share of words changed > threshold | through | body |
    | body, share of words changed <= threshold | stop | small-body |
    | signature | through | signature |
    | symbol added, deleted | through | added, deleted |
    """
    if old is None or new is None:
        embedded = (old or new or _NONE).chunk
        return Decision(uid, True, "added" if old is None else "deleted") if embedded else None
    if old.chunk == new.chunk:
        return None
    if old.signature != new.signature:
        return Decision(uid, True, "signature")
    if old.docstring != new.docstring:
        return Decision(uid, True, "docstring")
    before, after = texts()
    if old.body != new.body:
        through = changed_share(before, after) > threshold
        return Decision(uid, through, "body" if through else "small-body")
    if before == after:
        # same text, other name field: the enclosing file or class was renamed
        return Decision(uid, True, "signature")
    same = "".join(before.split()) == "".join(after.split())
    return Decision(uid, False, "layout" if same else "comment")


def changed_share(before: str, after: str) -> float:
    """Return the share, 0..1, of words and signs of the longer text that the other lacks.

    Counts them as bags (1 - overlap / max length): comparing order is quadratic, and the embedder ignores it.
    """
    old, new = Counter(_WORD.findall(before)), Counter(_WORD.findall(after))
    longer = max(old.total(), new.total())
    return 1 - (old & new).total() / longer if longer else 0.0


_NONE = SymbolDigests("", "", "", "", "")
