"""Open models that label, rate or write texts outside a session, and judge single hypotheses.

`predict` and `check` use a model that labels texts, `rate` uses a model that rates hypotheses, and
`tasks generate` uses a model that writes texts.
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
    PRICES,
    Agreement,
    DataError,
    Family,
    Hypothesis,
    InputSet,
    Json,
    Malformed,
    MeasuresHypotheses,
    Observation,
    Oracles,
    Problem,
    Proposer,
    UsageError,
)
from ..session.settings import SCORER, model_options, parse_key_values, role_settings
from ..session.text_planning import NON_JUDGE_MODELS


@dataclass(frozen=True)
class ModelSpec:
    """A model that is not open yet, with the options to open it with.

    Args:
        model: the model string or a model object; None if exact rules judge without a model.
        options: the options to open the model with.
    """

    model: str | Proposer | None = None
    options: Mapping[str, Json] = field(default_factory=dict)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Proposer | None]:
        """Open the model, and close it at the end of the `async with` block.

        A model object is yielded unchanged and not closed. Without a model, None is yielded.

        Raises:
            UsageError: the model cannot be opened with these options.
            DataError: a file of the model is invalid.
        """
        if not isinstance(self.model, str):
            yield self.model
            return
        from ...agents import open_model

        proposer = await open_model(self.model, self.options)
        try:
            yield proposer
        finally:
            await proposer.close()


def choose_judge(
    model: str | Proposer | None,
    own: Mapping[str, Json],
    model_arg: Sequence[str] | Mapping[str, Json] = (),
    roles: Mapping[str, Any] | None = None,
) -> ModelSpec:
    """Return the model that labels texts, with its options.

    Args:
        model: the model string or a model object; None for no model.
        own: options of the model that have a command-line flag of their own.
        model_arg: further options, as K=V pairs or a mapping.
        roles: settings by role. Settings of the role "judge" take precedence.

    Raises:
        UsageError: the model cannot label texts, or options are set without a model.
    """
    return _find_role_model("judge", model, own, model_arg, roles, "cannot label texts")


def choose_writer(
    model: str | Proposer, model_arg: Sequence[str] | Mapping[str, Json] = ()
) -> ModelSpec:
    """Return the model that writes texts, with its options.

    Args:
        model: the model string or a model object.
        model_arg: options, as K=V pairs or a mapping.

    Raises:
        UsageError: the model cannot write texts.
    """
    arguments = parse_key_values(model_arg)
    if not isinstance(model, str):
        if arguments:
            raise UsageError(
                f"{', '.join(arguments)} cannot be set for a model object, which has its own"
                " settings"
            )
        return ModelSpec(model)
    if model.partition(":")[0] in NON_JUDGE_MODELS:
        raise UsageError(f"model {model} cannot write texts: use a language model")
    return ModelSpec(model, model_options(model, arguments, {}))


def choose_rater(model: str | Proposer | None, roles: Mapping[str, Any] | None = None) -> ModelSpec:
    """Return the model that rates hypotheses: the model of `roles["scorer"]`, otherwise `model`.

    Raises:
        UsageError: no model is named, or the model cannot rate hypotheses.
    """
    found = _find_role_model(SCORER, model, {}, (), roles, "cannot rate hypotheses")
    if found.model is None:
        raise UsageError("no model is given to rate hypotheses: choose one with --scorer-model")
    return found


def _find_role_model(
    role: str,
    model: str | Proposer | None,
    own: Mapping[str, Json],
    model_arg: Sequence[str] | Mapping[str, Json],
    roles: Mapping[str, Any] | None,
    unable: str,
) -> ModelSpec:
    given_role = dict((roles or {}).get(role) or {})
    config = (RaterConfig if role == SCORER else RolesConfig)(roles={role: given_role})
    told = dict(role_settings(config).get(role, {}))
    spec = told.pop("model", None) or model
    arguments = {
        **parse_key_values(model_arg),
        **parse_key_values(told.pop("model_arg", None) or ()),
    }
    given = {key: value for key, value in own.items() if value is not None}
    given |= {key: value for key, value in told.items() if key not in PRICES}
    if spec is None or not isinstance(spec, str):
        if given or arguments:
            names = ", ".join([*given, *arguments])
            why = "no model is given" if spec is None else "a model object has its own settings"
            raise UsageError(f"{names}: {why}")
        return ModelSpec(spec)
    if spec.partition(":")[0] in NON_JUDGE_MODELS:
        raise UsageError(
            f"model {spec} {unable}: use one that can, or none to apply exact rules only"
            if role == "judge"
            else f"model {spec} {unable}: use a language model"
        )
    return ModelSpec(spec, model_options(spec, arguments, given))


def with_judge(settings: TextSettings, judge: str | None, model: ModelSpec) -> TextSettings:
    """Return `settings` with the setting `judge`, which decides how sentences are applied to texts.

    If the argument `judge` is None, the setting becomes "auto" with a model and "exact" without a
    model. "auto" applies exact rules first, and asks the model about all other sentences.

    Raises:
        UsageError: `judge` is "model", but there is no model.
    """
    if judge == "model" and model.model is None:
        raise UsageError("judge is 'model', but no model is given: choose one with --judge-model")
    if model.model is None:
        return settings.model_copy(update={"judge": "exact"})
    return settings.model_copy(update={"judge": judge or "auto"})


# --- The judge of single hypotheses or raw answers that a user provides, for `check`.

MAX_CONCURRENT_LINES = 128  # enough for the cores of a cluster
EMPTY_SPACE = InputSet("none", ())


@dataclass(frozen=True)
class Judge:
    """A judge of hypotheses or raw answers, which come one per line of a file.

    Args:
        family: the family of the problems.
        answer_format: the format of raw answers.
        oracles: the sandbox or solver that applies the hypotheses.
        known: the problems with their sample spaces, by id.
        evaluator: for rules about worlds, exact or released.
    """

    family: Family
    answer_format: str
    oracles: Oracles
    known: dict[str, tuple[Problem, InputSet]]
    evaluator: str = "exact"

    async def judge_lines(
        self,
        lines: Iterator[tuple[int, str]],
        on_result: Callable[[dict[str, Json]], Awaitable[None]],
    ) -> None:
        """Judge lines concurrently, and pass the results to `on_result` in the order of the lines.

        Args:
            lines: the number and the text of each line.
            on_result: called with the result of each line.
        """
        going: deque[asyncio.Task[dict[str, Json]]] = deque()
        try:
            while True:
                for number, text in islice(lines, MAX_CONCURRENT_LINES - len(going)):
                    going.append(asyncio.create_task(self.judge_line(number, text)))
                if not going:
                    return
                said = await going[0]
                going.popleft()
                await on_result(said)
        finally:
            for task in going:
                task.cancel()
            await asyncio.gather(*going, return_exceptions=True)

    async def judge_line(self, number: int, text: str) -> dict[str, Json]:
        """Judge one line, and return the result as a JSON object.

        If the data in the line is invalid, the verdict is "error".

        Args:
            number: the number of the line.
            text: the text of the line.
        """
        start = time.perf_counter()
        said: dict[str, Json] = {"problem": None, "line": number}
        try:
            name, key, brought = _read(number, text)
            said["problem"] = name
            if name not in self.known:
                raise DataError(f"no problem {name!r}{self._nearest(name)}")
            said |= await self._judge(*self.known[name], key, brought)
        except DataError as error:
            said |= _build_verdict("error", str(error), [], [])
        return said | {"seconds": round(time.perf_counter() - start, 4)}

    def _nearest(self, name: str) -> str:
        from ...tasks.io.messages import suggest_nearest

        return suggest_nearest(name, self.known)

    async def _judge(
        self, problem: Problem, space: InputSet, key: str, brought: str
    ) -> dict[str, Json]:
        view = problem.make_view(space)
        if key == "hypothesis":
            item = self.family.parse_hypothesis(brought, view)
        else:
            items = self.family.parse(view, brought, self.answer_format)
            item = items[0] if items else Malformed("empty", "the answer holds no hypothesis")
        if isinstance(item, Malformed):
            nothing = [None] * len(problem.shown), [None] * len(self.hidden_observations(problem))
            reason = f"{item.reason}: {item.detail}" if item.detail else item.reason
            return _build_verdict("malformed", reason, *nothing) | self._measures(
                problem, key, brought
            )
        return await self._apply(item, problem, space, key, brought)

    def hidden_observations(self, problem: Problem) -> Sequence[Observation]:
        """Return the observations of a problem that count as hidden."""
        return problem.hidden

    def _measures(
        self,
        problem: Problem,
        key: str,
        brought: str,
        shown: Agreement | None = None,
        hidden: Agreement | None = None,
    ) -> dict[str, Json]:
        """Return what the family measures in addition to the verdict; {} for most families."""
        if not isinstance(self.family, MeasuresHypotheses):
            return {}
        text = (
            brought
            if key == "hypothesis"
            else self.family.extract_hypothesis(problem.make_view(EMPTY_SPACE), brought)
        )
        return self.family.compute_measures(problem, text, shown, hidden, self.evaluator)

    async def _apply(
        self, hypothesis: Hypothesis, problem: Problem, space: InputSet, key: str, brought: str
    ) -> dict[str, Json]:
        view = problem.make_view(space)
        shown, hidden, (predicted,) = await asyncio.gather(
            self.family.measure_agreement(hypothesis, problem.shown, view, self.oracles),
            self.family.measure_agreement(
                hypothesis, self.hidden_observations(problem), view, self.oracles
            ),
            self.family.predict([hypothesis], space, view, self.oracles),
        )
        consistent = self.family.is_consistent(shown)
        marks = shown.marks, hidden.marks
        reason = None if consistent else _why(shown)
        verdict = "consistent" if consistent else "inconsistent"
        return _build_verdict(verdict, reason, *map(list, marks)) | {
            "undefined": predicted.count_undefined(),
            "breaches": list(hypothesis.breaches),
            **_errors(shown, hidden),
            **self._measures(problem, key, brought, shown, hidden),
        }


def _errors(shown: Agreement, hidden: Agreement) -> dict[str, Json]:
    """Return the errors of a formula, in units of the target, and the tolerance; {} without errors."""
    rms = {"shown": shown.detail.get("rms"), "hidden": hidden.detail.get("rms")}
    if all(error is None for error in rms.values()):
        return {}
    return {"rms": rms, "tolerance": shown.detail.get("tolerance")}


def _read(number: int, text: str) -> tuple[str, str, str]:
    """Return (problem id, "hypothesis" or "answer", text) of one line."""
    from ...tasks.io.json_text import SURROGATE_PATTERN, parse_json

    if SURROGATE_PATTERN.search(text):  # a surrogate represents a byte that is not UTF-8
        raise DataError(f"line {number}: not UTF-8 text")
    row = parse_json(text, f"line {number}")
    # bool is an int, but no id
    if not isinstance(row, dict) or type(row.get("problem")) not in (str, int):
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


def _build_verdict(
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
