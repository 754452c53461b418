"""Questions in plain words, each asked once: topics and folders of the history, values, quoted messages, other packages."""

from __future__ import annotations

from pathlib import Path

import pytest
from dulwich import porcelain

from atlas.app.main import open_atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES: dict[str, str | None] = {
    "pyproject.toml": "[project]\nname = 'shop'\ndependencies = ['urllib3>=2']\n[dependency-groups]\ndev = ['ruff']\n",
    "shop/__init__.py": "",
    "shop/net.py": (
        "from urllib3 import HTTPConnectionPool\n\nREDIRECT_LIMIT = 30\nALLOW_REDIRECTS = True\n\n\n"
        "def send(path: str) -> object:\n    pool = HTTPConnectionPool('h')\n    return pool.urlopen('GET', path)\n\n\n"
        "def get(path: str) -> object:\n    return send(path)\n\n\ndef forgotten() -> int:\n    return 1\n"
    ),
    "shop/proxy.py": (
        "def connect(kind: str) -> None:\n    if kind == 'socks':\n"
        "        raise ValueError('Missing dependencies for proxies of version 2.')\n"
    ),
    "shop/editor.py": (
        "import os\n\n\ndef find_editor() -> str:\n    for key in 'VISUAL', 'EDITOR':\n        found = os.environ.get(key)\n"
        "        if found:\n            return found\n    return os.environ.get('TERM', 'vi')\n\n\n"
        "def colour() -> str | None:\n    return os.environ.get('NO_COLOR')\n"
    ),
    "shop/client.py": "class OkClient:\n    fixed = 1\n    connect_timeout = 10_000\n    read_timeout = 20_000\n",
    "shop/config.go": (
        "package shop\n\nvar DefaultConfig = Config{\n\tScrapeInterval: Duration(1 * time.Minute),\n}\n\n"
        "func (c *Config) reset() {\n\tc.ScrapeInterval = 0\n}\n\n"
        'func flags() {\n\tflagSet.StringVarP(&port, "artifact-server-port", "", "34567", "Port on which artifacts are served.")\n}\n'
    ),
    "web-api/build.gradle.kts": 'dependencies {\n  "friendsApi"(projects.core.textTools)\n}\n',
    "core/text-tools/build.gradle.kts": "dependencies {\n}\n",
    "docs/types.md": "# Custom type completion\n\nWrite a custom type that offers completions by overriding `complete`.\n",
    "tests/test_types.py": "def test_types():\n    def custom():\n        return 1\n\n    assert custom()\n",
}
HAS = {
    "who fixed the YAML anchors, and when?": ('"yaml"', "Fix anchors of YAML", "2023"),
    "what was changed in web-api since v1? give me the commits": ("commits of web-api since v1: 1", "Add friends"),
    "which commits went into the docs folder between v1 and v2, and who made them?": (
        "from v1 to v2: 1",
        "Explain types",
    ),
    "commits between v1 and v2": ("commits from v1 to v2: 2",),
    "is there anything unused in net.py?": ("unused", "forgotten"),
    "does the net module have dead code": ("unused", "forgotten"),
    "path from get to urllib3's urlopen": ("send", "urlopen"),
    'where is "Missing dependencies for proxies of version 2." raised': ("shop/proxy.py", "raise ValueError"),
    "what is the default number of redirects allowed": ("REDIRECT_LIMIT = 30",),
    "which environment variables choose the editor?": ("VISUAL: shop/editor.py:6", "EDITOR: shop/editor.py:6", "TERM"),
    "default connect timeout of OkClient": ("connect_timeout = 10_000",),
    "default read timeout of OkClient": ("read_timeout = 20_000",),
    "default scrape interval": ("shop/config.go:4: ScrapeInterval",),
    "what port does the artifact server listen on by default": ('"34567"',),
    "which gradle modules depend on the text tools?": ("web-api/build.gradle.kts",),
    "what third-party packages does shop require at run time?": ("runtime dependencies of shop: 1", "urllib3"),
    "does shop have peer dependencies": ("none declared",),
    "which documentation page explains writing a custom type that offers completions?": ("docs/types.md",),
}
LACKS = {
    "what was changed in web-api since v1? give me the commits": "Explain types",
    "which commits went into the docs folder between v1 and v2, and who made them?": "Add friends",
    "which environment variables choose the editor?": "4 environment variables",
    "does the net module have dead code": "urlopen",
    "what is the default number of redirects allowed": "ALLOW_REDIRECTS = True\n1",
    "which documentation page explains writing a custom type that offers completions?": "test_types.custom",
}
FIRST = {
    'where is "Missing dependencies for proxies of version 2." raised': "connect",
    "which documentation page explains writing a custom type that offers completions?": "Custom type",
}
"""What the first hit is about."""


@pytest.fixture
def shop(tmp_path: Path) -> GitRepository:
    repository = GitRepository(tmp_path / "shop")
    late = {"web-api/build.gradle.kts", "docs/types.md"}
    repository.commit("Begin", {path: text for path, text in FILES.items() if path not in late})
    porcelain.tag_create(repository.repo, b"v1", message=b"one", author=b"A <a@example.org>", annotated=True)
    repository.commit("Add friends", {"web-api/build.gradle.kts": FILES["web-api/build.gradle.kts"]})
    repository.commit("Explain types", {"docs/types.md": FILES["docs/types.md"]})
    porcelain.tag_create(repository.repo, b"v2", message=b"two", author=b"A <a@example.org>", annotated=True)
    repository.commit("Fix anchors of YAML", {"shop/yaml.py": "A = 1\n"})
    return repository


async def test_questions_in_plain_words(shop: GitRepository, tmp_path: Path) -> None:
    await indexed(shop.root, tmp_path / "data")
    settings = load_settings(str(shop.root), str(tmp_path / "data"), environment=QUICK)
    async with open_atlas(settings) as atlas:
        for question, wanted in HAS.items():
            lines = (await hybrid_search(atlas, question)).lines()
            said = "\n".join(lines)
            assert all(each in said for each in wanted), f"{question}\n{said}"
            assert question not in LACKS or LACKS[question] not in said, f"{question}\n{said}"
            first = next((line for line in said.split("\n") if line.startswith("1. ")), "")
            assert question not in FIRST or FIRST[question] in first, f"{question}\n{said}"
    shop.close()
