"""What kind of question it is: the ordered list `ANSWERERS`, of which the first that answers decides.

A question that none answers is searched as text. Reads the graph, the packages and the version history only.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import takewhile

from atlas.code.changes.changes import ChangeAnswer, answer_changes, asks_history
from atlas.code.changes.commit_history import answer_commits, answer_without_history
from atlas.code.changes.former_names import answer_former_name
from atlas.code.changes.history_words import asks_for_commits
from atlas.code.changes.package_history import answer_package_history
from atlas.code.changes.value_history import answer_value_history
from atlas.code.graph.absence.lines_of_names import with_lines_of_name
from atlas.code.graph.absence.name_lines import find_name_lines
from atlas.code.graph.absence.own_members import with_own_members
from atlas.code.graph.absence.tests_of_values import with_tests_of_value
from atlas.code.graph.answer_relation import UNANSWERED, answer_relation
from atlas.code.graph.answer_scope import spelled_scope
from atlas.code.graph.declarations import major_free, normal_name, read_declarations, short_name
from atlas.code.graph.http_routes import answer_called, answer_events, answer_routes
from atlas.code.graph.package_subjects import (
    described_package,
    describes_package,
    needs_of,
    packages_beside,
    read_package_question,
)
from atlas.code.graph.packages import PackageReport, is_own
from atlas.code.graph.paths.call_path import in_call_order
from atlas.code.graph.paths.commands import asks_what_runs, find_command, started_by
from atlas.code.graph.paths.described import answer_described_path
from atlas.code.graph.quoted_lines import (
    asks_what_is_passed,
    asks_when,
    made_together,
    only_catching,
    quote_lines,
    quote_places,
    quote_steps,
    with_callers_of_raisers,
)
from atlas.code.graph.relation import EdgeAnswer
from atlas.code.graph.remaining_words import RemainingWords, apply_remaining, read_remaining
from atlas.code.graph.subjects import Subjects, count_inside, held_by_file, qualify
from atlas.code.graph.targets import Targets
from atlas.code.graph.unions import answer_both
from atlas.code.graph.untested import add_named_tests, find_untested
from atlas.code.graph.unused import find_unused
from atlas.code.lines.absent.words import find_absent_options
from atlas.code.lines.assigned.fields import answer_field_uses
from atlas.code.lines.assigned.members import answer_members
from atlas.code.lines.bounds import answer_compared
from atlas.code.lines.build_files import answer_build_files, answer_manifest_lines, answer_submodules
from atlas.code.lines.caught import answer_caught
from atlas.code.lines.environment import answer_environment
from atlas.code.lines.flag_values import answer_flag_use
from atlas.code.lines.flags import answer_flags
from atlas.code.lines.flags_in_words import answer_flag_in_words
from atlas.code.lines.line_report import LineReport
from atlas.code.lines.packages.artifacts import answer_about_packages
from atlas.code.lines.packages.local_patches import answer_local_patches
from atlas.code.lines.packages.one_package import question_of_purpose
from atlas.code.lines.packages.package_features import narrowed_by_feature
from atlas.code.lines.packages.package_lines import lines_about_package, narrowed_by_words
from atlas.code.lines.packages.published import answer_published
from atlas.code.lines.packages.target_products import answer_target_products, package_of_targets
from atlas.code.lines.properties import answer_properties
from atlas.code.lines.releases import answer_releases
from atlas.code.lines.settings import answer_settings
from atlas.code.lines.versions import answer_versions, asks_twice
from atlas.code.question.client_forms import read_client_question
from atlas.code.question.cues import asks, find_act, find_near
from atlas.code.question.further_parts import (
    asks_choice,
    asks_for_inheriting,
    asks_of_each,
    asks_reasons,
    further_parts,
    own_member,
)
from atlas.code.question.grammar import MAX_RELATION_CHARACTERS, is_negated, stated_before
from atlas.code.question.names import is_code_shaped
from atlas.code.question.package_questions import PackageAspect, PackageQuestion, find_package_question
from atlas.code.question.parse_question import Query, asks_for_quoted, asks_for_tests, route
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.question.requests.ends import read_path_ends
from atlas.code.question.requests.several import package_part
from atlas.code.question.route_forms import read_route_question
from atlas.code.question.written_names import NameShape
from atlas.code.reader import Reader, SearchStep
from atlas.code.retrieve.titled_tests import answer_titled_tests
from atlas.core.errors import AtlasError
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label

_HEADING = lazy_regex(r"[A-Z][a-z]+(?:(?: [A-Z][a-z]+){1,4}|(?: (?!of |for |to |in |by )[a-z]+){1,2})$")
"""Words as in a heading: "Test Client", "Template Inheritance", "Running tests"."""
_PROPER_NAME = lazy_regex(r"(?<=[a-z] )[A-Z][a-z]+(?: [A-Z][a-z]+)+\b(?!\()")
"""A name of two words inside of a sentence: `in Visual Studio`."""
_OF_ENGLISH = frozenset((Kind.TESTS, Kind.USAGES, Kind.USES, Kind.DEFINITION, Kind.MEMBERS, Kind.DEPENDENTS))
"""Relations whose words are English: `testing client` may name no symbol at all."""
_CALLABLE = frozenset((Label.FUNCTION, Label.METHOD))
_DEFINED = frozenset((Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE))
_ASKS_FOR = lazy_regex(r"\b(?:of|for|what|which|who|where|when|is|are|does|do|has|have)\b", re.IGNORECASE)
"""Words of which a question has one, and a phrase of two words has none."""
MOST_ENDS, MOST_NEAR = 2, 3
"""Names of a question that a relation is answered for, and suggestions for a misspelled end of a path."""
_LINE_ANSWERS: tuple[Callable[[Reader, Query, Filter], Awaitable[LineReport | None]], ...] = (
    answer_titled_tests,
    answer_members,
    answer_local_patches,
    answer_caught,
    answer_environment,
    answer_properties,
    answer_versions,
    answer_releases,
    answer_flag_use,
    answer_flag_in_words,
    answer_flags,
    answer_settings,
    answer_compared,
    answer_field_uses,
)
"""Answers that are lines of texts: the first that knows its kind of question counts."""
_AS_PACKAGE = lazy_regex(
    r"^(?:(?:is|are|does|do|who|what|where(?:'s| is| are)?|which(?: files?| modules?| code)?|why)\b.{0,40}?)"
    r"\b(?P<name>[`'\"]?[\w@][\w@/.:-]*[`'\"]?) (?:package|library|dependency|gem|crate|npm module)\b"
    r"(?=.*\b(?:used?|uses|using|import\w*|requir\w*|need\w*|depend\w*|declared?|installed|optional|for|necessary)\b)",
    re.IGNORECASE,
)
_BEHIND_PACKAGE = lazy_regex(
    r"\b(?:package|library|dependency|gem|crate|npm module) [`'\"]?(?P<name>[\w@][\w@/.:-]{0,200})", re.IGNORECASE
)
_OF_USE = lazy_regex(
    r"\b(?:used?|uses|using|import\w*|requir\w*|need\w*|depend\w*|declared?|installed|optional|for|necessary)\b",
    re.IGNORECASE,
)
"""With the name of a package behind its kind: `what does it use the package X for`."""
_AND_VERSION = lazy_regex(
    r"(?:\b(?:and|in)|[,;:-]) (?:what |which |its )?version\b|^(?:which|what) version\b", re.IGNORECASE
)
_WHICH_PROJECT = lazy_regex(r"\b(?:which|what) (?:sub-?)?(?:projects?|modules?|manifests?)\b", re.IGNORECASE)
_OF_VERSIONS = lazy_regex(
    r"^which versions?\b|\bversions? of\b|\b(?:added|removed|dropped|introduced)\b", re.IGNORECASE
)
MAX_COORDINATED = 6
"""Packages that one question names."""
_SUBMODULES = lazy_regex(
    r"\bgit sub-?modules?\b|^(?:which|what|list|show|are there)\b.{0,60}\bsub-?modules\b[?.! ]*$", re.IGNORECASE
)
"""Projects that git checks out inside of this one."""
_DEPENDED_ON = lazy_regex(
    r"\b(?:depends?|relies|rely) on (?:the |our )?[`'\"]?(?P<name>[A-Za-z_][\w.]*)", re.IGNORECASE
)
_ASKS_ORDER = lazy_regex(
    r"\b(?:in (?:what|which) (?:order|sequence)|(?:order|sequence) of (?:the |its )?(?:calls|steps)|call order"
    r"|in (?:order|sequence)(?= |,|$|\?)(?! to\b)|step by step)",
    re.IGNORECASE,
)
_NO_ENDS = ("no way between symbols that the question is certain to mean: searched as text",)
_OFTEN_IN_WORDS = frozenset((Kind.DOCS, Kind.TESTED))
"""Relations that texts often state without a reference: a page about a class that has two declarations."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question as the answerers see it."""

    text: str
    query: Query
    where: Filter
    subjects: Subjects = field(default_factory=Subjects)
    is_stated: bool = False
    """Whether the caller states the relation instead of leaving it to the words."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What an answerer says about its kind of question."""

    answer: EdgeAnswer | ChangeAnswer | PackageReport | LineReport | None = None
    """None where the question has to be searched as text."""
    notes: tuple[str, ...] = ()
    """Why it has to be."""
    yields: bool = False
    """Whether the next answerer may know better: a name without routes may be an event."""
    by: str = ""
    """Name of the answerer."""


async def answer_question(reader: Reader, asked: AskedQuestion) -> Answered:
    """Return the first answer of `ANSWERERS`; none with a note when the store cannot be read."""
    waiting: Answered | None = None
    try:
        for each in ANSWERERS:
            answered = await each.run(reader, asked) if reader.ranking.has(each) else None
            if answered is not None and not answered.yields:
                return replace(answered, by=each.name)
            if waiting is not None:
                return waiting
            waiting = replace(answered, by=each.name) if answered is not None else None
    except AtlasError as error:
        relation = asked.query.relation
        about = f"{relation.kind} of `{relation.name}`" if relation else "routes and events"
        return Answered(notes=(f"{about} could not be read: {error.message}",))
    return waiting or Answered()


async def _lines(reader: Reader, asked: AskedQuestion) -> Answered | None:
    asks_git = asks_for_commits(asked.query) and reader.history is not None
    asks_message = asks_for_quoted(asked.query.text)
    if not asks_git and (
        await _named_as_package(reader, asked) or await package_of_targets(reader, asked.query, asked.where)
    ):
        return None  # `is the inotify package required to run with --reload`
    for answer in _LINE_ANSWERS:
        if asks_git and answer in (answer_flag_use, answer_flags, answer_settings, answer_compared):
            continue  # who declared a flag or an option, and when
        if asks_message and answer is not answer_caught:
            continue
        if answer is answer_settings and asked.query.relation is not None and asked.query.relation.kind == Kind.TESTS:
            continue  # `which tests cover the limit setting`
        if answer is answer_releases and asks_for_tests(asked.query):
            continue  # `which tests check that it is evaluated when a dependency changes`
        if (found := await answer(reader, asked.query, asked.where)) is not None:
            return Answered(found)
    return None


async def _shell_command(reader: Reader, asked: AskedQuestion) -> Answered | None:
    if asked.is_stated or not asks_what_runs(asked.query.text):
        return None
    command = await find_command(reader, asked.query.text, asked.where.project)
    if command is None:
        return None
    node = await started_by(reader, command, asked.where.project)
    title = f"command `{command.name}`, declared in {command.declared}"
    if node is None:
        return Answered(notes=(f"{title}, which no indexed symbol or file is",))
    row = node.row
    intent = RelationIntent(Kind.CALLEES, row.uid, certain=True)
    found = await answer_relation(reader, intent, asked.where)
    title = f"{title}, runs {row.kind} {row.qualified_name} {row.path}:{row.line or row.start_line}"
    if found is None or not found.related:
        return Answered(EdgeAnswer(intent, Targets(row.name, ()), title=title))
    return Answered(replace(await in_call_order(reader, found), title=f"{title}, which calls"))


async def _package_history(reader: Reader, asked: AskedQuestion) -> Answered | None:
    found = None if asked.is_stated else await answer_package_history(reader, asked.query, asked.where)
    return Answered(found) if found is not None else None


async def _commits(reader: Reader, asked: AskedQuestion) -> Answered | None:
    found = await answer_former_name(reader, asked.query, asked.where)
    found = found or await answer_value_history(reader, asked.query, asked.where)
    found = found or await answer_commits(reader, asked.query, asked.where)
    if found is None and asks_for_commits(asked.query):
        found = await answer_flags(reader, asked.query, asked.where)
        found = found or await answer_settings(reader, asked.query, asked.where)
    return Answered(found) if found is not None else None


async def _changes(reader: Reader, asked: AskedQuestion) -> Answered | None:
    intent = asked.query.relation
    if intent is None or not asks_history(intent, asked.text):
        return None
    found = await answer_changes(reader, intent, asked.text, asked.where)
    if found.problem:
        today = await answer_without_history(reader, asked.query, asked.where, found.problem, found.hint)
        return Answered(today if today.lines else found)
    return Answered(found)


async def _packages(reader: Reader, asked: AskedQuestion) -> Answered | None:
    whole = asked.query.text
    found = await _about_packages(reader, asked, whole)
    if found is None and (part := package_part(whole)):
        query = route(part, reader.split_words, reader.languages)
        found = await _about_packages(reader, replace(asked, text=part, query=query), whole)
    return found


async def _about_packages(reader: Reader, asked: AskedQuestion, whole: str) -> Answered | None:
    """Answer a question about packages; `whole` is the text of which it may be a part."""
    if _is_long(asked) or asks_twice(asked.query.text) or asks_for_quoted(asked.query.text):
        return None
    if _SUBMODULES.search(asked.query.text) and (found := await answer_submodules(reader, asked.where)) is not None:
        return Answered(found)
    for answer in (answer_published, answer_target_products):
        if (lines := await answer(reader, asked.query, asked.where)) is not None:
            return Answered(lines)
    question = find_package_question(asked.query.text) or find_package_question(package_part(asked.query.text))
    if _about_all(asked, Kind.UNUSED) is not None and (question is None or question.asks != PackageAspect.UNUSED):
        return None  # `which exceptions does the package never raise`
    try:
        if name := await _named_as_package(reader, asked):
            of_version = _AND_VERSION.search(asked.query.text) and not _WHICH_PROJECT.search(asked.query.text)
            wanted = PackageAspect.VERSION if of_version else PackageAspect.DEPENDENTS
            question = PackageQuestion(wanted, name, certain=True, importers=True)
        elif question is None or not question.package:
            question = await question_of_purpose(reader, asked.query.text, asked.where.project) or question
        found = await answer_about_packages(reader, question, asked.where) if question is not None else None
        if found is None and (found := await _packages_by_name(reader, asked)) is None:
            found = await _packages_beside(reader, asked)
        if found is None:
            return None
    except AtlasError:
        return None
    package = found.question.package
    found = await _with_coordinated(reader, asked, found) if package else found
    if package and not found.every and found.question.project:  # another project may be called so, too
        elsewhere = await answer_about_packages(reader, replace(found.question, project=""), asked.where)
        found = elsewhere if elsewhere is not None and elsewhere.every else found
    if package and not found.every and (named := await answer_manifest_lines(reader, package, asked.where)):
        return Answered(named)
    if not found.declared and (built := await answer_build_files(reader, asked.query, asked.where)) is not None:
        return Answered(built)
    is_known = bool(found.every and found.question.kinds and not found.question.groups)
    if not found.declared and not found.question.package and not is_known:
        return None  # no manifest that the index reads declares anything: build files and documents may say it
    found = await narrowed_by_feature(reader, asked.query.text, found, asked.where)
    found = await narrowed_by_words(reader, asked.query.text, found)
    beside = await lines_about_package(reader, whole, found, asked.where)
    return Answered(replace(found, beside=tuple((each.group, each.place, each.text) for each in beside)))


def _is_long(asked: AskedQuestion) -> bool:
    """Return whether a text is longer than questions for packages and relations are."""
    return len(asked.query.text) > MAX_RELATION_CHARACTERS


async def _named_as_package(reader: Reader, asked: AskedQuestion) -> str:
    """Return the declared package that a question names as such: `who imports the redis package`; "" for none."""
    if _is_long(asked):
        return ""
    named, behind = _AS_PACKAGE.search(asked.query.text), _BEHIND_PACKAGE.search(asked.query.text)
    if named is None and behind is None and not describes_package(asked.query.text):
        return ""
    declared = await read_declarations(reader, asked.where.project)
    if behind is not None and _OF_USE.search(asked.query.text):
        name = behind["name"].rstrip(".,:/-")
        if normal_name(name) in {normal_name(each.name) for each in declared}:
            return name
    if described := described_package(asked.query.text, declared):
        return described
    if named is None or _OF_VERSIONS.search(asked.query.text):
        return ""
    name = named["name"].strip("`'\"")
    known = {
        known
        for each in declared
        if not each.is_inner
        for own in (each.name, each.package)
        if own
        for known in (normal_name(own), short_name(own))
    }
    if normal_name(name) in known:
        return name
    if normal_name(name) in {normal_name(each.project) for each in declared}:
        return ""  # `what does the Dapper package pull in`: a project of the repository
    if needs_of(f"{name} package", asked.query.text):
        return ""  # what that package needs, not what needs another one whose name has the word
    having = [each for each in declared if not each.is_inner and normal_name(name) in _parts(each.name)]
    having.sort(key=lambda each: each.kind == "indirect")
    is_one = len({major_free(each.name) for each in having}) == 1
    return having[0].name if is_one else ""  # `which msgpack library`: the one of that word


def _parts(package: str) -> set[str]:
    return set(re.split(r"[-/.@:]", normal_name(package)))


async def _with_coordinated(reader: Reader, asked: AskedQuestion, found: PackageReport) -> PackageReport:
    """Add the other packages that the question lists with this one to the report: `rxjs and wonka`."""
    declared = await read_declarations(reader, asked.where.project)
    names = packages_beside(asked.query, declared)
    if found.question.package in names:
        return await _with_others(reader, asked, found, [each for each in names if each != found.question.package])
    package = re.escape(found.question.package)
    behind = re.search(rf"(?<!\S){package}((?:(?:,| and| or) \S+)+)", asked.query.text, re.IGNORECASE)
    listed = re.split(r"(?:,| and| or) ", behind[1])[1:MAX_COORDINATED] if behind is not None else []
    known = {normal_name(name) for each in declared for name in (each.name, each.package) if name}
    listed = [each.strip("`'\".,?!:;()") for each in listed]
    return await _with_others(reader, asked, found, takewhile(lambda name: normal_name(name) in known, listed))


async def _packages_beside(reader: Reader, asked: AskedQuestion) -> PackageReport | None:
    """Return the report about the packages that a question lists or compares: `what are xxh3 and hashstructure for`."""
    names = packages_beside(asked.query, await read_declarations(reader, asked.where.project))
    if not names:
        return None
    first = PackageQuestion(PackageAspect.DEPENDENTS, names[0], certain=True)
    return await answer_about_packages(reader, first, asked.where)


async def _with_others(
    reader: Reader, asked: AskedQuestion, found: PackageReport, names: Iterable[str]
) -> PackageReport:
    """Return a report about further packages as well."""
    for name in names:
        about = replace(found.question, package=name, certain=True, version="")  # a version is that of one of them
        other = await answer_about_packages(reader, about, asked.where)
        if other is not None and other.package:
            found = replace(
                found,
                package=f"{found.package} and {other.package}",
                declared=(*found.declared, *other.declared),
                importing=tuple(dict.fromkeys((*found.importing, *other.importing))),
                every=(*found.every, *other.every),
                uids=(*found.uids, *other.uids),
            )
    return found


async def _packages_by_name(reader: Reader, asked: AskedQuestion) -> PackageReport | None:
    declared = await read_declarations(reader, asked.where.project)
    intent = asked.query.relation
    depended = _DEPENDED_ON.search(asked.query.text)
    if depended is not None and await is_own(reader, depended["name"], asked.where):
        known = {normal_name(name) for each in declared for name in (each.name, each.package)}
        if normal_name(depended["name"]) not in known:
            return None  # `what depends on the unwrap utility`
    names_own = any(each.is_own and each.written.shape >= NameShape.CODE for each in asked.subjects.found)
    names_own = names_own or (intent is not None and intent.certain and await is_own(reader, intent.name, asked.where))
    defines = names_own and intent is not None and is_code_shaped(intent.name)
    defines = defines or any(
        each.is_own and each.written.shape >= NameShape.CODE and any(t.node.row.label in _DEFINED for t in each.targets)
        for each in asked.subjects.found
    )
    question = read_package_question(asked.query, declared, names_own=names_own, defines=defines)
    if question is not None and question.asks == PackageAspect.LIST and await _asks_importers(reader, asked):
        return None
    return await answer_about_packages(reader, question, asked.where) if question is not None else None


async def _asks_importers(reader: Reader, asked: AskedQuestion) -> bool:
    """Return whether a question asks what imports a module of the project: `which modules require is-stream`."""
    question = find_package_question(asked.query.text)
    if question is None or question.asks != PackageAspect.DEPENDENTS:
        return False
    return is_code_shaped(question.package) or await is_own(reader, question.package, asked.where)


async def _routes(reader: Reader, asked: AskedQuestion) -> Answered | None:
    intent = asked.query.relation
    if asked.query.phrases and not asks(asked.query.text):
        return None  # a message may name a path
    question = read_route_question(asked.query.text, intent)
    found = await answer_routes(reader, question, intent, asked.where) if question is not None else None
    return Answered(found, yields=not found.related) if found is not None else None


async def _clients(reader: Reader, asked: AskedQuestion) -> Answered | None:
    question = read_client_question(asked.query.text)
    found = await answer_called(reader, question, asked.where) if question is not None else None
    return Answered(found) if found is not None else None


async def _events(reader: Reader, asked: AskedQuestion) -> Answered | None:
    found = await answer_events(reader, asked.query.text, asked.where)
    return Answered(found) if found is not None else None


async def _unused(reader: Reader, asked: AskedQuestion) -> Answered | None:
    intent = _about_all(asked, Kind.UNUSED)
    return _checked(asked, intent, await find_unused(reader, intent, asked.where)) if intent is not None else None


async def _untested(reader: Reader, asked: AskedQuestion) -> Answered | None:
    intent = _about_all(asked, Kind.UNTESTED)
    return _checked(asked, intent, await find_untested(reader, intent, asked.where)) if intent is not None else None


async def _described_path(reader: Reader, asked: AskedQuestion) -> Answered | None:
    ends = None if asked.is_stated or asked.query.phrases else read_path_ends(asked.query.text)
    read = asked.query.relation
    if ends is None or not (ends.are_described or read is None or read.kind != Kind.PATH):
        return None
    found = await answer_described_path(reader, ends, asked.where, asked.query.text)
    return Answered(await quote_steps(reader, found)) if found is not None else Answered(notes=_NO_ENDS)


async def _both(reader: Reader, asked: AskedQuestion) -> Answered | None:
    intent = asked.query.relation
    if intent is None or not intent.other or intent.kind == Kind.PATH:
        return None
    return await _with_tests(reader, asked, intent, await answer_both(reader, intent, asked.where))


async def _relation(reader: Reader, asked: AskedQuestion) -> Answered | None:
    intent = asked.query.relation
    if intent is None:
        return None
    words = await _remaining(reader, asked, intent)
    if " " in words.intent.within and not asked.is_stated:
        within = await spelled_scope(reader, words.intent.within, asked.where.project)
        if not within:
            return None
        words = replace(words, intent=replace(words.intent, within=within))
    intent = await qualify(reader, words.intent, asked.subjects.text, asked.where.project)
    held = await held_by_file(reader, asked.query.text, intent, asked.where.project)
    is_held = held is not intent
    intent, words = (held, RemainingWords(held)) if is_held else (intent, words)
    found = await answer_relation(reader, intent, asked.where)
    is_known = found is not None and found.outcome != "not_found"
    if found is not None and is_known and (found := apply_remaining(reader, words, found)) is None:
        return _says_more(intent)
    found = count_inside(await quote_steps(reader, found), words.intent.within) if found is not None else None
    if found is not None and _ASKS_ORDER.search(asked.query.text):
        found = await in_call_order(reader, found)
    is_empty = found is not None and found.is_unknown and not (found.related or found.routes)
    is_open = found is not None and (found.outcome == "not_found" or is_empty)
    if is_open and not is_held and await _is_misread(reader, asked, intent):
        return None
    if found is not None and found.outcome != "not_found" and not asked.is_stated:
        known = (intent.name, *(each.name for each in asked.subjects.found))
        absent = await find_absent_options(reader, asked.query.text, known, asked.where)
        found = replace(found, notes=(*absent, *found.notes)) if absent else found
    answered = await _with_tests(reader, asked, intent, found)
    return await _with_further(reader, asked, asked.query.relation or intent, answered)


def _asks_for_inheriting(answer: EdgeAnswer, text: str) -> bool:
    """Return whether a part of a question asks which classes have a method as it is, which a note says."""
    return answer.intent.kind == Kind.OVERRIDES and asks_for_inheriting(text)


async def _with_further(reader: Reader, asked: AskedQuestion, intent: RelationIntent, answered: Answered) -> Answered:
    """Add the answers to the other parts of a question, or say which part is not answered and how to ask it."""
    answer = answered.answer
    if not isinstance(answer, EdgeAnswer) or answer.outcome == "not_found" or asked.is_stated:
        return answered
    further: list[EdgeAnswer] = []
    notes: list[str] = []
    member = own_member(asked.query.text, answer.intent)
    if member:
        known = tuple(word for word in answer.ignored if word != member)
        answer = await with_own_members(reader, replace(answer, ignored=known), member)
    for part in further_parts(asked.query.text, intent):
        if asks_what_is_passed(part.text) or asks_when(part.text) or _asks_for_inheriting(answer, part.text):
            continue  # the quoted lines say it
        if own_member(part.text, answer.intent):
            continue
        if part.is_word and part.intent is not None and set(part.intent.types) <= set(answer.intent.types):
            continue  # `which files import or use X`
        if part.intent is None and asks_of_each(part.text, intent) and (quoted := await quote_places(reader, answer)):
            answer = quoted
            if not asks_reasons(part.text):
                continue
        if asks_choice(part.text, intent) and (chosen := await made_together(reader, answer)) is not None:
            further.append(chosen)
            continue
        row = answer.targets.targets[0].node.row if answer.targets.total == 1 else None
        if part.asks_signature and row is not None and row.signature:
            notes.append(f"signature: {row.signature}")
            continue
        found = await answer_relation(reader, part.intent, asked.where) if part.intent is not None else None
        if found is None or found.outcome == "not_found":
            notes.append(f'not answered: "{part.text}"; ask that alone')
            continue
        if part.intent is not None:
            text = (await _with_tests(reader, asked, part.intent, found)).answer
            further.append(text if isinstance(text, EdgeAnswer) else found)
    if further and answer.intent.kind == Kind.DEFINITION and answer.targets.total == 1:
        # the first line of the other part has the place
        answer, *further = (*further,)
    return replace(answered, answer=replace(answer, further=(*answer.further, *further), notes=(*answer.notes, *notes)))


async def _is_misread(reader: Reader, asked: AskedQuestion, intent: RelationIntent) -> bool:
    """Return whether what a phrase took for its names has no symbol, but the question has more to go by.

    Another name that the index knows, or lines that have the name: of a variable, or of a member of another package.
    """
    subjects = asked.subjects
    if any(each.written.name not in (intent.name, intent.other, intent.within) for each in subjects.found):
        return True
    if " " in intent.name and not subjects.found:
        return True  # words in quotes, which no definition has for a name
    if (said := _PROPER_NAME.search(asked.query.text)) is not None and intent.name in said[0].split()[:-1]:
        return True  # a product: `in Visual Studio`
    for each in subjects.unknown:
        if (await find_name_lines(reader, each.text.strip("()"), asked.where.project)).lines:
            return True
    return False


async def _subject(reader: Reader, asked: AskedQuestion) -> Answered | None:
    """Answer the relation that the words around the subjects tell, where no phrase did."""
    subjects = asked.subjects.found
    if not 1 <= len(subjects) <= MOST_ENDS:
        return None
    if stated_before(asked.query.text):
        return None  # the verb beside the name says what happens
    intent = find_near(asked.query.text, asked.subjects.marked(), [each.name for each in subjects])
    act = find_act(asked.subjects.marked()) if intent is None else None
    if act is not None and all(each.node.row.label in _CALLABLE for each in subjects[-1].targets):
        owner = next((word for word in asked.subjects.text.words if word.lower() == act.owner), act.owner)
        owner = subjects[0].written.name if owner == "X" else owner
        intent = RelationIntent(Kind.CALLERS, subjects[-1].name, within=owner, is_limited=True)
    if intent is None:
        return None
    if is_negated(asked.query.text, intent.kind):
        intent = replace(intent, kind=Kind.OVERRIDES, is_negated=True)
    words = await _remaining(reader, asked, replace(intent, certain=True))
    found = await answer_relation(reader, words.intent, asked.where)
    if found is None or found.outcome == "not_found":
        return None
    if (found := apply_remaining(reader, words, found)) is None:
        return _says_more(words.intent)
    if act is not None:
        found = replace(found, ignored=tuple(dict.fromkeys((act.verb, *found.ignored))))
    return await _with_tests(reader, asked, intent, found)


async def _remaining(reader: Reader, asked: AskedQuestion, intent: RelationIntent) -> RemainingWords:
    """Return what the words beside a relation say; nothing where the caller states it, or it is the complement."""
    if asked.is_stated or intent.is_negated:
        return RemainingWords(intent)
    return await read_remaining(reader, asked.query.text, intent, asked.where)


def _says_more(intent: RelationIntent) -> Answered:
    """Return that a question is searched, and the call for the relation that it has words of."""
    if not intent.certain:
        return Answered()
    name = intent.name.partition(":")[2] or intent.name
    call = f"relation={intent.kind.value}, of={name}"
    return Answered(notes=(f"the question says more than {intent.kind.value} of `{name}`, which {call} lists",))


def _about_all(asked: AskedQuestion, kind: Kind) -> RelationIntent | None:
    """Return the intent of a question of the kind that names no symbol."""
    intent = asked.query.relation
    return intent if intent is not None and intent.kind == kind and not intent.name else None


async def _with_tests(
    reader: Reader, asked: AskedQuestion, intent: RelationIntent, found: EdgeAnswer | None
) -> Answered:
    if found is not None and intent.kind == Kind.TESTS:
        found = await with_tests_of_value(reader, found)
        found = await add_named_tests(reader, found, asked.where)
    if found is not None:
        text = asked.query.text
        found = await with_lines_of_name(reader, found, text, asked.where)
        when = asks_when(text)
        found = await only_catching(reader, found, text)
        found = await with_callers_of_raisers(reader, found, text)
        found = await quote_lines(reader, found, conditions=when) if when or asks_what_is_passed(text) else found
    return _checked(asked, intent, found)


def _checked(asked: AskedQuestion, intent: RelationIntent, found: EdgeAnswer | None) -> Answered:
    """Return what was found, or why the question has to be searched as text."""
    if found is None:
        is_unknown = intent.kind in UNANSWERED or not intent.name
        return Answered(notes=(f"no {intent.kind} in the graph fit: searched as text",) if is_unknown else ())
    is_phrase = not intent.certain and intent.kind in _OF_ENGLISH and _ASKS_FOR.search(asked.query.text) is None
    if not found.related and (is_phrase or intent.kind in _OFTEN_IN_WORDS):
        return Answered(notes=(f"no {intent.kind} of `{intent.name}` in the graph: searched as text",))
    if not found.related and found.outcome != "found" and _HEADING.match(asked.query.text):
        return Answered(notes=(f"`{intent.name}` names no single symbol: searched as text",))
    if (missing := found.missing_end) is not None:
        near = ", ".join(each.row.qualified_name for each in missing.near[:MOST_NEAR])
        why = f"no symbol is named `{missing.name}`{f' (near: {near})' if near else ''}"
        if missing.is_other_kind:
            why = f"`{missing.name}` is no end of a chain of calls ({missing.reasons[0]})"
        return Answered(notes=(f"{why}: searched as text",))
    return Answered(found)


ANSWERERS: tuple[SearchStep[Callable[[Reader, AskedQuestion], Awaitable[Answered | None]]], ...] = (
    SearchStep("package_history", _package_history, "a manifest no longer has the package that was replaced"),
    SearchStep("shell_command", _shell_command, "manifests declare what a command of the shell starts"),
    SearchStep("lines", _lines, "variables, flags, settings and versions stand in lines of texts, not in the graph"),
    SearchStep("commits", _commits, "commits of a symbol are those that changed its lines"),
    SearchStep("changes", _changes, "the version history has what changed, when and by whom; the graph has not"),
    SearchStep("packages", _packages, "manifests and lock files declare packages and their versions"),
    SearchStep("clients", _clients, "what a part of the project calls by URL are edges to routes"),
    SearchStep("routes", _routes, "routes are nodes with a method and a path, not names"),
    SearchStep("events", _events, "a name without routes may be that of an event, task or command"),
    SearchStep("unused", _unused, "a question for all unused code names no symbol"),
    SearchStep("untested", _untested, "nor does one for all untested code"),
    SearchStep("described_path", _described_path, "the ends of a way may be told in words around their names"),
    SearchStep("both", _both, "edges of two symbols are those of each"),
    SearchStep("relation", _relation, "edges of one symbol, or a path between two, are in the graph"),
    SearchStep("subject", _subject, "the words around a name that the index has tell what is asked about it"),
)
"""Asked in this order, each only about questions of its kind; the first answer counts."""
