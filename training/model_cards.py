"""Write model cards: the README.md of a trained model, in the format that model hubs read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import yaml

from ..records import Json
from ..store.trainings import Point
from .stages import STAGES

DIGEST_DIGITS = 16  # digits shown of a digest


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table with the column titles `heads`."""

    def line(cells: Sequence[str]) -> str:
        inside = " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells)
        return f"| {inside} |"

    return [line(heads), line(["---"] * len(heads)), *map(line, rows)]


# --- The card of a model trained by DPO.

MAX_SESSIONS = 40  # the most sessions that a card lists


def dpo_card(
    record: Mapping[str, Json],
    points: Sequence[Point],
    counts: Mapping[str, Json],
    pair_settings: Mapping[str, Json],
) -> str:
    """Return the text of the model card of a DPO training.

    The card identifies the base model, the pairs and their sessions by digest, so anyone who has
    the store can repeat the training. It contains no local paths and no prompts.

    Args:
        record: The record of the training, with the keys training, status, base {"name",
            "weights"}, pairs (digest), settings, kind ("adapter" or "model"), examples, seconds,
            said and versions.
        points: The measured values in the log of the training.
        counts: The report of the set of pairs, from the store.
        pair_settings: The settings of the set of pairs, from the store.
    """
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
    """Return the id of a model on the hub, or the last part of a folder's path."""
    base = record.get("base") or {}
    name = str(base.get("name") if isinstance(base, Mapping) else base)
    return PurePath(name).name if name.startswith(("/", ".", "~")) or name.count("/") != 1 else name


def _settings(record: Mapping[str, Json]) -> dict[str, Json]:
    """Return the settings, with only the file name of a chat template file."""
    settings = dict(record.get("settings") or {})
    if settings.get("chat_template"):
        settings["chat_template"] = PurePath(str(settings["chat_template"])).name
    return settings


def _short(record: Mapping[str, Json], key: str) -> str:
    value = record.get(key) or {}
    return str(value.get("weights") if isinstance(value, Mapping) else value)[:DIGEST_DIGITS]


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
        [
            f"`{str(one.get('digest'))[:DIGEST_DIGITS]}`",
            *(str(one.get(key, "–")) for key in heads[1:]),
        ]
        for one in told[:MAX_SESSIONS]
    ]
    more = [f"… and {len(told) - MAX_SESSIONS} more."] if len(told) > MAX_SESSIONS else []
    return [*markdown_table(heads, rows), *more]


def _counts(counts: Mapping[str, Json]) -> list[str]:
    by_split = counts.get("by_split") or {}
    if not by_split:
        return []
    rows = [
        [split, *(f"{of.get(stage, 0):,}" for stage in STAGES)] for split, of in by_split.items()
    ]
    return markdown_table(["pairs", *STAGES], rows)


def _course(points: Sequence[Point]) -> list[str]:
    """Return a table with the first and the last probe of each stage."""
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
    probed = markdown_table(["stage", *(name.replace("_", " ") for name in names)], rows)
    return [*probed, *(["", *sampled] if sampled else [])]


def _from_to(values: Sequence[float]) -> str:
    return f"{values[0]:.3f} → {values[-1]:.3f}" if values else "–"


def _versions(record: Mapping[str, Json]) -> str:
    told = record.get("versions") or {}
    return ", ".join(f"{name} {value}" for name, value in told.items() if value) or "unknown"


# --- The card of a classifier.


def classifier_card(base: str, details: Mapping[str, Json], settings: Json) -> str:
    """Return the text of a classifier's model card, with its training data and its scores.

    Args:
        base: The name of the base model.
        details: The classifier's data in the record of the training, including its scores.
        settings: The settings of the training.
    """
    name = PurePath(base).name
    front = {
        "library_name": "transformers", "base_model": name, "pipeline_tag": "text-classification",
        "tags": ["peirce", "hypobench"],
    }  # fmt: skip
    rows = [
        [split, f"{of['accuracy']:.3f} [{of['low']:.3f}, {of['high']:.3f}]", f"{of['f1']:.3f}",
         f"{of['n']:,}"]
        for split, of in details["scores"].items()
    ]  # fmt: skip
    digests = [
        [split, f"`{digest[:DIGEST_DIGITS]}`"] for split, digest in details["digests"].items()
    ]
    lines = [
        "---", yaml.safe_dump(front, sort_keys=False).strip(), "---", "",
        f"# {name}, fine-tuned on {details['set']}", "",
        f"It labels a row as one of {', '.join(details['labels'])}. {details['trained']:,} of"
        f" {details['weights']:,} weights were trained on {details['rows']['train'] - details['held']:,} rows;"
        f" pass {details['best']} of {details['epochs']} had the best macro F1 on the validation rows.", "",
        *markdown_table(["rows", "accuracy", "macro F1", "n"], rows), "",
        "Rows by digest:", "", *markdown_table(["rows", "digest"], digests), "", "```yaml",
        yaml.safe_dump(dict(settings.to_record()), sort_keys=False).strip(), "```",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


# --- The card of a small proposer.

PROPOSER_HEAD = """---
library_name: transformers
pipeline_tag: text-generation
tags: [peirce, hypothesis-discovery]
---
# A small proposer, from nothing

A {architecture} decoder of {parameters:,} parameters, trained by `peirce pretrain` on generated
problems of {tasks} with answers of the embedded search. It reads the compact template alone:

    peirce run list_functions --model hf:FOLDER --template compact --observations 3

Of its lessons' answers {malformed:.0%} could not be read, {wrong:.0%} were wrong and {narrow:.0%} undefined
without need, on purpose: preferences are to teach what is better. Do not expect it to speak.

Settings (digest `{digest}`): {settings}.
Trained on {tokens:,} tokens in {seconds:,.0f} s, the last mean loss on answers {loss}.
"""
PROPOSER_TABLE = """
## Problems that it has not seen

Answers at temperature 1, first answers alone.

| task | observations | prompts | answers each | instruction following | consistent | prompts with one | with two that differ |
|---|---|---|---|---|---|---|---|
"""


def proposer_card(record: Mapping[str, Json]) -> str:
    """Return the text of the model card of a small pretrained proposer.

    Args:
        record: The record of the pretraining, as in pretrain.json.
    """
    settings = record["settings"]
    shares = settings["shares"]
    listed = ", ".join(
        f"{name} {value}" for name, value in settings.items() if not isinstance(value, dict)
    )
    text = PROPOSER_HEAD.format(
        architecture=settings["architecture"], parameters=record["parameters"],
        tasks=", ".join(settings["tasks"]), digest=record["digest"], settings=listed,
        tokens=record["tokens"], seconds=record["seconds"], loss=record["loss"],
        malformed=shares["malformed"], wrong=shares["wrong"], narrow=shares["narrow"],
    )  # fmt: skip
    rows = record.get("measured") or []
    if rows:
        text += PROPOSER_TABLE + "".join(
            f"| {row['task']} | {row['observations']} | {row['prompts']} | {row['answers']}"
            f" | {row['instruction_following']:.3f} | {row['consistent']:.3f}"
            f" | {row['answered']:.3f} | {row['different']:.3f} |\n"
            for row in rows
        )
    return text
