"""Who labels texts where there is no session, `predict` and `check`; who rates: `rate`; who writes:
`tasks generate`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ...config import RaterConfig, RolesConfig, TextSettings
from ...records import (
    Agreement,
    DataError,
    Family,
    Hypothesis,
    InputSet,
    Json,
    Malformed,
    Measuring,
    Observation,
    Oracles,
    Problem,
    Proposer,
    UsageError,
)
from ..session.settings import PRICES, SCORER, model_args_of, model_options, role_settings
from ..session.text_course import WITHOUT_JUDGE


@dataclass(frozen=True)
class Asked:
    """A model that labels texts or rates, not opened yet. model: None where there is none and exact rules
    alone judge."""

    model: str | Proposer | None = None
    options: Mapping[str, Json] = field(default_factory=dict)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Proposer | None]:
        """The model, closed in any case where it was opened here. Raises UsageError, DataError."""
        if not isinstance(self.model, str):
            yield self.model
            return
        from ...agents import open_model

        proposer = await open_model(self.model, self.options)
        try:
            yield proposer
        finally:
            await proposer.close()


def judge_of(
    model: str | Proposer | None,
    own: Mapping[str, Json],
    model_arg: Sequence[str] | Mapping[str, Json] = (),
    roles: Mapping[str, Any] | None = None,
) -> Asked:
    """`model` with its options `own` and `model_arg`; what `roles["judge"]` says goes before it.
    Raises UsageError for a model that labels no texts, and for options without a model."""
    return _asked("judge", model, own, model_arg, roles, "labels no texts")


def writer_of(model: str | Proposer, model_arg: Sequence[str] | Mapping[str, Json] = ()) -> Asked:
    """A model that writes texts, with its settings. Raises UsageError for one that writes none."""
    arguments = model_args_of(model_arg)
    if not isinstance(model, str):
        if arguments:
            raise UsageError(f"{', '.join(arguments)}: a model object brings its own settings")
        return Asked(model)
    if model.partition(":")[0] in WITHOUT_JUDGE:
        raise UsageError(f"model {model} writes no texts: name a language model")
    return Asked(model, model_options(model, arguments, {}))


def rater_of(model: str | Proposer | None, roles: Mapping[str, Any] | None = None) -> Asked:
    """The model of `roles["scorer"]`, else `model`. Raises UsageError where there is none, and for one
    that rates nothing."""
    found = _asked(SCORER, model, {}, (), roles, "rates nothing")
    if found.model is None:
        raise UsageError("no model rates: name one with --scorer-model")
    return found


def _asked(
    role: str,
    model: str | Proposer | None,
    own: Mapping[str, Json],
    model_arg: Sequence[str] | Mapping[str, Json],
    roles: Mapping[str, Any] | None,
    unable: str,
) -> Asked:
    given_role = dict((roles or {}).get(role) or {})
    config = (RaterConfig if role == SCORER else RolesConfig)(roles={role: given_role})
    told = dict(role_settings(config).get(role, {}))
    spec = told.pop("model", None) or model
    arguments = {**model_args_of(model_arg), **model_args_of(told.pop("model_arg", None) or ())}
    given = {key: value for key, value in own.items() if value is not None}
    given |= {key: value for key, value in told.items() if key not in PRICES}
    if spec is None or not isinstance(spec, str):
        if given or arguments:
            names = ", ".join([*given, *arguments])
            why = "no model is named" if spec is None else "a model object brings its own settings"
            raise UsageError(f"{names}: {why}")
        return Asked(spec)
    if spec.partition(":")[0] in WITHOUT_JUDGE:
        raise UsageError(
            f"model {spec} {unable}: name one that does, or none for exact rules alone"
            if role == "judge"
            else f"model {spec} {unable}: name a language model"
        )
    return Asked(spec, model_options(spec, arguments, given))


def judged_by(settings: TextSettings, judge: str | None, asked: Asked) -> TextSettings:
    """The `TextSettings` with how texts are judged: as `judge` says, else by exact rules, and by
    the model where there is one. Raises UsageError for `model` without one."""
    if judge == "model" and asked.model is None:
        raise UsageError("judge is 'model', and no model is named: name one with --judge-model")
    if asked.model is None:
        return settings.model_copy(update={"judge": "exact"})
    return settings.model_copy(update={"judge": judge or "auto"})


# --- Judges single lines of hypotheses or raw answers that a user brings, for `check`.

LINES_AT_ONCE = 32
NO_SPACE = InputSet("none", ())


@dataclass(frozen=True)
class Judge:
    """Judges lines of text against the problems in `known`, by id, with their sample spaces."""

    family: Family
    answer_format: str
    oracles: Oracles
    known: dict[str, tuple[Problem, InputSet]]
    evaluator: str = "exact"

    async def lines(
        self,
        lines: Iterator[tuple[int, str]],
        give: Callable[[dict[str, Json]], Awaitable[None]],
    ) -> None:
        """Some lines side by side; gives what is said of each in their order."""
        going: deque[asyncio.Task[dict[str, Json]]] = deque()
        try:
            while True:
                for number, text in islice(lines, LINES_AT_ONCE - len(going)):
                    going.append(asyncio.create_task(self.line(number, text)))
                if not going:
                    return
                said = await going[0]
                going.popleft()
                await give(said)
        finally:
            for task in going:
                task.cancel()
            await asyncio.gather(*going, return_exceptions=True)

    async def line(self, number: int, text: str) -> dict[str, Json]:
        start = time.perf_counter()
        said: dict[str, Json] = {"problem": None, "line": number}
        try:
            name, key, brought = _read(number, text)
            said["problem"] = name
            if name not in self.known:
                raise DataError(f"no problem {name!r}{self._nearest(name)}")
            said |= await self._judge(*self.known[name], key, brought)
        except DataError as error:
            said |= _said("error", str(error), [], [])
        return said | {"seconds": round(time.perf_counter() - start, 4)}

    def _nearest(self, name: str) -> str:
        from ...tasks.io.messages import nearest

        return nearest(name, self.known)

    async def _judge(
        self, problem: Problem, space: InputSet, key: str, brought: str
    ) -> dict[str, Json]:
        view = problem.view(space)
        if key == "hypothesis":
            item = self.family.read(brought, view)
        else:
            items = self.family.parse(view, brought, self.answer_format)
            item = items[0] if items else Malformed("empty", "the answer holds no hypothesis")
        if isinstance(item, Malformed):
            nothing = [None] * len(problem.shown), [None] * len(self.hidden(problem))
            reason = f"{item.reason}: {item.detail}" if item.detail else item.reason
            return _said("malformed", reason, *nothing) | self._measures(problem, key, brought)
        return await self._apply(item, problem, space, key, brought)

    def hidden(self, problem: Problem) -> Sequence[Observation]:
        """What stands as hidden."""
        return problem.hidden

    def _measures(
        self,
        problem: Problem,
        key: str,
        brought: str,
        shown: Agreement | None = None,
        hidden: Agreement | None = None,
    ) -> dict[str, Json]:
        """What a family measures beside the verdict, where it does."""
        if not isinstance(self.family, Measuring):
            return {}
        text = brought if key == "hypothesis" else self.family.said(problem.view(NO_SPACE), brought)
        return self.family.measures(problem, text, shown, hidden, self.evaluator)

    async def _apply(
        self, hypothesis: Hypothesis, problem: Problem, space: InputSet, key: str, brought: str
    ) -> dict[str, Json]:
        view = problem.view(space)
        shown, hidden, (predicted,) = await asyncio.gather(
            self.family.agree(hypothesis, problem.shown, view, self.oracles),
            self.family.agree(hypothesis, self.hidden(problem), view, self.oracles),
            self.family.predict([hypothesis], space, view, self.oracles),
        )
        consistent = self.family.consistent(shown)
        marks = shown.marks, hidden.marks
        reason = None if consistent else _why(shown)
        verdict = "consistent" if consistent else "inconsistent"
        return _said(verdict, reason, *map(list, marks)) | {
            "undefined": predicted.undefined(),
            "breaches": list(hypothesis.breaches),
            **self._measures(problem, key, brought, shown, hidden),
        }


def _read(number: int, text: str) -> tuple[str, str, str]:
    """(problem, "hypothesis" or "answer", text) of one line."""
    from ...tasks.io.json_text import SURROGATE, parse_json

    if SURROGATE.search(text):  # what stands for bytes that are not UTF-8
        raise DataError(f"line {number}: not UTF-8 text")
    row = parse_json(text, f"line {number}")
    if not isinstance(row, dict) or type(row.get("problem")) not in (str, int):  # true is no id
        raise DataError(f'line {number}, problem: not an object with the id of a "problem"')
    keys = [key for key in ("hypothesis", "answer") if isinstance(row.get(key), str)]
    if len(keys) != 1:
        raise DataError(f'line {number}: it must hold one text, "hypothesis" or "answer"')
    return str(row["problem"]), keys[0], row[keys[0]]


def _why(shown: Agreement) -> str:
    if shown.verdict != "ok":
        return shown.verdict
    wrong = sum(mark is False for mark in shown.marks)
    causes = Counter(got["undefined"] for got in shown.got if "undefined" in got)
    parts = [f"{wrong} wrong"] if wrong else []
    parts += [f"{count} undefined ({cause})" for cause, count in causes.items()]
    return f"{', '.join(parts) or 'not consistent'} of {len(shown.marks)} shown"


def _said(
    verdict: str, reason: str | None, observations: list[Json], hidden: list[Json]
) -> dict[str, Json]:
    return {
        "verdict": verdict,
        "reason": reason,
        "observations": observations,
        "hidden": hidden,
        "undefined": {},
        "breaches": [],
    }
