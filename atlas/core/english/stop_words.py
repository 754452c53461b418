"""Words that carry no meaning of their own: the list that all uses share, and what each use adds."""

from __future__ import annotations

_COMMON = """
a an and any are as at be been but by can could did do does each for from had has how i if in into is it its of on or
our shall should so some such than that the their them then there these they this to was we were what when where which
while who will with would you your
"""
COMMON = frozenset(_COMMON.split())
"""Function words, which no use counts. But for `could`, `shall` and single letters, they are among the stop words of
`stem_words`, which an index of prose is made with: its list stands with the stemmer in Rust."""

STOP_WORDS = COMMON | frozenset(("have", "my", "not", "why"))
"""Dropped from word search if other words remain.

Common words in code (`get`, `class`, `all`, `after`) stay, because names contain them.
"""

_OF_STATEMENTS = """
being am done doing having onto those he she his her may might about between per via whom whose here very much own
both either up out just even still yet quite rather really actually currently usually typically generally instead too
all every several everyone everybody back possible able across always sometimes occasionally
"""
STATEMENT_STOP_WORDS = COMMON | frozenset(_OF_STATEMENTS.split())
"""Do not count where two statements are compared: adverbs and auxiliaries as well.

"not" and "no" stay, because they reverse a statement, and so do "before", "over" and "more", which compare.
"""

CONTRACTED = frozenset(
    "isnt arent wasnt werent doesnt dont didnt cant couldnt wont wouldnt shouldnt hasnt havent hadnt".split()  # noqa: SIM905
)
"""Written without their apostrophes, in questions; an index of code may have them as names."""

ASKING = frozenset(
    (
        *("happen", "happens", "happened", "occur", "occurs", "work", "works", "done", "look", "find"),
        *("kind", "way", "thing", "things", "something"),
    )
)
"""Say how a question is asked; whether an index of code has them means nothing. They are searched all the same."""

FILLERS = (
    "want need please something anything everything someone somebody anyone anybody thing way let give get like would "
    "could should can may"
)
"""Carry a question to documentation in the words of people and say nothing about its subject; `get` and `like` are
words of code, so that they are no stop words there."""
