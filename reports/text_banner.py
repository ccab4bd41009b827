"""What the start of a session on labelled text says: who judges, how the bank is read, on which rows."""

from __future__ import annotations

from collections.abc import Mapping

from ..records import Json

SAID = {"val": "validation", "ind": "test", "ood": "other source"}


def lines(event: Mapping[str, Json]) -> list[tuple[str, str]]:
    """(name, what is said). event: of the session; "rows" there counts the rows of all problems, and
    "calls" those of models, where they are known."""
    settings = event["settings"]
    found = [("judge", _judge(settings)), ("bank", _bank(settings))]
    if rows := event.get("rows"):
        found.append(("rows", _rows(rows, settings["text"])))
    if calls := event.get("calls"):
        found.append(("calls", _calls(calls)))
    return [one for one in found if one[1]]


def _judge(settings: Mapping[str, Json]) -> str:
    text = settings["text"]
    if text["judge"] == "exact":
        return "exact rules alone; no model is asked about texts"
    players = settings.get("operational", {}).get("players") or {}
    model = players["judge"][0] if "judge" in players else settings["model"]
    what = "the model" if "judge" not in players else str(model)
    times = f", {text['repeats']} answers a question" if text["repeats"] > 1 else ""
    if settings["method"] == "direct":
        return f"{what} labels the rows itself, with {text['shots']} labelled rows in each prompt"
    rest = "all sentences" if text["judge"] == "model" else "sentences that are no exact rules"
    return f"{what}: {rest}{times}"


def _bank(settings: Mapping[str, Json]) -> str:
    text, method = settings["text"], settings["method"]
    if text["inference"] is None:
        return ""
    read = f"read by {text['inference']}"
    if method in ("hypogenic", "hyporefine", "union"):
        return f"at most {text['capacity']}, a row to the best {text['top']}, alpha {text['alpha']:g}; {read}"
    return read


def _rows(rows: Mapping[str, int], text: Mapping[str, Json]) -> str:
    examples = text["examples"]
    first = "" if examples is None or examples >= rows["shown"] else f", {examples} of them first"
    splits = [f"{rows[one]:,} {SAID[one]} rows ({one})" for one in text["splits"] if rows.get(one)]
    read = ", ".join(splits) or "no rows: the data has none to predict"
    return f"{rows['shown']:,} shown{first}; predicted: {read}"


def _calls(calls: Mapping[str, Mapping[str, int]]) -> str:
    told = []
    for role, count in calls.items():
        least, most = count["least"], count["most"]
        if most:
            told.append(f"{role} {least:,}{'' if least == most else f' to {most:,}'}")
    return ", ".join(told) or "none"
