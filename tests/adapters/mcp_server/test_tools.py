"""What the tools and resources answer. The SDK checks each answer against the schema of its tool.

Internals: the process is prepared for warnings as the command line does it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import peirce

QUICK = {"budget_expansions": 2_000}
EVENS = "def f(x):\n    return [v for v in x if v % 2 == 0]"
WORLD = {"domain": ["a", "b"], "true": {"P": ["a"], "R": [["a", "a"]]}}


def test_every_tool_has_a_description_and_a_schema_of_its_answer(served: Any) -> None:
    tools = served.drive(lambda client: client.list_tools()).tools
    assert {tool.name for tool in tools} >= {
        *("execute", "solve", "judge", "check", "propose", "discover", "run", "status", "findings"),
        *("predict", "resume", "tasks", "plan", "pause", "continue", "stop", "adjust", "hint"),
    }
    for tool in tools:
        assert tool.description.endswith("."), tool.name
        assert tool.output_schema["type"] == "object" and tool.output_schema["properties"]
        for name, about in tool.input_schema["properties"].items():
            assert "description" in about or name in ("limit", "offset"), (tool.name, name)
    run = next(tool for tool in tools if tool.name == "run")
    digest = run.output_schema["$defs"]["Session"]["properties"]["digest"]
    assert digest == {"title": "Digest", "type": "string"}


def test_the_page_for_agents_names_every_tool_with_its_arguments(served: Any) -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "use-from-coding-agents.md"
    rows = [
        line.split("|") for line in page.read_text("utf-8").splitlines() if line.startswith("| `")
    ]
    named = {
        tool: set(re.findall(r"`(\w+)`", row[2]))
        for row in rows
        for tool in re.findall(r"`(\w+)`", row[1])
    }
    tools = served.drive(lambda client: client.list_tools()).tools
    arguments = {tool.name: set(tool.input_schema["properties"]) for tool in tools}
    # The page says that plan takes the arguments of run, without those that it names.
    arguments["plan"] = {"run"} | (arguments["run"] - arguments["plan"])
    for tool in tools:
        assert named[tool.name] == arguments[tool.name], tool.name
    size = sum(len(one.description) + len(json.dumps(one.input_schema)) for one in tools)
    assert size < 20_000, size


def test_a_hint_is_stored_for_a_session_that_does_not_run(served: Any) -> None:
    script = served.root / "script.json"
    script.write_text('{"*": ["no answer", "no answer", "no answer"]}')
    arguments = {"task": "examples", "data": "pairs.jsonl", "model": "scripted:script.json"}
    session = served.call("run", **arguments, max_answers=1)["session"]
    said = served.refusal("hint", session=session, problem="pairs", text="look at the even numbers")
    assert "ended" in said or "end" in said
    assert "no problem" in served.refusal("hint", session=session, problem="none", text="x")


def test_rows_in_the_call_and_a_file_give_the_session_of_the_public_function(served: Any) -> None:
    rows = [json.loads(line) for line in (served.root / "pairs.jsonl").read_text().splitlines()]
    options = {"max_answers": 2, "settings": QUICK}
    of_rows = served.call("run", task="examples", data=rows, **options)["outcome"]
    of_file = served.call("run", task="examples", data="pairs.jsonl", **options)["outcome"]
    own = peirce.run(
        "examples", data=served.root / "pairs.jsonl", max_answers=2, **QUICK,
        store=served.root / "own.duckdb",
    )  # fmt: skip
    assert of_file["digest"] == own.digest
    assert [one["hypothesis"] for one in of_rows["findings"]] == [
        one["hypothesis"] for one in of_file["findings"]
    ]


def test_what_a_session_found_is_listed_and_applied(served: Any) -> None:
    session = served.call(
        "run", task="examples", data="pairs.jsonl", max_answers=2, settings=QUICK
    )["session"]
    page = served.call("findings", session=session, limit=1)
    assert page["total"] >= len(page["findings"]) == 1
    rest = served.call("findings", session=session, offset=1)
    assert len(rest["findings"]) == page["total"] - 1
    predicted = served.call("predict", bank=session, data=[{"input": [4, 5, 6]}])
    assert [row["prediction"] for row in predicted["rows"]] == [[4, 6]]
    written = served.call("predict", bank=session, data="pairs.jsonl", out="out.csv")
    assert written["rows"] == [] and written["file"]["right"] == 4
    assert (served.root / "out.csv").read_text().startswith("input")
    assert "exists already" in served.refusal(
        "predict", bank=session, data="pairs.jsonl", out="out.csv"
    )
    state = served.call("status")
    assert (state["session"], state["status"], state["pid"]) == (session, "done", 0)


def test_hypotheses_are_judged_without_a_session(served: Any) -> None:
    checked = served.call(
        "check",
        task="examples",
        data="pairs.jsonl",
        answers=[{"problem": "pairs", "hypothesis": EVENS}, {"problem": "other"}],
    )
    assert [row["verdict"] for row in checked["rows"]] == ["consistent", "error"]
    executed = served.call("execute", source=EVENS, inputs=[[1, 2], None])
    assert executed["results"] == [{"value": [2]}, {"undefined": "TypeError"}]
    solved = served.call("solve", rule="(P x)", worlds=[WORLD])
    assert (solved["verdict"], solved["cost"], solved["lower_bound"]) == ("consistent", 1, 1)
    judged = served.call(
        "judge",
        sentence="If the text contains 'good', it is positive; otherwise it is negative",
        rows=[{"text": "so good", "label": "positive"}, {"text": "bad", "label": "positive"}, {"text": "no", "label": "negative"}],
    )  # fmt: skip
    assert judged["labels"] == ["positive", "negative", "negative"] and judged["right"] == 2
    assert not served.settings.store.exists()


def test_the_next_hypothesis_differs_from_the_earlier_ones(served: Any) -> None:
    first = served.call("propose", task="examples", data="pairs.jsonl", settings=QUICK)
    earlier = [one["hypothesis"] for one in first["proposals"]]
    second = served.call(
        "propose", task="examples", data="pairs.jsonl", earlier=earlier, settings=QUICK
    )
    assert [one["verdict"] for one in second["earlier"]] == ["accepted"]
    assert second["proposals"][0]["hypothesis"] not in earlier
    assert not served.settings.store.exists()


def test_discover_looks_at_data_and_runs_what_fits(served: Any) -> None:
    found = served.call("discover", file="pairs.jsonl", max_answers=1, settings=QUICK)
    assert found["kind"] == "pairs" and found["outcome"]["task"] == "examples"
    planned = served.call("plan", task="examples", data="pairs.jsonl", max_answers=3)
    assert planned["calls"]["proposer"]["most"] >= 3
    about = served.call("tasks", task="labels")
    assert "labels" in [row["task"] for row in about["tasks"]] and about["help"]["commands"]


def test_resources_list_sessions_and_give_one_with_its_report(served: Any) -> None:
    session = served.call(
        "run", task="examples", data="pairs.jsonl", max_answers=1, settings=QUICK
    )["session"]

    async def read(client: Any) -> list[str]:
        addresses = (
            "peirce://sessions",
            f"peirce://sessions/{session}",
            "peirce://sessions/last/report",
        )
        return [(await client.read_resource(one)).contents[0].text for one in addresses]

    listed, one, page = served.drive(read)
    assert [row["session"] for row in json.loads(listed)] == [session]
    assert json.loads(one)["total_findings"] == len(json.loads(one)["findings"])
    assert page.startswith("<!doctype html>") and session in page

    async def read_missing(client: Any) -> str:
        try:
            await client.read_resource("peirce://sessions/none")
        except Exception as error:
            return str(error)
        return ""

    assert "no session 'none'" in served.drive(read_missing)


def test_warnings_follow_the_answer(served: Any, monkeypatch: Any) -> None:
    from peirce.adapters.mcp_server import serving

    monkeypatch.chdir(served.root)
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    monkeypatch.setattr("warnings.showwarning", lambda *rest, **more: None)
    serving.prepare_process(served.settings)
    rows = [
        {"text": "good", "extra": [1], "label": "a"},
        {"text": "bad", "extra": [2], "label": "b"},
    ]
    answer = served.drive(
        lambda client: client.call_tool(
            "judge", {"sentence": "If the text contains 'good', it is a; otherwise b", "rows": rows}
        )
    )
    assert not answer.is_error and "'extra'" in answer.content[1].text
    assert [block.text.partition(":")[0] for block in answer.content[1:]] == ["warning"]
