"""The answer contract held strictly: each breach makes an answer malformed by a reason of its own;
by default the same answers run and the breaches are noted.

Internals: the list of breaches is compared with the cases of this file.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace

import pytest
from peirce.records import Hypothesis, InputSet, Malformed, Observation, Oracles, Problem
from peirce.tasks import load_family, load_task
from peirce.tasks.programs.answers import BREACHES
from peirce.tasks.programs.family import FAMILY

IMPORT = re.compile(r"^\s*(?:import|from)\s+\w+", re.MULTILINE)
STRICT = FAMILY.with_strict_contract()
VIEW = Problem("p", "t", "programs", (Observation([1], [1]),)).make_view(InputSet("s", ([1],)))
KEPT = "def f(x):\n    return x[1:]"
BREACHED = {
    "import": "import math\ndef f(x):\n    return math.sqrt(x)",
    "missing_import": "def f(x):\n    return math.sqrt(x)",
    "helper_function": "def g(x):\n    return x\ndef f(x):\n    return g(x)",
    "helper_class": "class A: pass\ndef f(x):\n    return x",
    "top_level_code": "n = 3\ndef f(x):\n    return x[n:]",
    "prints": "def f(x):\n    print(x)\n    return x",
    "lambda": "f = lambda x: x",
    "no_return": "def f(x):\n    x.sort()",
}


def test_every_breach_has_its_reason():
    assert set(BREACHED) == set(BREACHES)


@pytest.mark.parametrize("kind", BREACHED)
def test_a_breach_is_malformed_under_the_strict_contract_and_noted_without(kind):
    source = BREACHED[kind]
    fenced = f"Say.\n```python\n{source}\n```"
    for read in (STRICT.parse_hypothesis(source, VIEW), *STRICT.parse(VIEW, fenced, "fenced_function"),
                 *STRICT.parse(VIEW, repr(("d", source)), "tuple")):  # fmt: skip
        assert isinstance(read, Malformed) and read.reason == f"breach_{kind}"
        assert read.detail.endswith("; one function alone is allowed under --strict-contract")
    noted = FAMILY.parse_hypothesis(source, VIEW)
    assert isinstance(noted, Hypothesis) and noted.breaches == (kind,)


def test_the_gravest_of_several_breaches_is_the_reason_and_all_are_said():
    source = "print(1)\nimport os.path as p, math\nfrom re import sub\ndef f(x):\n    return x"
    read = STRICT.parse_hypothesis(source, VIEW)
    assert isinstance(read, Malformed) and read.reason == "breach_import"
    said = "imports math, os.path, re, has code outside of the function, prints; "
    assert read.detail.startswith(said)


def test_modules_used_without_an_import_are_named():
    source = "import re\ndef f(x):\n    return Counter(map(math.floor, x)).most_common(1)"
    read = STRICT.parse_hypothesis(source, VIEW)
    assert isinstance(read, Malformed) and read.reason == "breach_import"
    assert read.detail.startswith("imports re, uses Counter, math without importing them; ")
    noted = FAMILY.parse_hypothesis(source, VIEW)
    assert isinstance(noted, Hypothesis) and noted.breaches == ("import", "missing_import")
    assert noted.text == source


def test_what_keeps_the_contract_is_read_alike():
    for text in (KEPT, f"```python\n{KEPT}\n```", '"""Doc."""\n' + KEPT, "def f(x) return x", ""):
        assert STRICT.parse_hypothesis(text, VIEW) == FAMILY.parse_hypothesis(text, VIEW)


def test_the_setting_is_the_familys_and_no_global():
    assert load_family("programs", strict_contract=True) == STRICT
    assert load_family("programs") == FAMILY
    assert isinstance(FAMILY.parse_hypothesis(BREACHED["import"], VIEW), Hypothesis)


def test_the_tool_tells_a_model_of_the_breach_before_it_answers():
    said = json.loads(asyncio.run(STRICT.attempt(BREACHED["import"], VIEW, Oracles())))
    assert said["consistent"] is False and said["error"].startswith("breach_import: imports math")


def test_16_of_the_1105_recorded_answers_of_gpt4_import_of_which_14_in_what_is_judged(shared_data):
    """The other two import in a second block of code, and the first is the answer."""
    recorded = json.loads((shared_data / "recorded" / "gpt4_list_function_python.json").read_text())
    answers = [a for p in recorded["problems"] for t in p["turns"] for a in t["responses"]]
    noted = [FAMILY.parse(VIEW, answer, "fenced_function")[0] for answer in answers]
    held = [STRICT.parse(VIEW, answer, "fenced_function")[0] for answer in answers]
    assert len(answers) == 1_105 and all(isinstance(read, Hypothesis) for read in noted)
    assert sum(bool(IMPORT.search(answer)) for answer in answers) == 16
    assert sum("import" in read.breaches for read in noted) == 14
    assert sum(getattr(read, "reason", "") == "breach_import" for read in held) == 14
    for loosely, strictly in zip(noted, held, strict=True):
        assert isinstance(strictly, Malformed) == bool(loosely.breaches)


OWN = replace(
    Problem("p", "t", "programs", (Observation([1], [1]),)), public={"imports": "permitted"}
).make_view(InputSet("s", ([1],)))


@pytest.mark.parametrize(
    ("source", "breaches"),
    [
        ("import re\nfrom datetime import datetime\ndef f(x):\n    return re.sub('a', '', x)", ()),
        ("def f(x):\n    import math\n    return math.sqrt(x)", ()),
        ("import collections.abc\ndef f(x):\n    return x", ()),
        ("import os\ndef f(x):\n    return x", ("import",)),
        ("import re, socket\ndef f(x):\n    return x", ("import",)),
        ("from . import re\ndef f(x):\n    return x", ("import",)),
        ("import re\ndef f(x):\n    print(x)\n    return x", ("prints",)),
        ("def f(x):\n    return math.sqrt(x)", ("missing_import",)),
    ],
)
def test_own_pairs_allow_the_imports_that_the_sandbox_permits(source, breaches):
    noted = FAMILY.parse_hypothesis(source, OWN)
    assert isinstance(noted, Hypothesis) and noted.breaches == breaches
    held = STRICT.parse_hypothesis(source, OWN)
    assert isinstance(held, Malformed) == bool(breaches)


def test_the_contract_in_the_prompt_is_the_one_that_is_held():
    for form in FAMILY.answer_formats:
        papers = FAMILY.with_task_wording({}).words.contract(form)
        own = FAMILY.with_task_wording({"imports": "permitted", "pair": "{input}"}).words.contract(
            form
        )
        assert "nothing is imported" in papers and "re, datetime" not in papers
        assert "nothing is imported" not in own and "such as re, datetime and math" in own


def test_the_published_tasks_and_pairs_like_theirs_keep_the_contract_of_the_paper(tmp_path):
    path = tmp_path / "p.jsonl"
    rows = {"words": ("a", "A"), "digits": (5, "005"), "sums": ([1, 2], 3), "twice": (4, 8)}
    path.write_text(
        "".join(
            json.dumps({"problem": name, "input": given, "output": output}) + "\n"
            for name, (given, output) in rows.items()
        )
    )
    loaded = {one.id: one.public for one in load_task("examples").load(str(path), None, 0)}
    assert {name for name, public in loaded.items() if public.get("imports")} == {"words", "digits"}
    for name in ("list_functions", "acre", "mini_arc", "arc"):
        assert "imports" not in load_task(name).generate(1, 0)[0].public
