"""A problem ends early at its own limit of tokens, or when its answers add nothing, and a session
that was stopped in between ends at the same step.

Internals: the forecast of the shortest problem is compared value by value.
"""

from __future__ import annotations

import asyncio

import pytest
from one_sandbox import in_sandbox
from peirce.agents.scripted import ScriptedProposer
from peirce.config import MethodSettings
from peirce.graphs import find_method
from peirce.graphs.forecast import Sizes, Span, forecast_one_by_one
from peirce.graphs.runtime.memory import SessionSettings, make_case
from peirce.graphs.runtime.replay import replay_session
from peirce.graphs.runtime.runner import run_session
from peirce.graphs.runtime.steps import START_STATE
from peirce.records import InputSet, Reply, Usage, UsageError
from peirce.store import Store

SHOWN = [([3], [3]), ([5], [5]), ([6], [6])]
SPACE = InputSet("singletons", tuple([n] for n in range(10)))
EACH = Usage(tokens_in=60, tokens_out=40)
SAME = "def f(x):\n    return x"
WRONG = "def f(x):\n    return [0]"


def new_rules(answer, count):
    """Rules that are right on the shown pairs and predict something else on S each."""
    return [
        answer(f"def f(x):\n    return x if x[0] in (3, 5, 6) else [{n}]") for n in range(count)
    ]


def replies(texts):
    return [Reply(text, usage=EACH) for text in texts]


class Interrupting(ScriptedProposer):
    """A scripted proposer that stops its session after a number of requests."""

    def __init__(self, texts, after=None):
        super().__init__(replies(texts))
        self.after, self.asked, self.stopping = after, 0, asyncio.Event()

    async def propose(self, view, messages, tools, seed, schema=None):
        self.asked += 1
        if self.asked == self.after:
            self.stopping.set()
        return await super().propose(view, messages, tools, seed, schema)


def run(tmp_path, problem, texts, cuts=(None,), name="store", **settings):
    """Run a session, cut off after each number of requests in `cuts` and resumed.

    Returns (cause, number of steps, digest, differences of the replay)."""
    with Store.open(tmp_path / f"{name}.duckdb", write=True) as store:
        model = Interrupting(texts)
        known = {
            "task": "examples", "method": "abduce", "model": "m", "seed": 0, "tool_calls": 0,
            "model_settings": model.settings(), **settings,
        }  # fmt: skip
        session = store.create_session(known, [(problem, SPACE)])
        for cut in cuts:
            one = Interrupting(texts, cut)
            in_sandbox(
                lambda oracle, one=one: run_session(
                    store, session, proposer=one, oracle=oracle, stopping=one.stopping
                )
            )
        (row,) = store.problems(session)
        replayed = asyncio.run(replay_session(store, session))
        return (
            row.cause,
            len(list(store.steps(session))),
            store.digest(session),
            replayed["differences"],
        )


@pytest.mark.parametrize(("limit", "steps"), [(1, 1), (100, 1), (101, 2), (300, 3)])
def test_a_problem_ends_at_the_answer_that_uses_up_its_tokens(
    tmp_path, make_problem, make_answer, limit, steps
):
    found = run(
        tmp_path, make_problem(shown=SHOWN), new_rules(make_answer, 6), problem_tokens=limit
    )
    assert found[:2] == ("problem_budget", steps)
    assert found[3] == []


@pytest.mark.parametrize("cuts", [(1, None), (2, 1, None), (3, None)])
def test_a_stopped_session_counts_the_tokens_that_its_journal_holds(
    tmp_path, make_problem, make_answer, cuts
):
    problem, texts = make_problem(shown=SHOWN), new_rules(make_answer, 6)
    through = run(tmp_path, problem, texts, problem_tokens=400, name="through")
    again = run(tmp_path, problem, texts, cuts, problem_tokens=400, name="again")
    assert again == through
    assert through[:2] == ("problem_budget", 4)


def test_a_problem_ends_when_answers_in_a_row_add_nothing(tmp_path, make_problem, make_answer):
    good = new_rules(make_answer, 3)
    wrong = make_answer(WRONG)
    texts = [good[0], wrong, good[1], wrong, wrong, good[2]]
    found = run(tmp_path, make_problem(shown=SHOWN), texts, patience=2, max_bad=9)
    assert found[:2] == ("no_progress", 5)
    assert found[3] == []
    cut = run(tmp_path, make_problem(shown=SHOWN), texts, (4, None), "cut", patience=2, max_bad=9)
    assert cut == found


def test_the_methods_own_reason_comes_first(tmp_path, make_problem, make_answer):
    found = run(tmp_path, make_problem(shown=SHOWN), [make_answer(WRONG)] * 5, patience=3)
    assert found[:2] == ("three_bad", 3)


def test_refining_goes_on_while_more_observations_are_right(make_problem, make_answer):
    """Two better answers, then two that are no better: patience counts only these."""
    texts = [
        WRONG,
        "def f(x):\n    return [3]",
        "def f(x):\n    return x if x[0] < 6 else [0]",
        "def f(x):\n    return x if x[0] < 6 else [1]",
        "def f(x):\n    return x if x[0] < 6 else [2]",
        SAME,
    ]
    method = find_method("refine", "programs")
    proposer = ScriptedProposer(replies([make_answer(one) for one in texts]))
    settings = SessionSettings(method=method.settings(patience=2))
    case = in_sandbox(
        lambda oracle: _play(method, make_problem(shown=SHOWN), proposer, oracle, settings)
    )
    assert case.ledger.steps[-1].step == 5


async def _play(method, problem, proposer, oracle, settings):
    case = make_case(problem, proposer, oracle, space=SPACE, settings=settings)
    state = await method.graph.ainvoke(START_STATE, context=case)
    assert state["stop"] == "no_progress"
    return case


def test_a_round_of_t3_has_its_answers_whatever_they_add():
    with pytest.raises(UsageError, match="patience"):
        find_method("t3", "programs").settings.model_validate({"method": "t3", "patience": "x"})
    options = [name for name, _, _ in find_method("t3", "programs").settings.iter_options()]
    assert "patience" not in options and "problem_tokens" in options


def test_the_forecast_counts_the_shortest_problem(make_problem):
    def least(**settings):
        told = {**MethodSettings(tool_calls=0).model_dump(), **settings}
        sizes = Sizes(make_problem(shown=SHOWN), 10, told)
        return forecast_one_by_one(sizes)["proposer"]

    assert least() == Span(3, 25)
    assert least(patience=2) == Span(2, 25)
    assert least(problem_tokens=5_000) == Span(1, 25)
