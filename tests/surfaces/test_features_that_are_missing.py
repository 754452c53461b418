"""Questions for a feature that a project lacks: which of their words no code has, whatever else the hits resemble."""

from __future__ import annotations

from pathlib import Path

from atlas.app.main import open_atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository
from tests.surfaces.test_tools_impact import QUICK, indexed

_NET = '''"""Transports."""


class Transport:
    """Sends what is asked for.

    The stream may be anything, and on mercredi more.
    """

    # a stream may be plain TCP or TLS
    def open(self, redirects, address):
        """Open a stream to an address."""
        REDIRECT_LIMIT = redirects
        return (address, REDIRECT_LIMIT)


def dial_host(redirects):
    return redirects
'''
_TEST = "from shop.net import Transport\n\n\ndef test_retries():\n    assert Transport().open(1, 2)\n"


async def test_words_of_a_feature_are_named_where_only_comments_or_tests_have_them(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    for name, text in {"shop/net.py": _NET, "tests/test_net.py": _TEST, "shop/__init__.py": ""}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        asked = "Can I switch on TLS for the built-in transport, i.e. is there a certificate setting somewhere?"
        said = (await hybrid_search(atlas, asked)).render()
        assert "`tls` occurs in no code, only in comments, documents or tests: shop/net.py:10" in said
        assert "`certificate` occurs in no indexed code or document" in said and "`transport`" not in said
        said = (
            await hybrid_search(atlas, "Is there a way to share a stream among several hosts, Redis or similar?")
        ).render()
        assert "`redis` occurs in no indexed code or document" in said, "a redirect is none"
        said = (await hybrid_search(atlas, "does it support GraphQL out of the box?")).render()
        assert "`graphql` occurs in no indexed code or document" in said, "no symbol, although it is written like one"
        said = (await hybrid_search(atlas, "does it support retries?")).render()
        assert "`retries` occurs in no code, only in comments, documents or tests: tests/test_net.py:4" in said
        said = (await hybrid_search(atlas, "is there a setting for the address of a stream?")).render()
        assert "occurs in no" not in said
        said = (await hybrid_search(atlas, "is there any stream address for it?")).render()
        assert "`stream` occurs in no code, only in comments, documents or tests: shop/net.py:7" in said, "a docstring"
        said = (await hybrid_search(atlas, "do we have a transport limit for tests?")).render()
        assert "no indexed line has both `transport` and `limit`" in said
        said = (await hybrid_search(atlas, "is there a redirect address for a proxy?")).render()
        assert "no indexed line" not in said
        asked = "dial_host has option retries, where is it implemented in the library source?"
        said = (await hybrid_search(atlas, asked)).render()
        assert "definition of function shop.net.dial_host" in said
        assert "`retries` occurs in no code, only in comments, documents or tests: tests/test_net.py:4" in said
        said = (await hybrid_search(atlas, "where is dial_host defined, and its option debounce?")).render()
        assert "`debounce` occurs in no indexed file" in said
        said = (await hybrid_search(atlas, "dial_host has parameter redirects, where is it implemented?")).render()
        assert "occurs in no" not in said


_GUIDE = """# Running

## Several servers

Shop does not provide any built-in facility for work in a
distributed manner. There are ways, though.

To sell through many machines, divide the shelves and give
each of the machines its own.

## Limits

* It does not support colours.
* There is no telephone support builtin to it.

## Colours of receipts

Receipts are printed on parchment.
"""


async def test_a_document_that_says_what_there_is_not_is_quoted(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    for name, text in {"shop/net.py": _NET, "docs/running.md": _GUIDE, "shop/__init__.py": ""}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await hybrid_search(atlas, "Is there a way to let several machines share one stream?")).render()
        assert (
            "`machines` occurs in no indexed code; docs/running.md:5 says: Shop does not provide any built-in facility"
            " for work in a, and 8 To sell through many machines" in said
        )
        said = (await hybrid_search(atlas, "Does it support a telephone?")).render()
        assert "`telephone` occurs in no indexed code; docs/running.md:14 says: * There is no telephone support" in said
        said = (await hybrid_search(atlas, "Is there support for parchment?")).render()
        assert "`parchment` occurs in no indexed code, only in docs/running.md:18" in said, "another section denies"


async def test_an_abbreviation_that_only_examples_have_is_no_feature_of_a_symbol(tmp_path: Path) -> None:
    files = {
        "shop/net.py": "class Transport:\n    def open(self, address):\n        return read_json(address)\n",
        "shop/__init__.py": "",
        "examples/secure/main.py": "import tls\n\n\ndef run_tls():\n    return tls.wrap(1)\n",
    }
    for name, text in files.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text(text)
    await indexed(tmp_path / "shop", tmp_path / "data")
    settings = load_settings(str(tmp_path / "shop"), str(tmp_path / "data"), environment=QUICK)
    async with open_atlas(settings) as atlas:
        said = (await hybrid_search(atlas, "Can Transport terminate TLS itself?")).render()
        assert (
            "`tls` occurs in no code, only in comments, documents, tests or examples: examples/secure/main.py:1" in said
        )
        assert "`terminate`" not in said, "a verb that code may write otherwise"
        said = (await hybrid_search(atlas, "does shop.Transport send SMS when it fails?")).render()
        assert "`sms` occurs in no indexed code or document" in said
        said = (await hybrid_search(atlas, "can Transport read JSON?")).render()
        assert "occurs in no" not in said
        said = (await hybrid_search(atlas, "can Transport be closed early")).render()
        assert "occurs in no" not in said, "only abbreviations are looked for"


_CLI = """import argparse


def parse(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--sort-order", default="name")
    # rather no strict mode
    parser.add_argument("--lines", type=int, default=80)
    return parser.parse_args(argv), dict(dryRun=True)
"""


async def test_a_flag_that_no_code_has_is_said_first(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    guide = "# Other tools\n\nTo sort imports, use another tool with `--sort-all`.\n"
    for name, text in {"shop/cli.py": _CLI, "docs/guide.md": guide, "shop/__init__.py": ""}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        for asked in (
            "which function implements the --sort-imports flag?",
            "what does --sort-imports do",
            "where is --sort-imports handled",
            "default of --sort-imports",
        ):
            said = (await hybrid_search(atlas, asked)).render().splitlines()[1:]
            assert said[0] == "`--sort-imports` occurs in no indexed file; `sort imports` in docs/guide.md:3", asked
            assert said[1] == "flags that are declared: --sort-order shop/cli.py:6", asked
            assert not any("values that may be meant" in line for line in said), asked
            assert any("the hits are merely the nearest" in line for line in said), asked
            assert not any(" likely" in line or " sure" in line for line in said), asked
        said = (await hybrid_search(atlas, "which code handles --sort-all?")).render()
        assert "`--sort-all` occurs in no indexed code, only in docs/guide.md:3" in said or "documented in 1" in said
        said = (await hybrid_search(atlas, "is there a --strict-mode option")).render()
        assert "`--strict-mode` occurs in no indexed file; `strict mode` in shop/cli.py:7" in said
        for asked in ("where is --sort-order handled", "what does --dry-run do", "which code handles --lines"):
            assert "occurs in no" not in (await hybrid_search(atlas, asked)).render(), asked


async def test_what_was_there_once_is_said_with_its_lines_and_commits(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "queue")
    repository.commit("Add an SQS storage", {"queue/sqs.py": "class SqsStorage:\n    pass\n"})
    changes = "# 2.0\n\n* Remove junk SQS implementation\n"
    code = (
        "pub enum Mechanism {\n    Plain,\n}\n\npub fn supports(a: Mechanism) {}\n\n#[cfg(test)]\nmod tests {\n"
        '    #[test]\n    fn parses() {\n        let a = "AUTH CRAM-MD5";\n    }\n}\n'
    )
    cli = 'program.command("migrate:up")\nprogram.command("migrate:down")\n'
    files: dict[str, str | None] = {
        "queue/sqs.py": None,
        "queue/storage.py": "class Storage:\n    pass\n",
        "CHANGELOG.md": changes,
        "src/lib.rs": code,
        "Cargo.toml": '[package]\nname = "post"\nversion = "0.1.0"\n',
        "bin/cli.js": cli,
    }
    repository.commit("Remove junk sqs implementation", files)
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        said = (await hybrid_search(atlas, "does it have an SQS backend? I believe I saw one in contrib")).render()
        assert "only in CHANGELOG.md:3 * Remove junk SQS implementation" in said and "`believe`" not in said
        assert "commits that name `sqs`: " in said and "Add an SQS storage" in said
        said = (await hybrid_search(atlas, "does post support CRAM-MD5 auth?")).render()
        assert "`cram-md5` occurs in no code, only in comments, documents or tests: src/lib.rs:11" in said
        said = (await hybrid_search(atlas, "Is there something like migrate:redo on the command line?")).render()
        assert "`migrate:redo` occurs in no indexed file; `migrate:` has migrate:up bin/cli.js:1, migrate:down" in said
        said = (await hybrid_search(atlas, "what does migrate:up do")).render()
        assert "occurs in no" not in said
    repository.close()


async def test_a_word_that_stands_nowhere_is_followed_by_the_names_it_may_be_a_slip_of(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "cart.py").write_text(
        "def checkout(cart):\n    return graph(cart)\n\n\ndef graph(cart):\n    return cart\n"
    )
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        for question in ("callers of chekcout", "where is checkuot", "what does checkot do"):
            said = (await hybrid_search(atlas, question)).render()
            assert "occurs in no indexed code or document\nnear names: cart.checkout cart.py:1" in said, (
                question,
                said,
            )
        said = (await hybrid_search(atlas, "path from checkout to cart.grahp")).render()
        assert "no symbol is named `cart.grahp` (near: cart.graph): searched as text" in said
        for question in ("callers of graphql", "is there a kafka client"):
            said = (await hybrid_search(atlas, question)).render()
            assert "occurs in no indexed code" in said and "near names" not in said, (question, said)
