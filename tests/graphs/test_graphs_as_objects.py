"""A method's graph as an object: it runs without a store with any proposer, draws itself, and a
user's LangChain callbacks are told of its nodes, model calls and tool calls."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path

import peirce
import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from one_sandbox import in_sandbox
from peirce.agents import open_model
from peirce.agents.scripted import RepairingProposer
from peirce.config import MethodSettings
from peirce.graphs import all_methods, find_method
from peirce.graphs.runtime.memory import SessionSettings, make_case
from peirce.graphs.runtime.steps import START_STATE
from peirce.records import OracleSettings, Verdict
from peirce.tools.execute import EXECUTE

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from faulty_server import FaultyServer

SHOWN = [([3], [3]), ([5], [6])]
WRONG = "def f(x):\n    return x"
MENDED = "def f(x):\n    return x if x[0] < 4 else [x[0] + 1]"


class Recorder(AsyncCallbackHandler):
    """Keeps what a tracer is told."""

    def __init__(self):
        self.nodes, self.tools, self.asked, self.answers = Counter(), [], [], []
        self.runs = {}  # run id: its parent's

    async def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **more):
        self.runs[run_id] = parent_run_id
        self.nodes[more.get("name")] += 1

    async def on_chat_model_start(
        self, serialized, messages, *, run_id, parent_run_id=None, **more
    ):
        self.asked.append(messages[0][-1].content)
        self.runs[run_id] = parent_run_id

    async def on_llm_end(self, response, **more):
        self.answers.append(response.generations[0][0].text)

    async def on_tool_start(self, serialized, input_str, *, run_id, parent_run_id=None, **more):
        self.tools.append((serialized["name"], input_str))
        self.runs[run_id] = parent_run_id


def alone(proposer, problem, recorder=None, **settings):
    """(state, case) of one run of the graph without a store."""

    async def run(sandbox):
        case = make_case(
            problem, proposer, sandbox, settings=SessionSettings(method=MethodSettings(**settings))
        )
        config = {"callbacks": [recorder] if recorder else []}
        graph = find_method("abduce", "programs").graph
        return await graph.ainvoke(START_STATE, config, context=case), case

    return in_sandbox(run)


def test_a_graph_runs_without_a_store_with_any_proposer(make_problem):
    state, case = alone(RepairingProposer(WRONG, MENDED), make_problem(shown=SHOWN))
    assert state["stop"] == "exhausted"
    (step,) = case.ledger.steps
    assert step.answers[0].judged[0].verdict is Verdict.ACCEPTED
    assert "step/1/propose/0/tool/0" in {key.path for key in case.journal.outcomes}


def test_a_graph_is_not_ended_by_langgraphs_own_limit(make_problem):
    proposer = RepairingProposer(WRONG, MENDED)
    proposer.propose = _answering_for_ever(proposer)
    state, case = alone(proposer, make_problem(shown=SHOWN), max_answers=60, max_bad=1000)
    assert state["stop"] == "cap" and len(case.ledger.steps) == 60


def _answering_for_ever(proposer):
    from peirce.records import Reply

    async def propose(view, messages, tools, seed, schema=None):
        return Reply(proposer._answer(WRONG))

    return propose


@pytest.mark.parametrize("name", all_methods())
def test_every_graph_draws_itself_with_all_its_nodes(name):
    graph = all_methods()[name].graph.get_graph()
    drawn = graph.draw_mermaid()
    assert drawn.count("-->") + drawn.count("-.->") == len(graph.edges) > 1
    assert all(node in drawn for node in graph.nodes)


def test_callbacks_of_a_session_are_told_of_nodes_model_calls_and_tools(tmp_path):
    recorder = Recorder()
    with FaultyServer() as server:
        session = peirce.run(
            "list_functions", problems=8, max_answers=2, workers=1, model=f"{server.url}#m",
            store=tmp_path / "s.duckdb", callbacks=[recorder],
        )  # fmt: skip
        requests = server.requests
    calls = session.usage["by_kind"]
    assert len(recorder.asked) == len(recorder.answers) == calls["model"]["calls"] == requests
    assert recorder.nodes["ask"] == requests
    assert recorder.nodes["judge"] == recorder.nodes["record"] == session.steps
    assert all(name == "execute" for name, _ in recorder.tools) and recorder.tools
    assert any("Observations:" in asked for asked in recorder.asked)
    roots = [run for run, parent in recorder.runs.items() if parent is None]
    assert len(roots) == 8  # one trace a problem, and nothing outside of them


def test_callbacks_given_to_a_graph_alone_are_told_of_the_model(make_problem):
    recorder = Recorder()

    async def whole(url):
        proposer = await open_model(f"{url}#m", {})
        sandbox = await EXECUTE.open(OracleSettings(workers=1))
        try:
            case = make_case(make_problem(shown=SHOWN), proposer, sandbox)
            await find_method("abduce", "programs").graph.ainvoke(
                START_STATE, {"callbacks": [recorder]}, context=case
            )
        finally:
            await sandbox.close()
            await proposer.close()

    with FaultyServer() as server:
        asyncio.run(whole(server.url))
        assert len(recorder.asked) == server.requests > 0
