"""How fast the embedded search works on lists and grids: `python bench/search_speed.py
[--problems 3] [--answers 8] [--expansions 40000] [--seed 2] [--json FILE]`.

The tasks list_functions and mini_arc generate the problems. Each is asked for one answer after another in
this process, until it has none or has given `--answers`. Printed for each task: expansions a second of
processor time, with the ranking of candidates on the sample space, and a digest of all answers, which a
faster search must not change. The most resident memory of the process is that of both tasks.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

from peirce.records import digest_of_text
from peirce.search.engines import SearchService
from peirce.tasks import load_problems
from table import Row, add_json_option, write_rows

TASKS = {"list_functions": "lists", "mini_arc": "grids"}


def search(
    task: str, problems: int, answers: int, expansions: float, seed: int
) -> tuple[float, str]:
    """Return the expansions a second of processor time, and a digest of all answers."""
    service = SearchService()
    spent, seconds, sources = 0, 0.0, []
    for problem, space in load_problems(task, problems=problems, seed=seed):
        texts: list[str] = []
        began = time.process_time()
        while len(texts) < answers:
            found = service.propose({
                "shown": [[o.input, o.output] for o in problem.shown], "space": space.digest,
                "inputs": space.inputs, "earlier": texts, "skip": [], "expansions": expansions,
            })  # fmt: skip
            if "source" not in found:
                break
            texts.append(found["source"])
        seconds += time.process_time() - began
        spent += next(reversed(service.problems.values())).progress().expansions  # type: ignore[attr-defined]
        sources += [problem.id, *texts]
    return spent / seconds, digest_of_text("\n".join(sources))[:12]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--problems", type=int, default=3)
    parser.add_argument("--answers", type=int, default=8)
    parser.add_argument("--expansions", type=float, default=40_000)
    parser.add_argument("--seed", type=int, default=2)
    add_json_option(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for task, name in TASKS.items():
        speed, digest = search(
            task, options.problems, options.answers, options.expansions, options.seed
        )
        print(f"{name}: {speed:,.0f} expansions a second, answers {digest}")
        rows.append(Row(f"expansions a second, {name}", speed, "1/s", "higher"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"most resident memory {peak:,.0f} MB")
    rows.append(Row("most resident memory of a search on lists and grids", peak, "MB"))
    write_rows(options.json, rows)


if __name__ == "__main__":
    main()
