"""impact, and questions about changes: a real project, indexed by the real indexer, in a real git repository."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas._parser import count_tokens
from atlas.answers.answer import structure_text
from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.impact import impact
from atlas.code.tools.mermaid import MAX_NODES, flow_chart
from atlas.code.tools.reports import ReportAnswer
from atlas.code.tools.run_tests import RunnerFiles
from atlas.code.tools.run_tests import test_commands as commands_of
from atlas.code.tools.search.search import hybrid_search
from atlas.core.errors import ConfigError, NotFound
from atlas.core.model import NodeRow
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository

from .processes import Place, answer, atlas, server
from .trees import QUICK, indexed

STORE = """class Store:
    def load(self, key):
        raise NotImplementedError


class MemoryStore(Store):
    def load(self, key):
        return [1, 2]
"""
CART = '''from shop.store import Store


def apply_discount(amount):
    """Reduce the amount."""
    return amount * 9 // 10


class Cart:
    def __init__(self, store: Store):
        self.store = store

    def total(self):
        return apply_discount(sum(self.store.load("prices")))
'''
FILES: dict[str, str | None] = {
    "shop/__init__.py": "",
    "shop/store.py": STORE,
    "shop/cart.py": CART,
    "shop/checkout.py": "from shop.cart import Cart\n\n\ndef pay(cart: Cart):\n    return cart.total()\n",
    "shop/legacy.py": "def old_price(value):\n    return value - 1\n",
    "shop/report.py": "from shop.legacy import old_price\n\n\ndef report():\n    return old_price(3)\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart(None).total() == 2\n",
    "docs/discounts.md": "# Discounts\n\nRegular customers: `apply_discount`.\n",
    "web/price.ts": "export function price(n: number) {\n  return n;\n}\n",
}


@pytest.fixture
async def repository(tmp_path: Path) -> AsyncIterator[GitRepository]:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin the shop", FILES)
    await indexed(repository.root, tmp_path / "data")
    yield repository
    repository.close()


@pytest.fixture
async def shop(repository: GitRepository) -> AsyncIterator[Atlas]:
    data = repository.root.parent / "data"
    async with open_atlas(load_settings(str(repository.root), str(data), environment=QUICK)) as opened:
        yield opened


def report_of(found: object) -> dict[str, object]:
    """The structured report; it costs about as much as the text."""
    assert isinstance(found, ReportAnswer)
    assert count_tokens(structure_text(found)) < 1.2 * count_tokens(found.render()) + 60
    return found.structure()["report"]  # type: ignore[return-value]


async def test_a_changed_function_affects_its_callers_tests_and_documents(
    repository: GitRepository, shop: Atlas
) -> None:
    repository.put({"shop/cart.py": CART.replace("* 9", "* 8")})
    report = report_of(await impact(shop, diff="HEAD"))
    assert report["changed"] == {"shop/cart.py": "apply_discount 4 body"}
    assert report["affected"] == {
        "shop/cart.py": "Cart.total 14 (same-module 0.99)",
        "shop/checkout.py": "pay 5 (annotation 0.99) [2] < Cart.total",
    }
    assert report["tests"] == {"tests/test_cart.py": "test_total < Cart.total"}
    assert report["run"] == ["python -m pytest tests/test_cart.py"]
    assert list(report["documents"]) == ["docs/discounts.md"]  # type: ignore[call-overload]


async def test_callers_of_an_overridden_method_may_run_the_override(repository: GitRepository, shop: Atlas) -> None:
    repository.put({"shop/store.py": STORE.replace("return [1, 2]", "return [3]")})
    report = report_of(await impact(shop, diff="HEAD"))
    assert report["changed"] == {"shop/store.py": "MemoryStore.load 7 body"}
    affected: dict[str, str] = report["affected"]  # type: ignore[assignment]
    assert affected["shop/cart.py"].startswith("Cart.total 14 (") and "< Store.load" in affected["shop/cart.py"]
    assert "shop/store.py" not in affected, "the base does not run its override's body by itself"


async def test_layout_and_comments_change_no_symbol(repository: GitRepository, shop: Atlas) -> None:
    repository.put({"shop/store.py": STORE.replace("        return [1, 2]", "        # two\n        return  [1,  2]")})
    report = report_of(await impact(shop, diff="HEAD"))
    assert report["changed"] == {"shop/store.py": "no symbol changed"} and "affected" not in report


async def test_what_is_removed_is_still_named_somewhere(repository: GitRepository, shop: Atlas) -> None:
    repository.put({"shop/legacy.py": "def new_price(value):\n    return value + 7\n"})
    before = report_of(await impact(shop, diff="HEAD"))
    assert "report 5" in before["affected"]["shop/report.py"], "the index still has its caller"  # type: ignore[index]
    await indexed(repository.root, repository.root.parent / "data")
    after = report_of(await impact(shop, diff="HEAD"))
    assert after["changed"] == {"shop/legacy.py": "new_price 1 added; old_price removed"}
    assert after["still_named"] == {"shop/report.py": "module 1: old_price; report 4: old_price"}


async def test_renamed_symbols_and_files(repository: GitRepository, shop: Atlas) -> None:
    renamed = FILES["shop/legacy.py"].replace("old_price", "price_before")  # type: ignore[union-attr]
    repository.put({"shop/legacy.py": None, "shop/former.py": renamed})
    await indexed(repository.root, repository.root.parent / "data")
    report = report_of(await impact(shop, diff="HEAD"))
    assert report["changed"] == {"shop/former.py": "renamed from shop/legacy.py; old_price -> price_before 1 renamed"}
    still: dict[str, str] = report["still_named"]  # type: ignore[assignment]
    assert re.findall(r"module 1: (\w+)", still["shop/report.py"]) == ["old_price", "legacy"]


async def test_staged_changes_new_files_and_ranges(repository: GitRepository, shop: Atlas) -> None:
    repository.put({"shop/cart.py": CART.replace("* 9", "* 8")})
    repository.stage("shop/cart.py")
    repository.put({"shop/store.py": STORE.replace("[1, 2]", "[]"), "shop/extra.py": "def extra():\n    return 1\n"})
    staged = report_of(await impact(shop, staged=True))
    assert list(staged["changed"]) == ["shop/cart.py"]  # type: ignore[call-overload]
    await indexed(repository.root, repository.root.parent / "data")
    both = report_of(await impact(shop, diff="HEAD"))
    assert both["changed"]["shop/extra.py"] == "added: extra"  # type: ignore[index]
    repository.commit("Cheaper")
    committed = report_of(await impact(shop, diff="HEAD~1..HEAD"))
    assert committed["changed"] == {"shop/cart.py": "apply_discount 4 body"}


async def test_a_symbol_by_name_with_its_depth(shop: Atlas) -> None:
    report = report_of(await impact(shop, "Cart", depth=1))
    assert report["of"] == "impact of class shop.cart.Cart shop/cart.py:9"
    assert report["affected"] == {"shop/checkout.py": "pay 4 (type import 0.99)"}
    assert report["tests"] == {"tests/test_cart.py": "test_total"}
    several = report_of(await impact(shop, "load"))
    assert "shop.store.Store.load" in str(several["of"]) and "shop.store.MemoryStore.load" in str(several["of"])
    missing = report_of(await impact(shop, "apply_discounts"))
    assert missing["outcome"] == "not_found" and "apply_discount" in str(missing["near"]) and missing["why"]


async def test_wrong_arguments_and_revisions_are_errors_with_a_next_step(shop: Atlas) -> None:
    for arguments in ({}, {"name": "Cart", "diff": "HEAD"}, {"diff": "HEAD", "staged": True}):
        with pytest.raises(ConfigError, match="one of"):
            await impact(shop, **arguments)  # type: ignore[arg-type]
    with pytest.raises(NotFound, match="unknown revision `mian`") as found:
        await impact(shop, diff="mian")
    assert found.value.near == ("main",)
    with pytest.raises(ConfigError, match="format"):
        await impact(shop, "Cart", format="svg")


async def test_a_small_budget_keeps_the_first_of_every_group(repository: GitRepository, shop: Atlas) -> None:
    repository.put({"shop/cart.py": CART.replace("* 9", "* 8")})
    found = await impact(shop, diff="HEAD", token_budget=150)
    assert found.evidence.tokens <= 150 and "by token_budget" in found.render()
    assert "apply_discount 4 body" in found.render()


async def test_a_diagram_for_a_pull_request(repository: GitRepository, shop: Atlas) -> None:
    repository.put({"shop/cart.py": CART.replace("* 9", "* 8")})
    text = (await impact(shop, diff="HEAD", format="mermaid")).render()
    chart = text.partition("```mermaid\n")[2].partition("\n```")[0].splitlines()
    assert chart[0] == "flowchart LR"
    assert '  n0["shop.cart.apply_discount"]:::changed' in chart
    assert '  n1["shop.cart.Cart.total"]' in chart and "  n0 --> n1" in chart
    assert any(line.endswith('["tests.test_cart.test_total"]:::test') for line in chart)


def test_a_diagram_is_bounded_and_its_labels_are_escaped() -> None:
    hostile = 'x"]; click n0 href "javascript:alert(1)" <b>\n&#`'
    chart = flow_chart([hostile], [(hostile, f"name{number}") for number in range(200)], (), 3)
    nodes = re.findall(r'^  n\d+\["(.*)"\](?::::\w+)?$', chart, re.MULTILINE)
    assert len(nodes) == MAX_NODES and f'more["{200 + 3 - MAX_NODES + 1} more"]' in chart
    assert not set(nodes[0]) & set('"<>[]()`\n') and "click n0 href" in nodes[0]


def row(path: str, name: str, language: str) -> NodeRow:
    texts = dict.fromkeys(NodeRow._fields, "")
    numbers = dict.fromkeys(("line", "start_line", "end_line", "start_byte", "end_byte"), 1)
    flags = {"is_test": True, "is_generated": False, "exported": True}
    return NodeRow(
        **(texts | numbers | flags | {"label": "Function", "name": name, "path": path, "language": language})
    )  # type: ignore[arg-type]


def test_commands_run_the_tests_and_nothing_else() -> None:
    tests = [
        row("-p evil.py", "test_a", "python"),
        row("tests/it's; rm -rf.py", "test_b", "python"),
        row("pkg/a_test.go", "TestA", "go"),
        row("a_test.go", "TestB$(x)", "go"),
        row("tests/a.rs", "works", "rust"),
        row("web/a.test.ts", "", "typescript"),
    ]
    assert commands_of(tests, lambda path: b"import { test } from 'vitest'") == (
        """python -m pytest './-p evil.py' 'tests/it'"'"'s; rm -rf.py'""",
        "go test ./pkg ./ -run '^(TestA|TestB$(x))$'",
        "cargo test -- works",
        "npx vitest run web/a.test.ts",
    )
    assert commands_of(tests[-1:], lambda path: b"") == ("npx jest web/a.test.ts",)


RUNNERS = [
    ({"package.json": '{"scripts": {"test": "vitest"}}', "pnpm-lock.yaml": ""}, "a.test.ts", "pnpm exec vitest run a.test.ts"),
    ({"package.json": '{"scripts": {"test": "jest --ci"}}'}, "a.test.ts", "npx jest a.test.ts"),
    ({"package.json": '{"scripts": {"test": "node run.js"}}'}, "a.test.ts", "npm test -- a.test.ts"),
    ({"package.json": '{"scripts": {"test": "x"}, "packageManager": "yarn@4.1"}'}, "a.test.ts", "yarn test a.test.ts"),
    ({"package.json": '{"devDependencies": {"mocha": "1"}}'}, "a.test.js", "npx mocha a.test.js"),
    ({"web/package.json": '{"scripts": {"test": "vitest"}}', "package.json": "{}"}, "web/a.test.ts", "cd web && npx vitest run a.test.ts"),
    ({"tox.ini": "[testenv]\ncommands = pytest {posargs}"}, "tests/test_a.py", "tox -- tests/test_a.py"),
    ({"tox.ini": "[testenv]\ncommands = pytest tests"}, "tests/test_a.py", "python -m pytest tests/test_a.py"),
    ({"noxfile.py": "@nox.session\ndef tests(session): session.run('pytest', *session.posargs)"}, "test_a.py", "nox -s tests -- test_a.py"),
    ({"pyproject.toml": "pytest", "uv.lock": ""}, "test_a.py", "uv run python -m pytest test_a.py"),
    ({"manage.py": "django", "pyproject.toml": ""}, "shop/test_a.py", "python manage.py test shop.test_a"),
    ({"Cargo.toml": "", ".config/nextest.toml": ""}, "tests/a.rs", "cargo nextest run works"),
    ({"go.mod": ""}, "pkg/a_test.go", "go test ./pkg"),
    ({"tool/go.mod": ""}, "tool/pkg/a_test.go", "cd tool && go test ./pkg"),
    ({"build.gradle": "", "settings.gradle": "", "gradle/wrapper/gradle-wrapper.properties": ""}, "src/test/java/CartTest.java", "./gradlew test --tests CartTest"),
    ({"app/build.gradle.kts": "", "settings.gradle.kts": ""}, "app/src/CartTest.kt", "gradle :app:test --tests CartTest"),
    ({"pom.xml": "", ".mvn/wrapper/maven-wrapper.properties": ""}, "src/CartTest.java", "./mvnw test -Dtest=CartTest"),
    ({"pom.xml": "", "core/pom.xml": ""}, "core/src/CartTest.java", "mvn test -pl core -Dtest=CartTest"),
    ({"build.sbt": ""}, "src/CartSpec.scala", "sbt 'testOnly *CartSpec'"),
    ({"build.sbt": ""}, "src/x; eval 1.scala", "sbt test"),
    ({"Gemfile": ""}, "spec/cart_spec.rb", "bundle exec rspec spec/cart_spec.rb"),
    ({"Gemfile": ""}, "test/cart_test.rb", "bundle exec ruby -Itest test/cart_test.rb"),
    ({"Gemfile": "", "config/application.rb": ""}, "test/cart_test.rb", "bin/rails test test/cart_test.rb"),
    ({"composer.json": '{"require-dev": {"phpunit/phpunit": "1"}}'}, "tests/CartTest.php", "vendor/bin/phpunit tests/CartTest.php"),
    ({"composer.json": '{"scripts": {"test": "x"}}'}, "tests/CartTest.php", "composer test -- tests/CartTest.php"),
    ({"mix.exs": ""}, "test/cart_test.exs", "mix test test/cart_test.exs"),
    ({"a.csproj": ""}, "CartTests.cs", "dotnet test --filter 'FullyQualifiedName~CartTests'"),
    ({"Package.swift": ""}, "Tests/CartTests.swift", "swift test --filter CartTests"),
    ({"CMakeLists.txt": ""}, "test/cart_test.cpp", "ctest --test-dir build"),
    ({"meson.build": ""}, "test/cart_test.c", "meson test -C build"),
    ({"Makefile": "all:\n\ntest: all\n\t./run"}, "test/cart_test.c", "make test"),
    ({"justfile": "test arg='x':\n  busted"}, "cart_test.lua", "just test"),
    ({"it's; rm/package.json": '{"scripts": {"test": "$(rm) vitest; rm"}}'}, "it's; rm/a.test.ts", """cd 'it'"'"'s; rm' && npx vitest run a.test.ts"""),
    ({"package.json": "[" * 200_000}, "a.test.ts", "npx jest a.test.ts"),
    ({"package.json": '{"scripts": [1], "devDependencies": "x"}'}, "-a.test.ts", "npx jest ./-a.test.ts"),
]  # fmt: skip
"""Manifests, the path of a test, and the command that the project's own runner needs."""


@pytest.mark.parametrize(("manifests", "path", "command"), RUNNERS)
def test_commands_name_the_projects_own_runner(manifests: dict[str, str], path: str, command: str) -> None:
    files = RunnerFiles(manifests, frozenset(manifests))
    assert commands_of([row(path, "works", "")], lambda path: b"", files) == (command,)


def test_the_command_names_the_projects_own_runner(tmp_path: Path) -> None:
    root = tmp_path / "own"
    (root / "tests").mkdir(parents=True)
    (root / "tax.py").write_text("def tax(net):\n    return net * 2\n")
    (root / "tests" / "test_tax.py").write_text("from tax import tax\n\ndef test_tax():\n    assert tax(1) == 2\n")
    (root / "tox.ini").write_text("[testenv]\ncommands = pytest {posargs}\n")
    place = Place(root, tmp_path / "data")
    assert atlas("index", str(root), "--data-dir", str(place.data)).returncode == 0
    told = atlas("impact", "tax", *place.options)
    assert "run: tox -- tests/test_tax.py" in told.stdout, told.stdout + told.stderr


def test_packages_of_one_language_have_a_command_each() -> None:
    manifests = {"a/package.json": '{"scripts": {"test": "vitest"}}', "b/package.json": '{"scripts": {"test": "jest"}}'}
    tests = [row(path, "works", "") for path in ("a/x.test.ts", "b/y.test.ts", "a/z.test.ts")]
    assert commands_of(tests, lambda path: b"", RunnerFiles(manifests, frozenset(manifests))) == (
        "cd a && npx vitest run x.test.ts z.test.ts",
        "cd b && npx jest y.test.ts",
    )


QUESTIONS = {
    "what changed recently": [
        "Make it cheaper [shop/cart.py]",
        "Begin the shop",
        "not committed yet: 1 file: shop/cart.py",
    ],
    "what changed since the last commit": ["Cart.total 13 body"],
    "which files have I changed": ["Cart.total 13 body"],
    "history of shop/cart.py": ["Make it cheaper", "not committed yet: shop/cart.py: Cart.total 13 body"],
    "commits that changed the lines of Cart.total": ["not committed yet: shop/cart.py: Cart.total 13 body"],
    "what changed since main~1": ["apply_discount 4 body", "MemoryStore.load 7 body"],
    "what changed in this branch": ["Keep nothing", "MemoryStore.load 7 body"],
    "uncommitted changes": ["Cart.total 13 body"],
    "who last changed apply_discount": ["Make it cheaper"],
    "when was MemoryStore.load last changed": ["Bo: Keep nothing"],
    "what changed with shop/cart.py": ["shop/store.py 1 (50 %)"],
    "history of shop/store.py": ["Keep nothing", "Begin the shop"],
    "what changed since yesterday": ["commits: none"],
    "what changed since v9": ["unknown revision `v9`"],
    "who last changed Cart.totals": ["no symbol or file `Cart.totals`", "shop.cart.Cart.total"],
}


async def test_questions_about_changes_are_answered_from_git(repository: GitRepository, shop: Atlas) -> None:
    repository.commit("Make it cheaper", {"shop/cart.py": CART.replace("* 9", "* 8")})
    repository.branch("topic")
    repository.commit("Keep nothing", {"shop/store.py": STORE.replace("[1, 2]", "[]")}, b"Bo <bo@example.org>")
    repository.put({"shop/cart.py": CART.replace("* 9", "* 8").replace("return apply", "return 1 + apply")})
    for question, wanted in QUESTIONS.items():
        found = await hybrid_search(shop, question)
        assert isinstance(found, ReportAnswer), question
        text = found.render()
        assert all(part in text for part in wanted), (question, text)
        assert found.evidence.tokens < 400 and found.report.kind == "changes"
    for question in ("history of shop/store.py", "what changed yesterday", "who last changed apply_discount"):
        assert "not committed yet" not in (await hybrid_search(shop, question)).render(), question
    assert 'impact with diff "' in (await hybrid_search(shop, "what changed in this branch")).render()


async def test_questions_about_impact_are_answered_compactly(repository: GitRepository, shop: Atlas) -> None:
    for question in (
        "impact of apply_discount",
        "what breaks if I change apply_discount",
        "blast radius of apply_discount",
    ):
        found = await hybrid_search(shop, question)
        report = report_of(found)
        assert list(report["affected"]) == ["shop/cart.py", "shop/checkout.py"], question  # type: ignore[call-overload]
        assert report["run"] == ["python -m pytest tests/test_cart.py"] and found.evidence.tokens < 300
    repository.put({"shop/legacy.py": "def old_price(value):\n    return value - 2\n"})
    assert "report 5" in (await hybrid_search(shop, "impact of my changes")).render()


async def test_words_that_only_sound_like_history_are_searched(shop: Atlas) -> None:
    for query in ("changes", "discount history"):
        assert not isinstance(await hybrid_search(shop, query), ReportAnswer), query


async def test_without_a_repository_the_answer_says_so(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/a.py").write_text("def f():\n    return 1\n")
    await indexed(tmp_path / "plain", tmp_path / "data")
    settings = load_settings(str(tmp_path / "plain"), str(tmp_path / "data"), environment=QUICK)
    async with open_atlas(settings) as plain:
        found = await hybrid_search(plain, "what changed recently")
        assert report_of(found)["outcome"] == "no_history" and "no Git repository" in found.render()
        assert "git init" in found.render()
        with pytest.raises(NotFound, match="no Git repository"):
            await impact(plain, diff="HEAD")


async def test_the_command_and_the_tool_answer_alike(repository: GitRepository) -> None:
    place = Place(repository.root, repository.root.parent / "data")
    repository.put({"shop/cart.py": CART.replace("* 9", "* 8")})
    done = atlas("impact", "--diff", "HEAD", "--format", "json", *place.options, env=QUICK)
    printed = json.loads(done.stdout)
    assert done.returncode == 0 and printed["report"]["kind"] == "impact"
    missing = atlas("impact", "nothing_of_that_name", "--format", "mermaid", *place.options, env=QUICK)
    assert missing.returncode == NotFound.exit_code and "no symbol" in missing.stdout
    unknown = atlas("impact", "--diff", "mian", *place.options, env=QUICK)
    assert unknown.returncode == NotFound.exit_code and "near:  main" in unknown.stderr
    async with server(place, **QUICK) as client:
        content = await answer(client, "impact", diff="HEAD")
        assert content["report"]["changed"] == {"shop/cart.py": "apply_discount 4 body"}
        asked = await answer(client, "hybrid_search", query="who last changed apply_discount")
        last = asked["report"]["last_change"][0]
        assert "Begin the shop" in last and "not committed" in last
