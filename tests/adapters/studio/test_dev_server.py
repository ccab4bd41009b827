"""`langgraph dev` serves every method over HTTP: its description, its drawing, its input, its run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer
from dev_server import ROOT, DevServer, new_thread, run_by_command_line, stream
from peirce import graphs

LISTED = json.loads((ROOT / "langgraph.json").read_text("utf-8"))["graphs"]
TAIL = repr(("the tail and 77", "def f(x):\n    return x[1:] + [77]"))


def test_langgraph_json_lists_every_method_under_its_description() -> None:
    described = {name: one.about for name, one in graphs.all_methods().items()}
    listed = {name: one["description"] for name, one in LISTED.items()}
    assert listed == {name: f"{text[:1].upper()}{text[1:]}." for name, text in described.items()}


@pytest.fixture(scope="module")
def assistants(server: DevServer) -> dict[str, str]:
    from langgraph_sdk import get_sync_client

    found = get_sync_client(url=server.url).assistants.search(limit=100)
    return {one["graph_id"]: one["assistant_id"] for one in found}


def test_the_server_serves_every_method(assistants: dict[str, str]) -> None:
    assert set(assistants) == set(graphs.all_methods())


@pytest.mark.parametrize("name", sorted(LISTED))
def test_the_drawing_shows_the_graph_of_the_method(
    server: DevServer, assistants: dict[str, str], name: str
) -> None:
    drawn = server.get(f"/assistants/{assistants[name]}/graph?xray=true")
    own = set(graphs.get_method(name).graph.nodes) - {"__start__"}
    assert {f"work:{node}" for node in own} <= {node["id"] for node in drawn["nodes"]}


def test_the_schema_of_the_input_describes_the_settings_of_the_method(
    server: DevServer, assistants: dict[str, str]
) -> None:
    schemas = server.get(f"/assistants/{assistants['refine']}/schemas")
    fields = schemas["input_schema"]["properties"]
    assert {"task", "data", "problem", "problems", "model", "seed", "settings"} == set(fields)
    assert all(one["description"] for one in fields.values())
    settings = fields["settings"]["properties"]
    assert settings["target_gap"]["description"] and settings["max_answers"]["default"] == 8
    assert "store" not in settings
    other = server.get(f"/assistants/{assistants['abduce']}/schemas")["input_schema"]
    assert "target_gap" not in other["properties"]["settings"]["properties"]
    assert set(schemas["context_schema"]["properties"]) == {"model", "settings"}


def test_a_run_over_http_streams_events_and_has_the_digest_of_the_command_line(
    client: Any, pairs: str, tmp_path: Path
) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"one": [TAIL], "*": ["no idea", TAIL]}))
    values = {
        "task": "examples", "data": pairs, "model": f"scripted:{script}",
        "settings": {"workers": 1, "max_answers": 3},
    }  # fmt: skip
    events, last = stream(client, new_thread(client), "refine", values)
    types = [one["type"] for one in events]
    assert types[0] == "session" and types[-1] == "ended"
    assert types.count("problem_started") == types.count("problem_ended") == 3
    assert (events[0]["task"], events[0]["method"]) == ("examples", "refine")
    assert "settings" not in events[0]

    of_command_line = run_by_command_line(
        tmp_path, "examples", "--data", pairs, "--method", "refine", "--model",
        f"scripted:{script}", "--max-answers", "3", "--workers", "1",
    )  # fmt: skip
    assert last["digest"] == of_command_line["digest"]
    assert (last["status"], last["error"]) == ("done", "")
    assert [one["hypothesis"] for one in last["findings"]] == [
        one["hypothesis"] for one in of_command_line["findings"]
    ]
    assert len(last["findings"]) == 3
    assert last["outcome"]["verdicts"] == of_command_line["verdicts"]


def test_an_assistant_fixes_a_model_that_the_input_may_replace(
    client: Any, pairs: str, tmp_path: Path
) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"*": [TAIL]}))
    context = {"model": f"scripted:{script}", "settings": {"workers": 1}}
    assistant = client.assistants.create("io", context=context)["assistant_id"]
    values = {"task": "examples", "data": pairs, "problem": ["two"]}
    _, last = stream(client, new_thread(client), assistant, values)
    assert last["outcome"]["model"].startswith("scripted") and len(last["findings"]) == 1
    replaced = {**values, "model": "scripted:absent.json"}
    _, last = stream(client, new_thread(client), assistant, replaced)
    assert last["status"] == "error" and "absent.json" in last["error"]


WRONG = [
    ({}, "task is missing"),
    ({"task": "list_functons"}, "did you mean list_functions?"),
    ({"task": "examples", "settings": {"max_answer": 3}}, "did you mean max_answers?"),
    ({"task": "examples", "settings": {"store": "a.duckdb"}}, "store cannot be set here"),
    ({"task": "examples", "settings": {"method": "io"}}, "this graph runs the method refine"),
    ({"task": "examples", "settings": [1]}, "it must be an object"),
    ({"task": "list_functions", "problems": "three"}, "problems is 'three'"),
    ({"task": "examples", "data": "/absent/file"}, "/absent/file: there is no such file"),
]


@pytest.mark.parametrize(("values", "sentence"), WRONG, ids=[one[1] for one in WRONG])
def test_a_wrong_input_ends_in_one_sentence(
    server: DevServer, client: Any, values: dict[str, Any], sentence: str
) -> None:
    events, last = stream(client, new_thread(client), "refine", values)
    assert events[-1] == {"type": "error", "text": last["error"]}
    assert last["status"] == "error" and sentence in last["error"] and "\n" not in last["error"]
    assert last["findings"] == [] and last["session"] == ""
    assert "Traceback" not in server.log.read_text("utf-8")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "https://smith.langchain.com"}, 200),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "https://example.com"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://smith.langchain.com.example.com"}, 403),
        ({"Host": "example.com"}, 403),
    ],
    ids=str,
)
def test_pages_of_other_sites_are_refused(
    server: DevServer, headers: dict[str, str], status: int
) -> None:
    assert server.status_of_post(headers) == status


def test_a_session_that_fails_is_tried_again_by_the_next_run(
    client: Any, pairs: str, tmp_path: Path
) -> None:
    with ChatServer([lambda request: answer_500()]) as broken:
        url = f"{broken.url}#m"
    values = {
        "task": "examples", "data": pairs, "model": url, "problem": ["one"],
        "settings": {"workers": 1, "max_answers": 1, "retries": 0},
    }  # fmt: skip
    thread = new_thread(client)
    _, failed = stream(client, thread, "refine", values)
    assert failed["status"] == "failed" and "one" in failed["outcome"]["failed"]
    port = int(url.split(":")[2].partition("/")[0])
    with ChatServer([lambda request: answer_tail()], port=port):
        _, done = stream(client, thread, "refine", values)
    assert (done["status"], done["session"]) == ("done", failed["session"])
    assert len(done["findings"]) == 1


def answer_500() -> Any:
    from chat_server import Answer

    return Answer(b"{}", 500)


def answer_tail() -> Any:
    from chat_server import completion

    return completion({"content": TAIL})
