"""A language model over the sections of a pack that is built: asked only on request, within a limit, answers kept.

Answers are kept by model and content, so that a build which stopped, or an update, asks for nothing twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from atlas.core.contracts import TokenCounter
from atlas.core.errors import ConfigError, Unavailable
from atlas.core.language_model import LanguageModel
from atlas.core.wording import counted
from atlas.packs.documentation.article import DOCSTRING, Article
from atlas.packs.documentation.extract.found import Extract
from atlas.packs.documentation.extract.model import FORMAT, INSTRUCTION, is_answer, merged, read_findings, section_text
from atlas.packs.documentation.rendering import RenderedArticle, RenderedSection, render
from atlas.runtime.config.settings import Settings
from atlas.runtime.process.data_folder import cache_root

ANSWER_TOKENS = 900
FRAME_TOKENS = 20
"""Tokens of a request besides its texts, as a provider counts them."""
PARALLEL = 4
TRIES = 3
MAX_FAILURES = 3
"""Sections in a row without an answer, after which the model is taken to be away."""
MAX_ANSWER_BYTES = 100_000


def model_pass(settings: Settings, tokens: int) -> ModelPass:
    """Return a pass of the configured language model. Raises ConfigError if none is configured."""
    from atlas.adapters.opening.models import make_language_model
    from atlas.parsing import Cl100kCounter

    model = make_language_model(settings)
    if model is None:
        raise ConfigError("no language model is configured", "Set language_model.model in your own atlas.toml.")
    return ModelPass(model, cache_root() / "pack-statements", Cl100kCounter(), tokens)


@dataclass(slots=True)
class ModelPass:
    """One pass of a language model over a pack. `limit` counts tokens of requests and answers, not of kept answers."""

    model: LanguageModel
    folder: Path
    counter: TokenCounter
    limit: int
    pause: float = 1.0
    """Seconds before the first repetition, doubled for each further one."""
    spent: int = 0
    asked: int = 0
    kept: int = 0
    """Sections whose answer was kept from before."""
    dropped: int = 0
    """Statements without evidence in the text."""
    unanswered: int = 0
    """Sections for which it failed."""
    notes: list[str] = field(default_factory=list[str])
    _failures: int = 0

    async def extend(
        self, articles: Sequence[Article], step: Callable[[int, int], None]
    ) -> Callable[[RenderedArticle, Extract], Extract]:
        """Ask about every section and return what adds the findings. Raises ConfigError, such as for a wrong key."""
        sections = list(_sections(articles))
        found: dict[str, list[Extract]] = {}
        for start in range(0, len(sections), PARALLEL):
            batch = sections[start : start + PARALLEL]
            answers = await self._answers([text for _, _, text in batch])
            for (one, section, _), answer in zip(batch, answers, strict=True):
                if answer:
                    findings = read_findings(answer, one, section)
                    self.dropped += findings.dropped
                    found.setdefault(one.article.key, []).append(findings.extract)
            step(start + len(batch), len(sections))
        if self.unanswered:
            missing = counted(self.unanswered, "section")
            self.notes.append(f"the language model did not answer for {missing}: left as rules have it")
        if self.dropped:
            self.notes.append(f"{counted(self.dropped, 'statement')} of the language model had no evidence: left out")
        return _adding(found)

    async def _answers(self, texts: Sequence[str]) -> list[str]:
        """Return the answer to each text, "" for one that is not asked or not answered."""
        answers = [await asyncio.to_thread(self._read, text) for text in texts]
        self.kept += sum(map(bool, answers))
        asked: list[int] = []
        for place, text in enumerate(texts):
            if not answers[place] and self._may_ask(text):
                asked.append(place)
        for place, answer in zip(
            asked, await asyncio.gather(*(self._ask(texts[place]) for place in asked)), strict=True
        ):
            answers[place] = answer
        return answers

    def _may_ask(self, text: str) -> bool:
        """Reserve the tokens of a request; False once they are used up or the model is away."""
        if self._failures >= MAX_FAILURES:
            return False
        wanted = self.counter.count(text) + self.counter.count(INSTRUCTION) + FRAME_TOKENS + ANSWER_TOKENS
        if self.spent + wanted > self.limit:
            note = f"the language model stopped at the limit of {self.limit:,} tokens; --model-tokens raises it"
            if note not in self.notes:
                self.notes.append(note)
            return False
        self.spent += wanted
        return True

    async def _ask(self, text: str) -> str:
        for attempt in range(TRIES):
            try:
                answer = await self.model.complete(INSTRUCTION, text, ANSWER_TOKENS)
            except Unavailable as error:
                if attempt + 1 < TRIES:
                    await asyncio.sleep(self.pause * 2**attempt)
                    continue
                self._failures += 1
                self.unanswered += 1
                if self._failures == MAX_FAILURES:
                    self.notes.append(f"the language model does not answer, further sections are not asked: {error}")
                return ""
            self._failures = 0
            self.asked += 1
            self.spent -= max(ANSWER_TOKENS - self.counter.count(answer), 0)
            if not is_answer(answer):
                self.notes.append("an answer of the language model was no JSON object: left out")
                return ""
            await asyncio.to_thread(self._write, text, answer)
            return answer
        return ""

    def _place(self, text: str) -> Path:
        key = hashlib.blake2b("\0".join((FORMAT, self.model.name, INSTRUCTION, text)).encode(), digest_size=16)
        return self.folder / key.hexdigest()

    def _read(self, text: str) -> str:
        try:
            with self._place(text).open("rb") as file:
                return file.read(MAX_ANSWER_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""

    def _write(self, text: str, answer: str) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = self._place(text)
        draft = place.with_name(f"{place.name}.{os.getpid()}")
        draft.write_text(answer, encoding="utf-8", errors="replace")
        draft.replace(place)


def _sections(articles: Sequence[Article]) -> Iterator[tuple[RenderedArticle, RenderedSection, str]]:
    """Yield the sections of documents that say something, by key; the code of a package says what it is itself."""
    for article in sorted(articles, key=lambda one: one.key):
        if article.format == DOCSTRING:
            continue
        one = render(article)
        for section in one.sections:
            text = section_text(one, section)
            if text:
                yield one, section, text


def _adding(found: Mapping[str, Sequence[Extract]]) -> Callable[[RenderedArticle, Extract], Extract]:
    def extend(one: RenderedArticle, own: Extract) -> Extract:
        return merged(own, found.get(one.article.key, ()))

    return extend
