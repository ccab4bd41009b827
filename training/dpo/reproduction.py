"""Check that a base model renders the prompts of a set of pairs as the sessions rendered them.

Sessions record the digest of each prompt's token ids, if they know them, and a set of pairs contains
some of these prompts (`pairs/pooling.py`). If the base model renders one of them to other tokens,
a training would teach answers to prompts that no model was asked. With `render_anew`, the base
model's own rendering is used instead, and a date in it is fixed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...agents.local.example_format import ExampleFormat
from ...agents.local.reasoning_formats import MARK
from ...records import (
    DataError,
    Json,
    ToolSpec,
    Unavailable,
    UsageError,
    canonical_json,
    digest_prompt,
)
from ..pairs.lengths import COUNTS, describe_own_rendering, tokenizer_digest

if TYPE_CHECKING:
    from ...agents.local.chat import ChatFormat
    from .settings import TrainConfig

DATE_KEY, VARIABLES_KEY = "prompt_date", "template_variables"  # in training.json
WAY_OUT = (
    "use --render-anew (render_anew) to train on the prompts as this base renders them by default"
)
_ROLES = (("user",), ("system", "user"))


def choose_rendering(
    pairs: Mapping[str, Json], settings: TrainConfig, record: Mapping[str, Json]
) -> tuple[Mapping[str, Json] | None, str | None]:
    """Return the variables of the chat template, and the date in it if the date is fixed.

    Args:
        pairs: The settings of the set of pairs.
        settings: The settings of the training.
        record: The contents of training.json.
    """
    if settings.render_anew:
        return record.get(VARIABLES_KEY), record.get(DATE_KEY)
    return pairs.get("template_variables"), None


def check_rendering(
    wording: ChatFormat, pairs: Mapping[str, Json], anew: bool, session_names: Mapping[str, str]
) -> list[str]:
    """Check that a chat template reproduces the recorded prompts, and return notes on it.

    Args:
        wording: The chat template of the training, with its variables and the tokenizer.
        pairs: The settings of the set of pairs.
        anew: Whether the prompts are rendered without regard to the sessions.
        session_names: Names of sessions for messages, by digest.

    Raises:
        UsageError: A recorded prompt is not reproduced, or the template writes the current date.
        DataError: The template refuses a conversation of one turn.
    """
    try:
        notes = _note_lead(wording)
        dated = any(wording.writes_date(roles) for roles in _ROLES)
    except Unavailable as error:
        raise DataError(str(error)) from None
    if anew:
        given = ", ".join(f"{k}={canonical_json(v)}" for k, v in sorted(wording.variables.items()))
        variables = f"the variables {given}" if given else "its default variables"
        return [
            f"The prompts are rendered with the base's own chat template and {variables}, whatever"
            " the sessions used.",
            *notes,
        ]
    recorded = pairs.get("rendering") or []
    if dated:
        raise UsageError(_date_error(wording))
    for session in recorded:
        _check_session(wording, session, session_names)
    unknown = len(pairs.get("sessions") or ()) - len(recorded)
    if unknown < 1:
        return notes
    which = "1 session" if unknown == 1 else f"{unknown:,} sessions"
    return [
        f"No token ids are known of the prompts of {which}, so the training cannot check that it"
        " renders them in the same way.",
        *notes,
    ]


def _note_lead(wording: ChatFormat) -> list[str]:
    examples = ExampleFormat(wording)
    lead = examples.find_lead([{"role": "user", "content": MARK}])
    if not examples.knows_lead():
        return [
            "The chat template does not show where an answer without reasoning begins, so answers"
            " are trained directly after the prompt: if its prompts open a block of reasoning, set"
            " chat_template=FILE to a template that closes it."
        ]
    if not lead:
        return []
    return [
        f"Each answer follows {json.dumps(lead)}, which stands for no reasoning in the chat template"
        " and is not trained."
    ]


def limit_holds(
    pairs: Mapping[str, Json], wording: ChatFormat, settings: TrainConfig, max_length: int
) -> bool:
    """Return whether all pairs are known to fit a length limit, without tokenizing them.

    This is so if `peirce pairs` left out longer pairs with the tokens of the same base.

    Args:
        pairs: The settings of the set of pairs.
        wording: The chat template of the training, with the tokenizer.
        settings: The settings of the training.
        max_length: The maximum number of tokens of a prompt and an answer together.
    """
    limited = pairs.get("length") or {}
    if limited.get("counts") != COUNTS or (settings.chat_template and not settings.render_anew):
        return False
    own = describe_own_rendering(wording) if settings.render_anew else None
    if limited.get("rendered") != own:
        return False
    same = limited["tokenizer"] == tokenizer_digest(wording.tokenizer)
    return bool(same and limited["max_length"] <= max_length)


def _check_session(
    wording: ChatFormat, session: Mapping[str, Any], names: Mapping[str, str]
) -> None:
    name = names.get(session["session"]) or f"the session of model {session['model']}"
    for one in session["prompts"]:
        tools = [ToolSpec(**tool) for tool in one.get("tools") or ()]
        try:
            ids = wording.tokenize_prompt(one["messages"], tools)
        except Unavailable as error:
            raise UsageError(
                f"The prompts of {name} cannot be rendered: {error}; {WAY_OUT}."
            ) from None
        if digest_prompt(ids) != one["digest"]:
            raise UsageError(
                f"The base model {wording.name!r} does not reproduce the prompts of {name}, because"
                f" {_cause(wording, session)}: use the base, chat_template or variables of the"
                f" session, or {WAY_OUT}."
            )


def _cause(wording: ChatFormat, session: Mapping[str, Any]) -> str:
    template = session["chat_template"]
    if template is None:
        return "its chat template, the variables of the template or its tokenizer are different"
    if template != wording.digest:
        return f"its chat template is another one ({wording.digest}, not {template})"
    if session["variables"] != wording.variables:
        return "the variables of its chat template are different"
    if wording.refers_to_date:
        return "its chat template writes the date, or its tokenizer is another one"
    return "its tokenizer is another one"


def _date_error(wording: ChatFormat) -> str:
    variable = (
        ", or set the template variable date_string in the sessions (--model-arg)"
        if "date_string" in wording.template
        else ""
    )
    return (
        f"The chat template of the base model {wording.name!r} writes the current date into each"
        " prompt, so the prompts would not be those that the sessions asked: use --render-anew"
        f" (render_anew) to fix the date of the first start{variable}."
    )
