"""Finder of rules that decide the colour of each single cell.

The rules are decision lists, "if condition: colour; …; else colour", that give the right colour for
every cell of the shown outputs. A frame (cells/frames.py) says which cell of the current grid
belongs to which cell of the output. All shown cells are used at once to find the lists.

Conditions and colours come from cells/features.py, and cells/decision_lists.py searches for the
lists. Two conditions may agree on all shown cells but differ on similar grids that are made for
this purpose (the probes). The finder therefore also yields variants of the cheapest lists in which
one condition is replaced by another. If several lists make the same predictions on the shown cells
and the probes, only the cheapest list is kept.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np

from ...budget import Budget
from ..goal import Goal, State
from ..grammar import Grid, Step, colour_name
from .decision_lists import (
    BASE_COST,
    CLAUSE_COSTS,
    CONJUNCTION_COST,
    BoolArray,
    Clause,
    DecisionList,
    DecisionListSearch,
    Tables,
)
from .features import Term, TermValues, colour_terms, evaluate_terms, general_terms
from .frames import PLAIN_FRAME, Frame, list_frames
from .growth import LOCAL_TEXTS, MAX_SECOND, REPEAT_COST, find_growths, reaches_outputs, repeat_step
from .text import Colour, Condition, wrap_line, write_rule

NOISE_SHARE = 0.25  # share of the cells of a probe that are changed
INPUT_BUDGET_SHARE, LATER_BUDGET_SHARE = (
    0.3,
    0.1,
)  # share of the budget that is left, for the inputs and for a later state
GENERAL_TERMS, TERMS_PER_COLOUR = (
    180,
    20,
)  # approximate number of terms: in all, and additionally for each colour
PROBE_CELLS = 500  # approximate number of cells of all probes
# Maximum number of further conditions that agree with the cheapest one on all shown cells
MAX_ALTERNATIVES = 5
# Maximum number of steps found from the inputs, and from what a program made of them
MAX_STEPS, MAX_LATER_STEPS = 250, 60
MANY_CELLS = 400  # if the outputs have more cells than this, only a third of these steps is found
MAX_SUBSTITUTED = 60  # maximum number of lists whose conditions are replaced by alternatives
PRODUCTS_PER_EXPANSION = 80_000.0  # multiplications that cost one expansion
TERMS_PER_EXPANSION = 60.0  # values of terms on a cell that cost one expansion


def find_cell_rules(state: State, goal: Goal, budget: Budget) -> Iterator[Step]:
    """Yield steps that decide the colour of each cell by a decision list.

    On the shown grids each step gives the outputs of `goal`. Some of the steps apply one rule until
    the grid does not change any more.
    """
    colours = _common(state.grids)
    within = _Share(budget, LATER_BUDGET_SHARE if state.program.steps else INPUT_BUDGET_SHARE)
    cells = sum(high * wide for high, wide in goal.shapes)
    tables = (
        (cells + min(PROBE_CELLS, 3 * cells))
        * (GENERAL_TERMS + TERMS_PER_COLOUR * len(colours))
        / TERMS_PER_EXPANSION
    )
    for frame in list_frames(state, goal, colours):
        if within.left < tables:
            return
        finder = _Finder(state, goal, within, frame, colours)
        if frame is PLAIN_FRAME:
            yield from finder.growing(state)
        yield from finder.steps()


class _Share(Budget):
    """A budget that is a share of what another budget has left and spends from both."""

    def __init__(self, whole: Budget, share: float) -> None:
        super().__init__(whole.left * share)
        self.whole = whole

    def charge(self, amount: float) -> bool:
        """Spend `amount` from both budgets and return whether this one has any left."""
        self.whole.charge(amount)
        return super().charge(amount)


class _Finder:
    """The search for rules over one frame, with the values of all terms, conditions and colours."""

    def __init__(
        self, state: State, goal: Goal, budget: Budget, frame: Frame, shown: list[int]
    ) -> None:
        self.budget, self.first = budget, not state.program.steps
        self.goal, self.frame = goal, frame
        square = all(high == wide for high, wide in goal.shapes)
        parts = [
            tuple(general_terms(square)),
            frame.terms,
            tuple(t for c in shown for t in colour_terms(c)),
        ]
        self.terms = [term for part in parts for term in part]
        self.target = np.array([v for g in goal.outputs for row in g for v in row], np.int16)
        self.pairs = np.repeat(np.arange(len(goal.shapes)), [a * b for a, b in goal.shapes])
        self.count = len(self.target)
        every = [*state.grids, *_probes(state.grids, self.count)]
        tables = [evaluate_terms(part, every, frame.prelude) for part in parts if part]
        self.values = np.concatenate(tables)
        budget.charge(self.values.size / TERMS_PER_EXPANSION)
        self._conditions(shown)
        self._colours(sorted(set(self.target.tolist())))

    def _conditions(self, shown: list[int]) -> None:
        """Compute the masks of all conditions on the shown cells and the probes.

        Conditions that agree on the shown cells form a group, cheapest first.
        """
        groups: dict[bytes, list[int]] = {}
        marks: set[bytes] = set()
        self.conditions: list[Condition] = []
        masks: list[BoolArray] = []
        made = [
            (condition, mask)
            for term, values in zip(self.terms, self.values, strict=True)
            for condition, mask in _comparisons(term, values, self.values[0], self.count, shown)
        ]
        made.sort(key=lambda pair: pair[0].cost)
        for condition, mask in made:
            here = mask[: self.count]
            if here.all() or not here.any():
                continue
            mark = mask.tobytes()
            group = groups.setdefault(here.tobytes(), [])
            if mark in marks or len(group) > MAX_ALTERNATIVES:
                continue
            marks.add(mark)
            group.append(len(masks))
            self.conditions.append(condition)
            masks.append(mask)
        self.masks = np.array(masks).reshape(len(masks), self.values.shape[1])
        self.groups = list(groups.values())

    def _colours(self, made: list[int]) -> None:
        self.colours: list[Colour] = []
        rows: list[TermValues] = []
        marks: set[bytes] = set()
        options = [
            (Colour(str(c), colour_name(c), 0.5, None), np.full_like(self.values[0], c))
            for c in made
        ]
        for term, values in zip(self.terms, self.values, strict=True):
            if term.kind == "colour":
                says = "as it is" if term.text == "v" else f"like {term.says}"
                cost = term.cost + (0.0 if term.text == "v" else 0.2)
                options.append((Colour(term.text, says, cost, term), values))  # fmt: skip
        options.sort(key=lambda pair: pair[0].cost)
        for colour, values in options:
            if values.tobytes() in marks or not (values[: self.count] == self.target).any():
                continue
            marks.add(values.tobytes())
            self.colours.append(colour)
            rows.append(values)
        self.painted = np.array(rows).reshape(len(rows), self.values.shape[1])

    def steps(self) -> Iterator[Step]:
        """Yield the steps of all lists, cheapest first, without those that predict the same."""
        if not len(self.masks) or not len(self.painted):
            return
        tables, heads = self._tables()
        cells = len(tables.weights)
        widths = (24, 6) if cells <= 150 else (12, 3) if cells <= 600 else (6, 2)
        lists = DecisionListSearch(tables, self._charge, widths if self.first else (4,))
        most = (MAX_STEPS if self.first else MAX_LATER_STEPS) // (
            3 if self.count > MANY_CELLS else 1
        )
        marks: set[bytes] = set()
        kept = 0
        base = [
            rule._replace(
                clauses=tuple(
                    Clause(tuple(heads[c] for c in clause.conditions), clause.expression)
                    for clause in rule.clauses
                )
            )
            for rule in lists.run()
        ]
        for rule in sorted(self._with_alternates(base), key=lambda rule: rule.cost):
            mark = self._predicted(rule).tobytes()
            if mark in marks:
                continue
            marks.add(mark)
            yield self._step(rule)
            kept += 1
            if kept == most:
                return

    def growing(self, state: State) -> Iterator[Step]:
        """Yield steps that repeat a rule until nothing changes."""
        own = next((k for k, colour in enumerate(self.colours) if colour.text == "v"), None)
        if own is None or not len(self.masks):
            return
        right = self.painted[:, : self.count] == self.target
        local = [c.term is None or any(p in c.text for p in LOCAL_TEXTS) for c in self.colours]
        heads = [group[0] for group in self.groups]
        tried = find_growths(
            [self.conditions[c].text for c in heads],
            [self.conditions[c].cost for c in heads],
            self.masks[heads, : self.count],
            right,
            right[own],
            local,
        )
        self._charge(len(heads) * MAX_SECOND * self.count * len(self.colours) / 4)
        for growth in tried:
            kept = [heads[c] for c in growth.conditions]
            if not (step := self._grown(kept, growth.expression, own, state)):
                continue
            yield step
            for k, c in enumerate(kept):
                for other in next(group for group in self.groups if group[0] == c)[1:]:
                    changed = [*kept[:k], other, *kept[k + 1 :]]
                    if step := self._grown(changed, growth.expression, own, state):
                        yield step

    def _grown(self, chosen: list[int], painted: int, own: int, state: State) -> Step | None:
        """Return the step that repeats a rule, or None if it does not lead to the outputs."""
        if not self.budget.left:
            return None
        conditions, colour = [self.conditions[c] for c in chosen], self.colours[painted]
        code, says = write_rule([(conditions, colour)], self.colours[own])
        if not reaches_outputs(code, state.grids, self.goal.outputs, self.budget):
            return None
        cost = BASE_COST + CLAUSE_COSTS[0] + REPEAT_COST + sum(c.cost for c in conditions)
        cost += CONJUNCTION_COST * (len(conditions) - 1) + colour.cost + self.colours[own].cost
        return Step(repeat_step(code), f"{says}, again and again", cost)

    def _charge(self, multiplications: float) -> bool:
        return self.budget.charge(multiplications / PRODUCTS_PER_EXPANSION)

    def _tables(self) -> tuple[Tables, list[int]]:
        """Return the tables for the search, and the first condition of each group.

        The tables have one row for each group of conditions and one column for all cells of a pair
        that look alike.
        """
        heads = [group[0] for group in self.groups]
        masks = self.masks[heads, : self.count]
        wrong = self.painted[:, : self.count] != self.target
        packed = np.packbits(np.concatenate([masks, wrong]), axis=0)
        marks = np.concatenate([packed, self.pairs[None, :].astype(np.uint8)])
        _, at, weights = np.unique(marks, axis=1, return_index=True, return_counts=True)
        tables = Tables(
            masks[:, at],
            [self.conditions[c].cost for c in heads],
            wrong[:, at],
            [colour.cost for colour in self.colours],
            self.pairs[at],
            weights.astype(np.float32),
        )
        return tables, heads

    def _with_alternates(self, base: list[DecisionList]) -> Iterator[DecisionList]:
        yield from base
        others = {group[0]: group[1:] for group in self.groups}
        for rule in base[:MAX_SUBSTITUTED]:
            for k, clause in enumerate(rule.clauses):
                for m, c in enumerate(clause.conditions):
                    for other in others[c]:
                        changed = (*clause.conditions[:m], other, *clause.conditions[m + 1 :])
                        dearer = self.conditions[other].cost - self.conditions[c].cost
                        yield DecisionList(
                            (*rule.clauses[:k], clause._replace(conditions=changed), *rule.clauses[k + 1 :]),
                            rule.other,
                            rule.cost + dearer,
                        )  # fmt: skip

    def _predicted(self, rule: DecisionList) -> TermValues:
        """Return the colours that the rule gives to all cells, shown ones and probes."""
        out: TermValues = self.painted[rule.other]
        for clause in reversed(rule.clauses):
            here = np.all(self.masks[list(clause.conditions)], axis=0)
            out = np.where(here, self.painted[clause.expression], out)
        return out

    def _step(self, rule: DecisionList) -> Step:
        clauses = [
            (
                [self.conditions[c] for c in clause.conditions],
                self.colours[clause.expression],
            )
            for clause in rule.clauses
        ]
        code, says = write_rule(clauses, self.colours[rule.other])
        prelude = "".join(part + "\n" for line in self.frame.prelude for part in wrap_line(line))
        says = f"{self.frame.says} {says}" if self.frame.says else says
        return Step(prelude + code, says, rule.cost + self.frame.cost)


def _comparisons(
    term: Term, values: TermValues, own: TermValues, count: int, colours: list[int]
) -> Iterator[tuple[Condition, BoolArray]]:
    """Yield the conditions on one term: that it is a colour, a number, above a number, or true."""
    there = np.unique(values[:count]).tolist()
    if len(there) == 1 and not np.array_equal(values, own):
        return
    text, says, cost = term.text, term.says, term.cost

    def with_negation(
        text: str, says: str, no_text: str, no_says: str, cost: float, mask: BoolArray
    ) -> Iterator[tuple[Condition, BoolArray]]:
        yield Condition(text, says, no_text, no_says, cost, term), mask
        yield Condition(no_text, no_says, text, says, cost + 0.15, term), ~mask

    if term.kind == "truth":
        no = text.replace("(i, j) in", "(i, j) not in") if text.startswith("(i, j) in") else f"not ({text})"  # fmt: skip
        yield from with_negation(text, f"it is {says}", no, f"it is not {says}", cost, values != 0)
        return

    def compared(
        sign: str, no: str, value: str, is_: str, is_no: str, dear: float, mask: BoolArray
    ) -> Iterator[tuple[Condition, BoolArray]]:
        return with_negation(
            f"{text} {sign} {value}",
            f"{says} {is_}",
            f"{text} {no} {value}",
            f"{says} {is_no}",
            cost + dear,
            mask,
        )

    if term.kind == "colour":
        for c in there:
            if c == 0 or c in colours:
                is_ = f"is {colour_name(c)}"
                yield from compared(
                    "==", "!=", str(c), is_, is_.replace("is", "is not", 1), 0.3, values == c
                )
        if text != "v":
            yield from compared(
                "==", "!=", "v", "has its colour", "has another colour", 0.4, values == own
            )
        return
    if len(there) > 12:
        there = [*there[:6], there[-1]]
    for k in there:
        dear = 0.2 + 0.05 * min(k, 10)
        yield from compared("==", "!=", str(k), f"is {k}", f"is not {k}", dear, values == k)
        yield from compared(">", "<=", str(k), f"is above {k}", f"is at most {k}", dear, values > k)


def _common(grids: Sequence[Grid]) -> list[int]:
    """Return the colours other than 0 that are in at least two grids, or in the only grid."""
    held = [{v for row in g for v in row} - {0} for g in grids]
    least = min(2, len(grids))
    return [c for c in range(1, 10) if sum(c in colours for colours in held) >= least]


def _probes(grids: Sequence[Grid], most: int) -> list[Grid]:
    """Return noisy copies of the grids, with a fixed number of cells in all.

    Every second copy is also turned upside down.
    """
    rng = random.Random(0)
    colours = sorted({v for g in grids for row in g for v in row})
    probes: list[Grid] = []
    cells = 0
    while cells < min(PROBE_CELLS, 3 * most):
        grid = grids[len(probes) % len(grids)]
        noisy = [
            [rng.choice(colours) if rng.random() < NOISE_SHARE else v for v in row] for row in grid
        ]
        probes.append(noisy[:: -1 if len(probes) % 2 else 1])
        cells += len(grid) * len(grid[0])
    return probes
