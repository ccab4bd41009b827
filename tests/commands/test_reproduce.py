"""`peirce reproduce`: splits of published problems, refusals in one sentence, and the dry run.

Internals: the splits and the sizes of models are checked without a training, which takes a minute.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import peirce
import pytest
from peirce.commands.reproduce.model_sizes import find_model_size
from peirce.commands.reproduce.published_files import DataSet, read_data_sets, split_problems
from peirce.records import DataError, Observation, PeirceError, Problem, UsageError
from published_set import write_published


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_published(tmp_path_factory.mktemp("reproduce") / "data", problems=10)


def problem(task: str, name: str, pairs: str) -> Problem:
    shown = (Observation(pairs, 1),)
    return Problem(id=name, task=task, family="programs", shown=shown, hidden=())


def data_set(task: str, names: list[str], pairs: dict[str, str] | None = None) -> DataSet:
    pairs = pairs or {}
    made = tuple(problem(task, name, pairs.get(name, f"{task} {name}")) for name in names)
    return DataSet(task, Path(), {}, made, {})


def test_each_data_set_is_split_like_the_papers_although_ids_are_shared() -> None:
    ids = [str(k) for k in range(250)]
    sets = [
        data_set("list_functions", ids[::2][:100]), data_set("acre", ids[:100]),
        data_set("mini_arc", ids[20:120]), data_set("arc", [f"a{k}" for k in range(100)]),
    ]  # fmt: skip
    for seed in range(4):
        splits = split_problems(sets, seed)
        for one in sets:
            counts = Counter(str(splits[p.id]) for p in one.problems)
            assert counts == {"train": 50, "validation": 10, "held-out": 40}, (seed, one.task)
    assert split_problems(sets, 0) == split_problems(sets, 0) != split_problems(sets, 1)


def test_problems_with_equal_pairs_share_a_split_whatever_their_ids() -> None:
    same = {f"p{k}": "equal" for k in (0, 3, 7)}
    names = [f"p{k}" for k in range(20)]
    for seed in range(5):
        splits = split_problems([data_set("arc", names, same)], seed)
        assert len({splits[name] for name in same}) == 1


def test_the_published_files_are_found_with_the_problems_that_have_observations(data: Path) -> None:
    found = {one.task: one for one in read_data_sets(data, 0, None)}
    assert set(found) == {"list_functions", "acre"}
    assert {n: len(ids) for n, ids in found["acre"].shown.items()} == {2: 10, 3: 10}
    limited = read_data_sets(data, 0, 4)
    assert [len(one.problems) for one in limited] == [4, 4]
    assert {p.id for p in limited[0].problems} < {p.id for p in found["list_functions"].problems}


def test_the_papers_own_files_give_four_data_sets(shared_data: Path) -> None:
    found = read_data_sets(shared_data / "gear", 0, None)
    assert [one.task for one in found] == ["list_functions", "acre", "mini_arc", "arc"]
    splits = split_problems(found, 0)
    for one in found:
        held = sum(splits[p.id] == "held-out" for p in one.problems)
        assert abs(held - 0.4 * len(one.problems)) <= 1


OPTIONS = {"base": "tiny", "collect": ["search"]}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"base": None}, "no model to train is given: add --base NAME"),
        ({"collect": []}, "no collecting model is given: add --collect MODEL"),
        ({"data": None}, "no data is given: add --data DIR, a folder with list_function.jsonl"),
        ({"data": "nowhere"}, "--data nowhere: this is no folder; it must contain list_function.jsonl"),
        ({"data": "."}, "no data set with its observations is there"),
        ({"schedule": ["fast"]}, "schedule is 'fast': it must be one of"),
        ({"examples": 100, "period": 64}, "not a multiple of the period"),
        ({"limit": 2}, "no problem is in the split held-out: raise --limit"),
        ({"base": "no-such-model"}, "no-such-model"),
        ({"collect": ["serch"]}, "unknown model 'serch'"),
        ({"collect": ["scripted:none.json"]}, "none.json"),
        ({"collect": ["http://u:secret@h/v1#m"]}, "must be a URL without credentials"),
        ({"collect": ["http://127.0.0.1:9/v1#m"], "collect_arg": ["api_key=secret"]}, "must not contain 'api_key'"),
        ({"base_arg": ["batch=0"]}, "batch"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_in_one_sentence_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: Path, options: dict, error: str
) -> None:
    pytest.importorskip("trl", reason="TRAINING IS NOT INSTALLED: pip install 'peirce[train]'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    settings = {"data": data, "out": tmp_path / "out", **OPTIONS, **options}
    with pytest.raises(PeirceError) as raised:
        peirce.reproduce("gear-table4", **settings)
    assert error in str(raised.value) and "\n" not in str(raised.value)
    assert not (tmp_path / "out" / "experiment.json").exists()


def test_an_experiment_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="experiment 'gear-table3': it must be one of gear-table4"):
        peirce.reproduce("gear-table3")


def test_training_settings_of_the_experiment_may_not_stand_in_the_file(
    tmp_path: Path, data: Path
) -> None:
    (tmp_path / "t.yaml").write_text("examples: 64\n")
    with pytest.raises(UsageError, match="sets examples: use --examples of peirce reproduce"):
        peirce.plan_reproduction(
            "gear-table4", data=data, train_config=tmp_path / "t.yaml", **OPTIONS
        )


def test_observations_that_cannot_be_shown_are_found_before_the_first_session(
    tmp_path: Path,
) -> None:
    pytest.importorskip("trl", reason="TRAINING IS NOT INSTALLED: pip install 'peirce[train]'")
    place = write_published(tmp_path / "data", ("acre",))
    file = place / "io_pairs" / "acre_3.json"
    held = json.loads(file.read_text())
    for pairs in held.values():
        pairs[0][1] = "undetermined"
    file.write_text(json.dumps(held))
    out = tmp_path / "out"
    with pytest.raises(DataError, match=r"acre_3\.json.*undetermined"):
        peirce.reproduce("gear-table4", data=place, out=out, base="tiny", collect=["search"])
    assert not (out / "sessions.duckdb").exists()


def test_the_dry_run_counts_the_calls_of_all_steps_without_the_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    plan = peirce.plan_reproduction(
        "gear-table4", base="Qwen/Qwen2.5-7B-Instruct", data=data,
        collect=["openai:one", "http://127.0.0.1:1/v1#two"],
    )  # fmt: skip
    kinds = Counter(step.kind for step in plan.steps)
    assert kinds == {"fetch": 1, "collect": 8, "pairs": 1, "train": 5, "evaluate": 12, "results": 1}
    by_name = {step.step: step for step in plan.steps}
    collected = by_name["collect openai:one acre 2"]
    assert (collected.problems, collected.least_calls, collected.most_calls) == (6, 18, 150)
    assert collected.gpu_hours is None and collected.tokens_in > 200 * collected.calls
    evaluated = by_name["evaluate momentum acre"]
    assert evaluated.calls == evaluated.least_calls == 4 * 5 * 3
    trained = by_name["train momentum"]
    assert 1 < trained.gpu_hours < 100 and trained.disk_bytes > 5e9
    assert plan.total["calls"] == sum(step.calls or 0 for step in plan.steps)
    assert plan.steps[0].disk_bytes == pytest.approx(15.24e9)
    assert any("7.62 billion parameters" in one for one in plan.assumptions)
    assert list(tmp_path.iterdir()) == []  # nothing was written


def test_faster_assumptions_make_a_cheaper_plan(data: Path) -> None:
    def hours(**costs: float) -> float:
        plan = peirce.plan_reproduction(
            "gear-table4", base="some-8B", data=data, collect=["openai:one"],
            costs=peirce.CostAssumptions(**costs),
        )  # fmt: skip
        return float(plan.total["gpu_hours"])

    usual = hours()
    assert hours(train_rate=6_000.0) < usual < hours(base_size="14B")


def test_the_size_of_a_model_comes_from_its_files_or_its_name(tmp_path: Path) -> None:
    known = find_model_size("Qwen/Qwen2.5-7B-Instruct", None, None)
    assert known.parameters == 7.62e9
    assert known.adapter_weights(128) == 128 * 28 * (7_168 + 7_168 + 2 * 4_096 + 3 * 22_528)
    assert find_model_size("org/Other-3.5b-it", None, None).parameters == 3.5e9
    assert find_model_size("org/Other-3.5b-it", None, "500M").parameters == 5e8
    config = {"hidden_size": 8, "num_hidden_layers": 2, "intermediate_size": 16, "vocab_size": 10,
              "num_attention_heads": 2, "tie_word_embeddings": True}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    here = find_model_size("any", tmp_path, None)
    assert here.parameters == 80 + 2 * 8 * (32 + 48 + 2) + 8 and here.on_disk
    with pytest.raises(UsageError, match="neither in its files nor in its name: add --base-size"):
        find_model_size("org/unnamed", None, None)
    with pytest.raises(UsageError, match="--base-size 'huge'"):
        find_model_size("org/unnamed", None, "huge")
