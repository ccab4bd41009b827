"""The bank: a fold over its log of events."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..records import BankEvent, Digest


def fold(events: Iterable[BankEvent], alpha: float) -> list[dict[str, Any]]:
    """The state of one problem's bank, best reward first, ties by entry.

    accuracy: share of the visits that were right. reward: accuracy + alpha * sqrt(ln t / visits),
    t being the time of the hypothesis' last visit, for the bonus is renewed at a visit alone
    (HypoGeniC's rule). right: the observations it was right on, ascending.
    """
    held: dict[Digest, dict[str, Any]] = {}
    for event in events:
        entry = held.setdefault(
            event.hypothesis,
            {
                "hypothesis": event.hypothesis,
                "text": event.text,
                "description": event.description,
                "visits": 0,
                "hits": 0,
                "t": 0,
                "right": set(),
            },
        )
        entry["visits"] += 1
        entry["t"] = max(entry["t"], event.t)
        if event.right:
            entry["hits"] += 1
            entry["right"].add(event.observation)
    entries = [_state(entry, alpha) for entry in held.values()]
    entries.sort(key=lambda entry: -entry["reward"])  # stable: ties by entry
    return [{"rank": rank, **entry} for rank, entry in enumerate(entries, 1)]


def _state(entry: dict[str, Any], alpha: float) -> dict[str, Any]:
    visits, hits, t = entry["visits"], entry["hits"], entry["t"]
    accuracy = hits / visits
    return {
        "hypothesis": entry["hypothesis"],
        "text": entry["text"],
        "description": entry["description"],
        "accuracy": accuracy,
        "visits": visits,
        "reward": accuracy + alpha * math.sqrt(math.log(max(t, 1)) / visits),
        "t": t,
        "right": sorted(entry["right"]),
    }
