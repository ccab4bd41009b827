"""`peirce view` of a session that another process runs: the page follows it until it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import peirce
from peirce.records import StoreError
from peirce.tests.cli.forked_command import command_line
from test_server import Client

HERE = Path(__file__).parent
# The page asks for news every two seconds, and more rarely where none come; here a hundred times as often.
HURRY = "setTimeout = ((wait) => (act, ms) => wait(act, ms / 100))(setTimeout);"


@contextmanager
def running(folder):
    """A session of two problems under way, its viewer, and the folder whose files let it on."""
    pairs = [
        {"problem": name, "input": given, "output": given[1:], "split": split}
        for name in ("one", "two")
        for given, split in (([3, 1, 2], "shown"), ([5, 6], "shown"), ([9, 9, 9], "hidden"))
    ]
    data, store = folder / "pairs.jsonl", folder / "s.duckdb"
    data.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    runner = subprocess.Popen(
        command_line([str(HERE / "waiting_run.py"), str(data), str(store), str(folder)], "python"),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                viewer = peirce.view(store=store)
                break
            except StoreError:
                assert time.monotonic() < deadline and runner.poll() is None
                time.sleep(0.1)
        thread = threading.Thread(target=viewer.serve, daemon=True)
        thread.start()
        try:
            yield viewer, runner, lambda number: (folder / str(number)).touch()
        finally:
            viewer.close()
            thread.join(10)
    finally:
        runner.kill()
        runner.wait(30)


def until(ask, wanted, seconds=60):
    deadline = time.monotonic() + seconds
    while (found := ask()) != wanted:
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


def test_numbers_grow_over_http_until_the_session_ends(tmp_path):
    with running(tmp_path) as (viewer, runner, let):
        client = Client(viewer)

        def steps():
            (session,) = client.json("/overview")["sessions"]
            return session["status"], sum(one["steps"] for one in session["problems"])

        assert steps() == ("running", 0)
        (session,) = client.json("/overview")["sessions"]
        let(1)
        until(steps, ("running", 1))
        told = client.json(f"/problem?session={session['session']}&place=0")
        assert [one["description"] for one in told["hypotheses"]] == ["answer 1"]
        for number in range(2, 7):
            let(number)
        assert runner.wait(60) == 0
        until(steps, ("done", 6))
        assert client.json(f"/search?session={session['session']}&words=answer+3") == ["one", "two"]


def test_the_page_follows_and_keeps_what_a_reader_has_open(tmp_path, request):
    with running(tmp_path) as (viewer, runner, let):
        page = request.getfixturevalue("tab")()
        page.page.add_init_script(HURRY)
        page.page.goto(viewer.url)
        page.page.wait_for_selector("text=Running: 0 of 2 problems")
        assert page.page.url == f"http://127.0.0.1:{viewer.port}/"
        page.page.click("#problems tbody a >> nth=0")
        page.page.wait_for_selector(".problem h3")
        let(1)
        page.page.wait_for_selector("#h1 >> text=answer 1")
        assert page.all(".reading.best")[0] == "1. answer 1"
        page.page.click("#h1 summary")
        page.page.wait_for_selector("#h1 pre")
        page.page.fill("#search", "answer")
        let(2)
        page.page.wait_for_selector("#h2")
        assert page.page.query_selector("#h1 details").evaluate("one => one.open")
        assert not page.page.query_selector("#h2 details").evaluate("one => one.open")
        assert page.page.input_value("#search") == "answer"
        assert page.page.evaluate("() => document.activeElement.id") == "search"
        for number in range(3, 7):
            let(number)
        page.page.wait_for_selector("text=The session has ended. This page is up to date.")
        assert runner.wait(60) == 0
        assert page.all(".list tbody tr td:nth-of-type(2)") == ["3", "3"]
        assert page.page.text_content(".status") == "done"
        assert page.count(".hypotheses > li") == 3
        assert page.said == []
        assert {url.split("?")[0] for url in page.requests} <= {
            f"http://127.0.0.1:{viewer.port}/{name}"
            for name in ("", "overview", "problem", "search")
        }
        viewer.close()
        page.page.wait_for_selector("text=The server does not respond. This page shows")
        page.page.fill("#search", "one")
        page.page.wait_for_selector(".scroll.list:not([aria-busy])")
        page.page.click("#problems tbody a >> nth=1")
        page.page.wait_for_selector(".opened >> text=The server does not respond.")
        assert len(page.listed()) == 2  # the last list stays
        assert all("Failed to load resource" in said for said in page.said), page.said


def test_an_answer_that_comes_late_does_not_stop_the_page(tmp_path, request):
    """Searches and openings that are overtaken by others, or by news of the session."""
    with running(tmp_path) as (viewer, _runner, let):
        page = request.getfixturevalue("tab")()

        def late(route):
            time.sleep(0.7)
            route.continue_()

        page.page.route("**/search?*", late)
        page.page.route("**/problem?*", late)
        page.page.goto(viewer.url)
        page.page.wait_for_selector("text=Running: 0 of 2 problems")
        page.page.fill("#search", "answer")
        page.page.click("#problems tbody a >> nth=0")
        for number in range(1, 7):
            let(number)
        page.page.click("#problems tbody a >> nth=1")
        page.page.wait_for_selector("text=The session has ended. This page is up to date.")
        assert page.all(".list tbody tr td:nth-of-type(2)") == ["3", "3"]
        page.page.wait_for_selector(".hypotheses > li >> nth=2")
        assert page.page.text_content(".problem h3") == "two"
        assert page.said == []


def test_the_command_line_prints_an_address_and_ends_at_ctrl_c(tmp_path):
    with running(tmp_path):
        told = subprocess.Popen(
            [sys.executable, "-m", "peirce", "view", "--store", str(tmp_path / "s.duckdb"), "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            address = json.loads(told.stdout.readline())
            assert address["url"].startswith(f"http://127.0.0.1:{address['port']}/#token=")
            told.send_signal(2)
            out, err = told.communicate(timeout=60)
            assert (told.returncode, out, err) == (0, "", "")
        finally:
            told.kill()
