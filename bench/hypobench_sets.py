"""Check every generated set against what it states: `python bench/hypobench_sets.py [--seeds 0 1] [--docs]
[--json FILE]`.

The script checks each of the 184 sets of the paper's grid and each random tree with the exact judge, without a
search. `optimal` is the best rule that can be written as sentences. The *known* sentences are those that a system
should find (`ground_truth_hypotheses`).

- fewest labels: the number of labels in the split that has fewest; at least two, so that no set has a single class.
- best as stated: `optimal` never contradicts itself, labels every row, and is as accurate on each split as
  metadata.json states.
- weighed as stated: for posts, the known sentences with the stated `weights` (the label with the largest sum over the
  sentences that apply) are as accurate on each split as stated.
- true rules read: how many known sentences are exact rules. The others would count as not found.
- itself: the exact HDR of `optimal`, compared with itself; 1 is right.
- known, its precision: the exact HDR and the precision of the known sentences as a bank; 1 is right.
- optimal: the exact HDR of `optimal` as a bank, against the known sentences. Posts may have less than 1, because
  `optimal` says which combinations have which label, and the known sentences say which label most posts with a
  phrase have.

Table 2 of HypoBench counts 178,750 rows for election and for personality, 7,800 for admission, 3,300 for shoe and
500 for marine. It counts the rows of a twin together with those of its set, and so does this table.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from peirce.records import Observation, Problem
from peirce.reports.files.tables import Cell, Table, as_markdown, as_text
from peirce.tasks import load_problems
from peirce.tasks.text.generation import GENERATORS
from peirce.tools.discovery.input_space import InputSpace
from peirce.tools.discovery.scores import ExactScores, score_exact
from peirce.tools.sentence_rules.prepared_rows import PreparedRows
from peirce.tools.sentence_rules.rules import NOT_APPLICABLE, Rule
from peirce.tools.sentence_rules.sentence_compiler import compile_sentence
from table import Row, add_json_option, write_rows

PAGE = Path(__file__).resolve().parents[1] / "docs/results/generated-sets-checked.md"
NAMES = ("admission", "shoe", "election", "personality", "marine", "tree")
PUBLISHED = {"election": (78, 178_750), "personality": (76, 178_750), "admission": (26, 7_800),
             "shoe": (3, 3_300), "marine": (1, 500)}  # fmt: skip
TWINS = ("_adv/", "/counterfactual/")
ROUNDED = 5.1e-5  # what is stated has four decimals


@dataclass(frozen=True)
class Checked:
    """rows: of all splits. labels: of the split with the fewest. apart: the most by which `optimal` misses a
    stated accuracy, 1 where it contradicts itself or leaves a row out; weighed: the same of what is known
    with weights, 0 where there are none. stated, read: true rules, and those that are exact rules. known, precision, itself, optimal: exact scores as above."""

    generator: str
    name: str
    rows: int
    labels: int
    apart: float
    weighed: float
    stated: int
    read: int
    known: float
    precision: float
    itself: float
    optimal: float

    @property
    def right(self) -> bool:
        ones = (self.known, self.precision, self.itself)
        return (
            self.labels > 1
            and self.read == self.stated
            and max(self.apart, self.weighed) <= ROUNDED
            and ones == (1.0, 1.0, 1.0)
        )


def checked(generator: str, name: str, seed: int) -> Checked:
    everything = str(10**6)
    ((problem, _),) = load_problems(
        f"labels:{generator}", ids=[name], seed=seed, observations=everything
    )
    made = problem.secret["made"]
    splits = {"train": problem.shown}
    for split, (start, stop) in problem.secret["splits"].items():
        splits["test" if split == "ind" else split] = problem.hidden[start:stop]
    best, known = made["optimal"], problem.secret["truths"]
    apart, weighed = (
        max(
            abs(way(sentences, problem, some) - made["best_accuracy"][split])
            for split, some in splits.items()
        )
        for way, sentences in ((accuracy, best), (by_weights, known))
    )
    space = InputSpace(problem)

    def score(truths: Sequence[str], bank: Sequence[str]) -> ExactScores:
        found = score_exact(truths, bank, space, problem.public)
        assert found is not None, name
        return found

    said = score(known, known)
    return Checked(
        generator, name, sum(map(len, splits.values())),
        min(len({one.output for one in some}) for some in splits.values()),
        apart, weighed if "weights" in made else 0.0, said.stated, said.stated - said.unread, said.hdr, said.precision or 0.0, score(best, best).hdr, score(known, best).hdr,
    )  # fmt: skip


def accuracy(sentences: Sequence[str], problem: Problem, rows: Sequence[Observation]) -> float:
    """Of sentences that together label every row; 0 where they contradict each other or leave one out."""
    prepared = PreparedRows([one.input for one in rows], problem.public)
    gold = np.array([prepared.label_index(str(one.output)) for one in rows])
    found = np.full(len(rows), NOT_APPLICABLE)
    for sentence in sentences:
        rule = compile_sentence(sentence, problem.public)
        if not isinstance(rule, Rule):
            return 0.0
        codes = rule.codes(prepared)
        if ((codes != found) & (codes != NOT_APPLICABLE) & (found != NOT_APPLICABLE)).any():
            return 0.0
        found = np.where(codes == NOT_APPLICABLE, found, codes)
    return 0.0 if (found == NOT_APPLICABLE).any() else float((found == gold).mean())


def by_weights(sentences: Sequence[str], problem: Problem, rows: Sequence[Observation]) -> float:
    """Of the label whose intercept and weights of the sentences that apply sum to the most."""
    made = problem.secret["made"]
    if "weights" not in made:
        return 0.0
    prepared = PreparedRows([one.input for one in rows], problem.public)
    rules = [compile_sentence(sentence, problem.public) for sentence in sentences]
    there = [one.codes(prepared) != NOT_APPLICABLE for one in rules if isinstance(one, Rule)]
    labels = list(made["weights"])
    weights = np.array([made["weights"][label] for label in labels])
    sums = weights @ np.array(there) + np.array([[made["intercepts"][one]] for one in labels])
    said = sums.argmax(axis=0)
    return float(np.mean([labels[n] == one.output for n, one in zip(said, rows, strict=True)]))


def every(only: Sequence[str], seed: int) -> Iterator[Checked]:
    for generator in only:
        for name in GENERATORS[generator].list_sets(seed):
            yield checked(generator, name, seed)


def counted(some: Sequence[Checked]) -> int:
    """Rows as the paper counts them."""
    return sum(one.rows for one in some if not any(twin in one.name for twin in TWINS))


def table(found: Sequence[Checked], seeds: int) -> Table:
    body: list[tuple[Cell, ...]] = []
    for generator in dict.fromkeys(one.generator for one in found):
        some = [one for one in found if one.generator == generator]
        optimal = [one.optimal for one in some]
        body.append(
            (
                generator,
                len(some) // seeds,
                PUBLISHED.get(generator, (None, None))[0],
                counted(some) // seeds,
                PUBLISHED.get(generator, (None, None))[1],
                min(one.labels for one in some),
                "yes" if all(one.apart <= ROUNDED for one in some) else "no",
                ("yes" if all(one.weighed <= ROUNDED for one in some) else "no")
                if generator in ("election", "personality")
                else None,
                f"{sum(one.read for one in some) // seeds} of {sum(one.stated for one in some) // seeds}",
                min(one.itself for one in some),
                min(one.known for one in some),
                min(one.precision for one in some),
                f"{min(optimal):.3f} to {max(optimal):.3f}",
            )
        )
    heads = ("generator", "sets", "in table 2", "rows", "in table 2", "fewest labels", "best as stated", "weighed as stated",
             "true rules read", "itself", "known", "its precision", "optimal")  # fmt: skip
    return Table(heads, tuple(body))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--docs", action="store_true", help=f"also write docs/results/{PAGE.name}")
    add_json_option(parser)
    options = parser.parse_args()
    found = []
    for seed in options.seeds:
        for one in every(options.only, seed):
            found.append(one)
            if not one.right:
                print(f"seed {seed}: {one}", flush=True)
    told = table(found, len(options.seeds))
    print(as_text(told, None))
    if options.docs:
        seeds = ", ".join(map(str, options.seeds))
        text = f"python bench/hypobench_sets.py --seeds {' '.join(map(str, options.seeds))} --docs"
        rest = __doc__.partition("\n\n")[2]
        PAGE.write_text(
            f"# The generated sets, checked\n\nThis page checks that the generated sets agree with their metadata.\n\n{rest}\n"
            f"The measures of discovery are defined in [discovery scores](../explanation/discovery.md). The table covers the\n"
            f"seeds {seeds}; its rows are those of one seed. It was written by\n\n    {text}\n\n"
            f"{as_markdown(told)}\n"
        )
    right = sum(one.right for one in found)
    work = f"sets of {', '.join(options.only)} that agree with their metadata"
    row = Row(work, right, "sets", "higher", len(found), "all of them")
    write_rows(options.json, [row])
    if not all(one.right for one in found):
        raise SystemExit(
            f"{len(found) - right} of {len(found)} sets do not agree with their metadata"
        )


if __name__ == "__main__":
    main()
