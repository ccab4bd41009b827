"""A user's own task as a YAML file; docs/how-to/write-a-task.md describes the format.

The keys of the file are:

    name           the name of the task in sessions; letters, digits, - and _
    about          one line about the task
    instructions   what the task is about, in words for the prompt
    pair           a template for showing a pair in a prompt (words.py)
    observations   the shown pairs, each [input, output] or {input: …, output: …}
    hidden         the hidden pairs, in the same form as the shown pairs
    problems       several problems: {ID: {observations: […], hidden: […]}, …}
    data           a file in the same folder, in the form of the task `examples`
    sample_space   the inputs to predict, and their weights: {inputs: […]}, {file: …} or
                   {generate: …} (sample_space.py); by default, the task `examples` makes
                   a sample space from the inputs
    equality       differences between outputs that do not count (checks.py); by default,
                   all differences count

The pairs are under exactly one of the keys `observations`, `problems` and `data`.

Each problem contains everything that a session needs from the file, and the store keeps it. So
resuming, replaying, scoring and exporting a session never open the file again. With `--data`, the
same task runs on other pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from ...records import DataError, InputSet, Json, Observation, Problem, Task, UsageError
from ...sandbox.inside.canonical import Unrepresentable, canonical_bytes
from ..io import observations as observations_
from ..io.files import identify_file, locate
from ..io.messages import shorten
from ..io.spaces import SpaceFile, drop_repeated_inputs, read_space_file
from ..io.yaml_file import Key, YamlDocument, read_yaml
from . import examples
from .checks import check_equality, check_name, check_pair_template, warn_about_rounding
from .sample_space import (
    DEFAULT_COUNT,
    MAX_INPUTS,
    check_weight,
    evaluate_weights,
    parse_generator,
    sample_inputs,
)
from .words import EQUALITY, INSTRUCTIONS, PAIR

KEYS = ("name", "about", "instructions", "pair", "observations", "hidden", "problems", "data",
        "sample_space", "equality")  # fmt: skip
SPACE_KEYS = ("inputs", "file", "generate", "count", "seed", "weights")


def load_yaml_task(
    place: Path, content: bytes, file_identity: Mapping[str, Json], reserved_names: Collection[str]
) -> Task:
    """Return the task that a YAML file defines.

    Args:
        place: the path of the file.
        content: the bytes of the file.
        file_identity: {"name", "sha256"} of the file.
        reserved_names: names that the task must not have.

    Raises:
        DataError: the file is invalid; the message names file, line and key.
    """
    too_large = "put the pairs into another file, and name it under `data`"
    task = YamlTask(read_yaml(place, content, too_large), file_identity)
    check_name(task.name, reserved_names, lambda said: task.source.error(("name",), said))
    return task


class YamlTask:
    """A task that a user's YAML file defines.

    Args:
        source: the parsed file, with line numbers.
        file_identity: {"name", "sha256"} of the file.
    """

    family = "programs"
    files = examples.FILES

    def __init__(self, source: YamlDocument, file_identity: Mapping[str, Json]) -> None:
        self.source, self.file_identity = source, file_identity
        self._keys = source.check_keys((), source.value, KEYS)
        self.name, self.about = (str(self._text(key, True)) for key in ("name", "about"))
        if "\n" in self.about.strip():
            raise self.source.error(("about",), "must be one line, not several")
        given = [key for key in ("observations", "problems", "data") if key in self._keys]
        if len(given) != 1:
            found = " and ".join(given) if given else "none of them"
            raise self.source.error(
                (), f"pairs must be under one of observations, problems and data, not under {found}"
            )
        if "hidden" in self._keys and given != ["observations"]:
            raise self.source.error(("hidden",), f"needs observations, but the file has {given[0]}")

    @property
    def task_file(self) -> dict[str, Json]:
        """Return {"name", "sha256"} of the task file.

        If the task file refers to a data file or a sample space file, the key "beside" lists the
        same for these files.
        """
        beside = [self._named_file(key) for key in (("data",), ("sample_space", "file"))]
        named = [identify_file(place) for place in beside if place is not None]
        return {**self.file_identity, **({"beside": named} if named else {})}

    def problems(self) -> list[Problem]:
        """Return the problems that the task file contains, or those of the file under its key
        `data`.
        """
        if (data := self._named_file(("data",))) is not None:
            return self.load(str(data), None, 0)
        if "problems" in self._keys:
            listed = self._keys["problems"]
            if not isinstance(listed, dict) or not listed:
                raise self.source.error(
                    ("problems",), f"must be a mapping of ids to problems, not {shorten(listed)}"
                )
            for name, one in listed.items():
                self.source.check_keys(("problems", name), one, ("observations", "hidden"))
            made = [self._problem(name, ("problems", name), one) for name, one in listed.items()]
        else:
            made = [self._problem(self.name, (), self._keys)]
        return self._with_task_wording(made)

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        """Read problems of this task from another file, in the form of the task `examples`."""
        loaded = self._with_task_wording(examples.TASK.load(path, None, seed))
        return loaded if observations is None else self.observe(loaded, observations, seed)

    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        """Return the problems with other shown pairs, drawn at random or listed in a file."""
        return observations_.choose_observations(problems, observations, seed)

    def generate(self, count: int, seed: int) -> list[Problem]:
        """Return the first `count` problems of the task file. No new problems are generated."""
        return self.problems()[:count]

    def space(self, problem: Problem, seed: int) -> InputSet:
        """Return the sample space of one problem, which contains the inputs to predict."""
        return self.spaces([problem], seed)[0]

    def spaces(self, problems: Sequence[Problem], seed: int) -> list[InputSet]:
        """Return the sample space of each problem, which contains the inputs to predict.

        If the task file has no `sample_space`, the task `examples` makes sample spaces from the
        inputs.
        """
        if "sample_space" not in self._keys:
            return examples.TASK.spaces(problems, seed)
        return [self._space(seed)] * len(problems)

    # --- what stands in the file ---

    def _text(self, key: str, required: bool = False) -> str | None:
        if key not in self._keys and not required:
            return None
        value = self._keys.get(key)
        if not isinstance(value, str) or not value.strip():
            said = "missing" if key not in self._keys else f"must be a text, not {shorten(value)}"
            raise self.source.error((key,), said)
        return value

    def _named_file(self, key: Key) -> Path | None:
        """Return the file named at `key`, relative to the folder of the task file, or None."""
        value: Json = self._keys
        for name in key:
            value = value.get(name) if isinstance(value, dict) else None
        if value is None:
            return None
        if not isinstance(value, str) or not value:
            raise self.source.error(key, f"must be the name of a file, not {shorten(value)}")
        try:
            return locate(self.source.file.parent / value, ())
        except UsageError as error:
            raise self.source.error(key, str(error)) from None

    def _problem(self, name: str, key: Key, keys: Mapping[str, Json]) -> Problem:
        sides = {
            side: self._pairs((*key, side), keys.get(side, []))
            for side in ("observations", "hidden")
        }
        if not sides["observations"]:
            raise self.source.error((*key, "observations"), "must contain at least one pair")
        return Problem(name, self.name, self.family, sides["observations"], sides["hidden"])

    def _pairs(self, key: Key, pairs: Json) -> tuple[Observation, ...]:
        if not isinstance(pairs, list):
            raise self.source.error(key, f"must be a list of pairs, not {shorten(pairs)}")
        read = []
        for i, pair in enumerate(pairs):
            at = (*key, i)
            if isinstance(pair, dict):
                self.source.check_keys(at, pair, ("input", "output"))
                for side in ("input", "output"):
                    if side not in pair:
                        raise self.source.error((*at, side), "missing")
                pair = [pair["input"], pair["output"]]
            if not isinstance(pair, list) or len(pair) != 2:
                wanted = "[input, output] or {input: …, output: …}"
                raise self.source.error(at, f"must be {wanted}, not {shorten(pair)}")
            try:
                canonical_bytes(pair[1])
            except Unrepresentable as error:
                raise self.source.error(at, f"its output is {error.reason}") from None
            read.append(Observation(*pair))
        return tuple(read)

    @cached_property
    def _public(self) -> dict[str, Json]:
        words = {key: self._text(key) for key in (INSTRUCTIONS, PAIR)}
        public: dict[str, Json] = {key: text for key, text in words.items() if text is not None}
        if EQUALITY in self._keys:
            rule = check_equality(
                self._keys[EQUALITY], lambda at, said: self.source.error((EQUALITY, *at), said)
            )
            public |= {EQUALITY: rule} if rule else {}
        return public

    def _with_task_wording(self, problems: Sequence[Problem]) -> list[Problem]:
        """Return the problems as this task's, with its wording and its rule of equality."""
        pairs = [
            (f"{one.id!r}, {side}[{i}]", pair)
            for one in problems
            for side, some in (("observations", one.shown), ("hidden", one.hidden))
            for i, pair in enumerate(some)
        ]
        public = self._public
        if PAIR in public and (wrong := check_pair_template(public[PAIR], pairs)):
            raise self.source.error((PAIR,), wrong)
        if EQUALITY in public:
            warn_about_rounding(
                public[EQUALITY], str(self.source.file), [pair for _, pair in pairs]
            )
        return [
            replace(one, task=self.name, family=self.family, public=public, group=one.id)
            for one in problems
        ]

    def _space(self, seed: int) -> InputSet:
        key: Key = ("sample_space",)
        keys = self.source.check_keys(key, self._keys["sample_space"], SPACE_KEYS)
        given = [name for name in ("inputs", "file", "generate") if name in keys]
        if len(given) != 1:
            raise self.source.error(
                key, "must have exactly one of the keys inputs, file and generate"
            )
        if given != ["generate"]:
            for name in ("count", "seed"):
                if name in keys:
                    raise self.source.error(
                        (*key, name), f"needs generate, but the sample space has {given[0]}"
                    )
        weights: Sequence[float] | None = None
        read: SpaceFile | None = None

        def where(i: int) -> str:
            return (
                self.source.describe_location((*key, given[0], i))
                if read is None
                else read.describe_location(i)
            )

        if (place := self._named_file((*key, "file"))) is not None:
            try:
                read = read_space_file(place)
            except DataError as error:
                raise self.source.error((*key, "file"), str(error)) from None
            inputs, weights = list(read.space.inputs), read.space.weights
            if weights is not None and "weights" in keys:
                raise self.source.error((*key, "weights"), f"{place} already contains weights")
        elif "inputs" in keys:
            inputs = keys["inputs"]
            if not isinstance(inputs, list) or not inputs:
                raise self.source.error(
                    (*key, "inputs"), f"must be a list of inputs, not {shorten(inputs)}"
                )
        else:
            made = parse_generator(self.source, (*key, "generate"), keys["generate"])
            count = self._count((*key, "count"), keys.get("count", DEFAULT_COUNT), 1, MAX_INPUTS)
            own = self._count((*key, "seed"), keys.get("seed", 0), 0, 2**63)
            inputs = sample_inputs(made, count, f"task file space {own} {seed}")
        if "weights" in keys:
            weights = self._weights((*key, "weights"), keys["weights"], inputs)
        if weights is not None and not any(weights):
            raise self.source.error(
                (*key, "weights"), "all weights are 0; at least one must be positive"
            )
        named = f"{self.name} space, seed {seed}"
        space = InputSet(named, tuple(inputs), None if weights is None else tuple(weights))
        return drop_repeated_inputs(space, str(self.source.file), where)

    def _weights(self, key: Key, given: Json, inputs: Sequence[Json]) -> list[float]:
        if isinstance(given, str):
            return evaluate_weights(given, inputs, lambda said: self.source.error(key, said))
        if not isinstance(given, list) or len(given) != len(inputs):
            wanted = f"an expression, or a list of {len(inputs):,} numbers, one for each input"
            found = f"a list of {len(given):,}" if isinstance(given, list) else shorten(given)
            raise self.source.error(key, f"must be {wanted}, not {found}")
        return [
            check_weight(weight, lambda said, at=i: self.source.error((*key, at), said))  # type: ignore[misc]
            for i, weight in enumerate(given)
        ]

    def _count(self, key: Key, value: Json, least: int, most: int) -> int:
        if type(value) is not int or not least <= value <= most:
            raise self.source.error(
                key, f"must be a whole number from {least} to {most:,}, not {shorten(value)}"
            )
        return value
