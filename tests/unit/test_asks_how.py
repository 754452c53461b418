"""Which questions are asked of the bodies of functions."""

from __future__ import annotations

import pytest

from atlas.code.question.behaviour import asks_how, without_examples, without_scare_quotes
from atlas.code.question.requests.several import read_requests
from atlas.code.question.requests.single import is_of_one_behaviour
from tests.unit.test_route import split_words, taken_apart


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("where is the retry delay computed", True),
        ("What happens when I press Ctrl+C a second time?", True),
        ("When is a connection tested for being alive?", True),
        ("which requests are turned away", True),
        ("where's the bit that unzips the answer", True),
        ("what counts as a yes before something dangerous is run", True),
        ("What is stored when a job fails?", True),
        ("A page redirects to another host. What stops my cookie from being sent there?", True),
        ("headers with an underscore silently disappear, where is that decided?", True),
        ("a value changes in another tab; how does this tab learn about it", True),
        ("Snapshots on disk: what keeps a half-written one from being picked up, and when are old ones deleted?", True),
        ("messages are held back until something serious happens. which place decides to release?", True),
        ("by how much does the file grow when it runs out of room", True),
        ("when is the data of a bucket kept inside of its parent's page", True),
        ("when does the compiled code of a loop leave out the `count` variable", True),
        ("our server ran into its limit of open files. what does pool::serve do when accept fails?", True),
        ("a client uses 1 wrong method on a path that exists, where does the header come from?", True),
        ("A job has more tries than delays. Which delay gets used again?", True),
        ("A job has more tries than delays. How long is the last delay?", True),
        ("For how long may a further fetch wait for its turn before it fails?", True),
        ("Does asking for a maximum row count with a value that isn't a number raise an error?", True),
        ("Why doesn't editing a source file cause a restart from inside one of the workers?", True),
        ("In the log output, what is done to messages that span several lines?", True),
        ("Do blind copy receivers become visible in the final text by default?", True),
        ("Is the pool closed at once, or how do I close it when a task still runs?", False),
        ("Are there property names that are left out if I use them as fixed fields of a derived pool?", True),
        ("Are there keys of the queue that get dropped quietly when a visitor leaves it early?", True),
        ("I saved my config file without a change. Does the watcher of it get started again?", True),
        ("The manual says that a digest is remembered between requests - is it really kept?", True),
        ("According to the docs a stale digest is dropped at once, but who notices that it is?", True),
        ("Why does a missing './x' stop the build while a missing 'pad' is merely a warning?", True),
        ("Which section of the manual says that a digest is remembered between two requests?", False),
        ("In which config file is the watcher of the sources told which folders it must ignore?", False),
        ("which config file holds the linter rules", False),
        ("are there any pools that keep a connection for more than a day?", False),
        ("Why does the workspace force a version of some parser, and which one is it?", False),
        ("Which of our unit tests check that the pool is closed after an error?", False),
        ("in the pool, where connections wait for a task, there is a limit", False),
        ("the header, which is sent first, has no name", False),
        ("the pool is full. how do I close it", False),
        ("what page describes how retries work", False),
        ("where is the manual about pages", False),
        ("a value is marked as private - who takes care that it is not shown in the log?", True),
        ("the server is away and the copy has expired. Is the copy used or do we fail?", True),
        ("many files on a box without processes - does it crash or what happens?", True),
        ("coloured output in a CI job: how is it decided", True),
        ("which steps does our CI job have", False),
        ("who wrote the parser", False),
        ("is there a page about caches or about locks?", False),
        ("how long does it wait before a retry", False),
        ("what is the default timeout of a request", False),
        ("how do I close the pool", False),
        ("Where to go from here", False),
        ("When the pool is full, wait for a connection", False),
        ("how is the pool tested", False),
        ("which page explains how retries work", False),
        ("how does Pool.acquire wait", False),
        ("wait for a free connection", False),
    ],
)
def test_questions_for_behaviour_in_plain_words(question: str, asks: bool) -> None:
    assert asks_how(taken_apart(question)) is asks


def test_names_that_stand_for_anything_are_no_names_of_a_question_for_behaviour() -> None:
    asked = taken_apart("in what order does foo.bar try getBar(), isBar and `Pool`, in foo.js, when it is an object?")
    bare = without_examples(asked, split_words)
    assert bare.names == ("Pool",)
    assert not bare.paths
    assert not {"foo", "bar"} & {*bare.words, *bare.variants}
    assert asks_how(bare)
    assert 0 < bare.focus < asked.focus


@pytest.mark.parametrize(
    ("question", "bare"),
    [
        ("Does the client change the verb when it follows a 'See Other' reply to a request?", "a See Other reply"),
        ('How does the tool work out the "current version" that it gives at the end?', "the current version that"),
        ("Where does the program print 'Host not permitted', and what happens to the request?", "'Host not permitted'"),
        ("Which place decides that `poolSize` or 'pool_size' is the one that is really used?", "'pool_size'"),
        ("who reports 'no route' here?", "'no route'"),
    ],
)
def test_quotes_around_plain_words_of_a_question_for_behaviour_quote_nothing(question: str, bare: str) -> None:
    assert bare in without_scare_quotes(question, taken_apart)


@pytest.mark.parametrize("question", ["who calls getBar", "foo.bar", "how long does getBar wait?", "how is it closed"])
def test_other_questions_keep_such_names(question: str) -> None:
    asked = taken_apart(question)
    assert without_examples(asked, split_words) == asked


@pytest.mark.parametrize(
    ("question", "is_one"),
    [
        ("The number of an order is missing. What is raised, and is the order kept in the warehouse?", True),
        ("A shell is asked for but told to hide. How does it react, and which options are accepted there?", True),
        ("Which key sorts the parameters of a route, what's its default, and where is it switched on?", True),
        ("How are orders sent to the warehouse and what is raised when the order has no number?", False),
        ("An order without a number is fetched. What is raised, and which tests check that it is?", False),
        ("An order without a number is fetched. What is raised, and who calls load_order?", False),
        ("An order without a number is fetched. What is raised, and which commit brought that in?", False),
    ],
)
def test_questions_about_what_a_text_tells_are_one(question: str, is_one: bool) -> None:
    several = read_requests(question)
    assert several is not None
    assert is_of_one_behaviour(question, several, taken_apart) is is_one
