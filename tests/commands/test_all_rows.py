"""What the embedded search sees of labelled rows, what its bank takes, and how a session then ends.

Internals: problems with a small budget of rows are chosen without a session.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import peirce
import pytest
from peirce.commands.problems import choose_problems
from peirce.config import DataConfig
from peirce.records import UsageError
from peirce.store import Store

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
WORDS = ["river", "stone", "window", "garden", "letter", "paper", "summer", "market"]


def write_rows(folder: Path, count: int, signal: float = 0.85) -> Path:
    """Write `count` rows; the word "refund" marks a label in the share `signal` of the rows."""
    drawn = random.Random(1)
    lines = ["text,verdict"]
    for number in range(count):
        label = number % 2
        said = label if drawn.random() < signal else 1 - label
        words = drawn.sample(WORDS, 5) + ["refund"] * said
        drawn.shuffle(words)
        lines.append(f"{' '.join(words)},{'angry' if label else 'pleased'}")
    path = folder / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def run(folder: Path, rows: int = 500, **options):
    data = write_rows(folder, rows, options.pop("signal", 0.85))
    budget = {} if "model" in options else {"budget_expansions": 20_000}
    given = {"label": "verdict", "store": folder / "s.duckdb", **budget, **options}
    return peirce.run("labels", data=data, **given)


@pytest.fixture(scope="module")
def session_on_all_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a session on all rows, which two tests look at."""
    folder = tmp_path_factory.mktemp("all_rows")
    run(folder)
    return folder


def problem_of(folder: Path, session: str = "last"):
    return peirce.load(session, store=folder / "s.duckdb").problems[0]


def test_the_search_sees_every_training_row(session_on_all_rows: Path) -> None:
    problem = problem_of(session_on_all_rows)
    assert len(problem.shown) == 300 and "training_rows" not in problem.secret


@pytest.mark.parametrize(
    ("options", "shown"),
    [({"observations": 50}, 50), ({"examples": 40}, 200), ({"problems": 2}, 200)],
)
def test_a_number_of_rows_or_of_samples_goes_before_all_rows(
    tmp_path: Path, options: dict, shown: int
) -> None:
    run(tmp_path, **options)
    assert len(problem_of(tmp_path).shown) == shown


def test_where_a_model_plays_a_role_the_search_sees_200_rows(tmp_path: Path) -> None:
    judge = tmp_path / "judge.json"
    judge.write_text('{"rules": [{"when": "", "say": "Final answer: angry"}]}')
    run(tmp_path, judge_model=f"scripted:{judge}")
    assert len(problem_of(tmp_path).shown) == 200


def test_a_problem_that_shows_the_budget_knows_how_many_rows_there_are(tmp_path: Path) -> None:
    config = DataConfig(data=write_rows(tmp_path, 500), label="verdict")
    (problem,) = choose_problems("labels", config, 100).problems
    assert len(problem.shown) == 100 and problem.secret["training_rows"] == 300
    (other,) = choose_problems("labels", config).problems
    assert len(other.shown) == 200 and "training_rows" not in other.secret


def test_every_sentence_joins_the_bank_and_the_findings_say_what_they_do_together(
    tmp_path: Path,
) -> None:
    session = run(tmp_path, tau=0.99)
    assert session.verdicts["accepted"] == 0 and session.verdicts["inconsistent"] > 0
    bank = peirce.bank(session.session, store=tmp_path / "s.duckdb")
    assert len(bank) == session.verdicts["inconsistent"]
    assert all(one["reward"] > 0 for one in bank)
    assert session.metrics["accuracy"]["mean"] > 0.7
    together = session.best[0].together
    assert (together.hypotheses, together.strategy, together.of) == (len(bank), "weighted", 100)
    assert together.right == round(100 * session.metrics["accuracy"]["mean"])
    assert list(session.ends) == ["all_found"]


def test_a_sentence_that_no_rule_reads_stays_out_of_the_bank(tmp_path: Path) -> None:
    said = '1. If the text mentions "refund", the label is "angry".\n2. Sad texts are angry.'
    session = run(tmp_path, model=f"scripted:{_script(tmp_path, said)}", method="io", judge="exact")
    bank = peirce.bank(session.session, store=tmp_path / "s.duckdb")
    assert [one["text"][:11] for one in bank] == ["If the text"]


def _script(folder: Path, said: str) -> Path:
    path = folder / "model.json"
    path.write_text(json.dumps({"rules": [{"when": "", "say": said}]}))
    return path


@pytest.mark.parametrize("method", ["abduce", "hypogenic"])
def test_many_rows_are_neither_in_the_prompt_nor_in_the_events_of_the_bank(
    tmp_path: Path, method: str
) -> None:
    session = run(tmp_path, rows=700, method=method)
    with Store.open(tmp_path / "s.duckdb", write=False) as store:
        call = next(one for one in store.calls(session.session) if one["kind"] == "model")
        events = [event for step in store.steps(session.session) for event in step.events]
        bank = store.bank(session.session)
    content = str(call["request"]["messages"])
    assert sum(content.count(f"{number}. ") for number in (199, 200)) >= 2
    assert "\n201. " not in content.replace("\\n", "\n")
    visits = [event for event in events if event.kind == "visits"]
    assert visits and not any(event.kind == "visit" for event in events)
    assert len(visits) <= 3 * len(bank)
    assert all(one["visits"] == 420 for one in bank)


def test_a_session_on_all_rows_is_replayed_without_a_difference(session_on_all_rows: Path) -> None:
    store = session_on_all_rows / "s.duckdb"
    digest = peirce.load("last", store=store).digest
    assert peirce.replay("last", store=store).differences == []
    assert peirce.resume("last", store=store).digest == digest


def test_a_dry_run_counts_the_same_session(tmp_path: Path) -> None:
    told = peirce.plan(
        "labels", data=write_rows(tmp_path, 500), label="verdict", learning_curve=True
    )
    assert told.calls["proposer"]["least"] == 2


# --- the learning curve


def test_the_learning_curve_runs_the_session_on_nested_rows(tmp_path: Path) -> None:
    session = run(tmp_path, learning_curve=True)
    assert [one["rows"] for one in session.learning_curve] == [200, 300]
    first, last = (problem_of(tmp_path, one["session"]) for one in session.learning_curve)
    assert first.shown == last.shown[:200] and first.hidden == last.hidden
    assert session.learning_curve[-1]["session"] == session.session
    assert session.learning_curve[-1]["accuracy"] == session.metrics["accuracy"]["mean"]
    with Store.open(tmp_path / "s.duckdb", write=False) as store:
        assert store.find_session("last") == session.session


def test_finished_parts_of_a_learning_curve_are_not_run_again(tmp_path: Path) -> None:
    first = run(tmp_path, learning_curve=True)
    again = run(tmp_path, learning_curve=True)
    names = [one.learning_curve[0]["session"] for one in (first, again)]
    assert names[0] == names[1] and first.session != again.session


def test_a_learning_curve_without_a_sense_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs labelled rows"):
        peirce.plan("list_functions", learning_curve=True)
    with pytest.raises(UsageError, match="needs at least 300 shown rows, and 60 are shown"):
        run(tmp_path, rows=100, learning_curve=True)
    sweep = tmp_path / "s.toml"
    sweep.write_text('[sweep]\nseed = [0]\n[settings]\ntask = "labels"\nlearning_curve = true\n')
    with pytest.raises(UsageError, match="a sweep has no learning curve"):
        peirce.plan_sweep(sweep)
