"""Running one hypothesis on one input set: compile once, then copy, call and encode each input.

A prediction must depend only on the code and the input. If a source may keep state in its own
objects between calls (state.Reach), each input gets a fresh namespace. If a source may keep state
anywhere else, the batch runs again in another process and in another order, and the two results are
compared (pool.py).

This module runs inside the sandboxed child process and gives no protection by itself.
bench/sandbox.py also runs it without a sandbox, to measure what a sandbox costs. This file uses
only the standard library.
"""

from __future__ import annotations

import abc
import ast
import builtins
import functools
import json
import marshal
import random
import re
import signal
import sys
import time
from array import array
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from . import canonical, missing_imports, state, tolerance
    from .bindings import is_addressed
else:
    import canonical  # loaded by harness.py
    import missing_imports
    import state
    import tolerance
    from bindings import is_addressed

TICK = "__peirce_tick__"  # It ends in underscores, so that a class body does not mangle it.
DETAIL_CHARACTERS = 500

STEPS, TIMEOUT, EXIT = "steps", "timeout", "exit"
ADDRESS = "nondeterministic"  # for an output that contains a memory address
LIMIT_REASONS = frozenset({STEPS, TIMEOUT, "MemoryError", "RecursionError", canonical.TOO_LARGE})
# By identity: a class of untrusted code may have a hash and an equality of its own.
_BUILTIN_EXCEPTIONS: dict[int, str] = {
    id(kind): kind.__name__
    for kind in vars(builtins).values()
    if isinstance(kind, type) and issubclass(kind, Exception)
}
_IMMUTABLE = frozenset({int, float, str, bool, type(None)})


class StepLimitReached(BaseException):
    """Raised when a call has used up its iterations of `while` loops."""


class InputTimeout(BaseException):
    """Raised when a call has used up its CPU time."""


class AddressInOutput(Exception):
    """Raised when an output contains a memory address, which differs between processes."""


class BatchLimitReached(BaseException):
    """Raised when a limit for all inputs together is reached; the first argument is the verdict."""


class Inputs:
    """A parsed input set, with a fast method to copy each input."""

    def __init__(self, text: bytes | bytearray) -> None:
        values = json.loads(text)
        self.size = len(text)
        self.stored: list[Any] = values
        self.fresh: Callable[[Any], Any] = list.copy  # It is deep enough for a flat list.
        if not all(type(v) is list and _IMMUTABLE.issuperset(map(type, v)) for v in values):
            self.stored, self.fresh = [marshal.dumps(v, 2) for v in values], marshal.loads

    def __len__(self) -> int:
        return len(self.stored)

    def copy_all(self) -> None:
        """Copy each input once, as a run does, and drop the copies."""
        for one in self.stored:
            self.fresh(one)


class Trial:
    """The run of one hypothesis on its inputs, with the results so far.

    Attributes:
        results: For keep "codes", 8 bytes for each finished input. For keep "values", a list of
            values as JSON.
        undefined: For each input without a prediction, the reason; the key is the index of the
            input.
        limits: The fields of records.Limits.
        equality: The task's equality rule (tolerance.py); None for the default rule.
    """

    def __init__(
        self,
        source: str,
        entry: str,
        keep: str,
        limits: Mapping[str, Any],
        equality: Mapping[str, Any] | None = None,
    ) -> None:
        self.source, self.entry, self.keep, self.limits = source, entry, keep, limits
        self._equality = equality
        self.results: Any = bytearray() if keep == "codes" else []
        self._width = 8 if keep == "codes" else 1
        self.undefined: dict[int, str] = {}
        # inputs that reached a limit, even if they caught the exception
        self.overrun: dict[int, str] = {}
        self._nothing = bytes(8) if keep == "codes" else b""
        self._tick, self._new_budget = self._counter(
            int(limits["loop_steps"]), int(limits["batch_loop_steps"])
        )
        self._input_cpu_s = float(limits["input_cpu_s"])
        self._clock_at, self._clock_since = -1, 0.0
        self.reach = state.Reach.BEYOND
        self._code: Any = None
        self._order: list[int] | None = None
        self._cleared: list[Callable[[], object]] = []  # called before each input
        self._stored: list[Any] = []  # in the order of the calls

    def count_done(self) -> int:
        """Return the number of finished inputs, which is also the index of the current input."""
        return len(self.results) // self._width

    def parse(self) -> tuple[str, str] | None:
        """Parse the source and set `reach`, without running the source.

        Returns:
            None, or a verdict and a detail if the source cannot be parsed.
        """
        try:
            tree = ast.parse(self.source, "<hypothesis>")
            nodes = list(ast.walk(tree))
            missing_imports.import_missing(self.source, tree, nodes)
            self.reach = state.analyse_reach(tree, self.entry)
            if may_order_by_address(nodes):
                self.reach = state.Reach.BEYOND
            self._code = compile_tree(tree, nodes if "while" in self.source else [])
            if self.reach == state.Reach.BEYOND:
                self._cleared = library_caches()
        except SyntaxError as error:
            return "syntax", f"{type(error).__name__}: {error.msg} (line {error.lineno})"
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return "syntax", describe_exception(error)
        return None

    def copy_for(self, keep: str) -> Trial:
        """Return a new trial of the same parsed source for another input set.

        `keep` is "codes" or "values".
        """
        other = Trial(self.source, self.entry, keep, self.limits)
        other.reach, other._code = self.reach, self._code
        return other

    def compile(self) -> Callable[[Any], Any] | tuple[str, str]:
        """Return the function of the hypothesis, or a verdict and a detail if there is none."""
        refused = self.parse() if self._code is None else None
        if refused is not None:
            return refused
        try:
            function = self._fresh_function()
        except (StepLimitReached, InputTimeout):
            pass
        except MemoryError:
            return "memory", "the module's top level took too much memory"
        except BaseException as error:  # noqa: BLE001 - untrusted code raises what it likes
            return "no_function", f"the module's top level raised {describe_exception(error)}"
        if self.overrun:
            return "too_slow", "the module's top level does not end"
        if not callable(function):
            return "no_function", f"no function named {self.entry[:80]!r} at the top level"
        return function  # type: ignore[no-any-return]

    def _fresh_function(self) -> Any:
        namespace: dict[str, Any] = {"__name__": "hypothesis", TICK: self._tick}
        exec(self._code, namespace)
        return namespace.get(self.entry)

    def run(self, function: Callable[[Any], Any], inputs: Inputs, order: list[int] | None = None) -> None:  # fmt: skip
        """Call `function` with a fresh copy of each input.

        Args:
            function: The function of the hypothesis.
            inputs: The inputs.
            order: Indices of the inputs in the order of the calls; None for their own order. If an
                index occurs twice, the last result counts.

        Raises:
            BatchLimitReached: A limit for all inputs together is reached.
        """
        self._order = order
        stored = inputs.stored if order is None else [inputs.stored[place] for place in order]
        self._stored = stored
        fresh, image, before = inputs.fresh, self._image(), self._before_each()
        append = self.results.extend if self.keep == "codes" else self.results.append
        renewed = self._fresh_function if self.reach != state.Reach.STATELESS else None
        pending = iter(stored)
        while self.count_done() < len(stored):
            # The `try` is around the loop, not the call: each input appends once, here or below.
            try:
                if renewed is not None:
                    for one in pending:
                        before()
                        append(image(renewed()(fresh(one))))
                elif "while" in self.source:
                    for one in pending:
                        before()
                        append(image(function(fresh(one))))
                else:
                    for one in pending:
                        append(image(function(fresh(one))))
            except BatchLimitReached:
                raise
            except BaseException as error:  # noqa: BLE001 - untrusted code raises what it likes
                self.undefined[self.count_done()] = exception_reason(error)
                append(self._nothing)

    def encode_result(self) -> tuple[dict[str, Any], bytes]:
        """Return the header and body of the result message, in the order of the inputs.

        The body begins with one byte for each input: 0 for a prediction, or 1 plus an index into
        the sorted `reason_names`. Then follow, for keep "codes", 8 bytes for each input. For keep
        "values", the length of each value's JSON follows in 4 bytes each, and then all values.
        """
        for index, reason in self.overrun.items():
            if index < self.count_done():
                self.undefined[index] = reason
        names = sorted(set(self.undefined.values()))
        number = {name: place + 1 for place, name in enumerate(names)}
        reasons = bytearray(self.count_done())
        for index, reason in self.undefined.items():
            reasons[index] = number[reason]
        results = self.results
        if self._order is not None:
            places = {index: place for place, index in enumerate(self._order)}
            back = [places[index] for index in range(len(places))]
            reasons = bytearray(reasons[place] for place in back)
            pieces = [results[self._width * p : self._width * (p + 1)] for p in back]
            results = bytearray().join(pieces) if self.keep == "codes" else [p[0] for p in pieces]
        if self.keep == "codes":
            body = results
        else:
            body = array("I", map(len, results)).tobytes() + b"".join(results)
        header = {
            "verdict": "ok",
            "reason_names": names,
            "limited": bool(LIMIT_REASONS.intersection(names)),
            "cpu_s": time.process_time(),
        }
        return header, bytes(reasons) + body

    # --- Limits of one input ---

    def _counter(
        self, budget: int, batch_budget: int
    ) -> tuple[Callable[[], None], Callable[[], None]]:
        """Return the tick for each iteration of a `while` loop, and what renews the budget."""
        left, left_of_batch = budget, batch_budget

        def tick() -> None:
            nonlocal left
            left -= 1
            if left < 0:  # Later iterations raise it too, so that no loop can suppress it.
                self.overrun[self.count_done()] = STEPS
                raise StepLimitReached

        def new_budget() -> None:
            nonlocal left, left_of_batch
            left_of_batch -= budget - left
            left = budget
            if left_of_batch < 0:
                raise BatchLimitReached("too_slow", "its loops together take too many passes")

        return tick, new_budget

    def _before_each(self) -> Callable[[], None]:
        if self.reach == state.Reach.STATELESS:
            return self._new_budget

        def reseed() -> None:
            self._new_budget()
            random.seed(0)
            for clear in self._cleared:
                clear()

        return reseed

    def watch_clock(self) -> None:
        """Start a repeating CPU timer that stops slow inputs without a system call per input."""
        _set_signal(signal.SIGPROF, self._check_clock)
        signal.setitimer(signal.ITIMER_PROF, self._input_cpu_s / 4, self._input_cpu_s / 4)

    def _check_clock(self, _signal: int, interrupted: Any) -> None:
        if interrupted is None or interrupted.f_code in _BETWEEN_CALLS:
            return
        at, now = self.count_done(), time.process_time()
        if at != self._clock_at:
            self._clock_at, self._clock_since = at, now
        elif now - self._clock_since >= self._input_cpu_s:
            self.overrun[at] = TIMEOUT
            raise InputTimeout

    # --- The result of an output ---

    def _image(self) -> Callable[[Any], bytes]:
        max_bytes, left = int(self.limits["value_bytes"]), int(self.limits["output_bytes"])
        if self.keep == "codes":
            if self._equality is None:
                return canonical.make_coder(max_bytes, self._refuse_address)
            normal = tolerance.make_normaliser(self._equality)
            return tolerance.make_coder(normal, max_bytes, self._refuse_address)

        def text(value: Any) -> bytes:
            nonlocal left
            form = canonical.canonical_bytes(value, max_bytes)
            self._refuse_address(form)
            written = json.dumps(canonical.to_json_value(value)).encode()
            left -= len(written)
            if left < 0:
                raise BatchLimitReached("output_too_large", "the outputs together")
            return written

        return text

    def _refuse_address(self, form: bytes) -> None:
        """Raise Address if a form has the text of an address, unless code or input has it too."""
        for found in _ADDRESS.findall(form):
            given = self._stored[self.count_done()]
            text = given if type(given) is bytes else marshal.dumps(given, 2)
            if found not in text and found.decode() not in self.source:
                raise AddressInOutput


# The function in C: the one of `signal` converts the previous handler to an enumeration.
_set_signal = getattr(sys.modules["_signal"], "signal", signal.signal)
_ADDRESS = re.compile(canonical.ADDRESS_MARK + rb"[0-9a-f]{6,}")


def library_caches() -> list[Callable[[], object]]:
    """Return functions that clear caches of the standard library.

    The caches are those of patterns, `functools.lru_cache` and abstract classes. With an empty
    cache the library needs more recursion, so an earlier input could decide whether a later input
    reaches the recursion limit. The cache of codecs is not covered.
    """
    found: list[Callable[[], object]] = [re.purge]
    for module in list(sys.modules.values()):
        for value in list(getattr(module, "__dict__", {}).values()):
            if type(value) is functools._lru_cache_wrapper:
                found.append(value.cache_clear)
    seen, below = set(), [object]
    while below:
        for kind in type.__subclasses__(below.pop()):
            if kind not in seen:
                seen.add(kind)
                below.append(kind)
                if type(kind) is abc.ABCMeta:
                    found.append(kind._abc_caches_clear)  # type: ignore[attr-defined]
    return found


def may_order_by_address(nodes: list[ast.AST]) -> bool:
    """Return whether a set in the source may contain objects that are hashed by memory address.

    This is possible if the source uses sets, and creates objects that have no hash of their value:
    instances of its classes, iterators, matches, and exceptions that are not raised at once. Sets
    of functions and of NaN are not detected, and neither are iterators that get into a set through
    a name.

    Args:
        nodes: The nodes of a syntax tree, each after its parent.
    """
    makes_sets = makes_objects = False
    raised: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Set):
            makes_sets = True
            makes_objects |= any(map(is_addressed, node.elts))
        elif isinstance(node, ast.SetComp):
            makes_sets = True
            makes_objects |= is_addressed(node.elt)
        elif isinstance(node, ast.ClassDef):
            makes_objects = True
        elif isinstance(node, ast.Name):
            makes_sets |= node.id in ("set", "frozenset")
            makes_objects |= node.id in _BY_ADDRESS and id(node) not in raised
        elif isinstance(node, ast.Attribute):
            makes_objects |= node.attr in _BY_ADDRESS
        elif isinstance(node, ast.alias):
            makes_objects |= node.name in _BY_ADDRESS
        elif isinstance(node, ast.Raise):
            raised |= {id(node.exc), id(getattr(node.exc, "func", None))}
        elif isinstance(node, ast.ExceptHandler):
            raised |= {id(node.type), *map(id, getattr(node.type, "elts", ()))}
    return makes_sets and makes_objects


_BY_ADDRESS = frozenset(("finditer", "fullmatch", "iter", "match", "object", "partial", "search",
                         *_BUILTIN_EXCEPTIONS.values()))  # fmt: skip


def compile_tree(tree: ast.Module, nodes: list[ast.AST]) -> Any:
    """Compile a module after inserting a call that counts iterations into each `while` loop.

    Args:
        tree: The module, which is changed.
        nodes: The nodes of the tree, or at least its `while` loops.

    Raises:
        SyntaxError: The tree is not valid Python.
        ValueError: The tree contains an invalid value.
        RecursionError: The tree is nested too deeply.
        MemoryError: The tree is nested too deeply.
    """
    for node in nodes:
        if isinstance(node, ast.While):
            call = ast.Expr(ast.Call(ast.Name(TICK, ast.Load()), [], []))
            ast.copy_location(call, node)
            node.body.insert(0, ast.fix_missing_locations(call))
    return compile(tree, "<hypothesis>", "exec", dont_inherit=True)


def exception_reason(error: BaseException) -> str:
    """Return a short name for an exception, which is the reason why an input has no prediction.

    The exact type decides. The name of a class that the source defines is "Exception".
    """
    kind = type(error)
    if kind is StepLimitReached:
        return STEPS
    if kind is InputTimeout:
        return TIMEOUT
    if kind is AddressInOutput:
        return ADDRESS
    if kind is canonical.Unrepresentable:
        return error.reason  # type: ignore[attr-defined,no-any-return]
    if kind is SystemExit or kind is KeyboardInterrupt or kind is GeneratorExit:
        return EXIT
    return _BUILTIN_EXCEPTIONS.get(id(kind), "Exception")


def describe_exception(error: BaseException) -> str:
    """Return the type and text of an exception, even if converting the exception to text fails."""
    try:
        return f"{type(error).__name__}: {error}"[:DETAIL_CHARACTERS]
    except BaseException:  # noqa: BLE001 - __str__ of an untrusted class
        return "an exception that cannot be shown"


_BETWEEN_CALLS = frozenset(
    {Trial.run.__code__, Trial.count_done.__code__, exception_reason.__code__}
)
