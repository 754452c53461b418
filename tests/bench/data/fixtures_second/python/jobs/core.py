from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from . import clock

T = TypeVar("T")
current: ContextVar[Job | None] = ContextVar("current", default=None)


class JobError(Exception):
    def __init__(self, job: Job, reason: str) -> None:
        super().__init__(reason)
        self.job = job

    def explain(self) -> str:
        return f"{self.job.label()}: {self}"


class Options:
    def __init__(self, meta) -> None:
        self.retries = getattr(meta, "retries", 0)

    def contribute(self, cls, name: str) -> None:
        cls.options = self
        self.check()

    def check(self) -> None:
        if self.retries < 0:
            raise ValueError(self.retries)

    def allows(self, attempt: int) -> bool:
        return attempt <= self.retries


class JobMeta(type):
    registry: ClassVar[dict[str, type[Job]]] = {}

    def __new__(mcs, name, bases, attrs):
        cls = super().__new__(mcs, name, bases, attrs)
        Options(attrs.pop("Meta", None)).contribute(cls, name)
        mcs.register(cls)
        return cls

    @classmethod
    def register(mcs, cls) -> None:
        mcs.registry[cls.__name__] = cls

    def create(cls, *args):
        return cls(*args)


@dataclass
class Job(metaclass=JobMeta):
    name: str
    attempts: int = 0
    started: clock.Moment = field(default_factory=clock.now)

    def run(self) -> None:
        raise NotImplementedError

    def label(self) -> str:
        return self.name.title()

    def execute(self) -> None:
        token = current.set(self)
        try:
            self.run()
        except JobError as error:
            error.explain()
            if not self.options.allows(self.attempts):
                raise
        finally:
            current.reset(token)

    @property
    def age(self) -> float:
        return self.started.until(clock.now())


class FunctionJob(Job):
    def __init__(self, function: Callable[[], None]) -> None:
        super().__init__(function.__name__)
        self.function = function

    def run(self) -> None:
        self.function()


def task(function: Callable[[], None]) -> FunctionJob:
    return functools.wraps(function)(FunctionJob(function))


def active() -> Job | None:
    return current.get()


def describe_active() -> str:
    job = active()
    if job is None:
        return "idle"
    return job.label()


class Box(Generic[T]):
    def __init__(self, item: T) -> None:
        self.item = item

    def open(self) -> T:
        return self.item

    def __iter__(self) -> Iterator[T]:
        yield self.item
