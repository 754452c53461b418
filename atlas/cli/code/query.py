"""`atlas search`, `node`, `context` and `cypher`: the query tools on the command line."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from atlas.cli import output
from atlas.cli.options import (
    BudgetOption,
    DataDirOption,
    InOption,
    JsonOption,
    LimitOption,
    ProjectOption,
    examples,
    settings_of,
)
from atlas.cli.requests import LINE_MODES, cypher_request, search_request, symbol_request
from atlas.cli.run import ask, given, run
from atlas.core.errors import ConfigError

if TYPE_CHECKING:
    from atlas.code.find import SearchResult
    from atlas.code.reader import RankingOptions
    from atlas.runtime.config.load import Settings


SHOWN = 10
"""Hits without a limit."""


class ModeOption(StrEnum):
    """Channels of `atlas search`."""

    HYBRID = "hybrid"
    TEXT = "text"
    VECTOR = "vector"
    EXACT = "exact"
    REGEX = "regex"


PathOption = Annotated[
    str, typer.Option("--path", metavar="PREFIX", help="Only below this path or matching this glob.")
]
NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="Name, suffix of a qualified name, uid, or path:line.")
]
LabelOption = Annotated[str, typer.Option("--label", help="Only nodes with this label, e.g. Class.")]

EXAMPLES = {
    "search": examples(
        'atlas search "where are sessions expired"',
        'atlas search "callers of SessionStore.save"',
        'atlas search "tests for SessionStore.save" --path tests/',
        "atlas search --relation callers --of SessionStore.save --scope shop/views.py",
        "atlas search --mode text --label Function 'session expired'",
        "atlas search --mode exact 'session expired'",
        "atlas search --mode regex 'raise \\w+Expired' --path shop/",
        'atlas search "where are sessions expired" --explain',
    ),
    "node": examples("atlas node SessionStore", "atlas node save --label Method", "atlas node shop/cart.py:42"),
    "context": examples("atlas context SessionStore.save", "atlas context save --path shop/ --token-budget 4000"),
    "cypher": examples(
        'atlas cypher "MATCH (c:Class) RETURN c.qualified_name LIMIT 10"',
        'atlas cypher "MATCH (f)<-[:CALLS]-(c) WHERE f.name = $name RETURN c.path, c.start_line" -p name=save',
    ),
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (search, node, context, cypher):
        app.command(command.__name__, epilog=EXAMPLES[command.__name__])(command)


def search(
    query: Annotated[str, typer.Argument(metavar="[QUERY]", help="A question, words or names.")] = "",
    relation: Annotated[
        str,
        typer.Option("--relation", help="What is asked for of --of: callers, tests, path ..."),
    ] = "",
    of: Annotated[str, typer.Option("--of", help="The symbol, file or path:line that the relation is of.")] = "",
    to: Annotated[str, typer.Option("--to", help="The end of a path.")] = "",
    scope: Annotated[str, typer.Option("--scope", help="Only relations in this file, folder or class.")] = "",
    mode: Annotated[
        ModeOption, typer.Option("--mode", help="Search by all channels, words or meaning only, or the lines on disk.")
    ] = ModeOption.HYBRID,
    path: PathOption = "",
    label: Annotated[list[str] | None, typer.Option("--label", help="Only these labels; repeatable.")] = None,
    language: Annotated[list[str] | None, typer.Option("--language", help="Only these languages; repeatable.")] = None,
    tests: Annotated[
        bool | None,
        typer.Option(
            "--tests/--no-tests", help="Rank tests like other code, or leave them out. Default: rank them lower."
        ),
    ] = None,
    limit: LimitOption = 0,
    brief: Annotated[bool, typer.Option("--brief", help="One line a hit.")] = False,
    snippets: Annotated[bool, typer.Option("--snippets", help="More lines of source that match the query.")] = False,
    token_budget: BudgetOption = 0,
    cursor: Annotated[str, typer.Option("--cursor", help="Cursor of the next page, from the previous one.")] = "",
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the stages of the ranking and the features of each hit instead.")
    ] = False,
    within: InOption = "",
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Find code, documents and decisions by name, words, meaning and graph."""
    tool, arguments = search_request(
        query,
        relation=relation,
        of=of,
        to=to,
        scope=scope,
        mode=mode.value,
        path=path,
        label=label,
        language=language,
        tests=tests,
        limit=limit,
        brief=brief,
        snippets=snippets,
        token_budget=token_budget,
        cursor=cursor,
    )
    if not explain:
        ask(settings_of(project, data_dir), tool, arguments | given(project=within), as_json=json)
    elif within or mode.value in LINE_MODES:
        raise ConfigError("--explain explains a ranking of --project; lines on disk have none", "Omit --in or --mode.")
    else:
        filters = ("path", "labels", "languages", "include_tests")
        chosen = {key: value for key, value in arguments.items() if key in filters}
        explain_search(settings_of(project, data_dir), mode.value, query, chosen, limit, as_json=json)


def node(
    name: NameArgument,
    path: PathOption = "",
    label: LabelOption = "",
    token_budget: BudgetOption = 0,
    within: InOption = "",
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Show one symbol; an ambiguous name lists its candidates."""
    tool, arguments = symbol_request("get_node", name, path=path, label=label, token_budget=token_budget)
    ask(settings_of(project, data_dir), tool, arguments | given(project=within), as_json=json)


def context(
    name: NameArgument,
    path: PathOption = "",
    label: LabelOption = "",
    token_budget: BudgetOption = 0,
    within: InOption = "",
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Show one symbol with source, class, callers and callees with line and confidence, docs and tests."""
    tool, arguments = symbol_request("get_context", name, path=path, label=label, token_budget=token_budget)
    ask(settings_of(project, data_dir), tool, arguments | given(project=within), as_json=json)


def cypher(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A read-only openCypher query; see `atlas schema`.")],
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", metavar="KEY=VALUE", help="Value of the parameter $KEY, as JSON or text."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, max=1000, help="Number of rows; 0 = 100.")] = 0,
    token_budget: BudgetOption = 0,
    within: InOption = "",
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Run a read-only Cypher query over the graph."""
    tool, arguments = cypher_request(query, limit=limit, token_budget=token_budget)
    arguments["parameters"] = dict(_parameter(text) for text in parameter or [])
    ask(settings_of(project, data_dir), tool, arguments | given(project=within), as_json=json)


def _parameter(text: str) -> tuple[str, object]:
    """Split `key=value`; a value that is not JSON is text."""
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier():
        raise ConfigError(f"-p {text!r} is not KEY=VALUE", "For example: -p name=save -p least=3")
    try:
        return key, jsonlib.loads(value)
    except ValueError:
        return key, value


def explain_search(
    settings: Settings, mode: str, query: str, arguments: Mapping[str, Any], limit: int, *, as_json: bool
) -> None:
    """Search and print the explanation, as text or JSON. Raises AtlasError as the search does."""
    from atlas.code.tools.search.explain import explain, explanation_lines

    found, options = run(_search(settings, mode, query, arguments))
    if as_json:
        output.print_json(explain(found, options, limit or SHOWN))
        return
    for line in explanation_lines(found, options, limit or SHOWN):
        print(output.plain(line))


async def _search(
    settings: Settings, mode: str, query: str, arguments: Mapping[str, Any]
) -> tuple[SearchResult, RankingOptions]:
    from atlas.app.session import make_session
    from atlas.cli.code.index_pass import make_first_index
    from atlas.code.find import Mode
    from atlas.code.tools.search.explain import find_to_explain

    session, modes = make_session(settings, first_index=make_first_index), {"text": Mode.WORDS, "vector": Mode.MEANING}
    try:
        atlas = await session.fresh()
        found = await find_to_explain(atlas, modes.get(mode, Mode.HYBRID), query, **arguments)
        return found, atlas.reader.ranking
    finally:
        await session.aclose()
