"""Ends that are expected: one sentence for the user each."""

from __future__ import annotations


class PeirceError(Exception):
    """An expected end: one sentence for the user, and the exit code of the command line."""

    exit_code = 1


class UsageError(PeirceError):
    """What was asked for cannot be: names the value given and the valid choices."""

    exit_code = 2


class DataError(PeirceError):
    """A file that cannot be read as what it should be: names file, line and field."""


class StoreError(PeirceError):
    """The store is locked, of another version, unwritable, or lacks what was asked for."""


class Unavailable(PeirceError):
    """A model or tool that gave no answer. An outage is never a prediction and never a score."""


class SandboxUnavailable(Unavailable):
    """A sandbox that cannot be built or has died; the run stops with the remedy."""

    exit_code = 4


class BudgetSpent(PeirceError):
    """A budget of tokens or dollars, or the failures allowed, is used up; the session can go on."""

    exit_code = 3


class Interrupted(PeirceError):
    """The user left at once: what was in flight is lost, what was stored stays."""

    exit_code = 130
