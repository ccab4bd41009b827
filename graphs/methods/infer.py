"""`infer`: apply a stored bank with the model of this session or by exact rules; propose nothing.

The bank is stored with the problem (`--bank SESSION` or `FILE`), so the session can be replayed
alone. Its record names the bank's session. Several banks are read as one, each text once.
"""

from __future__ import annotations

from functools import partial

from ...config import BankSettings
from ...records import BankEvent, Hypothesis, Json, Malformed
from .. import Method
from ..bank.steps import log, record_bank
from ..forecast import Calls, Sizes, Span
from ..inference import Entry
from ..runtime.case import Case, Runtime
from ..runtime.steps import State, in_line


async def open_bank(state: State, runtime: Runtime) -> dict[str, Json]:
    """Read the hypotheses of the stored banks, and add them unvisited to this session's bank."""
    case = runtime.context
    case.entries = entries_of(case)
    for one in case.entries:
        digest = Hypothesis(one.text).digest
        log(case, BankEvent(digest, one.text, "", -1, None, 0, "enter"))
    return {"stop": "opened"}


def entries_of(case: Case) -> list[Entry]:
    """Return the hypotheses of the stored banks, without invalid sentences and duplicates."""
    found: dict[str, Entry] = {}
    for bank in case.problem.public.get("banks", ()):
        for row in bank:
            read = case.family.read(row["text"], case.view())
            if not isinstance(read, Malformed):
                found.setdefault(read.text, entry_of(read.text, row, len(case.problem.shown)))
    return list(found.values())


def entry_of(text: str, row: Json, shown: int) -> Entry:
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


def forecast(of: Sizes) -> Calls:
    """Count the calls that read the bank."""
    entries = len({row["text"] for bank in of.problem.public["banks"] for row in bank})
    return {"judge": of.reading(Span(entries, entries))}


METHOD = Method(
    "infer",
    "apply a stored bank; no new hypotheses",
    ("text",),
    partial(in_line, open_bank, record_bank),
    settings=BankSettings,
    reads=frozenset({"bank"}),
    forecast=forecast,
    first_prompt=lambda case: (),
)
