"""`infer`: predict labels with a stored bank of hypotheses, without proposing new hypotheses.

The bank (`--bank SESSION` or `FILE`) is stored with the problem, so that the session can be
replayed without the other session. The record of this session names the session of the bank.
Several banks are combined, and each text is used once.
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
    """Read the hypotheses of the stored banks, and add them to this session's bank without
    visits.
    """
    case = runtime.context
    case.stored_entries = read_entries(case)
    for one in case.stored_entries:
        digest = Hypothesis(one.text).digest
        log_event(case, BankEvent(digest, one.text, "", -1, None, 0, "enter"))
    return {"stop": "opened"}


def read_entries(case: Case) -> list[Entry]:
    """Return the hypotheses of the stored banks.

    Invalid sentences and duplicates are left out.
    """
    found: dict[str, Entry] = {}
    for bank in case.problem.public.get("banks", ()):
        for row in bank:
            read = case.family.parse_hypothesis(row["text"], case.make_view())
            if not isinstance(read, Malformed):
                found.setdefault(read.text, make_entry(read.text, row, len(case.problem.shown)))
    return list(found.values())


def make_entry(text: str, row: Json, shown: int) -> Entry:
    """Return a hypothesis of a stored bank as an `Entry`.

    Args:
        text: The sentence.
        row: The JSON object of the hypothesis in the stored bank.
        shown: The number of shown observations. Larger indices in `right` are dropped.
    """
    right = tuple(place for place in row.get("right") or () if 0 <= place < shown)
    return Entry(
        text, row.get("accuracy") or 0.0, row.get("visits") or 0, row.get("reward") or 0.0, right,
        row.get("covered"),
    )  # fmt: skip


def forecast(sizes: Sizes) -> CallsByRole:
    """Count the calls that label rows with a stored bank."""
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
    takes_hints=False,
)
