"""Small data sets in each published form, each with one oddity that such releases have.

The oddities are those that the releases were seen to have, or that their tools write: strings in the
place of lists, byte order marks, fields that are null, labels in another case, formulas that no parser
reads. A `Wart` says how the data is read: it loads, it loads with a warning, or it is refused in one
sentence.
"""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abd_records import holdouts, instances, yaml_of

Files = Mapping[str, str | bytes]


@dataclass(frozen=True)
class Wart:
    """Files with an oddity.

    Args:
        task: the task that reads them.
        files: content by path in the folder.
        warns: a part of the warning; "" where the files load without one that speaks of the oddity.
        refused: a part of the error; "" where the files load.
        skipped: the warning where records that cannot be read are left out; None where the error
            concerns the whole file.
        path: the path to give to the loader, below the folder.
    """

    task: str
    files: Files
    warns: str = ""
    refused: str = ""
    skipped: str | None = None
    path: str = ""

    def save(self, folder: Path) -> Path:
        """Write the files and return the path to load."""
        for name, content in self.files.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            data = content if isinstance(content, bytes) else content.encode()
            place.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return folder / self.path


LEFT_OUT = "that cannot be read"


def dumped(*rows: Any, end: str = "\n") -> str:
    return "".join(json.dumps(row) + end for row in rows)


# --- one problem a line: list functions, ACRE, MINI-ARC, ARC ------------------------------

GRID = [[1, 2], [3, 4]]
PAIRS: Mapping[str, tuple[Any, Any]] = {
    "list_functions": ("[3, 4]", "[4]"),
    "acre": (["red metal cube"], "on"),
    "mini_arc": (GRID, GRID),
    "arc": (GRID, GRID),
}
NAMES = {"list_functions": "list_function.jsonl", "acre": "acre.jsonl",
         "mini_arc": "miniarc.jsonl", "arc": "arc_2025.jsonl"}  # fmt: skip


def row(task: str, number: Any, **other: Any) -> dict[str, Any]:
    pair = dict(zip(("input", "output"), PAIRS[task], strict=True))
    return {"idx": number, "train": [pair, pair], "test": [pair], **other}


def pair(given: Any, output: Any, **other: Any) -> list[dict[str, Any]]:
    return [{"input": given, "output": output, **other}]


def lines(task: str) -> dict[str, Wart]:
    """Oddities that any form of a problem a line may have."""
    name, good, end = NAMES[task], row(task, 0), dumped(row(task, 9))

    def wart(content: str | bytes, file: str = name, **said: Any) -> Wart:
        return Wart(task, {file: content}, path=file, **said)

    def bad(line: str, refused: str) -> Wart:
        content = dumped(good) + line + "\n" + end
        return wart(content, refused=f"line 2{refused}", skipped=f"{LEFT_OUT} is left out: line 2{refused}")  # fmt: skip

    text = dumped(good)
    nan = text.replace('"idx": 0', '"idx": 1, "difficulty": NaN')
    return {
        "a byte order mark": wart(b"\xef\xbb\xbf" + text.encode()),
        "line ends of Windows": wart(dumped(good, end="\r\n")),
        "blank lines": wart("\n" + text + "\n \n"),
        "no end of the last line": wart(text.rstrip("\n")),
        "gzip under a plain name": wart(gzip.compress(text.encode())),
        "gzip": wart(text, name + ".gz"),
        "an id that is text": wart(dumped(row(task, "f7"))),
        "keys that nobody asked for": wart(dumped(row(task, 0, source="x", note=None))),
        "no test pairs": wart(dumped(row(task, 0, test=[]))),
        "a secret that is none": wart(dumped(row(task, 0, secret="x")), warns="secret cannot be read"),
        "an id that occurs twice": bad(dumped(good).strip(), ", idx: 0 occurs twice"),
        "an id that is null": bad(dumped(row(task, None)).strip(), ", idx: must be a number"),
        "quotes of Python": bad(str(row(task, 1)), ": not JSON"),
        "a comma at the end": bad(dumped(row(task, 1)).strip()[:-1] + ",}", ": not JSON"),
        "a number that is none": bad(nan.strip(), ": this JSON cannot be used: NaN"),
        "a split that is missing": bad('{"idx": 1, "train": []}', ", train: must be a list of pairs"),
        "a line cut short": bad(dumped(good)[:20], ": not JSON"),
        "an output that is null": bad(
            dumped(row(task, 1, train=pair(PAIRS[task][0], None))).strip(), ", train[0].output: "
        ),
        "bytes that are no UTF-8": wart(
            text.encode() + b'{"idx": "\xff"}\n' + end.encode(), refused="line 2: not UTF-8",
            skipped=f"{LEFT_OUT} is left out: line 2: not UTF-8",
        ),
        "a table under that name": wart("a,b\n1,2\n", "x.csv", refused="a table"),
        "an empty file": wart("", refused="the file is empty"),
    }  # fmt: skip


def list_functions() -> dict[str, Wart]:
    def wart(given: Any, output: Any, **said: Any) -> Wart:
        some = [row("list_functions", 0), row("list_functions", 1, train=pair(given, output))]
        return Wart("list_functions", {"f.jsonl": dumped(*some)}, path="f.jsonl", **said)

    def bad(given: Any, refused: str) -> Wart:
        return wart(given, "[1]", refused=refused, skipped=f"{LEFT_OUT} is left out: line 2")

    return {
        "lists as strings": wart("[3, 4]", "[]"),
        "tuples as strings": wart("(3, 4)", "(3,)"),
        "lists as lists": wart([3, 4], []),
        "blanks in strings": wart(" [3,4] ", "[ 3 ]"),
        "numbers as strings": bad('["3", "4"]', "train[0].input: must be a list of integers"),
        "numbers with a point": bad([3.0], "train[0].input: must be a list of integers"),
        "truth values": bad("[True]", "train[0].input: must be a list of integers"),
        "one number": bad("3", "train[0].input: must be a list of integers"),
        "a name": bad("[nan]", "train[0].input: must be a Python literal"),
        "a string cut short": bad("[3, 4", "train[0].input: must be a Python literal"),
    }


def acre() -> dict[str, Wart]:
    def wart(part: str, output: Any, scene: Any = None, *, kind: Any = None, **said: Any) -> Wart:
        scene = ["red metal cube"] if scene is None else scene
        some = [row("acre", 0), row("acre", 1, **{part: pair(scene, output, type=kind)})]
        return Wart("acre", {"acre.jsonl": dumped(*some)}, **said)

    return {
        "an undetermined test scene": wart("test", "undetermined", kind="potential"),
        "an undetermined shown scene": wart(
            "train", "undetermined", refused="line 2, train[0].output: an undetermined scene",
            skipped=f"{LEFT_OUT} is left out: line 2",
        ),
        "a type that is null": wart("test", "on"),
        "a type that is a number": wart("test", "on", kind=3, warns="the type of a scene cannot be read"),
        "a light in another case": wart(
            "test", "On", refused="line 2, test[0].output: none of on, off", skipped="line 2"
        ),
        "a light as truth value": wart(
            "test", True, refused="line 2, test[0].output: none of on, off", skipped="line 2"
        ),
        "an empty scene": wart("test", "off", []),
        "a scene as text": wart(
            "test", "on", "red metal cube", refused="line 2, test[0].input: must be a list of entities",
            skipped="line 2",
        ),
        "an entity in another order": wart(
            "test", "on", ["cube metal red"], refused="is none of the 48 entities", skipped="line 2"
        ),
    }  # fmt: skip


def grids() -> dict[str, Wart]:
    task = {part: row("arc", 0)[part] for part in ("train", "test")}
    open_ = {**task, "test": [{"input": GRID}]}
    drawn = {**task, "train": pair([["1", None], [3, "0"]], GRID)}

    def folder(name: str, one: Any, kind: str = "arc", **said: Any) -> Wart:
        where = "data/training" if kind == "arc" else "data/MiniARC"
        files = {f"{where}/good.json": json.dumps(task), f"{where}/{name}": one}
        return Wart(kind, files, **said)

    def kaggle(challenges: Any, solutions: Any = None, **said: Any) -> Wart:
        files = {"arc-agi_training_challenges.json": json.dumps(challenges)}
        if solutions is not None:
            files["arc-agi_training_solutions.json"] = json.dumps(solutions)
        return Wart("arc", files, **said)

    def wart(given: Any, refused: str) -> Wart:
        some = [row("arc", 0), row("arc", 1, train=pair(given, GRID))]
        return Wart("arc", {"arc.jsonl": dumped(*some)}, refused=refused, skipped="is left out: line 2")  # fmt: skip

    both = {"a": open_, "b": open_}
    return {
        "cells as an editor leaves them": folder("b.json", json.dumps(drawn), "mini_arc"),
        "a name beside the pairs": folder("b.json", json.dumps({**task, "name": "x"})),
        "a file of the system": folder(".DS_Store", b"\0\1"),
        "a byte order mark in a task": folder("b.json", b"\xef\xbb\xbf" + json.dumps(task).encode()),
        "a task cut short": folder(
            "b.json", json.dumps(task)[:-9], refused="b.json, line 1: not JSON", skipped="b.json, line 1"
        ),
        "a task that is null": folder(
            "b.json", "null", refused="b.json, line 1: neither a task", skipped="b.json, line 1"
        ),
        "a test input without output": folder(
            "b.json", json.dumps(open_), warns="1 test inputs of 1 problems have no output"
        ),
        "challenges with solutions": kaggle(both, {"a": [GRID], "b": [GRID]}),
        "challenges without solutions": kaggle(both, warns="have no output"),
        "a problem that the solutions lack": kaggle(
            both, {"a": [GRID]}, refused="no outputs of problem 'b'", skipped="no outputs of problem 'b'"
        ),
        "a solution too many": kaggle(
            both, {"a": [GRID], "b": [GRID], "c": [GRID]}, refused="outputs of problem 'c', which",
            skipped="outputs of problem 'c', which",
        ),
        "a solution that is null": kaggle(
            both, {"a": [GRID], "b": [None]}, refused="problem 'b', [0]: must be a grid", skipped="problem 'b'"
        ),
        "a row that is too short": wart([[1, 2], [3]], "train[0].input[1]: a ragged grid"),
        "a colour that is none": wart([[1, 10]], "train[0].input[0][1]: must be a colour"),
        "a colour as text": wart([["1"]], "train[0].input[0][0]: must be a colour"),
        "a colour with a point": wart([[1.0]], "train[0].input[0][0]: must be a colour"),
        "a grid without cells": wart([[]], "train[0].input[0]: must be a row"),
        "a grid as text": wart("[[1]]", "train[0].input: must be a grid"),
        "31 rows": wart([[1]] * 31, "more than 30 by 30"),
    }  # fmt: skip


# --- ABD ------------------------------------------------------------------------------


def abd() -> dict[str, Wart]:
    yaml_name, holdouts_name = "abd_instances_v1.yaml", "abd_holdouts_v1.jsonl"

    def wart(change: Callable[[dict[str, Any]], None], **said: Any) -> Wart:
        some = copy.deepcopy(instances())
        change(some[1])
        return Wart(
            "abd", {yaml_name: yaml_of(some), holdouts_name: dumped(*holdouts()[:3])}, **said
        )

    def gold(**other: Any) -> Callable[[dict[str, Any]], None]:
        return lambda one: one["problem"]["gold"].update(other)

    def first(**other: Any) -> Callable[[dict[str, Any]], None]:
        return lambda one: one["problem"]["trainWorlds"][0].update(other)

    def text(old: str, new: str, **said: Any) -> Wart:
        whole = yaml_of(instances())
        assert old in whole
        rows = dumped(*holdouts()[:3])
        return Wart("abd", {yaml_name: whole.replace(old, new, 1), holdouts_name: rows}, **said)

    def held(rows: str | bytes, **said: Any) -> Wart:
        return Wart("abd", {yaml_name: yaml_of(instances()), holdouts_name: rows}, **said)

    optional = "cannot be read in 1 place and is left out there: line "
    record = f"{LEFT_OUT} is left out: line "
    two = holdouts()[:2]
    return {
        "Var(y)": wart(gold(alpha="(exists Var(y) (R x y))"), warns=f"the reference {optional}"),
        "aliases": wart(gold(alpha="(-> (P x) (P x))"), warns=f"the reference {optional}"),
        "an empty reference": wart(gold(alpha=""), warns=f"the reference {optional}"),
        "a reference that is null": wart(gold(alpha=None)),
        "a cost as text": wart(gold(totalGoldAlphaCost="2"), warns=f"the cost of the reference {optional}"),
        "a cost with a point": wart(gold(totalGoldAlphaCost=2.5), warns=f"the cost of the reference {optional}"),
        "a bound as text": wart(first(optCost="1"), warns=f"the lower bound of a world {optional}"),
        "a bound that is no number": text(
            "optCost: 1", "optCost: .nan", warns=f"the lower bound of a world {optional}"
        ),
        "a share that is no number": text(
            "difficulty: easy", "difficulty: easy\n    exceptionRateMean: .nan"
        ),
        "no description": wart(lambda one: one.pop("problemDescription")),
        "a difficulty as number": wart(
            lambda one: one["problemDescription"].update(difficulty=1), warns=f"the difficulty {optional}"
        ),
        "keys that nobody asked for": wart(first(gap=1, diagnostics={"a": [None]})),
        "a set": text("difficulty: easy", "difficulty: easy\n    required: !!set {a0: null}"),
        "quotes of one kind": text("instanceId: FULL", "instanceId: 'FULL'"),
        "line ends of Windows": Wart(
            "abd", {yaml_name: yaml_of(instances()).replace("\n", "\r\n"), holdouts_name: dumped(*two)}
        ),
        "a byte order mark": Wart(
            "abd", {yaml_name: b"\xef\xbb\xbf" + yaml_of(instances()).encode(), holdouts_name: dumped(*two)}
        ),
        "gzip": Wart(
            "abd", {yaml_name + ".gz": yaml_of(instances()), holdouts_name + ".gz": dumped(*two)}
        ),
        "no holdouts": Wart(
            "abd", {yaml_name: yaml_of(instances())}, warns="no file of holdouts beside it"
        ),
        "holdouts without a world": held(dumped(*holdouts()), warns="without success or world"),
        "unknown atoms that are null": wart(first(unknownAtoms=None)),
        "an element as number": wart(
            first(domain=[0, 1, 2]), refused="instance 'PARTIAL', problem.trainWorlds[0]: ", skipped=record
        ),
        "a world without elements": wart(
            first(domain=[]), refused="problem.trainWorlds[0]: domain has to list", skipped=record
        ),
        "an atom of another world": wart(
            first(unknownAtoms={"S": ["(a0, a7)"]}), refused="'a7' is not in the domain", skipped=record
        ),
        "an instance without worlds": wart(
            lambda one: one["problem"].update(trainWorlds=None),
            refused="problem.trainWorlds: must be a list of worlds", skipped=record,
        ),
        "a theory that is unknown": wart(
            lambda one: one["problem"].update(theoryId="TH4"), refused="no theory 'TH4'", skipped=record
        ),
        "an instance twice": wart(
            lambda one: one.update(instanceId="FULL"), refused="FULL occurs twice", skipped=record
        ),
        "a tab": text("- schemaVersion", "-\tschemaVersion: x\n\tschemaVersion", refused="not YAML"),
        "a holdout cut short": held(
            dumped(two[0])[:30] + "\n" + dumped(two[1]), refused="line 1: not JSON", skipped=record
        ),
        "a holdout with NaN": held(
            dumped({**two[0], "meta": {"status": "success", "deltaFraction": float("nan")}}, two[1]),
            refused="line 1: this JSON cannot be used: NaN", skipped=record,
        ),
        "a holdout of another theory": held(
            dumped({**two[0], "theoryId": "TH7"}, two[1]),
            refused="line 1, instance 'PARTIAL', theoryId: TH7", skipped=record,
        ),
    }  # fmt: skip


# --- labelled text -----------------------------------------------------------------------

COLUMNS = {
    "text": [f"the {'short' if n % 2 else 'long'} queue number {n} was there" for n in range(12)],
    "label": ["good" if n % 2 else "bad" for n in range(12)],
}
CONFIG = "task_name: meals\ntrain_data_path: ./meals_train.json\nval_data_path: ./meals_val.json\ntest_data_path: ./meals_test.json\n"
METADATA: Mapping[str, Any] = {
    "task_description": "What guests write.",
    "features": {"text": {"type": "text", "description": "A review."}},
    "labels": {"label": {"type": "binary", "values": ["good", "bad"]}},
    "known_hypotheses": ["Short queues are good."],
}


def columns(**other: Any) -> dict[str, Any]:
    return {**copy.deepcopy(COLUMNS), **other}


def labels() -> dict[str, Wart]:
    def wart(train: Any = None, test: Any = None, *, config: str = CONFIG, metadata: Any = METADATA,
           **said: Any) -> Wart:  # fmt: skip
        files: dict[str, str | bytes] = {
            "meals/config.yaml": config,
            "meals/meals_train.json": train if isinstance(train, bytes | str) else json.dumps(train or COLUMNS),
            "meals/meals_val.json": json.dumps(COLUMNS),
            "meals/meals_test.json": json.dumps(test or COLUMNS),
            "meals/metadata.json": metadata if isinstance(metadata, bytes | str) else json.dumps(metadata),
        }  # fmt: skip
        return Wart("labels", files, path="meals", **said)

    def described(**other: Any) -> Wart:
        return wart(metadata={**METADATA, **other}, warns="a part of the metadata cannot be read")

    gold = list(COLUMNS["label"])
    text = json.dumps(COLUMNS)
    left = f"{LEFT_OUT} is left out: row "
    return {
        "a byte order mark": wart(b"\xef\xbb\xbf" + text.encode()),
        "line ends of Windows": wart(config=CONFIG.replace("\n", "\r\n")),
        "gzip under a plain name": wart(gzip.compress(text.encode())),
        "labels in another case": wart(columns(label=[one.upper() for one in gold])),
        "labels between blanks": wart(columns(label=[f" {one} " for one in gold])),
        "cells that are null": wart(columns(text=[*COLUMNS["text"][:-1], None])),
        "columns that nobody asked for": wart(columns(id=list(range(12)), note=[None] * 12)),
        "rows in place of columns": wart(
            [{"text": t, "label": y} for t, y in zip(*COLUMNS.values(), strict=True)]
        ),
        "rows of training among the test rows": wart(warns="have the inputs of a training row"),
        "a split that is missing": wart(
            config=CONFIG.replace("./meals_test", "./other"), refused="test_data_path: other.json does not exist"
        ),
        "a split under a similar name": wart(
            config=CONFIG.replace("./meals_test", "./meal_test"), warns="meals_test.json is used instead"
        ),
        "splits that are exchanged": wart(
            config=CONFIG.replace("val_data_path: ./meals_val", "val_data_path: ./meals_test"),
            warns="although its name suggests the rows of test",
        ),
        "no training rows": wart(
            config="task_name: meals\ntest_data_path: ./meals_test.json\n", refused="train_data_path is missing"
        ),
        "a config that is no YAML": wart(config="a: [", refused="config.yaml, line 1: not YAML"),
        "prompts that are none": wart(config=CONFIG + "prompt_templates: 3\n", warns="prompt_templates cannot"),
        "an extractor that is unknown": wart(config=CONFIG.replace("meals\n", "'${x}'\n")),
        "metadata that is null": wart(metadata=None),
        "metadata cut short": wart(metadata='{"a": ', warns="metadata.json cannot be read"),
        "metadata with NaN": wart(metadata='{"a": NaN}', warns="metadata.json cannot be read"),
        "metadata that is a list": wart(metadata=[1], warns="a part of the metadata cannot be read"),
        "metadata with a byte order mark": wart(metadata=b"\xef\xbb\xbf{}"),
        "a description that is a list": described(task_description=["a"]),
        "features that are a list": described(features=["text"]),
        "a feature that is a text": described(features={"text": "A review."}),
        "values that are a number": described(features={"text": {"possible_values": 3}}),
        "hypotheses that are a text": described(known_hypotheses="Short queues are good."),
        "a hypothesis that is an object": described(known_hypotheses=[{"a": 1}]),
        "values of labels that are a text": described(labels={"label": {"values": "good"}}),
        "a label that is null": wart(
            columns(label=[*gold[:-1], None]), refused="row 12: there is no label in 'label'", skipped=f"{left}12"
        ),
        "a label that training rows lack": wart(
            None, columns(label=[*gold[:-1], "so-so"]), refused="row 12: the label 'so-so' does not occur in the training rows; known labels are ",
            skipped=f"{left}12",
        ),
        "columns of unequal length": wart(columns(label=gold[:-1]), refused=": the columns have different lengths ("),
        "a column that is a text": wart(columns(label="good"), refused="label: a column must be a list"),
        "a cell with NaN": wart(text.replace('"label"', '"x": [NaN], "label"'), refused="this JSON cannot be used"),
        "a comma at the end": wart(text[:-1] + ",}", refused="line 1: not JSON"),
        "quotes of Python": wart(str(COLUMNS), refused="line 1: not JSON"),
        "a row that is none": wart(
            [*({"text": t, "label": y} for t, y in zip(*COLUMNS.values(), strict=True)), 3],
            refused="row 13: must be an object", skipped=f"{left}13",
        ),
        "no label column": wart({"text": COLUMNS["text"], "Label": gold}, refused="no label column 'label'"),
        "a number among texts": wart(columns(text=[*COLUMNS["text"][:-1], 5])),
    }  # fmt: skip


def forms() -> dict[str, Wart]:
    """Every wart, by "form: oddity"."""
    groups = {
        **{f"{task} line": lines(task) for task in NAMES},
        "list functions": list_functions(), "acre": acre(), "grids": grids(), "abd": abd(),
        "labels": labels(),
    }  # fmt: skip
    return {f"{name}: {odd}": wart for name, some in groups.items() for odd, wart in some.items()}
