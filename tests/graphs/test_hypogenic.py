"""HypoGeniC step by step: which rows are wrong, when new hypotheses are asked for, who leaves."""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import peirce
import pytest
from golden_model import Golden
from peirce.agents.scripted import FunctionProposer, ScriptedProposer
from peirce.records import Reply, Unavailable
from peirce.tests import counts
from text_sessions import Told, begin, go_on, play, problem, rows

YES_NO = ("yes", "no") * 6  # row n: yes where n is even

# Worked by hand: 12 rows, 2 examples, top 2, 2 new ones from 2 wrong rows, capacity 3, alpha 0 (a reward
# is an accuracy). A row is wrong where at least .8 * 2 * row / 12 of the top are not right on it:
# .27, .40, .53, .67, .80, .93 at rows 2 … 7 (one suffices), 1.07 … 1.47 at rows 8 … 11 (both).
RIGHT = {
    "A": {0, 1, 2, 4, 5, 6, 11},
    "B": {0, 2, 3},
    "C": {3, 4, 6, 7, 8, 11},
    "D": {3},
    "E": {5},
}
SILENT = {("A", 7), ("E", 7)}
NONSENSE = {("A", 10)}
# examples 0, 1: A 2/2, B 1/2
# row 2: A right, B right
# row 3: A wrong (3/4), B right (3/4)    -> wrong: 3
# row 4: A right (4/5), B wrong (3/5)    -> wrong: 3, 4; asked again: C 2/2, D 1/2
#        C 1, A .8, B .6, D .5           -> D leaves
# row 5: C wrong (2/3), A right (5/6)    -> wrong: 5
# row 6: A right (6/7), C right (3/4)
# row 7: A silent (6.5/8), C right (4/5) -> wrong: 5, 7; asked again: E (right on 5, silent on 7)
#        1.5/2, and B once more, which keeps its 3/5
#        A .8125, C .8, E .75, B .6      -> B leaves
# row 8: A wrong (6.5/9), C right (5/6): one of two is less than 1.07
# row 9: C .83, E .75: both wrong (5/7, 1.5/3)         -> wrong: 9
# row 10: A .72, C .71: A unreadable, C wrong          -> wrong: 9, 10; asked again, no answer
#        (A 6.5/10, C 5/8, E 1.5/3 stay)
# row 11: A right (7.5/11), C right (6/9)
BY_HAND = [("A", 7.5 / 11, 11), ("C", 6 / 9, 9), ("E", 1.5 / 3, 3)]
SMALL = {"examples": 2, "hypotheses": 2, "top": 2, "wrong": 2, "capacity": 3, "alpha": 0.0,
         "judge": "model"}  # fmt: skip


def says(name: str, row: int) -> str:
    if (name[-1], row) in SILENT:
        return "Final answer: does not apply"
    if (name[-1], row) in NONSENSE:
        return "Let me think about it."
    right = row in RIGHT[name[-1]]
    return f"Final answer: {YES_NO[row] if right else YES_NO[row + 1 - 2 * (row % 2)]}"


def listed(*names: str) -> str:
    return "\n".join(f"{n}. What is said by {name}" for n, name in enumerate(names, 1))


ANSWERS = [listed("A", "B"), listed("C", "D"), listed("E", "B"), ""]


@pytest.mark.parametrize("concurrency", [1, 8])
def test_thresholds_and_regenerations_are_those_worked_by_hand(tmp_path, concurrency):
    told = Told(ANSWERS, says)
    played = play(tmp_path / "s.duckdb", problem(rows(YES_NO)), told.model,
                  concurrency=concurrency, **SMALL)  # fmt: skip
    assert told.asked == [[0, 1], [3, 4], [5, 7], [9, 10]]
    assert all("Give exactly 2 hypotheses." in prompt for prompt in told.prompts)
    fields = [(dict(step.fields)) for step in played.steps]
    assert fields == [
        {},
        {"rows": [2, 5], "wrong": [3, 4]},
        {"rows": [5, 8], "wrong": [5, 7]},
        {"rows": [8, 11], "wrong": [9, 10]},
        {"rows": [11, 12]},
    ]
    found = [(row["text"][-1], row["accuracy"], row["visits"]) for row in played.bank]
    assert [(name, visits) for name, _, visits in found] == [(n, v) for n, _, v in BY_HAND]
    assert [accuracy for _, accuracy, _ in found] == pytest.approx([a for _, a, _ in BY_HAND])
    assert [row["right"] for row in played.bank] == [
        [0, 1, 2, 4, 5, 6, 11], [3, 4, 6, 7, 8, 11], [5],
    ]  # fmt: skip
    assert played.outcome["status"] == "done"
    assert played.differences == []


def test_each_row_is_judged_by_the_top_alone_and_no_pair_twice(tmp_path):
    told = Told(ANSWERS, says)
    play(tmp_path / "s.duckdb", problem(rows(YES_NO)), told.model, concurrency=1, **SMALL)
    pairs = [(name[-1], row) for name, row in told.judged]
    assert len(pairs) == len(set(pairs))
    by_row = {row: {name for name, of in pairs if of == row} for row in range(12)}
    # C and D, E and B on the wrong rows that they come from, and on 9 and 10 nobody new
    assert by_row == {
        0: {"A", "B"}, 1: {"A", "B"}, 2: {"A", "B"}, 3: {"A", "B", "C", "D"},
        4: {"A", "B", "C", "D"}, 5: {"C", "A", "E", "B"}, 6: {"A", "C"}, 7: {"A", "C", "E", "B"},
        8: {"A", "C"}, 9: {"C", "E"}, 10: {"A", "C"}, 11: {"A", "C"},
    }  # fmt: skip


def test_what_the_answers_of_regenerations_hold_is_recorded(tmp_path):
    told = Told(ANSWERS, says)
    played = play(tmp_path / "s.duckdb", problem(rows(YES_NO)), told.model, **SMALL)
    found = {step.step: [(one.hypothesis and one.hypothesis.text[-1], str(one.verdict))
                         for answer in step.answers for one in answer.judged]
             for step in played.steps}  # fmt: skip
    assert found == {
        1: [("A", "accepted"), ("B", "inconsistent")],  # 1/2 is less than tau, .7
        2: [("C", "accepted"), ("D", "inconsistent")],
        3: [("E", "accepted"), ("B", "inconsistent")],  # E is right on the one row it covers
        4: [(None, "malformed")],
        5: [],
    }
    marks = played.steps[2].answers[0].judged[0].shown.marks
    assert marks == (None,) * 5 + (True,) + (None,) * 6  # silent on 7, not asked of the others
    kinds = [event.kind for event in played.steps[2].events]
    assert kinds.count("cut") == 1 and kinds[-1] == "cut"


def reference(count, settings, answers, right):
    """HypoGeniC as its notes have it (part a), without a store, a journal or a graph: the bank as
    [(name, accuracy, visits, reward)], and the wrong rows of each regeneration. right(name, row):
    True, False, or None where it does not apply; two labels."""
    worth = {True: 1.0, False: 0.0, None: 0.5}
    bank: dict[str, list[float]] = {}  # hits, visits, reward
    answers = iter(answers)

    def visit(entry, name, row, t):
        entry[0] += worth[right(name, row)]
        entry[1] += 1
        entry[2] = entry[0] / entry[1] + settings["alpha"] * math.sqrt(math.log(t) / entry[1])

    def fresh(names, on, t):
        made = {}
        for name in names:
            made[name] = [0.0, 0.0, 0.0]
            for row in on:
                visit(made[name], name, row, t)
        return made

    first = range(min(settings["examples"], count))
    bank = fresh(next(answers), first, len(first))
    regenerations = []
    for epoch in range(settings["rounds"]):
        wrong: list[int] = []
        for row in range(0 if epoch else len(first), count):
            top = sorted(bank, key=lambda name: -bank[name][2])[: settings["top"]]
            not_right = sum(right(name, row) is not True for name in top)
            for name in top:
                visit(bank[name], name, row, row + 1)
            if not top or not_right >= settings["scale"] * len(top) * row / count:
                wrong.append(row)
            if len(wrong) == settings["wrong"]:
                new = fresh([n for n in next(answers) if n not in bank], wrong, row + 1)
                merged = new | bank
                best = sorted(merged, key=lambda name: -merged[name][2])[: settings["capacity"]]
                bank = {name: merged[name] for name in best}
                regenerations.append(wrong)
                wrong = []
    ranked = sorted(bank, key=lambda name: -bank[name][2])
    return [(n, bank[n][0] / bank[n][1], bank[n][1], bank[n][2]) for n in ranked], regenerations


def drawn(seed):
    """Settings, answers and judgements of a seed; every other seed is one of the edges."""
    draw = random.Random(seed)
    settings = {
        "examples": draw.choice([1, 3, 5, 30]), "top": draw.choice([1, 2, 4, 50]),
        "hypotheses": 4, "wrong": draw.choice([1, 3, 5]), "capacity": draw.choice([2, 5, 20]),
        "alpha": draw.choice([0.0, 0.5, 2.0]), "scale": draw.choice([0.0, 0.5, 0.8, 1.5]),
        "rounds": draw.choice([1, 1, 2, 3]),
    }  # fmt: skip
    pool = [f"rule {n}" for n in range(40)]
    answers = [draw.sample(pool, draw.choice([0, 2, 4])) for _ in range(100)]
    skill = {name: draw.random() for name in pool}

    def right(name, row):
        at = random.Random(f"{seed} {name} {row}").random()
        return None if at > 0.9 else at < skill[name]

    return draw.choice([1, 4, 24]), settings, answers, right


# With every change those that hold what the drawn sessions are meant to.
SEEDS = [*range(24)] if counts.drawn(0, soak=1) else [0, 1, 2, 7, 11, 16]


@pytest.mark.counted
@pytest.mark.parametrize("seed", SEEDS)
def test_the_bank_and_its_wrong_rows_are_those_of_a_plain_implementation(tmp_path, seed):
    count, settings, answers, right = drawn(seed)
    labels = [("yes", "no")[n % 2] for n in range(count)]

    def judged(name, row):
        came = right(name, row)
        other = {"yes": "no", "no": "yes"}
        label = labels[row] if came else other[labels[row]]
        return f"Final answer: {'does not apply' if came is None else label}"

    told = Told(["\n".join(f"{n}. {one}" for n, one in enumerate(some, 1)) for some in answers],
                judged)  # fmt: skip
    played = play(
        tmp_path / "s.duckdb", problem(rows(labels)), told.model, judge="model", **settings
    )
    bank, regenerations = reference(count, settings, answers, right)
    found = [(row["text"], row["accuracy"], row["visits"], row["reward"]) for row in played.bank]
    assert [(row[0], row[2]) for row in found] == [(row[0], row[2]) for row in bank]
    for one, other in zip(found, bank, strict=True):
        assert (one[1], one[3]) == pytest.approx((other[1], other[3]), abs=1e-12)
    assert [
        step.fields["wrong"] for step in played.steps if "wrong" in step.fields
    ] == regenerations
    assert told.asked == [list(range(min(settings["examples"], count))), *regenerations]
    assert played.outcome["status"] == "done"


@pytest.mark.counted
def test_the_drawn_sessions_hold_what_they_are_meant_to():
    drawn_ones = [drawn(seed) for seed in SEEDS]
    banks = [reference(*one) for one in drawn_ones]
    assert any(count < settings["examples"] for count, settings, *_ in drawn_ones)
    assert any(settings["scale"] == 0 and wrong for (_, settings, *_), (_, wrong)
               in zip(drawn_ones, banks, strict=True))  # fmt: skip
    assert any(not answers[0] and bank for (_, _, answers, _), (bank, _)
               in zip(drawn_ones, banks, strict=True))  # fmt: skip
    assert any(settings["rounds"] > 1 and len(wrong) > 2 for (_, settings, *_), (_, wrong)
               in zip(drawn_ones, banks, strict=True))  # fmt: skip
    assert any(len(bank) == settings["capacity"] for (_, settings, *_), (bank, _)
               in zip(drawn_ones, banks, strict=True))  # fmt: skip


GOLDEN = "text/hypogenic_golden_trace.json"


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("concurrency", [pytest.param(1, marks=pytest.mark.soak), 16])
def test_the_golden_trace_of_the_reference_is_reproduced(shared_data, tmp_path, concurrency):
    wanted = json.loads((shared_data / GOLDEN).read_text())
    golden = Golden()
    session = peirce.run(
        "labels", data=shared_data / "text" / "shoe", method="hypogenic", seed=42, judge="model",
        model=FunctionProposer(golden, "golden"), concurrency=concurrency, store=tmp_path / "s.duckdb",
        method_arg={"inference": None},
    )  # fmt: skip
    trace = peirce.load(session.session, store=session.store)
    (one,) = trace.problems
    first = [next(iter(row.input.values())) for row in one.shown[:2]]
    assert first == wanted["train_first2"]
    steps = [dict(step.fields) for step in trace.steps]
    found = [[step["rows"][1] - 1, step["wrong"]] for step in steps if "wrong" in step]
    assert found == wanted["triggers"]
    bank = {row["text"]: row for row in peirce.bank(session.session, store=session.store)}
    assert set(bank) == set(wanted["bank"]) and len(bank) == 20
    for text, told in wanted["bank"].items():
        row = bank[text]
        assert row["accuracy"] == pytest.approx(told["acc"], abs=1e-12)
        assert row["reward"] == pytest.approx(told["reward"], abs=1e-12)
        assert (row["visits"], len(row["right"])) == (told["visits"], told["n_correct"])
    # 2,405 calls in the reference; texts that are equal are asked about once here.
    assert (golden.generations, golden.judged) == (5, 2384)
    assert peirce.replay(session.session, store=session.store)["differences"] == []


# --- stopping and going on ---------------------------------------------------------------

KILLED = """
import os, signal, sys
sys.path[:0] = {paths!r}
import test_hypogenic as here
from pathlib import Path
at = int(sys.argv[2])
told = here.Told(here.ANSWERS, here.says)

def dying(messages):
    if len(told.judged) + len(told.asked) == at:
        os.kill(os.getpid(), signal.SIGKILL)
    return told(messages)

here.play(Path(sys.argv[1]), here.problem(here.rows(here.YES_NO)),
          here.FunctionProposer(dying, "told"), concurrency=1, **here.SMALL)
"""


@pytest.mark.parametrize("at", [9, *(pytest.param(at, marks=pytest.mark.soak) for at in (0, 23))])
def test_a_session_that_is_killed_goes_on_to_the_same_digest(tmp_path, at):
    whole = Told(ANSWERS, says)
    one = problem(rows(YES_NO))
    expected = play(tmp_path / "whole.duckdb", one, whole.model, **SMALL)
    program = KILLED.format(paths=[str(Path(__file__).parent)])
    path = tmp_path / "cut.duckdb"
    ended = subprocess.run([sys.executable, "-c", program, str(path), str(at)],
                           env=os.environ, capture_output=True, timeout=120)  # fmt: skip
    assert ended.returncode == -signal.SIGKILL, ended.stderr[-1000:]
    (session,) = (row["session"] for row in peirce.sessions(store=path))
    told = Told(ANSWERS, says)
    told.asked = [[]] * sum(call["path"].startswith("step") for call in peirce.show(
        session, "made#0", calls=True, store=path))  # fmt: skip
    before = len(told.asked)
    played = go_on(path, session, told.model)
    assert (played.outcome["status"], played.digest) == ("done", expected.digest)
    assert len(told.judged) + len(told.asked) - before == len(whole.judged) + len(whole.asked) - at
    assert played.differences == []


def test_an_outage_fails_the_problem_with_its_sentence_and_the_rest_is_asked_later(tmp_path):
    one, path = problem(rows(YES_NO)), tmp_path / "s.duckdb"
    told, whole = Told(ANSWERS, says), Told(ANSWERS, says)
    expected = play(tmp_path / "whole.duckdb", one, whole.model, **SMALL)

    def away(messages):
        if len(told.judged) >= 12:
            raise Unavailable("The judge has gone home.")
        return told(messages)

    session = begin(path, one, told.model, **SMALL)
    played = go_on(path, session, FunctionProposer(away, "told"))
    assert played.outcome["failed"] == {"made#0": "The judge has gone home."}
    assert [step.step for step in played.steps] == [1]  # 4 of the first, 6 of rows 2 … 4, 2 of 4
    again = go_on(path, session, told.model, retry_failed=True)
    assert (again.outcome["status"], again.digest) == ("done", expected.digest)
    assert len(told.judged) == len(whole.judged) and told.asked == whole.asked


def test_a_session_that_is_told_to_stop_ends_behind_a_step_and_goes_on(tmp_path):
    one, path = problem(rows(YES_NO)), tmp_path / "s.duckdb"
    told = Told(ANSWERS, says)
    expected = play(tmp_path / "whole.duckdb", one, Told(ANSWERS, says).model, **SMALL)
    session = begin(path, one, told.model, **SMALL)
    stopping = asyncio.Event()

    def stops(messages):
        if len(told.judged) == 12:
            stopping.set()
        return told(messages)

    played = go_on(path, session, FunctionProposer(stops, "told"), stopping=stopping)
    assert played.outcome["status"] == "interrupted" and 0 < len(played.steps) < 5
    assert played.differences == []
    again = go_on(path, session, told.model)
    assert again.digest == expected.digest


# --- edges -----------------------------------------------------------------------------------


def test_the_second_round_begins_at_the_first_row_and_forgets_left_over_wrong_rows(tmp_path):
    told = Told([listed("A", "B")] + [""] * 20, lambda name, row: "Final answer: does not apply")
    played = play(tmp_path / "s.duckdb", problem(rows(YES_NO[:7])), told.model,
                  **{**SMALL, "wrong": 4, "rounds": 2})  # fmt: skip
    # rows 2 … 5 are wrong, 6 is left over; then 0 … 3, and 4 … 6 are left over
    assert told.asked == [[0, 1], [2, 3, 4, 5], [0, 1, 2, 3]]
    assert [step.fields.get("rows") for step in played.steps] == [
        None, [2, 6], [6, 7], [0, 4], [4, 7],
    ]  # fmt: skip


def test_without_rounds_the_first_hypotheses_are_all(tmp_path):
    told = Told([listed("A", "B")], says)
    played = play(
        tmp_path / "s.duckdb", problem(rows(YES_NO)), told.model, **{**SMALL, "rounds": 0}
    )
    assert told.asked == [[0, 1]] and len(played.steps) == 1
    assert {row for _, row in told.judged} == {0, 1}
    assert played.outcome["status"] == "done"


def test_a_model_that_says_nothing_ends_the_session_without_a_bank(tmp_path):
    played = play(tmp_path / "s.duckdb", problem(rows(YES_NO)), ScriptedProposer([]), inference="multi",
                  **SMALL)  # fmt: skip
    assert played.outcome["status"] == "done" and played.bank == []
    assert played.differences == []


def test_one_that_says_no_more_later_leaves_the_bank_as_it_is(tmp_path):
    told = Told(ANSWERS, says)

    class Once(FunctionProposer):
        async def propose(self, view, messages, tools, seed, schema=None):
            if "Hypothesis: " not in messages[-1]["content"] and told.asked:
                return Reply(finish="exhausted")
            return await super().propose(view, messages, tools, seed, schema)

    played = play(tmp_path / "s.duckdb", problem(rows(YES_NO)), Once(told, "told"), **SMALL)
    assert {row["text"][-1] for row in played.bank} == {"A", "B"}
    assert played.outcome["status"] == "done" and played.differences == []
    assert sum(len(step.fields.get("wrong", ())) for step in played.steps) > 0


@pytest.mark.parametrize("method", ["hypogenic", "hyporefine", "zero-shot-gen", "literature"])
def test_an_answer_that_was_cut_loses_its_last_hypothesis_alone(tmp_path, method):
    class Cut(FunctionProposer):
        async def propose(self, view, messages, tools, seed, schema=None):
            reply = await super().propose(view, messages, tools, seed, schema)
            hypotheses = "Give exactly" in messages[-1]["content"]
            return Reply(reply.text, finish="length" if hypotheses else "stop")

    told = Told([listed("A", "B", "X")], says)
    papers = [{"source": "a.md", "title": "A", "text": "We found that A holds."}]
    one = problem(rows(YES_NO), papers=papers) if method[0] == "l" else problem(rows(YES_NO))
    if method == "literature":
        told.answers = ["- A holds", told.answers[0]]
    played = play(tmp_path / "s.duckdb", one, Cut(told, "told"), method,
                  **{**SMALL, "hypotheses": 3, "rounds": 0, "rewrites": 0})  # fmt: skip
    assert sorted(row["text"][-1] for row in played.bank) == ["A", "B"]


def test_more_hypotheses_than_were_asked_for_are_cut_also_where_the_answer_was(tmp_path):
    told = Told([listed("A", "B", "C", "D")], says)
    played = play(
        tmp_path / "s.duckdb", problem(rows(YES_NO)), told.model, **{**SMALL, "rounds": 0}
    )
    assert sorted(row["text"][-1] for row in played.bank) == ["A", "B"]


def test_agreement_of_a_judge_is_the_same_in_whatever_order_answers_come(tmp_path):
    # Three answers per question; of every seventh pair one of them is another: 2/3 agree there.
    def moody(delays):
        class Moody(FunctionProposer):
            async def propose(self, view, messages, tools, seed, schema=None):
                reply = await super().propose(view, messages, tools, seed, schema)
                if "Hypothesis: " in messages[-1]["content"]:
                    await asyncio.sleep(random.Random(seed).random() * delays)
                    if seed % 7 == 0:
                        return Reply("Final answer: does not apply")
                return reply

        return Moody(Told(ANSWERS, says), "told")

    one = problem(rows(YES_NO), {"ind": rows(YES_NO)})
    played = [play(tmp_path / f"{n}.duckdb", one, moody(delays), concurrency=n, repeats=3,
                   inference="best", **SMALL)
              for n, delays in ((1, 0), (16, 0.01))]  # fmt: skip
    assert played[0].digest == played[1].digest
    agreement = played[0].steps[-1].fields["inference"]["agreement"]
    judged = [call for call in played[0].calls if "/judge/" in call["path"]]
    assert len(judged) % 3 == 0 and 0.8 < agreement < 1.0
    assert played[0].differences == []


def test_a_row_that_comes_twice_is_judged_once(tmp_path):
    told = Told(ANSWERS, says)
    shown = rows(YES_NO[:3]) * 4
    played = play(tmp_path / "s.duckdb", problem(shown), told.model, concurrency=8, **SMALL)
    assert len(told.judged) == len(set(told.judged))
    assert {row for _, row in told.judged} == {0, 1, 2} and played.differences == []


def test_hypotheses_of_literature_that_gave_nothing_have_no_source(tmp_path):
    told = Told(["None.", listed("A", "B")], says)
    one = problem(rows(YES_NO), papers=[{"source": "a.md", "title": "A", "text": "No more."}])
    played = play(tmp_path / "s.duckdb", one, told.model, "literature", **SMALL)
    (step,) = played.steps
    assert step.fields == {"papers": 0, "unsummarised": ["a.md"]}
    breaches = [one.hypothesis.breaches for one in step.answers[0].judged]
    assert breaches == [("no_source",), ("no_source",)]
