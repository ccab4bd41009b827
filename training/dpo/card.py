"""The card of a trained model: README.md beside it, in the form that model hubs read.

It names what the model was made of by digest: its base, its pairs and the sessions behind them, so that
who has the store can make it again. No path of a machine and no prompt stands in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import yaml

from ...records import Json
from ...store.trainings import Point
from ..cards import SHORT, table
from ..stages import STAGES

TOLD = 40  # sessions that are listed


def card(
    record: Mapping[str, Json],
    points: Sequence[Point],
    counts: Mapping[str, Json],
    pair_settings: Mapping[str, Json],
) -> str:
    """record: of the training: training, status, base {"name", "weights"}, pairs (digest), settings, kind
    of weights ("adapter" or "model"), examples, seconds, said, versions. points: its log. counts,
    pair_settings: of the set of pairs, as the store has them."""
    base = _base(record)
    settings = _settings(record)
    adapter = record.get("kind") != "model"
    front = {
        "library_name": "peft" if adapter else "transformers",
        "base_model": base,
        "pipeline_tag": "text-generation",
        "tags": ["peirce", "gear", "dpo", "trl", *(["lora"] if adapter else [])],
    }
    what = "A LoRA adapter" if adapter else "All weights"
    lines = [
        "---", yaml.safe_dump(front, sort_keys=False).strip(), "---", "",
        f"# {base}, trained by `{settings.get('schedule')}` preferences", "",
        f"{what} of {base} (weights `{_short(record, 'base')}`), fine-tuned by DPO to propose hypotheses"
        " that can be read, agree with the observations, and differ from each other (GEAR, section 6).",
        "", *_ended(record), "", "## Use", "", "```",
        f"peirce run list_functions --model hf:{'BASE+ADAPTER' if adapter else 'MODEL'}"
        f"{_template(pair_settings)}",
        *(["peirce train --merge ADAPTER --base BASE --out MODEL     # one folder that any server loads"]
          if adapter else []),
        "```", "", "## Made from", "",
        f"Training `{record.get('training')}` on the pairs `{_short(record, 'pairs')}`, which `peirce"
        " pairs` made of these sessions:", "", *_sessions(counts, pair_settings), "",
        *_counts(counts), "", "## Course", "", *_course(points), "", "## Settings", "", "```yaml",
        yaml.safe_dump(settings, sort_keys=False).strip(), "```", "",
        f"Versions: {_versions(record)}.",
        "",
        "Preferences were computed by executing and comparing hypotheses; nobody rated them. The model"
        " writes programs or rules that may be wrong: run them in a sandbox, as `peirce run` does.",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _base(record: Mapping[str, Json]) -> str:
    """An id of a hub, or the last part of a folder's name."""
    base = record.get("base") or {}
    name = str(base.get("name") if isinstance(base, Mapping) else base)
    return PurePath(name).name if name.startswith(("/", ".", "~")) or name.count("/") != 1 else name


def _settings(record: Mapping[str, Json]) -> dict[str, Json]:
    """Of a chat template that was a file its name alone."""
    settings = dict(record.get("settings") or {})
    if settings.get("chat_template"):
        settings["chat_template"] = PurePath(str(settings["chat_template"])).name
    return settings


def _short(record: Mapping[str, Json], key: str) -> str:
    value = record.get(key) or {}
    return str(value.get("weights") if isinstance(value, Mapping) else value)[:SHORT]


def _template(pair_settings: Mapping[str, Json]) -> str:
    template = pair_settings.get("template") or "full"
    return "" if template == "full" else f" --template {template}"


def _ended(record: Mapping[str, Json]) -> list[str]:
    settings = record.get("settings") or {}
    told = f"It saw {record.get('examples'):,} of {settings.get('examples'):,} examples"
    if record.get("status") == "stopped":
        told += " and was stopped by a warning"
    said = [f"- {one}" for one in record.get("said") or ()]
    return [f"{told}.", *(["", "Warnings:", "", *said] if said else [])]


def _sessions(counts: Mapping[str, Json], pair_settings: Mapping[str, Json]) -> list[str]:
    told = counts.get("sessions") or [{"digest": d} for d in pair_settings.get("sessions") or ()]
    heads = ["digest", "task", "method", "model"]
    rows = [
        [f"`{str(one.get('digest'))[:SHORT]}`", *(str(one.get(key, "–")) for key in heads[1:])]
        for one in told[:TOLD]
    ]
    more = [f"… and {len(told) - TOLD} more."] if len(told) > TOLD else []
    return [*table(heads, rows), *more]


def _counts(counts: Mapping[str, Json]) -> list[str]:
    by_split = counts.get("by_split") or {}
    if not by_split:
        return []
    rows = [
        [split, *(f"{of.get(stage, 0):,}" for stage in STAGES)] for split, of in by_split.items()
    ]
    return table(["pairs", *STAGES], rows)


def _course(points: Sequence[Point]) -> list[str]:
    """Of each stage what the first and the last probe said."""
    names = ("probe_loss", "probe_accuracy", "probe_margin", "chosen_logratio", "rejected_logratio")
    found: dict[tuple[str, str], list[float]] = {}
    for one in points:
        found.setdefault((one.stage, one.name), []).append(one.value)
    stages = [stage for stage in STAGES if any((stage, name) in found for name in names)]
    if not stages:
        return ["No probe was logged."]
    rows = [
        [stage, *(_from_to(found.get((stage, name), [])) for name in names)] for stage in stages
    ]
    sampled = [
        f"Sampled {name.replace('_', ' ')}: {_from_to(found['', name])}."
        for name in ("instruction_following", "consistent")
        if ("", name) in found
    ]
    probed = table(["stage", *(name.replace("_", " ") for name in names)], rows)
    return [*probed, *(["", *sampled] if sampled else [])]


def _from_to(values: Sequence[float]) -> str:
    return f"{values[0]:.3f} → {values[-1]:.3f}" if values else "–"


def _versions(record: Mapping[str, Json]) -> str:
    told = record.get("versions") or {}
    return ", ".join(f"{name} {value}" for name, value in told.items() if value) or "unknown"
