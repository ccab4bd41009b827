"""How far the momentum schedule and the schedule remaining-loss move the draws of a training.

    python bench/momentum.py [--json FILE]              # simulate, and print the tables
    python bench/momentum.py --docs [--rows OUT]        # also write docs/results/momentum.md
    python bench/momentum.py --experiment OUT [--cells N]   # hours of one core; continues where it stopped

The simulation runs the real schedule and mixture on the courses of probe losses in
`peirce.training.dpo.reach`. bench/momentum_cells.py describes the experiment. --docs needs the rows of the
experiment for its tables; without --rows, the page keeps the tables that it has. The section `OWN` was written
by a person and always stays.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from momentum_cells import (
    BASE,
    BASES,
    METRICS,
    SCHEDULES,
    SEEDS,
    read_rows,
    read_rules,
    run_experiment,
)
from numpy.typing import NDArray
from peirce.reports.files.tables import Cell, Table, as_markdown, as_text
from peirce.training.dpo.curriculum import MomentumSchedule
from peirce.training.dpo.reach import COURSES, bound_moved_share, simulate_reach
from peirce.training.dpo.settings import TrainConfig
from peirce.training.stages import STAGES
from table import Row, add_json_option, write_rows

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "momentum.md"
MEASURED, OWN = "## The experiment", "## Conclusions"
TYPICAL = "the stages fall fast, less fast and slowly to .02, .3 and .6"
WIDE = {"w_min": 0.0, "w_max": 3.0}  # no bound takes effect
AIMS = (0.1, 0.2)  # shares of the draws to move
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "momentum, published settings": {},
    "lag 2 (released code)": {"lag": 2},
    "alpha .3": {"alpha": 0.3},
    "alpha 1": {"alpha": 1.0},
    "m_max .3": {"m_max": 0.3},
    "bounds 0 and 3": WIDE,
    "epsilon .01": {"epsilon": 0.01},
    "epsilon .01, bounds 0 and 3": {"epsilon": 0.01, **WIDE},
    "epsilon .002, bounds .3 and 2, alpha .3":
        {"epsilon": 0.002, "w_min": 0.3, "w_max": 2.0, "alpha": 0.3},
    "remaining-loss, min_share .1": {"schedule": "remaining-loss"},
    "remaining-loss, min_share .2": {"schedule": "remaining-loss", "min_share": 0.2},
}  # fmt: skip
# Settings to change alone or together, from the published value towards more reach.
SEARCHED: Mapping[str, tuple[str, Sequence[float], Mapping[str, float]]] = {
    "alpha": ("alpha", (0.2, 0.3, 0.5, 0.7, 1.0), {}),
    "m_max, with bounds 0 and 3": ("m_max", (0.05, 0.1, 0.3, 1.0), WIDE),
    "epsilon": ("epsilon", (0.05, 0.02, 0.01, 0.005, 0.002, 0.001), {}),
    "epsilon, with bounds 0 and 3": ("epsilon", (0.05, 0.02, 0.01, 0.005, 0.002, 0.001), WIDE),
    "epsilon, with bounds 0 and 3 and alpha 1":
        ("epsilon", (0.05, 0.02, 0.01, 0.005, 0.002, 0.001), {**WIDE, "alpha": 1.0}),
}  # fmt: skip
RESAMPLES = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument(
        "--experiment", type=Path, metavar="OUT", help="run the cells that are left"
    )
    parser.add_argument("--cells", type=int, metavar="N", help="run at most N cells")
    parser.add_argument("--docs", action="store_true", help=f"write docs/results/{PAGE.name}")
    parser.add_argument("--rows", type=Path, metavar="OUT", help="folder of a finished experiment")
    add_json_option(parser)
    options = parser.parse_args()
    if options.experiment is not None:
        run_experiment(options.experiment, options.cells)
        return
    began = time.process_time()
    tables = (course_table(), variant_table(), needed_table())
    seconds = time.process_time() - began
    for one in tables:
        print(as_text(one, None))
    if options.docs:
        PAGE.write_text(page(tables, options.rows))
    most = max(moved(TrainConfig(), course) for course in COURSES)
    write_rows(options.json, [
        Row("simulated courses for the page on momentum, CPU", seconds, "s"),
        Row("draws that momentum moves at most, published settings", 100 * most, "%", "higher"),
    ])  # fmt: skip


# --- the simulation ---------------------------------------------------------------


def moved(settings: TrainConfig, course: str) -> float:
    """Return the share of the draws that differ from equal draws in one course."""
    return simulate_reach(settings, STAGES, course).moved_share


def course_table() -> Table:
    """Shares of the draws and moved draws by course, for three schedules."""
    body: list[tuple[Cell, ...]] = []
    for course in COURSES:
        cells: list[Cell] = [course]
        for settings in (TrainConfig(), TrainConfig(lag=2), TrainConfig(schedule="remaining-loss")):
            found = simulate_reach(settings, STAGES, course)
            shares = " / ".join(f"{100 * share:.1f}" for share in found.shares.values())
            cells += [shares, f"{found.moved:,} ({found.moved_share:.1%})"]
        body.append(tuple(cells))
    heads = ("course of the probe losses", "momentum: shares, %", "moved", "momentum, lag 2: shares, %", "moved",
             "remaining-loss: shares, %", "moved")  # fmt: skip
    return Table(heads, tuple(body))


def variant_table() -> Table:
    """The range of weights and the moved draws of variants of the settings."""
    body = []
    for name, changed in VARIANTS.items():
        settings = TrainConfig.from_mapping(changed)
        schedule = settings.make_schedule(STAGES)
        if isinstance(schedule, MomentumSchedule):
            low, high = schedule.weight_range()
        else:
            low, high = 3 * settings.min_share, 3 * (1 - 2 * settings.min_share)
        every = [moved(settings, course) for course in COURSES]
        typical = every[list(COURSES).index(TYPICAL)]
        bounds = (bound_moved_share(settings, STAGES, rising=one) for one in (False, True))
        shares = (f"{share:.1%}" for share in (typical, max(every), *bounds))
        body.append((name, f"{low:.3f} to {high:.3f}", *shares))
    heads = ("settings", "possible weights", "moved, three rates", "moved, largest of all",
             "bound, no loss rises", "bound, all courses")  # fmt: skip
    return Table(heads, tuple(body))


def needed_table() -> Table:
    """The first value of a setting with which the schedule moves 10% or 20% of the draws."""
    body = []
    for name, (setting, values, others) in SEARCHED.items():
        cells: list[Cell] = [name]
        for courses in ((TYPICAL,), tuple(COURSES)):
            reached = [
                (value, max(moved(TrainConfig.from_mapping({**others, setting: value}), one)
                            for one in courses)) for value in values
            ]  # fmt: skip
            for aim in AIMS:
                fit = [value for value, share in reached if share >= aim]
                most = max(share for _, share in reached)
                cells.append(f"{fit[0]:g}" if fit else f"not reached (at most {most:.1%})")
        body.append(tuple(cells))
    heads = ("changed setting", *(f"{aim:.0%}, {where}" for where in ("three rates", "any") for aim in AIMS))  # fmt: skip
    return Table(heads, tuple(body))


# --- the tables of the experiment -------------------------------------------------

Values = NDArray[np.float64]


def interval(values: Values, rule: NDArray[np.int64]) -> tuple[float, float, float]:
    """Return the mean and a 95% interval that draws seeds and rules with replacement.

    Args:
        values: Values of shape (seeds, problems).
        rule: The number of the rule of each problem, of shape (problems,).
    """
    seeds, rules = len(values), int(rule.max()) + 1
    sums = np.stack([np.bincount(rule, one, rules) for one in values])  # (seeds, rules)
    counts = np.bincount(rule, minlength=rules)
    draw = np.random.default_rng(0)
    of_seed = draw.multinomial(seeds, np.full(seeds, 1 / seeds), RESAMPLES) / seeds
    of_rule = draw.multinomial(rules, np.full(rules, 1 / rules), RESAMPLES)
    means = ((of_seed @ sums) * of_rule).sum(axis=1) / (of_rule @ counts)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(values.mean()), float(low), float(high)


class Results:
    """The rows of the experiment by base and schedule, as arrays of (seeds, problems)."""

    def __init__(self, out: Path) -> None:
        rows = read_rows(out)
        self.rows = {(one["base"], one["schedule"], one["seed"]): one for one in rows}
        self.problems = sorted({problem for one in rows for problem in one["held_out"]})
        rules = read_rules(out)
        names = sorted({rules[problem] for problem in self.problems})
        self.rule = np.array([names.index(rules[problem]) for problem in self.problems])

    def seeds(self, base: str, *schedules: str) -> list[int]:
        """Return the seeds for which all schedules have a row."""
        return [s for s in SEEDS if all((base, one, s) in self.rows for one in schedules)]

    def values(self, base: str, schedule: str, metric: str, seeds: Sequence[int]) -> Values:
        """Return values of shape (seeds, problems); a problem without a value counts as 0."""
        return np.array([
            [self.rows[base, schedule, seed]["held_out"][one][metric] or 0.0 for one in self.problems]
            for seed in seeds
        ])  # fmt: skip

    def differences(self, base: str, reference: str) -> Iterator[tuple[Cell, ...]]:
        """Yield a table row of differences for each schedule, paired by seed and problem."""
        for schedule in (BASE, *SCHEDULES):
            seeds = self.seeds(base, schedule, reference)
            if schedule == reference or not seeds:
                continue
            cells: list[Cell] = [base, f"{schedule} − {reference}", str(len(seeds))]
            for metric in METRICS:
                first = self.values(base, schedule, metric, seeds)
                mean, low, high = interval(first - self.values(base, reference, metric, seeds), self.rule)  # fmt: skip
                cells.append(f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]")
            yield tuple(cells)

    def levels(self, base: str) -> Iterator[tuple[Cell, ...]]:
        """Yield a table row for each schedule: draws, probe accuracies and held-out means."""
        for schedule in (BASE, *SCHEDULES):
            seeds = self.seeds(base, schedule)
            if not seeds:
                continue
            own = [self.rows[base, schedule, seed] for seed in seeds]
            cells: list[Cell] = [base, schedule, str(len(seeds))]
            if schedule == BASE:
                cells += ["–"] * (1 + len(STAGES))
            else:
                draws = {s: np.mean([one["used"][s]["draws"] for one in own]) for s in STAGES}
                total = sum(draws.values())
                cells.append(" / ".join(f"{100 * draws[s] / total:.1f}" for s in STAGES))
                for stage in STAGES:
                    found = [one["probes"][stage]["probe_accuracy"] for one in own]
                    cells.append(f"{np.mean(found):.3f} ({min(found):.3f} to {max(found):.3f})")
            for metric in METRICS:
                cells.append(f"{self.values(base, schedule, metric, seeds).mean():.3f}")
            yield tuple(cells)


def experiment_section(out: Path) -> str:
    """Return the measured section of the page as Markdown."""
    results = Results(out)
    first = next(iter(SCHEDULES))
    heads = ("base", "schedule", "seeds", "draws, %", *(f"probe accuracy, {s}" for s in STAGES), *METRICS)  # fmt: skip
    levels = Table(heads, tuple(row for base in BASES for row in results.levels(base)))
    compared = tuple(row for base in BASES for row in results.differences(base, first))
    differences = Table(("base", "difference", "seeds", *METRICS), compared)
    done = len(results.rows)
    total = len(BASES) * len(SEEDS) * (1 + len(SCHEDULES))
    return f"""{MEASURED}

{done} of {total} cells are done. There are {len(results.problems)} held-out problems with {results.rule.max() + 1} rules.
"Draws" are the shares of parsing, consistency and gear among all drawn pairs. A probe accuracy is measured after
the last update. It is the mean over seeds, with the smallest and the largest value in brackets. The other columns are
means over held-out problems ([definitions](../reference/metrics.md)). A problem without a value counts as 0.

{as_markdown(levels)}

The next table compares each schedule with equal draws, paired by seed and problem. The 95% intervals resample both seeds
and rules ({RESAMPLES:,} times).

{as_markdown(differences)}
"""


# --- the page ---------------------------------------------------------------------


def page(tables: Sequence[Table], out: Path | None) -> str:
    """Return the page; sections that were not measured now are taken from the page that exists."""
    kept = PAGE.read_text() if PAGE.exists() else ""
    before, _, own = kept.partition(OWN)
    measured = (
        experiment_section(out) if out is not None else MEASURED + before.partition(MEASURED)[2]
    )
    courses, variants, needed = map(as_markdown, tables)
    return f"""{INTRODUCTION.format(courses=courses, variants=variants, needed=needed)}
{PROTOCOL}
{measured.strip()}

{OWN}{own.rstrip()}
"""


INTRODUCTION = """# How far momentum moves the draws

`peirce train` draws each training pair from one of three stages: parsing, consistency or gear. The schedules `momentum`
(GEAR, section 6.2) and `remaining-loss` change how often it draws from each stage
([schedules](../how-to/train.md#schedules-and-settings)). This page shows by simulation how far they can move the draws
away from equal draws. A small experiment compares models that were trained with both schedules and with fixed mixes.

    python bench/momentum.py --docs                       # simulate, and write this page
    python bench/momentum.py --experiment OUT             # run the experiment, or continue it
    python bench/momentum.py --docs --rows OUT            # write this page with the results of the experiment

## Simulation

The simulation draws pairs as a training with 40 periods of 1,280 examples does, but it trains no model. Instead, the
probe losses follow one of the eight courses in the first column of the table. Every course begins at ln 2, the loss of
every stage before training. "Moved" is the number of draws, out of 51,200, that go to another stage than with equal
weights:

    moved = sum over stages of max(0, draws of the stage − its draws with equal weights)

`momentum` compares the averaged loss of a stage with the average one period earlier, as in the paper. With `--lag 2`, it
compares it with the average two periods earlier, as GEAR's released code does.

Before a training, `peirce train` simulates all courses with the settings of this training. It prints the largest result,
and stores it in `training.json` (`reach`).

{courses}

With the published settings, a weight always lies between .833 and 1.182. A stage with the largest weight in all 40
periods would get 39.4% of the draws instead of 33.3%. But if no loss rises, no stage can keep this weight: its averaged
loss would have to fall by .03 in every period. With alpha .1, this needs a probe loss that lies .3 below the average. The
average falls from .69 to .3 in at most 14 periods, and then a probe loss of 0 is not low enough. A stage that stops
improving has a weight of at most 1, however large its loss still is. So `momentum` does not draw hard stages more often.
In the seventh course, where the stages fall at three rates, the stage with the largest remaining loss is drawn least.

Among all courses in which no loss rises, the fourth course moves most with lag 1, and the fifth with lag 2. A linear
program found them. It shows that no such course moves more than 3.5% of the draws with lag 1, and 5.8% with lag 2
(`tests/training/dpo/test_reach.py`). With losses that rise and fall again, at most 5.9% can move (see the next table).

`remaining-loss` gives every stage a minimum share of the draws, and divides the other draws in proportion to the probe
loss L of each stage:

    share = min_share + (1 − 3 min_share) × L / sum over stages of L

### Variants of the settings

The first column names the settings that differ from the published ones. The bounds are the smallest and the largest
weight (`w_min` and `w_max`); the bounds 0 and 3 have no effect. "Three rates" is the seventh course, and "largest" is the
course of the table above that moves most. The last two columns are proven bounds, apart from rounding
(`bound_moved_share` in `training/dpo/reach.py`): for courses in which no loss rises, and for all courses.

{variants}

### What would be needed to move 10% or 20% of the draws

Each row tries several values of its first setting. All other settings have the published values, unless the row names
them. A cell shows the first value that moves 10% or 20% of the draws: in the seventh course ("three rates"), or in
any course of the first table ("any"). The tried values are alpha .2 to 1, m_max .05 to 1, and epsilon .05 down to .001.
The published values (alpha .1, m_max .03, epsilon .1) are not among them.

{needed}
"""

PROTOCOL = """## Protocol of the experiment

We ran the experiment on 2026-11-29 on two cores, which other programs used at the same time. It consists of 48 *cells*:
two bases, three seeds, and eight cells for each base and seed. Seven of these cells train the base with one schedule and
evaluate the trained model; the eighth evaluates the untrained base.

- **Bases**: the llama with a million parameters that comes with Peirce, and a gpt_neox. We pretrained the gpt_neox with
  the same settings and the same number of tokens, but with another seed.
- **Problems**: easy ACRE problems with 3 shown observations: 227 for training, 40 for validation and 144 held out. No
  held-out problem has the same rule as a problem for training or validation.
- **Pairs**: two sessions on the problems for training and validation give the pairs: one of the llama (method `t3`, two
  rounds of three answers), and one of the built-in search (one round). A pair compares two answers of one session. All
  answers of the search are consistent, so all parsing and consistency pairs come from the llama. Most gear pairs come
  from the search. For training there are 2,680 parsing, 528 consistency and 719 gear pairs. All trainings use the same
  pairs, also those of the gpt_neox.
- **Training**: all parameters, 480 examples in 30 updates of 16, learning rate 3e-4, beta .1. A probe measures the loss
  on 30 pairs per stage every 48 examples. All schedules have the same number of updates. The seed determines the order
  of the pairs and the sampled answers.
- **Evaluation**: each cell answers the held-out problems once (method `t3`, one round of three answers). We chose no
  setting by results on these problems. A first version of the experiment had other pairs and other held-out problems. Its
  trained models were worse than the base in all measures, so we stopped it (`LOG.md`).
"""


if __name__ == "__main__":
    main()
