"""Types of the Rust extension. Everything is immutable unless said otherwise; long calls release the GIL."""

from collections.abc import Callable, Sequence
from pathlib import Path

from atlas.parsing.excerpts import HitSource, RatedBody

# --- scan -----------------------------------------------------------------------------------------------------------

class ScannedFile:
    """A file to index."""

    def __init__(self, path: str, language: str, size: int, mtime_ns: int, identity: int) -> None: ...
    @property
    def path(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def mtime_ns(self) -> int: ...
    @property
    def identity(self) -> int:
        """Of inode number and ctime: another file that took this path differs in it, even with equal size and time."""

class SubProject:
    """A folder with a manifest of its own; `name` as it says, `kind` = python npm go rust maven dotnet php."""

    @property
    def folder(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...

class ScanResult:
    """Sorted by path."""

    @property
    def files(self) -> list[ScannedFile]: ...
    @property
    def skipped(self) -> list[tuple[str, str]]: ...
    @property
    def subprojects(self) -> list[SubProject]: ...
    @property
    def folders(self) -> list[str]:
        """Every folder that was entered, "" for the root."""
    @property
    def repositories(self) -> list[str]:
        """Folders below the root that are roots of repositories: their git folders hold rules, too."""

def scan(
    root: str,
    languages: Languages,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    max_bytes: int = 1_048_576,
    git_rules: bool = True,
    generated: bool = False,
    plain_text: bool = True,
    only: Sequence[str] | None = None,
) -> ScanResult:
    """Walk a tree, or with `only` the parts of it at and below these paths, with git's rules.

    Raises OSError when root is not a readable folder, ValueError for a glob that is none.
    """

def scan_tracked(root: str, max_bytes: int) -> ScanResult:
    """Return the tracked files of a git work tree that scan rules allow, of any language.

    Raises OSError when root is not a readable folder.
    """

def changes_rules(path: str) -> bool:
    """Say whether a change of this file can change which others are indexed, or how sub-projects are named."""

def glob_problem(globs: Sequence[str]) -> str:
    """Say what is wrong with globs for `scan`, or "" for nothing."""

def personal_rules() -> Path | None:
    """Return the path of the user's own ignore rules for all repositories, whether or not it exists."""

def searched(path: str, data: bytes) -> bytes:
    """Text of a file that is searched and shown, in UTF-8: decoded, and without the outputs of a notebook."""

def check_content(path: str, data: bytes) -> str:
    """Reason why a file with this content is not indexed (binary, minified, generated), or ""."""

# --- parse ----------------------------------------------------------------------------------------------------------

class Languages:
    """The languages known: folders holding `<name>/language.toml` and `<name>/tags.scm`.

    Raises ValueError with path and place.
    """

    def __init__(
        self, folders: Sequence[str], note_folder: str = "", detectors: Sequence[tuple[str, str]] = ...
    ) -> None:
        """Load them. Markdown files in `note_folder`, relative to a project's root, are notes; a scan enters it.

        `detectors`: (name, TOML text) of the rules that find routes and events; a broken one raises ValueError.
        """
    def with_own_rules(self, own: Sequence[tuple[str, str]]) -> Languages:
        """Return the same languages with rules of a project's own file, instead of any earlier ones.

        Facts carry a hash of those that apply to their file; the fingerprint does not cover them. Raises ValueError
        (`name: line 3: message`) for broken rules.
        """
    @property
    def names(self) -> list[str]: ...
    @property
    def fingerprint(self) -> str:
        """32 hex digits that change with the layout of facts, the parser's version and anything the languages say."""
    def of_path(self, path: str) -> str | None:
        """Return the language by file name, None when no language claims it; `.h` is decided by content when parsed."""

class LineSearch:
    """Searches files on disk for lines; remembers which files hold no secret. Safe to use from several threads."""

    def __init__(self) -> None: ...
    def search(
        self,
        root: str,
        paths: Sequence[str],
        patterns: Sequence[str],
        *,
        is_regex: bool = False,
        keep: int = 0,
        max_bytes: int,
        max_lines: int,
        timeout_ms: int,
    ) -> tuple[list[tuple[str, int, list[tuple[int, str]]]], list[tuple[str, int]], int]:
        """Return (path, number of lines, the first `keep`) in the order of `paths`, files left out, unread files.

        `patterns` are exact texts, or one regular expression. Files left out: (binary lfs too-large unreadable secrets,
        number). Unread are those that time or `max_lines` did not suffice for. Raises ValueError(message, character
        from 1 or None) for an invalid pattern, OSError for an unreadable root.
        """

class WiderPattern:
    """An expression that matches wherever one of `re` does, and possibly elsewhere."""

    def __init__(self, pattern: str, ignores_case: bool) -> None:
        """Compile a pattern of `re`; what cannot be compiled, such as a back reference, matches everything."""

class LineFinder:
    """Finds the lines of texts at which an expression of `re` has to be tried. Safe to use from several threads."""

    def __init__(self, needles: Sequence[bytes], most: int) -> None:
        """Search for lines with a needle of up to `most` characters, and as many of the next line."""
    def find(self, texts: Sequence[bytes], pattern: WiderPattern) -> list[list[tuple[int, int, int, int]] | None]:
        r"""Return for each text the lines with a needle, ignoring case, at which the pattern may match.

        A line is its number from 1, its start, its end behind the line break, and the end of the next line, in
        characters of the decoded text with `\n` for `\r\n`. None for a text with a needle and letters beyond ASCII
        that may equal others where case is ignored.
        """
    def are_in(self, texts: Sequence[bytes]) -> list[bool | None]:
        """Return for each text whether it has a needle, ignoring case.

        None where letters beyond ASCII may equal others.
        """

def score_lines(
    texts: Sequence[tuple[bytes, bool, bool]], words: Sequence[tuple[str, bool, bool]], only_rare: bool
) -> list[tuple[int, int, str, float]]:
    """Return (number of the text, line from 1, the line, score) of the lines with words of a question, in no order.

    A text has whether it is a document, and whether it is a test that is not asked for. A word in lower case has
    whether it stands as a whole, rather than begins a word or a part of an identifier, and whether few lines that have
    it are worth showing: a line has one of those, or four words unless `only_rare`.
    """

MarkdownBlock = tuple[str, str, str, int, int, list[tuple[str, str]]]
"""Kind (heading paragraph item code row term note html), plain text, label (id of a heading, language of code, header
of a row, term, kind of a note), depth (level of a heading, nesting of an item), line, and target and text of each link.
"""

def papers_named_in(text: str, most: int) -> list[str]:
    """Return up to `most` papers that a text names, as `arxiv:1706.03762` (no version) or `doi:10.1000/x`, each once.

    First those of arXiv, then DOIs in lower case, each in the order of the text.
    """

def parse_note(data: bytes) -> str:
    """Read a note (Markdown with YAML front matter) as a JSON object. Never fails, whatever the bytes are.

    Keys: `kind` (claim, decision, entity, or "" for a file that is none), `id`, `status`, `confidence`, `source`,
    `created`, `updated`, `name`, `type`, `aliases`, `author` {client, agent}; `about`: [{kind, target, signature, body,
    docstring, path, line, commit, at}]; `relations`: [{type, to, reasoning, confidence, created, at}]; `observations`:
    [{id, created, text, client, at, start, end}]; `keys`: [[name, start, end]], the lines of each top-level key;
    `front_end`, the start of the closing `---`; `body`, the byte after it; `text`, the body, of an entity without its
    observations; `problems`: [[line, code, message]]. `at` is a line from 1, other positions are bytes of `data`.
    """

def yaml_as_json(text: str) -> str:
    """Return a YAML text as JSON. Raises ValueError: no YAML, anchors, tags, more than 100,000 values, depth, time."""

def read_markdown(text: str, seconds: float) -> tuple[list[MarkdownBlock], int]:
    """Return the blocks of a Markdown text, and the line at which `seconds` of CPU time were over (0: never)."""

def language_terms(folders: Sequence[str]) -> list[tuple[str, list[str], list[str], list[str], list[str], str]]:
    """Return (name, words, endings, declarations, constructors, form) of each language, by name; see `[search]`.

    The form is `code`, `document`, or `text` for files that are indexed as windows of lines.

    Raises ValueError with path and place.
    """

class ParsedFile:
    """Facts of one file. The views below are for tests and detectors; linking uses the facts directly."""

    @property
    def path(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def lines(self) -> int: ...
    @property
    def module(self) -> str: ...
    @property
    def is_test(self) -> bool: ...
    @property
    def is_generated(self) -> bool: ...
    @property
    def problems(self) -> list[str]:
        """`line: code: message` each."""
    @property
    def skip_reason(self) -> str:
        """Non-empty when the content says that the file must not be indexed (see check_content); no facts then."""
    def to_json(self) -> str:
        """All facts, strings resolved, for tests and debugging."""
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes) -> ParsedFile: ...

def parse_bytes(
    languages: Languages, path: str, data: bytes, *, timeout_ms: int = 1000, generated: bool = False
) -> ParsedFile:
    """Never fails. `timeout_ms` of CPU time; what was read by then stays. `generated`: take generated files too."""

def parse_paths(
    languages: Languages,
    root: str,
    paths: Sequence[str],
    *,
    max_bytes: int = 1_048_576,
    timeout_ms: int = 1000,
    generated: bool = False,
) -> list[ParsedFile | str]:
    """Parse files in parallel, in the order given; a str is why a file could not be read (`unreadable: ...`)."""

# --- content --------------------------------------------------------------------------------------------------------

def content_digest(data: bytes) -> str:
    """32 hex digits: first 16 bytes of BLAKE3."""

def digest_paths(root: str, paths: Sequence[str], max_bytes: int = 1_073_741_824) -> list[str]:
    """Content digests of files, in parallel, in the order given; "" for one that cannot be read, or is larger."""

def stamps(root: str, paths: str, young_ns: int) -> bytes:
    """Return 8 bytes per path, one path per line, that differ once its file or its folder's entries have changed.

    Zeros for a missing path, and for one that changed at or after `young_ns` (Unix time): it may change again
    unnoticed.
    """

def paths_that_differ(root: str, paths: str, stamps: bytes, young_ns: int) -> list[str]:
    """Return the paths, one per line of `paths`, whose stamps are no longer these, or are zeros.

    Raises ValueError unless there is one stamp per path.
    """

def positions_that_differ(root: Path | str, paths: bytes, recorded: bytes) -> list[int]:
    """Return the positions of the paths, separated by zero bytes, that are missing or differ from their record.

    A record is three numbers of 8 bytes: size, modification time in nanoseconds, type bits of the mode. Raises OSError
    for a root that cannot be opened, ValueError unless there is one record per path.
    """

def read_path(root: str, path: str, max_bytes: int) -> bytes | None:
    """Content of a regular file below a folder; None for links, also in folders, special and larger files."""

def read_small(path: Path | str, max_bytes: int) -> bytes | None:
    """Content of a regular file; links are followed. None for special and larger files."""

# --- secrets --------------------------------------------------------------------------------------------------------

def find_secrets(data: bytes) -> list[tuple[int, int, str, int]]:
    """Secrets in a text of any kind as (start, end, rule, line), in order, without overlaps.

    Raises ValueError for a text with so many places to look at that it is given up.
    """

def mask_secrets(data: bytes) -> bytes:
    """Return the text with `*` for every byte of a secret, line breaks kept.

    Raises ValueError as `find_secrets` does.
    """

# --- cache ----------------------------------------------------------------------------------------------------------

class FactsCache:
    """Facts on disk by content digest and path: one append-only file, checksummed records, torn tail cut off, mutable.

    A file that cannot be read or is of another FACTS_VERSION is started anew: the cache may cost time, never truth.
    The file, its lock and its folder are used only if they are no links and the files are regular ones of this user.
    """

    def __init__(self, path: str) -> None: ...
    def get(self, wanted: Sequence[tuple[str, str]]) -> list[ParsedFile | None]:
        """(path, digest) each."""
    def put(self, files: Sequence[ParsedFile]) -> None: ...
    def replace(self, current: Sequence[tuple[str, str]]) -> None:
        """Of these paths, keep only the facts with the digest ("" = none); the bytes of the others are overwritten."""
    def keep(self, wanted: Sequence[tuple[str, str]]) -> None:
        """Overwrite the bytes of everything else; the file is copied without it when that halves it."""
    def close(self) -> None: ...

# --- link -----------------------------------------------------------------------------------------------------------

NodeTuple = tuple[
    str,
    str,
    str,
    str,
    str,
    str,
    str,
    int,
    int,
    int,
    int,
    int,
    str,
    str,
    bool,
    bool,
    bool,
    str,
    str,
    str,
    str,
    str,
    str,
    str,
    str,
]
EdgeTuple = tuple[str, str, str, int, str, float, tuple[int, ...], str]
TextTuple = tuple[str, str, str, str, str, str]

class Unit:
    """The graph of one file (or of the structure, path ""), as NodeRow, EdgeRow and SearchText of atlas.core.model."""

    @property
    def path(self) -> str: ...
    @property
    def digest(self) -> str:
        """32 hex digits over everything in the unit; computed without building rows."""
    @property
    def resolved(self) -> int: ...
    @property
    def unresolved(self) -> int: ...
    @property
    def problems(self) -> list[str]:
        """`line: code: message` of what is wrong with the file because of other files: ids of notes that both have."""
    def nodes(self) -> list[NodeTuple]: ...
    def edges(self) -> list[EdgeTuple]: ...
    def texts(self, content: bytes) -> list[TextTuple]:
        """`content` must be the bytes the facts were made from."""

class Linker:
    """All facts of one project; gives back each file's part of the graph. Mutable."""

    def __init__(self, project: str, languages: Languages, low_memory: bool = False) -> None:
        """`low_memory`: many files at once need hardly more memory than some hundred, and a little more time."""
    def set_subprojects(self, subprojects: Sequence[tuple[str, str, str]]) -> None:
        """(folder, kind, name) each."""
    def take(self, changed: Sequence[ParsedFile], removed: Sequence[str] = ...) -> None:
        """Take files in and out; the next update links them. The last version of a file counts."""
    def recall(self, cache: FactsCache, wanted: Sequence[tuple[str, str]], root: str | None = None) -> list[str]:
        """Take in the facts of (path, digest) from a cache; return the missing paths. Raises ValueError when closed.

        Below a `root`, facts that were made with other rules of the project than now apply to the file are missing.
        """
    def update(self, changed: Sequence[ParsedFile] = ..., removed: Sequence[str] = ...) -> list[str]:
        """Take in changed files and re-link what depends on all that was taken; equal in effect to a new Linker.

        Return the sorted paths whose unit may have changed: removed ones left out, the structure unit as "".
        """
    def save(self, cache: FactsCache, made_with: str) -> bool:
        """Write a snapshot of the linked project beside the cache; return whether it could.

        It replaces an earlier one. The cache removes it when it adds or erases facts.
        """
    def restore(self, cache: FactsCache, made_with: str, units: Sequence[tuple[str, str, str]]) -> bool:
        """Continue from the snapshot beside the cache if it was saved with the same text and holds exactly these units.

        (path, digest of the content, digest of the unit) each, and the structure under "". Returns whether it did;
        otherwise the linker stays as it is. Everything then works as if this linker were the one that was saved.
        """
    def pack(self) -> None:
        """Give back what was unpacked to link files or to make units; nothing is forgotten."""
    def rest(self) -> None:
        """Give memory back until the next update; everything still works, units are then made more slowly."""
    def release(self, paths: Sequence[str]) -> bool:
        """Give back the memory of files whose units are made, if that is possible: then no update may follow."""
    def unit(self, path: str) -> Unit:
        """Return a file's unit. Raises KeyError for an unknown path."""
    def digests(self, paths: Sequence[str] | None = None) -> dict[str, str]:
        """Return the digests of these units by path, or of every unit, "" included; none for unknown paths."""

def match_routes(calls: Sequence[tuple[str, str]], routes: Sequence[tuple[str, str]]) -> list[tuple[list[int], bool]]:
    """Return, for each call (path, methods), the places of the routes (method, path) that it fits best.

    The flag says whether these have segments before those of the call.
    """

# --- encode ---------------------------------------------------------------------------------------------------------

class StaticEncoder:
    """The static embedding model of a folder (embedding.npy, scale.npy, vocab.txt, model.json).

    Raises ValueError if damaged.
    """

    def __init__(self, folder: str) -> None: ...
    @property
    def dimension(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    def encode(self, texts: Sequence[str], names: Sequence[str], is_file: Sequence[bool]) -> list[bytes]:
        """L2-normalised float16 little-endian; name weight 4, or 3 where is_file. In parallel."""
    def query(self, text: str) -> bytes:
        """float32 little-endian, L2-normalised, all zeros when no word is known."""
    def cosines(self, question: str, named: Sequence[tuple[str, str]]) -> list[float]:
        """Return the cosine of a question with each (name, text), [] when no word of it is known.

        A text without a known word, and with no such name, stands for 0.
        """

class ProseEncoder:
    """The static prose model of a folder (embedding.npy, scale.npy, vocab.txt, model.json). English only.

    Raises ValueError if damaged.
    """

    def __init__(self, folder: str) -> None: ...
    @property
    def dimension(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """L2-normalised float16 little-endian of the first 4,000 characters of each text. In parallel."""
    def query(self, text: str) -> bytes:
        """float32 little-endian, L2-normalised, all zeros when no token is known."""
    def cosines(self, question: str, files: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        """Return the cosine of a question with each text of some files, file by file, [] when no token of it is known.

        A text is read with its path, as `atlas.adapters.embedders.static.document_text` says, and stands for 0 where no
        token is known.
        """
    def tokens(self, text: str) -> list[int]:
        """Vocabulary rows of the tokens, in the order of the text."""

class EmotionEncoder:
    """The emotion model of a folder (weights.npy, idf.npy, vocab.txt, model.json). English only.

    Raises ValueError if damaged.
    """

    def __init__(self, folder: str) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def labels(self) -> list[str]:
        """28 labels; the last one is "neutral"."""
    def probabilities(self, text: str) -> list[float]:
        """One probability per label; for a text without a known word, the label frequencies of the training data."""
    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """float32 little-endian [27] per text, L2-normalised, without neutral; zeros if no emotion is found."""

class VectorIndex:
    """Vectors in memory as int8 for an exact scan. Mutable; safe to use from several threads."""

    def __init__(self, dimension: int) -> None: ...
    def __len__(self) -> int: ...
    def put(self, ids: Sequence[int], vectors: Sequence[bytes]) -> None:
        """float16 little-endian each; replaces by id."""
    def remove(self, ids: Sequence[int]) -> None: ...
    def ids(self) -> list[int]: ...
    def search(self, query: bytes, limit: int, allowed: bytes | None = None) -> list[tuple[int, float]]:
        """Return the best by cosine of the quantised vectors, ties by id.

        `allowed`: sorted ids as little-endian int64, or None for all.
        """
    def cosines(self, query: bytes, vectors: Sequence[bytes]) -> list[float]:
        """Return the exact cosines of a float32 query with float16 vectors; NaN where one has no length."""

def cosines(query: bytes, vectors: Sequence[bytes]) -> list[float]:
    """Return the cosines of a float32 query with float32 vectors; 0 for one without length or of another dimension."""

# --- excerpts -------------------------------------------------------------------------------------------------------

class Excerpts:
    """Chooses what is shown of source: statements, or paragraphs where there are none. Safe for threads.

    `folders`: as for `Languages`; a language is loaded when a text of it is first read. Statements of texts are
    remembered in at most 16 MiB.
    """

    def __init__(self, folders: Sequence[str]) -> None: ...
    def rate(
        self,
        question: str,
        words: Sequence[str],
        hits: Sequence[HitSource],
        least: float,
        encoder: ProseEncoder | None,
    ) -> list[RatedBody]:
        """Return the pieces of each hit that begin in it or a hit of its file, or have a word of the question.

        The value of a piece is the chance that it answers the question, by words, shape and, with an `encoder`,
        meaning. Left out are the line of the hit, what only says a part of its summary, and all that is worth less than
        `least` per token of marks, except the best three pieces.
        """
    def borders(self, language: str, lines: Sequence[str]) -> list[int]:
        """Return the lines, from 0, before which a text can be cut, in order; 0 is the first of them."""

# --- segments of words ----------------------------------------------------------------------------------------------

_SegmentRow = tuple[int, bytes, bytes, bytes]
"""Id, nodes, gone and directory of a segment."""
_TextRow = tuple[int, int, str, bool, bool, str, str, str, str, str]
"""Node, file, label, is_test, is_generated, name, qualified name, docstring, source, path."""
_Among = tuple[bytes | None, list[str] | None, bool, bool]
"""Files (sorted uint32 little-endian) or None for all, labels or None for all, with tests, with generated code."""

def build_words(rows: Sequence[_TextRow], gone: Sequence[int]) -> tuple[bytes, bytes, bytes, list[tuple[bytes, bytes]]]:
    """Return nodes, gone, directory and blocks (postings, positions) of a segment of texts of distinct nodes.

    `gone`: nodes whose earlier texts the segment replaces or deletes.
    """

class WordIndex:
    """The segments of a store in one state, for BM25 as SQLite's FTS5 computes it. Immutable.

    All methods that read segments or blocks raise ValueError if the bytes are damaged.
    """

    def __init__(self, before: WordIndex | None, ids: Sequence[int], new: Sequence[_SegmentRow]) -> None:
        """`ids` ascend; segments that `before` has are shared with it, `new` has the others."""

    @property
    def segments(self) -> list[int]: ...
    def blocks(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the ids of the blocks of postings, and of positions, that a search for words and phrases reads."""

    def search(
        self,
        words: Sequence[str],
        postings: Sequence[tuple[int, bytes]],
        positions: Sequence[tuple[int, bytes]],
        among: _Among,
        limit: int,
    ) -> list[tuple[int, float]]:
        """Return the best nodes with their scores, unordered, and all others that score as the last of them."""

    def count(
        self,
        words: Sequence[str],
        postings: Sequence[tuple[int, bytes]],
        positions: Sequence[tuple[int, bytes]],
        among: _Among,
        most: int,
    ) -> list[tuple[int, list[tuple[int, int]]]]:
        """Return for each word how many texts have it and, if at most `most`, (file, texts that pass `among`)."""

    def all_blocks(self) -> list[int]:
        """Return the ids of all blocks, in ascending order."""

    def check(self, segment: int, postings: bytes, positions: bytes, most: int) -> int:
        """Read a block; return the number of words in it, including those of replaced texts. Stop above `most`."""

    def occurrences(self, segment: int, postings: bytes, positions: bytes) -> list[tuple[int, str, int, int]]:
        """Return node, term, column and position of all words in a block, without replaced texts."""

class WordMerger:
    """Merges segments, given in ascending order. All methods raise ValueError if the bytes are damaged."""

    def __init__(self, segments: Sequence[_SegmentRow], keeps_gone: bool) -> None:
        """`keeps_gone`: there are older segments, of which these replace texts."""

    def step(self) -> int | None:
        """Merge until a segment's next block is needed; return its place, or None at the end."""

    def feed(self, place: int, block: tuple[bytes, bytes] | None) -> None:
        """Take the next block of a segment, None if it has no more."""

    def take(self) -> list[tuple[bytes, bytes]]:
        """Return the blocks that are complete, once."""

    def end(self) -> tuple[bytes, bytes, bytes]:
        """Complete the last block; return nodes, gone and directory."""

# --- ranking --------------------------------------------------------------------------------------------------------

# Candidates are values of `atlas.code.rank.rank.Candidate`, `query`, `languages` and `evidence` those of
# `parse_question.Query`, `LanguageTerms` and `features.QuestionEvidence`.

def rank_candidates(
    candidates: Sequence[object],
    query: object,
    describes_one: bool,
    languages: object,
    evidence: object | None,
    demote_tests: bool,
    off: frozenset[str],
) -> list[tuple[int, float, list[int], dict[str, float] | None]]:
    """Return (place, score, places of all that were merged, all features if the evidence has channels), best first.

    One per symbol, ties by name. Without evidence, the features are those that the candidates have. `off`: steps and
    features that do not count.
    """

def candidate_features(
    candidates: Sequence[object],
    query: object,
    describes_one: bool,
    languages: object,
    evidence: object,
    off: frozenset[str],
) -> list[dict[str, float]]:
    """Return the features of each candidate, in their order: all if the evidence has channels, else the main ones."""

def collapse_candidates(candidates: Sequence[object], languages: object) -> list[tuple[int, float, list[int]]]:
    """Return (place, score, places of all that were merged) by score, one per symbol."""

def scoring_steps() -> list[tuple[str, str, list[str]]]:
    """Return name, reason and own features of the steps of the score, in their order."""

def is_copy(path: str) -> bool:
    """Whether a folder or file of the path says that its code is legacy, vendored, a benchmark or an example."""

# --- tokens ---------------------------------------------------------------------------------------------------------

def split_words(text: str) -> list[str]:
    """Words for BM25: identifiers lower-cased whole and, if they have parts, their parts after them."""

def stem_words(text: str) -> str:
    """Stems of the words of English prose, each after a `0`, without stop words, separated by spaces."""

def count_tokens(text: str) -> int:
    """Exact number of cl100k_base tokens."""

def truncate_tokens(text: str, limit: int) -> str:
    """Return the longest prefix of at most `limit` cl100k_base tokens that is valid text."""

# --- cypher ---------------------------------------------------------------------------------------------------------

class CypherRegex:
    """A pattern of Cypher's `=~`, in Java's syntax; matching takes linear time. Raises ValueError with the place."""

    def __init__(self, pattern: str) -> None: ...
    @property
    def memory(self) -> int:
        """Bytes, with the states that matching keeps."""
    def fullmatch(self, text: str, check: Callable[[], None]) -> bool:
        """Tell whether the whole text matches. `check` is called every 4 KiB of a long text; what it raises ends it."""
