"""What the adapter makes of the input, of the folders of threads and of answers, without a server.

Internals: inputs and files that no client of a server can produce at will.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import peirce
import pytest
from dev_server import require_studio
from peirce import graphs

require_studio()

from peirce.adapters.studio.events import (  # noqa: E402
    WaitingProblems,
    describe_event,
)
from peirce.adapters.studio.origin_guard import is_allowed  # noqa: E402
from peirce.adapters.studio.outer_graph import build_graph, read_answers  # noqa: E402
from peirce.adapters.studio.schemas import (  # noqa: E402
    RESUMABLE,
    describe_settings,
    merge_request,
)
from peirce.adapters.studio.session_process import (  # noqa: E402
    decode_request,
    encode_request,
    run_in_process,
)
from peirce.adapters.studio.thread_folders import (  # noqa: E402
    ThreadFolder,
    open_thread_folder,
)
from peirce.adapters.studio.thread_session import SessionRequest  # noqa: E402


def test_the_core_imports_nothing_of_the_adapters() -> None:
    script = "import sys, peirce.cli, peirce; peirce.run; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    loaded = set(ended.stdout.split())
    assert "peirce.cli" in loaded
    assert not {one for one in loaded if one.split(".")[:2] == ["peirce", "adapters"]}
    assert not {one for one in loaded if one.startswith(("langgraph", "starlette"))}


def test_values_replace_those_of_the_context() -> None:
    context = {"model": "search", "settings": {"max_answers": 3, "budget_tokens": 9}}
    values = {"task": "abd", "model": None, "settings": {"max_answers": 4}, "problem": "gen0-0"}
    arguments, changeable = merge_request("refine", values, context)
    assert arguments == {
        "task": "abd", "model": "search", "max_answers": 4, "problem": ["gen0-0"],
        "method": "refine",
    }  # fmt: skip
    assert changeable == {"budget_tokens": 9}
    assert "budget_tokens" in RESUMABLE and "max_answers" not in RESUMABLE


@pytest.mark.parametrize("name", sorted(graphs.all_methods()))
def test_every_described_setting_is_one_that_run_takes(name: str) -> None:
    described = describe_settings(graphs.get_method(name))["properties"]
    assert {"budget_tokens", "concurrency", "temperature"} <= set(described)
    method = graphs.get_method(name)
    own = {option for option, _, _ in method.settings.iter_options()} - {"method"}
    assert own <= set(described)
    assert all(not {"flag", "metavar", "option"} & one.keys() for one in described.values())
    json.dumps(described)


def test_the_graph_has_no_checkpointer_of_its_own() -> None:
    for method in graphs.all_methods().values():
        assert build_graph(method).checkpointer is None and method.graph.checkpointer is None


def test_a_folder_knows_which_session_an_input_started(tmp_path: Path) -> None:
    folder = ThreadFolder(tmp_path)
    folder.store.touch()
    assert folder.find_session({"task": "abd"}) is None
    folder.record_session({"task": "abd", "seed": 1}, "first")
    folder.record_session({"task": "abd", "seed": 2}, "second")
    assert folder.find_session({"seed": 1, "task": "abd"}) == "first"
    assert folder.find_session({"seed": 2, "task": "abd"}) == "second"
    for damaged in ("", "[1]", '{"a": 1}', "{"):
        (tmp_path / "sessions.json").write_text(damaged)
        assert folder.find_session({"seed": 1, "task": "abd"}) is None
    folder.record_session({"task": "abd", "seed": 1}, "third")
    folder.store.unlink()
    assert folder.find_session({"task": "abd", "seed": 1}) is None  # its session is gone


@pytest.mark.parametrize("thread", ["", ".", "..", "../a", "a/b", "a\x00", "ä", "a" * 65, "a\n"])
def test_a_thread_has_no_folder_outside(thread: str, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("PEIRCE_THREADS", str(tmp_path))
    with pytest.raises(peirce.PeirceError, match="thread id"):
        open_thread_folder(thread)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_one_sentence(monkeypatch: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PEIRCE_THREADS", str(tmp_path / "file"))
    with pytest.raises(peirce.PeirceError, match="cannot be created: Not a directory"):
        open_thread_folder("a")


def test_a_request_crosses_to_the_process_unchanged(tmp_path: Path) -> None:
    arguments = {"task": "abd", "label": "a\nb \u2028 \ud800", "settings": None}
    request = SessionRequest(ThreadFolder(tmp_path), arguments, {"budget_usd": 0.5})
    line = encode_request(request)
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    assert decode_request(line) == request


def test_a_session_waits_when_all_its_started_problems_wait() -> None:
    waiting = WaitingProblems()
    for event in (
        {"type": "session", "session": "s", "open": 3},
        {"type": "problem_started", "problem": "a"},
        {"type": "problem_started", "problem": "b"},
        {"type": "question", "problem": "a", "path": "p", "question": "a?"},
    ):
        waiting.count(event)
        assert not waiting.are_all
    waiting.count({"type": "problem_ended", "problem": "b"})
    assert waiting.are_all and waiting.questions == {"a": "a?"} and waiting.session == "s"
    waiting.count({"type": "answered", "problem": "a", "path": "p", "text": ""})
    assert not waiting.are_all


def test_an_event_shows_few_settings() -> None:
    settings = {"task": "abd", "method": "io", "model": "m", "operational": {"store": "/home/a"}}
    event = {"type": "session", "session": "s", "settings": settings}
    shown = {"type": "session", "session": "s", "task": "abd", "method": "io", "model": "m"}
    assert describe_event(event) == shown
    assert "settings" in event  # others receive it too


ASKED = [{"problem": "a", "question": "a?"}, {"problem": "b", "question": "b?"}]


def test_answers_are_one_text_or_a_text_for_each_problem() -> None:
    assert read_answers("Try.", ASKED) == {"a": "Try.", "b": "Try."}
    assert read_answers({"b": "Try."}, ASKED) == {"a": "", "b": "Try."}


@pytest.mark.parametrize("answer", [None, 3, ["Try."], {"a": 3}, {"c": "Try."}, {3: "Try."}])
def test_other_answers_are_refused(answer: Any) -> None:
    with pytest.raises(peirce.PeirceError):
        read_answers(answer, ASKED)


def test_origins_may_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_allowed("127.0.0.1:2024", "https://studio.example.com")
    monkeypatch.setenv(
        "PEIRCE_STUDIO_ORIGINS", "https://a.example.com, https://studio.example.com/"
    )
    assert is_allowed("127.0.0.1:2024", "https://studio.example.com")
    assert not is_allowed("127.0.0.1:2024", "https://smith.langchain.com")
    assert is_allowed("[::1]:2024", None) and is_allowed("localhost", "http://[::1]:5173")
    assert not is_allowed("", None) and not is_allowed("[", None)


PLUGIN = """
from dataclasses import replace
from peirce.records import registry
METHOD = replace(registry.load("methods", "io"), name="ask-twice", about="a method of another package")
"""


def test_methods_of_other_packages_are_served(tmp_path: Path) -> None:
    (tmp_path / "twice.py").write_text(PLUGIN)
    info = tmp_path / "twice-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: twice\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[peirce.methods]\nask-twice = twice:METHOD\n")
    script = (
        f"import sys; sys.path.append({str(tmp_path)!r})\n"
        "from peirce.adapters.studio import served\n"
        "print(type(served.ask_twice).__name__, sorted(served.ask_twice.nodes))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.stdout.split() == [
        "CompiledStateGraph",
        "['__start__',",
        "'ask_human',",
        "'work']",
    ]


def request_of(folder: Path, pairs: str, **more: Any) -> SessionRequest:
    script = folder / "script.json"
    script.write_text(json.dumps({"*": ["no idea"]}))
    arguments = {"task": "examples", "data": pairs, "model": f"scripted:{script}", "method": "io"}
    return SessionRequest(ThreadFolder(folder), arguments | more, {"workers": 1})


def test_a_process_that_is_killed_is_one_sentence(tmp_path: Path, pairs: str) -> None:
    request = request_of(tmp_path, pairs)
    killed = []

    def kill(event: dict[str, Any]) -> None:
        [child] = [int(one) for one in children_of(os.getpid()) if is_session(int(one))]
        os.kill(child, signal.SIGKILL)
        killed.append(child)

    outcome = asyncio.run(run_in_process(request, lambda event: killed or kill(event)))
    assert outcome["status"] == "error" and "exit code -9" in outcome["error"]
    again = asyncio.run(run_in_process(request, lambda event: None))
    [row] = peirce.sessions(store=request.folder.store)
    assert (again["status"], again["session"]) == ("done", row.session)


def children_of(process: int) -> list[str]:
    paths = Path(f"/proc/{process}/task").glob("*/children")
    return [child for path in paths for child in path.read_text().split()]


def is_session(process: int) -> bool:
    return b"session_process" in Path(f"/proc/{process}/cmdline").read_bytes()


def test_what_is_printed_does_not_reach_the_server(
    tmp_path: Path, pairs: str, capfd: pytest.CaptureFixture[str]
) -> None:
    task = tmp_path / "loud.py"
    task.write_text("import os\nprint('printed')\nos.write(1, b'written')\n")
    request = request_of(tmp_path, pairs, task=str(task))
    outcome = asyncio.run(run_in_process(request, lambda event: None))
    assert outcome["status"] == "error" and "loud.py" in outcome["error"]
    said = capfd.readouterr()
    assert said.out == "" and "written" in said.err and "printed" in said.err


def test_a_run_that_is_cancelled_at_once_leaves_no_process(tmp_path: Path, pairs: str) -> None:
    async def cancel() -> None:
        request = request_of(tmp_path, pairs)
        task = asyncio.create_task(run_in_process(request, lambda event: None))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert not [child for child in children_of(os.getpid()) if is_session(int(child))]
