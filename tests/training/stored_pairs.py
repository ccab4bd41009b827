"""A store with a set of pairs and no session, for verbs of training."""

from __future__ import annotations

from pathlib import Path

from peirce.store import Store
from peirce.training import save_table
from tiny_pairs import make_table

REPORT = {
    "sessions": [{"session": "gone", "digest": "ab" * 32, "task": "list_functions", "method": "abduce",
                  "model": "hf:tiny", "answers": 96}],
    "by_split": {"train": {"parsing": 30, "consistency": 30, "gear": 30}},
}  # fmt: skip

# As few and as small as a training can be with two probes after the first.
TINY = dict(schedule="momentum", examples=16, period=8, batch=4, device_batch=4, probe_pairs=4,
            learning_rate=1e-3, full=True, precompute=False, max_length=256, device="cpu")  # fmt: skip


def store_pairs(path: Path, **more) -> str:
    with Store.open(path, write=True) as store:
        return save_table(store, make_table(**more), REPORT)
