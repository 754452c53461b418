"""What a question asks for, and what of it the found sections lack: "a conda package", "with a hardware token". Pure.

Whether a pack treats what is asked cannot be told from words alone: who reads an answer is told which of the things
that the question names the quoted sections do not speak of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from atlas.core.english.stop_words import ASKING
from atlas.core.lazy_regex import lazy_regex
from atlas.packs.questions.question import Concept, Question
from atlas.packs.questions.retrieval.vocabulary import MAX_STEMS, Vocabulary
from atlas.parsing import stem_words

MOST_NAMED = 3
NEAR = 0.5
"""Cosine from which another word of the pack stands for one of the question."""
MAIN = 0.2
"""Share of a pack's passages from which a word is of what the pack is about."""
LONGEST = 4
"""Words of a phrase."""
NOT_MENTIONED = "The documentation does not mention {phrases}."
LACKS = "None of the sections found speaks of {phrases}: the documentation may not treat it."
NEAREST = "What follows is the nearest that was found."
_TOKEN = lazy_regex(r"[^\W_][\w.+/()'-]*|[,;:?!]")
_ARTICLES = """
a an the my our your its their his her this that these those each every any some all both another no
"""
_PREPOSITION = """
in on at of by with from to into onto for as over under between through inside within via against about behind like than
across
"""
_CONJUNCTION = """
when where if that who which while because until before after although though whether why unless whenever what how
without besides
"""
_OTHER = """
he she they me us them is are was were be been being am and or but not so there has have had then instead only also too
still yet already again even just very more most less least together itself myself
"""
_UNSPECIFIC = """
own same other others certain whole new old first second last next one two three four five ten several many few
different single given real good bad small big large long short longer longest shortest largest smallest full complete
way ways thing things kind sort number set lot bit part parts times time place case end start something anything
everything nothing such soon everywhere afterwards
"""
_BEFORE = frozenset(_ARTICLES.split())
_PREPOSITIONS = frozenset(_PREPOSITION.split())
_CLAUSES = frozenset(_CONJUNCTION.split())
"""Open a clause of circumstances, which people tell in words of their own."""
_AUXILIARIES = frozenset(("do", "does", "did", "can", "could", "may", "might", "must", "should", "will", "would"))
_SUBJECTS = frozenset(("i", "we", "you", "one", "people", "someone", "somebody", "it"))
_AMOUNTS = frozenset(("much", "many"))
_BE = frozenset(("is", "are", "was", "were"))
_PARTICLES = frozenset(("out", "up", "off", "back", "away", "down"))
_VAGUE = ASKING.union(_UNSPECIFIC.split())
"""Say nothing about what a thing is."""
_ENDS = _BEFORE | _PREPOSITIONS | _CLAUSES | _AUXILIARIES | _SUBJECTS | frozenset(_OTHER.split())


def asked_phrases(text: str) -> list[str]:
    """Return the things that a question is about: its objects and what prepositions lead to, outside of clauses."""
    return [" ".join(words) for words in _phrases([_bare(word) for word in _TOKEN.findall(text)])]


def lacking(question: Question, sections: Sequence[Set[str]], vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the asked phrases that no section speaks of: none has all of their words or words that stand for them.

    `sections`: the stems of each. For a word that the pack nowhere has no other word stands, that would be a guess,
    but for the words of what the pack is about: to documentation that is all about tasks a job is one.
    """
    if not vocabulary.frequencies or not sections:
        return ()
    concepts = {concept.stem: concept for concept in question.concepts}
    found: list[str] = []
    for phrase in asked_phrases(question.text):
        wanted = [concepts[stem] for stem in stem_words(phrase).split() if stem in concepts]
        is_foreign = any(_is_foreign(vocabulary, one) for one in wanted)
        spoken_of = (all(_speaks_of(one, stems) for one in wanted) for stems in sections)
        if wanted and (is_foreign or not any(spoken_of)):
            found.append(phrase)
    return tuple(dict.fromkeys(found))[:MOST_NAMED]


def said_to_lack(question: Question, phrases: Sequence[str], vocabulary: Vocabulary) -> str:
    """Return what an answer says first about the phrases that its sections lack, "" if they lack none."""
    concepts = {concept.stem: concept for concept in question.concepts}
    nowhere = [
        phrase
        for phrase in phrases
        if len(vocabulary.frequencies) < MAX_STEMS
        and any(stem in concepts and stem not in vocabulary.frequencies for stem in stem_words(phrase).split())
    ]
    elsewhere = [phrase for phrase in phrases if phrase not in nowhere]
    said = [
        sentence.format(phrases=" or ".join(f"\u201c{phrase}\u201d" for phrase in some))
        for sentence, some in ((NOT_MENTIONED, nowhere), (LACKS, elsewhere))
        if some
    ]
    return " ".join((*said, NEAREST)) if said else ""


def _is_foreign(vocabulary: Vocabulary, concept: Concept) -> bool:
    """Return whether the pack nowhere has a word, and is not all about a synonym of it."""
    frequencies, least = vocabulary.frequencies, MAIN * vocabulary.passages
    main = any(frequencies.get(stem, 0) >= least for stem, _ in concept.synonyms)
    return concept.stem not in frequencies and not main


def _speaks_of(concept: Concept, stems: Set[str]) -> bool:
    return (
        concept.stem in stems
        or any(stem in stems for stem, _ in concept.synonyms)
        or any(cosine >= NEAR and stem in stems for stem, cosine in concept.others.items())
    )


def _bare(word: str) -> str:
    return word.lower().rstrip(".,'-")


def _phrases(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield the words of each phrase without the vague ones."""
    at, in_clause = 0, False
    while at < len(words):
        word = words[at]
        if not word or not word[0].isalnum():
            at, in_clause = at + 1, False
            continue
        is_amount = word == "how" and at + 1 < len(words) and words[at + 1] in _AMOUNTS
        if word in _CLAUSES and at > 0 and not is_amount:
            at, in_clause = at + 1, True
            continue
        phrase, after = _phrase_at(words, at)
        if not in_clause and (phrase := [each for each in phrase if each not in _VAGUE]):
            yield phrase
        at = after


def _phrase_at(words: Sequence[str], at: int) -> tuple[list[str], int]:
    """Return the phrase that a word leads to, [] if it leads to none, and where to go on."""
    word = words[at]
    following = words[at + 1] if at + 1 < len(words) else ""
    if word in _AUXILIARIES and following in _SUBJECTS:
        return _object(words, at + 2)
    if at == 0 and word not in _ENDS:
        return _object(words, 0)
    if word == "how" and following in _AMOUNTS:
        return _asked_for(words, at + 2)
    if at == 0 and word in ("which", "what"):
        return _asked_for(words, at + 1)
    if word == "to" and following not in _BEFORE:
        # "to VERB OBJECT", or "to NOUN" at the end of a part
        phrase, after = _taken(words, at + 1)
        ends = after >= len(words) or not words[after][:1].isalnum()
        return (phrase if len(phrase) == 1 and ends else phrase[1:]), max(after, at + 1)
    if word in _BEFORE or word in _PREPOSITIONS:
        at += 1
        while at < len(words) and words[at] in _BEFORE:
            at += 1
        phrase, after = _taken(words, at)
        is_gerund = word in _PREPOSITIONS and phrase and phrase[0].endswith("ing") and len(phrase[0]) > 4
        return (phrase[1:] if is_gerund else phrase), max(after, at)
    return [], at + 1


def _asked_for(words: Sequence[str], at: int) -> tuple[list[str], int]:
    """Return what "which" or "how much" asks for; without an auxiliary behind it its last word may be a verb."""
    phrase, after = _taken(words, at)
    has_auxiliary = after < len(words) and words[after] in _AUXILIARIES | _BE
    return (phrase if has_auxiliary or len(phrase) < 2 else phrase[:-1]), max(after, at)


def _object(words: Sequence[str], verb: int) -> tuple[list[str], int]:
    """Return the direct object of a verb, if one follows it at once."""
    if verb >= len(words) or words[verb] in _ENDS:
        return [], verb
    at = verb + 1
    while at < len(words) and words[at] in _PARTICLES:
        at += 1
    phrase, after = _taken(words, at)
    return phrase, max(after, at)


def _taken(words: Sequence[str], at: int) -> tuple[list[str], int]:
    """Return the words up to a function word, an adverb or a mark, and the place behind them."""
    start = at
    while at < len(words) and at - start < LONGEST and words[at][:1].isalnum() and words[at] not in _ENDS:
        if words[at].endswith("ly") and len(words[at]) > 4:
            break
        at += 1
    return list(words[start:at]), at
