"""The benches of the search for exception rules: halves and samples, the points of the trade-off curve,
what stands beside them, and what was counted; on small worlds of our own, and on two published
instances.

Internals: a bench takes the place of the growing of rules for a while and has to put it back.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import peirce
import pytest
from peirce.tasks import load_problems

ROOT = Path(__file__).resolve().parents[2]
EXPANSIONS = 3_000
REGIMES = ("full", "partial", "skeptical")


@pytest.fixture(autouse=True)
def bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])


def world(rng: random.Random, regime: str) -> dict:
    """T6: P(x), unless Ab(x), has an R."""
    domain = [f"a{k}" for k in range(6)]
    pairs = [[one, other] for one in domain for other in domain]
    true = {name: [e for e in domain if rng.random() < 0.5] for name in "PQ"}
    true |= {"R": rng.sample(pairs, 4), "S": rng.sample(pairs, 8)}
    world = {"domain": domain, "true": true}
    if regime != "full":
        world["unknown"] = {"S": [pair for pair in rng.sample(pairs, 3) if pair not in true["S"]]}
    return world


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    rng = random.Random(7)
    path = tmp_path_factory.mktemp("data") / "own.jsonl"
    problems = [
        {"id": f"{regime} {k}", "regime": regime, "theory": "T6",
         "reference": "(and (P x) (P x))" if k else "(not (exists y (R x y)))",
         "worlds": [world(rng, regime) for _ in range(4)],
         "holdouts": [world(rng, regime) for _ in range(2)]}
        for regime in REGIMES for k in range(2)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(one) + "\n" for one in problems))
    return str(path)


def run(name: str, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / f"{name}.py"), *options],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def made(data: str, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """By workers, the folder that the bench wrote."""
    found = {}
    for workers in (1, 2):
        found[workers] = tmp_path_factory.mktemp(f"workers{workers}")
        run("abd_tradeoff", "--data", data, "--sample", "all", "--expansions", str(EXPANSIONS),
            "--workers", str(workers), "--out", str(found[workers]))  # fmt: skip
    return found


def rows_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "abd-tradeoff.jsonl").read_text().splitlines()]


def test_every_point_is_the_same_again_and_with_other_workers(made: dict[int, Path]) -> None:
    names = {path.name for path in made[1].iterdir()}
    assert {"abd-tradeoff.csv", "abd-tradeoff.jsonl", "abd-tradeoff.md"} <= names
    for name in names:
        assert (made[1] / name).read_bytes() == (made[2] / name).read_bytes(), name


def test_an_earlier_run_is_drawn_again_without_a_search(
    made: dict[int, Path], tmp_path: Path
) -> None:
    told = made[1] / "abd-tradeoff.jsonl"
    run("abd_tradeoff", "--rows", str(told), "--out", str(tmp_path))
    for name in ("abd-tradeoff.csv", "abd-tradeoff.jsonl", "abd-tradeoff.md"):
        assert (tmp_path / name).read_bytes() == (made[1] / name).read_bytes()


def test_a_preset_comes_to_what_a_session_of_the_search_does(
    data: str, made: dict[int, Path], tmp_path: Path
) -> None:
    from abd_tradeoff import METRICS

    settings = {"budget_expansions": EXPANSIONS}
    store = str(tmp_path / "store.duckdb")
    peirce.run("abd", data=data, model="search", model_arg=settings, method="io", store=store)
    rows = {row["id"]: row for row in rows_of(made[1])}
    for evaluator in ("exact", "released"):
        told = peirce.evaluate(store=store, evaluator=evaluator, by_problem=True)
        for one in told["sessions"][0]["by_problem"]:
            row = rows[one["problem"]]
            place = row["presets"]["balanced"]
            assert row["rules"][place] == one["formula"]
            found = row["answers"][evaluator][place]
            assert found == {metric: one[metric] for metric in METRICS}


def test_the_antecedent_is_valid_everywhere_and_planted_rules_out_of_scope_are_told_apart(
    made: dict[int, Path],
) -> None:
    for row in rows_of(made[1]):
        for values in row["beside"]["antecedent"].values():
            assert values["prompt_validity"] == values["holdout_validity"] == 1.0
            assert values["ast_size"] == 2.0
        legal = row["id"].endswith("1")  # the others name R
        assert ("planted rule in scope" in row["beside"]) == legal
    table = (made[1] / "abd-tradeoff.md").read_text()
    assert "| all | full | planted rule in scope | 1 |" in table


def test_a_trade_off_without_an_answer_is_counted_as_not_valid() -> None:
    import abd_tradeoff

    right = {"prompt_validity": 1.0, "gap": 2.0, "ast_size": 4.0, "holdout_validity": 1.0,
             "holdout_gap": 1.0}  # fmt: skip
    some = {evaluator: [right] for evaluator in ("exact", "released")}
    rows = [{"id": str(k), "answers": some, "grid": [place]} for k, place in enumerate((0, None))]
    found = abd_tradeoff.of_grid(rows, 0)
    assert found["prompt_validity_exact"] == found["holdout_validity_released"] == 0.5
    assert found["gap_exact"] == 2.0 and found["ast_size_released"] == 4.0


def test_halves_part_the_instances_and_a_sample_takes_regimes_in_turn(data: str) -> None:
    import abd_instances

    def names(**options: object) -> list[str]:
        given = Namespace(**{"data": data, "sample": "all", "half": "all", **options})
        return [one.id for one in abd_instances.chosen(given)]

    whole = names()
    assert sorted(names(half="first") + names(half="second")) == sorted(whole)
    assert {name.split()[0] for name in names(sample="3")} == set(REGIMES)
    assert names(sample="3") == names(sample="3") and len(names(sample="4")) == 4
    # SHA-256 of "a" begins with 0xca, of "f" with 0x25.
    assert abd_instances.half_of("a") == "first" and abd_instances.half_of("f") == "second"


def test_times_states_and_shares_are_printed_for_each_budget_and_the_search_is_left_as_it_was(
    data: str, tmp_path: Path
) -> None:
    import abd_search
    from peirce.search.logic import ranking
    from peirce.search.logic.ranking import grow_features

    said = run("abd_search", "--data", data, "--sample", "3", "--budgets", "2000", "4000",
               "--out", str(tmp_path))  # fmt: skip
    assert "share valid" in said and "features a s" in said
    lines = (tmp_path / "abd-search.csv").read_text().splitlines()
    assert len(lines) == 1 + 3 * 2
    (problem, _), *_ = load_problems("abd", data)
    small, large = (abd_search.measure(problem, budget) for budget in (2_000, 20_000))
    assert ranking.grow_features is grow_features and ranking.Evidence.judge.__name__ == "judge"
    assert small["valid"] and small["features_tried"] < large["features_tried"]
    assert small["rules_tried"] < large["rules_tried"]
    assert large["seconds"] == pytest.approx(sum(large[name] for name in abd_search.NAMES))


def test_two_published_instances_have_the_same_points_again(shared_data: Path) -> None:
    import abd_instances
    import abd_tradeoff

    if not (shared_data / "abd").is_dir():
        pytest.skip(f"PUBLISHED INSTANCES ABSENT: no folder {shared_data / 'abd'}")
    options = Namespace(data=str(shared_data / "abd"), sample="2", half="all")
    problems = abd_instances.chosen(options)
    first, again = (list(abd_tradeoff.rows_of(problems, EXPANSIONS)) for _ in range(2))
    assert first == again and len(first) == 2
    for row in first:
        assert row["beside"]["antecedent"]["exact"]["holdout_validity"] == 1.0
        assert all(one["prompt_validity"] == 1.0 for one in row["answers"]["exact"])
        assert None not in row["grid"]
