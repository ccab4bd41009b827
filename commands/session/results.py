"""Result classes for the records of a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Result, extra_keys


class SessionRow(Result):
    """A session in the list that `peirce sessions` prints.

    Attributes:
        fields: further fields that the session recorded at its end, such as seconds, digest, cause
            and spending.
        data: the file that its problems come from; None where they were generated.
    """

    fields: Mapping[str, Json] = extra_keys()
    session: str
    created: str
    status: str
    settings: Mapping[str, Json]
    versions: Mapping[str, Json]
    problems: int
    problems_done: int
    problems_failed: int
    task: str | None
    method: str | None
    model: str | None
    seed: int | None
    data: Json


class ProblemRow(Result):
    """A problem of a session, as `peirce show` lists it.

    Attributes:
        cause: why it ended.
        reason: the reason that the model gave when it had no further hypothesis.
        shown: number of shown observations.
        hidden: number of hidden observations.
        verdicts: number of answers by verdict.
        breaches: number of breaches of the answer contract by kind.
        malformed: number of malformed answers by reason.
        inference: for labelled text, how the bank was read and how well that predicts; None where
            it was not read.
    """

    problem: str
    status: str
    cause: str
    reason: str
    steps: int
    shown: int
    hidden: int
    verdicts: Mapping[str, int]
    breaches: Mapping[str, int]
    malformed: Mapping[str, int]
    inference: Mapping[str, Json] | None = None


class HypothesisRow(Result):
    """A hypothesis or a malformed answer, as `peirce show` lists it.

    Attributes:
        observations: whether it is right on each shown pair; None where it is undefined there.
        hidden: the same for the hidden pairs.
        undefined: number of inputs of the sample space for which it predicts nothing, by reason.
    """

    problem: str
    step: int
    path: str
    verdict: str
    reason: str
    description: str
    hypothesis: str | None
    breaches: Sequence[str]
    meta: Mapping[str, Json]
    coverage: float | None
    observations: Sequence[bool | None]
    hidden: Sequence[bool | None]
    undefined: Mapping[str, int]
    answer: str


class CallRow(Result):
    """A call of a model or tool, as `peirce show --calls` lists it.

    Attributes:
        repeats: the session whose answer it repeats, else "".
        cost_usd: cost of a model call, where the session has prices.
    """

    problem: str
    path: str
    kind: str
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    tokens_reasoning: int
    seconds: float
    retries: int
    started: Json
    repeats: str
    cost_usd: float | None = None


class BankRow(Result):
    """A hypothesis in a session's bank.

    Attributes:
        hypothesis: its digest.
        accuracy: None before the first visit.
        t: time of its last visit.
        covered: number of visits on which it applied.
        right: indices of the observations on which it was right.
    """

    problem: str
    rank: int
    hypothesis: str
    text: str
    description: str
    accuracy: float | None
    visits: int
    reward: float
    t: int
    covered: int
    right: Sequence[int]


class BankStep(Result):
    """A step in which a bank changed, as `peirce bank --history` lists it.

    Attributes:
        size: number of hypotheses after the step.
        reward: highest reward after the step; None before the first visit.
        accuracy: highest accuracy after the step; None before the first visit.
    """

    problem: str
    step: int
    t: int
    size: int
    entered: Sequence[str]
    left: Sequence[str]
    reward: float | None
    accuracy: float | None


class CallRange(Result):
    """The smallest and largest number of calls that a role of a session may make."""

    least: int
    most: int


class Forecast(Result):
    """The number of calls that a session would make.

    Attributes:
        calls: fewest and most calls by role.
        prompt_tokens: for labelled text, the estimated length of the longest first prompt.
    """

    task: str
    method: str
    model: str
    seed: int
    problems: int
    calls: Mapping[str, CallRange]
    prompt_tokens: int | None = None


class Difference(Result):
    """A difference between a replay and the record.

    Attributes:
        problem: "" where the difference belongs to no problem.
        step: 0 where the difference belongs to no step.
    """

    problem: str
    step: int
    field: str
    recorded: Json
    replayed: Json


class Replay(Result):
    """The result of `peirce replay`. If it has no differences, the replay reproduced the
    session.
    """

    session: str
    steps: int
    differences: Sequence[Difference]
