"""Group sessions by data set, number of shown observations and model, and average their metrics.

`Study` contains the problems of all sessions with their metrics. All averages follow one rule. The
average for a data set is the mean over its problems. If a problem occurs with several numbers of
shown observations, or in several sessions, each occurrence counts as one value. An average over
data sets is the mean of the averages of the data sets. Data sets without a value are left out, and
the average lists the data sets that it covers.

`name_data_sets` names the data sets of sessions by the same rule for all evaluations and studies. A
data set from a file has the name of the task. Generated problems have the name "TASK (generated)",
for every seed. If sessions of a task read several files, the files count as one data set if they
share problems and all shared problems have equal pairs. Examples are an extract of a file and a
compressed copy. Otherwise the data sets are named "TASK (FILE)".
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
        n: Number of shown observations; "original" if the data set chooses the shown observations
            itself, "various" for a file that shows different numbers.
    """

    data_set: str
    n: int | str
    model: str

    @property
    def sort_key(self) -> tuple[str, tuple[bool, int, str], str]:
        """A key that sorts by data set, then by n with numbers before names, then by model."""
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
        """The id of the problem."""
        return self.detail.problem


@dataclass(frozen=True)
class Average:
    """The mean and interval of a metric over several data sets, and the data sets that have a
    value.
    """

    interval: Interval
    data_sets: tuple[str, ...]


def find_settings(
    sessions: Sequence[Mapping[str, Json]], problems: Sequence[Sequence[Problem]]
) -> list[Setting]:
    """Return the data set, the number of shown observations and the model of each session.

    If the sessions used several methods, the name of the model includes the method.

    Args:
        sessions: Records of sessions, as `Store.session` returns them.
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
    """The scored problems of several sessions, with averages over data sets."""

    entries: Sequence[Entry]
    seed: int = 0
    _kept: dict[object, Average] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def settings(self) -> list[Setting]:
        """The distinct settings (data set, number of shown observations, model), sorted."""
        return sorted({entry.setting for entry in self.entries}, key=lambda s: s.sort_key)

    @cached_property
    def models(self) -> list[str]:
        """The names of the models, in the order of their first sessions."""
        return list(dict.fromkeys(entry.setting.model for entry in self.entries))

    @cached_property
    def data_sets(self) -> list[str]:
        """The names of the data sets, sorted."""
        return sorted({entry.setting.data_set for entry in self.entries})

    @cached_property
    def ns(self) -> list[int | str]:
        """The distinct numbers of shown observations, with numbers before names."""
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
        """Return the scored problems of a model.

        Args:
            model: Name of the model.
            data_set: Name of the data set; None for all data sets.
            n: Number of shown observations; None for all numbers.
        """
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
        """Return the average of a metric of one model over data sets.

        Args:
            metric: Name of the metric.
            model: Name of the model.
            data_sets: Names of the data sets.
            n: Number of shown observations; None for all numbers.
        """
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
        """Return the names of the data sets in which a model has scored problems.

        Args:
            model: Name of the model.
            n: Number of shown observations; None for all numbers.
        """
        return [name for name in self.data_sets if self.select_entries(model, name, n)]

    def correlation(self, metric: str, model: str, data_set: str) -> Interval:
        """Return Spearman's rank correlation of a metric with the number of shown observations.

        Problems whose number of shown observations is not a number are left out.
        """
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
        """Return the study of sessions that `evaluate_session` scored.

        Args:
            settings: The setting of each session.
            scored: The result of `evaluate_session` for each session.
            seed: Seed of the bootstrap.
        """
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
        """Return the sum of one counter of several problems.

        Args:
            counter_of: Returns the counter of a problem's details.
            entries: The problems.
        """
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
    """Return the name of each session's data set.

    Args:
        settings: The settings of each session.
        problems: The problems of each session.
    """
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
