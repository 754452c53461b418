from .backends import Backend
from .backends import MemoryBackend as DefaultBackend
from .core import Job, JobError, task

__all__ = ["Backend", "DefaultBackend", "Job", "JobError", "task"]
