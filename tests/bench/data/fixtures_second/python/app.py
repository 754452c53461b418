import jobs
from jobs import DefaultBackend, Job, task
from jobs import core as engine
from jobs.backends import Log, LoggedBackend


class Clean(Job):
    class Meta:
        retries = 2

    def run(self):
        purge(self.name)


def purge(name):
    Log().write(name).flush()


@task
def nightly():
    purge("nightly")


BACKENDS = {"memory": DefaultBackend, "logged": LoggedBackend}


def backend_for(name):
    return BACKENDS[name]()


def fill(backend: jobs.Backend, *items: Job):
    for item in items:
        backend.push(item)


def main():
    backend = LoggedBackend()
    fill(backend, Clean("clean"), nightly)
    nightly.execute()
    Clean.create("second").execute()
    try:
        backend.drain()
    except jobs.JobError as error:
        print(error.explain())
    handlers = [purge, engine.describe_active]
    for handler in handlers:
        handler()
    backend_for("memory").drain()


if __name__ == "__main__":
    main()
