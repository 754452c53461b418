from __future__ import annotations

import abc
from collections import defaultdict, deque
from contextlib import contextmanager

from .core import Box, Job


class Backend(abc.ABC):
    @abc.abstractmethod
    def push(self, job: Job) -> None: ...

    @abc.abstractmethod
    def pop(self) -> Job | None: ...

    def drain(self) -> int:
        count = 0
        while (job := self.pop()) is not None:
            job.execute()
            count += 1
        return count


class MemoryBackend(Backend):
    def __init__(self) -> None:
        self._queue: deque[Job] = deque()
        self._seen: defaultdict[str, list[Job]] = defaultdict(list)

    def push(self, job: Job) -> None:
        self._queue.append(job)
        self._seen[job.label()].append(job)

    def pop(self) -> Job | None:
        return self._queue.popleft() if self._queue else None

    def oldest(self) -> float:
        return max(job.age for jobs in self._seen.values() for job in jobs)

    def first_label(self) -> str:
        return self._queue[0].label()


class LoggedBackend(MemoryBackend):
    def __init__(self, log=None) -> None:
        super().__init__()
        self.log = log or Log()

    def push(self, job: Job) -> None:
        self.log.write(job.name)
        super().push(job)

    def pop(self) -> Job | None:
        with self.section("pop") as log:
            log.write("popping")
            return super().pop()

    @contextmanager
    def section(self, name: str):
        self.log.write(name)
        yield self.log


class Log:
    def write(self, text: str) -> Log:
        print(text)
        return self

    def flush(self) -> None: ...


def boxed(job: Job) -> Box[Job]:
    return Box(job)


def run_boxed(job: Job) -> None:
    boxed(job).open().execute()
    for inner in boxed(job):
        inner.run()
