"""Questions that lines of texts, manifests and the history answer, from an indexed tree to the text of the answer."""

from __future__ import annotations

from pathlib import Path

from atlas.answers.answer import Answer
from atlas.app.main import open_atlas
from atlas.code.tools.reports import ReportAnswer
from atlas.code.tools.search.search import hybrid_search
from atlas.code.tools.search.several import SeveralAnswers
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES: dict[str, str | None] = {
    "pyproject.toml": (
        "[project]\nname = 'shop'\nversion = '1.2.0'\nrequires-python = '>=3.10'\ndependencies = ['PyYAML>=6']\n"
        "[project.optional-dependencies]\nfast = ['orjson']\n"
    ),
    "requirements.txt": "# Documentation\nmkdocs==1.6\n\n# Tests\npytest==8\n",
    "CHANGELOG.md": (
        "# 1.2.0\n\n### Added\n- Support for `zstd`\n- Add `--dry-run`\n\n# 1.1.0\n\n### Deprecated\n"
        "- `old_call` is deprecated\n\n### Added\n- Add `--dry-run-all`\n"
    ),
    "shop/__init__.py": "",
    "shop/config.py": (
        "import os\n\nCACHE = os.environ.get('SHOP_CACHE')\nNAME = 'SHOP_DEBUG'\nDEBUG = os.getenv(NAME)\nMAX_ITEMS = 20\n"
    ),
    "shop/limits.rb": (
        "env_int = lambda do |key, val|\n  if str = ENV[key]\n    val = Integer(str)\n  end\n  val\nend\n"
        'MOST = env_int.call("SHOP_MOST_UPLOADS", 4)\n'
    ),
    "shop/Limits.java": (
        'class Limits {\n  static int LIMIT = 3;\n  boolean open = Boolean.getBoolean("shop.open");\n'
        '  String zone() { return System.getProperty("shop.zone"); }\n}\n'
    ),
    "pom.xml": (
        "<project>\n  <maven.compiler.release>8</maven.compiler.release>\n"
        "  <build><plugin><configuration>\n    <release>11</release>\n  </configuration></plugin></build>\n</project>\n"
    ),
    "shop/errors.py": "class ShopError(Exception): ...\n\n\nclass EmptyCart(ShopError): ...\n",
    "shop/cart.py": "from shop.errors import EmptyCart\n\n\ndef pay(items):\n    if not items:\n        raise EmptyCart()\n",
    "shop/main.py": "import argparse\n\np = argparse.ArgumentParser()\np.add_argument('--dry-run', help='only print')\n",
    "shop/cli.rs": (
        "/// Instead of '--exact-match' use a glob.\n#[derive(Parser)]\nstruct Opts {\n    #[arg(\n        long,\n"
        '        help = "be exact"\n    )]\n    pub exact_match: bool,\n}\n'
    ),
    "docs/caching.md": "# Caching\n\nSet `SHOP_CACHE` to a folder.\n",
}
ASKED = {
    "which environment variables does it read?": ("SHOP_CACHE shop/config.py:3", "SHOP_DEBUG shop/config.py:5"),
    "which environment variables limit uploads?": ("SHOP_MOST_UPLOADS shop/limits.rb:7",),
    "which system properties does it read": ("shop.open shop/Limits.java:3", "shop.zone shop/Limits.java:4"),
    "when was zone added to Limits": ("Limits.zone shop/Limits.java:4 was added", "Add a cart"),
    "which Java version is it compiled for": ("8 (maven.compiler.release), 11 (release)",),
    "what does SHOP_CACHE do": ("reads shop/config.py:3", "documented docs/caching.md:3"),
    "what does --dry-run do?": ("declared shop/main.py:4", "only print"),
    "what does --exact-match do?": ("declared shop/cli.rs:8", "be exact"),
    "who added the --exact-match option and when": (
        "declares `--exact-match` shop/cli.rs:8 was added",
        "Match exactly",
    ),
    "when was --dry-run added": ("`--dry-run` added: 1.2.0 (CHANGELOG.md:5)", "Add a cart"),
    "who added --dry-run": ("declares `--dry-run` shop/main.py:4 was added", "Add a cart"),
    "default of max_items": ("default shop/config.py:6 MAX_ITEMS = 20",),
    "what is the default max items allowed": ("default shop/config.py:6 MAX_ITEMS = 20",),
    "what would `except ShopError` catch?": ("shop.errors.EmptyCart", "raised shop/cart.py:6"),
    "minimum Python version": ("Python: >=3.10",),
    "which Python version does it need, and what are the runtime dependencies?": (
        "Python: >=3.10",
        "PyYAML (import yaml) >=6",
    ),
    "what are the dependencies and which Java version is required?": ("Java: 8", "PyYAML (import yaml) >=6"),
    "what version is this?": ("version: 1.2.0",),
    "when was zstd support added": ("1.2.0", "CHANGELOG.md:4"),
    "when was old_call deprecated": ("1.1.0",),
    "what does installing shop[fast] pull in": ("orjson",),
    "which packages do the docs need": ("mkdocs",),
    "how did pay evolve": ("Pay for items", "Add a cart"),
    "when was pay added": ("Add a cart",),
    "commits by Grace Hopper": ("Pay for items",),
}
NOT_SAID = {
    "when was --dry-run added": "--dry-run-all",
    "which packages do the docs need": "pytest",
    "commits by Grace Hopper": "Add a cart",
    "how did pay evolve": "Read",
}


async def test_lines_and_history_answer_with_their_places(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "shop")
    old = {**FILES, "shop/cart.py": "def pay(items):\n    return items\n", "shop/cli.rs": "struct Opts {}\n"}
    repository.commit("Add a cart", old)
    repository.commit("Match exactly", {"shop/cli.rs": FILES["shop/cli.rs"]})
    repository.commit("Read settings", {"shop/config.py": FILES["shop/config.py"] + "# end\n"})  # type: ignore[operator]
    repository.commit("Pay for items", {"shop/cart.py": FILES["shop/cart.py"]}, author=b"Grace Hopper <g@example.org>")
    await indexed(repository.root, tmp_path / "data")
    settings = load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)
    async with open_atlas(settings) as atlas:
        for question, wanted in ASKED.items():
            answer = await hybrid_search(atlas, question)
            said = "\n".join(_said(answer))
            assert all(each in said for each in wanted), f"{question}\n{said}"
            assert question not in NOT_SAID or NOT_SAID[question] not in said, f"{question}\n{said}"
    repository.close()


def _said(answer: Answer | None) -> list[str]:
    if isinstance(answer, SeveralAnswers):
        return [line for part in answer.parts for line in _said(part.answer)]
    assert isinstance(answer, ReportAnswer)
    return [answer.report.title, *_facts(answer)]


def _facts(answer: ReportAnswer) -> list[str]:
    return [
        f"{group.name} {file.path} {line}"
        for group in answer.report.groups
        for file in group.files
        for line in file.lines
    ]
