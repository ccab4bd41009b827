"""The library of a pretraining, kept in the user's cache folder under the hash of what made it: two
models that learn of the same problems search them once, at one time too: what one process searches
another waits for, or turns to something else meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from ...records import Json, Observation, canonical_json, digest_of, digest_of_text
from ...tasks.io.record_cache import cache_folder
from .library import Chain, Program, grid_programs, list_programs, scenes

FORM = 1  # of the file and of the searches that fill it


def programs(task: str, seed: int, problems: int, *, wait: bool = True) -> list[Program] | None:
    """Of lists or grids, from the cache or searched now. None where another process searches them,
    unless this one is to wait."""

    def made() -> Json:
        found = (
            list_programs(seed, problems)
            if task == "list_functions"
            else grid_programs(task, seed, problems)
        )
        return [_of_program(one) for one in found]

    kept = _kept([task, seed, problems], made, wait)
    return None if kept is None else [Program(*one) for one in kept]


def chains(seed: int, problems: int, *, wait: bool = True) -> list[Chain] | None:
    """Of scenes, likewise."""

    def made() -> Json:
        return [
            [
                [[o.input, o.output] for o in chain.shown],
                [_of_program(one) for one in chain.answers],
            ]
            for chain in scenes(seed, problems)
        ]

    kept = _kept(["acre", seed, problems], made, wait)
    if kept is None:
        return None
    return [
        Chain(tuple(Observation(*pair) for pair in shown), tuple(Program(*one) for one in answers))
        for shown, answers in kept
    ]


def _of_program(one: Program) -> list[Json]:
    return [one.source, one.sentence, one.cost, one.weight]


def _kept(named: list[Json], make: Callable[[], Json], wait: bool) -> Json:
    """The value under the name, or what `make` makes, then kept; None where another process makes it
    and this one is not to wait. A folder that cannot be written is no failure."""
    folder = cache_folder()
    if folder is None:
        return make()
    path = folder / f"pretrain-{digest_of([FORM, *named])}.json"
    found = _read(path)
    if found is not None:
        return found
    with _alone(path.with_suffix(".lock"), wait) as mine:
        if not mine:
            return None
        found = _read(path)  # of another process, meanwhile
        if found is not None:
            return found
        value = json.loads(canonical_json(make()))
        text = canonical_json(value)
        _write(path, f"{digest_of_text(text)}\n{text}")
        return value


def _read(path: Path) -> Json:
    """None of a file that is not there, or damaged."""
    try:
        name, _, rest = path.read_text("utf-8").partition("\n")
        return json.loads(rest) if name == digest_of_text(rest) else None
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def _alone(path: Path, wait: bool) -> Iterator[bool]:
    """Whether this process has the lock; a folder that cannot be written has none to wait for."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = path.open("a")
    except OSError:
        yield True
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError as error:
            yield not isinstance(error, BlockingIOError)  # a file system without locks has none
            return
        yield True


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_text(text, "utf-8")
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
