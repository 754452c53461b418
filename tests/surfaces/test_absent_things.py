"""Questions for things that no code has, by their proper name, beside a noun, or by what an option does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from atlas.app.main import open_atlas
from atlas.code.lines.absent.named import find_absent_named
from atlas.code.question.parse_question import route
from atlas.code.tools.search.search import hybrid_search
from atlas.core.model import Filter
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES = {
    "shop/__init__.py": "",
    "shop/send.py": (
        "class Sender:\n    # a cookie against CSRF\n    def send(self, order, retries=0):\n"
        "        return self.open(order, retries)\n\n    def open(self, order, retries):\n        return order\n"
    ),
    "shop/bundled/cors_plugin.py": "class CorsPlugin:\n    def allow(self, origin):\n        return GeoJson(origin)\n",
    "shop/encoders.py": "class JsonEncoder:\n    pass\n\n\nclass TextEncoder:\n    pass\n",
    "shop/prices.py": (
        "def read_prices(directory):\n    stored = directory\n    return stored\n\n\ndef cached(price):\n\n\n\n\n"
        "    return price\n\n\n\n\n\ndef persistent(order):\n    return order\n"
    ),
    "docs/guide.md": "# Guide\n\nUse Dropbox to share prices.\n\n### cached\n\nKept until the end.\n",
    "bench/go.mod": "module bench\n\nrequire example.org/logfmt v1.0.0\n",
}


class _Encoder:
    """A model of prose that knows no word of a file format as a whole."""

    def tokens(self, text: str) -> Sequence[int]:
        return (1, 2) if text in ("logfmt", "json", "text") else (1,)


async def test_a_proper_name_that_no_code_has_is_said_first(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:

        async def said(question: str) -> list[str]:
            return (await hybrid_search(atlas, question)).render().splitlines()[1:]

        lines = await said("Show me the code that honours a Retry-After header and waits with backoff for orders.")
        assert lines[0] == "`Retry-After` or `backoff` occurs in no indexed file"
        assert lines[1].startswith(
            "code with `retry`: shop/send.py:3 def send(self, order, retries=0):; shop/send.py:4 "
        )
        assert any("the hits are merely the nearest" in line for line in lines)
        lines = await said("Name the plugin that issues CSRF tokens of an order.")
        assert (
            lines[0]
            == "`CSRF` occurs in no code, only in comments, documents or tests: shop/send.py:2 # a cookie against CSRF"
        )
        assert lines[1] == "what is called so: CorsPlugin shop/bundled/cors_plugin.py:1", "a folder of its own code"
        assert not any("the first line says" in line for line in lines), "a comment beside the code may lead there"
        assert (await said("find the code that uploads prices to Kafka"))[0] == "`Kafka` occurs in no indexed file"
        for question in (
            "Name the plugin for CORS of an order",
            "where is GeoJson made of an origin?",
            "find the code that shares prices through Dropbox",
            "which code sends an order when JWT is on?",
            "which page tells how to use JWT for prices?",
        ):
            assert not any("occurs in no" in line for line in await said(question)), question


async def test_a_name_beside_a_noun_is_absent_where_types_are_called_so_and_it_is_no_english(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        reader = replace(atlas.reader, prose_encoder=_Encoder)

        async def said(question: str) -> tuple[str, ...]:
            query = route(question, reader.split_words, reader.languages)
            return await find_absent_named(reader, query, Filter(project=reader.project))

        first, kinds = await said("Where is the logfmt encoder implemented?")
        assert first.startswith("`logfmt` is defined nowhere: it occurs in no indexed code, only in ")
        assert kinds == "what is called so: JsonEncoder shop/encoders.py:1, TextEncoder shop/encoders.py:5"
        assert not await said("Where is the json encoder implemented?")
        assert not await said("Where is the fast encoder implemented?"), "a word of English"
        assert not await said("Where is the well-made encoder implemented?"), "its parts are"
        assert not await said("Where is the logfmt monster implemented?"), "nothing is called so"


async def test_an_option_is_absent_where_a_word_of_what_it_does_is_near_no_other(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        lines = (
            await hybrid_search(atlas, "Which option sets the directory where persistent prices are cached?")
        ).render()
        assert (
            "outside of tests, no line within 3 lines of `persistent` has any of `directory`, `prices`, `cached`\n"
            "headings that are names with one of the words: docs/guide.md:5 ### cached" in lines
        )
        for question in (
            "Which option sets the directory where prices are stored?",
            "Which function reads persistent prices of a directory?",
        ):
            assert "outside of tests" not in (await hybrid_search(atlas, question)).render(), question


async def test_a_variable_for_a_topic_that_no_read_has_is_denied_with_the_default_that_code_has(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    files = {
        "lib/shop.js": (
            "const defaultOptions = {\n  level: 'info',\n  depthLimit: 5,\n  edgeLimit: 100\n};\n"
            "function host() {\n  return process.env.SHOP_TOKEN;\n}\n"
            "function more() {\n  return process.env.NODE_OPTIONS;\n}\n"
            "module.exports = { defaultOptions, host };\n"
        ),
        "benchmarks/log_level.js": "process.env.DEBUG = 'log level';\n",
        "docs/api.md": (
            "# Options\n\nThe shop applies `depthLimit` and `edgeLimit` only where the order\ncannot be written as JSON.\n"
        ),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await hybrid_search(atlas, "Which environment variable sets the default log level of shop?")).render()
        assert "(none of these lines says log, level: all that are known)" in said
        assert "default:\n  lib/shop.js:2: level: 'info'," in said
        said = (await hybrid_search(atlas, "Which environment variable sets the Dropbox token?")).render()
        assert "those about dropbox, token: 1 of 3; none of these lines says dropbox" in said
        said = (await hybrid_search(atlas, "Which environment variable sets the token?")).render()
        assert "SHOP_TOKEN" in said and "none of these lines" not in said
        asked = "depthLimit and edgeLimit: default values and when do they take effect at all?"
        said = (await hybrid_search(atlas, asked)).render()
        assert "lib/shop.js:3: depthLimit: 5," in said and "lib/shop.js:4: edgeLimit: 100" in said
        assert "`edgeLimit` only where the order cannot be written as JSON." in said, "the rest of the sentence"


async def test_a_verb_of_a_question_for_an_option_is_nothing_that_code_lacks(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    (root / "shop").mkdir(parents=True)
    (root / "shop/settings.py").write_text(
        "# How long the link of a password reset is valid.\nPASSWORD_RESET_LINK_VALID = 3600\n"
    )
    (root / "shop/door.py").write_text('def door(guest):\n    """The guest stays."""\n    return guest\n')
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        asked = "Which setting decides how long a password reset link stays valid, and what is its default?"
        said = (await hybrid_search(atlas, asked)).render()
    assert "no line within" not in said and "PASSWORD_RESET_LINK_VALID = 3600" in said, said
