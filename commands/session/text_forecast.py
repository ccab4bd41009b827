"""Estimate the length of the first prompt on labelled text, and check that it fits into the model's
context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...agents.endpoint.limits import estimate_tokens
from ...config import TextSettings
from ...graphs import get_method
from ...graphs.runtime.case import SessionSettings
from ...graphs.runtime.memory import make_case
from ...records import InputSet, Json, Message, Problem, UsageError


def build_first_prompt(problem: Problem, settings: Mapping[str, Json]) -> Sequence[Message]:
    """Return the messages of a session's first prompt, as far as they are known before the
    session.
    """
    shaped = SessionSettings(seed=settings["seed"], text=TextSettings(**settings["text"]))
    case = make_case(problem, None, space=InputSet("none", ()), settings=shaped)
    return get_method(settings["method"]).first_prompt(case)


def estimate_prompt_tokens(problems: Sequence[Problem], settings: Mapping[str, Json]) -> int:
    """Return the estimated number of tokens of the longest first prompt.

    Args:
        problems: the problems of the session.
        settings: the settings of the session.
    """
    prompts = (build_first_prompt(one, settings) for one in problems)
    return max((estimate_tokens(one, {}, 0) for one in prompts if one), default=0)


def check_prompt(
    problems: Sequence[Problem], settings: Mapping[str, Json], options: Mapping[str, Json]
) -> None:
    """Check that the first prompt and an answer fit into the model's context.

    Nothing is checked if the option `context_tokens` is not set. In that case the endpoint is asked
    for the model's limit before the first request (agents/endpoint/context.py), and a prompt that
    is too long is rejected then.

    Args:
        problems: the problems of the session.
        settings: the settings of the session.
        options: the options of the model, with `context_tokens` and `max_tokens`.

    Raises:
        UsageError: the estimated length exceeds `context_tokens`.
    """
    holds, answer = options.get("context_tokens"), options.get("max_tokens") or 0
    if not isinstance(holds, int) or not holds:
        return
    tokens = estimate_prompt_tokens(problems, settings)
    if tokens + answer > holds:
        shown = max(len(one.shown[: settings["text"]["examples"]]) for one in problems)
        said = f" and an answer of at most {answer:,}" if answer else ""
        raise UsageError(
            f"the first prompt, with {shown} rows, has about {tokens:,} tokens{said}, but the"
            f" model's context length is {holds:,} (context_tokens): show fewer rows with"
            " --examples, or use a model with a longer context"
        )
