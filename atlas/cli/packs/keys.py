"""`atlas pack key create|list|trust|remove`: keys that sign packs, and those that the user trusts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output
from atlas.cli.options import JsonOption, examples
from atlas.core.errors import ConfigError

if TYPE_CHECKING:
    from atlas.packs.documentation.pack.minisign import MinisignSecret

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the signer, as you choose it.")]
EXAMPLES = {
    "create": examples("atlas pack key create", "atlas pack key create --no-password"),
    "list": examples("atlas pack key list --json"),
    "trust": examples("atlas pack key trust alice alice.pub"),
    "remove": examples("atlas pack key remove alice"),
}


def register(family: typer.Typer) -> None:
    """Add the commands."""
    keys = typer.Typer(help="Keys that sign packs, in the format of minisign.", no_args_is_help=True)
    for name, command in (("create", create), ("list", list_keys), ("trust", trust), ("remove", remove)):
        keys.command(name, epilog=EXAMPLES[name])(command)
    family.add_typer(keys, name="key")


def create(
    no_password: Annotated[bool, typer.Option("--no-password", help="Do not encrypt the secret key.")] = False,
    json: JsonOption = False,
) -> None:
    """Make your secret key, which only you can read, and show the public key to publish."""
    from atlas.packs.documentation.pack.signers import create_secret, secret_path

    made = create_secret("" if no_password else _new_password())
    if json:
        output.print_json({"secret": str(secret_path()), "key": made.text})
    else:
        print(f"secret key: {secret_path()}\npublic key: {made.text}")


def list_keys(json: JsonOption = False) -> None:
    """List the public keys that you trust."""
    from atlas.packs.documentation.pack.minisign import key_id
    from atlas.packs.documentation.pack.signers import trusted_keys

    rows = [(name, key.text, key_id(key.number)) for name, key in trusted_keys().items()]
    if json:
        output.print_json({"keys": [{"name": name, "key": text, "key_id": number} for name, text, number in rows]})
    elif rows:
        output.console().print(output.table(("name", "public key", "key ID"), rows))
    else:
        print("no trusted keys; add one: atlas pack key trust NAME KEY")


def trust(
    name: NameArgument,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Public key of minisign: its line, or a file.")],
    json: JsonOption = False,
) -> None:
    """Trust what a key signs, from now on. Get the key from its owner through another channel than the packs."""
    from atlas.packs.documentation.pack.minisign import key_id
    from atlas.packs.documentation.pack.signers import trust as add_key

    added = add_key(name, key)
    if json:
        output.print_json({"name": name, "key": added.text, "key_id": key_id(added.number)})
    else:
        print(f"trusted {name}: {added.text} (key ID {key_id(added.number)})")


def remove(name: NameArgument, json: JsonOption = False) -> None:
    """Stop trusting a key. Packs that it signed stay installed."""
    from atlas.packs.documentation.pack.signers import distrust

    distrust(name)
    if json:
        output.print_json({"name": name})
    else:
        print(f"{name} is no longer trusted")


def ask_secret(path: str) -> MinisignSecret:
    """Return the secret key of a file, else the user's own, after asking for its password. Raises ConfigError."""
    from atlas.packs.documentation.pack.minisign import is_encrypted, read_secret
    from atlas.packs.documentation.pack.signers import secret_path, secret_text

    text = secret_text(Path(path).expanduser() if path else secret_path())
    return read_secret(text, _password("password of the secret key: ") if is_encrypted(text) else "")


def _new_password() -> str:
    password = _password("password of the new key: ")
    if sys.stdin.isatty() and _password("once more: ") != password:
        raise ConfigError("the two passwords differ")
    return password


def _password(prompt: str) -> str:
    """Read a password from the terminal without showing it, else a line of standard input. Raises ConfigError."""
    if sys.stdin.isatty():
        from getpass import getpass

        password = getpass(prompt)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise ConfigError("no password was given", "type one, or make the key with --no-password")
    return password
