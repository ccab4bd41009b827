"""Measure the search on published labelled sets and print its sentences (docs/results/labelled-banks.md):

    python bench/hypobench_banks.py DATA --out DIR [--write docs/results/labelled-banks.md] [--only shoe,admission]
        [--json FILE]

DATA is a folder with the published layout of shoe, hotel_reviews, dreaddit and admission. Each row of `RUNS` is a
separate session: method hypogenic, model search, seed 0, unchanged presets. DIR/hypobench-banks.jsonl gets a line of
JSON per session as soon as it is scored, and sessions that it holds are not run again. The baselines are trained on
the rows that the session was shown and tested on the same rows (reports/papers/hypobench/baseline_models.py); p is that of
an exact McNemar test against the best of them.

Test rows whose inputs are equal to those of a training row, shown or not, are counted separately. No setting is
chosen here, and no session reads a figure of a test row.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import peirce
from peirce.records import Observation, Problem, canonical_json
from peirce.records.private_files import write_atomically
from peirce.reports.files.tables import Cell, Table, as_markdown
from peirce.reports.metrics.statistics import wilson_interval
from peirce.reports.papers.hypobench.baseline_models import fit_baselines
from peirce.reports.papers.hypobench.baselines import compare_with_baselines
from peirce.reports.papers.hypobench.metrics import read_predictions
from peirce.store import Store
from peirce.tasks import load_problems
from peirce.tasks.io.messages import DataWarning
from peirce.tools.discovery.identifiability import find_identified
from peirce.tools.discovery.input_space import InputSpace
from peirce.tools.discovery.scores import score_exact
from peirce.tools.sentence_rules.rules import Rule
from peirce.tools.sentence_rules.sentence_compiler import compile_sentence
from peirce.tools.sentence_rules.terms import Term
from peirce.tools.sentence_rules.wording import shorten_lists
from table import Row as BenchRow
from table import add_json_option, write_rows

ALL_ROWS = 1_000_000
ADMISSION = (
    "level_1/base", "level_2/depth_2", "level_3/depth_3", "level_4/depth_4", "level_2/size_5",
    "level_3/size_10", "level_4/size_15", "level_2/noise_10", "level_3/noise_20", "level_4/noise_30",
    "level_2/distractor_3", "level_3/distractor_6", "level_4/distractor_10",
)  # fmt: skip
RUNS = (
    ("shoe", 200), ("hotel_reviews", 200), ("hotel_reviews", 800), ("dreaddit", 200),
    *((f"admission/{name}", 200) for name in ADMISSION),
)  # fmt: skip
SAMPLES = tuple((f"hotel_reviews#{number}", 200) for number in range(1, 5))  # other rows shown
TESTED = {"ind": "test rows", "ood": "rows of another source"}
BASELINES = ("majority", "tfidf", "tree", "ebm")
Row = Mapping[str, Any]


def measured(data: str, name: str, shown: int) -> Row:
    """Run one session and return its scores and its bank."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "banks.duckdb"
        session = peirce.run(
            "labels", data=data, problem=[name], observations=str(shown), method="hypogenic",
            model="search", store=store,
        )  # fmt: skip
        if session.failed:
            raise SystemExit(f"{name}: {session.failed}")
        seconds = time.perf_counter() - began
        bank = [str(row["text"]) for row in peirce.bank(session.session, store=store)]
        opened = Store.open(store, write=False)
        problem = opened.problems(session.session)[0].problem
        steps = list(opened.steps(session.session, problem.id))
        opened.close()
    found = read_predictions(problem, steps)
    if found is None:
        raise SystemExit(f"{name}: the session predicted nothing")
    models = fit_baselines(problem)
    beside = compare_with_baselines(problem, steps, models)
    seen = training_inputs(data, name)
    splits: dict[str, Row] = {}
    for one in found.splits:
        start, _ = problem.secret["splits"][one.split]
        rows = [problem.hidden[start + place] for place in one.rows]
        mine = [label == true for label, true in zip(one.labels, one.gold, strict=True)]
        labels = {key: predict([row.input for row in rows]) for key, predict in models.items()}
        others = {
            key: [label == true for label, true in zip(said, one.gold, strict=True)]
            for key, said in labels.items()
        }
        known = [canonical_json(row.input) in seen for row in rows]
        splits[one.split] = {
            "n": len(mine), "right": sum(mine),
            "baselines": {key: sum(right) for key, right in others.items()},
            "p": {c.baseline: c.p for c in beside if c.split == one.split},
            "seen": count_known_rows(mine, others, known),
        }  # fmt: skip
    return {
        "set": name, "shown": len(problem.shown), "asked": shown, "seconds": round(seconds, 1),
        "inference": found.strategy, "splits": splits, "bank": bank,
        "listed": [listed_words(problem, sentence) for sentence in bank], **rules_of(problem, bank),
    }  # fmt: skip


def training_inputs(data: str, name: str) -> set[str]:
    """Return the inputs of all training rows, shown or not."""
    ((problem, _),) = load_problems("labels", data, ids=[name], observations=str(ALL_ROWS))
    return {canonical_json(row.input) for row in problem.shown}


def count_known_rows(
    mine: Sequence[bool], others: Mapping[str, Sequence[bool]], known: Sequence[bool]
) -> Row | None:
    """Count the test rows that are also training rows, and how many of them are right."""
    places = [place for place, one in enumerate(known) if one]
    if not places:
        return None
    return {
        "n": len(places), "right": sum(mine[place] for place in places),
        "baselines": {k: sum(right[place] for place in places) for k, right in others.items()},
    }  # fmt: skip


def rules_of(problem: Problem, bank: Sequence[str]) -> Row:
    """Return each true rule with its overlap with the bank, the number of shown rows it holds on, and
    whether the shown rows identify it; empty if the true rules are unknown."""
    truths = tuple(problem.secret.get("truths") or ())
    space = InputSpace(problem)
    told = score_exact(truths, bank, space, problem.public) if truths else None
    if told is None:
        return {}
    known = find_identified(told.rules, problem.shown, space) if told.rules else []
    kept = [pair.overlap for pair, one in zip(told.pairs, known, strict=True) if one]
    return {
        "stated": told.stated, "read": told.stated - told.unread, "hdr": told.hdr,
        "hdr_read": told.hdr_read, "hdr_identified": sum(kept) / len(kept) if kept else None,
        "hdr_released": told.released.hdr, "precision": told.precision,
        "rules": [
            {"true": pair.true, "overlap": pair.overlap, "identified": one,
             "holds_on": holds_on(pair.true, problem.shown, problem)}
            for pair, one in zip(told.pairs, known, strict=True)
        ],
    }  # fmt: skip


def holds_on(sentence: str, rows: Sequence[Observation], problem: Problem) -> int | None:
    from peirce.tools.sentence_rules.prepared_rows import PreparedRows

    rule = compile_sentence(sentence, problem.public)
    if not isinstance(rule, Rule) or rule.otherwise is not None:
        return None
    codes = rule.codes(PreparedRows([row.input for row in rows], problem.public))
    return int((codes >= 0).sum())


def listed_words(problem: Problem, sentence: str) -> int:
    """Return how many words, phrases and marks a sentence lists."""
    rule = compile_sentence(sentence, problem.public)
    return len(set(terms_in(rule)))


def terms_in(one: Any) -> Iterator[Term]:
    if isinstance(one, Term):
        yield one
    elif is_dataclass(one):
        for field in fields(one):
            yield from terms_in(getattr(one, field.name))
    elif isinstance(one, tuple):
        for part in one:
            yield from terms_in(part)


# --- the page ---------------------------------------------------------------------------


def page(rows: Sequence[Row]) -> str:
    parts = [HEAD]
    drawn = [row for row in rows if (row["set"], row["asked"]) in SAMPLES]
    rows = [row for row in rows if row not in drawn]
    for split, about in TESTED.items():
        parts += [f"## Accuracy on {about}", as_markdown(accuracies(rows, split))]
        if split == "ind":
            parts += [APART, as_markdown(seen_table(rows))]
    if drawn:
        first = [row for row in rows if f"{row['set']}#1" == drawn[0]["set"]]
        same = [row for row in first if row["asked"] == drawn[0]["asked"]] + drawn
        parts += ["## Other rows shown", DRAWN]
        for split, about in TESTED.items():
            parts += [f"On {about}:", as_markdown(accuracies(same, split)), means(same, split)]
    of_rules = [row for row in rows if "rules" in row]
    if of_rules:
        parts += ["## True rules found", RULES, as_markdown(rules_table(of_rules))]
    parts += ["## The banks", BANKS]
    for row in rows:
        parts += [f"### {row['set']}, {row['shown']} rows", describe_bank(row)]
    return "\n\n".join(parts) + "\n"


def accuracies(rows: Sequence[Row], split: str) -> Table:
    body: list[tuple[Cell, ...]] = []
    for row in rows:
        if (one := row["splits"].get(split)) is None:
            continue
        share = wilson_interval(one["right"], one["n"])
        best = max(one["baselines"], key=lambda name: one["baselines"][name])
        beside = [one["baselines"].get(name) for name in BASELINES]
        body.append((
            row["set"], row["shown"], len(row["bank"]), max(row["listed"], default=0), one["n"],
            f"{one['right'] / one['n']:.3f} [{share['low']:.3f}, {share['high']:.3f}]",
            *(None if right is None else right / one["n"] for right in beside),
            f"{best} {one['p'][best]:.2g}", f"{row['seconds']:.0f}",
        ))  # fmt: skip
    heads = ("data set", "rows shown", "sentences", "most words listed", "n", "search", *BASELINES,
             "p against the best", "seconds")  # fmt: skip
    return Table(heads, tuple(body))


def means(rows: Sequence[Row], split: str) -> str:
    some = [row["splits"][split] for row in rows]
    others = {
        name: fmean(one["baselines"][name] / one["n"] for one in some)
        for name in some[0]["baselines"]
    }
    said = ", ".join(f"{name} {value:.3f}" for name, value in others.items())
    return f"Mean of {len(some)}: search {fmean(o['right'] / o['n'] for o in some):.3f}, {said}."


def seen_table(rows: Sequence[Row]) -> Table:
    body: list[tuple[Cell, ...]] = []
    for row in rows:
        one = row["splits"].get("ind")
        if one is None or one["seen"] is None:
            continue
        seen = one["seen"]
        best = max(one["baselines"], key=lambda name: one["baselines"][name])
        for name, n, right, other in (
            ("not among them", one["n"] - seen["n"], one["right"] - seen["right"],
             one["baselines"][best] - seen["baselines"][best]),
            ("among them", seen["n"], seen["right"], seen["baselines"][best]),
        ):  # fmt: skip
            said = right / n if n else None
            body.append((row["set"], row["shown"], name, n, said, other / n if n else None, best))
    heads = ("data set", "rows shown", "test rows", "n", "search", "best baseline", "which")
    return Table(heads, tuple(body))


def rules_table(rows: Sequence[Row]) -> Table:
    body: list[tuple[Cell, ...]] = []
    for row in rows:
        rules = row["rules"]
        same = sum(rule["overlap"] == 1 for rule in rules)
        known = sum(rule["identified"] for rule in rules)
        body.append((
            row["set"], f"{row['read']} of {row['stated']}", len(rules), same, known, row["hdr"],
            row["hdr_read"], row["hdr_identified"], row["hdr_released"], row["precision"],
        ))  # fmt: skip
    heads = ("data set", "true rules read", "cases of them", "found exactly", "identified", "HDR exact",
             "HDR of read rules", "HDR identified", "HDR released", "precision")  # fmt: skip
    return Table(heads, tuple(body))


def describe_bank(row: Row) -> str:
    """Return the bank of one session, and the true rules that it does not fully state."""
    lines = [
        f"{number}. {code(sentence)}"
        for number, sentence in enumerate(map(shorten_lists, row["bank"]), 1)
    ]
    missed = [rule for rule in row.get("rules", ()) if rule["overlap"] < 1]
    if missed:
        lines += ["", "True rules that the bank states only in part or not at all:", ""]
        lines += [
            f"- {code(rule['true'])} overlap {rule['overlap']:.2f}"
            + (
                ""
                if rule["holds_on"] is None
                else f", applies to {rule['holds_on']} of the shown rows"
            )
            + (", identified" if rule["identified"] else "")
            for rule in missed
        ]
    return "\n".join(lines)


def code(sentence: str) -> str:
    """Return Markdown that shows the sentence literally."""
    ticks = "``" if "`" in sentence else "`"
    return f"{ticks}{sentence}{ticks}"


HEAD = """# Published labelled sets: accuracy and sentences

This page reports how accurately the embedded search (`--model search`) predicts labels on published data sets, compares it
with simple baselines on the same rows, and prints every sentence that it found. `hotel_reviews` (truthful or deceptive
reviews) and `dreaddit` (posts with or without stress) were written by people. `shoe` and the `admission` sets were generated
by programs.

    python bench/hypobench_banks.py DATA --out DIR --write docs/results/labelled-banks.md

Each line is one session with seed 0 and otherwise default settings, without a language model or a network:
`peirce run labels --data DATA --problem SET --observations N --method hypogenic --model search`.
The search and the [baselines](../explanation/labelled-text.md#baselines) learn from the same N training rows, the "rows
shown". A logistic regression (`weighted`) combines the sentences into one prediction. It is fitted without the test rows.

- **most words listed**: the number of words in the longest word list of a sentence.
- **n**: the number of rows that are predicted.
- **search**: the accuracy of the search, with Wilson's 95% interval. The next columns have the accuracies of the baselines.
- **p against the best**: the baseline with the highest accuracy, and the p-value of a two-sided exact McNemar test of the
  search against it.

We aimed at the accuracies of another TF-IDF baseline, which is not in the tables. On hotel_reviews it reached .872 on test
rows and .730 on rows of another source with 800 shown rows, and .759 and .679 with 200. On dreaddit it reached .676 and .668."""
APART = """Some test rows have the same input as a training row. The next table counts these rows apart ("among them") from the other
test rows ("not among them"). It compares with all training rows, also with those that were not shown. Sets without such test
rows are left out."""
DRAWN = """The accuracy depends on which training rows are shown. Here are five samples. The first is the one of the tables above, and
`#1` to `#4` are four further random samples. Their sentences are not printed below."""
RULES = """The metadata of the admission sets state the true rules, which produced the labels. The table says how many of them the
sentences state. The hypothesis discovery rate (HDR) is 1 if the sentences state every true rule, and 0 if they state none. The
columns are explained in [discovery scores](../explanation/discovery.md):

- **true rules read**: how many true rules Peirce can read as [exact sentences](../reference/exact-sentences.md). The others
  count as not found in "HDR exact", and are left out in "HDR of read rules".
- **cases of them**: the number of read rules, where a rule with "or" counts once for each alternative.
- **found exactly**: how many of these cases the sentences state without a difference.
- **identified**: how many of them the shown rows distinguish from similar rules. No method can find the others with
  certainty. They are found only if the true rule happens to be the simplest one that fits.
- **HDR released**: the HDR as the published code computes it.
- **precision**: how well the statements of the sentences agree with true rules, on average."""
BANKS = """These are the sentences of each session, its *bank*. Of a list of more than 12 words, only the first 12 are printed, those
most strongly associated with the label. `expens*` stands for all words that begin with "expens". `Weak evidence:` marks a
sentence that is not significant by itself
([how the search finds sentences](../explanation/search.md#labelled-records-and-texts-text)).

Below some banks, there are true rules that the bank states only in part or not at all. "Overlap" is how much a rule has in
common with the closest statement of the bank, from 0 to 1. "Applies to" is the number of shown rows that meet its
conditions."""


def bench_rows(rows: Sequence[Row]) -> list[BenchRow]:
    """Return each session's accuracy on test rows beside the best baseline, and its seconds."""
    found = []
    for row in rows:
        work = f"{row['set']}, {row['asked']} rows shown"
        found.append(BenchRow(f"{work}: a session", row["seconds"], "s"))
        if (one := row["splits"].get("ind")) is not None:
            best = max(one["baselines"].values()) / one["n"]
            found.append(BenchRow(f"{work}: accuracy on test rows", one["right"] / one["n"], "",
                                  "higher", best, "best baseline"))  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", metavar="DATA")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--write",
        type=Path,
        metavar="FILE",
        help="write the page to this file instead of printing it",
    )
    parser.add_argument(
        "--only", default="", metavar="NAME,NAME", help="only sets whose names begin like this"
    )
    add_json_option(parser)
    given = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    kept = given.out / "hypobench-banks.jsonl"
    given.out.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    there = {(row["set"], row["asked"]): row for row in rows}
    for name, shown in (*RUNS, *SAMPLES):
        if (name, shown) not in there and name.startswith(tuple(given.only.split(","))):
            there[name, shown] = row = measured(given.data, name, shown)
            with kept.open("a") as out:
                out.write(json.dumps(row) + "\n")
            print(name, shown, {k: v["right"] / v["n"] for k, v in row["splits"].items()})
    write_rows(given.json, bench_rows([there[run] for run in RUNS if run in there]))
    text = page([there[run] for run in (*RUNS, *SAMPLES) if run in there])
    if given.write is None:
        print(text)
    else:
        write_atomically({given.write: text.encode()})


if __name__ == "__main__":
    main()
