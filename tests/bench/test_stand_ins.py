"""The stand-in models of bench/agent.py: what they read in a prompt, their draws, and the cache of their
endpoint."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import urllib.request

import peirce
import pytest
from peirce import cli
from peirce.agents.scripted import FunctionProposer

TASKS = {"programs": "list_functions", "rules": "abd", "texts": "labels"}


@pytest.fixture
def stand_ins():
    import stand_ins

    return stand_ins


@pytest.fixture
def stand_in_server():
    import stand_in_server

    return stand_in_server


@pytest.fixture
def agent():
    import agent

    return agent


class Here:
    """The driver of bench/agent.py, in this process."""

    def run(self, *words):
        told = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with contextlib.redirect_stdout(told), pytest.raises(SystemExit) as ended:
            cli.main(list(words))
        assert not ended.value.code
        told.seek(0)
        return json.loads(told.read()), 0.0


@pytest.fixture(params=TASKS)
def problems(request, agent, tmp_path):
    return request.param, agent.make_problems(request.param, 3, 3, tmp_path / "made", Here())


def test_a_stand_in_recognises_a_problem_in_its_prompt_and_the_true_rule_solves_it(
    stand_ins, agent, problems, tmp_path
):
    family, made = problems
    found = {}

    def recognise(messages):
        prompt = messages[0]["content"]
        if not prompt.startswith("You apply a hypothesis"):
            found[prompt] = stand_ins.StandIn(family, made.known).recognise(prompt).name
        return "nothing"

    peirce.run(
        TASKS[family], data=str(made.data), model=FunctionProposer(recognise, "reads"),
        max_answers=1, tool_calls=0, store=tmp_path / "s.duckdb", workers=1,
        **({"inference": "best", "observations": 20} if family == "texts" else {}),
    )  # fmt: skip
    assert sorted(found.values()) == sorted(one.name for one in made.known)
    stand_in = stand_ins.StandIn(family, made.known)
    names = [one.name + ("#0" if family == "texts" else "") for one in made.known]
    true = [
        {"problem": name, "text": one.rule} for name, one in zip(names, made.known, strict=True)
    ]
    assert agent.find_solved(family, made, true) == set(names)
    changed = [
        {"problem": name, "text": stand_in._rule("near", name, one, "")[1]}
        for name, one in zip(names, made.known, strict=True)
    ]
    assert len(agent.find_solved(family, made, changed)) < len(names)
    assert all(row["text"] != one.rule for row, one in zip(changed, made.known, strict=True))


def test_the_same_request_has_the_same_answer_and_another_seed_another(stand_ins):
    known = [stand_ins.KnownProblem("p", "def f(x):\n    return x[:3]", "cuts", frozenset())]
    request = {"model": "middle", "messages": [{"role": "user", "content": "seven"}], "tools": []}
    said = [
        [
            stand_ins.StandIn("programs", known).answer({**request, "seed": seed})
            for seed in range(30)
        ]
        for _ in range(2)
    ]
    assert said[0] == said[1] and len({json.dumps(one) for one in said[0]}) > 5


@pytest.mark.parametrize("number", [0.0, 0.3, 0.6, 0.99])
def test_a_changed_or_varied_program_is_another_one_that_compiles(stand_ins, number):
    for source in ("def f(x):\n    return x[::-1]", "def f(x):\n    return sorted(x)",
                   "def f(x):\n    return [v + 2 for v in x if v > 3]"):  # fmt: skip
        for other in (stand_ins.change_program(source, number),
                      stand_ins.vary_program(source, "Pair 1: ([1, 2], [3])", number)):  # fmt: skip
            assert ast.unparse(ast.parse(other)) != ast.unparse(ast.parse(source))


def test_the_endpoint_caches_prefixes_of_1024_tokens_in_blocks_of_128(stand_in_server):
    cache = stand_in_server.PrefixCache()
    short, long = "a" * 4 * 1_000, "b" * 4 * 1_500
    assert [cache.add(short), cache.add(short)] == [0, 0]
    assert [cache.add(long), cache.add(long + "c" * 999)] == [0, 1_408]
    assert cache.add(long[:-600] + "d" * 600) == 1_280


def test_the_endpoint_counts_what_it_answers(stand_in_server):
    with stand_in_server.serve_timed(lambda request: {"content": "well"}, 0.0) as (url, counts):
        body = {"model": "weak", "messages": [{"role": "user", "content": "x" * 8_000}]}
        for _ in range(2):
            data = json.dumps(body).encode()
            with urllib.request.urlopen(f"{url}/chat/completions", data) as answer:
                told = json.loads(answer.read())
    assert counts.calls == 2 and counts.tokens_in == 2 * told["usage"]["prompt_tokens"] > 4_000
    assert counts.tokens_cached == told["usage"]["prompt_tokens_details"]["cached_tokens"] == 1_920
