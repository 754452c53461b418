"""The entities of all articles, merged by canonical name, and the resolution of names as texts write them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.extract.found import STRATEGIES, FoundEntity
from atlas.packs.documentation.extract.names import code_symbol

LEAST_MENTIONS = 2
"""A name that is only ever mentioned becomes an entity if so many sections mention it."""

_SEPARATOR = lazy_regex(r"\.|::|#")
_RANK = {strategy: rank for rank, strategy in enumerate(STRATEGIES)}


@dataclass(frozen=True, slots=True)
class EntityMention:
    """An entity at a place."""

    article: str
    """Key of the article."""
    found: FoundEntity


@dataclass(slots=True)
class Entity:
    """An entity with all its mentions, the one that defines it first."""

    name: str
    mentions: list[EntityMention] = field(default_factory=list[EntityMention])

    @property
    def owner(self) -> EntityMention:
        """The mention that defines it."""
        return self.mentions[0]

    @property
    def signature(self) -> str:
        """The signature as documented, "" if nowhere; one with arguments rather than a name that autodoc completes."""
        found = [one.found.signature for one in self.mentions if one.found.signature]
        return next((text for text in found if "(" in text), found[0] if found else "")

    @property
    def summary(self) -> str:
        """The first sentence of its description, "" if nowhere."""
        return next((one.found.summary for one in self.mentions if one.found.summary), "")

    @property
    def code(self) -> str:
        """File and line of the package's own code that defines it, "" if unknown."""
        place = next((one for one in self.mentions if one.found.strategy == "docstring"), None)
        return f"{place.article}:{place.found.line}" if place is not None else ""

    @property
    def kind(self) -> str:
        """The most telling kind."""
        return next((one.found.kind for one in self.mentions if one.found.kind != "symbol"), "symbol")


class EntityTable:
    """All entities by name. Made once from what was found in all articles, in the order of the articles."""

    def __init__(self, found: Mapping[str, Sequence[FoundEntity]], subjects: Iterable[str] = ()) -> None:
        """`found`: by key of the article. `subjects`: names of which a fact tells; one mention of them is enough."""
        mentions = [EntityMention(key, entity) for key, entities in found.items() for entity in entities]
        defined = dict.fromkeys(one.found.name for one in mentions if one.found.strategy != "code")
        self._by_last: dict[str, list[tuple[str, ...]]] = {}
        self._names: dict[tuple[str, ...], str] = {}
        self._articles: dict[str, set[str]] = {}
        self._add_names(defined)
        self._merge_suffixes(defined)
        for one in mentions:
            if one.found.strategy != "code":
                self._articles.setdefault(self._names[_parts(one.found.name)], set()).add(one.article)
        self._add_mentioned(mentions, frozenset(subjects))
        self._near: dict[tuple[str, ...], list[str]] = {}
        self.entities = self._grouped(mentions)

    def resolve(self, name: str, article: str = "") -> str:
        """Return the entity of a name in an article, "" for none: the same name, or the only one that ends with it.

        Of several that end with it, the only one that the article defines.
        """
        parts = _parts(name)
        if parts in self._names:
            return self._names[parts]
        near = self._near.get(parts)
        if near is None:
            near = self._near[parts] = self._ending(parts)
        if len(near) > 1 and article:
            near = [one for one in near if article in self._articles.get(one, ())]
        return near[0] if len(near) == 1 else ""

    def _add_names(self, names: Iterable[str]) -> None:
        for name in names:
            parts = _parts(name)
            self._names.setdefault(parts, name)
            known = self._by_last.setdefault(parts[-1], [])
            if parts not in known:
                known.append(parts)

    def _merge_suffixes(self, names: Iterable[str]) -> None:
        """Let a shorter name stand for the only longer one that ends with it; plain words like `form` stay apart."""
        for name in sorted(names, key=lambda one: -len(_parts(one))):
            parts = _parts(name)
            longer = [one for one in self._ending(parts) if one != self._names[parts]]
            if len(longer) == 1 and (len(parts) > 1 or code_symbol(name)):
                self._names[parts] = longer[0]

    def _ending(self, parts: tuple[str, ...]) -> list[str]:
        known = self._by_last.get(parts[-1], ()) if parts else ()
        return list(dict.fromkeys(self._names[one] for one in known if one[-len(parts) :] == parts))

    def _add_mentioned(self, mentions: Sequence[EntityMention], subjects: frozenset[str]) -> None:
        """Add the names that several sections mention, or of which a fact tells, and nothing defines."""
        places: dict[str, set[tuple[str, str]]] = {}
        for one in mentions:
            if one.found.strategy == "code":
                places.setdefault(one.found.name, set()).add((one.article, one.found.section))
        places = {name: where for name, where in places.items() if not self._ending(_parts(name))}
        self._add_names(name for name, where in places.items() if len(where) >= LEAST_MENTIONS or name in subjects)

    def _grouped(self, mentions: Sequence[EntityMention]) -> dict[str, Entity]:
        grouped: dict[str, Entity] = {}
        for one in mentions:
            name = self.resolve(one.found.name, one.article)
            if name:
                grouped.setdefault(name, Entity(name)).mentions.append(one)
        for entity in grouped.values():
            is_described = any(one.found.strategy == "docstring" and one.found.summary for one in entity.mentions)
            entity.mentions.sort(key=lambda one: _rank(one.found, is_described))
        return dict(sorted(grouped.items()))


def _rank(found: FoundEntity, is_described: bool) -> float:
    """Return the place of a mention; where a docstring says what a signature only names, the docstring comes first."""
    if is_described and found.strategy == "signature" and not found.summary:
        return _RANK["docstring"] + 0.5
    return _RANK[found.strategy]


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part for part in _SEPARATOR.split(name) if part) or (name,)
