"""What an agent with a language model finds, and what it costs: `python bench/agent.py
[--before DIR] [--problems 3] [--seeds 3] [--variants NAME ...] [--docs] [--json FILE]`.

Stand-ins of five strengths (bench/stand_ins.py) answer over HTTP on problems of three families, which
Peirce generates: functions of lists (programs), exception rules for ABD theories (rules) and labelled
records (texts). Each session is a `peirce run` with its defaults on the same problems, with the same
seeds. Variants:

before: the checkout in DIR (`--before-python`: its interpreter, by default DIR/.venv/bin/python).
after: this one.
search: this one with `--seed-hypotheses 3`, for programs and rules also `--repair search`.
then: this one with `--then` the strongest stand-in.

A problem is solved if its bank holds the true rule or one that is equal on what the session never saw:
a program that is right on all hidden pairs, a rule that is valid in all holdout worlds at no higher cost
than the true rule, a sentence that is right on all test rows. Calls and tokens are counted at the
endpoint. "Model time" is what the answers would take at the stand-ins' speed, one after the other; it
depends on no clock. "Seconds" is the wall time of the session, in which the stand-ins answer `1/--scale`
times as fast.

Not measured: real models. The shares of good and bad answers were chosen, so a figure says what Peirce
makes of such answers, and only a difference between variants says anything about Peirce.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import peirce
from peirce.reports.files.tables import Table, as_markdown, as_text
from scripts import describe_tree
from stand_in_server import Counts, serve_timed
from stand_ins import (
    STRENGTHS,
    KnownProblem,
    StandIn,
    programs_problem,
    rules_problem,
    text_problem,
)
from table import Row, add_json_option, write_rows

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "results" / "agent.md"
STRONGEST = list(STRENGTHS)[-1]
OWN = "conclusions"  # the section of the page that a person writes
SEEDS, REPAIR = ("--seed-hypotheses", "3"), ("--repair", "search")
SEARCH = {"programs": (*SEEDS, *REPAIR), "rules": (*SEEDS, *REPAIR), "texts": SEEDS}
VARIANTS: Mapping[str, Callable[[str, str], Sequence[str]]] = {  # options, by URL and family
    "before": lambda url, family: (),
    "after": lambda url, family: (),
    "search": lambda url, family: SEARCH[family],
    "then": lambda url, family: ("--then", f"{url}#{STRONGEST}"),
}
TASKS = {"programs": "list_functions", "rules": "abd", "texts": "labels"}
TEXT_SETS = ("admission/level_2/depth_2", "admission_adv/level_2/depth_2", "admission/level_4/distractor_10",
             "admission_adv/level_2/distractor_3", "admission/level_3/distractor_6")  # fmt: skip
TEXT_ROWS = {"train": 60, "val": 20, "test": 40}
# No model call for predictions, which would be most of the calls and say nothing about proposals.
OPTIONS: Mapping[str, Sequence[str]] = {"texts": ("--inference", "best", "--observations", "40")}


# --- Sessions.


class Driver:
    """A process of a checkout that runs command lines (bench/session_driver.py)."""

    def __init__(self, python: str | Path) -> None:
        self.process = subprocess.Popen(
            [str(python), str(HERE / "session_driver.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, *words: str) -> tuple[Any, float]:
        """Return what a command printed as JSON, and its seconds.

        Raises:
            SystemExit: The command failed.
        """
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        told = json.loads(self.process.stdout.readline())
        if told["code"]:
            raise SystemExit(
                f"peirce {' '.join(words)} ended with {told['code']}: {told['stderr']}"
            )
        return json.loads(told["stdout"]) if "--json" in words else told["stdout"], told["seconds"]


@contextmanager
def open_drivers(pythons: Mapping[str, str | Path]) -> Iterator[dict[str, Driver]]:
    drivers = {name: Driver(python) for name, python in pythons.items()}
    try:
        yield drivers
    finally:
        for one in drivers.values():
            assert one.process.stdin
            one.process.stdin.close()
            one.process.wait()


@dataclass
class Problems:
    """The problems of one family and seed: where their data are, and what the stand-ins know."""

    data: Path
    known: list[KnownProblem]


def make_problems(family: str, seed: int, count: int, folder: Path, driver: Driver) -> Problems:
    """Generate the problems of one family."""
    folder.mkdir(parents=True)
    generate = ["tasks", "generate", TASKS[family], "--seed", str(seed), "--json"]
    if family == "texts":
        driver.run(*generate, "--out", str(folder / "all"))
        data = folder / "sets"
        known = [
            shorten_set(folder / "all" / name, data / name, name) for name in TEXT_SETS[:count]
        ]
        return Problems(data, known)
    options = ["--regime", "full", "--difficulty", "easy"] if family == "rules" else []
    file = folder / "problems.jsonl"
    driver.run(*generate, *options, "--problems", str(count), "--out", str(file))
    read = rules_problem if family == "rules" else programs_problem
    return Problems(file, [read(json.loads(line)) for line in file.read_text().splitlines()])


def shorten_set(source: Path, folder: Path, name: str) -> KnownProblem:
    """Copy a set of labelled records with fewer rows, and return what the stand-ins know of it."""
    folder.mkdir(parents=True)
    for file in ("config.yaml", "metadata.json"):
        shutil.copy(source / file, folder)
    for split, most in TEXT_ROWS.items():
        columns = json.loads((source / f"{split}.json").read_text())
        size = len(columns["label"])
        kept = range(0, size, max(1, size // most))[:most]  # the rows are sorted by column
        shorter = {key: [values[n] for n in kept] for key, values in columns.items()}
        (folder / f"{split}.json").write_text(json.dumps(shorter))
        if split == "train":
            rows = shorter
    return text_problem(name, json.loads((folder / "metadata.json").read_text()), rows)


@dataclass
class Outcome:
    """The figures of one session."""

    accepted: float
    gamma: float | None
    solved: float
    counts: Counts
    seconds: float
    malformed: float
    problems: int


def measure(
    family: str, strength: str, variant: str, seed: int, problems: Problems, driver: Driver,
    folder: Path, scale: float, answers: int | None,
) -> Outcome:  # fmt: skip
    """Run one session and judge its bank."""
    store = folder / f"{variant}-{strength}.duckdb"
    stand_in = StandIn(family, problems.known)
    with serve_timed(stand_in.answer, scale, list(STRENGTHS)) as (url, counts):
        words = ["run", TASKS[family], "--data", str(problems.data), "--model", f"{url}#{strength}",
                 "--seed", str(seed), "--store", str(store), "--quiet", "--json",
                 *OPTIONS.get(family, ()), *VARIANTS[variant](url, family)]  # fmt: skip
        words += ["--max-answers", str(answers)] if answers else []
        session, seconds = driver.run(*words)
    if session["status"] != "done":
        raise SystemExit(f"a session ended as {session['status']}: {session}")
    bank, _ = driver.run("bank", session["session"], "--store", str(store), "--json")
    count = session["problems"]
    solved = len(find_solved(family, problems, bank))
    return Outcome(
        session["verdicts"]["accepted"] / count, session["metrics"].get("gamma", {}).get("mean"),
        solved / count, counts, seconds, session["verdicts"]["malformed"] / count, count,
    )  # fmt: skip


def find_solved(family: str, problems: Problems, bank: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the ids of the problems whose bank holds the true rule or an equal one."""
    answers = [{"problem": row["problem"], "hypothesis": row["text"]} for row in bank]
    names = sorted({one["problem"] for one in answers})
    rules = {name: next(one.rule for one in problems.known if name.startswith(one.name)) for name in names}  # fmt: skip
    if not answers:
        return set()
    answers += [{"problem": name, "hypothesis": rule} for name, rule in rules.items()]
    options = {"split": "ind", "judge": "exact"} if family == "texts" else {}
    judged = list(peirce.check(TASKS[family], answers=answers, data=str(problems.data), **options))
    truth = {row["problem"]: row for row in judged[-len(rules) :]}
    return {
        row["problem"]
        for row in judged[: -len(rules)]
        if equals(family, row, truth[row["problem"]])
    }


def equals(family: str, row: Mapping[str, Any], truth: Mapping[str, Any]) -> bool:
    """Whether a judged hypothesis is as good as the judged true rule on what no session saw."""
    if row["verdict"] != "consistent":
        return False
    if family == "texts":
        return bool(row["accuracy"] == 1)
    if family == "programs":
        return all(mark is True for mark in row["hidden"])
    costs = [sum(world["cost"] or 0 for world in one["holdouts"]) for one in (row, truth)]
    return all(world["valid"] for world in row["holdouts"]) and costs[0] <= costs[1]


# --- The table.

HEADS = ("stand-in", "variant", "accepted", "gamma", "solved, %", "malformed", "calls", "tokens in",
         "cached, %", "tokens out", "model time, s", "seconds")  # fmt: skip


def with_range(values: Sequence[float | None], digits: int = 1) -> str:
    """Return the mean of some figures, with their range."""
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    mean, low, high = (f"{one:,.{digits}f}" for one in (fmean(known), min(known), max(known)))
    return mean if low == high else f"{mean} ({low}–{high})"


def describe(strength: str, variant: str, found: Sequence[Outcome]) -> tuple[str, ...]:
    """Return a row of the table; all figures but shares are per problem."""

    def each(read: Callable[[Counts], float]) -> list[float | None]:
        return [read(one.counts) / one.problems for one in found]

    read_in = sum(one.counts.tokens_in for one in found)
    cached = sum(one.counts.tokens_cached for one in found) / max(1, read_in)
    return (
        strength, variant,
        with_range([one.accepted for one in found]),
        with_range([one.gamma for one in found], 2),
        with_range([100 * one.solved for one in found], 0),
        with_range([one.malformed for one in found]),
        with_range(each(lambda counts: counts.calls)),
        with_range(each(lambda counts: counts.tokens_in), 0),
        f"{100 * cached:.0f}",
        with_range(each(lambda counts: counts.tokens_out), 0),
        with_range(each(lambda counts: counts.model_s), 0),
        with_range([one.seconds / one.problems for one in found]),
    )  # fmt: skip


def make_rows(
    family: str, strength: str, variant: str, found: Sequence[Outcome], before: Sequence[Outcome]
) -> list[Row]:
    """Return the figures of a cell for `make bench`."""
    work = f"{family} by the {strength} stand-in, {variant}"
    rows = []
    for name, unit, better, read in (
        ("accepted", "hypotheses per problem", "higher", lambda one: one.accepted),
        ("solved", "share of problems", "higher", lambda one: one.solved),
        ("tokens in", "tokens per problem", "lower", lambda one: one.counts.tokens_in / one.problems),
    ):  # fmt: skip
        reference = fmean(read(one) for one in before) if before and variant != "before" else None
        compared = "before" if reference is not None else ""
        rows.append(Row(f"{name}: {work}", fmean(read(one) for one in found), unit, better, reference, compared))  # fmt: skip
    return rows


def write_page(tables: Mapping[str, Table], text: str) -> None:
    """Write the page. Families that were not measured keep their tables, and a person's conclusions stay."""
    sections = PAGE.read_text("utf-8").split("\n## ")[1:] if PAGE.exists() else []
    made = {one.partition("\n")[0].lower(): one.partition("\n")[2].strip() for one in sections}
    made |= {family: as_markdown(table).strip() for family, table in tables.items()}
    parts = [f"## {name.capitalize()}\n\n{made[name]}" for name in (OWN, *TASKS) if name in made]
    PAGE.write_text("\n\n".join([text, *parts]) + "\n", "utf-8")


def introduce(options: argparse.Namespace, trees: Mapping[str, str], seconds: float) -> str:
    """Return the text of the page before its tables."""
    command = "python bench/agent.py --docs" + (" --before DIR" if options.before else "")
    named = "; ".join(f"{name}: commit {commit}" for name, commit in trees.items())
    return PAGE_TEXT.format(
        command=command, seeds=options.seeds, problems=options.problems, named=named,
        families=", ".join(options.families),
        date=time.strftime("%Y-%m-%d"), minutes=round(seconds / 60), faster=round(1 / options.scale),
    )  # fmt: skip


PAGE_TEXT = """# Agents with language models

This page compares what an agent finds with stand-ins for language models, before and after the work on agents with
language models. `bench/agent.py` measures it and writes the page:

    {command}

The last run measured {families} on {date} in {minutes} minutes, with {seeds} seeds and {problems} problems for each seed and
family ({named}).

The stand-ins answer over HTTP and have five strengths. A strength says which shares of the answers are right, nearly
right, wrong, nearly well-formed, malformed and repeated. It also says for how many problems the stand-in knows the
rule, how often it notices a wrong answer, and how often it first tries candidates with a tool. `bench/stand_ins.py` has
the figures. The same prompt with the same seed always gets the same answer. The stand-ins are not models: their shares
were chosen, so only differences between the variants mean anything.

- `before` and `after` are sessions with the defaults of the two versions. `search` is `after` with
  `--seed-hypotheses 3`, and for programs and rules also `--repair search`. `then` is `after` with `--then` and the strongest
  stand-in.
- "Accepted" is the number of accepted hypotheses per problem, from whoever found them. "Solved" is the share of problems
  whose bank holds the true rule, or one that is equal on data that the session never saw.
- Malformed answers, calls, tokens and times are per problem. Each figure is a mean over the seeds, with the range of the
  seeds in parentheses.
- The endpoint has a cache of prefixes as OpenAI documents it: blocks of 128 tokens, from 1,024 tokens on.
- "Model time" is the time that the answers would take one after the other, at the speed of the stand-ins. It is
  computed, not measured. "Seconds" is the wall time on a shared machine, with stand-ins that answer {faster} times as fast,
  so it is noisy.
- The search itself makes no calls; its time is only in "seconds".

Not measured: real models, and methods other than the default."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, metavar="DIR", help="the checkout to compare with")
    parser.add_argument("--before-python", type=Path, metavar="PY", help="its interpreter")
    parser.add_argument("--families", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--strengths", nargs="+", choices=STRENGTHS, default=list(STRENGTHS))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--problems", type=int, default=3, help="per seed and family")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--answers", type=int, help="--max-answers of all sessions")
    parser.add_argument("--scale", type=float, default=0.02, help="of the stand-ins' time")
    parser.add_argument("--docs", action="store_true", help=f"write docs/results/{PAGE.name}")
    add_json_option(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    began = time.perf_counter()
    python = options.before_python or (options.before and options.before / ".venv/bin/python")
    pythons = {"after": sys.executable, **({"before": python} if options.before else {})}
    variants = [one for one in options.variants if one != "before" or options.before]
    tables, rows = {}, []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agent-")))
        drivers = stack.enter_context(open_drivers(pythons))
        for family in options.families:
            problems = {
                seed: make_problems(family, seed, options.problems, folder / f"{family}-{seed}", drivers["after"])
                for seed in range(options.seeds)
            }  # fmt: skip
            body: list[tuple[str, ...]] = []
            for strength in options.strengths:
                found: dict[str, list[Outcome]] = {}
                for variant in variants:
                    if variant == "then" and strength == STRONGEST:
                        continue
                    driver = drivers["before" if variant == "before" else "after"]
                    found[variant] = [
                        measure(family, strength, variant, seed, known, driver, known.data.parent,
                                options.scale, options.answers)
                        for seed, known in problems.items()
                    ]  # fmt: skip
                    body.append(describe(strength, variant, found[variant]))
                    rows += make_rows(family, strength, variant, found[variant], found.get("before", ()))  # fmt: skip
                    print("  ".join(body[-1]), flush=True)
            tables[family] = Table(HEADS, tuple(body))
            print(f"\n{family}\n{as_text(tables[family], 200)}\n", flush=True)
    if options.docs:
        trees = {"after": describe_tree(HERE.parent)}
        trees |= {"before": describe_tree(options.before)} if options.before else {}
        write_page(tables, introduce(options, trees, time.perf_counter() - began))
    write_rows(options.json, rows)


if __name__ == "__main__":
    main()
