"""Keep the keys of a session's models out of the data that the session stores.

The client of an endpoint already masks its key if an answer repeats it. However, an answer may also
contain the key in pieces that are joined later: by a program whose predicted value is then the key,
or by a parser that reads escapes. Therefore, a session with a key checks all data before storing
it.

A key in another form (in pieces, base64 or reversed) is not recognized. It is stored as the answer
wrote it, and it is not masked if it is put together later.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal

from ...agents.endpoint.replies import redact_key
from ...records import (
    CallKey,
    CallKind,
    Digest,
    HoldsSecrets,
    Journal,
    Json,
    Ledger,
    Outcome,
    StepRecord,
    Unavailable,
)


@dataclass(frozen=True)
class _Guard:
    """A journal and a ledger that pass on no secret of the session's models.

    What a call returned is masked before it is recorded, so that a replay sees the same. A request
    or a step that still holds a secret has a digest that masking would change: its problem fails.

    Args:
        journal: The journal of the session.
        ledger: The ledger of the session.
        secrets: Secrets by the variable of the environment that holds them.
    """

    journal: Journal
    ledger: Ledger
    secrets: Mapping[str, str]

    async def record_once(
        self,
        key: CallKey,
        kind: CallKind,
        request: Json,
        make: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        """Return the outcome as `Journal.record_once`. Raises Unavailable for a request with a secret."""
        self._check(request, "a request")

        async def make_masked() -> Outcome:
            outcome = await make()
            for secret in self.secrets.values():
                if any(secret in text for text in texts(outcome.response)):
                    outcome = replace(outcome, response=redact_key(outcome.response, secret))
            return outcome

        return await self.journal.record_once(key, kind, request, make_masked)

    def find_entry(self, key: CallKey) -> tuple[Digest, Outcome] | None:
        """Return the recorded call as `Journal.find_entry`."""
        return self.journal.find_entry(key)

    async def record_step(self, record: StepRecord) -> None:
        """Record a step as `Ledger.record_step`. Raises Unavailable for one with a secret."""
        self._check(record, "an answer")
        await self.ledger.record_step(record)

    async def record_end(self, problem: str, status: Literal["done", "failed"], cause: str) -> None:
        """Record an end as `Ledger.record_end`, with secrets masked in its cause."""
        for secret in self.secrets.values():
            cause = redact_key(cause, secret)
        await self.ledger.record_end(problem, status, cause)

    def _check(self, value: Any, name: str) -> None:
        for variable, secret in self.secrets.items():
            if any(secret in text for text in texts(value)):
                raise Unavailable(
                    f"{name} of this problem holds the key in {variable}, in a form that is known "
                    "only after it was read, so it is not stored: does the endpoint repeat keys?"
                )


def find_secrets(models: Iterable[object]) -> dict[str, str]:
    """Return the keys of these models, by the variable of the environment that holds them."""
    found: dict[str, str] = {}
    for model in models:
        if isinstance(model, HoldsSecrets):
            found |= model.secrets()
    return found


def guarded(journal: Journal, ledger: Ledger, secrets: Mapping[str, str]) -> tuple[Journal, Ledger]:
    """Return a journal and a ledger that store none of these keys.

    If there are no keys, `journal` and `ledger` are returned unchanged.

    Args:
        journal: The journal of the session.
        ledger: The ledger of the session.
        secrets: The keys by the variable that holds them (`find_secrets`).
    """
    if not secrets:
        return journal, ledger
    guard = _Guard(journal, ledger, secrets)
    return guard, guard


def texts(value: Any) -> Iterator[str]:
    """Yield all texts in a JSON value or a dataclass record, including the keys of mappings."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            left += one.keys()
            left += one.values()
        elif isinstance(one, list | tuple):
            left += one
        elif is_dataclass(one):
            left += [getattr(one, field.name) for field in fields(one)]
