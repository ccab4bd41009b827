"""The start of a session on labelled text: the judge, how the bank is applied, and to which rows."""

from __future__ import annotations

from collections.abc import Mapping

from ...records import Json
from .findings import describe_shown_rows

SPLIT_NAMES = {"val": "validation", "ind": "test", "ood": "other source"}


def describe_text_session(event: Mapping[str, Json]) -> list[tuple[str, str]]:
    """Return (name, description) pairs for the banner of a session on labelled text.

    Args:
        event: The event that starts the session. If they are known, its "rows" has the number of
            rows of all problems, and its "calls" the number of model calls by role.
    """
    settings = event["settings"]
    found = [("judge", _judge(settings)), ("bank", _bank(settings))]
    if rows := event.get("rows"):
        found.append(("rows", _rows(rows, settings["text"])))
    if calls := event.get("calls"):
        found.append(("calls", _calls_by_role(calls)))
    return [one for one in found if one[1]]


def describe_search(event: Mapping[str, Json]) -> str:
    """Return a line about what the embedded search does first; "" for other sessions.

    Args:
        event: The event that starts the session.
    """
    settings = event["settings"]
    told = settings.get("model_settings") or {}
    if told.get("model") != "search" or not (rows := event.get("rows")):
        return ""
    of = "" if event["problems"] == 1 else f" of {event['problems']:,} problems"
    return (
        f"Searching {rows['shown']:,} rows{of} for sentences, with a budget of"
        f" {told['budget_expansions']:,} expansions"
    )


def _judge(settings: Mapping[str, Json]) -> str:
    text = settings["text"]
    if text["judge"] == "exact":
        return "exact rules only; no model is asked about texts"
    players = settings.get("operational", {}).get("players") or {}
    model = players["judge"][0] if "judge" in players else settings["model"]
    what = "the model" if "judge" not in players else str(model)
    times = f", {text['repeats']} answers per question" if text["repeats"] > 1 else ""
    if text.get("judge_batch", 1) > 1:
        times += f", {text['judge_batch']} texts per call"
    if "judge2" in players:
        times += f"; then {players['judge2'][0]} where the answers differ"
    if settings["method"] == "direct":
        return f"{what} labels the rows directly, with {text['shots']} labelled rows in each prompt"
    rest = "all sentences" if text["judge"] == "model" else "sentences that are not exact rules"
    return f"{what}: {rest}{times}"


def _bank(settings: Mapping[str, Json]) -> str:
    text, method = settings["text"], settings["method"]
    if text["inference"] is None:
        return ""
    read = f"applied by {text['inference']}"
    if method in ("hypogenic", "hyporefine", "union"):
        return (
            f"at most {text['capacity']} hypotheses, the best {text['top']} predict each row,"
            f" alpha {text['alpha']:g}; {read}"
        )
    return read


def _rows(rows: Mapping[str, int], text: Mapping[str, Json]) -> str:
    examples = text["examples"]
    first = (
        ""
        if examples is None or examples >= rows["shown"]
        else (f", {examples} of them in the first prompt")
    )
    splits = [
        f"{rows[one]:,} {SPLIT_NAMES[one]} rows ({one})" for one in text["splits"] if rows.get(one)
    ]
    read = ", ".join(splits) or "none, because the data has no rows to predict"
    shown = describe_shown_rows(rows["shown"], rows.get("training", rows["shown"]))
    return f"{shown}{first}; to predict: {read}"


def _calls_by_role(calls: Mapping[str, Mapping[str, int]]) -> str:
    told = []
    for role, count in calls.items():
        least, most = count["least"], count["most"]
        if most:
            told.append(f"{role} {least:,}{'' if least == most else f' to {most:,}'}")
    return ", ".join(told) or "none"
