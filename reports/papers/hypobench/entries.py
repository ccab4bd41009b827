"""The scores from which HypoBench's tables and figures are made, one `Entry` per problem and
method.

A data set is synthetic if its true sentences are known (`secret["truths"]`) or its name is the name
of a published synthetic folder. Otherwise it is real. The difficulty of a synthetic data set is
read from its name, which has the form of the published folders (`admission/level_2/depth_2`,
`election/level5_nosubtlety`, `shoe_two_level/hard`). `peirce tasks generate` writes the same names.

If sessions were shown different numbers of rows of a data set, it counts as several data sets.

All averages follow one rule. The average for a data set is the mean over its problems in all
sessions. An average over data sets is the mean of these means, without data sets that have no
value. Each average lists its data sets.

Classifiers of `peirce train --labels` form the fine-tuned row of HypoBench's tables. A classifier
belongs to a problem if it was tested on the same rows (compared by digest), whatever rows the
session was shown. Classifiers with the same base model and different seeds are averaged like
problems.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import PurePath

from ....records import Digest, Json, Problem
from ....tasks.text.problems import digest_rows
from ...metrics.evaluation import METHODS_WITHOUT_BANK
from .cross_model import EXACT, find_judge

PAPER_METHODS = (
    "zero-shot inference", "few-shot inference", "zero-shot generation", "literature only",
    "IO prompting", "iterative refinement", "HypoGeniC", "literature + data",
)  # fmt: skip
BASELINE_PREFIX = "baseline: "
EXACT_MARK = "†"  # marks a score that no model made
BY_RULES = f"{EXACT} {EXACT_MARK}"
MODEL_ROLES = frozenset(
    {"judge", "label", "infer"}
)  # Roles of calls in which a model labels texts.
RULE_ROLE = "rule"  # Role of calls in which a rule labels texts.
_METHODS = {
    "zero-shot-gen": "zero-shot generation",
    "literature": "literature only",
    "io": "IO prompting",
    "refine": "iterative refinement",
    "hypogenic": "HypoGeniC",
    "hyporefine": "literature + data (hyporefine)",
    "union": "literature + data (union)",
}
READERS = ("infer",)  # Methods that apply hypotheses of other sessions; only in cross-model tables.
_ROOTS = {
    "admission": "admission", "admission_adv": "admission", "shoe": "shoe", "shoe_two_level": "shoe",
    "election": "election", "election_controlled": "election", "preference": "personality",
    "personality": "personality", "preference_controlled": "personality",
    "personality_controlled": "personality",
}  # fmt: skip
_GRID = re.compile(r"(base|depth_(?P<depth>\d+)|size_(?P<size>\d+)|noise_(?P<noise>\d+)"
                   r"|distractor_(?P<distractor>\d+))$")  # fmt: skip
_LEVEL = re.compile(r"level(?P<level>\d)(?P<plain>_nosubtlety)?$")


@dataclass(frozen=True)
class Difficulty:
    """The difficulty of a synthetic data set.

    Args:
        task: admission, shoe, election, personality or "".
        control: The property that makes the data set difficult: size, depth, noise or distractor;
            "base" if none is increased, "" if the data set does not belong to the published grid.
        value: Value of the control.
        level: Level of a data set with logistic labels; None for others.
    """

    task: str = ""
    control: str = ""
    value: int = 0
    counterintuitive: bool = False  # a counterintuitive variant
    level: int | None = None
    subtle: bool | None = None
    base: bool = False  # easiest set of its task
    hardest: bool = False


def parse_difficulty(name: str) -> Difficulty:
    """Return the difficulty of a data set, read from its path.

    The path must contain the folder of the task (`admission_adv` is the counterintuitive variant),
    because a name such as `level_2/depth_2` alone may belong to either variant.
    """
    parts = name.split("/")
    task = next((_ROOTS[part] for part in parts if part in _ROOTS), "")
    turned = "admission_adv" in parts
    own = parts[-1]
    if (found := _GRID.match(own)) and task == "admission":
        for control, value in found.groupdict().items():
            if value is not None:
                return Difficulty(task, control, int(value), turned, hardest="level_4" in parts)
        return Difficulty(task, "base", 0, turned, base=True)
    if task == "shoe":
        return Difficulty(task, base=own == "shoe", hardest=own == "hard")
    if (told := _LEVEL.match(own)) and task:
        level, subtle = int(told["level"]), told["plain"] is None
        return Difficulty(
            task, "", 0, turned, level, subtle, level == 0 and not subtle, level == 5 and subtle
        )
    return Difficulty(task, counterintuitive=turned)


@dataclass(frozen=True)
class Entry:
    """The scores of one method on one problem. The method is a session, a baseline or a classifier.

    Args:
        session: Id of the session or training.
        data_set: Name of the data set.
        method: Name of the method in the paper, or Peirce's name if the paper has no name.
        model: Name of the proposer.
        reader: Name of the model that labelled the rows; `BY_RULES` if only exact rules did.
        real: Whether the data set is real.
        metrics: Value of each metric; None if there is no value.
        difficulty: Difficulty of the data set.
        has_bank: Whether the method keeps hypotheses.
        numeric: Whether the labels of the data set are numbers.
        rated: (rater, {name: scores}) pairs, with scores from `tables.summarize_ratings`.
    """

    session: str
    data_set: str
    method: str
    model: str
    reader: str
    real: bool
    metrics: Mapping[str, float | None]
    difficulty: Difficulty
    has_bank: bool = True
    numeric: bool = False
    rated: tuple[tuple[str, Mapping[str, Json]], ...] = ()

    @property
    def reader_label(self) -> str:
        """The name of the proposer, and of the model that labelled the rows if it is another
        model.
        """
        alone = self.reader in (self.model, _some_by_rules(self.model))
        return self.reader if alone else f"{self.model} · {self.reader}"

    @property
    def comparer_label(self) -> str:
        """The name of the model, with a note that exact rules compared its sentences with the true
        sentences.
        """
        return f"{self.model} · {BY_RULES}"


@dataclass(frozen=True)
class Average:
    """An average over data sets.

    Args:
        mean: The mean.
        sets: Names of the data sets in the mean.
        values: Number of values in the mean.
    """

    mean: float
    sets: tuple[str, ...]
    values: int


def average(entries: Iterable[Entry], value_of: Callable[[Entry], float | None]) -> Average | None:
    """Return the average of a value over entries, or None if no entry has a value.

    Args:
        entries: The entries.
        value_of: Returns the value of an entry, or None.
    """
    by_set: dict[str, list[float]] = {}
    for one in entries:
        value = value_of(one)
        if value is not None:
            by_set.setdefault(one.data_set, []).append(value)
    if not by_set:
        return None
    means = [fsum(values) / len(values) for values in by_set.values()]
    count = sum(map(len, by_set.values()))
    return Average(fsum(means) / len(means), tuple(sorted(by_set)), count)


def metric_getter(name: str) -> Callable[[Entry], float | None]:
    """Return a function that returns the metric `name` of an entry."""
    return lambda one: one.metrics.get(name)


def build_entries(
    recorded: Sequence[Mapping[str, Json]],
    scored: Sequence[Mapping[str, Json]],
    problems: Sequence[Sequence[Problem]],
    roles: Sequence[Collection[str]],
    trainings: Sequence[Mapping[str, Json]] = (),
) -> list[Entry]:
    """Return the entries of sessions, of their baselines, and of matching classifiers.

    A baseline appears as a method of the session's model. A classifier that was tested on the same
    rows appears as a method of its own.

    Args:
        recorded: Records of the sessions in the store.
        scored: The scores of the sessions by `eval hypobench`, with "baselines" and "rated".
        problems: The problems of each session.
        roles: The roles of the model calls in each session (`Store.usage`).
        trainings: Rows of `store.trainings`.
    """
    generated = [_generated(one["settings"]) for one in recorded]
    names = _Names(generated, problems)
    found: list[Entry] = []
    placed: dict[str, Entry] = {}  # by digest of the problem
    tested: dict[str, Problem] = {}
    for record, score, some, made, played in zip(
        recorded, scored, problems, generated, roles, strict=True
    ):
        by_id = {problem.id: problem for problem in some}
        settings, model = record["settings"], str(score["model"])
        reader = find_reader(settings, model, played)
        rated = _by_problem(score.get("rated", ()))
        folder = str(((settings.get("operational") or {}).get("data") or {}).get("name", ""))
        for row in score["by_problem"]:
            problem = by_id[str(row["problem"])]
            shown = names.display_name(problem, made)
            level = parse_difficulty(f"{folder}/{data_set_name(problem.id)}")
            real = not problem.secret.get("truths") and not level.task
            numeric = bool(problem.secret.get("made", {}).get("numeric"))
            has_bank = settings.get("method") not in METHODS_WITHOUT_BANK
            own = {key: value for key, value in row.items() if key != "problem"}
            found.append(
                Entry(str(record["session"]), shown, method_name(settings), model, reader, real, own,
                      level, has_bank, numeric, tuple(rated.get(problem.id, ())))
            )  # fmt: skip
            tested.setdefault(problem.digest, problem)
            placed.setdefault(problem.digest, found[-1])
            for baseline, values in _baselines(score.get("baselines", ()), problem.id).items():
                found.append(
                    Entry(str(record["session"]), shown, f"{BASELINE_PREFIX}{baseline} {EXACT_MARK}", model, reader,
                          real, values, level, False, numeric)
                )  # fmt: skip
    for one in match_classifiers(trainings, tested.values()):
        like = placed[one.problem.digest]
        name = data_set_name(one.problem.id)
        found.append(
            Entry(one.training, name if like.data_set.startswith(f"{name} (") else like.data_set,
                  f"{TUNED_PREFIX}{one.base}", one.base, one.base, like.real, one.metrics, like.difficulty,
                  False, like.numeric)
        )  # fmt: skip
    return found


class _Names:
    """Names of data sets, with a suffix where several share a name."""

    def __init__(self, generated: Sequence[bool], problems: Sequence[Sequence[Problem]]) -> None:
        self._origins: dict[str, set[bool]] = {}
        self._rows: dict[str, set[int]] = {}
        for made, some in zip(generated, problems, strict=True):
            for problem in some:
                name = data_set_name(problem.id)
                self._origins.setdefault(name, set()).add(made)
                self._rows.setdefault(name, set()).add(len(problem.shown))

    def display_name(self, problem: Problem, made: bool) -> str:
        name = data_set_name(problem.id)
        told = []
        if made and len(self._origins[name]) > 1:
            told.append("generated")
        if len(self._rows[name]) > 1:
            told.append(f"{len(problem.shown)} rows")
        return f"{name} ({', '.join(told)})" if told else name


def find_reader(settings: Mapping[str, Json], model: str, roles: Collection[str]) -> str:
    """Return the name of the model that labelled texts in a session, or `BY_RULES` for exact rules.

    Args:
        settings: Settings of the session.
        model: Name of the session's proposer.
        roles: Roles of the model calls in the session.
    """
    if MODEL_ROLES.isdisjoint(roles):
        return BY_RULES
    judge = find_judge(settings, model)
    return _some_by_rules(judge) if RULE_ROLE in roles else judge


def _some_by_rules(judge: str) -> str:
    return f"{judge}, some by {BY_RULES}"


def method_name(settings: Mapping[str, Json]) -> str:
    """Return the paper's name of a session's method, or Peirce's name if the paper has no name."""
    method = str(settings.get("method"))
    if method == "direct":
        shots = (settings.get("text") or {}).get("shots")
        return "few-shot inference" if shots else "zero-shot inference"
    return _METHODS.get(method, method)


def data_set_name(problem: str) -> str:
    """Return the name of a problem's data set, which is the id without the number of the sample."""
    return re.sub(r"#\d+$", "", problem)


def order_methods(entries: Iterable[Entry]) -> list[str]:
    """Return the names of the methods in the order of tables.

    The order is: methods of the paper with their variants, other methods, baselines.
    """
    there = Counter(one.method for one in entries if one.method not in READERS)
    own = [name for paper in PAPER_METHODS for name in _standing(paper, there)]
    others = sorted(name for name in there if name not in own)
    return [*own, *sorted(others, key=lambda name: name.startswith(BASELINE_PREFIX))]


def _standing(paper: str, there: Iterable[str]) -> list[str]:
    return [paper, *sorted(name for name in there if name.startswith(f"{paper} ("))]


def _generated(settings: Mapping[str, Json]) -> bool:
    operational = settings.get("operational") or {}
    return (operational.get("data") or operational.get("task_file")) is None


def _by_problem(rated: Iterable[Mapping[str, Json]]) -> dict[str, list[tuple[str, Json]]]:
    found: dict[str, list[tuple[str, Json]]] = {}
    for one in rated:
        found.setdefault(str(one["problem"]), []).append((str(one["by"]), one["scores"]))
    return found


def _baselines(found: Iterable[Mapping[str, Json]], problem: str) -> dict[str, dict[str, float]]:
    """Return {"accuracy", "f1", "accuracy_ind", …} by baseline; the test rows come first."""
    told: dict[str, dict[str, float]] = {}
    for one in found:
        for row in one["baselines"] if one["problem"] == problem else ():
            of_name = told.setdefault(str(row["name"]), {})
            for key in ("accuracy", "f1"):
                of_name.setdefault(key, row[key])
                of_name[f"{key}_{row['split']}"] = row[key]
    return told


TUNED_PREFIX = "fine-tuned "
# The first of these splits that has scores represents the data set.
TEST_SPLITS = ("ind", "ood", "val")
SCORES = ("accuracy", "f1")


@dataclass(frozen=True)
class TunedClassifier:
    """A classifier that was trained on one data set, with its metrics on a problem of the data
    set.
    """

    training: str
    base: str
    problem: Problem
    metrics: Mapping[str, float]

    def as_json(self) -> dict[str, Json]:
        """Return the classifier and its metrics as JSON."""
        return {
            "training": self.training, "base": self.base, "problem": self.problem.id,
            "metrics": dict(self.metrics),
        }  # fmt: skip


def match_classifiers(
    trainings: Iterable[Mapping[str, Json]], problems: Iterable[Problem]
) -> list[TunedClassifier]:
    """Return finished classifiers, each with the first problem that has the same test rows.

    Args:
        trainings: Rows of `store.trainings`.
        problems: The problems to match.
    """
    done = [
        row for row in trainings
        if row["settings"].get("kind") == "labels" and row["status"] == "done"
    ]  # fmt: skip
    if not done:
        return []
    there = [(problem, _tested(problem)) for problem in {p.digest: p for p in problems}.values()]
    found = []
    for row in done:
        base = PurePath(str((row["settings"].get("base") or {}).get("name", "?"))).name
        for one in row["fields"].get("sets") or ():
            like = _like(one, there)
            if like is not None:
                found.append(
                    TunedClassifier(str(row["training"]), base, like, _metrics(one["scores"]))
                )
    return found


def _tested(problem: Problem) -> dict[str, Digest]:
    """Return the digest of the rows of each split."""
    spans = problem.secret.get("splits", {})
    return {split: digest_rows(problem.hidden[a:b]) for split, (a, b) in spans.items() if b > a}


def _like(
    one: Mapping[str, Json], there: Sequence[tuple[Problem, Mapping[str, Digest]]]
) -> Problem | None:
    """Return the problem with the same test rows, and the same rows of another source if any."""
    for problem, digests in there:
        wanted = [split for split in TEST_SPLITS[:2] if split in digests or split in one["scores"]]
        if wanted and all(one["digests"].get(s) == digests.get(s) for s in wanted):
            return problem
    return None


def _metrics(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for split in TEST_SPLITS:
        for name in SCORES if split in scores else ():
            found.setdefault(name, scores[split][name])
            found[f"{name}_{split}"] = scores[split][name]
    return found
