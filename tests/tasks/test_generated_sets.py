"""bench/hypobench_sets.py: what it checks of every set, on a few; and that it would see a fault."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from peirce.tasks import load_problems

ROOT = Path(__file__).resolve().parents[2]
SOME = (
    "admission/level_2/size_5", "admission_adv/level_4/noise_30", "shoe_two_level/hard", "marine",
    "election/level0_nosubtlety", "election/level5", "election/counterfactual/counterfactual",
    "personality/level4_nosubtlety", "personality_controlled/20_0.3_0.3", "tree/depth_3_2",
)  # fmt: skip


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
    import hypobench_sets

    return hypobench_sets


@pytest.mark.parametrize("name", SOME)
def test_no_set_has_one_class_and_what_it_states_of_itself_is_so(
    bench: ModuleType, name: str
) -> None:
    generator = next(one for one in bench.NAMES if name.startswith(one))
    found = bench.checked(generator, name, seed=5)
    assert found.right and found.labels >= 2 and found.apart <= bench.ROUNDED
    assert found.known == found.precision == found.itself == 1.0
    if generator in ("admission", "shoe", "marine", "tree"):
        assert found.optimal == 1.0  # the findings are the rule


@pytest.mark.parametrize("name", ["election/level4", "election/counterfactual/counterfactual"])
def test_the_findings_with_the_stated_weights_are_the_best_rule_of_posts(
    bench: ModuleType, name: str
) -> None:
    ((problem, _),) = load_problems("labels:election", ids=[name], seed=2)
    known, made = problem.secret["truths"], problem.secret["made"]
    assert bench.by_weights(known, problem, problem.hidden) == made["best_accuracy"]["test"] == 1
    made["weights"] = {label: own[::-1] for label, own in made["weights"].items()}
    assert bench.by_weights(known, problem, problem.hidden) < 0.9


def test_a_rule_that_leaves_rows_out_or_contradicts_itself_is_seen(bench: ModuleType) -> None:
    ((problem, _),) = load_problems("labels:admission", ids=["admission/level_1/base"])
    (best,) = problem.secret["made"]["optimal"]
    assert bench.accuracy([best], problem, problem.shown) == 1.0
    assert bench.accuracy([best.partition(";")[0] + "."], problem, problem.shown) == 0.0
    turned = best.replace('"admitted"', "X").replace('"rejected"', '"admitted"')
    assert bench.accuracy([best, turned.replace("X", '"rejected"')], problem, problem.shown) == 0.0
    assert not replace(bench.checked("shoe", "shoe", 0), labels=1).right


@pytest.mark.parametrize(
    "generators",
    [["shoe", "marine"], pytest.param(["admission", "shoe", "marine"], marks=pytest.mark.soak)],
)
def test_rows_are_counted_as_in_table_2(bench: ModuleType, generators: list[str]) -> None:
    some = list(bench.every(generators, 0))
    told = {row[0]: row for row in bench.table(some, 1).rows}
    assert {name: (row[1], row[3]) for name, row in told.items()} == {
        name: bench.PUBLISHED[name] for name in told
    }
