"""The oracle `solve`: the fast path, Z3 in a process, and limits that are reasons.

Internals: the solver's process is made to die in the middle of a question.
"""

from __future__ import annotations

import asyncio
import json

import pytest
from peirce.records import InputSet, Unavailable, UsageError
from peirce.tools import ProcessDied, solve
from peirce.tools.logic import PUBLISHED_THEORIES, parse_theory
from peirce.tools.solve import Solver, build_solve_tool

WORLD = {
    "id": "W0",
    "domain": ["a", "b", "c"],
    "true": {"P": [["b"]], "R": [["a", "b"]]},
    "unknown": {"R": [["c", "b"]], "S": [["a", "a"]]},
}
WORLDS = InputSet("worlds", (WORLD, {**WORLD, "id": "W1", "unknown": {}}))
PAIRS = InputSet("pairs", tuple([WORLD, name] for name in WORLD["domain"]))
RULE = "(exists y (R x y))"


def theory(regime: str, name: str = "TH2") -> dict:
    return {**PUBLISHED_THEORIES[name].as_json(), "regime": regime}


def asked(solver: Solver, *questions):
    async def all_of_them():
        try:
            return [await solver(*question) for question in questions]
        finally:
            await solver.close()

    return asyncio.run(all_of_them())


@pytest.mark.parametrize("name", solve.SOLVERS)
def test_a_rule_is_judged_world_by_world_and_explained(name):
    (worth, told, partial) = asked(
        Solver(name),
        (theory("skeptical"), "(R x x)", WORLDS, "worth"),
        (theory("skeptical"), "(R x x)", WORLDS, "explained"),
        (theory("partial"), RULE, WORLDS, "worth"),
    )
    assert worth.worlds == (
        {"valid": False, "cost": None, "bound": 2, "reason": ""},
        {"valid": False, "cost": None, "bound": 1, "reason": ""},
    )
    assert [one["breaches"] != [] for one in told.worlds] == [True, True]
    assert [one["cost"] for one in partial.worlds] == [1, 1]
    json.dumps(told.worlds)  # it is journalled


@pytest.mark.parametrize("name", solve.SOLVERS)
def test_an_extension_is_a_code_for_each_pair(name):
    (found,) = asked(Solver(name), (theory("partial"), RULE, PAIRS, "extension"))
    assert found.codes.tolist() == [1, 0, 2] and not found.reasons.any()


def test_worlds_read_again_are_the_same_worlds():
    again = InputSet("pairs", tuple(json.loads(json.dumps([*PAIRS.inputs]))))
    one, other = asked(
        Solver(),
        (theory("partial"), RULE, PAIRS, "extension"),
        (theory("partial"), RULE, again, "extension"),
    )
    assert one.codes.tolist() == other.codes.tolist()


def test_a_theory_of_another_form_goes_to_z3_by_itself():
    own = parse_theory(
        ["own"],
        ["(forall x (forall y (implies (R x y) (or (Ab x) (Ab y)))))"],
        {"R": 2},
        ["R"],
        "t",
    )
    worlds = InputSet("w", ({"id": "W", "domain": ["a", "b"], "true": {"R": [["a", "b"]]}},))
    solver = Solver("fast")
    (found,) = asked(solver, (own.as_json() | {"regime": "full"}, RULE, worlds, "explained"))
    assert found.worlds[0]["valid"] is True and found.worlds[0]["cost"] == 1


def test_a_clock_from_outside_ends_what_does_not_end_and_the_next_question_is_answered():
    solver = Solver("z3", wall_s=0.001)

    async def both():
        slow = [
            await solver(theory("partial"), RULE, inputs, wanted)
            for inputs, wanted in ((WORLDS, "worth"), (WORLDS, "explained"), (PAIRS, "extension"))
        ]
        solver.wall_s = 60.0
        good = await solver(theory("partial"), RULE, WORLDS, "worth")
        await solver.close()
        return slow, good

    (worth, told, extension), good = asyncio.run(both())
    nothing = {"valid": None, "cost": None, "bound": None, "reason": "solver_time"}
    assert worth.worlds == (nothing, nothing)
    assert told.worlds[0] == {**nothing, "breaches": [], "needless": []}
    assert extension.reasons.tolist() == [1, 1, 1]
    assert extension.reason_names == ("solver_time",)
    assert [one["valid"] for one in good.worlds] == [True, True]


def test_a_limit_of_z3s_resources_is_a_reason():
    hard = {
        "id": "W", "domain": [f"a{n}" for n in range(9)], "true": {"P": [["a0"], ["a3"]]},
        "unknown": {"R": [[f"a{i}", f"a{j}"] for i in range(9) for j in range(9)]},
    }  # fmt: skip
    rule = "(exists y (and (R x y) (exists z (and (R y z) (R z x)))))"
    (found, marks) = asked(
        Solver("z3", resources=1),
        (theory("partial"), rule, InputSet("w", (hard,)), "worth"),
        (theory("partial"), rule, InputSet("p", ([hard, "a1"],)), "extension"),
    )
    assert found.worlds[0]["valid"] is None and found.worlds[0]["reason"] == "solver_limit"
    assert marks.reason_names == ("solver_limit",)


def test_a_process_that_dies_is_replaced_and_one_that_dies_twice_is_no_verdict(monkeypatch):
    solver = Solver("z3")

    async def killed_once():
        await solver(theory("partial"), RULE, WORLDS, "worth")
        solver.processes[0].process.kill()
        found = await solver(theory("partial"), RULE, WORLDS, "worth")
        await solver.close()
        return found

    assert [one["valid"] for one in asyncio.run(killed_once()).worlds] == [True, True]

    async def dies(self, request, wall_s=None):
        raise ProcessDied

    monkeypatch.setattr("peirce.tools.line_process.LineProcess.ask", dies)
    with pytest.raises(Unavailable, match="died twice"):
        asked(Solver("z3"), (theory("partial"), RULE, WORLDS, "worth"))


def test_questions_side_by_side_share_the_processes():
    solver = Solver("z3", workers=2)

    async def many():
        found = await asyncio.gather(
            *(solver(theory(r, t), RULE, WORLDS, "worth") for r in ("partial", "skeptical", "full")
              for t in PUBLISHED_THEORIES for _ in range(2))
        )  # fmt: skip
        await solver.close()
        return found

    found = asyncio.run(many())
    assert [one.worlds for one in found[::2]] == [one.worlds for one in found[1::2]]


def test_an_unknown_solver_is_a_sentence():
    with pytest.raises(UsageError, match="there is no solver 'z4'; choose one of fast, z3"):
        Solver("z4")


def test_the_tool_hands_on_what_it_is_told():
    async def attempt(formula: str) -> str:
        return f"judged {formula}"

    tool = build_solve_tool(attempt)
    assert asyncio.run(tool.ainvoke({"formula": RULE})) == f"judged {RULE}"
    assert list(tool.args_schema.model_json_schema()["properties"]) == ["formula"]


WIDE = "(R o p)"
for _pair in ("mn", "kl", "ij", "gh", "ef", "cd", "ab"):
    WIDE = f"(iff (R {_pair[0]} {_pair[1]}) {WIDE})"
for _letter in "abcdefghijklmnop":
    WIDE = f"(exists {_letter} {WIDE})"


@pytest.mark.parametrize("name", solve.SOLVERS)
@pytest.mark.parametrize("regime", ["full", "partial", "skeptical"])
def test_a_rule_too_large_for_both_paths_is_a_reason_whatever_was_wanted(name, regime):
    full = {key: value for key, value in WORLD.items() if key != "unknown"}
    one = full if regime == "full" else WORLD
    (worth, told, marks) = asked(
        Solver(name),
        (theory(regime), WIDE, InputSet("w", (one,)), "worth"),
        (theory(regime), WIDE, InputSet("w", (one,)), "explained"),
        (theory(regime), WIDE, InputSet("p", ([one, "a"],)), "extension"),
    )
    assert worth.worlds[0]["valid"] is None and worth.worlds[0]["reason"] == "too_large"
    assert told.worlds[0]["reason"] == "too_large" and told.worlds[0]["breaches"] == []
    assert marks.reasons.tolist() == [1]


def test_a_rule_that_shadows_x_and_binds_every_letter_is_judged():
    rule = "(R x x)"
    for letter in "abcdefghijklmnopqrstuvwyzx":
        rule = f"(or (P x) (exists {letter} {rule}))"
    (found,) = asked(Solver(), (theory("partial"), rule, WORLDS, "explained"))
    assert [one["valid"] for one in found.worlds] == [True, True]


def test_what_z3_tells_does_not_depend_on_what_was_asked_before():
    """Of worlds that the fast path does not reach: more than 64 unknown atoms."""
    names = [f"a{n}" for n in range(9)]
    hard = {"id": "W", "domain": names, "true": {"P": [["a0"], ["a4"]]},
            "unknown": {"R": [[i, j] for i in names for j in names]}}  # fmt: skip
    worlds = InputSet("w", (hard,))
    asks = [(theory("skeptical"), rule, worlds, "explained")
            for rule in ("(R x x)", "(P x)", "(exists y (R y x))")]  # fmt: skip
    (alone,) = asked(Solver(), asks[-1])
    *_, after = asked(Solver(), *asks)
    assert alone.worlds == after.worlds and alone.worlds[0]["valid"] is False
    assert alone.worlds[0]["breaches"][0]["completion"]


def test_a_question_that_is_given_up_leaves_no_reply_for_the_next_one():
    solver = Solver("z3")

    async def given_up():
        await solver(theory("partial"), RULE, WORLDS, "worth")  # the process is there
        process = solver.processes[0].process
        first = asyncio.create_task(solver(theory("full"), "(R x x)", WORLDS, "worth"))
        while solver.locks[0].locked() is False:
            await asyncio.sleep(0)
        for _ in range(5):  # the question is written, and waits for its answer
            await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        assert first.cancelled() and process is not solver.processes[0].process
        found = await solver(theory("partial"), RULE, WORLDS, "worth")
        await solver.close()
        return found

    found = asyncio.run(given_up())
    assert [one["valid"] for one in found.worlds] == [True, True]
    assert [one["cost"] for one in found.worlds] == [1, 1]


def test_a_solver_that_is_closed_while_a_question_waits_ends():
    solver = Solver("z3")

    async def closed():
        first = asyncio.create_task(solver(theory("partial"), RULE, WORLDS, "worth"))
        await asyncio.sleep(0.05)
        await asyncio.wait_for(solver.close(), 30)
        await asyncio.gather(first, return_exceptions=True)
        await asyncio.wait_for(solver.close(), 30)

    asyncio.run(closed())


def test_a_program_that_cannot_start_is_no_verdict(monkeypatch):
    monkeypatch.setattr(solve, "_MODULE", "peirce.tools.logic.no_such_module")
    with pytest.raises(Unavailable, match="died twice"):
        asked(Solver("z3"), (theory("partial"), RULE, WORLDS, "worth"))
