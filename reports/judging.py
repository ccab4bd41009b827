"""Figures on the judge models of a session: a second judge, and several texts per call.

Each step of a problem records figures on all questions so far (graphs/runtime/judge_questions.py), so the
last step of a problem counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..records import Json, StepRecord

JUDGING = "judging"  # the field of a step with figures on the judges
_OF_BATCHES = ("batches", "texts", "differing", "compared", "unreadable", "calls", "single_calls")
_OF_CALIBRATION = ("questions", "agreed", "kept", "kept_agreed")


def summarize_judging(steps: Iterable[StepRecord]) -> dict[str, Json]:
    """Return the figures on the judge models, summed over problems; {} where one judge labels single
    texts.

    Returns:
        {"questions", "second", "overruled", "calls_saved", "calibration": {"questions", "agreed",
        "kept", "kept_agreed", "always_asked"}, "batches": {"batches", "texts", "differing",
        "compared", "unreadable", "calls", "single_calls", "fell_back"}}. "questions" counts pairs of
        sentence and text, "second" those that the second judge answered, and "calls_saved" those
        that it did not have to answer. "always_asked" and "fell_back" count problems whose second
        judge was always asked, or whose texts were asked about alone because labels changed with
        their order. "second" to "calibration" are missing without a second judge, "batches" without
        batches.

    Args:
        steps: The steps of all problems of a session.
    """
    last: dict[str, Mapping[str, Json]] = {}
    for step in steps:
        if told := step.fields.get(JUDGING):
            last[step.problem] = told
    if not last:
        return {}
    parts = list(last.values())
    found: dict[str, Json] = {"questions": sum(one["questions"] for one in parts)}
    if any("second" in one for one in parts):
        second = sum(one.get("second", 0) for one in parts)
        calibrated = [one["calibration"] for one in parts if one.get("calibration")]
        found |= {
            "second": second,
            "overruled": sum(one.get("overruled", 0) for one in parts),
            "calls_saved": found["questions"] - second,
            "calibration": {
                **{key: sum(one[key] for one in calibrated) for key in _OF_CALIBRATION},
                "always_asked": len(parts)
                - sum(one["threshold"] is not None for one in calibrated),
            },
        }
    batches = [one["batches"] for one in parts if "batches" in one]
    if batches:
        found["batches"] = {
            **{key: sum(one[key] for one in batches) for key in _OF_BATCHES},
            "fell_back": sum(one["calibrated"] and not one["used"] for one in batches),
        }
    return found


def describe_judging(figures: Mapping[str, Json]) -> list[str]:
    """Return sentences about the figures of `summarize_judging`; none for {}."""
    told = []
    if "second" in figures:
        first = figures["calibration"]
        said = (
            f"the second judge answered {figures['second']:,} of {figures['questions']:,} questions"
            f" and changed {figures['overruled']:,} labels"
        )
        if first["questions"]:
            said += (
                f"; on {first['questions']:,} test questions, the judges agreed on"
                f" {first['agreed'] / first['questions']:.0%}"
            )
        if first["always_asked"]:
            said += f"; always asked in {_problems(first['always_asked'])}"
        told.append(said)
    if "batches" in figures:
        batches = figures["batches"]
        said = f"{batches['calls']:,} calls about {batches['texts']:,} texts in batches"
        if batches["compared"]:
            said += (
                f"; {batches['differing'] / batches['compared']:.0%} of {batches['compared']:,} labels"
                " changed with the order of the texts"
            )
        if batches["unreadable"]:
            said += f"; {batches['unreadable']:,} texts asked about alone, without a readable label"
        if batches["fell_back"]:
            said += f"; {_problems(batches['fell_back'])} fell back to single texts"
        told.append(said)
    return told


def _problems(count: int) -> str:
    return f"{count:,} problem" + ("" if count == 1 else "s")
