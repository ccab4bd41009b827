"""How often the planted rule of a generated problem comes first: `python bench/ranking.py [--problems
200] [--seed 777] [--json FILE]`.

The embedded search proposes hypotheses for generated problems of each family, whose true rule is known.
Among the problems for which it found a hypothesis with the predictions of the true rule on all of the
sample space S (on labelled rows: on all shown rows), the share is counted in which such a hypothesis
ranks first: in the bank by reward, as a running session ranks it, and among the findings. Nothing of the
true rule is visible to the search or to the ranking.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import peirce
from numpy.typing import NDArray
from peirce.commands.oracles import open_oracles
from peirce.graphs.runtime.case import Case
from peirce.graphs.runtime.memory import make_case
from peirce.records import Hypothesis, InputSet, Problem
from peirce.reports.findings import rank_bank
from peirce.store import Store
from peirce.tasks import load_family
from table import Row, add_json_option, write_rows

# Per family: tasks with the share of its problems.
FAMILIES = {
    "programs": {"list_functions": 0.5, "acre": 0.25, "mini_arc": 0.25},
    "logic": {"abd": 1.0},
    "text": {"labels": 1.0},
}
Codes = NDArray[np.int64]


async def predict(case: Case, texts: Sequence[str], inputs: InputSet) -> list[Codes]:
    """The codes of hypotheses on inputs, (n,) each, -1 where they predict nothing."""
    view = case.problem.make_view(case.space)
    read = [case.family.parse_hypothesis(text, view) for text in texts]
    kept = [one for one in read if isinstance(one, Hypothesis)]
    found = await case.family.predict(kept, inputs, view, case.make_oracles())
    return [np.where(one.defined, one.codes, -1) for one in found]


async def planted(case: Case, inputs: InputSet) -> Codes | None:
    """The predictions of the true rule: of several sentences, the first that applies decides, and the
    other label where none does."""
    problem = case.problem
    secret = problem.secret
    texts = secret.get("known") or [secret.get("rule") or secret.get("reference")]
    found = await predict(case, texts, inputs)
    if len(found) < len(texts):
        return None
    codes = np.full(len(inputs), -1, np.int64)
    for one in found:
        codes = np.where(codes < 0, one, codes)
    labels = set(range(len(problem.public.get("labels", ()))))
    others = labels - set(codes.tolist())
    return np.where(codes < 0, others.pop(), codes) if len(others) == 1 else codes


async def first_places(store: Store, session: str) -> list[tuple[bool, bool]]:
    """(by reward, among findings) for each problem whose planted rule was found: does it come first?"""
    settings = store.settings(session)
    family = load_family(settings["family"])
    by_reward = store.bank(session)
    ranked = rank_bank(store, session, by_reward)
    found = []
    async with open_oracles(family) as opened:
        for row in store.problems(session):
            space = store.input_set(row.space)
            case = make_case(row.problem, None, opened.oracle, space=space)
            inputs = rows_of(row.problem) if family.name == "text" else space
            true = await planted(case, inputs)
            bank = [one["text"] for one in by_reward if one["problem"] == row.problem.id]
            best = [one["text"] for one in ranked if one["problem"] == row.problem.id]
            if true is None or not bank:
                continue
            codes = await predict(case, bank, inputs)
            equal = {text for text, one in zip(bank, codes, strict=True) if (one == true).all()}
            if equal:
                found.append((bank[0] in equal, best[0] in equal))
    return found


def rows_of(problem: Problem) -> InputSet:
    """The shown rows of a problem."""
    return InputSet("shown", tuple(one.input for one in problem.shown))


def main() -> None:
    """Run the search and print one row for each family."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=200, help="problems of each family")
    parser.add_argument("--seed", type=int, default=777)
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES))
    add_json_option(parser)
    arguments = parser.parse_args()
    rows = []
    for family in arguments.families:
        places: list[tuple[bool, bool]] = []
        count = 0
        for task, share in FAMILIES[family].items():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "ranking.duckdb"
                shown = 200 if task == "labels" else None  # else the search sees all rows
                session = peirce.run(task, problems=round(share * arguments.problems),
                                     observations=shown, seed=arguments.seed, model="search",
                                     store=path)  # fmt: skip
                count += session.problems
                with closing(Store.open(path, write=False)) as store:
                    places += asyncio.run(first_places(store, session.session))
        before, after = (sum(one[n] for one in places) / max(len(places), 1) for n in (0, 1))
        rows.append(
            Row(f"{family}: planted rule first, among the problems where it was found", after,
                "share", "higher", before, "the bank by reward", 0.9)
        )  # fmt: skip
        print(
            f"{family}: {len(places)} of {count} found; first {before:.3f} by reward, {after:.3f} among findings",
            flush=True,
        )
    write_rows(arguments.json, rows)


if __name__ == "__main__":
    main()
