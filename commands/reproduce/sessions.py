"""The sessions of an experiment: their settings, how they are found again, and whether they are done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...records import Interrupted, Json, PeirceError, UsageError
from ..outcome import Session, open_for_reading
from ..session.settings import (
    drop_unsupported_model_options,
    model_setting_names,
    parse_key_values,
)
from .settings import ReproductionConfig
from .steps import Step

STEP_KEY = "reproduced_step"  # among the operational settings of a session
DATE_SETTING = "prompt_date"  # of hf: models
MAX_FAILURES = 3  # problems that fail before a session stops, for example at a dead endpoint
ANY_FAILURES = 1_000_000  # with skip_failed
MODEL_SETTINGS = ("temperature", "top_p", "max_tokens")  # that not every kind of model takes


@dataclass(frozen=True)
class BaseArguments:
    """What --base-arg says about the prompts of the base and the trained models.

    Attributes:
        chat_template: A Jinja file, or plain; None for the base's own template.
        variables: The variables of the chat template.
    """

    chat_template: str | None
    variables: Mapping[str, Json]


def base_arguments(config: ReproductionConfig) -> BaseArguments:
    """Return what --base-arg says about prompts. All other arguments concern the evaluation alone.

    Raises:
        UsageError: An argument is invalid, or it sets the date, which the experiment fixes itself.
    """
    arguments = parse_key_values(config.base_arg, "--base-arg")
    if DATE_SETTING in arguments:
        raise UsageError(
            f"--base-arg sets {DATE_SETTING}: leave it out, because the experiment fixes the date of"
            " its first start itself"
        )
    own = model_setting_names("hf:")
    variables = {name: one for name, one in arguments.items() if name not in own}
    template = arguments.get("chat_template")
    return BaseArguments(None if template is None else str(template), variables)


def session_options(
    config: ReproductionConfig, step: Step, model: str, date: str | None = None
) -> dict[str, Any]:
    """Return the settings of the session of a step.

    Args:
        config: The settings of the experiment.
        step: A step of the kind collect or evaluate.
        model: The model string.
        date: The date in the prompts of the base and the trained models; None without a date.
    """
    assert step.data_set is not None
    options: dict[str, Any] = {
        "data": str(step.data_set.data), "problem": step.problems, "model": model,
        "template": config.template, "seed": config.seed, "cache": False,
        "max_failures": max_failures(config), "temperature": config.temperature,
        "max_tokens": config.max_tokens,
    }  # fmt: skip
    if step.kind == "collect":
        options |= {
            "method": "abduce", "tool_calls": 0, "feedback": False,
            "max_answers": config.max_answers, "model_arg": list(config.collect_arg),
            "observations": str(step.data_set.observations[step.shown]),
        }  # fmt: skip
    else:
        options |= {
            "method": "t3", "rounds": config.rounds, "top_p": config.top_p,
            "model_arg": [*config.base_arg, *([f"{DATE_SETTING}={date}"] if date else [])],
        }  # fmt: skip
    kept, _ = drop_unsupported_model_options(model, options, MODEL_SETTINGS, ())
    return kept


def find_session(path: Path, step: str) -> str | None:
    """Return the session of a step that is in the store, or None."""
    if not path.exists():
        return None
    with open_for_reading(path) as store:
        return next(
            (row["session"] for row in store.sessions()
             if row["settings"]["operational"].get(STEP_KEY) == step), None
        )  # fmt: skip


def max_failures(config: ReproductionConfig) -> int:
    """Return after how many failed problems a session stops."""
    return ANY_FAILURES if config.skip_failed else MAX_FAILURES


def is_finished(path: Path, session: str, skip_failed: bool) -> bool:
    """Return whether a session is done, with no failed problem unless `skip_failed` is set."""
    with open_for_reading(path) as store:
        if store.session(session)["status"] != "done":
            return False
        return skip_failed or all(row.status != "failed" for row in store.problems(session))


def check_finished(done: Session, step: Step, skip_failed: bool) -> None:
    """Raise an error unless the session is done and no problem failed, or failures are skipped."""
    if done.status == "interrupted":
        raise Interrupted(f"session {done.session} was stopped; its steps are kept")
    if done.status == "done" and (skip_failed or not done.failed):
        return
    # The prompts of all held-out problems may be too long. A collecting model that answers nothing
    # is not there at all.
    if skip_failed and step.kind == "evaluate" and len(done.failed) == done.problems:
        return
    cause = next(iter(done.failed.values()), done.cause or f"it ended as {done.status}")
    failed = f"{len(done.failed)} of {done.problems} problems failed, such as: " * bool(done.failed)
    raise PeirceError(
        f"{failed}{cause.rstrip('.')}; what was done is kept, the same command tries these problems"
        " again, and --skip-failed leaves them out"
    )
