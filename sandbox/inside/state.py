"""Analysis of which state a hypothesis could keep between two calls, before it runs.

A prediction must depend only on the code and the input. A source that can keep no state runs on all
inputs in one namespace. A source that can keep state in its own objects gets a fresh namespace for
each input. A source that could change anything else runs twice, in two orders. If the analysis
overestimates the reach of a source, this costs time; if it underestimates the reach, results may be
wrong. Therefore everything that the analysis does not understand is `BEYOND`.

Why the analysis is correct: three kinds of objects persist between calls, namely objects in the
module's namespace, objects of imported modules, and objects of the interpreter. Modules never
become values, only the names in allowlist.py are read from modules, and no name or attribute is
allowed that leads to frames, globals, classes or dictionaries. Therefore objects of the second and
third kind can only change if the source stores an attribute of a foreign function or class. If a
source stores attributes at all, no foreign function or class may be a value. If the module's
namespace holds only functions, constants and tables of constants, and no use of a table can change
it or pass it on, the source is `STATELESS`. Caches count as state although they seem harmless: 1,
1.0 and True are the same key, and a filled cache needs less recursion. Therefore the caches of the
library (patterns, abstract classes, codecs) matter to a source that calls itself, or that defines
how its objects are written as text.

The analysis assumes that `__name__` is not "__main__", and that for `OWN`, `random` is seeded again
before the module is executed. It does not cover differences that come from addresses and limits
instead of state: the order of sets by hashes of NaN, of functions and of classes, texts with an
address that are written indirectly (`str(f)` is detected, `str(g(f))` is not), the amount of free
memory, and the local time zone.

This file uses only the standard library, because the harness loads it inside the sandbox.
"""

from __future__ import annotations

import ast
import builtins
import graphlib
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__:
    from .allowlist import (
        ALLOWED_MODULES,
        BUILTINS,
        CONSTANTS,
        PERMITTED,
        PRELOADED,
        SUBMODULES,
        split_names,
    )
    from .bindings import BeyondReach
    from .top_level import LAMBDA, MODULE, Binds, Place, Scope
    from .walk import Walk
else:
    from allowlist import (
        ALLOWED_MODULES,
        BUILTINS,
        CONSTANTS,
        PERMITTED,
        PRELOADED,
        SUBMODULES,
        split_names,
    )
    from bindings import BeyondReach
    from top_level import LAMBDA, MODULE, Binds, Place, Scope
    from walk import Walk

__all__ = ["ALLOWED_MODULES", "PRELOADED", "Reach", "analyse_reach"]


class Reach(IntEnum):
    """How far the effects of a call of a hypothesis can reach."""

    STATELESS = 0  # No later call can observe an earlier one.
    OWN = 1  # Objects of the module's own namespace, which executing it again resets.
    BEYOND = 2  # Possibly further.


def analyse_reach(tree: ast.Module, entry: str) -> Reach:
    """Return how far effects of calling the top-level function `entry` of a module can reach.

    The module is not run, and `tree` is not changed. Deep trees are processed without recursion.
    """
    try:
        walk = Walk()
        walk.walk_module(tree)
        return Reach.OWN if _Judge(walk).keeps(entry) else Reach.STATELESS
    except (BeyondReach, RecursionError, MemoryError):
        return Reach.BEYOND


_DENIED = frozenset(dir(builtins)) | split_names("copyright credits exit help license quit")
_DENIED -= BUILTINS | split_names("True False None type __name__")
_DECORATORS = split_names("""abc.abstractmethod dataclasses.dataclass enum.unique functools.cached_property
    functools.total_ordering functools.wraps""")
_BASES = split_names("""abc.ABC enum.Enum enum.Flag enum.IntEnum enum.IntFlag enum.StrEnum typing.Generic
    typing.NamedTuple typing.Protocol""")
# Modules without a cache that could keep an object with its own equality.
_WITHOUT_CACHES = split_names("""__future__ abc bisect cmath collections copy dataclasses enum functools heapq
    itertools math operator random string""")
# Modules and classes that fill a cache of the interpreter when they are used.
_FILLS_NO_CACHE = (_WITHOUT_CACHES | split_names("types typing")) - split_names("random")
_FILLS_CACHES = split_names("""collections.ChainMap collections.Counter collections.UserDict
    collections.UserList""")
# Keys of such caches; a class of the source that inherits from them has an equality of its own.
_KEYS = split_names("bool bytes complex float frozenset int str tuple")
_KEYS |= split_names("enum.IntEnum enum.IntFlag enum.StrEnum")

# They create objects whose attributes, and hence methods, come from the source.
_RECORDS = split_names("collections.namedtuple types.SimpleNamespace typing.NamedTuple")


# Classes with methods that set attributes of any object passed as `self`.
_SETTERS = split_names("""collections.ChainMap collections.UserDict collections.UserList contextlib.closing
    contextlib.nullcontext contextlib.suppress difflib.SequenceMatcher enum.auto json.JSONDecodeError
    re.error""")
# Attributes that may be read from a foreign class: none of them takes any object as `self`.
_OF_CLASSES = split_names("""combine fromisoformat fromkeys fromordinal from_decimal from_float from_iterable
    max min strptime utc""")


class _Judge:
    """Judges the facts of a walk, each name in its scope."""

    def __init__(self, walk: Walk) -> None:
        self.walk, self.top = walk, walk.top_level

    def judge(self) -> None:
        """Check every name. Raises BeyondReach."""
        self.judge_scopes()
        foreign = {name for scope in self.walk.scopes for name in scope.foreign}
        for name, scope, node in self.walk.loads:
            place = self.walk.place.get(id(node), 0)
            if name in foreign:
                self.judge_foreign(name, scope, node)
            if name == "type":
                self.judge_type(node, scope)
            elif name in _DENIED and not self.is_local(name, scope):
                raise BeyondReach
            if name[:2] == "__" and name.strip("_") and name != "__name__":
                raise BeyondReach
            if name in self.top.aliases and not place & Place.TYPE:
                raise BeyondReach
            if place & (Place.INHERITED | Place.FOREIGN):
                self.judge_base(name, scope, place)
        for name, scope in self.walk.shown:
            where = self.resolve(name, scope)[-1:]
            if where and where[0].bound[name] in (Binds.FUNCTION, Binds.ADDRESS):
                raise BeyondReach
        for name, scope in self.walk.private:
            if not any(where.self_name == name for where in self.resolve(name, scope)):
                raise BeyondReach
            self.walk.stores = True
        if self.walk.stores and self.walk.foreign_values:
            raise BeyondReach
        if self.walk.compares and (
            self.walk.classes_seen or not self.walk.imports <= _WITHOUT_CACHES
        ):
            raise BeyondReach  # Its methods receive a class, or an object of an earlier namespace.
        fills_caches = self.walk.fills_caches or not self.walk.imports <= _FILLS_NO_CACHE
        if fills_caches and self.recurses():
            raise BeyondReach
        if any(self.walk.times.get(name) for name in self.walk.trusted):
            raise BeyondReach

    def recurses(self) -> bool:
        """Return whether a function may call itself, directly or through others; in doubt it may.

        A function calls all that it names. One without a name calls all that are used as values.
        """
        walk = self.walk
        if any(scope.kind == "class" for scope in walk.scopes):
            return True
        calls: dict[str, set[str]] = {name: set() for name in {MODULE, *walk.functions}}
        # Only objects with attributes of the source's own have its functions as methods.
        for scope in walk.unnamed + (walk.methods if walk.stores or walk.records else []):
            calls[scope.function].add(LAMBDA)
        for name, scope, node in walk.loads:
            called = walk.place.get(id(node), 0) & Place.CALLED
            if name in calls:
                calls[scope.function].add(name)
                if not called:
                    calls[LAMBDA].add(name)
            elif called and any(
                at.bound[name] & ~Binds.FOREIGN for at in self.resolve(name, scope)
            ):
                calls[scope.function].add(LAMBDA)
        try:
            graphlib.TopologicalSorter(calls).prepare()
        except graphlib.CycleError:
            return True
        return False

    def judge_scopes(self) -> None:
        for scope in self.walk.scopes:
            if scope.yields and scope.guarded:
                raise BeyondReach  # Its clean-up code runs whenever garbage is collected.
            for name in scope.outer:
                if name in scope.foreign:
                    raise BeyondReach
                scope.bound.pop(name, None)
                if scope.outer[name]:
                    self.walk.module.bound.setdefault(name, Binds.OTHER)

    def resolve(self, name: str, scope: Scope) -> list[Scope]:
        """Return the scopes that may give the name its value; for a class there may be two."""
        # Scopes of functions around a class do not count.
        if scope.kind == "class" and name in scope.bound:
            return [scope, *([self.walk.module] if name in self.walk.module.bound else [])]
        at: Scope | None = scope
        while at is not None:
            if at.outer.get(name) and (at.kind != "class" or at is scope):
                return [self.walk.module]
            if at.kind != "class" and name in at.bound:
                return [at]
            at = at.parent
        return []

    def is_local(self, name: str, scope: Scope) -> bool:
        """Return whether a name is certainly not the builtin: a function around it binds it."""
        where = self.resolve(name, scope)
        return bool(where) and where[-1].kind in ("function", "comprehension")

    def judge_type(self, node: ast.Name, scope: Scope) -> None:
        """Check a use of the builtin `type`, which makes classes: it must not become a value."""
        if self.is_local("type", scope):
            return
        place = self.walk.place.get(id(node), 0)
        if place & Place.CALLED:
            if not self.with_one_argument(node):
                raise BeyondReach
            place = self.walk.place.get(id(self.walk.call_of[id(node)]), 0)
        if not place & (Place.COMPARED | Place.TYPE | Place.NAMED):
            raise BeyondReach
        self.walk.classes_seen |= not place & Place.NAMED

    def with_one_argument(self, node: ast.expr) -> bool:
        call = self.walk.call_of.get(id(node))
        return (
            call is not None
            and len(call.args) == 1
            and not call.keywords
            and not isinstance(call.args[0], ast.Starred)
        )

    def judge_base(self, name: str, scope: Scope, place: int) -> None:
        """Check a base of a class: it must be a class of the source, a builtin or a foreign one."""
        where = self.resolve(name, scope)
        if place & Place.INHERITED and not where and name in BUILTINS and name != "type":
            self.walk.compares |= name in _KEYS
            return
        kinds = (Binds.FOREIGN,) if place & Place.FOREIGN else (Binds.FOREIGN, Binds.CLASS)
        if not where or any(one.bound[name] not in kinds for one in where):
            raise BeyondReach

    def judge_foreign(self, name: str, scope: Scope, node: ast.Name) -> None:
        for where in self.resolve(name, scope):
            for module, what in where.foreign.get(name, ()):
                at: ast.expr = node
                while what is None:
                    outer = self.walk.base_of.get(id(at))
                    if outer is None or type(outer.ctx) is not ast.Load:
                        raise BeyondReach
                    at = outer
                    if (module, outer.attr) in SUBMODULES:
                        module = SUBMODULES[module, outer.attr]
                    else:
                        what = outer.attr
                if what not in PERMITTED[module]:
                    raise BeyondReach
                self.judge_use(module, f"{module}.{what}", at, scope)

    def judge_use(self, module: str, name: str, node: ast.expr, scope: Scope) -> None:
        place = self.walk.place.get(id(node), 0)
        inner = self.walk.base_of.get(id(node))
        if inner is not None and type(inner.ctx) is not ast.Load:
            raise BeyondReach
        if name in CONSTANTS:
            return
        if inner is not None and inner.attr not in _OF_CLASSES:
            raise BeyondReach
        self.walk.records |= name in _RECORDS
        self.walk.fills_caches |= name in _FILLS_CACHES
        self.walk.compares |= bool(place & Place.INHERITED) and name in _KEYS
        if name in ("random.Random", "random.seed") and not self.walk.is_seeded(node):
            raise BeyondReach
        if name in _DECORATORS:
            if not place & Place.DECORATES or (
                name == "functools.wraps" and not self.with_one_argument(node)
            ):
                raise BeyondReach
            self.walk.stores = True
            self.walk.record_state()
        if name == "copy.deepcopy" and not self.with_one_argument(node):
            raise BeyondReach  # Its memo receives a list that all calls share.
        if name in _SETTERS:
            if not place & (Place.CALLED | Place.TYPE | Place.INHERITED):
                raise BeyondReach
            self.walk.stores |= bool(place & Place.INHERITED)
        if module == "enum" and place & Place.CALLED and name != "enum.auto":
            raise BeyondReach  # A class whose special methods are given as texts.
        if place & Place.INHERITED:
            self.walk.foreign_values |= name not in _BASES
        elif module == "typing" and not place & Place.TYPE:
            if not place & Place.CALLED or (
                scope.kind not in ("module", "class") and name != "typing.cast"
            ):
                raise BeyondReach  # Its caches treat 0.0 and -0.0 as equal.
        elif not place & (Place.CALLED | Place.TYPE | Place.DECORATES):
            called = inner is not None and self.walk.place.get(id(inner), 0) & Place.CALLED
            self.walk.foreign_values |= not called

    def keeps(self, entry: str) -> bool:
        """Return whether any state can be kept. Raises BeyondReach.

        State can be kept by a statement that the walk met, or by a top-level name that functions
        read.
        """
        self.judge()
        if self.walk.keeps_state:
            return True
        if entry not in self.top.functions or entry in self.top.opaque or entry in self.top.tables:
            return True
        if any(self.walk.times.get(name) for name in self.top.relied & BUILTINS):
            return True
        for name, scope, node in self.walk.loads:
            if name in self.top.tables:
                reader = self.walk.reads.get(id(node))
                if reader is None or self.walk.times[name] > 1 or self.walk.times.get(reader):
                    return True
                if reader == "." and self.walk.records:
                    return True
            elif name in self.top.opaque and scope is not self.walk.module:
                where = self.resolve(name, scope)
                if (
                    where
                    and where[-1] is self.walk.module
                    and where[-1].bound[name] & ~Binds.FOREIGN
                ):
                    return True
        return False
