"""Several clauses about one package, as one question: `what do we need X for, and which version is required`.

Also the question about a package that is described by what it is for.
"""

from __future__ import annotations

from collections.abc import Sequence

from atlas.code.graph.declarations import Declaration, names_of, normal_name, read_declarations, short_name
from atlas.code.graph.package_subjects import package_of_purpose
from atlas.code.graph.packages import imported_names
from atlas.code.lines.packages.target_products import target_manifests
from atlas.code.question.package_questions import PackageAspect, PackageQuestion
from atlas.code.question.requests.package_aspects import (
    asking_clauses,
    question_about,
    question_about_importers,
    words_beside,
)
from atlas.code.reader import Reader
from atlas.core.model import Filter

_USUAL = 2
"""Words of the clause that names the package beside those said of packages: `What does X itself take Y for`."""


async def question_of_one_package(reader: Reader, text: str, project: str) -> str:
    """Return the question that all clauses of a text ask of one package; "" for other texts. Raises store errors.

    One clause names a package that the index knows, and no clause has words of anything else, apart from a few in the
    one that names it.
    """
    clauses = asking_clauses(text)
    if not clauses:
        return ""
    declared = await read_declarations(reader, project)
    own = {normal_name(name) for each in declared for name in (each.project, each.folder.rpartition("/")[2])}
    own |= {normal_name(each.name) for each in declared if each.is_inner} | {normal_name(reader.root.name)}
    beside = [words_beside(clause, own) for clause in clauses]
    outer = [each for each in declared if not each.is_inner]
    named = {name: number for number, words in enumerate(beside) for name in _packages(words, outer)}
    named = named or {name: number for number, words in enumerate(beside) for name in _of_extras(words, outer)}
    if not named:
        of_targets = {
            each.name for own in await target_manifests(reader, Filter(project=project)) for each in own.packages
        }
        named = {name: number for number, words in enumerate(beside) for name in words if name in of_targets}
    if len(named) == 1:
        name, at = next(iter(named.items()))
        rest = [word for number, words in enumerate(beside) if number != at for word in words if word != name]
        few = [word for word in beside[at] if word != name]
        return question_about(name, clauses) if not rest and len(few) <= _USUAL else ""
    if not named and not any(word for words in beside[1:] for word in words):
        return clauses[0] if package_of_purpose(clauses[0], declared)[0] else ""
    words = {word for each in beside for word in each}
    if not named and len(words) == 1 and (name := words.pop()) in await imported_names(reader, project):
        return question_about_importers(name)
    return ""


async def question_of_purpose(reader: Reader, text: str, project: str) -> PackageQuestion | None:
    """Return the question about the package that the words of a question for one describe; None for others."""
    name, words = package_of_purpose(text, await read_declarations(reader, project))
    if not name:
        return None
    return PackageQuestion(PackageAspect.VERSION, name, certain=True, importers=True, by_word=words)


def _of_extras(words: Sequence[str], declared: Sequence[Declaration]) -> list[str]:
    """Return the package of each extra that has no other one: `SOCKS proxies: which extra must be installed`."""
    found: list[str] = []
    for word in words:
        of_extra = {each.name for each in declared if each.kind == "optional" and each.group.lower() == word.lower()}
        found += of_extra if len(of_extra) == 1 else ()
    return found


def _packages(words: Sequence[str], declared: Sequence[Declaration]) -> list[str]:
    names = names_of(tuple(declared))
    return [word for word in words if normal_name(word) in names.full or short_name(word) in names.short]
