"""The cross-model table: the scores of one bank of hypotheses that several models apply.

In HypoBench, section 5, one model proposes the hypotheses and another model applies them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from ....records import Json
from ...screen.text import create_table, to_one_line

EXACT = "exact rules"
SCORES = ("accuracy_ind", "f1_ind", "accuracy_ood", "f1_ood", "accuracy_val", "f1_val")


def build_cells(
    recorded: Sequence[Mapping[str, Json]],
    scored: Sequence[Mapping[str, Json]],
    proposers: Mapping[str, str],
) -> list[dict[str, Json]]:
    """Return the cells of the cross-model table, for banks that at least two sessions used.

    There is one cell per session: {bank, proposer, judge, inference, session, …scores}. "bank" is
    the id of the session that made the bank, or the name of a file.

    Args:
        recorded: Records of the sessions in the store.
        scored: The scores of the same sessions.
        proposers: Name of the proposer of every session in the store, by session.
    """
    found = [_cell(one, score, proposers) for one, score in zip(recorded, scored, strict=True)]
    banks = [cell["bank"] for cell in found]
    return [cell for cell in found if banks.count(cell["bank"]) > 1]


def _cell(
    record: Mapping[str, Json], score: Mapping[str, Json], proposers: Mapping[str, str]
) -> dict[str, Json]:
    settings = record["settings"]
    stored = settings.get("operational", {}).get("bank") or []
    names = [str(one.get("session") or one["file"]["name"]) for one in stored]
    sources = names or [str(record["session"])]
    told = {
        "bank": " + ".join(sources),
        "proposer": " + ".join(dict.fromkeys(proposers.get(name, name) for name in sources)),
        "judge": find_judge(settings, str(score["model"])),
        "inference": (settings.get("text") or {}).get("inference"),
        "session": record["session"],
    }
    metrics = score["metrics"]
    return told | {name: metrics.get(name, {}).get("mean") for name in SCORES}


def find_judge(settings: Mapping[str, Json], model: str) -> str:
    """Return the name of the model that labelled texts in a session, or `EXACT` for exact rules.

    Args:
        settings: Settings of the session.
        model: Name of the session's proposer.
    """
    if (settings.get("text") or {}).get("judge") == "exact":
        return EXACT
    players = settings.get("operational", {}).get("players") or {}
    return str(players["judge"][0]) if "judge" in players else model


def print_table(out: Console, table_cells: Sequence[Mapping[str, Json]]) -> None:
    """Print accuracy and macro F1 in a table with one row per bank and one column per judge.

    The scores are computed on the test rows. If no session has test rows, they are computed on the
    out-of-distribution rows.
    """
    split = "ind" if any(one["accuracy_ind"] is not None for one in table_cells) else "ood"
    judges = list(dict.fromkeys(one["judge"] for one in table_cells))
    shown = create_table(
        f"{split}: accuracy / F1", "bank", *(to_one_line(judge, 40) for judge in judges)
    )
    for bank in dict.fromkeys(one["bank"] for one in table_cells):
        of_bank = [one for one in table_cells if one["bank"] == bank]
        said = {one["judge"]: _format_cell(one, split) for one in of_bank}
        cells = (said.get(judge, "") for judge in judges)
        shown.add_row(to_one_line(of_bank[0]["proposer"], 40), to_one_line(bank, 24), *cells)
    out.print(shown)


def _format_cell(cell: Mapping[str, Json], split: str) -> str:
    accuracy, f1 = cell[f"accuracy_{split}"], cell[f"f1_{split}"]
    return "–" if accuracy is None or f1 is None else f"{accuracy:.3f} / {f1:.3f}"
