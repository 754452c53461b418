"""First answers say what is known beside edges: handed-over functions, steps by name, declared results, constants."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.graph.return_types import result_of
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES = {
    "shop/scaler.py": (
        "class Scaler:\n    def maybe_scale(self):\n        return 1\n\n    def body(self):\n        self.maybe_scale()\n\n\n"
        "def register(hub, worker):\n    hub.on_message.add(worker.scaler.maybe_scale)\n"
    ),
    "shop/sender.py": (
        "class Amqp:\n    def send_task_message(self, name):\n        return name\n\n\n"
        "class App:\n    def send_task(self, name):\n        amqp = make(self)\n        amqp.send_task_message(name)\n\n\n"
        "class Task:\n    def apply_async(self):\n        app = self._get()\n        return app.send_task('x')\n"
    ),
    "shop/files.py": (
        "class Files:\n    def serve(self, path):\n        return self.respond(path)\n\n    def respond(self, path):\n"
        "        return run_in_thread(self.look_up, path)\n\n    def look_up(self, path):\n        return path\n"
    ),
    "shop/router.py": (
        "class Router:\n    def __init__(self, redirect_slashes=True):\n        self.redirect_slashes = redirect_slashes\n\n"
        "    def app(self, path):\n        if self.redirect_slashes:\n            return path.rstrip('/')\n        return path\n"
    ),
    "web/Mode.java": (
        'enum Mode {\n  FAST { String label() { return "f"; } },\n  SLOW { String label() { return "s"; } };\n'
        "  abstract String label();\n}\n"
    ),
    "web/text_tools.rb": "module Web\n  def self.slug(text)\n    text\n  end\nend\n",
    "web/errors.rb": (
        "require_relative 'text_tools'\nmodule Web\n  module BadRequest\n  end\n  class TooLong < StandardError\n    include BadRequest\n  end\nend\n"
    ),
    "shop/texts.py": (
        "ROOT_DISALLOWED = 'Running a worker with superuser privileges is a very bad idea'\n\n\n"
        "def check_privileges(uid):\n    if not uid:\n        raise RuntimeError(ROOT_DISALLOWED.format(uid))\n"
    ),
    "web/links.ts": (
        "export type Link = (op: string) => string;\n\n"
        "export function httpLink<T extends object = {}>(opts: { url: Link }): Link {\n  return (op) => op;\n}\n\n"
        "export const splitLink = (link: Link): Link => link;\n\nexport function useLink(link: Link): void {}\n"
    ),
    "codec/codec.go": (
        "package codec\n\ntype Encoder interface{ Encode(v int) string }\ntype Decoder interface{ Decode(s string) int }\n"
        "type Codec interface {\n\tEncoder\n\tDecoder\n}\n"
    ),
    "codec/json/json.go": (
        'package json\n\ntype Codec struct{}\n\nfunc (Codec) Encode(v int) string { return "" }\n'
        "func (Codec) Decode(s string) int { return 0 }\n"
    ),
    "docs/v1/flags.md": "# Flags\n\nA flag takes its value from the environment.\n",
    "docs/v2/sources.md": "# Sources\n\nValues of a flag come from the environment.\n",
    "docs/v2/start.md": "# Start\n\nInstall it.\n",
    "docs/index.md": "# Shop\n\nA flag takes its value from the environment: see v2.\n",
    "go.mod": "module example.com/shop\n\ngo 1.21\n",
}


ANSWERS: dict[str, tuple[str, ...]] = dict(
    [
        (
            "who calls maybe_scale",
            ("maybe_scale shop/scaler.py:2: 1", "handed over as a value", "scaler.py:10 in `register`"),
        ),
        ("maybe_scale: who invokes it or gets it handed over?", ("callers of", "scaler.py:10 in `register`")),
        (
            "call chain from Task.apply_async to send_task_message",
            ("send_task_message from", "App.send_task 15 (name", "Amqp.send_task_message 9 (", "not certain"),
        ),
        ("path from Files.serve to Files.look_up", ("Files.respond 3", "Files.look_up 6", "handed over as a value")),
        ("what does redirect_slashes do?", ("router.py:6 then:", "return path.rstrip('/')")),
        ("List the constants of the enum Mode", ("that are fields or constants: 2 of 3", "FAST 2", "SLOW 3")),
        ("which files require text_tools", ("importers of file web/text_tools.rb", "errors.rb")),
        ("Which errors include the Web::BadRequest module?", ("subclasses of", "TooLong")),
        ("path from Task.apply_async to check_privileges", ("unknown", "unknown rather than none")),
        ("list every function whose return type is Link", ("functions returning type_alias", "httpLink", "splitLink")),
        ("Which types satisfy the Codec interface?", ("implementations of interface", "codec/json/json.go")),
        (
            "Bad usage: running a worker with superuser privileges is not a very bad idea: root",
            ("texts.py:1",),
        ),
        ("which page in docs/v2 says from where a flag takes its value", ("docs/v2/sources.md", "only docs/v2/ was")),
        ("I need the page of the v2 docs about the value of a flag", ("docs/v2/sources.md", "only docs/v2/ was")),
        (
            "Running a worker with superuser privileges is a very bad idea -- which function raises this?",
            ("texts.py:1", "6: raise RuntimeError(ROOT_DISALLOWED.format(uid))  <- in check_privileges"),
        ),
    ]
)


async def test_first_answers(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        for question, expected in ANSWERS.items():
            said = (await hybrid_search(atlas, question)).render()
            missing = [part for part in expected if part not in said]
            assert not missing and "useLink" not in said, (question, missing, said)


@pytest.mark.parametrize(
    ("signature", "name", "expected"),
    [
        ("def load(path: Link) -> Config", "load", " -> Config"),
        ("func (l Logger) Sample(s Sampler) Logger", "Sample", " Logger"),
        (
            "public static Builder<T> Add<T>(this Builder<T> builder, Func<int, T> make)",
            "Add",
            "public static Builder<T> ",
        ),
        ("function httpLink< T extends (a: Link) => void, >( opts: O<T>, ): Link<T>", "httpLink", ": Link<T>"),
        ("fun <A> saga(action: suspend Scope.() -> A): Saga<A>", "saga", ": Saga<A>"),
        ("fn read<R: Read>(r: R) -> Result<Page, Error>", "read", " -> Result<Page, Error>"),
    ],
)
def test_the_result_of_a_signature(signature: str, name: str, expected: str) -> None:
    assert result_of(signature, name).strip() == expected.strip()
