"""The library of a pretraining, kept in the user's cache folder under the hash of what made it: two
models that learn of the same problems search them once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from ...records import Json, Observation, canonical_json, digest_of, digest_of_text
from ...tasks.record_cache import cache_folder
from .library import Chain, Program, grid_programs, list_programs, scenes

FORM = 1  # of the file and of the searches that fill it


def programs(task: str, seed: int, problems: int) -> list[Program]:
    """Of lists or grids, from the cache or searched now."""

    def made() -> Json:
        found = (
            list_programs(seed, problems)
            if task == "list_functions"
            else grid_programs(task, seed, problems)
        )
        return [_of_program(one) for one in found]

    return [Program(*one) for one in _kept([task, seed, problems], made)]


def chains(seed: int, problems: int) -> list[Chain]:
    """Of scenes, likewise."""

    def made() -> Json:
        return [
            [
                [[o.input, o.output] for o in chain.shown],
                [_of_program(one) for one in chain.answers],
            ]
            for chain in scenes(seed, problems)
        ]

    return [
        Chain(tuple(Observation(*pair) for pair in shown), tuple(Program(*one) for one in answers))
        for shown, answers in _kept(["acre", seed, problems], made)
    ]


def _of_program(one: Program) -> list[Json]:
    return [one.source, one.sentence, one.cost, one.weight]


def _kept(named: list[Json], make: Callable[[], Json]) -> Json:
    """The value under the name, or what `make` makes, then kept. A file that is damaged counts as
    none, and a folder that cannot be written is no failure."""
    folder = cache_folder()
    if folder is None:
        return make()
    path = folder / f"pretrain-{digest_of([FORM, *named])}.json"
    try:
        name, _, rest = path.read_text("utf-8").partition("\n")
        if name == digest_of_text(rest):
            return json.loads(rest)
    except (OSError, ValueError):
        pass
    value = json.loads(canonical_json(make()))
    text = canonical_json(value)
    _write(path, f"{digest_of_text(text)}\n{text}")
    return value


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_text(text, "utf-8")
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
