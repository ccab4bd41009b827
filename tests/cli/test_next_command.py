"""Checks that the command which `peirce run` prints as `next` is the right one for every way in which a
session ends. Each is read from the screen of a real run, then run as it stands there."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import signal

import pytest
from faulty_server import FaultyServer
from scripted_run import TAIL

RUN = ["run", "list_functions", "--problems", "4", "--max-answers", "2", "--workers", "1",
       "--concurrency", "1", "--quiet", "--retries", "0"]  # fmt: skip


def next_of(out: str) -> str:
    """What stands behind `next` on the screen."""
    return re.search(r"^next +(.+)$", out, re.M)[1]


def arguments_of(said: str) -> list[str]:
    """The arguments of the `peirce` command that a line ends with."""
    return shlex.split(said[said.index("peirce ") :])[1:]


def interrupting(request_number, content):
    """A model that says `content`, and is asked this question when Ctrl-C is pressed."""
    asked = itertools.count(1)  # requests come in several threads

    def answer(request):
        if next(asked) == request_number:
            os.kill(os.getpid(), signal.SIGINT)
        return {"content": content}

    return answer


def test_a_session_that_is_complete_is_shown_next(peirce):
    with FaultyServer(model=lambda request: {"content": TAIL}) as server:
        code, out, err = peirce(*RUN, "--model", f"{server.url}#m")
    assert (code, err) == (0, "") and re.fullmatch(r"peirce report \w+", next_of(out))
    assert peirce(*arguments_of(next_of(out)))[0] == 0


def test_problems_that_failed_when_the_server_died_are_tried_again(peirce):
    def answer(request):
        server._server.should_exit = server.requests >= 3  # the first problem has its answers
        return {"content": TAIL}

    with FaultyServer(model=answer) as server:
        model = ["--model", f"{server.url}#m"]
        code, out, _ = peirce(*RUN, *model)
        port = server.port
    assert code == 0 and re.search(r"of which \d failed", out), out
    said = next_of(out)
    assert re.fullmatch(r"peirce resume \w+ --retry-failed", said)
    with FaultyServer(model=lambda request: {"content": TAIL}, port=port) as server:
        code, out, err = peirce(*arguments_of(said), "--quiet")
        assert server.requests and code == 0 and "failed    nothing" in out, out + err
    assert next_of(out).startswith("peirce report")


def test_where_one_cause_made_every_problem_fail_it_is_to_be_solved_first(peirce):
    with FaultyServer() as server:
        model, port = ["--model", f"{server.url}#m"], server.port
    code, out, err = peirce(*RUN, *model)
    assert code == 1 and "all 4 problems failed" in err
    assert "──" not in out  # No table, because no problem has a score.
    said = next_of(out)
    assert re.fullmatch(
        r"solve the problem in the line \"failed\" above, then run: peirce resume \w+"
        r" --retry-failed",
        said,
    )
    assert "the connection failed" in re.search(r"^failed +(.+)$", out, re.M)[1]
    with FaultyServer(model=lambda request: {"content": TAIL}, port=port):
        code, out, _ = peirce(*arguments_of(said), "--quiet")
    assert code == 0 and next_of(out).startswith("peirce report")


def test_a_failed_session_that_is_resumed_without_its_failed_problems_still_says_how_to_retry(
    peirce,
):
    """Nothing failed in the process that resumes it: only the store knows."""
    with FaultyServer(status=500) as server:
        _, out, _ = peirce(*RUN, "--model", f"{server.url}#m")
        said = arguments_of(next_of(out))
        _, out, err = peirce("resume", "last", "--quiet")
        assert arguments_of(next_of(out)) == said and said[-1] == "--retry-failed"
        assert shlex.split(re.search(r"^To continue, run: peirce (.+)$", err, re.M)[1]) == said


def test_the_json_of_a_failed_session_has_its_errors_and_the_next_command(peirce):
    with FaultyServer(status=500) as server:
        code, out, _ = peirce(*RUN, "--model", f"{server.url}#m", "--json")
    session = json.loads(out)
    assert code == 1 and session["status"] == "failed"
    assert session["next"] == f"peirce resume {session['session']} --retry-failed"
    assert len(session["failed"]) == 4 and all("500" in one for one in session["failed"].values())


def test_after_as_many_failures_as_allowed_the_failed_and_the_open_problems_are_run(peirce):
    with FaultyServer(status=500) as server:
        model, port = ["--model", f"{server.url}#m"], server.port
        code, out, _ = peirce(*RUN, *model, "--max-failures", "2")
    assert code == 1 and "--retry-failed" in next_of(out)
    with FaultyServer(model=lambda request: {"content": TAIL}, port=port):
        code, out, _ = peirce(*arguments_of(next_of(out)), "--quiet")
    assert code == 0 and "done, 4 problems\n" in out


@pytest.mark.parametrize(
    ("budget", "larger"),
    [
        (["--budget-tokens", "40"], r"--budget-tokens 80"),
        (
            ["--budget-usd", "0.00004", "--price-in", "1", "--price-out", "1"],
            r"--budget-usd 8e-05",
        ),
    ],
)
def test_a_spent_budget_is_raised_by_the_command(peirce, budget, larger):
    """An answer takes 18 tokens."""
    with FaultyServer(model=lambda request: {"content": TAIL}) as server:
        code, out, err = peirce(*RUN, "--model", f"{server.url}#m", *budget)
        said = next_of(out)
        assert code == 3 and re.fullmatch(rf"peirce resume \w+ {larger}", said)
        assert f"To continue, run: {said}\n" in err and larger in err.splitlines()[-1]
        before = server.requests
        for _ in range(4):
            code, out, err = peirce(*arguments_of(next_of(out)), "--quiet")
            assert server.requests > before
            before = server.requests
            if code == 0:
                break
    assert code == 0 and next_of(out).startswith("peirce report"), out + err


def test_an_interrupted_session_is_resumed(peirce):
    with FaultyServer(model=interrupting(2, TAIL)) as server:
        code, out, err = peirce(*RUN, "--model", f"{server.url}#m")
        said = next_of(out)
        assert code == 130 and re.fullmatch(r"peirce resume \w+", said)
        assert f"To continue, run: {said}\n" in err
        code, out, _ = peirce(*arguments_of(said), "--quiet")
    assert code == 0 and next_of(out).startswith("peirce report")


def test_a_session_that_its_endpoint_refused_continues_once_that_is_solved(peirce):
    with FaultyServer(status=401) as server:
        port = server.port
        code, out, err = peirce(*RUN, "--model", f"{server.url}#m")
    said, error = err.splitlines()[-2:]
    assert (code, out) == (1, "") and "it wants a key" in error
    assert said.startswith("To continue once the problem below is solved, run: peirce resume ")
    with FaultyServer(model=lambda request: {"content": TAIL}, port=port):
        assert peirce(*arguments_of(said), "--quiet")[0] == 0


def test_an_interrupted_learning_curve_goes_on_with_the_same_command(folder, peirce):
    """The session that stops is one of several, so to resume it is not enough."""
    rows = [f"text {number},{'yes' if number % 2 else 'no'}" for number in range(500)]
    (folder / "rows.csv").write_text("\n".join(["text,verdict", *rows]) + "\n")
    said = 'If the text mentions "1", the label is "yes"; otherwise it is "no".'
    run = ["run", "labels", "--data", "rows.csv", "--label", "verdict", "--learning-curve",
           "--observations", "300", "--max-answers", "2", "--retries", "0"]  # fmt: skip
    with FaultyServer(model=interrupting(1, said)) as server:
        arguments = [*run, "--model", f"{server.url}#m"]
        code, out, err = peirce(*arguments)
        first = next_of(out)
        again = "run the same `peirce run` again: this is only the session of 200 rows of its"
        assert code == 130
        assert re.fullmatch(rf"peirce resume \w+; then {again} learning curve", first)
        assert "To continue, run the same command again: finished sessions of the learning" in err
        code, out, _ = peirce(*arguments_of(first.partition(";")[0]), "--quiet")
        assert code == 0 and next_of(out) == f"{again} learning curve"
        code, out, err = peirce(*arguments)
    assert code == 0 and next_of(out).startswith("peirce report"), out + err
    assert "Test accuracy by rows shown: 200 ." in out
    listed = json.loads(peirce("sessions", "--json")[1])
    assert len(listed) == 2 and first.split()[2].rstrip(";") in {one["session"] for one in listed}
