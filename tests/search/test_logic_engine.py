"""The engine of rules in its worker: which answers, after which, on any worlds; and the proposer
over it: one answer whatever the workers, the order, the process.

Internals: the engine is asked in this process about views that no session makes.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from peirce.agents import open_model
from peirce.records import (
    Hypothesis,
    InputSet,
    Observation,
    PastAnswer,
    ToolSpec,
    UsageError,
    Verdict,
    View,
)
from peirce.search.budget import STANDARD
from peirce.search.engines import SearchService
from peirce.search.logic.engine import Space
from peirce.tools.logic import (
    PUBLISHED_THEORIES,
    PreparedWorlds,
    World,
    parse_formula,
    parse_theory,
)

from .logic_problems import (
    answered,
    default,
    generated,
    of_regime,
    prepared_of,
    request,
    space_of,
    worlds_of,
)

REGIMES = ("full", "partial", "skeptical")
SOLVE = ToolSpec("solve", "Judges a rule.", {"type": "object"})


def asked(problem, earlier=(), budget=6_000, trade_off="", **more):
    view = problem.make_view(space_of(problem.id))
    return {
        "shown": [[o.input, o.output] for o in view.shown],
        "told": {**view.public, "trade_off": trade_off},
        "space": view.space.digest,
        "inputs": view.space.inputs,
        "expansions": budget,
        "earlier": list(earlier),
        "skip": [],
        **more,
    }


def following(problem, count: int, engine: SearchService | None = None) -> list[str]:
    engine, said = engine or SearchService(), []
    for _ in range(count):
        found = engine.propose(asked(problem, said))
        if "source" not in found:
            break
        said.append(found["source"])
    return said


def valid(prepared: PreparedWorlds, text: str) -> bool:
    formula = parse_formula(text, prepared.theory.allowed)
    return all(worth.valid for worth in prepared.judge(formula))


@pytest.mark.parametrize("regime", REGIMES)
def test_answers_are_valid_and_each_is_novel_on_the_space(regime) -> None:
    problem = of_regime(regime)
    said = following(problem, 6)
    assert len(said) >= 3 and len(set(said)) == len(said)
    assert all(valid(prepared_of(problem), text) for text in said)
    space = Space(list(space_of(problem.id).inputs))
    worlds, rows = space.restrict_to(prepared_of(problem).theory)
    prepared = PreparedWorlds(prepared_of(problem).theory, worlds, regime)
    tables = [prepared.extension(parse_formula(text, "PQRS")) for text in said]
    marks = [[int(table[at]) for at in rows] for table in tables]
    for place, row in enumerate(marks[1:], 1):
        known = sum(any(row[k] == other[k] for other in marks[:place]) for k in range(len(row)))
        assert known / len(row) < 0.8, said[place]


def test_what_an_engine_was_asked_before_changes_nothing() -> None:
    one, other = of_regime("full"), of_regime("skeptical")
    used = SearchService()
    following(other, 2, used)
    used.propose(asked(one, mend="(= x x)"))
    used.propose(asked(one, ["(P x)"]))
    fresh = following(one, 3)
    assert following(one, 3, used) == fresh
    met = SearchService()
    met.propose(asked(one, fresh[1:]))  # as another model's
    assert following(one, 3, met) == fresh
    late = SearchService().propose(asked(one, fresh[:-1]))
    assert late["source"] == fresh[-1], "a fresh memo in the midst"


@pytest.mark.parametrize(
    "text",
    ["", "(", "no rule", "(Ab x)", "(S y x)", "(forall y (P a0))", "(P)", "(R x)", "(P x x)",
     "(T x)", "(and " * 30 + "(P x)", "(exists y (and (R x y) (P y)))  ", "(= x x)",
     "(forall y (exists z (forall w (exists v (iff (R x y) (iff (R z w) (iff (R v y) (R w x))))))))"],
)  # fmt: skip
@pytest.mark.parametrize("regime", ["full", "partial"])
def test_earlier_answers_of_a_model_never_disturb(regime, text) -> None:
    problem = of_regime(regime)
    found = _shared.propose(asked(problem, [text]))
    assert valid(prepared_of(problem), found["source"]) and found["source"] != text.strip()


_shared = SearchService()


def test_what_is_known_by_another_writing_is_known() -> None:
    problem = of_regime("full")
    first, second = following(problem, 2)
    spaced = first.replace(" ", "  ").replace("y", "u")
    assert _shared.propose(asked(problem, [spaced]))["source"] == second


@pytest.mark.parametrize(
    "axioms",
    [["(exists x (Ab x))"], ["(forall x (iff (P x) (Ab x)))"], ["(forall x (not (Ab x)))"]],
)
def test_a_theory_of_another_form_is_not_searched_and_why_is_said(axioms) -> None:
    theory = parse_theory(("own",), axioms, {"P": 1, "R": 2}, ["P", "R"], "own")
    worlds = worlds_of("form", (3, 4), 0, {"P": 1, "R": 2})
    for more in ({}, {"mend": "(P x)"}):
        found = answered(theory, worlds, "full", **more)
        assert "not of default form" in found["reason"] and "source" not in found


def test_worlds_beyond_the_fast_path_are_not_searched_and_why_is_said() -> None:
    names = tuple(f"a{k}" for k in range(20))
    row = tuple((0, k) for k in range(20))
    known = {"P": tuple((k,) for k in range(20)), "Q": (), "R": (), "S": ()}
    tangled = World("w", names, known, {"R": row})
    assert "unknown atoms" in answered(PUBLISHED_THEORIES["TH2"], [tangled], "partial")["reason"]
    many = worlds_of("many", (12,), 100)
    assert "unknown atoms" in answered(PUBLISHED_THEORIES["TH2"], many, "skeptical")["reason"]
    assert "source" in answered(
        PUBLISHED_THEORIES["TH2"], worlds_of("many", (5,)), "skeptical", budget=9
    )


def test_the_reason_reaches_the_reply() -> None:
    theory = parse_theory(("own",), ["(exists x (Ab x))"], {"P": 1}, ["P"], "own")
    worlds = worlds_of("form", (3,), 0, {"P": 1})
    view = View("p", "abd", "logic", tuple(Observation(w.as_json(), True) for w in worlds),
                {"theory": theory.as_json() | {"regime": "full"}}, InputSet("none", ()))  # fmt: skip

    async def ask():
        proposer = await open_model("search", {"workers": 1})
        try:
            return await proposer.propose(view, [], [], 0), await proposer.repair(view, "(P x)")
        finally:
            await proposer.close()

    with warnings.catch_warnings(record=True):
        for reply in asyncio.run(ask()):
            assert reply.finish == "exhausted" and "default form" in reply.meta["reason"]


SPACES = {
    "empty": [],
    "of lists": [[1, 2], [3]],
    "of scenes": [[["red cube"], ["blue ball"]]],
    "of pairs of words": [["a", "b"]],
    "of other predicates": [[{"id": "w", "domain": ["a"], "true": {"Child": [["a", "a"]]}}, "a"]],
    "of strangers": [[{"id": "w", "domain": ["a"], "true": {"P": [["a"]]}}, "b"]],
    "of no world": [[{}, "a"], [{"domain": 3}, "a"], [{"domain": []}, None]],
}


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("regime", ["full", "partial"])
def test_a_space_that_was_made_for_other_problems_gives_a_first_answer(name, regime) -> None:
    worlds = worlds_of("space", (3, 4), 0 if regime == "full" else 2)
    first = answered(PUBLISHED_THEORIES["TH2"], worlds, regime, inputs=SPACES[name], budget=500)
    assert valid(PreparedWorlds(PUBLISHED_THEORIES["TH2"], worlds, regime), first["source"])
    later = answered(
        PUBLISHED_THEORIES["TH2"],
        worlds,
        regime,
        inputs=SPACES[name],
        budget=500,
        earlier=[first["source"]],
    )
    assert later == {"exhausted": True}, "nothing is novel there"


def test_a_space_of_some_other_worlds_counts_those_that_are_known() -> None:
    worlds = worlds_of("space", (3, 4))
    own = [[one.as_json(), name] for one in worlds for name in one.names]
    mixed = [*SPACES["of other predicates"], *own, *SPACES["of strangers"], *SPACES["of lists"]]
    space = Space(mixed)
    read, rows = space.restrict_to(PUBLISHED_THEORIES["TH2"])
    assert rows == [(w, e) for w, one in enumerate(worlds) for e in range(len(one.names))]
    assert [one.names for one in read[:2]] == [one.names for one in worlds]


@pytest.mark.parametrize("budget", [1, 1_000])
@pytest.mark.parametrize("regime", REGIMES)
def test_a_small_budget_still_gives_an_answer(regime, budget) -> None:
    problem = of_regime(regime)
    found = SearchService().propose(asked(problem, budget=budget))
    assert valid(prepared_of(problem), found["source"])


ODD = {
    "three and no arguments": ({"Z": 0, "P": 1, "R": 2, "T": 3}, "(and (Z ) (P x))", "(T x x x)"),
    "no relation": ({"P": 1, "Q": 1}, "(P x)", "(Q x)"),
    "no property": ({"R": 2, "S": 2}, "(R x x)", "(exists y (S x y))"),
    "more": ({"A": 1, "B": 1, "C": 1, "K": 2, "L": 2, "M": 2}, "(A x)", "(exists y (K x y))"),
    "four variables": (
        {"P": 1, "R": 2},
        "(P x)",
        "(exists y (exists z (exists w (and (R x y) (and (R y z) (R z w))))))",
    ),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("sizes", [(1,), (5, 2, 4)])
def test_a_theory_of_ones_own_is_searched(name, regime, sizes) -> None:
    signature, before, after = ODD[name]
    theory = default(before, after, signature)
    worlds = worlds_of(f"odd {name}", sizes, 0 if regime == "full" else 3, signature)
    found = answered(theory, worlds, regime, budget=1_000)
    assert valid(PreparedWorlds(theory, worlds, regime), found["source"])
    mended = answered(theory, worlds, regime, budget=1_000, mend="(= x x)")
    assert "reason" not in mended


def test_large_domains_are_searched() -> None:
    worlds = worlds_of("large", (40, 3))
    found = answered(PUBLISHED_THEORIES["TH2"], worlds, "full", budget=1_000)
    assert valid(PreparedWorlds(PUBLISHED_THEORIES["TH2"], worlds, "full"), found["source"])


# --- the proposer ---------------------------------------------------------------------------------


def replay_of(workers: int, order: list[int], seed: int) -> dict[int, str]:
    views = [problem.make_view(space_of(problem.id)) for problem in generated()[:3]]

    async def ask() -> dict[int, str]:
        proposer = await open_model("search", {"budget_expansions": 3_000, "workers": workers})
        try:
            texts = {}
            for k in order:
                first = await proposer.propose(views[k], [], [], seed)
                said = json.loads(first.text)
                assert list(said) == ["formula", "description"] and "\n" not in first.text
                rule = Hypothesis(said["formula"], said["description"])
                earlier = PastAnswer(first.text, (rule,), Verdict.ACCEPTED)
                second = await proposer.propose(
                    replace(views[k], past_answers=(earlier,)), [], [], seed + 1
                )
                mended = await proposer.repair(views[k], "(= x x)")
                texts[k] = first.text + second.text + mended.text
            return texts
        finally:
            await proposer.close()

    return asyncio.run(ask())


def test_answers_do_not_depend_on_workers_order_or_seed() -> None:
    assert replay_of(1, [0, 1, 2], 0) == replay_of(2, [2, 0, 1], 77)


_CHILD = """
import json, sys
from peirce.search.engines import SearchService
asked = json.load(sys.stdin)
engine = SearchService()
said = [engine.propose(one) for one in asked]
print(json.dumps([said, [one.text for p in engine.problems.values() for one in p._candidates()]]))
"""


def test_answers_and_their_order_do_not_depend_on_the_process_or_the_processor() -> None:
    """Hashes of texts differ from process to process, and NumPy's sorting from processor to
    processor: it puts equals in another order where it has other instructions."""
    both = [of_regime("partial"), of_regime("skeptical")]
    given = [asked(problem, budget=3_000) for problem in both]
    given += [asked(both[0], ["(P x)"], budget=3_000), asked(both[1], budget=3_000, mend="(= x x)")]
    umath = np._core._multiarray_umath
    more = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]
    said = []
    for seed, without in (("1", ""), ("2", " ".join(more))):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "NPY_DISABLE_CPU_FEATURES": without}
        out = subprocess.run(
            [sys.executable, "-c", _CHILD], input=json.dumps(given), env=environment,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        said.append(json.loads(out.stdout))
    assert said[0] == said[1]
    assert all("source" in one for one in said[0][0][:2]) and len(said[0][1]) > 100


def test_presets_and_what_the_settings_record() -> None:
    async def opened(spec: str, **settings):
        proposer = await open_model(spec, settings)
        await proposer.close()
        return proposer.settings()

    assert "trade_off" not in asyncio.run(opened("search")), "as sessions before rules had it"
    for name in ("tight", "safe"):
        said = asyncio.run(opened(f"search:{name}"))
        assert said["trade_off"] == name and said["budget_expansions"] == STANDARD
        assert asyncio.run(opened("search", preset=name)) == said
    assert asyncio.run(opened("search:safe", budget_expansions=9))["budget_expansions"] == 9
    with pytest.raises(UsageError, match="balance"):
        asyncio.run(opened("search:balance"))


def test_presets_give_other_answers() -> None:
    engine = SearchService()
    problems = [of_regime(regime) for regime in ("full", "partial", "skeptical")]
    said = {
        name: [engine.propose(asked(one, trade_off=name))["source"] for one in problems]
        for name in ("", "tight", "safe")
    }
    assert len({tuple(texts) for texts in said.values()}) == 3
    sizes = {n: sum(parse_formula(t, "PQRS").size for t in texts) for n, texts in said.items()}
    assert sizes["tight"] >= sizes[""]
    assert engine.propose(asked(problems[0], trade_off=""))["source"] == said[""][0]


def test_tool_loop_solves_first_and_answers_when_the_tool_agrees() -> None:
    problem = of_regime("full")
    view = problem.make_view(space_of(problem.id))

    def after(formula: str, consistent: bool) -> list[dict]:
        arguments = json.dumps({"formula": formula})
        call = {"id": "c1", "function": {"name": "solve", "arguments": arguments}}
        content = json.dumps({"consistent": consistent})
        return [
            {"role": "user", "content": "worlds"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": content},
        ]

    async def ask() -> None:
        proposer = await open_model("search", {"budget_expansions": 3_000, "workers": 1})
        try:
            first = await proposer.propose(view, [], [SOLVE], 0)
            assert first.finish == "tool_calls" and first.tool_calls[0].name == "solve"
            formula = first.tool_calls[0].arguments["formula"]
            last = await proposer.propose(view, after(formula, True), [SOLVE], 0)
            assert last.finish == "stop" and json.loads(last.text)["formula"] == formula
            other = await proposer.propose(view, after(formula, False), [SOLVE], 0)
            assert other.tool_calls[0].arguments["formula"] != formula
        finally:
            await proposer.close()

    asyncio.run(ask())


def test_a_request_says_whether_it_is_of_this_engine() -> None:
    worlds = worlds_of("kind", (3,))
    made = request(PUBLISHED_THEORIES["TH2"], worlds, "full")
    made["shown"] = [[made["shown"][0][0], False]]
    assert "reason" in SearchService().propose(made), "a world in which a rule must not be valid"
