"""Environment variables that code reads from the whole environment after it was handed on, and what that leaves open."""

from __future__ import annotations

from pathlib import Path

from atlas.app.main import open_atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

_CONNECT = """import os


def connect(kind, settings=None):
    if settings.get("SHOP_URL") is not None:
        return settings["SHOP_URL"]
    return limits(settings, "SHOP_QUOTED")


def limits(given, name):
    return given.get("SHOP_LIMIT", 5) if "SHOP_LIMITED" in given else 0


def other(settings):
    return settings.get("SHOP_OTHER")


def main():
    connect(
        "tcp",
        os.environ,
    )
    found = os.environ.copy()
    return found["SHOP_FOUND"]


def unrelated(found):
    return found["SHOP_UNRELATED"]


def given(mapping=os.environ):
    return mapping.get("SHOP_GIVEN")


def behind(mapping):
    return mapping.get("SHOP_BEHIND")
"""
_SCRIPT = """function start(values) {
  return values.SHOP_PORT;
}

start(process.env);
"""
_CHILD = 'import os\nimport subprocess\n\nsubprocess.run(["ls"], env=os.environ)\n'
_ASKED = "Which environment variables does the shop read?"


async def _said(root: Path, files: dict[str, str], asked: str = _ASKED) -> str:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, root.parent / f"data-{root.name}")
    async with open_atlas(load_settings(str(root), str(root.parent / f"data-{root.name}"), environment=QUICK)) as atlas:
        return (await hybrid_search(atlas, asked)).render()


async def test_reads_from_a_parameter_that_is_given_the_environment(tmp_path: Path) -> None:
    files = {"shop/cli.py": _CONNECT, "web/start.js": _SCRIPT, "shop/child.py": _CHILD}
    said = await _said(tmp_path / "shop", files)
    for place in ("SHOP_URL: shop/cli.py:5,6", "SHOP_LIMIT: shop/cli.py:11", "SHOP_FOUND: shop/cli.py:24"):
        assert place in said
    assert "SHOP_GIVEN: shop/cli.py:32" in said and "SHOP_PORT: web/start.js:2" in said
    assert "SHOP_LIMITED: shop/cli.py:11" in said and "\nat least 6 environment variables" in said
    for name in ("SHOP_OTHER", "SHOP_UNRELATED", "SHOP_BEHIND", "SHOP_QUOTED"):
        assert name not in said, "it is no read of the environment"
    assert "not all may be counted" not in said, "a program that is started is given what there is"


async def test_a_count_is_incomplete_where_other_code_is_given_the_environment(tmp_path: Path) -> None:
    code = 'import os\nfrom settings import load\n\nA = os.environ["SHOP_A"]\nB = load(os.environ)\n'
    said = await _said(tmp_path / "shop", {"shop/cli.py": code})
    assert "at least 1 environment variable read or set" in said
    assert "not all may be counted: all of the environment is handed to code that is not followed at" in said
    assert "shop/cli.py:5" in said


async def test_the_environment_of_a_request_is_none_of_the_program(tmp_path: Path) -> None:
    code = (
        'import os\n\nA = os.environ["SHOP_A"]\n\n\ndef application(environ, start_response):\n'
        '    return [environ.get("REMOTE_ADDR"), environ["wsgi.input"], environ.get("HTTP_ACCEPT")]\n'
    )
    said = await _said(tmp_path / "shop", {"shop/wsgi.py": code})
    assert "\nat least 1 environment variable read" in said and "REMOTE_ADDR" not in said and "wsgi.input" not in said


async def test_the_side_of_the_code_that_is_asked_for_is_no_topic(tmp_path: Path) -> None:
    files = {"shop/cli.py": 'import os\n\nA = os.environ["SHOP_A"]\nB = os.environ["SHOP_TEST_B"]\n'}
    said = await _said(
        tmp_path / "shop", files, "which environment variables does the project read outside of its tests"
    )
    assert "\nat least 2 environment variables" in said and "those about" not in said, said


_HELPERS = """import os

PREFIX_FREE = 1


def Settings(d=None, _environ_=os.environ, **kw):
    eget = _environ_.get

    def S(settings_key, env_key=None, type_=str, default=False):
        value = d.get(settings_key, default)
        if env_key:
            value = eget(env_key, value)
        return type_(value)

    S("default_locale", "SHOP_DEFAULT_LOCALE", str, "en")
    S("debug_all", env_key="SHOP_DEBUG_ALL")
    S("no_variable", None)


def option(name, default=None):
    return os.environ.get("SHOP_" + name.upper(), default)


def secret(kind, name):
    return os.environ[f"SHOP_{name}_KEY"]


def limit(name):
    key = "LIMIT_%s" % name
    return os.getenv(key)


option("request-port", 80)
secret("any", "TAX")
limit("ROWS")


def application(request):
    return request.environ["SCRIPT_NAME"], request.environ.get("app.session"), "shop.user" in request.environ
"""
_HELPERS_IN_GO = """package shop

import (
	"fmt"
	"os"
)

func setting(kind string, name string) string {
	return os.Getenv(fmt.Sprintf("GO_%s", name))
}

var url = setting("plain", "URL")
"""
_HELPERS_IN_JS = """const read = (fallback, name) => process.env[`WEB_${name.toUpperCase()}`] ?? fallback;

const port = read(80, 'port');
"""


async def test_functions_that_read_a_variable_by_a_parameter(tmp_path: Path) -> None:
    files = {"shop/settings.py": _HELPERS, "go/shop.go": _HELPERS_IN_GO, "web/read.js": _HELPERS_IN_JS}
    said = await _said(tmp_path / "shop", files)
    for place in (
        "SHOP_DEFAULT_LOCALE: shop/settings.py:15",
        "SHOP_DEBUG_ALL: shop/settings.py:16",
        "SHOP_REQUEST_PORT: shop/settings.py:33",
        "SHOP_TAX_KEY: shop/settings.py:34",
        "LIMIT_ROWS: shop/settings.py:35",
        "GO_URL: go/shop.go:12",
        "WEB_PORT: web/read.js:3",
    ):
        assert place in said, said
    assert "\nat least 7 environment variables read or set" in said, said
    for name in ("default_locale", "debug_all", "SCRIPT_NAME", "app.session", "shop.user"):
        assert name not in said, said


async def test_the_variable_of_a_topic_is_shown_with_the_line_that_reads_it(tmp_path: Path) -> None:
    asked = "which environment variable sets the default locale?"
    said = await _said(tmp_path / "shop", {"shop/settings.py": _HELPERS}, asked)
    assert "those about locale: 1 of 5" in said
    assert (
        'S("default_locale", "SHOP_DEFAULT_LOCALE", str, "en") -> settings.py:12 value = eget(env_key, value)' in said
    )


async def test_a_documented_variable_of_a_topic_stands_for_those_that_no_line_reads(tmp_path: Path) -> None:
    files = {
        "shop/cli.py": 'import os\n\nA = os.environ["SHOP_A"]\n',
        "shop/other.py": 'LOCALE = variables("SHOP_LOCALE")\n',
        "docs/use.md": "# Use\n\nThe environment variable `SHOP_LOCALE` sets the locale.\n",
    }
    said = await _said(tmp_path / "shop", files, "which environment variable sets the locale?")
    assert "SHOP_LOCALE: docs/use.md:3 (in code shop/other.py:1)" in said and "SHOP_A: " not in said, said
    assert "no line says" not in said


async def test_names_that_are_handed_to_another_library(tmp_path: Path) -> None:
    files = {
        "src/cli.ts": (
            "export const extension = action.defineStringList({\n  parameterLongName: '--allow-extension',\n"
            "  environmentVariable: 'SHOP_ALLOW_EXTENSION',\n});\nconst options = { environment: 'PRODUCTION' };\n"
        ),
        "shop/cli.py": '@option("--user", envvar="SHOP_USER")\n@option("--mail", env_var_name="SHOP_MAIL")\ndef run(): ...\n',
        "src/main.rs": '#[derive(Parser)]\nstruct Cli {\n    #[arg(long, env = "SHOP_TOKEN")]\n    token: String,\n}\n',
    }
    said = await _said(tmp_path / "shop", files)
    assert "\nat least 4 environment variables read or set in 3 files" in said and "PRODUCTION" not in said, said
    for place in (
        "SHOP_ALLOW_EXTENSION: src/cli.ts:3",
        "SHOP_USER: shop/cli.py:1",
        "SHOP_MAIL: shop/cli.py:2",
        "SHOP_TOKEN: src/main.rs:3",
    ):
        assert place in said, said
    said = await _said(tmp_path / "other", files, "is there an environment variable to permit other extensions?")
    assert "SHOP_ALLOW_EXTENSION: src/cli.ts:3" in said and "all other variables: SHOP_MAIL" in said, said
