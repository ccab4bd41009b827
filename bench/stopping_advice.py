"""How often the advice where to stop is given, and how often it misses too much: `python
bench/stopping_advice.py [--sessions 60] [--problems 20,50,200] [--markdown] [--json FILE]`.

Sessions are made without a model: answer n of a problem is accepted with a probability that fades,
.9 exp(-(n - 1) / t), for three values of t, up to 25 answers. Another kind has a constant probability
of .4, so no limit saves a tenth of the answers without missing a tenth of the hypotheses. What a limit
truly misses is measured on 4,000 other problems of the same kind. Not covered: problems that differ in
how fast their gain fades, and models.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Sequence
from functools import cache

from peirce.reports.answer_gains import AnswerGain, ProblemGains
from peirce.reports.files.tables import Table, as_markdown, as_text
from peirce.reports.marginal_gain import MAX_LOST, summarize_gain
from table import Row, add_json_option, write_rows

ANSWERS = 25
FRESH = 4_000  # problems on which a limit is measured
KINDS: dict[str, Callable[[int], float]] = {
    **{f"t = {t}": lambda n, t=t: 0.9 * math.exp(-(n - 1) / t) for t in (2, 4, 8)},
    "constant": lambda n: 0.4,
}
HEADS = ("kind", "problems", "sessions", "with advice", "saved", "missed too much")


def draw_problem(kind: str, name: str, draw: random.Random) -> ProblemGains:
    """A problem whose accepted hypotheses all have the same gamma."""
    hits = [draw.random() < KINDS[kind](n) for n in range(1, ANSWERS + 1)]
    answers = tuple(AnswerGain("proposer", int(hit), float(hit), hit) for hit in hits)
    found = {"proposer": sum(hits)} if any(hits) else {}
    solver = "proposer" if found else None
    return ProblemGains(name, "done", "cap", False, answers, found, float(sum(hits)), solver)


def count_kept(problem: ProblemGains, option: str, value: int) -> int:
    """How many hypotheses a limit keeps."""
    kept = fruitless = 0
    for number, one in enumerate(problem.answers, 1):
        kept += one.accepted
        fruitless = 0 if one.accepted else fruitless + 1
        if (number if option == "max_answers" else fruitless) >= value:
            break
    return kept


@cache
def true_share_missed(kind: str, option: str, value: int) -> float:
    draw = random.Random(f"fresh {kind}")
    fresh = [draw_problem(kind, str(n), draw) for n in range(FRESH)]
    kept = sum(count_kept(one, option, value) for one in fresh)
    return 1 - kept / sum(sum(one.accepted.values()) for one in fresh)


def measure(kind: str, problems: int, sessions: int) -> tuple[int, float, int]:
    """The number of sessions with advice, the mean share of answers that it saves, and how often it
    truly misses more than it may."""
    saved, wrong = [], 0
    for seed in range(sessions):
        draw = random.Random(f"{kind} {problems} {seed}")
        made = [draw_problem(kind, str(n), draw) for n in range(problems)]
        advice = summarize_gain(made, {"method": "abduce"})["advice"]
        if advice is not None:
            saved.append(advice["saved"] / advice["answers"])
            wrong += true_share_missed(kind, advice["option"], advice["value"]) > MAX_LOST
    return len(saved), sum(saved) / len(saved) if saved else 0.0, wrong


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=60)
    parser.add_argument("--problems", default="20,50,200")
    parser.add_argument("--markdown", action="store_true")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    body, rows = [], []
    for kind in KINDS:
        for problems in map(int, options.problems.split(",")):
            given, saved, wrong = measure(kind, problems, options.sessions)
            body.append((kind, problems, options.sessions, given, f"{saved:.0%}", wrong))
            rows.append(Row(f"advice on {kind}, {problems} problems: missed too much", wrong, "sessions"))  # fmt: skip
    table = Table(HEADS, tuple(body))
    print(as_markdown(table) if options.markdown else as_text(table))
    write_rows(options.json, rows)


if __name__ == "__main__":
    main()
