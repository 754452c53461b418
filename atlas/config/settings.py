"""The settings themselves: every section with its defaults, bounds and help texts, and the frozen whole.

Values only; where they come from is in `config.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from atlas.ids import project_name

UNIX_SOCKET = "unix://"
"""What an address begins with that is the path of a socket, relative to the project root or absolute."""


TEI_URL = "http://127.0.0.1:8080"
"""Where the compose file's embedding server listens."""

BOLT_SCHEMES = ("bolt://", "bolt+s://", "bolt+ssc://", "neo4j://", "neo4j+s://", "neo4j+ssc://")
"""What the address of a Bolt server begins with: `+s` is encrypted, `+ssc` without looking at the certificate."""

_SECRET = "***"


def _setting(
    default: Any,
    help_text: str,
    low: int = 0,
    high: int = 0,
    choices: tuple[str, ...] = (),
    *,
    secret: bool = False,
    key: bool = False,
    shared: bool = False,
) -> Any:
    """Declare a setting; `low`/`high` bound an integer (both 0 = unbounded), `choices` a string.

    `secret`: an address that may hold a password, which is shown to nobody; `key`: nothing of it is shown. `shared`: a
    project's own file may set it, a number no higher than the default.
    """
    metadata = {"help": help_text, "low": low, "high": high, "choices": choices, "secret": secret or key, "key": key}
    metadata["shared"] = shared
    return field(default=default, repr=not metadata["secret"], metadata=metadata)


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """`[project]`."""

    name: str = _setting("", "Name of the project in uids and answers; empty = the name of its folder.", shared=True)


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """`[scope]`: which files are indexed."""

    include: tuple[str, ...] = _setting(
        (), "Globs relative to the project root; when given, only files matching one.", shared=True
    )
    exclude: tuple[str, ...] = _setting(
        (), "Globs that are left out, on top of .gitignore and .atlasignore.", shared=True
    )
    max_file_bytes: int = _setting(1_048_576, "Larger files are skipped.", 1024, 104_857_600, shared=True)
    git_rules: bool = _setting(True, "Obey .gitignore, .git/info/exclude and nested ignore files.", shared=True)
    include_generated: bool = _setting(False, "Index files whose header says that they are generated.", shared=True)


@dataclass(frozen=True, slots=True)
class LanguageSettings:
    """`[languages]`: languages of the user, besides those that ship with Code Atlas."""

    folders: tuple[str, ...] = _setting(
        (), "Folders with a folder per language, each with a language.toml; of one name the last counts."
    )


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`[search]`: defaults of the query tools."""

    token_budget: int = _setting(
        2000, "Largest answer in cl100k_base tokens, unless the caller asks.", 1, 200_000, shared=True
    )
    limit: int = _setting(10, "Hits per answer, unless the caller asks for another number.", 1, 50, shared=True)


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """`[store]`: where the index lives."""

    url: str = _setting(
        "", f'Server of the index: {", ".join(BOLT_SCHEMES)}; "" = a file in the data folder.', secret=True
    )
    database: str = _setting("", 'Database on that server; "" = its default one.')
    user: str = _setting("", 'User there; "" = a server that asks for none.')
    password: str = _setting("", "Password there; from the environment only: ATLAS_STORE_PASSWORD.", key=True)
    ca_file: str = _setting("", 'PEM file with who may have signed the certificate; "" = whom this system trusts.')
    connect_seconds: int = _setting(5, "Time limit for a connection.", 1, 300)
    read_seconds: int = _setting(30, "Time limit for a question.", 1, 3600)
    write_seconds: int = _setting(300, "Time limit for a transaction that writes.", 1, 86_400)


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """`[embedder]`: what makes vectors."""

    provider: str = _setting(
        "static",
        'What makes vectors: "static" (in this process), "none", or a server: "tei", "openai", "litellm".',
        choices=("static", "none", "tei", "openai", "litellm"),
    )
    url: str = _setting("", f'Address of the server; "" = {TEI_URL} for "tei".', secret=True)
    api_key: str = _setting("", "Key of the server; from the environment only: ATLAS_EMBEDDER_API_KEY.", key=True)
    model: str = _setting("", 'Model that the server is asked for; "" = whatever a TEI server serves.')
    dimensions: int = _setting(0, "Numbers in a vector; 0 = as many as the model makes.", 0, 16_384)
    query_prefix: str = _setting("auto", 'Put before a question; "auto" = what the model was trained with.')
    document_prefix: str = _setting("auto", 'Put before a text; "auto" = what the model was trained with.')
    batch: int = _setting(32, "Texts in a request; a TEI server's own limit counts, too.", 1, 2048)
    concurrency: int = _setting(4, "Requests in flight.", 1, 64)
    timeout_seconds: int = _setting(30, "Time limit for a request.", 1, 600)
    cache: str = _setting(
        "auto",
        'Keep vectors by content: "on", "off"; "auto" = for models that take longer than a look into the cache.',
        choices=("auto", "on", "off"),
    )
    cache_mb: int = _setting(256, "Size of that cache; the least used go first.", 1, 100_000)


@dataclass(frozen=True, slots=True)
class McpSettings:
    """`[mcp]`: what agents are offered, and how much of it over HTTP at once."""

    allow_index: bool = _setting(True, "Let agents start indexing through the `index` tool.")
    host: str = _setting("127.0.0.1", "Address that `--transport http` listens on.")
    port: int = _setting(8765, "Its port; 0 = any that is free.", 0, 65_535)
    max_body_bytes: int = _setting(1_048_576, "Larger requests over HTTP are refused (413).", 1024, 67_108_864)
    request_seconds: int = _setting(300, "A request over HTTP that takes longer is given up (504).", 1, 86_400)
    max_concurrent: int = _setting(8, "Requests over HTTP that are worked on at once.", 1, 1000)
    max_starting: int = _setting(
        0, "Of these, in their first 0.25 s; 0 = 2, or no limit when index or embedder is a server.", 0, 1000
    )
    max_waiting: int = _setting(256, "Requests that wait for their turn; beyond it they are refused (503).", 0, 10_000)
    max_per_client: int = _setting(128, "Of these, from one address; beyond it 429, 0 = no limit.", 0, 10_000)
    workers: int = _setting(1, "Processes that serve HTTP, each with these limits; 0 = one per core.", 0, 256)


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """`[index]`: how much of the machine indexing takes."""

    threads: int = _setting(0, "Threads for scanning, parsing and embedding; 0 = one per core.", 0, 256)
    parse_timeout_ms: int = _setting(2000, "Time limit for parsing one file.", 50, 60_000)


@dataclass(frozen=True, slots=True)
class BusSettings:
    """`[bus]`: where the daemon's streams live."""

    url: str = _setting(
        "", 'Server: "valkey://host:port/db", "valkeys://" (TLS) or "unix:///path"; "" = an own one.', secret=True
    )
    prefix: str = _setting("", "Put before the names of all keys, for a server that others use too.")
    max_attempts: int = _setting(5, "Deliveries of an event before it becomes a dead letter.", 1, 100)
    redeliver_seconds: int = _setting(60, "An event that a dead worker left is delivered again after this.", 1, 3600)
    capacity: int = _setting(
        100_000, "Events a stream holds; beyond it the whole project is looked at.", 100, 10_000_000
    )


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    """`[pipeline]`: how the tiers gather their batches; a batch is closed by the window or the size, or by silence."""

    graph_window_ms: int = _setting(500, "Tier 1 gathers changed files for at most this long.", 0, 60_000)
    ast_window_ms: int = _setting(3000, "Tier 2 gathers dirty files for at most this long.", 0, 60_000)
    embed_window_ms: int = _setting(15_000, "Tier 3 gathers changed symbols for at most this long.", 0, 600_000)
    graph_batch: int = _setting(2000, "Files in a batch of tier 1.", 1, 100_000)
    ast_batch: int = _setting(2000, "Files in a batch of tier 2.", 1, 100_000)
    embed_batch: int = _setting(256, "Symbols that tier 3 embeds in one transaction.", 1, 10_000)
    body_threshold: int = _setting(5, "Percent of a body's words that must change for a new vector at once.", 0, 100)


@dataclass(frozen=True, slots=True)
class DaemonSettings:
    """`[daemon]`: the process that keeps the index true."""

    reconcile_seconds: int = _setting(300, "The whole tree is compared with the index this often.", 1, 86_400)
    poll_seconds: int = _setting(2, "How often the tree is looked at when it cannot be watched.", 1, 3600)
    memory_mb: int = _setting(600, "Resident memory that the daemon stays under.", 100, 1_000_000)
    lease_seconds: int = _setting(10, "On a shared store: who keeps a project may be silent this long.", 2, 600)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be configured, with where each value came from.

    `root` and `data_dir`, the folder of derived data, are absolute and resolved. `origins` maps "section.key" and
    "data_dir" to "<file>:<line>", "env <NAME>" or a flag.
    """

    root: Path
    data_dir: Path
    project: ProjectSettings = field(default_factory=ProjectSettings)
    scope: ScopeSettings = field(default_factory=ScopeSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    languages: LanguageSettings = field(default_factory=LanguageSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    bus: BusSettings = field(default_factory=BusSettings)
    pipeline: PipelineSettings = field(default_factory=PipelineSettings)
    daemon: DaemonSettings = field(default_factory=DaemonSettings)
    origins: Mapping[str, str] = field(default_factory=dict[str, str])

    def origin(self, key: str) -> str:
        """Where the value of "section.key" came from; "default" when nobody gave one."""
        return self.origins.get(key, "default")

    @property
    def project_name(self) -> str:
        """The configured name, or the folder's."""
        return self.project.name or project_name(self.root)

    @property
    def language_folders(self) -> tuple[Path, ...]:
        """Folders with languages of the user."""
        return tuple(Path(folder).expanduser() for folder in self.languages.folders)

    @property
    def store_place(self) -> str:
        """Where the index is, for people: a server's address without secrets, or the folder."""
        return masked(self.store.url) or str(self.data_dir)

    @property
    def shared(self) -> bool:
        """Whether processes on other hosts may work on the same store over the same bus."""
        return bool(self.store.url and self.bus.url)

    @property
    def asks_servers(self) -> bool:
        """Whether a question waits for others, who have the index or make its vector, more than it computes."""
        return bool(self.store.url) or self.embedder.provider in SERVERS

    @property
    def bus_address(self) -> str:
        """Where the configured bus server is: a URL, or the absolute path of a unix socket; "" = the daemon's own."""
        url = self.bus.url
        if url.startswith(UNIX_SOCKET):
            return str(self.root / url.removeprefix(UNIX_SOCKET))
        return url

    @property
    def embedder_url(self) -> str:
        """Where the embedding server is, without "/" at the end; "" = no server, or one that LiteLLM knows."""
        chosen = self.embedder
        if chosen.provider not in SERVERS:
            return ""
        return (chosen.url or (TEI_URL if chosen.provider == "tei" else "")).rstrip("/")

    @property
    def embedder_unencrypted(self) -> bool:
        """Whether code leaves this machine for others to read on the way."""
        return self.embedder_url.startswith("http:") and not is_loopback(urlsplit(self.embedder_url).hostname or "")

    def entries(self) -> Iterator[tuple[str, object, str]]:
        """Yield ("section.key", value, origin) of every setting in declaration order; passwords are masked."""
        for section, kind in SECTIONS.items():
            for spec in fields(kind):
                key, value = f"{section}.{spec.name}", getattr(getattr(self, section), spec.name)
                yield key, _shown(value, spec.metadata), self.origin(key)


SECTIONS: dict[str, type[Any]] = {
    "project": ProjectSettings,
    "scope": ScopeSettings,
    "search": SearchSettings,
    "languages": LanguageSettings,
    "store": StoreSettings,
    "embedder": EmbedderSettings,
    "mcp": McpSettings,
    "index": IndexSettings,
    "bus": BusSettings,
    "pipeline": PipelineSettings,
    "daemon": DaemonSettings,
}


SERVERS = ("tei", "openai", "litellm")
"""Values of embedder.provider that send code to a server."""


def is_loopback(host: str) -> bool:
    """Return whether a host's name or address means this machine, whatever a name server says."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _shown(value: object, metadata: Mapping[str, Any]) -> object:
    if metadata["key"]:
        return _SECRET if value else value
    return masked(str(value)) if metadata["secret"] else value


def masked(url: str) -> str:
    """Return an address without its password, in a form that may be shown."""
    scheme, separator, rest = url.partition("://") if "://" in url else ("", "", url)
    user, at, place = rest.rpartition("@")
    if not at:
        return url
    name, colon, _ = user.partition(":")
    return f"{scheme}{separator}{name if colon else ''}{':' if colon else ''}***@{place}"
