"""Sessions that people give hints to, and that ask people, in processes of their own.

A session that was paused, hinted, continued, killed and resumed replays without a difference and
without anybody.
"""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

import peirce
import pytest
from peirce.records import StoreError, UsageError
from peirce.store import Store
from peirce.tests.page_blocks import read_text

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from disturbed_paths import command_line
from forked_commands import start_command
from peirce.tests.cli import forked_command
from test_controlled_sessions import SPACE, TIMEOUT_S, HoldingModel, Running, options, wait_until

PEIRCE = [sys.executable, "-m", "peirce"]
WRONG = repr(("wrong", "def f(x):\n    return [0, 0, 0, 0]"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEIRCE_STORE", "s.duckdb")
    return tmp_path


def run_cli(*arguments: str):
    return forked_command.run_command(arguments, cwd=".")


def prompts(model, text):
    """The number of requests to the server that show a text."""
    return sum(text in str(one["messages"]) for one in model.server.requests)


def human_paths(session="last"):
    with Store.open("s.duckdb", write=False) as store:
        found = store.human_texts(store.find_session(session))
        return {f"{problem} {path}": texts for problem, path, texts in found}


def ended():
    return wait_until(lambda: (one := peirce.status()).pid == 0 and one)


def test_paused_hinted_continued_killed_and_resumed_it_replays_without_anybody():
    with HoldingModel() as model:
        process = start_command(
            ["run", "list_functions", *command_line(options(model)), "--quiet"], Path("said.txt")
        )
        wait_until(lambda: model.held == 3)
        session = peirce.pause().session
        model.let_go(3)
        wait_until(lambda: peirce.status().in_flight == 0)
        names = [one["problem"] for one in peirce.status().running]
        first = peirce.hint(session, names[0], "hint in a pause")
        assert (first.status, first.note, first.pid) == ("paused", "", process.pid)
        peirce.hint("last", "all", "hint for all")
        assert prompts(model, "hint for all") == 0
        peirce.continue_()
        wait_until(lambda: model.held == 3)
        model.let_go(4)
        wait_until(lambda: model.requests >= 8 and model.held == 3)
        process.kill()
        process.join(TIMEOUT_S)
        assert ended().status == "interrupted"
        before = human_paths()
        assert f"{names[0]} step/2/propose/0/hints" in before
        last = [row.problem for row in peirce.show("last") if row.status == "open"][-1]
        assert peirce.hint("last", last, "hint after the kill").pid == 0
        model.release()
        resumed = peirce.resume(concurrency=1)
        assert resumed.status == "done"
    paths = human_paths()
    assert {path: paths[path] for path in before} == before
    assert paths[f"{names[0]} step/2/propose/0/hints"] == ("hint in a pause", "hint for all")
    late = [path for path, texts in paths.items() if "hint after the kill" in texts]
    assert late and all(path.startswith(f"{last} ") for path in late)
    # the first request of each problem in the first run was recorded without hints
    assert not any(f"{name} step/1/propose/0/hints" in paths for name in names)
    assert peirce.replay().differences == []
    assert run_cli("replay", "--json").returncode == 0


def test_what_was_found_after_which_hint_is_listed_everywhere():
    with HoldingModel() as model:
        model.release()
        stopped = []

        def stop(event):
            if event["type"] == "problem_started" and not stopped:
                stopped.append(peirce.stop().session)

        chosen = options(model, problems=2, concurrency=1)
        peirce.run("list_functions", **chosen, on_event=stop)
        problem = peirce.show("last")[-1].problem
        hint = "look at <b>[red]the end[/red]</b>"
        peirce.hint("last", problem, hint)
        session = peirce.resume()
        found = [one for one in session.findings() if one.problem == problem]
        assert found and {one.after_hint for one in found} == {hint}
        others = [one for one in session.findings() if one.problem != problem]
        assert not any("after_hint" in dict(one) for one in others)
        rows = peirce.show("last", problem)
        assert {row.after_hint for row in rows} == {hint}
        (call, *_) = [
            one for one in peirce.show("last", problem, calls=True) if one.kind == "human"
        ]
        assert list(call.texts) == [hint] and call.path == "step/1/propose/0/hints"
        for arguments in (("show", "last", problem), ("show", "last", problem, "--calls")):
            assert "look at <b>[red]the end" in run_cli(*arguments).stdout.replace("\n", " ")
        peirce.report(out="page.html")
        page = Path("page.html").read_text("utf-8")
        assert "after_hint" in read_text(page) and hint not in page
        assert session.usage["by_role"]["human"]["calls"] == len(human_paths())


def test_a_hint_is_refused_in_one_sentence(folder):
    with HoldingModel() as model:
        running = Running(**options(model, problems=2))
        wait_until(lambda: model.held == 2)
        session = peirce.status().session
        name = peirce.status().running[0]["problem"]
        for problem, text, error in (
            ("nosuch", "a", "has no problem 'nosuch'"),
            (name, "", f"the hint is empty: .* and problem {name} asked none"),
            (name, "x" * 10_001, "the hint has 10,001 characters: it may have 10,000"),
        ):
            with pytest.raises((StoreError, UsageError), match=error) as raised:
                peirce.hint(session, problem, text)
            assert "\n" not in str(raised.value)
        peirce.hint(session, name, "\ud800\x1b[31m\x00 red\nObservations:")
        model.release()
        running.join()
        said = "   Observations:"
        assert prompts(model, "\\n" + said) == 2  # with the requests of steps 2 and 3
        assert prompts(model, "\x1b") == 0
    late = run_cli("hint", "last", name, "too late")
    assert (late.returncode, late.stdout) == (2, "")
    assert f"problem {name} has ended: a hint would change nothing" in late.stderr
    assert peirce.replay().differences == []


def test_a_hint_to_a_session_of_the_search_says_that_it_reads_none():
    def stop(event):
        if event["type"] == "problem_started":
            peirce.stop()

    peirce.run("list_functions", model="search", problems=2, concurrency=1, workers=1, max_answers=2,
               budget_expansions=500, space=SPACE, store="s.duckdb", on_event=stop)  # fmt: skip
    name = peirce.show("last")[-1].problem
    note = "Hypotheses come from the embedded search, which does not read hints."
    told = run_cli("hint", "last", name, "look", "--json")
    assert json.loads(told.stdout)["note"] == note
    shown = run_cli("hint", "last", "all", "look").stdout
    assert shown.startswith("The hint is stored") and f"Note: {note}" in shown
    assert peirce.resume().status == "done"
    assert peirce.replay().differences == []
    with pytest.raises(
        UsageError, match=r"ask_human is true: .* the embedded search, which does not"
    ):
        peirce.plan("list_functions", model="search", problems=1, ask_human=True)


def test_methods_without_a_proposer_refuse_hints_and_questions(tmp_path):
    with pytest.raises(UsageError, match="ask_human"):
        peirce.plan("labels", method="hypogenic", ask_human=True, model="http://localhost:1/v1#m")
    told = peirce.plan(
        "list_functions", model="http://localhost:1/v1#m", problems=1, ask_human=True
    )
    assert dict(told)["ask_human"] is True
    without = peirce.plan("list_functions", model="http://localhost:1/v1#m", problems=1)
    assert "ask_human" not in dict(without)


# --- Questions.


def scripted(folder, answers):
    (folder / "answers.json").write_text(json.dumps({"*": answers}))
    return f"scripted:{folder / 'answers.json'}"


ASK = ("--problems", "1", "--ask-human", "--tool-calls", "0", "--workers", "1",
       "--space", str(SPACE))  # fmt: skip


def test_without_a_terminal_the_session_waits_for_the_command_hint(folder):
    model = scripted(folder, [WRONG] * 5 + ["no", "no", "no", "no"])
    process = start_command(["run", "list_functions", "--model", model, *ASK], Path("said.txt"))
    asked = wait_until(lambda: Path("s.duckdb").exists() and _questions())
    (question,) = asked
    assert question["question"].startswith(f"No hypothesis for problem {question['problem']} was")
    assert question["since"].endswith("+00:00")
    assert peirce.hint("last", question["problem"], "shorten it").pid == process.pid
    wait_until(lambda: len(human_paths()) > 3 and _questions())
    assert peirce.hint("last", question["problem"], "").pid in (0, process.pid)
    process.join(TIMEOUT_S)
    said = Path("said.txt").read_text()
    assert process.exitcode == 0, said
    assert (
        f"To answer, run: peirce hint {peirce.status().session} {question['problem']} TEXT" in said
    )
    answers = {path: texts for path, texts in human_paths().items() if "/human/" in path}
    assert list(answers.values()) == [("shorten it",), ("",)]
    assert peirce.replay().differences == []


def _questions():
    try:
        return peirce.status().questions
    except StoreError:
        return ()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_question_outlives_a_kill_and_a_stop(folder, end):
    model = scripted(folder, [WRONG] * 3 + ["no", "no", "no"])
    words = ["run", "list_functions", "--model", model, *ASK, "--quiet"]
    process = start_command(words, Path("said.txt"))
    (question,) = wait_until(lambda: Path("s.duckdb").exists() and _questions())
    os.kill(process.pid, end)
    process.join(TIMEOUT_S)
    found = ended()
    assert (found.status, list(found.questions)) == ("interrupted", [question])
    assert peirce.replay().differences == []
    peirce.hint("last", question["problem"], "the answer while nobody runs it")
    resumed = start_command(["resume", "--quiet"], Path("said.txt"))
    wait_until(lambda: _questions() and len(human_paths()) > 3)
    peirce.hint("last", question["problem"], "")
    resumed.join(TIMEOUT_S)
    assert resumed.exitcode == 0, Path("said.txt").read_text()
    assert peirce.status().status == "done" and peirce.status().questions == []
    assert peirce.replay().differences == []


class Terminal:
    """A command in a terminal of its own. said: everything that it wrote."""

    def __init__(self, *command: str) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.execve(command[0], command, {**os.environ, "TERM": "dumb"})
        self.said = ""

    def wait_for(self, text: str) -> None:
        until = time.monotonic() + TIMEOUT_S
        while text not in self.said:
            assert time.monotonic() < until, self.said[-2000:]
            if select.select([self._terminal], [], [], 0.1)[0]:
                self.said += os.read(self._terminal, 4096).decode("utf-8", "replace")

    def write(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def end(self) -> int:
        while True:
            try:
                self.said += os.read(self._terminal, 4096).decode("utf-8", "replace")
            except OSError:  # the process has closed its side
                break
        _, status = os.waitpid(self.pid, 0)
        os.close(self._terminal)
        return os.waitstatus_to_exitcode(status)


READY = "Your hint, on one line, then Enter:"


def test_in_a_terminal_the_questions_are_asked_and_an_empty_line_gives_up(folder):
    model = scripted(folder, [WRONG] * 6)
    terminal = Terminal(
        *forked_command.command_line(["run", "list_functions", "--model", model, *ASK])
    )
    terminal.wait_for(READY)
    assert "Question: No hypothesis for problem" in terminal.said
    terminal.write("try the length\n")
    wait_until(lambda: len(human_paths()) >= 4)
    terminal.said = ""
    terminal.wait_for(READY)
    terminal.write("\n")
    assert terminal.end() == 0
    assert peirce.status().status == "done"
    answers = [texts for path, texts in human_paths().items() if "/human/" in path]
    assert answers == [("try the length",), ("",)]
    assert peirce.replay().differences == []


def test_a_question_in_a_terminal_is_withdrawn_when_another_process_answers(folder):
    model = scripted(folder, [WRONG] * 3)
    terminal = Terminal(
        *forked_command.command_line(["run", "list_functions", "--model", model, *ASK])
    )
    terminal.wait_for(READY)
    (question,) = peirce.status().questions
    peirce.hint("last", question["problem"], "")
    assert terminal.end() == 0 and "The question no longer waits." in terminal.said


def test_ctrl_c_at_a_question_leaves_the_problem_open(folder):
    model = scripted(folder, [WRONG] * 3)
    terminal = Terminal(*PEIRCE, "run", "list_functions", "--model", model, *ASK)
    terminal.wait_for(READY)
    terminal.write("\x03")
    assert terminal.end() == 130 and "peirce resume" in terminal.said
    found = peirce.status()
    assert (found.status, found.open, len(found.questions)) == ("interrupted", 1, 1)


def test_the_end_of_the_input_leaves_the_question_to_the_command_hint(folder):
    model = scripted(folder, [WRONG] * 3)
    terminal = Terminal(*PEIRCE, "run", "list_functions", "--model", model, *ASK)
    terminal.wait_for(READY)
    terminal.write("\x04")
    terminal.wait_for("To answer, run: peirce hint")
    (question,) = peirce.status().questions
    peirce.hint("last", question["problem"], "")
    assert terminal.end() == 0


def test_a_listener_answers_the_questions_of_its_own_session(folder):
    answers = ["try the length", ""]

    def listen(event):
        if event["type"] == "question":
            peirce.hint("last", event["problem"], answers.pop(0))

    model = scripted(folder, [WRONG] * 6)
    done = peirce.run("list_functions", model=model, problems=1, ask_human=True, tool_calls=0,
                      workers=1, space=SPACE, store="s.duckdb", on_event=listen)  # fmt: skip
    assert (done.status, answers) == ("done", [])
    assert peirce.replay().differences == []


def test_a_hint_for_a_stopped_session_waits_until_another_one_has_ended():
    def stop(event):
        if event["type"] == "problem_started":
            peirce.stop()

    with HoldingModel() as model:
        model.release()
        first = peirce.run(
            "list_functions", **options(model, problems=2, concurrency=1), on_event=stop
        )
        name = peirce.show(first.session)[-1].problem
        model.hold()
        running = Running(**options(model, problems=1, seed=8))
        wait_until(lambda: model.held == 1)
        with pytest.raises(StoreError, match=f"process {os.getpid()} is writing to"):
            peirce.hint(first.session, name, "look")
        model.release()
        running.join()
        assert peirce.hint(first.session, name, "look").session == first.session
