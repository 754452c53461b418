"""Clauses that only ask for what one answer about a package says: its versions, its kind, where it is used. Pure.

`What do we need X for, and which version is required?` asks two things of one package. The words decide: a clause that
has no other words than those of packages and names that are known is about the package of the clause beside it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from atlas.code.question.requests.clauses import split_clauses
from atlas.core.lazy_regex import lazy_regex

_SAID_OF_PACKAGES = frozenset(
    """
    allowed permitted accepted specified indirect direct transitive target targets platform platforms version
    versions range ranges bound bounds constraint constraints minimum maximum min max lowest lower upper pinned pin
    locked lock exact require requires required requirement requirements need needs needed demand demands demanded
    depend depends dependency dependencies deps declare declares declared declaration optional mandatory runtime
    run-time production build dev development devdependency devdependencies manifest manifests extra extras group
    groups environment environments import imports imported importing importer importers use uses used using usage
    usages user users call calls called call-site package packages library libraries crate gem module modules file
    files source sources install installs installed installing missing absent noticed raised raises happens code
    product products kind kinds sort scope configuration configurations
    line lines place places repo repository project codebase root tree test tests
    """.split()  # noqa: SIM905
)
_OF_SENTENCES = frozenset(
    """
    a an and any anything anywhere actually also all among are as at be by can did do does directly exactly for from
    here how i in inside into is it its itself just many me of on only or our ours outside really still that the
    their them there these they this those to too was without we what where which who whom why with within below own
    other must not should never could would be been
    """.split()  # noqa: SIM905
)
_SAID_OF_HISTORY = frozenset(
    """
    commit commits change changes pull request pr date day year author replaced replacement replacements replace
    removed dropped gone added put took taken get got end final finally through instead when since by out again
    later first reason once no longer
    """.split()  # noqa: SIM905
)
_WORD = lazy_regex(r"@?\w[\w@./+-]*")
_MANIFEST = lazy_regex(
    r"(?:package\.json|go\.mod|pom\.xml|mix\.exs|gemfile|pyproject\.toml|setup\.(?:py|cfg)|cargo\.toml|composer\.json)",
    re.IGNORECASE,
)
_WITHOUT = lazy_regex(
    r"\b(?:without|missing|absent|optional|mandatory|required?|needed|not installed)\b", re.IGNORECASE
)
_VERSIONS = lazy_regex(
    r"\b(?:versions?|ranges?|bounds?|constraints?|minimum|pinned|locked|require[ds]?)\b", re.IGNORECASE
)
MOST_CLAUSES = 4


def asking_clauses(text: str) -> list[str]:
    """Return the clauses of a text that has several; [] for others."""
    clauses = [clause.text for clause in split_clauses(text)]
    return clauses if 2 <= len(clauses) <= MOST_CLAUSES else []


def words_beside(clause: str, names: Collection[str]) -> list[str]:
    """Return the words of a clause that are neither said of packages in general nor among names in lower case."""
    words = (word.strip("./-") for word in _WORD.findall(clause))
    return [
        word
        for word in words
        if not (word.lower() in _SAID_OF_PACKAGES | _OF_SENTENCES or word.lower() in names or _MANIFEST.fullmatch(word))
    ]


def asks_history_of(package: str, clauses: Sequence[str]) -> bool:
    """Return whether clauses only ask when and how a package came and went: `and by what in the end`."""
    return not any(words_beside(clause, _SAID_OF_HISTORY | {package.lower()}) for clause in clauses)


def question_about(package: str, clauses: Sequence[str]) -> str:
    """Return the question whose answer says all that the clauses ask of a package."""
    without = ", and what happens without it" if any(map(_WITHOUT.search, clauses)) else ""
    version = ", which version range" if any(map(_VERSIONS.search, clauses)) else ""
    return f"what is {package} used for{version}{without}"


def question_about_importers(package: str) -> str:
    """Return the question for who imports a package that no manifest may declare."""
    return f"who imports {package}"
