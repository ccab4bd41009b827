"""GEAR's two simulation studies on stored sessions (sections 5.2 and 5.3, figure 4).

A row of a result belongs to a data set, a number n of shown pairs, a number m of drawn hidden pairs
and, in the second study, a size k of the context. A row covers problems that are joined across
sessions and models (`joined_problems.py`). If a data set has several n, rows with n "all" combine
them. Rows with k "all" combine the sizes of contexts. Each row counts the problems that it leaves
out. Values have the form {value, low, high, n} with the number n of problems and a bootstrap
interval over problems.

The study `run_defeasible` draws m hidden pairs and counts the consistent hypotheses that they do
not refute (the survivors). `pass_rate` is the share of survivors. `pass_rate` and the gamma of the
survivors are means over draws and then over problems, as in the paper. With the suffix `_micro`,
all hypotheses and draws have the same weight. `gamma` covers draws with at least one survivor, and
`gamma_two` covers draws with at least two. With m "all", all hidden pairs are used, and `rejected`
is the share of consistent hypotheses that they refute.

The study `run_general` compares pairs of hypotheses. `ratio` is Pr(pass | chosen) / Pr(pass |
rejected), and `odds_ratio` is the odds ratio. Both use the rates over all pairs of all problems, as
in the paper. With the suffix `_by_problem`, they use the means of the rates over problems. If no
rejected candidate passes, a ratio is undefined.

Differences from the paper: the paper calls the ratio of rates an odds ratio. Differences from the
published code: the code uses only hypotheses in its sample of preference pairs, while all
consistent hypotheses are used here; and the code compares counts of failed pairs, which gives the
ratio only for m = 1.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ....records import Compute, Json, UsageError
from ....tools.gear import studies
from ....tools.workers.arrays import array_from_json, array_to_json
from ....tools.workers.computing import compute_here
from ...metrics.results import ScoringOptions
from ...metrics.statistics import RESAMPLES
from .joined_problems import (
    ClusteredSums,
    Formula,
    JoinedProblem,
    StudySources,
    join_problems,
    odds_ratio,
    share,
)

if TYPE_CHECKING:
    from ....store import Store

HIDDEN_COUNTS = (1, 2, 3, 4)  # m
CONTEXT_SIZES = (0, 1, 2)  # k
ALL = "all"
COUNT_KEYS = ("hypotheses", "distinct", "not_judged", "memorising", "without_consistent")
EXCLUSION_SETTINGS = ("all_pairs", "distinct", "without_memorising")

Key = tuple[Json, ...]  # Data set, n, m and, in the second study, k.


@dataclass(frozen=True)
class StudySettings:
    """Settings of a simulation study.

    Args:
        seed: Seed of all draws.
        draws: Number of random draws of hidden pairs, for each problem and m.
        all_pairs: Also count hidden pairs by which no hypothesis can be judged, as in the published
            code.
        distinct: Count hypotheses with equal predictions only once.
        contexts: Maximum number of contexts of one size for each problem.
        pairs: Maximum number of comparisons of two hypotheses that one context counts as.
        resamples: Number of bootstrap resamples.
        without_memorising: Treat memorising hypotheses as if they had not been proposed.
    """

    seed: int = 0
    draws: int = studies.DRAWS_PER_SIZE
    all_pairs: bool = False
    distinct: bool = False
    contexts: int = studies.MAX_CONTEXTS
    pairs: int = studies.MAX_PAIRS
    resamples: int = RESAMPLES
    without_memorising: bool = False


@dataclass
class _Cell:
    """The contributions of problems to one row: sums for its values, and plain counts."""

    clusters: list[str] = field(default_factory=list)
    sums: list[Mapping[str, float]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, why: str) -> None:
        self.left_out[why] = self.left_out.get(why, 0) + 1

    def add(self, cluster: str, sums: Mapping[str, float]) -> None:
        self.clusters.append(cluster)
        self.sums.append(sums)

    def count(self, counts: Mapping[str, int]) -> None:
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count


class _Cells:
    """Cells by (data set, n, m, k), and those over all n of a data set."""

    def __init__(self) -> None:
        self._cells: dict[Key, _Cell] = {}

    def select(self, one: JoinedProblem, *rest: Json) -> list[_Cell]:
        keys = ((one.data_set, n, *rest) for n in (one.n, ALL))
        return [self._cells.setdefault(key, _Cell()) for key in keys]

    def items(self) -> list[tuple[Key, _Cell]]:
        """Return sorted cells, without pooled ones for a data set that has a single n."""
        several = {
            data_set
            for data_set in {key[0] for key in self._cells}
            if len({key[1] for key in self._cells if key[0] == data_set}) > 2
        }
        kept = [key for key in self._cells if key[1] != ALL or key[0] in several]
        return [(key, self._cells[key]) for key in sorted(kept, key=_order)]


def _order(key: Key) -> tuple[tuple[str, int], ...]:
    """Return a sort key that orders numbers before words."""
    return tuple(("", part) if isinstance(part, int) else (str(part), 0) for part in key)


def run_study(
    name: str,
    store: Store,
    sessions: Sequence[str],
    settings: StudySettings | None = None,
    compute: Compute = compute_here,
) -> dict[str, Json]:
    """Run a simulation study on stored sessions.

    Args:
        name: Name of the study: defeasible or general.
        store: The open store.
        sessions: Full ids of the sessions.
        settings: Settings of the study; None for the defaults.
        compute: Where the problems are measured.

    Returns:
        {study, seed, draws, …, sessions, problems, hypotheses, left_out, hidden_left_out, rows}.
            The
        study defeasible adds "whole", with the values over all data sets and the names of the data
        sets.

    Raises:
        UsageError: The study is unknown, or a setting is below 1.
    """
    if name not in STUDIES:
        raise UsageError(f"there is no study {name!r}: choose {' or '.join(STUDIES)}")
    chosen = settings or StudySettings()
    for what in ("draws", "contexts", "pairs"):
        if getattr(chosen, what) < 1:
            raise UsageError(f"{what} is {getattr(chosen, what)}: it must be at least 1")
    sources = StudySources()
    counted = dict.fromkeys(COUNT_KEYS, 0)
    options = ScoringOptions(chosen.all_pairs, chosen.without_memorising)
    problems = _counted(join_problems(store, sessions, sources, options), counted)
    found = STUDIES[name](problems, chosen, compute)
    return {
        "study": name,
        **{key: getattr(chosen, key) for key in ("seed", "draws", *EXCLUSION_SETTINGS)},
        **({"contexts": chosen.contexts, "pairs": chosen.pairs} if name == "general" else {}),
        "sessions": sources.sessions,
        "problems": sources.problems,
        **counted,
        "hidden_left_out": sources.hidden,
        **found,
    }


def _counted(problems: Iterable[JoinedProblem], counted: dict[str, int]) -> Iterator[JoinedProblem]:
    for one in problems:
        counted["hypotheses"] += len(one.population)
        counted["distinct"] += len(studies.merge_equal(one.population))
        counted["not_judged"] += one.unjudged
        counted["memorising"] += one.memorising
        counted["without_consistent"] += not len(one.population)
        yield one


# --- study 1 -----------------------------------------------------------------


def run_defeasible(
    problems: Iterable[JoinedProblem], settings: StudySettings, compute: Compute = compute_here
) -> dict[str, Json]:
    """Measure how many consistent hypotheses survive further pairs (study 1 of GEAR).

    Returns:
        An object with the keys "rows" and "whole" (all data sets together).
    """
    cells, whole = _Cells(), _Cell()
    data_sets: dict[str, None] = {}
    for one, some, found in _measure(problems, settings, compute, "measure_survival"):
        data_sets.setdefault(one.data_set)
        for m, measured in zip((*HIDDEN_COUNTS, ALL), found, strict=True):
            into = cells.select(one, m) + ([whole] if m == ALL else [])
            if why := _unfit(some, m if isinstance(m, int) else 1, 1):
                for cell in into:
                    cell.leave_out(why)
                continue
            for cell in into:
                cell.add(one.cluster, measured["sums"])
                cell.count(measured["counts"])
    rows = [
        {"data_set": key[0], "n": key[1], "m": key[2], **_defeasible_row(cell, settings)}
        for key, cell in cells.items()
    ]
    return {
        "rows": rows,
        "whole": {"data_sets": list(data_sets), "m": ALL, **_defeasible_row(whole, settings)},
    }


def measure_survival(request: Json) -> Json:
    """Return sums and counts of one problem for each m and for all hidden pairs (study 1).

    Args:
        request: What `_measure` sends.

    Returns:
        {"sums", "counts"} for each of `HIDDEN_COUNTS` and `ALL`; None where the problem has too few
        hypotheses or hidden pairs.
    """
    some, seed, choices = _read_request(request)
    found: list[Json] = []
    for m in (*HIDDEN_COUNTS, ALL):
        if _unfit(some, m if isinstance(m, int) else 1, 1):
            found.append(None)
            continue
        draws = np.arange(some.pairs)[None]
        if isinstance(m, int):
            draws = studies.draw_hidden_sets(some.pairs, m, choices.draws, seed)
        sums, counts = _survived(some, draws)
        found.append({"sums": sums, "counts": counts})
    return found


def _survived(
    some: studies.Population, draws: studies.Places
) -> tuple[dict[str, float], dict[str, int]]:
    found = studies.measure_survival(some, draws)
    trials = len(some) * len(draws)
    passed = int(found.survivors.sum())
    sums: dict[str, float] = {
        "problems": 1,
        "rate": passed / trials,
        "passed": passed,
        "refuted": trials - passed,
        "trials": trials,
    }
    for name, least in (("gamma", 1), ("gamma_two", 2)):
        kept = found.gamma[(found.survivors >= least) & ~np.isnan(found.gamma)]
        sums[f"{name}_draws"] = len(kept)
        sums[f"{name}_sum"] = math.fsum(kept.tolist())
        sums[f"{name}_problems"] = bool(len(kept))
        sums[f"{name}_mean"] = sums[f"{name}_sum"] / len(kept) if len(kept) else 0.0
    counts = {
        "hypotheses": len(some),
        "draws": len(draws),
        "trials": trials,
        "passed": passed,
        "draws_without_survivors": int(np.count_nonzero(found.survivors == 0)),
        "problems_without_survivors": int(not passed),
    }
    return sums, counts


def _defeasible_row(cell: _Cell, choices: StudySettings) -> dict[str, Json]:
    figures: dict[str, tuple[Formula, str]] = {
        "pass_rate": (share("rate", "problems"), "problems"),
        "pass_rate_micro": (share("passed", "trials"), "problems"),
        "rejected": (lambda s: 1 - s["rate"] / s["problems"], "problems"),
        "rejected_micro": (share("refuted", "trials"), "problems"),
        "gamma": (share("gamma_mean", "gamma_problems"), "gamma_problems"),
        "gamma_micro": (share("gamma_sum", "gamma_draws"), "gamma_problems"),
        "gamma_two": (share("gamma_two_mean", "gamma_two_problems"), "gamma_two_problems"),
    }
    names = (
        *("hypotheses", "draws", "trials", "passed"),
        *("draws_without_survivors", "problems_without_survivors"),
    )
    return _row(cell, names, figures, choices)


# --- study 2 -----------------------------------------------------------------


def run_general(
    problems: Iterable[JoinedProblem], settings: StudySettings, compute: Compute = compute_here
) -> dict[str, Json]:
    """Test whether hypotheses with a higher score survive further pairs more often (study 2 of
    GEAR).

    Returns:
        An object with the key "rows".
    """
    cells = _Cells()
    for one, some, found in _measure(problems, settings, compute, "measure_comparisons"):
        for m, k, measured in found:
            sums = measured["sums"]
            why = _unfit(some, m, 2 + (k if isinstance(k, int) else 0))
            for cell in cells.select(one, m, k):
                cell.count(measured["counts"])
                if why or not sums["weight"]:
                    cell.leave_out(why or "nothing_to_compare")
                else:
                    cell.add(one.cluster, sums)
    rows = [
        {
            **dict(zip(("data_set", "n", "m", "k"), key, strict=True)),
            **_general_row(cell, settings),
        }
        for key, cell in cells.items()
    ]
    return {"rows": rows}


def measure_comparisons(request: Json) -> Json:
    """Return sums and counts of one problem for each m and k (study 2).

    Args:
        request: What `_measure` sends.

    Returns:
        [m, k, {"sums", "counts"}] for each m and each k, `ALL` included.
    """
    some, seed, choices = _read_request(request)
    measured: list[Json] = []
    for m, found in _comparisons(some, choices, seed).items():
        for k in (*CONTEXT_SIZES, ALL):
            parts = [part for size, part in found.items() if k in (size, ALL)]
            sums, counts = _compared(parts)
            measured.append([m, k, {"sums": sums, "counts": counts}])
    return measured


def _comparisons(
    some: studies.Population, choices: StudySettings, seed: str
) -> dict[int, dict[int, studies.Comparison]]:
    """Return comparisons by m and k, if the problem has m hidden pairs and two candidates."""
    sizes = [k for k in CONTEXT_SIZES if len(some) >= k + 2]
    contexts = [studies.draw_contexts(len(some), k, choices.contexts, seed) for k in sizes]
    scores = studies.score_in_contexts(some, contexts)
    found: dict[int, dict[int, studies.Comparison]] = {m: {} for m in HIDDEN_COUNTS}
    for m in HIDDEN_COUNTS:
        if some.pairs >= m:
            draws = studies.draw_hidden_sets(some.pairs, m, choices.draws, seed)
            passed = studies.find_passing(some, draws)
            for k, places, scored in zip(sizes, contexts, scores, strict=True):
                found[m][k] = studies.compare_candidates(places, scored, passed, choices.pairs)
    return found


def _compared(parts: Sequence[studies.Comparison]) -> tuple[dict[str, float], dict[str, int]]:
    def total(name: str) -> float:
        return math.fsum(float(getattr(part, name).sum()) for part in parts)

    weight, chosen, rejected = (total(name) for name in ("weight", "chosen", "rejected"))
    sums = {
        "weight": weight,
        "chosen": chosen,
        "rejected": rejected,
        "chosen_rate": chosen / weight if weight else 0.0,
        "rejected_rate": rejected / weight if weight else 0.0,
        "problems": float(bool(weight)),
    }
    counts = {name: int(total(name)) for name in ("contexts", "passing", "pairs", "ties")}
    counts["problems_none_pass"] = int(bool(weight) and not chosen and not rejected)
    return sums, counts


def _general_row(cell: _Cell, choices: StudySettings) -> dict[str, Json]:
    figures: dict[str, tuple[Formula, str]] = {
        "ratio": (share("chosen", "rejected"), "problems"),
        "odds_ratio": (odds_ratio("chosen", "rejected", "weight"), "problems"),
        "chosen_rate": (share("chosen", "weight"), "problems"),
        "rejected_rate": (share("rejected", "weight"), "problems"),
        "ratio_by_problem": (share("chosen_rate", "rejected_rate"), "problems"),
        "odds_ratio_by_problem": (
            odds_ratio("chosen_rate", "rejected_rate", "problems"),
            "problems",
        ),
    }
    names = ("contexts", "passing", "pairs", "ties", "problems_none_pass")
    return _row(cell, names, figures, choices, ("weight", "chosen", "rejected"))


# --- both --------------------------------------------------------------------


def _measure(
    problems: Iterable[JoinedProblem], settings: StudySettings, compute: Compute, function: str
) -> Iterator[tuple[JoinedProblem, studies.Population, Json]]:
    """Yield each problem with the population that counts, and the reply of a function about it."""
    sent: deque[tuple[JoinedProblem, studies.Population]] = deque()

    def make_requests() -> Iterator[Json]:
        for one in problems:
            some = studies.merge_equal(one.population) if settings.distinct else one.population
            sent.append((one, some))
            yield {
                "population": [
                    array_to_json(part)
                    for part in (some.codes, some.defined, some.behaviour, some.right)
                ],
                "weights": None if some.weights is None else array_to_json(some.weights),
                "seed": f"{settings.seed} {one.key}",  # does not depend on the other problems
                "draws": settings.draws,
                "contexts": settings.contexts,
                "pairs": settings.pairs,
            }

    module = __name__.split(".", 1)[1]
    for found in compute(f"{module}:{function}", make_requests()):
        yield (*sent.popleft(), found)


def _read_request(request: Json) -> tuple[studies.Population, str, StudySettings]:
    codes, defined, behaviour, right = map(array_from_json, request["population"])
    weights = None if request["weights"] is None else array_from_json(request["weights"])
    choices = StudySettings(
        draws=request["draws"], contexts=request["contexts"], pairs=request["pairs"]
    )
    some = studies.Population(codes, defined, behaviour, right, weights)
    return some, request["seed"], choices


def _unfit(some: studies.Population, pairs: int, hypotheses: int) -> str:
    """Return why a problem is left out of a cell, or ""."""
    if not len(some):
        return "no_consistent"
    if some.pairs < pairs:
        return "too_few_hidden"
    return "" if len(some) >= hypotheses else "too_few_hypotheses"


def _row(
    cell: _Cell,
    counts: Sequence[str],
    figures: Mapping[str, tuple[Formula, str]],
    choices: StudySettings,
    totals: Sequence[str] = (),
) -> dict[str, Json]:
    clusters = ClusteredSums(
        cell.clusters, cell.sums, seed=choices.seed, resamples=choices.resamples
    )
    return {
        "problems": round(clusters.total("problems")),
        "left_out": dict(sorted(cell.left_out.items())),
        **{name: cell.counts.get(name, 0) for name in counts},
        **{name: clusters.total(name) for name in totals},
        **{name: clusters.estimate(formula, n) for name, (formula, n) in figures.items()},
    }


RunStudy = Callable[[Iterable[JoinedProblem], StudySettings, Compute], dict[str, Json]]
STUDIES: Mapping[str, RunStudy] = {
    "defeasible": run_defeasible,
    "general": run_general,
}
