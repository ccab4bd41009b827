"""`infer`: apply a stored bank with the model of this session or by exact rules; propose nothing.

The bank is stored with the problem (`--bank SESSION` or `FILE`), so the session can be replayed
alone. Its record names the bank's session. Several banks are read as one, each text once.
"""

from __future__ import annotations

from functools import partial

from ...config import BankSettings
from ...records import BankEvent, Hypothesis, Json, Malformed
from .. import Method
from ..bank.steps import log_event, record_bank
from ..forecast import CallsByRole, Sizes, Span
from ..inference import Entry
from ..runtime.case import Case, Runtime
from ..runtime.steps import State, build_chain


async def open_bank(state: State, runtime: Runtime) -> dict[str, Json]:
    """Read the hypotheses of the stored banks, and add them unvisited to this session's bank."""
    case = runtime.context
    case.stored_entries = read_entries(case)
    for one in case.stored_entries:
        digest = Hypothesis(one.text).digest
        log_event(case, BankEvent(digest, one.text, "", -1, None, 0, "enter"))
    return {"stop": "opened"}


def read_entries(case: Case) -> list[Entry]:
    """Return the hypotheses of the stored banks, without invalid sentences and duplicates."""
    found: dict[str, Entry] = {}
    for bank in case.problem.public.get("banks", ()):
        for row in bank:
            read = case.family.parse_hypothesis(row["text"], case.make_view())
            if not isinstance(read, Malformed):
                found.setdefault(read.text, make_entry(read.text, row, len(case.problem.shown)))
    return list(found.values())


def make_entry(text: str, row: Json, shown: int) -> Entry:
    """Return a row of a stored bank as an entry.

    Args:
        text: the sentence.
        row: the row of the bank.
        shown: number of shown observations; other indices in `right` are dropped.
    """
    right = tuple(place for place in row.get("right") or () if 0 <= place < shown)
    return Entry(
        text, row.get("accuracy") or 0.0, row.get("visits") or 0, row.get("reward") or 0.0, right,
        row.get("covered"),
    )  # fmt: skip


def forecast(sizes: Sizes) -> CallsByRole:
    """Count the calls that a session needs to label rows with a stored bank."""
    entries = len({row["text"] for bank in sizes.problem.public["banks"] for row in bank})
    return {"judge": sizes.count_reading_calls(Span(entries, entries))}


METHOD = Method(
    "infer",
    "apply a stored bank; no new hypotheses",
    ("text",),
    partial(build_chain, open_bank, record_bank),
    settings=BankSettings,
    reads=frozenset({"bank"}),
    forecast=forecast,
    first_prompt=lambda case: (),
)
