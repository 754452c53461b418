"""Entry point of `atlas`: the application, its version, and the one place where errors become exit codes."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from atlas import __version__
from atlas.cli import bench, config, export, index, mcp, options, output, query, state
from atlas.errors import AtlasError, ConfigError

INTERRUPTED = 130

EXIT_CODES = """Exit codes: 0 done · 1 failed · 2 wrong arguments or settings · 3 not found · 4 query not understood ·
5 store failed · 6 index of another version · 7 busy or unreachable, try again · 130 interrupted."""

app = typer.Typer(
    name="atlas",
    help="Code Atlas: a code graph that stays true, answered in few tokens with evidence.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"atlas {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    project: options.ProjectOption = "",
    data_dir: options.DataDirOption = "",
    json: options.JsonOption = False,
) -> None:
    """Code Atlas: a code graph that stays true, answered in few tokens with evidence."""
    given = {"project": project, "data_dir": data_dir, "json": json}
    # what stands before the command is the default of what may stand after it, also of nested commands
    shared: dict[str, object] = {name: value for name, value in given.items() if value}
    context.default_map = {
        name: {**shared, **dict.fromkeys(getattr(command, "commands", ()), shared)}
        for name, command in getattr(context.command, "commands", {}).items()
    }


for family in (index, query, state, export, mcp, config, bench):
    family.register(app)


def main() -> None:
    """Run the command line and exit with the documented code; never a traceback unless ATLAS_DEBUG is set."""
    sys.exit(_run())


def _run() -> int:
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except AtlasError as error:
        return _failed(error)
    except typer.TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message(), file=sys.stderr)
            return ConfigError.exit_code
        return _failed(_usage_error(error))
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # the reader has gone: what is still buffered must not raise again when Python exits
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return AtlasError.exit_code
    except Exception as error:  # noqa: BLE001 the boundary: a person gets a line, a developer sets ATLAS_DEBUG
        return _failed(
            AtlasError(f"{type(error).__name__}: {error}", "A bug: run again with ATLAS_DEBUG=1 and report.")
        )
    return code if isinstance(code, int) else 0


def _failed(error: AtlasError) -> int:
    if os.environ.get("ATLAS_DEBUG", "0") not in ("", "0"):
        import traceback

        traceback.print_exc()
    output.print_error(error, as_json=options.wants_json())
    return error.exit_code


def _usage_error(error: typer.TyperException) -> AtlasError:
    """Turn what the option parser says into our error."""
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "atlas")
    return ConfigError(error.format_message(), f"See `{command} --help`.")


if __name__ == "__main__":
    main()
