"""What stands in a store, as the public functions return it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Result, rest


class SessionRow(Result):
    """A session of a store.

    fields: what else the session recorded when it ended, as seconds, digest, cause and spending; data:
    the file that its problems come from, None where they were generated.
    """

    fields: Mapping[str, Json] = rest()
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
    """A problem of a session.

    cause: why it ended; reason: what the model said when it had nothing left to say. shown, hidden:
    how many pairs. verdicts, breaches, malformed: how often each. inference: of labelled text, how the
    bank was read and how good that is; None where it was not read.
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
    """A hypothesis, or an answer that holds none, in the order of the steps.

    observations, hidden: whether it is right on each pair, None where that is undefined. undefined: on
    how many inputs of the sample space it predicts nothing, by reason.
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
    """A model or tool call. repeats: the session whose answer it repeats, else "". cost_usd: of a model
    call, where the session has prices."""

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
    """A hypothesis that a session keeps.

    hypothesis: its digest. accuracy: None before the first visit. covered: visits on which it applied.
    t: the time of its last visit. right: the observations that it was right on.
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
    """A step in which a bank changed. size: of the bank after it. reward, accuracy: the highest after
    it, None before the first visit."""

    problem: str
    step: int
    t: int
    size: int
    entered: Sequence[str]
    left: Sequence[str]
    reward: float | None
    accuracy: float | None


class CallRange(Result):
    """The fewest and the most calls that a role of a session may make."""

    least: int
    most: int


class Forecast(Result):
    """What a session would take, before anything is asked. calls: by role. prompt_tokens: of labelled
    text, the estimate of the longest first prompt."""

    task: str
    method: str
    model: str
    seed: int
    problems: int
    calls: Mapping[str, CallRange]
    prompt_tokens: int | None = None


class Difference(Result):
    """Where a replay departs from the record. step: 0 for what belongs to no step; problem: "" for
    what belongs to none."""

    problem: str
    step: int
    field: str
    recorded: Json
    replayed: Json


class Replay(Result):
    """What a replay came to; without differences it reproduced the session."""

    session: str
    steps: int
    differences: Sequence[Difference]
