"""Sessions grouped by what a table compares: the data set, the number of shown observations, the
model. `Study` holds the problems of all sessions with their metrics, and averages them.

One rule for every average. Of a setting, and of a data set: the mean over its problems, a problem
under another n or in another session being one more value of it. Over data sets: the mean of their
means, those without a value left out, and the average names the data sets that are in it.

What tables call the data of sessions: one rule for every evaluation and study.

A session's problems come from a file, or from the task's generator. Those of a file stand under the
task's name, generated ones under "TASK (generated)", whatever their seed. Where the sessions of one
table read several files of a task, these are one data set if they share problems and no problem
that they both name has other pairs: a part of the file, or the same compressed. Files of different
problems stand apart as "TASK (FILE)".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ...records import Json, Problem, canonical_json, digest_of
from .results import Detail
from .statistics import Interval, Stratum, mean_of_means, rank_correlation

ORIGINAL = "original"  # n where the data's own split is shown


@dataclass(frozen=True)
class Setting:
    """n: shown observations; "original" for the split of the data, "various" where a file shows
    different numbers of them."""

    data_set: str
    n: int | str
    model: str

    @property
    def place(self) -> tuple[str, tuple[bool, int, str], str]:
        return (self.data_set, _place(self.n), self.model)


def _place(n: int | str) -> tuple[bool, int, str]:
    """Numbers first."""
    return (isinstance(n, str), 0, n) if isinstance(n, str) else (False, n, "")


@dataclass(frozen=True)
class Entry:
    """One problem of one session. metrics: its value of each, None where it has none."""

    setting: Setting
    metrics: Mapping[str, float | None]
    detail: Detail

    @property
    def problem(self) -> str:
        return self.detail.problem


@dataclass(frozen=True)
class Average:
    """data_sets: those that have a value, hence are in the mean."""

    interval: Interval
    data_sets: tuple[str, ...]


def settings_of(
    sessions: Sequence[Mapping[str, Json]], problems: Sequence[Sequence[Problem]]
) -> list[Setting]:
    """The setting of each session, from what the store says of it (`Store.session`) and the
    problems it has. Data sets are named by `data_sets`; methods stand apart where there are
    several."""
    recorded = [one["settings"] for one in sessions]
    methods = {str(settings.get("method")) for settings in recorded}
    found = []
    for settings, data_set, some in zip(
        recorded, data_sets(recorded, problems), problems, strict=True
    ):
        model = str(_operational(settings).get("model_name") or settings.get("model"))
        found.append(
            Setting(
                data_set,
                _shown(_operational(settings).get("observations"), some),
                f"{model} · {settings.get('method')}" if len(methods) > 1 else model,
            )
        )
    return found


def _operational(settings: Mapping[str, Json]) -> Mapping[str, Json]:
    return settings.get("operational") or {}


def _shown(observations: Json, problems: Sequence[Problem]) -> int | str:
    if observations is None:
        return ORIGINAL
    if isinstance(observations, int):
        return observations
    counts = {len(problem.shown) for problem in problems}
    return counts.pop() if len(counts) == 1 else "various"


@dataclass(frozen=True)
class Study:
    """Entries in the order of their sessions."""

    entries: Sequence[Entry]
    seed: int = 0
    _kept: dict[object, Average] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def settings(self) -> list[Setting]:
        return sorted({entry.setting for entry in self.entries}, key=lambda s: s.place)

    @cached_property
    def models(self) -> list[str]:
        """In the order of their first sessions."""
        return list(dict.fromkeys(entry.setting.model for entry in self.entries))

    @cached_property
    def data_sets(self) -> list[str]:
        return sorted({entry.setting.data_set for entry in self.entries})

    @cached_property
    def ns(self) -> list[int | str]:
        return sorted({entry.setting.n for entry in self.entries}, key=_place)

    @cached_property
    def _of(self) -> Mapping[tuple[str, str], list[Entry]]:
        """By model and data set."""
        found: dict[tuple[str, str], list[Entry]] = {}
        for entry in self.entries:
            found.setdefault((entry.setting.model, entry.setting.data_set), []).append(entry)
        return found

    def chosen(
        self, model: str, data_set: str | None = None, n: int | str | None = None
    ) -> list[Entry]:
        sets = self.data_sets if data_set is None else [data_set]
        return [
            entry
            for name in sets
            for entry in self._of.get((model, name), ())
            if n is None or entry.setting.n == n
        ]

    def average(
        self, metric: str, model: str, data_sets: Sequence[str], n: int | str | None = None
    ) -> Average:
        """Of one data set, or over several."""
        key = (metric, model, tuple(data_sets), n)
        if key not in self._kept:
            self._kept[key] = self._average(metric, model, data_sets, n)
        return self._kept[key]

    def _average(
        self, metric: str, model: str, data_sets: Sequence[str], n: int | str | None
    ) -> Average:
        strata, named = [], []
        for name in data_sets:
            some = self.chosen(model, name, n)
            values = [entry.metrics.get(metric) for entry in some]
            if any(value is not None for value in values):
                strata.append(Stratum(values, [entry.problem for entry in some]))
                named.append(name)
        return Average(mean_of_means(strata, seed=self.seed), tuple(named))

    def sets_of(self, model: str, n: int | str | None = None) -> list[str]:
        """Data sets of which the model has problems."""
        return [name for name in self.data_sets if self.chosen(model, name, n)]

    def correlation(self, metric: str, model: str, data_set: str) -> Interval:
        """Spearman's rank correlation of a metric with n, over the problems of all numeric n."""
        some = [e for e in self.chosen(model, data_set) if isinstance(e.setting.n, int)]
        return rank_correlation(
            [entry.metrics.get(metric) for entry in some],
            [float(entry.setting.n) for entry in some],
            [entry.problem for entry in some],
            seed=self.seed,
        )

    @staticmethod
    def of(
        settings: Sequence[Setting], scored: Sequence[Mapping[str, Json]], seed: int = 0
    ) -> Study:
        """From the sessions as `evaluate_session` scores them, and the setting of each."""
        return Study(
            [
                Entry(setting, metrics, detail)
                for setting, one in zip(settings, scored, strict=True)
                for metrics, detail in zip(one["by_problem"], one["details"], strict=True)
            ],
            seed,
        )

    def count(self, of: Callable[[Detail], Counter[str]], some: Sequence[Entry]) -> Counter[str]:
        return sum((of(entry.detail) for entry in some), Counter())


GENERATED = "generated"


@dataclass
class _File:
    """A file of a task, and its problems as far as the sessions have them."""

    name: str
    digest: str
    problems: dict[str, Problem] = field(default_factory=dict)


def data_sets(
    settings: Sequence[Mapping[str, Json]], problems: Sequence[Sequence[Problem]]
) -> list[str]:
    """The name for each session, from what it records and the problems it has."""
    files: dict[str, dict[str, _File]] = {}  # by task and digest
    found: list[tuple[str, str | None]] = []
    for one, some in zip(settings, problems, strict=True):
        task, source = str(one.get("task")), _source(one)
        found.append((task, None if source is None else source.digest))
        if source is not None:
            of_task = files.setdefault(task, {}).setdefault(source.digest, source)
            for problem in some:
                of_task.problems.setdefault(problem.id, problem)
    names = {task: _named(task, list(of_task.values())) for task, of_task in files.items()}
    return [
        f"{task} ({GENERATED})" if digest is None else names[task][digest] for task, digest in found
    ]


def _source(settings: Mapping[str, Json]) -> _File | None:
    """The data, or the file of a user's own task; None where a generator made the problems."""
    operational = settings.get("operational") or {}
    file = operational.get("data") or operational.get("task_file")
    return None if file is None else _File(str(file["name"]), str(file.get("sha256")))


def _named(task: str, files: Sequence[_File]) -> dict[str, str]:
    """By digest."""
    sets = [list(files)] if len(files) == 1 else _together(files)
    seen = Counter(some[0].name for some in sets)
    names: dict[str, str] = {}
    for some in sets:
        first = some[0]
        again = f" {first.digest[:8]}" if seen[first.name] > 1 else ""
        called = f"{task} ({first.name}{again})" if len(sets) > 1 else task
        names |= {file.digest: called for file in some}
    return names


def _together(files: Sequence[_File]) -> list[list[_File]]:
    """The files of each data set. The largest come first: a part of one joins it."""
    sets: list[tuple[list[_File], dict[str, str]]] = []
    for file in sorted(files, key=lambda one: (-len(one.problems), one.name, one.digest)):
        own = {name: _content(problem) for name, problem in file.problems.items()}
        for some, known in sets:
            both = own.keys() & known.keys()
            if both and all(own[name] == known[name] for name in both):
                some.append(file)
                known |= own
                break
        else:
            sets.append(([file], own))
    return [some for some, _ in sets]


def _content(problem: Problem) -> str:
    """Of all pairs as a set, whichever are shown."""
    pairs = {
        canonical_json([pair.input, pair.output]) for pair in (*problem.shown, *problem.hidden)
    }
    return digest_of(sorted(pairs))
