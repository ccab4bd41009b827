"""The live screen and the readable prints: what they show, and that text is shown, not obeyed.

Internals: the screen is drawn to a console and on a clock of the test's own.
"""

from __future__ import annotations

import io
import json
import re
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import peirce
import pytest
from peirce.reports import evaluations
from peirce.reports.page.document import SCRIPTS, read_part, render_page
from peirce.reports.screen import listings, summaries, text
from peirce.reports.screen.banner import banner
from peirce.reports.screen.progress import HEARTBEAT_THREAD, SessionProgress
from rich.console import Console

HOSTILE = "\x1b[2J\x1b]0;owned\x07[bold red]x[/] \u202egnp.exe\ud800 :smile:\r\n"
SETTINGS = {
    "method": "abduce", "task": "list_functions", "model": "search", "seed": 3, "max_answers": 25,
    "max_bad": 3, "limits": {"input_cpu_s": 1.0, "cpu_s": 20.0, "memory_mb": 512},
    "data": {"name": "list_function.jsonl", "sha256": "ab" * 32}, "observations": 4,
    "operational": {"store": "runs/a b.duckdb", "sandbox": "process", "model_options": {}},
}  # fmt: skip


def started(problems: int = 3, **more: Any) -> dict[str, Any]:
    layers = {"rlimits": True, "seccomp": False}
    event = {"type": "session", "session": "abcd", "settings": SETTINGS, "problems": problems}
    return event | {"open": problems, "layers": layers} | more


def call(problem: str, path: str, **more: Any) -> dict[str, Any]:
    usage = {"tokens_in": 100, "tokens_out": 10}
    base = {"type": "call", "problem": problem, "path": path, "kind": "model", "source": "made"}
    return base | {"usage": usage, "retries": 0, "seconds": 1.0} | more


@dataclass
class Stage:
    """A screen on a console in memory, under a clock that the test moves."""

    live: bool = False
    quiet: bool = False
    now: float = 0.0
    out: io.StringIO = field(default_factory=io.StringIO)

    def __post_init__(self) -> None:
        console = Console(
            file=self.out, force_terminal=self.live, width=100, markup=False, emoji=False,
            highlight=False,
        )  # fmt: skip
        self.screen = SessionProgress(
            quiet=self.quiet, out=console, live=self.live, clock=lambda: self.now
        )

    def tell(self, *events: dict[str, Any], after: float = 0.0) -> None:
        self.now += after
        for event in events:
            self.screen(event)

    @property
    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()

    def picture(self) -> str:
        console = Console(file=io.StringIO(), width=100, markup=False, emoji=False)
        console.print(self.screen._draw())
        return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_banner_says_in_under_ten_lines_what_will_run():
    lines = banner(started())
    text = "\n".join(lines)
    assert len(lines) < 10
    for said in ("search", "list_function.jsonl", "abababababab", "3 problems", "4 observations",
                 "25 answers", "1 of 2 layers are active; warning: NOT active here: seccomp", "runs/a b.duckdb", "9 to 75"):  # fmt: skip
        assert said in text, said


def test_plain_lines_say_how_far_it_is_and_how_long_it_will_take():
    stage = Stage()
    stage.tell(started())
    stage.tell({"type": "problem_started", "problem": "p1"})
    stage.tell({"type": "step", "problem": "p1", "step": 1, "verdicts": ["accepted"]}, after=2)
    assert stage.lines[-1] == "[0/3] 1 accepted; 0 in flight; 2.0 s"
    stage.tell(
        {"type": "problem_ended", "problem": "p1", "status": "done", "cause": "cap"}, after=8
    )
    assert stage.lines[-1] == (
        "[1/3] problem p1: 1 accepted; reached the limit of 25 answers; 10 s, about 20 s left"
    )


def test_where_nothing_happens_a_line_says_what_it_is_at_and_they_become_rarer():
    stage = Stage()
    stage.now = 12.0
    stage.screen._still()
    assert stage.lines == ["Opening the data, the model and the sandbox; 12 s"]
    stage.tell(started(1), {"type": "problem_started", "problem": "p1"})
    stage.tell({"type": "call_started", "problem": "p1", "path": "a"})
    before = len(stage.lines)
    for _ in range(3600):
        stage.now += 1
        stage.screen._still()
    still = stage.lines[before:]
    assert still[0] == "[0/1] no verdicts yet; 1 in flight; 10 s"
    assert 60 < len(still) < 120
    stage.tell({"type": "ended", "status": "done"}, after=70)
    stage.screen._still()
    assert stage.lines[-1].startswith("Scoring the hypotheses; 1:01:")


def test_a_quiet_screen_starts_no_clock_and_a_picture_brings_its_own():
    quiet = Stage(quiet=True)
    with quiet.screen:
        assert not any(thread.name == HEARTBEAT_THREAD for thread in threading.enumerate())
    live = Stage(live=True)
    live.tell(started(1), after=1)
    live.screen._picture.stop()
    before = len(live.lines)
    live.now += 100
    live.screen._still()
    assert len(live.lines) == before


def test_the_banner_names_the_protocol_and_what_differs_from_it():
    record = {"name": "abd", "changed": {"tool_calls": 4, "lenient": True}, "unused": ["temperature"],
              "advice": "score it so"}  # fmt: skip
    settings = {**SETTINGS, "operational": {**SETTINGS["operational"], "protocol": record}}
    said = "abd, with tool_calls=4, lenient=yes (not applicable here: temperature); score it so"
    assert f"protocol {said}" in banner(started(settings=settings))
    assert not any(line.startswith("protocol") for line in banner(started()))


def test_the_banner_says_where_a_model_is_asked():
    operational = {**SETTINGS["operational"], "model": "http://127.0.0.1:8000/v1#m"}
    settings = {**SETTINGS, "model": "m", "operational": operational}
    assert "model    m at http://127.0.0.1:8000/v1" in banner(started(settings=settings))
    assert "model    search" in banner(started())


def test_where_nothing_runs_as_code_no_sandbox_is_spoken_of():
    assert any(line.startswith("sandbox  not needed") for line in banner(started(layers={})))


def test_one_problem_is_no_problems_and_none_takes_no_calls():
    one, none = banner(started(1)), banner(started(1, open=0))
    assert any(line.startswith("data") and ": 1 problem," in line for line in one)
    assert "calls    none, because no problem is unfinished" in none


def test_plain_lines_are_few_but_the_last_and_each_new_failure_are_always_there():
    stage = Stage()
    stage.tell(started(100))
    before = len(stage.lines)
    for number in range(100):
        failed = number in (40, 41, 42)
        cause = "the endpoint is gone" if failed else "exhausted"
        stage.tell(
            {"type": "problem_ended", "problem": str(number), "cause": cause,
             "status": "failed" if failed else "done"}, after=0.01,
        )  # fmt: skip
    lines = stage.lines[before:]
    assert len(lines) <= 3 and lines[-1].startswith("[100/100]")
    assert sum("the endpoint is gone" in line for line in lines) == 1


def test_the_footer_counts_requests_in_flight_retries_cache_hits_and_tokens():
    stage = Stage()
    stage.tell(started(), {"type": "problem_started", "problem": "p"})
    for path in ("a", "b"):
        stage.tell({"type": "call_started", "problem": "p", "path": path})
    stage.tell(
        call("p", "a", retries=2),
        call("p", "c", source="journal"),
        call("p", "d", source="cache", usage={}),
    )
    told = stage.screen._footer()
    assert (
        told
        == "1 in flight, 2 retries, 1 from the journal, 1 from the cache, 200 input tokens, 20 output tokens"
    )
    stage.tell({"type": "problem_ended", "problem": "p", "status": "failed", "cause": "gone"})
    assert stage.screen._footer().startswith("0 in flight")


def test_a_request_that_is_made_again_says_why_until_its_answer_comes():
    stage = Stage()
    stage.tell(started(1), {"type": "problem_started", "problem": "p"})
    stage.tell({"type": "call_started", "problem": "p", "path": "a"})
    why = "the connection failed"
    stage.tell({"type": "asked_again", "problem": "p", "path": "a", "cause": why}, after=5)
    assert stage.lines[-1] == f"[0/1] no verdicts yet; 1 in flight, 1 retrying ({why}); 5.0 s"
    stage.tell(call("p", "a", retries=1))
    assert "retrying" not in stage.screen._footer()


def test_a_model_that_takes_no_tools_is_told_of_once():
    stage = Stage()
    stage.tell(started(3), *({"type": "no_tools", "problem": name} for name in "abc"))
    assert stage.out.getvalue().count("does not accept tools here") == 1


def test_the_live_picture_has_bar_verdicts_problems_and_footer():
    stage = Stage(live=True)
    with stage.screen:
        stage.tell(started(30, open=28))
        for number in range(12):
            stage.tell({"type": "problem_started", "problem": f"p{number}"})
        stage.tell(
            {"type": "step", "problem": "p1", "step": 1, "verdicts": ["accepted", "malformed"]}
        )
        text = stage.picture()
        stage.tell({"type": "ended", "status": "done"})
    assert "2/30 problems" in text and "accepted" in text and "50%" in text
    assert "p1 " in text and "and 2 more" in text and "in flight" in text


def test_an_unfinished_session_ends_with_the_command_to_go_on():
    stage = Stage(quiet=True)
    with stage.screen:
        stage.tell(started(), {"type": "stopping"}, {"type": "stopping"})
        stage.tell({"type": "ended", "status": "interrupted"})
    assert stage.lines == [
        "Finishing the steps in progress. Press Ctrl-C again to stop immediately.",
        "To continue, run: peirce resume abcd --store 'runs/a b.duckdb'",
    ]


def test_commands_from_another_process_are_shown():
    stage = Stage()
    with stage.screen:
        stage.tell(started())
        before = len(stage.lines)
        stage.tell(
            {"type": "paused"}, {"type": "adjusted", "concurrency": 2}, {"type": "continued"}
        )
        assert stage.lines[before:] == [
            "Paused: requests in flight are finished. To go on, run: peirce continue abcd --store"
            " 'runs/a b.duckdb'",
            "Changed: concurrency 2",
            "The session goes on.",
        ]
        stage.tell({"type": "ended", "status": "done"})


def test_quiet_says_nothing_about_a_session_that_ends_well():
    stage = Stage(quiet=True)
    with stage.screen:
        stage.tell(started(), call("p", "a"), {"type": "ended", "status": "done"})
    assert stage.lines == []


def test_an_event_that_the_screen_does_not_know_is_left_alone():
    Stage().tell({"type": "weather", "is": "fine"})


@pytest.mark.parametrize("live", [False, True])
def test_hostile_text_of_problems_and_causes_is_shown_and_not_obeyed(live):
    stage = Stage(live=live)
    with stage.screen:
        stage.tell(started(settings=SETTINGS | {"model": HOSTILE}))
        stage.tell({"type": "problem_started", "problem": HOSTILE})
        picture = stage.picture()
        stage.tell(
            {"type": "problem_ended", "problem": HOSTILE, "status": "failed", "cause": HOSTILE}
        )
    for said in (stage.out.getvalue(), picture):
        assert "\x1b[2J" not in said and "\x07" not in said and "\u202e" not in said
        said.encode("utf-8")
    assert "[bold red]x[/]" in stage.out.getvalue() and "\\x1b[2J" in stage.out.getvalue()


def test_why_problems_ended_is_said_once_with_how_many_they_are():
    row = {
        "problem": "p", "status": "done", "cause": "exhausted", "reason": "none is left [b]",
        "steps": 0, "shown": 1, "hidden": 0, "verdicts": {}, "breaches": {},
    }  # fmt: skip
    out = io.StringIO()
    console = Console(file=out, width=120, markup=False, emoji=False, highlight=False)
    listings.print_problems(console, [row, row, row | {"cause": "cap", "reason": ""}])
    assert out.getvalue().splitlines()[-1] == (
        "the proposer had no more candidates (2 x): none is left [b]"
    )
    listings.print_hypotheses(console, [])
    assert "peirce show SESSION" in out.getvalue()


def test_hostile_text_of_hypotheses_is_shown_and_not_obeyed():
    row = {
        "problem": HOSTILE, "step": 1, "verdict": "accepted", "reason": HOSTILE,
        "description": HOSTILE, "hypothesis": HOSTILE, "text": HOSTILE, "breaches": [HOSTILE],
        "coverage": 0.5, "observations": [True, None], "hidden": [False],
        "undefined": {HOSTILE: 2}, "answer": HOSTILE, "line": 1, "rank": 1, "reward": 1.0,
        "accuracy": 1.0, "visits": 3, "status": "done", "cause": HOSTILE, "steps": 1, "shown": 2,
        "verdicts": {"accepted": 1}, "session": HOSTILE, "created": HOSTILE, "task": HOSTILE,
        "method": "abduce", "model": HOSTILE, "problems": 1,
    }  # fmt: skip
    drawn = {
        "task": HOSTILE, "id": HOSTILE, "shown": [[HOSTILE, HOSTILE]], "hidden": [], "space": 3,
        "public": {HOSTILE: HOSTILE}, "secret": {HOSTILE: HOSTILE},
    }  # fmt: skip
    difference = {
        "problem": HOSTILE,
        "step": 1,
        "field": HOSTILE,
        "recorded": HOSTILE,
        "replayed": 1,
    }
    replayed = {"session": HOSTILE, "steps": 1, "differences": [difference]}
    numbers = {**row, "hidden": 1, "breaches": {HOSTILE: 1}}
    for draw, value in (
        (listings.print_hypotheses, [row]),
        (listings.print_hypotheses, [row | {"hypothesis": None}]),
        (listings.print_bank, [row]),
        (listings.print_check, row),
        (listings.print_problems, [numbers]),
        (listings.print_sessions, [row]),
        (listings.print_problem, drawn),
        (listings.print_differences, replayed),
    ):
        out = io.StringIO()
        draw(Console(file=out, width=120, markup=False, emoji=False, highlight=False), value)
        text = out.getvalue()
        assert not set("\x1b\x07\u202e\r\ud800") & set(text), draw.__name__
        assert "[bold" in text, draw.__name__


def test_hostile_names_of_a_stored_session_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    session = peirce.run("list_functions", problems=1, max_answers=1, store=tmp_path / "s.duckdb")
    told = SimpleNamespace(
        **{name: getattr(session, name) for name in dir(session) if name[0] != "_"}
    )
    told.task = told.method = told.model = told.session = HOSTILE
    out = io.StringIO()
    summaries.print_outcome(
        Console(file=out, width=120, markup=False, emoji=False, highlight=False), told
    )
    assert not set("\x1b\x07\u202e\r\ud800") & set(out.getvalue())
    assert out.getvalue().count("[bold red]x[/]") >= 4


def test_a_duration_reads_as_people_say_it():
    assert [text.format_duration(s) for s in (0.44, 12.2, 185, 3723)] == [
        "0.4 s", "12 s", "3:05", "1:02:03",
    ]  # fmt: skip


def test_a_screen_that_nobody_hears_ends_no_session():
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(5, "the terminal has gone")

    for live in (False, True):
        console = Console(file=Gone(), force_terminal=live, width=100)
        with SessionProgress(out=console, live=live) as screen:
            for event in (
                started(1), {"type": "problem_started", "problem": "p"}, call("p", "step/1"),
                {"type": "stopping"}, {"type": "ended", "status": "interrupted"},
            ):  # fmt: skip
                screen(event)


def test_the_screen_has_the_main_metrics_and_all_where_they_are_asked_for():
    for evaluation in evaluations():
        main = [one.name for one in evaluation.on_screen(all_metrics=False)]
        assert main and len(main) <= 5 and set(main) <= set(evaluation.metric_names)
        assert evaluation.on_screen(all_metrics=True) == evaluation.metrics


def test_every_end_of_a_method_of_ours_is_a_sentence():
    """The ends stand in the methods and in the steps that they share, as `"stop": "NAME"`."""
    graphs = Path(peirce.__file__).parent / "graphs"
    lines = [line for path in graphs.rglob("*.py") for line in path.read_text("utf-8").splitlines()]
    ends = {
        name
        for line in lines
        if '"stop": ' in line or "stop = " in line
        for name in re.findall(r'"([a-z_]+)"', line.partition("stop")[2])
        if name not in ("finish", "answers", "stop")
    }
    assert {"exhausted", "cap", "three_bad", "bad", "target"} <= ends
    assert ends <= set(text.STOPS)
    assert text.stop_sentence("of a method from outside") == "of a method from outside"


def test_the_page_has_the_sentences_of_the_screen_for_ends_of_problems() -> None:
    page = "".join(render_page({"sessions": []}, ()))
    (written,) = re.findall(r"^const STOPS = (\{.*\});$", page, re.MULTILINE)
    assert json.loads(written) == text.STOPS
    assert not [name for name in SCRIPTS if text.STOPS["cap"] in read_part(name)]
