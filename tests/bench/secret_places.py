"""Secrets in the places where people leave them, and text that only resembles them: `python -m tests.bench.secret_places`.

Crosses shapes of providers with places (code, docstrings, prose, data formats, encodings) and prints what is found of
them, and which harmless texts are masked. Nothing here is a secret: all values are made when they are needed, from
parts, so that a scanner that reads this repository finds no token.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from atlas._parser import find_secrets, mask_secrets

from .secret_kinds import (
    ALNUM,
    BASE64,
    DIGITS,
    HEX,
    LOWER,
    TOKENS,
    UPPER,
    URL_SAFE,
    Maker,
    chars,
    joined,
    jwt,
    password,
)

SIGNS = "!#%_+-"


@dataclass(frozen=True)
class Sample:
    """A text; `secret` is what must not be left of it, in parts that it is written in; none in harmless text."""

    id: str
    text: str
    secret: tuple[str, ...] = ()

    def is_masked(self) -> bool:
        """Is every part of the secret gone? Of a harmless text: was anything masked?"""
        masked = mask_secrets(self.text.encode()).decode()
        if not self.secret:
            return masked != self.text
        return not any(part in masked for part in self.secret)


def short_password(chance: random.Random) -> str:
    """Make a password of 9 characters as people choose them."""
    made = [chance.choice(UPPER), chance.choice(LOWER), chance.choice(DIGITS), chance.choice("!#%+")]
    return "".join(made) + "".join(chance.choices(ALNUM, k=5))


def leet_password(chance: random.Random) -> str:
    """Make a word in which digits stand for letters, with a sign."""
    word = chance.choice(("stronghold", "waterfall", "keymaster", "lighthouse", "operators", "moonlight"))
    return word.translate(str.maketrans("aeiost", "431057")) + chance.choice("!#$")


def weak_password(chance: random.Random) -> str:
    """Make a word and digits."""
    return chance.choice(("hunter", "summer", "dragon", "monkey", "winter", "falcon")) + str(chance.randrange(2, 2030))


SHAPES: dict[str, Maker] = {
    **{kind.id: kind.literal for kind in TOKENS if kind.name == "credential" and not kind.line},
    "aws-secret": chars(BASE64, 40),
    "twilio-key": joined("S" + "K", chars(HEX, 32)),
    "twilio-account": joined("A" + "C", chars(HEX, 32)),
    "discord-bot": joined("M", chars(ALNUM, 25), ".", chars(URL_SAFE, 6), ".", chars(URL_SAFE, 38)),
    "google-oauth": joined("ya" + "29.", chars(URL_SAFE, 120)),
}
"""Values that are known by themselves."""

PLACES: dict[str, str] = {
    "keyword": 'connect(key="{}")',
    "positional": 'client = Client("{}")',
    "other keyword": "send(to, auth='{}', retries=3)",
    "dict": 'CONFIG = {{"key": "{}", "timeout": 3}}',
    "list": "KEYS = ['{}', None]",
    "assignment": 'value = "{}"',
    "docstring": 'def pay():\n    """Pay.\n\n    Call it with {} as the first argument.\n    """\n',
    "comment": "x = 1  # was {}\n",
    "comment block": "/* the old one:\n * {}\n */\n",
    "prose": "Set it up with {} and start the server.\n",
    "code span": "Use `{}` for the staging system.\n",
    "reST": ".. code-block:: sh\n\n   run --key {}\n",
    "table": "| name | value |\n|---|---|\n| prod | {} |\n",
    "notebook output": json.dumps({"cells": [{"outputs": [{"text": ["using {}\\n"]}]}]})
    .replace("{", "{{")
    .replace("}", "}}")
    .replace("{{}}", "{}"),
    "yaml": "service:\n  key: {}\n",
    "json": '{{"service": {{"key": "{}"}}}}',
    "toml": '[service]\nkey = "{}"\n',
    "env": "SERVICE_KEY={}\n",
    "url": "https://api.internal/v1/pay?key={}&page=2\n",
    "header": "Authorization: Bearer {}\n",
    "curl": "curl -H 'X-Key: {}' https://api.internal/\n",
    "go": 'const key = "{}"\n',
    "escaped": 'text = "{{\\"key\\": \\"{}\\"}}"\n',
    "xml": "<key>{}</key>\n",
    "shell": "export KEY='{}'\n",
}
"""Ways to write a value that is known by itself."""

STATED: dict[str, str] = {
    "the password is": "The password is {}.",
    "of the admin": "The password of the admin account is `{}`, do not share it.",
    "for staging": "Password for the staging database: {}",
    "colon": "password: {}",
    "default": "The default password is '{}' until you change it.",
    "with password": "Connect as deploy with password {} to the server.",
    "user and password": "Use the user admin and the password {} here.",
    "log in with": "login with admin / {}",
    "log in as": "Log in as admin with {} first.",
    "credentials": "Credentials: root:{}",
    "as the password": "Enter {} as the password.",
    "is the password": '"{}" is the password of the test server.',
    "docstring": 'def connect():\n    """Connect to the shop.\n\n    The password is {}\n    """\n',
    "comment": "# TODO: the db password is {} for now\nconnect()\n",
    "list item": "* user: admin\n* password: {}\n",
    "reST field": ":user: admin\n:password: {}\n",
    "bold": "**Password:** {}\n",
    "mail": "Hi, I changed the password to {} yesterday.",
    "wrapped": "On the build server the password is\n{} as always.",
    "german": "Das Passwort ist {}.",
    "pair": "admin account (admin / {})",
    "passphrase": "the passphrase for the key is {}",
    "ssh": "ssh deploy@build.internal (password {})",
    "creds": "test creds are bob/{}",
    "json text": '{{\\"user\\": \\"admin\\", \\"password\\": \\"{}\\"}}',
}  # fmt: skip
"""Ways to state a password."""

NAMED: dict[str, str] = {
    "keyword": 'connect(password="{}")',
    "yaml": "database:\n  password: {}\n",
    "toml": 'password = "{}"\n',
    "env": "DB_PASSWORD={}\n",
    "url": "postgres://app:{}@db.internal:5432/shop\n",
    "connection": "Server=db;User Id=app;Password={};Encrypt=true\n",
    "dsn": "host=db.internal user=app password={} dbname=shop\n",
    "example before": "Example configuration:\n\n    password = '{}'\n",
    "notebook": '"source": ["connect(password=\\"{}\\")\\n"]',
    "flag": "mysql --user=root --password={} shop\n",
    "curl": "curl -u deploy:{} https://api.internal/\n",
    "properties": "spring.datasource.password={}\n",
    "dockerfile": "ENV DB_PASSWORD {}\n",
    "http": "https://deploy:{}@git.internal/shop.git\n",
}
"""Ways to write a password under its name."""

PLACEHOLDER_WORDS = (
    "example",
    "EXAMPLE",
    "sample",
    "fake",
    "dummy",
    "test_",
    "todo",
    "xxxx",
    "replace",
    "00000",
    "abcdef",
)


def with_word(value: str, word: str, chance: random.Random) -> str:
    """Return a value of the same length that contains a word which placeholders contain."""
    at = chance.randrange(8, len(value) - len(word))
    return value[:at] + word + value[at + len(word) :]


def secrets(seed: int = 7) -> Iterator[Sample]:
    """Yield samples that hold a secret."""
    chance = random.Random(seed)
    places, stated = list(PLACES.items()), list(STATED.items())
    for number, (shape, make) in enumerate(SHAPES.items()):
        for step in range(3):
            name, place = places[(number * 3 + step) % len(places)]
            value = make(chance)
            yield Sample(f"{shape} / {name}", place.format(value), (value,))
    for shape in ("aws-secret", "twilio-key", "twilio-account", "discord-bot"):
        for name, place in [*places[:6], ("env", PLACES["env"]), ("yaml", PLACES["yaml"])]:
            value = SHAPES[shape](chance)
            yield Sample(f"{shape} / {name}", place.format(value), (value,))
    for name, place in stated:
        for make in (password, short_password, leet_password):
            value = make(chance)
            yield Sample(f"{make.__name__} / {name}", place.format(value), (value,))
    for name in ("the password is", "default", "of the admin", "log in with", "comment", "mail"):
        value = weak_password(chance)
        yield Sample(f"weak_password / {name}", STATED[name].format(value), (value,))
    for name, place in NAMED.items():
        for make in (password, short_password):
            value = make(chance).replace("#", "!").replace("%", "+")
            yield Sample(f"{make.__name__} / named {name}", place.format(value), (value,))
    yield from _worded(chance)
    yield from _encoded(chance)


def _worded(chance: random.Random) -> Iterator[Sample]:
    for word in PLACEHOLDER_WORDS:
        for shape in ("github-pat", "openai", "stripe-live", "slack-bot", "github-fine-grained"):
            value = with_word(SHAPES[shape](chance), word, chance)
            yield Sample(f"{shape} with {word}", f'token = "{value}"\n', (value,))
        value = with_word(chars(ALNUM, 36)(chance), word, chance)
        yield Sample(f"random with {word}", f'api_key = "{value}"\n', (value,))


def _encoded(chance: random.Random) -> Iterator[Sample]:
    """Yield secrets in an encoding, or written in several parts."""
    token = SHAPES["github-pat"](chance)
    for name, place in {
        "plus": 'token = "{}" + "{}"',
        "plus single": "token = '{}' + '{}'",
        "implicit": 'token = "{}" "{}"',
        "php": "$token = '{}' . '{}';",
        "call": 'connect("{}" + "{}")',
        "lines": 'token = (\n    "{}"\n    "{}"\n)',
        "java lines": 'String token = "{}"\n    + "{}";',
    }.items():
        token = SHAPES["github-pat"](chance)
        yield Sample(f"token split by {name}", place.format(token[:15], token[15:]), (token[:15], token[15:]))
        value = chars(ALNUM, 32)(chance)
        named = place.replace("token", "api_key")
        if "api_key" in named:
            yield Sample(f"key split by {name}", named.format(value[:12], value[12:]), (value[:12], value[12:]))
    key = base64.b64encode(chance.randbytes(1200)).decode()
    lines = [key[at : at + 64] for at in range(0, len(key), 64)]
    for label in ("RSA PRIVATE", "PRIVATE", "EC PRIVATE", "OPENSSH PRIVATE"):
        pem = "\n".join((f"-----{'BEGIN'} {label} KEY-----", *lines, f"-----{'END'} {label} KEY-----", ""))
        yield Sample(f"{label} key in one line", f'key = "{pem}"'.replace("\n", "\\n"), tuple(lines[1:]))
        yield Sample(f"{label} key with blanks", f"KEY={pem}".replace("\n", " "), tuple(lines[1:]))
        coded = base64.b64encode(pem.encode()).decode()
        yield Sample(f"{label} key in base64", f"key: {coded}\n", (coded[100:160], coded[-80:-20]))
    account = {"type": "service_account", "project_id": "shop", "private_key_id": chars(HEX, 40)(chance)}
    account |= {
        "private_key": "\n".join((f"-----{'BEGIN'} PRIVATE KEY-----", *lines, f"-----{'END'} PRIVATE KEY-----", ""))
    }
    for indent in (None, 2):
        coded = base64.b64encode(json.dumps(account, indent=indent).encode()).decode()
        for name, place in {"env": "GOOGLE_CREDENTIALS={}", "code": 'creds = load("{}")', "yaml": "key: {}"}.items():
            yield Sample(f"service account in base64, {name}", place.format(coded), (coded[400:460], coded[-90:-30]))
    pair = base64.b64encode(f"deploy:{password(chance)}".encode()).decode()
    yield Sample("basic header", f"Authorization: Basic {pair}\n", (pair,))
    yield Sample("basic header in code", f'headers={{"Authorization": "Basic {pair}"}}\n', (pair,))
    settings = base64.b64encode(
        json.dumps({"user": "app", "password": password(chance), "host": "db"}).encode()
    ).decode()
    yield Sample("settings in base64", f'CONFIG = "{settings}"\n', (settings,))
    session = "IQoJb3JpZ2" + "luX2Vj" + base64.b64encode(chance.randbytes(300)).decode()
    yield Sample("aws session token", f'session = "{session}"\n', (session[20:],))
    signed = jwt(chance)
    yield Sample("jwt in prose", f"Send {signed} with the request.\n", (signed,))


HARMLESS = Path(__file__).with_name("harmless_secrets.txt")
"""Lines in which nothing is to be masked; `¦` divides what other scanners take for a token."""


def harmless(seed: int = 7) -> Iterator[Sample]:
    """Yield texts in which nothing is to be masked."""
    chance = random.Random(seed)
    for number, line in enumerate(HARMLESS.read_text("utf-8").replace("¦", "").splitlines()):
        yield Sample(f"line {number}", line)
    generated: dict[str, Callable[[], str]] = {
        'commit = "{}"': lambda: hashlib.sha1(chance.randbytes(9)).hexdigest(),
        "See commit {} for the reason.": lambda: hashlib.sha1(chance.randbytes(9)).hexdigest(),
        'checksum = "{}"': lambda: hashlib.sha256(chance.randbytes(9)).hexdigest(),
        "md5:{}": lambda: hashlib.md5(chance.randbytes(9)).hexdigest(),
        'key = "{}"  # of the cache': lambda: hashlib.md5(chance.randbytes(9)).hexdigest(),
        'request_id = "{}"': lambda: str(uuid.UUID(int=chance.getrandbits(128))),
        'api_key = "{}"': lambda: str(uuid.UUID(int=chance.getrandbits(128))),
        "key: {}": lambda: str(uuid.UUID(int=chance.getrandbits(128))),
        "The id is {}.": lambda: str(uuid.UUID(int=chance.getrandbits(128))),
        '"integrity": "sha512-{}"': lambda: base64.b64encode(hashlib.sha512(chance.randbytes(9)).digest()).decode(),
        'image = "data:image/png;base64,{}"': lambda: base64.b64encode(
            b"\x89PNG\r\n\x1a\n" + chance.randbytes(200)
        ).decode(),
        'data = base64.b64decode("{}")': lambda: base64.b64encode(chance.randbytes(90)).decode(),
        'text = "{}"': lambda: base64.b64encode(b"The quick brown fox jumps over the lazy dog. " * 2).decode(),
        "index {}..": lambda: chars(HEX, 40)(chance),
    }
    for place, make in generated.items():
        for number in range(4):
            yield Sample(f"{place} {number}", place.format(make()))


def main() -> int:
    """See the module."""
    found, plain = list(secrets()), list(harmless())
    missed = [one for one in found if not one.is_masked()]
    wrong = [one for one in plain if one.is_masked()]
    for one in missed:
        print(f"missed {one.id}")
    for one in wrong:
        print(f"masked {one.id}: {[rule for _, _, rule, _ in find_secrets(one.text.encode())]} {one.text[:100]}")
    print(
        f"{len(found) - len(missed)} of {len(found)} secrets found; {len(wrong)} of {len(plain)} harmless texts masked"
    )
    return 1 if missed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
