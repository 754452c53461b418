"""`atlas pack`: build, update and ask knowledge packs, the documentation of libraries as graphs."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output
from atlas.cli.options import BudgetOption, DataDirOption, JsonOption, ProjectOption, examples, settings_of
from atlas.cli.packs import files as pack_files
from atlas.cli.packs import keys as pack_keys
from atlas.cli.packs.files import PackArgument
from atlas.cli.packs.progress import pack_progress
from atlas.cli.run import ask, given, run
from atlas.core.errors import ConfigError, NotFound
from atlas.core.wording import counted, counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atlas.core.model import Table
    from atlas.packs.build import BuildRequest, BuildResult
    from atlas.packs.documentation.pack.manifest import Manifest
    from atlas.packs.documentation.sources.values import Planned
    from atlas.packs.model import ModelPass
    from atlas.packs.questions.values import PackAnswer

ExtendOption = Annotated[
    bool,
    typer.Option("--extend", help="Let the configured language model add entities and facts, marked as such."),
]
ModelTokensOption = Annotated[
    int, typer.Option("--model-tokens", min=0, metavar="N", help="Tokens at which --extend stops and says so.")
]

LanguageOption = Annotated[str, typer.Option("--language", metavar="CODE", help="Of the documentation.")]
NoCodeOption = Annotated[bool, typer.Option("--no-code", help="Leave out the package's own code.")]
OutputOption = Annotated[
    str, typer.Option("--output", "-o", metavar="DIR", help="Folder of the pack. Default: installed packs.")
]
HostOption = Annotated[
    list[str] | None, typer.Option("--host", metavar="HOST", help="Further host to follow; repeatable.")
]
AgainOption = Annotated[
    list[str] | None,
    typer.Option(
        "--from", metavar="SOURCE", help="Source that a pack from elsewhere names and you want to be read; repeatable."
    ),
]
AcceptOption = Annotated[
    bool,
    typer.Option("--accept-sources", help="Read the public sources of a pack from elsewhere without asking."),
]

SHOWN = 5
"""Problems of a build, and documents that are left out for one reason, that are shown."""
COUNTED = ("Article", "Section", "Entity", "Fact")
EXAMPLES = {
    "build": examples(
        "atlas pack build django --from pypi:Django==5.2",
        "atlas pack build handbook --from docs/ --from README.md --version 2026.1",
        "atlas pack build click --from installed:click --output ./click-pack",
        "atlas pack build guide --from https://docs.example.org/guide/ --max-pages 500 --dry-run",
    ),
    "update": examples(
        "atlas pack update django",
        "atlas pack update handbook@2026.1 --json",
        "atlas pack update guide --from https://docs.example.org/guide/",
    ),
    "eval": examples(
        "atlas pack eval django", "atlas pack eval django --questions my-questions.jsonl --limit 50 --json"
    ),
    "query": examples(
        'atlas pack query django "How do I avoid extra queries for foreign keys?"',
        'atlas pack query django "default of SESSION_COOKIE_AGE" --profile maximum --explain',
    ),
    "search": examples('atlas pack search django "expire a session"', 'atlas pack search "retry a task" -n 3'),
    "article": examples(
        "atlas pack article django topics/http/sessions.txt", "atlas pack article starlette.responses.Response"
    ),
    "cypher": examples(
        "atlas pack cypher django \"MATCH (f:Fact {kind: 'default'}) RETURN f.subject, f.value LIMIT 10\"",
        'atlas pack cypher django "MATCH (a)-[r:ENTITY_RELATION]->(b) RETURN a.name, r.type, b.name" --json',
    ),
}


def register(app: typer.Typer) -> None:
    """Add the command family."""
    family = typer.Typer(help="Knowledge packs: documentation of libraries, offline.", no_args_is_help=True)
    for command in (build, update, query, search, article, cypher):
        family.command(command.__name__, epilog=EXAMPLES[command.__name__])(command)
    family.command("eval", epilog=EXAMPLES["eval"])(evaluate)
    pack_files.register(family)
    pack_keys.register(family)
    app.add_typer(family, name="pack")


def build(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the pack: lower-case letters, digits, . _ -")],
    sources: Annotated[
        list[str],
        typer.Option(
            "--from",
            metavar="SOURCE",
            help="Folder, file, archive, git:FOLDER, installed:NAME, pypi:NAME==VERSION, npm:NAME@VERSION, "
            "crate:NAME@VERSION, URL, urls:FILE or sitemap:URL; repeatable.",
        ),
    ],
    version: Annotated[
        str, typer.Option("--version", metavar="VERSION", help="Of the pack. Default: that of the library, else 1.")
    ] = "",
    library: Annotated[str, typer.Option("--library", metavar="NAME", help="Library that it documents.")] = "",
    library_version: Annotated[
        str, typer.Option("--library-version", metavar="VERSION", help="Version that it documents.")
    ] = "",
    ecosystem: Annotated[
        str, typer.Option("--ecosystem", metavar="NAME", help="python npm rust go maven ... of the library.")
    ] = "",
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="One line for people.")] = "",
    folder: OutputOption = "",
    replace: Annotated[bool, typer.Option("--replace", help="Replace a pack that is there already.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would be read or fetched.")] = False,
    max_pages: Annotated[int, typer.Option("--max-pages", min=1, metavar="N", help="Pages of a web source.")] = 2_000,
    max_depth: Annotated[int, typer.Option("--max-depth", min=0, metavar="N", help="Links from its start.")] = 8,
    delay: Annotated[
        float, typer.Option("--delay", min=0, metavar="SECONDS", help="Between two requests to a host.")
    ] = 0.2,
    host: HostOption = None,
    language: LanguageOption = "en",
    no_code: NoCodeOption = False,
    extend: ExtendOption = False,
    model_tokens: ModelTokensOption = 200_000,
    json: JsonOption = False,
) -> None:
    """Build a pack from documentation; needs no key. A pack appears whole or not at all."""
    from atlas.packs.build import BuildRequest, build_pack
    from atlas.packs.documentation.sources.values import CollectOptions

    options = CollectOptions(
        max_pages=max_pages,
        max_depth=max_depth,
        delay=delay,
        hosts=tuple(host or ()),
        language=language,
        code=not no_code,
        state=_crawl_state(name),
    )
    request = BuildRequest(
        *(name, tuple(sources), version, library, library_version, ecosystem, description), options=options
    )
    if dry_run:
        _print_plan(_planned(request), as_json=json)
        return
    target, model = Path(folder) if folder else None, _model_pass(model_tokens) if extend else None
    with pack_progress() as report:
        result = run(build_pack(request, target, replaces=replace, report=report, model=model))
    _print_result(result, as_json=json)


def update(
    pack: PackArgument,
    force: Annotated[bool, typer.Option("--force", help="Rebuild even if no article differs.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would be read.")] = False,
    again: AgainOption = None,
    accept: AcceptOption = False,
    extend: ExtendOption = False,
    model_tokens: ModelTokensOption = 200_000,
    json: JsonOption = False,
) -> None:
    """Read a pack's sources again and rebuild it if an article differs; unchanged texts keep their vectors.

    Of a pack that was not built on this machine the sources are shown first; local ones must be named with --from.
    """
    from atlas.packs.build import update_pack
    from atlas.packs.documentation.pack.folder import load_manifest
    from atlas.packs.opening import find_pack
    from atlas.packs.sources import Consent, request_of

    folder = find_pack(pack)
    manifest = load_manifest(folder)
    named = tuple(again or ())
    consent = Consent(named, accept or (not json and _agreed(folder, manifest, named)))
    if dry_run:
        _print_plan(_planned(request_of(folder, consent)), as_json=json)
        return
    state = _crawl_state(manifest.name)
    model = _model_pass(model_tokens) if extend else None
    with pack_progress() as report:
        result = run(update_pack(folder, report, force=force, state=state, model=model, consent=consent))
    _print_result(result, as_json=json)
    if not json and not force and not model and result.manifest == manifest:
        print("no article differs: the pack is as it was")


def query(
    pack: PackArgument,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question in words; - reads standard input.")],
    profile: Annotated[
        str, typer.Option("--profile", metavar="NAME", help="baseline, balanced or maximum.")
    ] = "balanced",
    explain: Annotated[bool, typer.Option("--explain", help="Show every stage of the pipeline.")] = False,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=0, metavar="N", help="Of the answer; 0 = the profile's number.")
    ] = 0,
    no_model: Annotated[bool, typer.Option("--no-model", help="Quote only: no language model, no reranker.")] = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Answer a question from a pack, with sources. Exits with 3 if the pack does not know."""
    from atlas.packs.opening import find_pack

    text = sys.stdin.read(1 << 20) if question == "-" else question
    if not text.strip():
        raise ConfigError("the question is empty", 'ask one: atlas pack query PACK "How do I ...?"')
    answer = run(_ask(find_pack(pack), text, profile, max_tokens, None if no_model else (project, data_dir)))
    if json:
        document = dataclasses.asdict(answer)
        output.print_json(document if explain else {key: document[key] for key in document if key != "stages"})
    else:
        _print_answer(answer, explain=explain)
    if answer.is_refused:
        raise typer.Exit(3)


PackOption = Annotated[
    str, typer.Option("--pack", metavar="PACK", help="NAME or NAME@VERSION. Default: the best of the installed ones.")
]


def search(
    words: Annotated[
        list[str],
        typer.Argument(metavar="[PACK] QUERY", help="A question or words, after the pack if one is meant."),
    ],
    pack: PackOption = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, max=50, metavar="N", help="Number; 0 = 5.")] = 0,
    token_budget: BudgetOption = 0,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Find sections of documentation, each with article, heading and the start of its text."""
    pack, query = _pack_and(words, pack, "search", "a question")
    arguments = {"query": query} | given(pack=pack, limit=limit, token_budget=token_budget)
    ask(settings_of(project, data_dir), "search_pack", arguments, as_json=json)


def article(
    words: Annotated[
        list[str],
        typer.Argument(metavar="[PACK] ARTICLE", help="Key, title, URL, ARTICLE#SECTION, or a symbol's dotted name."),
    ],
    pack: PackOption = "",
    token_budget: BudgetOption = 0,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Read an article of a pack, one section of it, or what describes an API symbol."""
    pack, name = _pack_and(words, pack, "article", "title of an article")
    arguments = {"article": name} | given(pack=pack, token_budget=token_budget)
    ask(settings_of(project, data_dir), "pack_article", arguments, as_json=json)


def _pack_and(words: Sequence[str], pack: str, command: str, example: str) -> tuple[str, str]:
    """Return the pack, which may stand in front as in `atlas pack query`, and what is asked of it."""
    call = f'atlas pack {command} {"PACK " if not pack else ""}"{example}"{f" --pack {pack}" if pack else ""}'
    if len(words) > (1 if pack else 2):
        raise ConfigError(f"{len(words)} arguments: {' '.join(words)}", f"Several words need quotes: {call}")
    return (pack, words[0]) if len(words) == 1 else (_named(words[0], call), words[1])


def _named(pack: str, call: str) -> str:
    """Return the name of an installed pack. Raises NotFound, which says how a query of two words is written."""
    from atlas.packs.opening import installed_pack, is_path

    if not is_path(pack) and not pack.startswith("~"):
        try:
            installed_pack(pack)
        except NotFound as error:
            raise NotFound(str(error), f"{error.hint}; several words need quotes: {call}", error.near) from error
    return pack


def cypher(
    pack: PackArgument,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A read-only openCypher query.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, max=1000, metavar="N", help="Rows; 0 = 100.")] = 0,
    json: JsonOption = False,
) -> None:
    """Run a read-only Cypher query over the graph of a pack."""
    from atlas.answers.cells import cell, cell_value
    from atlas.packs import AsyncPack
    from atlas.packs.opening import find_pack

    async def rows(folder: Path) -> Table:
        async with await AsyncPack.open(folder) as opened:
            return await opened.cypher(query, limit=limit or 100)

    table = run(rows(find_pack(pack)))
    if json:
        cells = [[cell_value(value) for value in row] for row in table.rows]
        output.print_json({"columns": table.columns, "rows": cells, "truncated": table.truncated})
        return
    for row in (table.columns, *([cell(value) for value in row] for row in table.rows)):
        print(output.plain(" | ".join(row)))
    print(counted(len(table.rows), "row") if table.rows else "no rows", file=sys.stderr)
    if table.truncated:
        print(f"note: there are more than {limit or 100} rows; -n N shows more", file=sys.stderr)


def evaluate(
    pack: PackArgument,
    questions: Annotated[
        str, typer.Option("--questions", metavar="FILE", help="JSON lines. Default: the pack's eval/questions.jsonl.")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, metavar="N", help="Questions; 0 = all.")] = 0,
    folder: Annotated[
        str, typer.Option("--output", "-o", metavar="DIR", help="Folder of the results. Default: eval/results.")
    ] = "",
    no_model: Annotated[bool, typer.Option("--no-model", help="No judge, even if a language model is set.")] = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Ask a pack its own questions under every profile; writes JSON, a table and an SVG."""
    from atlas.packs.evaluation import evaluate_pack
    from atlas.packs.opening import find_pack

    settings = None if no_model else settings_of(project, data_dir)
    place = Path(folder) if folder else None
    own = Path(questions) if questions else None
    with pack_progress() as report:
        written = run(evaluate_pack(find_pack(pack), settings, own, limit, place, report))
    if json:
        output.print_json(written.evaluation.to_dict() | {"folder": str(written.folder)})
    else:
        print(output.plain(written.table), end="")
        print(f"results: {written.folder}", file=sys.stderr)


async def _ask(folder: Path, question: str, profile: str, max_tokens: int, place: tuple[str, str] | None) -> PackAnswer:
    from atlas.adapters.opening.models import make_language_model, make_reranker
    from atlas.packs import AsyncPack

    settings = settings_of(*place) if place is not None else None
    model = make_language_model(settings) if settings is not None else None
    reranker = make_reranker(settings) if settings is not None else None
    try:
        async with await AsyncPack.open(folder, model=model, reranker=reranker) as pack:
            return await pack.ask(question, profile=profile, max_tokens=max_tokens)
    finally:
        if reranker is not None:
            await reranker.aclose()


def _agreed(folder: Path, manifest: Manifest, named: Sequence[str]) -> bool:
    """Show the public sources of a pack from elsewhere on a terminal, and return whether they may be read."""
    from atlas.packs.sources import MAX_SHOWN, foreign_sources

    left = foreign_sources(folder, manifest, named)
    if not left or len(left) > MAX_SHOWN or any(one.is_local for one in left):
        return False
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    print(f"{manifest.title} was not built on this machine. An update reads:", file=sys.stderr)
    for one in left:
        print(f"  {one.line}", file=sys.stderr)
    return typer.confirm("Read them?", err=True)


def _planned(request: BuildRequest) -> list[Planned]:
    from atlas.packs.build import plan_build

    with pack_progress() as report:
        return run(plan_build(request, report))


def _model_pass(tokens: int) -> ModelPass:
    """Return a pass of the configured language model. Raises ConfigError if none is."""
    from atlas.packs.model import model_pass

    return model_pass(settings_of("", ""), tokens)


def _crawl_state(name: str) -> Path:
    """Return the folder in which the crawls of a pack keep their state, so that they go on after a stop."""
    from atlas.runtime.process.data_folder import cache_root

    return cache_root() / "crawls" / "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in name)


def _print_plan(planned: list[Planned], *, as_json: bool) -> None:
    if as_json:
        output.print_json({"documents": [dataclasses.asdict(one) for one in planned]})
        return
    archives = [one for one in planned if one.is_archive]
    planned = [one for one in planned if not one.is_archive]
    read = [one for one in planned if not one.skipped]
    for one in read:
        print(output.plain(one.key))
    reasons: dict[str, list[str]] = {}
    for one in planned:
        if one.skipped:
            reasons.setdefault(one.skipped, []).append(one.key)
    for reason, keys in reasons.items():
        more = ", ..." if len(keys) > SHOWN else ""
        line = output.one_line(f"{len(keys):,} left out, {reason}: {', '.join(keys[:SHOWN])}{more}; --json shows all")
        print(line if more else line.removesuffix("; --json shows all"), file=sys.stderr)
    for one in archives:
        text = f"{one.source}: a dry run does not download the archive, so its documents are not known"
        print(output.one_line(text), file=sys.stderr)
    if planned or not archives:
        print(f"{counted(len(read), 'document')} would be read, {len(planned) - len(read):,} left out", file=sys.stderr)


def _print_result(result: BuildResult, *, as_json: bool) -> None:
    manifest = result.manifest
    if as_json:
        output.print_json({**dataclasses.asdict(result), "folder": str(result.folder)})
        return
    changes = [("added", result.added), ("changed", result.changed), ("removed", result.removed)]
    said = ", ".join(f"{len(keys):,} {what}" for what, keys in changes if keys)
    said_counts = counts(*((manifest.counts.get(label, 0), label.lower()) for label in COUNTED), spec=",")
    size = sum(one.size for one in manifest.files.values()) / 1e6
    print(f"{manifest.title}: {said_counts}, {size:.1f} MB")
    if said:
        print(f"articles: {said}")
    print(f"folder: {result.folder}")
    for note in result.notes:
        print(f"note: {output.one_line(note)}")
    for problem in result.problems[:SHOWN]:
        print(f"problem: {output.one_line(problem)}")
    if len(result.problems) > SHOWN:
        print(f"{counted(len(result.problems) - SHOWN, 'further problem', ',')}: --json shows all")
    print(f'next: atlas pack query {manifest.name} "..."')


def _print_answer(answer: PackAnswer, *, explain: bool) -> None:
    from atlas.packs.questions.values import EXTRACT

    print(output.plain(answer.text))
    if answer.facts and answer.by != EXTRACT:  # quotations begin with the facts
        print()
        for fact in answer.facts:
            print(output.plain(f"{fact.kind}: {' '.join(fact.text.split())} [{fact.source}]"))
    for text in answer.withheld:
        print(f"{'nearest section' if answer.is_refused else 'note'}: {output.one_line(text)}", file=sys.stderr)
    for note in answer.notes:
        print(f"note: {output.one_line(note)}", file=sys.stderr)
    print(f"confidence {answer.confidence:.2f}, {answer.tokens} tokens, by {answer.by}", file=sys.stderr)
    if explain:
        for stage in answer.stages:
            print(output.plain(f"{stage.name:<14} {stage.state:<8} {stage.ms:7.1f} ms  {stage.detail}"))
