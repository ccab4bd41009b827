"""The nouns of Peirce and the Protocols between its rooms.

A session holds problems. A problem goes in steps. A step holds calls (one model
or tool request each); a model's call gives an answer; an answer holds 0..n
hypotheses; each hypothesis gets one verdict. Every noun here is frozen, typed
and serialisable; nothing here imports another room.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:  # the command line shows its help without numpy
    import numpy as np
    from numpy.typing import NDArray

Json: TypeAlias = Any  # None | bool | int | float | str | list[Json] | dict[str, Json]
Keep: TypeAlias = Literal["values", "codes"]
Digest: TypeAlias = str


def canonical_json(value: Json) -> str:
    """One text for one JSON value: sorted keys, no blanks, UTF-8 kept."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of(value: Json) -> Digest:
    """SHA-256 (hex) of `canonical_json(value)`; how requests, problems and inputs are named."""
    return digest_of_text(canonical_json(value))


def digest_of_text(text: str) -> Digest:
    """`digest_of` of a value whose canonical JSON is at hand."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# --- ends that are expected --------------------------------------------------


class PeirceError(Exception):
    """An expected end: one sentence for the user, and the exit code of the command line."""

    exit_code = 1


class UsageError(PeirceError):
    """What was asked for cannot be: names the value given and the valid choices."""

    exit_code = 2


class DataError(PeirceError):
    """A file that cannot be read as what it should be: names file, line and field."""


class StoreError(PeirceError):
    """The store is locked, of another version, unwritable, or lacks what was asked for."""


class Unavailable(PeirceError):
    """A model or tool that gave no answer. An outage is never a prediction and never a score."""


class SandboxUnavailable(Unavailable):
    """A sandbox that cannot be built or has died; the run stops with the remedy."""

    exit_code = 4


class BudgetSpent(PeirceError):
    exit_code = 3


class Interrupted(PeirceError):
    exit_code = 130


# --- problems ----------------------------------------------------------------


@dataclass(frozen=True)
class Observation:
    """An input with its output (programs), a world (logic), a text with its label (text)."""

    input: Json
    output: Json


@dataclass(frozen=True)
class InputSet:
    """A named list of inputs, known elsewhere by its digest (the name does not count)."""

    name: str
    inputs: tuple[Json, ...]
    weights: tuple[float, ...] | None = None

    def __len__(self) -> int:
        return len(self.inputs)

    @cached_property
    def digest(self) -> Digest:
        return digest_of([self.inputs, self.weights])


@dataclass(frozen=True)
class Problem:
    """All that is known of a problem. Agents see `view()` alone, which has no hidden part."""

    id: str
    task: str
    family: str
    shown: tuple[Observation, ...]
    hidden: tuple[Observation, ...] = ()
    public: Mapping[str, Json] = field(default_factory=dict)  # of the family: a theory, the labels
    secret: Mapping[str, Json] = field(default_factory=dict)  # a reference rule; never in a view
    group: str = ""  # what must stay in one split; the id where empty

    @cached_property
    def digest(self) -> Digest:
        return digest_of(self.as_json())

    def as_json(self) -> Json:
        def pairs(some: Sequence[Observation]) -> list[list[Json]]:
            return [[o.input, o.output] for o in some]

        return {
            "id": self.id,
            "task": self.task,
            "family": self.family,
            "shown": pairs(self.shown),
            "hidden": pairs(self.hidden),
            "public": dict(self.public),
            "secret": dict(self.secret),
            "group": self.group,
        }

    @staticmethod
    def from_json(data: Json) -> Problem:
        def pairs(some: Json) -> tuple[Observation, ...]:
            return tuple(Observation(i, o) for i, o in some)

        return Problem(
            data["id"],
            data["task"],
            data["family"],
            pairs(data["shown"]),
            pairs(data["hidden"]),
            data["public"],
            data["secret"],
            data["group"],
        )

    def view(self, space: InputSet, earlier: Sequence[Earlier] = ()) -> View:
        return View(self.id, self.task, self.family, self.shown, self.public, space, tuple(earlier))


@dataclass(frozen=True)
class View:
    """What an agent sees of a problem at one step."""

    problem: str
    task: str
    family: str
    shown: tuple[Observation, ...]
    public: Mapping[str, Json]
    space: InputSet  # the sample space S: inputs without outputs
    earlier: tuple[Earlier, ...] = ()

    @property
    def answers(self) -> int:
        """How many of the earlier answers are the proposer's own."""
        return sum(not one.by for one in self.earlier)


@dataclass(frozen=True)
class Earlier:
    """One earlier answer of the problem, as later steps may be shown it."""

    answer: str
    hypotheses: tuple[Hypothesis, ...]  # empty where the answer was malformed
    verdict: Verdict
    feedback: str = ""
    by: str = ""  # who gave it, where it was not the proposer: "search" mended the one before it


# --- hypotheses and what became of them --------------------------------------


@dataclass(frozen=True)
class Hypothesis:
    """Anything that predicts: `text` is what the oracle takes (source, formula, sentence)."""

    text: str
    description: str = ""
    meta: Mapping[str, Json] = field(default_factory=dict)  # programs: {"entry": name of the def}
    breaches: tuple[str, ...] = ()  # of the answer contract, tolerated and reported

    @cached_property
    def digest(self) -> Digest:
        return digest_of([self.text, dict(self.meta)])


@dataclass(frozen=True)
class Malformed:
    """An answer, or a part of one, that gives no hypothesis; `reason` is a short stable name."""

    reason: str
    detail: str = ""


UNASKED = "not_asked"  # the verdict of predictions that nobody was asked for


@dataclass(frozen=True)
class Predictions:
    """Of one hypothesis over an `InputSet` of n inputs.

    codes: int64 (n,), an image of the prediction under the equality rule, 0 where undefined.
    reasons: uint8 (n,), 0 where defined, else 1 + an index into `reason_names`.
    verdict: "ok", or why the batch has no result as a whole ("too_slow", "memory", "crashed", …):
    then every input is undefined for that reason.
    limited: a limit touched the result.
    """

    codes: NDArray[np.int64]
    reasons: NDArray[np.uint8]
    reason_names: tuple[str, ...] = ()
    verdict: str = "ok"
    limited: bool = False

    @property
    def defined(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.reasons == 0
        return found

    def undefined(self) -> dict[str, int]:
        """Counts of undefined inputs by reason, most frequent first."""
        import numpy as np

        counts = np.bincount(self.reasons, minlength=len(self.reason_names) + 1)[1:]
        pairs = [(name, int(c)) for name, c in zip(self.reason_names, counts, strict=False) if c]
        return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


@dataclass(frozen=True)
class Agreement:
    """Of one hypothesis with m observations: True, False or None (undefined) for each.

    got: m entries, {"value": Json} or {"undefined": reason}.
    """

    marks: tuple[bool | None, ...]
    got: tuple[Mapping[str, Json], ...]
    verdict: str = "ok"
    detail: Mapping[str, Json] = field(default_factory=dict)  # logic: "cost" and "bound", summed

    @property
    def gap(self) -> float | None:
        """Cost above the lower bound, an observation; None where either is not known."""
        cost, bound = self.detail.get("cost"), self.detail.get("bound")
        if cost is None or bound is None or not self.marks:
            return None
        return float(cost - bound) / len(self.marks)


class Verdict(StrEnum):
    MALFORMED = "malformed"
    INCONSISTENT = "inconsistent"
    REDUNDANT = "redundant"
    ACCEPTED = "accepted"

    @property
    def consistent(self) -> bool:
        """The consistent hypotheses of a problem are the accepted and the redundant ones."""
        return self in (Verdict.REDUNDANT, Verdict.ACCEPTED)


# --- calls -------------------------------------------------------------------

Message: TypeAlias = Mapping[str, Json]  # OpenAI chat form: role, content, tool_calls, tool_call_id


@dataclass(frozen=True)
class ToolSpec:
    name: str
    description: str
    parameters: Mapping[str, Json]  # a JSON schema


@dataclass(frozen=True)
class ToolCall:
    id: str
    name: str
    arguments: Mapping[str, Json] | str  # the raw text where it is no JSON object


@dataclass(frozen=True)
class Usage:
    """Tokens of one call, or a sum of them; None nowhere: what is not told counts 0."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_reasoning: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.tokens_cached + other.tokens_cached,
            self.tokens_reasoning + other.tokens_reasoning,
        )


@dataclass(frozen=True)
class Reply:
    """What a proposer says: text or tool calls; `finish` is "stop", "tool_calls", "length",
    "exhausted" (it has nothing left to say: the problem ends) or "no_tools" (it cannot be given
    tools: it is asked again without)."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"
    usage: Usage = Usage()
    retries: int = 0
    meta: Mapping[str, Json] = field(
        default_factory=dict
    )  # recorded: last_of_turn, fields of the turn


@dataclass(frozen=True)
class CallKey:
    """Where a call stands: structural, never an order of arrival. path: `step/3/propose/0`."""

    session: str
    problem: str
    path: str


@dataclass(frozen=True)
class Outcome:
    """What a call came to, as the journal keeps it: JSON, and arrays named beside it. repeats: the
    session whose recorded call answered it instead of the model, which then took no tokens."""

    response: Json
    vectors: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    usage: Usage = Usage()
    seconds: float = 0.0
    retries: int = 0
    repeats: str = ""


# --- what a step leaves in the store ----------------------------------------


EventKind: TypeAlias = Literal["visit", "enter", "drop", "cut"]


@dataclass(frozen=True)
class BankEvent:
    """The bank is a log of what happened to it at time t.

    kind: "visit", the hypothesis (its `Hypothesis.digest`) was right or wrong on an observation, or
    did not apply to it (None); "enter", it came in without a visit; "drop", it left, as it says the same
    as another; "cut", the bank was cut to its best, and `observation` says how many (-1: all stay,
    and what comes now is newer than they): hypothesis and texts are empty then.
    """

    hypothesis: Digest
    text: str
    description: str
    observation: int
    right: bool | None
    t: int
    kind: EventKind = "visit"


@dataclass(frozen=True)
class Judged:
    """A hypothesis (or a malformed answer) with its verdict and all its predictions.

    coverage: share of S whose prediction an earlier answer gave already (GEAR 4.1); None where
    malformed. space: codes over S; shown, hidden: agreements with the observations.
    """

    verdict: Verdict
    reason: str
    hypothesis: Hypothesis | None = None
    coverage: float | None = None
    shown: Agreement | None = None
    hidden: Agreement | None = None
    space: Predictions | None = None
    bad: bool = False  # counts towards the stopping rule


@dataclass(frozen=True)
class Answered:
    path: str  # of the call that gave it
    text: str
    judged: tuple[Judged, ...]


@dataclass(frozen=True)
class StepRecord:
    problem: str
    step: int
    answers: tuple[Answered, ...]
    fields: Mapping[str, Json] = field(default_factory=dict)  # the method's own: a chosen rule
    events: tuple[BankEvent, ...] = ()


@dataclass(frozen=True)
class Summary:
    """What a paper came to, for prompts. source: its file's name."""

    source: str
    title: str
    summary: str


# --- limits ------------------------------------------------------------------


@dataclass(frozen=True)
class Limits:
    """Of the sandbox. A limit on one input gives that input a reason; a limit on the batch gives
    the whole hypothesis one verdict. Passes of `while` loops are counted, which no clock decides;
    CPU times are for what that does not catch."""

    loop_steps: int = 50_000  # one input
    recursion: int = 1_000  # one input, frames
    input_cpu_s: float = 1.0
    value_bytes: int = 100_000  # one output in canonical form
    batch_loop_steps: int = 100_000_000  # batch, from here on: a few seconds of CPU
    cpu_s: float = 20.0
    wall_s: float = 120.0
    memory_mb: int = 512
    output_bytes: int = 32_000_000


@dataclass(frozen=True)
class Batch:
    """One hypothesis run over one input set of n inputs.

    verdict: "ok" or the reason why there is no result: "syntax", "too_slow", "memory",
    "output_too_large", "protocol", "crashed", "no_function". codes, reasons, reason_names: as in
    `Predictions` (keep="codes"). values: n entries, {"value": Json} or {"undefined": reason}
    (keep="values"). detail: at most 500 characters.
    """

    verdict: str
    codes: NDArray[np.int64]
    reasons: NDArray[np.uint8]
    reason_names: tuple[str, ...] = ()
    values: tuple[Mapping[str, Json], ...] | None = None
    detail: str = ""
    limited: bool = False
    cpu_s: float = 0.0


@dataclass(frozen=True)
class Solution:
    """What the solver says of one rule over n inputs.

    worlds: n entries {"valid", "cost", "bound", "reason"}, and where it was to be explained
    "breaches" and "needless" (tools/logic/explaining.py); empty for an extension.
    codes: int64 (n,), whether the rule covers the element in no, every or some completions (0, 1,
    2), for an extension. reasons, reason_names: as in `Predictions`.
    """

    worlds: tuple[Mapping[str, Json], ...] = ()
    codes: NDArray[np.int64] = field(default_factory=lambda: _none("int64"))
    reasons: NDArray[np.uint8] = field(default_factory=lambda: _none("uint8"))
    reason_names: tuple[str, ...] = ()


def _none(kind: str) -> NDArray[Any]:
    import numpy as np

    return np.zeros(0, kind)


# --- the Protocols between rooms ---------------------------------------------


class Execute(Protocol):
    async def __call__(
        self, source: str, entry: str, inputs: InputSet, keep: Keep, equality: Json = None
    ) -> Batch:
        """equality: the task's rule for codes, where it has one (sandbox/inside/tolerance.py).
        Raises Unavailable; an outage is never a prediction."""
        ...


Wanted: TypeAlias = Literal["worth", "explained", "extension"]


class Solve(Protocol):
    async def __call__(self, theory: Json, rule: str, inputs: InputSet, wanted: Wanted) -> Solution:
        """theory: its JSON form with the regime; rule: a formula in scope, as it is written.
        inputs: worlds, or for an extension pairs [world, element]. Raises Unavailable; a limit is a
        reason in the answer."""
        ...


class Judge(Protocol):
    async def __call__(
        self, sentence: str, texts: InputSet, told: Mapping[str, Json]
    ) -> Predictions:
        """Which label the sentence gives each text: codes are indices of told["labels"] (told:
        `View.public`). Undefined for the reasons "does_not_apply", "unreadable" (the judge's answer
        names no label) and "needs_model" (no exact rule, and no model judges here). Raises
        Unavailable."""
        ...


@dataclass(frozen=True)
class Oracles:
    """What applies hypotheses; injected by the runner. None: this session has no such oracle."""

    execute: Execute | None = None
    solve: Solve | None = None
    judge: Judge | None = None


class FamilyWords(Protocol):
    """A family's part of every prompt. Pure text, no model's name."""

    @property
    def instructions(self) -> str:
        """What a hypothesis is, in a few lines."""
        ...

    def contract(self, answer_format: str) -> str: ...
    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        """The JSON schema of a whole answer; None for a format that is no JSON."""
        ...

    def show_observation(self, number: int, observation: Observation) -> str: ...
    def show_hypothesis(self, hypothesis: Hypothesis) -> str: ...
    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """The first failing observations with what was expected and what came."""
        ...

    def compact(self) -> FamilyWords:
        """The same in few words, for small models: how an answer is written in one line, an
        observation, a hypothesis and a feedback in one line each, and of what is said of the
        problem only what its observations leave open."""
        ...


class Family(Protocol):
    """What GEAR needs of a domain: S, an oracle, equality of predictions, a size measure."""

    name: str
    words: FamilyWords
    answer_formats: tuple[str, ...]  # the first is the default
    oracle: Literal["execute", "solve", "judge"]  # what applies its hypotheses
    opens_hidden: bool  # False: hidden parts wait for `check` and `eval` (logic)

    def strictly(self) -> Family:
        """The same family, for which a breach of the answer contract makes an answer malformed
        (reason `breach_` and the breach); by default breaches are noted in the hypothesis."""
        ...

    def parse(
        self, view: View, answer: str, answer_format: str
    ) -> Sequence[Hypothesis | Malformed]: ...

    def read(self, text: str, view: View) -> Hypothesis | Malformed:
        """A hypothesis that a user brings bare (`check`): the source, the formula, the sentence."""
        ...

    async def agree(
        self,
        hypothesis: Hypothesis,
        observations: Sequence[Observation],
        view: View,
        oracles: Oracles,
    ) -> Agreement: ...

    async def predict(
        self, hypotheses: Sequence[Hypothesis], inputs: InputSet, view: View, oracles: Oracles
    ) -> Sequence[Predictions]: ...

    def consistent(self, agreement: Agreement) -> bool: ...

    def tools(self, view: View, oracles: Oracles) -> Sequence[Any]:
        """LangChain tools that a model may call before it answers."""
        ...


@runtime_checkable
class Measuring(Protocol):
    """A family that says more of a hypothesis than whether it is consistent: what it costs."""

    def by(self, evaluator: str) -> Family:
        """The same family as an evaluator reads hypotheses. Raises UsageError for another name."""
        ...

    def seen(self, problem: Problem, evaluator: str) -> Problem:
        """The problem as an evaluator reads it."""
        ...

    def said(self, view: View, answer: str) -> str:
        """The hypothesis of a raw answer as it was given; "" where there is none."""
        ...

    def measures(
        self,
        problem: Problem,
        text: str,
        shown: Agreement | None,
        hidden: Agreement | None,
        evaluator: str,
    ) -> dict[str, Json]:
        """text: the hypothesis as it was given; shown, hidden: None where it was not read."""
        ...


class Task(Protocol):
    """A source of problems: one file in tasks/."""

    name: str
    family: str
    about: str  # one line

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        """Published or user's files as they are, plain or gzip. Raises DataError."""
        ...

    def generate(self, count: int, seed: int) -> list[Problem]: ...

    def space(self, problem: Problem, seed: int) -> InputSet: ...


class Proposer(Protocol):
    """Who answers."""

    def settings(self) -> Json:
        """What is recorded in the session; no secret. "endpoint" (where the model is reached) and
        "transport" do not count as shaping answers; answers of a proposer that has an "endpoint"
        are cached across sessions. "tools": False for a model that cannot be given any."""
        ...

    async def propose(
        self,
        view: View,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int,
        schema: Mapping[str, Json] | None = None,
    ) -> Reply:
        """schema: the JSON schema that the text of an answer has to fit, for what can hold a model
        to one; an answer that does not is read tolerantly all the same. Raises Unavailable when
        there is no answer to be had."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class Repairer(Protocol):
    """Who mends a hypothesis that the oracle found wanting."""

    def settings(self) -> Json:
        """What is recorded in the session, as of a `Proposer`."""
        ...

    async def repair(self, view: View, text: str) -> Reply:
        """A better hypothesis, as an answer in the session's format; "exhausted" where there is
        none. text: the hypothesis as the oracle takes it, or as it was given where it is none; ""
        where the answer held nothing. view: with that answer as the last of the earlier ones.
        Raises Unavailable."""
        ...

    async def close(self) -> None: ...


class Journal(Protocol):
    async def once(
        self,
        key: CallKey,
        kind: Literal["model", "tool"],
        request: Json,
        make: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        """The recorded outcome of `key`, or that of `make`, durable before this returns."""
        ...


class Ledger(Protocol):
    """Where a finished step goes: the store, or replay's comparison."""

    async def step(self, record: StepRecord) -> None: ...

    async def end(self, problem: str, status: Literal["done", "failed"], cause: str) -> None: ...


class Sandbox(Protocol):
    """Untrusted Python over a set of inputs, under limits. `process` and `docker` answer alike."""

    async def put(self, inputs: InputSet) -> Digest: ...

    async def run(
        self,
        source: str,
        entry: str,
        inputs: Digest,
        keep: Keep,
        limits: Limits,
        equality: Json = None,
    ) -> Batch: ...

    def layers(self) -> Mapping[str, bool]: ...

    async def close(self) -> None: ...
