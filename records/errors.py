"""Exceptions for expected failures: each carries one sentence for the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .calls import Usage


class PeirceError(Exception):
    """Base class of expected failures: one sentence for the user, and the exit code."""

    exit_code = 1


class UsageError(PeirceError):
    """Raised when a request is not valid; the message names the value and the valid choices."""

    exit_code = 2


class DataError(PeirceError):
    """Raised when a file lacks the expected form; the message names file, line and field."""


class StoreError(PeirceError):
    """Raised when the store is locked, has another version, is not writable, or lacks an item."""


class Unavailable(PeirceError):
    """Raised when a model or tool gives no answer. This is never a prediction and never a score.

    Attributes:
        usage: The tokens of requests without a usable answer, where the model reported them.
    """

    usage: Usage | None = None


class SandboxUnavailable(Unavailable):
    """Raised when a sandbox cannot be started or has died. The message says what to do."""

    exit_code = 4


class BudgetSpent(PeirceError):
    """Raised when a budget of tokens, dollars or failures is spent. The session can be resumed."""

    exit_code = 3


class Interrupted(PeirceError):
    """Raised when the user stops at once. Work in progress is lost; stored results remain."""

    exit_code = 130
