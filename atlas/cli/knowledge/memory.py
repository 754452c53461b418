"""`atlas memory`: entities with observations, and short-term memory that expires."""

from __future__ import annotations

from typing import Annotated

import typer

from atlas.cli.options import (
    BudgetOption,
    DataDirOption,
    JsonOption,
    PersonalOption,
    ProjectOption,
    examples,
    settings_of,
)
from atlas.cli.run import ask, given

EntityArgument = Annotated[str, typer.Argument(metavar="ENTITY", help="Name, alias or id of an entity.")]

EXAMPLES = {
    "refresh": examples("atlas memory refresh", 'atlas memory refresh "Good morning, back to the billing work"'),
    "recall": examples(
        'atlas memory recall "when do we release"', "atlas memory recall release --since 7d --entity Billing"
    ),
    "remember": examples(
        'atlas memory remember "Billing team" "Releases on Thursdays." --type team',
        'atlas memory remember Ada "Prefers short answers." --alias "A. Lovelace" --personal',
        'atlas memory remember Shop "The old sign: blue, with a ship." --attachment docs/sign.png --importance 0.9',
    ),
    "relate": examples(
        'atlas memory relate "Billing team" OWNS symbol:shop.billing',
        'atlas memory relate Ada "works in" "Billing team"',
    ),
    "note": examples(
        'atlas memory note "Waiting for the review of the cart"', "atlas memory note 'Tired today' --ttl 12"
    ),
    "forget": examples(
        "atlas memory forget o-01JD2V9Q7K4M8N3P5R6S7T8V9A", "atlas memory forget s-01JD2V9Q7K4M8N3P5R6S7T8V9A"
    ),
    "show": examples('atlas memory show "Billing team"', "atlas memory show e-01JD2V9Q7K4M8N3P5R6S7T8V9A --json"),
    "list": examples("atlas memory list", "atlas memory list --type team"),
    "promote": examples(
        "atlas memory promote s-01JD2V9Q7K4M8N3P5R6S7T8V9A Ada",
        "atlas memory promote s-01JD2V9Q7K4M8N3P5R6S7T8V9A 'Billing team' --json",
    ),
}


def register(app: typer.Typer) -> None:
    """Add the command family."""
    family = typer.Typer(help="What is remembered about people, teams and topics.", no_args_is_help=True)
    for command in (refresh, recall, show, remember, relate, note, forget, promote):
        family.command(command.__name__, epilog=EXAMPLES[command.__name__])(command)
    family.command("list", epilog=EXAMPLES["list"])(list_entities)
    app.add_typer(family, name="memory")


def refresh(
    greeting: Annotated[str, typer.Argument(metavar="[GREETING]", help="What the session begins with.")] = "",
    token_budget: BudgetOption = 0,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Show who the user is (setting memory.identity), recent memories, and what the greeting is about."""
    arguments = given(greeting=greeting, token_budget=token_budget)
    ask(settings_of(project, data_dir), "refresh", arguments, as_json=json)


def recall(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question or words.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, max=50, metavar="N", help="Number; 0 = 10.")] = 0,
    shortterm: Annotated[
        bool, typer.Option("--shortterm/--no-shortterm", help="Search short-term memory, too.")
    ] = True,
    since: Annotated[str, typer.Option("--since", metavar="TIME", help="A date, or an age such as 7d.")] = "",
    entity: Annotated[str, typer.Option("--entity", metavar="ENTITY", help="Only about this entity.")] = "",
    token_budget: BudgetOption = 0,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Search memory by meaning, words, name and time."""
    arguments = {"query": query, "include_shortterm": shortterm} | given(
        limit=limit, since=since, entity=entity, token_budget=token_budget
    )
    ask(settings_of(project, data_dir), "recall", arguments, as_json=json)


def remember(
    entity: EntityArgument,
    observation: Annotated[str, typer.Argument(metavar="[OBSERVATION]", help="What is to be remembered.")] = "",
    entity_type: Annotated[str, typer.Option("--type", metavar="TYPE", help="person, team, system, ...")] = "",
    alias: Annotated[
        list[str] | None, typer.Option("--alias", metavar="NAME", help="Another name of the entity; repeatable.")
    ] = None,
    when: Annotated[str, typer.Option("--when", metavar="DATE", help="Time of the event. Default: now.")] = "",
    importance: Annotated[
        float | None,
        typer.Option("--importance", min=0, max=1, metavar="SHARE", help="From 0 to 1; moves it in rankings."),
    ] = None,
    attachment: Annotated[
        str, typer.Option("--attachment", metavar="FILE", help="Image or sound in the project that it describes.")
    ] = "",
    key: Annotated[
        str, typer.Option("--key", metavar="KEY", help="Idempotency key: a repeated command with it writes nothing.")
    ] = "",
    personal: PersonalOption = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Add an observation to an entity, which is created if there is none of this name."""
    arguments = {"entity": entity} | given(
        observation=observation,
        type=entity_type,
        aliases=alias or [],
        when=when,
        attachment=attachment,
        idempotency_key=key,
        personal=personal,
    )
    if importance is not None:
        arguments["importance"] = importance
    ask(settings_of(project, data_dir), "remember", arguments, as_json=json)


def show(
    entity: EntityArgument,
    token_budget: BudgetOption = 0,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Show one entity: its relations both ways and its observations; needs an index."""
    ask(
        settings_of(project, data_dir),
        "get_entity",
        {"entity": entity} | given(token_budget=token_budget),
        as_json=json,
    )


def relate(
    entity: EntityArgument,
    relation: Annotated[str, typer.Argument(metavar="RELATION", help="A word or two, such as OWNS.")],
    other: Annotated[str, typer.Argument(metavar="OTHER", help="An entity, an id, or symbol:NAME.")],
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Relate an entity to another one, to a unit, or to code; missing entities are created."""
    arguments = {"entity": entity, "relation": relation, "other": other}
    ask(settings_of(project, data_dir), "relate", arguments, as_json=json)


def note(
    content: Annotated[str, typer.Argument(metavar="CONTENT", help="What is to be kept for a while.")],
    ttl: Annotated[
        float | None, typer.Option("--ttl", metavar="HOURS", help="Time to live. Default: memory.ttl_hours.")
    ] = None,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Keep something in short-term memory, and show related memories by meaning and by emotion."""
    arguments: dict[str, object] = {"content": content}
    if ttl is not None:
        arguments["ttl"] = ttl
    ask(settings_of(project, data_dir), "remember_shortterm", arguments, as_json=json)


def forget(
    memory: Annotated[str, typer.Argument(metavar="ID", help="Id of an observation or a short-term memory.")],
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Delete an observation or a short-term memory."""
    ask(settings_of(project, data_dir), "forget", {"id": memory}, as_json=json)


def list_entities(
    entity_type: Annotated[str, typer.Option("--type", metavar="TYPE", help="Only entities of this type.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, max=200, metavar="N", help="Number; 0 = 50.")] = 0,
    cursor: Annotated[str, typer.Option("--cursor", help="Cursor of the next page, from the previous one.")] = "",
    token_budget: BudgetOption = 0,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """List entities with their numbers of observations; needs an index."""
    arguments = given(type=entity_type, limit=limit, cursor=cursor, token_budget=token_budget)
    ask(settings_of(project, data_dir), "list_entities", arguments, as_json=json)


def promote(
    memory: Annotated[str, typer.Argument(metavar="ID", help="Id of a short-term memory.")],
    entity: EntityArgument,
    personal: PersonalOption = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Turn a short-term memory into an observation about an entity."""
    arguments = {"id": memory, "entity": entity} | given(personal=personal)
    ask(settings_of(project, data_dir), "promote", arguments, as_json=json)
