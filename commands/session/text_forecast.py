"""How long the first prompt of a session on labelled text is, and whether the model holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...agents.endpoint.limits import estimated_tokens
from ...config import TextSettings
from ...graphs import method_named
from ...graphs.runtime.case import SessionSettings
from ...graphs.runtime.memory import case_of
from ...records import InputSet, Json, Message, Problem, UsageError


def first_prompt(problem: Problem, settings: Mapping[str, Json]) -> Sequence[Message]:
    """The messages that a session would begin with, as far as they are known."""
    shaped = SessionSettings(seed=settings["seed"], text=TextSettings(**settings["text"]))
    case = case_of(problem, None, space=InputSet("none", ()), settings=shaped)
    return method_named(settings["method"]).first_prompt(case)


def prompt_tokens(problems: Sequence[Problem], settings: Mapping[str, Json]) -> int:
    """The estimate of the longest first prompt."""
    prompts = (first_prompt(one, settings) for one in problems)
    return max((estimated_tokens(one, {}, 0) for one in prompts if one), default=0)


def check_prompt(
    problems: Sequence[Problem], settings: Mapping[str, Json], options: Mapping[str, Json]
) -> None:
    """Raises UsageError where the first prompt and an answer are estimated above `context_tokens` of
    the model's options. Without that option an endpoint is asked what its model holds at the first
    request (agents/endpoint/context.py), and refuses one that cannot fit in one sentence too."""
    holds, answer = options.get("context_tokens"), options.get("max_tokens") or 0
    if not isinstance(holds, int) or not holds:
        return
    tokens = prompt_tokens(problems, settings)
    if tokens + answer > holds:
        shown = max(len(one.shown[: settings["text"]["examples"]]) for one in problems)
        said = f" and an answer of at most {answer:,}" if answer else ""
        raise UsageError(
            f"the first prompt, with {shown} rows, is about {tokens:,} tokens{said}, and the model"
            f" holds {holds:,} (context_tokens): show fewer rows with --examples, or name a model that"
            " holds more"
        )
