"""The bench that prints banks of published sets, on a generated one in their layout."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest
from peirce import cli

ROOT = Path(__file__).resolve().parents[2]
SET = "admission/level_1/base"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("banks")
    generate = [
        "tasks",
        "generate",
        "labels:admission",
        "--level",
        "base",
        "--out",
        str(place / "data"),
    ]
    with pytest.raises(SystemExit) as ended:
        cli.main(generate)
    assert not ended.value.code
    return place


def bench(made: Path) -> str:
    script = [
        str(ROOT / "bench/hypobench_banks.py"),
        str(made / "data"),
        "--out",
        str(made / "out"),
    ]
    more = ["--only", SET, "--write", str(made / "page.md")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [*script, *more])
        patch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
        runpy.run_path(script[0], run_name="__main__")
    return (made / "page.md").read_text()


@pytest.fixture(scope="module")
def page(made: Path) -> str:
    return bench(made)


def test_the_page_has_accuracies_beside_baselines_and_the_bank_and_is_made_once(
    made: Path, page: str
) -> None:
    (row,) = map(json.loads, (made / "out/hypobench-banks.jsonl").read_text().splitlines())
    assert row["splits"]["ind"]["right"] == row["splits"]["ind"]["n"] == 200
    assert (row["hdr"], row["rules"][0]["overlap"]) == (1.0, 1.0)
    assert f"| {SET} | 200 | 1 | 0 | 200 | 1.000 [" in page
    assert row["bank"][0] in page and "True rules that the bank" not in page
    before = (made / "out/hypobench-banks.jsonl").read_bytes()
    assert bench(made) == page and (made / "out/hypobench-banks.jsonl").read_bytes() == before


@pytest.mark.usefixtures("page")
def test_rows_of_the_training_file_are_counted_apart(made: Path) -> None:
    (row,) = map(json.loads, (made / "out/hypobench-banks.jsonl").read_text().splitlines())
    train, test = (
        json.loads((made / "data" / SET / f"{split}.json").read_text())
        for split in ("train", "test")
    )
    label = list(train)[-1]
    columns = [name for name in train if name != label]
    seen = {tuple(train[name][n] for name in columns) for n in range(len(train[label]))}
    among = sum(tuple(test[name][n] for name in columns) in seen for n in range(len(test[label])))
    assert row["splits"]["ind"]["seen"]["n"] == among
