"""Groups sessions by what a table compares: data set, number of shown observations, model.

`Study` holds the problems of all sessions with their metrics and averages them. All averages follow
one rule. The average of a setting or of a data set is the mean over its problems; the same problem
with another n or in another session counts as one more value. An average over data sets is the mean
of their means. Data sets without a value are left out, and the average names those that are in it.

`name_data_sets` names the data of sessions by one rule for every evaluation and study. The problems of a
session come from a file or from the task's generator. Problems from a file have the task's name as
their data set; generated ones have "TASK (generated)", whatever their seed. If the sessions of a
table read several files of a task, these count as one data set if they share problems and no shared
problem has different pairs, as with a part of a file or a compressed copy. Files with different
problems are named "TASK (FILE)".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ...records import Json, Problem, canonical_json, digest_of
from .results import ProblemDetail
from .statistics import Interval, Stratum, mean_of_means, rank_correlation

ORIGINAL = "original"  # Value of n for the data's own split.


@dataclass(frozen=True)
class Setting:
    """A combination of data set, number n of shown observations, and model.

    Args:
        n: Number of shown observations; "original" for the data's own split, "various" for a file
            that shows different numbers.
    """

    data_set: str
    n: int | str
    model: str

    @property
    def sort_key(self) -> tuple[str, tuple[bool, int, str], str]:
        """Sort key: data set, then n with numbers before names, then model."""
        return (self.data_set, _place(self.n), self.model)


def _place(n: int | str) -> tuple[bool, int, str]:
    """Return a sort key that puts numbers before names."""
    return (isinstance(n, str), 0, n) if isinstance(n, str) else (False, n, "")


@dataclass(frozen=True)
class Entry:
    """One problem of one session, with the value of each metric. A value may be None."""

    setting: Setting
    metrics: Mapping[str, float | None]
    detail: ProblemDetail

    @property
    def problem(self) -> str:
        """Id of the problem."""
        return self.detail.problem


@dataclass(frozen=True)
class Average:
    """An interval over the data sets that have a value, and the names of these data sets."""

    interval: Interval
    data_sets: tuple[str, ...]


def find_settings(
    sessions: Sequence[Mapping[str, Json]], problems: Sequence[Sequence[Problem]]
) -> list[Setting]:
    """Return the data set, number of shown observations and model of each session.

    Data sets are named by `name_data_sets`. The method is added to the model's name if there are
    several methods.

    Args:
        sessions: Records as `Store.session` returns them.
        problems: The problems of each session.
    """
    recorded = [one["settings"] for one in sessions]
    methods = {str(settings.get("method")) for settings in recorded}
    found = []
    for settings, data_set, some in zip(
        recorded, name_data_sets(recorded, problems), problems, strict=True
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
    """Scored problems of several sessions, in the order of their sessions, with averages."""

    entries: Sequence[Entry]
    seed: int = 0
    _kept: dict[object, Average] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def settings(self) -> list[Setting]:
        """Distinct settings, sorted."""
        return sorted({entry.setting for entry in self.entries}, key=lambda s: s.sort_key)

    @cached_property
    def models(self) -> list[str]:
        """Models in the order of their first sessions."""
        return list(dict.fromkeys(entry.setting.model for entry in self.entries))

    @cached_property
    def data_sets(self) -> list[str]:
        """Names of the data sets, sorted."""
        return sorted({entry.setting.data_set for entry in self.entries})

    @cached_property
    def ns(self) -> list[int | str]:
        """Distinct values of n, numbers first."""
        return sorted({entry.setting.n for entry in self.entries}, key=_place)

    @cached_property
    def _grouped_entries(self) -> Mapping[tuple[str, str], list[Entry]]:
        """Entries by model and data set."""
        found: dict[tuple[str, str], list[Entry]] = {}
        for entry in self.entries:
            found.setdefault((entry.setting.model, entry.setting.data_set), []).append(entry)
        return found

    def select_entries(
        self, model: str, data_set: str | None = None, n: int | str | None = None
    ) -> list[Entry]:
        """Return the entries of a model, optionally of one data set and one n."""
        sets = self.data_sets if data_set is None else [data_set]
        return [
            entry
            for name in sets
            for entry in self._grouped_entries.get((model, name), ())
            if n is None or entry.setting.n == n
        ]

    def average(
        self, metric: str, model: str, data_sets: Sequence[str], n: int | str | None = None
    ) -> Average:
        """Return the average of a metric of a model over one or several data sets."""
        key = (metric, model, tuple(data_sets), n)
        if key not in self._kept:
            self._kept[key] = self._average(metric, model, data_sets, n)
        return self._kept[key]

    def _average(
        self, metric: str, model: str, data_sets: Sequence[str], n: int | str | None
    ) -> Average:
        strata, named = [], []
        for name in data_sets:
            some = self.select_entries(model, name, n)
            values = [entry.metrics.get(metric) for entry in some]
            if any(value is not None for value in values):
                strata.append(Stratum(values, [entry.problem for entry in some]))
                named.append(name)
        return Average(mean_of_means(strata, seed=self.seed), tuple(named))

    def find_data_sets(self, model: str, n: int | str | None = None) -> list[str]:
        """Return the data sets in which the model has problems."""
        return [name for name in self.data_sets if self.select_entries(model, name, n)]

    def correlation(self, metric: str, model: str, data_set: str) -> Interval:
        """Return Spearman's rank correlation of a metric with n, over problems with numeric n."""
        some = [e for e in self.select_entries(model, data_set) if isinstance(e.setting.n, int)]
        return rank_correlation(
            [entry.metrics.get(metric) for entry in some],
            [float(entry.setting.n) for entry in some],
            [entry.problem for entry in some],
            seed=self.seed,
        )

    @staticmethod
    def from_sessions(
        settings: Sequence[Setting], scored: Sequence[Mapping[str, Json]], seed: int = 0
    ) -> Study:
        """Build a study from sessions scored by `evaluate_session` and the setting of each."""
        return Study(
            [
                Entry(setting, metrics, detail)
                for setting, one in zip(settings, scored, strict=True)
                for metrics, detail in zip(one["by_problem"], one["details"], strict=True)
            ],
            seed,
        )

    def sum_counts(
        self, counter_of: Callable[[ProblemDetail], Counter[str]], entries: Sequence[Entry]
    ) -> Counter[str]:
        """Return the sum of a counter over the details of some entries."""
        return sum((counter_of(entry.detail) for entry in entries), Counter())


GENERATED = "generated"


@dataclass
class _File:
    """A file of a task, and those of its problems that the sessions have."""

    name: str
    digest: str
    problems: dict[str, Problem] = field(default_factory=dict)


def name_data_sets(
    settings: Sequence[Mapping[str, Json]], problems: Sequence[Sequence[Problem]]
) -> list[str]:
    """Return the name of each session's data set, from its settings and problems."""
    files: dict[str, dict[str, _File]] = {}  # keys: task, digest
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
    """Return the data file or the file of a custom task; None if a generator made the problems."""
    operational = settings.get("operational") or {}
    file = operational.get("data") or operational.get("task_file")
    return None if file is None else _File(str(file["name"]), str(file.get("sha256")))


def _named(task: str, files: Sequence[_File]) -> dict[str, str]:
    """Return the name of each file's data set, by digest."""
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
    """Group files into data sets; larger files come first, so that a part of a file joins it."""
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
    """Return the digest of all pairs as a set, shown and hidden alike."""
    pairs = {
        canonical_json([pair.input, pair.output]) for pair in (*problem.shown, *problem.hidden)
    }
    return digest_of(sorted(pairs))
