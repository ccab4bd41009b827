"""Compare ways of asking judge models: `python bench/judges.py [--rows 60] [--sentences 8] [--rounds 5]
[--markdown] [--json FILE]`.

Stand-in judges answer over HTTP and know the true label of every text. Each row of the table is one
session with method io, whose sentences all say the true label, so that the accuracy of the judge is the
share of right labels.

- dear: wrong on 1% of the questions.
- cheap: wrong on 2% of the answers about four texts of five, and on half of those about the others.
- biased: exact about one text; in a batch, it gives every text after the fourth the first label.

Each round draws other errors; the figures are means over the rounds. Tokens are estimated as a
quarter of the characters. The cost weighs a token of the dear judge as ten of the cheap one. Not covered: real models, whose errors in batches differ from those of the stand-ins.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import peirce
from peirce.reports.files.tables import Table, as_markdown, as_text
from stand_in_server import CHARACTERS_PER_TOKEN, Answer, Request, count_usage, serve_chat
from table import Row, add_json_option, write_rows

LABELS = ("yes", "no")
PRICE = {"cheap": 1, "dear": 10, "biased": 1}  # relative price of a token
INPUT = re.compile(r"Input(?: (\d+))?:\nReport (\d+)")
HEADS = ("judges", "calls cheap", "calls dear", "tokens cheap", "tokens dear", "cost", "accuracy")


def draw(*parts: Any) -> float:
    """A number from 0 to 1 that depends only on `parts`."""
    return int(hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:8], 16) / 2**32


def true_label(item: int) -> str:
    return LABELS[item % 2]


def is_wrong(judge: str, item: int, about: tuple[Any, ...], seed: int, place: int) -> bool:
    """Whether an answer of a judge about a text is wrong.

    about: the round and the sentence. place: of the text in a batch, from 1; else 0.
    """
    if judge == "biased":
        return place > 4 and true_label(item) != LABELS[0]
    if judge == "dear":
        return draw("dear", item, about) < 0.01
    return draw("cheap", item, about, seed) < (0.5 if draw("hard", item, about[0]) < 0.2 else 0.02)


def answer(request: dict[str, Any], sentences: int, number: int) -> str:
    prompt, seed = request["messages"][-1]["content"], request.get("seed", 0)
    found = re.search(r"^Hypothesis: (.*)$", prompt, re.MULTILINE)
    if found is None:
        return "\n".join(f"{n}. Reports of mood {n} are yes." for n in range(1, sentences + 1))
    said = {}
    for place, item in INPUT.findall(prompt):
        wrong = is_wrong(
            request["model"], int(item), (number, found.group(1)), seed, int(place or 0)
        )
        said[place or "1"] = LABELS[(LABELS.index(true_label(int(item))) + wrong) % 2]
    return json.dumps(said) if "Input 1:" in prompt else f"So.\nFinal answer: {said['1']}"


@dataclass
class Counts:
    """Calls and tokens by model, counted at the server."""

    calls: dict[str, int]
    tokens: dict[str, int]


@contextmanager
def serve(sentences: int, number: int) -> Iterator[tuple[str, Counts]]:
    """A chat endpoint with the stand-in judges, by the name of the model."""
    counts, lock = Counts({}, {}), threading.Lock()

    def reply(request: Request) -> Answer:
        text = answer(request, sentences, number)
        used = [
            sum(len(one["content"]) for one in request["messages"]) // CHARACTERS_PER_TOKEN,
            len(text) // CHARACTERS_PER_TOKEN,
        ]
        if "Hypothesis:" in request["messages"][-1]["content"]:
            with lock:
                name = request["model"]
                counts.calls[name] = counts.calls.get(name, 0) + 1
                counts.tokens[name] = counts.tokens.get(name, 0) + sum(used)
        return {"content": text}, count_usage(*used)

    with serve_chat(reply) as url:
        yield url, counts


WAYS: dict[str, Callable[[str], dict[str, Any]]] = {
    "cheap": lambda url: {"judge_model": f"{url}#cheap"},
    "cheap, 3 answers": lambda url: {"judge_model": f"{url}#cheap", "repeats": 3},
    "dear": lambda url: {"judge_model": f"{url}#dear"},
    "cheap, 3 answers, then dear": lambda url: {"judge_model": f"{url}#cheap", "judge_then": f"{url}#dear"},
    "dear, batches of 8": lambda url: {"judge_model": f"{url}#dear", "judge_batch": 8},
    "cheap, batches of 8, 3 answers, then dear": lambda url: {
        "judge_model": f"{url}#cheap", "judge_then": f"{url}#dear", "judge_batch": 8
    },
    "biased, batches of 8": lambda url: {"judge_model": f"{url}#biased", "judge_batch": 8},
}  # fmt: skip


def measure(way: str, rows: int, sentences: int, number: int) -> tuple[Counts, float]:
    """Run one session and return what the server counted, and the accuracy of the judges.

    number: of the round, which decides which answers are wrong.
    """
    words = " and then the weather of the day was noted in the book" * 5
    data = [{"text": f"Report {n} came in{words}.", "label": true_label(n)} for n in range(rows)]
    with tempfile.TemporaryDirectory() as folder, serve(sentences, number) as (url, counts):
        session = peirce.run(
            "labels", data=data, label="label", method="io", model=f"{url}#cheap", hypotheses=sentences,
            observations=rows * 3 // 4, examples=rows, inference="best", store=Path(folder) / "s.duckdb",
            max_answers=1, **WAYS[way](url),
        )  # fmt: skip
        steps = peirce.load(session.session, store=session.store).steps
    marks = [mark for answer in steps[0].answers for one in answer.judged if one.shown is not None
             for mark in one.shown.marks]  # fmt: skip
    return counts, sum(mark is True for mark in marks) / len(marks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--sentences", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", action="store_true")
    add_json_option(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    table: list[tuple[str, ...]] = []
    figures = []
    for way in WAYS:
        found = [measure(way, options.rows, options.sentences, n) for n in range(options.rounds)]
        calls = {name: fmean(counts.calls.get(name, 0) for counts, _ in found) for name in PRICE}
        used = {name: fmean(counts.tokens.get(name, 0) for counts, _ in found) for name in PRICE}
        cost = sum(used[name] * PRICE[name] for name in PRICE)
        accuracy = fmean(share for _, share in found)
        cells = (
            calls["cheap"] + calls["biased"], calls["dear"], used["cheap"] + used["biased"],
            used["dear"], cost,
        )  # fmt: skip
        table.append((way, *(f"{cell:,.0f}" for cell in cells), f"{accuracy:.3f}"))
        figures.append(Row(f"accuracy of judges: {way}", accuracy, "share", "higher"))
        figures.append(Row(f"cost of judges: {way}", cost, "tokens of the cheap judge"))
    made = Table(HEADS, tuple(table))
    print(as_markdown(made) if options.markdown else as_text(made, 160))
    write_rows(options.json, figures)


if __name__ == "__main__":
    main()
