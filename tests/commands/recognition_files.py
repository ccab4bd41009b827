"""Files of many shapes, each with what it holds: what a person would take it for, or that nobody can tell."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

Row = Sequence[object]
WORDS = [
    "the",
    "order",
    "came",
    "late",
    "and",
    "box",
    "was",
    "torn",
    "but",
    "staff",
    "helped",
    "me",
    "with",
    "a",
    "new",
    "one",
    "today",
]


@dataclass(frozen=True)
class Shape:
    """A file, and what it is: the kind, and the task with the label or the fields, where that is certain."""

    name: str
    write: Callable[[Path], None]
    kind: str
    label: str | None = None
    target: str | None = None
    says: str = ""  # in the reason, an alternative or the advice


def table(
    name: str,
    header: Sequence[str],
    rows: Sequence[Row],
    kind: str,
    label: str | None = None,
    *,
    target: str | None = None,
    says: str = "",
    separator: str = ",",
    start: str = "",
    encoding: str = "utf-8",
) -> Shape:
    def quoted(cell: object) -> str:
        text = "" if cell is None else str(cell)
        return f'"{text}"' if separator in text or '"' in text else text

    lines = [separator.join(map(quoted, row)) for row in ([header] if header else []) + list(rows)]

    def write(path: Path) -> None:
        content = (start + "\n".join(lines) + "\n").encode(encoding)
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)

    return Shape(name, write, kind, label, target, says)


def text(
    name: str, content: str | bytes, kind: str, label: str | None = None, says: str = ""
) -> Shape:
    def write(path: Path) -> None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    return Shape(name, write, kind, label, None, says)


def lines(rows: Sequence[object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def sentence(number: int) -> str:
    rng = random.Random(number)
    return " ".join(rng.sample(WORDS, 6)) + f" {number}"


def label(number: int, names: str = "good bad") -> str:
    options = names.split()
    return options[random.Random(f"label {number}").randrange(len(options))]


N = range(40)
PAIR_ROWS = [{"input": [i, i + 2, 7], "output": [7, i + 2, i]} for i in range(8)]
GRID = [[0, 1, 2], [3, 4, 5]]
WORLD = {
    "id": "birds",
    "regime": "full",
    "theory": {"axioms": ["(forall x (implies (and (Bird x) (not (Ab x))) (Flies x)))"],
               "signature": {"Bird": 1, "Flies": 1, "Penguin": 1}},
    "worlds": [{"domain": ["a", "b"], "true": {"Bird": ["a", "b"], "Flies": ["a"], "Penguin": ["b"]}}],
}  # fmt: skip


def shapes() -> Iterator[Shape]:
    rng = random.Random(1)
    reviews = [[sentence(i), label(i)] for i in N]
    people = [
        [f"C-{i:03}", rng.choice(["basic", "plus"]), rng.randrange(1, 60), rng.random() < 0.4]
        for i in N
    ]
    measures = [
        [round(rng.random() * 9, 2), round(rng.random() * 5, 2), round(rng.random() * 99, 2)]
        for _ in N
    ]
    rows = "labelled_rows"
    # --- rows with labels
    yield table("reviews.csv", ["review", "sentiment"], reviews, rows, "sentiment")
    yield table("label_first.csv", ["label", "text"], [[b, a] for a, b in reviews], rows, "label")
    yield table(
        "index_first.csv",
        ["", "text", "label"],
        [[i, *r] for i, r in enumerate(reviews)],
        rows,
        "label",
    )
    yield table("semicolons.csv", ["text", "label"], reviews, rows, "label", separator=";")
    yield table("tabs.tsv.gz", ["text", "label"], reviews, rows, "label", separator="\t")
    yield table(
        "bom.csv", ["label", "text"], [[b, a] for a, b in reviews], rows, "label", start="\ufeff"
    )
    yield table("truth.csv", ["plan", "months", "label"], [r[1:] for r in people], rows, "label")
    yield table(
        "zero_one_named.csv",
        ["months", "target"],
        [[r[2], int(r[3])] for r in people],
        rows,
        "target",
    )
    yield table("zero_one.csv", ["months", "use", "flag"], [[r[2], r[2] * 1.5, int(r[3])] for r in people],
                "unsure", says="--label flag")  # fmt: skip
    yield table("zero_one_asked.csv", ["months", "use", "flag"], [[r[2], r[2] * 1.5, int(r[3])] for r in people],
                rows, "flag", target="flag")  # fmt: skip
    yield table(
        "digits.csv",
        ["mean", "var", "label"],
        [[*m[:2], i % 5] for i, m in enumerate(measures)],
        rows,
        "label",
    )
    yield table(
        "stars.csv",
        ["review", "stars"],
        [[sentence(i), i % 5 + 1] for i in N],
        "unsure",
        says="--label stars",
    )
    yield table("sms.csv", ["v1", "v2"], [[b, a] for a, b in reviews], rows, "v1")
    yield table(
        "forty_classes.csv",
        ["text", "intent"],
        [[sentence(i), f"class {i % 40}"] for i in range(200)],
        rows,
        "intent",
    )
    yield table(
        "missing_labels.csv",
        ["text", "label"],
        [[a, b if i % 9 else None] for i, (a, b) in enumerate(reviews)],
        rows,
        "label",
    )
    yield table("dates.csv", ["day", "place", "outcome"],
                [[f"2024-03-{i % 28 + 1:02}", rng.choice(["Rome", "Oslo"]), label(i)] for i in N], rows, "outcome")  # fmt: skip
    yield text("rows.jsonl", lines([{"text": a, "label": b} for a, b in reviews]), rows, "label")
    yield text(
        "rows.json", json.dumps([{"text": a, "label": b} for a, b in reviews]), rows, "label"
    )
    yield text(
        "columns.json",
        json.dumps({"text": [a for a, _ in reviews], "label": [b for _, b in reviews]}),
        rows,
        "label",
    )
    yield text("lines.json", lines([{"text": a, "label": b} for a, b in reviews]), rows, "label")
    plans = [[r[1], r[2], "gone" if r[3] else "here"] for r in people]
    yield table("outcome_before_date.csv", ["plan", "months", "churned", "date"],
                [[*r, f"2024-03-{i % 28 + 1:02}"] for i, r in enumerate(plans)], rows, "churned")  # fmt: skip
    yield table(
        "trailing_comma.csv",
        ["plan", "months", "churned", ""],
        [[*r, None] for r in plans],
        rows,
        "churned",
    )
    yield table("outcome_before_class.csv", ["plan", "churned", "region"],
                [[r[0], r[2], "nsw"[i % 3]] for i, r in enumerate(plans)], "unsure", says="--label churned")  # fmt: skip
    yield table("status_before_date.csv", ["plan", "status", "date"],
                [[r[0], r[2], f"2024-03-{i % 28 + 1:02}"] for i, r in enumerate(plans)], "unsure", says="--label status")  # fmt: skip
    yield table("two_targets.csv", ["size", "colour", "shape"],
                [[rng.choice("abc"), rng.choice(["red", "blue"]), rng.choice(["box", "ball"])] for _ in N],
                "unsure", says="--label colour")  # fmt: skip
    yield table("label_and_class.csv", ["text", "label", "class"], [[*r, label(i + 99, "x y z")] for i, r in enumerate(reviews)],
                "unsure", says="--label class")  # fmt: skip
    yield table(
        "marital.csv",
        ["marital_status", "region", "left"],
        [[rng.choice(["single", "married"]), rng.choice("nsw"), label(i)] for i in N],
        "unsure",
        says="--label left",
    )
    yield table(
        "several_labels.csv",
        ["text", "toxic", "insult"],
        [[sentence(i), i % 2, i // 2 % 2] for i in N],
        "unsure",
        says="--label insult",
    )
    # --- nothing to explain
    yield table(
        "no_label.csv", ["id", "text"], [[i, sentence(i)] for i in N], "unsure", says="label"
    )
    yield table("one_column.csv", ["text"], [[sentence(i)] for i in N], "unsure", says="one column")
    yield table(
        "constant.csv",
        ["text", "label"],
        [[a, "good"] for a, _ in reviews],
        "unsure",
        says="same value",
    )
    yield table(
        "unique.csv",
        ["text", "label", "n"],
        [[a, f"l{i}", i * i] for i, (a, _) in enumerate(reviews)],
        "unsure",
        says="different value",
    )
    yield table(
        "constant_asked.csv",
        ["text", "verdict"],
        [[a, "good"] for a, _ in reviews],
        "unsure",
        target="verdict",
        says="same value",
    )
    yield table("no_header.csv", [], reviews, "unsure", says="first line")
    yield table(
        "no_header_numbers.csv",
        [],
        [[*m[:2], label(i)] for i, m in enumerate(measures)],
        "unsure",
        says="first line",
    )
    yield table("repeated_first_row.csv", [], [[i // 2, i // 3, label(i)] for i in N], "error",
                says="line 1: the column name '0' occurs twice: .* if line 1 holds data, put a line")  # fmt: skip
    yield table("same_names.csv", ["size", "weight", "size", "label"], [[1, 2, 3, label(i)] for i in N],
                "error", says="the column name 'size' occurs twice: rename")  # fmt: skip
    # --- numbers
    yield table("prices.csv", ["size", "age", "price"], measures, "numeric_target")
    yield table("decimal_commas.csv", ["size", "price"], [[str(m[0]).replace(".", ","), str(m[2]).replace(".", ",")] for m in measures],
                "unsure", separator=";", says="write its numbers like 1234.5")  # fmt: skip
    yield table("price_beside_classes.csv", ["a", "b", "c", "d", "price"],
                [[i % 2, i % 3, i % 4, i % 5, m[2]] for i, m in enumerate(measures)],
                "unsure", says="--target price")  # fmt: skip
    yield table("numbers.csv", ["a", "b", "c"], measures, "unsure")
    # --- pairs
    yield text("pairs.jsonl", lines(PAIR_ROWS), "pairs")
    yield text("pairs.json", json.dumps(PAIR_ROWS), "pairs")
    yield table(
        "pairs.csv", ["input", "output"], [[r["input"], r["output"]] for r in PAIR_ROWS], "pairs"
    )
    yield table("pairs_trailing_comma.csv", ["input", "output", ""],
                [[r["input"], r["output"], None] for r in PAIR_ROWS], "pairs")  # fmt: skip
    short = ["all good", "no", "fine", "awful", "nice", "great", "rather bad"]
    yield table("short_texts.csv", ["input", "output"], [[a, label(i, "pos neg")] for i, a in enumerate(short)],
                "unsure", says="--label output")  # fmt: skip
    yield table(
        "short_true.csv",
        ["input", "output"],
        [[a, len(a) > 4] for a in short],
        "unsure",
        says="--label output",
    )
    yield table("first_letters.csv", ["input", "output"], [[a, a[0]] for a in [*short, "new", "always"]], "pairs")  # fmt: skip
    yield table("contradicting_pairs.csv", ["input", "output"], [[i % 5, i] for i in range(9)], "unsure",
                says="8 rows have the same 'input' as a row with another 'output'")  # fmt: skip
    yield table("days.csv", ["day", "count"], [[f"2024-03-{i + 1:02}", i % 7] for i in range(28)],
                "unsure", target="day", says="'day' holds dates")  # fmt: skip
    yield text("pairs_of_problems.jsonl", lines([{"problem": p, "input": [i], "output": [i + n]} for n, p in enumerate("pq") for i in range(4)]),
               "pairs")  # fmt: skip
    yield table("even.csv", ["input", "output"], [[i, i % 2 == 0] for i in range(12)], "pairs")
    yield text(
        "xy_lists.jsonl", lines([{"x": r["input"], "y": r["output"]} for r in PAIR_ROWS]), "pairs"
    )
    yield table(
        "xy.csv",
        ["x", "y"],
        [[i, 2 * i + 1] for i in range(12)],
        "unsure",
        says="?input=x&output=y",
    )
    yield table(
        "qa.csv", ["question", "answer"], [[sentence(i), sentence(i + 99)] for i in N], "pairs"
    )
    yield table(
        "words.csv", ["english", "french"], [[f"word{i} a", f"mot{i} b"] for i in N], "unsure"
    )
    yield table("input_text.csv", ["input", "output"], reviews, "unsure", says="--label output")
    yield text("task.json", json.dumps({"train": PAIR_ROWS[:5], "test": PAIR_ROWS[5:]}), "pairs")
    yield text(
        "problems.jsonl",
        lines([{"id": "p", "train": PAIR_ROWS[:5], "test": PAIR_ROWS[5:]}]),
        "pairs",
    )
    yield text("listed.json", json.dumps([[1, 2], [3, 4]]), "unsure", says="list of lists")
    yield text(
        "observations.json", json.dumps({"p": [[1, 2], [3, 4]]}), "unsure", says="--observations"
    )
    # --- published forms
    yield text("arc_task.json", json.dumps({"train": [{"input": GRID, "output": GRID}], "test": [{"input": GRID, "output": GRID}]}),
               "published_problems")  # fmt: skip
    yield text(
        "lf.jsonl",
        lines([{"idx": 1, "train": PAIR_ROWS[:5], "test": PAIR_ROWS[5:]}]),
        "published_problems",
    )
    # --- worlds
    yield text("worlds.json", json.dumps(WORLD), "worlds")
    yield text("worlds.jsonl", lines([WORLD]), "worlds")
    # --- JSON that no task reads
    yield text(
        "splits.json",
        json.dumps({"train": [{"text": "a", "label": "b"}], "test": [{"text": "c", "label": "d"}]}),
        "unsure",
        says="splits",
    )
    yield text(
        "inside.json",
        json.dumps({"version": 1, "data": [{"text": a, "label": b} for a, b in reviews]}),
        "unsure",
        says="inside",
    )
    yield text(
        "keyed.json",
        json.dumps({f"r{i}": {"text": a, "label": b} for i, (a, b) in enumerate(reviews)}),
        "unsure",
        says="list(v.values())",
    )
    yield text(
        "nested.json",
        json.dumps([{"features": {"a": i}, "label": label(i)} for i in N]),
        "unsure",
        says="'features'",
    )
    # --- refused by the reader of the task
    yield table("spelled_twice.csv", ["review", "sentiment"], [[a, b.upper() if i % 7 else b] for i, (a, b) in enumerate(reviews)],
                "unsure", says="differ only in case")  # fmt: skip
    yield text("half_pair.json", json.dumps([*PAIR_ROWS, {"input": [2]}]), "unsure",
               says="row 9, output: missing  peirce run examples --data half_pair.json --skip-bad")  # fmt: skip
    # --- no data
    yield text("empty.csv", "", "error", says="empty")
    yield text("blank.json", " \n", "error", says="empty")
    yield text("photo.png", bytes(range(256)) * 9, "error", says="binary")
    yield text(
        "table.txt", "text,label\n" + "".join(f"{a},{b}\n" for a, b in reviews), "error", says="cp "
    )
    yield text(
        "story.txt",
        "It was late. We went home.\nNothing happened\nThe end.\n",
        "error",
        says="without columns",
    )
    yield text("json.csv", json.dumps([{"a": 1, "label": "b"}]), "error", says=".json")
    yield table("utf16.csv", ["text", "label"], reviews, "error", says="UTF-16", encoding="utf-16")


SHAPES = {one.name: one for one in shapes()}
