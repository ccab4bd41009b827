"""Finite worlds: a domain, the atoms that are true in it, and the atoms whose truth is unknown.

Every atom that is listed neither as true nor as unknown is false. A *completion* makes each unknown
atom true or false. Problems store worlds in this JSON form:

    {"id": "W0", "domain": ["a0", "a1"], "true": {"P": [["a0"]], "R": [["a0", "a1"]]},
     "unknown": {"R": [["a1", "a1"]]}}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...records import DataError, Json

Tuples = tuple[tuple[int, ...], ...]
MAX_ELEMENTS = 256  # elements of a domain
MAX_POSSIBLE_ATOMS = (
    1 << 20
)  # atoms of a predicate that a world could have; 101 elements with 3 arguments
MAX_UNKNOWN_ATOMS = 4_096  # unknown atoms of a world


@dataclass(frozen=True)
class World:
    """A finite world: its elements, and which atoms are true or unknown. All other atoms are false.

    Attributes:
        id: Name of the world.
        names: Names of the elements, in order.
        true: For each predicate, the arguments of its true atoms, as sorted tuples of indices into
            `names`.
        unknown: For each predicate, the arguments of its unknown atoms in the same form. An atom is
            never both true and unknown.
    """

    id: str
    names: tuple[str, ...]
    true: Mapping[str, Tuples]
    unknown: Mapping[str, Tuples] = field(default_factory=dict)

    @property
    def unknown_atoms(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """All unknown atoms in a fixed order, as pairs of predicate and indices of arguments."""
        return tuple((name, at) for name in sorted(self.unknown) for at in self.unknown[name])

    def as_json(self) -> Json:
        """Return this world as a JSON object, in the form that the module docstring shows."""
        said: dict[str, Json] = {"id": self.id, "domain": list(self.names)}
        for key, some in (("true", self.true), ("unknown", self.unknown)):
            named = {
                name: [[self.names[place] for place in at] for at in some[name]]
                for name in sorted(some)
                if some[name]
            }
            if named or key == "true":
                said[key] = named
        return said


def parse_world(data: Any, signature: Mapping[str, int], where: str) -> World:
    """Return the world that a JSON object describes, after checking it.

    An atom is written as a list of names of elements. An atom with one argument may be written as
    the name alone, and an atom with several arguments as the text "(a0, a1)". The key "false" is
    optional. If it lists atoms of a predicate, it must list every atom of this predicate that is
    neither true nor unknown.

    Args:
        data: The JSON object.
        signature: Number of arguments of each predicate.
        where: Where the data comes from; error messages begin with this text.

    Raises:
        DataError: The data does not describe a valid world.
    """
    if not isinstance(data, dict):
        raise DataError(f"{where}: a world is an object with domain and true, not {_shorten(data)}")
    domain = data.get("domain")
    if not isinstance(domain, list) or not 0 < len(domain) <= MAX_ELEMENTS:
        raise DataError(f"{where}: domain has to list 1 to {MAX_ELEMENTS} names of elements")
    if not all(isinstance(name, str) and name for name in domain) or len(set(domain)) < len(domain):
        raise DataError(f"{where}: the names of the domain have to be different texts")
    for name, count in signature.items():
        if len(domain) ** count > MAX_POSSIBLE_ATOMS:
            raise DataError(
                f"{where}: a domain of {len(domain)} elements is too large for {name}, which has"
                f" {count} arguments: at most {MAX_POSSIBLE_ATOMS:,} atoms are possible"
            )
    places = {name: place for place, name in enumerate(domain)}
    lists: dict[str, dict[str, Tuples]] = {}
    for key in ("true", "unknown", "false"):
        part = data.get(key)
        if part is None:
            part = {}
        if not isinstance(part, dict):
            raise DataError(
                f"{where}: {key} is an object of lists by predicate, not {_shorten(part)}"
            )
        lists[key] = {
            name: _tuples(some, name, signature, places, f"{where}: {key} {name}")
            for name, some in part.items()
        }
    for name in signature:
        _contradictions(name, lists, domain, signature, where)
    unknown = {name: some for name, some in lists["unknown"].items() if some}
    if sum(map(len, unknown.values())) > MAX_UNKNOWN_ATOMS:
        raise DataError(f"{where}: more than {MAX_UNKNOWN_ATOMS} unknown atoms")
    true = {name: lists["true"].get(name, ()) for name in signature}
    return World(str(data.get("id", "")), tuple(domain), true, unknown)


def _tuples(
    some: Any, name: str, signature: Mapping[str, int], places: Mapping[str, int], where: str
) -> Tuples:
    if name not in signature:
        raise DataError(f"{where}: the theory has no predicate {name!r}: {', '.join(signature)}")
    if not isinstance(some, list):
        raise DataError(f"{where}: a list of atoms is due, not {_shorten(some)}")
    found = []
    for atom in some:
        terms = _terms(atom, signature[name])
        if terms is None:
            raise DataError(
                f"{where}: {_shorten(atom)} are not {signature[name]} names of elements"
            )
        missing = [term for term in terms if term not in places]
        if missing:
            raise DataError(f"{where}: {missing[0]!r} is not in the domain")
        found.append(tuple(places[term] for term in terms))
    if len(set(found)) < len(found):
        raise DataError(f"{where}: an atom occurs twice")
    return tuple(sorted(found))


def _terms(atom: Any, count: int) -> list[str] | None:
    if isinstance(atom, str):
        written = atom.startswith("(") and atom.endswith(")") and count != 1
        atom = [part.strip() for part in atom[1:-1].split(",")] if written else [atom]
    fits = isinstance(atom, list) and len(atom) == count
    return atom if fits and all(isinstance(term, str) for term in atom) else None


def _contradictions(
    name: str,
    lists: Mapping[str, Mapping[str, Tuples]],
    domain: list[str],
    signature: Mapping[str, int],
    where: str,
) -> None:
    sets = {key: set(of.get(name, ())) for key, of in lists.items()}
    for one, other in (("true", "unknown"), ("true", "false"), ("unknown", "false")):
        both = sorted(sets[one] & sets[other])
        if both:
            atom = f"{name}({', '.join(domain[place] for place in both[0])})"
            raise DataError(f"{where}: {atom} is both {one} and {other}")
    if name in lists["false"]:
        missing = len(domain) ** signature[name] - sum(len(some) for some in sets.values())
        if missing:
            raise DataError(
                f"{where}: {missing} atoms of {name} are neither true nor false nor unknown"
            )


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
