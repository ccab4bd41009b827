"""The result classes of `execute`, `solve` and `judge`, which apply one hypothesis without a
session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Result, optional_key


class InputResult(Result):
    """What a function returned for one input: either `value` or `undefined`.

    Attributes:
        value: the value; absent from the JSON where there is none.
        undefined: why there is no value, such as the name of an exception or "loop_steps"; absent
            from the JSON where there is a value.
    """

    value: Json = optional_key(default_factory=lambda: None)
    undefined: str = optional_key(default_factory=str)


class Execution(Result):
    """The result of running a function on inputs in the sandbox.

    Attributes:
        verdict: "ok", or why nothing could be run: "malformed" (the text holds no function of one
            argument), or a failure of the whole run, such as "too_slow" or "memory".
        reason: an explanation of the verdict; "" if it is "ok".
        function: the name of the function that was called; "" if there is none.
        results: one result for each input, in order; empty unless the verdict is "ok".
        breaches: features of the source that prompts forbid, such as "import". The source runs all
            the same.
        limited: whether a limit of the sandbox affected a result.
        layers: the isolation layers of the sandbox, each with whether it is active here.
    """

    verdict: str
    reason: str
    function: str
    results: Sequence[InputResult]
    breaches: Sequence[str]
    limited: bool
    layers: Mapping[str, bool]


class WorldResult(Result):
    """What a rule does in one world.

    Attributes:
        world: the id of the world, or its position as W0, W1, …
        valid: whether the rule repairs every violation of the theory in this world; None if the
            solver reached a limit.
        cost: the number of elements that the rule marks as exceptions, as the regime counts them;
            None if it is not known.
        lower_bound: the smallest cost that any rule can have in this world; None if it is not known.
        reason: the limit that the solver reached; None if it reached none.
        breaches: where the rule is not valid: the elements, or the completions, that break it.
        needless: elements that the rule marks although no axiom needs it.
    """

    world: str
    valid: bool | None
    cost: int | None
    lower_bound: int | None
    reason: str | None
    breaches: Sequence[Json]
    needless: Sequence[Json]


class Solved(Result):
    """The result of judging a rule in finite worlds.

    Attributes:
        verdict: "consistent" (valid in every world), "inconsistent", "malformed" or "undecided" (the
            solver reached a limit in a world, and the rule is wrong in no other one).
        reason: an explanation of the verdict; "" if the rule is consistent.
        rule: the rule as it was read; "" if it is malformed.
        cost: the sum of the costs; None if one of them is not known.
        lower_bound: the sum of the lower bounds; None if one of them is not known.
        worlds: the result in each world, in order; empty if the rule is malformed.
    """

    verdict: str
    reason: str
    rule: str
    cost: int | None
    lower_bound: int | None
    worlds: Sequence[WorldResult]


class JudgedRows(Result):
    """The labels that a sentence gives to rows.

    Attributes:
        how: "exact" (the sentence is an exact rule, applied without a model), "model", or
            "needs_model" (it is no exact rule, and no model was named).
        reason: why the sentence is no exact rule; "" if it is one.
        labels: the label of each row, in order; None where the sentence gives none.
        undefined: number of rows without a label, by reason.
        right: number of rows whose label is the one in the data; None if the data has no labels, or
            nothing could apply the sentence.
        covered: number of rows to which the sentence gives a label.
        of: number of rows.
        accuracy: `right` divided by `of`; None if `right` is None.
        tokens: tokens that the model read and wrote; 0 without a model.
    """

    how: str
    reason: str
    labels: Sequence[str | None]
    undefined: Mapping[str, int]
    right: int | None
    covered: int
    of: int
    accuracy: float | None
    tokens: int
