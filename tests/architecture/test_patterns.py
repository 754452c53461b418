"""No regular expression takes more than linear time on a text from outside: Python's matcher backtracks.

A pattern that is not linear is listed here with the most characters of its texts, and why they are no longer than that.
Rust's patterns are linear by construction (`regex-automata`).
"""

from __future__ import annotations

import math
import re

import pytest

from tests.architecture.linear import growth
from tests.architecture.patterns import Composed, Found, all_patterns, misplaced_calls

QUESTION = 2_000
"""Characters of a question that `parse_question.MAX_QUERY_CHARACTERS` keeps."""
MOST_WORK = 4e8
"""Steps of a pattern on its longest text: a second or two."""

CUT: dict[str, tuple[int, str]] = {
    "packs/build.py: _ARCHIVE": (255, "the name of a file"),
    "packs/documentation/extract/facts.py: _OPTION": (300, "`MAX_OPTION` characters of a list item"),
    "packs/documentation/sources/client_process.py: OWN 1": (4_096, "the name of a variable of the environment"),
    "packs/documentation/sources/selection.py: NEVER_FILES": (255, "the name of a file"),
    "packs/documentation/sources/spec.py: PACKAGE_NAMES 0": (4_096, "an argument of the user's command line"),
    "packs/documentation/sources/spec.py: PACKAGE_NAMES 3": (4_096, "an argument of the user's command line"),
    "code/graph/absence/accesses.py: _FUNCTION": (160, "`_BEHIND` characters behind a name"),
    "code/lines/assigned/fields.py: _NAME": (QUESTION, "a question"),
    "code/lines/assigned/replaced.py: _BEFORE": (QUESTION, "a question"),
    "code/question/requests/several.py: _STATED": (QUESTION, "a clause of a question"),
    "code/graph/package_subjects.py: _OF_GROUP": (QUESTION, "a question"),
    "code/graph/package_subjects.py: _WHERE_WE": (QUESTION, "a question"),
    "code/question/requests/several.py: _EXISTS": (QUESTION, "a question"),
    "code/lines/plain_values.py: _ASKS": (QUESTION, "a question"),
    "code/lines/plain_values.py: _FLAG": (4_000, "ten lines, each cut where a pattern is searched"),
    "code/lines/plain_values.py: _GIVES_VALUE": (4_000, "two lines of at most `MAX_LINE`"),
    "code/question/grammar.py: _SENTENCE": (QUESTION, "a question"),
    "code/question/grammar.py: _SQL": (QUESTION, "a question"),
    "code/question/grammar.py: _AND": (QUESTION, "a question"),
    "code/question/long_text.py: _CODE_NAME": (200, "words of long texts are cut"),
    "knowledge/retrieval/quantities.py: _RANGE_START": (60, "the window before a number"),
    "packs/questions/versions.py: _CHANGES": (QUESTION, "a question"),
    "code/question/question_scope.py: _OUTSIDE": (QUESTION, "a question"),
    "code/question/parse_question.py: _WANTS_VERSION": (QUESTION, "a question"),
    "code/question/parse_question.py: _WANTS_TESTS": (QUESTION, "a question"),
    "code/question/parse_question.py: _MESSAGE": (QUESTION, "a question"),
    "code/question/parse_question.py: _VALUE": (QUESTION, "a question"),
    "code/retrieve/exact_text.py: _FIELD": (QUESTION, "a question"),
    "code/retrieve/exact_text.py: _ERROR": (QUESTION, "a question"),
    "code/retrieve/message_templates.py: _LITERAL": (2_000, "`MAX_LINE` characters of a line"),
    "code/retrieve/message_templates.py: _VALUE": (600, "`MAX_TEXT` characters of a message"),
    "code/question/route_forms.py: _PATH": (QUESTION, "a question"),
    "code/graph/http_routes.py: _PARAMETER": (500, "a route: `MAX_TEXT` of the parser"),
    "code/question/tracebacks.py: _NAMED 8": (20_000, "`MAX_CHARACTERS` of a long text, with words of at most 200"),
    "code/question/tracebacks.py: _PLACE": (20_000, "`MAX_CHARACTERS` of a long text, with words of at most 200"),
    "code/tools/cypher.py: _QUOTED": (20_000, "`MAX_TEXT` of the lexer"),
    "code/tools/search/search_answer.py: _LOOKS_LIKE_A_NAME": (QUESTION, "a word of a question"),
    "code/changes/commit_topics.py: _DOTS": (QUESTION, "a question"),
    "code/changes/commit_topics.py: _FOLDER": (QUESTION, "a question"),
    "code/changes/history_words.py: _HISTORY": (QUESTION, "a question"),
    "code/changes/commit_history.py: _ADDS": (QUESTION, "a question"),
    "code/changes/commit_history.py: _LAST": (QUESTION, "a question"),
    "code/graph/declarations.py: _ALSO": (4_096, "a path with a range"),
    "code/changes/commit_history.py: MEMBER_ADDED": (QUESTION, "a question"),
    "code/graph/unused.py: _PLATFORM": (4_096, "a path"),
    "code/graph/package_subjects.py: _CODE_NOUNS": (QUESTION, "a question"),
    "code/graph/package_subjects.py: _TO_DO": (QUESTION, "a question"),
    "code/graph/package_subjects.py: _WITH_EXTRA": (QUESTION, "a question"),
    "code/changes/told_topics.py: _WHY_DONE": (QUESTION, "a question"),
    "code/changes/told_topics.py: _CODE_WORD": (QUESTION, "a question"),
    "code/lines/environment.py: _READS": (QUESTION, "a question"),
    "code/lines/environment_mappings.py: _CALLEE": (120, "the characters before a bracket"),
    "code/lines/environment.py: _LISTS": (QUESTION, "a question"),
    "code/lines/environment.py: _READ": (4_000, "two lines of `MAX_LINE`"),
    "code/lines/environment.py: _DOCUMENTED": (4_000, "two lines of `MAX_LINE`"),
    "code/lines/flags.py: _LISTS": (QUESTION, "a question"),
    "code/lines/flags.py: _LISTED": (4_000, "two lines of `MAX_LINE`"),
    "code/lines/releases.py: _IN_VERSION": (QUESTION, "a question"),
    "code/lines/packages/package_lines.py: _FOR_WHAT": (QUESTION, "a question"),
    "code/lines/changelogs.py: _FILES": (4_096, "a path"),
    "code/lines/changelogs.py: _VERSION": (300, "`MAX_HEADING` characters of a line"),
    "code/lines/changelogs.py: _version_of": (255, "the name of a file"),
    "code/lines/settings.py: _group": (2_000, "a line of `MAX_LINE`"),
    "code/lines/packages/local_patches.py: _OF_FILE": (255, "the name of a file"),
    "code/lines/packages/local_patches.py: _MANIFEST": (4_096, "a path"),
    "code/lines/packages/package_uses.py: _JS_WHOLE": (400, "`MAX_LINE` characters of a line"),
    "code/lines/packages/package_uses.py: _RENAMED": (400, "a part of `MAX_LINE` characters of a line"),
    "code/lines/packages/target_products.py: _PACKAGE": (400, "a line of `MAX_LINE`"),
    "code/lines/versions.py: _OWN": (QUESTION, "a question"),
    "code/lines/versions.py: _OWN_WORDS": (QUESTION, "a question"),
    "code/question/parse_question.py: _COVERING_PAGE": (QUESTION, "a question"),
    "code/rank/titles.py: ASKS_PAGE": (QUESTION, "a question"),
    "cli/clients/jsonc.py: _COMMENT": (20_000, "cut by the reader"),
    "cli/clients/toml_text.py: _TOKEN": (20_000, "cut by the reader"),
}
"""Most characters of the texts of a pattern, by place."""

SHARED: dict[str, str] = {
    "packs/documentation/formats/html/page.py: _TAG": "A tag always matches, and the search goes on at its end.",
    "packs/documentation/formats/restructured/inline.py: MARKUP": "Each start reads up to the delimiter that begins the next one.",
    "knowledge/retrieval/quantities.py: _PHRASE": "Wherever a number begins, one is found; what stands before reads blanks only.",
    "knowledge/tools/lists.py: _TERM": "Where a quote is not closed, the last choice reads the word.",
}
"""Patterns that take linear time as a whole, for a reason that is not seen in the pattern."""

COMPOSED: dict[str, str] = {
    "core/lazy_regex.py: LazyRegex.__getattr__": "the pattern of a module, analysed above",
    "adapters/git/commits.py: log": "an escaped word behind a lookbehind, on the subject of a commit",
    "code/graph/absence/called_by_name.py: called_by_name": "an escaped name between quotes or behind a colon",
    "code/lines/assigned/fields.py: _otherwise": "an escaped name between lookarounds",
    "code/lines/assigned/fields.py: _pattern": "escaped names between lookarounds",
    "code/lines/assigned/member_uses.py: _add_assigned": "escaped names behind bounded parts of a line",
    "code/lines/assigned/member_uses.py: _keys": "an escaped name behind bounded blanks, on one line",
    "code/lines/assigned/member_uses.py: answer_member_uses": "an escaped name behind a name or at most 200 characters",
    "code/lines/assigned/replaced.py: _denoted": "an escaped name before at most 80 characters, on one line",
    "code/lines/assigned/replaced.py: _is_parameter": "an escaped name between bounded parameters, on one line",
    "code/lines/assigned/replaced.py: find_assigned": "an escaped name behind at most 80 characters",
    "code/graph/absence/literals.py: _lines": "an escaped name behind a bounded qualifier, on `MAX_LINE` characters of a line",
    "code/changes/commit_topics.py: _begins": "an escaped word between lookarounds, on the subject of a commit",
    "code/changes/commit_topics.py: commits_of_flag": "an escaped name between lookarounds, on the subject of a commit",
    "code/changes/told_topics.py: _patterns": "an escaped word between lookarounds, on a line of a changelog",
    "code/changes/told_topics.py: _led_by": "digits, on the subject of a commit",
    "adapters/git/names.py: name_changes": "an escaped name between lookarounds",
    "code/changes/former_names.py: _gone_from_file": "an escaped name between lookarounds",
    "adapters/git/told.py: _begins": "an escaped word between lookarounds, on the subject of a commit",
    "code/changes/commit_topics.py: with_words": "an escaped word behind a lookbehind, on the subject of a commit",
    "code/changes/commit_history.py: _is_plain": "an escaped name beside words for kinds, on a question",
    "code/tools/search/part_results.py: _packages_of": "an escaped name between lookarounds",
    "code/changes/commit_topics.py: narrowed": "an escaped word behind a boundary, on the subject of a commit",
    "code/lines/environment_helpers.py: names_of_loop": "an escaped name between lookarounds",
    "code/lines/absent/words.py: find_absent_options": "an escaped word between lookarounds",
    "code/lines/packages/package_uses.py: _using": "escaped names behind bounded blanks and signs, on `MAX_LINE` characters",
    "code/lines/packages/package_uses.py: _word": "escaped names between lookarounds",
    "code/lines/packages/package_uses.py: environment_lines": "an escaped name before bounded signs",
    "code/lines/packages/target_products.py: _imports": "escaped names behind bounded words",
    "code/lines/packages/package_lines.py: _named_lines": "letters and digits of a name between lookarounds",
    "code/lines/packages/package_reasons.py: comments_about": "escaped names between quotes",
    "code/lines/packages/package_reasons.py: _polyfills": "names of `polyfills.toml`",
    "code/changes/value_history.py: _value": "an escaped name before constants, on at most 400 characters of a line",
    "code/graph/absence/class_members.py: _missing": "an escaped name between lookarounds",
    "code/lines/flags_in_words.py: _beside": "escaped names between lookarounds and bounded blanks",
    "code/lines/bounds.py: answer_compared": "bounded parts of a line around an escaped value",
    "code/changes/value_history.py: _is_set": "an escaped name, on a line cut to 400 characters",
    "code/changes/value_history.py: _rewritten": "an escaped name between lookarounds",
    "code/lines/environment_helpers.py: _named_in": "an escaped name between blanks and a sign",
    "code/lines/absent/named.py: _absent": "escaped parts of a name between lookarounds",
    "code/lines/absent/named.py: known_of_kind": "letters of a noun behind bounded parts of a name",
    "code/lines/absent/things.py: _spelled": "letters of a name behind a lookbehind",
    "code/lines/absent/named.py: _is_code_in_documents": "escaped parts of a name between lookarounds",
    "code/lines/flag_values.py: lines_of_value": "escaped names between lookarounds",
    "code/lines/flag_values.py: _handed_to": "an escaped name between lookarounds",
    "code/lines/environment_mappings.py: _getters": "an escaped name before constants",
    "code/lines/environment_mappings.py: _computed_from": "an escaped name beside constants and blanks",
    "code/lines/environment_mappings.py: _begins": "an escaped name between lookarounds",
    "code/lines/environment_mappings.py: _handed_on": "an escaped name between lookarounds",
    "code/lines/environment_mappings.py: _parameter": "an escaped name between boundaries, then at most 200 characters",
    "code/lines/environment_mappings.py: _reads_from": "an escaped name beside constants and blanks",
    "packs/documentation/extract/facts.py: _place": "a kind of fact: constants",
    "packs/documentation/extract/model.py: _Evidence.names": "an escaped name between lookarounds",
    "packs/documentation/extract/model.py: _Evidence.span": "escaped words with blanks between",
    "packs/documentation/formats/markdown.py: _fence_end": "a fence's own character, then blanks",
    "adapters/embedders/prefixes.py: prefixes": "constants, on the name of a model that the user chose",
    "knowledge/notes/front_matter.py: _item_starts": "blanks and a dash at the start of a line",
    "code/changes/change_impact.py: _names": "an escaped name between lookarounds",
    "code/changes/commit_history.py: _in_texts": "an escaped name between lookarounds",
    "code/graph/absence/name_lines.py: _pattern": "an escaped name between lookarounds",
    "code/changes/hit_commits.py: commits_of_absent": "an escaped word between lookarounds, on the subject of a commit",
    "code/changes/package_history.py: _word": "an escaped name between lookarounds",
    "code/graph/unused.py: _in_own_file": "an escaped name between lookarounds",
    "code/lines/absent/words.py: _absent_command": "an escaped name before constants and at most 60 letters",
    "code/lines/packages/package_features.py: _features": "an escaped name between constants, at the start of a line",
    "code/lines/packages/package_lines.py: _enabled_by": "an escaped name between quotes, on a line of at most `MAX_LINE`",
    "code/lines/value_setters.py: _called": "an escaped name before constants, on a signature",
    "code/lines/value_setters.py: setters_of": "an escaped name behind at most 40 characters, on a signature",
    "code/tools/search/several.py: _names_subject": "an escaped name between lookarounds, on a question",
    "code/lines/packages/package_lines.py: _of_changelogs": "an escaped name between lookarounds, on a line of a changelog",
    "code/tools/symbol/window_lines.py: _decided_by": "an escaped name between lookarounds, on a line that is cut",
    "code/graph/cards.py: _is_nowhere": "an escaped name, on a text",
    "code/graph/absence/called_by_name.py: built_names": "escaped parts of a name between constants, on a line of at most `MAX_LINE`",
    "code/graph/absence/accesses.py: _inside": "an escaped name between lookarounds, on at most nine lines",
    "code/graph/absence/lines_of_names.py: _called_by_text": "an escaped name before constants, on a line of at most `MAX_LINE`",
    "code/graph/absence/handed_over.py: _used": "an escaped name between constants, on a line of at most `MAX_LINE`",
    "code/graph/absence/handed_over.py: _value": "an escaped name between lookarounds, on a line of at most `MAX_LINE`",
    "code/graph/return_types.py: declared_as": "an escaped name between lookarounds, on a signature",
    "code/graph/return_types.py: returning_lines": "escaped names before constants and a dotted owner, on a line",
    "code/graph/package_subjects.py: _of_one": "an escaped name before a number, on a question",
    "code/graph/packages.py: _computed": "an escaped name behind blanks and a word at the start of a line",
    "code/graph/packages.py: _has_version": "an escaped number between lookarounds",
    "code/tools/packages.py: _taken": "an escaped name behind a lookbehind, on a line",
    "code/lines/packages/artifacts.py: _commanded": "escaped names behind one letter, before a lookahead",
    "code/changes/history_words.py: is_file_added": "an escaped path behind a verb, or in brackets behind a cut part, on a question",
    "code/lines/packages/artifacts.py: _named_in_code": "escaped parts of a name behind lookarounds",
    "code/graph/return_types.py: edges_of_returning": "escaped names between lookarounds",
    "code/graph/return_types.py: result_of": "an escaped name between lookarounds",
    "code/lines/environment.py: _names_handed_over": "an escaped name at the start of a line",
    "code/lines/environment.py: _with_next": "an escaped name between boundaries",
    "code/retrieve/text_users.py: users_of_holders": "an escaped name between lookarounds",
    "code/changes/commit_history.py: _inside": "an escaped name between lookarounds",
    "code/lines/build_files.py: answer_manifest_lines": "an escaped name between lookarounds",
    "code/graph/package_subjects.py: needs_of": "an escaped name behind constants, on a question",
    "code/lines/releases.py: _says_of": "an escaped name beside constants, on `MAX_HEADING` characters",
    "code/lines/caught.py: _raises": "escaped names, on two lines of at most `MAX_LINE`",
    "code/lines/bounds.py: find_bounds": "an escaped name between lookarounds, on a line",
    "code/lines/environment_helpers.py: _helpers": "an escaped name between constants, on a line of at most `MAX_LINE`",
    "code/lines/environment_helpers.py: calls_of_helpers": "escaped names before constants",
    "code/lines/environment.py: _in_code": "escaped names between boundaries",
    "code/changes/commit_history.py: _in_lines": "an escaped name between lookarounds",
    "code/lines/environment.py: _about": "escaped names between boundaries",
    "code/lines/environment.py: _constants": "escaped names, on two lines of at most `MAX_LINE`",
    "code/lines/flags.py: _occurrences": "an escaped name, on two lines of at most `MAX_LINE`",
    "code/lines/releases.py: _asked_word": "escaped words between lookarounds",
    "code/lines/releases.py: _kind": "constants, on a word",
    "code/lines/releases.py: _says": "constants, on a line",
    "code/lines/scan_texts.py: TriedLines._lines": "escaped words",
    "code/lines/settings.py: _candidates": "constants, on a question",
    "code/lines/plain_values.py: _documenting": "an escaped name behind three optional words, on one line",
    "code/lines/plain_values.py: find_plain_values": "constants, on a question",
    "code/answerers.py: _with_coordinated": "an escaped name and words behind it, on the text of a question",
    "code/lines/absent/words.py: word_pattern": "escaped words with one sign between them, or an ending of a fixed list",
    "code/graph/absence/derivations.py: _is_implemented": "an escaped name behind `for`, on a line that is cut",
    "code/graph/absence/derivations.py: _names_for": "an escaped name behind `for`, on a line that is cut",
    "code/graph/absence/derivations.py: may_derive": "an escaped name behind a colon, on a line that is cut",
    "code/graph/package_subjects.py: _is_means": "an escaped name behind constants, on a question",
    "code/graph/package_subjects.py: _conditions": "constants, or one escaped word",
    "code/retrieve/exact_text.py: _lines_of": "an escaped text behind a quote, on a line that is cut",
    "code/lines/settings.py: _spellings": "escaped words, on two lines of at most `MAX_LINE`",
    "code/lines/versions.py: _asks_support": "escaped words of a data file, on a question",
    "code/lines/versions.py: _languages": "patterns of a data file, on lines of at most `MAX_LINE`",
    "code/lines/versions.py: _of_project": "constants, on lines of at most `MAX_LINE`",
    "code/question/change_questions.py: _times": "a date that was read before",
    "code/question/cues.py: _Rule.pattern": "phrases of a data file, on a question",
    "code/question/frame_order.py: _class": "part of a frame, on one word",
    "code/question/frames.py: RelationFrame.pattern": "phrases of a data file, on a question",
    "code/question/languages.py: language_terms": "paths in a question, whose words are cut at 200 characters",
    "code/graph/absence/occurrences.py: _in_bytes": "a keyword, at most 200 characters, an escaped word",
    "code/graph/absence/proof.py: _aliases": "an escaped word in a line that is cut at 2,000 characters",
    "code/graph/mentions.py: _pattern": "an escaped name, then brackets without nesting",
    "code/question/package_questions.py: _patterns": "phrases of a data file, on a question",
    "packs/questions/versions.py: versions_in": "an escaped name before a version",
    "code/question/reach_questions.py: _compiled": "phrases of a data file, on a question",
    "code/graph/absence/renamed_imports.py: _original": "an escaped name after one word",
    "code/graph/unreached.py: _quoted": "an escaped name between lookarounds; in backticks, the first one counts",
    "adapters/stores/sqlite/cypher/expressions/functions.py: _split": "escaped texts",
    "code/tools/state/newer_files.py: _places": "escaped words between lookarounds",
}
"""Functions that put a pattern together from what they are given, and what keeps it linear."""


@pytest.fixture(scope="module")
def found() -> tuple[list[Found], list[Composed]]:
    return all_patterns()


def test_the_analysis_knows_what_is_linear() -> None:
    def power(pattern: str, *, search: bool = False, whole: bool = False, flags: int = 0) -> float:
        return growth(re.compile(pattern, flags), search=search, whole=whole)

    for linear in (
        r"\w+",
        r"\b\w+\(",
        r"(?<!\w)\w+\(",
        r"\[[^\[\]]*\]",
        r"[^.]+\.?",
        r"(?<!x)x++y",
        r"\[[^\]]{1,200}\]",
    ):
        assert power(linear, search=True) == 1, linear
    for quadratic in (
        r"\w+\(",
        r"\s+$",
        r"<!--.*?-->",
        r"(?:a*b)?",
        r"a(?:[ab]*c)?",
        r"x++y",
        r"(?=.*x)a",
        r"'(?:[^'\\]|\\.)*'",
    ):
        assert power(quadratic, search=True) == 2, quadratic
    assert power(r"\[[^\]]{1,20000}\]", search=True) == 2
    assert power(r"a*a*b") == power(r"(.+?)\s*$") == power(r"^\s*x", search=True, flags=re.M) == 2
    assert (
        power(r"^[ \t]*x", search=True, flags=re.M)
        == power(r"(\w+)\s*(.*)")
        == power(r"(?:\w+\.)*\w+", whole=True)
        == 1
    )
    assert power(r"a*a*a*b") == 3
    for exponential in (r"(?:a|a)*b", r"(?:a*)*b", r"(a+)+$", r"(?:\w+\.?)*$", r"(?:ab|a|b)*c"):
        assert math.isinf(power(exponential)), exponential


def test_no_module_compiles_a_pattern_when_it_is_imported() -> None:
    """A search imports some 700 patterns and uses 200; in a function, `lazy_regex` would be seen by no test here."""
    assert not misplaced_calls()


def test_every_pattern_is_linear_or_its_texts_are_cut(found: tuple[list[Found], list[Composed]]) -> None:
    patterns, _ = found
    assert len(patterns) > 500
    # `{0,80}` in a formatted string is a tuple
    assert not [one.place for one in patterns if re.search(r"\(\d+, \d+\)|\{\d+, \d*\}", str(one.pattern.pattern))]
    wrong: list[str] = []
    used: set[str] = set()
    for one in patterns:
        power = growth(one.pattern, search=one.search, whole=one.whole)
        if power == 1:
            continue
        used.add(one.place)
        most, _ = CUT.get(one.place, (0, ""))
        if one.place not in SHARED and (not most or most**power > MOST_WORK):
            wrong.append(f"{one.place}: length to the power of {power}: {one.pattern.pattern!r}")
    assert not wrong
    assert not {*CUT, *SHARED} - used, "linear or gone: take it from the list"


def test_patterns_that_functions_put_together_are_known(found: tuple[list[Found], list[Composed]]) -> None:
    assert {one.place for one in found[1]} == set(COMPOSED)
