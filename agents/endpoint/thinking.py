"""Limits on the tokens of a model's reasoning, and reasoning that an endpoint wants to see again.

Each provider has a field of its own for the limit (`BUDGET_FIELDS`). Where a provider has none, the
setting `reasoning_tokens` is refused in one sentence.

Reasoning never becomes part of a later prompt, with one exception. Some providers refuse a request
with the results of tools unless the turn that called the tools carries its reasoning, as text or as a
signature (`RETURNED_FIELDS`, `RETURNED_CALL_FIELDS`). So within the tool turns of one answer, these
fields are kept and sent back unchanged. The next answer begins without them.

Anthropic's OpenAI-compatible endpoint returns no reasoning, so nothing can be sent back to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...records import Json, UsageError

if TYPE_CHECKING:
    from .settings import ChatSettings

BUDGET_FIELDS: Mapping[str, Callable[[int], dict[str, Json]]] = {
    "anthropic": lambda tokens: {"thinking": {"type": "enabled", "budget_tokens": tokens}},
    "gemini": lambda tokens: _gemini_fields(tokens),
    "google": lambda tokens: _gemini_fields(tokens),
    "llamacpp": lambda tokens: {"thinking_budget_tokens": tokens},
    "openrouter": lambda tokens: {"reasoning": {"max_tokens": tokens}},
    "vllm": lambda tokens: {"thinking_token_budget": tokens},
}
RETURNED_FIELDS: Mapping[str, Sequence[str]] = {
    "deepseek": ("reasoning_content",),
    "openrouter": ("reasoning_details",),
}
RETURNED_CALL_FIELDS: Mapping[str, Sequence[str]] = {
    "gemini": ("extra_content",),  # Gemini 3: the signature of a thought
    "google": ("extra_content",),
}
RETURNED = "returned"  # the key of these fields in a reply's meta and in a message
MIN_ANTHROPIC_TOKENS = 1024


def _gemini_fields(tokens: int) -> dict[str, Json]:
    # The endpoint reads Google's own settings from a field named extra_body.
    return {"extra_body": {"google": {"thinking_config": {"thinking_budget": tokens}}}}


def check_reasoning_tokens(settings: ChatSettings, scheme: str) -> None:
    """Check that the provider can limit reasoning as the settings ask.

    Args:
        settings: The settings of the model.
        scheme: The provider in the model string; http or https for an endpoint that is named by its
            URL, whose server is not known yet.

    Raises:
        UsageError: The provider has no such limit, or other settings contradict it.
    """
    tokens, model = settings.reasoning_tokens, settings.model
    if tokens is None or scheme in ("http", "https"):
        return
    if scheme not in BUDGET_FIELDS:
        raise UsageError(
            f"reasoning_tokens of model {model!r} cannot be set, because {scheme} has no limit on"
            " the tokens of reasoning: use reasoning_effort or max_tokens"
        )
    if scheme != "anthropic":
        return
    if tokens < MIN_ANTHROPIC_TOKENS:
        raise UsageError(
            f"reasoning_tokens {tokens} of model {model!r} must be at least {MIN_ANTHROPIC_TOKENS:,}"
        )
    if settings.max_tokens is not None and settings.max_tokens <= tokens:
        raise UsageError(
            f"max_tokens {settings.max_tokens:,} of model {model!r} must be above reasoning_tokens"
            f" {tokens:,}, because anthropic counts both together"
        )
    if settings.temperature not in (None, 1):
        raise UsageError(
            f"temperature {settings.temperature:g} of model {model!r} must be 1 with"
            " reasoning_tokens: leave it out"
        )


def build_budget_fields(tokens: int | None, server: str) -> dict[str, Json] | None:
    """Return the fields of a request that limit reasoning; None if the server has no such field.

    Args:
        tokens: The limit; None for no limit.
        server: The provider or the kind of server.
    """
    if tokens is None:
        return {}
    fields = BUDGET_FIELDS.get(server)
    return None if fields is None else fields(tokens)


def keep_returned(message: Mapping[str, Json], scheme: str) -> dict[str, Json]:
    """Return what the provider wants to see again of a message that calls tools.

    Args:
        message: The message of the completion.
        scheme: The provider in the model string.

    Returns:
        {"message": fields of the message, "tool_calls": [fields of each call]}; empty if the
        provider wants nothing.
    """
    of_message = {
        name: message[name]
        for name in RETURNED_FIELDS.get(scheme, ())
        if message.get(name) is not None
    }
    names = RETURNED_CALL_FIELDS.get(scheme, ())
    calls = [
        {name: call[name] for name in names if call.get(name)}
        for call in message.get("tool_calls") or ()
    ]
    kept: dict[str, Json] = {"message": of_message} if of_message else {}
    return kept | ({"tool_calls": calls} if any(calls) else {})


def restore_returned(sent: dict[str, Json], returned: Mapping[str, Json]) -> None:
    """Put the fields that `keep_returned` kept into a message of a request, in place."""
    sent.update(returned.get("message", {}))
    calls = zip(sent.get("tool_calls") or (), returned.get("tool_calls", ()), strict=False)
    for call, fields in calls:
        call.update(fields)
