"""What the last answers of a session added, and where to stop: `--max-answers N` or `--patience N`.

The gain of an answer is what it added to its problem: accepted hypotheses and gamma. It is averaged
over the problems that got so many answers. These are not all problems: some ended before, and those
that went on may be the more fruitful ones. Therefore, the advice does not use these averages.

An earlier limit would have ended each problem at some of its own answers: the first N, or those until
N in a row added nothing. Seeds and prompts are those of the first answers, so the session would have
had exactly these answers, and what it would have missed is counted, not estimated. This holds for
problems that ended by themselves. Problems that failed or are unfinished are left out, because an
outage cut their answers off. What a higher limit would add cannot be counted, and nothing is said
about it.

The rule of the advice. A limit is recommended if

1. at least `MIN_PROBLEMS` problems are done, and two of them got more than one answer;
2. it would have missed at most `MAX_LOST` of all accepted hypotheses, and of gamma where it is known,
   at the upper bound of a 95% interval over problems. For a method that refines, improvements count
   instead. The bound is the larger one of two: the bootstrap's, and the share of problems that would
   have missed something at the upper bound of Wilson's interval, times what such a problem misses. The
   second one is not 0 if no problem missed anything;
3. it would have missed at most `MAX_UNSOLVED` of the solved problems;
4. it would have saved at least `MIN_SAVED` of the answers;
5. so do all higher limits of its kind. This is a sequence of tests that ends at the first failure, so
   the level of a single test holds for all of them.

Of `--max-answers` and `--patience`, the limit is recommended that saves more answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..records import Json
from .answer_gains import AnswerGain, ProblemGains
from .metrics.statistics import (
    LEVEL,
    RESAMPLES,
    Stratum,
    mean_of_means,
    resampled_ratios,
    wilson_interval,
)
from .proposers import THEN

MIN_PROBLEMS = 20
MAX_LOST = 0.05  # of the gain, at the upper bound
MAX_UNSOLVED = 0.01  # of the solved problems
MIN_SAVED = 0.1  # of the answers
MIN_SHOWN = 5  # problems with several answers, below which the line with gains is not printed
LIMITED_METHODS = ("abduce", "refine")  # whose number of answers a user may limit
LIMITS = ("max_answers", "patience")
MANY_DRAWS, MIN_RESAMPLES = 400_000, 400  # of problems, for one interval of the table

# The last answer of each row of the table of gains.
_ENDS = (1, 2, 3, 4, 5, 10, 15, 20, 25, 50, 100, 250, 1_000, 10_000, 1_000_000)


def summarize_gain(gains: Sequence[ProblemGains], settings: Mapping[str, Json]) -> dict[str, Json]:
    """Return what answers added by their number, and the advice where to stop.

    Args:
        gains: What the answers to each problem of a session added.
        settings: The settings of the session.

    Returns:
        {"problems", "left_out", "answers", "advice", "no_advice"}. "problems" is the number of
        finished problems, and "left_out" that of the others. A row of "answers" is {"first",
        "last", "problems", "answers", "accepted", "gamma"}: the numbers of the answers, the number
        of problems that got the first of them, the number of these answers, and the means by answer
        with 95% intervals over problems {"mean", "low", "high", "n"}. Answers of a second proposer
        are left out. "advice" is None or {"option", "value", "saved", "answers", "missed", "of",
        "at_most", "unit", "problems", "unsolved"}: the option, its value, how many of the answers
        it would have saved, how many of the units it would have missed, the upper bound of their
        share, and how many problems it would have left unsolved. "no_advice" says why there is
        none: "method", "second_proposer", "few_problems", "nothing_found", "gain_continues", or
        "uncertain" if a limit would have missed little, but more problems are needed to say so; ""
        with advice.
    """
    done = [one for one in gains if one.status == "done"]
    answers = {one.problem: [each for each in one.answers if each.role != THEN] for one in done}
    advice, reason = _advise(done, settings)
    return {
        "problems": len(done),
        "left_out": len(gains) - len(done),
        "answers": _tabulate(answers),
        "advice": advice,
        "no_advice": reason,
    }


def _tabulate(answers: Mapping[str, Sequence[AnswerGain]]) -> list[dict[str, Json]]:
    longest = max(map(len, answers.values()), default=0)
    rows: list[dict[str, Json]] = []
    first = 1
    for end in _ENDS:
        if first > longest:
            break
        last = min(end, longest)
        some = [
            (problem, each)
            for problem, listed in answers.items()
            for each in listed[first - 1 : last]
        ]
        names = [problem for problem, _ in some]
        gammas = [each.gamma for _, each in some]
        rows.append({
            "first": first,
            "last": last,
            "problems": len(set(names)),
            "answers": len(some),
            "accepted": _mean([float(each.accepted) for _, each in some], names),
            "gamma": None if None in gammas else _mean(gammas, names),
        })  # fmt: skip
        first = last + 1
    return rows


def _mean(values: Sequence[float | None], problems: Sequence[str]) -> dict[str, Json]:
    # Drawing takes time in proportion to problems; an interval in a table needs no more digits.
    resamples = max(MIN_RESAMPLES, min(RESAMPLES, MANY_DRAWS // len(set(problems))))
    found = mean_of_means([Stratum(values, problems)], resamples=resamples)
    return {
        key: round(value, 6) if isinstance(value, float) else value for key, value in found.items()
    }


# --- The advice


def _advise(
    done: Sequence[ProblemGains], settings: Mapping[str, Json]
) -> tuple[dict[str, Json] | None, str]:
    """Return the advice, or None and why there is none."""
    if settings.get("method") not in LIMITED_METHODS:
        return None, "method"
    players = (settings.get("operational") or {}).get("players") or {}
    if THEN in players or any(each.role == THEN for one in done for each in one.answers):
        return None, "second_proposer"
    if len(done) < MIN_PROBLEMS or sum(len(one.answers) > 1 for one in done) < 2:
        return None, "few_problems"
    gained = _gained(done)
    if any(not column.sum() for column in gained):
        return None, "nothing_found"
    reasons, found = [], []
    for option in LIMITS:
        advice, reason = _advise_limit(done, gained, option)
        reasons.append(reason)
        found += [] if advice is None else [advice]
    if not found:
        return None, "uncertain" if "uncertain" in reasons else "gain_continues"
    return max(found, key=lambda one: one["saved"]), ""  # the first of equals is --max-answers


def _measures(done: Sequence[ProblemGains]) -> list[Callable[[AnswerGain], float]]:
    """Return what is measured of an answer: the first measure is the one that the advice names."""
    if any(one.refining for one in done):
        return [lambda one: float(one.added)]
    measures: list[Callable[[AnswerGain], float]] = [lambda one: float(one.accepted)]
    if all(each.gamma is not None for one in done for each in one.answers):
        measures.append(lambda one: one.gamma or 0.0)
    return measures


def _gained(done: Sequence[ProblemGains]) -> list[NDArray[np.float64]]:
    """Return what each problem gained in all, for each measure, of shape (n,)."""
    return [
        np.array([sum(map(measure, one.answers)) for one in done], np.float64)
        for measure in _measures(done)
    ]


def _advise_limit(
    done: Sequence[ProblemGains], gained: Sequence[NDArray[np.float64]], option: str
) -> tuple[dict[str, Json] | None, str]:
    """Return the lowest value of a limit that the rule allows, or None and why there is none."""
    longest = max(len(one.answers) for one in done)
    kept_of = _first_answers if option == "max_answers" else _until_fruitless
    values = list(range(longest - 1, 0, -1))
    kept = np.array([[kept_of(one.answers, value) for value in values] for one in done])
    total = sum(len(one.answers) for one in done)
    saved = total - kept.sum(axis=0)
    lost = [_lost(done, kept, measure) for measure in _measures(done)]
    bounds = np.max(
        [_upper_bounds(missed, all_) for missed, all_ in zip(lost, gained, strict=True)], axis=0
    )
    unsolved = _count_unsolved(done, kept)
    solved = sum(one.solver is not None for one in done)
    shares = np.max(
        [missed.sum(axis=0) / all_.sum() for missed, all_ in zip(lost, gained, strict=True)], axis=0
    )
    leaves_few = unsolved <= MAX_UNSOLVED * solved
    allowed = (bounds <= MAX_LOST) & leaves_few
    best = (
        int(np.argmin([*allowed, False])) - 1
    )  # the last one before the first that is not allowed
    if best < 0 or saved[best] < MIN_SAVED * total:
        is_close = (saved >= MIN_SAVED * total) & (shares <= MAX_LOST) & leaves_few
        return None, "uncertain" if is_close.any() else "gain_continues"
    # of values that save the same, the highest one says best what happened
    best = int(np.flatnonzero(saved == saved[best])[0])
    return {
        "option": option,
        "value": values[best],
        "saved": int(saved[best]),
        "answers": total,
        "missed": int(lost[0][:, best].sum()),
        "of": int(gained[0].sum()),
        "at_most": round(float(bounds[best]), 4),
        "unit": "improvements" if any(one.refining for one in done) else "accepted hypotheses",
        "problems": len(done),
        "unsolved": int(unsolved[best]),
    }, ""


def _first_answers(answers: Sequence[AnswerGain], limit: int) -> int:
    return min(len(answers), limit)


def _until_fruitless(answers: Sequence[AnswerGain], patience: int) -> int:
    """Return the number of answers until `patience` in a row added nothing."""
    fruitless = 0
    for number, one in enumerate(answers, 1):
        fruitless = 0 if one.added else fruitless + 1
        if fruitless >= patience:
            return number
    return len(answers)


def _lost(
    done: Sequence[ProblemGains], kept: NDArray[np.int64], measure: Callable[[AnswerGain], float]
) -> NDArray[np.float64]:
    """Return what each limit would have missed of each problem, of shape (n, limits)."""
    found = np.zeros(kept.shape)
    for row, one in enumerate(done):
        left = np.cumsum([0.0, *(measure(each) for each in reversed(one.answers))])
        found[row] = left[len(one.answers) - kept[row]]
    return found


def _upper_bounds(lost: NDArray[np.float64], gained: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return upper bounds of the share that each limit misses, of shape (limits,).

    Args:
        lost: What each limit would have missed of each problem, of shape (n, limits).
        gained: What each problem gained, of shape (n,); not all 0.
    """
    level = (1 + LEVEL) / 2
    bounds = np.quantile(resampled_ratios(lost, gained), level, axis=0)
    n, mean = len(gained), gained.mean()
    typical = gained.sum() / np.count_nonzero(gained)
    for place in range(lost.shape[1]):
        losers = np.count_nonzero(lost[:, place])
        # Without a problem that missed something, half of what a problem gains stands for it.
        each = lost[:, place].sum() / losers if losers else typical / 2
        most = wilson_interval(int(losers), n)["high"]
        assert most is not None
        bounds[place] = max(bounds[place], most * each / mean)
    return bounds


def _count_unsolved(done: Sequence[ProblemGains], kept: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many solved problems each limit would have left unsolved, of shape (limits,)."""
    found = np.zeros(kept.shape[1], np.int64)
    for row, one in enumerate(done):
        if one.solver is None:
            continue
        # A refined hypothesis reaches the target with the last answer, otherwise the first accepted
        # one solves the problem.
        needed = len(one.answers) if one.refining else 1 + next(
            (n for n, each in enumerate(one.answers) if each.accepted), 0
        )  # fmt: skip
        found += kept[row] < needed
    return found


# --- Sentences


def describe_gain(gain: Mapping[str, Any]) -> list[str]:
    """Return a line on the accepted hypotheses by answer; none with few problems that got several."""
    rows = gain["answers"]
    if len(rows) < 2 or rows[1]["problems"] < MIN_SHOWN:
        return []
    if not any(row["accepted"]["mean"] for row in rows):
        return []
    told = []
    for row in _in_three(rows):
        which = (
            f"answer {row['first']}"
            if row["first"] == row["last"]
            else f"answers {row['first']} to {row['last']}"
        )
        told.append(f"{row['mean']:.2f} ({which})")
    of = " of the first proposer" if gain["no_advice"] == "second_proposer" else ""
    return [f"accepted hypotheses by answer{of}: {', '.join(told)}"]


def _in_three(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the first row, and the others in at most three parts."""
    parts = [[rows[0]]]
    for low, high in ((2, 5), (6, 25), (26, _ENDS[-1])):
        part = [row for row in rows if low <= row["first"] <= high]
        if part:
            parts.append(part)
    return [
        {
            "first": part[0]["first"],
            "last": part[-1]["last"],
            "mean": sum(row["accepted"]["mean"] * row["answers"] for row in part)
            / sum(row["answers"] for row in part),
        }
        for part in parts
    ]


def describe_advice(gain: Mapping[str, Any]) -> list[str]:
    """Return the advice where to stop as a sentence; none without advice."""
    advice = gain["advice"]
    if advice is None:
        return []
    option = f"--{advice['option'].replace('_', '-')} {advice['value']}"
    missed = f"{advice['missed']:,}" if advice["missed"] else "none"
    return [
        f"{option} would have saved {advice['saved'] / advice['answers']:.0%} of the"
        f" {advice['answers']:,} answers and missed {missed} of the {advice['of']:,} {advice['unit']}"
        f" (at most {advice['at_most']:.1%}, 95% interval over {advice['problems']:,} problems)"
    ]
