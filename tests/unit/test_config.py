"""Settings: precedence, places in errors, and what a repository's own file may not do."""

from __future__ import annotations

import os
import time
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas._parser import VectorIndex
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.errors import ConfigError
from atlas.runtime.config.declare import IgnoredSetting
from atlas.runtime.config.file import MAX_MISTAKES
from atlas.runtime.config.load import SECTIONS, Settings, discover_root, load_settings, user_file
from atlas.runtime.process import places
from atlas.runtime.process.data_folder import default_folder, make_folder

EXAMPLE = Path(__file__).parents[2] / "atlas.toml.example"


def load(root: Path, text: str = "", environment: dict[str, str] | None = None, **flags: str) -> Settings:
    if text:
        (root / "atlas.toml").write_text(text)
    return load_settings(str(root), environment=environment or {}, start=root, **flags)


def why_ignored(root: Path, text: str) -> IgnoredSetting:
    """The only thing that is ignored in a project's file with this text; the settings are the defaults."""
    settings = load(root, text)
    (ignored,) = settings.ignored
    assert settings.origins == {}
    assert "\n" not in ignored.why + ignored.hint
    return ignored


@pytest.fixture(autouse=True)
def user_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path_factory.mktemp(name)))


def write_user_file(text: str) -> Path:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(text)
    return user_file()


def test_example_parses_equals_the_defaults_and_mentions_every_setting(tmp_path: Path) -> None:
    text = EXAMPLE.read_text()
    document = tomllib.loads(text)
    assert list(document) == list(SECTIONS)
    for section, kind in SECTIONS.items():
        assert list(document[section]) == [spec.name for spec in fields(kind)], section
    defaults = {key: value for key, value, _ in load(tmp_path).entries()}
    path = write_user_file(text)
    from_example = load(tmp_path)
    assert {key: value for key, value, _ in from_example.entries()} == defaults
    assert all(origin.startswith(f"{path}:") for _, _, origin in from_example.entries())


def test_example_marks_what_a_project_may_set(tmp_path: Path) -> None:
    shared, _, rest = EXAMPLE.read_text().partition("# --- Only in the user's file ---")
    load(tmp_path, shared)
    for section, body in tomllib.loads(rest).items():
        for name, value in body.items():
            written = repr(value).lower() if isinstance(value, bool) else repr(value)
            said = why_ignored(tmp_path, f"[{section}]\n{name} = {written}\n")
            assert f"{section}.{name} cannot be set by a project's file" in said.why


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
        "[search]\nlimit = 7\ntoken_budget = 900\n",
        {"ATLAS_SEARCH_LIMIT": "9", "ATLAS_SCOPE_EXCLUDE": "a/**, b", "ATLAS_SCOPE_GIT_RULES": "false"},
        data_dir="elsewhere",
    )
    origins = {key: origin for key, _, origin in settings.entries()}
    assert (settings.search.limit, origins["search.limit"]) == (9, "env ATLAS_SEARCH_LIMIT")
    assert (settings.search.token_budget, origins["search.token_budget"]) == (900, "atlas.toml:3")
    assert settings.scope.exclude == ("a/**", "b")
    assert settings.scope.git_rules is False
    assert (settings.data_dir, settings.origin("data_dir")) == (tmp_path / "elsewhere", "--data-dir")
    assert origins["index.threads"] == "default"


def test_every_setting_has_a_variable(tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    for section, kind in SECTIONS.items():
        for spec in fields(kind):
            given = ",".join(spec.default) if isinstance(spec.default, tuple) else str(spec.default).lower()
            environment[f"ATLAS_{section}_{spec.name}".upper()] = given
    origins = load(tmp_path, environment=environment).origins
    assert {f"env {name}" for name in environment} == set(origins.values())


def test_sections_whose_name_has_an_underscore(tmp_path: Path) -> None:
    settings = load(tmp_path, environment={"ATLAS_LANGUAGE_MODEL_API_KEY": "k", "ATLAS_LANGUAGE_MODEL_MODEL": "a/b"})
    assert (settings.language_model.api_key, settings.language_model.model) == ("k", "a/b")


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


MISTAKES = [
    ("[serch]\nlimit = 3\n", "atlas.toml:1: unknown section serch", "search"),
    ("[search]\n\nlimti = 3\n", "atlas.toml:3: unknown setting search.limti", "search.limit"),
    ("search.limti = 3\n", "atlas.toml:1: unknown setting search.limti", "search.limit"),
    ("search = { limti = 3 }\n", "atlas.toml:1: unknown setting search.limti", "search.limit"),
    ("search = 3\n", "atlas.toml:1: [search] must be a table", "example"),
    ("[search]\nlimit = '3'\n", "atlas.toml:2: search.limit must be a whole number", "hits"),
    ("[search]\nlimit = true\n", "atlas.toml:2: search.limit must be a whole number", "hits"),
    ("[search]\nlimit = 0\n", "atlas.toml:2: search.limit must be between 1 and 50", "hits"),
    ("[scope]\ngit_rules = 1\n", "atlas.toml:2: scope.git_rules must be true or false", "ignore"),
    ("[scope]\nexclude = 'x'\n", "atlas.toml:2: scope.exclude must be a list of strings", "Globs"),
    ("[scope]\nexclude = ['../x']\n", "atlas.toml:2: scope.exclude must stay inside", "Globs"),
    ("[scope]\ngit_rules = false\n", "atlas.toml:2: a project's file cannot switch scope.git_rules off", "SCOPE"),
    (
        "[scope]\nmax_file_bytes = 1048577\n",
        "atlas.toml:2: a project's file cannot set scope.max_file_bytes",
        "MAX",
    ),
    ("[search]\ntoken_budget = 2001\n", "atlas.toml:2: a project's file cannot set search.token_budget", "BUDGET"),
    ("[project]\nname = 'a b:c'\n", "atlas.toml:2: project.name may contain only", "uids"),
    ("[store]\ndata_dir = 'src'\n", "atlas.toml:2: store.data_dir is not a setting", "--data-dir"),
    ("[search\n", "atlas.toml: ", "atlas.toml.example"),
    ("x" * 300_000, "larger than", "atlas.toml.example"),
]


@pytest.mark.parametrize(("text", "message", "hint"), MISTAKES)
def test_a_mistake_in_a_projects_file_is_ignored_with_its_place_and_the_way_out(
    tmp_path: Path, text: str, message: str, hint: str
) -> None:
    ignored = why_ignored(tmp_path, text)
    assert message in ignored.why
    assert hint in ignored.hint


@pytest.mark.parametrize(("text", "message", "hint"), MISTAKES)
def test_the_same_mistake_in_the_users_own_file_is_an_error(tmp_path: Path, text: str, message: str, hint: str) -> None:
    path = write_user_file(text)
    if "a project's file" in message:
        assert load(tmp_path).origin(message.split()[-2 if message.endswith("off") else -1]).startswith(str(path))
        return
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert message.replace("atlas.toml", str(path), 1) in caught.value.message
    assert hint in caught.value.hint
    assert "\n" not in caught.value.message


def test_what_is_right_in_a_projects_file_counts_next_to_what_is_ignored(tmp_path: Path) -> None:
    text = "[search]\nlimit = 3\nlimti = 4\n[store]\npassword = 'hunter2'\n[project]\nname = 'shop'\n"
    settings = load(tmp_path, text)
    assert (settings.search.limit, settings.project.name) == (3, "shop")
    assert [one.why for one in settings.ignored] == [
        "atlas.toml:5: store.password cannot be set by a project's file",
        f"{tmp_path}/atlas.toml:3: unknown setting search.limti",
    ], "a secret in a repository is the most urgent"
    assert "create a new one" in settings.ignored[0].hint
    assert "hunter2" not in repr(settings)


def test_names_and_values_of_a_projects_file_are_shown_short_and_on_one_line(tmp_path: Path) -> None:
    long = '"' + "n" * 30_000 + '\\u001b[2J\\nerror: x"'
    settings = load(tmp_path, f"[search]\n{long} = 1\nlimit = 0x{'f' * 30_000}\n")
    assert len(settings.ignored) == 2
    for one in settings.ignored:
        assert len(one.why) < 300
        assert one.why.isprintable()
    settings = load(tmp_path, "[search]\nlimit = [" + "9" * 4_000 + ", 0x" + "f" * 9_000 + "]\n")
    assert "too long to be shown" in settings.ignored[0].why


def test_a_projects_file_with_many_mistakes_is_not_read_further(tmp_path: Path) -> None:
    text = "".join(f"[a{number}]\n" for number in range(7_000))
    settings = load(tmp_path, text + "[search]\nlimit = 3\n")
    assert len(settings.ignored) == MAX_MISTAKES + 1
    assert "too many mistakes" in settings.ignored[-1].why
    assert settings.search.limit != 3


def test_globs_that_are_none_or_too_many_are_ignored(tmp_path: Path) -> None:
    assert "glob" in why_ignored(tmp_path, "[scope]\nexclude = ['a[z-a]/**']\n").why
    assert "too many globs" in why_ignored(tmp_path, "[scope]\nexclude = ['" + "*?" * 30_000 + "']\n").why
    with pytest.raises(ConfigError, match="glob"):
        load(tmp_path, "[search]\n", {"ATLAS_SCOPE_EXCLUDE": "a[z-a]"})


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[bus]\nurl = 'valkey://localhost'", "bus.url"),
        ("[bus]\nprefix = 'x'", "bus.prefix"),
        ("[store]\nurl = 'bolt://127.0.0.1:7687'", "store.url"),
        ("[store]\nca_file = 'own.pem'", "store.ca_file"),
        ("[store]\nuser = 'neo4j'\npassword = 'secret'", "store.password"),
        ("[embedder]\nprovider = 'tei'", "embedder.provider"),
        ("[embedder]\nurl = 'http://127.0.0.1:9'", "embedder.url"),
        ("[embedder]\napi_key = 'secret'", "embedder.api_key"),
        ("[mcp]\nhost = '127.0.0.1'", "mcp.host"),
        ("[mcp]\nmax_concurrent = 1", "mcp.max_concurrent"),
        ("[index]\nthreads = 1", "index.threads"),
        ("[daemon]\nreconcile_seconds = 86400", "daemon.reconcile_seconds"),
        ("[pipeline]\nbody_threshold = 100", "pipeline.body_threshold"),
    ],
)
def test_a_project_names_no_place_service_key_or_limit_but_the_user_may(tmp_path: Path, text: str, key: str) -> None:
    settings = load(tmp_path, f"{text}\n")
    assert settings.origin(key) == "default"
    ignored = next(one for one in settings.ignored if f": {key} cannot be set by a project's file" in one.why)
    assert ignored.why.startswith("atlas.toml:")
    assert f"ATLAS_{key.replace('.', '_').upper()}" in ignored.hint
    assert str(user_file()) in ignored.hint
    assert "secret" not in repr(settings)
    (tmp_path / "atlas.toml").unlink()
    if key in ("store.ca_file", "embedder.provider"):
        return
    write_user_file(f"{text}\n")
    if key in ("store.password", "embedder.api_key"):
        with pytest.raises(ConfigError, match="must not be in a file") as caught:
            load(tmp_path)
        assert "secret" not in caught.value.message + caught.value.hint
    else:
        assert load(tmp_path).origin(key) == f"{user_file()}:2"


def test_the_project_overrides_the_user_and_the_environment_both(tmp_path: Path) -> None:
    write_user_file("[search]\nlimit = 40\n[scope]\nmax_file_bytes = 5000000\n[daemon]\nmemory_mb = 900\n")
    settings = load(tmp_path, "[search]\nlimit = 3\n", {"ATLAS_DAEMON_MEMORY_MB": "700"})
    assert (settings.search.limit, settings.origin("search.limit")) == (3, "atlas.toml:2")
    assert (settings.scope.max_file_bytes, settings.daemon.memory_mb) == (5_000_000, 700)


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "dangling", "latin-1"])
@pytest.mark.parametrize("own", [False, True])
def test_a_settings_file_must_be_a_regular_file(tmp_path: Path, kind: str, *, own: bool) -> None:
    path = write_user_file("") if own else tmp_path / "atlas.toml"
    path.unlink(missing_ok=True)
    (tmp_path / "other.toml").write_text("[search]\nlimit = 3\n")
    if kind == "link":
        path.symlink_to(tmp_path / "other.toml")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "dangling":
        path.symlink_to("nowhere.toml")
    else:
        path.write_bytes("[project]\nname = 'ä'\n".encode("latin-1"))
    if not own:
        (ignored,) = load(tmp_path).ignored
        assert ("not UTF-8" if kind == "latin-1" else "cannot read") in ignored.why
        assert ("UTF-8" if kind == "latin-1" else "regular file") in ignored.hint
    elif kind != "dangling":
        with pytest.raises(ConfigError, match="not UTF-8" if kind == "latin-1" else "cannot read"):
            load(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "[project]\nname." + ".".join(["a"] * 24_000) + " = 1",
        ".".join(["a"] * 30_000) + " = 1",
        "[" + ".".join(['"a"'] * 15_000) + "]",
        "x = " + "{a=" * 20_000,
        "x = " + "[" * 30_000,
        "name = 1\n" * 7_000,
        "a" * 65_000,
        "a" * 32_000 + " " * 32_000,
        '"' * 65_000,
        "a . " * 16_000,
        "x = " + "9" * 6_000,
    ],
)
def test_a_settings_file_takes_no_more_memory_than_it_has_bytes(tmp_path: Path, text: str) -> None:
    assert "atlas.toml" in why_ignored(tmp_path, text).why


def test_a_bus_of_the_user_may_be_anywhere(tmp_path: Path) -> None:
    for url in ("valkey://example.org/0", "unix:///run/valkey.sock", "valkeys://[::1]:6379?ca=certificates/own.pem"):
        assert load(tmp_path, environment={"ATLAS_BUS_URL": url}).bus.url == url
    assert load(tmp_path, environment={"ATLAS_BUS_URL": "unix:///run/valkey.sock"}).bus_address == "/run/valkey.sock"


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
    write_user_file("[bus]\nurl = ['valkey://user:secret@127.0.0.1']\n")
    with pytest.raises(ConfigError, match="must be a string") as caught:
        load(tmp_path)
    assert "secret" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("ATLAS_SEARCH_LIMTI", "3", "unknown variable ATLAS_SEARCH_LIMTI"),
        ("ATLAS_SEARCH_LIMIT", "many", "whole number"),
        ("ATLAS_SEARCH_LIMIT", "1000", "between 1 and 50"),
        ("ATLAS_SCOPE_GIT_RULES", "perhaps", "true or false"),
        ("ATLAS_STORE_DATA_DIR", "x", "unknown variable"),
        ("ATLAS_EMBEDDER_PROVIDER", "statik", "must be one of"),
    ],
)
def test_mistakes_in_the_environment_name_the_variable(tmp_path: Path, variable: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, environment={variable: value})
    assert message in caught.value.message
    assert variable in caught.value.message
    assert caught.value.hint


def test_data_lives_in_the_users_cache_whatever_the_repository_brings(tmp_path: Path) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / ".atlas").symlink_to(outside)
    settings = load(root)
    assert settings.data_dir == default_folder(root)
    assert settings.data_dir.name.startswith("project-")
    assert not settings.data_dir.is_relative_to(root)
    assert load(outside).data_dir != settings.data_dir


def test_a_data_folder_must_not_be_a_file_nor_lie_in_one(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    for chosen in ("notes.txt", "notes.txt/below"):
        with pytest.raises(ConfigError, match=r"notes\.txt is not a folder") as caught:
            load_settings(str(tmp_path), chosen, environment={}, start=tmp_path)
        assert (caught.value.exit_code, "--data-dir" in caught.value.message) == (2, True)
        assert "the path of a folder with --data-dir" in caught.value.hint
    assert load_settings(str(tmp_path), "not/there/yet", environment={}, start=tmp_path).data_dir.name == "yet"
    with pytest.raises(ConfigError, match="data folder is the project root"):
        load_settings(str(tmp_path), str(tmp_path), environment={})
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
    make_folder(default_folder(tmp_path / "a"), tmp_path / "a")
    assert discover_root(inner) == tmp_path / "a"
    (tmp_path / "a" / "b" / "c" / ".atlas").mkdir()
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


@pytest.mark.slow
@given(st.text(max_size=200))
def test_any_text_is_settings_or_ignored_with_a_reason_of_one_line(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    root = tmp_path_factory.mktemp("project")
    (root / "atlas.toml").write_text(text, "utf-8", errors="replace")
    settings = load_settings(str(root), environment={}, start=root)
    assert settings.root == root
    assert all("\n" not in one.why for one in settings.ignored)


def test_the_token_is_not_a_setting_and_is_shown_nowhere(tmp_path: Path) -> None:
    settings = load(tmp_path, "", {"ATLAS_MCP_TOKEN": "a secret of somebody"})
    assert "a secret" not in repr(list(settings.entries())) + repr(settings)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"URL": "http://127.0.0.1:7687"}, "env ATLAS_STORE_URL: store.url is not the address of a Bolt server"),
        ({"URL": "bolt://127.0.0.1/graph"}, "not the address of a Bolt server"),
        ({"URL": "bolt://"}, "not the address of a Bolt server"),
        ({"URL": "bolt://[::1"}, "not the address of a Bolt server"),
        ({"URL": "bolt+s://[::1]", "CA_FILE": "none.pem"}, "is not a file"),
        ({"URL": "bolt://[::1]", "CA_FILE": "own.pem"}, "applies only to bolt"),
        ({"URL": "bolt://host", "PASSWORD": "secret"}, "store.user is missing"),
        ({"URL": "bolt://neo4j:secret@host"}, "env ATLAS_STORE_URL: store.url must not hold a user"),
    ],
)
def test_store_servers_that_are_refused(tmp_path: Path, environment: dict[str, str], message: str) -> None:
    (tmp_path / "own.pem").touch()
    variables = {f"ATLAS_STORE_{name}": value for name, value in environment.items()}
    with pytest.raises(ConfigError, match=message) as caught:
        load(tmp_path, environment=variables)
    assert "secret" not in caught.value.message + caught.value.hint
    assert caught.value.hint


def test_the_user_may_name_any_store_and_its_password_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "own.pem").touch()
    write_user_file("[store]\nurl = 'neo4j+s://localhost'\ndatabase = 'code'\nuser = 'atlas'\nca_file = 'own.pem'\n")
    assert load(tmp_path, environment={"ATLAS_STORE_PASSWORD": "secret"}).store.database == "code"
    user_file().unlink()
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


def test_a_current_folder_that_was_deleted_is_an_error_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(ConfigError, match="current folder no longer exists"):
        load_settings(environment={})


@pytest.mark.parametrize(
    "folder", ["", "/notes", "../notes", "a/../b", "a//b", ".config/notes", ".git", "a/.git", "c:x"]
)
def test_the_folder_of_notes_stays_inside_the_project(tmp_path: Path, folder: str) -> None:
    with pytest.raises(ConfigError, match=r"knowledge\.folder must"):
        load(tmp_path, environment={"ATLAS_KNOWLEDGE_FOLDER": folder})


def test_a_folder_of_notes(tmp_path: Path) -> None:
    assert load(tmp_path).knowledge.folder == ".knowledge"
    assert load(tmp_path, environment={"ATLAS_KNOWLEDGE_FOLDER": "docs/.notes"}).knowledge.folder == "docs/.notes"
    ignored = why_ignored(tmp_path, '[knowledge]\nfolder = "docs"\n')
    assert "knowledge.folder cannot be set by a project's file" in ignored.why


def test_the_project_of_a_deep_folder_is_found_in_linear_time() -> None:
    deep = "/a" * 1500
    started = time.process_time()
    assert places.discover_root(deep) == deep
    assert time.process_time() - started < 1
