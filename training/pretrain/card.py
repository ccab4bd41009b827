"""The card of a small proposer: what it is, what it was taught, what was measured, how it is used."""

from __future__ import annotations

from collections.abc import Mapping

from ...records import Json

HEAD = """---
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
TABLE = """
## Problems that it has not seen

Answers at temperature 1, first answers alone.

| task | observations | prompts | answers each | instruction following | consistent | prompts with one | with two that differ |
|---|---|---|---|---|---|---|---|
"""


def card(record: Mapping[str, Json]) -> str:
    settings = record["settings"]
    shares = settings["shares"]
    listed = ", ".join(
        f"{name} {value}" for name, value in settings.items() if not isinstance(value, dict)
    )
    text = HEAD.format(
        architecture=settings["architecture"], parameters=record["parameters"],
        tasks=", ".join(settings["tasks"]), digest=record["digest"], settings=listed,
        tokens=record["tokens"], seconds=record["seconds"], loss=record["loss"],
        malformed=shares["malformed"], wrong=shares["wrong"], narrow=shares["narrow"],
    )  # fmt: skip
    rows = record.get("measured") or []
    if rows:
        text += TABLE + "".join(
            f"| {row['task']} | {row['observations']} | {row['prompts']} | {row['answers']}"
            f" | {row['instruction_following']:.3f} | {row['consistent']:.3f}"
            f" | {row['answered']:.3f} | {row['different']:.3f} |\n"
            for row in rows
        )
    return text
