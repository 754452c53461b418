"""`atlas notes`: claims and decisions with their evidence, and the files that hold them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output
from atlas.cli.knowledge import note_files
from atlas.cli.options import (
    BudgetOption,
    DataDirOption,
    JsonOption,
    PersonalOption,
    ProjectOption,
    examples,
    settings_of,
)
from atlas.cli.run import CLIENT, ask, given, run
from atlas.core.errors import ConfigError
from atlas.core.wording import counted

if TYPE_CHECKING:
    from atlas.answers.answer import Answer
    from atlas.knowledge.retrieval.review import Review, SuspectNote
    from atlas.runtime.config.load import Settings

MAX_STDIN = 1 << 20

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of a note; `atlas notes list` shows them.")]
ConfidenceOption = Annotated[
    float | None, typer.Option("--confidence", min=0, max=1, metavar="SHARE", help="From 0 to 1.")
]
KeyOption = Annotated[
    str, typer.Option("--key", metavar="KEY", help="Idempotency key: a repeated command with it writes nothing.")
]

EXAMPLES = {
    "add": examples(
        'atlas notes add "Carts are never shared" --about shop.cart.Cart --source shop/cart.py:12',
        'atlas notes add "We store prices in cents" --kind decision --confidence 1',
        "atlas notes add - --source https://example.org/paper",
    ),
    "search": examples(
        'atlas notes search "how are prices stored"', "atlas notes search rounding --min-confidence 0.5"
    ),
    "link": examples(
        "atlas notes link c-01JD2V9Q7K4M8N3P5R6S7T8V9A supports c-01JD2V9Q7K4M8N3P5R6S7T8V9B --reasoning 'same test'",
        "atlas notes link c-01JD2V9Q7K4M8N3P5R6S7T8V9A OWNS symbol:shop.cart.Cart",
    ),
    "review": examples("atlas notes review", "atlas notes review --reaffirm c-01JD2V9Q7K4M8N3P5R6S7T8V9A"),
    "contradictions": examples(
        'atlas notes contradictions "prices are stored as floats"',
        "atlas notes contradictions c-01JD2V9Q7K4M8N3P5R6S7T8V9A --json",
    ),
    "lineage": examples(
        'atlas notes lineage "prices in cents" "rounding errors"',
        "atlas notes lineage c-01JD2V9Q7K4M8N3P5R6S7T8V9A rounding --paths 1",
    ),
    "unit": examples(
        "atlas notes unit c-01JD2V9Q7K4M8N3P5R6S7T8V9A", "atlas notes unit c-01JD2V9Q7K4M8N3P5R6S7T8V9A --json"
    ),
    "update": examples(
        "atlas notes update c-01JD2V9Q7K4M8N3P5R6S7T8V9A --status accepted --confidence 0.9",
        'atlas notes update c-01JD2V9Q7K4M8N3P5R6S7T8V9A --text "Carts are never shared between users"',
    ),
    "retract": examples(
        'atlas notes retract c-01JD2V9Q7K4M8N3P5R6S7T8V9A "measured with the wrong clock"',
        "atlas notes retract c-01JD2V9Q7K4M8N3P5R6S7T8V9A outdated --superseded-by c-01JD2V9Q7K4M8N3P5R6S7T8V9B",
    ),
}


def register(app: typer.Typer) -> None:
    """Add the command family."""
    family = typer.Typer(help="Claims, decisions and entities that people and agents note.", no_args_is_help=True)
    for command in (add, search, link, contradictions, lineage, unit, update, review, retract):
        family.command(command.__name__, epilog=EXAMPLES[command.__name__])(command)
    note_files.register(family)
    app.add_typer(family, name="notes")


def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="One proposition or decision; - reads standard input.")],
    source: Annotated[str, typer.Option("--source", metavar="SOURCE", help="DOI, URL, citation or path:line.")] = "",
    confidence: ConfidenceOption = None,
    about: Annotated[
        list[str] | None,
        typer.Option("--about", metavar="NAME", help="Symbol, file, package:NAME or route:PATH; repeatable."),
    ] = None,
    kind: Annotated[str, typer.Option("--kind", metavar="claim|decision", help="What it is.")] = "claim",
    key: KeyOption = "",
    personal: PersonalOption = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Write a claim or a decision, and show units that are similar or may contradict it."""
    if kind not in ("claim", "decision"):
        raise ConfigError(f"unknown kind {kind!r}", "Use claim or decision; `atlas memory remember` writes entities.")
    arguments = {"hypothesis": _text(text)} | given(
        source=source, about=about or [], kind=kind, idempotency_key=key, personal=personal
    )
    if confidence is not None:
        arguments["confidence"] = confidence
    ask(settings_of(project, data_dir), "ingest_hypothesis", arguments, as_json=json)


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question or words.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, max=50, metavar="N", help="Number; 0 = 10.")] = 0,
    min_confidence: Annotated[
        float, typer.Option("--min-confidence", min=0, max=1, metavar="SHARE", help="Only units at least this sure.")
    ] = 0,
    status: Annotated[str, typer.Option("--status", metavar="STATUS", help="Only units of this status.")] = "",
    token_budget: BudgetOption = 0,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Find claims and decisions by meaning and words; needs an index."""
    arguments = {"query": query} | given(
        limit=limit, min_confidence=min_confidence, status=status, token_budget=token_budget
    )
    ask(settings_of(project, data_dir), "semantic_search", arguments, as_json=json)


def link(
    source: Annotated[str, typer.Argument(metavar="FROM", help="Id of the unit that says it.")],
    relation: Annotated[
        str,
        typer.Argument(
            metavar="RELATION", help="supports, refutes, extends, implies, contradicts, supersedes, or another word."
        ),
    ],
    target: Annotated[str, typer.Argument(metavar="TO", help="Id, or symbol:, file:, package: or route: and a name.")],
    reasoning: Annotated[str, typer.Option("--reasoning", metavar="TEXT", help="Why.")] = "",
    confidence: ConfidenceOption = None,
    key: KeyOption = "",
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Relate a unit to another one or to code; needs an index."""
    arguments = {"from": source, "to": target, "relation": relation}
    arguments |= given(reasoning=reasoning, idempotency_key=key)
    if confidence is not None:
        arguments["confidence"] = confidence
    ask(settings_of(project, data_dir), "connect_propositions", arguments, as_json=json)


def contradictions(
    claim: Annotated[str, typer.Argument(metavar="CLAIM", help="Id of a unit, or a text.")],
    token_budget: BudgetOption = 0,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Find what contradicts a unit or a text: stated, inherited and possible contradictions; needs an index."""
    arguments = {"claim": claim} | given(token_budget=token_budget)
    ask(settings_of(project, data_dir), "find_contradictions", arguments, as_json=json)


def lineage(
    start: Annotated[str, typer.Argument(metavar="START", help="Id of a unit, or words for it.")],
    end: Annotated[str, typer.Argument(metavar="END", help="The same for the other end.")],
    paths: Annotated[int, typer.Option("--paths", min=0, max=10, metavar="N", help="Chains; 0 = 3.")] = 0,
    token_budget: BudgetOption = 0,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Show how two concepts are connected: the shortest chains of relations between claims; needs an index."""
    arguments = {"start_concept": start, "end_concept": end} | given(max_paths=paths, token_budget=token_budget)
    ask(settings_of(project, data_dir), "find_scientific_lineage", arguments, as_json=json)


def unit(
    note: IdArgument,
    token_budget: BudgetOption = 0,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Show a unit with its relations both ways, the state of the code that it is about, and commits; needs an index."""
    ask(settings_of(project, data_dir), "get_unit", {"id": note} | given(token_budget=token_budget), as_json=json)


def update(
    note: IdArgument,
    text: Annotated[str, typer.Option("--text", metavar="TEXT", help="The new text; - reads standard input.")] = "",
    source: Annotated[str, typer.Option("--source", metavar="SOURCE", help="DOI, URL, citation or path:line.")] = "",
    confidence: ConfidenceOption = None,
    status: Annotated[str, typer.Option("--status", metavar="STATUS", help="proposed, accepted or disputed.")] = "",
    about: Annotated[
        list[str] | None,
        typer.Option("--about", metavar="NAME", help="Symbol, file, package:NAME or route:PATH; repeatable."),
    ] = None,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Amend a unit; git keeps what it said before. Needs an index."""
    arguments = {"id": note} | given(text=_text(text), source=source, status=status, about=about or [])
    if confidence is not None:
        arguments["confidence"] = confidence
    ask(settings_of(project, data_dir), "update_unit", arguments, as_json=json)


def retract(
    note: IdArgument,
    reason: Annotated[str, typer.Argument(metavar="REASON", help="Why it does not hold.")],
    superseded_by: Annotated[
        str, typer.Option("--superseded-by", metavar="ID", help="The unit that replaces it.")
    ] = "",
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Mark a unit as retracted, or as superseded; its file stays. Needs an index."""
    arguments = {"id": note, "reason": reason} | given(superseded_by=superseded_by)
    ask(settings_of(project, data_dir), "retract_unit", arguments, as_json=json)


def review(
    reaffirm: Annotated[
        list[str] | None,
        typer.Option("--reaffirm", metavar="ID", help="The note still holds for the code as it is now; repeatable."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, metavar="N", help="Number of notes.")] = 20,
    after: Annotated[str, typer.Option("--after", metavar="PATH", help="Continue behind the note in this file.")] = "",
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Show notes about code that has changed since, each with the difference; needs an index.

    Then reaffirm a note (--reaffirm), edit its file, or retract it (`atlas notes retract`).
    """
    settings = settings_of(project, data_dir)
    if reaffirm:
        _reaffirm(settings, reaffirm, json=json)
        return
    found = run(_review(settings, limit, after))
    if json:
        output.print_json(
            {"total": found.total, "checked": found.checked, "suspects": [_document(one) for one in found.suspects]}
        )
        return
    for one in found.suspects:
        _print_suspect(one)
    checked = f"{counted(found.checked, 'note', ',')} with anchors checked"
    print(f"{found.total:,} suspect; {checked}")
    if found.total > len(found.suspects) and found.suspects:
        print(output.one_line(f"next: atlas notes review --after {found.suspects[-1].node.row.path}"))


def _reaffirm(settings: Settings, ids: Sequence[str], *, json: bool) -> None:
    """Renew the anchors of notes, one after the other. Raises at the first one that cannot be reaffirmed."""
    from atlas.answers.answer import to_dict

    answers = run(_renew(settings, list(dict.fromkeys(ids))))
    if json:
        output.print_json({"answers": [to_dict(one) for one in answers]})
    else:
        for one in answers:
            print(output.plain(one.render(output.CURSOR_OPTION)))


async def _renew(settings: Settings, ids: Sequence[str]) -> list[Answer]:
    from atlas.app.session import make_session
    from atlas.app.toolsets import BY_NAME

    session = make_session(settings)
    try:
        return [await session.answer(BY_NAME["update_unit"], {"id": one, "reaffirm": True}, CLIENT) for one in ids]
    finally:
        await session.aclose()


async def _review(settings: Settings, limit: int, after: str) -> Review:
    from atlas.app.session import make_session
    from atlas.knowledge.retrieval.review import review as find_suspects

    session = make_session(settings, personal=False)
    try:
        atlas = await session.fresh()
        return await find_suspects(atlas.reader, limit, after=after)
    finally:
        await session.aclose()


def _print_suspect(one: SuspectNote) -> None:
    row = one.node.row
    print(output.one_line(f"{row.qualified_name} {row.path}: {row.name}"))
    for change in one.changes:
        state = change.state
        parts = f" ({', '.join(state.changed)})" if state.changed else ""
        moved = f" to {state.moved_to}" if state.moved_to else ""
        at = f" at {state.at}" if state.at else ""
        print(f"  {output.one_line(f'{state.kind} {state.target}: {state.state}{moved}{at}{parts}')}")
        for line in change.lines:
            print(f"    {output.plain(line)}")
        if change.lines_left:
            print(f"    ... {counted(change.lines_left, 'line')} more")
        if change.remark:
            print(f"    {output.one_line(change.remark)}")
    print()


def _document(one: SuspectNote) -> dict[str, object]:
    row = one.node.row
    anchors = [
        {
            "kind": change.state.kind,
            "target": change.state.target,
            "state": str(change.state.state),
            "changed": list(change.state.changed),
            "at": change.state.at,
            "moved_to": change.state.moved_to,
            "commit": change.state.commit,
            "diff": list(change.lines),
            "lines_left": change.lines_left,
            "remark": change.remark,
        }
        for change in one.changes
    ]
    return {"id": row.qualified_name, "path": row.path, "name": row.name, "anchors": anchors}


def _text(argument: str) -> str:
    """Return an argument, or standard input for "-". Raises ConfigError for one that is too large or no text."""
    if argument != "-":
        return argument
    data = sys.stdin.buffer.read(MAX_STDIN + 1)
    if len(data) > MAX_STDIN:
        raise ConfigError("standard input has more than 1 MiB", "Split the note.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ConfigError("standard input is not UTF-8", "Convert it first.") from error
