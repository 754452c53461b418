"""A real `atlas ui` process over a hostile repository, and a reader of its pages that trusts nothing in them."""

from __future__ import annotations

import html
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from tests.surfaces.processes import COMMAND, environment

MARKUP = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
SECRET = "AKIA" + "Z7QK3LMWN5RTXU2V"
"""An access key by its form, of nobody."""
ALLOWED_TAGS = frozenset(
    """
    html head meta title link script body a header nav form input button ul li main footer p kbd h1 h2 h3 section
    div table thead tbody tr td th i span code pre select option label svg g rect text details summary circle path
    line polygon marker defs caption blockquote ol
    noscript article textarea time strong
    """.split()  # noqa: SIM905 one word a line would fill pages
)
ALLOWED_ATTRIBUTES = frozenset(
    """
    font-family font-size
    lang charset name content rel href src defer class id type value placeholder role tabindex title hidden action
    maxlength autocomplete selected aria-label aria-current scope data-copy data-live open colspan rowspan viewbox
    width height x y fill rx xmlns for transform d points stroke marker-end text-anchor x1 x2 y1 y2 refx refy
    markerwidth markerheight orient cx cy r
    method rows required inputmode aria-live autofocus data-talk data-state data-entry stroke
    """.split()  # noqa: SIM905 one word a line would fill pages
)

HOSTILE = {
    "shop/cart.py": f'''"""Carts: {MARKUP.replace('"', "'")} {{{{ 7 * 7 }}}} \u202etxt.exe"""

KEY = "{SECRET}"


def total(amount: int, label: str = '{MARKUP}') -> int:
    """Sum up. <script>alert(3)</script>"""
    return discount(amount)


def discount(amount: int) -> int:
    """Reduce by </pre></div><script>alert(4)</script>."""
    return amount * 9 // 10


class Basket:
    """A basket."""

    def price(self) -> int:
        """Ask for the total."""
        return total(3)

    def weight(self) -> int:
        return 1

    def height(self) -> int:
        return 2
''',
    "shop/<img src=x onerror=alert(5)>/x.py": "from shop.cart import total\n\n\ndef use() -> int:\n    return total(1)\n",
    "web/app.ts": "export class Shop {\n  '<script>alert(6)</script>'() { return 1; }\n  run() { return 2; }\n}\n",
    "web/javascript:alert(7).md": f"# {MARKUP}\n\nText about `total`.\n\n[x](javascript:alert(8))\n",
    "web/routes.py": "from fastapi import FastAPI\n\napp = FastAPI()\n\n\n@app.get('/<script>alert(9)</script>')\n"
    "def page() -> int:\n    return 1\n",
    "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_total() -> None:\n    assert total(1) == 0\n",
    "README.md": f"# Shop {MARKUP}\n\nA shop.\n",
    "other.py": "def other(thing):\n    return getattr(thing, 'weight')()\n",
    ".env": "PASSWORD=hunter2-hunter2\n",
    "broken.py": "def broken(:\n",
}


def write_hostile(root: Path) -> None:
    """Write the repository, with a history whose messages and author are hostile, too."""
    for path, text in HOSTILE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    author = ["-c", "user.name=<script>alert(10)</script>", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-q", "-m", f"Add {MARKUP}"]):
        subprocess.run(["git", *author, *command], cwd=root, check=True, capture_output=True)
    # not committed yet
    (root / "shop" / "cart.py").write_text(HOSTILE["shop/cart.py"].replace("9 // 10", "8 // 10"), encoding="utf-8")


@dataclass
class ServedExplorer:
    """An explorer that runs, and the address that lets one browser in."""

    process: subprocess.Popen[str]
    address: str
    root: Path
    data: Path
    lines: list[str] = field(default_factory=list[str])

    @property
    def base(self) -> str:
        return self.address.partition("/?")[0]

    def client(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.base, timeout=60)

    def enter(self, client: httpx2.Client) -> None:
        """Use the address; the client has the cookie then."""
        answer = client.get(self.address)
        assert answer.status_code == 200, answer.text
        assert re.search(r'http-equiv="refresh" content="0; url=/', answer.text)


@contextmanager
def explorer(
    root: Path, data: Path, *arguments: str, env: Mapping[str, str] | None = None, patience: float = 60
) -> Generator[ServedExplorer]:
    """`atlas ui` on a free port until Ctrl-C at the end of the block; it makes the first index within `patience` s."""
    command = [*COMMAND, "ui", "--no-open", "--project", str(root), "--data-dir", str(data), *arguments]
    heeded = "import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); os.execv(sys.argv[1], sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", heeded, *command],  # a shell in the background ignores Ctrl-C for its processes
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(env) if env is not None else environment(),
    )
    served, listening = ServedExplorer(process, "", root, data), threading.Event()

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            served.lines.append(line)
            if found := re.search(r"http://\S+", line):
                served.address = found.group()
                listening.set()
        listening.set()

    reading = threading.Thread(target=read)
    reading.start()
    try:
        listening.wait(patience)
        assert served.address, "".join(served.lines)
        yield served
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(15)
        finally:
            process.kill()
            reading.join(15)
            assert process.stderr is not None
            process.stderr.close()
    assert process.returncode == 0, "".join(served.lines)


@contextmanager
def opened(
    folder: Path, files: dict[str, str], *, history: bool = False, env: Mapping[str, str] | None = None
) -> Generator[httpx2.Client]:
    """A browser in the explorer of a project with these files, each committed by itself if it has a history."""
    root = folder / "shop"
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=a@example.org"]
    root.mkdir()
    if history:
        subprocess.run([*git, "init", "-q"], cwd=root, check=True)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
        if history:
            subprocess.run([*git, "add", "-A"], cwd=root, check=True)
            subprocess.run([*git, "commit", "-q", "-m", f"Write {path}"], cwd=root, check=True)
    with explorer(root, folder / "data", env=env) as served, served.client() as client:
        served.enter(client)
        yield client


def text_of(client: httpx2.Client, path: str) -> str:
    """A page as text, one line for each element of a list."""
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    body = re.sub(r"(?s)<head>.*?</head>|<header.*?</header>", "", answer.text)
    return html.unescape(re.sub(r"<[^>]+>", "", body))


class PageReader(HTMLParser):
    """Reads a page as a browser would; collects its links and everything that no page of ours may have."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.wrong: list[str] = []
        self.scripts: list[str] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ALLOWED_TAGS:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ALLOWED_ATTRIBUTES:
                self.wrong.append(f"{tag} {name}={value}")
            if name in ("href", "src", "action"):
                self._address(tag, value or "")

    def _address(self, tag: str, value: str) -> None:
        if not value.startswith(("/", "#")) or value.startswith("//"):
            self.wrong.append(f"{tag} leads to {value}")
        if tag == "script":
            self.scripts.append(value)
        if tag == "a" and value.startswith("/"):
            self.links.add(urlsplit(value)._replace(fragment="").geturl())

    def handle_data(self, data: str) -> None:
        self.text.append(data)
