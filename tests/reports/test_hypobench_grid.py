"""bench/hypobench_grid.py without its sessions: kinds of sets, rows that are kept, the page."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
    import hypobench_grid

    return hypobench_grid


def row(name: str, **other: Any) -> dict[str, Any]:
    scores = dict.fromkeys(
        ("hdr", "hdr_read", "hdr_identified", "hdr_released", "precision", "identical"), 0.5
    )
    told = {"set": name, "generator": name.split("/")[0].removesuffix("_adv"), "seed": 0, "code": "a",
            "accuracy": 0.9, "best": 1.0, "majority": 0.5, "rules": 4, "rules_stated": 4, "rules_read": 3, "identified": 0.75, "depth": 1,
            "noise_level": 0, "distractor": 0, "sentences": 5, "bank": ["x"]}  # fmt: skip
    return {**told, **scores, **other}


def test_kinds_are_184_sets_of_the_paper_s_grid_and_trees(bench: ModuleType) -> None:
    every = bench.names_of(bench.NAMES, 0)
    counts = {kind: len(bench.names_of([kind], 0)) for kind in (*bench.NAMES, *bench.KINDS)}
    assert counts == {
        "admission": 26, "shoe": 3, "marine": 1, "election": 78, "personality": 76, "tree": 12,
        "levels": 24, "twins": 2, "grid": 128,
    }  # fmt: skip
    assert len(every) == 184 + 12 and len(set(every)) == len(every)
    assert [name for _, name in bench.names_of(["personality_controlled/20_0.3_*", "shoe"], 0)] == [
        "shoe", "shoe_two_level/simple", "shoe_two_level/hard",
        *(f"personality_controlled/20_0.3_{dropped:g}" for dropped in (0, 0.1, 0.2, 0.3)),
    ]  # fmt: skip
    with pytest.raises(SystemExit, match="--only shirt: no set has this name; choose admission, "):
        bench.names_of(["shirt"], 0)


def test_of_a_set_that_was_run_again_the_last_row_stays(bench: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    assert bench.kept_rows(file) == []
    rows = [row("shoe", hdr=0.1), row("marine"), row("shoe", hdr=0.9), row("shoe", seed=1)]
    file.write_text("".join(json.dumps(one) + "\n" for one in rows))
    kept = bench.kept_rows(file)
    assert [(one["set"], one["seed"], one["hdr"]) for one in kept] == [
        ("shoe", 0, 0.9), ("marine", 0, 0.5), ("shoe", 1, 0.5),
    ]  # fmt: skip
    bench.write_rows(file, kept)
    assert bench.kept_rows(file) == kept


def test_the_page_has_means_and_keeps_what_a_person_wrote(
    bench: ModuleType, tmp_path: Path
) -> None:
    page = bench.hypobench_page
    rows = [row("admission/level_1/base", hdr=1.0, hdr_identified=1.0), row("shoe", hdr_identified=None)]  # fmt: skip
    rows.append(row("tree/depth_1_0", hdr=0.0))
    there = tmp_path / "page.md"
    first = page.page(rows, 0, 196, "figure.svg", there)
    assert "mean exact HDR is 0.750" in first and "1 of 2 sets are below .9" in first
    assert "different versions of the code" not in first
    there.write_text(first.partition(page.OWN)[0] + f"{page.OWN}\n\nMy words.\n")
    rows[0]["code"] = "b"
    again = page.page(rows, 0, 196, "figure.svg", there)
    assert again.endswith(f"{page.OWN}\n\nMy words.\n")
    assert "measured with different versions of the code" in again
    told = {line[0]: line for line in page.by_difficulty(rows).rows}
    assert told["the paper's grid"][1] == 2 and told["random trees, depth 1"][1] == 1
    assert told["shoe"][-2:] == ("3 of 4", 1)
    assert [line[0] for line in page.lowest(rows).rows] == ["shoe", "tree/depth_1_0"]
