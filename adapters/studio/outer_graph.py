"""The graph that the platform runs for a method: work -> (ask_human -> work)*.

`work` runs the session of the thread. If all its open problems wait for a person (setting
`ask_human`), the session is stopped, and `ask_human` interrupts the run. The answer that resumes the
run becomes a hint (`peirce.hint`), and `work` resumes the session. A refused answer is asked for again.

The graph is compiled without a checkpointer, because the platform brings its own. What is saved there
is the JSON of the state, which names the session. What a session has done is in its store alone.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from ... import hint
from ...records import Json, PeirceError, UsageError
from .schemas import Outcome, make_schemas, merge_request
from .session_process import run_in_process
from .thread_folders import open_thread_folder
from .thread_session import SessionRequest, describe_error


def build_graph(method: Any) -> Any:
    """Return the compiled graph that serves a method.

    Args:
        method: The `graphs.Method`.
    """
    graph = method.graph
    values, context, state = make_schemas(method)

    async def work(state: dict[str, Json], config: RunnableConfig, runtime: Runtime) -> Any:
        # LangGraph draws the graphs that it finds among the variables of a node's function.
        _ = graph
        write = get_stream_writer()
        try:
            arguments, changeable = merge_request(method.name, state, runtime.context)
            folder = await asyncio.to_thread(open_thread_folder, thread_of(config))
        except PeirceError as error:
            write({"type": "error", "text": str(error)})
            return describe_error(str(error))
        context = contextvars.copy_context()

        def receive(event: dict[str, Json]) -> None:
            context.run(write, event)  # the writer reads its run's configuration from the context

        return await run_in_process(SessionRequest(folder, arguments, changeable), receive)

    async def ask_human(state: dict[str, Json], config: RunnableConfig) -> Any:
        open_questions = list(state["questions"])
        answer = interrupt(open_questions)
        try:
            folder = await asyncio.to_thread(open_thread_folder, thread_of(config))
            for problem, text in read_answers(answer, open_questions).items():
                await asyncio.to_thread(hint, state["session"], problem, text, store=folder.store)
                open_questions = [one for one in open_questions if one["problem"] != problem]
        except PeirceError as error:
            get_stream_writer()({"type": "error", "text": str(error)})
            return {"questions": open_questions, "error": str(error)}
        return {"questions": [], "error": ""}

    outer: Any = StateGraph(
        state, input_schema=values, context_schema=context, output_schema=Outcome
    )
    outer.add_node("work", work)
    outer.add_node("ask_human", ask_human)
    outer.add_edge(START, "work")
    outer.add_conditional_edges("work", _after_work, ["ask_human", END])
    outer.add_conditional_edges("ask_human", _after_answer, ["ask_human", "work"])
    return outer.compile()


def _after_work(state: Mapping[str, Json]) -> str:
    return "ask_human" if state["questions"] else END


def _after_answer(state: Mapping[str, Json]) -> str:
    return "ask_human" if state["questions"] else "work"  # asked again if the answer was refused


def thread_of(config: RunnableConfig) -> str:
    """Return the id of the thread of a run.

    Raises:
        UsageError: The run has no thread.
    """
    thread = config.get("configurable", {}).get("thread_id")
    if thread is None:
        raise UsageError("this run has no thread: create a thread and run the graph on it")
    return str(thread)


def read_answers(answer: Any, questions: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the hint for each waiting problem.

    Args:
        answer: What resumed the run: one text for all questions, or an object with a text for each
            problem. A problem without a text gets an empty one, which means that nobody helps.
        questions: The questions, each with its "problem".

    Raises:
        UsageError: The answer is neither.
    """
    problems = [one["problem"] for one in questions]
    if isinstance(answer, str):
        return dict.fromkeys(problems, answer)
    if isinstance(answer, Mapping) and all(isinstance(one, str) for one in answer.values()):
        if unknown := sorted(answer.keys() - set(problems)):
            raise UsageError(f"{unknown[0]!r:.80} is not a problem that waits for an answer")
        return {problem: answer.get(problem, "") for problem in problems}
    raise UsageError("the answer must be a text, or an object with a text for each problem")
