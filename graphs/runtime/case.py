"""`Case`, the working data of one problem in a session, which the nodes of every graph use.

The state of the graph contains only counters. All other results of earlier steps (the earlier
answers, the covered part of the sample space, the bank) are kept in memory in the `Case`. When a
session is resumed, running the same graph on the journal rebuilds the `Case`.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol

from ...agents.prompts.protocol import select_wording
from ...config import UNRECORDED, MethodSettings, RepairSettings, TextSettings
from ...records import (
    RETRY_LISTENER,
    Agreement,
    Apply,
    BankEvent,
    Batch,
    CallKey,
    CallKind,
    Digest,
    Family,
    FamilyWords,
    Hypothesis,
    InputSet,
    Journal,
    Json,
    JudgedAnswer,
    JudgedHypothesis,
    Ledger,
    Limits,
    Malformed,
    Message,
    Observation,
    OpensOracle,
    Oracles,
    Outcome,
    PastAnswer,
    Predictions,
    Problem,
    Proposer,
    Repairer,
    Reply,
    Solution,
    Summary,
    Unavailable,
    View,
    digest_of,
)
from ...store import AnswerCache
from ...store.bank import Bank
from ...tools.gear.scores import Coverage
from .. import settings_of
from .budget import Budget
from .call_gate import CallGate
from .observation_choice import allowed_characters
from .queries import PROPOSER, Role, decode_outcome
from .stopping import Progress

if TYPE_CHECKING:
    from ...agents.prompts.text import TextPrompts
    from ..inference.reading import Entry
    from .hints import Mailbox
    from .judge_calls import RowJudge

Event = Mapping[str, Json]


@dataclass(frozen=True)
class SessionSettings:
    """The settings that affect how a session works on each problem.

    Args:
        seed: The seed of the session.
        method: The settings of the method.
        text: The settings for labelled text; None for other tasks.
        limits: The resource limits for running hypotheses.
    """

    seed: int = 0
    method: MethodSettings = field(default_factory=MethodSettings)
    text: TextSettings | None = None
    limits: Limits = field(default_factory=Limits)

    @staticmethod
    def from_record(record: Mapping[str, Json]) -> SessionSettings:
        """Return the settings from the record of a stored session.

        Raises:
            UsageError: The method does not exist.
        """
        of_method = settings_of(record["method"])
        known = {
            name: record[name] for name in of_method.model_fields if record.get(name) is not None
        }
        for name, value in UNRECORDED.items():
            if name in of_method.model_fields:
                known.setdefault(name, value)
        text = record.get("text")
        # Sessions that were recorded before this setting existed read answers without repair.
        known.setdefault("lenient", False)
        return SessionSettings(
            seed=record.get("seed") or 0,
            method=of_method(**known),
            text=None if text is None else TextSettings(**text),
            limits=Limits(**record.get("limits", {})),
        )


@dataclass
class Case:
    """The context of a method's graph: everything that the nodes need to work on one problem.

    A `Case` belongs to one problem in one session. It holds the settings and open resources of the
    session, the results of earlier steps, and the data of the current step.
    `graphs.runtime.memory.make_case` makes a `Case` without a store.
    """

    session: str
    problem: Problem
    space: InputSet
    family: Family
    settings: SessionSettings
    model: Json  # the proposer's settings as the session records them; part of each request
    journal: Journal
    ledger: Ledger
    repairer_model: Json = None  # the repairer's settings as the session records them
    others: Mapping[str, Role] = field(default_factory=dict)  # the models of other roles;
    # the proposer plays a role that is missing here
    proposer: Proposer | None = None  # None: only the journal answers
    repairer: Repairer | None = None  # None: only the journal answers for the repairer
    oracle: Apply | None = None  # None: only the journal answers tool calls
    cache: AnswerCache | None = None  # answers of other sessions; None to make every call
    budget: Budget = field(default_factory=Budget)
    mailbox: Mailbox | None = None  # the hints of people; None: only those in the journal
    gate: CallGate | None = None  # limits the requests in flight, and holds calls in a pause
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    emit: Callable[[Event], None] = lambda event: None
    # called with True when the problem begins to wait for a person, and then with False
    on_waiting: Callable[[bool], None] = lambda begins: None

    # Memory of the problem.
    past_answers: list[PastAnswer] = field(default_factory=list)
    progress: Progress = field(default_factory=Progress)
    bank_clock: int = 0
    banked_digests: set[Digest] = field(default_factory=set)
    # hypotheses after a rewriting of the reply
    rewritten: list[Hypothesis | Malformed] | None = None
    # for hypogenic: rows that the next prompt for new hypotheses shows
    wrong_rows: list[int] = field(default_factory=list)
    literature_candidates: list[JudgedHypothesis] = field(
        default_factory=list
    )  # for union: hypotheses from literature
    # hypotheses of a stored bank, which is read instead of this session's bank
    stored_entries: list[Entry] | None = None
    # summaries of the papers, once they are read
    summaries: list[Summary] = field(default_factory=list)
    tools_refused: bool = False
    # characters that a prompt may have; None until the model refused a longer one
    prompt_limit: int | None = None
    # results of the found hypotheses on the observations that prompts list
    found_results: list[Agreement] = field(default_factory=list)
    asked_role: str = PROPOSER  # the role that proposes now (second_proposer.py)
    has_accepted: bool = False  # whether an answer of a recorded step was accepted
    hints_read: int = 0  # texts of a person that prompts showed or that answered a question
    hint_characters: int = 0  # of the hints in a prompt
    questions: int = 0  # to a person, so far
    seeds_left: int = 0  # hypotheses that the search may still give before the first request
    # Memory of the current step.
    reply: Reply = field(default_factory=Reply)
    reply_path: str = ""
    tool_turns: list[Message] = field(default_factory=list)
    judged_answers: list[JudgedAnswer] = field(default_factory=list)
    step_fields: dict[str, Json] = field(default_factory=dict)
    # what is wrong with the form of the reply, as far as it is known before the reply is judged
    reply_faults: tuple[str, ...] = ()
    events: list[BankEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.begin_conversation()
        self.seeds_left = self.repair_settings.seed_hypotheses
        labels = self.problem.public.get("labels", ())
        alpha = self.text.alpha if self.settings.text else 0.5
        self.bank = Bank(alpha, 1 / len(labels) if labels else 0.0)

    def begin_conversation(self) -> None:
        """Forget the earlier answers, so that prompts do not show them.

        The record of which predictions on the sample space S are already covered is also cleared.
        The bank is kept.
        """
        self.past_answers.clear()
        self.tool_turns.clear()
        self.found_results.clear()
        self.covered = Coverage(len(self.space), self.space.weights)

    @property
    def text(self) -> TextSettings:
        """The settings for labelled text. If the session has none, these are the defaults."""
        return self.settings.text or TextSettings()

    @cached_property
    def prompts(self) -> TextPrompts:
        """The prompts about labelled text: Peirce's default prompts, or the prompts of the data
        set.
        """
        from ...agents.prompts.config_prompts import ConfigPrompts
        from ...agents.prompts.text import DEFAULT_PROMPTS

        return (
            ConfigPrompts.for_problem(self.problem.public)
            if self.text.prompts == "config"
            else DEFAULT_PROMPTS
        )

    @cached_property
    def row_judge(self) -> RowJudge:
        """The judge that labels rows according to a sentence."""
        from .judge_calls import RowJudge

        return RowJudge(self)

    @property
    def shown(self) -> tuple[Observation, ...]:
        """The observations that prompts show and on which hypotheses are judged.

        These are all shown observations of the problem, unless the setting `examples` limits their
        number.
        """
        examples = None if self.settings.text is None else self.settings.text.examples
        return self.problem.shown[:examples]

    def make_view(self) -> View:
        """Return the problem as the proposer may see it, with the earlier answers."""
        return replace(self.problem.make_view(self.space, self.past_answers), shown=self.shown)

    def make_prompt_view(self, view: View) -> View:
        """Return the view whose observations a prompt lists.

        They are all observations of `view`, unless the setting `listed_rows` limits their number.
        """
        most = None if self.settings.text is None else self.settings.text.listed_rows
        return view if most is None else replace(view, shown=view.shown[:most])

    def limit_prompt(self, messages: Sequence[Message]) -> None:
        """Limit the length of later prompts, after the model refused these messages as too long."""
        self.prompt_limit = allowed_characters(messages, self.reply.meta, self.hint_characters)
        self.emit({"type": "too_long", "problem": self.problem.id})

    def sums_visits(self, rows: int) -> bool:
        """Return whether the bank records visits on this number of rows as sums.

        Otherwise, each visit is one event, which names its row.
        """
        text = self.settings.text
        return text is not None and text.listed_rows is not None and rows > text.listed_rows

    def judges_space(self, hypothesis: Hypothesis) -> bool:
        """Return whether the predictions of a hypothesis on the sample space S are computed.

        They are computed unless a model would have to label each text in S. With the setting
        `judge_space`, they are always computed.
        """
        if self.settings.text is None or self.text.judge_space or not self.row_judge.queries_model:
            return True
        return self.row_judge.find_rule(hypothesis.text) is not None

    def get_role(self, name: str) -> Role:
        """Return the model of a role, with the settings that the session records.

        If the role has no model of its own, the proposer plays the role.
        """
        if name == PROPOSER or name not in self.others:
            return Role(self.model, self.proposer)
        return self.others[name]

    @cached_property
    def words(self) -> FamilyWords:
        """The family's prompt texts for the prompt template of the session.

        Raises:
            UsageError: The family has no prompt texts for this template.
        """
        return select_wording(self.family.words, self.settings.method.template)

    @property
    def answer_format(self) -> str:
        """The format in which the model must answer."""
        return self.settings.method.answer_format or self.family.answer_formats[0]

    @property
    def repair_settings(self) -> RepairSettings:
        """The settings that control the repair of answers.

        For a method without repair, these settings turn repair off.
        """
        method = self.settings.method
        return method if isinstance(method, RepairSettings) else RepairSettings()

    def count_faults(self, faults: Sequence[str]) -> None:
        """Count faults of the form of an answer in the record of the current step."""
        counts = dict(self.step_fields.get("repaired", {}))
        for fault in faults:
            counts[fault] = counts.get(fault, 0) + 1
        if counts:
            self.step_fields["repaired"] = counts

    @property
    def takes_tools(self) -> bool:
        """Whether the model accepts tools, as far as is known."""
        model = self.get_role(self.asked_role).model_settings
        return not self.tools_refused and model.get("tools") is not False

    @property
    def offers_tools(self) -> bool:
        """Whether requests offer tools to the model."""
        return self.settings.method.tool_calls > 0 and self.takes_tools

    @property
    def gives_feedback(self) -> bool:
        """Whether prompts tell the model where an earlier answer failed.

        GEAR's protocol gives no feedback. By default, only a model that accepts no tools gets
        feedback, to replace the result of a tool call.
        """
        method = self.settings.method
        if method.feedback is None:
            return method.tool_calls > 0 and not self.takes_tools
        return method.feedback

    def derive_seed(self, path: str) -> int:
        """Return the seed of a call, derived from the session's seed, the problem and the path of
        the call.
        """
        text = f"{self.settings.seed}|{self.problem.id}|{path}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1

    async def record_once(
        self,
        path: str,
        kind: CallKind,
        request: Json,
        make: Callable[[], Awaitable[Outcome]],
        *,
        cached: bool = True,
    ) -> Outcome:
        """Return the outcome of a call to a model or tool. Every call of every graph uses this
        method.

        The outcome is taken from the journal if it is recorded there. Otherwise, a model call may
        take the answer of another session from the cache. Otherwise, the call is made.

        Args:
            path: The path of the call in the journal.
            kind: "model", "tool" or "human".
            request: The request, as the journal records it.
            make: Function that makes the call.
            cached: Whether answers of other sessions may be used.
        """
        source = "journal"
        role = str(request.get("role", PROPOSER))

        async def timed() -> Outcome:
            nonlocal source
            if kind == "model":
                cache = self.cache if cached else None
                if cache is not None and (known := cache.find(digest_of(request))):
                    source = "cache"
                    return known
            gate = None if kind == "human" else self.gate
            async with gate.passing(kind == "model") if gate else nullcontext():
                if kind == "model":
                    self.budget.check()
                source = "made"
                start = time.perf_counter()
                self.emit({"type": "call_started", "problem": self.problem.id, "path": path})
                heard = RETRY_LISTENER.set(partial(self._asked_again, path))
                try:
                    outcome = await make()
                except Unavailable as error:
                    if error.usage is not None:
                        self.budget.count(error.usage, role)
                    raise
                finally:
                    RETRY_LISTENER.reset(heard)
                seconds = time.perf_counter() - start
            if kind == "model":
                self.budget.count(outcome.usage, role)
            return Outcome(
                outcome.response, outcome.vectors, outcome.usage, seconds, outcome.retries
            )

        key = CallKey(self.session, self.problem.id, path)
        outcome = await self.journal.record_once(key, kind, request, timed)
        if kind == "model" and self.settings.method.problem_tokens is not None:
            self.progress.count_call(path, outcome.usage)
        self.emit(
            {
                "type": "call",
                "problem": self.problem.id,
                "path": path,
                "kind": kind,
                "source": source,
                "usage": dict(vars(outcome.usage)),
                "retries": outcome.retries,
                "seconds": outcome.seconds if source == "made" else 0.0,
            }
        )
        return outcome

    def _asked_again(self, path: str, why: str) -> None:
        self.emit({"type": "asked_again", "problem": self.problem.id, "path": path, "cause": why})

    async def _judge(
        self, sentence: str, texts: InputSet, public: Mapping[str, Json]
    ) -> Predictions:
        return await self.row_judge(sentence, texts, public)

    async def _judge_exactly(
        self, sentence: str, texts: InputSet, public: Mapping[str, Json]
    ) -> Predictions:
        return await self.row_judge.judge_exactly(sentence, texts, public)

    def make_oracles(self, path: str | None = None) -> Oracles:
        """Return the oracles (sandbox, solver and judge) that apply hypotheses to this problem.

        Args:
            path: The path under which the journal records the calls of the oracles. None means that
                no call is recorded, and that labelled text is judged by exact rules alone.
        """
        found = Oracles(judge=self._judge_exactly if path is None else self._judge)
        if not isinstance(self.family, OpensOracle):
            return found
        kind = self.family.oracle_kind

        async def missing(*args: Any) -> Any:
            raise type(kind.missing)(*kind.missing.args)

        apply = self.oracle or missing
        if path is None:
            return found.with_oracle(kind.name, apply)

        async def journalled(*args: Any) -> Any:
            async def make() -> Outcome:
                return kind.outcome(await apply(*args), *args)

            place = f"{path}/{kind.name}"
            request = kind.request(self.settings.limits, *args)
            outcome = await self.record_once(place, "tool", request, make)
            return decode_outcome(place, lambda told: _sized(kind.result(told), args), outcome)

        return found.with_oracle(kind.name, journalled)


def _sized(result: Any, arguments: Sequence[Any]) -> Any:
    """Return an oracle's result; raise ValueError where it does not belong to the call's inputs.

    A stored result may have been recorded for other inputs than those that the store holds now.
    """
    inputs = next((one for one in arguments if isinstance(one, InputSet)), None)
    if inputs is not None and isinstance(result, Batch | Solution):
        result.check_size(len(inputs))
    return result


class Runtime(Protocol):
    """The attributes of LangGraph's runtime object that nodes use.

    LangGraph's own class is not imported, because the import takes most of a second.
    """

    @property
    def context(self) -> Case:
        """The `Case` of the problem."""
        ...
