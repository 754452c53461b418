"""impact: what a change of a symbol, or a difference of two states, affects, and which tests to run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.answers.schema import check_range
from atlas.code.atlas import Atlas
from atlas.code.changes.change_impact import ChangeImpact, impact_of_diff, read_diff
from atlas.code.changes.changed_symbols import ChangedSymbol, How
from atlas.code.changes.impact import MAX_DEPTH, Affected, Impact, Seed, trace_impact
from atlas.code.freshness import stale_files
from atlas.code.graph.absence.name_lines import find_name_lines, with_symbols
from atlas.code.graph.absence.occurrences import TextPlace
from atlas.code.graph.absence.proof import FILE_LABELS, is_prose, prove_none, prove_unused
from atlas.code.graph.absence.unresolved import unresolved_beyond
from atlas.code.graph.answer_relation import MAX_FOLLOWED
from atlas.code.graph.targets import Target, Targets, find_targets, members_of
from atlas.code.notes.note_lines import text_at_risk
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.retrieve.resolve import written
from atlas.code.tools.citations import local_name, path_of, place_of
from atlas.code.tools.envelope import Envelope, fit_aside, open_envelope
from atlas.code.tools.mermaid import flow_chart
from atlas.code.tools.reports import Report, ReportAnswer, ReportLine, grouped
from atlas.code.tools.run_tests import MAX_MANIFEST, RunnerFiles, manifest_paths, test_commands
from atlas.core.errors import ConfigError
from atlas.core.history import STAGED, WORK_TREE, ChangeKind, FileChange
from atlas.core.invisible import escaped
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.model import EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

DEFAULT_LIMIT = 60
MAX_LIMIT = 1_000
_ORDER = ("changed", "affected", "possible", "tests", "documents", "notes", "still_named")
_FIRST = {"changed": 30, "affected": 12, "possible": 5, "tests": 8, "documents": 5, "notes": 5, "still_named": 10}
"""Lines of each group that come before the rest of any group."""
MOST_CHARACTERS = 100
"""Of a line that may be affected."""
MOST_DERIVED, MOST_OF_DERIVED = 3, 4
"""Constants made from a value, and lines with each of them."""
MAX_VALUES = 2_000
_IMPORTING = ("import ", "from ", "use ", "using ", "export {", "#include")
MAX_LINES = 12
"""Lines of one symbol that are listed."""
_FORMATS = ("text", "mermaid")
_VERBS = {
    EdgeType.INHERITS: "inherits ", EdgeType.OVERRIDES: "overrides ", EdgeType.IMPORTS: "imports ",
    EdgeType.USES_TYPE: "type ", EdgeType.REFERENCES: "refers ", EdgeType.HANDLES_ROUTE: "handled by it, ",
    EdgeType.HANDLES_EVENT: "handled by it, ", EdgeType.CALLS_ROUTE: "calls its route, ",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ImpactFindings:
    """Everything that a report of an impact is made of."""

    title: str
    changed: tuple[ReportLine, ...]
    names: tuple[str, ...]
    """Qualified names of the changed symbols that are followed."""
    impact: Impact
    mentions: tuple[ReportLine, ...] = ()
    notes: tuple[str, ...] = ()
    possible: tuple[ReportLine, ...] = ()
    """Lines with the name that no edge accounts for, and calls that no rule resolves."""
    is_unknown: bool = False
    """Nothing is affected, and that is not proven."""
    subjects: tuple[str, ...] = ()
    """Uids of the changed symbols that are followed."""


async def impact(
    atlas: Atlas,
    name: str = "",
    *,
    diff: str = "",
    staged: bool = False,
    depth: int = 0,
    format: str = "text",
    limit: int = DEFAULT_LIMIT,
    project: str = "",
    token_budget: int = 2000,
) -> ReportAnswer:
    """Return what a change affects: callers, users, subclasses, tests, documents.

    One of: `name` (a symbol), `diff` (a revision that the working tree is compared with, or a range `A..B`), `staged`
    (the staging area against HEAD). Raises ConfigError for another combination, NotFound without a repository or for
    an unknown revision, and HistoryError for one that cannot be read.
    """
    if [bool(name), bool(diff), staged].count(True) != 1:
        raise ConfigError("impact needs one of name, diff and staged", 'For example diff "HEAD", or name "Cart.save".')
    check_range("depth", depth, 0, MAX_DEPTH)
    check_range("limit", limit, 1, MAX_LIMIT)
    if format not in _FORMATS:
        raise ConfigError(f"format must be one of {', '.join(_FORMATS)}, not {format[:40]}")
    envelope = await open_envelope(atlas, project, token_budget)
    if not name:
        read = await read_diff(atlas.reader, envelope.state.project, diff or "HEAD", STAGED if staged else WORK_TREE)
        found = await impact_of_diff(atlas.reader, envelope.state.project, read, depth)
        return await impact_answer(atlas, envelope, diff_findings(found), limit, as_diagram=format == "mermaid")
    intent = RelationIntent(Kind.IMPACT, written(name))
    targets = await find_targets(atlas.reader, intent.name, intent, envelope.state.project)
    if not 0 < targets.total <= MAX_FOLLOWED:
        return await _unresolved(atlas, envelope, targets)
    findings = await symbol_findings(atlas, targets.targets, depth)
    findings = replace(findings, notes=(*targets.notes, *findings.notes))
    return await impact_answer(atlas, envelope, findings, limit, as_diagram=format == "mermaid")


async def symbol_findings(atlas: Atlas, targets: Sequence[Target], depth: int = 0) -> ImpactFindings:
    """Return what changes of symbols affect."""
    rows = [target.node.row for target in targets]
    members = {
        target.node.row.uid: await members_of(atlas.reader, Targets("", (target,)), nested=True)
        for target in targets
        if target.node.row.label in FILE_LABELS
    }
    seeds = [
        Seed(row.qualified_name, (*target.uids, *members.get(row.uid, ())))
        for row, target in zip(rows, targets, strict=True)
    ]
    traced = await trace_impact(atlas.reader, seeds, depth)
    title = "impact of " + ", ".join(f"{row.kind} {row.qualified_name} {place_of(row)}".strip() for row in rows)
    uids = tuple(row.uid for row in rows)
    findings = ImpactFindings(title, (), tuple(seed.name for seed in seeds), traced, subjects=uids)
    if any(target.node.row.label in EXTERNAL_LABELS for target in targets):
        return findings
    return await _with_possible(atlas, findings, [target.node for target in targets])


async def _with_possible(atlas: Atlas, findings: ImpactFindings, nodes: Sequence[Node]) -> ImpactFindings:
    """Add the lines that may be affected although no edge says so; if there is nothing else, whether that is proven."""
    found = (*findings.impact.affected, *findings.impact.tests)
    known = {(each.node.row.path, line) for each in found for line in each.lines}
    symbols = [node for node in nodes if node.row.label not in FILE_LABELS] or list(nodes)
    if not found and symbols[0].row.label in FILE_LABELS:
        absence = await prove_unused(atlas.reader, symbols[0], Kind.IMPACT)
    else:
        absence = await prove_none(atlas.reader, symbols, Kind.IMPACT, known=known)
    calls = absence.unresolved.calls if absence.unresolved is not None else ()
    lines = [
        ReportLine("possible", call.caller.row.path, f"{local_name(call.caller.row)} {line}: {call.why}")
        for call in calls
        for line in call.lines
    ]
    named = {(call.caller.row.path, line) for call in calls for line in call.lines}
    is_common = len(set(atlas.reader.split_words(symbols[0].row.name))) < 3 and symbols[0].row.label == Label.METHOD
    places = () if found and is_common else [each for each in absence.places if not is_prose(each)]
    lines += (
        ReportLine("possible", each.path, _possible(each, is_value=symbols[0].row.label == Label.VALUE))
        for each in places
        if (each.path, each.line) not in named
    )
    lines += await _derived(atlas, symbols[0], places, findings.impact.affected)
    if found:
        lines += await _beyond(atlas, findings, named)
        return replace(findings, possible=tuple(lines))
    note = "no edge leads to it: unknown rather than none, see the possible lines" if lines else absence.sentence
    return replace(findings, possible=tuple(lines), notes=(*findings.notes, note), is_unknown=not absence.is_proven)


def _possible(place: TextPlace, *, is_value: bool) -> str:
    """Return a line without an edge; of a value, whose uses have few edges, with what stands there and around it."""
    if place.skipped or not (is_value and place.text):
        return f"{place.line}: {place.skipped or 'named, without an edge'}"
    row = place.node.row if place.node is not None and place.node.row.label not in FILE_LABELS else None
    text = escaped(place.text.strip())
    text = text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 3]}..."
    return f"{f'{local_name(row)} ' if row is not None else ''}{place.line}: {text}"


async def _derived(
    atlas: Atlas, node: Node, places: Sequence[TextPlace], affected: Sequence[Affected]
) -> list[ReportLine]:
    """Return the lines with the constants in whose values a value stands, with an edge or without."""
    if node.row.label != Label.VALUE:
        return []
    every = {around.row.uid: around for each in places if (around := each.node) is not None}
    for each in (each for each in affected if each.node.row.label in FILE_LABELS):
        where = Filter(project=node.project, labels=(Label.VALUE,))
        held = await atlas.reader.store.find(each.node.row.path, Match.PATH, where, MAX_VALUES)
        for value in held:
            if any(value.row.start_line <= line <= value.row.end_line for line in each.lines):
                every[value.row.uid] = value
    values = [each for uid, each in every.items() if each.row.label == Label.VALUE and uid != node.row.uid]
    found: list[ReportLine] = []
    for each in values[:MOST_DERIVED]:
        known = {(each.row.path, line) for line in range(each.row.start_line, each.row.end_line + 1)}
        lines = (await find_name_lines(atlas.reader, each.row.name, each.project, known, prose=False)).lines
        own = [line for line in lines if line.text and not line.text.startswith(_IMPORTING)][:MOST_OF_DERIVED]
        for line in await with_symbols(atlas.reader, own, each.project):
            place = TextPlace(line.path, line.line, line.text, line.inside)
            found.append(ReportLine("possible", line.path, f"{_possible(place, is_value=True)} < {each.row.name}"))
    return found


async def _beyond(atlas: Atlas, findings: ImpactFindings, known: Collection[tuple[str, int]]) -> list[ReportLine]:
    """Return the unresolved calls that may lead further where a chain of callers ends."""
    found = (*findings.impact.affected, *findings.impact.tests)
    inner = {name for each in found for name in each.via}
    ends = [each.node for each in findings.impact.affected if each.node.row.qualified_name not in inner]
    return [
        ReportLine("possible", row.path, f"{local_name(row)} {line}: may call {short_name(name)}, {call.why}")
        for name, row, call in [
            (node.row.qualified_name, call.caller.row, call)
            for node, calls in await unresolved_beyond(atlas.reader, ends)
            for call in calls.calls
        ]
        for line in call.lines
        if (row.path, line) not in known
    ]


def diff_findings(found: ChangeImpact) -> ImpactFindings:
    """Return the lines of a difference and what it affects."""
    diff = found.diff
    by_path: dict[str, list[ChangedSymbol]] = {}
    for symbol in found.symbols:
        by_path.setdefault(symbol.path, []).append(symbol)
    changed = tuple(line for change in diff.changes for line in changed_lines(change, by_path.get(change.path, ())))
    extent = f"{counted(len(diff.changes), 'file')}, {counted(found.followed, 'changed symbol')} followed"
    mentions = tuple(
        ReportLine("still_named", each.node.row.path, f"{local_name(each.node.row)} {each.node.row.line}: {each.name}")
        for each in found.mentions
    )
    names = tuple(via for each in (*found.impact.affected, *found.impact.tests) for via in each.via[-1:])
    title = f"impact of {diff.old.id[:10]} -> {diff.target}: {extent}"
    names = tuple(dict.fromkeys(names))
    return ImpactFindings(title, changed, names, found.impact, mentions, found.notes, subjects=found.seeds)


def changed_lines(change: FileChange, symbols: Sequence[ChangedSymbol]) -> list[ReportLine]:
    """Return one line per changed symbol of a file; of a file without any, how it changed."""
    if change.kind in (ChangeKind.ADDED, ChangeKind.DELETED):
        names = [symbol.name for symbol in symbols if "." not in symbol.name]
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        listed = f": {', '.join(names[:6])}{more}" if names else ""
        return [ReportLine("changed", change.path, f"{change.kind.value}{listed}")]
    moved = f"renamed from {change.old_path}" if change.kind == ChangeKind.RENAMED else ""
    texts = [moved] if moved else []
    texts += [_changed(symbol) for symbol in symbols]
    return [ReportLine("changed", change.path, text) for text in texts or [_unchanged(change)]]


def _changed(symbol: ChangedSymbol) -> str:
    if symbol.how == How.MODULE:
        return symbol.how.value
    before = f"{symbol.old_name} -> " if symbol.old_name else ""
    line = f" {symbol.line}" if symbol.how != How.REMOVED else ""
    return f"{before}{symbol.name}{line} {symbol.how.value}"


def _unchanged(change: FileChange) -> str:
    return "no symbol changed" if change.compared else "not compared"


async def impact_answer(
    atlas: Atlas,
    envelope: Envelope,
    findings: ImpactFindings,
    limit: int,
    *,
    first: Mapping[str, int] = _FIRST,
    tool: str = "impact",
    as_diagram: bool = False,
) -> ReportAnswer:
    """Return as much of the findings as limit and budget hold, the first lines of every group before the rest."""
    lines = _prioritised(_lines(findings), first)
    shown = lines[:limit]
    tests = {each.node.row.path: each.node.row for each in reversed(findings.impact.tests)}
    state = envelope.state
    texts = await atlas.reader.store.content(state.project, _one_each(tests))
    manifests = await _manifests(atlas, state.project, list(tests)[::-1])
    cited = {line.path for line in shown if line.path}
    stale = await stale_files(atlas.reader, state.project, state.root, cited)

    def build(count: int) -> ReportAnswer:
        kept = shown[:count]
        files = {line.path for line in kept if line.group == "tests"}
        run = [each.node.row for each in findings.impact.tests if each.node.row.path in files and _is_run(each)]
        by_budget, by_limit = len(shown) - count, len(lines) - len(shown)
        report = Report(
            kind="impact",
            title=findings.title if as_diagram else f"{findings.title}{_nothing(findings)}",
            groups=grouped(lines, count, _ORDER),
            found=len(lines),
            commands=test_commands(run, lambda path: texts.get(path, b""), manifests),
            diagram=_diagram(findings, count) if as_diagram else "",
            subjects=findings.subjects,
            routes=tuple(each.node.row.uid for each in findings.impact.affected if each.node.row.label == Label.ROUTE),
        )
        return ReportAnswer(
            tool,
            report,
            envelope.evidence(
                paths=(line.path for line in kept),
                stale=stale,
                notes=(*findings.notes, *findings.impact.notes),
                withheld=(
                    f"{counted(by_budget, 'line')} by token_budget {envelope.token_budget}" if by_budget else "",
                    f"{counted(by_limit, 'line')} by limit {limit}" if by_limit and not as_diagram else "",
                ),
            ),
        )

    return await fit_aside(atlas, envelope.token_budget, build, len(shown))


def _one_each(tests: Iterable[str]) -> list[str]:
    """Return the first test file of each ending: it tells the runner. `tests` has the first one last."""
    return list({path.rpartition(".")[2]: path for path in tests}.values())


async def _manifests(atlas: Atlas, project: str, tests: Sequence[str]) -> RunnerFiles:
    """Return the indexed manifests above test files."""
    read, seen = manifest_paths(tests)
    there = await atlas.reader.store.records(project, [*read, *seen]) if tests else {}
    texts = await atlas.reader.store.content(project, [path for path in read if path in there])
    decoded = {path: text[:MAX_MANIFEST].decode("utf-8", "replace") for path, text in texts.items()}
    return RunnerFiles(decoded, frozenset(there))


def _nothing(findings: ImpactFindings) -> str:
    if findings.is_unknown:
        return ": unknown"
    return "" if _lines(findings) else ": nothing known to be affected"


def _lines(findings: ImpactFindings) -> list[ReportLine]:
    found = findings.impact
    several = len(findings.names) > 1
    return [
        *findings.changed,
        *(ReportLine("affected", *_affected(each, several)) for each in found.affected),
        *findings.possible,
        *_test_lines(found.tests, several),
        *(ReportLine("documents", *_document(each)) for each in found.documents),
        *(ReportLine("notes", path_of(each.at), text_at_risk(each)) for each in found.about),
        *findings.mentions,
    ]


def _prioritised(lines: Sequence[ReportLine], first: Mapping[str, int]) -> list[ReportLine]:
    """Return the first lines of every group, in the order of the groups, then the rest."""
    counts: dict[str, int] = {}
    early: list[ReportLine] = []
    late: list[ReportLine] = []
    for line in lines:
        counts[line.group] = counts.get(line.group, 0) + 1
        (early if counts[line.group] <= first.get(line.group, 0) else late).append(line)
    return [*early, *late]


def _affected(each: Affected, several: bool) -> tuple[str, str]:
    row = each.node.row
    level = f" [{each.depth}]" if each.depth > 1 else ""
    return row.path, f"{local_name(row)}{_places(each)}{_how(each)}{level}{_via(each, several)}"


def _how(each: Affected) -> str:
    verb = _VERBS.get(EdgeType(each.type), "")
    strategy = "" if each.strategy == "structure" else f"{each.strategy} {each.confidence:.2f}"
    return f" ({f'{verb}{strategy}'.strip()})" if verb or strategy else ""


def _via(each: Affected, several: bool) -> str:
    """Return the chain from the symbol to the changed one; the only changed symbol itself need not be named."""
    chain = each.via if several else each.via[:-1]
    return "".join(f" < {short_name(name)}" for name in chain)


def _places(each: Affected) -> str:
    lines = each.lines or ((each.node.row.line,) if each.node.row.line else ())
    more = f" and {len(lines) - MAX_LINES} more" if len(lines) > MAX_LINES else ""
    return f" {','.join(map(str, lines[:MAX_LINES]))}{more}" if lines else ""


def _test_lines(tests: Iterable[Affected], several: bool) -> list[ReportLine]:
    """Return one line per file with its tests, nearest first."""
    files: dict[str, list[Affected]] = {}
    for each in tests:
        files.setdefault(each.node.row.path, []).append(each)
    lines: list[ReportLine] = []
    for path, found in files.items():
        named = [each for each in found if each.node.row.label in (Label.FUNCTION, Label.METHOD)]
        names = list(dict.fromkeys(local_name(each.node.row) for each in named))
        more = f" and {len(names) - 4} more" if len(names) > 4 else ""
        via = _via(found[0], several)
        lines.append(ReportLine("tests", path, f"{', '.join(names[:4])}{more}{via}".strip()))
    return lines


def _is_run(each: Affected) -> bool:
    """Return whether a runner would start it: a test, not what tests use."""
    return each.type == EdgeType.TESTS or each.node.row.name.lower().startswith("test")


def _document(each: Affected) -> tuple[str, str]:
    row = each.node.row
    title = "" if row.label == Label.DOC_FILE else row.name
    lines = f" {','.join(map(str, each.lines))}" if each.lines else ""
    return row.path, f"{title}{lines}{''.join(f' < {short_name(name)}' for name in each.via[:3])}".strip()


def short_name(qualified: str) -> str:
    """Return the last segment of a name, with its class where there is one."""
    *owners, name = qualified.rpartition("#")[0].split(".") if "#" in qualified else qualified.split(".")
    return f"{owners[-1]}.{name}" if owners and owners[-1][:1].isupper() else name


def _diagram(findings: ImpactFindings, count: int) -> str:
    found = [*findings.impact.affected, *findings.impact.tests]
    found.sort(key=lambda each: (each.depth, -each.certainty))
    chains = [(*reversed(each.via), each.node.row.qualified_name) for each in found[:count]]
    tests = [each.node.row.qualified_name for each in findings.impact.tests]
    return flow_chart(findings.names, chains, tests, len(found) - len(chains))


async def _unresolved(atlas: Atlas, envelope: Envelope, targets: Targets) -> ReportAnswer:
    """Return the symbols that a name may stand for, or near names and the reasons for which there is none."""
    found = targets.targets or ()
    rows = [target.node.row for target in found] or [node.row for node in targets.near[:5]]
    group = "candidates" if found else "near"
    lines = [ReportLine(group, "", f"{row.kind} {row.qualified_name} {place_of(row)}".strip()) for row in rows]
    title = f"`{targets.name}` is ambiguous: {targets.total} symbols" if found else f"no symbol `{targets.name}`"

    def build(count: int) -> ReportAnswer:
        report = Report(
            "impact",
            title,
            "ambiguous" if found else "not_found",
            grouped(lines, count, (group,)),
            targets.total,
            () if found else targets.reasons,
        )
        return ReportAnswer("impact", report, envelope.evidence())

    return await fit_aside(atlas, envelope.token_budget, build, len(lines))
