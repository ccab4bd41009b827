"""The files that the recorded sessions read: problems, sample spaces, papers, and what the scripted
models say. All of it is made up here; nothing is taken from a published data set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# --- programs ---------------------------------------------------------------------------------

LISTS = [
    {
        "idx": "tail",
        "train": [
            {"input": [3, 8, 5], "output": [8, 5]},
            {"input": [4, 4], "output": [4]},
            {"input": [7], "output": []},
        ],
        "test": [{"input": [1, 2, 3, 4], "output": [2, 3, 4]}, {"input": [], "output": []}],
    },
    {
        "idx": "twice",
        "train": [
            {"input": [1, 3], "output": [2, 6]},
            {"input": [5], "output": [10]},
            {"input": [0, 2, 9], "output": [0, 4, 18]},
        ],
        "test": [{"input": [6, 1], "output": [12, 2]}],
    },
]
LISTS_SPACE = [[], *([n] for n in range(6)), *([n, 9 - n, n % 3] for n in range(10)), [5, 5, 1, 0]]

SHOWN = {
    "tail": [[[4, 4], [4]], [[3, 8, 5], [8, 5]]],
    "twice": [[[5], [10]], [[1, 3], [2, 6]]],
}  # in GEAR's form

PAIRS = """\
problem,input,output,split
evens,"[3, 8, 5, 4]","[8, 4]",shown
evens,"[2, 7]",[2],shown
evens,"[1, 9]",[],shown
evens,"[6, 6, 1]","[6, 6]",hidden
total,"[1, 2]",3,shown
total,[5],5,shown
total,"[10, 0]",10,hidden
"""

ACRE_SHOWN = [
    (["red metal cube"], "on"),
    (["blue rubber sphere"], "off"),
    (["blue rubber sphere", "red metal cube"], "on"),
    (["green metal cylinder", "blue rubber sphere"], "off"),
]
ACRE_HIDDEN = [
    (["green metal cylinder"], "off", "direct"),
    (["green metal cylinder", "red metal cube"], "on", "indirect"),
    (["gray rubber cube"], "undetermined", "potential"),
]
ACRE = {
    "idx": "machine",
    "train": [{"input": scene, "output": light} for scene, light in ACRE_SHOWN],
    "test": [{"input": scene, "output": light, "type": kind} for scene, light, kind in ACRE_HIDDEN],
}
ACRE_SPACE = [
    [],
    ["red metal cube"],
    ["gray rubber cube"],
    ["red metal cube", "gray rubber cube"],
    ["red rubber cube", "blue metal sphere"],
    ["green metal cylinder", "blue rubber sphere", "red metal sphere"],
]


def mirrored(grid: list[list[int]]) -> list[list[int]]:
    return [row[::-1] for row in grid]


GRIDS = [
    [[(a * r + b * c) % 4 for c in range(5)] for r in range(5)] for a in (1, 2) for b in (1, 3)
]
SMALL_GRIDS = [[[1, 0, 0], [0, 2, 0]], [[3, 3, 0]], [[0, 5], [5, 5], [0, 6]], [[7, 0, 8, 0]]]


def grid_problem(name: str, grids: Sequence[list[list[int]]]) -> dict[str, Any]:
    pairs = [{"input": grid, "output": mirrored(grid)} for grid in grids]
    return {"idx": name, "train": pairs[:-1], "test": pairs[-1:]}


SPRING = """\
name: spring
about: what a gauge with a spring reads
instructions: |
  A gauge is pulled to a length in centimetres and shows a reading. The input is the length.
observations:
  - [1, 0.4]
  - [2, 0.8]
  - [3, 1.2]
hidden:
  - [10, 3.6]
equality:
  numbers: {decimals: 1}
sample_space:
  generate: {range: [0, 12], step: 0.5}
  weights: 2 if x <= 4 else 1
"""


def pair(description: str, source: str) -> str:
    """An answer in the format "tuple"."""
    return repr((description, source))


def code(description: str, source: str) -> str:
    """An answer in the format "json"."""
    return json.dumps({"description": description, "code": source})


def fenced(description: str, source: str) -> str:
    """An answer in the format "fenced_function"."""
    return f"{description}\n```python\n{source}\n```"


def tries(source: str) -> dict[str, Any]:
    return {"tool": "execute", "arguments": {"code": source}}


SAME = "def f(x):\n    return x"
TAIL = "def f(x):\n    return x[1:]"
LAST = "def f(x):\n    return x[-len(x) + 1:] if len(x) > 1 else []"
SHORT = "def f(x):\n    return x[1:] if len(x) < 4 else []"
DOUBLE = "def f(x):\n    return [2 * v for v in x]"
ADDED = "def f(x):\n    return [v + v for v in x]"
BROKEN = "def f(x):\n    return [v / 0 for v in x]"
IMPORTS = "import math\ndef f(x):\n    return [math.floor(2 * v) for v in x]"
ENDLESS = "def f(x):\n    while True:\n        x = x"

TOOLS_SCRIPT = {
    "tail": [
        [tries(SAME), tries(TAIL), pair("All but the first.", TAIL)],
        [{"tool": "guess", "arguments": {}}, "There is no rule."],
        pair("All but the first, of lists of at most three.", SHORT),
        [tries(ENDLESS), pair("The last ones.", LAST)],
        pair("The list.", SAME),
    ],
    "*": [
        pair("Every element twice, rounded down.", IMPORTS),
        pair("Every element twice.", DOUBLE),
        pair("Every element plus itself.", ADDED),
        pair("Every element by zero.", BROKEN),
    ],
}
KILLED_SCRIPT = {
    "tail": [
        [tries(SAME), pair("All but the first.", TAIL)],
        pair("All but the first, of short lists.", SHORT),
        pair("The list.", SAME),
        pair("Every element by zero.", BROKEN),
    ],
    "twice": [
        [tries(DOUBLE), pair("Every element twice.", DOUBLE)],
        "no answer",
        pair("Every element plus itself.", ADDED),
    ],
}
KILLED_TOML = """\
tool-calls = 1
space = "lists_space.jsonl"

[proposer]
model = "scripted:killed.json"
"""
JSON_SCRIPT = {
    "evens": [
        code("The list.", SAME),
        code("The even elements.", "def f(x):\n    return [v for v in x if v % 2 == 0]"),
        "{}",
        code(
            "Elements that are 2, 4, 6 or 8.",
            "def f(x):\n    return [v for v in x if v in (2, 4, 6, 8)]",
        ),
    ],
    "total": [
        code("The sum.", "def f(x):\n    return sum(x)"),
        code("The largest.", "def f(x):\n    return max(x)"),
    ],
}
FENCED_SCRIPT = {
    "*": [
        fenced("The list.", "def fn(x):\n    return x"),
        fenced("The even ones.", "def fn(x):\n    return [v for v in x if v % 2 == 0]"),
        "The sum of the list, without a block.",
    ],
}
GRID_SCRIPT = {
    "*": [
        pair("The grid upside down.", "def f(x):\n    return x[::-1]"),
        "not a tuple",
        pair("Each row from right to left.", "def f(x):\n    return [row[::-1] for row in x]"),
    ],
}
SPRING_SCRIPT = {
    "*": [
        pair("Two fifths of the length.", "def f(x):\n    return 0.4 * x"),
        pair("The same and a little.", "def f(x):\n    return 0.4 * x + 0.01"),
        pair("No more than a stop.", "def f(x):\n    return min(0.4 * x, 3.6)"),
    ],
}
RECORDED_ANSWERS = [
    {"problem": "tail", "step": 1, "answer": fenced("All but the first.", TAIL)},
    {
        "problem": "tail", "step": 1, "answer": fenced("The list.", SAME),
        "fields": {"chosen_rule": TAIL},
    },
    {"problem": "tail", "step": 2, "answer": fenced("Of short lists.", SHORT)},
    {"problem": "twice", "step": 1, "answer": "Every element twice; no code."},
    {"problem": "twice", "step": 2, "answer": fenced("Every element twice.", IMPORTS)},
]  # fmt: skip

# --- logic ------------------------------------------------------------------------------------

WORLDS = [
    {
        "id": "W0",
        "domain": ["a0", "a1", "a2"],
        "true": {"P": ["a1"], "R": [["a0", "a1"]], "S": [["a2", "a0"]]},
    },
    {"id": "W1", "domain": ["a0", "a1"], "true": {"P": ["a0"], "Q": ["a0"], "R": [["a1", "a0"]]}},
]
HOLDOUT = {"id": "H0", "domain": ["h0", "h1"], "true": {"P": ["h0"], "R": [["h1", "h0"]]}}
REFERENCE = "(exists y (and (R x y) (P y)))"
UNKNOWN_WORLD = {
    "id": "W2",
    "domain": ["b0", "b1", "b2"],
    "true": {"P": ["b1"], "Q": ["b2"], "R": [["b0", "b1"], ["b2", "b1"]]},
    "unknown": {"R": [["b1", "b1"]], "S": [["b0", "b2"]]},
}
BIRDS = {
    "id": "birds",
    "regime": "full",
    "theory": {
        "names": ["birds fly"],
        "axioms": ["(forall x (implies (and (Bird x) (not (Ab x))) (Flies x)))"],
        "signature": {"Bird": 1, "Flies": 1, "Polar": 1, "Child": 2},
        "allowed": ["Polar", "Child"],
    },
    "worlds": [
        {
            "domain": ["tux", "pip", "jay"],
            "true": {
                "Bird": ["tux", "pip", "jay"],
                "Flies": ["jay"],
                "Polar": ["tux"],
                "Child": [["pip", "tux"]],
            },
        }
    ],
    "reference": "(or (Polar x) (exists y (and (Child x y) (Polar y))))",
}


def worlds(regime: str) -> dict[str, Any]:
    shown = WORLDS if regime == "full" else [*WORLDS, UNKNOWN_WORLD]
    return {
        "id": regime, "regime": regime, "theory": "T1", "worlds": shown, "holdouts": [HOLDOUT],
        "reference": REFERENCE,
    }  # fmt: skip


PREDICTIONS = [
    {"schemaVersion": "abd_prediction_record_v1", "instanceId": "full", "scenario": "full",
     "theoryId": "T1", "model": model, "extractedFormula": formula, "rawResponse": raw,
     "success": bool(formula)}
    for model, formula, raw in (
        ("one", REFERENCE, ""),
        ("one", "", "no formula at all"),
        ("other", "(P x)", ""),
    )
]  # fmt: skip


def rule(formula: str) -> str:
    return json.dumps({"formula": formula, "description": "a rule"})


def solves(formula: str) -> dict[str, Any]:
    return {"tool": "solve", "arguments": {"formula": formula}}


RULES_SCRIPT = {
    "*": [
        [solves("(P x)"), solves("(Q x)"), rule("(exists y (R x y))")],
        rule("(= x x)"),
        rule("(P x)"),
        rule("(Q x)"),
        rule("(exists y (and (R x y) (P y))"),
        "nonsense",
    ]
}
MENDED_SCRIPT = {
    "*": [rule("(and (P x) (not (P x)))"), rule("(= x x)"), rule("(exists y (S x y))")]
}

# --- labelled text ----------------------------------------------------------------------------

WORDS = ("garden", "engine", "silver", "winter", "letter", "market", "doctor", "window")
SPLITS = {"train": (24, 0), "val": (6, 100), "test": (8, 200), "ood": (4, 300)}
MORE_SPLITS = {"train": (60, 0), "test": (6, 200)}  # enough for the search to be sure of a rule


def text_row(number: int) -> dict[str, str]:
    """A text whose label follows from the words `garden` and `engine`."""
    met = [WORDS[(number * step + number // 3) % len(WORDS)] for step in (1, 3, 5)]
    said = f"The {met[0]} met the {met[1]}, and a {met[2]} came{'!' * (number % 3)} {number}"
    return {"text": said, "label": "warm" if {"garden", "engine"} & set(met) else "cold"}


CONFIG = """\
task_name: made
label_name: label
train_data_path: ./made_train.json
val_data_path: ./made_val.json
test_data_path: ./made_test.json
ood_data_path: ./made_ood.json
prompt_templates:
  observations:
    multi_content: "The row ${idx}: ${text} is ${label}\\n"
  batched_generation:
    system: You find what makes texts warm or cold.
    user: "${observations}Write ${num_hypotheses} hypotheses as a numbered list."
  inference:
    system: You apply a hypothesis to one input.
    user: "Hypothesis: ${hypothesis}\\nInput: ${text}"
"""
METADATA = {
    "task_description": "whether a text is warm",
    "ground_truth_hypotheses": ['Texts that mention "garden" or "engine" are warm.'],
    "known_hypotheses": ["Texts about the cold season are cold."],
}

VISITS = """\
text,stars,verdict
A silver spoon lay on the bed,5,cold
The cook was friendly!!,4,warm
Nobody answered at the silver desk,1,cold
We liked the garden!!,5,warm
The lift was silver and slow,2,cold
They were friendly to our dog!!,4,warm
The shower stayed cold,2,cold
A quiet street!!,5,warm
Breakfast ended early,3,cold
The porter carried our bags!!,4,warm
The window did not close,2,cold
The bar was loud!!,3,warm
"""

PAPERS = {
    "gardens.md": "# Of gardens\n\nWe asked forty readers.\n\nFINDING: gardens make people warm\n",
    "engines.txt": "Of engines\n\nFINDING: an engine is never cold\n\nWe thank all of them.\n",
    "nothing.txt": "Of nothing\n\nWe found nothing.\n",
}

EXACT = 'If the text mentions one of "garden" or "engine", the label is warm; otherwise cold.'
SILVER = 'If the text mentions "silver", the label is cold.'
MARKS = "If the text has at least 2 exclamation marks, the label is warm."
FREE = "Texts about growing things are warm."
MORE = "Texts about the cold season are cold."
QUOTED = f'{FREE} [paper 1: "gardens make people warm"]'
MISQUOTED = 'Texts that move are warm. [paper 2: "words that stand in no paper"]'


def listed(*sentences: str) -> str:
    return "\n".join(f"{n}. {sentence}" for n, sentence in enumerate(sentences, 1))


def when(pattern: str, say: str) -> dict[str, str]:
    return {"when": f"(?s){pattern}", "say": say}


_INPUT = r".*Input:(?!.*Input:).*"  # what stands after this is in the input to be labelled
JUDGE_RULES = [
    when(rf"You apply a hypothesis{_INPUT}winter", "Final answer: does not apply"),
    when(rf"You apply a hypothesis{_INPUT}\b(203|7)\b", "I would rather not say."),
    when(rf"You apply a hypothesis{_INPUT}(garden|letter)", "So.\nFinal answer: warm"),
    when("You apply a hypothesis", "So.\nFinal answer: cold"),
]
TEXT_RULES = [
    when(r"You read a research paper.*FINDING: ([^\n]*)", r'- of the paper ["\1"]'),
    when("You read a research paper", "none"),
    when(r"whether two hypotheses.*First: Texts.*Second: Texts", "Final answer: yes"),
    when("whether two hypotheses", "Final answer: no"),
    when(rf"says anything of one input{_INPUT}(garden|engine|silver)", "Final answer: yes"),
    when("says anything of one input", "Final answer: no"),
    when(rf"You choose the hypothesis that fits{_INPUT}silver", "Chosen pattern: 2"),
    when("You choose the hypothesis that fits", "Chosen pattern: 1"),
    when(
        rf"Chosen pattern: NUMBER{_INPUT}(garden|engine)", "Chosen pattern: 1\nFinal answer: warm"
    ),
    when("Chosen pattern: NUMBER", "Chosen pattern: 9\nFinal answer: cold"),
    *JUDGE_RULES,
    when(rf"(You label one input|Final answer){_INPUT}(garden|engine)", "Final answer: warm"),
    when("You label one input|Final answer", "Final answer: cold"),
    when("Answer with one JSON", json.dumps({"hypotheses": [EXACT, FREE, SILVER]})),
    when("in the light of these findings", listed(QUOTED, EXACT, MARKS)),
    when("in the light of these rows", listed(MORE, SILVER, EXACT)),
    when("Findings of papers", listed(QUOTED, MISQUOTED, SILVER, MORE)),
    when("so far|does not hold|is right on|Earlier", listed(MORE, MARKS, EXACT, SILVER)),
    when("(The .*){9}", listed(FREE, SILVER, MARKS, MORE)),  # shown that many rows
]
TEXT_OTHERWISE = listed(MARKS, MORE, SILVER, EXACT)


def write_lines(path: Path, rows: Sequence[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_material(folder: Path) -> None:
    """Write every file that a recorded session names, by its path below `folder`."""
    write_lines(folder / "lists.jsonl", LISTS)
    write_lines(folder / "lists_space.jsonl", LISTS_SPACE)
    write_lines(folder / "acre.jsonl", [ACRE])
    write_lines(folder / "acre_space.jsonl", ACRE_SPACE)
    write_lines(folder / "miniarc.jsonl", [grid_problem("mirror", GRIDS)])
    write_lines(folder / "arc.jsonl", [grid_problem("flip", SMALL_GRIDS)])
    write_lines(folder / "answers.jsonl", RECORDED_ANSWERS)
    write_lines(folder / "predictions.jsonl", PREDICTIONS)
    (folder / "shown.json").write_text(json.dumps(SHOWN))
    (folder / "killed.toml").write_text(KILLED_TOML)
    (folder / "pairs.csv").write_text(PAIRS)
    (folder / "splits.json").write_text(json.dumps({"train": ["tail"], "validation": ["twice"]}))
    (folder / "visits.csv").write_text(VISITS)
    (folder / "made").mkdir(exist_ok=True)
    (folder / "made" / "config.yaml").write_text(CONFIG)
    (folder / "made" / "metadata.json").write_text(json.dumps(METADATA))
    for split, (count, start) in SPLITS.items():
        rows = [text_row(number) for number in range(start, start + count)]
        columns = {name: [row[name] for row in rows] for name in ("text", "label")}
        (folder / "made" / f"made_{split}.json").write_text(json.dumps(columns))
    (folder / "spring.yaml").write_text(SPRING)
    scripts = {
        "tools": TOOLS_SCRIPT, "killed": KILLED_SCRIPT, "json": JSON_SCRIPT,
        "fenced": FENCED_SCRIPT, "grids": GRID_SCRIPT, "spring": SPRING_SCRIPT,
        "rules": RULES_SCRIPT, "mended": MENDED_SCRIPT,
        "texts": {"rules": TEXT_RULES, "otherwise": TEXT_OTHERWISE},
        "judge": {"rules": JUDGE_RULES, "otherwise": "Final answer: cold"},
    }  # fmt: skip
    for name, script in scripts.items():
        (folder / f"{name}.json").write_text(json.dumps(script))
    for regime in ("full", "partial", "skeptical"):
        (folder / f"worlds_{regime}.json").write_text(json.dumps([worlds(regime)]))
    (folder / "birds.json").write_text(json.dumps(BIRDS))
    for name, splits in (("meetings", SPLITS), ("more_meetings", MORE_SPLITS)):
        for split, (count, start) in splits.items():
            rows = [text_row(number) for number in range(start, start + count)]
            write_lines(folder / name / f"{split}.jsonl", rows)
    (folder / "papers").mkdir(exist_ok=True)
    for name, text in PAPERS.items():
        (folder / "papers" / name).write_text(text)
