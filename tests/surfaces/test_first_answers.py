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
    "jobs/retries.py": (
        'class Retries:\n    """Runs failed tasks again."""\n\n    def __init__(self, max_retries: int = 20):\n'
        "        self.max_retries = max_retries\n\n\ndef compute_pause(count):\n    return count\n"
    ),
    "jobs/brokers/redis.py": "class RedisBroker:\n    def push(self, text):\n        return text\n\n    def run(self):\n        self.push('x')\n",
    "jobs/brokers/stub.py": "class StubBroker:\n    def push(self, text):\n        return text\n\n    def flush(self):\n        self.push('y')\n",
    "jobs/env.py": (
        "import os\n\n\ndef int_of(name):\n    return int(os.getenv(name, None) or 0)\n\n\nSTACK = int_of('jobs_max_stack')\n"
        "thread = dict(name='worker_thread')\nMODE = os.environ['SHOP_MODE']\n"
    ),
    "jobs/limits.py": (
        "def connect(options):\n    table = (\n        options.table_name or 'migrations'\n    )\n"
        "    if options.slow_query_time:\n        return table\n    return options.slow_query_time\n"
    ),
    "jobs/refused.py": "OPTIONS = dict(message='Host not permitted')\n",
    "jobs/places.py": "def find(route):\n    if not route:\n        raise ValueError('places: the route has no host')\n",
    "Ftp/conn.py": "from jobs.limits import connect\n\n\nclass FtpLink:\n    def open_it(self, timeout=90):\n        return connect(timeout)\n",
    "other/shop/late.py": "from jobs.limits import connect\n\n\ndef late():\n    return connect(1)\n",
    "shop/early.py": "from jobs.limits import connect\n\n\ndef early():\n    return connect(2)\n",
    "cli/main.rs": (
        "enum Step {\n    Raw,\n    Shell(String),\n}\n\nfn main() {\n    run();\n}\n\nfn run() {\n    measure_all();\n}\n\n"
        "fn measure_all() {}\n\ntrait Sink {}\n\nstruct Csv;\n\nimpl Sink for Csv {}\n\n"
        'fn build() {\n    Arg::new("strict").long("strict").help("Strict");\n}\n'
    ),
    "cli/Cargo.toml": (
        '[package]\nname = "tool"\nversion = "1.0.0"\n\n[dependencies]\nserde = "1"\n\n'
        '[target.\'cfg(windows)\'.dependencies]\nwinapi = "0.3"\n\n[dev-dependencies]\ninsta = "1"\n'
    ),
    "tests/test_strict.py": "def test_strict_mode():\n    assert run(['--strict', 'x'])\n",
    "tests/test_streams.py": "def test_nothing():\n    assert True\n",
    "shop/streams.py": "class Streams:\n    pass\n",
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
            "how many times is a failed task retried before it gives up",
            (
                "values that may be meant",
                "jobs/retries.py:4 Retries.__init__: def __init__(self, max_retries: int = 20):",
            ),
        ),
        ("who calls push in the redis broker", ("RedisBroker.push jobs/brokers/redis.py:2: 1", "RedisBroker.run 6")),
        (
            "list every SHOP_* environment variable",
            ("1 environment variable", "SHOP_MODE: jobs/env.py:10", "begin with `SHOP_`"),
        ),
        ("Sink trait - all the types implementing it", ("implementations of trait", "Csv 18,20 (")),
        (
            "which environment variables does frobnicator read",
            ("none of these lines says frobnicator: all that are known",),
        ),
        ("which environment variables are read", ("jobs_max_stack: jobs/env.py:8", "2 environment variables")),
        ("whats the default of table_name", ("1 assignment", "jobs/limits.py:3: options.table_name or 'migrations'")),
        ("default of slow_query_time", ("no assignment of a value found, so no default is known", "jobs/limits.py:5")),
        ("the route has no host", ("3: raise ValueError('places: the route has no host')",)),
        ("ftp timeout default", ("Ftp/conn.py:5 FtpLink.open_it: def open_it(self, timeout=90):",)),
        ("callers of connect in the ftp folder", ("in ftp: 1 of 3", "open_it 6")),
        ("callers of connect in shop", ("in shop: 1 of 3", "early 5")),
        ("Host not permitted", ("1: OPTIONS = dict(message='Host not permitted')",)),
        ("what happens from main to measure_all", ("path to measure_all from function", "run 7", "measure_all 11 (")),
        ("variants of the Step enum", ("Step.Raw 2", "Step.Shell 3")),
        ("Which types implement the Sink trait?", ("implementations of trait", "Csv 18,20 (")),
        ("tests of --strict", ("tests in 1 place", "tests/test_strict.py:2: test_strict_mode: ")),
        (
            "which test files cover Streams?",
            ("tests of class shop.streams.Streams", "tests/test_streams.py", "by their name"),
        ),
        ("dependencies on windows", ("windows dependencies: 1 by their condition", "winapi 0.3")),
        ("crates only needed for tests", ("development dependencies: 1", "insta 1")),
        ("is there a websocket client", ("`websocket` occurs in no indexed code or document",)),
        ("Can I switch on a websocket for it, i.e. is there a setting?", ("`websocket` occurs in no indexed code",)),
        ("callers of websocket", ("`websocket` occurs in no indexed code or document",)),
        ("where is websocket defined?", ("`websocket` occurs in no indexed code or document",)),
        ("Where is permessage-deflate compression negotiated?", ("`permessage-deflate` occurs in no indexed code",)),
        ("how do I ship what the worker reads to kafka", ("`kafka` occurs in no indexed code or document",)),
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


async def test_a_pronoun_is_no_setting(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "notes.md").write_text("Each part has its own place. In its current form its default is to wait.\n")
    (root / "a.py").write_text("retention_size = 5\nits = 3\n")
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await hybrid_search(atlas, "which flag sets the retention size and what's its default")).render()
        assert "`its`" not in said, said


_LIMITS = """package shop

import "fmt"

type Config struct {
	MaxItems int
}

func DefaultConfig() *Config {
	return &Config{
		MaxItems: 64,
	}
}

func ValidateConfig(config *Config) error {
	if config.MaxItems <= 0 {
		return fmt.Errorf("not positive")
	}
	if config.MaxItems > 1024 {
		return fmt.Errorf("too large")
	}
	return nil
}

func (c *Cart) isFull(config *Config) bool {
	// MaxItems > 7 is an error
	if len(c.items) >= config.MaxItems {
		return true
	}
	return config.MaxItems < 3
}
"""


async def test_the_range_of_a_setting_is_told_by_the_lines_that_refuse_values(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "config.go").write_text(_LIMITS)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await hybrid_search(atlas, "What is the default and the allowed range of MaxItems?")).render()
        head = said.partition("values that may be meant:\n")[2].splitlines()[:4]
        assert [line.strip() for line in head[:3]] == [
            "config.go:11 DefaultConfig: MaxItems: 64,",
            'config.go:16 ValidateConfig: if config.MaxItems <= 0 { ... return fmt.Errorf("not positive")',
            'config.go:19 ValidateConfig: if config.MaxItems > 1024 { ... return fmt.Errorf("too large")',
        ]
        assert head[3].startswith("field "), "a comment and a use refuse nothing"


_PRINTING = """Printing
========

Printing receipts on paper
--------------------------

Receipts can be printed on paper by a printer of receipts, as in this example of
printing receipts:

.. code-block:: python

    printer = open_printer("receipts")
    for receipt in receipts:
        printer.feed(receipt, paper=True)
        printer.cut(receipt)
        printer.wait(receipt)
    printer.close()

{more}
However, a printer that is opened directly circumvents the queue.
We recommend using `the spooler`_
for a better throughput.

.. _the spooler: https://spool.example
"""


async def test_a_section_shows_what_it_advises_in_the_end(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    (root / "docs").mkdir(parents=True)
    more = "".join(
        f"Drawer {number} hums along while it waits for its turn, as all of them do.\n\n" for number in range(60)
    )
    (root / "docs" / "printing.rst").write_text(_PRINTING.replace("{more}", more))
    (root / "docs" / "colours.rst").write_text("Colours\n=======\n\nYou should use few.\n")
    (root / "a.py").write_text("def feed(paper):\n    return paper\n")
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        asked = "Which page of the manual is about printing receipts on paper, and what does it recommend in the end?"
        said = (await hybrid_search(atlas, asked)).render()
        assert "We recommend using `the spooler`_\n" in said and "for a better throughput." in said, said
        said = (await hybrid_search(atlas, "Which page of the manual is about printing receipts on paper?")).render()
        assert "throughput" not in said, said


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
