"""`infer`: applies a stored bank, by the model of this session or by exact rules, and proposes nothing.

The bank comes with the problem (`--bank SESSION` or `FILE`), so the session replays by itself; which
session it was stands in its record. Several banks are read as one, each text once.
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
    """The entries of the stored banks; their texts enter this session's bank without a visit."""
    case = runtime.context
    case.entries = entries_of(case)
    for one in case.entries:
        digest = Hypothesis(one.text).digest
        log(case, BankEvent(digest, one.text, "", -1, None, 0, "enter"))
    return {"stop": "opened"}


def entries_of(case: Case) -> list[Entry]:
    """Sentences that no answer could be are left out; of equal ones the first stays."""
    found: dict[str, Entry] = {}
    for bank in case.problem.public.get("banks", ()):
        for row in bank:
            read = case.family.read(row["text"], case.view())
            if not isinstance(read, Malformed):
                found.setdefault(read.text, entry_of(read.text, row, len(case.problem.shown)))
    return list(found.values())


def entry_of(text: str, row: Json, shown: int) -> Entry:
    right = tuple(place for place in row.get("right") or () if 0 <= place < shown)
    return Entry(
        text, row.get("accuracy") or 0.0, row.get("visits") or 0, row.get("reward") or 0.0, right,
        row.get("covered"),
    )  # fmt: skip


def forecast(of: Sizes) -> Calls:
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
