"""The result classes of the commands in `commands/session`, for data in a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json
from ..results import Metric, Result, extra_keys, optional_key
from ..score.effect_results import Effect


class SessionRow(Result):
    """A session in the list that `peirce sessions` prints.

    Attributes:
        fields: further fields that the session recorded at its end, such as seconds, digest, cause
            and spending.
        problems: number of problems.
        problems_done: number of problems that were finished.
        problems_failed: number of problems that failed.
        data: name and hash of the file with the problems; None for generated problems.
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


class SessionStatus(Result):
    """The state of a session, running or not, as `peirce status` prints it.

    Attributes:
        status: running, paused or stopping while a process runs the session; otherwise done,
            interrupted, budget or failed.
        store: path of the store.
        pid: id of the process that runs the session; 0 if none does.
        problems: number of problems; done, failed and open say how many ended or wait.
        steps: number of finished steps.
        verdicts: number of hypotheses by verdict.
        usage: calls and tokens (calls, tokens_in, tokens_out, tokens_cached), and cost_usd if the
            session has prices.
        seconds: seconds that the session has run, in all its runs.
        concurrency: number of problems that run at the same time; None in a session that an older
            version recorded.
        budget_tokens: maximum number of tokens; None for no limit.
        budget_usd: maximum cost in US dollars; None for no limit.
        in_flight: number of calls of models and tools that are being made.
        running: one {problem, step} for each running problem, with its last finished step.
        questions: one {problem, question, since} for each question that waits for a person.
        log: path of the log of a session that runs without a terminal; otherwise "".
        cause: why the session ended early; absent from the JSON if there is no reason.
        note: what `hint` has to say, for example that the model reads no hints; absent from the JSON
            otherwise.
    """

    session: str
    status: str
    store: str
    pid: int
    task: str | None
    method: str | None
    model: str | None
    problems: int
    done: int
    failed: int
    open: int
    steps: int
    verdicts: Mapping[str, int]
    usage: Mapping[str, Json]
    seconds: float
    concurrency: int | None
    budget_tokens: int | None
    budget_usd: float | None
    in_flight: int
    running: Sequence[Mapping[str, Json]]
    questions: Sequence[Mapping[str, Json]]
    log: str
    cause: str = optional_key(default_factory=str)
    note: str = optional_key(default_factory=str)


class ProblemRow(Result):
    """A problem of a session, as `peirce show` lists it.

    Attributes:
        cause: why the problem ended.
        reason: why the model had no further hypothesis, in its own words; otherwise "".
        steps: number of steps.
        shown: number of shown observations.
        hidden: number of hidden observations.
        verdicts: number of hypotheses by verdict.
        breaches: number of breaches of the answer contract (the rules for an answer in the prompt)
            by kind.
        malformed: number of malformed hypotheses by reason.
        repaired: number of faults of form, by kind, in answers that were read all the same; absent
            from the JSON if there are none.
        inference: for labelled text, the strategy that predicted labels with the bank, and the
            accuracy and F1 of these predictions by split; None if nothing was predicted.
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
    repaired: Mapping[str, int] = optional_key(default_factory=dict)
    inference: Mapping[str, Json] | None = None


class HypothesisRow(Result):
    """A hypothesis or a malformed answer, as `peirce show` lists it.

    Attributes:
        path: the path of the model call that gave the answer, such as step/3/propose/0.
        reason: why the hypothesis is not accepted; "" if it is accepted.
        hypothesis: the text of the hypothesis; None for a malformed answer.
        breaches: breaches of the answer contract (the rules for an answer in the prompt).
        coverage: share of the sample space on which an earlier hypothesis makes the same
            prediction.
        observations: for each shown observation, whether the hypothesis is right; None if its
            prediction is undefined.
        hidden: for each hidden observation, whether the hypothesis is right; None if its prediction
            is undefined.
        undefined: number of inputs of the sample space for which the hypothesis predicts nothing,
            by reason.
        answer: the complete answer of the model.
        repaired: number of faults of form, by kind, with which the answer was read all the same,
            tool calls in its text included; absent from the JSON if there are none.
        summary: the hypothesis with long lists shortened, as the screen shows it; None, and absent
            from the JSON, if no list is long.
        found_by: who gave the answer, as in `Finding`; None, and absent from the JSON, if only one
            model answers in the session.
        after_hint: the newest hint of a person that the model had read when it gave the answer;
            None, and absent from the JSON, without one.
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
    repaired: Mapping[str, int] = optional_key(default_factory=dict)
    summary: str | None = optional_key(default_factory=lambda: None)
    found_by: str | None = optional_key(default_factory=lambda: None)
    after_hint: str | None = optional_key(default_factory=lambda: None)


class CallRow(Result):
    """A call of a model or tool, or a text from a person, as `peirce show --calls` lists it.

    Attributes:
        path: the path of the call in the session, such as step/3/propose/0.
        kind: model, tool or human.
        repeats: id of the session whose recorded answer was used instead of a new call; otherwise
            "".
        cost_usd: cost of a model call in US dollars, if the session has prices.
        texts: for the kind human, the hints or the answer of the person; absent from the JSON
            otherwise.
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
    texts: Sequence[str] = optional_key(default_factory=list)


class BankRow(Result):
    """A hypothesis in a session's bank, with its statistics.

    A visit is an application of the hypothesis to one shown observation.

    Attributes:
        rank: the rank in the bank; the best hypothesis has rank 1.
        hypothesis: digest of the hypothesis.
        accuracy: share of the visits in which the hypothesis was right; None before the first
            visit.
        visits: number of visits.
        reward: accuracy plus a bonus for few visits. A running session ranks the bank by reward.
        t: time of the last visit, as the number of observations that the session had visited.
        covered: number of visits in which the hypothesis made a prediction.
        right: indices of the observations on which the hypothesis was right.
        effects: with `--effects`, the effects of a sentence on labelled rows; empty if only a model
            could apply it.
        summary: the text with long lists shortened, as the screen shows it; None, and absent from the
            JSON, if no list is long.
        found_by: who found the hypothesis first, as in `Finding`; None, and absent from the JSON, if
            only one model answers in the session.
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
    effects: Sequence[Effect] | None = None
    summary: str | None = optional_key(default_factory=lambda: None)
    found_by: str | None = optional_key(default_factory=lambda: None)


class BankStep(Result):
    """A step of a session that changed its bank, as `peirce bank --history` lists it.

    Attributes:
        t: time of the last visit in the step, as the number of observations visited so far.
        size: number of hypotheses in the bank after the step.
        entered: texts of the hypotheses that were added.
        left: texts of the hypotheses that were removed.
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
    """The smallest and the largest number of calls that one role of a session may make."""

    least: int
    most: int


class Forecast(Result):
    """The number of calls that a session would make.

    Attributes:
        calls: the smallest and the largest number of calls, by role (such as proposer or judge).
        prompt_tokens: for labelled text, the estimated length of the longest first prompt.
        protocol: the name of the protocol, the options that differ from it ("changed") and those that
            do not apply ("unused"); None, and absent from the JSON, without a protocol.
        judge: the model that labels texts; None, and absent from the JSON, where this is the proposer
            or none.
        ask_human: whether the session may ask a person. Each answer of a person then allows as many
            further answers of the model, so `calls` holds for a problem only until the first one;
            absent from the JSON if false.
    """

    task: str
    method: str
    model: str
    seed: int
    problems: int
    calls: Mapping[str, CallRange]
    prompt_tokens: int | None = None
    protocol: Mapping[str, Json] | None = optional_key(default_factory=lambda: None)
    judge: str | None = optional_key(default_factory=lambda: None)
    ask_human: bool = optional_key(default_factory=bool)


class SweepRow(Result):
    """A session of a sweep.

    Attributes:
        axes: the values that distinguish it from the other sessions, by setting.
        session: the id of the session; None if it was not started or failed before it was stored.
        status: done, interrupted, budget or failed; open if it was not started.
        digest: the digest of the session; None without a session.
        metrics: the metrics of the session, by name.
        error: why the session failed, in one sentence; "" if it did not.
    """

    axes: Mapping[str, Json]
    session: str | None
    status: str
    task: str
    method: str
    model: str
    seed: int
    digest: str | None
    problems: int
    seconds: float
    metrics: Mapping[str, Metric]
    usage: Mapping[str, Json]
    error: str = ""


class Difference(Result):
    """A difference between a replay and the stored session.

    Attributes:
        problem: the problem; "" if the difference belongs to no problem.
        step: the step; 0 if the difference belongs to no step.
        field: name of the value that differs.
        recorded: the stored value.
        replayed: the value that the replay computed.
    """

    problem: str
    step: int
    field: str
    recorded: Json
    replayed: Json


class Replay(Result):
    """The result of `peirce replay`. If `differences` is empty, the replay reproduced the
    session.
    """

    session: str
    steps: int
    differences: Sequence[Difference]


class FileReading(Result):
    """One way to read a data file as problems of a task.

    Attributes:
        kind: labelled_rows, pairs, worlds, published_problems or numeric_target.
        task: the task that can read the file in this way; None if no task can.
        options: the options of `peirce run` for this reading, including "data".
        summary: a description of the content, with counts.
        why: the evidence for this reading.
        command: the command that runs a session with this reading; "" if no task can read the file.
    """

    kind: str
    task: str | None
    options: Mapping[str, Json]
    summary: str
    why: str
    command: str


class Recognition(Result):
    """The result of `recognize`: the possible readings of a data file.

    Attributes:
        kind: the kind of the first reading; "unsure" if no reading is certain.
        why: the evidence for the first reading, or why no reading is certain.
        command: the command that runs a session with the first reading; "" if no reading is
            certain, or no task can read the file.
        readings: the possible readings, the most likely first.
        warnings: sentences about problems of the data that may make rules useless, such as columns
            that reveal the label.
        advice: what to do if no reading is certain, or no task can read the file.
    """

    file: str
    kind: str
    why: str
    command: str
    readings: Sequence[FileReading]
    warnings: Sequence[str]
    advice: str
