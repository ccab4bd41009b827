"""Who labels texts where there is no session, `predict` and `check`; who rates: `rate`; who writes:
`tasks generate`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from ...config import RaterConfig, RolesConfig, TextSettings
from ...records import Json, Proposer, UsageError
from ..session.roles import PRICES, SCORER, model_options, role_settings
from ..session.settings import model_args_of
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
