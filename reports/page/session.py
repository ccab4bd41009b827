"""What is said of one session as a whole: what was run on what by whom, how it ended, what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...records import Json
from ..screen.endings import TOLD

if TYPE_CHECKING:
    from ...store import ProblemRow, Store

FILES = ("data", "observations", "space", "task_file", "answers")


def facts(
    store: Store, record: Mapping[str, Any], rows: Sequence[ProblemRow], scored: Mapping[str, Any]
) -> dict[str, Json]:
    """settings: pairs of a name and a text, in the order in which they are shown."""
    settings = record["settings"]
    operational = settings.get("operational") or {}
    session = str(record["session"])
    usage = store.usage(session)
    return {
        "session": session,
        "status": record["status"],
        "cause": record.get("cause") or "",
        "task": settings.get("task"),
        "family": settings.get("family"),
        "method": settings.get("method"),
        "model": str(operational.get("model_name") or settings.get("model")),
        "created": record["created"],
        "seconds": record.get("seconds"),
        "settings": [*_settings(settings, operational, rows), ("digest", record.get("digest") or "")],
        "ends": dict(Counter(row.cause for row in rows if row.status == "done")),
        "open": sum(row.status == "open" for row in rows),
        "failed": {row.problem.id: row.cause for row in rows if row.status == "failed"},
        "breaches": scored["breaches"],
        "malformed": scored["malformed"],
        "cost": [
            {"role": role, **{key: told[key] for key in TOLD if key in told}, "seconds": told["seconds"]}
            for role, told in usage["by_role"].items()
        ],
    }  # fmt: skip


def _settings(
    settings: Mapping[str, Any], operational: Mapping[str, Any], rows: Sequence[ProblemRow]
) -> list[tuple[str, str]]:
    layers = operational.get("layers") or {}
    held = f"{sum(layers.values())} of {len(layers)} layers hold" if layers else ""
    sandbox = ", ".join(one for one in (str(operational.get("sandbox") or ""), held) if one)
    versions = settings.get("versions") or {}
    shown = _shown(rows)
    told = [
        ("seed", settings.get("seed")),
        *((name, _file(operational.get(name))) for name in FILES),
        ("sample", operational.get("sample")),
        ("observations shown", "" if shown == str(operational.get("observations")) else shown),
        ("answers a problem", settings.get("max_answers")),
        ("answer format", settings.get("answer_format")),
        ("template", settings.get("template")),
        ("consistent from", (settings.get("text") or {}).get("tau")),
        ("sandbox", sandbox),
        ("peirce", versions.get("peirce")),
        ("python", versions.get("python")),
    ]
    return [(name, str(value)) for name, value in told if value not in (None, "")]


def _file(told: Any) -> str:
    """A file by its name and the first digits of its digest; of observations also a number."""
    if not isinstance(told, Mapping):
        return "" if told is None else str(told)
    return " ".join((str(told.get("name")), str(told.get("sha256") or "")[:12])).strip()


def _shown(rows: Sequence[ProblemRow]) -> str:
    counts = sorted({len(row.problem.shown) for row in rows})
    if not counts:
        return ""
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
