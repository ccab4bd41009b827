"""Show what each difference between a published protocol and Peirce's defaults does:
`python bench/protocols.py [--problems 6] [--write docs/results/protocols.md] [--recorded FILE --data FILE]
[--json FILE]`.

Stand-in models answer over HTTP (protocol_models.py has their five behaviours; `obedient`, for labelled text,
is here). Each row of the table
compares a session under `--protocol NAME` with the same session in which one option differs, asked of
the stand-in that reacts to this difference. The stand-ins are built to react, so the table shows what a
difference acts on and how it is counted, not how much it would change for a real model.

With --write, the table replaces the one in the page. With --recorded, GPT-4's recorded answers on the list
functions are judged under `--protocol gear`, and the counts are printed (docs/results/protocols.md).
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import peirce
from peirce.reports.files.tables import Table, as_markdown, as_text
from protocol_models import RULES, apply, draw, serve
from table import Row, add_json_option, write_rows

ABD_SHARE = 3  # problems about worlds per problem on lists, because a problem has one answer
HEADS = (
    "protocol",
    "difference",
    "stand-in",
    "accepted",
    "problems",
    "malformed",
    "model calls",
)
BEGIN, END = "<!-- bench/protocols.py -->", "<!-- end of bench/protocols.py -->"


@dataclass(frozen=True)
class Difference:
    """One option of a protocol with another value.

    Args:
        protocol: The protocol.
        words: The difference in words.
        stand_in: The stand-in that reacts to it.
        options: The options that differ.
    """

    protocol: str
    words: str
    stand_in: str
    options: Mapping[str, Any]


DIFFERENCES = (
    Difference("gear", "with tools", "checker", {"tool_calls": 4}),
    Difference("gear", "with feedback", "learner", {"feedback": True}),
    Difference("gear", "earlier answers as a chat", "imitator", {"history": "chat"}),
    Difference("gear", "form of an answer before the pairs (template full)", "forgetful", {"template": "full"}),
    Difference("gear", "contract not strict", "loose", {"strict_contract": False}),
    Difference("gear", "lenient reading, contract not strict", "loose", {"lenient": True, "strict_contract": False}),
    Difference("abd", "with tools", "checker", {"tool_calls": 4}),
    Difference("abd", "with feedback (method refine)", "learner", {"method": "refine"}),
    Difference("abd", "several answers as a chat (method abduce)", "imitator", {"method": "abduce", "history": "chat"}),
    Difference("abd", "JSON schema sent", "forgetful", {"model_arg": {"structured": "auto"}}),
    Difference("abd", "strict contract", "loose", {"strict_contract": True}),
    Difference("abd", "lenient reading", "loose", {"lenient": True}),
    Difference("hypogenic", "exact rules without the model (judge auto)", "obedient", {"judge": "auto"}),
)  # fmt: skip


def write_lists(folder: Path, problems: int) -> dict[str, Any]:
    """Write problems on short lists, in the published form, and a sample space; return their options."""

    def pair(number: int, place: int, rule: str) -> dict[str, str]:
        size = 2 + int(draw("size", number, place) * 4)
        given = [int(draw("item", number, place, n) * 10) for n in range(size)]
        return {"input": str(given), "output": str(apply(rule, given))}

    rows = []
    for number in range(problems):
        rule = list(RULES)[number % len(RULES)]
        pairs = [pair(number, place, rule) for place in range(6)]
        rows.append({"idx": number, "train": pairs[:3], "test": pairs[3:]})
    space = [[int(draw("space", n, k) * 10) for k in range(n % 13)] for n in range(260)]
    (folder / "lists.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "space.jsonl").write_text("".join(json.dumps(one) + "\n" for one in space))
    return {"data": folder / "lists.jsonl", "space": folder / "space.jsonl"}


def write_worlds(folder: Path, problems: int) -> Path:
    """Write problems about worlds once, because generating them takes time; return their folder."""
    place = folder / "worlds"
    if not place.exists():
        peirce.tasks_generate("abd", place, problems=problems)
    return place


def label_rows(count: int) -> list[dict[str, str]]:
    """Return labelled texts whose label follows from a colour."""
    colours = ("red", "blue", "green", "white")
    return [
        {"text": f"Report {n}: a {colours[n % 4]} box came in.", "label": "yes" if n % 4 < 2 else "no"}
        for n in range(count)
    ]  # fmt: skip


def answer_about_texts(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a stand-in says about labelled text: sentences, or the label of a text."""
    text = str(request["messages"][-1]["content"])
    if "Final answer" in text:
        colour = re.findall(r"a (red|blue|green|white) box", text)[-1]
        named = set(re.findall(r'mentions "(\w+)"', text))
        if len(named) == 1 and colour not in named:
            return {"content": "The hypothesis does not apply."}
        return {"content": f"Final answer: {'yes' if colour in ('red', 'blue') else 'no'}"}
    said = [f'If the text mentions "{one}", the label is {label}.'
            for one, label in (("red", "yes"), ("blue", "yes"), ("green", "no"), ("white", "no"))]  # fmt: skip
    numbered = [f"{n}. {one}" for n, one in enumerate(said, start=1)]
    return {"content": "\n".join(numbered)}


def measure(
    url: str, folder: Path, of: Difference, problems: int, options: Mapping[str, Any]
) -> Any:
    """Run a session under a protocol and return its outcome."""
    chosen: dict[str, Any] = {"protocol": of.protocol, **options}
    task = {"gear": "list_functions", "abd": "abd", "hypogenic": "labels"}[of.protocol]
    if task == "list_functions":
        chosen |= write_lists(folder, problems)
    elif task == "abd":
        chosen |= {"data": write_worlds(folder, ABD_SHARE * problems)}
    else:
        chosen |= {"data": label_rows(60), "label": "label", "prompts": "own", "examples": 8}
    with tempfile.TemporaryDirectory() as place:
        done = peirce.run(
            task, model=f"{url}#{of.stand_in}", store=Path(place) / "s.duckdb", workers=1, **chosen
        )
        steps = peirce.load(done.session, store=done.store).steps
    accepted = [
        step.problem
        for step in steps
        for answer in step.answers
        for one in answer.judged
        if one.verdict.value == "accepted"
    ]
    calls = done.usage["by_kind"].get("model", {}).get("calls", 0)
    return len(accepted), len(set(accepted)), done.verdicts.get("malformed", 0), calls


def compare(problems: int) -> tuple[Table, list[Row]]:
    """Run all sessions, and return the table and its figures."""
    rows: list[tuple[str, ...]] = []
    figures: list[Row] = []
    known: dict[tuple[str, str], tuple[int, int, int, int]] = {}
    with tempfile.TemporaryDirectory() as place, serve() as url, serve(answer_about_texts) as texts:
        for of in DIFFERENCES:
            address = texts if of.protocol == "hypogenic" else url
            key = of.protocol, of.stand_in
            if key not in known:
                known[key] = measure(address, Path(place), of, problems, {})
            after = measure(address, Path(place), of, problems, of.options)
            cells = [f"{a:,} → {b:,}" for a, b in zip(known[key], after, strict=True)]
            rows.append((of.protocol, of.words, of.stand_in, *cells))
            figures.append(
                Row(f"accepted under {of.protocol}, {of.words}", after[0], "hypotheses", "higher",
                    float(known[key][0]), "the protocol")
            )  # fmt: skip
    return Table(HEADS, tuple(rows)), figures


# --- GPT-4's recorded answers.


def count_chosen(session: Any) -> Counter[str]:
    """Compare the rule that was chosen last in each problem with its published accuracies."""
    loaded = peirce.load(session.session, store=session.store)
    found: Counter[str] = Counter()
    for problem in {step.problem for step in loaded.steps}:
        steps = [step for step in loaded.steps if step.problem == problem]
        fields = [step.fields for step in steps if "published_test_accs" in step.fields]
        judged = [one for step in steps for answer in step.answers for one in answer.judged]
        if not fields:
            found["not reached"] += 1
            continue
        rule, published = fields[-1]["chosen_rule"].strip(), fields[-1]["published_test_accs"]
        marks = [[float(mark is True) for mark in one.hidden.marks] for one in judged
                 if one.hypothesis is not None and one.hypothesis.text.strip() == rule]  # fmt: skip
        found["malformed" if not marks else "equal" if marks[-1] == published else "other"] += 1
    return found


def count_recorded(record: str, data: str) -> None:
    """Judge recorded answers under `gear`, and print what the page on the results says."""
    with tempfile.TemporaryDirectory() as place:
        store = Path(place) / "s.duckdb"
        done = peirce.import_recorded(record, data=data, protocol="gear", store=store)
        print(f"import: {done.protocol}")
        print(f"  verdicts {done.verdicts}, malformed {done.malformed}")
        print(f"  chosen rules against published accuracies: {dict(count_chosen(done))}")
        print(f"  differences of a replay: {len(peirce.replay(store=store).differences)}")
        for form in ("fenced_function", "tuple"):
            under = peirce.run("list_functions", data=data, model=f"recorded:{record}", protocol="gear",
                               answer_format=form, store=Path(place) / f"{form}.duckdb")  # fmt: skip
            print(f"run: {under.protocol}")
            print(f"  verdicts {under.verdicts}, malformed {under.malformed}, ends {under.ends}")
            print(f"  differences of a replay: {len(peirce.replay(store=under.store).differences)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=6)
    parser.add_argument("--write", type=Path, help="page whose table is replaced")
    parser.add_argument("--recorded", help="recorded answers of GPT-4 on the list functions")
    parser.add_argument("--data", help="the list functions, list_function.jsonl")
    add_json_option(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    if options.recorded:
        count_recorded(options.recorded, options.data)
        return
    made, figures = compare(options.problems)
    print(as_text(made, 200))
    if options.write:
        page = options.write.read_text("utf-8")
        before, rest = page.split(BEGIN)
        _, after = rest.split(END)
        table = f"{BEGIN}\n\n{as_markdown(made).strip()}\n\n{END}"
        options.write.write_text(before + table + after, "utf-8")
    write_rows(options.json, figures)


if __name__ == "__main__":
    main()
