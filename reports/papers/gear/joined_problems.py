"""Join problems across sessions, and compute estimates with intervals that resample whole problems.

Counts within one problem are not independent: hypotheses share their hidden pairs, pairs of
hypotheses share members, and one problem may occur with several sets of shown pairs. Therefore
complete problems are resampled with replacement, together with all their counts. Each resample
computes the estimate (a rate, a mean over problems, or a ratio of rates) from its sums. Intervals
are percentiles of 2,000 bootstrap resamples, as in `statistics`.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

import numpy as np
from numpy.typing import NDArray

from .... import tasks
from ....records import Json, Observation, Predictions, Problem, canonical_json, digest_of
from ....tasks import load_family
from ....tools.gear.memorisation import is_memorising, is_mostly_constant
from ....tools.gear.studies import Population, build_population
from ...metrics.grouping import name_data_sets
from ...metrics.results import DEFAULT_OPTIONS, ScoringOptions, SpaceCache
from ...metrics.statistics import LEVEL, RESAMPLES

if TYPE_CHECKING:
    from ....store import ConsistentHypothesis, Store


Sums = NDArray[np.float64]
Formula = Callable[[Mapping[str, Sums]], Sums]

_CHUNK = 4_000_000  # Draws in memory at a time.


class Estimate(TypedDict):
    """An estimate of a simulation study, with its bootstrap interval.

    "value" is None if it is undefined (a division by zero, or an infinite ratio). "low" and "high"
    are None if "value" is None, and for a single problem, where all resamples are equal. A single
    bound is None if it is infinite. "n" is the number of problems. "undefined" is the number of
    bootstrap resamples in which the estimate was not finite.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    undefined: int


class ClusteredSums:
    """Sums of counts over all problems, and over bootstrap resamples of the problems.

    A cluster is a problem with all its counts. The draws depend only on the seed and on the number
    of clusters, which are sorted by name.

    Args:
        names: The cluster to which each element of `counts` belongs.
        counts: Numbers to add, by name. No number is NaN.
        seed: Seed of the draws.
        resamples: Number of bootstrap resamples.
    """

    def __init__(
        self,
        names: Sequence[str],
        counts: Sequence[Mapping[str, float]],
        *,
        seed: int = 0,
        resamples: int = RESAMPLES,
    ) -> None:
        order = {name: i for i, name in enumerate(sorted(set(names)))}
        columns = list(counts[0]) if counts else []
        sums = np.zeros((len(order), len(columns)))
        for name, entry in zip(names, counts, strict=True):
            sums[order[name]] += [entry[column] for column in columns]
        self._behind = dict(zip(columns, np.count_nonzero(sums, axis=0).tolist(), strict=True))
        self._whole = dict(zip(columns, (math.fsum(c) for c in sums.T.tolist()), strict=True))
        drawn = _resampled(sums, seed, resamples) if len(order) else np.zeros((0, len(columns)))
        self._drawn = dict(zip(columns, drawn.T, strict=True))

    def total(self, name: str) -> float:
        """Return the sum of the counts with the name `name` over all problems; 0 for an unknown
        name.
        """
        return self._whole.get(name, 0.0)

    def estimate(self, formula: Formula, n: str) -> Estimate:
        """Compute an estimate from the sums, with its interval.

        Args:
            formula: Computes the estimate from sums by name; NaN if it is undefined.
            n: Name of the sum that is the number of problems.
        """
        if not self._whole:
            return {"value": None, "low": None, "high": None, "n": 0, "undefined": 0}
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            value = float(formula({k: np.array(v) for k, v in self._whole.items()}))
            drawn = np.asarray(formula(self._drawn), np.float64)
            known = drawn[~np.isnan(drawn)]
            low, high = (
                np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
                if len(known)
                else (value,) * 2
            )
        told = math.isfinite(value)
        bounded = told and self._behind[n] > 1
        return {
            "value": value if told else None,
            # Rounding may put the bounds of equal values one ulp to one side of the value.
            "low": min(float(low), value) if bounded and math.isfinite(low) else None,
            "high": max(float(high), value) if bounded and math.isfinite(high) else None,
            "n": round(self.total(n)),
            "undefined": int(np.count_nonzero(~np.isfinite(drawn))),
        }


def share(part: str, total: str) -> Formula:
    """Return a formula for `ClusteredSums.estimate` that computes the share `part` / `total`.

    Args:
        part: Name of the sum in the numerator.
        total: Name of the sum in the denominator.
    """
    return lambda sums: sums[part] / sums[total]


def odds_ratio(one: str, other: str, total: str) -> Formula:
    """Return a formula for `ClusteredSums.estimate` that computes an odds ratio.

    The formula is (one / (total - one)) / (other / (total - other)). The arguments are names of
    sums.
    """
    return lambda s: (s[one] * (s[total] - s[other])) / (s[other] * (s[total] - s[one]))


def _resampled(sums: Sums, seed: int, resamples: int) -> Sums:
    """Return sums (resamples, columns) over n clusters drawn with replacement from n."""
    n = len(sums)
    rng = random.Random(seed)
    rows = max(1, _CHUNK // (n * max(1, sums.shape[1])))
    drawn = []
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        # 32 bits scaled to [0, n), the same stream as in `statistics.resampled_means`.
        bits = np.frombuffer(rng.randbytes(4 * count * n), "<u4").astype(np.uint64)
        chosen = ((bits * np.uint64(n)) >> np.uint64(32)).astype(np.intp)
        drawn.append(sums[chosen.reshape(count, n)].sum(axis=1))
    return np.concatenate(drawn)


# --- Problems joined across sessions and models: all consistent hypotheses about one O_n.
#
# Two sessions worked on the same problem if the data set, the problem's id, the set of shown pairs,
# the other public parts, the hidden pairs and the sample space S are equal. Predictions over
# different S cannot be compared, so these problems stay separate. A hypothesis counts once for each
# time it was proposed. Hypotheses are sorted by digest, so that the order of sessions and answers
# does not change a result.
#
# Hidden pairs form a set: duplicates count once. A pair that is also shown is left out, as in the
# published code, and so is a pair by which no hypothesis can be judged (`tasks.judgeable`), unless
# all pairs are requested. Memorising hypotheses are counted, and left out on request.

PROBLEMS_PER_QUERY = 32  # Problems whose rows are read by one query.
ORIGINAL = "original"

IndexedHypothesis = tuple[
    "ConsistentHypothesis", list[int]
]  # with indices of hidden pairs in its marks
Behaviour = tuple[str, str]  # Digests of prediction codes and of reasons.


@dataclass(frozen=True)
class JoinedProblem:
    """A problem with its shown pairs O_n, and its consistent hypotheses from all sessions.

    Args:
        data_set: Name of the data set.
        n: Number of pairs drawn to be shown, or "original".
        problem: Id of the problem.
        key: Unique text, which is a part of every seed.
        cluster: Unit of the bootstrap: the problem with any shown pairs.
        population: The consistent hypotheses.
        unjudged: Number of hypotheses that were left out because their results on the hidden pairs
            or their predictions on the sample space are not known.
        memorising: Number of hypotheses that memorise the shown pairs (tools/gear/memorisation.py).
    """

    data_set: str
    n: int | str
    problem: str
    key: str
    cluster: str
    population: Population
    unjudged: int
    memorising: int


@dataclass
class StudySources:
    """Counts of the sessions, hidden pairs and problems that a study has read.

    Args:
        sessions: {session, task, method, model, problems, left_out} for each session. "left_out" is
            the number of unfinished problems by status.
        hidden: Number of hidden pairs that were left out, by reason.
        problems: Number of joined problems.
    """

    sessions: list[dict[str, Json]] = field(default_factory=list)
    hidden: dict[str, int] = field(default_factory=lambda: {"not_judgeable": 0, "repeated": 0})
    problems: int = 0


@dataclass
class _Group:
    data_set: str
    n: int | str
    key: str
    problem: Problem
    names: list[str]  # of the hidden pairs that count, sorted
    space: str
    places: dict[str, list[int]] = field(default_factory=dict)  # their indices, by session


def setting_n(settings: Json, problem: Problem) -> int | str:
    """Return n, the number of shown pairs by which GEAR's tables group problems.

    If the shown pairs were drawn or listed in a file, this is their number. If the data set chooses
    the shown pairs itself, it is "original".
    """
    drawn = settings.get("operational", {}).get("observations")
    return ORIGINAL if drawn is None else len(problem.shown)


def join_problems(
    store: Store,
    sessions: Sequence[str],
    sources: StudySources,
    options: ScoringOptions = DEFAULT_OPTIONS,
) -> Iterator[JoinedProblem]:
    """Yield every problem that at least one session finished, with hypotheses from all sessions.

    The problems are sorted by data set, n and id. The predictions of one problem at a time are in
    memory.

    Args:
        store: The open store.
        sessions: Full ids of the sessions.
        sources: Receives the counts before the first problem is yielded.
        options: Which answers and hidden pairs are left out.
    """
    groups = _groups(store, sessions, sources, options.all_pairs)
    return _populated(store, groups, options.without_memorising)


def _groups(
    store: Store, sessions: Sequence[str], sources: StudySources, all_pairs: bool
) -> list[_Group]:
    named = list(dict.fromkeys(sessions))
    recorded = [store.settings(session) for session in named]
    read = [store.problems(session) for session in named]
    called = name_data_sets(recorded, [[row.problem for row in rows] for rows in read])
    groups: dict[tuple[str, str], _Group] = {}
    for session, settings, rows, data_set in zip(named, recorded, read, called, strict=True):
        done = [row for row in rows if row.status == "done"]
        sources.sessions.append(
            {
                "session": session,
                **{name: settings.get(name) for name in ("task", "method", "model")},
                "problems": len(done),
                "left_out": dict(Counter(r.status for r in rows if r.status != "done")),
            }
        )
        for row in done:
            problem, names = row.problem, _hidden(row.problem, all_pairs)
            n = setting_n(settings, problem)
            shown = sorted(map(_name, problem.shown))
            public = dict(problem.public)
            key = digest_of(
                [_origin(settings), n, problem.id, shown, public, sorted(names), row.space,
                 settings.get("equality")]
            )  # fmt: skip
            if (data_set, key) not in groups:
                groups[data_set, key] = _Group(data_set, n, key, problem, sorted(names), row.space)
                judged = len(_hidden(problem, True))
                sources.hidden["not_judgeable"] += judged - len(names)
                sources.hidden["repeated"] += len(problem.hidden) - judged
            group = groups[data_set, key]
            group.places[session] = [names[name] for name in group.names]
    sources.problems = len(groups)
    return sorted(groups.values(), key=_place)


def _origin(settings: Json) -> str:
    """Return a name of the data for seeds that does not depend on the study's other data."""
    made = settings.get("operational", {}).get("data") is None
    return f"{settings['task']} (generated)" if made else str(settings["task"])


def _place(group: _Group) -> tuple[str, bool, int, str, str]:
    number = group.n if isinstance(group.n, int) else 0
    return group.data_set, group.n == ORIGINAL, number, group.problem.id, group.key


def _hidden(problem: Problem, all_pairs: bool) -> dict[str, int]:
    """Return the hidden pairs that count: the name of each and its first index."""
    shown = set(map(_name, problem.shown))
    marks = [True] * len(problem.hidden) if all_pairs else tasks.judgeable_pairs(problem)
    found: dict[str, int] = {}
    for i, pair in enumerate(problem.hidden):
        name = _name(pair)
        if marks[i] and name not in shown:
            found.setdefault(name, i)
    return found


def _name(pair: Observation) -> str:
    return canonical_json([pair.input, pair.output])


def _populated(
    store: Store, groups: Sequence[_Group], without_memorising: bool
) -> Iterator[JoinedProblem]:
    spaces = SpaceCache(store)
    for start in range(0, len(groups), PROBLEMS_PER_QUERY):
        part = groups[start : start + PROBLEMS_PER_QUERY]
        by_session: dict[str, list[str]] = {}
        for group in part:
            for session in group.places:
                by_session.setdefault(session, []).append(group.problem.id)
        found = {
            session: store.consistent_hypotheses(session, ids)
            for session, ids in by_session.items()
        }
        for group in part:
            given = [
                (one, places)
                for session, places in group.places.items()
                for one in found[session][group.problem.id]
            ]
            pairs = len(group.problem.hidden)
            usable = [
                (one, places)
                for one, places in given
                if one.codes is not None and one.hidden is not None and len(one.hidden) == pairs
            ]
            usable.sort(key=lambda pair: pair[0].hypothesis)
            unjudged = len(given) - len(usable)
            predicted = _predicted(store, usable)
            memorising = _memorising(group, usable, predicted, spaces)
            if without_memorising:
                usable = [pair for i, pair in enumerate(usable) if i not in memorising]
            yield JoinedProblem(
                group.data_set,
                group.n,
                group.problem.id,
                group.key,
                canonical_json([group.data_set, group.problem.group or group.problem.id]),
                _population(group, usable, predicted, spaces),
                unjudged,
                len(memorising),
            )


def _predicted(store: Store, given: Sequence[IndexedHypothesis]) -> dict[Behaviour, Predictions]:
    """Return predictions over S by behaviour; predictions that hypotheses share are read once."""
    vectors = store.vectors({name for one, _ in given for name in _behaviour(one)})
    return {
        (codes, reasons): Predictions(vectors[codes], vectors[reasons], ())
        for codes, reasons in dict.fromkeys(_behaviour(one) for one, _ in given)
    }


def _behaviour(one: ConsistentHypothesis) -> Behaviour:
    return str(one.codes), str(one.reasons)


def _memorising(
    group: _Group,
    given: Sequence[IndexedHypothesis],
    predicted: Mapping[Behaviour, Predictions],
    spaces: SpaceCache,
) -> set[int]:
    """Return the indices of the memorising hypotheses."""
    if load_family(group.problem.family).oracle != "execute" or not given:
        return set()
    shown = group.problem.shown
    other = spaces.get_inputs(group.space).mask_unshown(shown)
    unvaried = {name for name, some in predicted.items() if is_mostly_constant(some, other)}
    return {
        i
        for i, (one, _) in enumerate(given)
        if _behaviour(one) in unvaried
        and is_memorising(one.text, shown, predicted[_behaviour(one)], other)
    }


def _population(
    group: _Group,
    given: Sequence[IndexedHypothesis],
    predicted: Mapping[Behaviour, Predictions],
    spaces: SpaceCache,
) -> Population:
    right = np.zeros((len(given), len(group.names)), np.bool_)
    for i, (one, places) in enumerate(given):
        marks = one.hidden or ()
        right[i] = [marks[place] is True for place in places]
    if not given:
        return build_population(np.zeros((0, 0), np.int64), np.zeros((0, 0), np.bool_), right)
    rows: dict[Behaviour, int] = {}
    behaviour = [rows.setdefault(_behaviour(one), len(rows)) for one, _ in given]
    codes = np.stack([predicted[name].codes for name in rows])
    defined = np.stack([predicted[name].defined for name in rows])
    weights = spaces.get_space(group.space).weights
    return build_population(codes, defined, right, behaviour, weights)
