"""Read a question about packages by what it names: a declared package, an extra or group, or words for dependencies.

The patterns of `package_questions` know whole sentences; here the words may stand in any order, because the index knows
which names are packages, groups and projects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise

from atlas.code.graph.declarations import (
    Declaration,
    major_free,
    names_of,
    normal_name,
    short_name,
)
from atlas.code.question.package_questions import KINDS, PackageAspect, PackageQuestion, read_roles
from atlas.code.question.parse_question import Query
from atlas.core.english.stems import root_of
from atlas.core.lazy_regex import lazy_regex

_DESCRIBING = (
    r"(?!(?:is|are|do|does|which|what|where|who|the|of|in|our|any|versions?|for|to|all|an?)\b)[A-Za-z][\w.+#]*"
)
_DESCRIBED = lazy_regex(
    rf"(?:^|\b(?:the|our|an?|which|what) )(?P<words>{_DESCRIBING}(?: {_DESCRIBING}){{1,4}}?)"
    r" (?:(?:nuget|npm|maven|pip) )?(?:packages?|librar(?:y|ies)|gems?|crates?|dependency)\b",
    re.IGNORECASE,
)
_OF_PURPOSE = lazy_regex(
    r"^(?:which|what) (?P<before>(?:(?!(?:do|does|did|is|are|was|can|will|would|must|should|if|has|have|the|an?"
    r"|this|that|our)\b)"
    r"[\w-]+ ){0,2})(?:package|library|crate|gem|dependency) "
    r"(?P<behind>(?!(?:version|is|are|has|have|needs?|depends?|declares?|holds?|contains?|implements?|exports?|defines?)\b)"
    r".{3,80})",
    re.IGNORECASE,
)
"""`Which crate resolves the file globs`, which names no package."""
_OF_NO_PURPOSE = frozenset(
    """
    with from that this does used uses which what where they them their into have been being code file files source
    package library crate dependency version versions require requires required project repo native main core root
    called declared imported runtime development optional test tests node client server
    """.split()  # noqa: SIM905
)
MIN_INSIDE, MIN_STEM, MIN_LONG = 4, 5, 8
"""Letters of a root inside of a part of a name; those of the beginning of a long word that count as well."""
MIN_DESCRIBED = 5
"""Letters of the words that describe a package."""
_DEPENDENCIES = lazy_regex(
    r"\b(?:dependenc(?:y|ies)|deps|requirements?|third[- ]party|3rd[- ]party|extras|(?<=which )extra|(?<=what )extra"
    r"|gems|crates|hex packages|nuget packages"
    r"|npm packages|pip packages|python packages|go modules|peer deps|libs|dependants)\b",
    re.IGNORECASE,
)
"""Words that can only mean packages."""
_THINGS = lazy_regex(
    r"\b(?:packages?|librar(?:y|ies)|modules?|gems?|crates?|what|which|everything|tools?|plugins?)\b", re.IGNORECASE
)
_NEEDS = lazy_regex(
    r"\b(?:requires?|required|depends?|needs?|needed|pulls? in|brings? in|suggests?|suggested|installed"
    r"|install|installs|installing"
    r"|optional|declare[sd]?|pinned|locked|external|must be installed|rel(?:y|ies) on)\b",
    re.IGNORECASE,
)
_VERSION = lazy_regex(
    r"\b(?:versions?|pinned|locked|constraint|range|release|at least|minimum|up to date|outdated)\b", re.IGNORECASE
)
_USE = lazy_regex(
    r"\b(?:dependenc\w+|depends?|deps?|requires?|required|needs?|needed|import\w*|used?|uses|using"
    r"|rel(?:y|ies) on|declare[sd]?|install\w*"
    r"|packages?|librar(?:y|ies)|gems?|crates?|pulls? in|third[- ]party|brought in|come from|classpath"
    r"|pass(?:es)? (?:\S+ ){1,4}on|pulls? (?:\S+ ){1,4}in|transitive\w*"
    r"|(?:have|has|need|must|got) (?:to )?(?:add|bring|provide|install|ship)|shaded?|shading|relocat\w+|bundled"
    r"|vendored|ship(?:s|ped)? with|re-?exported)\b",
    re.IGNORECASE,
)
_CODE_NOUNS = lazy_regex(
    r"\b(?:functions?|methods?|class(?:es)?|callers?|call(?:s|ed)?|tests?\b.*\bfor|subclass\w*|implement\w*|callees?|inject\w*|parse[sd]?|resolve[sd]?|load(?:s|ed)?|work|works)\b",
    re.IGNORECASE,
)
_USERS = lazy_regex(
    r"\b(?:which|what) (?:of (?:our|the|its|my|these) )?(?:own )?(?:class(?:es)?|functions?|methods?|files?|modules?"
    r"|code|parts?) (?:directly |actually |really )?(?:uses?|touch(?:es)?|imports?|needs?|references?|rel(?:y|ies) on"
    r"|depends? on)\b",
    re.IGNORECASE,
)
"""`Which of our classes touch it` asks who uses a package."""
_WHERE_WE = lazy_regex(
    r"\bwhere(?: exactly| else)? (?:do|does|did|are|is) (?:we|our (?:own )?code|the (?:code|project|library)|it|they)"
    r" (?:\w+ly )?\w+ (?:with |on |to )?[`'\"]?(?P<package>@?[\w./@-]+)"
    r"(?=[`'\"]?(?:[?.! ]*$| (?:in|inside|under|within)\b))",
    re.IGNORECASE,
)
"""`Where do we touch X in lib`, whatever the verb: the package is what it is done to, and nothing more is said."""
_WHICH_FILES = lazy_regex(
    r"\b(?:which|what) (?:of (?:our|the|its|these) )?(?:\w+ ){0,2}?"
    r"(?:files?|modules?|tests?|specs?|suites?|class(?:es)?|scripts?|code|parts?)\b",
    re.IGNORECASE,
)
_IMPORTS_IT = lazy_regex(
    r"\b(?:does|do|is there|are there|which|what)\b[^.?!]{0,80}\b(?:imports?|importing|uses?|using|touch(?:es)?|loads?)"
    r" (?:it|them)\b(?: (?:itself|themselves|directly|at all|anywhere))?[?.! ]*$",
    re.IGNORECASE,
)
"""`X is declared. Does any module import it?`: what is asked of a package that the words before name."""
_MEANS = r"\b(?:by means of|with the help of|by way of|on top of|using|through|via|with) (?:the )?"
_OF_USER = lazy_regex(
    r"\b(?:add|install|bring|declare|provide|needs?|depend on)\b.{0,60}\b(?:himself|itself|themselves|ourselves|myself"
    r"|oneself|yourself|separately|explicitly|manually)\b",
    re.IGNORECASE,
)
"""`Does a user of the jar have to add X himself` asks about X, not for all that the jar needs."""
_BETWEEN = frozenset(("and", "or", "vs", "vs.", "versus", "&", "/", "plus", "the", "+", "with", "to", "between"))
"""Words between the names of packages that are compared or listed."""
_OF_SEVERAL = lazy_regex(
    r"\b(?:vs\.?|versus|difference|instead of|each|both|either|which of|what (?:do|does|is|are)\b.{0,80}\bfor|purpose"
    r"|still (?:needed|used|required|necessary)|needed|used|usages?|modules?|packages?|librar(?:y|ies)|deps"
    r"|dependenc(?:y|ies)|gems?|crates?|redundant|for what|what for|why)(?!\w)",
    re.IGNORECASE,
)
_CHOOSES = lazy_regex(
    r"\bwhich (?:one|of (?:them|these|those|the two)) (?:(?:will|does|would) (?!we\b|i\b)\S+"
    r" (?:take|use|pick|choose|prefer|load)"
    r"|wins|is (?:taken|used|picked|chosen|preferred|loaded)|takes precedence|has precedence|comes first)\b",
    re.IGNORECASE,
)
_OF_BEHAVIOUR = lazy_regex(
    r"\b(?:which|what) (?:default )?(?:folders?|director(?:y|ies)|options?|settings?|hooks?|events?|callbacks?"
    r"|defaults?|errors?|exceptions?|values?|headers?|routes?|urls?)\b"
    r"(?! (?:\w+ )?(?:imports?|uses?|using|depends?|requires?|needs?|references?|declares?)\b)"
    r"|\bwhat happens\b|\b(?:when|if) (?:the |an? )?(?:user|caller|client|app|developer)s? (?!ha(?:s|ve) to\b)\w+",
    re.IGNORECASE,
)
"""`Nuxt module: which folder gets scanned when the user configures nothing`: what the part of that name does."""
_THE_LIBRARY = lazy_regex(
    r"\b(?:the|this|our) (?:library|package)(?=[?.!,;:]|$| (?:itself|do|does|is|was|has|[a-z]+s)\b)", re.I
)
MIN_PART = 3
MOST_APART, MOST_BESIDE = 12, 5
"""Words of a question in which those for needing stand anywhere, and words between them and the package in others."""
MOST_NAMED = 4
"""Packages that one question names beside each other."""
_WHAT_CODE_DOES = lazy_regex(
    r"^(?:where|how|when|why|what happens)\b.{0,80}\b(?:dependenc\w+|deps)\b(?: [\w-]+){0,5}? (?:detected"
    r"|computed|sorted|ordered|runs?|running|executed|checked|reported|handled|collected|walked|traversed|visited|built|created"
    r"|stored|tracked|cached|printed|shown|validated|cancelled|canceled|skipped|evaluated|updated|invalidated|found|fails?"
    r"|failed)\b"
    r"|\b(?:circular|cyclic|recursive) (?:dependenc|deps)|\bdependenc(?:y|ies) (?:cycles?|between|among|injection)\b",
    re.IGNORECASE,
)
"""`Where are dependencies between recipes sorted`: what the program does with its own kind of dependencies."""
_TO_DO = lazy_regex(
    r"\b(?:needed|required|need|require|install\w*|necessary)\b.*\b(?:to|for|by)\b(?: \w+)? ?(?:build\w*"
    r"|run\w*|install\w*|develop\w*|test\w*|lint\w*|compil\w*|generat\w*|doc\w*|the \w+)",
    re.IGNORECASE,
)
_OF_NEEDS = lazy_regex(
    r"\b(?:needs?|needed|requires?|required|depend\w*|uses?|pulls?|brings?|librar\w+|packages?|deps|imports?)\b",
    re.IGNORECASE,
)
_WITH_FILES = lazy_regex(
    r"\b(?:files?|cover|covers|covered|functions?|class(?:es)?|cases?|import\w*|run|runs)\b", re.IGNORECASE
)
"""Tests themselves are asked for."""
_TESTS_NEED = lazy_regex(
    r"\b(?:librar|packages?\b|dependenc|gems?\b|crates?\b|jars?\b|modules?\b|third)\w*.{0,40}"
    r"\btests?(?: suites?| code)? (?:also )?(?:pull|bring|drag|use|need|depend|requir|rely)",
    re.IGNORECASE,
)
"""`What libraries do the tests pull in`: what is declared for tests, not the frameworks that are known by name."""
_OF_PACKAGES = lazy_regex(
    r"\b(?:packages?|librar(?:y|ies)|gems?|crates?|versions?|pinned|declared?|artifacts?|jars?|pulls? in"
    r"|brings? (?:in|along))\b",
    re.IGNORECASE,
)
_INSTALLING = lazy_regex(
    r"\binstall(?:s|ing)? (?:the |gem |package )?[`'\"]?([\w.@/-]{1,100})[`'\"]?\W{0,9}$", re.IGNORECASE
)
"""`What gems do I get when I install NAME`: its own dependencies, if it is this project."""
_AND_IMPORTERS = lazy_regex(
    r"\b(?:who|what|which|where)\b.{0,60}\b(?:imports?|imported|uses?|used)\b"
    r"|\bwhere(?:'s| is| are| do| does)?(?: \w+){0,3} (?:required|requires?|loaded|included)\b"
    r"|\b(?:what|why)\b(?: \S+){0,4} for\b|\bfor what\b"
    r"|\b(?:which|what) (?:of (?:our|the|its) )?(?:own )?(?:files?|modules?|code|class(?:es)?|parts?)\b.{0,40}"
    r"\b(?:reasons?|cause|culprits?|blame|responsible)\b",
    re.IGNORECASE,
)
_OF_GROUP = lazy_regex(
    r"\b(?:extras?|groups?|features?|install\w*)\b|\b(?:needs?|needed|required?)\b.*\b(?:for|to use)\b", re.IGNORECASE
)
"""Words by which a question asks for what an extra or group contains."""
_PLATFORMS = lazy_regex(
    r"\b(?:windows|win32|linux|mac ?os|darwin|osx|unix|wasm\w*|android|ios|freebsd|pypy|cpython|jruby|mri)\b",
    re.IGNORECASE,
)
_WITH_EXTRA = lazy_regex(r"\b([\w.-]+)\[([\w.,\s-]+)\]")
_WORD = lazy_regex(r"@?[\w][\w@./:+-]*")
_TOPICS = {
    "docs": ("docs", "doc", "documentation", "sphinx", "mkdocs"),
    "test": ("tests", "test", "testing", "spec"),
    "lint": ("lint", "linting", "linter", "style", "format", "formatting", "typing", "types", "typecheck"),
    "benchmark": ("bench", "benchmark", "benchmarks"),
    "example": ("examples", "example", "demo"),
    "packaging": ("packaging", "publish", "release"),
}
MAX_WORDS = 28
FEW_WORDS = 6
"""Words of a question for what the project needs that says nothing else."""


def read_package_question(
    query: Query, declared: Sequence[Declaration], *, names_own: bool, defines: bool
) -> PackageQuestion | None:
    """Return the question about packages that a text asks; None for other texts. Pure.

    `names_own`: whether the question asks for a relation of a symbol of the project; `defines`: whether it names a
    definition of the project, of which a package is only the place.
    """
    text = query.text
    if query.states or query.reports or len(text.split()) > MAX_WORDS:
        return None
    if groups := _extras(text, declared):
        return PackageQuestion(PackageAspect.LIST, groups=groups, certain=True)
    if (installed := _INSTALLING.search(text)) is not None and _THINGS.search(text):
        own = {each.project: each for each in declared if not each.folder}
        if normal_name(installed[1]) in {normal_name(name) for name in own}:
            return PackageQuestion(PackageAspect.LIST, project=next(iter(own)), kinds=("runtime",), certain=True)
    if _TESTS_NEED.search(text) and _about_topic("test", declared):
        return PackageQuestion(PackageAspect.LIST, topic="test", certain=True)
    if (roles := read_roles(text)) and not defines and not _WITH_FILES.search(text):
        names = frozenset(name for each in roles.values() for name in each)
        return PackageQuestion(PackageAspect.LIST, names=names, certain=True)
    if _WHAT_CODE_DOES.search(text):
        return None
    is_sure = bool(_DEPENDENCIES.search(text)) and not _CODE_NOUNS.search(text)
    words = [word.strip(".,?!:;") for word in _WORD.findall(text)]
    groups = _groups(text, words, declared)
    if groups and (is_sure or (_OF_GROUP.search(text) and not _CODE_NOUNS.search(text))):
        return PackageQuestion(PackageAspect.LIST, groups=groups, certain=True)
    named = _packages(words, declared)
    if named and _IMPORTS_IT.search(text) is not None:
        return PackageQuestion(PackageAspect.DEPENDENTS, named, certain=True, importers=True)
    if named and defines and not is_sure and not _OF_PACKAGES.search(text):
        return None
    kinds = _kinds(text, words)
    is_of_user = named and _OF_USER.search(text) is not None
    called = (each for each in (named, *words) if _is_of_packages(text) and each and needs_of(each, text))
    if project := next((inner for each in called if (inner := _inner_project(each, declared))), ""):
        return PackageQuestion(PackageAspect.LIST, project=project, kinds=kinds, certain=True)
    if (own := _own_needs(text, words, declared)) and (not is_of_user or normal_name(named) == normal_name(own)):
        return PackageQuestion(PackageAspect.LIST, project=own, kinds=kinds, certain=True)
    if named and (asked := _of_one(text, named)) is not None:
        return asked
    asks_things = bool(_THINGS.search(text)) and bool(_NEEDS.search(text)) and not _CODE_NOUNS.search(text)
    topic = next((name for name, spelled in _TOPICS.items() if set(spelled) & {word.lower() for word in words}), "")
    if names_own and not topic:
        return None
    if not is_sure and not (asks_things and (re.search(r"\b(?:packages?|librar|gems?|crates?|modules?)", text, re.I))):
        return _to_do(text, topic, declared)
    if topic and not (kinds and topic == "test") and _about_topic(topic, declared):
        return PackageQuestion(PackageAspect.LIST, topic=topic, certain=True)
    if kinds == ("optional",) and not any(each.kind == "optional" for each in declared):
        # what composer suggests, for one, is not in the graph: no "none" without proof
        return None
    platform, project = _platform(text, declared), _project(words, declared)
    return PackageQuestion(PackageAspect.LIST, kinds=kinds, project=project, certain=True, platform=platform)


def _of_one(text: str, named: str) -> PackageQuestion | None:
    """Return the question about the one package that a text names; None where it asks neither for use nor version."""
    if len(text.split()) > MOST_APART and not _is_beside(text, named):
        return None
    where_we = _WHERE_WE.search(text)
    is_touched = where_we is not None and normal_name(where_we["package"]) == normal_name(named)
    is_means = _is_means(text, named)
    is_use = is_touched or is_means or _USE.search(text) or _VERSION.search(text) or _USERS.search(text)
    if not is_use or (_CODE_NOUNS.search(_USERS.sub("", text)) and not is_means):
        return None
    if _OF_BEHAVIOUR.search(text) and not (_DEPENDENCIES.search(text) or _VERSION.search(text)):
        return None
    version = re.search(rf"(?<![\w-]){re.escape(named)}[`'\"]? ?@?v?(\d[\w.]*)", text, re.IGNORECASE)
    return PackageQuestion(
        PackageAspect.VERSION if _VERSION.search(text) else PackageAspect.DEPENDENTS,
        named,
        # a namespace of the project may be called like what it adapts
        certain=any(each.search(text) for each in (_DEPENDENCIES, _USERS, _OF_USER)) or is_means,
        version=version[1].rstrip(".") if version is not None else "",
        importers=is_means or _AND_IMPORTERS.search(text) is not None,
    )


def _is_means(text: str, named: str) -> bool:
    """Return whether a text asks which files do something with a package: `which tests stub by means of NAME`."""
    behind = r"(?=[`'\"]?(?:[?.! ]*$|,| (?:in|inside|under|package|library|module)\b))"
    pattern = rf"{_MEANS}[`'\"]?{re.escape(named)}{behind}"
    return _WHICH_FILES.search(text) is not None and re.search(pattern, text, re.IGNORECASE) is not None


def _is_beside(text: str, named: str) -> bool:
    """Return whether a word for needing, importing or versions stands beside a package in a sentence that names it.

    "The library" alone is the project: `MySQL has no limit. What does the library emit?`
    """
    for sentence in re.split(r"(?<=[.?!;]) ", _THE_LIBRARY.sub(" ", text)):
        words = sentence.split()
        for number, word in enumerate(words):
            bare = word.strip("`'\".,?!:;()").lower()
            # `BoltDB` names `raft-boltdb`
            if named.lower() in bare or (len(bare) > MIN_PART and bare in named.lower()):
                around = " ".join(words[max(0, number - MOST_BESIDE) : number + MOST_BESIDE + 1])
                if _USE.search(around) or _VERSION.search(around) or _USERS.search(sentence):
                    return True
    return False


def _own_needs(text: str, words: Sequence[str], declared: Sequence[Declaration]) -> str:
    """Return the name of the project at the root, where a text asks what it needs; "" for others."""
    own = next((each.project for each in declared if not each.folder and each.project), "")
    if not own or _VERSION.search(text) or not any(normal_name(word) == normal_name(own) for word in words):
        return ""
    is_short = len(words) <= FEW_WORDS and re.search(r"\b(?:needs?|requires?|depend\w*)\b", text, re.IGNORECASE)
    return own if needs_of(own, text) and (_is_of_packages(text) or is_short) else ""


def _is_of_packages(text: str) -> bool:
    """Return whether a text has a word for packages or a kind of them; none is what is done with something."""
    plain = re.sub(r"\bto \w+", "", text)  # `which one does NAME use to build the rows`
    is_of_kind = bool(_kinds(plain, _WORD.findall(plain)))
    return is_of_kind or _DEPENDENCIES.search(text) is not None or _OF_PACKAGES.search(text) is not None


def _kinds(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds of dependencies that a text asks for; () for all."""
    parts = [part.lower() for word in words for part in (word, *word.split("-"))]
    kinds = [KINDS[part] for each in parts if (part := each.removesuffix("s")) in KINDS]
    if re.search(r"suggested|optional|extras", text, re.IGNORECASE):
        kinds = ["optional", *kinds] if "peer" in kinds else ["optional"]
    kinds += ["runtime"] if re.search(r"\brun[ -]time\b", text, re.IGNORECASE) else []
    return tuple(dict.fromkeys(kinds))


def _platform(text: str, declared: Sequence[Declaration]) -> str:
    """Return the platform that a text names and some declaration has as a condition; "" for none."""
    said = _PLATFORMS.search(text)
    platform = said[0].lower().replace(" ", "") if said is not None else ""
    return platform if any(is_for(each, platform) for each in declared) else ""


def is_for(each: Declaration, platform: str) -> bool:
    """Return whether the condition of a declaration names a platform, other than to leave it out."""
    return bool(platform) and bool(_conditions(platform).search(f"{each.group} {each.marker}"))


@cache
def _conditions(platform: str) -> re.Pattern[str]:
    spelled = next((each for each in _SPELLINGS if platform in each.split("|")), platform)
    others = "" if "windows" in spelled else r"|not\(\s*windows\s*\)"
    return re.compile(rf"(?<!not\()(?<!!= [\"'])(?<![\w])(?:{spelled})(?![\w]){others}", re.IGNORECASE)


_SPELLINGS = ("windows|win32|mswin|mingw", "macos|darwin|osx|unix", "linux|unix")


def _inner_project(named: str, declared: Sequence[Declaration]) -> str:
    """Return the folder of a project of the repository that has the name; "" for other packages."""
    name = normal_name(named)
    for each in declared if name not in _KINDS_OF_PROJECT else ():
        if each.folder and name in (normal_name(each.project), normal_name(each.folder.rpartition("/")[2])):
            return each.folder
    return ""


def needs_of(named: str, text: str) -> bool:
    """Return whether a text asks what a project needs, not what needs it: `what does NAME need`."""
    kind = "(?: main| core| root| published| released)?"
    pattern = rf"\b(?:does|do|by|of|for)\b(?: the| our)?{kind} [`\"']?{re.escape(named)}\b"
    return re.search(pattern, text, re.IGNORECASE) is not None and _OF_NEEDS.search(text) is not None


def _extras(text: str, declared: Sequence[Declaration]) -> tuple[str, ...]:
    """Return the extras that a text names as `name[extra]`, if one of them is declared."""
    match = _WITH_EXTRA.search(text)
    groups = tuple(each.strip() for each in match[2].split(",")) if match is not None else ()
    return groups if names_of(declared).groups.keys() & {group.lower() for group in groups} else ()


def _to_do(text: str, topic: str, declared: Sequence[Declaration]) -> PackageQuestion | None:
    """Return the question what has to be installed for a purpose: `what is needed to build the docs`."""
    if topic and _TO_DO.search(text) and _about_topic(topic, declared):
        return PackageQuestion(PackageAspect.LIST, topic=topic, certain=True)
    return None


def of_topic(each: Declaration, topic: str) -> bool:
    """Return whether a declaration is for a topic such as `docs`: by its group, its file or the comment above it."""
    spelled = _TOPICS.get(topic, (topic,))
    parts = re.split(r"[\s/_.&,-]+", f"{each.group} {each.path} {each.section} {each.project}".lower())
    return any(part in spelled or root_of(part) in spelled for part in parts)


def _about_topic(topic: str, declared: Iterable[Declaration]) -> bool:
    return any(of_topic(each, topic) for each in declared)


def _groups(text: str, words: Sequence[str], declared: Sequence[Declaration]) -> tuple[str, ...]:
    quoted = {word.lower() for word in words}
    found = [
        group for lowered, group in names_of(declared).groups.items() if lowered in quoted and lowered not in KINDS
    ]
    return tuple(found) if len(found) <= 3 and text else ()


def _packages(words: Sequence[str], declared: Sequence[Declaration]) -> str:
    """Return the declared package that a word names: in full, in two words, or by the last part of its name.

    The name of a kind of project is none: `which gradle modules`.
    """
    words = [word for word, after in pairwise((*words, "")) if not _is_kind(word, after)]
    names = names_of(declared)
    for word in words:
        if len(word) > 1 and (normal_name(word) in names.full) and word.lower() not in _NO_PACKAGES:
            return word
    for first, second in pairwise(words):
        for name in (f"{first}-{second}", f"{first}{second}"):
            if min(len(first), len(second)) > 2 and normal_name(name) in names.full:
                return names.full[normal_name(name)]
    for known in (names.short, names.families):
        for word in words:
            if len(word) > 2 and short_name(word) in known and word.lower() not in _NO_PACKAGES:
                return word
    for word in words[1:]:
        # a name with a capital that one package has as a part: `BoltDB` of `raft-boltdb`
        if len(word) > 2 and not word.islower() and not word.isupper():
            having = [each for each in declared if not each.is_inner and normal_name(word) in name_parts(each.name)]
            having = [each for each in having if each.kind != "indirect"] or having
            if len({major_free(each.name) for each in having}) == 1:
                return having[0].name
    return ""


def packages_beside(query: Query, declared: Sequence[Declaration]) -> tuple[str, ...]:
    """Return the declared packages that a question lists or compares: `javassist vs cglib`; () unless there are two."""
    text = query.text
    if query.states or query.reports or len(text.split()) > MAX_WORDS or _OF_SEVERAL.search(text) is None:
        return ()
    if _CHOOSES.search(text):
        return ()  # what the code decides
    names = names_of(tuple(declared))
    run: list[str] = []
    is_open = False
    for raw in text.split():
        word = raw.strip(".,?!:;()`'\"")
        if word.lower() in _BETWEEN or not word:
            is_open = bool(run)
            continue
        is_known = len(word) > 2 and word.lower() not in _NO_PACKAGES
        is_known = is_known and (
            normal_name(word) in names.full or short_name(word) in names.short or short_name(word) in names.families
        )
        if is_known and (is_open or not run):
            run += [] if word.lower() in map(str.lower, run) else [word]
        elif len(run) > 1:
            break
        else:
            run = [word] if is_known else []
        is_open = raw.endswith(",")
    return tuple(run[:MOST_NAMED]) if len(run) > 1 else ()


def describes_package(text: str) -> bool:
    """Return whether words stand before `package` or one of its kin, which may describe one."""
    return _DESCRIBED.search(text) is not None


def described_package(text: str, declared: Sequence[Declaration]) -> str:
    """Return the one declared package that words before `package` describe: `EF core sql server package`; "" for none.

    Each word is a part of its name, or the first letters of parts that follow each other.
    """
    match = _DESCRIBED.search(text)
    if match is None:
        return ""
    words = [word for word in match["words"].lower().split() if word not in _BETWEEN]
    if len(words) < 2 or sum(map(len, words)) < MIN_DESCRIBED:
        return ""
    own = (each for each in declared if not each.is_inner and each.kind != "indirect")
    having = {major_free(each.name): each.name for each in own if _has_words(each.name, words)}
    return next(iter(having.values())) if len(having) == 1 else ""


def package_of_purpose(text: str, declared: Sequence[Declaration]) -> tuple[str, str]:
    """Return the one declared package whose name has most words of what it is said to do, with them; "" for none.

    `Which crate resolves the file globs`: `tinyglobby`. A name is a hint and no proof, so the answer says the words;
    those before `crate` come first.
    """
    match = _OF_PURPOSE.match(text)
    if match is None:
        return "", ""
    own = {normal_name(each.project) for each in declared}
    inner = {each.project for each in declared if each.folder} | {each.name for each in declared if each.is_inner}
    outer = [each for each in declared if not each.is_inner and each.kind != "indirect"]
    for said in (match["before"].lower(), match["behind"].lower()):
        words = [word for word in re.findall(r"[a-z]{4,}", said) if word not in _OF_NO_PURPOSE and word not in own]
        having = {
            major_free(each.name): (each.name, [word for word in words if _is_in_name(word, each.name)])
            for each in outer
        }
        most = max((len(found) for _, found in having.values()), default=0)
        if any(sum(_is_in_name(word, name) for word in words) >= most for name in inner if most):
            break  # a part of this repository is meant as well
        if best := [(name, found) for name, found in having.values() if most and len(found) == most]:
            return (best[0][0], "` and `".join(best[0][1])) if len(best) == 1 else ("", "")
    return "", ""


def _is_in_name(word: str, package: str) -> bool:
    """Return whether a package's name has a word as a part, its root inside of a part, or a long part of it."""
    root = root_of(word)
    parts = name_parts(package)
    if root in parts or word in parts:
        return True
    stems = (root, word[:MIN_STEM] if len(word) >= MIN_LONG else root)
    return any(len(stem) >= MIN_INSIDE and stem in part for stem in stems for part in parts)


def _has_words(package: str, words: Sequence[str]) -> bool:
    """Return whether a name has each word as a part, or as the first letters of parts beside each other."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", " ", package).lower()
    parts = spaced.split()
    initials = "".join(part[0] for part in parts)
    return all(word in parts or (len(word) > 1 and word in initials and word not in spaced) for word in words)


def name_parts(package: str) -> set[str]:
    """Return the parts of a package's name."""
    return set(re.split(r"[-/.@:_]", normal_name(package)))


def _is_kind(word: str, after: str) -> bool:
    return word.lower() in _TOOLS and _THINGS.fullmatch(after) is not None


_TOOLS = frozenset(
    "gradle maven npm pnpm yarn pip cargo go composer gem nuget sbt bazel mix hex python rust node java".split()  # noqa: SIM905
)
"""Names of tools that say which kind of packages or projects is meant."""
_NO_PACKAGES = frozenset(
    """
    for of in is the what which version package use using test build docs dev run a an and or json http core api common
    """.split()  # noqa: SIM905
)


_KINDS_OF_PROJECT = frozenset(("package", "packages", "project", "projects", "module", "modules", "library", "app"))
"""Words that a folder may be called by, and a question says of any project: `which modules of the package`."""


def _project(words: Sequence[str], declared: Sequence[Declaration]) -> str:
    """Return the project of the repository, other than the whole, that a word names."""
    folders = {each.folder: each for each in declared if each.folder}
    for word in words:
        if word.lower() in _KINDS_OF_PROJECT:
            continue
        for folder, each in folders.items():
            if word.lower() in (folder.lower(), folder.rpartition("/")[2].lower(), each.project.lower()):
                return folder
    return ""
