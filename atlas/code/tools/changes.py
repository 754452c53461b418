"""Answers of hybrid_search to questions about changes, from the version history; and about the impact of changes."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.code.atlas import Atlas
from atlas.code.changes.change_impact import impact_of_diff, read_diff
from atlas.code.changes.changed_symbols import ChangedSymbol
from atlas.code.changes.changes import ChangeAnswer, SymbolChange
from atlas.code.changes.commit_rows import day_of
from atlas.code.find import SearchResult
from atlas.code.graph.relation import EdgeAnswer
from atlas.code.question.change_questions import ChangeAspect, asks_about_own_changes
from atlas.code.question.relation_kinds import Kind
from atlas.code.tools.citations import place_of
from atlas.code.tools.envelope import Envelope, fit_aside
from atlas.code.tools.impact import changed_lines, diff_findings, impact_answer, symbol_findings
from atlas.code.tools.reports import Report, ReportAnswer, ReportLine, grouped
from atlas.core.errors import AtlasError
from atlas.core.history import Commit
from atlas.core.wording import counted

_ORDER = ("commits", "changed", "last_change", "changed_together", "near")
_COMPACT = {"changed": 8, "affected": 8, "tests": 4, "documents": 3, "notes": 3, "still_named": 3}
"""Lines of each group that an impact shows in a search; the tool `impact` shows all."""
MAX_TOGETHER = 15
MAX_CHANGED = 60
_TOOL = "hybrid_search"


async def answer_from_history(atlas: Atlas, envelope: Envelope, found: SearchResult, text: str) -> ReportAnswer | None:
    """Return the answer to a question about changes or about impact; None for every other question."""
    if found.changes is not None:
        return await changes_answer(atlas, envelope, found.changes, found.notes)
    intent = found.query.relation
    if intent is None or intent.kind != Kind.IMPACT:
        return None
    if asks_about_own_changes(text) and not intent.certain:
        return await own_impact(atlas, envelope)
    is_scoped = intent.tests or intent.within or intent.outside or intent.direct
    relation = found.relation
    if relation is None or relation.outcome == "not_found" or relation.counts or is_scoped:
        return None
    if relation.intent.kind != Kind.IMPACT:
        # `DELETE /users/1` asks for a route
        return None
    return await impact_in_search(atlas, envelope, relation)


async def changes_answer(atlas: Atlas, envelope: Envelope, changes: ChangeAnswer, notes: Sequence[str]) -> ReportAnswer:
    """Return the answer to a question about changes, within the budget."""
    lines, title, more = _said(changes)
    problem = changes.problem
    outcome = "no_history" if problem else "found" if lines else "not_found"
    if not problem and not lines and changes.targets is not None and not changes.targets.targets:
        near = changes.targets.near[:5]
        title = f"no symbol or file `{changes.question.name}`"
        lines = [ReportLine("near", "", f"{each.row.qualified_name} {place_of(each.row)}".strip()) for each in near]

    def build(count: int) -> ReportAnswer:
        left = len(lines) - count
        report = Report(
            kind="changes",
            title=title,
            outcome=outcome,
            groups=grouped(lines, count, _ORDER),
            found=len(lines),
            diagnosis=tuple(filter(None, (problem, changes.hint))),
        )
        cut = f"{left} of {counted(len(lines), 'line')} by token_budget {envelope.token_budget}" if left else ""
        return ReportAnswer(_TOOL, report, envelope.evidence(notes=(*notes, *_notes(changes)), withheld=(cut, *more)))

    return await fit_aside(atlas, envelope.token_budget, build, len(lines))


async def impact_in_search(atlas: Atlas, envelope: Envelope, relation: EdgeAnswer) -> ReportAnswer:
    """Return the impact of the symbols of a relation, compactly."""
    findings = await symbol_findings(atlas, relation.targets.targets, relation.intent.depth)
    return await impact_answer(atlas, envelope, findings, sum(_COMPACT.values()), first=_COMPACT, tool=_TOOL)


async def own_impact(atlas: Atlas, envelope: Envelope) -> ReportAnswer | None:
    """Return the impact of what differs from HEAD, compactly; None without a history."""
    try:
        diff = await read_diff(atlas.reader, envelope.state.project, "HEAD")
    except AtlasError:
        return None
    findings = diff_findings(await impact_of_diff(atlas.reader, envelope.state.project, diff))
    return await impact_answer(atlas, envelope, findings, sum(_COMPACT.values()), first=_COMPACT, tool=_TOOL)


def _said(changes: ChangeAnswer) -> tuple[list[ReportLine], str, tuple[str, ...]]:
    """Return the lines of an answer, its title, and what else there is to ask for."""
    question = changes.question
    if changes.problem:
        return [], "changes: no git history can be asked", ()
    if changes.diff is not None and changes.base is not None:
        return _diff_lines(changes)
    if changes.log is not None:
        of = f" of {changes.path}" if changes.path else ""
        since = f" since {question.old}" if question.old else ""
        count = f"{len(changes.log.commits)}{' or more' if changes.log.more else ''}"
        lines = [ReportLine("commits", "", commit_line(each)) for each in changes.log.commits]
        return lines, f"commits{of}{since}: {count if lines else 'none'}", ()
    if changes.last:
        title = "last change of " + ", ".join(_subject(each) for each in changes.last)
        return (
            [ReportLine("last_change", "", _last_line(each, len(changes.last) > 1)) for each in changes.last],
            title,
            (),
        )
    if changes.together is not None:
        found = changes.together
        together = counted(len(found.files), "file") if found.files else "no files"
        title = f"changed together with {changes.path}: {together} in {counted(found.commits, 'commit')}"
        lines = [
            ReportLine("changed_together", "", f"{each.path} {each.times} ({_share(each.times, found.commits)})")
            for each in found.files[:MAX_TOGETHER]
        ]
        left = len(found.files) - len(lines)
        return lines, title, (f"{counted(left, 'file')} that changed together less often",) if left else ()
    return [], f"changes of `{question.name}`", ()


def _diff_lines(changes: ChangeAnswer) -> tuple[list[ReportLine], str, tuple[str, ...]]:
    assert changes.diff is not None and changes.base is not None
    by_path: dict[str, list[ChangedSymbol]] = {}
    for symbol in changes.symbols:
        by_path.setdefault(symbol.path, []).append(symbol)
    commits = changes.log.commits if changes.log is not None else ()
    lines = [ReportLine("commits", "", commit_line(each)) for each in commits[:5]]
    changed = [line for each in changes.diff.changes for line in changed_lines(each, by_path.get(each.path, ()))]
    lines += changed[:MAX_CHANGED]
    title = (
        f"changes from {changes.base.id[:10]} ({day_of(changes.base)}: {changes.base.subject}) to "
        f"{changes.diff.target}: {counted(len(changes.diff.changes), 'file')}"
    )
    more = [f"{len(changed) - MAX_CHANGED} changed symbols and files"] if len(changed) > MAX_CHANGED else []
    if len(commits) > 5 or (changes.log is not None and changes.log.more):
        more.append("further commits: ask for the last N commits")
    if changed:
        named = "staged true" if changes.question.asks == ChangeAspect.DIFF and changes.diff.target == "staged" else (
            f'diff "{changes.base.id[:10]}"'
        )  # fmt: skip
        more.append(f"what they affect: impact with {named}")
    return lines, title, tuple(more)


def commit_line(commit: Commit) -> str:
    """Return a commit on one line: day, id, author, subject, files."""
    more = f" and {commit.more_paths} more" if commit.more_paths and commit.paths else ""
    paths = f" [{', '.join(commit.paths)}{more}]" if commit.paths else ""
    return f"{day_of(commit)} {commit.id[:10]} {commit.author}: {commit.subject}{paths}"


def _subject(each: SymbolChange) -> str:
    if each.node is None:
        return each.path
    return f"{each.node.row.kind} {each.node.row.qualified_name} {place_of(each.node.row)}"


def _last_line(each: SymbolChange, several: bool) -> str:
    name = f"{each.node.row.qualified_name}: " if several and each.node is not None else ""
    said = commit_line(each.found.commit) if each.found.commit is not None else "no commit found"
    return f"{name}{'; '.join((said, *each.found.notes))}"


def _notes(changes: ChangeAnswer) -> tuple[str, ...]:
    notes = [f"the last tag that HEAD descends from: {changes.tag}"] if changes.tag else []
    notes += [*(changes.log.notes if changes.log else ()), *(changes.diff.notes if changes.diff else ())]
    notes += changes.together.notes if changes.together else ()
    if changes.together is not None and changes.together.commits:
        notes.append("by file: commits are not told apart by symbol")
    return tuple(notes)


def _share(part: int, whole: int) -> str:
    return f"{100 * part // max(whole, 1)} %"
