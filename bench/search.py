"""What the embedded search finds: `python bench/search.py [TASK [DATA]] [--observations N|FILE]
[--json FILE]`.

    python bench/search.py
    python bench/search.py list_functions list_function.jsonl --answers 1 --budgets 20000 60000 150000
    python bench/search.py list_functions --plain --budgets 5000 20000 60000 150000 600000
    python bench/search.py mini_arc miniarc.jsonl --observations mini_arc_3.json --half 0
    python bench/search.py mini_arc --show-following 10

Without DATA the task's own generator makes the problems. The engine is asked in this process, answer
after answer, under GEAR's protocol as far as no other model takes part: 25 answers, three bad ones end
a problem, an answer that coverage says is redundant is bad. One line a budget, means over problems: share with
a consistent answer, its gamma and beta (0 where there is none), the share of hidden pairs that the
first is right on, Top-1 to Top-3 (right on all hidden
pairs that can judge), the share of later answers that are right on at least half of the hidden pairs,
memorisers, and seconds of a problem: of the first answer, of all. `--half` takes the problems at even
(0) or odd (1) places. Predictions are looked at on `--space` inputs of the sample space.
`--show-following N` prints N of the following answers of each budget, drawn by `--seed`.

`--plain`, for list functions, is another table: candidates a second and first answers, beside those
of a plain enumeration of the same grammar (plain_enumeration.py) in the same run and the same
seconds; beside_plain.py says what is counted. It is what a run without a task does, on a few problems.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import warnings
from statistics import fmean

import beside_plain
import numpy as np
from peirce.records import Json, Problem
from peirce.sandbox.inside.canonical import Unrepresentable, code_of
from peirce.search.budget import PRESETS
from peirce.search.engines import SearchService
from peirce.tasks import judgeable_pairs, load_problems
from peirce.tools.gear.memorisation import Inputs, contains_pairs
from peirce.tools.gear.scores import beta, gamma
from table import Row, add_json_option, write_rows

CAP, BAD, COVERED = 25, 3, 0.8


class Written:
    """An answer that was proposed, and what it predicts."""

    def __init__(self, text: str, space: list[Json]) -> None:
        names: dict = {}
        exec(compile(text, "<answer>", "exec"), names)
        self.text, self.function = text, names["f"]
        codes = [self.code(x) for x in space]
        self.known = np.array([c is not None for c in codes], bool)
        self.codes = np.array([c or 0 for c in codes], np.int64)

    def code(self, value: Json) -> int | None:
        try:
            return code_of(self.function(value))
        except (ArithmeticError, LookupError, TypeError, ValueError, MemoryError, Unrepresentable):
            return None

    def right(self, pairs: list) -> list[bool]:
        return [self.code(p.input) == code_of(p.output) for p in pairs]


def answers(
    engine: SearchService, problem: Problem, space, few: list[Json], budget: float, most: int
):
    """The answers, the seconds of the first and of all."""
    shown = [[o.input, o.output] for o in problem.shown]
    texts: list[str] = []
    made: list[Written] = []
    bad, began, first = 0, time.perf_counter(), 0.0
    spent = 0.0
    while len(texts) < most and bad < BAD:
        began = time.perf_counter()
        found = engine.propose(
            {"shown": shown, "space": space.digest, "inputs": space.inputs, "earlier": texts,
             "skip": [], "expansions": budget}
        )  # fmt: skip
        spent += time.perf_counter() - began
        first = first or spent
        if "source" not in found:
            break
        answer = Written(found["source"], few)
        covered = np.zeros(len(few), bool)
        for other in made:
            covered |= answer.known & other.known & (answer.codes == other.codes)
        bad += not all(answer.right(problem.shown)) or float(covered.mean()) >= COVERED
        texts.append(found["source"])
        made.append(answer)
    return made, first, spent


def measure(
    problems: list, budget: float, most: int, size: int, show: bool, drawn: int = 0, seed: int = 0
) -> list[Row]:
    rows = []
    following: list[tuple[str, float | None, str]] = []
    engine = SearchService()
    for problem, space in problems:
        few = list(space.inputs[:: max(1, len(space.inputs) // size)])
        judges = [p for p, can in zip(problem.hidden, judgeable_pairs(problem), strict=True) if can]
        made, first, spent = answers(engine, problem, space, few, budget, most)
        good = [a for a in made if all(a.right(problem.shown))]
        codes = np.array([a.codes for a in good]).reshape(len(good), len(few))
        known = np.array([a.known for a in good], bool).reshape(len(good), len(few))
        passed = [fmean(a.right(judges)) if judges else 0.0 for a in made]
        other = Inputs(few).mask_unshown(problem.shown)
        following += [(problem.id, p if judges else None, a.text)
                      for a, p in list(zip(made, passed, strict=True))[1:]]  # fmt: skip
        rows.append({
            "consistent": float(bool(good)),
            "gamma": (gamma(codes, known) or 0.0) if good else 0.0,
            "beta": beta(codes, known) if good else 0.0,
            "answers": len(made),
            "first_pass": passed[0] if passed else 0.0,
            **{f"top{k}": float(any(p == 1.0 for p in passed[:k])) for k in (1, 2, 3)},
            "later_half": fmean([p >= 0.5 for p in passed[1:]]) if len(passed) > 1 else None,
            "memorisers": sum(contains_pairs(a.text, problem.shown) and _unvaried(a, other) for a in made),
            "first_s": first, "all_s": spent,
        })  # fmt: skip
        if show:
            row = rows[-1]
            print(problem.id, *(f"{k}={v:.2f}" if isinstance(v, float) else f"{k}={v}" for k, v in row.items()), flush=True)  # fmt: skip
    print(f"budget {budget:,.0f}, {len(rows)} problems:")
    for name in rows[0]:
        values = [row[name] for row in rows if row[name] is not None]
        if values:
            most_said = f"  (longest {max(values):.2f})" if name.endswith("_s") else ""
            print(f"  {name:<12} {fmean(values):.3f}{most_said}", flush=True)

    judged = [right for _, right, _ in following if right is not None]
    print(f"  {len(following)} following answers, {sum(r >= 0.5 for r in judged)} of the {len(judged)} that can"
          f" be judged right on at least half of the hidden pairs, {sum(r == 1 for r in judged)} on all")  # fmt: skip
    some = sorted(random.Random(seed).sample(range(len(following)), min(drawn, len(following))))
    for k in some:
        problem_id, right, text = following[k]
        said = "no pair can judge" if right is None else f"right on {right:.2f} of the hidden pairs"
        print(f"\n{problem_id}, {said}:\n{text}", flush=True)
    work = f"{len(rows)} problems, budget {budget:,.0f}, mean"
    kinds = {"consistent": "higher", "first_pass": "higher", "top1": "higher", "first_s": "lower",
             "all_s": "lower"}  # fmt: skip
    return [
        Row(
            f"{name} of {work}", fmean(row[name] for row in rows), "s" * name.endswith("_s"), better
        )
        for name, better in kinds.items()
    ]


def _unvaried(answer: Written, other: np.ndarray) -> bool:
    codes = answer.codes[other & answer.known]
    same = int(np.unique(codes, return_counts=True)[1].max()) if len(codes) else 0
    return bool(int(other.sum()) - len(codes) + same >= 0.95 * int(other.sum()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("task", nargs="?")
    parser.add_argument("data", nargs="?")
    parser.add_argument("--observations")
    parser.add_argument("--problems", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--budgets", type=float, nargs="+")
    parser.add_argument("--answers", type=int, default=CAP)
    parser.add_argument("--space", type=int, default=400)
    parser.add_argument("--show", action="store_true", help="a line a problem")
    parser.add_argument("--show-following", type=int, default=0, metavar="N")
    parser.add_argument(
        "--plain", action="store_true", help="list functions, beside a plain enumeration"
    )
    add_json_option(parser)
    options = parser.parse_args()
    if options.task is None:
        options.task, options.plain = "list_functions", True
        options.problems = options.problems or 10
        options.budgets = options.budgets or [5_000, 20_000, 60_000]
    options.budgets = options.budgets or [PRESETS["standard"].expansions]
    warnings.simplefilter("ignore")
    problems = load_problems(
        options.task, options.data, observations=options.observations,
        problems=None if options.data else options.problems or 100, seed=options.seed,
    )  # fmt: skip
    if options.half is not None:
        problems = problems[options.half :: 2]
    problems = problems[: options.problems]
    print(f"{options.task}, {options.observations or 'original'} shown, python {sys.version.split()[0]}")  # fmt: skip
    if options.plain:
        rows = beside_plain.measure(problems, sorted(options.budgets), options.show)
        write_rows(options.json, rows)
        return
    rows = []
    for budget in options.budgets:
        rows += measure(
            problems, budget, options.answers, options.space, options.show,
            options.show_following, options.seed,
        )  # fmt: skip
    write_rows(options.json, rows)


if __name__ == "__main__":
    main()
