"""What is fuzzed: a target has seeds, and a check that an input passes or that raises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"


class Target(ABC):
    """One thing that reads what others wrote. Opened in the process that runs it."""

    name: str
    words: Sequence[bytes] = ()
    """Tokens that the thing knows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def seeds(self) -> Sequence[bytes]:
        """Valid inputs."""

    @abstractmethod
    def check(self, data: bytes) -> str:
        """Try an input and return what became of it in a word. Raises for what must not happen."""

    def close(self) -> None:  # noqa: B027 most have nothing to end
        """End what was started."""

    @classmethod
    def corpus(cls) -> list[Path]:
        """Inputs that are tried on every run."""
        return sorted(path for path in (CORPUS / cls.name).glob("*") if path.is_file())
