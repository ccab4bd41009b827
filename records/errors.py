"""Exceptions for expected failures. The message of each exception is one sentence for the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .calls import Usage


class PeirceError(Exception):
    """Base class of expected failures. The message is one sentence for the user.

    Attributes:
        exit_code: The exit code of the command line after this failure.
    """

    exit_code = 1


class UsageError(PeirceError):
    """Raised for an invalid request. The message names the value and the valid choices."""

    exit_code = 2


class DataError(PeirceError):
    """Raised when a file has the wrong format. The message names the file, line and field."""


class StoreError(PeirceError):
    """Raised when the store cannot be used.

    The store is locked, not writable or of another version, or the requested item does not exist.
    """


class Unavailable(PeirceError):
    """Raised when a model or tool gives no answer. An outage never counts as a prediction or a
    score.

    Attributes:
        usage: The tokens spent on requests without a usable answer; None if the model did not
            report them.
    """

    usage: Usage | None = None


class ContextExceeded(Unavailable):
    """Raised when a prompt is longer than the model's context. A shorter prompt may be answered.

    Args:
        text: The message.
        prompt_tokens: The number of tokens of the prompt, which may be an estimate.
        room_tokens: The number of tokens that a prompt may have, besides the answer. Where the
            context is unknown, half of `prompt_tokens`.
    """

    def __init__(self, text: str, prompt_tokens: int, room_tokens: int) -> None:
        super().__init__(text)
        self.prompt_tokens = prompt_tokens
        self.room_tokens = room_tokens


class SandboxUnavailable(Unavailable):
    """Raised when the sandbox cannot be started or has crashed. The message says what to do."""

    exit_code = 4


class BudgetSpent(PeirceError):
    """Raised when a session reaches its limit of tokens, dollars or failures. The session can be
    resumed.
    """

    exit_code = 3


class Interrupted(PeirceError):
    """Raised when the user stops the program without waiting. Unfinished work is lost; stored
    results remain.
    """

    exit_code = 130
