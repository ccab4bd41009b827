"""A user's own labelled rows: forms of files, where splits come from, rows to predict; the generator.

Internals: rows to predict are read alone, without the bank that predicts them.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from label_sets import loaded, published, rows, split, three, write
from peirce import check
from peirce.records import DataError, Json, UsageError
from peirce.tasks import DataWarning, load_problems, load_task
from peirce.tasks.text.sources import read_rows

RECORDS = {
    "math": [("A", "B")[n % 2] for n in range(40)],
    "papers": [n % 4 for n in range(40)],
    "share": [n / 8 for n in range(40)],
    "sport": [n % 3 == 0 for n in range(40)],
    "zip": [f"0{n}" for n in range(40)],
    "label": [("in", "out")[n % 2] for n in range(40)],
}


def as_rows(columns: dict[str, Any]) -> list[dict[str, Json]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def written(path: Path, columns: dict[str, Any]) -> Path:
    """In the form that the name says."""
    form = path.name.removesuffix(".gz").rpartition(".")[2]
    some = as_rows(columns)
    if form == "csv":
        with path.open("w", newline="") as out:
            table = csv.DictWriter(out, list(columns))
            table.writeheader()
            table.writerows(some)
    elif form == "parquet":
        import duckdb

        source = written(path.with_suffix(".jsonl"), columns)
        duckdb.sql(
            f"SELECT * FROM read_json('{source}', convert_strings_to_integers=false)"
        ).write_parquet(str(path))
        source.unlink()
    else:
        lines = "".join(json.dumps(one) + "\n" for one in some)
        write(path, {"rows": some, "json": columns}.get(form, lines))
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(path.read_bytes()))
    return path


@pytest.mark.parametrize("name", ["[ab].parquet", "*.parquet", "a?.parquet", "label=x/a.parquet"])
def test_a_parquet_file_is_read_alone_whatever_its_name(tmp_path: Path, name: str) -> None:
    """DuckDB takes such names for patterns, and a folder `label=x` for a column."""
    for other in ("a.parquet", "b.parquet", "ax.parquet"):
        written(tmp_path / other, {"text": ["other"] * 4, "label": ["p", "q"] * 2})
    (tmp_path / "label=x").mkdir()
    (tmp_path / "own.parquet").touch()
    own = written(tmp_path / "own.parquet", {"text": ["a", "b", "c", "d"], "label": ["y", "z"] * 2})
    found = read_rows(own.rename(tmp_path / name), {"text": {"kind": "text"}}, "label")
    assert [(row.input["text"], row.label) for row in found] == [*zip("abcd", "yzyz", strict=True)]


def test_a_small_parquet_file_of_very_many_rows_is_refused_before_it_is_read(
    tmp_path: Path,
) -> None:
    import duckdb

    place = tmp_path / "r.parquet"
    duckdb.sql("SELECT 'a' AS text, 'b' AS label FROM range(10_000_001)").write_parquet(str(place))
    assert place.stat().st_size < 1_000_000
    with pytest.raises(DataError, match="10,000,001 rows of 2 columns are too many"):
        read_rows(place, {"text": {"kind": "text"}}, "label")


def test_integers_beyond_floats_are_data_like_others(tmp_path: Path) -> None:
    """JSON has them, and a sentence that compares the column finds that they are no number."""
    large = 10**400
    lines = [
        {"text": f"a {n}", "n": large if n == 9 else n, "label": "ab"[n % 2]} for n in range(10)
    ]
    problem = loaded(write(tmp_path / "r.jsonl", "".join(json.dumps(one) + "\n" for one in lines)))
    (tmp_path / "s.jsonl").write_text(
        "".join(
            json.dumps({"problem": problem.id, "hypothesis": f"If n is {bound}, then the label is b;"
                                                             " otherwise, the label is a."}) + "\n"
            for bound in ("at least 5", "5")
        )
    )  # fmt: skip
    out = check("labels", answers=tmp_path / "s.jsonl", data=tmp_path / "r.jsonl", judge="exact")
    assert len([*out]) == 2


@pytest.mark.parametrize(
    "name", ["r.csv", "r.jsonl", "r.csv.gz", "r.jsonl.gz", "r.json.gz", "r.parquet"]
)
def test_all_forms_of_a_file_give_one_problem(tmp_path: Path, name: str) -> None:
    with pytest.warns(DataWarning, match="40 rows without splits are divided 60/20/20 with seed 0"):
        whole = loaded(written(tmp_path / "r.json", RECORDS))
        other = loaded(written(tmp_path / name, RECORDS))
    assert whole == other and whole.id == "r#0"
    kinds = {column: told["kind"] for column, told in whole.public["columns"].items()}
    assert kinds == {
        "math": "choice",
        "papers": "number",
        "share": "number",
        "sport": "truth",
        "zip": "text",
    }


def test_rows_without_splits_are_parted_label_by_label_in_the_order_of_the_file(
    tmp_path: Path,
) -> None:
    columns = rows(50, ("good", "good", "good", "bad"))
    columns["text"].append("one of its kind")
    columns["label"].append("odd")
    path = written(tmp_path / "meals.csv", columns)
    with pytest.warns(DataWarning, match=r"with seed 3 \(33 train, 9 val, 9 test\)"):
        problem = loaded(path, seed=3)
    assert problem.public["labels"] == ["bad", "good", "odd"]
    for name in ("val", "ind"):
        assert Counter(label for _, label in split(problem, name)) == {"good": 7, "bad": 2}
        places = [columns["text"].index(one["text"]) for one, _ in split(problem, name)]
        assert places == sorted(places)
    texts = [o.input["text"] for o in problem.shown] + [o.input["text"] for o in problem.hidden]
    assert sorted(texts) == sorted(columns["text"])


def test_a_column_split_parts_the_rows_of_one_file(tmp_path: Path) -> None:
    columns = {**rows(10), "split": ["train"] * 5 + ["validation"] * 2 + ["test"] * 2 + ["ood"]}
    problem = loaded(written(tmp_path / "meals.csv", columns))
    assert problem.secret["splits"] == {"val": [0, 2], "ind": [2, 4], "ood": [4, 5]}
    assert list(problem.public["columns"]) == ["text"] and len(problem.shown) == 5


@pytest.mark.parametrize(
    "names",
    [
        ("train.csv", "val.csv", "test.csv", "ood.csv"),
        ("meals_train.jsonl", "meals_dev.jsonl", "meals_test.jsonl", "meals_test_ood.jsonl"),
        ("train.parquet", "validation.parquet", "test.parquet", "ood.parquet"),
        ("data/train-00000-of-00001.parquet", "data/validation-00000-of-00001.parquet",
         "data/test-00000-of-00001.parquet", "data/ood-00000-of-00001.parquet"),
        ("train/rows.jsonl", "validation/rows.jsonl", "test/rows.jsonl", "ood/rows.jsonl"),
    ],
)  # fmt: skip
def test_files_of_a_folder_are_taken_by_their_names(tmp_path: Path, names: tuple[str, ...]) -> None:
    sets = three(ood=rows(4, start=300))
    for name, columns in zip(names, sets.values(), strict=True):
        (tmp_path / "meals" / name).parent.mkdir(parents=True, exist_ok=True)
        written(tmp_path / "meals" / name, columns)
    problem = loaded(tmp_path / "meals")
    assert problem.secret["splits"] == {"val": [0, 6], "ind": [6, 14], "ood": [14, 18]}
    assert problem.id == "meals#0" and len(problem.shown) == 20


def test_shards_are_joined_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "meals"
    folder.mkdir()
    for number in (1, 0):
        written(folder / f"train-0000{number}-of-00002.parquet", rows(5, start=5 * number))
    written(folder / "test.parquet", rows(4, start=50))
    problem = loaded(folder, observations="10", seed=1)
    assert [o.input["text"] for o in problem.shown] == random.Random(1).sample(rows(10)["text"], 10)
    assert problem.secret["splits"] == {"ind": [0, 4]}, "no validation rows: none are made"


def test_a_data_set_of_hugging_face_as_it_saves_itself(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="PYARROW ABSENT: Arrow files are not read")
    info = {"info": {"features": {"label": {"names": ["neg", "pos"], "_type": "ClassLabel"}}}}
    for name, count in (("train", 12), ("validation", 4), ("test", 4)):
        folder = tmp_path / "saved" / name
        folder.mkdir(parents=True)
        table = arrow.table(
            {"text": rows(count, start=len(name) * 10)["text"], "label": [0, 1] * (count // 2)}
        )
        table = table.replace_schema_metadata({"huggingface": json.dumps(info)})
        place = str(folder / "data-00000-of-00001.arrow")
        with arrow.OSFile(place, "wb") as out, arrow.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
        write(folder / "state.json", {"_data_files": []})
    write(tmp_path / "saved" / "dataset_dict.json", {"splits": ["train", "validation", "test"]})
    problem = loaded(tmp_path / "saved")
    assert problem.public["labels"] == ["neg", "pos"]
    assert problem.secret["splits"] == {"val": [0, 4], "ind": [4, 8]}


def test_the_label_column_is_named_by_the_option_the_path_or_a_config_beside(
    tmp_path: Path,
) -> None:
    columns = {"text": rows(20)["text"], "mood": rows(20)["label"]}
    path = written(tmp_path / "meals.csv", columns)
    (tmp_path / "pairs").mkdir()
    pairs = written(
        tmp_path / "pairs" / "pairs.csv", {"input": columns["text"], "output": columns["mood"]}
    )
    with pytest.raises(DataError, match="pairs of input and output are of the task `examples`"):
        loaded(pairs)
    with pytest.raises(
        DataError, match=r"no label column 'label'; valid choices are text, mood; --label"
    ):
        loaded(path)
    with pytest.warns(DataWarning, match="60/20/20"):
        for problem in (loaded(path, label="mood"), loaded(f"{path}?label=mood")):
            assert problem.public["label_name"] == "mood"
        write(tmp_path / "config.yaml", "label_name: mood\n")
        assert loaded(path).public["label_name"] == "mood"
        assert loaded(tmp_path).public["label_name"] == "mood"
    with pytest.raises(UsageError, match="no setting 'lable' of data; did you mean label"):
        loaded(f"{path}?lable=mood")
    with pytest.raises(DataError, match="no column 'txt' besides the label; did you mean text"):
        loaded(f"{path}?columns=txt")


@pytest.mark.filterwarnings("ignore::peirce.tasks.io.messages.DataWarning")
def test_the_columns_of_the_path_are_the_inputs(tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", {"id": list(range(40)), **RECORDS})
    assert list(loaded(f"{path}?columns=papers,math").public["columns"]) == ["papers", "math"]
    assert "id" not in loaded(path).public["columns"]


def test_a_missing_cell_is_none_and_a_text_among_numbers_is_an_error(tmp_path: Path) -> None:
    columns = {**RECORDS, "papers": [None, *RECORDS["papers"][1:]]}
    with pytest.warns(DataWarning):
        problem = loaded(written(tmp_path / "r.csv", columns))
    assert None in {o.input["papers"] for o in (*problem.shown, *problem.hidden)}
    sets = {"train": RECORDS, "val": RECORDS, "test": {**RECORDS, "papers": ["many"] * 40}}
    with pytest.raises(
        DataError, match=r"meals_test\.json, row 1, papers: must be a number as in other rows"
    ):
        loaded(published(tmp_path / "meals", sets))


def test_other_options_and_other_files_are_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path / "rows.txt", "a b")
    write(tmp_path / "two" / "a.csv", "text,label\nx,y\n")
    write(tmp_path / "two" / "b.csv", "text,label\nx,y\n")
    write(tmp_path / "held" / "test.csv", "text,label\nx,y\n")
    write(tmp_path / "cut.parquet", "PAR1")
    write(tmp_path / "none.csv", "text,label\n")
    for name, error, said in (
        ("nowhere", UsageError, "no such file"),
        ("empty", UsageError, "no data here"),
        ("rows.txt", DataError, "must be one of .json"),
        ("two", UsageError, r"several tables \(a.csv, b.csv\)"),
        ("held", DataError, "no training rows, only test"),
        ("cut.parquet", DataError, "cannot be read"),
        ("none.csv", DataError, "the file has no rows"),
    ):
        with pytest.raises(error, match=said):
            loaded(tmp_path / name)
    with pytest.raises(UsageError, match="--ood x needs --data"):
        load_problems("labels", ood="x")
    with pytest.raises(UsageError, match="--label x: list_functions has no labelled text"):
        load_problems("list_functions", label="x")


@pytest.mark.parametrize("name", ["new.csv.gz", "new.jsonl", "new.json", "new.parquet"])
def test_rows_to_predict_need_no_labels(tmp_path: Path, name: str) -> None:
    with pytest.warns(DataWarning):
        columns = loaded(written(tmp_path / "r.json", RECORDS)).public["columns"]
    fresh = {key: RECORDS[key][:3] for key in ("zip", "sport", "share", "papers", "math")}
    found = read_rows(written(tmp_path / name, fresh), columns)
    assert [one.input for one in found] == as_rows({key: fresh[key] for key in columns})
    assert {one.label for one in found} == {None} and name in found[0].where
    with_label = written(tmp_path / f"l-{name}", {**fresh, "label": ["in", "out", "in"]})
    assert [one.label for one in read_rows(with_label, columns, "label")] == ["in", "out", "in"]
    del fresh["math"]
    with pytest.raises(DataError, match="no column 'math'"):
        read_rows(written(tmp_path / name, fresh), columns)


def test_bare_labels_are_the_admission_sets_of_the_seed() -> None:
    made = [problem for problem, _ in load_problems("labels", problems=4, seed=5)]
    assert [one.id for one in made] == [
        "admission/level_1/base#0", "admission/level_2/depth_2#0", "admission/level_2/size_5#0",
        "admission/level_2/distractor_3#0",
    ]  # fmt: skip
    assert (
        made == load_task("labels").generate(4, 5) == load_task("labels:admission").generate(4, 5)
    )
    assert made != load_task("labels").generate(4, 6)
    (again, _), = load_problems("labels", ids=["admission/level_2/size_5#2"], seed=5)  # fmt: skip
    assert again.hidden == made[2].hidden and again.shown != made[2].shown
    with pytest.raises(
        UsageError, match="labels has no generator 'admision'; did you mean admission"
    ):
        load_task("labels:admision")


def test_beyond_the_grid_rules_are_drawn_and_splits_balanced() -> None:
    made = [problem for problem, _ in load_problems("labels", problems=30, seed=5)]
    assert [one.id for one in made[26:]] == [f"admission-5-{n}#0" for n in range(4)]
    for one in made[26:]:
        assert Counter(o.output for o in one.shown) == {"admitted": 100, "rejected": 100}
        for name in ("val", "ind"):
            assert Counter(label for _, label in split(one, name)) == {
                "admitted": 100,
                "rejected": 100,
            }
        assert one.public["shape"] == "fields" and len(one.secret["known"]) == 1
    (again, _), = load_problems("labels", ids=["admission-5-3#2"], seed=5)  # fmt: skip
    assert again.hidden == made[29].hidden and again.shown != made[29].shown


def test_what_is_generated_reads_back_as_the_same_problems(tmp_path: Path) -> None:
    write_sets = getattr(load_task("labels"), "write")  # noqa: B009 - beyond the Protocol
    told = write_sets(tmp_path / "new", 2, 7, {})
    assert told["problems"] == 2 and len(told["files"]) == 10
    back = [problem for problem, _ in load_problems("labels", str(tmp_path / "new"), seed=7)]
    assert back == [problem for problem, _ in load_problems("labels", problems=2, seed=7)]
    with pytest.raises(UsageError, match="the folder is not empty; choose a new folder"):
        write_sets(tmp_path / "new", 2, 7, {})


def test_a_problem_is_drawn_for_a_person() -> None:
    (problem, _), = load_problems("labels", problems=1)  # fmt: skip
    said = load_task("labels").draw_problem(problem)  # type: ignore[attr-defined]
    assert max(map(len, said.splitlines())) <= 98
    assert "labels: admitted 100, rejected 100" in said and "200 validation, 200 test" in said


@pytest.mark.parametrize(
    ("names", "option"),
    [
        (("text", "Label"), "Label"),
        (("text", "mood of it"), "'mood of it'"),
        (("LABEL", "a"), "LABEL"),
    ],
)
def test_an_unnamed_label_column_is_answered_by_an_option_to_copy(
    tmp_path: Path, names: tuple[str, str], option: str
) -> None:
    some = rows(20)
    cells = {names[0]: some["text"], names[1]: some["label"]}
    path = written(tmp_path / "meals.csv", cells)
    with pytest.raises(DataError, match=rf"; valid choices are {names[0]}, .*--label {option}$"):
        loaded(path)


def test_rows_without_a_label_are_counted_from_the_first_of_the_file(tmp_path: Path) -> None:
    some = rows(40)
    labels = ["" if n % 9 == 4 else one for n, one in enumerate(some["label"])]
    path = written(tmp_path / "meals.csv", {"text": some["text"], "label": labels})
    with pytest.warns(DataWarning, match="60/20/20"), pytest.raises(DataError) as raised:
        loaded(path)
    assert str(raised.value) == (
        f"{path}, line 6: there is no label in 'label', as in 3 more; give them labels,"
        " or leave these rows out (--skip-bad)"
    )
