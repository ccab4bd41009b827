"""Search engine for functions of a list of integers.

The engine proposes a hypothesis only if the Python text of the hypothesis gives all example
outputs. novelty.py describes the order of the answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..engines import Progress, SearchEngine
from ..garbage_collection import without_collector
from ..memorisation import memorises_case
from ..novelty import Answer
from ..programs.repair import repair_program
from .bank import Lists
from .chosen_pairs import choose_pairs
from .codegen import TooLong, generate_source
from .descriptions import describe_program
from .features import find_feature
from .grammar import LARGEST_INTEGER, LONGEST_VALUE, OPERATIONS, Node, is_modest, list_operations
from .search import Search
from .texts import RAISED, ProgramText
from .voting import VotingRanker

# Sample-space inputs with larger integers are skipped: a program may build ranges that long.
LARGEST_INPUT_INTEGER = 10_000
SAMPLE = 600  # number of sample-space inputs on which a candidate is evaluated first
PATCH_COST = 5.0  # extra cost of a branch for a single shown pair, in a first answer
LABORIOUS_COST = 1.0  # extra cost of a program that takes long on the space (`is_laborious`)
# With more elements in all pairs together, an expansion stands for proportionally more work.
ELEMENTS_PER_EXPANSION = 240
MAX_ELEMENTS = 800  # of the pairs that are searched; the others only test what is found
MAX_ROUNDS = 4  # searches, each with one more pair
MAX_RANKED = 600  # number of programs, cheapest first, for which Python text is generated


class Candidate(ProgramText):
    """A program that the search found, with its Python text, its description and its cost.

    Args:
        program: The program.
        kind: Type of the outputs: "list", "int" or "bool".
    """

    def __init__(self, program: Node, kind: str) -> None:
        super().__init__(generate_source(program, kind), program.op == "if")
        self.program = program
        self.sentence = describe_program(program, kind)
        self.cost = program.cost
        self.laborious = is_laborious(program)
        self.extra: float | None = None
        self.remembered: bool | None = None
        self.test = self.parts[0].function if self.parts else None

    def is_consistent(self, shown: list[list[Any]]) -> bool:
        """Return whether the program gives the right output for every pair [input, output] in
        `shown`.
        """
        try:
            return all(_same(self.function(list(i)), o) for i, o in shown)
        except RAISED:
            return False

    def has_patch(self, shown: list[list[Any]]) -> bool:
        """Return whether one branch of a conditional program serves fewer than two pairs of
        `shown`.

        Such a branch is a memorised patch, not a rule.
        """
        if self.test is None:
            return False
        holds = sum(bool(self.test(list(i))) for i, _ in shown)
        return min(holds, len(shown) - holds) < 2

    def memorises(self, shown: list[list[Any]]) -> bool:
        """Return whether some branch of the program serves a single case among the pairs `shown`.

        memorisation.py defines a case. The first result is cached and returned for any later
        `shown`.
        """
        if self.remembered is None:
            inputs = [list(i) for i, _ in shown]
            self.remembered = self.has_patch(shown) or memorises_case(self.text, inputs)
        return self.remembered


def _same(got: Any, wanted: Any) -> bool:
    return type(got) in (int, bool, list) and bool(got == wanted)


class Problem:
    """A search for functions that reproduce the example pairs of one problem.

    Args:
        shown: The example pairs [input, output].
        space: The sample space: the inputs on which hypotheses are compared.
        expansions: Budget of the search, in expansions.
        public: Ignored.
    """

    def __init__(
        self,
        shown: list[list[Any]],
        space: list[list[int]],
        expansions: float,
        public: object = None,
    ) -> None:
        self.shown, self.expansions, self.spent = shown, expansions, 0.0
        self.kind = _kind(shown)
        self.searched = choose_pairs(shown, MAX_ELEMENTS, _size) if self.kind else []
        self.rounds = 1
        self.search = self._create_search() if self.kind else None
        self.by_text: dict[str, Candidate] = {}
        self.written: dict[Node, Candidate | None] = {}
        self.following = VotingRanker(space, SAMPLE)
        small = [i for i in space if all(abs(v) <= LARGEST_INPUT_INTEGER for v in i)]
        self.some = small[:: max(1, len(small) // INPUTS)]
        self.first: list[Candidate] | None = None
        self.later: list[Candidate] | None = None

    @without_collector()
    def propose(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        """Return the next answer, or None if no novel candidate is left.

        Args:
            earlier: Texts of all earlier answers.
            skip: Texts that must not be proposed.
        """
        # Computed before the search continues, so that the first answers do not depend on other
        # requests.
        if self.first is None:
            self.first = self.rank_candidates(confident=True)
        ranked = self._rank_all() if skip else self.first
        known = [self.by_text[text] for text in earlier if text in self.by_text]
        chosen = self.following.choose(ranked, known, skip)
        return Answer(chosen.text, chosen.sentence) if chosen else None

    def repair(self, text: str, earlier: Sequence[str] = ()) -> Answer | None:
        """Return a program that is right on all pairs, made from one that is not (programs/repair.py).

        Args:
            text: The source of the program.
            earlier: Texts of all earlier answers.
        """
        return repair_program(
            text, self, self.shown, self.following.inputs, self.expansions, earlier
        )

    def progress(self) -> Progress:
        """Return how far the search got."""
        latest = self.search.budget.spent * self.weight if self.search else 0.0
        return Progress(round(self.spent + latest))

    def _create_search(self) -> Search:
        """Return a search on the pairs that are searched, with the rest of the budget."""
        inputs: Lists = tuple(tuple(i) for i, _ in self.searched)
        goal: Lists = tuple(
            tuple(o) if self.kind == "list" else (int(o),) for _, o in self.searched
        )
        size = sum(map(len, (*inputs, *goal)))
        self.weight = max(1.0, size / ELEMENTS_PER_EXPANSION)  # expansions of one of the search
        return Search(inputs, goal, self.kind, (self.expansions - self.spent) / self.weight)

    def _search_further(self, programs: list[Node]) -> bool:
        """Search again with a pair on which the cheapest program is wrong. Return whether there is one,
        and budget left.
        """
        written = (candidate for one in programs if (candidate := self._generate(one)) is not None)
        cheapest = next(written, None)
        if cheapest is None or self.rounds == MAX_ROUNDS:
            return False
        wrong = next((pair for pair in self.shown if not cheapest.is_consistent([pair])), None)
        spent = self.progress().expansions
        if wrong is None or wrong in self.searched or spent >= self.expansions:
            return False
        self.rounds += 1
        self.spent = spent
        self.searched = [*self.searched, wrong]
        self.search = self._create_search()
        return True

    def rank_candidates(self, confident: bool) -> list[Candidate]:
        """Return the candidates consistent with the example pairs, cheapest first.

        Args:
            confident: Whether the search may stop at the first program that is cheap enough.
                Otherwise the search spends its whole budget, and programs that memorise examples or
                take long to run are left out, unless only such programs are found.
        """
        if self.search is None:
            return []
        by_text: dict[str, Candidate] = {}
        more = True
        while more:
            programs = self.search.run(confident)[:MAX_RANKED]
            for program in programs:
                if program not in self.written:
                    self.written[program] = self._write(program)
                candidate = self.written[program]
                if candidate is not None:
                    by_text.setdefault(candidate.text, candidate)
            more = not by_text and self._search_further(programs)
        self.by_text = by_text
        ranked = self._behaved(list(by_text.values()))
        if not confident:
            return [c for c in ranked if not (c.laborious or c.memorises(self.shown))] or ranked[:1]
        return sorted(ranked, key=lambda c: c.cost + PATCH_COST * c.has_patch(self.shown))

    def _rank_all(self) -> list[Candidate]:
        """Return the candidates for all answers but the first. The search ends, and its memory is
        freed.
        """
        if self.later is None:
            self.later = self.rank_candidates(confident=False)
            self.written = {}
            if self.search is not None:
                self.search.forget()
        return self.later

    def _behaved(self, ranked: list[Candidate]) -> list[Candidate]:
        """Sort by cost, after adding the surcharge of the cheapest candidates."""
        inputs = [i for i, _ in self.shown]
        for k, candidate in enumerate(ranked):
            candidate.cost = candidate.program.cost
            if k < MAX_SURCHARGED:
                if candidate.laborious:
                    candidate.extra = LABORIOUS_COST
                if candidate.extra is None:
                    function, test = candidate.function, candidate.test
                    candidate.extra = surcharge(function, test, inputs, self.some)
                candidate.cost += candidate.extra
        return sorted(ranked, key=lambda c: c.cost)

    def _write(self, program: Node) -> Candidate | None:
        candidate = self._generate(program)
        return candidate if candidate and candidate.is_consistent(self.shown) else None

    def _generate(self, program: Node) -> Candidate | None:
        if not is_modest(program):
            return None
        try:
            return Candidate(program, self.kind)
        except TooLong:
            return None


def _size(pair: list[Any]) -> int:
    return sum(len(one) if type(one) is list else 1 for one in pair)


def _kind(shown: list[list[Any]]) -> str:
    """Return the type of the outputs ("list", "int" or "bool"), or "" if it is not supported."""
    if not shown:
        return ""
    for given, out in shown:
        if not _integers(given) or not (type(out) in (int, bool) or _integers(out)):
            return ""
    kinds = {type(out) for _, out in shown}
    if len(kinds) > 1:
        return ""
    return {list: "list", int: "int", bool: "bool"}[kinds.pop()]


def prepare_space(inputs: list[list[int]]) -> list[list[int]]:
    """Return the sample space unchanged, because this engine needs no other form.

    Args:
        inputs: The sample space: lists of integers.
    """
    return inputs


def supports(shown: list[list[Any]]) -> bool:
    """Return whether this engine supports the types of the inputs and outputs in `shown`.

    Each input must be a list of at most `LONGEST_VALUE` integers. All outputs must be lists of such
    integers, all must be integers, or all must be truth values.
    """
    return bool(_kind(shown))


def _integers(value: Any) -> bool:
    return (
        type(value) is list
        and len(value) <= LONGEST_VALUE
        and all(type(v) is int and abs(v) <= LARGEST_INTEGER for v in value)
    )


ENGINE = SearchEngine("lists", supports, prepare_space, Problem, "programs")


# --- Programs that take long on some input of the space: one step makes a list as long as its
# values are large, and a later step goes through the whole list for each element. Such a program
# may be right, and may be the first answer, but it is never a later answer, because 600 inputs of
# the space would take seconds.

_LENGTHENED = frozenset(
    ["by_itself", "path", "all_below", "all_upto", "all_downto", "each_by", "each_of"]
)
_PER_ELEMENT = frozenset(
    ["running_sum", "running_max", "running_min", "no_max", "no_min", "once", "repeated", "tallies", "tally_pairs",
     "by_count", "by_count_down", "mode"]
)  # fmt: skip
# Features that read one element of the list, or its length.
_AT_ONCE = frozenset(
    ["first", "last", "second", "third", "before", "after", "mirror", "two_before", "n", "to_end", "at_v",
     "at_v_round", "middle"]
)  # fmt: skip


def is_laborious(program: Node) -> bool:
    """Return whether a program may take quadratic time.

    The result is True if one step makes a list whose length grows with the values of the input, and
    a later step goes through the list once for each element.
    """
    parts = [part for part in program.args if isinstance(part, Node)]
    if parts and any(op in _LENGTHENED for op in list_operations(parts[0])):
        if program.op in _PER_ELEMENT:
            return True
        if program.op not in OPERATIONS and any(_looks_around(part) for part in parts[1:]):
            return True
    return any(is_laborious(part) for part in parts)


def _looks_around(term: Node) -> bool:
    feature = find_feature(term.op)
    if feature is not None:
        return feature.uses_base and term.op not in _AT_ONCE
    return any(isinstance(part, Node) and _looks_around(part) for part in term.args)


# --- Correction to a candidate's cost from its behaviour on the sample space.
#
# Programs that are right on all shown pairs may be undefined elsewhere, or grow without bound. Both
# make a rule more expensive (totality, stability). A test on the whole input may hold on the shown
# pairs far more often, or far less often, than on the space. Such a split is unlikely to be chance:
# whoever chose the pairs made sure that both cases occur. The test therefore gets cheaper by a part
# of that surprise.

INPUTS = 150  # number of sample-space inputs
MAX_SURCHARGED = 40  # number of cheapest candidates evaluated on them
UNDEFINED, EXPLODING = 5.0, 5.0  # extra cost if it happens on the whole space
SURPRISE, MOST = 0.25, 2.0  # reward per nat of surprise in a test, and its maximum
Test = Callable[[list[int]], Any]


def surcharge(
    function: Callable[[list[int]], Any], test: Test | None, shown: Sequence[list[int]],
    space: Sequence[list[int]],
) -> float:  # fmt: skip
    """Return the extra cost of a program for its behaviour on the sample space.

    The result is negative if the behaviour makes the program likelier.

    Args:
        function: The program.
        test: The test of a conditional program, or None if the program is not a conditional.
        shown: The example inputs.
        space: Inputs from the sample space.
    """
    if not space:
        return 0.0
    undefined = exploding = 0
    for values in space:
        try:
            out = function(list(values))
        except RAISED:
            undefined += 1
            continue
        exploding += type(out) is list and _huge(out)
    price = (UNDEFINED * undefined + EXPLODING * exploding) / len(space)
    return price - (_surprise(test, shown, space) if test else 0.0)


def _huge(out: list[int]) -> bool:
    return len(out) > LONGEST_VALUE or any(abs(v) > LARGEST_INTEGER for v in out)


def _surprise(test: Test, shown: Sequence[list[int]], space: Sequence[list[int]]) -> float:
    """Return the reward for a test that holds on an unusual share of the shown inputs.

    The share is compared with that of the sample space.
    """
    here = sum(_holds(test, values) for values in shown) / len(shown)
    there = (sum(_holds(test, values) for values in space) + 0.5) / (len(space) + 1)
    nats = sum(p * math.log(p / q) for p, q in ((here, there), (1 - here, 1 - there)) if p > 0)
    return min(MOST, SURPRISE * len(shown) * nats)


def _holds(test: Test, values: list[int]) -> bool:
    try:
        return bool(test(list(values)))
    except RAISED:
        return False
