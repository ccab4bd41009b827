"""The embedded search on list functions: problems solved, the protocol's novelty rule, the tool
loop, determinism over workers and order, exhaustion, and that answers parse and run as written.

Internals: answers are compared over engines, workers and manners of writing, which settings do
not name.
"""

from __future__ import annotations

import ast
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from peirce.agents import open_model
from peirce.agents.search_model import SearchProposer
from peirce.records import (
    Hypothesis,
    InputSet,
    Observation,
    PastAnswer,
    Problem,
    ToolSpec,
    UsageError,
    Verdict,
    View,
)
from peirce.search.engines import SearchService
from peirce.tasks import load_family

BUDGET = 30_000
EXECUTE = ToolSpec("execute", "Runs code on the shown pairs.", {"type": "object"})


def lists(count: int, seed: int, least: int = 3, most: int = 9) -> list[list[int]]:
    pick = random.Random(seed)
    return [[pick.randrange(10) for _ in range(pick.randint(least, most))] for _ in range(count)]


SPACE = InputSet("small", tuple(lists(400, 1, 0, 10)))


def problem(function, seed: int = 0, shown: int = 8) -> Problem:
    inputs = lists(shown + 12, seed)
    pairs = [Observation(x, function(list(x))) for x in inputs]
    return Problem("p", "examples", "programs", tuple(pairs[:shown]), tuple(pairs[shown:]))


def compiled(source: str):
    names: dict = {}
    exec(compile(source, "<test>", "exec"), names)
    return names["f"]


def engine_answer(view: View, budget: int = BUDGET, skip: tuple[str, ...] = ()) -> dict:
    request = {
        "shown": [[o.input, o.output] for o in view.shown],
        "family": view.family,
        "space": view.space.digest,
        "inputs": view.space.inputs,
        "earlier": [h.text for e in view.past_answers for h in e.hypotheses],
        "skip": list(skip),
        "expansions": budget,
    }
    return SearchService().propose(request)


def read(text: str) -> tuple[str, str]:
    sentence, source = ast.literal_eval(text)
    return sentence, source


SOLVED = {
    "third element": lambda x: x[2:3],
    "map": lambda x: [v * 2 + 1 for v in x],
    "map with index": lambda x: [v + i for i, v in enumerate(x)],
    "filter": lambda x: [v for v in x if v > 4],
    "filter by parity": lambda x: [v for v in x if v % 2 == 0],
    "sort": lambda x: sorted(x)[1:],
    "fold": lambda x: [sum(x)],
    "integer output": lambda x: max(x) - min(x),
    "truth value": lambda x: len(x) > 5,
    "replace": lambda x: [0 if v > 5 else v for v in x],
    "fixed ends": lambda x: [7, *x, 3],
    "swap": lambda x: [*x[1:2], *x[:1], *x[2:]],
    "repeat the head": lambda x: x[:1] * len(x),
    "unique": lambda x: list(dict.fromkeys(x)),
    "conditional": lambda x: x[::-1] if len(x) > 5 else [*x, 9],
    "count": lambda x: [x.count(x[0])],
    "concatenation": lambda x: [*x[1:], len(x), *sorted(x)],
    "running sums": lambda x: [sum(x[: i + 1]) for i in range(len(x))],
}


@pytest.mark.parametrize("name", SOLVED)
def test_first_answer_generalises(name: str) -> None:
    given = problem(SOLVED[name])
    found = engine_answer(given.make_view(SPACE))
    function = compiled(found["source"])
    assert all(function(list(o.input)) == o.output for o in given.hidden), found["source"]


def test_answer_is_a_tuple_of_two_strings_under_the_contract() -> None:
    async def ask() -> str:
        proposer = await open_model("search", {"budget_expansions": BUDGET, "workers": 1})
        try:
            reply = await proposer.propose(
                problem(SOLVED["conditional"]).make_view(SPACE), [], [], 0
            )
        finally:
            await proposer.close()
        return reply.text

    text = asyncio.run(ask())
    sentence, source = read(text)
    tree = ast.parse(source)
    assert len(tree.body) == 1 and isinstance(tree.body[0], ast.FunctionDef)
    assert all(len(line) < 80 for line in source.splitlines())
    assert "import" not in source and sentence.endswith(".")


def test_description_with_quotes_still_reads_back() -> None:
    assert read(
        load_family("programs").search_style.answer("a \"b\" 'c'", "def f(x):\n    return '\\n'")
    ) == (
        "a \"b\" 'c'",
        "def f(x):\n    return '\\n'",
    )


def following(view: View, count: int) -> list[str]:
    """The engine's answers one after the other, as the protocol would take them."""
    engine, sources = SearchService(), []
    request = {
        "shown": [[o.input, o.output] for o in view.shown],
        "family": view.family,
        "space": view.space.digest,
        "inputs": view.space.inputs,
        "skip": [],
        "expansions": BUDGET,
    }
    for _ in range(count):
        found = engine.propose(request | {"earlier": list(sources)})
        if "source" not in found:
            break
        sources.append(found["source"])
    return sources


def predictions(source: str) -> list:
    out = []
    for x in SPACE.inputs:
        try:
            out.append(compiled(source)(list(x)))
        except (LookupError, ValueError, TypeError, ArithmeticError):
            out.append(None)
    return out


def test_following_hypotheses_are_consistent_and_novel_by_the_rule() -> None:
    given = problem(SOLVED["filter"], shown=2)
    sources = following(given.make_view(SPACE), 8)
    assert len(sources) >= 4
    rows = [predictions(source) for source in sources]
    for k, row in enumerate(rows):
        assert all(compiled(sources[k])(list(o.input)) == o.output for o in given.shown)
        alike = sum(
            value is not None and any(value == other[j] for other in rows[:k])
            for j, value in enumerate(row)
        )
        assert alike / len(row) < 0.8, sources[k]


def test_search_ends_as_exhausted_when_nothing_novel_is_left() -> None:
    given = problem(SOLVED["fixed ends"])
    sources = following(given.make_view(SPACE), 60)
    assert len(sources) < 60


def test_pairs_that_a_family_does_not_know_end_as_exhausted() -> None:
    view = View("p", "examples", "logic", (Observation("ab", "ba"),), {}, SPACE)
    assert "rules about finite worlds" in engine_answer(view)["reason"]


def replay_of(workers: int, order: list[int]) -> dict[int, str]:
    names = ["map", "filter", "sort", "repeat the head"]
    views = [
        problem(SOLVED[name], seed=k, shown=3).make_view(SPACE) for k, name in enumerate(names)
    ]

    async def ask() -> dict[int, str]:
        proposer = await open_model("search", {"budget_expansions": 6000, "workers": workers})
        try:
            texts = {}
            for k in order:
                first = await proposer.propose(views[k], [], [], 0)
                sentence, source = read(first.text)
                earlier = PastAnswer(first.text, (Hypothesis(source, sentence),), Verdict.ACCEPTED)
                second = await proposer.propose(
                    View(**{**vars(views[k]), "past_answers": (earlier,)}), [], [], 0
                )
                texts[k] = first.text + second.text
            return texts
        finally:
            await proposer.close()

    return asyncio.run(ask())


def test_answers_do_not_depend_on_workers_or_order() -> None:
    assert replay_of(1, [0, 1, 2, 3]) == replay_of(2, [3, 1, 0, 2])


def with_answer(view: View, text: str) -> View:
    """The view after an answer of the search."""
    sentence, source = read(text)
    past = PastAnswer(text, (Hypothesis(source, sentence),), Verdict.ACCEPTED)
    return replace(view, past_answers=(*view.past_answers, past))


async def answers_one_by_one(view: View, count: int, prepares: bool) -> tuple[list[str], int]:
    """The first answers to a problem, and how many of them were requested after the preparation only."""
    proposer = await open_model("search", {"budget_expansions": 6000, "workers": 1})
    sent: list[list[str]] = []
    ask = proposer.service.ask

    async def count_requests(key: str, request: dict, space: InputSet) -> dict:
        sent.append(request["earlier"])
        return await ask(key, request, space)

    proposer.service.ask = count_requests
    texts: list[str] = []
    try:
        for _ in range(count):
            reply = await proposer.propose(view, [], [], 0)
            texts.append(reply.text)
            view = with_answer(view, reply.text)
            if prepares:
                proposer.prepare_answer(view)
                await asyncio.sleep(0)  # the request is on its way
                assert sent[-1] == [h.text for one in view.past_answers for h in one.hypotheses]
    finally:
        await proposer.close()
    return texts, len(sent)


def test_prepared_answers_are_those_that_would_have_come_and_are_searched_once() -> None:
    view = problem(SOLVED["filter"], shown=2).make_view(SPACE)
    plain, requests = asyncio.run(answers_one_by_one(view, 4, prepares=False))
    assert requests == 4
    assert asyncio.run(answers_one_by_one(view, 4, prepares=True)) == (plain, 4 + 1)


def test_a_prepared_answer_that_another_request_replaces_changes_nothing() -> None:
    view = problem(SOLVED["filter"], shown=2).make_view(SPACE)

    async def ask(prepares: bool) -> str:
        proposer = await open_model("search", {"budget_expansions": 6000, "workers": 1})
        try:
            first = await proposer.propose(view, [], [], 0)
            if prepares:
                proposer.prepare_answer(with_answer(view, first.text))
            other = with_answer(view, "('Returns its list.', 'def f(x):\\n    return x')")
            return (await proposer.propose(other, [], [], 0)).text
        finally:
            await proposer.close()

    assert asyncio.run(ask(True)) == asyncio.run(ask(False))


def test_nothing_is_prepared_for_answers_of_the_journal_nor_by_busy_workers() -> None:
    view = problem(SOLVED["map"]).make_view(SPACE)
    other = problem(SOLVED["filter"], shown=2).make_view(SPACE)

    async def ask() -> None:
        proposer = await open_model("search", {"budget_expansions": 2000, "workers": 1})
        try:
            proposer.prepare_answer(with_answer(view, "('a', 'def f(x):\\n    return x')"))
            assert proposer.service.workers[0].open_requests == 0
            first = await proposer.propose(view, [], [], 0)
            busy = asyncio.ensure_future(proposer.propose(other, [], [], 0))
            await asyncio.sleep(0)
            proposer.prepare_answer(with_answer(view, first.text))
            await asyncio.sleep(0)
            assert proposer.service.workers[0].open_requests == 1
            await busy
        finally:
            await proposer.close()

    asyncio.run(ask())


def test_what_was_prepared_for_a_problem_that_ended_leaves_the_worker_to_others() -> None:
    views = [problem(SOLVED[name], shown=2).make_view(SPACE) for name in ("map", "filter")]

    async def ask() -> list[int]:
        proposer = await open_model("search", {"budget_expansions": 2000, "workers": 1})
        worker, found = proposer.service.workers[0], []
        try:
            for view in views:
                first = await proposer.propose(view, [], [], 0)
                proposer.prepare_answer(with_answer(view, first.text))
                await asyncio.sleep(0)
                found.append(worker.open_requests)
                while worker.open_requests:  # nobody asks for this answer
                    await asyncio.sleep(0.01)
        finally:
            await proposer.close()
        return found

    assert asyncio.run(ask()) == [1, 1]


def test_closing_ends_what_was_prepared() -> None:
    view = problem(SOLVED["filter"], shown=2).make_view(SPACE)

    async def ask() -> int:
        proposer = await open_model("search", {"budget_expansions": 10_000_000, "workers": 1})
        first = await proposer.propose(view, [], [], 0)
        worker = proposer.service.workers[0].process.process.pid
        proposer.prepare_answer(with_answer(view, first.text))
        await asyncio.sleep(0.2)
        assert proposer.service.workers[0].open_requests == 1
        await proposer.close()
        return worker

    assert gone(asyncio.run(ask()), within_s=1.0)


def test_tool_loop_executes_first_and_answers_when_the_tool_agrees() -> None:
    view = problem(SOLVED["map"]).make_view(SPACE)

    def after(code: str, consistent: bool) -> list[dict]:
        call = {
            "id": "c1",
            "function": {"name": "execute", "arguments": json.dumps({"code": code})},
        }
        content = json.dumps({"consistent": consistent, "failing": [], "passed": 1, "of": 8})
        return [
            {"role": "user", "content": "pairs"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": content},
        ]

    async def ask() -> None:
        proposer: SearchProposer = await open_model(
            "search", {"budget_expansions": BUDGET, "workers": 1}
        )
        try:
            first = await proposer.propose(view, [], [EXECUTE], 0)
            assert first.finish == "tool_calls" and first.tool_calls[0].name == "execute"
            code = first.tool_calls[0].arguments["code"]
            last = await proposer.propose(view, after(code, True), [EXECUTE], 0)
            assert last.finish == "stop" and read(last.text)[1] == code
            other = await proposer.propose(view, after(code, False), [EXECUTE], 0)
            if other.finish == "tool_calls":
                assert other.tool_calls[0].arguments["code"] != code
            else:
                assert other.finish == "exhausted"
        finally:
            await proposer.close()

    asyncio.run(ask())


def test_a_dead_worker_is_replaced() -> None:
    view = problem(SOLVED["map"]).make_view(SPACE)

    async def ask() -> tuple[str, str]:
        proposer = await open_model("search", {"budget_expansions": 2000, "workers": 1})
        try:
            first = await proposer.propose(view, [], [], 0)
            process = proposer.service.workers[0].process.process
            assert process is not None
            process.kill()
            second = await proposer.propose(view, [], [], 0)
            return first.text, second.text
        finally:
            await proposer.close()

    first, second = asyncio.run(ask())
    assert first == second


_CHILD = """
import asyncio, json, os, sys
from peirce.agents import open_model
from peirce.records import InputSet, Observation, View

async def main():
    proposer = await open_model("search", {"budget_expansions": 2000, "workers": 1})
    space = InputSet("s", ([1, 2], [3]))
    view = View("p", "t", "programs", (Observation([1, 2], [2, 1]),), {}, space)
    await proposer.propose(view, [], [], 0)
    print(proposer.service.workers[0].process.process.pid, flush=True)
    await asyncio.sleep(30)

try:
    asyncio.run(main())
except KeyboardInterrupt:
    pass
"""


def started(tmp_path) -> tuple[subprocess.Popen, int]:
    script = tmp_path / "session.py"
    script.write_text(_CHILD)
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a runner started in the background hands down an ignored SIGINT
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def gone(pid: int, within_s: float = 10.0) -> bool:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_workers_leave_when_their_parent_is_killed(tmp_path) -> None:
    process, worker = started(tmp_path)
    process.kill()
    process.communicate()
    assert gone(worker)


def test_ctrl_c_gives_no_traceback_of_a_worker(tmp_path) -> None:
    process, worker = started(tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert gone(worker)
    assert errors == ""


def test_unknown_settings_and_presets_are_usage_errors() -> None:
    for spec, settings in (
        ("search", {"temperature": 1}),
        ("search:tiny", {}),
        ("search", {"budget_expansions": 0}),
    ):
        with pytest.raises(UsageError):
            asyncio.run(open_model(spec, settings))


def test_contradictions_end_in_one_sentence_without_a_search() -> None:
    pairs = (Observation([1], [2]), Observation([5], [1]), Observation([1], [3]))
    view = Problem("p", "t", "programs", pairs).make_view(SPACE)

    async def ask() -> str:
        proposer = await open_model("search", {"workers": 1})
        try:
            reply = await proposer.propose(view, [], [], 0)
            assert proposer.service.workers[0].process.process is None
        finally:
            await proposer.close()
        return reply.meta["reason"]

    assert asyncio.run(ask()) == "the input [1] has two outputs, [2] and [3]: no function has both"
