"""Lines of code that the words of a question tell: one of a symbol, or what commits wrote in files that it describes.

When a behaviour came in says the commit of its line, not that of the symbol around it: `why does X check whether a time
exists`. Messages leave out what lines say: `a month stops being counted as 30 days`. For that, the last commits of the
files that fit the question best are compared run by run: its rare words in the lines that came, or in those that went
where something ended. Reads the index and the version history.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log, log2

from atlas.code.changes.commit_rows import commit_row
from atlas.code.changes.commit_topics import is_ended
from atlas.code.graph.declarations import read_declarations
from atlas.code.lines.line_report import TextLine, shown
from atlas.code.lines.packages.target_products import target_manifests
from atlas.code.lines.scan_texts import is_aside, is_document
from atlas.code.question.parse_question import route
from atlas.code.rank.bodies import words_of
from atlas.code.reader import Reader
from atlas.core.english.stems import root_of
from atlas.core.errors import AtlasError
from atlas.core.history import Commit, History, Rewritten
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, NodeRow

_IDENTIFIER = lazy_regex(r"[A-Za-z_]\w{2,80}")
LEAST_WORDS = 2
"""Words of the question that an identifier, or a line, has: one is chance."""
MOST_EQUAL = 3
"""Lines that are told equally well; where more are, the words tell none of them."""
MOST_SYMBOLS, MOST_FILES = 150, 3
"""Symbols that have words of the question, and files of theirs whose commits are compared."""
MOST_COMMITS = 80
"""Of one file."""
MOST_LETTERS = 3_000
"""Of a run of lines."""
OTHER_WEIGHT = 0.6
"""Of a word that both sides of a run, the path or the first line of the message have."""
FURTHER = 0.2
"""Of the second to fourth symbol of a file that fits the question."""
PER_DOUBLING = 0.1
"""How much less a run of twice the lines tells."""
MIN_LINE = 5
"""Letters of a line by which a later commit is known to have changed it."""
MOST_SHOWN, MOST_LATER = 2, 4
"""Lines of each side of a run, and commits behind one, that are shown."""
MOST_PLACES, MOST_TODAY = 4, 4
"""Places of which today's code is shown where git cannot be read, and lines of each."""
_DECORATES = ("@", "#[", "[")
"""Begins a line that says something about the definition below it."""


@dataclass(frozen=True, slots=True)
class FollowedLines:
    """The commits of the files that a question describes."""

    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    """How much the best run of each commit, by id, tells of the question: the best one has 1."""
    shares: Mapping[str, float] = field(default_factory=dict[str, float])
    """Of the words of the question that any run has, by their rarity, those of the best run: 0..1."""
    best: Mapping[str, Rewritten] = field(default_factory=dict[str, Rewritten])
    """The best run of each commit."""
    words: Mapping[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])
    """The numbers of the words that the lines of this run have."""
    runs: tuple[Rewritten, ...] = ()

    def later(self, commit: Commit) -> list[Commit]:
        """Return the commits that changed lines which the best run of a commit wrote, oldest first."""
        if (run := self.best.get(commit.id)) is None:
            return []
        lines = {line for line in run.new if len(line) >= MIN_LINE}
        changed = {
            each.commit.id: each.commit
            for each in self.runs
            if each.path == run.path and each.commit.time > commit.time and not lines.isdisjoint(each.old)
        }
        return sorted(changed.values(), key=lambda each: each.time)


async def find_told_line(reader: Reader, row: NodeRow, words: tuple[str, ...], where: Filter) -> tuple[str, int] | None:
    """Return the identifier and the line (1-based) that most of the words of a question tell; None for none.

    `words` are those of the question; what the symbol's own name has is not counted. Raises store errors.
    """
    own = {root_of(part) for part in reader.split_words(row.qualified_name)}
    wanted = {root_of(part) for word in words for part in reader.split_words(word)} - own
    if len(wanted) < LEAST_WORDS:
        return None
    held = (await reader.store.content(where.project or reader.project, [row.path])).get(row.path, b"")
    lines = held.decode("utf-8", "replace").splitlines()[row.start_line - 1 : row.end_line]
    told = [*_told(reader, lines, row.start_line, wanted)]
    most = max((score for score, _, _ in told), default=(0, 0))
    best = [(name, line) for score, name, line in told if score == most]
    names = {name for name, _ in best}
    return best[0] if most[0] >= LEAST_WORDS and (len(names) == 1 or len(best) <= MOST_EQUAL) else None


def _told(reader: Reader, lines: list[str], first: int, wanted: set[str]) -> Iterator[tuple[tuple[int, int], str, int]]:
    """Yield for each identifier how many words it has, and its line; more count than those of the line."""
    for number, line in enumerate(lines, first):
        if number == first:
            continue  # the definition itself
        parts = {
            name: wanted & {root_of(part) for part in reader.split_words(name)} for name in _IDENTIFIER.findall(line)
        }
        every = set[str]().union(*parts.values())
        for name, found in parts.items():
            if found:
                yield (len(found), len(every)), name, number


async def follow_lines(reader: Reader, history: History, text: str, forms: Mapping[str, int]) -> FollowedLines:
    """Return what the last commits of the files that a text describes wrote there; nothing where git cannot say it.

    `forms`: the roots of the words of the text, with the number of each.
    """
    try:
        runs = await history.rewritten(await _described_files(reader, text), MOST_COMMITS)
    except AtlasError:
        return FollowedLines()
    read = [_words(reader, each, forms) for each in runs]
    having = [0] * (max(forms.values(), default=-1) + 1)
    for gone, came, _ in read:
        for word in gone | came:
            having[word] += 1
    weights = [log((len(read) + 1) / (each + 0.5)) if each else 0.0 for each in having]
    ends = is_ended(text)
    scores: dict[str, float] = {}
    shares: dict[str, float] = {}
    best: dict[str, Rewritten] = {}
    words: dict[str, frozenset[int]] = {}
    for run, (gone, came, around) in zip(runs, read, strict=True):
        told = gone - came if ends else came - gone
        other = (gone | came | around) - told
        if not told:
            continue
        size = 1 + PER_DOUBLING * log2(1 + len(run.old) + len(run.new))
        score = (_sum(weights, told) + OTHER_WEIGHT * _sum(weights, other)) / size
        if score > scores.get(run.commit.id, 0.0):
            scores[run.commit.id], best[run.commit.id] = score, run
            words[run.commit.id] = frozenset(gone | came)
            shares[run.commit.id] = _sum(weights, told | other) / max(sum(weights), 1e-9)
    most = max(scores.values(), default=1.0)
    return FollowedLines({key: each / most for key, each in scores.items()}, shares, best, words, runs)


async def followed_rows(
    reader: Reader, followed: FollowedLines, commit: Commit, forms: Mapping[str, int]
) -> list[TextLine]:
    """Return the lines by which a commit was found, secrets masked: those with most words of each side."""
    best = followed.best.get(commit.id)
    if best is None or reader.history is None:
        return []
    path = best.commit.paths[0] if best.commit.paths else best.path
    runs = [each for each in followed.runs if each.commit.id == commit.id and each.path == best.path]
    rows: list[TextLine] = []
    for sign, revision in (("-", f"{commit.id}^"), ("+", commit.id)):
        lines = [line for run in runs for line in (run.old if sign == "-" else run.new) if line]
        own = best.old if sign == "-" else best.new
        if not lines:
            continue
        try:
            text = (await reader.history.content(revision, [path])).get(path, b"")
        except AtlasError:
            continue
        masked = {line.strip() for line in text.decode("utf-8", "replace").splitlines()}
        told = {
            line: len({*words_of(line[:MOST_LETTERS], forms, reader.split_words)}) for line in lines if line in masked
        }
        kept = sorted(
            (line for line in told if told[line] or line in own), key=lambda line: (-told[line], line not in own)
        )
        rows += [TextLine("lines", path, f"{sign} {shown(line)}") for line in kept[:MOST_SHOWN]]
    return rows


def later_rows(followed: FollowedLines, commit: Commit) -> list[TextLine]:
    """Return the commits that changed again what a commit wrote; one line that says so where none is known."""
    if commit.id not in followed.best:
        return []
    later = followed.later(commit)
    rows = [replace(commit_row(replace(each, paths=())), group="changed_later") for each in later[:MOST_LATER]]
    none = TextLine("changed_later", followed.best[commit.id].path, "no later commit changed these lines")
    return rows or [none]


async def lines_of_today(reader: Reader, text: str, places: Sequence[tuple[str, int, int]]) -> list[TextLine]:
    """Return the first lines of places (path, first and last line) and of packages that a text names, as they are now.

    What git cannot say is not known, but the code that a question is about is. Raises store errors.
    """
    words = {word.strip("`'\".,?!:;()").lower() for word in text.split()}
    declared = await read_declarations(reader, reader.project)
    named = [(each.path, each.line, each.line) for each in declared if each.name.lower() in words and each.line]
    for own in await target_manifests(reader, Filter(project=reader.project)):
        named += [(own.path, each.line, each.line) for each in own.packages if each.name.lower() in words]
    asked = list(dict.fromkeys([*(each for each in places if each[1]), *named]))[:MOST_PLACES]
    texts = await reader.store.content(reader.project, sorted({path for path, _, _ in asked}))
    rows: list[TextLine] = []
    for path, first, last in asked:
        lines = texts.get(path, b"").decode("utf-8", "replace").split("\n")[first - 1 : last]
        said = " ".join(shown(line) for line in lines[:MOST_TODAY] if line.strip())
        rows.append(TextLine("code_today", f"{path}:{first}", shown(said)))
    return rows


async def _described_files(reader: Reader, text: str) -> list[str]:
    """Return the files of code whose symbols fit a text best."""
    query = route(text, reader.split_words, reader.languages)
    hits = await reader.store.search_text((*query.words, *query.variants), Filter(project=reader.project), MOST_SYMBOLS)
    fits = {each.uid: each.score for each in hits}
    by_path: dict[str, list[float]] = {}
    for node in await reader.store.symbols(list(fits)):
        row = node.row
        if row.path and not row.is_test and not is_document(row.path) and not is_aside(row.path):
            by_path.setdefault(row.path, []).append(fits[row.uid])
    for own in by_path.values():
        own.sort(reverse=True)
    score = {path: own[0] + FURTHER * sum(own[1:4]) for path, own in by_path.items()}
    return sorted(score, key=lambda path: (-score[path], path))[:MOST_FILES]


def _words(reader: Reader, run: Rewritten, forms: Mapping[str, int]) -> tuple[set[int], set[int], set[int]]:
    """Return the numbers of the words in the lines that went, in those that came, and in path and message."""
    below = (run.below,) if run.new and run.new[-1].startswith(_DECORATES) else ()
    old, new = " ".join(run.old)[:MOST_LETTERS], " ".join((*run.new, *below))[:MOST_LETTERS]
    around = f"{run.path} {run.commit.subject}"
    gone, came, beside = (set(words_of(each, forms, reader.split_words)) for each in (old, new, around))
    return gone, came, beside


def _sum(weights: Sequence[float], words: set[int]) -> float:
    return sum(weights[word] for word in sorted(words))
