"""The published layout of HypoGeniC and HypoBench as problems: splits, labels, columns, reports."""

from __future__ import annotations

import json
import random
import time
import warnings
from pathlib import Path

import pytest
from label_sets import loaded, published, rows, split, three, write
from peirce.records import DataError, UsageError
from peirce.tasks import DataWarning, load_problems, load_task

KNOWN = {
    "labels": {"label": {"values": ["good", "bad"]}},
    "known_hypotheses": ["Cold soup is bad."],
}


def test_a_problem_shows_a_sample_of_training_rows_and_hides_the_rest(tmp_path: Path) -> None:
    root = published(tmp_path / "meals", three(ood=rows(4, start=300)), metadata=KNOWN)
    problem = loaded(root, observations="5", seed=42)
    assert problem.id == "meals#0" and problem.group == "meals" and problem.family == "text"
    train = rows(20)
    drawn = random.Random(42).sample(range(20), 5)
    assert [one.input for one in problem.shown] == [{"text": train["text"][n]} for n in drawn]
    assert [one.output for one in problem.shown] == [train["label"][n] for n in drawn]
    assert problem.secret == {
        "splits": {"val": [0, 6], "ind": [6, 14], "ood": [14, 18]},
        "known": ["Cold soup is bad."],
    }
    assert split(problem, "ood")[0] == ({"text": rows(1, start=300)["text"][0]}, "good")
    assert problem.public["labels"] == ["good", "bad"] and problem.public["shape"] == "text"
    assert "templates" not in problem.public


def test_samples_are_numbered_problems(tmp_path: Path) -> None:
    for name in ("b", "a/c"):
        published(tmp_path / "root" / name, three())

    def ids(**options: object) -> list[str]:
        found = load_problems("labels", str(tmp_path / "root"), observations="4", **options)
        return [p.id for p, _ in found]

    assert ids() == ["a/c#0", "b#0"]
    assert ids(problems=1) == ["a/c#0"]
    assert ids(problems=5) == ["a/c#0", "b#0", "a/c#1", "b#1", "a/c#2"]
    assert ids(ids=["b#3", "a/c"]) == ["b#3", "a/c#0"]
    assert ids(ids=["b"], problems=3) == ["b#0", "b#1", "b#2"]
    assert len(ids(sample=1)) == 1
    with pytest.raises(UsageError, match="no problem 'bb' in the data; did you mean b"):
        ids(ids=["bb"])
    with pytest.raises(UsageError, match="no problem 'b#x'"):
        ids(ids=["b#x"])


def test_sample_k_is_drawn_by_seed_and_k(tmp_path: Path) -> None:
    root = published(tmp_path / "meals", three())
    one = loaded(root, ids=["meals#3"], observations="4", seed=7)
    texts = rows(20)["text"]
    assert [o.input["text"] for o in one.shown] == random.Random(10).sample(texts, 4)
    assert len(loaded(root, observations="1000").shown) == 20
    for wrong in ("0", "x", "rows.jsonl"):
        with pytest.raises(UsageError, match=f"--observations {wrong}"):
            loaded(root, observations=wrong)


def test_the_templates_name_the_inputs_and_their_order_is_that_of_the_file(tmp_path: Path) -> None:
    more = {"id": list(range(20)), "note": ["n"] * 20}
    sets = three()
    sets["train"] = {**more, **sets["train"]}
    config = "prompt_templates:\n  observations:\n    multi_content: 'A: ${text} ${label}'\n"
    problem = loaded(published(tmp_path / "meals", sets, config))
    assert list(problem.public["columns"]) == ["text"]
    assert problem.public["templates"]["observations"]["multi_content"] == "A: ${text} ${label}"


def test_a_column_that_holds_the_label_is_left_out_and_reported(tmp_path: Path) -> None:
    sets = three()
    for columns in sets.values():
        columns["verdict"] = [f"the meal was {one}." for one in columns["label"]]
    with pytest.warns(DataWarning, match="'verdict' holds the label of its row"):
        problem = loaded(published(tmp_path / "meals", sets))
    assert list(problem.public["columns"]) == ["text"]


def test_the_label_name_of_the_config_wins_and_a_mismatch_is_reported(tmp_path: Path) -> None:
    sets = {split: {"text": one["text"], "verdict": one["label"]} for split, one in three().items()}
    root = published(tmp_path / "meals", sets, "label_name: verdict \n", metadata=KNOWN)
    with pytest.warns(DataWarning, match="label column is 'verdict', but .*metadata.json calls it"):
        assert loaded(root).public["label_name"] == "verdict"
    with pytest.raises(
        DataError, match=r"meals_train\.json: there is no label column 'verdct'; did you mean"
    ):
        loaded(root, label="verdct")


def test_a_config_without_label_name_takes_that_of_the_metadata(tmp_path: Path) -> None:
    sets = {split: {"text": one["text"], "mood": one["label"]} for split, one in three().items()}
    root = published(
        tmp_path / "meals", sets, metadata={"labels": {"mood": {"values": ["bad", "good"]}}}
    )
    assert loaded(root).public["labels"] == ["bad", "good"]


def test_a_file_that_is_not_there_gives_way_to_a_near_one(tmp_path: Path) -> None:
    names = {split: f"meals_{split}_level1.json" for split in ("train", "val", "test")}
    root = published(tmp_path / "meals", three(), names=names)
    with pytest.warns(DataWarning, match=r"meals_val_level1\.json does not exist; meals_val\.json"):
        problem = loaded(root)
    assert problem.secret["splits"] == {"val": [0, 6], "ind": [6, 14]}
    (root / "meals_test.json").unlink()
    with (
        warnings.catch_warnings(),
        pytest.raises(DataError, match="test_data_path: meals_test_level1"),
    ):
        warnings.simplefilter("ignore")
        loaded(root)


def test_swapped_files_are_reported_and_the_config_is_followed(tmp_path: Path) -> None:
    names = {"val": "meals_test.json", "test": "meals_val.json"}
    with pytest.warns(DataWarning, match=r"val_data_path is meals_test\.json"):
        problem = loaded(published(tmp_path / "meals", three(), names=names))
    assert problem.secret["splits"] == {"val": [0, 8], "ind": [8, 14]}


def test_ood_is_that_of_the_config_else_by_name_with_a_choice(tmp_path: Path) -> None:
    root = published(tmp_path / "meals", three())
    assert "ood" not in loaded(root).secret["splits"]
    with pytest.raises(UsageError, match="--ood x: meals has no OOD rows with a name"):
        loaded(root, ood="x")
    for name, count in (("north", 1), ("south", 2), ("all", 3)):
        write(root / f"ood_meals_{name}.json", rows(count, start=400))
    assert len(split(loaded(root), "ood")) == 3
    assert len(split(loaded(root, ood="south"), "ood")) == 2
    assert len(split(loaded(f"{root}?ood=north"), "ood")) == 1
    assert "ood" not in loaded(root, ood="none").secret["splits"]
    with pytest.raises(
        UsageError, match="--ood suoth: meals has no such OOD rows; did you mean south"
    ):
        loaded(root, ood="suoth")
    (root / "ood_meals_all.json").unlink()
    assert len(split(loaded(root), "ood")) == 3, "all of them, where none is named all"
    with (root / "config.yaml").open("a") as config:
        config.write("ood_data_path: ./ood_meals_south.json\n")
    assert len(split(loaded(root), "ood")) == 2
    assert len(split(loaded(root, ood="north"), "ood")) == 1


def test_rows_of_training_in_other_splits_are_counted(tmp_path: Path) -> None:
    sets = three()
    sets["test"] = rows(8, start=17)
    with pytest.warns(DataWarning, match="3 of 8 test rows have the inputs of a training row"):
        loaded(published(tmp_path / "meals", sets))


def test_a_label_that_training_never_has_is_an_error(tmp_path: Path) -> None:
    sets = three()
    sets["test"]["label"][2] = "awful"
    with pytest.raises(
        DataError,
        match=r"meals_test\.json, row 3: the label 'awful' does not occur in the training rows; known labels are bad, good",
    ):
        loaded(published(tmp_path / "meals", sets))


def test_labels_of_all_files_come_back_in_one_writing(tmp_path: Path) -> None:
    sets = three()
    sets["test"]["label"] = [one.upper() + "." for one in sets["test"]["label"]]
    problem = loaded(published(tmp_path / "meals", sets))
    assert {one.output for one in problem.hidden} == {"good", "bad"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"label": ["good"] * 19}, r"different lengths \(text 20, label 19\)"),
        (
            {"label": ["good"] * 19 + [None]},
            r"row 20: there is no label in 'label'; give it one, or leave the row out \(--skip-bad\)$",
        ),
        ({"label": ["good"] * 19 + [" "]}, "row 20: there is no label in 'label'"),
        ({"label": ["good", "Good"] * 10}, "differ only in case"),
        ({"label": "good"}, "label: a column must be a list"),
        ({"text": [[1]] * 20}, ": no columns are left to predict "),
        ({"text": [], "label": []}, "the file has no rows"),
    ],
)
def test_bad_training_rows_are_one_sentence(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    sets = three()
    sets["train"] |= change
    with warnings.catch_warnings(), pytest.raises(DataError, match=rf"meals_train\.json.*{said}"):
        warnings.simplefilter("ignore")
        loaded(published(tmp_path / "meals", sets))


def test_numbers_to_predict_are_no_labels(tmp_path: Path) -> None:
    sets = {"train": {"text": rows(60)["text"], "label": [n / 7 for n in range(60)]}}
    with pytest.raises(
        DataError, match="60 different values in 60 rows, but a label must be one of a few classes"
    ):
        loaded(published(tmp_path / "meals", sets | {"val": sets["train"]}))


def test_an_empty_split_and_a_broken_config_are_one_sentence(tmp_path: Path) -> None:
    sets = three()
    sets["test"] = {"text": [], "label": []}
    with pytest.raises(DataError, match=r"meals_test\.json: the file has no rows"):
        loaded(published(tmp_path / "meals", sets))
    for text, said in (
        ("a: [", r"line \d: not YAML"), ("- a", "must be a mapping"), ("label_name: [x]", "must be a text"),
    ):  # fmt: skip
        write(tmp_path / "meals" / "config.yaml", text)
        with pytest.raises(DataError, match=rf"config\.yaml.*{said}"):
            loaded(tmp_path / "meals")


def test_one_label_alone_is_reported(tmp_path: Path) -> None:
    sets = {
        name: rows(6, ("good",), start=n) for n, name in ((0, "train"), (50, "val"), (90, "test"))
    }
    with pytest.warns(DataWarning, match="all training rows .6. have the label 'good'"):
        loaded(published(tmp_path / "meals", sets))


def test_two_texts_to_choose_from_are_a_pair_with_labels_in_their_order(tmp_path: Path) -> None:
    def pairs(count: int, start: int) -> dict[str, object]:
        one, other = rows(count, start=start), rows(count, start=start + 500)
        return {
            "headline_2": other["text"],
            "headline_1": one["text"],
            "label": [f"Headline {1 + n % 2}" for n in range(count, 0, -1)],
        }

    sets = {"train": pairs(20, 0), "val": pairs(6, 100), "test": pairs(6, 200)}
    public = loaded(published(tmp_path / "meals", sets)).public
    assert public["shape"] == "pair" and list(public["columns"]) == ["headline_1", "headline_2"]
    assert public["labels"] == ["Headline 1", "Headline 2"]
    for one in sets.values():
        one["label"] = [("yes", "no")[n % 2] for n in range(len(one["label"]))]
    assert loaded(published(tmp_path / "meals", sets)).public["shape"] == "fields"


def test_permuting_test_labels_changes_nothing_that_a_session_sees(tmp_path: Path) -> None:
    sets = three()
    before, space = load_problems("labels", str(published(tmp_path / "meals", sets)))[0]
    sets["test"]["label"].reverse()
    after, other = load_problems("labels", str(published(tmp_path / "meals", sets)))[0]
    assert before.hidden != after.hidden
    assert before.make_view(space) == after.make_view(other) and space == other


def test_the_sample_space_is_of_validation_rows_and_at_most_100(tmp_path: Path) -> None:
    sets = three()
    sets["val"] = rows(300, start=1000)
    (problem, space), = load_problems("labels", str(published(tmp_path / "meals", sets)))  # fmt: skip
    assert len(space) == 100
    assert {one["text"] for one in space.inputs} <= {
        one["text"] for one, _ in split(problem, "val")
    }
    del sets["val"]
    (problem, space), = load_problems("labels", str(published(tmp_path / "few", sets)))  # fmt: skip
    assert {one["text"] for one in space.inputs} == {one.input["text"] for one in problem.shown}


def test_the_identity_of_data_changes_with_any_of_its_files(tmp_path: Path) -> None:
    root = published(tmp_path / "meals", three(), metadata=KNOWN)
    identity = getattr(load_task("labels"), "identify_data")  # noqa: B009 - beyond the Protocol
    before = identity(root)
    assert before["name"] == "meals" and before == identity(str(root))
    write(root / "metadata.json", {})
    assert identity(root) != before


def test_9000_rows_load_soon(tmp_path: Path) -> None:
    root = published(tmp_path / "meals", {**three(), "train": rows(9000, start=1000)})
    begun = time.process_time()
    loaded(root)
    assert time.process_time() - begun < 20


# --- the published data sets themselves -------------------------------------------------


def test_the_golden_trace_sees_its_rows(shared_data: Path) -> None:
    trace = json.loads((shared_data / "text" / "hypogenic_golden_trace.json").read_text())
    with pytest.warns(DataWarning, match="'shoe' reveals the label and is ignored"):
        problem = loaded(shared_data / "text" / "shoe", seed=42)
    assert [one.input["appearance"] for one in problem.shown[:2]] == trace["train_first2"]
    assert len(problem.shown) == 200 and problem.id == "shoe#0"
    assert list(problem.public["columns"]) == ["appearance"]


def test_all_published_data_sets_load(shared_data: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {p.id: p for p, _ in load_problems("labels", str(shared_data / "text"))}
    assert len(found) == 16
    reviews = found["hotel_reviews#0"]
    assert reviews.secret["splits"] == {"val": [0, 300], "ind": [300, 800], "ood": [800, 1440]}
    grown = found["admission/level_3/size_10#0"].public
    assert grown["shape"] == "fields" and grown["labels"] == ["admitted", "rejected"]
    kinds = {told["kind"] for told in grown["columns"].values()}
    assert kinds == {"choice", "number", "truth"}
    assert grown["columns"]["math"]["values"] == ["A", "B", "C", "D", "F"]
    for problem in found.values():
        assert {one.output for one in (*problem.shown, *problem.hidden)} <= set(
            problem.public["labels"]
        )
        assert len(load_task("labels").draw_problem(problem)) < 12_000  # type: ignore[attr-defined]
