"""Rules made with the solver in the loop: a model reads the counterexample and mends its rule, alone or
with somebody who repairs; on worlds of our own, and on the published ones where they are."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import peirce
import pytest
from peirce import cli, plan
from peirce.agents.scripted import ScriptedProposer
from peirce.records import Reply, Usage, UsageError

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from chat_server import ChatServer, completion
from peirce.tests.cli.forked_command import write_program
from rule_mender import NOTHING, ByHand, RuleMender, answer

# T1: who has an R with P, and is not Ab, has Q. a0 breaks it in W0, a1 in W1.
WORLDS = [
    {"id": "W0", "domain": ["a0", "a1", "a2"],
     "true": {"P": ["a1"], "R": [["a0", "a1"]], "S": [["a2", "a0"]]}},
    {"id": "W1", "domain": ["a0", "a1"], "true": {"P": ["a0"], "Q": ["a0"], "R": [["a1", "a0"]]}},
]  # fmt: skip
HOLDOUT = {"id": "H0", "domain": ["h0", "h1"], "true": {"P": ["h0"], "R": [["h1", "h0"]]}}
MENDED = "(exists y (R x y))"  # costs 1 and 1, which no rule can undercut
EVERYTHING = "(= x x)"  # costs 3 and 2: a gap of 1.5 a world
PUBLISHED = ("ABD_FULL_TH10_000", "ABD_PARTIAL_TH10_000", "abd_skeptical_v2_TH11_00")


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "worlds.json"
    told = {"id": "own", "regime": "full", "theory": "T1", "worlds": WORLDS,
            "holdouts": [HOLDOUT], "reference": "(exists y (and (R x y) (P y)))"}  # fmt: skip
    path.write_text(json.dumps([told]))
    return path


@pytest.fixture
def refine(data, tmp_path):
    """refine(model, **options) -> (session, rows of its answers); each in a store of its own."""

    def run(model, **options):
        store = tmp_path / f"{len(list(tmp_path.glob('*.duckdb')))}.duckdb"
        session = peirce.run("abd", data=data, model=model, method="refine", store=store, **options)
        return session, peirce.show(session.session, "own", store=store)

    return run


def formulas(rows):
    return [(row["verdict"], row["hypothesis"]) for row in rows]


def test_a_wrong_rule_is_mended_by_the_counterexample_that_its_model_reads(refine):
    model = RuleMender()
    session, rows = refine(model)
    assert formulas(rows) == [("inconsistent", NOTHING), ("accepted", MENDED)]
    assert session.ends == {"target": 1}
    first, second = (prompt for _, prompt in model.asked)
    assert "breaks the default and" not in first
    assert "World W0: a0 breaks the default and alpha does not hold of it." in second
    assert "World W1: a1 breaks the default and alpha does not hold of it." in second
    assert model.named == [("W1", "a1")]  # what the second answer was made of
    assert all(tools == [] for tools, _ in model.asked)
    assert "h0" not in second and "H0" not in second
    for live in (False, True):
        replayed = peirce.replay(session.session, live=live, store=session.store)
        assert (replayed["steps"], replayed["differences"]) == (2, [])


@pytest.mark.parametrize("name", PUBLISHED)
def test_so_it_is_on_a_published_instance_of_each_regime(shared_data, tmp_path, name):
    model, store = RuleMender(), tmp_path / "s.duckdb"
    session = peirce.run("abd", data=shared_data / "abd", problem=[name], model=model,
                         method="refine", target_gap=100.0, store=store)  # fmt: skip
    rows = peirce.show(session.session, name, store=store)
    assert [row["verdict"] for row in rows] == ["inconsistent"] * (len(rows) - 1) + ["accepted"]
    assert session.ends == {"target": 1} and len(rows) >= 2
    world, element = model.named[0]
    assert f"World {world}: " in model.asked[1][1] and f" {element} " in model.asked[1][1]
    assert peirce.replay(session.session, live=True, solver="z3", store=store)["differences"] == []


def test_it_stops_at_the_gap_that_is_asked_for_and_says_what_a_valid_rule_costs(refine):
    said = [answer(one) for one in (EVERYTHING, MENDED, "(P x)")]
    for gap, ends, answers in ((2.0, "target", 1), (1.5, "target", 1), (None, "target", 2),
                               (0.0, "target", 2)):  # fmt: skip
        session, rows = refine(ScriptedProposer(said), target_gap=gap)
        assert (session.ends, len(rows)) == ({ends: 1}, answers), gap

    class Reads(ScriptedProposer):
        async def propose(self, view, messages, tools, seed, schema=None):
            prompts.append(messages[-1]["content"])
            return await super().propose(view, messages, tools, seed, schema)

    prompts = []
    refine(Reads(said))
    assert "Its cost is 5; no rule can cost less than 2." in prompts[1]
    assert "Marked without need: a1, a2 in world W0; a0 in world W1." in prompts[1]


def test_it_ends_when_the_model_has_nothing_left_to_say_or_has_said_enough(refine):
    session, rows = refine(RuleMender(most=1))
    assert (session.ends, len(rows)) == ({"exhausted": 1}, 1)
    session, rows = refine(ScriptedProposer([answer("(P x)")] * 20))
    assert (session.ends, len(rows)) == ({"cap": 1}, 8)
    assert [row["verdict"] for row in rows][:2] == ["inconsistent"] * 2


def test_a_rule_that_is_none_is_told_why(refine):
    class Reads(RuleMender):
        async def propose(self, view, messages, tools, seed, schema=None):
            self.asked.append(messages[-1]["content"])
            return await ScriptedProposer([answer("(Q x)"), answer(MENDED)]).propose(
                view, messages, tools, 0
            )

    model = Reads()
    _, rows = refine(model)
    assert [row["verdict"] for row in rows] == ["malformed", "accepted"]
    assert (
        "1. (Q x)\n   It gives no hypothesis: forbidden_predicate: Q may not stand"
        in (model.asked[1])
    )


def test_what_a_repairer_makes_of_a_wrong_rule_is_judged_in_the_same_step(refine):
    model, repairer = RuleMender(), ByHand(MENDED)
    session, rows = refine(model, repair=repairer)
    assert formulas(rows) == [("inconsistent", NOTHING), ("accepted", MENDED)]
    assert session.ends == {"target": 1} and session.steps == 1 and len(model.asked) == 1
    ((text, verdict, told),) = repairer.told
    assert (text, verdict) == (NOTHING, "inconsistent")
    assert "World W0: a0 breaks the default" in told
    calls = peirce.show(session.session, "own", calls=True, store=session.store)
    assert [call["path"] for call in calls if call["kind"] == "model"] == [
        "step/1/propose/0", "step/1/repair/0",
    ]  # fmt: skip
    (step,) = peirce.load(session.session, store=session.store).steps
    assert step.fields == {"feedback": True, "repair": "by-hand"}
    replayed = peirce.replay(session.session, store=session.store)
    assert (replayed["steps"], replayed["differences"]) == (1, [])
    (scored,) = peirce.evaluate(session.session, store=session.store, by_problem=True)["sessions"]
    assert scored["feedback"] == scored["by_problem"][0]["feedback"] == "solver+by-hand"
    assert scored["by_problem"][0]["formula"] == MENDED


def test_a_valid_rule_that_costs_too_much_is_shrunk_and_a_repair_that_falls_short_is_shown(refine):
    class Insists(RuleMender):
        async def propose(self, view, messages, tools, seed, schema=None):
            self.asked.append(messages[-1]["content"])
            said = "(or (P x) (Q x" if view.past_answers else answer(EVERYTHING)
            return await ScriptedProposer([said] * 9).propose(view, messages, tools, seed)

    model, repairer = Insists(), ByHand(f"(or {MENDED} (P x))", MENDED)
    _, rows = refine(model, repair=repairer, target_gap=0.5)
    assert [row["hypothesis"] for row in rows] == [
        EVERYTHING, f"(or {MENDED} (P x))", None, MENDED,
    ]  # fmt: skip
    assert [text for text, *_ in repairer.told] == [EVERYTHING, "(or (P x) (Q x"]
    assert "2. A search made this of it:" in model.asked[1]
    assert f"(or {MENDED} (P x))" in model.asked[1] and "Its cost is 4" in model.asked[1]


class Counted(RuleMender):
    """Each answer takes 100 tokens."""

    async def propose(self, view, messages, tools, seed, schema=None):
        reply = await super().propose(view, messages, tools, seed, schema)
        return replace(reply, usage=Usage(tokens_in=100))


def test_a_session_that_stops_between_an_answer_and_its_repair_goes_on_to_the_same_digest(refine):
    falls_short = "(P x)"
    whole, _ = refine(Counted(), repair=ByHand(falls_short))
    assert whole.status == "done" and whole.steps == 2
    cut, rows = refine(Counted(), repair=ByHand(falls_short), budget_tokens=1)
    assert (cut.status, rows) == ("budget", [])
    options = {"model": Counted(), "store": cut.store}
    with pytest.raises(UsageError, match=r"ran with a repairer object: .*repair=\.\.\."):
        peirce.resume(cut.session, **options)
    other = ByHand(falls_short)
    other.settings = lambda: {"model": "other"}
    with pytest.raises(UsageError, match="start a new session to use another one"):
        peirce.resume(cut.session, repair=other, **options)
    again = peirce.resume(cut.session, repair=ByHand(falls_short), budget_tokens=10**6, **options)
    assert (again.status, again.digest) == ("done", whole.digest)
    assert peirce.replay(again.session, store=again.store)["differences"] == []
    with pytest.raises(UsageError, match="was started without repair: omit repair"):
        plain, _ = refine(Counted(), budget_tokens=1)
        peirce.resume(plain.session, repair=ByHand(), model=Counted(), store=plain.store)


def test_an_endpoints_model_is_asked_so_and_each_problem_gets_its_own_repair(data, tmp_path):
    def says(request):
        asked.append(request)
        named = "World W1: a1 breaks the default" in request["messages"][-1]["content"]
        return completion({"content": answer("(S x x)" if named else NOTHING)})

    class PerProblem(ByHand):
        async def repair(self, view, text):
            mended = {"own": "(P x)", "other": "(and (P x) (P x))"}[view.problem]
            self.told.append(view.problem)
            return (
                Reply(finish="exhausted") if len(view.past_answers) > 1 else Reply(answer(mended))
            )

    (own,) = json.loads(data.read_text())
    turned = {**own["worlds"][1], "id": "W2"}
    other = {**own, "id": "other", "worlds": [own["worlds"][0], turned]}
    both, store, asked = tmp_path / "both.json", tmp_path / "s.duckdb", []
    both.write_text(json.dumps([own, other]))
    with ChatServer([says]) as server:
        for name in ("own", "other", "own"):
            repairer = PerProblem()
            session = peirce.run("abd", data=both, problem=[name], method="refine", max_answers=2,
                                 model=f"{server.url}#m", repair=repairer, store=store)  # fmt: skip
            rows = peirce.show(session.session, name, store=store)
            assert rows[1]["hypothesis"] == ("(P x)" if name == "own" else "(and (P x) (P x))")
        requests = len(asked)
    # What an endpoint answered is cached across sessions, what was repaired here is made again.
    assert requests == 4 and repairer.told == ["own", "own"]
    assert all("tools" not in request for request in asked)
    assert "World W1: a1 breaks the default" in asked[1]["messages"][-1]["content"]
    assert "A search made this of it:" in asked[1]["messages"][-1]["content"]


def test_io_asks_once_whatever_comes_of_it(data, tmp_path):
    model, store = RuleMender(), tmp_path / "io.duckdb"
    session = peirce.run("abd", data=data, model=model, method="io", store=store)
    assert session.verdicts == {"accepted": 0, "redundant": 0, "inconsistent": 1, "malformed": 0}
    assert session.ends == {"answered": 1} and len(model.asked) == 1 and model.asked[0][0] == []
    (step,) = peirce.load(session.session, store=store).steps
    assert step.fields == {}
    assert peirce.replay(session.session, store=store)["differences"] == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "io", "max_answers": 3}, "max_answers is 3: method io does not take it; methods that do: abduce, refine"),
        ({"method": "io", "feedback": True}, "feedback is True: method io does not take it; methods that do: "),
        ({"method": "refine", "feedback": False}, "feedback is False: method refine does not take it"),
        ({"target_gap": 0.5}, "target_gap is 0.5: method abduce does not take it; methods that do: refine"),
        ({"repair": "search", "method": "io"}, "repair is 'search': method io does not take it; methods that do: abduce, refine"),
        ({"method": "refine", "target_gap": -1.0}, "target_gap is -1.0: it must be at least 0"),
        ({"method": "refine", "target_gap": "low"}, "target_gap is 'low': it must be a number"),
        ({"method": "refine", "repair": "z3"}, "repair is 'z3': it must be one of search"),
        ({"method": "refine", "repair": 5}, "repair is 5: it must be a string, an object with `repair`"),
        ({"method": "refine", "repair": "search:nothing"}, "nothing"),
    ],
)  # fmt: skip
def test_what_cannot_go_together_is_one_sentence_with_the_valid_choices(
    data, tmp_path, options, said
):
    store = tmp_path / "none.duckdb"
    for verb in (peirce.run, plan):
        with pytest.raises(UsageError, match=said) as caught:
            verb("abd", data=data, model=ScriptedProposer([]), store=store, **options)
        assert "\n" not in str(caught.value)
    assert not store.exists()


def test_programs_have_no_gap(tmp_path):
    options = {"problems": 1, "method": "refine", "store": tmp_path / "none.duckdb"}
    with pytest.raises(
        UsageError, match=r"target_gap is 0\.5: it only applies to rules about worlds"
    ):
        peirce.run("list_functions", target_gap=0.5, **options)
    session = peirce.run("list_functions", budget_expansions=2000, workers=1,
                         problems=1, method="refine", store=tmp_path / "s.duckdb")  # fmt: skip
    settings = peirce.load(session.session, store=session.store).settings
    assert "target_gap" not in settings and "max_bad" not in settings
    assert (settings["max_answers"], settings["tool_calls"]) == (8, 0)


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """command(*arguments) -> what it prints as JSON; with fails=True what it says on stderr."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("PEIRCE_")]:
        monkeypatch.delenv(name)

    def call(*arguments, fails=False):
        with pytest.raises(SystemExit) as ended:
            cli.main([*map(str, arguments), "--json"])
        said = capsys.readouterr()
        assert ended.value.code == (2 if fails else 0), said.err
        return said.err if fails else json.loads(said.out)

    return call


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({"*": [answer(NOTHING), answer(EVERYTHING), answer(MENDED)]}))
    return f"scripted:{path}"


def test_a_dry_run_brackets_what_the_methods_then_ask(command, data, script, tmp_path):
    run = ["run", "abd", "--data", data, "--model", script, "--store", tmp_path / "s.duckdb"]
    once = {"least": 1, "most": 1}
    assert command(*run, "--method", "io", "--dry-run")["calls"]["proposer"] == once
    for method, gap in (("io", []), ("refine", []), ("refine", ["--target-gap", "1.5"])):
        told = command(*run, "--method", method, *gap, "--dry-run")["calls"]
        made = command(*run, "--method", method, *gap, "--quiet")["usage"]["by_kind"]["model"]
        assert told["proposer"]["least"] <= made["calls"] <= told["proposer"]["most"]
        assert "repairer" not in told
    endpoint = [*run[:4], "--model", "http://localhost:1/v1#m", "--dry-run", "--method"]
    assert command(*endpoint, "io")["calls"]["proposer"] == once
    assert command(*endpoint, "io", "--tool-calls", 2)["calls"]["proposer"]["most"] == 3
    assert command(*endpoint, "refine")["calls"]["proposer"] == {"least": 1, "most": 8}
    told = command(*endpoint, "refine", "--repair", "search", "--max-answers", 3)["calls"]
    assert told["proposer"]["most"] == 3 and told["repairer"] == {"least": 0, "most": 3}


def test_what_the_file_sets_for_another_method_is_left_out(command, data, script, monkeypatch):
    Path("peirce.toml").write_text('method = "refine"\ntarget-gap = 2\nmax_answers = 5\n')
    run = ["run", "abd", "--data", data, "--model", script, "--quiet"]
    refined = command(*run)
    assert (refined["method"], refined["steps"]) == ("refine", 2)
    settings = peirce.load(refined["session"]).settings
    assert (settings["target_gap"], settings["max_answers"]) == (2, 5)
    assert command(*run, "--method", "io")["steps"] == 1
    monkeypatch.setenv("PEIRCE_TARGET_GAP", "0")
    assert command(*run)["steps"] == 3
    said = command(*run, "--method", "io", "--target-gap", "1", fails=True)
    assert ": method io does not take it; methods that do: refine" in said and said.count("\n") == 1


@pytest.mark.parametrize("first", [NOTHING, EVERYTHING, "(Q x)"])
def test_the_embedded_search_repairs_and_shrinks_from_the_command_line(
    command, data, tmp_path, first
):
    answers, store = tmp_path / "answers.json", tmp_path / "s.duckdb"
    answers.write_text(json.dumps({"*": [answer(first), answer(first)]}))
    session = command(
        "run", "abd", "--data", data, "--method", "refine", "--repair", "search",
        "--target-gap", "0", "--model", f"scripted:{answers}", "--store", store, "--quiet",
    )  # fmt: skip
    assert session["status"] == "done" and session["steps"] == 1
    rows = peirce.show("last", "own", store=store)
    assert len(rows) == 2 and rows[1]["observations"] == [True, True]
    (scored,) = peirce.evaluate(store=store, by_problem=True)["sessions"]
    assert scored["feedback"] == "solver+search"
    (row,) = scored["by_problem"]
    assert (row["prompt_validity"], row["gap"]) == (1.0, 0.0)
    replayed = command("replay", "--store", store)
    assert (replayed["steps"], replayed["differences"]) == (1, [])


DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_example_of_the_documentation_runs_and_comes_to_what_it_is_for(tmp_path):
    page = (DOCS / "tutorials/exception-rules.md").read_text("utf-8")
    (example,) = re.findall(r"```json neighbours\.json\n(.*?)```", page, re.S)
    (tmp_path / "neighbours.json").write_text(example)
    (script,) = re.findall(
        r"```sh\n(.*?)```", (DOCS / "explanation/exception-rules.md").read_text("utf-8"), re.S
    )
    write_program(tmp_path / "peirce")
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e"], input=script, cwd=tmp_path, env={**os.environ, "PATH": path},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    store = tmp_path / "peirce.duckdb"
    rows = peirce.show("last", "neighbours", store=store)
    assert [row["verdict"] for row in rows] == ["inconsistent", "accepted", "accepted"]
    (scored,) = peirce.evaluate(store=store, by_problem=True)["sessions"]
    assert scored["by_problem"][0]["gap"] == 0.0 and "feedback: solver" in done.stdout
