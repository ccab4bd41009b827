"""What a bank of sentences claims: for each label, the inputs to which the bank gives the label.

Banks that say the same in other words claim the same:

- A sentence is *complete* if it labels every input ("…; otherwise rejected"), and *partial* if not.
- A bank claims a label for the inputs to which a partial sentence gives it. It also claims the label
  for the inputs to which a complete sentence gives it and no partial sentence gives another label. A
  complete sentence thus gives way to partial ones, as the last line of a list of cases does.
- If there are two labels and a bank has only partial sentences, all with one label, it claims the
  other label for all other inputs.

The order of the sentences does not matter. Where two of them disagree, the bank claims both labels.
The *statements* of a bank about a label are the maximal boxes (boxes.py) of what it claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ..sentence_rules.rules import Clause, ConditionClause, Rule
from .boxes import Box, Boxes, BoxSpace, Leaf, Preferred, TooManyBoxesError
from .overlap import EPSILON, MAX_SAMPLED_OVERLAP


def rule_boxes(rule: Rule, label: str, space: BoxSpace) -> Boxes:
    """Return boxes with the inputs to which a rule gives a label.

    Raises:
        TooManyBoxesError: The inputs are no union of few boxes.
    """
    found: Boxes = []
    earlier: list[Leaf] = []  # the conditions under which an earlier clause gives another label
    for clause in rule.clauses:
        for own, condition in _clause_labels(clause, space):
            if own == label:
                found += _but_for(space.boxes(condition), earlier, space)
        earlier += [condition for own, condition in _clause_labels(clause, space) if own != label]
    if rule.otherwise == label:
        found += _but_for([space.everything], earlier, space)
    return space.simplify(found)


def given_labels(rule: Rule, space: BoxSpace) -> tuple[str, ...]:
    """Return the labels that the clauses of a rule give, without that of `otherwise`."""
    return tuple(
        dict.fromkeys(
            label for clause in rule.clauses for label, _ in _clause_labels(clause, space)
        )
    )


def _clause_labels(clause: Clause, space: BoxSpace) -> list[tuple[str, Leaf]]:
    """Return the labels that a clause gives, each with its condition."""
    if isinstance(clause, ConditionClause):
        return [(clause.label, clause.condition)]
    return [(label, Preferred(clause, label)) for label in space.labels]


def _but_for(boxes: Boxes, conditions: Sequence[Leaf], space: BoxSpace) -> Boxes:
    """Return boxes with the inputs of a union for which none of the conditions holds."""
    return reduce(space.all_of, (space.boxes(one, negated=True) for one in conditions), boxes)


class BankClaims:
    """The claims of a bank, or of a set of true rules.

    Args:
        rules: The sentences as rules. `space` was made for all of them.
        space: The possible inputs as boxes.
    """

    def __init__(self, rules: Sequence[Rule], space: BoxSpace) -> None:
        self.space = space
        self.complete = [rule for rule in rules if _is_complete(rule, space)]
        self.partial = [rule for rule in rules if rule not in self.complete]
        self.known: dict[tuple[str, bool], Boxes] = {}

    def explicit(self, label: str) -> Boxes:
        """Return the inputs to which partial sentences give a label.

        Raises:
            TooManyBoxesError: The inputs are no union of few boxes.
        """
        if (label, True) not in self.known:
            found = [box for rule in self.partial for box in rule_boxes(rule, label, self.space)]
            self.known[label, True] = self.space.simplify(found)
        return self.known[label, True]

    def claimed(self, label: str) -> Boxes:
        """Return the inputs for which the bank claims a label.

        Raises:
            TooManyBoxesError: The inputs are no union of few boxes.
        """
        if (label, False) not in self.known:
            self.known[label, False] = self._claimed(label)
        return self.known[label, False]

    def _claimed(self, label: str) -> Boxes:
        space = self.space
        if self.implies_other(label):
            conditions = [
                condition
                for rule in self.partial
                for clause in rule.clauses
                for _, condition in _clause_labels(clause, space)
            ]
            return _but_for([space.everything], conditions, space)
        found = list(self.explicit(label))
        whole = [box for rule in self.complete for box in rule_boxes(rule, label, space)]
        for other in space.labels:
            if whole and other != label and (taken := self.explicit(other)):
                whole = space.all_of(space.simplify(whole), space.none_of(taken))
        return space.simplify(found + whole)

    def implies_other(self, label: str) -> bool:
        """Return whether a bank that gives only the other one of two labels implies this label."""
        named = {own for rule in self.partial for own in given_labels(rule, self.space)}
        return (
            len(self.space.labels) == 2
            and not self.complete
            and len(named) == 1
            and label not in named
        )


def _is_complete(rule: Rule, space: BoxSpace) -> bool:
    """Return whether a rule labels every input."""
    if rule.otherwise is not None:
        return True
    if len(given_labels(rule, space)) == 1:
        return False
    try:
        given = [
            space.boxes(one) for clause in rule.clauses for _, one in _clause_labels(clause, space)
        ]
    except TooManyBoxesError:
        return False
    return space.covered(space.everything, [box for boxes in given for box in boxes])


# --- overlaps with true rules -----------------------------------------------------


def case_overlap(case: Box, statement: Box, truth: Boxes, others: Boxes, space: BoxSpace) -> float:
    """Return how well a statement expresses a case of a true rule, from 0 to 1.

    All arguments are about the same label. The overlap is 1 if the statement contains the case and
    claims nothing that is false. It is 0 if whatever the two have in common is also said by other
    true rules. Otherwise the values of the statement that only other true rules justify are left
    out, and the overlap is that of overlap.py.

    Args:
        case: The inputs of the case.
        statement: A statement of the bank.
        truth: All inputs to which true rules give the label.
        others: The inputs of the other cases.
        space: The possible inputs as boxes.
    """
    common = space.meet(case, statement)
    if common is None:
        return 0.0
    if space.lies_in(case, statement) and space.covered(statement, truth):
        exact = not space.drawn or case == statement
        return (
            1.0
            if exact and space.share(case) < 1
            else MAX_SAMPLED_OVERLAP * (space.share(case) < 1)
        )
    if space.covered(common, others):
        return 0.0
    own: Box | None = statement
    for axis in range(len(space.group_of)):
        for values in _values_apart(statement[axis] & ~case[axis], axis, truth):
            part = space.narrow(statement, axis, values)
            if own is not None and part is not None and space.covered(part, truth):
                own = space.narrow(own, axis, own[axis] & ~values)
    common = None if own is None else space.meet(case, own)
    if own is None or common is None:
        return 0.0
    return min(
        share_overlap(space.share(case), space.share(own), space.share(common), len(space.labels)),
        MAX_SAMPLED_OVERLAP,
    )


def _values_apart(values: int, axis: int, boxes: Boxes) -> list[int]:
    """Return values of an axis as bits, in parts that no box divides."""
    parts = [values] if values else []
    for box in boxes:
        parts = [one for part in parts for one in (part & box[axis], part & ~box[axis]) if one]
    return parts


def share_overlap(one: float, other: float, both: float, labels: int) -> float:
    """Return the overlap (overlap.py) of two rules that give one label, from shares of the inputs.

    Args:
        one: Share of the inputs to which the first rule gives the label.
        other: Share of the inputs to which the second rule gives it.
        both: Share of the inputs to which both rules give it.
        labels: Number of labels. If there are two, the rules also imply the other label.
    """
    readings = [(both, one + other - both, one * other, one + other - one * other)]
    if labels == 2:
        by_chance = one * other + (1 - one) * (1 - other)
        readings.append((1 - one - other + 2 * both, 1.0, by_chance, 1.0))
    best = 0.0
    for equal, either, expected, total in readings:
        if either > EPSILON and total > EPSILON and 1 - expected / total > EPSILON:
            chance = expected / total
            best = max(best, (equal / either - chance) / (1 - chance))
    return best if best > EPSILON else 0.0


def needed_statements(statements: Boxes, first: Boxes, space: BoxSpace) -> Boxes:
    """Return few statements that together claim what all of them claim.

    Args:
        statements: All statements about a label.
        first: The statements to begin with, which are kept in any case.
        space: The possible inputs as boxes.
    """
    chosen = list(first)
    for one in statements:
        if not space.covered(one, chosen):
            chosen.append(one)
    for one in [one for one in reversed(chosen) if one not in first]:
        left = [other for other in chosen if other is not one]
        if space.covered(one, left):
            chosen = left
    return chosen


def count_further(bank: BankClaims, labels: Sequence[str]) -> int:
    """Return how many statements partial sentences make about labels other than `labels`.

    Of two labels, a claim that only states the complement of the other label is no further one.
    """
    space, count = bank.space, 0
    for label in space.labels:
        if label in labels or (len(labels) == 1 and bank.implies_other(labels[0])):
            continue
        try:
            explicit = bank.explicit(label)
            two = len(space.labels) == 2 and len(labels) == 1 and len(explicit) > 0
            if two and space.equal(explicit, space.none_of(bank.claimed(labels[0]))):
                continue
            count += len(needed_statements(space.maximal(explicit), [], space))
        except TooManyBoxesError:
            count += len(bank.partial)
    return count
