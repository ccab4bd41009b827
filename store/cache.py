"""The cache of answers across sessions: a request that some session of this store has made of the
same model at the same endpoint is answered by what is recorded there.

A request names model, settings, messages, tools, schema and seed; where it went stands in its
session. Of several recorded answers (a session that ran without the cache) the latest counts.
"""

from __future__ import annotations

from ..records import Digest, Outcome
from .cells import json_of
from .connection import Reading


class AnswerCache:
    """What the other sessions of one endpoint hold, as far as it is written when this is made.
    Holds no answer in memory, but of each request eight bytes of its digest: the store is read for
    those alone that are there, as a look-up takes a millisecond beside a writer. What a session
    that runs at the same time is answered meanwhile is asked again."""

    def __init__(self, reading: Reading, session: str) -> None:
        self._reading = reading
        rows = reading.query("SELECT session, settings FROM session")
        endpoints = {name: _endpoint(settings) for name, settings in rows}
        here = endpoints.pop(session, None)
        self._sessions = {name for name, there in endpoints.items() if here and there == here}
        self._known: frozenset[int] = frozenset()
        if self._sessions:
            asked = reading.query(
                "SELECT request_digest FROM call WHERE kind = 'model' AND repeats = '' "
                "AND list_contains(?, session)",
                (sorted(self._sessions),),
            )
            self._known = frozenset(_begin(digest) for (digest,) in asked)

    def find(self, request: Digest) -> Outcome | None:
        """The recorded outcome of a model's call by the digest of its request; it took nothing."""
        if _begin(request) not in self._known:
            return None
        rows = self._reading.query(
            "SELECT session, response FROM call WHERE request_digest = ? AND kind = 'model' "
            "AND repeats = '' ORDER BY started DESC",
            (request,),
        )
        for session, response in rows:
            if session in self._sessions:
                return Outcome(json_of(response), repeats=session)
        return None


def _begin(digest: Digest) -> int:
    return int(digest[:16], 16)


def _endpoint(settings: str) -> str | None:
    reached = json_of(settings).get("operational", {}).get("reached") or {}
    endpoint = reached.get("endpoint")
    return endpoint if isinstance(endpoint, str) else None
