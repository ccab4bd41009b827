"""Sessions on data sets made from a seed, by a model that knows what was planted."""

from __future__ import annotations

from pathlib import Path

import peirce
import pytest
from peirce.agents.scripted import FunctionProposer
from peirce.tasks import load_problems


@pytest.mark.parametrize(
    ("generator", "name"),
    [
        ("admission", "admission/level_2/noise_10"),
        ("admission", "admission_adv/level_3/size_10"),
        ("shoe", "shoe_two_level/hard"),
        ("election", "election/level3"),
        ("personality", "personality/level1_nosubtlety"),
        ("marine", "marine"),
        ("tree", "tree/depth_3_2"),
    ],
)
def test_who_says_what_was_planted_reaches_the_stated_accuracy(
    generator: str, name: str, tmp_path: Path
) -> None:
    ((problem, _),) = load_problems(f"labels:{generator}", ids=[name], seed=3)
    made = problem.secret["made"]
    answer = "\n".join(f"{n}. {one}" for n, one in enumerate(made["optimal"], 1))
    session = peirce.run(
        f"labels:{generator}", problem=[name], seed=3, method="zero-shot-gen", hypotheses=20,
        inference="filter-weight", method_arg={"readers": 20}, model=FunctionProposer(lambda messages: answer, "planter"),
        store=tmp_path / "store.duckdb",
    )  # fmt: skip
    assert (session.status, session.failed) == ("done", {})
    assert session.metrics["accuracy"]["mean"] == pytest.approx(
        made["best_accuracy"]["test"], abs=1e-4
    )
    if generator == "marine":
        error = session.metrics["mse"]["mean"]
        assert error == pytest.approx(made["best_scaled_error"]["test"], abs=1e-4)
    replayed = peirce.replay(session.session, store=tmp_path / "store.duckdb")
    assert replayed["differences"] == []


@pytest.mark.parametrize(
    ("generator", "name"),
    [
        ("admission", "admission/level_3/noise_20"),
        ("admission", "admission_adv/level_4/size_15"),
        ("admission", "admission-3-0"),
        ("shoe", "shoe_two_level/hard"),
        ("election", "election/level5"),
        ("election", "election/level2_nosubtlety"),
        ("personality", "personality_controlled/10_0.3_0"),
        ("marine", "marine"),
        ("tree", "tree/depth_1_0"),
        ("tree", "tree/depth_3_2"),
    ],
)
def test_the_findings_with_the_optimal_rule_are_all_found_and_reach_the_stated_accuracy(
    generator: str, name: str, tmp_path: Path
) -> None:
    """Of most sets the two are one; of posts with several types the optimal rule is a table of cases."""
    ((problem, _),) = load_problems(f"labels:{generator}", ids=[name], seed=3)
    made = problem.secret["made"]
    bank = list(dict.fromkeys([*problem.secret["truths"], *made["optimal"]]))
    answer = "\n".join(f"{n}. {one}" for n, one in enumerate(bank, 1))
    session = peirce.run(
        f"labels:{generator}", problem=[name], seed=3, method="zero-shot-gen", hypotheses=len(bank),
        inference="weighted", judge="exact", model=FunctionProposer(lambda messages: answer, "knower"),
        store=tmp_path / "store.duckdb",
    )  # fmt: skip
    found = {key: session.metrics[key]["mean"] for key in ("hdr", "identical", "hdr_released")}
    assert found == pytest.approx({"hdr": 1, "identical": 1, "hdr_released": 1})
    assert session.metrics["precision"]["mean"] <= 1
    assert session.metrics["accuracy"]["mean"] == pytest.approx(
        made["best_accuracy"]["test"], abs=1e-4
    )
