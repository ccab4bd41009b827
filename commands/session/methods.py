"""What a method is given: its own defaults, what it takes beside the general settings, and who
repairs for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from ...records import Family, Json, Measuring, Repairer, UsageError
from .settings import split_model

if TYPE_CHECKING:
    from ...graphs import Method

GENERAL: Mapping[str, Json] = {"max_answers": 25, "tool_calls": 4, "max_bad": 3}
REPAIRS = ("search",)  # --repair, each with its presets as search:PRESET
REPAIRED = ("logic",)  # families that these know


def course_of(method: str, family: Family, given: Mapping[str, Json]) -> dict[str, Json]:
    """The settings of how a problem goes: `given` before the method's own before `GENERAL`. given:
    None for what is not. Raises UsageError for what the method, or the family, does not take."""
    from ... import graphs

    chosen = graphs.method(method, family.name)
    own = {**chosen.settings, **chosen.of_family.get(family.name, {})}
    for name in graphs.CHOSEN:
        value = given.get(name)
        if value is None or name in chosen.takes or value == own.get(name):
            continue
        able = [one.name for one in graphs.methods().values() if name in one.takes]
        raise UsageError(
            f"{name} is {_shown(value)}: method {method} takes none;"
            f" those that do: {', '.join(able)}"
        )
    given = _with_rounds(chosen, family, given)
    if not isinstance(family, Measuring):
        if given.get("target_gap") is not None:
            raise UsageError(
                f"target_gap is {given['target_gap']}: it is of rules about worlds; {family.name}"
                " tasks end at the first hypothesis that is right on all that is shown"
            )
        own.pop("target_gap", None)
    gap = given.get("target_gap")
    if gap is not None and gap < 0:
        raise UsageError(f"target_gap is {gap:g}: it must be 0 or more")
    told = {name: value for name, value in given.items() if value is not None and name != "repair"}
    brief = {"tool_calls": 0} if told.get("template") == "compact" else {}
    found = {**GENERAL, **own, **brief, **told}
    return {name: value for name, value in found.items() if value is not None}


def _with_rounds(method: Method, family: Family, given: Mapping[str, Json]) -> Mapping[str, Json]:
    """Rounds as conversations, of t3, with all their answers; those of labelled text otherwise are
    passes through its rows, a setting of `graphs.text_settings`."""
    from ...graphs.t3 import ANSWERS

    rounds = given.get("rounds")
    if rounds is None:
        return given
    if "rounds" in method.takes:
        if rounds < 1:
            raise UsageError(f"rounds is {rounds}: it must be at least 1")
        return {**given, "max_answers": ANSWERS * rounds}
    if family.name != "text":
        raise UsageError(
            f"rounds is {rounds}: method {method.name} takes none; t3 does, and methods that pass"
            " through the rows of labelled text"
        )
    return {name: value for name, value in given.items() if name != "rounds"}


def _shown(value: Json | Repairer) -> str:
    return type(value).__name__ if isinstance(value, Repairer) else repr(value)


def check_repair(repair: str | Repairer | None, family: Family) -> None:
    """Raises UsageError for a name of nobody who repairs, and for a family that nobody named knows."""
    if not isinstance(repair, str):
        return
    if repair.partition(":")[0] not in REPAIRS:
        raise UsageError(f"repair is {repair!r}: it must be one of {', '.join(REPAIRS)}")
    if family.name not in REPAIRED:
        raise UsageError(
            f"repair is {repair!r}: there is no repair of {family.name} yet, only of"
            f" {', '.join(REPAIRED)} (task abd)"
        )


def fitting(method: str, options: Mapping[str, Any], standing: Collection[str]) -> dict[str, Any]:
    """`options` without those of file and environment that this method does not take: they were
    written for another one. standing: the options that come from there; what a flag says stays."""
    from ... import graphs

    known = graphs.methods().get(method)
    if known is None:  # `course_of` says so
        return dict(options)
    apart = {name for name in graphs.CHOSEN if name in standing and name not in known.takes}
    return {name: None if name in apart else value for name, value in options.items()}


async def open_repairer(repair: str | Repairer, options: Mapping[str, Json]) -> Repairer:
    """Who is meant; of an object, itself. options: of the model that repairs. Raises UsageError."""
    if not isinstance(repair, str):
        return repair
    from ...agents import open_model

    opened: Any = await open_model(repair, options)
    if not isinstance(opened, Repairer):
        await opened.close()
        raise UsageError(f"repair is {repair!r}: this model repairs nothing")
    return opened


def repair_settings(repair: str | Repairer | None, told: Json) -> dict[str, Json]:
    """What a session records of who repairs. told: what they say of themselves."""
    if repair is None:
        return {}
    name = repair if isinstance(repair, str) else str(told.get("model", type(repair).__name__))
    return {"repair": name, "repairer_settings": split_model(told)[0]}
