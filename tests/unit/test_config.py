"""Settings: precedence, places in errors, and what a repository's own file may not do."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas._parser import VectorIndex
from atlas.config import SECTIONS, Settings, discover_root, load_settings
from atlas.errors import ConfigError
from atlas.stores.embedded import EmbeddedStore

EXAMPLE = Path(__file__).parents[2] / "atlas.toml.example"


def load(root: Path, text: str = "", environment: dict[str, str] | None = None, **flags: str) -> Settings:
    if text:
        (root / "atlas.toml").write_text(text)
    return load_settings(str(root), environment=environment or {}, start=root, **flags)


def test_example_parses_equals_the_defaults_and_mentions_every_setting(tmp_path: Path) -> None:
    text = EXAMPLE.read_text()
    document = tomllib.loads(text)
    assert list(document) == list(SECTIONS)
    for section, kind in SECTIONS.items():
        assert list(document[section]) == [spec.name for spec in fields(kind)], section
    defaults = {key: value for key, value, _ in load(tmp_path).entries()}
    from_example = load(tmp_path, text)
    assert {key: value for key, value, _ in from_example.entries()} == defaults
    assert all(origin.startswith("atlas.toml:") for _, _, origin in from_example.entries())


def test_bounds_and_choices_in_the_example_are_the_real_ones() -> None:
    text = EXAMPLE.read_text()
    for kind in SECTIONS.values():
        for spec in fields(kind):
            if spec.metadata["high"]:
                assert f"{spec.metadata['low']} to {spec.metadata['high']}" in text, spec.name
            for choice in spec.metadata["choices"]:
                assert f'"{choice}"' in text


def test_later_layers_win_and_the_origin_says_which(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "[search]\nlimit = 7\ntoken_budget = 900\n\n[store]\ndata_dir = 'index'\n",
        {"ATLAS_SEARCH_LIMIT": "9", "ATLAS_SCOPE_EXCLUDE": "a/**, b", "ATLAS_SCOPE_GIT_RULES": "false"},
        data_dir="elsewhere",
    )
    origins = {key: origin for key, _, origin in settings.entries()}
    assert (settings.search.limit, origins["search.limit"]) == (9, "env ATLAS_SEARCH_LIMIT")
    assert (settings.search.token_budget, origins["search.token_budget"]) == (900, "atlas.toml:3")
    assert settings.scope.exclude == ("a/**", "b")
    assert settings.scope.git_rules is False
    assert (settings.data_dir, origins["store.data_dir"]) == (tmp_path / "elsewhere", "--data-dir")
    assert origins["index.threads"] == "default"


@pytest.mark.parametrize(
    ("environment", "asks"),
    [
        ({}, False),
        ({"ATLAS_EMBEDDER_PROVIDER": "none"}, False),
        ({"ATLAS_EMBEDDER_PROVIDER": "tei"}, True),
        ({"ATLAS_STORE_URL": "bolt://127.0.0.1:7687"}, True),
    ],
)
def test_a_question_asks_servers_when_one_has_the_index_or_makes_vectors(
    tmp_path: Path, environment: dict[str, str], *, asks: bool
) -> None:
    assert load(tmp_path, environment=environment).asks_servers is asks


def test_data_dir_of_the_environment_may_be_outside(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    settings = load(root, environment={"ATLAS_DATA_DIR": str(tmp_path / "out")})
    assert settings.data_dir == tmp_path / "out"


def test_variables_of_other_programs_are_left_alone(tmp_path: Path) -> None:
    assert load(tmp_path, environment={"ATLAS_URI": "mongodb://x", "ATLAS_DEBUG": "1"}) == load(tmp_path)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[serch]\nlimit = 3\n", "atlas.toml:1: unknown section serch", "search"),
        ("[search]\n\nlimti = 3\n", "atlas.toml:3: unknown setting search.limti", "search.limit"),
        ("search.limti = 3\n", "atlas.toml:1: unknown setting search.limti", "search.limit"),
        ("search = { limti = 3 }\n", "atlas.toml:1: unknown setting search.limti", "search.limit"),
        ("search = 3\n", "atlas.toml:1: [search] must be a table", "example"),
        ("[search]\nlimit = '3'\n", "atlas.toml:2: search.limit must be a whole number", "Hits"),
        ("[search]\nlimit = true\n", "atlas.toml:2: search.limit must be a whole number", "Hits"),
        ("[search]\nlimit = 0\n", "atlas.toml:2: search.limit must be between 1 and 50", "Hits"),
        ("[scope]\ngit_rules = 1\n", "atlas.toml:2: scope.git_rules must be true or false", "ignore"),
        ("[scope]\nexclude = 'x'\n", "atlas.toml:2: scope.exclude must be a list of strings", "Globs"),
        ("[scope]\nexclude = ['../x']\n", "atlas.toml:2: scope.exclude must stay inside", "Globs"),
        ("[embedder]\nprovider = 'statik'\n", "atlas.toml:2: embedder.provider must be one of", "static"),
        ("[project]\nname = 'a b:c'\n", "atlas.toml:2: project.name may hold", "uids"),
        ("[store]\ndata_dir = ''\n", "atlas.toml:2: store.data_dir must not be empty", "Folder"),
        ("[store]\ndata_dir = '.'\n", "atlas.toml:2: store.data_dir is the project root", ".atlas"),
        ("[store]\ndata_dir = '../x'\n", "atlas.toml:2: store.data_dir points outside", "--data-dir"),
        ("[store]\ndata_dir = '/tmp/x'\n", "atlas.toml:2: store.data_dir points outside", "--data-dir"),
        ("[search\n", "atlas.toml: ", "atlas.toml.example"),
        ("x" * 300_000, "larger than", "atlas.toml.example"),
    ],
)
def test_mistakes_in_the_file_name_the_place_and_the_way_out(
    tmp_path: Path, text: str, message: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    "url",
    [
        "valkey://localhost",
        "valkey://127.0.0.1:6380/2",
        "valkeys://[::1]:6379?ca=certificates/own.pem",
        "unix://run/bus.sock",
        "unix:///{root}/run/bus.sock",
    ],
)
def test_a_repository_may_name_a_bus_on_this_machine(tmp_path: Path, url: str) -> None:
    url = url.replace("/{root}", str(tmp_path))
    settings = load(tmp_path, f"[bus]\nurl = '{url}'\n")
    assert settings.bus.url == url
    if url.startswith("unix"):
        assert settings.bus_address == str(tmp_path / "run" / "bus.sock")
    else:
        assert settings.bus_address == url


@pytest.mark.parametrize(
    "url",
    [
        "valkey://example.org/0",
        "valkey://localhost:secret@example.org",
        "valkey://localhost\\@example.org",
        "valkey://127.0.0.1.example.org",
        "valkey://0.0.0.0",
        "valkey://[::1",
        "valkeys://127.0.0.1?ca=/etc/ssl/own.pem",
        "unix:///run/valkey.sock",
        "unix://../bus.sock",
        "unix://link/bus.sock",
        "/run/valkey.sock",
        "example.org:6379",
    ],
)
def test_a_repository_cannot_name_a_bus_elsewhere_but_the_environment_can(tmp_path: Path, url: str) -> None:
    (tmp_path / "link").symlink_to("/")
    text = f"[bus]\n# more\nurl = '{url}'\n"
    with pytest.raises(ConfigError, match=r"atlas\.toml:3: bus\.url") as caught:
        load(tmp_path, text)
    assert "ATLAS_BUS_URL" in caught.value.hint
    assert "secret" not in caught.value.message
    (tmp_path / "atlas.toml").unlink()
    assert load(tmp_path, environment={"ATLAS_BUS_URL": url}).bus.url == url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("valkey://user:secret@host:6379/0", "valkey://user:***@host:6379/0"),
        ("valkey://:sec://r/et@host", "valkey://:***@host"),
        ("valkeys://secret@host", "valkeys://***@host"),
        ("secret@host", "***@host"),
        ("valkey://host", "valkey://host"),
        ("", ""),
    ],
)
def test_passwords_are_not_shown(tmp_path: Path, url: str, shown: str) -> None:
    settings = load(tmp_path, environment={"ATLAS_BUS_URL": url})
    assert {key: value for key, value, _ in settings.entries()}["bus.url"] == shown
    assert settings.bus.url == url
    assert "secret" not in repr(settings)


def test_a_list_of_addresses_is_refused_without_showing_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="must be a string") as caught:
        load(tmp_path, "[bus]\nurl = ['valkey://user:secret@127.0.0.1']\n")
    assert "secret" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("ATLAS_SEARCH_LIMTI", "3", "unknown variable ATLAS_SEARCH_LIMTI"),
        ("ATLAS_SEARCH_LIMIT", "many", "whole number"),
        ("ATLAS_SEARCH_LIMIT", "1000", "between 1 and 50"),
        ("ATLAS_SCOPE_GIT_RULES", "perhaps", "true or false"),
        ("ATLAS_STORE_DATA_DIR", "x", "not a setting"),
    ],
)
def test_mistakes_in_the_environment_name_the_variable(tmp_path: Path, variable: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, environment={variable: value})
    assert message in caught.value.message
    assert variable in caught.value.message
    assert caught.value.hint


def test_a_data_folder_that_is_a_symlink_out_of_the_repository_is_refused(tmp_path: Path) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / ".atlas").symlink_to(outside)
    with pytest.raises(ConfigError, match="outside the project root"):
        load(root)


def test_a_data_folder_must_not_be_a_file_nor_lie_in_one(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    for chosen in ("notes.txt", "notes.txt/below"):
        with pytest.raises(ConfigError, match=r"notes\.txt is not a folder") as caught:
            load_settings(str(tmp_path), chosen, environment={}, start=tmp_path)
        assert (caught.value.exit_code, "--data-dir" in caught.value.message) == (2, True)
        assert "the path of a folder with --data-dir" in caught.value.hint
    assert load_settings(str(tmp_path), "not/there/yet", environment={}, start=tmp_path).data_dir.name == "yet"
    (tmp_path / ".atlas").write_text("")
    with pytest.raises(ConfigError, match=r"\.atlas is not a folder \(default\)"):
        load_settings(str(tmp_path), environment={})
    with pytest.raises(ConfigError, match="not a folder"):
        EmbeddedStore.open(tmp_path / "notes.txt", writing=True, vector_index=VectorIndex)


def test_project_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file.py").write_text("")
    with pytest.raises(ConfigError, match="not a folder"):
        load_settings(str(tmp_path / "file.py"), environment={})
    with pytest.raises(ConfigError, match="no such folder"):
        load_settings("nowhere", environment={}, start=tmp_path)
    with pytest.raises(ConfigError, match="no such folder"):
        load_settings(environment={"ATLAS_PROJECT": "nowhere"}, start=tmp_path)


def test_root_is_the_enclosing_project_strongest_marker_first(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    (tmp_path / "a" / ".git").mkdir()
    assert discover_root(inner) == tmp_path / "a"
    (tmp_path / "a" / "b" / "atlas.toml").write_text("")
    assert discover_root(inner) == tmp_path / "a" / "b"
    (tmp_path / "a" / ".atlas").mkdir()
    assert discover_root(inner) == tmp_path / "a"


def test_a_marker_in_the_home_folder_does_not_swallow_projects_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".git").mkdir()
    project = tmp_path / "work" / "thing"
    project.mkdir(parents=True)
    assert discover_root(project) == project
    assert discover_root(tmp_path) == tmp_path


@given(st.text(max_size=200))
def test_any_text_is_settings_or_a_one_line_config_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    root = tmp_path_factory.mktemp("project")
    (root / "atlas.toml").write_text(text, "utf-8", errors="replace")
    try:
        settings = load_settings(str(root), environment={}, start=root)
    except ConfigError as error:
        assert "\n" not in error.message
    else:
        assert settings.root == root


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_a_repository_may_name_an_address_of_this_machine(tmp_path: Path, host: str) -> None:
    assert load(tmp_path, f"[mcp]\nhost = '{host}'\n").mcp.host == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.0.7", "localhost.example.org", "127.1"])
def test_a_repository_cannot_open_the_server_to_others_but_the_environment_can(tmp_path: Path, host: str) -> None:
    text = f"[mcp]\nport = 1234\nhost = '{host}'\n"
    with pytest.raises(ConfigError, match=r"atlas\.toml:3: mcp\.host") as caught:
        load(tmp_path, text)
    assert "ATLAS_MCP_HOST" in caught.value.hint
    assert load(tmp_path, text, {"ATLAS_MCP_HOST": host}).mcp.host == host


def test_the_token_is_not_a_setting_and_is_shown_nowhere(tmp_path: Path) -> None:
    settings = load(tmp_path, "", {"ATLAS_MCP_TOKEN": "a secret of somebody"})
    assert "a secret" not in repr(list(settings.entries())) + repr(settings)


@pytest.mark.parametrize(
    ("text", "environment", "message"),
    [
        ("url = 'bolt://graph.example.org:7687'", {}, r"atlas\.toml:2: store\.url is not an address on this machine"),
        ("url = 'bolt://localhost@example.org'", {}, r"atlas\.toml:2: store\.url must not hold a user"),
        ("url = 'bolt://127.0.0.1.example.org'", {}, r"atlas\.toml:2: store\.url is not an address on this machine"),
        ("url = 'http://127.0.0.1:7687'", {}, r"atlas\.toml:2: store\.url is no address of a Bolt server"),
        ("url = 'bolt://127.0.0.1/graph'", {}, "no address of a Bolt server"),
        ("url = 'bolt://'", {}, "no address of a Bolt server"),
        ("url = 'bolt://[::1'", {}, "no address of a Bolt server"),
        ("password = 'secret'", {}, r"atlas\.toml:2: store\.password must not be in a file"),
        ("ca_file = 'own.pem'", {"URL": "bolt+s://example.org"}, "cannot be chosen by a repository"),
        ("url = 'bolt+s://[::1]'\nca_file = '../own.pem'", {}, "cannot be chosen by a repository"),
        ("url = 'bolt+s://[::1]'\nca_file = 'none.pem'", {}, "is no file"),
        ("url = 'bolt://[::1]'\nca_file = 'own.pem'", {}, "of use for bolt"),
        ("", {"URL": "bolt://host", "PASSWORD": "secret"}, "store.user is missing"),
        ("", {"URL": "bolt://neo4j:secret@host"}, "env ATLAS_STORE_URL: store.url must not hold a user"),
    ],
)
def test_store_servers_that_are_refused(tmp_path: Path, text: str, environment: dict[str, str], message: str) -> None:
    (tmp_path / "own.pem").touch()
    variables = {f"ATLAS_STORE_{name}": value for name, value in environment.items()}
    with pytest.raises(ConfigError, match=message) as caught:
        load(tmp_path, f"[store]\n{text}\n", variables)
    assert "secret" not in caught.value.message + caught.value.hint
    assert caught.value.hint


def test_a_repository_may_name_a_store_on_this_machine_and_the_user_any(tmp_path: Path) -> None:
    (tmp_path / "own.pem").touch()
    text = "[store]\nurl = 'neo4j+s://localhost'\ndatabase = 'code'\nuser = 'atlas'\nca_file = 'own.pem'\n"
    assert load(tmp_path, text, {"ATLAS_STORE_PASSWORD": "secret"}).store.database == "code"
    (tmp_path / "atlas.toml").unlink()
    settings = load(
        tmp_path,
        environment={
            "ATLAS_STORE_URL": "bolt+ssc://graph.example.org:7687",
            "ATLAS_STORE_USER": "atlas",
            "ATLAS_STORE_PASSWORD": "secret",
        },
    )
    shown = {key: value for key, value, _ in settings.entries()}
    assert (shown["store.url"], shown["store.password"]) == ("bolt+ssc://graph.example.org:7687", "***")
    assert (settings.store.password, settings.store_place) == ("secret", "bolt+ssc://graph.example.org:7687")
    assert "secret" not in repr(settings)
