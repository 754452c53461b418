"""`atlas pack eval`: a pack asked its questions under every profile, with the results in files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.adapters.opening.models import make_language_model, make_reranker
from atlas.core.errors import ConfigError, NotFound, StoreError
from atlas.core.threads import in_thread
from atlas.packs.documentation.pack.folder import write_files
from atlas.packs.documentation.sources.values import CollectProgress
from atlas.packs.opening import OpenPack, open_pack
from atlas.packs.questions.calibration import MAX_ASKED as CALIBRATED
from atlas.packs.questions.calibration import foreign_questions
from atlas.packs.questions.evaluation import Evaluation, evaluate
from atlas.packs.questions.questions import FEW_SHOT, EvalQuestion, read_questions
from atlas.packs.questions.report import svg, table

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings

MAX_QUESTIONS = 32 << 20
FOREIGN, MAX_FOREIGN = "foreign", 30


@dataclass(frozen=True, slots=True)
class WrittenEvaluation:
    """An evaluation with its files."""

    folder: Path
    evaluation: Evaluation
    table: str


async def evaluate_pack(
    folder: Path,
    settings: Settings | None,
    questions: Path | None,
    limit: int,
    target: Path | None,
    report: Callable[[CollectProgress], None],
) -> WrittenEvaluation:
    """Evaluate a pack; the results go to `target`, or to the pack. Settings name the language model that judges.

    Raises NotFound without questions, and StoreError if the results cannot be written.
    """
    place = target or folder / "eval" / "results"
    if target is None and place.parent.is_symlink():
        raise StoreError(f"{place.parent} is a link", "name another folder: --output DIR")
    model = make_language_model(settings) if settings is not None else None
    reranker = make_reranker(settings) if settings is not None else None
    pack = await in_thread(open_pack, folder, model, reranker)
    try:
        text = await in_thread(_read, questions) if questions is not None else pack.reader.examples
        asked = read_questions(text)
        if not asked:
            raise NotFound(f"{questions or folder} has no questions", "name a file: --questions FILE")
        if questions is None:
            # those that a language model is shown as examples would be asked with their own answers
            asked = [one for one in asked if one.split != FEW_SHOT] or asked
            asked += [EvalQuestion(f"foreign-{at}", FOREIGN, text) for at, text in enumerate(_foreign(pack), 1)]
        # spread over the kinds, which follow one another
        asked = asked[:: max(len(asked) // limit, 1)][:limit] if limit else asked
        total = len(asked)

        def step(done: int) -> None:
            report(CollectProgress(pack.manifest.name, "evaluate", done, total))

        found = await evaluate(pack.reader, asked, judge=model, progress=step)
    finally:
        if reranker is not None:
            await reranker.aclose()
        await pack.aclose()
    await in_thread(_write, place, found)
    return WrittenEvaluation(place, found, table(found))


def _foreign(pack: OpenPack) -> list[str]:
    """Return questions about subjects that the pack lacks, those apart that have calibrated the gate."""
    return foreign_questions(pack.reader)[CALIBRATED:][:MAX_FOREIGN]


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_QUESTIONS:
            raise ConfigError(f"{path} is too large")
        return path.read_text(encoding="utf8", errors="replace")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error


def _write(place: Path, found: Evaluation) -> None:
    files = {"results.json": json.dumps(found.to_dict(), ensure_ascii=False, indent=1) + "\n"}
    files |= {"results.md": table(found), "results.svg": svg(found)}
    try:
        write_files(place, files)
    except OSError as error:
        raise StoreError(f"cannot write to {place}: {error.strerror}", "name another folder: --output DIR") from error
