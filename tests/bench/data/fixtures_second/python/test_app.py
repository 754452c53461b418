import pytest
from app import Clean
from jobs.backends import MemoryBackend


@pytest.fixture
def backend():
    return MemoryBackend()


@pytest.fixture
def loaded(backend):
    backend.push(Clean("one"))
    return backend


def test_drain(loaded):
    assert loaded.drain() == 1


class TestPop:
    @pytest.fixture
    def job(self):
        return Clean("two")

    def test_pop(self, backend, job):
        job.label()
        assert backend.pop() is None
