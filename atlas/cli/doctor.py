"""`atlas doctor` and `atlas --version --json`: this installation, whatever the project."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from atlas import __version__
from atlas.cli import output
from atlas.cli.options import JsonOption, examples
from atlas.core.wording import counted

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the command."""

    def doctor(json: JsonOption = False) -> None:
        """Show this installation: its version, its parts, and what is missing for what."""
        show_doctor(as_json=json)

    app.command("doctor", epilog=examples("atlas doctor", "atlas doctor --json"))(doctor)


def about() -> dict[str, str]:
    """Return what `atlas --version --json` prints."""
    import atlas

    return {
        "name": "code-atlas",
        "version": __version__,
        "interpreter": sys.version.split()[0],
        "executable": sys.executable,
        "platform": f"{platform.system().lower()}-{platform.machine()}",
        "package": str(Path(atlas.__file__).parent),
    }


def print_version(*, as_json: bool) -> None:
    """Print the version, as text or with the facts that a report of a problem needs."""
    if as_json:
        output.print_json(about())
    else:
        print(f"atlas {__version__}")


def show_doctor(*, as_json: bool) -> None:
    """Print the parts of this installation. Raises AtlasError if one that everything needs is broken."""
    from atlas.core.errors import AtlasError
    from atlas.runtime.process.extras import extra_states

    extras = extra_states()
    broken = _broken_parts()
    if as_json:
        rows = [
            {"name": one.name, "for": one.purpose, "missing": list(one.missing), "install": one.command}
            for one in extras
        ]
        output.print_json({**about(), "broken": broken, "extras": rows})
    else:
        for name, value in about().items():
            print(output.plain(f"{name:12}{value}"))
        print(f"{'parts':12}{'; '.join(broken) if broken else 'the extension and the models load'}\n")
        shown = [(one.name, "missing" if one.missing else "installed", one.purpose) for one in extras]
        output.console().print(output.table(("extra", "", "for"), shown))
        for one in extras:
            if one.command:
                print(output.plain(f"{one.name}: {one.command}"))
        print("The state of this project: atlas health")
    if broken:
        raise AtlasError(
            f"broken: {counted(len(broken), 'part')}", "Install the package again, with pip's --force-reinstall."
        )


def _broken_parts() -> list[str]:
    """Return what of the package does not load."""
    broken: list[str] = []
    try:
        from atlas.parsing import count_tokens

        count_tokens("one two")
    except Exception as error:  # noqa: BLE001 a damaged extension can fail in any way; the command reports it
        broken.append(f"the extension: {error}")
    else:
        broken += _broken_models()
    return broken


def _broken_models() -> list[str]:
    import asyncio

    from atlas.adapters.opening.embedder import make_builtin_embedders

    async def load() -> list[str]:
        found: list[str] = []
        for name, model in make_builtin_embedders().items():
            try:
                await model.embed_query("one")
            except Exception as error:  # noqa: BLE001 as above
                found.append(f"the model {name}: {error}")
        return found

    return asyncio.run(load())
